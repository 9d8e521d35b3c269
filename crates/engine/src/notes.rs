//! Notes of the application in the journal: byte sequences, numbered and stored like the messages of a session.

use fixwire_protocol::outbox::stored_note;
use fixwire_protocol::{Application, Ledger, Now, Outbox};

use crate::canary::{self, PlantedFault};
use crate::journal::{Cause, Disk, Effect, Journal, JournalError, JournalId, NOTES, RecordKind};
use crate::journal::{JournalConfig, JournalTrouble, Recalled, Torn, is_notes, notes_name};

/// The ledger that writes the application's checkpoints, and the checkpoint that was restored.
pub(crate) type Folded = Option<(Box<dyn Ledger>, Recalled)>;

/// The session of the notes in the journal, and the number of the next note.
pub(crate) struct Notes {
    id: Option<JournalId>,
    name: String,
    next: u64,
}

impl Notes {
    /// Opens the journal, and restores the application from its newest checkpoint. Also returns the data that was cut
    /// off.
    pub(crate) fn open<D: Disk>(
        disk: D,
        config: JournalConfig,
        app: &mut impl Application,
    ) -> Result<(Journal<D>, Option<Torn>, Folded), JournalError> {
        let Some(ledger) = app.ledger() else {
            let (journal, recovered) = Journal::open(disk, config)?;
            return Ok((journal, recovered.torn, None));
        };
        let (journal, recovered, recalled) =
            Journal::open_with_state(disk, config, ledger.form(), &mut |version, state| {
                app.on_checkpoint(version, state)
            })?;
        Ok((journal, recovered.torn, Some((ledger, recalled))))
    }

    /// Passes the notes after the checkpoint to the application. Also returns the events for the operator.
    pub(crate) fn recover<D: Disk>(
        journal: &mut Journal<D>,
        app: &mut impl Application,
        folded: Folded,
    ) -> Result<(Self, Vec<JournalTrouble>), JournalError> {
        let (ledger, recalled) = folded.unzip();
        let form = ledger.as_ref().map(|ledger| ledger.form());
        let name = form.map_or_else(|| NOTES.to_owned(), notes_name);
        let id = journal.sessions().find(|known| is_notes(known.1));
        let mut notes = Self {
            id: id.map(|known| known.0),
            name,
            next: 1,
        };
        let recalled = recalled.unwrap_or_default();
        if let Some(id) = notes.id {
            notes.replay(journal, app, id, &recalled)?;
        }
        let mut troubles = Vec::new();
        if let Some(ledger) = ledger {
            troubles.extend(notes.compare(journal, app, ledger.form()));
            journal.fold(ledger, &recalled)?;
        }
        let refused = recalled.refused.into_iter();
        troubles.extend(refused.map(|(file, why)| JournalTrouble::NotRecalled { file, why }));
        Ok((notes, troubles))
    }

    /// Replays the notes after a checkpoint.
    fn replay<D: Disk>(
        &mut self,
        journal: &mut Journal<D>,
        app: &mut impl Application,
        id: JournalId,
        recalled: &Recalled,
    ) -> Result<(), JournalError> {
        let Some(counters) = journal.counters(id) else {
            return Ok(());
        };
        self.next = counters.next_out;
        if recalled.segment.is_none() && journal.has_retired(id)? {
            let refused = recalled.refused.clone();
            return Err(JournalError::StateLost { refused });
        }
        journal.notes_behind(id, recalled, &mut |number, stored| {
            if !(canary::is(PlantedFault::ForgetNotes) && number.is_multiple_of(3))
                && let Some((at, note)) = stored_note(stored)
            {
                app.on_note(at, note);
            }
        })?;
        Ok(())
    }

    /// Compares the state with the hash that the last clean stop recorded; `None` when both are equal, or when no
    /// hash was recorded.
    fn compare<D: Disk>(
        &self,
        journal: &Journal<D>,
        app: &impl Application,
        form: (&str, u32),
    ) -> Option<JournalTrouble> {
        let noted = self.id.and_then(|id| journal.stated_hash(id, form))?;
        let folded = app.state_hash().filter(|folded| *folded != noted)?;
        let note = self.next - 1;
        let error = JournalError::StateDiffers {
            note,
            noted,
            folded,
        };
        let error = error.to_string();
        Some(JournalTrouble::NotFolded { error })
    }

    /// At a clean stop, records the hash of the application's state, for the next checkpoint and the next start.
    pub(crate) fn state_hash<D: Disk>(
        &self,
        now: Now,
        journal: &mut Journal<D>,
        app: &impl Application,
    ) -> Result<(), JournalError> {
        if let Some(id) = self.id
            && self.next > 1
            && let Some(hash) = app.state_hash()
            && let Some(ledger) = app.ledger()
        {
            journal.state_hash(now.wall, id, ledger.form(), hash)?;
        }
        Ok(())
    }

    /// Numbers a note in the outbox.
    pub(crate) fn seal<D: Disk>(
        &mut self,
        now: Now,
        journal: &mut Journal<D>,
        outbox: &mut Outbox,
        index: usize,
    ) -> Result<(), JournalError> {
        if self.id.is_none() {
            self.id = Some(journal.register(now.wall, &self.name)?);
        }
        outbox.seal_note(index, self.next, now.wall);
        self.next += 1;
        Ok(())
    }

    /// Stores notes that have no inbound message. Everything else in the outbox belongs to no session: it is
    /// discarded, and its count is returned.
    pub(crate) fn keep_alone<D: Disk>(
        &mut self,
        now: Now,
        journal: &mut Journal<D>,
        outbox: &mut Outbox,
    ) -> Result<u64, JournalError> {
        let new = outbox.unsealed();
        let mut astray = 0;
        for index in new.clone() {
            if outbox.entries()[index].is_note() {
                self.seal(now, journal, outbox, index)?;
            } else {
                outbox.discard(index);
                astray += 1;
            }
        }
        if let Some(session) = self.id
            && astray < new.len() as u64
        {
            let cause = Cause {
                session,
                kind: RecordKind::Sent,
                inbound: None,
                next_in: 1,
                next_out: self.next,
                epoch: 0,
            };
            let outbox = &*outbox;
            let kept = new.filter(|index| !outbox.entries()[*index].is_discarded());
            let effects = kept.filter_map(|index| self.effect(outbox, index));
            journal.append(now.wall, cause, effects)?;
        }
        Ok(astray)
    }

    /// A finished note for the journal.
    #[inline]
    pub(crate) fn effect<'a>(&self, outbox: &'a Outbox, index: usize) -> Option<Effect<'a>> {
        self.id.map(|session| Effect {
            session,
            seq: outbox.entries()[index].seq,
            bytes: outbox.sealed(index),
        })
    }
}
