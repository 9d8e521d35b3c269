//! Limits that one message of the peer can exceed.

use core::fmt;

/// A limit that a message of the peer exceeds, with its value. [`Display`](fmt::Display) makes the Text(58) of the
/// Reject: it names the setting, where there is one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MessageLimit {
    /// `MaxFields`: number of fields of a message.
    Fields(usize),
    /// `MaxGroupEntries`: number of entries of one repeating group.
    GroupEntries(u32),
    /// Number of bytes of a TestReqID(112), which a Heartbeat echoes.
    TestReqId(usize),
    /// HeartBtInt(108), in seconds.
    HeartBtInt(u32),
    /// `MaxSimilarResendRequests`: number of ResendRequests with the same BeginSeqNo(7).
    SimilarResendRequests(u32),
    /// Number of ResendRequests that wait while a resend runs.
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
