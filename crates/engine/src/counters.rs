//! What an engine counts.

use fixwire_protocol::SessionId;

/// What happened in one session since the engine started.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Whole messages that came in.
    pub received: u64,
    /// Messages given to the application.
    pub delivered: u64,
    /// Messages written for the peer, resends included.
    pub sent: u64,
    /// Garbled messages that were ignored.
    pub garbled: u64,
    /// Connections that belonged to the session.
    pub connections: u64,
}

/// A session as it stands.
#[derive(Clone, Copy, Debug)]
pub struct SessionStatus<'a> {
    /// The session.
    pub id: SessionId,
    /// Its name.
    pub name: &'a str,
    /// It was removed; its numbers wait for its return.
    pub removed: bool,
    /// A connection belongs to it.
    pub connected: bool,
    /// Both Logons have been exchanged.
    pub logged_on: bool,
    /// MsgSeqNum that is expected next.
    pub next_in: u64,
    /// MsgSeqNum that is given out next.
    pub next_out: u64,
    /// Bytes of messages that wait in the journal for a slow peer or behind a resend.
    pub waiting_bytes: u64,
    /// What happened since the start.
    pub counters: Counters,
}
