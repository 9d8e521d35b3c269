//! The output of `fixwire bench`: one screen at a terminal, and only the results in a pipe.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::running::fixwire;

const LOAD: [&str; 8] = [
    "--iterations",
    "300",
    "--warm-up",
    "100",
    "--runs",
    "2",
    "--rate",
    "2000",
];

/// Each bench, shortened.
fn benches() -> Vec<Vec<&'static str>> {
    let of = |name, flags: &[&'static str]| [&[name], flags].concat();
    vec![
        of("tcp", &LOAD),
        of("echo", &LOAD),
        of("gateway-echo", &LOAD),
        of("gateway-convert", &LOAD),
        of("parse-log", &LOAD),
        of(
            "oms",
            &["--batch", "1,10,100,200,300,400", "--saturation", "1000"],
        ),
        of(
            "oms",
            &[
                "--batch",
                "1,10,100,200,300,400",
                "--saturation",
                "1000",
                "--lines",
                "fix,tmp",
            ],
        ),
        of("transactions", &["--transactions", "3000"]),
        of(
            "restart",
            &["--orders", "3000", "--open", "500", "--runs", "2"],
        ),
        of(
            "sessions",
            &[
                "--sessions",
                "20",
                "--deaf",
                "2",
                "--seconds",
                "1",
                "--pairs",
                "1",
            ],
        ),
    ]
}

/// Runs it on a terminal of 80 x 24; returns its output.
fn on_terminal(args: &[&str]) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&controller, size).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let open = || {
        File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap()
    };
    let mut child = fixwire()
        .arg("bench")
        .args(args)
        .stdout(OwnedFd::from(open()))
        .stderr(OwnedFd::from(open()))
        .spawn()
        .unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The other side disconnected: an error, not an end.
        let _ = File::from(controller).read_to_end(&mut bytes);
        String::from_utf8(bytes).unwrap()
    });
    child.wait().unwrap();
    reader.join().unwrap()
}

#[test]
fn every_bench_fits_a_terminal_of_80_by_24() {
    for args in benches() {
        let written = on_terminal(&args);
        let lines: Vec<&str> = written.lines().collect();
        assert!(
            (5..24).contains(&lines.len()),
            "{args:?}: {} lines\n{written}",
            lines.len()
        );
        for line in lines {
            // The bar is redrawn, and removed at the end.
            for shown in line.split("\r\u{1b}[K") {
                assert!(shown.trim_end().chars().count() <= 80, "{args:?}: {shown}");
            }
            let left = line.rsplit("\r\u{1b}[K").next().unwrap();
            assert!(
                !left.contains('\u{1b}') && !left.contains("[#"),
                "{args:?}: {left}"
            );
        }
    }
}

#[test]
fn a_terminal_has_a_bar_and_a_pipe_has_none() {
    let args = [&["tcp"], &LOAD[..]].concat();
    let written = on_terminal(&args);
    assert!(written.contains("[####"), "{written}");
    assert!(written.contains("s left"), "{written}");
    let output = fixwire().arg("bench").args(&args).output().unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && !output.stdout.contains(&0x1b));
}

#[test]
fn orders_are_spread_as_those_of_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("messages.log");
    let order = |time: &str| format!("8=FIX.4.2|9=9|35=D|34=2|52=20260821-13:30:{time}|10=000|\n");
    std::fs::write(
        &log,
        [order("00.000"), order("00.001"), order("00.010")].concat(),
    )
    .unwrap();
    let tcp = |log: &str| {
        let mut command = fixwire();
        command.args(["bench", "tcp", "--details", "--arrivals-from", log]);
        command.args(LOAD).output().unwrap()
    };
    let output = tcp(log.to_str().unwrap());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let said = format!("spread as in {} (200.0 orders/s there)", log.display());
    assert!(text.contains(&said), "{text}");

    std::fs::write(&log, "nothing\n").unwrap();
    let output = tcp(log.to_str().unwrap());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        text.contains("--arrivals-from") && text.contains("does not contain two orders"),
        "{text}"
    );
}

/// Runs `bench published` with these arguments; returns its output.
fn published(args: &[&str]) -> String {
    let output = fixwire()
        .args(["bench", "published"])
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.is_empty(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_published_scenario_has_its_rows() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let text = published(&["--quick", "--results", folder]);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let sections = [
        (
            "jlbh",
            &["Chronicle FIX", "QuickFIX/J", "% var", "tcp floor"][..],
        ),
        ("antenna", &["x floor 50 %", "no kernel-bypass library"]),
        ("parse-log", &["1.31-2.11", "200,000/s"]),
        ("push", &["one way", "a second"]),
        ("codec", &["160 B", "decode, 4 checks, encode"]),
        (
            "gateway-echo",
            &["FIXEdge, echo", "fixwire, echo", "us, 50,000/s"],
        ),
        (
            "gateway-convert",
            &["FIXEdge, convert", "forward", "convert less echo"],
        ),
        (
            "oms",
            &[
                "over FIX          over TMP         published",
                "FIX: bare write",
                "TMP: bare write",
                "200 at once",
            ],
        ),
        ("transactions", &["RHEL 5.6, tuned"]),
    ];
    let start = |name: &str| {
        let start = text.find(&format!("\n{name} (about "));
        start.unwrap_or_else(|| panic!("no {name}: {text}"))
    };
    for (place, (name, rows)) in sections.iter().enumerate() {
        let next = sections.get(place + 1);
        let end = next.map_or(text.len(), |(next, _)| start(next));
        let section = &text[start(name)..end];
        for row in *rows {
            assert!(section.contains(row), "{name} has no {row}: {section}");
        }
    }
    let mut names: Vec<String> = results
        .path()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "antenna-balanced.csv",
            "antenna-balanced.json",
            "antenna-optimized.csv",
            "antenna-optimized.json",
            "gateway-convert-2000.json",
            "gateway-convert-50000.json",
            "gateway-echo-2000.json",
            "gateway-echo-50000.json",
            "jlbh.json",
            "oms.json",
            "parse-log.json",
            "push.json",
            "transactions.json",
        ]
    );
    batches_and_transactions_are_shown_but_not_compared(results.path());
}

/// The output of the report and of the comparison for the results in this folder.
fn batches_and_transactions_are_shown_but_not_compared(results: &Path) {
    let page = results.join("page.html");
    let files = ["jlbh", "oms", "transactions"].map(|name| results.join(format!("{name}.json")));
    let output = fixwire()
        .args(["bench", "report", "--output"])
        .arg(&page)
        .args(&files)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let page = std::fs::read_to_string(page).unwrap();
    for part in [
        "as published for f9omstw",
        "Over TMP, the OMS spins",
        "<th>RHEL 5.6, tuned<td>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let [_, oms, transactions] = &files;
    let output = fixwire()
        .args(["bench", "compare"])
        .args([oms, transactions])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        said.contains("oms.json: cannot compare: a result of `bench oms`"),
        "{said}"
    );
}

#[test]
fn batches_and_transactions_print_their_result_file_without_a_name_for_it() {
    for (bench, key) in [
        (
            &["oms", "--batch", "2", "--saturation", "0"][..],
            "bare_write_ns",
        ),
        (
            &["oms", "--batch", "2", "--saturation", "0", "--lines", "tmp"],
            "rows",
        ),
        (&["transactions", "--transactions", "30"], "per_ms"),
    ] {
        let output = fixwire()
            .arg("bench")
            .args(bench)
            .arg("--json")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let text = String::from_utf8(output.stdout).unwrap();
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&found["format"], &found["scenario"]),
            (&2.into(), &bench[0].into())
        );
        assert!(found[key].is_array(), "{text}");
        if bench[0] == "oms" {
            let lines = if key == "rows" { "tmp" } else { "fix" };
            assert_eq!(found["lines"], lines, "{text}");
        }
    }
    let output = fixwire()
        .args(["bench", "oms", "--json", "/no/such/folder/x.json"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("/no/such/folder/x.json"),
        "{said}"
    );
}

#[test]
fn published_scenarios_can_be_listed_and_named() {
    let list = published(&["--list"]);
    assert_eq!(list.lines().count(), 1 + 9, "{list}");
    let text = published(&["codec", "--quick"]);
    assert!(text.contains("\ncodec (about 1 s): "), "{text}");
    assert!(!text.contains("jlbh"), "{text}");
}

/// A section of the page of screens for each bench, with the first words of its output.
#[test]
fn every_bench_has_its_screen_in_the_docs() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/screens.md"
    );
    let page = std::fs::read_to_string(page).unwrap();
    let output = fixwire().args(["bench", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() >= 13, "{help}");
    for name in names {
        let section = page
            .split("\n## ")
            .find(|it| it.starts_with(&format!("bench {name}\n")));
        let section = section
            .unwrap_or_else(|| panic!("docs/reference/screens.md has no section bench {name}"));
        assert!(
            section.contains(&format!("\n    $ fixwire bench {name}")),
            "{section}"
        );
        assert!(
            section
                .lines()
                .filter(|line| line.starts_with("    "))
                .count()
                > 1,
            "{section}"
        );
    }
}
