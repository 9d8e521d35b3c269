//! Files with the keys of those shipped with the samples of QuickFIX (C++) and QuickFIX/J: each passes `check` and runs
//! unchanged, in a folder that has only the file.

use std::fs;
use std::path::Path;

use crate::running::{Running, fixwire, free_port};

struct Stock {
    name: &'static str,
    /// The first line of `check`.
    read_as: &'static str,
    verdict: &'static str,
    /// Dictionaries that are missing.
    dictionaries: &'static [&'static str],
}

const OPEN: &str = "Read as fixwire's own file. If";
const QUICKFIX: &str = "Read as a file of QuickFIX: several";
const QUICKFIXJ: &str = "Read as a file of QuickFIX/J: several";
const ALL: [&str; 5] = [
    "FIX40.xml",
    "FIX41.xml",
    "FIX42.xml",
    "FIX43.xml",
    "FIX44.xml",
];

#[rustfmt::skip]
const FILES: [Stock; 10] = [
    Stock { name: "quickfix-acceptor", read_as: QUICKFIX, verdict: "ok: 11 sessions, ", dictionaries: &[
        "../spec/FIX40.xml", "../spec/FIX41.xml", "../spec/FIX42.xml", "../spec/FIX43.xml", "../spec/FIX44.xml",
        "../spec/FIX50.xml", "../spec/FIXT11.xml",
    ] },
    Stock { name: "quickfix-initiator", read_as: QUICKFIX, verdict: "ok: 1 session, ", dictionaries: &["../spec/FIX42.xml"] },
    Stock { name: "quickfix-plain", read_as: OPEN, verdict: "ok: 2 sessions, 0 warnings", dictionaries: &[] },
    Stock { name: "quickfix-matcher", read_as: OPEN, verdict: "ok: 2 sessions, 3 warnings", dictionaries: &[
        "../spec/FIX42.xml", "../spec/FIX50.xml", "../spec/FIXT11.xml",
    ] },
    Stock { name: "quickfixj-acceptor", read_as: QUICKFIXJ, verdict: "ok: 6 sessions, 3 warnings", dictionaries: &[] },
    Stock { name: "quickfixj-dynamic", read_as: QUICKFIXJ, verdict: "ok: 5 session templates, 7 warnings", dictionaries: &ALL },
    Stock { name: "quickfixj-standby", read_as: OPEN, verdict: "ok: 1 session, 2 warnings", dictionaries: &["etc/FIX42.xml"] },
    Stock { name: "quickfixj-matcher", read_as: OPEN, verdict: "ok: 1 session, 1 warning", dictionaries: &["FIX42.xml"] },
    Stock { name: "quickfixj-initiator", read_as: OPEN, verdict: "ok: 6 sessions, 0 warnings", dictionaries: &[] },
    Stock { name: "quickfixj-failover", read_as: OPEN, verdict: "ok: 1 session, 0 warnings", dictionaries: &[] },
];

#[test]
fn each_passes_check_and_runs_as_it_is() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/settings/stock");
    assert_eq!(fs::read_dir(&all).unwrap().count(), FILES.len());
    for stock in &FILES {
        let Stock {
            name,
            read_as,
            verdict,
            dictionaries,
        } = stock;
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let text = fs::read_to_string(all.join(format!("{name}.cfg"))).unwrap();
        let text = text.replace("@PORT@", &port.to_string());
        fs::write(folder.path().join("stock.cfg"), &text).unwrap();
        let mut check = fixwire();
        check
            .current_dir(folder.path())
            .args(["check", "stock.cfg"]);
        let checked = check.output().unwrap();
        let table = String::from_utf8_lossy(&checked.stdout).into_owned();
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success(), "{name}: {said}");
        assert!(table.starts_with(read_as), "{name}: {table}");
        let last = table.lines().last().unwrap();
        assert!(last.starts_with(verdict), "{name}: {last}\n{said}");
        assert_eq!(
            said.matches("the built-in dictionary of").count(),
            text.matches("Dictionary=").count() - text.matches("UseDataDictionary=").count(),
            "{name}: {said}"
        );
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "{name}: only the file"
        );

        // A failure names the file.
        println!("{name}");
        let mut run = fixwire();
        run.current_dir(folder.path())
            .args(["run", "--app", "echo", "stock.cfg"]);
        let running = Running::spawn(run, port);
        // The first sign of life: it listens, or tries to connect.
        let heard = running.hears_until(&["listening at", "cannot connect to"]);
        let notes = heard.iter().filter(|line| line.starts_with("note: "));
        let notes: Vec<&String> = notes.collect();
        assert!(
            matches!(notes[..], [note] if note[6..].starts_with(read_as)),
            "{name}: {heard:#?}"
        );
        for file in *dictionaries {
            let event =
                format!("dictionary {file} is missing; using the built-in dictionary of FIX");
            assert_eq!(
                heard.iter().filter(|line| line.contains(&event)).count(),
                1,
                "{name}: {heard:#?}"
            );
        }
        if name.ends_with("-acceptor") && name.starts_with("quickfixj") {
            let defaults = "SocketConnectTimeout=60 (fixwire: 10), TestRequestDelayMultiplier=0.5 (fixwire: 0.2)";
            assert!(notes[0].contains(defaults), "{notes:?}");
        }
    }
}
