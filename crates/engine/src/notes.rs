//! What the application keeps in the journal: a row of numbered bytes, stored as if a session had sent
//! them.

use fixwire_protocol::time::{Precision, Stamp};
use fixwire_protocol::{Application, Now, Outbox, Timestamp};

use crate::canary::{self, Fault};
use crate::journal::{Cause, Disk, Effect, Journal, JournalError, JournalId, Kind, NOTES, Stored};

/// Room for what stands in front of a note: `52=`, its time, SOH.
pub(crate) const NOTE_ROOM: usize = Stamp::MAX + 4;

/// The row, and the number of the next note.
pub(crate) struct Notes {
    id: Option<JournalId>,
    next: u64,
    stamp: Stamp,
}

impl Notes {
    /// Gives an application the notes that the journal has.
    pub(crate) fn recover<D: Disk>(journal: &Journal<D>, app: &mut impl Application) -> Self {
        let id = journal.sessions().find(|known| known.1 == NOTES);
        let mut notes = Self {
            id: id.map(|known| known.0),
            next: 1,
            stamp: Stamp::new(),
        };
        if let Some(id) = notes.id
            && let Some(counters) = journal.counters(id)
        {
            notes.next = counters.next_out;
            let mut replay = journal.replay(id, 1, counters.next_out.saturating_sub(1));
            while let Some(stored) = journal.next_of(&mut replay) {
                if let Stored::Message { seq, bytes } = stored
                    && !(canary::is(Fault::ForgetNotes) && seq.is_multiple_of(3))
                    && let Some((at, note)) = split(bytes)
                {
                    app.on_note(at, note);
                }
            }
        }
        notes
    }

    /// Numbers a note in the outbox.
    #[cold]
    pub(crate) fn seal<D: Disk>(
        &mut self,
        now: Now,
        journal: &mut Journal<D>,
        outbox: &mut Outbox,
        index: usize,
    ) -> Result<(), JournalError> {
        if self.id.is_none() {
            self.id = Some(journal.register(now.wall, NOTES)?);
        }
        let time = self.stamp.format(now.wall, Precision::Nanos);
        outbox.seal_note(index, self.next, time);
        self.next += 1;
        Ok(())
    }

    /// Keeps notes that were written for no message, and beside none; what else stands in the outbox is for no
    /// session, and is discarded. Answers how much that is.
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
                kind: Kind::Sent,
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

    /// A sealed note for the journal.
    #[cold]
    pub(crate) fn effect<'a>(&self, outbox: &'a Outbox, index: usize) -> Option<Effect<'a>> {
        self.id.map(|session| Effect {
            session,
            seq: outbox.entries()[index].seq,
            bytes: outbox.sealed(index),
        })
    }
}

/// The time of a stored note, and what the application wrote.
fn split(stored: &[u8]) -> Option<(Timestamp, &[u8])> {
    let text = stored.strip_prefix(b"52=")?;
    let end = text.iter().position(|byte| *byte == 1)?;
    Some((Timestamp::parse(&text[..end]).ok()?, &text[end + 1..]))
}
