//! The orders, and the journal notes that restore them.
//!
//! A [note](note::GatewayNote) is written before each change, and nothing changes without a note. A replay of the notes
//! therefore gives the same state. For a message of a tracked order, the note has the fields that the call of
//! [`OrderTracker`] reads.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_ledger::Bytes;
use fixwire_protocol::{BodyError, Message, Outbox, SessionId, Tag, Timestamp, tag};

use super::event::{GatewayLimit, NoteError, Trouble};
use super::memory::Memory;
use super::queues::Queues;
use super::shares::{Most, Shares};
use crate::Draft;
use crate::orders::known::{asks, begins_orders, names_orders, reads_inbound, reads_outbound};
use crate::orders::{
    HeldAt, OrderTracker, OrdersConfig, OrdersError, Out, ReportAddressee, Rewriting,
};

mod checkpoint;
mod held;
pub(super) mod note;
mod remembered;

pub(super) use held::{ANSWERED, Holding, UNANSWERED, came_at, held, row, target};
pub(super) use note::HeldMessage;
use note::{GatewayNote, OrderNote, SetupNote, put_draft, take_draft};
pub(super) use remembered::Order;

/// The maximum number of sessions during the life of a journal; sessions that were removed count too.
pub(super) const MAX_SESSIONS: usize = 10_000;

/// Maximum number of ids in memory.
pub(super) const MAX_ORDERS: u32 = 1 << 24;

/// A session that notes have introduced.
pub(super) struct Known {
    pub(super) name: String,
    /// Index of the session in the file; `None` when the session was removed.
    pub(super) place: Option<usize>,
    /// The form of ids for the session, according to the last note about it.
    pub(super) ids: Option<Rewriting>,
    /// The client's share of `max_remembered`, according to the last note about it.
    pub(super) own: Option<u64>,
}

/// The orders, and what is needed to write and replay their notes.
pub(super) struct Notes {
    pub(super) orders: OrderTracker,
    /// The configuration in the file.
    pub(super) limits: OrdersConfig,
    /// The limits in the last note about limits.
    pub(super) noted: Option<OrdersConfig>,
    /// Whether this process has written notes.
    pub(super) begun: bool,
    /// The sessions that notes have introduced, by number.
    pub(super) known: Vec<Known>,
    /// The sessions of the file, in its order: name, form of ids, and number. A session has no number before the
    /// first note about it.
    pub(super) sessions: Vec<(String, Option<Rewriting>, Option<u32>)>,
    /// Messages held for sessions that are not logged on, by number of the target session.
    pub queues: Queues,
    /// The values remembered for orders.
    pub memory: Memory,
    /// The shares of each client: orders, and memory for held messages.
    pub order_shares: Shares,
    pub held_shares: Shares,
    pub memory_shares: Shares,
    /// Bytes of the held messages of each client, by the client's number.
    pub(super) held_of: Vec<u64>,
    pub(super) held_of_all: u64,
    /// An event about a limit that is not reported yet, with the limit's key in the file.
    pub(super) most: Option<(&'static str, Most)>,
    /// The number of the last message that the gateway made itself. Each note sets this number to the time of the
    /// note, if the time is greater.
    pub(super) last_answer: i64,
    /// Time of the change that the current note records.
    pub(super) now: Timestamp,
    /// Target and position of the last held message whose source must receive a reject if it cannot be delivered.
    pub(super) last_held: Option<(u32, HeldAt)>,
    /// The fields of the message in the current note.
    pub(super) draft: Draft,
    /// For each field of the current note that was picked from a message: its index in the message.
    pub(super) picked: Vec<usize>,
    pub(super) text: Vec<u8>,
    /// The rest of a note's text, after its head.
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

    /// Notes without any orders, with the same limits and sessions.
    pub fn anew(&self) -> Result<Self, OrdersError> {
        Ok(self.beside(OrderTracker::new(self.limits)?))
    }

    /// Notes with the same limits and sessions, but with these orders.
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
            picked: Vec::with_capacity(16),
            text: Vec::with_capacity(512),
            parts: Vec::new(),
        }
    }

    /// Sets the time of the notes that follow.
    pub fn set_time(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Writes a note and applies it.
    fn keep(
        &mut self,
        note: GatewayNote<'_>,
        outbox: &mut Outbox,
    ) -> Result<Result<(), NoteError>, Trouble> {
        self.text.clear();
        note.put(&mut self.text);
        self.write(outbox)?;
        Ok(self.apply(self.now, note))
    }

    /// Writes the text as a note.
    fn write(&mut self, outbox: &mut Outbox) -> Result<(), Trouble> {
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

    /// The memory limits for held messages and for remembered values, in bytes.
    pub fn room(&self) -> (u64, u64) {
        (self.held_shares.max(), self.memory.max_bytes())
    }

    /// The names of the sessions of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(|(name, ..)| name.as_str())
    }

    /// Sets the form of ids of each session from now on, by index in the file.
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

    /// Writes a note of the limits if they have changed. The note is written once, after a restart with a changed file.
    /// Where the orders exceed the file's limits, the present limits stay in force; the inner error reports this once.
    pub fn begin(&mut self, outbox: &mut Outbox) -> Result<Result<(), NoteError>, Trouble> {
        if self.begun {
            return Ok(Ok(()));
        }
        let (limits, kept) = self.orders.fitting(self.limits);
        let is_other = self.noted != Some(limits) || *self.orders.config() != limits;
        let applied = match is_other {
            true => self.keep(GatewayNote::Setup(SetupNote::Limits { limits }), outbox)?,
            false => Ok(()),
        };
        self.begun = true;
        Ok(match kept {
            Some(kept) => applied.and(Err(NoteError::KeptLimits(kept))),
            None => applied,
        })
    }

    fn apply_limits(&mut self, limits: OrdersConfig) -> Result<(), NoteError> {
        if limits == *self.orders.config() {
            return Ok(());
        }
        self.orders.reconfigure(limits).map_err(NoteError::Limits)?;
        // A form of ids that is longer has ended. The session gets its present form with its next message.
        for known in &mut self.known {
            known.ids = known.ids.filter(|ids| ids.max_len() <= limits.max_id);
        }
        self.find_held();
        Ok(())
    }

    /// The number of a session. Writes a note if the session is new or has another form of ids.
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
        let (name, ids) = (name.clone(), *ids);
        let note = SetupNote::Session {
            session: number,
            ids,
            name: &name,
        };
        // If this call fails, it fails in the same way when the note is replayed.
        let _ = self.keep(GatewayNote::Setup(note), outbox)?;
        Ok(SessionId(number))
    }

    /// Adds a session to those that notes have introduced, and gives it the next number.
    fn know(&mut self, name: &str, ids: Option<Rewriting>, own: Option<u64>) {
        let mut sessions = self.sessions.iter();
        let place = sessions.position(|(known, ..)| known == name);
        if let Some(place) = place {
            self.sessions[place].2 = Some(self.known.len() as u32);
        }
        self.known.push(Known {
            name: name.into(),
            place,
            ids,
            own,
        });
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
            None if at == count && at < MAX_SESSIONS => self.know(name, ids, None),
            _ => return Err(NoteError::UnknownSession),
        }
        if self.orders.rewriting(SessionId(number)) != ids {
            let set = self.orders.set_venue(SessionId(number), ids);
            set.map_err(|_| NoteError::NotOurs)?;
        }
        Ok(())
    }

    /// A unique number for a message that the gateway makes itself: the time, or the last number plus one if that is
    /// greater. Each note counts like a message of the gateway at the note's time. The number is therefore the same
    /// after a restart, even if the journal has no notes of such messages.
    pub fn answer_number(&mut self, now: Timestamp, outbox: &mut Outbox) -> Result<i64, Trouble> {
        let number = now.0.max(self.last_answer.saturating_add(1));
        let note = GatewayNote::Setup(SetupNote::Answer { number });
        let _ = self.keep(note, outbox)?;
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
        self.pick(draft);
        let by = client.0;
        self.note(
            venue,
            |venue, message| OrderNote::Outbound {
                client: by,
                venue,
                message,
            },
            outbox,
        )?;
        let out = self.orders.outbound(at, client, venue, &mut self.draft);
        self.put_back(draft);
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
        // A cancel frees room in the end, and orders that may be forgotten free room too. When all ids are used,
        // `OrderTracker` refuses the message itself.
        let is_cancel = matches!(draft.msg_type(), b"F" | b"K" | b"u");
        let is_full = total >= self.order_shares.max();
        let begins = begins_orders(draft.msg_type()) && !is_cancel;
        if begins && has >= may && !is_full && !self.orders.has_quiet(now) {
            return Err(Trouble::Limit(GatewayLimit::OrdersOfClient(may)));
        }
        Ok(())
    }

    /// Takes the event about a limit, if one is due: the limit's key, and the client that has used its share or that
    /// uses most.
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

    /// A held message was not delivered. `known` has the fields of the message that the order tracker reads.
    pub fn not_delivered(
        &mut self,
        venue: SessionId,
        known: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        match take_draft(known, &mut self.draft) {
            Some(()) => self.end(venue, outbox),
            None => Ok(()),
        }
    }

    fn end(&mut self, venue: SessionId, outbox: &mut Outbox) -> Result<(), Trouble> {
        self.note(
            venue,
            |venue, message| OrderNote::Refused { venue, message },
            outbox,
        )?;
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
        self.draft
            .load_some(message, reads_inbound(message.msg_type()));
        self.note(
            venue,
            |venue, message| OrderNote::Inbound { venue, message },
            outbox,
        )?;
        Ok(self.orders.heard(at, venue, &self.draft))
    }

    /// A venue refused the message of this type and id, as [`OrderTracker::refused`]; `is_resend` if the message had
    /// PossResend(97)=Y. Returns the client and the client's own id.
    pub fn refused(
        &mut self,
        venue: usize,
        (msg_type, is_resend): (&[u8], bool),
        (tag, id): (Tag, &[u8]),
        outbox: &mut Outbox,
    ) -> Result<Option<(SessionId, &[u8])>, Trouble> {
        let venue = self.introduced(venue, outbox)?;
        self.draft.begin(msg_type);
        self.draft.push(tag, id);
        if is_resend {
            self.draft.push(tag::POSS_RESEND, b"Y");
        }
        self.note(
            venue,
            |venue, message| OrderNote::Refused { venue, message },
            outbox,
        )?;
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
        self.pick(draft);
        self.note(
            venue,
            |venue, message| OrderNote::Rejected { venue, message },
            outbox,
        )?;
        let client = self.orders.rejected(venue, &mut self.draft);
        self.put_back(draft);
        Ok(client)
    }

    /// Copies the fields of a message to a venue that orders read. [`OrderTracker`] then handles the copy, as it will
    /// when the note is replayed.
    fn pick(&mut self, draft: &Draft) {
        let reads = reads_outbound(draft.msg_type());
        self.draft.begin(draft.msg_type());
        self.picked.clear();
        for at in 0..draft.len() {
            if reads(draft.tag(at)) {
                self.draft.push(draft.tag(at), draft.value(at));
                self.picked.push(at);
            }
        }
    }

    /// Writes the copied fields back into the message from which they were picked, if they have changed.
    fn put_back(&self, draft: &mut Draft) {
        for (from, to) in self.picked.iter().enumerate() {
            draft.change_at(*to, self.draft.value(from));
        }
    }

    /// Writes the note of a message, whose fields the draft has; the caller applies it.
    fn note(
        &mut self,
        venue: SessionId,
        note: impl FnOnce(u32, Bytes<'_>) -> OrderNote<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        self.parts.clear();
        put_draft(&mut self.parts, &mut self.draft);
        self.text.clear();
        GatewayNote::Order(note(venue.0, Bytes(&self.parts))).put(&mut self.text);
        self.write(outbox)
    }

    /// Applies a note. `at` is the time at which the note was written.
    pub fn replay(&mut self, at: Timestamp, note: &[u8]) -> Result<(), NoteError> {
        self.last_answer = self.last_answer.max(at.0);
        self.apply(at, GatewayNote::of(note).ok_or(NoteError::NotOurs)?)
    }

    fn apply(&mut self, at: Timestamp, note: GatewayNote<'_>) -> Result<(), NoteError> {
        match note {
            GatewayNote::Setup(note) => self.apply_setup(note),
            GatewayNote::Order(note) => self.apply_order(at, note),
            GatewayNote::Held(note) => self.apply_held(at, note),
            GatewayNote::Remembered(note) => self.apply_remembered(note),
        }
    }

    fn apply_setup(&mut self, note: SetupNote<'_>) -> Result<(), NoteError> {
        match note {
            SetupNote::Limits { limits } => {
                let limits = self.with_key(limits).ok_or(NoteError::NotOurs)?;
                self.noted = Some(limits);
                self.apply_limits(limits)
            }
            SetupNote::Session { session, ids, name } => self.introduce(session, ids, name),
            SetupNote::Share { client, bytes } => {
                let known = self.known.get_mut(client as usize);
                known.ok_or(NoteError::UnknownSession)?.own = bytes;
                Ok(())
            }
            SetupNote::Answer { number } => {
                self.last_answer = self.last_answer.max(number);
                Ok(())
            }
        }
    }

    /// Repeats the call of [`OrderTracker`] that a note records.
    fn apply_order(&mut self, at: Timestamp, note: OrderNote<'_>) -> Result<(), NoteError> {
        let (OrderNote::Outbound { venue, message, .. }
        | OrderNote::Inbound { venue, message }
        | OrderNote::Refused { venue, message }
        | OrderNote::Rejected { venue, message }) = note;
        let venue = self.introduced_as(venue)?;
        take_draft(message.0, &mut self.draft).ok_or(NoteError::NotOurs)?;
        match note {
            OrderNote::Outbound { client, .. } => {
                let client = self.introduced_as(client)?;
                // If the original call failed, this call fails in the same way, so the result is ignored.
                let _ = self.orders.outbound(at, client, venue, &mut self.draft);
            }
            OrderNote::Inbound { .. } => drop(self.orders.heard(at, venue, &self.draft)),
            OrderNote::Refused { .. } => drop(self.orders.refused(venue, &mut self.draft)),
            OrderNote::Rejected { .. } => drop(self.orders.rejected(venue, &mut self.draft)),
        }
        Ok(())
    }

    /// The session with this number.
    fn introduced_as(&self, number: u32) -> Result<SessionId, NoteError> {
        let is_known = (number as usize) < self.known.len();
        is_known
            .then_some(SessionId(number))
            .ok_or(NoteError::UnknownSession)
    }

    /// Limits from a journal, with the hash key of this process. `None` when the limits exceed what a file may set.
    fn with_key(&self, limits: OrdersConfig) -> Option<OrdersConfig> {
        let may_be =
            limits.max_orders <= MAX_ORDERS && limits.max_sessions as usize <= MAX_SESSIONS;
        may_be.then_some(OrdersConfig {
            hash_key: self.limits.hash_key,
            ..limits
        })
    }
}

/// A gateway's note as text for people: the name of the note and its fields. Fields of messages end with SOH. `None`
/// when the note was not written by a gateway.
#[must_use]
pub fn note_text(note: &[u8]) -> Option<String> {
    GatewayNote::of(note).map(|note| note.to_string())
}

impl From<BodyError> for Trouble {
    fn from(error: BodyError) -> Self {
        Self::NotWritten(error)
    }
}
