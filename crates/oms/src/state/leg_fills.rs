//! The fills of the legs of spreads, by order and ExecID(17), so that a venue can cancel or correct them later.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::values::units::Rescale;
use crate::values::value::{Number, Price, Quantity};
use fixwire_ledger::{Put, Wire, record};

/// A fill of a leg.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LegFill {
    /// The index of the leg, from 0.
    pub leg: u8,
    pub quantity: Quantity,
    /// Price in units of the leg.
    pub price: Price,
    /// The number of the fill's event, which is the ExecID(17) of the report to the client.
    pub report: u64,
    /// Hash of the ExecID(17) that cancelled or corrected the fill; 0 while the fill counts.
    pub undone: u64,
}

record! { LegFill { leg, quantity, price, report, undone } }

/// Leg fills of all orders in memory, by the hash of ExecID(17) and leg.
#[derive(Clone, Debug, Default)]
pub(crate) struct LegFills(pub(crate) BTreeMap<(Number, u64), LegFill>);

impl LegFills {
    pub fn add(&mut self, order: Number, exec: u64, fill: LegFill) {
        self.0.insert((order, exec), fill);
    }

    pub fn get(&self, order: Number, exec: u64) -> Option<&LegFill> {
        self.0.get(&(order, exec))
    }

    pub fn get_mut(&mut self, order: Number, exec: u64) -> Option<&mut LegFill> {
        self.0.get_mut(&(order, exec))
    }

    /// The fill that counts now for an execution, itself or its last correction; with the hash of that fill.
    pub fn now(&self, order: Number, exec: u64) -> Option<(u64, &LegFill)> {
        let mut found = (exec, self.get(order, exec)?);
        while let Some(next) = self.get(order, found.1.undone) {
            found = (found.1.undone, next);
        }
        Some(found)
    }

    /// Whether `by` is a correction of the fill.
    pub fn is_now_of(&self, order: Number, exec: Option<u64>, by: u64) -> bool {
        let mut next = exec;
        while let Some(exec) = next {
            let Some(fill) = self.get(order, exec) else {
                return false;
            };
            if fill.undone == by && self.get(order, by).is_some() {
                return true;
            }
            next = Some(fill.undone);
        }
        false
    }

    /// Removes the fills of an order that is removed from memory.
    pub fn forget(&mut self, order: Number) {
        let of = self.0.range((order, 0)..=(order, u64::MAX));
        let execs: Vec<u64> = of.map(|(key, _)| key.1).collect();
        for exec in execs {
            self.0.remove(&(order, exec));
        }
    }

    /// Gives the fills of some legs more decimals.
    pub fn rescale(&mut self, is_its: impl Fn(Number, u8) -> bool, by: Rescale) {
        for ((order, _), fill) in &mut self.0 {
            if is_its(*order, fill.leg) {
                by.price(&mut fill.price);
                by.quantity(&mut fill.quantity);
            }
        }
    }
}

impl Wire<'_> for LegFills {
    fn put(&self, to: &mut impl Put) {
        self.0.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let all: BTreeMap<_, LegFill> = Wire::take(from)?;
        all.values().all(|fill| fill.leg < 2).then_some(Self(all))
    }
}
