//! Reads the records after the damage, for the sequence numbers in them.

use std::collections::BTreeMap;

use fixwire_protocol::time::Timestamp;

use super::super::carried::Carried;
use super::super::record::{Head, RECORD, is_record, shape_fault};
use super::super::segment::{long, word};
use super::super::view::Record;
use super::super::{JournalId, RecordKind, SequenceCounters};

/// The state of a session after its last record.
#[derive(Clone, Debug)]
pub(super) struct Last {
    /// Name of the session, if a record has it.
    pub(super) name: Option<String>,
    pub(super) counters: SequenceCounters,
    /// Time at which the sequence numbers began.
    pub(super) began: Timestamp,
}

/// Everything readable after the damage.
#[derive(Debug, Default)]
pub(super) struct Behind {
    pub(super) sessions: BTreeMap<JournalId, Last>,
    /// Number of readable records.
    pub(super) readable: u64,
    /// The index after the last readable record.
    next_record: u64,
}

impl Behind {
    /// Number of records lost when the journal ends before record `next`.
    pub(super) fn lost(&self, next: u64) -> u64 {
        self.next_record.saturating_sub(next)
    }

    /// Reads the records of a segment from byte `from` on, at any position. `known` returns the state of a session
    /// before the damage. Returns the number of records.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        number: u32,
        from: usize,
        salt: u64,
        first: u64,
        known: &impl Fn(JournalId) -> Option<Last>,
    ) -> u64 {
        let (before, mut at) = (self.readable, from);
        while at + RECORD <= bytes.len() {
            // Most positions are zeros or are inside a record, so the checksum is computed for few of them.
            if word(bytes, at) == 0 || long(bytes, at + 8) < first || !is_record(bytes, at, salt) {
                at += 8;
                continue;
            }
            let Some(head) = Head::read(bytes, at) else {
                at += 8;
                continue;
            };
            if shape_fault(bytes, at, &head).is_some() {
                at += 8;
                continue;
            }
            self.take(&Record::view(bytes, number, at, &head), known);
            at += head.length as usize;
        }
        self.readable - before
    }

    fn take(&mut self, record: &Record<'_>, known: &impl Fn(JournalId) -> Option<Last>) {
        self.readable += 1;
        self.next_record = self.next_record.max(record.index + 1);
        let new = |id| {
            known(id).unwrap_or(Last {
                name: None,
                counters: SequenceCounters::NEW,
                began: record.wall,
            })
        };
        let id = record.session;
        let last = self.sessions.entry(id).or_insert_with(|| new(id));
        if last.counters.epoch != record.counters.epoch {
            last.began = record.wall;
        }
        last.counters = record.counters;
        if let Some(name) = record.session_name() {
            last.name = Some(name.to_owned());
        }
        if record.kind == RecordKind::Carried
            && let Some(carried) = Carried::read(record.body)
        {
            last.began = carried.began;
        }
        for effect in record.effects.filter(|effect| effect.session != id) {
            let other = self
                .sessions
                .entry(effect.session)
                .or_insert_with(|| new(effect.session));
            other.counters.next_out = effect.seq.saturating_add(1);
        }
    }
}
