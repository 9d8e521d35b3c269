//! Market states and restricted symbols.

use super::*;
use crate::values::ids::InstrumentNo;
use crate::values::rules::Restricted;
use crate::values::value::Market;

#[test]
fn markets_take_what_they_allow() {
    let mut world = World::new();
    let set = |world: &mut World, state| {
        world.tell(|core, at, mut sink| {
            core.set_market(
                at,
                InstrumentNo::new(0),
                state,
                by(b"ann", b"why"),
                &mut sink,
            )
        });
    };
    let order = world.order(Side::Buy, 10, "100").unwrap();
    for state in [Market::Halted, Market::Closed] {
        set(&mut world, state);
        world.restart(20_261_122);
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        assert_eq!(world.order(Side::Buy, 10, "100"), None);
        assert_eq!(world.refused, Some(Why::Market));
        assert_eq!(world.replace(order, 20, "100"), None);
    }
    set(&mut world, Market::Auction);
    assert!(world.order(Side::Buy, 10, "100").is_some());
    assert!(world.order_with(TimeInForce::ImmediateOrCancel).is_none());
    set(&mut world, Market::Open);
    assert!(world.order_with(TimeInForce::ImmediateOrCancel).is_some());
    set(&mut world, Market::Closed);
    assert!(world.cancel(order).is_some(), "cancels pass");
    world.check();
}

#[test]
fn a_venue_sets_the_state_of_a_symbol_or_of_all_its_symbols() {
    let mut world = World::new();
    let hear = |world: &mut World, line, symbol: &[u8], state| {
        world.tell(|core, at, mut sink| {
            core.venue_market(at, line, symbol, state, b"a status", &mut sink)
        })
    };
    let states = |world: &World| {
        [0, 1]
            .map(InstrumentNo::new)
            .map(|index| world.core.state().market(index))
    };
    assert_eq!(hear(&mut world, LINES[0], b"", Market::Closed), 2);
    assert_eq!(states(&world), [Market::Closed, Market::Closed]);
    assert_eq!(
        hear(&mut world, LINES[1], b"", Market::Closed),
        0,
        "it is known"
    );
    assert_eq!(world.said, [""; 0]);
    assert_eq!(hear(&mut world, LINES[0], b"ABC", Market::Auction), 1);
    assert_eq!(hear(&mut world, LINES[0], b"NONE", Market::Open), 0);
    assert_eq!(
        hear(&mut world, CLIENT, b"ABC", Market::Open),
        0,
        "it is no line"
    );
    world.restart(20_261_122);
    assert_eq!(states(&world), [Market::Closed, Market::Auction]);
    world.line(LINES[0], true);
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Market));
    assert_eq!(hear(&mut world, LINES[0], b"", Market::Open), 2);
    assert!(world.order(Side::Buy, 10, "100").is_some());
    world.check();
}

#[test]
fn restricted_symbols_are_not_traded() {
    let restricted = |what, from, to| {
        let mut rules = rules(LIMITS);
        rules.restricted.push(crate::values::rules::RestrictedRule {
            symbol: "X*".into(),
            account: "A1".into(),
            from,
            to,
            what,
        });
        World::of(rules)
    };
    let all = (None, None);
    for (what, buy, sell, short) in [
        (Restricted::All, false, false, false),
        (Restricted::Buy, false, true, true),
        (Restricted::Sell, true, false, false),
        (Restricted::Short, true, true, false),
        (Restricted::Locate, true, true, false),
    ] {
        let mut world = restricted(what, all.0, all.1);
        for (side, passes) in [
            (Side::Buy, buy),
            (Side::Sell, sell),
            (Side::SellShort, short),
            (Side::SellShortExempt, short),
        ] {
            assert_eq!(world.order(side, 10, "100").is_some(), passes, "{what:?}");
        }
        assert!(
            world
                .order_of("o", b"A2", Side::SellShort, 10, "100")
                .is_some()
        );
        world.check();
    }
    for (from, to, passes) in [
        (Some(20_261_122), Some(20_261_122), false),
        (Some(20_261_123), None, true),
        (None, Some(20_261_121), true),
    ] {
        let mut world = restricted(Restricted::All, from, to);
        assert_eq!(world.order(Side::Buy, 10, "100").is_some(), passes);
    }
}
