//! What a venue says and does not agree with an order: asked, alarmed, settled.

use super::*;
use crate::state::event::LifecycleEvent;
use crate::state::orders::transition::OrderState::{Ended, Parent, Working};
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::value::{BreakKind, End};
use fixwire_protocol::OperatorCommand;

const SECOND: i64 = 1_000_000_000;

fn decimal(text: &str) -> Option<Decimal> {
    Decimal::parse(text.as_bytes()).ok()
}

impl World {
    /// A fill with the CumQty(14) and AvgPx(6) of the venue.
    fn fill_said(&mut self, order: Number, quantity: i64, price: &str, (cum, avg): (i64, &str)) {
        self.execs += 1;
        let report = VenueReport {
            exec: self.execs,
            last_quantity: Some(Decimal::from_int(quantity)),
            last_price: decimal(price),
            filled: Some(Decimal::from_int(cum)),
            average: decimal(avg),
            ..about(order, order, ReportKind::Fill)
        };
        self.report(&report);
    }

    fn bust(&mut self, order: Number, exec: u64, by: u64) {
        let report = VenueReport {
            exec: by,
            reference: Some(exec),
            status: b'1',
            ..about(order, order, ReportKind::Bust)
        };
        self.report(&report);
    }

    fn due(&mut self) {
        self.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
    }

    /// Kinds and numbers of the open breaks.
    fn broken(&self) -> Vec<(BreakKind, u64)> {
        let breaks = self.core.state().breaks.iter();
        breaks.map(|(number, found)| (found.kind, number)).collect()
    }

    fn settles_as(&mut self, who: &str, number: u64, which: &str) -> Result<String, String> {
        let text = format!("settle break={number} {which}");
        let mut answer = Ok(String::new());
        self.tell(|core, at, mut sink| {
            let command = OperatorCommand {
                bytes: text.as_bytes(),
                who,
                why: "by telephone",
            };
            answer = crate::desk::command::carry_out(core, at, command, &mut sink);
        });
        answer
    }
}

#[test]
fn a_lost_fill_is_asked_about_and_an_alarm_after_five_seconds() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    world.fill_said(order, 10, "100", (10, "100"));
    world.fill_said(order, 80, "100", (100, "99.9"));
    assert_eq!(world.said, ["Filled", "VenueBroken"]);
    world.work();
    assert_eq!(world.said, ["Asked"]);
    world.due();
    assert_eq!(world.said, [""; 0], "the venue has 5 s");
    world.at += 5 * SECOND;
    world.due();
    assert_eq!(world.said, ["BreakAlarmed"]);
    world.due();
    assert_eq!(world.said, [""; 0], "once");
    let list = world.core.breaks();
    assert!(list.contains("\tCumQty 90\tCumQty 100\t"), "{list}");
    world.restart(20_261_122);
    // The lost one: 100 x 99.9 - 90 x 100.
    let (_, number) = world.broken()[0];
    let answer = world.settles_as("ann", number, "venue");
    assert_eq!(
        answer.unwrap(),
        format!("break {number}: settled with the venue's value")
    );
    assert_eq!(world.said, ["BreakSettled", "Filled"]);
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!((known.filled, known.state), (100, Ended(End::Filled)));
    assert_eq!(known.paid, 999_000);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        100
    );
    assert!(world.core.state().firm.tally.is_flat());
    world.check();
}

#[test]
fn a_late_fill_and_an_answer_close_their_breaks() {
    let mut world = World::new();
    let order = world.order(Side::Sell, 100, "100").unwrap();
    world.accept(order);
    world.fill_said(order, 20, "100", (30, "100"));
    assert_eq!(world.broken()[0].0, BreakKind::FillsMissing);
    // In any order: the largest CumQty counts.
    world.fill_said(order, 10, "100", (10, "100"));
    assert_eq!(world.said, ["Filled", "BreakClosed"]);
    // One that CumQty does not count, until the venue's answer does.
    world.fill_said(order, 10, "100", (30, "100"));
    assert_eq!(world.broken()[0].0, BreakKind::NotCounted);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .short,
        30
    );
    let answer = VenueReport {
        filled: Some(Decimal::from_int(40)),
        ..about(order, order, ReportKind::Status(b'1'))
    };
    world.report(&answer);
    assert_eq!(world.said, ["BreakClosed", "Filled"]);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .short,
        40
    );
    assert_eq!(world.broken(), []);
    world.check();
}

/// An operator entered a part of a fill that the venue reports later: one difference, which two reports show.
#[test]
fn two_breaks_about_one_fill_are_settled_once_in_either_order() {
    for (first, at_first) in [
        (BreakKind::NotCounted, "the report's"),
        (BreakKind::FillsMissing, "the answer's"),
    ] {
        for average in ["", "100"] {
            let mut world = World::new();
            let order = world.order(Side::Buy, 100, "100").unwrap();
            world.accept(order);
            // Without CumQty(14), as by hand.
            let entered = VenueReport {
                exec: 77,
                last_quantity: Some(Decimal::from_int(10)),
                last_price: decimal("100"),
                ..about(order, order, ReportKind::Fill)
            };
            world.report(&entered);
            world.fill_said(order, 50, "100", (50, average));
            let answer = VenueReport {
                filled: Some(Decimal::from_int(50)),
                average: decimal("100"),
                ..about(order, order, ReportKind::Status(b'1'))
            };
            world.report(&answer);
            let broken = world.broken();
            let kinds: Vec<BreakKind> = broken.iter().map(|it| it.0).collect();
            assert_eq!(kinds, [BreakKind::NotCounted, BreakKind::FillsMissing]);
            let (_, number) = broken.into_iter().find(|it| it.0 == first).unwrap();
            world.settles_as("ann", number, "venue").unwrap();
            assert_eq!(
                world.said,
                ["BreakSettled", "Filled", "BreakClosed"],
                "{at_first}"
            );
            assert_eq!(world.broken(), []);
            let known = world.core.state().orders().get(order).unwrap();
            assert_eq!((known.filled, known.paid), (50, 500_000));
            assert_eq!(
                world
                    .core
                    .state()
                    .position(AccountNo::new(1), InstrumentNo::new(0))
                    .long,
                50
            );
            world.check();
        }
    }
}

#[test]
fn limits_count_the_larger_of_both() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    let larger = VenueReport {
        quantity: Some(Decimal::from_int(150)),
        price: decimal("110"),
        ..about(order, order, ReportKind::New)
    };
    world.report(&larger);
    let state = world.core.state();
    assert_eq!(state.firm.tally.buying, 150);
    assert_eq!(
        state.firm.tally.reserved,
        state.worth(InstrumentNo::new(0), 11_000, 150).unwrap()
    );
    let known = state.orders().get(order).unwrap();
    assert_eq!((known.quantity, known.price), (100, 10_000));
    for (_, number) in world.broken() {
        world.settles_as("ann", number, "ours").unwrap();
    }
    assert_eq!(world.core.state().firm.tally.buying, 100);
    // The same word does not raise it again, another one does.
    let again = VenueReport {
        filled: Some(Decimal::from_int(0)),
        kind: ReportKind::Status(b'0'),
        ..larger
    };
    world.report(&again);
    assert_eq!(world.said, [""; 0]);
    let other = VenueReport {
        quantity: Some(Decimal::from_int(160)),
        ..again
    };
    world.report(&other);
    let (kind, number) = world.broken()[0];
    assert_eq!(kind, BreakKind::Quantity);
    world.settles_as("ann", number, "venue").unwrap();
    assert_eq!(world.said, ["BreakSettled", "TermsSettled"]);
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!((known.quantity, known.state), (160, Working));
    world.check();
}

#[test]
fn an_order_is_live_again_after_a_bust_and_a_kill_reaches_it() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    world.fill_said(order, 40, "100", (40, "100"));
    world.fill_said(order, 60, "100", (100, "100"));
    assert_eq!(world.core.state().end_of(order), Some(End::Filled));
    let exec = world.execs;
    world.bust(order, exec, 900);
    assert_eq!(world.said, ["Busted"]);
    world.bust(order, exec, 900);
    assert_eq!(world.said, [""; 0], "it came before");
    world.bust(order, exec, 901);
    assert_eq!(world.broken()[0].0, BreakKind::Bust);
    let state = world.core.state();
    assert_eq!(state.orders().get(order).unwrap().leaves(), 60);
    assert_eq!(
        state.position(AccountNo::new(1), InstrumentNo::new(0)).long,
        40
    );
    assert_eq!(
        state.firm.tally.traded,
        state.worth(InstrumentNo::new(0), 10_000, 40).unwrap()
    );
    world.check();
    world.tell(|core, at, mut sink| {
        core.set_trading(
            at,
            crate::Scope::Firm,
            crate::Trading::Killed,
            by(b"ann", b"why"),
            &mut sink,
        );
    });
    world.work();
    assert!(
        world.said.contains(&"CancelTaken".to_string()),
        "{:?}",
        world.said
    );
    world.restart(20_261_123);
    world.check();
}

#[test]
fn the_parent_of_a_busted_fill_goes_on() {
    let mut rules = rules(LIMITS);
    rules.users[0].parents = Some(2);
    let mut world = World::of(rules);
    world.puts(NewOrder {
        ..family::plain(50, "100", family::as_parent())
    });
    let parent = world.core.state().last;
    world.puts(NewOrder {
        ..family::plain(50, "100", family::child_of(parent))
    });
    let child = world.core.state().last;
    world.accept(child);
    let exec = world.fill(child, 50, "100");
    assert_eq!(world.core.state().end_of(parent), Some(End::Filled));
    world.bust(child, exec, 900);
    assert_eq!(world.said, ["Busted", "ParentCorrected"]);
    let orders = world.core.state().orders();
    for (order, state) in [(parent, Parent), (child, Working)] {
        let order = orders.get(order).unwrap();
        assert_eq!((order.filled, order.paid, order.state), (0, 0, state));
    }
    world.check();
    world.fill(child, 50, "99.95");
    assert_eq!(world.core.state().end_of(parent), Some(End::Filled));
    world.check();
}

#[test]
fn doubtful_fills_are_counted_in_the_order_in_which_they_were_reported() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    for (exec, quantity) in [(900, 10), (5, 20)] {
        let report = VenueReport {
            exec,
            last_quantity: Some(Decimal::from_int(quantity)),
            last_price: decimal("100"),
            filled: Some(Decimal::from_int(0)),
            ..about(order, order, ReportKind::Fill)
        };
        world.report(&report);
    }
    let answer = VenueReport {
        filled: Some(Decimal::from_int(10)),
        ..about(order, order, ReportKind::Status(b'1'))
    };
    world.report(&answer);
    assert_eq!(world.said, ["BreakClosed", "Filled", "BreakClosed"]);
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        10
    );
    assert_eq!(world.broken(), []);
    world.check();
}

#[test]
fn a_bust_of_a_fill_that_was_settled_away_is_a_break() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    let exec = world.fill(order, 50, "100");
    let answer = VenueReport {
        filled: Some(Decimal::from_int(0)),
        status: b'0',
        ..about(order, order, ReportKind::Status(b'0'))
    };
    world.report(&answer);
    let (kind, number) = world.broken()[0];
    assert_eq!(kind, BreakKind::FillsSurplus);
    world.settles_as("ann", number, "venue").unwrap();
    assert_eq!(
        world
            .core
            .state()
            .position(AccountNo::new(1), InstrumentNo::new(0))
            .long,
        0
    );
    world.bust(order, exec, 901);
    assert_eq!(world.said, ["VenueBroken"]);
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!((known.filled, known.state), (0, Working));
    world.check();
}

/// The venue called the order open when the break began, and then it cancelled the order.
#[test]
fn fewer_fills_open_no_order_that_was_cancelled_since() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    world.fill(order, 7, "100");
    let answer = VenueReport {
        filled: Some(Decimal::from_int(6)),
        ..about(order, order, ReportKind::Status(b'1'))
    };
    world.report(&answer);
    let (kind, number) = world.broken()[0];
    assert_eq!(kind, BreakKind::FillsSurplus);
    let cancel = world.cancel(order).unwrap();
    let cancelled = VenueReport {
        filled: Some(Decimal::from_int(6)),
        ..about(order, cancel, ReportKind::End(End::Cancelled))
    };
    world.report(&cancelled);
    world.settles_as("ann", number, "venue").unwrap();
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!((known.filled, known.state), (6, Ended(End::Cancelled)));
    world.check();
}

/// A venue that says Filled with a CumQty(14) below OrderQty(38) has an order of that quantity.
#[test]
fn a_smaller_order_that_the_venue_calls_filled_is_settled_with_its_quantity() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.accept(order);
    world.fill(order, 40, "100");
    let answer = VenueReport {
        filled: Some(Decimal::from_int(40)),
        status: b'2',
        ..about(order, order, ReportKind::Status(b'2'))
    };
    world.report(&answer);
    let (kind, number) = world.broken()[0];
    assert_eq!(kind, BreakKind::Status);
    world.settles_as("ann", number, "venue").unwrap();
    assert_eq!(world.said, ["BreakSettled", "TermsSettled"]);
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!((known.quantity, known.state), (40, Ended(End::Filled)));
    world.check();
}

#[test]
fn an_order_that_is_at_no_venue_is_not_settled_with_its_value() {
    let mut rules = rules(LIMITS);
    rules.users[0].parents = Some(2);
    let mut world = World::of(rules);
    world.puts(NewOrder {
        ..family::plain(50, "100", family::as_parent())
    });
    let parent = world.core.state().last;
    world.puts(NewOrder {
        ..family::plain(50, "100", family::child_of(parent))
    });
    let child = world.core.state().last;
    world.accept(child);
    world.fill(child, 50, "100");
    let answer = VenueReport {
        filled: Some(Decimal::from_int(10)),
        status: b'1',
        ..about(parent, parent, ReportKind::Status(b'1'))
    };
    world.report(&answer);
    for (_, number) in world.broken() {
        let refused = world.settles_as("ann", number, "venue").unwrap_err();
        assert!(refused.contains("at no venue"), "{refused}");
        world.settles_as("ann", number, "ours").unwrap();
    }
    assert_eq!(world.core.state().end_of(parent), Some(End::Filled));
    world.restart(20_261_122);
    world.check();
}

#[test]
fn a_bust_of_a_child_that_fits_no_fill_leaves_what_its_parent_may_send() {
    let mut rules = rules(LIMITS);
    rules.users[0].parents = Some(2);
    let mut world = World::of(rules);
    world.puts(NewOrder {
        ..family::plain(100, "100", family::as_parent())
    });
    let parent = world.core.state().last;
    world.puts(NewOrder {
        ..family::plain(60, "100", family::child_of(parent))
    });
    let child = world.core.state().last;
    world.accept(child);
    world.fill(child, 30, "100");
    let bust = VenueReport {
        last_quantity: Some(Decimal::from_int(30)),
        ..about(child, child, ReportKind::Bust)
    };
    world.report(&bust);
    assert_eq!(world.said, ["VenueBroken"]);
    let tally = world.core.state().firm.tally;
    // 30 of the child, 40 of its parent; the bust may give 30 back.
    assert_eq!((tally.buying, tally.selling), (70, 30));
    world.check();
}

#[test]
fn two_operators_settle_a_break_where_two_arm() {
    let mut rules = rules(LIMITS);
    rules.two_arm = true;
    let mut world = World::of(rules);
    let order = world.order(Side::Buy, 100, "100").unwrap();
    world.fill_said(order, 10, "100", (20, "100"));
    let (_, number) = world.broken()[0];
    assert!(
        world
            .settles_as("ann", number, "venue")
            .unwrap()
            .contains("another operator")
    );
    assert!(world.settles_as("ann", number, "venue").is_err());
    assert!(world.settles_as("bob", number, "both").is_err());
    assert!(world.settles_as("bob", number + 1, "venue").is_err());
    world.settles_as("bob", number, "venue").unwrap();
    assert_eq!(world.core.state().orders().get(order).unwrap().filled, 20);
    assert_eq!(world.broken(), []);
    world.check();
}

#[test]
fn a_fill_costs_the_same_however_many_there_were() {
    let mut world = World::with(
        "scope,control,limit\nfirm,RC6,1000000\nfirm,RC7,1000000000\nfirm,RC8,10\n\
                                 firm,RC13,100\nfirm,RC14,100000000000\nfirm,RC15,5000000\n",
    );
    let order = world.order(Side::Buy, 1_000_000, "100").unwrap();
    world.accept(order);
    let state = &mut world.core.state;
    for exec in 1..=90_000 {
        let event = OrderEvent::Order(LifecycleEvent::Filled {
            order,
            exec,
            quantity: 10,
            price: 10_000,
            at: 0,
        });
        // With a walk over all of them this takes minutes.
        assert!(state.apply(0, &event));
    }
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let mut read = OmsState::default();
    read.read(state.form().1, &written).unwrap();
    assert_eq!(read.hash(), state.hash());
    assert!(read.orders().has_fill(order, 77) && !read.orders().has_fill(order, 0));
}

#[test]
fn a_fill_at_a_price_of_more_digits_is_kept_exactly() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 20, "100").unwrap();
    world.fill(order, 10, "99.985");
    world.fill(order, 10, "99.9849");
    let state = world.core.state();
    let position = state.position(AccountNo::new(1), InstrumentNo::new(0));
    assert_eq!(
        state.scale(InstrumentNo::new(0)),
        4,
        "a tick of 0.05 has 2 decimals"
    );
    let worth = 10 * 999_850 + 10 * 999_849;
    assert_eq!((position.long, position.paid), (20, worth));
    assert_eq!(state.orders().get(order).unwrap().paid, worth);
    // The limits count the same, and new orders have their tick still.
    assert_eq!(
        state.firm.tally.traded,
        state.worth(InstrumentNo::new(0), 1, 0).unwrap() + 2 * worth * 100_000
    );
    assert!(world.order(Side::Buy, 10, "100.05").is_some());
    assert_eq!(world.order(Side::Buy, 10, "100.051"), None);
    assert_eq!(world.refused, Some(Why::Tick));
    world.check();
}

impl World {
    /// A fill under an id that no order has; the number of its break.
    fn stray_fill(&mut self, exec: u64, quantity: i64) -> u64 {
        let report = VenueReport {
            exec,
            symbol: b"XYZ",
            account: b"A1",
            side: Some(Side::Buy),
            last_quantity: Some(Decimal::from_int(quantity)),
            last_price: decimal("100"),
            ..about(9_999, 9_999, ReportKind::Fill)
        };
        self.report(&report);
        assert_eq!(self.said, ["StrayFill"]);
        self.core.state().events()
    }

    fn held(&self) -> i128 {
        let positions = self.core.state().positions();
        positions.map(|(.., position)| position.net()).sum()
    }
}

#[test]
fn a_fill_of_an_unknown_order_is_in_the_position_until_it_is_settled() {
    let mut world = World::new();
    let kept = world.stray_fill(71, 30);
    let taken = world.stray_fill(72, 40);
    let busted = world.stray_fill(73, 50);
    assert_eq!(world.held(), 120);
    let list = world.core.breaks();
    let line = format!("\n{taken}\tfill of an order that is not known here\t0\t");
    assert!(
        list.contains(&line) && list.contains("\tbuy 40 at 100\t"),
        "{list}"
    );
    world.restart(20_261_122);
    assert_eq!(world.core.breaks(), list, "over a restart");
    let answer = world.settles_as("ann", kept, "venue");
    assert_eq!(
        answer.unwrap(),
        format!("break {kept}: settled: the position keeps the fill")
    );
    assert_eq!(world.held(), 120);
    world.settles_as("ann", taken, "ours").unwrap();
    assert_eq!(world.held(), 80);
    assert_eq!(world.said, ["BreakSettled"]);
    let bust = VenueReport {
        exec: 74,
        reference: Some(73),
        ..about(9_999, 9_999, ReportKind::Bust)
    };
    world.report(&bust);
    assert_eq!(world.held(), 30);
    assert_eq!(world.core.breaks().lines().count(), 1, "none is left");
    assert!(world.settles_as("ann", busted, "ours").is_err());
    world.report(&bust);
    assert_eq!((world.held(), world.said.len()), (30, 0), "once");
    world.check();
}

#[test]
fn a_second_operator_settles_a_fill_of_an_unknown_order() {
    let mut world = World::new();
    world.core.rules.two_arm = true;
    let number = world.stray_fill(71, 30);
    world.settles_as("ann", number, "ours").unwrap();
    assert_eq!(world.held(), 30);
    assert_eq!(world.said, ["SettleAsked"]);
    assert!(world.settles_as("ann", number, "ours").is_err());
    // A request for the other value is another request, also of the same operator.
    let answer = world.settles_as("ann", number, "venue").unwrap();
    assert!(answer.contains("another operator"), "{answer}");
    let answer = world.settles_as("ann", number, "ours").unwrap();
    assert!(answer.contains("another operator"), "{answer}");
    world.restart(20_261_122);
    world.settles_as("bob", number, "ours").unwrap();
    assert_eq!(world.held(), 0);
    world.check();
}

#[test]
fn the_highest_price_of_a_symbol_leaves_its_prices_fewer_decimals() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 30, "100").unwrap();
    world.fill(order, 10, "1000000000");
    world.fill(order, 10, "5.123456789");
    let state = world.core.state();
    assert_eq!(state.scale(InstrumentNo::new(0)), 5);
    let paid = 10 * 100_000_000_000_000 + 10 * 512_346;
    assert_eq!(state.orders().get(order).unwrap().paid, paid);
    world.check();
}

#[test]
fn limits_count_what_a_correction_that_fits_no_fill_may_change() {
    // ExecRefID(19) is that of the fill or of none; CumQty(14), LastQty(32), and what limits count as bought and sold.
    for (is_its, cum, last, buying, selling) in [
        (false, Some(12), 12, 90, 0),
        (false, Some(30), 30, 110, 0),
        (false, Some(4), 4, 90, 6),
        (true, Some(10), 8, 90, 2),
        (false, None, 4, 90, 6),
    ] {
        let mut world = World::new();
        let order = world.order(Side::Buy, 100, "100").unwrap();
        world.accept(order);
        world.fill_said(order, 10, "100", (10, "100"));
        let left = Decimal::from_int(90);
        let report = VenueReport {
            exec: 900,
            reference: Some(if is_its { world.execs } else { 77 }),
            last_quantity: Some(Decimal::from_int(last)),
            last_price: decimal("100"),
            filled: cum.map(Decimal::from_int),
            leaves: cum.filter(|cum| *cum == 30).map(|_| left),
            status: b'1',
            ..about(order, order, ReportKind::Correct)
        };
        world.report(&report);
        let (kind, number) = world.broken()[0];
        assert_eq!(kind, BreakKind::Correction);
        let tally = world.core.state().firm.tally;
        assert_eq!((tally.buying, tally.selling), (buying, selling), "{cum:?}");
        world.check();
        world.settles_as("ann", number, "ours").unwrap();
        let tally = world.core.state().firm.tally;
        assert_eq!((tally.buying, tally.selling), (90, 0));
        world.check();
    }
}
