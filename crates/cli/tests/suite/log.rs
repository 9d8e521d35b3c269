//! `fixwire log`: its page shows its real output.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fixwire_protocol::frame::check_sum;
use serde_json::Value;

pub fn fixwire(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .args(args)
        .output()
        .unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A message of CLIENT or BROKER, with SOH.
pub fn message(msg_type: &str, number: u32, from: &str, second: u32, body: &str) -> String {
    let to = if from == "CLIENT" { "BROKER" } else { "CLIENT" };
    let head =
        format!("35={msg_type}|34={number}|49={from}|52=20261120-10:00:{second:02}.000|56={to}|");
    let body = format!("{head}{body}").replace('|', "\x01");
    let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    format!("{text}10={:03}\x01", check_sum(text.as_bytes()))
}

/// The logs on the page: BROKER's, in the layout of QuickFIX.
pub fn logs(folder: &Path) {
    let messages = [
        message("A", 1, "CLIENT", 0, "98=0|108=30|553=desk|554=tiger|"),
        message("A", 1, "BROKER", 0, "98=0|108=30|"),
        message(
            "D",
            2,
            "CLIENT",
            1,
            "11=A1|55=VOD|54=1|60=20261120-10:00:01|38=1500|40=2|44=1.5|",
        ),
        message(
            "8",
            2,
            "BROKER",
            1,
            "37=O1|11=A1|17=E1|150=0|39=0|55=VOD|54=1|38=1500|151=1500|14=0|6=0|",
        ),
        message(
            "D",
            5,
            "CLIENT",
            4,
            "11=A2|55=TXFL6|54=2|60=20261120-10:00:04|38=3|40=1|",
        ),
        message("2", 3, "BROKER", 4, "7=3|16=0|"),
        message("4", 3, "CLIENT", 5, "43=Y|123=Y|36=5|"),
        message("3", 4, "BROKER", 6, "45=5|58=unknown symbol|"),
    ];
    let mut log = String::new();
    for (at, message) in messages.iter().enumerate() {
        let second = message.split("52=20261120-10:00:").nth(1).unwrap();
        log += &format!("20261120-10:00:{}.00{at}000000 : {message}\n", &second[..2]);
    }
    log = log.replace("58=unknown symbol", "58=unknown symb");
    log += "20261120-10:00:07.000000000 : 8=FIX.4.4\x019=120\x0135=5\x0134=6";
    fs::create_dir(folder.join("logs")).unwrap();
    fs::write(
        folder.join("logs/FIX.4.4-BROKER-CLIENT.messages.current.log"),
        log,
    )
    .unwrap();
    let events =
        "20261120-10:00:00.000000000 : Created session\n20261120-10:00:00.500000000 : Logon\n";
    fs::write(
        folder.join("logs/FIX.4.4-BROKER-CLIENT.event.current.log"),
        events,
    )
    .unwrap();
}

/// Orders and their reports, two blocks of an index and a little more.
fn large_log(folder: &Path) {
    let mut log = String::new();
    for number in 1.. {
        let id = format!("11=A{number}|55=VOD|");
        log += &message("D", number, "CLIENT", number % 60, &id);
        log += "\n";
        let report = format!("37=O{number}|17=E{number}|{id}");
        log += &message("8", number, "BROKER", number % 60, &report);
        log += "\n";
        if log.len() > 600_000 {
            break;
        }
    }
    fs::write(folder.join("large.log"), log).unwrap();
}

#[test]
fn an_index_is_built_extended_and_used() {
    let root = tempfile::tempdir().unwrap();
    let fixwire = |args: &[&str]| fixwire(root.path(), &[&["log"], args].concat());
    large_log(root.path());
    let path = root.path().join("large.log");
    for (round, word) in ["built", "up to date", "extended"].into_iter().enumerate() {
        if round == 2 {
            let more = fs::read(&path).unwrap();
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(&more).unwrap();
        }
        let output = fixwire(&["index", "large.log"]);
        let said = text(&output.stdout);
        assert!(output.status.success() && said.contains(word), "{said}");
        for args in [
            &["order", "O1500"][..],
            &["order", "nobody"],
            &["grep", "11=A7|A1400"],
        ] {
            let with = fixwire(&[args, &["large.log"]].concat());
            let without = fixwire(&[args, &["--no-index", "large.log"]].concat());
            assert_eq!(text(&with.stdout), text(&without.stdout), "{args:?}");
            assert_eq!(with.status.code(), without.status.code(), "{args:?}");
        }
    }
    fs::create_dir(root.path().join("store")).unwrap();
    fs::write(root.path().join("store/0000000001.fwj"), "").unwrap();
    for (path, why) in [
        ("store", "a journal"),
        ("no.log", "No such file"),
        ("-", "standard input"),
    ] {
        let output = fixwire(&["index", path]);
        let error = text(&output.stderr);
        assert!(
            !output.status.success() && error.contains(why),
            "{path}: {error}"
        );
    }
}

/// A page, with the output of the commands on it.
pub struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    pub fn read(path: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(path);
        let text = fs::read_to_string(&path).unwrap();
        Self { path, text }
    }

    /// Compares a command's output with the text after it on the page; with `UPDATE=1` writes it there.
    pub fn shows(&mut self, args: &[&str], output: &Output) {
        let (said, errors) = (text(&output.stdout), text(&output.stderr));
        let typed = args.iter().map(|arg| match arg.contains(' ') {
            true => format!("'{arg}'"),
            false => (*arg).to_owned(),
        });
        let typed = typed.collect::<Vec<_>>().join(" ");
        let command = format!("$ fixwire {typed}\n");
        let start = self.text.find(&command);
        let start = start.unwrap_or_else(|| panic!("{command} is not on the page"));
        let start = start + command.len();
        let end = start + self.text[start..].find("```").unwrap();
        let whole = format!("{}\n{errors}", said.trim_end());
        if std::env::var_os("UPDATE").is_some() {
            self.text.replace_range(start..end, &whole);
            fs::write(&self.path, &self.text).unwrap();
        }
        assert!(
            self.text[start..].starts_with(&whole),
            "{args:?} is not as on the page:\n{whole}"
        );
    }
}

#[test]
fn the_page_shows_what_is_printed() {
    let root = tempfile::tempdir().unwrap();
    logs(root.path());
    large_log(root.path());
    let mut page = Page::read("docs/reference/log.md");
    for args in [
        &["log", "summary", "logs"][..],
        &["log", "grep", "35=D 38>1000", "logs"],
        &["log", "grep", "--json", "35=3", "logs"],
        &[
            "log",
            "grep",
            "--decode",
            "MsgType = Logon and has(Username)",
            "logs",
        ],
        &["log", "order", "O1", "logs"],
        &["log", "order", "A2", "logs"],
        &["log", "gaps", "logs"],
        &["log", "latency", "logs"],
        &["log", "throughput", "logs"],
        &["log", "validate", "logs"],
        &[
            "log",
            "export",
            "--fields",
            "35,ClOrdID,38",
            "--of",
            "35=D",
            "logs",
        ],
        &["log", "index", "large.log"],
    ] {
        let output = fixwire(root.path(), args);
        let (said, errors) = (text(&output.stdout), text(&output.stderr));
        // The last message of the folder is cut off.
        let is_cut = args.last() == Some(&"logs");
        assert_eq!(
            output.status.code(),
            Some(is_cut.into()),
            "{args:?}: {errors}"
        );
        assert!(
            !said.is_empty() && errors.starts_with("error: not read: ") == is_cut,
            "{args:?}: {errors}"
        );
        page.shows(args, &output);
    }
}

#[test]
fn no_secret_and_no_control_character_is_printed() {
    let root = tempfile::tempdir().unwrap();
    logs(root.path());
    let hostile = message("B", 9, "CLIENT", 9, "148=\x1b[2J|95=5|96=tiger|");
    fs::write(root.path().join("logs/x.log"), hostile).unwrap();
    for args in [
        &["35=A|B"][..],
        &["--json", "35=A|B"],
        &["--decode", "35=A|B"],
    ] {
        let output = fixwire(root.path(), &[&["log", "grep"], args, &["logs"]].concat());
        let said = text(&output.stdout);
        assert!(
            said.contains("***") && !said.contains("tiger") && !said.contains('\x1b'),
            "{said}"
        );
    }
}

#[test]
fn json_is_read_by_programs() {
    let root = tempfile::tempdir().unwrap();
    logs(root.path());
    let output = fixwire(root.path(), &["log", "summary", "--json", "logs"]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["messages"], 8);
    assert_eq!(
        (&summary["gaps"], &summary["missing"]),
        (&1.into(), &0.into())
    );
    assert_eq!(summary["sessions"][0]["session"], "FIX.4.4:BROKER->CLIENT");
    assert_eq!(
        (
            &summary["sessions"][0]["in"],
            &summary["sessions"][0]["out"]
        ),
        (&4.into(), &4.into())
    );
    assert_eq!(summary["notRead"][0]["bytes"], 25);
    let output = fixwire(root.path(), &["log", "gaps", "--json", "logs"]);
    let gaps: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(gaps[1]["gaps"][0]["first"], 3);
}

/// No command stops at a maximum number of fields, and each order of a list has its own fields.
#[test]
fn no_command_stops_before_the_last_field() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let entries: String = (0..3000)
        .map(|at| format!("11=L{at}|67={at}|55=S{at}|54=1|38={at}|40=1|"))
        .collect();
    let list = message(
        "E",
        2,
        "CLIENT",
        0,
        &format!("66=L|394=3|68=3000|73=3000|{entries}"),
    );
    fs::write(folder.join("x.log"), list + "\n").unwrap();
    let said = |args: &[&str]| {
        let output = fixwire(folder, args);
        assert!(
            output.status.success(),
            "{args:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    };
    assert_eq!(
        said(&["log", "grep", "11=L2999", "x.log"]).lines().count(),
        1
    );
    assert_eq!(said(&["log", "grep", "11=L3000", "x.log"]), "");
    assert!(said(&["log", "grep", "--decode", "35=E", "x.log"]).contains("\n  [3000]\n"));
    assert!(said(&["log", "export", "--format", "jsonl", "x.log"]).contains("L2999"));
    said(&["log", "anonymise", "--to", "new", "x.log"]);
    let order = said(&["log", "order", "L2998", "x.log"]);
    assert!(
        order.contains("11=L2998 55=S2998 54=1 38=2998 40=1"),
        "{order}"
    );
}

#[test]
fn wrong_arguments_say_what_is_expected() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("x.log"), "nothing\n").unwrap();
    for (args, said) in [
        (&["grep", "35=D x", "x.log"][..], "x: expected a tag"),
        (&["grep", "Symbol is VOD", "x.log"], "QUERY: at "),
        (
            &["grep", "35=D", "no.log"],
            "not read: no.log: No such file",
        ),
        (&["summary", "--zone", "Mars", "x.log"], "Asia/Taipei"),
        (&["summary", "--shift", "y.log=1s", "x.log"], "y.log"),
        (
            &["summary", "--shift", "x.log=1", "x.log"],
            "broker.log=+1.2ms",
        ),
    ] {
        let output = fixwire(root.path(), &[&["log"], args].concat());
        assert!(!output.status.success(), "{args:?}");
        let error = text(&output.stderr);
        assert!(error.contains(said), "{args:?}: {error}");
    }
    let output = fixwire(root.path(), &["log", "grep", "35=D", "x.log"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

#[test]
fn grep_follows_a_log_and_reads_standard_input() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    File::create(&path).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .args(["log", "grep", "-f", "35=D"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    let reading = thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    for number in 1..4 {
        let order = message("D", number, "CLIENT", number, "11=A|");
        file.write_all(format!("{}\n{order}\n", message("0", number, "CLIENT", 0, "")).as_bytes())
            .unwrap();
        let line = lines.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(
            line.contains(&format!("|34={number}|")) && line.contains("35=D"),
            "{line}"
        );
    }
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .args(["log", "grep", "11=A", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let order = message("D", 7, "CLIENT", 7, "11=A|");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(order.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stdout);
    assert!(
        output.status.success() && said.starts_with("stdin:1 ") && said.contains("|34=7|"),
        "{said}"
    );
}
