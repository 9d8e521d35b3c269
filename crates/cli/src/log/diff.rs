//! `fixwire log diff`: compares the logs of both sides of a session.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::{Dictionary, Tag};
use fixwire_reader::{
    DiffFinding, DiffMessage, DiffSide, FieldDifference, LogDiff, LogReader, LogZone, ReadOptions,
};
use serde_json::{Value, json};

use super::sources::{exit_code, tell_left_out};
use super::summary::moment;
use crate::failure::{Failure, tell};

/// Arguments of `fixwire log diff`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log diff FIX.4.4-BROKER-CLIENT.messages.current.log from-client/FIX.4.4-CLIENT-BROKER.messages.current.log
  fixwire log diff store capture.pcapng
  fixwire log diff --ignore 52,122 ours theirs

A message of one side matches the message of the other side with the same SenderCompID(49), TargetCompID(56),
MsgSeqNum(34) and PossDupFlag(43). When a MsgSeqNum occurs again after a reset, SendingTime(52) decides. The output
lists messages that only one side has, with their places, and for messages that differ each field that differs. Fields
of --ignore may differ, and then BodyLength(9) and CheckSum(10) too.
The exit code is 1 if the sides differ, or if something could not be read; the output names each such part.")]
pub struct LogDiffArgs {
    /// A log, capture, journal, or folder with them
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The other side
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Tags of fields that may differ
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    ignore: Vec<Tag>,
    /// The time zone of lines whose time has none: UTC, +08:00 or Asia/Taipei [default: UTC]
    #[arg(long, value_name = "ZONE", value_parser = LogZone::parse)]
    zone: Option<LogZone>,
    /// Print one JSON object for each difference, and one of counts
    #[arg(long)]
    json: bool,
}

impl LogDiffArgs {
    fn open(&self, path: &Path) -> Result<LogReader, Failure> {
        let options = ReadOptions {
            zone: self.zone.clone().unwrap_or_else(LogZone::utc),
            ..ReadOptions::default()
        };
        LogReader::open(&[path.to_owned()], options).map_err(Failure::Text)
    }
}

/// Runs the command.
pub fn run(args: &LogDiffArgs) -> Result<ExitCode, Failure> {
    if args.a == Path::new("-") && args.b == Path::new("-") {
        let why = "only one side can be the standard input: write the other side to a file";
        return Err(Failure::Text(why.to_owned()));
    }
    let (mut a, mut b) = (args.open(&args.a)?, args.open(&args.b)?);
    let mut found = LogDiff::new(args.ignore.clone());
    found.read(&mut a, &mut b);
    let mut out = BufWriter::new(io::stdout().lock());
    let names =
        Dictionary::built_in(Version::Fix50Sp2).over(&Dictionary::built_in(Version::Fixt11));
    for finding in found.findings() {
        match args.json {
            true => writeln!(out, "{}", object(finding))?,
            false => write(finding, &names, &mut out)?,
        }
    }
    let [only_a, only_b] = found.only;
    if args.json {
        let counts = json!({
            "same": found.same, "different": found.different, "onlyA": only_a, "onlyB": only_b,
            "unnumbered": found.unnumbered, "givenUp": found.given_up, "notListed": found.more(),
        });
        writeln!(out, "{counts}")?;
    } else {
        writeln!(
            out,
            "{} messages are the same, {} differ, {only_a} are only in A, {only_b} only in B",
            found.same, found.different
        )?;
    }
    out.flush()?;
    for (count, what) in [
        (found.more(), "further differences are not listed"),
        (
            found.unnumbered,
            "messages without MsgSeqNum(34) are not compared",
        ),
        (
            found.given_up,
            "messages were not matched within the comparison window; the other side may still have them",
        ),
    ] {
        if count > 0 {
            tell("warning", &format!("{count} {what}"));
        }
    }
    let mut is_whole = true;
    for reader in [&mut a, &mut b] {
        is_whole &= tell_left_out(&reader.take_left_out());
    }
    let is_same = found.different + only_a + only_b == 0;
    Ok(exit_code(is_whole && is_same))
}

fn name(side: DiffSide) -> &'static str {
    match side {
        DiffSide::A => "A",
        DiffSide::B => "B",
    }
}

fn place(message: &DiffMessage) -> String {
    format!("{}:{}", Escaped(message.file.as_bytes()), message.place)
}

fn said(message: &DiffMessage) -> String {
    let duplicate = if message.is_duplicate { " 43=Y" } else { "" };
    let DiffMessage {
        sender,
        number,
        msg_type,
        ..
    } = message;
    format!("{sender} 34={number} 35={msg_type}{duplicate}")
}

fn write(finding: &DiffFinding, names: &Dictionary, out: &mut impl Write) -> io::Result<()> {
    match finding {
        DiffFinding::Only(side, message) => {
            let time = message.time.map_or("no time".to_owned(), moment);
            writeln!(
                out,
                "only in {}: {} {time} {}",
                name(*side),
                place(message),
                said(message)
            )
        }
        DiffFinding::Differs(a, b, fields) => {
            writeln!(out, "differs: A {}, B {}: {}", place(a), place(b), said(a))?;
            for FieldDifference { tag, a, b } in fields {
                let Some(tag) = tag else {
                    writeln!(out, "  the same fields in another order")?;
                    continue;
                };
                let known = names.field(*tag).map_or("", |field| field.name.as_str());
                let value =
                    |side: &Option<String>| side.as_deref().unwrap_or("(missing)").to_owned();
                writeln!(out, "  {known}({tag}): A {}, B {}", value(a), value(b))?;
            }
            Ok(())
        }
    }
}

fn object(finding: &DiffFinding) -> Value {
    let message = |of: &DiffMessage| {
        json!({
            "file": of.file, "place": of.place, "time": of.time.map(moment), "sender": of.sender,
            "msgSeqNum": of.number, "msgType": of.msg_type, "possDup": of.is_duplicate,
        })
    };
    match finding {
        DiffFinding::Only(side, of) => json!({ "onlyIn": name(*side), "message": message(of) }),
        DiffFinding::Differs(a, b, fields) => {
            let fields = fields.iter();
            let fields = fields.map(|it| json!({ "tag": it.tag, "a": it.a, "b": it.b }));
            json!({ "a": message(a), "b": message(b), "fields": fields.collect::<Vec<_>>() })
        }
    }
}
