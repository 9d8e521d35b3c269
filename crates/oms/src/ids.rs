//! The ClOrdIDs of a day: 16 bytes each, whatever they are.

use core::hash::Hasher;

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

use crate::value::Number;

/// An id that was used today, by its hash, and the order that it was used for; 0 for one that was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub hash: u64,
    pub order: Number,
}

/// Two ids of a day with the same hash, of 2^64 under a key that no client knows, count as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    key: u128,
    used: HashTable<Used>,
}

impl Ids {
    pub(crate) fn new(key: u128, capacity: usize) -> Self {
        Self {
            key,
            used: HashTable::with_capacity(capacity),
        }
    }

    /// Room for so many more. Hashes that come in the order of another table would crowd in one that grows.
    pub(crate) fn reserve(&mut self, ids: usize) {
        self.used.reserve(ids, |used| used.hash);
    }

    pub(crate) fn key(&self) -> u128 {
        self.key
    }

    pub(crate) fn len(&self) -> usize {
        self.used.len()
    }

    pub(crate) fn hash(&self, session: u32, id: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.key.to_le_bytes());
        hasher.write(&session.to_le_bytes());
        hasher.write(id);
        hasher.finish()
    }

    pub(crate) fn find(&self, session: u32, id: &[u8]) -> Option<Number> {
        let hash = self.hash(session, id);
        let found = self.used.find(hash, |used| used.hash == hash);
        found.map(|used| used.order)
    }

    pub(crate) fn add(&mut self, session: u32, id: &[u8], order: Number) {
        let hash = self.hash(session, id);
        self.add_hash(Used { hash, order });
    }

    pub(crate) fn add_hash(&mut self, used: Used) {
        let known = self
            .used
            .find_mut(used.hash, |other| other.hash == used.hash);
        match known {
            // What names an order goes on naming it.
            Some(known) if used.order == 0 => known.order = known.order.max(used.order),
            Some(known) => *known = used,
            None => {
                self.used.insert_unique(used.hash, used, |other| other.hash);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Used> {
        self.used.iter()
    }
}
