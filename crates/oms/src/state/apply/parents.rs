//! Applies events of parent and child orders.

use crate::state::OmsState;
use crate::state::event::ParentEvent;
use crate::state::flow::Passed;
use crate::state::orders::Order;
use crate::state::orders::transition::{OrderState, Transition};
use crate::state::tally::Tally;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::value::{Amount, Number, Quantity};

/// Quantity that a child may still trade on its side. What a bust may take back is no part of what its parent has left.
pub(crate) fn quantity_of(tally: &Tally, buys: bool) -> Quantity {
    if buys { tally.buying } else { tally.selling }
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
            // It comes next.
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
                    // A child was filled above its quantity: the others would go beyond that of the parent.
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

    /// The open children of a parent must be cancelled.
    #[cold]
    pub(crate) fn withdraw_children(&mut self, parent: Number) {
        let children: alloc::vec::Vec<Number> = self.open_children(parent).collect();
        for child in children {
            if let Some(order) = self.orders.get_mut(child) {
                order.withdrawn = true;
            }
        }
    }

    /// The part of the usage of a parent that its children take over with so much more quantity.
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

    /// A new child takes over a quantity of its parent; returns the value and quantity that it counts as flow.
    #[cold]
    pub(crate) fn child_taken(&mut self, order: Number, tally: &Tally) -> Passed {
        let before = self.reserved_above(order);
        self.child_changed(order, &Tally::default(), tally);
        let released = before - self.reserved_above(order);
        Passed {
            messages: 1,
            // The parent counted the quantity.
            value: (tally.reserved - released).max(0),
            ..Passed::default()
        }
    }

    /// The usage of an order changed: if the order is a child, its parent reserves the rest.
    #[cold]
    pub(crate) fn child_changed(&mut self, order: Number, old: &Tally, new: &Tally) {
        let Some(buys) = self.orders.get(order).map(|it| it.side.is_buy()) else {
            return;
        };
        let (old, new) = (quantity_of(old, buys), quantity_of(new, buys));
        let Some(parent) = self.families.parent_of(order).filter(|_| old != new) else {
            return;
        };
        if canary::is(OmsPlantedFault::CountTwice) && new > old {
            return;
        }
        let counted = |state: &Self| {
            let order = state.orders.get(parent)?;
            let tally = state.counted(order, state.orders.request_of(order));
            Some((order.party(), tally))
        };
        let before = counted(self);
        self.families.hold(parent, old, new);
        let after = counted(self);
        if let (Some((party, old)), Some((_, new))) = (before, after) {
            self.count(party, &old, &new);
        }
        self.expose(parent);
    }
}
