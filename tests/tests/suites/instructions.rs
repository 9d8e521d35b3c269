//! How many instructions does one message cost, in the engine and the gateway and in parts of the way?
//!
//! Counted by valgrind, whose counts repeat exactly on a busy machine where no clock's do, and compared with
//! `instructions.txt`. `UPDATE=1` writes a new file. The engine is the real one over sockets in memory, in a release
//! build that this suite makes; without valgrind the suite fails.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fixwire_lab::hot_path::Stage;
use fixwire_lab::wired::driven::Work;
use fixwire_lab::wired::storm::Storm;
use fixwire_rigs::server::hot_path;

/// The greatest difference of a count from the committed one, in percent.
const TOLERANCE: f64 = 0.5;
/// The difference of two runs is the work on the messages between these counts, without start and end of the program.
/// Both are multiples of every batch, and of the sessions of a reconnect storm.
const FEW: u64 = 1_600;
const MANY: u64 = 11_200;
/// The C library chooses its copies and comparisons by the processor's features: with these settings it uses only
/// common ones, and processors agree.
const SAME_EVERYWHERE: &str = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-BMI1,-BMI2,-LZCNT,\
    -MOVBE,-POPCNT,-RTM,-SSSE3,-SSE4_1,-SSE4_2,-ERMS,-FSRM,-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Copy,\
    -Prefer_No_VZEROUPPER,-Prefer_ERMS,-Prefer_FSRM";

#[test]
fn a_message_costs_the_instructions_that_are_written_down() {
    println!("building the program that is counted, as a release");
    let program = hot_path().unwrap();
    let names = Stage::ALL.map(Stage::name).into_iter();
    let names = names.chain(Work::ALL.map(Work::name));
    let names: Vec<&str> = names.chain([Storm::NAME]).collect();
    let counts = counts(&program, &names);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, text(&counts)).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}; UPDATE=1 writes it", file.display()));
    let off: Vec<String> = compare(&known, &counts);
    assert!(
        off.is_empty(),
        "{}\nUPDATE=1 writes {}: do so for what is faster, and say why in the commit for what is slower",
        off.join("\n"),
        file.display()
    );
}

/// The instructions for a message in each of these, on two processors: no count depends on another.
fn counts<'a>(program: &Path, names: &[&'a str]) -> Vec<(&'a str, f64)> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut counted = Vec::new();
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            counted.push((*name, a_message(program, name)));
        }
        counted
    };
    let mut counted = thread::scope(|scope| {
        let other = scope.spawn(some);
        let mut counted = some();
        counted.extend(other.join().expect("the counts"));
        counted
    });
    counted.sort_by_key(|(name, _)| names.iter().position(|other| other == name));
    counted
}

/// The instructions for one message.
fn a_message(program: &Path, name: &str) -> f64 {
    let (few, many) = (
        instructions(program, name, FEW),
        instructions(program, name, MANY),
    );
    many.saturating_sub(few) as f64 / (MANY - FEW) as f64
}

/// Instructions of a whole run.
fn instructions(program: &Path, name: &str, messages: u64) -> u64 {
    let output = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(program)
        .args([name, &messages.to_string()])
        .env("GLIBC_TUNABLES", SAME_EVERYWHERE)
        .output()
        .unwrap_or_else(|error| panic!("valgrind: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    counted(&said).unwrap_or_else(|| panic!("no count in: {said}"))
}

/// The number in valgrind's line `==7== I refs:  1,234`.
fn counted(said: &str) -> Option<u64> {
    let line = said
        .lines()
        .find(|line| line.contains("I refs:") || line.contains("I   refs:"))?;
    let digits: String = line
        .rsplit(':')
        .next()?
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// The file of these counts.
fn text(counts: &[(&str, f64)]) -> String {
    let mut text = String::from(
        "# Instructions of one message, and of parts of its way; see tests/suites/instructions.rs.\n",
    );
    for (name, count) in counts {
        writeln!(text, "{name} {count:.1}").unwrap();
    }
    text
}

/// Differences from the file.
fn compare(known: &str, counts: &[(&str, f64)]) -> Vec<String> {
    let expected = |wanted: &str| {
        known.lines().find_map(|line| {
            let (name, count) = line.split_once(' ')?;
            (name == wanted).then(|| count.trim().parse::<f64>().ok())?
        })
    };
    let mut off = Vec::new();
    for (name, count) in counts {
        match expected(name) {
            None => off.push(format!(
                "{name}: {count:.1} instructions, and none are written down"
            )),
            Some(expected) => {
                let change = 100.0 * (count - expected) / expected;
                println!("{name}: {count:.1} instructions, {change:+.2} %");
                if change.is_nan() || change > TOLERANCE {
                    off.push(format!(
                        "{name} has become slower: {count:.1} instructions, {change:+.1} % of {expected:.1}"
                    ));
                } else if change < -TOLERANCE {
                    off.push(format!(
                        "{name} has become faster: {count:.1} instructions, {change:+.1} % of {expected:.1}; write it down"
                    ));
                }
            }
        }
    }
    off
}

#[test]
fn the_comparison_can_fail() {
    let counts = [("parse", 1_000.0), ("engine-order", 2_000.0)];
    assert_eq!(compare(&text(&counts), &counts), Vec::<String>::new());
    for (parse, what) in [(1_006.0, "slower"), (994.0, "faster")] {
        let off = compare(
            &text(&counts),
            &[("parse", parse), ("engine-order", 1_999.0)],
        );
        assert!(off.len() == 1 && off[0].contains(what), "{off:?}");
    }
    assert_eq!(compare("", &counts).len(), 2);
    assert_eq!(counted("==1== I   refs:      1,234,567\n"), Some(1_234_567));
    assert_eq!(counted("==1== I refs:  42"), Some(42));
    assert_eq!(counted("nothing"), None);
}
