//! A file with a hash for each random world of a test. The hash covers the output after each input, and the state
//! after every 25 inputs.
//!
//! A change of the code that does not change its behaviour leaves the file unchanged. Examples are a module that was
//! moved, or another type of container. These texts are for the tests of this workspace.
//!
//! ```text
//! UPDATE=1 cargo test -p fixwire-exchange --lib random                              writes the file
//! FIXWIRE_WORLD=tmp/03 cargo test -p fixwire-exchange --lib random -- --nocapture   prints the whole text of one world
//! ```
//!
//! Print the text of a world before and after a change, and compare the two. The two texts show the first input whose
//! result differs.

use core::fmt::Display;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The state is recorded after each time this number of inputs.
const STATE_EVERY: u64 = 25;

/// A state as lines `name=value`, sorted by name.
#[derive(Debug, Default)]
pub struct StateLines(Vec<String>);

impl StateLines {
    /// Adds a line.
    pub fn add(&mut self, name: impl Display, value: impl Display) {
        self.0.push(format!("{name}={value}"));
    }

    /// The sorted lines.
    #[must_use]
    pub fn sorted(mut self) -> Vec<String> {
        self.0.sort_unstable();
        self.0
    }
}

/// Bytes as text. `|` stands for SOH, and bytes outside ASCII become `\x00`.
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    let soh = bytes.split(|byte| *byte == 1);
    let fields: Vec<String> = soh.map(|field| field.escape_ascii().to_string()).collect();
    fields.join("|")
}

/// Compares two states, and shows only the lines in which they differ.
///
/// # Panics
///
/// If the states differ.
#[track_caller]
pub fn assert_same(found: &[String], expected: &[String], what: impl Display) {
    let only = |of: &[String], other: &[String]| {
        let lines = of.iter().filter(|line| !other.contains(line));
        lines.map(|line| format!("\n  {line}")).collect::<String>()
    };
    assert!(
        found == expected,
        "{what}: only found:{}\nonly expected:{}",
        only(found, expected),
        only(expected, found)
    );
}

/// Changes each byte of a checkpoint in three ways: its lowest bit, another bit, and the bits of `last`. Returns the
/// changes that had no effect, each with the offset of its byte: the checkpoint was not refused, and the restored
/// state is still `lines`. `restored` reads a changed checkpoint and returns the state, or `None` if it refuses the
/// checkpoint. Bytes in `skipped` are not changed.
///
/// # Panics
///
/// If at most 100 changes are refused, or if all are refused. In the last case `restored` does not read this
/// checkpoint.
#[track_caller]
pub fn silent_changes(
    body: &[u8],
    lines: &[String],
    last: u8,
    skipped: core::ops::Range<usize>,
    mut restored: impl FnMut(&[u8]) -> Option<Vec<String>>,
) -> Vec<(usize, u8)> {
    let mut changed = body.to_vec();
    let (mut refused, mut silent) = (0, Vec::new());
    for at in (0..body.len()).filter(|at| !skipped.contains(at)) {
        for change in [1, 2 << (at % 7), last] {
            changed[at] ^= change;
            match restored(&changed) {
                None => refused += 1,
                Some(found) if found == lines => silent.push((at, change)),
                Some(_) => {}
            }
            changed[at] = body[at];
        }
    }
    assert!(refused > 100 && refused < 3 * body.len(), "{refused}");
    silent
}

/// The recorded data of one world.
#[derive(Debug)]
pub struct WorldRecord {
    name: String,
    hash: u64,
    inputs: u64,
    is_printed: bool,
}

impl WorldRecord {
    /// A world with the name that it has in the file, such as `orders/3`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let wanted = std::env::var("FIXWIRE_WORLD");
        Self {
            is_printed: wanted.is_ok_and(|wanted| wanted == name),
            name,
            // This is the start value of FNV-1a.
            hash: 0xCBF2_9CE4_8422_2325,
            inputs: 0,
        }
    }

    /// Records an input before it is played.
    pub fn input(&mut self, text: &str) {
        self.inputs += 1;
        self.line(format_args!("> {text}"));
    }

    /// Records an output after the last input: a message, an answer to an operator, or an event.
    pub fn output(&mut self, text: impl Display) {
        self.line(format_args!("< {text}"));
    }

    /// Records the state, if a state is due after the last input.
    pub fn state(&mut self, lines: impl FnOnce() -> Vec<String>) {
        if self.inputs.is_multiple_of(STATE_EVERY) {
            lines().iter().for_each(|line| self.line(line));
        }
    }

    fn line(&mut self, line: impl Display) {
        let line = line.to_string();
        if self.is_printed {
            println!("{line}");
        }
        for byte in line.bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

/// Compares a group of worlds with the lines `name hash` of a file. The group is given by the beginning of its names.
/// With `UPDATE=1`, writes these lines to the file.
///
/// # Panics
///
/// If a world differs, is missing in the file, or was not played.
#[track_caller]
pub fn compare(path: &str, group: &str, worlds: &[WorldRecord]) {
    // The groups in one file are tests of one program, which run on several threads.
    static FILE: Mutex<()> = Mutex::new(());
    let _one_at_a_time = FILE.lock();
    let of_group = |name: &str| name.split('/').next() == Some(group);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let mut known: BTreeMap<String, String> = lines
        .map(|(name, hash)| (name.to_owned(), hash.to_owned()))
        .collect();
    let played: BTreeMap<String, String> = worlds
        .iter()
        .map(|world| (world.name.clone(), format!("{:016x}", world.hash)))
        .collect();
    if std::env::var_os("UPDATE").is_some() {
        known.retain(|name, _| !of_group(name));
        known.extend(played);
        let text: String = known
            .iter()
            .map(|(name, hash)| format!("{name} {hash}\n"))
            .collect();
        std::fs::write(path, text).expect("the file of the worlds is written");
        return;
    }
    known.retain(|name, _| of_group(name));
    let differs = |name: &&String| known.get(*name) != played.get(*name);
    let names: std::collections::BTreeSet<&String> = known.keys().chain(played.keys()).collect();
    let differ: Vec<&String> = names.into_iter().filter(differs).collect();
    assert!(
        differ.is_empty(),
        "{} of {} worlds differ from {path}: {differ:?}\nprint one with FIXWIRE_WORLD={} and --nocapture, before the \
         change and after it; UPDATE=1 writes the file",
        differ.len(),
        played.len(),
        differ[0]
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_due_after_each_25_inputs() {
        let mut world = WorldRecord::new("a/1");
        let mut due = 0;
        for _ in 0..75 {
            world.input("x");
            world.state(|| {
                due += 1;
                Vec::new()
            });
        }
        assert_eq!(due, 3);
    }

    #[test]
    fn what_leaves_and_what_is_kept_change_the_hash() {
        let hash = |left: &str, kept: &str| {
            let mut world = WorldRecord::new("a/1");
            for _ in 0..STATE_EVERY {
                world.input("35=D");
            }
            world.output(left);
            let mut lines = StateLines::default();
            lines.add("order 2", "open");
            lines.add("order 1", kept);
            world.state(|| lines.sorted());
            world.hash
        };
        assert_eq!(hash("35=8", "open"), hash("35=8", "open"));
        assert_ne!(hash("35=8", "open"), hash("35=9", "open"));
        assert_ne!(hash("35=8", "open"), hash("35=8", "closed"));
    }

    #[test]
    fn a_byte_without_an_effect_is_found() {
        let body = [7; 60];
        let lines = ["order 1=open".to_owned()];
        let silent = silent_changes(&body, &lines, 0xFF, 50..60, |changed| {
            let others = changed.iter().enumerate().filter(|(at, _)| *at != 9);
            let is_same = others.into_iter().all(|(_, byte)| *byte == 7);
            is_same.then(|| lines.to_vec())
        });
        assert_eq!(silent, [(9, 1), (9, 8), (9, 0xFF)]);
    }

    #[test]
    fn bytes_are_shown_as_text() {
        assert_eq!(shown(b"35=D\x0111=\xFF\x00|"), "35=D|11=\\xff\\x00|");
    }
}
