//! Unsolicited reports of an acceptor: the application that sends them, and how the receiver records them.
//!
//! Both ends are threads of one process and read one clock. ClOrdID carries the time at which a report was started,
//! so a report is timed one way. The numbers of requested and received reports are in shared memory.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fixwire_protocol::{Application, Message, Mono, Now, Outbox, Refusal, SessionId};
use fixwire_stamps::clock::Clock;
use fixwire_stamps::scenario::{NEW_ORDER_SINGLE, write_report};
use fixwire_stamps::stats::histogram;
use hdrhistogram::Histogram;

use crate::load::{FLOOD_BATCH, FLOOD_OUTSTANDING, Faults, LINGER, Pace, RunOutcome, RunState};

/// The only session of the engines.
const SESSION: SessionId = SessionId(0);

/// Numbers of reports since the acceptor started, shared by both ends.
#[derive(Debug, Default)]
pub struct PushCounts {
    wanted: AtomicU64,
    /// Number of received reports, updated in multiples of [`FLOOD_BATCH`].
    received: AtomicU64,
}

/// An [`Application`] that sends the requested reports: [`FLOOD_BATCH`] in a turn, and never more than
/// [`FLOOD_OUTSTANDING`] that are not received yet. An arriving order requests one more report.
#[derive(Debug)]
pub struct Pusher {
    clock: Clock,
    counts: Arc<PushCounts>,
    sent: u64,
    /// The time stamp in the last report; time stamps increase.
    stamp: u64,
    cl_ord_id: String,
}

impl Pusher {
    /// An application that has sent nothing.
    pub fn new(clock: Clock, counts: Arc<PushCounts>) -> Self {
        Self {
            clock,
            counts,
            sent: 0,
            stamp: 0,
            cl_ord_id: String::new(),
        }
    }

    /// Sends one report; false when there is no room.
    fn push(&mut self, outbox: &mut Outbox) -> bool {
        self.stamp = self.clock.now().max(self.stamp + 1);
        self.cl_ord_id.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.cl_ord_id, "{}", self.clock.to_wall(self.stamp));
        write_report(outbox, SESSION, self.cl_ord_id.as_bytes()).is_ok()
    }
}

impl Application for Pusher {
    fn on_message(
        &mut self,
        _now: Now,
        _from: SessionId,
        message: &Message<'_>,
        _outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if message.msg_type() != NEW_ORDER_SINGLE {
            return Err(Refusal::UnsupportedMessageType);
        }
        self.counts.wanted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let wanted = self.counts.wanted.load(Ordering::Relaxed);
        let batch = wanted.saturating_sub(self.sent).min(FLOOD_BATCH as u64);
        let received = self.counts.received.load(Ordering::Relaxed);
        let ahead = self.sent.saturating_sub(received);
        if ahead + batch <= FLOOD_OUTSTANDING as u64 {
            for _ in 0..batch {
                if !self.push(outbox) {
                    // The outbox has no room now: the report stays requested and gets a new time.
                    break;
                }
                self.sent += 1;
            }
        }
        // The engine calls again at once: the measuring thread spins.
        Some(now.mono)
    }
}

/// The state of one run at the receiving end. All times are nanoseconds of one clock.
#[derive(Debug)]
pub struct Pushed {
    counts: Arc<PushCounts>,
    pace: Pace,
    reports: u64,
    patience: u64,
    came: u64,
    start: u64,
    last: u64,
    /// The time stamp in the newest report.
    stamp: u64,
    faults: Faults,
    times: Histogram<u64>,
}

impl Pushed {
    /// A run of this number of reports. At [`Pace::PingPong`] each report is answered with an order, which requests
    /// the next report; at any other pace all reports are requested at once. The run times out after `patience`
    /// nanoseconds without a report.
    pub fn new(counts: Arc<PushCounts>, pace: Pace, reports: u64, patience: u64) -> Self {
        Self {
            counts,
            pace,
            reports,
            patience,
            came: 0,
            start: 0,
            last: 0,
            stamp: 0,
            faults: Faults::default(),
            times: histogram(),
        }
    }

    /// Starts the run: requests reports.
    pub fn begin(&mut self, now: u64) {
        (self.start, self.last, self.stamp) = (now, now, now);
        // All reports of the previous run have arrived or are lost.
        let before = self.counts.wanted.load(Ordering::Relaxed);
        self.counts.received.store(before, Ordering::Relaxed);
        let wanted = match self.pace {
            Pace::PingPong => self.reports.min(1),
            _ => self.reports,
        };
        self.counts.wanted.store(before + wanted, Ordering::Relaxed);
    }

    /// Records the arrival of a report that was started at `begun`; returns whether the report needs an answer.
    #[inline]
    pub fn arrived(&mut self, begun: u64, now: u64) -> bool {
        self.last = now;
        if begun <= self.stamp {
            match begun == self.stamp {
                true => self.faults.duplicate += 1,
                false => self.faults.out_of_order += 1,
            }
            return false;
        }
        if self.came == self.reports {
            self.faults.wrong += 1;
            return false;
        }
        self.stamp = begun;
        self.came += 1;
        self.times
            .saturating_record(now.saturating_sub(begun).max(1));
        // In a flood the counter is updated only occasionally, because the other end reads it too.
        let batch = match self.pace {
            Pace::PingPong => 1,
            _ => FLOOD_BATCH as u64,
        };
        if self.came.is_multiple_of(batch) {
            self.counts.received.fetch_add(batch, Ordering::Relaxed);
        }
        self.pace == Pace::PingPong && self.came < self.reports
    }

    /// Records a message that is not a report of the acceptor.
    pub fn wrong(&mut self) {
        self.faults.wrong += 1;
    }

    /// Number of reports so far: a larger value means progress.
    #[inline]
    pub fn moves(&self) -> usize {
        self.came as usize
    }

    /// Whether the run goes on.
    #[inline]
    pub fn state(&self, now: u64) -> RunState {
        let since = now.saturating_sub(self.last);
        match self.came == self.reports {
            true if since > LINGER => RunState::Complete,
            false if since > self.patience => RunState::Stalled,
            _ => RunState::Running,
        }
    }

    /// Ends the run; a report that was expected and not received counts as lost.
    pub fn close(mut self) -> RunOutcome {
        self.faults.lost = self.reports - self.came;
        RunOutcome {
            response: self.times.clone(),
            service: self.times,
            faults: self.faults,
            sent: self.reports,
            start: self.start,
            elapsed: self.last.saturating_sub(self.start),
            orders: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn pushed(pace: Pace) -> Pushed {
        let mut pushed = Pushed::new(Arc::default(), pace, 3, 100 * MS);
        pushed.begin(1_000);
        pushed
    }

    #[test]
    fn one_way_each_report_but_the_last_is_answered() {
        let mut pushed = pushed(Pace::PingPong);
        assert_eq!(pushed.counts.wanted.load(Ordering::Relaxed), 1);
        let answers = [2_000, 3_000, 4_000].map(|begun| pushed.arrived(begun, begun + 10));
        assert_eq!(answers, [true, true, false]);
        assert_eq!(pushed.state(4_010 + LINGER), RunState::Running);
        assert_eq!(pushed.state(4_011 + LINGER), RunState::Complete);
        let outcome = pushed.close();
        assert_eq!((outcome.elapsed, outcome.faults.total()), (3_010, 0));
        assert_eq!((outcome.response.len(), outcome.response.max()), (3, 10));
    }

    #[test]
    fn pushed_reports_are_wanted_at_once_and_not_answered() {
        let mut pushed = pushed(Pace::Flood);
        assert_eq!(pushed.counts.wanted.load(Ordering::Relaxed), 3);
        assert!(!pushed.arrived(2_000, 2_001));
    }

    #[test]
    fn each_fault_is_counted_as_what_it_is() {
        let mut pushed = pushed(Pace::PingPong);
        pushed.arrived(3_000, 3_001);
        assert!(!pushed.arrived(3_000, 3_002));
        assert!(!pushed.arrived(2_000, 3_003));
        pushed.wrong();
        assert_eq!(pushed.state(3_003 + 100 * MS), RunState::Running);
        assert_eq!(pushed.state(3_004 + 100 * MS), RunState::Stalled);
        let faults = Faults {
            lost: 2,
            duplicate: 1,
            out_of_order: 1,
            wrong: 1,
        };
        assert_eq!(pushed.close().faults, faults);
    }

    #[test]
    fn the_acceptor_stays_within_what_the_reader_took() {
        let clock = Clock::start();
        let counts = Arc::new(PushCounts::default());
        let mut pusher = Pusher::new(clock, counts.clone());
        let mut books = Pushed::new(counts, Pace::Flood, 1_000, MS);
        books.begin(clock.now());
        let mut outbox = Outbox::new(1 << 20, 2_000, 100);
        for _ in 0..100 {
            pusher.on_time(Now::default(), &mut outbox);
        }
        assert_eq!(outbox.entries().len(), FLOOD_OUTSTANDING);
        for stamp in 1..=FLOOD_BATCH as u64 {
            books.arrived(clock.now() + stamp * MS, clock.now());
        }
        pusher.on_time(Now::default(), &mut outbox);
        pusher.on_time(Now::default(), &mut outbox);
        assert_eq!(outbox.entries().len(), FLOOD_OUTSTANDING + FLOOD_BATCH);
    }
}
