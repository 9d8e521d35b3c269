//! `fixwire log summary`: the contents and problems of logs.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Args;
use fixwire::journal::write_moment;
use fixwire_protocol::Dictionary;
use fixwire_protocol::Timestamp;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::readable::Escaped;
use fixwire_reader::{LeftOut, LogSource, LogStep, LogSummary, SessionSummary};
use serde_json::{Value, json};

use super::sources::{Sources, exit_code, tell_left_out};
use crate::failure::Failure;

/// Arguments of `fixwire log summary`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log summary FIX.4.4-BROKER-CLIENT.messages.current.log
  fixwire log summary --ours BROKER --json logs capture.pcapng store

The time of a message is that of its log line, or its SendingTime(52) if the line has none; the last table counts the
messages with each source of times. A gap is a sequence number that is higher than expected; `fixwire log gaps` lists
the gaps. The exit code is 1 if something could not be read; the output names each such part.")]
pub struct SummaryArgs {
    #[command(flatten)]
    sources: Sources,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &SummaryArgs) -> Result<ExitCode, Failure> {
    let mut reader = args.sources.open(false)?;
    let mut summary = LogSummary::default();
    while let LogStep::Message(entry) = reader.next_step() {
        summary.add(&entry);
    }
    let sources = reader.sources();
    let left_out = reader.take_left_out();
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        writeln!(out, "{:#}", object(&summary, &sources, &left_out))?;
    } else {
        print(&summary, &sources, &mut out)?;
    }
    out.flush()?;
    Ok(exit_code(tell_left_out(&left_out)))
}

fn print(summary: &LogSummary, sources: &[LogSource], out: &mut impl Write) -> io::Result<()> {
    let rows = sources
        .iter()
        .filter(|source| !source.kind.is_empty())
        .map(|source| {
            let file = Escaped(source.file.as_bytes()).to_string();
            let other = source.other_lines.to_string();
            [
                file,
                source.kind.clone(),
                source.messages.to_string(),
                other,
            ]
        });
    table(
        out,
        ["file", "kind", "messages", "other lines"],
        rows.collect(),
    )?;
    let rows = summary.sessions.iter().map(|(name, session)| {
        let [first, last] = times(session.times);
        [
            Escaped(name.as_bytes()).to_string(),
            session.received.to_string(),
            session.sent.to_string(),
            session.unknown.to_string(),
            session.duplicates.to_string(),
            session.rejects.to_string(),
            first,
            last,
        ]
    });
    let heads = [
        "session", "in", "out", "?", "resent", "rejects", "first", "last",
    ];
    table(out, heads, rows.collect())?;
    let names =
        Dictionary::built_in(Version::Fix50Sp2).over(&Dictionary::built_in(Version::Fixt11));
    let rows = summary.types.iter().map(|(code, count)| {
        let name = names.message(code.as_bytes());
        let name = name.map_or(String::new(), |known| known.name().to_owned());
        [
            Escaped(code.as_bytes()).to_string(),
            name,
            count.to_string(),
        ]
    });
    table(out, ["type", "name", "messages"], rows.collect())?;
    let (gaps, missing) = summary.gaps.totals();
    let mut rows: Vec<[String; 3]> = Vec::new();
    for (fault, (count, place)) in &summary.faults {
        rows.push([(*fault).to_owned(), count.to_string(), place.clone()]);
    }
    if gaps > 0 {
        let first = summary
            .gaps
            .senders
            .values()
            .flat_map(|sender| &sender.gaps)
            .next();
        let place = first.map_or(String::new(), |gap| gap.place.clone());
        let what = format!("gaps in sequence numbers ({missing} not filled)");
        rows.push([what, gaps.to_string(), place]);
    }
    table(out, ["problem", "count", "first"], rows)?;
    let rows = summary.time_sources.iter();
    let rows = rows.map(|(source, count)| [source.name().to_owned(), count.to_string()]);
    table(out, ["time from", "messages"], rows.collect())?;
    writeln!(out, "{} messages", summary.messages)
}

/// Writes a table with aligned columns, followed by an empty line. Writes nothing if there are no rows.
pub fn table<const N: usize>(
    out: &mut impl Write,
    heads: [&str; N],
    rows: Vec<[String; N]>,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].len()]).max().unwrap_or(0)
    });
    let right: [bool; N] =
        std::array::from_fn(|column| rows.iter().all(|row| is_number(&row[column])));
    for row in [heads.map(str::to_owned)].iter().chain(&rows) {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            line += &match right[column] {
                true => format!("{cell:>width$}  "),
                false => format!("{cell:<width$}  "),
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

/// The first and the last time as text; empty texts for `None`.
fn times(times: Option<(Timestamp, Timestamp)>) -> [String; 2] {
    times.map_or(Default::default(), |(first, last)| {
        [first, last].map(moment)
    })
}

/// A time as text.
pub fn moment(time: Timestamp) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_moment(&mut text, time);
    String::from_utf8_lossy(&text).into_owned()
}

fn object(summary: &LogSummary, sources: &[LogSource], left_out: &[LeftOut]) -> Value {
    let span = |times: Option<(Timestamp, Timestamp)>| {
        times.map(|(first, last)| json!({ "first": moment(first), "last": moment(last) }))
    };
    let files = sources.iter().map(|source| {
        json!({
            "file": source.file, "kind": source.kind, "messages": source.messages,
            "otherLines": source.other_lines,
        })
    });
    let sessions = summary.sessions.iter().map(|(name, session)| {
        let SessionSummary {
            received,
            sent,
            unknown,
            duplicates,
            rejects,
            times,
            ..
        } = session;
        json!({
            "session": name, "in": received, "out": sent, "unknown": unknown, "resent": duplicates,
            "rejects": rejects, "times": span(*times),
        })
    });
    let faults = summary.faults.iter();
    let faults = faults
        .map(|(fault, (count, first))| json!({ "fault": fault, "count": count, "first": first }));
    let sources = summary.time_sources.iter();
    let sources: serde_json::Map<_, _> = sources
        .map(|(source, count)| (source.name().to_owned(), json!(count)))
        .collect();
    let left_out = left_out.iter().map(|what| {
        json!({
            "file": what.file, "connection": what.connection, "at": what.at, "bytes": what.len,
            "why": what.why,
        })
    });
    let (gaps, missing) = summary.gaps.totals();
    json!({
        "messages": summary.messages, "times": span(summary.times), "files": files.collect::<Vec<_>>(),
        "sessions": sessions.collect::<Vec<_>>(), "types": summary.types, "timesFrom": sources,
        "faults": faults.collect::<Vec<_>>(), "gaps": gaps, "missing": missing,
        "notRead": left_out.collect::<Vec<_>>(),
    })
}
