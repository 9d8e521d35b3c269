//! Price inquiries: sent at once or refused, and answered once.

use super::*;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::reason::Reason;
use crate::values::value::{Market, Trading};
use crate::{NewInquiry, Scope};

const SECOND: i64 = 1_000_000_000;

/// A world whose client may ask for quotes, after changes of its settings.
fn world(change: impl FnOnce(&mut RiskRules)) -> World {
    let mut rules = rules(LIMITS);
    rules.users[0].rights[0].inquiry = true;
    change(&mut rules);
    World::of(rules)
}

impl World {
    fn inquire_of(&mut self, (id, account, symbol): (&str, &str, &str)) -> Option<Number> {
        let inquiry = NewInquiry {
            session: CLIENT,
            id: id.as_bytes(),
            account: account.as_bytes(),
            symbol: symbol.as_bytes(),
            side: None,
            quantity: None,
            has_more: false,
        };
        self.tell(|core, at, mut sink| core.new_inquiry(at, &inquiry, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }

    fn inquire(&mut self, id: &str) -> Option<Number> {
        self.inquire_of((id, "", "XYZ"))
    }

    /// The venue answers; false when nobody waits for it.
    fn answered(&mut self, line: SessionNo, inquiry: Number, why: Option<Why>) -> bool {
        let reason = why.map(Reason::of);
        self.tell(|core, at, mut sink| {
            core.inquiry_answered(at, line, inquiry, reason, b"said", &mut sink)
        })
    }

    fn inquiry_line(&self, inquiry: Number) -> SessionNo {
        self.core
            .state()
            .quotes
            .inquiries
            .get(inquiry)
            .unwrap()
            .line
    }

    /// Lets time pass, and does what is due then.
    fn time_goes_on(&mut self, nanos: i64) {
        self.at += nanos;
        let mut all = Vec::new();
        loop {
            let due = self.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
            all.append(&mut self.said);
            if due.is_none_or(|due| due.0 > 0) {
                self.said = all;
                return;
            }
        }
    }
}

#[test]
fn an_inquiry_is_sent_and_answered_once() {
    let mut world = world(|_| {});
    let inquiry = world.inquire("R1").unwrap();
    assert_eq!(world.said, ["Inquired"]);
    assert_eq!(world.core.state().open_inquiries(), 1);
    world.check();
    let line = world.inquiry_line(inquiry);
    let other = LINES.into_iter().find(|other| *other != line).unwrap();
    assert!(!world.answered(other, inquiry, None), "another line");
    assert!(!world.answered(line, inquiry + 1, None), "another number");
    assert_eq!(world.said, [""; 0]);
    assert!(world.answered(line, inquiry, None));
    assert_eq!(world.said, ["InquiryAnswered"]);
    assert!(!world.answered(line, inquiry, Some(Why::Venue)), "twice");
    assert_eq!(world.core.state().open_inquiries(), 0);
    // The number of an inquiry is no order's, and orders go on behind it.
    let order = world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(order, inquiry + 1);
    assert!(world.core.state().orders().get(inquiry).is_none());
    world.check();
}

#[test]
fn an_id_is_used_once_a_day_and_is_no_cl_ord_id() {
    let mut world = world(|_| {});
    let inquiry = world.inquire("C1").unwrap();
    let order = world.order_of("C1", b"A1", Side::Buy, 10, "100");
    assert_eq!(order, Some(inquiry + 1), "C1 is free as a ClOrdID");
    assert_eq!(world.inquire("C1"), None);
    assert_eq!(world.refused, Some(Why::Duplicate));
    assert!(world.answered(world.inquiry_line(inquiry), inquiry, None));
    assert_eq!(world.inquire("C1"), None, "it was answered");
    world.restart(20_261_122);
    LINES.iter().for_each(|line| world.line(*line, true));
    assert_eq!(world.inquire("C1"), None, "it was before the restart");
    world.restart(20_261_123);
    world.work();
    LINES.iter().for_each(|line| world.line(*line, true));
    assert!(world.inquire("C1").is_some(), "another day");
    world.check();
}

#[test]
fn an_inquiry_that_may_not_be_is_refused() {
    let mut world = world(|_| {});
    for (account, symbol, why) in [
        ("", "NONE", Why::Symbol),
        ("DESK", "XYZ", Why::Account),
        ("A9", "XYZ", Why::Account),
    ] {
        assert_eq!(world.inquire_of(("R1", account, symbol)), None);
        assert_eq!(world.refused, Some(why), "{account} {symbol}");
        assert_eq!(world.said, ["QuoteRefused"]);
    }
    assert!(world.inquire_of(("R1", "A2", "ABC")).is_some());
    let several = NewInquiry {
        session: CLIENT,
        id: b"R2",
        account: b"",
        symbol: b"XYZ",
        side: None,
        quantity: None,
        has_more: true,
    };
    world.tell(|core, at, mut sink| core.new_inquiry(at, &several, &mut sink));
    assert_eq!(world.refused, Some(Why::InquirySymbols));
    let set = |world: &mut World, state| {
        let by = by(b"ann", b"why");
        world.tell(|core, at, mut sink| {
            core.set_market(at, InstrumentNo::new(0), state, by, &mut sink)
        });
    };
    for (state, is_open) in [
        (Market::Halted, false),
        (Market::Closed, false),
        (Market::Auction, true),
        (Market::Open, true),
    ] {
        set(&mut world, state);
        let id = format!("M{state}");
        assert_eq!(world.inquire(&id).is_some(), is_open, "{state}");
        assert!(is_open || world.refused == Some(Why::Market));
    }
    let trade = |world: &mut World, scope, state| {
        let by = by(b"ann", b"why");
        world.tell(|core, at, mut sink| core.set_trading(at, scope, state, by, &mut sink));
    };
    for scope in [
        Scope::Firm,
        Scope::Account(AccountNo::new(1)),
        Scope::Instrument(InstrumentNo::new(0)),
    ] {
        trade(&mut world, scope, Trading::Killed);
        assert_eq!(world.inquire("K1"), None);
        assert_eq!(world.refused, Some(Why::Killed), "{scope:?}");
        trade(&mut world, scope, Trading::Active);
    }
    assert!(world.inquire("K1").is_some());
    // The right to trade is not the right to ask.
    let mut other = World::new();
    assert_eq!(other.inquire("R1"), None);
    assert_eq!(other.refused, Some(Why::NotAllowed));
    world.check();
}

#[test]
fn an_inquiry_waits_for_no_line() {
    let mut world = world(|_| {});
    LINES.iter().for_each(|line| world.line(*line, false));
    assert_eq!(world.inquire("R1"), None);
    assert_eq!(world.refused, Some(Why::NoLine));
    assert_eq!(world.core.state().open_inquiries(), 0);
}

#[test]
fn an_inquiry_counts_for_the_rate_of_its_line() {
    let mut world = world(|rules| {
        let flow = crate::values::rules::FlowRule {
            count: 2,
            time: SECOND,
            kept: 0,
        };
        rules.groups[0].lines.truncate(1);
        rules.groups[0].flow = Some(flow);
    });
    assert!(world.inquire("R1").is_some());
    assert!(world.order(Side::Buy, 10, "100").is_some());
    assert_eq!(world.inquire("R2"), None);
    assert_eq!(world.refused, Some(Why::Busy));
    world.time_goes_on(SECOND);
    assert!(world.inquire("R2").is_some());
    world.check();
}

#[test]
fn a_session_waits_for_sixteen_answers_at_most() {
    let mut world = world(|_| {});
    let all: Vec<Number> = (0..16)
        .map(|at| world.inquire(&format!("R{at}")).unwrap())
        .collect();
    assert_eq!(world.inquire("R16"), None);
    assert_eq!(world.refused, Some(Why::Inquiries));
    assert!(world.answered(world.inquiry_line(all[3]), all[3], Some(Why::Venue)));
    assert!(world.inquire("R16").is_some());
    world.check();
}

#[test]
fn an_inquiry_without_an_answer_is_refused_after_thirty_seconds() {
    let mut world = world(|_| {});
    let first = world.inquire("R1").unwrap();
    world.time_goes_on(20 * SECOND);
    let second = world.inquire("R2").unwrap();
    assert_eq!(world.said, ["Inquired"]);
    world.time_goes_on(9 * SECOND);
    assert_eq!(world.said, [""; 0]);
    // A line that breaks resends it over FIX.
    let line = world.inquiry_line(first);
    world.line(line, false);
    world.time_goes_on(0);
    assert_eq!(world.said, [""; 0]);
    assert!(world.core.inquires(format!("{first}").as_bytes()));
    world.restart(20_261_122);
    world.time_goes_on(SECOND);
    assert_eq!(world.said, ["InquiryAnswered"]);
    assert!(
        !world.core.inquires(format!("{first}").as_bytes()),
        "no more"
    );
    assert!(world.core.inquires(format!("{second}").as_bytes()));
    assert!(!world.answered(line, first, None), "too late");
    world.time_goes_on(30 * SECOND);
    assert_eq!(world.said, ["InquiryAnswered"]);
    assert_eq!(world.core.state().open_inquiries(), 0);
    world.check();
}
