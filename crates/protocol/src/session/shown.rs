//! Selects the admin messages of the peer that the application receives.

use super::verdict::{DisconnectReason, Fate, Verdict};
use super::{Session, is_admin};
use crate::Message;

impl Session {
    /// Whether this message, which was received last and gave this verdict, is an admin message that the
    /// session has acted on: the application is shown it, once. Not one that was rejected, that waits above a
    /// gap or was received before, and nothing from anybody but the session's peer.
    #[must_use]
    pub fn shows(&self, message: &Message<'_>, verdict: Verdict) -> bool {
        let msg_type = message.msg_type();
        if !is_admin(msg_type) || self.fate() != Fate::Taken {
            return false;
        }
        match verdict {
            Verdict::LoggedOn | Verdict::Replay | Verdict::Rejected => true,
            Verdict::Handled => !self.overlooks(msg_type),
            // The Logout shows a gap that stays open, or the Reject is about our request to fill it.
            Verdict::Ended { reject_sent: false } => {
                matches!(msg_type, b"3" | b"5") && self.is_of_this_session(message)
            }
            Verdict::Disconnect(DisconnectReason::LoggedOut | DisconnectReason::RefusedByPeer) => {
                msg_type == b"5" && self.is_of_this_session(message)
            }
            Verdict::Disconnect(_)
            | Verdict::Ended { reject_sent: true }
            | Verdict::RejectSent
            | Verdict::Deliver
            | Verdict::Duplicate => false,
        }
    }

    /// Whether messages of this type with old sequence numbers are ignored, since the peer has not
    /// confirmed our reset.
    fn overlooks(&self, msg_type: &[u8]) -> bool {
        self.reset_open && self.next_in() == 1 && !matches!(msg_type, b"5" | b"A")
    }
}
