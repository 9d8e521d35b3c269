//! The worlds that a run plays: fixed ones, then those from seed 1 on, then new ones.

use std::time::{Duration, Instant};

use super::{Tally, campaign};
use crate::random;

/// The first seed of each run.
const SEED: u64 = 1;

/// A kind of worlds, and the number of them that a run plays.
#[derive(Clone, Copy, Debug)]
pub struct Rig {
    /// The suite's name.
    pub name: &'static str,
    /// Plays the world of a seed.
    pub play: fn(u64) -> Result<Tally, String>,
    /// Worlds that once showed a fault: each line has a seed and the fault. `#` begins a comment.
    pub fixed: &'static str,
    /// The number of crash points from seed 1 on.
    pub cases: u64,
    /// The time for which new worlds are played.
    pub fresh: Duration,
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

impl Rig {
    /// Plays the worlds of a run; with `SIM_SEED` or `SIM_CASES` only this number of crash points, from that seed or
    /// from a new one.
    ///
    /// # Errors
    ///
    /// The failed seed, the violated invariant, and the command that repeats it.
    pub fn run(&self) -> Result<(), String> {
        let fresh = random::seed() >> 1;
        let (first, cases) = (setting("SIM_SEED"), setting("SIM_CASES"));
        if first.is_some() || cases.is_some() {
            return self.part(first.unwrap_or(fresh), cases.unwrap_or(self.cases), None);
        }
        let lines = self.fixed.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let seed = line
                .split_whitespace()
                .next()
                .and_then(|text| text.parse().ok());
            self.part(seed.ok_or(format!("no seed: {line}"))?, 1, None)?;
        }
        self.part(SEED, self.cases, None)?;
        self.part(fresh, u64::MAX, Some(self.fresh))
    }

    fn part(&self, seed: u64, cases: u64, time: Option<Duration>) -> Result<(), String> {
        let began = Instant::now();
        match campaign(self.play, seed, cases, time.map(|time| began + time)) {
            Ok((tally, next)) => {
                let time = began.elapsed();
                println!("seeds {seed} to {}, {time:.1?}: {tally}", next - 1);
                Ok(())
            }
            Err((seed, what)) => Err(format!(
                "seed {seed}: {what}\nrepeat it: SIM_SEED={seed} SIM_CASES=1 SIM_SHOW=1 ./test {}",
                self.name
            )),
        }
    }

    /// Plants faults, one after the other: each must be found, by a message that begins with one of its words, or by a
    /// journal that cannot be opened because of it. For each fault ten times the crash points of a run are played, for
    /// two minutes at most.
    ///
    /// # Errors
    ///
    /// The faults that were not found.
    #[cfg(feature = "canary")]
    pub fn finds(&self, faults: &[(fixwire::canary::PlantedFault, &[&str])]) -> Result<(), String> {
        use fixwire::canary::plant;
        const PATIENCE: Duration = Duration::from_secs(120);
        let mut missed = Vec::new();
        for (fault, words) in faults {
            let (began, name) = (Instant::now(), fault.name());
            plant(Some(*fault));
            let found = campaign(self.play, SEED, 10 * self.cases, Some(began + PATIENCE));
            plant(None);
            match found {
                Ok((tally, _)) => missed.push(format!("{name} is not found by {tally}")),
                Err((seed, what)) => {
                    let time = began.elapsed();
                    println!("{name}: found by seed {seed} in {time:.1?}: {what:.200}");
                    let recoveries = [
                        "recovery after a crash: ",
                        "the journal does not open: ",
                        "A14: recovery: ",
                    ];
                    let damage = recoveries.iter().find_map(|it| what.strip_prefix(it));
                    let is_meant = |word: &&str| {
                        what.starts_with(word) || damage.is_some_and(|damage| damage.contains(word))
                    };
                    if !words.iter().any(is_meant) {
                        missed.push(format!("{name} is found by another message: {what:.200}"));
                    }
                }
            }
        }
        if missed.is_empty() {
            Ok(())
        } else {
            Err(missed.join("\n"))
        }
    }
}
