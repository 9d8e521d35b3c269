//! Spreads: symbols that trade two legs as one. For each order of a spread, the state also has the fills of the legs.
//!
//! ```text
//!   JUN-MAR = buy 1 JUN, sell 1 MAR      order 17: buy 10 JUN-MAR, 4 filled
//!   leg JUN: filled 4, exposed to buy 6     leg MAR: filled 3, exposed to sell 7
//! ```
//!
//! The OrderQty(38) of a spread is a number of sets. The exposure of a leg is the quantity that open orders may add to
//! the position of the leg. It is the sets that the order may still fill, plus the sets that are filled without a
//! report of the leg, times the ratio of the leg.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::state::leg_fills::LegFills;
use crate::state::orders::Order;
use crate::values::ids::InstrumentNo;
use crate::values::slab::mixed;
use crate::values::units::Rescale;
use crate::values::value::{Amount, Number, Quantity, Side};
use fixwire_ledger::{Put, Wire, bytes, record};

/// Largest ratio of a leg.
pub(crate) const RATIO_MOST: u32 = 1_000;

/// A leg of a spread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SpreadLeg {
    /// Instrument of the leg.
    pub instrument: InstrumentNo,
    /// Side of the leg when the spread is bought.
    pub side: Side,
    /// Quantity of the leg in one set of the spread.
    pub ratio: u32,
}

record! { SpreadLeg { instrument, side, ratio } }

impl SpreadLeg {
    /// Side of the leg in an order.
    #[must_use]
    pub fn side_in(&self, order: Side) -> Side {
        if order.is_buy() == self.side.is_buy() {
            Side::Buy
        } else {
            Side::Sell
        }
    }

    /// Quantity of the leg in this number of sets.
    pub(crate) fn quantity(&self, sets: Quantity) -> Quantity {
        sets.saturating_mul(self.ratio.into())
    }
}

bytes! {
    /// How a venue reports the legs of an order. The first fill of a leg decides, so that a leg that the venue reports
    /// in both ways counts once.
    #[derive(Default)]
    LegSource {
        /// No fill of a leg was reported.
        #[default]
        Unknown = 0,
        /// Each leg is reported separately.
        Reports = 1,
        /// Legs are reported in the report of the spread's fill.
        Fills = 2,
    }
}

/// The legs of an order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OrderLegs {
    /// Quantity that each leg has filled.
    pub filled: [Quantity; 2],
    /// Sum of price times quantity of the fills of each leg.
    pub paid: [Amount; 2],
    /// Exposure of each leg: the quantity that counts as open.
    pub(crate) exposed: [Quantity; 2],
    pub(crate) source: LegSource,
    /// Time since which the fills of the legs differ from the fills of the spread; 0 when they do not differ.
    pub(crate) since: i64,
    /// Whether an event has reported that the fills of the legs differ from the fills of the spread.
    pub(crate) is_reported: bool,
}

record! { OrderLegs { filled, paid, source, since, is_reported; exposed = [0; 2] } }

/// All spreads, and the legs of their orders in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spreads {
    /// By instrument.
    pub(crate) legs: BTreeMap<InstrumentNo, [SpreadLeg; 2]>,
    pub(crate) orders: BTreeMap<Number, OrderLegs>,
    /// Orders whose fills differ from the fills of their legs, and since when; derived from the fields above.
    pub(crate) waiting: BTreeSet<(i64, Number)>,
    /// The fills of the legs of these orders.
    pub(crate) fills: LegFills,
}

/// The key of a leg's execution among the fills of its order. It differs from the key of the spread's execution,
/// because a venue may use the same ExecID(17) for both.
pub(crate) fn leg_exec(exec: u64, instrument: InstrumentNo) -> u64 {
    mixed(exec ^ mixed(u64::from(instrument.place()) + 1))
}

impl Spreads {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.legs.is_empty()
    }

    /// The legs of a spread; `None` for an instrument that is no spread.
    pub fn legs(&self, instrument: InstrumentNo) -> Option<&[SpreadLeg; 2]> {
        self.legs.get(&instrument)
    }

    /// A copy that has the legs of all spreads, but no orders.
    pub fn without_orders(&self) -> Self {
        Self {
            legs: self.legs.clone(),
            ..Self::default()
        }
    }

    /// Whether an instrument is a leg of a spread.
    pub fn is_leg(&self, instrument: InstrumentNo) -> bool {
        let mut legs = self.legs.values().flatten();
        legs.any(|leg| leg.instrument == instrument)
    }

    /// Whether an instrument is a spread with this leg.
    pub fn has_leg(&self, spread: InstrumentNo, instrument: InstrumentNo) -> bool {
        let mut legs = self.legs.get(&spread).into_iter().flatten();
        legs.any(|leg| leg.instrument == instrument)
    }

    /// Whether an instrument may become a spread of these legs.
    pub fn may_be(&self, index: InstrumentNo, legs: &[SpreadLeg; 2]) -> bool {
        let is_leg = |leg: &SpreadLeg| {
            leg.instrument != index
                && !self.legs.contains_key(&leg.instrument)
                && (1..=RATIO_MOST).contains(&leg.ratio)
                && !leg.side.is_short()
        };
        let differ = legs[0].instrument != legs[1].instrument;
        differ && legs.iter().all(is_leg) && !self.is_leg(index)
    }

    /// Sets the legs of a spread; `None` when these instruments cannot be its legs.
    pub fn set(&mut self, index: InstrumentNo, legs: [SpreadLeg; 2]) -> Option<()> {
        self.may_be(index, &legs).then_some(())?;
        self.legs.insert(index, legs);
        Some(())
    }

    pub fn get(&self, order: Number) -> Option<&OrderLegs> {
        self.orders.get(&order)
    }

    pub fn get_mut(&mut self, order: Number) -> Option<&mut OrderLegs> {
        self.orders.get_mut(&order)
    }

    pub fn insert(&mut self, order: Number, legs: OrderLegs) {
        self.orders.insert(order, legs);
    }

    pub fn remove(&mut self, order: Number) -> Option<OrderLegs> {
        let legs = self.orders.remove(&order)?;
        self.waiting.remove(&(legs.since, order));
        self.fills.forget(order);
        Some(legs)
    }

    /// Records whether the fills of the legs differ from the fills of the spread.
    pub fn compare(&mut self, order: &Order, at: i64) {
        let (Some(legs), Some(of)) = (
            self.legs.get(&order.instrument),
            self.orders.get_mut(&order.number),
        ) else {
            return;
        };
        let mut both = legs.iter().zip(of.filled);
        let is_equal = both.all(|(leg, filled)| leg.quantity(order.filled) == filled);
        self.waiting.remove(&(of.since, order.number));
        if is_equal {
            (of.since, of.is_reported) = (0, false);
        } else if of.since == 0 {
            of.since = at.max(1);
        }
        if of.since > 0 && !of.is_reported {
            self.waiting.insert((of.since, order.number));
        }
    }

    /// Records that an event has reported that the fills of an order differ from the fills of its legs.
    pub fn reported(&mut self, order: Number) -> Option<()> {
        let legs = self.orders.get_mut(&order)?;
        legs.is_reported = true;
        self.waiting.remove(&(legs.since, order));
        Some(())
    }

    /// The order whose legs have differed from its fills for the longest time, and since when.
    pub fn oldest(&self) -> Option<(i64, Number)> {
        self.waiting.first().copied()
    }

    /// The orders of spreads in memory.
    pub fn orders(&self) -> impl Iterator<Item = Number> {
        self.orders.keys().copied()
    }

    /// Rescales the prices of a leg.
    pub fn rescale(
        &mut self,
        leg: InstrumentNo,
        by: Rescale,
        spread_of: impl Fn(Number) -> Option<InstrumentNo>,
    ) {
        let all = &self.legs;
        let is_its = |order, at: u8| {
            let legs = spread_of(order).and_then(|spread| all.get(&spread));
            let its = legs.and_then(|legs| legs.get(usize::from(at)));
            its.is_some_and(|it| it.instrument == leg)
        };
        self.fills.rescale(is_its, by);
        for (number, of) in &mut self.orders {
            let legs = spread_of(*number).and_then(|spread| self.legs.get(&spread));
            for (at, leg_of) in legs.into_iter().flatten().enumerate() {
                if leg_of.instrument == leg {
                    by.paid(&mut of.paid[at]);
                    by.quantity(&mut of.filled[at]);
                    by.quantity(&mut of.exposed[at]);
                }
            }
        }
    }
}

impl Wire<'_> for Spreads {
    fn put(&self, to: &mut impl Put) {
        self.legs.put(to);
        self.orders.put(to);
        self.fills.put(to);
    }

    /// Reads spreads and legs; the exposure is added later.
    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut spreads = Self::default();
        for (index, legs) in BTreeMap::take(from)? {
            spreads.set(index, legs)?;
        }
        spreads.orders = Wire::take(from)?;
        for (number, legs) in &spreads.orders {
            if legs.since > 0 && !legs.is_reported {
                spreads.waiting.insert((legs.since, *number));
            }
        }
        spreads.fills = Wire::take(from)?;
        Some(spreads)
    }
}
