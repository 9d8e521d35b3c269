//! Market prices, and the times at which held orders expire.
//!
//! Prices are not part of the state. They are unknown after a start, and after the session that provides them
//! disconnects. Only the events that prices trigger are in the journal.

use alloc::collections::{BTreeSet, VecDeque};

use crate::state::OmsState;
use crate::state::event::{ConditionEvent, LifecycleEvent, OrderEvent};
use crate::state::parents::FamilyRole;
use crate::values::ids::{InstrumentNo, SessionNo, Table};
use crate::values::value::{Number, Price, PriceField};

/// Last, bid and offer of an instrument; `None` for an unknown price.
type Quote = [Option<Price>; 3];

/// Additional terms of an accepted order, in units of the OMS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcceptedTerms {
    /// The validity of the order, in nanoseconds after it was received.
    pub valid_for: Option<i64>,
    pub condition: Option<(PriceField, bool, Price)>,
    pub role: Option<FamilyRole>,
}

impl AcceptedTerms {
    /// Whether the order is not sent to a venue for now: it has a condition, or it is a parent order.
    pub(crate) fn stays(&self) -> bool {
        self.condition.is_some() || self.is_parent()
    }

    pub(crate) fn is_parent(&self) -> bool {
        self.role == Some(FamilyRole::Parent)
    }

    /// Parent of the order.
    pub(crate) fn parent(&self) -> Option<Number> {
        match self.role {
            Some(FamilyRole::Child(parent)) => Some(parent),
            _ => None,
        }
    }
}

/// Market prices, and the times at which held orders expire. The times are derived from the state.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    pub quotes: Table<InstrumentNo, Quote>,
    /// Prices that meet a condition, each with the session that provided it.
    pub ticks: VecDeque<(InstrumentNo, PriceField, Price, Option<SessionNo>)>,
    pub deadlines: BTreeSet<(i64, Number)>,
}

pub(crate) fn place(field: PriceField) -> usize {
    match field {
        PriceField::Last => 0,
        PriceField::Bid => 1,
        PriceField::Offer => 2,
    }
}

impl Prices {
    /// Rebuilds the values that are derived from the state; all prices become unknown.
    pub(crate) fn rebuild(&mut self, state: &OmsState) {
        *self = Self::default();
        self.quotes = Table::of([None; 3], state.instruments().len());
        let held = state.conditions.held();
        self.deadlines = held.filter_map(|it| deadline(state, it.0)).collect();
    }

    /// Adds new instruments, and rescales the prices of instruments that have more decimals than in `scales`.
    pub(crate) fn rescale(&mut self, state: &OmsState, scales: &Table<InstrumentNo, u8>) {
        self.quotes.resize(state.instruments().len(), [None; 3]);
        for (index, before) in scales.numbered() {
            let more = state.scale(index).saturating_sub(*before);
            if more == 0 {
                continue;
            }
            let factor = 10_i64.pow(more.into());
            let quote = self.quotes.get_mut(index);
            for price in quote.into_iter().flatten().flatten() {
                *price = price.saturating_mul(factor);
            }
            for tick in self.ticks.iter_mut().filter(|tick| tick.0 == index) {
                tick.2 = tick.2.saturating_mul(factor);
            }
        }
    }

    /// Makes all prices unknown.
    pub(crate) fn forget(&mut self) {
        self.quotes.fill([None; 3]);
    }

    /// Called after an event was applied, while there are conditional orders.
    #[cold]
    pub(crate) fn note(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        let over = match *event {
            OrderEvent::Condition(ConditionEvent::Held { order, .. }) => {
                return self.deadlines.extend(deadline(state, order));
            }
            OrderEvent::Order(LifecycleEvent::Ended { order, .. })
            | OrderEvent::Order(LifecycleEvent::LapseConfirmed { order, .. })
            | OrderEvent::Order(LifecycleEvent::Rejected { order, .. })
            | OrderEvent::Condition(ConditionEvent::Triggered { order }) => order,
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Order(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_)
            | OrderEvent::Break(_)
            | OrderEvent::Undo(_) => return,
        };
        if let Some(key) = deadline(state, over) {
            self.deadlines.remove(&key);
        }
    }
}

fn deadline(state: &OmsState, order: Number) -> Option<(i64, Number)> {
    let order = state.orders().get(order)?;
    Some((order.valid_until()?, order.number))
}
