//! Each fault of a TMP line in each state of both ends of the link: the link continues, or closes for a named
//! reason; and the next login recovers every report, once and in order.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_tmp::messages::R13;
use fixwire_tmp::{ClientLinkState, TmpFrame, TmpSide};

use super::desk::A;
use super::tmp_desk::{ONE, TWO, TmpDesk, new};

/// States of the broker and of the exchange, in the order of a link's life.
const STATES: [(&str, ClientLinkState, &str); 9] = [
    ("not connected", ClientLinkState::Down, "Down"),
    ("connected", ClientLinkState::Down, "AwaitL10"),
    ("L10", ClientLinkState::AwaitL10, "AwaitL20"),
    ("L30", ClientLinkState::AwaitL30, "AwaitL40"),
    ("L41", ClientLinkState::AwaitL50, "AwaitL42"),
    ("L50", ClientLinkState::AwaitL50, "AwaitL60"),
    ("ready", ClientLinkState::Ready, "Ready"),
    (
        "refused in the login",
        ClientLinkState::AwaitL30,
        "Dropping",
    ),
    ("refused when ready", ClientLinkState::Ready, "Dropping"),
];

pub(super) const KINDS: [&str; 12] = [
    "drop",
    "duplicate",
    "delay",
    "reorder",
    "stall",
    "reject",
    "checksum",
    "gap",
    "disconnect",
    "refuse",
    "cut",
    "silence",
];

/// Messages that a fault may name; of some kinds only a few make sense.
const TYPES: [&str; 15] = [
    "", "L10", "L20", "L30", "L40", "L41", "L42", "L50", "L60", "R01", "R02", "R04", "R05", "R13",
    "R14",
];

fn order(at: u32) -> fixwire_tmp::messages::R01 {
    new(&format!("A{at:04}"), TmpSide::SELL, 1, 1000)
}

/// A desk whose first line is in this state, with a report that it has not received.
fn in_state(place: usize) -> TmpDesk {
    let mut desk = TmpDesk::new().log_in();
    desk.send(ONE, &order(1));
    desk.disconnect(ONE);
    buy(&mut desk, 1);
    match place {
        0 => {}
        1 => desk.connect_silently(ONE),
        2..=5 => {
            desk.connect_slowly(ONE);
            (2..place).for_each(|_| desk.deliver_one());
        }
        6 => assert_eq!(desk.connect(ONE), ClientLinkState::Ready),
        7 => {
            desk.connect_slowly(ONE);
            desk.command_later("fault refuse session=T1 type=L20 count=1");
            desk.deliver_one();
        }
        _ => {
            assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
            desk.command_later("fault refuse session=T1 type=R01 count=1");
            desk.send_slowly(ONE, &order(9));
        }
    }
    let (what, broker, exchange) = STATES[place];
    assert_eq!(desk.brokers[ONE].link.state(), broker, "{what}");
    let shown = format!("T1 {exchange} ");
    assert!(
        desk.query("lines").starts_with(&shown),
        "{what}: {}",
        desk.query("lines")
    );
    desk
}

/// A FIX member buys the offered quantity.
fn buy(desk: &mut TmpDesk, id: u32) {
    desk.say(A, &format!("D 11=F{id}|55=VOD|54=1|38=1|40=2|44=10"));
}

/// MsgSeqNums that the broker was given; a reject with status 99 has none.
fn numbers(desk: &TmpDesk) -> Vec<u32> {
    let heard = desk.brokers[ONE].heard.iter();
    let number = |frame: &[u8]| TmpFrame::read(frame).unwrap().header().msg_seq_num;
    let numbers = heard.map(|it| number(&it.frame));
    numbers.filter(|number| *number > 0).collect()
}

/// The last MsgSeqNum that the exchange has sent.
fn sent(desk: &TmpDesk) -> u32 {
    let lines = desk.query("lines");
    let line = lines.lines().next().unwrap();
    let (_, behind) = line.split_once(" sent ").unwrap();
    let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Why the link has closed, at either end.
fn reasons(desk: &TmpDesk) -> Vec<String> {
    let broker = &desk.brokers[ONE];
    let ends = broker.ends.iter().map(|end| format!("broker: {end}"));
    let hangups = broker.hangups.iter().map(|why| format!("exchange: {why}"));
    ends.chain(hangups).collect()
}

/// Plays a fault in a state; returns why the link has closed.
fn play(place: usize, words: &str) -> Vec<String> {
    let mut desk = in_state(place);
    let (state, ..) = STATES[place];
    let at = format!("{words} in state '{state}'");
    let before = reasons(&desk).len();
    desk.command_later(&format!("fault {words}"));
    desk.begin(ONE);
    // The login goes on, and reports arise; heartbeats are due.
    desk.sleep(50);
    for round in 2..4 {
        let state = desk.brokers[ONE].link.state();
        if state == ClientLinkState::Ready {
            let _ = desk.try_send(ONE, &R13::default());
            let _ = desk.try_send(ONE, &order(round));
            buy(&mut desk, round);
        }
        desk.sleep(50);
    }
    desk.sleep(50_000);
    let broker = desk.brokers[ONE].link.state();
    let is_up = desk.is_up(ONE);
    let found = reasons(&desk)[before..].to_vec();
    // It does not hang: the link is up and works, or it is down at both ends.
    assert_eq!(broker == ClientLinkState::Ready, is_up, "{at}: {found:?}");
    assert!(
        matches!(broker, ClientLinkState::Ready | ClientLinkState::Down),
        "{at}: {broker:?}"
    );
    if !is_up {
        let lines = desk.query("lines");
        assert!(lines.starts_with("T1 Down "), "{at}: {lines}");
        assert!(place == 0 || !found.is_empty(), "{at}: no reason");
    }
    assert!(found.iter().all(|why| why.len() > 12), "{at}: {found:?}");
    // Without the fault all goes on.
    desk.command("fault clear").unwrap();
    desk.sleep(200);
    if desk.brokers[ONE].link.state() != ClientLinkState::Ready {
        assert_eq!(desk.connect(ONE), ClientLinkState::Ready, "{at}: {found:?}");
    }
    desk.send(ONE, &order(5));
    buy(&mut desk, 5);
    let mut found = found;
    if desk.brokers[ONE].link.state() != ClientLinkState::Ready {
        // The next report shows what was lost, and the next login recovers it.
        found = reasons(&desk)[before..].to_vec();
        assert!(!found.is_empty(), "{at}: no reason");
        desk.sleep(200);
        assert_eq!(desk.connect(ONE), ClientLinkState::Ready, "{at}: {found:?}");
    }
    // What was bought meanwhile is still wanted: the next order may trade when it is entered, with one report.
    desk.send(ONE, &order(6));
    let all: Vec<u32> = (1..=sent(&desk)).collect();
    assert_eq!(numbers(&desk), all, "{at}: {found:?}");
    assert!(all.len() >= 4, "{at}: {all:?}");
    // The other line has noticed nothing.
    assert_eq!(
        desk.brokers[TWO].link.state(),
        ClientLinkState::Ready,
        "{at}"
    );
    assert!(desk.brokers[TWO].ends.is_empty(), "{at}");
    found
}

#[test]
fn every_fault_in_every_state_ends_in_recovery_or_a_named_error() {
    let (mut played, mut ended) = (0, 0);
    let mut met: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut broken: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (place, (state, ..)) in STATES.iter().enumerate() {
        for kind in KINDS {
            for message in TYPES {
                let words = match message {
                    "" => format!("{kind} session=T1"),
                    message => format!("{kind} session=T1 type={message}"),
                };
                // Silence is for all frames, and R04 and R05 have no half.
                if crate::faults::check_fault(&words).is_err() {
                    continue;
                }
                let reasons = play(place, &words);
                played += 1;
                if !reasons.is_empty() {
                    ended += 1;
                    met.insert((kind, *state));
                    broken.insert((kind, message));
                }
            }
        }
    }
    assert!(
        played > 1000 && ended > 300,
        "{played} played, {ended} ended"
    );
    for kind in ["checksum", "disconnect", "cut"] {
        assert!(
            broken.contains(&(kind, "R14")),
            "{kind} of R14 does nothing"
        );
    }
    assert!(broken.contains(&("refuse", "R13")));
    // Those that break the link do so in each state of the login.
    for kind in ["checksum", "gap", "disconnect", "refuse", "silence"] {
        for (state, ..) in &STATES[1..7] {
            let breaks = met.contains(&(kind, *state));
            assert!(breaks, "{kind} in state '{state}' does nothing");
        }
    }
}

#[test]
fn a_link_that_hangs_is_found() {
    // Nobody tells the broker that time passes: a silent exchange leaves it where it is.
    let mut desk = in_state(3);
    desk.command_later("fault silence session=T1");
    let state = desk.brokers[ONE].link.state();
    assert_eq!(state, ClientLinkState::AwaitL30);
    desk.deliver_one();
    assert_eq!(desk.brokers[ONE].link.state(), ClientLinkState::AwaitL50);
    desk.sleep(9_000);
    assert_eq!(desk.brokers[ONE].link.state(), ClientLinkState::AwaitL50);
    desk.sleep(2_000);
    assert_eq!(desk.brokers[ONE].link.state(), ClientLinkState::Down);
    let found = reasons(&desk);
    let timeout = "broker: no L41 received in time".to_string();
    assert!(found.contains(&timeout), "{found:?}");
}
