//! `fixwire certify` over TMP: a correct venue passes, and each fault fails the case that covers it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Mutex;
use std::thread;

use crate::certify::{cases, certify, example, lines};
use crate::running::{Running, free_port};
use crate::sim::{start, text};

/// The cases of the example.
const CASES: u32 = 29;
/// The case that waits for HeartBtInt.
const SLOW: u32 = 28;

/// The example's exchange in this folder, with these tables.
fn exchange(folder: &Path, tables: &str) -> (Running, u16) {
    let port = free_port();
    let store = folder.join("store");
    let file = example("exchange-tmp.toml")
        .replace(
            "SocketAcceptPort = 7001",
            &format!("SocketAcceptPort = {port}"),
        )
        .replace("\"exchange-tmp-store\"", &format!("'{}'", store.display()))
        .replace("HeartBtInt = 30 ", "HeartBtInt = 2 ");
    assert!(file.contains("HeartBtInt = 2 "), "{file}");
    fs::write(folder.join("sim.toml"), file + tables).unwrap();
    (start(folder, port), port)
}

/// The example's plan and settings, for this port.
fn plan(folder: &Path, port: u16) -> PathBuf {
    let settings = example("certify-tmp.toml").replace("7001", &port.to_string());
    fs::write(folder.join("certify-tmp.toml"), settings).unwrap();
    let path = folder.join("certify-tmp.plan");
    fs::write(&path, example("certify-tmp.plan")).unwrap();
    path
}

#[test]
fn the_example_passes_before_the_simulated_exchange() {
    let folder = tempfile::tempdir().unwrap();
    let (_sim, port) = exchange(folder.path(), "");
    let plan = plan(folder.path(), port);
    let evidence = folder.path().join("evidence");
    let mut command = certify(&plan);
    command.arg("--evidence").arg(&evidence);
    let said = lines(&command.output().unwrap(), 0);
    let all: Vec<u32> = (1..=CASES).collect();
    assert_eq!(cases(&said, "pass"), all, "{said:#?}");
    assert_eq!(said[0], " 1 pass       A login step by step");
    let run = fs::read_dir(&evidence).unwrap().flatten().next().unwrap();
    let file = |name: &str| fs::read_to_string(run.path().join(name)).unwrap();
    let (first, raw) = (file("case-01.txt"), file("case-21.txt"));
    for (text, part) in [
        (&first, format!("link      FUT-1 at 127.0.0.1:{port}\n")),
        (&first, "|key_value=***|".to_owned()),
        (&first, "< L30|msg_seq_num=0|".to_owned()),
        (&first, "|system_type=20|".to_owned()),
        (&raw, "raw 00 10 00 00 00 00 ".to_owned()),
        (&raw, "\n  00 10 00 00 00 00 ".to_owned()),
        (&raw, "\nverdict   pass\n".to_owned()),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    // The session is locked now.
    let said = lines(&certify(&plan).args(["--case", "2"]).output().unwrap(), 1);
    assert_eq!(cases(&said, "not played"), [2], "{said:#?}");
    assert!(
        said[1].contains("status 241 (Session is locked)"),
        "{said:#?}"
    );
}

/// A fault of the exchange, and the cases that must fail; all others must pass.
const FAULTS: [(&str, &[u32]); 20] = [
    ("kind = 'drop'\ntype = 'R02'\ncount = 1", &[2]),
    ("kind = 'drop'\ntype = 'R03'\ncount = 1", &[10]),
    ("kind = 'duplicate'\ntype = 'R02'\ncount = 1", &[2]),
    ("kind = 'delay'\ntype = 'R02'\ncount = 1\nms = 2500", &[2]),
    ("kind = 'reorder'\ntype = 'R02'\ncount = 1", &[2]),
    ("kind = 'reject'\ntype = 'R01'\ncount = 1", &[2]),
    ("kind = 'reject'\ntype = 'R07'\ncount = 1", &[14]),
    ("kind = 'checksum'\ntype = 'R02'\ncount = 1", &[2]),
    ("kind = 'checksum'\ntype = 'L50'\ncount = 1", &[1]),
    ("kind = 'gap'\ntype = 'R02'\ncount = 1", &[2]),
    ("kind = 'gap'\ntype = 'R05'\ncount = 1", &[1]),
    ("kind = 'gap'\ntype = 'L41'\ncount = 1", &[18]),
    ("kind = 'disconnect'\ntype = 'R02'\ncount = 1", &[2]),
    ("kind = 'disconnect'\ntype = 'L30'\ncount = 1", &[1]),
    ("kind = 'cut'\ntype = 'R02'\ncount = 1", &[2]),
    ("kind = 'cut'\ntype = 'R12'\ncount = 1", &[14]),
    (
        "kind = 'refuse'\ntype = 'R01'\nstatus = 240\ncount = 1",
        &[2],
    ),
    (
        "kind = 'refuse'\ntype = 'L40'\nstatus = 207\ncount = 1",
        &[1],
    ),
    (
        "kind = 'stall'",
        &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17, 18, 19, 20],
    ),
    ("kind = 'silence'", &[1]),
];

/// Plays the example against an exchange with a fault; returns the lines of the run.
fn with_fault(words: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let table = format!("[[fault]]\nsession = 'FUT-1'\n{words}\n");
    let (_sim, port) = exchange(folder.path(), &table);
    let plan = plan(folder.path(), port);
    if words.contains("stall") || words.contains("silence") {
        let short = example("certify-tmp.plan").replace("limit 2s", "limit 1s");
        fs::write(&plan, short).unwrap();
    }
    let selected = match words.contains("silence") {
        true => "1-2".to_owned(),
        false => format!("1-{},{CASES}", SLOW - 1),
    };
    let run = certify(&plan).args(["--case", &selected]).output().unwrap();
    lines(&run, 1)
}

#[test]
fn each_fault_fails_the_case_that_it_is_in() {
    let next = Mutex::new(FAULTS.iter());
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let work = || {
        loop {
            let fault = next.lock().unwrap().next();
            let Some((words, fails)) = fault else { return };
            let said = with_fault(words);
            let failed = cases(&said, "FAIL");
            // Without any frame the player cannot log in.
            let unplayed: &[u32] = if words.contains("silence") { &[2] } else { &[] };
            let passed = cases(&said, "pass").len() as u32;
            let all = if unplayed.is_empty() { CASES - 1 } else { 2 };
            let is_right = failed == *fails
                && cases(&said, "not played") == unplayed
                && passed == all - (fails.len() + unplayed.len()) as u32;
            if !is_right {
                let found = format!("{words}: {failed:?}, expected {fails:?}: {said:#?}");
                wrong.lock().unwrap().push(found);
            }
        }
    };
    // The cases wait most of the time.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mistake_of_a_plan_is_reported_and_nothing_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), free_port());
    let evidence = folder.path().join("evidence");
    let wrong = "link certify-tmp.toml\nsession a.cfg\ncase 1 A\nversions: 4.4\nsned R01\nsend R01|size=3\n\
                 send R01|qty=x\nexpect R01|qty=1\nexpect R02|order_no=A12345\nlogon\nraw 0\nburst R04\nsend L40|key_value=200x\n";
    fs::write(&plan, wrong).unwrap();
    let run = certify(&plan)
        .arg("--evidence")
        .arg(&evidence)
        .output()
        .unwrap();
    assert!(lines(&run, 1).is_empty());
    let said = text(&run.stderr);
    let said: Vec<&str> = said.lines().collect();
    let mistakes = [
        "2: a second 'session' or 'link'",
        "4: 'versions:' is only for plans over FIX",
        "5: unknown step 'sned': the steps of a plan over TMP are connect, logged-on,",
        "6: R01 has no field 'size': its fields are msg_length,",
        "7: qty: 'x' is not a number from 0 to 65535",
        "8: R01 is sent by the broker and never received",
        "9: order_no: 'A12345' is not a text of at most 5 ASCII characters",
        "10: unknown step 'logon'",
        "11: raw '0': write bytes as hex digits",
        "12: burst 'R04': write the number of messages",
        "13: key_value: '200x' is not a number from 0 to 255",
    ];
    assert_eq!(said.len(), mistakes.len(), "{said:#?}");
    let name = plan.display().to_string();
    for (said, mistake) in said.iter().zip(mistakes) {
        let begin = format!("error: {name}:{mistake}");
        assert!(said.starts_with(&begin), "{said}: {mistake}");
    }
    assert!(!evidence.exists());
}

/// The output of a run that cannot begin.
fn refused(run: &Output) -> String {
    assert!(lines(run, 1).is_empty());
    text(&run.stderr)
}

#[test]
fn a_link_that_cannot_be_played_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), free_port());
    let settings = folder.path().join("certify-tmp.toml");
    let right = fs::read_to_string(&settings).unwrap();
    let link = &right[right.find("[[link]]").unwrap()..];
    let other = link.replace("FUT-1", "FUT-2").replace("= 50 ", "= 51 ");
    for (file, why) in [
        (
            right.replace("[[link]]", "[[instrument]]\nsymbol = 'A'\n[[link]]"),
            "the file configures an exchange",
        ),
        (
            format!("{right}{other}"),
            "the file has 2 links, and a certification uses one",
        ),
        (right.replace("1234", "x"), "password"),
        (
            right
                .replace("\"initiator\"", "\"acceptor\"\nSocketAcceptPort = 7009")
                .replace("SocketConnectHost = \"127.0.0.1\"", "")
                .replace("SocketConnectPort", "#SocketConnectPort"),
            "link FUT-1 is an acceptor",
        ),
    ] {
        fs::write(&settings, file).unwrap();
        let said = refused(&certify(&plan).output().unwrap());
        assert!(said.contains(why), "{why}: {said}");
    }
    fs::write(&settings, format!("{right}{other}")).unwrap();
    let run = certify(&plan)
        .args(["--session", "FUT-3"])
        .output()
        .unwrap();
    let said = refused(&run);
    assert!(said.contains("no link FUT-3"), "{said}");
    // Nothing listens there.
    let run = certify(&plan)
        .args(["--session", "FUT-2", "--case", "1-2"])
        .output();
    let said = lines(&run.unwrap(), 1);
    assert_eq!(cases(&said, "FAIL"), [1], "{said:#?}");
    assert_eq!(cases(&said, "not played"), [2], "{said:#?}");
    assert!(
        said.iter()
            .any(|line| line.contains("cannot connect to 127.0.0.1:")),
        "{said:#?}"
    );
}
