//! Open orders by owner and price, for self-trade prevention.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;

use crate::state::OmsState;
use crate::state::event::{
    BreakEvent, ConditionEvent, CopyEvent, LifecycleEvent, OrderEvent, ParentEvent, RequestEvent,
    UndoEvent,
};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::proposal::Proposal;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::reason::{Reason, Why};
use crate::values::value::{Number, OrderType, Price, RequestKind, Side};

/// Owner, instrument, side, and distance of the price from crossing. They are one number, because a check compares
/// levels several times for each order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Level(u128);

impl Level {
    fn new((owner, instrument): (AccountNo, InstrumentNo), buys: bool, distance: i64) -> Self {
        // An account number has at most 31 bits: memory is not sufficient for more accounts.
        let of = u128::from(owner.place()) << 33
            | u128::from(instrument.place()) << 1
            | u128::from(buys);
        // The smallest possible distance becomes 0.
        Self(of << 64 | u128::from(distance.wrapping_sub(i64::MIN).cast_unsigned()))
    }

    fn distance(self) -> i64 {
        (self.0 as u64).cast_signed().wrapping_add(i64::MIN)
    }
}

/// The distance of an order that may trade at any price.
pub(crate) const ANY: i64 = i64::MIN;

/// Number of open orders at each price, the most aggressive first. Derived from the state.
#[derive(Debug)]
pub(crate) struct OwnOrders {
    is_on: bool,
    levels: BTreeMap<Level, u32>,
}

/// The top-level account of an account.
fn owner(state: &OmsState, account: AccountNo) -> AccountNo {
    let owners = core::iter::successors(Some(account), |&of| state.parent(of));
    owners.last().unwrap_or(account)
}

/// The distance of a price from crossing. It is the smallest for the highest bid and for the lowest offer.
fn distance(side: Side, kind: OrderType, price: Price) -> i64 {
    match (kind.has_price(), side.is_buy()) {
        (false, _) => ANY,
        (true, true) => price.saturating_neg(),
        (true, false) => price,
    }
}

impl OwnOrders {
    pub(crate) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            levels: BTreeMap::new(),
        }
    }

    /// Rebuilds the counts from all open orders.
    pub(crate) fn rebuild(&mut self, state: &OmsState) {
        self.levels.clear();
        for order in state.orders().iter().filter(|_| self.is_on) {
            Self::each(state, order, |level| {
                *self.levels.entry(level).or_insert(0) += 1;
            });
        }
    }

    /// Whether the counts are the same as the counts of a rebuild.
    #[cfg(test)]
    pub(crate) fn is_of(&self, state: &OmsState) -> bool {
        let mut anew = Self::new(self.is_on);
        anew.rebuild(state);
        anew.levels == self.levels
    }

    /// Passes the price of an order, and the price of its pending replace, to `level`.
    fn each(state: &OmsState, order: &Order, mut level: impl FnMut(Level)) {
        // A held order and a parent order cannot trade.
        let cannot = matches!(order.state, OrderState::Held | OrderState::Parent);
        if !order.state.is_open() || cannot {
            return;
        }
        let (owner, buys) = (owner(state, order.account), order.side.is_buy());
        let mut at = |price| {
            let distance = distance(order.side, order.kind, price);
            level(Level::new((owner, order.instrument), buys, distance));
        };
        at(order.price);
        let request = state.orders().request_of(order);
        if let Some(request) = request.filter(|it| it.kind == RequestKind::Replace) {
            at(request.price);
        }
    }

    /// Removes the order that an event is about to change; returns its number.
    pub(crate) fn touched(&mut self, state: &OmsState, event: &OrderEvent<'_>) -> Option<Number> {
        if !self.is_on {
            return None;
        }
        let number = match *event {
            // A partial fill does not change the counts: a price keeps its entry while it has open orders.
            OrderEvent::Order(LifecycleEvent::Filled {
                order, quantity, ..
            }) if state.orders().get(order)?.leaves() > quantity => return None,
            // A new order has no entry yet.
            OrderEvent::Request(RequestEvent::Taken { order, .. }) => return Some(order),
            OrderEvent::Request(RequestEvent::ReplaceTaken { order, .. })
            | OrderEvent::Order(LifecycleEvent::Rejected { order, .. })
            | OrderEvent::Order(LifecycleEvent::Filled { order, .. })
            | OrderEvent::Condition(ConditionEvent::Held { order, .. })
            | OrderEvent::Parent(ParentEvent::ParentAccepted { order })
            | OrderEvent::Condition(ConditionEvent::Triggered { order })
            | OrderEvent::Copy(CopyEvent::Restated { order, .. })
            | OrderEvent::Order(LifecycleEvent::TermsSet { order, .. })
            | OrderEvent::Undo(UndoEvent::Busted { order, .. })
            | OrderEvent::Undo(UndoEvent::Corrected { order, .. })
            | OrderEvent::Undo(UndoEvent::ParentCorrected { order, .. })
            | OrderEvent::Break(BreakEvent::TermsSettled { order, .. })
            | OrderEvent::Break(BreakEvent::TermsRestated { order, .. })
            | OrderEvent::Break(BreakEvent::FillsSettled { order, .. })
            | OrderEvent::Order(LifecycleEvent::LapseConfirmed { order, .. })
            | OrderEvent::Order(LifecycleEvent::Ended { order, .. }) => order,
            OrderEvent::Order(LifecycleEvent::Replaced { request, .. })
            | OrderEvent::Order(LifecycleEvent::Declined { request, .. }) => {
                state.orders().request(request)?.1.number
            }
            OrderEvent::Order(
                LifecycleEvent::Accepted { .. }
                | LifecycleEvent::Pended { .. }
                | LifecycleEvent::Retried { .. }
                | LifecycleEvent::Asked { .. }
                | LifecycleEvent::Forgotten { .. }
                | LifecycleEvent::DoneForDay { .. }
                | LifecycleEvent::Renewed { .. }
                | LifecycleEvent::ReportEntered { .. }
                | LifecycleEvent::Lapsed { .. }
                | LifecycleEvent::LapseCancelled { .. }
                | LifecycleEvent::Unanswered { .. }
                | LifecycleEvent::NoAnswer { .. }
                | LifecycleEvent::NotAtVenue { .. }
                | LifecycleEvent::ForeignReport { .. }
                | LifecycleEvent::VenueIdSet { .. }
                | LifecycleEvent::ExecIdPassed { .. },
            )
            | OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_)
            | OrderEvent::Break(_) => return None,
        };
        if let Some(order) = state.orders().get(number) {
            Self::each(state, order, |level| {
                if let Entry::Occupied(mut known) = self.levels.entry(level) {
                    *known.get_mut() -= 1;
                    if *known.get() == 0 {
                        known.remove();
                    }
                }
            });
        }
        Some(number)
    }

    /// Adds the removed order again, with its present price.
    pub(crate) fn add(&mut self, state: &OmsState, touched: Option<Number>) {
        if !self.is_on {
            return;
        }
        if let Some(order) = touched.and_then(|number| state.orders().get(number)) {
            Self::each(state, order, |level| {
                *self.levels.entry(level).or_insert(0) += 1;
            });
        }
    }

    /// RC16: rejects an order that could trade with an open order of the same owner. `this` is the order that a replace
    /// changes.
    pub(crate) fn check(
        &self,
        state: &OmsState,
        order: &Proposal,
        this: Number,
    ) -> Result<(), Reason> {
        if !self.is_on {
            return Ok(());
        }
        let (owner, other) = (owner(state, order.account), !order.side.is_buy());
        let most = match distance(order.side, order.kind, order.price) {
            ANY => i64::MAX,
            // A buy at 5 could trade with sells up to 5. A sell at 5 could trade with buys whose distance is up to -5.
            distance => distance.saturating_neg(),
        };
        let from = Level::new((owner, order.instrument), other, i64::MIN);
        let to = Level::new((owner, order.instrument), other, most);
        let this = state.orders().get(this);
        let is_other = |level: &Level, count: u32| {
            let mut its = 0;
            if let Some(this) = this {
                Self::each(state, this, |at| its += u32::from(at == *level));
            }
            count > its
        };
        let levels = self.levels.range(from..);
        let mut levels = levels.take_while(|(level, _)| **level <= to);
        match levels.find(|(level, count)| is_other(level, **count)) {
            None => Ok(()),
            Some((level, _)) => Err(Reason {
                value: match (level.distance(), other) {
                    (ANY, _) => ANY.into(),
                    (distance, true) => -i128::from(distance),
                    (distance, false) => distance.into(),
                },
                ..Reason::of(Why::SelfTrade)
            }),
        }
    }
}
