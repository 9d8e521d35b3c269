//! Helpers of the engine's tests: an application that answers, and a peer made of a bare socket.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod app;
pub mod journal;
pub mod logged;
pub mod wire;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixwire::journal::Disk;
use fixwire::protocol::session::{BeginString, Config, Role};
use fixwire::protocol::{
    Application, Frame, Message, Now, Outbox, PeerLogout, Precision, Refusal, SessionId, Timestamp,
    TimestampWriter, frame, tag,
};
use fixwire::{
    Connection, Durability, Engine, EngineConfig, EngineError, Event, Handle, Host, SessionConfig,
    Wait,
};

/// Longest time a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The callbacks of an application, for another thread to look at.
#[derive(Debug, Default)]
pub struct Seen {
    pub logons: AtomicU64,
    pub logouts: AtomicU64,
    pub orders: AtomicU64,
    pub reports: AtomicU64,
    /// ClOrdIDs that came in another order than they were sent.
    pub disorder: AtomicU64,
}

/// Answers each order with a report, counts reports. Its own, since it must not allocate.
pub struct Echo(pub Arc<Seen>);

impl Application for Echo {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let number = message
            .uint(tag::CL_ORD_ID)
            .and_then(Result::ok)
            .unwrap_or(0);
        let count = match message.msg_type() {
            b"D" => {
                let mut report = outbox.begin(from, b"8");
                report
                    .uint(tag::CL_ORD_ID, number)
                    .field(tag::SYMBOL, b"LCOM1");
                report.finish().map_err(|_| Refusal::NotAvailable)?;
                &self.0.orders
            }
            b"8" => &self.0.reports,
            _ => return Err(Refusal::UnsupportedMessageType),
        };
        let count = count.fetch_add(1, Ordering::SeqCst) + 1;
        if number != 0 && number != count {
            self.0.disorder.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    fn on_logon(&mut self, _: Now, _: SessionId, _: &Message<'_>, _: &mut Outbox) {
        self.0.logons.fetch_add(1, Ordering::SeqCst);
    }

    fn on_logout(&mut self, _now: Now, _session: SessionId, _logout: PeerLogout<'_>) {
        self.0.logouts.fetch_add(1, Ordering::SeqCst);
    }
}

/// The events of an engine.
pub type Events = Arc<Mutex<Vec<Event>>>;

/// Collects the events of this engine from now on.
pub fn events<A: Application, H: Host, D: Disk>(engine: &mut Engine<A, H, D>) -> Events {
    let events = Events::default();
    let heard = Arc::clone(&events);
    engine.on_event(move |_, event| heard.lock().unwrap().push(event.clone()));
    events
}

/// An engine on a thread of its own.
pub struct Running {
    pub address: Option<SocketAddr>,
    pub handle: Handle,
    pub seen: Arc<Seen>,
    pub events: Events,
    ended: Receiver<Result<Vec<(u64, u64)>, EngineError>>,
    thread: JoinHandle<()>,
}

impl Running {
    pub fn start(config: EngineConfig) -> Self {
        let seen = Arc::new(Seen::default());
        let mut engine = Engine::new(config, Echo(Arc::clone(&seen))).expect("engine starts");
        let events = events(&mut engine);
        let (address, handle) = (engine.addresses().next(), engine.handle());
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            let result = engine.run();
            let numbers = engine.sessions().map(|s| (s.next_in, s.next_out)).collect();
            let _ = end.send(result.map(|()| numbers));
        });
        Self {
            address,
            handle,
            seen,
            events,
            ended,
            thread,
        }
    }

    /// Stops the engine; the sequence numbers (next in, next out) of its sessions.
    pub fn stop(mut self) -> Vec<(u64, u64)> {
        self.handle.stop().expect("engine runs");
        let result = self
            .ended
            .recv_timeout(PATIENCE)
            .expect("engine ends in time");
        self.thread.join().expect("engine does not panic");
        result.expect("engine ends well")
    }

    pub fn address(&self) -> SocketAddr {
        self.address.expect("an acceptor")
    }

    pub fn has_event(&self, wanted: impl Fn(&Event) -> bool) -> bool {
        self.events.lock().unwrap().iter().any(wanted)
    }

    pub fn wait_event(&self, wanted: impl Fn(&Event) -> bool) {
        wait_until(
            || self.has_event(&wanted),
            || format!("{:?}", self.events.lock().unwrap()),
        );
    }
}

/// Waits until something holds.
#[track_caller]
pub fn wait_until(holds: impl Fn() -> bool, state: impl Fn() -> String) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited too long: {}", state());
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub fn wait_count(count: &AtomicU64, wanted: u64) {
    wait_until(
        || count.load(Ordering::SeqCst) >= wanted,
        || format!("{} of {wanted}", count.load(Ordering::SeqCst)),
    );
}

pub fn acceptor_session(listen: &str) -> SessionConfig {
    let session = Config::new(BeginString::Fix42, Role::Acceptor, b"EXEC", b"BENCH");
    let connection = Connection::Acceptor {
        listen: listen.parse().unwrap(),
    };
    SessionConfig::new("FIX.4.2:EXEC->BENCH", session, connection)
}

pub fn initiator_session(to: SocketAddr) -> SessionConfig {
    let session = Config::new(BeginString::Fix42, Role::Initiator, b"BENCH", b"EXEC");
    let connection = Connection::Initiator {
        hosts: vec![(to.ip().to_string(), to.port())],
        reconnect: vec![Duration::from_millis(20)],
        timeout: Duration::from_secs(5),
    };
    SessionConfig::new("FIX.4.2:BENCH->EXEC", session, connection)
}

pub fn config(folder: &Path, session: SessionConfig) -> EngineConfig {
    EngineConfig {
        journal_dir: folder.into(),
        durability: Durability::Process,
        wait: Wait::Block,
        segment_bytes: 16 << 20,
        stop_timeout: Duration::from_secs(3),
        sessions: vec![session],
        ..EngineConfig::default()
    }
}

/// A whole message with a right length and sum.
pub fn message(msg_type: &str, seq: u64, sender: &str, target: &str, fields: &str) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut stamp = TimestampWriter::new();
    let time = stamp.format(Timestamp(now.as_nanos() as i64), Precision::Millis);
    let time = String::from_utf8_lossy(time);
    let body = format!("35={msg_type}|34={seq}|49={sender}|52={time}|56={target}|{fields}");
    whole("FIX.4.2", &body)
}

/// A message of these fields, with `|` for SOH.
pub fn whole(begin_string: &str, body: &str) -> Vec<u8> {
    let text = format!("8={begin_string}|9={}|{body}", body.len()).replace('|', "\x01");
    let sum = frame::check_sum(text.as_bytes());
    format!("{text}10={sum:03}\x01").into_bytes()
}

/// A counterparty of the acceptor EXEC that does exactly what the test says.
pub struct Peer {
    pub stream: TcpStream,
    buffer: Vec<u8>,
    pub seq: u64,
}

impl Peer {
    pub fn connect(to: SocketAddr) -> Self {
        Self::over(TcpStream::connect(to).expect("connect"))
    }

    pub fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            buffer: Vec::new(),
            seq: 1,
        }
    }

    /// Connects and exchanges Logons.
    pub fn log_on(to: SocketAddr, seq: u64) -> Self {
        let mut peer = Self::connect(to);
        peer.seq = seq;
        peer.send("A", "98=0|108=30|");
        let answer = peer.receive().expect("an answer to the Logon");
        assert!(answer.contains("|35=A|"), "{answer}");
        peer
    }

    pub fn send(&mut self, msg_type: &str, fields: &str) {
        let bytes = message(msg_type, self.seq, "BENCH", "EXEC", fields);
        self.seq += 1;
        self.stream.write_all(&bytes).expect("write");
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("write");
    }

    /// The next message with `|` for SOH; `None` at the end of the stream.
    pub fn receive(&mut self) -> Option<String> {
        loop {
            if let Frame::Whole { skip, len } = frame::next(&self.buffer, 2 << 20) {
                let text = String::from_utf8_lossy(&self.buffer[skip..skip + len]);
                let text = text.replace('\x01', "|");
                self.buffer.drain(..skip + len);
                return Some(text);
            }
            let mut bytes = [0; 65536];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.buffer.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no message in time: {error}"),
            }
        }
    }
}
