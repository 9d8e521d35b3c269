//! The history of an order from the journal.

use std::string::String;
use std::vec::Vec;

use super::{LINES, World, about};
use crate::decide::venue::ReportKind;
use crate::desk::history::History;
use crate::state::OmsState;
use crate::values::value::{End, Number, Side, TimeInForce};

/// ExecID(17) of the last event in a report.
fn last_exec(world: &World) -> u64 {
    world.core.state().events()
}

pub fn told(world: &World, order: Number) -> Vec<String> {
    let mut history = History::new(order, OmsState::default());
    let steps = world
        .notes
        .iter()
        .filter_map(|(_, note)| history.take(note));
    steps.map(|step| step.text).collect()
}

#[test]
fn everything_that_happens_to_an_order_is_told() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100.05").unwrap();
    let other = world.order(Side::Sell, 10, "101").unwrap();
    world.accept(order);
    let replace = world.replace(order, 200, "99.95").unwrap();
    world.report(&about(order, replace, ReportKind::Replaced));
    let refused = world.replace(order, 5_000, "100");
    assert_eq!(refused, None);
    let declined = world.cancel(order).unwrap();
    world.decline(declined);
    let line = LINES[0];
    world.fill(order, 40, "99.95");
    let exec = last_exec(&world);
    world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    let cancel = world.cancel(order).unwrap();
    world.report(&about(
        order,
        cancel,
        ReportKind::End(crate::End::Cancelled),
    ));
    let filled = std::format!("40 filled at 99.95, ExecID {exec}");
    assert_eq!(
        told(&world, order),
        [
            "CLIENT as C1 for A1: buy 100 XYZ at 100.05",
            "order sent on SIM-1",
            "accepted by the venue, OrderID V",
            "replace 3 requested as C3: 200 at 99.95",
            "request 3 sent on SIM-1",
            "replace 3 accepted: 200 at 99.95",
            "replace C4 rejected: RC6: order quantity exceeds the limit (5000, at most 1000 for firm)",
            "cancel 4 requested as C5",
            "request 4 sent on SIM-1",
            "request 4 rejected: rejected by the venue (no)",
            &filled,
            "SIM-1 disconnected: requests without an answer are in state unknown",
            "cancel 5 requested as C6",
            "request 5 sent on SIM-1",
            "cancelled",
        ]
    );
    world.fill(other, 10, "101");
    let filled = std::format!("10 filled at 101, ExecID {}", last_exec(&world));
    world.tell(|core, at, mut sink| core.line_down(at, LINES[1], &mut sink));
    let told_of_other = [
        "CLIENT as C2 for A1: sell 10 XYZ at 101",
        "order sent on SIM-2",
        "accepted by the venue, OrderID V",
        &filled,
    ];
    assert_eq!(told(&world, other), told_of_other);
    assert_eq!(told(&world, 99), [""; 0]);
    // The number of a replace or cancel is no order.
    for request in [replace, cancel] {
        assert_eq!(told(&world, request), [""; 0]);
    }
}

#[test]
fn a_day_that_is_done_and_the_next_one_are_told() {
    let mut world = World::new();
    let order = world.order_with(TimeInForce::GoodTillCancel).unwrap();
    world.accept(order);
    world.report(&about(order, order, ReportKind::End(End::DoneForDay)));
    world.report(&about(order, order, ReportKind::Renewed));
    world.report(&about(order, order, ReportKind::End(End::DoneForDay)));
    world.restart(20_261_123);
    world.work();
    let told = told(&world, order);
    assert_eq!(
        told[told.len() - 5..],
        [
            "done for the day, until the next trading day",
            "working again: reported by the venue",
            "done for the day, until the next trading day",
            "SIM-1 disconnected: requests without an answer are in state unknown",
            "working again: a new trading day started",
        ]
    );
    world.check();
}
