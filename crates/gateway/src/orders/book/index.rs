//! How a name is found by its ids.
//!
//! For each [`By`] a table of heads, of which each begins a chain of names through
//! `next_indexed`. It never grows nor moves an entry; no two names have the same key.

use core::hash::Hasher;

use fixwire_protocol::SessionId;

use super::super::table::Kind;
use super::{Book, By, NOWHERE};

impl Book {
    /// The id by which a name is found.
    pub(in crate::orders) fn id(&self, place: u32, by: By) -> &[u8] {
        let start = (place as usize * 3 + by as usize) * self.id_max;
        &self.text[start..start + usize::from(self.name(place).lens[by as usize])]
    }

    fn head(&self, by: By, client: SessionId, venue: SessionId, kind: Kind, id: &[u8]) -> usize {
        let mut hasher = self.hasher;
        let client = if by == By::Client { client.0 } else { 0 };
        hasher.write_u32(client);
        hasher.write_u32(venue.0);
        hasher.write_u8(kind as u8);
        hasher.write(id);
        hasher.finish() as usize & (self.heads[by as usize].len() - 1)
    }

    fn head_of(&self, place: u32, by: By) -> usize {
        let name = self.name(place);
        self.head(by, name.client, name.venue, name.kind, self.id(place, by))
    }

    pub(super) fn find(
        &self,
        by: By,
        client: SessionId,
        venue: SessionId,
        kind: Kind,
        id: &[u8],
    ) -> Option<u32> {
        let mut place = self.heads[by as usize][self.head(by, client, venue, kind, id)];
        while place != NOWHERE {
            let name = self.name(place);
            let whose = by != By::Client || name.client == client;
            if whose && name.venue == venue && name.kind == kind && self.id(place, by) == id {
                return Some(place);
            }
            place = name.next_indexed[by as usize];
        }
        None
    }

    /// The name of a client's id; the last when it used it more than once.
    pub(in crate::orders) fn of_client(
        &self,
        client: SessionId,
        venue: SessionId,
        kind: Kind,
        id: &[u8],
    ) -> Option<u32> {
        self.find(By::Client, client, venue, kind, id)
    }

    /// The name that a venue knows under this id.
    pub(in crate::orders) fn at_venue(
        &self,
        venue: SessionId,
        kind: Kind,
        id: &[u8],
    ) -> Option<u32> {
        self.find(By::Venue, venue, venue, kind, id)
    }

    /// The name whose report last told this OrderID.
    pub(in crate::orders) fn of_order_id(&self, venue: SessionId, id: &[u8]) -> Option<u32> {
        self.find(By::OrderId, venue, venue, Kind::Order, id)
    }

    pub(super) fn keep(&mut self, place: u32, by: By, id: &[u8]) {
        let start = (place as usize * 3 + by as usize) * self.id_max;
        self.text[start..start + id.len()].copy_from_slice(id);
        self.names[place as usize].lens[by as usize] = id.len() as u8;
    }

    /// Lets a name be found by an id, which no other name may have.
    pub(super) fn index(&mut self, place: u32, by: By, id: &[u8]) {
        self.keep(place, by, id);
        let head = self.head_of(place, by);
        let next = core::mem::replace(&mut self.heads[by as usize][head], place);
        let name = &mut self.names[place as usize];
        name.next_indexed[by as usize] = next;
        name.indexed[by as usize] = true;
    }

    /// Lets a name no longer be found by one of its ids.
    pub(in crate::orders) fn unindex(&mut self, place: u32, by: By) {
        let index = by as usize;
        if !self.name(place).indexed[index] {
            return;
        }
        let head = self.head_of(place, by);
        let next = self.name(place).next_indexed[index];
        let mut at = self.heads[index][head];
        if at == place {
            self.heads[index][head] = next;
        } else {
            while self.name(at).next_indexed[index] != place {
                at = self.name(at).next_indexed[index];
            }
            self.names[at as usize].next_indexed[index] = next;
        }
        self.names[place as usize].indexed[index] = false;
    }

    pub(in crate::orders) fn is_indexed(&self, place: u32, by: By) -> bool {
        self.name(place).indexed[by as usize]
    }

    /// A report told the OrderID of a name. One that is too long to keep is not learned.
    pub(in crate::orders) fn learn(&mut self, place: u32, order_id: &[u8]) {
        let known = self.is_indexed(place, By::OrderId) && self.id(place, By::OrderId) == order_id;
        if known || order_id.is_empty() || order_id.len() > self.id_max {
            return;
        }
        if let Some(other) = self.of_order_id(self.name(place).venue, order_id) {
            let is_other = self.name(other).client != self.name(place).client;
            // The venue has used it again since, for an order that goes on.
            if is_other && self.is_trading(other) && !self.is_trading(place) {
                return;
            }
            self.unindex(other, By::OrderId);
        }
        self.unindex(place, By::OrderId);
        self.index(place, By::OrderId, order_id);
    }
}
