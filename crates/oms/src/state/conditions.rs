//! Conditional orders in the state. The OMS holds them until a price of the market meets their condition.
//!
//! ```text
//!             Touched                 Triggered
//!   Waiting -----------> Touched ------------------> Triggered
//!      |                    |
//!      +--------------------+--- the order is closed ---> Over
//! ```
//!
//! A price becomes an event only when it meets a condition. The event `Touched` marks all orders whose condition the
//! price meets. So each order is triggered once, even after a crash between `Touched` and `Triggered`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use fixwire_protocol::Decimal;

use crate::state::orders::Orders;
use crate::state::orders::transition::OrderState;
use crate::state::parents::FamilyRole;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::units::Rescale;
use crate::values::value::{Number, Price, PriceField};
use fixwire_ledger::{Put, Wire, bytes, record};

/// Terms of a new order that are not in its usual fields.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// The OMS must not send the order later than this number of nanoseconds after it was received; `None` for no
    /// limit.
    pub valid_for: Option<i64>,
    /// The OMS holds the order until this condition is met; `None` for no condition.
    pub condition: Option<PriceCondition>,
    /// Whether the order is a parent or a child order; `None` for neither.
    pub role: Option<FamilyRole>,
}

impl Terms {
    /// None of these terms.
    pub const NONE: Self = Self {
        valid_for: None,
        condition: None,
        role: None,
    };
}

/// A condition as a client sends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceCondition {
    /// The market price that the condition is about.
    pub field: PriceField,
    /// Whether the market price must be at least `price`; if false, at most `price`.
    pub rises: bool,
    /// The limit for the market price.
    pub price: Decimal,
}

impl PriceCondition {
    /// Reads a condition such as `last>=101.5`: `last`, `bid` or `offer`, then `>=` or `<=`, then a price.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let at = text.iter().position(|byte| matches!(byte, b'<' | b'>'))?;
        let (field, rest) = text.split_at(at);
        let (rises, price) = match rest {
            [b'>', b'=', price @ ..] => (true, price),
            [b'<', b'=', price @ ..] => (false, price),
            _ => return None,
        };
        let field = match field {
            b"last" => PriceField::Last,
            b"bid" => PriceField::Bid,
            b"offer" => PriceField::Offer,
            _ => return None,
        };
        let price = Decimal::parse(price).ok()?;
        Some(Self {
            field,
            rises,
            price,
        })
    }
}

bytes! {
    /// The stage that a conditional order has reached.
    Stage {
        /// No price has met the condition of the order yet.
        Waiting = 0,
        /// A price has met the condition of the order.
        Touched = 1,
        /// The order was triggered.
        Triggered = 2,
        /// The order was closed before it could be triggered.
        Over = 3,
    }
}

/// The condition of an order that is or was held.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Condition {
    pub session: SessionNo,
    pub instrument: InstrumentNo,
    pub field: PriceField,
    pub rises: bool,
    pub price: Price,
    pub stage: Stage,
}

record! { Condition { session, instrument, field, rises, price, stage } }

impl Condition {
    /// Whether a price meets the condition.
    pub fn is_met(&self, price: Price) -> bool {
        if self.rises {
            price >= self.price
        } else {
            price <= self.price
        }
    }

    pub fn is_held(&self) -> bool {
        matches!(self.stage, Stage::Waiting | Stage::Touched)
    }
}

/// Instrument, price field, direction, distance of the price, order. The first entry is the order whose condition is
/// met first.
type Waiting = (InstrumentNo, u8, bool, i64, Number);

fn distance(rises: bool, price: Price) -> i64 {
    if rises { price } else { price.saturating_neg() }
}

fn key(order: Number, it: &Condition) -> Waiting {
    let distance = distance(it.rises, it.price);
    (it.instrument, it.field.byte(), it.rises, distance, order)
}

/// The conditions of the orders in memory, by order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) all: BTreeMap<Number, Condition>,
    // Derived from the fields above:
    pub(crate) waiting: BTreeSet<Waiting>,
    pub(crate) touched: BTreeSet<Number>,
    /// Number of held orders of each session.
    pub(crate) held: BTreeMap<SessionNo, usize>,
}

impl Conditions {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn get(&self, order: Number) -> Option<&Condition> {
        self.all.get(&order)
    }

    /// Orders that are held.
    pub fn held(&self) -> impl Iterator<Item = (Number, &Condition)> {
        let all = self.all.iter().filter(|(_, condition)| condition.is_held());
        all.map(|(order, condition)| (*order, condition))
    }

    /// Number of held orders of a session.
    pub fn held_by(&self, session: SessionNo) -> usize {
        self.held.get(&session).copied().unwrap_or(0)
    }

    /// Orders whose condition was met by a price, the oldest first.
    pub fn touched(&self) -> &BTreeSet<Number> {
        &self.touched
    }

    /// Whether a price meets the condition of a held order.
    pub fn meets(&self, instrument: InstrumentNo, field: PriceField, price: Price) -> bool {
        self.met(instrument, field, price).next().is_some()
    }

    fn met(
        &self,
        instrument: InstrumentNo,
        field: PriceField,
        price: Price,
    ) -> impl Iterator<Item = Waiting> {
        [false, true].into_iter().flat_map(move |rises| {
            let of = (instrument, field.byte(), rises);
            let from = (of.0, of.1, of.2, i64::MIN, 0);
            let to = (of.0, of.1, of.2, distance(rises, price), Number::MAX);
            self.waiting.range(from..=to).copied()
        })
    }

    fn index(&mut self, order: Number, condition: &Condition) {
        match condition.stage {
            Stage::Waiting => self.waiting.insert(key(order, condition)),
            Stage::Touched => self.touched.insert(order),
            Stage::Triggered | Stage::Over => return,
        };
        *self.held.entry(condition.session).or_default() += 1;
    }

    /// Sets the stage of an order that is no longer held; `None` if the order was not held.
    fn leave(&mut self, order: Number, stage: Stage) -> Option<()> {
        let condition = self.all.get_mut(&order).filter(|it| it.is_held())?;
        self.waiting.remove(&key(order, condition));
        self.touched.remove(&order);
        if let Some(held) = self.held.get_mut(&condition.session) {
            *held -= 1;
        }
        condition.stage = stage;
        Some(())
    }

    /// Handles a closed order.
    #[inline]
    pub fn has_ended(&mut self, order: Number) {
        if !self.is_empty() {
            self.leave(order, Stage::Over);
        }
    }

    /// Removes the condition of an order that is removed from memory.
    #[inline]
    pub fn forget(&mut self, order: Number) {
        if !self.is_empty() {
            self.leave(order, Stage::Over);
            self.all.remove(&order);
        }
    }

    /// Gives the prices of an instrument more decimals.
    pub fn rescale(&mut self, instrument: InstrumentNo, by: Rescale) {
        let conditions = self.all.iter_mut();
        for (order, condition) in conditions.filter(|(_, it)| it.instrument == instrument) {
            let waits = self.waiting.remove(&key(*order, condition));
            by.price(&mut condition.price);
            if waits {
                self.waiting.insert(key(*order, condition));
            }
        }
    }

    pub fn add(&mut self, order: Number, condition: Condition) {
        self.index(order, &condition);
        self.all.insert(order, condition);
    }

    /// Triggers an order whose condition was met; `None` for another order.
    pub fn trigger(&mut self, order: Number) -> Option<()> {
        self.touched.get(&order)?;
        self.leave(order, Stage::Triggered)
    }

    /// Marks the orders whose condition a price meets.
    pub fn touch(&mut self, instrument: InstrumentNo, field: PriceField, price: Price) {
        let met: Vec<Waiting> = self.met(instrument, field, price).collect();
        for key in met {
            self.waiting.remove(&key);
            self.touched.insert(key.4);
            if let Some(condition) = self.all.get_mut(&key.4) {
                condition.stage = Stage::Touched;
            }
        }
    }

    /// Marks the triggered orders of a checkpoint; `None` when orders and conditions do not fit each other.
    pub fn mark(&self, orders: &mut Orders) -> Option<()> {
        for (number, condition) in &self.all {
            let order = orders.get_mut(*number)?;
            if condition.is_held() != (order.state == OrderState::Held) {
                return None;
            }
            order.triggered = condition.stage == Stage::Triggered;
        }
        let mut held = orders.iter().filter(|it| it.state == OrderState::Held);
        held.all(|order| self.all.contains_key(&order.number))
            .then_some(())
    }
}

impl Wire<'_> for Conditions {
    fn put(&self, to: &mut impl Put) {
        self.all.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut conditions = Self::default();
        for (order, condition) in BTreeMap::take(from)? {
            conditions.add(order, condition);
        }
        Some(conditions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_read_as_it_is_written() {
        let wish = |text: &str| PriceCondition::parse(text.as_bytes());
        let known = wish("bid<=99.5").unwrap();
        assert_eq!((known.field, known.rises), (PriceField::Bid, false));
        assert_eq!(known.price, Decimal::parse(b"99.5").unwrap());
        assert!(wish("last>=1").unwrap().rises);
        for text in [
            "", "last", "last>1", "last=>1", "ask>=1", "last>=", "last>=x", ">=1",
        ] {
            assert_eq!(wish(text), None, "{text}");
        }
    }
}
