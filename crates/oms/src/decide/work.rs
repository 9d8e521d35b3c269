//! Work that the OMS does between inputs, in the order of [`Task`], in small steps. After a crash, the OMS finds the
//! work again from its state.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::decide::risk;
use crate::decide::venue::VenueId;
use crate::decide::venue::unanswered::{Unanswered, lost_of_closed};
use crate::state::OmsState;
use crate::state::event::{
    LifecycleEvent, LimitEvent, LineEvent, OrderEvent, QuoteEvent, RemadeEvent, RequestEvent,
    SetupEvent,
};
use crate::state::filter::OrderFilter;
use crate::state::mass_status::MassQuestions;
use crate::state::orders::Order;
use crate::state::orders::lapsed::LapsedOrders;
use crate::state::orders::retries::{Again, Retries, retry_of};
use crate::state::orders::transition::OrderState;
use crate::state::quotes::QuoteSide;
use crate::state::roll::{Roll, ends_with_day, is_unconfirmed};
use crate::values::ids::SessionNo;
use crate::values::reason::Why;
use crate::values::scope::Scope;
use crate::values::value::{Number, Presence, RequestKind, Trading};
use crate::values::verbs::By;

/// How long a final state waits for missing fills before the OMS requests the order's status, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// Time after a start within which a client must log on again, in nanoseconds. After it, the orders of the client are
/// cancelled. The settings may give another time.
const RETURN: i64 = 10_000_000_000;

/// Pending work, derived from the state of the OMS.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Orders that need a status request.
    pub asking: VecDeque<Number>,
    /// Orders to be cancelled.
    pub(crate) cancelling: VecDeque<Number>,
    /// The trading day according to the clock, if it is too far ahead to start without an operator.
    pub(crate) far_day: Option<u32>,
    /// Orders that expire with the day.
    pub(crate) expiring: VecDeque<Number>,
    /// Orders that are done for the day and work again on the next day.
    pub(crate) renewing: VecDeque<Number>,
    /// The new trading day that is about to start.
    pub(crate) roll: Option<Roll>,
    /// Orders whose final state waits for missing fills, each with the time since which it waits.
    pub(crate) pended: VecDeque<(i64, Number)>,
    /// The time at which each break with a venue becomes an alarm, and the number of the break.
    pub alarms: VecDeque<(i64, u64)>,
    /// Orders whose cancel the venue rejected, each with the time of the reject. The OMS sends the cancel again later.
    pub(crate) later: VecDeque<(i64, Number)>,
    /// Disconnected clients, each with the time at which their orders are cancelled.
    pub(crate) gone: Vec<(i64, SessionNo)>,
    /// Venue sessions that are logging out.
    pub(crate) leaving: Vec<SessionNo>,
    /// Sessions to venues whose sequence numbers were reset since the last logon.
    pub(crate) reset: Vec<SessionNo>,
    /// Orders to be sent again.
    pub retries: Retries,
    /// Parents of which a child was closed.
    pub(crate) settling: VecDeque<Number>,
    /// Requests that the venue has not answered.
    pub unanswered: Unanswered,
    /// Lines on which the OMS requests the status of all orders.
    pub mass: MassQuestions,
    /// Orders of earlier trading days whose status the OMS requests from their venue.
    pub lapsed: LapsedOrders,
    /// Whether new rates have changed values, so that RC17 is to be checked at every scope.
    pub(crate) is_revalued: bool,
    /// Whether the journal uses its reserved disk space. New orders are then rejected, so that the space lasts for
    /// cancels and reports.
    pub(crate) on_reserve: bool,
}

/// Tasks between inputs, the most urgent first. Each step of the OMS does one task.
#[derive(Debug)]
enum Task {
    /// New rates have changed values: trading of a scope is killed whose loss is above RC17.
    GuardLosses,
    /// A child of a parent was closed. The parent is closed too if it may not stay open.
    Settle(Number),
    /// The OMS cancels an order.
    Cancel(Number),
    /// An order expires with the trading day that is being closed.
    Expire(Number),
    /// An order that is done for the day works again on the next day.
    Renew(Number),
    /// A conditional order whose condition is met is sent, or rejected.
    Trigger,
    /// An order that a venue rejected is sent again.
    SendAgain(Again),
    /// A queued order or request is sent on a session. Without a session it has timed out, and is rejected.
    SendQueued(Number, Option<SessionNo>),
    /// The OMS requests the status of all open orders of a line.
    AskForAll(SessionNo),
    /// The OMS requests the status of an order.
    Ask(Number),
    /// The next step to a new trading day.
    Roll,
    /// Closed orders are removed from memory.
    Forget,
}

/// Numbers of the open orders for which `is` is true.
pub(crate) fn open(state: &OmsState, is: impl Fn(&Order) -> bool) -> Vec<Number> {
    let orders = state.orders().iter();
    let open = orders.filter(|order| order.state.is_open() && is(order));
    let mut numbers: Vec<Number> = open.map(|order| order.number).collect();
    numbers.sort_unstable();
    numbers
}

#[inline]
fn is_killed(state: &OmsState, order: &Order) -> bool {
    state.is_somewhere_stopped() && is_killed_at_scope(state, order)
}

#[cold]
fn is_killed_at_scope(state: &OmsState, order: &Order) -> bool {
    let scopes = state.standings(order.party());
    let mut scopes = scopes.all().iter();
    let is_killed = scopes.any(|(_, standing)| standing.limits.trading == Trading::Killed);
    is_killed || (!state.spreads.is_empty() && is_leg_killed(state, order))
}

/// Whether the kill switch is active for a leg of a spread.
#[cold]
fn is_leg_killed(state: &OmsState, order: &Order) -> bool {
    let legs = state.spreads.legs(order.instrument).into_iter().flatten();
    let mut scopes = legs.flat_map(|leg| {
        [
            Scope::Instrument(leg.instrument),
            Scope::Holding(order.account, leg.instrument),
        ]
    });
    scopes.any(|scope| state.trading(scope) == Trading::Killed)
}

/// Whether an order must be cancelled, because it was withdrawn or a kill switch is active.
pub(crate) fn must_go(state: &OmsState, order: &Order) -> bool {
    order.withdrawn || is_killed(state, order)
}

/// Whether an order must be cancelled. It was withdrawn, a kill switch is active, or the order ends with the trading
/// day that is being closed.
fn is_going(state: &OmsState, order: &Order) -> bool {
    must_go(state, order) || ends_with_day(state, order)
}

/// Whether the state of the order, or of its request, is unknown.
pub(crate) fn is_unknown(state: &OmsState, order: &Order) -> bool {
    let request = state.orders().request_of(order);
    let is_lost = request.is_some_and(|it| it.state == OrderState::Unknown);
    order.state == OrderState::Unknown || is_lost
}

/// The earlier of two times; if only one time is given, that time.
pub(crate) fn earlier<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Work {
    /// Updates the pending work after an event was applied.
    pub(crate) fn note(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        match *event {
            OrderEvent::Limit(LimitEvent::Trading {
                scope,
                state: Trading::Killed,
                ..
            }) => self.cancel(state, OrderFilter::of(scope)),
            OrderEvent::Request(RequestEvent::MassCancelTaken { filter, .. }) => {
                self.cancel(state, filter)
            }
            OrderEvent::Request(RequestEvent::Sent { number, .. }) => {
                if state.orders().request(number).is_some() {
                    self.unanswered.sent(state.time(), number);
                }
            }
            OrderEvent::Quote(QuoteEvent::QuotesWithdrawn {
                session,
                instrument,
                quote,
                ..
            }) => {
                let sides = state.open_sides(session, instrument, quote);
                self.cancelling.extend(sides);
            }
            OrderEvent::Line(LineEvent::LineUp { line }) => self.is_up(state, line),
            OrderEvent::Line(LineEvent::LineDown { line }) => self.mass.forget(line),
            OrderEvent::Remade(RemadeEvent::CancelHeld { order, .. }) => {
                let replace = state.orders().get(order);
                if let Some(replace) = replace.and_then(|it| state.deciding(it)) {
                    self.unanswered.decides(state.time(), replace);
                }
            }
            OrderEvent::Order(ref event) => self.note_order(state, event),
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_)
            | OrderEvent::Break(_)
            | OrderEvent::Undo(_) => {}
        }
    }

    #[inline]
    fn note_order(&mut self, state: &OmsState, event: &LifecycleEvent<'_>) {
        match *event {
            LifecycleEvent::Asked { order, at, .. } => {
                if !self.lapsed.is_empty() {
                    self.lapsed.sent(at, order);
                }
            }
            LifecycleEvent::Retried { order, due, .. } => self.retries.add(due, order),
            LifecycleEvent::Pended { order, .. } => {
                // The order may have waited for fills before, and may have worked again in the meantime.
                self.pended.retain(|(_, waits)| *waits != order);
                self.pended.push_back((state.time(), order));
                self.rest(order);
            }
            LifecycleEvent::DoneForDay { order, .. } => self.rest(order),
            LifecycleEvent::Ended { order, .. } | LifecycleEvent::LapseConfirmed { order, .. } => {
                self.lapsed.ended(order);
            }
            LifecycleEvent::Accepted { .. }
            | LifecycleEvent::Rejected { .. }
            | LifecycleEvent::Filled { .. }
            | LifecycleEvent::Replaced { .. }
            | LifecycleEvent::Declined { .. }
            | LifecycleEvent::Forgotten { .. }
            | LifecycleEvent::Renewed { .. }
            | LifecycleEvent::TermsSet { .. }
            | LifecycleEvent::ReportEntered { .. }
            | LifecycleEvent::Lapsed { .. }
            | LifecycleEvent::LapseCancelled { .. }
            | LifecycleEvent::Unanswered { .. }
            | LifecycleEvent::NoAnswer { .. }
            | LifecycleEvent::NotAtVenue { .. }
            | LifecycleEvent::ForeignReport { .. }
            | LifecycleEvent::VenueIdSet { .. }
            | LifecycleEvent::ExecIdPassed { .. } => {}
        }
    }

    /// Handles the logon of a line. The OMS requests the status of orders in doubt, and cancels orders that were
    /// withdrawn or that a kill switch stops.
    fn is_up(&mut self, state: &OmsState, line: SessionNo) {
        self.leaving.retain(|leaving| *leaving != line);
        let all = self.reset.contains(&line);
        self.reset.retain(|reset| *reset != line);
        // If the venue supports a mass status request, the answer to it comes first.
        if !self.mass.waits(line) {
            let is_asked = |order: &Order| {
                let is_doubtful = || state.breaks.of(order.number).next().is_some();
                all || is_unknown(state, order) || is_unconfirmed(state, order) || is_doubtful()
            };
            let mut asked = open(state, |order| order.line() == Some(line) && is_asked(order));
            asked.extend(lost_of_closed(state, line));
            asked.extend(state.doubtful_of_closed(line));
            asked.sort_unstable();
            asked.dedup();
            self.ask_each(state, asked);
        }
        let goes = |order: &Order| order.line() == Some(line) && is_going(state, order);
        self.cancelling.extend(open(state, goes));
        self.retries.look_again();
    }

    /// Handles a report of an order. If the order must be cancelled, the OMS now tries to cancel it.
    #[inline]
    pub(crate) fn look_again(&mut self, state: &OmsState, number: Number) {
        let order = state.orders().get(number);
        let is_later = self.later.iter().any(|(_, later)| *later == number);
        if !is_later && order.is_some_and(|order| order.state.is_open() && is_going(state, order)) {
            self.cancelling.push_back(number);
        }
    }

    /// Handles a venue's reject of a cancel. The OMS sends the cancel again later.
    pub(crate) fn look_later(&mut self, at: i64, number: Number) {
        self.later.push_back((at, number));
    }

    /// Requests the status of the orders of a connected line, one by one.
    pub(crate) fn ask_each(&mut self, state: &OmsState, orders: Vec<Number>) {
        self.unanswered.line_up(state, &orders);
        self.lapsed.line_up(state, &orders);
        self.asking.extend(orders);
    }

    /// Requests the status of an order.
    pub(crate) fn ask_about(&mut self, order: Number) {
        self.asking.push_back(order);
    }

    /// Handles a closed child, after which the parent may have to end too.
    #[inline]
    pub(crate) fn settle(&mut self, parent: Number) {
        self.settling.push_back(parent);
    }

    /// Cancels the open children of a parent; returns false when the parent has no open child.
    pub(crate) fn cancel_children(&mut self, state: &OmsState, parent: Number) -> bool {
        let before = self.cancelling.len();
        self.cancelling.extend(state.open_children(parent));
        self.cancelling.len() > before
    }

    /// Whether the journal uses its reserved disk space.
    pub(crate) fn is_on_reserve(&self) -> bool {
        self.on_reserve
    }

    /// Why the OMS accepts no order of any client at the moment; `None` when it accepts orders.
    pub(crate) fn closed(&self) -> Option<Why> {
        if self.ends_day() {
            return Some(Why::DayEnds);
        }
        self.on_reserve.then_some(Why::DiskFull)
    }

    /// Whether a session to a venue is logging out, so that it gets no new orders.
    pub(crate) fn is_leaving(&self, line: SessionNo) -> bool {
        self.leaving.contains(&line)
    }

    fn cancel(&mut self, state: &OmsState, filter: OrderFilter) {
        let orders = open(state, |order| filter.has(state, order));
        self.cancelling.extend(orders);
    }

    /// Finds the work that was not done when the process was killed.
    pub(crate) fn resume(&mut self, state: &OmsState) {
        let some_killed = state.is_somewhere_killed();
        // If no kill switch is active, only withdrawn orders must be cancelled.
        let goes = |order: &Order| (some_killed || order.withdrawn) && must_go(state, order);
        self.cancelling.extend(open(state, goes));
        let pended = open(state, |order| order.pended.is_some());
        let breaks = state.breaks.iter().filter(|(_, it)| !it.is_alarmed);
        let breaks = breaks.map(|(number, _)| (state.time(), number));
        self.alarms = breaks.collect();
        self.pended = pended.into_iter().map(|it| (state.time(), it)).collect();
        for order in open(state, |order| order.retry.is_some()) {
            if let Some(retry) = retry_of(state, order) {
                self.retries.add(retry.due, order);
            }
        }
        self.settling.extend(state.families.parents());
    }
}

impl Core {
    /// Whether [`work`](Self::work) has work to do.
    #[must_use]
    #[inline]
    pub fn has_work(&mut self, at: i64) -> bool {
        self.next_task(at).is_some()
    }

    /// The next task to do.
    #[inline]
    fn next_task(&mut self, at: i64) -> Option<Task> {
        if self.work.is_revalued {
            return Some(Task::GuardLosses);
        }
        if let Some(parent) = self.work.settling.front() {
            return Some(Task::Settle(*parent));
        }
        if let Some(order) = self.work.cancelling.front() {
            return Some(Task::Cancel(*order));
        }
        if let Some(order) = self.work.expiring.front() {
            return Some(Task::Expire(*order));
        }
        if let Some(order) = self.work.renewing.front() {
            return Some(Task::Renew(*order));
        }
        if self.has_triggers() {
            return Some(Task::Trigger);
        }
        if let Some(again) = self.next_retry(at) {
            return Some(Task::SendAgain(again));
        }
        if let Some((number, line)) = self.next_waiting(at) {
            return Some(Task::SendQueued(number, line));
        }
        if let Some(line) = self.next_mass_asked(at) {
            return Some(Task::AskForAll(line));
        }
        if let Some(order) = self.next_asked(at) {
            return Some(Task::Ask(order));
        }
        if self.is_roll_due(at) {
            return Some(Task::Roll);
        }
        self.forgettable().map(|_| Task::Forget)
    }

    /// Does one task: a few events.
    pub fn work(&mut self, at: i64, sink: &mut impl Sink) {
        match self.next_task(at) {
            Some(Task::GuardLosses) => self.work.is_revalued = self.guard_loss(at, sink),
            Some(Task::Settle(parent)) => {
                self.work.settling.pop_front();
                self.settle_parent(at, parent, sink);
            }
            Some(Task::Cancel(order)) => {
                self.work.cancelling.pop_front();
                self.cancel_now(at, order, sink);
            }
            Some(Task::Expire(order)) => {
                self.work.expiring.pop_front();
                self.expire(at, order, sink);
            }
            Some(Task::Renew(order)) => {
                self.work.renewing.pop_front();
                self.renew(at, order, false, sink);
            }
            Some(Task::Trigger) => {
                self.trigger_next(at, sink);
            }
            Some(Task::SendAgain(again)) => self.send_again(at, again, sink),
            Some(Task::SendQueued(number, line)) => self.send_queued(at, number, line, sink),
            Some(Task::AskForAll(line)) => self.ask_for_all(at, line, sink),
            Some(Task::Ask(order)) => {
                self.work.asking.pop_front();
                self.ask(at, order, sink);
            }
            Some(Task::Roll) => self.roll_step(at, sink),
            Some(Task::Forget) => self.forget(at, sink),
            None => {}
        }
    }

    /// Whether status requests are still to be sent.
    pub(crate) fn is_asking(&self) -> bool {
        !self.work.asking.is_empty()
    }

    /// The next order whose status is requested, when its session may send.
    #[inline]
    fn next_asked(&self, at: i64) -> Option<Number> {
        let number = *self.work.asking.front()?;
        let line = self
            .state
            .orders()
            .get(number)
            .and_then(|order| order.line());
        let has_room = line.is_none_or(|line| self.lines.room(at, line, true).is_ok());
        has_room.then_some(number)
    }

    #[inline]
    pub(super) fn due_asking(&self, at: i64) -> Option<i64> {
        let order = self.state.orders().get(*self.work.asking.front()?)?;
        self.lines.room(at, order.line()?, true).err()
    }

    fn ask(&mut self, at: i64, order: Number, sink: &mut impl Sink) {
        let known = self.state().orders().get(order);
        let Some(line) = known.and_then(|order| order.line()) else {
            return;
        };
        if !self.state().is_ready(line) {
            return;
        }
        match self.answers_status(line) {
            true => self.emit(
                at,
                &OrderEvent::Order(LifecycleEvent::Asked { order, line, at }),
                sink,
            ),
            false => self.work.lapsed.not_asked(at, order),
        }
    }

    /// Restores the limits that temporary limits replaced, when those expire.
    pub(super) fn due_limits(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        let next = self.state.expiries.iter().min_by_key(|it| it.until)?;
        if next.until > at {
            return Some(Nanos((next.until - at).unsigned_abs()));
        }
        let (scope, control, before) = (next.scope, next.control, next.before);
        let by = By {
            who: Self::GUARD,
            why: Self::LIMIT_ENDED,
        };
        self.set_limit(at, scope, control, before, by, sink);
        Some(Nanos(0))
    }

    /// Records whether a client session is logged on; `None` at startup, before the client's logon. If the settings say
    /// so, the client's orders are cancelled some time after a logout or disconnect.
    pub fn client(
        &mut self,
        at: i64,
        session: SessionNo,
        is: Option<Presence>,
        sink: &mut impl Sink,
    ) {
        let Ok(user) = self.user(session) else {
            return;
        };
        let (on_logout, on_disconnect) = (user.on_logout, user.on_disconnect);
        self.work.gone.retain(|(_, gone)| *gone != session);
        if on_logout.is_none() && on_disconnect.is_none() {
            return;
        }
        let was = self.state.client(session);
        // The client could not stay logged on while the OMS was stopped.
        let must_return = is.is_none() && was != Presence::LoggedOut;
        let is = is.unwrap_or(match was {
            // The client was logged on when the process was killed.
            Presence::Connected => Presence::Lost,
            gone => gone,
        });
        if is != was {
            self.emit(
                at,
                &OrderEvent::Setup(SetupEvent::Client { session, is }),
                sink,
            );
        }
        let grace = match is {
            Presence::Connected => None,
            Presence::LoggedOut => on_logout,
            Presence::Lost => on_disconnect,
        };
        let grace = match grace {
            Some(0) if must_return => Some(RETURN),
            grace => grace,
        };
        if let Some(grace) = grace {
            self.work.gone.push((at.saturating_add(grace), session));
        }
    }

    pub(super) fn due_withdrawal(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        let (when, session) = self.work.gone.iter().min().copied()?;
        if when > at {
            return Some(Nanos((when - at).unsigned_abs()));
        }
        self.work.gone.retain(|(_, gone)| *gone != session);
        let filter = OrderFilter::of(Scope::Session(session));
        if filter.count(&self.state) > 0 {
            let by = By {
                who: b"settings",
                why: b"client logged out or disconnected",
            };
            self.withdraw(at, filter, by, sink);
        }
        // The next task is to send cancels, or the time of another client is next.
        Some(Nanos(0))
    }

    pub(super) fn due_cancels(&mut self, at: i64) -> Option<Nanos> {
        while let Some((since, order)) = self.work.later.front().copied() {
            let left = since.saturating_add(PATIENCE).saturating_sub(at);
            if left > 0 {
                return Some(Nanos(left.unsigned_abs()));
            }
            self.work.later.pop_front();
            self.work.look_again(&self.state, order);
        }
        None
    }

    #[inline]
    pub(super) fn due_ends(&mut self, at: i64, overdue: &mut dyn FnMut(Number)) -> Option<Nanos> {
        while let Some((since, order)) = self.work.pended.front().copied() {
            let known = self.state.orders().get(order);
            if known.is_none_or(|order| order.pended.is_none()) {
                self.work.pended.pop_front();
                continue;
            }
            let left = since.saturating_add(PATIENCE).saturating_sub(at);
            if left > 0 {
                return Some(Nanos(left.unsigned_abs()));
            }
            self.work.pended.pop_front();
            self.work.pended.push_back((at, order));
            self.work.asking.push_back(order);
            overdue(order);
        }
        None
    }

    /// Handles the logon of a session to a venue.
    pub fn line_up(&mut self, at: i64, line: SessionNo, sink: &mut impl Sink) {
        self.copy_session(at, line, true);
        if !self.state().is_ready(line) {
            if self.answers_mass_status(line) {
                self.work.mass.add(line);
            }
            self.emit(at, &OrderEvent::Line(LineEvent::LineUp { line }), sink);
        }
    }

    /// Handles the disconnect of a session to a venue.
    pub fn line_down(&mut self, at: i64, line: SessionNo, sink: &mut impl Sink) {
        self.copy_session(at, line, false);
        if self.state().is_ready(line) {
            self.emit(at, &OrderEvent::Line(LineEvent::LineDown { line }), sink);
        }
    }

    /// Number of orders and requests on a session that the venue has not answered.
    #[must_use]
    pub fn in_flight(&self, line: SessionNo) -> usize {
        let orders = self.state.orders();
        let unanswered = |order: &&Order| {
            let request = orders.request_of(order);
            order.line() == Some(line)
                && (order.state == OrderState::Sent
                    || request.is_some_and(|it| it.state == OrderState::Sent))
        };
        orders.iter().filter(unanswered).count()
    }

    /// Records whether a session to a venue is logging out. Such a session gets no new orders until it logs on again.
    pub fn set_leaving(&mut self, line: SessionNo, is: bool) {
        self.work.leaving.retain(|leaving| *leaving != line);
        if is {
            self.work.leaving.push(line);
        }
    }

    /// Sets whether the disk of the journal is full. This value is not part of the state, but each order that is
    /// rejected because of it is.
    pub fn set_on_reserve(&mut self, is: bool) {
        self.work.on_reserve = is;
    }

    /// Records that the sequence numbers of a session to a venue were reset, so that sent messages may be lost.
    pub fn set_reset(&mut self, line: SessionNo) {
        if !self.work.reset.contains(&line) {
            self.work.reset.push(line);
        }
    }

    /// Whether a new order or replace that the venue did not receive may be resent. Not while its order is being
    /// cancelled.
    #[must_use]
    pub fn may_resend(&self, id: VenueId) -> bool {
        let order = self.state.orders().get(id.order);
        let is_asked = self.state.orders().request(id.request).is_some();
        order.is_some_and(|order| {
            // If the venue rejected the order under another ClOrdID(11), it no longer has the order under this one.
            let is_known = id.request == order.attempt() || is_asked;
            let request = self.state.orders().request_of(order);
            let cancelled = request.is_some_and(|it| it.kind == RequestKind::Cancel);
            is_known
                && order.state.is_open()
                && !cancelled
                && !is_going(&self.state, order)
                && order.state != OrderState::Lapsed
        })
    }

    /// Sends a queued order or request on a session. Without a session it has timed out, and is rejected.
    fn send_queued(
        &mut self,
        at: i64,
        number: Number,
        line: Option<SessionNo>,
        sink: &mut impl Sink,
    ) {
        if self.lines.lost.front() == Some(&number) {
            self.lines.lost.pop_front();
        }
        let orders = self.state.orders();
        let known = orders.get(number);
        if known.is_some_and(|order| order.quote_side != QuoteSide::None) {
            return self.send_waiting_side(at, number, line, sink);
        }
        let is_order = known.is_some();
        let order = match orders.request(number) {
            Some((request, order)) if request.kind == RequestKind::Replace => Some(order),
            Some(_) => None,
            None => orders.get(number),
        };
        if let Some(reason) = order.and_then(|order| risk::stops(&self.state, order)) {
            // The limits may have changed since the order was accepted.
            if is_order {
                self.reject_unsent_for(at, number, reason, sink);
            } else {
                self.decline_for(at, number, reason, b"", sink);
            }
            return;
        }
        match line {
            Some(line) if is_order => self.send_on(at, number, line, sink),
            Some(line) => self.send_request_on(at, number, line, sink),
            None if is_order => self.reject_unsent(at, number, Why::Stale, sink),
            None => {
                self.decline(at, number, Why::Stale, b"", sink);
            }
        }
    }
}
