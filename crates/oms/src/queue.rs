//! Lines: which takes an order, how much its venue takes in a time, and what waits for it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::core::{Core, Sink};
use crate::event::Event;
use crate::order::Order;
use crate::reason::{Reason, Why};
use crate::rules::{Affinity, FlowRule, LineGroup};
use crate::state::State;
use crate::transition::OrderState;
use crate::value::{Number, RequestKind};

/// Lines that share orders, and the orders that wait for one of them.
#[derive(Debug)]
struct Group {
    lines: Vec<u32>,
    next: usize,
    affinity: Option<Affinity>,
    flow: Option<FlowRule>,
    /// How long an order or replace may wait, in nanoseconds; nothing waits without it but cancels.
    patience: Option<i64>,
    cannot_replace: bool,
    orders: VecDeque<Number>,
}

/// What a line has sent, and what waits for it.
#[derive(Debug, Default)]
struct Line {
    group: usize,
    /// When it sent what counts for its flow, the oldest first.
    sent: VecDeque<i64>,
    cancels: VecDeque<Number>,
    replaces: VecDeque<Number>,
}

/// All groups.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    groups: Vec<Group>,
    /// By session; `None` for clients.
    lines: Vec<Option<Line>>,
    /// For each instrument of the state its group.
    pub group_of: Vec<Option<usize>>,
    /// Nobody knows what was sent before this time.
    unknown_until: i64,
}

/// What the next order of a queue can do.
enum Next {
    Goes(u32),
    Stale,
    Waits(i64),
}

impl Lines {
    /// The lines of the settings; what is queued waits again.
    pub(crate) fn new(state: &State, rules: &[LineGroup], group_of: Vec<Option<usize>>) -> Self {
        let mut lines = Self {
            group_of,
            lines: (0..state.sessions().len()).map(|_| None).collect(),
            ..Self::default()
        };
        for (group, rule) in rules.iter().enumerate() {
            let found = rule.lines.iter();
            let found = found.filter_map(|line| state.sessions().find(line.as_bytes()));
            let found: Vec<u32> = found.collect();
            for line in &found {
                lines.lines[*line as usize] = Some(Line {
                    group,
                    ..Line::default()
                });
            }
            lines.groups.push(Group {
                lines: found,
                next: 0,
                affinity: rule.affinity,
                flow: rule.flow,
                patience: rule.queue,
                cannot_replace: rule.cannot_replace,
                orders: VecDeque::new(),
            });
        }
        let flows = rules.iter().filter_map(|rule| rule.flow);
        let longest = flows.map(|flow| flow.time).max().unwrap_or(0);
        if state.last > 0 {
            lines.unknown_until = state.time().saturating_add(longest);
        }
        lines.resume(state);
        lines
    }

    fn resume(&mut self, state: &State) {
        let open = state.orders().iter().filter(|order| order.state.is_open());
        let mut queued: Vec<&Order> = open.collect();
        queued.sort_unstable_by_key(|order| order.number);
        for order in queued {
            if order.state == OrderState::Queued {
                self.wait(order, order.number);
            } else if let Some(request) = state.orders().request_of(order)
                && request.state == OrderState::Queued
            {
                self.wait_for_line(order.line, request.kind, request.number);
            }
        }
    }

    /// Whether a session is a line, not a client.
    pub(crate) fn has(&self, session: u32) -> bool {
        let line = self.lines.get(session as usize);
        line.is_some_and(Option::is_some)
    }

    fn line(&self, line: u32) -> Option<&Line> {
        self.lines.get(line as usize)?.as_ref()
    }

    fn group(&self, instrument: u32) -> Option<usize> {
        self.group_of.get(instrument as usize).copied().flatten()
    }

    /// A new order waits for a line of its group.
    fn wait(&mut self, order: &Order, number: Number) {
        if let Some(group) = self.group(order.instrument) {
            self.groups[group].orders.push_back(number);
        }
    }

    fn wait_for_line(&mut self, line: u32, kind: RequestKind, number: Number) {
        if let Some(Some(line)) = self.lines.get_mut(line as usize) {
            match kind {
                RequestKind::Cancel => line.cancels.push_back(number),
                RequestKind::Replace => line.replaces.push_back(number),
            }
        }
    }

    /// Whether a line may send now.
    ///
    /// # Errors
    ///
    /// When it may, as far as is known.
    fn room(&self, at: i64, line: u32, is_cancel: bool) -> Result<(), i64> {
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
        match (all - over).checked_sub(most) {
            None => Ok(()),
            Some(many) => Err(known.sent[over + many].saturating_add(flow.time)),
        }
    }

    /// Something was sent.
    pub(crate) fn note(&mut self, state: &State, event: &Event<'_>) {
        let (Event::Sent { line, .. } | Event::Asked { line, .. }) = *event else {
            return;
        };
        if let Event::Sent { number, .. } = *event
            && state.orders().get(number).is_some()
            && let Some(group) = self.line(line).map(|line| line.group)
        {
            let group = &mut self.groups[group];
            let place = group.lines.iter().position(|it| *it == line);
            group.next = place.map_or(0, |place| (place + 1) % group.lines.len());
        }
        if let Some(Some(line)) = self.lines.get_mut(line as usize)
            && let Some(flow) = self.groups[line.group].flow
        {
            let at = state.time();
            while line.sent.front().is_some_and(|then| at - then >= flow.time) {
                line.sent.pop_front();
            }
            line.sent.push_back(at);
        }
    }

    /// A line of a group that takes an order now; why none, and when one may.
    fn choose(
        &self,
        state: &State,
        (at, group): (i64, usize),
        (account, instrument): (u32, u32),
        is_leaving: impl Fn(u32) -> bool,
    ) -> Result<u32, (Why, Option<i64>)> {
        let known = &self.groups[group];
        let count = known.lines.len();
        let first = match known.affinity {
            None => known.next,
            Some(Affinity::Account) => account as usize,
            Some(Affinity::Symbol) => instrument as usize,
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
            match self.room(at, line, false) {
                Ok(()) => return Ok(line),
                Err(when) => free = free.into_iter().chain([when]).min(),
            }
        }
        Err((if is_ready { Why::Busy } else { Why::NoLine }, free))
    }

    /// What the first order that waits for a group can do; `None` when none does.
    fn next_order(
        &mut self,
        state: &State,
        at: i64,
        group: usize,
        is_leaving: impl Fn(u32) -> bool,
    ) -> Option<(Number, Next)> {
        let order = loop {
            let number = *self.groups[group].orders.front()?;
            let order = state.orders().get(number);
            match order.filter(|order| order.state == OrderState::Queued) {
                Some(order) => break order,
                None => self.groups[group].orders.pop_front(),
            };
        };
        let patience = self.groups[group].patience.unwrap_or(0);
        let stale = order.queued.saturating_add(patience);
        if stale <= at {
            return Some((order.number, Next::Stale));
        }
        let of = (order.account, order.instrument);
        let next = match self.choose(state, (at, group), of, is_leaving) {
            Ok(line) => Next::Goes(line),
            Err((_, when)) => Next::Waits(when.map_or(stale, |when| when.min(stale))),
        };
        Some((order.number, next))
    }

    /// What the first request that waits for a line can do; `None` when none does.
    fn next_request(&mut self, state: &State, at: i64, line: u32) -> Option<(Number, Next)> {
        for kind in [RequestKind::Cancel, RequestKind::Replace] {
            let (request, group) = loop {
                let known = self.lines.get_mut(line as usize)?.as_mut()?;
                let queue = match kind {
                    RequestKind::Cancel => &mut known.cancels,
                    RequestKind::Replace => &mut known.replaces,
                };
                let Some(number) = queue.front() else {
                    break (None, known.group);
                };
                let request = state.orders().request(*number);
                match request.filter(|(request, _)| request.state == OrderState::Queued) {
                    Some((request, _)) => break (Some(request), known.group),
                    None => queue.pop_front(),
                };
            };
            let Some(request) = request else {
                continue;
            };
            let is_cancel = kind == RequestKind::Cancel;
            let patience = self.groups[group].patience.unwrap_or(0);
            // A cancel is never too old.
            let stale = match is_cancel {
                true => i64::MAX,
                false => request.queued.saturating_add(patience),
            };
            let next = match self.room(at, line, is_cancel) {
                _ if stale <= at => Next::Stale,
                _ if !state.is_ready(line) => Next::Waits(stale),
                Ok(()) => Next::Goes(line),
                Err(when) => Next::Waits(when.min(stale)),
            };
            return Some((request.number, next));
        }
        None
    }
}

impl Core {
    /// Whether a session is a line, not a client.
    #[must_use]
    pub fn is_line(&self, session: u32) -> bool {
        self.lines.has(session)
    }

    /// Whether orders of an instrument cannot be replaced where they go.
    pub(crate) fn cannot_replace(&self, instrument: u32) -> bool {
        let group = self.lines.group(instrument);
        group.is_some_and(|group| self.lines.groups[group].cannot_replace)
    }

    /// A new order goes out, waits, or is rejected.
    pub(crate) fn send_order(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let Some(order) = self.state.orders().get(number) else {
            return;
        };
        let of = (order.account, order.instrument);
        let Some(group) = self.lines.group(of.1) else {
            return self.reject_unsent(at, number, Why::NoRoute, sink);
        };
        let waits = !self.lines.groups[group].orders.is_empty();
        let work = &self.work;
        let leaving = |line| work.is_leaving(line);
        let line = match waits {
            true => Err((Why::Busy, None)),
            false => self.lines.choose(&self.state, (at, group), of, leaving),
        };
        match line {
            Ok(line) => self.emit(at, &Event::Sent { number, line }, sink),
            Err(_) if self.lines.groups[group].patience.is_some() => {
                self.emit(at, &Event::Queued { number }, sink);
                self.lines.groups[group].orders.push_back(number);
            }
            Err((why, _)) => self.reject_unsent(at, number, why, sink),
        }
    }

    pub(crate) fn reject_unsent(&mut self, at: i64, order: Number, why: Why, sink: &mut impl Sink) {
        let event = Event::Rejected {
            order,
            reason: Reason::of(why),
            text: b"",
        };
        self.emit(at, &event, sink);
        self.forget(at, sink);
    }

    /// A request goes out where its order went, or waits.
    pub(crate) fn send_request(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let Some((request, order)) = self.state.orders().request(number) else {
            return;
        };
        let (kind, line) = (request.kind, order.line);
        let is_cancel = kind == RequestKind::Cancel;
        if self.state.is_ready(line) && self.lines.room(at, line, is_cancel).is_ok() {
            return self.emit(at, &Event::Sent { number, line }, sink);
        }
        let group = self.lines.line(line).map(|line| line.group);
        let patience = group.and_then(|group| self.lines.groups[group].patience);
        if is_cancel || patience.is_some() {
            self.emit(at, &Event::Queued { number }, sink);
            self.lines.wait_for_line(line, kind, number);
        } else {
            self.decline(at, number, Why::Busy, b"", sink);
        }
    }

    /// What waits and can go now, or has waited for too long; cancels first.
    pub(crate) fn next_waiting(&mut self, at: i64) -> Option<(Number, Option<u32>)> {
        let done = |(number, next)| match next {
            Next::Goes(line) => Some((number, Some(line))),
            Next::Stale => Some((number, None)),
            Next::Waits(_) => None,
        };
        let (state, lines, work) = (&self.state, &mut self.lines, &self.work);
        let leaving = |line| work.is_leaving(line);
        let sessions = 0..u32::try_from(lines.lines.len()).unwrap_or(u32::MAX);
        let mut requests = sessions.filter_map(|line| lines.next_request(state, at, line));
        if let Some(found) = requests.find_map(done) {
            return Some(found);
        }
        let mut orders =
            (0..lines.groups.len()).filter_map(|group| lines.next_order(state, at, group, leaving));
        orders.find_map(done)
    }

    /// When something that waits can go, or has waited for too long.
    pub(crate) fn due_waiting(&mut self, at: i64) -> Option<i64> {
        let when = |next| match next {
            Next::Waits(when) => when,
            _ => at,
        };
        let (state, lines, work) = (&self.state, &mut self.lines, &self.work);
        let leaving = |line| work.is_leaving(line);
        let sessions = 0..u32::try_from(lines.lines.len()).unwrap_or(u32::MAX);
        let requests = sessions.filter_map(|line| lines.next_request(state, at, line));
        let requests = requests.map(|(_, next)| when(next)).min();
        let groups = 0..lines.groups.len();
        let orders = groups.filter_map(|group| lines.next_order(state, at, group, leaving));
        let orders = orders.map(|(_, next)| when(next)).min();
        requests
            .into_iter()
            .chain(orders)
            .min()
            .filter(|when| *when < i64::MAX)
    }

    /// It goes out, or is too old to.
    pub(crate) fn send_waiting(
        &mut self,
        at: i64,
        (number, line): (Number, Option<u32>),
        sink: &mut impl Sink,
    ) {
        let is_order = self.state.orders().get(number).is_some();
        match line {
            Some(line) => self.emit(at, &Event::Sent { number, line }, sink),
            None if is_order => self.reject_unsent(at, number, Why::Stale, sink),
            None => {
                self.decline(at, number, Why::Stale, b"", sink);
            }
        }
    }

    /// An order that never left: what is asked for it happens here.
    pub(crate) fn change_unsent(&mut self, at: i64, request: Number, sink: &mut impl Sink) {
        let Some((asked, order)) = self.state.orders().request(request) else {
            return;
        };
        let (order, text) = (order.number, &b"it was not sent yet"[..]);
        let event = match asked.kind {
            RequestKind::Cancel => Event::Ended {
                order,
                how: crate::End::Cancelled,
                request: Some(request),
                at: 0,
                text,
            },
            RequestKind::Replace => Event::Replaced {
                request,
                quantity: asked.quantity,
                price: asked.price,
                at: 0,
            },
        };
        self.emit(at, &event, sink);
        self.forget(at, sink);
    }
}
