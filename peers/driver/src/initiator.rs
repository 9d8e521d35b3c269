//! The initiator: one session on one non-blocking socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::fix::{self, Frame, Inbound, OrderTemplate};
use crate::machine::{now_ns, wall_base};

/// Bytes of the receive buffer, and the room below which what waits is moved to its front.
const BUFFER: usize = 1 << 20;
const BUFFER_LOW: usize = 64 << 10;
/// Heartbeat interval of the session.
const HEARTBEAT_NS: u64 = 30_000_000_000;
/// Without an answer for so long a run is over.
const PATIENCE_NS: u64 = 10_000_000_000;
/// An open-loop run begins so long after its start.
const HEAD_START_NS: u64 = 100_000;
/// Complaints printed for one session.
const COMPLAINTS: u32 = 10;
/// Longest time that is told from a longer one, in nanoseconds: some 73 minutes.
const LONGEST_NS: u64 = 1 << 42;

/// When the next orders are sent.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// One order each interval (in 1/1024 ns), whatever the answers do.
    Open { interval: u64 },
    /// At most `window` orders outstanding, written `batch` at a time.
    Closed { window: u64, batch: u64 },
}

/// What was wrong in a run.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// A report for another order, for none, or with wrong CompIDs.
    pub cl_ord_id: u64,
    /// MsgSeqNum was not the next one.
    pub msg_seq_num: u64,
    /// CheckSum was wrong.
    pub check_sum: u64,
    /// No message could be found in the bytes.
    pub frame: u64,
    /// A message that is neither a report nor of the session layer.
    pub msg_type: u64,
    /// A Reject or BusinessMessageReject.
    pub reject: u64,
    /// Orders without a report.
    pub missing: u64,
}

impl Errors {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Self {
            cl_ord_id,
            msg_seq_num,
            check_sum,
            frame,
            msg_type,
            reject,
            missing,
        } = self;
        cl_ord_id + msg_seq_num + check_sum + frame + msg_type + reject + missing
    }
}

/// What a run gave.
pub struct Run {
    /// Orders sent and answers received.
    pub sent: u64,
    pub received: u64,
    /// From the first order to the last answer, in nanoseconds.
    pub wall_ns: u64,
    pub errors: Errors,
    /// From the time an order was due, and from just before it was built, to its answer.
    pub due: Histogram<u64>,
    pub built: Histogram<u64>,
}

impl Run {
    fn new() -> Self {
        let histogram = || Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("bounds that fit");
        Self {
            sent: 0,
            received: 0,
            wall_ns: 0,
            errors: Errors::default(),
            due: histogram(),
            built: histogram(),
        }
    }

    fn answered(&mut self, at: u64, order: Order) {
        self.received += 1;
        self.due.saturating_record(at.saturating_sub(order.due));
        self.built.saturating_record(at.saturating_sub(order.built));
    }
}

/// One order outstanding.
#[derive(Clone, Copy, Default)]
struct Order {
    cl_ord_id: u64,
    due: u64,
    built: u64,
}

/// A logged-on session with an acceptor.
pub struct Initiator {
    socket: TcpStream,
    received: Vec<u8>,
    from: usize,
    to: usize,
    out: Vec<u8>,
    written: usize,
    next_out: u64,
    next_in: u64,
    template: OrderTemplate,
    /// Orders outstanding, a ring.
    orders: Vec<Order>,
    head: u64,
    tail: u64,
    last_cl_ord_id: u64,
    last_sent: u64,
    run: Run,
    /// The acceptor has ended the session, or it can no longer be followed.
    pub ended: bool,
    logged_on: bool,
    logging_out: bool,
    complaints: u32,
    /// The first report, for whoever wants to see it.
    pub first_report: Vec<u8>,
}

impl Initiator {
    /// A session over this connection, with room for so many orders outstanding.
    pub fn new(socket: TcpStream, room: u64) -> Self {
        let room = room.max(1 << 16).next_power_of_two() as usize;
        Self {
            socket,
            received: vec![0; BUFFER],
            from: 0,
            to: 0,
            out: Vec::with_capacity(BUFFER),
            written: 0,
            next_out: 1,
            next_in: 1,
            template: OrderTemplate::new(),
            orders: vec![Order::default(); room],
            head: 0,
            tail: 0,
            last_cl_ord_id: 0,
            last_sent: now_ns(),
            run: Run::new(),
            ended: false,
            logged_on: false,
            logging_out: false,
            complaints: 0,
            first_report: Vec::new(),
        }
    }

    /// Logs on within ten seconds; with `reset`, ResetSeqNumFlag=Y.
    pub fn log_on(&mut self, reset: bool) -> bool {
        let flag = if reset { "141=Y\x01" } else { "" };
        self.send_admin("A", &format!("98=0\x01108=30\x01{flag}"));
        self.serve_until(10_000, |session| session.logged_on);
        self.logged_on
    }

    /// Logs out and waits a second for the acceptor to end the connection.
    pub fn log_out(&mut self) {
        self.logging_out = true;
        self.send_admin("5", "");
        self.serve_until(1_000, |_| false);
    }

    /// Keeps the session alive without orders.
    pub fn idle(&mut self, millis: u64) {
        self.serve_until(millis, |_| false);
    }

    fn serve_until(&mut self, millis: u64, done: impl Fn(&Self) -> bool) {
        let until = now_ns() + millis * 1_000_000;
        while now_ns() < until && !self.ended && !done(self) {
            if !self.receive() {
                thread::sleep(Duration::from_millis(1));
            }
            self.heartbeat(now_ns());
        }
    }

    /// Sends `count` orders at a pace, for at most `most_ns`, and waits for their answers.
    pub fn run(&mut self, pace: Pace, count: u64, most_ns: u64) -> Run {
        self.run = Run::new();
        let began = now_ns();
        let (mut target, mut sent) = (count, 0);
        let (mut progress, mut seen) = (began, self.head);
        loop {
            let now = now_ns();
            if sent < target {
                if now - began > most_ns {
                    target = sent;
                } else if self.out.is_empty() {
                    sent += self.send_due(pace, began, now, sent, target);
                }
            }
            if !self.out.is_empty() {
                self.flush();
            }
            self.receive();
            if self.head != seen {
                (seen, progress) = (self.head, now);
            }
            if self.ended || (sent >= target && self.head == self.tail) {
                break;
            }
            if now - progress > PATIENCE_NS {
                eprintln!(
                    "no answer for 10 s with {} orders outstanding",
                    self.outstanding()
                );
                break;
            }
            self.heartbeat(now);
        }
        self.run.sent = sent;
        self.run.wall_ns = now_ns() - began;
        self.run.errors.missing = self.outstanding();
        // Answers can no longer be matched.
        self.ended |= self.outstanding() > 0;
        std::mem::replace(&mut self.run, Run::new())
    }

    /// Sends what is due now; the number of orders.
    fn send_due(&mut self, pace: Pace, began: u64, now: u64, sent: u64, target: u64) -> u64 {
        let (due, count) = match pace {
            Pace::Open { interval } => {
                let offset = ((u128::from(sent) * u128::from(interval)) >> 10) as u64;
                let due = began + HEAD_START_NS + offset;
                (due, u64::from(now >= due))
            }
            Pace::Closed { window, batch } => {
                let free = window.saturating_sub(self.outstanding());
                (
                    now,
                    if free >= batch {
                        batch.min(target - sent)
                    } else {
                        0
                    },
                )
            }
        };
        for _ in 0..count {
            self.queue_order(due, now);
        }
        if count > 0 {
            self.flush();
        }
        count
    }

    fn outstanding(&self) -> u64 {
        self.tail - self.head
    }

    fn queue_order(&mut self, due: u64, built: u64) {
        self.last_cl_ord_id = due.max(self.last_cl_ord_id + 1);
        let cl_ord_id = wall_base() + self.last_cl_ord_id;
        let order = self.template.render(self.next_out, cl_ord_id, built);
        self.out.extend_from_slice(order);
        self.next_out += 1;
        let slot = self.tail as usize & (self.orders.len() - 1);
        self.orders[slot] = Order {
            cl_ord_id,
            due,
            built,
        };
        self.tail += 1;
    }

    fn send_admin(&mut self, msg_type: &str, body: &str) {
        let message = fix::admin(msg_type, self.next_out, body);
        self.next_out += 1;
        self.out.extend_from_slice(&message);
        self.flush();
    }

    fn heartbeat(&mut self, now: u64) {
        if now.saturating_sub(self.last_sent) > HEARTBEAT_NS {
            self.send_admin("0", "");
        }
    }

    fn flush(&mut self) {
        while self.written < self.out.len() {
            match self.socket.write(&self.out[self.written..]) {
                Ok(count) => {
                    self.written += count;
                    self.last_sent = now_ns();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    eprintln!("cannot send: {error}");
                    self.ended = true;
                    return;
                }
            }
        }
        self.out.clear();
        self.written = 0;
    }

    /// Reads once and works off whole messages; true when bytes came.
    fn receive(&mut self) -> bool {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        } else if self.to > BUFFER - BUFFER_LOW {
            self.received.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        let count = match self.socket.read(&mut self.received[self.to..]) {
            Ok(0) => {
                self.ended = true;
                return false;
            }
            Ok(count) => count,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return false;
            }
            Err(error) => {
                eprintln!("cannot receive: {error}");
                self.ended = true;
                return false;
            }
        };
        // Before any check of the answer.
        let at = now_ns();
        self.to += count;
        loop {
            match fix::frame(&self.received[self.from..self.to]) {
                Frame::Partial => return true,
                Frame::Garbled => {
                    self.run.errors.frame += 1;
                    self.complain("no message in", self.from..self.to.min(self.from + 400));
                    self.ended = true;
                    return true;
                }
                Frame::Whole { len } => {
                    let from = self.from;
                    self.from += len;
                    self.take(from..self.from, at);
                }
            }
        }
    }

    fn take(&mut self, place: std::ops::Range<usize>, at: u64) {
        let inbound = Inbound::parse(&self.received[place.clone()]);
        if !inbound.check_sum_is_right {
            self.run.errors.check_sum += 1;
            self.complain("wrong CheckSum", place.clone());
        }
        if inbound.msg_seq_num != self.next_in {
            self.run.errors.msg_seq_num += 1;
            self.complain(
                &format!("expected MsgSeqNum {}", self.next_in),
                place.clone(),
            );
        }
        self.next_in = inbound.msg_seq_num.wrapping_add(1);
        match inbound.msg_type {
            b'8' => self.take_report(&inbound, place, at),
            b'A' => self.logged_on = true,
            b'0' => {}
            b'1' => {
                let id = fix::field(&self.received[place], b"112").unwrap_or_default();
                let id = String::from_utf8_lossy(id).into_owned();
                self.send_admin("0", &format!("112={id}\x01"));
            }
            b'5' => {
                if !self.logging_out {
                    self.complain("Logout", place);
                }
                self.ended = true;
            }
            b'3' | b'j' => {
                self.run.errors.reject += 1;
                // The order that it refuses gets no report.
                self.head += u64::from(self.head < self.tail);
                self.complain("Reject", place);
            }
            _ => {
                self.run.errors.msg_type += 1;
                self.complain("unexpected MsgType", place);
            }
        }
    }

    fn take_report(&mut self, inbound: &Inbound, place: std::ops::Range<usize>, at: u64) {
        if self.head == self.tail {
            self.run.errors.cl_ord_id += 1;
            self.complain("an ExecutionReport that no order waits for", place);
            return;
        }
        let order = self.orders[self.head as usize & (self.orders.len() - 1)];
        self.head += 1;
        if inbound.cl_ord_id != order.cl_ord_id || !inbound.comp_ids_are_right {
            self.run.errors.cl_ord_id += 1;
            self.complain(
                &format!("expected EXEC, BENCH and ClOrdID {}", order.cl_ord_id),
                place,
            );
            return;
        }
        if self.first_report.is_empty() {
            self.first_report.extend_from_slice(&self.received[place]);
        }
        self.run.answered(at, order);
    }

    fn complain(&mut self, what: &str, place: std::ops::Range<usize>) {
        self.complaints += 1;
        if self.complaints <= COMPLAINTS {
            eprintln!("{what}: {}", fix::printable(&self.received[place]));
        }
    }
}
