//! Child orders of a record. A client names the parent of a child order by the OrderID(37) that the record gave to the
//! parent. In the trial the parent may have another number.

use alloc::collections::BTreeMap;

use fixwire_protocol::{Field, Message, Tag, tag, value};

use super::renumbering::NO_ORDER;
use crate::values::value::Number;

/// The parent orders of a record.
#[derive(Default)]
pub(super) struct Parents {
    /// Numbers in the trial by OrderID(37) in the record.
    numbers: BTreeMap<Number, Number>,
}

impl Parents {
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

    /// The number in the trial of the parent that a field of a child order names; `None` when the field names no
    /// parent. If the trial has no parent of this name, the number of no order.
    pub fn number(&self, own: Tag, order: &Message<'_>, field: Field) -> Option<Number> {
        if !is_parent(own, field.tag) {
            return None;
        }
        let recorded = value::uint(order.value(field)).ok()?;
        Some(self.numbers.get(&recorded).copied().unwrap_or(NO_ORDER))
    }
}

fn is_parent(own: Tag, tag: Tag) -> bool {
    tag == tag::REF_ORDER_ID || tag == own
}
