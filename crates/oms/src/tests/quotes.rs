//! Two-sided quotes over FIX: two orders that are sent together.

use super::queue::{FLOW, order};
use super::*;
use crate::desk::history::History;
use crate::state::orders::transition::OrderState::{Ended, Queued, Sent, Unknown, Working};
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::value::{End, Trading};
use crate::{NewQuote, OrderState, QuoteCancel, QuoteSide, Scope};

const SECOND: i64 = 1_000_000_000;

/// A world whose client may quote, after changes of its settings.
fn world(change: impl FnOnce(&mut RiskRules)) -> World {
    let mut rules = rules(LIMITS);
    rules.users[0].rights[0].quote = true;
    change(&mut rules);
    World::of(rules)
}

impl World {
    fn quote_of(
        &mut self,
        (id, account): (&str, &str),
        (bid, offer): (&str, &str),
        quantity: i64,
    ) -> Option<Number> {
        let side = |price: &str| {
            let price = Decimal::parse(price.as_bytes()).unwrap();
            (price, Decimal::from_int(quantity))
        };
        let quote = NewQuote {
            session: CLIENT,
            id: id.as_bytes(),
            account: account.as_bytes(),
            symbol: b"XYZ",
            bid: side(bid),
            offer: side(offer),
            tif: Some(TimeInForce::Day),
            is_tradeable: true,
        };
        self.tell(|core, at, mut sink| core.new_quote(at, &quote, &mut sink));
        self.refused.is_none().then(|| {
            let orders = self.core.state().orders().iter();
            let bids = orders.filter(|order| order.quote_side == QuoteSide::Bid);
            bids.map(|order| order.number).max().unwrap()
        })
    }

    fn quote(&mut self, id: &str, bid: &str, offer: &str) -> Option<Number> {
        self.quote_of((id, ""), (bid, offer), 10)
    }

    fn cancel_quotes(&mut self, id: &str, kind: u8, symbol: &str) {
        let cancel = QuoteCancel {
            session: CLIENT,
            id: id.as_bytes(),
            kind,
            symbol: symbol.as_bytes(),
            has_more: false,
        };
        self.tell(|core, at, mut sink| core.cancel_quotes(at, &cancel, &mut sink));
    }

    fn sides(&self, bid: Number) -> [OrderState; 2] {
        [self.stands(bid), self.stands(bid + 1)]
    }
}

#[test]
fn both_sides_are_sent_in_one_input_and_live_on_their_own() {
    let mut world = world(|_| {});
    let bid = world.quote("Q1", "99.95", "100.05").unwrap();
    assert_eq!(world.said, ["Taken", "Taken", "Quoted", "QuoteSent"]);
    let line = world.sent[0].1;
    assert_eq!(world.sent, [(order(bid), line), (order(bid + 1), line)]);
    assert_eq!(world.sides(bid), [Sent, Sent]);
    let (first, second) = {
        let orders = world.core.state().orders();
        (orders.get(bid).unwrap(), orders.get(bid + 1).unwrap())
    };
    assert_eq!((first.quote(), second.quote()), (Some(bid), Some(bid)));
    assert_eq!(
        (first.other_side(), second.other_side()),
        (Some(bid + 1), Some(bid))
    );
    let ids = [first, second].map(|it| it.id.to_string());
    assert_eq!(ids, ["Q1/B", "Q1/O"]);
    world.accept(bid);
    world.accept(bid + 1);
    world.check();
    let cancel = world.cancel(bid + 1).unwrap();
    world.report(&about(bid + 1, cancel, ReportKind::End(End::Cancelled)));
    world.fill(bid, 10, "99.95");
    assert_eq!(
        world.sides(bid),
        [Ended(End::Filled), Ended(End::Cancelled)]
    );
    assert!(!world.core.state().quotes.is_empty());
    // Both are forgotten, and the quote with the second one.
    for _ in 0..6 {
        let order = world.order(Side::Buy, 10, "100").unwrap();
        world.fill(order, 10, "100");
    }
    assert!(world.core.state().quotes.is_empty());
    world.check();
}

#[test]
fn one_control_refuses_both_sides() {
    let mut world = world(|_| {});
    let cases = [
        ("100.05", "100.05", Why::QuoteCrossed),
        ("99.95", "100.07", Why::Tick),
        ("50", "100.05", Why::Collar),
        ("99.95", "150", Why::Collar),
    ];
    for (bid, offer, why) in cases {
        assert_eq!(world.quote("Q1", bid, offer), None);
        assert_eq!(world.refused, Some(why), "{bid} {offer}");
        assert_eq!(world.said, ["QuoteRefused"]);
    }
    assert_eq!(
        world.quote_of(("Q1", "DESK"), ("99.95", "100.05"), 10),
        None
    );
    assert_eq!(world.refused, Some(Why::Account));
    assert_eq!(world.quote_of(("Q1", ""), ("99.95", "100.05"), 15), None);
    assert_eq!(world.refused, Some(Why::Lot));
    assert!(world.core.state().orders().is_empty());
    assert!(world.sent.is_empty());
    // The right to place orders is not the right to quote.
    let mut other = World::new();
    assert_eq!(other.quote("Q1", "99.95", "100.05"), None);
    assert_eq!(other.refused, Some(Why::NotAllowed));
    other.cancel_quotes("Q1", b'4', "");
    assert_eq!(other.refused, Some(Why::NotAllowed));
    world.check();
}

#[test]
fn the_second_side_is_checked_beside_the_first() {
    // Each alone would pass, both are one order too many.
    let limits = LIMITS.replace("RC13,100", "RC13,2");
    let mut rules = rules(&limits);
    rules.users[0].rights[0].quote = true;
    let mut world = World::of(rules);
    world.order(Side::Buy, 10, "98").unwrap();
    world.sent.clear();
    assert_eq!(world.quote("Q1", "99.95", "100.05"), None);
    assert_eq!(world.refused, Some(Why::OpenOrders));
    assert_eq!(world.said, ["Taken", "Rejected", "QuoteRefused"]);
    assert!(world.sent.is_empty(), "nothing has left");
    assert_eq!(world.stands(2), Ended(End::Rejected));
    world.check();
}

#[test]
fn a_killed_scope_rejects_both_sides_and_cancels_an_open_quote() {
    let mut world = world(|_| {});
    let bid = world.quote("Q1", "99.95", "100.05").unwrap();
    world.accept(bid);
    world.accept(bid + 1);
    world.sent.clear();
    let by = by(b"ann", b"why");
    world.tell(|core, at, mut sink| {
        core.set_trading(at, Scope::Session(CLIENT), Trading::Killed, by, &mut sink);
    });
    world.work();
    assert_eq!(world.sent.len(), 2);
    assert_eq!(world.quote("Q2", "99.95", "100.05"), None);
    assert_eq!(world.refused, Some(Why::Killed));
    world.check();
}

#[test]
fn a_new_quote_replaces_the_former_one_on_its_line() {
    let mut world = world(|rules| rules.rejects_self_trades = true);
    let first = world.quote("Q1", "99.95", "100.05").unwrap();
    let line = world.sent[0].1;
    world.accept(first);
    world.accept(first + 1);
    world.sent.clear();
    // It crosses the former offer, which goes first.
    let second = world.quote("Q2", "100.1", "100.2").unwrap();
    let ids: Vec<VenueId> = world.sent.iter().map(|(id, _)| *id).collect();
    let cancel = |order, request| VenueId { order, request };
    assert_eq!(
        ids,
        [
            cancel(first, second + 2),
            cancel(first + 1, second + 3),
            order(second),
            order(second + 1),
        ]
    );
    assert!(
        world.sent.iter().all(|(_, on)| *on == line),
        "over one line"
    );
    // A cancel that comes too late: the former bid was filled.
    world.fill(first, 10, "99.95");
    world.decline(second + 2);
    world.report(&about(
        first + 1,
        second + 3,
        ReportKind::End(End::Cancelled),
    ));
    assert_eq!(
        world.sides(first),
        [Ended(End::Filled), Ended(End::Cancelled)]
    );
    assert_eq!(world.sides(second), [Sent, Sent]);
    // Of another account it is another quote.
    let third = world.quote_of(("Q3", "A2"), ("98", "103"), 10).unwrap();
    assert_eq!(world.sides(second), [Sent, Sent]);
    assert_eq!(
        world
            .core
            .state()
            .quotes
            .current(CLIENT, AccountNo::new(2), InstrumentNo::new(0)),
        Some(third)
    );
    world.check();
    world.restart(20_261_122);
    assert_eq!(
        world
            .core
            .state()
            .quotes
            .current(CLIENT, AccountNo::new(1), InstrumentNo::new(0)),
        Some(second)
    );
    world.check();
}

#[test]
fn a_refused_quote_leaves_the_former_one() {
    let mut world = world(|_| {});
    let first = world.quote("Q1", "99.95", "100.05").unwrap();
    world.accept(first);
    world.accept(first + 1);
    assert_eq!(world.quote("Q1", "99.90", "100.05"), None);
    assert_eq!(world.refused, Some(Why::Duplicate));
    assert_eq!(world.sides(first), [Working, Working]);
    let at = world.at;
    assert!(!world.core.has_work(at), "no cancel");
    world.check();
}

#[test]
fn a_former_side_with_a_pending_request_is_cancelled_before_its_answer() {
    let mut world = world(|_| {});
    let first = world.quote("Q1", "99.95", "100.05").unwrap();
    world.accept(first);
    world.accept(first + 1);
    world.replace(first, 20, "99.90").unwrap();
    world.sent.clear();
    let second = world.quote("Q2", "99.80", "100.2").unwrap();
    let orders: Vec<Number> = world.sent.iter().map(|(id, _)| id.order).collect();
    assert_eq!(orders, [first, first + 1, second, second + 1]);
    world.check();
}

#[test]
fn quotes_are_cancelled_by_a_client() {
    let mut world = world(|_| {});
    let first = world.quote("Q1", "99.95", "100.05").unwrap();
    let second = world.quote_of(("Q2", "A2"), ("98", "103"), 10).unwrap();
    let plain = world.order(Side::Buy, 10, "98").unwrap();
    for number in [first, first + 1, second, second + 1, plain] {
        world.accept(number);
    }
    world.cancel_quotes("Q9", b'5', "");
    assert_eq!(world.refused, Some(Why::UnknownQuote));
    world.cancel_quotes("Q1", b'1', "NONE");
    assert_eq!(world.refused, Some(Why::Symbol));
    world.cancel_quotes("Q1", b'3', "");
    assert_eq!(world.refused, Some(Why::Unsupported));
    world.sent.clear();
    world.cancel_quotes("Q2", b'1', "");
    world.work();
    let orders: Vec<Number> = world.sent.iter().map(|(id, _)| id.order).collect();
    assert_eq!(orders, [second, second + 1]);
    world.sent.clear();
    world.cancel_quotes("NONE", b'1', "XYZ");
    // The process is killed before the cancels are sent.
    world.restart(20_261_122);
    world.line(LINES[0], true);
    world.line(LINES[1], true);
    world.work();
    let mut orders: Vec<Number> = world.sent.iter().map(|(id, _)| id.order).collect();
    orders.sort_unstable();
    assert_eq!(orders, [first, first + 1], "not the order that is no quote");
    world.check();
}

#[test]
fn a_quote_waits_whole_and_ends_whole() {
    let mut world = world(|rules| {
        rules.groups[0].queue = Some(2 * SECOND);
        rules.groups[0].flow = Some(FLOW);
        rules.groups[0].lines.truncate(1);
    });
    // Two messages may go within a second, and a quote is two.
    let plain = world.order(Side::Buy, 10, "98").unwrap();
    let bid = world.quote("Q1", "99.95", "100.05").unwrap();
    assert_eq!(world.said, ["Taken", "Taken", "Quoted", "Queued", "Queued"]);
    assert_eq!(world.sides(bid), [Queued, Queued]);
    let left = world.pass_by(2 * SECOND);
    assert_eq!(left, [order(bid), order(bid + 1)]);
    world.accept(plain);
    world.line(LINES[0], false);
    let stale = world.quote_of(("Q2", "A2"), ("98", "103"), 10).unwrap();
    assert_eq!(world.sides(stale), [Queued, Queued]);
    let left = world.pass_by(3 * SECOND);
    assert_eq!(left, []);
    assert_eq!(world.sides(stale), [Ended(End::Rejected); 2]);
    assert_eq!(world.sides(bid), [Unknown, Unknown]);
    world.check();
}

#[test]
fn a_queued_quote_survives_a_restart_and_loses_a_side() {
    let mut world = world(|rules| rules.groups[0].queue = Some(60 * SECOND));
    world.line(LINES[0], false);
    world.line(LINES[1], false);
    let both = world.quote("Q1", "99.95", "100.05").unwrap();
    let one = world.quote_of(("Q2", "A2"), ("98", "103"), 10).unwrap();
    assert!(world.cancel(one).is_some());
    assert_eq!(world.stands(one), Ended(End::Cancelled));
    world.restart(20_261_122);
    world.sent.clear();
    world.line(LINES[1], true);
    world.work();
    let ids: Vec<VenueId> = world.sent.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [order(both), order(both + 1), order(one + 1)]);
    world.check();
}

#[test]
fn without_a_line_or_a_number_both_sides_are_rejected() {
    let mut world = world(|_| {});
    world.line(LINES[0], false);
    world.line(LINES[1], false);
    assert_eq!(world.quote("Q1", "99.95", "100.05"), None);
    assert_eq!(world.refused, Some(Why::NoLine));
    assert_eq!(world.sides(1), [Ended(End::Rejected); 2]);
    world.check();
    let mut world = super::quotes::world(|rules| {
        super::pools::number(rules, false);
        rules.pools[0].last = 2;
    });
    let bid = world.quote("Q1", "99.95", "100.05").unwrap();
    let numbers = [bid, bid + 1].map(|it| {
        let order = world.core.state().orders().get(it).unwrap();
        assert_ne!(order.pool, None);
        order.pool_number.to_string()
    });
    assert_eq!(numbers, ["T00", "T01"], "over FIX each side has its own");
    // One number is left.
    assert_eq!(world.quote_of(("Q2", "A2"), ("98", "103"), 10), None);
    assert_eq!(world.sides(bid + 2), [Ended(End::Rejected); 2]);
    world.check();
}

#[test]
fn a_venue_that_rejects_a_side_is_not_asked_again() {
    let mut world = world(|rules| rules.groups[0].errors = super::retry::busy(0));
    let bid = world.quote("Q1", "99.95", "100.05").unwrap();
    let report = VenueReport {
        text: b"busy",
        reason: Some(0),
        ..about(bid, bid, ReportKind::Rejected)
    };
    world.report(&report);
    world.accept(bid + 1);
    assert_eq!(world.sides(bid), [Ended(End::Rejected), Working]);
    world.check();
}

#[test]
fn the_history_of_a_side_tells_of_its_quote() {
    let mut world = world(|_| {});
    let bid = world.quote("Q1", "99.95", "100.05").unwrap();
    world.accept(bid);
    world.quote("Q2", "99.90", "100.05").unwrap();
    let mut history = History::new(bid, OmsState::default());
    let steps = world.notes.iter();
    let steps = steps.filter_map(|(_, note)| history.take(note));
    let told: Vec<String> = steps.map(|step| step.text).collect();
    assert_eq!(
        told,
        [
            "CLIENT as Q1/B for A1: buy 10 XYZ at 99.95",
            "bid of quote Q1; the other side is 2",
            "both sides sent on SIM-1",
            "accepted by the venue, OrderID V",
            "quote replaced by a new one",
            "cancel 5 requested by the OMS",
            "request 5 sent on SIM-1",
        ]
    );
}
