//! Do the journal and the message log have every message that passed a TCP tee, byte for byte?
//!
//! A peer that loses, repeats and reorders messages, requests resends again and again and breaks the rules of the
//! session talks to the finished binary, as initiator and as acceptor; the engine is killed in the middle of a resend.

use std::cell::Cell;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use fixwire_rigs::proxy::Way;
use fixwire_rigs::server::{self, Launch, Server};
use fixwire_rigs::tee::Tee;
use fixwire_rigs::wire::{Wire, checksum, message, number, show, timestamp, value};

const PATIENCE: Duration = Duration::from_secs(60);
/// The number of orders whose echoes no socket takes at once.
const MANY: u64 = 3000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Role {
    Acceptor,
    Initiator,
}

/// An engine behind a tee, and the peer that talks to it.
struct Rig {
    /// The engine's role.
    role: Role,
    launch: Launch,
    tee: Tee,
    /// The address that the engine connects to.
    listener: TcpListener,
    folder: PathBuf,
    /// The number of the peer's next message.
    seq: Rc<Cell<u64>>,
}

/// One connection of the peer.
struct Talk {
    wire: Wire,
    seq: Rc<Cell<u64>>,
}

impl Rig {
    fn new(role: Role) -> Self {
        let folder = server::scratch(&format!("message-log-{role:?}")).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = server::free_port().unwrap();
        let target = match role {
            Role::Acceptor => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            Role::Initiator => listener.local_addr().unwrap(),
        };
        let tee = Tee::start(target).unwrap();
        let connection = match role {
            Role::Acceptor => format!("ConnectionType=acceptor\nSocketAcceptPort={port}"),
            Role::Initiator => format!(
                "ConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\n\
                 ReconnectInterval=1\nHeartBtInt=30",
                tee.address.port()
            ),
        };
        let settings = format!(
            "[DEFAULT]\nFileStorePath={0}/store\nFileLogPath={0}/log\nFileLogLayout=quickfix\n\
             SocketSendBufferSize=4096\nMaxSimilarResendRequests=3\n{connection}\n\
             [SESSION]\nBeginString=FIX.4.4\nSenderCompID=ENGINE\nTargetCompID=PEER\n",
            folder.display()
        );
        fs::write(folder.join("engine.cfg"), settings).unwrap();
        let launch = Launch {
            binary: server::binary().unwrap(),
            app: Some("conformance"),
            settings: folder.join("engine.cfg"),
            port,
        };
        Self {
            role,
            launch,
            tee,
            listener,
            folder,
            seq: Rc::new(Cell::new(1)),
        }
    }

    fn start(&self) -> Server {
        match self.role {
            Role::Acceptor => self.launch.start().unwrap(),
            Role::Initiator => self.launch.spawn().unwrap(),
        }
    }

    /// A connection on which both sides are logged on.
    fn log_on(&self) -> Talk {
        let wire = match self.role {
            Role::Acceptor => Wire::connect(self.tee.address).unwrap(),
            Role::Initiator => Wire::over(self.listener.accept().unwrap().0).unwrap(),
        };
        let seq = Rc::clone(&self.seq);
        let mut talk = Talk { wire, seq };
        if self.role == Role::Initiator {
            talk.expect("A");
        }
        talk.send("A", "98=0|108=30|");
        if self.role == Role::Acceptor {
            talk.expect("A");
        }
        talk
    }

    /// The messages that passed the tee, and their connection.
    fn passed(&self, incoming: bool) -> Vec<Vec<Vec<u8>>> {
        let way = match (self.role, incoming) {
            (Role::Acceptor, true) | (Role::Initiator, false) => Way::ToAcceptor,
            _ => Way::ToInitiator,
        };
        self.tee.messages(way)
    }

    fn pause(&self, paused: bool) {
        self.tee.pause(
            match self.role {
                Role::Acceptor => Way::ToInitiator,
                Role::Initiator => Way::ToAcceptor,
            },
            paused,
        );
    }

    /// The messages of the log in the layout of QuickFIX.
    fn log(&self, incoming: bool) -> Vec<Vec<u8>> {
        let path = self
            .folder
            .join("log/FIX.4.4-ENGINE-PEER.messages.current.log");
        let bytes = fs::read(path).unwrap();
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let messages = lines.map(|line| {
            let at = line.windows(3).position(|three| three == b" : ");
            line[at.expect("a time") + 3..].to_vec()
        });
        messages
            .filter(|message| (value(message, "49") == Some(b"ENGINE")) != incoming)
            .collect()
    }

    /// The lines of `fixwire journal dump`.
    fn dump(&self) -> Vec<Dumped> {
        self.dump_with(&[])
    }

    fn dump_with(&self, more: &[&str]) -> Vec<Dumped> {
        let output = Command::new(&self.launch.binary)
            .args(["journal", "dump", "--json"])
            .arg(self.folder.join("store"))
            .args(more)
            .output()
            .unwrap();
        // While the engine writes, the last record may look unfinished.
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(Dumped::read).collect()
    }
}

#[derive(Clone, Debug)]
struct Dumped {
    what: String,
    mark: String,
    bytes: Vec<u8>,
}

impl Dumped {
    fn read(line: &str) -> Self {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        Self {
            what: text("what"),
            mark: text("mark"),
            bytes: text("text").replace('|', "\x01").into_bytes(),
        }
    }
}

impl Talk {
    /// Sends a message with the next number.
    fn send(&mut self, msg_type: &str, body: &str) {
        let seq = self.skip(1).start;
        self.send_as(msg_type, seq, "PEER", body);
    }

    /// Leaves out this number of MsgSeqNums, and returns them.
    fn skip(&mut self, count: u64) -> std::ops::Range<u64> {
        let from = self.seq.get();
        self.seq.set(from + count);
        from..self.seq.get()
    }

    fn send_as(&mut self, msg_type: &str, seq: u64, sender: &str, body: &str) {
        let time = timestamp(0, true);
        let text =
            format!("8=FIX.4.4|35={msg_type}|34={seq}|49={sender}|52={time}|56=ENGINE|{body}");
        self.wire.send(&message(&text)).unwrap();
    }

    fn resend(&mut self, msg_type: &str, seq: u64, body: &str) {
        let time = timestamp(0, true);
        self.send_as(msg_type, seq, "PEER", &format!("43=Y|122={time}|{body}"));
    }

    /// Reads until a message of this type comes.
    fn expect(&mut self, msg_type: &str) -> Vec<u8> {
        loop {
            let got = self.wire.receive(PATIENCE).unwrap_or_else(|missing| {
                panic!("no message of type {msg_type}: {missing}");
            });
            if value(&got, "35") == Some(msg_type.as_bytes()) {
                return got;
            }
        }
    }

    /// Closes the gap that the Logon showed.
    fn fill_gap(&mut self) {
        let request = self.expect("2");
        let from = number(&request, "7").expect("a number");
        let fill = format!("123=Y|36={}|", self.seq.get());
        self.resend("4", from, &fill);
    }

    /// Waits until the engine has handled all sent messages.
    fn settle(&mut self) {
        let id = format!("settled-{}", self.seq.get());
        self.send("1", &format!("112={id}|"));
        while value(&self.expect("0"), "112") != Some(id.as_bytes()) {}
    }

    /// Reads to the end of the connection.
    fn read_out(&mut self) {
        while self.wire.receive(PATIENCE).is_ok() {}
    }

    fn log_out(mut self) {
        self.send("5", "");
        self.read_out();
    }
}

fn order(id: &str) -> String {
    format!("11={id}|55=LCOM1|54=1|60={}|38=1|40=1|", timestamp(0, true))
}

/// The message as in the journal: the value of Password(554) is stars, CheckSum(10) is right.
fn masked(raw: &[u8], stars: Option<&str>) -> Vec<u8> {
    let Some(password) = value(raw, "554") else {
        return raw.to_vec();
    };
    let text = String::from_utf8(raw.to_vec()).unwrap();
    let password = String::from_utf8(password.to_vec()).unwrap();
    let kept = text.replace(
        &format!("554={password}\x01"),
        &format!("554={}\x01", "*".repeat(password.len())),
    );
    let end = kept.len() - 7;
    let kept = format!(
        "{}10={:03}\x01",
        &kept[..end],
        checksum(&kept.as_bytes()[..end])
    );
    let stars = stars.map_or(kept.clone(), |stars| {
        kept.replace(
            &format!("554={}\x01", "*".repeat(password.len())),
            &format!("554={stars}\x01"),
        )
    });
    stars.into_bytes()
}

/// Losses, gaps, duplicates, resends of several ranges, a flood of requests; then the peer breaks the rules.
fn misbehave(rig: &Rig) {
    let mut talk = rig.log_on();
    for id in ["a", "b", "c"] {
        talk.send("D", &order(id));
    }
    // Two messages are lost on the way, and the messages after them wait; one of them comes twice, another has a
    // secret.
    let lost = talk.skip(2);
    talk.send("D", &order("f"));
    talk.send_as("D", lost.end, "PEER", &order("f"));
    talk.send("BE", "923=r|924=1|553=me|554=tiger|");
    talk.send("1", "112=queued|");
    let request = talk.expect("2");
    assert_eq!(
        number(&request, "7"),
        Some(lost.start),
        "{}",
        show(&request)
    );
    for seq in lost {
        talk.resend("D", seq, &order(&format!("late-{seq}")));
    }
    talk.settle();
    // A request above a gap, which a gap fill closes.
    let lost = talk.skip(3);
    talk.send("2", "7=2|16=5|");
    talk.expect("2");
    talk.resend("4", lost.start, &format!("123=Y|36={}|", lost.end));
    talk.settle();
    // Repetitions of received messages, right and wrong ones; then bytes that are not a message.
    talk.resend("D", 2, &order("a"));
    talk.send_as("D", 3, "PEER", &format!("43=Y|{}", order("b")));
    talk.resend("2", 4, "7=1|16=0|");
    let garbled = format!(
        "8=FIX.4.4|35=D|34={}|49=PEER|56=ENGINE|11=g|10=000|",
        talk.seq.get()
    );
    talk.wire.send(&message(&garbled)).unwrap();
    talk.send("D", "11=no-symbol|");
    talk.settle();
    for range in [
        "7=1|16=0|",
        "7=3|16=6|",
        "7=2|16=2|",
        "7=4|16=0|",
        "7=9|16=3|",
    ] {
        talk.send("2", range);
    }
    talk.settle();
    for _ in 0..40 {
        talk.send("2", "7=2|16=0|");
    }
    talk.settle();
    // A message for another session; the engine does not act on the message after it.
    let seq = talk.skip(1).start;
    talk.send_as("D", seq, "STRANGER", &order("s"));
    talk.send("D", &order("ignored"));
    talk.expect("5");
    talk.send("D", &order("ignored too"));
    talk.log_out();

    // A number that was already used.
    let mut talk = rig.log_on();
    talk.fill_gap();
    talk.settle();
    talk.send_as("D", 2, "PEER", &order("low"));
    talk.expect("5");
    talk.log_out();

    // A Logon above a gap that is never closed, and a Logout above it.
    rig.seq.set(rig.seq.get() + 2);
    let mut talk = rig.log_on();
    talk.send("D", &order("above"));
    talk.expect("2");
    talk.log_out();
}

/// Plays everything, then compares.
fn play(role: Role) {
    let rig = Rig::new(role);
    let engine = rig.start();
    misbehave(&rig);

    // Many messages are resent while the peer does not read; then the engine is killed.
    let mut talk = rig.log_on();
    talk.fill_gap();
    for id in 0..MANY {
        talk.send("D", &order(&id.to_string()));
        if id % 100 == 0 {
            talk.settle();
        }
    }
    talk.settle();
    let before = resent(&rig.dump());
    let killed = rig.passed(true).len() - 1;
    rig.pause(true);
    talk.send("2", "7=1|16=0|");
    // For a second: on a busy system the engine may have to wait.
    let (mut last, mut since) = (before, Instant::now());
    wait_until(|| {
        let now = resent(&rig.dump());
        if now != last {
            (last, since) = (now, Instant::now());
        }
        now > before && since.elapsed() > Duration::from_secs(1)
    });
    assert!(last - before < MANY as usize, "all were resent at once");
    engine.kill().unwrap();
    rig.pause(false);
    talk.read_out();

    let engine = rig.start();
    let mut talk = rig.log_on();
    for range in ["7=1|16=10|", "7=50|16=60|", "7=100|16=0|"] {
        talk.send("2", range);
    }
    talk.settle();
    talk.log_out();
    engine.terminate(PATIENCE).unwrap();
    compare(&rig, killed);
}

fn resent(lines: &[Dumped]) -> usize {
    lines.iter().filter(|line| line.mark == "resent").count()
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Compares tee, journal and message log. In the connection that was killed some messages were
/// recorded and never left.
fn compare(rig: &Rig, killed: usize) {
    // One order from its arrival above the gap on.
    let lines = rig.dump_with(&["--field", "11=f", "--field", "35=D"]);
    let marks: Vec<_> = lines
        .iter()
        .map(|line| (&*line.what, &*line.mark))
        .collect();
    let first = [("in", "queued"), ("in", "duplicate"), ("out", "")];
    assert_eq!(marks[..3], first);
    assert!(
        marks[3..].iter().all(|marks| *marks == ("out", "resent")),
        "{marks:?}"
    );
    let dump = rig.dump();
    for (mark, least) in [
        ("queued", 3),
        ("duplicate", 3),
        ("ignored", 2),
        ("rejected", 4),
        ("resent", MANY as usize),
        ("gap fill", 10),
    ] {
        let found = dump.iter().filter(|line| line.mark == mark).count();
        assert!(found >= least, "{found} lines are marked {mark}");
    }
    assert!(dump.iter().filter(|line| line.what == "dequeued").count() >= 3);
    for incoming in [true, false] {
        let way = if incoming { "in" } else { "out" };
        let dumped = dump.iter().filter(|line| line.what == way);
        let dumped: Vec<_> = dumped.map(|line| line.bytes.clone()).collect();
        for (what, logged, stars) in [
            ("dump", dumped, Some("***")),
            ("log", rig.log(incoming), None),
        ] {
            let logged = by_connection(logged);
            let passed = rig.passed(incoming);
            assert_eq!(logged.len(), passed.len(), "{what} {way}: connections");
            for (at, (logged, passed)) in logged.iter().zip(&passed).enumerate() {
                let mut unsent = 0;
                // New messages wait until a resend is done, and are logged before it, when they get their numbers; each
                // kind has its own order.
                for resent in [false, true] {
                    let is_kind = |raw: &&Vec<u8>| incoming || is_resent(raw) == resent;
                    let logged: Vec<_> =
                        logged.iter().filter(is_kind).map(|raw| show(raw)).collect();
                    let passed: Vec<_> = passed
                        .iter()
                        .filter(is_kind)
                        .map(|raw| show(&masked(raw, stars)))
                        .collect();
                    for (logged, passed) in logged.iter().zip(&passed) {
                        assert_eq!(logged, passed, "{what} {way}, connection {at}");
                    }
                    let (logged, passed) = (logged.len(), passed.len());
                    let may_differ = at == killed && !incoming && logged > passed;
                    assert!(
                        logged == passed || may_differ,
                        "{what} {way}, connection {at}: {logged} of {passed} messages"
                    );
                    unsent += logged - passed;
                }
                assert_eq!(
                    unsent > 0,
                    at == killed && !incoming,
                    "{what}: {unsent} not sent"
                );
            }
        }
    }
}

fn is_resent(raw: &[u8]) -> bool {
    value(raw, "43") == Some(b"Y")
}

/// The messages of each connection: it begins with a Logon.
fn by_connection(messages: Vec<Vec<u8>>) -> Vec<Vec<Vec<u8>>> {
    let mut found: Vec<Vec<Vec<u8>>> = Vec::new();
    for message in messages {
        if value(&message, "35") == Some(b"A") {
            found.push(Vec::new());
        }
        found.last_mut().expect("a Logon").push(message);
    }
    found
}

#[test]
fn an_acceptor_logs_every_message_that_passes_a_tee() {
    play(Role::Acceptor);
}

#[test]
fn an_initiator_logs_every_message_that_passes_a_tee() {
    play(Role::Initiator);
}
