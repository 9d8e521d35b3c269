//! `fixwire journal`: reads a journal; `import` and `export` are in `store`, `salvage` in its own file.

use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use fixwire::gateway::note_text;
use fixwire::journal::{
    self, Direction, DumpFilter, DumpFormat, DumpLine, FRAME_DECODERS, FrameDecoder, JournalError,
    Verified,
};
use fixwire_protocol::{Decoder, Timestamp};
use serde_json::{Value, json};

use crate::decoded::Decoded;
use crate::failure::{Failure, tell};
use crate::query::{Query, Shelf};
use crate::salvage::{self, SalvageArgs};
use crate::store::{self, ExportArgs, ImportArgs};
use crate::teller::counted;

/// Examples for the whole command.
pub const EXAMPLES: &str = "Examples:
  fixwire journal dump store                         print its messages, oldest first
  fixwire journal verify store                       verify every byte
  fixwire journal export --help                      export a session to a store of another engine

A journal is the folder that FileStorePath of the settings file sets.";

/// Polling interval for new records.
const LOOK: Duration = Duration::from_millis(100);

/// Subcommands of `fixwire journal`.
#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// Prints the messages of a journal, oldest first
    Dump(DumpArgs),
    /// Checks every byte of a journal; names the first wrong byte
    Verify(VerifyArgs),
    /// Repairs a journal that does not open; reports the lost messages
    Salvage(SalvageArgs),
    /// Imports a session from a file store of QuickFIX, QuickFIX/J, QuickFIX/Go or QuickFIX/n
    Import(ImportArgs),
    /// Exports a session to a file store of one of these engines
    Export(ExportArgs),
}

/// Arguments of `fixwire journal dump`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire journal dump store
  fixwire journal dump store --session 'FIX.4.4:BROKER->CLIENT' --direction out --first-seq 100
  fixwire journal dump store --json --from 20260821-13:30:00 | jq .
  fixwire journal dump store --field 11=order-36 --mask 1,448
  fixwire journal dump store --decode --query 'MsgType = NewOrderSingle and OrderQty > 1000'
  fixwire journal dump store -f --query 'MsgType in (Reject, BusinessMessageReject)'

Marks of messages: [queued] waits for a gap to be filled and is processed at its line 'dequeued';
[duplicate] was received before; [ignored] arrived while the session was being closed; [rejected] was
answered with a Reject; [resent] and [gap fill] answer a ResendRequest.
Frames of links, which are not FIX, have their number on their connection instead of a MsgSeqNum.
Secrets (554, 925, 96, 1402, 1404) are masked.")]
pub struct DumpArgs {
    /// The journal's folder: FileStorePath of the settings file
    dir: PathBuf,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Only this session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Only messages in this direction
    #[arg(long, value_enum)]
    direction: Option<DirectionFlag>,
    /// Only from this UTC time: 20260821-13:30:00
    #[arg(long, value_name = "TIME", value_parser = moment)]
    from: Option<Timestamp>,
    /// Only before this UTC time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<Timestamp>,
    /// Only from this MsgSeqNum on; for frames of a link, from this frame number on
    #[arg(long, value_name = "N")]
    first_seq: Option<u64>,
    /// Only up to this MsgSeqNum; for frames of a link, up to this frame number
    #[arg(long, value_name = "N")]
    last_seq: Option<u64>,
    /// Only messages and notes with this field and value, as in 11=order-36; may be given several times
    #[arg(long, value_name = "TAG=VALUE", value_parser = field)]
    field: Vec<(u32, Vec<u8>)>,
    /// Only messages that match this condition, as in gateway rules
    /// (docs/reference/gateway-rules.md#conditions)
    #[arg(long, short, value_name = "CONDITION")]
    query: Option<String>,
    /// Print each message with the names of its fields, one field per line, groups indented
    #[arg(long, conflicts_with = "json")]
    decode: bool,
    /// The dictionary for --decode and --query, by name or file [default: the built-in one of each message]
    #[arg(long, value_name = "NAME|FILE")]
    dictionary: Option<String>,
    /// How frames of links are shown: hex, or text for protocols of printable characters
    #[arg(long, value_name = "NAME", value_parser = decoder, default_value = "hex", conflicts_with = "json")]
    frames: FrameDecoder,
    /// Follow the journal: print new messages as they are written, until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Mask the values of these fields too, as RedactFieldsInLogs does in logs
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    mask: Vec<u32>,
}

/// Arguments of `fixwire journal verify`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire journal verify store && echo whole

The exit code is 0 if the journal is intact, and 1 otherwise, also when JournalKeep removed segments before they were read.")]
pub struct VerifyArgs {
    /// The journal's folder: FileStorePath of the settings file
    dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The direction of messages, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectionFlag {
    /// Received
    In,
    /// Sent
    Out,
}

impl DirectionFlag {
    pub fn direction(self) -> Direction {
        match self {
            Self::In => Direction::In,
            Self::Out => Direction::Out,
        }
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text.as_bytes())
        .map_err(|error| format!("{error}; write a UTC time such as 20260821-13:30:00.5"))
}

fn decoder(name: &str) -> Result<FrameDecoder, String> {
    let mut known = FRAME_DECODERS.iter();
    let found = known.find(|(known, _)| *known == name);
    found.map(|(_, decoder)| *decoder).ok_or_else(|| {
        let names: Vec<_> = FRAME_DECODERS.iter().map(|(name, _)| *name).collect();
        format!("unknown; use one of: {}", names.join(", "))
    })
}

fn field(text: &str) -> Result<(u32, Vec<u8>), String> {
    let (tag, value) = text.split_once('=').unwrap_or((text, ""));
    match tag.parse() {
        Ok(tag) if !value.is_empty() => Ok((tag, value.into())),
        _ => Err("write a tag and a value, such as 11=order-36".into()),
    }
}

/// Runs the command.
pub fn run(command: &JournalCommand) -> Result<ExitCode, Failure> {
    match command {
        JournalCommand::Dump(args) => dump(args),
        JournalCommand::Verify(args) => verify(args),
        JournalCommand::Salvage(args) => salvage::run(args),
        JournalCommand::Import(args) => store::import(args),
        JournalCommand::Export(args) => store::export(args),
    }
}

fn dump(args: &DumpArgs) -> Result<ExitCode, Failure> {
    let filter = DumpFilter {
        session: args.session.clone(),
        direction: args.direction.map(DirectionFlag::direction),
        from: args.from,
        until: args.until,
        first_seq: args.first_seq,
        last_seq: args.last_seq,
        fields: args.field.clone(),
        masked: args.mask.clone(),
    };
    let format = if args.json {
        DumpFormat::Json
    } else {
        DumpFormat::Text
    };
    let mut screen = Screen::new(args)?;
    let out = RefCell::new(BufWriter::new(io::stdout().lock()));
    let each = |line: &DumpLine<'_>| screen.show(line, format, &mut *out.borrow_mut());
    if args.follow {
        // A missing file is most likely a typing error in the name.
        let read = journal::verify(&args.dir).map_err(failure)?;
        there(&read, &args.dir)?;
        has_session(&read, args.session.as_deref())?;
        let wait = || {
            out.borrow_mut().flush()?;
            thread::sleep(LOOK);
            Ok(())
        };
        journal::follow(&args.dir, &filter, each, wait, tell_removed).map_err(failure)?;
        return Ok(ExitCode::SUCCESS);
    }
    let read = journal::each_line(&args.dir, &filter, each).map_err(failure)?;
    out.borrow_mut().flush()?;
    there(&read, &args.dir)?;
    has_session(&read, args.session.as_deref())?;
    Ok(judge(&read))
}

fn has_session(read: &Verified, session: Option<&str>) -> Result<(), Failure> {
    match session.filter(|session| !read.sessions.iter().any(|known| known == session)) {
        Some(session) => Err(Failure::Text(format!(
            "no session {session} in this journal; it has: {}",
            read.sessions.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The filters and the format of a dump.
struct Screen<'a> {
    args: &'a DumpArgs,
    shelf: Shelf,
    query: Option<Query>,
    decoder: Decoder,
}

impl<'a> Screen<'a> {
    fn new(args: &'a DumpArgs) -> Result<Self, Failure> {
        let shelf = Shelf::new(args.dictionary.as_deref())?;
        let query = args.query.as_ref();
        let query = query
            .map(|query| Query::new("--query", query, &shelf))
            .transpose()?;
        let decoder = Decoder::with_capacity(256);
        Ok(Self {
            args,
            shelf,
            query,
            decoder,
        })
    }

    fn show(
        &mut self,
        line: &DumpLine<'_>,
        format: DumpFormat,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Some(bytes) = line.raw_message() else {
            // A query selects messages only, so all other records are left out.
            if self.query.is_some() {
                return Ok(());
            }
            let gateway = line.note_of("gateway").and_then(note_text);
            let note = gateway
                .or_else(|| fixwire_exchange::event_text(line.note_of("exchange")?))
                .or_else(|| fixwire_client::note_text(line.note_of("client")?));
            return match (note, format) {
                (Some(note), _) => line.write_content(out, format, note.as_bytes()),
                (None, DumpFormat::Text) => line.write_decoded(out, self.args.frames),
                (None, DumpFormat::Json) => line.write(out, format),
            };
        };
        if self.query.is_none() && !self.args.decode {
            return line.write(out, format);
        }
        let message = self.decoder.decode_whole(bytes);
        let place = self.shelf.place(&message);
        if let Some(query) = &mut self.query
            && !query.wants(&message, place)
        {
            return Ok(());
        }
        if !self.args.decode {
            return line.write(out, format);
        }
        let decoded = Decoded {
            dictionary: self.shelf.dictionary(place),
            masked: &self.args.mask,
        };
        line.write_head(out)?;
        writeln!(out, "{}", decoded.kind(&message))?;
        decoded.write(&message, out)
    }
}

fn verify(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let read = journal::verify(&args.dir).map_err(failure)?;
    there(&read, &args.dir)?;
    let states = journal::stored_states(&args.dir).map_err(failure)?;
    let damaged = states.iter().filter_map(|state| state.as_ref().err());
    if let Some((first, last)) = read.removed.filter(|_| args.json) {
        tell_removed(first, last);
    }
    let mut out = io::stdout().lock();
    if args.json {
        let bad = read.bad.as_ref().map(|bad| {
            json!({
                "file": bad.file, "offset": bad.offset, "expected": bad.expected, "found": bad.found,
                "torn": read.torn,
            })
        });
        let checkpoints = states.iter().flatten().map(|state| {
            json!({
                "file": state.file, "bytes": state.bytes, "state": state.name,
                "version": state.version, "note": state.note,
            })
        });
        let checkpoints: Vec<_> = checkpoints.collect();
        let damaged = damaged.map(|bad| {
            json!({
                "file": bad.file, "offset": bad.offset, "expected": bad.expected, "found": bad.found,
            })
        });
        let damaged: Vec<_> = damaged.collect();
        let whole = is_whole(&read) && damaged.is_empty();
        let all = json!({
            "segments": read.segments, "records": read.records, "bytes": read.bytes,
            "sessions": read.sessions, "bad": bad, "removed": removed(&read),
            "checkpoints": checkpoints, "damagedCheckpoints": damaged,
        });
        writeln!(out, "{all:#}")?;
        return Ok(if whole {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    let Verified {
        segments,
        records,
        bytes,
        sessions,
        ..
    } = &read;
    let sessions = counted(sessions.len(), "session");
    let segments = counted(*segments as usize, "segment");
    let records = counted(*records as usize, "record");
    writeln!(out, "{segments}, {records}, {bytes} bytes, {sessions}")?;
    for state in states.iter().flatten() {
        writeln!(
            out,
            "checkpoint {}: {} version {}, up to note {}, {} bytes",
            state.file, state.name, state.version, state.note, state.bytes
        )?;
    }
    drop(out);
    let judged = judge(&read);
    let mut damaged = damaged.peekable();
    if damaged.peek().is_none() {
        return Ok(judged);
    }
    for bad in damaged {
        tell(
            "error",
            &format!(
                "checkpoint {bad}; the next start uses the previous checkpoint, or replays all \
                 notes if the journal still has every note"
            ),
        );
    }
    Ok(ExitCode::FAILURE)
}

/// Refuses a folder without a journal, which is most likely a typing error, not an intact journal.
fn there(read: &Verified, dir: &Path) -> Result<(), Failure> {
    if read.segments > 0 || read.bad.is_some() {
        return Ok(());
    }
    Err(Failure::Text(format!(
        "{} contains no journal",
        dir.display()
    )))
}

/// Warns about segments that an engine removed before they were read.
fn tell_removed(first: u32, last: u32) {
    let text =
        format!("segments {first} to {last} were removed before they were read (JournalKeep)");
    tell("warning", &text);
}

/// The first and the last of the removed segments, for JSON.
fn removed(read: &Verified) -> Option<Value> {
    let (first, last) = read.removed?;
    Some(json!({ "first": first, "last": last }))
}

/// Whether all segments were read, without damage.
fn is_whole(read: &Verified) -> bool {
    read.bad.is_none() && read.removed.is_none()
}

/// The exit code: success if the whole journal was read; otherwise prints the problems.
fn judge(read: &Verified) -> ExitCode {
    if let Some((first, last)) = read.removed {
        tell_removed(first, last);
    }
    if is_whole(read) {
        return ExitCode::SUCCESS;
    }
    let Some(bad) = &read.bad else {
        return ExitCode::FAILURE;
    };
    let cut = " (an unfinished record: opening the journal cuts it off)";
    tell(
        "error",
        &format!("{bad}{}", if read.torn { cut } else { "" }),
    );
    ExitCode::FAILURE
}

fn failure(error: JournalError) -> Failure {
    match error {
        JournalError::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
            Failure::Output(source)
        }
        other => Failure::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_lost_segments_while_it_was_read_is_not_whole() {
        let read = Verified::default();
        assert!(is_whole(&read));
        assert_eq!(removed(&read), None);
        let read = Verified {
            removed: Some((65, 70)),
            ..read
        };
        assert!(!is_whole(&read));
        assert_eq!(removed(&read), Some(json!({ "first": 65, "last": 70 })));
    }
}
