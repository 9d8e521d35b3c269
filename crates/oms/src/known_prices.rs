//! Known prices of markets, and the held orders that wait for them.
//!
//! Prices are not state: they are unknown after a start and after the session that gives them has disconnected. Only
//! what they trigger is an event.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::condition::{Condition, Stage};
use crate::event::OrderEvent;
use crate::state::OmsState;
use crate::value::{Number, Price, PriceField};

/// Instrument, price field, direction, distance from the price, order: those that are met first come first.
type Waiting = (u32, u8, bool, i64, Number);

/// Last, bid and offer of an instrument, as far as they are known.
type Quote = [Option<Price>; 3];

/// What an accepted order asks for, in units of the OMS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Nanoseconds from its receipt on.
    pub valid_for: Option<i64>,
    pub condition: Option<(PriceField, bool, Price)>,
}

impl Asked {
    pub(crate) fn is_held(&self) -> bool {
        self.condition.is_some()
    }
}

/// Known prices, and what waits for them. Derived from the state but for the prices.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    pub quotes: Vec<Quote>,
    waiting: BTreeSet<Waiting>,
    /// Orders whose condition is met, to be triggered.
    pub touched: VecDeque<Number>,
    /// Prices that meet a condition, with the session that gave them.
    pub ticks: VecDeque<(u32, PriceField, Price, u32)>,
    /// When held orders expire.
    pub deadlines: BTreeSet<(i64, Number)>,
}

pub(crate) fn place(field: PriceField) -> usize {
    match field {
        PriceField::Last => 0,
        PriceField::Bid => 1,
        PriceField::Offer => 2,
    }
}

fn distance(rises: bool, price: Price) -> i64 {
    if rises { price } else { price.saturating_neg() }
}

fn key(order: Number, condition: &Condition) -> Waiting {
    let Condition {
        instrument,
        field,
        rises,
        price,
        ..
    } = *condition;
    (
        instrument,
        field.byte(),
        rises,
        distance(rises, price),
        order,
    )
}

impl Prices {
    /// Rebuilds what waits from the state; no price is known.
    pub(crate) fn rebuild(&mut self, state: &OmsState) {
        *self = Self::default();
        self.quotes = alloc::vec![[None; 3]; state.instruments().len() as usize];
        for (order, condition) in state.conditions.iter() {
            self.add(state, order, condition);
        }
    }

    /// Whether nothing is to be done.
    pub(crate) fn is_idle(&self) -> bool {
        self.touched.is_empty() && self.ticks.is_empty()
    }

    /// Forgets all prices.
    pub(crate) fn forget(&mut self) {
        self.quotes.fill([None; 3]);
    }

    fn add(&mut self, state: &OmsState, order: Number, condition: &Condition) {
        match condition.stage {
            Stage::Waiting => {
                self.waiting.insert(key(order, condition));
            }
            Stage::Touched => self.touched.push_back(order),
            Stage::Triggered | Stage::Over => return,
        }
        let order = state.orders().get(order);
        if let Some((order, until)) = order.and_then(|it| Some((it.number, it.valid_until()?))) {
            self.deadlines.insert((until, order));
        }
    }

    /// Called after an event was applied, while there are conditional orders.
    #[cold]
    pub(crate) fn note(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        match *event {
            OrderEvent::Held { order, .. } => {
                if let Some(condition) = state.conditions.get(order) {
                    self.add(state, order, condition);
                }
            }
            OrderEvent::Touched {
                instrument,
                field,
                price,
                ..
            } => {
                let mut met = Vec::new();
                for rises in [false, true] {
                    met.extend(self.met(instrument, field, rises, price));
                }
                for key in &met {
                    self.waiting.remove(key);
                }
                met.sort_unstable_by_key(|key| key.4);
                self.touched.extend(met.into_iter().map(|key| key.4));
            }
            OrderEvent::Ended { order, .. }
            | OrderEvent::Rejected { order, .. }
            | OrderEvent::Triggered { order } => {
                if let Some(condition) = state.conditions.get(order) {
                    self.waiting.remove(&key(order, condition));
                }
                let order = state.orders().get(order);
                if let Some(key) = order.and_then(|it| Some((it.valid_until()?, it.number))) {
                    self.deadlines.remove(&key);
                }
            }
            _ => {}
        }
    }

    fn met(
        &self,
        instrument: u32,
        field: PriceField,
        rises: bool,
        price: Price,
    ) -> impl Iterator<Item = Waiting> {
        let from = (instrument, field.byte(), rises, i64::MIN, 0);
        let to = (
            instrument,
            field.byte(),
            rises,
            distance(rises, price),
            Number::MAX,
        );
        self.waiting.range(from..=to).copied()
    }

    pub(crate) fn meets(&self, instrument: u32, field: PriceField, price: Price) -> bool {
        let mut ways = [false, true].into_iter();
        ways.any(|rises| self.met(instrument, field, rises, price).next().is_some())
    }
}
