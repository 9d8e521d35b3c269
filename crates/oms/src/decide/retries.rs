//! Retries: the remedies that the settings have for rejects of a venue, and orders that are sent again under a new
//! ClOrdID(11).
//!
//! A rejected order is not open at the venue, and the venue accepts no order with its ClOrdID(11) again. The OMS sends
//! the order again as `17-30`: 17 is the order, 30 is the next free number. Reports under an earlier ClOrdID are
//! ignored.

use core::fmt::Write as _;

use crate::decide::core::{Core, Sink};
use crate::decide::risk;
use crate::decide::venue::rejects::VenueReject;
use crate::decide::work::must_go;
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::Order;
use crate::state::orders::retries::{Again, retry_of};
use crate::state::orders::transition::OrderState;
use crate::state::quotes::QuoteSide;
use crate::values::ids::SessionNo;
use crate::values::reason::Why;
use crate::values::rules::{ErrorRule, Remedy};
use crate::values::show::Sentence;
use crate::values::value::{End, Number};

/// Maximum time that a retry waits for a session when the line group has no `queue` setting, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

impl Core {
    /// The first `error` entry of the line group that matches a reject.
    fn error_rule(&self, order: &Order, reject: &VenueReject<'_>) -> Option<&ErrorRule> {
        let group = self.lines.line(order.line()?)?.group;
        let rules = &self.rules.groups.get(group)?.errors;
        rules
            .iter()
            .find(|rule| rule.fits(reject.code, reject.text))
    }

    /// Text(58) for the client of a rejected order: the text of the settings if they have one, else the venue's text.
    pub(crate) fn said<'a>(
        &self,
        order: Number,
        reject: &VenueReject<'a>,
        room: &'a mut Sentence,
    ) -> &'a [u8] {
        let order = self.state.orders().get(order);
        let rule = order.and_then(|order| self.error_rule(order, reject));
        match rule.and_then(|rule| rule.say.as_deref()) {
            Some(say) => {
                // The text is not too long: longer texts are refused when the settings are read.
                let _ = room.write_str(say);
                room.bytes()
            }
            None => reject.text,
        }
    }

    /// The final state that the settings give to a rejected order; `None` when it is rejected.
    pub(crate) fn state_after(&self, order: Number, reject: &VenueReject<'_>) -> Option<End> {
        let order = self.state.orders().get(order)?;
        // An order that has a fill, or that the venue had accepted, ends in the state that the venue reports.
        let is_new = matches!(order.state, OrderState::Sent | OrderState::Unknown);
        let rule = self.error_rule(order, reject).filter(|_| is_new);
        let state = rule.and_then(|rule| rule.state);
        state.filter(|state| *state != End::Rejected)
    }

    /// Schedules a rejected new order to be sent again; returns false when the settings do not allow a retry.
    pub(crate) fn retry(
        &mut self,
        at: i64,
        order: Number,
        reject: &VenueReject<'_>,
        sink: &mut impl Sink,
    ) -> bool {
        let Some((after, not_on)) = self.retry_after(at, order, reject) else {
            return false;
        };
        let event = OrderEvent::Order(LifecycleEvent::Retried {
            order,
            attempt: self.state.last + 1,
            due: at.saturating_add(after),
            not_on,
            text: reject.text,
        });
        self.emit(at, &event, sink);
        true
    }

    /// The delay until the order is sent again, in nanoseconds, and the session that must not be used; `None` when the
    /// order is not sent again.
    fn retry_after(
        &self,
        at: i64,
        order: Number,
        reject: &VenueReject<'_>,
    ) -> Option<(i64, Option<SessionNo>)> {
        let orders = self.state.orders();
        let order = orders.get(order)?;
        let rule = self.error_rule(order, reject)?;
        let not_on = match rule.remedy {
            Remedy::Reject => return None,
            Remedy::Retry => None,
            Remedy::AnotherLine => order.line(),
        };
        if order.quote_side != QuoteSide::None {
            return None;
        }
        // No cancel of the order is pending, and no report shows that the venue has or had the order.
        let is_alone = orders.request_of(order).is_none() && order.pended.is_none();
        let is_unanswered = matches!(order.state, OrderState::Sent | OrderState::Unknown)
            && !order.is_acknowledged();
        let is_wanted = is_alone && is_unanswered && !must_go(&self.state, order);
        let is_of_today = order.number > self.state.yesterday || order.outlives(self.state.day());
        let tries = order.retry.as_ref().map_or(0, |retry| retry.tries);
        let due = at.saturating_add(rule.after);
        let is_valid = order.valid_until().is_none_or(|until| due < until);
        let may =
            is_valid && is_wanted && is_of_today && !self.work.ends_day() && !reject.may_live();
        (may && tries < rule.times).then_some((rule.after, not_on))
    }

    /// The first order that can be sent again now, or that has timed out.
    #[inline]
    pub(crate) fn next_retry(&mut self, at: i64) -> Option<Again> {
        if at < self.work.retries.look {
            return None;
        }
        self.next_waiting_retry(at)
    }

    #[cold]
    fn next_waiting_retry(&mut self, at: i64) -> Option<Again> {
        let mut look = i64::MAX;
        let mut behind = (i64::MIN, 0);
        while let Some((due, number)) = self.work.retries.next(&self.state, behind.0, behind.1) {
            behind = (due, number);
            if due > at {
                look = look.min(due);
                break;
            }
            match self.line_again(at, number) {
                Ok(line) => return Some((number, Ok(line))),
                Err((why, stale, _)) if stale <= at => return Some((number, Err(why))),
                Err((_, stale, when)) => look = look.min(stale).min(when.unwrap_or(stale)),
            }
        }
        self.work.retries.look = look;
        None
    }

    /// A session to the venue for an order that is due. Without such a session: the reason, the time at which the order
    /// times out, and the time at which a session may be able to send.
    fn line_again(&self, at: i64, number: Number) -> Result<SessionNo, (Why, i64, Option<i64>)> {
        let retry = retry_of(&self.state, number);
        let order = self.state.orders().get(number);
        let (Some(retry), Some(order)) = (retry, order) else {
            return Err((Why::NoRoute, at, None));
        };
        if order.valid_until().is_some_and(|until| until <= at) {
            return Err((Why::Stale, at, None));
        }
        let Some(group) = self.lines.group_of(&self.state, order) else {
            return Err((Why::NoRoute, at, None));
        };
        let patience = self.lines.groups[group].patience.unwrap_or(PATIENCE);
        let work = &self.work;
        let is_no = |line| work.is_leaving(line) || retry.not_on == Some(line);
        let party = order.party();
        let line = self.lines.choose(&self.state, at, group, party, is_no);
        let stale = retry.due.saturating_add(patience);
        let stale = order.valid_until().map_or(stale, |until| stale.min(until));
        line.map_err(|(why, when)| (why, stale, when))
    }

    /// The time at which the next order can be sent again or times out, in nanoseconds since 1970.
    pub(crate) fn due_retry(&mut self, at: i64) -> Option<i64> {
        if self.next_retry(at).is_some() {
            return Some(at);
        }
        Some(self.work.retries.look).filter(|look| *look < i64::MAX)
    }

    /// Sends an order again, or rejects it.
    pub(crate) fn send_again(&mut self, at: i64, (number, line): Again, sink: &mut impl Sink) {
        let order = self.state.orders().get(number);
        let stopped = order.and_then(|order| risk::stops(&self.state, order));
        match (stopped, line) {
            (None, Ok(line)) => self.send_on(at, number, line, sink),
            (Some(reason), _) => self.reject_unsent_for(at, number, reason, sink),
            (None, Err(why)) => self.reject_unsent(at, number, why, sink),
        }
    }
}
