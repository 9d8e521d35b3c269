//! `fixwire gateway reload`: makes a running gateway reload the rules in its file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, value_parser};
use fixwire::control::{Asked, Client, ClientError, ControlQuestion};
use fixwire::gateway::{ReloadError, reload};
use fixwire::settings::{Settings, Source};
use fixwire_protocol::readable::Escaped;

use crate::failure::{self, Failure, tell};
use crate::place::place_of;
use crate::print::Printer;
use crate::reading::Reading;

/// What to reload.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire gateway reload gateway.toml
  fixwire gateway reload --timeout 60 gateway.toml

The file and its tables are checked first, as `fixwire check` does; with errors nothing is sent to the gateway.
FileStorePath or ControlPath locates the gateway, which must run this very file. It replaces all rules and tables
at once, between two messages, or none. The result is printed; the exit code is 1 if the old rules stay, or if
the gateway does not respond. Run it as the user of the gateway.")]
pub struct ReloadArgs {
    /// Seconds to wait for the answer of the gateway
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    /// The reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    reading: Reading,
    /// The settings file that the gateway runs
    file: PathBuf,
}

/// Runs the command.
pub fn run(args: &ReloadArgs) -> Result<ExitCode, Failure> {
    let settings = check(&args.file, &args.reading)?;
    let Some(place) = place_of(&settings) else {
        let why = "cannot locate the gateway with Durability = \"memory\": set ControlPath, or \
                   send SIGHUP to its process";
        return Err(Failure::Text(why.to_owned()));
    };
    let file = &args.file;
    let path = fs::canonicalize(file)
        .map_err(|error| Failure::Text(format!("{}: {error}", file.display())))?;
    let asked = Asked {
        what: ControlQuestion::Reload,
        file: Some(path.to_string_lossy().into_owned()),
        why: args.why.clone(),
        ..Asked::default()
    };
    let patience = Duration::from_secs(args.timeout);
    let answer = Client::connect(&place.path, patience).and_then(|mut client| client.ask(&asked));
    let socket = place.path.display();
    let why = match answer {
        Ok(answer) => {
            let said = answer.text.unwrap_or_default();
            writeln!(io::stdout(), "{}", Escaped(said.as_bytes()))?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(ClientError::Nobody) => format!(
            "no response from a gateway at {socket}: it is not running, or is still reading its \
             journal"
        ),
        Err(ClientError::HungUp) => "the gateway stopped before it responded".to_owned(),
        Err(ClientError::Timeout) => format!(
            "no response within {} s: the gateway may still be reloading, and then prints the result on \
            its standard error",
            args.timeout
        ),
        Err(ClientError::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => format!(
            "permission denied for the gateway at {socket}: run this as the user of the gateway"
        ),
        Err(error) => error.to_string(),
    };
    Err(Failure::Text(why))
}

/// The settings of a file, after its rules and tables were checked.
fn check(file: &Path, reading: &Reading) -> Result<Settings, Failure> {
    let source = Source::read(file)?;
    let settings = reading.of_file(&source)?;
    if settings.gateway.is_empty() {
        return Err(Failure::Text(format!("{} has no rules", file.display())));
    }
    reload(&source, &settings)?;
    Ok(settings)
}

/// Prints the result of a reload. Printing does not wait for a slow reader of standard error, because an operator waits
/// for the result.
pub fn show(done: &Result<String, ReloadError>, printer: &Mutex<Printer>) {
    match done {
        Ok(said) | Err(ReloadError::Kept(said)) => {
            let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
            printer.line(Escaped(said.as_bytes()).to_string());
        }
        Err(ReloadError::File(error)) => {
            failure::tell_settings(error);
            tell(
                "error",
                "gateway not reloaded: the old rules stay in effect",
            );
        }
        Err(error @ ReloadError::Passwords(..)) => tell("error", &error.to_string()),
        // The sender of the command gets the error as the answer.
        Err(_) => {}
    }
}
