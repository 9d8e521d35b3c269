//! Every command that reads a store of another version refuses it by name, and the remedy in the error works.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use fixwire::journal::{Directory, Journal, JournalConfig, notes_name};
use fixwire_protocol::{Ledger as _, Timestamp};

use crate::oms::{Floor, client_logs_on, id, json, order, report, start, venue_logs_on};
use crate::peer::Peer;
use crate::running::{Running, fixwire};

/// The output of a command that must fail.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = fixwire().current_dir(folder).args(args).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(!output.status.success(), "{args:?}: {said}");
    said
}

/// Each of these commands names the file, both versions and the remedy.
fn are_refused(folder: &Path, commands: &[&[&str]], file: &str, found: &str, reads: &str) {
    for command in commands {
        let said = refused(folder, command);
        let wanted = format!("{file} has {found}, and this build of fixwire reads {reads}; ");
        assert!(said.contains(&wanted), "{command:?}: {said}");
        assert!(
            said.contains("end all open orders")
                && said.contains("fixwire oms positions")
                && said.contains("fixwire run --new-journal"),
            "{command:?}: {said}"
        );
    }
}

/// The version of a segment's format; no checksum covers it.
fn set_version(segment: &Path, version: u8) {
    let mut bytes = fs::read(segment).unwrap();
    bytes[8] = version;
    fs::write(segment, bytes).unwrap();
}

#[test]
fn a_journal_of_another_format_is_refused_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    {
        let running = Running::start(folder, "echo", "");
        let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
        peer.log_on(30);
    }
    let segment = folder.join("store/00000001.fwj");
    for version in [2, 3, 77] {
        set_version(&segment, version);
        let before = fs::read(&segment).unwrap();
        let commands: [&[&str]; 9] = [
            &["run", "acceptor.cfg"],
            &["check", "acceptor.cfg"],
            &["status", "acceptor.cfg"],
            &["session", "list", "store"],
            &["journal", "dump", "store"],
            &["journal", "verify", "store"],
            &["journal", "salvage", "store"],
            &["log", "summary", "store"],
            &["log", "grep", "35=A", "store"],
        ];
        let found = format!("version {version} of the journal's format");
        are_refused(folder, &commands, "store/00000001.fwj", &found, "version 1");
        assert_eq!(fs::read(&segment).unwrap(), before);
    }
    set_version(&segment, 1);
    Running::start(folder, "echo", "");
}

#[test]
fn notes_of_another_version_are_refused() {
    let Floor {
        folder, running, ..
    } = Floor::begin("[oms]\n");
    drop(running);
    let folder = folder.path();
    let store = folder.join("oms-store");
    let (name, version) = fixwire_oms::OmsState::default().form();
    for found in [(name, version + 1), ("gateway", 1)] {
        fs::remove_dir_all(&store).unwrap();
        let disk = Directory::open_with(&store, true).unwrap();
        let (mut journal, _) = Journal::open(disk, JournalConfig::default()).unwrap();
        let found = notes_name(found);
        journal.register(Timestamp(1), &found).unwrap();
        drop(journal);
        let commands: [&[&str]; 3] = [
            &["run", "oms.toml"],
            &["check", "oms.toml"],
            &["oms", "history", "oms.toml", "1"],
        ];
        let reads = notes_name((name, version));
        are_refused(folder, &commands, "oms-store/00000001.fwj", &found, &reads);
    }
}

/// The remedy in the error: positions from the build that wrote the journal, then a new journal with them.
#[test]
fn an_oms_goes_on_in_a_new_journal_with_the_positions_of_the_one_before() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    client.send("D", &order("A1", 100));
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    client.expect("8");
    venue.send("8", &report(&first, 2, '2', (100, 100)));
    assert!(client.expect("8").contains("|39=2|"));
    let positions = json(folder, "positions", &[]);
    drop(running);
    let mut file = String::from("account,symbol,long,short\n");
    for row in positions.as_array().unwrap() {
        let text = |name: &str| row[name].as_str().unwrap();
        let (account, symbol) = (text("account"), text("symbol"));
        file += &format!("{account},{symbol},{},{}\n", row["long"], row["short"]);
    }
    assert_eq!(file, "account,symbol,long,short\nA1,VOD,100,0\n");
    fs::write(folder.join("positions.csv"), file).unwrap();
    // As another build finds it.
    let store = folder.join("oms-store");
    set_version(&store.join("00000001.fwj"), 2);
    let said = refused(folder, &["run", "--new-journal", "oms.toml"]);
    assert!(said.contains("already contains a journal"), "{said}");
    fs::rename(&store, folder.join("old-store")).unwrap();
    let settings = folder.join("oms.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replacen("[oms]\n", "[oms]\npositions = \"positions.csv\"\n", 1);
    fs::write(&settings, text).unwrap();
    let mut command = fixwire();
    command.args(["run", "--new-journal"]).arg(&settings);
    let running = Running::spawn(command, port);
    running.listens();
    goes_on(folder, &listener, port);
    drop(running);
    // The next start needs no flag.
    let _running = start(folder, port);
    assert_eq!(json(folder, "positions", &[])[0]["long"], 100);
}

/// The position is the previous one, and an order has an unused number.
fn goes_on(folder: &Path, listener: &TcpListener, port: u16) {
    let mut venue = venue_logs_on(listener, 1);
    let mut client = client_logs_on(port, 1);
    let positions = json(folder, "positions", &[]);
    assert_eq!(positions[0]["account"], "A1");
    assert_eq!(positions[0]["long"], 100);
    client.send("D", &order("A2", 10));
    let number: u64 = id(&venue.expect("D")).parse().unwrap();
    assert!(number > 1_000_000, "{number}");
}
