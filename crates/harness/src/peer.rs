//! The counterparty of one session. The simulated peer behaves like a real one: it keeps its sequence numbers and
//! messages across connections, requests missing messages, and answers a ResendRequest with possible duplicates.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};

use fixwire_engine::host::sim::SimNet;
use fixwire_engine::host::{ConnId, ListenerId};
use fixwire_engine::protocol::session::{Config, is_admin};
use fixwire_engine::protocol::{Frame, Now, Precision, TimestampWriter, frame};
use fixwire_engine::{Connection, SessionConfig};

use crate::wire::{Received, readable};

/// The node number of all peers in a simulated network. Engines have other numbers.
const NODE: u32 = 0;
/// Time in nanoseconds after which a peer connects again.
const PAUSE: u64 = 50_000_000;
/// Maximum length of a message, in bytes.
const LONGEST: usize = 1 << 20;

/// A message that the peer has sent with a MsgSeqNum.
#[derive(Debug)]
struct Sent {
    msg_type: String,
    /// SendingTime(52) when the message was first sent.
    time: String,
    body: String,
    /// Whether the message has PossResend(97) = Y.
    may_be_known: bool,
}

/// The counterparty of one session.
#[derive(Debug)]
pub struct Peer {
    name: String,
    fix: Config,
    /// The port to which the peer connects, or on which it listens.
    port: u16,
    dials: bool,
    listener: Option<ListenerId>,
    not_before: u64,
    conn: Option<ConnId>,
    arrived: Vec<u8>,
    waiting: Vec<u8>,
    logged_on: bool,
    next_in: u64,
    sent: Vec<Sent>,
    /// The MsgSeqNum whose arrival completes the answer to our ResendRequest.
    asked: Option<u64>,
    seen: BTreeMap<u64, Received>,
    now: Now,
    /// Messages that were exchanged since the last call.
    pub(crate) trace: Vec<String>,
}

impl Peer {
    pub(crate) fn new(session: &SessionConfig, net: &SimNet) -> Self {
        let (dials, port) = match &session.connection {
            Connection::Acceptor { listen } => (true, listen.port()),
            Connection::Initiator { hosts, .. } => (false, hosts.first().map_or(0, |host| host.1)),
        };
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Self {
            name: session.name.clone(),
            fix: session.session.clone(),
            port,
            dials,
            listener: (!dials).then(|| net.listen(NODE, at)),
            not_before: 0,
            conn: None,
            arrived: Vec::new(),
            waiting: Vec::new(),
            logged_on: false,
            next_in: 1,
            sent: Vec::new(),
            asked: None,
            seen: BTreeMap::new(),
            now: net.now(),
            trace: Vec::new(),
        }
    }

    /// The name that the engine has for the session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.name
    }

    /// Whether both Logons of the connection have been exchanged.
    #[must_use]
    pub fn is_logged_on(&self) -> bool {
        self.logged_on
    }

    /// The application messages and rejects that the peer has received, without duplicates, in the order of
    /// MsgSeqNum.
    pub fn received(&self) -> impl Iterator<Item = &Received> {
        self.seen
            .values()
            .filter(|message| message.msg_type == "3" || !is_admin(message.msg_type.as_bytes()))
    }

    /// The MsgSeqNum of the peer's next message.
    #[must_use]
    pub fn next_out(&self) -> u64 {
        self.sent.len() as u64 + 1
    }

    /// Next expected MsgSeqNum.
    #[must_use]
    pub fn next_in(&self) -> u64 {
        self.next_in
    }

    /// Whether the peer is logged on, has nothing to write, and waits for no requested messages.
    pub(crate) fn is_quiet(&self) -> bool {
        self.logged_on && self.waiting.is_empty() && self.asked.is_none()
    }

    /// Sends a message with the fields in `body`, where `|` stands for SOH. The message is sent now, or after the next
    /// Logon when the engine requests it. Returns the MsgSeqNum of the message.
    pub fn send(&mut self, msg_type: &str, body: &str) -> u64 {
        self.send_new(msg_type, body, false)
    }

    /// Sends an earlier message as a new one with PossResend(97), as if the peer did not know whether it has arrived.
    /// Returns the new MsgSeqNum; `None` when no message was sent as `seq`.
    pub fn send_again(&mut self, seq: u64) -> Option<u64> {
        let sent = self.sent.get((seq as usize).checked_sub(1)?)?;
        let (msg_type, body) = (sent.msg_type.clone(), sent.body.clone());
        Some(self.send_new(&msg_type, &body, true))
    }

    fn send_new(&mut self, msg_type: &str, body: &str, may_be_known: bool) -> u64 {
        let body = match body.is_empty() || body.ends_with('|') {
            true => body.to_owned(),
            false => format!("{body}|"),
        };
        let time = self.time();
        self.sent.push(Sent {
            msg_type: msg_type.to_owned(),
            time,
            body,
            may_be_known,
        });
        let seq = self.sent.len() as u64;
        if self.logged_on || msg_type == "A" {
            self.write(seq, false);
        }
        seq
    }

    /// Sends an earlier message again, with its MsgSeqNum and with PossDupFlag(43).
    pub fn repeat(&mut self, seq: u64) {
        if self.logged_on && (1..self.next_out()).contains(&seq) {
            self.write(seq, true);
        }
    }

    /// The MsgSeqNum of the peer's last application message.
    pub(crate) fn last_application(&self) -> Option<u64> {
        let is_application = |sent: &Sent| !is_admin(sent.msg_type.as_bytes());
        let at = self.sent.iter().rposition(is_application)?;
        Some(at as u64 + 1)
    }

    /// Closes the connection of the peer, which connects again by itself.
    pub(crate) fn disconnect(&mut self, net: &SimNet) {
        if let Some(conn) = self.conn.take() {
            net.close(conn);
        }
        self.arrived.clear();
        self.waiting.clear();
        self.logged_on = false;
        self.asked = None;
        self.not_before = self.now.mono.0 + PAUSE;
    }

    /// Plays one turn: connects, reads, answers and writes.
    ///
    /// # Errors
    ///
    /// The engine's error.
    pub(crate) fn step(&mut self, net: &SimNet) -> Result<(), String> {
        self.now = net.now();
        self.connect(net);
        let Some(conn) = self.conn else { return Ok(()) };
        let mut ended = !self.flush(net, conn);
        let mut chunk = [0; 4096];
        loop {
            match net.read(conn, &mut chunk) {
                Ok(0) => ended = true,
                Ok(count) => {
                    self.arrived.extend_from_slice(&chunk[..count]);
                    continue;
                }
                Err(error) => ended |= error.kind() != ErrorKind::WouldBlock,
            }
            break;
        }
        let arrived = std::mem::take(&mut self.arrived);
        let mut rest = &arrived[..];
        while !rest.is_empty() {
            let len = match frame::next(rest, LONGEST) {
                Frame::Whole { skip: 0, len } => len,
                Frame::Partial { skip: 0 } => break,
                other => return Err(format!("bytes that are not a message: {other:?}")),
            };
            let message = Received::read(&rest[..len])?;
            rest = &rest[len..];
            if self.take(message)? {
                ended = true;
                break;
            }
        }
        self.arrived = rest.to_vec();
        if ended || !self.flush(net, conn) {
            self.disconnect(net);
        }
        Ok(())
    }

    fn connect(&mut self, net: &SimNet) {
        let found = match self.listener {
            Some(listener) => {
                let found = net.accept(listener);
                if let (Some(conn), Some(_)) = (found, self.conn) {
                    net.close(conn);
                    return;
                }
                found
            }
            None if self.conn.is_none() && self.now.mono.0 >= self.not_before => {
                self.not_before = self.now.mono.0 + PAUSE;
                net.connect(NODE, self.port).ok()
            }
            None => None,
        };
        if let Some(conn) = found {
            self.conn = Some(conn);
            self.trace("connected");
            if self.dials {
                self.log_on();
            }
        }
    }

    fn log_on(&mut self) {
        let seconds = self.fix.heart_bt_int_seconds;
        let mut body = format!("98=0|108={seconds}|");
        if let Some(version) = self.fix.default_appl_ver_id {
            body += &format!("1137={}|", version.number());
        }
        if self.dials {
            let text = String::from_utf8_lossy;
            if !self.fix.username.is_empty() {
                body += &format!("553={}|", text(&self.fix.username));
            }
            if !self.fix.password.is_empty() {
                body += &format!("554={}|", text(&self.fix.password));
            }
        }
        self.send("A", &body);
    }

    /// Writes bytes that wait. False when the connection has failed.
    fn flush(&mut self, net: &SimNet, conn: ConnId) -> bool {
        while !self.waiting.is_empty() {
            match net.write(conn, &self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Writes the message that has this MsgSeqNum.
    fn write(&mut self, seq: u64, again: bool) {
        let sent = &self.sent[seq as usize - 1];
        let mut marks = String::new();
        if again {
            marks = format!("43=Y|122={}|", sent.time);
        }
        if sent.may_be_known {
            marks += "97=Y|";
        }
        let (msg_type, body) = (sent.msg_type.clone(), sent.body.clone());
        self.write_message(&msg_type, seq, &marks, &body);
    }

    fn write_message(&mut self, msg_type: &str, seq: u64, marks: &str, body: &str) {
        let begin = self.fix.begin_string.as_str();
        // The sender is the peer of the engine.
        let (from, to) = (&self.fix.peer, &self.fix.own);
        let mut fields = format!("35={msg_type}|34={seq}|{marks}52={}|", self.time());
        let ids = [
            (49, &from.comp_id),
            (50, &from.sub_id),
            (142, &from.location_id),
            (56, &to.comp_id),
            (57, &to.sub_id),
            (143, &to.location_id),
        ];
        for (tag, id) in ids.iter().filter(|(_, id)| !id.is_empty()) {
            fields += &format!("{tag}={}|", String::from_utf8_lossy(id));
        }
        fields += body;
        let mut bytes = format!("8={begin}|9={}|{fields}", fields.len())
            .replace('|', "\x01")
            .into_bytes();
        let sum = frame::check_sum(&bytes);
        bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        self.trace(&format!("> {}", readable(&bytes)));
        self.waiting.extend_from_slice(&bytes);
    }

    /// Handles one message of the engine. Returns true when the connection ends.
    fn take(&mut self, message: Received) -> Result<bool, String> {
        self.trace(&format!("< {}", readable(&message.bytes)));
        let seq = message.seq;
        if message.get(141) == Some("Y") {
            return Err(
                "its sequence numbers reset, which the simulated peers do not support".to_owned(),
            );
        }
        if let Some(first) = self.seen.get(&seq)
            && message.msg_type != "4"
            && first.essence(&[]) != message.essence(&[])
        {
            return Err(format!(
                "MsgSeqNum {seq} is used for two messages: {} and {}",
                readable(&first.bytes),
                readable(&message.bytes)
            ));
        }
        if seq > self.next_in {
            if message.msg_type == "A" {
                self.logon_came();
            }
            if message.msg_type == "2" {
                self.answer(&message)?;
            }
            if self.asked.is_none() {
                self.asked = Some(seq);
                let body = format!(
                    "7={}|16={}|",
                    self.next_in,
                    self.fix.begin_string.infinity()
                );
                self.send("2", &body);
            }
            return Ok(false);
        }
        if seq < self.next_in {
            return match message.get(43) {
                Some("Y") => Ok(false),
                _ => Err(format!(
                    "MsgSeqNum too low, expecting {} but received {}",
                    self.next_in,
                    readable(&message.bytes)
                )),
            };
        }
        self.next_in = match message.msg_type.as_str() {
            "4" => message.number(36).unwrap_or_default().max(seq + 1),
            _ => seq + 1,
        };
        if self.asked.is_some_and(|upto| self.next_in > upto) {
            self.asked = None;
        }
        let mut ends = false;
        match message.msg_type.as_str() {
            "A" => self.logon_came(),
            "1" => {
                let body = format!("112={}|", message.get(112).unwrap_or_default());
                self.send("0", &body);
            }
            "2" => self.answer(&message)?,
            "5" => {
                self.send("5", "");
                ends = true;
            }
            _ => {}
        }
        if message.msg_type != "4" {
            self.seen.insert(seq, message);
        }
        Ok(ends)
    }

    fn logon_came(&mut self) {
        if !self.dials && !self.logged_on {
            self.log_on();
        }
        self.logged_on = true;
    }

    /// Answers a ResendRequest. Admin messages are gap-filled, and all others are resent as possible duplicates.
    fn answer(&mut self, request: &Received) -> Result<(), String> {
        let last = self.sent.len() as u64;
        let from = request.number(7).unwrap_or_default();
        let to = match request.number(16) {
            Some(to) if to != self.fix.begin_string.infinity() => to.min(last),
            _ => last,
        };
        if from == 0 || from > last {
            return Err(format!(
                "a ResendRequest from {from}, but {last} was sent last"
            ));
        }
        let mut seq = from;
        while seq <= to {
            let begin = seq;
            while seq <= to && is_admin(self.sent[seq as usize - 1].msg_type.as_bytes()) {
                seq += 1;
            }
            if begin < seq {
                self.write_message("4", begin, "43=Y|", &format!("123=Y|36={seq}|"));
            } else {
                self.write(seq, true);
                seq += 1;
            }
        }
        Ok(())
    }

    fn trace(&mut self, what: &str) {
        let line = format!("{} {what}", self.name);
        self.trace.push(line);
    }

    fn time(&self) -> String {
        let mut stamp = TimestampWriter::new();
        let text = stamp.format(self.now.wall, Precision::Millis);
        String::from_utf8_lossy(text).into_owned()
    }
}
