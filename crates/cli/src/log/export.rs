//! `fixwire log export`: messages for spreadsheets and programs.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fixwire_dictionary::json as codec;
use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::{Dictionary, Message};
use fixwire_reader::{CsvColumns, LogEntry, LogStep, ShortQuery, covered};
use serde_json::Value;

use super::sources::{NotWritten, Sources, exit_code, tell_left_out, way};
use super::summary::moment;
use crate::failure::Failure;
use crate::query::Shelf;

/// Fields of a message.
const FIELDS: usize = 4096;
/// The columns of every table.
const HEADS: &str = "file,place,time,session,direction";

/// Arguments of `fixwire log export`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log export --fields 35,34,11,55,OrderQty logs > orders.csv
  fixwire log export --format jsonl --of '35=8 55=VOD' logs | jq .message.Body.ExecID
  fixwire log export --format jsonl --dictionary 'FIX.4.4 + venue.delta' store

CSV has the columns file, place, time, session, direction and those of --fields: tags or names; a field that occurs several times
has its values with | between them. JSON lines have an object a message: file, place, time, session, direction, and the message
as `fixwire dictionary json` writes it. Secrets (554, 925, 96, 1402, 1404) are masked; in JSON by as many *.
Messages that cannot be JSON (a malformed field, a field twice in a row, a wrong count of a group) are left out, and named; the
exit code is then 1, and if something could not be read.")]
pub struct LogExportArgs {
    #[command(flatten)]
    sources: Sources,
    /// The form to write
    #[arg(long, value_enum, default_value = "csv")]
    format: Form,
    /// Columns of CSV: tags or names
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
    /// A JSON object a line
    Jsonl,
}

/// Runs the command.
pub fn run(args: &LogExportArgs) -> Result<ExitCode, Failure> {
    let query = args.of.as_deref().map(ShortQuery::parse);
    let query = query.transpose().map_err(Failure::Text)?;
    let mut decoder = Decoder::with_capacity(FIELDS);
    let shelf = match args.format {
        Form::Csv => None,
        Form::Jsonl => Some(Shelf::new(args.dictionary.as_deref())?),
    };
    if let Some(shelf) = &shelf {
        shelf.teach(&mut decoder);
    }
    let names =
        Dictionary::built_in(Version::Fix50Sp2).over(&Dictionary::built_in(Version::Fixt11));
    let columns = CsvColumns::parse(&args.fields, &names).map_err(Failure::Text)?;
    let mut second = decoder.clone();
    let mut reader = args.sources.open(false)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if shelf.is_none() {
        write!(out, "{HEADS}")?;
        columns.write_heads(&mut out)?;
        writeln!(out)?;
    }
    let mut not_written = NotWritten::default();
    while let LogStep::Message(entry) = reader.next_step() {
        if query
            .as_ref()
            .is_some_and(|query| !query.may_match(entry.bytes))
        {
            continue;
        }
        let message = decoder.decode(entry.bytes);
        if query.as_ref().is_some_and(|query| !query.matches(&message)) {
            continue;
        }
        let Some(shelf) = &shelf else {
            write_source(&entry, &mut out)?;
            columns.write_values(&message, &mut out)?;
            writeln!(out)?;
            continue;
        };
        match json_of(&message, shelf, &mut second) {
            Ok(text) => write_object(&entry, &text, &mut out)?,
            Err(why) => not_written.add(&entry, &why),
        }
    }
    out.flush()?;
    let all_written = not_written.tell();
    let is_whole = tell_left_out(&reader.take_left_out());
    Ok(exit_code(is_whole && all_written))
}

fn json_of(
    message: &Message<'_>,
    shelf: &Shelf,
    decoder: &mut Decoder,
) -> Result<String, codec::JsonError> {
    let dictionary = shelf.dictionary(shelf.place(message));
    let bytes = covered(message);
    codec::write(dictionary, &decoder.decode(&bytes))
}

fn write_source(entry: &LogEntry<'_>, out: &mut impl Write) -> io::Result<()> {
    let cells = [
        Escaped(entry.file.as_bytes()).to_string(),
        entry.place.to_string(),
        entry.time().0.map_or(String::new(), moment),
        Escaped(entry.session().as_bytes()).to_string(),
        entry.direction().map_or("", |it| way(Some(it))).to_owned(),
    ];
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        CsvColumns::write_cell(cell, out)?;
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
