//! Applies events of parent and child orders.

use crate::state::OmsState;
use crate::state::event::{BreakEvent, LifecycleEvent, OrderEvent, ParentEvent, UndoEvent};
use crate::state::flow::Passed;
use crate::state::orders::Order;
use crate::state::orders::transition::{OrderState, Transition};
use crate::state::tally::Tally;
use crate::values::value::{Amount, End, Number, Quantity};

/// Quantity that a child may still trade on its own side. A quantity that a bust may take back is not included, because
/// the parent does not count that quantity as left.
pub(crate) fn quantity_of(tally: &Tally, buys: bool) -> Quantity {
    if buys { tally.buying } else { tally.selling }
}

/// Whether this event has closed the order.
fn is_closed_by(order: &Order, event: &LifecycleEvent<'_>) -> bool {
    match *event {
        // A fill that arrives after the end closes nothing.
        LifecycleEvent::Filled {
            order: number,
            quantity,
            ..
        } => {
            order.number == number
                && order.state == OrderState::Ended(End::Filled)
                && order.filled.saturating_sub(quantity) < order.quantity
        }
        LifecycleEvent::Rejected { order: number, .. }
        | LifecycleEvent::TermsSet { order: number, .. }
        | LifecycleEvent::LapseConfirmed { order: number, .. }
        | LifecycleEvent::Ended { order: number, .. } => order.number == number,
        LifecycleEvent::Replaced { request, .. } => order.current == request,
        LifecycleEvent::Accepted { .. }
        | LifecycleEvent::Declined { .. }
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
        | LifecycleEvent::ExecIdPassed { .. } => false,
    }
}

/// The parent of the child order that an event has closed; `None` if the event closed no child.
#[cold]
pub(crate) fn of_closed(state: &OmsState, event: &OrderEvent<'_>) -> Option<Number> {
    let is_closed = |order: &Order| match *event {
        OrderEvent::Order(ref event) => is_closed_by(order, event),
        OrderEvent::Break(BreakEvent::TermsSettled { order: number, .. })
        | OrderEvent::Break(BreakEvent::TermsRestated { order: number, .. }) => {
            order.number == number
        }
        OrderEvent::Setup(_)
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
        | OrderEvent::Break(_)
        | OrderEvent::Undo(_) => false,
    };
    // If the event has closed an order, it is the order that was closed last.
    let last = state.orders().last_ended();
    let last = last.and_then(|last| state.orders().get(last));
    let closed = last.filter(|last| is_closed(last))?;
    state.families.parent_of(closed.number)
}

/// The event for a parent order that follows from a fill of a child, or from the bust or correction of such a fill.
#[cold]
pub(crate) fn counts_for_parent(
    state: &OmsState,
    event: &OrderEvent<'_>,
) -> Option<(Number, OrderEvent<'static>)> {
    match *event {
        OrderEvent::Order(LifecycleEvent::Filled {
            order: child,
            quantity,
            price,
            at,
            ..
        }) => {
            let order = state.families.parent_of(child)?;
            let event = ParentEvent::ParentFilled {
                order,
                child,
                quantity,
                price,
                at,
            };
            Some((order, OrderEvent::Parent(event)))
        }
        OrderEvent::Undo(ref event) => {
            let (order, event) = undo_for_parent(state, event)?;
            Some((order, OrderEvent::Undo(event)))
        }
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
        | OrderEvent::Break(_) => None,
    }
}

fn undo_for_parent(
    state: &OmsState,
    event: &UndoEvent<'_>,
) -> Option<(Number, UndoEvent<'static>)> {
    let (child, exec, was, now, open, at) = match *event {
        UndoEvent::Busted {
            order,
            exec,
            quantity,
            price,
            open,
            at,
            ..
        } => (order, exec, (quantity, price), (0, 0), open, at),
        UndoEvent::Corrected {
            order,
            exec,
            was_quantity,
            was_price,
            quantity,
            price,
            open,
            at,
            ..
        } => {
            let was = (was_quantity, was_price);
            (order, exec, was, (quantity, price), open, at)
        }
        // A `ParentCorrected` is already the event of the parent.
        UndoEvent::ParentCorrected { .. } => return None,
    };
    let order = state.families.parent_of(child)?;
    let fill = state.orders().fill(child, exec);
    let event = UndoEvent::ParentCorrected {
        order,
        child,
        // The event of the parent came directly after the event of the child.
        report: fill.map_or(0, |fill| fill.report + 1),
        was_quantity: was.0,
        was_price: was.1,
        quantity: now.0,
        price: now.1,
        open,
        at,
    };
    Some((order, event))
}

impl OmsState {
    pub(crate) fn apply_parent(&mut self, event: &ParentEvent) -> Option<()> {
        match *event {
            ParentEvent::ParentAccepted { order: number } => self.change(number, |state, place| {
                state.step(place, Transition::Keep)?;
                let session = state.orders.at(place)?.session;
                state.families.add(number, session);
                Some(())
            }),
            // The next event accepts the child order.
            ParentEvent::ChildOf { order, parent } => {
                let of = self.orders.get(parent)?;
                if of.state != OrderState::Parent || order != self.last + 1 {
                    return None;
                }
                self.families.link(order, parent)
            }
            ParentEvent::ParentFilled {
                order: number,
                quantity,
                price,
                ..
            } => {
                self.change(number, |state, place| {
                    let filled = state.orders.at(place)?.filled.checked_add(quantity)?;
                    let all = filled >= state.orders.at(place)?.quantity;
                    state.step(place, Transition::Fill { all })?;
                    let order = state.orders.at_mut(place)?;
                    order.filled = filled;
                    let worth = i128::from(price) * i128::from(quantity);
                    order.paid = order.paid.saturating_add(worth);
                    Some(())
                })?;
                if !self.is_open(number) {
                    // A child was filled above its quantity. With the other children, the parent could also be filled
                    // above its quantity.
                    self.withdraw_children(number);
                }
                Some(())
            }
        }
    }

    /// Open children of a parent, by number.
    pub(crate) fn open_children(&self, parent: Number) -> impl Iterator<Item = Number> {
        let children = self.families.children(parent);
        children.filter(|child| self.is_open(*child))
    }

    /// Marks the open children of a parent, which must be cancelled.
    #[cold]
    pub(crate) fn withdraw_children(&mut self, parent: Number) {
        let children: alloc::vec::Vec<Number> = self.open_children(parent).collect();
        for child in children {
            if let Some(order) = self.orders.get_mut(child) {
                order.withdrawn = true;
            }
        }
    }

    /// The part of the usage of a parent order that children take over with `more` quantity.
    pub(crate) fn released(&self, parent: &Order, more: Quantity) -> Tally {
        let now = self.counted(parent, self.orders.request_of(parent));
        let own = quantity_of(&now, parent.side.is_buy());
        let left = own.saturating_sub(more);
        let (buying, selling) = if parent.side.is_buy() {
            (own - left, 0)
        } else {
            (0, own - left)
        };
        Tally {
            buying,
            selling,
            reserved: now.reserved - self.worth_at_most(parent.instrument, parent.hold, left),
            ..Tally::default()
        }
    }

    /// The value that the parent of an order reserves; 0 without a parent.
    #[inline]
    pub(crate) fn reserved_above(&self, order: Number) -> Amount {
        let parent = self.families.parent_of(order);
        let parent = parent.and_then(|parent| self.orders.get(parent));
        parent.map_or(0, |parent| {
            let request = self.orders.request_of(parent);
            self.counted(parent, request).reserved
        })
    }

    /// Takes over a quantity of the parent for a new child order; returns the value and quantity that count as flow of
    /// the child.
    #[cold]
    pub(crate) fn child_taken(&mut self, order: Number, tally: &Tally) -> Passed {
        let before = self.reserved_above(order);
        self.child_changed(order, &Tally::default(), tally);
        let released = before - self.reserved_above(order);
        Passed {
            messages: 1,
            // The quantity already counted as flow of the parent.
            value: (tally.reserved - released).max(0),
            ..Passed::default()
        }
    }
}
