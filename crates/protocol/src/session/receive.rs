//! Handles a message of a session that is logged on. The checks come in this order:
//!
//! 1. BeginString and MsgSeqNum. If they are wrong, the session ends.
//! 2. CompIDs, and then SendingTime. If they are wrong, a Reject and a Logout follow.
//! 3. Messages that are accepted with any MsgSeqNum. Such messages are Logons that reset, Logouts, SequenceReset-Reset,
//!    and ResendRequests. ResendRequests are among them so that two sides that wait for each other do not wait for
//!    ever.
//! 4. The MsgSeqNum. A message whose MsgSeqNum is too high is kept. If it is too low, the message is a possible
//!    duplicate, or the session ends.
//! 5. A message in sequence: a possible duplicate must have OrigSendingTime(122), and then the dictionary is applied.

use alloc::format;

use super::check::check_own_needs;
use super::config::OnReject;
use super::held::Kept;
use super::logon::too_low;
use super::phase::{LoggedOn, PendingReply, Phase};
use super::reject::{Objection, RefTag};
use super::sequence::{self, MAX_SEQ_NUM, SequencePlace};
use super::verdict::{DisconnectReason, Fate, Verdict};
use super::{Rejected, Session};
use crate::dictionary::RejectReason;
use crate::message::UsualHeader;
use crate::outbox::Outbox;
use crate::put::same;
use crate::{Message, MessageLimit, Now, TimeError, Timestamp, tag};

/// The header fields of a message. Each is searched for and read once.
pub(super) struct Marks<'a> {
    /// SenderCompID(49).
    pub(super) sender: Option<&'a [u8]>,
    /// TargetCompID(56).
    pub(super) target: Option<&'a [u8]>,
    /// SendingTime(52), and the time that it states.
    pub(super) sending_time: Option<&'a [u8]>,
    pub(super) sent: Option<Result<Timestamp, TimeError>>,
    /// PossDupFlag(43) is Y.
    pub(super) poss_dup: bool,
}

/// Result of the checks of a possible duplicate, apart from its sequence number.
enum Repetition<'a> {
    /// The message is not marked as a possible duplicate, or it has no fault.
    Fine,
    /// The fault needs only a Reject.
    Wrong(Objection<'a>),
    /// OrigSendingTime(122) is later than SendingTime(52). The answer is a Reject and a Logout.
    Impossible,
}

impl Session {
    /// Handles a message that has arrived. All checks are made here, including those of the dictionary. When this call
    /// returns, the sequence numbers are those after the message.
    pub fn receive(&mut self, now: Now, message: &Message<'_>, outbox: &mut Outbox) -> Verdict {
        self.fate = Fate::Taken;
        match self.phase {
            Phase::Down => Verdict::Disconnect(DisconnectReason::NotConnected),
            Phase::Closing { reason } => Verdict::Disconnect(reason),
            Phase::AwaitingLogon { .. } => self.receive_first_as_acceptor(now, message, outbox),
            Phase::LogonSent { .. } => self.receive_first_as_initiator(now, message, outbox),
            Phase::Refusing { .. } if message.msg_type() == b"5" => {
                self.close(DisconnectReason::LoggedOut)
            }
            Phase::Refusing { .. } => self.leave(Fate::Ignored),
            Phase::LoggedOn(ref mut up) => {
                up.pulse = up.pulse.heard(now.mono);
                self.rejected = Rejected::No;
                let verdict = self.receive_in_session(now, message, outbox);
                if self.rejected == Rejected::No {
                    return verdict;
                }
                self.receive_rejected(now, verdict, outbox)
            }
        }
    }

    /// Handles the rejection of a message. The rejected message may be the last message of the session.
    #[cold]
    fn receive_rejected(&mut self, now: Now, verdict: Verdict, outbox: &mut Outbox) -> Verdict {
        self.reset_due |= self.config.on_reject == OnReject::Reset;
        match (self.config.on_reject, self.phase, verdict) {
            (OnReject::Reset | OnReject::LogOut, Phase::LoggedOn(_), _) => {
                self.refuse_session(now, "Message rejected", outbox)
            }
            (_, _, Verdict::Handled) if self.rejected == Rejected::ByReject => Verdict::RejectSent,
            (_, _, verdict) => verdict,
        }
    }

    fn receive_in_session(
        &mut self,
        now: Now,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Verdict {
        let own = self.config.begin_string.as_str().as_bytes();
        if !same(message.begin_string(), own) {
            let received = message.begin_string();
            let text = format!("Incorrect BeginString ({})", received.escape_ascii());
            return self.refuse_session(now, &text, outbox);
        }
        let mut header = message.usual_header();
        let Some(text) = header.get(tag::MSG_SEQ_NUM) else {
            return self.refuse_session(now, "Received message without MsgSeqNum", outbox);
        };
        let Some(number) = sequence::parse(text) else {
            let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
            let text = match is_number {
                true => format!("MsgSeqNum too high: more than {MAX_SEQ_NUM}"),
                false => "MsgSeqNum is not a number".into(),
            };
            return self.refuse_session(now, &text, outbox);
        };
        let marks = self.read_marks(message, header);
        if let Some(objection) = self.find_stranger(now, message, &marks) {
            self.write_reject(message, objection, outbox);
            if number == self.next_in {
                self.advance(number + 1, outbox);
            }
            return self.refuse_session(now, "", outbox);
        }
        if self.reset_open
            && let Some(verdict) =
                self.receive_unconfirmed(now, message, number, marks.poss_dup, outbox)
        {
            return verdict;
        }
        let place = SequencePlace::of(number, self.next_in);
        let seen = marks.poss_dup && place == SequencePlace::TooLow;
        match message.msg_type() {
            b"A" if message.get(tag::RESET_SEQ_NUM_FLAG) == Some(b"Y") => {
                return self.receive_reset(now, message, outbox);
            }
            b"5" if !seen => return self.receive_logout(now, message, number, place, outbox),
            b"4" if message.get(tag::GAP_FILL_FLAG) != Some(b"Y") => {
                return self.receive_sequence_reset(message, outbox);
            }
            b"2" if marks.poss_dup && self.config.ignore_poss_dup_resend_requests => {
                match place {
                    SequencePlace::Expected => self.advance(number + 1, outbox),
                    SequencePlace::TooHigh => self.fate = Fate::Ignored,
                    SequencePlace::TooLow => self.fate = Fate::Duplicate,
                }
                return Verdict::Handled;
            }
            b"2" if !seen && place != SequencePlace::Expected => {
                if let Ok(range) = self.read_resend_request(message) {
                    if place == SequencePlace::TooHigh {
                        let kept = self.keep_served(number);
                        self.owe_request(number);
                        self.note_dropped(number, kept);
                    }
                    let verdict = self.serve(now, message, range, outbox);
                    // If there was nothing to send, the answer is complete.
                    self.ask_what_is_owed(outbox);
                    return verdict;
                }
            }
            b"3" => {
                if let Some(verdict) = self.receive_reject_of_request(now, message, outbox) {
                    return verdict;
                }
            }
            _ => {}
        }
        match place {
            SequencePlace::Expected => self.receive_expected(now, message, number, &marks, outbox),
            SequencePlace::TooHigh if number - self.next_in > self.config.limits.seq_num_jump => {
                let text = format!(
                    "MsgSeqNum too high, expecting {} but received {number}, more than {} above it",
                    self.next_in, self.config.limits.seq_num_jump
                );
                self.refuse_session(now, &text, outbox)
            }
            SequencePlace::TooHigh => {
                let kept = self.held.keep(number, message.bytes());
                self.fate = match kept {
                    Kept::Now => Fate::Queued { number },
                    Kept::Before => Fate::Duplicate,
                    Kept::NoRoom => Fate::Ignored,
                };
                let verdict = self.ask_for_gap(now, number, outbox);
                self.note_dropped(number, kept);
                verdict
            }
            SequencePlace::TooLow => {
                self.receive_too_low(now, message, number, marks.poss_dup, outbox)
            }
        }
    }

    /// Handles a message whose MsgSeqNum was received before. The message was resent, or the peer has lost count.
    #[cold]
    fn receive_too_low(
        &mut self,
        now: Now,
        message: &Message<'_>,
        number: u64,
        poss_dup: bool,
        outbox: &mut Outbox,
    ) -> Verdict {
        if !poss_dup {
            let text = too_low(self.next_in, number);
            return self.refuse_session(now, &text, outbox);
        }
        match self.read_repetition(message) {
            Repetition::Fine if self.config.deliver_poss_dups => self.show_again(message),
            Repetition::Fine => self.leave(Fate::Duplicate),
            Repetition::Wrong(objection) => {
                self.write_reject(message, objection, outbox);
                Verdict::Handled
            }
            Repetition::Impossible => self.refuse_impossible(now, message, outbox),
        }
    }

    fn receive_expected(
        &mut self,
        now: Now,
        message: &Message<'_>,
        number: u64,
        marks: &Marks<'_>,
        outbox: &mut Outbox,
    ) -> Verdict {
        let repetition = match marks.poss_dup {
            true => self.read_repetition(message),
            false => Repetition::Fine,
        };
        match repetition {
            Repetition::Fine => {}
            Repetition::Wrong(objection) => {
                self.write_reject(message, objection, outbox);
                self.advance(number + 1, outbox);
                return Verdict::Handled;
            }
            Repetition::Impossible => {
                self.advance(number + 1, outbox);
                return self.refuse_impossible(now, message, outbox);
            }
        }
        let found = match self.config.allow_on_behalf_of {
            true => Ok(()),
            false => check_on_behalf_of(message),
        };
        let found = found.and_then(|()| self.find_fault(message));
        if let Err(objection) = found.and_then(|()| check_own_needs(message, marks)) {
            self.write_reject(message, objection, outbox);
            self.advance(number + 1, outbox);
            return Verdict::Handled;
        }
        match message.msg_type() {
            b"0" => self.advance(number + 1, outbox),
            b"3" => {
                self.advance(number + 1, outbox);
                return Verdict::Rejected;
            }
            b"1" if self.is_long_test(message) => {
                let objection = Objection::to_limit(
                    RejectReason::ValueIncorrect,
                    RefTag::Tag(tag::TEST_REQ_ID),
                    MessageLimit::TestReqId(self.config.limits.test_req_id_bytes),
                );
                self.write_reject(message, objection, outbox);
                self.advance(number + 1, outbox);
            }
            b"1" => {
                let id = message.index_of(tag::TEST_REQ_ID);
                self.write_heartbeat(id.map(|index| (message, index)), outbox);
                self.advance(number + 1, outbox);
            }
            b"2" => {
                let range = self.read_resend_request(message);
                self.advance(number + 1, outbox);
                match range {
                    Ok(range) => return self.serve(now, message, range, outbox),
                    Err(objection) => self.write_reject(message, objection, outbox),
                }
            }
            b"4" => self.receive_gap_fill(message, number, outbox),
            b"A" => {
                let objection = Objection {
                    text: "Logon received while logged on",
                    ..Objection::to_message(RejectReason::Other)
                };
                self.write_reject(message, objection, outbox);
                self.advance(number + 1, outbox);
            }
            _ => {
                self.advance(number + 1, outbox);
                return Verdict::Deliver;
            }
        }
        Verdict::Handled
    }

    /// Ignores a message, which gets this fate.
    fn leave(&mut self, fate: Fate) -> Verdict {
        self.fate = fate;
        Verdict::Handled
    }

    /// Shows an application message again that was received before, if the message has no fault.
    fn show_again(&mut self, message: &Message<'_>) -> Verdict {
        self.fate = Fate::Duplicate;
        match super::is_admin(message.msg_type()) || self.find_fault(message).is_err() {
            true => Verdict::Handled,
            false => Verdict::Duplicate,
        }
    }

    /// Whether the TestReqID of a message is longer than a Heartbeat repeats.
    fn is_long_test(&self, message: &Message<'_>) -> bool {
        let id = message.get(tag::TEST_REQ_ID).unwrap_or_default();
        id.len() > self.config.limits.test_req_id_bytes
    }

    /// Handles a Logout, and answers it whatever its MsgSeqNum is. If the MsgSeqNum shows a gap, the missing messages
    /// are normally requested at the next Logon. If the sequence numbers will be reset before the next Logon, the
    /// missing messages are requested now, before the answer. In this case the peer, which has begun to log out, has
    /// to close the connection; until then its messages are accepted.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, message recovery, Logout with a MsgSeqNum too high: ResendRequest, then Logout,
    /// and no end by us. Public engines and their acceptance scripts just answer.
    fn receive_logout(
        &mut self,
        now: Now,
        message: &Message<'_>,
        number: u64,
        place: SequencePlace,
        outbox: &mut Outbox,
    ) -> Verdict {
        if place == SequencePlace::Expected {
            self.next_in += 1;
        }
        let Phase::LoggedOn(up) = self.phase else {
            return self.close(DisconnectReason::LoggedOut);
        };
        self.move_on(message);
        match up.exchange {
            PendingReply::Logout { .. } => return self.close(DisconnectReason::LoggedOut),
            PendingReply::Settled
                if place == SequencePlace::TooHigh && self.config.reset_on.at_the_end() => {}
            _ => {
                self.write_logout("", outbox);
                return self.close(DisconnectReason::LoggedOut);
            }
        }
        let _ = self.keep_served(number);
        // If the gap made no progress for too long, the session has ended already.
        let verdict = self.ask_for_gap(now, number, outbox);
        self.write_logout("", outbox);
        self.reset_due = true;
        if let Phase::LoggedOn(up) = self.phase {
            let until = now.mono + self.config.logout_timeout;
            let exchange = PendingReply::Logout { until };
            self.phase = Phase::LoggedOn(LoggedOn { exchange, ..up });
        }
        verdict
    }

    /// SequenceReset-GapFill in sequence.
    fn receive_gap_fill(&mut self, message: &Message<'_>, number: u64, outbox: &mut Outbox) {
        match read_new_seq_no(message) {
            Ok(new) if new > number => self.advance(new, outbox),
            Ok(_) => {
                let objection = Objection::to_tag(RejectReason::ValueIncorrect, tag::NEW_SEQ_NO);
                self.write_reject(message, objection, outbox);
                self.advance(number + 1, outbox);
            }
            Err(objection) => {
                self.write_reject(message, objection, outbox);
                self.advance(number + 1, outbox);
            }
        }
    }

    /// Handles a SequenceReset-Reset. The own MsgSeqNum of the SequenceReset is neither checked nor counted.
    fn receive_sequence_reset(&mut self, message: &Message<'_>, outbox: &mut Outbox) -> Verdict {
        let found = self.find_fault(message);
        match found.and_then(|()| read_new_seq_no(message)) {
            Ok(new) if new >= self.next_in => {
                self.held.clear();
                self.next_in = new;
                if let Phase::LoggedOn(up) = &mut self.phase {
                    up.inbound = sequence::Inbound::Steady;
                }
            }
            Ok(_) => {
                let objection = Objection::to_message(RejectReason::ValueIncorrect);
                self.write_reject(message, objection, outbox);
            }
            Err(objection) => self.write_reject(message, objection, outbox),
        }
        Verdict::Handled
    }

    /// Handles a Reject of our own ResendRequest, which leaves the gap open. The next message above the gap causes
    /// another request, up to a limit.
    fn receive_reject_of_request(
        &mut self,
        now: Now,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Option<Verdict> {
        let number = message.get(tag::REF_SEQ_NUM).and_then(sequence::parse)?;
        let Phase::LoggedOn(up) = &mut self.phase else {
            return None;
        };
        let (inbound, times) = up.inbound.rejected(number);
        up.inbound = inbound;
        if times? < self.config.limits.resend_attempts {
            return None;
        }
        let text = format!(
            "ResendRequest rejected: gap cannot be filled after MaxResendAttempts ({})",
            self.config.limits.resend_attempts
        );
        Some(self.refuse_session(now, &text, outbox))
    }

    /// Records a ResendRequest above a gap that was answered. Only its MsgSeqNum is kept.
    pub(super) fn keep_served(&mut self, number: u64) -> Kept {
        self.held.keep(number, &[])
    }

    /// Records a message above the gap for which there was no room: its MsgSeqNum is requested again later.
    fn note_dropped(&mut self, number: u64, kept: Kept) {
        if kept == Kept::NoRoom
            && let Phase::LoggedOn(up) = &mut self.phase
        {
            up.inbound = up.inbound.dropped(number);
        }
    }

    /// Handles a MsgSeqNum above the expected one: requests the missing messages once, and again when the gap makes
    /// no progress, up to a limit. While our reset is not confirmed, nothing is requested. The peer reads our Logon
    /// first, and would take old sequence numbers for new ones.
    pub(super) fn ask_for_gap(&mut self, now: Now, number: u64, outbox: &mut Outbox) -> Verdict {
        let Phase::LoggedOn(up) = &mut self.phase else {
            return Verdict::Handled;
        };
        if self.reset_open {
            return Verdict::Handled;
        }
        let manner = self.config.manner();
        let (inbound, next) = up.inbound.too_high(now.mono, number, self.next_in, manner);
        up.inbound = inbound;
        self.request_missing(now, next, outbox)
    }

    /// Records a gap that the peer's ResendRequest shows. Our own ResendRequest follows after the answer.
    fn owe_request(&mut self, number: u64) {
        if let Phase::LoggedOn(up) = &mut self.phase {
            up.inbound = up.inbound.too_high_request(number);
        }
    }

    fn refuse_impossible(
        &mut self,
        now: Now,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Verdict {
        let objection = Objection::to_message(RejectReason::SendingTimeAccuracyProblem);
        self.write_reject(message, objection, outbox);
        self.refuse_session(now, "", outbox)
    }

    /// The fault if the message does not belong to this session or to this time. Values that are missing or malformed
    /// are checked later.
    fn find_stranger<'a>(
        &self,
        now: Now,
        message: &Message<'_>,
        marks: &Marks<'_>,
    ) -> Option<Objection<'a>> {
        let stranger = self.config.check_comp_id
            && (!self.has_comp_ids(marks.sender, marks.target, true)
                || self.has_other_ids && !self.fits_other_ids(message));
        if stranger {
            return Some(Objection::to_message(RejectReason::CompIdProblem));
        }
        // A resent message may still have the time of its first sending. A message that was kept was in time when it
        // arrived.
        if self.was_held || marks.poss_dup {
            return None;
        }
        match marks.sent {
            Some(Ok(sent)) if !self.is_near(now.wall, sent) => Some(Objection::to_message(
                RejectReason::SendingTimeAccuracyProblem,
            )),
            _ => None,
        }
    }

    #[inline]
    fn read_marks<'a>(
        &mut self,
        message: &Message<'a>,
        mut header: UsualHeader<'_, 'a>,
    ) -> Marks<'a> {
        let sender = header.get(tag::SENDER_COMP_ID);
        let sending_time = header.get(tag::SENDING_TIME);
        let target = header.get(tag::TARGET_COMP_ID);
        Marks {
            sender,
            target,
            sending_time,
            sent: sending_time.map(|text| self.times.parse(text)),
            poss_dup: message.get(tag::POSS_DUP_FLAG) == Some(b"Y"),
        }
    }

    /// Whether the message has BeginString and CompIDs, and they are those of this session.
    pub(super) fn is_of_this_session(&self, message: &Message<'_>) -> bool {
        let sender = message.get(tag::SENDER_COMP_ID);
        let target = message.get(tag::TARGET_COMP_ID);
        message.begin_string() == self.config.begin_string.as_str().as_bytes()
            && (!self.config.check_comp_id || self.has_comp_ids(sender, target, false))
    }

    fn has_comp_ids(&self, sender: Option<&[u8]>, target: Option<&[u8]>, or_none: bool) -> bool {
        let is = |there: Option<&[u8]>, own: &[u8]| match there {
            None | Some(b"") => or_none,
            Some(value) => same(value, own),
        };
        is(sender, &self.config.peer.comp_id) && is(target, &self.config.own.comp_id)
    }

    /// Whether each SubID or LocationID that both the session and the message have is the same.
    #[cold]
    fn fits_other_ids(&self, message: &Message<'_>) -> bool {
        let (own, peer) = (&self.config.own, &self.config.peer);
        let pairs = [
            (tag::SENDER_SUB_ID, &peer.sub_id),
            (tag::SENDER_LOCATION_ID, &peer.location_id),
            (tag::TARGET_SUB_ID, &own.sub_id),
            (tag::TARGET_LOCATION_ID, &own.location_id),
        ];
        pairs.into_iter().all(|(tag, ours)| {
            let there = message.get(tag).unwrap_or_default();
            ours.is_empty() || there.is_empty() || same(there, ours)
        })
    }

    pub(super) fn is_near(&self, now: Timestamp, sent: Timestamp) -> bool {
        match self.config.max_latency {
            None => true,
            Some(limit) => now.abs_diff(sent) <= limit,
        }
    }

    /// Checks OrigSendingTime(122) of a message with PossDupFlag(43). A SequenceReset needs no OrigSendingTime,
    /// because a SequenceReset was never sent before.
    fn read_repetition<'a>(&self, message: &Message<'a>) -> Repetition<'a> {
        if message.msg_type() == b"4" {
            return Repetition::Fine;
        }
        let tag = tag::ORIG_SENDING_TIME;
        match (message.time(tag), message.time(tag::SENDING_TIME)) {
            (None, _) if self.config.require_orig_sending_time => {
                Repetition::Wrong(Objection::to_tag(RejectReason::RequiredTagMissing, tag))
            }
            (Some(Err(_)), _) => {
                Repetition::Wrong(Objection::to_tag(RejectReason::IncorrectDataFormat, tag))
            }
            (Some(Ok(first)), Some(Ok(sent))) if first > sent => Repetition::Impossible,
            _ => Repetition::Fine,
        }
    }
}

/// Checks that the message is not sent on behalf of another firm or for delivery to one.
#[cold]
fn check_on_behalf_of<'a>(message: &Message<'_>) -> Result<(), Objection<'a>> {
    match [tag::ON_BEHALF_OF_COMP_ID, tag::DELIVER_TO_COMP_ID]
        .into_iter()
        .find(|tag| message.has(*tag))
    {
        Some(tag) => Err(Objection::to_tag(RejectReason::CompIdProblem, tag)),
        None => Ok(()),
    }
}

fn read_new_seq_no<'a>(message: &Message<'a>) -> Result<u64, Objection<'a>> {
    match message.get(tag::NEW_SEQ_NO).map(sequence::parse) {
        Some(Some(number)) if number < MAX_SEQ_NUM => Ok(number),
        Some(Some(_)) => Err(Objection::to_tag(
            RejectReason::ValueIncorrect,
            tag::NEW_SEQ_NO,
        )),
        Some(None) => Err(Objection::to_tag(
            RejectReason::IncorrectDataFormat,
            tag::NEW_SEQ_NO,
        )),
        None => Err(Objection::to_tag(
            RejectReason::RequiredTagMissing,
            tag::NEW_SEQ_NO,
        )),
    }
}
