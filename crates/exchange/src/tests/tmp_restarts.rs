//! TMP lines over restarts: missed reports arrive in L41, once, at whatever moment the exchange is killed.

use alloc::format;
use alloc::vec::Vec;

use fixwire_protocol::{Application, Hangup, Link, Now, SessionId};
use fixwire_tmp::messages::{R01, R02, R03};
use fixwire_tmp::{ClientLinkState, TmpExecType, TmpFrame, TmpSide};

use super::desk::{A, B, config, exchange};
use super::tmp_desk::{ONE, OTHER, TWO, TmpDesk, change, lines, new};

/// MsgSeqNum and rpt_seq of the reports that a broker has received, and the number of reports from L41.
fn numbers(desk: &TmpDesk, at: usize) -> (Vec<(u32, u32)>, usize) {
    let heard = &desk.brokers[at].heard;
    let of = |frame: &[u8]| {
        let read = TmpFrame::read(frame).unwrap();
        let rpt_seq = match read.body::<R02>() {
            Ok(report) => report.rpt_seq,
            Err(_) => read.body::<R03>().unwrap().rpt_seq,
        };
        (read.header().msg_seq_num, rpt_seq)
    };
    let recovered = heard.iter().filter(|it| it.recovered).count();
    (heard.iter().map(|it| of(&it.frame)).collect(), recovered)
}

#[test]
fn reports_while_the_broker_is_away_come_with_its_next_login() {
    let mut desk = TmpDesk::new().log_in();
    desk.send(ONE, &new("A0001", TmpSide::SELL, 10, 1000));
    desk.disconnect(ONE);
    for id in 0..3 {
        desk.say(A, &format!("D 11={id}|55=VOD|54=1|38=2|40=2|44=10"));
    }
    assert_eq!(numbers(&desk, ONE), ([(1, 1)].into(), 0));
    assert_eq!(
        desk.query("lines").lines().next().unwrap(),
        "T1 Down received 1 sent 4"
    );
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    assert_eq!(
        numbers(&desk, ONE),
        ([(1, 1), (2, 3), (3, 6), (4, 9)].into(), 3)
    );
    // And nothing twice.
    desk.disconnect(ONE);
    desk.connect(ONE);
    assert_eq!(numbers(&desk, ONE).0.len(), 4);
    assert_eq!(desk.exchange.open(), (1, 0));
}

/// Number of steps after which the broker has 12 reports: an order that trades on entry has one report, not two.
const STEPS: u32 = 16;

/// Plays one step of a day: FIX members trade with the orders of brokers, which change and cancel them.
fn play(desk: &mut TmpDesk, step: u32) {
    let name = format!("A{step:04}");
    let order = new(&name, TmpSide::SELL, 5, 1000);
    match step % 4 {
        0 => desk.send(ONE, &order),
        1 => desk.say_lost(A, &format!("D 11={step}|55=VOD|54=1|38=2|40=2|44=10")),
        2 => {
            let before = format!("A{:04}", step - 2);
            let before = new(&before, TmpSide::SELL, 5, 1000);
            desk.send(ONE, &change(&before, TmpExecType::REDUCE, 1, 0));
        }
        _ => desk.say_lost(B, &format!("D 11={step}|55=VOD|54=1|38=4|40=2|44=10")),
    }
}

#[test]
fn whenever_the_exchange_is_killed_each_report_arrives_once() {
    let mut whole = TmpDesk::new().log_in();
    for step in 0..STEPS {
        play(&mut whole, step);
    }
    whole.sleep(1);
    let (expected, recovered) = numbers(&whole, ONE);
    assert!(expected.len() >= 12 && recovered == 0, "{expected:?}");
    let mut missed = 0;
    for killed in 0..STEPS {
        for checkpoint in [false, true] {
            let mut desk = TmpDesk::new().log_in();
            let first_notes = desk.notes.len();
            for step in 0..STEPS {
                play(&mut desk, step);
                if step != killed {
                    continue;
                }
                let before = desk.exchange.state_hash();
                if checkpoint {
                    let middle = (first_notes + desk.notes.len()) / 2;
                    desk.kill_with_checkpoint(middle);
                } else {
                    desk.kill();
                }
                assert_eq!(desk.exchange.state_hash(), before);
                desk.sleep(1);
                for at in [ONE, TWO, OTHER] {
                    assert_eq!(desk.connect(at), ClientLinkState::Ready);
                }
            }
            desk.sleep(1);
            let (heard, recovered) = numbers(&desk, ONE);
            assert_eq!(heard, expected, "killed at {killed}");
            // What FIX members caused was under way when the process was killed.
            assert!(killed % 2 == 1 || recovered == 0, "killed at {killed}");
            missed += recovered;
            assert_eq!(desk.exchange.open(), whole.exchange.open());
            desk.exchange.check().unwrap();
            // Orders go on with their names.
            let order = new("A0000", TmpSide::SELL, 5, 1000);
            let again = desk.ask(ONE, &order);
            assert_eq!(again[0].reject().status.0, 17);
        }
    }
    assert!(missed >= 8, "{missed}");
}

#[test]
fn reports_that_find_no_room_are_sent_later() {
    let mut desk = TmpDesk::new().with_room(20_000, 40).log_in();
    for id in 0..20 {
        let order = new(&format!("A{id:04}"), TmpSide::SELL, 1, 1000);
        desk.send(ONE, &order);
    }
    desk.say_lost(B, "D 11=B|55=VOD|54=1|38=20|40=2|44=10");
    let (_, waiting) = desk.exchange.open();
    assert!(waiting > 10, "{waiting}");
    for _ in 0..30 {
        desk.sleep(1);
    }
    assert_eq!(desk.exchange.open(), (0, 0));
    let (heard, _) = numbers(&desk, ONE);
    let expected: Vec<u32> = (1..=40).collect();
    assert_eq!(heard.iter().map(|it| it.0).collect::<Vec<_>>(), expected);
    // A frame that finds no room ends the connection; the next login goes on.
    let mut full = TmpDesk::new().log_in().with_room(2000, 8);
    let refused = full.try_send(ONE, &new("A0001", TmpSide::SELL, 1, 1000));
    assert_eq!(refused, Ok(()));
    assert_eq!(
        full.brokers[ONE].hangups,
        ["no room in the outbox of the engine: log in again"]
    );
    assert_eq!(full.brokers[ONE].heard, []);
    let mut desk = full.with_room(1 << 16, 64);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    let said = desk.ask(ONE, &new("A0001", TmpSide::SELL, 1, 1000));
    assert_eq!(said[0].numbers(), ('0', 0, [0, 0, 1, 1]));
}

#[test]
fn a_state_without_lines_and_a_damaged_one() {
    // Without lines it is that of an exchange without any.
    let mut desk = super::desk::Desk::new();
    desk.say(A, "D 11=1|55=VOD|54=2|38=10|40=2|44=10");
    let mut state = Vec::new();
    desk.ledger()
        .write(&mut |bytes| state.extend_from_slice(bytes));
    let mut old = exchange(config()).with_tmp_lines(lines());
    old.on_checkpoint(1, &state).unwrap();
    assert_eq!(old.state_hash(), desk.exchange.state_hash());
    let mut desk = TmpDesk::new().log_in();
    desk.send(ONE, &new("A0001", TmpSide::SELL, 10, 1000));
    let state = desk.state(desk.notes.len());
    let mut empty = exchange(config());
    let before = empty.state_hash();
    for at in 0..state.len() {
        let mut damaged = state.clone();
        damaged[at] ^= 4;
        let mut other = exchange(config());
        let is_same = other.on_checkpoint(1, &damaged).is_ok()
            && other.state_hash() == desk.exchange.state_hash();
        assert!(!is_same, "byte {at}");
        assert!(empty.on_checkpoint(1, &state[..at]).is_err(), "cut at {at}");
    }
    assert_eq!(empty.state_hash(), before);
    empty.on_checkpoint(1, &state).unwrap();
    assert_eq!(empty.state_hash(), desk.exchange.state_hash());
    // A file without the line, or with a session of its name: its reports go nowhere.
    let now = Now::default();
    let mut outbox = fixwire_protocol::Outbox::new(1 << 16, 64, 256);
    let unknown = SessionId::of_link(0);
    empty.on_link(now, unknown, Link::Up, &mut outbox);
    let refused = empty.on_frame(now, unknown, b"", &mut outbox);
    assert_eq!(
        refused,
        Err(Hangup("the link is not a TMP line of the exchange"))
    );
    assert!(outbox.is_empty());
}

#[test]
fn notes_that_do_not_fit_end_all_lines() {
    for note in ["N 9 1", "N 0 1", "K 4 2 x", "K 9 1 x", "K 4", "N 4 x"] {
        let mut desk = TmpDesk::new();
        desk.say(A, "D 11=1|55=VOD|54=2|38=10|40=2|44=10");
        desk = desk.log_in();
        // M0 is member 0, T1 is member 1.
        let note = note.replacen('4', "1", 1);
        desk.notes.push(note.into_bytes());
        desk.kill();
        desk.connect(ONE);
        let why = "the journal could not be read: the exchange is not available";
        assert_eq!(desk.brokers[ONE].hangups, [why]);
    }
}

#[test]
fn an_order_of_the_day_before_is_found_by_its_number() {
    let mut desk = TmpDesk::new().log_in();
    let order = new("A0001", TmpSide::SELL, 10, 1000);
    let entered = desk.ask(ONE, &order)[0].report().transact_time;
    desk.kill();
    desk.connect(TWO);
    let query = change(&order, TmpExecType::QUERY, 0, 0);
    assert_eq!(desk.ask(TWO, &query)[0].numbers(), ('I', 0, [0, 0, 10, 10]));
    let cancel = R01 {
        exec_type: TmpExecType::CANCEL,
        ..query
    };
    let said = desk.ask(TWO, &cancel);
    assert_eq!(said[0].numbers(), ('4', 0, [0, 0, 0, 10]));
    assert_eq!(said[0].report().org_trans_time, entered);
}
