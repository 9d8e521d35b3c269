//! Verdicts: what the engine has to do after a call of the session.

use core::fmt;

use crate::Nanos;

/// Result of a call, and what the engine has to do after it has sealed and sent what the session wrote.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Verdict {
    /// Nothing more.
    Handled,
    /// The Logons are exchanged. [`Session::replay_due`](crate::Session::replay_due) says whether the peer
    /// has asked in its Logon for something to be resent.
    LoggedOn,
    /// The message was answered with a Reject.
    RejectSent,
    /// Give the message to the application.
    Deliver,
    /// Show the message to the application as a possible duplicate: it is marked so
    /// (PossDupFlag), its MsgSeqNum was counted long ago. Only with
    /// [`Config::deliver_poss_dups`](super::Config::deliver_poss_dups).
    Duplicate,
    /// The peer rejects, in sequence, a message of ours: notify the application.
    Rejected,
    /// Feed stored messages to [`Session::replay`](crate::Session::replay), as
    /// [`Session::replay_due`](crate::Session::replay_due) asks for them.
    Replay,
    /// The session is over: our Logout is written, and the connection stays for the peer's.
    Ended {
        /// Before the Logout the message was answered with a Reject.
        reject_sent: bool,
    },
    /// Write the contents of the outbox, then close the connection and drop its
    /// unread bytes. [`Session::disconnected`](crate::Session::disconnected) comes next.
    Disconnect(DisconnectReason),
}

/// How the log shows a message that arrived, beside its effects.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Fate {
    /// The session acted on it.
    #[default]
    Taken,
    /// The MsgSeqNum is above the expected one: the message is queued until the gap is filled.
    Queued {
        /// That MsgSeqNum.
        number: u64,
    },
    /// A message with its MsgSeqNum was received before.
    Duplicate,
    /// Nothing came of it: the session is being ended, or the queue has no room for it.
    Ignored,
}

/// Why a message that waits for a Logon is never sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Loss {
    /// The sequence numbers are reset before or at the Logon.
    Reset,
    /// Messages are not resent: the peer gets a gap fill.
    GapFill,
}

/// Why a connection ends. For the log and the counters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// No complete Logon in time.
    LogonTimeout,
    /// The first message was not a Logon.
    NotALogon,
    /// The first bytes were garbled.
    GarbledLogon,
    /// The Logon's BeginString, CompIDs, MsgSeqNum or SendingTime do not match the session.
    NotThisSession,
    /// SendingTime of the Logon is too far from our clock.
    LogonSendingTime {
        /// Nanoseconds ahead of our clock; less than 0: behind our clock.
        ahead: i64,
        /// The greatest allowed difference.
        most: Nanos,
    },
    /// SendingTime of the Logon is missing, or not a valid time.
    LogonWithoutSendingTime,
    /// Username or Password are wrong.
    Credentials,
    /// A FIXT Logon without DefaultApplVerID.
    NoDefaultApplVerId,
    /// We refused the Logon; a Logout with the reason was written.
    LogonRefused,
    /// The application refused the Logon; a Logout with the reason was written.
    RefusedByApplication,
    /// The peer answered our Logon with a Logout.
    RefusedByPeer,
    /// Both sides have sent their Logout.
    LoggedOut,
    /// The peer did not answer our Logout in time.
    LogoutTimeout,
    /// The peer did not respond to our TestRequest.
    PeerSilent,
    /// The peer violated the protocol while our reset was not confirmed; a Logout was written.
    PeerAtFault,
    /// A message came while no connection was open for this session.
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
