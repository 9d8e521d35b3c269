//! Two replaces of an order whose reports come back out of order: the venue's TransactTime(60) decides.

use super::*;
use crate::decide::venue::ReportOutcome;
use crate::state::orders::transition::OrderState;
use crate::values::value::{End, Price, Quantity};

const SECOND: i64 = 1_000_000_000;

/// An order with a replace that was given up, and one that is pending: order, first and second replace.
fn two_replaces(world: &mut World) -> [Number; 3] {
    let order = world.order(Side::Buy, 20, "100").unwrap();
    world.accept(order);
    let first = world.replace(order, 30, "101").unwrap();
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.work();
    world.report(&about(order, order, ReportKind::Status(b'0')));
    assert_eq!(world.said, ["Declined"]);
    let second = world.replace(order, 50, "102").unwrap();
    [order, first, second]
}

/// The venue has carried out a replace at this second.
fn replaced(
    order: Number,
    request: Number,
    terms: (i64, i64),
    second: i64,
) -> VenueReport<'static> {
    VenueReport {
        quantity: Some(Decimal::from_int(terms.0)),
        price: Some(Decimal::from_int(terms.1)),
        at: 1_795_334_400 * SECOND + second * SECOND,
        ..about(order, request, ReportKind::Replaced)
    }
}

fn hear(world: &mut World, report: &VenueReport<'_>) -> ReportOutcome {
    world.tell(|core, at, mut sink| core.report(at, report, &mut sink))
}

fn terms(world: &World, order: Number) -> (Quantity, Price, Number) {
    let order = world.core.state().orders().get(order).unwrap();
    (order.quantity, order.price, order.current)
}

fn state_of(world: &World, order: Number) -> OrderState {
    world.core.state().orders().get(order).unwrap().state
}

#[test]
fn the_replace_that_the_venue_carried_out_last_counts_in_each_order_of_reports() {
    for (first_at, second_at) in [(5, 7), (7, 5)] {
        for first_comes_first in [true, false] {
            let mut world = World::new();
            let [order, first, second] = two_replaces(&mut world);
            let reports = [
                replaced(order, first, (30, 101), first_at),
                replaced(order, second, (50, 102), second_at),
            ];
            let mut heard = Vec::new();
            for at in if first_comes_first { [0, 1] } else { [1, 0] } {
                heard.push(hear(&mut world, &reports[at]));
                world.check();
            }
            let wanted = match first_at > second_at {
                true => (30, 10_100, first),
                false => (50, 10_200, second),
            };
            assert_eq!(
                terms(&world, order),
                wanted,
                "{first_at} {first_comes_first}"
            );
            let is_stale = !first_comes_first && first_at < second_at;
            let last = if is_stale {
                ReportOutcome::Known
            } else {
                ReportOutcome::Taken
            };
            assert_eq!(heard, [ReportOutcome::Taken, last]);
            // Both again, and over a restart.
            world.restart(20_261_122);
            for report in &reports {
                assert_eq!(hear(&mut world, report), ReportOutcome::Known);
            }
            assert_eq!(terms(&world, order), wanted);
            let known = world.core.state().orders().get(order).unwrap();
            assert!(world.core.state().orders().request_of(known).is_none());
            world.check();
        }
    }
}

#[test]
fn at_the_same_time_the_one_counts_that_was_sent_later() {
    for turn in [[0, 1], [1, 0]] {
        let mut world = World::new();
        let [order, first, second] = two_replaces(&mut world);
        let reports = [
            replaced(order, first, (30, 101), 5),
            replaced(order, second, (50, 102), 5),
        ];
        for at in turn {
            hear(&mut world, &reports[at]);
        }
        assert_eq!(terms(&world, order), (50, 10_200, second), "{turn:?}");
        world.check();
    }
}

#[test]
fn a_late_replace_is_for_a_person_when_its_time_or_its_terms_are_missing() {
    let mut world = World::new();
    let [order, first, _] = two_replaces(&mut world);
    let report = replaced(order, first, (30, 101), 5);
    let without = [
        VenueReport { at: 0, ..report },
        VenueReport {
            quantity: None,
            price: None,
            ..report
        },
        // Nobody has asked for it.
        replaced(order, first + 7, (30, 101), 5),
    ];
    for report in &without {
        assert_eq!(hear(&mut world, report), ReportOutcome::Unreadable);
    }
    assert_eq!(terms(&world, order), (20, 10_000, order));
    world.check();
}

#[test]
fn a_late_replace_below_the_fills_ends_the_order_and_one_of_a_closed_order_changes_nothing() {
    let mut world = World::new();
    let [order, first, second] = two_replaces(&mut world);
    world.fill(order, 10, "100");
    assert_eq!(
        hear(&mut world, &replaced(order, first, (10, 101), 5)),
        ReportOutcome::Taken
    );
    assert_eq!(state_of(&world, order), OrderState::Ended(End::Filled));
    world.check();
    // The pending one raises it, which the venue did later.
    hear(&mut world, &replaced(order, second, (50, 102), 7));
    assert_eq!(state_of(&world, order), OrderState::Working);
    assert_eq!(terms(&world, order), (50, 10_200, second));
    world.report(&about(order, second, ReportKind::End(End::Cancelled)));
    world.check();
    let late = replaced(order, first, (40, 101), 9);
    assert_eq!(hear(&mut world, &late), ReportOutcome::Known);
    assert_eq!(state_of(&world, order), OrderState::Ended(End::Cancelled));
    world.check();
}

#[test]
fn what_is_known_of_late_replaces_goes_with_the_order() {
    let mut world = World::new();
    let [order, ..] = two_replaces(&mut world);
    world.report(&about(order, order, ReportKind::End(End::Cancelled)));
    assert!(!world.core.state().late.is_empty());
    for _ in 0..8 {
        let other = world.order(Side::Buy, 10, "100").unwrap();
        world.accept(other);
        world.report(&about(other, other, ReportKind::End(End::Cancelled)));
    }
    assert!(world.core.state().orders().get(order).is_none());
    assert!(world.core.state().late.is_empty());
    world.check();
}
