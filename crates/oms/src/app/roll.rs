//! The trading day by the clock.

use alloc::vec::Vec;

use fixwire_protocol::{Nanos, Now, Outbox};

use super::Oms;
use crate::desk::notice::OmsEvent;
use crate::state::roll::open_at_venues;
use crate::values::day::{DayFinder, DaySpan};
use crate::values::rules::DayBegins;
use crate::values::value::Number;

impl Oms {
    /// Records that the journal replaces a removed journal: order numbers of the removed journal are not used again.
    pub fn set_replaces_journal(&mut self) {
        self.core.set_replaces_journal();
    }

    /// Sets the function that finds trading days in time zones other than UTC.
    pub fn set_day_finder(&mut self, find: DayFinder) {
        self.day_finder = Some(find);
    }

    /// The trading day according to the clock.
    #[inline]
    pub(super) fn today(&mut self, now: Now) -> DaySpan {
        let (of, span) = self.span;
        if of != self.core.state().settings || !span.has(now.wall) {
            self.find_today(now);
        }
        self.span.1
    }

    #[cold]
    fn find_today(&mut self, now: Now) {
        let begins = &self.core.rules().day_begins;
        let find = self.day_finder.filter(|_| begins.zone != DayBegins::UTC);
        let found = find.and_then(|find| find(&begins.zone, begins.time, now.wall));
        let span = found.unwrap_or_else(|| crate::values::day::in_utc(begins.time, now.wall));
        self.span = (self.core.state().settings, span);
    }

    /// Starts a trading day if the clock is in a later one, and does the work that is due, as far as the outbox has
    /// room. Adds orders that have waited too long for missing fills to `overdue`. Returns the time until the next
    /// work.
    #[inline(never)]
    pub(super) fn do_due(
        &mut self,
        at: i64,
        day: u32,
        overdue: &mut Vec<Number>,
        outbox: &mut Outbox,
    ) -> Option<Nanos> {
        let (messages, bytes) = self.room();
        let (core, mut out) = self.parts(outbox, None);
        let far = core.far_day();
        core.begin_day(at, day, &mut out);
        // Due work comes before all other work, and once more after it, so that other work cannot delay it.
        let due = loop {
            if !out.outbox.has_room(messages, bytes) {
                break Some(Nanos(0));
            }
            let due = core.due(at, &mut |order| overdue.push(order), &mut out);
            if !core.has_work(at) {
                break due;
            }
            while core.has_work(at) && out.outbox.has_room(messages, bytes) {
                core.work(at, &mut out);
            }
        };
        let is_far = self.core.far_day();
        self.day_is_far(is_far.filter(|_| far != is_far));
        due
    }

    /// Raises an event when the OMS has started during a roll. `rolling` is the trading day that the journal says is about
    /// to start.
    pub(super) fn day_goes_on(&mut self, rolling: Option<u32>) {
        let Some(day) = self.core.work.day_after().filter(|it| Some(*it) == rolling) else {
            return;
        };
        let state = self.core.state();
        let (from, open) = (state.day(), &open_at_venues(state, day));
        (self.listener)(OmsEvent::DayGoesOn { from, day, open });
    }

    /// Raises an event when the clock is too many days ahead of the trading day of the orders.
    pub(super) fn day_is_far(&mut self, clock: Option<u32>) {
        if let Some(clock) = clock {
            let day = self.core.state().day();
            (self.listener)(OmsEvent::DayFar { day, clock });
        }
    }
}
