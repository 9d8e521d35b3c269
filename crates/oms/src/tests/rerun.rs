//! Orders that a control rejected, run again by an operator.

use super::history::told;
use super::*;
use crate::desk::command::carry_out;
use crate::state::orders::transition::OrderState;
use crate::values::ids::AccountNo;
use crate::values::rules::OperatorRule;
use crate::values::value::End;
use fixwire_protocol::OperatorCommand;

impl World {
    fn rerun(&mut self, order: &str, without: &str) -> Result<String, String> {
        let text = format!("rerun order={order} without={without}");
        let command = OperatorCommand {
            bytes: text.as_bytes(),
            who: "ann",
            why: "by telephone",
        };
        self.tell(|core, at, mut sink| carry_out(core, at, command, &mut sink))
    }

    /// The number of the last reject.
    fn last_reject(&self) -> u64 {
        let mut rejected = self.core.state().rejected.iter();
        rejected.next_back().unwrap().number
    }

    fn rejected(&self) -> Vec<String> {
        let list = crate::desk::query::answer(&self.core, b"rejected").unwrap();
        list.lines().skip(1).map(String::from).collect()
    }
}

#[test]
fn a_rejected_order_is_placed_again_without_the_control_that_rejected_it() {
    let mut world = World::new();
    assert_eq!(world.order(Side::Buy, 6_000, "100"), None);
    assert_eq!(world.said, ["Refused", "RejectKept"]);
    let reject = world.last_reject();
    assert_eq!(reject, world.core.state().events() - 1, "ExecID(17)");
    assert_eq!(
        world.rejected(),
        [format!(
            "{reject}\tCLIENT\tC1\tA1\tbuy\tXYZ\t6000\t100\t\tRC6: order quantity exceeds the limit (6000, at most 1000 for firm)"
        )]
    );
    let still = world.rerun(&reject.to_string(), "RC8").unwrap_err();
    assert_eq!(
        still,
        "still rejected: RC6: order quantity exceeds the limit (6000, at most 1000 for firm)"
    );
    assert_eq!(world.said, [""; 0]);
    // Its value is above a limit too.
    let still = world.rerun(&reject.to_string(), "RC6").unwrap_err();
    assert!(still.starts_with("still rejected: RC7: "), "{still}");
    let still = world.rerun("CLIENT/C1", "RC6,RC7").unwrap_err();
    assert!(still.starts_with("still rejected: RC15: "), "{still}");
    let done = world.rerun("CLIENT/C1", "RC6,RC7,RC15").unwrap();
    assert_eq!(done, "order 1: C1 run again without RC6,RC7,RC15; sent");
    assert_eq!(world.said, ["Taken", "Rerun", "Sent"]);
    let order = world.core.state().orders().get(1).unwrap();
    assert_eq!((order.quantity, order.account), (6_000, AccountNo::new(1)));
    assert_eq!(order.id.to_string(), "RERUN-1");
    assert_eq!(
        told(&world, 1)[..2],
        [
            "CLIENT as RERUN-1 for A1: buy 6000 XYZ at 100".to_string(),
            format!(
                "C1, rejected in report {reject}, resubmitted without RC6,RC7,RC15 by ann: by telephone"
            ),
        ]
    );
    let twice = world.rerun("CLIENT/C1", "RC6,RC7").unwrap_err();
    assert_eq!(twice, "C1 was run again already, as order 1");
    assert!(world.rejected()[0].contains("\t1\tRC6"));
    // It is the client's: it counts, and the client cancels it.
    world.accept(1);
    assert!(world.cancel(1).is_some());
    world.check();
}

#[test]
fn each_control_can_be_off_alone() {
    use super::controls::limit;
    use crate::Scope;
    use crate::values::limits::RiskControl;
    let cases = [
        (RiskControl::OrderQuantity, "RC6"),
        (RiskControl::Value, "RC7"),
        (RiskControl::Collar, "RC8"),
        (RiskControl::OpenOrders, "RC13"),
        (RiskControl::Credit, "RC14"),
        (RiskControl::Long, "RC15"),
        (RiskControl::Repeated, "RC5"),
        (RiskControl::ValueSecond, "RC9-value-1s"),
        (RiskControl::QuantityDay, "RC9"),
        (RiskControl::Rate, "RC10"),
        (RiskControl::Unanswered, "RC11"),
        (RiskControl::Ratio, "RC11-ratio"),
    ];
    for (control, code) in cases {
        let mut world = World::new();
        limit(&mut world, Scope::Firm, control, 0);
        assert_eq!(world.order(Side::Buy, 10, "101"), None, "{code}");
        let other = if code == "RC6" { "RC7" } else { "RC6" };
        assert!(world.rerun("CLIENT/C1", other).is_err(), "{code}");
        world
            .rerun("CLIENT/C1", code)
            .unwrap_or_else(|why| panic!("{code}: {why}"));
        world.check();
    }
    for (quantity, price) in [(10, "99.99"), (10, "150")] {
        let mut world = World::new();
        assert_eq!(world.order(Side::Buy, quantity, price), None);
        assert!(world.rerun("CLIENT/C1", "RC6,RC18").is_err());
        world.rerun("CLIENT/C1", "RC8").unwrap();
        world.check();
    }
}

#[test]
fn only_what_a_control_rejected_is_run_again() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.report(&about(order, order, ReportKind::Rejected));
    let why = world.rerun("CLIENT/C1", "RC8").unwrap_err();
    assert_eq!(
        why,
        "no control of the OMS rejected C1 of CLIENT: order 1 is rejected"
    );
    // No quantity, an unknown account, an id twice, a price that has no place.
    for (id, account, quantity, price) in [
        ("Q1", "A1", 0, "100"),
        ("Q2", "B1", 10, "100"),
        ("C1", "A1", 10, "100"),
        ("Q4", "A1", 10, "100.001"),
    ] {
        assert_eq!(
            world.order_of(id, account.as_bytes(), Side::Buy, quantity, price),
            None
        );
        assert_eq!(world.said[0], "Refused");
        assert_eq!(world.said.len(), 1, "{id}");
    }
    for named in ["CLIENT/Q1", "4711", "CLINT/C1", "C1", ""] {
        assert!(world.rerun(named, "RC8").is_err(), "{named}");
    }
    for without in ["", "RC1", "RC2", "RC12", "RC8;RC9"] {
        assert!(world.rerun("CLIENT/C1", without).is_err(), "{without}");
    }
    world.check();
}

#[test]
fn all_other_controls_are_on_when_it_is_run_again() {
    let mut world = World::new();
    assert_eq!(world.order(Side::Buy, 2_000, "10"), None);
    let kill = OperatorCommand {
        bytes: b"kill account=A1",
        who: "ann",
        why: "a test",
    };
    world
        .tell(|core, at, mut sink| carry_out(core, at, kill, &mut sink))
        .unwrap();
    let why = world.rerun("CLIENT/C1", "RC6,RC8").unwrap_err();
    assert!(
        why.starts_with("still rejected: RC1: the kill switch is on"),
        "{why}"
    );
    let mut rules = world.core.rules().clone();
    rules.users[0].rights[0].new = false;
    world.core.rules = rules;
    world.restart(20_261_122);
    let why = world.rerun("CLIENT/C1", "RC6,RC8").unwrap_err();
    assert!(why.contains("RC2: not allowed for this session"), "{why}");
    world.check();
}

#[test]
fn after_a_restart_it_is_run_again_but_not_on_another_day() {
    for day in [20_261_122, 20_261_123] {
        let mut world = World::new();
        assert_eq!(world.order(Side::Buy, 2_000, "10"), None);
        let reject = world.last_reject().to_string();
        world.restart(day);
        world.line(LINES[0], true);
        world.work();
        let done = world.rerun(&reject, "RC6,RC8");
        if day == 20_261_122 {
            assert_eq!(done.unwrap(), "order 1: C1 run again without RC6,RC8; sent");
            world.restart(day);
            let twice = world.rerun(&reject, "RC6,RC8").unwrap_err();
            assert!(twice.contains("already, as order 1"), "{twice}");
        } else {
            let wanted = format!(
                "reject {reject} is of an earlier trading day: the client must send a new order"
            );
            assert_eq!(done.unwrap_err(), wanted);
        }
        world.check();
    }
}

#[test]
fn an_operator_needs_the_right_to_run_orders_again() {
    let mut rules = rules(LIMITS);
    let operator = |user: &str, may: &str| OperatorRule {
        user: user.into(),
        may: std::vec![may.into()],
    };
    rules.operators = std::vec![operator("ann", "limit"), operator("bob", "rerun")];
    let mut world = World::of(rules);
    assert_eq!(world.order(Side::Buy, 2_000, "10"), None);
    let why = world.rerun("CLIENT/C1", "RC6,RC8").unwrap_err();
    assert!(why.contains("ann has no permission to rerun"), "{why}");
    let command = OperatorCommand {
        bytes: b"rerun order=CLIENT/C1 without=RC6,RC8",
        who: "bob (uid 2)",
        why: "a test",
    };
    world
        .tell(|core, at, mut sink| carry_out(core, at, command, &mut sink))
        .unwrap();
    world.check();
}

#[test]
fn without_a_line_it_is_rejected_as_any_other() {
    let mut world = World::new();
    assert_eq!(world.order(Side::Buy, 2_000, "10"), None);
    for line in LINES {
        world.line(line, false);
    }
    let done = world.rerun("CLIENT/C1", "RC6,RC8").unwrap();
    assert_eq!(done, "order 1: C1 run again without RC6,RC8; rejected");
    let known = world.core.state().orders().get(1).unwrap();
    assert_eq!(known.state, OrderState::Ended(End::Rejected));
    world.check();
}

#[test]
fn the_oldest_of_a_thousand_rejects_is_forgotten() {
    let mut world = World::new();
    for _ in 0..1_001 {
        assert_eq!(world.order(Side::Buy, 2_000, "10"), None);
    }
    assert_eq!(world.rejected().len(), 1_000);
    let why = world.rerun("CLIENT/C1", "RC6,RC8").unwrap_err();
    assert!(why.contains("at most the last 1000"), "{why}");
    world.rerun("CLIENT/C2", "RC6,RC8").unwrap();
    world.check();
}

#[test]
fn on_a_full_disk_nothing_new_is_accepted_and_what_is_open_ends() {
    let mut world = World::new();
    let [first, second] = [(); 2].map(|()| {
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.accept(order);
        order
    });
    assert_eq!(world.order(Side::Buy, 6_000, "100"), None);
    world.core.set_on_reserve(true);
    assert_eq!(world.order(Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::DiskFull));
    assert_eq!(world.replace(first, 20, "100"), None);
    assert_eq!(world.refused, Some(Why::DiskFull));
    let still = world.rerun("CLIENT/C3", "RC6,RC7,RC15").unwrap_err();
    assert!(still.contains("the disk of the OMS is full"), "{still}");
    assert!(world.cancel(first).is_some());
    world.report(&about(second, second, ReportKind::End(End::Cancelled)));
    assert!(!world.stands(second).is_open());
    world.core.set_on_reserve(false);
    assert!(world.order(Side::Buy, 10, "100").is_some());
    world.check();
}
