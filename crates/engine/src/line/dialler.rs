//! When and where an initiator connects: its hosts one after another, with increasing pauses.

use std::time::Duration;

use fixwire_protocol::{Mono, Nanos};

use crate::config::{Connection, SessionConfig};
use crate::host::{ConnId, Dial, SocketOptions};
use crate::transport::{HostPolicy, Transport};

/// The connection attempts of one initiator session.
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
    transport: Transport,
    /// The host of the current or next attempt.
    host: usize,
    /// Time at which the first host was last tried; `None` before the first attempt.
    first_tried: Option<Mono>,
    /// Number of attempts since the session was last logged on.
    failures: usize,
    state: State,
    /// Whether the session schedule allows connecting.
    is_open: bool,
}

/// The due time of an attempt without a pause.
const AT_ONCE: Mono = Mono(0);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// The next attempt is due at this time.
    Waiting(Mono),
    /// An attempt is in progress; it is given up at this time.
    Dialling(ConnId, Mono),
    /// Connected.
    Up,
    /// An operator logged the session out.
    Off,
}

impl Dialler {
    /// The dialler of an initiator session; `None` for an acceptor.
    pub(crate) fn of(config: &SessionConfig) -> Option<Self> {
        Self::to(&config.connection, &config.transport)
    }

    /// The dialler of an initiator; `None` for an acceptor.
    pub(crate) fn to(connection: &Connection, transport: &Transport) -> Option<Self> {
        match connection {
            Connection::Acceptor { .. } => None,
            Connection::Initiator {
                hosts,
                reconnect,
                timeout,
            } => Some(Self::new(
                hosts.clone(),
                reconnect.clone(),
                *timeout,
                transport.clone(),
            )),
        }
    }

    /// A dialler whose first attempt is due at once.
    fn new(
        hosts: Vec<(String, u16)>,
        pauses: Vec<Duration>,
        timeout: Duration,
        transport: Transport,
    ) -> Self {
        Self {
            hosts,
            pauses,
            timeout,
            transport,
            host: 0,
            first_tried: None,
            failures: 0,
            state: State::Waiting(AT_ONCE),
            is_open: true,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Whether an attempt is in progress, or begins in the engine's next turn.
    pub(crate) fn is_connecting(&self) -> bool {
        matches!(self.state, State::Waiting(AT_ONCE) | State::Dialling(..))
    }

    pub(crate) fn host(&self) -> (&str, u16) {
        let (name, port) = &self.hosts[self.host];
        (name, *port)
    }

    /// The host and port for the next attempt. Under [`HostPolicy::Priority`] this is the first host, if its last
    /// attempt was long enough ago.
    pub(crate) fn next<'a>(&'a mut self, now: Mono, options: &'a SocketOptions) -> Dial<'a> {
        if let (HostPolicy::Priority { start_over }, Some(tried)) =
            (self.transport.policy, self.first_tried)
            && now >= tried + Nanos::from(start_over)
        {
            self.host = 0;
        }
        if self.host == 0 {
            self.first_tried = Some(now);
        }
        let (host, port) = &self.hosts[self.host];
        Dial {
            host,
            port: *port,
            local: self.transport.local(self.host),
            transport: &self.transport,
            options,
        }
    }

    /// The transport of the connection.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Time at which the dialler must be checked even if nothing arrives.
    pub(crate) fn due(&self) -> Option<Mono> {
        match self.state {
            State::Waiting(at) => Some(at).filter(|_| self.is_open),
            State::Dialling(_, at) => Some(at),
            State::Up | State::Off => None,
        }
    }

    pub(crate) fn dialling(&mut self, now: Mono, conn: ConnId) {
        self.state = State::Dialling(conn, now + Nanos::from(self.timeout));
    }

    pub(crate) fn connected(&mut self) {
        self.state = State::Up;
    }

    /// Records that the session is logged on. The host works, so the pauses start again with the first one when the
    /// connection ends.
    pub(crate) fn logged_on(&mut self) {
        self.failures = 0;
    }

    /// Records that an attempt failed or that the connection ended. Moves to the next host, unless the session was
    /// logged on at this one. Returns the pause.
    pub(crate) fn ended(&mut self, now: Mono, was_logged_on: bool) -> Nanos {
        let pause = self.pauses.get(self.failures).or(self.pauses.last());
        let pause = pause.map_or(Nanos(0), |pause| Nanos::from(*pause));
        self.failures = self.failures.saturating_add(1);
        if !was_logged_on {
            self.host = (self.host + 1) % self.hosts.len();
        }
        if self.state != State::Off {
            self.state = State::Waiting(now + pause);
        }
        pause
    }

    /// Sets whether the session schedule allows connecting. A new trading session begins with an attempt at once and
    /// with the first pause.
    pub(crate) fn set_open(&mut self, now: Mono, open: bool) {
        self.is_open = open;
        if matches!(self.state, State::Waiting(_) | State::Dialling(..)) {
            self.state = State::Waiting(now);
            self.failures = 0;
        }
    }

    /// No more attempts.
    pub(crate) fn off(&mut self) {
        self.state = State::Off;
    }

    /// Makes the next attempt due at once, even after [`off`](Self::off).
    pub(crate) fn on(&mut self) {
        if matches!(self.state, State::Off | State::Waiting(_)) {
            self.state = State::Waiting(AT_ONCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialler(names: &[&str], pauses: Vec<Duration>, policy: HostPolicy) -> Dialler {
        let hosts = names.iter().enumerate();
        let hosts = hosts.map(|(index, name)| ((*name).to_owned(), index as u16 + 1));
        let mut transport = Transport::default();
        transport.policy = policy;
        Dialler::new(hosts.collect(), pauses, Duration::from_secs(3), transport)
    }

    #[test]
    fn a_pause_without_end_does_not_come_round() {
        let mut dialler = dialler(&["a"], vec![Duration::MAX], HostPolicy::RoundRobin);
        dialler.timeout = Duration::MAX;
        dialler.dialling(Mono(10), ConnId(7));
        assert_eq!(dialler.due(), Some(Mono(u64::MAX)));
        dialler.ended(Mono(10), false);
        assert_eq!(dialler.due(), Some(Mono(u64::MAX)));
    }

    #[test]
    fn a_closed_session_is_not_dialled() {
        let mut dialler = dialler(&["a"], vec![Duration::from_secs(1)], HostPolicy::RoundRobin);
        dialler.timeout = Duration::MAX;
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
        let pauses = vec![Duration::from_secs(1), Duration::from_secs(5)];
        let mut dialler = dialler(&["a", "b"], pauses, HostPolicy::RoundRobin);
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
        assert!(!dialler.is_connecting());
        dialler.on();
        assert!(dialler.is_connecting(), "before it is dialled, too");
        dialler.ended(Mono(9), false);
        assert!(!dialler.is_connecting(), "it pauses");
    }

    /// The hosts of attempts at these seconds; after one marked `!` the session is logged on before the connection
    /// ends.
    fn tried(policy: HostPolicy, attempts: &[(u64, bool)]) -> String {
        let mut dialler = dialler(&["a", "b", "c"], vec![Duration::ZERO], policy);
        let options = SocketOptions::default();
        let mut tried = String::new();
        for (seconds, works) in attempts {
            let now = Mono(seconds * 1_000_000_000);
            tried.push_str(dialler.next(now, &options).host);
            dialler.dialling(now, ConnId(1));
            dialler.ended(now, *works);
        }
        tried
    }

    #[test]
    fn round_robin_goes_on_and_priority_goes_back() {
        let priority = HostPolicy::Priority {
            start_over: Duration::from_secs(120),
        };
        let dead = [0, 1, 2, 3, 4, 119, 125].map(|seconds| (seconds, false));
        assert_eq!(tried(HostPolicy::RoundRobin, &dead), "abcabca");
        // At 4 s b is next, at 119 s c; the first host was tried at 3 s, so at 125 s it is tried again.
        assert_eq!(tried(priority, &dead), "abcabca");
        // The second host works until 60 s: again the second. From 120 s on the first is preferred.
        let ends = [
            (0, false),
            (1, true),
            (60, true),
            (121, true),
            (122, false),
            (123, true),
        ];
        assert_eq!(tried(HostPolicy::RoundRobin, &ends), "abbbbc");
        assert_eq!(tried(priority, &ends), "abbaab");
    }
}
