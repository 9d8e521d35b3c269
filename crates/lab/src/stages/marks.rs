//! The time stamps at both ends of a pair, and the host that takes them.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fixwire::Host;
use fixwire::host::{ConnId, HostAround, Mark};
use fixwire_protocol::{Message, Outbox, SOH, tag};
use fixwire_stamps::clock::Clock;
use fixwire_stamps::scenario::{EXECUTION_REPORT, NEW_ORDER_SINGLE};

use super::StagedOrder;
use crate::load::Load;

/// Orders whose MsgSeqNum(34) is a multiple of this are time-stamped.
const EVERY: u64 = 16;

/// The time stamps of one order at one end, as clock readings; 0 for a time stamp that is missing.
#[derive(Clone, Copy, Debug, Default)]
struct Marked {
    cl_ord_id: u64,
    read: u64,
    found: u64,
    parsed: u64,
    checked: u64,
    answered: u64,
    sealed: u64,
    journalled: u64,
    writing: u64,
}

/// The time-stamped orders of one end in one run, oldest first.
#[derive(Debug, Default)]
struct EndMarks {
    orders: Vec<Marked>,
    /// Orders before this index are written, or their reports are written.
    written: usize,
    /// Orders before this index are answered, or are older than an answered order.
    answered: usize,
}

impl EndMarks {
    /// Adds an order; returns its index, or `None` when there is no room.
    fn add(&mut self, order: Marked) -> Option<usize> {
        let place = self.orders.len();
        if place == self.orders.capacity() {
            return None;
        }
        self.orders.push(order);
        Some(place)
    }

    /// Index of the order that a report answers, if the order is time-stamped. ClOrdIDs increase.
    fn take_answered(&mut self, cl_ord_id: u64) -> Option<usize> {
        let waiting = &self.orders[self.answered..];
        let older = waiting.iter().take_while(|it| it.cl_ord_id < cl_ord_id);
        self.answered += older.count();
        let place = self.answered;
        if self.orders.get(place)?.cl_ord_id != cl_ord_id {
            return None;
        }
        self.answered += 1;
        Some(place)
    }

    /// ClOrdID of the oldest order without a report. When every order has one, a value above all ClOrdIDs.
    fn oldest(&self) -> u64 {
        let oldest = self.orders.get(self.answered);
        oldest.map_or(u64::MAX, |order| order.cl_ord_id)
    }
}

type SharedMarks = Arc<Mutex<EndMarks>>;

fn lock(marks: &SharedMarks) -> MutexGuard<'_, EndMarks> {
    marks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time stamps of both ends.
#[derive(Clone, Debug)]
pub struct PairMarks {
    clock: Clock,
    initiator: SharedMarks,
    acceptor: SharedMarks,
}

impl PairMarks {
    /// Takes no time stamps before [`begin`](Self::begin). The trader must use the same clock.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            initiator: SharedMarks::default(),
            acceptor: SharedMarks::default(),
        }
    }

    /// Wraps the system's host for the initiator.
    pub fn initiator<H>(&self, host: H) -> MarkingHost<H> {
        MarkingHost::new(host, self.clock, self.initiator.clone())
    }

    /// Wraps the system's host for the acceptor.
    pub fn acceptor<H>(&self, host: H) -> MarkingHost<H> {
        MarkingHost::new(host, self.clock, self.acceptor.clone())
    }

    /// Begins a run of this number of orders. Allocates all memory for the time stamps.
    pub fn begin(&self, orders: usize) {
        let room = orders.div_ceil(EVERY as usize);
        for marks in [&self.initiator, &self.acceptor] {
            // Touches the memory once, so that the run has no page faults.
            let mut orders = vec![
                Marked {
                    read: 1,
                    ..Marked::default()
                };
                room
            ];
            orders.clear();
            *lock(marks) = EndMarks {
                orders,
                ..EndMarks::default()
            };
        }
    }

    /// Ends the run; returns the orders that have all time stamps.
    pub fn end(&self, load: &Load) -> Vec<StagedOrder> {
        let near = std::mem::take(&mut *lock(&self.initiator)).orders;
        let far = std::mem::take(&mut *lock(&self.acceptor)).orders;
        let staged = |near: &Marked| {
            let due = self.clock.from_wall(near.cl_ord_id)?;
            let (start, answer) = load.times(due)?;
            let far_index = far.binary_search_by_key(&near.cl_ord_id, |it| it.cl_ord_id);
            near.join(&far[far_index.ok()?], [due, start, answer])
        };
        near.iter().filter_map(staged).collect()
    }
}

impl Marked {
    /// The stages of an order, from its time stamps at the initiator and at the acceptor and from its times in the
    /// load. `None` when a time stamp is missing or earlier than the one before it.
    fn join(&self, far: &Self, [due, start, answer]: [u64; 3]) -> Option<StagedOrder> {
        StagedOrder::between([
            due,
            start,
            self.answered,
            self.sealed,
            self.journalled,
            self.writing,
            far.read,
            far.found,
            far.parsed,
            far.checked,
            far.answered,
            far.sealed,
            far.journalled,
            far.writing,
            self.read,
            self.found,
            self.parsed,
            self.checked,
            answer,
        ])
    }
}

/// The message that is being processed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum AtHand {
    /// No message is being processed: output of the application is not an answer.
    Nothing,
    /// A message that is not time-stamped.
    Other,
    /// A time-stamped order or its report, by index in [`EndMarks::orders`].
    Marked(usize),
}

/// Wraps another host and takes the time stamps of one end.
#[derive(Debug)]
pub struct MarkingHost<H> {
    host: H,
    clock: Clock,
    marks: SharedMarks,
    at_hand: AtHand,
    /// Whether a time-stamped message is not written yet.
    has_unwritten: bool,
    /// End of the last read.
    read: u64,
    /// End of the last read, or of the work on the previous message.
    found: u64,
    /// Bytes that were read and not handled yet. The clock is read after a message only when more messages follow it.
    unhandled: usize,
    /// When the application last wrote something that is not an answer.
    built: u64,
    /// ClOrdID of the oldest time-stamped order without a report. Answers to older orders are not looked up.
    oldest: u64,
}

impl<H> MarkingHost<H> {
    fn new(host: H, clock: Clock, marks: SharedMarks) -> Self {
        Self {
            host,
            clock,
            marks,
            at_hand: AtHand::Nothing,
            has_unwritten: false,
            read: 0,
            found: 0,
            unhandled: 0,
            built: 0,
            oldest: 0,
        }
    }

    /// A message was parsed, and its processing begins.
    fn parsed(&mut self, message: &Message<'_>) {
        let index = match message.msg_type() {
            NEW_ORDER_SINGLE => self.parsed_order(message),
            EXECUTION_REPORT => self.parsed_report(message),
            _ => None,
        };
        self.at_hand = index.map_or(AtHand::Other, AtHand::Marked);
    }

    fn parsed_order(&mut self, order: &Message<'_>) -> Option<usize> {
        let number = order.uint(tag::MSG_SEQ_NUM)?.ok()?;
        if !number.is_multiple_of(EVERY) {
            return None;
        }
        let parsed = self.clock.now();
        let added = lock(&self.marks).add(Marked {
            cl_ord_id: order.uint(tag::CL_ORD_ID)?.ok()?,
            read: self.read,
            found: self.found,
            parsed,
            ..Marked::default()
        });
        self.has_unwritten |= added.is_some();
        added
    }

    fn parsed_report(&mut self, report: &Message<'_>) -> Option<usize> {
        let cl_ord_id = report.uint(tag::CL_ORD_ID)?.ok()?;
        if cl_ord_id < self.oldest {
            return None;
        }
        let marks = &mut *lock(&self.marks);
        let index = marks.take_answered(cl_ord_id);
        self.oldest = marks.oldest();
        let index = index?;
        let order = &mut marks.orders[index];
        (order.read, order.found, order.parsed) = (self.read, self.found, self.clock.now());
        Some(index)
    }

    /// Messages got their MsgSeqNum. Unsolicited messages may be orders.
    fn sealed(&mut self, outbox: &Outbox, from: usize) {
        if self.at_hand == AtHand::Nothing {
            for (index, entry) in outbox.entries().iter().enumerate().skip(from) {
                if !entry.is_discarded()
                    && entry.seq.is_multiple_of(EVERY)
                    && entry.msg_type() == NEW_ORDER_SINGLE
                    && let Some(cl_ord_id) = cl_ord_id(outbox.sealed(index))
                {
                    let mut marks = lock(&self.marks);
                    let added = marks.add(Marked {
                        cl_ord_id,
                        answered: self.built,
                        ..Marked::default()
                    });
                    self.oldest = marks.oldest();
                    self.has_unwritten |= added.is_some();
                }
            }
        }
        self.mark_unwritten(|order| &mut order.sealed);
    }

    /// The application has returned from handling a message.
    fn answered(&mut self) {
        match self.at_hand {
            AtHand::Nothing => self.built = self.clock.now(),
            _ => self.mark_at_hand(|order| &mut order.answered),
        }
    }

    /// Sets a time stamp of the current message, unless it is set already. So a report does not change the time
    /// stamps of its order.
    fn mark_at_hand(&mut self, pick: fn(&mut Marked) -> &mut u64) {
        if let AtHand::Marked(index) = self.at_hand {
            let now = self.clock.now();
            if let Some(mark) = lock(&self.marks).orders.get_mut(index).map(pick)
                && *mark == 0
            {
                *mark = now;
            }
        }
    }

    /// Sets a time stamp of each unwritten message that lacks this time stamp.
    fn mark_unwritten(&mut self, pick: fn(&mut Marked) -> &mut u64) {
        if self.has_unwritten {
            let now = self.clock.now();
            let mut marks = lock(&self.marks);
            let written = marks.written;
            for mark in marks.orders[written..].iter_mut().map(pick) {
                if *mark == 0 {
                    *mark = now;
                }
            }
        }
    }
}

impl<H: Host> HostAround for MarkingHost<H> {
    type Within = H;

    fn within(&self) -> &H {
        &self.host
    }

    fn within_mut(&mut self) -> &mut H {
        &mut self.host
    }

    #[inline]
    fn on_read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let count = self.host.read(conn, into)?;
        self.read = self.clock.now();
        self.found = self.read;
        self.unhandled += count;
        Ok(count)
    }

    #[inline]
    fn on_write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        if self.has_unwritten {
            self.mark_unwritten(|order| &mut order.writing);
            let mut marks = lock(&self.marks);
            marks.written = marks.orders.len();
            self.has_unwritten = false;
        }
        let written = self.host.write(conn, bytes);
        if self.unhandled > 0 {
            // The next message of the read waited for this write.
            self.found = self.clock.now();
        }
        written
    }

    #[inline]
    fn on_mark(&mut self, mark: Mark<'_>) {
        match mark {
            Mark::Parsed(message) => self.parsed(message),
            Mark::Checked => self.mark_at_hand(|order| &mut order.checked),
            Mark::Answered => self.answered(),
            Mark::Sealed(outbox, from) => self.sealed(outbox, from),
            Mark::Journalled => self.mark_unwritten(|order| &mut order.journalled),
        }
    }

    #[inline]
    fn on_handled(&mut self, message: &Message<'_>, _outbox: &Outbox, _from: usize) {
        self.at_hand = AtHand::Nothing;
        self.unhandled = self.unhandled.saturating_sub(message.bytes().len());
        if self.unhandled > 0 {
            self.found = self.clock.now();
        }
    }
}

/// ClOrdID(11) of an order.
fn cl_ord_id(order: &[u8]) -> Option<u64> {
    let mut fields = order.split(|byte| *byte == SOH);
    let value = fields.find_map(|field| field.strip_prefix(b"11="))?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An order whose marks are at this interval.
    fn marked(step: u64) -> [Marked; 2] {
        let at = |place: u64| 100 + place * step;
        let near = Marked {
            cl_ord_id: 7,
            answered: at(2),
            sealed: at(3),
            journalled: at(4),
            writing: at(5),
            read: at(14),
            found: at(15),
            parsed: at(16),
            checked: at(17),
        };
        let far = Marked {
            cl_ord_id: 7,
            read: at(6),
            found: at(7),
            parsed: at(8),
            checked: at(9),
            answered: at(10),
            sealed: at(11),
            journalled: at(12),
            writing: at(13),
        };
        [near, far]
    }

    #[test]
    fn marks_are_joined_in_the_order_of_the_stages() {
        let [near, far] = marked(10);
        let order = near.join(&far, [100, 110, 280]).unwrap();
        assert_eq!((order.stages, order.response), ([10; 18], 180));
    }

    #[test]
    fn an_order_without_a_mark_or_with_an_early_one_is_left_out() {
        let load = [100, 110, 280];
        let [near, far] = marked(10);
        let missing = Marked { sealed: 0, ..far };
        assert!(near.join(&missing, load).is_none());
        let early = Marked {
            journalled: near.sealed - 1,
            ..near
        };
        assert!(early.join(&far, load).is_none());
        assert!(near.join(&far, [100, 110, near.checked - 1]).is_none());
    }

    #[test]
    fn a_report_is_found_although_one_before_it_is_lost() {
        let mut marks = EndMarks {
            orders: Vec::with_capacity(3),
            ..EndMarks::default()
        };
        for cl_ord_id in [10, 20, 30] {
            let order = Marked {
                cl_ord_id,
                ..Marked::default()
            };
            assert!(marks.add(order).is_some());
        }
        assert_eq!(marks.add(Marked::default()), None, "there is no room");
        let found = [10, 15, 30, 30, 20].map(|id| marks.take_answered(id));
        assert_eq!(found, [Some(0), None, Some(2), None, None]);
    }
}
