//! Limits a client to its own orders when its messages refer to orders by a venue's ids.

use fixwire_protocol::{SessionId, tag};

use super::book::By;
use super::table::{self, IdKind, Naming};
use super::{OrderTracker, OrdersError};
use crate::Draft;

impl OrderTracker {
    /// Ensures that no id in a client's message to a venue refers to another client's order. To be called before
    /// [`outbound`](Self::outbound). The call changes only the message, so it is not repeated after a crash.
    ///
    /// An OrderID(37) stays if a report has given it for an order of this client. Another OrderID, and any
    /// SecondaryOrderID(198), which is not tracked, is removed if ClOrdID(11) or OrigClOrdID(41) also identifies the
    /// order: those are always the client's own.
    ///
    /// # Errors
    ///
    /// [`OrdersError::UnknownOrder`]; then the message must not be sent.
    pub fn guard(
        &self,
        client: SessionId,
        venue: SessionId,
        draft: &mut Draft,
    ) -> Result<(), OrdersError> {
        match table::naming(draft.msg_type()) {
            Some(naming) => self.guard_ids(naming, client, venue, draft),
            None => Ok(()),
        }
    }

    /// Makes a client's BusinessMessageReject(j) refer to nothing but the client's own orders at the venue. A
    /// BusinessRejectRefID(379) that is a ClOrdID of the client becomes the ClOrdID that the venue knows; an OrderID
    /// that a report has given for an order of the client stays; any other value is removed. RefSeqNum(45) refers to a
    /// message between the gateway and the client, so it becomes 0.
    #[cold]
    pub fn guard_reject(&self, client: Option<SessionId>, venue: SessionId, draft: &mut Draft) {
        draft.set(tag::REF_SEQ_NUM, b"0");
        let Some(at) = draft.find(tag::BUSINESS_REJECT_REF_ID) else {
            return;
        };
        let is_response = matches!(draft.get(tag::REF_MSG_TYPE), Some(b"8" | b"9"));
        let client = client.filter(|_| is_response);
        let id = draft.value(at);
        let of_client = |client| self.book.of_client(client, venue, IdKind::Order, id);
        if let Some(own) = client.and_then(of_client) {
            draft.set_at(at, self.book.id(own, By::Venue));
        } else if !client.is_some_and(|client| self.has_order_id(client, venue, id)) {
            draft.remove(at..at + 1);
        }
    }

    #[cold]
    fn guard_ids(
        &self,
        naming: &Naming,
        client: SessionId,
        venue: SessionId,
        draft: &mut Draft,
    ) -> Result<(), OrdersError> {
        let mut at = 0;
        while at < draft.len() {
            let (field, id) = (draft.tag(at), draft.value(at));
            if id.is_empty() || id == b"NONE" {
                at += 1;
            } else if field == tag::CL_ORD_ID && naming.translates {
                self.translate(client, venue, draft, at)?;
                at += 1;
            } else if !naming.ids.contains(&field)
                || (field == tag::ORDER_ID && self.has_order_id(client, venue, id))
            {
                at += 1;
            } else if self.is_named(naming, client, venue, draft, at) {
                draft.remove(at..at + 1);
            } else {
                return Err(OrdersError::UnknownOrder { tag: field });
            }
        }
        Ok(())
    }

    /// Whether a report has given this OrderID for an order of this client.
    fn has_order_id(&self, client: SessionId, venue: SessionId, id: &[u8]) -> bool {
        let name = self.book.of_order_id(venue, id);
        name.is_some_and(|name| self.book.name(name).client == client)
    }

    /// Whether a client's id identifies the same order as the venue's id at this index: the last client's id before
    /// it (in a group entry, the first field of the entry), or the next client's id.
    fn is_named(
        &self,
        naming: &Naming,
        client: SessionId,
        venue: SessionId,
        draft: &Draft,
        at: usize,
    ) -> bool {
        let by = |place: &usize| draft.tag(*place) == naming.by && !draft.value(*place).is_empty();
        let before = (0..at).rev().find(by);
        let Some(place) = before.or_else(|| (at..draft.len()).find(by)) else {
            return false;
        };
        let (id, kind) = (draft.value(place), IdKind::Order);
        let is_theirs = |name| self.book.name(name).client == client;
        !naming.translates
            || self.book.of_client(client, venue, kind, id).is_some()
            || self.book.at_venue(venue, kind, id).is_some_and(is_theirs)
    }

    /// Replaces a client's ClOrdID by the one that the venue knows. An unknown ClOrdID stays unchanged.
    fn translate(
        &self,
        client: SessionId,
        venue: SessionId,
        draft: &mut Draft,
        at: usize,
    ) -> Result<(), OrdersError> {
        let id = draft.value(at);
        if let Some(own) = self.book.of_client(client, venue, IdKind::Order, id) {
            draft.set_at(at, self.book.id(own, By::Venue));
        } else if self.book.at_venue(venue, IdKind::Order, id).is_some() {
            return Err(OrdersError::UnknownOrder {
                tag: tag::CL_ORD_ID,
            });
        }
        Ok(())
    }
}
