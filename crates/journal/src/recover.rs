//! Recovery: reads every record, and accepts none whose CRC is wrong.

use super::base::Start;
use super::checkpoint::Checkpoint;
use super::error::Damage;
use super::known::Known;
use super::newest::newest_is_missing;
use super::recall::{Recalled, Take, not_held, recall};
use super::record::{
    EFFECT, EffectHead, Fault, Found, Head, RECORD, RecordKind, SYNCED_AT, find, is_record,
    never_written, padded, unpublished,
};
use super::resent;
use super::segment::{HEADER, JournalPosition, SegmentHeader, VERSION, first_not_zero, long, word};
use super::segments::{Kept, Segments};
use super::{Disk, Journal, JournalConfig, JournalError, JournalId, Segment, SequenceCounters};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::panic::resume_unwind;
use std::thread;

/// The state found when the journal was opened.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Recovered {
    /// Records that were read.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The rest of an unfinished record after a crash, which was cut off.
    pub torn: Option<Torn>,
}

/// The unfinished end of a journal, zeroed when it was opened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Torn {
    /// The file.
    pub file: String,
    /// Where the unfinished record began.
    pub offset: u64,
    /// Bytes from there to the last one that was not zero.
    pub bytes: u64,
    /// Why it is not a record.
    pub why: Damage,
}

impl fmt::Display for Torn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            offset,
            bytes,
            why,
        } = self;
        write!(
            f,
            "the journal's unfinished end was cut off: {bytes} bytes of {file} from byte {offset} (at byte \
             {}: expected {}, found {}); a crash during a write causes this, but a damaged last record looks \
             the same, and with durability process its messages may have been sent: compare sequence numbers \
             with the counterparties",
            why.offset, why.expected, why.found
        )
    }
}

impl<D: Disk> Journal<D> {
    /// Opens the journal of a disk, or begins one when the disk has no segment.
    ///
    /// All segments are read, one mapped at a time, and every checksum is computed. An unfinished record at the end, with
    /// nothing behind it, is cut off and reported in [`Recovered::torn`]. The order of events is: read
    /// all, then change what must be changed, then sync; so a crash on the way changes nothing.
    ///
    /// # Errors
    ///
    /// [`JournalError::Damaged`] for anything else that the journal did not write: no file is changed
    /// then. And what the disk answers.
    pub fn open(disk: D, config: JournalConfig) -> Result<(Self, Recovered), JournalError> {
        let (journal, recovered, _) = Self::read(disk, config, None)?;
        Ok((journal, recovered))
    }

    /// Opens the journal like [`open`](Self::open), and gives the newest checkpoint of the application with this name
    /// to `take`, with its version; when that does not want it, the one before. Where two threads can do it, the
    /// checkpoint is read and taken while the segments are read; so `take` may have been called although the journal cannot
    /// be read.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and when the checkpoints cannot be listed or read.
    pub fn open_with_state(
        disk: D,
        config: JournalConfig,
        name: &str,
        take: &mut Take<'_>,
    ) -> Result<(Self, Recovered, Recalled), JournalError> {
        Self::read(disk, config, Some((name, take)))
    }

    fn read(
        mut disk: D,
        config: JournalConfig,
        wanted: Option<(&str, &mut Take<'_>)>,
    ) -> Result<(Self, Recovered, Recalled), JournalError> {
        config.check()?;
        let base = disk.base()?;
        let start = base.map_or(Start::BEGIN, |base| base.first);
        // Before the names: meanwhile no segment is made.
        let newest = disk.newest()?;
        let mut numbers = disk.segments()?;
        numbers.retain(|&number| number >= start.segment);
        if numbers.is_empty() && base.is_some() {
            return Err(JournalError::Damaged(Damage {
                file: disk.name(start.segment),
                offset: 0,
                expected: "the segment that the journal begins with".into(),
                found: "no such file".into(),
            }));
        }
        if let Some(newest) = newest.filter(|&newest| newest > numbers.last().copied().unwrap_or(0))
        {
            return Err(JournalError::Damaged(newest_is_missing(disk.name(newest))));
        }
        let mut scan = Scan::new(config, base.map(|base| base.first));
        let listed = start.segment..=numbers.last().copied().unwrap_or(0);
        let states = disk.states().filter(|_| wanted.is_some());
        let recall = states
            .zip(wanted)
            .map(|(mut states, wanted)| move || recall(&mut *states, &listed, wanted));
        let mut read = || Self::read_all(&mut disk, start.segment, &numbers, &mut scan);
        let ((segments, end), recalled) = match recall {
            None => (read()?, Recalled::default()),
            Some(recall) if D::BESIDE => {
                let (read, recalled) = beside(read, recall)?;
                (read?, recalled?)
            }
            Some(recall) => (read()?, recall()?),
        };
        if let (Some(number), Some(end)) = (recalled.segment, &end)
            && (number > segments.last() || number == segments.last() && end.at == HEADER)
        {
            return Err(not_held(disk.name(number)));
        }
        let last_number = numbers.last().copied().unwrap_or(0);
        let mut recovered = Recovered {
            records: scan.records - start.record,
            bytes: scan.bytes,
            torn: None,
        };
        let mut journal = Self {
            disk,
            config,
            segments,
            salt: 0,
            at: HEADER,
            last: HEADER,
            outdated: false,
            record: scan.records,
            names: HashMap::new(),
            sessions: scan.sessions,
            synced: JournalPosition::new(start.segment, 0),
            poisoned: false,
            prefaulted: HEADER,
            prefetched: 0,
            next: None,
            start,
            recalled: recalled.segment.map(|_| start.segment),
            checkpoints: scan.checkpoints,
            look: None,
            troubles: Vec::new(),
        };
        let Some(end) = end else {
            journal.begin()?;
            return Ok((journal, recovered, recalled));
        };
        for (id, known) in (0..).map(JournalId).zip(&journal.sessions) {
            // The first of a name, should it ever appear twice.
            let name = known.name.as_str().into();
            journal.names.entry(name).or_insert(id);
        }
        for (place, length) in scan.unpublished {
            let Self { segments, disk, .. } = &mut journal;
            if let Some(segment) = segments.get(disk, place.segment())? {
                segment.publish(place.offset() as usize, length);
            }
        }
        journal.salt = end.salt;
        journal.at = end.at;
        journal.outdated = end.version < VERSION;
        journal.prefaulted = end.at;
        if let Some(bad) = end.bad {
            journal.cut(bad.until);
            recovered.torn = Some(Torn {
                file: bad.damage.file.clone(),
                offset: end.at as u64,
                bytes: (bad.until - end.at) as u64,
                why: bad.damage,
            });
        }
        if config.synced_before_sent
            && !crate::canary::is(crate::canary::PlantedFault::SkipStoreAgain)
        {
            journal.store_again(scan.synced)?;
        }
        journal.sync_what_was_read(scan.synced)?;
        if newest.is_none_or(|newest| newest < last_number) {
            journal.disk.set_newest(last_number)?;
        }
        journal.segments.back_mut().appending(true);
        journal.idle_work();
        Ok((journal, recovered, recalled))
    }

    /// Opens and reads these segments, one after the other and without a change to any: what is known of those
    /// up to the last that holds something, that one, which stays mapped, and how it ends. The ones behind it
    /// were made ahead: they are made again when they are needed.
    fn read_all(
        disk: &mut D,
        first: u32,
        numbers: &[u32],
        scan: &mut Scan,
    ) -> Result<(Segments<D::Segment>, Option<End>), JournalError> {
        let mut kept = VecDeque::with_capacity(numbers.len() + 64);
        let mut end: Option<End> = None;
        let mut last = None;
        let mut holding = 0;
        for (expected, &number) in (first..).zip(numbers) {
            if number != expected {
                return Err(JournalError::Damaged(Damage {
                    file: disk.name(expected),
                    offset: 0,
                    expected: "this segment".into(),
                    found: format!("no such file, although {} exists", disk.name(number)),
                }));
            }
            let mut segment = disk.open(number)?;
            let length = segment.bytes().len();
            segment.read_ahead(0, length);
            let found = scan.segment(segment.bytes(), number, &disk.name(number))?;
            kept.push_back(Kept {
                length: length as u32,
                salt: found.salt,
            });
            let holds_something = found.at > HEADER || found.bad.is_some();
            if let Some(End { bad: Some(bad), .. }) = &end
                && holds_something
            {
                return Err(JournalError::Damaged(bad.damage.clone()));
            }
            if holds_something || end.is_none() {
                (last, holding) = (Some(segment), kept.len());
                end = Some(found);
            }
        }
        if let Some(End { bad: Some(bad), .. }) = &end
            && !bad.torn
        {
            return Err(JournalError::Damaged(bad.damage.clone()));
        }
        kept.truncate(holding);
        Ok((Segments::recovered(first, kept, last), end))
    }

    /// Makes the first segment.
    fn begin(&mut self) -> Result<(), JournalError> {
        let header = SegmentHeader {
            version: VERSION,
            number: 1,
            length: self.config.segment_bytes as u32,
            salt: self.disk.salt(),
            previous_salt: 0,
        };
        let mut segment = self
            .disk
            .create(1, header.length as usize, &header.to_bytes())?;
        segment.appending(true);
        self.prefaulted = self.ready_at_first();
        self.prefetched = 0;
        if self.disk.ring().is_some() {
            self.segments.keep_all_mapped();
        }
        self.segments.push(segment, header.salt);
        self.salt = header.salt;
        self.synced = JournalPosition::new(1, HEADER as u32);
        self.idle_work();
        Ok(())
    }

    /// Zeroes the last segment from its end to `until`, last bytes first, so that a crash on the way
    /// leaves an unfinished record again.
    fn cut(&mut self, until: usize) {
        const ZEROS: [u8; 4096] = [0; 4096];
        let (from, segment) = (self.at, self.segments.back_mut());
        let mut to = until;
        while to > from {
            let start = (to - 1) / 4096 * 4096;
            let start = start.max(from);
            segment.store(start, &ZEROS[..to - start]);
            to = start;
        }
    }

    /// Stores the pages from `synced` on once more, with the bytes they have. After a sync that failed
    /// the system takes them for written although they are not: the next sync would leave them out.
    fn store_again(&mut self, synced: JournalPosition) -> Result<(), JournalError> {
        const PAGE: usize = 4096;
        let last = self.end();
        let mut copy = [0; PAGE];
        for number in synced.segment().max(self.segments.first())..=last.segment() {
            let Some(segment) = self.segments.get(&mut self.disk, number)? else {
                continue;
            };
            let from = match number == synced.segment() {
                true => synced.offset() as usize / PAGE * PAGE,
                false => 0,
            };
            let to = match number == last.segment() {
                true => last.offset() as usize,
                false => segment.bytes().len(),
            };
            for at in (from..to).step_by(PAGE) {
                let page = &mut copy[..PAGE.min(to - at)];
                page.copy_from_slice(&segment.bytes()[at..at + page.len()]);
                segment.store(at, page);
            }
        }
        Ok(())
    }

    /// What earlier processes wrote may still be in the memory of the system only. Where nothing waits for
    /// the disk, nothing is promised of what no sync has covered: the next sync goes on from there.
    fn sync_what_was_read(&mut self, synced: JournalPosition) -> Result<(), JournalError> {
        if !self.config.synced_before_sent {
            self.synced = self.synced.max(synced.min(self.end()));
            return Ok(());
        }
        for number in self.segments.first()..=self.segments.last() {
            if let Some(segment) = self.segments.get(&mut self.disk, number)? {
                let len = segment.bytes().len();
                segment
                    .sync(0, len)
                    .map_err(JournalError::io("sync", self.disk.name(number)))?;
            }
        }
        self.synced = self.end();
        Ok(())
    }
}

/// Does the one thing on a thread of its own, and the other meanwhile here.
fn beside<A: Send, B>(
    there: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> Result<(A, B), JournalError> {
    thread::scope(|scope| {
        let thread = fixwire_threads::spawn_scoped(scope, "journal-read", there)
            .map_err(JournalError::io("start", "a thread of the journal"))?;
        let here = here();
        match thread.join() {
            Ok(there) => Ok((there, here)),
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// Where the records of a segment end, and the bytes after them if they are not zeros.
#[derive(Debug)]
pub(super) struct End {
    pub(super) at: usize,
    pub(super) salt: u64,
    pub(super) version: u32,
    pub(super) bad: Option<Bad>,
}

/// Bytes behind the last record that are not zero.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) damage: Damage,
    /// Behind the last byte that is not zero.
    pub(super) until: usize,
    /// Whether an unfinished record explains them: nothing valid follows.
    pub(super) torn: bool,
}

/// Reads segments in their order and rebuilds what the journal knows.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) config: JournalConfig,
    pub(super) previous_salt: u64,
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// Up to where the journal was on the disk when its last record was written.
    pub(super) synced: JournalPosition,
    pub(super) sessions: Vec<Known>,
    /// Records without their length, and the length they have.
    unpublished: Vec<(JournalPosition, u32)>,
    /// The index of the first record that is read.
    begin: u64,
    /// The checkpoint that the journal begins with was not read to its end.
    pub(super) awaiting: bool,
    /// The checkpoint that is being read.
    pub(super) reading: Option<Checkpoint>,
    /// Segments that begin with one.
    pub(super) checkpoints: VecDeque<Checkpoint>,
}

impl Scan {
    /// Reads from the first segment on, or from one that begins with a checkpoint.
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
        let header = SegmentHeader::read(bytes, number, self.previous_salt, file)
            .map_err(JournalError::Damaged)?;
        let SegmentHeader { salt, version, .. } = header;
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
                            version,
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
        // The first record of all is on the disk before anyone can depend on it; if it is published
        // and not readable, there was a journal here.
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
            version,
            bad: Some(Bad {
                damage,
                until,
                torn,
            }),
        })
    }

    /// Accepts the record at `at` when only its length is missing: another page with a later
    /// record was on the disk before the length was. The checksum proves it. Others behind it may lack
    /// theirs too, up to that later record: then all of them are whole.
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

    /// Records of this segment behind `hole`, where none can be read.
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

/// The content behind a place where no record can be read.
enum Follower {
    /// No record.
    None,
    /// Records, the first of them here, that were all written before the place was synced.
    Unsynced { at: usize },
    /// A record that was written when the place was on the disk, or may have been.
    Synced,
}
