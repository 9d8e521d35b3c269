//! The fills of the orders in memory. A fill is found by its order and ExecID(17). The time for this does not depend on
//! the number of fills.
//!
//! ```text
//!   fill E1 --- Trade Cancel E2 ---> cancelled by E2, counts no more
//!   fill E1 --- Trade Correct E3 --> cancelled by E3, and E3 is a fill of the same order
//! ```
//!
//! A fill takes 64 bytes, and about 10 more in the index, until its order is removed from memory. The venues determine
//! how many fills there are: the OMS has no limit.

use hashbrown::HashTable;

use crate::values::ids::Slot;
use crate::values::slab::Slab;
use crate::values::slab::mixed;
use crate::values::units::Rescale;
use crate::values::value::{Price, Quantity};

/// A fill of an order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Fill {
    /// Hash of the venue's ExecID(17).
    pub exec: u64,
    /// LastQty(32); 0 for a fill of a leg.
    pub quantity: Quantity,
    /// LastPx(31).
    pub price: Price,
    /// The number of the fill's event, which is the ExecID(17) of the report to the client.
    pub report: u64,
    /// Hash of the ExecID(17) that cancelled or corrected the fill; 0 while the fill counts.
    pub undone: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Kept {
    fill: Fill,
    /// Index of the order to which the fill belongs.
    order: Slot,
    /// Index of the earlier fill of the same order; `None` for the first fill.
    before: Option<Slot>,
}

/// The fills of all orders in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fills {
    pub(crate) kept: Slab<Kept>,
    pub(crate) places: HashTable<Slot>,
}

fn hash(order: Slot, exec: u64) -> u64 {
    mixed(exec ^ mixed(order.place().into()))
}

impl Fills {
    fn place(&self, order: Slot, exec: u64) -> Option<Slot> {
        let is = |place: &Slot| {
            let kept = self.kept.get(*place);
            kept.is_some_and(|it| (it.order, it.fill.exec) == (order, exec))
        };
        self.places.find(hash(order, exec), is).copied()
    }

    pub fn get(&self, order: Slot, exec: u64) -> Option<&Fill> {
        Some(&self.kept.get(self.place(order, exec)?)?.fill)
    }

    pub fn get_mut(&mut self, order: Slot, exec: u64) -> Option<&mut Fill> {
        let place = self.place(order, exec)?;
        Some(&mut self.kept.get_mut(place)?.fill)
    }

    /// Adds a fill after the last fill of its order; returns its index, or `None` when the order already has a fill
    /// with this ExecID.
    pub fn add(&mut self, order: Slot, before: Option<Slot>, fill: Fill) -> Option<Slot> {
        if self.place(order, fill.exec).is_some() {
            return None;
        }
        let at = hash(order, fill.exec);
        let place = self.kept.add(Kept {
            fill,
            order,
            before,
        });
        let kept = &self.kept;
        let hash_of = |place: &Slot| {
            let known = kept.get(*place);
            known.map_or(0, |it| hash(it.order, it.fill.exec))
        };
        self.places.insert_unique(at, place, hash_of);
        Some(place)
    }

    /// The fills of an order, from the last to the first.
    pub fn back_from(&self, last: Option<Slot>) -> impl Iterator<Item = &Fill> {
        let mut next = last;
        core::iter::from_fn(move || {
            let kept = self.kept.get(next?)?;
            next = kept.before;
            Some(&kept.fill)
        })
    }

    /// Removes all fills of an order; `last` is the last one.
    pub fn remove_all(&mut self, last: Option<Slot>) {
        let mut next = last;
        while let Some(place) = next
            && let Some(kept) = self.kept.get(place)
        {
            let (at, before) = (hash(kept.order, kept.fill.exec), kept.before);
            if let Ok(entry) = self.places.find_entry(at, |it| *it == place) {
                entry.remove();
            }
            self.kept.remove(place);
            next = before;
        }
    }

    /// Gives the fills of some orders more decimals.
    pub fn rescale(&mut self, is_its: impl Fn(Slot) -> bool, by: Rescale) {
        for kept in self.kept.iter_mut().filter(|it| is_its(it.order)) {
            by.price(&mut kept.fill.price);
            by.quantity(&mut kept.fill.quantity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn fills_are_found_by_order_and_execution_and_removed_together() {
        let mut fills = Fills::default();
        let mut last = [None; 3];
        for exec in 1..=5_000 {
            for order in [0, 1, 2].map(Slot::new) {
                let fill = Fill {
                    exec,
                    quantity: exec,
                    ..Fill::default()
                };
                let added = fills.add(order, last[order.index()], fill);
                last[order.index()] = Some(added.unwrap());
                assert_eq!(fills.add(order, None, fill), None, "a duplicate");
            }
        }
        assert_eq!(fills.get(Slot::new(1), 77).map(|it| it.quantity), Some(77));
        assert_eq!(fills.get(Slot::new(3), 77), None);
        let all: Vec<u64> = fills.back_from(last[2]).map(|it| it.exec).collect();
        assert!(all.into_iter().rev().eq(1..=5_000));
        fills.remove_all(last[1]);
        assert_eq!(fills.get(Slot::new(1), 77), None);
        assert_eq!((fills.places.len(), fills.kept.len()), (10_000, 10_000));
        assert!(fills.get(Slot::new(0), 77).is_some() && fills.get(Slot::new(2), 77).is_some());
    }
}
