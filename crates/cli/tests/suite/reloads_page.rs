//! docs/reference/reloads.md: the tests that it names exist, and its statements about an engine's files hold.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::peer::{self, Peer};
use crate::running::{Running, fixwire};

const PAGE: &str = include_str!("../../../../docs/reference/reloads.md");

/// All Rust files in a folder.
fn rust(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn each_test_of_the_page_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    rust(&root.join("crates"), &mut files);
    rust(&root.join("tests"), &mut files);
    let has = |name: &str, test: Option<&str>| {
        let named = files.iter().filter(|file| {
            let without = file.with_extension("");
            let mut parts = without.ancestors().take(4);
            parts.any(|part| part.file_name().is_some_and(|it| it == name))
        });
        let mut texts = named.map(|file| fs::read_to_string(file).unwrap());
        texts.any(|text| match test {
            Some(test) => text.contains(&format!("fn {test}(")),
            None => text.contains("#[test]"),
        })
    };
    let mut named = 0;
    for row in PAGE.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let Some(last) = cells.get(3).filter(|cell| cell.starts_with('`')) else {
            continue;
        };
        for shown in last.split(", ") {
            let mut words = shown.split('`').skip(1).step_by(2);
            let file = words.next().unwrap();
            let test = words.next();
            assert!(has(file, test), "no test {file} {test:?} for: {row}");
            named += 1;
        }
    }
    assert!(named > 20, "{named}");
}

#[test]
fn files_of_the_settings_are_read_at_the_start_only() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let xml = fixwire()
        .args(["dictionary", "convert", "--to", "quickfix", "FIX.4.2"])
        .output()
        .unwrap();
    assert!(xml.status.success());
    fs::write(place("fix42.xml"), xml.stdout).unwrap();
    fs::write(place("days.txt"), "2026-12-25\n").unwrap();
    let extra = "Dialect=fixwire\nDataDictionary=fix42.xml\nHolidayFile=days.txt";
    let running = Running::start(folder.path(), "echo", extra);
    fs::remove_file(place("fix42.xml")).unwrap();
    fs::remove_file(place("days.txt")).unwrap();
    running.signal("HUP");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    peer.send("D", &peer::order("A1"));
    peer.expect("8");
}

#[test]
fn sighup_reads_the_password_file_of_an_engine_again() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    let keep = |password: &str| {
        let hash = fixwire::passwords::hash(password.as_bytes()).unwrap();
        fs::write(&users, format!("anna:{hash}\n")).unwrap();
        fs::set_permissions(&users, fs::Permissions::from_mode(0o600)).unwrap();
    };
    keep("tiger");
    let running = Running::start(folder.path(), "echo", "PasswordFile=users");
    let log_on = |password: &str| {
        let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
        peer.send("A", &format!("98=0|108=30|141=Y|553=anna|554={password}"));
        let is_on = peer.next().is_some_and(|answer| answer.contains("|35=A|"));
        if is_on {
            peer.send("5", "");
            peer.expect("5");
        }
        is_on
    };
    assert!(log_on("tiger"));
    keep("lion");
    running.signal("HUP");
    running.hears("1 changed");
    assert!(!log_on("tiger") && log_on("lion"));
}
