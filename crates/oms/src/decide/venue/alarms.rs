//! Alarms. A break becomes an alarm when the venue does not settle it in time, or when the venue's answer leaves it
//! open.

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::decide::work::Work;
use crate::state::event::{BreakEvent, OrderEvent};
use crate::state::orders::Order;
use crate::values::value::Number;

impl Core {
    /// Turns the breaks of an order into alarms, if they are still open after the venue has answered the status
    /// request.
    pub(crate) fn alarm_of(&mut self, at: i64, order: Number, sink: &mut impl Sink) {
        let next = |core: &Self| {
            let mut of = core.state().breaks.of(order);
            of.find(|(_, it)| !it.is_alarmed).map(|(number, _)| number)
        };
        while let Some(number) = next(self) {
            self.emit(
                at,
                &OrderEvent::Break(BreakEvent::BreakAlarmed { number }),
                sink,
            );
        }
    }

    /// Whether the OMS can request the status of an order from its venue.
    pub(crate) fn can_ask(&self, order: &Order) -> bool {
        let line = order.line().filter(|_| !order.is_external());
        line.is_some_and(|line| self.state().is_ready(line) && self.answers_status(line))
    }

    /// Raises the alarm for breaks that the venue did not answer in time; returns the time until the next alarm is due.
    pub(crate) fn due_alarms(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        while let Some((due, number)) = self.work.next_alarm() {
            let state = self.state();
            let found = state.breaks.get(number).filter(|it| !it.is_alarmed);
            let order = found.and_then(|it| state.orders().get(it.order));
            let Some(order) = order else {
                self.work.drop_alarm();
                continue;
            };
            if due > at && self.can_ask(order) {
                return Some(Nanos((due - at).unsigned_abs()));
            }
            self.work.drop_alarm();
            self.emit(
                at,
                &OrderEvent::Break(BreakEvent::BreakAlarmed { number }),
                sink,
            );
            return Some(Nanos(0));
        }
        None
    }
}

impl Work {
    /// Requests the status of an order with a new break from its venue. The venue may answer until `until`.
    pub(crate) fn ask_about_break(&mut self, until: i64, number: u64, order: Number) {
        self.alarms.push_back((until, number));
        self.ask_once(order);
    }

    /// Requests the status of an order, unless a status request for the order is pending.
    pub(crate) fn ask_once(&mut self, order: Number) {
        if !self.asking.contains(&order) {
            self.asking.push_back(order);
        }
    }

    /// The next alarm: its time, and the number of its break.
    pub(crate) fn next_alarm(&self) -> Option<(i64, u64)> {
        self.alarms.front().copied()
    }

    /// Removes the next alarm, because it was raised or its break was settled.
    pub(crate) fn drop_alarm(&mut self) {
        self.alarms.pop_front();
    }
}
