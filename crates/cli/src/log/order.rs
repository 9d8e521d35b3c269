//! `fixwire log order`: shows the history of an order.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::readable::{Escaped, ReadableValue, masked};
use fixwire_protocol::{Dictionary, SOH, Tag};
use fixwire_reader::{
    FoundOrder, LeftOut, LogPlace, LogStep, OrderSearch, OrderStep, fields_of_order,
};
use serde_json::json;

use super::index::{IndexUse, LARGE};
use super::sources::{Sources, exit_code, tell_left_out};
use super::summary::{moment, table};
use crate::failure::{Failure, tell};

/// Maximum number of times that the logs are read, without and with an index.
const PASSES: usize = 16;
const INDEXED_PASSES: usize = 1_000;
/// Tags of the fields that describe a step.
const SHOWN: [Tag; 24] = [
    11, 41, 37, 198, 17, 19, 45, 55, 54, 38, 40, 44, 99, 59, 150, 39, 32, 31, 14, 151, 6, 102, 103,
    58,
];

/// Arguments of `fixwire log order`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log order A1 logs
  fixwire log order O7731 --json store capture.pcapng

The order is found by its ClOrdID(11) or OrderID(37); its replaces and cancels by 11, 41, 526, 37 and 198, busts and
corrections by ExecRefID(19), and Rejects by RefSeqNum(45). An id that is used again, on another day or in another
session, belongs to another order: each order that had the id is shown separately. Each line has the time, the time
since the previous line (`same turn` within one record of a journal), sender and target, the message and its main
fields. The logs are read again as long as new ids are found, so they cannot be the standard input. Of a log with an
index (fixwire log index), only the blocks that may have messages of the order are read; logs of 64 MiB or more are
indexed first.
The exit code is 1 if no message of the order is found, or if something could not be read.")]
pub struct OrderArgs {
    /// A ClOrdID or OrderID of the order
    id: String,
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    index: IndexUse,
    /// Print one JSON object for each message
    #[arg(long)]
    json: bool,
}

fn value(bytes: &[u8], tag: Tag) -> Option<&[u8]> {
    let wanted = format!("{tag}=");
    let mut fields = bytes.split(|byte| *byte == SOH);
    fields.find_map(|field| field.strip_prefix(wanted.as_bytes()))
}

/// Sender and receiver of a message.
fn ends(step: &OrderStep) -> [String; 2] {
    let text = |tag| Escaped(value(&step.bytes, tag).unwrap_or_default()).to_string();
    [text(49), text(56)]
}

/// The fields that describe a step of an order. Only the first field of each tag is shown.
#[cfg(feature = "view")]
pub fn shown(bytes: &[u8]) -> String {
    shown_of(|tag| value(bytes, tag))
}

fn shown_of<'v>(value: impl Fn(Tag) -> Option<&'v [u8]>) -> String {
    let fields = SHOWN.iter().filter_map(|tag| {
        let value = value(*tag)?;
        Some(format!("{tag}={}", ReadableValue(*tag, value)))
    });
    fields.collect::<Vec<_>>().join(" ")
}

/// The history of an order, or of several orders with the same id.
pub struct OrderLife {
    search: OrderSearch,
    /// The parts of the logs that could not be read.
    pub left_out: Vec<LeftOut>,
}

impl OrderLife {
    /// Reads the logs until no further id of the order is found.
    pub fn find(sources: &Sources, index: &IndexUse, id: &str) -> Result<Self, Failure> {
        let mut search = OrderSearch::new(id);
        let mut left_out = Vec::new();
        let wanted = search.blocks().clone();
        let blocks = index.blocks(sources, &wanted, Some(LARGE));
        let passes = match blocks.has_indexes() {
            true => INDEXED_PASSES,
            false => PASSES,
        };
        for _ in 0..passes {
            search.begin();
            blocks.take_grew();
            let mut reader = sources.open_order(&blocks)?;
            while let LogStep::Message(entry) = reader.next_step() {
                search.look(&entry);
            }
            left_out = reader.take_left_out();
            let has_new = search.finish();
            let grew = blocks.has_indexes() && blocks.take_grew();
            if !has_new && !grew {
                break;
            }
        }
        Ok(Self { search, left_out })
    }

    /// The orders with this id.
    pub fn lives(&self) -> Vec<FoundOrder<'_>> {
        self.search
            .lives()
            .filter(|life| !life.steps.is_empty())
            .collect()
    }

    /// Warnings that the history may be incomplete.
    pub fn warnings(&self) -> impl Iterator<Item = &'static str> {
        let ids = "the logs were read 16 times and each time had new ids of the order: the order may have more messages";
        let steps = "stopped after 100,000 messages (64 MiB); the order may have more";
        let all = [(self.search.has_more(), ids), (self.search.is_cut(), steps)];
        all.into_iter().filter(|(is, _)| *is).map(|(_, why)| why)
    }
}

/// Runs the command.
pub fn run(args: &OrderArgs) -> Result<ExitCode, Failure> {
    if args.sources.paths.iter().any(|path| path == Path::new("-")) {
        let why = "the standard input can be read once only: write it to a file first";
        return Err(Failure::Text(why.to_owned()));
    }
    let life = OrderLife::find(&args.sources, &args.index, &args.id)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let lives = life.lives();
    if args.json {
        for (order, life) in lives.iter().enumerate() {
            let mut steps = life.steps.iter();
            steps.try_for_each(|step| writeln!(out, "{}", object(order + 1, step)))?;
        }
    } else {
        ladders(&lives, &mut out)?;
    }
    out.flush()?;
    let is_whole = tell_left_out(&life.left_out);
    if lives.is_empty() {
        tell(
            "error",
            &format!("no message of an order {} found", args.id),
        );
    }
    life.warnings().for_each(|why| tell("warning", why));
    Ok(exit_code(is_whole && !lives.is_empty()))
}

/// Writes a sequence diagram for each order with this id.
pub fn ladders(lives: &[FoundOrder<'_>], out: &mut impl Write) -> io::Result<()> {
    for (at, life) in lives.iter().enumerate() {
        if lives.len() > 1 {
            writeln!(out, "order {} of {} with this id", at + 1, lives.len())?;
        }
        ladder(life, out)?;
    }
    Ok(())
}

/// Writes a line for each message, with its file when there are several files.
fn ladder(life: &FoundOrder<'_>, out: &mut impl Write) -> io::Result<()> {
    let names =
        Dictionary::built_in(Version::Fix50Sp2).over(&Dictionary::built_in(Version::Fixt11));
    let steps = &life.steps;
    let has_several = steps.windows(2).any(|pair| pair[0].file != pair[1].file);
    let mut rows = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| steps[at]);
        let bytes = masked(&step.bytes);
        let fields = fields_of_order(&bytes, &names, life.ids);
        let get = |tag| {
            let mut found = fields.iter().filter(|field| field.0 == tag);
            found.next().map(|(_, value)| *value)
        };
        let msg_type = get(35).unwrap_or_default();
        let mut name = match names.message(msg_type) {
            Some(known) => known.name().to_owned(),
            None => Escaped(msg_type).to_string(),
        };
        if let Some(kind) = get(150).and_then(|code| meaning(&names, 150, code)) {
            name += &format!(" {kind}");
        }
        if get(43) == Some(b"Y") {
            name += " (resent)";
        }
        if !step.mark.is_empty() {
            name += &format!(" [{}]", step.mark);
        }
        let [from, to] = ends(step);
        let time = step.time.map_or(String::new(), moment);
        let after = before.map_or(String::new(), |before| since(before, step));
        let ends = format!("{from} -> {to}");
        let file = Escaped(step.file.as_bytes()).to_string();
        rows.push([time, after, ends, name, file, shown_of(get)]);
    }
    if has_several {
        let heads = ["time", "after", "from", "message", "file", "fields"];
        return table(out, heads, rows);
    }
    let without =
        |[time, after, ends, name, _, fields]: [String; 6]| [time, after, ends, name, fields];
    let rows = rows.into_iter().map(without).collect();
    table(out, ["time", "after", "from", "message", "fields"], rows)
}

/// The name that the dictionary gives to a value.
fn meaning(names: &Dictionary, tag: Tag, value: &[u8]) -> Option<String> {
    let field = names.field(tag)?;
    let known = field
        .values
        .iter()
        .find(|known| known.value.as_bytes() == value)?;
    Some(known.name.to_string()).filter(|name| !name.is_empty())
}

/// The time between two steps.
fn since(before: &OrderStep, step: &OrderStep) -> String {
    let is_record = matches!(step.place, LogPlace::Journal { .. });
    if is_record && (&before.file, before.place) == (&step.file, step.place) {
        return "same turn".to_owned();
    }
    let (Some(from), Some(to)) = (before.time, step.time) else {
        return String::new();
    };
    let nanos = to.0.saturating_sub(from.0);
    let (sign, nanos) = if nanos < 0 {
        ('-', nanos.unsigned_abs())
    } else {
        ('+', nanos as u64)
    };
    match nanos {
        0..1_000 => format!("{sign}{nanos} ns"),
        1_000..1_000_000 => format!("{sign}{}.{:03} us", nanos / 1_000, nanos % 1_000),
        1_000_000..1_000_000_000 => {
            format!(
                "{sign}{}.{:03} ms",
                nanos / 1_000_000,
                nanos / 1_000 % 1_000
            )
        }
        _ => format!(
            "{sign}{}.{:03} s",
            nanos / 1_000_000_000,
            nanos / 1_000_000 % 1_000
        ),
    }
}

/// A message as JSON, with the number of its order.
fn object(order: usize, step: &OrderStep) -> serde_json::Value {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = fixwire::journal::write_escaped(&mut text, &masked(&step.bytes), false);
    let [from, to] = ends(step);
    json!({
        "order": order, "file": step.file, "place": step.place.to_string(), "time": step.time.map(moment),
        "from": from, "to": to, "mark": step.mark, "text": String::from_utf8_lossy(&text),
    })
}
