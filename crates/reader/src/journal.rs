//! Messages of a journal, which an engine may be writing at the same time.

use std::ops::Range;
use std::path::Path;

use fixwire_journal::{
    Direction, JournalError, JournalPosition, Originals, Record, RecordKind, Resent, Tail,
    is_fix_message, is_notes,
};
use fixwire_protocol::Timestamp;

use crate::entry::{Hints, LogEntry, LogPlace, TimeSource};
use crate::input::{LogInput, Step};
use crate::left_out::{LeftOut, LeftOuts};

/// The journal's folder.
pub(crate) struct JournalInput {
    file: String,
    hints: Hints,
    tail: Tail,
    originals: Originals,
    names: Vec<String>,
    follow: bool,
    /// Whether messages that were held because of a gap are returned a second time, when the session processes them.
    dequeued: bool,
    missed: Option<(u32, u32)>,
    /// Whether a record was read.
    has_begun: bool,
    batch: Batch,
}

/// The messages of a record.
#[derive(Default)]
pub(crate) struct Batch {
    items: Vec<Item>,
    bytes: Vec<u8>,
    current: usize,
    at: JournalPosition,
    wall: Timestamp,
}

struct Item {
    direction: Direction,
    mark: &'static str,
    session: usize,
    bytes: Range<usize>,
}

impl Batch {
    /// For the message that caused others, those messages; for another message, the message that caused it.
    pub(crate) fn related(&self) -> impl Iterator<Item = &[u8]> {
        let is_cause = |at: usize| at == 0 && self.items[at].direction == Direction::In;
        let items = self.items.iter().enumerate();
        let other = items.filter(move |(at, _)| {
            *at != self.current && (is_cause(*at) || is_cause(self.current))
        });
        other.map(|(_, item)| &self.bytes[item.bytes.clone()])
    }

    fn add(&mut self, direction: Direction, mark: &'static str, session: u32, bytes: &[u8]) {
        if !is_fix_message(bytes) {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.items.push(Item {
            direction,
            mark,
            session: session as usize,
            bytes: start..self.bytes.len(),
        });
    }
}

impl JournalInput {
    pub(crate) fn new(
        folder: &Path,
        file: String,
        hints: Hints,
        follow: bool,
        dequeued: bool,
    ) -> Self {
        Self {
            file,
            hints,
            tail: Tail::new(folder, JournalPosition::START),
            originals: Originals::new(folder),
            names: Vec::new(),
            follow,
            dequeued,
            missed: None,
            has_begun: false,
            batch: Batch::default(),
        }
    }

    /// Collects the messages of the next record; false when there is no next record.
    fn collect(&mut self, left_out: &mut LeftOuts) -> Result<bool, JournalError> {
        let Self {
            batch,
            tail,
            originals,
            names,
            ..
        } = self;
        batch.items.clear();
        batch.bytes.clear();
        batch.current = 0;
        let Some(record) = tail.next_record()? else {
            return Ok(false);
        };
        (batch.at, batch.wall) = (record.at, record.wall);
        if let Some(name) = record.session_name() {
            let at = record.session.0 as usize;
            // Recovery supports no more sessions than this.
            if at < 1 << 20 {
                names.resize(names.len().max(at + 1), String::new());
                name.clone_into(&mut names[at]);
            }
        }
        received(&record, self.dequeued, originals, batch)?;
        let mut lost = Vec::new();
        originals.resent(&record, |resent| {
            let session = record.session.0;
            match resent {
                Resent::Message { bytes, .. } => {
                    batch.add(Direction::Out, "resent", session, bytes);
                }
                Resent::GapFill { bytes, .. } => {
                    batch.add(Direction::Out, "gap fill", session, bytes);
                }
                Resent::Gone {
                    first,
                    last,
                    segment,
                } => lost.push(format!(
                    "resent messages {first} to {last} of {}: their segment {segment} was removed",
                    names.get(session as usize).map_or("?", String::as_str)
                )),
            }
            Ok(())
        })?;
        let file = &self.file;
        for why in lost {
            left_out.push(LeftOut::whole(file, why));
        }
        for effect in record.effects {
            let name = names.get(effect.session.0 as usize);
            if !name.is_some_and(|name| is_notes(name)) {
                batch.add(Direction::Out, "", effect.session.0, effect.bytes);
            }
        }
        Ok(true)
    }
}

/// Adds the inbound message of a record.
fn received(
    record: &Record<'_>,
    dequeued: bool,
    originals: &mut Originals,
    batch: &mut Batch,
) -> Result<(), JournalError> {
    let mark = match record.kind {
        RecordKind::Message => "",
        RecordKind::Queued => "queued",
        RecordKind::Duplicate => "duplicate",
        RecordKind::Ignored => "ignored",
        RecordKind::Dequeued if dequeued => "dequeued",
        _ => return Ok(()),
    };
    if let Some(bytes) = originals.inbound(record)? {
        batch.add(Direction::In, mark, record.session.0, bytes);
    }
    Ok(())
}

impl LogInput for JournalInput {
    fn advance(&mut self, left_out: &mut LeftOuts) -> Step {
        self.batch.current += 1;
        if self.batch.current < self.batch.items.len() {
            return Step::Message;
        }
        loop {
            let is_removed_beginning = !self.has_begun;
            let collected = self.collect(left_out);
            self.has_begun |= matches!(collected, Ok(true));
            let missed = self.tail.missed();
            if missed != self.missed {
                self.missed = missed;
                let (first, last) = missed.unwrap_or_default();
                let why = format!("segments {first} to {last} were removed before they were read");
                left_out.push(LeftOut {
                    is_removed_beginning,
                    ..LeftOut::whole(&self.file, why)
                });
            }
            match collected {
                Ok(true) if self.batch.items.is_empty() => {}
                Ok(true) => return Step::Message,
                Ok(false) if self.follow => return Step::Wait,
                Ok(false) => return Step::End,
                Err(error) => {
                    let why = format!("the rest of the journal: {error}");
                    left_out.push(LeftOut::whole(&self.file, why));
                    return Step::End;
                }
            }
        }
    }

    fn entry(&self) -> LogEntry<'_> {
        let item = &self.batch.items[self.batch.current];
        LogEntry {
            file: &self.file,
            place: LogPlace::Journal {
                segment: self.batch.at.segment(),
                offset: self.batch.at.offset(),
            },
            bytes: &self.batch.bytes[item.bytes.clone()],
            fault: None,
            journal_session: Some(self.names.get(item.session).map_or("?", String::as_str)),
            mark: item.mark,
            known_direction: Some(item.direction),
            known_time: Some((self.batch.wall, TimeSource::Journal)),
            prefix: b"",
            hints: &self.hints,
            record: Some(&self.batch),
        }
    }
}
