//! Orders that are held until a price meets their condition, and orders that are valid for a time.

use super::*;
use crate::desk::command::carry_out;
use crate::state::event::ConditionEvent;
use crate::state::orders::transition::OrderState::{Ended, Held, Queued, Sent};
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::value::{End, PriceField, Trading};
use crate::{OrderState, PriceCondition, Scope, Terms};
use fixwire_protocol::OperatorCommand;

const SECOND: i64 = 1_000_000_000;

/// The client may have this many conditional orders.
fn world(conditional: usize) -> World {
    let mut rules = rules(LIMITS);
    rules.users[0].conditional = Some(conditional);
    rules.rejects_self_trades = true;
    World::of(rules)
}

fn when(text: &str) -> Terms {
    Terms {
        condition: PriceCondition::parse(text.as_bytes()),
        ..Terms::NONE
    }
}

fn valid_for(time: i64, terms: Terms) -> Terms {
    Terms {
        valid_for: Some(time),
        ..terms
    }
}

impl World {
    /// An order for 10 XYZ at 100, or with a stop price.
    fn asks(&mut self, side: Side, kind: OrderType, stop: &str, terms: Terms) -> Option<Number> {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        let new = NewOrder {
            session: CLIENT,
            id: id.as_bytes(),
            account: b"A1",
            symbol: b"XYZ",
            side: Some(side),
            kind: Some(kind),
            tif: Some(TimeInForce::GoodTillCancel),
            price: Decimal::parse(b"100").ok(),
            stop: Decimal::parse(stop.as_bytes()).ok(),
            quantity: Decimal::from_int(10),
            is_located: false,
            own_number: b"",
            route: None,
            terms,
            until: None,
            effect: Some(crate::values::value::Effect::Netting),
        };
        self.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }

    fn holds(&mut self, text: &str) -> Number {
        let order = self.asks(Side::Buy, OrderType::Limit, "", when(text));
        assert_eq!(self.said, ["Taken", "Held"]);
        order.unwrap()
    }

    /// A price of XYZ; what it triggers is not sent yet.
    fn price(&mut self, field: PriceField, price: i64) {
        self.tell(|core, at, mut sink| {
            core.set_price(InstrumentNo::new(0), field, Some(price), Some(LINES[0]));
            core.touch_all(at, 8, &mut sink);
        });
    }

    fn last(&mut self, price: i64) {
        self.price(PriceField::Last, price);
        let mut said = self.said.clone();
        self.work();
        said.append(&mut self.said);
        self.said = said;
    }

    fn is(&self, order: Number) -> OrderState {
        self.core.state().orders().get(order).unwrap().state
    }

    /// Until nothing is due in this time.
    fn waits_for(&mut self, time: i64) {
        self.at += time;
        for _ in 0..8 {
            self.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
            self.work();
        }
    }
}

#[test]
fn a_price_triggers_an_order_once() {
    let mut world = world(10);
    let order = world.holds("last>=101");
    world.check();
    world.last(10_095);
    world.price(PriceField::Offer, 10_200);
    assert_eq!((world.said.len(), world.is(order)), (0, Held));
    world.last(10_100);
    assert_eq!(world.said, ["Touched", "Triggered", "Sent"]);
    world.last(10_105);
    assert_eq!(world.said, [""; 0]);
    assert_eq!(world.sent.len(), 1);
    world.check();
    world.accept(order);
    world.fill(order, 10, "100");
    world.last(10_110);
    assert_eq!(world.is(order), Ended(End::Filled));
    world.check();
}

#[test]
fn each_way_and_each_price_counts_for_itself() {
    let mut world = world(10);
    let texts = ["last<=99", "bid>=99", "offer<=101", "last>=102"];
    let orders = texts.map(|text| world.holds(text));
    let held = |world: &World| orders.map(|order| world.is(order) == Held);
    world.price(PriceField::Bid, 9_895);
    world.price(PriceField::Offer, 10_105);
    world.last(9_905);
    assert_eq!(held(&world), [true; 4]);
    world.price(PriceField::Bid, 9_900);
    world.work();
    assert_eq!(held(&world), [true, false, true, true]);
    world.price(PriceField::Offer, 10_100);
    world.work();
    assert_eq!(held(&world), [true, false, false, true]);
    world.last(9_800);
    world.last(10_300);
    assert_eq!(held(&world), [false; 4]);
    assert_eq!(world.sent.len(), 4);
    world.check();
}

#[test]
fn a_crash_after_the_price_triggers_the_order_once_all_the_same() {
    let mut world = world(10);
    let (order, other) = (world.holds("last>=101"), world.holds("last>=103"));
    world.price(PriceField::Last, 10_100);
    assert_eq!((world.said.len(), world.is(order)), (1, Held));
    // It dies before the order is sent, with lines that are up again only later.
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.work();
    assert_eq!((world.is(order), world.is(other)), (Sent, Held));
    world.restart(20_261_122);
    world.work();
    assert_eq!(world.sent.len(), 1);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.last(10_300);
    assert_eq!(world.is(other), Sent);
    world.check();
}

#[test]
fn a_second_trigger_of_a_journal_does_not_fit() {
    let mut world = world(10);
    let order = world.holds("last>=101");
    let early = OrderEvent::Condition(ConditionEvent::Triggered { order });
    let mut state = world.core.state().clone();
    assert!(!state.apply(1, &early), "no price has met it");
    world.last(10_100);
    let mut state = world.core.state().clone();
    assert!(!state.apply(1, &early));
    assert_eq!(state.violations(), 1);
}

#[test]
fn a_price_that_is_known_triggers_a_new_order() {
    let mut world = world(10);
    world.last(10_100);
    let order = world.asks(Side::Buy, OrderType::Limit, "", when("last>=101"));
    assert_eq!(world.said, ["Taken", "Held", "Touched"]);
    world.work();
    assert_eq!(world.is(order.unwrap()), Sent);
    world.core.forget_prices();
    let order = world.holds("last>=101");
    world.work();
    assert_eq!(world.is(order), Held, "it may have changed since");
    world.check();
}

#[test]
fn the_client_changes_and_cancels_a_held_order() {
    let mut world = world(10);
    let order = world.holds("last>=101");
    assert!(world.replace(order, 20, "99").is_some());
    assert_eq!(world.said, ["ReplaceTaken", "Replaced"]);
    let known = world.core.state().orders().get(order).unwrap().clone();
    assert_eq!((known.quantity, known.price), (20, 9_900));
    assert!(world.cancel(order).is_some());
    assert_eq!(world.is(order), Ended(End::Cancelled));
    world.last(10_100);
    assert_eq!(world.said, [""; 0]);
    world.core.forget_prices();
    let order = world.holds("last>=101");
    world.tell(|core, at, mut sink| {
        let filter = crate::OrderFilter::of(Scope::Session(CLIENT));
        core.withdraw(at, filter, by(b"ann", b"why"), &mut sink);
    });
    world.work();
    assert_eq!(world.is(order), Ended(End::Cancelled));
    assert_eq!(world.sent.len(), 0);
    world.check();
}

#[test]
fn a_user_has_no_more_held_orders_than_it_may() {
    let mut world = world(1);
    let first = world.holds("last>=101");
    assert_eq!(
        world.asks(Side::Buy, OrderType::Limit, "", when("last>=101")),
        None
    );
    assert_eq!(world.refused, Some(Why::Conditionals));
    world.last(10_100);
    world.core.forget_prices();
    assert_eq!(world.is(first), Sent);
    world.holds("last>=101");
    let mut world = World::new();
    for (kind, terms) in [
        (OrderType::Limit, when("last>=101")),
        (OrderType::IfTouched, Terms::NONE),
    ] {
        assert_eq!(world.asks(Side::Buy, kind, "99", terms), None);
        assert_eq!(world.refused, Some(Why::NotConditional));
    }
    world.check();
}

#[test]
fn stop_orders_are_held_when_the_venue_has_none() {
    let mut world = world(10);
    let sent = world.asks(Side::Sell, OrderType::Stop, "99", Terms::NONE);
    assert_eq!(world.is(sent.unwrap()), Sent);
    let mut rules = world.core.rules().clone();
    rules.groups[0].cannot_stop = true;
    rules.rejects_self_trades = false;
    let mut world = World::of(rules);
    let stops = [
        (Side::Sell, OrderType::Stop, "99"),
        (Side::Buy, OrderType::StopLimit, "101"),
        (Side::Buy, OrderType::IfTouched, "98"),
        (Side::Sell, OrderType::IfTouched, "102"),
    ];
    let orders = stops.map(|(side, kind, stop)| {
        let order = world.asks(side, kind, stop, Terms::NONE);
        order.unwrap()
    });
    let mut step = |price: i64, order: Number, kind: OrderType| {
        world.last(price);
        assert_eq!(world.said, ["Touched", "Triggered", "Sent"], "{price}");
        let known = world.core.state().orders().get(order).unwrap();
        assert_eq!(known.sent_kind(), kind, "{price}");
    };
    step(9_900, orders[0], OrderType::Market);
    step(10_100, orders[1], OrderType::Limit);
    step(9_800, orders[2], OrderType::Market);
    step(10_200, orders[3], OrderType::Market);
    let two = world.asks(Side::Buy, OrderType::Stop, "101", when("bid>=1"));
    assert_eq!((two, world.refused), (None, Some(Why::TwoConditions)));
    world.check();
}

#[test]
fn the_controls_are_checked_again_when_an_order_is_triggered() {
    let mut world = world(10);
    let orders = [0; 3].map(|_| world.holds("last>=101"));
    let scope = Scope::Account(AccountNo::new(1));
    let control = crate::values::limits::RiskControl::OrderQuantity;
    let by = by(b"ann", b"why");
    world.tell(|core, at, mut sink| {
        core.set_limit(at, scope, control, Some(500_000_000), by, &mut sink);
    });
    world.last(10_100);
    assert_eq!(world.refused, Some(Why::OrderQuantity));
    assert_eq!(world.sent.len(), 0);
    assert!(
        orders
            .iter()
            .all(|it| world.is(*it) == Ended(End::Rejected))
    );
    let mut world = self::world(10);
    let order = world.holds("last>=101");
    world.tell(|core, at, mut sink| {
        core.set_trading(at, scope, Trading::Reducing, by, &mut sink);
    });
    world.last(10_100);
    assert_eq!(world.refused, Some(Why::Reducing));
    assert_eq!(world.is(order), Ended(End::Rejected));
    world.check();
}

#[test]
fn a_held_order_cannot_trade_with_one_of_the_same_owner_until_it_is_triggered() {
    let mut world = world(10);
    let held = world.holds("last>=101");
    assert!(world.order(Side::Sell, 10, "100").is_some());
    world.last(10_100);
    assert_eq!(world.refused, Some(Why::SelfTrade));
    assert_eq!(world.is(held), Ended(End::Rejected));
    world.check();
}

#[test]
fn a_held_order_expires_with_its_validity_and_its_day() {
    let mut world = world(10);
    let terms = valid_for(5 * SECOND, when("last>=101"));
    let order = world.asks(Side::Buy, OrderType::Limit, "", terms).unwrap();
    assert_eq!(world.said, ["Taken", "ValidUntil", "Held"]);
    let stays = world.holds("last>=101");
    world.waits_for(SECOND);
    assert_eq!(world.is(order), Held);
    world.restart(20_261_122);
    world.waits_for(5 * SECOND);
    assert_eq!(
        (world.is(order), world.is(stays)),
        (Ended(End::Expired), Held)
    );
    world.check();
    world.restart(20_261_123);
    world.work();
    assert_eq!(world.is(stays), Held, "it is good till cancel");
    world.check();
}

#[test]
fn an_order_is_not_sent_after_its_validity() {
    let mut rules = rules(LIMITS);
    rules.groups[0].queue = Some(60 * SECOND);
    rules.users[0].validity = Some(10 * SECOND);
    let mut world = World::of(rules);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    }
    let terms = valid_for(SECOND, Terms::NONE);
    let short = world.asks(Side::Buy, OrderType::Limit, "", terms).unwrap();
    assert_eq!(world.said, ["Taken", "ValidUntil", "Queued"]);
    let long = world.order(Side::Buy, 10, "100").unwrap();
    world.waits_for(SECOND / 2);
    assert_eq!((world.is(short), world.is(long)), (Queued, Queued));
    world.restart(20_261_122);
    world.waits_for(SECOND);
    assert_eq!(world.is(short), Ended(End::Rejected));
    assert_eq!(world.is(long), Queued, "by the settings of its user");
    world.waits_for(10 * SECOND);
    assert_eq!(world.is(long), Ended(End::Rejected));
    assert_eq!(world.sent.len(), 0);
    world.check();
}

#[test]
fn an_order_that_may_wait_longer_stops_no_other_from_timing_out() {
    let mut rules = rules(LIMITS);
    rules.groups[0].queue = Some(5 * SECOND);
    let mut world = World::of(rules);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    }
    let mut asks = |validity: Option<i64>| {
        let terms = validity.map_or(Terms::NONE, |it| valid_for(it, Terms::NONE));
        world.asks(Side::Buy, OrderType::Limit, "", terms).unwrap()
    };
    let long = asks(Some(60 * SECOND));
    let usual = asks(None);
    let short = asks(Some(SECOND));
    world.waits_for(SECOND);
    assert_eq!(
        [long, usual, short].map(|it| world.is(it)),
        [Queued, Queued, Ended(End::Rejected)]
    );
    world.restart(20_261_122);
    world.waits_for(5 * SECOND);
    assert_eq!(
        (world.is(long), world.is(usual)),
        (Queued, Ended(End::Rejected))
    );
    world.tell(|core, at, mut sink| core.line_up(at, LINES[0], &mut sink));
    world.work();
    assert_eq!(world.is(long), Sent);
    world.check();
}

#[test]
fn an_operator_gives_prices() {
    let mut world = world(10);
    let order = world.holds("last>=101");
    let mut says = |text: &str| {
        let command = OperatorCommand {
            bytes: text.as_bytes(),
            who: "ann (uid 7)",
            why: "the feed is down",
        };
        let said = world.tell(|core, at, mut sink| carry_out(core, at, command, &mut sink));
        world.work();
        said
    };
    assert_eq!(
        says("price symbol=XYZ last=100 bid=99"),
        Ok("symbol=XYZ: price set; it meets the condition of 0 orders".into())
    );
    for text in [
        "price symbol=XYZ",
        "price account=A1 last=1",
        "price symbol=XYZ last=x",
        "price symbol=XYZ last=1.001",
        "price symbol=NONE last=1",
    ] {
        assert!(says(text).is_err(), "{text}");
    }
    assert_eq!(
        says("price symbol=XYZ last=101"),
        Ok("symbol=XYZ: price set; it meets the condition of 1 order".into())
    );
    assert_eq!(world.is(order), Sent);
    world.check();
}

#[test]
fn a_replace_is_not_sent_after_its_validity() {
    let mut rules = rules(LIMITS);
    rules.groups[0].queue = Some(60 * SECOND);
    rules.groups[0].flow = Some(super::queue::FLOW);
    rules.users[0].validity = Some(SECOND / 2);
    let mut world = World::of(rules);
    world.line(LINES[1], false);
    let (first, second) = (world.buy(), world.buy());
    world.accept(first);
    assert_eq!(world.sent.len(), 2);
    world.replace(first, 20, "100").unwrap();
    assert_eq!(world.said, ["ReplaceTaken", "ValidUntil", "Queued"]);
    world.waits_for(SECOND / 2);
    let known = world.core.state().orders().get(first).unwrap();
    assert_eq!((known.quantity, known.request), (10, None), "declined");
    assert_eq!(world.is(second), Sent);
    world.check();
}
