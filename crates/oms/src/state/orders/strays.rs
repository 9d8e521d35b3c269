//! Strays: fills of orders that the OMS does not have. The position includes each stray. A stray is listed among the
//! breaks until the venue cancels it, or an operator decides whether it counts. Busts and corrections of fills that are
//! not in memory are listed with them; they change nothing until an operator decides about them.

use alloc::collections::BTreeMap;

use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::slab::mixed;
use crate::values::units::Rescale;
use crate::values::value::{Effect, Number, Price, Quantity, Side, Text};
use fixwire_ledger::record;
use fixwire_protocol::Decimal;

/// A fill of an order that the OMS does not have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stray {
    pub line: SessionNo,
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    pub side: Side,
    pub effect: Effect,
    /// Hash of ExecID(17).
    pub exec: u64,
    pub quantity: Quantity,
    pub price: Price,
    /// ClOrdID(11) at the venue.
    pub id: Text,
    /// The operator who has decided about the fill, and whether the decision is for the venue. A second operator must
    /// make the same decision.
    pub asked_by: Option<(Text, bool)>,
}

record! { Stray { line, account, instrument, side, effect, exec, quantity, price, id, asked_by } }

/// A bust or correction of a fill that is not in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StrayUndo {
    pub line: SessionNo,
    /// The order that ClOrdID(11) names; 0 when it names none of the OMS.
    pub order: Number,
    pub is_correction: bool,
    /// Account(1), Symbol(55) and Side(54), as far as the report has known ones.
    pub account: Option<AccountNo>,
    pub instrument: Option<InstrumentNo>,
    pub side: Option<Side>,
    /// Hash of ExecID(17).
    pub exec: u64,
    /// Hash of ExecRefID(19); 0 without one.
    pub of: u64,
    /// LastQty(32), LastPx(31) and CumQty(14).
    pub quantity: Option<Decimal>,
    pub price: Option<Decimal>,
    pub filled: Option<Decimal>,
    /// OrdStatus(39); 0 without one.
    pub status: u8,
    /// TransactTime(60), in nanoseconds since 1970; 0 for none.
    pub at: i64,
    /// ClOrdID(11) at the venue.
    pub id: Text,
    /// ExecRefID(19).
    pub fill: Text,
    /// Text(58).
    pub text: Text,
    /// As that of a [`Stray`].
    pub asked_by: Option<(Text, bool)>,
}

record! {
    StrayUndo {
        line, order, is_correction, account, instrument, side, exec, of, quantity, price, filled, status, at, id, fill,
        text, asked_by
    }
}

impl StrayUndo {
    /// The hash by which a repeated report is known: of its line, its order, the fill that it names and its ExecID(17).
    /// A venue that begins its ExecIDs again every day uses them for other fills.
    pub(crate) fn key(line: SessionNo, order: Number, of: u64, exec: u64) -> u64 {
        let named = mixed(order ^ mixed(of ^ mixed(u64::from(line.place()) ^ 1 << 61)));
        mixed(exec ^ named)
    }

    /// The hash of this report.
    pub(crate) fn own_key(&self) -> u64 {
        Self::key(self.line, self.order, self.of, self.exec)
    }

    /// The hash by which a fill of an unknown order is known that was taken out of the position: its bust is no news.
    pub(crate) fn taken_out(line: SessionNo, exec: u64) -> u64 {
        mixed(Self::key(line, 0, 0, exec) ^ 1 << 62)
    }
}

/// What no operator has decided about yet, by the number of its event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strays {
    pub(crate) fills: BTreeMap<u64, Stray>,
    pub(crate) undos: BTreeMap<u64, StrayUndo>,
    /// The orders that were taken into memory again, each with the number of the event by which it left last; `None`
    /// while it is in memory.
    pub(crate) recalled: BTreeMap<Number, Option<u64>>,
}

record! { Strays { fills, undos, recalled } }

impl Strays {
    /// Number of fills, busts and corrections.
    pub fn len(&self) -> usize {
        self.fills.len() + self.undos.len()
    }

    /// Whether an order was taken into memory again. Such an order stays closed, and only busts and corrections of its
    /// fills change it.
    #[inline]
    pub fn is_recalled(&self, order: Number) -> bool {
        !self.recalled.is_empty() && self.recalled.contains_key(&order)
    }

    /// The operator who has decided about a fill, bust or correction; `None` when nothing has this number.
    pub fn asked_by(&mut self, number: u64) -> Option<&mut Option<(Text, bool)>> {
        let fill = self.fills.get_mut(&number).map(|it| &mut it.asked_by);
        fill.or_else(|| self.undos.get_mut(&number).map(|it| &mut it.asked_by))
    }

    pub fn add(&mut self, number: u64, stray: Stray) {
        self.fills.insert(number, stray);
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &Stray)> {
        self.fills.iter().map(|(number, stray)| (*number, stray))
    }

    pub fn get(&self, number: u64) -> Option<&Stray> {
        self.fills.get(&number)
    }

    /// Number of the first fill for which `is` is true.
    pub fn find(&self, is: impl Fn(&Stray) -> bool) -> Option<u64> {
        let mut all = self.fills.iter();
        all.find(|(_, stray)| is(stray)).map(|(number, _)| *number)
    }

    pub fn remove(&mut self, number: u64) -> Option<Stray> {
        self.fills.remove(&number)
    }

    /// Gives the fills of some instruments more decimals.
    pub fn rescale(&mut self, is_its: impl Fn(InstrumentNo) -> bool, by: Rescale) {
        for stray in self.fills.values_mut().filter(|it| is_its(it.instrument)) {
            by.price(&mut stray.price);
            by.quantity(&mut stray.quantity);
        }
    }
}
