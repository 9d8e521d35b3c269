//! Pools of order numbers: the numbers of each pool that are used, and the pool of each session and line group.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::values::form::NumberForm;
use crate::values::ids::{PoolNo, SessionNo, Table};
use fixwire_ledger::record;

/// A number from a pool: the pool, and the index of the number in the pool.
pub(crate) type PoolNumber = (PoolNo, u64);

/// Usage of a pool. All numbers before `next` are used.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Pool {
    /// Hash of the pool's number format.
    pub form: u64,
    /// The tag that carries the numbers to venues.
    pub tag: u32,
    pub first: u64,
    pub last: u64,
    /// Whether the pool starts again with each trading day.
    pub each_day: bool,
    pub next: u64,
    /// Numbers at or above `next` that clients chose.
    pub own: BTreeSet<u64>,
    /// Whether the event that few numbers are left was raised.
    pub is_low: bool,
}

record! { Pool { form, tag, first, last, next, each_day, is_low, own } }

impl Pool {
    pub(crate) fn begin(&mut self) {
        self.next = self.first;
        self.own.clear();
        self.is_low = false;
    }

    /// Whether a number of the pool is used.
    pub(crate) fn has_begun(&self) -> bool {
        self.next > self.first || !self.own.is_empty()
    }

    /// Sets the first and the last index of the pool.
    pub(crate) fn bound(&mut self, first: u64, last: u64) {
        (self.first, self.last) = (first, last);
        self.next = self.next.max(first);
        self.pass_over();
        self.is_low = self.is_low && self.is_nearly_used();
    }

    /// Marks a number as used: one chosen by a client, or the next free one.
    pub(crate) fn used(&mut self, number: u64, own: bool) {
        if own && number != self.next {
            self.own.insert(number);
        } else {
            self.next = self.next.max(number.saturating_add(1));
        }
        self.pass_over();
    }

    /// Moves `next` past numbers that clients chose.
    fn pass_over(&mut self) {
        while self.own.first().is_some_and(|own| *own <= self.next) {
            let own = self.own.pop_first();
            self.next = self.next.max(own.map_or(0, |own| own.saturating_add(1)));
        }
    }

    /// Number of unused numbers.
    pub(crate) fn left(&self) -> u64 {
        let left = self.last.saturating_add(1).saturating_sub(self.next);
        left.saturating_sub(self.own.len() as u64)
    }

    /// Whether at most a tenth of the numbers is left.
    pub(crate) fn is_nearly_used(&self) -> bool {
        let all = self.last.saturating_sub(self.first).saturating_add(1);
        self.left() <= all / 10
    }
}

/// Settings of pools, by the numbers of the state.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    /// Number format of each pool; `None` for pools removed from the settings.
    pub forms: Table<PoolNo, Option<NumberForm>>,
    /// Pool of each session.
    pub of_session: Table<SessionNo, Option<PoolNo>>,
    /// Pool of each line group.
    pub of_group: Vec<Option<PoolNo>>,
}

impl Pools {
    /// Whether the settings have no pool.
    pub(crate) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    pub(crate) fn form(&self, pool: PoolNo) -> Option<&NumberForm> {
        self.forms.get(pool)?.as_ref()
    }

    /// The pool of an order: the pool of its user, or if the user has none, the pool of its line group.
    pub(crate) fn of(&self, session: SessionNo, group: Option<usize>) -> Option<PoolNo> {
        let of_session = self.of_session.get(session).copied().flatten();
        of_session.or_else(|| self.of_group.get(group?).copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use fixwire_ledger::Wire as _;

    use super::*;

    #[test]
    fn numbers_that_clients_name_are_passed_over() {
        let mut pool = Pool {
            first: 1,
            last: 20,
            ..Pool::default()
        };
        pool.begin();
        for (number, own, next, left) in [
            (1, false, 2, 19),
            (3, true, 2, 18),
            (4, true, 2, 17),
            (2, false, 5, 16),
            (5, true, 6, 15),
            (9, true, 6, 14),
            // 6 was rejected for another reason.
            (7, false, 8, 12),
        ] {
            pool.used(number, own);
            assert_eq!((pool.next, pool.left()), (next, left), "{number}");
        }
        (10..=18).for_each(|number| pool.used(number, true));
        assert!(!pool.is_nearly_used(), "3 of 20 are left");
        pool.used(20, true);
        assert!(pool.is_nearly_used());
        let mut bytes = Vec::new();
        pool.put(&mut bytes);
        assert_eq!(Pool::take(&mut &*bytes), Some(pool.clone()));
        pool.begin();
        assert_eq!((pool.next, pool.left()), (1, 20));
    }
}
