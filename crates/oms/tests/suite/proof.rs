//! The proof that a change of the code changes nothing else: one hash a world of all that leaves, and of all state.
//!
//! ```text
//!   inputs of a world > messages, answers, events --------------+
//!                     > every 25 inputs: all state as lines ----+--> SipHash-2-4, 128 bits > tests/proof.txt
//! ```
//!
//! A line of `tests/proof.txt` is the name of a world, a hash of its inputs and a hash of the rest. A world with other
//! inputs says nothing of the OMS: the model, the dice or a test has changed.
//!
//! `UPDATE=1 cargo test -p fixwire-oms --all-features` writes the file. `FIXWIRE_PROOF="twin 17"` writes the whole text
//! of a world to a file, for a diff with that of another build; `FIXWIRE_SEED=17` plays no other world of the twin.
//!
//! Only with the feature `state-lines`: without it nothing is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// The state is recorded after so many inputs, and at the end.
pub const EACH: u64 = 25;

/// Worlds that differ, of which a failure tells.
const TOLD: usize = 20;

/// One test at a time changes the file.
static FILE: Mutex<()> = Mutex::new(());

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proof.txt")
}

/// What goes in, comes out and stands in a world.
#[derive(Clone, Debug)]
pub struct Recorder {
    name: String,
    inputs: SipHasher24,
    rest: SipHasher24,
    count: u64,
    /// The whole text, when it is wanted.
    text: Option<String>,
}

impl Recorder {
    pub fn new(name: &str) -> Self {
        let wanted = std::env::var("FIXWIRE_PROOF").is_ok_and(|wanted| wanted == name);
        Self {
            name: name.to_owned(),
            inputs: SipHasher24::new(),
            rest: SipHasher24::new(),
            count: 0,
            text: wanted.then(String::new),
        }
    }

    /// The next input; whether the state is to be recorded after it.
    pub fn input(&mut self, text: &str) -> bool {
        self.count += 1;
        self.inputs.write(text.as_bytes());
        self.inputs.write(b"\n");
        if let Some(all) = &mut self.text {
            *all += &format!("{} < {text}\n", self.count);
        }
        self.count.is_multiple_of(EACH)
    }

    /// What leaves: to whom or what it is, and its text.
    pub fn output(&mut self, what: &str, text: &str) {
        for part in [what, " ", text, "\n"] {
            self.rest.write(part.as_bytes());
        }
        if let Some(all) = &mut self.text {
            *all += &format!("{} > {what} {text}\n", self.count);
        }
    }

    /// All state.
    pub fn state(&mut self, lines: &str) {
        self.rest.write(lines.as_bytes());
        if let Some(all) = &mut self.text {
            for line in lines.lines() {
                *all += &format!("{} = {line}\n", self.count);
            }
        }
    }
}

/// All state of an OMS.
pub fn lines(oms: &fixwire_oms::Oms) -> String {
    #[cfg(feature = "state-lines")]
    return oms.state_lines();
    #[cfg(not(feature = "state-lines"))]
    return format!("{}\n", oms.state().events());
}

/// All state that the journal holds.
pub fn state_lines(state: &fixwire_oms::OmsState) -> String {
    #[cfg(feature = "state-lines")]
    return state.state_lines();
    #[cfg(not(feature = "state-lines"))]
    return format!("{}\n", state.events());
}

/// Two states have the same lines; otherwise the lines that differ are printed.
pub fn assert_same(before: &str, after: &str) {
    let only = |of: &str, other: &str, sign: &str| -> Vec<String> {
        let other: BTreeSet<&str> = other.lines().collect();
        let only = of.lines().filter(|line| !other.contains(line));
        only.map(|line| format!("{sign} {line}")).collect()
    };
    let differ = [only(before, after, "-"), only(after, before, "+")].concat();
    assert!(before == after, "the state differs:\n{}", differ.join("\n"));
}

/// Worlds of one kind.
#[derive(Debug)]
pub struct Proof {
    kind: String,
    /// By name, as the file has them.
    worlds: BTreeMap<String, String>,
}

impl Proof {
    pub fn new(kind: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            worlds: BTreeMap::new(),
        }
    }

    /// A recorder for a world of this kind.
    pub fn recorder(&self, name: &str) -> Recorder {
        Recorder::new(&format!("{} {name}", self.kind))
    }

    /// A world has ended.
    pub fn add(&mut self, recorder: Recorder) {
        let Recorder {
            name,
            inputs,
            rest,
            text,
            ..
        } = recorder;
        let hashes = format!(
            "{:016x} {:032x}",
            inputs.finish(),
            rest.finish128().as_u128()
        );
        if let Some(text) = text {
            let file = format!("proof {name}.txt").replace(['/', ' '], "-");
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
            std::fs::write(&file, text).unwrap();
            println!("the text of {name}: {}", file.display());
        }
        assert_eq!(self.worlds.insert(name.clone(), hashes), None, "{name}");
    }

    /// Compares its worlds with those of the file, or writes them. `is_whole`: they are all of their kind.
    pub fn check(self, is_whole: bool) {
        let is_planted = std::env::var("FIXWIRE_CANARY").is_ok_and(|it| !it.is_empty());
        if !cfg!(feature = "state-lines") || is_planted {
            return;
        }
        // A test that failed here before has written nothing.
        let _one = FILE.lock().unwrap_or_else(PoisonError::into_inner);
        let text = std::fs::read_to_string(path()).unwrap_or_default();
        if std::env::var_os("UPDATE").is_some() {
            let text = self.written(&text, is_whole);
            std::fs::write(path(), text).unwrap();
            return;
        }
        let differ = self.differences(&text, is_whole);
        let count = differ.len();
        let told = &differ[..count.min(TOLD)];
        assert!(
            differ.is_empty(),
            "worlds that differ from tests/proof.txt: {count}; FIXWIRE_PROOF=\"NAME\" writes the text of one:\n  {}",
            told.join("\n  ")
        );
    }

    /// The worlds of a file that are of this kind.
    fn of_file<'a>(&self, text: &'a str) -> BTreeMap<&'a str, &'a str> {
        let worlds = text.lines().filter_map(|line| line.split_once(" = "));
        let is_its = |name: &str| name.split(' ').next() == Some(&*self.kind);
        worlds.filter(|(name, _)| is_its(name)).collect()
    }

    /// The file with these worlds.
    fn written(&self, text: &str, is_whole: bool) -> String {
        let worlds = text.lines().filter_map(|line| line.split_once(" = "));
        let mut all: BTreeMap<&str, &str> = worlds.collect();
        if is_whole {
            let its = self.of_file(text);
            all.retain(|name, _| !its.contains_key(name));
        }
        let known = |name: &String| text.lines().any(|it| it.split(" = ").next() == Some(name));
        for (name, hashes) in self
            .worlds
            .iter()
            .filter(|(name, _)| is_whole || known(name))
        {
            all.insert(name, hashes);
        }
        let lines = all.iter().map(|(name, it)| format!("{name} = {it}\n"));
        lines.collect()
    }

    /// The worlds that are not as the file has them.
    fn differences(&self, text: &str, is_whole: bool) -> Vec<String> {
        let known = self.of_file(text);
        let mut differ = Vec::new();
        for (name, is) in &self.worlds {
            let (inputs, _) = is.split_once(' ').unwrap();
            match known.get(name.as_str()) {
                Some(was) if was == is => {}
                Some(was) if !was.starts_with(inputs) => {
                    differ.push(format!("{name}: its inputs differ"));
                }
                Some(_) => differ.push(format!("{name}: what leaves, or the state")),
                None if is_whole => differ.push(format!("{name}: it is new")),
                // A part of a longer run.
                None => {}
            }
        }
        let gone = known.keys().filter(|it| !self.worlds.contains_key(**it));
        let gone = gone.filter(|_| is_whole);
        differ.extend(gone.map(|name| format!("{name}: it was not played")));
        differ
    }
}

#[test]
fn a_world_that_differs_is_named() {
    let of = |name: &str, input: &str, output: &str, state: &str| {
        let mut proof = Proof::new("test");
        for (world, output) in [("1", "same"), (name, output)] {
            let mut recorder = proof.recorder(world);
            recorder.input(input);
            recorder.output("C1", output);
            recorder.state(state);
            proof.add(recorder);
        }
        proof
    };
    let proof = of("2", "in", "out", "a=1\n");
    let file = proof.written("other 1 = 0 0\ntest 9 = 0 0\n", true);
    assert_eq!(file.lines().count(), 3, "{file}");
    assert!(file.starts_with("other 1 = 0 0\ntest 1 = "), "{file}");
    assert_eq!(proof.differences(&file, true), [""; 0]);
    let rest = "what leaves, or the state";
    for (other, is_whole, wanted) in [
        (
            of("2", "in", "else", "a=1\n"),
            true,
            vec![format!("test 2: {rest}")],
        ),
        (
            of("2", "in", "out", "a=2\n"),
            true,
            vec![format!("test 1: {rest}"), format!("test 2: {rest}")],
        ),
        (
            of("2", "other", "out", "a=1\n"),
            false,
            vec![
                "test 1: its inputs differ".to_owned(),
                "test 2: its inputs differ".to_owned(),
            ],
        ),
        (
            of("3", "in", "out", "a=1\n"),
            true,
            vec![
                "test 3: it is new".to_owned(),
                "test 2: it was not played".to_owned(),
            ],
        ),
        (of("3", "in", "out", "a=1\n"), false, vec![]),
    ] {
        assert_eq!(other.differences(&file, is_whole), wanted);
    }
}
