//! The [`Application`] trait: the methods that a user of the engine implements.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::session::Config;
use crate::{
    AdminOut, Hangup, Ledger, Message, Now, OperatorRight, Outbox, Permission, SessionId, Tag,
    Timestamp, tag,
};

/// A program that uses the sessions. All methods run on the engine's thread. The methods may write messages for any
/// session into the outbox. Each message gets its MsgSeqNum and header when the method returns. [`Outbox::log_out`]
/// logs a session out. `docs/guide/applications.md` explains which methods are called again after a crash, and how an
/// application stays exact in spite of this.
///
/// An application that wraps another one forwards every method. [`forward_application!`](crate::forward_application)
/// forwards the methods that the application does not handle itself. Put `#[deny(clippy::missing_trait_methods)]` on
/// the `impl`, so that no method is forgotten.
///
/// ```
/// use fixwire_protocol::{Application, Message, Now, Outbox, Refusal, SessionId, tag};
///
/// /// Accepts orders, and nothing else.
/// struct Broker;
///
/// impl Application for Broker {
///     fn on_message(
///         &mut self,
///         _now: Now,
///         from: SessionId,
///         order: &Message<'_>,
///         outbox: &mut Outbox,
///     ) -> Result<(), Refusal> {
///         if order.msg_type() != b"D" {
///             return Err(Refusal::UnsupportedMessageType);
///         }
///         let id = order.get(tag::CL_ORD_ID);
///         let id = id.ok_or(Refusal::ConditionallyRequiredFieldMissing(tag::CL_ORD_ID))?;
///         let mut report = outbox.begin(from, b"8");
///         report.field(tag::CL_ORD_ID, id).char(tag::ORD_STATUS, b'0');
///         report.finish().map_err(|_| Refusal::NotAvailable)
///     }
/// }
/// ```
pub trait Application {
    /// Handles an application message that arrived in sequence. Messages and notes written here are committed in one
    /// journal record, together with the message that caused them.
    ///
    /// # Errors
    ///
    /// A [`Refusal`]. The session answers with the Reject(3) or BusinessMessageReject(j) that the refusal names.
    /// Messages that were already written are still sent.
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal>;

    /// Handles a frame of a [link](SessionId::of_link). The frame is complete, with its length field and its
    /// checksum, and the checksum is correct. Frames and notes that are written here are committed in one journal
    /// record together with the frame, as with [`on_message`](Self::on_message). If [`Outbox::mask_inbound`] is
    /// called, the record has the frame with these secrets masked.
    ///
    /// # Errors
    ///
    /// A [`Hangup`], which ends the connection. Frames written before it are kept, and are still sent if the socket
    /// accepts them. Later frames of the connection are not given to the application.
    fn on_frame(
        &mut self,
        _now: Now,
        _from: SessionId,
        _frame: &[u8],
        _outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        Err(Hangup("the application does not handle frames"))
    }

    /// Handles a [link](SessionId::of_link) that was connected or disconnected, as [`Link`] says. Frames for a link
    /// that is not connected are not sent, and an event counts them. When the process is killed, this method is not
    /// called. In this case only the peer knows which frames it has received, and the application has only its notes.
    fn on_link(&mut self, _now: Now, _session: SessionId, _link: Link, _outbox: &mut Outbox) {}

    /// Handles a possible duplicate: an application message with PossDupFlag(43) whose MsgSeqNum was received and
    /// counted before. This method is called only if the session is configured for it
    /// ([`Config::deliver_poss_dups`](crate::session::Config::deliver_poss_dups)). An application that treats a
    /// duplicate as a new message does everything twice.
    fn on_poss_dup(
        &mut self,
        _now: Now,
        _from: SessionId,
        _message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Lets the application change an admin message (MsgType 0 to 5 or A) before it is sent; `message` already has
    /// its MsgSeqNum and SendingTime. Here an application can sign a Logon, or add fields that a peer requires. This
    /// method is called for every Logon, Heartbeat, Logout and gap fill, but not for a Reject that is resent. A
    /// change of a field that must not be changed is refused, and an event reports it.
    fn on_admin_out(&mut self, _now: Now, _session: SessionId, _message: &mut AdminOut<'_>) {}

    /// Shows an admin message that has arrived and that the session has acted on. Each admin message is shown once: a
    /// message above a gap when the gap is filled up to it, and a Logon after it has passed every check. The call
    /// comes before the calls for the effects of the message, such as [`on_logon`](Self::on_logon) and
    /// [`on_reject`](Self::on_reject). If the session has rejected the message,
    /// [`on_reject_sent`](Self::on_reject_sent) is called instead. A Logout that answers our Logon is shown too.
    fn on_admin(
        &mut self,
        _now: Now,
        _session: SessionId,
        _message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Reports that the peer has rejected one of our messages with a Reject(3). `refused` is the message that
    /// RefSeqNum(45) names, as it was sent; read it with a [`Decoder`](crate::Decoder). `refused` is `None` in two
    /// cases: no message with this MsgSeqNum is stored, or an earlier Reject named the same MsgSeqNum or one that is
    /// higher by 64 or more. `refused` may be a message that the session itself has written, such as a ResendRequest.
    fn on_reject(
        &mut self,
        _now: Now,
        _session: SessionId,
        _reject: &Message<'_>,
        _refused: Option<&[u8]>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Handles a BusinessMessageReject(j) of the peer, which comes here instead of to
    /// [`on_message`](Self::on_message). Unless the application implements this method, it calls `on_message`.
    /// `refused` is the message that RefSeqNum(45) names, as it was sent; `None` when no message with this MsgSeqNum
    /// is stored. BusinessRejectRefID(379) is optional, and many engines never send it.
    ///
    /// # Errors
    ///
    /// As for [`on_message`](Self::on_message).
    fn on_business_reject(
        &mut self,
        now: Now,
        from: SessionId,
        reject: &Message<'_>,
        _refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.on_message(now, from, reject, outbox)
    }

    /// Reports that the session has rejected a message of its peer with a Reject(3), so that the application does not
    /// receive this message. The peer is logged on, and the Reject is already written. This method is not called for
    /// garbled messages.
    fn on_reject_sent(
        &mut self,
        _now: Now,
        _session: SessionId,
        _message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Whether a stored application message is resent when the peer requests it. If not, a gap fill takes its place.
    /// `stored` is the message as it was first sent; read it with a [`Decoder`](crate::Decoder). This method is called
    /// for each message that the session's settings allow to be resent. The method is called again for a message for
    /// which the outbox had no room.
    fn on_resend(&mut self, _now: Now, _session: SessionId, _stored: &[u8]) -> bool {
        true
    }

    /// Reads a note that [`Outbox::note`] has kept, and the time at which it was kept. At the start this is called
    /// for each note in the journal, in order, before any other call. An application that keeps a note of each change
    /// of its state can rebuild this state here.
    fn on_note(&mut self, _at: Timestamp, _note: &[u8]) {}

    /// An empty [`Ledger`] with the limits of this application, if the application's state follows from its notes.
    /// While the engine runs, it folds the notes into checkpoints on another thread. Notes that a checkpoint covers may
    /// then be removed from the journal. With `None` the journal keeps all notes.
    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        None
    }

    /// Restores the state that a [`Ledger`] of this application wrote, in this version. The call comes at the start,
    /// before any note. [`on_note`](Self::on_note) is then called for the later notes, unless the journal turns out
    /// to be damaged.
    ///
    /// # Errors
    ///
    /// The fault, as a sentence. After an error the previous checkpoint is tried on the same application, so an error
    /// must leave the state unchanged.
    fn on_checkpoint(&mut self, _version: u32, _state: &[u8]) -> Result<(), String> {
        Err("the application does not support checkpoints".into())
    }

    /// The [`Ledger::hash`] of the application's state. When the engine stops in good order, it records this hash in
    /// the journal. The ledger that is built from the notes must have the same hash.
    fn state_hash(&self) -> Option<u64> {
        None
    }

    /// Decides whether a peer may log on. The session would accept its Logon: CompIDs, sequence numbers, times and the
    /// configured password are right. This method is called once for each Logon. An application can look the user up
    /// here.
    ///
    /// # Errors
    ///
    /// The text of a Logout that refuses the Logon. The connection ends after it. The refusal counts like a wrong
    /// password.
    fn on_logon_request(
        &mut self,
        _now: Now,
        _session: SessionId,
        _logon: &Message<'_>,
    ) -> Result<(), String> {
        Ok(())
    }

    /// Handles the logon of a session: both Logons have been exchanged. `logon` is the Logon of the peer.
    fn on_logon(
        &mut self,
        _now: Now,
        _session: SessionId,
        _logon: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Handles the logoff of a session. The connection may already be closed. `logout` is the Logout of the peer, if
    /// the peer has sent one.
    fn on_logout(&mut self, _now: Now, _session: SessionId, _logout: PeerLogout<'_>) {}

    /// Reports that a session that was logged on has lost its connection, with or without Logouts. An application can
    /// cancel the orders of the session here. The application may write messages for other sessions. A message for this
    /// session is kept for the session's next logon. The call comes after [`Application::on_logout`], with the same
    /// `logout`.
    fn on_disconnect(
        &mut self,
        _now: Now,
        _session: SessionId,
        _parting: Parting,
        _logout: PeerLogout<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Reports that a session's sequence numbers were reset to 1, or that an operator has set the next MsgSeqNum to a
    /// number that was used before. Messages that were written for the session while it had no connection, and that
    /// were never sent, are void. Messages that are written here are in the record of the reset. If a Logon is the
    /// cause, the call comes before [`Application::on_logon`]. If the process ended in the middle of a reset, the
    /// call comes at the next start. A message that is written then for a session whose own reset follows is not
    /// sent, and an event counts it.
    fn on_reset(&mut self, _now: Now, _session: SessionId, _outbox: &mut Outbox) {}

    /// Reports that a trading session of the schedule has begun or ended. While no trading session is open, no
    /// message is kept for the FIX session, because its sequence numbers will be reset. Every FIX session counts as
    /// open until this method is called.
    fn on_hours(&mut self, _now: Now, _session: SessionId, _open: bool) {}

    /// Reports that the disk of the journal is full and the journal uses its reserve, or that the disk has room again.
    /// After a start the disk counts as having room until this method is called; a call for a full disk comes before
    /// the first message. While the journal uses its reserve, an application should refuse new orders and other
    /// messages that can be left out. The reserve then lasts for cancels and for other messages that reduce risk. When
    /// the reserve is used up, the engine stops.
    fn on_disk(&mut self, _now: Now, _room: DiskRoom) {}

    /// Decides about a Logon for which a template forms the session, before the session exists and before anything is
    /// written; the password was verified. `name` and `config` are those of the session, which may also exist already.
    ///
    /// # Errors
    ///
    /// The reason why there is no session for the Logon. The connection is closed without an answer, and an event has
    /// the text.
    fn on_session_request(
        &mut self,
        _now: Now,
        _name: &str,
        _config: &Config,
    ) -> Result<(), &'static str> {
        Ok(())
    }

    /// Handles a session that was added while the engine runs, or that was restored under its name. The id of a new
    /// session follows the ids that exist. At a start the call comes after the last [`Application::on_note`], for each
    /// session of earlier runs that the engine restores from a template.
    fn on_session_added(&mut self, _now: Now, _session: SessionId, _name: &str, _config: &Config) {}

    /// Handles a command that only the application knows. The command comes from an operator or another thread
    /// (`Handle::command` of the engine). The application writes its reply into `answer`. The journal gets a note of
    /// the command before the messages that are written here. The note and the messages are committed before the caller
    /// gets the reply. A caller that gets no reply asks again, so a command may come once more after it was carried
    /// out.
    ///
    /// # Errors
    ///
    /// Why the command is not carried out, as a sentence.
    fn on_command(
        &mut self,
        _now: Now,
        _command: OperatorCommand<'_>,
        _answer: &mut Vec<u8>,
        _outbox: &mut Outbox,
    ) -> Result<(), String> {
        Err("the application does not support commands".into())
    }

    /// Answers a query that only the application knows. A query is like a command, but changes nothing, and no note
    /// of it is kept.
    ///
    /// # Errors
    ///
    /// Why there is no answer, as a sentence.
    fn on_query(&self, _now: Now, _query: &[u8], _answer: &mut Vec<u8>) -> Result<(), String> {
        Err("the application does not support queries".into())
    }

    /// The right that an operator at the control socket needs for this command; `None` if the application does not have
    /// the command.
    fn command_right(&self, _command: &[u8]) -> Option<OperatorRight> {
        Some(OperatorRight::Command)
    }

    /// The right that an operator at the control socket needs for this query; `None` if the application does not have
    /// the query.
    fn query_right(&self, _query: &[u8]) -> Option<OperatorRight> {
        Some(OperatorRight::Read)
    }

    /// Whether the application's own settings give a user, such as `ann (uid 1000)`, a right. If the application's
    /// settings name no operators, the operators of the engine's configuration count.
    fn permission(&self, _who: &str, _right: OperatorRight) -> Permission {
        Permission::Open
    }

    /// The role of the session, such as `a target of the gateway's rules`, if only the application may write its
    /// messages of this MsgType(35). An operator may not send such a message, because the application would have no
    /// record of it. With `None`, an operator who has the right may send it.
    fn owns(&self, _session: SessionId, _msg_type: &[u8]) -> Option<&'static str> {
        None
    }

    /// Whether the application can continue after a panic in [`on_message`](Self::on_message). If a session is
    /// configured to continue, the engine discards everything that was written for the message, notes included. An
    /// application whose state would then be ahead of its notes must return `false`; the engine then refuses that
    /// setting.
    fn survives_panics(&self) -> bool {
        true
    }

    /// Does work that depends on time. The engine calls this in every turn in which something has happened, and at the
    /// time that the last call returned. Returns the next time at which the engine must call this method; `None` for
    /// never.
    fn on_time(&mut self, _now: Now, _outbox: &mut Outbox) -> Option<crate::Mono> {
        None
    }
}

/// A command for an application, and who gave it.
#[derive(Clone, Copy, Debug)]
pub struct OperatorCommand<'a> {
    /// The bytes of the command.
    pub bytes: &'a [u8],
    /// The author of the command: a user of the system, or a program.
    pub who: &'a str,
    /// The reason for the command; may be empty.
    pub why: &'a str,
}

/// A change of a link's connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Link {
    /// The link is connected. The first frame that is written from now on has number 1, the next frame number 2, and
    /// so on.
    Up,
    /// The connection has ended. The engine does not send frames that were written to it on a later connection.
    Down {
        /// The number of the last frame of this connection that the system has accepted completely; 0 when there was no
        /// such frame. The peer may have received frames up to this one. The peer has not received a later frame as a
        /// whole.
        written: u64,
    },
}

/// Whether the disk of the journal has room.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DiskRoom {
    /// The disk has room for the next files of the journal.
    #[default]
    Enough,
    /// The disk has no room for another file, so the journal uses the space that was reserved for this case.
    Reserve,
}

/// How a connection has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parting {
    /// Both sides have sent their Logout.
    LoggedOut,
    /// The connection has ended in another way: it broke, or the peer was silent or violated the protocol.
    Lost,
}

/// The peer's Logout on the connection that has ended, if one has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeerLogout<'a>(Option<&'a Message<'a>>);

impl<'a> PeerLogout<'a> {
    /// No Logout of the peer has arrived.
    pub const NONE: Self = Self(None);

    /// This Logout of the peer has arrived.
    #[must_use]
    pub fn of(logout: &'a Message<'a>) -> Self {
        Self(Some(logout))
    }

    /// The Logout, if one has arrived.
    #[must_use]
    pub fn message(self) -> Option<&'a Message<'a>> {
        self.0
    }

    /// Text(58) of the Logout; empty when there is no Logout, or the Logout has no text.
    #[must_use]
    pub fn text(self) -> &'a [u8] {
        let text = self.0.and_then(|logout| logout.get(tag::TEXT));
        text.unwrap_or_default()
    }
}

/// Why an application rejects a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// BusinessRejectReason(380) = 3. Before FIX 4.2 the answer is a Reject.
    UnsupportedMessageType,
    /// BusinessRejectReason(380) = 4: the application is not available at present.
    NotAvailable,
    /// BusinessRejectReason(380) = 5: this tag is required here.
    ConditionallyRequiredFieldMissing(Tag),
    /// BusinessRejectReason(380) = 6.
    NotAuthorized,
    /// BusinessRejectReason(380) = 8, or 0 before FIX 5.0 SP2: the peer sends more messages than agreed.
    ThrottleLimitExceeded,
    /// BusinessRejectReason(380) = 0: the message may have the field with this tag, but the field has no effect here.
    FieldNotSupported(Tag),
    /// SessionRejectReason(373) = 5: the value of this tag is out of range.
    ValueOutOfRange(Tag),
    /// SessionRejectReason(373) = 6: the value of this tag has the wrong format.
    IncorrectDataFormat(Tag),
}
