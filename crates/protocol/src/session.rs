//! The session: the session layer of FIX as a function of messages and time.
//!
//! ```text
//!               connected()                     Logon                      Logout
//!   Down ----------------------> AwaitingLogon -------> LoggedOn ----------------------> Down
//!    ^ \                         (acceptor)             |  ^   \                          ^
//!    |  \-- connected() -------> LogonSent ----- Logon -|--'    \-- peer at fault: Refusing
//!    |                           (initiator)            |                   |
//!    +---------------------------- disconnected() ------+-------------------+
//! ```
//!
//! The engine calls one method. Directly after the call, the engine passes every new entry of the outbox to
//! [`Session::seal`]. The engine then writes one journal record of the call with all these entries, and does what the
//! [`Verdict`] says. The session never sees a clock, a socket or the journal. Four values outlive a connection: the two
//! sequence numbers, the count of resets, and whether the peer still has to confirm the last reset. The four values are
//! [`Session::next_in_to_keep`], [`Session::next_out`] and [`Session::epoch`].

mod admin;
mod business_id;
mod check;
pub mod config;
mod garbled;
pub mod held;
pub mod identify;
pub mod liveness;
mod logon;
pub mod phase;
mod receive;
pub mod reject;
pub mod resend;
mod reset;
mod seal;
pub mod sequence;
mod shown;
pub mod verdict;

use alloc::format;
use alloc::vec::Vec;
use core::fmt::{self, Write};

pub use config::{ApplVerId, BeginString, Config, OnReject, Party, ResetOn, Role, SessionLimits};
pub use identify::{LogonIdentity, identify};
pub use logon::OtherHeartBtInt;
pub use phase::{LoggedOn, PendingReply, Phase};
pub use verdict::{DisconnectReason, Fate, Loss, Verdict};

use crate::dictionary::Scratch;
use crate::outbox::{HeaderTemplate, Outbox};
use crate::time::{LastMinute, TimestampWriter};
use crate::{Mono, Now, SessionId, Tag, tag};
use held::Held;
use liveness::{Due, Patience, Pulse};
use resend::Resend;
use sequence::{Inbound, Next};

/// Stored as `next_in` while the peer has not confirmed our reset. After a restart both sequence numbers are then 1,
/// and our Logon asks for the reset again.
pub const RESET_OPEN: u64 = 0;
/// Stored as `next_in` while the sequence numbers are about to be reset to 1 because the session has ended in a way
/// that requires it. After a restart they are then 1.
pub const RESET_DUE: u64 = u64::MAX;

fn has_other_ids(party: &Party) -> bool {
    !party.sub_id.is_empty() || !party.location_id.is_empty()
}

/// Hashes the text that is written to it, with FNV-1a.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        Ok(())
    }
}

/// Whether messages of this type belong to the session layer. Session layer messages are never resent.
#[must_use]
pub fn is_admin(msg_type: &[u8]) -> bool {
    matches!(msg_type, [b'0'..=b'5' | b'A'])
}

/// Whether messages of this type may be resent. Messages of the session layer may not, and neither may a
/// UserRequest(BE), because the journal has its secrets masked.
#[must_use]
pub fn is_resendable(msg_type: &[u8]) -> bool {
    !is_admin(msg_type) && msg_type != b"BE"
}

/// Whether a message was rejected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rejected {
    No,
    ByReject,
    /// The message was rejected by a BusinessMessageReject(j), or the outbox had no room for its Reject(3).
    Otherwise,
}

/// One FIX session with all its connections, one after the other.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    config: Config,
    header: HeaderTemplate,
    stamp: TimestampWriter,
    scratch: Scratch,
    /// Whether the session has SubIDs or LocationIDs.
    has_other_ids: bool,
    /// Reads SendingTime(52). This cache remembers the last minute that was read.
    times: LastMinute,
    phase: Phase,
    next_in: u64,
    next_out: u64,
    epoch: u64,
    held: Held,
    /// Whether the next message to receive comes from `held`.
    was_held: bool,
    /// A value that the engine stored with the message that came from `held`. The value is returned with this message.
    held_mark: u64,
    /// The outcome of the last message that was received.
    fate: Fate,
    resend: Resend,
    /// Whether Logons are refused because the session is outside its schedule.
    closed: bool,
    /// Whether an operator has disabled logons.
    disabled: bool,
    /// DefaultApplVerID(1137) in the peer's Logon.
    peer_version: Option<ApplVerId>,
    /// The HeartBtInt(108) in the peer's last Logon, if it differs from ours; `None` after it was taken.
    other_heart_bt_int: Option<OtherHeartBtInt>,
    /// Our next MsgSeqNum before and after the peer's Logout changed it; `None` after it was taken.
    moved_on: Option<(u64, u64)>,
    /// Whether the last message that was received while logged on was rejected.
    rejected: Rejected,
    /// Whether the sequence numbers are reset to 1 when the connection is closed.
    reset_due: bool,
    /// Whether we have reset the sequence numbers and the peer has not confirmed it. Until the peer confirms it, each
    /// of our Logons has ResetSeqNumFlag(141) = Y.
    reset_open: bool,
}

impl Session {
    /// A session without a connection that has never exchanged a message.
    #[must_use]
    pub fn new(id: SessionId, config: Config) -> Self {
        Self {
            id,
            header: header_of(&config),
            has_other_ids: has_other_ids(&config.own) || has_other_ids(&config.peer),
            stamp: TimestampWriter::new(),
            scratch: Scratch::default(),
            times: LastMinute::new(),
            phase: Phase::Down,
            next_in: 1,
            next_out: 1,
            epoch: 0,
            held: Held::new(config.limits.held_bytes, config.limits.held_messages),
            was_held: false,
            held_mark: 0,
            fate: Fate::Taken,
            resend: Resend::new(&config.limits),
            closed: false,
            disabled: false,
            peer_version: None,
            other_heart_bt_int: None,
            moved_on: None,
            rejected: Rejected::No,
            reset_due: false,
            reset_open: false,
            config,
        }
    }

    /// Restores the sequence numbers and the count of resets from the journal. `next_in` is the value that
    /// [`Session::next_in_to_keep`] gave. Call this before the first connection.
    pub fn restore(&mut self, next_out: u64, next_in: u64, epoch: u64) {
        self.next_out = next_out.max(1);
        self.next_in = next_in.max(1);
        self.epoch = epoch;
        self.reset_open = next_in == RESET_OPEN;
        // If nothing was sent since the reset, no MsgSeqNum is in use yet.
        if next_in == RESET_DUE || self.reset_open && self.next_out > 1 {
            self.reset_numbers();
        }
    }

    /// Sets whether Logons are allowed now. While they are not allowed, an acceptor answers a Logon with a Logout and
    /// closes the connection. A session that is logged on stays so until [`Session::log_out`]. A new session allows
    /// Logons.
    pub fn allow_logons(&mut self, allowed: bool) {
        self.closed = !allowed;
    }

    /// Sets whether an operator has disabled logons. The effect is that of [`Session::allow_logons`], but the Logout
    /// has another text.
    pub fn disable(&mut self, disabled: bool) {
        self.disabled = disabled;
    }

    /// Sets both sequence numbers, if there is no connection. If the new MsgSeqNum to send was used before, another
    /// epoch begins, and the journal no longer returns anything that was sent under it. A reset that the peer has not
    /// confirmed is given up. Returns whether the numbers were set.
    pub fn set_numbers(&mut self, next_in: u64, next_out: u64) -> bool {
        let may = self.phase == Phase::Down && next_in > 0 && next_out > 0;
        if may {
            self.epoch += u64::from(next_out < self.next_out);
            (self.next_in, self.next_out) = (next_in, next_out);
            (self.reset_open, self.reset_due) = (false, false);
        }
        may
    }

    /// Whether the session is logged on and no Logon or Logout is under way.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::LoggedOn(up) if up.exchange == PendingReply::Settled)
    }

    /// Writes a TestRequest, to find out whether the peer answers. Only a session that [is settled](Self::is_settled)
    /// sends one.
    pub fn test_peer(&mut self, outbox: &mut Outbox) {
        if self.is_settled() {
            self.write_test_request(outbox);
        }
    }

    /// Handles a connection that has been opened. An initiator writes its Logon, and an acceptor waits for the Logon
    /// of the peer.
    pub fn connected(&mut self, now: Now, outbox: &mut Outbox) -> Verdict {
        if self.phase != Phase::Down {
            return self.close(DisconnectReason::NotConnected);
        }
        let until = now.mono + self.config.logon_timeout;
        self.phase = match self.config.role {
            Role::Acceptor => Phase::AwaitingLogon { until },
            Role::Initiator => {
                self.reset_open |= self.config.reset_on.logon;
                if self.reset_open {
                    self.reset_numbers();
                }
                let next_expected = self.next_in;
                self.write_logon(
                    self.config.heart_bt_int_seconds,
                    self.announces_reset(),
                    next_expected,
                    None,
                    outbox,
                );
                Phase::LogonSent { until }
            }
        };
        Verdict::Handled
    }

    /// Does what is due at this time. [`Session::next_due`] gives the time.
    pub fn elapse(&mut self, now: Now, outbox: &mut Outbox) -> Verdict {
        let (at, now) = (now, now.mono);
        match self.phase {
            Phase::AwaitingLogon { until } | Phase::LogonSent { until } if now >= until => {
                self.close(DisconnectReason::LogonTimeout)
            }
            Phase::Refusing { until } if now >= until => {
                self.close(DisconnectReason::LogoutTimeout)
            }
            Phase::LoggedOn(LoggedOn { exchange, .. }) if now >= exchange.until() => {
                self.close(match exchange {
                    PendingReply::Logout { .. } => DisconnectReason::LogoutTimeout,
                    PendingReply::Reset { .. } | PendingReply::Settled => {
                        DisconnectReason::LogonTimeout
                    }
                })
            }
            Phase::LoggedOn(up) => {
                let verdict = self.elapse_gap(at, up, outbox);
                if verdict != Verdict::Handled {
                    return verdict;
                }
                self.beat(now, outbox)
            }
            _ => Verdict::Handled,
        }
    }

    /// Requests an open gap again if it has made no progress for too long.
    fn elapse_gap(&mut self, now: Now, up: LoggedOn, outbox: &mut Outbox) -> Verdict {
        if !self.watches_gap(up) {
            return Verdict::Handled;
        }
        let manner = self.config.manner();
        let (inbound, next) = up.inbound.elapse(now.mono, self.next_in, manner);
        self.phase = Phase::LoggedOn(LoggedOn { inbound, ..up });
        self.request_missing(now, next, outbox)
    }

    /// Writes our ResendRequest, or ends the session when the missing messages were requested often enough.
    fn request_missing(&mut self, now: Now, next: Next, outbox: &mut Outbox) -> Verdict {
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

    /// Whether a gap is open, and messages of the peer can still fill it.
    fn watches_gap(&self, up: LoggedOn) -> bool {
        up.inbound != Inbound::Steady && up.exchange == PendingReply::Settled && !self.reset_open
    }

    fn beat(&mut self, now: Mono, outbox: &mut Outbox) -> Verdict {
        let Phase::LoggedOn(up) = self.phase else {
            return Verdict::Handled;
        };
        let (pulse, due) = up.pulse.elapse(now);
        match due {
            Due::Nothing { .. } => return Verdict::Handled,
            Due::Disconnect => {
                if self.config.logout_before_give_up {
                    self.write_logout("No response to TestRequest", outbox);
                }
                return self.close(DisconnectReason::PeerSilent);
            }
            Due::Heartbeat => self.write_heartbeat(None, outbox),
            Due::TestRequest => self.write_test_request(outbox),
        }
        let pulse = pulse.sent(now);
        self.phase = Phase::LoggedOn(LoggedOn { pulse, ..up });
        Verdict::Handled
    }

    /// The time at which [`Session::elapse`] has something to do, if no other method is called before; `None` for
    /// never.
    #[must_use]
    pub fn next_due(&self) -> Option<Mono> {
        match self.phase {
            Phase::Down | Phase::Closing { .. } => None,
            Phase::AwaitingLogon { until }
            | Phase::LogonSent { until }
            | Phase::Refusing { until } => Some(until),
            Phase::LoggedOn(up) => {
                let LoggedOn {
                    pulse, exchange, ..
                } = up;
                let beat = match pulse.elapse(Mono(0)) {
                    (_, Due::Nothing { until }) => until,
                    _ => Mono(0),
                };
                let due = beat.min(exchange.until());
                let due = match self.watches_gap(up) {
                    true => due.min(self.gap_due(up)),
                    false => due,
                };
                Some(due).filter(|due| *due < Mono(u64::MAX))
            }
        }
    }

    /// The time at which an open gap must be checked.
    #[cold]
    fn gap_due(&self, up: LoggedOn) -> Mono {
        let due = up.inbound.next_due(self.next_in, self.config.manner());
        due.unwrap_or(Mono::NEVER)
    }

    /// Handles the end of the connection. The end may reset the sequence numbers to 1, see [`ResetOn`]; the caller must
    /// record such a reset in the journal.
    pub fn disconnected(&mut self, _now: Now) {
        self.held.clear();
        self.was_held = false;
        self.resend.clear();
        let ended = self.config.reset_on.disconnect && self.has_exchanged();
        // The peer's old sequence numbers do not matter any more.
        let unconfirmed = self.reset_open && self.next_in > 1;
        if ended || unconfirmed || self.reset_due {
            self.reset_numbers();
        }
        self.phase = Phase::Down;
    }

    /// Whether the peer knows that we were connected. If not, the end of the connection resets nothing, because
    /// messages may be waiting in the journal for the first Logon.
    fn has_exchanged(&self) -> bool {
        let was_up = match self.phase {
            Phase::LoggedOn(_) | Phase::Refusing { .. } => true,
            Phase::Closing { reason } => matches!(
                reason,
                DisconnectReason::LoggedOut
                    | DisconnectReason::LogoutTimeout
                    | DisconnectReason::PeerSilent
                    | DisconnectReason::PeerAtFault
            ),
            _ => false,
        };
        was_up || self.next_in > 1
    }

    /// Ends the session in good order: writes our Logout, and accepts messages until the peer's Logout arrives. If
    /// the Logons have not been exchanged, the connection is only closed.
    pub fn log_out(&mut self, now: Now, text: &str, outbox: &mut Outbox) -> Verdict {
        match self.phase {
            Phase::LoggedOn(up) if !matches!(up.exchange, PendingReply::Logout { .. }) => {
                self.write_logout(text, outbox);
                let until = now.mono + self.config.logout_timeout;
                let exchange = PendingReply::Logout { until };
                self.phase = Phase::LoggedOn(LoggedOn { exchange, ..up });
                Verdict::Handled
            }
            Phase::AwaitingLogon { .. } | Phase::LogonSent { .. } => {
                self.close(DisconnectReason::LoggedOut)
            }
            _ => Verdict::Handled,
        }
    }

    /// Takes the next message that was kept while a gap was open, when everything before it has arrived. Copies the
    /// message into `into`. Decode it and call [`Session::receive`], and repeat this until the result is false.
    pub fn take_held(&mut self, into: &mut Vec<u8>) -> bool {
        self.was_held = false;
        if self.held.is_empty() || !matches!(self.phase, Phase::LoggedOn(_)) {
            return false;
        }
        while let Some(mark) = self.held.take(self.next_in, into) {
            if !into.is_empty() {
                self.was_held = true;
                self.held_mark = mark;
                return true;
            }
            // This was a ResendRequest that was answered when it arrived. No message below it is missing.
            self.next_in += 1;
        }
        false
    }

    /// The outcome of the message of the last [`Session::receive`], for the log.
    #[must_use]
    pub fn fate(&self) -> Fate {
        self.fate
    }

    /// Stores `mark` with the kept message of this MsgSeqNum, for [`Session::held_mark`].
    pub fn mark_held(&mut self, number: u64, mark: u64) {
        self.held.mark(number, mark);
    }

    /// The mark of the last message that [`Session::take_held`] gave; 0 when it has no mark.
    #[must_use]
    pub fn held_mark(&self) -> u64 {
        self.held_mark
    }

    /// The HeartBtInt(108) in the peer's last Logon, if it differs from ours. The value is returned only once.
    pub fn take_other_heart_bt_int(&mut self) -> Option<OtherHeartBtInt> {
        self.other_heart_bt_int.take()
    }

    /// Our next MsgSeqNum before and after NextExpectedMsgSeqNum(789) of the peer's Logout changed it. It is returned
    /// only once.
    pub fn take_moved_on(&mut self) -> Option<(u64, u64)> {
        self.moved_on.take()
    }

    /// The phase of the session.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether both Logons have been exchanged, and the session has not ended by a Logout.
    #[must_use]
    pub fn is_logged_on(&self) -> bool {
        matches!(self.phase, Phase::LoggedOn(_))
    }

    /// The MsgSeqNum that we expect next.
    #[must_use]
    pub fn next_in(&self) -> u64 {
        self.next_in
    }

    /// The first and the last missing MsgSeqNum while a gap is open; `None` when no gap is open.
    #[must_use]
    pub fn gap(&self) -> Option<(u64, u64)> {
        match self.phase {
            Phase::LoggedOn(up) => up.inbound.last_missing().map(|last| (self.next_in, last)),
            _ => None,
        }
    }

    /// The value that the journal must store as `next_in`. The value is the expected MsgSeqNum, or during a reset that
    /// must survive the end of the process, [`RESET_OPEN`] or [`RESET_DUE`]. [`Session::restore`] then resets to 1.
    #[must_use]
    pub fn next_in_to_keep(&self) -> u64 {
        // If the reset at the end of a session was interrupted, an initiator asks for a reset, because the peer may
        // not have got its Logout.
        let asks = self.reset_open || self.reset_due && self.config.role == Role::Initiator;
        if asks {
            RESET_OPEN
        } else if self.reset_due {
            RESET_DUE
        } else {
            self.next_in
        }
    }

    /// The MsgSeqNum that we send next.
    #[must_use]
    pub fn next_out(&self) -> u64 {
        self.next_out
    }

    /// Number of times that the sequence numbers have been reset to 1.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The id of this session in the engine.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// The configuration of the session.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A number that changes whenever the state of the session changes. Two sessions with the same history have the
    /// same number. How the number is made may change from version to version.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
        let numbers = (
            self.next_in,
            self.next_out,
            self.epoch,
            self.was_held,
            self.reset_open,
        );
        // Writing to a hash cannot fail.
        let _ = write!(
            hash,
            "{:?}{numbers:?}{:?}{:?}",
            self.phase, self.held, self.resend
        );
        hash.0
    }

    /// Number of bytes that the headers of this session's messages need. Pass it to [`Outbox::new`].
    #[must_use]
    pub fn header_room(&self) -> usize {
        self.header.room()
    }

    fn close(&mut self, reason: DisconnectReason) -> Verdict {
        if reason == DisconnectReason::LoggedOut && self.config.reset_on.logout {
            self.reset_due = true;
        }
        self.phase = Phase::Closing { reason };
        Verdict::Disconnect(reason)
    }

    /// Handles Logons that were exchanged, at the start of a connection or at a reset within a session.
    fn log_on(&mut self, now: Now, heart_bt_int_seconds: u32, inbound: Inbound) {
        let patience = Patience::of(
            heart_bt_int_seconds,
            self.config.test_request_percent,
            self.config.give_up_percent,
        );
        let beats_on = self.config.heartbeat_while_probing;
        let patience = patience.map(|patience| patience.beating_on(beats_on));
        let patience = match self.config.check_heartbeats {
            true => patience,
            false => patience.map(Patience::without_end),
        };
        self.phase = Phase::LoggedOn(LoggedOn {
            pulse: Pulse::start(now.mono, patience),
            inbound,
            exchange: PendingReply::Settled,
        });
    }

    /// Sets the next expected MsgSeqNum. If one part of a gap is complete, requests the next part.
    fn advance(&mut self, next_in: u64, outbox: &mut Outbox) {
        self.next_in = next_in;
        let Phase::LoggedOn(up) = &mut self.phase else {
            return;
        };
        if up.inbound != Inbound::Steady && !self.reset_open {
            let manner = self.config.manner();
            let (mut inbound, mut next) = up.inbound.advanced(next_in, manner);
            if inbound.is_draining() && !self.held.has(next_in) {
                (inbound, next) = inbound.drained(next_in, manner);
            }
            up.inbound = inbound;
            if let Next::Ask(request) = next {
                self.write_resend_request(request, outbox);
            }
        }
    }

    /// Ends a session that cannot continue: sends a Logout. After that, only the peer's Logout is expected.
    fn refuse_session(&mut self, now: Now, text: &str, outbox: &mut Outbox) -> Verdict {
        let until = match self.phase {
            Phase::LoggedOn(LoggedOn {
                exchange: PendingReply::Logout { until },
                ..
            }) => until,
            _ if self.reset_open => {
                self.write_logout(text, outbox);
                return self.close(DisconnectReason::PeerAtFault);
            }
            _ => {
                self.write_logout(text, outbox);
                now.mono + self.config.logout_timeout
            }
        };
        self.phase = Phase::Refusing { until };
        self.fate = Fate::Taken;
        self.held.clear();
        self.resend.clear();
        let reject_sent = self.rejected == Rejected::ByReject;
        Verdict::Ended { reject_sent }
    }
}

fn header_of(config: &Config) -> HeaderTemplate {
    let mut more: Vec<(Tag, &[u8])> = Vec::new();
    for (tag, value) in [
        (tag::SENDER_SUB_ID, &config.own.sub_id),
        (tag::TARGET_SUB_ID, &config.peer.sub_id),
        (tag::SENDER_LOCATION_ID, &config.own.location_id),
        (tag::TARGET_LOCATION_ID, &config.peer.location_id),
    ] {
        if !value.is_empty() {
            more.push((tag, value));
        }
    }
    HeaderTemplate::new(
        config.begin_string.as_str().as_bytes(),
        &config.own.comp_id,
        &config.peer.comp_id,
        &more,
    )
}
