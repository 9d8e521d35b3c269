//! Folds the notes of closed segments into checkpoints of the application's state, in the background.
//!
//! ```text
//!   segment 1   segment 2   segment 3   segment 4   segment 5 (open)
//!             |           |           |           |
//!             2.fwk       3.fwk ..... 4.fwk: the last two are kept
//! ```
//!
//! A checkpoint belongs to a segment: it includes the notes of all earlier segments. A checkpoint is due when a segment
//! is closed and the notes since the last checkpoint are larger than a quarter of that checkpoint. While folding is
//! behind by more segments, a checkpoint is due only when these notes are larger than the whole last checkpoint. A
//! start uses the newest checkpoint and the notes after it; if that checkpoint is damaged, the start uses the previous
//! one. The journal therefore keeps the notes after the older of the two checkpoints.

use super::error::Damage;
use super::record::EFFECT;
use super::state::{self, BLOCK, Head, NAME, Writer};
use super::view::Record;
use super::{JournalError, JournalId, is_notes};
use crate::canary::{self, PlantedFault};
use crate::known::Stated;
use fixwire_protocol::Ledger;
use fixwire_protocol::outbox::stored_note;

/// The checkpoints on a disk, and access to the segments for a background thread.
pub trait States: Send {
    /// The numbers of the checkpoints, ascending.
    ///
    /// # Errors
    ///
    /// The system error, here and below.
    fn list(&mut self) -> Result<Vec<u32>, JournalError>;

    /// The bytes of a checkpoint.
    fn read(&mut self, number: u32) -> Result<Vec<u8>, JournalError>;

    /// The name of a checkpoint for people, which is its path.
    fn file_name(&self, number: u32) -> String;

    /// Starts to write a checkpoint to a temporary file.
    fn begin(&mut self, number: u32) -> Result<(), JournalError>;

    /// Writes more bytes of the checkpoint.
    fn put(&mut self, bytes: &[u8]) -> Result<(), JournalError>;

    /// Completes the checkpoint. When this call returns, the checkpoint is on disk under its own name.
    fn finish(&mut self) -> Result<(), JournalError>;

    /// Removes the temporary file of a checkpoint that was not completed.
    fn abandon(&mut self);

    /// Removes a checkpoint.
    fn remove(&mut self, number: u32) -> Result<(), JournalError>;

    /// Passes every record of a closed segment to `each`, in order, until `each` returns false.
    fn read_closed(
        &mut self,
        number: u32,
        each: &mut dyn FnMut(&Record<'_>) -> bool,
    ) -> Result<Closed, JournalError>;

    /// The salt of a segment; `None` if the segment is missing.
    fn salt(&mut self, number: u32) -> Result<Option<u64>, JournalError>;

    /// The salt of a segment, and the index of its first record; `None` if it has no complete record.
    fn begins(&mut self, number: u32) -> Result<Option<(u64, u64)>, JournalError>;

    /// Waits until these segments are on disk. Of the last segment, only the first record must be on disk.
    fn sync(&mut self, from: u32, upto: u32) -> Result<(), JournalError>;

    /// Tells the disk that two checkpoints now include all notes before this segment.
    fn settle(&mut self, segment: u32);
}

/// Result of reading a segment that should be closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Closed {
    /// The segment may get more records, or `each` has returned false.
    NotYet,
    /// The whole segment was read.
    Read {
        /// The salt of the next segment.
        salt: u64,
        /// The index of the first record in the next segment.
        record: u64,
    },
    /// The segment was retired. The journal begins with the segment `first`.
    Gone {
        /// The first segment.
        first: u32,
    },
}

/// The result of one step of folding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FoldStep {
    /// Nothing, because the next segment is still open.
    Waits,
    /// The ledger now includes the notes of a segment, or the segment had no notes.
    Folded,
    /// A checkpoint was made.
    Made {
        /// The segment to which the checkpoint belongs: it includes the notes before this segment.
        segment: u32,
        /// Size of the checkpoint, in bytes.
        bytes: u64,
    },
}

/// The progress of folding notes into checkpoints.
pub struct Fold {
    ledger: Box<dyn Ledger>,
    /// The checkpoint with which the engine started; `None` after this checkpoint was read.
    start: Option<u32>,
    /// The next segment to fold.
    next: u32,
    /// The id of the session that has the notes; `None` until it is found.
    notes: Option<JournalId>,
    /// The number of the last note that the ledger includes.
    note: u64,
    /// Size of the notes since the last checkpoint (`since`), and size of that checkpoint, in bytes.
    since: u64,
    size: u64,
    /// Complete checkpoints, ascending.
    kept: Vec<u32>,
    /// Size of the blocks in which a checkpoint is written, in bytes.
    block: usize,
    /// Whether the folded state differs from the engine's state. If so, no more notes are folded.
    differs: bool,
}

/// Whether a segment has records and is closed.
fn is_closed(disk: &mut dyn States, number: u32) -> Result<bool, JournalError> {
    let mut is = false;
    disk.read_closed(number, &mut |_| {
        is = true;
        false
    })?;
    Ok(is)
}

impl Fold {
    /// Continues from a checkpoint; without one, begins with the first segment of the journal.
    #[must_use]
    pub fn new(ledger: Box<dyn Ledger>, start: Option<u32>, first: u32) -> Self {
        Self {
            ledger,
            start,
            next: first,
            notes: None,
            note: 0,
            since: 0,
            size: 0,
            kept: Vec::new(),
            block: BLOCK,
            differs: false,
        }
    }

    /// Sets the size of the blocks in which a checkpoint is written, at most 1 MiB.
    #[must_use]
    pub fn with_block(mut self, bytes: usize) -> Self {
        self.block = bytes;
        self
    }

    /// The hash of the folded state, and the number of its last note.
    #[must_use]
    pub fn state(&self) -> (u64, u64) {
        (self.ledger.hash(), self.note)
    }

    /// Does the next piece of work. Calls `goes_on` now and then to ask whether to continue.
    ///
    /// # Errors
    ///
    /// [`JournalError::StateDiffers`], once; after it nothing is folded. Other errors may be temporary.
    pub fn step(
        &mut self,
        disk: &mut dyn States,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<FoldStep, JournalError> {
        if self.differs {
            return Ok(FoldStep::Waits);
        }
        if let Some(number) = self.start {
            self.load(disk, number)?;
            self.start = None;
            return Ok(FoldStep::Folded);
        }
        let mut differs = None;
        let number = self.next;
        let closed = disk.read_closed(number, &mut |record| {
            differs = differs.take().or(self.take(record));
            differs.is_none() && goes_on()
        })?;
        if let Some((note, [noted, folded])) = differs {
            self.differs = true;
            return Err(JournalError::StateDiffers {
                note,
                noted,
                folded,
            });
        }
        match closed {
            Closed::NotYet => Ok(FoldStep::Waits),
            Closed::Gone { first } => {
                self.next = first.max(number + 1);
                Ok(FoldStep::Folded)
            }
            Closed::Read { salt, record } => {
                self.next = number + 1;
                if self.note == 0 || self.since == 0 || !self.is_due(disk)? {
                    return Ok(FoldStep::Folded);
                }
                self.write(disk, salt, record)
                    .inspect_err(|_| disk.abandon())
            }
        }
    }

    /// Whether a checkpoint should be made now. No checkpoint is due when few notes were folded since the last one.
    /// No checkpoint is due either while folding is behind the engine, because a checkpoint would delay folding even
    /// more.
    fn is_due(&self, disk: &mut dyn States) -> Result<bool, JournalError> {
        if self.since >= self.size || self.since < self.size / 4 {
            return Ok(self.since >= self.size);
        }
        Ok(!is_closed(disk, self.next)?)
    }

    /// Reads the checkpoint with which the engine started, and finds the previous one.
    fn load(&mut self, disk: &mut dyn States, number: u32) -> Result<(), JournalError> {
        let file = disk.file_name(number);
        let bytes = disk.read(number)?;
        let size = bytes.len() as u64;
        let (head, state) = state::read(bytes, number, &file).map_err(JournalError::Damaged)?;
        let refused = |why| JournalError::StateRefused {
            file: file.clone(),
            why,
        };
        let read = self.ledger.read(head.version, &state);
        read.map_err(|why| refused(format!("the ledger rejects it: {why}")))?;
        if self.ledger.hash() != head.hash {
            return Err(refused(
                "the state's hash differs from the stored hash".into(),
            ));
        }
        (self.next, self.size, self.note) = (number, size, head.note);
        self.notes = Some(head.notes);
        self.kept = vec![number];
        let older = disk.list()?.into_iter().rev().find(|older| *older < number);
        if let Some(older) = older
            && let Ok(bytes) = disk.read(older)
            && let Ok((head, _)) = state::read(bytes, older, &disk.file_name(older))
            && disk.salt(older)? == Some(head.salt)
        {
            self.kept.insert(0, older);
            disk.settle(older);
        }
        Ok(())
    }

    /// Folds the notes in a record. If the state then differs from the engine's state, returns the number of the note
    /// and both hashes.
    fn take(&mut self, record: &Record<'_>) -> Option<(u64, [u64; 2])> {
        if record.session_name().is_some_and(is_notes) {
            self.notes = Some(record.session);
        }
        let notes = self.notes?;
        if record.session == notes
            && let Some(stated) = Stated::read(record.kind, record.body)
            && let Some(hash) = stated.hash_of(self.ledger.form(), self.note)
        {
            let folded = self.ledger.hash();
            return (folded != hash).then_some((self.note, [hash, folded]));
        }
        for effect in record.effects {
            // A segment that was not read to its end is read again from its beginning, so this loop may see a note
            // twice.
            if effect.session != notes || effect.seq <= self.note {
                continue;
            }
            self.note = effect.seq;
            self.since += (EFFECT + effect.bytes.len().next_multiple_of(8)) as u64;
            if let Some((at, note)) = stored_note(effect.bytes)
                && !(canary::is(PlantedFault::FoldShort) && effect.seq.is_multiple_of(5))
            {
                self.ledger.apply(at, note);
            }
        }
        None
    }

    /// Writes a checkpoint that belongs to the next segment, which has this salt and this first record.
    fn write(
        &mut self,
        disk: &mut dyn States,
        salt: u64,
        record: u64,
    ) -> Result<FoldStep, JournalError> {
        let segment = self.next;
        let (name, version) = self.ledger.form();
        // The data before the checkpoint, and the first record after it, must be on disk.
        disk.sync(self.kept.last().copied().unwrap_or(segment - 1), segment)?;
        let head = Head {
            segment,
            notes: self.notes.unwrap_or_default(),
            salt,
            record,
            note: self.note,
            hash: self.ledger.hash(),
            version,
            name: name[..name.len().min(NAME)].to_owned(),
        };
        disk.begin(segment)?;
        let mut result = Ok(());
        let mut put = |bytes: &[u8]| {
            if result.is_ok() {
                result = disk.put(bytes);
            }
        };
        let mut writer = Writer::begin(&head, self.block, &mut put);
        self.ledger.write(&mut |piece| writer.piece(piece));
        let bytes = writer.end();
        result?;
        disk.finish()?;
        (self.since, self.size) = (0, bytes);
        self.kept.retain(|kept| *kept != segment);
        self.kept.push(segment);
        if let [.., older, _] = self.kept[..] {
            disk.settle(older);
            self.kept.retain(|kept| *kept >= older);
        }
        for number in disk.list()? {
            if !self.kept.contains(&number) {
                disk.remove(number)?;
            }
        }
        Ok(FoldStep::Made { segment, bytes })
    }
}

impl std::fmt::Debug for Fold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fold")
            .field("next", &self.next)
            .field("note", &self.note)
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

/// The sentence that says why a damaged checkpoint is not used.
pub(super) fn why_not(damage: &Damage) -> String {
    let Damage {
        offset,
        expected,
        found,
        ..
    } = damage;
    format!("damaged at byte {offset}: expected {expected}, found {found}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::SimDisk;
    use crate::{Cause, Effect, Journal, JournalConfig, NOTES, Recalled, RecordKind, notes_name};
    use fixwire_protocol::Timestamp;
    use fixwire_protocol::outbox::NOTE_ROOM;

    const CONFIG: JournalConfig = JournalConfig {
        segment_bytes: 4096,
        index_entries: 4,
        synced_before_sent: false,
        retention: None,
    };
    const NOW: Timestamp = Timestamp(1);

    /// Counts notes. Its hash includes a number that is not part of the state.
    struct Count {
        notes: u64,
        seed: u64,
    }

    impl Ledger for Count {
        fn form(&self) -> (&'static str, u32) {
            ("count", 1)
        }

        fn apply(&mut self, _at: Timestamp, _note: &[u8]) {
            self.notes += 1;
        }

        fn write(&self, put: &mut dyn FnMut(&[u8])) {
            put(&self.notes.to_le_bytes());
        }

        fn read(&mut self, _version: u32, state: &[u8]) -> Result<(), String> {
            let notes = state.try_into().map_err(|_| "expected eight bytes")?;
            self.notes = u64::from_le_bytes(notes);
            Ok(())
        }

        fn hash(&self) -> u64 {
            self.notes ^ self.seed
        }
    }

    fn empty(seed: u64) -> Box<Count> {
        Box::new(Count { notes: 0, seed })
    }

    /// A disk with a checkpoint of one note, of version 1 and seed 7.
    fn with_checkpoint() -> SimDisk {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), CONFIG).unwrap();
        let session = journal.register(NOW, NOTES).unwrap();
        let cause = Cause {
            session,
            kind: RecordKind::Sent,
            inbound: None,
            next_in: 1,
            next_out: 2,
            epoch: 0,
        };
        let effect = Effect {
            session,
            seq: 1,
            bytes: &[1; NOTE_ROOM],
        };
        journal.append(NOW, cause, std::iter::once(effect)).unwrap();
        journal.new_segment(NOW).unwrap();
        journal.note(NOW, session, "a second segment").unwrap();
        journal.fold(empty(7), &Recalled::default()).unwrap();
        while !matches!(disk.fold_step(), Some(Ok(FoldStep::Made { .. }))) {}
        disk.copy()
    }

    /// The ledger's state after the first step with the checkpoint, and its number of notes.
    fn load(seed: u64) -> (Result<FoldStep, JournalError>, u64) {
        let disk = with_checkpoint();
        let form = ("count", 1);
        let opened = Journal::open_with_state(disk.clone(), CONFIG, form, &mut |_, _| Ok(()));
        let (mut journal, _, recalled) = opened.unwrap();
        journal.fold(empty(seed), &recalled).unwrap();
        let step = disk.fold_step().unwrap();
        (step, disk.folded().map_or(0, |(_, hash)| hash ^ seed))
    }

    #[test]
    fn a_state_with_another_hash_than_its_checkpoint_is_refused() {
        assert!(matches!(load(7), (Ok(FoldStep::Folded), 1)));
        let (error, _) = load(8);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("hash differs from the stored hash"),
            "{error}"
        );
    }

    #[test]
    fn a_checkpoint_or_notes_of_another_version_are_refused() {
        let refused = |disk: &SimDisk, form| {
            Journal::open_with_state(disk.clone(), CONFIG, form, &mut |_, _| Ok(()))
                .unwrap_err()
                .to_string()
        };
        let disk = with_checkpoint();
        let error = refused(&disk, ("count", 2));
        let wanted =
            "2.fwk has version 1 of the state of count, and this build of fixwire reads version 2;";
        assert!(error.contains(wanted), "{error}");
        assert!(error.contains("--new-journal"), "{error}");
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), CONFIG).unwrap();
        journal.register(NOW, &notes_name(("count", 1))).unwrap();
        drop(journal);
        for other in [("count", 2), ("other", 1)] {
            let error = refused(&disk, other);
            let reads = notes_name(other);
            let wanted =
                format!("has notes of count, version 1, and this build of fixwire reads {reads};");
            assert!(error.contains(&wanted), "{error}");
        }
        let form = ("count", 1);
        Journal::open_with_state(disk.clone(), CONFIG, form, &mut |_, _| Ok(())).unwrap();
        // An application without a ledger accepts any.
        Journal::open(disk, CONFIG).unwrap();
    }
}
