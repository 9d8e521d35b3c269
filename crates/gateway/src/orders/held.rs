//! Orders whose messages the caller holds and has not sent.

use alloc::vec::Vec;

use fixwire_protocol::{SessionId, tag};

use super::OrderTracker;
use super::book::{Purpose, State};
use super::held_at::HeldAt;
use super::inbound::MAX_REPLACED;
use super::table::IdKind;
use crate::Draft;

impl OrderTracker {
    /// Records where an order, replace or cancel is held, by its new ClOrdID(11). The message is given as the venue
    /// would see it.
    pub(crate) fn set_held(&mut self, venue: SessionId, message: &Draft, at: HeldAt) {
        if let Some(name) = self.began_by(venue, message) {
            self.book.set_held(name, Some(at));
        }
    }

    /// Records that the message at this place is no longer held.
    pub(crate) fn clear_held(&mut self, venue: SessionId, message: &Draft, at: HeldAt) {
        let name = self.began_by(venue, message);
        // A later name may have the same id.
        if let Some(name) = name.filter(|name| self.book.name(*name).held == Some(at)) {
            self.book.set_held(name, None);
        }
    }

    fn began_by(&self, venue: SessionId, message: &Draft) -> Option<u32> {
        let id = message.get(tag::CL_ORD_ID)?;
        self.book.at_venue(venue, IdKind::Order, id)
    }

    /// Positions of the held messages of an order, if none of them was sent: first the order, then its replaces in
    /// sequence. `id` may be the order's ClOrdID or a replace's. Empty if the venue may have the order.
    pub(crate) fn held_order(&self, client: SessionId, venue: SessionId, id: &[u8]) -> Vec<HeldAt> {
        let named = self.book.of_client(client, venue, IdKind::Order, id);
        let names =
            core::iter::successors(named, |name| self.book.follow(self.book.name(*name).before));
        let mut names = names.take(MAX_REPLACED);
        let is_order = |name: &u32| self.book.name(*name).purpose == Purpose::Order;
        let Some(order) = names.find(is_order) else {
            return Vec::new();
        };
        let known = self.book.name(order);
        if known.held.is_none() || known.is_answered || known.state != State::Live {
            return Vec::new();
        }
        let open = self.book.open_names(order);
        open.filter_map(|name| self.book.name(name).held).collect()
    }
}
