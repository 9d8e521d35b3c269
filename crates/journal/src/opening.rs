//! Opens a journal: reads its segments and its newest checkpoint, then makes the necessary changes.

use super::base::Start;
use super::error::Damage;
use super::known::check_notes;
use super::newest::newest_is_missing;
use super::recall::{Recalled, Take, not_held, recall};
use super::recover::{End, Scan};
use super::segment::{HEADER, JournalPosition, SegmentHeader};
use super::segments::{Kept, Segments};
use super::{Disk, Journal, JournalConfig, JournalError, JournalId, Segment};
use std::collections::{HashMap, VecDeque};
use std::fmt;

/// The findings of the opening of the journal.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Recovered {
    /// Number of records read.
    pub records: u64,
    /// Size of the records that were read, in bytes.
    pub bytes: u64,
    /// An incomplete record at the end, left by a crash, which was cut off.
    pub torn: Option<Torn>,
}

/// The incomplete end of a journal, which was zeroed when the journal was opened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Torn {
    /// The file.
    pub file: String,
    /// Offset of the incomplete record.
    pub offset: u64,
    /// Number of bytes from the offset to the last byte that was not zero.
    pub bytes: u64,
    /// Why the bytes are not a record.
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

/// The segments, and the end of the last segment that is not empty.
type Scanned<S> = (Segments<S>, Option<End>);

/// Name and version of the application's state, and the function that gets the checkpoint.
type Wanted<'a, 't> = ((&'a str, u32), &'a mut Take<'t>);

impl<D: Disk> Journal<D> {
    /// Opens the journal on a disk. Begins a new journal when the disk has no segment.
    ///
    /// All segments are read, one mapped at a time, and every checksum is verified. An incomplete record at the end of
    /// the journal is cut off, and is reported in [`Recovered::torn`]. Opening first reads everything, then makes
    /// changes, then syncs them. A crash in between therefore does no harm.
    ///
    /// # Errors
    ///
    /// [`JournalError::Damaged`] for any other data that the journal did not write; in this case no file is changed.
    /// Also errors of the disk.
    pub fn open(disk: D, config: JournalConfig) -> Result<(Self, Recovered), JournalError> {
        let (journal, recovered, _) = Self::read(disk, config, None)?;
        Ok((journal, recovered))
    }

    /// Like [`open`](Self::open), for an application whose state has this name and version. Passes the newest
    /// checkpoint to `take`; if `take` rejects it, passes the previous one. If the disk supports it, the checkpoint
    /// is read while the segments are read. So `take` may be called even if the journal turns out to be unreadable.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open); [`JournalError::OtherVersion`] for notes or a checkpoint of another
    /// version; and errors of listing or reading the checkpoints.
    pub fn open_with_state(
        disk: D,
        config: JournalConfig,
        form: (&str, u32),
        take: &mut Take<'_>,
    ) -> Result<(Self, Recovered, Recalled), JournalError> {
        Self::read(disk, config, Some((form, take)))
    }

    fn read(
        mut disk: D,
        config: JournalConfig,
        wanted: Option<Wanted<'_, '_>>,
    ) -> Result<(Self, Recovered, Recalled), JournalError> {
        config.check()?;
        let form = wanted.as_ref().map(|wanted| wanted.0);
        let base = disk.base()?;
        let start = base.map_or(Start::BEGIN, |base| base.first);
        // Read the number of the newest segment before the names are listed; no segment is created meanwhile.
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
        let ((segments, end), recalled) =
            Self::read_files(&mut disk, start.segment, &numbers, &mut scan, wanted)?;
        if let Some(form) = form {
            let names = scan.sessions.iter().map(|known| known.name.as_str());
            check_notes(names, form, || disk.name(start.segment))?;
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
            late: None,
        };
        let Some(end) = end else {
            journal.begin()?;
            return Ok((journal, recovered, recalled));
        };
        for (id, known) in (0..).map(JournalId).zip(&journal.sessions) {
            // If a name should ever appear twice, the first one counts.
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

    /// Reads these segments, and the checkpoint if one is wanted.
    fn read_files(
        disk: &mut D,
        first: u32,
        numbers: &[u32],
        scan: &mut Scan,
        wanted: Option<Wanted<'_, '_>>,
    ) -> Result<(Scanned<D::Segment>, Recalled), JournalError> {
        let listed = first..=numbers.last().copied().unwrap_or(0);
        let states = disk.states().filter(|_| wanted.is_some());
        let recall = states
            .zip(wanted)
            .map(|(mut states, wanted)| move || recall(&mut *states, &listed, wanted));
        let ((segments, end), recalled) = match recall {
            None => (
                Self::read_all(disk, first, numbers, scan)?,
                Recalled::default(),
            ),
            Some(recall) if D::BESIDE => {
                let read = || Self::read_all(disk, first, numbers, scan);
                let (read, recalled) = fixwire_threads::beside("journal-read", read, recall)
                    .map_err(JournalError::io("start", "a thread of the journal"))?;
                (read?, recalled?)
            }
            Some(recall) => (Self::read_all(disk, first, numbers, scan)?, recall()?),
        };
        if let (Some(number), Some(end)) = (recalled.segment, &end)
            && (number > segments.last() || number == segments.last() && end.at == HEADER)
        {
            return Err(not_held(disk.name(number)));
        }
        Ok(((segments, end), recalled))
    }

    /// Opens and reads these segments in order, without changing them. Returns the state up to the last segment that
    /// is not empty, that segment (which stays mapped), and its end. Segments after it were created ahead of their
    /// use, and are created again when they are needed.
    fn read_all(
        disk: &mut D,
        first: u32,
        numbers: &[u32],
        scan: &mut Scan,
    ) -> Result<Scanned<D::Segment>, JournalError> {
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

    /// Creates the first segment.
    fn begin(&mut self) -> Result<(), JournalError> {
        let header = SegmentHeader {
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

    /// Zeroes the last segment from its end to `until`, the last bytes first. A crash in between therefore leaves an
    /// incomplete record again.
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

    /// Writes the pages from `synced` on again, with their present content. After a failed sync, the system considers
    /// these pages written although they are not, and the next sync would skip them.
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

    /// Makes sure that the data just read gets synced. Data that earlier processes wrote may still be only in the
    /// system's memory. With `synced_before_sent` the data is synced now. Otherwise unsynced data has no guarantee,
    /// and the next sync begins with it.
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
