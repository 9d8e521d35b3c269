//! Do FIX clients in other languages trade with us, directly and through a gateway, over gaps, resends and a kill?
//!
//! Clients from their own registries connect to the finished binary: to `run --app echo`, and to a gateway that
//! converts their FIX 4.4 for a venue of FIX 4.2. Orders and reports are lost on the way, sequence numbers are left
//! out, both sides request resends, and fixwire is ended by SIGKILL in the middle of the orders and restarted on its
//! journal. In the end:
//!
//! * every order has its report, as a new one at most once, in the order in which they were sent;
//! * a message that was sent before is marked by PossDupFlag or PossResend;
//! * no side has rejected anything;
//! * the venue behind the gateway got every order, as a new one at most once;
//! * `fixwire journal dump` has the messages that the client says it sent and got, message for message.
//!
//! `FIXWIRE_SEED` repeats the moments of the kills.

use fixwire_rigs::foreign::ForeignClient;
use fixwire_rigs::proxy::{Proxy, Way};
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Launch, Server, binary, free_port, scratch};
use fixwire_rigs::trade::{Event, Side, judge_events};
use fixwire_rigs::wire::{number, value};
use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Orders around a kill.
const BURST: usize = 1_000;
/// If a kill comes when all orders are answered, another one follows among twice as many orders, at most this number of
/// times.
const KILLS: u32 = 5;
/// Messages lost each way.
const LOST: usize = 3;
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn asyncfix_trades_with_echo() -> Result<(), String> {
    play(ForeignClient::Asyncfix, Target::Echo)
}

#[test]
fn asyncfix_trades_through_a_gateway() -> Result<(), String> {
    play(ForeignClient::Asyncfix, Target::Gateway)
}

#[test]
fn jspurefix_trades_with_echo() -> Result<(), String> {
    play(ForeignClient::Jspurefix, Target::Echo)
}

#[test]
fn jspurefix_trades_through_a_gateway() -> Result<(), String> {
    play(ForeignClient::Jspurefix, Target::Gateway)
}

#[test]
fn fixio_trades_with_echo() -> Result<(), String> {
    play(ForeignClient::Fixio, Target::Echo)
}

#[test]
fn fixio_trades_through_a_gateway() -> Result<(), String> {
    play(ForeignClient::Fixio, Target::Gateway)
}

#[test]
fn simplefix_trades_with_echo() -> Result<(), String> {
    play(ForeignClient::Simplefix, Target::Echo)
}

#[test]
fn simplefix_trades_through_a_gateway() -> Result<(), String> {
    play(ForeignClient::Simplefix, Target::Gateway)
}

/// The address that the client connects to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Target {
    Echo,
    Gateway,
}

/// fixwire, the venue behind it, and the client before it.
struct Game {
    folder: PathBuf,
    launch: Launch,
    engine: Option<Server>,
    /// The venue, in a test with a gateway.
    venue: Option<Server>,
    proxy: Proxy,
    client: Side,
    /// The number of orders that the client has to send.
    sent: usize,
}

fn play(client: ForeignClient, target: Target) -> Result<(), String> {
    let seed = seed();
    let outcome = Game::begin(client, target).and_then(|mut game| {
        let played = game.play(&mut Random::new(seed));
        let reported = played.map_err(|fault| {
            let said = game.engine.as_ref().map(Server::last_words);
            format!(
                "{fault}\n{}\n{}",
                game.client.summary(),
                said.unwrap_or_default()
            )
        })?;
        Ok((reported, game.end()?))
    });
    let (reported, again) =
        outcome.map_err(|fault| format!("FIXWIRE_SEED={seed}: {client:?}, {target:?}: {fault}"))?;
    println!(
        "{client:?}, {target:?}: killed after {reported} of {BURST} reports; {again} came again and said so; seed {seed}"
    );
    Ok(())
}

impl Game {
    fn begin(client: ForeignClient, target: Target) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch(&format!("foreign-{client:?}-{target:?}")).map_err(io)?;
        let port = free_port().map_err(io)?;
        let echo = |session: &str, identity: &str, port: u16| {
            let folder = folder.join(session);
            fs::create_dir_all(&folder).map_err(io)?;
            let settings = folder.join("engine.cfg");
            let text = acceptor(&folder, identity, port);
            fs::write(&settings, text).map_err(io)?;
            Ok::<_, String>(Launch {
                binary: binary()?,
                app: Some("echo"),
                settings,
                port,
            })
        };
        let (launch, venue) = match target {
            Target::Echo => (echo("CLIENT", CLIENT, port)?, None),
            Target::Gateway => {
                let venue = echo("VENUE", VENUE, free_port().map_err(io)?)?;
                let folder = folder.join("CLIENT");
                fs::create_dir_all(&folder).map_err(io)?;
                fs::write(
                    folder.join("gateway.toml"),
                    gateway(&folder, port, venue.port),
                )
                .map_err(io)?;
                (Launch::gateway(&folder, port)?, Some(venue.start()?))
            }
        };
        let engine = Some(launch.start()?);
        let proxy = Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(io)?;
        let client = client.start(&folder, proxy.address.port(), "CLIENT", "FIXWIRE")?;
        Ok(Self {
            folder,
            launch,
            engine,
            venue,
            proxy,
            client,
            sent: 0,
        })
    }

    /// The number of orders of the last burst that were reported before the kill.
    fn play(&mut self, random: &mut Random) -> Result<usize, String> {
        self.log_on()?;
        self.trade(20)?;
        self.gaps()?;
        self.resends()?;
        let reported = self.kill(random)?;
        self.trade(20)?;
        let before = self.client.count("logout");
        self.client.tell("logout")?;
        self.client
            .wait("logout", |client| client.count("logout") > before)?;
        Ok(reported)
    }

    fn log_on(&mut self) -> Result<(), String> {
        let before = self.client.count("logon");
        self.client.tell("logon")?;
        self.client
            .wait("logon", |client| client.count("logon") > before)
    }

    fn send(&mut self, orders: usize) -> Result<(), String> {
        self.sent += orders;
        self.client.send(orders)
    }

    /// Orders, and a report for each.
    fn trade(&mut self, orders: usize) -> Result<(), String> {
        self.send(orders)?;
        self.client.wait_for("report", self.sent)?;
        judge(self.client.seen())
    }

    /// fixwire misses some messages, and requests them.
    fn gaps(&mut self) -> Result<(), String> {
        let asked = self.proxy.asked(Way::ToInitiator);
        self.proxy.lose(Way::ToAcceptor, LOST);
        self.trade(LOST + 2)?;
        self.client.tell("skip 4")?;
        self.trade(3)?;
        match self.proxy.asked(Way::ToInitiator) - asked {
            2 => Ok(()),
            other => Err(format!("{other} ResendRequests for two gaps")),
        }
    }

    /// The client misses some messages, then requests messages that it already has.
    fn resends(&mut self) -> Result<(), String> {
        let asked = self.proxy.asked(Way::ToAcceptor);
        self.proxy.lose(Way::ToInitiator, LOST);
        self.trade(LOST + 2)?;
        if self.proxy.asked(Way::ToAcceptor) == asked {
            return Err("the client did not ask for lost reports".to_owned());
        }
        let before = again(self.client.seen());
        self.client.tell("back 5")?;
        self.trade(1)?;
        self.client.wait("five reports again", |client| {
            again(client.seen()) >= before + 5
        })?;
        judge(self.client.seen())
    }

    /// SIGKILL among orders. Returns the number of orders reported before.
    fn kill(&mut self, random: &mut Random) -> Result<usize, String> {
        for time in 0..KILLS {
            let burst = BURST << time;
            let ended = self.client.count("logout");
            let through = 1 + random.below(BURST as u64 / 10) as usize;
            let before = self.sent;
            self.send(burst)?;
            self.client.wait_for("report", before + through)?;
            self.engine.take().ok_or("fixwire does not run")?.kill()?;
            self.client.wait("the end of the connection", |client| {
                client.count("logout") > ended
            })?;
            let reported = reports(self.client.seen()) - before;
            self.engine = Some(self.launch.start()?);
            self.log_on()?;
            self.client.wait_for("report", self.sent)?;
            judge(self.client.seen())?;
            if reported < burst {
                return Ok(reported);
            }
        }
        Err(format!("{KILLS} kills, and none among the orders"))
    }

    /// Ends all programs, and compares the two sides. Returns the number of reports that came more than once.
    fn end(self) -> Result<usize, String> {
        let Self {
            folder,
            launch,
            engine,
            venue,
            mut client,
            sent,
            ..
        } = self;
        let seen = client.finish()?;
        engine.ok_or("fixwire does not run")?.terminate(PATIENCE)?;
        judge(seen)?;
        let dumped = |session: &str, way: &str| {
            let (folder, name) = match session {
                "VENUE" => (folder.join("VENUE"), "FIX.4.2:VENUE->FIXWIRE"),
                _ => (folder.join("CLIENT"), "FIX.4.4:FIXWIRE->CLIENT"),
            };
            dump(&launch.binary, &folder, name, way)
        };
        agree(&dumped("CLIENT", "out")?, &told(seen, "in"), "reports", "8")?;
        agree(&told(seen, "out"), &dumped("CLIENT", "in")?, "orders", "D")?;
        if let Some(venue) = venue {
            venue.terminate(PATIENCE)?;
            let orders = dumped("VENUE", "in")?.into_iter();
            let orders = orders.filter(|message| message.msg_type == "D");
            let orders: Vec<Event> = orders.map(Passed::order).collect();
            judge(&orders).map_err(|fault| format!("VENUE: {fault}"))?;
            let ids: BTreeSet<_> = orders.iter().map(|order| &order.id).collect();
            if ids.len() != sent {
                return Err(format!("VENUE got {} of {sent} orders", ids.len()));
            }
        }
        Ok(again(seen))
    }
}

/// The order is the order of sequence numbers, since not every client holds messages above a gap.
fn judge(seen: &[Event]) -> Result<(), String> {
    let mut seen = seen.to_vec();
    seen.sort_by_key(|event| (event.seq, event.dup));
    judge_events(&seen)
}

/// The reported orders.
fn reports(seen: &[Event]) -> usize {
    let reports = seen.iter().filter(|event| event.name == "report");
    let ids: BTreeSet<_> = reports.map(|report| &report.id).collect();
    ids.len()
}

/// Reports marked as possible repetitions.
fn again(seen: &[Event]) -> usize {
    let reports = seen.iter().filter(|event| event.name == "report");
    reports.filter(|event| event.dup).count()
}

/// fixwire's side of the session with the client, and the venue's side of the session with the gateway.
const CLIENT: &str = "BeginString=FIX.4.4\nSenderCompID=FIXWIRE\nTargetCompID=CLIENT";
const VENUE: &str = "BeginString=FIX.4.2\nSenderCompID=VENUE\nTargetCompID=FIXWIRE";

fn acceptor(folder: &Path, identity: &str, port: u16) -> String {
    format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\nFileStorePath={}\n\
         NonStopSession=Y\nJournalSegmentSize=2M\n\n\
         [SESSION]\n{identity}\n",
        folder.join("store").display()
    )
}

fn gateway(folder: &Path, client: u16, venue: u16) -> String {
    format!(
        r#"
[default]
FileStorePath = '{}'
JournalSegmentSize = "2M"
NonStopSession = true

[[session]]
SessionName = "CLIENT"
ConnectionType = "acceptor"
SocketAcceptPort = {client}
BeginString = "FIX.4.4"
SenderCompID = "FIXWIRE"
TargetCompID = "CLIENT"

[[session]]
SessionName = "VENUE"
ConnectionType = "initiator"
SocketConnectHost = "127.0.0.1"
SocketConnectPort = {venue}
ReconnectInterval = 1
HeartBtInt = 30
BeginString = "FIX.4.2"
SenderCompID = "FIXWIRE"
TargetCompID = "VENUE"

[[rule]]
from = ["CLIENT"]
do = ['convert', 'send VENUE']

[[rule]]
from = ["VENUE"]
do = ['convert', 'return']
"#,
        folder.join("store").display()
    )
}

/// A message on the wire, as one side has it.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Passed {
    msg_type: String,
    seq: u64,
    dup: bool,
    /// ClOrdID.
    id: String,
}

impl Passed {
    fn order(self) -> Event {
        Event {
            name: "order".into(),
            id: self.id,
            seq: self.seq,
            dup: self.dup,
            text: String::new(),
        }
    }
}

/// The client's report of one direction.
fn told(seen: &[Event], way: &str) -> Vec<Passed> {
    let way = seen.iter().filter(|event| event.name == way);
    way.map(|event| {
        let json: serde_json::Value = serde_json::from_str(&event.text).unwrap_or_default();
        Passed {
            msg_type: json["type"].as_str().unwrap_or_default().to_owned(),
            seq: event.seq,
            dup: event.dup,
            id: event.id.clone(),
        }
    })
    .collect()
}

/// The journal's messages of one session and direction.
fn dump(binary: &Path, folder: &Path, session: &str, way: &str) -> Result<Vec<Passed>, String> {
    let output = Command::new(binary)
        .args(["journal", "dump", "--json", "--direction", way])
        .args(["--session", session])
        .arg(folder.join("store"))
        .output()
        .map_err(|error| format!("journal dump: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let mut passed = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let line: serde_json::Value =
            serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        if line["what"] != way {
            continue;
        }
        let text = line["text"].as_str().ok_or("a line without text")?;
        let raw = text.replace('|', "\x01").into_bytes();
        let get = |tag| String::from_utf8_lossy(value(&raw, tag).unwrap_or_default()).into_owned();
        passed.push(Passed {
            msg_type: get("35"),
            seq: number(&raw, "34").ok_or_else(|| format!("no number: {text}"))?,
            dup: [get("43"), get("97")].contains(&"Y".to_owned()),
            id: get("11"),
        });
    }
    Ok(passed)
}

/// One side received the messages that the other one sent, except those lost by the proxy and those at the end of each
/// connection but the last, where fixwire was killed.
fn agree(sent: &[Passed], received: &[Passed], what: &str, lost_type: &str) -> Result<(), String> {
    let (sent, received) = (by_connection(sent), by_connection(received));
    let counts = (sent.len(), received.len());
    if counts.0 != counts.1 || counts.0 < 2 {
        return Err(format!(
            "connections with {what}, sent and received: {counts:?}"
        ));
    }
    let mut lost = Vec::new();
    for (at, (sent, received)) in sent.iter().zip(&received).enumerate() {
        // New messages wait for resent ones to go first, and are recorded before them.
        for dup in [false, true] {
            let kind = |one: &&Passed| one.dup == dup;
            let mut received = received.iter().filter(kind).peekable();
            for message in sent.iter().filter(kind) {
                if received.next_if_eq(&message).is_some() {
                    continue;
                }
                // Messages on their way when fixwire was killed are not lost by the proxy.
                if at + 1 == counts.0 || received.peek().is_some() {
                    lost.push(message.clone());
                }
            }
            if let Some(unknown) = received.next() {
                return Err(format!("{what}: received and never sent: {unknown:?}"));
            }
        }
    }
    let as_told = lost.iter().all(|one| one.msg_type == lost_type && !one.dup);
    if as_told && lost.len() == LOST {
        Ok(())
    } else {
        Err(format!("{what}: sent and not received: {lost:?}"))
    }
}

/// A connection begins with a Logon.
fn by_connection(messages: &[Passed]) -> Vec<Vec<Passed>> {
    let mut found: Vec<Vec<Passed>> = Vec::new();
    for message in messages {
        if message.msg_type == "A" || found.is_empty() {
            found.push(Vec::new());
        }
        found
            .last_mut()
            .into_iter()
            .for_each(|last| last.push(message.clone()));
    }
    found
}

#[test]
fn each_planted_fault_is_found() {
    let message = |msg_type: &str, seq, dup| Passed {
        msg_type: msg_type.into(),
        seq,
        dup,
        id: format!("A-{seq}"),
    };
    // Three messages are lost; the last one before the kill is requested again.
    let first: Vec<_> = [message("A", 1, false)]
        .into_iter()
        .chain((2..9).map(|seq| message("8", seq, false)))
        .collect();
    let second = [message("A", 9, false), message("8", 8, true)];
    let sent = [&first[..], &second].concat();
    let without = |missing: &[u64]| -> Vec<_> {
        let arrived = |one: &&Passed| one.dup || !missing.contains(&one.seq);
        sent.iter().filter(arrived).cloned().collect()
    };
    let good = without(&[3, 4, 5, 8]);
    let agree = |received: &[Passed]| agree(&sent, received, "reports", "8");
    assert_eq!(agree(&good), Ok(()));
    assert!(agree(&without(&[3, 4, 5, 6, 8])).is_err());
    assert!(agree(&without(&[3, 4, 8])).is_err());
    assert!(agree(&without(&[3, 4, 5, 8, 9])).is_err());
    assert!(agree(&good[..good.len() - 1]).is_err());
    assert!(agree(&[&good[..], &second[1..]].concat()).is_err());
    let swapped: Vec<_> = good.iter().rev().cloned().collect();
    assert!(agree(&swapped).is_err());
}
