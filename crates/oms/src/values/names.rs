//! Maps sessions, accounts and instruments between names (in messages) and numbers (in events).

use alloc::vec::Vec;

use fixwire_ledger::{Put, Wire};
use hashbrown::HashTable;

use crate::values::ids::TableKey;
use crate::values::slab::mixed;
use crate::values::value::Text;

/// Names, numbered from 0.
#[derive(Clone, Debug)]
pub struct Names<N> {
    names: Vec<Text>,
    places: HashTable<N>,
}

impl<N> Default for Names<N> {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            places: HashTable::new(),
        }
    }
}

/// Hashes eight bytes at a time. The names come from the settings, so no client can provoke collisions.
fn hash(name: &[u8]) -> u64 {
    let (words, rest) = name.as_chunks();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest
        .iter()
        .fold(0, |word, byte| word << 8 | u64::from(*byte));
    let all = words.chain([rest]);
    all.fold(name.len() as u64, |hash, word| {
        mixed(hash.rotate_left(25) ^ word)
    })
}

impl<N: TableKey> Names<N> {
    /// Number of names.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.names.len() as u32
    }

    /// Whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of a name; `None` if the name has no number.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<N> {
        let found = self
            .places
            .find(hash(name), |at| self.names[at.index()].bytes() == name);
        found.copied()
    }

    /// The name of a number; empty when the number has no name.
    #[must_use]
    pub fn name(&self, number: N) -> &[u8] {
        let name = self.names.get(number.index());
        name.map_or(&[], Text::bytes)
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(Text::bytes)
    }

    /// All numbers that have a name.
    pub fn numbers(&self) -> impl Iterator<Item = N> + use<N> {
        (0..self.len()).map(N::new)
    }

    /// The number that the next new name gets.
    pub(crate) fn next(&self) -> N {
        N::new(self.len())
    }

    /// Gives the next number to a new name; returns false when `number` is not the next number, or the name already has
    /// one.
    pub(crate) fn add(&mut self, number: N, name: &[u8]) -> bool {
        if number != self.next() || self.find(name).is_some() {
            return false;
        }
        self.names.push(Text::new(name));
        let names = &self.names;
        self.places
            .insert_unique(hash(name), number, |at| hash(names[at.index()].bytes()));
        true
    }
}

impl<'a, N: TableKey> Wire<'a> for Names<N> {
    fn put(&self, to: &mut impl Put) {
        self.len().put(to);
        self.iter().for_each(|name| name.put(to));
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let mut names = Self::default();
        for _ in 0..u32::take(from)? {
            let name = Wire::take(from)?;
            names.add(names.next(), name).then_some(())?;
        }
        Some(names)
    }
}
