//! Child orders of a record. A client names the parent of a child order by the OrderID(37) that the record gave to the
//! parent. In the trial the parent may have another number.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use fixwire_protocol::{Decoder, Message, Tag, tag, value};

use crate::app::OmsSession;
use crate::values::show::digits;
use crate::values::value::Number;

/// No order has this number.
const NO_ORDER: Number = 0;

/// The parent orders of a record.
pub(super) struct Parents {
    /// Numbers in the trial by OrderID(37) in the record.
    numbers: BTreeMap<Number, Number>,
    /// Decodes new orders with another parent. It knows the data fields of all clients.
    decoder: Decoder,
    /// The bytes of such an order.
    bytes: Vec<u8>,
}

impl Parents {
    pub fn new(sessions: &[OmsSession]) -> Self {
        let mut decoder = Decoder::with_capacity(1024);
        for session in sessions {
            decoder.learn(&session.dictionary);
        }
        Self {
            numbers: BTreeMap::new(),
            decoder,
            bytes: Vec::new(),
        }
    }

    /// Records the number in the trial of a parent that the record reports.
    pub fn reported(&mut self, report: &Message<'_>, number: Number) {
        if let Some(Ok(recorded)) = report.uint(tag::ORDER_ID) {
            self.numbers.insert(recorded, number);
        }
    }

    /// The parent of a new order by its OrderID(37) in the record; `own` is the own tag `parent`. `None` when the order
    /// is no child.
    pub fn named(own: Tag, order: &Message<'_>) -> Option<Number> {
        let mut fields = order.fields().iter();
        let field = fields.find(|field| is_parent(own, field.tag))?;
        value::uint(order.value(*field)).ok()
    }

    /// A child order with the number that its parent has in the trial. If the trial has no such parent, the order names
    /// a parent that does not exist.
    pub fn translated(&mut self, own: Tag, order: &Message<'_>) -> Message<'_> {
        self.bytes.clear();
        for (at, field) in order.fields().iter().enumerate() {
            let recorded = value::uint(order.value(*field)).ok();
            let Some(recorded) = recorded.filter(|_| is_parent(own, field.tag)) else {
                self.bytes.extend_from_slice(order.raw(at..at + 1));
                continue;
            };
            let number = self.numbers.get(&recorded).copied().unwrap_or(NO_ORDER);
            self.bytes
                .extend_from_slice(digits(field.tag.into()).bytes());
            self.bytes.push(b'=');
            self.bytes.extend_from_slice(digits(number).bytes());
            self.bytes.push(b'\x01');
        }
        self.decoder.decode(&self.bytes)
    }
}

fn is_parent(own: Tag, tag: Tag) -> bool {
    tag == tag::REF_ORDER_ID || tag == own
}
