//! Storage for orders: a vector with a list of free places.

use alloc::vec::Vec;

use crate::order::BookOrder;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// Orders, and the links between the orders of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Slab {
    slots: Vec<Slot>,
    /// The first free place. The `next` of a free place leads to the next free place.
    free: u32,
    len: usize,
}

/// One place. A free place still has its last order, to which nothing leads.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) order: BookOrder,
    pub(crate) next: u32,
    pub(crate) previous: u32,
}

impl Slab {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            slots: Vec::with_capacity(capacity),
            free: NONE,
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn insert(&mut self, order: BookOrder) -> u32 {
        self.len += 1;
        let slot = Slot {
            order,
            next: NONE,
            previous: NONE,
        };
        if self.free == NONE {
            self.slots.push(slot);
            return (self.slots.len() - 1) as u32;
        }
        let at = self.free;
        self.free = self.get(at).next;
        *self.get_mut(at) = slot;
        at
    }

    pub(crate) fn remove(&mut self, at: u32) -> BookOrder {
        self.len -= 1;
        let free = core::mem::replace(&mut self.free, at);
        let slot = self.get_mut(at);
        slot.next = free;
        slot.order
    }

    pub(crate) fn get(&self, at: u32) -> &Slot {
        &self.slots[at as usize]
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> &mut Slot {
        &mut self.slots[at as usize]
    }

    /// The length of the list of free places, and the number of all places; `None` when the list does not end.
    pub(crate) fn free_of(&self) -> Option<(usize, usize)> {
        let (mut at, mut free) = (self.free, 0);
        while at != NONE {
            free += 1;
            if free > self.slots.len() {
                return None;
            }
            at = self.get(at).next;
        }
        Some((free, self.slots.len()))
    }
}
