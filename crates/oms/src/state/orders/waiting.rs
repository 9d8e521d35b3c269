//! Orders or replaces that are queued for a line, in the order of arrival, and the times at which they time out.

use alloc::collections::{BTreeSet, VecDeque};

use fixwire_ledger::{Put, Wire};

use crate::values::value::Number;

/// How long an order or request may wait to be sent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum QueueTime {
    /// The order or request was not queued.
    #[default]
    None,
    /// The order or request was queued at this time, in nanoseconds since 1970.
    Since(i64),
    /// The order or request must not be sent after this time, in nanoseconds since 1970.
    Until(i64),
}

impl QueueTime {
    /// Time since which the order or request is queued; 0, the earliest time, when this is unknown.
    pub(crate) fn since(self) -> i64 {
        match self {
            Self::Since(at) => at,
            Self::None | Self::Until(_) => 0,
        }
    }

    /// The time after which the order or request must not be sent; `None` for no such time.
    pub(crate) fn until(self) -> Option<i64> {
        match self {
            Self::Until(until) => Some(until),
            Self::None | Self::Since(_) => None,
        }
    }

    /// Records that the order or request is queued at `at`. If it has a time after which it must not be sent, it keeps
    /// that time instead.
    pub(crate) fn queue(&mut self, at: i64) {
        if self.until().is_none() {
            *self = Self::Since(at);
        }
    }
}

impl Wire<'_> for QueueTime {
    fn put(&self, to: &mut impl Put) {
        match self {
            Self::None => to.some([0]),
            Self::Since(at) => {
                to.some([1]);
                at.put(to);
            }
            Self::Until(at) => {
                to.some([2]);
                at.put(to);
            }
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::None,
            1 => Self::Since(i64::take(from)?),
            2 => Self::Until(i64::take(from)?),
            _ => return None,
        })
    }
}

/// Queued orders of a line group, or queued replaces of a line.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) all: VecDeque<Number>,
    /// Orders or requests without a validity, which time out after the time of `queue`. The first entry times out
    /// first.
    pub(crate) patient: VecDeque<Number>,
    /// Orders or requests with a validity, by the time at which the validity ends.
    pub(crate) limited: BTreeSet<(i64, Number)>,
}

impl Waiting {
    /// `limited` may have this many more entries than orders and requests that are queued. Above it, entries that are
    /// no longer queued are removed.
    const SPARE: usize = 64;

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn push(&mut self, number: Number, valid_until: Option<i64>) {
        self.all.push_back(number);
        match valid_until {
            Some(until) => {
                self.limited.insert((until, number));
            }
            None => self.patient.push_back(number),
        }
    }

    /// The first order or request that is still queued. `queued_at` gives the time since which an order or request is
    /// queued, or `None` if it is no longer queued.
    pub(crate) fn first(&mut self, queued_at: impl Fn(Number) -> Option<i64>) -> Option<Number> {
        while let Some(number) = self.all.front().copied() {
            if queued_at(number).is_some() {
                return Some(number);
            }
            self.all.pop_front();
        }
        self.patient.clear();
        self.limited.clear();
        None
    }

    /// The number of the order or request that times out next, and the time of the timeout.
    pub(crate) fn next_stale(
        &mut self,
        patience: i64,
        queued_at: impl Fn(Number) -> Option<i64>,
    ) -> Option<(i64, Number)> {
        if self.limited.len() > 2 * self.all.len() + Self::SPARE {
            self.limited
                .retain(|(_, number)| queued_at(*number).is_some());
        }
        let patient = loop {
            let Some(number) = self.patient.front().copied() else {
                break None;
            };
            if let Some(since) = queued_at(number) {
                break Some((since.saturating_add(patience), number));
            }
            self.patient.pop_front();
        };
        let limited = loop {
            match self.limited.first().copied() {
                Some((_, number)) if queued_at(number).is_none() => self.limited.pop_first(),
                first => break first,
            };
        };
        patient.into_iter().chain(limited).min()
    }
}
