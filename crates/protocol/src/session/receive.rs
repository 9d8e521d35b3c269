//! Handles a message of a session that is logged on: the checks, in their order.
//!
//! 1. BeginString and MsgSeqNum: without them the session ends.
//! 2. CompIDs, then SendingTime: Reject and Logout.
//! 3. Messages accepted with any MsgSeqNum: Logons that reset, Logouts, SequenceReset-Reset, and
//!    ResendRequests, so that two sides that wait for each other do not wait for ever.
//! 4. The MsgSeqNum: too high is kept, too low is a possible duplicate or ends the session.
//! 5. In sequence: possible duplicates carry OrigSendingTime(122), then the dictionary.

use alloc::format;

use super::check::check_own_needs;
use super::config::OnReject;
use super::held::Kept;
use super::logon::too_low;
use super::phase::{LoggedOn, PendingReply, Phase};
use super::reject::{Objection, RefTag};
use super::sequence::{self, MAX_SEQ_NUM, Next, SequencePlace};
use super::verdict::{DisconnectReason, Fate, Verdict};
use super::{Rejected, Session};
use crate::dictionary::RejectReason;
use crate::message::UsualHeader;
use crate::outbox::Outbox;
use crate::put::same;
use crate::{Message, MessageLimit, Now, TimeError, Timestamp, tag};

/// The fields of every header, found and read once.
pub(super) struct Marks<'a> {
    /// SenderCompID(49).
    pub(super) sender: Option<&'a [u8]>,
    /// TargetCompID(56).
    pub(super) target: Option<&'a [u8]>,
    /// SendingTime(52), and the moment it says.
    pub(super) sending_time: Option<&'a [u8]>,
    pub(super) sent: Option<Result<Timestamp, TimeError>>,
    /// PossDupFlag(43) is Y.
    pub(super) poss_dup: bool,
}

/// Result of the checks of a possible duplicate, beside its sequence number.
enum Repetition<'a> {
    /// Not marked as one, or in order.
    Fine,
    /// A Reject is enough.
    Wrong(Objection<'a>),
    /// First sent after it was sent: Reject and Logout.
    Impossible,
}

impl Session {
    /// Handles one message that arrived. All checks are made here, the dictionary's included; the
    /// counters are those after the message when this returns.
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

    /// A message was rejected: it may be the session's last.
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
            return self.refuse_session(now, "MsgSeqNum is not a number", outbox);
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
                        self.keep_served(number);
                        self.owe_request(number);
                    }
                    let verdict = self.serve(now, message, range, outbox);
                    // When there was nothing to send, the answer is complete.
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
                self.fate = match self.held.keep(number, message.bytes()) {
                    Kept::Now => Fate::Queued { number },
                    Kept::Before => Fate::Duplicate,
                    Kept::NoRoom => Fate::Ignored,
                };
                self.ask_for_gap(now, number, outbox)
            }
            SequencePlace::TooLow => {
                self.receive_too_low(now, message, number, marks.poss_dup, outbox)
            }
        }
    }

    /// A message whose MsgSeqNum has been received before: resent, or the peer has lost count.
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

    /// Does nothing with a message.
    fn leave(&mut self, fate: Fate) -> Verdict {
        self.fate = fate;
        Verdict::Handled
    }

    /// An application message that we have had is shown once more, if nothing is wrong with it.
    fn show_again(&mut self, message: &Message<'_>) -> Verdict {
        self.fate = Fate::Duplicate;
        match super::is_admin(message.msg_type()) || self.find_fault(message).is_err() {
            true => Verdict::Handled,
            false => Verdict::Duplicate,
        }
    }

    /// Whether a TestReqID is longer than we echo.
    fn is_long_test(&self, message: &Message<'_>) -> bool {
        let id = message.get(tag::TEST_REQ_ID).unwrap_or_default();
        id.len() > self.config.limits.test_req_id_bytes
    }

    /// Logout, answered whatever its MsgSeqNum. The gap it shows is asked for at the next Logon;
    /// only where the sequence numbers are reset before that is it asked for now, before the answer. The peer,
    /// which began, then has to close, and until it does its messages are accepted.
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
        self.keep_served(number);
        // The gap may have made no progress for too long: then the session has ended already.
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

    /// SequenceReset-Reset: its own MsgSeqNum is never checked, and never counted.
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

    /// A Reject of our own ResendRequest leaves the gap open: it is asked for again by the next
    /// message above it, up to a limit.
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

    /// A ResendRequest above a gap was served: only its MsgSeqNum is kept.
    pub(super) fn keep_served(&mut self, number: u64) {
        // When it does not fit, it is asked for again.
        let _ = self.held.keep(number, &[]);
    }

    /// A MsgSeqNum above the expected one has arrived: asks for the missing messages, once, and again when
    /// the gap makes no progress, until it has been asked often enough. Not while our reset is open: the peer
    /// reads our Logon first, and would take old sequence numbers for new ones.
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
        match next {
            Next::Wait => Verdict::Handled,
            Next::Ask(request) => {
                self.write_resend_request(request, outbox);
                Verdict::Handled
            }
            Next::GiveUp => {
                let text = format!(
                    "Gap not filled: no response to ResendRequest from MsgSeqNum {} after MaxResendAttempts ({})",
                    self.next_in, self.config.limits.resend_attempts
                );
                self.refuse_session(now, &text, outbox)
            }
        }
    }

    /// The peer's ResendRequest shows a gap: ours follows when it is answered.
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

    /// The fault if the message is not of this session or of this time. A value that is missing
    /// or malformed is another matter, and comes later.
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
        // A resent message may still have the time of its first sending, and one that was held
        // has been in time when it came.
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

    /// BeginString and CompIDs are present and are ours.
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

    /// A SubID or LocationID that both the session and the message have is the same.
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

    /// OrigSendingTime(122) of a message with PossDupFlag(43). A SequenceReset needs none: it was
    /// never sent before.
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

/// The message is on behalf of another firm, or delivered to one, and the peer may not do that.
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
