//! Strays: fills of orders that the OMS does not have. The position includes each stray. A stray is listed among the
//! breaks until the venue cancels it, or an operator decides whether it counts.

use alloc::collections::BTreeMap;

use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::units::Rescale;
use crate::values::value::{Effect, Price, Quantity, Side, Text};
use fixwire_ledger::record;

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

/// Fills that no operator has decided about yet, by the number of their event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strays(pub(crate) BTreeMap<u64, Stray>);

record! { Strays(_) }

impl Strays {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn add(&mut self, number: u64, stray: Stray) {
        self.0.insert(number, stray);
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &Stray)> {
        self.0.iter().map(|(number, stray)| (*number, stray))
    }

    pub fn get(&self, number: u64) -> Option<&Stray> {
        self.0.get(&number)
    }

    /// Number of the first fill for which `is` is true.
    pub fn find(&self, is: impl Fn(&Stray) -> bool) -> Option<u64> {
        let mut all = self.0.iter();
        all.find(|(_, stray)| is(stray)).map(|(number, _)| *number)
    }

    pub fn remove(&mut self, number: u64) -> Option<Stray> {
        self.0.remove(&number)
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut Stray> {
        self.0.get_mut(&number)
    }

    /// Gives the fills of some instruments more decimals.
    pub fn rescale(&mut self, is_its: impl Fn(InstrumentNo) -> bool, by: Rescale) {
        for stray in self.0.values_mut().filter(|it| is_its(it.instrument)) {
            by.price(&mut stray.price);
            by.quantity(&mut stray.quantity);
        }
    }
}
