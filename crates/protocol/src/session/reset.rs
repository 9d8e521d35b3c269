//! Sequence number resets that the peer has to confirm.
//!
//! ```text
//!                 we ask: Session::reset, ResetOnLogon
//!   Agreed ---------------------------------------------> Open, whatever ends: the connection, the process
//!      ^                                                    |
//!      |   the peer's Logon with ResetSeqNumFlag(141) = Y   |  until then each Logon of ours has 141=Y
//!      +------ or its MsgSeqNum 1 after our Logon ----------+
//! ```
//!
//! While it is open it is unknown which sequence numbers the peer has. Inside the session that was logged
//! on when we asked, its messages with the old ones are accepted. On a later connection they are not: their
//! order is unknown, and what they resend has been delivered.

use super::Session;
use super::config::BeginString;
use super::logon::{Flaw, Terms};
use super::phase::{LoggedOn, PendingReply, Phase};
use super::sequence::Inbound;
use super::verdict::{Loss, Verdict};
use crate::outbox::Outbox;
use crate::{Message, Now, tag};

impl Session {
    /// Whether [`Session::reset`] can be carried out now: not while another exchange is open, and not
    /// while logged on in FIX 4.0, which has no ResetSeqNumFlag(141).
    #[must_use]
    pub fn can_reset(&self) -> bool {
        match self.phase {
            Phase::Down => true,
            Phase::LoggedOn(up) => {
                up.exchange == PendingReply::Settled
                    && self.config.begin_string > BeginString::Fix40
            }
            _ => false,
        }
    }

    /// Resets both sequence numbers to 1. While logged on, a Logon with ResetSeqNumFlag(141) asks
    /// the peer to do the same, and so does each next Logon of ours, in either role, until the peer has
    /// confirmed it. Without a connection only our side restarts. Does nothing when
    /// [`Session::can_reset`] says no.
    pub fn reset(&mut self, now: Now, outbox: &mut Outbox) -> Verdict {
        match self.phase {
            Phase::Down => self.reset_numbers(),
            Phase::LoggedOn(_) if self.can_reset() => {
                self.next_out = 1;
                self.epoch += 1;
                self.resend.clear();
                self.reset_open = true;
                self.write_logon(self.config.heart_bt_int_seconds, true, 1, None, outbox);
                self.await_confirmation(now);
            }
            _ => {}
        }
        Verdict::Handled
    }

    /// Whether a message that is given while it has no connection would never be sent: its sequence number is
    /// lost in a reset at the next Logon, or it is gap-filled when the peer asks for it.
    #[must_use]
    pub fn loses_what_waits(&self) -> Option<Loss> {
        if self.config.reset_on.logon || self.announces_reset() {
            Some(Loss::Reset)
        } else if !self.config.resend_messages {
            Some(Loss::GapFill)
        } else {
            None
        }
    }

    pub(super) fn reset_numbers(&mut self) {
        self.next_in = 1;
        self.next_out = 1;
        self.epoch += 1;
        self.reset_due = false;
        self.held.clear();
        self.resend.clear();
    }

    /// Whether our next Logon asks the peer to restart. FIX 4.0 has no field that says so.
    pub(super) fn announces_reset(&self) -> bool {
        self.reset_open && self.config.begin_string > BeginString::Fix40
    }

    /// Our Logon with ResetSeqNumFlag(141) is written: the peer has the logon timeout to confirm it.
    fn await_confirmation(&mut self, now: Now) {
        let until = now.mono + self.config.logon_timeout;
        if let Phase::LoggedOn(up) = &mut self.phase {
            up.exchange = PendingReply::Reset { until };
        }
    }

    /// An acceptor accepts a Logon that knows nothing of our reset, whatever its MsgSeqNum, and asks in its
    /// answer. Public engines then reset as an initiator, and log on once more with MsgSeqNum 1; one that
    /// does not has a TestRequest to answer with MsgSeqNum 1.
    pub(super) fn ask_in_answer(&mut self, now: Now, terms: &Terms, outbox: &mut Outbox) {
        let heart_bt_int_seconds = self.heart_bt_int(terms);
        self.write_logon(heart_bt_int_seconds, true, 1, terms.appl_ver_id, outbox);
        self.write_test_request(outbox);
        self.log_on(now, heart_bt_int_seconds, Inbound::Steady);
        self.peer_version = terms.appl_ver_id;
        self.await_confirmation(now);
    }

    /// A message while our reset is open: the peer may confirm it by a Logon, or just by MsgSeqNum 1 (QuickFIX/Go
    /// as an initiator writes no second Logon). `None`: the message is looked at as usual.
    #[cold]
    pub(super) fn receive_unconfirmed(
        &mut self,
        now: Now,
        message: &Message<'_>,
        number: u64,
        poss_dup: bool,
        outbox: &mut Outbox,
    ) -> Option<Verdict> {
        let is_logon = message.msg_type() == b"A";
        let is_first = number == 1 && !poss_dup && message.msg_type() != b"4";
        if is_first && is_logon {
            return Some(self.receive_reset(now, message, outbox));
        }
        if is_first {
            self.confirm_reset();
            return None;
        }
        let is_old = self.next_in == 1;
        let looked_at = message.msg_type() == b"5"
            || is_logon && message.get(tag::RESET_SEQ_NUM_FLAG) == Some(b"Y");
        (is_old && !looked_at).then_some(Verdict::Handled)
    }

    /// The peer has reset: its next message has MsgSeqNum 1.
    fn confirm_reset(&mut self) {
        self.reset_open = false;
        self.next_in = 1;
        self.held.clear();
        if let Phase::LoggedOn(up) = &mut self.phase {
            up.inbound = Inbound::Steady;
            if let PendingReply::Reset { .. } = up.exchange {
                up.exchange = PendingReply::Settled;
            }
        }
    }

    /// A Logon with ResetSeqNumFlag(141) = Y inside a session, or the answer to ours. Both sequence numbers
    /// restart.
    pub(super) fn receive_reset(
        &mut self,
        now: Now,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Verdict {
        let Phase::LoggedOn(up) = self.phase else {
            return Verdict::Handled;
        };
        let terms = match self.read_logon(now, message) {
            Ok(terms) => terms,
            Err(Flaw::Stranger(reason)) => {
                return self.refuse_session(now, &alloc::format!("{reason}"), outbox);
            }
            Err(Flaw::Field(objection)) => {
                self.write_reject(message, objection, outbox);
                return self.refuse_session(now, &objection.sentence(), outbox);
            }
            Err(Flaw::Session(text)) => return self.refuse_session(now, &text, outbox),
        };
        let heart_bt_int_seconds = self.heart_bt_int(&terms);
        if self.reset_open {
            // The answer to ours, which has restarted what we send.
            self.confirm_reset();
        } else {
            self.reset_numbers();
            self.write_logon(heart_bt_int_seconds, true, 2, terms.appl_ver_id, outbox);
        }
        self.next_in = 2;
        self.log_on(now, heart_bt_int_seconds, Inbound::Steady);
        if let (PendingReply::Logout { .. }, Phase::LoggedOn(fresh)) = (up.exchange, self.phase) {
            let exchange = up.exchange;
            self.phase = Phase::LoggedOn(LoggedOn { exchange, ..fresh });
        }
        Verdict::Handled
    }
}
