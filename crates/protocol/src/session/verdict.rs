//! Verdicts: what the engine has to do after it has called the session.

use core::fmt;

use crate::Nanos;

/// Result of a call. The engine carries out the verdict after it has sealed and sent the messages that the session
/// has written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Verdict {
    /// Nothing more.
    Handled,
    /// The Logons have been exchanged. [`Session::replay_due`](crate::Session::replay_due) tells whether the peer has
    /// requested messages in its Logon.
    LoggedOn,
    /// The message was answered with a Reject.
    RejectSent,
    /// Give the message to the application.
    Deliver,
    /// Show the message to the application as a possible duplicate. The message is marked as one (PossDupFlag), and its
    /// MsgSeqNum was counted before. This only happens with
    /// [`Config::deliver_poss_dups`](super::Config::deliver_poss_dups).
    Duplicate,
    /// The peer has rejected one of our messages, with a Reject that is in sequence. Notify the application.
    Rejected,
    /// Pass stored messages to [`Session::replay`](crate::Session::replay), as
    /// [`Session::replay_due`](crate::Session::replay_due) asks for them.
    Replay,
    /// The session has ended: our Logout is written, and the connection stays open for the peer's Logout.
    Ended {
        /// Whether the message was answered with a Reject before the Logout.
        reject_sent: bool,
    },
    /// Write what is in the outbox, then close the connection and drop its unread bytes.
    /// [`Session::disconnected`](crate::Session::disconnected) must be called next.
    Disconnect(DisconnectReason),
}

/// The outcome of a message that arrived, for the log. Effects of the message are not part of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Fate {
    /// The session has acted on the message.
    #[default]
    Taken,
    /// The MsgSeqNum is above the expected one. The message is kept until the gap is filled.
    Queued {
        /// That MsgSeqNum.
        number: u64,
    },
    /// A message with the same MsgSeqNum was received before.
    Duplicate,
    /// The message had no effect, because the session is ending or there is no room to keep it.
    Ignored,
}

/// Why a message that waits for a Logon is never sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Loss {
    /// The sequence numbers are reset before the Logon or by it.
    Reset,
    /// Messages are not resent. The peer gets a gap fill.
    GapFill,
}

/// Why a connection ends, for the log and the counters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// No complete Logon arrived in time.
    LogonTimeout,
    /// The first message was not a Logon.
    NotALogon,
    /// The connection began with garbled bytes.
    GarbledLogon,
    /// BeginString, CompIDs, MsgSeqNum or SendingTime of the Logon do not fit the session.
    NotThisSession,
    /// SendingTime of the Logon differs too much from our clock.
    LogonSendingTime {
        /// Nanoseconds by which SendingTime is ahead of our clock. A negative number means that it is behind.
        ahead: i64,
        /// The largest difference that is allowed.
        most: Nanos,
    },
    /// The Logon has no SendingTime, or its SendingTime is not a valid time.
    LogonWithoutSendingTime,
    /// Username or Password is wrong.
    Credentials,
    /// A FIXT Logon has no DefaultApplVerID.
    NoDefaultApplVerId,
    /// We refused the Logon, and wrote a Logout with the reason.
    LogonRefused,
    /// The application refused the Logon, and a Logout with the reason was written.
    RefusedByApplication,
    /// The peer answered our Logon with a Logout.
    RefusedByPeer,
    /// Both sides have sent their Logout.
    LoggedOut,
    /// The peer did not answer our Logout in time.
    LogoutTimeout,
    /// The peer did not respond to our TestRequest.
    PeerSilent,
    /// The peer violated the protocol while it had not confirmed our reset. A Logout was written.
    PeerAtFault,
    /// A message arrived while this session had no connection.
    NotConnected,
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::LogonSendingTime { ahead, most } = self {
            let millis = ahead.unsigned_abs() / 1_000_000;
            let (seconds, millis) = (millis / 1000, millis % 1000);
            let side = if *ahead < 0 { "behind" } else { "ahead of" };
            return write!(
                f,
                "SendingTime of the Logon is {seconds}.{millis:03} s {side} our clock: \
                 set the clocks right, or raise MaxLatency ({} s)",
                most.0 / 1_000_000_000
            );
        }
        f.write_str(match self {
            Self::LogonTimeout => "no complete Logon within LogonTimeout",
            Self::NotALogon => "the first message was not a Logon",
            Self::GarbledLogon => "the first message was garbled",
            Self::NotThisSession => {
                "Logon does not match this session (BeginString, CompIDs or MsgSeqNum)"
            }
            Self::LogonSendingTime { .. } => "SendingTime of the Logon is too far from our clock",
            Self::LogonWithoutSendingTime => "SendingTime of the Logon is missing or invalid",
            Self::Credentials => "wrong Username or Password",
            Self::NoDefaultApplVerId => "the Logon has no DefaultApplVerID(1137)",
            Self::LogonRefused => "Logon refused",
            Self::RefusedByApplication => "Logon refused by the application",
            Self::RefusedByPeer => "Logon refused by the peer",
            Self::LoggedOut => "both sides have logged out",
            Self::LogoutTimeout => "no Logout from the peer within LogoutTimeout",
            Self::PeerSilent => "no response from the peer to our TestRequest",
            Self::PeerAtFault => "the peer violated the FIX session protocol",
            Self::NotConnected => "message for a session that is not connected",
        })
    }
}
