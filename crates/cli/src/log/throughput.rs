//! `fixwire log throughput`: counts the transactions in each millisecond.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use fixwire_protocol::Decoder;
use fixwire_reader::{LogStep, ShortQuery};
use fixwire_stamps::analysis::ThroughputCounter;
use serde_json::{Map, Value, json};

use super::sources::{Sources, exit_code, tell_left_out};
use crate::failure::{Failure, tell};
use crate::journal::DirectionFlag;

/// Arguments of `fixwire log throughput`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log throughput FIX.4.4-BROKER-CLIENT.messages.current.log
  fixwire log throughput --of 35=8 --direction out logs
  fixwire log throughput --json store | jq .rows

Transactions are orders, cancels and replaces, or the messages of --of; possible duplicates (43=Y) do not count. Each
row shows a number of transactions in a millisecond, how many milliseconds had that number, and their share; row 0 has
the milliseconds without a transaction. When a gateway logs both sides, --direction counts each transaction once.
The exit code is 1 if something could not be read; the output names each such part.")]
pub struct ThroughputArgs {
    #[command(flatten)]
    sources: Sources,
    /// Messages that are transactions: terms such as 35=8 55~^TX
    #[arg(long, value_name = "QUERY", default_value = "35=D|F|G")]
    of: String,
    /// Count messages of this direction only
    #[arg(long, value_name = "DIRECTION")]
    direction: Option<DirectionFlag>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &ThroughputArgs) -> Result<ExitCode, Failure> {
    let query = ShortQuery::parse(&args.of).map_err(Failure::Text)?;
    let mut decoder = Decoder::with_capacity(1024);
    let mut reader = args.sources.open(false)?;
    let mut counter = ThroughputCounter::default();
    let mut untimed = 0;
    while let LogStep::Message(entry) = reader.next_step() {
        let repeats = matches!(entry.mark, "duplicate" | "ignored" | "resent" | "gap fill");
        let is_one = !repeats
            && query.may_match(entry.bytes)
            && entry.get(43) != Some(b"Y")
            && args
                .direction
                .is_none_or(|way| entry.direction() == Some(way.direction()))
            && query.matches(&decoder.decode_whole(entry.bytes));
        if !is_one {
            continue;
        }
        match entry.time().0.map(|time| u64::try_from(time.0)) {
            Some(Ok(time)) => counter.add(time),
            _ => untimed += 1,
        }
    }
    let late = counter.late();
    let found = counter.finish();
    let mut text = String::new();
    if args.json {
        let rows = found.rows.iter();
        let rows: Map<String, Value> = rows
            .map(|(count, millis)| (count.to_string(), json!(millis)))
            .collect();
        let object = json!({
            "transactions": found.transactions, "spanNanos": found.span, "rows": rows, "untimed": untimed, "late": late,
        });
        text = format!("{object:#}\n");
    } else {
        // Writing to a string cannot fail.
        let _ = found.write(&mut text);
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    for (count, why) in [
        (untimed, "because they have no time"),
        (
            late,
            "because their times are long before those of the messages around them",
        ),
    ] {
        if count > 0 {
            tell(
                "warning",
                &format!("{count} transactions are left out, {why}"),
            );
        }
    }
    Ok(exit_code(tell_left_out(&reader.take_left_out())))
}
