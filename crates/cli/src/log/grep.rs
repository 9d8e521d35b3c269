//! `fixwire log grep`: the messages that match a query.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use fixwire::journal::write_escaped;
use fixwire_protocol::readable::{Escaped, masked};
use fixwire_protocol::{Decoder, Message};
use fixwire_reader::{LogEntry, LogPlace, LogStep, ShortQuery};
use serde_json::{Value, json};

use super::index::IndexUse;
use super::sources::{Sources, exit_code, tell_left_out, way, write_time};
use crate::decoded::Decoded;
use crate::failure::Failure;
use crate::query::{Query, Shelf};

/// Polling interval for new messages.
const LOOK: Duration = Duration::from_millis(100);

/// Arguments of `fixwire log grep`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log grep 11=order-36 logs
  fixwire log grep '35=D|G 55~^TX 38>1000' broker.log.gz
  fixwire log grep 'MsgType = NewOrderSingle and OrderQty > 1000' store
  fixwire log grep -f 35=3 FIX.4.4-BROKER-CLIENT.messages.current.log
  tcpdump -i any -w - port 9876 | fixwire log grep 35=8 -

A query is a list of terms separated by blanks; a message must match all of them. A term has a tag, an operator and a value:
  55=VOD        the value; 35=D|G one of these values; 58=\"no such order\" a value with blanks
  55!=VOD       no field 55 has the value
  55~TX         the value contains this text; 55~^TX begins with it, 55~TX$ ends with it
  38>1000       also < <= >=; compared as numbers, or as texts if the given value is not a number
Any other query is a condition as in the rules of a gateway (docs/reference/gateway-rules.md#conditions).

Each line has the place (file and line), time, session, direction, and the message with | for SOH; secrets (554, 925,
96, 1402, 1404) are masked. Messages of several files are merged by time. Brackets contain the journal's mark of the
message, or the fault of its frame. With an id, such as 11=order-36, a query reads only some blocks of a log that has
an index (fixwire log index). The exit code is 1 if something could not be read; the output names each such part.")]
pub struct GrepArgs {
    /// Terms such as 35=D 55~^TX, or a condition
    query: String,
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    index: IndexUse,
    /// Follow: print new messages as they are written, until interrupted; also when files are rotated
    #[arg(long, short)]
    follow: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Print each message with the names of its fields, one field per line, groups indented
    #[arg(long, conflicts_with = "json")]
    decode: bool,
    /// The dictionary for --decode and conditions, by name or file [default: the built-in one of each message]
    #[arg(long, value_name = "NAME|FILE")]
    dictionary: Option<String>,
}

/// The query, and the dictionaries for it.
pub struct Wanted {
    query: Form,
    /// The dictionaries are loaded only for conditions and names, because loading takes time.
    shelf: Option<Shelf>,
    decoder: Decoder,
}

enum Form {
    Short(Box<ShortQuery>),
    Condition(Query),
}

impl Wanted {
    /// Parses a query. With `decodes`, messages are also printed with names.
    pub fn new(query: &str, decodes: bool, dictionary: Option<&str>) -> Result<Self, Failure> {
        let is_short = ShortQuery::is_one(query);
        let shelf = match !is_short || decodes {
            true => Some(Shelf::new(dictionary)?),
            false => None,
        };
        let query = match &shelf {
            Some(shelf) if !is_short => Form::Condition(Query::new("QUERY", query, shelf)?),
            _ => Form::Short(Box::new(ShortQuery::parse(query).map_err(Failure::Text)?)),
        };
        Ok(Self {
            query,
            shelf,
            decoder: Decoder::with_capacity(1024),
        })
    }

    /// Whether a message matches.
    #[cfg(feature = "view")]
    pub fn wants(&mut self, entry: &LogEntry<'_>) -> bool {
        let Self {
            query,
            shelf,
            decoder,
        } = self;
        check(query, shelf.as_ref(), decoder, entry.bytes).is_some()
    }

    /// Writes a message if it matches.
    fn show(
        &mut self,
        entry: &LogEntry<'_>,
        args: &GrepArgs,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Self {
            query,
            shelf,
            decoder,
        } = self;
        let Some((message, place)) = check(query, shelf.as_ref(), decoder, entry.bytes) else {
            return Ok(());
        };
        if args.json {
            return writeln!(out, "{}", object(entry));
        }
        write_head(entry, out)?;
        match (shelf, place) {
            (Some(shelf), Some(place)) if args.decode => {
                let decoded = Decoded {
                    dictionary: shelf.dictionary(place),
                    masked: &[],
                };
                writeln!(out, "{}", decoded.kind(&message))?;
                decoded.write(&message, out)
            }
            _ => {
                write_escaped(out, &masked(entry.bytes), false)?;
                writeln!(out)
            }
        }
    }
}

/// The message of an entry if it matches, and the index of the message's dictionary.
fn check<'a>(
    query: &mut Form,
    shelf: Option<&Shelf>,
    decoder: &'a mut Decoder,
    bytes: &'a [u8],
) -> Option<(Message<'a>, Option<usize>)> {
    if let Form::Short(query) = query
        && !query.may_match(bytes)
    {
        return None;
    }
    let message = decoder.decode_whole(bytes);
    let place = shelf.map(|shelf| shelf.place(&message));
    let is_wanted = match query {
        Form::Short(query) => query.matches(&message),
        Form::Condition(query) => query.wants(&message, place.unwrap_or_default()),
    };
    is_wanted.then_some((message, place))
}

/// Runs the command.
pub fn run(args: &GrepArgs) -> Result<ExitCode, Failure> {
    let mut wanted = Wanted::new(&args.query, args.decode, args.dictionary.as_deref())?;
    let blocks = match &wanted.query {
        Form::Short(query) if !args.follow => query.blocks(),
        _ => None,
    };
    let needle = match &wanted.query {
        Form::Short(query) if !args.follow => query.needle(),
        _ => None,
    };
    let mut reader = match (blocks, needle) {
        (None, None) => args.sources.open(args.follow)?,
        (blocks, needle) => {
            let blocks = blocks.map(|blocks| args.index.blocks(&args.sources, &blocks, None));
            let blocks = blocks.unwrap_or_default();
            args.sources.open_searched(&blocks, needle)?
        }
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut is_whole = true;
    loop {
        match reader.next_step() {
            LogStep::Message(entry) => {
                wanted.show(&entry, args, &mut out)?;
                continue;
            }
            LogStep::Wait => {}
            LogStep::End => break,
        }
        out.flush()?;
        is_whole &= tell_left_out(&reader.take_left_out());
        thread::sleep(LOOK);
    }
    out.flush()?;
    is_whole &= tell_left_out(&reader.take_left_out());
    Ok(exit_code(is_whole))
}

/// Writes the position, time, session, direction and flags of a message.
fn write_head(entry: &LogEntry<'_>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{}:{} ", Escaped(entry.file.as_bytes()), entry.place)?;
    write_time(entry, out)?;
    let session = entry.session();
    write!(
        out,
        " {} {:<3} ",
        Escaped(session.as_bytes()),
        way(entry.direction())
    )?;
    if !entry.mark.is_empty() {
        write!(out, "[{}] ", entry.mark)?;
    }
    if let Some(fault) = entry.fault {
        write!(out, "[{fault}] ")?;
    }
    Ok(())
}

fn object(entry: &LogEntry<'_>) -> Value {
    let mut object = json!({ "file": entry.file });
    let mut set = |key: &str, value: Value| object[key] = value;
    match entry.place {
        LogPlace::Text { offset, line } => {
            set("line", line.into());
            set("offset", offset.into());
        }
        LogPlace::Journal { segment, offset } => {
            set("segment", segment.into());
            set("offset", offset.into());
        }
        LogPlace::Packet { packet } => set("packet", packet.into()),
    }
    let mut time = Vec::new();
    let (moment, source) = entry.time();
    // Writing to memory cannot fail.
    let _ = moment.map(|moment| fixwire::journal::write_moment(&mut time, moment));
    set(
        "time",
        moment
            .map(|_| String::from_utf8_lossy(&time).into_owned())
            .into(),
    );
    set("timeFrom", source.name().into());
    set("session", entry.session().into());
    set(
        "direction",
        entry.direction().map(|it| way(Some(it))).into(),
    );
    if !entry.mark.is_empty() {
        set("mark", entry.mark.into());
    }
    if let Some(fault) = entry.fault {
        set("fault", fault.to_string().into());
    }
    let mut text = Vec::new();
    let _ = write_escaped(&mut text, &masked(entry.bytes), false);
    set("text", String::from_utf8_lossy(&text).into());
    object
}
