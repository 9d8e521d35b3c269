//! Test fixture: a client in a simulated world, and the venue of its session.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixwire_client::{ClientEvent, ClientSetup, EventListener, OrderClient};
use fixwire_engine::protocol::session::{BeginString, Config, Role};
use fixwire_engine::protocol::{Nanos, SessionId, Tag};
use fixwire_engine::{Connection, EngineConfig, OperationError, Operator, SessionConfig};
use fixwire_harness::{Turn, World};

pub const VENUE: SessionId = SessionId(0);
/// How long the client waits.
pub const TIMEOUT: Nanos = Nanos::from_secs(5);

pub struct Desk {
    pub world: World<OrderClient>,
    /// Events of the client, one line each.
    lines: Arc<Mutex<Vec<String>>>,
    /// The latencies of the last `stats`.
    latencies: Arc<Mutex<Vec<Nanos>>>,
}

impl Desk {
    pub fn new() -> Self {
        let mut session = Config::new(BeginString::Fix42, Role::Initiator, b"CLIENT", b"VENUE");
        session.max_latency = None;
        let connection = Connection::Initiator {
            hosts: vec![("127.0.0.1".to_owned(), 5001)],
            reconnect: vec![Duration::from_secs(1)],
            timeout: Duration::from_secs(1),
        };
        let config = EngineConfig {
            sessions: vec![SessionConfig::new(
                "CLIENT->VENUE",
                session.clone(),
                connection,
            )],
            ..EngineConfig::default()
        };
        let lines = Arc::new(Mutex::new(Vec::new()));
        let said = Arc::clone(&lines);
        let latencies = Arc::new(Mutex::new(Vec::new()));
        let timed = Arc::clone(&latencies);
        let make = move || {
            let setup = ClientSetup {
                session: VENUE,
                config: &session,
                timeout: TIMEOUT,
            };
            OrderClient::new(&setup, listener(Arc::clone(&said), Arc::clone(&timed)))
        };
        Self {
            world: World::new(&config, 1, make),
            lines,
            latencies,
        }
    }

    /// A desk whose session is logged on.
    pub fn logged_on() -> Self {
        let mut desk = Self::new();
        desk.world.settle().unwrap();
        assert_eq!(desk.said(), ["logged on"]);
        desk
    }

    /// Gives a command, without a turn of the world.
    pub fn command(&mut self, text: &str) -> Receiver<Result<Vec<u8>, OperationError>> {
        let mut handle = self.world.handle().unwrap();
        let asked = handle.command(text.as_bytes(), Operator::new("test", ""));
        let answer = asked.unwrap();
        assert_eq!(self.world.turn(), Ok(Turn::Alive));
        answer
    }

    /// Gives a command that must be accepted, and runs it to its end; returns the events, the result last.
    pub fn carry_out(&mut self, text: &str) -> Vec<String> {
        let answer = self.command(text);
        self.world.settle().unwrap();
        assert_eq!(answer.try_recv().unwrap(), Ok(Vec::new()), "{text}");
        self.said()
    }

    /// Gives a command that must be refused; returns the reason.
    pub fn refused(&mut self, text: &str) -> String {
        let answer = self.command(text);
        answer.try_recv().unwrap().unwrap_err().to_string()
    }

    /// The venue sends a message.
    pub fn answer(&mut self, msg_type: &str, body: &str) -> Vec<String> {
        self.world.send(VENUE, msg_type, body);
        self.world.settle().unwrap();
        self.said()
    }

    /// Events of the client since the last call.
    pub fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }

    /// The latencies of the last `stats`.
    pub fn latencies(&self) -> Vec<Nanos> {
        self.latencies.lock().unwrap().clone()
    }

    /// The values of these tags in the messages that the venue received, `-` for an absent field.
    pub fn received(&mut self, tags: &[Tag]) -> Vec<String> {
        let peer = self.world.peer(VENUE);
        let lines = peer.received().map(|message| {
            let values = tags.iter().map(|tag| message.get(*tag).unwrap_or("-"));
            let values: Vec<&str> = values.collect();
            format!("{} {}", message.msg_type, values.join(" "))
        });
        lines.collect()
    }
}

/// A listener that keeps events as lines, without the time.
fn listener(lines: Arc<Mutex<Vec<String>>>, latencies: Arc<Mutex<Vec<Nanos>>>) -> EventListener {
    Box::new(move |event| {
        let said = match event {
            ClientEvent::Answer(line) => {
                let line = line.to_string();
                vec![line.split_once(' ').unwrap().1.to_owned()]
            }
            ClientEvent::Session { text, .. } => vec![text],
            ClientEvent::Orders(orders) => orders.iter().map(ToString::to_string).collect(),
            ClientEvent::Stats(stats) => {
                let line = format!(
                    "sent {} accepted {} rejected {} filled {} unanswered {} timed {}",
                    stats.sent,
                    stats.accepted,
                    stats.rejected,
                    stats.filled,
                    stats.unanswered(),
                    stats.latencies.len()
                );
                *latencies.lock().unwrap() = stats.latencies;
                vec![line]
            }
            ClientEvent::Finished(Ok(())) => vec!["done".to_owned()],
            ClientEvent::Finished(Err(why)) => vec![format!("failed: {why}")],
            other => panic!("{other:?}"),
        };
        lines.lock().unwrap().extend(said);
    })
}
