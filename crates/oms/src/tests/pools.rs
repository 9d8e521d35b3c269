//! Order numbers of pools.

use super::*;
use crate::NumberForm;
use crate::state::orders::transition::OrderState::{Ended, Queued};
use crate::values::rules::PoolRule;
use crate::values::value::End;

/// Ten numbers, from T1 to T9 and T0 before them.
fn pool(name: &str, prefix: &str) -> PoolRule {
    PoolRule {
        name: name.into(),
        form: NumberForm::new(prefix, b"0123456789", 1).unwrap(),
        first: 0,
        last: 9,
        tag: 526,
        each_day: false,
    }
}

/// Where orders of the client have numbers, and it may name them.
fn world(pool: PoolRule) -> World {
    let mut rules = rules(LIMITS);
    rules.users[0].number_pool = Some(pool.name.clone());
    rules.users[0].own_numbers = true;
    rules.pools = [pool].into();
    World::of(rules)
}

/// Orders have numbers of a pool of thirty, and the client may name them.
pub fn number(rules: &mut RiskRules, each_day: bool) {
    let wide = PoolRule {
        form: NumberForm::new("T", b"0123456789", 2).unwrap(),
        last: 29,
        each_day,
        ..pool("P", "T")
    };
    rules.pools = [wide].into();
    rules.groups[0].number_pool = Some("P".into());
    rules.users[0].own_numbers = true;
}

impl World {
    fn number_of(&self, order: Number) -> String {
        let order = self.core.state().orders().get(order).unwrap();
        order.pool_number.to_string()
    }

    /// An order whose number the client names.
    pub fn order_as(&mut self, number: &str) -> Option<Number> {
        self.ids += 1;
        let id = format!("N{}", self.ids);
        let new = NewOrder {
            session: CLIENT,
            id: id.as_bytes(),
            account: b"A1",
            symbol: b"XYZ",
            side: Some(Side::Buy),
            kind: Some(OrderType::Limit),
            tif: Some(TimeInForce::GoodTillCancel),
            until: None,
            effect: Some(crate::values::value::Effect::Netting),
            price: Decimal::parse(b"100").ok(),
            stop: None,
            quantity: Decimal::from_int(10),
            is_located: false,
            own_number: number.as_bytes(),
            route: None,
            terms: crate::Terms::NONE,
        };
        self.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }

    fn numbers(&mut self, orders: usize) -> Vec<String> {
        let numbers = (0..orders).map(|_| {
            let order = self.buy();
            self.number_of(order)
        });
        numbers.collect()
    }
}

#[test]
fn each_order_has_the_next_number_of_its_pool_and_none_twice() {
    let mut world = world(pool("P", "T"));
    assert_eq!(world.numbers(4), ["T0", "T1", "T2", "T3"]);
    assert_eq!(world.said, ["Taken", "Numbered", "Sent"]);
    world.restart(20_261_122);
    world.line(LINES[0], true);
    assert_eq!(world.numbers(4), ["T4", "T5", "T6", "T7"]);
    // The day changes, the pool does not begin anew.
    world.restart(20_261_123);
    world.work();
    world.line(LINES[0], true);
    assert_eq!(world.numbers(1), ["T8"]);
    assert_eq!(world.said, ["Taken", "Numbered", "NumbersLow", "Sent"]);
    assert_eq!(world.numbers(1), ["T9"]);
    assert_eq!(world.said, ["Taken", "Numbered", "Sent"], "once is enough");
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::NoNumber));
    assert_eq!(world.said, ["Taken", "Rejected"]);
    world.check();
}

#[test]
fn operators_see_how_far_a_pool_is_used() {
    let mut world = world(pool("P", "T"));
    let order = world.buy();
    let ask = |world: &World, query: &[u8]| crate::desk::query::answer(&world.core, query).unwrap();
    assert_eq!(ask(&world, b"pools"), "pool\tnext\tleft\tof\nP\tT1\t9\t10");
    let line = ask(&world, format!("order {order}").as_bytes());
    assert!(line.ends_with("\tT0\t\t"), "{line}");
    world.numbers(9);
    assert_eq!(ask(&world, b"pools"), "pool\tnext\tleft\tof\nP\t\t0\t10");
    let mut history = crate::desk::history::History::new(order, OmsState::default());
    let steps = world
        .notes
        .iter()
        .filter_map(|(_, note)| history.take(note));
    let told: Vec<String> = steps.map(|step| step.text).collect();
    assert_eq!(told[1], "order number T0 from P");
}

#[test]
fn a_pool_begins_anew_with_the_day_but_for_numbers_of_open_orders() {
    let mut rule = pool("P", "T");
    rule.each_day = true;
    let mut world = world(rule);
    let first = world.buy();
    world.accept(first);
    let long = world.order_with(TimeInForce::GoodTillCancel).unwrap();
    assert_eq!(world.number_of(long), "T1");
    assert!(world.order_as("T3").is_some());
    let last = world.buy();
    world.accept(last);
    world.restart(20_261_123);
    world.work();
    world.line(LINES[0], true);
    assert_eq!(world.order_as("T1"), None);
    assert_eq!(world.refused, Some(Why::NumberUsed));
    assert_eq!(
        world.numbers(3),
        ["T4", "T5", "T6"],
        "the others may be open"
    );
    world.check();
}

#[test]
fn a_client_names_numbers_of_the_pool_that_nobody_has() {
    let mut world = world(pool("P", "T"));
    let own = world.order_as("T1").unwrap();
    assert_eq!(world.said, ["Taken", "Numbered", "Sent"]);
    assert_eq!(world.number_of(own), "T1");
    assert_eq!(world.numbers(2), ["T0", "T2"]);
    for (number, why) in [
        ("T1", Why::NumberUsed),
        ("T0", Why::NumberUsed),
        ("X5", Why::NumberForm),
        ("T", Why::NumberForm),
        ("T55", Why::NumberForm),
    ] {
        assert_eq!(world.order_as(number), None, "{number}");
        assert_eq!(world.refused, Some(why), "{number}");
    }
    world.restart(20_261_123);
    world.line(LINES[0], true);
    world.work();
    assert_eq!(world.order_as("T1"), None, "the pool goes on");
    assert_eq!(world.refused, Some(Why::NumberUsed));
    assert!(world.order_as("T9").is_some());
    assert_eq!(world.order_as("T9"), None);
    let mut rules = world.core.rules().clone();
    rules.users[0].own_numbers = false;
    let mut world = World::of(rules);
    assert_eq!(world.order_as("T5"), None);
    assert_eq!(world.refused, Some(Why::OwnNumber));
    world.check();
}

#[test]
fn numbers_outside_of_the_pool_are_refused() {
    let mut rule = pool("P", "T");
    (rule.first, rule.last) = (2, 4);
    let mut world = world(rule);
    for number in ["T1", "T5"] {
        assert_eq!(world.order_as(number), None);
        assert_eq!(world.refused, Some(Why::NumberForm));
    }
    assert_eq!(world.numbers(3), ["T2", "T3", "T4"]);
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    world.check();
}

#[test]
fn an_order_gets_its_number_when_it_leaves() {
    let mut rules = rules(LIMITS);
    rules.pools = [pool("G", "G"), pool("P", "T")].into();
    rules.groups[0].number_pool = Some("G".into());
    rules.groups[0].queue = Some(60_000_000_000);
    let mut world = World::of(rules);
    for line in LINES {
        world.line(line, false);
    }
    let (first, second) = (world.buy(), world.buy());
    assert_eq!(world.number_of(first), "", "it waits");
    assert_eq!(world.stands(second), Queued);
    world.cancel(first).unwrap();
    assert_eq!(world.stands(first), Ended(End::Cancelled));
    world.line(LINES[0], true);
    world.pass_by(1_000_000_000);
    assert_eq!(world.number_of(second), "G0");
    // The pool of the user comes first.
    let mut rules = world.core.rules().clone();
    rules.users[0].number_pool = Some("P".into());
    let mut core = Core::new(rules);
    for (_, note) in &world.notes {
        core.replay_note(note);
    }
    world.core = core;
    world.begin(20_261_122);
    world.line(LINES[0], true);
    assert_eq!(world.numbers(1), ["T0"]);
    world.check();
}

#[test]
fn a_pool_of_another_form_gives_no_number_of_today_again() {
    let mut world = world(pool("P", "T"));
    assert_eq!(world.numbers(3), ["T0", "T1", "T2"]);
    let mut rules = world.core.rules().clone();
    rules.pools[0].form = NumberForm::new("T", b"3210", 1).unwrap();
    rules.pools[0].last = 3;
    let mut core = Core::new(rules);
    for (_, note) in &world.notes {
        core.replay_note(note);
    }
    world.core = core;
    world.begin(20_261_122);
    assert_eq!(world.said.last().unwrap(), "LineDown");
    world.line(LINES[0], true);
    assert_eq!(world.numbers(1), ["T3"]);
    assert_eq!(
        world.order(Side::Buy, 10, "100"),
        None,
        "the others are used"
    );
    world.check();
}

#[test]
fn an_order_that_is_sent_again_has_another_number() {
    let mut rules = rules(LIMITS);
    rules.pools = [pool("P", "T")].into();
    rules.users[0].number_pool = Some("P".into());
    rules.users[0].own_numbers = true;
    rules.groups[0].errors = [crate::values::rules::ErrorRule {
        code: None,
        text: Some("*".into()),
        remedy: crate::values::rules::Remedy::Retry,
        times: 9,
        after: 0,
        say: None,
        state: None,
    }]
    .into();
    let mut world = World::of(rules);
    let (first, own) = (world.buy(), world.order_as("T5").unwrap());
    for order in [first, own] {
        world.report(&about(order, order, ReportKind::Rejected));
    }
    world.pass_by(1_000_000_000);
    assert_eq!(world.number_of(first), "T1");
    assert_eq!(world.number_of(own), "T5", "the client knows it by that");
    world.check();
}
