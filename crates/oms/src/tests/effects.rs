//! PositionEffect(77): long and short positions side by side.

use super::by;
use super::controls::limit;
use super::*;
use crate::Scope;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::limits::RiskControl;
use crate::values::value::{Effect, Trading};

/// A world with separate long and short positions.
pub(super) fn with_effect() -> World {
    let mut rules = rules(LIMITS);
    rules.instruments[0].has_effect = true;
    World::of(rules)
}

impl World {
    pub(super) fn order_that(
        &mut self,
        effect: Effect,
        side: Side,
        quantity: i64,
    ) -> Option<Number> {
        self.ids += 1;
        let id = format!("E{}", self.ids);
        let new = NewOrder {
            session: CLIENT,
            id: id.as_bytes(),
            account: b"A1",
            symbol: b"XYZ",
            side: Some(side),
            kind: Some(OrderType::Limit),
            tif: Some(TimeInForce::Day),
            until: None,
            effect: Some(effect),
            price: Decimal::parse(b"100").ok(),
            stop: None,
            quantity: Decimal::from_int(quantity),
            is_located: false,
            own_number: b"",
            route: None,
            terms: crate::Terms::NONE,
        };
        self.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }
}

#[test]
fn long_and_short_beside_each_other_are_limited_each() {
    let mut world = with_effect();
    limit(&mut world, Scope::Firm, RiskControl::Long, 100);
    limit(&mut world, Scope::Firm, RiskControl::Short, 100);
    for side in [Side::Buy, Side::Sell] {
        let order = world.order_that(Effect::Open, side, 100).unwrap();
        world.fill(order, 100, "100");
    }
    let position = world
        .core
        .state()
        .position(AccountNo::new(1), InstrumentNo::new(0));
    assert_eq!((position.long, position.short), (100, 100));
    assert_eq!(world.order_that(Effect::Open, Side::Buy, 10), None);
    assert_eq!(world.refused, Some(Why::Long), "though the net is flat");
    world.tell(|core, at, mut sink| {
        core.set_trading(at, Scope::Firm, Trading::Reducing, by(b"", b""), &mut sink)
    });
    limit(&mut world, Scope::Firm, RiskControl::Short, 1000);
    assert_eq!(world.order_that(Effect::Open, Side::Sell, 10), None);
    assert_eq!(world.order_that(Effect::Close, Side::Sell, 110), None);
    assert_eq!(world.refused, Some(Why::Reducing), "more than is held");
    let order = world.order_that(Effect::Close, Side::Sell, 100).unwrap();
    world.fill(order, 100, "100");
    let position = world
        .core
        .state()
        .position(AccountNo::new(1), InstrumentNo::new(0));
    assert_eq!((position.long, position.short), (0, 100));
    world.check();
}

#[test]
fn position_effects_are_those_of_the_instrument() {
    let mut world = with_effect();
    assert_eq!(world.order_that(Effect::Netting, Side::Buy, 10), None);
    assert_eq!(world.refused, Some(Why::Effect));
    let mut world = World::new();
    assert_eq!(world.order_that(Effect::Close, Side::Buy, 10), None);
    assert_eq!(world.refused, Some(Why::NoEffect));
}

/// A fill of an unknown order, with this PositionEffect(77).
fn stray(world: &mut World, effect: Option<Effect>, side: Side, quantity: i64) {
    world.execs += 1;
    let report = VenueReport {
        side: Some(side),
        effect,
        exec: world.execs,
        last_quantity: Some(Decimal::from_int(quantity)),
        last_price: Decimal::parse(b"100").ok(),
        ..about(99, 99, ReportKind::Fill)
    };
    world.report(&report);
    assert_eq!(world.said, ["StrayFill"]);
}

#[test]
fn a_fill_of_an_unknown_order_has_the_effect_of_its_report() {
    let mut world = with_effect();
    let held = |world: &World| {
        let position = world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0));
        (position.long, position.short)
    };
    stray(&mut world, Some(Effect::Open), Side::Buy, 50);
    stray(&mut world, Some(Effect::Open), Side::Sell, 20);
    assert_eq!(held(&world), (50, 20), "beside each other");
    stray(&mut world, Some(Effect::Close), Side::Sell, 10);
    assert_eq!(held(&world), (40, 20));
    // Its effect is unknown: it closes the opposite position first.
    stray(&mut world, None, Side::Sell, 30);
    assert_eq!(held(&world), (10, 20));
    world.check();
    // Where positions net, it says nothing.
    let mut world = World::new();
    stray(&mut world, Some(Effect::Open), Side::Buy, 50);
    stray(&mut world, Some(Effect::Open), Side::Sell, 20);
    assert_eq!(held(&world), (30, 0));
    world.check();
}
