//! The progress of a resend.

use fixwire_protocol::{MsgSeqNumSource, Outbox, Session};

use crate::journal::Replay;

/// The stored messages that a resend is reading.
pub(crate) struct Resending {
    pub(crate) replay: Replay,
    /// The journal has no message before this MsgSeqNum.
    pub(crate) missing_to: u64,
}

/// The messages and gap fills sent so far in response to one ResendRequest.
#[derive(Clone, Copy)]
pub(crate) struct Resent {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The first MsgSeqNum that was not resent yet.
    pub(crate) next: u64,
    pub(crate) messages: u64,
    pub(crate) gap_fills: u64,
}

impl Resent {
    pub(crate) fn begin(session: &Session, first: u64) -> Self {
        Self {
            first,
            last: session.replay_end().unwrap_or(first),
            next: first,
            messages: 0,
            gap_fills: 0,
        }
    }

    /// Counts the outbox entries with index `from` and above.
    #[inline]
    pub(crate) fn count(&mut self, outbox: &Outbox, from: usize) {
        let resent = outbox.entries()[from..].iter();
        for entry in resent.filter(|entry| matches!(entry.number, MsgSeqNumSource::Fixed(_))) {
            match entry.msg_type() {
                b"4" => self.gap_fills += 1,
                _ => self.messages += 1,
            }
        }
    }
}
