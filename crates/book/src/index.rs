//! Maps the ids of orders to their positions in the slab.

use alloc::vec::Vec;

use crate::slab::NONE;

/// A hash table with open addressing. Ids come from the caller and not from a peer. The caller may use ids in any
/// order, because the multiplication spreads them over the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The places of the table. The number of places is a power of two, and at least half of the places are empty.
    places: Vec<Place>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    id: u64,
    slot: u32,
}

const EMPTY: Place = Place { id: 0, slot: NONE };
const PLACES_MIN: usize = 64;

impl Index {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, id: u64) -> Option<u32> {
        let place = self.places.get(self.find(id)?)?;
        (place.slot != NONE).then_some(place.slot)
    }

    /// Adds an id that is not in the table.
    pub(crate) fn insert(&mut self, id: u64, slot: u32) {
        if (self.len + 1) * 2 > self.places.len() {
            self.grow();
        }
        if let Some(at) = self.find(id) {
            self.places[at] = Place { id, slot };
            self.len += 1;
        }
    }

    /// Removes an id. Entries that it had displaced move up, so that no place needs a mark for a removed id.
    pub(crate) fn remove(&mut self, id: u64) {
        let Some(mut gap) = self.find(id) else { return };
        if self.places[gap].slot == NONE {
            return;
        }
        self.len -= 1;
        let mask = self.places.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let place = self.places[at];
            if place.slot == NONE {
                break;
            }
            let home = self.home(place.id);
            // The entry may move into the gap, unless its own place is after the gap.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.places[gap] = place;
                gap = at;
            }
        }
        self.places[gap] = EMPTY;
    }

    /// The place of this id, or the empty place for it; `None` while the table has no places.
    fn find(&self, id: u64) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        let mask = self.places.len() - 1;
        let mut at = self.home(id);
        while self.places[at].slot != NONE && self.places[at].id != id {
            at = (at + 1) & mask;
        }
        Some(at)
    }

    fn home(&self, id: u64) -> usize {
        let spread = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        spread as usize & (self.places.len() - 1)
    }

    fn grow(&mut self) {
        let wider = (self.places.len() * 2).max(PLACES_MIN);
        let old = core::mem::replace(&mut self.places, alloc::vec![EMPTY; wider]);
        for place in old.into_iter().filter(|place| place.slot != NONE) {
            if let Some(at) = self.find(place.id) {
                self.places[at] = place;
            }
        }
    }
}
