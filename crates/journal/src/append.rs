//! Writes records in one pass: first the body of a record, then its length.

use super::base::Start;
use super::canary::{self, PlantedFault};
use super::checkpoint::Checkpoint;
use super::known::{Known, LOGGED_ON_FROM, SequenceCounters};
use super::record::{CRC_AT, EFFECT, Effect, EffectHead, Head, RECORD, RecordKind, crc, padded};
use super::segment::{HEADER, JournalPosition, SegmentHeader};
use super::segments::Segments;
use super::watch::Untold;
use super::{Disk, JournalConfig, JournalError, JournalId, Segment};
use fixwire_protocol::time::Timestamp;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// Number of bytes that are made writable at once. Making pages writable takes about five microseconds if the pages are
/// in memory, as in a new segment.
const PREFAULT: usize = 64 << 10;
/// Number of effects of a record that are kept between measuring and writing. Few records have more; finding an effect
/// again costs more than keeping it.
const KEPT_EFFECTS: usize = 6;
/// Number of bytes after the last record that [`Journal::idle_work`] keeps writable.
const PREFAULT_AHEAD: usize = 128 << 10;
/// Number of bytes after the last record that [`Journal::idle_work`] keeps in this core's cache.
const PREFETCH_AHEAD: usize = 2 << 10;

/// The event that a record describes, and the session's sequence numbers after the event.
#[derive(Clone, Copy, Debug)]
pub struct Cause<'a> {
    /// The session to which the event belongs.
    pub session: JournalId,
    /// The kind of event.
    pub kind: RecordKind,
    /// The inbound message, or the text of a note.
    pub inbound: Option<&'a [u8]>,
    /// The next MsgSeqNum that the session expects.
    pub next_in: u64,
    /// The next MsgSeqNum that the session sends.
    pub next_out: u64,
    /// Number of resets of the session. When this number changes, earlier MsgSeqNums are dropped.
    pub epoch: u32,
}

/// The journal of one engine.
///
/// One thread owns a journal. After [`Journal::open`] the journal allocates memory only when a segment is full.
#[derive(Debug)]
pub struct Journal<D: Disk> {
    pub(super) disk: D,
    pub(super) config: JournalConfig,
    pub(super) segments: Segments<D::Segment>,
    /// Salt of the last segment.
    pub(super) salt: u64,
    /// Offset of the next record in the last segment.
    pub(super) at: usize,
    /// Offset of the last record.
    pub(super) last: usize,
    /// Index of the next record.
    pub(super) record: u64,
    pub(super) sessions: Vec<Known>,
    /// The session's id, by its name.
    pub(super) names: HashMap<Box<str>, JournalId>,
    pub(super) synced: JournalPosition,
    pub(super) poisoned: bool,
    pub(super) prefaulted: usize,
    /// End of the part of the last segment that is prefetched into the cache.
    pub(super) prefetched: usize,
    /// The header of the next segment, if that segment was already requested ahead of its use.
    pub(super) next: Option<SegmentHeader>,
    /// The position at which recovery would begin to read.
    pub(super) start: Start,
    /// Set when the start used a checkpoint of the application's state: the segment from which notes are still
    /// needed, until two new checkpoints are complete.
    pub(super) recalled: Option<u32>,
    /// Later segments at which recovery could begin.
    pub(super) checkpoints: VecDeque<Checkpoint>,
    /// Set while old segments must be checked once more: the time at which the last segment was begun. `None` when no
    /// check is due.
    pub(super) look: Option<Timestamp>,
    /// Errors that were not reported yet.
    pub(super) troubles: Vec<Untold>,
    /// With a planted fault: offset and length of the last record, which is not valid yet.
    pub(super) late: Option<(usize, u32)>,
}

impl<D: Disk> Journal<D> {
    /// Writes one record: a cause, and all messages sent because of it in the order of their MsgSeqNums. Returns the
    /// position after the record, for [`Journal::sync`].
    ///
    /// When this call returns, the record survives the end of the process. After an error nothing was written. Except
    /// after [`JournalError::Poisoned`] and on a full disk, a smaller record may be appended afterwards.
    ///
    /// # Errors
    ///
    /// [`JournalError::TooLarge`], [`JournalError::TooManyEffects`], [`JournalError::UnknownSession`],
    /// [`JournalError::Poisoned`], and errors of creating a segment. The creation of a segment may be retried.
    #[inline]
    pub fn append<'a>(
        &mut self,
        wall: Timestamp,
        cause: Cause<'_>,
        effects: impl Iterator<Item = Effect<'a>> + Clone,
    ) -> Result<JournalPosition, JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned);
        }
        if canary::is(PlantedFault::ReleaseBeforeCommit)
            && let Some((at, length)) = self.late.take()
        {
            self.segments.back_mut().publish(at, length);
        }
        let body = cause.inbound.unwrap_or_default();
        let mut length = RECORD + padded(body.len());
        let mut count = 0_usize;
        if cause.session.0 as usize >= self.sessions.len() {
            return Err(JournalError::UnknownSession(cause.session));
        }
        let sessions = self.sessions.len();
        let mut measure = |effect: Effect<'_>| {
            if effect.session.0 as usize >= sessions {
                return Err(JournalError::UnknownSession(effect.session));
            }
            length += EFFECT + padded(effect.bytes.len());
            count += 1;
            Ok(())
        };
        let mut kept = [None; KEPT_EFFECTS];
        let mut others = effects.fuse();
        for place in &mut kept {
            *place = others.next();
            match *place {
                Some(effect) => measure(effect)?,
                None => break,
            }
        }
        others.clone().try_for_each(measure)?;
        let count =
            u16::try_from(count).map_err(|_| JournalError::TooManyEffects { effects: count })?;
        self.make_room(wall, length)?;

        let segment_number = self.segments.last();
        let at = self.at;
        let known = &mut self.sessions[cause.session.0 as usize];
        let counters = SequenceCounters {
            next_in: cause.next_in,
            next_out: cause.next_out,
            epoch: cause.epoch,
        };
        known.set(wall, counters);
        let segment = self.segments.back_mut();
        segment.store(at + RECORD, body);
        let mut place = at + RECORD + padded(body.len());
        let mut kept = kept.iter();
        while let Some(effect) = match kept.next() {
            Some(effect) => *effect,
            None => others.next(),
        } {
            let known = &mut self.sessions[effect.session.0 as usize];
            let head = EffectHead {
                session: effect.session,
                length: effect.bytes.len() as u32,
                seq: effect.seq,
                previous: known.link(effect.seq),
            };
            segment.store(place, &head.to_bytes());
            segment.store(place + EFFECT, effect.bytes);
            known.index.push(
                effect.seq,
                JournalPosition::new(segment_number, place as u32),
            );
            if effect.session != cause.session {
                known.counters.next_out = effect.seq.saturating_add(1);
            }
            place += EFFECT + padded(effect.bytes.len());
        }
        let head = Head {
            length: length as u32,
            index: self.record,
            wall,
            synced: self.synced,
            session: cause.session,
            kind: cause.kind,
            effects: count,
            next_in: cause.next_in,
            next_out: cause.next_out,
            epoch: cause.epoch,
            body: body.len() as u32,
        };
        segment.store(at, &head.to_bytes());
        if self.disk.ring().is_none() {
            let crc = crc(segment.bytes(), at, length, self.salt);
            segment.store(at + CRC_AT, &crc.to_le_bytes());
        }
        if canary::is(PlantedFault::ReleaseBeforeCommit) {
            self.late = Some((at, length as u32));
        } else {
            segment.publish(at, length as u32);
        }
        self.last = at;
        self.at = at + length;
        self.record += 1;
        Ok(JournalPosition::new(segment_number, self.at as u32))
    }

    /// Returns the id of the session with this name, and registers a new name. Any text may be a name. A name keeps
    /// its id across restarts, as long as the journal exists. The number of names is not limited.
    ///
    /// # Errors
    ///
    /// The errors of [`Journal::append`].
    pub fn register(&mut self, wall: Timestamp, name: &str) -> Result<JournalId, JournalError> {
        if let Some(&id) = self.names.get(name) {
            self.sessions[id.0 as usize].index.reserve();
            return Ok(id);
        }
        // A new segment begins with a checkpoint of the registered sessions. The checkpoint must not include this
        // session.
        self.make_room(wall, RECORD + padded(name.len()))?;
        let id = JournalId(self.sessions.len() as u32);
        self.sessions
            .push(Known::new(name.to_owned(), wall, &self.config));
        let cause = Cause {
            session: id,
            kind: RecordKind::Session,
            inbound: Some(name.as_bytes()),
            next_in: 1,
            next_out: 1,
            epoch: 0,
        };
        self.append(wall, cause, std::iter::empty())
            .inspect_err(|_| {
                self.sessions.pop();
            })?;
        self.sessions[id.0 as usize].index.reserve();
        self.names.insert(name.into(), id);
        Ok(id)
    }

    /// Resets the sequence numbers of a session to 1 without a message. Earlier messages can no longer be resent.
    /// When a Logon resets the sequence numbers, this function is not used: the record of the Logon has a new
    /// [`Cause::epoch`].
    ///
    /// # Errors
    ///
    /// The errors of [`Journal::append`].
    pub fn reset(
        &mut self,
        wall: Timestamp,
        session: JournalId,
    ) -> Result<JournalPosition, JournalError> {
        let before = self
            .counters(session)
            .ok_or(JournalError::UnknownSession(session))?;
        let numbers = SequenceCounters {
            next_in: 1,
            next_out: 1,
            epoch: before.epoch.wrapping_add(1),
        };
        self.set(wall, session, numbers, "")
    }

    /// Sets the sequence numbers of a session without a message; `text` names the operator. If a MsgSeqNum was used
    /// before, the caller must choose another epoch, so that the message stored with this MsgSeqNum is no longer
    /// resent.
    ///
    /// # Errors
    ///
    /// The errors of [`Journal::append`].
    pub fn set(
        &mut self,
        wall: Timestamp,
        session: JournalId,
        numbers: SequenceCounters,
        text: &str,
    ) -> Result<JournalPosition, JournalError> {
        let cause = Cause {
            session,
            kind: RecordKind::Reset,
            inbound: Some(text.as_bytes()),
            next_in: numbers.next_in,
            next_out: numbers.next_out,
            epoch: numbers.epoch,
        };
        self.append(wall, cause, std::iter::empty())
    }

    /// Writes a text for people into the records of a session. If the text [disables](crate::DISABLED_BY) or
    /// [enables](crate::ENABLED_BY) the session, the session is still disabled or enabled after a restart.
    ///
    /// # Errors
    ///
    /// The errors of [`Journal::append`].
    pub fn note(
        &mut self,
        wall: Timestamp,
        session: JournalId,
        text: &str,
    ) -> Result<JournalPosition, JournalError> {
        let SequenceCounters {
            next_in,
            next_out,
            epoch,
        } = self
            .counters(session)
            .ok_or(JournalError::UnknownSession(session))?;
        let inbound = Some(text.as_bytes());
        let cause = Cause {
            session,
            kind: RecordKind::Note,
            inbound,
            next_in,
            next_out,
            epoch,
        };
        let at = self.append(wall, cause, std::iter::empty())?;
        self.sessions[session.0 as usize].take_note(text.as_bytes());
        Ok(at)
    }

    /// Records the address from which a session's peer has logged on. From then on [`Journal::peer`] returns it, also
    /// after a restart.
    ///
    /// # Errors
    ///
    /// The errors of [`Journal::append`].
    pub fn note_logon(
        &mut self,
        wall: Timestamp,
        session: JournalId,
        from: IpAddr,
    ) -> Result<JournalPosition, JournalError> {
        let from = from.to_canonical();
        self.note(wall, session, &format!("{LOGGED_ON_FROM}{from}"))
    }

    /// Waits until everything before `upto` is on disk. Returns the position up to which the journal is on disk.
    ///
    /// # Errors
    ///
    /// The I/O error, once. From then on the journal is poisoned: this function and every append return
    /// [`JournalError::Poisoned`]. The reason is that the content of the disk is unknown, and that a second sync
    /// could succeed although data was lost.
    ///
    /// A segment that was unmapped without a sync (which never happens with durability `disk`) is mapped again. If a
    /// sync fails, later segments are still synced, and a second call may succeed.
    pub fn sync(&mut self, upto: JournalPosition) -> Result<JournalPosition, JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned);
        }
        let upto = upto.min(self.end());
        let (mut at, mut unmapped) = (self.synced, None);
        while at < upto {
            let number = at.segment().max(self.segments.first());
            let from = if number == at.segment() {
                at.offset() as usize
            } else {
                0
            };
            let whole = number < upto.segment();
            at = if whole {
                JournalPosition::new(number + 1, HEADER as u32)
            } else {
                upto
            };
            let segment = match self.segments.get(&mut self.disk, number) {
                Ok(Some(segment)) => segment,
                Ok(None) => continue,
                Err(error) => {
                    unmapped = unmapped.or(Some(error));
                    continue;
                }
            };
            let to = if whole {
                segment.bytes().len()
            } else {
                upto.offset() as usize
            };
            // The system syncs whole pages only.
            let start = from / 4096 * 4096;
            if let Err(source) = segment.sync(start, to - start) {
                self.poisoned = true;
                let file = self.disk.name(number);
                return Err(JournalError::Unsynced { file, source });
            }
            if unmapped.is_none() {
                self.synced = at;
            }
        }
        unmapped.map_or(Ok(self.synced), Err)
    }

    /// Small tasks that keep the next appends fast: makes the next pages writable, and requests the next segment. The
    /// engine calls this right after its socket writes.
    ///
    /// Returns whether there was something to do. Takes at most a few microseconds.
    pub fn idle_work(&mut self) -> bool {
        let segment = self.segments.back();
        let len = segment.bytes().len();
        let (from, to) = (self.at.max(self.prefetched), self.at + PREFETCH_AHEAD);
        if from < to {
            segment.prefetch(from, to - from);
            self.prefetched = to;
        }
        let mut worked = false;
        if let Some(policy) = self.config.retention
            && let Some(now) = self.look.take()
        {
            self.retire_and_tell(policy, now);
            worked = true;
        }
        let ahead = self.at + PREFAULT_AHEAD;
        if self.prefaulted < len.min(ahead) {
            self.prefault(PREFAULT);
            worked = true;
        }
        if self.next.is_none() && self.at > len / 2 {
            self.prepare_next();
            worked = true;
        }
        worked
    }

    /// The position after the last record.
    #[must_use]
    pub fn end(&self) -> JournalPosition {
        JournalPosition::new(self.segments.last(), self.at as u32)
    }

    /// The position of the last record appended since the journal was opened.
    #[must_use]
    pub fn last_record(&self) -> JournalPosition {
        JournalPosition::new(self.segments.last(), self.last as u32)
    }

    /// The position up to which all records are on disk.
    #[must_use]
    pub fn synced(&self) -> JournalPosition {
        self.synced
    }

    /// The first position that the journal still has, and the position after its last record.
    #[must_use]
    pub fn positions(&self) -> (JournalPosition, JournalPosition) {
        (
            JournalPosition::new(self.segments.first(), HEADER as u32),
            self.end(),
        )
    }

    /// Number of journal bytes between two positions, including unused ends of segments; 0 when `to` is not after
    /// `from`. Bytes that were overwritten in a ring do not count.
    #[must_use]
    pub fn bytes_between(&self, from: JournalPosition, to: JournalPosition) -> u64 {
        let (first, end) = self.positions();
        let (from, to) = (from.max(first), to.min(end));
        if to <= from {
            return 0;
        }
        let before = |upto: JournalPosition| {
            self.segments.bytes_before(upto.segment()) + u64::from(upto.offset())
        };
        before(to) - before(from)
    }

    /// Number of records written since the journal began. The number of records is also the index of the next record.
    #[must_use]
    pub fn records_written(&self) -> u64 {
        self.record
    }

    /// The sequence numbers of a session; `None` for an unregistered session.
    #[must_use]
    pub fn counters(&self, session: JournalId) -> Option<SequenceCounters> {
        self.sessions
            .get(session.0 as usize)
            .map(|known| known.counters)
    }

    /// The wall-clock time at which the session was registered or last reset: its present sequence numbers began
    /// then. From this time the schedule derives the trading session of the sequence numbers.
    #[must_use]
    pub fn numbers_began(&self, session: JournalId) -> Option<Timestamp> {
        self.sessions
            .get(session.0 as usize)
            .map(|known| known.began)
    }

    /// All registered sessions in the order of their ids.
    pub fn sessions(&self) -> impl Iterator<Item = (JournalId, &str, SequenceCounters)> {
        let known = self.sessions.iter().enumerate();
        known.map(|(at, known)| (JournalId(at as u32), known.name.as_str(), known.counters))
    }

    /// Access to the disk, for a simulator.
    pub fn disk_mut(&mut self) -> &mut D {
        &mut self.disk
    }

    /// Makes room for `length` bytes after the last record, on pages that are writable.
    #[inline]
    fn make_room(&mut self, wall: Timestamp, length: usize) -> Result<(), JournalError> {
        if self.at + length > self.prefaulted {
            self.make_room_slowly(wall, length)?;
        }
        Ok(())
    }

    #[cold]
    fn make_room_slowly(&mut self, wall: Timestamp, length: usize) -> Result<(), JournalError> {
        if length > self.config.segment_bytes - HEADER {
            return Err(self.too_large(length));
        }
        let len = self.segments.back().bytes().len();
        if length > len - self.at {
            self.roll(wall, length)?;
        }
        self.prefault(length.max(PREFAULT));
        if self.next.is_none() && self.at > len / 2 {
            self.prepare_next();
        }
        Ok(())
    }

    /// Makes the next record the first one of a new segment.
    ///
    /// # Errors
    ///
    /// The error of creating a segment.
    pub fn new_segment(&mut self, wall: Timestamp) -> Result<(), JournalError> {
        self.roll(wall, 0)
    }

    /// Continues in a new segment, which must have room for a record of this size.
    fn roll(&mut self, wall: Timestamp, needed: usize) -> Result<(), JournalError> {
        if self.config.synced_before_sent {
            // After this sync, only the new segment has data that is not synced.
            self.sync(self.end())?;
        }
        let number = self.segments.last() + 1;
        let header = self.next_header();
        // Keep the header now, so that a second attempt after a failure requests the same header.
        self.next = Some(header);
        if self.disk.ring().is_some() {
            self.end_records();
        }
        if self
            .disk
            .ring()
            .is_some_and(|kept| self.segments.len() >= kept.max(2))
            && let Some(oldest) = self.segments.pop_first()
        {
            self.disk.recycle(oldest);
        }
        let mut segment = self
            .disk
            .create(number, header.length as usize, &header.to_bytes())?;
        segment.appending(true);
        self.segments.back_mut().appending(false);
        self.disk.filled(self.segments.back());
        if let Some(old) = self.segments.push(segment, header.salt) {
            self.disk.let_go(old);
        }
        self.next = None;
        self.salt = header.salt;
        self.at = HEADER;
        self.prefaulted = self.ready_at_first();
        self.prefetched = 0;
        if self.config.retention.is_some() && self.disk.ring().is_none() {
            self.write_checkpoint(wall, needed)?;
        }
        Ok(())
    }

    /// Marks the end of the records in a segment of a ring, whose memory may contain older data.
    fn end_records(&mut self) {
        let segment = self.segments.back_mut();
        if segment.bytes().len() - self.at >= RECORD {
            segment.publish(self.at, 0);
        }
    }

    /// Number of bytes at the start of a new segment that can be written without page faults.
    pub(super) fn ready_at_first(&self) -> usize {
        if self.disk.makes_ready() {
            self.config.segment_bytes
        } else {
            HEADER
        }
    }

    fn next_header(&mut self) -> SegmentHeader {
        self.next.unwrap_or_else(|| SegmentHeader {
            number: self.segments.last() + 1,
            length: self.config.segment_bytes as u32,
            salt: self.disk.salt(),
            previous_salt: self.salt,
        })
    }

    pub(super) fn prepare_next(&mut self) {
        let header = self.next_header();
        self.next = Some(header);
        self.disk
            .prepare(header.number, header.length as usize, &header.to_bytes());
    }

    fn prefault(&mut self, bytes: usize) {
        let segment = self.segments.back_mut();
        let from = self.prefaulted.max(self.at);
        let to = (from + bytes)
            .next_multiple_of(4096)
            .min(segment.bytes().len());
        segment.prefault(from / 4096 * 4096, to - from / 4096 * 4096);
        self.prefaulted = to;
    }

    fn too_large(&self, length: usize) -> JournalError {
        let limit = (self.config.segment_bytes - HEADER) as u64;
        JournalError::TooLarge {
            bytes: length as u64,
            limit,
        }
    }
}
