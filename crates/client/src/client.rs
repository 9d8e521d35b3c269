//! The client application: sends the messages that commands request, and tracks its orders by their reports.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::session::Config;
use fixwire_protocol::{
    AdminOut, Application, Decoder, Ledger, Message, Mono, Nanos, Now, OperatorCommand, Outbox,
    Parting, PeerLogout, Refusal, SessionId, Timestamp, tag,
};

use crate::book::{ClientBook, ClientLedger};
use crate::event::{ClientEvent, EventListener, session_line};
use crate::failure::CommandFailure;
use crate::fields::MessageFields;
use crate::note::ClientNote;
use crate::order_layout::OrderLayout;
use crate::report::{AnswerKind, ReportLine};
use crate::sending::Sending;
use crate::sequence::SentNumbers;

mod commands;
mod pump;

/// Maximum number of fields of a message that the decoder can hold.
const FIELDS: usize = 512;

/// Configuration of a client.
#[derive(Debug)]
pub struct ClientSetup<'a> {
    /// The session that the client sends on.
    pub session: SessionId,
    /// The session's configuration.
    pub config: &'a Config,
    /// Maximum time for which a command waits for the logon, and for which `wait` waits for answers.
    pub timeout: Nanos,
}

/// An order client on one session. Commands arrive as text ([`Application::on_command`]), one at a time. A
/// [`ClientEvent::Finished`] follows each accepted command.
///
/// The journal has each message with a ClOrdID(11), and each report that changes an order, in one record together
/// with its note. So after a crash no ClOrdID is used twice, and the client knows its open orders.
pub struct OrderClient {
    pub(crate) session: SessionId,
    pub(crate) layout: OrderLayout,
    pub(crate) timeout: Nanos,
    pub(crate) listener: EventListener,
    pub(crate) book: ClientBook,
    pub(crate) numbers: SentNumbers,
    pub(crate) templates: BTreeMap<String, MessageFields>,
    pub(crate) task: Option<Task>,
    pub(crate) is_logged_on: bool,
    pub(crate) has_started: bool,
    pub(crate) stamps: bool,
    /// Number of answers that no `wait` has counted yet.
    pub(crate) reports: u64,
    pub(crate) decoder: Decoder,
}

/// The task of the current command.
#[derive(Debug)]
pub(crate) enum Task {
    Send(Sending),
    /// Waits for a number of answers.
    Reports {
        count: u64,
        until: Mono,
    },
    /// Waits for the first answer of every message.
    All {
        until: Mono,
    },
    Pause {
        until: Mono,
    },
    /// Finished.
    Done,
}

impl OrderClient {
    /// A client without orders. The client's events are passed to `listener`.
    #[must_use]
    pub fn new(setup: &ClientSetup<'_>, listener: EventListener) -> Self {
        Self {
            session: setup.session,
            layout: OrderLayout::of(setup.config),
            timeout: setup.timeout,
            listener,
            book: ClientBook::default(),
            numbers: SentNumbers::default(),
            templates: BTreeMap::new(),
            task: None,
            is_logged_on: false,
            has_started: false,
            stamps: false,
            reports: 0,
            decoder: Decoder::with_capacity(FIELDS),
        }
    }

    /// Removes the fields of finished orders, once, at the first logon or command. Orders that finish later belong to
    /// this run and are kept.
    fn begin_run(&mut self) {
        if !core::mem::replace(&mut self.has_started, true) {
            self.book.forget_finished();
        }
    }

    /// Continues the current command. Returns the time at which this function must be called again.
    fn step(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let mut task = self.task.take()?;
        let step = match &mut task {
            Task::Send(sending) => self.pump(now, sending, outbox),
            Task::Reports { count, until } => self.wait_for_reports(now, *count, *until),
            Task::All { until } => self.wait_for_all(now, *until),
            Task::Pause { until } if now.mono < *until => Ok(Some(*until)),
            Task::Pause { .. } | Task::Done => Ok(None),
        };
        match step {
            Ok(Some(due)) => {
                self.task = Some(task);
                Some(due)
            }
            Ok(None) => {
                (self.listener)(ClientEvent::Finished(Ok(())));
                None
            }
            Err(failure) => {
                (self.listener)(ClientEvent::Finished(Err(failure)));
                None
            }
        }
    }

    fn wait_for_reports(
        &mut self,
        now: Now,
        count: u64,
        until: Mono,
    ) -> Result<Option<Mono>, CommandFailure> {
        if self.reports >= count {
            self.reports -= count;
            return Ok(None);
        }
        if now.mono < until {
            return Ok(Some(until));
        }
        Err(CommandFailure::TooFewReports {
            came: core::mem::take(&mut self.reports),
            count,
            seconds: self.timeout.as_secs(),
        })
    }

    fn wait_for_all(&mut self, now: Now, until: Mono) -> Result<Option<Mono>, CommandFailure> {
        let missing = self.book.unanswered();
        if missing == 0 {
            self.reports = 0;
            return Ok(None);
        }
        if now.mono < until {
            return Ok(Some(until));
        }
        Err(CommandFailure::Unanswered {
            missing,
            first: self.book.first_unanswered().unwrap_or_default().to_string(),
            seconds: self.timeout.as_secs(),
        })
    }

    /// Writes a note of a change of an order, if there is one. If the outbox has no room for the note, the order has
    /// its old state after a restart. Nothing else is lost, and in this run the change applies.
    fn keep(&mut self, change: Option<Vec<u8>>, outbox: &mut Outbox) {
        if let Some(note) = change {
            let _ = outbox.note(&note);
        }
    }

    /// The ClOrdID(11) of the message that a BusinessMessageReject(j) rejects: from BusinessRejectRefID(379),
    /// otherwise found by RefSeqNum(45).
    fn rejected_id(&self, reject: &Message<'_>) -> Option<String> {
        let named = reject.get(tag::BUSINESS_REJECT_REF_ID);
        let named = named.map(|id| String::from_utf8_lossy(id).into_owned());
        let named = named.filter(|id| self.book.has(id));
        named.or_else(|| {
            let seq = reject.uint(tag::REF_SEQ_NUM)?.ok()?;
            self.numbers.find(seq).map(ToString::to_string)
        })
    }
}

impl Application for OrderClient {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if from != self.session {
            return Err(Refusal::UnsupportedMessageType);
        }
        let mut line = ReportLine::of(now.wall, message);
        let change = match line.kind {
            AnswerKind::Report | AnswerKind::CancelReject => self.book.report(now.mono, message),
            AnswerKind::BusinessReject => {
                let id = self.rejected_id(message).unwrap_or_default();
                let msg_type = message.get(tag::REF_MSG_TYPE).unwrap_or_default();
                let msg_type = String::from_utf8_lossy(msg_type);
                let change = self.book.refused(now.mono, &id, &msg_type);
                line.cl_ord_id = id;
                change
            }
            _ => None,
        };
        self.reports += u64::from(line.kind != AnswerKind::Other);
        self.keep(change, outbox);
        (self.listener)(ClientEvent::Answer(&line));
        Ok(())
    }

    fn on_admin_out(&mut self, _: Now, session: SessionId, message: &mut AdminOut<'_>) {
        // In a gap fill, MsgSeqNum is that of a message that would be resent.
        if session == self.session && message.msg_type() != b"4" {
            self.numbers.admin(message.seq_num());
        }
    }

    fn on_admin(&mut self, now: Now, session: SessionId, message: &Message<'_>, _: &mut Outbox) {
        if session == self.session && message.msg_type() == b"5" && !self.is_logged_on {
            let text = message.get(tag::TEXT).unwrap_or_default();
            (self.listener)(session_line(now.wall, "logon refused", text));
        }
    }

    fn on_reject(
        &mut self,
        now: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        if session != self.session {
            return;
        }
        let mut line = ReportLine::of(now.wall, reject);
        let mut change = None;
        if let Some(refused) = refused {
            let refused = self.decoder.decode(refused);
            let id = refused.get(tag::CL_ORD_ID).unwrap_or_default();
            line.cl_ord_id = String::from_utf8_lossy(id).into_owned();
            let msg_type = String::from_utf8_lossy(refused.msg_type());
            change = self.book.refused(now.mono, &line.cl_ord_id, &msg_type);
        }
        self.reports += 1;
        self.keep(change, outbox);
        (self.listener)(ClientEvent::Answer(&line));
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        if let Some(note) = ClientNote::of(note) {
            self.book.recall(&note);
        }
    }

    fn on_logon(&mut self, now: Now, session: SessionId, _: &Message<'_>, _: &mut Outbox) {
        if session == self.session {
            self.begin_run();
            self.is_logged_on = true;
            (self.listener)(session_line(now.wall, "logged on", b""));
        }
    }

    fn on_disconnect(
        &mut self,
        now: Now,
        session: SessionId,
        parting: Parting,
        logout: PeerLogout<'_>,
        _: &mut Outbox,
    ) {
        if session == self.session {
            self.is_logged_on = false;
            let what = match parting {
                Parting::LoggedOut => "logged out",
                Parting::Lost => "connection lost",
            };
            (self.listener)(session_line(now.wall, what, logout.text()));
        }
    }

    fn on_reset(&mut self, now: Now, session: SessionId, _: &mut Outbox) {
        if session == self.session {
            self.numbers.reset();
            // Messages that were written while there was no connection are lost now.
            let what = "sequence numbers reset; an order without a report may not have been sent: check with status";
            (self.listener)(session_line(now.wall, what, b""));
        }
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        Some(Box::new(ClientLedger::default()))
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.book = ClientBook::of_state(version, state)?;
        Ok(())
    }

    fn state_hash(&self) -> Option<u64> {
        Some(self.book.hash())
    }

    fn on_command(
        &mut self,
        now: Now,
        command: OperatorCommand<'_>,
        _: &mut Vec<u8>,
        _: &mut Outbox,
    ) -> Result<(), String> {
        self.command(now, command.bytes)
            .map_err(|why| why.to_string())
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        self.step(now, outbox)
    }

    /// False: after a panic the engine discards notes, but the orders in memory already have the changes.
    fn survives_panics(&self) -> bool {
        false
    }
}
