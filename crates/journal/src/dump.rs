//! Prints a journal for people, and as JSON lines for programs.

use super::NOTES;
use super::originals::{Originals, Resent};
use super::record::{Effect, RecordKind};
use super::resent::Arrival;
use super::tail::Tail;
use super::verify::{Verified, walk};
use super::view::Record;
use super::{JournalError, JournalId, JournalPosition};
use fixwire_protocol::Redactor;
use fixwire_protocol::Tag;
use fixwire_protocol::decode::DATA_PAIRS;
use fixwire_protocol::outbox::stored_note;
use fixwire_protocol::readable::is_secret;
use fixwire_protocol::time::Timestamp;
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;

/// How a dump looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DumpFormat {
    /// A line for each message: time, session, direction, MsgSeqNum, in brackets what marks it (queued,
    /// duplicate, ignored, rejected, resent, gap fill), and the message with `|` for SOH.
    Text,
    /// The same as one JSON object per line.
    Json,
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// The peer sent it.
    In,
    /// We sent it.
    Out,
}

/// Filter of a dump; everything by default.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DumpFilter {
    /// Only this session, by its name.
    pub session: Option<String>,
    /// Only messages that went this way; hides registrations, resets and notes.
    pub direction: Option<Direction>,
    /// Only from this moment on.
    pub from: Option<Timestamp>,
    /// Only before this moment.
    pub until: Option<Timestamp>,
    /// Only from this MsgSeqNum on; hides entries without a MsgSeqNum.
    pub first_seq: Option<u64>,
    /// Only up to this MsgSeqNum; hides entries without a MsgSeqNum.
    pub last_seq: Option<u64>,
    /// Only messages and notes that have all of these fields with these values.
    pub fields: Vec<(Tag, Vec<u8>)>,
    /// Fields whose values are stars, beside the secrets that are never shown.
    pub masked: Vec<Tag>,
}

impl DumpFilter {
    fn lets_through(&self, name: &str, shown: &Shown<'_>) -> bool {
        let direction = match shown.what {
            "in" => Some(Direction::In),
            "out" => Some(Direction::Out),
            _ => None,
        };
        let has = |(tag, value): &(Tag, Vec<u8>)| {
            let field = [tag.to_string().as_bytes(), b"=", value].concat();
            let mut fields = shown.bytes.split(|&byte| byte == 1);
            fields.any(|found| found == field)
        };
        let is_first = |first| shown.seq.is_some_and(|seq| seq >= first);
        let is_last = |last| shown.seq.is_some_and(|seq| seq <= last);
        self.session.as_ref().is_none_or(|only| only == name)
            && self.direction.is_none_or(|only| direction == Some(only))
            && self.first_seq.is_none_or(is_first)
            && self.last_seq.is_none_or(is_last)
            && self.fields.iter().all(has)
    }
}

/// Of the tag of a secret, without leading zeros: the tag of its length when it is data.
fn secret(tag: &[u8]) -> Option<Option<Tag>> {
    let tag = str::from_utf8(tag).ok()?.parse().ok()?;
    let pair = DATA_PAIRS.iter().find(|(_, data)| *data == tag);
    is_secret(tag).then_some(pair.map(|(length, _)| *length))
}

/// Prints every record of a journal that the filter lets through, and answers what
/// [`verify`](super::verify()) found on the way. Stops at the first damage.
///
/// The values of 554, 925, 96, 1402 and 1404 are shown as `***`; bytes that do not print are shown
/// as `\xNN`, so a record never takes more than its lines.
///
/// # Errors
///
/// When the journal cannot be read or `out` cannot be written.
pub fn dump(
    directory: &Path,
    filter: &DumpFilter,
    out: &mut impl Write,
    format: DumpFormat,
) -> Result<Verified, JournalError> {
    each_line(directory, filter, |line| line.write(out, format))
}

/// As [`dump`], but each line is given to `each`, whose errors are those of the output.
///
/// # Errors
///
/// As [`dump`].
pub fn each_line(
    directory: &Path,
    filter: &DumpFilter,
    mut each: impl FnMut(&DumpLine<'_>) -> io::Result<()>,
) -> Result<Verified, JournalError> {
    let mut lines = Lines::new(directory, filter);
    let walked = walk(directory, |record, names| {
        lines.of(record, names, &mut each)
    });
    Ok(walked?.0)
}

/// As [`each_line`], of a journal that an engine may be writing, and without an end: whenever there is nothing
/// further, `wait` is called before it looks again, and ends it by an error.
///
/// # Errors
///
/// As [`dump`], and [`JournalError::Damaged`] for bytes that are not a record.
pub fn follow(
    directory: &Path,
    filter: &DumpFilter,
    mut each: impl FnMut(&DumpLine<'_>) -> io::Result<()>,
    mut wait: impl FnMut() -> io::Result<()>,
) -> Result<(), JournalError> {
    let mut tail = Tail::new(directory, JournalPosition::START);
    let mut lines = Lines::new(directory, filter);
    let mut names: Vec<String> = Vec::new();
    loop {
        let Some(record) = tail.next_record()? else {
            wait().map_err(JournalError::io("write", "the dump"))?;
            continue;
        };
        if let Some(name) = record.session_name() {
            let at = record.session.0 as usize;
            names.resize(names.len().max(at + 1), String::new());
            name.clone_into(&mut names[at]);
        }
        lines.of(&record, &names, &mut each)?;
    }
}

/// Settings of the lines.
struct Lines<'f> {
    filter: &'f DumpFilter,
    redactor: Option<RefCell<Redactor>>,
    originals: Originals,
}

impl<'f> Lines<'f> {
    fn new(directory: &Path, filter: &'f DumpFilter) -> Self {
        let masks = !filter.masked.is_empty();
        Self {
            filter,
            redactor: masks.then(|| RefCell::new(Redactor::for_showing(&filter.masked))),
            originals: Originals::new(directory),
        }
    }

    /// The lines of a record that the filter lets through.
    fn of<N: AsRef<str>>(
        &mut self,
        record: &Record<'_>,
        names: &[N],
        each: &mut impl FnMut(&DumpLine<'_>) -> io::Result<()>,
    ) -> Result<(), JournalError> {
        let Self {
            filter,
            redactor,
            originals,
        } = self;
        if filter.from.is_some_and(|from| record.wall < from)
            || filter.until.is_some_and(|until| record.wall >= until)
        {
            return Ok(());
        }
        let mut show = |shown: Shown<'_>| {
            let name = names.get(shown.session.0 as usize).map_or("?", N::as_ref);
            if !filter.lets_through(name, &shown) {
                return Ok(());
            }
            let line = DumpLine {
                record,
                name,
                shown,
                redactor: redactor.as_ref(),
            };
            each(&line).map_err(JournalError::io("write", "the dump"))
        };
        print(record, names, originals, &mut show)
    }
}

/// Shows what a record holds, and what it refers to.
fn print<N: AsRef<str>>(
    record: &Record<'_>,
    names: &[N],
    originals: &mut Originals,
    show: &mut impl FnMut(Shown<'_>) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    let session = record.session;
    let mark = match record.kind {
        RecordKind::Queued => "queued",
        RecordKind::Duplicate => "duplicate",
        RecordKind::Ignored => "ignored",
        _ => "",
    };
    match record.kind {
        RecordKind::Message | RecordKind::Queued | RecordKind::Duplicate | RecordKind::Ignored => {
            let seq = number(record.body, b"34=");
            let mut rejects = record.effects.filter(|effect| {
                effect.session == session && rejects(effect.bytes, seq.unwrap_or_default())
            });
            let mark = match rejects.next() {
                Some(_) => "rejected",
                None => mark,
            };
            show(Shown::new(session, "in", seq, mark, record.body))?;
        }
        RecordKind::Dequeued => {
            let arrival = Arrival::read(record.body);
            show(Shown::new(
                session,
                "dequeued",
                arrival.map(|it| it.number),
                "",
                b"",
            ))?;
        }
        RecordKind::Resent => {
            originals.resent(record, |resent| show_resent(session, &resent, show))?;
        }
        RecordKind::Session => show(Shown::new(session, "session", None, "", record.body))?,
        RecordKind::Reset => show(Shown::new(session, "reset", None, "", record.body))?,
        RecordKind::Note => show(Shown::new(session, "note", None, "", record.body))?,
        // Of a segment that was begun nothing is shown.
        RecordKind::Sent | RecordKind::Carried => {}
    }
    for Effect {
        session,
        seq,
        bytes,
    } in record.effects
    {
        let is_note = names.get(session.0 as usize).map(N::as_ref) == Some(NOTES);
        let (what, bytes) = match stored_note(bytes).filter(|_| is_note) {
            Some((_, note)) => ("kept", note),
            None if is_note => ("kept", bytes),
            None => ("out", bytes),
        };
        show(Shown::new(session, what, Some(seq), "", bytes))?;
    }
    Ok(())
}

/// Shows resent messages.
fn show_resent(
    session: JournalId,
    resent: &Resent<'_>,
    show: &mut impl FnMut(Shown<'_>) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    match *resent {
        Resent::Message { seq, bytes } => {
            show(Shown::new(session, "out", Some(seq), "resent", bytes))
        }
        Resent::GapFill { seq, bytes, .. } => {
            show(Shown::new(session, "out", Some(seq), "gap fill", bytes))
        }
        Resent::Gone { first, last, .. } => {
            let mark = "resent, no longer in the journal";
            (first..=last)
                .try_for_each(|seq| show(Shown::new(session, "out", Some(seq), mark, b"")))
        }
    }
}

/// Whether a message is our Reject of the message with this MsgSeqNum.
fn rejects(message: &[u8], number_of: u64) -> bool {
    let is_reject = message.split(|&byte| byte == 1).nth(2) == Some(b"35=3");
    is_reject && number(message, b"45=") == Some(number_of)
}

/// The content of one line.
struct Shown<'a> {
    what: &'static str,
    session: JournalId,
    seq: Option<u64>,
    mark: &'static str,
    bytes: &'a [u8],
}

impl<'a> Shown<'a> {
    fn new(
        session: JournalId,
        what: &'static str,
        seq: Option<u64>,
        mark: &'static str,
        bytes: &'a [u8],
    ) -> Self {
        Self {
            what,
            session,
            seq,
            mark,
            bytes,
        }
    }
}

/// One line of a dump: a message, or another entry of a record.
pub struct DumpLine<'a> {
    record: &'a Record<'a>,
    name: &'a str,
    shown: Shown<'a>,
    redactor: Option<&'a RefCell<Redactor>>,
}

impl DumpLine<'_> {
    /// The message with its secrets; `None` when this is none.
    #[must_use]
    pub fn raw_message(&self) -> Option<&[u8]> {
        let is_message = matches!(self.shown.what, "in" | "out") && !self.shown.bytes.is_empty();
        is_message.then_some(self.shown.bytes)
    }

    /// The number and the bytes of an application's note, its secrets with it; `None` when this is none.
    #[must_use]
    pub fn kept(&self) -> Option<(u64, &[u8])> {
        let number = self.shown.seq.filter(|_| self.shown.what == "kept");
        Some((number?, self.shown.bytes))
    }

    /// Its content, with secrets masked.
    fn text(&self) -> Vec<u8> {
        let bytes = self.shown.bytes;
        let Some(redactor) = self.redactor else {
            return masked(bytes);
        };
        let mut redactor = redactor.borrow_mut();
        redactor.copy_any(0, bytes);
        let text = masked(redactor.kept(0, bytes));
        redactor.clear();
        text
    }

    /// Writes time, session, direction and MsgSeqNum, and what marks the message.
    ///
    /// # Errors
    ///
    /// The output's error.
    pub fn write_head(&self, out: &mut impl Write) -> io::Result<()> {
        let Shown {
            what, seq, mark, ..
        } = self.shown;
        write_moment(out, self.record.wall)?;
        write!(out, " ")?;
        write_escaped(out, self.name.as_bytes(), false)?;
        write!(out, " {what:<7}")?;
        if let Some(seq) = seq {
            write!(out, " 34={seq} ")?;
            if !mark.is_empty() {
                write!(out, "[{mark}] ")?;
            }
        }
        Ok(())
    }

    /// Writes the line.
    ///
    /// # Errors
    ///
    /// The output's error.
    pub fn write(&self, out: &mut impl Write, format: DumpFormat) -> io::Result<()> {
        let Shown {
            what, seq, mark, ..
        } = self.shown;
        let (record, name, text) = (self.record, self.name, &self.text());
        match format {
            DumpFormat::Text => {
                self.write_head(out)?;
                if seq.is_none() && record.kind == RecordKind::Reset {
                    let counters = record.counters;
                    write!(
                        out,
                        " next_in={} next_out={} epoch={}",
                        counters.next_in, counters.next_out, counters.epoch
                    )?;
                    if !text.is_empty() {
                        write!(out, " ")?;
                    }
                } else if seq.is_none() {
                    write!(out, " ")?;
                }
                write_escaped(out, text, false)?;
                writeln!(out)
            }
            DumpFormat::Json => {
                write!(
                    out,
                    "{{\"at\":\"{}:{}\",\"time\":\"",
                    record.at.segment(),
                    record.at.offset()
                )?;
                write_moment(out, record.wall)?;
                write!(out, "\",\"record\":{},\"session\":\"", record.index)?;
                write_escaped(out, name.as_bytes(), true)?;
                write!(out, "\",\"what\":\"{what}\"")?;
                if let Some(seq) = seq {
                    write!(out, ",\"seq\":{seq}")?;
                }
                if !mark.is_empty() {
                    write!(out, ",\"mark\":\"{mark}\"")?;
                }
                if what == "dequeued"
                    && let Some(Arrival { at, .. }) = Arrival::read(record.body)
                {
                    write!(out, ",\"arrived\":\"{}:{}\"", at.segment(), at.offset())?;
                }
                let counters = record.counters;
                write!(
                    out,
                    ",\"next_in\":{},\"next_out\":{},\"epoch\":{},\"text\":\"",
                    counters.next_in, counters.next_out, counters.epoch
                )?;
                write_escaped(out, text, true)?;
                writeln!(out, "\"}}")
            }
        }
    }
}

/// A number in a message, behind its tag and `=`, if it is readable.
fn number(message: &[u8], tag: &[u8]) -> Option<u64> {
    let field = message
        .split(|&byte| byte == 1)
        .find_map(|field| field.strip_prefix(tag))?;
    str::from_utf8(field).ok()?.parse().ok()
}

/// The message with its secrets replaced. A data field whose length does not lead to an SOH hides
/// everything behind it, since the end of the secret is unknown.
fn masked(message: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(message.len());
    let mut rest = message;
    let mut length: (&[u8], &[u8]) = (b"", b"");
    while !rest.is_empty() {
        let end = rest
            .iter()
            .position(|&byte| byte == 1)
            .unwrap_or(rest.len());
        let equals = rest[..end]
            .iter()
            .position(|&byte| byte == b'=')
            .unwrap_or(end);
        let tag = &rest[..equals];
        // Leading zeros do not hide a tag.
        let plain = &tag[tag.iter().take_while(|&&byte| byte == b'0').count()..];
        let mut taken = end;
        if let Some(length_tag) = secret(plain) {
            shown.extend_from_slice(tag);
            shown.extend_from_slice(b"=***");
            if let Some(length_tag) = length_tag {
                let start = (equals + 1).min(rest.len());
                let stated = (length.0 == length_tag.to_string().as_bytes())
                    .then(|| str::from_utf8(length.1).ok()?.parse::<usize>().ok())
                    .flatten()
                    .and_then(|stated| start.checked_add(stated));
                taken = match stated {
                    Some(stop) if rest.get(stop) == Some(&1) => stop,
                    _ => rest.len(),
                };
            }
        } else {
            shown.extend_from_slice(&rest[..end]);
        }
        length = (plain, rest.get(equals + 1..end).unwrap_or_default());
        if taken < rest.len() {
            shown.push(1);
        }
        rest = rest.get(taken + 1..).unwrap_or_default();
    }
    shown
}

fn write_escaped(out: &mut impl Write, bytes: &[u8], json: bool) -> io::Result<()> {
    for &byte in bytes {
        match byte {
            1 => out.write_all(b"|")?,
            b'"' if json => out.write_all(b"\\\"")?,
            b'\\' => out.write_all(b"\\\\")?,
            b' '..=b'~' => out.write_all(&[byte])?,
            _ if json => write!(out, "\\u{byte:04x}")?,
            _ => write!(out, "\\x{byte:02x}")?,
        }
    }
    Ok(())
}

/// Writes a moment as `2026-08-21T13:30:00.123456789Z`.
fn write_moment(out: &mut impl Write, moment: Timestamp) -> io::Result<()> {
    let seconds = moment.0.div_euclid(1_000_000_000);
    let nanos = moment.0.rem_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 0000-03-01, in eras of 400 years: the leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    write!(
        out,
        "{:04}-{month:02}-{day_of_month:02}T{:02}:{:02}:{:02}.{nanos:09}Z",
        era * 400 + year + carry,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &[u8]) -> String {
        String::from_utf8(masked(message))
            .unwrap()
            .replace('\x01', "|")
    }

    #[test]
    fn secrets_are_masked_wherever_they_end() {
        let cases: [(&[u8], &str); 8] = [
            (b"35=A\x01554=pw\x0198=0\x01", "35=A|554=***|98=0|"),
            (
                b"0554=pw\x01925=new\x0110=000\x01",
                "0554=***|925=***|10=000|",
            ),
            (b"95=5\x0196=a\x01554\x0158=x\x01", "95=5|96=***|58=x|"),
            (b"95=4\x0196=a\x01secret\x0158=x\x01", "95=4|96=***"),
            (b"96=no length\x0158=x\x01", "96=***"),
            (b"1401=2\x011402=ab\x011=x\x01", "1401=2|1402=***|1=x|"),
            (
                b"95=99999999999999999999\x0196=ab\x01",
                "95=99999999999999999999|96=***",
            ),
            (b"554=unfinished", "554=***"),
        ];
        for (message, expected) in cases {
            assert_eq!(shown(message), expected);
        }
    }

    #[test]
    fn moments_are_written_as_the_calendar_has_them() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (1_709_164_800_000_000_001, "2024-02-29T00:00:00.000000001Z"),
            (1_787_319_000_123_456_789, "2026-08-21T13:30:00.123456789Z"),
            (951_868_799_000_000_000, "2000-02-29T23:59:59.000000000Z"),
        ];
        for (nanos, expected) in cases {
            let mut text = Vec::new();
            write_moment(&mut text, Timestamp(nanos)).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }

    #[test]
    fn every_byte_stays_on_its_line() {
        let all: Vec<u8> = (0..=255).collect();
        for json in [false, true] {
            let mut text = Vec::new();
            write_escaped(&mut text, &all, json).unwrap();
            assert!(text.iter().all(|byte| (b' '..=b'~').contains(byte)));
        }
    }
}
