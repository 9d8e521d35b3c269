//! The trading day by the clock.

use fixwire_protocol::Now;

use super::Oms;
use crate::desk::notice::OmsEvent;
use crate::state::roll::open_at_venues;
use crate::values::day::{DayFinder, DaySpan};
use crate::values::rules::DayBegins;

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
