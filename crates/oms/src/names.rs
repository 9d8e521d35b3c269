//! Maps sessions, accounts and instruments between names (in messages) and numbers (in events).

use alloc::boxed::Box;
use alloc::vec::Vec;

use hashbrown::HashTable;

use crate::order::mixed;

/// Names with their numbers from 0.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<Box<[u8]>>,
    places: HashTable<u32>,
}

/// FNV-1a: names come from settings, so collisions cannot be provoked.
fn hash(name: &[u8]) -> u64 {
    let all = name.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    mixed(all)
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
            .find(hash(name), |&at| *self.names[at as usize] == *name);
        found.copied()
    }

    /// The name of a number; empty when the number has no name.
    #[must_use]
    pub fn name(&self, index: u32) -> &[u8] {
        let name = self.names.get(index as usize);
        name.map_or(&[], |name| name)
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }

    /// Gives the next number to a new name; false when `index` is not the next number, or the name is known.
    pub(crate) fn add(&mut self, index: u32, name: &[u8]) -> bool {
        if index != self.len() || self.find(name).is_some() {
            return false;
        }
        self.names.push(name.into());
        let names = &self.names;
        self.places
            .insert_unique(hash(name), index, |&at| hash(&names[at as usize]));
        true
    }
}
