//! Orders that a venue rejects and the OMS sends again.

use super::by;
use super::queue::order;
use super::*;
use crate::decide::venue::rejects::VenueReject;
use crate::state::event::LifecycleEvent;
use crate::state::orders::transition::OrderState::{Ended, Queued, Sent, Working};
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::rules::{ErrorRule, RejectCode, Remedy};
use crate::values::value::{End, Market, Trading};
use crate::{OrderState, Scope};

const SECOND: i64 = 1_000_000_000;
const AFTER: i64 = 200_000_000;

fn rule(remedy: Remedy) -> ErrorRule {
    ErrorRule {
        code: None,
        text: Some("busy*".into()),
        remedy,
        times: 2,
        after: AFTER,
        say: None,
        state: None,
    }
}

/// Whatever is rejected is sent again, alternately on another line.
pub fn busy(after: i64) -> Vec<ErrorRule> {
    let any = |code, remedy| ErrorRule {
        code,
        text: Some("*".into()),
        times: 3,
        after,
        ..rule(remedy)
    };
    let third = Some(RejectCode::Order(3));
    [any(third, Remedy::AnotherLine), any(None, Remedy::Retry)].into()
}

fn world(errors: &[ErrorRule]) -> World {
    let mut rules = rules(LIMITS);
    rules.groups[0].errors = errors.to_vec();
    World::of(rules)
}

/// The same where no time passes between.
fn at_once() -> World {
    world(&[ErrorRule {
        after: 0,
        ..rule(Remedy::Retry)
    }])
}

fn id(order: Number, request: Number) -> VenueId {
    VenueId { order, request }
}

impl World {
    /// The venue rejects an order under the id that it went out by last.
    fn reject(&mut self, order: Number, text: &str) {
        let attempt = self.core.state().orders().get(order).unwrap().attempt();
        self.reject_as(id(order, attempt), text, None);
    }

    fn reject_as(&mut self, id: VenueId, text: &str, reason: Option<u64>) {
        self.report(&VenueReport {
            text: text.as_bytes(),
            reason,
            ..about(id.order, id.request, ReportKind::Rejected)
        });
    }

    fn refuse(&mut self, id: VenueId, code: Option<RejectCode>, text: &str) {
        let text = text.as_bytes();
        let reject = VenueReject {
            code,
            text,
            ..VenueReject::default()
        };
        self.tell(|core, at, mut sink| core.refused(at, id, &reject, &mut sink));
    }

    /// Text(58) of the last reject to the client.
    fn told(&self) -> String {
        let mut notes = self.notes.iter().rev();
        let last = notes.find_map(|(_, note)| match OrderEvent::of(&note[8..]) {
            Some(
                OrderEvent::Order(LifecycleEvent::Rejected { text, .. })
                | OrderEvent::Order(LifecycleEvent::Declined { text, .. }),
            ) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        });
        last.unwrap()
    }
}

#[test]
fn a_rejected_order_is_sent_again_under_another_id_and_so_often() {
    let mut world = world(&[rule(Remedy::Retry)]);
    let (first, other) = (world.buy(), world.buy());
    world.reject(first, "busy, come back");
    assert_eq!(world.said, ["Retried"]);
    assert_eq!(world.stands(first), Queued);
    assert_eq!(world.pass_by(AFTER - 20_000_000), [], "not before its time");
    assert_eq!(world.pass_by(40_000_000), [id(first, 3)]);
    assert_eq!(world.stands(first), Sent);
    world.reject(first, "busy");
    assert_eq!(world.pass_by(SECOND), [id(first, 4)]);
    world.reject(first, "busy as before");
    assert_eq!(world.said, ["Rejected"], "twice is enough");
    assert_eq!(world.told(), "busy as before");
    assert_eq!(world.pass_by(SECOND), []);
    assert_eq!(world.stands(first), Ended(End::Rejected));
    assert_eq!(world.stands(other), Sent);
    world.check();
}

#[test]
fn a_reject_that_comes_again_sends_nothing() {
    let mut world = at_once();
    let first = world.buy();
    for _ in 0..2 {
        world.reject_as(order(first), "busy", None);
        world.refuse(order(first), None, "busy");
    }
    assert_eq!(world.pass_by(SECOND), [id(first, 2)]);
    for _ in 0..2 {
        world.reject_as(order(first), "busy", None);
        world.refuse(order(first), None, "busy");
        assert_eq!(world.said, [""; 0]);
    }
    assert_eq!(world.pass_by(SECOND), [], "it lives under another id");
    assert_eq!(world.stands(first), Sent);
    for _ in 0..2 {
        world.refuse(id(first, 2), None, "busy");
    }
    assert_eq!(world.pass_by(SECOND), [id(first, 3)]);
    world.report(&about(first, 3, ReportKind::New));
    assert_eq!(world.stands(first), Working);
    let cancel = world.cancel(first).unwrap();
    world.reject_as(id(first, 2), "busy", None);
    assert_eq!(world.said, [""; 0]);
    world.report(&about(first, cancel, ReportKind::End(End::Cancelled)));
    assert_eq!(world.stands(first), Ended(End::Cancelled));
    world.check();
}

#[test]
fn another_line_is_not_the_one_that_rejected() {
    let mut world = world(&[rule(Remedy::AnotherLine)]);
    let line_of = |world: &World, order| {
        world
            .core
            .state()
            .orders()
            .get(order)
            .unwrap()
            .line()
            .unwrap()
    };
    let first = world.buy();
    let line = line_of(&world, first);
    let others = [world.buy(), world.buy()];
    world.reject(first, "busy");
    assert_eq!(world.pass_by(SECOND), [id(first, 4)]);
    assert_ne!(line_of(&world, first), line, "whosever turn it is");
    // Without one it waits for a while.
    let other = if line == LINES[0] { LINES[1] } else { LINES[0] };
    let here = others.into_iter().find(|it| line_of(&world, *it) == line);
    let here = here.unwrap();
    world.reject(here, "busy");
    world.line(other, false);
    assert_eq!(world.pass_by(4 * SECOND), []);
    assert_eq!(world.stands(here), Queued);
    assert_eq!(world.pass_by(2 * SECOND), []);
    assert_eq!(world.stands(here), Ended(End::Rejected));
    let second = world.buy();
    world.reject(second, "busy");
    assert_eq!(world.pass_by(2 * SECOND), []);
    world.line(other, true);
    assert_eq!(world.pass_by(SECOND).len(), 1);
    assert_eq!(line_of(&world, second), other);
    world.check();
}

#[test]
fn the_first_entry_that_fits_decides() {
    let say = |code, text: Option<&str>, say: &str| ErrorRule {
        code,
        text: text.map(Into::into),
        say: Some(say.into()),
        ..rule(Remedy::Reject)
    };
    let mut world = world(&[
        say(Some(RejectCode::Order(3)), Some("limit*"), "too large"),
        say(Some(RejectCode::Order(3)), None, "three"),
        say(Some(RejectCode::Cancel(3)), None, "no cancel"),
        say(Some(RejectCode::Business(3)), None, "no business"),
        rule(Remedy::Retry),
    ]);
    for (reason, text, told) in [
        (Some(3), "limit 5", "too large"),
        (Some(3), "busy", "three"),
        (Some(4), "limit 5", "limit 5"),
        (None, "limit 5", "limit 5"),
    ] {
        let order = world.buy();
        world.reject_as(self::order(order), text, reason);
        assert_eq!(world.told(), told);
    }
    let order = world.buy();
    world.refuse(self::order(order), Some(RejectCode::Business(3)), "busy");
    assert_eq!(world.told(), "no business");
    let order = world.buy();
    world.accept(order);
    let cancel = world.cancel(order).unwrap();
    let (code, text) = (Some(RejectCode::Cancel(3)), &b"busy"[..]);
    let reject = VenueReject {
        code,
        text,
        ..VenueReject::default()
    };
    let declined = id(order, cancel);
    world.tell(|core, at, mut sink| core.declined(at, declined, &reject, &mut sink));
    assert_eq!(world.told(), "no cancel");
    assert_eq!(world.pass_by(SECOND), []);
    // A cancel is not sent again.
    let cancel = world.cancel(order).unwrap();
    world.reject_as(id(order, cancel), "busy", None);
    assert_eq!(world.told(), "busy");
    assert_eq!(world.pass_by(SECOND), []);
    world.check();
}

#[test]
fn what_may_live_at_the_venue_is_not_sent_again() {
    let mut world = world(&[rule(Remedy::Retry)]);
    let first = world.buy();
    world.reject_as(order(first), "busy", Some(6));
    assert_eq!(world.said, ["Rejected"], "the venue has one with this id");
    let second = world.buy();
    world.accept(second);
    world.reject(second, "busy");
    assert_eq!(world.said, ["Rejected"], "it had accepted it");
    let third = world.buy();
    let line = world
        .core
        .state()
        .orders()
        .get(third)
        .unwrap()
        .line()
        .unwrap();
    world.line(line, false);
    world.line(line, true);
    world.report(&VenueReport {
        text: b"busy",
        ..about(third, third, ReportKind::Status(b'8'))
    });
    assert_eq!(world.said, ["Rejected"], "an answer to a question");
    assert_eq!(world.pass_by(SECOND), []);
    world.check();
}

#[test]
fn what_nobody_wants_any_more_is_not_sent_again() {
    let mut world = world(&[rule(Remedy::Retry)]);
    let first = world.buy();
    world.cancel(first).unwrap();
    world.reject(first, "busy");
    assert_eq!(
        world.said,
        ["Declined", "Rejected"],
        "its cancel is under way"
    );
    // Killed before the reject, and behind it.
    let (second, third) = (world.buy(), world.buy());
    world.reject(third, "busy");
    let set = |world: &mut World, state| {
        world.tell(|core, at, mut sink| {
            core.set_trading(at, Scope::Firm, state, by(b"", b""), &mut sink)
        });
    };
    set(&mut world, Trading::Killed);
    world.reject(second, "busy");
    assert_eq!(world.said, ["Rejected"]);
    assert_eq!(world.pass_by(SECOND), []);
    assert_eq!(world.stands(third), Ended(End::Cancelled));
    set(&mut world, Trading::Active);
    let (fourth, fifth) = (world.buy(), world.buy());
    world.reject(fourth, "busy");
    set(&mut world, Trading::Reducing);
    assert_eq!(world.pass_by(SECOND), []);
    assert_eq!(world.stands(fourth), Ended(End::Rejected));
    set(&mut world, Trading::Active);
    world.reject(fifth, "busy");
    world.tell(|core, at, mut sink| {
        core.set_market(
            at,
            InstrumentNo::new(0),
            Market::Halted,
            by(b"", b""),
            &mut sink,
        )
    });
    assert_eq!(world.pass_by(SECOND), []);
    assert_eq!(world.stands(fifth), Ended(End::Rejected));
    world.check();
}

#[test]
fn a_client_changes_and_cancels_what_waits() {
    let mut world = world(&[rule(Remedy::Retry)]);
    let (first, second) = (world.buy(), world.buy());
    world.reject(first, "busy");
    world.reject(second, "busy");
    world.cancel(first).unwrap();
    assert_eq!(world.said, ["CancelTaken", "Ended"]);
    world.replace(second, 30, "99").unwrap();
    assert_eq!(world.said, ["ReplaceTaken", "Replaced"]);
    let sent = world.pass_by(SECOND);
    assert_eq!(sent, [id(second, 4)], "the number it was given at first");
    let known = world.core.state().orders().get(second).unwrap();
    assert_eq!((known.quantity, known.current), (30, 4));
    // The venue knows it by that one.
    world.report(&about(second, 4, ReportKind::New));
    let replace = world.replace(second, 40, "99").unwrap();
    world.report(&about(second, replace, ReportKind::Replaced));
    let known = world.core.state().orders().get(second).unwrap();
    assert_eq!((known.quantity, known.current), (40, replace));
    world.check();
}

#[test]
fn a_venue_that_has_what_it_rejected_gets_no_other() {
    for kind in [ReportKind::New, ReportKind::Fill, ReportKind::Status(b'0')] {
        let mut world = world(&[rule(Remedy::Retry)]);
        let first = world.buy();
        world.reject(first, "busy");
        let report = VenueReport {
            exec: 7,
            last_quantity: Some(Decimal::from_int(10)),
            last_price: Some(Decimal::from_int(100)),
            // The order says whose it is.
            account: b"",
            symbol: b"",
            ..about(first, first, kind)
        };
        world.report(&report);
        assert_eq!(world.refused, Some(Why::Contradicted), "{kind:?}");
        world.report(&report);
        assert_eq!(world.said, [""; 0], "{kind:?} once more");
        let held = i128::from(kind == ReportKind::Fill) * 10;
        assert_eq!(
            world
                .core
                .state()
                .position(AccountNo::new(1), InstrumentNo::new(0))
                .net(),
            held
        );
        assert_eq!(world.pass_by(SECOND), []);
        world.check();
    }
    // It is too late when it has left: the position counts, and the order stays what it is.
    let mut world = at_once();
    let first = world.buy();
    world.reject(first, "busy");
    world.pass_by(SECOND);
    world.report(&about(first, first, ReportKind::New));
    assert_eq!(world.stands(first), Sent);
    world.fill(first, 10, "100");
    assert_eq!(world.said, ["StrayFill"]);
    assert_eq!(world.stands(first), Sent);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .net(),
        10
    );
    world.check();
}

#[test]
fn an_order_that_waits_survives_the_end_of_the_process() {
    let mut world = world(&[rule(Remedy::Retry)]);
    let first = world.buy();
    world.reject(first, "busy");
    world.restart(20_261_122);
    assert_eq!(world.pass_by(SECOND), [], "no line is up");
    world.line(LINES[0], true);
    assert_eq!(world.pass_by(SECOND), [id(first, 2)]);
    // Nothing is known of what was in flight.
    world.restart(20_261_122);
    assert_eq!(world.stands(first), OrderState::Unknown);
    assert!(!world.core.may_resend(order(first)), "it was rejected");
    assert!(world.core.may_resend(id(first, 2)));
    world.line(LINES[0], true);
    assert_eq!(world.pass_by(SECOND), [], "the venue is asked");
    world.reject(first, "busy");
    assert_eq!(world.pass_by(SECOND), [id(first, 3)]);
    world.restart(20_261_122);
    world.line(LINES[0], true);
    world.reject(first, "busy");
    assert_eq!(world.said, ["Rejected"], "twice, with those before");
    world.check();
}

#[test]
fn an_order_of_yesterday_is_not_sent_again() {
    let mut world = world(&[rule(Remedy::Retry)]);
    let day = world.buy();
    let long = world.order_with(TimeInForce::GoodTillCancel).unwrap();
    let waits = world.buy();
    world.reject(waits, "busy");
    world.restart(20_261_123);
    world.work();
    assert_eq!(world.stands(waits), Ended(End::Expired));
    assert_eq!(world.stands(day), OrderState::Lapsed);
    for line in LINES {
        world.line(line, true);
    }
    world.reject(day, "busy");
    assert_eq!(world.said, ["LapseConfirmed"]);
    world.reject(long, "busy");
    assert_eq!(world.said, ["Retried"], "it is good till cancel");
    assert_eq!(world.pass_by(SECOND).len(), 1);
    world.check();
}

#[test]
fn one_that_is_sent_again_keeps_to_the_flow() {
    let mut rules = rules(LIMITS);
    rules.groups[0].errors = [rule(Remedy::Retry)].into();
    rules.groups[0].flow = Some(super::queue::FLOW);
    rules.groups[0].queue = Some(60 * SECOND);
    let mut world = World::of(rules);
    world.line(LINES[1], false);
    let (first, second) = (world.buy(), world.buy());
    let queued = world.buy();
    world.reject(first, "busy");
    world.reject(second, "busy");
    let sent = world.pass_by(SECOND / 2);
    assert_eq!(sent, [], "the line has sent what it may");
    let sent = world.pass_by(3 * SECOND);
    assert_eq!(sent, [id(first, 4), id(second, 5), order(queued)]);
    world.check();
}

#[test]
fn a_history_says_that_it_was_sent_again() {
    let mut world = at_once();
    let first = world.buy();
    world.reject(first, "busy");
    world.pass_by(SECOND);
    world.report(&VenueReport {
        text_id: b"1",
        exec: 7,
        last_quantity: Some(Decimal::from_int(10)),
        last_price: Some(Decimal::from_int(100)),
        ..about(first, first, ReportKind::Fill)
    });
    let mut history = crate::desk::history::History::new(first, OmsState::default());
    let steps = world
        .notes
        .iter()
        .filter_map(|(_, note)| history.take(note));
    let told: Vec<String> = steps.map(|step| step.text).collect();
    assert_eq!(
        told,
        [
            "CLIENT as C1 for A1: buy 10 XYZ at 100",
            "order sent on SIM-1",
            "rejected: rejected by the venue (busy); sent again as 1-2",
            "order sent on SIM-2",
            "10 filled at 100 for 1, which is not an open order; the position includes it",
        ]
    );
}

#[test]
fn an_entry_sets_the_state_of_a_rejected_order() {
    use crate::values::value::End;
    for (state, ends) in [
        (None, End::Rejected),
        (Some(End::Rejected), End::Rejected),
        (Some(End::Expired), End::Expired),
        (Some(End::Cancelled), End::Cancelled),
    ] {
        let rule = ErrorRule {
            state,
            ..rule(Remedy::Reject)
        };
        let mut world = world(&[rule]);
        let (order, other) = (world.buy(), world.buy());
        world.reject(order, "busy now");
        assert_eq!(world.core.state().end_of(order), Some(ends));
        world.reject(other, "no");
        assert_eq!(world.core.state().end_of(other), Some(End::Rejected));
        world.check();
    }
}
