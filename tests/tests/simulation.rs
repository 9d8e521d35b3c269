//! Is anything lost, doubled or changed when an engine dies at any point of a simulated world?
//!
//! `SIM_CASES` is the number of crash points, `SIM_SEED` the first seed; without it every run has the
//! same worlds. Each planted fault must be found within the same number of crash points.

use std::time::Instant;

use fixwire_rigs::simulation::campaign;

const CASES: u64 = 20_000;
const SEED: u64 = 1;

fn setting(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => usual,
    }
}

/// Faults are planted for the whole process, so that the two parts must not run at the same time.
#[test]
fn a_crash_at_any_point_loses_nothing_and_planted_faults_are_found() {
    no_crash_point_loses_anything();
    #[cfg(feature = "canary")]
    planted_faults_are_found();
}

fn no_crash_point_loses_anything() {
    let (seed, cases) = (setting("SIM_SEED", SEED), setting("SIM_CASES", CASES));
    let began = Instant::now();
    match campaign(seed, cases) {
        Ok((tally, next)) => {
            println!(
                "seeds {seed} to {}, {:.1?}: {tally}",
                next - 1,
                began.elapsed()
            );
        }
        Err((seed, what)) => panic!(
            "seed {seed}: {what}\nrepeat it: SIM_SEED={seed} SIM_CASES=1 SIM_SHOW=1 ./test simulation"
        ),
    }
}

#[cfg(feature = "canary")]
fn planted_faults_are_found() {
    use fixwire::canary::{Fault, plant};
    for fault in Fault::ALL {
        plant(Some(fault));
        // A planted fault may also be noticed by an assertion of the engine.
        let found = std::panic::catch_unwind(|| campaign(SEED, CASES));
        plant(None);
        match found {
            Ok(Ok((tally, _))) => {
                panic!(
                    "{} is not found by {} crash points",
                    fault.name(),
                    tally.crash_points()
                )
            }
            Ok(Err((seed, what))) => {
                println!("{}: found by seed {seed}: {what:.200}", fault.name())
            }
            Err(_) => println!("{}: found by an assertion", fault.name()),
        }
    }
}
