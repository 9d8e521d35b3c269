//! `fixwire gateway conversion`: prints a built-in conversion table, from which a user can make a table.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use fixwire::gateway::convert::Conversion;
use fixwire_protocol::dictionary::Version;

use crate::failure::Failure;

/// The table to print.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire gateway conversion FIX.4.2 FIX.4.4 > my.conv

To use the changed table, add it to the file of the gateway: [conversion], \"FIX.4.2 to FIX.4.4\" = \"my.conv\".")]
pub struct ConversionArgs {
    /// The version of the messages, such as FIX.4.2 or FIX.5.0SP2
    #[arg(value_parser = version)]
    from: Version,
    /// The version to convert to
    #[arg(value_parser = version)]
    to: Version,
}

fn version(name: &str) -> Result<Version, String> {
    Version::from_name(name).ok_or_else(|| {
        let names = Version::ALL.map(Version::name);
        format!("known versions are {}", names.join(", "))
    })
}

/// Runs the command.
pub fn run(args: &ConversionArgs) -> Result<ExitCode, Failure> {
    let (from, to) = (args.from, args.to);
    let Some(text) = Conversion::built_in_text(from, to) else {
        let have = |one: Version, other| Conversion::built_in_text(one, other).is_some();
        let near = |one: Version| Version::ALL.map(|other| (other, have(one, other)));
        let near = near(from).into_iter().filter(|(_, has)| *has);
        let near: Vec<&str> = near.map(|(version, _)| version.name()).collect();
        let (from, to) = (from.name(), to.name());
        let others = match near.is_empty() {
            true => "no table converts from this version".to_owned(),
            false => format!("tables from {from} convert to {}", near.join(", ")),
        };
        return Err(Failure::Text(format!(
            "no built-in table from {from} to {to}: {others}"
        )));
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
