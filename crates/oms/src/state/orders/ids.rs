//! The ClOrdIDs of a day. Each takes 16 bytes, whatever its length.

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

use crate::values::ids::SessionNo;
use crate::values::value::{Number, Text};

/// The owner of an id. Ids of different owners never count as equal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IdOwner {
    /// The ids of a session's requests.
    Session(SessionNo),
    /// The numbers of all pools.
    Pools,
}

impl IdOwner {
    /// The bytes of the owner, which are hashed together with the bytes of the id.
    fn bytes(self) -> [u8; 4] {
        match self {
            Self::Session(session) => session.place().to_le_bytes(),
            Self::Pools => [0xFE, 0xFF, 0xFF, 0xFF],
        }
    }
}

impl From<SessionNo> for IdOwner {
    fn from(session: SessionNo) -> Self {
        Self::Session(session)
    }
}

/// A ClOrdID(11) used today, as a hash, and the number of its order. For a rejected order the number is 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub hash: u64,
    pub order: Number,
}

/// The ids used today. Two ids with the same 64-bit hash count as equal; clients do not know the key of the hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pub(crate) key: u128,
    pub(crate) used: HashTable<Used>,
}

impl Ids {
    pub(crate) fn new(key: u128, capacity: usize) -> Self {
        Self {
            key,
            used: HashTable::with_capacity(capacity),
        }
    }

    /// Reserves memory for more ids. Without it, hashes that are copied in the sequence of another table would collide
    /// while this table grows.
    pub(crate) fn reserve(&mut self, ids: usize) {
        self.used.reserve(ids, |used| used.hash);
    }

    pub(crate) fn key(&self) -> u128 {
        self.key
    }

    pub(crate) fn len(&self) -> usize {
        self.used.len()
    }

    pub(crate) fn hash(&self, owner: IdOwner, id: &[u8]) -> u64 {
        let hasher = SipHasher13::new_with_key(&self.key.to_le_bytes());
        // All bytes are hashed at once, which takes half the time.
        let mut bytes = [0; 4 + Text::MAX];
        bytes[..4].copy_from_slice(&owner.bytes());
        if let Some(place) = bytes.get_mut(4..4 + id.len()) {
            place.copy_from_slice(id);
            return hasher.hash(&bytes[..4 + id.len()]);
        }
        hasher.hash(&[&owner.bytes(), id].concat())
    }

    pub(crate) fn find(&self, owner: impl Into<IdOwner>, id: &[u8]) -> Option<Number> {
        let hash = self.hash(owner.into(), id);
        let found = self.used.find(hash, |used| used.hash == hash);
        found.map(|used| used.order)
    }

    pub(crate) fn add(&mut self, owner: impl Into<IdOwner>, id: &[u8], order: Number) {
        let hash = self.hash(owner.into(), id);
        self.add_hash(Used { hash, order });
    }

    pub(crate) fn add_hash(&mut self, used: Used) {
        let known = self
            .used
            .find_mut(used.hash, |other| other.hash == used.hash);
        match known {
            // An id that already belongs to an order keeps the order.
            Some(known) if used.order == 0 => known.order = known.order.max(used.order),
            Some(known) => *known = used,
            None => self.add_new(used),
        }
    }

    /// Adds an id that the table does not have yet. A checkpoint has each id once.
    pub(crate) fn add_new(&mut self, used: Used) {
        self.used.insert_unique(used.hash, used, |other| other.hash);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Used> {
        self.used.iter()
    }
}
