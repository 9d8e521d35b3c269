//! Prints a journal for people, and as JSON lines for programs.

use super::is_notes;
use super::known::{NOTES_OF, OPERATORS};
use super::originals::{Originals, Resent};
use super::record::{Effect, RecordKind};
use super::resent::Arrival;
use super::tail::Tail;
use super::verify::{HeldSegments, Verified, walk};
use super::view::Record;
use super::{JournalError, JournalId, JournalPosition};
use fixwire_protocol::Redactor;
use fixwire_protocol::Tag;
use fixwire_protocol::outbox::stored_note;
use fixwire_protocol::readable::masked;
use fixwire_protocol::time::Timestamp;
use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use text::write_hex;
pub use text::{write_escaped, write_moment};

mod text;

/// The output format of a dump.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DumpFormat {
    /// A line for each message: time, session, direction, MsgSeqNum, the status of the message in brackets (queued,
    /// duplicate, ignored, rejected, resent, gap fill), and the message with `|` instead of SOH. For a frame of a
    /// link, the line has the frame's number on its connection, and its bytes as hexadecimal digits.
    Text,
    /// The same content, as one JSON object per line.
    Json,
}

/// A decoder for frames of a link: writes the content of a frame on one line.
pub type FrameDecoder = fn(frame: &[u8], out: &mut dyn Write) -> io::Result<()>;

/// The built-in decoders, which work for any frame: `hex` writes hexadecimal digits, `text` writes printable
/// characters, with `\xNN` for other bytes.
pub const FRAME_DECODERS: &[(&str, FrameDecoder)] = &[("hex", as_hex), ("text", as_text)];

fn as_hex(frame: &[u8], mut out: &mut dyn Write) -> io::Result<()> {
    write_hex(&mut out, frame)
}

fn as_text(frame: &[u8], mut out: &mut dyn Write) -> io::Result<()> {
    write_escaped(&mut out, frame, false)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Whether the bytes of a record or an effect are a FIX message. Other bytes are a frame of a link.
#[must_use]
pub fn is_fix_message(bytes: &[u8]) -> bool {
    bytes.starts_with(b"8=")
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// Sent by the peer.
    In,
    /// Sent by us.
    Out,
}

/// The lines that a dump prints; by default all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DumpFilter {
    /// Only lines of the session with this name.
    pub session: Option<String>,
    /// Only messages in this direction. Registrations, resets and notes are not printed then.
    pub direction: Option<Direction>,
    /// Only lines from this time on.
    pub from: Option<Timestamp>,
    /// Only lines before this time.
    pub until: Option<Timestamp>,
    /// Only lines from this MsgSeqNum or frame number on. Entries without a number are not printed then.
    pub first_seq: Option<u64>,
    /// Only lines up to this MsgSeqNum or frame number. Entries without a number are not printed then.
    pub last_seq: Option<u64>,
    /// Only messages and notes that have all of these fields, with these values.
    pub fields: Vec<(Tag, Vec<u8>)>,
    /// Fields whose values are masked, in addition to the secrets that are always masked.
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
            && (self.fields.is_empty() || !shown.is_frame)
            && self.fields.iter().all(has)
    }
}

/// Prints every record of a journal that passes the filter, and returns the result of [`verify`](super::verify()).
/// Stops at the first damage.
///
/// The values of the fields 554, 925, 96, 1402 and 1404 are shown as `***`, and unprintable bytes as `\xNN`, so that
/// each entry stays on its line.
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

/// Like [`dump`], but passes each line to `each`. Errors of `each` are returned like errors of the output.
///
/// # Errors
///
/// See [`dump`].
pub fn each_line(
    directory: &Path,
    filter: &DumpFilter,
    each: impl FnMut(&DumpLine<'_>) -> io::Result<()>,
) -> Result<Verified, JournalError> {
    each_line_of(&HeldSegments::open(directory)?, filter, each)
}

/// Like [`each_line`], for the segments that a journal had at one moment.
///
/// # Errors
///
/// See [`dump`].
pub fn each_line_of(
    held: &HeldSegments,
    filter: &DumpFilter,
    mut each: impl FnMut(&DumpLine<'_>) -> io::Result<()>,
) -> Result<Verified, JournalError> {
    let mut lines = Lines::new(held.directory(), filter);
    let walked = walk(held, |record, names| lines.of(record, names, &mut each));
    Ok(walked?.0)
}

/// Like [`each_line`], for a journal that an engine may be writing, and without an end. At the end of the records,
/// `wait` is called before each retry; an error from `wait` stops the dump. `missed` gets the first and the last of the
/// segments that were removed before they were read, each time that there are more of them.
///
/// # Errors
///
/// See [`dump`]; also [`JournalError::Damaged`] for bytes that are not a record.
pub fn follow(
    directory: &Path,
    filter: &DumpFilter,
    mut each: impl FnMut(&DumpLine<'_>) -> io::Result<()>,
    mut wait: impl FnMut() -> io::Result<()>,
    mut missed: impl FnMut(u32, u32),
) -> Result<(), JournalError> {
    let mut tail = Tail::new(directory, JournalPosition::START);
    let mut lines = Lines::new(directory, filter);
    let mut names: Vec<String> = Vec::new();
    let (mut known, mut has_begun) = (None, false);
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
        let removed = tail.missed().filter(|it| Some(*it) != known);
        if let Some((first, last)) = removed {
            // Segments that were removed before the first record are no longer part of the journal.
            if has_begun {
                missed(first, last);
            }
            known = removed;
        }
        has_begun = true;
    }
}

/// How lines are selected and shown.
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

    /// The lines of a record that pass the filter.
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

/// Prints the content of a record, and the messages to which the record refers.
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
        RecordKind::Message if !is_fix_message(record.body) => {
            // The record has the next expected MsgSeqNum, so the MsgSeqNum of the message is one lower.
            let number = record.counters.next_in.checked_sub(1);
            show(Shown::frame(session, "in", number, record.body))?;
        }
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
        // The checkpoint at the start of a segment is not shown.
        RecordKind::Sent | RecordKind::Carried => {}
    }
    for Effect {
        session,
        seq,
        bytes,
    } in record.effects
    {
        let is_note = names
            .get(session.0 as usize)
            .is_some_and(|name| is_notes(name.as_ref()));
        if !is_note && !is_fix_message(bytes) {
            show(Shown::frame(session, "out", Some(seq), bytes))?;
            continue;
        }
        let (what, bytes) = match stored_note(bytes).filter(|_| is_note) {
            Some((_, note)) => ("kept", note),
            None if is_note => ("kept", bytes),
            None => ("out", bytes),
        };
        show(Shown::new(session, what, Some(seq), "", bytes))?;
    }
    Ok(())
}

/// Displays resent messages.
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

/// Whether a message is our Reject(3) of the message with this MsgSeqNum.
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
    is_frame: bool,
}

impl<'a> Shown<'a> {
    fn frame(session: JournalId, what: &'static str, number: Option<u64>, bytes: &'a [u8]) -> Self {
        Self {
            is_frame: true,
            ..Self::new(session, what, number, "", bytes)
        }
    }

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
            is_frame: false,
        }
    }
}

/// Whether a note of a session with this name is an action of an operator.
#[must_use]
pub fn is_action(session: &str, note: &[u8]) -> bool {
    // A session also has notes that are no actions of an operator.
    session == OPERATORS || contains(note, b" by ")
}

/// One line of a dump: a message, or another entry of a record.
pub struct DumpLine<'a> {
    record: &'a Record<'a>,
    name: &'a str,
    shown: Shown<'a>,
    redactor: Option<&'a RefCell<Redactor>>,
}

impl DumpLine<'_> {
    /// The message, with its secrets unmasked; `None` for other entries.
    #[must_use]
    pub fn raw_message(&self) -> Option<&[u8]> {
        let is_message = matches!(self.shown.what, "in" | "out")
            && !self.shown.bytes.is_empty()
            && !self.shown.is_frame;
        is_message.then_some(self.shown.bytes)
    }

    /// The bytes of a link's frame, as in the journal, where the application's secrets are masked; `None` for other
    /// entries.
    #[must_use]
    pub fn frame(&self) -> Option<&[u8]> {
        self.shown.is_frame.then_some(self.shown.bytes)
    }

    /// The number and the bytes of an application's note, with secrets unmasked; `None` for other entries.
    #[must_use]
    pub fn kept(&self) -> Option<(u64, &[u8])> {
        let number = self.shown.seq.filter(|_| self.shown.what == "kept");
        Some((number?, self.shown.bytes))
    }

    /// The bytes of a note, if the application whose state has this name wrote it; `None` for other entries.
    #[must_use]
    pub fn note_of(&self, application: &str) -> Option<&[u8]> {
        let name = self.name.strip_prefix(NOTES_OF)?;
        let (name, _) = name.split_once(", version ")?;
        let (_, note) = self.kept().filter(|_| name == application)?;
        Some(note)
    }

    /// The text of an operator's action and its session; `None` for other entries.
    #[must_use]
    pub fn operator_action(&self) -> Option<(&str, &[u8])> {
        let text = self.shown.bytes;
        let is_action = self.shown.what == "note" && is_action(self.name, text);
        is_action.then_some((self.name, text))
    }

    /// The time at which the entry was recorded.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.record.wall
    }

    /// The content of the entry with its secrets masked.
    fn without_secrets(&self, bytes: &[u8]) -> Vec<u8> {
        let Some(redactor) = self.redactor else {
            return masked(bytes);
        };
        let mut redactor = redactor.borrow_mut();
        redactor.copy_any(0, bytes);
        let text = masked(redactor.kept(0, bytes));
        redactor.clear();
        text
    }

    /// Writes time, session and direction, the MsgSeqNum or frame number, and the status of the message.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    pub fn write_head(&self, out: &mut impl Write) -> io::Result<()> {
        let Shown {
            what, seq, mark, ..
        } = self.shown;
        write_moment(out, self.record.wall)?;
        write!(out, " ")?;
        write_escaped(out, self.name.as_bytes(), false)?;
        write!(out, " {what:<7}")?;
        if let Some(seq) = seq {
            let name = if self.shown.is_frame { "frame" } else { "34" };
            write!(out, " {name}={seq} ")?;
            if !mark.is_empty() {
                write!(out, "[{mark}] ")?;
            }
        }
        Ok(())
    }

    /// Writes the line: a frame as `decoder` writes it, anything else as in [`DumpFormat::Text`].
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    pub fn write_decoded(&self, out: &mut impl Write, decoder: FrameDecoder) -> io::Result<()> {
        let Some(frame) = self.frame() else {
            return self.write(out, DumpFormat::Text);
        };
        self.write_head(out)?;
        decoder(frame, out)?;
        writeln!(out)
    }

    /// Writes the line.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    pub fn write(&self, out: &mut impl Write, format: DumpFormat) -> io::Result<()> {
        let Some(frame) = self.frame() else {
            return self.write_content(out, format, self.shown.bytes);
        };
        let mut digits = Vec::with_capacity(2 * frame.len());
        write_hex(&mut digits, frame)?;
        self.write_as(out, format, "frame", &digits)
    }

    /// Writes the line with this content in place of the entry's own content, for example for a note as text. Secrets
    /// are masked.
    ///
    /// # Errors
    ///
    /// The output's error.
    pub fn write_content(
        &self,
        out: &mut impl Write,
        format: DumpFormat,
        content: &[u8],
    ) -> io::Result<()> {
        self.write_as(out, format, "text", &self.without_secrets(content))
    }

    fn write_as(
        &self,
        out: &mut impl Write,
        format: DumpFormat,
        key: &str,
        text: &[u8],
    ) -> io::Result<()> {
        let Shown {
            what, seq, mark, ..
        } = self.shown;
        let (record, name) = (self.record, self.name);
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
                    ",\"next_in\":{},\"next_out\":{},\"epoch\":{},\"{key}\":\"",
                    counters.next_in, counters.next_out, counters.epoch
                )?;
                write_escaped(out, text, true)?;
                writeln!(out, "\"}}")
            }
        }
    }
}

/// The number in the first field of a message with this tag, if it can be read.
fn number(message: &[u8], tag: &[u8]) -> Option<u64> {
    let field = message
        .split(|&byte| byte == 1)
        .find_map(|field| field.strip_prefix(tag))?;
    str::from_utf8(field).ok()?.parse().ok()
}
