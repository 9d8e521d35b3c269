//! Goes through one stage of the hot path so many times, for an instruction counter.
//!
//! ```text
//! valgrind --tool=none hot_path parse 1000
//! ```

use std::process::ExitCode;

use fixwire::journal::{Config, Journal, Memory};
use fixwire_lab::hot_path::{HotPath, MOST_ORDERS, Stage};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let stage = arguments.next().and_then(|name| Stage::named(&name));
    let turns = arguments.next().and_then(|text| text.parse().ok());
    let (Some(stage), Some(turns @ 0..=MOST_ORDERS), None) = (stage, turns, arguments.next())
    else {
        eprintln!(
            "usage: hot_path {} TURNS",
            Stage::ALL.map(Stage::name).join("|")
        );
        return ExitCode::from(2);
    };
    match go(stage, turns) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hot_path: {error}");
            ExitCode::FAILURE
        }
    }
}

fn go(stage: Stage, turns: u64) -> Result<(), Box<dyn std::error::Error>> {
    let (journal, _) = Journal::open(Memory::new(2), Config::default())?;
    let mut path = HotPath::new(journal)?;
    for _ in 0..turns {
        path.run(stage)?;
    }
    Ok(())
}
