//! `fixwire sim`: orders of real members match, and the books survive kill -9.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::peer::{Peer, utc_now};
use crate::running::{Running, fixwire, free_port};

pub const INSTRUMENTS: &str =
    "[exchange]\nmax_orders = 10\n[[instrument]]\nsymbol = 'VOD'\ntick = 0.01\nlow = 5\n";

/// Writes a file with two FIX 4.4 members and these tables; returns the port where they connect.
pub fn write(folder: &Path, tables: &str) -> u16 {
    let (port, store) = (free_port(), folder.join("store"));
    let mut text = format!(
        "[default]\nConnectionType = 'acceptor'\nSocketAcceptAddress = '127.0.0.1'\n\
         SocketAcceptPort = {port}\nFileStorePath = '{}'\nJournalSegmentSize = '2M'\nNonStopSession = true\n",
        store.display()
    );
    for name in ["OMS", "MAKER"] {
        text += &format!(
            "[[session]]\nSessionName = '{name}'\nBeginString = 'FIX.4.4'\nSenderCompID = 'EXCHANGE'\n\
             TargetCompID = '{name}'\n"
        );
    }
    fs::write(folder.join("sim.toml"), text + tables).unwrap();
    port
}

pub fn start(folder: &Path, port: u16) -> Running {
    let mut command = fixwire();
    command.arg("sim").arg(folder.join("sim.toml"));
    let running = Running::spawn(command, port);
    running.listens();
    running
}

/// A member that logs on with this MsgSeqNum.
pub fn member(port: u16, name: &'static str, next_out: u64) -> Peer {
    let mut member = Peer::connect(port, name, "EXCHANGE");
    member.begin_string = "FIX.4.4";
    member.next_out = next_out;
    member.log_on(30);
    member
}

/// Sends a request and returns its report.
pub fn ask(member: &mut Peer, msg_type: &str, fields: &str, answer: &str) -> String {
    member.send(msg_type, &format!("{fields}|60={}", utc_now()));
    member.expect(answer)
}

#[track_caller]
pub fn has(report: &str, fields: &str) {
    for field in fields.split('|') {
        assert!(report.contains(&format!("|{field}|")), "{field}: {report}");
    }
}

/// The output of another command for the file.
pub fn about(folder: &Path, before: &[&str], after: &[&str]) -> Output {
    let mut command = fixwire();
    command
        .args(before)
        .arg(folder.join("sim.toml"))
        .args(after);
    command.output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn orders_meet_and_the_books_are_there_again_after_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let port = write(folder.path(), INSTRUMENTS);
    let mut running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    let mut maker = member(port, "MAKER", 1);

    let order = "55=VOD|54=1|38=100|40=2|44=10.50";
    has(
        &ask(&mut oms, "D", &format!("11=A1|{order}"), "8"),
        "150=0|39=0|37=1|151=100",
    );
    let sell = "11=S1|55=VOD|54=2|38=30|40=2|44=10.50|59=3";
    has(&ask(&mut maker, "D", sell, "8"), "150=0|39=0|37=2");
    has(&maker.expect("8"), "11=S1|150=F|39=2|32=30|31=10.50|151=0");
    has(
        &oms.expect("8"),
        "11=A1|150=F|39=1|32=30|31=10.50|14=30|151=70|6=10.50",
    );
    let replace = "11=A2|41=A1|55=VOD|54=1|38=80|40=2|44=10.40";
    has(
        &ask(&mut oms, "G", replace, "8"),
        "11=A2|41=A1|150=5|39=1|38=80|44=10.40|151=50",
    );
    has(
        &ask(&mut oms, "D", &format!("11=A3|{order}"), "8"),
        "39=0|37=3",
    );
    has(
        &ask(&mut oms, "F", "11=A4|41=A3|55=VOD|54=1", "8"),
        "11=A4|41=A3|150=4|39=4",
    );
    has(
        &ask(&mut oms, "F", "11=A5|41=A3|55=VOD|54=1", "9"),
        "102=0|434=1|39=4",
    );
    let outside = "11=A6|55=VOD|54=1|38=1|40=2|44=4.99";
    has(&ask(&mut oms, "D", outside, "8"), "150=8|39=8|103=99");
    let book = "VOD continuous last 10.50 orders 1\nbuy 10.40 visible 50 total 50 orders 1\n";
    let said = about(folder.path(), &["session", "command"], &["book VOD"]);
    assert_eq!(text(&said.stdout), book, "{}", text(&said.stderr));
    // The member is disconnected when its order trades.
    drop(oms);
    running.hears("OMS disconnected");
    let sell = "11=S2|55=VOD|54=2|38=10|40=2|44=10.40";
    has(&ask(&mut maker, "D", sell, "8"), "39=0|37=5");
    has(&maker.expect("8"), "150=F|39=2|31=10.40");

    running.child.kill().unwrap();
    running.ends();
    drop(maker);
    let mut running = start(folder.path(), port);
    let left = "VOD continuous last 10.40 orders 1\nbuy 10.40 visible 40 total 40 orders 1\n";
    let said = about(folder.path(), &["session", "command"], &["book VOD"]);
    assert_eq!(text(&said.stdout), left, "{}", text(&said.stderr));
    let mut oms = member(port, "OMS", 8);
    // The missed reports arrive after a ResendRequest.
    oms.send("2", "7=9|16=0");
    has(&oms.expect("8"), "43=Y|11=A2|150=F|39=1|14=40|151=40");
    oms.expect("4");
    oms.send("H", "11=A2|55=VOD|54=1");
    has(&oms.expect("8"), "150=I|39=1|14=40|151=40|37=1");
    let again = format!("11=A1|{order}");
    has(&ask(&mut oms, "D", &again, "8"), "150=8|103=6");
    let mut maker = member(port, "MAKER", 4);
    // Ids continue from their last values.
    let sell = "11=S3|55=VOD|54=2|38=40|40=1";
    has(&ask(&mut maker, "D", sell, "8"), "39=0|37=7");
    has(&oms.expect("8"), "11=A2|150=F|39=2|14=80|151=0");
    running.signal("TERM");
    assert!(running.ends().success());
}

#[test]
fn an_operator_halts_trading_and_is_shown_the_instruments() {
    let folder = tempfile::tempdir().unwrap();
    let port = write(folder.path(), INSTRUMENTS);
    let running = start(folder.path(), port);
    let said = about(
        folder.path(),
        &["session", "command"],
        &["state halted VOD"],
    );
    assert_eq!(
        text(&said.stdout),
        "VOD: halted\n",
        "{}",
        text(&said.stderr)
    );
    let mut oms = member(port, "OMS", 1);
    let order = "11=A1|55=VOD|54=1|38=100|40=2|44=10.50";
    has(&ask(&mut oms, "D", order, "8"), "150=8|103=2");
    let status = about(folder.path(), &["status"], &[]);
    let status = text(&status.stdout);
    assert!(status.contains("VOD halted last none orders 0"), "{status}");
    let wrong = about(folder.path(), &["session", "command"], &["halt VOD"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        text(&wrong.stderr).contains("unknown command \"halt\""),
        "{}",
        text(&wrong.stderr)
    );
    drop(running);
    let stopped = about(folder.path(), &["session", "command"], &["book VOD"]);
    assert!(
        text(&stopped.stderr).contains("no engine is running"),
        "{}",
        text(&stopped.stderr)
    );
}

#[test]
fn a_fault_of_the_file_loses_one_report_and_no_trade() {
    let folder = tempfile::tempdir().unwrap();
    let fault = "[[fault]]\nkind = 'drop'\nsession = 'OMS'\ntype = 8\ncount = 1\n";
    let port = write(folder.path(), &format!("{INSTRUMENTS}{fault}"));
    let _running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    let order = "55=VOD|54=1|38=100|40=2|44=10.50";
    oms.send("D", &format!("11=A1|{order}|60={}", utc_now()));
    has(
        &ask(&mut oms, "D", &format!("11=A2|{order}"), "8"),
        "11=A2|37=2|34=2",
    );
    let wrong = fault.replace("drop", "lose").replace("count", "times");
    write(folder.path(), &format!("{INSTRUMENTS}{wrong}"));
    let said = text(&about(folder.path(), &["check"], &[]).stderr);
    assert!(said.contains("unknown fault \"lose\""), "{said}");
    assert!(said.contains("unknown key times"), "{said}");
    let wrong = fault.replace("OMS", "NOBODY");
    write(folder.path(), &format!("{INSTRUMENTS}{wrong}"));
    let said = text(&about(folder.path(), &["check"], &[]).stderr);
    assert!(said.contains("unknown session NOBODY"), "{said}");
}

#[test]
fn the_example_is_right_and_check_shows_its_instruments() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sim.toml");
    let lines = fs::read_to_string(example).unwrap().lines().count();
    assert!(lines < 60, "{lines} lines");
    let folder = tempfile::tempdir().unwrap();
    let mut check = fixwire();
    check
        .current_dir(folder.path())
        .args(["check", "--changed", example]);
    let said = check.output().unwrap();
    let table = text(&said.stdout);
    assert!(said.status.success(), "{}", text(&said.stderr));
    for line in [
        "instrument.VOD      continuous, tick 0.01, lot 1, low 5.00, high 20.00",
        "instrument.BTC-EUR  auction, tick 0.5, lot 0.001, reference 60000",
        "ok: 2 sessions, 0 warnings",
    ] {
        assert!(table.contains(line), "{line}: {table}");
    }
    let mut check = fixwire();
    check
        .current_dir(folder.path())
        .args(["check", "--json", example]);
    let json = text(&check.output().unwrap().stdout);
    assert!(json.contains("\"tick\": \"0.01\""), "{json}");
}

#[test]
fn all_mistakes_are_named_at_once_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let tables = "[exchange]\nmax_orders = 'many'\nmax_order = 1\n\
                  [[instrument]]\nsymbol = 'VOD'\ntick = 'small'\nstate = 'open'\n\
                  [[instrument]]\nsymbol = 5\n";
    write(folder.path(), tables);
    let shown = |command: &str| {
        let said = about(folder.path(), &[command], &[]);
        assert_eq!(said.status.code(), Some(1));
        text(&said.stderr)
    };
    for said in [shown("check"), shown("sim")] {
        for (title, place) in [
            (
                "max_orders must be a number from 0 to 4294967295",
                "sim.toml:19:14",
            ),
            ("unknown key max_order", "sim.toml:20:1"),
            ("tick is not a decimal number", "sim.toml:23:8"),
            ("state = \"open\" is not known", "sim.toml:24:9"),
            ("symbol must be a text", "sim.toml:26:10"),
            ("tick is missing", "sim.toml:25:1"),
        ] {
            let at = said
                .find(title)
                .unwrap_or_else(|| panic!("{title}: {said}"));
            let arrow = said[at..].lines().nth(1).unwrap();
            assert!(arrow.ends_with(place), "{title}: {arrow}");
        }
    }
    // Faults found by the exchange itself have a line, too.
    let tables = "[[instrument]]\nsymbol = 'VOD'\ntick = 0.01\nlow = 1.005\nhigh = 9\n";
    write(folder.path(), tables);
    let said = shown("sim");
    assert!(said.contains("low is not a multiple of the tick"), "{said}");
    assert!(said.contains("sim.toml:21:7"), "{said}");
    write(
        folder.path(),
        &format!("{INSTRUMENTS}[[rule]]\nfrom = ['*']\ndo = ['stop']\n"),
    );
    assert!(shown("sim").contains("an exchange or a gateway, not both"));
    write(folder.path(), "");
    assert!(shown("sim").contains("the file has no exchange"));
    write(folder.path(), INSTRUMENTS);
    let old = fs::read_to_string(folder.path().join("sim.toml")).unwrap();
    fs::write(
        folder.path().join("sim.toml"),
        old.replacen("FIX.4.4", "FIX.4.1", 1),
    )
    .unwrap();
    assert!(shown("sim").contains("an exchange does not support FIX.4.1"));
    assert!(shown("run").contains("run it with fixwire sim"));
}
