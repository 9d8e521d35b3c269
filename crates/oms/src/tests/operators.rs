//! Rights of operators and the effects of their commands.

use super::*;
use crate::desk::command::carry_out;
use crate::state::orders::transition::OrderState::{DoneForDay, Ended, Lapsed, Working};
use crate::values::ids::AccountNo;
use crate::values::limits::{LimitUnit, RiskControl};
use crate::values::rules::OperatorRule;
use crate::values::value::{End, Trading};
use crate::{Amount, Scope};
use fixwire_protocol::OperatorCommand;

impl World {
    pub(super) fn says(&mut self, who: &str, text: &str) -> Result<String, String> {
        let command = OperatorCommand {
            bytes: text.as_bytes(),
            who,
            why: "a test",
        };
        self.tell(|core, at, mut sink| carry_out(core, at, command, &mut sink))
    }

    fn limit_of(&self, scope: Scope, control: RiskControl) -> Option<Amount> {
        let limit = self.core.state().limit(scope, control)?;
        Some(match control.unit() {
            // In whole units.
            LimitUnit::Quantity => limit / 100_000_000,
            LimitUnit::Whole | LimitUnit::Money | LimitUnit::Percent => limit,
        })
    }

    /// Until nothing is due in this time.
    fn waits(&mut self, time: i64) {
        self.at += time;
        for _ in 0..4 {
            self.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
        }
    }
}

const HOUR: i64 = 3_600_000_000_000;

#[test]
fn a_limit_with_a_time_is_then_what_it_was() {
    let mut world = World::new();
    let account = Scope::Account(AccountNo::new(1));
    world.says("ann", "limit account=A1 RC6=50").unwrap();
    let said = world.says("ann", "limit account=A1 RC6=500 until=02:00");
    assert_eq!(
        said.unwrap(),
        "account=A1: RC6 is 500 until 1970-01-01 02:00 UTC, then 50 again"
    );
    world.check();
    world.restart(20_261_122);
    world.waits(HOUR);
    assert_eq!(
        world.limit_of(account, RiskControl::OrderQuantity),
        Some(500)
    );
    world.waits(HOUR);
    assert_eq!(
        world.limit_of(account, RiskControl::OrderQuantity),
        Some(50)
    );
    world.check();

    world
        .says("ann", "limit account=A1 RC6=500 until=05:00")
        .unwrap();
    let said = world.says("ann", "limit account=A1 RC6=500 until=05:30");
    assert!(said.unwrap().ends_with("then 50 again"), "as before both");
    world.says("ann", "limit account=A1 RC6=70").unwrap();
    world.waits(6 * HOUR);
    let limit = world.limit_of(account, RiskControl::OrderQuantity);
    assert_eq!(limit, Some(70), "somebody set another");
    assert!(world.says("ann", "limit firm RC6=5 until=25:00").is_err());
    world.check();
}

#[test]
fn two_people_arm_and_not_the_one_who_killed() {
    let mut rules = rules(LIMITS);
    rules.two_arm = true;
    let mut world = World::of(rules);
    world.says("ann (uid 1)", "kill account=A1").unwrap();
    let killed = |world: &World| {
        world
            .core
            .state()
            .trading(Scope::Account(AccountNo::new(1)))
            == Trading::Killed
    };
    assert!(world.says("ann (uid 1)", "arm account=A1").is_err());
    let said = world.says("bob (uid 2)", "arm account=A1").unwrap();
    assert!(said.contains("another operator"), "{said}");
    assert!(killed(&world));
    assert!(world.says("bob (uid 2)", "arm account=A1").is_err());
    world.check();
    world.restart(20_261_122);
    assert!(world.says("ann (uid 1)", "arm account=A1").is_err());
    let said = world.says("ann (uid 1)", "reducing account=A1");
    assert!(said.is_err(), "that is arming too");
    assert!(killed(&world));
    world.says("eve (uid 3)", "arm account=A1").unwrap();
    assert!(!killed(&world));
    world.says("bob (uid 2)", "kill account=A1").unwrap();
    world.says("ann (uid 1)", "arm account=A1").unwrap();
    assert!(killed(&world), "what was asked before is no more");
    world.check();
}

#[test]
fn two_people_arm_to_the_same_state() {
    let mut rules = rules(LIMITS);
    rules.two_arm = true;
    let mut world = World::of(rules);
    let scope = Scope::Account(AccountNo::new(1));
    let is = |world: &World| world.core.state().trading(scope);
    world.says("ann", "kill account=A1").unwrap();
    let said = world.says("bob", "reducing account=A1").unwrap();
    assert!(said.contains("reducing requested; another"), "{said}");
    assert!(world.says("bob", "reducing account=A1").is_err(), "alone");
    // One person asks for active, and nobody else did.
    let said = world.says("eve", "arm account=A1").unwrap();
    assert!(said.contains("arming requested"), "{said}");
    assert_eq!(is(&world), Trading::Killed);
    world.check();
    world.restart(20_261_122);
    // The request for reducing is no more.
    assert!(world.says("eve", "arm account=A1").is_err(), "alone");
    let said = world.says("dan", "reducing account=A1").unwrap();
    assert!(said.contains("requested"), "{said}");
    // One who asked for the one state may ask for the other.
    world.says("bob", "arm account=A1").unwrap();
    world.says("bob", "reducing account=A1").unwrap();
    assert_eq!(is(&world), Trading::Killed);
    world.says("dan", "reducing account=A1").unwrap();
    assert_eq!(is(&world), Trading::Reducing);
    world.says("bob", "arm account=A1").unwrap();
    assert_eq!(is(&world), Trading::Reducing);
    world.says("eve", "arm account=A1").unwrap();
    assert_eq!(is(&world), Trading::Active);
    world.check();
}

#[test]
fn two_people_set_a_limit() {
    let mut rules = rules(LIMITS);
    rules.two_arm = true;
    let mut world = World::of(rules);
    let account = Scope::Account(AccountNo::new(1));
    let control = RiskControl::OrderQuantity;
    let before = world.limit_of(account, control);
    let asked = "limit account=A1 RC6=500";
    let said = world.says("ann (uid 1)", asked).unwrap();
    assert!(
        said.contains("nothing is changed; another operator"),
        "{said}"
    );
    assert_eq!(world.limit_of(account, control), before);
    assert!(world.says("ann (uid 1)", asked).is_err(), "alone");
    world.check();
    world.restart(20_261_122);
    assert!(world.says("ann (uid 1)", asked).is_err(), "still alone");
    let other = world
        .says("bob (uid 2)", "limit account=A1 RC6=501")
        .unwrap();
    assert!(
        other.contains("nothing is changed"),
        "not the same: {other}"
    );
    assert_eq!(world.limit_of(account, control), before);
    let said = world
        .says("ann (uid 1)", "limit account=A1 RC6=501")
        .unwrap();
    assert!(said.starts_with("account=A1: RC6 is 501"), "{said}");
    assert_eq!(world.limit_of(account, control), Some(501));
    // What was set is no longer asked for.
    world.says("bob (uid 2)", "limit account=A1 RC6=7").unwrap();
    assert_eq!(world.limit_of(account, control), Some(501));
    for text in ["limit account=A1 RC6=none", "limit firm RC6=9 until=05:00"] {
        world.says("ann (uid 1)", text).unwrap();
        let done = world.says("bob (uid 2)", text).unwrap();
        assert!(done.contains("RC6 is"), "{done}");
    }
    world.check();
}

#[test]
fn operators_may_what_the_settings_say() {
    let mut rules = rules(LIMITS);
    let operator = |user: &str, may: &str| OperatorRule {
        user: user.into(),
        may: may.split(' ').map(String::from).collect(),
    };
    rules.operators = std::vec![
        operator("ann", "limit kill"),
        operator("bob", "arm market roll")
    ];
    let mut world = World::of(rules);
    for (text, ann, bob) in [
        ("limit firm RC6=7", true, false),
        ("reducing firm", true, false),
        ("kill firm", true, false),
        ("cancel firm", true, false),
        ("arm firm", false, true),
        ("market symbol=XYZ halted", false, true),
        ("roll day=2026-11-22", false, false),
    ] {
        assert_eq!(world.says("ann (uid 1)", text).is_ok(), ann, "{text}");
        assert_eq!(world.says("bob (uid 2)", text).is_ok(), bob, "{text}");
        let said = world.says("uid 3", text);
        assert!(said.unwrap_err().contains("is not an operator"), "{text}");
    }
    world.check();
}

#[test]
fn orders_until_a_date_stay_until_it_is_over() {
    let mut world = World::new();
    let new = crate::NewOrder {
        session: CLIENT,
        id: b"G",
        account: b"A1",
        symbol: b"XYZ",
        side: Some(Side::Buy),
        kind: Some(OrderType::Limit),
        tif: Some(TimeInForce::GoodTillDate),
        until: Some(20_261_123),
        effect: Some(crate::values::value::Effect::Netting),
        price: Decimal::parse(b"100").ok(),
        stop: None,
        quantity: Decimal::from_int(10),
        is_located: false,
        own_number: b"",
        route: None,
        terms: crate::Terms::NONE,
    };
    world.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
    for (day, state) in [(20_261_123, Working), (20_261_124, Lapsed)] {
        world.restart(day);
        world.line(LINES[0], true);
        world.accept(1);
        world.work();
        let order = world.core.state().orders().get(1).unwrap();
        assert_eq!(order.state, state, "{day}");
        world.check();
    }
}

#[test]
fn a_day_is_rolled_by_hand_or_by_the_clock() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    assert!(
        world.says("ann", "roll day=2026-11-22").is_err(),
        "it is today"
    );
    assert!(world.says("ann", "roll").is_err());
    assert!(world.says("ann", "roll day=2026-11-31").is_err());
    assert!(world.says("ann", "roll day=2027-11-23").is_err());
    world.says("ann", "roll day=2026-11-23 cancel").unwrap();
    world.check();
    world.restart(20_261_122);
    assert_eq!(
        world.core.state().next_day,
        Some(20_261_123),
        "it was asked for"
    );
    assert!(world.says("ann", "roll day=2026-11-24").is_err());
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::DayEnds));
    world.work();
    assert_eq!(world.core.state().day(), 20_261_123);
    let state = world.core.state().orders().get(order).unwrap().state;
    assert_eq!(state, Lapsed);
    world.tell(|core, at, mut sink| core.begin_day(at, 20_261_123, &mut sink));
    assert!(!world.core.has_work(world.at), "it is that day");
    world.tell(|core, at, mut sink| core.begin_day(at, 20_261_124, &mut sink));
    world.work();
    assert_eq!(world.core.state().day(), 20_261_124);
    world.check();
}

#[test]
fn an_operator_enters_what_the_venue_says_by_telephone() {
    let mut world = World::new();
    let (first, second) = (
        world.order(Side::Buy, 10, "100").unwrap(),
        world.order(Side::Buy, 20, "100").unwrap(),
    );
    let fill = "report order=1 type=fill quantity=4 price=99.95 exec=E1";
    let said = world.says("ann", fill);
    assert_eq!(
        said.unwrap(),
        "order 1: fill of 4 at 99.95 entered; the order is working"
    );
    assert_eq!(world.said, ["ReportEntered", "Accepted", "Filled"]);
    let again = world.says("ann", fill).unwrap_err();
    assert_eq!(again, "exec=E1 of order 1 is known already");
    // The venue's own report of it comes later.
    let exec = siphasher::sip::SipHasher13::new().hash(b"E1");
    world.fill_again(first, 4, "99.95", exec);
    assert_eq!(world.said, [""; 0]);
    let said = world.says("ann", "report order=2 type=cancelled");
    assert_eq!(said.unwrap(), "order 2: reported as cancelled");
    // A fill from before the cancel.
    let late = "report order=2 type=fill quantity=5 price=100.5 exec=E2";
    assert_eq!(
        world.says("ann", late).unwrap(),
        "order 2: fill of 5 at 100.5 entered; the order is cancelled"
    );
    let known = |world: &World, order| world.core.state().orders().get(order).unwrap().clone();
    assert_eq!(known(&world, second).state, Ended(End::Cancelled));
    world.says("ann", "report order=1 type=expired").unwrap();
    assert_eq!(known(&world, first).filled, 4);
    assert_eq!(known(&world, first).state, Ended(End::Expired));
    let third = world.order(Side::Buy, 10, "100").unwrap();
    let text = format!("report order={third} type=rejected");
    world.says("ann", &text).unwrap();
    assert_eq!(world.said, ["ReportEntered", "Rejected"]);
    let mut rules = world.core.rules().clone();
    rules.operators = alloc::vec![OperatorRule {
        user: "bob".into(),
        may: alloc::vec!["limit".into()],
    }];
    world.core.rules = rules;
    assert!(world.says("bob", fill).is_err(), "he may not");
    world.check();
}

#[test]
fn a_fill_by_hand_does_not_make_an_order_work_again_that_is_done_for_the_day() {
    let mut world = World::new();
    let order = world.order_with(TimeInForce::GoodTillCancel).unwrap();
    world.accept(order);
    world.says("ann", "report order=1 type=done").unwrap();
    let is = |world: &World| world.core.state().orders().get(order).unwrap().state;
    assert_eq!(is(&world), DoneForDay);
    let fill = "report order=1 type=fill quantity=4 price=99.95 exec=E1";
    world.says("ann", fill).unwrap();
    assert_eq!(world.said, ["ReportEntered", "Filled"]);
    assert_eq!(is(&world), DoneForDay);
    world.check();
}

#[test]
fn an_order_reported_as_expired_was_not_cancelled() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    world.cancel(order).unwrap();
    world.says("ann", "report order=1 type=expired").unwrap();
    assert_eq!(world.said, ["ReportEntered", "Declined", "Ended"]);
    world.check();
}

#[test]
fn each_wrong_report_is_named_and_those_before_it_count() {
    let mut world = World::new();
    for _ in 0..2 {
        world.order(Side::Buy, 10, "100").unwrap();
    }
    let check = |rows: &[&str]| world.core.check_reports(&rows.join(";")).unwrap();
    assert_eq!(
        check(&[
            "order=1 type=fill quantity=4 price=100 exec=E1",
            "order=1 type=fill quantity=6 price=100 exec=E2",
            "order=2 type=accepted",
            "order=2 type=cancelled",
        ]),
        ""
    );
    assert_eq!(
        check(&[
            "order=1 type=fill quantity=4 price=100 exec=E1",
            "order=1 type=fill quantity=7 price=100 exec=E2",
            "order=1 type=fill quantity=1 price=100 exec=E1",
            "order=2 type=cancelled",
            "order=2 type=expired",
            "order=1 type=accepted",
            "order=9 type=cancelled",
            "order=1 type=fill quantity=1",
            "order=1 type=gone",
            "order=1 type=cancelled exec=E1",
            "order=1 type=fill quantity=1 price=100.0000000001 exec=E3",
            "order=1 colour=red",
        ]),
        "2\tquantity is above what is left of order 1, 6\n\
         3\texec=E1 of order 1 is known already\n\
         5\torder 2 is closed\n\
         6\tthe venue has accepted order 1 already\n\
         7\tno order 9 in memory: it is unknown, or was closed long ago\n\
         8\ta fill needs quantity, price and exec, the ExecID(17) of the venue, and no ref\n\
         9\tunknown type gone: write fill, accepted, rejected, cancelled, expired, done, bust or correct, or leg1 or leg2 for a fill of a leg\n\
         10\tonly a fill, a bust and a correction have quantity, price, exec and ref\n\
         11\tprice must be a price with at most 9 decimals\n\
         12\tunknown word colour: the words are order, type, quantity, price, exec, ref\n"
    );
}
