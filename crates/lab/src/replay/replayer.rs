//! [`Replayer`]: the application that sends recorded messages.

use std::collections::HashMap;
use std::sync::mpsc::TryRecvError;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use fixwire_protocol::decode::DATA_PAIRS;
use fixwire_protocol::time::TimestampWriter;
use fixwire_protocol::{
    Application, Body, Decoder, Message, Mono, Nanos, Now, Outbox, Parting, PeerLogout, Precision,
    Refusal, SessionId, Tag, Timestamp, tag,
};

use super::comparison::{ReplayAnswer, ReplayComparison};
use super::recording::{Recorded, SentMessage, answered_id};
use super::{ReplayConfig, ReplayPace, ReplayParts};

/// Maximum number of messages in a turn.
const PER_TURN: usize = 64;
/// Maximum number of orders without an answer in a flood.
const WINDOW: u64 = 256;
/// When nothing is received for this duration, the replay continues anyway.
const SILENCE: Duration = Duration::from_secs(1);
/// Interval at which the replayer checks whether the log has delivered messages.
const LOOK: Nanos = Nanos(1_000_000);
/// Maximum number of fields of a message.
const FIELDS: usize = 4096;

/// The outcome of a replay.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReplayEnd {
    /// All messages were sent, and each order has as many answers as recorded.
    Complete,
    /// All messages were sent, but then nothing was received for the timeout.
    TimedOut,
    /// The session was not logged on in time.
    NotLoggedOn,
    /// The connection was lost, or the acceptor sent a Logout; with its text.
    Lost(String),
}

/// Sends the messages of a record when they are due, and passes the answers to the comparison.
pub struct Replayer {
    parts: ReplayParts,
    config: ReplayConfig,
    next: Option<SentMessage>,
    /// Whether all messages of the record were read.
    is_read: bool,
    /// When the first message was sent, and its recorded time.
    start: Option<(Mono, i64)>,
    /// The recorded time of the last message.
    last_time: i64,
    begun: Option<Mono>,
    logged_on: bool,
    has_ended: bool,
    /// When a message was last sent or received.
    last: Mono,
    /// New ClOrdIDs by recorded ones, and recorded ones by new ones.
    fresh: HashMap<Vec<u8>, Vec<u8>>,
    recorded: HashMap<Vec<u8>, Vec<u8>>,
    prefix: String,
    stamp: TimestampWriter,
    decoder: Decoder,
}

impl Replayer {
    /// An application for the engine of [`engine_config`](super::engine_config).
    #[must_use]
    pub fn new(parts: ReplayParts, config: ReplayConfig) -> Self {
        Self {
            parts,
            config,
            next: None,
            is_read: false,
            start: None,
            last_time: i64::MIN,
            begun: None,
            logged_on: false,
            has_ended: false,
            last: Mono(0),
            fresh: HashMap::new(),
            recorded: HashMap::new(),
            prefix: String::new(),
            stamp: TimestampWriter::new(),
            decoder: Decoder::with_capacity(FIELDS),
        }
    }

    fn comparison(&self) -> MutexGuard<'_, ReplayComparison> {
        let lock = self.parts.comparison.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&mut self, end: ReplayEnd) {
        if !std::mem::replace(&mut self.has_ended, true) {
            // Fails only when no thread waits for the outcome any more.
            let _ = self.parts.ended.send(end);
        }
    }

    /// Takes the next message to send from the record; false when it is not available yet.
    fn take_next(&mut self) -> bool {
        while self.next.is_none() && !self.is_read {
            match self.parts.recorded.try_recv() {
                Ok(Recorded::Sent(message)) => self.next = Some(message),
                Ok(Recorded::Answer { id, answer }) => {
                    self.comparison().add_recorded(&id, answer);
                }
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => self.is_read = true,
            }
        }
        self.next.is_some()
    }

    /// When the next message is due.
    fn due(&mut self, now: Mono) -> Mono {
        let ReplayPace::Recorded(speed) = self.config.pace else {
            let outstanding = self.comparison().unanswered();
            let is_silent = now.0.saturating_sub(self.last.0) > SILENCE.as_nanos() as u64;
            return match outstanding >= WINDOW && !is_silent {
                true => now + LOOK,
                false => now,
            };
        };
        let recorded = self.next.as_ref().and_then(|next| next.time);
        self.last_time = self.last_time.max(recorded.map_or(i64::MIN, |time| time.0));
        if self.last_time == i64::MIN {
            return now;
        }
        let (start, first) = *self.start.get_or_insert((now, self.last_time));
        let since = self.last_time.saturating_sub(first).max(0) as f64 / speed;
        Mono(start.0.saturating_add(since as u64))
    }

    /// Sends the messages that are due; returns when it must be called again.
    fn pump(&mut self, now: Now, outbox: &mut Outbox) -> Mono {
        for _ in 0..PER_TURN {
            if !self.take_next() {
                break;
            }
            let due = self.due(now.mono);
            if due > now.mono {
                return due;
            }
            let Some(message) = self.next.take() else {
                break;
            };
            if !self.send(now, &message, outbox) {
                self.next = Some(message);
                return now.mono + LOOK;
            }
            self.last = now.mono;
        }
        if self.next.is_some() {
            return now.mono;
        }
        if self.is_read {
            let timeout = self.config.timeout.as_nanos() as u64;
            if self.comparison().is_complete() {
                self.end(ReplayEnd::Complete);
            } else if now.mono.0.saturating_sub(self.last.0) > timeout {
                self.end(ReplayEnd::TimedOut);
            }
        }
        now.mono + LOOK
    }

    /// Writes a message; false when the outbox has no room.
    fn send(&mut self, now: Now, message: &SentMessage, outbox: &mut Outbox) -> bool {
        let bytes: usize = message
            .fields
            .iter()
            .map(|(_, value)| value.len() + 48)
            .sum();
        if !outbox.has_room(1, bytes + 256) {
            return false;
        }
        let id = self.fresh_id(now.wall, &message.id);
        let mut fields = Vec::with_capacity(message.fields.len());
        for (tag, value) in &message.fields {
            let value = match tag {
                11 => id.clone(),
                41 => self.fresh.get(value).unwrap_or(value).clone(),
                37 => self.comparison().order_id(value).unwrap_or(value).to_vec(),
                60 => self.time_like(value, now.wall),
                _ => value.clone(),
            };
            fields.push((*tag, value));
        }
        let mut body = outbox.begin(SessionId(0), &message.msg_type);
        put_fields(&mut body, &fields);
        if body.finish().is_err() {
            self.comparison().unsendable += 1;
            return true;
        }
        self.comparison().add_sent(&message.msg_type, &message.id);
        true
    }

    /// The ClOrdID to send instead of a recorded one.
    fn fresh_id(&mut self, now: Timestamp, recorded: &[u8]) -> Vec<u8> {
        if !self.config.fresh_ids || recorded.is_empty() {
            return recorded.to_vec();
        }
        if self.prefix.is_empty() {
            self.prefix = format!("R{:x}-", now.0 / 1_000_000_000 % 0xff_ffff);
        }
        let id = format!("{}{}", self.prefix, self.recorded.len() + 1).into_bytes();
        self.recorded.insert(id.clone(), recorded.to_vec());
        self.fresh.insert(recorded.to_vec(), id.clone());
        id
    }

    /// The current time, with as many digits as the recorded time.
    fn time_like(&mut self, recorded: &[u8], now: Timestamp) -> Vec<u8> {
        let precision = match recorded.len() {
            17 => Precision::Seconds,
            21 => Precision::Millis,
            24 => Precision::Micros,
            27 => Precision::Nanos,
            // The field is not a time: keep its value.
            _ => return recorded.to_vec(),
        };
        self.stamp.format(now, precision).to_vec()
    }

    fn receive(&mut self, now: Now, message: &Message<'_>, refused: Option<&[u8]>) {
        self.last = now.mono;
        let id = answered_id(message, refused);
        let id = id.map(|id| self.recorded.get(id).map_or(id, Vec::as_slice).to_vec());
        let mut answer = ReplayAnswer::of(message);
        for tag in [11, 41] {
            for value in answer.fields.get_mut(&tag).into_iter().flatten() {
                if let Some(recorded) = self.recorded.get(value) {
                    value.clone_from(recorded);
                }
            }
        }
        self.comparison()
            .add_received(message.msg_type(), id.as_deref(), answer);
    }
}

impl Application for Replayer {
    fn on_message(
        &mut self,
        now: Now,
        _: SessionId,
        message: &Message<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.receive(now, message, None);
        Ok(())
    }

    fn on_reject(
        &mut self,
        now: Now,
        _: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        _: &mut Outbox,
    ) {
        let id = refused.and_then(|refused| id_of(&mut self.decoder, refused));
        self.receive(now, reject, id.as_deref());
    }

    fn on_logon(&mut self, now: Now, _: SessionId, _: &Message<'_>, _: &mut Outbox) {
        (self.logged_on, self.last) = (true, now.mono);
    }

    fn on_disconnect(
        &mut self,
        _: Now,
        _: SessionId,
        _: Parting,
        logout: PeerLogout<'_>,
        _: &mut Outbox,
    ) {
        if self.logged_on {
            let text = String::from_utf8_lossy(logout.text()).into_owned();
            self.end(ReplayEnd::Lost(text));
        }
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        if self.has_ended {
            return None;
        }
        if self.logged_on {
            return Some(self.pump(now, outbox));
        }
        let begun = self.begun.get_or_insert(now.mono).0;
        if now.mono.0 - begun > self.config.timeout.as_nanos() as u64 {
            self.end(ReplayEnd::NotLoggedOn);
            return None;
        }
        Some(now.mono + LOOK)
    }
}

fn id_of(decoder: &mut Decoder, bytes: &[u8]) -> Option<Vec<u8>> {
    let message = decoder.decode(bytes);
    let wanted: Tag = tag::CL_ORD_ID;
    message.get(wanted).map(<[u8]>::to_vec)
}

/// Writes recorded fields. A data field keeps its SOH bytes, since its length field is directly before it.
fn put_fields(body: &mut Body<'_>, mut fields: &[(Tag, Vec<u8>)]) {
    while let [(tag, value), rest @ ..] = fields {
        fields = match rest {
            [(data_tag, data), rest @ ..]
                if DATA_PAIRS.contains(&(*tag, *data_tag)) && !data.is_empty() =>
            {
                body.data(*tag, *data_tag, data);
                rest
            }
            _ => {
                body.field(*tag, value);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_with_soh_is_written_and_an_empty_value_is_not() {
        let mut outbox = Outbox::new(1024, 4, 0);
        let field = |tag, value: &[u8]| (tag, value.to_vec());
        let fields = [
            field(90, b"3"),
            field(91, b"x\x01y"),
            field(11, b"A"),
            field(354, b"4"),
            field(355, b"a\x01=b"),
            field(58, b"end"),
        ];
        let mut body = outbox.begin(SessionId(0), b"D");
        put_fields(&mut body, &fields);
        assert!(body.finish().is_ok());
        let written = b"90=3\x0191=x\x01y\x0111=A\x01354=4\x01355=a\x01=b\x0158=end\x01";
        assert_eq!(outbox.body(0), &written[..]);
        // Neither an empty value nor SOH in another field can be sent.
        for value in [&b""[..], b"a\x01b"] {
            let mut body = outbox.begin(SessionId(0), b"D");
            put_fields(&mut body, &[field(58, value)]);
            assert!(body.finish().is_err());
        }
    }
}
