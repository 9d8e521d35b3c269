//! An OMS whose clients are created at their Logons: they have their orders, reports and limits after kill -9.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::oms::{self, Floor, client_logs_on, id, json, oms, order, report, start, venue_logs_on};
use crate::oms_try::try_out;
use crate::peer::Peer;

const SECTION: &str = r#"[[session]]
SessionName = "*"
ConnectionType = "acceptor"
AcceptorTemplate = true
SocketAcceptAddress = "127.0.0.1"
SocketAcceptPort = OUR_PORT
BeginString = "FIX.4.2"
SenderCompID = "OMS"
TargetCompID = "*"

[oms]
"#;

const USER: &str = r#"[[user]]
session = "ALGO*"
accounts = ["A*"]
account = "A1"
may = ["new", "cancel", "status"]
max_sessions = 2

[[line_group]]"#;

fn floor() -> Floor {
    Floor::with(&[("[oms]\n", SECTION), ("[[line_group]]", USER)])
}

fn logs_on(port: u16, name: &'static str, next_out: u64) -> Peer {
    oms::logs_on(port, name, "FIX.4.2", next_out)
}

fn fixwire(folder: &Path, words: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    let run = command.current_dir(folder).args(words).output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    (run.status.code().unwrap(), String::from_utf8(said).unwrap())
}

#[test]
fn created_clients_have_their_orders_and_reports_after_kill_9() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        client,
    } = floor();
    let folder = folder.path();
    let mut one = logs_on(port, "ALGO-1", 1);
    running.hears("ALGO-1 logged on");
    one.send("D", &order("A1", 100));
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    assert!(one.expect("8").contains("|150=0|39=0|"));
    let two = logs_on(port, "ALGO-2", 1);
    // Names without a user, and one session more than the user allows.
    for (name, why) in [
        ("EVE", "no [[user]] of the OMS takes a session of this name"),
        (
            "ALGO-3",
            "too many sessions of this template: max_sessions of its [[user]]",
        ),
    ] {
        let mut refused = Peer::connect(port, name, "OMS");
        refused.send("A", "98=0|108=30");
        refused.closed();
        assert!(running.hears(why).contains(name));
    }
    let (code, said) = oms(folder, "kill", &["session=ALGO-2", "--why", "a test"]);
    assert_eq!(code, 0, "{said}");
    let (next_out, two_out) = (one.next_out, two.next_out);
    drop((running, one, two, client));

    let running = start(folder, port);
    let mut venue = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    // Neither client is there again.
    let orders = json(folder, "orders", &["--open"]);
    assert_eq!(orders[0]["session"], "ALGO-1", "{orders}");
    venue.send("8", &report(&first, 2, '2', (100, 100)));
    while json(folder, "positions", &[])[0]["long"] != 100 {}
    let (code, said) = fixwire(folder, &["status", "oms.toml"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("ALGO-1") && said.contains("ALGO-2"), "{said}");
    // They return in another order.
    let mut two = logs_on(port, "ALGO-2", two_out);
    two.send("D", &order("B1", 100));
    let refused = two.expect("8");
    assert!(
        refused.contains("RC1: ") && refused.contains("|39=8|"),
        "{refused}"
    );
    let mut one = logs_on(port, "ALGO-1", next_out);
    one.send("2", "7=1|16=0");
    loop {
        let heard = one.next().expect("the report that waited");
        if heard.contains("|35=8|") && heard.contains("|39=2|") {
            assert!(
                heard.contains("|11=A1|") && heard.contains("|14=100|"),
                "{heard}"
            );
            break;
        }
    }
    // The sessions of the journal count.
    let mut refused = Peer::connect(port, "ALGO-3", "OMS");
    refused.send("A", "98=0|108=30");
    refused.closed();
    // A session of the file is none of them.
    drop(client_logs_on(port, 2));
    let limits = json(folder, "limits", &[]);
    assert!(limits.to_string().contains("ALGO-2"), "{limits}");
}

#[test]
fn check_shows_patterns_and_refuses_sections_that_name_no_user() {
    let Floor {
        folder, running, ..
    } = floor();
    drop(running);
    let folder = folder.path();
    let settings = fs::read_to_string(folder.join("oms.toml")).unwrap();
    let check = |changes: &[(&str, &str)]| {
        let mut text = settings.clone();
        for (old, new) in changes {
            assert!(text.contains(old), "{old}");
            text = text.replacen(old, new, 1);
        }
        fs::write(folder.join("changed.toml"), text).unwrap();
        fixwire(folder, &["check", "changed.toml"])
    };
    let (code, said) = check(&[]);
    assert_eq!(code, 0, "{said}");
    for part in [
        "user.ALGO*",
        "sessions created at a Logon",
        "1 session template",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let template = "AcceptorTemplate = true";
    let peer = "TargetCompID = \"*\"";
    for (old, new, why) in [
        (
            "SessionName = \"*\"",
            "SessionName = \"CLIENTS\"",
            "the SessionName of a template has one *",
        ),
        (
            peer,
            "TargetCompID = \"*\"\nTargetSubID = \"*\"",
            "only that id may be *",
        ),
        (peer, "TargetCompID = \"ALGO\"", "differ in TargetCompID"),
        (
            template,
            "AcceptorTemplate = true\nDynamicQualifier = true",
            "an OMS cannot have DynamicQualifier",
        ),
        (template, "", "this section has no AcceptorTemplate=Y"),
    ] {
        let (code, said) = check(&[(old, new)]);
        assert!(code != 0 && said.contains(why), "{new}: {said}");
    }
    let named = ("SessionName = \"*\"", "SessionName = \"ALL\"");
    for (changes, why) in [
        (
            vec![(template, "DynamicSessions = true"), named],
            "an OMS cannot have sessions of DynamicSessions",
        ),
        (vec![(template, ""), named], "ALGO* fits no session"),
        (
            vec![(template, ""), named, ("max_sessions = 2\n", "")],
            "ALGO* fits no session",
        ),
    ] {
        let (code, said) = check(&changes);
        assert!(code != 0 && said.contains(why), "{why}: {said}");
    }
}

#[test]
fn a_trial_plays_the_orders_of_created_clients() {
    let Floor {
        folder,
        port,
        running,
        mut venue,
        client,
        ..
    } = floor();
    let folder = folder.path();
    let mut peers = ["ALGO-1", "ALGO-2"].map(|name| logs_on(port, name, 1));
    for (exec, peer) in (1..).zip(&mut peers) {
        peer.send("D", &order("A1", 100 * exec));
        let sent = id(&venue.expect("D"));
        venue.send("8", &report(&sent, exec, '0', (100 * exec, 0)));
        assert!(peer.expect("8").contains("|150=0|39=0|"));
    }
    drop((running, peers, client));
    let text = fs::read_to_string(folder.join("oms.toml")).unwrap();
    let limits = fs::read_to_string(folder.join("limits.csv")).unwrap();
    let limits = limits.replace(
        "firm,RC6,10000\n",
        "firm,RC6,10000\nsession=ALGO*,RC6,150\n",
    );
    fs::write(folder.join("strict.csv"), limits).unwrap();
    let strict = text.replace("\"limits.csv\"", "\"strict.csv\"");
    fs::write(folder.join("strict.toml"), &strict).unwrap();
    let one = strict.replace("max_sessions = 2", "max_sessions = 1");
    fs::write(folder.join("one.toml"), one).unwrap();
    let store = folder.join("oms-store");
    let tried = |settings: &str| {
        let (code, said, errors) = try_out(&folder.join(settings), &store, &["--json"]);
        assert_eq!(code, 0, "{said}{errors}");
        let result: serde_json::Value = serde_json::from_str(&said).unwrap();
        let orders = &result["requests"]["orders"];
        assert_eq!(orders["in_the_record"], orders["accepted"], "{said}");
        (
            orders["accepted"].as_u64(),
            result["changed"].clone(),
            errors,
        )
    };
    let (orders, changed, errors) = tried("oms.toml");
    assert_eq!((orders, errors.as_str()), (Some(2), ""));
    assert_eq!(changed, serde_json::json!([]));
    let (orders, changed, errors) = tried("strict.toml");
    assert_eq!((orders, errors.as_str()), (Some(2), ""));
    assert_eq!(changed[0]["session"], "ALGO-2", "{changed}");
    let why = changed[0]["rejected_now"].as_str().unwrap();
    assert!(why.contains("at most 150 for session=ALGO-2"), "{why}");
    // Its messages belong to no session of these settings: the order and the report.
    let (orders, _, errors) = tried("one.toml");
    assert_eq!(orders, Some(1));
    assert!(
        errors.contains("2 messages belong to no session"),
        "{errors}"
    );
}
