//! The [`Application`] trait: callbacks that a user of the engine implements.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::session::Config;
use crate::{
    AdminOut, Hangup, Ledger, Message, Now, OperatorRight, Outbox, Permission, SessionId, Tag,
    Timestamp, tag,
};

/// A program above the sessions. All methods run on the engine's thread, and may write messages for
/// any session into the outbox; each gets its MsgSeqNum and header when the method returns. A session is logged out
/// by [`Outbox::log_out`]. Which callbacks are repeated
/// after a crash, and how it stays exact, is in `docs/guide/applications.md`.
///
/// An application around another one forwards every method, those that it does not look into by
/// [`forward_application!`](crate::forward_application). So that none is forgotten, its `impl` has
/// `#[deny(clippy::missing_trait_methods)]`.
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
    /// With a [`Refusal`], the session answers with the Reject(3) or BusinessMessageReject(j) that it names. Messages
    /// written before are still sent.
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal>;

    /// A frame of a [link](SessionId::of_link), whole and with a valid check sum: length field, check sum and
    /// all. Frames and notes written here are committed in one journal record with it, as with
    /// [`on_message`](Self::on_message). Secrets in the frame are masked in that record where
    /// [`Outbox::mask_inbound`] says so.
    ///
    /// # Errors
    ///
    /// A [`Hangup`] ends the connection: frames written before it are kept, and still sent if the socket accepts them;
    /// later frames are not given.
    fn on_frame(
        &mut self,
        _now: Now,
        _from: SessionId,
        _frame: &[u8],
        _outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        Err(Hangup("the application does not handle frames"))
    }

    /// Handles a connected or disconnected [link](SessionId::of_link), as [`Link`] says. Frames for a link that is not
    /// connected are not sent, and an event counts them. This is not called when the process is killed: then only the
    /// peer knows which frames it received, and the application has only its notes.
    fn on_link(&mut self, _now: Now, _session: SessionId, _link: Link, _outbox: &mut Outbox) {}

    /// Handles a possible duplicate of an application message that was received before: its MsgSeqNum was counted then,
    /// and PossDupFlag(43) is set. Called only if the session's setting says so
    /// ([`Config::deliver_poss_dups`](crate::session::Config::deliver_poss_dups)). An application that treats a
    /// duplicate as a new message acts twice.
    fn on_poss_dup(
        &mut self,
        _now: Now,
        _from: SessionId,
        _message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Lets the application change an admin message, MsgType 0 to 5 or A, before it is sent; `message` already has its
    /// MsgSeqNum and SendingTime. Here an application can sign a Logon, or add fields that a peer requires. Called for
    /// every Logon, Heartbeat, Logout and gap fill, but not for a Reject that is resent. A field that may not be
    /// changed is refused, with an event.
    fn on_admin_out(&mut self, _now: Now, _session: SessionId, _message: &mut AdminOut<'_>) {}

    /// An admin message that has arrived and that the session has acted on, once: one above a gap when its
    /// turn comes, a Logon when it has passed every check. Called before the methods for its effects,
    /// [`on_logon`](Self::on_logon) and [`on_reject`](Self::on_reject); one that was rejected goes to
    /// [`on_reject_sent`](Self::on_reject_sent) instead. A Logout that answers our Logon is shown too.
    fn on_admin(
        &mut self,
        _now: Now,
        _session: SessionId,
        _message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// The peer has rejected a message of ours with a Reject(3). `refused` is the message that
    /// RefSeqNum(45) names, as it was sent, for a [`Decoder`](crate::Decoder); `None` when none with this
    /// MsgSeqNum is stored, or an earlier Reject referred to this MsgSeqNum, or to one that is 64 or more above it. It may be one of the
    /// session's own, such as a ResendRequest.
    fn on_reject(
        &mut self,
        _now: Now,
        _session: SessionId,
        _reject: &Message<'_>,
        _refused: Option<&[u8]>,
        _outbox: &mut Outbox,
    ) {
    }

    /// A BusinessMessageReject(j) of the peer: comes here instead of to [`on_message`](Self::on_message), where it goes
    /// unless the application says otherwise. `refused` is the message that RefSeqNum(45) names, as it was sent;
    /// `None` when none with this MsgSeqNum is stored. BusinessRejectRefID(379) is optional, and many engines never
    /// send it.
    ///
    /// # Errors
    ///
    /// The errors of [`on_message`](Self::on_message).
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

    /// Reports that the session has rejected a message of its peer with a Reject(3): the application does not receive
    /// the message. The peer is logged on, and the Reject is already written. Not called for garbled messages.
    fn on_reject_sent(
        &mut self,
        _now: Now,
        _session: SessionId,
        _message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// Whether a stored application message is resent when the peer requests it; otherwise a gap fill replaces it.
    /// `stored` is the message as it was first sent, for a [`Decoder`](crate::Decoder). Called for each message that
    /// the session's settings allow to be resent, and again if the outbox had no room for it.
    fn on_resend(&mut self, _now: Now, _session: SessionId, _stored: &[u8]) -> bool {
        true
    }

    /// Reads, at the start and before anything else, a note that was kept by [`Outbox::note`], and the time at which it
    /// was kept. Called for each note in the journal, in order. An application that keeps a note of each change of its
    /// state can build the same state again.
    fn on_note(&mut self, _at: Timestamp, _note: &[u8]) {}

    /// An empty [`Ledger`] with the limits of this application, when its notes make its state: they are then
    /// folded into checkpoints while the engine runs, on another thread, and notes that a checkpoint holds
    /// may leave the journal. `None`: all notes stay.
    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        None
    }

    /// At start, before any note: the state that a [`Ledger`] of this application wrote in this version.
    /// [`on_note`](Self::on_note) then gets the later notes, unless the journal turns out to be damaged.
    ///
    /// # Errors
    ///
    /// The fault, as a sentence. Then the previous checkpoint is tried on the same application, so an
    /// error must leave its state unchanged.
    fn on_checkpoint(&mut self, _version: u32, _state: &[u8]) -> Result<(), String> {
        Err("the application does not support checkpoints".into())
    }

    /// [`Ledger::hash`] of the application's state. A clean stop records it in the journal; the ledger that is built
    /// from the notes must have the same hash.
    fn state_hash(&self) -> Option<u64> {
        None
    }

    /// A peer asks to log on with a Logon that the session would accept: its CompIDs, sequence numbers, times and
    /// the password of the settings are right. Asked once for each; the place to look a user up.
    ///
    /// # Errors
    ///
    /// The text of a Logout that refuses it, after which the connection ends. It counts as a wrong
    /// password does.
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

    /// Handles the logoff of a session; its connection may be closed. `logout` is the Logout of the peer, if it sent
    /// one.
    fn on_logout(&mut self, _now: Now, _session: SessionId, _logout: PeerLogout<'_>) {}

    /// A session that was logged on has lost its connection, with or without Logouts: the place to
    /// cancel its orders. May write messages for other sessions; one for this session is kept for its
    /// next logon. Called after [`Application::on_logout`], with the same `logout`.
    fn on_disconnect(
        &mut self,
        _now: Now,
        _session: SessionId,
        _parting: Parting,
        _logout: PeerLogout<'_>,
        _outbox: &mut Outbox,
    ) {
    }

    /// The sequence numbers of a session are reset to 1, or an operator has set the next one to send to one
    /// that was used before: messages written for it while it had no connection, and never sent, are void.
    /// Messages written here are in the record of the reset. Called before [`Application::on_logon`] when a
    /// Logon is the cause, and at the start where the process had ended in the middle of a reset: a message
    /// that it then writes for a session that is reset after it is not sent, which an event counts.
    fn on_reset(&mut self, _now: Now, _session: SessionId, _outbox: &mut Outbox) {}

    /// A trading session of the schedule has begun, or ended. Outside the schedule nothing is kept for the
    /// session: its sequence numbers will be reset. Every session counts as open until this says otherwise.
    fn on_hours(&mut self, _now: Now, _session: SessionId, _open: bool) {}

    /// The disk of the journal is full, so that it runs on its reserve, or has room again. At a start it has room until
    /// this says otherwise, which it does before the first message. On the reserve an
    /// application should refuse new orders and other messages that it can do without, so that the space lasts for cancels
    /// and for what else reduces risk: when the reserve is used up, the engine stops.
    fn on_disk(&mut self, _now: Now, _room: DiskRoom) {}

    /// Handles a session that was added while the engine runs, or restored under its name. The ids of new sessions
    /// follow the existing ids.
    fn on_session_added(&mut self, _now: Now, _session: SessionId, _name: &str, _config: &Config) {}

    /// A command of the application's own, from an operator or another thread
    /// (`Handle::command` of the engine): bytes of it in, `answer` out. The journal gets a note of it before messages
    /// written here; they are committed before the answer is given. A caller without an answer asks again, so a command
    /// that was carried out may come once more.
    ///
    /// # Errors
    ///
    /// Why it is not carried out, as a sentence.
    fn on_command(
        &mut self,
        _now: Now,
        _command: OperatorCommand<'_>,
        _answer: &mut Vec<u8>,
        _outbox: &mut Outbox,
    ) -> Result<(), String> {
        Err("the application does not support commands".into())
    }

    /// Answers a query of the application's own. A query is like a command, but changes nothing, and no note of it is
    /// kept.
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

    /// Whether the application's own settings give a user, such as `ann (uid 1000)`, a right. If they name no
    /// operators, the operators of the engine's configuration count.
    fn permission(&self, _who: &str, _right: OperatorRight) -> Permission {
        Permission::Open
    }

    /// The session's role, such as `a target of the gateway's rules`, when only the application may write its messages of this
    /// MsgType(35): an operator may not send one that the application has no record of. `None`: an operator who has
    /// the right may send it.
    fn owns(&self, _session: SessionId, _msg_type: &[u8]) -> Option<&'static str> {
        None
    }

    /// Whether the application may continue after a panic in [`on_message`](Self::on_message). If a session's setting
    /// asks for that, the engine discards what was written for the message, notes included. If the application's state
    /// would then be ahead of its notes, the answer must be no, and the engine refuses the setting.
    fn survives_panics(&self) -> bool {
        true
    }

    /// Does work that depends on time. Called in every turn in which something happened, and at the time that the last
    /// call returned. Returns the next such time; `None` for never.
    fn on_time(&mut self, _now: Now, _outbox: &mut Outbox) -> Option<crate::Mono> {
        None
    }
}

/// A command for an application.
#[derive(Clone, Copy, Debug)]
pub struct OperatorCommand<'a> {
    /// The bytes of the command.
    pub bytes: &'a [u8],
    /// Who gives the command: a user of the system, or a program.
    pub who: &'a str,
    /// The reason for the command; may be empty.
    pub why: &'a str,
}

/// A change of a link's connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Link {
    /// The link is connected. The first frame written to it now has number 1, the next one number 2, and so on.
    Up,
    /// The connection has ended. Frames written to it are never sent on a later connection by themselves.
    Down {
        /// The number of the last frame of this connection that the system has wholly accepted; 0 for none.
        /// Frames up to it may have reached the peer; later ones have not, as wholes.
        written: u64,
    },
}

/// Whether the disk of the journal has room.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DiskRoom {
    /// The disk has room for the next segments of the journal.
    #[default]
    Enough,
    /// The disk has no room for another segment: the journal uses the space that was reserved for this case.
    Reserve,
}

/// How a connection has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parting {
    /// Both sides have sent their Logout.
    LoggedOut,
    /// Anything else: the connection broke, the peer was silent or violated the protocol.
    Lost,
}

/// The peer's Logout as it arrived on the connection that has ended, if one did.
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
    /// BusinessRejectReason(380) = 3; before FIX 4.2 a Reject.
    UnsupportedMessageType,
    /// BusinessRejectReason(380) = 4: the application is not available now.
    NotAvailable,
    /// BusinessRejectReason(380) = 5: this tag is required here.
    ConditionallyRequiredFieldMissing(Tag),
    /// BusinessRejectReason(380) = 6.
    NotAuthorized,
    /// BusinessRejectReason(380) = 8, before FIX 5.0 SP2 = 0: more messages than agreed.
    ThrottleLimitExceeded,
    /// BusinessRejectReason(380) = 0: the field with this tag, which the message may have, has no effect here.
    FieldNotSupported(Tag),
    /// SessionRejectReason(373) = 5: the value of this tag is out of range.
    ValueOutOfRange(Tag),
    /// SessionRejectReason(373) = 6: the value of this tag has the wrong format.
    IncorrectDataFormat(Tag),
}
