//! Slab: values at stable indices, allocated in chunks; freed slots are reused.

use alloc::vec::Vec;

use crate::values::ids::Slot;

/// Number of values in each chunk.
const CHUNK: usize = 4096;

#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    chunks: Vec<Vec<Option<T>>>,
    /// Index of the chunk that is being filled.
    open: usize,
    free: Vec<Slot>,
    len: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            open: 0,
            free: Vec::new(),
            len: 0,
        }
    }
}

impl<T> Slab<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn add(&mut self, value: T) -> Slot {
        self.len += 1;
        if let Some(at) = self.free.pop() {
            *self.place(at) = Some(value);
            return at;
        }
        let is_full = |chunk: &Vec<_>| chunk.len() == CHUNK;
        self.open += usize::from(self.chunks.get(self.open).is_some_and(is_full));
        if self.open == self.chunks.len() {
            self.add_chunk();
        }
        let chunk = &mut self.chunks[self.open];
        chunk.push(Some(value));
        Slot::new((self.open * CHUNK + chunk.len() - 1) as u32)
    }

    /// Number of values that can be added without an allocation.
    pub(crate) fn room(&self) -> usize {
        self.chunks.len() * CHUNK - self.len
    }

    /// Allocates chunks until there is room for this number of values.
    pub(crate) fn make_room(&mut self, values: usize) {
        while self.room() < values {
            self.add_chunk();
        }
    }

    fn add_chunk(&mut self) {
        self.chunks.push(Vec::with_capacity(CHUNK));
        // Reserves room for all slots, so that freeing a value later needs no allocation.
        self.free.reserve(self.chunks.len() * CHUNK);
    }

    /// A slab with capacity for this number of values, with memory already touched.
    pub(crate) fn with_capacity(values: usize) -> Self {
        let mut slab = Self::default();
        while slab.chunks.len() * CHUNK < values {
            slab.add_chunk();
        }
        for chunk in &mut slab.chunks {
            chunk.resize_with(CHUNK, || None);
            chunk.clear();
        }
        slab
    }

    fn place(&mut self, at: Slot) -> &mut Option<T> {
        &mut self.chunks[at.index() / CHUNK][at.index() % CHUNK]
    }

    pub(crate) fn get(&self, at: Slot) -> Option<&T> {
        let chunk = self.chunks.get(at.index() / CHUNK)?;
        chunk.get(at.index() % CHUNK)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, at: Slot) -> Option<&mut T> {
        let chunk = self.chunks.get_mut(at.index() / CHUNK)?;
        chunk.get_mut(at.index() % CHUNK)?.as_mut()
    }

    pub(crate) fn remove(&mut self, at: Slot) -> Option<T> {
        let value = self.chunks.get_mut(at.index() / CHUNK)?;
        let value = value.get_mut(at.index() % CHUNK)?.take()?;
        self.free.push(at);
        self.len -= 1;
        Some(value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten().flatten()
    }
}

/// Spreads consecutive numbers by multiplication.
pub(crate) fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_and_are_used_again() {
        let mut slab = Slab::default();
        let places: Vec<Slot> = (0..CHUNK + 2).map(|value| slab.add(value)).collect();
        assert_eq!(slab.get(places[CHUNK]), Some(&CHUNK));
        assert_eq!(slab.remove(places[1]), Some(1));
        assert_eq!(slab.get(places[1]), None);
        assert_eq!(slab.remove(places[1]), None);
        assert_eq!((slab.add(7), slab.len()), (places[1], CHUNK + 2));
        assert_eq!(slab.iter().count(), slab.len());
        let mut slab = Slab::with_capacity(CHUNK + 1);
        assert_eq!(
            (slab.len(), slab.get(Slot::new(0)), slab.chunks.len()),
            (0, None, 2)
        );
        let places = (0..2 * CHUNK + 1).map(|value| slab.add(value));
        assert!(places.eq((0..(2 * CHUNK + 1) as u32).map(Slot::new)));
        assert_eq!(
            (slab.get(Slot::new(2 * CHUNK as u32)), slab.chunks.len()),
            (Some(&(2 * CHUNK)), 3)
        );
    }
}
