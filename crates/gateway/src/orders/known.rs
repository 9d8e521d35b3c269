//! Queries about ids and limits; they change nothing.

use fixwire_protocol::{Message, SessionId, Tag, Timestamp, tag};

use super::book::By;
use super::table::{self, IdKind, IdRole, TagBits, has};
use super::{OrderTracker, OrdersConfig, Rewriting};
use crate::Draft;

/// Fields besides ids that [`OrderTracker`] reads in messages to a venue.
const ASKED_WITH: [Tag; 2] = [tag::POSS_RESEND, tag::SUBSCRIPTION_REQUEST_TYPE];
/// Fields besides ids that [`OrderTracker`] reads in messages from a venue.
const ANSWERED_WITH: [Tag; 6] = [
    tag::POSS_RESEND,
    tag::EXEC_TYPE,
    tag::ORD_STATUS,
    tag::EXEC_TRANS_TYPE,
    tag::CL_ORD_ID,
    tag::ORIG_CL_ORD_ID,
];

/// Whether a message of this type has ids that its responses repeat.
#[must_use]
pub fn asks(msg_type: &[u8]) -> bool {
    !table::asks(msg_type).is_empty()
}

/// Whether a message of this type is a response that refers to its request by an id.
#[must_use]
pub fn answers(msg_type: &[u8]) -> bool {
    !table::answers(msg_type).is_empty()
}

/// Whether a message of this type may refer to an order by OrderID(37), so that [`OrderTracker::guard`] must read it.
#[must_use]
pub fn names_orders(msg_type: &[u8]) -> bool {
    table::naming(msg_type).is_some()
}

/// The fields that [`OrderTracker`] reads in any message.
static READ: TagBits = {
    let mut bits = table::IDS;
    let mut at = 0;
    while at < ASKED_WITH.len() {
        table::add(&mut bits, ASKED_WITH[at]);
        at += 1;
    }
    at = 0;
    while at < ANSWERED_WITH.len() {
        table::add(&mut bits, ANSWERED_WITH[at]);
        at += 1;
    }
    bits
};

/// Whether a message of this type begins an order, a replace or a cancel, which stays open until its response.
#[must_use]
pub fn begins_orders(msg_type: &[u8]) -> bool {
    let open = |ask: &table::OutboundId| !matches!(ask.role, IdRole::Names | IdRole::Asks);
    table::asks(msg_type).iter().any(open)
}

/// Whether a message of this type may reach the orders of all clients at a venue.
#[must_use]
pub fn reaches_all(msg_type: &[u8]) -> bool {
    table::MASS_REQUESTS.contains(&msg_type)
}

/// Tells which fields [`OrderTracker::outbound`] and [`OrderTracker::refused`] read in a message of this type.
pub fn reads_outbound(msg_type: &[u8]) -> impl Fn(Tag) -> bool + use<> {
    let asks = table::asks(msg_type);
    move |tag| {
        let is_one = || ASKED_WITH.contains(&tag) || asks.iter().any(|ask| ask.tag == tag);
        has(&READ, tag) && is_one()
    }
}

/// Tells which fields [`OrderTracker::heard`] reads in a message of this type.
pub fn reads_inbound(msg_type: &[u8]) -> impl Fn(Tag) -> bool + use<> {
    let answers = table::answers(msg_type);
    move |tag| {
        let is_one =
            || ANSWERED_WITH.contains(&tag) || answers.iter().any(|answer| answer.tag == tag);
        has(&READ, tag) && is_one()
    }
}

/// The field that identifies a message of this type, and that a BusinessMessageReject repeats in
/// BusinessRejectRefID(379): for example ClOrdID(11) of an order, ListID(66) of a list.
#[must_use]
pub fn id_of(msg_type: &[u8]) -> Option<Tag> {
    table::asks(msg_type).first().map(|ask| ask.tag)
}

impl OrderTracker {
    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &OrdersConfig {
        &self.config
    }

    /// The form of ids at this venue, if the venue has a form of its own.
    #[must_use]
    pub fn rewriting(&self, venue: SessionId) -> Option<Rewriting> {
        let at = self.venues.binary_search_by_key(&venue, |venue| venue.id);
        self.venues[at.ok()?].rewriting
    }

    /// Number of ids that may not be forgotten, of this client and of all clients. The count includes the ids of open
    /// orders, and closed ids that open ones need.
    #[must_use]
    pub fn kept(&self, client: SessionId) -> (u64, u64) {
        (self.book.kept_of(client).into(), self.kept_by_all())
    }

    /// Number of ids of all clients that may not be forgotten.
    #[must_use]
    pub fn kept_by_all(&self) -> u64 {
        self.book.kept() as u64
    }

    /// Whether an open order has been quiet so long that it may be forgotten to make room.
    #[must_use]
    pub fn has_quiet(&self, now: Timestamp) -> bool {
        let quiet = self.config.forget_quiet;
        quiet.is_some_and(|quiet| self.book.is_quiet(now, quiet))
    }

    /// The client with the most ids that may not be forgotten.
    #[must_use]
    pub fn keeps_most(&self) -> Option<SessionId> {
        self.book.keeps_most()
    }

    /// Writes a client's own ids into a message that the client sent to a venue. The message is given as the venue saw
    /// it.
    pub fn restore_request(&self, client: SessionId, venue: SessionId, draft: &mut Draft) {
        for at in 0..draft.len() {
            let mut asks = table::asks(draft.msg_type()).iter();
            let ask = asks.find(|ask| ask.tag == draft.tag(at));
            let name = ask.and_then(|ask| self.book.at_venue(venue, ask.kind, draft.value(at)));
            let is_theirs = |name: &u32| self.book.name(*name).client == client;
            if let Some(name) = name.filter(is_theirs) {
                draft.set_at(at, self.book.id(name, By::Client));
            }
        }
    }

    /// Whether the message has come back: its request was sent to this same session, and is still open there.
    #[must_use]
    pub fn came_back(&self, session: SessionId, message: &Message<'_>) -> bool {
        let asks = table::asks(message.msg_type());
        // Most clients are never venues.
        if self
            .venues
            .binary_search_by_key(&session, |venue| venue.id)
            .is_err()
        {
            return false;
        }
        let only_names = asks.iter().all(|ask| ask.role == IdRole::Names);
        asks.iter()
            .filter(|ask| only_names || ask.role != IdRole::Names)
            .any(|ask| {
                let mut ids = message.fields().iter().filter(|id| id.tag == ask.tag);
                ids.any(|id| {
                    let name = self.book.at_venue(session, ask.kind, message.value(*id));
                    name.is_some_and(|name| self.book.name(name).state.is_open())
                })
            })
    }

    /// Whether a message of this client concerns the client's orders at this venue: it refers to a known id, or would
    /// open an id that is already open there.
    #[must_use]
    pub fn concerns(&self, client: SessionId, venue: SessionId, draft: &Draft) -> bool {
        let again = draft.get(tag::POSS_RESEND) == Some(b"Y");
        table::asks(draft.msg_type()).iter().any(|ask| {
            let id = draft.get(ask.tag).filter(|id| !id.is_empty());
            let name = id.and_then(|id| self.book.of_client(client, venue, ask.kind, id));
            let old = ask.role == IdRole::Names || again;
            name.is_some_and(|name| old || self.book.name(name).state.is_open())
        })
    }

    /// Whether a message of this client would begin a second order with the ClOrdID of an open order. A possible
    /// resend does not.
    #[must_use]
    pub fn is_second(&self, client: SessionId, id: &[u8], message: &Message<'_>) -> bool {
        let begins =
            |ask: &table::OutboundId| ask.tag == tag::CL_ORD_ID && ask.role != IdRole::Names;
        let begins = table::asks(message.msg_type()).iter().any(begins);
        begins && !message.is_poss_resend() && self.is_open(client, id)
    }

    /// Whether an order of this client with this ClOrdID is known, open or closed, at any venue.
    #[must_use]
    pub fn remembers(&self, client: SessionId, id: &[u8]) -> bool {
        let mut venues = self.venues.iter();
        venues.any(|venue| {
            let name = self.book.of_client(client, venue.id, IdKind::Order, id);
            name.is_some()
        })
    }

    /// Whether the message that began this client's order with this ClOrdID at this venue also went to another
    /// venue, where the order is open or was answered.
    #[must_use]
    pub fn is_elsewhere(&self, client: SessionId, venue: SessionId, id: &[u8]) -> bool {
        let at = |venue| {
            let name = self.book.of_client(client, venue, IdKind::Order, id);
            name.map(|name| self.book.name(name))
        };
        let Some(here) = at(venue) else { return false };
        let mut others = self.venues.iter().filter(|other| other.id != venue);
        others.any(|other| {
            at(other.id).is_some_and(|name| {
                name.began == here.began && (name.state.is_open() || name.is_answered)
            })
        })
    }

    /// Whether this client has an open order with this ClOrdID, at any venue.
    #[must_use]
    pub fn is_open(&self, client: SessionId, id: &[u8]) -> bool {
        let mut venues = self.venues.iter();
        venues.any(|venue| self.is_open_at(client, venue.id, id))
    }

    /// Whether the client has an open order with this id at this venue.
    #[must_use]
    pub fn is_open_at(&self, client: SessionId, venue: SessionId, id: &[u8]) -> bool {
        let name = self.book.of_client(client, venue, IdKind::Order, id);
        name.is_some_and(|name| self.book.name(name).state.is_open())
    }
}
