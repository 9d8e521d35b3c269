//! Quotes over TMP: an R09 enters two orders that share their order number.

use alloc::vec::Vec;

use fixwire_tmp::messages::{R01, R09, R39};
use fixwire_tmp::{
    ClientLinkState, TmpExecType, TmpOrdType, TmpPositionEffect, TmpSide, TmpStatus, TmpSymbol,
    TmpTimeInForce,
};

use super::desk::A;
use super::tmp_desk::{FCM, ONE, TWO, TmpDesk, TmpSaid, change, new};

const BUY: TmpSide = TmpSide::BUY;
const SELL: TmpSide = TmpSide::SELL;

/// A quote for VOD, at prices in hundredths.
fn quote(order_no: &str, (bid_px, offer_px): (i32, i32), size: u16) -> R09 {
    let (symbol_type, symbol) = TmpSymbol::Text(b"VOD").field::<20>().unwrap();
    R09 {
        exec_type: TmpExecType::NEW,
        cm_id: 7,
        fcm_id: FCM,
        order_no: order_no.as_bytes().try_into().unwrap(),
        ord_id: 1,
        user_define: *b"00000001",
        symbol_type,
        symbol,
        bid_px,
        offer_px,
        bid_size: size,
        offer_size: size,
        account: 1_234_567,
        account_flag: b'A',
        time_in_force: TmpTimeInForce::DAY,
        position_effect: TmpPositionEffect::QUOTE,
        order_source: b'D',
        info_source: *b"903",
    }
}

/// A change of one side, as an R01 that names the side.
fn side_of(order_no: &str, side: TmpSide, exec_type: TmpExecType, qty: u16) -> R01 {
    R01 {
        position_effect: TmpPositionEffect::QUOTE,
        ..change(&new(order_no, side, 1, 0), exec_type, qty, 0)
    }
}

fn ask(desk: &mut TmpDesk, quote: &R09) -> [TmpSaid; 2] {
    desk.brokers[ONE].heard.clear();
    desk.send(ONE, quote);
    desk.heard(ONE).try_into().unwrap()
}

#[test]
fn a_quote_is_two_orders_with_one_number() {
    let mut desk = TmpDesk::new().log_in();
    let both = ask(&mut desk, &quote("Q0001", (990, 1010), 10));
    for (said, side, price) in [(both[0], BUY, 990), (both[1], SELL, 1010)] {
        assert_eq!(said.numbers(), ('0', 0, [0, 0, 10, 10]));
        let report = said.report();
        assert_eq!(
            (report.side, report.price, report.order_no),
            (side, price, *b"Q0001")
        );
        assert_eq!(report.position_effect, TmpPositionEffect::QUOTE);
        assert_eq!(report.ord_type, TmpOrdType::LIMIT);
        assert_eq!((report.ord_id, report.user_define), (1, *b"00000001"));
    }
    assert_ne!(both[0].report().uniq_id, both[1].report().uniq_id);
    // Each trades on its own.
    desk.brokers[ONE].heard.clear();
    desk.say(A, "D 11=S1|55=VOD|54=2|38=4|40=2|44=9.9");
    desk.say(A, "D 11=B1|55=VOD|54=1|38=10|40=2|44=10.1");
    let fills = desk.heard(ONE);
    let numbers: Vec<_> = fills
        .iter()
        .map(|it| (it.report().side, it.numbers()))
        .collect();
    assert_eq!(
        numbers,
        [
            (BUY, ('F', 0, [4, 4, 6, 10])),
            (SELL, ('F', 0, [10, 10, 0, 10]))
        ]
    );
    // A second quote or order of the same number is refused, side by side.
    let both = ask(&mut desk, &quote("Q0001", (980, 1020), 10));
    assert_eq!(both.map(|it| it.reject().status.0), [17, 17]);
    let said = desk.ask(ONE, &new("Q0001", BUY, 1, 990));
    assert_eq!(said[0].reject().status, TmpStatus::DUPLICATE_ORDER_NO);
}

#[test]
fn one_side_can_be_rejected_alone() {
    let mut desk = TmpDesk::new().log_in();
    let half = R09 {
        offer_size: 0,
        ..quote("Q0001", (990, 1010), 10)
    };
    let [bid, offer] = ask(&mut desk, &half);
    assert_eq!(bid.report().side, BUY);
    let reject = offer.reject();
    assert_eq!((reject.side, reject.status), (SELL, TmpStatus::QUANTITY));
    // The number of the rejected side is free again, that of the other one is not.
    let [bid, offer] = ask(&mut desk, &quote("Q0001", (980, 1020), 10));
    assert_eq!(bid.reject().status, TmpStatus::DUPLICATE_ORDER_NO);
    assert_eq!(offer.report().side, SELL);
    for (wrong, status) in [
        (
            R09 {
                position_effect: TmpPositionEffect::OPEN,
                ..quote("Q0002", (990, 1010), 10)
            },
            28,
        ),
        (
            R09 {
                exec_type: TmpExecType::CANCEL,
                ..quote("Q0002", (990, 1010), 10)
            },
            11,
        ),
        (
            R09 {
                fcm_id: 1,
                ..quote("Q0002", (990, 1010), 10)
            },
            12,
        ),
        (
            R09 {
                time_in_force: TmpTimeInForce::TIMED_QUOTE,
                ..quote("Q0002", (990, 1010), 10)
            },
            27,
        ),
    ] {
        let both = ask(&mut desk, &wrong);
        assert_eq!(both.map(|it| it.reject().status.0), [status; 2]);
        assert_eq!(both.map(|it| it.reject().side), [BUY, SELL]);
    }
    // An order is no quote.
    let order = R01 {
        position_effect: TmpPositionEffect::QUOTE,
        ..new("A0001", BUY, 1, 990)
    };
    let said = desk.ask(ONE, &order);
    assert_eq!(said[0].reject().status, TmpStatus::POSITION_EFFECT);
}

#[test]
fn a_side_is_changed_asked_for_and_cancelled_alone() {
    let mut desk = TmpDesk::new().log_in();
    ask(&mut desk, &quote("Q0001", (990, 1010), 10));
    let said = desk.ask(ONE, &side_of("Q0001", SELL, TmpExecType::REDUCE, 3));
    assert_eq!(
        (said[0].report().side, said[0].numbers()),
        (SELL, ('5', 0, [0, 0, 7, 10]))
    );
    // By another line of the broker.
    let said = desk.ask(TWO, &side_of("Q0001", BUY, TmpExecType::CANCEL, 0));
    assert_eq!(
        (said[0].report().side, said[0].numbers()),
        (BUY, ('4', 0, [0, 0, 0, 10]))
    );
    let said = desk.ask(ONE, &side_of("Q0001", SELL, TmpExecType::QUERY, 0));
    assert_eq!(
        (said[0].report().side, said[0].numbers()),
        (SELL, ('I', 0, [0, 0, 7, 7]))
    );
    let said = desk.ask(ONE, &side_of("Q0001", BUY, TmpExecType::QUERY, 0));
    assert_eq!(said[0].numbers(), ('I', 0, [0, 0, 0, 0]));
    // Without a side it is not known which.
    let said = desk.ask(ONE, &side_of("Q0001", TmpSide(0), TmpExecType::CANCEL, 0));
    assert_eq!(said[0].reject().status, TmpStatus::NO_SUCH_ORDER);
    let said = desk.ask(ONE, &side_of("Q0009", SELL, TmpExecType::QUERY, 0));
    assert_eq!(said[0].reject().status, TmpStatus::NO_SUCH_ORDER);
}

#[test]
fn quotes_live_over_restarts_and_in_checkpoints() {
    for with_checkpoint in [false, true] {
        let mut desk = TmpDesk::new().log_in();
        ask(&mut desk, &quote("Q0001", (990, 1010), 10));
        if with_checkpoint {
            desk.kill_with_checkpoint(desk.notes.len());
        } else {
            desk.kill();
        }
        assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
        for side in [BUY, SELL] {
            let said = desk.ask(ONE, &side_of("Q0001", side, TmpExecType::CANCEL, 0));
            assert_eq!((said[0].report().side, said[0].numbers().0), (side, '4'));
        }
    }
}

#[test]
fn a_quote_of_a_long_symbol_is_read() {
    let mut desk = TmpDesk::new().log_in();
    let (symbol_type, symbol) = TmpSymbol::Text(b"VOD").field::<40>().unwrap();
    let short = quote("Q0001", (990, 1010), 10);
    desk.send(
        ONE,
        &R39 {
            exec_type: short.exec_type,
            cm_id: short.cm_id,
            fcm_id: short.fcm_id,
            order_no: short.order_no,
            ord_id: short.ord_id,
            user_define: short.user_define,
            symbol_type,
            symbol,
            bid_px: short.bid_px,
            offer_px: short.offer_px,
            bid_size: short.bid_size,
            offer_size: short.offer_size,
            account: short.account,
            account_flag: short.account_flag,
            time_in_force: short.time_in_force,
            position_effect: short.position_effect,
            order_source: short.order_source,
            info_source: short.info_source,
        },
    );
    // Reports in the long form.
    let heard = desk.heard(ONE);
    assert_eq!(heard, [TmpSaid::More("R32"), TmpSaid::More("R32")]);
}
