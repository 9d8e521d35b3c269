//! [`TmpSession`]: the broker's end of a TMP link, driven by the steps of a case. It assigns MsgSeqNums and answers
//! messages as the protocol requires, unless a step says otherwise. The link checks the MsgSeqNums and checksums of
//! received messages.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fixwire_engine::config::LinkConfig;
use fixwire_protocol::framing::{Framed, Framing};
use fixwire_protocol::{Mono, Nanos, Now, Precision, Tag, Timestamp, TimestampWriter};
use fixwire_tmp::{ClientLinkSettings, LinkNumbers, TmpFrame, is_counted};

use crate::masking::Secrets;
use crate::record::CaseRecord;
use crate::session::{Inbound, LogOnFailure, PlayedSession, Pumped, SendFailure, SessionWords};
use crate::tmp::fields::{KEY_VALUE, MESSAGE, ORDINAL, WRONG};
use crate::tmp::frames::{self, field, tag};
use crate::venue_line::{LineRead, VenueLine};
use crate::wire_message::{TextFields, value};

mod login;
mod receive;
#[cfg(test)]
mod tests;

/// Maximum number of messages that are kept while a step waits.
const INBOX_MAX: usize = 100_000;
/// How long a message counts toward the flow limit: a second, plus time for its way to the venue.
const WINDOW: Nanos = Nanos::from_millis(1_100);
/// Time that a venue needs to notice a closed connection before the next one is opened.
const PAUSE: Nanos = Nanos::from_millis(100);

/// A link whose messages the steps of a case determine.
pub(crate) struct TmpSession {
    line: VenueLine,
    settings: ClientLinkSettings,
    framing: Framing,
    bytes: Vec<u8>,
    inbox: VecDeque<Inbound>,
    record: CaseRecord,
    stamp: TimestampWriter,
    secrets: Secrets,
    /// The last MsgSeqNums of both directions.
    numbers: LinkNumbers,
    /// Whether R04 and L41 are answered automatically.
    answers: bool,
    /// Whether the login is complete.
    ready: bool,
    /// Whether L50 was received on this connection.
    accepted: bool,
    /// The append_no in the last L30.
    append_no: u16,
    /// The incomplete message at the end of an L41.
    tail: Vec<u8>,
    /// The fields of each order, by order number, because later requests repeat some of them.
    orders: BTreeMap<String, TextFields>,
    /// Number of R04 sent on this connection.
    asked: u64,
    /// Number of R05 received on this connection.
    answered: u64,
    /// Maximum number of messages per second, according to the last L50; 0 for no limit.
    max_flow: u16,
    /// Times at which the recent messages were sent that count toward the flow limit.
    flow: VecDeque<Mono>,
    /// Names of the automatic answers that are not sent yet.
    due: VecDeque<&'static str>,
    closed_at: Option<Mono>,
}

impl TmpSession {
    /// A link with these last MsgSeqNums.
    pub(crate) fn new(
        link: &LinkConfig,
        settings: &ClientLinkSettings,
        numbers: LinkNumbers,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let mut framing = link.framing;
        // A wrong checksum is a fault of one message. It does not end the stream.
        framing.check = fixwire_protocol::framing::FrameCheck::None;
        Ok(Self {
            line: VenueLine::of_link(link, stop)?,
            settings: settings.clone(),
            framing,
            bytes: Vec::new(),
            inbox: VecDeque::new(),
            record: CaseRecord::default(),
            stamp: TimestampWriter::new(),
            secrets: Secrets::default(),
            numbers,
            answers: true,
            ready: false,
            accepted: false,
            append_no: 0,
            tail: Vec::new(),
            orders: BTreeMap::new(),
            asked: 0,
            answered: 0,
            max_flow: 0,
            flow: VecDeque::new(),
            due: VecDeque::new(),
            closed_at: None,
        })
    }

    fn text_of(&mut self, at: Timestamp) -> String {
        let text = self.stamp.format(at, Precision::Millis);
        String::from_utf8_lossy(text).into_owned()
    }

    /// The fields that a message usually has, as far as the step does not give them.
    fn usual(&mut self, name: &str, given: &[(Tag, String)]) -> TextFields {
        let settings = &self.settings;
        let of_both = [
            ("header.fcm_id", settings.fcm_id.to_string()),
            ("header.session_id", settings.session_id.to_string()),
        ];
        let mut usual: Vec<(&str, String)> = of_both.to_vec();
        let text = |text: &str| text.to_owned();
        match name {
            "L40" => usual.extend([
                ("append_no", self.append_no.to_string()),
                ("fcm_id", settings.fcm_id.to_string()),
                ("session_id", settings.session_id.to_string()),
                ("system_type", settings.system_type.0.to_string()),
                ("ap_code", settings.ap_code.0.to_string()),
                ("request_start_seq", self.numbers.inbound.to_string()),
                ("cancel_order_sec", settings.cancel_order_sec.to_string()),
            ]),
            "R01" | "R31" | "R09" | "R39" => {
                let symbol_type = if name.starts_with("R3") { "4" } else { "2" };
                usual.extend([
                    ("exec_type", text("0")),
                    ("fcm_id", settings.fcm_id.to_string()),
                    ("symbol_type", text(symbol_type)),
                    ("time_in_force", text("0")),
                    ("position_effect", text("O")),
                    ("order_source", text("D")),
                    ("info_source", text("999")),
                    ("account_flag", text("A")),
                ]);
                if matches!(name, "R01" | "R31") {
                    usual.push(("ord_type", text("2")));
                }
            }
            "R07" | "R37" => {
                let symbol_type = if name == "R37" { "4" } else { "2" };
                usual.push(("fcm_id", settings.fcm_id.to_string()));
                usual.push(("symbol_type", text(symbol_type)));
                usual.push(("order_source", text("D")));
                usual.push(("info_source", text("999")));
            }
            _ => {}
        }
        let at = self.line.now().wall;
        usual.push(("msg_time", self.text_of(at)));
        let usual = usual.into_iter().map(|(name, text)| (tag(name), text));
        let mut fields: TextFields = usual.collect();
        // A later request repeats fields of the order to which it refers.
        if let Some(order) = self.order_of(name, given) {
            for (tag, text) in order {
                put(&mut fields, *tag, text);
            }
        }
        fields
    }

    /// The fields of the order to which a later request refers.
    fn order_of(&self, name: &str, given: &[(Tag, String)]) -> Option<&TextFields> {
        let is_later = field(given, "exec_type").is_some_and(|it| !matches!(it, "0" | "new"));
        let is_order = matches!(name, "R01" | "R31") && is_later;
        let order_no = field(given, "order_no").filter(|_| is_order)?;
        self.orders.get(order_no)
    }

    /// All fields of a message; its name is the first one.
    fn complete(&mut self, given: &[(Tag, String)]) -> TextFields {
        let name = value(given, MESSAGE).unwrap_or_default().to_owned();
        let mut fields = vec![(MESSAGE, name.clone())];
        fields.extend(self.usual(&name, given));
        for (tag, text) in given {
            put(&mut fields, *tag, text);
        }
        if name == "L40" {
            let append_no = field(&fields, "append_no").and_then(|text| text.parse().ok());
            let right = self
                .settings
                .password
                .key_value(append_no.unwrap_or_default())
                .0;
            let key = match field(given, KEY_VALUE) {
                Some(WRONG) => Some((right + 1) % 100),
                Some(_) => None,
                None => Some(right),
            };
            if let Some(key) = key {
                put(&mut fields, tag(KEY_VALUE), &key.to_string());
            }
        }
        fields
    }

    /// A frame with these fields. The call also updates the state of the link.
    fn made(
        &mut self,
        given: &[(Tag, String)],
        is_garbled: bool,
    ) -> Result<(Vec<u8>, TextFields), SendFailure> {
        let fields = self.complete(given);
        let next = self.numbers.outbound.saturating_add(1);
        let built = frames::build(&fields, next, is_garbled);
        let (frame, fields) = built.map_err(SendFailure::Message)?;
        let number = u32::from_be_bytes([frame[2], frame[3], frame[4], frame[5]]);
        self.numbers.outbound = self.numbers.outbound.max(number);
        let is_new = field(&fields, "exec_type") == Some("0");
        if let Some(order_no) = field(&fields, "order_no").filter(|_| is_new) {
            let kept = fields.iter().filter(|(tag, _)| is_of_order(*tag));
            let kept = kept.cloned().collect();
            self.orders.insert(order_no.to_owned(), kept);
        }
        Ok((frame, fields))
    }

    /// Writes the frame of a message.
    fn write(&mut self, frame: &[u8], fields: &[(Tag, String)]) -> io::Result<()> {
        let name = value(fields, MESSAGE).unwrap_or_default().to_owned();
        let line = frames::shown(fields, &self.secrets);
        self.write_shown(frame, &line, &frames::hex_of_message(frame, &name))?;
        match name.as_str() {
            "R04" => self.asked += 1,
            "L60" => self.ready = self.accepted,
            _ => {}
        }
        Ok(())
    }

    /// Writes bytes, and records them as text and as hex.
    fn write_shown(&mut self, bytes: &[u8], line: &str, hex: &str) -> io::Result<()> {
        let now = self.line.now();
        self.record.at(now.wall, &format!("> {line}"));
        self.record.line(&format!("  {hex}"));
        if bytes.get(12).is_some_and(|code| is_counted(*code)) {
            self.flow.push_back(now.mono);
        }
        let was_open = self.line.is_open();
        let written = self.line.write(bytes);
        if let Err(error) = &written {
            self.note(&format!("not sent: {error}"));
            if was_open && !self.line.is_open() {
                self.note("connection closed by us");
                self.ended();
            }
        }
        written
    }

    /// Sends a message. If the connection was lost, the next read reports it.
    fn send_now(&mut self, name: &str) {
        if let Ok((frame, fields)) = self.made(&[(MESSAGE, name.to_owned())], false) {
            let _ = self.write(&frame, &fields);
        }
    }

    /// Sends the automatic answers that are due, as far as the flow limit allows.
    fn send_due(&mut self) {
        while !self.due.is_empty() && self.has_room(1) {
            if let Some(name) = self.due.pop_front() {
                self.send_now(name);
            }
        }
    }

    /// Number of recent messages that count toward the flow limit.
    fn in_window(&mut self) -> usize {
        let now = self.line.now().mono;
        while self.flow.front().is_some_and(|at| *at + WINDOW <= now) {
            self.flow.pop_front();
        }
        self.flow.len()
    }

    /// Whether `count` more messages stay below 80 % of the flow limit. From 80 % on, replies carry a warning.
    fn has_room(&mut self, count: usize) -> bool {
        let limit = usize::from(self.max_flow);
        // One message is reserved for the answer to an R04.
        let most = (8 * limit).div_ceil(10).saturating_sub(2).max(count);
        limit == 0 || self.in_window() + count <= most
    }

    /// Waits until `count` more messages stay below 80 % of the flow limit.
    fn pace(&mut self, count: usize) {
        while !self.has_room(count) {
            let first = self.flow.front().copied();
            if !first.is_some_and(|first| self.pass(first + WINDOW)) {
                return;
            }
        }
    }

    /// Waits until this time. Received messages are kept for the next steps. Returns false when the run is stopped.
    fn pass(&mut self, until: Mono) -> bool {
        while self.line.is_open() {
            match self.wait_beyond(self.inbox.len(), until) {
                Pumped::Message => {}
                Pumped::Closed => break,
                other => return other == Pumped::TimedOut,
            }
        }
        let now = self.line.now().mono;
        if now < until {
            std::thread::sleep(Duration::from_nanos((until - now).0));
        }
        true
    }

    fn ended(&mut self) {
        let rest = std::mem::take(&mut self.bytes);
        if !rest.is_empty() {
            let at = self.line.now().wall;
            self.record
                .at(at, "< bytes that are not a complete message");
            self.record.line(&format!("  {}", frames::hex(&rest)));
        }
        (self.ready, self.accepted, self.answers) = (false, false, true);
        (self.asked, self.answered) = (0, 0);
        self.tail.clear();
        self.due.clear();
        self.closed_at = Some(self.line.now().mono);
    }

    fn wait_beyond(&mut self, count: usize, until: Mono) -> Pumped {
        loop {
            self.take_frames();
            self.send_due();
            if self.inbox.len() > count {
                return Pumped::Message;
            }
            if !self.line.is_open() {
                return Pumped::Closed;
            }
            let first = self.flow.front().filter(|_| !self.due.is_empty());
            let room_at = first.map_or(Mono::NEVER, |first| *first + WINDOW);
            match self.line.read(until.min(room_at), &mut self.bytes) {
                LineRead::Bytes => {}
                LineRead::Stopped => return Pumped::Stopped,
                LineRead::TimedOut if room_at < until => {}
                LineRead::TimedOut => return Pumped::TimedOut,
                LineRead::Closed => {
                    self.note("connection closed by the venue");
                    self.ended();
                }
            }
        }
    }

    /// Splits the received data into complete frames.
    fn take_frames(&mut self) {
        loop {
            let bytes = std::mem::take(&mut self.bytes);
            let at = self.line.now().wall;
            match self.framing.next(&bytes) {
                Framed::Whole(length) => {
                    self.received(at, &bytes[..length]);
                    self.bytes = bytes[length..].to_vec();
                }
                Framed::More => {
                    self.bytes = bytes;
                    return;
                }
                Framed::Bad(why) => {
                    let fault = format!("received bytes that are not a frame: {why}");
                    self.record.at(at, &format!("< {fault}"));
                    self.record.line(&format!("  {}", frames::hex(&bytes)));
                    self.inbox.push_back(Inbound {
                        fields: TextFields::new(),
                        shown: frames::hex(&bytes[..bytes.len().min(64)]),
                        fault: Some(fault),
                    });
                    self.disconnect();
                    return;
                }
            }
        }
    }
}

/// Whether later requests about an order repeat this field.
fn is_of_order(tag: Tag) -> bool {
    const OF_ORDER: [&str; 12] = [
        "cm_id",
        "symbol_type",
        "symbol",
        "price",
        "qty",
        "account",
        "account_flag",
        "side",
        "ord_type",
        "time_in_force",
        "position_effect",
        "info_source",
    ];
    super::fields::name_of(tag).is_some_and(|name| OF_ORDER.contains(&name))
}

/// Sets a field.
fn put(fields: &mut TextFields, tag: Tag, text: &str) {
    match fields.iter_mut().find(|field| field.0 == tag) {
        Some(field) => text.clone_into(&mut field.1),
        None => fields.push((tag, text.to_owned())),
    }
}

impl PlayedSession for TmpSession {
    fn now(&mut self) -> Now {
        self.line.now()
    }

    fn inbox(&mut self) -> &mut VecDeque<Inbound> {
        &mut self.inbox
    }

    fn record(&mut self) -> &mut CaseRecord {
        &mut self.record
    }

    fn words(&self) -> SessionWords {
        SessionWords {
            login: "a login",
            no_answer: "received no R05 for the R04 after the last step",
        }
    }

    fn is_logged_on(&self) -> bool {
        self.ready && self.line.is_open()
    }

    fn connect(&mut self) -> Result<(), String> {
        self.disconnect();
        self.inbox.clear();
        if let Some(closed_at) = self.closed_at {
            self.pass(closed_at + PAUSE);
        }
        let address = self.line.connect()?;
        self.note(&format!("connected to {address}"));
        Ok(())
    }

    fn disconnect(&mut self) {
        if self.line.is_open() {
            self.line.close();
            self.note("connection closed by us");
            self.ended();
        }
    }

    fn time(&mut self, offset: i64) -> String {
        let mut at = self.line.now().wall;
        at.0 = at.0.saturating_add(offset);
        self.text_of(at)
    }

    fn skip(&mut self, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.numbers.outbound = self.numbers.outbound.saturating_add(count);
    }

    fn set_answers(&mut self, are_sent: bool) {
        self.answers = are_sent;
    }

    fn logon_fields(&self) -> TextFields {
        TextFields::new()
    }

    fn send(
        &mut self,
        fields: &[(Tag, String)],
        _left_out: &[Tag],
        is_garbled: bool,
    ) -> Result<TextFields, SendFailure> {
        self.pace(1);
        let (frame, fields) = self.made(fields, is_garbled)?;
        self.write(&frame, &fields)?;
        Ok(fields)
    }

    fn burst(&mut self, count: u32, fields: &[(Tag, String)]) -> Result<TextFields, SendFailure> {
        let mut sent = TextFields::new();
        for _ in 0..count {
            let (frame, made) = self.made(fields, false)?;
            self.write(&frame, &made)?;
            sent = made;
        }
        Ok(sent)
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), SendFailure> {
        let read = TmpFrame::read(bytes);
        let line = match read {
            Ok(frame) => frames::shown(&frames::read(&frame), &self.secrets),
            Err(_) => format!("{} bytes", bytes.len()),
        };
        Ok(self.write_shown(bytes, &line, &frames::hex(bytes))?)
    }

    fn pump(&mut self, until: Mono) -> Pumped {
        self.wait_beyond(0, until)
    }

    fn gather(&mut self, until: Mono) -> Pumped {
        loop {
            let count = self.inbox.len();
            match self.wait_beyond(count, until) {
                Pumped::Message if count >= INBOX_MAX => self.disconnect(),
                Pumped::Message => {}
                other => return other,
            }
        }
    }

    /// Sends an R04; returns its number on this connection.
    fn probe(&mut self) -> String {
        self.pace(1);
        self.send_now("R04");
        self.asked.to_string()
    }

    fn is_answer(&self, message: &Inbound, id: &str) -> bool {
        value(&message.fields, ORDINAL) == Some(id)
    }

    /// Whether a message is a heartbeat or an answer to a heartbeat.
    fn is_chatter(&self, message: &Inbound) -> bool {
        matches!(message.msg_type(), "R04" | "R05")
    }

    fn log_on(&mut self, within: Nanos) -> Result<(), LogOnFailure> {
        self.log_in(within)
    }

    /// TMP has no logout message, so the connection is closed.
    fn log_out(&mut self, _within: Nanos) {
        self.disconnect();
        self.inbox.clear();
    }

    fn hide(&mut self, secret: &str) {
        self.secrets.add(secret);
    }
}
