//! Answers the peer's ResendRequests, with a few stored messages at a time.

use alloc::collections::VecDeque;
use core::ops::RangeInclusive;

use super::Session;
use super::config::{BeginString, SessionLimits};
use super::phase::Phase;
use super::reject::{Objection, RefTag};
use super::sequence::{self, Next};
use super::verdict::Verdict;
use crate::dictionary::RejectReason;
use crate::outbox::{MsgSeqNumSource, Outbox};
use crate::repeat::RepeatError;
use crate::{Message, MessageLimit, Mono, Nanos, Now, Timestamp, tag};

/// The peer's ResendRequests that have not been answered.
#[derive(Debug)]
pub struct Resend {
    serving: Serving,
    waiting: VecDeque<RangeInclusive<u64>>,
    last: Option<Asked>,
}

#[derive(Clone, Copy, Debug)]
enum Serving {
    Idle,
    Busy {
        /// The next MsgSeqNum to send.
        at: u64,
        /// The last one.
        end: u64,
        /// First MsgSeqNum of the admin messages that the next gap fill will cover.
        fill: Option<u64>,
    },
}

/// The request before.
#[derive(Clone, Copy, Debug)]
struct Asked {
    begin: u64,
    times: u32,
    since: Mono,
}

/// The outcome of a ResendRequest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Admission {
    /// The ResendRequest will be answered.
    Accepted,
    /// A request for the same range is already waiting.
    Waiting,
    /// There were too many consecutive requests with the same BeginSeqNo(7).
    TooManySimilar,
    /// Too many other requests are waiting.
    TooManyWaiting,
}

impl Resend {
    /// The state without any request.
    #[must_use]
    pub fn new(limits: &SessionLimits) -> Self {
        Self {
            serving: Serving::Idle,
            waiting: VecDeque::with_capacity(limits.waiting_resends),
            last: None,
        }
    }

    /// Accepts a ResendRequest for messages that have all been sent.
    pub fn admit(
        &mut self,
        now: Mono,
        range: RangeInclusive<u64>,
        limits: &SessionLimits,
    ) -> Admission {
        let times = match self.last {
            Some(last)
                if last.begin == *range.start() && now < last.since + limits.resend_hold_down =>
            {
                last.times + 1
            }
            _ => 1,
        };
        if times > limits.same_resend_requests {
            return Admission::TooManySimilar;
        }
        let full = self.waiting.len() >= limits.waiting_resends;
        if full {
            return match self.waiting.contains(&range) {
                true => Admission::Waiting,
                false => Admission::TooManyWaiting,
            };
        }
        self.last = Some(Asked {
            begin: *range.start(),
            times,
            since: now,
        });
        match self.serving {
            Serving::Idle => self.serving = Serving::start(&range),
            Serving::Busy { .. } => self.waiting.push_back(range),
        }
        Admission::Accepted
    }

    /// Drops all requests, because the connection is closed or the sequence numbers were reset.
    pub fn clear(&mut self) {
        self.serving = Serving::Idle;
        self.waiting.clear();
        self.last = None;
    }

    /// The next MsgSeqNum to send.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        match self.serving {
            Serving::Idle => None,
            Serving::Busy { at, .. } => Some(at),
        }
    }
}

impl Serving {
    fn start(range: &RangeInclusive<u64>) -> Self {
        Self::Busy {
            at: *range.start(),
            end: *range.end(),
            fill: None,
        }
    }
}

impl Session {
    /// Answers a ResendRequest for this range. If it begins at our next MsgSeqNum, nothing is missing and there is no
    /// answer. If it begins beyond that, it is rejected.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, message recovery: a ResendRequest is for messages that were sent. A peer that requests
    /// others has counted messages that it never received: SessionRejectReason(373) = 5, value out of range.
    pub(super) fn serve(
        &mut self,
        now: Now,
        message: &Message<'_>,
        (begin, end): (u64, u64),
        outbox: &mut Outbox,
    ) -> Verdict {
        let last = self.next_out - 1;
        let end = match end {
            0 => last,
            end if self.config.begin_string < BeginString::Fix42 && end >= 999_999 => last,
            end => end.min(last),
        };
        let begin = begin.max(1);
        if begin > self.next_out {
            let objection = Objection {
                text: "BeginSeqNo is beyond the last MsgSeqNum sent",
                ..Objection::to_tag(RejectReason::ValueIncorrect, tag::BEGIN_SEQ_NO)
            };
            self.write_reject(message, objection, outbox);
            return Verdict::Handled;
        }
        if begin > end {
            return Verdict::Handled;
        }
        let limits = self.config.limits;
        let limit = match self.resend.admit(now.mono, begin..=end, &limits) {
            Admission::Accepted => return Verdict::Replay,
            Admission::Waiting => return Verdict::Handled,
            Admission::TooManySimilar => {
                MessageLimit::SimilarResendRequests(limits.same_resend_requests)
            }
            Admission::TooManyWaiting => {
                MessageLimit::WaitingResendRequests(limits.waiting_resends)
            }
        };
        let objection = Objection::to_limit(RejectReason::Other, RefTag::None, limit);
        self.write_reject(message, objection, outbox);
        Verdict::Handled
    }

    /// BeginSeqNo(7) and EndSeqNo(16) of a ResendRequest. They are checked.
    pub(super) fn read_resend_request<'a>(
        &mut self,
        message: &Message<'a>,
    ) -> Result<(u64, u64), Objection<'a>> {
        self.find_fault(message)?;
        let read = |tag| match message.get(tag).map(sequence::parse) {
            Some(Some(number)) => Ok(number),
            Some(None) => Err(Objection::to_tag(RejectReason::IncorrectDataFormat, tag)),
            None => Err(Objection::to_tag(RejectReason::RequiredTagMissing, tag)),
        };
        let (begin, end) = (read(tag::BEGIN_SEQ_NO)?, read(tag::END_SEQ_NO)?);
        if end != 0 && end < begin {
            return Err(Objection::to_tag(
                RejectReason::ValueIncorrect,
                tag::END_SEQ_NO,
            ));
        }
        Ok((begin, end))
    }

    /// The MsgSeqNum of the stored message that [`Session::replay`] needs next; `None` when no ResendRequest waits
    /// for its answer.
    #[must_use]
    pub fn replay_due(&self) -> Option<u64> {
        self.resend.due()
    }

    /// The last MsgSeqNum of the current resend; `None` when no resend runs. A new message with a MsgSeqNum up to
    /// this one must be written before the resend, a later one after it. The peer must never see a new message with a
    /// MsgSeqNum that was resent.
    #[must_use]
    pub fn replay_end(&self) -> Option<u64> {
        match self.resend.serving {
            Serving::Idle => None,
            Serving::Busy { end, .. } => Some(end),
        }
    }

    /// Sends a stored message again. The message is the message that [`Session::replay_due`] asks for, as it was first
    /// sent; `None` when nothing is stored for this MsgSeqNum. Gap fills replace admin messages, MsgSeqNums without a
    /// message, and order messages that are too old. Neighbouring gap fills are merged into one.
    ///
    /// When the outbox has no room, the same MsgSeqNum stays due. Call this again after the outbox was emptied.
    ///
    /// Returns whether this was the last message of its ResendRequest.
    pub fn replay(&mut self, now: Now, stored: Option<&[u8]>, outbox: &mut Outbox) -> bool {
        let Serving::Busy { at, end, fill } = self.resend.serving else {
            return false;
        };
        let repeatable = stored.filter(|bytes| self.is_repeatable(now.wall, bytes));
        let mut fill = match (repeatable, fill) {
            (None, fill) => Some(fill.unwrap_or(at)),
            (Some(_), None) => None,
            (Some(_), Some(from)) => {
                if !self.write_gap_fill(now, from, at, outbox) {
                    return false;
                }
                None
            }
        };
        if let Some(bytes) = repeatable {
            let time = self.stamp.format(now.wall, self.config.precision);
            match outbox.repeat(self.id, at, bytes, time) {
                Ok(()) => {}
                Err(RepeatError::Full) => {
                    self.resend.serving = Serving::Busy { at, end, fill };
                    return false;
                }
                Err(_) => fill = Some(at),
            }
        }
        if at < end {
            let at = at + 1;
            self.resend.serving = Serving::Busy { at, end, fill };
            return false;
        }
        if let Some(from) = fill
            && !self.write_gap_fill(now, from, at + 1, outbox)
        {
            let fill = Some(from);
            self.resend.serving = Serving::Busy { at, end, fill };
            return false;
        }
        self.resend.serving = match self.resend.waiting.pop_front() {
            Some(range) => Serving::start(&range),
            None => Serving::Idle,
        };
        self.ask_what_is_owed(outbox);
        true
    }

    /// Writes our own ResendRequest, after the ResendRequest of the peer that showed a gap was answered.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, message recovery, ResendRequest with a MsgSeqNum too high: the resend comes first, and our
    /// own ResendRequest comes after it.
    pub(super) fn ask_what_is_owed(&mut self, outbox: &mut Outbox) {
        if self.resend.due().is_some() || self.reset_open {
            return;
        }
        let manner = self.config.manner();
        if let Phase::LoggedOn(up) = &mut self.phase {
            let (inbound, next) = up.inbound.resent(self.next_in, manner);
            up.inbound = inbound;
            if let Next::Ask(request) = next {
                self.write_resend_request(request, outbox);
            }
        }
    }

    /// Writes a SequenceReset-GapFill for the MsgSeqNums from `from` up to `next`, which is excluded. False when
    /// there was no room for it.
    fn write_gap_fill(&mut self, now: Now, from: u64, next: u64, outbox: &mut Outbox) -> bool {
        let time = self.stamp.format(now.wall, self.config.precision);
        let mut body = outbox.begin_admin(self.id, b"4", MsgSeqNumSource::Fixed(from));
        body.bool(tag::POSS_DUP_FLAG, true)
            .field(tag::ORIG_SENDING_TIME, time)
            .bool(tag::GAP_FILL_FLAG, true)
            .uint(tag::NEW_SEQ_NO, next);
        body.finish().is_ok()
    }

    /// Whether a stored message is an application message that [`Session::replay`] would send again.
    #[must_use]
    pub fn would_repeat(&self, now: Now, stored: &[u8]) -> bool {
        stored_field(stored, b"35").is_some_and(|msg_type| {
            !super::is_admin(msg_type) && self.repeats(now.wall, msg_type, stored)
        })
    }

    fn is_repeatable(&self, now: Timestamp, stored: &[u8]) -> bool {
        stored_field(stored, b"35").is_some_and(|msg_type| self.repeats(now, msg_type, stored))
    }

    /// As [`would_repeat`](Self::would_repeat), for a message whose MsgType(35) was already read.
    fn repeats(&self, now: Timestamp, msg_type: &[u8], stored: &[u8]) -> bool {
        if super::is_admin(msg_type) {
            return msg_type == b"3" && self.config.resend_rejects;
        }
        if !self.config.resend_messages || !super::is_resendable(msg_type) {
            return false;
        }
        let Some(max_age) = self.config.max_order_age.filter(|_| is_order(msg_type)) else {
            return true;
        };
        match stored_field(stored, b"52").map(Timestamp::parse) {
            Some(Ok(sent)) => age(now, sent) <= max_age,
            _ => false,
        }
    }
}

/// The time since `sent`; zero for a time in the future.
fn age(now: Timestamp, sent: Timestamp) -> Nanos {
    Nanos(u64::try_from(now.0.saturating_sub(sent.0)).unwrap_or(0))
}

/// The value of a header field of a message that we have written. In such a message MsgType and SendingTime come
/// before any field that could contain SOH.
fn stored_field<'a>(stored: &'a [u8], tag: &[u8]) -> Option<&'a [u8]> {
    stored
        .split(|&byte| byte == crate::SOH)
        .take(8)
        .find_map(|field| field.strip_prefix(tag)?.strip_prefix(b"="))
}

/// Whether messages of this type enter, change or cancel orders. If they arrive late, they do harm.
fn is_order(msg_type: &[u8]) -> bool {
    matches!(
        msg_type,
        b"D" | b"E" | b"F" | b"G" | b"q" | b"s" | b"t" | b"u" | b"AB" | b"AC"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_request_again_and_again_is_held_down() {
        let limits = SessionLimits {
            same_resend_requests: 3,
            ..SessionLimits::default()
        };
        let mut resend = Resend::new(&limits);
        for _ in 0..3 {
            assert_eq!(resend.admit(Mono(0), 2..=5, &limits), Admission::Accepted);
        }
        assert_eq!(
            resend.admit(Mono(0), 2..=6, &limits),
            Admission::TooManySimilar
        );
        assert_eq!(resend.admit(Mono(0), 3..=6, &limits), Admission::Accepted);
        let later = Mono(0) + limits.resend_hold_down;
        assert_eq!(resend.admit(later, 3..=6, &limits), Admission::Accepted);
    }

    #[test]
    fn requests_that_wait_are_bounded() {
        let limits = SessionLimits {
            waiting_resends: 2,
            ..SessionLimits::default()
        };
        let mut resend = Resend::new(&limits);
        assert_eq!(resend.admit(Mono(0), 1..=9, &limits), Admission::Accepted);
        assert_eq!(resend.admit(Mono(0), 2..=9, &limits), Admission::Accepted);
        assert_eq!(resend.admit(Mono(0), 3..=9, &limits), Admission::Accepted);
        assert_eq!(resend.admit(Mono(0), 3..=9, &limits), Admission::Waiting);
        assert_eq!(
            resend.admit(Mono(0), 4..=9, &limits),
            Admission::TooManyWaiting
        );
    }
}
