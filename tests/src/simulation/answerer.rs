//! The application above the engine of a world, and the engine's configuration.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fixwire::config::{Connection, Durability, EngineConfig, Limits, SessionConfig, Wait};
use fixwire::protocol::dictionary::{Dictionary, Version};
use fixwire::protocol::session::{self, ApplVerId, BeginString, Role};
use fixwire::protocol::{
    Application, Message, Mono, Nanos, Now, Outbox, Refusal, SessionId, Timestamp, tag,
};
use fixwire::schedule::{Days, Edge, Hours, Schedule, Time, TimeZone};

use super::check::{crosses, reports_wanted};
use super::peer::{ENGINE_PORT, Identity, Peer};
use crate::wire::value;

/// Bytes of a journal segment: small, so that a few messages fill one.
pub(super) const SEGMENT: usize = 28 << 10;

/// Answers each order with the number of reports in its quantity, notifies the other session of some orders, and sends
/// news on request.
#[derive(Default)]
pub(super) struct Answerer {
    pub(super) sessions: u32,
    pub(super) news: u64,
    pub(super) told: u64,
    pub(super) text: usize,
    pub(super) keeps_notes: bool,
    /// The orders that were handled, in this life and, by the application's notes, in earlier ones.
    pub(super) noted: Vec<Vec<u8>>,
}

impl Application for Answerer {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        let quantity = match message.uint(tag::ORDER_QTY) {
            Some(Ok(quantity)) => quantity,
            _ => return Err(Refusal::ConditionallyRequiredFieldMissing(tag::ORDER_QTY)),
        };
        if self.keeps_notes {
            self.noted.push(id.to_vec());
            let _ = outbox.note(&[b"11=", id, b"\x01"].concat());
        }
        if quantity == 4 {
            return Err(Refusal::NotAuthorized);
        }
        for part in 1..=reports_wanted(quantity) {
            let mut body = outbox.begin(from, b"8");
            body.field(tag::CL_ORD_ID, id).uint(tag::LAST_SHARES, part);
            if let Some(text) = message.get(tag::TEXT) {
                body.field(tag::TEXT, text);
            }
            // The checks would miss a note that does not fit.
            let _ = body.finish();
        }
        if crosses(quantity) {
            let mut body = outbox.begin(SessionId(1 - from.0), b"B");
            body.field(tag::CL_ORD_ID, id);
            let _ = body.finish();
        }
        Ok(())
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        self.noted.extend(value(note, "11").map(<[u8]>::to_vec));
    }

    fn on_time(&mut self, _now: Now, outbox: &mut Outbox) -> Option<Mono> {
        while self.told < self.news {
            let session = self.told as u32 % self.sessions.max(1);
            self.told += 1;
            let mut body = outbox.begin(SessionId(session), b"B");
            body.uint(tag::HEADLINE, self.told);
            body.field(tag::TEXT, &[b'n'; 512][..self.text]);
            let _ = body.finish();
        }
        None
    }
}

/// A version of FIX that both sides of a world use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Speech {
    Fix42,
    Fix44,
    Fix50,
}

impl Speech {
    pub(super) fn begin(self) -> &'static str {
        match self {
            Self::Fix42 => "FIX.4.2",
            Self::Fix44 => "FIX.4.4",
            Self::Fix50 => "FIXT.1.1",
        }
    }

    fn begin_string(self) -> BeginString {
        match self {
            Self::Fix42 => BeginString::Fix42,
            Self::Fix44 => BeginString::Fix44,
            Self::Fix50 => BeginString::Fixt11,
        }
    }

    pub(super) fn dictionary(self) -> Arc<Dictionary> {
        static BUILT_IN: [OnceLock<Arc<Dictionary>>; 3] = [const { OnceLock::new() }; 3];
        let built_in = Dictionary::built_in;
        let made = BUILT_IN[self as usize].get_or_init(|| {
            Arc::new(match self {
                Self::Fix42 => built_in(Version::Fix42),
                Self::Fix44 => built_in(Version::Fix44),
                Self::Fix50 => built_in(Version::Fix50Sp2).over(&built_in(Version::Fixt11)),
            })
        });
        Arc::clone(made)
    }
}

/// The session of one peer.
pub(super) fn session(peer: &Peer, speech: Speech, steps_clock: bool) -> SessionConfig {
    let Identity { name, port, .. } = peer.identity();
    let (role, connection) = if peer.dials() {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, ENGINE_PORT));
        (Role::Acceptor, Connection::Acceptor { listen })
    } else {
        let connection = Connection::Initiator {
            hosts: vec![("peer".to_owned(), port)],
            reconnect: vec![Duration::from_millis(50)],
            timeout: Duration::from_secs(5),
        };
        (Role::Initiator, connection)
    };
    let mut fix = session::Config::new(speech.begin_string(), role, b"ENGINE", name.as_bytes());
    // Silences here are longer than any patience, and the peer counts requests: one for each gap.
    fix.limits.resend_patience = Nanos(u64::MAX);
    fix.dictionary = Some(speech.dictionary());
    if speech == Speech::Fix50 {
        fix.default_appl_ver_id = Some(ApplVerId::FIX50_SP2);
    }
    if steps_clock {
        fix.max_latency = None;
    }
    SessionConfig::new(format!("ENGINE->{name}"), fix, connection)
}

/// From 08:00, when worlds begin, to 20:00 UTC every day.
pub(super) fn schedule() -> Schedule {
    let edge = |hour| Edge {
        time: Time::new(hour, 0, 0, 0).expect("a time of the day"),
        zone: TimeZone::UTC,
    };
    Schedule::new(Hours {
        days: Days::all(),
        start: edge(8),
        end: edge(20),
    })
}

pub(super) fn config(durability: Durability, sessions: Vec<SessionConfig>) -> EngineConfig {
    EngineConfig {
        durability,
        wait: Wait::Spin,
        segment_bytes: SEGMENT,
        max_message: 1024,
        max_fields: 64,
        read_buffer: 2048,
        limits: Limits {
            pending: 4,
            pending_per_address: 4,
            logon_bytes: 512,
            outbox_bytes: 4096,
            outbox_messages: 32,
            replay_per_turn: 3,
            ..Limits::default()
        },
        sessions,
        ..EngineConfig::default()
    }
}
