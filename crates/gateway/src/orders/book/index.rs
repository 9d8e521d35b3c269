//! The index that finds a name by its ids.
//!
//! Each [`By`] has a table of hashes and places. No two names have the same key.

use alloc::vec;
use alloc::vec::Vec;

use fixwire_protocol::SessionId;

use super::super::table::IdKind;
use super::{Book, By, NOWHERE, Queue};

/// Maximum number of replaced names that are searched for an OrderID(37).
const MAX_FOLLOWED: usize = 32;

/// A hash table of places, in memory that is allocated once: open addressing with linear probing. Each slot has hash
/// and place, so that a probe skips other names without reading them.
#[derive(Clone, Debug)]
pub(in crate::orders) struct Places {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    place: u32,
}

const FREE: Slot = Slot {
    hash: 0,
    place: NOWHERE,
};

impl Places {
    /// A table for this number of places. At least half of the slots stay free.
    pub(super) fn new(places: usize) -> Self {
        let slots = places.max(1).next_power_of_two() * 2;
        Self {
            slots: vec![FREE; slots],
        }
    }

    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// The first place with this hash for which `is_it` holds.
    fn find(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot.place == NOWHERE {
                return None;
            }
            if slot.hash == hash && is_it(slot.place) {
                return Some(slot.place);
            }
            at = self.next(at);
        }
    }

    fn insert(&mut self, hash: u32, place: u32) {
        let mut at = self.home(hash);
        while self.slots[at].place != NOWHERE {
            at = self.next(at);
        }
        self.slots[at] = Slot { hash, place };
    }

    /// Removes an existing place, and moves later slots up, so that no probe ends too early.
    fn remove(&mut self, hash: u32, place: u32) {
        let mut gap = self.home(hash);
        while self.slots[gap].place != place {
            gap = self.next(gap);
        }
        let last = self.slots.len() - 1;
        let mut at = self.next(gap);
        while self.slots[at].place != NOWHERE {
            let probed = at.wrapping_sub(self.home(self.slots[at].hash)) & last;
            if probed >= at.wrapping_sub(gap) & last {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
            at = self.next(at);
        }
        self.slots[gap] = FREE;
    }
}

/// The key of a name.
#[derive(Clone, Copy, Eq, PartialEq)]
struct Key<'a> {
    by: By,
    /// The client, for [`By::Client`] only.
    client: SessionId,
    venue: SessionId,
    kind: IdKind,
    id: &'a [u8],
}

/// The keyed hash of an id alone, from which the hash of each key with this id is made.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::orders) struct IdHash(u64);

/// An id whose hash is known. A message's id is looked up in several tables, and hashed once.
#[derive(Clone, Copy, Debug)]
pub(in crate::orders) struct HashedId<'a> {
    pub(in crate::orders) id: &'a [u8],
    pub(in crate::orders) hash: IdHash,
}

impl<'a> Key<'a> {
    fn new(by: By, client: SessionId, venue: SessionId, kind: IdKind, id: &'a [u8]) -> Self {
        let client = match by {
            By::Client => client,
            By::Venue | By::OrderId => SessionId(0),
        };
        Self {
            by,
            client,
            venue,
            kind,
            id,
        }
    }

    /// The hash of the key. The hash of the id is secret, so what is mixed into it need not be.
    fn hash(&self, id: IdHash) -> u32 {
        let whose = u64::from(self.client.0) << 32 | u64::from(self.venue.0);
        let whose = whose ^ (self.kind as u64) << 56;
        ((id.0 ^ whose).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }
}

impl Book {
    /// The id by which a name is found.
    pub(in crate::orders) fn id(&self, place: u32, by: By) -> &[u8] {
        let start = (place as usize * 3 + by as usize) * self.id_max;
        &self.text[start..start + usize::from(self.name(place).lens[by as usize])]
    }

    /// An id with its hash.
    pub(in crate::orders) fn hashed<'a>(&self, id: &'a [u8]) -> HashedId<'a> {
        let hash = IdHash(self.hasher.hash(id));
        HashedId { id, hash }
    }

    fn find(&self, key: Key<'_>, hash: IdHash) -> Option<u32> {
        self.find_by(key.hash(hash), key)
    }

    fn find_by(&self, hash: u32, key: Key<'_>) -> Option<u32> {
        let by = key.by;
        self.places[by as usize].find(hash, |place| self.key(place, by, self.id(place, by)) == key)
    }

    /// The key of a name with this id.
    fn key<'a>(&self, place: u32, by: By, id: &'a [u8]) -> Key<'a> {
        let name = self.name(place);
        Key::new(by, name.client, name.venue, name.kind, id)
    }

    /// The name of a client's id. If the client used the id more than once, the last name.
    pub(in crate::orders) fn of_client(
        &self,
        client: SessionId,
        venue: SessionId,
        kind: IdKind,
        id: &[u8],
    ) -> Option<u32> {
        self.of_client_hashed(client, venue, kind, self.hashed(id))
    }

    /// As [`of_client`](Self::of_client), for an id whose hash is known.
    pub(in crate::orders) fn of_client_hashed(
        &self,
        client: SessionId,
        venue: SessionId,
        kind: IdKind,
        HashedId { id, hash }: HashedId<'_>,
    ) -> Option<u32> {
        self.find(Key::new(By::Client, client, venue, kind, id), hash)
    }

    /// The name that a venue knows under this id.
    pub(in crate::orders) fn at_venue(
        &self,
        venue: SessionId,
        kind: IdKind,
        id: &[u8],
    ) -> Option<u32> {
        self.at_venue_hashed(venue, kind, self.hashed(id))
    }

    /// As [`at_venue`](Self::at_venue), for an id whose hash is known.
    pub(in crate::orders) fn at_venue_hashed(
        &self,
        venue: SessionId,
        kind: IdKind,
        HashedId { id, hash }: HashedId<'_>,
    ) -> Option<u32> {
        self.find(Key::new(By::Venue, venue, venue, kind, id), hash)
    }

    /// The name for which a report last gave this OrderID(37).
    pub(in crate::orders) fn of_order_id(&self, venue: SessionId, id: &[u8]) -> Option<u32> {
        let HashedId { id, hash } = self.hashed(id);
        self.find(Key::new(By::OrderId, venue, venue, IdKind::Order, id), hash)
    }

    pub(super) fn keep(&mut self, place: u32, by: By, id: &[u8]) {
        let start = (place as usize * 3 + by as usize) * self.id_max;
        self.text[start..start + id.len()].copy_from_slice(id);
        self.names[place as usize].lens[by as usize] = id.len() as u8;
    }

    /// Adds a name to the index under an id, which no other name may have.
    pub(super) fn index(&mut self, place: u32, by: By, HashedId { id, hash }: HashedId<'_>) {
        self.index_by(self.key(place, by, id).hash(hash), place, by, id);
    }

    /// Adds a name to the index under an id; `false` if another name has the id.
    pub(super) fn index_new(&mut self, place: u32, by: By, id: &[u8]) -> bool {
        let key = self.key(place, by, id);
        let hash = key.hash(self.hashed(id).hash);
        let is_new = self.find_by(hash, key).is_none();
        if is_new {
            self.index_by(hash, place, by, id);
        }
        is_new
    }

    fn index_by(&mut self, hash: u32, place: u32, by: By, id: &[u8]) {
        self.keep(place, by, id);
        self.places[by as usize].insert(hash, place);
        self.names[place as usize].indexed[by as usize] = Some(hash);
    }

    /// Removes one of a name's ids from the index.
    pub(in crate::orders) fn unindex(&mut self, place: u32, by: By) {
        let indexed = &mut self.names[place as usize].indexed[by as usize];
        if let Some(hash) = indexed.take() {
            self.places[by as usize].remove(hash, place);
        }
    }

    pub(in crate::orders) fn is_indexed(&self, place: u32, by: By) -> bool {
        self.name(place).indexed[by as usize].is_some()
    }

    /// The longest id of all names.
    pub(in crate::orders) fn longest_id(&self) -> Option<&[u8]> {
        let places = Queue::ALL.into_iter().flat_map(|queue| self.queue(queue));
        let ids = places.flat_map(|place| {
            let saved = move |by: &By| *by != By::OrderId || self.is_indexed(place, By::OrderId);
            By::ALL
                .into_iter()
                .filter(saved)
                .map(move |by| self.id(place, by))
        });
        ids.max_by_key(|id| id.len())
    }

    /// The OrderIDs(37) by which the order of a name is found: of the name itself, of the names that it replaces, and
    /// of the order's open names.
    pub(in crate::orders) fn order_ids(&self, place: u32) -> impl Iterator<Item = &[u8]> {
        let before = |place: &u32| self.follow(self.name(*place).before);
        let replaced = core::iter::successors(Some(place), before).take(MAX_FOLLOWED);
        let names = replaced.chain(self.open_names(place));
        names
            .filter(|name| self.is_indexed(*name, By::OrderId))
            .map(|name| self.id(name, By::OrderId))
    }

    /// Whether a report has given this OrderID(37) for the order of a name.
    pub(in crate::orders) fn has_order_id(&self, place: u32, order_id: &[u8]) -> bool {
        self.order_ids(place).any(|id| id == order_id)
    }

    /// Records the OrderID(37) that a report gives for a name. An OrderID that is too long is not stored.
    pub(in crate::orders) fn learn(&mut self, place: u32, order_id: &[u8]) {
        let known = self.is_indexed(place, By::OrderId) && self.id(place, By::OrderId) == order_id;
        if known || order_id.is_empty() || order_id.len() > self.id_max {
            return;
        }
        if let Some(other) = self.of_order_id(self.name(place).venue, order_id) {
            let is_other = self.name(other).client != self.name(place).client;
            // The venue has given the OrderID of another client's open order again. The open order keeps the OrderID.
            if is_other && self.is_trading(other) && !self.is_trading(place) {
                return;
            }
            self.unindex(other, By::OrderId);
        }
        self.unindex(place, By::OrderId);
        self.index(place, By::OrderId, self.hashed(order_id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_harness::Random;

    #[test]
    fn places_are_found_until_they_are_removed_whatever_their_hashes() {
        // Fills the table, with hashes that are close together and wrap around the end.
        let mut places = Places::new(64);
        let mut there: Vec<(u32, u32)> = Vec::new();
        let mut random = Random::new(7);
        let mut most = 0;
        for place in 0..20_000 {
            let hash = random.below(24) as u32 + 112;
            if there.len() < 64 && random.below(8) < 5 {
                places.insert(hash, place);
                there.push((hash, place));
            } else if !there.is_empty() {
                let (hash, place) = there.swap_remove(random.place(there.len()));
                places.remove(hash, place);
                assert_eq!(places.find(hash, |found| found == place), None);
            }
            most = most.max(there.len());
            for (hash, place) in &there {
                assert_eq!(places.find(*hash, |found| found == *place), Some(*place));
            }
        }
        assert_eq!(most, 64);
        let free = places.slots.iter().filter(|slot| slot.place == NOWHERE);
        assert_eq!(free.count(), places.slots.len() - there.len());
    }
}
