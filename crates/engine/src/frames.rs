//! Frames of links on their way to the journal and to the socket. They are handled like messages, but have no
//! session.

use std::ops::Range;

use fixwire_protocol::{Application, Framed, Hangup, Link, Now, SessionId};

use crate::commit::{Core, Effects, INBOUND, Sealed, effect};
use crate::event::Ending;
use crate::frame_link::FrameLink;
use crate::host::Host;
use crate::journal::{Cause, Disk, JournalError, RecordKind};
use crate::line::flow::Pacer;
use crate::line::output::{Gate, Pace};

/// The index of a link in a list that mixes sessions and links; `None` for a session.
#[inline]
pub(crate) fn link_of(session: usize) -> Option<usize> {
    SessionId(session as u32).link()
}

impl<D: Disk> Core<D> {
    /// Handles one frame: the application answers, and one record has the frame with its effects. Returns the answer,
    /// and whether the frame has secrets.
    #[inline]
    pub(crate) fn receive_frame(
        &mut self,
        now: Now,
        link: usize,
        frame: &[u8],
        app: &mut impl Application,
    ) -> Result<(Result<(), Hangup>, bool), JournalError> {
        self.links[link].frames_in += 1;
        self.outbox.set_in_frame(true);
        let answer = app.on_frame(now, self.links[link].id, frame, &mut self.outbox);
        let has_secret = self.outbox.has_masks(INBOUND);
        if has_secret {
            self.mask_inbound(link, frame);
        }
        self.outbox.set_in_frame(false);
        self.commit_link(now, link, RecordKind::Message, Some(frame), app)?;
        Ok((answer, has_secret))
    }

    /// Makes a copy of an inbound frame for the journal, with its secrets masked.
    #[cold]
    fn mask_inbound(&mut self, link: usize, frame: &[u8]) {
        let framing = &self.links[link].framing;
        let masks = self.outbox.masks(INBOUND);
        self.redactor.copy_frame(INBOUND, frame, framing, masks);
    }

    /// Notifies the application that a link is up or down, and records the messages of the application under the
    /// link. For a new connection a record is always written, because this record drops the frames of the previous
    /// connection.
    pub(crate) fn tell_link(
        &mut self,
        now: Now,
        link: usize,
        what: Link,
        app: &mut impl Application,
    ) -> Result<(), JournalError> {
        let kind = match what {
            Link::Up => RecordKind::Reset,
            Link::Down { .. } => RecordKind::Sent,
        };
        app.on_link(now, self.links[link].id, what, &mut self.outbox);
        self.commit_link(now, link, kind, None, app)
    }

    /// Numbers the messages in the outbox, and stores them with their cause in one record about a link.
    pub(crate) fn commit_link(
        &mut self,
        now: Now,
        link: usize,
        kind: RecordKind,
        inbound: Option<&[u8]>,
        app: &mut impl Application,
    ) -> Result<(), JournalError> {
        let about = self.links[link].id.0 as usize;
        let Sealed {
            new,
            stored,
            reported,
        } = self.seal(now, about, app)?;
        if !stored && kind == RecordKind::Sent {
            self.redactor.clear();
            return Ok(());
        }
        let Self {
            lines,
            links,
            journal,
            outbox,
            redactor,
            notes,
            ..
        } = self;
        let about_link = &links[link];
        let cause = Cause {
            session: about_link.journal,
            kind,
            inbound: inbound.map(|frame| redactor.kept(INBOUND, frame)),
            next_in: about_link.frames_in + 1,
            next_out: about_link.next_out,
            epoch: about_link.epoch,
        };
        let (outbox, lines, links, kept, notes) = (&*outbox, &*lines, &*links, &*redactor, &*notes);
        let effects = Effects {
            range: new.clone(),
            of: |index| effect(index, outbox, lines, links, kept, notes),
        };
        journal.append(now.wall, cause, effects)?;
        redactor.clear();
        if reported {
            self.raise_sent(now, about, None, new);
        }
        Ok(())
    }

    /// Numbers a frame of a link, or closes the link's connection. Returns whether the frame must be stored; any
    /// other frame is discarded and counted.
    #[inline(never)]
    pub(crate) fn seal_frame(&mut self, index: usize) -> bool {
        let Self {
            outbox,
            links,
            failed,
            ..
        } = self;
        let entry = outbox.entries()[index];
        let link = entry.session.link().and_then(|at| links.get_mut(at));
        if entry.is_hangup() {
            let why = outbox.take_hangup(entry.session);
            outbox.discard(index);
            if let (Some(up), Some(Hangup(why))) = (link.and_then(|link| link.up.as_mut()), why) {
                up.is_closing = true;
                failed.push((entry.session.0 as usize, Ending::Application(why)));
            }
            return false;
        }
        let frame = outbox.unsealed_frame(index);
        let fits = |link: &&mut FrameLink| {
            entry.is_frame() && link.framing.next(frame) == Framed::Whole(frame.len())
        };
        match link.filter(fits).and_then(FrameLink::take_number) {
            Some(number) => outbox.seal_frame(index, number),
            None => {
                outbox.discard(index);
                self.astray += 1;
                return false;
            }
        }
        if self.outbox.has_masks(index) {
            self.mask_sealed(index);
        }
        true
    }

    /// Copies a frame that just got its number for the journal, with its secrets masked. If the frame must wait, the
    /// link keeps the original in memory, because the journal lacks the secrets.
    #[cold]
    fn mask_sealed(&mut self, index: usize) {
        let Self {
            outbox,
            links,
            redactor,
            ..
        } = self;
        let entry = outbox.entries()[index];
        let Some(link) = entry.session.link().and_then(|at| links.get_mut(at)) else {
            return;
        };
        let (frame, masks) = (outbox.sealed(index), outbox.masks(index));
        redactor.copy_frame(index, frame, &link.framing, masks);
        link.secret.push(entry.seq);
    }

    /// Writes the frames of one link that are adjacent in the outbox. Writes nothing for notes.
    #[inline(never)]
    pub(crate) fn send_frames(&mut self, host: &mut impl Host, session: usize, run: Range<usize>) {
        let link = link_of(session).and_then(|at| self.links.get_mut(at));
        let Some(link) = link else {
            return;
        };
        let is_leaving = link.leaving().is_some();
        match link.send(self.clock, host, &self.outbox, run) {
            Err(ending) => self.failed.push((session, ending)),
            Ok(()) if !link.output.has_backlog() => link.release(&mut self.journal),
            Ok(()) if !is_leaving => self.note_link_backlog(session),
            Ok(()) => {}
        }
    }

    /// Handles frames of a link that wait for the socket or the rate limit.
    #[cold]
    fn note_link_backlog(&mut self, session: usize) {
        let Some(at) = link_of(session) else { return };
        let link = &mut self.links[at];
        let lag = link.output.lag_of_peer(link.pacer.is_some());
        if lag > self.lag_bytes {
            let (bytes, most) = (lag, self.lag_bytes);
            self.failed
                .push((session, Ending::SlowReader { bytes, most }));
        } else if lag > self.lag_bytes / 4 && !link.output.is_slow {
            link.output.is_slow = true;
            self.slow.push((session, lag));
        }
        self.note_link_stall(at);
        self.set_link_busy(at);
    }

    /// Starts to watch a socket that accepts nothing.
    fn note_link_stall(&mut self, at: usize) {
        let link = &mut self.links[at];
        if let Some(until) = link.output.stalls_at(self.clock, self.stall_time) {
            link.wake = link.wake.min(until);
        }
        self.timers.engine(link.due());
    }

    /// Makes the engine check the link in every turn until none of its frames wait.
    pub(crate) fn set_link_busy(&mut self, at: usize) {
        let link = &mut self.links[at];
        if !std::mem::replace(&mut link.is_busy, true) {
            self.busy.push(link.id.0 as usize);
        }
    }

    /// Whether a link with waiting frames may write now.
    #[inline(never)]
    pub(crate) fn can_pump_link(&self, at: usize) -> bool {
        let link = &self.links[at];
        let is_leaving = link.leaving().is_some();
        link.up.is_some()
            && !link.pacer.as_ref().is_some_and(Pacer::is_out)
            && link.output.can_write(Gate::Open, is_leaving)
    }

    /// Writes frames that wait for a link's socket. Returns whether frames are left that need not wait for the
    /// socket.
    #[inline(never)]
    pub(crate) fn pump_link(&mut self, host: &mut impl Host, at: usize) -> bool {
        let clock = self.clock;
        let link = &mut self.links[at];
        let Some(up) = link.up.as_mut().filter(|up| !up.has_failed) else {
            return false;
        };
        let (conn, leaving) = (up.conn, up.leaving);
        let pace = Pace {
            most: link.allowance(clock),
            sending_time: None,
        };
        let before = link.output.waiting();
        let session = link.id.0 as usize;
        let (journal, id) = (&mut self.journal, link.journal);
        let pumped = link.output.pump(host, conn, journal, id, Gate::Open, pace);
        if let Err(ending) = pumped {
            link.fail();
            self.failed.push((session, ending));
            return false;
        }
        let written = before - link.output.waiting();
        if let Some(pacer) = &mut link.pacer
            && let Some(until) = pacer.spend(clock, written)
        {
            link.wake = link.wake.min(until);
        }
        if let Some(leaving) = leaving {
            let waits = link.output.has_backlog() || !host.is_flushed(conn);
            if !waits {
                self.failed.push((session, leaving.why));
            }
            self.timers.engine(link.due());
            return waits;
        }
        if !link.output.has_backlog() {
            link.output.is_slow = false;
            link.release(&mut self.journal);
        }
        self.note_link_stall(at);
        let link = &self.links[at];
        let is_out = link.pacer.as_ref().is_some_and(Pacer::is_out);
        link.output.has_backlog() && !link.output.is_blocked() && !is_out
    }
}
