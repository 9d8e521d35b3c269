//! Locates of short sales: LocateReqd(114) and LocateBroker(5700), which the venue gets unchanged.

use alloc::collections::BTreeMap;
use fixwire_protocol::tag;

use fixwire_protocol::{Body, Tag};

use crate::values::value::{Number, Text};
use fixwire_ledger::record;

pub(crate) const LOCATE_BROKER: Tag = 5700;

/// The locate of a request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Locate<'a> {
    /// LocateReqd(114); 0 for none.
    pub reqd: u8,
    /// LocateBroker(5700); empty for none.
    pub broker: &'a [u8],
}

impl Locate<'_> {
    /// Neither LocateReqd(114) nor LocateBroker(5700).
    pub const NONE: Self = Self {
        reqd: 0,
        broker: b"",
    };
}

/// The locates of the orders in memory that have one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locates(pub(crate) BTreeMap<Number, (u8, Text)>);

record! { Locates(_) }

impl Locates {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, order: Number, locate: Locate<'_>) {
        let kept = (locate.reqd, Text::new(locate.broker));
        self.0.insert(order, kept);
    }

    pub(crate) fn forget(&mut self, order: Number) {
        self.0.remove(&order);
    }

    /// The locate of an order.
    pub(crate) fn of(&self, order: Number) -> Locate<'_> {
        let known = self.0.get(&order);
        known.map_or(Locate::NONE, |(reqd, broker)| Locate {
            reqd: *reqd,
            broker: broker.bytes(),
        })
    }
}

/// Writes the locate of an order into a message for its venue.
#[cold]
pub(crate) fn put_locate(locate: Locate<'_>, out: &mut Body<'_>) {
    if locate.reqd > 0 {
        out.char(tag::LOCATE_REQD, locate.reqd);
    }
    if !locate.broker.is_empty() {
        out.field(LOCATE_BROKER, locate.broker);
    }
}

/// Whether the field of a locate with this tag has this value.
pub(crate) fn is_value(locate: Locate<'_>, tag: Tag, value: &[u8]) -> bool {
    match tag {
        tag::LOCATE_REQD => value == [locate.reqd],
        _ => value == locate.broker,
    }
}
