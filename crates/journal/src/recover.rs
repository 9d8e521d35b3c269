//! Recovery: reads every record, and accepts no record whose CRC is wrong.

use super::base::Start;
use super::checkpoint::Checkpoint;
use super::error::Damage;
use super::known::Known;
use super::record::{
    EFFECT, EffectHead, Fault, Found, Head, RECORD, RecordKind, SYNCED_AT, find, is_record,
    never_written, padded, unpublished,
};
use super::resent;
use super::segment::{HEADER, JournalPosition, SegmentHeader, first_not_zero, long, word};
use super::{JournalConfig, JournalError, JournalId, SequenceCounters};
use std::collections::VecDeque;

/// The end of the records in a segment, and the bytes after it if they are not all zero.
#[derive(Debug)]
pub(super) struct End {
    pub(super) at: usize,
    pub(super) salt: u64,
    pub(super) bad: Option<Bad>,
}

/// Non-zero bytes after the last record.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) damage: Damage,
    /// Offset after the last non-zero byte.
    pub(super) until: usize,
    /// Whether the bytes are an incomplete record, which nothing valid follows.
    pub(super) torn: bool,
}

/// Reads segments in order, and rebuilds the state of the journal.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) config: JournalConfig,
    pub(super) previous_salt: u64,
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// The position up to which the journal was on disk when its last record was written.
    pub(super) synced: JournalPosition,
    pub(super) sessions: Vec<Known>,
    /// Records whose length is missing, each with the length that it must have.
    pub(super) unpublished: Vec<(JournalPosition, u32)>,
    /// The index of the first record to read.
    begin: u64,
    /// Whether the checkpoint at the beginning of the journal is still incomplete.
    pub(super) awaiting: bool,
    /// The checkpoint that is being read.
    pub(super) reading: Option<Checkpoint>,
    /// Segments that begin with a checkpoint.
    pub(super) checkpoints: VecDeque<Checkpoint>,
}

impl Scan {
    /// A scan that begins with the first segment, or with a segment that begins with a checkpoint.
    pub(super) fn new(config: JournalConfig, start: Option<Start>) -> Self {
        let Start {
            previous_salt,
            record,
            ..
        } = start.unwrap_or(Start::BEGIN);
        Self {
            config,
            previous_salt,
            records: record,
            begin: record,
            awaiting: start.is_some_and(|start| start != Start::BEGIN),
            reading: None,
            checkpoints: VecDeque::new(),
            bytes: 0,
            synced: JournalPosition::START,
            sessions: Vec::new(),
            unpublished: Vec::new(),
        }
    }

    /// Reads all records of one segment.
    pub(super) fn segment(
        &mut self,
        bytes: &[u8],
        number: u32,
        file: &str,
    ) -> Result<End, JournalError> {
        let header = SegmentHeader::read(bytes, number, self.previous_salt, file)?;
        let salt = header.salt;
        self.previous_salt = salt;
        let mut at = HEADER;
        let fault = loop {
            match find(bytes, at, salt) {
                Found::Record(head) => match self.apply(bytes, number, at, &head) {
                    Ok(()) => at += head.length as usize,
                    Err(fault) => break fault,
                },
                Found::Nothing => match first_not_zero(&bytes[at..]) {
                    Some(_) if self.take_unpublished(bytes, number, &mut at, salt) => {}
                    None if self.awaiting => {
                        break Fault {
                            at,
                            expected: "the checkpoint that the journal begins with".into(),
                            found: "its end".into(),
                        };
                    }
                    None => {
                        return Ok(End {
                            at,
                            salt,
                            bad: None,
                        });
                    }
                    Some(offset) => {
                        break Fault {
                            at: at + offset,
                            expected: "zeros behind the last record".into(),
                            found: format!("byte {:#04x}", bytes[at + offset]),
                        };
                    }
                },
                Found::Fault(fault) => break fault,
            }
        };
        // The very first record of a journal is on disk before anything depends on it. So if that record has a length
        // but is not readable, the data of a journal was lost here.
        let lost_all = self.awaiting || self.records == self.begin && word(bytes, at) != 0;
        let torn = !lost_all
            && match self.follower(bytes, JournalPosition::new(number, at as u32), salt) {
                Follower::None => true,
                Follower::Unsynced { at: next } => never_written(bytes, at..next, salt),
                Follower::Synced => false,
            };
        let until = at
            + bytes[at..]
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |last| last + 1);
        let damage = Damage {
            file: file.to_owned(),
            offset: fault.at as u64,
            expected: fault.expected,
            found: fault.found,
        };
        Ok(End {
            at,
            salt,
            bad: Some(Bad {
                damage,
                until,
                torn,
            }),
        })
    }

    /// Accepts the record at `at` if only its length is missing. The length alone is missing when a later page, with a
    /// later record, reached the disk before the page with the length. The checksum confirms the record. The lengths of
    /// the next records, up to the later one, may be missing too; all of these records are complete.
    fn take_unpublished(&mut self, bytes: &[u8], number: u32, at: &mut usize, salt: u64) -> bool {
        let hole = JournalPosition::new(number, *at as u32);
        let Follower::Unsynced { at: next } = self.follower(bytes, hole, salt) else {
            return false;
        };
        let Some(head) = unpublished(bytes, *at, next, salt) else {
            return false;
        };
        let mut end = *at + head.length as usize;
        while let Some(head) = unpublished(bytes, end, next, salt) {
            end += head.length as usize;
        }
        if end < next {
            return false;
        }
        if self.apply(bytes, number, *at, &head).is_err() {
            return false;
        }
        self.unpublished.push((hole, head.length));
        *at += head.length as usize;
        true
    }

    /// The records of this segment after `hole`, a position at which no record is readable.
    fn follower(&self, bytes: &[u8], hole: JournalPosition, salt: u64) -> Follower {
        let could_be = self.records..self.records + (bytes.len() / RECORD) as u64;
        let mut found = Follower::None;
        let mut place = hole.offset() as usize;
        while bytes.len() - place >= RECORD {
            if word(bytes, place) == 0
                || !could_be.contains(&long(bytes, place + 8))
                || !is_record(bytes, place, salt)
            {
                place += 8;
                continue;
            }
            let synced = JournalPosition::from_bits(long(bytes, place + SYNCED_AT));
            if !self.config.synced_before_sent || synced > hole {
                return Follower::Synced;
            }
            if matches!(found, Follower::None) {
                found = Follower::Unsynced { at: place };
            }
            place += word(bytes, place) as usize;
        }
        found
    }

    fn apply(&mut self, bytes: &[u8], number: u32, at: usize, head: &Head) -> Result<(), Fault> {
        let fault = |at: usize, expected: String, found: String| {
            Err(Fault {
                at,
                expected,
                found,
            })
        };
        if head.index != self.records {
            return fault(
                at + 8,
                format!("record index {}", self.records),
                format!("{}", head.index),
            );
        }
        let body = at + RECORD..at + RECORD + head.body as usize;
        let id = head.session.0 as usize;
        if self.awaiting && head.kind != RecordKind::Carried {
            let expected = "the checkpoint that the journal begins with".into();
            return fault(at + 36, expected, "another record".into());
        }
        if head.kind == RecordKind::Carried {
            self.carry(bytes, number, at, head)?;
        }
        if head.kind == RecordKind::Session {
            if id != self.sessions.len() {
                let expected = format!("the next session, {}", self.sessions.len());
                return fault(at + 32, expected, format!("session {id}"));
            }
            match str::from_utf8(&bytes[body.clone()]) {
                Ok(name) => {
                    self.sessions
                        .push(Known::new(name.to_owned(), head.wall, &self.config))
                }
                Err(_) => {
                    return fault(at + RECORD, "a name in UTF-8".into(), "other bytes".into());
                }
            }
        }
        let known_sessions = self.sessions.len();
        let unknown = |at: usize, id: JournalId| {
            fault(
                at,
                format!("a session below {known_sessions}"),
                format!("session {}", id.0),
            )
        };
        let Some(known) = self.sessions.get_mut(id) else {
            return unknown(at + 32, head.session);
        };
        let here = JournalPosition::new(number, at as u32);
        if let Some(expected) = resent::fault(head.kind, &bytes[body.clone()], here) {
            return fault(at + RECORD, expected.into(), "another body".into());
        }
        let counters = SequenceCounters {
            next_in: head.next_in,
            next_out: head.next_out,
            epoch: head.epoch,
        };
        known.set(head.wall, counters);
        if head.kind == RecordKind::Note {
            known.take_note(&bytes[body]);
        }
        let mut place = at + RECORD + padded(head.body as usize);
        for _ in 0..head.effects {
            let effect = EffectHead::read(bytes, place);
            let Some(known) = self.sessions.get_mut(effect.session.0 as usize) else {
                return unknown(place, effect.session);
            };
            let previous = known.link(effect.seq);
            if previous != effect.previous {
                return fault(
                    place + 16,
                    format!("previous message at {:#x}", previous.bits()),
                    format!("{:#x}", effect.previous.bits()),
                );
            }
            known
                .index
                .push(effect.seq, JournalPosition::new(number, place as u32));
            if effect.session != head.session {
                known.counters.next_out = effect.seq.saturating_add(1);
            }
            place += EFFECT + padded(effect.length as usize);
        }
        self.records += 1;
        self.synced = self.synced.max(head.synced);
        self.bytes += u64::from(head.length);
        Ok(())
    }
}

/// The bytes after a position without a readable record.
enum Follower {
    /// No record.
    None,
    /// Records, the first one at `at`, that were all written before the position was synced.
    Unsynced { at: usize },
    /// A record that was written, or may have been written, when the position was already on disk.
    Synced,
}
