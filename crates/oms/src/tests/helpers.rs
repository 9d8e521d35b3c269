//! Line groups whose new orders are sent by the lines of another group while they have none.

use std::vec;

use super::*;
use crate::OrderState::{Ended, Queued, Sent, Working};
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::rules::{ErrorRule, Remedy, Route};
use crate::values::value::End;
use fixwire_text::Diagnostic;

const SECOND: i64 = 1_000_000_000;

/// XYZ goes by SIM-1, whose helper is SIM-2, by which ABC goes.
fn rules_of(change: impl FnOnce(&mut RiskRules)) -> RiskRules {
    let mut rules = rules(LIMITS);
    let mut other = rules.groups[0].clone();
    rules.groups[0].lines = vec!["SIM-1".into()];
    rules.groups[0].helpers = vec!["OTHER".into()];
    (other.name, other.lines) = ("OTHER".into(), vec!["SIM-2".into()]);
    rules.groups.push(other);
    let route = Route {
        symbols: vec!["ABC".into()],
        when: None,
        group: 1,
    };
    rules.routes.insert(0, route);
    change(&mut rules);
    rules
}

fn world() -> World {
    World::of(rules_of(|_| {}))
}

impl World {
    fn buy_abc(&mut self) -> Option<Number> {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        let new = NewOrder {
            session: CLIENT,
            id: id.as_bytes(),
            account: b"A1",
            symbol: b"ABC",
            side: Some(Side::Buy),
            kind: Some(OrderType::Limit),
            tif: Some(TimeInForce::Day),
            price: Decimal::parse(b"50").ok(),
            stop: None,
            quantity: Decimal::from_int(10),
            is_located: false,
            own_number: b"",
            route: None,
            terms: crate::Terms::NONE,
            until: None,
            effect: Some(crate::values::value::Effect::Netting),
        };
        self.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }

    fn line_of(&self, order: Number) -> SessionNo {
        self.core
            .state()
            .orders()
            .get(order)
            .unwrap()
            .line()
            .unwrap()
    }
}

#[test]
fn another_group_sends_while_a_group_has_no_line() {
    let mut world = world();
    let [own, helper] = LINES;
    let first = world.buy();
    assert_eq!(world.line_of(first), own);
    world.accept(first);
    world.line(own, false);
    let second = world.buy();
    assert_eq!(
        (world.line_of(second), world.stands(second)),
        (helper, Sent)
    );
    world.accept(second);
    // An order belongs to the line that sent it: the venue knows it by that session.
    assert_eq!(world.cancel(first), None);
    assert_eq!(world.refused, Some(Why::NoLine));
    world.replace(second, 20, "100").unwrap();
    assert_eq!(world.sent.last().unwrap().1, helper);
    world.line(own, true);
    let third = world.buy();
    assert_eq!(world.line_of(third), own, "its own line is back");
    world.cancel(first).unwrap();
    assert_eq!(world.sent.last().unwrap().1, own);
    assert_eq!(world.stands(second), Working);
    // Of two answers to a fill, on either line, one counts.
    let exec = world.fill(second, 10, "100");
    world.fill_again(second, 10, "100", exec);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        10
    );
    world.check();
}

#[test]
fn a_helper_has_none_of_its_own() {
    let mut world = world();
    world.line(LINES[1], false);
    assert_eq!(world.buy_abc(), None);
    assert_eq!(world.refused, Some(Why::NoLine));
    world.line(LINES[0], false);
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::NoLine));
    world.check();
}

#[test]
fn a_queued_order_goes_by_the_line_that_is_there_first() {
    for back in LINES {
        let queue = |rules: &mut RiskRules| {
            let groups = rules.groups.iter_mut();
            groups.for_each(|group| group.queue = Some(5 * SECOND));
        };
        let mut world = World::of(rules_of(queue));
        for line in LINES {
            world.line(line, false);
        }
        let order = world.buy();
        assert_eq!(world.stands(order), Queued);
        world.restart(20_261_122);
        world.line(back, true);
        world.work();
        assert_eq!(world.stands(order), Sent);
        assert_eq!(world.line_of(order), back);
        world.check();
    }
}

#[test]
fn a_helper_keeps_to_its_own_flow() {
    let mut world = World::of(rules_of(|rules| {
        rules.groups[1].flow = Some(super::queue::FLOW)
    }));
    world.at += 2 * SECOND;
    world.line(LINES[0], false);
    for _ in 0..2 {
        world.buy();
    }
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Busy));
    world.at += 2 * SECOND;
    world.buy();
    world.check();
}

#[test]
fn a_line_that_breaks_keeps_its_orders_unknown_though_a_helper_is_there() {
    let mut world = world();
    let order = world.buy();
    world.line(LINES[0], false);
    world.work();
    assert_eq!(world.stands(order), crate::OrderState::Unknown);
    assert_eq!(world.sent.len(), 1, "sent once");
    world.line(LINES[0], true);
    world.work();
    assert_eq!(world.said, ["Asked"]);
    world.check();
}

#[test]
fn another_line_may_be_that_of_a_helper() {
    let rule = ErrorRule {
        code: None,
        text: None,
        remedy: Remedy::AnotherLine,
        times: 1,
        after: 0,
        say: None,
        state: None,
    };
    let mut world = World::of(rules_of(|rules| rules.groups[0].errors = vec![rule]));
    let order = world.buy();
    world.report(&about(order, order, ReportKind::Rejected));
    world.work();
    assert_eq!(world.said, ["Sent"]);
    assert_eq!(world.line_of(order), LINES[1]);
    let attempt = world.core.state().orders().get(order).unwrap().attempt();
    world.report(&about(order, attempt, ReportKind::Rejected));
    assert_eq!(world.stands(order), Ended(End::Rejected));
    world.check();
}

#[test]
fn helpers_lead_to_the_same_venue() {
    const OTHER: &str = "[[line_group]]\nname = \"OTHER\"\nlines = [\"SIM-2\"]\n";
    let found = |helpers: &str, other: &str| -> Vec<String> {
        let settings = SETTINGS
            .replace(", \"SIM-2\"]", &format!("]\nhelpers = {helpers}"))
            .replace("[[route]]", &format!("{OTHER}{other}[[route]]"));
        let mut open = |file: &str| match file {
            "instruments.csv" => Ok(INSTRUMENTS.to_string()),
            _ => Ok(LIMITS.to_string()),
        };
        let errors: Vec<Diagnostic> = load(&settings, &SESSIONS, &mut open)
            .err()
            .unwrap_or_default();
        errors.iter().map(ToString::to_string).collect()
    };
    assert_eq!(found("[\"OTHER\"]", ""), [""; 0]);
    let has = |found: Vec<String>, wanted: &str| assert!(found[0].contains(wanted), "{found:?}");
    has(found("[\"ELSE\"]", ""), "unknown line_group ELSE");
    has(found("[\"SIM\"]", ""), "SIM cannot be its own helper");
    has(
        found("[\"OTHER\"]", "cannot = [\"stop\"]\n"),
        "SIM and its helper OTHER have different `cannot`",
    );
    has(found("7", ""), "helpers must be a list of strings");
}
