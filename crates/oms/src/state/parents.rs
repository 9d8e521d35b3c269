//! Parent and child orders in the state.
//!
//! ```text
//!   parent 17   quantity 1000 = filled 200 + held by its children 500 + its own 300
//!   child 18    quantity  400 = filled 200 + open 200
//!   child 19    quantity  300 =              open 300
//! ```
//!
//! A parent is never sent to a venue. It reserves only the quantity that its children do not hold, so that each
//! quantity counts once.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::state::orders::Orders;
use crate::state::orders::transition::OrderState;
use crate::values::ids::SessionNo;
use crate::values::units::Rescale;
use crate::values::value::{Number, Quantity};
use fixwire_ledger::{Put, Wire};

/// Whether a new order is a parent or a child.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FamilyRole {
    /// A parent order.
    Parent,
    /// A child order of the parent with this number.
    Child(Number),
}

/// A parent order in memory.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    pub(crate) session: SessionNo,
    pub(crate) is_open: bool,
    /// Quantity that the open children have taken over and that is not filled.
    pub(crate) held: Quantity,
    /// Children of the parent in memory.
    pub(crate) children: BTreeSet<Number>,
}

impl Parent {
    fn of(session: SessionNo) -> Self {
        Self {
            session,
            is_open: false,
            held: 0,
            children: BTreeSet::new(),
        }
    }
}

/// The parents in memory, by number, and their children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Families {
    pub(crate) parents: BTreeMap<Number, Parent>,
    // Derived from the fields above:
    /// The parent of each child.
    pub(crate) parent_of: BTreeMap<Number, Number>,
    /// Number of open parents of each session.
    pub(crate) open: BTreeMap<SessionNo, usize>,
}

impl Families {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The parent of an order; `None` if the order is no child.
    #[inline]
    pub fn parent_of(&self, order: Number) -> Option<Number> {
        if self.is_empty() {
            return None;
        }
        self.parent_of.get(&order).copied()
    }

    pub fn is_parent(&self, order: Number) -> bool {
        self.parents.contains_key(&order)
    }

    /// All parents in memory.
    pub fn parents(&self) -> impl Iterator<Item = Number> {
        self.parents.keys().copied()
    }

    /// Unfilled quantity that the open children of a parent have taken over.
    pub fn held(&self, parent: Number) -> Quantity {
        self.parents.get(&parent).map_or(0, |parent| parent.held)
    }

    /// The children of a parent that are in memory.
    pub fn children(&self, parent: Number) -> impl Iterator<Item = Number> {
        let parent = self.parents.get(&parent);
        parent
            .into_iter()
            .flat_map(|it| it.children.iter().copied())
    }

    /// Number of open parents of a session.
    pub fn open_of(&self, session: SessionNo) -> usize {
        self.open.get(&session).copied().unwrap_or(0)
    }

    pub fn add(&mut self, order: Number, session: SessionNo) {
        let parent = Parent {
            is_open: true,
            ..Parent::of(session)
        };
        self.parents.insert(order, parent);
        *self.open.entry(session).or_default() += 1;
    }

    /// Adds a closed parent order that is in memory again.
    pub fn recall(&mut self, order: Number, session: SessionNo) {
        self.parents.insert(order, Parent::of(session));
    }

    /// Makes an order a child of a parent; `None` when the parent is not in memory, or the order already is a child.
    pub fn link(&mut self, child: Number, parent: Number) -> Option<()> {
        let of = self.parents.get_mut(&parent)?;
        if child <= parent || self.parent_of.contains_key(&child) {
            return None;
        }
        of.children.insert(child);
        self.parent_of.insert(child, parent);
        Some(())
    }

    /// Records that the quantity that a child has taken over changes from `old` to `new`.
    pub fn hold(&mut self, parent: Number, old: Quantity, new: Quantity) {
        if let Some(parent) = self.parents.get_mut(&parent) {
            parent.held = parent.held.saturating_sub(old).saturating_add(new);
        }
    }

    /// Rescales the held quantities of some parents, whose instrument gets more decimals.
    pub fn rescale(&mut self, is_its: impl Fn(Number) -> bool, by: Rescale) {
        for (_, parent) in self.parents.iter_mut().filter(|(order, _)| is_its(**order)) {
            by.quantity(&mut parent.held);
        }
    }

    /// Handles a closed order.
    pub fn has_ended(&mut self, order: Number) {
        if let Some(parent) = self.parents.get_mut(&order).filter(|it| it.is_open) {
            parent.is_open = false;
            if let Some(open) = self.open.get_mut(&parent.session) {
                *open -= 1;
            }
        }
    }

    /// Handles a closed order that is open again.
    pub fn is_open_again(&mut self, order: Number) {
        if let Some(parent) = self.parents.get_mut(&order).filter(|it| !it.is_open) {
            parent.is_open = true;
            *self.open.entry(parent.session).or_default() += 1;
        }
    }

    /// Removes an order that is removed from memory.
    pub fn forget(&mut self, order: Number) {
        if self.is_empty() {
            return;
        }
        self.has_ended(order);
        if let Some(parent) = self.parents.remove(&order) {
            for child in parent.children {
                self.parent_of.remove(&child);
            }
        }
        if let Some(parent) = self.parent_of.remove(&order)
            && let Some(parent) = self.parents.get_mut(&parent)
        {
            parent.children.remove(&order);
        }
    }

    /// Completes the families of a checkpoint; `None` when the orders and the families contradict each other. `held`
    /// gives the quantity that an order may still fill.
    pub fn complete(&mut self, orders: &Orders, held: impl Fn(Number) -> Quantity) -> Option<()> {
        for (number, parent) in &mut self.parents {
            let order = orders.get(*number)?;
            let sum = parent.children.iter().try_fold(0_u64, |sum, child| {
                orders.get(*child)?;
                sum.checked_add(held(*child))
            });
            if sum != Some(parent.held) || parent.session != order.session {
                return None;
            }
            parent.is_open = order.state.is_open();
            if parent.is_open {
                if order.state != OrderState::Parent {
                    return None;
                }
                *self.open.entry(order.session).or_default() += 1;
            }
        }
        let mut open = orders.iter().filter(|it| it.state == OrderState::Parent);
        open.all(|order| self.is_parent(order.number)).then_some(())
    }
}

impl Wire<'_> for Families {
    fn put(&self, to: &mut impl Put) {
        (self.parents.len() as u32).put(to);
        for (order, parent) in &self.parents {
            order.put(to);
            parent.session.put(to);
            parent.held.put(to);
            parent.children.put(to);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut families = Self::default();
        for _ in 0..u32::take(from)? {
            let order = Wire::take(from)?;
            let session = Wire::take(from)?;
            let parent = Parent {
                held: Wire::take(from)?,
                ..Parent::of(session)
            };
            let known = families.parents.insert(order, parent);
            known.is_none().then_some(())?;
            for child in <Vec<Number>>::take(from)? {
                families.link(child, order)?;
            }
        }
        Some(families)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_left_in_any_order() {
        let mut families = Families::default();
        assert_eq!(families.link(2, 1), None);
        families.add(1, SessionNo::new(7));
        assert_eq!(families.link(2, 1), Some(()));
        assert_eq!(families.link(2, 1), None, "it has a parent");
        assert_eq!(families.link(3, 1), Some(()));
        families.hold(1, 0, 30);
        families.hold(1, 30, 10);
        let mut bytes = Vec::new();
        families.put(&mut bytes);
        let read = Families::take(&mut &*bytes).unwrap();
        assert_eq!((read.held(1), read.parent_of(3)), (10, Some(1)));
        families.forget(2);
        assert!(families.children(1).eq([3]));
        families.has_ended(1);
        families.has_ended(1);
        assert_eq!(families.open_of(SessionNo::new(7)), 0);
        families.forget(1);
        assert_eq!((families.parent_of(3), families.is_empty()), (None, true));
    }
}
