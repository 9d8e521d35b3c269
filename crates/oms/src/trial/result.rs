//! The result of a trial.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Message, Timestamp, tag};

use super::answers::RejectedBy;
use super::requests::{Outcome, Recorded, Requests, Then};
use crate::state::OmsState;
use crate::state::show::scope_name;
use crate::values::limits::RiskControl;
use crate::values::scope::Scope;
use crate::values::show::figure;
use crate::values::value::{Number, RequestKind, Trading};

/// Counts of one kind of request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RequestCounts {
    /// Number of requests in the record.
    pub all: u64,
    /// Number of requests that the record accepted.
    pub accepted: u64,
    /// Number of requests that the OMS or the venue of the record rejected.
    pub rejected: u64,
    /// Number of requests without an answer in the record.
    pub unanswered: u64,
    /// Number of requests that the OMS rejects with the tried settings.
    pub rejected_now: u64,
    /// Number of requests that the OMS now rejects and that the record accepted.
    pub accepted_before: u64,
    /// Number of requests that the OMS of the record rejected and that the OMS now accepts.
    pub rejected_before: u64,
}

/// Number of requests that a control rejects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ControlCount {
    /// Code of the control, such as RC6; empty when no control rejects.
    pub control: &'static str,
    /// The reason, without values.
    pub reason: String,
    /// Number of requests that the control rejects now.
    pub rejected: u64,
    /// Number of requests that the control rejects now and that the record accepted.
    pub accepted_before: u64,
}

/// A request that the record accepted and the OMS now rejects, or that the record rejected and the OMS now accepts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangedRequest {
    /// Time at which the request was received.
    pub at: Timestamp,
    /// The client session.
    pub session: String,
    /// ClOrdID(11).
    pub id: String,
    /// MsgType(35): D, G or F.
    pub msg_type: char,
    /// Text(58) of the reject; `None` when the OMS accepts now what the record rejected.
    pub rejected_now: Option<String>,
}

/// The largest use of a limit by an accepted order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LimitUse {
    /// The scope, as commands name it: `account=A1`.
    pub scope: String,
    /// The control.
    pub control: RiskControl,
    /// The value, in the unit of the control.
    pub value: String,
    /// The limit.
    pub limit: String,
    /// The value in percent of the limit, rounded down; `None` for a limit of 0.
    pub percent: Option<u64>,
    /// Time of the largest use.
    pub at: Timestamp,
    /// The order in the trial.
    pub order: Number,
}

/// Fills of the record that have no order in the trial.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LostFills {
    /// The fills.
    pub fills: u64,
    /// The orders of the fills.
    pub orders: u64,
}

/// Messages that were not played.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotPlayed {
    /// The kind of the messages: a MsgType(35), or a kind of report.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// The result of a trial: what the recorded day would have been with the tried settings.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TrialResult {
    /// The times of the first and of the last message; `None` without messages.
    pub span: Option<(Timestamp, Timestamp)>,
    /// New orders.
    pub orders: RequestCounts,
    /// Replaces.
    pub replaces: RequestCounts,
    /// Cancels.
    pub cancels: RequestCounts,
    /// The controls that reject requests now, the most frequent first.
    pub controls: Vec<ControlCount>,
    /// The requests whose outcome changes, in the order of the record.
    pub changed: Vec<ChangedRequest>,
    /// The largest use of each limit, the nearest to its limit first.
    pub uses: Vec<LimitUse>,
    /// Scopes that do not trade at the end of the trial, because a limit activated the kill switch.
    pub stopped: Vec<String>,
    /// Fills of orders or replaces that are rejected, or of orders that have ended, in the trial.
    pub lost: LostFills,
    /// The messages that were not played.
    pub left_out: Vec<NotPlayed>,
}

/// The largest use of a limit so far.
#[derive(Clone, Copy, Debug)]
struct Use {
    control: RiskControl,
    value: i128,
    limit: i128,
    at: Timestamp,
    order: Number,
}

/// The largest uses of the limits at a scope.
#[derive(Debug)]
struct ScopeUses {
    scope: Scope,
    uses: Vec<Use>,
}

/// The counts that are made while a record is played.
#[derive(Debug, Default)]
pub(super) struct Findings {
    span: Option<(Timestamp, Timestamp)>,
    scopes: Vec<ScopeUses>,
    /// Place of each scope in `scopes`.
    places: BTreeMap<Scope, usize>,
    /// Place of the scope whose limit was used last: the limits of an order come scope by scope.
    last: usize,
    pub lost: LostFills,
    left_out: BTreeMap<String, u64>,
}

impl Findings {
    /// Records the time of a message of the record.
    pub fn at(&mut self, at: Timestamp) {
        self.span.get_or_insert((at, at)).1 = at;
    }

    /// Counts a message that is not played.
    pub fn leave_out(&mut self, what: &[u8]) {
        let what = String::from_utf8_lossy(what);
        match self.left_out.get_mut(&*what) {
            Some(count) => *count += 1,
            None => {
                self.left_out.insert(what.into_owned(), 1);
            }
        }
    }

    /// Counts a report that is not played, because it changes no order in the trial.
    pub fn leave_out_report(&mut self, message: &Message<'_>) {
        let exec_type = message.get(tag::EXEC_TYPE).unwrap_or_default();
        let trans_type = message.get(tag::EXEC_TRANS_TYPE).unwrap_or(b"0");
        match (message.msg_type(), exec_type, trans_type) {
            (b"8", b"H" | b"G", _) | (b"8", _, b"1" | b"2") => {
                self.leave_out(b"busts and corrections of fills");
            }
            (b"8", b"I" | b"A" | b"6" | b"E", _) | (b"8", _, b"3") => {}
            (b"8", _, _) => self.leave_out(b"reports of another ExecType(150)"),
            (other, _, _) => self.leave_out(other),
        }
    }

    /// Records how much of a limit an order uses.
    pub fn used(
        &mut self,
        scope: Scope,
        control: RiskControl,
        value: i128,
        limit: i128,
        at: Timestamp,
        order: Number,
    ) {
        let new = Use {
            control,
            value,
            limit,
            at,
            order,
        };
        if self
            .scopes
            .get(self.last)
            .is_none_or(|it| it.scope != scope)
        {
            self.last = *self.places.entry(scope).or_insert(self.scopes.len());
            if self.last == self.scopes.len() {
                let uses = Vec::new();
                self.scopes.push(ScopeUses { scope, uses });
            }
        }
        let uses = &mut self.scopes[self.last].uses;
        match uses.iter_mut().find(|it| it.control == control) {
            Some(known) if value > known.value => *known = new,
            Some(_) => {}
            None => uses.push(new),
        }
    }
}

/// The result of a trial.
pub(super) fn finish(state: &OmsState, requests: Requests, findings: Findings) -> TrialResult {
    let mut result = TrialResult {
        span: findings.span,
        uses: uses(state, &findings),
        stopped: stopped(state),
        lost: findings.lost,
        ..TrialResult::default()
    };
    let left_out = findings.left_out.into_iter();
    let left_out = left_out.map(|(what, count)| NotPlayed { what, count });
    result.left_out = left_out.collect();
    for request in requests.all() {
        count(&mut result, request);
    }
    result.controls = controls(&requests);
    result.changed = changed(state, &requests);
    result
}

fn count(result: &mut TrialResult, request: &Recorded) {
    let counts = match request.kind {
        None => &mut result.orders,
        Some(RequestKind::Replace) => &mut result.replaces,
        Some(RequestKind::Cancel) => &mut result.cancels,
    };
    let is_rejected = request.now == Outcome::Rejected;
    counts.all += 1;
    counts.rejected_now += u64::from(is_rejected);
    match request.then {
        None => counts.unanswered += 1,
        Some(Then::Accepted) => {
            counts.accepted += 1;
            counts.accepted_before += u64::from(is_rejected);
        }
        Some(Then::Rejected(by)) => {
            counts.rejected += 1;
            counts.rejected_before += u64::from(by == RejectedBy::Oms && !is_rejected);
        }
    }
}

/// The rejects by reason.
fn controls(requests: &Requests) -> Vec<ControlCount> {
    let mut all: Vec<ControlCount> = Vec::new();
    for (request, why) in requests.rejected() {
        let control = why.reason.map_or("", |reason| reason.why.control());
        let text = why.reason.map_or(why.text.as_str(), |it| it.why.text());
        let mut known = all.iter();
        let place = known.position(|it| it.control == control && it.reason == text);
        let place = place.unwrap_or_else(|| {
            all.push(ControlCount {
                control,
                reason: text.to_string(),
                rejected: 0,
                accepted_before: 0,
            });
            all.len() - 1
        });
        all[place].rejected += 1;
        all[place].accepted_before += u64::from(request.then == Some(Then::Accepted));
    }
    all.sort_by_key(|it| core::cmp::Reverse((it.accepted_before, it.rejected)));
    all
}

/// Requests whose outcome differs from the record.
fn changed(state: &OmsState, requests: &Requests) -> Vec<ChangedRequest> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let row = |request: &Recorded, rejected_now: Option<String>| ChangedRequest {
        at: Timestamp(request.at),
        session: text(state.sessions().name(request.session)),
        id: text(request.id.bytes()),
        msg_type: match request.kind {
            None => 'D',
            Some(RequestKind::Replace) => 'G',
            Some(RequestKind::Cancel) => 'F',
        },
        rejected_now,
    };
    let is_new = |(request, _): &(&Recorded, _)| request.then == Some(Then::Accepted);
    let rejected = requests.rejected().filter(is_new);
    let rejected = rejected.map(|(request, why)| row(request, Some(why.text.clone())));
    let accepted = requests.all().iter().filter(|request| {
        request.then == Some(Then::Rejected(RejectedBy::Oms)) && request.now == Outcome::Accepted
    });
    let mut all: Vec<_> = rejected.collect();
    all.extend(accepted.map(|request| row(request, None)));
    all.sort_by_key(|row| row.at);
    all
}

fn uses(state: &OmsState, findings: &Findings) -> Vec<LimitUse> {
    let mut all: Vec<LimitUse> = Vec::new();
    let scopes = findings.places.values().map(|at| &findings.scopes[*at]);
    let mut found: Vec<(Scope, &Use)> = scopes
        .flat_map(|it| it.uses.iter().map(|used| (it.scope, used)))
        .collect();
    found.sort_by_key(|(scope, used)| (*scope, used.control.index()));
    for (scope, used) in found {
        let digits = used.control.unit().digits();
        let percent = used.value.max(0).checked_mul(100);
        let percent = percent.and_then(|value| value.checked_div(used.limit));
        all.push(LimitUse {
            scope: scope_name(state, scope),
            control: used.control,
            value: figure(used.value, digits),
            limit: figure(used.limit, digits),
            percent: percent.and_then(|percent| u64::try_from(percent).ok()),
            at: used.at,
            order: used.order,
        });
    }
    all.sort_by_key(|it| core::cmp::Reverse(it.percent));
    all
}

/// Scopes whose trading a limit has stopped.
fn stopped(state: &OmsState) -> Vec<String> {
    let scopes = state.limited_scopes().into_iter();
    let stopped = scopes.filter(|scope| state.trading(*scope) != Trading::Active);
    stopped.map(|scope| scope_name(state, scope)).collect()
}
