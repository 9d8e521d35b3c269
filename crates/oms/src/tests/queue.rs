//! Orders and requests queued for a session to a venue.

use super::*;
use crate::state::event::{LifecycleEvent, RequestEvent};
use crate::state::orders::transition::OrderState::{Ended, Queued, Sent};
use crate::values::ids::SessionNo;
use crate::values::rules::{Affinity, FlowRule};
use crate::values::value::{End, Trading};
use crate::{OrderState, Scope};

const SECOND: i64 = 1_000_000_000;

/// Three messages a second, one of them for a cancel.
pub const FLOW: FlowRule = FlowRule {
    count: 3,
    time: SECOND,
    kept: 1,
};

/// One line, with this flow and queue.
fn world(flow: Option<FlowRule>, queue: Option<i64>) -> World {
    let mut rules = rules(LIMITS);
    let group = &mut rules.groups[0];
    (group.flow, group.queue) = (flow, queue);
    let mut world = World::of(rules);
    world.line(LINES[1], false);
    world
}

impl World {
    pub fn line(&mut self, line: SessionNo, is_up: bool) {
        self.tell(|core, at, mut sink| {
            if is_up {
                core.line_up(at, line, &mut sink);
            } else {
                core.line_down(at, line, &mut sink);
            }
        });
    }

    pub fn buy(&mut self) -> Number {
        self.order(Side::Buy, 10, "100").unwrap()
    }

    pub fn stands(&self, order: Number) -> OrderState {
        self.core.state().orders().get(order).unwrap().state
    }

    /// Orders and requests that left since, when this time has passed in steps of 10 ms.
    pub fn pass_by(&mut self, time: i64) -> Vec<VenueId> {
        self.sent.clear();
        let end = self.at + time;
        while self.at < end {
            self.at += 10_000_000;
            self.work();
            let due = self.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
            let has_work = self.core.has_work(self.at + 1_000_000);
            assert!(
                !has_work || due.is_none_or(|due| due.0 <= 1_000_000),
                "it is due"
            );
            self.work();
        }
        self.sent.iter().map(|(id, _)| *id).collect()
    }
}

pub fn order(number: Number) -> VenueId {
    VenueId {
        order: number,
        request: number,
    }
}

#[test]
fn a_line_never_sends_more_than_its_venue_takes() {
    let mut world = world(Some(FLOW), Some(60 * SECOND));
    let orders: Vec<Number> = (0..7).map(|_| world.buy()).collect();
    assert_eq!(world.sent.len(), 2);
    assert_eq!(world.stands(orders[2]), Queued);
    assert!(world.cancel(orders[0]).is_some(), "a cancel has room");
    assert_eq!(world.sent.len(), 3);
    let second = world.cancel(orders[1]).unwrap();
    assert_eq!(world.sent.len(), 3, "the next one waits");
    let left = world.pass_by(5 * SECOND);
    let sent = world.notes.iter().filter(|(_, note)| {
        let event = OrderEvent::of(&note[8..]);
        matches!(event, Some(OrderEvent::Request(RequestEvent::Sent { .. })))
    });
    let times: Vec<i64> = sent.map(|(at, _)| *at).collect();
    assert_eq!(times.len(), 9);
    for (at, first) in times.iter().enumerate() {
        let within = times[at..].iter().filter(|then| *then - first < SECOND);
        assert!(within.count() <= 3, "{times:?}");
    }
    let request = VenueId {
        order: orders[1],
        request: second,
    };
    assert_eq!(left[0], request, "cancels go first");
    let rest: Vec<VenueId> = orders[2..].iter().map(|it| order(*it)).collect();
    assert_eq!(left[1..], rest, "then the first one first");
    world.check();
}

#[test]
fn without_a_queue_nothing_waits_but_cancels() {
    let mut world = world(Some(FLOW), None);
    let first = world.buy();
    world.buy();
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Busy));
    assert!(world.replace(first, 20, "100").is_some());
    assert_eq!(world.said, ["ReplaceTaken", "Declined"]);
    world.cancel(first).unwrap();
    assert!(world.sent.len() == 3, "the kept one");
    world.check();
}

#[test]
fn what_is_asked_for_a_queued_order_never_leaves() {
    let mut world = world(None, Some(SECOND));
    world.line(LINES[0], false);
    let (first, second) = (world.buy(), world.buy());
    assert_eq!(world.said, ["Taken", "Queued"]);
    world.cancel(first).unwrap();
    assert_eq!(world.said, ["CancelTaken", "Ended"]);
    assert_eq!(world.stands(first), Ended(End::Cancelled));
    world.replace(second, 30, "99").unwrap();
    assert_eq!(world.said, ["ReplaceTaken", "Replaced"]);
    let known = world.core.state().orders().get(second).unwrap();
    assert_eq!((known.quantity, known.state), (30, Queued));
    assert_eq!(known.current, second, "the venue knows it by its number");
    world.line(LINES[0], true);
    assert_eq!(world.pass_by(SECOND / 10), [order(second)]);
    assert_eq!(world.stands(second), Sent);
    world.check();
}

#[test]
fn an_order_that_waited_too_long_is_rejected() {
    let mut world = world(None, Some(SECOND));
    world.line(LINES[0], false);
    let first = world.buy();
    assert_eq!(world.pass_by(SECOND / 2), []);
    let second = world.buy();
    assert_eq!(world.pass_by(SECOND * 6 / 10), []);
    assert_eq!(world.stands(first), Ended(End::Rejected));
    assert_eq!(world.stands(second), Queued);
    world.line(LINES[0], true);
    assert_eq!(world.pass_by(SECOND / 10), [order(second)]);
    world.check();
}

#[test]
fn a_replace_that_waited_too_long_is_declined_and_a_cancel_goes_later() {
    let mut world = world(Some(FLOW), Some(SECOND / 2));
    let (first, second) = (world.buy(), world.buy());
    world.replace(first, 20, "100").unwrap();
    world.cancel(second).unwrap();
    world.sent.clear();
    world.line(LINES[0], false);
    assert_eq!(world.pass_by(SECOND), []);
    let known = world.core.state().orders();
    let asked = |number| known.request_of(known.get(number).unwrap()).is_some();
    assert!(!asked(first), "its replace is too old");
    assert!(asked(second));
    world.check();
}

#[test]
fn a_queue_survives_the_end_of_the_process() {
    let mut world = world(Some(FLOW), Some(60 * SECOND));
    let orders: Vec<Number> = (0..4).map(|_| world.buy()).collect();
    world.restart(20_261_122);
    world.line(LINES[0], true);
    assert_eq!(
        world.pass_by(SECOND - 100_000_000),
        [],
        "nobody knows what was sent before"
    );
    assert_eq!(world.pass_by(SECOND), [order(orders[2]), order(orders[3])]);
    world.check();
}

#[test]
fn a_kill_and_the_end_of_the_day_empty_the_queue() {
    let mut world = world(None, Some(60 * SECOND));
    world.line(LINES[0], false);
    let first = world.buy();
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            Scope::Firm,
            Trading::Killed,
            by(b"ann", b"why"),
            &mut sink,
        )
    });
    world.work();
    assert_eq!(world.stands(first), Ended(End::Cancelled));
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            Scope::Firm,
            Trading::Active,
            by(b"ann", b"why"),
            &mut sink,
        )
    });
    let second = world.buy();
    world.restart(20_261_123);
    world.work();
    assert_eq!(world.stands(second), Ended(End::Expired));
    assert!(world.core.state().firm.tally.is_flat());
    world.check();
}

#[test]
fn orders_of_an_account_or_a_symbol_stay_on_a_line() {
    for affinity in [Affinity::Account, Affinity::Symbol] {
        let mut rules = rules(LIMITS);
        rules.groups[0].affinity = Some(affinity);
        let mut world = World::of(rules);
        for _ in 0..3 {
            world.buy();
        }
        let lines: Vec<SessionNo> = world.sent.iter().map(|(_, line)| *line).collect();
        assert_eq!(lines, [lines[0]; 3]);
        world.line(lines[0], false);
        world.buy();
        let other = world.sent.last().unwrap().1;
        assert_ne!(other, lines[0], "while it is ready");
    }
}

#[test]
fn a_venue_that_cannot_replace_is_asked_for_no_replace() {
    let mut rules = rules(LIMITS);
    rules.groups[0].cannot_replace = true;
    let mut world = World::of(rules);
    let order = world.buy();
    assert_eq!(world.replace(order, 20, "100"), None);
    assert_eq!(world.refused, Some(Why::NoReplace));
    assert!(world.cancel(order).is_some());
}

/// One message a second.
const SLOW: FlowRule = FlowRule {
    count: 1,
    time: SECOND,
    kept: 0,
};

#[test]
fn a_replace_that_waits_does_not_leave_after_a_kill() {
    let mut world = world(Some(SLOW), Some(60 * SECOND));
    let order = world.buy();
    world.accept(order);
    world.replace(order, 500, "100").unwrap();
    assert_eq!(world.said, ["ReplaceTaken", "Queued"]);
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            Scope::Firm,
            Trading::Killed,
            by(b"ann", b"why"),
            &mut sink,
        )
    });
    let left = world.pass_by(3 * SECOND);
    assert_eq!(left.len(), 1, "the cancel");
    let known = world.core.state().orders().request(left[0].request);
    assert_eq!(known.unwrap().0.kind, RequestKind::Cancel);
    world.check();
}

#[test]
fn what_waits_is_looked_at_again_before_it_leaves() {
    let mut world = world(None, Some(60 * SECOND));
    world.line(LINES[0], false);
    let order = world.buy();
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            Scope::Firm,
            Trading::Reducing,
            by(b"ann", b"why"),
            &mut sink,
        )
    });
    world.line(LINES[0], true);
    assert_eq!(world.pass_by(SECOND), []);
    assert_eq!(world.stands(order), Ended(End::Rejected));
    world.check();
}

#[test]
fn orders_of_the_day_end_before_they_leave() {
    let mut world = world(Some(SLOW), Some(60 * SECOND));
    let (sent, queued) = (world.buy(), world.buy());
    world.accept(sent);
    world.at += 2 * SECOND;
    world.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
    world.sent.clear();
    world.work();
    let left: Vec<Number> = world.sent.iter().map(|(id, _)| id.order).collect();
    assert_eq!(left, [sent], "its cancel; the other has ended");
    assert_eq!(world.stands(queued), Ended(End::Expired));
    world.check();
}

#[test]
fn new_orders_do_not_pass_a_cancel_that_waits() {
    let mut world = world(Some(SLOW), Some(60 * SECOND));
    let first = world.buy();
    let cancel = world.cancel(first).unwrap();
    world.sent.clear();
    world.at += 2 * SECOND;
    world.buy();
    assert_eq!(world.sent, [], "the cancel comes first");
    assert_eq!(world.pass_by(SECOND / 2)[0].request, cancel);
    world.check();
}

#[test]
fn a_replace_behind_a_cancel_is_stale_in_time() {
    let mut world = world(Some(SLOW), Some(SECOND));
    let (first, second) = {
        let first = world.buy();
        world.at += 2 * SECOND;
        (first, world.buy())
    };
    world.replace(first, 20, "100").unwrap();
    world.cancel(second).unwrap();
    world.line(LINES[0], false);
    world.pass_by(2 * SECOND);
    let orders = world.core.state().orders();
    assert!(orders.request_of(orders.get(first).unwrap()).is_none());
    world.check();
}

#[test]
fn an_order_whose_route_is_gone_is_rejected() {
    let mut world = world(None, Some(60 * SECOND));
    world.line(LINES[0], false);
    let order = world.buy();
    let mut rules = world.core.rules().clone();
    rules.routes.clear();
    world.core = Core::new(rules);
    for (_, note) in &world.notes {
        world.core.replay_note(note);
    }
    world.begin(20_261_122);
    world.work();
    assert_eq!(world.stands(order), Ended(End::Rejected));
    world.check();
}

#[test]
fn a_cancel_that_waits_does_not_leave_for_a_filled_order() {
    let mut world = world(Some(SLOW), None);
    let order = world.buy();
    world.cancel(order).unwrap();
    world.sent.clear();
    world.fill(order, 10, "100");
    assert_eq!(world.pass_by(2 * SECOND), []);
    world.check();
}

#[test]
fn questions_keep_to_the_flow() {
    let mut world = world(Some(SLOW), Some(60 * SECOND));
    for _ in 0..3 {
        world.buy();
        world.at += 2 * SECOND;
    }
    world.line(LINES[0], false);
    world.line(LINES[0], true);
    let start = world.notes.len();
    world.pass_by(5 * SECOND);
    let asked = world.notes[start..].iter().filter(|(_, note)| {
        let event = OrderEvent::of(&note[8..]);
        matches!(event, Some(OrderEvent::Order(LifecycleEvent::Asked { .. })))
    });
    let times: Vec<i64> = asked.map(|(at, _)| *at).collect();
    assert_eq!(times.len(), 3);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= SECOND));
}
