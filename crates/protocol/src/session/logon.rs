//! Logons: the first message of a connection, and resets of sequence numbers within a session.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use super::config::{ApplVerId, Role};
use super::phase::{LoggedOn, Phase};
use super::reject::{Objection, RefTag};
use super::sequence::{self, Inbound, MAX_SEQ_NUM, SequencePlace};
use super::verdict::{DisconnectReason, Verdict};
use super::{Config, Session};
use crate::dictionary::RejectReason;
use crate::outbox::Outbox;
use crate::{Message, MessageLimit, Now, tag};

/// The values of a valid Logon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    number: u64,
    heart_bt_int_seconds: u32,
    reset: bool,
    /// NextExpectedMsgSeqNum(789), if we use it.
    next_expected: Option<u64>,
    pub(super) appl_ver_id: Option<ApplVerId>,
}

/// The peer's Logon has a HeartBtInt(108) that differs from ours, in seconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OtherHeartBtInt {
    /// The value in our Logon or our configuration. This value is used.
    pub ours: u32,
    /// The value in the peer's Logon.
    pub peers: u32,
}

/// Why a Logon is refused.
pub(super) enum Flaw<'a> {
    /// The sender is not the peer. The connection is closed without an answer.
    Stranger(DisconnectReason),
    /// The answer is a Reject, and then a Logout with the same text.
    Field(Objection<'a>),
    /// The answer is a Logout with this text.
    Session(String),
}

impl Session {
    /// Whether [`receive`](Self::receive) would log on with this message, if it is the first of a connection. Ask the
    /// application for its decision if the result is true. An acceptor without a connection answers as if this
    /// connection were its own. The state does not change.
    pub fn would_log_on(&mut self, now: Now, message: &Message<'_>) -> bool {
        if message.msg_type() != b"A" {
            return false;
        }
        let may = match (self.config.role, self.phase) {
            (Role::Acceptor, Phase::Down | Phase::AwaitingLogon { .. }) => {
                !(self.closed || self.disabled)
            }
            (Role::Initiator, Phase::LogonSent { .. }) => true,
            _ => false,
        };
        if !may {
            return false;
        }
        let terms = self.read_logon(now, message);
        terms.is_ok_and(|terms| self.check_first(&terms).is_ok())
    }

    /// Checks that the first Logon of a connection fits the sequence numbers.
    fn check_first(&self, terms: &Terms) -> Result<(), Flaw<'static>> {
        match self.config.role {
            Role::Acceptor if self.asks_in_answer(terms) => Ok(()),
            Role::Acceptor if self.restarts_with(terms) => check_numbers(terms, 1, 1),
            // Before a reset for which we have not asked, sequence numbers are not checked.
            Role::Initiator if terms.reset && !self.reset_open => Ok(()),
            // Messages that the peer has sent under its old sequence numbers were delivered already, and must not be
            // resent.
            Role::Initiator if self.announces_reset() && !terms.reset && terms.number != 1 => {
                Err(Flaw::Session(format!(
                    "ResetSeqNumFlag not confirmed, expecting MsgSeqNum 1 but received {}",
                    terms.number
                )))
            }
            _ => check_numbers(terms, self.next_in, self.next_out),
        }
    }

    /// Whether both sequence numbers are reset when an acceptor accepts this Logon.
    fn restarts_with(&self, terms: &Terms) -> bool {
        terms.reset || self.announces_reset() || self.config.reset_on.logon
    }

    /// Whether an acceptor's answer to this Logon asks the peer to reset, because the peer has not confirmed our
    /// reset.
    fn asks_in_answer(&self, terms: &Terms) -> bool {
        self.announces_reset() && !terms.reset
    }

    /// Refuses a Logon that the session [would accept](Self::would_log_on): sends a Logout with this text, and ends
    /// the connection.
    pub fn turn_away(&mut self, text: &str, outbox: &mut Outbox) -> Verdict {
        self.write_logout(text, outbox);
        self.close(DisconnectReason::RefusedByApplication)
    }

    /// Handles the first message that an acceptor receives.
    pub(super) fn receive_first_as_acceptor(
        &mut self,
        now: Now,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Verdict {
        if message.msg_type() != b"A" {
            return self.close(DisconnectReason::NotALogon);
        }
        let terms = match self.read_logon(now, message) {
            Ok(terms) => terms,
            Err(flaw) => return self.refuse_logon(message, flaw, outbox),
        };
        let no_logons = match (self.disabled, self.closed) {
            (true, _) => Some("Session disabled by operator"),
            (false, true) => Some("Logon attempt not within session time"),
            (false, false) => None,
        };
        if let Some(text) = no_logons {
            return self.refuse_logon(message, Flaw::Session(text.into()), outbox);
        }
        if let Err(flaw) = self.check_first(&terms) {
            return self.refuse_logon(message, flaw, outbox);
        }
        if self.restarts_with(&terms) {
            self.reset_numbers();
        }
        if self.asks_in_answer(&terms) {
            self.ask_in_answer(now, &terms, outbox);
            return Verdict::LoggedOn;
        }
        self.reset_open = false;
        let (next_in, next_out) = (self.next_in, self.next_out);
        let expected = SequencePlace::of(terms.number, next_in) == SequencePlace::Expected;
        let next_expected = if expected { next_in + 1 } else { next_in };
        let heart_bt_int_seconds = self.heart_bt_int(&terms);
        self.write_logon(
            heart_bt_int_seconds,
            terms.reset,
            next_expected,
            terms.appl_ver_id,
            outbox,
        );
        self.log_on(now, heart_bt_int_seconds, Inbound::Steady);
        self.settle(now, &terms, next_out, outbox);
        Verdict::LoggedOn
    }

    /// Handles the first message that an initiator receives: the answer to its Logon.
    pub(super) fn receive_first_as_initiator(
        &mut self,
        now: Now,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Verdict {
        match message.msg_type() {
            b"A" => {}
            b"5" => {
                let number = message.get(tag::MSG_SEQ_NUM).and_then(sequence::parse);
                if number == Some(self.next_in) && self.is_of_this_session(message) {
                    self.next_in += 1;
                }
                if self.is_of_this_session(message) {
                    self.move_on(message);
                }
                return self.close(DisconnectReason::RefusedByPeer);
            }
            _ => {
                let flaw = Flaw::Stranger(DisconnectReason::NotALogon);
                return self.refuse_logon(message, flaw, outbox);
            }
        }
        let terms = match self.read_logon(now, message) {
            Ok(terms) => terms,
            Err(flaw) => return self.refuse_logon(message, flaw, outbox),
        };
        if let Err(flaw) = self.check_first(&terms) {
            return self.refuse_logon(message, flaw, outbox);
        }
        let heart_bt_int_seconds = self.heart_bt_int(&terms);
        if terms.reset && !self.reset_open {
            // The peer begins again at 1 and wants us to do the same. Our first Logon no longer counts.
            self.reset_numbers();
            self.write_logon(heart_bt_int_seconds, true, 2, terms.appl_ver_id, outbox);
        }
        self.reset_open = false;
        self.log_on(now, heart_bt_int_seconds, Inbound::Steady);
        let sent_to = self.next_out;
        self.settle(now, &terms, sent_to, outbox);
        Verdict::LoggedOn
    }

    /// The heartbeat interval for both sides. The interval is the initiator's, unless we always use our own.
    pub(super) fn heart_bt_int(&mut self, terms: &Terms) -> u32 {
        let (ours, peers) = (self.config.heart_bt_int_seconds, terms.heart_bt_int_seconds);
        if self.config.role == Role::Acceptor && !self.config.own_heart_bt_int {
            return peers;
        }
        self.other_heart_bt_int = (ours != peers).then_some(OtherHeartBtInt { ours, peers });
        ours
    }

    /// Uses the NextExpectedMsgSeqNum(789) of a Logout. If it is higher than our next MsgSeqNum, the peer has
    /// received higher MsgSeqNums from us than we know of. If it is lower, there is a gap, for which the peer asks at
    /// the next Logon.
    pub(super) fn move_on(&mut self, logout: &Message<'_>) {
        let expected = logout.get(tag::NEXT_EXPECTED_MSG_SEQ_NUM);
        let expected = expected.and_then(sequence::parse);
        if let Some(next) = expected.filter(|next| (self.next_out + 1..=MAX_SEQ_NUM).contains(next))
            && self.config.next_expected_of_logout
        {
            self.moved_on = Some((self.next_out, next));
            self.next_out = next;
        }
    }

    /// Handles the state after both Logons have arrived. Counts the peer's Logon, requests the messages that it shows
    /// to be missing, and sends those that the peer has missed. `next_out` is the MsgSeqNum before our own answer.
    fn settle(&mut self, now: Now, terms: &Terms, next_out: u64, outbox: &mut Outbox) {
        let Phase::LoggedOn(up) = self.phase else {
            return;
        };
        self.peer_version = terms.appl_ver_id;
        if terms.number == self.next_in {
            self.next_in += 1;
        } else if terms.next_expected.is_some() {
            let inbound = Inbound::asked_by_logon(terms.number + 1);
            self.phase = Phase::LoggedOn(LoggedOn { inbound, ..up });
        } else {
            self.keep_served(terms.number);
            let verdict = self.ask_for_gap(now, terms.number, outbox);
            debug_assert_eq!(
                verdict,
                Verdict::Handled,
                "the first request is never too many"
            );
        }
        if let Some(missed) = terms.next_expected.filter(|next| *next < next_out) {
            let range = missed.max(1)..=next_out - 1;
            self.resend.admit(now.mono, range, &self.config.limits);
        }
    }

    /// Reads and checks a Logon. No state changes.
    pub(super) fn read_logon<'a>(
        &mut self,
        now: Now,
        message: &Message<'a>,
    ) -> Result<Terms, Flaw<'a>> {
        if !self.is_of_this_session(message) {
            return Err(Flaw::Stranger(DisconnectReason::NotThisSession));
        }
        let number = message
            .get(tag::MSG_SEQ_NUM)
            .and_then(sequence::parse)
            .filter(|number| *number > 0)
            .ok_or(Flaw::Stranger(DisconnectReason::NotThisSession))?;
        if self.config.role == Role::Acceptor && !has_credentials(&self.config, message) {
            return Err(Flaw::Stranger(DisconnectReason::Credentials));
        }
        match message.time(tag::SENDING_TIME) {
            Some(Ok(sent)) if self.is_near(now.wall, sent) => {}
            Some(Ok(sent)) => {
                let ahead = sent.0.saturating_sub(now.wall.0);
                let most = self.config.max_latency.unwrap_or_default();
                return Err(Flaw::Stranger(DisconnectReason::LogonSendingTime {
                    ahead,
                    most,
                }));
            }
            _ => return Err(Flaw::Stranger(DisconnectReason::LogonWithoutSendingTime)),
        }
        let appl_ver_id = self.read_appl_ver_id(message)?;
        self.find_fault(message).map_err(Flaw::Field)?;
        let field = |reason, tag| Flaw::Field(Objection::to_tag(reason, tag));
        match message.get(tag::ENCRYPT_METHOD) {
            None => return Err(field(RejectReason::RequiredTagMissing, tag::ENCRYPT_METHOD)),
            Some(method) if sequence::parse(method) == Some(0) => {}
            Some(_) => return Err(field(RejectReason::DecryptionProblem, tag::ENCRYPT_METHOD)),
        }
        let heart_bt_int_seconds = self.read_heart_bt_int(message)?;
        let reset = message.get(tag::RESET_SEQ_NUM_FLAG) == Some(b"Y");
        if reset && number != 1 {
            let text = format!("ResetSeqNumFlag requires MsgSeqNum 1 but received {number}");
            return Err(Flaw::Session(text));
        }
        let next_expected = match message.get(tag::NEXT_EXPECTED_MSG_SEQ_NUM) {
            Some(text) if self.config.next_expected_msg_seq_num => {
                Some(sequence::parse(text).ok_or_else(|| {
                    field(
                        RejectReason::IncorrectDataFormat,
                        tag::NEXT_EXPECTED_MSG_SEQ_NUM,
                    )
                })?)
            }
            _ => None,
        };
        Ok(Terms {
            number,
            heart_bt_int_seconds,
            reset,
            next_expected,
            appl_ver_id,
        })
    }

    fn read_appl_ver_id<'a>(&self, message: &Message<'a>) -> Result<Option<ApplVerId>, Flaw<'a>> {
        if !self.config.is_fixt() {
            return Ok(None);
        }
        let text = message
            .get(tag::DEFAULT_APPL_VER_ID)
            .filter(|text| !text.is_empty())
            .ok_or(Flaw::Stranger(DisconnectReason::NoDefaultApplVerId))?;
        match ApplVerId::parse(text) {
            Some(version) if self.speaks(version) => Ok(Some(version)),
            _ => Err(Flaw::Field(Objection {
                text: "Invalid DefaultApplVerID",
                ..Objection::to_tag(RejectReason::ValueIncorrect, tag::DEFAULT_APPL_VER_ID)
            })),
        }
    }

    fn read_heart_bt_int<'a>(&self, message: &Message<'a>) -> Result<u32, Flaw<'a>> {
        let field = |reason| Flaw::Field(Objection::to_tag(reason, tag::HEART_BT_INT));
        let Some(value) = message.int(tag::HEART_BT_INT) else {
            return Err(field(RejectReason::RequiredTagMissing));
        };
        let limit = self.config.limits.heart_bt_int_seconds;
        match value {
            Ok(seconds) if seconds < 0 => Err(Flaw::Field(Objection {
                text: "HeartBtInt must not be negative",
                ..Objection::to_tag(RejectReason::ValueIncorrect, tag::HEART_BT_INT)
            })),
            Ok(seconds) => u32::try_from(seconds)
                .ok()
                .filter(|seconds| *seconds <= limit)
                .ok_or(Flaw::Field(Objection::to_limit(
                    RejectReason::ValueIncorrect,
                    RefTag::Tag(tag::HEART_BT_INT),
                    MessageLimit::HeartBtInt(limit),
                ))),
            Err(_) => Err(field(RejectReason::IncorrectDataFormat)),
        }
    }

    /// Whether application messages of this version can be checked, or need not be checked.
    pub(super) fn speaks(&self, version: ApplVerId) -> bool {
        let config = &self.config;
        config.appl_dictionaries.is_empty()
            || config.default_appl_ver_id == Some(version)
            || config.has_dictionary_for(version)
    }

    /// The Text(58) of the Logout that answers a first message which gets no other answer. An acceptor does not
    /// answer a sender that it does not know. An initiator has chosen its peer.
    fn says_to_stranger(&self, reason: DisconnectReason) -> Option<&'static str> {
        let text = match reason {
            DisconnectReason::LogonSendingTime { .. }
            | DisconnectReason::LogonWithoutSendingTime => "SendingTime accuracy problem",
            DisconnectReason::NoDefaultApplVerId => "Required tag missing: DefaultApplVerID(1137)",
            DisconnectReason::NotALogon if self.config.role == Role::Initiator => {
                "First message not a Logon"
            }
            DisconnectReason::NotThisSession if self.config.role == Role::Initiator => {
                "Logon does not match this session (BeginString, CompIDs or MsgSeqNum)"
            }
            _ => return None,
        };
        self.config.logout_for_bad_logon.then_some(text)
    }

    /// Ends a connection that has no session yet. Apart from the answer, no state changes.
    fn refuse_logon(
        &mut self,
        message: &Message<'_>,
        flaw: Flaw<'_>,
        outbox: &mut Outbox,
    ) -> Verdict {
        let text = match &flaw {
            Flaw::Stranger(reason) => {
                if let Some(text) = self.says_to_stranger(*reason) {
                    self.write_logout(text, outbox);
                }
                return self.close(*reason);
            }
            Flaw::Field(objection) => {
                self.write_reject(message, *objection, outbox);
                objection.sentence()
            }
            Flaw::Session(text) => Cow::Borrowed(text.as_str()),
        };
        self.write_logout(&text, outbox);
        self.close(DisconnectReason::LogonRefused)
    }
}

fn check_numbers(terms: &Terms, next_in: u64, next_out: u64) -> Result<(), Flaw<'static>> {
    let number = terms.number;
    if number < next_in {
        return Err(Flaw::Session(too_low(next_in, number)));
    }
    match terms.next_expected {
        Some(next) if next > next_out => Err(Flaw::Session(format!(
            "NextExpectedMsgSeqNum too high, expecting {next_out} but received {next}"
        ))),
        _ => Ok(()),
    }
}

pub(super) fn too_low(expected: u64, received: u64) -> String {
    format!("MsgSeqNum too low, expecting {expected} but received {received}")
}

/// Whether the Logon has the user name and the password that are configured for an acceptor. The time for this does
/// not depend on where the first difference is.
fn has_credentials(config: &Config, message: &Message<'_>) -> bool {
    let matches = |tag, demanded: &[u8]| {
        let given = message.get(tag).unwrap_or_default();
        let differences = demanded
            .iter()
            .zip(given)
            .fold(0, |differences, (a, b)| differences | (a ^ b));
        demanded.is_empty() || demanded.len() == given.len() && differences == 0
    };
    let username = matches(tag::USERNAME, &config.username);
    let password = matches(tag::PASSWORD, &config.password);
    username && password
}
