//! Orders over TMP: their answers, and trades with orders of FIX members.

use fixwire_tmp::messages::{R01, R02, R03, R07, R08, R09, R11, R12, R17, R22, R31, R32, R37, R38};
use fixwire_tmp::{
    ClientLinkState, TmpExecType, TmpFrame, TmpOrdType, TmpPositionEffect, TmpSide, TmpStatus,
    TmpSymbol, TmpSymbolType, TmpTime, TmpTimeInForce,
};

use super::desk::{A, config};
use super::tmp_desk::{FCM, ONE, OTHER, TWO, TmpDesk, TmpSaid, change, new};
use crate::OrderScript;

const BUY: TmpSide = TmpSide::BUY;
const SELL: TmpSide = TmpSide::SELL;

/// The statuses of the R03 among these, and nothing else.
#[track_caller]
fn statuses(said: &[TmpSaid]) -> alloc::vec::Vec<u8> {
    said.iter().map(|it| it.reject().status.0).collect()
}

#[test]
fn an_order_is_acknowledged_and_trades_with_one_of_a_fix_member() {
    let mut desk = TmpDesk::new().log_in();
    let order = new("A0001", BUY, 10, 1000);
    let said = desk.ask(ONE, &order);
    assert_eq!(said.len(), 1);
    let TmpSaid::Report(1, acknowledged) = said[0] else {
        panic!("{said:?}");
    };
    let entered = acknowledged.org_trans_time;
    let expected = R02 {
        status: TmpStatus::OK,
        exec_type: TmpExecType::NEW,
        cm_id: 7,
        fcm_id: FCM,
        order_no: *b"A0001",
        ord_id: 1,
        user_define: *b"00000001",
        symbol_type: TmpSymbolType::TEXT_20,
        symbol: order.symbol,
        price: 1000,
        qty: 10,
        account: 1_234_567,
        account_flag: b'A',
        side: BUY,
        ord_type: TmpOrdType::LIMIT,
        time_in_force: TmpTimeInForce::DAY,
        position_effect: TmpPositionEffect::OPEN,
        leaves_qty: 10,
        before_qty: 10,
        org_trans_time: entered,
        transact_time: entered,
        target_id: 4,
        uniq_id: 1,
        rpt_seq: 1,
        protocol_type: 1,
        ..R02::default()
    };
    assert_eq!(acknowledged, expected);
    assert!(entered > TmpTime::default());
    let said = desk.say(A, "D 11=1|55=VOD|54=2|38=4|40=2|44=9.50");
    assert_eq!(said.len(), 2);
    said[1].has("11=1|150=F|31=10.00|32=4|151=0");
    let heard = desk.heard(ONE);
    assert_eq!(heard.len(), 1);
    let TmpSaid::Report(2, fill) = heard[0] else {
        panic!("{heard:?}");
    };
    let expected = R02 {
        exec_type: TmpExecType::FILL,
        last_px: 1000,
        last_qty: 4,
        px_subtotal: 4000,
        cum_qty: 4,
        leaves_qty: 6,
        before_qty: 10,
        transact_time: fill.transact_time,
        uniq_id: 3,
        rpt_seq: 3,
        ..expected
    };
    assert_eq!(fill, expected);
    // The other way round: the order of the FIX member waits.
    desk.say(A, "D 11=2|55=VOD|54=1|38=5|40=2|44=11");
    let said = desk.ask(ONE, &new("A0002", SELL, 2, 1050));
    assert_eq!(said[0].numbers(), ('6', 0, [2, 2, 0, 2]));
    assert_eq!((said.len(), said[0].report().last_px), (1, 1100));
    desk.exchange.check().unwrap();
}

#[test]
fn orders_are_reduced_repriced_cancelled_and_queried() {
    let mut desk = TmpDesk::new().log_in();
    let order = new("A0001", BUY, 10, 1000);
    desk.ask(ONE, &order);
    let said = desk.ask(ONE, &change(&order, TmpExecType::REDUCE, 3, 0));
    assert_eq!(said[0].numbers(), ('5', 0, [0, 0, 7, 10]));
    let reduced = said[0].report();
    assert_eq!((reduced.qty, reduced.price, reduced.ord_id), (7, 1000, 2));
    assert_eq!(&reduced.user_define, b"00000002");
    let said = desk.ask(ONE, &change(&order, TmpExecType::PRICE, 0, 1010));
    assert_eq!(said[0].numbers(), ('m', 0, [0, 0, 7, 7]));
    assert_eq!(said[0].report().price, 1010);
    desk.say(A, "D 11=1|55=VOD|54=2|38=2|40=2|44=10");
    assert_eq!(desk.heard(ONE)[0].numbers(), ('F', 0, [2, 2, 5, 7]));
    // A query has no number, and a wrong side or symbol is found.
    let said = desk.ask(ONE, &change(&order, TmpExecType::QUERY, 0, 0));
    assert!(matches!(said[0], TmpSaid::Report(0, _)), "{said:?}");
    assert_eq!(said[0].numbers(), ('I', 0, [0, 2, 5, 5]));
    let other = R01 {
        side: SELL,
        ..change(&order, TmpExecType::CANCEL, 0, 0)
    };
    assert_eq!(statuses(&desk.ask(ONE, &other)), [61]);
    let mut other = change(&order, TmpExecType::CANCEL, 0, 0);
    other.symbol[0] = b'B';
    assert_eq!(statuses(&desk.ask(ONE, &other)), [62]);
    let nothing = change(&order, TmpExecType::REDUCE, 0, 0);
    assert_eq!(statuses(&desk.ask(ONE, &nothing)), [22]);
    // More than is left: all of it.
    let said = desk.ask(ONE, &change(&order, TmpExecType::REDUCE, 6, 0));
    assert_eq!(said[0].numbers(), ('5', 32, [0, 2, 0, 5]));
    for exec_type in [TmpExecType::CANCEL, TmpExecType::REDUCE, TmpExecType::PRICE] {
        let late = desk.ask(ONE, &change(&order, exec_type, 1, 1000));
        assert_eq!(statuses(&late), [7], "{exec_type:?}");
    }
    let said = desk.ask(ONE, &change(&order, TmpExecType::QUERY, 0, 0));
    assert_eq!(said[0].numbers(), ('I', 0, [0, 2, 0, 0]));
    let next = new("A0002", BUY, 5, 1000);
    desk.ask(ONE, &next);
    let said = desk.ask(ONE, &change(&next, TmpExecType::CANCEL, 0, 0));
    assert_eq!(said[0].numbers(), ('4', 0, [0, 0, 0, 5]));
    let filled = new("A0003", BUY, 5, 1000);
    desk.ask(ONE, &filled);
    desk.say(A, "D 11=2|55=VOD|54=2|38=5|40=2|44=10");
    let late = desk.ask(ONE, &change(&filled, TmpExecType::CANCEL, 0, 0));
    assert_eq!(statuses(&late), [6]);
    // All that is left, and not more.
    let last = new("A0004", BUY, 5, 900);
    desk.ask(ONE, &last);
    let said = desk.ask(ONE, &change(&last, TmpExecType::REDUCE, 5, 0));
    assert_eq!(said[0].numbers(), ('5', 0, [0, 0, 0, 5]));
    let unknown = new("B0001", BUY, 1, 0);
    for exec_type in [TmpExecType::CANCEL, TmpExecType::QUERY] {
        let said = desk.ask(ONE, &change(&unknown, exec_type, 0, 0));
        let is_query = exec_type == TmpExecType::QUERY;
        assert_eq!(statuses(&said), [5]);
        assert_eq!(matches!(said[0], TmpSaid::Reject(0, _)), is_query);
    }
    desk.exchange.check().unwrap();
}

#[test]
fn the_rest_of_an_order_that_cannot_wait_is_deleted() {
    let mut desk = TmpDesk::new().log_in();
    desk.say(A, "D 11=1|55=VOD|54=2|38=4|40=2|44=10");
    let mut order = new("A0001", BUY, 10, 1000);
    order.time_in_force = TmpTimeInForce::IOC;
    let said = desk.ask(ONE, &order);
    assert_eq!(said.len(), 1, "one R02 says it all");
    assert_eq!(said[0].numbers(), ('6', 52, [4, 4, 0, 10]));
    order.order_no = *b"A0002";
    let said = desk.ask(ONE, &order);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].numbers(), ('6', 53, [0, 0, 0, 10]));
    order.order_no = *b"A0003";
    order.time_in_force = TmpTimeInForce::FOK;
    let said = desk.ask(ONE, &order);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].numbers(), ('6', 51, [0, 0, 0, 10]));
    // Market orders cannot wait; with protection they become limit orders at the best price of the other side.
    order.order_no = *b"A0004";
    order.ord_type = TmpOrdType::MARKET;
    order.time_in_force = TmpTimeInForce::DAY;
    assert_eq!(statuses(&desk.ask(ONE, &order)), [38]);
    desk.say(A, "D 11=2|55=VOD|54=2|38=4|40=2|44=10.2");
    order.time_in_force = TmpTimeInForce::IOC;
    let said = desk.ask(ONE, &order);
    assert_eq!(said[0].numbers(), ('6', 52, [4, 4, 0, 10]));
    // Two prices: the first report has the entry, the last one the deletion.
    desk.say(A, "D 11=4|55=VOD|54=2|38=2|40=2|44=10");
    desk.say(A, "D 11=5|55=VOD|54=2|38=3|40=2|44=10.1");
    order.order_no = *b"A0014";
    let said = desk.ask(ONE, &order);
    assert_eq!(said.len(), 2);
    assert_eq!(said[0].numbers(), ('6', 0, [2, 2, 8, 10]));
    assert_eq!(said[1].numbers(), ('F', 52, [3, 5, 0, 8]));
    order.order_no = *b"A0005";
    order.ord_type = TmpOrdType::MARKET_WITH_PROTECTION;
    order.time_in_force = TmpTimeInForce::DAY;
    desk.say(A, "D 11=3|55=VOD|54=2|38=4|40=2|44=10.3");
    let said = desk.ask(ONE, &order);
    assert_eq!(said[0].numbers(), ('6', 0, [4, 4, 6, 10]));
    let report = said[0].report();
    assert_eq!((report.price, report.ord_type.0), (1030, 3));
    // An empty side: at the last price.
    order.order_no = *b"A0006";
    assert_eq!(desk.ask(ONE, &order)[0].report().price, 1030);
    let mut fresh = TmpDesk::new().log_in();
    assert_eq!(statuses(&fresh.ask(ONE, &order)), [26]);
    // The day ends: what is left of day orders is deleted too.
    desk.command("state closed VOD").unwrap();
    let heard = desk.heard(ONE);
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0].numbers(), ('F', 0, [0, 4, 0, 6]));
    desk.exchange.check().unwrap();
}

#[test]
fn order_numbers_are_those_of_a_broker_over_all_its_lines() {
    let mut desk = TmpDesk::new().log_in();
    let order = new("A0001", BUY, 10, 1000);
    desk.ask(ONE, &order);
    assert_eq!(statuses(&desk.ask(ONE, &order)), [17]);
    assert_eq!(statuses(&desk.ask(TWO, &order)), [17]);
    let theirs = R01 {
        fcm_id: 280,
        ..order
    };
    assert_eq!(statuses(&desk.ask(ONE, &theirs)), [12]);
    assert_eq!(desk.ask(OTHER, &theirs), [TmpSaid::More("R22")]);
    // A line of the broker changes the order of another one, and gets the answer; fills go where they went.
    let said = desk.ask(TWO, &change(&order, TmpExecType::PRICE, 0, 1010));
    assert_eq!(said[0].numbers(), ('m', 0, [0, 0, 10, 10]));
    assert_eq!(desk.heard(ONE), []);
    desk.say(A, "D 11=1|55=VOD|54=2|38=1|40=2|44=10.1");
    assert_eq!((desk.heard(ONE).len(), desk.heard(TWO).len()), (1, 0));
    let said = desk.ask(TWO, &change(&order, TmpExecType::PRICE_HERE, 0, 1020));
    assert_eq!(said[0].numbers(), ('M', 0, [0, 1, 9, 9]));
    desk.say(A, "D 11=2|55=VOD|54=2|38=1|40=2|44=10.1");
    assert_eq!((desk.heard(ONE).len(), desk.heard(TWO).len()), (0, 1));
    // The number of a rejected order may be used again, that of a cancelled one not.
    let mut wrong = new("A0002", BUY, 0, 1000);
    assert_eq!(statuses(&desk.ask(ONE, &wrong)), [22]);
    wrong.qty = 1;
    desk.ask(ONE, &wrong)[0].report();
    desk.ask(ONE, &change(&wrong, TmpExecType::CANCEL, 0, 0))[0].report();
    assert_eq!(statuses(&desk.ask(ONE, &wrong)), [17]);
    desk.exchange.check().unwrap();
}

fn symbol(text: &[u8]) -> [u8; 20] {
    TmpSymbol::Text(text).field::<20>().unwrap().1
}

#[test]
fn each_mistake_of_an_order_has_its_status() {
    let mut desk = TmpDesk::new().log_in();
    let good = new("A0001", BUY, 10, 1000);
    let with = |change: fn(&mut R01)| {
        let mut order = good;
        change(&mut order);
        order
    };
    let wrong = [
        (with(|it| it.exec_type = TmpExecType(b'9')), 11),
        (with(|it| it.symbol = symbol(b"XYZ")), 20),
        (with(|it| it.symbol = symbol(b"BTC")), 20),
        (with(|it| it.symbol_type = TmpSymbolType::NUMERIC_20), 20),
        (with(|it| it.symbol_type = TmpSymbolType::TEXT_40), 20),
        (with(|it| it.price = 2001), 21),
        (with(|it| it.price = 499), 21),
        (with(|it| it.qty = 0), 22),
        (with(|it| it.side = TmpSide(3)), 24),
        (with(|it| it.ord_type = TmpOrdType(9)), 25),
        (
            with(|it| it.time_in_force = TmpTimeInForce::TIMED_QUOTE),
            27,
        ),
        (with(|it| it.position_effect = TmpPositionEffect(b'x')), 28),
        (with(|it| it.position_effect = TmpPositionEffect::QUOTE), 28),
        (
            with(|it| it.position_effect = TmpPositionEffect::AUTOMATIC),
            28,
        ),
        (with(|it| it.position_effect = TmpPositionEffect(b' ')), 28),
        (with(|it| it.account_flag = b' '), 14),
        (with(|it| it.account_flag = 0), 14),
        (with(|it| it.order_source = b' '), 93),
        (with(|it| it.order_source = b'X'), 93),
        (with(|it| it.info_source = *b"   "), 93),
        (with(|it| it.info_source = [0; 3]), 93),
        (with(|it| it.fcm_id = 1), 12),
    ];
    for (order, status) in wrong {
        let said = desk.ask(ONE, &order);
        assert_eq!(statuses(&said), [status], "{order:?}");
        let expected = R03 {
            status: TmpStatus(status),
            exec_type: order.exec_type,
            fcm_id: order.fcm_id,
            order_no: *b"A0001",
            ord_id: 1,
            user_define: *b"00000001",
            rpt_seq: said[0].reject().rpt_seq,
            side: if status == 24 { TmpSide(0) } else { BUY },
        };
        assert_eq!(*said[0].reject(), expected);
    }
    desk.command("state halted VOD").unwrap();
    assert_eq!(statuses(&desk.ask(ONE, &good)), [2]);
    let mut coarse = config();
    coarse.instruments[0].tick = super::desk::decimal("0.05");
    let mut desk = TmpDesk::of(coarse).log_in();
    let off = R01 {
        price: 1001,
        ..good
    };
    assert_eq!(statuses(&desk.ask(ONE, &off)), [29]);
    let price = |desk: &mut TmpDesk| desk.ask(ONE, &good)[0].report().price;
    assert_eq!(price(&mut desk), 1000);
    let off = change(&good, TmpExecType::PRICE, 0, 1001);
    assert_eq!(statuses(&desk.ask(ONE, &off)), [29]);
}

#[test]
fn symbols_of_40_bytes_and_short_reports() {
    let mut desk = TmpDesk::new().log_in();
    let short = new("A0001", BUY, 10, 1000);
    let (symbol_type, symbol) = TmpSymbol::Text(b"VOD").field::<40>().unwrap();
    let long = R31 {
        exec_type: short.exec_type,
        fcm_id: FCM,
        order_no: short.order_no,
        symbol_type,
        symbol,
        price: 1000,
        qty: 10,
        side: BUY,
        ord_type: TmpOrdType::LIMIT,
        position_effect: TmpPositionEffect::CLOSE,
        account_flag: b'A',
        order_source: b'D',
        info_source: *b"999",
        ..R31::default()
    };
    desk.send(ONE, &long);
    let frame = &desk.brokers[ONE].heard[0].frame;
    let report: R32 = TmpFrame::read(frame).unwrap().body().unwrap();
    assert_eq!((report.symbol, report.symbol_type), (symbol, symbol_type));
    assert_eq!((report.leaves_qty, report.order_no), (10, *b"A0001"));
    assert_eq!(report.position_effect, TmpPositionEffect::CLOSE);
    // Numbers of a product list.
    let numeric = R31 {
        order_no: *b"A0002",
        symbol_type: TmpSymbolType::NUMERIC_40,
        ..long
    };
    desk.brokers[ONE].heard.clear();
    desk.send(ONE, &numeric);
    assert_eq!(statuses(&desk.heard(ONE)), [20]);
    let theirs = R01 {
        fcm_id: 280,
        side: SELL,
        qty: 4,
        ..short
    };
    desk.send(OTHER, &theirs);
    let heard = &desk.brokers[OTHER].heard;
    assert_eq!(heard.len(), 1);
    let fill: R22 = TmpFrame::read(&heard[0].frame).unwrap().body().unwrap();
    assert_eq!(fill.exec_type, TmpExecType::NEW_FILL);
    assert_eq!((fill.leg_px, fill.leg_qty), ([1000, 0], [4, 0]));
    assert_eq!((fill.before_qty, fill.leaves_qty, fill.price), (4, 0, 1000));
}

#[test]
fn services_are_answered_or_refused_by_name() {
    let mut desk = TmpDesk::new().log_in();
    let asked = R11 {
        trade_req_id: 9,
        flow_group: 3,
        ..R11::default()
    };
    for (state, code) in [("auction", 2), ("continuous", 3), ("closed", 4)] {
        desk.command(&alloc::format!("state {state} *")).unwrap();
        desk.brokers[ONE].heard.clear();
        desk.send(ONE, &asked);
        let frame = &desk.brokers[ONE].heard[0].frame;
        let answer: R12 = TmpFrame::read(frame).unwrap().body().unwrap();
        let numbers = (answer.trade_req_id, answer.flow_group, answer.trade_status);
        assert_eq!(numbers, (9, 3, code), "{state}");
    }
    desk.command("state continuous *").unwrap();
    let (symbol_type, symbol) = TmpSymbol::Text(b"VOD").field::<20>().unwrap();
    let inquiry = R07 {
        order_no: *b"Q0001",
        ord_id: 4,
        fcm_id: FCM,
        symbol_type,
        symbol,
        order_source: b'D',
        info_source: *b"999",
    };
    desk.brokers[ONE].heard.clear();
    desk.send(ONE, &inquiry);
    let (symbol_type, symbol) = TmpSymbol::Text(b"XYZ").field::<40>().unwrap();
    let unknown = R37 {
        symbol_type,
        symbol,
        order_source: b'D',
        info_source: *b"999",
        ..R37::default()
    };
    desk.send(ONE, &unknown);
    let heard = &desk.brokers[ONE].heard;
    let reply: R08 = TmpFrame::read(&heard[0].frame).unwrap().body().unwrap();
    assert_eq!((reply.status, reply.order_no), (TmpStatus::OK, *b"Q0001"));
    let reply: R38 = TmpFrame::read(&heard[1].frame).unwrap().body().unwrap();
    assert_eq!((reply.status, reply.symbol), (TmpStatus::PRODUCT, symbol));
    let quote = R09 {
        exec_type: TmpExecType::NEW,
        fcm_id: FCM,
        order_no: *b"Q0002",
        order_source: b'D',
        info_source: *b"999",
        ..R09::default()
    };
    desk.brokers[ONE].heard.clear();
    desk.send(ONE, &quote);
    let heard = desk.heard(ONE);
    assert_eq!(statuses(&heard), [20, 20], "it names no symbol");
    assert_eq!(
        (heard[0].reject().side, heard[1].reject().side),
        (BUY, SELL)
    );
    let command = R17 { data: b"K101" };
    desk.send(ONE, &command);
    assert_eq!(desk.brokers[ONE].link.state(), ClientLinkState::Down);
    desk.sleep(200);
    assert!(
        desk.query("lines").starts_with("T1 Down"),
        "{}",
        desk.query("lines")
    );
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
}

#[test]
fn the_flow_limit_is_warned_of_and_late_orders_are_refused() {
    let mut desk = TmpDesk::new().with_flow(10);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    desk.sleep(1100);
    let mut warned = alloc::vec::Vec::new();
    for id in 0..8 {
        let order = new(&alloc::format!("A000{id}"), BUY, 1, 900);
        let said = desk.ask(ONE, &order);
        warned.push(said[0].report().status.0);
    }
    assert_eq!(warned, [0, 0, 0, 0, 0, 0, 0, 248]);
    // A fill of that order has no warning.
    desk.say(A, "D 11=1|55=VOD|54=2|38=8|40=2|44=9");
    assert!(desk.heard(ONE).iter().all(|it| it.numbers().1 == 0));
    let mut desk = TmpDesk::new().with_cancel_order_sec(2).log_in();
    let order = new("A0001", BUY, 1, 900);
    desk.ask(ONE, &order)[0].report();
    desk.behind_ns = 3_000_000_000;
    assert_eq!(statuses(&desk.ask(ONE, &new("A0002", BUY, 1, 900))), [242]);
    let cancel = change(&order, TmpExecType::CANCEL, 0, 0);
    assert_eq!(desk.ask(ONE, &cancel)[0].numbers(), ('4', 0, [0, 0, 0, 1]));
}

#[test]
fn scripts_answer_orders_over_tmp() {
    let script = |name: &str, quantity: &str, steps: &[&str]| OrderScript {
        name: name.into(),
        session: Some("T1".into()),
        quantity: Some(super::desk::decimal(quantity)),
        steps: steps.iter().map(|step| (*step).into()).collect(),
        ..OrderScript::default()
    };
    let mut config = config();
    config.scripts = [
        script("no", "1", &["reject 65 \"Not today\""]),
        script("half", "10", &["pending", "ack", "fill 50%", "cancel rest"]),
        script(
            "keep",
            "20",
            &["ack", "reject cancel 16", "reject replace 300"],
        ),
        script(
            "slow",
            "30",
            &["wait 100ms", "ack", "bust", "restate 25", "expire"],
        ),
    ]
    .into();
    let mut desk = TmpDesk::of(config).log_in();
    assert_eq!(statuses(&desk.ask(ONE, &new("A0001", BUY, 1, 1000))), [65]);
    let said = desk.ask(ONE, &new("A0002", BUY, 10, 1000));
    assert_eq!(said.len(), 3);
    assert_eq!(said[0].numbers(), ('0', 0, [0, 0, 10, 10]));
    assert_eq!(said[1].numbers(), ('F', 0, [5, 5, 5, 10]));
    assert_eq!(said[2].numbers(), ('F', 0, [0, 5, 0, 5]));
    let order = new("A0003", BUY, 20, 1000);
    desk.ask(ONE, &order);
    let cancel = change(&order, TmpExecType::CANCEL, 0, 0);
    assert_eq!(statuses(&desk.ask(ONE, &cancel)), [16]);
    // No status has more than one byte.
    let reprice = change(&order, TmpExecType::PRICE, 0, 1010);
    assert_eq!(statuses(&desk.ask(ONE, &reprice)), [99]);
    assert_eq!(desk.ask(ONE, &reprice)[0].numbers().0, 'm');
    let reduce = change(&order, TmpExecType::REDUCE, 5, 0);
    assert_eq!(
        desk.ask(ONE, &reduce)[0].numbers(),
        ('5', 0, [0, 0, 15, 20])
    );
    assert_eq!(desk.ask(ONE, &cancel)[0].numbers(), ('4', 0, [0, 0, 0, 15]));
    // TMP has no message for the steps in the middle.
    assert_eq!(desk.ask(ONE, &new("A0004", BUY, 30, 1000)), []);
    desk.sleep(150);
    let heard = desk.heard(ONE);
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0].numbers(), ('0', 0, [0, 0, 30, 30]));
    assert_eq!(heard[1].numbers(), ('F', 0, [0, 0, 0, 25]));
    // Of another line: into the book.
    assert_eq!(desk.ask(TWO, &new("A0005", BUY, 1, 1000)).len(), 1);
    desk.exchange.check().unwrap();
    assert_eq!(desk.exchange.open(), (1, 0));
}
