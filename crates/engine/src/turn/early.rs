//! Early release: in a read of many messages, their effects leave in groups.
//!
//! ```text
//!   a read of 40 messages   1 2 ... 8  9 ... 15  16 ... 22  23 ... 29  30 ... 40
//!   writes                           ^         ^          ^          ^          ^
//! ```
//!
//! A write takes as long as the work on a few messages, so a write after each message would slow down a flood.
//! Therefore a group has as many messages as the engine handles in [`WORK_PER_WRITE`] times the time of a write. The
//! engine measures both times: it reads the clock twice for a group, and never for a read of one message. The first
//! message of a read is not measured.

use fixwire_protocol::Mono;

/// The work on the messages of a group takes at least this number of times as long as the write after them.
const WORK_PER_WRITE: u64 = 6;
/// Maximum number of messages of a group, whatever a write costs.
const LARGEST_GROUP: u64 = 32;
/// More messages than a read can have: nothing leaves before its end.
const WHOLE_READ: u32 = 1 << 31;
/// A known time grows by one part in this number for a longer one.
const GROWTH: u64 = 8;

/// What to do when a group may be complete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Due {
    /// Nothing: only the end of the read releases the rest.
    Nothing,
    /// The first group begins: its messages are measured from now on.
    Begin,
    /// What is committed is released.
    Release,
}

/// Decides in the middle of a read whether what is committed leaves now.
#[derive(Debug)]
pub(crate) struct EarlyRelease {
    /// Messages handled since the group, or before the first group the read, began.
    handled: u32,
    /// Number of handled messages at which the group may be complete.
    due_at: u32,
    /// Number of messages of a group.
    group: u32,
    /// When the work on the group began; `None` before the first message of a read is handled.
    began: Option<Mono>,
    /// Unread bytes at the begin of the group.
    unread: usize,
    /// Times for the work on a message and for the write of a group, nanoseconds; 0 while unknown. They are the least
    /// of the last measurements, because the system may stop the thread at any time.
    work: u64,
    write: u64,
    /// Messages of a read before its first group; [`WHOLE_READ`] with durability `disk`.
    first: u32,
}

impl EarlyRelease {
    /// With `is_off`, everything that a read causes leaves after the read.
    pub(crate) fn new(is_off: bool) -> Self {
        Self {
            handled: 0,
            due_at: 0,
            group: 1,
            began: None,
            unread: 0,
            work: 0,
            write: 0,
            first: if is_off { WHOLE_READ } else { 1 },
        }
    }

    /// Handles the begin of a read.
    #[inline]
    pub(super) fn begin_read(&mut self) {
        (self.handled, self.due_at) = (0, self.first);
        self.began = None;
    }

    /// Counts a message that was handled. Returns whether the group may be complete.
    #[inline]
    pub(super) fn counts(&mut self) -> bool {
        self.handled += 1;
        self.handled == self.due_at
    }

    /// Whether the work of this read is measured.
    #[inline]
    pub(super) fn is_measuring(&self) -> bool {
        self.began.is_some()
    }

    /// What to do when a group may be complete. `unread` is the number of bytes that are left of the read,
    /// `has_effects` whether anything could leave.
    pub(super) fn due(&mut self, unread: usize, has_effects: bool) -> Due {
        if self.began.is_none() {
            self.group = self.next_group(None);
            // What a slow message caused does not wait for the next message.
            let is_alone = self.group == 1 && has_effects;
            return if is_alone { Due::Release } else { Due::Begin };
        }
        // A write for a short rest costs as much as a write for a group.
        if unread < self.unread.saturating_sub(unread) {
            self.stop();
            return Due::Nothing;
        }
        if !has_effects {
            self.due_at = self.handled + 1;
            return Due::Nothing;
        }
        Due::Release
    }

    /// Nothing of this read leaves early any more.
    pub(super) fn stop(&mut self) {
        self.due_at = WHOLE_READ;
    }

    /// Begins a group at this time.
    pub(super) fn begin(&mut self, now: Mono, unread: usize) {
        self.began = Some(now);
        self.unread = unread;
        (self.handled, self.due_at) = (0, self.group);
    }

    /// Handles a release, which took from `start` to `end`. Another group begins.
    pub(super) fn released(&mut self, start: Mono, end: Mono, unread: usize) {
        if let Some(began) = self.began {
            let messages = u64::from(self.handled).max(1);
            let work = start.0.saturating_sub(began.0) / messages;
            let write = end.0.saturating_sub(start.0);
            self.work = least(self.work, work);
            self.write = least(self.write, write);
        }
        self.group = self.next_group(Some(self.group));
        self.begin(end, unread);
    }

    /// The number of messages of the next group. While nothing is measured, the groups of a read double.
    fn next_group(&self, last: Option<u32>) -> u32 {
        let messages = match (self.work, last) {
            (0, None) => 1,
            (0, Some(last)) => 2 * u64::from(last),
            (work, _) => (WORK_PER_WRITE * self.write).div_ceil(work),
        };
        messages.clamp(1, LARGEST_GROUP) as u32
    }
}

/// The known time after another measurement: a shorter time counts at once, longer times little by little.
fn least(known: u64, measured: u64) -> u64 {
    match known {
        0 => measured,
        known => measured.min(known + known / GROWTH + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a message.
    const BYTES: usize = 150;

    /// Reads one after the other, with these times for the work on a message and for a write.
    struct Reads {
        early: EarlyRelease,
        clock: Mono,
        work: u64,
        write: u64,
        /// Whether the session ends with each read, so that nothing is released after the last message.
        ends: bool,
    }

    impl Reads {
        fn new(work: u64, write: u64) -> Self {
            Self {
                early: EarlyRelease::new(false),
                clock: Mono(1),
                work,
                write,
                ends: false,
            }
        }

        fn release(&mut self, unread: usize) {
            let start = self.clock;
            self.clock.0 += self.write;
            self.early.released(start, self.clock, unread);
        }

        /// The numbers of messages whose effects leave together, in a read of this number of messages.
        fn read(&mut self, messages: usize) -> Vec<usize> {
            let (mut groups, mut waiting) = (Vec::new(), 0);
            self.early.begin_read();
            for left in (0..messages).rev() {
                self.clock.0 += self.work;
                waiting += 1;
                let unread = left * BYTES;
                if !self.early.counts() || left == 0 {
                    continue;
                }
                match self.early.due(unread, true) {
                    Due::Nothing => {}
                    Due::Begin => self.early.begin(self.clock, unread),
                    Due::Release => {
                        self.release(unread);
                        groups.push(std::mem::take(&mut waiting));
                    }
                }
            }
            if self.early.is_measuring() && !self.ends {
                self.release(0);
            }
            groups.push(waiting);
            groups
        }

        /// The same, after some reads.
        fn after_some(&mut self, messages: usize) -> Vec<usize> {
            (0..100).for_each(|_| drop(self.read(40)));
            self.read(messages)
        }
    }

    #[test]
    fn a_group_takes_six_times_as_long_as_its_write() {
        let mut reads = Reads::new(3_000, 3_500);
        // The work on the first message is not measured.
        assert_eq!(reads.after_some(40), [8, 7, 7, 7, 11]);
        assert_eq!(reads.read(1), [1]);
        assert_eq!(reads.read(2), [2]);
        assert_eq!(reads.read(14), [14]);
        assert_eq!(reads.read(15), [8, 7]);
    }

    #[test]
    fn slow_work_leaves_alone_and_quick_work_in_large_groups() {
        let mut slow = Reads::new(30_000, 3_000);
        assert_eq!(slow.after_some(5), [1; 5]);
        let mut quick = Reads::new(100, 3_000);
        assert_eq!(quick.after_some(50), [50]);
        assert_eq!(quick.read(100), [33, 32, 35]);
    }

    #[test]
    fn while_the_clock_stands_still_the_groups_of_each_read_double() {
        let mut reads = Reads::new(0, 0);
        for _ in 0..3 {
            assert_eq!(reads.read(40), [1, 2, 4, 8, 25]);
        }
        reads.ends = true;
        assert_eq!(reads.read(40), [1, 2, 4, 8, 25]);
        assert_eq!(reads.read(40), [1, 2, 4, 8, 25]);
        assert_eq!(reads.read(1), [1]);
    }

    #[test]
    fn a_thread_that_was_stopped_in_a_write_finds_its_groups_again() {
        let mut reads = Reads::new(3_000, 3_500);
        let usual = reads.after_some(40);
        reads.write = 10_000_000;
        reads.read(2);
        reads.write = 3_500;
        assert_eq!(reads.read(40), [9, 7, 7, 7, 10], "the stop counts a little");
        reads.write = 10_000_000;
        (0..30).for_each(|_| drop(reads.read(2)));
        reads.write = 3_500;
        assert_eq!(reads.read(40), [40], "slow writes count");
        // Reads that are shorter than a group are measured, too.
        reads.read(4);
        assert_eq!(reads.read(40), usual);
    }

    #[test]
    fn what_causes_nothing_is_not_released() {
        let mut early = EarlyRelease::new(false);
        early.begin_read();
        assert!(early.counts());
        assert_eq!(early.due(1_000, false), Due::Begin);
        early.begin(Mono(1), 1_000);
        for _ in 0..3 {
            assert!(early.counts());
            assert_eq!(early.due(900, false), Due::Nothing);
        }
        assert!(early.counts());
        assert_eq!(early.due(800, true), Due::Release);
        early.released(Mono(401), Mono(501), 800);
        assert_eq!(early.work, 100, "of four messages");
    }

    #[test]
    fn nothing_leaves_early_when_it_is_off_or_the_session_has_ended() {
        let mut off = EarlyRelease::new(true);
        off.begin_read();
        assert!((0..10_000).all(|_| !off.counts()));
        let mut ended = EarlyRelease::new(false);
        ended.begin_read();
        assert!(ended.counts());
        ended.stop();
        ended.begin_read();
        assert!(ended.counts());
        ended.stop();
        assert!((0..10_000).all(|_| !ended.counts()) && !ended.is_measuring());
    }
}
