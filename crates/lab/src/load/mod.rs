//! The state of one run: when each order is due, and which orders are answered.
//!
//! This module has no clock and no socket: the caller passes the time. So the same code serves the TCP floor, a FIX
//! engine and a test with a virtual clock.
//!
//! An order is identified by its *intended* send time. In an open loop the intended times follow the schedule and do
//! not depend on the answers. An order that is sent late is still timed from its intended time, so a stall adds to
//! the time of every order that waited in the stall.

pub mod arrivals;
pub mod series;

use fixwire_stamps::stats::histogram;
use hdrhistogram::Histogram;

use crate::load::arrivals::Arrivals;

/// When orders are due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pace {
    /// One outstanding order: the next order is due when the last one is answered.
    PingPong,
    /// Open loop: orders per second, independent of the answers.
    PerSecond(u32),
    /// [`FLOOD_OUTSTANDING`] orders outstanding. The next [`FLOOD_BATCH`] orders are due together as soon as the
    /// limit allows them.
    Flood,
}

/// Maximum number of orders without an answer in a flood.
pub const FLOOD_OUTSTANDING: usize = 256;
/// Orders of a flood that are due together.
pub const FLOOD_BATCH: usize = 32;

/// Faults: every answer other than one report per order, in order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct Faults {
    /// Orders without an answer at the end of the run.
    pub lost: u64,
    /// Second and further answers to one order.
    pub duplicate: u64,
    /// Answers that arrived after the answer to a later order.
    pub out_of_order: u64,
    /// Unsolicited answers, or answers other than the expected report.
    pub wrong: u64,
}

impl Faults {
    /// Number of faults of all kinds.
    pub fn total(&self) -> u64 {
        self.lost + self.duplicate + self.out_of_order + self.wrong
    }

    /// Adds the faults of another run.
    pub fn add(&mut self, other: &Faults) {
        self.lost += other.lost;
        self.duplicate += other.duplicate;
        self.out_of_order += other.out_of_order;
        self.wrong += other.wrong;
    }
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunState {
    /// Orders are left to send or to be answered.
    Running,
    /// Every order was sent and answered, and no duplicate answer followed within the waiting time.
    Complete,
    /// Nothing was answered within the timeout.
    Stalled,
}

/// One order that was sent. Times are nanoseconds: on the clock during a run, and from the start of the run in a
/// [`RunOutcome`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TimedOrder {
    /// When the order was due.
    pub intended: u64,
    /// When the order was sent.
    pub actual: u64,
    /// When the answer to the order was received; 0 when no answer was received.
    pub answer: u64,
}

impl TimedOrder {
    /// Response time: from due to answered, nanoseconds; `None` without an answer.
    pub fn response(&self) -> Option<u64> {
        (self.answer > 0).then(|| self.answer.saturating_sub(self.intended).max(1))
    }

    /// Service time: from sent to answered, nanoseconds; `None` without an answer.
    pub fn service(&self) -> Option<u64> {
        (self.answer > 0).then(|| self.answer.saturating_sub(self.actual).max(1))
    }
}

/// The state of one run. All times are nanoseconds of one clock.
#[derive(Debug)]
pub struct Load {
    pace: Pace,
    orders: usize,
    patience: u64,
    start: u64,
    /// When each order is due, nanoseconds after the start of the run; empty when all gaps are equal.
    offsets: Vec<u64>,
    sent: Vec<TimedOrder>,
    answered: usize,
    /// Index after the newest order that was answered.
    newest: usize,
    last_answer: u64,
    faults: Faults,
    response: Histogram<u64>,
    service: Histogram<u64>,
}

/// The outcome of one run.
#[derive(Debug)]
pub struct RunOutcome {
    /// From the intended send time to the answer.
    pub response: Histogram<u64>,
    /// From the actual send time to the answer.
    pub service: Histogram<u64>,
    /// Wrong, missing and surplus answers.
    pub faults: Faults,
    /// Orders that were sent.
    pub sent: u64,
    /// When the run started, by its clock, nanoseconds.
    pub start: u64,
    /// From the start to the last answer, nanoseconds.
    pub elapsed: u64,
    /// The orders, in the order they were due.
    pub orders: Vec<TimedOrder>,
}

/// How long a run waits for duplicate answers after the last answer, nanoseconds.
pub(crate) const LINGER: u64 = 2_000_000;

impl Default for RunOutcome {
    /// The outcome of a run in which nothing was sent.
    fn default() -> Self {
        Self {
            response: histogram(),
            service: histogram(),
            faults: Faults::default(),
            sent: 0,
            start: 0,
            elapsed: 0,
            orders: Vec::new(),
        }
    }
}

impl Load {
    /// A run of `orders` orders. It stalls after `patience` nanoseconds without an answer while orders are
    /// outstanding. Allocates all memory.
    pub fn new(pace: Pace, orders: usize, patience: u64) -> Self {
        let mut sent = vec![
            TimedOrder {
                intended: 1,
                ..TimedOrder::default()
            };
            orders
        ];
        sent.clear();
        Self {
            pace,
            orders,
            patience,
            start: 0,
            offsets: Vec::new(),
            sent,
            answered: 0,
            newest: 0,
            last_answer: 0,
            faults: Faults::default(),
            response: histogram(),
            service: histogram(),
        }
    }

    /// The same load, with other arrival times for the orders of an open loop.
    #[must_use]
    pub fn arriving(mut self, arrivals: &Arrivals) -> Self {
        if let Pace::PerSecond(rate) = self.pace {
            self.offsets = arrivals.offsets(self.orders, rate);
        }
        self
    }

    /// When order `index` is due at this rate.
    #[inline]
    fn due_at(&self, index: usize, rate: u32) -> u64 {
        let offset = self.offsets.get(index).copied();
        self.start + offset.unwrap_or_else(|| schedule(index as u64, rate))
    }

    /// The run starts: in an open loop the first order is due now.
    pub fn begin(&mut self, now: u64) {
        self.start = now;
        self.last_answer = now;
    }

    /// The intended time of the order that is due now; `None` when no order is due.
    #[inline]
    pub fn due(&self, now: u64) -> Option<u64> {
        let count = self.sent.len();
        if count == self.orders {
            return None;
        }
        let next = || now.max(self.sent.last().map_or(0, |last| last.intended + 1));
        match self.pace {
            Pace::PingPong => (self.answered == count).then(next),
            Pace::Flood => {
                let has_room = count - self.answered <= FLOOD_OUTSTANDING - FLOOD_BATCH;
                (has_room || !count.is_multiple_of(FLOOD_BATCH)).then(next)
            }
            Pace::PerSecond(rate) => {
                let due = self.due_at(count, rate);
                (due <= now).then_some(due)
            }
        }
    }

    /// When the next order is due; `None` when that depends on an answer.
    pub fn next_due(&self) -> Option<u64> {
        match self.pace {
            Pace::PerSecond(rate) if self.sent.len() < self.orders => {
                Some(self.due_at(self.sent.len(), rate))
            }
            _ => None,
        }
    }

    /// Records that the order due at `intended` was sent; `actual` was read just before the order was built.
    #[inline]
    pub fn sent(&mut self, intended: u64, actual: u64) {
        if self.answered == self.sent.len() {
            self.last_answer = self.last_answer.max(actual);
        }
        self.sent.push(TimedOrder {
            intended,
            actual,
            answer: 0,
        });
    }

    /// Records the answer to the order due at `intended`.
    #[inline]
    pub fn answered(&mut self, intended: u64, now: u64) {
        self.last_answer = now;
        let index = match self.sent.get(self.newest) {
            Some(next) if next.intended == intended => self.newest,
            _ => match self
                .sent
                .binary_search_by_key(&intended, |order| order.intended)
            {
                Ok(index) => index,
                Err(_) => {
                    self.faults.wrong += 1;
                    return;
                }
            },
        };
        let order = &mut self.sent[index];
        if order.answer > 0 {
            self.faults.duplicate += 1;
            return;
        }
        order.answer = now;
        self.answered += 1;
        if index < self.newest {
            self.faults.out_of_order += 1;
        } else {
            self.newest = index + 1;
        }
        self.response
            .saturating_record(now.saturating_sub(order.intended).max(1));
        self.service
            .saturating_record(now.saturating_sub(order.actual).max(1));
    }

    /// When the order due at `intended` was sent, and when its answer arrived; `None` without an answer.
    pub fn times(&self, intended: u64) -> Option<(u64, u64)> {
        let orders = &self.sent;
        let index = orders.binary_search_by_key(&intended, |order| order.intended);
        let order = orders[index.ok()?];
        (order.answer > 0).then_some((order.actual, order.answer))
    }

    /// Number of orders sent plus number of answers received: a larger value means progress.
    #[inline]
    pub fn moves(&self) -> usize {
        self.sent.len() + self.answered
    }

    /// The intended time of the oldest order without an answer, for a stream whose answers have no id.
    #[inline]
    pub fn oldest(&self) -> Option<u64> {
        self.sent.get(self.newest).map(|order| order.intended)
    }

    /// Records a message that is not the report of an order.
    pub fn wrong(&mut self) {
        self.faults.wrong += 1;
    }

    /// Whether the run goes on.
    #[inline]
    pub fn state(&self, now: u64) -> RunState {
        if self.answered == self.orders {
            if now.saturating_sub(self.last_answer) > LINGER {
                RunState::Complete
            } else {
                RunState::Running
            }
        } else if self.answered < self.sent.len()
            && now.saturating_sub(self.last_answer) > self.patience
        {
            RunState::Stalled
        } else {
            RunState::Running
        }
    }

    /// Ends the run; an order without an answer counts as lost.
    pub fn close(mut self) -> RunOutcome {
        self.faults.lost = (self.sent.len() - self.answered) as u64;
        for order in &mut self.sent {
            order.intended = order.intended.saturating_sub(self.start);
            order.actual = order.actual.saturating_sub(self.start);
            if order.answer > 0 {
                order.answer = order.answer.saturating_sub(self.start).max(1);
            }
        }
        RunOutcome {
            start: self.start,
            elapsed: self.last_answer.saturating_sub(self.start),
            sent: self.sent.len() as u64,
            faults: self.faults,
            response: self.response,
            service: self.service,
            orders: self.sent,
        }
    }
}

/// When order `index` is due, nanoseconds after the start. Computed exactly from the index, so that rounding errors
/// do not add up.
#[inline]
fn schedule(index: u64, rate: u32) -> u64 {
    index * 1_000_000_000 / u64::from(rate.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    const MS: u64 = 1_000_000;

    /// How the test server handles the answer to order `index`.
    #[derive(Clone, Copy, PartialEq)]
    enum Server {
        Answer,
        Drop,
        Twice,
        /// Sends it after the next answer.
        Swap,
        /// Answers an order that was never sent.
        Stray,
        /// Stalls for this duration; this order and later ones wait.
        Stall(u64),
    }

    /// Plays a run against a server that takes `service` nanoseconds, on a virtual clock.
    fn play(
        pace: Pace,
        orders: usize,
        service: u64,
        server: impl Fn(usize) -> Server,
    ) -> RunOutcome {
        let mut load = Load::new(pace, orders, 100 * MS);
        let mut now = 1_000;
        load.begin(now);
        let mut free_at = now;
        let mut index = 0;
        let mut held = None;
        let mut answers: VecDeque<(u64, u64)> = VecDeque::new();
        loop {
            while let Some(intended) = load.due(now) {
                // A client that blocks while the server stalls: it sends nothing until the server continues.
                if now < free_at {
                    break;
                }
                load.sent(intended, now);
                let act = server(index);
                index += 1;
                if let Server::Stall(time) = act {
                    answers.push_back((now + service, intended));
                    free_at = now + time;
                    continue;
                }
                match act {
                    Server::Drop => {}
                    Server::Swap => {
                        held = Some(intended);
                        continue;
                    }
                    Server::Stray => answers.push_back((now + service, intended + 3)),
                    Server::Twice => answers.extend([(now + service, intended); 2]),
                    Server::Answer | Server::Stall(_) => {
                        answers.push_back((now + service, intended))
                    }
                }
                if let Some(older) = held.take() {
                    answers.push_back((now + service, older));
                }
            }
            while let Some(&(at, intended)) = answers.front() {
                if at > now {
                    break;
                }
                answers.pop_front();
                load.answered(intended, at);
            }
            match load.state(now) {
                RunState::Running => now += 500,
                _ => return load.close(),
            }
        }
    }

    #[test]
    fn a_faultless_run_counts_each_order_once() {
        let outcome = play(Pace::PerSecond(50_000), 1_000, 7_000, |_| Server::Answer);
        assert_eq!(outcome.faults, Faults::default());
        assert_eq!(
            (outcome.sent, outcome.response.len(), outcome.service.len()),
            (1_000, 1_000, 1_000)
        );
        assert!(outcome.response.max() < 8_100, "{}", outcome.response.max());
        assert_eq!(outcome.orders.len(), 1_000);
        assert_eq!(outcome.orders[999].intended, 19_980_000);
        assert!(
            outcome
                .orders
                .iter()
                .all(|order| order.service() == Some(7_000))
        );
        // 999 intervals of 20 us, and the last answer.
        assert!(
            (19_980_000..20_000_000).contains(&outcome.elapsed),
            "{}",
            outcome.elapsed
        );
    }

    #[test]
    fn ping_pong_keeps_one_order_outstanding() {
        let outcome = play(Pace::PingPong, 100, 7_000, |_| Server::Answer);
        assert_eq!((outcome.faults, outcome.sent), (Faults::default(), 100));
        assert_eq!(outcome.response.max(), outcome.service.max());
    }

    #[test]
    fn a_flood_sends_a_batch_as_soon_as_there_is_room_for_it() {
        let mut load = Load::new(Pace::Flood, 400, 100 * MS);
        load.begin(1_000);
        let due = |load: &mut Load| {
            let mut sent = Vec::new();
            while let Some(intended) = load.due(2_000) {
                load.sent(intended, 2_000);
                sent.push(intended);
            }
            sent
        };
        let first = due(&mut load);
        assert_eq!(first.len(), FLOOD_OUTSTANDING);
        for order in &first[..FLOOD_BATCH - 1] {
            load.answered(*order, 3_000);
        }
        assert!(due(&mut load).is_empty());
        load.answered(first[FLOOD_BATCH - 1], 3_000);
        assert_eq!(due(&mut load).len(), FLOOD_BATCH);
        let outcome = play(Pace::Flood, 1_000, 7_000, |_| Server::Answer);
        assert_eq!((outcome.faults, outcome.sent), (Faults::default(), 1_000));
    }

    #[test]
    fn each_fault_is_counted_as_what_it_is() {
        let faulty = |fault: Server| {
            play(Pace::PerSecond(10_000), 1_000, 7_000, move |i| {
                if i % 100 == 50 { fault } else { Server::Answer }
            })
            .faults
        };
        assert_eq!(
            faulty(Server::Drop),
            Faults {
                lost: 10,
                ..Faults::default()
            }
        );
        assert_eq!(
            faulty(Server::Twice),
            Faults {
                duplicate: 10,
                ..Faults::default()
            }
        );
        assert_eq!(
            faulty(Server::Swap),
            Faults {
                out_of_order: 10,
                ..Faults::default()
            }
        );
        assert_eq!(
            faulty(Server::Stray),
            Faults {
                wrong: 10,
                lost: 10,
                ..Faults::default()
            }
        );
    }

    #[test]
    fn an_order_that_is_dropped_ends_a_closed_loop_instead_of_hanging_it() {
        let outcome = play(Pace::PingPong, 100, 7_000, |i| {
            if i == 5 { Server::Drop } else { Server::Answer }
        });
        assert_eq!((outcome.sent, outcome.faults.lost), (6, 1));
    }

    #[test]
    fn a_stall_is_in_the_response_time_of_all_who_waited_and_not_in_the_service_time() {
        let outcome = play(Pace::PerSecond(10_000), 10_000, 7_000, |i| {
            if i == 5_000 {
                Server::Stall(10 * MS)
            } else {
                Server::Answer
            }
        });
        assert_eq!(outcome.faults, Faults::default());
        assert!(
            outcome.response.max() > 9 * MS,
            "{}",
            outcome.response.max()
        );
        assert!(outcome.service.max() < 8_100, "{}", outcome.service.max());
        // At 10,000/s a hundred orders were due in those 10 ms.
        let waited = outcome.response.count_between(MS / 10, 11 * MS);
        assert!((98..=101).contains(&waited), "{waited}");
    }

    #[test]
    fn the_schedule_does_not_drift() {
        assert_eq!(schedule(3 * 1_000_000, 3), 1_000_000_000_000_000);
        assert_eq!(schedule(7, 50_000), 140_000);
    }
}
