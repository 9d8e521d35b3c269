//! Writes and reads remembered values for a ledger.

use fixwire_ledger::{Put, Wire};
use fixwire_protocol::SessionId;

use super::{DATA, Memory, NONE};

impl Memory {
    /// Writes the state: number of dropped orders, number of orders, then the orders of each client, the oldest
    /// first. An order is written as client, length of the id, length of id plus fields, id, fields.
    pub fn put(&self, to: &mut impl Put) {
        self.counts.dropped.put(to);
        self.counts.orders.put(to);
        for age in &self.ages {
            let mut order = age.first;
            while order != NONE {
                let first = self.cell(order);
                first.client.put(to);
                first.id_len.put(to);
                first.len.put(to);
                let mut left = first.len as usize;
                for cell in self.chain(order) {
                    let here = left.min(DATA);
                    to.text(&cell.data[..here]);
                    left -= here;
                }
                order = first.later;
            }
        }
    }

    /// Calls `each` with client, id and fields of each order. The orders of a client come oldest first.
    #[cfg(test)]
    pub fn each<F: FnMut(SessionId, &[u8], &[u8])>(&self, mut each: F) {
        for age in &self.ages {
            let mut order = age.first;
            while order != NONE {
                let first = self.cell(order);
                let mut whole = alloc::vec::Vec::new();
                for cell in self.chain(order) {
                    let left = first.len as usize - whole.len();
                    whole.extend_from_slice(&cell.data[..left.min(DATA)]);
                }
                let (id, fields) = whole.split_at(first.id_len.into());
                each(SessionId(first.client), id, fields);
                order = first.later;
            }
        }
    }

    /// Sets the number of orders whose values were dropped.
    pub fn set_dropped(&mut self, dropped: u64) {
        self.counts.dropped = dropped;
    }

    /// Restores the fields of an order that has none yet. When there is no room, orders are dropped as in `remember`.
    pub fn restore(&mut self, client: SessionId, id: &[u8], fields: &[u8]) {
        self.fields.clear();
        self.fields.extend_from_slice(fields);
        let fits = self.is_room(id);
        self.insert(fits, client, None, id);
    }
}
