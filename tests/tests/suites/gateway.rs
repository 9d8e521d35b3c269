//! Does a gateway in a running engine know its orders again after the process was killed?

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use fixwire::Engine;
use fixwire::config::{Connection, Durability, EngineConfig, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::{SimHost, SimNet, Weather};
use fixwire::journal::sim::SimDisk;
use fixwire_gateway::gateway::GatewayEvent;
use fixwire_gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::session::{BeginString, Config, Role};

const PORT: u16 = 1000;
/// Two clients of FIX 4.2 and a venue of FIX 4.4.
const SESSIONS: [(&str, Version); 3] = [
    ("ANNA", Version::Fix42),
    ("BERT", Version::Fix42),
    ("VENUE", Version::Fix44),
];
const FILE: &str = r#"
[[rule]]
from = ["ANNA", "BERT"]
when = 'MsgType in (D, F)'
do = ['convert', 'send VENUE']
[[rule]]
from = ["ANNA"]
do = ['reject session "not here"']
[[rule]]
from = ["VENUE"]
do = ['convert', 'return']
"#;
const ORDER: &str = "11=A|21=1|55=VOD|54=1|60=20260302-08:00:00|38=9|40=1|";

struct World {
    net: SimNet,
    disk: SimDisk,
    life: u32,
    /// The events of the gateways.
    events: Arc<Mutex<Vec<String>>>,
}

/// A connection of a peer, and its next number.
struct Peer {
    name: &'static str,
    version: Version,
    conn: ConnId,
    next: u64,
}

type Running = Engine<Gateway, SimHost, SimDisk>;

impl World {
    fn start(&mut self) -> Running {
        self.life += 1;
        let sessions = SESSIONS.map(|(name, version)| GatewaySession {
            name,
            dictionary: Arc::new(Dictionary::built_in(version)),
            version,
            peer: name,
            resets: false,
        });
        let context = GatewayContext {
            sessions: &sessions,
            tables: &[],
            conversions: &[],
            hash_key: [7; 16],
        };
        let events = Arc::clone(&self.events);
        let listener =
            move |event: GatewayEvent<'_>| events.lock().unwrap().push(format!("{event:?}"));
        let gateway = Gateway::load(FILE, &context, Box::new(listener));
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
        let configs = sessions.iter().map(|session| {
            let begin = match session.version {
                Version::Fix42 => BeginString::Fix42,
                _ => BeginString::Fix44,
            };
            let mut fix = Config::new(begin, Role::Acceptor, b"GATE", session.name.as_bytes());
            fix.max_latency = None;
            fix.dictionary = Some(session.dictionary.clone());
            SessionConfig::new(session.name, fix, Connection::Acceptor { listen })
        });
        let config = EngineConfig {
            durability: Durability::Process,
            segment_bytes: 1 << 20,
            max_message: 1024,
            sessions: configs.collect(),
            ..EngineConfig::default()
        };
        let host = SimHost::new(self.life, &self.net, &self.disk);
        Engine::simulated(config, gateway.expect("it is right"), host).expect("it starts")
    }

    fn log_on(&self, engine: &mut Running, place: usize, next: u64) -> Peer {
        let (name, version) = SESSIONS[place];
        let conn = self.net.connect(0, PORT).expect("it listens");
        let mut peer = Peer {
            name,
            version,
            conn,
            next,
        };
        self.says(&mut peer, "A", "98=0|108=30|");
        turns(engine);
        peer
    }

    fn says(&self, peer: &mut Peer, kind: &str, body: &str) {
        let (seq, name) = (peer.next, peer.name);
        peer.next += 1;
        let body = format!("35={kind}|34={seq}|49={name}|52=20260302-08:00:01|56=GATE|{body}");
        let start = format!("8={}|9={}|", peer.version.name(), body.len());
        let text = (start + body.as_str()).replace('|', "\x01");
        let sum: u32 = text.bytes().map(u32::from).sum();
        let bytes = format!("{text}10={:03}\x01", sum % 256).into_bytes();
        assert_eq!(
            self.net.write(peer.conn, &bytes).expect("it is open"),
            bytes.len()
        );
    }

    /// The messages that a peer has got, without their headers and trailers.
    fn got(&self, peer: &Peer) -> Vec<String> {
        let mut bytes = vec![0; 1 << 16];
        let count = self.net.read(peer.conn, &mut bytes).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..count]).replace('\x01', "|");
        let messages = text.split("8=FIX.").skip(1).map(|message| {
            let kind = message.split('|').find(|field| field.starts_with("35="));
            let (_, body) = message
                .split_once(&format!("|56={}|", peer.name))
                .expect("a header");
            let (body, _) = body.rsplit_once("10=").expect("a trailer");
            format!("{}|{body}", kind.expect("a type"))
        });
        messages.collect()
    }
}

fn turns(engine: &mut Running) {
    for _ in 0..20 {
        engine.turn().expect("it works");
    }
}

#[test]
fn a_report_finds_its_client_after_a_kill() {
    let calm = Weather {
        splits: false,
        cuts: false,
        room: 1 << 20,
    };
    let mut world = World {
        net: SimNet::new(1, calm),
        disk: SimDisk::new(),
        life: 0,
        events: Arc::default(),
    };
    let mut engine = world.start();
    let mut anna = world.log_on(&mut engine, 0, 1);
    let mut bert = world.log_on(&mut engine, 1, 1);
    world.says(&mut anna, "D", ORDER);
    world.says(&mut bert, "D", ORDER);
    world.says(&mut anna, "R", "131=Q|146=1|55=VOD|");
    turns(&mut engine);
    assert_eq!(world.got(&anna)[1..], ["35=3|45=3|372=R|58=not here|"]);
    // The venue was away. The MsgSeqNum of our Logon shows it that it has missed messages.
    let mut venue = world.log_on(&mut engine, 2, 1);
    world.says(&mut venue, "2", "7=1|16=0|");
    turns(&mut engine);
    let second = format!("35=D|{}", ORDER.replace("11=A", "11=FW1"));
    let got = world.got(&venue);
    assert!(got[0].starts_with("35=A|"), "{got:?}");
    assert_eq!(got[1..3], [format!("35=D|{ORDER}"), second]);
    let state = engine.application_mut().orders().state_hash();
    let next = [anna.next, bert.next, venue.next];

    world.net.crash(world.life, false);
    drop(engine);
    world.disk.end_process();
    let mut engine = world.start();
    let recovered = engine.application_mut().orders().state_hash();
    assert_eq!(recovered, state, "the gateway knows other orders");
    let anna = world.log_on(&mut engine, 0, next[0]);
    let bert = world.log_on(&mut engine, 1, next[1]);
    let mut venue = world.log_on(&mut engine, 2, next[2]);
    for id in ["FW1", "A"] {
        let report = format!("37=V{id}|11={id}|17=E|150=F|39=2|55=VOD|54=1|151=0|14=9|6=7|");
        world.says(&mut venue, "8", &report);
    }
    turns(&mut engine);
    for (peer, order_id) in [(&anna, "VA"), (&bert, "VFW1")] {
        let report =
            format!("35=8|37={order_id}|11=A|17=E|20=0|150=2|39=2|55=VOD|54=1|151=0|14=9|6=7|");
        assert_eq!(world.got(peer)[1..], [report]);
    }
    assert_eq!(engine.application_mut().orders().counters().live, 0);
    assert_eq!(*world.events.lock().unwrap(), <Vec<String>>::new());
}
