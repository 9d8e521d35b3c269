//! New settings for a core.

use crate::state::event::{LimitEvent, LineEvent, ReloadEvent};
use crate::values::ids::InstrumentNo;
use fixwire_protocol::OperatorCommand;

use super::*;
use crate::decide::reload::{NewSettings, ReloadKind};
use crate::values::limits::RiskControl;
use crate::values::rules::{AccountRule, FlowRule, LimitRule, ReferencePrice, ScopeName};
use crate::values::value::PriceField;

const COMMAND: OperatorCommand<'_> = OperatorCommand {
    bytes: crate::RELOAD,
    who: "ann",
    why: "a test",
};

impl World {
    fn reload(&mut self, mut rules: RiskRules) -> Result<String, String> {
        rules.hash ^= 1 + self.core.state().events();
        let mut new = NewSettings {
            rules,
            kind: ReloadKind::Files,
            is_applied: false,
        };
        let plan = self.core.plan_reload(&new, COMMAND)?;
        self.tell(|core, at, mut sink| core.reload(at, &mut new, &plan, COMMAND, &mut sink))
    }
}

/// A limit of each account.
fn many(accounts: usize, value: i128) -> RiskRules {
    let mut rules = rules(LIMITS);
    for number in 0..accounts {
        let name = format!("B{number}");
        let parent = Some("DESK".into());
        let scope = ScopeName::Account(name.clone());
        rules.accounts.push(AccountRule { name, parent });
        for control in [RiskControl::OrderQuantity, RiskControl::OpenOrders] {
            let scope = scope.clone();
            rules.limits.push(LimitRule {
                scope,
                control,
                value,
            });
        }
    }
    rules
}

#[test]
fn ten_thousand_accounts_change_in_one_event() {
    const ACCOUNTS: usize = 10_000;
    let mut core = Core::new(many(ACCOUNTS, 100));
    let names = SESSIONS.map(String::from);
    let mut none = |_: &OmsState, _: &OrderEvent<'_>| {};
    assert!(core.begin(1, 20_261_122, 7, &names, usize::MAX, &mut none));
    let mut new = NewSettings {
        rules: many(ACCOUNTS, 200),
        kind: ReloadKind::Files,
        is_applied: false,
    };
    new.rules.hash = 1;
    let began = std::time::Instant::now();
    let plan = core.plan_reload(&new, COMMAND).unwrap();
    let bytes = plan.bytes(COMMAND);
    assert!(
        bytes < 2 << 20,
        "{bytes} bytes are more than a record has room for"
    );
    let mut notes = Vec::new();
    let mut sink = |_: &OmsState, event: &OrderEvent<'_>| {
        let mut note = Vec::new();
        event.put(&mut note);
        assert!(note.len() <= bytes);
        notes.push(note);
    };
    let said = core.reload(2, &mut new, &plan, COMMAND, &mut sink).unwrap();
    std::eprintln!("{bytes} bytes in {:?}", began.elapsed());
    assert_eq!(notes.len(), 1);
    assert!(said.starts_with("reloaded: 20000 changes\n"));
    assert!(said.ends_with("\n...\tand 19500 more\t\t"));
    assert!(OrderEvent::of(&notes[0]).is_some());
    let last = core.scope(&ScopeName::Account("B9999".into())).unwrap();
    let limit = core.state().limit(last, RiskControl::OpenOrders);
    assert_eq!(limit, Some(200));
}

#[test]
fn a_damaged_reload_changes_nothing() {
    let mut world = World::new();
    let before = world
        .core
        .state()
        .limit(crate::Scope::Firm, RiskControl::OrderQuantity);
    let mut nested = Vec::new();
    let limit = OrderEvent::Limit(LimitEvent::Limit {
        scope: crate::Scope::Firm,
        control: 0,
        value: Some(1),
        filed: true,
        who: b"",
        why: b"",
    });
    crate::NestedEvents::push(&mut nested, |to| limit.put(to));
    // An event that is none of settings, and one that is cut.
    let mut other = nested.clone();
    let ended = OrderEvent::Line(LineEvent::LineDown { line: LINES[0] });
    crate::NestedEvents::push(&mut other, |to| ended.put(to));
    for changes in [&other[..], &nested[..nested.len() - 1]] {
        let event = OrderEvent::Reload(ReloadEvent::Reloaded {
            settings: 7,
            back: false,
            who: b"ann",
            why: b"",
            changes: crate::NestedEvents(changes),
        });
        assert!(!world.core.state.apply(5, &event));
        let state = world.core.state();
        assert_eq!(
            state.limit(crate::Scope::Firm, RiskControl::OrderQuantity),
            before
        );
        assert!(state.is_ready(LINES[0]) && state.settings != 7);
    }
}

#[test]
fn queued_orders_keep_their_place_and_a_longer_flow_waits() {
    let flow = |count, seconds: i64| FlowRule {
        count,
        time: seconds * 1_000_000_000,
        kept: 0,
    };
    let with = |flow| {
        let mut rules = rules(LIMITS);
        rules.groups[0].lines.truncate(1);
        rules.groups[0].queue = Some(60_000_000_000);
        rules.groups[0].flow = Some(flow);
        rules
    };
    let mut world = World::of(with(flow(1, 10)));
    world.at += 10_000_000_000;
    let orders = [0, 1, 2].map(|_| world.order(Side::Buy, 10, "100").unwrap());
    let sent = |world: &World| world.sent.iter().map(|it| it.0.order).collect::<Vec<_>>();
    assert_eq!(sent(&world), orders[..1]);
    // Two in ten seconds: one more may go.
    world.reload(with(flow(2, 10))).unwrap();
    assert_eq!(world.said, ["Reloaded"]);
    world.work();
    assert_eq!(sent(&world), orders[..2]);
    // How much was sent in the twenty seconds before is not known.
    world.reload(with(flow(9, 20))).unwrap();
    world.work();
    world.at += 19_000_000_000;
    world.work();
    assert_eq!(sent(&world), orders[..2]);
    world.at += 1_000_000_000;
    world.work();
    assert_eq!(sent(&world), orders);
    world.check();
}

#[test]
fn prices_are_forgotten_with_the_session_that_gave_them() {
    let with = |source: &str, value: i128| {
        let mut rules = rules(LIMITS);
        rules.market_data = alloc::vec![source.into()];
        rules.reference_price = ReferencePrice::Last;
        rules.limits[0].value = value;
        rules
    };
    let mut world = World::of(with("SIM-1", 1000));
    let of_market = |world: &World| world.core.market_price(InstrumentNo::new(0), Side::Buy);
    world.tell(|core, _, _| {
        core.set_price(
            InstrumentNo::new(0),
            PriceField::Last,
            Some(20_000),
            Some(LINES[0]),
        )
    });
    world.reload(with("SIM-1", 900)).unwrap();
    assert_eq!(of_market(&world), Some(20_000), "the session is the same");
    world.reload(with("SIM-2", 900)).unwrap();
    assert_eq!(of_market(&world), None);
    world.check();
}
