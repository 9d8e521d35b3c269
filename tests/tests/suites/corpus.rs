//! Does every input that fuzzing kept still hold, and do a few thousand random ones?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

use fixwire_rigs::fuzz::TARGETS;
use fixwire_rigs::packages::workspace;
use fixwire_rigs::random::{Random, seed};

/// Random inputs for each target.
const INPUTS: u64 = 3_000;
/// Longest random input, in bytes.
const LONGEST: u64 = 400;
/// The most files and bytes of the committed inputs together.
const MOST: (usize, usize) = (143, 100_000);

/// The committed inputs of a target, in the order of their names.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = workspace().join("fuzz/corpus").join(target);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| {
            let bytes = std::fs::read(&path).expect("a readable file");
            (path, bytes)
        })
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    inputs
}

/// Runs a target, and names the input when it fails.
fn hold(run: fn(&[u8]), bytes: &[u8], input: &str) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(bytes))) {
        eprintln!("{input}: {}", bytes.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn every_committed_input_holds() {
    let (mut files, mut size) = (0, 0);
    for (target, run) in TARGETS {
        for (path, bytes) in corpus(target) {
            hold(run, &bytes, &path.display().to_string());
            (files, size) = (files + 1, size + bytes.len());
        }
    }
    println!("{files} inputs, {size} bytes");
    assert!(
        files <= MOST.0 && size <= MOST.1,
        "{files} files of {size} bytes: keep the corpus small"
    );
}

#[test]
fn random_inputs_hold() {
    let seed = seed();
    println!("FIXWIRE_SEED={seed}");
    let mut random = Random::new(seed);
    for (target, run) in TARGETS {
        let seeds = corpus(target);
        let began = Instant::now();
        for number in 0..INPUTS {
            let bytes = match number % 4 {
                0 => noise(&mut random),
                _ => mutated(&seeds, &mut random),
            };
            hold(
                run,
                &bytes,
                &format!("{target}, FIXWIRE_SEED={seed}, input {number}"),
            );
        }
        println!("{target}: {INPUTS} inputs in {:.1?}", began.elapsed());
    }
}

fn noise(random: &mut Random) -> Vec<u8> {
    let len = random.below(LONGEST);
    (0..len).map(|_| random.below(256) as u8).collect()
}

/// A committed input with a few bytes changed, left out, doubled or taken from another one.
fn mutated(seeds: &[(PathBuf, Vec<u8>)], random: &mut Random) -> Vec<u8> {
    let mut pick = |limit: usize| random.below(limit as u64) as usize;
    let mut bytes = seeds[pick(seeds.len())].1.clone();
    for _ in 0..=pick(5) {
        let at = pick(bytes.len() + 1);
        let to = (at + pick(16)).min(bytes.len());
        match pick(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << pick(8),
            1 if at < bytes.len() => bytes[at] = pick(256) as u8,
            2 => drop(bytes.drain(at..to)),
            3 => {
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let other = &seeds[pick(seeds.len())].1;
                let from = pick(other.len() + 1);
                let piece = &other[from..(from + pick(64)).min(other.len())];
                bytes.splice(at..to, piece.iter().copied());
            }
            _ => bytes.insert(at, b"\x00\x01|=0189\nNY\"<"[pick(13)]),
        }
    }
    bytes
}
