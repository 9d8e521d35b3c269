//! `fixwire log latency`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::log::{fixwire, message, text};

/// A log in the layout of QuickFIX with orders 1 to `count`; order N is reported after N microseconds and filled after
/// 2 N.
fn orders(path: &Path, count: u32) {
    let mut lines: Vec<(u32, String)> = Vec::new();
    for number in 1..=count {
        let symbol = [
            "VOD",
            "TXFL6",
            "A-very-long-symbol-of-a-strategy-with-many-legs-in-it",
        ];
        let symbol = symbol[number as usize % 3];
        let at = number * 1000;
        let order = format!("11=A{number}|55={symbol}|54=1|38=1|");
        lines.push((at, message("D", number, "CLIENT", 0, &order)));
        for (after, status) in [(1, "0"), (2, "2")] {
            let report = format!(
                "37=O{number}|11=A{number}|17=E{number}{status}|150={status}|39={status}|14=0|"
            );
            let report = message("8", 2 * number + after - 2, "BROKER", 0, &report);
            lines.push((at + after * number, report));
        }
    }
    lines.sort();
    let log: String = lines
        .iter()
        .map(|(at, text)| {
            format!(
                "20261120-10:00:{:02}.{:06} : {text}\n",
                at / 1_000_000,
                at % 1_000_000
            )
        })
        .collect();
    fs::write(path, log).unwrap();
}

#[test]
fn latency_fits_the_screen_and_has_details_and_json() {
    let root = tempfile::tempdir().unwrap();
    orders(&root.path().join("x.log"), 900);
    let output = fixwire(
        root.path(),
        &["log", "latency", "--ours", "BROKER", "x.log"],
    );
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), &errors[..]), (Some(0), ""));
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines.len() <= 23 && lines.iter().all(|line| line.chars().count() <= 80),
        "{said}"
    );
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "log latency: 2,700 messages. Half of 900 orders were reported within 450 us, 99 % within 891 us.",
        "* order to first report . order to first fill",
        "us count p50 p90 p99 p99.9 worst order to first report 900 450 810 891 900 900",
        "order to first fill 900 900 1621 1783 1800 1800",
    ] {
        assert!(words.contains(part), "{part}: {said}");
    }
    let output = fixwire(root.path(), &["log", "latency", "--details", "x.log"]);
    let said = text(&output.stdout);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "order to first report, by symbol (us):",
        "VOD 300 ",
        "A-very-long-symbol-of-a-strategy-with... 300 ",
        "order to first fill, by session (us):",
        "FIX.4.4:BROKER<>CLIENT 900 ",
    ] {
        assert!(words.contains(part), "{part}: {said}");
    }
    let output = fixwire(root.path(), &["log", "latency", "--json", "x.log"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reported = &found["kinds"]["order to first report"];
    assert_eq!(
        (&reported["count"], &reported["byType"]["D"]["count"]),
        (&900.into(), &900.into())
    );
    let median = reported["p50"].as_u64().unwrap();
    assert!(median.abs_diff(450_000) < 1000, "{median}");
    assert_eq!(found["timesFrom"]["line"], 2700);
    assert_eq!(found["unansweredOrders"], 0);
}

#[test]
fn latency_says_what_its_times_are_worth() {
    let root = tempfile::tempdir().unwrap();
    let log = [
        message("D", 1, "CLIENT", 5, "11=A|"),
        message("8", 1, "BROKER", 4, "11=A|37=O|150=0|39=0|14=0|"),
        message("D", 2, "CLIENT", 6, "11=B|"),
    ];
    fs::write(root.path().join("x.log"), log.join("\n")).unwrap();
    let output = fixwire(root.path(), &["log", "latency", "x.log"]);
    let words = text(&output.stdout);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "No time from an order to its report is known.",
        "Not answered: 1 orders, 0 cancels and replaces.",
        "3 of 3 times are SendingTime(52), which each side writes by its own clock.",
        "1 pairs are left out, because the second message has the earlier time",
        "order to first report 0 - - - - -",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}
