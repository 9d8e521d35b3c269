//! FIX on the connections of a simulated network: the sessions, the engines above them, and what peers say.

use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use fixwire::config::{Connection, Durability, EngineConfig, Limits, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::{SimHost, SimNet, Weather};
use fixwire::journal::Disk;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::{self, BeginString, Role};
use fixwire::protocol::{Application, Decoder, Message, Now, Outbox, Refusal, SessionId, tag};
use fixwire::{Engine, Host};

use super::whole;

/// Where acceptors listen.
pub const PORT: u16 = 1000;

pub fn at(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// A FIX 4.2 session of `ENGINE` with this peer, which connects to us.
pub fn acceptor(peer: &str) -> SessionConfig {
    let listen = at(PORT);
    session(
        Role::Acceptor,
        "ENGINE",
        peer,
        Connection::Acceptor { listen },
    )
}

/// A FIX 4.2 session between these two, in which we connect to the peer.
pub fn initiator(own: &str, peer: &str, reconnect: Duration, timeout: Duration) -> SessionConfig {
    let connection = Connection::Initiator {
        hosts: vec![("127.0.0.1".to_owned(), PORT)],
        reconnect: vec![reconnect],
        timeout,
    };
    session(Role::Initiator, own, peer, connection)
}

fn session(role: Role, own: &str, peer: &str, connection: Connection) -> SessionConfig {
    let (name, own, peer) = (format!("{own}->{peer}"), own.as_bytes(), peer.as_bytes());
    let mut fix = session::Config::new(BeginString::Fix42, role, own, peer);
    // Peers write the same SendingTime whatever the clock of the network says.
    fix.max_latency = None;
    SessionConfig::new(name, fix, connection)
}

/// An engine of short messages.
pub fn config(durability: Durability, sessions: Vec<SessionConfig>) -> EngineConfig {
    EngineConfig {
        durability,
        segment_bytes: 1 << 20,
        max_message: 1024,
        sessions,
        ..EngineConfig::default()
    }
}

/// An outbox of so many bytes and messages.
pub fn outbox(outbox_bytes: usize, outbox_messages: usize) -> Limits {
    Limits {
        outbox_bytes,
        outbox_messages,
        ..Limits::default()
    }
}

/// Enough turns for all that can be done without time.
#[track_caller]
pub fn turns<A: Application, H: Host, D: Disk>(engine: &mut Engine<A, H, D>) {
    for _ in 0..20 {
        engine.turn().expect("it works");
    }
}

/// The next MsgSeqNum of each session, in and out.
pub fn numbers<A: Application>(engine: &Engine<A, SimHost, SimDisk>) -> Vec<(u64, u64)> {
    let sessions = engine.sessions();
    sessions.map(|it| (it.next_in, it.next_out)).collect()
}

/// Answers each order with one report; that of order KEEP is not sent again.
pub struct Answerer;

impl Application for Answerer {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        answer(message, from, b"8", outbox).expect("room for a report");
        Ok(())
    }

    fn on_resend(&mut self, _: Now, _: SessionId, stored: &[u8]) -> bool {
        let mut decoder = Decoder::with_capacity(64);
        decoder.decode(stored).get(tag::CL_ORD_ID) != Some(b"KEEP")
    }
}

/// Remembers the ClOrdIDs that it has seen, across engines, and answers each order but QUIET with a report.
#[derive(Clone, Default)]
pub struct Desk(pub Rc<RefCell<Vec<String>>>);

impl Application for Desk {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        self.0.borrow_mut().push(String::from_utf8_lossy(id).into());
        if message.msg_type() == b"D" && id != b"QUIET" {
            answer(message, from, b"8", outbox)?;
        }
        Ok(())
    }
}

/// A network that breaks nothing, whose connections hold so many bytes that are not read.
pub fn calm(room: usize) -> Weather {
    Weather {
        splits: false,
        cuts: false,
        room,
    }
}

/// Writes a message of a FIX 4.2 peer of `ENGINE`.
pub fn write(net: &SimNet, conn: ConnId, from: &str, kind: &str, seq: u64, body: &str) {
    let body = format!("35={kind}|34={seq}|49={from}|52=20260302-08:00:01|56=ENGINE|{body}");
    let bytes = whole("FIX.4.2", &body);
    assert_eq!(net.write(conn, &bytes).unwrap(), bytes.len());
}

/// What has arrived, with `|` for SOH.
pub fn read(net: &SimNet, conn: ConnId) -> String {
    let mut bytes = vec![0; 1 << 16];
    let count = net.read(conn, &mut bytes).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..count]).replace('\x01', "|")
}

/// MsgType, MsgSeqNum and these fields of each message, as far as it has them.
pub fn shown(text: &str, tags: &[&str]) -> Vec<String> {
    let messages = text.split("8=FIX.4.2|").skip(1);
    let shown = messages.map(|message| {
        let value = |tag: &str| {
            let mut fields = message.split('|').filter_map(|field| field.split_once('='));
            let found = fields.find(|(name, _)| *name == tag);
            found.map(|(_, value)| value)
        };
        let wanted = ["35", "34"].iter().chain(tags);
        let values: Vec<_> = wanted.filter_map(|tag| value(tag)).collect();
        values.join(" ")
    });
    shown.collect()
}

/// Sends a message with the ClOrdID of this one.
pub fn answer(
    message: &Message<'_>,
    to: SessionId,
    msg_type: &[u8],
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
    let mut body = outbox.begin(to, msg_type);
    body.field(tag::CL_ORD_ID, id);
    body.finish().map_err(|_| Refusal::NotAvailable)
}
