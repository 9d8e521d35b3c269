//! Rate limits of client sessions.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::values::ids::{SessionNo, Table};
use crate::values::rules::{RateRule, UserRule};

/// What the rate limit decides about a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Passage {
    Taken,
    /// The request is above the rate limit, and is rejected.
    Rejected,
    /// The message is above the rate limit and is rejected. With this reject the client reaches the number of rejects
    /// at which the OMS logs the client out.
    LoggedOut(RateRule),
}

/// Rate limiter of a client: at most the configured number of requests within any window of the configured time.
#[derive(Debug)]
pub(crate) struct ClientRate {
    pub(crate) rule: RateRule,
    /// Times of accepted requests, in a ring; the oldest is at `next`.
    pub(crate) taken: Vec<i64>,
    pub(crate) next: usize,
    /// Requests rejected since the last accepted one.
    pub(crate) rejected: usize,
    /// The client is being logged out: the OMS rejects all requests until its next Logon.
    pub(crate) is_leaving: bool,
}

impl ClientRate {
    fn new(rule: RateRule) -> Self {
        Self {
            rule,
            taken: alloc::vec![i64::MIN; rule.count.get()],
            next: 0,
            rejected: 0,
            is_leaving: false,
        }
    }

    /// Takes over the counts of the rate limiter that the former settings made.
    fn follow(&mut self, before: Self) {
        if self.rule == before.rule {
            *self = before;
            return;
        }
        let (newer, older) = before.taken.split_at(before.next);
        let times: Vec<i64> = older.iter().chain(newer).copied().collect();
        let count = self.taken.len();
        let spare = count.saturating_sub(times.len());
        // The newest of these times, as many as the new ring can hold.
        let last = &times[times.len().saturating_sub(count)..];
        self.taken[spare..].copy_from_slice(last);
        (self.rejected, self.is_leaving) = (before.rejected, before.is_leaving);
    }

    fn request(&mut self, at: i64) -> Passage {
        let oldest = &mut self.taken[self.next];
        if !self.is_leaving && at.saturating_sub(*oldest) >= self.rule.time {
            *oldest = at;
            self.next = (self.next + 1) % self.rule.count;
            self.rejected = 0;
            return Passage::Taken;
        }
        self.rejected += 1;
        if self.is_leaving || self.rule.logout_after != Some(self.rejected) {
            return Passage::Rejected;
        }
        self.is_leaving = true;
        Passage::LoggedOut(self.rule)
    }
}

/// Rate limiters of all clients. They are not part of the state: a restart resets them.
#[derive(Debug, Default)]
pub(crate) struct ClientRates(pub(crate) Table<SessionNo, Option<ClientRate>>);

impl ClientRates {
    /// Rate limiters by the session's number in the state.
    pub(crate) fn new(users: &Table<SessionNo, Option<UserRule>>) -> Self {
        let rates = users.iter().map(|user| user.as_ref()?.rate);
        if rates.clone().all(|rate| rate.is_none()) {
            return Self::default();
        }
        Self(rates.map(|rate| rate.map(ClientRate::new)).collect())
    }

    /// Continues with other settings: requests that were accepted before still count.
    pub(crate) fn follow(&mut self, users: &Table<SessionNo, Option<UserRule>>) {
        let before = core::mem::replace(self, Self::new(users)).0;
        for (rate, before) in self.0.iter_mut().zip(before) {
            if let (Some(rate), Some(before)) = (rate, before) {
                rate.follow(before);
            }
        }
    }

    /// Counts a request of a client, and decides about it.
    #[inline]
    pub(crate) fn request(&mut self, client: SessionNo, at: i64) -> Passage {
        match self.0.get_mut(client) {
            Some(Some(rate)) => rate.request(at),
            _ => Passage::Taken,
        }
    }

    /// Handles a logon of a client: earlier requests still count, earlier rejects do not.
    pub(crate) fn logged_on(&mut self, client: SessionNo) {
        if let Some(Some(rate)) = self.0.get_mut(client) {
            (rate.rejected, rate.is_leaving) = (0, false);
        }
    }
}

impl fmt::Display for RateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MILLI: i64 = 1_000_000;
        let millis = self.time / MILLI;
        let (time, unit) = match millis % 1000 {
            0 => (millis / 1000, "s"),
            _ => (millis, "ms"),
        };
        write!(f, "{} in {time}{unit}", self.count)
    }
}

impl RateRule {
    /// Text(58) of the Logout.
    pub(crate) fn logout_text(&self) -> String {
        let rejected = self.logout_after.unwrap_or(0);
        alloc::format!(
            "Rate limit exceeded: {rejected} requests above {self} were rejected; log on again and stay below this rate"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroUsize;

    const MILLI: i64 = 1_000_000;

    fn rates(logout_after: Option<usize>) -> ClientRates {
        rates_of(3, logout_after)
    }

    fn rates_of(count: usize, logout_after: Option<usize>) -> ClientRates {
        let rate = RateRule {
            count: NonZeroUsize::new(count).unwrap(),
            time: 1000 * MILLI,
            logout_after,
        };
        let user = UserRule {
            rate: Some(rate),
            ..UserRule::default()
        };
        let users = [None, Some(user), Some(UserRule::default())];
        ClientRates::new(&users.into_iter().collect())
    }

    /// Whether the requests of the client at these milliseconds are accepted.
    fn taken(rates: &mut ClientRates, at: &[i64]) -> Vec<bool> {
        let at = at.iter().map(|at| at * MILLI);
        at.map(|at| rates.request(SessionNo::new(1), at) == Passage::Taken)
            .collect()
    }

    #[test]
    fn no_time_of_that_length_has_more_than_the_rate() {
        let mut rates = rates(None);
        let at = [0, 400, 500, 999, 1000, 1001, 1400, 1500, 1501, 2000];
        let is = [
            true, true, true, false, true, false, true, true, false, true,
        ];
        assert_eq!(taken(&mut rates, &at), is);
        // Others have none.
        for client in [0, 2, 7].map(SessionNo::new) {
            let mut all = (0..9).map(|_| rates.request(client, 0));
            assert!(all.all(|it| it == Passage::Taken), "{client}");
        }
    }

    #[test]
    fn the_least_rate_takes_one_request_in_its_time() {
        let mut rates = rates_of(1, None);
        let at = [0, 1, 999, 1000, 1001, 2000];
        assert_eq!(
            taken(&mut rates, &at),
            [true, false, false, true, false, true]
        );
    }

    #[test]
    fn so_many_rejected_in_a_row_log_out_once() {
        let mut rates = rates(Some(2));
        // An accepted request resets the count.
        assert_eq!(
            taken(&mut rates, &[0, 0, 0, 1, 1000]),
            [true, true, true, false, true]
        );
        assert_eq!(taken(&mut rates, &[1000, 1000, 1000]), [true, true, false]);
        let Passage::LoggedOut(rule) = rates.request(SessionNo::new(1), 1000 * MILLI) else {
            panic!("it is the second");
        };
        assert_eq!(
            rule.logout_text(),
            "Rate limit exceeded: 2 requests above 3 in 1s were rejected; log on again and stay below this rate"
        );
        // Independent of time, and never a second Logout.
        for at in [1000, 1001, 5000, 9000] {
            assert_eq!(
                rates.request(SessionNo::new(1), at * MILLI),
                Passage::Rejected,
                "{at}"
            );
        }
    }

    #[test]
    fn a_logon_begins_the_row_anew_but_not_the_time() {
        let mut rates = rates(Some(2));
        taken(&mut rates, &[0, 1, 2, 3, 4]);
        rates.logged_on(SessionNo::new(1));
        assert_eq!(
            rates.request(SessionNo::new(1), 999 * MILLI),
            Passage::Rejected
        );
        assert_eq!(taken(&mut rates, &[1000, 1001, 1001]), [true, true, false]);
    }

    #[test]
    fn a_rate_is_written_as_settings_have_it() {
        let text = |time| {
            let rule = RateRule {
                count: NonZeroUsize::new(100).unwrap(),
                time: time * MILLI,
                logout_after: None,
            };
            alloc::string::ToString::to_string(&rule)
        };
        assert_eq!(text(1000), "100 in 1s");
        assert_eq!(text(1500), "100 in 1500ms");
    }
}
