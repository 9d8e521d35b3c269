//! How parents end: by a cancel, a kill switch, the day, or their fills.

use super::*;
use crate::OrderState::Lapsed;

#[test]
fn a_cancel_of_a_parent_cancels_its_children_first() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let (first, second) = (
        world.child(parent, 40, "100"),
        world.child(parent, 30, "100"),
    );
    world.accept(first);
    world.accept(second);
    let cancel = world.cancel(parent).unwrap();
    assert_eq!(world.said, ["CancelTaken"]);
    assert_eq!(
        world.refuses(plain(10, "100", child_of(parent))),
        Why::NoParent
    );
    assert_eq!(world.cancel(parent), None);
    assert_eq!(world.refused, Some(Why::Pending));
    world.work();
    assert_eq!(world.said, ["CancelTaken", "Sent", "CancelTaken", "Sent"]);
    world.confirm_cancel(first);
    world.work();
    assert_eq!(world.stage_of(parent), Parent);
    world.check();
    // The cancel of the second is too late for some of it.
    world.fill(second, 10, "100");
    assert_eq!(world.said, ["Filled", "ParentFilled"]);
    world.confirm_cancel(second);
    world.work();
    assert_eq!(world.said, ["Ended"]);
    assert_eq!(world.stage_of(parent), Ended(End::Cancelled));
    assert_eq!(world.filled(parent), (10, 0, 100_000));
    assert!(world.core.state().orders().request(cancel).is_none());
    assert_eq!(world.usage(), (0, 0));
    world.check();
}

#[test]
fn a_parent_that_is_filled_meanwhile_is_not_cancelled() {
    let mut world = world();
    let parent = world.parent(40, "100");
    let child = world.child(parent, 40, "100");
    world.cancel(parent).unwrap();
    world.work();
    world.fill(child, 40, "100");
    assert_eq!(
        world.said,
        ["Accepted", "Filled", "ParentFilled", "Declined"],
        "the cancel of the parent is too late"
    );
    assert_eq!(world.stage_of(parent), Ended(End::Filled));
    world.check();
}

#[test]
fn a_venue_that_refuses_to_cancel_a_child_is_asked_again() {
    let mut world = world();
    let parent = world.parent(40, "100");
    let child = world.child(parent, 40, "100");
    world.accept(child);
    world.cancel(parent).unwrap();
    world.work();
    let orders = world.core.state().orders();
    let request = orders
        .request_of(orders.get(child).unwrap())
        .unwrap()
        .number;
    world.decline(request);
    world.work();
    assert_eq!(world.stage_of(parent), Parent);
    world.at += 6_000_000_000;
    world.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
    world.work();
    assert_eq!(world.said, ["CancelTaken", "Sent"]);
    world.confirm_cancel(child);
    world.work();
    assert_eq!(world.stage_of(parent), Ended(End::Cancelled));
    world.check();
}

#[test]
fn a_replace_of_a_parent_keeps_what_its_children_hold() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = world.child(parent, 50, "100");
    world.fill(child, 20, "100");
    assert_eq!(world.replace(parent, 40, "100"), None);
    assert_eq!(world.refused, Some(Why::ChildrenHold));
    world.replace(parent, 50, "99").unwrap();
    assert_eq!(world.said, ["ReplaceTaken", "Replaced"]);
    assert_eq!(world.usage().0, 30, "all of it is in the child");
    assert_eq!(
        world.refuses(plain(10, "99", child_of(parent))),
        Why::ParentQuantity
    );
    world.replace(parent, 200, "99").unwrap();
    assert_eq!(world.usage(), (180, 6_000 + 29_700));
    assert_eq!(
        world.refuses(plain(10, "99.05", child_of(parent))),
        Why::ParentTerms
    );
    world.child(parent, 150, "99");
    world.check();
    // The earlier one may keep its price, and lose quantity.
    world.replace(child, 30, "100").unwrap();
    assert_eq!(world.replace(child, 30, "100"), None, "one at a time");
    world.check();
}

#[test]
fn a_parent_that_is_replaced_to_what_is_filled_is_filled() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = world.child(parent, 50, "100");
    world.fill(child, 50, "100");
    world.work();
    assert_eq!(world.stage_of(parent), Parent);
    world.replace(parent, 10, "100").unwrap();
    assert_eq!(world.stage_of(parent), Ended(End::Filled));
    let quantity = world.core.state().orders().get(parent).unwrap().quantity;
    assert_eq!(quantity, 50);
    world.check();
}

#[test]
fn a_kill_ends_the_children_and_then_the_parent() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let alone = world.parent(10, "100");
    let child = world.child(parent, 40, "100");
    world.accept(child);
    world.command("kill account=A1");
    world.work();
    assert_eq!(world.stage_of(alone), Ended(End::Cancelled));
    assert_eq!(world.stage_of(parent), Parent);
    world.confirm_cancel(child);
    world.work();
    assert_eq!(world.stage_of(parent), Ended(End::Cancelled));
    assert_eq!(world.refuses(plain(10, "100", as_parent())), Why::Killed);
    world.check();
}

#[test]
fn families_end_with_their_day() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let (first, lost) = (
        world.child(parent, 40, "100"),
        world.child(parent, 30, "100"),
    );
    world.accept(first);
    let line = world
        .core
        .state()
        .orders()
        .get(lost)
        .unwrap()
        .line()
        .unwrap();
    world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    assert_eq!(world.stage_of(lost), Unknown);
    let alone = world.parent(10, "100");
    let stays = NewOrder {
        tif: Some(TimeInForce::GoodTillCancel),
        ..plain(10, "100", as_parent())
    };
    let stays = world.puts(stays).unwrap();
    world.restart(20_261_123);
    world.work();
    assert_eq!(world.core.state().day(), 20_261_123);
    assert_eq!(world.stage_of(first), Lapsed);
    assert_eq!(world.stage_of(alone), Ended(End::Expired));
    // The venue may still have its children.
    assert_eq!(
        (world.stage_of(parent), world.stage_of(lost)),
        (Parent, Lapsed)
    );
    assert_eq!(
        world.refuses(plain(10, "100", child_of(parent))),
        Why::NoParent
    );
    assert_eq!(world.stage_of(stays), Parent);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.child(stays, 10, "100");
    world.fill(lost, 30, "100");
    world.work();
    assert_eq!(world.stage_of(parent), Parent);
    world.report(&about(first, first, ReportKind::End(End::Expired)));
    world.work();
    assert_eq!(world.stage_of(parent), Ended(End::Expired));
    assert_eq!(world.filled(parent).0, 30);
    world.check();
}

#[test]
fn a_fill_above_a_child_ends_its_family() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let (child, other) = (
        world.child(parent, 50, "100"),
        world.child(parent, 50, "100"),
    );
    world.accept(other);
    world.fill(child, 110, "100");
    assert_eq!(world.stage_of(parent), Ended(End::Filled));
    assert_eq!(world.filled(parent).0, 110);
    world.work();
    assert_eq!(world.said, ["CancelTaken", "Sent"]);
    world.confirm_cancel(other);
    world.work();
    world.check();
}

#[test]
fn a_late_fill_counts_for_a_parent_that_has_ended() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = world.child(parent, 50, "100");
    world.accept(child);
    world.cancel(parent).unwrap();
    world.work();
    world.confirm_cancel(child);
    world.work();
    world.fill(child, 10, "100");
    assert_eq!(world.filled(parent).0, 10);
    assert_eq!(world.stage_of(parent), Ended(End::Cancelled));
    assert_eq!(world.core.state().late_fills(), 1);
    // Both leave memory one day, in any order.
    for _ in 0..8 {
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.fill(order, 10, "100");
        world.work();
    }
    assert!(world.core.state().families.is_empty());
    world.check();
}

#[test]
fn a_parent_whose_fill_is_busted_is_cancelled_as_its_child_is() {
    // The parent is filled by its child. The bust leaves the child cancelled, and the parent too.
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = world.child(parent, 100, "100");
    let fill = world.fill(child, 100, "100");
    assert_eq!(world.stage_of(parent), Ended(End::Filled));
    world.bust_as(child, fill, b'4');
    assert_eq!(world.said, ["Busted", "ParentCorrected"]);
    for order in [child, parent] {
        assert_eq!(world.stage_of(order), Ended(End::Cancelled));
        assert_eq!(world.filled(order), (0, 0, 0));
    }
    assert_eq!(world.usage(), (0, 0));
    world.check();
    // The child is cancelled first, after a part of it is filled. The parent is open, and may have other children.
    let parent = world.parent(100, "100");
    let child = world.child(parent, 100, "100");
    let fill = world.fill(child, 40, "100");
    let request = world.core.state().orders().get(child).unwrap().current;
    world.report(&about(child, request, ReportKind::End(End::Cancelled)));
    assert_eq!(world.stage_of(child), Ended(End::Cancelled));
    assert_eq!(world.stage_of(parent), Parent);
    world.bust_as(child, fill, b'4');
    assert_eq!(world.said, ["Busted", "ParentCorrected"]);
    assert_eq!(world.stage_of(child), Ended(End::Cancelled));
    assert_eq!(world.filled(child), (0, 0, 0));
    assert_eq!(
        (world.stage_of(parent), world.filled(parent)),
        (Parent, (0, 100, 0))
    );
    assert_eq!(world.usage().0, 100);
    let other = world.child(parent, 100, "100");
    world.accept(other);
    world.check();
    // With its child the parent is cancelled, and has no fill any more.
    world.cancel(parent).unwrap();
    world.work();
    world.confirm_cancel(other);
    world.work();
    assert_eq!(world.stage_of(parent), Ended(End::Cancelled));
    assert_eq!((world.filled(parent), world.usage()), ((0, 0, 0), (0, 0)));
    world.check();
}
