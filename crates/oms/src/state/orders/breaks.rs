//! Breaks: differences between a venue's reports and an order. A break is open until both agree or an operator decides.
//!
//! ```text
//!   report that does not agree > break > OrderStatusRequest(H) --- answer or fill agrees --> closed by the OMS
//!                                 |                  +--- no answer in 5 s ---> alarm
//!                                 +--- an operator: the venue is right, or we are ----------> settled
//! ```
//!
//! While a break is open, limits count the larger quantity, that of the OMS or that of the venue. A settled break stays
//! in memory as long as its order, so that the same report of the venue does not raise the break again.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::values::ids::SessionNo;
use crate::values::units::Rescale;
use crate::values::value::{Amount, BreakKind, Number, Price, Quantity, Text};
use fixwire_ledger::{Put, Wire, record};

/// A difference between a venue's report and an order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VenueBreak {
    pub kind: BreakKind,
    pub order: Number,
    /// The session on which the report came; `None` for an order without a line.
    pub line: Option<SessionNo>,
    /// Hash of the ExecID(17) of the fill that the break is about; 0 for no fill.
    pub exec: u64,
    /// CumQty(14) of the venue.
    pub filled: Option<Quantity>,
    /// LastQty(32) of the fill, or OrderQty(38), as the venue reports it. Of a bust the quantity that it takes back, 0
    /// when the report does not say it. Of a correction CumQty(14) of the order when the break was found.
    pub quantity: Quantity,
    /// LastPx(31) of the fill, or Price(44), as the venue reports it.
    pub price: Price,
    /// CumQty(14) times AvgPx(6) of the venue.
    pub paid: Option<Amount>,
    /// OrdStatus(39) of the venue; 0 if the report has none.
    pub status: u8,
    /// Total quantity that the order may fill according to the venue.
    pub total: Quantity,
    /// Quantity that a bust or correction may take back from the order.
    pub opposite: Quantity,
    pub ours: Text,
    pub venue: Text,
    /// Time at which the break was found, in nanoseconds since 1970.
    pub since: i64,
    pub is_alarmed: bool,
    pub is_settled: bool,
    /// The operator who has decided the break, and whether the decision is for the venue. A second operator must make
    /// the same decision.
    pub asked_by: Option<(Text, bool)>,
}

record! {
    VenueBreak {
        kind, order, line, exec, filled, quantity, price, paid, status, total, opposite, ours,
        venue, since, is_alarmed, is_settled, asked_by
    }
}

impl VenueBreak {
    /// CumQty(14) of the report, if the venue counts the reported fill only in part: CumQty is above the quantity that
    /// the OMS had, but below that quantity plus the fill. This happens when an operator has entered a part of the fill
    /// before.
    pub fn counted_in_part(&self) -> Option<Quantity> {
        let before = self.total.saturating_sub(self.quantity);
        let is_doubtful = self.kind == BreakKind::NotCounted;
        self.filled.filter(|cum| is_doubtful && *cum > before)
    }
}

/// What the open breaks of an order may add to the quantities and values that limits count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Exposure {
    /// Total quantity that the order may fill.
    pub total: Quantity,
    /// Quantity that the order may trade on the opposite side.
    pub opposite: Quantity,
    /// The price at which the order's value is reserved.
    pub hold: Price,
}

/// All breaks.
#[derive(Clone, Debug, Default)]
pub(crate) struct VenueBreaks {
    /// Breaks by number, which is the number of the event that raised the break.
    pub(crate) all: BTreeMap<u64, VenueBreak>,
    pub(crate) numbers: BTreeMap<(Number, u8, u64), u64>,
    /// Number of breaks that are not settled.
    pub(crate) open: usize,
}

impl VenueBreaks {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Number of open breaks.
    pub fn open(&self) -> usize {
        self.open
    }

    /// All open breaks.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &VenueBreak)> {
        let all = self.all.iter().map(|(number, found)| (*number, found));
        all.filter(|(_, found)| !found.is_settled)
    }

    pub fn get(&self, number: u64) -> Option<&VenueBreak> {
        self.all.get(&number).filter(|found| !found.is_settled)
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut VenueBreak> {
        self.all.get_mut(&number).filter(|it| !it.is_settled)
    }

    /// The break of an order and an execution, settled or not.
    pub fn find(&self, order: Number, kind: BreakKind, exec: u64) -> Option<(u64, &VenueBreak)> {
        let number = *self.numbers.get(&(order, kind.byte(), exec))?;
        Some((number, self.all.get(&number)?))
    }

    /// The open breaks of an order.
    pub fn of(&self, order: Number) -> impl Iterator<Item = (u64, &VenueBreak)> {
        let range = self
            .numbers
            .range((order, 0, 0)..=(order, u8::MAX, u64::MAX));
        let all = range.filter_map(|(_, number)| Some((*number, self.all.get(number)?)));
        all.filter(|(_, found)| !found.is_settled)
    }

    pub fn has_open(&self, order: Number) -> bool {
        self.open > 0 && self.of(order).next().is_some()
    }

    /// What the open breaks of an order may add to the quantities and values that limits count; `None` without an open
    /// break.
    pub fn exposure(&self, order: Number) -> Option<Exposure> {
        let mut most = None;
        for (_, found) in self.of(order) {
            let most: &mut Exposure = most.get_or_insert_default();
            most.total = most.total.max(found.total);
            most.opposite = most.opposite.saturating_add(found.opposite);
            if found.kind != BreakKind::Bust {
                most.hold = most.hold.max(found.price.saturating_abs());
            }
        }
        most
    }

    /// Adds a break. If the break exists, updates the venue's values in it.
    pub fn put_in(&mut self, number: u64, mut new: VenueBreak) {
        let key = (new.order, new.kind.byte(), new.exec);
        let number = *self.numbers.entry(key).or_insert(number);
        if let Some(known) = self.all.get(&number).filter(|it| !it.is_settled) {
            (new.since, new.is_alarmed) = (known.since, known.is_alarmed);
            new.asked_by = known.asked_by.clone();
        } else {
            self.open += 1;
        }
        self.all.insert(number, new);
    }

    pub fn close(&mut self, number: u64) -> Option<VenueBreak> {
        let found = self.all.remove(&number)?;
        self.numbers
            .remove(&(found.order, found.kind.byte(), found.exec));
        self.open -= usize::from(!found.is_settled);
        Some(found)
    }

    pub fn settle(&mut self, number: u64) -> Option<()> {
        let found = self.all.get_mut(&number).filter(|it| !it.is_settled)?;
        found.is_settled = true;
        self.open -= 1;
        Some(())
    }

    /// Removes the breaks of an order that is removed from memory.
    pub fn forget(&mut self, order: Number) {
        let range = self
            .numbers
            .range((order, 0, 0)..=(order, u8::MAX, u64::MAX));
        let numbers: Vec<u64> = range.map(|(_, number)| *number).collect();
        for number in numbers {
            self.close(number);
        }
    }

    /// Rescales the breaks of some orders, whose instrument gets more decimals.
    pub fn rescale(&mut self, is_its: impl Fn(Number) -> bool, by: Rescale) {
        for found in self.all.values_mut().filter(|it| is_its(it.order)) {
            by.price(&mut found.price);
            for quantity in [&mut found.quantity, &mut found.total, &mut found.opposite] {
                by.quantity(quantity);
            }
            found.filled.iter_mut().for_each(|it| by.quantity(it));
            found.paid.iter_mut().for_each(|it| by.paid(it));
        }
    }
}

impl Wire<'_> for VenueBreaks {
    fn put(&self, to: &mut impl Put) {
        self.all.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut breaks = Self {
            all: Wire::take(from)?,
            ..Self::default()
        };
        for (number, found) in &breaks.all {
            let key = (found.order, found.kind.byte(), found.exec);
            breaks.open += usize::from(!found.is_settled);
            let is_new = breaks.numbers.insert(key, *number).is_none();
            is_new.then_some(())?;
        }
        Some(breaks)
    }
}
