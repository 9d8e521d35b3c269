//! Why application messages are never sent.

use std::fmt;

use fixwire_protocol::session::Loss;

/// Why application messages of a session are never sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MessageLoss {
    /// Refused: the session is outside its schedule, and its sequence numbers will be reset at the start of the next
    /// trading session.
    OutOfSchedule,
    /// Refused: the engine is starting, and resets the sequence numbers of the session.
    Restart,
    /// Refused: a UserRequest(BE) before the logon could not be sent later, because the journal does not keep its
    /// password.
    UserRequest,
    /// Refused: the session is not logged on, and is configured to refuse messages until then.
    NotLoggedOn,
    /// Refused: the session has no connection. Its next Logon resets the sequence numbers; or, with
    /// [`Loss::GapFill`], the session resends nothing.
    Down(Loss),
    /// The messages had MsgSeqNums, and waited for a connection or for the socket of a slow peer, when the sequence
    /// numbers were reset.
    Reset,
    /// The messages had MsgSeqNums and waited for a connection, but the session resends nothing.
    NotResent,
}

impl MessageLoss {
    /// Whether the messages have got MsgSeqNums and are in the journal.
    #[must_use]
    pub fn is_numbered(self) -> bool {
        matches!(self, Self::Reset | Self::NotResent)
    }
}

impl fmt::Display for MessageLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfSchedule => {
                "the session is closed by its schedule: send them in the next trading session"
            }
            Self::Restart => {
                "the session was about to reset its sequence numbers: send them again"
            }
            Self::UserRequest => "a UserRequest is sent while logged on only: send it after the logon",
            Self::NotLoggedOn => {
                "the session is not logged on, and MessagesBeforeLogon=refuse: send them after the logon"
            }
            Self::Down(Loss::Reset) => {
                "the session is not connected, and the next Logon resets its sequence numbers: send them after the \
                 logon"
            }
            Self::Down(Loss::GapFill) => {
                "the session is not connected, and resends nothing (PersistMessages=N): send them after the logon"
            }
            Self::Reset => "the sequence numbers were reset: after the logon, send those that are \
                still wanted again",
            Self::NotResent => {
                "they waited for the logon, and nothing is resent (PersistMessages=N): send those \
                that are still wanted again"
            }
        })
    }
}
