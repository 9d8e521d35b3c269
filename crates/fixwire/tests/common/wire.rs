//! FIX on the connections of a simulated network: the sessions, the engines above them, and what peers say.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use fixwire::config::{Connection, Durability, EngineConfig, Limits, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::{SimHost, SimNet, Weather};
use fixwire::journal::Disk;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::Application;
use fixwire::protocol::session::{self, BeginString, Role};
use fixwire::{Engine, Host};

use super::app::App;
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

/// An outbox with this room for bytes and messages.
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

/// An engine on a simulated network and disk.
pub type SimEngine = Engine<App, SimHost, SimDisk>;

pub fn start(config: EngineConfig, app: App, node: u32, net: &SimNet, disk: &SimDisk) -> SimEngine {
    Engine::simulated(config, app, SimHost::new(node, net, disk)).expect("it starts")
}

/// A network without faults, whose connections hold this number of unread bytes.
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

/// The bytes that have arrived, with `|` for SOH.
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
