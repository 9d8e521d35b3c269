//! Parent orders, and child orders that are sent for them.

use super::*;
use crate::desk::command::carry_out;
use crate::state::orders::transition::OrderState::{Ended, Held, Parent, Unknown, Working};
use crate::state::parents::FamilyRole;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::value::{Effect, End};
use crate::{OrderState, PriceCondition, Scope, Terms};
use fixwire_protocol::OperatorCommand;

mod ends;

fn world_with(parents: usize, change: impl FnOnce(&mut RiskRules)) -> World {
    let mut rules = rules(LIMITS);
    rules.users[0].parents = Some(parents);
    rules.users[0].conditional = Some(10);
    rules.rejects_self_trades = true;
    change(&mut rules);
    World::of(rules)
}

fn world() -> World {
    world_with(10, |_| {})
}

pub fn as_parent() -> Terms {
    Terms {
        role: Some(FamilyRole::Parent),
        ..Terms::NONE
    }
}

pub fn child_of(parent: Number) -> Terms {
    Terms {
        role: Some(FamilyRole::Child(parent)),
        ..Terms::NONE
    }
}

/// An order of a family: what most tests do not change.
pub fn plain(quantity: i64, price: &str, terms: Terms) -> NewOrder<'_> {
    NewOrder {
        session: CLIENT,
        id: b"",
        account: b"A1",
        symbol: b"XYZ",
        side: Some(Side::Buy),
        kind: Some(OrderType::Limit),
        tif: Some(TimeInForce::Day),
        price: Decimal::parse(price.as_bytes()).ok(),
        stop: None,
        quantity: Decimal::from_int(quantity),
        is_located: false,
        own_number: b"",
        route: None,
        terms,
        until: None,
        effect: Some(Effect::Netting),
    }
}

impl World {
    pub fn puts(&mut self, new: NewOrder<'_>) -> Option<Number> {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        let new = NewOrder {
            id: id.as_bytes(),
            ..new
        };
        self.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }

    fn parent(&mut self, quantity: i64, price: &str) -> Number {
        let order = self.puts(plain(quantity, price, as_parent())).unwrap();
        assert_eq!(self.said, ["Taken", "ParentAccepted"]);
        order
    }

    fn child(&mut self, parent: Number, quantity: i64, price: &str) -> Number {
        let order = self.puts(plain(quantity, price, child_of(parent)));
        assert_eq!(
            self.said,
            ["ChildOf", "Taken", "Sent"],
            "{:?}",
            self.refused
        );
        order.unwrap()
    }

    /// The venue busts a fill of an order, whose OrdStatus(39) it says.
    fn bust_as(&mut self, order: Number, fill: u64, status: u8) {
        let known = self.core.state().orders().get(order).unwrap();
        let report = VenueReport {
            exec: 900 + fill,
            reference: Some(fill),
            status,
            ..about(order, known.current, ReportKind::Bust)
        };
        self.report(&report);
    }

    /// Why a child is refused.
    fn refuses(&mut self, new: NewOrder<'_>) -> Why {
        assert_eq!(self.puts(new), None);
        assert_eq!(self.said, ["Refused"]);
        self.refused.unwrap()
    }

    fn stage_of(&self, order: Number) -> OrderState {
        self.core.state().orders().get(order).unwrap().state
    }

    /// Open to buy, and the value that is reserved, in whole money.
    fn usage(&self) -> (u64, i128) {
        let tally = self.core.state().standing(Scope::Firm).unwrap().tally;
        (tally.buying, tally.reserved / 1_000_000_000)
    }

    fn filled(&self, order: Number) -> (u64, u64, i128) {
        let order = self.core.state().orders().get(order).unwrap();
        (order.filled, order.leaves(), order.paid)
    }

    fn command(&mut self, text: &str) -> String {
        let command = OperatorCommand {
            bytes: text.as_bytes(),
            who: "ann",
            why: "why",
        };
        let done = self.tell(|core, at, mut sink| carry_out(core, at, command, &mut sink));
        done.unwrap()
    }

    /// The cancel of a child by the OMS is confirmed.
    fn confirm_cancel(&mut self, child: Number) {
        let orders = self.core.state().orders();
        let request = orders
            .request_of(orders.get(child).unwrap())
            .unwrap()
            .number;
        self.report(&about(child, request, ReportKind::End(End::Cancelled)));
    }
}

#[test]
fn a_parent_is_not_sent_and_its_children_are() {
    let mut world = world();
    let parent = world.parent(100, "100");
    assert_eq!((world.stage_of(parent), world.sent.len()), (Parent, 0));
    assert_eq!(world.usage(), (100, 20_000));
    world.check();
    let child = world.child(parent, 60, "99.95");
    assert_eq!(world.sent.len(), 1);
    // 40 at 100 and 60 at 99.95, twice.
    assert_eq!(world.usage(), (100, 19_994));
    world.accept(child);
    world.fill(child, 20, "99.95");
    assert_eq!(world.said, ["Filled", "ParentFilled"]);
    assert_eq!(world.filled(parent), (20, 80, 199_900));
    assert_eq!(world.usage(), (80, 15_996));
    let position = world
        .core
        .state()
        .position(AccountNo::new(1), InstrumentNo::new(0));
    assert_eq!(position.long, 20, "once");
    world.check();
    let other = world.child(parent, 40, "100");
    world.fill(other, 40, "100");
    world.fill(child, 40, "99.90");
    assert_eq!(world.said, ["Filled", "ParentFilled"]);
    assert_eq!(world.stage_of(parent), Ended(End::Filled));
    assert_eq!(
        world.filled(parent),
        (100, 0, 20 * 9_995 + 40 * 10_000 + 40 * 9_990)
    );
    assert_eq!(world.usage(), (0, 0));
    world.work();
    world.check();
}

#[test]
fn children_never_hold_more_than_their_parent_has() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = world.child(parent, 60, "100");
    let why = world.refuses(plain(50, "100", child_of(parent)));
    assert_eq!(why, Why::ParentQuantity);
    world.accept(child);
    world.fill(child, 30, "100");
    assert_eq!(
        world.refuses(plain(50, "100", child_of(parent))),
        Why::ParentQuantity,
        "what is filled counts too"
    );
    world.child(parent, 40, "100");
    assert_eq!(world.replace(child, 70, "100"), None);
    assert_eq!(world.refused, Some(Why::ParentQuantity));
    // A child that ends gives back what it has not filled.
    let cancel = world.cancel(child).unwrap();
    world.report(&about(child, cancel, ReportKind::End(End::Cancelled)));
    assert_eq!(world.usage(), (70, 14_000));
    world.check();
    let last = world.child(parent, 30, "100");
    let reject = about(last, last, ReportKind::Rejected);
    world.report(&reject);
    assert_eq!(world.usage(), (70, 14_000));
    world.check();
}

#[test]
fn a_child_is_replaced_within_its_parent() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = world.child(parent, 40, "99.95");
    world.accept(child);
    let replace = world.replace(child, 90, "100").unwrap();
    assert_eq!(world.usage().0, 100, "90 of the child, 10 of the parent");
    assert_eq!(
        world.refuses(plain(20, "100", child_of(parent))),
        Why::ParentQuantity
    );
    world.report(&about(child, replace, ReportKind::Replaced));
    world.check();
    assert_eq!(world.replace(child, 90, "100.05"), None);
    assert_eq!(world.refused, Some(Why::ParentTerms));
    let replace = world.replace(child, 20, "100").unwrap();
    assert_eq!(world.usage().0, 100);
    world.report(&about(child, replace, ReportKind::Replaced));
    assert_eq!(world.usage().0, 100);
    world.child(parent, 80, "100");
    world.check();
}

#[test]
fn a_child_fits_its_parent() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = |terms| plain(10, "100", terms);
    let of = child_of(parent);
    let differs = [
        NewOrder {
            account: b"A2",
            ..child(of)
        },
        NewOrder {
            symbol: b"ABC",
            price: Decimal::parse(b"50").ok(),
            ..child(of)
        },
        NewOrder {
            side: Some(Side::Sell),
            ..child(of)
        },
        NewOrder {
            kind: Some(OrderType::Market),
            ..child(of)
        },
        NewOrder {
            price: Decimal::parse(b"100.05").ok(),
            ..child(of)
        },
        NewOrder {
            tif: Some(TimeInForce::GoodTillCancel),
            ..child(of)
        },
    ];
    for new in differs {
        assert_eq!(world.refuses(new), Why::ParentTerms, "{new:?}");
    }
    assert_eq!(world.refuses(child(child_of(99))), Why::NoParent);
    let order = world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(world.refuses(child(child_of(order))), Why::NoParent);
    let ioc = NewOrder {
        tif: Some(TimeInForce::ImmediateOrCancel),
        ..child(of)
    };
    assert!(world.puts(ioc).is_some());
    assert!(
        world
            .puts(NewOrder {
                price: Decimal::parse(b"99").ok(),
                ..child(of)
            })
            .is_some()
    );
    world.check();
}

#[test]
fn a_parent_with_a_later_date_may_have_children_up_to_it() {
    let mut world = world();
    let until = |date| NewOrder {
        tif: Some(TimeInForce::GoodTillDate),
        until: Some(date),
        ..plain(10, "100", Terms::NONE)
    };
    let parent = NewOrder {
        terms: as_parent(),
        quantity: Decimal::from_int(100),
        ..until(20_261_130)
    };
    let parent = world.puts(parent).unwrap();
    let of = child_of(parent);
    assert!(
        world
            .puts(NewOrder {
                terms: of,
                ..until(20_261_130)
            })
            .is_some()
    );
    let later = NewOrder {
        terms: of,
        ..until(20_261_201)
    };
    assert_eq!(world.refuses(later), Why::ParentTerms);
    assert!(world.puts(plain(10, "100", of)).is_some());
}

#[test]
fn who_may_have_parents_and_how_many() {
    let mut world = world_with(2, |_| {});
    let (first, second) = (world.parent(10, "100"), world.parent(10, "100"));
    assert_eq!(world.refuses(plain(10, "100", as_parent())), Why::Parents);
    world.cancel(first).unwrap();
    world.parent(10, "100");
    world.cancel(second).unwrap();
    for new in [
        NewOrder {
            kind: Some(OrderType::Stop),
            stop: Decimal::parse(b"100").ok(),
            ..plain(10, "100", as_parent())
        },
        NewOrder {
            tif: Some(TimeInForce::FillOrKill),
            ..plain(10, "100", as_parent())
        },
        plain(
            10,
            "100",
            Terms {
                valid_for: Some(1),
                ..as_parent()
            },
        ),
        plain(
            10,
            "100",
            Terms {
                condition: PriceCondition::parse(b"last>=1"),
                ..as_parent()
            },
        ),
    ] {
        let why = match new.terms {
            Terms {
                valid_for: None,
                condition: None,
                ..
            } => Why::Unsupported,
            _ => Why::ParentCondition,
        };
        assert_eq!(world.refuses(new), why, "{new:?}");
    }
    let mut none = World::new();
    assert_eq!(none.refuses(plain(10, "100", as_parent())), Why::NotParents);
    assert_eq!(none.refuses(plain(10, "100", child_of(1))), Why::NotParents);
}

#[test]
fn a_conditional_child_and_one_that_waits_hold_their_quantity() {
    let mut world = world_with(10, |rules| rules.groups[0].queue = Some(5_000_000_000));
    let parent = world.parent(100, "100");
    let terms = Terms {
        condition: PriceCondition::parse(b"last>=101"),
        ..child_of(parent)
    };
    let held = world.puts(plain(60, "100", terms)).unwrap();
    assert_eq!(world.said, ["ChildOf", "Taken", "Held"]);
    assert_eq!((world.stage_of(held), world.usage().0), (Held, 100));
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_down(at, line, &mut sink));
    }
    let queued = world.puts(plain(40, "100", child_of(parent))).unwrap();
    assert_eq!(world.said, ["ChildOf", "Taken", "Queued"]);
    world.check();
    world.restart(20_261_122);
    assert_eq!(world.usage().0, 100);
    let cancel = world.cancel(parent).unwrap();
    world.restart(20_261_122);
    world.work();
    for child in [held, queued] {
        assert_eq!(world.stage_of(child), Ended(End::Cancelled));
    }
    assert_eq!(world.stage_of(parent), Ended(End::Cancelled));
    assert!(world.core.state().orders().request(cancel).is_none());
    world.check();
}

#[test]
fn limits_count_a_quantity_once() {
    let limits = "scope,control,limit\nfirm,RC6,100\nfirm,RC7,20000\nfirm,RC8,10\nfirm,RC13,3\n\
                  firm,RC14,20000\nfirm,RC15,100\nfirm,RC9-value-60s,20000\nfirm,RC9-quantity-60s,100\n\
                  firm,RC5-1s,1\nfirm,RC11-unanswered,1\n";
    let mut rules = rules(limits);
    rules.users[0].parents = Some(10);
    rules.rejects_self_trades = true;
    let mut world = World::of(rules);
    let parent = world.parent(100, "100");
    let why = world.refuses(plain(10, "100", as_parent()));
    assert_eq!(why, Why::ValueMinute);
    let child = world.child(parent, 100, "100");
    world.check();
    // It is no order in the market.
    world.accept(child);
    let sell = world.order(Side::Sell, 10, "100.05");
    assert_eq!((sell, world.refused), (None, Some(Why::ValueMinute)));
    world.fill(child, 40, "100");
    world.check();
}

#[test]
fn a_parent_cannot_trade_with_an_order_of_its_owner() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let sell = world.order(Side::Sell, 10, "99").unwrap();
    world.check();
    assert_eq!(
        world.refuses(plain(10, "100", child_of(parent))),
        Why::SelfTrade
    );
    world.fill(sell, 10, "99");
    world.child(parent, 10, "100");
    world.check();
}

#[test]
fn a_family_is_told() {
    let mut world = world();
    let parent = world.parent(100, "100");
    let child = world.child(parent, 50, "99.95");
    world.fill(child, 20, "99.95");
    // The event of the parent's fill follows.
    let exec = world.core.state().events() - 1;
    let lines = |order: Number| {
        let mut history = crate::desk::history::History::new(order, OmsState::default());
        let steps = world
            .notes
            .iter()
            .filter_map(|(_, note)| history.take(note));
        steps.map(|step| step.text).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(parent),
        [
            "CLIENT as C1 for A1: buy 100 XYZ at 100",
            "accepted as a parent order: its child orders are sent for it",
            "child order 2 takes over its quantity",
            "20 filled at 99.95 by child order 2",
        ]
    );
    assert_eq!(
        lines(child),
        [
            "child order of 1",
            "CLIENT as C2 for A1: buy 50 XYZ at 99.95",
            "order sent on SIM-1",
            "accepted by the venue, OrderID V",
            &std::format!("20 filled at 99.95, ExecID {exec}"),
        ]
    );
    let answer = crate::desk::query::answer(&world.core, b"orders").unwrap();
    let rows: Vec<&str> = answer.lines().collect();
    assert!(
        rows[1].contains("\tparent, partially filled\t20\t"),
        "{answer}"
    );
    assert!(rows[2].ends_with("\t1\t"), "{answer}");
    assert_eq!(world.stage_of(child), Working);
}
