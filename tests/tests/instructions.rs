//! How many instructions does one order cost, stage by stage?
//!
//! Counted by valgrind, which repeats to the instruction on a busy machine where no clock does, and
//! held against `instructions.txt`. `UPDATE=1` writes that file anew. The counts are of a release build,
//! which it makes; without valgrind it fails.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use fixwire_lab::hot_path::Stage;
use fixwire_rigs::server::hot_path;

/// How far a count may be from the committed one, percent. A run repeats to the instruction; where a
/// processor lacks vector instructions (AVX2), the C library takes other paths and counts are others.
const TOLERANCE: f64 = 0.5;
/// The difference of two runs is the work of so many orders, without start and end of the program.
const FEW: u64 = 1_000;
const MANY: u64 = 11_000;

#[test]
fn an_order_costs_the_instructions_that_are_written_down() {
    println!("building the program that is counted, as a release");
    let program = hot_path().unwrap();
    let counts: Vec<(Stage, f64)> = Stage::ALL
        .into_iter()
        .map(|stage| (stage, an_order(&program, stage)))
        .collect();
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

/// Instructions that one order takes in a stage.
fn an_order(program: &Path, stage: Stage) -> f64 {
    let (few, many) = (
        instructions(program, stage, FEW),
        instructions(program, stage, MANY),
    );
    many.saturating_sub(few) as f64 / (MANY - FEW) as f64
}

/// Instructions of a whole run.
fn instructions(program: &Path, stage: Stage, turns: u64) -> u64 {
    let output = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(program)
        .args([stage.name(), &turns.to_string()])
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
fn text(counts: &[(Stage, f64)]) -> String {
    let mut text = String::from(
        "# Instructions of one order in each stage of the hot path; see tests/instructions.rs.\n",
    );
    for (stage, count) in counts {
        writeln!(text, "{} {count:.1}", stage.name()).unwrap();
    }
    text
}

/// What is not as the file says.
fn compare(known: &str, counts: &[(Stage, f64)]) -> Vec<String> {
    let expected = |stage: Stage| {
        known.lines().find_map(|line| {
            let (name, count) = line.split_once(' ')?;
            (name == stage.name()).then(|| count.trim().parse::<f64>().ok())?
        })
    };
    let mut off = Vec::new();
    for (stage, count) in counts {
        let name = stage.name();
        match expected(*stage) {
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
    let counts = [(Stage::Parse, 1_000.0), (Stage::Log, 2_000.0)];
    assert_eq!(compare(&text(&counts), &counts), Vec::<String>::new());
    for (parse, what) in [(1_006.0, "slower"), (994.0, "faster")] {
        let off = compare(
            &text(&counts),
            &[(Stage::Parse, parse), (Stage::Log, 1_999.0)],
        );
        assert!(off.len() == 1 && off[0].contains(what), "{off:?}");
    }
    assert_eq!(compare("", &counts).len(), 2);
    assert_eq!(counted("==1== I   refs:      1,234,567\n"), Some(1_234_567));
    assert_eq!(counted("==1== I refs:  42"), Some(42));
    assert_eq!(counted("nothing"), None);
}
