//! ExecIDs(17) of venues that clients get as ExecID(17) of their reports.
//!
//! An ExecID is unique for each client. Once ExecIDs of venues may be passed on, the OMS's own ExecIDs begin with
//! [`ExecIds::OWN`]. A venue's ExecID is passed on only if no report of the OMS, earlier or later, can have it.

use alloc::collections::BTreeMap;

use fixwire_ledger::record;
use fixwire_protocol::value::uint;
use fixwire_protocol::{Body, Tag};

use crate::values::show::digits;
use crate::values::slab::mixed;
use crate::values::value::{Number, Text};

/// The hash of a bust or correction with the ExecID(17) of another report, of which this is the hash.
pub(crate) fn reused_exec(exec: u64, is_correction: bool) -> u64 {
    let kind = if is_correction { 1 << 61 } else { 1 << 60 };
    mixed(exec ^ kind)
}

/// The hash of a fill with the ExecID(17) that a fill of a former day of its order has, from the hash of that fill.
pub(crate) fn exec_of_another_day(exec: u64) -> u64 {
    mixed(exec ^ 1 << 59)
}

/// The ExecIDs of venues that clients have received.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExecIds {
    /// The last event whose number may be the ExecID of a report; `None` while the settings do not pass on ExecIDs of
    /// venues.
    pub(crate) since: Option<u64>,
    /// ExecIDs of venues, by order and hash of the ExecID. The value is the ExecType(150) of the report, with its
    /// ExecID.
    pub(crate) all: BTreeMap<(Number, u64), (u8, Text)>,
}

record! { ExecIds { since, all } }

impl ExecIds {
    /// The prefix of the OMS's own ExecIDs once ExecIDs of venues are passed on; before, they are just event numbers.
    pub(crate) const OWN: &[u8] = b"OMS-";

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// Whether a client may get an ExecID of a venue: no report of the OMS itself has the same.
    #[cold]
    pub(crate) fn may_pass(&self, id: &[u8]) -> bool {
        let since = self.since.unwrap_or(u64::MAX);
        let is_event = uint(id).is_ok_and(|number| number <= since);
        !id.is_empty() && id.len() <= Text::MAX && !is_event && !id.starts_with(Self::OWN)
    }

    /// The ExecID under which clients have a venue's report of an order.
    #[cold]
    pub(crate) fn of(&self, order: Number, exec: u64) -> Option<(u8, &[u8])> {
        let found = self.all.get(&(order, exec));
        found.map(|(kind, id)| (*kind, id.bytes()))
    }

    #[cold]
    pub(crate) fn forget(&mut self, order: Number) {
        let of_order = (order, 0)..=(order, u64::MAX);
        let ids = self.all.range(of_order).map(|(key, _)| *key);
        let ids: alloc::vec::Vec<_> = ids.collect();
        for key in ids {
            self.all.remove(&key);
        }
    }

    /// Whether the OMS's own ExecID of an event has a prefix. Events before the setting have none, since clients got their
    /// ExecIDs without it.
    #[inline]
    pub(crate) fn has_prefix(&self, event: u64) -> bool {
        self.since.is_some_and(|since| event > since)
    }

    /// Writes the OMS's own ExecID of an event, as ExecID(17) or ExecRefID(19); 0 for none.
    #[inline]
    pub(crate) fn put_own(&self, tag: Tag, event: u64, report: &mut Body<'_>) {
        if self.has_prefix(event) {
            self.put_with_prefix(tag, event, report);
        } else {
            report.uint(tag, event);
        }
    }

    #[cold]
    fn put_with_prefix(&self, tag: Tag, event: u64, report: &mut Body<'_>) {
        report.field(tag, &[Self::OWN, digits(event).bytes()].concat());
    }
}
