//! `fixwire log export`: messages as tables for spreadsheets and programs.

#[cfg(feature = "parquet")]
use std::io::IsTerminal;
use std::io::{self, BufWriter, Stdout, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fixwire_dictionary::json as codec;
use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::readable::{Escaped, ReadableValue};
use fixwire_protocol::{Dictionary, Message};
use fixwire_reader::{ExportColumns, LogEntry, LogStep, ShortQuery, covered};
#[cfg(feature = "parquet")]
use fixwire_reader::{ParquetExport, ParquetKind, ParquetValue};
use serde_json::Value;

use super::sources::{NotWritten, Sources, exit_code, tell_left_out, way};
use super::summary::moment;
use crate::failure::Failure;
use crate::query::Shelf;

/// Maximum number of fields of a message.
const FIELDS: usize = 4096;
/// The columns of every table.
const HEADS: [&str; 5] = ["file", "place", "time", "session", "direction"];

/// Arguments of `fixwire log export`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log export --fields 35,34,11,55,OrderQty logs > orders.csv
  fixwire log export --format jsonl --of '35=8 55=VOD' logs | jq .message.Body.ExecID
  fixwire log export --format jsonl --dictionary 'FIX.4.4 + venue.delta' store

CSV has the columns file, place, time, session, direction, and the fields of --fields, given by tag or name; |
separates the values of a field that occurs several times. Parquet, for a fixwire that was built with --features
parquet, has the same columns. JSON lines have one object for each message: file, place, time, session, direction, and
the message as `fixwire dictionary json` writes it. Secrets (554, 925, 96, 1402, 1404) are masked; in JSON each
character is a *.
Messages that cannot be written as JSON (a malformed field, a field twice in a row, a wrong count of a group) are left
out; the output names them, and the exit code is 1. It is also 1 if something could not be read.")]
pub struct LogExportArgs {
    #[command(flatten)]
    sources: Sources,
    /// The form to write
    #[arg(long, value_enum, default_value = "csv")]
    format: Form,
    /// Columns: tags or names
    #[arg(
        long,
        value_name = "FIELDS",
        default_value = "35,34,49,56,52,11,41,37,17,150,39,55,54,38,44,32,31,58"
    )]
    fields: String,
    /// Export only messages that match: terms such as 35=8 55~^TX
    #[arg(long, value_name = "QUERY")]
    of: Option<String>,
    /// The dictionary of JSON names, by name or file [default: the built-in one of each message]
    #[arg(long, value_name = "NAME|FILE")]
    dictionary: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Form {
    /// Comma-separated values with a heading
    Csv,
    /// One JSON object per line
    Jsonl,
    /// A Parquet file with the columns of CSV
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Runs the command.
pub fn run(args: &LogExportArgs) -> Result<ExitCode, Failure> {
    let query = args.of.as_deref().map(ShortQuery::parse);
    let query = query.transpose().map_err(Failure::Text)?;
    let mut decoder = Decoder::with_capacity(FIELDS);
    let mut reader = args.sources.open(false)?;
    let mut target = Target::new(args, &mut decoder)?;
    while let LogStep::Message(entry) = reader.next_step() {
        if query
            .as_ref()
            .is_some_and(|query| !query.may_match(entry.bytes))
        {
            continue;
        }
        let message = decoder.decode_whole(entry.bytes);
        if query.as_ref().is_none_or(|query| query.matches(&message)) {
            target.add(&entry, &message)?;
        }
    }
    let all_written = target.finish()?;
    let is_whole = tell_left_out(&reader.take_left_out());
    Ok(exit_code(is_whole && all_written))
}

/// The output.
enum Target {
    Csv(ExportColumns, BufWriter<Stdout>),
    Jsonl(Box<JsonLines>),
    #[cfg(feature = "parquet")]
    Parquet(ExportColumns, Box<ParquetExport<BufWriter<Stdout>>>),
}

struct JsonLines {
    shelf: Shelf,
    decoder: Decoder,
    not_written: NotWritten,
    out: BufWriter<Stdout>,
}

impl Target {
    /// The output that the arguments choose. Adds to the decoder the data fields that the output needs.
    fn new(args: &LogExportArgs, decoder: &mut Decoder) -> Result<Self, Failure> {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
        let transport = Dictionary::built_in(Version::Fixt11);
        let names = Dictionary::built_in(Version::Fix50Sp2).over(&transport);
        let columns = ExportColumns::parse(&args.fields, &names).map_err(Failure::Text)?;
        Ok(match args.format {
            Form::Csv => {
                out.write_all(HEADS.join(",").as_bytes())?;
                columns.write_heads(&mut out)?;
                writeln!(out)?;
                Self::Csv(columns, out)
            }
            Form::Jsonl => {
                let shelf = Shelf::new(args.dictionary.as_deref())?;
                shelf.teach(decoder);
                Self::Jsonl(Box::new(JsonLines {
                    shelf,
                    decoder: decoder.clone(),
                    not_written: NotWritten::default(),
                    out,
                }))
            }
            #[cfg(feature = "parquet")]
            Form::Parquet => {
                if io::stdout().is_terminal() {
                    let why = "Parquet is not text: write it to a file, as in > orders.parquet";
                    return Err(Failure::Text(why.to_owned()));
                }
                let names: Vec<_> = HEADS.into_iter().chain(columns.names()).collect();
                let twice = (1..names.len()).find(|at| names[..*at].contains(&names[*at]));
                if let Some(at) = twice {
                    let why = format!(
                        "the column {} is named twice, which programs that read Parquet refuse: name it once in --fields",
                        names[at]
                    );
                    return Err(Failure::Text(why));
                }
                let heads = names.into_iter().map(|name| match name {
                    "time" => (name, ParquetKind::Time),
                    _ => (name, ParquetKind::Text),
                });
                let file = ParquetExport::new(out, &heads.collect::<Vec<_>>())?;
                Self::Parquet(columns, Box::new(file))
            }
        })
    }

    fn add(&mut self, entry: &LogEntry<'_>, message: &Message<'_>) -> io::Result<()> {
        match self {
            Self::Csv(columns, out) => {
                write_source(entry, out)?;
                columns.write_values(message, out)?;
                writeln!(out)
            }
            Self::Jsonl(lines) => match json_of(message, &lines.shelf, &mut lines.decoder) {
                Ok(text) => write_object(entry, &text, &mut lines.out),
                Err(why) => {
                    lines.not_written.add(entry, &why);
                    Ok(())
                }
            },
            #[cfg(feature = "parquet")]
            Self::Parquet(columns, file) => {
                let [name, place, named] = [
                    Escaped(entry.file.as_bytes()).to_string(),
                    entry.place.to_string(),
                    session(entry),
                ];
                let source = [
                    Some(ParquetValue::Text(&name)),
                    Some(ParquetValue::Text(&place)),
                    entry.time().0.map(|time| ParquetValue::Time(time.0)),
                    Some(ParquetValue::Text(&named)),
                    entry
                        .direction()
                        .map(|it| ParquetValue::Text(way(Some(it)))),
                ];
                let values: Vec<_> = columns.values(message).collect();
                let values = values.iter().map(Option::as_deref);
                let values = values.map(|value| value.map(ParquetValue::Text));
                file.add(source.into_iter().chain(values))
            }
        }
    }

    /// Ends the output; returns whether all of it could be written.
    fn finish(self) -> io::Result<bool> {
        match self {
            Self::Csv(_, mut out) => {
                out.flush()?;
                Ok(true)
            }
            Self::Jsonl(mut lines) => {
                lines.out.flush()?;
                Ok(lines.not_written.tell())
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(_, file) => {
                file.finish()?;
                Ok(true)
            }
        }
    }
}

fn json_of(
    message: &Message<'_>,
    shelf: &Shelf,
    decoder: &mut Decoder,
) -> Result<String, codec::JsonError> {
    let dictionary = shelf.dictionary(shelf.place(message));
    let bytes = covered(message);
    codec::write(dictionary, &decoder.decode_whole(&bytes))
}

/// The name of the message's session, cut if it is very long.
fn session(entry: &LogEntry<'_>) -> String {
    ReadableValue(49, entry.session().as_bytes()).to_string()
}

fn write_source(entry: &LogEntry<'_>, out: &mut impl Write) -> io::Result<()> {
    let cells = [
        Escaped(entry.file.as_bytes()).to_string(),
        entry.place.to_string(),
        entry.time().0.map_or(String::new(), moment),
        session(entry),
        entry.direction().map_or("", |it| way(Some(it))).to_owned(),
    ];
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        ExportColumns::write_cell(cell, out)?;
    }
    Ok(())
}

fn write_object(entry: &LogEntry<'_>, message: &str, out: &mut impl Write) -> io::Result<()> {
    let members = [
        ("file", Value::from(entry.file)),
        ("place", entry.place.to_string().into()),
        ("time", entry.time().0.map(moment).into()),
        ("session", entry.session().into()),
        (
            "direction",
            entry.direction().map(|it| way(Some(it))).into(),
        ),
    ];
    out.write_all(b"{")?;
    for (name, value) in members {
        write!(out, "\"{name}\":{value},")?;
    }
    writeln!(out, "\"message\":{message}}}")
}
