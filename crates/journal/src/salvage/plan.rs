//! Plans a salvage: reads a damaged journal and decides what to keep. Changes nothing.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use super::super::archive::{LONGEST, read_base};
use super::super::checkpoint::Checkpoint;
use super::super::files::{list, open_checked, segment_path};
use super::super::newest::newest_is_missing;
use super::super::newest::newest_of;
use super::super::record::{RECORD, is_record};
use super::super::recover::{Bad, Scan};
use super::super::segment::{HEADER, SEGMENT_GRAIN, SegmentHeader, check_version, long, word};
use super::super::{Damage, JournalConfig, JournalError, JournalId, JournalPosition, Start};
use super::behind::{Behind, Last};
use crate::is_notes;

/// The plan for a journal that cannot be opened.
#[derive(Debug)]
pub(super) struct Plan {
    /// Why the journal cannot be opened.
    pub(super) damage: Damage,
    /// Where the journal begins, according to the file `base`.
    pub(super) base: Option<Start>,
    /// The records to drop, after the damage.
    pub(super) behind: Behind,
    /// The records to keep, if any.
    pub(super) kept: Option<Kept>,
    /// Whether the journal begins later than before.
    pub(super) skipped: bool,
}

/// Consecutive segments with readable records.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) start: Start,
    /// Offset after the last record.
    pub(super) end: JournalPosition,
    /// Size of the last segment, bytes.
    pub(super) last_length: usize,
    pub(super) sessions: Vec<Last>,
    /// Index after the last record.
    pub(super) next_record: u64,
    pub(super) repairs: Vec<Repair>,
}

/// A repair in a segment that is kept.
#[derive(Debug)]
pub(super) struct Repair {
    pub(super) number: u32,
    pub(super) length: u64,
    pub(super) header: Option<[u8; HEADER]>,
    pub(super) zeros: Vec<Range<usize>>,
}

/// The plan; `None` if the journal is intact.
pub(super) fn plan(
    directory: &Path,
    synced_before_sent: bool,
) -> Result<Option<Plan>, JournalError> {
    let (base, mut damage) = split(read_base(directory))?;
    let (newest, newest_damage) = split(newest_of(directory))?;
    damage = damage.or(newest_damage);
    let base = base.flatten();
    let reader = Reader {
        directory,
        numbers: list(directory)?,
        config: JournalConfig {
            index_entries: 2,
            synced_before_sent,
            ..JournalConfig::default()
        },
    };
    let mut next = match (base, &damage) {
        (Some(base), _) => Some(base.first),
        (None, None) => Some(Start::BEGIN),
        (None, Some(_)) if reader.numbers.first() == Some(&1) => Some(Start::BEGIN),
        (None, Some(_)) => reader.checkpoint_behind(0),
    };
    let (mut kept, mut skipped, first) = (None, false, next);
    while let Some(start) = next.take() {
        let run = reader.run(start)?;
        damage = damage.or(run.damage);
        skipped = Some(start) != first;
        let has_notes = run.kept.as_ref().is_some_and(Kept::has_notes);
        kept = run.kept.or(kept);
        if let Some(stopped) = run.stopped
            && !has_notes
        {
            next = reader.checkpoint_behind(stopped.max(start.segment));
        }
    }
    let last = reader.numbers.last().copied().unwrap_or(0);
    if let Some(newest) = newest.flatten().filter(|&newest| newest > last) {
        let file = segment_path(directory, newest).display().to_string();
        damage = damage.or(Some(newest_is_missing(file)));
    }
    let Some(damage) = damage else {
        return Ok(None);
    };
    let behind = reader.behind(kept.as_ref())?;
    skipped &= kept
        .as_ref()
        .is_some_and(|kept: &Kept| Some(kept.start) != first);
    Ok(Some(Plan {
        damage,
        base: base.map(|base| base.first),
        behind,
        kept,
        skipped,
    }))
}

/// A value, or the damage of the file that should have it.
fn split<T>(result: Result<T, JournalError>) -> Result<(Option<T>, Option<Damage>), JournalError> {
    match result {
        Ok(value) => Ok((Some(value), None)),
        Err(JournalError::Damaged(damage)) => Ok((None, Some(damage))),
        Err(error) => Err(error),
    }
}

impl Kept {
    fn has_notes(&self) -> bool {
        let mut names = self.sessions.iter().filter_map(|last| last.name.as_deref());
        names.any(is_notes)
    }
}

impl Plan {
    /// The session with this id after the kept records.
    pub(super) fn session(&self, id: JournalId) -> Option<&Last> {
        self.kept.as_ref()?.sessions.get(id.0 as usize)
    }
}

/// The result of reading records from a position.
struct Run {
    kept: Option<Kept>,
    damage: Option<Damage>,
    /// The segment in which reading stopped.
    stopped: Option<u32>,
}

struct Reader<'a> {
    directory: &'a Path,
    numbers: Vec<u32>,
    config: JournalConfig,
}

impl Reader<'_> {
    /// Reads records from `start` on, as far as possible.
    fn run(&self, start: Start) -> Result<Run, JournalError> {
        let begin = Some(start).filter(|start| *start != Start::BEGIN);
        let mut scan = Scan::new(self.config, begin);
        let mut run = Run {
            kept: None,
            damage: None,
            stopped: None,
        };
        let mut repairs: Vec<Repair> = Vec::new();
        // Set at the end of the records of a segment, if bytes after it are not zero.
        let mut open_end: Option<(u32, usize, usize, Bad)> = None;
        let mut end = None;
        for number in start.segment.. {
            if self.numbers.last().is_none_or(|&last| number > last) {
                break;
            }
            let path = segment_path(self.directory, number);
            if !self.numbers.contains(&number) {
                run.stop(number, || Damage {
                    file: path.display().to_string(),
                    offset: 0,
                    expected: "this segment".into(),
                    found: "no such file".into(),
                });
                break;
            }
            let mut bytes = self.read(number)?;
            let name = path.display().to_string();
            let header = SegmentHeader::read(&bytes, number, scan.previous_salt, &name);
            let repair = match header {
                Ok(_) => None,
                Err(JournalError::Damaged(damage)) => {
                    run.damage.get_or_insert(damage);
                    let repair = self.mend(&mut bytes, number, scan.previous_salt)?;
                    if repair.is_none() {
                        run.stopped = Some(number);
                        break;
                    }
                    repair
                }
                Err(other) => return Err(other),
            };
            let found = match scan.segment(&bytes, number, &name) {
                Ok(found) => found,
                Err(JournalError::Damaged(damage)) => {
                    run.stop(number, || damage);
                    break;
                }
                Err(other) => return Err(other),
            };
            let has_records = found.at > HEADER;
            if let Some((before, from, length, bad)) = open_end.take() {
                if !has_records && found.bad.is_some() {
                    run.stop(before, || bad.damage.clone());
                    open_end = Some((before, from, length, bad));
                    break;
                }
                if !has_records {
                    open_end = Some((before, from, length, bad));
                    continue;
                }
                // The records continue in the next segment, so nothing is missing in between.
                run.damage.get_or_insert(bad.damage);
                zero(&mut repairs, before, length, from..bad.until);
            }
            repairs.extend(repair);
            if has_records || end.is_none() {
                end = Some((JournalPosition::new(number, found.at as u32), bytes.len()));
            }
            open_end = found.bad.map(|bad| (number, found.at, bytes.len(), bad));
        }
        if let Some((number, from, length, bad)) = open_end {
            if !bad.torn {
                run.stop(number, || bad.damage);
            }
            zero(&mut repairs, number, length, from..length);
        }
        if let Some((end, last_length)) = end.filter(|_| !scan.awaiting) {
            // Segments after the end are not kept, whatever they contain.
            repairs.retain(|repair| repair.number <= end.segment());
            let sessions = scan.sessions.into_iter().map(|known| Last {
                name: Some(known.name),
                counters: known.counters,
                began: known.began,
            });
            run.kept = Some(Kept {
                start,
                end,
                last_length,
                sessions: sessions.collect(),
                next_record: scan.records,
                repairs,
            });
        }
        Ok(run)
    }

    /// All bytes of a segment's file.
    fn read(&self, number: u32) -> Result<Vec<u8>, JournalError> {
        let path = segment_path(self.directory, number);
        let mut bytes = Vec::new();
        open_checked(&path, false)?
            .take(LONGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(JournalError::io("read", path.display().to_string()))?;
        Ok(bytes)
    }

    /// Corrects, in memory, a damaged header or a wrong length, if the CRC of the first record proves that the
    /// segment is the expected one.
    fn mend(
        &self,
        bytes: &mut Vec<u8>,
        number: u32,
        previous_salt: u64,
    ) -> Result<Option<Repair>, JournalError> {
        let Some(head) = bytes.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let file = segment_path(self.directory, number).display().to_string();
        // A segment with another version must be salvaged by a build of that version.
        if let Err(other @ JournalError::OtherVersion { .. }) = check_version(head, &file) {
            return Err(other);
        }
        let whole = SegmentHeader::parse(head);
        if whole
            .is_some_and(|header| (header.number, header.previous_salt) != (number, previous_salt))
        {
            // The header itself names another version.
            return Ok(None);
        }
        let said = word(head, 20) as usize;
        let fits = said.is_multiple_of(SEGMENT_GRAIN) && (1..=LONGEST as usize).contains(&said);
        let length = match fits && (whole.is_some() || said >= bytes.len()) {
            true => said,
            false => bytes.len().next_multiple_of(SEGMENT_GRAIN),
        };
        let own = long(head, 24);
        let by_next = self.salt_by_next(number)?;
        // If the next segment does not give the salt, a flipped bit in the salt can still be found.
        let flipped = (0..64).map(|bit| own ^ 1 << bit);
        let mut salts = [own].into_iter().chain(by_next).chain(flipped);
        bytes.resize(length, 0);
        let salt = salts.find(|&salt| is_record(bytes, HEADER, salt));
        Ok(salt.map(|salt| {
            let header = SegmentHeader {
                number,
                length: length as u32,
                salt,
                previous_salt,
            };
            bytes[..HEADER].copy_from_slice(&header.to_bytes());
            Repair {
                number,
                length: length as u64,
                header: Some(header.to_bytes()),
                zeros: Vec::new(),
            }
        }))
    }

    /// The salt of a segment, according to the header of the next segment.
    fn salt_by_next(&self, number: u32) -> Result<Option<u64>, JournalError> {
        if !self.numbers.contains(&(number + 1)) {
            return Ok(None);
        }
        let next = self.read_head(number + 1)?;
        Ok(next.and_then(|next| Some(SegmentHeader::parse(next.first_chunk()?)?.previous_salt)))
    }

    /// The header of a segment and the head of its first record.
    fn read_head(&self, number: u32) -> Result<Option<[u8; HEADER + RECORD]>, JournalError> {
        let path = segment_path(self.directory, number);
        let mut bytes = [0; HEADER + RECORD];
        match open_checked(&path, false)?.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(JournalError::io("read", path.display().to_string())(error)),
        }
    }

    /// The first segment after this one that begins with a checkpoint.
    fn checkpoint_behind(&self, number: u32) -> Option<Start> {
        let later = self.numbers.iter().filter(|&&later| later > number);
        later.copied().find_map(|number| {
            let bytes = self.read_head(number).ok()??;
            SegmentHeader::parse(bytes.first_chunk()?)?;
            Checkpoint::peek(&bytes).map(|checkpoint| checkpoint.start)
        })
    }

    /// The readable records after the part that is kept.
    fn behind(&self, kept: Option<&Kept>) -> Result<Behind, JournalError> {
        let mut behind = Behind::default();
        let (end, first) = kept.map_or((JournalPosition::START, 0), |kept| {
            (kept.end, kept.next_record)
        });
        let known = |id: JournalId| kept?.sessions.get(id.0 as usize).cloned();
        for &number in self
            .numbers
            .iter()
            .filter(|&&number| number >= end.segment())
        {
            let bytes = self.read(number)?;
            let from = match number == end.segment() {
                true => end.offset() as usize,
                false => HEADER,
            };
            let salts = [
                (bytes.len() >= HEADER).then(|| long(&bytes, 24)),
                self.salt_by_next(number)?,
            ];
            for salt in salts.into_iter().flatten() {
                if behind.read(&bytes, number, from, salt, first, &known) > 0 {
                    break;
                }
            }
        }
        Ok(behind)
    }
}

impl Run {
    fn stop(&mut self, number: u32, damage: impl FnOnce() -> Damage) {
        self.damage.get_or_insert_with(damage);
        self.stopped.get_or_insert(number);
    }
}

/// Adds a range to be zeroed.
fn zero(repairs: &mut Vec<Repair>, number: u32, length: usize, range: Range<usize>) {
    match repairs.iter_mut().find(|repair| repair.number == number) {
        Some(repair) => repair.zeros.push(range),
        None => repairs.push(Repair {
            number,
            length: length as u64,
            header: None,
            zeros: vec![range],
        }),
    }
}
