//! A counterparty independent of the engine: it keeps every byte it received, and judges it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::LazyLock;

use fixwire::host::{ConnId, ListenerId};
use fixwire::protocol::{Nanos, Now, Timestamp};

use super::frames::{essence, stamp, whole};
use super::net::Net;
use crate::wire::{frame_fault, message, number, show, value};

/// The address of the engine of a world.
pub const ENGINE_PORT: u16 = 1000;
const PAUSE: u64 = 50_000_000;

/// A message that the peer gave a number.
#[derive(Clone, Debug)]
struct Sent {
    kind: String,
    time: String,
    body: String,
}

impl Sent {
    fn is_admin(&self) -> bool {
        matches!(self.kind.as_str(), "0" | "1" | "2" | "3" | "4" | "5" | "A")
    }
}

/// How an order is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Manner {
    /// As usual.
    Plain,
    /// The message gets its number and is not sent.
    Lost,
    /// One byte is modified in transit.
    Garbled,
}

/// The identity of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The CompID of the peer.
    pub name: &'static str,
    /// The first letter of its orders' ids.
    pub letter: char,
    /// The peer's address when it does not dial.
    pub port: u16,
    /// The engine's address.
    pub engine_port: u16,
    /// The BeginString of the peer.
    pub begin: &'static str,
}

/// The counterparty of one session.
pub struct Peer {
    identity: Identity,
    dials: bool,
    listener: Option<ListenerId>,
    not_before: u64,
    conn: Option<ConnId>,
    received: Vec<u8>,
    waiting: Vec<u8>,
    /// Both Logons of this connection have been exchanged.
    pub logged_on: bool,
    /// MsgSeqNum of its next message.
    pub next_out: u64,
    /// MsgSeqNum of the next message it expects.
    pub next_in: u64,
    /// The number of resets of the sequence numbers.
    pub epoch: u64,
    /// The next Logon resets the sequence numbers.
    pub wants_reset: bool,
    sent: Vec<Sent>,
    /// Our own open ResendRequest: it is answered when this number has come.
    asked: Option<u64>,
    /// The engine's ResendRequests on this connection: BeginSeqNo(7), and the time in SendingTime(52).
    engine_asked: Vec<(u64, Timestamp)>,
    /// Every message of the engine by epoch and number, as it first came.
    pub seen: HashMap<(u64, u64), Vec<u8>>,
    /// Every resent message, without the fields that a resend changes.
    pub repeated: HashMap<(u64, u64), Vec<u8>>,
    /// Reports that came in sequence, by ClOrdID.
    pub reports: HashMap<String, u64>,
    /// Orders of the other session that were reported to it in sequence, by ClOrdID.
    pub crossed: HashMap<String, u64>,
    /// Orders ever given a number: ClOrdID to OrderQty.
    pub orders: HashMap<String, u64>,
    /// Numbers of Logons, Logouts and ResendRequests ever sent.
    pub urgent: HashSet<u64>,
    /// The engine has answered an order since the last reset, so it has had number 2.
    answered: bool,
    next_order: u64,
    /// Application messages that came in sequence, for a peer with an application above it.
    pub inbox: Option<Vec<Vec<u8>>>,
    /// A message with a low number was sent: a Logout is the right answer.
    pub provoked: bool,
    /// The engine is being stopped: a Logout is right.
    pub stopping: bool,
    /// The engine has reset the numbers on this connection: the peer's earlier requests are void.
    was_reset: bool,
    /// Our Logon with ResetSeqNumFlag has to follow.
    answers_reset: bool,
    now: Now,
    text: String,
}

impl Peer {
    /// A peer that dials or listens.
    pub fn new(identity: Identity, dials: bool, net: &impl Net) -> Self {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, identity.port));
        Self {
            identity,
            dials,
            listener: (!dials).then(|| net.listen(at)),
            not_before: 0,
            conn: None,
            received: Vec::new(),
            waiting: Vec::new(),
            logged_on: false,
            next_out: 1,
            next_in: 1,
            epoch: 0,
            wants_reset: false,
            sent: Vec::new(),
            asked: None,
            engine_asked: Vec::new(),
            seen: HashMap::new(),
            repeated: HashMap::new(),
            reports: HashMap::new(),
            crossed: HashMap::new(),
            orders: HashMap::new(),
            urgent: HashSet::new(),
            answered: false,
            inbox: None,
            next_order: 0,
            provoked: false,
            stopping: false,
            was_reset: false,
            answers_reset: false,
            now: net.now(),
            text: String::new(),
        }
    }

    /// Who it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Whether the peer dials; otherwise it listens.
    pub fn dials(&self) -> bool {
        self.dials
    }

    /// The connection of the peer.
    pub fn conn(&self) -> Option<ConnId> {
        self.conn
    }

    /// The wall clock, as a `UTCTimestamp`.
    pub fn time(&self) -> String {
        stamp(self.now)
    }

    /// Whether no bytes wait to be sent, and no answer to a ResendRequest is awaited.
    pub fn is_quiet(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_none()
    }

    /// ClOrdIDs of the orders since the last reset.
    pub fn current_orders(&self) -> impl Iterator<Item = &str> {
        let orders = self.sent.iter().filter(|sent| sent.kind == "D");
        orders.filter_map(|sent| sent.body.strip_prefix("11=")?.split('|').next())
    }

    /// One turn: connects, writes, reads and answers.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub fn step(&mut self, net: &impl Net) -> Result<(), String> {
        self.now = net.now();
        if let Some(listener) = self.listener {
            while let Some(conn) = net.accept(listener) {
                let is_away = self.now.mono.0 + PAUSE < self.not_before;
                match self.conn {
                    None if !is_away => self.begin(conn),
                    _ => net.close(conn),
                }
            }
        } else if self.conn.is_none() && self.now.mono.0 >= self.not_before {
            self.not_before = self.now.mono.0 + PAUSE;
            if let Ok(conn) = net.connect(self.identity.engine_port) {
                self.begin(conn);
                self.log_on();
            }
        }
        let Some(conn) = self.conn else { return Ok(()) };
        let mut ended = !self.flush(net, conn);
        let mut chunk = [0; 4096];
        loop {
            match net.read(conn, &mut chunk) {
                Ok(0) => ended = true,
                Ok(count) => {
                    self.received.extend_from_slice(&chunk[..count]);
                    continue;
                }
                Err(error) => ended |= error.kind() != std::io::ErrorKind::WouldBlock,
            }
            break;
        }
        let mut start = 0;
        let received = std::mem::take(&mut self.received);
        while let Some(len) = whole(&received[start..])? {
            let raw = &received[start..start + len];
            start += len;
            if self.take(raw)? {
                ended = true;
                break;
            }
        }
        self.received = received;
        self.received.drain(..start);
        if ended || !self.flush(net, conn) {
            self.end(net);
        }
        Ok(())
    }

    /// Hangs up.
    pub fn end(&mut self, net: &impl Net) {
        if let Some(conn) = self.conn.take() {
            if self.wants_reset {
                // A Logon with a reset on an abandoned connection must not arrive any more.
                net.reset(conn);
            }
            net.close(conn);
        }
        self.received.clear();
        self.waiting.clear();
        self.logged_on = false;
        self.asked = None;
        self.provoked = false;
        self.answers_reset = false;
        self.not_before = self.now.mono.0 + PAUSE;
    }

    /// A new trading session of the schedule begins, and resets the sequence numbers.
    pub fn begin_period(&mut self, net: &impl Net) {
        self.end(net);
        // The messages that wait there belong to the session before.
        while let Some(conn) = self.listener.and_then(|listener| net.accept(listener)) {
            net.close(conn);
        }
        self.begin_anew();
        self.wants_reset = false;
    }

    /// Hangs up, and takes or makes no connection for a time.
    pub fn stay_away(&mut self, net: &impl Net, time: Nanos) {
        self.end(net);
        self.not_before = self.now.mono.0 + time.0;
    }

    fn begin(&mut self, conn: ConnId) {
        self.conn = Some(conn);
        self.engine_asked.clear();
        self.logged_on = false;
        self.was_reset = false;
    }

    fn log_on(&mut self) {
        if self.wants_reset {
            self.begin_anew();
        }
        self.send_logon(self.wants_reset);
    }

    fn send_logon(&mut self, reset: bool) {
        let version = match self.identity.begin {
            "FIXT.1.1" => "1137=9|",
            _ => "",
        };
        let reset = if reset { "141=Y|" } else { "" };
        self.send("A", &format!("98=0|108=30|{version}{reset}"), true);
    }

    /// The sequence numbers of both sides are reset to 1.
    fn begin_anew(&mut self) {
        self.epoch += 1;
        self.sent.clear();
        (self.next_in, self.next_out) = (1, 1);
        self.answered = false;
    }

    /// The engine resets the sequence numbers, with a Logon that is about to be accepted.
    fn reset_by_engine(&mut self) {
        self.begin_anew();
        self.asked = None;
        self.engine_asked.clear();
        self.was_reset = true;
    }

    /// Writes the waiting bytes; false when the connection has failed.
    fn flush(&mut self, net: &impl Net, conn: ConnId) -> bool {
        while !self.waiting.is_empty() {
            match net.write(conn, &self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Sends an order for this quantity; a text makes it longer.
    pub fn order(&mut self, quantity: u64, text: usize, manner: Manner) {
        self.next_order += 1;
        let id = format!("{}{}", self.identity.letter, self.next_order);
        let time = self.time();
        let body = format!(
            "11={id}|21=1|55=FW|54=1|60={time}|38={quantity}|40=1|58={:x<text$}|",
            "t"
        );
        self.orders.insert(id, quantity);
        let from = self.waiting.len();
        self.send("D", &body, manner != Manner::Lost);
        if manner == Manner::Garbled && self.waiting.len() > from {
            let end = self.waiting.len() - 12;
            self.waiting[end] ^= 1;
        }
    }

    /// Sends an application message.
    pub fn say(&mut self, kind: &str, body: &str) {
        self.send(kind, body, true);
    }

    /// Resends an old application message, as after a ResendRequest that was never sent.
    pub fn repeat(&mut self, draw: u64) {
        if self.sent.is_empty() || !self.logged_on {
            return;
        }
        let seq = 1 + draw % self.sent.len() as u64;
        if !self.sent[seq as usize - 1].is_admin() {
            self.resend(seq);
        }
    }

    /// Uses a number a second time, which ends the connection.
    pub fn provoke(&mut self) {
        if self.logged_on && self.answered {
            self.provoked = true;
            // Not 1: an engine that has just asked for a reset takes that as the answer.
            self.write("0", 2, "", "");
        }
    }

    fn send(&mut self, kind: &str, body: &str, transmit: bool) {
        let seq = self.next_out;
        self.next_out += 1;
        if matches!(kind, "A" | "2" | "5") {
            self.urgent.insert(seq);
        }
        self.sent.push(Sent {
            kind: kind.to_owned(),
            time: stamp(self.now),
            body: body.to_owned(),
        });
        if transmit && self.conn.is_some() && (self.logged_on || kind == "A") {
            self.write(kind, seq, "", body);
        }
    }

    fn write(&mut self, kind: &str, seq: u64, extra: &str, body: &str) {
        self.text.clear();
        let time = stamp(self.now);
        let Identity { name, begin, .. } = self.identity;
        let _ = write!(
            self.text,
            "8={begin}|35={kind}|34={seq}|{extra}49={name}|52={time}|56=ENGINE|{body}"
        );
        let raw = message(&self.text);
        self.show("peer  ", &raw);
        self.waiting.extend_from_slice(&raw);
    }

    /// With the variable `SIM_SHOW` the conversation is printed.
    fn show(&self, who: &str, raw: &[u8]) {
        static SHOWN: LazyLock<bool> = LazyLock::new(|| std::env::var_os("SIM_SHOW").is_some());
        if *SHOWN {
            let name = self.identity.name;
            println!(
                "{:>9} {name} {who} {}",
                self.now.mono.0 / 1_000_000,
                show(raw)
            );
        }
    }

    fn resend(&mut self, seq: u64) {
        let sent = self.sent[seq as usize - 1].clone();
        // The clock may have been set back since.
        let time = sent.time.min(stamp(self.now));
        let extra = format!("43=Y|122={time}|");
        self.write(&sent.kind, seq, &extra, &sent.body);
    }

    fn answer(&mut self, from: u64, to: u64) -> Result<(), String> {
        let last = self.next_out - 1;
        let to = if to == 0 { last } else { to.min(last) };
        if from > last && self.was_reset {
            return Ok(());
        }
        if from == 0 || from > last {
            return Err(format!(
                "A3: asks for {from} to {to}, but {last} was the last"
            ));
        }
        let mut seq = from;
        while seq <= to {
            if !self.sent[seq as usize - 1].is_admin() {
                self.resend(seq);
                seq += 1;
                continue;
            }
            let begin = seq;
            while seq <= to && self.sent[seq as usize - 1].is_admin() {
                seq += 1;
            }
            self.write("4", begin, "43=Y|", &format!("123=Y|36={seq}|"));
        }
        Ok(())
    }

    /// Takes one message of the engine; true when the connection ends.
    fn take(&mut self, raw: &[u8]) -> Result<bool, String> {
        self.show("engine", raw);
        if let Some(fault) = frame_fault(raw) {
            return Err(format!(
                "the engine sent a bad frame: {fault}: {}",
                show(raw)
            ));
        }
        let seq = number(raw, "34").ok_or_else(|| format!("no MsgSeqNum: {}", show(raw)))?;
        let kind = value(raw, "35").unwrap_or_default();
        let repeated = value(raw, "43") == Some(b"Y");
        self.compare(raw, seq, kind, repeated)?;
        if seq > self.next_in {
            if kind == b"A" {
                self.logon_came();
            }
            if kind == b"2" {
                self.asked_by_engine(raw)?;
            }
            if self.asked.is_none() {
                self.asked = Some(seq);
                let body = format!("7={}|16=0|", self.next_in);
                self.send("2", &body, true);
            }
            return Ok(false);
        }
        if seq < self.next_in {
            return if repeated {
                Ok(false)
            } else {
                Err(format!("A2: {} was expected: {}", self.next_in, show(raw)))
            };
        }
        self.next_in += 1;
        if self.asked.is_some_and(|upto| self.next_in > upto) {
            self.asked = None;
        }
        match kind {
            b"A" => self.logon_came(),
            b"0" => {}
            b"1" => {
                let id = value(raw, "112").unwrap_or_default();
                let body = format!("112={}|", String::from_utf8_lossy(id));
                self.send("0", &body, true);
            }
            b"2" => self.asked_by_engine(raw)?,
            b"4" => {
                let next = number(raw, "36").unwrap_or_default();
                if next < self.next_in {
                    return Err(format!("gap fill backwards: {}", show(raw)));
                }
                self.next_in = next;
                if self.asked.is_some_and(|upto| self.next_in > upto) {
                    self.asked = None;
                }
            }
            b"5" => {
                self.send("5", "", true);
                if !self.provoked && !self.stopping {
                    return Err(format!("logged out for no reason: {}", show(raw)));
                }
                return Ok(true);
            }
            b"3" | b"8" | b"9" | b"D" | b"F" | b"G" | b"j" if self.inbox.is_some() => {
                self.inbox.get_or_insert_default().push(raw.to_vec());
            }
            b"8" => {
                self.answered = true;
                let id = value(raw, "11").unwrap_or_default();
                let id = String::from_utf8_lossy(id).into_owned();
                *self.reports.entry(id).or_default() += 1;
            }
            b"B" => {
                if let Some(id) = value(raw, "11") {
                    let id = String::from_utf8_lossy(id).into_owned();
                    *self.crossed.entry(id).or_default() += 1;
                }
            }
            b"j" => {}
            // Our ResendRequest, which crossed the reset, was for old numbers.
            b"3" if self.was_reset => {}
            _ => return Err(format!("an unexpected message: {}", show(raw))),
        }
        Ok(false)
    }

    /// Checks a message against a running reset and against the earlier message with its number.
    fn compare(&mut self, raw: &[u8], seq: u64, kind: &[u8], repeated: bool) -> Result<(), String> {
        if kind == b"A" && self.wants_reset {
            if value(raw, "141") != Some(b"Y") || seq != 1 {
                return Err(format!(
                    "a reset was asked for, the answer is {}",
                    show(raw)
                ));
            }
            self.wants_reset = false;
        } else if kind == b"A" && value(raw, "141") == Some(b"Y") && !repeated {
            if seq != 1 {
                return Err(format!("A3: a reset with another number: {}", show(raw)));
            }
            self.reset_by_engine();
            self.answers_reset = true;
        }
        let key = (self.epoch, seq);
        if repeated {
            if kind != b"4" {
                let bare = essence(raw);
                if let Some(first) = self.seen.get(&key)
                    && essence(first) != bare
                {
                    return Err(format!("A2: {} repeats {}", show(raw), show(first)));
                }
                self.repeated.insert(key, bare);
            }
        } else if let Some(first) = self.seen.get(&key) {
            return Err(format!(
                "A2: number {seq} twice: {} and {}",
                show(first),
                show(raw)
            ));
        } else {
            self.seen.insert(key, raw.to_vec());
        }
        Ok(())
    }

    fn logon_came(&mut self) {
        if std::mem::take(&mut self.answers_reset) {
            self.send_logon(true);
        } else if !self.dials && !self.logged_on {
            self.log_on();
        }
        self.logged_on = true;
    }

    fn asked_by_engine(&mut self, raw: &[u8]) -> Result<(), String> {
        let (Some(from), Some(to)) = (number(raw, "7"), number(raw, "16")) else {
            return Err(format!("not a ResendRequest: {}", show(raw)));
        };
        let sent = value(raw, "52").and_then(|text| Timestamp::parse(text).ok());
        let sent = sent.ok_or_else(|| format!("no SendingTime: {}", show(raw)))?;
        // A gap that made no progress for 30 s is requested again; clocks may be stepped by a day.
        let is_soon = |at: Timestamp| at.abs_diff(sent) < Nanos::from_secs(30);
        let mut asked = self.engine_asked.iter();
        if asked.any(|(begin, at)| *begin == from && is_soon(*at)) {
            return Err(format!("A3: a gap is asked for twice: {}", show(raw)));
        }
        self.engine_asked.push((from, sent));
        self.answer(from, to)
    }
}
