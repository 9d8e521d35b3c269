//! `fixwire dictionary`: shows, compares and converts dictionaries; converts messages to JSON and back.

use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use fixwire::dictionaries;
use fixwire_dictionary::delta::{self, Delta};
use fixwire_dictionary::{json as codec, write};
use fixwire_protocol::dictionary::{FieldDef, Member, MessageDef};
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::{Decoder, Dictionary};
use serde_json::{Value, json};

use crate::failure::Failure;

/// Subcommands of `fixwire dictionary`.
#[derive(Debug, Subcommand)]
pub enum DictionaryCommand {
    /// Prints the messages of a dictionary, or one message or field of it
    Show(ShowArgs),
    /// Prints the differences from the first dictionary to the second, as a delta
    Diff(DiffArgs),
    /// Writes a dictionary as XML
    Convert(DictionaryConvertArgs),
    /// Converts messages to JSON with the dictionary's names, and back
    Json(JsonArgs),
}

const NAME: &str =
    "A version (FIX.4.4), a QuickFIX or Orchestra file, or one of these followed by ' + DELTA'";

/// Arguments of `fixwire dictionary show`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire dictionary show FIX.4.4
  fixwire dictionary show FIX44-venue.xml D
  fixwire dictionary show 'FIX.4.4 + venue.delta' NewOrderSingle --json
  fixwire dictionary show OrchestraFIXLatest.xml OrdType")]
pub struct ShowArgs {
    #[arg(value_name = "NAME|FILE", help = NAME)]
    dictionary: String,
    /// A message by MsgType or name, or a field by name or tag
    #[arg(value_name = "MSGTYPE")]
    what: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `fixwire dictionary diff`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire dictionary diff FIX.4.2 FIX.4.4
  fixwire dictionary diff FIX.4.4 venue.xml > venue.delta
  fixwire dictionary show 'FIX.4.4 + venue.delta' D

The output is a delta: use it with DataDictionary=built-in + venue.delta. The exit code is 0 if both
dictionaries are equal and 1 if they differ.")]
pub struct DiffArgs {
    #[arg(value_name = "A", help = NAME)]
    before: String,
    #[arg(value_name = "B", help = NAME)]
    after: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `fixwire dictionary convert`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire dictionary convert OrchestraFIXLatest.xml --to quickfix > FIXLatest.xml
  fixwire dictionary convert 'FIX.4.4 + venue.delta' --to orchestra > venue.xml")]
pub struct DictionaryConvertArgs {
    #[arg(value_name = "NAME|FILE", help = NAME)]
    dictionary: String,
    /// The form to write
    #[arg(long, value_enum)]
    to: Form,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// A QuickFIX data dictionary
    Quickfix,
    /// A FIX Orchestra repository
    Orchestra,
}

/// Arguments of `fixwire dictionary json`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire dictionary json FIX.4.4 < messages.txt
  echo '8=FIX.4.4|9=5|35=0|10=163|' | fixwire dictionary json FIX.4.4
  fixwire dictionary json FIX.4.4 < messages.json

Reads one message per line from the standard input. Fields separated by | or SOH become JSON; a line that starts
with { becomes fields separated by |, with its lengths, counts and checksum recalculated. Nothing is masked.")]
pub struct JsonArgs {
    #[arg(value_name = "NAME|FILE", help = NAME)]
    dictionary: String,
}

/// Runs the command.
pub fn run(command: &DictionaryCommand) -> Result<ExitCode, Failure> {
    match command {
        DictionaryCommand::Show(args) => show(args),
        DictionaryCommand::Diff(args) => diff(args),
        DictionaryCommand::Convert(args) => {
            let dictionary = load(&args.dictionary)?;
            let text = match args.to {
                Form::Quickfix => write::quickfix(&dictionary),
                Form::Orchestra => write::orchestra(&dictionary),
            };
            io::stdout().lock().write_all(text.as_bytes())?;
            let messages = dictionary.messages().iter();
            let lost: usize = messages.map(|message| message.conditions().len()).sum();
            if lost > 0 {
                eprintln!(
                    "warning: conditions (FIELD required when ...) are left out: {lost}; only a delta file can express \
                     them"
                );
            }
            Ok(ExitCode::SUCCESS)
        }
        DictionaryCommand::Json(args) => translate(args),
    }
}

/// The dictionary of an argument.
pub fn load(name: &str) -> Result<Dictionary, Failure> {
    dictionaries::load(name, None).map_err(|error| Failure::Text(error.to_string()))
}

fn show(args: &ShowArgs) -> Result<ExitCode, Failure> {
    let dictionary = load(&args.dictionary)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let Some(what) = &args.what else {
        match args.json {
            true => writeln!(out, "{:#}", overview_json(&dictionary))?,
            false => overview(&dictionary, &mut out)?,
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let message = dictionary
        .message(what.as_bytes())
        .or_else(|| dictionary.message_named(what));
    let by_tag = || dictionary.field(what.parse().ok()?);
    match (message, dictionary.field_named(what).or_else(by_tag)) {
        (Some(message), _) if args.json => {
            writeln!(out, "{:#}", message_json(&dictionary, message))?;
        }
        (Some(message), _) => message_table(&dictionary, message, &mut out)?,
        (None, Some(field)) if args.json => writeln!(out, "{:#}", field_json(field))?,
        (None, Some(field)) => field_table(field, &mut out)?,
        (None, None) => {
            return Err(Failure::Text(format!(
                "{} has no message and no field {what}",
                args.dictionary
            )));
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn overview(dictionary: &Dictionary, out: &mut impl Write) -> io::Result<()> {
    let (fields, messages) = (dictionary.fields().len(), dictionary.messages());
    writeln!(
        out,
        "{}: {fields} fields, {} messages, {} components\n",
        Escaped(dictionary.version().as_bytes()),
        messages.len(),
        dictionary.components().len()
    )?;
    let rows = messages.iter().map(|message| {
        let members = message.members();
        let required = members.iter().filter(|member| member.required).count();
        let groups = members
            .iter()
            .filter(|member| member.group.is_some())
            .count();
        [
            message.msg_type().to_owned(),
            message.name().to_owned(),
            members.len().to_string(),
            required.to_string(),
            groups.to_string(),
            message.conditions().len().to_string(),
        ]
    });
    let head = [
        "MsgType",
        "Message",
        "Fields",
        "Required",
        "Groups",
        "Conditions",
    ];
    table(head.map(str::to_owned), rows.collect(), out)
}

fn message_table(
    dictionary: &Dictionary,
    message: &MessageDef,
    out: &mut impl Write,
) -> io::Result<()> {
    let name = Escaped(message.name().as_bytes());
    writeln!(
        out,
        "{name} ({}), without header and trailer\n",
        message.msg_type()
    )?;
    let mut rows = Vec::new();
    member_rows(dictionary, message.members(), 0, &mut rows);
    let head = ["Tag", "Field", "Required", "Type", "Values"];
    table(head.map(str::to_owned), rows, out)?;
    let conditions = conditions(dictionary, message);
    if !conditions.is_empty() {
        writeln!(out)?;
    }
    for condition in conditions {
        writeln!(out, "{}", Escaped(condition.as_bytes()))?;
    }
    Ok(())
}

/// The conditions of a message as statements of a delta file.
fn conditions(dictionary: &Dictionary, message: &MessageDef) -> Vec<String> {
    let conditions = message.conditions().iter();
    conditions
        .map(|condition| delta::statement(condition, dictionary, message.name()))
        .collect()
}

/// Number of values that a line shows; further values are only counted.
const VALUES: usize = 8;

fn member_rows(
    dictionary: &Dictionary,
    members: &[Member],
    depth: usize,
    rows: &mut Vec<[String; 5]>,
) {
    for member in members {
        let Some(field) = dictionary.field(member.tag) else {
            continue;
        };
        let mut values: Vec<&str> = field
            .values
            .iter()
            .take(VALUES)
            .map(|value| value.value.as_str())
            .collect();
        let more = format!("+{}", field.values.len().saturating_sub(VALUES));
        if field.values.len() > VALUES {
            values.push(&more);
        }
        rows.push([
            member.tag.to_string(),
            format!("{:1$}{2}", "", 2 * depth, field.name),
            if member.required { "Y" } else { "" }.to_owned(),
            field.kind.quickfix_name().to_owned(),
            values.join(" "),
        ]);
        if let Some(group) = &member.group {
            member_rows(dictionary, group.members(), depth + 1, rows);
        }
    }
}

fn field_table(field: &FieldDef, out: &mut impl Write) -> io::Result<()> {
    let kind = field.kind.quickfix_name();
    writeln!(
        out,
        "{}({}), {kind}\n",
        Escaped(field.name.as_bytes()),
        field.tag
    )?;
    let rows = field.values.iter();
    let rows = rows.map(|value| [value.value.clone(), value.name.clone()]);
    table(["Value", "Meaning"].map(str::to_owned), rows.collect(), out)
}

/// Prints columns that are as wide as their widest cell, with two spaces between them.
fn table<const N: usize>(
    head: [String; N],
    rows: Vec<[String; N]>,
    out: &mut impl Write,
) -> io::Result<()> {
    let escape = |row: [String; N]| row.map(|cell| Escaped(cell.as_bytes()).to_string());
    let rows: Vec<[String; N]> = std::iter::once(head).chain(rows).map(escape).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line += &format!("{cell:width$}  ");
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn overview_json(dictionary: &Dictionary) -> Value {
    let messages = dictionary.messages().iter();
    let messages = messages.map(|message| {
        json!({ "msgType": message.msg_type(), "name": message.name(), "members": message.members().len() })
    });
    let components = dictionary.components().iter();
    let components = components.map(|component| component.name.as_str());
    json!({
        "version": dictionary.version(),
        "fields": dictionary.fields().len(),
        "components": components.collect::<Vec<_>>(),
        "messages": messages.collect::<Vec<_>>(),
    })
}

fn message_json(dictionary: &Dictionary, message: &MessageDef) -> Value {
    json!({
        "msgType": message.msg_type(),
        "name": message.name(),
        "members": members_json(dictionary, message.members()),
        "conditions": conditions(dictionary, message),
    })
}

fn members_json(dictionary: &Dictionary, members: &[Member]) -> Vec<Value> {
    let member = |member: &Member| {
        let field = dictionary.field(member.tag);
        let group = member.group.as_deref();
        let group = group.map(|group| members_json(dictionary, group.members()));
        json!({
            "tag": member.tag,
            "name": field.map(|field| field.name.as_str()),
            "type": field.map(|field| field.kind.quickfix_name()),
            "required": member.required,
            "group": group,
        })
    };
    members.iter().map(member).collect()
}

fn field_json(field: &FieldDef) -> Value {
    let values = field.values.iter();
    let values = values.map(|value| json!({ "value": value.value, "name": value.name }));
    json!({
        "tag": field.tag,
        "name": field.name,
        "type": field.kind.quickfix_name(),
        "values": values.collect::<Vec<_>>(),
        "partner": field.partner,
    })
}

fn diff(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let (before, after) = (load(&args.before)?, load(&args.after)?);
    let delta = Delta::between(&before, &after);
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        let all = json!({
            "before": before.version(), "after": after.version(), "equal": delta.is_empty(),
            "changes": delta.statements().collect::<Vec<_>>(),
        });
        writeln!(out, "{all:#}")?;
    } else {
        for statement in delta.statements() {
            writeln!(out, "{}", Escaped(statement.as_bytes()))?;
        }
    }
    out.flush()?;
    Ok(match delta.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Maximum number of fields of a message, and of bytes of a line.
const FIELDS: usize = 4096;
const LONGEST_LINE: u64 = 64 << 20;

fn translate(args: &JsonArgs) -> Result<ExitCode, Failure> {
    let dictionary = load(&args.dictionary)?;
    let mut decoder = Decoder::with_capacity(FIELDS);
    decoder.learn(&dictionary);
    let mut input = io::stdin().lock();
    let mut out = BufWriter::new(io::stdout().lock());
    for number in 1.. {
        let mut line = Vec::new();
        let mut limited = io::Read::take(&mut input, LONGEST_LINE);
        limited
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::Text(format!("cannot read the standard input: {error}")))?;
        if line.is_empty() {
            break;
        }
        while line
            .last()
            .is_some_and(|last| matches!(last, b'\n' | b'\r'))
        {
            line.pop();
        }
        if line.is_empty() {
            continue;
        }
        let wrong = |what: String| Failure::Text(format!("line {number}: {what}"));
        if line.first() == Some(&b'{') {
            let text = std::str::from_utf8(&line).map_err(|error| wrong(error.to_string()))?;
            let bytes = codec::read(&dictionary, text).map_err(|error| wrong(error.to_string()))?;
            let bytes = bytes
                .into_iter()
                .map(|byte| if byte == 1 { b'|' } else { byte });
            let line: Vec<u8> = bytes.chain(*b"\n").collect();
            out.write_all(&line)?;
            continue;
        }
        if !line.contains(&1) {
            line.iter_mut()
                .filter(|byte| **byte == b'|')
                .for_each(|byte| *byte = 1);
        }
        let json = codec::write(&dictionary, &decoder.decode_whole(&line));
        writeln!(out, "{}", json.map_err(|error| wrong(error.to_string()))?)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
