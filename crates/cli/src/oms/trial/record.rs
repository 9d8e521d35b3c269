//! Reads the record of a trial in a thread that finds the sender of each message and decodes the messages that are
//! played. The trial plays the messages in this thread at the same time.
//!
//! ```text
//!   thread   read > sender > decode > batch --full--> channel ---> batch > play   the trial
//!                                       ^                            |
//!                                       +------ empty, used again ---+
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use fixwire::journal::Direction;
use fixwire::settings::Settings;
use fixwire_oms::trial::{IgnoredMessages, OmsTrial};
use fixwire_protocol::{
    Decoder, Dictionary, Field, Message, MessageMarks, SessionId, Timestamp, tag,
};
use fixwire_reader::{LogEntry, LogPlace, LogReader, LogStep, MessageHead, ReadOptions};

use super::JournalBeginning;
use crate::failure::{Failure, tell};
use crate::log::identity::{Sender, SendersByIds, SessionIdentity, TemplateIdentity, sender};
use crate::log::tell_left_out;

/// Maximum number of fields of a message for which memory is there from the start.
const FIELDS: usize = 4096;
/// Approximate number of bytes of a batch.
const BYTES: usize = 256 << 10;
/// Maximum number of waiting batches.
const WAITING: usize = 4;

/// Reads a record.
pub(super) struct RecordReader {
    senders: RecordSenders,
    ignored: IgnoredMessages,
    decoder: Decoder,
    /// Only messages after this time are played; `None` for all messages.
    from: Option<Timestamp>,
    /// Whether only a part of the record, after a time, was asked for.
    is_part: bool,
    end: RecordEnd,
}

/// How the reading of a record has ended.
#[derive(Debug, Default)]
pub(super) struct RecordEnd {
    /// Whether the record was read completely. A beginning that `JournalKeep` removed from a journal does not count.
    pub is_whole: bool,
    /// Whether the whole record was asked for, but the beginning of its journal was removed.
    pub is_shortened: bool,
    /// Number of messages that belong to no session.
    pub unknown: u64,
    /// Number of messages without a time: neither the record nor SendingTime(52) has one.
    pub untimed: u64,
}

/// The sessions of the settings and those that Logons created in the record.
struct RecordSenders {
    /// The sessions of the settings, then the created ones.
    sessions: Vec<SessionIdentity>,
    /// Number of sessions of the settings.
    configured: usize,
    templates: Vec<TemplateIdentity>,
    by_ids: SendersByIds,
}

impl RecordSenders {
    fn new(settings: &Settings) -> Self {
        let (templates, sessions): (Vec<_>, Vec<_>) =
            settings.sessions.iter().partition(|it| it.is_template());
        let sessions: Vec<_> = sessions.into_iter().map(SessionIdentity::of).collect();
        let templates = templates.into_iter().filter_map(TemplateIdentity::of);
        Self {
            by_ids: SendersByIds::new(&sessions),
            configured: sessions.len(),
            templates: templates.collect(),
            sessions,
        }
    }

    /// Whether the trial ignores a message that is not decoded yet, and its sender, if BeginString(8) and CompIDs say it.
    fn by_head(&mut self, message: &[u8], ignored: &IgnoredMessages) -> (bool, Option<Sender>) {
        let Some(head) = MessageHead::of(message) else {
            return (false, None);
        };
        let Some(found) = self.by_ids.find(&head) else {
            return (false, None);
        };
        let mut sessions = found.sessions.iter();
        let is_ignored = sessions.all(|session| {
            (session.0 as usize) < self.configured && ignored.has(*session, head.msg_type)
        });
        (is_ignored, Some(found.sender))
    }

    /// The sender of a message. The name of a session that this message shows for the first time is added to `created`.
    fn of(&mut self, message: &Message<'_>, created: &mut Vec<String>) -> Option<Sender> {
        if let Ok(sender) = sender(&self.sessions, message) {
            return Some(sender);
        }
        let mut templates = self.templates.iter();
        let new = templates.find_map(|template| template.session_of(message))?;
        self.sessions.push(new.identity);
        created.push(new.name);
        self.by_ids.add(&self.sessions, self.sessions.len() - 1);
        sender(&self.sessions, message).ok()
    }
}

impl RecordReader {
    /// A reader of the messages of the sessions of a settings file. `is_part` says whether `from` was asked for.
    pub(super) fn new(
        settings: &Settings,
        dictionaries: &[Arc<Dictionary>],
        ignored: IgnoredMessages,
        from: Option<Timestamp>,
        is_part: bool,
    ) -> Self {
        let mut decoder = Decoder::with_capacity(FIELDS);
        for dictionary in dictionaries {
            decoder.learn(dictionary);
        }
        Self {
            senders: RecordSenders::new(settings),
            ignored,
            decoder,
            from,
            is_part,
            end: RecordEnd::default(),
        }
    }

    /// Plays all messages of the record, merged by time. Returns `None` when `JournalKeep` has removed the beginning of
    /// the journal since the start.
    pub(super) fn play(
        self,
        paths: &[PathBuf],
        known: Option<&JournalBeginning>,
        trial: &mut OmsTrial,
    ) -> Result<Option<RecordEnd>, Failure> {
        let (full, batches) = sync_channel(WAITING);
        let (used, empty) = channel();
        let batch = Batch::default();
        let filling = Filling { batch, full, empty };
        let mut sessions = PlayedSessions {
            configured: self.senders.configured,
            created: Vec::new(),
            refused: 0,
        };
        let playing = || {
            for mut batch in batches {
                batch.play(trial, &mut sessions);
                // Sending fails only when everything was read; then the batch is not needed.
                let _ = used.send(batch);
            }
        };
        let reading = move || self.read(paths, known, filling);
        let read = fixwire_threads::beside("decodes", reading, playing);
        let mut end = read.map_err(Failure::thread)?.0?;
        if let Some(end) = &mut end {
            end.unknown += sessions.refused;
        }
        Ok(end)
    }

    fn read(
        mut self,
        paths: &[PathBuf],
        known: Option<&JournalBeginning>,
        mut filling: Filling,
    ) -> Result<Option<RecordEnd>, Failure> {
        let options = ReadOptions {
            dequeued: true,
            ..ReadOptions::default()
        };
        let mut reader = LogReader::open(paths, options).map_err(Failure::Text)?;
        let mut unchecked = known;
        while let LogStep::Message(entry) = reader.next_step() {
            // The first segment is open now, so it is read even if it is removed from the folder.
            if let Some(known) = unchecked.take()
                && !known.stays()?
            {
                return Ok(None);
            }
            // A queued message is played where the journal has it as dequeued. A message that was sent again is not
            // played.
            let is_journal = matches!(entry.place, LogPlace::Journal { .. });
            let is_played = !is_journal
                || entry.mark.is_empty()
                || entry.mark == "dequeued" && entry.direction() == Some(Direction::In);
            if is_played {
                self.message(&entry, &mut filling.batch);
            }
            if filling.batch.bytes.len() >= BYTES && !filling.send() {
                return Ok(None);
            }
        }
        filling.send();
        let mut left_out = reader.take_left_out();
        // A removed beginning is not reported as an error, because the trial starts with the state at `from`.
        left_out.retain(|what| {
            let is_replaced = what.is_removed_beginning && known.is_some();
            if is_replaced && !self.is_part {
                self.end.is_shortened = true;
                tell("warning", &format!("not read: {what}"));
            }
            !is_replaced
        });
        self.end.is_whole = tell_left_out(&left_out);
        Ok(Some(self.end))
    }

    /// Adds a message to the batch, if the trial plays it.
    fn message(&mut self, entry: &LogEntry<'_>, batch: &mut Batch) {
        // A message on a line is not decoded.
        let (is_ignored, sender) = self.senders.by_head(entry.bytes, &self.ignored);
        if is_ignored {
            return;
        }
        let message = self.decoder.decode_whole(entry.bytes);
        if let Some(fault) = message.fault() {
            let place = format!("{}:{}", entry.file, entry.place);
            return tell("warning", &format!("{place}: {fault}"));
        }
        let is_of_session = matches!(message.msg_type(), [b'0'..=b'5' | b'A']);
        if is_of_session || message.get(tag::POSS_DUP_FLAG) == Some(b"Y") {
            return;
        }
        let sender = sender.or_else(|| self.senders.of(&message, &mut batch.created));
        let Some(sender) = sender else {
            return self.end.unknown += 1;
        };
        let sent = || message.time(tag::SENDING_TIME).and_then(Result::ok);
        let (time, _) = entry.time();
        let Some(at) = time.or_else(sent) else {
            return self.end.untimed += 1;
        };
        if self.from.is_none_or(|from| at > from) {
            batch.add(at, sender, &message);
        }
    }
}

/// Messages that are played one after another.
#[derive(Default)]
struct Batch {
    /// Names of sessions that Logons created in the record, in the order of the sessions.
    created: Vec<String>,
    bytes: Vec<u8>,
    fields: Vec<Field>,
    messages: Vec<BatchMessage>,
}

/// A decoded message of a batch. A message begins in the batch where the message before it ends.
struct BatchMessage {
    at: Timestamp,
    sender: Sender,
    /// The end of the message, and of its fields, in the batch.
    bytes: usize,
    fields: usize,
    marks: MessageMarks,
}

impl Batch {
    fn add(&mut self, at: Timestamp, sender: Sender, message: &Message<'_>) {
        self.bytes.extend_from_slice(message.bytes());
        self.fields.extend_from_slice(message.fields());
        self.messages.push(BatchMessage {
            at,
            sender,
            bytes: self.bytes.len(),
            fields: self.fields.len(),
            marks: message.marks(),
        });
    }

    fn play(&mut self, trial: &mut OmsTrial, sessions: &mut PlayedSessions) {
        let new = self.created.drain(..).map(CreatedSession::New);
        sessions.created.extend(new);
        let (mut bytes, mut fields) = (0, 0);
        for next in &self.messages {
            let message = Message::again(
                &self.bytes[bytes..next.bytes],
                &self.fields[fields..next.fields],
                next.marks,
            );
            (bytes, fields) = (next.bytes, next.fields);
            match sessions.played(next.at, next.sender, trial) {
                Some(Sender::Peer(session)) => trial.received(next.at, session, &message),
                Some(Sender::Ours(session)) => trial.sent(next.at, session, &message),
                None => sessions.refused += 1,
            }
        }
    }

    fn clear(&mut self) {
        self.messages.clear();
        self.fields.clear();
        // Do not keep this much memory after one long message.
        if self.bytes.capacity() > 4 * BYTES {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
    }
}

/// The sessions of a record in the trial.
struct PlayedSessions {
    /// Number of sessions of the settings.
    configured: usize,
    created: Vec<CreatedSession>,
    /// Number of messages of sessions that the settings do not let a Logon create.
    refused: u64,
}

/// A session that a Logon created in the record.
enum CreatedSession {
    /// Name of the created session in the engine; no message of it was played yet.
    New(String),
    Played(SessionId),
    /// The settings do not let a Logon create it.
    Refused,
}

impl PlayedSessions {
    /// The sender as the trial knows it; `None` for a session that the settings do not let a Logon create.
    fn played(&mut self, at: Timestamp, sender: Sender, trial: &mut OmsTrial) -> Option<Sender> {
        let (Sender::Peer(session) | Sender::Ours(session)) = sender;
        let Some(created) = (session.0 as usize).checked_sub(self.configured) else {
            return Some(sender);
        };
        let created = self.created.get_mut(created)?;
        if let CreatedSession::New(name) = created {
            *created = match trial.add_session(at, name) {
                Some(session) => CreatedSession::Played(session),
                None => CreatedSession::Refused,
            };
        }
        let CreatedSession::Played(session) = *created else {
            return None;
        };
        Some(match sender {
            Sender::Peer(_) => Sender::Peer(session),
            Sender::Ours(_) => Sender::Ours(session),
        })
    }
}

/// The batch that is being filled, and its way to the trial and back.
struct Filling {
    batch: Batch,
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
}

impl Filling {
    /// Passes the batch to the trial; false when the trial has ended by a panic.
    fn send(&mut self) -> bool {
        let mut next = self.empty.try_recv().unwrap_or_default();
        next.clear();
        let full = std::mem::replace(&mut self.batch, next);
        self.full.send(full).is_ok()
    }
}
