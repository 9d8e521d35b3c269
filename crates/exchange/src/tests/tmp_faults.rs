//! Injected faults on TMP lines: each ends in a recovery, or in a disconnect with a named reason.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_tmp::{
    ClientLinkState, LinkEnd, TmpFrame, TmpHeader, TmpLayout, TmpSide, TmpStatus, checksum,
};

use super::desk::{A, config};
use super::tmp_desk::{ONE, TWO, TmpDesk, TmpSaid, new};

const BUY: TmpSide = TmpSide::BUY;

fn order(at: u32) -> fixwire_tmp::messages::R01 {
    new(&alloc::format!("A{at:04}"), BUY, 1, 900)
}

fn fault(desk: &mut TmpDesk, words: &str) {
    desk.command(&alloc::format!("fault {words}")).unwrap();
}

/// MsgSeqNum and order number of the reports that a broker has received.
fn heard(desk: &TmpDesk, at: usize) -> Vec<(u32, String)> {
    let of = |frame: &[u8]| {
        let read = TmpFrame::read(frame).unwrap();
        let report: fixwire_tmp::messages::R02 = read.body().unwrap();
        let order_no = String::from_utf8_lossy(&report.order_no).to_string();
        (read.header().msg_seq_num, order_no)
    };
    let heard = desk.brokers[at].heard.iter();
    heard.map(|it| of(&it.frame)).collect()
}

fn names(names: &[(u32, &str)]) -> Vec<(u32, String)> {
    names.iter().map(|it| (it.0, it.1.to_string())).collect()
}

#[test]
fn reports_are_dropped_doubled_delayed_reordered_and_stalled() {
    let mut desk = TmpDesk::new().log_in();
    fault(&mut desk, "drop session=T1 type=R02 count=1");
    desk.send(ONE, &order(1));
    desk.send(ONE, &order(2));
    // It leaves no gap.
    assert_eq!(heard(&desk, ONE), names(&[(1, "A0002")]));
    fault(&mut desk, "duplicate session=T1 count=1");
    desk.send(ONE, &order(3));
    assert_eq!(heard(&desk, ONE)[1..], names(&[(2, "A0003"), (3, "A0003")]));
    desk.brokers[ONE].heard.clear();
    fault(&mut desk, "reorder session=T1 count=1");
    desk.send(ONE, &order(4));
    desk.send(ONE, &order(5));
    assert_eq!(heard(&desk, ONE), names(&[(4, "A0005"), (5, "A0004")]));
    desk.brokers[ONE].heard.clear();
    fault(&mut desk, "delay session=T1 ms=100 count=1");
    desk.send(ONE, &order(6));
    desk.send(TWO, &order(7));
    desk.sleep(50);
    assert_eq!((heard(&desk, ONE).len(), heard(&desk, TWO).len()), (0, 1));
    desk.sleep(100);
    assert_eq!(heard(&desk, ONE), names(&[(6, "A0006")]));
    desk.brokers[ONE].heard.clear();
    fault(&mut desk, "stall session=T1");
    desk.send(ONE, &order(8));
    desk.sleep(1000);
    assert_eq!(heard(&desk, ONE), []);
    fault(&mut desk, "clear");
    desk.sleep(1);
    assert_eq!(heard(&desk, ONE), names(&[(7, "A0008")]));
    assert_eq!(desk.exchange.open(), (8, 0));
    assert!(desk.brokers.iter().all(|it| it.ends.is_empty()));
}

#[test]
fn a_request_is_rejected_with_a_status() {
    let mut desk = TmpDesk::new().log_in();
    fault(&mut desk, "reject session=T1 type=R01 status=12 count=1");
    let said = desk.ask(ONE, &order(1));
    let TmpSaid::Reject(1, reject) = said[0] else {
        panic!("{said:?}");
    };
    assert_eq!(
        (reject.status, reject.order_no),
        (TmpStatus::BROKER, *b"A0001")
    );
    assert_eq!(desk.exchange.open(), (0, 0));
    fault(&mut desk, "reject count=1");
    let said = desk.ask(ONE, &order(1));
    assert_eq!(said[0].reject().status, TmpStatus::MAJOR_ERROR);
    assert_eq!(desk.ask(ONE, &order(1)).len(), 1);
    assert_eq!(desk.exchange.open(), (1, 0));
}

/// Plays one fault on the report of an order; returns how the link closes for the broker and for the exchange. The
/// next login recovers a lost report.
fn hit(words: &str) -> (Option<LinkEnd>, Vec<&'static str>) {
    let mut desk = TmpDesk::new().log_in();
    desk.send(ONE, &order(1));
    fault(&mut desk, words);
    desk.send(ONE, &order(2));
    if desk.brokers[ONE].link.state() == ClientLinkState::Ready {
        // The next report shows it.
        desk.send(ONE, &order(3));
    }
    assert_eq!(
        desk.brokers[ONE].link.state(),
        ClientLinkState::Down,
        "{words}"
    );
    desk.sleep(200);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready, "{words}");
    let all = [(1, "A0001"), (2, "A0002"), (3, "A0003")];
    let count = heard(&desk, ONE).len();
    assert!(count >= 2, "{words}");
    assert_eq!(heard(&desk, ONE), names(&all[..count]), "{words}");
    assert!(desk.brokers[ONE].heard[1].recovered, "{words}");
    // The other line has noticed nothing.
    desk.send(TWO, &order(4));
    assert_eq!(heard(&desk, TWO), names(&[(1, "A0004")]));
    let broker = &desk.brokers[ONE];
    (broker.ends.first().copied(), broker.hangups.clone())
}

#[test]
fn lost_and_broken_frames_are_recovered_by_the_next_login() {
    let (end, hangups) = hit("checksum session=T1 count=1");
    assert!(matches!(end, Some(LinkEnd::BadFrame(_))), "{end:?}");
    assert!(hangups.is_empty());
    let (end, _) = hit("gap session=T1 count=1");
    let gap = LinkEnd::SequenceGap {
        expected: 2,
        found: 3,
    };
    assert_eq!(end, Some(gap));
    let (end, hangups) = hit("disconnect session=T1 count=1");
    assert_eq!(
        (end, hangups),
        (None, ["disconnected by an injected fault"].into())
    );
    let (end, hangups) = hit("cut session=T1 count=1");
    let Some(LinkEnd::BadFrame(error)) = end else {
        panic!("{end:?}");
    };
    assert_eq!(error.field, "msg_length");
    let why = "disconnected inside a message by an injected fault";
    assert_eq!(hangups, [why]);
}

#[test]
fn messages_of_the_link_suffer_when_they_are_named() {
    let mut desk = TmpDesk::new();
    fault(&mut desk, "gap session=T1 count=1");
    fault(&mut desk, "gap session=T1 type=L50 count=1");
    assert_eq!(desk.connect(ONE), ClientLinkState::AwaitL50);
    desk.sleep(10_100);
    let end = LinkEnd::StepTimeout { awaited: "L50" };
    let broker = &desk.brokers[ONE];
    assert!(
        broker.ends.contains(&end) || !broker.hangups.is_empty(),
        "{:?}",
        broker.ends
    );
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    assert_eq!(desk.query("faults"), "gap session=T1 count=1\n");
    // A block of missed messages that is cut: the next login sends it again.
    desk.command("fault clear").unwrap();
    desk.send(ONE, &new("A0001", TmpSide::SELL, 2, 1000));
    desk.disconnect(ONE);
    desk.say(A, "D 11=1|55=VOD|54=1|38=2|40=2|44=10");
    fault(&mut desk, "cut session=T1 type=L41 count=1");
    assert_eq!(desk.connect(ONE), ClientLinkState::Down);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    assert_eq!(heard(&desk, ONE), names(&[(1, "A0001"), (2, "A0001")]));
}

#[test]
fn a_link_is_refused_with_any_status() {
    for status in [1, 99, 207, 240, 241, 255] {
        let mut desk = TmpDesk::new().log_in();
        desk.send(ONE, &order(1));
        let words = alloc::format!("refuse session=T1 status={status} count=1");
        fault(&mut desk, &words);
        desk.send(ONE, &order(2));
        let refused = LinkEnd::Refused {
            message: "L10",
            status: TmpStatus(status),
        };
        assert_eq!(desk.brokers[ONE].ends, [refused]);
        // The order was not handled, and may be entered again.
        assert_eq!(desk.exchange.open(), (1, 0));
        assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
        desk.send(ONE, &order(2));
        assert_eq!(heard(&desk, ONE), names(&[(1, "A0001"), (2, "A0002")]));
    }
    // A login, and the end that the exchange makes when the broker does not.
    let mut desk = TmpDesk::new();
    fault(&mut desk, "refuse session=T1 type=L40 status=241 count=1");
    assert_eq!(desk.connect(ONE), ClientLinkState::Down);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    desk.command("lock T1").unwrap();
    desk.disconnect(ONE);
    assert_eq!(desk.connect(ONE), ClientLinkState::Down);
    let refused = LinkEnd::Refused {
        message: "L10",
        status: TmpStatus::LOCKED,
    };
    assert_eq!(desk.brokers[ONE].ends.last(), Some(&refused));
    assert!(
        desk.query("lines")
            .starts_with("T1 Down locked received 0 sent 0")
    );
    assert_eq!(desk.command("unlock T1"), Ok("T1: unlocked".into()));
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
}

#[test]
fn a_silent_exchange_is_noticed_and_all_is_recovered() {
    let mut desk = TmpDesk::new().log_in();
    desk.send(ONE, &new("A0001", TmpSide::SELL, 1, 1000));
    fault(&mut desk, "silence session=T1");
    desk.say(A, "D 11=1|55=VOD|54=1|38=1|40=2|44=10");
    desk.sleep(36_000);
    assert_eq!(desk.brokers[ONE].ends, [LinkEnd::HeartbeatTimeout]);
    assert_eq!(desk.connect(ONE), ClientLinkState::AwaitL10);
    desk.sleep(10_100);
    let last = desk.brokers[ONE].link.state();
    assert_eq!(last, ClientLinkState::Down, "the login times out");
    assert_eq!(desk.brokers[TWO].link.state(), ClientLinkState::Ready);
    fault(&mut desk, "clear");
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    assert_eq!(heard(&desk, ONE), names(&[(1, "A0001"), (2, "A0001")]));
    assert!(desk.brokers[ONE].heard[1].recovered);
}

#[test]
fn wrong_words_are_refused_with_the_right_ones() {
    let mut desk = TmpDesk::new();
    for (words, why) in [
        (
            "refuse session=M0",
            "M0 is a FIX session, and this fault is for TMP lines",
        ),
        (
            "silence session=T9",
            "unknown TMP line T9: the query lines lists them",
        ),
        ("logout session=T1", "T1 is a TMP line, which has no Logout"),
        (
            "refuse status=256",
            "status=256 is not a number from 1 to 255",
        ),
        ("refuse status=0", "status=0 is not a number from 1 to 255"),
        ("drop status=5", "only reject and refuse have a status"),
        ("gap", "run it with fixwire sim"),
        ("half", "unknown fault \"half\""),
    ] {
        let error = desk.command(&alloc::format!("fault {words}")).unwrap_err();
        assert!(error.contains(why), "{words}: {error}");
    }
    assert_eq!(desk.query("faults"), "");
    let error = desk.command("lock T9").unwrap_err();
    assert!(error.contains("unknown TMP line \"T9\""), "{error}");
    let mut fix = super::desk::Desk::new();
    let error = fix.command("fault cut").0.unwrap_err();
    assert!(
        error.contains("cut: the exchange has no TMP line"),
        "{error}"
    );
    // From the start on: the file names lines that follow later.
    let mut config = config();
    config.faults = ["gap session=T1 count=1".into(), "refuse count=1".into()].into();
    let mut desk = TmpDesk::of(config);
    assert_eq!(desk.connect(ONE), ClientLinkState::Down);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    desk.send(ONE, &order(1));
    assert_eq!(heard(&desk, ONE), []);
}

#[test]
fn wrong_frames_of_a_broker_are_refused_by_name() {
    let sent = |frame: &[u8]| {
        let mut desk = TmpDesk::new().log_in();
        let taken = desk.raw(ONE, frame);
        let end = desk.brokers[ONE].ends.last().copied();
        desk.sleep(200);
        // Nothing of it is left.
        assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
        assert_eq!(desk.exchange.open(), (0, 0));
        (taken, end)
    };
    let refused = |status| {
        Some(LinkEnd::Refused {
            message: "L10",
            status: TmpStatus(status),
        })
    };
    let frame = |header: TmpHeader| {
        let mut frame = alloc::vec![0; 80];
        order(1).encode(&header, &mut frame).unwrap();
        frame
    };
    let right = TmpHeader {
        msg_seq_num: 1,
        fcm_id: 279,
        session_id: 50,
        ..TmpHeader::default()
    };
    let mut wrong = frame(right);
    wrong[79] ^= 1;
    assert_eq!(sent(&wrong), (Ok(()), refused(93)));
    let mut unknown = frame(right);
    unknown[12] = 77;
    unknown[79] = checksum(&unknown[..79]);
    assert_eq!(sent(&unknown).1, refused(93));
    let mut short = frame(right)[..60].to_vec();
    short[1] = 57;
    short[59] = checksum(&short[..59]);
    assert_eq!(sent(&short).1, refused(92));
    assert_eq!(sent(&[]).1, refused(92));
    let header = TmpHeader { fcm_id: 1, ..right };
    assert_eq!(sent(&frame(header)).1, refused(202));
    let header = TmpHeader {
        session_id: 1,
        ..right
    };
    assert_eq!(sent(&frame(header)).1, refused(205));
    let header = TmpHeader {
        msg_seq_num: 0,
        ..right
    };
    assert_eq!(sent(&frame(header)).1, refused(207));
    // L80 ends the connection at once.
    let mut end = frame(right);
    end[12] = 80;
    end[79] = checksum(&end[..79]);
    let (taken, _) = sent(&end);
    assert_eq!(
        taken.unwrap_err().0,
        "the member ended the application (L80)"
    );
}
