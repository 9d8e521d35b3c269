//! Timers: when each session, and the engine itself, is due.
//!
//! A message moves the timers of its session, nearly always to a later time. So a session keeps the time of its next
//! check, and at that time it checks what is due. Moving a timer to a later time costs one comparison, and a turn
//! handles only the sessions that are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fixwire_protocol::Mono;

/// The heap is cleaned when it has this many entries more than two per session.
const SPARE: usize = 64;

/// The next check of each session, and of the engine itself.
pub(crate) struct Timers {
    /// The time of the next check of each session.
    sessions: Vec<Mono>,
    /// The next checks, sorted by time. Some entries are outdated and are ignored.
    by_time: BinaryHeap<Reverse<(Mono, usize)>>,
    /// The next check of everything that belongs to no session: guests, suppressed events, the end of a stop.
    engine: Mono,
    /// No check is due before this time.
    next: Mono,
}

impl Timers {
    /// Timers for this number of sessions. Each session, and the engine, is due at once.
    pub(crate) fn new(sessions: usize) -> Self {
        let mut timers = Self {
            sessions: Vec::with_capacity(sessions),
            by_time: BinaryHeap::with_capacity(2 * sessions + SPARE),
            engine: Mono(0),
            next: Mono(0),
        };
        (0..sessions).for_each(|_| timers.add());
        timers
    }

    /// Adds a session, due at once.
    pub(crate) fn add(&mut self) {
        self.sessions.push(Mono::NEVER);
        self.session(self.sessions.len() - 1, Mono(0));
    }

    /// The time before which no check is due.
    #[inline]
    pub(crate) fn next(&self) -> Mono {
        self.next
    }

    /// Requires that a session is checked by this time.
    #[inline]
    pub(crate) fn session(&mut self, session: usize, at: Mono) {
        if at < self.sessions[session] {
            self.sooner(session, at);
        }
    }

    fn sooner(&mut self, session: usize, at: Mono) {
        self.sessions[session] = at;
        if self.by_time.len() >= 2 * self.sessions.len() + SPARE {
            self.by_time.clear();
            let known = self.sessions.iter().enumerate();
            let armed = known.filter(|(_, at)| **at != Mono::NEVER);
            self.by_time
                .extend(armed.map(|(session, at)| Reverse((*at, session))));
        } else {
            self.by_time.push(Reverse((at, session)));
        }
        self.next = self.next.min(at);
    }

    /// Requires that everything without a session is checked by this time.
    #[inline]
    pub(crate) fn engine(&mut self, at: Mono) {
        self.engine = self.engine.min(at);
        self.next = self.next.min(at);
    }

    /// Takes the timers that are due: appends the sessions to `sessions`, and returns whether the engine itself is
    /// due. None of them is due again until it is set again.
    pub(crate) fn take_due(&mut self, now: Mono, sessions: &mut Vec<usize>) -> bool {
        let mut next = Mono::NEVER;
        while let Some(Reverse((at, session))) = self.by_time.peek().copied() {
            if self.sessions[session] == at {
                if at > now {
                    next = at;
                    break;
                }
                self.sessions[session] = Mono::NEVER;
                sessions.push(session);
            }
            self.by_time.pop();
        }
        let engine = self.engine <= now;
        if engine {
            self.engine = Mono::NEVER;
        }
        self.next = next.min(self.engine);
        engine
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn due(timers: &mut Timers, now: u64) -> (Vec<usize>, bool) {
        let mut sessions = Vec::new();
        let engine = timers.take_due(Mono(now), &mut sessions);
        (sessions, engine)
    }

    #[test]
    fn at_first_everything_is_due_and_then_nothing() {
        let mut timers = Timers::new(3);
        assert_eq!(timers.next(), Mono(0));
        assert_eq!(due(&mut timers, 5), (vec![0, 1, 2], true));
        assert_eq!(timers.next(), Mono::NEVER);
        assert_eq!(due(&mut timers, 6), (vec![], false));
        timers.add();
        assert_eq!(due(&mut timers, 7), (vec![3], false));
    }

    #[test]
    fn a_session_that_is_due_again_at_once_waits_for_the_next_turn() {
        let mut timers = Timers::new(1);
        due(&mut timers, 1);
        timers.session(0, Mono(0));
        assert_eq!(due(&mut timers, 1), (vec![0], false));
        assert_eq!(due(&mut timers, 1), (vec![], false));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Session(usize, u64),
        Engine(u64),
        Elapse(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0..4_usize, 0..60_u64).prop_map(|(session, after)| Step::Session(session, after)),
            1 => (0..60_u64).prop_map(Step::Engine),
            2 => (0..20_u64).prop_map(Step::Elapse),
        ]
    }

    proptest! {
        /// Compared with a list of times that is searched each time.
        #[test]
        fn what_is_due_is_what_a_plain_list_says(steps in prop::collection::vec(step(), 1..400)) {
            let mut timers = Timers::new(4);
            let (mut now, mut plain, mut engine) = (0, [Mono(0); 4], Mono(0));
            for step in steps {
                match step {
                    Step::Session(session, after) => {
                        timers.session(session, Mono(now + after));
                        plain[session] = plain[session].min(Mono(now + after));
                    }
                    Step::Engine(after) => {
                        timers.engine(Mono(now + after));
                        engine = engine.min(Mono(now + after));
                    }
                    Step::Elapse(later) => {
                        now += later;
                        let (mut found, is_due) = due(&mut timers, now);
                        found.sort_unstable();
                        let late = (0..4).filter(|session| plain[*session] <= Mono(now));
                        let late: Vec<usize> = late.collect();
                        late.iter().for_each(|session| plain[*session] = Mono::NEVER);
                        prop_assert_eq!((found, is_due), (late, engine <= Mono(now)));
                        if is_due {
                            engine = Mono::NEVER;
                        }
                    }
                }
                let least = plain.iter().min().copied().unwrap_or(Mono::NEVER);
                prop_assert_eq!(timers.next(), least.min(engine));
                prop_assert!(timers.by_time.len() <= 2 * 4 + SPARE);
            }
        }
    }
}
