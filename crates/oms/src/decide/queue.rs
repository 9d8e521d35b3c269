//! Selects the session to the venue for an order, applies the rate limit of the venue, and queues messages that cannot
//! be sent yet.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::state::OmsState;
use crate::state::event::{LifecycleEvent, LineEvent, OrderEvent, RequestEvent};
use crate::state::orders::transition::OrderState;
use crate::state::orders::waiting::Waiting;
use crate::state::orders::{Order, Request};
use crate::state::quotes::QuoteSide;
use crate::values::ids::{AccountNo, InstrumentNo, Party, SessionNo, Table};
use crate::values::reason::Why;
use crate::values::rules::{Affinity, FlowRule, LineGroup};
use crate::values::value::{Number, RequestKind};

/// A line group and its queued orders.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) lines: Vec<SessionNo>,
    /// Groups that send new orders of this group while none of its own sessions is logged on.
    pub(crate) helpers: Vec<usize>,
    pub(crate) next: usize,
    pub(crate) affinity: Option<Affinity>,
    pub(crate) flow: Option<FlowRule>,
    /// Maximum time that orders and replaces stay queued, in nanoseconds. `None` if only cancels are queued.
    pub patience: Option<i64>,
    pub cannot_replace: bool,
    pub cannot_stop: bool,
    pub over_tmp: bool,
    /// Whether a line of the group needs PositionEffect(77) even in orders of symbols with netting positions.
    pub needs_effect: bool,
    /// Whether a line of the group is for futures.
    pub has_futures: bool,
    pub orders: Waiting,
}

/// Rate limiter and queue of a session to a venue.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub group: usize,
    /// Times of the sent messages that count for the session's rate limit, the oldest first.
    pub(crate) sent: VecDeque<i64>,
    pub(crate) cancels: VecDeque<Number>,
    pub(crate) replaces: Waiting,
}

/// All line groups, and their sessions.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub groups: Vec<Group>,
    /// By session; `None` for sessions of clients.
    pub lines: Table<SessionNo, Option<Line>>,
    /// The sessions to venues.
    pub sessions: Vec<SessionNo>,
    /// Line groups of each instrument of the state.
    pub group_of: Table<InstrumentNo, SymbolRoute>,
    /// The OMS does not know how many messages it sent before this time, in nanoseconds since 1970.
    pub(crate) unknown_until: i64,
    /// Queued orders and requests whose session or route is no longer in the settings.
    pub lost: VecDeque<Number>,
    /// False only while all queues are empty: the last check found them empty, and nothing was queued since.
    pub(crate) has_queued: bool,
}

/// The line groups to which orders of an instrument may go.
#[derive(Debug, Default)]
pub(crate) struct SymbolRoute {
    /// The line group of the first route of the symbol that has no condition.
    pub group: Option<usize>,
    /// The line groups of routes that have a condition.
    pub chosen: Vec<usize>,
}

/// What to do with the next order of a queue.
pub(crate) enum Next {
    Goes(SessionNo),
    Stale,
    Waits(i64),
}

impl Lines {
    /// Sets up the lines of the settings, and queues the queued requests again.
    pub(crate) fn new(
        state: &OmsState,
        rules: &[LineGroup],
        group_of: Table<InstrumentNo, SymbolRoute>,
    ) -> Self {
        let mut lines = Self {
            group_of,
            lines: state.sessions().iter().map(|_| None).collect(),
            ..Self::default()
        };
        for (group, rule) in rules.iter().enumerate() {
            let found = rule.lines.iter();
            let found = found.filter_map(|line| state.sessions().find(line.as_bytes()));
            let found: Vec<SessionNo> = found.collect();
            for line in &found {
                lines.lines[*line] = Some(Line {
                    group,
                    ..Line::default()
                });
            }
            let helpers = rule.helpers.iter();
            let helpers = helpers.filter_map(|name| rules.iter().position(|it| it.name == *name));
            lines.groups.push(Group {
                lines: found,
                helpers: helpers.collect(),
                next: 0,
                affinity: rule.affinity,
                flow: rule.flow,
                patience: rule.queue,
                cannot_replace: rule.cannot_replace,
                cannot_stop: rule.cannot_stop,
                over_tmp: rule.over_tmp,
                needs_effect: rule.needs_effect,
                has_futures: rule.has_futures,
                orders: Waiting::default(),
            });
        }
        let flows = rules.iter().filter_map(|rule| rule.flow);
        let longest = flows.map(|flow| flow.time).max().unwrap_or(0);
        if state.last > 0 {
            lines.unknown_until = state.time().saturating_add(longest);
        }
        let groups = lines.groups.iter();
        lines.sessions = groups.flat_map(|group| group.lines.clone()).collect();
        lines.resume(state);
        lines
    }

    /// Applies other settings of the same groups. Queued requests and the counts of sent messages stay.
    pub(crate) fn follow(
        &mut self,
        state: &OmsState,
        rules: &[LineGroup],
        group_of: Table<InstrumentNo, SymbolRoute>,
    ) {
        self.group_of = group_of;
        for (place, (group, rule)) in self.groups.iter_mut().zip(rules).enumerate() {
            let before = group.flow.map_or(0, |flow| flow.time);
            (group.affinity, group.flow, group.patience) = (rule.affinity, rule.flow, rule.queue);
            let Some(flow) = rule.flow.filter(|flow| flow.time > before) else {
                continue;
            };
            // The number of messages sent in the longer interval is unknown, so the OMS assumes the largest allowed
            // number.
            let lines = self.lines.iter_mut().flatten();
            for line in lines.filter(|line| line.group == place) {
                line.sent.clear();
                line.sent.resize(flow.count, state.time());
            }
        }
    }

    fn resume(&mut self, state: &OmsState) {
        let waits = |order: &&Order| {
            let request = state.orders().request_of(order);
            order.state == OrderState::Queued
                || request.is_some_and(|it| it.state == OrderState::Queued)
        };
        // A request for a parent order waits for the end of the parent's children.
        let is_sent = |order: &&Order| order.state.is_open() && order.state != OrderState::Parent;
        let open = state.orders().iter().filter(is_sent);
        let mut queued: Vec<&Order> = open.filter(waits).collect();
        queued.sort_unstable_by_key(|order| order.number);
        for order in queued {
            if order.state == OrderState::Queued {
                // An order that is to be sent again waits in the list of retries.
                if order.retry.is_none() {
                    self.wait(state, order);
                }
            } else if let Some(request) = state.orders().request_of(order)
                && request.state == OrderState::Queued
            {
                self.wait_for_line(order.line(), request);
            }
        }
    }

    /// Whether a session is a session to a venue.
    pub(crate) fn has(&self, session: SessionNo) -> bool {
        let line = self.lines.get(session);
        line.is_some_and(Option::is_some)
    }

    pub(crate) fn line(&self, line: SessionNo) -> Option<&Line> {
        self.lines.get(line)?.as_ref()
    }

    /// The line group of the instrument's orders, if no condition decides.
    pub(crate) fn group(&self, instrument: InstrumentNo) -> Option<usize> {
        self.group_of.get(instrument)?.group
    }

    /// The line group of a new order. If a condition has decided the route, it is the line group of the session
    /// `route`.
    pub(crate) fn group_by(
        &self,
        route: Option<SessionNo>,
        instrument: InstrumentNo,
    ) -> Option<usize> {
        match route {
            Some(line) => self.line(line).map(|line| line.group),
            None => self.group(instrument),
        }
    }

    /// The line group of an order.
    pub(crate) fn group_of(&self, state: &OmsState, order: &Order) -> Option<usize> {
        match state.routed.is_empty() {
            true => self.group(order.instrument),
            false => self.group_by(state.routed.of(order.number), order.instrument),
        }
    }

    /// Whether orders of an instrument may go to a line group.
    pub(crate) fn trades(&self, group: usize, instrument: InstrumentNo) -> bool {
        let route = self.group_of.get(instrument);
        route.is_some_and(|it| it.group == Some(group) || it.chosen.contains(&group))
    }

    /// Whether a venue may report an order on this session. The session must be a line of the order's group, of a
    /// helper group of that group, or of a group whose helper that group is.
    pub(crate) fn reaches(&self, state: &OmsState, session: SessionNo, order: &Order) -> bool {
        let Some(of) = self.line(session).map(|line| line.group) else {
            return false;
        };
        let has = order.line().and_then(|line| self.line(line));
        let has = has.map(|line| line.group);
        let helps = |one: usize, other: usize| self.groups[one].helpers.contains(&other);
        let mut groups = [has, self.group_of(state, order)].into_iter().flatten();
        groups.any(|group| group == of || helps(group, of) || helps(of, group))
    }

    /// Whether an order or request is queued.
    #[inline]
    pub(crate) fn waits(&mut self) -> bool {
        self.has_queued = self.has_queued && self.is_something_queued();
        self.has_queued
    }

    #[cold]
    fn is_something_queued(&self) -> bool {
        let mut lines = self.lines.iter().flatten();
        !self.lost.is_empty()
            || self.groups.iter().any(|group| !group.orders.is_empty())
            || lines.any(|line| !line.cancels.is_empty() || !line.replaces.is_empty())
    }

    /// Queues a new order for its line group.
    fn wait(&mut self, state: &OmsState, order: &Order) {
        match self.group_of(state, order) {
            Some(group) => self.wait_for_group(group, order.number, order.valid_until()),
            None => self.lose(order.number),
        }
    }

    /// Queues a new order for a line group.
    pub(crate) fn wait_for_group(
        &mut self,
        group: usize,
        number: Number,
        valid_until: Option<i64>,
    ) {
        self.groups[group].orders.push(number, valid_until);
        self.has_queued = true;
    }

    fn lose(&mut self, number: Number) {
        self.lost.push_back(number);
        self.has_queued = true;
    }

    pub(crate) fn wait_for_line(&mut self, line: Option<SessionNo>, request: &Request) {
        if let Some(Some(line)) = line.and_then(|line| self.lines.get_mut(line)) {
            match request.kind {
                RequestKind::Cancel => line.cancels.push_back(request.number),
                RequestKind::Replace => line.replaces.push(request.number, request.valid_until()),
            }
            self.has_queued = true;
        } else {
            self.lose(request.number);
        }
    }

    /// Whether a new order or replace may be sent on a session now: no cancel or replace is queued, and the rate limit
    /// allows it.
    ///
    /// # Errors
    ///
    /// The time at which the queue may be empty, in nanoseconds since 1970.
    pub(crate) fn turn(&self, at: i64, line: SessionNo) -> Result<(), i64> {
        let waits = self
            .line(line)
            .is_some_and(|line| !line.cancels.is_empty() || !line.replaces.is_empty());
        if waits {
            let soon = at.saturating_add(1_000_000);
            return Err(self.room(at, line, true).err().unwrap_or(soon));
        }
        self.room(at, line, false)
    }

    /// Whether the rate limit lets a session send a message now.
    ///
    /// # Errors
    ///
    /// The earliest time at which the session may send a message, in nanoseconds since 1970.
    pub(crate) fn room(&self, at: i64, line: SessionNo, is_cancel: bool) -> Result<(), i64> {
        self.room_for(at, line, is_cancel, 1)
    }

    #[inline(always)]
    fn room_for(
        &self,
        at: i64,
        line: SessionNo,
        is_cancel: bool,
        messages: usize,
    ) -> Result<(), i64> {
        let Some(known) = self.line(line) else {
            return Ok(());
        };
        let Some(flow) = self.groups[known.group].flow else {
            return Ok(());
        };
        if at < self.unknown_until {
            return Err(self.unknown_until);
        }
        let kept = if is_cancel { 0 } else { flow.kept };
        let most = flow.count.saturating_sub(kept).max(1);
        let over = known
            .sent
            .iter()
            .take_while(|then| at - **then >= flow.time);
        let (over, all) = (over.count(), known.sent.len());
        match (all - over + messages - 1).checked_sub(most) {
            None => Ok(()),
            Some(many) => match known.sent.get(over + many) {
                Some(then) => Err(then.saturating_add(flow.time)),
                // The quote needs more messages than the rate limit ever allows at once.
                None => Err(i64::MAX),
            },
        }
    }

    /// Counts a sent message for the rate limit of its session.
    pub(crate) fn note(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        let (OrderEvent::Request(RequestEvent::Sent { line, .. })
        | OrderEvent::Order(LifecycleEvent::Asked { line, .. })
        | OrderEvent::Line(LineEvent::MassAsked { line, .. })) = *event
        else {
            return;
        };
        if let OrderEvent::Request(RequestEvent::Sent { number, .. }) = *event
            && state.orders().get(number).is_some()
            && let Some(group) = self.line(line).map(|line| line.group)
        {
            let group = &mut self.groups[group];
            let place = group.lines.iter().position(|it| *it == line);
            group.next = place.map_or(0, |place| (place + 1) % group.lines.len());
        }
        if let Some(Some(line)) = self.lines.get_mut(line)
            && let Some(flow) = self.groups[line.group].flow
        {
            let at = state.time();
            while line.sent.front().is_some_and(|then| at - then >= flow.time) {
                line.sent.pop_front();
            }
            line.sent.push_back(at);
        }
    }

    /// A session of a group, or else of a helper group, that can send an order now. Without such a session: the reason,
    /// and the time at which a session may be able to send.
    pub(crate) fn choose(
        &self,
        state: &OmsState,
        at: i64,
        group: usize,
        party: Party,
        is_leaving: impl Fn(SessionNo) -> bool,
    ) -> Result<SessionNo, (Why, Option<i64>)> {
        let own = self.choose_of(state, at, group, party, &is_leaving);
        match own {
            Err((Why::NoLine, _)) if !self.groups[group].helpers.is_empty() => {}
            own => return own,
        }
        let helpers = self.groups[group].helpers.iter();
        let mut helpers = helpers.map(|it| self.choose_of(state, at, *it, party, &is_leaving));
        let mut none = (Why::NoLine, None);
        let found = helpers.find_map(|helper| match helper {
            Ok(line) => Some(line),
            Err((Why::NoLine, _)) => None,
            Err((why, when)) => {
                none = (why, none.1.into_iter().chain(when).min());
                None
            }
        });
        found.ok_or(none)
    }

    #[inline]
    fn choose_of(
        &self,
        state: &OmsState,
        at: i64,
        group: usize,
        party: Party,
        is_leaving: &impl Fn(SessionNo) -> bool,
    ) -> Result<SessionNo, (Why, Option<i64>)> {
        let known = &self.groups[group];
        let count = known.lines.len();
        // A price inquiry may name no account.
        let place = |place: Option<usize>| place.unwrap_or(count.saturating_sub(1));
        let first = match known.affinity {
            None => known.next,
            Some(Affinity::Account) => place(party.account.map(AccountNo::index)),
            Some(Affinity::Symbol) => place(party.instrument.map(InstrumentNo::index)),
        };
        let mut free = None;
        let mut is_ready = false;
        for step in 0..count {
            let place = (first + step) % count;
            let line = known.lines[place];
            if !state.is_ready(line) || is_leaving(line) {
                continue;
            }
            is_ready = true;
            match self.turn(at, line) {
                Ok(()) => return Ok(line),
                Err(when) => free = free.into_iter().chain([when]).min(),
            }
        }
        Err((if is_ready { Why::Busy } else { Why::NoLine }, free))
    }

    fn is_over_tmp(&self, line: SessionNo) -> bool {
        let line = self.line(line);
        line.is_some_and(|line| self.groups[line.group].over_tmp)
    }

    /// Counts both sides of a quote for the rate limit: one message over TMP, two over FIX.
    pub(crate) fn note_quote(&mut self, state: &OmsState, bid: Number, line: SessionNo) {
        let last = bid + u64::from(!self.is_over_tmp(line));
        for number in bid..=last {
            self.note(
                state,
                &OrderEvent::Request(RequestEvent::Sent { number, line }),
            );
        }
    }

    /// Whether the rate limit lets a session send both sides of a quote now.
    fn turn_for_quote(&self, at: i64, line: SessionNo) -> Result<(), i64> {
        self.turn(at, line)?;
        if self.is_over_tmp(line) {
            return Ok(());
        }
        self.room_for(at, line, false, 2)
    }

    /// Chooses a session for both sides of a quote, as [`choose`](Self::choose) does for an order. `preferred` is the
    /// session of the replaced quote.
    pub(crate) fn choose_for_quote(
        &self,
        state: &OmsState,
        at: i64,
        group: usize,
        party: Party,
        preferred: Option<SessionNo>,
        is_leaving: impl Fn(SessionNo) -> bool,
    ) -> Result<SessionNo, (Why, Option<i64>)> {
        let is_its = |line: &SessionNo| self.groups[group].lines.contains(line);
        if let Some(line) = preferred.filter(is_its)
            && state.is_ready(line)
            && !is_leaving(line)
            && self.turn_for_quote(at, line).is_ok()
        {
            return Ok(line);
        }
        let line = self.choose(state, at, group, party, is_leaving)?;
        let turn = self.turn_for_quote(at, line);
        turn.map_or_else(|when| Err((Why::Busy, Some(when))), |()| Ok(line))
    }

    /// The next step for the first queued order of a group, or for an order that timed out; `None` when the group has
    /// no such order.
    pub(crate) fn next_order(
        &mut self,
        state: &OmsState,
        at: i64,
        group: usize,
        is_leaving: impl Fn(SessionNo) -> bool,
    ) -> Option<(Number, Next)> {
        let queued_at = |number| {
            let order = state.orders().get(number);
            let waits = |order: &&Order| order.state == OrderState::Queued && order.retry.is_none();
            order.filter(waits).map(|order| order.queued.since())
        };
        let known = &mut self.groups[group];
        let first = known.orders.first(queued_at)?;
        let patience = known.patience.unwrap_or(0);
        let (stale, oldest) = known.orders.next_stale(patience, queued_at)?;
        if stale <= at {
            return Some((oldest, Next::Stale));
        }
        let order = state.orders().get(first)?;
        let party = order.party();
        let line = match order.quote_side {
            QuoteSide::None => self.choose(state, at, group, party, is_leaving),
            _ => self.choose_for_quote(state, at, group, party, None, is_leaving),
        };
        let next = match line {
            Ok(line) => Next::Goes(line),
            Err((_, when)) => Next::Waits(when.map_or(stale, |when| when.min(stale))),
        };
        Some((first, next))
    }

    /// The first queued request of a kind, and the time at which it times out. A request that has timed out comes
    /// first.
    fn first_request(
        &mut self,
        state: &OmsState,
        at: i64,
        line: SessionNo,
        kind: RequestKind,
    ) -> Option<(Number, i64)> {
        let queued_at = |number| {
            let request = state.orders().request(number);
            let queued = request.filter(|(request, _)| request.state == OrderState::Queued);
            queued.map(|(request, _)| request.queued.since())
        };
        let known = self.lines.get_mut(line)?.as_mut()?;
        if kind == RequestKind::Cancel {
            while let Some(number) = known.cancels.front().copied() {
                if queued_at(number).is_some() {
                    // A cancel never times out.
                    return Some((number, i64::MAX));
                }
                known.cancels.pop_front();
            }
            return None;
        }
        let patience = self.groups[known.group].patience.unwrap_or(0);
        let first = known.replaces.first(queued_at)?;
        let (stale, oldest) = known.replaces.next_stale(patience, queued_at)?;
        Some((if stale <= at { oldest } else { first }, stale))
    }

    /// The next step for the first queued request of a session; `None` when no request is queued.
    pub(crate) fn next_request(
        &mut self,
        state: &OmsState,
        at: i64,
        line: SessionNo,
    ) -> Option<(Number, Next)> {
        let mut waiting: Option<(Number, i64)> = None;
        for kind in [RequestKind::Cancel, RequestKind::Replace] {
            let Some((number, stale)) = self.first_request(state, at, line, kind) else {
                continue;
            };
            let is_cancel = kind == RequestKind::Cancel;
            let next = match self.room(at, line, is_cancel) {
                _ if stale <= at => Next::Stale,
                _ if !state.is_ready(line) => Next::Waits(stale),
                // A replace does not overtake a queued cancel.
                Ok(()) if waiting.is_some() => Next::Waits(stale),
                Ok(()) => Next::Goes(line),
                Err(when) => Next::Waits(when.min(stale)),
            };
            match next {
                Next::Waits(when) => {
                    let first = waiting.into_iter().chain([(number, when)]);
                    waiting = first.min_by_key(|(_, when)| *when);
                }
                next => return Some((number, next)),
            }
        }
        waiting.map(|(number, when)| (number, Next::Waits(when)))
    }
}
