//! Counters of an engine.

use std::fmt;

use fixwire_protocol::SessionId;

use crate::event::PeerText;

/// Counters of one session since the engine started.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Complete messages received.
    pub received: u64,
    /// Messages delivered to the application.
    pub delivered: u64,
    /// Messages written to the peer, including resent ones.
    pub sent: u64,
    /// Garbled messages that were ignored, and reads with bytes between messages that do not begin with `8=FIX`.
    pub garbled: u64,
    /// Connections that have belonged to the session.
    pub connections: u64,
}

/// The state of a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionStatus<'a> {
    /// The session.
    pub id: SessionId,
    /// Name of the session.
    pub name: &'a str,
    /// Connection state of the session.
    pub state: SessionState,
    /// Whether the session was removed; its sequence numbers are kept.
    pub removed: bool,
    /// Whether the session has a connection.
    pub connected: bool,
    /// Whether both Logons have been exchanged.
    pub logged_on: bool,
    /// Next expected MsgSeqNum.
    pub next_in: u64,
    /// Next MsgSeqNum to send.
    pub next_out: u64,
    /// Bytes of messages that wait in the journal, because the peer reads slowly or because a resend is running.
    pub waiting_bytes: u64,
    /// Text(58) of the last Logout from the peer since the start; empty if that Logout had no text.
    pub last_logout: Option<&'a PeerText>,
    /// Counters since the start.
    pub counters: Counters,
}

/// The state of a link, which carries frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinkStatus<'a> {
    /// The link.
    pub id: SessionId,
    /// Name of the link.
    pub name: &'a str,
    /// Whether the link is connected.
    pub connected: bool,
    /// Number of frames of the present (or last) connection that were delivered to the application.
    pub frames_in: u64,
    /// Number of frames of that connection that were written.
    pub frames_out: u64,
    /// Bytes of complete frames that wait in the journal, because the peer reads slowly or because of the rate limit.
    pub waiting_bytes: u64,
    /// Number of connections since the engine started.
    pub connections: u64,
}

/// The state of a link at the time of the request: an owned copy of a [`LinkStatus`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct LinkReport {
    /// The link.
    pub id: SessionId,
    /// Name of the link.
    pub name: String,
    /// Whether the link is connected.
    pub connected: bool,
    /// Number of frames of the present (or last) connection that were delivered to the application.
    pub frames_in: u64,
    /// Number of frames of that connection that were written.
    pub frames_out: u64,
    /// Bytes of complete frames that wait in the journal, because the peer reads slowly or because of the rate limit.
    pub waiting_bytes: u64,
    /// Number of connections since the engine started.
    pub connections: u64,
}

impl From<LinkStatus<'_>> for LinkReport {
    fn from(status: LinkStatus<'_>) -> Self {
        Self {
            id: status.id,
            name: status.name.to_owned(),
            connected: status.connected,
            frames_in: status.frames_in,
            frames_out: status.frames_out,
            waiting_bytes: status.waiting_bytes,
            connections: status.connections,
        }
    }
}

impl fmt::Display for LinkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.escape_debug();
        let state = if self.connected {
            "connected"
        } else {
            "disconnected"
        };
        let (frames_in, frames_out) = (self.frames_in, self.frames_out);
        write!(f, "{name} {state}, frames in {frames_in}, out {frames_out}")?;
        match self.waiting_bytes {
            0 => Ok(()),
            bytes => write!(f, ", {bytes} bytes waiting for the peer"),
        }
    }
}

/// The connection state of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SessionState {
    /// The session was removed; its sequence numbers stay in the journal.
    Removed,
    /// An operator has disabled logons.
    Disabled,
    /// The schedule of the session does not allow a logon now.
    Closed,
    /// Not connected.
    Disconnected,
    /// The session is an initiator that is connecting or about to connect.
    Connecting,
    /// The session has a connection, but the Logons are not exchanged yet.
    Connected,
    /// Both Logons have been exchanged.
    LoggedOn,
    /// We have sent a Logout and wait for the peer's Logout.
    LoggingOut,
}

impl fmt::Display for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Removed => "removed",
            Self::Disabled => "disabled by an operator",
            Self::Closed => "closed by the session schedule",
            Self::Disconnected => "disconnected",
            Self::Connecting => "connecting",
            Self::Connected => "connected, not logged on",
            Self::LoggedOn => "logged on",
            Self::LoggingOut => "logging out",
        })
    }
}

/// The state of a session at the time of the request: an owned copy of a [`SessionStatus`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SessionReport {
    /// The session.
    pub id: SessionId,
    /// Name of the session.
    pub name: String,
    /// Connection state of the session.
    pub state: SessionState,
    /// Next expected MsgSeqNum.
    pub next_in: u64,
    /// Next MsgSeqNum to send.
    pub next_out: u64,
    /// Bytes of messages that wait in the journal, because the peer reads slowly or because a resend is running.
    pub waiting_bytes: u64,
    /// Text(58) of the last Logout from the peer since the start; empty if that Logout had no text.
    pub last_logout: Option<PeerText>,
    /// Counters since the start.
    pub counters: Counters,
}

impl From<SessionStatus<'_>> for SessionReport {
    fn from(status: SessionStatus<'_>) -> Self {
        Self {
            id: status.id,
            name: status.name.to_owned(),
            state: status.state,
            next_in: status.next_in,
            next_out: status.next_out,
            waiting_bytes: status.waiting_bytes,
            last_logout: status.last_logout.cloned(),
            counters: status.counters,
        }
    }
}

impl fmt::Display for SessionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, state, next_in, next_out) = (
            self.name.escape_debug(),
            self.state,
            self.next_in,
            self.next_out,
        );
        write!(
            f,
            "{name} {state}, next MsgSeqNum in {next_in}, out {next_out}"
        )?;
        match self.waiting_bytes {
            0 => Ok(()),
            bytes => write!(f, ", {bytes} bytes waiting for the peer"),
        }
    }
}
