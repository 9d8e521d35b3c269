//! Is anything lost or doubled when either side of a session with another engine is killed?
//!
//! The finished binary answers orders from a foreign engine. SIGKILL ends either of the two, under load or while they
//! reconnect, and each continues from its own store. In the end every order that the foreign engine has surely sent
//! must have been answered once:
//!
//! * no two numbers have a report of the same order, no number has two reports;
//! * a repeated report is marked by PossDupFlag;
//! * neither side has rejected a message.
//!
//! `INTEROP_KILLS` is the number of kills for each engine and role, with and without TLS (25), `FIXWIRE_SEED` repeats
//! the moments.

use fixwire_rigs::certificates;
use fixwire_rigs::peers::{Engine, Role, Running, Terms};
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Launch, Server, binary, free_port, scratch};
use fixwire_rigs::trade::Event;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const OURS: &str = "FIXWIRE";
const THEIRS: &str = "THEIRS";
/// Orders of one burst.
const BURST: usize = 40;
/// The most time for one step: a JVM starts, an initiator pauses.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn quickfix_cpp_as_initiator() -> Result<(), String> {
    campaign(Engine::QuickfixCpp, Role::Acceptor)
}

#[test]
fn quickfix_cpp_as_acceptor() -> Result<(), String> {
    campaign(Engine::QuickfixCpp, Role::Initiator)
}

#[test]
fn quickfix_j_as_initiator() -> Result<(), String> {
    campaign(Engine::QuickfixJ, Role::Acceptor)
}

#[test]
fn quickfix_j_as_acceptor() -> Result<(), String> {
    campaign(Engine::QuickfixJ, Role::Initiator)
}

#[test]
fn quickfix_go_as_initiator() -> Result<(), String> {
    campaign(Engine::QuickfixGo, Role::Acceptor)
}

#[test]
fn quickfix_go_as_acceptor() -> Result<(), String> {
    campaign(Engine::QuickfixGo, Role::Initiator)
}

#[test]
fn quickfix_cpp_as_initiator_over_tls() -> Result<(), String> {
    over_tls(Engine::QuickfixCpp, Role::Acceptor)
}

#[test]
fn quickfix_cpp_as_acceptor_over_tls() -> Result<(), String> {
    over_tls(Engine::QuickfixCpp, Role::Initiator)
}

#[test]
fn quickfix_j_as_initiator_over_tls() -> Result<(), String> {
    over_tls(Engine::QuickfixJ, Role::Acceptor)
}

#[test]
fn quickfix_j_as_acceptor_over_tls() -> Result<(), String> {
    over_tls(Engine::QuickfixJ, Role::Initiator)
}

#[test]
fn quickfix_go_as_initiator_over_tls() -> Result<(), String> {
    over_tls(Engine::QuickfixGo, Role::Acceptor)
}

#[test]
fn quickfix_go_as_acceptor_over_tls() -> Result<(), String> {
    over_tls(Engine::QuickfixGo, Role::Initiator)
}

fn campaign(engine: Engine, ours: Role) -> Result<(), String> {
    kill(engine, ours, &Terms::default())
}

fn over_tls(engine: Engine, ours: Role) -> Result<(), String> {
    let folder = scratch(&format!("interop-kill-tls-{engine:?}-we-are-{ours:?}"))
        .and_then(std::path::absolute)
        .map_err(|error| error.to_string())?;
    certificates::make(&folder)?;
    let terms = Terms {
        certificates: folder,
        ..Terms::default()
    };
    kill(engine, ours, &terms)
}

fn kill(engine: Engine, ours: Role, terms: &Terms) -> Result<(), String> {
    let text = std::env::var("INTEROP_KILLS").ok();
    let kills: u64 = text.and_then(|text| text.parse().ok()).unwrap_or(25);
    let seed = seed();
    let mut random = Random::new(seed);
    let outcome = Match::begin(engine, ours, terms).and_then(|mut sides| {
        for _ in 0..kills {
            sides.death(&mut random)?;
        }
        sides.settle()
    });
    let answered = outcome.map_err(|fault| format!("FIXWIRE_SEED={seed}: {fault}"))?;
    let tls = if terms.is_sealed() { " over TLS" } else { "" };
    println!(
        "{engine:?}{tls}, we are {ours:?}: {kills} kills, {answered} orders answered once; seed {seed}"
    );
    Ok(())
}

/// The two sides of one session.
struct Match {
    engine: Engine,
    /// The engine's role.
    role: Role,
    terms: Terms,
    port: u16,
    store: PathBuf,
    launch: Launch,
    our_side: Option<Server>,
    their_side: Option<(Running, Receiver<Event>)>,
    /// The number of requested orders, and the number of these, from the first, that are surely sent.
    asked: usize,
    sent: BTreeSet<usize>,
    reports: Reports,
}

impl Match {
    fn begin(engine: Engine, ours: Role, terms: &Terms) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let tls = if terms.is_sealed() { "-sealed" } else { "" };
        let name = format!("interop-kill-{engine:?}-we-are-{ours:?}{tls}");
        let folder = scratch(&name).map_err(io)?;
        let store = folder.join("theirs");
        fs::create_dir_all(&store).map_err(io)?;
        let port = free_port().map_err(io)?;
        let role = match ours {
            Role::Acceptor => Role::Initiator,
            Role::Initiator => Role::Acceptor,
        };
        let launch = Launch {
            binary: binary()?,
            app: Some("echo"),
            settings: settings(&folder, ours, port, terms)?,
            port,
        };
        let mut sides = Self {
            engine,
            role,
            terms: terms.clone(),
            port,
            store,
            launch,
            our_side: None,
            their_side: None,
            asked: 0,
            sent: BTreeSet::new(),
            reports: Reports::default(),
        };
        sides.start_ours()?;
        sides.start_theirs()?;
        Ok(sides)
    }

    fn start_ours(&mut self) -> Result<(), String> {
        self.our_side = Some(self.launch.spawn()?);
        Ok(())
    }

    fn start_theirs(&mut self) -> Result<(), String> {
        let (mut running, events) =
            self.engine
                .run(self.role, self.port, THEIRS, OURS, &self.store, &self.terms)?;
        running.tell(&format!("from {}", self.asked))?;
        self.their_side = Some((running, events));
        Ok(())
    }

    /// One side dies at a random moment, and restarts.
    fn death(&mut self, random: &mut Random) -> Result<(), String> {
        if random.below(4) > 0 {
            self.wait_for("logon", |event| event.name == "logon")?;
            self.burst()?;
        }
        std::thread::sleep(Duration::from_micros(random.below(60_000)));
        if random.below(2) == 0 {
            let ours = self.our_side.take().ok_or("we do not run")?;
            ours.kill()?;
            self.drain()?;
            self.start_ours()
        } else {
            // Its output until then must still be read.
            if let Some((running, events)) = self.their_side.take() {
                drop(running);
                for event in events {
                    self.take(&event)?;
                }
            }
            self.start_theirs()
        }
    }

    fn burst(&mut self) -> Result<(), String> {
        self.asked += BURST;
        self.tell(&format!("send {BURST}"))
    }

    fn tell(&mut self, line: &str) -> Result<(), String> {
        match &mut self.their_side {
            Some((running, _)) => running.tell(line),
            None => Err("they do not run".to_owned()),
        }
    }

    /// Every order that was surely sent is answered.
    fn settle(&mut self) -> Result<usize, String> {
        self.burst()?;
        let asked = self.asked;
        self.wait_for("the last orders sent", |event| {
            event.name == "sent" && event.text.contains(&format!(":{asked}}}"))
        })?;
        let deadline = Instant::now() + PATIENCE;
        while let Some(missing) = self.sent.iter().find(|id| !self.reports.has(**id)) {
            let missing = *missing;
            if Instant::now() > deadline {
                return Err(format!(
                    "{THEIRS}-{missing} is not answered; {}",
                    self.last_words()
                ));
            }
            self.next(Duration::from_millis(200))?;
        }
        Ok(self.sent.len())
    }

    fn wait_for(&mut self, what: &str, is: impl Fn(&Event) -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if self
                .next(Duration::from_millis(200))?
                .is_some_and(|event| is(&event))
            {
                return Ok(());
            }
        }
        Err(format!("they never saw {what}; {}", self.last_words()))
    }

    fn last_words(&self) -> String {
        self.our_side
            .as_ref()
            .map(Server::last_words)
            .unwrap_or_default()
    }

    fn next(&mut self, patience: Duration) -> Result<Option<Event>, String> {
        let Some((_, events)) = &self.their_side else {
            return Err("they do not run".to_owned());
        };
        match events.recv_timeout(patience) {
            Ok(event) => {
                self.take(&event)?;
                Ok(Some(event))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("they ended by themselves".to_owned()),
        }
    }

    fn drain(&mut self) -> Result<(), String> {
        while self.next(Duration::ZERO)?.is_some() {}
        Ok(())
    }

    fn take(&mut self, event: &Event) -> Result<(), String> {
        match event.name.as_str() {
            // A burst is reported when all of its orders are sent.
            "sent" => {
                let json: serde_json::Value =
                    serde_json::from_str(&event.text).map_err(|error| error.to_string())?;
                let total = json["total"].as_u64().unwrap_or_default() as usize;
                self.sent.extend(total + 1 - BURST.min(total)..=total);
                Ok(())
            }
            "report" => self.reports.take(event),
            "rejected" | "failed" => Err(format!("{}: {}", event.name, event.text)),
            _ => Ok(()),
        }
    }
}

/// The reports that the other side saw.
#[derive(Default)]
struct Reports {
    by_seq: BTreeMap<u64, String>,
    by_id: BTreeMap<String, u64>,
}

impl Reports {
    fn has(&self, number: usize) -> bool {
        self.by_id.contains_key(&format!("{THEIRS}-{number}"))
    }

    fn take(&mut self, event: &Event) -> Result<(), String> {
        let (id, seq) = (&event.id, event.seq);
        let first = !self.by_seq.contains_key(&seq);
        let other_id = self.by_seq.entry(seq).or_insert_with(|| id.clone());
        if other_id != id {
            return Err(format!("number {seq} reports {other_id} and {id}"));
        }
        let other_seq = *self.by_id.entry(id.clone()).or_insert(seq);
        if other_seq != seq {
            return Err(format!("{id} is reported as {other_seq} and as {seq}"));
        }
        if !first && !event.dup {
            return Err(format!(
                "{id} came again as {seq}, not marked as a duplicate"
            ));
        }
        Ok(())
    }
}

fn settings(folder: &Path, ours: Role, port: u16, terms: &Terms) -> Result<PathBuf, String> {
    let connection = match ours {
        Role::Acceptor => format!("ConnectionType=acceptor\nSocketAcceptPort={port}"),
        Role::Initiator => format!(
            "ConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\n\
             ReconnectInterval=1\nHeartBtInt=30"
        ),
    };
    let tls = match terms.is_sealed() {
        true => certificates::settings(&terms.certificates),
        false => String::new(),
    };
    let path = folder.join("engine.cfg");
    let text = format!(
        "[DEFAULT]\n{connection}\n{tls}FileStorePath={}\nNonStopSession=Y\nJournalSegmentSize=2M\n\n\
         [SESSION]\nBeginString=FIX.4.2\nSenderCompID={OURS}\nTargetCompID={THEIRS}\n",
        folder.join("journal").display()
    );
    fs::write(&path, text).map_err(|error| error.to_string())?;
    Ok(path)
}

#[test]
fn each_planted_fault_is_found() {
    let report = |id: &str, seq, dup| Event {
        name: "report".into(),
        id: id.into(),
        seq,
        dup,
        ..Event::default()
    };
    let take = |events: &[Event]| {
        let mut reports = Reports::default();
        events.iter().try_for_each(|event| reports.take(event))
    };
    assert_eq!(take(&[report("A", 2, false), report("A", 2, true)]), Ok(()));
    assert!(take(&[report("A", 2, false), report("A", 2, false)]).is_err());
    assert!(take(&[report("A", 2, false), report("A", 3, false)]).is_err());
    assert!(take(&[report("A", 2, false), report("B", 2, true)]).is_err());
}
