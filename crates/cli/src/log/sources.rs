//! The inputs of the `fixwire log` commands, and their messages about unreadable parts.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::journal::{Direction, write_moment};
use fixwire_reader::{BlockChoice, LeftOut, LogEntry, LogReader, LogZone, ReadOptions};

use crate::failure::{Failure, tell};

/// What is read.
#[derive(Args, Clone, Debug)]
pub struct Sources {
    /// Logs, captures, journals, folders with them, or - for the standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The time zone of lines whose time has none: UTC, +08:00 or Asia/Taipei [default: UTC]
    #[arg(long, value_name = "ZONE", value_parser = LogZone::parse)]
    zone: Option<LogZone>,
    /// Our CompID: messages with this SenderCompID were sent, those with this TargetCompID received; may be given
    /// several times
    #[arg(long, value_name = "COMPID")]
    ours: Vec<String>,
    /// Add this to the times of a file whose clock was wrong: broker.log=+1.2ms; units ns, us, ms, s
    #[arg(long, value_name = "FILE=TIME", value_parser = shift)]
    shift: Vec<(String, i64)>,
}

impl Sources {
    pub fn open(&self, follow: bool) -> Result<LogReader, Failure> {
        LogReader::open(&self.paths, self.options(follow)).map_err(Failure::Text)
    }

    /// Opens logs for a search. From a log with an index, only the blocks that may match are read. Messages without
    /// these bytes may be skipped.
    pub fn open_searched(
        &self,
        blocks: &BlockChoice,
        needle: Option<Vec<u8>>,
    ) -> Result<LogReader, Failure> {
        let options = ReadOptions {
            needle,
            ..self.options(false)
        };
        LogReader::open_blocks(&self.paths, options, blocks.clone()).map_err(Failure::Text)
    }

    /// Like [`Sources::open_searched`], but also reads the journal's records of when a message was processed.
    pub fn open_order(&self, blocks: &BlockChoice) -> Result<LogReader, Failure> {
        let options = ReadOptions {
            dequeued: true,
            records: true,
            ..self.options(false)
        };
        LogReader::open_blocks(&self.paths, options, blocks.clone()).map_err(Failure::Text)
    }

    /// Options for reading.
    pub fn options(&self, follow: bool) -> ReadOptions {
        ReadOptions {
            zone: self.zone(),
            ours: self.ours.clone(),
            shifts: self.shift.clone(),
            follow,
            dequeued: false,
            records: false,
            needle: None,
        }
    }

    /// The time zone of times that do not state one.
    pub fn zone(&self) -> LogZone {
        self.zone.clone().unwrap_or_else(LogZone::utc)
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
    let unit: u128 = match unit {
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
    let number = fixwire_text::decimal(digits, 9).ok_or_else(wrong)?;
    let nanos = number.checked_mul(unit).ok_or_else(wrong)? / 1_000_000_000;
    let nanos = i64::try_from(nanos).map_err(|_| wrong())?;
    Ok((file.to_owned(), sign * nanos))
}

/// Prints the parts that were skipped; returns true when nothing was skipped.
pub fn tell_left_out(left_out: &[LeftOut]) -> bool {
    for what in left_out {
        tell("error", &format!("not read: {what}"));
    }
    left_out.is_empty()
}

/// Prints the parts that were skipped, given as texts; returns true when nothing was skipped.
#[cfg(feature = "view")]
pub fn tell_left_out_lines(left_out: &[String]) -> bool {
    for what in left_out {
        tell("error", &format!("not read: {what}"));
    }
    left_out.is_empty()
}

/// Messages that a command could not write.
#[derive(Debug, Default)]
pub struct NotWritten {
    count: u64,
}

impl NotWritten {
    /// Maximum number of messages that are named one by one.
    const NAMED: u64 = 100;

    pub fn add(&mut self, entry: &LogEntry<'_>, why: &impl Display) {
        self.count += 1;
        if self.count <= Self::NAMED {
            let (file, place) = (entry.file, entry.place);
            tell("error", &format!("not written: {file}:{place}: {why}"));
        }
    }

    /// Prints how many further messages were not written; returns true when all messages were written.
    pub fn tell(&self) -> bool {
        if self.count > Self::NAMED {
            let more = self.count - Self::NAMED;
            tell("error", &format!("not written: {more} further messages"));
        }
        self.count == 0
    }
}

/// The exit code of a command: an error if a part could not be read.
pub fn exit_code(is_whole: bool) -> ExitCode {
    if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The direction as `in` or `out`; `?` when it is unknown.
pub fn way(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::In) => "in",
        Some(Direction::Out) => "out",
        None => "?",
    }
}

/// Writes the time of a message, or dashes of the same width if it has no time.
pub fn write_time(entry: &LogEntry<'_>, out: &mut impl Write) -> io::Result<()> {
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
