//! Values in places that stay: they are made in chunks, and what is freed is used again.

use alloc::vec::Vec;

/// Values in each chunk.
const CHUNK: usize = 4096;
/// The place that nothing has.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    chunks: Vec<Vec<Option<T>>>,
    free: Vec<u32>,
    len: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            free: Vec::new(),
            len: 0,
        }
    }
}

impl<T> Slab<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn add(&mut self, value: T) -> u32 {
        self.len += 1;
        if let Some(at) = self.free.pop() {
            *self.place(at) = Some(value);
            return at;
        }
        if self.chunks.last().is_none_or(|last| last.len() == CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
            // What is freed later takes no memory then.
            self.free.reserve(self.chunks.len() * CHUNK);
        }
        let last = self.chunks.len() - 1;
        let chunk = &mut self.chunks[last];
        chunk.push(Some(value));
        (last * CHUNK + chunk.len() - 1) as u32
    }

    fn place(&mut self, at: u32) -> &mut Option<T> {
        &mut self.chunks[at as usize / CHUNK][at as usize % CHUNK]
    }

    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        let chunk = self.chunks.get(at as usize / CHUNK)?;
        chunk.get(at as usize % CHUNK)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        let chunk = self.chunks.get_mut(at as usize / CHUNK)?;
        chunk.get_mut(at as usize % CHUNK)?.as_mut()
    }

    pub(crate) fn remove(&mut self, at: u32) -> Option<T> {
        let value = self.chunks.get_mut(at as usize / CHUNK)?;
        let value = value.get_mut(at as usize % CHUNK)?.take()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_and_are_used_again() {
        let mut slab = Slab::default();
        let places: Vec<u32> = (0..CHUNK + 2).map(|value| slab.add(value)).collect();
        assert_eq!(slab.get(places[CHUNK]), Some(&CHUNK));
        assert_eq!(slab.remove(places[1]), Some(1));
        assert_eq!(slab.get(places[1]), None);
        assert_eq!(slab.remove(places[1]), None);
        assert_eq!((slab.add(7), slab.len()), (places[1], CHUNK + 2));
        assert_eq!(slab.get(NOWHERE), None);
        assert_eq!(slab.iter().count(), slab.len());
    }
}
