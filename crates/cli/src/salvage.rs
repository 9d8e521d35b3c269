//! `fixwire journal salvage`: repairs a damaged journal, and reports what is lost.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use fixwire::Durability;
use fixwire::journal::{self, LostSession, Salvaged, SequenceCounters};
use fixwire_protocol::Timestamp;
use fixwire_protocol::readable::Escaped;

use crate::failure::Failure;
use crate::teller::counted;

/// The journal to salvage, and the options.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire journal salvage --dry-run store     print what would be kept and lost
  fixwire journal salvage store

For a journal that does not open. All of its files are copied to a folder beside it first; then it is truncated
at the damage. Each session continues with the highest sequence numbers that can still be read, so that no
number is used twice. The command refuses a journal that opens, and a journal that a running engine uses.
docs/operating/salvage.md says what to agree with each counterparty.")]
pub struct SalvageArgs {
    /// The journal's folder: FileStorePath of the settings file
    dir: PathBuf,
    /// Change nothing: only print what would be kept and what would be lost
    #[arg(long)]
    dry_run: bool,
    /// The Durability setting of the engine that wrote it, needed for a journal that opens only at
    /// `disk`
    #[arg(long, value_enum, value_name = "DURABILITY")]
    durability: Option<Kept>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kept {
    /// Durability=process
    Process,
    /// Durability=disk
    Disk,
}

/// Runs the command.
pub fn run(args: &SalvageArgs) -> Result<ExitCode, Failure> {
    if !args.dir.is_dir() {
        return Err(Failure::Text(format!(
            "{} is not a folder",
            args.dir.display()
        )));
    }
    let durability = args.durability.map(|kept| match kept {
        Kept::Process => Durability::Process,
        Kept::Disk => Durability::Disk,
    });
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = Timestamp(since_1970.map_or(0, |since| since.as_nanos() as i64));
    let done = journal::salvage(&args.dir, durability, now, args.dry_run)
        .map_err(|error| Failure::Text(error.to_string()))?;
    print(&done, &mut io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}

fn print(done: &Salvaged, out: &mut impl Write) -> io::Result<()> {
    let Salvaged {
        kept,
        lost,
        readable,
        ..
    } = done;
    writeln!(out, "{}", escaped(&done.damage.to_string()))?;
    match &done.copy {
        Some(copy) => writeln!(
            out,
            "all files were copied to {}",
            escaped(&copy.display().to_string())
        )?,
        None => writeln!(
            out,
            "dry run: nothing is changed; this is the planned result"
        )?,
    }
    match done.kept_to {
        Some(to) => writeln!(
            out,
            "kept: {}, to byte {} of segment {}",
            counted(*kept as usize, "record"),
            to.offset(),
            to.segment()
        )?,
        None => writeln!(out, "kept: nothing; a new journal is started")?,
    }
    if let Some(segment) = done.begins_at {
        writeln!(
            out,
            "the journal now starts at segment {segment}: earlier messages are gap-filled when \
             requested"
        )?;
    }
    writeln!(
        out,
        "lost: {} after the damage, of which {readable} can still be read in the copy; records \
        after the last readable one are lost too and cannot be counted",
        counted(*lost as usize, "record")
    )?;
    for session in &done.sessions {
        print_lost(session, out)?;
    }
    for (name, counters) in &done.others {
        writeln!(out, "\n{}", escaped(name))?;
        writeln!(out, "  nothing is known to be lost")?;
        print_agreement(name, counters, out)?;
    }
    if done.notes > 0 {
        writeln!(
            out,
            "\nnotes of the application\n  {} are lost: changes to open orders, for example of a \
            gateway, after the last kept record; reconcile open orders with every client and venue",
            done.notes
        )?;
    }
    Ok(())
}

fn print_lost(session: &LostSession, out: &mut impl Write) -> io::Result<()> {
    let name = session.name.as_deref();
    match name {
        Some(name) => writeln!(out, "\n{}", escaped(name))?,
        None => writeln!(
            out,
            "\na session whose identity is lost: a new session starts when its counterparty logs on"
        )?,
    }
    if session.was_reset() {
        writeln!(
            out,
            "  its sequence numbers were reset in the part that is lost"
        )?;
    }
    if let Some((from, to)) = session.sent() {
        writeln!(
            out,
            "  sent and lost: MsgSeqNum {from} to {to}; a ResendRequest for them is gap-filled"
        )?;
    }
    if let Some((from, to)) = session.received() {
        writeln!(
            out,
            "  received and lost: MsgSeqNum {from} to {to}; they are not requested again"
        )?;
    }
    print_agreement(name.unwrap_or("the counterparty"), &session.next, out)
}

fn print_agreement(name: &str, next: &SequenceCounters, out: &mut impl Write) -> io::Result<()> {
    let peer = name.rsplit("->").next().unwrap_or(name);
    let (expected, sent) = match next.next_in {
        // A reset was in progress. The next start completes the reset.
        0 => (1, 1),
        expected => (expected, next.next_out),
    };
    writeln!(
        out,
        "  agree with {}: the next MsgSeqNum that we expect is {expected}, the next that we send \
        is {sent}; or reset both sides with ResetSeqNumFlag(141)=Y",
        escaped(peer)
    )
}

fn escaped(text: &str) -> String {
    Escaped(text.as_bytes()).to_string()
}
