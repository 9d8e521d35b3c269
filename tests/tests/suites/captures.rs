//! Does the reader find in the logs of other engines, and in ours, what a capture beside them has?
//!
//! Two engines trade, and one of them logs off and on in between; tcpdump captures the connection. The log of each
//! side and the capture have the same messages, byte for byte, in the same order and direction.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fixwire::journal::Direction;
use fixwire_reader::{LogReader, LogStep, ReadOptions};
use fixwire_rigs::capture::Capture;
use fixwire_rigs::packages::workspace;
use fixwire_rigs::peers::{Engine, Role, Running, Terms};
use fixwire_rigs::server::{
    Launch, Server, binary, free_port, scratch, target_folder, wait_for_listener,
};
use fixwire_rigs::trade::{PATIENCE, Side};
use fixwire_rigs::wire::show;

const INITIATOR: &str = "INITIATOR";
const ACCEPTOR: &str = "ACCEPTOR";
const ENDS: [&str; 2] = [INITIATOR, ACCEPTOR];
/// Orders before the logout, and after the next logon.
const ORDERS: [usize; 2] = [2_000, 100];

#[test]
fn quickfix_cpp_and_quickfix_j() -> Result<(), String> {
    between_peers(Engine::QuickfixCpp, Engine::QuickfixJ)
}

// QuickFIX/J does not connect here: it may log a second Logout that it can no longer send.
#[test]
fn quickfix_cpp_and_quickfix_go() -> Result<(), String> {
    between_peers(Engine::QuickfixCpp, Engine::QuickfixGo)
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

/// Artio writes no text: its own program prints its archive. Only with `PEERS=all`, since no other suite uses its
/// packages.
#[test]
fn artio_as_it_prints_its_archive() -> Result<(), String> {
    if std::env::var("PEERS").is_ok_and(|which| which == "all") {
        return with_artio();
    }
    println!("only with PEERS=all");
    Ok(())
}

/// A peer that connects to Artio.
fn with_artio() -> Result<(), String> {
    // The CompIDs of the acceptors in `peers`.
    const OWN: [&str; 2] = ["BENCH", "EXEC"];
    let folder = folder("artio")?;
    let files = folder.join("files");
    fs::create_dir_all(&files).map_err(|error| error.to_string())?;
    let script = workspace().join("peers/run.sh");
    let target = target_folder()?;
    let run = |words: &[&str]| {
        let mut command = Command::new(&script);
        command.args(words).env("CARGO_TARGET_DIR", &target);
        command
    };
    let built = run(&["build", "artio"]).status();
    assert!(built.is_ok_and(|status| status.success()), "run.sh build");
    let port = free_port().map_err(|error| error.to_string())?;
    let capture = Capture::start(&folder.join("capture.pcap"), port)?;
    let mut artio = run(&["start", "artio-threads", "persistent", &port.to_string()]);
    let (artio, _) = Running::start(artio.arg(&files))?;
    let listener = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    wait_for_listener(listener, Duration::from_secs(60))?;
    let initiator = peer(Engine::QuickfixCpp, Role::Initiator, port, OWN, &folder)?;
    trade(initiator, &ORDERS[..1])?;
    capture.finish()?;
    // Artio has no command to end.
    drop(artio);
    print_archive(&target.join("peers/artio"), &files, &folder.join("printed"))?;
    same(&folder, OWN[1], "printed", Some(OWN[1]))
}

/// Lets Artio print the archive of an engine that has ended.
fn print_archive(artio: &Path, files: &Path, to: &Path) -> Result<(), String> {
    let text = |path: PathBuf| path.display().to_string();
    let class_path = format!(
        "{}:{}",
        text(artio.join("lib/*")),
        text(artio.join("classes"))
    );
    let deadline = Instant::now() + *PATIENCE;
    loop {
        let mut printer = Command::new("java");
        for package in ["sun.nio.ch", "jdk.internal.misc", "java.util.zip"] {
            let opened = format!("java.base/{package}=ALL-UNNAMED");
            printer.args(["--add-opens", &opened, "--add-exports", &opened]);
        }
        printer.args(["-cp", &class_path]);
        printer.arg("uk.co.real_logic.artio.engine.logger.FixArchivePrinter");
        printer.arg(format!("--aeron-dir-name={}", text(files.join("printer"))));
        printer.arg(format!(
            "--offline-archive-dir={}",
            text(files.join("archive"))
        ));
        printer.args([
            "--aeron-channel=aeron:ipc",
            "--fix-dictionary=peers.fix42.FixDictionaryImpl",
        ]);
        // Incoming and outgoing messages.
        printer.args(["--query-stream-id=1", "--query-stream-id=2"]);
        let output = printer.output().map_err(|error| format!("java: {error}"))?;
        if output.status.success() {
            return fs::write(to, output.stdout).map_err(|error| error.to_string());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        // The archive of an engine that was killed counts as in use for ten seconds.
        if !said.contains("active mark file") || Instant::now() > deadline {
            return Err(format!("FixArchivePrinter: {said}"));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Two foreign engines.
fn between_peers(connects: Engine, listens: Engine) -> Result<(), String> {
    let folder = folder(&format!("{connects:?}-{listens:?}"))?;
    let port = free_port().map_err(|error| error.to_string())?;
    let capture = Capture::start(&folder.join("capture.pcap"), port)?;
    let acceptor = peer(listens, Role::Acceptor, port, ENDS, &folder)?;
    let listener = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    wait_for_listener(listener, Duration::from_secs(30))?;
    let initiator = peer(connects, Role::Initiator, port, ENDS, &folder)?;
    trade(initiator, &ORDERS)?;
    acceptor.quit()?;
    capture.finish()?;
    same(&folder, INITIATOR, "initiator", None)?;
    same(&folder, ACCEPTOR, "acceptor", None)
}

/// A peer that connects to `fixwire run`, which logs in this layout.
fn with_us(connects: Engine, layout: &str) -> Result<(), String> {
    let folder = folder(layout)?;
    let port = free_port().map_err(|error| error.to_string())?;
    let capture = Capture::start(&folder.join("capture.pcap"), port)?;
    let fixwire = fixwire(&folder, port, layout)?;
    let initiator = peer(connects, Role::Initiator, port, ENDS, &folder)?;
    trade(initiator, &ORDERS)?;
    fixwire.terminate(*PATIENCE)?;
    capture.finish()?;
    same(&folder, INITIATOR, "initiator", None)?;
    same(&folder, ACCEPTOR, "acceptor", None)?;
    same(&folder, ACCEPTOR, "journal", None)
}

fn folder(name: &str) -> Result<PathBuf, String> {
    let folder = scratch(name).and_then(std::path::absolute);
    folder.map_err(|error| error.to_string())
}

/// `ends` are the CompIDs, the initiator's first.
fn peer(
    engine: Engine,
    role: Role,
    port: u16,
    ends: [&str; 2],
    folder: &Path,
) -> Result<Side, String> {
    let (name, [own, other]) = match role {
        Role::Initiator => ("initiator", ends),
        Role::Acceptor => ("acceptor", [ends[1], ends[0]]),
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

/// The initiator sends this number of orders at each logon, and ends when all are answered.
fn trade(mut initiator: Side, orders: &[usize]) -> Result<(), String> {
    let mut sent = 0;
    for (logons, count) in orders.iter().enumerate() {
        if logons > 0 {
            initiator.tell("logon")?;
        }
        initiator.wait("its logon", |side| side.count("logon") > logons)?;
        initiator.send(*count)?;
        sent += count;
        initiator.wait_for("report", sent)?;
        initiator.tell("logout")?;
        initiator.wait("its logout", |side| side.count("logout") > logons)?;
    }
    initiator.quit()
}

/// A message and its direction, for the side of the log.
type Seen = (Direction, Vec<u8>);

/// A source in the folder has the messages of the capture, as this side saw them. Without `ours`, the name of the file
/// or of the journal's session gives the side.
fn same(folder: &Path, side: &str, source: &str, ours: Option<&str>) -> Result<(), String> {
    let captured = messages(&folder.join("capture.pcap"), Some(side))?;
    let source = folder.join(source);
    let logged = messages(&source, ours)?;
    let source = source.display();
    for way in [Direction::In, Direction::Out] {
        let of = |all: &[Seen]| -> Vec<String> {
            let messages = all.iter().filter(|(direction, _)| *direction == way);
            messages.map(|(_, bytes)| show(bytes)).collect()
        };
        let (logged, captured) = (of(&logged), of(&captured));
        assert!(captured.len() > ORDERS[0]);
        let mut pairs = logged.iter().zip(&captured);
        let differs = pairs.find(|(logged, captured)| logged != captured);
        assert_eq!(differs, None, "{source}: {way:?}, logged and captured");
        assert_eq!(logged.len(), captured.len(), "{source}: {way:?}");
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
