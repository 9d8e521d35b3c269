//! Mistakes that TMP lines have made once.

use fixwire_protocol::{Application, Link, Nanos, Outbox, SessionId, Timestamp};
use fixwire_tmp::messages::L40;
use fixwire_tmp::{ClientLinkState, TmpHeader, TmpLayout, TmpSide, TmpStatus};

use super::tmp_desk::{ONE, TmpDesk, TmpSaid, new};

const BUY: TmpSide = TmpSide::BUY;

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
