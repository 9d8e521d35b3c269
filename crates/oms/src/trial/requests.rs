//! The requests of a record, each with its outcome in the record and its outcome in the trial.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

use super::answers::{AnswerKind, RejectedBy};
use super::renumbering::NO_ORDER;
use crate::values::ids::SessionNo;
use crate::values::reason::Reason;
use crate::values::slab::mixed;
use crate::values::value::{Number, RequestKind, Text};

/// Index of a request in the record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct RequestAt(usize);

/// The outcome of a request in the trial.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    Accepted,
    Rejected,
}

/// The outcome of a request in the record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Then {
    Accepted,
    Rejected(RejectedBy),
}

/// A request of the record.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub session: SessionNo,
    /// ClOrdID(11).
    pub id: Text,
    /// `None` for a new order.
    pub kind: Option<RequestKind>,
    /// Time at which the request was received, in nanoseconds since 1970.
    pub at: i64,
    /// The trading day on which the request was received. On another day, its ClOrdID(11) may be used again.
    day: u32,
    /// Hash of OrderID(37), by which the record named the order last; `None` while the record has not named it. Only the
    /// request for the new order has it.
    order_id: Option<u64>,
    /// Number of the order in the trial; `None` when the trial rejected the order, or does not know it.
    order: Option<Number>,
    /// `None` while the record has no answer.
    pub then: Option<Then>,
    pub now: Outcome,
    /// The request for the new order that this request belongs to; `None` for the new order itself.
    of: Option<RequestAt>,
    /// Whether a fill of the order was lost.
    has_lost: bool,
}

impl Recorded {
    /// A request without an answer, which nothing has rejected.
    pub fn new(
        session: SessionNo,
        id: &[u8],
        kind: Option<RequestKind>,
        at: i64,
        day: u32,
    ) -> Self {
        Self {
            session,
            id: Text::new(id),
            kind,
            at,
            day,
            order_id: None,
            order: None,
            then: None,
            now: Outcome::Accepted,
            of: None,
            has_lost: false,
        }
    }
}

/// Why a request is rejected in the trial.
#[derive(Clone, Debug)]
pub(super) struct Rejection {
    pub reason: Option<Reason>,
    pub text: String,
}

fn hash(session: SessionNo, id: &[u8]) -> u64 {
    SipHasher13::new().hash(id) ^ mixed(session.place().into())
}

/// The place of the last request with a session and a ClOrdID(11), and their hash.
#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u64,
    at: usize,
}

/// All requests of a record, by session and ClOrdID(11).
#[derive(Debug, Default)]
pub(super) struct Requests {
    all: Vec<Recorded>,
    places: HashTable<Place>,
    /// Requests whose ClOrdID(11) another request of the same trading day had before, and which have no answer in the
    /// record yet: by the place of the first request.
    repeated: BTreeMap<usize, VecDeque<usize>>,
    /// The requests that the trial rejects, in the order of the rejects.
    rejected: Vec<(RequestAt, Rejection)>,
}

impl Requests {
    /// The last request with a ClOrdID(11).
    pub fn find(&self, session: SessionNo, id: &[u8]) -> Option<RequestAt> {
        let hash = hash(session, id);
        let is_it = |place: &Place| {
            let known = &self.all[place.at];
            place.hash == hash && known.session == session && known.id.bytes() == id
        };
        let found = self.places.find(hash, is_it);
        found.map(|place| RequestAt(place.at))
    }

    /// Adds a request; `original` is the request that it replaces or cancels. If a ClOrdID(11) is used again on the same
    /// trading day, it stands for its first request. The other requests have only the rejects of the OMS.
    pub fn add(&mut self, mut request: Recorded, original: Option<RequestAt>) -> RequestAt {
        let place = self.all.len();
        if let Some(original) = original {
            request.order = self.all[original.0].order;
            request.of = Some(self.all[original.0].of.unwrap_or(original));
        }
        let (session, id) = (request.session, request.id.bytes());
        let (hash, all) = (hash(session, id), &self.all);
        let is_it = |place: &Place| {
            let known = &all[place.at];
            place.hash == hash && known.session == session && known.id.bytes() == id
        };
        let new = Place { hash, at: place };
        match self.places.find_mut(hash, is_it) {
            Some(known) if all[known.at].day == request.day => {
                self.repeated.entry(known.at).or_default().push_back(place);
            }
            Some(known) => *known = new,
            None => {
                self.places.insert_unique(hash, new, |place| place.hash);
            }
        }
        self.all.push(request);
        RequestAt(place)
    }

    /// Whether a request came from a session with a ClOrdID(11).
    pub fn has(&self, at: RequestAt, session: Option<SessionNo>, id: &[u8]) -> bool {
        let request = &self.all[at.0];
        session == Some(request.session) && request.id.bytes() == id
    }

    /// The number in the trial of a request's order.
    pub fn order(&self, at: RequestAt) -> Option<Number> {
        self.all[at.0].order
    }

    pub fn set_order(&mut self, at: RequestAt, order: Option<Number>) {
        self.all[at.0].order = order;
    }

    /// Records the OrderID(37) that the record gives to a request's order.
    pub fn set_order_id(&mut self, at: RequestAt, id: &[u8]) {
        let order = self.all[at.0].of.unwrap_or(at);
        self.all[order.0].order_id = Some(SipHasher13::new().hash(id));
    }

    /// The number in the trial of the order that a replace or cancel names by this OrderID(37); [`NO_ORDER`] when this was
    /// not the order's OrderID(37) in the record. `None` for a new order, and when the trial does not know the order.
    pub fn number_of(&self, at: RequestAt, named: &[u8]) -> Option<Number> {
        let request = &self.all[at.0];
        let (number, of) = (request.order?, request.of?);
        match self.all[of.0].order_id {
            Some(known) if known != SipHasher13::new().hash(named) => Some(NO_ORDER),
            Some(_) | None => Some(number),
        }
    }

    pub fn outcome(&self, at: RequestAt) -> Outcome {
        self.all[at.0].now
    }

    /// Whether this is a replace that the trial rejects.
    pub fn is_rejected_replace(&self, at: RequestAt) -> bool {
        let request = &self.all[at.0];
        request.kind == Some(RequestKind::Replace) && request.now == Outcome::Rejected
    }

    /// Records that the OMS rejects a request in the trial.
    pub fn reject(&mut self, at: RequestAt, reason: Option<Reason>, text: String) {
        let request = &mut self.all[at.0];
        if request.now == Outcome::Accepted {
            request.now = Outcome::Rejected;
            self.rejected.push((at, Rejection { reason, text }));
        }
    }

    /// Records an answer in the record to a ClOrdID(11). The first answer that accepts or rejects the request counts.
    /// The OMS rejects at once, so its reject is for a request that has this ClOrdID(11) again. Returns the request that
    /// the answer belongs to.
    pub fn answered(&mut self, at: RequestAt, kind: AnswerKind) -> RequestAt {
        let by_oms = matches!(
            kind,
            AnswerKind::Rejected(RejectedBy::Oms) | AnswerKind::Declined(RejectedBy::Oms)
        );
        let mut repeated = self.repeated.get_mut(&at.0).filter(|_| by_oms);
        let again = repeated.as_mut().and_then(|it| it.pop_front());
        let at = again.map_or(at, RequestAt);
        let then = match kind {
            AnswerKind::Rejected(by) | AnswerKind::Declined(by) => Then::Rejected(by),
            AnswerKind::New
            | AnswerKind::Fill
            | AnswerKind::Canceled
            | AnswerKind::Replaced
            | AnswerKind::Expired => Then::Accepted,
        };
        self.all[at.0].then.get_or_insert(then);
        at
    }

    /// Whether this is the first fill of the request's order that is lost.
    pub fn lose(&mut self, at: RequestAt) -> bool {
        let order = self.all[at.0].of.unwrap_or(at);
        !core::mem::replace(&mut self.all[order.0].has_lost, true)
    }

    /// All requests in the order of the record.
    pub fn all(&self) -> &[Recorded] {
        &self.all
    }

    /// The requests that the trial rejects, with the reasons.
    pub fn rejected(&self) -> impl Iterator<Item = (&Recorded, &Rejection)> {
        let rejected = self.rejected.iter();
        rejected.map(|(at, why)| (&self.all[at.0], why))
    }
}
