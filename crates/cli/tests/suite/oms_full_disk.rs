//! An OMS with a full disk: open orders can still be cancelled, and new ones are rejected.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::oms::{Floor, client_logs_on, id, json, oms, order, report, start, venue_logs_on};
use crate::peer::Peer;

/// Set for the process whose temporary folder is a file system of its own.
const INSIDE: &str = "FIXWIRE_TEST_SMALL_DISK";
/// Size of that file system, bytes.
const DISK: &str = "24m";

/// Runs a test of this program again, with a small file system of its own for its files.
fn on_a_small_disk(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size={DISK},mode=700 none \"$0\" && exec \"$1\" --exact {test} --nocapture"
    );
    let run = Command::new("unshare")
        .args(["-rm", "sh", "-c", &script])
        .arg(folder.path())
        .arg(program)
        .env("TMPDIR", folder.path())
        .env(INSIDE, "1")
        .output()
        .expect("unshare of util-linux");
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
}

/// Fills the remaining space; returns the file that uses it.
fn fill(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("filler");
    let mut file = File::create(&path).unwrap();
    for piece in [1 << 20, 4 << 10] {
        let bytes = vec![b'x'; piece];
        while file.write_all(&bytes).is_ok() {}
    }
    path
}

/// Writes long messages into the journal until it needs another segment: half a megabyte each.
fn fill_journal(client: &mut Peer, messages: usize) {
    let text = "x".repeat(400 << 10);
    for number in 0..messages {
        client.send(
            "D",
            &format!("{}|58={text}", order(&format!("F{number}"), 20_000)),
        );
        client.expect("8");
    }
}

/// The venue receives a cancel and accepts it.
fn cancels(venue: &mut Peer, exec: u32) {
    let asked = venue.expect("F");
    let at = asked.find("|41=").unwrap() + 4;
    let number = asked[at..].split('|').next().unwrap();
    let done = report(number, exec, '4', (100, 0))
        .replace("|151=100|", "|151=0|")
        .replace(
            &format!("|11={number}|"),
            &format!("|11={}|41={number}|", id(&asked)),
        );
    venue.send("8", &done);
}

/// ClOrdIDs of the open orders.
fn open(folder: &Path) -> Vec<String> {
    let orders = json(folder, "orders", &["--open"]);
    let orders = orders.as_array().unwrap().iter();
    orders
        .map(|order| order["ClOrdID"].as_str().unwrap().to_owned())
        .collect()
}

/// Waits for the client's report that an order is cancelled.
fn ends(client: &mut Peer) {
    while !client.expect("8").contains("|39=4|") {}
}

/// The reject of a new order because the disk is full.
fn is_refused(client: &mut Peer, id: &str) {
    client.send("D", &order(id, 100));
    let said = client.expect("8");
    let text = "|58=the disk of the OMS is full: only cancels are accepted until it has room|";
    assert!(said.contains("|39=8|") && said.contains(text), "{said}");
}

#[test]
fn what_is_open_is_cancelled_and_killed_on_a_full_disk() {
    if std::env::var_os(INSIDE).is_none() {
        return on_a_small_disk(
            "oms_full_disk::what_is_open_is_cancelled_and_killed_on_a_full_disk",
        );
    }
    let small =
        "[default]\nJournalSegmentSize = \"2M\"\nJournalReserve = 1\nJournalLowSpace = \"4M\"\n";
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::with(&[("[default]\n", small)]);
    let folder = folder.path();
    for number in 1..=4 {
        client.send("D", &order(&format!("A{number}"), 100));
        let sent = id(&venue.expect("D"));
        assert_eq!(sent, number.to_string());
        venue.send("8", &report(&sent, number, '0', (100, 0)));
        client.expect("8");
    }
    let filler = fill(folder);
    let low = running.hears("fills up");
    assert!(
        low.contains("oms-store") && low.contains("JournalLowSpace=4194304"),
        "{low}"
    );
    fill_journal(&mut client, 4);
    let full = running.hears("goes on in its reserve (JournalReserve=1)");
    assert!(
        full.contains("oms-store") && full.contains("bytes free"),
        "{full}"
    );

    is_refused(&mut client, "B1");
    client.send("G", &format!("{}|41=A1", order("B2", 50)));
    let kept = client.expect("9");
    assert!(
        kept.contains("the disk of the OMS is full") && kept.contains("|39=0|"),
        "{kept}"
    );
    client.send("F", "11=C1|41=A1|55=VOD|54=1|38=100|60=20261128-10:00:00");
    cancels(&mut venue, 11);
    ends(&mut client);
    drop(running);

    // Killed and started again while the disk is still full.
    let running = start(folder, port);
    running.hears("goes on in its reserve");
    let mut venue = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    let mut client = client_logs_on(port, client.next_out);
    assert_eq!(open(folder), ["A2", "A3", "A4"]);
    is_refused(&mut client, "B3");
    client.send("F", "11=C2|41=A2|55=VOD|54=1|38=100|60=20261128-10:00:00");
    cancels(&mut venue, 12);
    ends(&mut client);
    let (code, said) = oms(folder, "kill", &["firm", "--why", "full"]);
    assert_eq!(code, 0, "{said}");
    for exec in [13, 14] {
        cancels(&mut venue, exec);
    }
    ends(&mut client);
    ends(&mut client);
    assert_eq!(open(folder), [""; 0]);

    // Space is free again.
    fs::remove_file(filler).unwrap();
    running.hears("its reserve is restored");
    let (code, said) = oms(folder, "arm", &["firm", "--why", "room"]);
    assert_eq!(code, 0, "{said}");
    client.send("D", &order("D1", 100));
    venue.expect("D");
    drop(running);
    let _running = start(folder, port);
    assert_eq!(open(folder), ["D1"]);
}
