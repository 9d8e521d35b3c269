//! Resets of sequence numbers that the peer has to confirm.
//!
//! ```text
//!                 we ask: Session::reset, ResetOnLogon
//!   Agreed ---------------------------------------------> Open, whatever ends: the connection, the process
//!      ^                                                    |
//!      |   the peer's Logon with ResetSeqNumFlag(141) = Y   |  until then each Logon of ours has 141=Y
//!      +------ or its MsgSeqNum 1 after our Logon ----------+
//! ```
//!
//! While a reset is open, it is unknown which sequence numbers the peer has. On the connection on which we asked for
//! the reset, messages of the peer with old sequence numbers are accepted. On a later connection such messages are
//! not accepted, because their order is unknown, and because resent messages among them have already been delivered.

use super::Session;
use super::config::BeginString;
use super::logon::{Flaw, Terms};
use super::phase::{LoggedOn, PendingReply, Phase};
use super::sequence::Inbound;
use super::verdict::{Loss, Verdict};
use crate::outbox::Outbox;
use crate::{Message, Now, tag};

impl Session {
    /// Whether [`Session::reset`] can be carried out now. A reset is not possible while another exchange is open, or
    /// while a FIX 4.0 session is logged on, because FIX 4.0 has no ResetSeqNumFlag(141).
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

    /// Resets both sequence numbers to 1. While the session is logged on, a Logon with ResetSeqNumFlag(141) asks the
    /// peer to do the same. Every later Logon of ours, in either role, asks too, until the peer has confirmed the
    /// reset. Without a connection, only our side is reset. Does nothing when [`Session::can_reset`] is false.
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

    /// Whether, and why, a message would never be sent if it were written while the session has no connection. The
    /// sequence number of such a message is lost in a reset at the next Logon, or the message is gap-filled when the
    /// peer requests it.
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

    /// Whether our next Logon asks the peer to reset. FIX 4.0 has no field for this.
    pub(super) fn announces_reset(&self) -> bool {
        self.reset_open && self.config.begin_string > BeginString::Fix40
    }

    /// Records that our Logon with ResetSeqNumFlag(141) is written. The peer must confirm it within the logon
    /// timeout.
    fn await_confirmation(&mut self, now: Now) {
        let until = now.mono + self.config.logon_timeout;
        if let Phase::LoggedOn(up) = &mut self.phase {
            up.exchange = PendingReply::Reset { until };
        }
    }

    /// Accepts, as an acceptor, a Logon that shows nothing of our reset. The MsgSeqNum of this Logon may be any number.
    /// Our answer asks for the reset. Public engines in the role of initiator then reset, and log on again with
    /// MsgSeqNum 1. A peer that does not do so must answer a TestRequest with MsgSeqNum 1.
    pub(super) fn ask_in_answer(&mut self, now: Now, terms: &Terms, outbox: &mut Outbox) {
        let heart_bt_int_seconds = self.heart_bt_int(terms);
        self.write_logon(heart_bt_int_seconds, true, 1, terms.appl_ver_id, outbox);
        self.write_test_request(outbox);
        self.log_on(now, heart_bt_int_seconds, Inbound::Steady);
        self.peer_version = terms.appl_ver_id;
        self.await_confirmation(now);
    }

    /// Handles a message while our reset is open. The peer may confirm the reset by a Logon, or only by MsgSeqNum 1,
    /// because QuickFIX/Go as an initiator writes no second Logon. `None` when the message must be handled as usual.
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

    /// Records that the peer has reset: its next message has MsgSeqNum 1.
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

    /// Handles a Logon with ResetSeqNumFlag(141) = Y within a session, or the answer to our own. Both sequence
    /// numbers are reset.
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
            // This is the answer to our own Logon, which has reset what we send.
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
