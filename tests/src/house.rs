//! An engine in a [`Crowd`], with its events for a test.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fixwire::config::{Connection, EngineConfig, Limits, LogonLimits, SessionConfig};
use fixwire::event::ConnectionRefusal;
use fixwire::host::ConnId;
use fixwire::journal::Memory;
use fixwire::{Engine, Event};
use fixwire_protocol::session::{self, BeginString, Role};
use fixwire_protocol::{
    Application, Frame, Message, Nanos, Now, Outbox, Precision, SessionId, TimestampWriter, frame,
};

use crate::crowd::{self, Crowd};

/// The credentials that the sessions of [`acceptor`] demand.
pub const PASSWORD: &str = "Zx81-Qm27-Lw93";
/// Bytes that a peer takes before it has to read.
pub const ROOM: usize = 1 << 20;
/// A second.
pub const SECOND: Nanos = Nanos(1_000_000_000);
/// An address that peers come from.
pub const FRIEND: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// An address that belongs to no session.
pub const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1));

/// Answers each order with a report; counts the messages in both directions.
#[derive(Default)]
pub struct Echo {
    /// Application messages that came in.
    pub orders: u64,
}

impl Application for Echo {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), fixwire_protocol::Refusal> {
        self.orders += 1;
        let mut report = outbox.begin(from, b"8");
        report.field(11, message.get(11).unwrap_or_default());
        // A report that does not fit is counted by the outbox.
        let _ = report.finish();
        Ok(())
    }
}

/// An acceptor session of FIX 4.4 between HOUSE and this peer, with a password.
pub fn acceptor(peer: &str) -> SessionConfig {
    let mut fix = session::Config::new(
        BeginString::Fix44,
        Role::Acceptor,
        b"HOUSE",
        peer.as_bytes(),
    );
    fix.password = PASSWORD.into();
    let listen = "127.0.0.1:5001".parse().expect("an address");
    SessionConfig::new(
        format!("FIX.4.4:HOUSE->{peer}"),
        fix,
        Connection::Acceptor { listen },
    )
}

/// Limits under which any number of attempts may fail.
pub fn patient() -> Limits {
    Limits {
        logons: LogonLimits {
            failures_per_minute: u32::MAX,
            failures_per_minute_and_address: u32::MAX,
            failures_per_minute_and_session: u32::MAX,
        },
        ..Limits::default()
    }
}

/// The reasons why connections were refused, with their counts.
pub type Refusals = Arc<Mutex<BTreeMap<String, u64>>>;

/// The engine and its world.
pub struct Rig {
    /// The world.
    pub crowd: Crowd,
    /// The engine.
    pub engine: Engine<Echo, Crowd, Memory>,
    /// The reasons why connections were refused, with their counts.
    pub refusals: Refusals,
    /// All its events.
    pub events: Arc<Mutex<Vec<Event>>>,
}

impl Rig {
    /// Starts the engine. All its events are reported.
    pub fn new(config: EngineConfig) -> Self {
        let config = EngineConfig {
            limits: Limits {
                events_per_second: 1 << 20,
                ..config.limits
            },
            ..config
        };
        let crowd = Crowd::default();
        crowd.advance(SECOND);
        let mut engine =
            Engine::with_host(
                config,
                Echo::default(),
                crowd.clone(),
                |_| Ok(crowd::disk()),
            )
            .expect("an engine");
        let refusals = Refusals::default();
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let (seen, heard) = (Arc::clone(&refusals), Arc::clone(&events));
        engine.on_event(move |_, event| {
            if let Event::Refused { why, .. } = event {
                *seen
                    .lock()
                    .expect("no panic")
                    .entry(format!("{why:?}"))
                    .or_default() += 1;
            } else {
                heard.lock().expect("no panic").push(event.clone());
            }
        });
        Self {
            crowd,
            engine,
            refusals,
            events,
        }
    }

    /// Plays this number of turns.
    pub fn turns(&mut self, count: usize) {
        for _ in 0..count {
            self.engine.turn().expect("it works");
        }
    }

    /// Connects and sends all these bytes.
    pub fn say(&mut self, from: IpAddr, bytes: &[u8]) -> ConnId {
        let conn = self.crowd.connect(from, ROOM);
        self.turns(1);
        self.crowd.send(conn, bytes);
        self.turns(1);
        conn
    }

    /// The number of connections refused for this reason.
    pub fn refused(&self, why: ConnectionRefusal) -> u64 {
        let refusals = self.refusals.lock().expect("it works");
        refusals
            .get(&format!("{why:?}"))
            .copied()
            .unwrap_or_default()
    }

    /// Waits for a connection whose password is compared by another thread.
    pub fn until_closed_or_on(&mut self, conn: ConnId, session: usize) {
        let begin = Instant::now();
        while !self.crowd.is_closed(conn) && !self.is_on(session) {
            self.turns(1);
            assert!(begin.elapsed() < Duration::from_secs(60), "no answer");
            std::thread::yield_now();
        }
    }

    /// Whether a session is logged on.
    pub fn is_on(&self, session: usize) -> bool {
        let status = self.engine.sessions().nth(session);
        status.is_some_and(|session| session.logged_on)
    }
}

/// A whole message of a peer to HOUSE, with number 1.
pub fn message(crowd: &Crowd, kind: &str, peer: &str, more: &str) -> Vec<u8> {
    numbered(crowd, kind, peer, 1, more)
}

/// A whole message of a peer to HOUSE.
pub fn numbered(crowd: &Crowd, kind: &str, peer: &str, seq: u64, more: &str) -> Vec<u8> {
    let mut stamp = TimestampWriter::new();
    let time = stamp.format(crowd.now().wall, Precision::Millis);
    let time = String::from_utf8_lossy(time);
    let body = format!("35={kind}|34={seq}|49={peer}|52={time}|56=HOUSE|{more}");
    let whole = format!("8=FIX.4.4|9={}|{body}", body.len()).replace('|', "\x01");
    let sum = frame::check_sum(whole.as_bytes());
    format!("{whole}10={sum:03}\x01").into_bytes()
}

/// A peer's Logon, without heartbeats.
pub fn logon(crowd: &Crowd, peer: &str, password: &str) -> Vec<u8> {
    let more = format!("98=0|108=0|553=me|554={password}|");
    message(crowd, "A", peer, &more)
}

/// The messages in bytes, with `|` for SOH.
pub fn messages(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Frame::Whole { skip, len } = frame::next(rest, ROOM) {
        let text = String::from_utf8_lossy(&rest[skip..skip + len]);
        found.push(text.replace('\x01', "|"));
        rest = &rest[skip + len..];
    }
    found
}
