//! Order flow of a scope within a second, a minute and a day.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use hashbrown::HashTable;

use crate::order::mixed;
use crate::value::Amount;
use crate::wire::Wire;

/// A time window in which flow is counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Span {
    Second,
    Minute,
    Day,
}

/// The kind of flow that is counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Passed {
    /// New orders and replaces.
    pub messages: u64,
    /// New orders and replaces that were rejected.
    pub refused: u64,
    /// Cancels of clients.
    pub cancels: u64,
    /// Executions.
    pub executions: u64,
    /// OrderQty(38) of orders, and increases by replaces.
    pub quantity: u64,
    /// The value of the same, in 10^-9.
    pub value: Amount,
}

impl Passed {
    fn words(&mut self) -> [&mut u64; 5] {
        let Self {
            messages,
            refused,
            cancels,
            executions,
            quantity,
            ..
        } = self;
        [messages, refused, cancels, executions, quantity]
    }

    fn add(&mut self, mut more: Self) {
        for (word, more) in self.words().into_iter().zip(more.words()) {
            *word = word.saturating_add(*more);
        }
        self.value = self.value.saturating_add(more.value);
    }

    fn take_away(&mut self, mut less: Self) {
        for (word, less) in self.words().into_iter().zip(less.words()) {
            *word = word.saturating_sub(*less);
        }
        self.value = self.value.saturating_sub(less.value);
    }

    fn put(mut self, to: &mut Vec<u8>) {
        self.words().into_iter().for_each(|word| word.put(to));
        self.value.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut passed = Self::default();
        for word in passed.words() {
            *word = u64::take(from)?;
        }
        passed.value = Amount::take(from)?;
        Some(passed)
    }
}

/// A sliding window of `N` - 1 slots and the current one: flow counts for up to one slot longer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[repr(C)]
struct Window<const N: usize> {
    sum: Passed,
    /// Number of the current slot.
    newest: i64,
    parts: [Passed; N],
}

impl<const N: usize> Window<N> {
    const NEW: Self = Self {
        parts: [Passed {
            messages: 0,
            refused: 0,
            cancels: 0,
            executions: 0,
            quantity: 0,
            value: 0,
        }; N],
        newest: 0,
        sum: Passed {
            messages: 0,
            refused: 0,
            cancels: 0,
            executions: 0,
            quantity: 0,
            value: 0,
        },
    };

    fn place(part: i64) -> usize {
        usize::try_from(part.rem_euclid(N as i64)).unwrap_or(0)
    }

    /// The slots that expire when `part` becomes the current one.
    fn over(&self, part: i64) -> impl Iterator<Item = usize> + use<N> {
        let steps = part.saturating_sub(self.newest).clamp(0, N as i64);
        let newest = self.newest;
        (1..=steps).map(move |step| Self::place(newest.wrapping_add(step)))
    }

    fn add(&mut self, part: i64, more: Passed) {
        if part > self.newest {
            for place in self.over(part) {
                let old = core::mem::take(&mut self.parts[place]);
                self.sum.take_away(old);
            }
            self.newest = part;
        }
        self.parts[Self::place(self.newest)].add(more);
        self.sum.add(more);
    }

    /// The sum of `value` over the window.
    #[inline]
    fn at<T>(&self, part: i64, value: impl FnOnce(&Passed) -> T) -> T {
        if part <= self.newest {
            return value(&self.sum);
        }
        let mut sum = self.sum;
        self.over(part)
            .for_each(|place| sum.take_away(self.parts[place]));
        value(&sum)
    }

    fn put(&self, to: &mut Vec<u8>) {
        self.newest.put(to);
        self.parts.iter().for_each(|part| part.put(to));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut window = Self::NEW;
        window.newest = Wire::take(from)?;
        for part in &mut window.parts {
            *part = Passed::take(from)?;
            window.sum.add(*part);
        }
        Some(window)
    }
}

const TENTH: i64 = 100_000_000;
const SECOND: i64 = 1_000_000_000;

/// Flow counters of a scope. Each check reads the sums, so they are kept close together in memory.
#[derive(Clone, Debug, Eq, PartialEq)]
#[repr(C)]
pub(crate) struct Flow {
    day: Passed,
    second: Window<11>,
    minute: Window<61>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            second: Window::NEW,
            minute: Window::NEW,
            day: Passed::default(),
        }
    }
}

impl Flow {
    pub(crate) fn add(&mut self, at: i64, more: Passed) {
        self.second.add(at / TENTH, more);
        self.minute.add(at / SECOND, more);
        self.day.add(more);
    }

    /// Reads a word of each cache line of its sums, and of the slots that expire.
    #[inline]
    pub(crate) fn fetch(&self, at: i64) -> u64 {
        let second = |at: i64| self.second.parts[Window::<11>::place(at / TENTH)].messages;
        let minute = &self.minute.parts[Window::<61>::place(at / SECOND)];
        let sums = self.day.messages ^ self.second.sum.messages ^ self.minute.sum.messages;
        let newest = self.second.newest ^ self.minute.newest;
        let second = second(at) ^ second(at - TENTH) ^ second(at - 2 * TENTH);
        second ^ minute.messages ^ sums ^ newest.cast_unsigned()
    }

    /// The sum of `value` over a window until now.
    #[inline]
    pub(crate) fn within<T>(&self, span: Span, at: i64, value: impl FnOnce(&Passed) -> T) -> T {
        match span {
            Span::Second => self.second.at(at / TENTH, value),
            Span::Minute => self.minute.at(at / SECOND, value),
            Span::Day => value(&self.day),
        }
    }

    /// What has passed within a second, a minute and today, until now.
    #[inline]
    pub(crate) fn sums(&self, at: i64) -> (Passed, Passed, &Passed) {
        let second = self.second.at(at / TENTH, Passed::clone);
        let minute = self.minute.at(at / SECOND, Passed::clone);
        (second, minute, &self.day)
    }

    pub(crate) fn begin_day(&mut self) {
        self.day = Passed::default();
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        self.second.put(to);
        self.minute.put(to);
        self.day.put(to);
    }

    pub(crate) fn take(from: &mut &[u8]) -> Option<Box<Self>> {
        Some(Box::new(Self {
            second: Window::take(from)?,
            minute: Window::take(from)?,
            day: Passed::take(from)?,
        }))
    }
}

fn is_over(at: i64, then: i64) -> bool {
    at.saturating_sub(then) >= SECOND
}

/// New orders of the last second by content, where identical orders are limited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    pub is_on: bool,
    /// Time and hash of their content.
    orders: VecDeque<(i64, u64)>,
    counts: HashTable<(u64, u32)>,
}

impl Recent {
    /// How many orders of the last second are identical.
    pub(crate) fn count(&self, at: i64, hash: u64) -> u64 {
        if self.are_all_over(at) {
            return 0;
        }
        let known = self.counts.find(mixed(hash), |known| known.0 == hash);
        let Some(&(_, count)) = known else {
            return 0;
        };
        // Expired ones are removed with the next message.
        let over = self
            .orders
            .iter()
            .take_while(|(then, _)| is_over(at, *then));
        let over = over.filter(|(_, known)| *known == hash).count();
        u64::from(count).saturating_sub(over as u64)
    }

    /// None is of the last second: after a pause, when there may be as many as one second had.
    fn are_all_over(&self, at: i64) -> bool {
        self.orders
            .back()
            .is_some_and(|(last, _)| is_over(at, *last))
    }

    /// Removes entries older than a second.
    pub(crate) fn forget(&mut self, at: i64) {
        if self.are_all_over(at) {
            self.orders.clear();
            self.counts.clear();
        }
        while let Some(&(_, old)) = self.orders.front().filter(|(then, _)| is_over(at, *then)) {
            self.orders.pop_front();
            if let Ok(mut entry) = self.counts.find_entry(mixed(old), |known| known.0 == old) {
                entry.get_mut().1 -= 1;
                if entry.get().1 == 0 {
                    entry.remove();
                }
            }
        }
    }

    pub(crate) fn add(&mut self, at: i64, hash: u64) {
        if !self.is_on {
            return;
        }
        self.forget(at);
        self.orders.push_back((at, hash));
        let is = |known: &(u64, u32)| known.0 == hash;
        let entry = self.counts.entry(mixed(hash), is, |known| mixed(known.0));
        entry.and_modify(|known| known.1 += 1).or_insert((hash, 1));
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        self.is_on.put(to);
        (self.orders.len() as u64).put(to);
        for (at, hash) in &self.orders {
            at.put(to);
            hash.put(to);
        }
    }

    pub(crate) fn take(from: &mut &[u8]) -> Option<Self> {
        let is_on = Wire::take(from)?;
        let mut recent = Self {
            is_on: true,
            ..Self::default()
        };
        for _ in 0..u64::take(from)? {
            let at: i64 = Wire::take(from)?;
            if recent.orders.back().is_some_and(|(last, _)| *last > at) {
                return None;
            }
            recent.add(at, Wire::take(from)?);
        }
        recent.is_on = is_on;
        Some(recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Passed {
        Passed {
            messages: 1,
            value: 5,
            ..Passed::default()
        }
    }

    #[test]
    fn what_has_passed_stays_for_its_time_and_a_part() {
        let mut flow = Flow::default();
        let start = 1_700_000_000 * SECOND;
        flow.add(start, one());
        flow.add(start + SECOND / 2, one());
        let messages = |flow: &Flow, at: i64| {
            let messages = |span| flow.within(span, at, |passed| passed.messages);
            (
                messages(Span::Second),
                messages(Span::Minute),
                messages(Span::Day),
            )
        };
        assert_eq!(messages(&flow, start + SECOND / 2), (2, 2, 2));
        assert_eq!(messages(&flow, start + SECOND + TENTH - 1), (2, 2, 2));
        assert_eq!(messages(&flow, start + SECOND + TENTH), (1, 2, 2));
        assert_eq!(messages(&flow, start + 2 * SECOND), (0, 2, 2));
        assert_eq!(messages(&flow, start + 61 * SECOND), (0, 0, 2));
        flow.add(start + 200 * SECOND, one());
        assert_eq!(messages(&flow, start + 200 * SECOND), (1, 1, 3));
        assert_eq!(flow.within(Span::Day, start, |passed| passed.value), 15);
        let mut bytes = Vec::new();
        flow.put(&mut bytes);
        assert_eq!(Flow::take(&mut &*bytes), Some(Box::new(flow)));
    }

    #[test]
    fn the_same_order_is_counted_for_a_second() {
        let mut recent = Recent {
            is_on: true,
            ..Recent::default()
        };
        recent.add(10, 7);
        recent.add(20, 8);
        recent.add(30, 7);
        assert_eq!(recent.count(30, 7), 2);
        assert_eq!(recent.count(10 + SECOND, 7), 1);
        recent.add(30 + SECOND, 9);
        assert_eq!(recent.count(30 + SECOND, 7), 0);
        assert_eq!(recent.count(30 + SECOND, 9), 1);
    }

    #[test]
    fn after_a_pause_orders_are_counted_anew() {
        let mut recent = Recent {
            is_on: true,
            ..Recent::default()
        };
        for at in 0..100 {
            recent.add(at, at as u64 % 3);
        }
        let last = 99;
        assert_eq!(recent.count(last + SECOND - 1, 0), 1);
        assert_eq!(recent.count(last + SECOND, 0), 0);
        recent.add(last + SECOND, 1);
        let mut only = Recent {
            is_on: true,
            ..Recent::default()
        };
        only.add(last + SECOND, 1);
        let bytes = |recent: &Recent| {
            let mut bytes = Vec::new();
            recent.put(&mut bytes);
            bytes
        };
        assert_eq!(bytes(&recent), bytes(&only));
        let counts = [0, 1].map(|hash| recent.count(last + SECOND, hash));
        assert_eq!(counts, [0, 1]);
    }
}
