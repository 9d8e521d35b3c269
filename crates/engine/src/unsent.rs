//! Application messages that are never sent. Each of them is reported, so that none is lost silently.

use std::ops::Range;

use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Decoder, Message, MsgSeqNumSource, Now, Outbox, SessionId, Tag, tag};

use crate::commit::Core;
use crate::event::{Event, MessageLoss};
use crate::journal::{Disk, Journal, JournalError, JournalId, Stored, waiting_note};
use crate::line::Line;

/// The fields that identify application messages, the most useful first.
const IDS: [Tag; 5] = [
    tag::CL_ORD_ID,
    tag::EXEC_ID,
    tag::ORDER_ID,
    tag::LIST_ID,
    tag::QUOTE_ID,
];
/// Maximum number of messages that one event names. More messages are named in further events.
const MOST: u64 = 50;
/// Maximum number of fields of a message that are read.
const FIELDS: usize = 64;
/// Maximum length of an id in an event, bytes.
const ID_BYTES: usize = 64;

/// The messages that one event will report.
pub(crate) struct Unsent {
    session: SessionId,
    why: MessageLoss,
    messages: u64,
    what: String,
}

/// Messages that are never sent, until events have reported them; and sessions with messages that wait for a logon,
/// until the journal has a note of that.
pub(crate) struct UnsentMessages {
    /// Number of messages that are never sent, so far.
    pub(crate) count: u64,
    /// Messages that no event has reported yet.
    events: Vec<Unsent>,
    /// Sessions whose messages have begun to wait for a logon.
    waiting: Vec<usize>,
    /// Whether something must be reported, or noted in the journal.
    pub(crate) is_due: bool,
    /// Fields whose values are masked.
    masked: Vec<Tag>,
}

impl UnsentMessages {
    pub(crate) fn new(masked: Vec<Tag>) -> Self {
        Self {
            count: 0,
            events: Vec::new(),
            waiting: Vec::new(),
            is_due: false,
            masked,
        }
    }

    /// Records that messages of a session may have begun to wait for its next logon.
    #[cold]
    pub(crate) fn begin_to_wait(&mut self, session: usize) {
        self.waiting.push(session);
        self.is_due = true;
    }

    /// Adds a message. `name` has its type and id, and its MsgSeqNum if it has one.
    fn add(&mut self, session: SessionId, why: MessageLoss, name: &str) {
        self.count += 1;
        self.is_due = true;
        let is_open =
            |last: &&mut Unsent| (last.session, last.why) == (session, why) && last.messages < MOST;
        match self.events.last_mut().filter(is_open) {
            Some(last) => {
                last.messages += 1;
                last.what.push_str(", ");
                last.what.push_str(name);
            }
            None => self.events.push(Unsent {
                session,
                why,
                messages: 1,
                what: name.to_owned(),
            }),
        }
    }

    /// Adds a message that was refused at once.
    #[cold]
    pub(crate) fn refuse(
        &mut self,
        session: SessionId,
        why: MessageLoss,
        outbox: &Outbox,
        index: usize,
    ) {
        let mut decoder = Decoder::with_capacity(FIELDS);
        let message = decoder.decode(outbox.body(index));
        let name = self.name(outbox.msg_type(index), &message);
        self.add(session, why, &name);
    }

    /// Adds the messages of the outbox with these MsgSeqNums. They got their MsgSeqNums before a reset in the same
    /// write.
    #[cold]
    pub(crate) fn lose_of_outbox(
        &mut self,
        session: SessionId,
        outbox: &Outbox,
        run: Range<usize>,
        mut lost: Range<u64>,
    ) {
        let mut decoder = Decoder::with_capacity(FIELDS);
        for index in run {
            let entry = &outbox.entries()[index];
            let is_next = entry.number == MsgSeqNumSource::Next && !entry.is_discarded();
            if lost.is_empty() || !is_next || entry.seq != lost.start {
                continue;
            }
            lost.start += 1;
            self.lose(
                session,
                MessageLoss::Reset,
                entry.seq,
                &decoder.decode(outbox.sealed(index)),
            );
        }
    }

    /// Adds the application messages of a session in the journal, from a MsgSeqNum on.
    #[cold]
    pub(crate) fn lose_of_journal<D: Disk>(
        &mut self,
        session: SessionId,
        why: MessageLoss,
        journal: &mut Journal<D>,
        (id, first, last): (JournalId, u64, u64),
    ) {
        let mut decoder = Decoder::with_capacity(FIELDS);
        let mut replay = journal.replay(id, first.max(1), last);
        loop {
            let next = replay.next_number();
            match journal.next_of(&mut replay) {
                Ok(Some(Stored::Message { bytes, .. })) => {
                    let message = decoder.decode(bytes);
                    let number = message.uint(tag::MSG_SEQ_NUM).and_then(Result::ok);
                    self.lose(session, why, number.unwrap_or(next), &message);
                }
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(error) => {
                    let what = format!("MsgSeqNum {next} to {last}, which cannot be read: {error}");
                    self.add(session, why, &what);
                    return;
                }
            }
        }
    }

    fn lose(&mut self, session: SessionId, why: MessageLoss, seq: u64, message: &Message<'_>) {
        let kind = message.msg_type();
        if !is_admin(kind) {
            let name = self.name(kind, message);
            self.add(session, why, &format!("MsgSeqNum {seq} {name}"));
        }
    }

    /// The type and id of a message: `D 11=A1`. A masked id appears as stars.
    fn name(&self, msg_type: &[u8], message: &Message<'_>) -> String {
        let kind = msg_type.escape_ascii();
        let id = IDS.iter().find_map(|tag| Some((*tag, message.get(*tag)?)));
        match id {
            Some((tag, _)) if self.masked.contains(&tag) => format!("{kind} {tag}=***"),
            Some((tag, id)) => {
                let id = &id[..id.len().min(ID_BYTES)];
                format!("{kind} {tag}={}", id.escape_ascii())
            }
            None => kind.to_string(),
        }
    }
}

/// Why a message for a session that is not logged on is refused. `None`: the message gets its MsgSeqNum and waits.
#[cold]
pub(crate) fn refusal(line: &Line, is_admin: bool, has_secret: bool) -> Option<MessageLoss> {
    if line.is_out_of_hours() {
        return Some(MessageLoss::OutOfSchedule);
    }
    if is_admin || line.session.is_logged_on() {
        return None;
    }
    if has_secret {
        return Some(MessageLoss::UserRequest);
    }
    if line.config.refuse_before_logon {
        return Some(MessageLoss::NotLoggedOn);
    }
    let is_down = line.link.is_none() || line.leaving().is_some();
    let loss = line.session.loses_what_waits().filter(|_| is_down);
    loss.map(MessageLoss::Down)
}

impl<D: Disk> Core<D> {
    /// Number of messages that are never sent, so far.
    pub(crate) fn lost(&self) -> u64 {
        self.astray + self.outbox.failures() + self.unsent.count
    }

    /// Handles the logon of a session: messages that waited are sent by a resend, or never.
    #[cold]
    pub(crate) fn pass_unsent(&mut self, now: Now, session: usize) -> Result<(), JournalError> {
        let Self {
            lines,
            journal,
            unsent,
            ..
        } = self;
        let line = &mut lines[session];
        // Messages that were written since the connection began are still to be sent.
        let first = line.unsent_from.take();
        if journal.waiting_from(line.journal).is_some() {
            journal.note(now.wall, line.journal, &waiting_note(None))?;
        }
        let Some(first) = first.filter(|_| !line.session.config().resend_messages) else {
            return Ok(());
        };
        let range = (line.journal, first, line.began_at.saturating_sub(1));
        let (id, why) = (line.session.id(), MessageLoss::NotResent);
        unsent.lose_of_journal(id, why, journal, range);
        Ok(())
    }

    /// Writes to the journal which messages of a session wait for its next logon, so that a reset after a restart can
    /// name them.
    #[cold]
    pub(crate) fn note_waiting(&mut self, now: Now, session: usize) -> Result<(), JournalError> {
        let line = &self.lines[session];
        let first = line.first_unsent();
        if !line.session.is_logged_on()
            && first.is_some()
            && self.journal.waiting_from(line.journal).is_none()
        {
            let note = waiting_note(first);
            self.journal.note(now.wall, line.journal, &note)?;
        }
        Ok(())
    }

    /// Reports the messages that are never sent, and writes notes of the messages that wait.
    #[cold]
    pub(crate) fn raise_unsent(&mut self, now: Now) -> Result<(), JournalError> {
        self.unsent.is_due = false;
        for session in std::mem::take(&mut self.unsent.waiting) {
            self.note_waiting(now, session)?;
        }
        for unsent in std::mem::take(&mut self.unsent.events) {
            let Unsent {
                session,
                why,
                messages,
                what,
            } = unsent;
            let event = Event::MessagesLost {
                session,
                messages,
                why,
                what,
            };
            self.raise(now, &event);
        }
        Ok(())
    }
}
