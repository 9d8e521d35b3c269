//! `fixwire log`: reads messages from logs of any engine, journals and captures.

mod gaps;
mod grep;
mod order;
mod summary;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fixwire::journal::{Direction, write_moment};
use fixwire_reader::{LeftOut, LogEntry, LogReader, LogZone, ReadOptions};

use crate::failure::{Failure, tell};

/// Of the command as a whole.
pub const EXAMPLES: &str = "Examples:
  fixwire log summary logs                            what is in a folder of logs, and what is wrong with it
  fixwire log grep 11=order-36 broker.log.gz store    the messages of an order in a log and a journal
  tcpdump -i lo -w - | fixwire log grep 35=8 -        reports, as they pass
  fixwire log order order-36 logs                     what happened to an order
  fixwire log gaps logs                               sequence numbers that are missing

Logs of QuickFIX, QuickFIX/J, QuickFIX/Go, QuickFIX/n, FIX Antenna and any other text with FIX messages, Artio's
printed archive, journals, captures (pcap, pcapng); plain, gzip or zstd. docs/reference/log.md has more.";

/// Subcommands of `fixwire log`.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Shows what is in logs, and what is wrong with it
    Summary(summary::SummaryArgs),
    /// Prints the messages that match a query
    Grep(grep::GrepArgs),
    /// Shows what happened to an order: its messages through replaces, cancels and rejects, with times
    Order(order::OrderArgs),
    /// Lists sequence numbers that are missing, by sender
    Gaps(gaps::GapsArgs),
}

/// Runs the command.
pub fn run(command: &LogCommand) -> Result<ExitCode, Failure> {
    match command {
        LogCommand::Summary(args) => summary::run(args),
        LogCommand::Grep(args) => grep::run(args),
        LogCommand::Order(args) => order::run(args),
        LogCommand::Gaps(args) => gaps::run(args),
    }
}

/// What is read.
#[derive(Args, Debug)]
pub struct Sources {
    /// Logs, captures, journals, folders with them, or - for the standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The time zone of lines whose time does not say it: UTC, +08:00 or Asia/Taipei [default: UTC]
    #[arg(long, value_name = "ZONE", value_parser = LogZone::parse)]
    zone: Option<LogZone>,
    /// Our CompID: messages with this SenderCompID were sent, those with this TargetCompID received; may be given
    /// several times
    #[arg(long, value_name = "COMPID")]
    ours: Vec<String>,
    /// Add this to the times of a file, as its clock was wrong: broker.log=+1.2ms; units ns, us, ms, s
    #[arg(long, value_name = "FILE=TIME", value_parser = shift)]
    shift: Vec<(String, i64)>,
}

impl Sources {
    fn open(&self, follow: bool) -> Result<LogReader, Failure> {
        let options = ReadOptions {
            zone: self.zone.clone().unwrap_or_else(LogZone::utc),
            ours: self.ours.clone(),
            shifts: self.shift.clone(),
            follow,
            dequeued: false,
        };
        LogReader::open(&self.paths, options).map_err(Failure::Text)
    }
}

/// Reads `FILE=+1.2ms`.
fn shift(text: &str) -> Result<(String, i64), String> {
    let wrong = || format!("{text}: expected FILE=TIME, as in broker.log=+1.2ms");
    let (file, time) = text.rsplit_once('=').ok_or_else(wrong)?;
    let number_end = time
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(wrong)?;
    let (number, unit) = time.split_at(number_end);
    let unit: i64 = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let (sign, digits) = match number.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return Err(wrong());
    }
    let whole: i64 = whole.parse().map_err(|_| wrong())?;
    let mut nanos = whole.checked_mul(unit).ok_or_else(wrong)?;
    let mut part = unit;
    for digit in fraction.bytes() {
        part /= 10;
        nanos += i64::from(digit - b'0') * part;
    }
    Ok((file.to_owned(), sign * nanos))
}

/// Writes what was left out; whether nothing was.
pub fn tell_left_out(left_out: &[LeftOut]) -> bool {
    for what in left_out {
        tell("error", &format!("not read: {what}"));
    }
    left_out.is_empty()
}

/// The end of a command: an error if something could not be read.
fn exit_code(is_whole: bool) -> ExitCode {
    if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// `in`, `out`, or `?` when nobody can say.
fn way(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::In) => "in",
        Some(Direction::Out) => "out",
        None => "?",
    }
}

/// Writes the time of a message, or as many dashes.
fn write_time(entry: &LogEntry<'_>, out: &mut impl Write) -> io::Result<()> {
    match entry.time() {
        (Some(time), _) => write_moment(out, time),
        (None, _) => write!(out, "{:-<30}", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_a_file_and_a_time_with_its_unit() {
        for (text, expected) in [
            ("a.log=+1.2ms", Some(("a.log", 1_200_000))),
            ("a=b.log=-3s", Some(("a=b.log", -3_000_000_000))),
            ("x=0.5us", Some(("x", 500))),
            ("x=5", None),
            ("x=ms", None),
            ("x=1.x2ms", None),
            ("x", None),
        ] {
            let read = shift(text).ok();
            let read = read.as_ref().map(|(file, time)| (file.as_str(), *time));
            assert_eq!(read, expected, "{text}");
        }
    }
}
