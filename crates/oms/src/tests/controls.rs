//! Each control at its limit, below and above it.

use super::*;
use crate::Scope;
use crate::limits::Control;
use crate::value::Trading;

/// The symbol is the first, the account A1 the second, its parent the first.
const SCOPES: [Scope; 5] = [
    Scope::Firm,
    Scope::Session(CLIENT),
    Scope::Account(0),
    Scope::Account(1),
    Scope::Instrument(0),
];
const HOLDING: Scope = Scope::Holding(1, 0);

fn limit(world: &mut World, scope: Scope, control: Control, value: i128) {
    let limit = (scope, control, Some(value));
    world.tell(|core, at, mut sink| core.set_limit(at, limit, (b"test", b""), &mut sink));
}

/// At each scope: `most` passes and what is above it does not, also by a replace, and after a restart.
fn edges(control: Control, why: Why, value: i128, place: impl Fn(&mut World, bool) -> Option<u64>) {
    for scope in SCOPES.into_iter().chain([HOLDING]) {
        let mut world = World::new();
        limit(&mut world, scope, control, value);
        // What a person has set stays set.
        world.restart(20_261_122);
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        assert_eq!(place(&mut world, true), None, "{scope:?}");
        assert_eq!(world.refused, Some(why), "{scope:?}");
        assert!(
            place(&mut world, false).is_some(),
            "{scope:?}: {:?}",
            world.refused
        );
        limit(&mut world, scope, control, value - 1);
        assert_eq!(place(&mut world, false), None, "{scope:?}");
        world.check();
    }
}

#[test]
fn order_quantity() {
    edges(
        Control::OrderQuantity,
        Why::OrderQuantity,
        500,
        |world, above| world.order(Side::Buy, if above { 510 } else { 500 }, "100"),
    );
}

#[test]
fn order_value() {
    // 10 × 100 × multiplier 2, in 10^-9.
    let value = 2_000 * 1_000_000_000;
    edges(Control::Value, Why::Value, value, |world, above| {
        world.order(Side::Sell, 10, if above { "100.05" } else { "100" })
    });
}

#[test]
fn collar() {
    let five = 5 * 1_000_000_000;
    edges(Control::Collar, Why::Collar, five, |world, above| {
        world.order(Side::Buy, 10, if above { "94.95" } else { "95" })
    });
}

#[test]
fn open_orders() {
    edges(Control::OpenOrders, Why::OpenOrders, 1, |world, above| {
        if above {
            let first = world.order(Side::Buy, 10, "100").unwrap();
            let second = world.order(Side::Buy, 10, "100");
            let why = world.refused;
            world.report(&about(first, first, ReportKind::Rejected));
            world.refused = why;
            return second;
        }
        world.order(Side::Buy, 10, "100")
    });
}

#[test]
fn credit_counts_what_is_open_and_what_was_traded() {
    // Two orders of 2,000.
    let value = 4_000 * 1_000_000_000;
    for scope in SCOPES.into_iter().chain([HOLDING]) {
        let mut world = World::new();
        limit(&mut world, scope, Control::Credit, value);
        let first = world.order(Side::Buy, 10, "100").unwrap();
        world.fill(first, 10, "100");
        let second = world.order(Side::Sell, 10, "100").unwrap();
        assert_eq!(world.order(Side::Buy, 10, "100"), None);
        assert_eq!(world.refused, Some(Why::Credit));
        world.report(&about(second, second, ReportKind::Rejected));
        assert!(
            world.order(Side::Buy, 10, "100").is_some(),
            "it was released"
        );
        world.check();
    }
}

#[test]
fn positions_count_every_order_that_may_fill() {
    edges(Control::Long, Why::Long, 100, |world, above| {
        if above {
            let first = world.order(Side::Buy, 50, "100").unwrap();
            let second = world.order(Side::Buy, 60, "100");
            let why = world.refused;
            world.report(&about(first, first, ReportKind::Rejected));
            world.refused = why;
            return second;
        }
        world.order(Side::Buy, 100, "100")
    });
    edges(Control::Short, Why::Short, 100, |world, above| {
        world.order(Side::Sell, if above { 110 } else { 100 }, "100")
    });
}

#[test]
fn a_replace_is_checked_as_what_it_becomes() {
    let mut world = World::new();
    limit(&mut world, Scope::Account(1), Control::Long, 100);
    let order = world.order(Side::Buy, 50, "100").unwrap();
    world.accept(order);
    world.fill(order, 20, "100");
    assert_eq!(world.replace(order, 110, "100"), None);
    assert_eq!(world.refused, Some(Why::Long));
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!(
        (known.quantity, known.leaves()),
        (50, 30),
        "it is as it was"
    );
    assert!(world.replace(order, 100, "100").is_some());
    world.check();
}

#[test]
fn a_control_without_a_limit_refuses() {
    for control in Control::ALL {
        let lines = LIMITS.lines();
        let kept = lines.filter(|line| {
            let code = line.split(',').nth(1).unwrap();
            !control.code().starts_with(code) || code.len() < 3
        });
        let mut limits: Vec<&str> = kept.collect();
        limits.push("");
        let mut world = World::with(&limits.join("\n"));
        let side = if *control == Control::Short {
            Side::Sell
        } else {
            Side::Buy
        };
        assert_eq!(world.order(side, 10, "100"), None, "{control}");
        assert_eq!(world.refused, Some(Why::NoLimit), "{control}");
    }
}

#[test]
fn ticks_lots_and_unknown_names() {
    let mut world = World::new();
    let mut refused = |quantity, price| {
        assert_eq!(world.order(Side::Buy, quantity, price), None);
        world.refused
    };
    assert_eq!(refused(10, "100.01"), Some(Why::Tick));
    assert_eq!(refused(10, "100.001"), Some(Why::Tick));
    assert_eq!(refused(15, "100"), Some(Why::Lot));
    assert_eq!(refused(0, "100"), Some(Why::Lot));
    assert_eq!(refused(-10, "100"), Some(Why::Number));
    assert_eq!(refused(10, "9223372036854775807"), Some(Why::Number));
    assert_eq!(world.order_of("a", b"DESK", Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Account), "not of this session");
    assert_eq!(world.order_of("b", b"B1", Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Account));
    assert!(world.order_of("c", b"", Side::Buy, 10, "100").is_some());
    world.check();
}

#[test]
fn reducing_lets_only_smaller_positions_pass() {
    for scope in SCOPES.into_iter().chain([HOLDING]) {
        let mut world = World::new();
        let order = world.order(Side::Buy, 100, "100").unwrap();
        world.fill(order, 100, "100");
        let reducing = (scope, Trading::Reducing);
        world.tell(|core, at, mut sink| core.set_trading(at, reducing, (b"", b""), &mut sink));
        assert_eq!(world.order(Side::Buy, 10, "100"), None);
        assert_eq!(world.refused, Some(Why::Reducing));
        assert_eq!(world.order(Side::Sell, 110, "100"), None, "beyond flat");
        assert!(world.order(Side::Sell, 60, "100").is_some());
        assert_eq!(
            world.order(Side::Sell, 50, "100"),
            None,
            "with what is open"
        );
        assert!(world.order(Side::Sell, 40, "100").is_some());
        world.check();
    }
}

#[test]
fn a_market_order_is_reserved_above_the_reference_price() {
    let mut world = World::new();
    world.order(Side::Buy, 10, "market").unwrap();
    // 10 × 120 × multiplier 2, in 10^-9.
    assert_eq!(
        world.core.state().firm.tally.reserved,
        2_400 * 1_000_000_000
    );
    world.check();
}
