//! Maps sessions, accounts and instruments between names (in messages) and numbers (in events).

use alloc::vec::Vec;

use hashbrown::HashTable;

use crate::values::slab::mixed;
use crate::values::value::Text;

/// Names with their numbers from 0.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<Text>,
    places: HashTable<u32>,
}

/// Eight bytes at a time: names come from settings, so collisions cannot be provoked.
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

impl Names {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.names.len() as u32
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of a name.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        let found = self
            .places
            .find(hash(name), |&at| self.names[at as usize].bytes() == name);
        found.copied()
    }

    /// The name of a number; empty when the number has no name.
    #[must_use]
    pub fn name(&self, index: u32) -> &[u8] {
        let name = self.names.get(index as usize);
        name.map_or(&[], Text::bytes)
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(Text::bytes)
    }

    /// Gives the next number to a new name; false when `index` is not the next number, or the name is known.
    pub(crate) fn add(&mut self, index: u32, name: &[u8]) -> bool {
        if index != self.len() || self.find(name).is_some() {
            return false;
        }
        self.names.push(Text::new(name));
        let names = &self.names;
        self.places
            .insert_unique(hash(name), index, |&at| hash(names[at as usize].bytes()));
        true
    }
}
