//! The checkpoint at the start of a segment: the state of every session.
//!
//! A checkpoint consists of one record of kind [`Carried`](RecordKind::Carried) for each session, in the order of the
//! ids of the sessions. Recovery may begin with a checkpoint. If recovery has read the records before the checkpoint,
//! it compares the checkpoint with them.

use super::base::Start;
use super::carried::{CARRIED, Carried};
use super::index::Index;
use super::known::Known;
use super::record::Fault;
use super::record::{Head, RECORD};
use super::recover::Scan;
use super::segment::{HEADER, long, word};
use super::watch::Untold;
use super::{Cause, Disk, Journal, JournalError, JournalId, RecordKind, Segment, SequenceCounters};
use fixwire_protocol::time::Timestamp;

/// A segment that begins with a checkpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Checkpoint {
    pub(super) start: Start,
    /// Time at which the checkpoint was written. All earlier records are older.
    pub(super) wall: Timestamp,
}

impl Checkpoint {
    /// Reads the checkpoint's data from the beginning of a segment: its header and the head of its first record.
    pub(super) fn peek(bytes: &[u8]) -> Option<Self> {
        let head = Head::read(bytes.get(..HEADER + RECORD)?, HEADER)?;
        (head.length != 0 && head.kind == RecordKind::Carried).then_some(Self {
            start: Start {
                segment: word(bytes, 16),
                previous_salt: long(bytes, 32),
                record: head.index,
            },
            wall: head.wall,
        })
    }
}

impl<D: Disk> Journal<D> {
    /// Writes the checkpoint at the beginning of a new segment. Writes no checkpoint if the checkpoint would take
    /// more than a quarter of the segment, or would leave no room for the record that needed the new segment.
    pub(super) fn write_checkpoint(
        &mut self,
        wall: Timestamp,
        needed: usize,
    ) -> Result<(), JournalError> {
        let of = self.sessions.len() as u32;
        let bytes: usize = self
            .sessions
            .iter()
            .map(|known| RECORD + CARRIED + known.name.len().next_multiple_of(8))
            .sum();
        let room = self.config.segment_bytes - HEADER;
        if bytes > room / 4 {
            self.keep_untold(Untold::Retiring(JournalError::TooManyNames {
                sessions: of,
                bytes: bytes as u64,
                limit: (room / 4) as u64,
            }));
        }
        if of == 0 || bytes > room / 4 || bytes + needed > room {
            return Ok(());
        }
        let (segment, record) = (self.end().segment(), self.records_written());
        let mut body = Vec::new();
        for id in 0..of {
            let known = &self.sessions[id as usize];
            let carried = Carried {
                last: known.index.last(),
                began: known.began,
                of,
                disabled: known.disabled,
                waiting: known.waiting(),
                name: &known.name,
            };
            carried.write(&mut body);
            let cause = Cause {
                session: JournalId(id),
                kind: RecordKind::Carried,
                inbound: Some(&body),
                next_in: known.counters.next_in,
                next_out: known.counters.next_out,
                epoch: known.counters.epoch,
            };
            self.append(wall, cause, std::iter::empty())?;
        }
        let previous_salt = self.previous_salt();
        self.checkpoints.push_back(Checkpoint {
            start: Start {
                segment,
                previous_salt,
                record,
            },
            wall,
        });
        self.look = Some(wall);
        Ok(())
    }

    fn previous_salt(&self) -> u64 {
        long(self.segments.back().bytes(), 32)
    }
}

impl Scan {
    /// Takes the state of a session from a checkpoint, or compares it with the known state.
    pub(super) fn carry(
        &mut self,
        bytes: &[u8],
        number: u32,
        at: usize,
        head: &Head,
    ) -> Result<(), Fault> {
        let fault = |at: usize, expected: String, found: String| {
            Err(Fault {
                at,
                expected,
                found,
            })
        };
        let body = &bytes[at + RECORD..][..head.body as usize];
        let id = head.session.0 as usize;
        let Some(carried) = Carried::read(body).filter(|carried| (carried.of as usize) > id) else {
            return fault(
                at + RECORD,
                "a session of a checkpoint".into(),
                "not one".into(),
            );
        };
        let counters = SequenceCounters {
            next_in: head.next_in,
            next_out: head.next_out,
            epoch: head.epoch,
        };
        if self.awaiting {
            if id != self.sessions.len() {
                let expected = format!("session {} of the checkpoint", self.sessions.len());
                return fault(at + 32, expected, format!("session {id}"));
            }
            let mut known = Known::new(carried.name.to_owned(), carried.began, &self.config);
            known.counters = counters;
            known.disabled = carried.disabled;
            let waits = carried.waiting > 0;
            known.waiting_from = waits.then(|| counters.next_out.saturating_sub(carried.waiting));
            known.index = Index::resume(self.config.index_entries, carried.last);
            self.sessions.push(known);
            self.awaiting = id + 1 < carried.of as usize;
        } else {
            let same = self.sessions.get(id).is_some_and(|known| {
                known.name == carried.name
                    && known.counters == counters
                    && known.began == carried.began
                    && known.disabled == carried.disabled
                    && known.index.last() == carried.last
            });
            if !same {
                let expected = format!("session {id} in the state that the earlier records give");
                return fault(at, expected, "another state".into());
            }
        }
        if id == 0 && at == HEADER {
            self.reading = Some(Checkpoint {
                start: Start {
                    segment: number,
                    previous_salt: long(bytes, 32),
                    record: head.index,
                },
                wall: head.wall,
            });
        }
        if id + 1 == carried.of as usize {
            self.checkpoints.extend(self.reading.take());
        }
        Ok(())
    }
}
