//! When an R04 is sent, and when a silent peer is disconnected.

use crate::uncertain::{ANSWER_WITHIN_NS, has_heartbeats};

/// The two known rules for heartbeats. Each end may use either.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum HeartbeatRule {
    /// The rule of the specification (section 2.3.1): a peer that is silent for HeartBtInt receives an R04, and has 5
    /// s to answer.
    #[default]
    SilentPeer,
    /// The rule of a public implementation: R04 is sent when *this* end has sent nothing for HeartBtInt. A peer that
    /// is silent for twice as long is disconnected.
    IdleSender,
}

/// What is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Beat {
    Nothing,
    /// Send R04.
    Ask,
    /// The peer has been silent for too long: disconnect.
    GiveUp,
}

/// The clock for heartbeats. All times are on the monotonic clock, in nanoseconds.
///
/// ```text
///               silent for HeartBtInt                no message within 5 s
///   hearing ----------------------------> asked ----------------------------> (disconnect)
///      ^            send R04                |
///      +------------------------------------+
///                any message arrives
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeartbeatClock {
    rule: HeartbeatRule,
    interval_ns: u64,
    heard: u64,
    spoke: u64,
    asked: Option<u64>,
}

impl HeartbeatClock {
    pub fn new(rule: HeartbeatRule, heart_bt_int: u8, now_ns: u64) -> Self {
        Self {
            rule,
            interval_ns: u64::from(heart_bt_int) * 1_000_000_000,
            heard: now_ns,
            spoke: now_ns,
            asked: None,
        }
    }

    pub fn heard(&mut self, now_ns: u64) {
        (self.heard, self.asked) = (now_ns, None);
    }

    pub fn spoke(&mut self, now_ns: u64) {
        self.spoke = now_ns;
    }

    /// Time has passed.
    pub fn elapse(&mut self, now_ns: u64) -> Beat {
        match self.due() {
            Some((due, beat)) if due <= now_ns => {
                if beat == Beat::Ask {
                    self.asked = Some(now_ns);
                }
                beat
            }
            _ => Beat::Nothing,
        }
    }

    /// When the next action is due; `None` without heartbeats.
    pub fn next_due(&self) -> Option<u64> {
        self.due().map(|(due, _)| due)
    }

    fn due(&self) -> Option<(u64, Beat)> {
        // The interval was given as one byte, so the cast is exact.
        if !has_heartbeats((self.interval_ns / 1_000_000_000) as u8) {
            return None;
        }
        match (self.rule, self.asked) {
            (HeartbeatRule::SilentPeer, None) => Some((self.heard + self.interval_ns, Beat::Ask)),
            (HeartbeatRule::SilentPeer, Some(asked)) => {
                Some((asked + ANSWER_WITHIN_NS, Beat::GiveUp))
            }
            (HeartbeatRule::IdleSender, _) => {
                let (ask, end) = (
                    self.spoke + self.interval_ns,
                    self.heard + 2 * self.interval_ns,
                );
                Some(match end <= ask {
                    true => (end, Beat::GiveUp),
                    false => (ask, Beat::Ask),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_silent_peer_is_asked_once_and_then_given_up() {
        let mut clock = HeartbeatClock::new(HeartbeatRule::SilentPeer, 30, 0);
        assert_eq!(clock.elapse(30 * S - 1), Beat::Nothing);
        assert_eq!(clock.elapse(30 * S), Beat::Ask);
        assert_eq!(clock.elapse(35 * S - 1), Beat::Nothing);
        let mut answered = clock;
        answered.heard(34 * S);
        assert_eq!(answered.next_due(), Some(64 * S));
        assert_eq!(clock.elapse(35 * S), Beat::GiveUp);
    }

    #[test]
    fn an_idle_sender_asks_and_gives_up_after_two_intervals() {
        let mut clock = HeartbeatClock::new(HeartbeatRule::IdleSender, 30, 0);
        clock.spoke(10 * S);
        assert_eq!(clock.elapse(39 * S), Beat::Nothing);
        assert_eq!(clock.elapse(40 * S), Beat::Ask);
        clock.spoke(40 * S);
        assert_eq!(clock.elapse(60 * S), Beat::GiveUp);
        assert_eq!(
            HeartbeatClock::new(HeartbeatRule::IdleSender, 0, 0).next_due(),
            None
        );
    }
}
