//! [`RawSession`]: the session layer of a certification client. It assigns MsgSeqNums and answers messages as FIX
//! requires, unless a step says otherwise. The session checks the MsgSeqNum and CheckSum of received messages.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fixwire_engine::SessionConfig;
use fixwire_protocol::session::{BeginString, Config, is_admin};
use fixwire_protocol::{Frame, Mono, Nanos, Now, Tag, frame, tag};

use crate::masking::Secrets;
use crate::record::CaseRecord;
use crate::session::{Inbound, Pumped};
use crate::venue_line::{LineRead, VenueLine};
use crate::wire_message::{MessageReader, MessageWriter, TextFields, shown, spoil, value};

/// Maximum number of messages that are kept while a step waits.
const INBOX_MAX: usize = 100_000;
/// Maximum length of a message, bytes.
const LONGEST: usize = 16 << 20;

/// An application message that was sent, kept for resends.
#[derive(Clone, Debug)]
struct SentMessage {
    fields: TextFields,
    /// Header fields that were left out when the message was sent.
    left_out: Vec<Tag>,
    /// SendingTime(52) of the message.
    time: String,
}

/// A session whose messages the steps of a case determine.
pub(crate) struct RawSession {
    line: VenueLine,
    config: Config,
    writer: MessageWriter,
    reader: MessageReader,
    bytes: Vec<u8>,
    /// Messages that no step has used yet.
    pub(crate) inbox: VecDeque<Inbound>,
    pub(crate) record: CaseRecord,
    /// Whether Heartbeats and answers are sent automatically.
    pub(crate) answers: bool,
    next_out: u64,
    /// The next expected MsgSeqNum; `None` before the first Logon.
    next_in: Option<u64>,
    /// Application messages.
    sent: BTreeMap<u64, SentMessage>,
    /// Whether the MsgSeqNum of the venue's next Logon may be higher than expected, because the venue may have used
    /// sequence numbers for messages while it was disconnected.
    may_be_ahead: bool,
    /// Whether the venue has sent a Logon before.
    had_logon: bool,
    logged_on: bool,
    logout_sent: bool,
    last_sent: Mono,
    /// Values that a plan has read from secret fields.
    secrets: Secrets,
}

impl RawSession {
    /// A session with these initial sequence numbers.
    pub(crate) fn new(
        session: &SessionConfig,
        next_out: u64,
        next_in: Option<u64>,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let config = session.session.clone();
        Ok(Self {
            line: VenueLine::of_session(session, stop)?,
            writer: MessageWriter::of(&config),
            reader: MessageReader::of(&config),
            config,
            bytes: Vec::new(),
            inbox: VecDeque::new(),
            record: CaseRecord::default(),
            answers: true,
            next_out,
            next_in,
            sent: BTreeMap::new(),
            may_be_ahead: false,
            had_logon: false,
            logged_on: false,
            logout_sent: false,
            last_sent: Mono(0),
            secrets: Secrets::default(),
        })
    }

    pub(crate) fn now(&mut self) -> Now {
        self.line.now()
    }

    /// Whether both Logons have been exchanged.
    pub(crate) fn is_logged_on(&self) -> bool {
        self.logged_on && self.line.is_open()
    }

    /// A time in the format of the session. `offset` is added to the present time, nanoseconds.
    pub(crate) fn time(&mut self, offset: i64) -> String {
        let mut at = self.line.now().wall;
        at.0 = at.0.saturating_add(offset);
        self.writer.time(at)
    }

    pub(crate) fn connect(&mut self) -> Result<(), String> {
        self.disconnect();
        self.inbox.clear();
        let address = self.line.connect()?;
        self.note(&format!("connected to {address}"));
        Ok(())
    }

    /// Closes the connection, if it is open.
    pub(crate) fn disconnect(&mut self) {
        if self.line.is_open() {
            self.line.close();
            self.note("connection closed by us");
        }
        self.ended();
    }

    fn ended(&mut self) {
        let rest = std::mem::take(&mut self.bytes);
        if !rest.is_empty() {
            let at = self.line.now().wall;
            self.record
                .at(at, &format!("< {}", shown(&rest, &self.secrets)));
            let length = rest.len();
            self.note(&format!(
                "the last {length} bytes are not a complete message"
            ));
        }
        (self.logged_on, self.logout_sent, self.answers) = (false, false, true);
        self.may_be_ahead = false;
    }

    pub(crate) fn note(&mut self, text: &str) {
        let at = self.line.now().wall;
        self.record.at(at, text);
    }

    /// Skips this number of our sequence numbers.
    pub(crate) fn skip(&mut self, count: u64) {
        self.next_out = self.next_out.saturating_add(count);
    }

    /// Allows the venue's next Logon to have a higher MsgSeqNum than expected, unless it is the venue's first Logon.
    pub(crate) fn allow_gap_before_logon(&mut self) {
        self.may_be_ahead = self.had_logon;
    }

    /// The fields of a Logon.
    pub(crate) fn logon(&self, resets: bool) -> TextFields {
        let config = &self.config;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut fields = vec![
            (tag::MSG_TYPE, "A".to_owned()),
            (tag::ENCRYPT_METHOD, "0".to_owned()),
            (tag::HEART_BT_INT, config.heart_bt_int_seconds.to_string()),
        ];
        // FIX 4.0 does not have ResetSeqNumFlag(141).
        if resets && config.begin_string > BeginString::Fix40 {
            fields.push((tag::RESET_SEQ_NUM_FLAG, "Y".to_owned()));
        }
        for (tag, bytes) in [
            (tag::USERNAME, &config.username[..]),
            (tag::PASSWORD, &config.password[..]),
        ] {
            if !bytes.is_empty() {
                fields.push((tag, text(bytes)));
            }
        }
        if let Some(version) = config.default_appl_ver_id.filter(|_| config.is_fixt()) {
            fields.push((tag::DEFAULT_APPL_VER_ID, version.number().to_string()));
        }
        let more = config.logon_fields.iter();
        fields.extend(more.map(|(tag, bytes)| (*tag, text(bytes))));
        fields
    }

    /// Sends a message; returns its fields as sent.
    pub(crate) fn send(
        &mut self,
        fields: &[(Tag, String)],
        left_out: &[Tag],
        is_garbled: bool,
    ) -> io::Result<TextFields> {
        let msg_type = value(fields, tag::MSG_TYPE).unwrap_or_default().to_owned();
        if msg_type == "A" && value(fields, tag::RESET_SEQ_NUM_FLAG) == Some("Y") {
            (self.next_out, self.next_in) = (1, Some(1));
            self.sent.clear();
        }
        let now = self.line.now();
        let given = value(fields, tag::MSG_SEQ_NUM).map(str::parse);
        let number = match given {
            Some(Ok(number)) => number,
            // A plan may send a MsgSeqNum that is not a number.
            Some(Err(_)) => self.next_out.saturating_sub(1),
            None => self.next_out,
        };
        let mut message = self.writer.write(fields, left_out, number, now.wall);
        if is_garbled {
            spoil(&mut message);
        }
        self.next_out = self.next_out.max(number.saturating_add(1));
        let is_new = value(fields, tag::POSS_DUP_FLAG) != Some("Y");
        if !is_admin(msg_type.as_bytes()) && is_new {
            let time = self.writer.time(now.wall);
            let sent = SentMessage {
                fields: fields.to_vec(),
                left_out: left_out.to_vec(),
                time,
            };
            self.sent.insert(number, sent);
        }
        self.logout_sent |= msg_type == "5";
        self.write(now, &message)?;
        Ok(self.reader.fields(&message))
    }

    fn write(&mut self, now: Now, message: &[u8]) -> io::Result<()> {
        self.record
            .at(now.wall, &format!("> {}", shown(message, &self.secrets)));
        self.last_sent = now.mono;
        let was_open = self.line.is_open();
        let written = self.line.write(message);
        if let Err(error) = &written {
            self.note(&format!("not sent: {error}"));
            if was_open && !self.line.is_open() {
                self.note("connection closed by us");
                self.ended();
            }
        }
        written
    }

    /// Sends bytes unchanged.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let now = self.line.now();
        self.write(now, bytes)
    }

    /// Masks this value from now on, in all texts that are shown.
    pub(crate) fn hide(&mut self, secret: &str) {
        self.secrets.add(secret);
    }

    /// Sends an admin message automatically. If the connection was lost, the next read reports it.
    fn answer(&mut self, fields: &[(Tag, &str)]) {
        let fields: TextFields = fields
            .iter()
            .map(|(tag, value)| (*tag, (*value).to_owned()))
            .collect();
        let _ = self.send(&fields, &[], false);
    }

    /// Waits for a message until this time. Received messages are moved to the inbox.
    pub(crate) fn pump(&mut self, until: Mono) -> Pumped {
        self.pump_beyond(0, until)
    }

    /// Waits until this time, whatever arrives. If more messages arrive than the inbox can hold, the connection is
    /// closed.
    pub(crate) fn gather(&mut self, until: Mono) -> Pumped {
        loop {
            let count = self.inbox.len();
            match self.pump_beyond(count, until) {
                Pumped::Message if count >= INBOX_MAX => self.disconnect(),
                Pumped::Message => {}
                other => return other,
            }
        }
    }

    fn pump_beyond(&mut self, count: usize, until: Mono) -> Pumped {
        loop {
            self.take_frames();
            if self.inbox.len() > count {
                return Pumped::Message;
            }
            if !self.line.is_open() {
                return Pumped::Closed;
            }
            let beat = self.heartbeat_due();
            match self.line.read(until.min(beat), &mut self.bytes) {
                LineRead::Bytes => {}
                LineRead::Stopped => return Pumped::Stopped,
                LineRead::Closed => {
                    self.note("connection closed by the venue");
                    self.ended();
                }
                LineRead::TimedOut if beat < until => self.answer(&[(tag::MSG_TYPE, "0")]),
                LineRead::TimedOut => return Pumped::TimedOut,
            }
        }
    }

    fn heartbeat_due(&self) -> Mono {
        let seconds = self.config.heart_bt_int_seconds;
        if self.logged_on && self.answers && !self.logout_sent && seconds > 0 {
            self.last_sent + Nanos::from_secs(seconds.into())
        } else {
            Mono::NEVER
        }
    }

    fn take_frames(&mut self) {
        loop {
            let bytes = std::mem::take(&mut self.bytes);
            let (used, message, fault) = match frame::next(&bytes, LONGEST) {
                // Bytes before the beginning of a message are a fault, whether or not the message itself is complete.
                Frame::Whole { skip, .. } | Frame::Partial { skip } if skip > 0 => {
                    let fault = format!("{skip} bytes do not belong to a message");
                    (skip, &bytes[..skip], Some(fault))
                }
                Frame::Whole { len, .. } => (len, &bytes[..len], None),
                Frame::Garbled { skip, why } => (
                    skip,
                    &bytes[..skip],
                    Some(format!("a garbled message was received: {why}")),
                ),
                Frame::TooLarge { len, .. } => {
                    let fault = format!("a message has {len} bytes, more than {LONGEST}");
                    (bytes.len(), &bytes[..bytes.len().min(1024)], Some(fault))
                }
                Frame::Partial { .. } => {
                    self.bytes = bytes;
                    return;
                }
            };
            let at = self.line.now().wall;
            let text = shown(message, &self.secrets);
            self.record.at(at, &format!("< {text}"));
            let mut inbound = Inbound {
                fields: self.reader.fields(message),
                shown: text,
                fault,
            };
            if inbound.fault.is_none() {
                inbound.fault = self.received(&inbound);
            }
            if let Some(fault) = &inbound.fault {
                self.note(fault);
            }
            self.inbox.push_back(inbound);
            self.bytes = bytes[used..].to_vec();
        }
    }

    /// Handles a received message on the session level. Returns what is wrong with its MsgSeqNum, if anything.
    fn received(&mut self, message: &Inbound) -> Option<String> {
        let fields = &message.fields;
        let fault = self.count(message);
        match message.msg_type() {
            "A" => (self.logged_on, self.had_logon, self.may_be_ahead) = (true, true, false),
            "1" if self.answers => {
                let id = value(fields, tag::TEST_REQ_ID).unwrap_or_default();
                self.answer(&[(tag::MSG_TYPE, "0"), (tag::TEST_REQ_ID, id)]);
            }
            "2" if self.answers => self.resend(fields),
            "5" => {
                if self.answers && self.logged_on && !self.logout_sent {
                    self.answer(&[(tag::MSG_TYPE, "5")]);
                }
                self.logged_on = false;
            }
            _ => {}
        }
        fault
    }

    /// Checks and counts the MsgSeqNum of a message; returns what is wrong with it.
    fn count(&mut self, message: &Inbound) -> Option<String> {
        let fields = &message.fields;
        let number: Option<u64> =
            value(fields, tag::MSG_SEQ_NUM).and_then(|text| text.parse().ok());
        let Some(number) = number else {
            return Some("MsgSeqNum(34) is missing or not a number".to_owned());
        };
        if message.msg_type() == "A" && value(fields, tag::RESET_SEQ_NUM_FLAG) == Some("Y") {
            self.next_in = Some(1);
        }
        let expected = self.next_in.unwrap_or(number);
        let new_number = (message.msg_type() == "4")
            .then(|| value(fields, tag::NEW_SEQ_NO)?.parse::<u64>().ok())
            .flatten();
        let is_reset = message.msg_type() == "4" && value(fields, tag::GAP_FILL_FLAG) != Some("Y");
        let is_again = value(fields, tag::POSS_DUP_FLAG) == Some("Y") && number < expected;
        let mut next = if is_again {
            expected
        } else {
            number.saturating_add(1)
        };
        if let Some(new_number) = new_number {
            next = next.max(new_number);
        }
        self.next_in = Some(next);
        let may_be_ahead = self.may_be_ahead && message.msg_type() == "A";
        if is_again || is_reset || number == expected || (may_be_ahead && number > expected) {
            return None;
        }
        let missing = if number > expected {
            ": a message is missing"
        } else {
            ""
        };
        Some(format!(
            "MsgSeqNum(34) is {number}, expected {expected}{missing}"
        ))
    }

    /// Answers a ResendRequest: resends application messages, and sends gap fills for the rest.
    fn resend(&mut self, request: &[(Tag, String)]) {
        let number = |tag| value(request, tag).and_then(|text| text.parse::<u64>().ok());
        let last = self.next_out.saturating_sub(1);
        let first = number(tag::BEGIN_SEQ_NO).unwrap_or(1).max(1);
        let end = number(tag::END_SEQ_NO).filter(|end| *end > 0 && *end < last);
        let end = end.unwrap_or(last);
        let stored: Vec<_> = self
            .sent
            .range(first..=end.max(first))
            .map(|(at, it)| (*at, it.clone()))
            .collect();
        let mut next = first;
        for (number, mut message) in stored {
            self.gap_fill(next, number);
            let of_resend = [
                (tag::POSS_DUP_FLAG, "Y".to_owned()),
                (tag::ORIG_SENDING_TIME, message.time),
            ];
            message.fields.extend(of_resend);
            self.again(&message.fields, &message.left_out, number);
            next = number + 1;
        }
        self.gap_fill(next, end + 1);
    }

    fn gap_fill(&mut self, from: u64, to: u64) {
        if from < to {
            let time = self.time(0);
            let fields = [
                (tag::MSG_TYPE, "4".to_owned()),
                (tag::POSS_DUP_FLAG, "Y".to_owned()),
                (tag::ORIG_SENDING_TIME, time),
                (tag::GAP_FILL_FLAG, "Y".to_owned()),
                (tag::NEW_SEQ_NO, to.to_string()),
            ];
            self.again(&fields, &[], from);
        }
    }

    fn again(&mut self, fields: &[(Tag, String)], left_out: &[Tag], number: u64) {
        let now = self.line.now();
        let fields: TextFields = fields
            .iter()
            .filter(|field| field.0 != tag::MSG_SEQ_NUM)
            .cloned()
            .collect();
        let message = self.writer.write(&fields, left_out, number, now.wall);
        let _ = self.write(now, &message);
    }
}

#[cfg(test)]
mod tests;
