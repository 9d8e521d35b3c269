//! `fixwire certify`: a correct venue passes, and each fault fails the case that covers it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::running::{Running, fixwire, free_port};
use crate::sim::{INSTRUMENTS, start, text, write};

/// The cases of the example.
const CASES: usize = 18;

pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name);
    fs::read_to_string(path).unwrap()
}

/// The example's plan and settings, for this port; `session` is appended to the settings.
fn plan(folder: &Path, port: u16, session: &str) -> PathBuf {
    let settings = example("certify-fix.cfg").replace("Port=5002", &format!("Port={port}"));
    let (before, _) = settings.split_once("BeginString").unwrap();
    fs::write(
        folder.join("certify-fix.cfg"),
        format!("{before}{session}\n"),
    )
    .unwrap();
    let path = folder.join("certify-fix.plan");
    fs::write(&path, example("certify-fix.plan")).unwrap();
    path
}

const FIX44: &str = "BeginString=FIX.4.4\nSenderCompID=MAKER\nTargetCompID=EXCHANGE";

pub fn certify(plan: &Path) -> Command {
    let mut command = fixwire();
    command.arg("certify").arg(plan);
    command
}

/// The lines of a run that must exit with this code.
pub fn lines(run: &Output, code: i32) -> Vec<String> {
    let (out, said) = (text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(code), "{out}{said}");
    out.lines().map(str::to_owned).collect()
}

/// The numbers of the cases with this word.
pub fn cases(lines: &[String], word: &str) -> Vec<u32> {
    let listed = lines.iter().filter_map(|line| {
        let (number, rest) = line.trim_start().split_once(' ')?;
        let number = number.parse().ok()?;
        rest.starts_with(&format!("{word} ")).then_some(number)
    });
    listed.collect()
}

#[test]
fn the_example_passes_before_the_simulated_exchange_in_three_versions() {
    for (version, more, skipped) in [
        ("FIX.4.4", "", 0),
        ("FIX.4.2", "", 1),
        ("FIXT.1.1", "DefaultApplVerID=FIX.5.0SP2", 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let port = write(folder.path(), INSTRUMENTS);
        let file = folder.path().join("sim.toml");
        let sim = fs::read_to_string(&file).unwrap();
        let appl = match more {
            "" => String::new(),
            _ => "DefaultApplVerID = 'FIX.5.0SP2'\n".to_owned(),
        };
        let sim = sim.replace(
            "BeginString = 'FIX.4.4'\n",
            &format!("BeginString = '{version}'\n{appl}"),
        );
        fs::write(&file, sim).unwrap();
        let _sim = start(folder.path(), port);
        let session =
            format!("BeginString={version}\n{more}\nSenderCompID=MAKER\nTargetCompID=EXCHANGE");
        let plan = plan(folder.path(), port, &session);
        let run = certify(&plan).output().unwrap();
        let said = lines(&run, 0);
        assert_eq!(
            cases(&said, "pass").len(),
            CASES - skipped,
            "{version}: {said:#?}"
        );
        assert_eq!(
            cases(&said, "skipped").len(),
            skipped,
            "{version}: {said:#?}"
        );
        assert_eq!(said[0], " 1 pass       A Logon is answered");
        // A second run uses other ids.
        lines(&certify(&plan).output().unwrap(), 0);
    }
}

/// A fault of the exchange, and the cases that must fail; all others must pass.
struct Fault {
    words: &'static str,
    limit: &'static str,
    fails: &'static [u32],
}

const FAULTS: [Fault; 14] = [
    fault("kind = 'drop'\ntype = 8\ncount = 1", &[2]),
    fault("kind = 'drop'\ntype = 9\ncount = 1", &[7]),
    fault("kind = 'duplicate'\ntype = 8\ncount = 1", &[2]),
    fault("kind = 'delay'\ntype = 8\ncount = 1\nms = 2500", &[2]),
    fault("kind = 'reorder'\ntype = 8\ncount = 1", &[2]),
    fault("kind = 'reject'\ntype = 'D'\ncount = 1", &[2]),
    fault("kind = 'reject'\ntype = 'G'\ncount = 1", &[6]),
    fault("kind = 'reject'\ntype = 'H'\ncount = 1", &[10]),
    fault("kind = 'checksum'\ntype = 8\ncount = 1", &[2]),
    fault("kind = 'gap'\ntype = 8\ncount = 1", &[2]),
    fault("kind = 'gap'\ntype = 0\ncount = 1", &[1]),
    fault("kind = 'disconnect'\ntype = 8\ncount = 1", &[2]),
    fault("kind = 'logout'\ntype = 8\ncount = 1", &[2]),
    Fault {
        words: "kind = 'stall'",
        limit: "limit 1s",
        fails: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16],
    },
];

const fn fault(words: &'static str, fails: &'static [u32]) -> Fault {
    Fault {
        words,
        limit: "limit 2s",
        fails,
    }
}

#[test]
fn each_fault_fails_the_case_that_it_is_in() {
    for fault in FAULTS {
        let folder = tempfile::tempdir().unwrap();
        let tables = format!(
            "{INSTRUMENTS}[[fault]]\nsession = 'MAKER'\n{}\n",
            fault.words
        );
        let port = write(folder.path(), &tables);
        let _sim = start(folder.path(), port);
        let plan = plan(folder.path(), port, FIX44);
        let changed = example("certify-fix.plan").replace("limit 2s", fault.limit);
        fs::write(&plan, changed).unwrap();
        let said = lines(&certify(&plan).output().unwrap(), 1);
        let words = fault.words;
        assert_eq!(cases(&said, "FAIL"), fault.fails, "{words}: {said:#?}");
        let optional: &[u32] = if words.contains("stall") { &[11] } else { &[] };
        assert_eq!(cases(&said, "fail"), optional, "{words}: {said:#?}");
        let passed = CASES - fault.fails.len() - optional.len();
        assert_eq!(cases(&said, "pass").len(), passed, "{words}: {said:#?}");
    }
}

#[test]
fn an_optional_case_does_not_count_and_a_case_can_be_played_alone() {
    let folder = tempfile::tempdir().unwrap();
    let fault = "[[fault]]\nkind = 'drop'\ntype = 'r'\n";
    let port = write(folder.path(), &format!("{INSTRUMENTS}{fault}"));
    let _sim = start(folder.path(), port);
    let plan = plan(folder.path(), port, FIX44);
    let said = lines(
        &certify(&plan)
            .args(["--case", "11,17-18"])
            .output()
            .unwrap(),
        0,
    );
    assert_eq!(cases(&said, "fail"), [11], "{said:#?}");
    assert_eq!(cases(&said, "pass"), [17, 18], "{said:#?}");
    let last = said.last().unwrap();
    assert_eq!(last, "3 cases: 2 passed, 0 failed, 1 optional failed");
    let wrong = certify(&plan).args(["--case", "3-99"]).output().unwrap();
    lines(&wrong, 2);
    assert_eq!(
        text(&wrong.stderr),
        "error: --case: the plan has no case 99\n"
    );
    lines(&certify(&plan).args(["--case", "x"]).output().unwrap(), 2);
}

#[test]
fn a_failure_says_what_was_expected_and_received_and_evidence_has_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let port = write(folder.path(), INSTRUMENTS);
    let _sim = start(folder.path(), port);
    let session = format!("{FIX44}\nUsername=trader1\nPassword=hunter2");
    let plan = plan(folder.path(), port, &session);
    let text = "session certify-fix.cfg\nlimit 2s\n\
                case 3 A wrong expectation\nnew buy 10 VOD @ 6.00 11=$A\nexpect 35=8|11=$A|150=4|44=7\n\
                case 12 Nothing is received\nexpect within 100ms 35=8\n\
                case 13 A right one\nlogged-on\nsend 35=1|112=$T\nexpect 35=0|112=$T\n";
    fs::write(&plan, text).unwrap();
    let evidence = folder.path().join("evidence");
    let mut command = certify(&plan);
    command.arg("--evidence").arg(&evidence).arg("--json");
    let said = lines(&command.output().unwrap(), 1);
    let said: Vec<Value> = said
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [third, twelfth, thirteenth, totals] = &said[..] else {
        panic!("{said:#?}");
    };
    assert_eq!(
        (&third["verdict"], &third["line"]),
        (&"fail".into(), &5.into())
    );
    let reasons: Vec<&str> = third["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    let place = format!("{}:5: expected 35=8|11=", plan.display());
    assert!(
        reasons[0].starts_with(&place) && reasons[0].ends_with("|150=4|44=7"),
        "{reasons:#?}"
    );
    assert!(
        reasons[1].starts_with("received 8=FIX.4.4|9="),
        "{reasons:#?}"
    );
    assert_eq!(reasons[2], "ExecType(150) is '0', expected '4'");
    assert!(reasons[3].starts_with("Price(44) is '6"), "{reasons:#?}");
    let reasons = twelfth["reasons"].as_array().unwrap();
    assert!(
        reasons[0]
            .as_str()
            .unwrap()
            .ends_with("expected 35=8 within 100 ms"),
        "{reasons:#?}"
    );
    assert_eq!(reasons[1], "received nothing");
    assert_eq!(
        (&thirteenth["verdict"], &totals["failed"]),
        (&"pass".into(), &2.into())
    );

    let run = PathBuf::from(totals["evidence"].as_str().unwrap());
    let file = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let case = file("case-03.txt");
    for part in [
        "case      3 A wrong expectation\nline      3\nplan      ",
        &format!("session   FIX.4.4:MAKER->EXCHANGE at 127.0.0.1:{port}\n"),
        "> 8=FIX.4.4|",
        "|553=trader1|554=*******|",
        "\n4: new buy 10 VOD @ 6.00 11=$A\n",
        "|35=D|",
        "< 8=FIX.4.4|",
        "\nverdict   FAIL\n          line:5: expected 35=8|",
    ] {
        assert!(case.contains(part), "{part}: {case}");
    }
    assert!(!case.contains("hunter2"));
    assert!(file("case-13.txt").ends_with("\nverdict   pass\n"));
    let index = file("index.txt");
    assert!(
        index.contains("\n   3 FAIL       case-03.txt  A wrong expectation\n"),
        "{index}"
    );
    assert!(
        index.ends_with("\n3 cases: 1 passed, 2 failed\n"),
        "{index}"
    );
    // Another run has another folder.
    lines(&command.output().unwrap(), 1);
    assert_eq!(fs::read_dir(&evidence).unwrap().count(), 2);
    assert_eq!(file("index.txt"), index);
}

#[test]
fn a_signal_ends_a_run_and_the_evidence_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let port = write(folder.path(), INSTRUMENTS);
    let _sim = start(folder.path(), port);
    let plan = plan(folder.path(), port, FIX44);
    let text = "session certify-fix.cfg\n\
                case 1 A long one\nsend 35=1|112=$T\nexpect 35=0|112=$T\nwait 600s\n\
                case 2 Another one\nexpect 35=8\n";
    fs::write(&plan, text).unwrap();
    let evidence = folder.path().join("evidence");
    let mut command = certify(&plan);
    command.arg("--evidence").arg(&evidence);
    command.stdout(std::process::Stdio::piped());
    let mut running = Running::spawn(command, port);
    let file = |name: &str| {
        let run = fs::read_dir(&evidence).ok()?.flatten().next()?.path();
        fs::read_to_string(run.join(name)).ok()
    };
    let deadline = std::time::Instant::now() + crate::running::SOON;
    while !file("case-01.txt").is_some_and(|text| text.contains("wait 600s")) {
        assert!(
            std::time::Instant::now() < deadline,
            "{:?}",
            file("case-01.txt")
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.signal("TERM");
    assert_eq!(running.ends().code(), Some(1));
    let case = file("case-01.txt").unwrap();
    assert!(
        case.contains("|112=")
            && case.ends_with("verdict   not played\n          stopped by a signal\n"),
        "{case}"
    );
    let index = file("index.txt").unwrap();
    assert!(
        index.ends_with("2 cases: 0 passed, 0 failed, 2 not played\n"),
        "{index}"
    );
}

#[test]
fn every_mistake_of_a_plan_is_reported_and_nothing_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), free_port(), FIX44);
    let evidence = folder.path().join("evidence");
    fs::write(
        &plan,
        "session certify-fix.cfg\ncase 1 A\nsned 35=D\nexpect 150=0\ncase 1 B\nwait 5\n",
    )
    .unwrap();
    let run = certify(&plan)
        .arg("--evidence")
        .arg(&evidence)
        .output()
        .unwrap();
    assert!(lines(&run, 1).is_empty());
    let said = text(&run.stderr);
    let name = plan.display().to_string();
    let mistakes = [
        "3: unknown step 'sned'",
        "4: expect needs a MsgType",
        "5: case 1 is in line 2 already",
        "6: '5' is not a time",
    ];
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said.len(), mistakes.len(), "{said:#?}");
    for (said, mistake) in said.iter().zip(mistakes) {
        assert!(
            said.starts_with(&format!("error: {name}:{mistake}")),
            "{said}"
        );
    }
    assert!(!evidence.exists());
    fs::write(&plan, "case 1 A\nexpect 35=8\n").unwrap();
    let run = certify(&plan).output().unwrap();
    lines(&run, 1);
    assert!(
        text(&run.stderr).contains("the plan has no session"),
        "{}",
        text(&run.stderr)
    );
    // Nothing listens there.
    fs::write(&plan, "session certify-fix.cfg\ncase 1 A\nexpect 35=8\n").unwrap();
    let said = lines(&certify(&plan).output().unwrap(), 1);
    assert_eq!(cases(&said, "not played"), [1], "{said:#?}");
    assert!(
        said[1].contains("cannot log on: cannot connect to 127.0.0.1:"),
        "{said:#?}"
    );
}
