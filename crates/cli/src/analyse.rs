//! `fixwire analyse`: reports from a stamps file.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fixwire_protocol::readable::Escaped;
use fixwire_stamps::Stamp;
use fixwire_stamps::analysis::{Throughput, summary};
use fixwire_stamps::file;

use crate::failure::Failure;

/// Examples for the whole command.
pub const EXAMPLES: &str = "Examples:
  fixwire analyse oms stamps.txt           latencies of requests (T1-T0, T2-T1) and of reports (T4-T3)
  fixwire analyse throughput stamps.txt    for each number of requests, how many milliseconds had that number

An OMS writes the stamps file if its settings have [oms] stamps = \"stamps.txt\". docs/reference/oms.md#stamps
explains T0 to T4.";

/// Subcommands of `fixwire analyse`.
#[derive(Debug, Subcommand)]
pub enum AnalyseCommand {
    /// Prints the latencies of requests and reports, in the format of the summaries published for f9omstw
    Oms(Of),
    /// Prints how many milliseconds had each number of requests, by the time at which the OMS sent each request on
    Throughput(Of),
}

/// The stamps file to analyse.
#[derive(Args, Debug)]
pub struct Of {
    /// The stamps file
    file: PathBuf,
}

/// Runs the command.
pub fn run(command: &AnalyseCommand) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match command {
        AnalyseCommand::Oms(Of { file }) => {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            summary(&name, &read(file)?, &mut text)
        }
        AnalyseCommand::Throughput(Of { file }) => {
            let stamps = read(file)?;
            let requests = stamps.iter().filter(|stamp| !stamp.is_report());
            let written = requests.map(|stamp| stamp.written);
            Throughput::of(written.filter(|at| *at > 0)).write(&mut text)
        }
    };
    let mut to = io::stdout().lock();
    for line in text.lines() {
        // Group names are taken from the ClOrdIDs(11) of clients, so control characters are escaped.
        writeln!(to, "{}", Escaped(line.as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &PathBuf) -> Result<Vec<Stamp>, Failure> {
    let cannot = |error: &dyn std::fmt::Display| {
        let file = file.display();
        Failure::Text(format!("{file}: {error}"))
    };
    let text = File::open(file).map_err(|error| cannot(&error))?;
    file::read(BufReader::new(text), None).map_err(|error| cannot(&error))
}
