//! Verifies the files of a journal without changing them, and finds the first damaged byte.

use super::error::Damage;
use super::files::segment_path;
use super::known::{Known, is_session};
use super::newest::newest_is_missing;
use super::record::{Head, RecordKind};
use super::recover::Scan;
use super::segment::{HEADER, word};
use super::view::Record;
use super::{JournalConfig, JournalError, SequenceCounters, Start};
use fixwire_protocol::session::{RESET_DUE, RESET_OPEN};
use fixwire_protocol::time::Timestamp;
use std::path::Path;

pub use held::HeldSegments;

mod held;

/// The content of a journal, and its damage.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verified {
    /// Number of files read.
    pub segments: u32,
    /// Number of complete records before the first wrong byte.
    pub records: u64,
    /// Size of the complete records, in bytes.
    pub bytes: u64,
    /// The registered sessions, by their ids.
    pub sessions: Vec<String>,
    /// The first byte that is not as the journal wrote it. An incomplete record at the end, which opening the journal
    /// would cut off, is reported too, because a flipped bit looks the same.
    pub bad: Option<Damage>,
    /// Whether `bad` is an incomplete record at the end, which opening the journal would cut off.
    pub torn: bool,
    /// The first and the last of the segments that an engine removed before they were read; `None` if none was. Removed
    /// segments are no longer part of the journal, so this is no damage.
    pub removed: Option<(u32, u32)>,
}

/// Reads all segments of a directory, and checks every byte: headers, records, the links between segments, and that
/// everything after the last record of a segment is zero.
///
/// Takes no lock and changes nothing. While an engine writes to the journal, the newest record may look incomplete.
///
/// # Errors
///
/// A file cannot be read, or is accessible to other users. Faults inside the files are reported in [`Verified::bad`].
pub fn verify(directory: &Path) -> Result<Verified, JournalError> {
    Ok(walk(&HeldSegments::open(directory)?, |_, _| Ok(()))?.0)
}

/// A session in a journal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredSession {
    /// Name of the session.
    pub name: String,
    /// Sequence numbers of the session. If a reset is in progress, the sequence numbers with which the next start
    /// begins.
    pub counters: SequenceCounters,
    /// Whether an operator has disabled the session.
    pub disabled: bool,
    /// Time of the session's last record.
    pub last: Option<Timestamp>,
}

/// The sessions of a journal that no engine has open, by their ids; and what is wrong with the journal, if anything.
/// Takes no lock and changes nothing.
///
/// # Errors
///
/// See [`verify`].
pub fn stored_sessions(directory: &Path) -> Result<(Vec<StoredSession>, Verified), JournalError> {
    let mut last = Vec::new();
    let held = HeldSegments::open(directory)?;
    let (verified, known) = walk(&held, |record, names| {
        last.resize(names.len().max(last.len()), None);
        let effects = record.effects.map(|effect| effect.session);
        // The checkpoint at the start of a segment is no activity of a session.
        let about = (record.kind != RecordKind::Carried).then_some(record.session);
        for session in about.into_iter().chain(effects) {
            if let Some(last) = last.get_mut(session.0 as usize) {
                *last = Some(record.wall);
            }
        }
        Ok(())
    })?;
    let sessions = known.into_iter().enumerate();
    let sessions = sessions.filter(|(_, known)| is_session(&known.name));
    let sessions = sessions.map(|(id, known)| StoredSession {
        name: known.name,
        counters: SequenceCounters {
            next_in: match known.counters.next_in {
                RESET_OPEN | RESET_DUE => 1,
                number => number,
            },
            ..known.counters
        },
        disabled: known.disabled,
        last: last.get(id).copied().flatten(),
    });
    Ok((sessions.collect(), verified))
}

/// Reads all records of a journal in order. Passes each complete record to `each`, with the names of the sessions known
/// so far. Also returns the state of the sessions at the end.
pub(super) fn walk(
    held: &HeldSegments,
    mut each: impl FnMut(&Record<'_>, &[&str]) -> Result<(), JournalError>,
) -> Result<(Verified, Vec<Known>), JournalError> {
    let directory = held.directory();
    let config = JournalConfig {
        index_entries: 2,
        ..JournalConfig::default()
    };
    let (base, newest) = (held.base, held.newest);
    let mut oldest = base.map_or(Start::BEGIN, |base| base.oldest);
    let mut scan = Scan::new(config, base.map(|base| base.oldest));
    let mut verified = Verified::default();
    if base.is_some() && held.numbers.is_empty() {
        verified.bad = Some(Damage {
            file: segment_path(directory, oldest.segment)
                .display()
                .to_string(),
            offset: 0,
            expected: "the segment that the journal begins with".into(),
            found: "no such file".into(),
        });
        return Ok((verified, Vec::new()));
    }
    let missing = newest > held.numbers.last().copied().unwrap_or(0);
    // Number and size of the records that were read before segments were removed meanwhile.
    let (mut records, mut size) = (0, 0);
    let mut expected = oldest.segment;
    let mut bytes = Vec::new();
    // The first damage, and whether it may be an incomplete record at the end. Damage that is followed by a segment
    // with records is not at the end.
    let mut bad: Option<(Damage, bool)> = None;
    for (place, number) in held.numbers.iter().copied().enumerate() {
        if number < expected {
            continue;
        }
        let path = segment_path(directory, expected);
        if number != expected {
            let found = format!("no such file, although segment {number} exists");
            let file = path.display().to_string();
            let missing = Damage {
                file,
                offset: 0,
                expected: "this segment".into(),
                found,
            };
            bad.get_or_insert((missing, false));
            break;
        }
        let name = match held.read(place, &mut bytes) {
            Ok(Some(name)) => name,
            Ok(None) => {
                // Continue at the segment with which the journal begins now.
                let begins = held
                    .begins_after(number)?
                    .map_or(oldest, |base| base.oldest);
                let first = verified.removed.map_or(number, |(first, _)| first);
                verified.removed = Some((first, begins.segment - 1));
                (records, size) = (verified.records, verified.bytes);
                (oldest, expected) = (begins, begins.segment);
                scan = Scan::new(config, Some(begins));
                continue;
            }
            Err(JournalError::Damaged(damage)) => {
                bad.get_or_insert((damage, false));
                break;
            }
            Err(other) => return Err(other),
        };
        verified.segments += 1;
        expected += 1;
        let end = match scan.segment(&bytes, number, &name) {
            Ok(end) => end,
            Err(JournalError::Damaged(damage)) => {
                bad.get_or_insert((damage, false));
                break;
            }
            Err(other) => return Err(other),
        };
        if let Some((_, torn)) = &mut bad {
            if end.at > HEADER || end.bad.is_some() {
                *torn = false;
            }
            continue;
        }
        let names: Vec<&str> = scan
            .sessions
            .iter()
            .map(|known| known.name.as_str())
            .collect();
        let mut at = HEADER;
        while at < end.at {
            let Some(head) = Head::read(&bytes, at) else {
                break;
            };
            each(&Record::view(&bytes, number, at, &head), &names)?;
            at += word(&bytes, at) as usize;
        }
        verified.records = records + scan.records - oldest.record;
        verified.bytes = size + scan.bytes;
        bad = end.bad.map(|bad| (bad.damage, bad.torn));
    }
    if missing && bad.as_ref().is_none_or(|(_, torn)| *torn) {
        let file = segment_path(directory, newest).display().to_string();
        bad = Some((newest_is_missing(file), false));
    }
    let names = scan.sessions.iter().map(|known| known.name.clone());
    verified.sessions = names.collect();
    if let Some((damage, torn)) = bad {
        verified.bad = Some(damage);
        verified.torn = torn;
    }
    Ok((verified, scan.sessions))
}
