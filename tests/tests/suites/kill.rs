//! Is anything lost, doubled or changed when the engine is killed under load?
//!
//! SIGKILL ends the finished binary at random moments, some of them during its start, and it starts again on the same
//! journal. Peers that remember every byte are the witnesses; the journal is read between death and restart.
//!
//! * A1: every message that a peer saw is in the journal with the same bytes.
//! * A2: no number has two different messages.
//! * A3: nothing is delivered out of order; each order is reported exactly once.
//!
//! `KILLS` is the number of kills for each test (60, and half as many for all but the acceptor), `FIXWIRE_SEED` repeats
//! a run.

use fixwire::journal::{Direction, DumpFilter, DumpFormat, dump};
use fixwire_rigs::order_flow::{OrderFlow, SENDER, stable};
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Launch, binary, free_port, scratch};
use fixwire_rigs::wire::{show, value};
use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// After this number of deaths the sessions settle, and new ones begin on a new journal.
const DEATHS_PER_LIFE: u64 = 20;
/// The latest moment of a death, after a peer has logged on.
const LATEST: Duration = Duration::from_millis(150);
/// The latest moment of a death of an engine that may not have started yet.
const EARLY: Duration = Duration::from_millis(30);
/// The most time until a peer is logged on after a start.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine, and its peers.
struct Plan {
    name: &'static str,
    /// Peers that connect, and peers that the engine connects to.
    acceptors: usize,
    initiators: usize,
    settings: &'static str,
    /// After this number of deaths the numbers of sessions that connect are reset.
    resets_after: Option<u64>,
}

#[test]
fn nothing_is_lost_when_an_acceptor_is_killed() -> Result<(), String> {
    campaign(
        kills(),
        &Plan {
            name: "kill",
            acceptors: 1,
            initiators: 0,
            settings: "",
            resets_after: None,
        },
    )
}

#[test]
fn nothing_is_lost_when_an_initiator_is_killed() -> Result<(), String> {
    campaign(
        kills().div_ceil(2),
        &Plan {
            name: "kill-initiator",
            acceptors: 0,
            initiators: 1,
            settings: "",
            resets_after: None,
        },
    )
}

#[test]
fn nothing_is_lost_of_several_sessions_that_are_on_the_disk() -> Result<(), String> {
    campaign(
        kills().div_ceil(2),
        &Plan {
            name: "kill-disk",
            acceptors: 2,
            initiators: 1,
            settings: "Durability=disk\n",
            resets_after: None,
        },
    )
}

#[test]
fn nothing_is_lost_while_old_segments_are_compressed_and_removed() -> Result<(), String> {
    campaign(
        kills().div_ceil(2),
        &Plan {
            name: "kill-retention",
            acceptors: 2,
            initiators: 0,
            settings: "JournalCompress=Y\nJournalKeep=1\n",
            resets_after: Some(4),
        },
    )
}

fn kills() -> u64 {
    let text = std::env::var("KILLS").ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// Kills this number of times.
fn campaign(kills: u64, plan: &Plan) -> Result<(), String> {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut deaths, mut orders) = (0, 0);
    while deaths < kills {
        let life = (kills - deaths).min(DEATHS_PER_LIFE);
        orders += Life::begin(plan)
            .and_then(|mut lived| lived.pass(life, &mut random, plan))
            .map_err(|fault| {
                format!("FIXWIRE_SEED={seed}: after {deaths} kills and up to {life} more: {fault}")
            })?;
        deaths += life;
    }
    println!(
        "{}: {deaths} kills, {orders} orders, nothing lost, doubled or changed; seed {seed}",
        plan.name
    );
    Ok(())
}

/// The witnesses of one journal.
struct Life {
    launch: Launch,
    journal: PathBuf,
    flows: Vec<(String, OrderFlow)>,
    /// The number of orders whose sequence numbers have been reset since.
    forgotten: usize,
}

impl Life {
    fn begin(plan: &Plan) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch(plan.name).map_err(io)?;
        let port = free_port().map_err(io)?;
        let (settings, journal) = (folder.join("engine.cfg"), folder.join("journal"));
        let mut text = format!(
            "[DEFAULT]\nFileStorePath={}\nJournalSegmentSize=2M\nNonStopSession=Y\n\
             BeginString=FIX.4.2\nSenderCompID={SENDER}\n{}",
            journal.display(),
            plan.settings
        );
        let mut flows = Vec::new();
        for at in 0..plan.acceptors + plan.initiators {
            let name = format!("WITNESS{at}");
            let mut listener = None;
            text += &format!("\n[SESSION]\nTargetCompID={name}\n");
            if at < plan.acceptors {
                text += &format!("ConnectionType=acceptor\nSocketAcceptPort={port}\n");
            } else {
                let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(io)?;
                bound.set_nonblocking(true).map_err(io)?;
                let port = bound.local_addr().map_err(io)?.port();
                text += &format!(
                    "ConnectionType=initiator\nSocketConnectHost=127.0.0.1\n\
                     SocketConnectPort={port}\nReconnectInterval=1\nHeartBtInt=30\n"
                );
                listener = Some(bound);
            }
            let flow = OrderFlow::new(&name, listener);
            flows.push((format!("FIX.4.2:{SENDER}->{name}"), flow));
        }
        fs::write(&settings, text).map_err(io)?;
        let launch = Launch {
            binary: binary()?,
            app: Some("echo"),
            settings,
            port,
        };
        Ok(Self {
            launch,
            journal,
            flows,
            forgotten: 0,
        })
    }

    /// Starts, kills and compares, this number of times. In the end everything must be settled. Returns the number of
    /// orders.
    fn pass(&mut self, deaths: u64, random: &mut Random, plan: &Plan) -> Result<usize, String> {
        for death in 1..=deaths {
            let is_early = death > 1 && random.below(4) == 0;
            let latest = if is_early { EARLY } else { LATEST };
            let moment = Duration::from_micros(random.below(latest.as_micros() as u64));
            let server = if is_early || plan.acceptors == 0 {
                self.launch.spawn()?
            } else {
                self.launch.start()?
            };
            let address = server.address;
            let logons: Vec<_> = self.flows.iter().map(|(_, flow)| flow.logons()).collect();
            let logons = || -> usize { logons.iter().map(|it| it.load(Ordering::Relaxed)).sum() };
            let before = logons();
            let (killed, outcomes, is_late) = std::thread::scope(|scope| {
                let flows = self.flows.iter_mut();
                let loads: Vec<_> = flows
                    .map(|(_, flow)| scope.spawn(move || flow.run_until_broken(address)))
                    .collect();
                // However slow the machine is, orders are on their way at most deaths.
                let deadline = Instant::now() + PATIENCE;
                let has_begun = || logons() != before || loads.iter().all(|it| it.is_finished());
                while !is_early && !has_begun() && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_micros(200));
                }
                let is_late = Instant::now() >= deadline;
                std::thread::sleep(moment);
                let killed = server.kill();
                let ends = loads.into_iter().map(|load| load.join());
                let ends = ends.collect::<Vec<_>>();
                (killed, ends, is_late)
            });
            killed?;
            if is_late {
                return Err(format!("no logon within {PATIENCE:?} of start {death}"));
            }
            for outcome in outcomes {
                outcome.map_err(|_| "a peer panicked".to_owned())??;
            }
            self.compare()?;
            if plan.resets_after.is_some_and(|after| death % after == 0) {
                for (_, flow) in &mut self.flows {
                    self.forgotten += flow.orders.len();
                    flow.begin_anew();
                }
            }
        }
        let server = if plan.acceptors == 0 {
            self.launch.spawn()?
        } else {
            self.launch.start()?
        };
        for (_, flow) in &mut self.flows {
            flow.settle(server.address, 100)?;
        }
        server.terminate(Duration::from_secs(10))?;
        self.compare()?;
        let orders = self.flows.iter().map(|(_, flow)| flow.orders.len());
        Ok(self.forgotten + orders.sum::<usize>())
    }

    /// A1 and A2 against the journal as the dead engine left it.
    fn compare(&self) -> Result<(), String> {
        for (name, flow) in &self.flows {
            let written = outbound(&self.journal, name)?;
            for (seq, raw) in &flow.seen {
                let Some(record) = written.get(seq) else {
                    return Err(format!(
                        "{name}: the peer saw {seq}, the journal does not have it: {}",
                        show(raw)
                    ));
                };
                let first_time = !show(raw).contains("|43=Y|");
                let same = if first_time {
                    *record == *raw
                } else {
                    stable(record) == stable(raw)
                };
                if !same {
                    return Err(format!(
                        "{name}: number {seq}: seen {}, written {}",
                        show(raw),
                        show(record)
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The messages that the journal has as sent to a session since its numbers began, by MsgSeqNum.
fn outbound(journal: &Path, session: &str) -> Result<BTreeMap<u64, Vec<u8>>, String> {
    if !journal.exists() {
        return Ok(BTreeMap::new());
    }
    let mut text = Vec::new();
    let filter = DumpFilter {
        session: Some(session.to_owned()),
        direction: Some(Direction::Out),
        ..DumpFilter::default()
    };
    dump(journal, &filter, &mut text, DumpFormat::Json).map_err(|error| error.to_string())?;
    let mut written = BTreeMap::new();
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let json: serde_json::Value =
            serde_json::from_slice(line).map_err(|error| error.to_string())?;
        // Resent messages and gap fills are marked: the first message with a number counts.
        if json["mark"].is_string() {
            continue;
        }
        let (Some(seq), Some(text)) = (json["seq"].as_u64(), json["text"].as_str()) else {
            return Err(format!("a dumped message without number or text: {json}"));
        };
        let raw: Vec<u8> = text
            .bytes()
            .map(|byte| if byte == b'|' { 1 } else { byte })
            .collect();
        if value(&raw, "35") == Some(b"A") && value(&raw, "141") == Some(b"Y") {
            written.clear();
        }
        if let Some(other) = written.insert(seq, raw.clone())
            && other != raw
        {
            return Err(format!(
                "number {seq} is written twice: {} and {}",
                show(&other),
                show(&raw)
            ));
        }
    }
    Ok(written)
}
