//! `fixwire sim` with session faults: the bytes on the wire, and whether the member receives everything in the end.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::peer::{Peer, utc_now};
use crate::running::{SOON, fixwire};
use crate::sim::{INSTRUMENTS, about, ask, has, member, start, text, write};

const ORDER: &str = "55=VOD|54=1|38=100|40=2|44=10.50";

/// An exchange with one fault from the start on.
fn with_fault(folder: &Path, kind: &str, count: u32) -> u16 {
    let fault = format!("[[fault]]\nkind = '{kind}'\nsession = 'OMS'\ntype = 8\ncount = {count}\n");
    write(folder, &format!("{INSTRUMENTS}{fault}"))
}

fn enter(member: &mut Peer, id: &str) {
    member.send("D", &format!("11={id}|{ORDER}|60={}", utc_now()));
}

fn sum_is_right(message: &str) -> bool {
    let bytes = message.replace('|', "\x01").into_bytes();
    let (text, sum) = bytes.split_at(bytes.len() - "10=000|".len());
    let own = text.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    sum == format!("10={own:03}\x01").as_bytes()
}

/// The member requests message 2 and gets the correct report on A1.
fn resends(oms: &mut Peer) {
    oms.send("2", "7=2|16=2");
    let again = oms.expect("8");
    has(&again, "34=2|43=Y|11=A1|150=0|37=1");
    assert!(sum_is_right(&again), "{again}");
}

#[test]
fn a_wrong_check_sum_is_on_the_wire_once_and_what_is_resent_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let port = with_fault(folder.path(), "checksum", 1);
    let _running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    enter(&mut oms, "A1");
    let wrong = oms.expect("8");
    has(&wrong, "34=2|11=A1|150=0");
    assert!(!sum_is_right(&wrong), "{wrong}");
    resends(&mut oms);
    let next = ask(&mut oms, "D", &format!("11=A2|{ORDER}"), "8");
    has(&next, "34=3|11=A2");
    assert!(sum_is_right(&next), "{next}");
}

#[test]
fn a_message_that_is_lost_on_the_wire_leaves_a_gap_that_is_resent() {
    let folder = tempfile::tempdir().unwrap();
    let port = write(folder.path(), INSTRUMENTS);
    let _running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    let command = |words: &str| {
        let said = about(folder.path(), &["session", "command"], &[words]);
        assert!(said.status.success(), "{}", text(&said.stderr));
        text(&said.stdout)
    };
    let fault = "gap session=OMS count=1";
    assert_eq!(command(&format!("fault {fault}")), format!("{fault}\n"));
    assert_eq!(command("faults"), format!("{fault}\n"));
    enter(&mut oms, "A1");
    has(
        &ask(&mut oms, "D", &format!("11=A2|{ORDER}"), "8"),
        "34=3|11=A2",
    );
    assert_eq!(command("faults"), "");
    resends(&mut oms);
}

#[test]
fn a_connection_is_cut_in_place_of_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let port = with_fault(folder.path(), "disconnect", 1);
    let running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    enter(&mut oms, "A1");
    oms.closed();
    running.hears("OMS disconnected");
    let mut oms = member(port, "OMS", 3);
    resends(&mut oms);
    has(
        &ask(&mut oms, "D", &format!("11=A2|{ORDER}"), "8"),
        "11=A2|37=2",
    );
}

#[test]
fn a_session_is_logged_out_behind_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let port = with_fault(folder.path(), "logout", 1);
    let _running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    has(
        &ask(&mut oms, "D", &format!("11=A1|{ORDER}"), "8"),
        "34=2|11=A1",
    );
    has(&oms.expect("5"), "58=Logged out by an injected fault");
    oms.send("5", "");
    oms.closed();
    let mut oms = member(port, "OMS", 4);
    has(
        &ask(&mut oms, "D", &format!("11=A2|{ORDER}"), "8"),
        "11=A2|37=2",
    );
}

/// The settings of `fixwire client` as the member OMS; it detects a gap within a second.
fn client(folder: &Path, port: u16) {
    let text = format!(
        "[DEFAULT]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\n\
         ReconnectInterval=1\nHeartBtInt=1\nFileStorePath={}\nJournalSegmentSize=2M\nNonStopSession=Y\n\
         [SESSION]\nBeginString=FIX.4.4\nSenderCompID=OMS\nTargetCompID=EXCHANGE\n",
        folder.join("client-store").display()
    );
    fs::write(folder.join("client.cfg"), text).unwrap();
}

#[test]
fn our_own_engine_gets_every_report_whatever_the_wire_does() {
    // Messages after a new Logon are mostly resent, and no fault applies to them.
    for (kind, count) in [
        ("checksum", 2),
        ("gap", 2),
        ("disconnect", 1),
        ("logout", 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let port = with_fault(folder.path(), kind, count);
        let _running = start(folder.path(), port);
        let mut maker = member(port, "MAKER", 1);
        ask(
            &mut maker,
            "D",
            "11=M|55=VOD|54=2|38=100|40=2|44=10.50",
            "8",
        );
        client(folder.path(), port);
        let run = fixwire()
            .arg("client")
            .arg(folder.path().join("client.cfg"))
            .args([
                "-c",
                "new buy 30 VOD @ 10.50; new buy 70 VOD @ 10.50; wait 4 reports; orders all",
            ])
            .output()
            .unwrap();
        let said = text(&run.stdout);
        assert!(run.status.success(), "{kind}: {said}{}", text(&run.stderr));
        for (quantity, cum) in [(30, "cum 30 leaves 0"), (70, "cum 70 leaves 0")] {
            let line = said
                .lines()
                .rfind(|line| line.contains(&format!("buy {quantity} VOD")));
            let line = line.unwrap_or_else(|| panic!("{kind}: {said}"));
            assert!(
                line.contains("Filled") && line.contains(cum),
                "{kind}: {said}"
            );
        }
        let left = about(folder.path(), &["session", "command"], &["faults"]);
        assert_eq!(text(&left.stdout), "", "{kind}: it was met {count} times");
        let book = about(folder.path(), &["session", "command"], &["book VOD"]);
        assert_eq!(
            text(&book.stdout),
            "VOD continuous last 10.50 orders 0\n",
            "{kind}"
        );
    }
}

#[test]
fn a_fault_that_meets_heartbeats_is_one_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let fault = "[[fault]]\nkind = 'gap'\ntype = 0\n";
    let port = write(folder.path(), &format!("{INSTRUMENTS}{fault}"));
    let _running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    oms.send("1", "112=X");
    let begun = Instant::now();
    has(
        &ask(&mut oms, "D", &format!("11=A1|{ORDER}"), "8"),
        "34=3|11=A1",
    );
    assert!(begun.elapsed() < SOON);
}
