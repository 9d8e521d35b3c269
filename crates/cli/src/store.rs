//! `fixwire journal import` and `export`: moves sessions between a journal and file stores.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use fixwire::journal::Torn;
use fixwire::store::{self, Existing, Family};
use fixwire_protocol::Timestamp;
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::time::{Precision, TimestampWriter};

use crate::failure::{Failure, tell};

/// Arguments of `fixwire journal import`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire journal import --from quickfixj --session 'FIX.4.4:BROKER->CLIENT' old/store store
  fixwire journal import --from quickfix --session 'FIX.4.4:BROKER->CLIENT' --replace old/store store

Imports the sequence numbers and the resendable messages of the session; `fixwire check` prints the identities
of the sessions of a settings file. Stop both engines first. A damaged or incomplete store is refused, and an
error leaves the journal unchanged.")]
pub struct ImportArgs {
    /// The engine that wrote the file store
    #[arg(long, value_enum, value_name = "ENGINE")]
    from: Whose,
    /// The session: BeginString:SenderCompID[/Sub][/Location]->TargetCompID[/Sub][/Location][:Qualifier]
    #[arg(long, value_name = "NAME")]
    session: String,
    /// Replace a session of this identity that the journal already has
    #[arg(long)]
    replace: bool,
    /// The folder of the store: FileStorePath of that engine
    store: PathBuf,
    /// The journal's folder: FileStorePath of the settings file
    journal: PathBuf,
}

/// Arguments of `fixwire journal export`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire journal export --to quickfixj --session 'FIX.4.4:BROKER->CLIENT' store old/store

The journal keeps the session. Stop the engine first; do not continue with both. Existing files are not
overwritten. Messages that the journal no longer has are missing in the store; the other engine gap-fills them.")]
pub struct ExportArgs {
    /// The engine to export for
    #[arg(long, value_enum, value_name = "ENGINE")]
    to: Whose,
    /// The session, by its identity in the journal
    #[arg(long, value_name = "NAME")]
    session: String,
    /// The journal's folder: FileStorePath of the settings file
    journal: PathBuf,
    /// The folder of the store: FileStorePath of that engine
    store: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Whose {
    /// QuickFIX (C++)
    #[value(name = "quickfix")]
    Quickfix,
    /// QuickFIX/J
    #[value(name = "quickfixj")]
    QuickfixJ,
    /// QuickFIX/Go
    #[value(name = "quickfixgo")]
    QuickfixGo,
    /// QuickFIX/n
    #[value(name = "quickfixn")]
    QuickfixN,
}

impl From<Whose> for Family {
    fn from(whose: Whose) -> Self {
        match whose {
            Whose::Quickfix => Self::Quickfix,
            Whose::QuickfixJ => Self::QuickfixJ,
            Whose::QuickfixGo => Self::QuickfixGo,
            Whose::QuickfixN => Self::QuickfixN,
        }
    }
}

/// Prints that opening the journal has truncated its incomplete end.
fn tell_cut(cut: Option<&Torn>) {
    if let Some(cut) = cut {
        tell("warning", &cut.to_string());
    }
}

/// Runs `fixwire journal import`.
pub fn import(args: &ImportArgs) -> Result<ExitCode, Failure> {
    let existing = match args.replace {
        true => Existing::Replace,
        false => Existing::Refuse,
    };
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = Timestamp(since_1970.map_or(0, |since| since.as_nanos() as i64));
    let moved = store::import(
        args.from.into(),
        &args.store,
        &args.journal,
        &args.session,
        existing,
        now,
    )
    .map_err(|error| Failure::Text(error.to_string()))?;
    tell_cut(moved.cut.as_ref());
    if moved.left_out > 0 {
        let text = format!(
            "{} messages have sequence numbers from {} up, which the old engine had not committed \
             when it stopped; they are not imported, and their numbers are used again",
            moved.left_out, moved.next_out
        );
        tell("warning", &text);
    }
    let mut stamp = TimestampWriter::new();
    println!(
        "{}: {} messages; next MsgSeqNum to send {}, to expect {}; sequence numbers began {}",
        Escaped(args.session.as_bytes()),
        moved.messages,
        moved.next_out,
        moved.next_in,
        Escaped(stamp.format(moved.began, Precision::Millis))
    );
    Ok(ExitCode::SUCCESS)
}

/// Runs `fixwire journal export`.
pub fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let moved = store::export(args.to.into(), &args.journal, &args.store, &args.session)
        .map_err(|error| Failure::Text(error.to_string()))?;
    tell_cut(moved.cut.as_ref());
    println!(
        "{}: {} messages; next MsgSeqNum to send {}, to expect {}",
        Escaped(args.session.as_bytes()),
        moved.messages,
        moved.next_out,
        moved.next_in
    );
    Ok(ExitCode::SUCCESS)
}
