//! Price controls that measure by the market, and what orders without a limit price are reserved at.

use super::*;
use crate::values::ids::InstrumentNo;
use crate::values::rules::ReferencePrice;
use crate::values::value::PriceField;

fn world(reference: ReferencePrice) -> World {
    let mut rules = rules(LIMITS);
    rules.reference_price = reference;
    World::of(rules)
}

impl World {
    fn market(&mut self, field: PriceField, price: Option<i64>) {
        self.tell(|core, _, _| core.set_price(InstrumentNo::new(0), field, price, Some(LINES[0])));
    }

    /// Whether an order at this price is within 10 percent of the reference price.
    fn passes(&mut self, side: Side, price: &str) -> bool {
        let passes = self.order(side, 10, price).is_some();
        assert!(passes || self.refused == Some(Why::Collar), "{price}");
        passes
    }

    fn is_reserved_at(&mut self, side: Side) -> i64 {
        let order = self.order(side, 10, "market").unwrap();
        self.core.state().orders().get(order).unwrap().hold
    }
}

#[test]
fn prices_of_the_market_change_nothing_unless_they_are_asked_for() {
    let mut world = world(ReferencePrice::File);
    for field in [PriceField::Last, PriceField::Bid, PriceField::Offer] {
        world.market(field, Some(20_000));
    }
    assert!(world.passes(Side::Buy, "90") && !world.passes(Side::Buy, "89.95"));
    assert!(world.passes(Side::Sell, "110") && !world.passes(Side::Sell, "110.05"));
    assert_eq!(world.is_reserved_at(Side::Buy), 12_000);
}

#[test]
fn the_last_price_stands_for_the_reference_price_while_it_is_known() {
    let mut world = world(ReferencePrice::Last);
    world.market(PriceField::Offer, Some(30_000));
    assert!(world.passes(Side::Buy, "90"), "none is known");
    world.market(PriceField::Last, Some(20_000));
    assert!(!world.passes(Side::Buy, "100") && !world.passes(Side::Sell, "179.95"));
    assert!(world.passes(Side::Buy, "180") && world.passes(Side::Sell, "220"));
    assert!(!world.passes(Side::Buy, "220.05"));
    assert_eq!(world.is_reserved_at(Side::Sell), 24_000);
    world.market(PriceField::Last, Some(0));
    assert!(world.passes(Side::Buy, "110"), "0 is no price");
    assert_eq!(world.is_reserved_at(Side::Sell), 12_000);
    world.market(PriceField::Last, Some(20_000));
    world.tell(|core, _, _| core.forget_prices());
    assert!(world.passes(Side::Buy, "110") && !world.passes(Side::Buy, "180"));
    world.check();
}

#[test]
fn a_buy_is_measured_by_the_offer_and_a_sell_by_the_bid() {
    let mut world = world(ReferencePrice::Best);
    world.market(PriceField::Last, Some(30_000));
    world.market(PriceField::Bid, Some(10_000));
    world.market(PriceField::Offer, Some(20_000));
    assert!(world.passes(Side::Buy, "180") && !world.passes(Side::Buy, "179.95"));
    assert!(world.passes(Side::Sell, "110") && !world.passes(Side::Sell, "180"));
    assert_eq!(world.is_reserved_at(Side::Buy), 24_000);
    assert_eq!(world.is_reserved_at(Side::Sell), 12_000);
    world.market(PriceField::Offer, None);
    assert!(world.passes(Side::Buy, "100"), "the offer was deleted");
    world.check();
}

#[test]
fn replaces_are_measured_by_the_price_of_their_time() {
    let mut world = world(ReferencePrice::Last);
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    world.market(PriceField::Last, Some(8_000));
    let far = world.request(order, RequestKind::Replace, None, Some("88.05"));
    assert_eq!((far, world.refused), (None, Some(Why::Collar)));
    let near = world.request(order, RequestKind::Replace, None, Some("88"));
    assert!(near.is_some());
    world.check();
}

#[test]
fn a_triggered_order_is_measured_by_the_price_that_triggers_it() {
    let mut rules = rules(LIMITS);
    rules.reference_price = ReferencePrice::Last;
    rules.users[0].conditional = Some(1);
    let mut world = World::of(rules);
    let new = NewOrder {
        session: CLIENT,
        id: b"H1",
        account: b"A1",
        symbol: b"XYZ",
        side: Some(Side::Buy),
        kind: Some(OrderType::Limit),
        tif: Some(TimeInForce::Day),
        price: Decimal::parse(b"100").ok(),
        stop: None,
        quantity: Decimal::from_int(10),
        is_located: false,
        own_number: b"",
        route: None,
        terms: crate::Terms {
            condition: crate::PriceCondition::parse(b"last>=150"),
            ..crate::Terms::NONE
        },
        until: None,
        effect: Some(crate::values::value::Effect::Netting),
    };
    world.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
    assert_eq!(world.refused, None, "it is 100 while no price is known");
    world.tell(|core, at, mut sink| {
        core.set_price(
            InstrumentNo::new(0),
            PriceField::Last,
            Some(15_000),
            Some(LINES[0]),
        );
        core.touch_all(at, 8, &mut sink);
        while core.has_triggers() {
            core.trigger_next(at, &mut sink);
        }
    });
    assert_eq!(world.refused, Some(Why::Collar), "it is 150 now");
    assert!(world.sent.is_empty());
    world.check();
}
