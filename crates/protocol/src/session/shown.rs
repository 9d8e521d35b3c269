//! Selects the admin messages of the peer that the application receives.

use super::verdict::{DisconnectReason, Fate, Verdict};
use super::{Session, is_admin};
use crate::Message;

impl Session {
    /// Whether the application is shown this message, which was the last one received and gave this verdict. An admin
    /// message on which the session has acted is shown, and each only once. A message is not shown if it was
    /// rejected, waits above a gap, was received before, or does not come from the session's peer.
    #[must_use]
    pub fn shows(&self, message: &Message<'_>, verdict: Verdict) -> bool {
        let msg_type = message.msg_type();
        if !is_admin(msg_type) || self.fate() != Fate::Taken {
            return false;
        }
        match verdict {
            Verdict::LoggedOn | Verdict::Replay | Verdict::Rejected => true,
            Verdict::Handled => !self.overlooks(msg_type),
            // Either the Logout shows a gap that stays open, or the Reject is for our request to fill a gap.
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

    /// Whether messages of this type with old sequence numbers are ignored, because the peer has not confirmed our
    /// reset.
    fn overlooks(&self, msg_type: &[u8]) -> bool {
        self.reset_open && self.next_in() == 1 && !matches!(msg_type, b"5" | b"A")
    }
}
