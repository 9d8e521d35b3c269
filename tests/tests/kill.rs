//! Is anything lost, doubled or changed when the engine is killed under load?
//!
//! The finished binary is ended by SIGKILL at random moments and started again on the same journal. A
//! peer that remembers every byte is the witness; the journal is read between death and restart.
//!
//! * A1: every message the peer saw is in the journal with the same bytes.
//! * A2: a number never stands for two messages.
//! * A3: nothing is delivered out of order; each order is reported exactly once.
//!
//! `KILLS` says how many (60), `FIXWIRE_SEED` repeats a run.

use fixwire::journal::{Direction, Filter, Format, dump};
use fixwire_rigs::order_flow::{OrderFlow, SENDER, TARGET, stable};
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Launch, binary, canary_binary, free_port, scratch};
use fixwire_rigs::wire::show;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// After so many deaths the session settles and a new one begins on a new journal.
const DEATHS_PER_LIFE: u64 = 20;
/// The latest moment of a death, after the engine listens.
const LATEST: Duration = Duration::from_millis(150);

#[test]
fn nothing_is_lost_when_the_engine_is_killed() -> Result<(), String> {
    let kills = std::env::var("KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(60);
    let seed = seed();
    println!("{kills} kills, seed {seed}");
    let (deaths, orders) = campaign(&binary()?, kills, seed, None)
        .map_err(|fault| format!("FIXWIRE_SEED={seed}: {fault}"))?;
    println!("{deaths} kills, {orders} orders, nothing lost, doubled or changed; seed {seed}");
    Ok(())
}

/// The rig must see an engine that does not write what it sends.
#[test]
fn a_planted_fault_is_found() -> Result<(), String> {
    let seed = seed();
    match campaign(&canary_binary()?, 60, seed, Some("skip-commit")) {
        Err(fault) => {
            println!("found, as it must be: {fault}");
            Ok(())
        }
        Ok((deaths, _)) => Err(format!(
            "{deaths} kills did not show that records are left out; seed {seed}"
        )),
    }
}

/// Kills so often; the number of deaths and of orders.
fn campaign(
    binary: &Path,
    kills: u64,
    seed: u64,
    canary: Option<&'static str>,
) -> Result<(u64, usize), String> {
    let mut random = Random::new(seed);
    let (mut deaths, mut orders) = (0, 0);
    while deaths < kills {
        let life = (kills - deaths).min(DEATHS_PER_LIFE);
        orders += one_life(binary, life, &mut random, canary)
            .map_err(|fault| format!("after {deaths} kills and up to {life} more: {fault}"))?;
        deaths += life;
    }
    Ok((deaths, orders))
}

/// Starts, kills, compares; so often on one journal. At last everything must be settled.
fn one_life(
    binary: &Path,
    deaths: u64,
    random: &mut Random,
    canary: Option<&'static str>,
) -> Result<usize, String> {
    let name = if canary.is_some() {
        "kill-canary"
    } else {
        "kill"
    };
    let (launch, journal) = set_up(name, binary, canary)?;
    let mut flow = OrderFlow::new();
    for _ in 0..deaths {
        let server = launch.start()?;
        let address = server.address;
        let moment = Duration::from_micros(random.below(LATEST.as_micros() as u64));
        let (killed, outcome) = std::thread::scope(|scope| {
            let load = scope.spawn(|| flow.run_until_broken(address));
            std::thread::sleep(moment);
            (server.kill(), load.join())
        });
        killed?;
        outcome.map_err(|_| "the peer panicked".to_owned())??;
        compare(&flow, &journal)?;
    }
    let server = launch.start()?;
    flow.settle(server.address, 100)?;
    server.terminate(Duration::from_secs(10))?;
    compare(&flow, &journal)?;
    Ok(flow.orders.len())
}

fn set_up(
    name: &str,
    binary: &Path,
    canary: Option<&'static str>,
) -> Result<(Launch, PathBuf), String> {
    let folder = scratch(name).map_err(|error| error.to_string())?;
    let port = free_port().map_err(|error| error.to_string())?;
    let (settings, journal) = (folder.join("engine.cfg"), folder.join("journal"));
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\nFileStorePath={}\n\
         JournalSegmentSize=2M\nNonStopSession=Y\n\n\
         [SESSION]\nBeginString=FIX.4.2\nSenderCompID={SENDER}\nTargetCompID={TARGET}\n",
        journal.display()
    );
    fs::write(&settings, text).map_err(|error| error.to_string())?;
    let launch = Launch {
        binary: binary.to_owned(),
        app: Some("echo"),
        settings,
        port,
        canary,
    };
    Ok((launch, journal))
}

/// A1 and A2 against the journal as the dead engine left it.
fn compare(flow: &OrderFlow, journal: &Path) -> Result<(), String> {
    let written = outbound(journal)?;
    for (seq, raw) in &flow.seen {
        let Some(record) = written.get(seq) else {
            return Err(format!(
                "the peer saw {seq}, the journal does not have it: {}",
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
                "number {seq}: seen {}, written {}",
                show(raw),
                show(record)
            ));
        }
    }
    Ok(())
}

/// What the journal says was sent, by MsgSeqNum.
fn outbound(journal: &Path) -> Result<BTreeMap<u64, Vec<u8>>, String> {
    let mut text = Vec::new();
    let filter = Filter {
        direction: Some(Direction::Out),
        ..Filter::default()
    };
    dump(journal, &filter, &mut text, Format::Json).map_err(|error| error.to_string())?;
    let mut written = BTreeMap::new();
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let json: serde_json::Value =
            serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let (Some(seq), Some(text)) = (json["seq"].as_u64(), json["text"].as_str()) else {
            return Err(format!("a dumped message without number or text: {json}"));
        };
        let raw: Vec<u8> = text
            .bytes()
            .map(|byte| if byte == b'|' { 1 } else { byte })
            .collect();
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
