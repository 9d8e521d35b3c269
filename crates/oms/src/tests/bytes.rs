//! Each byte of a checkpoint counts: a changed one makes another state, or is refused.

use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;

use super::*;
use crate::OrderState;
use crate::state::conditions::{Condition, Stage};
use crate::state::copies::{Awaited, CopiedOrder, CopyBreak, ENDED};
use crate::state::flow::Flow;
use crate::state::inquiries::Inquiry;
use crate::state::leg_fills::LegFill;
use crate::state::orders::breaks::VenueBreak;
use crate::state::orders::carried::Fields;
use crate::state::orders::fills::Fill;
use crate::state::orders::rejected::{RejectedOrder, RejectedTerms};
use crate::state::orders::remade::RemadeStep;
use crate::state::orders::strays::{Stray, StrayUndo};
use crate::state::orders::waiting::QueueTime;
use crate::state::orders::{Order, Pended, Placement, Request, Retry};
use crate::state::quotes::QuoteSide;
use crate::state::reload::PendingReload;
use crate::state::spreads::{LegSource, OrderLegs, SpreadLeg};
use crate::state::tally::LoadedTotal;
use crate::state::{ArmRequest, Expiry, Instrument, Session, Stop, pair};
use crate::values::fields::carried::CarriedFields;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::limits::RiskControl;
use crate::values::locate::Locate;
use crate::values::marks::RequestMarks;
use crate::values::reason::{Reason, Why};
use crate::values::scope::Scope;
use crate::values::value::{BreakKind, Effect, End, PriceField, Text, Trading};

/// Time of what is added, in nanoseconds since 1970.
const AT: i64 = 1_795_334_400_000_000_000;

fn written(state: &OmsState) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.write(&mut |more| bytes.extend_from_slice(more));
    bytes
}

fn read(bytes: &[u8]) -> Result<OmsState, String> {
    let mut state = OmsState::default();
    state.read(state.form().1, bytes)?;
    Ok(state)
}

/// Adds an order like the first one; its number.
fn add(state: &mut OmsState, change: impl FnOnce(&mut Order)) -> Number {
    state.last += 1;
    let number = state.last;
    let like = state.orders.iter().min_by_key(|it| it.number);
    let like = like.expect("there is an order").clone();
    let mut order = Order {
        number,
        current: number,
        placement: Placement::Unsent,
        state: OrderState::Queued,
        filled: 0,
        paid: 0,
        id: Text::new(format!("ADD{number}").as_bytes()),
        venue_id: Text::EMPTY,
        request: None,
        last_fill: None,
        pended: None,
        asked: 0,
        queued: QueueTime::Since(AT),
        retry: None,
        quote_side: QuoteSide::None,
        triggered: false,
        ..like
    };
    change(&mut order);
    let (order_state, number) = (order.state, order.number);
    state.orders.add(order);
    if !order_state.is_open() {
        state.orders.has_ended(number, false);
    }
    number
}

/// The session of a drop copy, and a spread.
fn add_names(state: &mut OmsState) {
    let copy = state.session_names.next();
    assert!(state.session_names.add(copy, b"COPY"));
    state.sessions.push(Session {
        marks: RequestMarks {
            cm_id: 7,
            effect: b'O',
            order_source: 1,
            info_source: *b"INF",
            investor_flag: 2,
        },
        link: (17, 18),
        ..Session::default()
    });
    let spread = state.instrument_names.next();
    assert!(state.instrument_names.add(spread, b"SPREAD"));
    state.instruments.push(Instrument {
        scale: 2,
        worth: 1_000_000_000,
        ..Instrument::default()
    });
    let leg = |instrument, side| SpreadLeg {
        instrument,
        side,
        ratio: 2,
    };
    let legs = [
        leg(InstrumentNo::new(0), Side::Buy),
        leg(InstrumentNo::new(1), Side::Sell),
    ];
    assert_eq!(state.spreads.set(spread, legs), Some(()));
}

/// An order of the spread with all that an order can have.
fn add_order_of_spread(state: &mut OmsState) {
    let spread = state.instrument_names.find(b"SPREAD").unwrap();
    let order = add(state, |order| {
        (order.instrument, order.filled) = (spread, 10);
        order.placement = Placement::Line(LINES[0]);
        order.state = OrderState::Working;
        order.retry = Some(std::boxed::Box::new(Retry {
            attempt: order.number,
            tries: 2,
            due: AT,
            not_on: Some(LINES[1]),
        }));
        order.pended = Some(std::boxed::Box::new(Pended {
            how: End::Cancelled,
            request: Some(order.number),
            filled: 20,
            at: AT,
        }));
        order.marks.cm_id = 9;
        order.venue_id = Text::new(b"V7");
    });
    let of_legs = OrderLegs {
        filled: [20, 10],
        paid: [5, 6],
        exposed: [0; 2],
        source: LegSource::Reports,
        since: AT,
        is_reported: false,
    };
    state.spreads.insert(order, of_legs);
    let leg_fill = LegFill {
        leg: 1,
        quantity: 10,
        price: 60,
        report: 77,
        undone: 78,
    };
    state.spreads.fills.add(order, 79, leg_fill);
    let place = state.orders.place(order).unwrap();
    for exec in [91, 92] {
        let fill = Fill {
            exec,
            quantity: 5,
            price: 10_000,
            report: exec + 1,
            undone: exec + 2,
        };
        assert!(state.orders.add_fill(place, fill));
    }
    state.last += 1;
    let request = Request {
        number: state.last,
        order: None,
        kind: RequestKind::Replace,
        state: OrderState::Sent,
        quantity: 20,
        price: 10_005,
        hold: 10_010,
        id: Text::new(b"REQUEST"),
        queued: QueueTime::Until(AT),
    };
    assert!(state.orders.add_request(place, request));
}

/// Orders of other kinds, and what is kept of them.
fn add_orders(state: &mut OmsState) {
    let copy = state.session_names.find(b"COPY").unwrap();
    add(state, |order| {
        (order.session, order.placement) = (copy, Placement::Elsewhere);
        (order.state, order.effect) = (OrderState::Working, Effect::Open);
    });
    let held = add(state, |order| order.state = OrderState::Held);
    let condition = Condition {
        session: CLIENT,
        instrument: InstrumentNo::new(0),
        field: PriceField::Bid,
        rises: true,
        price: 10_100,
        stage: Stage::Waiting,
    };
    state.conditions.add(held, condition);
    let bid = add(state, |order| order.side = Side::Buy);
    add(state, |order| order.side = Side::Sell);
    let OmsState { quotes, orders, .. } = state;
    assert_eq!(quotes.link(orders, bid, b"QUOTE"), Some(()));
    let closed = add(state, |order| {
        order.state = OrderState::Ended(End::Expired);
        order.asked = AT;
    });
    state.late.give_up(closed, closed);
    let late = state.late.of(closed);
    (late.quantity_at, late.price_at) = (AT, AT + 1);
    let locate = Locate {
        reqd: b'N',
        broker: b"BROKER",
    };
    state.locates.add(closed, locate);
    let fields = CarriedFields {
        header: b"50=T\x01",
        body: b"58=a\x01",
        kept: b"377=Y\x01",
    };
    state.carried.add(closed, fields);
    let marks = RequestMarks {
        order_source: b'G',
        ..RequestMarks::default()
    };
    state.carried.marks.insert(closed, marks);
    state.routed.add(closed, SessionNo::new(0));
    state.exec_ids.since = Some(7);
    let names = &mut state.venue_names;
    let fields = b"55=XY\x0148=US1\x0122=4\x01";
    assert_eq!(
        names.set_instrument(LINES[0], InstrumentNo::new(1), fields),
        Some(())
    );
    let fields = b"1=OMNI\x01581=1\x01";
    assert_eq!(
        names.set_account(LINES[1], AccountNo::new(1), fields),
        Some(())
    );
    let key = (closed, 0xE1);
    state.exec_ids.all.insert(key, (b'F', Text::new(b"E1")));
    let steps = [
        RemadeStep::Held {
            filled: 4,
            at: AT,
            of_replace: true,
        },
        RemadeStep::Former { number: 2, at: AT },
        RemadeStep::Stray(3),
    ];
    for (order, step) in (1..).zip(steps) {
        state.remade.set(order, step);
    }
}

/// What is kept beside the orders.
fn add_records(state: &mut OmsState) {
    let copy = state.session_names.find(b"COPY").unwrap();
    state.copies.set_line(LINES[0], Some(copy));
    let awaited = |ours, copy| Awaited {
        line: Some(LINES[0]),
        of: Some(CopiedOrder {
            account: AccountNo::new(1),
            instrument: InstrumentNo::new(0),
        }),
        since: AT,
        ours,
        copy,
    };
    state
        .copies
        .hear((1, 55), awaited(Some((10, 10_000)), None));
    state.copies.hear((1, ENDED), awaited(None, Some((0, 0))));
    let found = CopyBreak {
        kind: BreakKind::Differs,
        key: (2, 56),
        what: awaited(Some((10, 10_000)), Some((20, 10_000))),
        text: Text::new(b"V1 E1"),
    };
    state.copies.add_break(3, found);
    let found = |by: Option<&[u8]>| VenueBreak {
        kind: BreakKind::FillsMissing,
        order: if by.is_some() { 1 } else { 2 },
        line: Some(LINES[0]),
        exec: 57,
        filled: Some(30),
        quantity: 10,
        price: 10_000,
        paid: Some(300_000),
        status: b'1',
        total: 40,
        opposite: 5,
        ours: Text::new(b"20"),
        venue: Text::new(b"30"),
        since: AT,
        is_alarmed: true,
        is_settled: false,
        asked_by: by.map(|by| (Text::new(by), true)),
    };
    state.breaks.put_in(4, found(Some(b"ann")));
    state.breaks.put_in(5, found(None));
    for (number, by) in [(6, Some("bob")), (7, None)] {
        let stray = Stray {
            line: LINES[1],
            account: AccountNo::new(1),
            instrument: InstrumentNo::new(0),
            side: Side::Sell,
            effect: Effect::Close,
            exec: 58,
            quantity: 10,
            price: 10_000,
            id: Text::new(b"WHOSE"),
            asked_by: by.map(|by| (Text::new(by.as_bytes()), false)),
        };
        state.strays.add(number, stray);
    }
    for (number, by) in [(8, Some("ann")), (9, None)] {
        let known = by.is_some();
        let undo = StrayUndo {
            line: LINES[0],
            order: u64::from(known) * 77,
            is_correction: known,
            account: known.then(|| AccountNo::new(1)),
            instrument: known.then(|| InstrumentNo::new(0)),
            side: known.then_some(Side::Buy),
            exec: 59,
            of: u64::from(known) * 60,
            quantity: known.then(|| Decimal::from_int(10)),
            price: Decimal::new(9_995, 2),
            filled: known.then(|| Decimal::from_int(30)),
            status: u8::from(known) * b'4',
            at: i64::from(known) * AT,
            id: Text::new(b"77"),
            fill: Text::new(b"E1"),
            text: Text::new(b"wrong price"),
            asked_by: by.map(|by| (Text::new(by.as_bytes()), true)),
        };
        state.strays.undos.insert(number, undo);
    }
    state.last += 1;
    state.strays.recalled.insert(state.last, Some(17));
    let closed = state.orders.ended();
    let closed = closed.first().expect("a closed order");
    state.strays.recalled.insert(*closed, None);
    let inquiry = Inquiry {
        session: CLIENT,
        instrument: InstrumentNo::new(1),
        line: LINES[1],
        at: AT,
        id: Text::new(b"ASK"),
        order_no: Text::new(b"T07"),
    };
    state.quotes.inquiries.add(state.last, inquiry);
    let terms = RejectedTerms {
        session: CLIENT,
        account: AccountNo::new(1),
        instrument: InstrumentNo::new(0),
        side: Side::Buy,
        kind: OrderType::StopLimit,
        tif: TimeInForce::GoodTillDate,
        price: 10_000,
        stop: 9_995,
        quantity: 5_000,
        until: Some(20_261_130),
        effect: Effect::Netting,
        is_located: false,
        route: Some(CLIENT),
        reason: Reason {
            why: Why::OrderQuantity,
            scope: Scope::Holding(AccountNo::new(1), InstrumentNo::new(0)),
            value: 5_000,
            limit: 1_000,
        },
    };
    for (more, rerun) in [(1, 0), (2, 3)] {
        state.rejected.add(RejectedOrder {
            number: state.events + more,
            terms,
            id: Text::new(b"NO"),
            rerun,
            fields: Fields::of(CarriedFields {
                header: b"115=X\x01",
                ..CarriedFields::NONE
            }),
        });
    }
}

/// What operators have set, and what is counted.
fn add_limits(state: &mut OmsState) {
    state.expiries.push(Expiry {
        scope: Scope::Account(AccountNo::new(1)),
        control: RiskControl::Credit,
        before: Some(5),
        until: AT,
    });
    let request = ArmRequest {
        by: Text::new(b"bob"),
        state: Trading::Reducing,
    };
    for asked in [None, Some(request)] {
        state.stops.push(Stop {
            scope: Scope::Session(CLIENT),
            by: Text::new(b"ann"),
            asked,
        });
    }
    state.pending_reload = Some(PendingReload {
        by: Text::new(b"ann"),
        settings: 99,
    });
    state.next_day = Some(20_261_130);
    state.used_day = Some(20_261_127);
    state.positions_set = 17;
    state.position_files = std::vec![98, 99];
    state.totals = [(AccountNo::new(0), InstrumentNo::new(0))]
        .map(|(account, instrument)| {
            let total = LoadedTotal {
                account,
                instrument,
                moment: 17,
                file: b"p.csv"[..].into(),
            };
            (pair(account, instrument), total)
        })
        .into();
    state.firm.flow = Some(std::boxed::Box::new(Flow::default()));
    if let Some(flow) = &mut state.firm.flow {
        let passed = crate::state::flow::Passed {
            messages: 1,
            refused: 2,
            cancels: 3,
            executions: 4,
            quantity: 5,
            value: 6,
        };
        flow.add(AT, &passed);
        flow.add(AT + 7_000_000_000, &passed);
    }
    state.recent.is_on = true;
    state.recent.add(AT, 5);
    state.recent.add(AT + 1, 6);
    for exec in [41, 42] {
        state.used_execs.add(exec);
        state.used_execs.begin_day();
    }
    state.used_execs.add(43);
}

/// A state with something of everything.
fn rich() -> OmsState {
    let world = random::played(34, 150);
    let mut state = world.core.state().clone();
    add_names(&mut state);
    add_order_of_spread(&mut state);
    add_orders(&mut state);
    add_records(&mut state);
    add_limits(&mut state);
    // Tallies follow from the orders.
    read(&written(&state)).expect("it is whole")
}

#[test]
fn a_state_that_is_read_has_the_same_lines() {
    let state = rich();
    let lines = state.state_lines();
    for of in [
        "order ",
        "position ",
        "pool ",
        "parent ",
        "id ",
        "execution ",
        "condition of order ",
        "quote of order ",
        "inquiry ",
        "spread SPREAD leg 1 ",
        "late replaces of order ",
        "remade order ",
        "locate of order ",
        "rejected order ",
        "awaited copy of order ",
        "break with a copy ",
        "break with a venue ",
        "fill of an unknown order ",
        "names on ",
        "temporary limit ",
        "stop 1 ",
        "order of the last second 1 ",
        "flow firm second ",
        "limit firm ",
        "tally firm ",
    ] {
        assert!(
            lines.lines().any(|line| line.starts_with(of)),
            "{of}\n{lines}"
        );
    }
    let again = read(&written(&state)).unwrap();
    assert_eq!(again.state_lines(), lines);
}

/// The bytes of a checkpoint that can be changed by this mask and change no line.
fn silent(state: &OmsState, mask: u8) -> Vec<usize> {
    let bytes = written(state);
    let lines = state.state_lines();
    let is_silent = |at: &usize| {
        let mut changed = bytes.clone();
        changed[*at] ^= mask;
        read(&changed).is_ok_and(|it| it.state_lines() == lines)
    };
    (0..bytes.len()).filter(is_silent).collect()
}

/// Silent bytes with those around them, for whoever looks for their field.
fn around(state: &OmsState, silent: &[usize]) -> String {
    let bytes = written(state);
    let mut all = BTreeMap::new();
    for at in silent {
        let before = &bytes[at.saturating_sub(24)..*at];
        let after = &bytes[*at..bytes.len().min(at + 24)];
        all.insert(
            *at,
            format!("{} [ {}", before.escape_ascii(), after.escape_ascii()),
        );
    }
    format!("{all:#?}")
}

#[test]
fn each_byte_of_a_checkpoint_changes_a_line_or_is_refused() {
    let state = rich();
    for mask in [1, 0x80] {
        let silent = silent(&state, mask);
        assert!(silent.is_empty(), "{mask}: {}", around(&state, &silent));
    }
}
