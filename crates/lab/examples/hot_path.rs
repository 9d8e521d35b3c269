//! Runs the work for N messages, or a part of it, under an instruction counter.
//!
//! ```text
//! valgrind --tool=none hot_path engine-order 1000
//! ```

use std::process::ExitCode;

use fixwire::journal::{Journal, JournalConfig, Memory};
use fixwire_lab::hot_path::{HotPath, MOST_ORDERS, Stage};
use fixwire_lab::wired::driven::Work;
use fixwire_lab::wired::storm::Storm;

/// Sessions of a reconnect storm.
const STORM: usize = 400;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let messages = arguments.next().and_then(|text| text.parse().ok());
    let (Some(messages @ 0..=MOST_ORDERS), None) = (messages, arguments.next()) else {
        return usage();
    };
    let done = match (Stage::named(&name), Work::named(&name)) {
        (Some(stage), _) => part(stage, messages),
        (_, Some(work)) => whole(work, messages),
        _ if name == Storm::NAME => reconnects(messages),
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hot_path: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    let names = Stage::ALL.map(Stage::name).into_iter();
    let names = names.chain(Work::ALL.map(Work::name));
    let names: Vec<_> = names.chain([Storm::NAME]).collect();
    eprintln!("usage: hot_path {} MESSAGES", names.join("|"));
    ExitCode::from(2)
}

fn part(stage: Stage, messages: u64) -> Result<(), Box<dyn std::error::Error>> {
    let (journal, _) = Journal::open(Memory::new(2), JournalConfig::default())?;
    let mut path = HotPath::new(journal)?;
    for _ in 0..messages {
        path.run(stage)?;
    }
    Ok(())
}

fn whole(work: Work, messages: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut once = work.start(None)?;
    for _ in 0..messages / work.messages() as u64 {
        once()?;
    }
    Ok(())
}

/// Sessions that lose their connections and log on again, [`STORM`] at once.
fn reconnects(sessions: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut storm = Storm::new(STORM)?;
    for _ in 0..sessions / STORM as u64 {
        storm.pass()?;
    }
    Ok(())
}
