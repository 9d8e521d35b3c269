//! Reads the messages to which a record refers from the journal's files.

use std::path::{Path, PathBuf};

use fixwire_protocol::repeat::repeat;
use fixwire_protocol::time::TimestampWriter;

use super::record::{CRC_AT, EFFECT, EffectHead, Head, RECORD, crc_of, shape_fault};
use super::resent::{Arrival, Run, Runs};
use super::segment::{JournalPosition, word};
use super::tail::{Open, failed};
use super::view::Record;
use super::{JournalError, RecordKind};

/// Number of segments kept open. Consecutive messages are in one or two segments.
const OPEN: usize = 2;

/// Messages that were sent for a ResendRequest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resent<'a> {
    /// A stored message, with the bytes that were sent.
    Message {
        /// MsgSeqNum of the message.
        seq: u64,
        /// The whole message.
        bytes: &'a [u8],
    },
    /// A gap fill.
    GapFill {
        /// MsgSeqNum of the gap fill.
        seq: u64,
        /// The last MsgSeqNum that the gap fill covers.
        last: u64,
        /// The whole message.
        bytes: &'a [u8],
    },
    /// Stored messages that the journal no longer has, because their segment was removed.
    Gone {
        /// The first MsgSeqNum.
        first: u64,
        /// The last MsgSeqNum.
        last: u64,
        /// The segment that had the missing messages.
        segment: u32,
    },
}

/// Reads messages to which records refer. The reader keeps a few messages in memory; for a compressed segment, the
/// whole segment.
#[derive(Debug)]
pub struct Originals {
    directory: PathBuf,
    /// The open segments; the most recently used one is last.
    open: Vec<(u32, Open)>,
    stored: Vec<u8>,
    resent: Vec<u8>,
    places: Vec<(u64, JournalPosition)>,
    stamp: TimestampWriter,
}

impl Originals {
    /// A reader of the journal in `directory`.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            open: Vec::new(),
            stored: Vec::new(),
            resent: Vec::new(),
            places: Vec::new(),
            stamp: TimestampWriter::new(),
        }
    }

    /// The inbound message: the body of the record; for [`RecordKind::Dequeued`], the body of the record in which the
    /// message was received, or `None` if that record was removed. `None` for records of other kinds.
    ///
    /// # Errors
    ///
    /// The system error.
    pub fn inbound<'a>(
        &'a mut self,
        record: &Record<'a>,
    ) -> Result<Option<&'a [u8]>, JournalError> {
        if record.kind.is_inbound() {
            return Ok(Some(record.body));
        }
        let arrival = Arrival::read(record.body).filter(|_| record.kind == RecordKind::Dequeued);
        let Some(Arrival { at, .. }) = arrival else {
            return Ok(None);
        };
        match self.record(at)? {
            Some(body) => Ok(Some(&self.stored[RECORD..][..body])),
            None => Ok(None),
        }
    }

    /// Passes each message that a record of kind [`RecordKind::Resent`] reports to `each`, in order. Does nothing for
    /// records of other kinds.
    ///
    /// # Errors
    ///
    /// The system error, or the error of `each`.
    pub fn resent(
        &mut self,
        record: &Record<'_>,
        mut each: impl FnMut(Resent<'_>) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let found = Runs::of(record.body).filter(|_| record.kind == RecordKind::Resent);
        let Some((precision, runs)) = found else {
            return Ok(());
        };
        for run in runs {
            let (first, last, at) = match run {
                Run::GapFill { first, last, bytes } => {
                    let seq = first;
                    each(Resent::GapFill { seq, last, bytes })?;
                    continue;
                }
                Run::Messages { first, last, at } => (first, last, at),
            };
            if let Some((last, at)) = self.find(record, (first, last), at)? {
                let segment = at.segment();
                each(Resent::Gone {
                    first,
                    last,
                    segment,
                })?;
            }
            while let Some((seq, at)) = self.places.pop() {
                let time = self.stamp.format(record.wall, precision);
                let stored = effect(&mut self.open, &self.directory, at, Some(&mut self.stored))?;
                let rebuilt =
                    stored.is_some() && repeat(&self.stored, time, &mut self.resent).is_ok();
                each(match rebuilt {
                    true => Resent::Message {
                        seq,
                        bytes: &self.resent,
                    },
                    false => Resent::Gone {
                        first: seq,
                        last: seq,
                        segment: at.segment(),
                    },
                })?;
            }
        }
        Ok(())
    }

    /// Finds the positions of the effects `first` to `last`, where the effect `last` is at position `at`. Stores the
    /// positions in `places`, the last one first. If some effects were removed, returns the last removed one and its
    /// position.
    fn find(
        &mut self,
        record: &Record<'_>,
        (first, last): (u64, u64),
        mut at: JournalPosition,
    ) -> Result<Option<(u64, JournalPosition)>, JournalError> {
        self.places.clear();
        for seq in (first..=last).rev() {
            let found = effect(&mut self.open, &self.directory, at, None)?
                .filter(|head| (head.session, head.seq) == (record.session, seq));
            let Some(head) = found else {
                return Ok(Some((seq, at)));
            };
            self.places.push((seq, at));
            at = head.previous;
        }
        Ok(None)
    }

    /// Reads the record at `at` into `stored`. Returns the length of its body; `None` if the record was removed.
    fn record(&mut self, at: JournalPosition) -> Result<Option<usize>, JournalError> {
        let Some(segment) = open(&mut self.open, &self.directory, at.segment())? else {
            return Ok(None);
        };
        let place = u64::from(at.offset());
        let failed = || failed(&self.directory, at.segment());
        let mut head = [0; RECORD];
        if !segment.read(place, &mut head).map_err(failed())? {
            return Ok(None);
        }
        let length = word(&head, 0) as usize;
        if length < RECORD || length as u64 > segment.len() {
            return Ok(None);
        }
        self.stored.resize(length, 0);
        let whole = segment.read(place, &mut self.stored).map_err(failed())?
            && crc_of(&self.stored, at.offset() as usize, segment.salt()) == word(&head, CRC_AT);
        let head = Head::read(&self.stored, 0).filter(|head| {
            whole && head.kind.is_inbound() && shape_fault(&self.stored, 0, head).is_none()
        });
        Ok(head.map(|head| head.body as usize))
    }
}

/// The segment with this number, which is opened if necessary; `None` if it was removed.
fn open<'a>(
    open: &'a mut Vec<(u32, Open)>,
    directory: &Path,
    number: u32,
) -> Result<Option<&'a Open>, JournalError> {
    match open.iter().position(|(known, _)| *known == number) {
        Some(at) => {
            let last = open.len() - 1;
            open.swap(at, last);
        }
        None => {
            let Some(found) = Open::find(directory, number)? else {
                return Ok(None);
            };
            if open.len() == OPEN {
                open.remove(0);
            }
            open.push((number, found));
        }
    }
    Ok(open.last().map(|(_, open)| open))
}

/// The effect at `at`; its message is read into `message`. `None` if it was removed.
fn effect(
    kept: &mut Vec<(u32, Open)>,
    directory: &Path,
    at: JournalPosition,
    message: Option<&mut Vec<u8>>,
) -> Result<Option<EffectHead>, JournalError> {
    let Some(segment) = open(kept, directory, at.segment())? else {
        return Ok(None);
    };
    let place = u64::from(at.offset());
    let failed = || failed(directory, at.segment());
    let mut head = [0; EFFECT];
    if !segment.read(place, &mut head).map_err(failed())? {
        return Ok(None);
    }
    let head = EffectHead::read(&head, 0);
    let fits = u64::from(head.length) <= segment.len();
    if let (true, Some(message)) = (fits, message) {
        message.resize(head.length as usize, 0);
        if !segment
            .read(place + EFFECT as u64, message)
            .map_err(failed())?
        {
            return Ok(None);
        }
    }
    Ok(fits.then_some(head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cause, Directory, Effect, Journal, JournalConfig, JournalId, Retention, Stored, Tail,
        Wrote, verify,
    };
    use fixwire_protocol::Precision;
    use fixwire_protocol::time::{Nanos, Timestamp};
    use std::fs;

    fn cause(session: JournalId, kind: RecordKind, body: &[u8], seq: u64) -> Cause<'_> {
        Cause {
            session,
            kind,
            inbound: Some(body),
            next_in: 1,
            next_out: seq + 1,
            epoch: 0,
        }
    }

    fn send(journal: &mut Journal<Directory>, session: JournalId, seq: u64) {
        let filler = "x".repeat(400);
        let text = format!("8=FIX.4.2|9=1|35=8|34={seq}|52=20260821-13:30:00|58={filler}|10=000|");
        let text = text.replace('|', "\x01");
        let bytes = text.as_bytes();
        let effect = Effect {
            session,
            seq,
            bytes,
        };
        let wall = Timestamp(seq as i64 * 1_000_000_000);
        let cause = cause(session, RecordKind::Sent, b"", seq);
        journal
            .append(wall, cause, std::iter::once(effect))
            .unwrap();
        journal.idle_work();
    }

    /// The content of the only record of kind Resent.
    fn resent(folder: &Path) -> Vec<String> {
        let mut tail = Tail::new(folder, JournalPosition::START);
        let mut originals = Originals::new(folder);
        let mut found = Vec::new();
        while let Some(record) = tail.next_record().unwrap() {
            let each = |resent: Resent<'_>| {
                found.push(match resent {
                    Resent::Message { seq, bytes } => {
                        let text = String::from_utf8_lossy(bytes).replace('\x01', "|");
                        format!("{seq} {}", &text[..text.find("|58=").unwrap()])
                    }
                    other => format!("{other:?}"),
                });
                Ok(())
            };
            originals.resent(&record, each).unwrap();
        }
        found
    }

    #[test]
    fn resent_messages_are_found_in_compressed_segments_and_missed_in_removed_ones() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("journal");
        let config = JournalConfig {
            segment_bytes: 4096,
            retention: Some(Retention {
                keep: None,
                resend: Some(Nanos(0)),
                compress: true,
            }),
            ..JournalConfig::default()
        };
        let directory = Directory::open(&folder).unwrap();
        let (mut journal, _) = Journal::open(directory, config).unwrap();
        let session = journal.register(Timestamp(0), "S").unwrap();
        let mut seq = 0;
        while journal.end().segment() < 2 {
            seq += 1;
            send(&mut journal, session, seq);
        }
        let mut wrote = Wrote::default();
        wrote.clear(Precision::Millis);
        let mut replay = journal.replay(session, 2, 4);
        while let Some(Stored::Message { seq, .. }) = journal.next_of(&mut replay).unwrap() {
            wrote.message(seq, replay.place());
        }
        let body = wrote.take_body();
        let cause = cause(session, RecordKind::Resent, &body, seq);
        journal
            .append(Timestamp(0), cause, std::iter::empty())
            .unwrap();
        let expected = [2, 3, 4].map(|seq| {
            format!(
                "{seq} 8=FIX.4.2|9=500|35=8|34={seq}|52=19700101-00:00:00.000|43=Y|\
                 122=20260821-13:30:00"
            )
        });
        let same = |found: &[String]| {
            let length = |text: &str| {
                let (before, after) = text.split_once("|9=").unwrap();
                let (_, after) = after.split_once('|').unwrap();
                format!("{before}|9=500|{after}")
            };
            found.iter().map(|text| length(text)).eq(expected.clone())
        };
        assert!(same(&resent(&folder)), "{:?}", resent(&folder));
        let plain = folder.join("00000001.fwj");
        while plain.exists() {
            seq += 1;
            send(&mut journal, session, seq);
            assert!(seq < 1000, "segment 1 is never retired");
        }
        assert!(same(&resent(&folder)), "{:?}", resent(&folder));
        assert_eq!(verify(&folder).unwrap().bad, None);
        fs::remove_file(folder.join("00000001.fwz")).unwrap();
        let gone = "Gone { first: 2, last: 4, segment: 1 }";
        // The tail begins where the journal still exists.
        assert_eq!(resent(&folder), [gone]);
    }
}
