//! Order life cycles, report by report.

use super::*;
use crate::decide::venue::ReportOutcome;
use crate::state::orders::transition::OrderState::{Ended, Lapsed, Sent, Unknown, Working};
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::value::{End, Trading};
use crate::{OrderState, Scope};

/// No listener for events.
const NOBODY: fn(&OmsState, &OrderEvent<'_>) = |_, event| panic!("{event:?}");

impl World {
    fn state_of(&self, order: Number) -> Option<OrderState> {
        let order = self.core.state().orders().get(order);
        order.map(|order| order.state)
    }

    fn ends(&mut self, order: Number, request: Number, how: End, filled: i64) {
        let report = VenueReport {
            filled: Some(Decimal::from_int(filled)),
            ..about(order, request, ReportKind::End(how))
        };
        self.report(&report);
    }
}

#[test]
fn an_order_is_sent_accepted_and_filled() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    assert_eq!(world.said, ["Taken", "Sent"]);
    world.accept(order);
    assert_eq!(world.state_of(order), Some(Working));
    let exec = world.fill(order, 40, "99.95");
    assert_eq!(world.said, ["Filled"]);
    world.fill_again(order, 40, "99.95", exec);
    assert_eq!(world.said, [""; 0], "it came before");
    world.fill(order, 60, "100");
    assert_eq!(world.state_of(order), Some(Ended(End::Filled)));
    let position = world
        .core
        .state()
        .position(AccountNo::new(1), InstrumentNo::new(0));
    assert_eq!((position.long, position.short), (100, 0));
    // 40 × 9995 + 60 × 10000, in hundredths.
    assert_eq!(position.paid, 999_800);
    world.check();
}

#[test]
fn orders_take_turns_on_the_lines_that_are_ready() {
    let mut world = World::new();
    for _ in 0..3 {
        world.order(Side::Buy, 10, "100").unwrap();
    }
    let lines: Vec<SessionNo> = world.sent.iter().map(|(_, line)| *line).collect();
    assert_eq!(lines, [LINES[0], LINES[1], LINES[0]]);
    world.tell(|core, at, mut sink| core.line_down(at, LINES[0], &mut sink));
    world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(world.sent.last().map(|(_, line)| *line), Some(LINES[1]));
    world.tell(|core, at, mut sink| core.line_down(at, LINES[1], &mut sink));
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::NoLine));
    world.check();
}

#[test]
fn a_fill_before_the_acceptance_means_acceptance() {
    let mut world = World::new();
    let order = world.order(Side::Sell, 100, "100").unwrap();
    world.fill(order, 100, "100");
    assert_eq!(world.said, ["Accepted", "Filled"]);
    world.accept(order);
    assert_eq!(world.said, [""; 0]);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .short,
        100
    );
    world.check();
}

#[test]
fn an_end_waits_for_the_fills_that_it_counts() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    let cancel = world.cancel(order).unwrap();
    world.ends(order, cancel, End::Cancelled, 40);
    assert_eq!(world.said, ["Pended"]);
    assert_eq!(world.state_of(order), Some(Sent));
    world.check();
    world.fill(order, 40, "100");
    assert_eq!(world.said, ["Accepted", "Filled", "Ended"]);
    assert_eq!(world.state_of(order), Some(Ended(End::Cancelled)));
    world.check();
}

#[test]
fn an_end_that_waits_too_long_is_asked_about() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.ends(order, order, End::Cancelled, 40);
    let mut overdue = Vec::new();
    let at = world.at;
    assert!(
        world
            .core
            .due(at, &mut |it| overdue.push(it), &mut { NOBODY })
            .is_some()
    );
    world.at += 6_000_000_000;
    let at = world.at;
    world
        .core
        .due(at, &mut |it| overdue.push(it), &mut { NOBODY });
    assert_eq!(overdue, [order]);
    world.work();
    assert_eq!(world.said, ["Asked"]);
    // A restart does not forget it.
    world.restart(20_261_122);
    let at = world.at;
    assert!(world.core.due(at, &mut |_| {}, &mut { NOBODY }).is_some());
    world.check();
}

#[test]
fn a_late_fill_is_in_the_position_and_counted() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.ends(order, order, End::Cancelled, 0);
    world.fill(order, 30, "100");
    assert_eq!(world.state_of(order), Some(Ended(End::Cancelled)));
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        30
    );
    assert_eq!(world.core.state().late_fills(), 1);
    // Of an order that is in no memory, too.
    world.fill(99, 20, "100");
    assert_eq!(world.said, ["StrayFill"]);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        50
    );
    world.check();
}

#[test]
fn a_replaced_order_has_the_new_id_and_reserves_the_larger_of_both() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    let reserved = |world: &World| world.core.state().firm.tally.buying;
    assert_eq!(reserved(&world), 100);
    let request = world.replace(order, 300, "100.05").unwrap();
    assert_eq!(reserved(&world), 300, "while it is pending");
    assert_eq!(world.replace(order, 200, "100"), None);
    assert_eq!(world.refused, Some(Why::Pending));
    world.decline(request);
    assert_eq!(reserved(&world), 100);
    let request = world.replace(order, 300, "100.05").unwrap();
    world.report(&about(order, request, ReportKind::Replaced));
    assert_eq!(world.said, ["Replaced"]);
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!((known.quantity, known.price), (300, 10_005));
    assert_eq!(known.current, request);
    assert_eq!(known.id.to_string(), format!("C{}", world.ids));
    // Below what is filled it is amended to that, and filled then.
    world.fill(order, 50, "100");
    let request = world.replace(order, 10, "100.05").unwrap();
    world.report(&about(order, request, ReportKind::Replaced));
    assert_eq!(world.state_of(order), Some(Ended(End::Filled)));
    assert!(world.core.state().firm.tally.is_flat());
    world.check();
}

#[test]
fn a_cancel_that_crosses_the_last_fill_is_too_late() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    let cancel = world.cancel(order).unwrap();
    world.fill(order, 100, "100");
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!(
        world.core.state().orders().status(known),
        b'6',
        "until it is answered"
    );
    world.decline(cancel);
    assert_eq!(world.said, ["Declined"]);
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!(world.core.state().orders().status(known), b'2');
    assert_eq!(world.cancel(order), None);
    assert_eq!(world.refused, Some(Why::TooLate));
    world.check();
}

#[test]
fn what_was_in_flight_on_a_broken_line_is_unknown_until_the_venue_answers() {
    let mut world = World::new();
    let [lost, known, rejected] = [(), (), ()].map(|()| world.order(Side::Buy, 10, "100").unwrap());
    world.accept(known);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    }
    assert_eq!(world.state_of(lost), Some(Unknown));
    assert_eq!(world.state_of(known), Some(Working));
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    let sent = world.sent.len();
    world.work();
    assert_eq!(world.said, ["Asked", "Asked"]);
    assert_eq!(world.sent.len(), sent, "nothing is sent again");
    world.report(&about(lost, lost, ReportKind::Status(b'0')));
    assert_eq!(world.state_of(lost), Some(Working));
    world.report(&about(rejected, rejected, ReportKind::Status(b'8')));
    assert_eq!(world.state_of(rejected), Some(Ended(End::Rejected)));
    world.report(&about(known, known, ReportKind::Status(b'8')));
    assert_eq!(
        world.state_of(known),
        Some(Unknown),
        "it was accepted before"
    );
    world.report(&about(known, known, ReportKind::Status(b'0')));
    assert_eq!(
        world.state_of(known),
        Some(Working),
        "the venue has it after all"
    );
    world.check();
}

#[test]
fn a_venue_that_answers_by_the_id_of_a_lost_replace_has_carried_it_out() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 20, "100").unwrap();
    world.accept(order);
    let lost = world.replace(order, 10, "100").unwrap();
    let answer = |world: &mut World, request| {
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        world.work();
        let report = VenueReport {
            quantity: Some(Decimal::from_int(10)),
            ..about(order, request, ReportKind::Status(b'0'))
        };
        world.report(&report);
        world.said.clone()
    };
    assert_eq!(answer(&mut world, lost), ["Replaced"]);
    // Its own report came late.
    let late = |world: &mut World, request| {
        let report = about(order, request, ReportKind::Replaced);
        world.tell(|core, at, mut sink| core.report(at, &report, &mut sink))
    };
    assert_eq!(late(&mut world, lost), ReportOutcome::Known);
    assert_eq!(world.core.state().orders().get(order).unwrap().quantity, 10);

    let refused = world.replace(order, 30, "100").unwrap();
    assert_eq!(answer(&mut world, lost), ["Declined"]);
    // The client received another state: an operator has to check.
    assert_eq!(late(&mut world, refused), ReportOutcome::Unreadable);
    world.check();
}

#[test]
fn a_kill_switch_cancels_what_is_open_and_stays_on_after_a_restart() {
    let mut world = World::new();
    let orders: Vec<Number> = (0..5)
        .map(|_| world.order(Side::Buy, 10, "100").unwrap())
        .collect();
    world.replace(orders[0], 20, "100").unwrap();
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            Scope::Account(AccountNo::new(0)),
            Trading::Killed,
            by(b"ann", b"test"),
            &mut sink,
        )
    });
    // Its process dies in the middle.
    world.tell(|core, at, mut sink| core.work(at, &mut sink));
    world.tell(|core, at, mut sink| core.work(at, &mut sink));
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.work();
    let orders_of = |world: &World| {
        let mut cancelled: Vec<Number> = world.sent.iter().map(|(id, _)| id.order).collect();
        cancelled.drain(..6);
        cancelled.sort_unstable();
        cancelled
    };
    // That with a pending replace too: it may never be answered.
    assert_eq!(orders_of(&world), orders, "each once");
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Killed));
    let new = |order| VenueId {
        order,
        request: order,
    };
    assert!(!world.core.may_resend(new(orders[1])));
    world.check();
}

#[test]
fn a_new_day_ends_day_orders_and_frees_ids() {
    let mut world = World::new();
    let order = world.order_of("X", b"A1", Side::Buy, 10, "100").unwrap();
    world.fill(order, 10, "100");
    let working = world.order_of("Y", b"A1", Side::Buy, 10, "100").unwrap();
    world.accept(working);
    let unknown = world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(world.order_of("X", b"A1", Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Duplicate));
    world.restart(20_261_123);
    world.work();
    assert_eq!(world.said, ["Lapsed", "Lapsed", "Day"]);
    for order in [working, unknown] {
        assert_eq!(world.state_of(order), Some(Lapsed), "only the venue knows");
        world.report(&about(order, order, ReportKind::Status(b'8')));
    }
    let state = world.core.state();
    assert!(state.firm.tally.is_flat());
    assert_eq!(state.firm.tally.traded, 0);
    assert_eq!(
        state.position(AccountNo::new(1), InstrumentNo::new(0)).long,
        10,
        "it stays"
    );
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    assert!(world.order_of("X", b"A1", Side::Buy, 10, "100").is_some());
    world.check();
}

#[test]
fn an_order_that_stays_over_the_day_can_still_be_cancelled() {
    let mut world = World::new();
    let new = NewOrder {
        is_located: false,
        own_number: b"",
        route: None,
        terms: crate::Terms::NONE,
        until: None,
        effect: Some(crate::values::value::Effect::Netting),
        session: CLIENT,
        id: b"G",
        account: b"A1",
        symbol: b"XYZ",
        side: Some(Side::Buy),
        kind: Some(OrderType::Limit),
        tif: Some(TimeInForce::GoodTillCancel),
        price: Some(Decimal::from_int(100)),
        stop: None,
        quantity: Decimal::from_int(10),
    };
    world.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
    let order = world.core.state().last;
    world.accept(order);
    world.restart(20_261_123);
    world.work();
    assert_eq!(world.core.state().day(), 20_261_123);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    assert_eq!(world.order_of("G", b"A1", Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Duplicate));
    assert!(world.cancel(order).is_some(), "{:?}", world.refused);
    world.check();
}

#[test]
fn a_request_that_the_venue_never_got_is_answered() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    world.cancel(order).unwrap();
    world.tell(|core, at, mut sink| core.line_down(at, LINES[0], &mut sink));
    world.core.set_reset(LINES[0]);
    world.tell(|core, at, mut sink| core.line_up(at, LINES[0], &mut sink));
    world.work();
    assert_eq!(world.said, ["Asked"]);
    world.report(&about(order, order, ReportKind::Status(b'6')));
    assert_eq!(world.said, [""; 0], "the venue has it");
    world.report(&about(order, order, ReportKind::Status(b'0')));
    assert_eq!(world.said, ["Declined"]);
    assert!(world.cancel(order).is_some());
    world.check();
}

#[test]
fn after_a_reset_every_open_order_of_the_line_is_asked_about() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    world.core.set_reset(LINES[0]);
    world.tell(|core, at, mut sink| core.line_down(at, LINES[0], &mut sink));
    world.tell(|core, at, mut sink| core.line_up(at, LINES[0], &mut sink));
    world.work();
    assert_eq!(world.said, ["Asked"]);
    let report = VenueReport {
        filled: Some(Decimal::from_int(10)),
        ..about(order, order, ReportKind::Status(b'2'))
    };
    let heard = world.tell(|core, at, mut sink| core.report(at, &report, &mut sink));
    assert_eq!(heard, ReportOutcome::FillsMissing(order));
    world.check();
}

#[test]
fn a_cancel_of_ours_that_is_refused_is_tried_again_after_a_while() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            Scope::Firm,
            Trading::Killed,
            by(b"ann", b"test"),
            &mut sink,
        )
    });
    world.work();
    let cancel = world.core.state().last;
    world.decline(cancel);
    assert!(!world.core.has_work(world.at), "not at once");
    let at = world.at;
    assert!(world.core.due(at, &mut |_| {}, &mut { NOBODY }).is_some());
    world.at += 6_000_000_000;
    let at = world.at;
    world.core.due(at, &mut |_| {}, &mut { NOBODY });
    world.work();
    assert_eq!(world.said, ["CancelTaken", "Sent"]);
    world.check();
}

#[test]
fn a_refused_cancel_takes_no_name_from_a_live_order() {
    let mut world = World::new();
    let order = world.order_of("A", b"A1", Side::Buy, 10, "100").unwrap();
    let change = Change {
        order_id: None,
        session: CLIENT,
        kind: RequestKind::Cancel,
        id: b"A",
        original: b"unknown",
        symbol: b"XYZ",
        side: None,
        quantity: None,
        price: None,
        valid_for: None,
        others: Others::default(),
    };
    world.tell(|core, at, mut sink| core.change(at, &change, &mut sink));
    assert_eq!(world.refused, Some(Why::Duplicate));
    assert!(world.cancel(order).is_some());
    world.check();
}

#[test]
fn a_replace_that_would_change_something_else_is_refused() {
    let mut world = World::new();
    let order = world.order_of("A", b"A1", Side::Buy, 10, "100").unwrap();
    for others in [
        Others {
            account: b"A2",
            ..Others::default()
        },
        Others {
            kind: Some(b'1'),
            ..Others::default()
        },
        Others {
            tif: Some(b'3'),
            ..Others::default()
        },
        Others {
            stop: Some(Decimal::from_int(99)),
            ..Others::default()
        },
    ] {
        world.ids += 1;
        let id = format!("R{}", world.ids);
        let change = Change {
            order_id: None,
            session: CLIENT,
            kind: RequestKind::Replace,
            id: id.as_bytes(),
            original: b"A",
            symbol: b"XYZ",
            side: None,
            quantity: None,
            price: None,
            valid_for: None,
            others,
        };
        world.tell(|core, at, mut sink| core.change(at, &change, &mut sink));
        assert_eq!(world.refused, Some(Why::Unchangeable), "{others:?}");
    }
    assert!(world.replace(order, 20, "100").is_some());
    world.check();
}

#[test]
fn a_report_of_another_symbol_or_side_changes_no_order() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    for (symbol, side) in [(&b"ABC"[..], Side::Buy), (b"XYZ", Side::Sell)] {
        let report = VenueReport {
            symbol,
            side: Some(side),
            ..about(order, order, ReportKind::End(End::Cancelled))
        };
        let heard = world.tell(|core, at, mut sink| core.report(at, &report, &mut sink));
        assert_eq!(heard, ReportOutcome::Unknown);
    }
    assert_eq!(world.state_of(order), Some(Sent));
    world.check();
}

#[test]
fn a_fill_that_is_repeated_after_its_order_left_memory_counts_once() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    let exec = world.fill(order, 10, "100");
    for _ in 0..10 {
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.fill(order, 10, "100");
    }
    assert!(world.core.state().orders().get(order).is_none());
    world.fill_again(order, 10, "100", exec);
    world.fill_again(999, 10, "100", 12_345);
    world.fill_again(999, 10, "100", 12_345);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        120
    );
    world.check();
}

#[test]
fn an_instrument_with_a_finer_tick_keeps_what_was_priced() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 20, "100").unwrap();
    world.fill(order, 10, "99.95");
    let mut rules = world.core.rules().clone();
    let rule = &mut rules.instruments[0];
    (rule.scale, rule.tick, rule.reference) = (3, 5, Some(100_000));
    let mut core = Core::new(rules);
    for (_, note) in &world.notes {
        core.replay_note(note);
    }
    let reserved = core.state().firm.tally.reserved;
    world.core = core;
    world.begin(20_261_122);
    let state = world.core.state();
    let known = state.orders().get(order).unwrap();
    assert_eq!(
        (state.scale(InstrumentNo::new(0)), known.price, known.paid),
        (3, 100_000, 999_500)
    );
    assert_eq!(state.firm.tally.reserved, reserved);
    assert_eq!(
        state.position(AccountNo::new(1), InstrumentNo::new(0)).paid,
        999_500
    );
    world.check();
}

#[test]
fn orders_that_have_ended_leave_memory_their_ids_stay_known() {
    let mut world = World::new();
    let first = world.order_of("F", b"A1", Side::Buy, 10, "100").unwrap();
    world.fill(first, 10, "100");
    for _ in 0..10 {
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.fill(order, 10, "100");
    }
    assert_eq!(world.core.state().orders().len(), 4);
    assert_eq!(world.order_of("F", b"A1", Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Duplicate));
    world.check();
}

#[test]
fn a_refusal_of_a_request_of_another_order_changes_nothing() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    let other = world.order(Side::Buy, 10, "100").unwrap();
    let cancel = world.cancel(order).unwrap();
    world.report(&about(other, cancel, ReportKind::Rejected));
    let known = |world: &World| world.core.state().orders().request(cancel).is_some();
    assert!(known(&world));
    world.report(&about(order, cancel, ReportKind::Rejected));
    assert!(!known(&world));
    world.check();
}

#[test]
fn a_cancel_that_came_after_the_last_fill_is_too_late() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 20, "100").unwrap();
    let cancel = world.cancel(order).unwrap();
    world.ends(order, cancel, End::Cancelled, 20);
    assert_eq!(world.said, ["Pended"]);
    world.fill(order, 20, "100");
    assert_eq!(world.state_of(order), Some(Ended(End::Filled)));
    assert!(world.core.state().orders().request(cancel).is_none());
    world.check();
}

#[test]
fn a_request_whose_order_has_ended_at_the_venue_is_answered() {
    for is_replace in [false, true] {
        let mut world = World::new();
        let order = world.order(Side::Buy, 20, "100").unwrap();
        world.accept(order);
        let request = match is_replace {
            true => world.replace(order, 30, "100"),
            false => world.cancel(order),
        };
        let request = request.unwrap();
        let named = if is_replace { order } else { request };
        let ended = VenueReport {
            status: b'4',
            filled: Some(Decimal::from_int(10)),
            ..about(order, named, ReportKind::Status(b'4'))
        };
        world.report(&ended);
        assert_eq!(world.said[0], "Pended");
        let mut said = Vec::new();
        for _ in 0..4 {
            said.extend(world.wait(5_000_000_000));
            world.report(&ended);
        }
        assert!(said.contains(&"Asked".into()), "of the missing fill");
        for none in ["Unanswered", "NoAnswer"] {
            assert!(!said.contains(&none.into()), "{said:?}");
        }
        world.restart(20_261_122);
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        let said = world.wait(6_000_000_000);
        assert!(!said.contains(&"NoAnswer".into()), "{said:?}");
        world.fill(order, 10, "100");
        assert_eq!(world.state_of(order), Some(Ended(End::Cancelled)));
        assert!(world.core.state().orders().request(request).is_none());
        world.check();
    }
}
