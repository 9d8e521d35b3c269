//! `fixwire check` and other commands, from the outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// A folder with `x.cfg` in it.
fn file(content: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.cfg"), content).unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

const GOOD: &str = "\
[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort=5001
FileLogBackupPath=log
[SESSION]
BeginString=FIX.4.4
SenderCompID=A
TargetCompID=B
Password=hunter2
X-Desk=Par\u{1b}[2Jis
";

#[test]
fn a_toml_file_is_checked_and_its_mistakes_have_columns() {
    const TOML: &str = "[[session]]\nConnectionType = \"acceptor\"\nSocketAcceptPort = 5001\n\
        BeginString = \"FIX.4.4\"\nSenderCompID = \"A\"\nTargetCompID = \"B\"\n";
    let (_keep, folder) = file("");
    fs::write(folder.join("x.toml"), TOML).unwrap();
    let output = fixwire(&folder, &["check", "x.toml"]);
    let table = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(table.starts_with("Read as a TOML file"), "{table}");
    assert!(table.contains("x.toml:3"), "{table}");

    fs::write(
        folder.join("x.toml"),
        format!("{TOML}HeartBtInt = 9999\nPassword = hunter2\n"),
    )
    .unwrap();
    let output = fixwire(&folder, &["run", "x.toml"]);
    let said = text(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("--> x.toml:8:12"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");

    fs::write(folder.join("x.toml"), format!("{TOML}HeartBtInt = 9999\n")).unwrap();
    let output = fixwire(&folder, &["check", "--json", "x.toml"]);
    let said = text(&output.stdout);
    assert!(said.contains("\"line\": 7"), "{said}");
    assert!(said.contains("\"column\": 14"), "{said}");
    let output = fixwire(&folder, &["check", "--dialect", "quickfixj", "x.toml"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("a TOML file is fixwire's own, not a file of QuickFIX/J"),
        "{said}"
    );
}

#[test]
fn each_value_is_shown_with_where_it_comes_from() {
    let (_keep, folder) = file(GOOD);
    let output = fixwire(&folder, &["check", "x.cfg"]);
    assert!(output.status.success());
    let (table, warnings) = (text(&output.stdout), text(&output.stderr));
    // The width of the columns does not matter.
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "Session FIX.4.4:A->B",
        "SocketAcceptPort 5001 x.cfg:3 [DEFAULT]",
        "SenderCompID A x.cfg:7",
        "Password ****** x.cfg:9",
        "X-Desk Par\\x1b[2Jis x.cfg:10",
        "Durability process built-in",
    ] {
        assert!(
            table.lines().any(|found| words(found) == line),
            "{line}\nnot in\n{table}"
        );
    }
    assert!(
        warnings.contains("warning: `FileLogBackupPath` has no effect\n --> x.cfg:4:1\n"),
        "{warnings}"
    );
    assert!(!folder.join("store").exists(), "checking changes nothing");
}

#[test]
fn all_errors_are_shown_with_their_lines_and_no_secret() {
    let bad = GOOD
        .replace("SocketAcceptPort", "SocketAceptPort")
        .replace("FIX.4.4", "FIX.9")
        + "Password=other\n";
    let (_keep, folder) = file(&bad);
    let output = fixwire(&folder, &["check", "x.cfg"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = text(&output.stderr);
    for part in [
        "error: unknown key `SocketAceptPort`\n --> x.cfg:3:1",
        "help: did you mean `SocketAcceptPort`?",
        "error: `FIX.9` is not valid for BeginString: expected FIX.4.0,",
        "error: `Password` appears twice\n  --> x.cfg:11:1",
        "error: `SocketAcceptPort` is missing",
    ] {
        assert!(said.contains(part), "{part}\nnot in\n{said}");
    }
    assert!(
        !said.contains("hunter2") && !said.contains("other") && !said.contains('\u{1b}'),
        "{said}"
    );
    let run = fixwire(&folder, &["run", "x.cfg"]);
    assert_eq!(run.status.code(), Some(1));
    let verdict = said.strip_prefix(&text(&run.stderr)[..]);
    assert!(
        verdict.is_some_and(|verdict| verdict.starts_with("4 errors")),
        "run says what check says, but for the verdict: {said}"
    );
}

#[test]
fn a_secret_that_everybody_can_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let (_keep, folder) = file(GOOD);
    for (mode, warned) in [(0o644, true), (0o640, false), (0o600, false)] {
        let path = folder.join("x.cfg");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let output = fixwire(&folder, &["check", "x.cfg"]);
        let said = text(&output.stderr).contains("every user of this machine can read this secret");
        assert_eq!(said, warned, "{mode:o}");
    }
    fs::write(folder.join("secret"), "hunter3\n").unwrap();
    fs::write(
        folder.join("x.cfg"),
        GOOD.replace("hunter2", "${file:secret}"),
    )
    .unwrap();
    let (mine, all) = (0o600, 0o644);
    for (mode, warned) in [(all, true), (mine, false)] {
        fs::set_permissions(folder.join("secret"), fs::Permissions::from_mode(mode)).unwrap();
        let output = fixwire(&folder, &["check", "x.cfg"]);
        let said = text(&output.stderr) + text(&output.stdout).as_str();
        assert!(
            output.status.success() && !said.contains("hunter3"),
            "{said}"
        );
        assert_eq!(said.contains("can read this secret"), warned, "{mode:o}");
    }
}

#[test]
fn the_flag_says_whose_file_it_is() {
    let (_keep, folder) = file(&GOOD.replace("SenderCompID", "SENDERCOMPID"));
    let output = fixwire(&folder, &["check", "--dialect", "quickfixj", "x.cfg"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("warning: QuickFIX/J accepts `SenderCompID` only with this capitalisation"),
        "{said}"
    );
    let table = text(&output.stdout);
    assert!(table.starts_with("Read as a file of QuickFIX/J, as --dialect says."));
    let verdict = table.lines().last().unwrap();
    assert!(
        verdict.starts_with("ok: 1 session, ") && verdict.ends_with(" warnings"),
        "{verdict}"
    );
    assert!(
        table.contains("default of QuickFIX/J (fixwire: 10)"),
        "{table}"
    );
    let output = fixwire(&folder, &["check", "--dialect", "artio", "x.cfg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("expected quickfix, quickfixj"));
}

#[test]
fn json_has_the_same() {
    let (_keep, folder) = file(GOOD);
    let output = fixwire(&folder, &["check", "--json", "x.cfg"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let settings = json["sessions"][0]["settings"].as_array().unwrap();
    let port = settings
        .iter()
        .find(|setting| setting["key"] == "SocketAcceptPort")
        .unwrap();
    assert_eq!(
        (&port["value"], &port["from"], &port["line"]),
        (&"5001".into(), &"default".into(), &3.into())
    );
    assert_eq!(json["warnings"][0]["line"], 4);
    assert!(!text(&output.stdout).contains("hunter2"));

    fs::write(folder.join("x.cfg"), "[SESSION]\nFlurbl=1\n").unwrap();
    let output = fixwire(&folder, &["check", "--json", "x.cfg"]);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors = json["errors"].as_array().unwrap();
    assert!(
        errors
            .iter()
            .any(|error| error["line"] == 2 && error["text"] == "Flurbl"),
        "{json:#}"
    );
}

#[test]
fn what_is_not_there_is_named() {
    let (_keep, folder) = file(GOOD);
    for args in [
        &["check", "nope.cfg"][..],
        &["run", "nope.cfg"],
        &["journal", "verify", "nope.cfg"],
        &["journal", "dump", "nope.cfg"],
        &["journal", "verify", "."],
        &["generate", "--dictionary", "nope.cfg", "--messages", "D"],
        &[
            "generate",
            "--dictionary",
            "FIX.4.4",
            "--messages",
            "D,nope.cfg",
        ],
    ] {
        let output = fixwire(&folder, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = text(&output.stderr);
        assert!(
            said.starts_with("error: ") && said.lines().count() == 1,
            "{args:?}: {said}"
        );
        let named = args
            .iter()
            .any(|arg| arg.len() > 1 && said.contains(arg.trim_start_matches("D,")));
        assert!(named || args.ends_with(&["."]), "{args:?}: {said}");
    }
}

#[test]
fn the_schedule_of_a_session_is_shown_as_it_comes_out() {
    let days =
        "StartTime=08:00:00\nEndTime=17:00:00\nTimeZone=America/New_York\nWeekdays=Mon,Tue\n";
    let (_keep, folder) = file(&format!("{GOOD}{days}"));
    let output = fixwire(&folder, &["check", "x.cfg"]);
    let table = text(&output.stdout);
    let row = |name: &str| {
        let mut lines = table.lines().map(str::trim_start);
        let line = lines.find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("no {name} in\n{table}"))
    };
    let said = "Monday Tuesday, 08:00:00 America/New_York to 17:00:00 America/New_York";
    assert!(row("(schedule)").contains(said), "{table}");
    assert!(
        ["open", "closed"]
            .iter()
            .any(|word| row("(now)").contains(word))
    );
    for (name, time) in [("(closes)", " 17:00:00 -0"), ("(opens)", " 08:00:00 -0")] {
        assert!(
            row(name).contains(time) && row(name).ends_with('Z'),
            "{table}"
        );
    }
    assert!(row("(sequence reset)").contains(" 08:00:00 -0"), "{table}");
    let output = fixwire(&folder, &["check", "--json", "x.cfg"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let schedule = &found["sessions"][0]["schedule"];
    assert_eq!(schedule["text"], said);
    assert!(
        schedule["opens"]
            .as_str()
            .is_some_and(|at| at.ends_with(":00Z"))
    );
    let (_keep, folder) = file(GOOD);
    let output = fixwire(&folder, &["check", "x.cfg"]);
    let table = text(&output.stdout);
    assert!(
        table.contains("(schedule)") && table.contains("never ends"),
        "{table}"
    );
}

#[test]
fn changed_shows_what_differs_from_the_defaults_alone() {
    let more = "LogonTimeout=10\nMaxLatency=60\nDialect=quickfix\n";
    let (_keep, folder) = file(&format!("{GOOD}{more}"));
    let output = fixwire(&folder, &["check", "--changed", "x.cfg"]);
    let table = text(&output.stdout);
    let keys: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    let wanted = [
        "Dialect",
        "BeginString",
        "SenderCompID",
        "TargetCompID",
        "ConnectionType",
        "SocketAcceptPort",
        "SocketNodelay",
        "ValidateUnorderedGroupFields",
        "Password",
        "MaxLatency",
        "X-Desk",
    ];
    for key in wanted {
        assert!(keys.contains(&key), "no {key} in\n{table}");
    }
    assert_eq!(keys.len(), wanted.len(), "{table}");
    let json = fixwire(&folder, &["check", "--changed", "--json", "x.cfg"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let settings = json["sessions"][0]["settings"].as_array().unwrap();
    assert!(
        settings
            .iter()
            .all(|setting| setting["key"] != "LogonTimeout"),
        "{json:#}"
    );
    assert!(
        settings
            .iter()
            .any(|setting| setting["key"] == "MaxLatency"),
        "{json:#}"
    );
}

#[test]
fn folders_that_cannot_be_written_are_errors_and_nothing_is_left_in_others() {
    for (line, key) in [
        ("FileLogPath=/proc/nope", "FileLogPath=/proc/nope"),
        ("FileStorePath=/proc/nope", "FileStorePath=/proc/nope"),
        ("FileStorePath=x.cfg/store", "FileStorePath=x.cfg/store"),
    ] {
        let (_keep, folder) = file(&GOOD.replace("[SESSION]", &format!("{line}\n[SESSION]")));
        let output = fixwire(&folder, &["check", "x.cfg"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(
            said.contains("this user cannot write to") && said.contains(key),
            "{said}"
        );
        assert!(said.ends_with("1 error\n"), "{said}");
    }
    // No user can write there.
    let (_keep, folder) = file(&GOOD.replace(
        "[SESSION]",
        "FileStorePath=/proc/no\nDurability=memory\n[SESSION]",
    ));
    assert!(fixwire(&folder, &["check", "x.cfg"]).status.success());
    let lines = "FileStorePath=a/store\nFileLogPath=b/log\n[SESSION]";
    let (_keep, folder) = file(&GOOD.replace("[SESSION]", lines));
    assert!(fixwire(&folder, &["check", "x.cfg"]).status.success());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "only x.cfg");
}

#[test]
fn the_path_of_a_password_file_is_shown() {
    let (_keep, folder) = file(&GOOD.replace("Password=hunter2", "PasswordFile=nowhere/users"));
    let said = text(&fixwire(&folder, &["check", "x.cfg"]).stderr);
    assert!(said.contains("PasswordFile=nowhere/users"), "{said}");
    assert!(said.contains("nowhere/users: cannot read"), "{said}");
}

/// Each of them would make the reader wait for ever, or never end.
#[test]
fn pipes_and_devices_are_refused_wherever_a_file_is_named() {
    let (_keep, folder) = file(GOOD);
    let mkfifo = rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("pipe.xml"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    );
    mkfifo.unwrap();
    let gateway = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway.toml");
    fs::copy(gateway, folder.join("gateway.toml")).unwrap();
    for (name, what) in [("pipe.xml", "a pipe"), ("/dev/zero", "a character device")] {
        let line = |key: &str| {
            let path = format!("{key}.cfg");
            let text = GOOD.replace("Password=hunter2", &format!("{key}={name}"));
            fs::write(folder.join(&path), text).unwrap();
            path
        };
        let gateway = GATEWAY.replace("venues.csv", name);
        fs::write(folder.join("table.toml"), gateway).unwrap();
        for args in [
            &["check", name][..],
            &["run", name],
            &["config", "convert", name, "-"],
            &["check", &line("DataDictionary")],
            &["check", &line("PasswordFile")],
            &["check", &line("HolidayFile")],
            &["check", &line("SocketCertificateFile")],
            &["check", "table.toml"],
            &["gateway", "try", "gateway.toml", name],
            &["dictionary", "show", name],
            &["generate", "--dictionary", name, "--messages", "D"],
        ] {
            let output = fixwire(&folder, args);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
            let wanted = format!("a regular file is needed, and this is {what}");
            assert!(said.contains(&wanted), "{args:?}: {said}");
        }
    }
}

const GATEWAY: &str = "[default]\nConnectionType = \"acceptor\"\nSocketAcceptPort = 5001\n\
    [[session]]\nSessionName = \"A\"\nBeginString = \"FIX.4.4\"\nSenderCompID = \"A\"\nTargetCompID = \"B\"\n\
    [table.venues]\nfile = \"venues.csv\"\n";

#[test]
fn help_names_dialects_examples_and_the_crate_of_generated_code() {
    let folder = tempfile::tempdir().unwrap();
    let help = |args: &[&str]| {
        let output = fixwire(folder.path(), &[args, &["--help"]].concat());
        text(&output.stdout)
    };
    for args in [&["check"][..], &["run"], &["config", "convert"]] {
        let all = "quickfix, quickfixj, quickfixgo, quickfixn, antenna or fixwire";
        let words = help(args).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(all), "{args:?}: {words}");
    }
    for args in ["config", "gateway", "journal"] {
        assert!(help(&[args]).contains("Examples:\n  fixwire "), "{args}");
    }
    assert!(help(&["generate"]).contains("depends only on the crate `fixwire`"));
    let source = |more: &[&str]| {
        let args = [
            &["generate", "--dictionary", "FIX.4.4", "--messages", "D"],
            more,
        ]
        .concat();
        text(&fixwire(folder.path(), &args).stdout)
    };
    let (usual, other) = (source(&[]), source(&["--crate", "fixwire_protocol"]));
    let uses = |source: &str, path: &str| {
        source
            .lines()
            .filter(|line| line.starts_with(&format!("use {path}::")))
            .count()
    };
    assert!(uses(&usual, "fixwire::protocol") > 5);
    assert_eq!(
        (
            uses(&usual, "fixwire_protocol"),
            uses(&other, "fixwire::protocol")
        ),
        (0, 0)
    );
    assert_eq!(
        usual.replace("use fixwire::protocol::", "use fixwire_protocol::"),
        other
    );
    let wrong = fixwire(
        folder.path(),
        &[
            "generate",
            "--dictionary",
            "FIX.4.4",
            "--messages",
            "D",
            "--crate",
            "a b",
        ],
    );
    assert!(text(&wrong.stderr).contains("expected names with ::"));
}

/// The same file from another folder has the same journal: relative paths begin in the file's folder.
#[test]
fn a_relative_store_is_the_settings_files_from_wherever_it_is_named() {
    let (_keep, folder) = file("");
    fs::create_dir(folder.join("conf")).unwrap();
    for (name, text) in [
        (
            "x.cfg",
            format!("Dialect=quickfix\n{}", GOOD.split_once('\n').unwrap().1),
        ),
        ("y.cfg", GOOD.split_once('\n').unwrap().1.to_owned()),
    ] {
        fs::write(folder.join("conf").join(name), format!("[DEFAULT]\n{text}")).unwrap();
        let output = fixwire(&folder, &["check", &format!("conf/{name}")]);
        assert!(output.status.success(), "{}", text_of(&output));
        // A journal with that name in the working folder may be meant.
        fs::create_dir(folder.join("store")).unwrap();
        fs::write(folder.join("store/FIX.4.4-A-B.seqnums"), "7 : 9").unwrap();
        for command in ["check", "run"] {
            let output = fixwire(&folder, &[command, &format!("conf/{name}")]);
            let said = text_of(&output);
            assert!(!output.status.success(), "{command}: {said}");
            assert!(
                said.contains(
                    "FileStorePath is relative to the settings file: conf/store has no journal"
                ) && said.contains("but store in the working folder"),
                "{command}: {said}"
            );
        }
        fs::remove_dir_all(folder.join("store")).unwrap();
    }
}

/// A store of another engine is not ignored.
#[test]
fn a_file_store_without_a_journal_stops_check_and_run() {
    for store_file in [
        "FIX.4.4-A-B.seqnums",
        "FIX.4.4-A-B.senderseqnums",
        "FIX.4.4-A-B.body",
    ] {
        let (_keep, folder) = file(GOOD);
        fs::create_dir(folder.join("store")).unwrap();
        fs::write(folder.join("store").join(store_file), "x").unwrap();
        for command in ["check", "run"] {
            let output = fixwire(&folder, &[command, "x.cfg"]);
            let said = text_of(&output);
            assert!(!output.status.success(), "{command}: {said}");
            assert!(
                said.contains(store_file) && said.contains("fixwire journal import"),
                "{command}: {said}"
            );
            assert!(!folder.join("store/lock").exists());
        }
    }
}

fn text_of(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}
