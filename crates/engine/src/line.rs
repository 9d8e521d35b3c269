//! What the engine keeps of a session beside the session itself.

pub(crate) mod dialler;
pub(crate) mod flow;
pub(crate) mod hours;
pub(crate) mod resending;
pub(crate) mod trail;

use std::net::IpAddr;

use fixwire_protocol::session::{Exchange, Phase, is_admin};
use fixwire_protocol::{Mono, Session};

use crate::canary::{self, Fault};
use crate::config::SessionConfig;
use crate::counters::{Counters, SessionState};
use crate::event::{Ending, PeerText};
use crate::host::{ConnId, SocketOptions};
use crate::journal::JournalId;
use crate::release::{Gate, Output};
use dialler::{Dialler, State};
use flow::{Inbound, Pacer};
use hours::Hours;
use resending::{Resending, Resent};
use trail::Trail;

/// One session's connection, and what waits for it.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) journal: JournalId,
    pub(crate) conn: Option<ConnId>,
    pub(crate) output: Output,
    pub(crate) resending: Option<Resending>,
    pub(crate) options: SocketOptions,
    pub(crate) validate_checksum: bool,
    /// The application knows that the session is logged on.
    pub(crate) logged_on: bool,
    /// The session ended before this flush: what was committed until then still leaves, its Logout
    /// last.
    pub(crate) ended_before: Option<u64>,
    /// The session has ended, and its last messages wait for the socket.
    pub(crate) leaving: Option<Leaving>,
    /// A panic of the application is answered instead of ending the process.
    pub(crate) answer_panics: bool,
    /// Messages that the last connection did not take, and those numbered since it ended.
    pub(crate) waiting: u64,
    /// Stands in [`Core::busy`](crate::commit::Core).
    pub(crate) is_busy: bool,
    /// Its schedule, if it has one.
    pub(crate) hours: Option<Box<Hours>>,
    /// No period of its schedule runs: what is written for it now would be lost when the next begins.
    pub(crate) shut: bool,
    /// It is no session any more; its place is kept for its return.
    pub(crate) removed: bool,
    /// Where the peer of an acceptor has connected from.
    pub(crate) peer: Option<IpAddr>,
    pub(crate) throttle: Option<Inbound>,
    pub(crate) pacer: Option<Pacer>,
    pub(crate) trail: Trail,
    /// The last number, in this epoch, of which the peer's Rejects have told.
    pub(crate) rejected: (u64, u64),
    /// When something of throttle, pacer or a stalled peer is due.
    pub(crate) wake: Mono,
    /// What the application has said of the Logon that is about to be received.
    pub(crate) asked_ahead: Option<Result<(), String>>,
    /// The operator was told that the peer reads slowly.
    pub(crate) is_slow: bool,
    pub(crate) counters: Counters,
    /// What was last said about the end of this connection, see
    /// [`Event::Disconnected`](crate::Event::Disconnected).
    pub(crate) detail: PeerText,
    /// The open gap that the operator knows of: first and last missing MsgSeqNum.
    pub(crate) gap: Option<(u64, u64)>,
    /// The resend that runs.
    pub(crate) resent: Option<Resent>,
}

/// A planted fault: whether what is about to be written before this flush is not synced.
#[inline(always)]
pub(crate) fn leaves_out_sync(lines: &[Line], flush: u64) -> bool {
    let mut lines = lines.iter();
    canary::is(Fault::SkipSync)
        || canary::is(Fault::SkipBacklogSync) && lines.any(|line| line.output.has_backlog())
        || canary::is(Fault::SkipFarewellSync) && lines.any(|line| line.ended_before == Some(flush))
}

impl Line {
    /// A planted fault: whether this message must not leave because of what happens to this session.
    #[inline(always)]
    pub(crate) fn withholds(&self, msg_type: &[u8]) -> bool {
        canary::is(Fault::SkipResend) && msg_type == b"2" && self.counters.connections > 1
            || canary::is(Fault::SkipHeartbeat) && msg_type == b"0"
            || canary::is(Fault::LoseMessage)
                && !is_admin(msg_type)
                && self.counters.delivered % 100 == 99
    }

    /// Nobody is there, and nobody will be in this period.
    #[inline]
    pub(crate) fn is_out_of_hours(&self) -> bool {
        self.shut && self.conn.is_none()
    }

    /// A session without a connection, which may take `trail` bytes of log an hour; `room` is the most bytes
    /// that one flush leaves for it.
    pub(crate) fn new(config: &SessionConfig, journal: JournalId, room: usize, trail: u32) -> Self {
        Self {
            name: config.name.clone(),
            journal,
            conn: None,
            output: Output::new(room),
            resending: None,
            options: SocketOptions {
                nodelay: config.nodelay,
                send_buffer: config.send_buffer,
                receive_buffer: config.receive_buffer,
                keep_alive: config.transport.keep_alive,
                oob_inline: config.transport.oob_inline,
                linger: config.transport.linger,
                traffic_class: config.transport.traffic_class,
            },
            validate_checksum: config.validate_checksum,
            logged_on: false,
            ended_before: None,
            leaving: None,
            answer_panics: config.answer_panics,
            waiting: 0,
            is_busy: false,
            hours: config
                .schedule
                .clone()
                .map(|schedule| Box::new(Hours::new(schedule))),
            shut: false,
            removed: false,
            peer: None,
            throttle: config.flow.inbound.map(Inbound::new),
            pacer: config.flow.outbound.map(Pacer::new),
            trail: Trail::new(trail),
            rejected: (0, 0),
            asked_ahead: None,
            wake: Mono::NEVER,
            is_slow: false,
            counters: Counters::default(),
            detail: PeerText::default(),
            gap: None,
            resent: None,
        }
    }

    /// How far its session is from being logged on.
    pub(crate) fn state(&self, session: &Session, dialler: Option<&Dialler>) -> SessionState {
        let dials = dialler.is_some_and(|it| matches!(it.state(), State::Dialling(..)));
        let is_closed = self.hours.as_ref().is_some_and(|hours| hours.is_closed());
        match session.phase() {
            _ if self.removed => SessionState::Removed,
            Phase::LoggedOn(up) => match up.exchange {
                Exchange::Logout { .. } => SessionState::LoggingOut,
                _ => SessionState::LoggedOn,
            },
            Phase::Refusing { .. } => SessionState::LoggingOut,
            _ if self.conn.is_some() => SessionState::Connected,
            _ if is_closed => SessionState::Closed,
            _ if dials => SessionState::Connecting,
            _ => SessionState::Disconnected,
        }
    }

    /// What of it may be written now: everything that was committed before it ended.
    pub(crate) fn gate(&self, session: &Session) -> Gate {
        match self.leaving {
            Some(_) => Gate::Open,
            None => gate(session),
        }
    }
}

/// A connection that is closed as soon as the socket has taken everything.
#[derive(Clone, Copy)]
pub(crate) struct Leaving {
    pub(crate) why: Ending,
    /// When it is closed anyway.
    pub(crate) until: Mono,
}

/// What of a session may be written now.
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
