//! A record, read in place.

use super::JournalId;
use super::carried::Carried;
use super::known::SequenceCounters;
use super::record::{EFFECT, Effect, EffectHead, Head, RECORD, RecordKind, padded, shape_fault};
use super::segment::{HEADER, JournalPosition, word};
use fixwire_protocol::time::Timestamp;

/// A record: a cause and its effects, borrowed from the journal.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The position of the record.
    pub at: JournalPosition,
    /// The position after the record.
    pub end: JournalPosition,
    /// Number of earlier records.
    pub index: u64,
    /// Time at which the record was written.
    pub wall: Timestamp,
    /// The position up to which the journal was known to be on disk when the record was written.
    pub synced: JournalPosition,
    /// The session of the event.
    pub session: JournalId,
    /// The kind of event.
    pub kind: RecordKind,
    /// The session's sequence numbers after the event.
    pub counters: SequenceCounters,
    /// The inbound message, the session's name or the text of a note.
    pub body: &'a [u8],
    /// The messages that were sent because of the event.
    pub effects: Effects<'a>,
}

impl<'a> Record<'a> {
    /// The record whose fixed part is at `at` of this segment. The record's structure was checked before.
    pub(super) fn view(bytes: &'a [u8], segment: u32, at: usize, head: &Head) -> Self {
        let end = at + head.length as usize;
        let effects = at + RECORD + padded(head.body as usize);
        Self {
            at: JournalPosition::new(segment, at as u32),
            end: JournalPosition::new(segment, end as u32),
            index: head.index,
            wall: head.wall,
            synced: head.synced,
            session: head.session,
            kind: head.kind,
            counters: SequenceCounters {
                next_in: head.next_in,
                next_out: head.next_out,
                epoch: head.epoch,
            },
            body: &bytes[at + RECORD..][..head.body as usize],
            effects: Effects {
                bytes: &bytes[effects..end],
            },
        }
    }

    /// The name of the record's session, if the record contains it.
    #[must_use]
    pub fn session_name(&self) -> Option<&'a str> {
        match self.kind {
            RecordKind::Session => str::from_utf8(self.body).ok(),
            RecordKind::Carried => Carried::read(self.body).map(|carried| carried.name),
            _ => None,
        }
    }
}

/// The messages in one record, in the order in which they were written.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Effects<'a> {
    type Item = Effect<'a>;

    fn next(&mut self) -> Option<Effect<'a>> {
        if self.bytes.is_empty() {
            return None;
        }
        let head = EffectHead::read(self.bytes, 0);
        let message = &self.bytes[EFFECT..][..head.length as usize];
        self.bytes = &self.bytes[EFFECT + padded(message.len())..];
        Some(Effect {
            session: head.session,
            seq: head.seq,
            bytes: message,
        })
    }
}

/// The records in a segment's bytes, as long as their structure is valid.
pub(super) fn records_of(bytes: &[u8], number: u32) -> impl Iterator<Item = Record<'_>> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let room = bytes.len().saturating_sub(at);
        if room < RECORD || !(RECORD..=room).contains(&(word(bytes, at) as usize)) {
            return None;
        }
        let head = Head::read(bytes, at)?;
        if shape_fault(bytes, at, &head).is_some() {
            return None;
        }
        let record = Record::view(bytes, number, at, &head);
        at += head.length as usize;
        Some(record)
    })
}
