//! Edge cases of TMP lines: no room, scripts, faults of a file.

use alloc::vec::Vec;

use fixwire_protocol::{Application, Link, Nanos, Outbox, SessionId, Timestamp};
use fixwire_tmp::messages::{L40, R04};
use fixwire_tmp::{ClientLinkState, TmpExecType, TmpHeader, TmpLayout, TmpSide, TmpStatus};

use super::tmp_desk::{FCM, ONE, TWO, TmpDesk, TmpSaid, change, new};
use crate::OrderScript;
use crate::faults::check_fault_names;

const BUY: TmpSide = TmpSide::BUY;

/// A script for orders of the first line with this quantity.
fn script(quantity: &str, steps: &[&str]) -> OrderScript {
    OrderScript {
        name: alloc::format!("for {quantity}"),
        session: Some("T1".into()),
        quantity: Some(super::desk::decimal(quantity)),
        steps: steps.iter().map(|step| (*step).into()).collect(),
        ..OrderScript::default()
    }
}

fn scripted(scripts: &[OrderScript]) -> TmpDesk {
    let mut config = super::desk::config();
    config.scripts = scripts.into();
    TmpDesk::of(config).log_in()
}

#[test]
fn a_line_without_room_keeps_its_lock() {
    let mut desk = TmpDesk::new().with_room(4096, 64);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    desk.command("lock T1").unwrap();
    // Its note could be longer than the outbox.
    desk.send(ONE, &new("A0001", BUY, 1, 900));
    let why = "no room in the outbox of the engine: log in again";
    assert_eq!(desk.brokers[ONE].hangups, [why]);
    assert!(
        desk.query("lines")
            .starts_with("T1 Down locked received 0 sent 0")
    );
    let mut desk = desk.with_room(1 << 18, 256);
    assert_eq!(desk.connect(ONE), ClientLinkState::Down);
    desk.command("unlock T1").unwrap();
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    let said = desk.ask(ONE, &new("A0001", BUY, 1, 900));
    assert_eq!(said[0].numbers(), ('0', 0, [0, 0, 1, 1]));
}

#[test]
fn the_end_of_a_connection_waits_for_room() {
    let mut desk = TmpDesk::new();
    let link = SessionId::of_link(ONE as u32);
    let mut outbox = Outbox::new(1 << 16, 64, 256);
    let mut full = Outbox::new(1 << 16, 0, 256);
    let mut now = desk.now;
    desk.exchange.on_link(now, link, Link::Up, &mut outbox);
    // No L10 in time: neither the answer nor the end has room.
    now.mono = now.mono + Nanos::from_millis(10_001);
    for _ in 0..3 {
        let due = desk.exchange.on_time(now, &mut full);
        assert_eq!(due, Some(now.mono + Nanos::from_millis(1)));
        now.mono = due.unwrap();
    }
    assert_eq!(outbox.take_hangup(link), None);
    desk.exchange.on_time(now, &mut outbox);
    assert!(outbox.take_hangup(link).is_some());
    assert_eq!(desk.exchange.on_time(now, &mut outbox), None);
}

#[test]
fn a_request_too_many_is_rejected_without_waiting() {
    let mut desk = TmpDesk::new().log_in();
    desk.command("fault reject session=T1 status=12 count=1")
        .unwrap();
    desk.ask(ONE, &new("A0001", BUY, 1, 900));
    let mut requests = desk.notes.iter();
    let reject = requests.find(|note| note.windows(6).any(|it| it == b"103=12"));
    let reject = reject.unwrap().clone();
    desk.command("fault stall").unwrap();
    for _ in 0..100_001 {
        desk.exchange.on_note(Timestamp::default(), &reject);
    }
    assert_eq!(desk.exchange.open(), (0, 100_001));
    for at in 2..5 {
        let order = new(&alloc::format!("A{at:04}"), BUY, 1, 900);
        let said = desk.ask(ONE, &order);
        assert!(matches!(said[..], [TmpSaid::Reject(0, _)]), "{said:?}");
        assert_eq!(said[0].reject().status, TmpStatus::MAJOR_ERROR);
        assert_eq!(said[0].reject().order_no, order.order_no);
    }
    assert_eq!(desk.exchange.open(), (0, 100_001));
}

#[test]
fn a_broken_exchange_masks_logins_too() {
    let mut desk = TmpDesk::new();
    desk.exchange.on_note(Timestamp::default(), b"?");
    let mut frame = [0; 64];
    let len = L40::default().encode(&TmpHeader::default(), &mut frame);
    // The desk checks that it is masked.
    let taken = desk.raw(ONE, &frame[..len.unwrap()]);
    assert!(taken.unwrap_err().0.contains("not available"));
}

#[test]
fn a_change_is_of_the_order_as_it_is_when_a_script_answers() {
    const REDUCE: TmpExecType = TmpExecType::REDUCE;
    let waits = ["ack", "wait 100ms", "accept replace", "accept replace"];
    let fills = [&waits[..], &["fill 1"]].concat();
    let mut desk = scripted(&[script("10", &waits), script("20", &fills)]);
    let mut ask = |order_no: &str, qty, [first, second]: [(usize, TmpExecType, u16, i32); 2]| {
        let order = new(order_no, BUY, qty, 1000);
        desk.ask(ONE, &order)[0].report();
        for (at, exec_type, qty, price) in [first, second] {
            let change = change(&order, exec_type, qty, price);
            assert_eq!(desk.ask(at, &change), [], "answered later");
        }
        desk.sleep(150);
        let said = [desk.heard(ONE), desk.heard(TWO)].concat();
        let shown = |said: &TmpSaid| (said.numbers(), said.report().price, said.report().qty);
        said.iter().map(shown).collect::<Vec<_>>()
    };
    let said = ask("A0001", 10, [(ONE, REDUCE, 2, 0); 2]);
    let first = (('5', 0, [0, 0, 8, 10]), 1000, 8);
    assert_eq!(said, [first, (('5', 0, [0, 0, 6, 8]), 1000, 6)]);
    let price = (ONE, TmpExecType::PRICE, 0, 1010);
    let said = ask("A0002", 10, [(ONE, REDUCE, 2, 0), price]);
    assert_eq!(said, [first, (('m', 0, [0, 0, 8, 8]), 1010, 8)]);
    let said = ask("A0003", 10, [price, (ONE, REDUCE, 2, 0)]);
    let second = (('5', 0, [0, 0, 8, 10]), 1010, 8);
    assert_eq!(said, [(('m', 0, [0, 0, 10, 10]), 1010, 10), second]);
    // All of the rest.
    let said = ask("A0004", 10, [(ONE, REDUCE, 6, 0); 2]);
    let first = (('5', 0, [0, 0, 4, 10]), 1000, 4);
    assert_eq!(said, [first, (('5', 32, [0, 0, 0, 4]), 1000, 4)]);
    // Fills go where the last one that moved it has sent them.
    let here = (TWO, TmpExecType::PRICE_HERE, 0, 1010);
    let said = ask("A0005", 20, [here, (ONE, REDUCE, 2, 0)]);
    assert_eq!(
        said,
        [
            (('5', 0, [0, 0, 18, 20]), 1010, 18),
            (('M', 0, [0, 0, 20, 20]), 1010, 20),
            (('F', 0, [1, 1, 17, 18]), 1010, 18),
        ]
    );
}

#[test]
fn words_that_a_fault_would_ignore_are_refused() {
    let mut desk = TmpDesk::new();
    for word in ["count=2", "percent=50", "type=R02"] {
        let error = desk.command(&alloc::format!("fault silence session=T1 {word}"));
        let error = error.unwrap_err();
        let why = alloc::format!("{word}: silence is for all frames and lasts until fault clear");
        assert!(error.starts_with(&why), "{error}");
    }
    for message in ["R04", "R05"] {
        let error = desk.command(&alloc::format!("fault cut session=T1 type={message}"));
        let error = error.unwrap_err();
        assert!(error.contains("as short as a frame can be"), "{error}");
    }
    assert_eq!(desk.query("faults"), "");
}

#[test]
fn a_frame_that_is_dropped_is_not_counted_as_refused() {
    let mut desk = TmpDesk::new().log_in();
    desk.command("fault refuse session=T1 count=2").unwrap();
    let mut frame = [0; 64];
    let header = TmpHeader {
        fcm_id: FCM,
        session_id: 50,
        ..TmpHeader::default()
    };
    let len = R04::default().encode(&header, &mut frame).unwrap();
    let link = SessionId::of_link(ONE as u32);
    let mut outbox = Outbox::new(1 << 16, 64, 256);
    for _ in 0..3 {
        let taken = desk
            .exchange
            .on_frame(desk.now, link, &frame[..len], &mut outbox);
        assert_eq!(taken, Ok(()));
    }
    assert!(
        desk.query("faults")
            .starts_with("refuse session=T1 count=1")
    );
}

#[test]
fn faults_of_a_file_name_its_sessions_and_lines() {
    let (sessions, lines) = (["FIX.4.4:EX->OMS"], ["T1"]);
    let check = |words| check_fault_names(words, &sessions, &lines);
    for right in [
        "drop",
        "gap",
        "cut",
        "drop session=OMS",
        "refuse session=T1 status=9",
    ] {
        assert_eq!(check(right), Ok(()), "{right}");
    }
    for (wrong, why) in [
        ("drop session=T2", "unknown session T2"),
        ("gap session=T2", "unknown session T2"),
        ("cut session=T2", "unknown TMP line T2"),
        ("cut session=OMS", "OMS is a FIX session"),
        ("logout session=T1", "T1 is a TMP line, which has no Logout"),
    ] {
        let error = check(wrong).unwrap_err();
        assert!(error.contains(why), "{wrong}: {error}");
    }
    let error = check_fault_names("cut", &sessions, &[]).unwrap_err();
    assert!(error.contains("the exchange has no TMP line"), "{error}");
}

#[test]
fn a_fault_of_the_wire_names_a_line_when_there_is_no_session() {
    for words in ["gap", "checksum count=1", "disconnect type=R02", "logout"] {
        let error = check_fault_names(words, &[], &["T1"]).unwrap_err();
        assert!(error.ends_with("name a TMP line"), "{words}: {error}");
        assert_eq!(check_fault_names(words, &[], &[]), Ok(()));
    }
    for words in ["gap session=T1", "drop", "cut"] {
        assert_eq!(check_fault_names(words, &[], &["T1"]), Ok(()), "{words}");
    }
}

#[test]
fn the_number_of_an_order_that_a_script_rejects_is_free_again() {
    let reject = script("1", &["reject 65"]);
    let mut config = super::desk::config();
    config.scripts = [reject].into();
    config.remembered_max = 1;
    let mut desk = TmpDesk::of(config).log_in();
    let order = new("A0001", BUY, 1, 900);
    for _ in 0..2 {
        assert_eq!(desk.ask(ONE, &order)[0].reject().status, TmpStatus(65));
        let cancel = change(&order, TmpExecType::CANCEL, 0, 0);
        let unknown = desk.ask(ONE, &cancel)[0].reject().status;
        assert_eq!(unknown, TmpStatus::NO_SUCH_ORDER);
    }
    // On the other line too, and then it is taken, also when the rejected ones are forgotten.
    let order = new("A0001", BUY, 2, 900);
    desk.ask(ONE, &order)[0].report();
    let other = new("A0002", BUY, 1, 900);
    for _ in 0..2 {
        desk.ask(ONE, &other)[0].reject();
    }
    desk.kill_with_checkpoint(desk.notes.len());
    desk.connect(ONE);
    desk.connect(TWO);
    let said = desk.ask(TWO, &order);
    assert_eq!(said[0].reject().status, TmpStatus::DUPLICATE_ORDER_NO);
    let cancel = change(&order, TmpExecType::CANCEL, 0, 0);
    assert_eq!(desk.ask(ONE, &cancel)[0].numbers(), ('4', 0, [0, 0, 0, 2]));
}

#[test]
fn an_order_is_acknowledged_as_itself_after_a_change() {
    let late = script("10", &["accept replace", "ack"]);
    let never = script("20", &["accept replace", "reject 65"]);
    let mut desk = scripted(&[late, never]);
    for (order_no, qty) in [("A0001", 10), ("A0002", 20)] {
        let order = new(order_no, BUY, qty, 900);
        assert_eq!(desk.ask(ONE, &order), []);
        let said = desk.ask(ONE, &change(&order, TmpExecType::REDUCE, 1, 0));
        assert_eq!(said.len(), 2);
        let left = qty - 1;
        assert_eq!(said[0].numbers(), ('5', 0, [0, 0, left, qty]));
        if qty == 10 {
            assert_eq!(said[1].numbers(), ('0', 0, [0, 0, left, left]));
            assert_eq!(said[1].report().ord_id, order.ord_id);
        } else {
            let reject = said[1].reject();
            assert_eq!(reject.exec_type, TmpExecType::NEW);
            assert_eq!(reject.ord_id, order.ord_id);
        }
    }
}
