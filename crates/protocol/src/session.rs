//! The session: the FIX session layer as a function of messages and time.
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
//! The engine calls one method, seals every new entry of the outbox through [`Session::seal`] right
//! after it, writes its journal record, and then does what the [`Verdict`] says. The session never
//! sees a clock, a socket or the journal. Its state that outlives a connection is two sequence numbers, the count
//! of resets, and whether the peer still has to confirm the last one: [`Session::next_in_to_keep`],
//! [`Session::next_out`], [`Session::epoch`].

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

/// Kept as `next_in` while the peer has not confirmed our reset: both sequence numbers are 1 after a
/// restart, and our Logon asks again.
pub const RESET_OPEN: u64 = 0;
/// Kept as `next_in` while the sequence numbers are about to be reset to 1, because the session has ended
/// that way: they are 1 after a restart.
pub const RESET_DUE: u64 = u64::MAX;

fn has_other_ids(party: &Party) -> bool {
    !party.sub_id.is_empty() || !party.location_id.is_empty()
}

/// Hashes text as it is written: FNV-1a.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        Ok(())
    }
}

/// Whether a message is one of the session layer: such messages are never resent.
#[must_use]
pub fn is_admin(msg_type: &[u8]) -> bool {
    matches!(msg_type, [b'0'..=b'5' | b'A'])
}

/// Whether a message may be resent: not a message of the session layer, and not a UserRequest(BE), whose secrets are
/// masked in the journal.
#[must_use]
pub fn is_resendable(msg_type: &[u8]) -> bool {
    !is_admin(msg_type) && msg_type != b"BE"
}

/// Whether a message was rejected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rejected {
    No,
    ByReject,
    /// The message was rejected by a BusinessMessageReject(j), or there was no room for its Reject(3).
    Otherwise,
}

/// One FIX session, across all its connections.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    config: Config,
    header: HeaderTemplate,
    stamp: TimestampWriter,
    scratch: Scratch,
    /// Whether the session has SubIDs or LocationIDs.
    has_other_ids: bool,
    /// Reads SendingTime(52), and keeps the last minute that was read.
    times: LastMinute,
    phase: Phase,
    next_in: u64,
    next_out: u64,
    epoch: u64,
    held: Held,
    /// Whether the next message to receive comes from `held`.
    was_held: bool,
    /// A value that the engine stored with that message, and that is returned with it.
    held_mark: u64,
    /// What happened to the message that was received last.
    fate: Fate,
    resend: Resend,
    /// Whether Logons are refused at this time.
    closed: bool,
    /// Whether an operator has disabled logons.
    disabled: bool,
    /// DefaultApplVerID(1137) of the peer's Logon.
    peer_version: Option<ApplVerId>,
    /// The HeartBtInt(108) of the peer's last Logon, if it differs from ours; `None` once it was taken.
    other_heart_bt_int: Option<OtherHeartBtInt>,
    /// Our next MsgSeqNum before and after the peer's Logout changed it; `None` once it was taken.
    moved_on: Option<(u64, u64)>,
    /// Whether the message that was received last while logged on was rejected.
    rejected: Rejected,
    /// Whether the sequence numbers are reset to 1 when the connection is closed.
    reset_due: bool,
    /// Whether we have reset the sequence numbers and the peer has not confirmed that. Until the peer confirms, each of
    /// our Logons has ResetSeqNumFlag(141) = Y.
    reset_open: bool,
}

impl Session {
    /// A session that has never exchanged a message, without a connection.
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

    /// The sequence numbers and the count of resets that the journal remembers, `next_in` as
    /// [`Session::next_in_to_keep`] gave it. Call it before the first connection.
    pub fn restore(&mut self, next_out: u64, next_in: u64, epoch: u64) {
        self.next_out = next_out.max(1);
        self.next_in = next_in.max(1);
        self.epoch = epoch;
        self.reset_open = next_in == RESET_OPEN;
        // No MsgSeqNum is used yet if nothing was sent since the reset.
        if next_in == RESET_DUE || self.reset_open && self.next_out > 1 {
            self.reset_numbers();
        }
    }

    /// Whether Logons are allowed now. While they are not, an acceptor answers one with a Logout and
    /// closes; a logged-on session stays so until [`Session::log_out`]. A new session allows Logons.
    pub fn allow_logons(&mut self, allowed: bool) {
        self.closed = !allowed;
    }

    /// Sets whether an operator has disabled logons. Works like [`Session::allow_logons`], but the Logout has another
    /// text.
    pub fn disable(&mut self, disabled: bool) {
        self.disabled = disabled;
    }

    /// Sets both sequence numbers; without a connection only. A MsgSeqNum to send that was used before begins
    /// another epoch: the journal serves nothing that was sent under it. A reset that the peer has not confirmed
    /// is over. Answers whether it was done.
    pub fn set_numbers(&mut self, next_in: u64, next_out: u64) -> bool {
        let may = self.phase == Phase::Down && next_in > 0 && next_out > 0;
        if may {
            self.epoch += u64::from(next_out < self.next_out);
            (self.next_in, self.next_out) = (next_in, next_out);
            (self.reset_open, self.reset_due) = (false, false);
        }
        may
    }

    /// Whether the session is logged on, with no Logon or Logout in progress.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::LoggedOn(up) if up.exchange == PendingReply::Settled)
    }

    /// Writes a TestRequest, to see whether the peer answers; only a session that
    /// [is settled](Self::is_settled) sends one.
    pub fn test_peer(&mut self, outbox: &mut Outbox) {
        if self.is_settled() {
            self.write_test_request(outbox);
        }
    }

    /// Handles an open connection: an initiator writes its Logon, an acceptor waits for the Logon of the peer.
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

    /// Does what is due at this time; see [`Session::next_due`].
    pub fn elapse(&mut self, now: Now, outbox: &mut Outbox) -> Verdict {
        let now = now.mono;
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
            Phase::LoggedOn(up) => self.beat(now, up, outbox),
            _ => Verdict::Handled,
        }
    }

    fn beat(&mut self, now: Mono, up: LoggedOn, outbox: &mut Outbox) -> Verdict {
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

    /// The time at which [`Session::elapse`] has something to do, unless another method is called before; `None` for
    /// never.
    #[must_use]
    pub fn next_due(&self) -> Option<Mono> {
        match self.phase {
            Phase::Down | Phase::Closing { .. } => None,
            Phase::AwaitingLogon { until }
            | Phase::LogonSent { until }
            | Phase::Refusing { until } => Some(until),
            Phase::LoggedOn(LoggedOn {
                pulse, exchange, ..
            }) => {
                let beat = match pulse.elapse(Mono(0)) {
                    (_, Due::Nothing { until }) => until,
                    _ => Mono(0),
                };
                Some(beat.min(exchange.until())).filter(|due| *due < Mono(u64::MAX))
            }
        }
    }

    /// The connection is closed. The sequence numbers may be reset to 1 here, see [`ResetOn`]; the journal has
    /// to learn of it.
    pub fn disconnected(&mut self, _now: Now) {
        self.held.clear();
        self.was_held = false;
        self.resend.clear();
        let ended = self.config.reset_on.disconnect && self.has_exchanged();
        // The peer's old sequence numbers no longer matter.
        let unconfirmed = self.reset_open && self.next_in > 1;
        if ended || unconfirmed || self.reset_due {
            self.reset_numbers();
        }
        self.phase = Phase::Down;
    }

    /// Whether the peer knows that we are connected. A connection that ends before that resets nothing:
    /// messages may wait in the journal for the first Logon.
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

    /// Ends the session in good order: our Logout, messages are still accepted until the peer's comes.
    /// Before the Logons are exchanged the connection is just closed.
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

    /// The next message that was kept while a gap was open, when everything before it has arrived.
    /// Copies it into `into`; decode it and call [`Session::receive`], until this is false.
    pub fn take_held(&mut self, into: &mut Vec<u8>) -> bool {
        self.was_held = false;
        if !matches!(self.phase, Phase::LoggedOn(_)) {
            return false;
        }
        while let Some(mark) = self.held.take(self.next_in, into) {
            if !into.is_empty() {
                self.was_held = true;
                self.held_mark = mark;
                return true;
            }
            // A ResendRequest that was served when it came. Nothing is missing below it.
            self.next_in += 1;
        }
        false
    }

    /// What the log says happened to the message of the last [`Session::receive`].
    #[must_use]
    pub fn fate(&self) -> Fate {
        self.fate
    }

    /// Stores `mark` with the queued message of this MsgSeqNum, for [`Session::held_mark`].
    pub fn mark_held(&mut self, number: u64, mark: u64) {
        self.held.mark(number, mark);
    }

    /// The mark of the message that [`Session::take_held`] gave last; 0 when it has none.
    #[must_use]
    pub fn held_mark(&self) -> u64 {
        self.held_mark
    }

    /// The HeartBtInt(108) of the peer's last Logon, if it differs from ours. Returned only once.
    pub fn take_other_heart_bt_int(&mut self) -> Option<OtherHeartBtInt> {
        self.other_heart_bt_int.take()
    }

    /// Our next MsgSeqNum before and after NextExpectedMsgSeqNum(789) of the peer's Logout changed it. Returned only
    /// once.
    pub fn take_moved_on(&mut self) -> Option<(u64, u64)> {
        self.moved_on.take()
    }

    /// The phase of the session.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether both Logons have been exchanged, and no Logout.
    #[must_use]
    pub fn is_logged_on(&self) -> bool {
        matches!(self.phase, Phase::LoggedOn(_))
    }

    /// The MsgSeqNum that we expect next.
    #[must_use]
    pub fn next_in(&self) -> u64 {
        self.next_in
    }

    /// The first and the last MsgSeqNum that are missing while a gap is open; `None` without a gap.
    #[must_use]
    pub fn gap(&self) -> Option<(u64, u64)> {
        match self.phase {
            Phase::LoggedOn(up) => up.inbound.last_missing().map(|last| (self.next_in, last)),
            _ => None,
        }
    }

    /// The value that the journal keeps as `next_in`: the same, or, during a reset that the end of the
    /// process must not undo, [`RESET_OPEN`] or [`RESET_DUE`]. [`Session::restore`] then resets to 1.
    #[must_use]
    pub fn next_in_to_keep(&self) -> u64 {
        // An initiator whose reset at the end was cut off asks for it: it may not know the peer's Logout.
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

    /// Number of times that the sequence numbers were reset to 1.
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

    /// A number that changes whenever the session's state does. Two sessions of one history have the
    /// same; what it is made of may change from version to version.
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
        // Writing into a number does not fail.
        let _ = write!(
            hash,
            "{:?}{numbers:?}{:?}{:?}",
            self.phase, self.held, self.resend
        );
        hash.0
    }

    /// Number of bytes that the header of the session's messages needs, for [`Outbox::new`].
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

    /// Handles exchanged Logons, at the start of a connection or at a reset within a session.
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

    /// Sets the next expected MsgSeqNum. If a part of a gap is complete, requests the next part.
    fn advance(&mut self, next_in: u64, outbox: &mut Outbox) {
        self.next_in = next_in;
        let Phase::LoggedOn(up) = &mut self.phase else {
            return;
        };
        if up.inbound != Inbound::Steady && !self.reset_open {
            let (inbound, next) = up.inbound.advanced(next_in, self.config.manner());
            up.inbound = inbound;
            if let Next::Ask(request) = next {
                self.write_resend_request(request, outbox);
            }
        }
    }

    /// Ends a session that cannot continue: sends a Logout, after which only the peer's Logout is awaited.
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
