//! Time stamps of requests in an OMS. A host that records them is wrapped around the system's host.
//!
//! ```text
//!   T0  the client sent it          the field of its send time, else TransactTime(60)
//!   T1  it was read                 and: it was found, after the message before it was processed
//!   T2  its record was journalled   and: the write that had its last byte returned
//!   T3  the venue's report of it was read, and found
//!   T4  its record was journalled, and the client's report written
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use fixwire_net::{ConnId, Host, HostAround, Ready};
use fixwire_protocol::{Message, Nanos, Outbox, SOH, SessionId, Tag, Timestamp, tag};

use crate::clock::Clock;
use crate::stamp::{FirstState, Stamp, Stamps};

mod frames;

/// Identifies a message, or a frame of a link, when it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Written {
    seq: u64,
    len: usize,
    /// The digits of CheckSum(10); for a frame its checksum and its type.
    sum: [u8; 3],
}

/// Length of `10=ddd` and SOH.
const TRAILER: usize = 7;

impl Written {
    /// The identification of a message in the outbox.
    fn entry(outbox: &Outbox, at: usize) -> Option<Self> {
        let entry = &outbox.entries()[at];
        match entry.is_frame() {
            true => frames::written(outbox.sealed(at)),
            false => Self::of(entry.seq, outbox.sealed(at)),
        }
    }

    fn of(seq: u64, bytes: &[u8]) -> Option<Self> {
        let sum = bytes.len().checked_sub(4)?;
        Some(Self {
            seq,
            len: bytes.len(),
            sum: [bytes[sum], bytes[sum + 1], bytes[sum + 2]],
        })
    }
}

/// Unwritten messages of one session or link.
#[derive(Debug, Default)]
struct Queue {
    conn: Option<ConnId>,
    waiting: VecDeque<(Written, Stamp)>,
}

/// A host that records the times at which requests pass. On the operating system it costs about 150 ns per request.
pub struct StampingHost<H> {
    host: H,
    clock: Clock,
    stamps: Arc<Stamps>,
    /// Whether venue reports are recorded, too.
    answers: bool,
    /// The field with the send time of a request; 0 for none.
    send_time: Tag,
    read: u64,
    found: u64,
    /// The unwritten messages. Queues for sessions and for links alternate.
    queues: Vec<Queue>,
    done: Vec<Stamp>,
    /// Whether something was read or written since the last poll.
    is_busy: bool,
    /// For each connection, the beginning of a message that is not completely written yet.
    cut: Vec<Vec<u8>>,
}

impl<H: Host> StampingHost<H> {
    /// Wraps `host`. With `answers`, the host also records venue reports. While busy, it keeps up to `room` stamps
    /// before it passes them to `stamps`.
    pub fn new(host: H, clock: Clock, stamps: Arc<Stamps>, answers: bool, room: usize) -> Self {
        let nothing = Stamp::new(0, b"", FirstState::Queuing);
        // The memory is written once, so that there are no page faults later.
        let mut done = vec![nothing; room.max(1)];
        done.clear();
        Self {
            host,
            clock,
            stamps,
            answers,
            send_time: 0,
            read: 0,
            found: 0,
            queues: Vec::new(),
            done,
            is_busy: false,
            cut: Vec::new(),
        }
    }

    /// Sets the tag in which clients send the time of a request, nanoseconds since 1970.
    #[must_use]
    pub fn with_send_time(mut self, tag: Tag) -> Self {
        self.send_time = tag;
        self
    }

    fn now_wall(&self) -> u64 {
        self.clock.to_wall(self.clock.now())
    }

    fn end(&mut self, stamp: Stamp) {
        self.done.push(stamp);
        if self.done.len() == self.done.capacity() {
            self.stamps.keep(&mut self.done);
        }
    }

    /// Handles bytes written to a connection: matches each complete message with the waiting ones.
    fn wrote(&mut self, conn: ConnId, bytes: &[u8], at: u64) {
        let index = conn.0 as usize;
        if index >= self.cut.len() {
            self.cut.resize_with(index + 1, Vec::new);
        }
        let mut whole = std::mem::take(&mut self.cut[index]);
        let mut rest = if whole.is_empty() {
            bytes
        } else {
            whole.extend_from_slice(bytes);
            &whole
        };
        loop {
            // The length field of a TMP frame could look like the start of a FIX message only in a frame longer than an
            // OMS sends.
            let is_fix = rest.first() == Some(&b'8');
            let head = if is_fix {
                head(rest)
            } else {
                frames::head(rest)
            };
            let Some((seq, len)) = head.filter(|(_, len)| *len <= rest.len()) else {
                break;
            };
            let message = &rest[..len];
            let written = match is_fix {
                true => Written::of(seq, message),
                false => frames::written(message),
            };
            if let Some(written) = written {
                self.find(conn, written, message, at);
            }
            rest = &rest[len..];
        }
        let rest = rest.to_vec();
        self.cut[index] = rest;
    }

    /// Records a request or report that was just handled; `effect` is the position of its first effect.
    fn note(&mut self, mut stamp: Stamp, found: u64, now: u64, outbox: &Outbox, at: Option<usize>) {
        (stamp.read, stamp.found, stamp.journalled) = (self.read, found, now);
        let place = at.and_then(|at| {
            let SessionId(session) = outbox.entries()[at].session;
            let slot = match SessionId(session).link() {
                Some(link) => 2 * link + 1,
                None => 2 * session as usize,
            };
            Some((slot, Written::entry(outbox, at)?))
        });
        match place {
            Some((slot, written)) => {
                if slot >= self.queues.len() {
                    self.queues.resize_with(slot + 1, Queue::default);
                }
                self.queues[slot].waiting.push_back((written, stamp));
            }
            None => self.end(stamp),
        }
        // The next message counts as found only now, because it had to wait for this message.
        self.found = self.now_wall();
    }

    fn find(&mut self, conn: ConnId, written: Written, message: &[u8], at: u64) {
        let known = self.queues.iter().position(|it| it.conn == Some(conn));
        let is_first =
            |it: &Queue| it.conn.is_none() && it.waiting.front().is_some_and(|it| it.0 == written);
        let Some(index) = known.or_else(|| self.queues.iter().position(is_first)) else {
            return;
        };
        self.queues[index].conn = Some(conn);
        // Unwritten messages before this one will never be sent unchanged.
        while let Some((first, mut stamp)) = self.queues[index].waiting.front().copied() {
            if first.seq > written.seq {
                return;
            }
            self.queues[index].waiting.pop_front();
            let is_found = first == written;
            if is_found {
                stamp.written = at;
                // The order number is searched after the write, so that the search does not delay the write.
                if stamp.order == 0 {
                    stamp.order = match message.first() {
                        Some(b'8') => order(message),
                        _ => frames::order(message),
                    };
                }
            }
            self.end(stamp);
            if is_found {
                return;
            }
        }
    }
}

/// MsgSeqNum(34) and length of the message that begins here; `None` until its header is complete.
fn head(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut fields = bytes.split(|byte| *byte == SOH);
    let (begin, length) = (fields.next()?, fields.next()?);
    let body = number(length.strip_prefix(b"9=")?)?;
    let (_, seq) = (fields.next()?, fields.next()?);
    // The field is complete only if bytes follow it.
    fields.next()?;
    let seq = number(seq.strip_prefix(b"34=")?)?;
    let len = begin.len() + length.len() + 2 + body as usize + TRAILER;
    Some((seq, len))
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Order number in a message of the OMS; 0 without one.
fn order(bytes: &[u8]) -> u64 {
    let mut key: &[u8] = b"37=";
    for field in bytes.split(|byte| *byte == SOH) {
        if matches!(field, b"35=D" | b"35=F" | b"35=G") {
            key = b"11=";
        } else if let Some(id) = field.strip_prefix(key) {
            return order_number(id);
        }
    }
    0
}

/// The order number in a ClOrdID(11) at the venue, `17` or `17-25`, or in an OrderID(37) at the client.
fn order_number(id: &[u8]) -> u64 {
    let digits = id.split(|byte| *byte == b'-').next();
    digits.and_then(number).unwrap_or(0)
}

/// Position of the client's report that a venue report caused; `None` when it caused none.
fn client_report(outbox: &Outbox, from: usize) -> Option<usize> {
    let entries = outbox.entries().get(from..)?;
    let is_report = |kind: &[u8]| matches!(kind, b"8" | b"9");
    let at = entries.iter().position(|it| is_report(it.msg_type()))?;
    Some(from + at)
}

/// State of a request, by the first resulting message, and the position of that message.
fn first_effect(outbox: &Outbox, from: usize) -> Option<(usize, FirstState)> {
    let entries = outbox.entries().get(from..)?;
    let find = |kinds: &[&[u8]]| {
        let mut types = entries.iter().map(|entry| entry.msg_type());
        types.position(|it| kinds.contains(&it))
    };
    let sends = (from..outbox.entries().len()).find(|at| {
        let entry = &outbox.entries()[*at];
        matches!(entry.msg_type(), b"D" | b"F" | b"G")
            || (entry.is_frame() && frames::is_request(outbox.sealed(*at)))
    });
    if let Some(at) = sends {
        return Some((at, FirstState::Sending));
    }
    let at = from + find(&[b"8", b"9", b"3", b"j", b"r"])?;
    let is_rejected = |it: &[u8]| it == b"39=8";
    let state = match outbox.entries()[at].msg_type() {
        b"3" | b"j" => FirstState::Abandoned,
        b"8" if !outbox.sealed(at).split(|it| *it == SOH).any(is_rejected) => FirstState::Queuing,
        _ => FirstState::Rejected,
    };
    Some((at, state))
}

/// T0, nanoseconds since 1970; 0 when the message has none.
fn sent(message: &Message<'_>, send_time: Tag) -> u64 {
    if send_time > 0
        && let Some(Ok(sent)) = message.uint(send_time)
    {
        return sent;
    }
    let text = message.get(tag::TRANSACT_TIME);
    let time = text.and_then(|text| Timestamp::parse(text).ok());
    time.and_then(|time| u64::try_from(time.0).ok())
        .unwrap_or(0)
}

impl<H: Host> HostAround for StampingHost<H> {
    type Within = H;

    fn within(&self) -> &H {
        &self.host
    }

    fn within_mut(&mut self) -> &mut H {
        &mut self.host
    }

    fn on_read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let count = self.host.read(conn, into)?;
        self.is_busy = true;
        if !self.stamps.is_off() {
            self.read = self.now_wall();
            self.found = self.read;
        }
        Ok(count)
    }

    fn on_write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        let count = self.host.write(conn, bytes)?;
        self.is_busy = true;
        if !self.stamps.is_off() {
            let at = self.now_wall();
            self.wrote(conn, &bytes[..count], at);
            // The next message counts as found only now, because it had to wait for this write.
            self.found = self.now_wall();
        }
        Ok(count)
    }

    fn on_handled(&mut self, message: &Message<'_>, outbox: &Outbox, from: usize) {
        if self.stamps.is_off() {
            return;
        }
        let now = self.now_wall();
        let found = std::mem::replace(&mut self.found, now);
        let (kind, is_answer) = match message.msg_type() {
            [kind @ (b'D' | b'F' | b'G')] => (*kind, false),
            [kind @ (b'8' | b'9')] if self.answers => (*kind, true),
            _ => return,
        };
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        let (effect, stamp) = if is_answer {
            let effect = client_report(outbox, from);
            let state = effect.map_or(FirstState::Kept, |_| FirstState::Reported);
            let mut stamp = Stamp::new(kind, id, state);
            stamp.order = order_number(id);
            (effect, stamp)
        } else {
            let effect = first_effect(outbox, from);
            let state = effect.map_or(FirstState::Queuing, |it| it.1);
            let mut stamp = Stamp::new(kind, id, state);
            stamp.sent = sent(message, self.send_time);
            (effect.map(|it| it.0), stamp)
        };
        self.note(stamp, found, now, outbox, effect);
    }

    fn on_handled_frame(&mut self, frame: &[u8], outbox: &Outbox, from: usize) {
        if self.stamps.is_off() {
            return;
        }
        let now = self.now_wall();
        let found = std::mem::replace(&mut self.found, now);
        if !self.answers {
            return;
        }
        let effect = client_report(outbox, from);
        let state = effect.map_or(FirstState::Kept, |_| FirstState::Reported);
        if let Some(stamp) = frames::report(frame, state) {
            self.note(stamp, found, now, outbox, effect);
        }
    }

    fn on_close(&mut self, conn: ConnId) {
        if let Some(cut) = self.cut.get_mut(conn.0 as usize) {
            cut.clear();
        }
        let index = self.queues.iter().position(|it| it.conn == Some(conn));
        if let Some(index) = index {
            let queue = std::mem::take(&mut self.queues[index]);
            for (_, stamp) in queue.waiting {
                self.end(stamp);
            }
        }
        self.host.close(conn);
    }

    fn on_poll(&mut self, wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        // A host that spins lists its connections with or without data.
        let is_idle = !std::mem::take(&mut self.is_busy);
        if (is_idle || wait.0 > 0) && !self.done.is_empty() {
            self.stamps.keep(&mut self.done);
        }
        self.host.poll(wait, ready)
    }
}

impl<H> Drop for StampingHost<H> {
    fn drop(&mut self) {
        self.stamps.keep(&mut self.done);
    }
}

#[cfg(test)]
mod tests;
