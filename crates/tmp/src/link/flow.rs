//! Flow control: counts the messages that were sent within the last second.

use alloc::collections::VecDeque;

use crate::uncertain::{FLOW_WINDOW_NS, has_flow_limit};

/// Maximum number of times that are kept: the largest limit plus one.
const TIMES_MOST: usize = 65_536;

/// Whether a message from the broker counts toward the flow limit: R01, R31, R04, R05, R07, R37, R09, R39, R11, R13,
/// L10, L20, L40, L42 (section 3.8).
#[must_use]
pub const fn is_counted(code: u8) -> bool {
    matches!(
        code,
        101 | 131 | 104 | 105 | 107 | 137 | 109 | 139 | 111 | 113 | 10 | 20 | 40 | 42
    )
}

/// The times of counted messages within the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowWindow {
    times: VecDeque<u64>,
    limit: u16,
}

impl FlowWindow {
    /// Sets the limit, and allocates memory for it.
    pub fn set_limit(&mut self, limit: u16) {
        self.limit = limit;
        let room = usize::from(limit) + 1;
        self.times.reserve(room.saturating_sub(self.times.len()));
    }

    /// Maximum number of messages within a second; 0 for no limit.
    pub fn limit(&self) -> u16 {
        self.limit
    }

    /// Counts a message; returns the number of messages within the window.
    pub fn record(&mut self, now_ns: u64) -> usize {
        self.forget(now_ns);
        if self.times.len() == TIMES_MOST {
            self.times.pop_front();
        }
        self.times.push_back(now_ns);
        self.times.len()
    }

    /// How long to wait until one more message is within the limit, when `kept_back` messages of the limit stay
    /// reserved. `None` if the message may be sent now.
    pub fn wait_ns(&mut self, now_ns: u64, kept_back: usize) -> Option<u64> {
        self.forget(now_ns);
        if !has_flow_limit(self.limit) {
            return None;
        }
        let most = usize::from(self.limit).saturating_sub(kept_back).max(1);
        // The message that must leave the window first.
        let blocking = self.times.len().checked_sub(most)?;
        let sent = *self.times.get(blocking)?;
        Some((sent + FLOW_WINDOW_NS + 1).saturating_sub(now_ns))
    }

    fn forget(&mut self, now_ns: u64) {
        while let Some(first) = self.times.front()
            && now_ns.saturating_sub(*first) > FLOW_WINDOW_NS
        {
            self.times.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_window_has_more_than_the_limit() {
        let mut flow = FlowWindow::default();
        flow.set_limit(3);
        let (mut now, mut sent) = (0, alloc::vec::Vec::new());
        for _ in 0..20 {
            if let Some(wait) = flow.wait_ns(now, 0) {
                assert!(wait > 0 && wait <= FLOW_WINDOW_NS + 1);
                now += wait;
                assert_eq!(flow.wait_ns(now, 0), None);
            }
            flow.record(now);
            sent.push(now);
            now += 100_000_000;
        }
        assert!(
            sent.windows(4)
                .all(|four| four[3] - four[0] > FLOW_WINDOW_NS)
        );
        flow.set_limit(0);
        assert_eq!(flow.wait_ns(now, 0), None);
    }
}
