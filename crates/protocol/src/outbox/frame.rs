//! Outbound frames of links. Link frames are written as they are, without a header.

use core::ops::Range;

use super::{
    BodyError, Content, Entry, MAX_MSG_TYPE, MsgSeqNumSource, Outbox, RESERVE, SLACK, State,
};
use crate::{Hangup, SessionId};

impl Entry {
    /// Whether the entry is a frame of a link.
    pub fn is_frame(&self) -> bool {
        self.content == Content::Frame
    }

    /// Whether the entry ends the connection of a link. Such an entry has no bytes.
    pub fn is_hangup(&self) -> bool {
        self.content == Content::Hangup
    }
}

impl Outbox {
    /// The index that stands for the inbound frame, in calls about masked bytes.
    pub const INBOUND: usize = usize::MAX;

    /// Sends a frame over a [link](SessionId::of_link). The frame must be complete, with its length and checksum, as
    /// the link's framing requires. The number of the frame is the count of frames written to this connection so far.
    /// The frame is committed together with the message or frame that is being handled, and is sent after that. If
    /// the link has no connection, or the frame does not fit the framing, the frame is not sent, and an event counts
    /// it.
    ///
    /// # Errors
    ///
    /// [`BodyError::Full`] when there is no room now, or [`BodyError::NotALink`]. In both cases nothing is left in
    /// the outbox.
    #[inline]
    pub fn frame(&mut self, link: SessionId, frame: &[u8]) -> Result<(), BodyError> {
        self.begin_frame(link, frame, Content::Frame)
    }

    /// Masks bytes of the last frame that was written, such as a password or a key. The peer gets the frame
    /// unchanged; in the journal there are stars in place of these bytes. A part of the range beyond the frame is
    /// ignored. The length field is never masked, and the checksum in the journal fits the stars. If no frame was
    /// written, this does nothing. Call it once for each secret.
    pub fn mask_outbound(&mut self, secret: Range<usize>) {
        let last = self.entries.last();
        if last.is_some_and(|entry| entry.is_frame() && entry.state == State::Whole) {
            self.ends.masks.push((self.entries.len() - 1, secret));
        }
    }

    /// Masks bytes of the frame that is being handled, in the journal and in the receive buffer. This call works like
    /// [`Outbox::mask_outbound`]. Outside [`Application::on_frame`](crate::Application::on_frame) it does nothing.
    pub fn mask_inbound(&mut self, secret: Range<usize>) {
        if self.ends.in_frame {
            self.ends.masks.push((Self::INBOUND, secret));
        }
    }

    /// Sets whether an inbound frame is being handled. The masks of the previous frame are dropped.
    #[inline]
    pub fn set_in_frame(&mut self, in_frame: bool) {
        self.ends.in_frame = in_frame;
        self.clear_masks(Self::INBOUND);
    }

    /// The masked places of a frame. The frame is one that has not been cleared yet, or the
    /// [inbound](Outbox::INBOUND) frame.
    pub fn masks(&self, index: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let masks = self.ends.masks.iter().filter(move |mask| mask.0 == index);
        masks.map(|mask| mask.1.clone())
    }

    /// Whether bytes of a frame are masked.
    #[inline]
    #[must_use]
    pub fn has_masks(&self, index: usize) -> bool {
        !self.ends.masks.is_empty() && self.masks(index).next().is_some()
    }

    #[inline]
    fn clear_masks(&mut self, index: usize) {
        if !self.ends.masks.is_empty() {
            self.ends.masks.retain(|mask| mask.0 != index);
        }
    }

    /// Closes the connection of a [link](SessionId::of_link) after the frames that were written to it so far. The
    /// connection is closed as soon as these frames have been sent, or can no longer be sent. An event shows the
    /// reason.
    ///
    /// # Errors
    ///
    /// As for [`Outbox::frame`].
    pub fn hang_up(&mut self, link: SessionId, why: Hangup) -> Result<(), BodyError> {
        self.begin_frame(link, &[], Content::Hangup)?;
        self.ends.hangups.push((link, why));
        Ok(())
    }

    fn begin_frame(
        &mut self,
        session: SessionId,
        bytes: &[u8],
        content: Content,
    ) -> Result<(), BodyError> {
        let (start, end) = (self.at, self.at + bytes.len());
        let failed = if session.link().is_none() {
            Some(BodyError::NotALink)
        } else if self.entries.len() >= self.messages || end > self.buffer.len() - RESERVE - SLACK {
            Some(BodyError::Full)
        } else {
            None
        };
        if let Some(error) = failed {
            self.failures += 1;
            return Err(error);
        }
        // An earlier frame with this index has been sent or taken out.
        self.clear_masks(self.entries.len());
        self.buffer[start..end].copy_from_slice(bytes);
        self.entries.push(Entry {
            session,
            number: MsgSeqNumSource::Next,
            seq: 0,
            state: State::Whole,
            content,
            msg_type: [0; MAX_MSG_TYPE],
            msg_type_len: 0,
            start,
            end,
        });
        self.at = end;
        Ok(())
    }

    /// The bytes of a frame that has not been sealed; empty for any other entry.
    #[must_use]
    #[inline]
    pub fn unsealed_frame(&self, index: usize) -> &[u8] {
        match self.entries[index] {
            entry if entry.state == State::Whole => &self.buffer[entry.start..entry.end],
            _ => &[],
        }
    }

    /// Gives a frame its number. In other respects this is like [`Outbox::seal`].
    ///
    /// # Panics
    ///
    /// When the frame is already sealed.
    pub fn seal_frame(&mut self, index: usize, seq: u64) {
        self.discard_until(index);
        let entry = &self.entries[index];
        let (start, len) = (self.sealed_end, entry.end - entry.start);
        if start != entry.start {
            self.buffer.copy_within(entry.start..entry.end, start);
        }
        self.set_sealed(index, start, start + len, seq);
    }

    /// Why the application closes the connection of a link; `None` if it does not. The reason is returned only once.
    pub fn take_hangup(&mut self, link: SessionId) -> Option<Hangup> {
        let mut found = None;
        self.ends.hangups.retain(|(session, why)| {
            let is_its = *session == link;
            if is_its {
                found = found.or(Some(*why));
            }
            !is_its
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeaderTemplate, RepeatError};

    const LINK: SessionId = SessionId::of_link(3);

    #[test]
    fn frames_stand_between_messages_as_they_are() {
        let header = HeaderTemplate::new(b"FIX.4.4", b"A", b"B", &[]);
        let mut outbox = Outbox::new(4096, 8, header.room()).with_gather();
        outbox.frame(LINK, b"\0\x01one").unwrap();
        outbox.begin(SessionId(0), b"8").field(37, b"X");
        outbox.hang_up(LINK, Hangup("enough")).unwrap();
        outbox.note(b"kept").unwrap();
        outbox.frame(LINK, b"two").unwrap();
        assert_eq!(outbox.unsealed_frame(0), b"\0\x01one");
        assert_eq!(outbox.unsealed_frame(1), b"", "it is no frame");
        outbox.seal_frame(0, 1);
        outbox.seal(1, &header, 9, b"20260821-13:30:00");
        assert!(outbox.entries()[2].is_hangup());
        assert_eq!(outbox.take_hangup(SessionId::of_link(4)), None);
        assert_eq!(outbox.take_hangup(LINK), Some(Hangup("enough")));
        assert_eq!(outbox.take_hangup(LINK), None);
        outbox.discard(2);
        outbox.seal_note(3, 1, crate::Timestamp(0));
        outbox.seal_frame(4, 2);
        assert!(outbox.sealed(1).starts_with(b"8=FIX.4.4\x01"));
        assert_eq!(outbox.sealed(4), b"two");
        outbox.gather(SessionId(0));
        let entries = outbox.entries();
        let frames = entries.iter().position(|entry| entry.is_frame()).unwrap();
        assert_eq!(outbox.bytes(frames..frames + 2), b"\0\x01onetwo");
        outbox.clear();
        assert!(outbox.is_empty());
    }

    #[test]
    fn masks_are_those_of_one_frame() {
        let header = HeaderTemplate::new(b"FIX.4.4", b"A", b"B", &[]);
        let mut outbox = Outbox::new(4096, 8, header.room());
        let of = |outbox: &Outbox, index| outbox.masks(index).collect::<alloc::vec::Vec<_>>();
        outbox.mask_outbound(0..1);
        outbox.frame(LINK, b"plain").unwrap();
        outbox.frame(LINK, b"secret").unwrap();
        outbox.mask_outbound(1..2);
        outbox.mask_outbound(4..9);
        outbox.mask_inbound(0..3);
        assert!(!outbox.has_masks(Outbox::INBOUND), "there is no frame");
        outbox.set_in_frame(true);
        outbox.mask_inbound(0..3);
        assert_eq!(of(&outbox, 0), []);
        assert_eq!(of(&outbox, 1), [1..2, 4..9]);
        assert!(outbox.has_masks(Outbox::INBOUND) && !outbox.has_masks(0));
        outbox.set_in_frame(false);
        assert!(!outbox.has_masks(Outbox::INBOUND) && outbox.has_masks(1));
        // It is taken out again: the next one in its place has no secret.
        outbox.truncate(1);
        outbox.frame(LINK, b"other").unwrap();
        assert!(!outbox.has_masks(1));
        // What was written last is no frame, or has been numbered.
        outbox.begin(SessionId(0), b"8").field(37, b"X");
        outbox.mask_outbound(0..1);
        outbox.truncate(2);
        outbox.seal_frame(0, 1);
        outbox.seal_frame(1, 2);
        outbox.mask_outbound(0..1);
        assert!((0..3).all(|index| !outbox.has_masks(index)));
    }

    #[test]
    fn a_frame_that_does_not_fit_leaves_nothing() {
        let mut outbox = Outbox::new(64, 2, 16);
        assert_eq!(outbox.frame(LINK, &[0; 65]), Err(BodyError::Full));
        assert_eq!(outbox.frame(SessionId(0), b"x"), Err(BodyError::NotALink));
        assert_eq!(
            outbox.frame(SessionId(u32::MAX), b"x"),
            Err(BodyError::NotALink)
        );
        assert_eq!(outbox.frame(LINK, &[0; 64]), Ok(()));
        assert_eq!(outbox.hang_up(LINK, Hangup("")), Ok(()));
        assert_eq!(outbox.frame(LINK, b""), Err(BodyError::Full));
        assert_eq!((outbox.entries().len(), outbox.failures()), (2, 4));
        assert_eq!(
            outbox.send_again(LINK, b"8="),
            Err(RepeatError::NotAMessage)
        );
    }
}
