//! Fills that lines report, and the copies of these fills from a venue's drop copy session. A fill or copy stays here
//! until the other has arrived. Differences are breaks.
//!
//! ```text
//!   Filled on a line > awaited: a fill of ours --- equal copy in time ---> settled
//!   Copied           > awaited: a copy ---------- equal fill in time ---> settled
//!                         |
//!                         +-- not equal, or too late ---> break --- equal after all ---> closed by the OMS
//!                                                           +------ an operator -------> closed by the operator
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use core::ops::Bound;

use crate::state::orders::Order;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::units::Rescale;
use crate::values::value::{BreakKind, Number, Price, Quantity, Text};
use fixwire_ledger::{Put, Wire, record};

/// LastQty(32) and LastPx(31), in units of the instrument that is filled: for a leg of a spread, those of the leg.
pub(crate) type FillTerms = (Quantity, Price);

/// An order and the hash of an ExecID(17); the hash is 0 for the end of the order.
pub(crate) type CopyKey = (Number, u64);

/// The value in a key for the end of an order, instead of the hash of an ExecID(17).
pub(crate) const ENDED: u64 = 0;

/// A fill, or the end of an order, that only one side has reported.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Awaited {
    /// The line of the order; `None` for an order that the OMS does not have.
    pub line: Option<SessionNo>,
    /// What the order trades, also after it has left memory; `None` for an order that the OMS does not have.
    pub of: Option<CopiedOrder>,
    /// Time of the report, in nanoseconds since 1970.
    pub since: i64,
    /// The fill as the line reported it.
    pub ours: Option<FillTerms>,
    /// The fill as the drop copy reported it.
    pub copy: Option<FillTerms>,
}

record! { Awaited { line, of, since, ours, copy } }

/// Account and instrument of fills that are compared: those of an order, or the leg of its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CopiedOrder {
    pub account: AccountNo,
    pub instrument: InstrumentNo,
}

record! { CopiedOrder { account, instrument } }

impl CopiedOrder {
    pub fn new(order: &Order) -> Self {
        Self::of(order, order.instrument)
    }

    /// Fills of an order in its instrument, or in a leg of its spread.
    pub fn of(order: &Order, instrument: InstrumentNo) -> Self {
        Self {
            account: order.account,
            instrument,
        }
    }
}

impl Awaited {
    pub fn is_equal(&self) -> bool {
        self.ours.is_some() && self.ours == self.copy
    }

    /// Whether both sides have reported the fill with different values.
    pub fn differs(&self) -> bool {
        self.ours.is_some() && self.copy.is_some() && self.ours != self.copy
    }
}

/// A difference between a fill and its copy that is not settled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CopyBreak {
    pub kind: BreakKind,
    /// The order and the hash of the ExecID(17).
    pub key: CopyKey,
    pub what: Awaited,
    /// OrderID(37) and ExecID(17) of the venue, if known.
    pub text: Text,
}

record! { CopyBreak { kind, key, what, text } }

/// Fills that are compared with a venue's drop copy. Empty unless a drop copy is configured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// The drop copy session of each line whose fills are copied.
    pub(crate) lines: BTreeMap<SessionNo, SessionNo>,
    pub(crate) awaited: BTreeMap<CopyKey, Awaited>,
    /// The awaited fills by line and time.
    pub(crate) times: BTreeSet<(Option<SessionNo>, i64, CopyKey)>,
    /// Breaks by number, which is the number of the event that raised the break.
    pub(crate) breaks: BTreeMap<u64, CopyBreak>,
    /// The number of the open break of a fill or of the end of an order.
    pub(crate) broken: BTreeMap<CopyKey, u64>,
}

impl Copies {
    /// Whether no drop copy is configured, and no fill or break of an earlier drop copy is left.
    pub fn is_off(&self) -> bool {
        self.lines.is_empty() && self.awaited.is_empty() && self.breaks.is_empty()
    }

    /// The drop copy session that reports the fills of a line.
    pub fn session_of(&self, line: SessionNo) -> Option<SessionNo> {
        self.lines.get(&line).copied()
    }

    /// Whether a session sends copies of fills.
    pub fn is_source(&self, session: SessionNo) -> bool {
        self.lines.values().any(|known| *known == session)
    }

    pub fn set_line(&mut self, line: SessionNo, session: Option<SessionNo>) {
        if let Some(session) = session {
            self.lines.insert(line, session);
            return;
        }
        self.lines.remove(&line);
        // No further copies will arrive for the line. Its open breaks stay.
        self.awaited.retain(|_, it| it.line != Some(line));
        let awaited = &self.awaited;
        self.times.retain(|(.., key)| awaited.contains_key(key));
    }

    pub fn awaited(&self, key: CopyKey) -> Option<&Awaited> {
        self.awaited.get(&key)
    }

    /// For each line, the fill that has been awaited the longest.
    pub fn oldest(&self) -> impl Iterator<Item = (CopyKey, &Awaited)> {
        let mut next = self.times.first().copied();
        core::iter::from_fn(move || {
            let (line, _, key) = next?;
            let last = (line, i64::MAX, (Number::MAX, u64::MAX));
            let above = (Bound::Excluded(last), Bound::Unbounded);
            next = self.times.range(above).next().copied();
            Some((key, self.awaited.get(&key)?))
        })
    }

    pub fn breaks(&self) -> &BTreeMap<u64, CopyBreak> {
        &self.breaks
    }

    /// The open break of a fill.
    pub fn break_of(&self, key: CopyKey) -> Option<(u64, &CopyBreak)> {
        let number = *self.broken.get(&key)?;
        Some((number, self.breaks.get(&number)?))
    }

    /// Handles a fill that the line or the drop copy has reported. If both report the same fill, it is settled, unless
    /// it has an open break.
    pub fn hear(&mut self, key: CopyKey, new: Awaited) {
        let number = self.break_of(key).map(|(number, _)| number);
        if let Some(known) = number.and_then(|number| self.breaks.get_mut(&number)) {
            known.what.ours = known.what.ours.or(new.ours);
            known.what.copy = known.what.copy.or(new.copy);
            return;
        }
        let Some(known) = self.awaited.get_mut(&key) else {
            self.times.insert((new.line, new.since, key));
            self.awaited.insert(key, new);
            return;
        };
        known.ours = known.ours.or(new.ours);
        known.copy = known.copy.or(new.copy);
        if known.is_equal() {
            self.settle(key);
        }
    }

    /// Removes a fill that is no longer awaited.
    pub fn settle(&mut self, key: CopyKey) -> Option<Awaited> {
        let known = self.awaited.remove(&key)?;
        self.times.remove(&(known.line, known.since, key));
        Some(known)
    }

    pub fn add_break(&mut self, number: u64, found: CopyBreak) {
        if !found.kind.is_of_copy_alone() {
            self.broken.insert(found.key, number);
        }
        self.breaks.insert(number, found);
    }

    pub fn close(&mut self, number: u64) -> Option<()> {
        let found = self.breaks.remove(&number)?;
        if !found.kind.is_of_copy_alone() {
            self.broken.remove(&found.key);
        }
        Some(())
    }

    /// Gives the fills of an instrument's orders more decimals.
    pub fn rescale(&mut self, instrument: InstrumentNo, by: Rescale) {
        let breaks = self.breaks.values_mut().map(|it| &mut it.what);
        let all = self.awaited.values_mut().chain(breaks);
        for it in all.filter(|it| it.of.is_some_and(|of| of.instrument == instrument)) {
            for fill in [&mut it.ours, &mut it.copy].into_iter().flatten() {
                by.quantity(&mut fill.0);
                by.price(&mut fill.1);
            }
        }
    }
}

impl Wire<'_> for Copies {
    fn put(&self, to: &mut impl Put) {
        self.lines.put(to);
        self.awaited.put(to);
        self.breaks.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut copies = Self {
            lines: Wire::take(from)?,
            awaited: Wire::take(from)?,
            ..Self::default()
        };
        let awaited = copies.awaited.iter();
        copies.times = awaited.map(|(key, it)| (it.line, it.since, *key)).collect();
        for (number, found) in BTreeMap::take(from)? {
            copies.add_break(number, found);
        }
        Some(copies)
    }
}
