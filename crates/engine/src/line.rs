//! One session: its state, its settings, its connection, and the messages that wait for the connection.

pub(crate) mod dialler;
pub(crate) mod flow;
pub(crate) mod hours;
pub(crate) mod link;
pub(crate) mod output;
mod rejected_numbers;
pub(crate) mod resending;
pub(crate) mod trail;

use rejected_numbers::RejectedNumbers;

use std::ops::Range;
use std::sync::mpsc::Sender;

use fixwire_protocol::session::{PendingReply, Phase, is_admin};
use fixwire_protocol::{Mono, MsgSeqNumSource, Outbox, Session};

use crate::canary::{self, PlantedFault};
use crate::config::SessionConfig;
use crate::counters::{Counters, SessionState, SessionStatus};
use crate::event::PeerText;
use crate::host::{ConnId, SocketOptions};
use crate::journal::JournalId;
use crate::operation::{OperationError, Operator};
use dialler::{Dialler, State};
use flow::{Inbound, Pacer};
use hours::Hours;
use link::{Leaving, Link, Stage};
use output::{Gate, Output};
use resending::{Resending, Resent};
use trail::Trail;

/// One session, with everything except its receive buffer. Messages are decoded in place in that buffer while the
/// rest of the session changes.
pub(crate) struct Line {
    pub(crate) session: Session,
    pub(crate) config: SessionConfig,
    pub(crate) journal: JournalId,
    pub(crate) link: Option<Link>,
    /// Connects to the peer of an initiator; `None` for an acceptor.
    pub(crate) dialler: Option<Dialler>,
    pub(crate) output: Output,
    pub(crate) resending: Option<Resending>,
    /// The first MsgSeqNum that was sent on no connection. Such messages were left over by the last connection, or
    /// were committed after it ended. `None`: no message waits for a connection.
    pub(crate) unsent_from: Option<u64>,
    /// Our next MsgSeqNum when the connection began, before our Logon.
    pub(crate) began_at: u64,
    /// Whether the session is listed in [`Core::busy`](crate::commit::Core).
    pub(crate) is_busy: bool,
    /// The session schedule, if any.
    pub(crate) hours: Option<Box<Hours>>,
    pub(crate) presence: Presence,
    /// Whether an operator has disabled logons.
    pub(crate) disabled: bool,
    /// The sequence numbers to be set when the connection of the session has ended.
    pub(crate) numbers: Option<Box<Numbers>>,
    pub(crate) throttle: Option<Inbound>,
    pub(crate) pacer: Option<Pacer>,
    pub(crate) trail: Trail,
    /// The MsgSeqNums to which Rejects of the peer have referred.
    pub(crate) rejected: RejectedNumbers,
    /// Time at which the throttle, the rate limit or a stalled peer must be checked.
    pub(crate) wake: Mono,
    /// The application's answer to the Logon that is about to be handled; `None` when the application was not asked
    /// yet.
    pub(crate) asked_ahead: Option<Result<(), String>>,
    pub(crate) counters: Counters,
    /// The last text that explains the end of the connection, see
    /// [`Event::Disconnected`](crate::Event::Disconnected).
    pub(crate) detail: PeerText,
    /// The text of the peer's last Logout; `None` if the peer has sent none since the start.
    pub(crate) last_logout: Option<PeerText>,
    /// The text of the peer's Logout on this connection; empty before it arrives.
    pub(crate) logout: Vec<u8>,
    /// The open gap that was reported to the operator, if any: its first and its last MsgSeqNum.
    pub(crate) gap: Option<(u64, u64)>,
    /// The running resend, if any.
    pub(crate) resent: Option<Resent>,
    /// Whether an event has reported bytes of this connection that do not begin with `8=FIX`.
    pub(crate) has_junk: bool,
}

/// Sequence numbers that an operator has requested to set.
pub(crate) struct Numbers {
    pub(crate) next_in: Option<u64>,
    pub(crate) next_out: Option<u64>,
    pub(crate) by: Operator,
    pub(crate) answer: Sender<Result<(), OperationError>>,
    /// Whether an initiator logs on again afterwards.
    pub(crate) resumes: bool,
}

/// Whether a session exists.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Presence {
    There,
    /// The session was removed, but its connection has not ended yet.
    Removing,
    /// The session was removed. Its index and its sequence numbers are kept, in case it is added again.
    Removed,
}

/// A planted fault, for tests: whether the data to be written before this flush is not synced.
#[inline(always)]
pub(crate) fn leaves_out_sync(lines: &[Line], flush: u64) -> bool {
    let mut lines = lines.iter();
    canary::is(PlantedFault::SkipSync)
        || canary::is(PlantedFault::SkipBacklogSync) && lines.any(|line| line.output.has_backlog())
        || canary::is(PlantedFault::SkipFarewellSync) && lines.any(|line| line.ends_before(flush))
}

impl Line {
    /// A planted fault, for tests: whether this message must not be sent, because of what happened to the session.
    #[inline(always)]
    pub(crate) fn withholds(&self, msg_type: &[u8]) -> bool {
        canary::is(PlantedFault::SkipResend) && msg_type == b"2" && self.counters.connections > 1
            || canary::is(PlantedFault::SkipHeartbeat) && msg_type == b"0"
            || canary::is(PlantedFault::LoseMessage)
                && !is_admin(msg_type)
                && self.counters.delivered % 100 == 99
    }

    /// Whether the session is not connected and is outside its schedule.
    #[inline]
    pub(crate) fn is_out_of_hours(&self) -> bool {
        self.link.is_none() && self.hours.as_ref().is_some_and(|hours| hours.shut)
    }

    /// A session without a connection. It may use `trail` bytes of log an hour; `room` is the maximum size of one
    /// flush for the session, bytes.
    pub(crate) fn new(
        session: Session,
        config: SessionConfig,
        journal: JournalId,
        room: usize,
        trail: u32,
    ) -> Self {
        Self {
            session,
            journal,
            link: None,
            dialler: Dialler::of(&config),
            output: Output::new(room),
            resending: None,
            unsent_from: None,
            began_at: 1,
            is_busy: false,
            hours: config
                .schedule
                .clone()
                .map(|schedule| Box::new(Hours::new(schedule))),
            presence: Presence::There,
            disabled: false,
            numbers: None,
            throttle: config.flow.inbound.map(Inbound::new),
            pacer: config.flow.outbound.map(Pacer::new),
            trail: Trail::new(trail),
            rejected: RejectedNumbers::default(),
            asked_ahead: None,
            wake: Mono::NEVER,
            counters: Counters::default(),
            detail: PeerText::default(),
            last_logout: None,
            logout: Vec::new(),
            gap: None,
            resent: None,
            has_junk: false,
            config,
        }
    }

    /// The socket options of the session's connections.
    pub(crate) fn socket_options(&self) -> SocketOptions {
        let config = &self.config;
        SocketOptions {
            nodelay: config.nodelay,
            send_buffer: config.send_buffer,
            receive_buffer: config.receive_buffer,
            ..config.transport.socket_options()
        }
    }

    /// Records that messages with MsgSeqNums wait for the next logon. Returns whether they are the first messages
    /// that wait.
    #[cold]
    pub(crate) fn note_unsent(&mut self, outbox: &Outbox, run: Range<usize>) -> bool {
        let mut new = outbox.entries()[run].iter();
        let first =
            new.find(|entry| entry.number == MsgSeqNumSource::Next && !entry.is_discarded());
        let is_first = self.unsent_from.is_none();
        if let Some(entry) = first {
            self.unsent_from.get_or_insert(entry.seq);
        }
        is_first && first.is_some()
    }

    /// Keeps track of the unsent messages when the connection ends: they wait for the next connection.
    pub(crate) fn keep_unsent(&mut self) {
        self.unsent_from = self.first_unsent();
    }

    /// Takes the first MsgSeqNum that waits for a connection, if any. Afterwards no message counts as waiting.
    pub(crate) fn take_unsent_from(&mut self) -> Option<u64> {
        let first = self.first_unsent();
        self.unsent_from = None;
        first
    }

    /// The first MsgSeqNum that waits for a connection, if any.
    pub(crate) fn first_unsent(&self) -> Option<u64> {
        let both = [self.unsent_from, self.output.first_waiting()];
        both.into_iter().flatten().min()
    }

    /// The connection of the session, if any.
    #[inline]
    pub(crate) fn conn(&self) -> Option<ConnId> {
        self.link.map(|link| link.conn)
    }

    /// Whether the application was notified of a logon over this connection.
    #[inline]
    pub(crate) fn was_logged_on(&self) -> bool {
        self.link.is_some_and(|link| link.was_logged_on())
    }

    /// Whether the session is logged on over its connection.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        let link = self.link.as_ref();
        link.is_some_and(|link| matches!(link.stage, Stage::LoggedOn))
    }

    /// Whether the session ended before this flush.
    #[inline]
    pub(crate) fn ends_before(&self, flush: u64) -> bool {
        let link = self.link.as_ref();
        link.and_then(Link::ended_before) == Some(flush)
    }

    /// How the connection of a session that has ended waits for the socket to accept the last messages; otherwise
    /// `None`.
    #[inline]
    pub(crate) fn leaving(&self) -> Option<Leaving> {
        self.link.as_ref().and_then(Link::leaving)
    }

    /// Disables logons, or enables them again.
    pub(crate) fn disable(&mut self, disabled: bool) {
        self.disabled = disabled;
        self.session.disable(disabled);
        if let (true, Some(dialler)) = (disabled, &mut self.dialler) {
            dialler.off();
        }
    }

    /// Whether the session is an initiator that connects by itself: no command has logged it out.
    pub(crate) fn dials(&self) -> bool {
        let dialler = self.dialler.as_ref();
        dialler.is_some_and(|dialler| dialler.state() != State::Off)
    }

    /// Whether the session was removed.
    pub(crate) fn is_removed(&self) -> bool {
        self.presence != Presence::There
    }

    /// The state of the session, for operators and applications.
    pub(crate) fn status(&self) -> SessionStatus<'_> {
        SessionStatus {
            id: self.session.id(),
            name: &self.config.name,
            state: self.state(),
            removed: self.is_removed(),
            connected: self.link.is_some(),
            logged_on: self.session.is_logged_on(),
            next_in: self.session.next_in(),
            next_out: self.session.next_out(),
            waiting_bytes: self.output.lag(),
            last_logout: self.last_logout.as_ref(),
            counters: self.counters,
        }
    }

    /// The connection state of the session.
    pub(crate) fn state(&self) -> SessionState {
        let dialler = self.dialler.as_ref();
        let dials = dialler.is_some_and(Dialler::is_connecting);
        let is_closed = self.hours.as_ref().is_some_and(|hours| hours.is_closed());
        match self.session.phase() {
            _ if self.is_removed() => SessionState::Removed,
            Phase::LoggedOn(up) => match up.exchange {
                PendingReply::Logout { .. } => SessionState::LoggingOut,
                _ => SessionState::LoggedOn,
            },
            Phase::Refusing { .. } => SessionState::LoggingOut,
            _ if self.link.is_some() => SessionState::Connected,
            _ if self.disabled => SessionState::Disabled,
            _ if is_closed => SessionState::Closed,
            _ if dials => SessionState::Connecting,
            _ => SessionState::Disconnected,
        }
    }

    /// Which messages may be written now. For a session that has ended: everything that was committed before it
    /// ended.
    pub(crate) fn gate(&self) -> Gate {
        match self.leaving() {
            Some(_) => Gate::Open,
            None => gate(&self.session),
        }
    }
}

/// Which messages of a session may be written now.
#[inline]
pub(crate) fn gate(session: &Session) -> Gate {
    if !session.is_logged_on() {
        Gate::Admin
    } else if let Some(end) = session.replay_end() {
        Gate::Repeats(end)
    } else {
        Gate::Open
    }
}
