//! Selects the checkpoint with which a start continues.

use super::fold::{Fold, States, why_not};
use super::known::Stated;
use super::segment::HEADER;
use super::state;
use super::view::records_of;
use super::{Damage, Disk, Journal, JournalError, JournalId, JournalPosition, RecordKind, Segment};
use fixwire_protocol::{Ledger, Timestamp};
use std::ops::RangeInclusive;

/// Loads the state in a checkpoint that has this version. The error is why the state cannot be loaded.
pub(super) type Take<'t> = dyn FnMut(u32, &[u8]) -> Result<(), String> + 't;

/// The checkpoint that was used, and the checkpoints that were rejected.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Recalled {
    /// The segment to which the accepted checkpoint belongs; `None` if none was accepted.
    pub segment: Option<u32>,
    /// The number of the last note that the checkpoint includes; 0 without a checkpoint.
    pub note: u64,
    /// The files of newer checkpoints, each with the reason why it was rejected.
    pub refused: Vec<(String, String)>,
}

/// Passes the newest complete checkpoint that belongs to one of these `segments` to `take`, with its version. If
/// `take` rejects it, passes the previous one. Skips states with another name; refuses a state with another version.
pub(super) fn recall(
    states: &mut dyn States,
    segments: &RangeInclusive<u32>,
    (form, take): ((&str, u32), &mut Take<'_>),
) -> Result<Recalled, JournalError> {
    let mut recalled = Recalled::default();
    for number in states.list()?.into_iter().rev() {
        let file = states.file_name(number);
        let read = state::read(states.read(number)?, number, &file);
        let begins = match segments.contains(&number) {
            true => states.begins(number)?,
            false => None,
        };
        let taken = match read {
            Err(damage) => Err(why_not(&damage)),
            Ok((head, _)) if begins != Some((head.salt, head.record)) => Err(
                "it is beyond the end of the journal, or belongs to another journal: the journal was \
                 salvaged, or restored from a copy"
                    .into(),
            ),
            Ok((head, _)) if head.name != form.0 => Err(format!(
                "it holds the state of application {}, but this application is {}",
                head.name, form.0
            )),
            Ok((head, state)) => {
                check_state(&file, (&head.name, head.version), form)?;
                take(head.version, &state).map(|()| head.note)
            }
        };
        match taken {
            Ok(note) => {
                recalled.segment = Some(number);
                recalled.note = note;
                break;
            }
            Err(why) => recalled.refused.push((file, why)),
        }
    }
    Ok(recalled)
}

/// Refuses a checkpoint whose state has the name of this application, but another version.
pub(super) fn check_state(
    file: &str,
    (name, version): (&str, u32),
    form: (&str, u32),
) -> Result<(), JournalError> {
    if name != form.0 || version == form.1 {
        return Ok(());
    }
    Err(JournalError::OtherVersion {
        file: file.to_owned(),
        found: format!("version {version} of the state of {name}"),
        reads: format!("version {}", form.1),
    })
}

/// The error for a checkpoint that was loaded while the journal was read. The first record of the checkpoint's
/// segment was then rejected, although the checksum of that record is correct.
pub(super) fn not_held(file: String) -> JournalError {
    JournalError::Damaged(Damage {
        file,
        offset: HEADER as u64,
        expected: "the record that the checkpoint before this segment names".into(),
        found: "a record of another journal".into(),
    })
}

impl<D: Disk> Journal<D> {
    /// Passes the notes after a checkpoint to `each`, in order, with their numbers. Reads each segment once, from its
    /// beginning to its end.
    ///
    /// # Errors
    ///
    /// A segment cannot be mapped, or has other records than when the journal was opened.
    pub fn notes_behind(
        &mut self,
        notes: JournalId,
        recalled: &Recalled,
        each: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<(), JournalError> {
        let first = self.segments.first();
        let known = self.sessions.get(notes.0 as usize);
        let last = known.map_or(0, |known| known.index.last().0);
        let mut found = recalled.note;
        for number in recalled.segment.unwrap_or(first).max(first)..=self.segments.last() {
            let Some(segment) = self.segments.get(&mut self.disk, number)? else {
                continue;
            };
            let length = segment.bytes().len();
            segment.read_ahead(0, length);
            let mut gap = None;
            for effect in records_of(segment.bytes(), number).flat_map(|record| record.effects) {
                if effect.session != notes || effect.seq <= found {
                    continue;
                }
                if effect.seq != found + 1 {
                    gap = Some(effect.seq - 1);
                    break;
                }
                each(effect.seq, effect.bytes);
                found = effect.seq;
            }
            if let Some(last) = gap {
                return Err(self.lost_notes(number, found, last));
            }
        }
        if found < last {
            return Err(self.lost_notes(self.segments.last(), found, last));
        }
        Ok(())
    }

    /// The error for a gap in the numbers of notes. An engine numbers notes without gaps, so a record was not
    /// written, or the file was changed after it was opened.
    fn lost_notes(&self, segment: u32, found: u64, last: u64) -> JournalError {
        JournalError::Damaged(Damage {
            file: self.disk.name(segment),
            offset: 0,
            expected: format!("note {last}"),
            found: format!("note {found} as the last"),
        })
    }

    /// Records the hash of the application's state after its last note. Folding compares its own state with this
    /// hash, and so does the next start of an application with the same name and version of state.
    ///
    /// # Errors
    ///
    /// The errors of [`Journal::append`].
    pub fn state_hash(
        &mut self,
        wall: Timestamp,
        notes: JournalId,
        form: (&str, u32),
        hash: u64,
    ) -> Result<JournalPosition, JournalError> {
        let last = self
            .counters(notes)
            .map_or(0, |counters| counters.next_out - 1);
        let stated = Stated::new(form, last, hash);
        self.note(wall, notes, &stated.to_string())
    }

    /// The hash of a state with this form after the last note, if the last clean stop recorded it.
    #[must_use]
    pub fn stated_hash(&self, notes: JournalId, form: (&str, u32)) -> Option<u64> {
        let known = self.sessions.get(notes.0 as usize)?;
        let stated = known.stated.as_ref()?;
        stated.hash_of(form, known.counters.next_out.checked_sub(1)?)
    }

    /// Whether this session had notes before the first remaining segment.
    ///
    /// # Errors
    ///
    /// That segment cannot be mapped.
    pub fn has_retired(&mut self, notes: JournalId) -> Result<bool, JournalError> {
        let number = self.segments.first();
        let Some(first) = self.segments.get(&mut self.disk, number)? else {
            return Ok(false);
        };
        let mut carried =
            records_of(first.bytes(), number).take_while(|it| it.kind == RecordKind::Carried);
        let notes = carried.find(|record| record.session == notes);
        Ok(notes.is_some_and(|record| record.counters.next_out > 1))
    }

    /// Begins to fold notes into checkpoints in the background. The ledger must be empty.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn fold(
        &mut self,
        ledger: Box<dyn Ledger>,
        recalled: &Recalled,
    ) -> Result<(), JournalError> {
        let fold = Fold::new(ledger, recalled.segment, self.segments.first());
        self.disk.fold(fold)
    }
}
