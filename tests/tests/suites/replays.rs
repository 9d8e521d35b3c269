//! Does a log of QuickFIX/J that is replayed to its acceptor get the answers that it recorded?
//!
//! `REPLAYS=100000` replays more orders.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fixwire_rigs::peers::{Engine, Role, Terms};
use fixwire_rigs::server::{binary, free_port, scratch, wait_for_listener};
use fixwire_rigs::trade::Side;
use serde_json::Value;

const INITIATOR: &str = "INITIATOR";
const ACCEPTOR: &str = "ACCEPTOR";
/// A QuickFIX/J session writes each message to its store: about 10,000 a second.
const ORDERS: usize = 10_000;
/// Orders that are sent before their answers are awaited.
const AT_ONCE: usize = 5_000;

#[test]
fn quickfix_j_answers_as_recorded() -> Result<(), String> {
    let orders = std::env::var("REPLAYS").ok();
    let orders = orders.map_or(Ok(ORDERS), |text| text.parse());
    let orders = orders.map_err(|error| format!("REPLAYS: {error}"))?;
    let folder = scratch("quickfix-j").and_then(std::path::absolute);
    let folder = folder.map_err(|error| error.to_string())?;
    let log = recorded(&folder, orders)?;

    let (acceptor, port) = acceptor(&folder.join("second"))?;
    let result = replayed(&log, port)?;
    acceptor.quit()?;
    assert_eq!(result["sent"]["D"], orders, "{result}");
    assert_eq!(result["answered"], orders, "{result}");
    assert_eq!(result["different"], 0, "{result}");
    assert_eq!(result["end"], "complete", "{result}");
    Ok(())
}

#[test]
fn what_quickfix_j_answers_otherwise_is_named() -> Result<(), String> {
    let folder = scratch("quickfix-j-other").and_then(std::path::absolute);
    let folder = folder.map_err(|error| error.to_string())?;
    let log = recorded(&folder, 100)?;
    // One report of the record has another OrdStatus, with the same length and checksum.
    let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
    let is_chosen =
        |line: &&str| line.contains("\x0135=8\x01") && line.contains("=INITIATOR-50\x01");
    let line = text.lines().find(is_chosen).ok_or("no report")?;
    let other = line.replace("\x0139=0\x01", "\x0139=1\x01");
    let other = other.replace("\x01150=0\x01", "\x01150=/\x01");
    assert_ne!(line, other);
    fs::write(&log, text.replace(line, &other)).map_err(|error| error.to_string())?;

    let (acceptor, port) = acceptor(&folder.join("second"))?;
    let result = replayed(&log, port)?;
    acceptor.quit()?;
    assert_eq!(result["answered"], 100, "{result}");
    assert_eq!(result["different"], 1, "{result}");
    let shown = result["differences"].to_string();
    assert!(
        shown.contains("INITIATOR-50") && shown.contains("39"),
        "{result}"
    );
    Ok(())
}

/// The log of an acceptor that got this number of orders.
fn recorded(folder: &Path, orders: usize) -> Result<PathBuf, String> {
    let first = folder.join("first");
    let (acceptor, port) = acceptor(&first)?;
    let store = folder.join("initiator");
    fs::create_dir_all(&store).map_err(|error| error.to_string())?;
    let terms = Terms::default();
    let mut initiator =
        Engine::QuickfixJ.start_in(&store, Role::Initiator, port, INITIATOR, ACCEPTOR, &terms)?;
    initiator.wait("its logon", |side| side.count("logon") == 1)?;
    let mut sent = 0;
    while sent < orders {
        let next = AT_ONCE.min(orders - sent);
        initiator.send(next)?;
        sent += next;
        initiator.wait_for("report", sent)?;
    }
    initiator.quit()?;
    acceptor.quit()?;
    Ok(first.join(format!("FIX.4.2-{ACCEPTOR}-{INITIATOR}.messages.log")))
}

/// QuickFIX/J with its store and log in this folder, and its port.
fn acceptor(folder: &Path) -> Result<(Side, u16), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let port = free_port().map_err(|error| error.to_string())?;
    let terms = Terms {
        message_log: folder.to_owned(),
        ..Terms::default()
    };
    let engine = Engine::QuickfixJ;
    let acceptor = engine.start_in(folder, Role::Acceptor, port, ACCEPTOR, INITIATOR, &terms)?;
    let listener = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    wait_for_listener(listener, Duration::from_secs(30))?;
    Ok((acceptor, port))
}

/// The output of `fixwire replay --json`.
fn replayed(log: &Path, port: u16) -> Result<Value, String> {
    let mut command = Command::new(binary()?);
    command.arg("replay").arg(log);
    command.args(["--ours", INITIATOR, "--flood", "--json", "--to"]);
    command.arg(format!("127.0.0.1:{port}"));
    let output = command.output().map_err(|error| error.to_string())?;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).map_err(|why| format!("{why}: {error}"))
}
