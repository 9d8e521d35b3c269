//! The price levels of one side. Each level is a queue of orders.

use alloc::collections::{BTreeMap, btree_map};
use core::ops::Bound;

use crate::order::BookOrder;
use crate::slab::{NONE, Slab};

/// The queues by price. The best price is at one end.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    levels: BTreeMap<i64, Queue>,
    highest_first: bool,
}

/// The orders at one price, the oldest first, with sums of their quantities. The sums have more bits than quantities,
/// so they cannot overflow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Queue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) orders: u32,
    pub(crate) visible: u128,
    pub(crate) total: u128,
}

const EMPTY: Queue = Queue {
    head: NONE,
    tail: NONE,
    orders: 0,
    visible: 0,
    total: 0,
};

impl Ladder {
    pub(crate) fn new(highest_first: bool) -> Self {
        Self {
            levels: BTreeMap::new(),
            highest_first,
        }
    }

    /// The best price and its queue.
    pub(crate) fn best(&self) -> Option<(i64, Queue)> {
        self.best_first().next().map(|(key, queue)| (key, *queue))
    }

    /// The next level after `key`, in the order from the best price.
    pub(crate) fn after(&self, key: i64) -> Option<(i64, Queue)> {
        let found = if self.highest_first {
            self.levels.range(..key).next_back()
        } else {
            let behind = (Bound::Excluded(key), Bound::Unbounded);
            self.levels.range(behind).next()
        };
        found.map(|(key, queue)| (*key, *queue))
    }

    /// All levels, the best one first.
    pub(crate) fn best_first(&self) -> BestFirst<'_> {
        BestFirst {
            levels: self.levels.iter(),
            highest_first: self.highest_first,
        }
    }

    /// All levels, the lowest price first.
    pub(crate) fn ascending(&self) -> btree_map::Iter<'_, i64, Queue> {
        self.levels.iter()
    }

    /// Puts the order at position `slot` at the back of its level.
    pub(crate) fn push_back(&mut self, slab: &mut Slab, key: i64, slot: u32) {
        let queue = self.levels.entry(key).or_insert(EMPTY);
        let order = &slab.get(slot).order;
        queue.visible += u128::from(order.visible);
        queue.total += u128::from(order.leaves());
        queue.orders += 1;
        link_at_tail(queue, slab, slot);
    }

    /// Removes the order at position `slot` from its level. A level that is then empty is removed too.
    pub(crate) fn unlink(&mut self, slab: &mut Slab, key: i64, slot: u32) {
        let btree_map::Entry::Occupied(mut entry) = self.levels.entry(key) else {
            debug_assert!(false, "no level at {key}");
            return;
        };
        let queue = entry.get_mut();
        let order = &slab.get(slot).order;
        queue.visible -= u128::from(order.visible);
        queue.total -= u128::from(order.leaves());
        queue.orders -= 1;
        link_out(queue, slab, slot);
        if queue.orders == 0 {
            entry.remove();
        }
    }

    /// Changes the quantities of the order at position `slot`. The order keeps its priority.
    pub(crate) fn adjust(
        &mut self,
        slab: &mut Slab,
        key: i64,
        slot: u32,
        change: impl FnOnce(&mut BookOrder),
    ) {
        let order = &mut slab.get_mut(slot).order;
        let (visible, leaves) = (order.visible, order.leaves());
        change(order);
        if let Some(queue) = self.levels.get_mut(&key) {
            queue.visible = queue.visible - u128::from(visible) + u128::from(order.visible);
            queue.total = queue.total - u128::from(leaves) + u128::from(order.leaves());
        }
    }

    /// Moves the first order of a level to the back of the level.
    pub(crate) fn requeue_head(&mut self, slab: &mut Slab, key: i64) {
        if let Some(queue) = self.levels.get_mut(&key)
            && queue.head != queue.tail
        {
            let slot = queue.head;
            link_out(queue, slab, slot);
            link_at_tail(queue, slab, slot);
        }
    }
}

fn link_at_tail(queue: &mut Queue, slab: &mut Slab, slot: u32) {
    let place = slab.get_mut(slot);
    place.previous = queue.tail;
    place.next = NONE;
    if queue.tail == NONE {
        queue.head = slot;
    } else {
        slab.get_mut(queue.tail).next = slot;
    }
    queue.tail = slot;
}

fn link_out(queue: &mut Queue, slab: &mut Slab, slot: u32) {
    let (previous, next) = (slab.get(slot).previous, slab.get(slot).next);
    if previous == NONE {
        queue.head = next;
    } else {
        slab.get_mut(previous).next = next;
    }
    if next == NONE {
        queue.tail = previous;
    } else {
        slab.get_mut(next).previous = previous;
    }
}

/// The levels, beginning with the best price.
pub(crate) struct BestFirst<'a> {
    levels: btree_map::Iter<'a, i64, Queue>,
    highest_first: bool,
}

impl<'a> Iterator for BestFirst<'a> {
    type Item = (i64, &'a Queue);

    fn next(&mut self) -> Option<Self::Item> {
        let level = if self.highest_first {
            self.levels.next_back()
        } else {
            self.levels.next()
        };
        level.map(|(key, queue)| (*key, queue))
    }
}
