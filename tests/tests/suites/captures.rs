//! Does the reader find in the logs of other engines, and in ours, what a capture beside them has?
//!
//! Two engines trade, and one of them logs off and on in between; tcpdump captures the connection. The log of each
//! side and the capture have the same messages, byte for byte, in the same order and direction.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixwire::journal::Direction;
use fixwire_reader::{LogReader, LogStep, ReadOptions};
use fixwire_rigs::capture::Capture;
use fixwire_rigs::peers::{Engine, Role, Terms};
use fixwire_rigs::server::{Launch, Server, binary, free_port, scratch, wait_for_listener};
use fixwire_rigs::trade::{PATIENCE, Side};
use fixwire_rigs::wire::show;

const INITIATOR: &str = "INITIATOR";
const ACCEPTOR: &str = "ACCEPTOR";
/// Orders before the logout, and after the next logon.
const ORDERS: [usize; 2] = [2_000, 100];

#[test]
fn quickfix_cpp_and_quickfix_j() -> Result<(), String> {
    between_peers(Engine::QuickfixCpp, Engine::QuickfixJ)
}

#[test]
fn quickfix_j_and_quickfix_go() -> Result<(), String> {
    between_peers(Engine::QuickfixJ, Engine::QuickfixGo)
}

#[test]
fn quickfix_go_and_quickfix_cpp() -> Result<(), String> {
    between_peers(Engine::QuickfixGo, Engine::QuickfixCpp)
}

#[test]
fn fixwire_in_each_layout_and_its_journal() -> Result<(), String> {
    for layout in ["quickfix", "quickfixj", "quickfixgo", "quickfixn"] {
        println!("FileLogLayout={layout}");
        with_us(Engine::QuickfixCpp, layout)?;
    }
    Ok(())
}

/// Two engines of others.
fn between_peers(connects: Engine, listens: Engine) -> Result<(), String> {
    let folder = folder(&format!("{connects:?}-{listens:?}"))?;
    let port = free_port().map_err(|error| error.to_string())?;
    let capture = Capture::start(&folder.join("capture.pcap"), port)?;
    let acceptor = peer(listens, Role::Acceptor, port, &folder)?;
    let listener = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    wait_for_listener(listener, Duration::from_secs(30))?;
    let initiator = peer(connects, Role::Initiator, port, &folder)?;
    trade(initiator)?;
    acceptor.quit()?;
    capture.finish()?;
    same(&folder, INITIATOR, &["initiator"])?;
    same(&folder, ACCEPTOR, &["acceptor"])
}

/// A peer that connects to `fixwire run`, which logs in this layout.
fn with_us(peer_engine: Engine, layout: &str) -> Result<(), String> {
    let folder = folder(layout)?;
    let port = free_port().map_err(|error| error.to_string())?;
    let capture = Capture::start(&folder.join("capture.pcap"), port)?;
    let fixwire = fixwire(&folder, port, layout)?;
    let initiator = peer(peer_engine, Role::Initiator, port, &folder)?;
    trade(initiator)?;
    fixwire.terminate(*PATIENCE)?;
    capture.finish()?;
    same(&folder, INITIATOR, &["initiator"])?;
    same(&folder, ACCEPTOR, &["acceptor", "journal"])
}

fn folder(name: &str) -> Result<PathBuf, String> {
    let folder = scratch(name).and_then(std::path::absolute);
    folder.map_err(|error| error.to_string())
}

fn peer(engine: Engine, role: Role, port: u16, folder: &Path) -> Result<Side, String> {
    let (name, own, other) = match role {
        Role::Initiator => ("initiator", INITIATOR, ACCEPTOR),
        Role::Acceptor => ("acceptor", ACCEPTOR, INITIATOR),
    };
    let message_log = folder.join(name);
    let store = folder.join(format!("{name}-store"));
    for folder in [&message_log, &store] {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    let terms = Terms {
        message_log,
        ..Terms::default()
    };
    engine.start_in(&store, role, port, own, other, &terms)
}

fn fixwire(folder: &Path, port: u16, layout: &str) -> Result<Server, String> {
    let settings = folder.join("fixwire.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\nFileStorePath={0}/journal\n\
         FileLogPath={0}/acceptor\nFileLogLayout={layout}\nFileLogHeartbeats=Y\n\
         [SESSION]\nBeginString=FIX.4.2\nSenderCompID={ACCEPTOR}\nTargetCompID={INITIATOR}\n",
        folder.display()
    );
    fs::write(&settings, text).map_err(|error| error.to_string())?;
    let launch = Launch {
        binary: binary()?,
        app: Some("echo"),
        settings,
        port,
    };
    launch.start()
}

/// The initiator sends orders over two logons, and ends when all are answered.
fn trade(mut initiator: Side) -> Result<(), String> {
    let [first, second] = ORDERS;
    initiator.wait("its logon", |side| side.count("logon") == 1)?;
    initiator.send(first)?;
    initiator.wait_for("report", first)?;
    initiator.tell("logout")?;
    initiator.wait("its logout", |side| side.count("logout") >= 1)?;
    initiator.tell("logon")?;
    initiator.wait("its next logon", |side| side.count("logon") == 2)?;
    initiator.send(second)?;
    initiator.wait_for("report", first + second)?;
    initiator.quit()
}

/// A message and which way it went, for the side whose log it is.
type Seen = (Direction, Vec<u8>);

/// Each of these sources in the folder has what the capture has, as this side saw it.
fn same(folder: &Path, ours: &str, sources: &[&str]) -> Result<(), String> {
    let captured = messages(&folder.join("capture.pcap"), Some(ours))?;
    for source in sources {
        // The name of the file or of the journal's session says whose it is.
        let logged = messages(&folder.join(source), None)?;
        for way in [Direction::In, Direction::Out] {
            let of = |all: &[Seen]| -> Vec<String> {
                let messages = all.iter().filter(|(direction, _)| *direction == way);
                messages.map(|(_, bytes)| show(bytes)).collect()
            };
            let (logged, captured) = (of(&logged), of(&captured));
            assert!(captured.len() >= ORDERS.iter().sum::<usize>());
            let pairs = logged.iter().zip(&captured);
            let differs = pairs.clone().find(|(logged, captured)| logged != captured);
            let source = folder.join(source);
            let source = source.display();
            assert_eq!(differs, None, "{source}: {way:?}, logged and captured");
            assert_eq!(logged.len(), captured.len(), "{source}: {way:?}");
        }
    }
    Ok(())
}

fn messages(path: &Path, ours: Option<&str>) -> Result<Vec<Seen>, String> {
    let options = ReadOptions {
        ours: ours.into_iter().map(str::to_owned).collect(),
        ..ReadOptions::default()
    };
    let mut reader = LogReader::open(&[path.to_owned()], options)?;
    let mut messages = Vec::new();
    loop {
        match reader.next_step() {
            LogStep::Message(entry) => {
                let direction = entry.direction();
                let direction = direction.ok_or_else(|| format!("{entry:?}: no direction"))?;
                messages.push((direction, entry.bytes.to_vec()));
            }
            LogStep::End => break,
            LogStep::Wait => return Err(format!("{}: it waits for more", path.display())),
        }
    }
    let left_out = reader.take_left_out();
    assert!(left_out.is_empty(), "{}: {left_out:?}", path.display());
    Ok(messages)
}
