//! A session's connection, from its first byte to its last.
//!
//! ```text
//!   LoggingOn ----> LoggedOn ----> Ended ----> Leaving       any of them may end at once
//!            Logons         over        the socket has not accepted the last messages
//! ```

use std::net::IpAddr;

use fixwire_protocol::Mono;

use crate::event::Ending;
use crate::host::ConnId;

/// A session's connection.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) conn: ConnId,
    /// Address of the peer, for an acceptor; `None` for an initiator.
    pub(crate) peer: Option<IpAddr>,
    pub(crate) stage: Stage,
}

/// The state of a connection.
#[derive(Clone, Copy)]
pub(crate) enum Stage {
    /// The Logons are not exchanged yet.
    LoggingOn,
    /// The Logons are exchanged, and the application was notified.
    LoggedOn,
    /// The session ended before this flush. Messages committed until then are still sent, the Logout last.
    Ended { before: u64 },
    /// The session has ended, and its last messages wait for the socket.
    Leaving { before: u64, left: Leaving },
}

/// A connection that will be closed once the socket has accepted everything.
#[derive(Clone, Copy)]
pub(crate) struct Leaving {
    pub(crate) why: Ending,
    /// Time at which the connection is closed even if messages are left.
    pub(crate) until: Mono,
}

impl Link {
    /// A connection on which no message was exchanged yet.
    pub(crate) fn new(conn: ConnId, peer: Option<IpAddr>) -> Self {
        Self {
            conn,
            peer,
            stage: Stage::LoggingOn,
        }
    }

    /// Whether the session was logged on over this connection.
    pub(crate) fn was_logged_on(&self) -> bool {
        !matches!(self.stage, Stage::LoggingOn)
    }

    /// The flush before which the session ended; `None` while it has not ended.
    pub(crate) fn ended_before(&self) -> Option<u64> {
        match self.stage {
            Stage::Ended { before } | Stage::Leaving { before, .. } => Some(before),
            Stage::LoggingOn | Stage::LoggedOn => None,
        }
    }

    /// Why and when the connection is closed, if its session has ended and its last messages wait for the socket.
    #[inline]
    pub(crate) fn leaving(&self) -> Option<Leaving> {
        match self.stage {
            Stage::Leaving { left, .. } => Some(left),
            _ => None,
        }
    }

    /// Records that the session has ended before this flush.
    pub(crate) fn end(&mut self, before: u64) {
        if let Stage::LoggedOn = self.stage {
            self.stage = Stage::Ended { before };
        }
    }

    /// Records that the last messages of an ended session wait for the socket.
    pub(crate) fn leave(&mut self, left: Leaving) {
        if let Stage::Ended { before } = self.stage {
            self.stage = Stage::Leaving { before, left };
        }
    }
}
