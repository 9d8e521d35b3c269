//! The files of each ended trading day, which an OMS writes by itself.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::oms::{Floor, client_logs_on, id, json, oms, order, report, venue_logs_on};
use crate::oms_desk::csv;
use crate::oms_reports::in_days;
use crate::peer::{Peer, utc_now};
use crate::running::{Running, fixwire};

const TABLES: [&str; 7] = [
    "orders",
    "rejected",
    "fills",
    "positions",
    "limits",
    "actions",
    "day",
];

fn roll(folder: &Path, day: &str) {
    let (code, said) = oms(folder, "roll", &[&format!("day={day}"), "--why", "a test"]);
    assert_eq!(code, 0, "{said}");
}

/// An order that the venue fills at once.
fn fill(client: &mut Peer, venue: &mut Peer, name: &str, exec: u32) {
    client.send("D", &order(name, 100));
    let number = id(&venue.expect("D"));
    venue.send("8", &report(&number, exec, '0', (100, 0)));
    venue.send("8", &report(&number, exec + 1, '2', (100, 100)));
    client.expect("8");
    assert!(client.expect("8").contains("|39=2|"));
}

/// Starts an OMS, and waits until it listens and has said this, in any order.
fn start_that_says(folder: &Path, port: u16, text: &str) -> Running {
    let mut command = fixwire();
    command.arg("run").arg(folder.join("oms.toml"));
    let running = Running::spawn(command, port);
    let mut left = vec!["listening", text];
    while !left.is_empty() {
        let line = running.hears_until(&left).pop().unwrap();
        left.retain(|text| !line.contains(text));
    }
    running
}

/// The paths of the files in a folder.
fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    names.sort();
    names
}

fn ids(file: &Path) -> Vec<String> {
    let rows = csv(file);
    rows.iter().map(|row| row["ClOrdID"].clone()).collect()
}

#[test]
fn a_roll_writes_the_files_of_the_ended_day_also_after_kill_9() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::begin("[oms]\nday_files = \"paper/days\"\n");
    let folder = folder.path();
    let days = [in_days(0), in_days(1), in_days(2), in_days(3)];
    let folder_of = |day: &String| folder.join("paper/days").join(day);
    let [first, second, third] = [&days[0], &days[1], &days[2]].map(folder_of);
    let wanted_in = |day: &Path| TABLES.map(|table| day.join(format!("{table}.csv")));
    fill(&mut client, &mut venue, "A1", 1);
    roll(folder, &days[1]);
    running.hears(&format!("files written in {}", first.display()));
    let wanted = wanted_in(&first);
    let mut sorted = wanted.to_vec();
    sorted.sort();
    assert_eq!(names(&first), sorted, "nothing else");
    assert_eq!(ids(&wanted[0]), ["A1"]);
    assert_eq!(csv(&wanted[2])[0]["quantity"], "100");

    // A day with orders does not go on: its ClOrdIDs and traded amounts are not kept.
    let back = format!("day={}", days[0]);
    let (code, said) = oms(folder, "roll", &[&back, "--why", "a test"]);
    assert_ne!(code, 0);
    let why = format!("{} has ended with orders", days[0]);
    assert!(said.contains(&why), "{said}");

    // A day without orders goes on when the roll is undone, and its files are written again when it ends.
    let wanted = wanted_in(&second);
    roll(folder, &days[2]);
    running.hears(&format!("files written in {}", second.display()));
    assert!(ids(&wanted[0]).is_empty());
    let last: u64 = csv(&wanted[6])[0]["last_event"].parse().unwrap();
    roll(folder, &days[1]);
    running.hears("is the trading day now");
    fill(&mut client, &mut venue, "A2", 11);
    roll(folder, &days[2]);
    running.hears(&format!("files written in {}", second.display()));
    assert_eq!(ids(&wanted[0]), ["A2"]);
    let end: u64 = csv(&wanted[6])[0]["last_event"].parse().unwrap();
    assert!(end > last, "{end}, {last}");
    assert_eq!(ids(&first.join("orders.csv")), ["A1"]);

    // Whole files stay; the next day ends and the process is killed before its files are written.
    let inode = |file: &Path| fs::metadata(file).unwrap().ino();
    let written = wanted.clone().map(|file| inode(&file));
    fill(&mut client, &mut venue, "A3", 21);
    fs::write(&third, "not a folder").unwrap();
    roll(folder, &days[3]);
    let said = running.hears("files not written: ");
    assert!(
        said.contains(&format!("{} cannot be written: ", third.display()))
            && said.contains("fixwire tries again: make the file writable"),
        "{said}"
    );
    drop(running);
    fs::remove_file(&third).unwrap();
    let said = format!("files written in {}", third.display());
    let running = start_that_says(folder, port, &said);
    venue = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    assert_eq!(ids(&third.join("orders.csv")), ["A3"]);
    assert_eq!(wanted.clone().map(|file| inode(&file)), written);

    // Of the days only the one with a missing file is written again.
    drop(running);
    let kept = inode(&third.join("orders.csv"));
    fs::remove_file(&wanted[2]).unwrap();
    let said = format!("files written in {}", second.display());
    let running = start_that_says(folder, port, &said);
    assert_eq!(csv(&wanted[2]).len(), 1);
    venue = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    client = client_logs_on(port, client.next_out);
    fill(&mut client, &mut venue, "A4", 31);
    roll(folder, &in_days(4));
    running.hears(&format!("paper/days/{}", days[3]));
    assert_eq!(inode(&third.join("orders.csv")), kept);
    drop(running);
}

#[test]
fn files_that_cannot_be_written_stop_no_trading_and_are_tried_again() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\nday_files = \"days\"\n");
    let folder = folder.path();
    fill(&mut client, &mut venue, "A1", 1);
    let day = folder.join("days").join(in_days(0));
    fs::create_dir_all(folder.join("days")).unwrap();
    fs::write(&day, "not a folder").unwrap();
    roll(folder, &in_days(1));
    running.hears("files not written: ");
    fill(&mut client, &mut venue, "A2", 11);
    fs::remove_file(&day).unwrap();
    running.hears(&format!("files written in {}", day.display()));
    assert_eq!(ids(&day.join("orders.csv")), ["A1"]);
    drop(running);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_of_the_settings() {
    let Floor {
        folder, running, ..
    } = Floor::begin("[oms]\n");
    drop(running);
    let file = folder.path().join("oms.toml");
    let text = fs::read_to_string(&file).unwrap();
    let said = |table: &str| {
        fs::write(&file, text.replacen("[oms]\n", table, 1)).unwrap();
        let said = ["check", "run"].map(|verb| {
            let run = fixwire().arg(verb).arg(&file).output().unwrap();
            assert!(!run.status.success());
            String::from_utf8(run.stderr).unwrap()
        });
        let mistake = said[0].split("\n\n").next().unwrap_or_default();
        assert!(said[1].contains(mistake), "{said:?}");
        said[0].clone()
    };
    let refused = said("[oms]\nday_files = \"/proc/days\"\n");
    assert!(
        refused.contains(
            "day_files: this user cannot write to /proc/days: cannot create a file in /proc"
        ) && refused.contains("oms.toml:")
            && refused.contains(" ^"),
        "{refused}"
    );
    let refused = said("[oms]\nday_files = \" \"\n");
    assert!(refused.contains("day_files is empty"), "{refused}");
    let refused = said("[oms]\nday_format = \"parquet\"\n");
    assert!(
        refused.contains("day_format without day_files"),
        "{refused}"
    );
    if cfg!(not(feature = "parquet")) {
        let refused = said("[oms]\nday_files = \"days\"\nday_format = \"parquet\"\n");
        let wanted = "needs a fixwire with the feature parquet";
        assert!(refused.contains(wanted), "{refused}");
    }
    assert!(
        !folder.path().join("days").exists(),
        "check creates nothing"
    );
}

/// The present time, for `--at`.
pub fn moment() -> String {
    // The time has milliseconds: what was done before is in an earlier one.
    thread::sleep(Duration::from_millis(5));
    let now = utc_now();
    format!("{}-{}-{}T{}", &now[..4], &now[4..6], &now[6..8], &now[9..])
}

#[test]
fn an_earlier_state_is_read_from_the_journal_of_a_running_and_of_a_stopped_oms() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    fill(&mut client, &mut venue, "A1", 1);
    client.send("D", &order("A2", 70));
    venue.expect("D");
    let tables: [&[&str]; 5] = [
        &["orders"],
        &["orders", "--open"],
        &["orders", "--account", "A1", "--newest", "1"],
        &["positions"],
        &["limits"],
    ];
    let present = || tables.map(|table| json(folder, table[0], &table[1..]));
    let then = present();
    assert_eq!(then[0].as_array().unwrap().len(), 2);
    let at = moment();
    let at_then = || tables.map(|it| json(folder, it[0], &[&it[1..], &["--at", &at]].concat()));
    thread::sleep(Duration::from_millis(5));
    fill(&mut client, &mut venue, "A3", 11);
    let (code, said) = oms(folder, "limit", &["firm", "RC13=7", "--why", "a test"]);
    assert_eq!(code, 0, "{said}");
    let now = present();
    let changed: Vec<bool> = then
        .iter()
        .zip(&now)
        .map(|(then, now)| then != now)
        .collect();
    assert_eq!(
        changed,
        [true, false, true, true, true],
        "open orders are the same"
    );
    assert_eq!(at_then(), then);
    drop(running);
    assert_eq!(at_then(), then, "of a stopped OMS");
    let later = moment();
    let at_later = tables.map(|it| json(folder, it[0], &[&it[1..], &["--at", &later]].concat()));
    assert_eq!(at_later, now);
    for (text, wanted) in [
        ("2001-02-03T04:05", " is not known: the journal "),
        (
            "2100-02-03T04:05",
            "--at 2100-02-03T04:05 (UTC) is in the future",
        ),
        (
            "noon",
            "noon is not a time: write 2026-11-29T14:30:00.123, or 14:30 for today",
        ),
    ] {
        let (code, said) = oms(folder, "positions", &["--at", text]);
        assert!(code != 0 && said.contains(wanted), "{said}");
    }
    // A time that a history shows is that of its event, which counts.
    let (_, steps) = oms(folder, "history", &["3"]);
    let fill = steps.lines().rev().find(|it| it.contains("Filled"));
    let time = fill.unwrap().split_whitespace().next().unwrap();
    let (day, clock) = time.split_once('-').unwrap();
    let filled = |clock: &str| {
        let at = format!("{}-{}-{}T{clock}", &day[..4], &day[4..6], &day[6..]);
        let orders = json(folder, "orders", &["--at", &at]);
        let order = orders
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["ClOrdID"] == "A3");
        order.map(|it| it["state"].as_str().unwrap().to_owned())
    };
    assert_eq!(filled(clock).as_deref(), Some("filled"), "{steps}");
    let last = clock.len() - 9;
    let before = clock[last..].parse::<u64>().unwrap() - 1;
    let before = filled(&format!("{}{before:09}", &clock[..last]));
    // The acceptance may have the same time.
    assert!(before.is_some_and(|it| it != "filled"), "{steps}");
    let (_, said) = oms(folder, "orders", &["--at", &later, "--account", "NONE"]);
    assert!(said.contains("unknown account NONE"), "{said}");
}
