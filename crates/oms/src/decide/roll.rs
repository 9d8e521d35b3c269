//! The end of a trading day. Day orders are cancelled first; orders whose end the venue does not confirm stay in
//! memory.
//!
//! ```text
//! DayAsked -- orders that were never sent expire; Day orders at venues are cancelled
//!    |        until each has ended, at most `roll_wait`
//!    v
//! closing --- a Day order that the venue may still have lapses: its client reads Expired, and the OMS keeps it
//!    |
//!    v
//!   Day ----- a lapsed order can be cancelled and killed, and its fills count, until the venue says that it has ended
//! ```

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Nanos, Timestamp};

use crate::decide::core::{Core, Sink};
use crate::decide::work::{Work, open};
use crate::state::OmsState;
use crate::state::event::{DayEvent, LifecycleEvent, OrderEvent};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::roll::{DAY_OVER, Roll, RollCause, is_live, open_at_venues};
use crate::values::show::counted;
use crate::values::value::{End, Number};
use crate::values::verbs::By;
use crate::values::words::Words;

impl Work {
    /// Whether a trading day is being closed.
    pub(crate) fn ends_day(&self) -> bool {
        self.roll.is_some() || self.far_day.is_some()
    }

    /// The trading day that is about to start; `None` when no trading day is being closed.
    pub(crate) fn day_after(&self) -> Option<u32> {
        self.roll.as_ref().map(|roll| roll.day)
    }

    /// Registers an order that is done for the day: it works again on the next trading day.
    pub(crate) fn rest(&mut self, order: Number) {
        if self.roll.as_ref().is_some_and(|roll| roll.closing) {
            self.renewing.push_back(order);
        }
    }

    /// Cancels the Day orders at venues, and expires Day orders that were never sent.
    fn start_roll(&mut self, state: &OmsState, mut roll: Roll) {
        let day = roll.day;
        let unsent = |order: &Order| order.ends_before(day) && order.state.is_unsent();
        self.expiring.extend(open(state, unsent));
        roll.awaited = open(state, |order| is_live(order, day));
        self.cancelling.extend(&roll.awaited);
        // The awaited orders are checked from the end of the list.
        roll.awaited.reverse();
        self.roll = Some(roll);
    }
}

impl Core {
    /// Starts a new trading day according to the clock: Day orders are cancelled first.
    pub fn begin_day(&mut self, at: i64, day: u32, sink: &mut impl Sink) {
        let today = self.state.day();
        if day <= today {
            self.work.far_day = None;
        } else if self.work.roll.is_none() {
            self.roll_to(at, day, RollCause::Clock, sink);
        }
    }

    /// The trading day according to the clock, if it is more than a month after the trading day of the orders. Only an
    /// operator can start such a day. New orders are rejected until then.
    #[must_use]
    pub fn far_day(&self) -> Option<u32> {
        self.work.far_day
    }

    pub(crate) fn roll_to(&mut self, at: i64, day: u32, cause: RollCause, sink: &mut impl Sink) {
        if self.state.next_day < Some(day) && crate::values::day::is_far(self.state.day(), day) {
            self.work.far_day = Some(day);
            return;
        }
        let (who, why) = cause.words();
        if self.state.next_day < Some(day) {
            let event = OrderEvent::Day(DayEvent::DayAsked {
                date: day,
                who,
                why,
            });
            self.emit(at, &event, sink);
        }
        let day = self.state.next_day.unwrap_or(day);
        self.close_day(at, day, cause == RollCause::Start);
    }

    /// Closes the orders of the day, then starts the new trading day.
    fn close_day(&mut self, at: i64, day: u32, at_start: bool) {
        let key = self.state.ids.key().rotate_left(31) ^ u128::from(day);
        let roll = Roll {
            day,
            key,
            until: at.saturating_add(self.rules().roll_wait),
            awaited: Vec::new(),
            at_start,
            closing: false,
        };
        self.work.far_day = None;
        self.work.start_roll(&self.state, roll);
    }

    /// Starts a trading day on an operator's command, or goes back to an earlier trading day.
    pub(crate) fn roll(
        &mut self,
        at: i64,
        words: &Words<'_>,
        by: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let day = words.get("day");
        let today = self.state.day();
        let wanted = "give the new trading day, for example day=2026-11-23";
        let next = crate::values::day::parse(day).ok_or(wanted)?;
        if self.work.roll.is_some() {
            return Err("a new trading day is already starting".into());
        }
        if next < today {
            return self.roll_back(at, (day, next), by, sink);
        }
        if next == today {
            return Err(format!("{day} is the trading day already"));
        }
        let now = today.max(crate::values::day::date(Timestamp(at)));
        if crate::values::day::is_far(now, next) {
            let now = crate::values::day::written(now);
            return Err(format!("{day} is more than a month after {now}"));
        }
        let live = self.state.orders().iter();
        let live = live.filter(|order| is_live(order, next)).count();
        let what = open_at_venues(&self.state, next);
        if live > 0 && !words.has("cancel") {
            let (are, them) = if live == 1 {
                ("is", "it")
            } else {
                ("are", "them")
            };
            let live = counted(live as u64, "order");
            return Err(format!(
                "{live} of the day {are} live, {what}: cancel {them} first, or roll with --cancel, which cancels {them} and waits at most roll_wait"
            ));
        }
        let By { who, why } = by;
        let event = OrderEvent::Day(DayEvent::DayAsked {
            date: next,
            who,
            why,
        });
        self.emit(at, &event, sink);
        self.close_day(at, next, false);
        let today = crate::values::day::written(today);
        Ok(match live {
            0 => format!("{day} starts when the orders of {today} are closed: {what}"),
            _ => format!(
                "{day} starts when the orders of {today} are closed: cancelling {live}, {what}"
            ),
        })
    }

    /// Gives the current trading day, which must have no orders, an earlier date. The date must be after the last day
    /// that had orders, or other ids, amounts and numbers that begin again with each day: they are not kept, so such a
    /// day cannot go on.
    fn roll_back(
        &mut self,
        at: i64,
        (text, day): (&str, u32),
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let today = self.state.day();
        let now = crate::values::day::date(Timestamp(at));
        if self.state.last != self.state.yesterday {
            let today = crate::values::day::written(today);
            return Err(format!(
                "{text} is before the trading day {today}, which has orders: only a day without orders can be taken back"
            ));
        }
        if crate::values::day::is_far(day, now) {
            let now = crate::values::day::written(now);
            return Err(format!("{text} is more than a month before {now}"));
        }
        if let Some(used) = self.state.used_day.filter(|used| day <= *used) {
            let used = crate::values::day::written(used);
            return Err(format!(
                "{used} has ended with orders or other ids, amounts and numbers that begin again with each day: it cannot go on, give a day after it"
            ));
        }
        let event = DayEvent::DayBack {
            date: day,
            who,
            why,
        };
        self.emit(at, &OrderEvent::Day(event), sink);
        let today = crate::values::day::written(today);
        Ok(format!("{text} is the trading day now, it was {today}"))
    }

    /// Whether the next step to the new trading day can be done.
    #[inline]
    pub(crate) fn is_roll_due(&mut self, at: i64) -> bool {
        let state = &self.state;
        let Some(roll) = &mut self.work.roll else {
            return false;
        };
        if roll.closing || at >= roll.until {
            return true;
        }
        let (day, at_start) = (roll.day, roll.at_start);
        let waits = |number: &Number| {
            let order = state.orders().get(*number);
            order.is_some_and(|it| is_live(it, day) && (at_start || state.is_line_ready(it)))
        };
        while let Some(last) = roll.awaited.last() {
            if waits(last) {
                return false;
            }
            roll.awaited.pop();
        }
        true
    }

    /// The time until the OMS stops waiting for the venues and closes the trading day.
    pub(crate) fn due_roll(&self, at: i64) -> Option<Nanos> {
        let roll = self.work.roll.as_ref()?;
        Some(Nanos(roll.until.saturating_sub(at).max(0).unsigned_abs()))
    }

    /// Closes the remaining orders of the trading day, then starts the new day.
    pub(crate) fn roll_step(&mut self, at: i64, sink: &mut impl Sink) {
        let state = &self.state;
        let Some(roll) = &mut self.work.roll else {
            return;
        };
        let (date, key) = (roll.day, roll.key);
        if !roll.closing {
            roll.closing = true;
            let expiring = open(state, |order| order.ends_before(date));
            let renewing = open(state, |order| order.rests_until(date));
            self.work.expiring.extend(expiring);
            self.work.renewing.extend(renewing);
            return;
        }
        self.work.roll = None;
        self.emit(at, &OrderEvent::Day(DayEvent::Day { date, key }), sink);
    }

    /// Closes an order at the end of its trading day. An order that the venue may still have open lapses.
    pub(crate) fn expire(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let orders = self.state().orders();
        let is_its = |order: &&Order| order.state.is_open() && order.state != OrderState::Lapsed;
        let Some(order) = orders.get(number).filter(is_its) else {
            return;
        };
        // A parent expires after its children.
        if self.state.open_children(number).next().is_some() {
            return;
        }
        let ends_here = order.state.is_unsent() || order.is_external();
        let request = orders.request_of(order);
        // The venue will answer a request that was sent to it.
        let request = request.filter(|it| ends_here || it.state == OrderState::Queued);
        if let Some(request) = request.map(|request| request.number) {
            self.decline(at, request, crate::Why::TooLate, b"", sink);
        }
        let event = if ends_here {
            OrderEvent::Order(LifecycleEvent::Ended {
                order: number,
                how: End::Expired,
                request: None,
                at: 0,
                text: DAY_OVER,
            })
        } else {
            OrderEvent::Order(LifecycleEvent::Lapsed { order: number })
        };
        self.emit(at, &event, sink);
        self.cancel_again(at, number, sink);
        self.forget(at, sink);
    }
}
