//! Events: what an engine reports to its operator. Their rate is limited.

mod ending;
mod loss;
mod peer_text;
mod refusal;
mod reject_details;
mod sentence;
mod sink;
mod system_error;

use std::net::SocketAddr;

use fixwire_protocol::frame::Garbled;
use fixwire_protocol::session::OtherHeartBtInt;
use fixwire_protocol::{AdminOutError, Nanos, SessionId, Timestamp};

use crate::descriptors::Shortage;
use crate::journal::{JournalTrouble, Torn};

pub use ending::Ending;
pub use loss::MessageLoss;
pub use peer_text::PeerText;
pub(crate) use refusal::wrong_certificate;
pub use refusal::{ConnectionRefusal, FailureLimit};
pub use reject_details::RejectDetails;
pub use sink::EventSink;
pub(crate) use sink::Events;
pub use system_error::SystemError;

/// An event for the operator. It consists of facts; [`Display`](std::fmt::Display) makes the sentence, without the
/// session's name.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The engine accepts connections here.
    Listening {
        /// The address; for port 0, with the port that the system has chosen.
        at: SocketAddr,
    },
    /// At this address, connections from other machines are accepted without TLS.
    Unprotected {
        /// The address.
        at: SocketAddr,
    },
    /// A dictionary file is missing, so the built-in dictionary of its version is used. Reported at every start.
    DictionaryMissing {
        /// Path of the file, as in the settings.
        file: String,
        /// The version: `FIX.4.2`.
        version: &'static str,
    },
    /// The configuration may need more files and sockets than the system allows.
    FewDescriptors(Shortage),
    /// A connection for this session is established; the Logons follow.
    Connected {
        /// The session.
        session: SessionId,
        /// The peer's address.
        peer: SocketAddr,
    },
    /// Options of a connection's socket could not be set. The connection works without them.
    OptionsNotSet {
        /// The session.
        session: SessionId,
        /// The system error.
        error: String,
    },
    /// An attempt to connect has failed.
    DialFailed {
        /// The session.
        session: SessionId,
        /// The host, as configured.
        host: String,
        /// Port of the host.
        port: u16,
        /// The system error.
        error: String,
        /// Time until the next attempt.
        again_in: Nanos,
    },
    /// Both Logons have been exchanged.
    LoggedOn {
        /// The session.
        session: SessionId,
    },
    /// The session is no longer logged on.
    LoggedOut {
        /// The session.
        session: SessionId,
    },
    /// The connection of a session has ended.
    Disconnected {
        /// The session.
        session: SessionId,
        /// The reason.
        why: Ending,
        /// Details: the Text(58) of the Logout that refused the Logon or the session, or the fields of a Logon that
        /// do not match the session.
        detail: PeerText,
    },
    /// An operator has executed an operation, see [`Handle::operate`](crate::Handle::operate).
    Operated {
        /// The session; `None` for a command to the application.
        session: Option<SessionId>,
        /// The operation, the operator and the reason, as recorded in the journal.
        what: String,
    },
    /// An operator's request was refused, see [`Handle::permit`](crate::Handle::permit).
    OperationRefused {
        /// The session; `None` for a command to the application or a query of it.
        session: Option<SessionId>,
        /// The request, the operator and the reason for the refusal.
        what: String,
    },
    /// The peer's Logout has arrived.
    LogoutReceived {
        /// The session.
        session: SessionId,
        /// Text(58) of the Logout.
        text: PeerText,
    },
    /// We have sent a Logout.
    LogoutSent {
        /// The session.
        session: SessionId,
        /// Text(58) of the Logout.
        text: PeerText,
    },
    /// The peer has rejected a message of ours, with a Reject(3) or BusinessMessageReject(j).
    RejectReceived {
        /// The session.
        session: SessionId,
        /// The fields of the reject.
        reject: Box<RejectDetails>,
    },
    /// We have rejected a message of the peer.
    RejectSent {
        /// The session.
        session: SessionId,
        /// The fields of the reject.
        reject: Box<RejectDetails>,
    },
    /// The application wrote a field into an admin message that only the session may set, or a field for which the
    /// message had no room.
    FieldRefused {
        /// The session.
        session: SessionId,
        /// MsgType(35) of the message.
        msg_type: char,
        /// The field and the reason.
        error: AdminOutError,
    },
    /// Messages of the peer are missing, and a ResendRequest(2) was sent for them.
    GapDetected {
        /// The session.
        session: SessionId,
        /// The MsgSeqNum that was expected.
        expected: u64,
        /// The MsgSeqNum that arrived instead; `None` when another ResendRequest is sent for the same gap.
        received: Option<u64>,
        /// BeginSeqNo(7) of the ResendRequest.
        begin: u64,
        /// EndSeqNo(16) of the ResendRequest.
        end: u64,
    },
    /// Messages of the peer are missing. NextExpectedMsgSeqNum(789) in our Logon tells the peer, which resends them
    /// without a ResendRequest.
    GapAnnounced {
        /// The session.
        session: SessionId,
        /// The first MsgSeqNum that is missing.
        first: u64,
        /// The last missing MsgSeqNum.
        last: u64,
    },
    /// The missing messages have arrived.
    GapFilled {
        /// The session.
        session: SessionId,
        /// The first MsgSeqNum that was missing.
        first: u64,
        /// The last missing MsgSeqNum.
        last: u64,
    },
    /// The gap was not filled before the connection ended or the sequence numbers were reset.
    GapNotFilled {
        /// The session.
        session: SessionId,
        /// The first MsgSeqNum that is still missing.
        first: u64,
        /// The last missing MsgSeqNum.
        last: u64,
    },
    /// The peer has sent a ResendRequest.
    ResendRequestReceived {
        /// The session.
        session: SessionId,
        /// BeginSeqNo(7) as sent.
        begin: PeerText,
        /// EndSeqNo(16) as sent.
        end: PeerText,
    },
    /// A resend is complete: every message of the range was resent, or is covered by a gap fill.
    ResendCompleted {
        /// The session.
        session: SessionId,
        /// The first MsgSeqNum of the range.
        first: u64,
        /// The last MsgSeqNum of the range.
        last: u64,
        /// Number of resent messages.
        messages: u64,
        /// Number of gap fills sent (SequenceReset(4) with GapFillFlag(123)=Y).
        gap_fills: u64,
    },
    /// A resend ended early, because the connection ended or the sequence numbers were reset.
    ResendCutShort {
        /// The session.
        session: SessionId,
        /// The first MsgSeqNum of the range.
        first: u64,
        /// The last MsgSeqNum of the range.
        last: u64,
        /// The first MsgSeqNum that was not resent.
        next: u64,
    },
    /// The peer has sent a SequenceReset(4) without gap fill, so another MsgSeqNum is expected now.
    SequenceResetReceived {
        /// The session.
        session: SessionId,
        /// The MsgSeqNum that was expected before.
        expected: u64,
        /// NewSeqNo(36).
        new: u64,
    },
    /// The session schedule allows logon from now on.
    SessionOpened {
        /// The session.
        session: SessionId,
    },
    /// The session schedule allows no logon from now on.
    SessionClosed {
        /// The session.
        session: SessionId,
        /// When the schedule allows logon again; `None` when it never does.
        opens: Option<Timestamp>,
    },
    /// The schedule of the session has reset the sequence numbers to 1.
    NumbersRestarted {
        /// The session.
        session: SessionId,
    },
    /// A Logon has reset the sequence numbers to 1.
    NumbersReset {
        /// The session.
        session: SessionId,
    },
    /// A connection was closed before it belonged to a session.
    Refused {
        /// The peer's address.
        from: SocketAddr,
        /// The reason.
        why: ConnectionRefusal,
        /// BeginString, CompIDs, SubIDs and LocationIDs in the connection's Logon, if there was one.
        logon: PeerText,
    },
    /// A link accepts one connection at a time; a second connection was closed.
    LinkRefused {
        /// The link.
        session: SessionId,
        /// Address of the closed connection's peer.
        from: SocketAddr,
        /// The reason.
        why: ConnectionRefusal,
    },
    /// The system cannot accept another connection.
    CannotAccept {
        /// The system error.
        error: SystemError,
    },
    /// A session was added while the engine runs.
    SessionAdded {
        /// The session.
        session: SessionId,
        /// Name of the session.
        name: String,
    },
    /// A session was removed; its sequence numbers stay in the journal.
    SessionRemoved {
        /// The session.
        session: SessionId,
    },
    /// Slow consumer: this number of bytes waits in the journal for the peer. Reported once, until the peer has
    /// caught up.
    SlowReader {
        /// The session.
        session: SessionId,
        /// Number of waiting bytes.
        bytes: u64,
    },
    /// Messages out of sequence, or resent messages, exceeded [`Limits::log_only_bytes_per_hour`](crate::Limits).
    /// They were received or sent as usual, but are missing in the log.
    NotLogged {
        /// The session.
        session: SessionId,
        /// Number of messages missing in the log since the last such event.
        messages: u64,
        /// The limit, bytes per hour.
        most: u32,
    },
    /// Garbled bytes were ignored, or rejected with `RejectGarbledMessage`.
    Garbled {
        /// The session.
        session: SessionId,
        /// The fault.
        why: Garbled,
        /// Whether the message was rejected and its MsgSeqNum counted.
        rejected: bool,
    },
    /// Messages from the application or from a command could not be sent. Four reasons are possible: the message is
    /// longer than `max_message` or too long for the outbox, its session is unknown, its frame has invalid framing, or its link has no connection.
    /// Messages that a session refuses are reported as [`Event::MessagesLost`].
    NotSent {
        /// Number of messages.
        messages: u64,
    },
    /// A reset of the sequence numbers was refused, because a Logon or Logout is in progress, or because the session
    /// is logged on in FIX 4.0.
    NotReset {
        /// The session.
        session: SessionId,
    },
    /// Application messages of a session will never be sent: they were refused, or they waited when the sequence
    /// numbers were reset. Many messages are reported in several events. Messages that waited when the process ended
    /// are not reported.
    MessagesLost {
        /// The session.
        session: SessionId,
        /// Number of messages.
        messages: u64,
        /// The reason.
        why: MessageLoss,
        /// Each message with MsgType and id, and with its MsgSeqNum if it has one:
        /// `MsgSeqNum 4 D 11=A1, MsgSeqNum 5 F 11=A2`.
        what: String,
    },
    /// HeartBtInt(108) in the peer's Logon differs from ours.
    HeartBtIntDiffers {
        /// The session.
        session: SessionId,
        /// The peer's interval and ours; ours is used.
        interval: OtherHeartBtInt,
    },
    /// NextExpectedMsgSeqNum(789) in the peer's Logout was above our next MsgSeqNum, so our next MsgSeqNum was set to
    /// that value.
    NumberMovedOn {
        /// The session.
        session: SessionId,
        /// Our previous next MsgSeqNum.
        was: u64,
        /// Our new next MsgSeqNum.
        next: u64,
    },
    /// The application panicked while it handled messages; these were rejected.
    Panicked {
        /// Number of messages.
        messages: u64,
    },
    /// The journal failed. Nothing more is sent, and the engine stops.
    JournalFailed {
        /// The journal's error.
        error: String,
    },
    /// The journal ended with an incomplete record, which was cut off when the journal was opened.
    JournalCut {
        /// The data that was cut off.
        cut: Torn,
    },
    /// The journal's files have a fault, but the journal still works.
    JournalTrouble {
        /// The fault.
        trouble: JournalTrouble,
    },
    /// A message or event log cannot be written. The log tries again, and then continues where it stopped.
    LogFailed {
        /// The fault.
        error: String,
    },
    /// Segments of the journal were removed before a message log had read them completely. Their messages are missing
    /// in the log.
    LogIncomplete {
        /// The log: `files` or `sql`.
        log: &'static str,
        /// Number of the first segment that was removed.
        first: u32,
        /// The last one.
        last: u32,
    },
    /// A message or event log that could not be written has resumed. Nothing is missing in it, except what
    /// [`Event::LogIncomplete`] reports.
    LogResumed {
        /// The log: `files` or `sql`.
        log: &'static str,
    },
    /// The files of message and event logs were reopened under the same names.
    LogReopened {
        /// The log: `files`.
        log: &'static str,
    },
    /// Events of one kind occurred more often than [`Limits::events_per_second`](crate::Limits) allows.
    Suppressed {
        /// The session of these events, if any.
        session: Option<SessionId>,
        /// The kind of the events, as text.
        kind: &'static str,
        /// Number of events that were not reported.
        events: u64,
    },
}

impl Event {
    /// The session of the event, if any.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Connected { session, .. }
            | Self::OptionsNotSet { session, .. }
            | Self::DialFailed { session, .. }
            | Self::LoggedOn { session }
            | Self::LoggedOut { session }
            | Self::Disconnected { session, .. }
            | Self::LogoutReceived { session, .. }
            | Self::LogoutSent { session, .. }
            | Self::RejectReceived { session, .. }
            | Self::RejectSent { session, .. }
            | Self::FieldRefused { session, .. }
            | Self::GapDetected { session, .. }
            | Self::GapAnnounced { session, .. }
            | Self::GapFilled { session, .. }
            | Self::GapNotFilled { session, .. }
            | Self::ResendRequestReceived { session, .. }
            | Self::ResendCompleted { session, .. }
            | Self::ResendCutShort { session, .. }
            | Self::SequenceResetReceived { session, .. }
            | Self::SessionOpened { session }
            | Self::SessionClosed { session, .. }
            | Self::NumbersRestarted { session }
            | Self::NumbersReset { session }
            | Self::Garbled { session, .. }
            | Self::NotReset { session }
            | Self::MessagesLost { session, .. }
            | Self::HeartBtIntDiffers { session, .. }
            | Self::NumberMovedOn { session, .. }
            | Self::SessionAdded { session, .. }
            | Self::SessionRemoved { session }
            | Self::LinkRefused { session, .. }
            | Self::NotLogged { session, .. }
            | Self::SlowReader { session, .. } => Some(*session),
            Self::Suppressed { session, .. }
            | Self::Operated { session, .. }
            | Self::OperationRefused { session, .. } => *session,
            _ => None,
        }
    }

    /// The kind of the event, as text. The rate limit counts events by kind and session.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Listening { .. } => "listening",
            Self::Unprotected { .. } => "listening without TLS",
            Self::DictionaryMissing { .. } => "dictionary missing",
            Self::FewDescriptors(_) => "few descriptors",
            Self::NotLogged { .. } => "messages not logged",
            Self::Connected { .. } => "connected",
            Self::OptionsNotSet { .. } => "socket options not set",
            Self::DialFailed { .. } => "cannot connect",
            Self::LoggedOn { .. } => "logged on",
            Self::LoggedOut { .. } => "logged out",
            Self::Disconnected { .. } => "disconnected",
            Self::Operated { .. } => "operator",
            Self::OperationRefused { .. } => "operation refused",
            Self::LogoutReceived { .. } => "received Logout",
            Self::LogoutSent { .. } => "sent Logout",
            Self::RejectReceived { .. } => "received Reject",
            Self::RejectSent { .. } => "sent Reject",
            Self::FieldRefused { .. } => "field of the application refused",
            Self::GapDetected { .. } | Self::GapAnnounced { .. } => "gap",
            Self::GapFilled { .. } => "gap filled",
            Self::GapNotFilled { .. } => "gap not filled",
            Self::ResendRequestReceived { .. } => "received ResendRequest",
            Self::ResendCompleted { .. } => "resend complete",
            Self::ResendCutShort { .. } => "resend not complete",
            Self::SequenceResetReceived { .. } => "received SequenceReset",
            Self::SessionOpened { .. } => "open",
            Self::SessionClosed { .. } => "closed",
            Self::NumbersRestarted { .. } | Self::NumbersReset { .. } => "sequence numbers reset",
            Self::Refused { why, .. } | Self::LinkRefused { why, .. } => why.kind(),
            Self::CannotAccept { .. } => "cannot accept connections",
            Self::SessionAdded { .. } => "session added",
            Self::SessionRemoved { .. } => "session removed",
            Self::SlowReader { .. } => "slow peer",
            Self::Garbled { .. } => "garbled message",
            Self::NotSent { .. } => "messages dropped",
            Self::NotReset { .. } => "sequence numbers not reset",
            Self::MessagesLost { .. } => "messages not sent",
            Self::HeartBtIntDiffers { .. } => "other HeartBtInt",
            Self::NumberMovedOn { .. } => "next MsgSeqNum set by a Logout",
            Self::Panicked { .. } => "the application panicked",
            Self::JournalFailed { .. } => "journal failed",
            Self::JournalCut { .. } => "journal cut",
            Self::JournalTrouble { .. } => "journal trouble",
            Self::LogFailed { .. } => "log not written",
            Self::LogIncomplete { .. } => "log incomplete",
            Self::LogResumed { .. } => "log resumed",
            Self::LogReopened { .. } => "log reopened",
            Self::Suppressed { .. } => "events not shown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T16: whatever a text of an event contains, it is shown as one line of printable characters.
    #[test]
    fn t16_an_event_is_one_line_whatever_a_name_holds() {
        let odd = [
            '\u{202e}', '\u{2066}', '\u{85}', '\u{2028}', '\u{feff}', '\u{1b}',
        ];
        for c in (0..=255).map(char::from).chain(odd) {
            let name = format!("a{c}b");
            let session = SessionId(0);
            let text = Event::SessionAdded { session, name }.to_string();
            let visible =
                |c: char| c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic() || c > '\u{a0}';
            assert!(text.chars().all(visible), "{text:?}");
            assert!(!odd.iter().any(|odd| text.contains(*odd)), "{text:?}");
        }
    }
}
