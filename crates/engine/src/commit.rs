//! Commit: assigns MsgSeqNums and appends one journal record with the cause and its effects. Then the messages are
//! released, see [`flush`](crate::flush).

use std::ops::Range;

use fixwire_protocol::session::{Verdict, is_admin};
use fixwire_protocol::{
    Application, Message, Mono, MsgSeqNumSource, Nanos, Now, Outbox, SessionId,
};

use crate::canary::{self, PlantedFault};
use crate::consult::{guarded, receive_logon};
use crate::event::{Ending, Event, Events, MessageLoss};
use crate::frame_link::FrameLink;
use crate::host::{Host, Mark};
use crate::journal::{self, Arrival, Cause, Disk, Effect, Journal, JournalError, RecordKind};
use crate::journal::{JournalPosition, Wrote};
use crate::line::Line;
use crate::line::link::Stage;
use crate::notes::Notes;
use crate::raise::is_reported;
use crate::timers::Timers;
use crate::unsent::{self, UnsentMessages};
use fixwire_protocol::Redactor;

/// Index under which the redactor keeps the inbound message without secrets.
pub(crate) const INBOUND: usize = Outbox::INBOUND;

/// The sessions and links, and everything that is needed to commit and send their messages.
pub(crate) struct Core<D: Disk> {
    pub(crate) lines: Vec<Line>,
    /// Links, which carry frames. Lists that mix sessions and links distinguish them by their ids.
    pub(crate) links: Vec<FrameLink>,
    pub(crate) journal: Journal<D>,
    pub(crate) outbox: Outbox,
    /// Limits of the outbox, in bytes and in messages. At either limit the engine writes the outbox before it reads
    /// more.
    pub(crate) full_bytes: usize,
    pub(crate) full_messages: usize,
    /// Whether nothing is sent before the journal is synced to disk.
    pub(crate) sync_first: bool,
    pub(crate) redactor: Redactor,
    pub(crate) notes: Notes,
    /// Number of messages for unknown sessions.
    pub(crate) astray: u64,
    /// Application messages that will never be sent and that no event has reported yet.
    pub(crate) unsent: UnsentMessages,
    /// Number of messages for which the application panicked.
    pub(crate) panics: u64,
    /// Sessions and links with bytes or messages that wait for their socket.
    pub(crate) busy: Vec<usize>,
    /// Number of times that the outbox was written and emptied.
    pub(crate) flushes: u64,
    /// The session or link from which messages are read, or were read last.
    pub(crate) reading: SessionId,
    /// Connections that failed during a write, with the reason.
    pub(crate) failed: Vec<(usize, Ending)>,
    pub(crate) timers: Timers,
    /// The time of this turn.
    pub(crate) clock: Mono,
    /// Events for the operator.
    pub(crate) events: Events,
    /// Sessions whose peers have begun to read slowly, with the number of waiting bytes.
    pub(crate) slow: Vec<(usize, u64)>,
    pub(crate) stall_time: Nanos,
    pub(crate) lag_bytes: u64,
    pub(crate) replay_per_turn: usize,
    /// Whether logs or other readers follow the journal. If so, messages without an effect are recorded too.
    pub(crate) keeps_trail: bool,
    /// Journal bytes per session and hour for records of messages without an effect.
    pub(crate) trail_bytes: u32,
    /// Journal positions of the messages resent in this turn, and the body of the journal record that lists these
    /// messages.
    pub(crate) places: Vec<(u64, JournalPosition)>,
    pub(crate) resent: Wrote,
}

/// Messages that just received their MsgSeqNums.
pub(crate) struct Sealed {
    pub(crate) new: Range<usize>,
    /// Whether any of the messages must be stored.
    pub(crate) stored: bool,
    /// Whether events are raised for any of the messages.
    pub(crate) reported: bool,
}

impl<D: Disk> Core<D> {
    /// Handles one message of a session: the session decides, the application answers, and one record commits both.
    /// `arrival` is set for a message that was queued until now.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        session: usize,
        message: &Message<'_>,
        app: &mut impl Application,
        arrival: Option<Arrival>,
        host: &mut impl Host,
    ) -> Result<Verdict, JournalError> {
        host.mark(Mark::Parsed(message));
        let line = &mut self.lines[session];
        // A message that waited above a gap was counted when it arrived.
        line.counters.received += u64::from(arrival.is_none());
        let msg_type = message.msg_type();
        let verdict = match msg_type {
            b"A" => {
                let verdict = receive_logon(now, line, message, app, &mut self.outbox);
                if !matches!(verdict, Verdict::Disconnect(_)) {
                    tell_reset(now, line, &self.journal, app, &mut self.outbox);
                }
                verdict
            }
            _ => line.session.receive(now, message, &mut self.outbox),
        };
        host.mark(Mark::Checked);
        let id = line.session.id();
        if verdict == Verdict::Deliver {
            line.counters.delivered += 1;
            let taken = match &mut line.throttle {
                Some(throttle) if !canary::is(PlantedFault::SkipThrottle) => {
                    throttle.admits(now.mono, message)
                }
                _ => Ok(()),
            };
            let answer = match taken {
                Ok(()) if msg_type == b"j" => self.business_rejected(now, session, message, app),
                Ok(()) if line.config.answer_panics => {
                    let call = |app: &mut _, outbox: &mut _| {
                        Application::on_message(app, now, id, message, outbox)
                    };
                    guarded(call, app, &mut self.outbox, &mut self.panics)
                }
                taken => taken.and_then(|()| app.on_message(now, id, message, &mut self.outbox)),
            };
            if let Err(refusal) = answer {
                let session = &mut self.lines[session].session;
                session.refuse(now, message, refusal, &mut self.outbox);
            }
            host.mark(Mark::Answered);
        } else {
            self.note_end(session, verdict);
            self.tell(now, session, message, verdict, app);
        }
        if verdict != Verdict::Deliver || msg_type == b"j" {
            self.raise_received(now, session, message, verdict);
        }
        if arrival.is_none() && Redactor::concerns_message(message) {
            let private = Redactor::concerns(message.msg_type());
            self.redactor.copy(INBOUND, message.bytes(), private);
        }
        if verdict == Verdict::Deliver && arrival.is_none() {
            let sealed = self.seal(now, session, app)?;
            host.mark(Mark::Sealed(&self.outbox, sealed.new.start));
            self.keep(
                now,
                session,
                RecordKind::Message,
                Some(message.bytes()),
                sealed,
            )?;
            host.mark(Mark::Journalled);
        } else {
            self.commit_aside(now, session, message, arrival, app)?;
        }
        if self.lines[session].gap.is_some() {
            self.raise_gap_filled(now, session);
        }
        Ok(verdict)
    }

    /// Notifies the application of a message that is not delivered to it, and of the session's verdict on the
    /// message.
    #[cold]
    fn tell(
        &mut self,
        now: Now,
        session: usize,
        message: &Message<'_>,
        verdict: Verdict,
        app: &mut impl Application,
    ) {
        let line = &mut self.lines[session];
        let (id, outbox) = (line.session.id(), &mut self.outbox);
        if line.session.shows(message, verdict) {
            if message.msg_type() == b"5" {
                line.logout = message.bytes().to_vec();
            }
            app.on_admin(now, id, message, outbox);
        }
        match verdict {
            Verdict::LoggedOn => app.on_logon(now, id, message, outbox),
            Verdict::Duplicate => app.on_poss_dup(now, id, message, outbox),
            Verdict::Rejected => self.rejected(now, session, message, app),
            Verdict::RejectSent | Verdict::Ended { reject_sent: true } => {
                app.on_reject_sent(now, id, message, outbox);
            }
            Verdict::Disconnect(_) => tell_reset(now, line, &self.journal, app, outbox),
            Verdict::Handled
            | Verdict::Deliver
            | Verdict::Replay
            | Verdict::Ended { reject_sent: false } => {}
        }
    }

    /// Handles a session that has ended: messages committed until the next flush are still sent.
    pub(crate) fn note_end(&mut self, session: usize, verdict: Verdict) {
        if let Verdict::Disconnect(_) | Verdict::Ended { .. } = verdict
            && let Some(link) = &mut self.lines[session].link
        {
            link.end(self.flushes);
        }
    }

    /// Notifies the application if the session's sequence numbers were reset after the last record.
    pub(crate) fn tell_reset(&mut self, now: Now, session: usize, app: &mut impl Application) {
        let line = &self.lines[session];
        tell_reset(now, line, &self.journal, app, &mut self.outbox);
    }

    /// Assigns MsgSeqNums to the messages in the outbox, and stores them with their cause in one record. A message
    /// without an effect (a duplicate, or a message that is queued) leaves a record only for the log.
    #[inline]
    pub(crate) fn commit(
        &mut self,
        now: Now,
        cause: usize,
        kind: RecordKind,
        inbound: Option<&[u8]>,
        app: &mut impl Application,
    ) -> Result<(), JournalError> {
        let sealed = self.seal(now, cause, app)?;
        self.keep(now, cause, kind, inbound, sealed)
    }

    /// Assigns MsgSeqNums to the messages in the outbox. The application may first change the messages that the
    /// session itself has written.
    #[inline]
    pub(crate) fn seal(
        &mut self,
        now: Now,
        cause: usize,
        app: &mut impl Application,
    ) -> Result<Sealed, JournalError> {
        let new = self.outbox.unsealed();
        let (mut stored, mut reported) = (false, false);
        for index in new.clone() {
            let outbox = &mut self.outbox;
            if outbox.entries()[index].is_note() {
                self.notes.seal(now, &mut self.journal, outbox, index)?;
                stored = true;
                continue;
            }
            let entry = outbox.entries()[index];
            let to = entry.session.0 as usize;
            let about = self.lines.get(cause);
            let is_withheld = about.is_some_and(|line| line.withholds(entry.msg_type()));
            match self.lines.get_mut(to) {
                Some(_) if is_withheld => {
                    outbox.discard(index);
                }
                Some(line) => {
                    let is_admin = is_admin(outbox.msg_type(index));
                    let private = !is_admin && Redactor::concerns(outbox.msg_type(index));
                    // At the start of the engine, the reset of one session may be recorded before the reset of the
                    // session to which it writes. And a UserRequest in the journal could not be sent later, because
                    // the journal lacks its password.
                    let refused = if line.session.is_logged_on() {
                        None
                    } else {
                        unsent::refusal(line, is_admin, private)
                    };
                    let restarts = to != cause && has_restarted(line, &self.journal);
                    if refused.is_some() || restarts {
                        let why = refused.unwrap_or(MessageLoss::Restart);
                        self.unsent.refuse(line.session.id(), why, outbox, index);
                        outbox.discard(index);
                        continue;
                    }
                    stored |= entry.number == MsgSeqNumSource::Next;
                    reported |= is_reported(outbox.msg_type(index));
                    if is_admin {
                        self.seal_admin(now, to, index, app);
                        continue;
                    }
                    line.session.seal(now, outbox, index);
                    if private {
                        self.redactor.copy(index, outbox.sealed(index), true);
                    }
                }
                None => stored |= self.seal_frame(index),
            }
        }
        Ok(Sealed {
            new,
            stored,
            reported,
        })
    }

    /// Assigns a MsgSeqNum to a message that the session itself has written; the application may first change it.
    #[inline(never)]
    fn seal_admin(&mut self, now: Now, session: usize, index: usize, app: &mut impl Application) {
        let Self { lines, outbox, .. } = self;
        let line = &mut lines[session];
        let (id, private) = (
            line.session.id(),
            Redactor::concerns(outbox.msg_type(index)),
        );
        let signer = line.config.logon_signer.as_ref().filter(|_| private);
        let mut refused = Vec::new();
        let mut is_changed = false;
        line.session.seal_changed(now, outbox, index, |message| {
            if let Some(signer) = signer {
                signer.sign(message);
            }
            app.on_admin_out(now, id, message);
            refused.extend_from_slice(message.refused());
            is_changed = message.is_changed();
        });
        if private || is_changed {
            self.redactor.copy(index, outbox.sealed(index), private);
        }
        for error in refused {
            // Types of admin messages have one character.
            let msg_type = char::from(self.outbox.msg_type(index)[0]);
            let event = Event::FieldRefused {
                session: id,
                msg_type,
                error,
            };
            self.raise(now, &event);
        }
    }

    /// Stores the messages that have got their MsgSeqNums, with their cause, in one record.
    #[inline]
    pub(crate) fn keep(
        &mut self,
        now: Now,
        about: usize,
        kind: RecordKind,
        inbound: Option<&[u8]>,
        sealed: Sealed,
    ) -> Result<(), JournalError> {
        let Self {
            lines,
            links,
            journal,
            outbox,
            redactor,
            notes,
            ..
        } = self;
        let Sealed {
            new,
            stored,
            reported,
        } = sealed;
        let line = &mut lines[about];
        debug_assert!(
            line.session.is_logged_on()
                || !line
                    .link
                    .is_some_and(|link| matches!(link.stage, Stage::LoggedOn)),
            "a verdict has said that the session ended"
        );
        let (next_in, next_out) = (line.session.next_in_to_keep(), line.session.next_out());
        let epoch = line.session.epoch() as u32;
        let known = journal
            .counters(line.journal)
            .unwrap_or(journal::SequenceCounters::NEW);
        if !stored
            && known
                == (journal::SequenceCounters {
                    next_in,
                    next_out,
                    epoch,
                })
        {
            if let Some(body) = inbound {
                return self.log_only(now, about, kind, body);
            }
            redactor.clear();
            return Ok(());
        }
        let is_reset = known.epoch != epoch;
        if is_reset {
            // The messages that wait for the peer have MsgSeqNums from before the reset.
            let first = line.take_unsent_from();
            line.output.void();
            line.resending = None;
            if let Some(first) = first {
                let range = (line.journal, first, known.next_out.saturating_sub(1));
                let (id, why) = (line.session.id(), MessageLoss::Reset);
                self.unsent.lose_of_journal(id, why, journal, range);
            }
        }
        let mut cause = Cause {
            session: line.journal,
            kind,
            inbound: inbound.map(|bytes| redactor.kept(INBOUND, bytes)),
            next_in,
            next_out,
            epoch,
        };
        if canary::is(PlantedFault::EffectWithoutCause) && stored && next_in.is_multiple_of(5) {
            (cause.inbound, cause.next_in) = (None, known.next_in);
        }
        let (outbox, lines, links, kept, notes) = (&*outbox, &*lines, &*links, &*redactor, &*notes);
        let effects = Effects {
            range: new.clone(),
            of: |index| effect(index, outbox, lines, links, kept, notes),
        };
        if !(canary::is(PlantedFault::SkipCommit) && next_in.is_multiple_of(5)) {
            journal.append(now.wall, cause, effects)?;
        }
        redactor.clear();
        if is_reset {
            self.raise_unfinished(now, about, known.next_in);
            if kind == RecordKind::Message {
                let session = self.lines[about].session.id();
                self.raise(now, &Event::NumbersReset { session });
            }
        }
        if reported {
            self.raise_sent(now, about, inbound, new);
        }
        Ok(())
    }

    /// Commits messages without an inbound cause: they come from a timer, a command, or the application itself.
    pub(crate) fn commit_sent(
        &mut self,
        now: Now,
        app: &mut impl Application,
        host: &mut impl Host,
    ) -> Result<(), JournalError> {
        let new = &self.outbox.entries()[self.outbox.unsealed()];
        if new.is_empty() {
            return Ok(());
        }
        // The record belongs to the session of the first message that has a session.
        let mut sessions = new.iter().map(|entry| entry.session.0 as usize);
        match sessions.find(|at| *at < self.lines.len()) {
            Some(session) => {
                let sealed = self.seal(now, session, app)?;
                host.mark(Mark::Sealed(&self.outbox, sealed.new.start));
                self.keep(now, session, RecordKind::Sent, None, sealed)?;
                host.mark(Mark::Journalled);
                Ok(())
            }
            None => self.commit_sent_aside(now, app),
        }
    }

    /// Commits messages that have neither an inbound cause nor a session. If one of the messages is a frame of a
    /// link, the record belongs to that link; otherwise it belongs to the notes.
    #[cold]
    fn commit_sent_aside(
        &mut self,
        now: Now,
        app: &mut impl Application,
    ) -> Result<(), JournalError> {
        let new = &self.outbox.entries()[self.outbox.unsealed()];
        let mut links = new.iter().filter_map(|entry| entry.session.link());
        match links.find(|at| *at < self.links.len()) {
            Some(link) => self.commit_link(now, link, RecordKind::Sent, None, app),
            None => {
                let Self {
                    journal, outbox, ..
                } = self;
                self.astray += self.notes.keep_alone(now, journal, outbox)?;
                Ok(())
            }
        }
    }
}

/// Iterates over the effects among the outbox messages of a range. Does the same as `filter_map`, but without a call
/// of `FilterMap::next`, which may not be inlined.
#[derive(Clone)]
pub(crate) struct Effects<F> {
    pub(crate) range: Range<usize>,
    pub(crate) of: F,
}

impl<'a, F: FnMut(usize) -> Option<Effect<'a>>> Iterator for Effects<F> {
    type Item = Effect<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Effect<'a>> {
        loop {
            let index = self.range.next()?;
            if let Some(effect) = (self.of)(index) {
                return Some(effect);
            }
        }
    }
}

/// The message or note with its number, for the journal; `None` for an entry that is discarded or has no new number.
#[inline(always)]
pub(crate) fn effect<'a>(
    index: usize,
    outbox: &'a Outbox,
    lines: &[Line],
    links: &[FrameLink],
    kept: &'a Redactor,
    notes: &Notes,
) -> Option<Effect<'a>> {
    let entry = &outbox.entries()[index];
    let numbered = entry.number == MsgSeqNumSource::Next && !entry.is_discarded();
    if !numbered {
        return None;
    }
    let Some(line) = lines.get(entry.session.0 as usize) else {
        return match entry.session.link() {
            Some(link) => effect_of_link(index, links.get(link)?, outbox, kept),
            None => notes.effect(outbox, index),
        };
    };
    Some(Effect {
        session: line.journal,
        seq: entry.seq,
        bytes: kept.kept(index, outbox.sealed(index)),
    })
}

/// The frame with its number, for the journal; `None` for a frame that is not stored.
#[cold]
#[inline(never)]
fn effect_of_link<'a>(
    index: usize,
    link: &FrameLink,
    outbox: &'a Outbox,
    kept: &'a Redactor,
) -> Option<Effect<'a>> {
    Some(Effect {
        session: link.journal,
        seq: outbox.entries()[index].seq,
        bytes: kept.kept(index, outbox.sealed(index)),
    })
}

#[cold]
fn tell_reset<D: Disk>(
    now: Now,
    line: &Line,
    journal: &Journal<D>,
    app: &mut impl Application,
    outbox: &mut Outbox,
) {
    if has_restarted(line, journal) {
        app.on_reset(now, line.session.id(), outbox);
    }
}

/// Whether the sequence numbers of a session were reset after its last record.
fn has_restarted<D: Disk>(line: &Line, journal: &Journal<D>) -> bool {
    let known = journal.counters(line.journal);
    known.is_some_and(|known| known.epoch != line.session.epoch() as u32)
}
