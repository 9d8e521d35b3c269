//! `fixwire config`: converts settings files.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fixwire::settings::Settings;
use fixwire::settings::convert;
use fixwire::settings::value::ValueKind;
use fixwire::settings::variables::OfTheProcess;
use fixwire_protocol::readable::Escaped;

use crate::check::read_as;
use crate::failure::{Failure, show, tell};
use crate::reading::Reading;

/// Examples for the whole command.
pub const EXAMPLES: &str = "Examples:
  fixwire config convert broker.cfg broker.toml                 convert a file of any engine
  fixwire config convert --dialect quickfixj broker.cfg -       look at it first, without its secrets";

/// Subcommands of `fixwire config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Writes the settings of any file as a TOML file of fixwire's own
    Convert(ConvertArgs),
}

/// Arguments of `fixwire config convert`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire config convert broker.cfg broker.toml
  fixwire config convert --dialect quickfixj broker.cfg broker.toml
  fixwire config convert fixengine.properties broker.toml
  fixwire config convert broker.cfg -            look at it first; secrets are shown as ******

Each session keeps its values: where the defaults of the engine that the file was written for differ from
fixwire's, they are written out. The new file is read back and compared before it is kept. Variables stay
variables, as ${env:NAME} and ${file:PATH}. Comments and keys without effect are dropped; `fixwire check` and
this command list those keys.

OUT.toml contains the secrets of FILE: only its owner can read it. An existing file is not overwritten.")]
pub struct ConvertArgs {
    /// The settings file
    file: PathBuf,
    /// The file to write, ending in .toml; - prints it without its secrets
    #[arg(value_name = "OUT.toml")]
    out: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

/// Runs the command.
pub fn run(command: &ConfigCommand) -> Result<ExitCode, Failure> {
    let ConfigCommand::Convert(args) = command;
    let shown = args.out == Path::new("-");
    if !shown {
        check_name(&args.out)?;
    }
    let settings = args.reading.load(&args.file)?;
    show(&settings.report);
    let failed = |error| Failure::Text(format!("{}: {error}", args.file.display()));
    let text = convert::to_toml(&settings, &OfTheProcess).map_err(failed)?;
    if shown {
        let text = convert::to_toml_without_secrets(&settings).map_err(failed)?;
        // Quoted texts have no characters that a terminal might interpret: these were escaped before.
        io::stdout().lock().write_all(text.as_bytes())?;
        tell(
            "note",
            "secrets are shown as ******: this output is for review and cannot be run",
        );
        return Ok(ExitCode::SUCCESS);
    }
    warn_of_paths(&settings, &args.file, &args.out);
    write(&args.out, &text)
        .map_err(|error| Failure::Text(format!("{}: {}", args.out.display(), why(&error))))?;
    say(&settings, &args.out)?;
    Ok(ExitCode::SUCCESS)
}

/// Checks that the name of the new file can be read back from the file.
fn check_name(out: &Path) -> Result<(), Failure> {
    let extension = out.extension();
    if extension.is_some_and(|name| name.eq_ignore_ascii_case("toml")) {
        return Ok(());
    }
    let out = out.display();
    Err(Failure::Text(format!(
        "{out}: the name of the new file must end in .toml"
    )))
}

/// Warns of relative paths, which are relative to the settings file. In another folder relative paths would name other
/// files.
fn warn_of_paths(settings: &Settings, file: &Path, out: &Path) {
    let folder = |file: &Path| match file.parent() {
        Some(folder) if folder != Path::new("") => folder.canonicalize().ok(),
        _ => Path::new(".").canonicalize().ok(),
    };
    if folder(file) == folder(out) {
        return;
    }
    let sessions = settings
        .sessions
        .iter()
        .flat_map(|session| &session.settings);
    let relative = sessions.filter(|setting| {
        matches!(setting.key.kind, ValueKind::Path)
            && setting.origin.span().is_some()
            && Path::new(&setting.written).is_relative()
    });
    let mut keys: Vec<&str> = relative.map(|setting| setting.key.name).collect();
    keys.sort_unstable();
    keys.dedup();
    if !keys.is_empty() {
        let text = format!(
            "relative paths now refer to the folder of the new settings file: check {}",
            keys.join(", ")
        );
        tell("warning", &text);
    }
}

/// Creates a file that only its owner can read. The file is created completely, or not at all.
fn write(out: &Path, text: &str) -> io::Result<()> {
    let folder = match out.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // The temporary file has mode 0600. It is removed unless it is renamed to its final name.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(out)?;
    fs::File::open(folder)?.sync_all()
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::AlreadyExists => {
            "file already exists and is not overwritten: choose another name".into()
        }
        _ => format!("cannot be written: {error}"),
    }
}

fn say(settings: &Settings, out: &Path) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", read_as(settings))?;
    let out = out.display().to_string();
    let sessions = settings.sessions.len();
    let noun = if sessions == 1 { "session" } else { "sessions" };
    writeln!(stdout, "{}: {sessions} {noun}.", Escaped(out.as_bytes()))
}
