//! `fixwire log validate`: finds messages that a session would reject.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::ValidationRules;
use fixwire_protocol::readable::Escaped;
use fixwire_reader::{LogEntry, LogStep, LogValidation, MessageProblem};
use serde_json::json;

use super::sources::{Sources, exit_code, tell_left_out, way, write_time};
use super::summary::{moment, table};
use crate::failure::Failure;
use crate::query::Shelf;

/// Arguments of `fixwire log validate`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log validate FIX.4.4-BROKER-CLIENT.messages.current.log
  fixwire log validate --dictionary 'FIX.4.4 + venue.delta' --counts logs
  fixwire log validate --without validate-user-defined-fields store

A message is validated against the dictionary of its BeginString(8). Over FIXT.1.1, it is validated against the
dictionary of its ApplVerID(1128), or else of the DefaultApplVerID(1137) in the sender's Logon. --dictionary names one
dictionary for all messages. The checks are those of a session with all its settings on. Like a session, the command
reports the first problem of a message. A frame with a wrong BodyLength(9) or CheckSum(10) is a problem too. Each line
has place, time, session, direction, MsgType(35), MsgSeqNum(34), reason, tag and value; counts follow. The exit code
is 1 if a message has a problem, or if something could not be read; the output names each such part.")]
pub struct ValidateArgs {
    #[command(flatten)]
    sources: Sources,
    /// The dictionary of all messages, by name or file [default: the built-in one of each message]
    #[arg(long, value_name = "NAME|FILE")]
    dictionary: Option<String>,
    /// Leave out a check, named as the setting that turns it off; may be given several times
    #[arg(long, value_name = "CHECK")]
    without: Vec<Check>,
    /// Accept usernames and passwords in the Logon of any version, as an acceptor that compares them does
    #[arg(long)]
    logon_credentials: bool,
    /// Print counts only
    #[arg(long)]
    counts: bool,
    /// Print one JSON object for each problem, and one of counts
    #[arg(long)]
    json: bool,
}

/// A check that settings turn off.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Check {
    ValidateFieldsOutOfOrder,
    ValidateFieldsHaveValues,
    ValidateUserDefinedFields,
    ValidateUnorderedGroupFields,
    ValidateConditionalFields,
    UnknownMsgFields,
    UnknownEnumValues,
}

fn rules(args: &ValidateArgs) -> ValidationRules {
    let has = |check| !args.without.contains(&check);
    ValidationRules {
        fields_out_of_order: has(Check::ValidateFieldsOutOfOrder),
        fields_have_values: has(Check::ValidateFieldsHaveValues),
        user_defined_fields: has(Check::ValidateUserDefinedFields),
        unordered_group_fields: has(Check::ValidateUnorderedGroupFields),
        conditional_fields: has(Check::ValidateConditionalFields),
        allow_unknown_msg_fields: !has(Check::UnknownMsgFields),
        allow_unknown_enum_values: !has(Check::UnknownEnumValues),
        logon_credentials: args.logon_credentials,
        ..ValidationRules::default()
    }
}

/// Runs the command.
pub fn run(args: &ValidateArgs) -> Result<ExitCode, Failure> {
    let shelf = Shelf::new(args.dictionary.as_deref())?;
    let mut decoder = Decoder::with_capacity(4096);
    shelf.teach(&mut decoder);
    let mut validation = LogValidation::new(rules(args), decoder);
    let mut reader = args.sources.open(false)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    while let LogStep::Message(entry) = reader.next_step() {
        let problem = validation.check(&entry, |message, default| {
            let place = shelf.known_place(message, default)?;
            Some(shelf.dictionary(place))
        });
        match problem {
            Some(problem) if args.json && !args.counts => {
                writeln!(out, "{}", object(&entry, &problem))?;
            }
            Some(problem) if !args.counts => write(&entry, &problem, &mut out)?,
            _ => {}
        }
    }
    let counts = validation.counts.iter();
    if args.json {
        let counts = counts.map(|([reason, tag, msg_type], found)| {
            json!({ "reason": reason, "tag": tag, "msgType": msg_type, "count": found.count, "first": found.first })
        });
        let counts = json!({
            "messages": validation.messages, "invalid": validation.invalid, "counts": counts.collect::<Vec<_>>(),
        });
        writeln!(out, "{counts}")?;
    } else {
        if validation.invalid > 0 && !args.counts {
            writeln!(out)?;
        }
        let rows = counts.map(|([reason, tag, msg_type], found)| {
            let first = Escaped(found.first.as_bytes()).to_string();
            let [reason, tag, msg_type] = [reason, tag, msg_type].map(Clone::clone);
            [reason, tag, msg_type, found.count.to_string(), first]
        });
        let heads = ["reason", "tag", "type", "messages", "first"];
        table(&mut out, heads, rows.collect())?;
        let (all, invalid) = (validation.messages, validation.invalid);
        writeln!(out, "{invalid} of {all} messages have a problem")?;
    }
    out.flush()?;
    let is_whole = tell_left_out(&reader.take_left_out());
    Ok(exit_code(is_whole && validation.invalid == 0))
}

fn write(entry: &LogEntry<'_>, problem: &MessageProblem, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{}:{} ", Escaped(entry.file.as_bytes()), entry.place)?;
    write_time(entry, out)?;
    let session = entry.session();
    let text = |tag| Escaped(entry.get(tag).unwrap_or(b"?")).to_string();
    write!(
        out,
        " {} {:<3} 35={} 34={}: {}",
        Escaped(session.as_bytes()),
        way(entry.direction()),
        text(35),
        text(34),
        problem.reason
    )?;
    match (&problem.tag, &problem.value) {
        (Some(tag), Some(value)) => writeln!(out, ": {tag}={value}"),
        (Some(tag), None) => writeln!(out, ": {tag}"),
        (None, Some(value)) => writeln!(out, ": {value}"),
        (None, None) => writeln!(out),
    }
}

fn object(entry: &LogEntry<'_>, problem: &MessageProblem) -> serde_json::Value {
    let text = |tag| entry.get(tag).map(|value| Escaped(value).to_string());
    json!({
        "file": entry.file, "place": entry.place.to_string(), "time": entry.time().0.map(moment),
        "session": entry.session(), "direction": entry.direction().map(|it| way(Some(it))), "msgType": text(35),
        "msgSeqNum": text(34), "reason": problem.reason, "sessionRejectReason": problem.code, "tag": problem.tag,
        "value": problem.value,
    })
}
