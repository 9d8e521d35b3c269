//! When and where an initiator connects: the hosts in turn, with growing pauses.

use std::time::Duration;

use fixwire_protocol::{Mono, Nanos};

use crate::host::ConnId;

/// The dialling of one initiator session.
///
/// ```text
///            due                       connected
///   Waiting ------> Dialling ---------------------> Up
///      ^               | failed, or timed out         | ended
///      +---------------+------------------------------+      the pause grows with each failure
/// ```
#[derive(Debug)]
pub(crate) struct Dialler {
    hosts: Vec<(String, u16)>,
    pauses: Vec<Duration>,
    timeout: Duration,
    /// The host of the current or next attempt.
    host: usize,
    /// Attempts since the session was last logged on.
    failures: usize,
    state: State,
    /// This is a time for the session.
    is_open: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// The next attempt is at this time.
    Waiting(Mono),
    /// An attempt is under way until this time.
    Dialling(ConnId, Mono),
    /// There is a connection.
    Up,
    /// An operator logged the session out.
    Off,
}

/// As many nanoseconds as there can be: five hundred years are for ever.
pub(crate) fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

impl Dialler {
    /// The first attempt is due at once.
    pub(crate) fn new(hosts: Vec<(String, u16)>, pauses: Vec<Duration>, timeout: Duration) -> Self {
        Self {
            hosts,
            pauses,
            timeout,
            host: 0,
            failures: 0,
            state: State::Waiting(Mono(0)),
            is_open: true,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    pub(crate) fn host(&self) -> (&str, u16) {
        let (name, port) = &self.hosts[self.host];
        (name, *port)
    }

    /// When something must happen though nothing arrives.
    pub(crate) fn due(&self) -> Option<Mono> {
        match self.state {
            State::Waiting(at) => Some(at).filter(|_| self.is_open),
            State::Dialling(_, at) => Some(at),
            State::Up | State::Off => None,
        }
    }

    pub(crate) fn dialling(&mut self, now: Mono, conn: ConnId) {
        self.state = State::Dialling(conn, now + nanos(self.timeout));
    }

    pub(crate) fn connected(&mut self) {
        self.state = State::Up;
    }

    /// The session is logged on: this host works, and the pauses begin anew when it ends.
    pub(crate) fn logged_on(&mut self) {
        self.failures = 0;
    }

    /// An attempt failed or the connection ended. Goes to the next host unless the session was
    /// logged on at this one; says how long the pause is.
    pub(crate) fn ended(&mut self, now: Mono, was_logged_on: bool) -> Nanos {
        let pause = self.pauses.get(self.failures).or(self.pauses.last());
        let pause = pause.map_or(Nanos(0), |pause| nanos(*pause));
        self.failures = self.failures.saturating_add(1);
        if !was_logged_on {
            self.host = (self.host + 1) % self.hosts.len();
        }
        if self.state != State::Off {
            self.state = State::Waiting(now + pause);
        }
        pause
    }

    /// The session's schedule lets it connect, or no longer: a new time begins with an attempt at
    /// once and the first pause.
    pub(crate) fn set_open(&mut self, now: Mono, open: bool) {
        self.is_open = open;
        if matches!(self.state, State::Waiting(_) | State::Dialling(..)) {
            self.state = State::Waiting(now);
            self.failures = 0;
        }
    }

    /// No further attempt.
    pub(crate) fn off(&mut self) {
        self.state = State::Off;
    }

    /// The next attempt is due at once, after [`off`](Self::off) too.
    pub(crate) fn on(&mut self, now: Mono) {
        if matches!(self.state, State::Off | State::Waiting(_)) {
            self.state = State::Waiting(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_without_end_does_not_come_round() {
        let hosts = vec![("a".to_owned(), 1)];
        let mut dialler = Dialler::new(hosts, vec![Duration::MAX], Duration::MAX);
        dialler.dialling(Mono(10), ConnId(7));
        assert_eq!(dialler.due(), Some(Mono(u64::MAX)));
        dialler.ended(Mono(10), false);
        assert_eq!(dialler.due(), Some(Mono(u64::MAX)));
    }

    #[test]
    fn a_closed_session_is_not_dialled() {
        let hosts = vec![("a".to_owned(), 1)];
        let mut dialler = Dialler::new(hosts, vec![Duration::from_secs(1)], Duration::MAX);
        dialler.set_open(Mono(5), false);
        assert_eq!(dialler.due(), None);
        dialler.ended(Mono(6), true);
        assert_eq!(dialler.due(), None);
        dialler.set_open(Mono(7), true);
        assert_eq!(dialler.due(), Some(Mono(7)));
        dialler.off();
        dialler.set_open(Mono(8), true);
        assert_eq!(dialler.due(), None, "the operator's word stands");
    }

    #[test]
    fn hosts_take_turns_and_pauses_grow_until_a_logon() {
        let hosts = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
        let pauses = vec![Duration::from_secs(1), Duration::from_secs(5)];
        let mut dialler = Dialler::new(hosts, pauses, Duration::from_secs(3));
        assert_eq!(dialler.state(), State::Waiting(Mono(0)));
        dialler.dialling(Mono(10), ConnId(7));
        assert_eq!(dialler.due(), Some(Mono(3_000_000_010)));
        assert_eq!(dialler.ended(Mono(0), false), Nanos(1_000_000_000));
        assert_eq!(dialler.host(), ("b", 2));
        assert_eq!(dialler.ended(Mono(0), false), Nanos(5_000_000_000));
        assert_eq!(dialler.ended(Mono(0), false), Nanos(5_000_000_000));
        assert_eq!(dialler.host(), ("b", 2));
        dialler.connected();
        dialler.logged_on();
        assert_eq!(dialler.due(), None);
        assert_eq!(dialler.ended(Mono(0), true), Nanos(1_000_000_000));
        assert_eq!(
            dialler.host(),
            ("b", 2),
            "a host that worked is tried again"
        );
        dialler.off();
        dialler.ended(Mono(0), true);
        assert_eq!(dialler.due(), None);
    }
}
