//! Copies of reports (R06) for lines that subscribe to them (R15, R16).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use fixwire_tmp::messages::{R06, R11, R12, R15, R16};
use fixwire_tmp::{ClientLinkState, TmpExecType, TmpFrame, TmpSide, TmpStatus};

use super::desk::A;
use super::tmp_desk::{COPY, FCM, MEMBER, ONE, OTHER, TWO, TmpDesk, change, new};

/// Subscribes to the reports of a target from a number on; returns the status of the answer.
pub(super) fn subscribe(desk: &mut TmpDesk, at: usize, target_id: u8, req_seq: u32) -> u8 {
    let member = [FCM, FCM, 280, FCM, 7][at];
    ask(
        desk,
        at,
        R15 {
            member,
            target_id,
            req_seq,
        },
    )
}

fn ask(desk: &mut TmpDesk, at: usize, asked: R15) -> u8 {
    let before = desk.brokers[at].heard.len();
    desk.send(at, &asked);
    let frames = &desk.brokers[at].heard[before..];
    let mut answers = frames
        .iter()
        .filter_map(|it| TmpFrame::read(&it.frame).ok()?.body::<R16>().ok());
    let answer = answers.next().unwrap();
    assert_eq!(
        (answer.member, answer.target_id, answer.req_seq),
        (asked.member, asked.target_id, asked.req_seq)
    );
    answer.status.0
}

/// Takes the copies that a line has received.
pub(super) fn copies(desk: &mut TmpDesk, at: usize) -> Vec<R06> {
    let heard = core::mem::take(&mut desk.brokers[at].heard);
    let frames = heard.iter().map(|it| TmpFrame::read(&it.frame).unwrap());
    frames
        .filter_map(|frame| {
            let copy = frame.body::<R06>().ok()?;
            assert_eq!(frame.header().msg_seq_num, 0, "it has no number");
            Some(copy)
        })
        .collect()
}

/// order_no, ExecType, last and left quantity, and the session of each copy.
fn said(copies: &[R06]) -> Vec<String> {
    let said = copies.iter().map(|it| {
        format!(
            "{} {} {} {} on {}",
            core::str::from_utf8(&it.order_no).unwrap(),
            char::from(it.exec_type.0),
            it.last_qty,
            it.leaves_qty,
            it.rpt_session_id
        )
    });
    said.collect()
}

fn desk() -> TmpDesk {
    TmpDesk::with_copies().log_in()
}

/// Orders of each line, one of them filled, changed and cancelled; one is refused.
fn trade(desk: &mut TmpDesk) {
    let sell = new("A0001", TmpSide::SELL, 5, 1000);
    desk.send(ONE, &sell);
    desk.send(ONE, &change(&sell, TmpExecType::QUERY, 0, 0));
    desk.send(ONE, &sell);
    let buy = new("A0002", TmpSide::BUY, 2, 1000);
    desk.send(TWO, &buy);
    desk.send(TWO, &change(&sell, TmpExecType::REDUCE, 1, 0));
    let mut other = new("B0001", TmpSide::BUY, 1, 1000);
    other.fcm_id = 280;
    desk.send(OTHER, &other);
    desk.send(ONE, &change(&sell, TmpExecType::CANCEL, 0, 0));
}

const OWN: [&str; 6] = [
    "A0001 0 0 5 on 50",
    "A0001 F 2 3 on 50",
    "A0002 6 2 0 on 51",
    "A0001 5 0 2 on 51",
    "A0001 F 1 1 on 50",
    "A0001 4 0 0 on 50",
];

#[test]
fn a_drop_copy_gets_each_report_of_its_broker_whichever_line_has_it() {
    let mut desk = desk();
    assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0);
    trade(&mut desk);
    let copies = copies(&mut desk, COPY);
    assert_eq!(said(&copies), OWN);
    assert!(
        copies
            .windows(2)
            .all(|pair| pair[0].rpt_seq < pair[1].rpt_seq)
    );
    // But for the target it is the report.
    let heard = desk.heard(ONE);
    let first = heard.iter().map(|it| *it.report()).next().unwrap();
    assert_eq!(copies[0].report(4), first);
    assert_eq!((copies[0].target_id, first.target_id), (7, 4));
}

#[test]
fn a_clearing_member_gets_the_reports_of_its_brokers_or_their_fills() {
    for target_id in [8, 18] {
        let mut desk = desk();
        assert_eq!(subscribe(&mut desk, MEMBER, target_id, 0), 0);
        trade(&mut desk);
        let all = said(&copies(&mut desk, MEMBER));
        assert_eq!(all.len(), 7, "{all:?}");
        assert!(all.contains(&"B0001 6 1 0 on 52".to_string()));
    }
    for target_id in [9, 19] {
        let mut desk = desk();
        assert_eq!(subscribe(&mut desk, MEMBER, target_id, 0), 0);
        trade(&mut desk);
        let fills = copies(&mut desk, MEMBER);
        assert_eq!(fills.len(), 4);
        assert!(
            fills
                .iter()
                .all(|it| it.last_qty > 0 && it.target_id == target_id)
        );
    }
    for target_id in [3, 13, 23] {
        let mut desk = desk();
        trade(&mut desk);
        assert_eq!(subscribe(&mut desk, MEMBER, target_id, 0), 0);
        assert_eq!(copies(&mut desk, MEMBER), [], "it has no orders of its own");
        assert_eq!(subscribe(&mut desk, COPY, target_id, 0), 0);
        assert_eq!(said(&copies(&mut desk, COPY)), OWN);
    }
}

#[test]
fn a_line_asks_for_what_it_has_missed() {
    let mut desk = desk();
    trade(&mut desk);
    assert_eq!(copies(&mut desk, COPY), [], "nobody has asked");
    assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0);
    let all = copies(&mut desk, COPY);
    assert_eq!(said(&all), OWN);
    desk.disconnect(COPY);
    desk.send(ONE, &new("A0003", TmpSide::SELL, 5, 1100));
    assert_eq!(desk.connect(COPY), ClientLinkState::Ready);
    desk.send(ONE, &new("A0004", TmpSide::SELL, 5, 1100));
    assert_eq!(copies(&mut desk, COPY), [], "each connection asks anew");
    let last = all.last().unwrap().rpt_seq;
    assert_eq!(subscribe(&mut desk, COPY, 7, last + 1), 0);
    assert_eq!(
        said(&copies(&mut desk, COPY)),
        ["A0003 0 0 5 on 50", "A0004 0 0 5 on 50"]
    );
    // A second one of the target takes the place of the first.
    assert_eq!(subscribe(&mut desk, COPY, 7, last), 0);
    assert_eq!(copies(&mut desk, COPY).len(), 3);
    desk.send(ONE, &new("A0005", TmpSide::SELL, 5, 1100));
    assert_eq!(said(&copies(&mut desk, COPY)), ["A0005 0 0 5 on 50"]);
}

#[test]
fn a_wrong_subscription_is_refused_with_its_status() {
    let mut desk = desk();
    let asked = |member, target_id| R15 {
        member,
        target_id,
        req_seq: 0,
    };
    assert_eq!(ask(&mut desk, ONE, asked(FCM, 7)), TmpStatus::AP_CODE.0);
    assert_eq!(
        ask(&mut desk, COPY, asked(280, 7)),
        TmpStatus::SUBSCRIPTION_208.0
    );
    for target_id in [0, 1, 4, 10, 27, 255] {
        assert_eq!(
            ask(&mut desk, COPY, asked(FCM, target_id)),
            TmpStatus::SUBSCRIPTION_209.0
        );
    }
    desk.command("fault reject session=DC type=R15 status=99 count=1")
        .unwrap();
    assert_eq!(subscribe(&mut desk, COPY, 7, 0), 99);
    trade(&mut desk);
    assert_eq!(copies(&mut desk, COPY), []);
    // It has no orders, but may ask for the state of trading.
    desk.send(
        COPY,
        &R11 {
            status: TmpStatus::OK,
            trade_req_id: 1,
            flow_group: 0,
            request_type: 0,
        },
    );
    let frame = &desk.brokers[COPY].heard.last().unwrap().frame;
    assert!(TmpFrame::read(frame).unwrap().body::<R12>().is_ok());
    desk.send(COPY, &new("A0009", TmpSide::SELL, 5, 1100));
    desk.sleep(200);
    let end = desk.brokers[COPY].ends.last().unwrap();
    assert_eq!(
        end.to_string(),
        "peer sent L10 with status 93 (Link: wrong message format)"
    );
}

#[test]
fn copies_are_the_same_after_a_kill_at_each_note() {
    let mut first = desk();
    trade(&mut first);
    let notes = first.notes.len();
    let mut desk = desk();
    trade(&mut desk);
    for at in (0..notes).chain([notes]) {
        // A member of none of these notes, so that each checkpoint can be made.
        desk.kill_with_checkpoint(at);
        assert_eq!(desk.connect(COPY), ClientLinkState::Ready);
        assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0);
        assert_eq!(
            said(&copies(&mut desk, COPY)),
            OWN,
            "checkpoint of {at} notes"
        );
    }
}

#[test]
fn a_small_outbox_gets_all_copies_in_turn() {
    let mut desk = TmpDesk::with_copies().with_room(12_000, 24).log_in();
    for at in 0..40 {
        desk.send(ONE, &new(&format!("A{at:04}"), TmpSide::SELL, 1, 1100));
        desk.sleep(50);
    }
    assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0);
    let mut found = copies(&mut desk, COPY);
    assert!(found.len() < 40, "there is no room for all of them");
    desk.sleep(1_000);
    found.extend(copies(&mut desk, COPY));
    let numbers: Vec<u32> = found.iter().map(|it| it.rpt_seq).collect();
    assert_eq!(numbers.len(), 40);
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn faults_change_what_a_subscriber_gets() {
    let cases: [(&str, &[&str]); 5] = [
        ("drop", &["A0002", "A0003"]),
        ("duplicate", &["A0001", "A0001", "A0002", "A0003"]),
        ("reorder", &["A0002", "A0001", "A0003"]),
        ("delay", &["A0001", "A0002", "A0003"]),
        ("stall", &["A0001", "A0002", "A0003"]),
    ];
    for (kind, wanted) in cases {
        let mut desk = desk();
        assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0);
        let more = if kind == "stall" {
            ""
        } else {
            " type=R06 count=1"
        };
        desk.command(&format!("fault {kind} session=DC{more}"))
            .unwrap();
        for id in ["A0001", "A0002", "A0003"] {
            desk.send(ONE, &new(id, TmpSide::SELL, 5, 1100));
        }
        if matches!(kind, "delay" | "stall") {
            assert_eq!(copies(&mut desk, COPY), [], "{kind}");
        }
        desk.command("fault clear").unwrap();
        desk.sleep(150);
        let found = copies(&mut desk, COPY);
        let found: Vec<String> = found
            .iter()
            .map(|it| String::from_utf8_lossy(&it.order_no).into())
            .collect();
        assert_eq!(found, wanted, "{kind}");
        assert_eq!(
            desk.heard(ONE).len(),
            3,
            "{kind}: the line has its own reports"
        );
    }
}

#[test]
fn fix_members_and_long_symbols_have_no_copies() {
    let mut desk = desk();
    assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0);
    desk.say(A, "D 11=F1|55=VOD|54=1|38=1|40=2|44=10");
    assert_eq!(said(&copies(&mut desk, COPY)), vec![""; 0]);
}
