//! Limits logon attempts by address and session.
//!
//! ```text
//!   address allowed?  -> too many attempts from there, or from everybody?  -> a free place?
//!     ... the first message is read ...
//!   parties known?  -> allowed from there?  -> locked out?  -> password  -> not already on?
//! ```
//!
//! A connection takes a token of its address and a global token. When the connection logs on, both tokens are
//! returned, so only failed attempts count. Unknown peers never lock out a peer from another address: a lock applies
//! to an address and a session together, and an address that a session belongs to needs no global token. Such an
//! address also has more tokens, because unknown peers may share it (NAT, a proxy).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};

use fixwire_protocol::{Mono, Nanos};

use crate::bucket::{Bucket, Rate};
use crate::config::LogonLimits;
use crate::event::FailureLimit;

/// Maximum number of entries in each table that unknown peers can fill.
const MOST_REMEMBERED: usize = 4096;
/// Number of entries of a full table that are examined to find an idle one.
const FEW: usize = 32;
/// An address that sessions belong to may have this many times more failed attempts.
const MORE_FOR_PEERS: u32 = 10;
/// Number of wrong passwords until an address is locked out of a session.
const FREE_FAILURES: u32 = 5;
/// Duration of the first lock-out. Each further failure doubles the duration.
const FIRST_LOCK: Nanos = Nanos(1_000_000_000);
/// Longest lock.
const LONGEST_LOCK: Nanos = Nanos(15 * 60 * 1_000_000_000);

/// The address under which attempts are counted. A host has one IPv4 address, but 2^64 IPv6 addresses, so the /64
/// counts.
pub(super) fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
        address => address,
    }
}

/// For which session logon attempts are counted.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Target {
    /// A session.
    Session(usize),
    /// A template whose session does not exist yet.
    Template(usize),
}

#[derive(Clone, Copy, Debug)]
struct Lock {
    failures: u32,
    until: Mono,
}

/// Counts logon attempts. Its memory is bounded.
pub(super) struct Doorman {
    limits: LogonLimits,
    everybody: Bucket,
    addresses: HashMap<IpAddr, Bucket>,
    /// Logon attempts from addresses that sessions belong to.
    peers: HashMap<IpAddr, Bucket>,
    targets: HashMap<Target, Bucket>,
    locks: HashMap<(IpAddr, Target), Lock>,
    /// The address from which each session logged on last.
    known: HashMap<usize, IpAddr>,
    /// Number of sessions that last logged on from each address.
    known_from: HashMap<IpAddr, usize>,
}

impl Doorman {
    pub(super) fn new(limits: LogonLimits) -> Self {
        Self {
            everybody: Bucket::new(&Rate::per_minute(limits.failures_per_minute)),
            limits,
            addresses: HashMap::new(),
            peers: HashMap::new(),
            targets: HashMap::new(),
            locks: HashMap::new(),
            known: HashMap::new(),
            known_from: HashMap::new(),
        }
    }

    /// Whether a session last logged on from this address.
    pub(super) fn knows(&self, session: usize, address: IpAddr) -> bool {
        self.known.get(&session) == Some(&source(address))
    }

    /// Whether a new connection is allowed; if not, the limit that was reached. `belongs`: sessions belong to the
    /// address.
    pub(super) fn connects(
        &mut self,
        now: Mono,
        address: IpAddr,
        belongs: bool,
    ) -> Result<(), FailureLimit> {
        let address = source(address);
        let count = self.limits.failures_per_minute_and_address;
        let (table, count) = match belongs {
            true => (&mut self.peers, count.saturating_mul(MORE_FOR_PEERS)),
            false => (&mut self.addresses, count),
        };
        let bucket = remember(table, address, |bucket| bucket.is_full(now))
            .or_insert_with(|| Bucket::new(&Rate::per_minute(count)));
        if bucket.available(now) == 0 {
            return Err(FailureLimit::Address(count));
        }
        let passes = belongs || self.known_from.contains_key(&address);
        if !passes && self.everybody.available(now) == 0 {
            return Err(FailureLimit::Total(self.limits.failures_per_minute));
        }
        bucket.spend(now, 1);
        self.everybody.spend(now, 1);
        Ok(())
    }

    /// The limit that keeps this address out of a session: the address is locked out, or there were too many attempts
    /// for the session. `None` when the address may try.
    pub(super) fn keeps_out(
        &mut self,
        now: Mono,
        address: IpAddr,
        target: Target,
    ) -> Option<FailureLimit> {
        let address = source(address);
        if let Some(lock) = self.locks.get(&(address, target))
            && now < lock.until
        {
            return Some(FailureLimit::Passwords(FREE_FAILURES));
        }
        let is_known = matches!(target, Target::Session(session)
            if self.known.get(&session) == Some(&address));
        let bucket = self.targets.get(&target);
        let is_full = !is_known && bucket.is_some_and(|bucket| bucket.available(now) == 0);
        is_full.then_some(FailureLimit::Session(
            self.limits.failures_per_minute_and_session,
        ))
    }

    /// Counts a wrong password or an unknown user.
    pub(super) fn failed(&mut self, now: Mono, address: IpAddr, target: Target) {
        let address = source(address);
        let rate = Rate::per_minute(self.limits.failures_per_minute_and_session);
        remember(&mut self.targets, target, |bucket| bucket.is_full(now))
            .or_insert_with(|| Bucket::new(&rate))
            .spend(now, 1);
        let old = |lock: &Lock| lock.until + LONGEST_LOCK < now;
        let lock = remember(&mut self.locks, (address, target), old)
            .and_modify(|lock| {
                if old(lock) {
                    lock.failures = 0;
                }
            })
            .or_insert(Lock {
                failures: 0,
                until: now,
            });
        lock.failures = lock.failures.saturating_add(1);
        lock.until = match lock.failures.checked_sub(FREE_FAILURES) {
            None => now,
            Some(doublings) => {
                let time = FIRST_LOCK.0.saturating_mul(1 << doublings.min(20));
                now + Nanos(time.min(LONGEST_LOCK.0))
            }
        };
    }

    /// Records that a session has logged on from this address, so that the attempt does not count.
    pub(super) fn succeeded(&mut self, address: IpAddr, session: usize) {
        let address = source(address);
        self.locks.remove(&(address, Target::Session(session)));
        self.everybody.give_back();
        for table in [&mut self.addresses, &mut self.peers] {
            if let Some(bucket) = table.get_mut(&address) {
                bucket.give_back();
            }
        }
    }

    /// Records that a session that does not exist yet logged on from this address in an earlier run.
    pub(super) fn know_of(&mut self, address: IpAddr) {
        *self.known_from.entry(source(address)).or_default() += 1;
    }

    /// The address from which a session logged on last; `None` when it has never logged on.
    pub(super) fn address_of(&self, session: usize) -> Option<IpAddr> {
        self.known.get(&session).copied()
    }

    /// Records that a session last logged on from this address. Returns its previous address.
    pub(super) fn know(&mut self, address: IpAddr, session: usize) -> Option<IpAddr> {
        let address = source(address);
        let before = self.known.insert(session, address);
        recount(&mut self.known_from, before, Some(address));
        before
    }
}

/// Moves one count from the key `before` to the key `now`.
pub(super) fn recount<K: Copy + Eq + Hash>(
    counts: &mut HashMap<K, usize>,
    before: Option<K>,
    now: Option<K>,
) {
    if before == now {
        return;
    }
    if let Some(now) = now {
        *counts.entry(now).or_default() += 1;
    }
    if let Some(before) = before
        && let Entry::Occupied(mut count) = counts.entry(before)
    {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

/// The entry of a key in a bounded table. When the table is full, an `idle` entry is removed, or any entry. Only a
/// few entries are examined, so that a flood of new addresses does not scan the whole table for each one.
fn remember<'a, K: Copy + Eq + Hash, V>(
    table: &'a mut HashMap<K, V>,
    key: K,
    idle: impl Fn(&V) -> bool,
) -> Entry<'a, K, V> {
    if table.len() >= MOST_REMEMBERED && !table.contains_key(&key) {
        let mut few = table.iter().take(FEW);
        let idle = few.find(|(_, value)| idle(value)).map(|(key, _)| *key);
        if let Some(victim) = idle.or_else(|| table.keys().next().copied()) {
            table.remove(&victim);
        }
    }
    table.entry(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn logged_on(doorman: &mut Doorman, address: IpAddr, session: usize) {
        doorman.succeeded(address, session);
        doorman.know(address, session);
    }

    fn doorman() -> Doorman {
        Doorman::new(LogonLimits {
            failures_per_minute: 100,
            failures_per_minute_and_address: 20,
            failures_per_minute_and_session: 50,
        })
    }

    /// T7: token buckets per address, and a global one.
    #[test]
    fn attempts_that_fail_are_limited_and_those_that_succeed_are_not() {
        let mut doorman = doorman();
        let (stranger, friend) = (ip("192.0.2.1"), ip("192.0.2.2"));
        let now = Mono(SECOND);
        for _ in 0..20 {
            assert!(doorman.connects(now, stranger, false).is_ok());
        }
        assert!(
            doorman.connects(now, stranger, false).is_err(),
            "20 failures in a minute"
        );
        for _ in 0..1000 {
            assert!(doorman.connects(now, friend, false).is_ok());
            logged_on(&mut doorman, friend, 0);
        }
        let later = Mono(now.0 + 3 * SECOND);
        assert!(
            doorman.connects(later, stranger, false).is_ok()
                && doorman.connects(later, stranger, false).is_err()
        );
        // Many addresses together reach the global limit; known addresses do not.
        let mut admitted = 0;
        for host in 0..=255 {
            admitted += u32::from(
                doorman
                    .connects(later, ip(&format!("198.51.100.{host}")), false)
                    .is_ok(),
            );
        }
        assert!((75..=85).contains(&admitted), "{admitted}");
        assert!(doorman.connects(later, friend, false).is_ok());
    }

    /// T7: an unknown peer at a peer's address uses up its own tokens, not the peer's.
    #[test]
    fn an_address_that_sessions_belong_to_has_ten_times_the_attempts() {
        let mut doorman = doorman();
        let (peer, now) = (ip("192.0.2.2"), Mono(SECOND));
        for _ in 0..200 {
            assert!(doorman.connects(now, peer, true).is_ok());
        }
        assert!(
            doorman.connects(now, peer, true).is_err(),
            "200 failures in a minute"
        );
        // Without a session that belongs to it, it is an ordinary address.
        assert!(
            doorman.connects(now, peer, false).is_err(),
            "no attempts are left for everybody"
        );
        logged_on(&mut doorman, peer, 0);
        assert!(doorman.knows(0, peer) && doorman.connects(now, peer, false).is_ok());
        logged_on(&mut doorman, ip("192.0.2.3"), 0);
        assert!(!doorman.knows(0, peer) && doorman.connects(now, peer, false).is_err());
        // For a session that a template will create.
        doorman.know_of(peer);
        assert!(!doorman.knows(0, peer) && doorman.connects(now, peer, false).is_ok());
    }

    /// T7: five failures lock an address out of one session, for increasing times up to 15 minutes.
    #[test]
    fn a_lock_grows_to_a_quarter_of_an_hour_and_is_for_one_address_and_session() {
        let mut doorman = doorman();
        let (stranger, friend) = (ip("192.0.2.1"), ip("192.0.2.2"));
        let target = Target::Session(3);
        let mut now = Mono(SECOND);
        for _ in 0..4 {
            doorman.failed(now, stranger, target);
            assert!(doorman.keeps_out(now, stranger, target).is_none());
        }
        let mut longest = 0;
        for round in 0..15 {
            doorman.failed(now, stranger, target);
            let begin = now;
            while doorman.keeps_out(now, stranger, target).is_some() {
                now = now + Nanos(SECOND / 2);
            }
            let lock = (now.0 - begin.0) / SECOND;
            assert!(lock >= (1 << round).min(900), "round {round}: {lock} s");
            longest = longest.max(lock);
        }
        assert!((900..=901).contains(&longest), "{longest}");
        doorman.failed(now, stranger, target);
        assert!(doorman.keeps_out(now, stranger, target).is_some());
        assert!(
            doorman.keeps_out(now, friend, target).is_none(),
            "from another address"
        );
        assert!(
            doorman
                .keeps_out(now, stranger, Target::Session(4))
                .is_none(),
            "another session"
        );
        logged_on(&mut doorman, stranger, 3);
        assert!(doorman.keeps_out(now, stranger, target).is_none());
    }

    /// T7: a flood of wrong passwords from everywhere does not lock out a known address.
    #[test]
    fn failures_of_many_addresses_close_a_session_to_strangers_only() {
        let mut doorman = doorman();
        let now = Mono(SECOND);
        logged_on(&mut doorman, ip("192.0.2.2"), 1);
        for host in 0..=99 {
            doorman.failed(now, ip(&format!("198.51.100.{host}")), Target::Session(1));
        }
        assert!(
            doorman
                .keeps_out(now, ip("203.0.113.1"), Target::Session(1))
                .is_some()
        );
        assert!(
            doorman
                .keeps_out(now, ip("192.0.2.2"), Target::Session(1))
                .is_none()
        );
    }

    #[test]
    fn tables_are_bounded_and_a_network_of_ipv6_counts_as_one() {
        let mut doorman = Doorman::new(LogonLimits {
            failures_per_minute: u32::MAX,
            ..LogonLimits::default()
        });
        let now = Mono(SECOND);
        for host in 0..3 * MOST_REMEMBERED as u32 {
            let address = IpAddr::V4((0x0A00_0000 + host).into());
            let _ = doorman.connects(now, address, false);
            doorman.failed(now, address, Target::Session(0));
        }
        assert!(doorman.addresses.len() <= MOST_REMEMBERED);
        assert!(doorman.locks.len() <= MOST_REMEMBERED);
        assert_eq!(
            source(ip("2001:db8::1")),
            source(ip("2001:db8::ffff:1:2:3"))
        );
        assert_ne!(source(ip("2001:db8::1")), source(ip("2001:db8:0:1::1")));
    }
}
