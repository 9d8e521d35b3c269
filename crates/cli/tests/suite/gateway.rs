//! `fixwire gateway try`: reports the effect of rules on the messages of a log.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fixwire::journal::{Cause, Directory, Journal, JournalConfig, RecordKind};
use fixwire_protocol::Timestamp;
use serde_json::{Value, json};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateway")
}

/// Runs `fixwire gateway try` in the folder of the samples.
fn attempt(args: &[&str]) -> Output {
    fixwire(&samples(), &[&["gateway", "try"], args].concat())
}

fn fixwire(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(folder)
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn printed(args: &[&str]) -> String {
    let output = attempt(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn each_message_of_a_log_is_shown_with_what_becomes_of_it() {
    for (args, file) in [
        (&["gateway.toml", "messages.log"][..], "blocks.txt"),
        (&["--json", "gateway.toml", "messages.log"], "objects.json"),
        (
            &["--summary", "gateway.toml", "messages.log"],
            "summary.txt",
        ),
    ] {
        let said = printed(args);
        let golden = samples().join(file);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&golden, &said).unwrap();
        }
        let there = fs::read_to_string(&golden).unwrap_or_default();
        let advice = "is behind: run with UPDATE=1 and read the difference";
        assert!(said == there, "{file} {advice}\n{said}");
        for line in said.lines().filter(|_| file == "objects.json") {
            serde_json::from_str::<Value>(line).unwrap();
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/gateway-cli.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = fs::read_to_string(samples().join("blocks.txt")).unwrap();
    let missing = blocks
        .split("\n\n")
        .find(|block| !page.contains(block.trim()));
    assert_eq!(
        missing, None,
        "the page of the command shows something else"
    );
}

#[test]
fn what_is_bad_is_named_and_passed_over() {
    let output = attempt(&["--json", "--summary", "gateway.toml", "messages.log"]);
    let warned = text(&output.stderr);
    for said in [
        "messages.log:9: no session for FIX.4.4 messages from STRANGER to GATE",
        "messages.log:10: field without '='",
    ] {
        assert!(warned.contains(said), "{said} not in\n{warned}");
    }
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    let wanted = json!({
        "messages": 6, "matched": { "news": 1, "orders": 2, "answers": 2 }, "unmatched": 1, "failed": 2,
        "lost": { "440": 1 }, "bad": 2, "otherLines": 1, "ofSession": 1, "outgoing": 1,
    });
    assert_eq!(counts, wanted);
}

#[test]
fn only_the_strict_end_with_an_error() {
    let log = "messages.log";
    assert_eq!(attempt(&["gateway.toml", log]).status.code(), Some(0));
    let strict = attempt(&["--strict", "--summary", "gateway.toml", log]);
    assert_eq!(strict.status.code(), Some(1));
    assert!(text(&strict.stdout).contains("unmatched "));
}

#[test]
fn a_message_that_the_engine_would_not_send_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for file in ["gateway.toml", "symbols.csv"] {
        let text = fs::read_to_string(samples().join(file)).unwrap();
        let text = text.replacen("[default]\n", "[default]\nMaxMessageSize = \"1K\"\n", 1);
        fs::write(folder.join(file), text).unwrap();
    }
    let order = |text: usize| {
        let text = "x".repeat(text);
        format!(
            "8=FIX.4.2|35=D|49=CLIENT|56=GATE|52=20261120-10:00:00|11=1|55=VOD|54=1|21=1|40=1|60=20261120-10:00:00|38=1|58={text}|\n"
        )
    };
    fs::write(
        folder.join("messages.log"),
        [order(10), order(900)].concat(),
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(folder)
        .args(["gateway", "try", "gateway.toml", "messages.log"])
        .output()
        .unwrap();
    let said = text(&output.stdout);
    let failed = "failed      send VENUE: the message is too long: with header and trailer MaxMessageSize (1024 bytes) is the limit";
    assert_eq!(said.matches("  send        VENUE").count(), 1, "{said}");
    assert_eq!(said.matches(failed).count(), 1, "{said}");
}

/// The messages with SOH, from standard input, of a named session.
#[test]
fn the_source_may_be_named() {
    let order = "8=FIX.4.2|35=D|49=X|56=Y|52=20261120-10:00:00|11=1|55=VOD|54=1|21=1|40=1|60=20261120-10:00:00|38=1|";
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(samples())
        .args([
            "gateway",
            "try",
            "--from",
            "CLIENT",
            "--json",
            "gateway.toml",
            "-",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "(in) {}", order.replace('|', "\x01")).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["at"], "stdin:1");
    assert_eq!(told["outcomes"][0]["to"], "VENUE");
    let output = attempt(&["--from", "NOBODY", "gateway.toml", "messages.log"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("unknown session NOBODY; the sessions are: CLIENT, VENUE"),
        "{said}"
    );
}

#[test]
fn the_messages_of_a_journal_are_those_that_came_in() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let messages = fs::read_to_string(samples().join("messages.log")).unwrap();
    let (mut journal, _) =
        Journal::open(Directory::open(&store).unwrap(), JournalConfig::default()).unwrap();
    let session = journal
        .register(Timestamp(0), "FIX.4.2:GATE->CLIENT")
        .unwrap();
    for line in messages.lines().take(3) {
        let message = line.split_once(" : ").unwrap().1.replace('|', "\x01");
        let cause = Cause {
            session,
            kind: RecordKind::Message,
            inbound: Some(message.as_bytes()),
            next_in: 1,
            next_out: 1,
            epoch: 0,
        };
        journal
            .append(Timestamp(0), cause, std::iter::empty())
            .unwrap();
    }
    drop(journal);
    let path = store.to_str().unwrap();
    let said = printed(&["--json", "gateway.toml", path]);
    let told: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(told.len(), 2, "{said}");
    assert_eq!(told[0]["outcomes"][0]["do"], "send");
    assert!(
        told[0]["at"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{path}:1:"))
    );
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = attempt(&["gateway.toml", empty.to_str().unwrap()]);
    assert_eq!(empty.status.code(), Some(1));
    assert!(
        text(&empty.stderr).contains("the folder contains no log and no journal"),
        "{empty:?}"
    );
}

#[test]
fn conditions_know_who_is_away_and_the_time_of_the_message() {
    let folder = tempfile::tempdir().unwrap();
    let sample = fs::read_to_string(samples().join("gateway.toml")).unwrap();
    let sessions = sample.split("[table").next().unwrap();
    let rules = "[[rule]]\nfrom = ['CLIENT']\nwhen = 'active(VENUE) and today(TransactTime)'\ndo = ['send VENUE']\n\
                 [[rule]]\nfrom = ['*']\ndo = ['reject business \"away\"', 'notify \"${MsgType}\"']\n";
    let file = folder.path().join("x.toml");
    fs::write(&file, format!("{sessions}{rules}")).unwrap();
    let outcome = |more: &[&str]| {
        let args = [&["--json", file.to_str().unwrap(), "messages.log"], more].concat();
        let told: Value = serde_json::from_str(printed(&args).lines().next().unwrap()).unwrap();
        told["outcomes"].clone()
    };
    assert_eq!(outcome(&[])[0]["do"], "send");
    let wanted = json!([
        { "do": "reject", "kind": "BusinessMessageReject(j)", "text": "away", "rule": "rule 2" },
        { "do": "notify", "text": "D", "rule": "rule 2" },
    ]);
    assert_eq!(outcome(&["--away", "VENUE"]), wanted);
}

#[test]
fn scripts_run_and_what_they_cannot_tell_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let sample = fs::read_to_string(samples().join("gateway.toml")).unwrap();
    let sessions = sample.split("[table").next().unwrap();
    let rules = "[script]\nlarge = 'msg.OrderQty * msg.Price > 100'\n\
                 [[rule]]\nname = 'large'\nfrom = ['CLIENT']\nwhen = 'script large'\ndo = ['send VENUE']\n\
                 [[rule]]\nname = 'all'\nfrom = ['*']\ndo = ['stop']\n";
    let file = folder.path().join("x.toml");
    fs::write(&file, format!("{sessions}{rules}")).unwrap();
    let said = printed(&[file.to_str().unwrap(), "messages.log"]);
    let blocks: Vec<&str> = said.split("\n\n").collect();
    assert!(blocks[0].contains("rule        large (line 24)"), "{said}");
    let untold = "  skipped     large (line 24)\n  failed      condition: script, line 23: wrong \
        type of value, or a field that is missing\n  rule        all (line 29)\n  stopped ";
    assert!(blocks[1].contains(untold), "{said}");
    let strict = attempt(&["--strict", file.to_str().unwrap(), "messages.log"]);
    assert_eq!(strict.status.code(), Some(1));
}

/// T16: no byte of a log controls the terminal.
#[test]
fn what_a_log_says_is_printed_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let sample = fs::read_to_string(samples().join("gateway.toml")).unwrap();
    fs::write(folder.path().join("x.toml"), sample).unwrap();
    let log = "8=FIX.4.2|9=1|35=D|34=2|49=CLIENT|52=20261120-10:00:00|56=GATE|11=A\x1b[2J|\
               1=\x1b]0;x\x07|58=\u{9b}2J\x7f\r|10=000|\n\x1b[31mno message\n";
    fs::write(folder.path().join("x.log"), log).unwrap();
    for json in [&[][..], &["--json"]] {
        let args = [&["gateway", "try"], json, &["x.toml", "x.log"]].concat();
        let output = fixwire(folder.path(), &args);
        for said in [output.stdout, output.stderr].map(|bytes| text(&bytes)) {
            let control = said.chars().find(|one| one.is_control() && *one != '\n');
            assert_eq!(control, None, "{said:?}");
        }
    }
}

#[test]
fn what_is_remembered_for_an_order_is_found_by_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let sample = fs::read_to_string(samples().join("gateway.toml")).unwrap();
    let sessions = sample.split("[table").next().unwrap();
    let rules = "[[rule]]\nfrom = ['CLIENT']\nwhen = 'MsgType = D'\n\
                 do = ['remember Account, Text', 'remove Account', 'send VENUE']\n\
                 [[rule]]\nfrom = ['VENUE']\ndo = ['recall Account', 'try recall Text', 'forget', 'return']\n";
    fs::write(folder.path().join("x.toml"), format!("{sessions}{rules}")).unwrap();
    let message = |from: &str, fields: &str| {
        let version = if from == "CLIENT" {
            "FIX.4.2"
        } else {
            "FIX.4.4"
        };
        format!("8={version}|9=1|{fields}|34=2|49={from}|52=20261120-10:00:00|56=GATE|10=000|\n")
    };
    let log = [
        message("CLIENT", "35=D|11=A1|1=MINE"),
        message("VENUE", "35=8|37=V|11=A2|41=A1|39=5"),
        message("VENUE", "35=8|37=V|11=A1|39=2"),
    ];
    fs::write(folder.path().join("x.log"), log.concat()).unwrap();
    let output = |args: &[&str]| {
        let output = fixwire(folder.path(), &[&["gateway", "try"], args].concat());
        text(&output.stdout)
    };
    let said = output(&["x.toml", "x.log"]);
    let blocks: Vec<&str> = said.split("\n\n").collect();
    let parts = [
        &["  remember    for A1: 1=MINE\n", "35=D|11=A1"][..],
        &[
            "  forget      values remembered for the order\n",
            "|39=5|1=MINE",
        ],
        &["  failed      action 1: no remembered value for field 1"],
    ];
    for (block, parts) in blocks.iter().zip(parts) {
        for part in parts {
            assert!(block.contains(part), "{part} not in\n{block}");
        }
    }
    let said = output(&["--json", "x.toml", "x.log"]);
    let told =
        |line: usize| serde_json::from_str::<Value>(said.lines().nth(line).unwrap()).unwrap();
    let wanted =
        json!({ "do": "remember", "order": "A1", "fields": [[1, "MINE"]], "rule": "rule 1" });
    assert_eq!(told(0)["outcomes"][0], wanted);
    let wanted = json!({ "do": "forget", "rule": "rule 2" });
    assert_eq!(told(1)["outcomes"][0], wanted);
}

#[test]
fn a_conversion_table_is_printed_changed_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let output = fixwire(
        folder.path(),
        &["gateway", "conversion", "FIX.4.2", "FIX.4.4"],
    );
    let table = text(&output.stdout);
    assert!(
        output.status.success() && table.contains("from FIX.4.2\nto FIX.4.4\n"),
        "{table}"
    );
    let file = folder.path().join("x.toml");
    let mut sample = fs::read_to_string(samples().join("gateway.toml")).unwrap();
    sample += "[conversion]\n\"FIX.4.2 to FIX.4.4\" = 'my.conv'\n";
    fs::write(&file, sample).unwrap();
    fs::copy(
        samples().join("symbols.csv"),
        folder.path().join("symbols.csv"),
    )
    .unwrap();
    let output = fixwire(folder.path(), &["check", "x.toml"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("error: the table my.conv cannot be read: No such file"),
        "{said}"
    );

    let conv = folder.path().join("my.conv");
    fs::write(&conv, format!("{table}\nfor D\nset 58=ours\n")).unwrap();
    let said = printed(&[file.to_str().unwrap(), "messages.log"]);
    assert!(said.contains("|44=1.5|58=ours\n"), "{said}");
    let output = fixwire(folder.path(), &["check", "x.toml"]);
    assert!(text(&output.stdout).contains("conversion.FIX.4.2 to FIX.4.4  my.conv"));

    fs::write(&conv, "from FIX.4.2\nto FIX.4.4\nfor D\nset Texd=ours\n").unwrap();
    let output = fixwire(folder.path(), &["check", "x.toml"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("error: line 4 of the table: neither version has a field Texd"),
        "{said}"
    );
    assert!(said.contains("help: my.conv"), "{said}");

    let output = fixwire(
        folder.path(),
        &["gateway", "conversion", "FIX.4.0", "FIX.4.4"],
    );
    let said = text(&output.stderr);
    assert!(
        said.contains("tables from FIX.4.0 convert to FIX.4.1"),
        "{said}"
    );
}

#[test]
fn mistakes_in_rules_are_shown_as_those_in_settings() {
    let folder = tempfile::tempdir().unwrap();
    let sample = fs::read_to_string(samples().join("gateway.toml")).unwrap();
    let bad = sample.replace("Symbol in", "Simbol in");
    fs::write(
        folder.path().join("x.toml"),
        sample.replace("TargetCompID", "TargetComID"),
    )
    .unwrap();
    let said = text(&fixwire(folder.path(), &["check", "x.toml"]).stderr);
    assert!(said.contains("unknown key `TargetComID`"), "{said}");

    fs::write(folder.path().join("x.toml"), &sample).unwrap();
    let said = text(&fixwire(folder.path(), &["check", "x.toml"]).stderr);
    assert!(
        said.contains("error: the table symbols.csv cannot be read: No such file"),
        "{said}"
    );
    assert!(said.contains("--> x.toml:23:9"), "{said}");

    fs::copy(
        samples().join("symbols.csv"),
        folder.path().join("symbols.csv"),
    )
    .unwrap();
    let output = fixwire(folder.path(), &["check", "x.toml"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for row in [
        "SessionName CLIENT x.toml:5",
        "rules 3",
        "table.symbols symbols.csv x.toml:23",
    ] {
        assert!(
            said.lines().any(|line| words(line) == row),
            "{row} not in\n{said}"
        );
    }

    fs::write(folder.path().join("x.toml"), bad).unwrap();
    for args in [
        &["check", "x.toml"][..],
        &["gateway", "try", "x.toml", "x.toml"],
    ] {
        let output = fixwire(folder.path(), args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        for part in [
            "error: unknown field 'Simbol'\n",
            "--> x.toml:34:9",
            "help: did you mean 'Symbol'?",
        ] {
            assert!(said.contains(part), "{part} not in\n{said}");
        }
    }
    let output = fixwire(folder.path(), &["check", "--json", "x.toml"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["errors"][0]["line"], 34);

    let output = fixwire(&samples(), &["config", "convert", "gateway.toml", "-"]);
    assert!(text(&output.stderr).contains(
        "tables of a gateway or an OMS, which a conversion \
                                           would drop"
    ));
    fs::write(
        folder.path().join("y.toml"),
        sample.split("[table").next().unwrap(),
    )
    .unwrap();
    let output = fixwire(folder.path(), &["gateway", "try", "y.toml", "y.toml"]);
    assert!(
        text(&output.stderr).contains("y.toml has no rules"),
        "{output:?}"
    );
}
