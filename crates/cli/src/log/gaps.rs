//! `fixwire log gaps`: finds missing sequence numbers.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Args;
use fixwire_protocol::readable::Escaped;
use fixwire_reader::{LogGaps, LogStep};
use serde_json::json;

use super::sources::{Sources, exit_code, tell_left_out};
use super::summary::{moment, table};
use crate::failure::Failure;
use crate::teller::counted;

/// Arguments of `fixwire log gaps`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log gaps FIX.4.4-BROKER-CLIENT.messages.current.log
  fixwire log gaps --json logs store

A gap begins when a MsgSeqNum(34) is higher than expected. It is filled when the missing messages appear later:
resent, replaced by a SequenceReset(4), or in another of the logs. After ResetSeqNumFlag(141), or a Logon with
MsgSeqNum 1, the sequence numbers start again. The exit code is 1 if something could not be read; the output names
each such part.")]
pub struct GapsArgs {
    #[command(flatten)]
    sources: Sources,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &GapsArgs) -> Result<ExitCode, Failure> {
    let mut reader = args.sources.open(false)?;
    let mut gaps = LogGaps::default();
    while let LogStep::Message(entry) = reader.next_step() {
        gaps.add(&entry);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        let senders = gaps.senders.iter().map(|(name, sender)| {
            let gaps = sender.gaps.iter().map(|gap| {
                json!({
                    "first": gap.first, "last": gap.last, "filled": gap.filled, "missing": gap.missing(),
                    "place": gap.place, "time": gap.time.map(moment),
                })
            });
            json!({
                "sender": name, "messages": sender.messages, "first": sender.first, "last": sender.last,
                "resets": sender.resets, "gaps": gaps.collect::<Vec<_>>(),
            })
        });
        writeln!(out, "{:#}", json!(senders.collect::<Vec<_>>()))?;
    } else {
        print(&gaps, &mut out)?;
    }
    out.flush()?;
    Ok(exit_code(tell_left_out(&reader.take_left_out())))
}

fn print(gaps: &LogGaps, out: &mut impl Write) -> io::Result<()> {
    let rows = gaps.senders.iter().map(|(name, sender)| {
        let numbers = [
            sender.messages,
            sender.first,
            sender.last,
            sender.resets,
            sender.gaps.len() as u64,
        ];
        let [messages, first, last, resets, gaps] = numbers.map(|number| number.to_string());
        let name = Escaped(name.as_bytes()).to_string();
        [name, messages, first, last, resets, gaps]
    });
    table(
        out,
        ["sender", "messages", "first", "last", "resets", "gaps"],
        rows.collect(),
    )?;
    let all = gaps.senders.iter();
    let rows = all.flat_map(|(name, sender)| sender.gaps.iter().map(move |gap| (name, gap)));
    let rows = rows.map(|(name, gap)| {
        [
            Escaped(name.as_bytes()).to_string(),
            format!("{} to {}", gap.first, gap.last),
            gap.filled.to_string(),
            gap.missing().to_string(),
            gap.time.map_or(String::new(), moment),
            Escaped(gap.place.as_bytes()).to_string(),
        ]
    });
    table(
        out,
        ["sender", "gap", "filled", "missing", "seen at", "before"],
        rows.collect(),
    )?;
    let (count, missing) = gaps.totals();
    writeln!(
        out,
        "{}, {} missing",
        counted(count as usize, "gap"),
        counted(missing as usize, "sequence number")
    )
}
