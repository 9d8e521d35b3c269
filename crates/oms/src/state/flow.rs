//! Order flow of a scope within a second, a minute and a day.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use hashbrown::HashTable;

use crate::values::limits::Span;
use crate::values::slab::mixed;
use crate::values::value::Amount;
use fixwire_ledger::{Put, Wire, record};

/// Counts of the flow of a scope.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Passed {
    /// New orders and replaces.
    pub messages: u64,
    /// New orders and replaces that were rejected.
    pub refused: u64,
    /// Number of cancels that clients sent.
    pub cancels: u64,
    /// Executions of orders.
    pub executions: u64,
    /// OrderQty(38) of new orders and increases by replaces, in 10^-8, since instruments have different decimals.
    pub quantity: i128,
    /// Value of the same orders and increases, in 10^-9.
    pub value: Amount,
}

record! { Passed { messages, refused, cancels, executions, quantity, value } }

impl Passed {
    /// No flow.
    pub(crate) const NONE: Self = Self {
        messages: 0,
        refused: 0,
        cancels: 0,
        executions: 0,
        quantity: 0,
        value: 0,
    };

    /// Whether there is neither a quantity nor a value, as for a cancel.
    #[inline(always)]
    fn has_counts_only(&self) -> bool {
        (self.quantity | self.value) == 0
    }

    #[inline(always)]
    fn add(&mut self, more: &Self) {
        self.messages = self.messages.saturating_add(more.messages);
        self.refused = self.refused.saturating_add(more.refused);
        self.cancels = self.cancels.saturating_add(more.cancels);
        self.executions = self.executions.saturating_add(more.executions);
        if !more.has_counts_only() {
            self.add_amounts(more);
        }
    }

    #[inline(always)]
    fn add_amounts(&mut self, more: &Self) {
        let quantity = self.quantity.checked_add(more.quantity);
        let value = self.value.checked_add(more.value);
        (self.quantity, self.value) = match (quantity, value) {
            (Some(quantity), Some(value)) => (quantity, value),
            _ => (
                self.quantity.saturating_add(more.quantity),
                self.value.saturating_add(more.value),
            ),
        };
    }

    fn take_away(&mut self, less: &Self) {
        self.messages = self.messages.saturating_sub(less.messages);
        self.refused = self.refused.saturating_sub(less.refused);
        self.cancels = self.cancels.saturating_sub(less.cancels);
        self.executions = self.executions.saturating_sub(less.executions);
        self.quantity = self.quantity.saturating_sub(less.quantity);
        self.value = self.value.saturating_sub(less.value);
    }
}

/// A sliding window of `N` slots, including the current slot. Flow counts for up to one slot longer than the window.
#[derive(Clone, Debug, Eq, PartialEq)]
#[repr(C)]
pub(crate) struct Window<const N: usize> {
    pub(crate) sum: Passed,
    /// Number of the current slot.
    pub(crate) newest: i64,
    pub(crate) parts: [Passed; N],
}

impl<const N: usize> Window<N> {
    const NEW: Self = Self {
        parts: [Passed::NONE; N],
        newest: 0,
        sum: Passed::NONE,
    };

    fn place(part: i64) -> usize {
        usize::try_from(part.rem_euclid(N as i64)).unwrap_or(0)
    }

    /// The slots that leave the window when `part` becomes the current slot.
    fn over(&self, part: i64) -> impl Iterator<Item = usize> + use<N> {
        let steps = part.saturating_sub(self.newest).clamp(0, N as i64);
        let newest = self.newest;
        (1..=steps).map(move |step| Self::place(newest.wrapping_add(step)))
    }

    #[inline(always)]
    fn add(&mut self, part: i64, more: &Passed) {
        if part > self.newest {
            self.move_on(part);
        }
        self.parts[Self::place(self.newest)].add(more);
        self.sum.add(more);
    }

    /// Empties the slots that leave the window.
    #[inline(never)]
    fn move_on(&mut self, part: i64) {
        for place in self.over(part) {
            let old = core::mem::take(&mut self.parts[place]);
            self.sum.take_away(&old);
        }
        self.newest = part;
    }

    /// The sums over the slots of the window, without a copy if no slot has left it.
    #[inline]
    fn sum_at<'a>(&'a self, part: i64, kept: &'a mut Option<Passed>) -> &'a Passed {
        match part <= self.newest {
            true => &self.sum,
            false => kept.insert(self.at(part, Passed::clone)),
        }
    }

    /// The sum of `value` over the slots of the window.
    #[inline]
    fn at<T>(&self, part: i64, value: impl FnOnce(&Passed) -> T) -> T {
        if part <= self.newest {
            return value(&self.sum);
        }
        let mut sum = self.sum;
        self.over(part)
            .for_each(|place| sum.take_away(&self.parts[place]));
        value(&sum)
    }
}

const TENTH: i64 = 100_000_000;
const SECOND: i64 = 1_000_000_000;

/// Flow counters of a scope. The sums are close together in memory, because each check of an order reads them.
#[derive(Clone, Debug, Eq, PartialEq)]
#[repr(C)]
pub(crate) struct Flow {
    pub(crate) day: Passed,
    pub(crate) second: Window<11>,
    pub(crate) minute: Window<61>,
}

record! { Flow { second, minute, day } }

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
    pub(crate) fn add(&mut self, at: i64, more: &Passed) {
        self.second.add(at / TENTH, more);
        self.minute.add(at / SECOND, more);
        self.day.add(more);
    }

    /// Reads a word of each cache line with the sums and the slots that leave the window, so that the processor fetches
    /// them early.
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

    /// Counts of the last second. `kept` is the place of counts that differ from the kept ones.
    #[inline]
    pub(crate) fn second<'a>(&'a self, at: i64, kept: &'a mut Option<Passed>) -> &'a Passed {
        self.second.sum_at(at / TENTH, kept)
    }

    /// As [`second`](Self::second), for the last minute.
    #[inline]
    pub(crate) fn minute<'a>(&'a self, at: i64, kept: &'a mut Option<Passed>) -> &'a Passed {
        self.minute.sum_at(at / SECOND, kept)
    }

    pub(crate) fn begin_day(&mut self) {
        self.day = Passed::default();
    }

    /// Whether the flow of today is not 0.
    pub(crate) fn has_day(&self) -> bool {
        self.day != Passed::default()
    }
}

fn is_over(at: i64, then: i64) -> bool {
    at.saturating_sub(then) >= SECOND
}

/// Recent new orders by content, to count identical orders. At least the orders of the last second are included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    pub is_on: bool,
    pub(crate) orders: VecDeque<RecentOrder>,
    /// Number of the first order in the list; each following order has the next number.
    pub(crate) first: u64,
    pub(crate) contents: HashTable<Content>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RecentOrder {
    pub(crate) at: i64,
    /// Hash of the order's content.
    pub(crate) hash: u64,
    /// Number of the previous identical order. For the first of the identical orders, a number that no order has.
    pub(crate) before: u64,
}

/// The orders that have the same content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    hash: u64,
    /// The number of the last order with this content.
    last: u64,
    /// Number of orders in the list with this content.
    known: u64,
}

impl Recent {
    /// Maximum number of orders that are removed per message. It spreads the work after a burst, when all orders of a
    /// second must be removed.
    const FORGOTTEN: usize = 4;

    /// Number of identical orders within the last second. If the list has at most `enough` identical orders, orders
    /// older than a second may be included.
    pub(crate) fn count(&self, at: i64, hash: u64, enough: u64) -> u64 {
        let Some(content) = self.contents.find(mixed(hash), |it| it.hash == hash) else {
            return 0;
        };
        if content.known <= enough {
            return content.known;
        }
        let identical = core::iter::successors(self.numbered(content.last), |order| {
            self.numbered(order.before)
        });
        let fresh = identical.take_while(|order| !is_over(at, order.at));
        fresh.count() as u64
    }

    fn numbered(&self, number: u64) -> Option<&RecentOrder> {
        self.orders.get(number.checked_sub(self.first)? as usize)
    }

    /// Removes some of the orders that are older than a second.
    pub(crate) fn forget(&mut self, at: i64) {
        for _ in 0..Self::FORGOTTEN {
            let Some(old) = self.orders.pop_front_if(|order| is_over(at, order.at)) else {
                return;
            };
            self.first += 1;
            let is = |it: &Content| it.hash == old.hash;
            if let Ok(mut entry) = self.contents.find_entry(mixed(old.hash), is) {
                entry.get_mut().known -= 1;
                if entry.get().known == 0 {
                    entry.remove();
                }
            }
        }
    }

    pub(crate) fn add(&mut self, at: i64, hash: u64) {
        if self.is_on {
            self.forget(at);
            self.push(at, hash);
        }
    }

    fn push(&mut self, at: i64, hash: u64) {
        let number = self.first + self.orders.len() as u64;
        let is = |it: &Content| it.hash == hash;
        let entry = self.contents.entry(mixed(hash), is, |it| mixed(it.hash));
        let mut content = entry.or_insert(Content {
            hash,
            last: u64::MAX,
            known: 0,
        });
        let content = content.get_mut();
        let before = core::mem::replace(&mut content.last, number);
        content.known += 1;
        self.orders.push_back(RecentOrder { at, hash, before });
    }
}

impl<const N: usize> Wire<'_> for Window<N> {
    fn put(&self, to: &mut impl Put) {
        self.newest.put(to);
        self.parts.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut window = Self {
            newest: Wire::take(from)?,
            parts: Wire::take(from)?,
            ..Self::NEW
        };
        window.parts.iter().for_each(|part| window.sum.add(part));
        Some(window)
    }
}

impl Wire<'_> for Recent {
    fn put(&self, to: &mut impl Put) {
        self.is_on.put(to);
        (self.orders.len() as u32).put(to);
        let orders = self.orders.iter();
        orders.for_each(|order| (order.at, order.hash).put(to));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (is_on, orders): (bool, Vec<(i64, u64)>) = Wire::take(from)?;
        let mut recent = Self {
            is_on,
            ..Self::default()
        };
        orders.is_sorted_by_key(|order| order.0).then_some(())?;
        for (at, hash) in orders {
            recent.push(at, hash);
        }
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
        flow.add(start, &one());
        flow.add(start + SECOND / 2, &one());
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
        flow.add(start + 200 * SECOND, &one());
        assert_eq!(messages(&flow, start + 200 * SECOND), (1, 1, 3));
        assert_eq!(flow.within(Span::Day, start, |passed| passed.value), 15);
        let mut bytes = Vec::new();
        flow.put(&mut bytes);
        assert_eq!(Flow::take(&mut &*bytes), Some(flow));
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
        assert_eq!(recent.count(30, 7, 0), 2);
        assert_eq!(recent.count(10 + SECOND, 7, 0), 1);
        assert_eq!(recent.count(10 + SECOND, 7, 2), 2, "it is enough");
        recent.add(30 + SECOND, 9);
        assert_eq!(recent.count(30 + SECOND, 7, 0), 0);
        assert_eq!(recent.count(30 + SECOND, 9, 0), 1);
    }

    #[test]
    fn after_a_burst_orders_are_forgotten_a_few_at_a_time_and_counted_exactly() {
        let mut recent = Recent {
            is_on: true,
            ..Recent::default()
        };
        let mut all = Vec::new();
        let add = |recent: &mut Recent, all: &mut Vec<(i64, u64)>, at: i64, hash: u64| {
            recent.add(at, hash);
            all.push((at, hash));
            for hash in 0..5 {
                let fresh = |it: &&(i64, u64)| it.1 == hash && at - it.0 < SECOND;
                let fresh = all.iter().filter(fresh).count() as u64;
                assert_eq!(recent.count(at, hash, 0), fresh, "{hash} at {at}");
            }
        };
        for at in 0..200 {
            add(&mut recent, &mut all, at, at as u64 * 7 % 5);
        }
        let mut at = SECOND + 150;
        for more in 0..30 {
            let before = recent.orders.len();
            add(&mut recent, &mut all, at, more % 4);
            assert!(recent.orders.len() + 3 >= before, "a few at a time");
            at += more as i64 * SECOND / 100;
        }
        let mut bytes = Vec::new();
        recent.put(&mut bytes);
        let mut again = Recent::take(&mut &*bytes).unwrap();
        for hash in 0..5 {
            assert_eq!(recent.count(at, hash, 0), again.count(at, hash, 0));
        }
        for more in 0..200 {
            at += SECOND / 50;
            recent.add(at, more % 2);
            again.add(at, more % 2);
        }
        let bytes = [&recent, &again].map(|it| {
            let mut bytes = Vec::new();
            it.put(&mut bytes);
            bytes
        });
        assert_eq!(bytes[0], bytes[1]);
        assert_eq!(recent.orders.len(), 50, "those of the last second");
        assert_eq!(recent.contents.len(), 2);
    }
}
