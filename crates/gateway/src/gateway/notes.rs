//! The orders, and the journal notes that restore them.
//!
//! A note is written before each call of [`OrderTracker`], and there is no call without a note. So the same calls,
//! repeated from the notes, give the same state. A note begins with words and SOH:
//!
//! ```text
//! C max_orders max_sessions max_id quiet ids   the limits from here on
//! S number ids name                            a session and its form of ids; introduces its number
//! O client venue MsgType | 11=..|41=..|        outbound, with the fields that `outbound` reads
//! I venue MsgType | 11=..|39=..|               heard
//! R venue MsgType | 11=..|                     refused
//! J venue MsgType | 11=..|                     rejected
//! H source target lengths passage | D|11=..| 35=..|11=..| D 11=..|..
//!                                              held: the part that orders track, the fields that a reject reads,
//!                                              MsgType and fields; lengths of the first three parts; passage:
//!                                              0 opens an order, 1 sent, 2 copied, 3 returned
//! h ..                                         as H, but the source receives no reject
//! Q                                            the source of the last held message receives no reject
//! U target                                     the first message has left the queue: sent or dropped
//! X client target | id                         the client cancelled its held order with this ClOrdID
//! A number                                     the number of the gateway's own answer
//! M client | 11=..|1=..|58=|                   fields remembered for a client's order; an empty one is dropped
//! F client | 11=..|                            the values remembered for the order are dropped
//! L client bytes                               the client's share of `max_remembered`; - without its own share
//! ```
//!
//! `ids` is for example `A20=FW`: always (or `C`, on collision), at most 20 bytes, prefix `FW`; `-` means the
//! common form. Notes and [`OrderTracker`] number the sessions, so that the file may list them in another order.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{BodyError, Message, Outbox, SOH, SessionId, Tag, Timestamp};

use super::event::{GatewayLimit, NoteError, Trouble};
use super::memory::Memory;
use super::queues::{Place, Queues};
use super::shares::{Most, Shares};
use crate::Draft;
use crate::orders::known::{asks, begins_orders, names_orders, reads_inbound, reads_outbound};
use crate::orders::{OrderTracker, OrdersConfig, OrdersError, Out, ReportAddressee, Rewriting};

mod held;
mod ledger;
mod remembered;
mod words;

pub(super) use held::{ANSWERED, Held, Holding, UNANSWERED, came_at, row, target};
pub(super) use remembered::Order;
use words::{limits, put_draft, put_ids, put_limits, put_number, rewriting, word};

/// The maximum number of sessions over the life of a journal, removed ones included.
pub(super) const MAX_SESSIONS: usize = 10_000;

/// Maximum number of ids in memory.
pub(super) const MAX_ORDERS: u32 = 1 << 24;

/// A session as notes know it.
pub(super) struct Known {
    pub(super) name: String,
    /// Its place in the file; `None` when it was removed.
    pub(super) place: Option<usize>,
    /// The content of the last note about it.
    pub(super) ids: Option<Rewriting>,
    /// Its share of `max_remembered`, by the last note about it.
    pub(super) own: Option<u64>,
}

/// The orders with their journal.
pub(super) struct Notes {
    pub(super) orders: OrderTracker,
    /// The configuration in the file.
    pub(super) limits: OrdersConfig,
    /// The last limits that a note says.
    pub(super) noted: Option<OrdersConfig>,
    /// Whether notes were written since the start.
    pub(super) begun: bool,
    /// By number.
    pub(super) known: Vec<Known>,
    /// By place in the file: name, how ids look, number.
    pub(super) sessions: Vec<(String, Option<Rewriting>, Option<u32>)>,
    /// Messages for sessions that are away, by number.
    pub queues: Queues,
    /// The values remembered for orders.
    pub memory: Memory,
    /// The shares of each client: orders, and memory for held messages.
    pub order_shares: Shares,
    pub held_shares: Shares,
    pub memory_shares: Shares,
    /// Bytes that wait, of the messages of each client, by number, and of all.
    pub(super) held_of: Vec<u64>,
    pub(super) held_of_all: u64,
    /// The event that is due.
    pub(super) most: Option<(&'static str, Most)>,
    /// The number of the last answer of our own, or when the last note was written.
    pub(super) last_answer: i64,
    /// When what is noted happens.
    pub(super) now: Timestamp,
    /// The message that was held last, when its source is to be answered.
    pub(super) last_held: Option<Place>,
    /// The fields of a note.
    pub(super) draft: Draft,
    pub(super) text: Vec<u8>,
    /// The text of a note after its head.
    pub(super) parts: Vec<u8>,
}

impl Notes {
    pub fn new(
        limits: OrdersConfig,
        shares: [Shares; 3],
        sessions: impl Iterator<Item = (String, Option<Rewriting>)>,
    ) -> Result<Self, OrdersError> {
        let sessions = sessions.map(|(name, ids)| (name, ids, None)).collect();
        Ok(Self::with(
            OrderTracker::new(limits)?,
            limits,
            shares,
            sessions,
        ))
    }

    /// Empty notes, with the limits and the sessions of the same file.
    pub fn anew(&self) -> Result<Self, OrdersError> {
        Ok(self.beside(OrderTracker::new(self.limits)?))
    }

    /// Notes with the same limits and sessions, and these orders.
    fn beside(&self, orders: OrderTracker) -> Self {
        let shares = [&self.order_shares, &self.held_shares, &self.memory_shares];
        let sessions = self.sessions.iter();
        let sessions = sessions.map(|(name, ids, _)| (name.clone(), *ids, None));
        let shares = shares.map(Shares::anew);
        Self::with(orders, self.limits, shares, sessions.collect())
    }

    fn with(
        orders: OrderTracker,
        limits: OrdersConfig,
        [order_shares, held_shares, memory_shares]: [Shares; 3],
        sessions: Vec<(String, Option<Rewriting>, Option<u32>)>,
    ) -> Self {
        Self {
            orders,
            limits,
            noted: None,
            begun: false,
            known: Vec::new(),
            sessions,
            queues: Queues::new(held_shares.max()),
            memory: Memory::new(memory_shares.max(), limits.hash_key),
            memory_shares,
            order_shares,
            held_shares,
            held_of: Vec::new(),
            held_of_all: 0,
            most: None,
            last_answer: 0,
            now: Timestamp(0),
            last_held: None,
            draft: Draft::with_capacity(16, 512),
            text: Vec::with_capacity(512),
            parts: Vec::new(),
        }
    }

    /// Sets the time of the following notes.
    pub fn set_time(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Writes the text as a note.
    fn keep(&mut self, outbox: &mut Outbox) -> Result<(), Trouble> {
        outbox.note(&self.text)?;
        self.last_answer = self.last_answer.max(self.now.0);
        Ok(())
    }

    pub fn orders(&self) -> &OrderTracker {
        &self.orders
    }

    /// The limits of the file.
    pub fn limits(&self) -> &OrdersConfig {
        &self.limits
    }

    /// The limits in bytes of held messages and of remembered values.
    pub fn room(&self) -> (u64, u64) {
        (self.held_shares.max(), self.memory.max_bytes())
    }

    /// The names of the sessions of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(|(name, ..)| name.as_str())
    }

    /// Sets the form of ids from now on, by index in the file.
    pub fn set_ids(&mut self, ids: impl Iterator<Item = Option<Rewriting>>) {
        for ((_, known, _), ids) in self.sessions.iter_mut().zip(ids) {
            *known = ids;
        }
    }

    /// Sets the clients' shares of the limits from now on.
    pub fn set_shares(&mut self, [orders, held, memory]: &[Shares; 3]) {
        self.order_shares.set_own(orders);
        self.held_shares.set_own(held);
        self.memory_shares.set_own(memory);
    }

    /// The number of a session of the file, if a note has introduced it.
    pub fn number(&self, place: usize) -> Option<SessionId> {
        self.sessions.get(place)?.2.map(SessionId)
    }

    /// The name of a session that a note has introduced.
    pub fn name(&self, number: SessionId) -> Option<&str> {
        Some(&self.known.get(number.0 as usize)?.name)
    }

    /// The index in the file of a session; `None` if it was removed.
    pub fn place(&self, number: SessionId) -> Option<usize> {
        self.known.get(number.0 as usize)?.place
    }

    /// Applies the limits of the file, if they changed; this work is done once, after a restart with another file.
    /// The other error is reported once, and the limits stay as they were.
    pub fn begin(&mut self, outbox: &mut Outbox) -> Result<Result<(), NoteError>, Trouble> {
        if self.begun {
            return Ok(Ok(()));
        }
        let wanted = Some(self.limits);
        if self.noted != wanted || *self.orders.config() != self.limits {
            self.text.clear();
            put_limits(&mut self.text, &self.limits);
            self.keep(outbox)?;
            self.noted = wanted;
        }
        self.begun = true;
        Ok(self.apply_limits(self.limits))
    }

    fn apply_limits(&mut self, limits: OrdersConfig) -> Result<(), NoteError> {
        if limits == *self.orders.config() {
            return Ok(());
        }
        self.orders.reconfigure(limits).map_err(NoteError::Limits)?;
        self.find_held();
        Ok(())
    }

    /// The number of a session; a note introduces a new session, or a new form of its ids.
    pub fn introduced(&mut self, place: usize, outbox: &mut Outbox) -> Result<SessionId, Trouble> {
        let Some((name, ids, number)) = self.sessions.get(place) else {
            return Err(Trouble::ClientGone);
        };
        if let Some(number) = number
            && let Some(known) = self.known.get(*number as usize)
            && known.ids == *ids
        {
            return Ok(SessionId(*number));
        }
        let number = number.unwrap_or(self.known.len() as u32);
        self.text.clear();
        self.text.extend_from_slice(b"S ");
        put_number(&mut self.text, u64::from(number));
        put_ids(&mut self.text, *ids);
        self.text.push(b' ');
        self.text.extend_from_slice(name.as_bytes());
        let (name, ids) = (name.clone(), *ids);
        self.keep(outbox)?;
        // Where it does not succeed now, it does not when the note is read.
        let _ = self.introduce(number, ids, &name);
        Ok(SessionId(number))
    }

    fn introduce(
        &mut self,
        number: u32,
        ids: Option<Rewriting>,
        name: &str,
    ) -> Result<(), NoteError> {
        let (at, count) = (number as usize, self.known.len());
        match self.known.get_mut(at) {
            Some(known) if known.name == name => known.ids = ids,
            None if at == count && at < MAX_SESSIONS => {
                let mut sessions = self.sessions.iter_mut();
                let place = sessions.position(|(known, ..)| known == name);
                if let Some(place) = place {
                    self.sessions[place].2 = Some(number);
                }
                let name = name.into();
                let own = None;
                self.known.push(Known {
                    name,
                    place,
                    ids,
                    own,
                });
            }
            _ => return Err(NoteError::UnknownSession),
        }
        if self.orders.rewriting(SessionId(number)) != ids {
            let set = self.orders.set_venue(SessionId(number), ids);
            set.map_err(|_| NoteError::NotOurs)?;
        }
        Ok(())
    }

    /// A unique number for an answer: the time, or one more than the last number. Each note counts as an answer at
    /// its time, so the number is the same after a restart even if the journal has no notes of answers.
    pub fn answer_number(&mut self, now: Timestamp, outbox: &mut Outbox) -> Result<i64, Trouble> {
        let number = now.0.max(self.last_answer.saturating_add(1));
        self.text.clear();
        self.text.extend_from_slice(b"A ");
        put_number(&mut self.text, number.unsigned_abs());
        self.keep(outbox)?;
        self.last_answer = number;
        Ok(number)
    }

    /// Handles a message to a venue, as [`OrderTracker::outbound`].
    pub fn outbound(
        &mut self,
        at: Timestamp,
        (client, venue): (usize, usize),
        draft: &mut Draft,
        outbox: &mut Outbox,
    ) -> Result<Out, Trouble> {
        if !asks(draft.msg_type()) && !names_orders(draft.msg_type()) {
            return Ok(Out::Other);
        }
        let place = client;
        let client = self.introduced(client, outbox)?;
        let venue = self.introduced(venue, outbox)?;
        self.orders
            .guard(client, venue, draft)
            .map_err(Trouble::Orders)?;
        if !asks(draft.msg_type()) {
            return Ok(Out::Other);
        }
        let is_calm = self.order_shares.is_calm(self.orders.kept_by_all());
        if !is_calm {
            self.may_begin(at, (place, client), draft)?;
        }
        self.pick(draft, reads_outbound);
        self.note(b"O ", &[client, venue], outbox)?;
        let out = self.orders.outbound(at, client, venue, draft);
        self.pick(draft, reads_outbound);
        if !is_calm {
            let (has, total) = self.orders.kept(client);
            let most = self.order_shares.look(place, has, total);
            self.most = most.map(|most| ("max_orders", most)).or(self.most);
        }
        out.map_err(|error| match error {
            OrdersError::Full => Trouble::Limit(GatewayLimit::Orders(self.order_shares.max())),
            other => Trouble::Orders(other),
        })
    }

    /// Whether a client may open one more order.
    #[cold]
    fn may_begin(
        &self,
        now: Timestamp,
        (place, client): (usize, SessionId),
        draft: &Draft,
    ) -> Result<(), Trouble> {
        let (has, total) = self.orders.kept(client);
        let may = self.order_shares.may(place, has, total);
        // A cancel makes room in the end, and so do orders that may be forgotten. Without any at
        // all, the orders say so themselves.
        let is_cancel = matches!(draft.msg_type(), b"F" | b"K" | b"u");
        let is_full = total >= self.order_shares.max();
        let begins = begins_orders(draft.msg_type()) && !is_cancel;
        if begins && has >= may && !is_full && !self.orders.has_quiet(now) {
            return Err(Trouble::Limit(GatewayLimit::OrdersOfClient(may)));
        }
        Ok(())
    }

    /// Takes the due event about a limit: its key, and the client that has used its share, or that uses most.
    pub fn take_most(&mut self) -> Option<(&'static str, Most, Option<usize>)> {
        let (limit, most) = self.most.take()?;
        let client = most.client.or_else(|| {
            let number = match limit {
                "max_orders" => self.orders.keeps_most(),
                "max_remembered" => self.memory.has_most(),
                _ => {
                    let all = self.held_of.iter().enumerate();
                    let most = all.max_by_key(|(_, bytes)| **bytes);
                    most.map(|(number, _)| SessionId(number as u32))
                }
            };
            number.and_then(|number| self.place(number))
        });
        Some((limit, most, client))
    }

    /// Whether an event about limits is due.
    #[inline]
    pub fn has_most(&self) -> bool {
        self.most.is_some()
    }

    /// The message last accepted by [`outbound`](Self::outbound) was not sent; as [`OrderTracker::refused`].
    pub fn not_sent(&mut self, venue: usize, outbox: &mut Outbox) -> Result<(), Trouble> {
        let venue = self.introduced(venue, outbox)?;
        self.end(venue, outbox)
    }

    /// A held message was not delivered; `known` is the part of it that orders track.
    pub fn not_delivered(
        &mut self,
        venue: SessionId,
        known: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        match self.fill_known(known) {
            Some(()) => self.end(venue, outbox),
            None => Ok(()),
        }
    }

    /// Fills the draft with the part of a held message that orders track.
    fn fill_known(&mut self, known: &[u8]) -> Option<()> {
        let end = known.iter().position(|byte| *byte == SOH);
        let (msg_type, fields) = known.split_at(end.unwrap_or(known.len()));
        self.fill(msg_type, fields)
    }

    fn end(&mut self, venue: SessionId, outbox: &mut Outbox) -> Result<(), Trouble> {
        self.note(b"R ", &[venue], outbox)?;
        self.orders.refused(venue, &mut self.draft);
        Ok(())
    }

    /// Handles a message from a venue, as [`OrderTracker::heard`].
    pub fn heard(
        &mut self,
        at: Timestamp,
        venue: usize,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<Option<ReportAddressee>, Trouble> {
        let venue = self.introduced(venue, outbox)?;
        self.draft.begin(message.msg_type());
        for field in message.fields() {
            if reads_inbound(message.msg_type(), field.tag) {
                self.draft.push(field.tag, message.value(*field));
            }
        }
        self.note(b"I ", &[venue], outbox)?;
        Ok(self.orders.heard(at, venue, &self.draft))
    }

    /// A venue refused the message of this type and id, as [`OrderTracker::refused`]. Returns the client and the
    /// client's own id.
    pub fn refused(
        &mut self,
        venue: usize,
        msg_type: &[u8],
        (tag, id): (Tag, &[u8]),
        outbox: &mut Outbox,
    ) -> Result<Option<(SessionId, &[u8])>, Trouble> {
        let venue = self.introduced(venue, outbox)?;
        self.draft.begin(msg_type);
        self.draft.push(tag, id);
        self.note(b"R ", &[venue], outbox)?;
        let client = self.orders.refused(venue, &mut self.draft);
        Ok(client.map(|client| (client, self.draft.value(0))))
    }

    /// A venue rejected this message, given as it was sent; as [`OrderTracker::rejected`].
    pub fn rejected(
        &mut self,
        venue: usize,
        draft: &mut Draft,
        outbox: &mut Outbox,
    ) -> Result<Option<SessionId>, Trouble> {
        let venue = self.introduced(venue, outbox)?;
        self.pick(draft, reads_outbound);
        self.note(b"J ", &[venue], outbox)?;
        Ok(self.orders.rejected(venue, draft))
    }

    /// Keeps the fields of a message that the orders read.
    fn pick(&mut self, draft: &Draft, reads: fn(&[u8], Tag) -> bool) {
        self.draft.begin(draft.msg_type());
        for at in 0..draft.len() {
            if reads(draft.msg_type(), draft.tag(at)) {
                self.draft.push(draft.tag(at), draft.value(at));
            }
        }
    }

    fn note(
        &mut self,
        what: &[u8],
        sessions: &[SessionId],
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        self.text.clear();
        self.text.extend_from_slice(what);
        for session in sessions {
            put_number(&mut self.text, u64::from(session.0));
            self.text.push(b' ');
        }
        put_draft(&mut self.text, &self.draft);
        self.keep(outbox)
    }

    /// Repeats the call of a note.
    pub fn replay(&mut self, at: Timestamp, note: &[u8]) -> Result<(), NoteError> {
        self.last_answer = self.last_answer.max(at.0);
        if let [ANSWERED | UNANSWERED | b'Q' | b'U' | b'X', ..] = note {
            return self.follow_held(at, note);
        }
        if let [b'M' | b'F' | b'L', b' ', ..] = note {
            return self
                .follow_remembered(note)
                .unwrap_or(Err(NoteError::NotOurs));
        }
        self.follow(at, note).unwrap_or(Err(NoteError::NotOurs))
    }

    fn follow(&mut self, at: Timestamp, note: &[u8]) -> Option<Result<(), NoteError>> {
        let head = note.iter().position(|byte| *byte == SOH);
        let (head, fields) = note.split_at(head.unwrap_or(note.len()));
        let (what, rest) = word(core::str::from_utf8(head).ok()?);
        match what {
            "C" => {
                let limits = limits(rest, self.limits.hash_key)?;
                self.noted = Some(limits);
                return Some(self.apply_limits(limits));
            }
            "A" => {
                self.last_answer = self.last_answer.max(rest.parse().ok()?);
                return Some(Ok(()));
            }
            "S" => {
                let (number, rest) = word(rest);
                let (ids, name) = word(rest);
                let ids = match ids {
                    "-" => None,
                    ids => Some(rewriting(ids)?),
                };
                return Some(self.introduce(number.parse().ok()?, ids, name));
            }
            _ => {}
        }
        let (client, rest) = match what {
            "O" => word(rest),
            _ => ("0", rest),
        };
        let (venue, msg_type) = word(rest);
        let (client, venue): (u32, u32) = (client.parse().ok()?, venue.parse().ok()?);
        if client.max(venue) as usize >= self.known.len() {
            return Some(Err(NoteError::UnknownSession));
        }
        let (client, venue) = (SessionId(client), SessionId(venue));
        self.fill(msg_type.as_bytes(), fields)?;
        match what {
            // An error is the same as it was then.
            "O" => drop(self.orders.outbound(at, client, venue, &mut self.draft)),
            "I" => drop(self.orders.heard(at, venue, &self.draft)),
            "R" => drop(self.orders.refused(venue, &mut self.draft)),
            "J" => drop(self.orders.rejected(venue, &mut self.draft)),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Fills the draft from the fields of a note.
    fn fill(&mut self, msg_type: &[u8], fields: &[u8]) -> Option<()> {
        self.draft.begin(msg_type);
        let fields = fields.strip_prefix(&[SOH])?;
        for field in fields.split(|byte| *byte == SOH) {
            if field.is_empty() {
                continue;
            }
            let equals = field.iter().position(|byte| *byte == b'=')?;
            let tag = core::str::from_utf8(&field[..equals]).ok()?.parse().ok()?;
            self.draft.push(tag, &field[equals + 1..]);
        }
        Some(())
    }
}

impl From<BodyError> for Trouble {
    fn from(error: BodyError) -> Self {
        Self::NotWritten(error)
    }
}
