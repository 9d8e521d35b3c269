//! Limits that a single message of the peer can exceed.

use core::fmt;

/// A limit that a message of the peer exceeds, with its value. [`Display`](fmt::Display) gives the Text(58) of the
/// Reject, which names the setting if there is a setting for the limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MessageLimit {
    /// `MaxFields`: maximum number of fields of a message.
    Fields(usize),
    /// `MaxGroupEntries`: maximum number of entries of one repeating group.
    GroupEntries(u32),
    /// Maximum number of bytes of a TestReqID(112), which a Heartbeat repeats.
    TestReqId(usize),
    /// HeartBtInt(108), in seconds.
    HeartBtInt(u32),
    /// `MaxSimilarResendRequests`: maximum number of ResendRequests with the same BeginSeqNo(7).
    SimilarResendRequests(u32),
    /// Maximum number of ResendRequests that wait while a resend runs.
    WaitingResendRequests(usize),
}

impl fmt::Display for MessageLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields(most) => write!(f, "More fields than MaxFields ({most})"),
            Self::GroupEntries(most) => {
                write!(f, "More group entries than MaxGroupEntries ({most})")
            }
            Self::TestReqId(bytes) => write!(f, "TestReqID longer than {bytes} bytes"),
            Self::HeartBtInt(seconds) => write!(f, "HeartBtInt longer than {seconds} seconds"),
            Self::SimilarResendRequests(most) => write!(
                f,
                "More ResendRequests from the same BeginSeqNo than MaxSimilarResendRequests ({most})"
            ),
            Self::WaitingResendRequests(most) => {
                write!(f, "More than {most} ResendRequests waiting")
            }
        }
    }
}
