//! Raises the events for received and sent messages, with their contents: Logouts, Rejects, gaps and resends. The
//! events of Logons are raised in `turn/receive.rs`, the events of sequence numbers in `commit.rs`.

use std::ops::Range;

use fixwire_protocol::frame::Garbled;
use fixwire_protocol::session::{DisconnectReason, Verdict};
use fixwire_protocol::{Decoder, Message, MsgSeqNumSource, Now, SessionId, tag};

use crate::commit::Core;
use crate::event::{Event, PeerText, RejectDetails};
use crate::journal::Disk;

/// Maximum number of fields of a message that are read.
const FIELDS: usize = 64;

/// Whether sending a message of this type raises an event. The types are ResendRequest(2), Reject(3), Logout(5) and
/// BusinessMessageReject(j).
#[inline]
pub(crate) fn is_reported(msg_type: &[u8]) -> bool {
    matches!(msg_type, b"2" | b"3" | b"5" | b"j")
}

impl<D: Disk> Core<D> {
    /// Raises an event. If events are suppressed, their count is reported a second later.
    #[cold]
    pub(crate) fn raise(&mut self, now: Now, event: &Event) {
        self.events.raise(now, event);
        if let Some(due) = self.events.due() {
            self.timers.engine(due);
        }
    }

    /// Raises events for the content of a received message that is not delivered, or that is a BusinessMessageReject.
    /// Called before the message's record is written.
    #[cold]
    pub(crate) fn raise_received(
        &mut self,
        now: Now,
        session: usize,
        message: &Message<'_>,
        verdict: Verdict,
    ) {
        let id = SessionId(session as u32);
        self.raise_agreed(now, session, verdict);
        let line = &mut self.lines[session];
        let (is_logged_on, new) = (line.session.is_logged_on(), line.session.next_in());
        let text = |tag| PeerText::new(message.get(tag).unwrap_or_default());
        let is_read = !is_logged_on || !matches!(verdict, Verdict::Handled | Verdict::RejectSent);
        let event = match message.msg_type() {
            b"5" if is_read || !message.is_poss_dup() => {
                line.detail = text(tag::TEXT);
                let text = line.detail.clone();
                line.last_logout = Some(text.clone());
                Event::LogoutReceived { session: id, text }
            }
            // A message above a gap is handled when the gap is filled.
            b"3" | b"j" if is_read => {
                if matches!(verdict, Verdict::Disconnect(_)) {
                    line.detail = text(tag::TEXT);
                }
                let reject = Box::new(RejectDetails::read(message));
                Event::RejectReceived {
                    session: id,
                    reject,
                }
            }
            b"2" if is_logged_on => Event::ResendRequestReceived {
                session: id,
                begin: text(tag::BEGIN_SEQ_NO),
                end: text(tag::END_SEQ_NO),
            },
            b"4" if message.get(tag::GAP_FILL_FLAG) != Some(b"Y") => {
                let known = self.journal.counters(line.journal);
                let expected = known.map_or(1, |known| known.next_in);
                let new_seq_no = message.uint(tag::NEW_SEQ_NO);
                if !is_logged_on || new_seq_no != Some(Ok(new)) {
                    return;
                }
                self.raise_gap_not_filled(now, session, expected);
                Event::SequenceResetReceived {
                    session: id,
                    expected,
                    new,
                }
            }
            _ if matches!(
                verdict,
                Verdict::Disconnect(DisconnectReason::NotThisSession | DisconnectReason::NotALogon)
            ) =>
            {
                line.detail = PeerText::parties(message);
                return;
            }
            _ => return,
        };
        self.raise(now, &event);
    }

    /// Raises events for differences between the peer's Logon or Logout and ours.
    fn raise_agreed(&mut self, now: Now, session: usize, verdict: Verdict) {
        let id = SessionId(session as u32);
        let state = &mut self.lines[session].session;
        let (interval, moved_on) = (state.take_other_heart_bt_int(), state.take_moved_on());
        let is_refused = matches!(verdict, Verdict::Disconnect(_));
        if let Some(interval) = interval.filter(|_| !is_refused) {
            let event = Event::HeartBtIntDiffers {
                session: id,
                interval,
            };
            self.raise(now, &event);
        }
        if let Some((was, next)) = moved_on {
            let event = Event::NumberMovedOn {
                session: id,
                was,
                next,
            };
            self.raise(now, &event);
        }
    }

    /// Raises events for messages that were sent because of a message of session `cause`, or without a cause.
    #[cold]
    pub(crate) fn raise_sent(
        &mut self,
        now: Now,
        cause: usize,
        inbound: Option<&[u8]>,
        new: Range<usize>,
    ) {
        let mut decoder = Decoder::with_capacity(FIELDS);
        let number = |decoder: &mut Decoder, bytes: &[u8], tag| {
            decoder.decode(bytes).uint(tag).and_then(Result::ok)
        };
        for index in new {
            let entry = &self.outbox.entries()[index];
            let is_new = entry.number == MsgSeqNumSource::Next && !entry.is_discarded();
            if !is_new || !is_reported(self.outbox.msg_type(index)) {
                continue;
            }
            let session = entry.session;
            let at = session.0 as usize;
            let sealed = self.outbox.sealed(index);
            let message = decoder.decode(sealed);
            let line = &mut self.lines[at];
            let event = match message.msg_type() {
                b"5" => {
                    let text = PeerText::new(message.get(tag::TEXT).unwrap_or_default());
                    // The sender of a refused first message is already in the detail.
                    if line.was_logged_on() || line.detail.is_empty() {
                        line.detail = text.clone();
                    }
                    Event::LogoutSent { session, text }
                }
                b"2" => {
                    let begin = number(&mut decoder, sealed, tag::BEGIN_SEQ_NO).unwrap_or(0);
                    let end = number(&mut decoder, sealed, tag::END_SEQ_NO).unwrap_or(0);
                    let expected = line.session.next_in();
                    let received = inbound.filter(|_| at == cause);
                    let received =
                        received.and_then(|bytes| number(&mut decoder, bytes, tag::MSG_SEQ_NUM));
                    let (first, last) = line.session.gap().unwrap_or((expected, expected));
                    line.gap = Some((line.gap.map_or(first, |gap| gap.0), last));
                    Event::GapDetected {
                        session,
                        expected,
                        received: received.filter(|received| *received > expected),
                        begin,
                        end,
                    }
                }
                _ => Event::RejectSent {
                    session,
                    reject: Box::new(RejectDetails::read(&message)),
                },
            };
            self.raise(now, &event);
        }
    }

    /// Counts skipped bytes that do not begin with `8=FIX`. An event reports the first ones of a connection.
    #[cold]
    pub(crate) fn note_junk(&mut self, now: Now, session: usize) {
        let line = &mut self.lines[session];
        line.counters.garbled += 1;
        if std::mem::replace(&mut line.has_junk, true) {
            return;
        }
        let event = Event::Garbled {
            session: line.session.id(),
            why: Garbled::NoMessage,
            rejected: false,
        };
        self.raise(now, &event);
    }

    /// Raises an event with the number of messages of a session that were not logged, if any.
    pub(crate) fn raise_not_logged(&mut self, now: Now, session: usize, messages: Option<u64>) {
        if let Some(messages) = messages {
            let most = self.lines[session].trail.most;
            let session = SessionId(session as u32);
            let event = Event::NotLogged {
                session,
                messages,
                most,
            };
            self.raise(now, &event);
        }
    }

    /// Raises an event for a gap that our Logon has announced to the peer.
    pub(crate) fn raise_gap_announced(&mut self, now: Now, session: usize) {
        let line = &mut self.lines[session];
        if let (None, Some((first, last))) = (line.gap, line.session.gap()) {
            line.gap = Some((first, last));
            let session = SessionId(session as u32);
            self.raise(
                now,
                &Event::GapAnnounced {
                    session,
                    first,
                    last,
                },
            );
        }
    }

    /// Raises an event when a gap is filled.
    #[cold]
    pub(crate) fn raise_gap_filled(&mut self, now: Now, session: usize) {
        let line = &mut self.lines[session];
        let next_in = line.session.next_in();
        if let Some((first, last)) = line.gap.take_if(|gap| next_in > gap.1) {
            let session = SessionId(session as u32);
            self.raise(
                now,
                &Event::GapFilled {
                    session,
                    first,
                    last,
                },
            );
        }
    }

    /// Raises events for what a disconnect or a reset leaves unfinished: a gap whose messages from `next_in` on are
    /// missing, and a resend.
    pub(crate) fn raise_unfinished(&mut self, now: Now, session: usize, next_in: u64) {
        self.raise_gap_not_filled(now, session, next_in);
        if let Some(resent) = self.lines[session].resent.take() {
            let event = Event::ResendCutShort {
                session: SessionId(session as u32),
                first: resent.first,
                last: resent.last,
                next: resent.next,
            };
            self.raise(now, &event);
        }
    }

    fn raise_gap_not_filled(&mut self, now: Now, session: usize, next_in: u64) {
        if let Some((first, last)) = self.lines[session].gap.take() {
            let first = first.max(next_in);
            let session = SessionId(session as u32);
            self.raise(
                now,
                &Event::GapNotFilled {
                    session,
                    first,
                    last,
                },
            );
        }
    }
}
