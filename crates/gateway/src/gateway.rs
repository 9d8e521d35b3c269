//! [`Gateway`]: an [`Application`] of the engine that handles each message by its rules.
//!
//! ```text
//! Message > loop check > orders track responses > rules > send    ids > conversion > outbox
//!                                                         return  own ids > conversion > outbox
//!                                                         copy    conversion > outbox
//!         no session got it > the source receives a reject (8, 9, j or 3)
//! ```
//!
//! [`Gateway::load`] loads a gateway from the text of a file, [`Gateway::reload`] replaces its rules;
//! `docs/reference/gateway.md` describes the file and the handling of a message. The gateway stores changes of orders
//! with [`Outbox::note`], and `on_note` restores them. The listener that `load` was given receives [`GatewayEvent`]s
//! on the engine's thread. [`Gateway::counters`], [`matched`](Gateway::matched), [`counted`](Gateway::counted),
//! [`losses`](Gateway::losses), [`held`](Gateway::held), [`remembered`](Gateway::remembered) and
//! [`orders`](Gateway::orders) report the gateway's state.
//!
//! [`Outbox::note`]: fixwire_protocol::Outbox::note

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{
    Application, Decoder, DiskRoom, Ledger, Message, Mono, Nanos, Now, Outbox, Parting, PeerLogout,
    Refusal, SessionId, Timestamp, tag,
};

use crate::convert::{Conversion, Losses};
use crate::orders::OrderTracker;
use crate::rules::{RuleError, RuleScratch, RuleTrigger, Rules};

mod answer;
mod context;
mod conversion_files;
mod conversions;
mod event;
mod happen;
mod held;
mod load;
mod memory;
mod notes;
mod options;
mod passage;
mod queues;
mod raised;
mod refused_message;
mod rejected;
mod reload;
mod remarks;
mod rounds;
mod shares;
mod status;
#[cfg(test)]
mod tests;
mod work;

pub use context::{GatewayContext, GatewaySession, Listener};
pub use conversion_files::conversion_files;
pub use event::{GatewayCounters, GatewayEvent, GatewayLimit, NoteError, Trouble};
pub use held::Waiting;
pub use memory::Remembered;
pub use notes::note_text;
pub use reload::{NotReloaded, Reload};
pub use remarks::Remark;

use conversions::Conversions;
use notes::Notes;
use options::Away;
use raised::Raised;
use refused_message::RefusedMessage;
use rounds::Rounds;
use work::Work;

/// An application that routes, transforms and converts messages, and returns responses to clients, by the rules of a
/// file.
pub struct Gateway {
    rules: Rules,
    scratch: RuleScratch,
    /// For each session, whether it is logged on.
    active: Vec<bool>,
    /// For each session, whether its trading session is open.
    open: Vec<bool>,
    core: Core,
    /// Index of the queue of held messages that is served first.
    first_queue: usize,
    /// Buffer for the record of a held message.
    record: Vec<u8>,
    decoder: Decoder,
    remarks: Vec<Remark>,
}

/// The state with which the outcomes of rules are carried out.
struct Core {
    sessions: Vec<Session>,
    notes: Notes,
    conversions: Conversions,
    reject_unmatched: bool,
    /// Whether the journal runs on its reserve of disk space. If so, messages that open orders are rejected.
    on_reserve: bool,
    counters: GatewayCounters,
    /// The counters that rules name.
    counted: Vec<u64>,
    /// The text of a reject.
    text: Vec<u8>,
    /// The client's own ClOrdID of a message that a venue refused.
    own_id: Vec<u8>,
    /// The message that a BusinessMessageReject(j) refers to by RefSeqNum(45).
    refused: RefusedMessage,
    /// The failures of the current message.
    raised: Raised,
    /// The values that `remember` stored for the order that the current message answers.
    recalled: Vec<u8>,
    /// Messages that were sent to sessions that may send them back (routing loops).
    rounds: Rounds,
    /// The queues of held messages need no work before this time.
    held_due: Mono,
    listener: Listener,
}

struct Session {
    dictionary: Arc<Dictionary>,
    version: Version,
    away: Away,
    time_to_live: Option<Nanos>,
    follows: bool,
    resets: bool,
    /// Whether rules send copies to the session; ids of copies are not tracked.
    gets_copies: bool,
    /// Whether rules forward the session's messages.
    sends: bool,
    /// Whether rules send messages to the session.
    is_sent: bool,
    /// Whether rules both forward the session's messages and send messages to the session, so that a message may come
    /// back.
    reflects: bool,
}

impl Gateway {
    /// Loads a gateway from a TOML file: rules, groups, tables and options. The engine reads the sessions of the same
    /// file; they are passed in the context.
    ///
    /// # Errors
    ///
    /// Every error with its line, column and a hint.
    pub fn load(
        text: &str,
        context: &GatewayContext<'_>,
        listener: Listener,
    ) -> Result<Self, Vec<RuleError>> {
        load::load(text, context, listener)
    }

    /// The counters.
    #[must_use]
    pub fn counters(&self) -> GatewayCounters {
        self.core.counters
    }

    /// Remarks on effects of the file that its author may not have intended.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Number of messages that each rule matched, in the order of the rules.
    #[must_use]
    pub fn matched(&self) -> &[u64] {
        self.scratch.matched()
    }

    /// The counters named in rules, with their counts.
    pub fn counted(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.rules.counters().iter().map(String::as_str);
        names.zip(self.core.counted.iter().copied())
    }

    /// The fields lost in conversions, for each pair of versions.
    pub fn losses(&self) -> impl Iterator<Item = (Version, Version, &Losses)> {
        self.core.conversions.losses()
    }

    /// The conversion between two versions; `None` when no rule needs it.
    #[must_use]
    pub fn conversion(&self, from: Version, to: Version) -> Option<&Conversion> {
        self.core.conversions.find(from, to)
    }

    /// The order tracker. Session numbers in the notes are the gateway's own, not the engine's.
    #[must_use]
    pub fn orders(&self) -> &OrderTracker {
        self.core.notes.orders()
    }

    /// The values remembered for orders.
    #[must_use]
    pub fn remembered(&self) -> Remembered {
        self.core.notes.memory.counts()
    }

    /// Why a session refuses a FIXT Logon: its DefaultApplVerID(1137) is not the version of the session's messages, to
    /// which the gateway converts. `None` for other Logons.
    fn other_version(&self, session: SessionId, logon: &Message<'_>) -> Option<String> {
        let named = logon.get(tag::DEFAULT_APPL_VER_ID)?;
        let version = self.core.sessions.get(session.0 as usize)?.version;
        let own = version.appl_ver_id()?;
        // FIX 5.0 SP2 stands in for FIX Latest.
        let is_latest = version == Version::Fix50Sp2 && named == b"10";
        let is_other = named != own.as_bytes() && !is_latest;
        is_other.then(|| {
            let version = version.name();
            format!(
                "DefaultApplVerID(1137) must be {own}: the messages of this session are {version}"
            )
        })
    }

    fn set_active(&mut self, session: SessionId, active: bool) {
        if let Some(known) = self.active.get_mut(session.0 as usize) {
            *known = active;
        }
        self.core.held_due = Mono(0);
    }
}

impl Application for Gateway {
    /// Why the gateway owns the session: because the session is a venue, to which the gateway sends clients' orders
    /// and whose responses it returns to the clients. `None` for other sessions.
    fn owns(&self, session: SessionId, _msg_type: &[u8]) -> Option<&'static str> {
        let found = self.core.sessions.get(session.0 as usize)?;
        found.is_sent.then_some("a target of the gateway's rules")
    }

    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.core.counters.received += 1;
        if from.0 as usize >= self.core.sessions.len() {
            return Err(Refusal::NotAuthorized);
        }
        let mut work = Work::new(
            &mut self.core,
            &self.rules,
            (&self.active, &self.open),
            now,
            from,
            message,
            outbox,
        );
        work.run(&mut self.scratch)
    }

    fn on_logon_request(
        &mut self,
        now: Now,
        session: SessionId,
        logon: &Message<'_>,
    ) -> Result<(), String> {
        if let Some(why) = self.other_version(session, logon) {
            return Err(why);
        }
        let rejected = self.happened(RuleTrigger::LogonRequest, now, session, Some(logon));
        rejected.map_or(Ok(()), Err)
    }

    fn on_logon(&mut self, now: Now, session: SessionId, logon: &Message<'_>, outbox: &mut Outbox) {
        self.set_active(session, true);
        self.core.notes.set_time(now.wall);
        // If the outbox has no room for the note now, the note is written with the first message.
        if let Ok(Err(error)) = self.core.notes.begin(outbox) {
            (self.core.listener)(GatewayEvent::Note(error));
        }
        // An `[[on]]` entry can reject a logon request, but not a completed logon, so the result is ignored.
        let _ = self.happened(RuleTrigger::Logon, now, session, Some(logon));
    }

    fn on_logout(&mut self, now: Now, session: SessionId, logout: PeerLogout<'_>) {
        self.set_active(session, false);
        let _ = self.happened(RuleTrigger::Logout, now, session, logout.message());
    }

    fn on_disconnect(
        &mut self,
        now: Now,
        session: SessionId,
        _parting: Parting,
        logout: PeerLogout<'_>,
        _outbox: &mut Outbox,
    ) {
        self.set_active(session, false);
        let _ = self.happened(RuleTrigger::Disconnect, now, session, logout.message());
    }

    fn on_reject(
        &mut self,
        now: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        self.rejected(now, session, reject, refused, outbox);
    }

    fn on_business_reject(
        &mut self,
        now: Now,
        from: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.business_rejected(from, reject, refused);
        let done = self.on_message(now, from, reject, outbox);
        self.answer_unreturned(now, from, reject, refused, outbox);
        self.core.refused.clear();
        done
    }

    fn on_reject_sent(
        &mut self,
        now: Now,
        session: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.happened_to(RuleTrigger::RejectSent, now, session, message, outbox);
    }

    /// False: after a panic the orders in memory may have changes that no note in the journal has.
    fn survives_panics(&self) -> bool {
        false
    }

    /// While disk space is short, rejects messages that open orders, so that cancels still have room in the journal.
    fn on_disk(&mut self, _now: Now, room: DiskRoom) {
        self.core.on_reserve = room == DiskRoom::Reserve;
    }

    fn on_hours(&mut self, _now: Now, session: SessionId, open: bool) {
        if let Some(known) = self.open.get_mut(session.0 as usize) {
            *known = open;
        }
        self.core.held_due = Mono(0);
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        if self.core.notes.queues.is_empty() {
            return None;
        }
        match self.core.held_due {
            due if now.mono < due => Some(due),
            _ => Some(self.serve_held(now, outbox)),
        }
    }

    fn on_note(&mut self, at: Timestamp, note: &[u8]) {
        if let Err(error) = self.core.notes.replay(at, note) {
            (self.core.listener)(GatewayEvent::Note(error));
        }
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        Some(Box::new(self.core.notes.anew().ok()?))
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.core.notes.read(version, state)?;
        self.core.held_due = Mono(0);
        Ok(())
    }

    fn state_hash(&self) -> Option<u64> {
        Some(self.core.notes.hash())
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("rules", &self.rules.len())
            .field("active", &self.active)
            .field("counters", &self.core.counters)
            .finish_non_exhaustive()
    }
}
