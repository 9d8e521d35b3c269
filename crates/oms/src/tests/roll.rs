//! Rolls of the trading day with live orders.

use super::*;
use crate::decide::venue::rejects::VenueReject;
use crate::state::orders::transition::OrderState::{Ended, Lapsed, Working};
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::rules::{RejectCode, StatusRule};
use crate::values::scope::Scope;
use crate::values::value::{End, Trading};

const SECOND: i64 = 1_000_000_000;

/// A roll waits for the venues.
fn waiting() -> World {
    let mut rules = rules(LIMITS);
    rules.roll_wait = 60 * SECOND;
    World::of(rules)
}

impl World {
    fn stands_as(&self, order: Number) -> crate::state::orders::transition::OrderState {
        self.core.state().orders().get(order).unwrap().state
    }

    /// An order that the venue has acknowledged.
    fn live(&mut self) -> Number {
        let order = self.order(Side::Buy, 10, "100").unwrap();
        self.accept(order);
        order
    }

    fn live_with(&mut self, tif: TimeInForce) -> Number {
        let order = self.order_with(tif).unwrap();
        self.accept(order);
        order
    }

    /// The day is over and the venue did not answer.
    fn lapsed() -> (Self, Number) {
        let mut world = waiting();
        let order = world.lapse();
        assert_eq!(world.core.state().day(), 20_261_123);
        world.check();
        (world, order)
    }

    /// An order whose end the venue does not confirm within the `roll_wait` of a minute.
    fn lapse(&mut self) -> Number {
        let order = self.live();
        self.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
        self.work();
        self.at += 61 * SECOND;
        self.work();
        assert_eq!(self.stands_as(order), Lapsed);
        order
    }

    fn reject_cancel(&mut self, order: Number, reject: &VenueReject<'_>) {
        let request = self.core.state().last;
        let id = VenueId { order, request };
        self.tell(|core, at, mut sink| core.declined(at, id, reject, &mut sink));
    }

    /// The last request that was sent, if it is of this order.
    fn last_sent_of(&self, order: Number) -> Option<Number> {
        let (id, _) = self.sent.last()?;
        (id.order == order).then_some(id.request)
    }
}

#[test]
fn a_roll_by_hand_refuses_live_orders_of_the_day() {
    let mut world = waiting();
    let stays = world.live_with(TimeInForce::GoodTillCancel);
    let order = world.live();
    let sent = world.sent.len();
    let why = world.says("ann", "roll day=2026-11-23").unwrap_err();
    assert!(why.contains("1 order of the day is live"), "{why}");
    assert!(
        why.contains("SIM-1: 1 end with the day, 1 stay") || why.contains("SIM-2"),
        "{why}"
    );
    assert!(why.contains("--cancel"), "{why}");
    assert_eq!(world.sent.len(), sent);
    let trading = |world: &World| {
        let status = crate::desk::query::answer(&world.core, b"status").unwrap();
        let values = status.lines().nth(1).unwrap();
        String::from(values.split('\t').nth(8).unwrap())
    };
    assert_eq!(trading(&world), "active");
    world.says("ann", "roll day=2026-11-23 cancel").unwrap();
    world.work();
    assert_eq!(trading(&world), "active, 2026-11-23 is starting");
    let request = world.last_sent_of(order).expect("a cancel");
    assert_eq!(
        world.core.state().day(),
        20_261_122,
        "it waits for the venue"
    );
    world.report(&about(order, request, ReportKind::End(End::Cancelled)));
    assert_eq!(world.said, ["Ended"]);
    world.work();
    assert_eq!(world.core.state().day(), 20_261_123);
    assert_eq!(trading(&world), "active");
    assert_eq!(world.stands_as(stays), Working);
    world.check();
}

#[test]
fn an_order_without_an_answer_stays_known() {
    for by_kill in [false, true] {
        let (mut world, order) = World::lapsed();
        let firm = world.core.state().firm.tally;
        assert_eq!((firm.orders, firm.buying), (1, 10), "the venue may have it");
        world.decline(world.core.state().last);
        world.sent.clear();
        if by_kill {
            world.tell(|core, at, mut sink| {
                core.set_trading(at, Scope::Firm, Trading::Killed, by(b"ann", b""), &mut sink)
            });
        } else {
            let told = world.says("ann", "cancel firm").unwrap();
            assert!(told.contains("cancelling 1 open order"), "{told}");
        }
        world.at += 6 * SECOND;
        world.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
        world.work();
        assert!(world.last_sent_of(order).is_some(), "it reaches the venue");
        world.check();
    }
}

#[test]
fn the_client_can_cancel_an_order_whose_day_is_over() {
    let (mut world, order) = World::lapsed();
    world.decline(world.core.state().last);
    assert_eq!(world.replace(order, 20, "100"), None);
    assert_eq!(world.refused, Some(Why::TooLate));
    let request = world.cancel(order).unwrap();
    assert_eq!(world.last_sent_of(order), Some(request));
    world.report(&about(order, request, ReportKind::End(End::Cancelled)));
    assert_eq!(world.said, ["Ended"], "its cancel is answered");
    world.check();
}

#[test]
fn fills_after_the_day_are_booked() {
    let (mut world, order) = World::lapsed();
    world.fill(order, 4, "100");
    assert_eq!(world.stands_as(order), Lapsed);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        4
    );
    world.restart(20_261_123);
    assert_eq!(world.stands_as(order), Lapsed, "a restart keeps it");
    world.fill(order, 6, "100");
    assert_eq!(world.stands_as(order), Ended(End::Filled));
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        10
    );
    world.check();
}

#[test]
fn the_word_of_the_venue_closes_it_without_another_report() {
    let gone = |code| VenueReject {
        code: Some(code),
        ..VenueReject::default()
    };
    let closed = |status| VenueReject {
        code: Some(RejectCode::Cancel(99)),
        status,
        ..VenueReject::default()
    };
    for (reject, is_word) in [
        (gone(RejectCode::Cancel(0)), true),
        (gone(RejectCode::Cancel(1)), true),
        (gone(RejectCode::Cancel(2)), false),
        (gone(RejectCode::Cancel(3)), false),
        (gone(RejectCode::Tmp(40_005)), true),
        (gone(RejectCode::Tmp(40_007)), true),
        (gone(RejectCode::Tmp(40_010)), true),
        (gone(RejectCode::Tmp(40_016)), false),
        (closed(b'C'), true),
        (closed(b'4'), true),
        (closed(b'8'), true),
        (closed(b'0'), false),
        (closed(b'1'), false),
    ] {
        // In the roll its client gets a report, after it the client knows.
        for is_over in [false, true] {
            let mut world = waiting();
            let order = world.live();
            world.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
            world.work();
            if is_over {
                world.at += 61 * SECOND;
                world.work();
            }
            world.reject_cancel(order, &reject);
            // Nothing of it is filled here.
            let is_other = reject.status == b'1' && !is_over;
            let told = match (is_word, is_over) {
                _ if is_other => &["Declined", "VenueBroken"][..],
                (false, _) => &["Declined"][..],
                (true, false) => &["Declined", "Ended"],
                (true, true) => &["Declined", "LapseConfirmed"],
            };
            assert_eq!(world.said, told, "{reject:?}");
            world.work();
            assert_eq!(world.core.state().day() == 20_261_123, is_word || is_over);
            world.check();
        }
    }
    for (kind, status) in [
        (ReportKind::Status(b'8'), b'8'),
        (ReportKind::Status(b'C'), b'C'),
        (ReportKind::Status(b'4'), b'4'),
        (ReportKind::End(End::Expired), b'C'),
        (ReportKind::End(End::Cancelled), b'4'),
        (ReportKind::Rejected, b'8'),
        (ReportKind::Other, b'C'),
        (ReportKind::Bust, b'4'),
    ] {
        let (mut world, order) = World::lapsed();
        let report = VenueReport {
            status,
            ..about(order, order, kind)
        };
        world.report(&report);
        assert_eq!(world.said.last().unwrap(), "LapseConfirmed", "{kind:?}");
        assert!(!world.stands_as(order).is_open());
        world.report(&report);
        assert!(world.said.is_empty(), "{kind:?} comes again");
        world.check();
    }
}

/// The events of a line that is up again, and what is sent then.
fn line_returns(world: &mut World) -> Vec<String> {
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    }
    world.sent.clear();
    let mut said = Vec::new();
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        said.extend(world.said.clone());
    }
    world.work();
    said.extend(world.said.clone());
    said
}

impl World {
    /// An order of a former day whose line was down when the day ended.
    fn lapsed_while_down() -> (Self, Number) {
        let mut world = waiting();
        let order = world.live();
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
        }
        world.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
        world.work();
        world.at += 61 * SECOND;
        world.work();
        assert_eq!(world.stands_as(order), Lapsed);
        (world, order)
    }

    /// Time passes, and what is due is done.
    pub(super) fn wait(&mut self, time: i64) -> Vec<String> {
        self.at += time;
        let mut said = Vec::new();
        loop {
            let due = self.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
            said.extend(self.said.clone());
            self.work();
            said.extend(self.said.clone());
            if due != Some(fixwire_protocol::Nanos(0)) {
                return said;
            }
        }
    }
}

#[test]
fn a_line_that_returns_asks_about_orders_of_former_days_and_cancels_what_is_open() {
    let answer = |status, filled| VenueReport {
        status,
        filled: Some(Decimal::from_int(filled)),
        ..about(1, 1, ReportKind::Status(status))
    };
    for (status, is_cancelled, is_over) in [
        (b'0', true, false),
        (b'1', true, false),
        (b'A', true, false),
        (b'E', true, false),
        (b'5', true, false),
        (b'6', false, false),
        (b'4', false, true),
        (b'C', false, true),
        (b'8', false, true),
    ] {
        for restarts in [false, true] {
            let (mut world, order) = World::lapsed_while_down();
            if restarts {
                world.restart(20_261_123);
            }
            let said = line_returns(&mut world);
            let asked = said.iter().filter(|it| *it == "Asked").count();
            assert_eq!(asked, 1, "{said:?}");
            assert_eq!(world.sent, [], "the venue's word comes first");
            world.report(&answer(status, 0));
            let cancels = |world: &World| {
                let cancels = world.sent.iter().filter(|(id, _)| id.order == order);
                cancels.count()
            };
            let said = world.said.clone();
            world.work();
            assert_eq!(said.contains(&"LapseCancelled".into()), is_cancelled);
            assert_eq!(cancels(&world), usize::from(is_cancelled), "{said:?}");
            assert_eq!(!world.stands_as(order).is_open(), is_over);
            // The same word again, and time, are no second cancel.
            world.report(&answer(status, 0));
            if is_cancelled {
                let request = world.core.state().last;
                world.report(&about(order, request, ReportKind::End(End::Cancelled)));
                assert!(world.said.contains(&"LapseConfirmed".into()));
            }
            world.wait(6 * SECOND);
            assert_eq!(cancels(&world), usize::from(is_cancelled));
            world.check();
        }
    }
}

#[test]
fn a_venue_that_answers_no_status_request_gets_the_cancel_once() {
    let (mut world, order) = World::lapsed_while_down();
    line_returns(&mut world);
    assert_eq!(world.wait(4 * SECOND), [""; 0]);
    let said = world.wait(2 * SECOND);
    assert!(said.contains(&"LapseCancelled".into()), "{said:?}");
    let request = world.last_sent_of(order).expect("a cancel");
    // It is refused: an operator's from now on, until the line returns again.
    world.reject_cancel(
        order,
        &VenueReject {
            code: Some(RejectCode::Cancel(2)),
            ..VenueReject::default()
        },
    );
    assert_eq!(world.stands_as(order), Lapsed);
    world.wait(60 * SECOND);
    assert_eq!(world.last_sent_of(order), Some(request));
    assert!(world.says("ann", "cancel firm").is_ok());
    world.work();
    let second = world.last_sent_of(order).expect("a cancel of the operator");
    assert_ne!(second, request);
    // The line breaks with it in flight: nobody knows whether the venue has it, and another one follows.
    line_returns(&mut world);
    assert_eq!(world.wait(4 * SECOND), [""; 0]);
    world.wait(2 * SECOND);
    assert!(world.last_sent_of(order).is_some_and(|it| it > second));
    world.check();
}

/// The answer to a status request: OrdStatus(39) of an order of which nothing is filled.
fn status_of(order: Number, status: u8) -> VenueReport<'static> {
    VenueReport {
        status,
        filled: Some(Decimal::from_int(0)),
        ..about(order, order, ReportKind::Status(status))
    }
}

impl World {
    /// Requests of an order that were sent since [`line_returns`].
    fn sent_of(&self, order: Number) -> usize {
        let sent = self.sent.iter().filter(|(id, _)| id.order == order);
        sent.count()
    }

    /// A cancel of a lapsed order is in flight: of the roll, the client, an operator or the kill switch.
    fn cancel_in_flight(&mut self, order: Number, whose: &str) {
        if whose != "roll" {
            self.decline(self.core.state().last);
        }
        match whose {
            "roll" => {}
            "client" => assert!(self.cancel(order).is_some()),
            "operator" => assert!(self.says("ann", "cancel firm").is_ok()),
            _ => assert!(self.says("ann", "kill firm").is_ok()),
        }
        self.work();
    }
}

#[test]
fn a_cancel_of_a_lapsed_order_that_was_lost_is_sent_again_once_for_each_logon() {
    for whose in ["roll", "client", "operator", "kill switch"] {
        for restarts in [false, true] {
            // The venue answers the status request, only with something else, or not at all.
            for answer in [Some(b'0'), Some(b'A'), Some(b'B'), None] {
                let case = format!("{whose}, {restarts}, {answer:?}");
                let (mut world, order) = World::lapsed();
                world.cancel_in_flight(order, whose);
                world.wait(6 * SECOND);
                if restarts {
                    world.restart(20_261_123);
                }
                let said = line_returns(&mut world);
                assert!(said.contains(&"Asked".into()), "{case}: {said:?}");
                assert_eq!(world.sent, [], "{case}: the venue's word comes first");
                if let Some(status) = answer {
                    world.report(&status_of(order, status));
                }
                if matches!(answer, None | Some(b'B')) {
                    assert_eq!(world.sent_of(order), 0, "{case}");
                    world.wait(5 * SECOND);
                }
                assert_eq!(world.sent_of(order), 1, "{case}");
                let again = world.core.state().last;
                // The venue ignores this cancel too, and answers that the order is open: no more until the next logon.
                for _ in 0..4 {
                    let said = world.wait(6 * SECOND);
                    assert!(!said.contains(&"LapseCancelled".into()), "{case}: {said:?}");
                    world.report(&status_of(order, b'0'));
                    let said = &world.said;
                    assert!(!said.contains(&"LapseCancelled".into()), "{case}: {said:?}");
                }
                if matches!(whose, "roll" | "client") {
                    assert_eq!(world.sent_of(order), 1, "{case}");
                    line_returns(&mut world);
                    world.report(&status_of(order, b'0'));
                    assert_eq!(world.sent_of(order), 1, "{case}: the next logon");
                    assert!(world.core.state().last > again);
                }
                world.check();
            }
        }
    }
}

#[test]
fn a_lost_cancel_that_the_venue_has_or_refuses_is_not_sent_again() {
    let refused = VenueReject {
        code: Some(RejectCode::Cancel(2)),
        ..VenueReject::default()
    };
    for is_pending in [false, true] {
        let (mut world, order) = World::lapsed();
        line_returns(&mut world);
        if is_pending {
            world.report(&status_of(order, b'6'));
            world.wait(20 * SECOND);
            assert_eq!(world.sent, []);
        }
        world.reject_cancel(order, &refused);
        world.report(&status_of(order, b'0'));
        world.wait(20 * SECOND);
        assert_eq!(world.sent, [], "an operator's from now on");
        assert_eq!(world.stands_as(order), Lapsed);
        world.check();
    }
    for status in [b'4', b'8', b'C'] {
        let (mut world, order) = World::lapsed();
        line_returns(&mut world);
        world.report(&status_of(order, status));
        assert!(!world.stands_as(order).is_open());
        world.wait(20 * SECOND);
        assert_eq!(world.sent, []);
        assert!(world.core.work.lapsed.is_empty(), "nothing is left of it");
    }
}

#[test]
fn a_cancel_that_was_lost_during_the_roll_is_sent_again_when_the_order_lapses() {
    for (answers, answers_after) in [(true, false), (true, true), (false, true)] {
        for restarts in [false, true] {
            let case = format!("{answers}, {answers_after}, {restarts}");
            let mut world = waiting();
            let order = world.live();
            world.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
            world.work();
            assert!(
                world.last_sent_of(order).is_some(),
                "the cancel of the roll"
            );
            if restarts {
                // The roll begins again, and waits for 60 s from now on.
                world.restart(20_261_123);
            }
            world.at += 58 * SECOND;
            line_returns(&mut world);
            assert_eq!(world.stands_as(order), Working, "{case}");
            if answers && !answers_after {
                world.report(&status_of(order, b'0'));
                assert_eq!(world.said, ["Declined"], "{case}");
            }
            world.wait(3 * SECOND);
            assert_eq!(world.stands_as(order), Lapsed, "{case}");
            if answers && answers_after {
                assert_eq!(world.sent_of(order), 0, "{case}");
                world.report(&status_of(order, b'0'));
            }
            if !answers {
                assert_eq!(world.sent_of(order), 0, "{case}");
                world.wait(3 * SECOND);
            }
            assert_eq!(world.sent_of(order), 1, "{case}");
            world.wait(60 * SECOND);
            world.report(&status_of(order, b'0'));
            world.wait(60 * SECOND);
            assert_eq!(world.sent_of(order), 1, "{case}: once");
            world.check();
        }
    }
    // A cancel that the venue refuses in the roll stays refused.
    let mut world = waiting();
    let order = world.live();
    world.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
    world.work();
    world.at += 58 * SECOND;
    line_returns(&mut world);
    world.reject_cancel(order, &VenueReject::default());
    world.wait(3 * SECOND);
    world.wait(60 * SECOND);
    assert_eq!((world.stands_as(order), world.sent_of(order)), (Lapsed, 0));
}

#[test]
fn a_lost_cancel_on_a_line_without_status_requests_is_sent_again() {
    for whose in ["roll", "client"] {
        let mut rules = rules(LIMITS);
        rules.roll_wait = 60 * SECOND;
        for group in &mut rules.groups {
            group.status = StatusRule::Never;
        }
        let mut world = World::of(rules);
        let order = world.lapse();
        world.cancel_in_flight(order, whose);
        line_returns(&mut world);
        let said = world.wait(6 * SECOND);
        assert!(said.contains(&"LapseCancelled".into()), "{whose}: {said:?}");
        world.wait(60 * SECOND);
        assert_eq!(world.sent_of(order), 1, "{whose}: once for a logon");
        world.check();
    }
}

#[test]
fn orders_that_are_good_for_longer_are_not_cancelled_when_their_line_returns() {
    let mut world = waiting();
    let stays = world.live_with(TimeInForce::GoodTillCancel);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    }
    world.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
    world.work();
    world.work();
    line_returns(&mut world);
    world.wait(20 * SECOND);
    assert_eq!(world.last_sent_of(stays), None);
    assert_eq!(world.stands_as(stays), Working);
    world.check();
}

#[test]
fn a_roll_at_a_start_asks_the_venue() {
    let mut world = waiting();
    let order = world.live();
    let stays = world.live_with(TimeInForce::GoodTillCancel);
    world.restart(20_261_123);
    assert!(world.said.contains(&"DayAsked".to_string()));
    world.work();
    assert_eq!(
        world.core.state().day(),
        20_261_122,
        "it waits for the lines"
    );
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::DayEnds));
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.sent.clear();
    world.work();
    assert!(world.said.contains(&"Asked".to_string()));
    assert!(world.last_sent_of(order).is_some(), "a cancel");
    // Killed in between: it is asked for once.
    let asked = |world: &World| {
        let notes = world.notes.iter();
        let events = notes.map(|(_, note)| OrderEvent::of(&note[8..]).unwrap().name());
        events.filter(|name| *name == "DayAsked").count()
    };
    world.restart(20_261_123);
    assert_eq!(asked(&world), 1);
    world.at += 61 * SECOND;
    world.work();
    assert_eq!(world.core.state().day(), 20_261_123);
    assert_eq!(world.stands_as(order), Lapsed);
    assert_eq!(world.stands_as(stays), Working);
    world.check();
}

#[test]
fn a_clock_that_is_ahead_moves_no_trading_day() {
    let mut world = waiting();
    world.restart(21_261_104);
    assert_eq!(world.core.far_day(), Some(21_261_104));
    world.work();
    assert_eq!(world.core.state().day(), 20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::DayEnds));
    // The clock is right again.
    world.tell(|core, at, mut sink| core.begin_day(at, 20_261_122, &mut sink));
    assert_eq!(world.core.far_day(), None);
    assert!(world.order(Side::Buy, 10, "100").is_some());
    world.tell(|core, at, mut sink| core.begin_day(at, 21_261_104, &mut sink));
    assert_eq!(world.core.far_day(), Some(21_261_104));
    world.check();
}

#[test]
fn numbers_do_not_come_again_after_a_new_journal() {
    let mut world = World::of(rules(LIMITS));
    let old = world.live_with(TimeInForce::GoodTillCancel);
    assert_eq!(old, 1);
    let mut last = old;
    for days in [0, 1, 30] {
        let mut core = Core::new(world.core.rules().clone());
        core.set_replaces_journal();
        world.core = core;
        world.notes.clear();
        world.at = (1_795_305_600 + days * 86_400) * SECOND;
        world.begin(20_261_122);
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        // Its ClOrdIDs have at most 20 characters before a request.
        assert!(world.core.state().last < 1 << 53);
        let order = world.order(Side::Buy, 10, "100").unwrap();
        assert!(order > last, "{order} after {last}");
        world.accept(order);
        // Of the journal before: no order of this one is filled.
        world.fill(old, 10, "100");
        assert_eq!(world.said, ["StrayFill"]);
        assert_eq!(world.core.state().orders().get(order).unwrap().filled, 0);
        world.restart(20_261_122);
        assert_eq!(world.core.state().last, order, "once");
        world.check();
        last = order;
    }
}

#[test]
fn a_trading_day_without_orders_can_be_taken_back() {
    let mut world = waiting();
    world.at = 1_795_305_600 * SECOND;
    world.says("ann", "roll day=2026-12-20").unwrap();
    world.work();
    assert_eq!(world.core.state().day(), 20_261_220);
    assert!(
        world.says("ann", "roll day=2026-01-20").is_err(),
        "too far back"
    );
    world.says("ann", "roll day=2026-11-23").unwrap();
    assert_eq!(world.core.state().day(), 20_261_123);
    assert!(world.order(Side::Buy, 10, "100").is_some());
    let why = world.says("ann", "roll day=2026-11-22").unwrap_err();
    assert!(why.contains("which has orders"), "{why}");
    world.check();
}

#[test]
fn a_roll_goes_back_to_no_day_that_cannot_go_on() {
    type Use = (&'static str, fn(&mut World, Number));
    let uses: [Use; 5] = [
        ("an order", |world, _| {
            world.order_with(TimeInForce::GoodTillCancel).unwrap();
        }),
        ("a rejected order", |world, _| {
            assert_eq!(world.order(Side::Buy, 10, "1000"), None);
        }),
        ("a fill of an order of the day before", |world, known| {
            world.fill(known, 5, "100");
        }),
        ("a cancel", |world, known| {
            world.cancel(known).unwrap();
        }),
        ("a cancel that is rejected", |world, known| {
            let request = world.cancel(known).unwrap();
            world.decline(request);
        }),
    ];
    for (what, uses) in uses {
        let mut world = waiting();
        world.at = 1_795_305_600 * SECOND;
        let known = world.live_with(TimeInForce::GoodTillCancel);
        let roll = |world: &mut World, day: &str| {
            let done = world.says("ann", &format!("roll day={day}"));
            world.work();
            done
        };
        roll(&mut world, "2026-11-23").unwrap();
        uses(&mut world, known);
        roll(&mut world, "2026-11-25").unwrap();
        world.restart(20_261_122);
        world.work();
        assert_eq!(world.core.state().day(), 20_261_125);
        let before = world.core.state().hash();
        for day in ["2026-11-23", "2026-11-22"] {
            let why = roll(&mut world, day).unwrap_err();
            assert!(
                why.starts_with("2026-11-23 has ended with orders"),
                "{what}: {why}"
            );
        }
        assert_eq!(world.core.state().hash(), before, "{what}");
        // The day after it is free, also by two steps.
        roll(&mut world, "2026-11-28").unwrap();
        roll(&mut world, "2026-11-24").unwrap();
        assert!(roll(&mut world, "2026-11-23").is_err(), "{what}");
        world.restart(20_261_122);
        assert!(roll(&mut world, "2026-11-23").is_err(), "{what}");
        assert_eq!(world.core.state().day(), 20_261_124, "{what}");
        world.check();
    }
}

#[test]
fn a_roll_from_a_day_without_anything_is_undone() {
    let mut world = waiting();
    world.at = 1_795_305_600 * SECOND;
    let open = world.live_with(TimeInForce::GoodTillCancel);
    world.says("ann", "roll day=2026-11-23").unwrap();
    world.work();
    let kept = |world: &World| {
        let state = world.core.state();
        let first = state.ids.find(CLIENT, b"C1");
        (state.ids.len(), first, state.yesterday, state.used_day)
    };
    let before = kept(&world);
    assert!(before.1.is_some(), "{before:?}");
    for day in ["2026-11-24", "2026-11-23"] {
        world.says("ann", &format!("roll day={day}")).unwrap();
        world.work();
        world.restart(20_261_122);
        assert_eq!(kept(&world), before, "{day}");
    }
    assert_eq!(world.core.state().day(), 20_261_123);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.work();
    // C1 is that of the open order.
    assert_eq!(world.order_of("C1", b"A1", Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Duplicate));
    world.fill(open, 10, "100");
    world.check();
}
