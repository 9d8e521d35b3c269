//! Each control at its limit, below and above it.

use super::*;
use crate::Scope;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::limits::{LimitUnit, RiskControl};
use crate::values::value::Trading;

/// The symbol is the first, the account A1 the second, its parent the first.
const SCOPES: [Scope; 5] = [
    Scope::Firm,
    Scope::Session(CLIENT),
    Scope::Account(AccountNo::new(0)),
    Scope::Account(AccountNo::new(1)),
    Scope::Instrument(InstrumentNo::new(0)),
];
const HOLDING: Scope = Scope::Holding(AccountNo::new(1), InstrumentNo::new(0));

pub fn limit(world: &mut World, scope: Scope, control: RiskControl, value: i128) {
    // Those of quantities are given in whole units.
    let value = match control.unit() {
        LimitUnit::Quantity => value * 100_000_000,
        LimitUnit::Whole | LimitUnit::Money | LimitUnit::Percent => value,
    };
    world.tell(|core, at, mut sink| {
        core.set_limit(at, scope, control, Some(value), by(b"test", b""), &mut sink)
    });
}

/// At each scope: `most` passes and what is above it does not, also by a replace, and after a restart.
fn edges(
    control: RiskControl,
    why: Why,
    value: i128,
    place: impl Fn(&mut World, bool) -> Option<u64>,
) {
    for scope in SCOPES.into_iter().chain([HOLDING]) {
        let mut world = World::new();
        limit(&mut world, scope, control, value);
        // A limit set by an operator stays.
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
        RiskControl::OrderQuantity,
        Why::OrderQuantity,
        500,
        |world, above| world.order(Side::Buy, if above { 510 } else { 500 }, "100"),
    );
}

#[test]
fn order_value() {
    // 10 × 100 × multiplier 2, in 10^-9.
    let value = 2_000 * 1_000_000_000;
    edges(RiskControl::Value, Why::Value, value, |world, above| {
        world.order(Side::Sell, 10, if above { "100.05" } else { "100" })
    });
}

#[test]
fn collar() {
    let five = 5 * 1_000_000_000;
    edges(RiskControl::Collar, Why::Collar, five, |world, above| {
        world.order(Side::Buy, 10, if above { "94.95" } else { "95" })
    });
}

#[test]
fn open_orders() {
    edges(
        RiskControl::OpenOrders,
        Why::OpenOrders,
        1,
        |world, above| {
            if above {
                let first = world.order(Side::Buy, 10, "100").unwrap();
                let second = world.order(Side::Buy, 10, "100");
                let why = world.refused;
                world.report(&about(first, first, ReportKind::Rejected));
                world.refused = why;
                return second;
            }
            world.order(Side::Buy, 10, "100")
        },
    );
}

#[test]
fn credit_counts_what_is_open_and_what_was_traded() {
    // Two orders of 2,000.
    let value = 4_000 * 1_000_000_000;
    for scope in SCOPES.into_iter().chain([HOLDING]) {
        let mut world = World::new();
        limit(&mut world, scope, RiskControl::Credit, value);
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
    edges(RiskControl::Long, Why::Long, 100, |world, above| {
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
    edges(RiskControl::Short, Why::Short, 100, |world, above| {
        world.order(Side::Sell, if above { 110 } else { 100 }, "100")
    });
}

#[test]
fn of_several_controls_the_first_decides_at_whatever_scope() {
    let controls = [
        (RiskControl::Repeated, Why::Repeated),
        (RiskControl::OrderQuantity, Why::OrderQuantity),
        (RiskControl::Value, Why::Value),
        (RiskControl::Collar, Why::Collar),
        (RiskControl::ValueSecond, Why::ValueSecond),
        (RiskControl::ValueMinute, Why::ValueMinute),
        (RiskControl::ValueDay, Why::ValueDay),
        (RiskControl::QuantitySecond, Why::QuantitySecond),
        (RiskControl::QuantityMinute, Why::QuantityMinute),
        (RiskControl::QuantityDay, Why::QuantityDay),
        (RiskControl::Rate, Why::Rate),
        (RiskControl::Unanswered, Why::Unanswered),
        (RiskControl::Ratio, Why::Ratio),
        (RiskControl::OpenOrders, Why::OpenOrders),
        (RiskControl::Credit, Why::Credit),
        (RiskControl::Long, Why::Long),
    ];
    for scopes in [[0, 3], [3, 0]] {
        let mut world = World::new();
        let scope = |place: usize| SCOPES[scopes[place % 2]];
        for (place, (control, _)) in controls.iter().enumerate() {
            limit(&mut world, scope(place), *control, 0);
        }
        for (place, (control, why)) in controls.iter().enumerate() {
            assert_eq!(world.order(Side::Buy, 10, "99"), None);
            assert_eq!(world.refused, Some(*why));
            limit(&mut world, scope(place), *control, 1 << 60);
        }
        assert!(world.order(Side::Buy, 10, "99").is_some());
        world.check();
    }
}

#[test]
fn a_replace_is_checked_as_what_it_becomes() {
    let mut world = World::new();
    limit(
        &mut world,
        Scope::Account(AccountNo::new(1)),
        RiskControl::Long,
        100,
    );
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
    for control in RiskControl::ALL.iter().filter(|it| it.is_required()) {
        let lines = LIMITS.lines();
        let kept = lines.filter(|line| {
            let code = line.split(',').nth(1).unwrap();
            !control.code().starts_with(code) || code.len() < 3
        });
        let mut limits: Vec<&str> = kept.collect();
        limits.push("");
        let mut world = World::with(&limits.join("\n"));
        let side = if *control == RiskControl::Short {
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
        world.tell(|core, at, mut sink| {
            core.set_trading(at, scope, Trading::Reducing, by(b"", b""), &mut sink)
        });
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

/// So many orders, each with another price, when the last minute is forgotten.
fn orders(world: &mut World, count: usize) -> Option<u64> {
    world.at += 70_000_000_000;
    let prices = ["100", "100.05", "100.10", "100.15"];
    let mut last = None;
    for price in &prices[..count] {
        last = world.order(Side::Buy, 10, price);
        last?;
    }
    last
}

#[test]
fn messages_and_their_quantity_in_a_time() {
    for (control, why, value) in [
        (RiskControl::Rate, Why::Rate, 2),
        (RiskControl::QuantitySecond, Why::QuantitySecond, 20),
        (RiskControl::QuantityMinute, Why::QuantityMinute, 20),
    ] {
        edges(control, why, value, |world, above| {
            orders(world, if above { 3 } else { 2 })
        });
    }
    // Two orders at 100 and 100.05, twice 10, multiplier 2: 4,001.
    let value = 4_001 * 1_000_000_000;
    for (control, why) in [
        (RiskControl::ValueSecond, Why::ValueSecond),
        (RiskControl::ValueMinute, Why::ValueMinute),
    ] {
        edges(control, why, value, |world, above| {
            orders(world, if above { 3 } else { 2 })
        });
    }
}

#[test]
fn what_passed_today_is_forgotten_tomorrow() {
    for (control, why, value) in [
        (RiskControl::QuantityDay, Why::QuantityDay, 20),
        (RiskControl::ValueDay, Why::ValueDay, 4_001 * 1_000_000_000),
    ] {
        let mut world = World::new();
        limit(
            &mut world,
            Scope::Account(AccountNo::new(0)),
            control,
            value,
        );
        assert!(orders(&mut world, 2).is_some());
        assert_eq!(orders(&mut world, 1), None, "a minute helps nothing");
        assert_eq!(world.refused, Some(why));
        world.restart(20_261_123);
        world.work();
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        assert!(orders(&mut world, 2).is_some());
        assert_eq!(orders(&mut world, 1), None);
        world.check();
    }
}

#[test]
fn a_replace_counts_for_what_it_adds() {
    let mut world = World::new();
    limit(&mut world, Scope::Firm, RiskControl::QuantityMinute, 50);
    let order = world.order(Side::Buy, 30, "100").unwrap();
    world.accept(order);
    assert_eq!(world.replace(order, 60, "100"), None);
    assert_eq!(world.refused, Some(Why::QuantityMinute));
    let request = world.replace(order, 50, "100").unwrap();
    world.report(&about(order, request, ReportKind::Replaced));
    assert!(world.replace(order, 20, "100").is_some(), "it adds nothing");
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    world.check();
}

#[test]
fn the_same_order_again() {
    edges(RiskControl::Repeated, Why::Repeated, 2, |world, above| {
        world.at += 2_000_000_000;
        assert!(world.order(Side::Buy, 20, "99").is_some(), "it is another");
        let mut last = None;
        for _ in 0..if above { 3 } else { 2 } {
            last = world.order(Side::Buy, 10, "100");
            last?;
        }
        last
    });
}

#[test]
fn cancels_have_a_rate_of_their_own() {
    let mut world = World::new();
    limit(
        &mut world,
        Scope::Session(CLIENT),
        RiskControl::CancelRate,
        1,
    );
    limit(&mut world, Scope::Firm, RiskControl::Rate, 3);
    let first = world.order(Side::Buy, 10, "100").unwrap();
    let second = world.order(Side::Buy, 10, "100").unwrap();
    let third = world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert!(world.cancel(first).is_some(), "cancels still pass");
    assert_eq!(world.cancel(second), None);
    assert_eq!(world.refused, Some(Why::CancelRate));
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            Scope::Firm,
            Trading::Killed,
            by(b"ann", b"why"),
            &mut sink,
        );
    });
    world.sent.clear();
    world.work();
    let cancelled: Vec<Number> = world.sent.iter().map(|it| it.0.order).collect();
    // The venue may never answer the client's cancel.
    assert_eq!(cancelled, [first, second, third], "a kill asks nobody");
    world.at += 2_000_000_000;
    world.check();
}

#[test]
fn replaces_of_an_order_are_counted() {
    let mut world = World::new();
    limit(
        &mut world,
        Scope::Account(AccountNo::new(1)),
        RiskControl::Replaces,
        2,
    );
    let order = world.order(Side::Buy, 10, "100").unwrap();
    for quantity in [20, 30] {
        let request = world.replace(order, quantity, "100").unwrap();
        world.report(&about(order, request, ReportKind::Replaced));
    }
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    assert_eq!(world.replace(order, 40, "100"), None);
    assert_eq!(world.refused, Some(Why::Replaces));
    assert!(world.order(Side::Buy, 10, "100").is_some());
    world.check();
}

#[test]
fn orders_that_the_venue_has_not_answered() {
    edges(
        RiskControl::Unanswered,
        Why::Unanswered,
        1,
        |world, above| {
            let first = world.order(Side::Buy, 10, "100")?;
            if !above {
                world.accept(first);
                return Some(first);
            }
            let second = world.order(Side::Buy, 10, "100");
            let why = world.refused;
            world.accept(first);
            world.refused = why;
            second
        },
    );
}

#[test]
fn messages_for_each_execution() {
    let mut world = World::new();
    limit(&mut world, Scope::Firm, RiskControl::Ratio, 2);
    let first = world.order(Side::Buy, 10, "100").unwrap();
    world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Ratio));
    world.fill(first, 5, "100");
    world.fill(first, 5, "100");
    for _ in 0..2 {
        world.order(Side::Buy, 10, "100").unwrap();
    }
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    world.check();
}

#[test]
fn executions_messages_and_losses_kill() {
    let killed = |world: &World, scope| world.core.state().trading(scope) == Trading::Killed;
    for scope in SCOPES.into_iter().chain([HOLDING]) {
        let mut world = World::new();
        limit(&mut world, scope, RiskControl::Executions, 2);
        let order = world.order(Side::Buy, 100, "100").unwrap();
        world.fill(order, 10, "100");
        world.fill(order, 10, "100");
        assert!(!killed(&world, scope), "{scope:?}");
        world.fill(order, 10, "100");
        assert!(killed(&world, scope), "{scope:?}");
        assert_eq!(world.order(Side::Buy, 10, "100"), None);
        assert_eq!(world.refused, Some(Why::Killed));
        world.check();

        // Bought 10 at 100, sold at 99: 10 × 1 × multiplier 2 are lost.
        let loss = 20 * 1_000_000_000;
        for (limited, kills) in [(loss, false), (loss - 1, true)] {
            let mut world = World::new();
            limit(&mut world, scope, RiskControl::Loss, limited);
            let order = world.order(Side::Buy, 10, "100").unwrap();
            world.fill(order, 10, "100");
            let order = world.order(Side::Sell, 10, "99").unwrap();
            world.fill(order, 10, "99");
            assert_eq!(killed(&world, scope), kills, "{scope:?}");
            world.check();
        }
    }
    for scope in &SCOPES[..2] {
        let mut world = World::new();
        limit(&mut world, *scope, RiskControl::KillRate, 2);
        world.order(Side::Buy, 10, "100").unwrap();
        assert_eq!(world.order(Side::Buy, 15, "100"), None, "no lot");
        assert!(!killed(&world, *scope));
        assert_eq!(world.order(Side::Buy, 10, "100"), None);
        assert!(killed(&world, *scope), "refused ones count");
        assert_eq!(world.refused, Some(Why::Killed));
        world.check();
    }
}

/// The scope in the reason of the last reject of an order or request.
fn rejected_at(world: &World) -> Scope {
    let events = world.notes.iter().rev();
    let mut events = events.filter_map(|(_, note)| OrderEvent::of(&note[8..]));
    let reason = events.find_map(|event| match event {
        OrderEvent::Order(
            LifecycleEvent::Rejected { reason, .. } | LifecycleEvent::Declined { reason, .. },
        ) => Some(reason),
        _ => None,
    });
    let reason = reason.unwrap();
    assert_eq!(reason.why, Why::Killed);
    reason.scope
}

#[test]
fn a_reject_names_the_scope_that_the_order_itself_killed() {
    for scope in &SCOPES[..4] {
        // A new order is the third message, or the replace of the second order.
        let mut world = World::new();
        limit(&mut world, *scope, RiskControl::KillRate, 2);
        world.order(Side::Buy, 10, "100").unwrap();
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.accept(order);
        world.at += 70 * 1_000_000_000;
        world.order(Side::Buy, 10, "100").unwrap();
        world.order(Side::Buy, 10, "100").unwrap();
        assert_eq!(world.order(Side::Buy, 10, "100"), None);
        assert_eq!(rejected_at(&world), *scope);
        world.check();

        let mut world = World::new();
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.accept(order);
        world.at += 70 * 1_000_000_000;
        limit(&mut world, *scope, RiskControl::KillRate, 0);
        world.replace(order, 20, "100");
        assert_eq!(rejected_at(&world), *scope);
        world.check();
    }
}

/// Money saturates at 10^21: a larger loss still counts, and profits elsewhere do not offset it.
#[test]
fn a_loss_beyond_counting_kills() {
    let killed = |world: &World, scope| world.core.state().trading(scope) == Trading::Killed;
    for scope in SCOPES.into_iter().chain([HOLDING]) {
        let mut world = World::new();
        limit(&mut world, scope, RiskControl::Loss, i64::MAX.into());
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.fill(order, 9_000_000_000_000_000, "90000000000000");
        assert!(!killed(&world, scope), "{scope:?}: nothing is lost yet");
        world.fill(order, 10, "1");
        assert!(killed(&world, scope), "{scope:?}");
        // It was worth more than can be counted, too.
        let traded = world.core.state().standing(scope).unwrap().tally.traded;
        assert!(traded >= 10_i128.pow(30), "{scope:?}: {traded}");
        world.check();
        world.fill(order, 10, "90000000000000");
        let gained = world.core.state().standing(scope).unwrap().tally.gained;
        assert_eq!(
            gained,
            899_999_999_999_990 * 2 * 1_000_000_000,
            "{scope:?}: it is back"
        );
        world.check();
    }
}

#[test]
fn replaces_kill_as_new_orders_do() {
    for quantity in [20, 15] {
        let mut world = World::new();
        limit(&mut world, Scope::Firm, RiskControl::KillRate, 1);
        let order = world.order(Side::Buy, 10, "100").unwrap();
        // A replace within the limits is taken and then declined, one of no whole lots is refused.
        world.replace(order, quantity, "100");
        assert_eq!(world.core.state().trading(Scope::Firm), Trading::Killed);
        assert_eq!(world.sent.len(), 1, "the order alone went out");
        world.check();
    }
}

#[test]
fn a_loss_counts_positions_at_their_last_price() {
    let mut world = World::new();
    let gained = |world: &World| world.core.state().firm.tally.gained;
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.fill(order, 20, "100");
    assert_eq!(gained(&world), 0);
    world.fill(order, 10, "99");
    // 20 that were bought at 100 are at 99, multiplier 2.
    assert_eq!(gained(&world), -40 * 1_000_000_000);
    world.restart(20_261_123);
    world.work();
    assert_eq!(gained(&world), 0, "a new day");
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    let order = world.order(Side::Sell, 30, "101").unwrap();
    world.fill(order, 30, "101");
    assert_eq!(gained(&world), 30 * 2 * 2 * 1_000_000_000);
    world.check();
}

#[test]
fn an_order_that_would_trade_with_its_owner_is_rejected() {
    let mut rules = rules(LIMITS);
    rules.rejects_self_trades = true;
    let mut world = World::of(rules);
    let buy = world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(world.order_of("s1", b"A2", Side::Sell, 10, "100"), None);
    assert_eq!(
        world.refused,
        Some(Why::SelfTrade),
        "A1 and A2 are one desk's"
    );
    assert_eq!(world.order(Side::Sell, 10, "market"), None);
    let sell = world.order(Side::Sell, 10, "100.05").unwrap();
    assert_eq!(world.order(Side::Buy, 10, "100.05"), None);
    assert_eq!(world.replace(buy, 10, "100.05"), None, "also by a replace");
    let request = world.replace(sell, 10, "100.10").unwrap();
    assert_eq!(
        world.order(Side::Buy, 10, "100.05"),
        None,
        "until it is done"
    );
    world.report(&about(sell, request, ReportKind::Replaced));
    assert!(world.order(Side::Buy, 10, "100.05").is_some());
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    assert_eq!(world.order(Side::Sell, 10, "100"), None, "after a restart");
    world.fill(sell, 10, "100.10");
    assert!(world.order(Side::Buy, 10, "100.15").is_some());
    world.check();
}

#[test]
fn a_loss_is_worth_what_the_rate_makes_of_it() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 20, "100").unwrap();
    world.fill(order, 10, "100");
    world.fill(order, 10, "99");
    let mut rules = world.core.rules().clone();
    rules.instruments[0].worth *= 10;
    world.core = Core::new(rules);
    for (_, note) in &world.notes {
        world.core.replay_note(note);
    }
    world.begin(20_261_122);
    assert_eq!(world.core.state().firm.tally.gained, -200 * 1_000_000_000);
    world.check();
}
