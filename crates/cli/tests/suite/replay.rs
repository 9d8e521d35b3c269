//! `fixwire replay`: sends a recorded session again, and compares the answers with the record.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use fixwire_protocol::frame::check_sum;
use serde_json::Value;

use crate::running::{Running, fixwire, free_port};
use crate::sim;

/// Orders of a record.
const ORDERS: usize = 1_200;

/// An acceptor with logs, and its port.
fn acceptor(folder: &Path, app: &str) -> Running {
    let port = free_port();
    fs::create_dir_all(folder).unwrap();
    let file = folder.join("acceptor.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\nSocketAcceptAddress=127.0.0.1\n\
         FileStorePath={0}/store\nFileLogPath={0}/log\nJournalSegmentSize=8M\nNonStopSession=Y\n\
         [SESSION]\nBeginString=FIX.4.4\nSenderCompID=BROKER\nTargetCompID=CLIENT\n",
        folder.display()
    );
    fs::write(&file, text).unwrap();
    let running = Running::run(fixwire(), app, &file, port);
    running.listens();
    running
}

fn message(msg_type: &str, number: usize, ends: [&str; 2], body: &str) -> String {
    let milli = number * 2;
    let time = format!("20261120-10:00:{:02}.{:03}", milli / 1000, milli % 1000);
    let [from, to] = ends;
    let head = format!("35={msg_type}|34={number}|49={from}|52={time}|56={to}|");
    let body = format!("{head}{body}").replace('|', "\x01");
    let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = check_sum(text.as_bytes());
    format!("{time} : {text}10={sum:03}\x01\n")
}

fn replay(log: &Path, port: u16, args: &[&str]) -> Output {
    let to = format!("127.0.0.1:{port}");
    fixwire()
        .arg("replay")
        .arg(log)
        .args(["--to", &to, "--json"])
        .args(args)
        .output()
        .unwrap()
}

#[track_caller]
fn said(output: &Output, code: i32) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{out}{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The acceptor's log of orders that a client sent.
fn recorded(folder: &Path) -> PathBuf {
    let running = acceptor(&folder.join("first"), "echo");
    let file = folder.join("client.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nHeartBtInt=30\n\
         FileStorePath={}\nJournalSegmentSize=8M\nNonStopSession=Y\n\
         [SESSION]\nBeginString=FIX.4.4\nSenderCompID=CLIENT\nTargetCompID=BROKER\n",
        running.port,
        folder.join("client-store").display()
    );
    fs::write(&file, text).unwrap();
    let script = format!(
        "set O D 55=VOD|54=1|38=100|40=2|44=12.5; send O {ORDERS} G; wait all; set X F 55=VOD|54=1|38=100; \
         send X 40 of G; wait all"
    );
    let output = fixwire()
        .arg("client")
        .arg(&file)
        .args(["-q", "-c", &script])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let mut running = running;
    running.signal("TERM");
    running.ends();
    folder.join("first/log")
}

#[test]
fn a_log_of_an_acceptor_is_replayed_to_it_and_differences_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let running = acceptor(&folder.path().join("second"), "echo");
    let args = ["--ours", "CLIENT", "--flood"];
    let all = said(&replay(&log, running.port, &args), 0);
    let sent = ORDERS + 40;
    assert_eq!(
        (&all["sent"]["D"], &all["sent"]["F"]),
        (&ORDERS.into(), &40.into()),
        "{all}"
    );
    assert_eq!(
        (&all["orders"], &all["answered"]),
        (&sent.into(), &sent.into()),
        "{all}"
    );
    assert_eq!(
        (&all["different"], &all["end"]),
        (&0.into(), &"complete".into()),
        "{all}"
    );
    // An answer with a different field, and one that is not in the record.
    let name = fs::read_dir(&log).unwrap().map(|it| it.unwrap().path());
    let file = name
        .into_iter()
        .find(|it| it.to_str().unwrap().contains("messages"))
        .unwrap();
    let text = fs::read(&file).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut reports = 0;
    let mut changed = String::new();
    for line in text.lines() {
        let is_report = line.contains("\x0135=8\x01");
        reports += usize::from(is_report);
        match reports {
            10 if is_report => {}
            20 if is_report => {
                let start = line.find("8=FIX").unwrap();
                let end = line.find("\x0110=").unwrap() + 1;
                let other = line[start..end].replace("\x01150=0\x01", "\x01150=8\x01");
                assert_ne!(other, line[start..end], "{line}");
                let sum = check_sum(other.as_bytes());
                let _ = writeln!(changed, "{}{other}10={sum:03}\x01", &line[..start]);
            }
            _ => {
                let _ = writeln!(changed, "{line}");
            }
        }
    }
    let log = folder.path().join("changed.log");
    fs::write(&log, changed).unwrap();
    let all = said(&replay(&log, running.port, &args), 0);
    assert_eq!(
        (&all["different"], &all["answered"]),
        (&2.into(), &sent.into()),
        "{all}"
    );
    assert_eq!(
        (&all["counts"]["moreAnswers"], &all["counts"]["150"]),
        (&1.into(), &1.into()),
        "{all}"
    );
    let differences = all["differences"].as_array().unwrap();
    let field = differences
        .iter()
        .find(|it| it["difference"] == "150")
        .unwrap();
    assert_eq!(
        (&field["recorded"], &field["now"]),
        (&"8".into(), &"0".into()),
        "{all}"
    );
    // As text, with new ids.
    let to = format!("127.0.0.1:{}", running.port);
    let output = fixwire()
        .arg("replay")
        .arg(&log)
        .args(["--to", &to, "--fresh-ids"])
        .args(args)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    for text in [
        format!("sent      {sent}: "),
        format!("{sent} answered, {} of them as recorded", sent - 2),
        "ExecType(150) 0, recorded 8".to_owned(),
    ] {
        assert!(out.contains(&text), "{text}: {out}");
    }
}

/// The journal knows who wrote it; `--ours` chooses the side whose messages are sent.
#[test]
fn a_journal_of_an_acceptor_is_replayed_as_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let journal = log.with_file_name("store");
    let running = acceptor(&folder.path().join("second"), "echo");
    let args = ["--ours", "CLIENT", "--flood"];
    let all = said(&replay(&journal, running.port, &args), 0);
    assert_eq!(all["session"], "FIX.4.4:CLIENT->BROKER", "{all}");
    assert_eq!(
        (&all["sent"]["D"], &all["sent"]["F"]),
        (&ORDERS.into(), &40.into()),
        "{all}"
    );
    assert_eq!(all["answered"], ORDERS + 40, "{all}");
    // Without it the acceptor's reports would be sent.
    let entries = |args: &[&str]| {
        let output = fixwire()
            .arg("log")
            .arg("summary")
            .arg(&journal)
            .args(args)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert!(entries(&[]).contains("FIX.4.4:BROKER->CLIENT"));
    assert!(entries(&["--ours", "BROKER"]).contains("FIX.4.4:BROKER->CLIENT"));
    assert!(entries(&["--ours", "CLIENT"]).contains("FIX.4.4:CLIENT->BROKER"));
}

#[test]
fn a_simulated_exchange_answers_every_recorded_order() {
    let folder = tempfile::tempdir().unwrap();
    let tables = sim::INSTRUMENTS.replace("max_orders = 10", "max_orders = 5000");
    let port = sim::write(folder.path(), &tables);
    let _running = sim::start(folder.path(), port);
    let ends = ["OMS", "EXCHANGE"];
    let back = ["EXCHANGE", "OMS"];
    let order = "60=20261120-10:00:00|55=VOD|54=1|38=100|40=2|44=6|";
    let mut log = message("A", 1, ends, "98=0|108=30|141=Y|");
    for number in 1..=1000 {
        let at = number + 1;
        log += &message("D", at, ends, &format!("11=A{number}|21=1|{order}"));
        let report = format!("37=X{number}|17=Y{number}|150=0|39=0|11=A{number}|{order}");
        log += &message("8", at, back, &report);
    }
    // Each tenth order is replaced, and the replacement cancelled.
    for number in 1..=100 {
        let (at, old) = (1002 + number * 2, number * 10);
        let replace = format!(
            "11=B{number}|41=A{old}|37=X{old}|21=1|{}",
            order.replace("38=100", "38=90")
        );
        log += &message("G", at, ends, &replace);
        let cancel = format!("11=C{number}|41=B{number}|37=X{old}|{order}");
        log += &message("F", at + 1, ends, &cancel);
    }
    let path = folder
        .path()
        .join("FIX.4.4-OMS-EXCHANGE.messages.current.log");
    fs::write(&path, log).unwrap();
    let all = said(&replay(&path, port, &["--flood", "--timeout", "5"]), 0);
    assert_eq!(
        (&all["orders"], &all["answered"]),
        (&1200.into(), &1200.into()),
        "{all}"
    );
    assert!(all["received"]["9"].is_null(), "{all}");
    // A second time: with new ids, twice as fast as recorded (2.4 s).
    let begun = Instant::now();
    let args = ["--fresh-ids", "--speed", "2", "--timeout", "5"];
    let again = said(&replay(&path, port, &args), 0);
    assert_eq!(again["answered"], 1200, "{again}");
    assert!(again["received"]["9"].is_null(), "{again}");
    assert!(begun.elapsed() > Duration::from_millis(1100));
    assert!(again["seconds"].as_f64().unwrap() >= 1.1, "{again}");
    // A third time with the old ones: the exchange rejects them as duplicates.
    let third = said(&replay(&path, port, &["--flood", "--timeout", "2"]), 0);
    assert!(third["counts"]["39"].as_u64().unwrap() >= 1000, "{third}");
}

#[test]
fn a_message_that_cannot_be_sent_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let running = acceptor(folder.path(), "echo");
    let order = "55=VOD|54=1|60=20261120-10:00:00|38=100|40=1|";
    let ends = ["CLIENT", "BROKER"];
    let log = [
        message("D", 2, ends, &format!("11=O1|58=|{order}")),
        message("D", 3, ends, &format!("11=O2|{order}")),
    ];
    let file = folder
        .path()
        .join("FIX.4.4-CLIENT-BROKER.messages.current.log");
    fs::write(&file, log.concat()).unwrap();
    let all = said(&replay(&file, running.port, &["--flood"]), 1);
    assert_eq!(
        (&all["notSent"], &all["sent"]["D"], &all["end"]),
        (&1.into(), &1.into(), &"complete".into()),
        "{all}"
    );
}

#[test]
fn nothing_is_sent_to_another_machine_without_a_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join("FIX.4.4-OMS-EXCHANGE.messages.current.log");
    fs::write(&path, message("D", 2, ["OMS", "EXCHANGE"], "11=A|")).unwrap();
    for (to, args, why) in [
        ("10.0.0.1:9876", &[][..], "--really 10.0.0.1:9876"),
        (
            "example.com:9876",
            &["--really", "10.0.0.1:9876"],
            "--really example.com:9876",
        ),
        ("0.0.0.0:9876", &[], "--really 0.0.0.0:9876"),
        ("127.0.0.1", &[], "expected HOST:PORT"),
        ("127.0.0.1:1", &["--session", "X"], "OMS->EXCHANGE"),
        (
            "127.0.0.1:1",
            &["--ours", "NOBODY", "--speed", "0"],
            "0.001",
        ),
    ] {
        let output = fixwire()
            .arg("replay")
            .arg(&path)
            .args(["--to", to])
            .args(args)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && error.contains(why),
            "{to}: {error}"
        );
    }
    // Nothing listens there.
    let port = free_port();
    let all = said(&replay(&path, port, &["--timeout", "1"]), 1);
    assert_eq!(
        (&all["end"], &all["answered"]),
        (&"notLoggedOn".into(), &0.into()),
        "{all}"
    );
}
