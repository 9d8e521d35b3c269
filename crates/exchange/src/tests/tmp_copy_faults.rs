//! Each fault of a line that gets copies, in each state of its link: the link closes with a reason or continues,
//! and a later login and subscription get all reports.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use fixwire_tmp::{ClientLinkState, TmpSide};

use super::tmp_copies::{copies, subscribe};
use super::tmp_desk::{COPY, ONE, TmpDesk, new};
use super::tmp_fault_states::KINDS;

const STATES: [&str; 7] = [
    "not connected",
    "connected",
    "L10",
    "L30",
    "L50",
    "ready",
    "subscribed",
];

const TYPES: [&str; 14] = [
    "", "L10", "L20", "L30", "L40", "L42", "L50", "L60", "R04", "R05", "R06", "R15", "R16", "R12",
];

fn in_state(place: usize) -> TmpDesk {
    let mut desk = TmpDesk::with_copies().log_in();
    desk.disconnect(COPY);
    enter(&mut desk, 1);
    match place {
        0 => {}
        1 => desk.connect_silently(COPY),
        2..=4 => {
            desk.connect_slowly(COPY);
            (2..place).for_each(|_| desk.deliver_one());
        }
        _ => assert_eq!(desk.connect(COPY), ClientLinkState::Ready),
    }
    if place == 6 {
        assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0);
    }
    desk
}

fn enter(desk: &mut TmpDesk, id: u32) {
    desk.send(ONE, &new(&format!("A{id:04}"), TmpSide::SELL, 1, 1100));
}

fn numbers(desk: &mut TmpDesk) -> Vec<u32> {
    copies(desk, COPY).iter().map(|it| it.rpt_seq).collect()
}

/// Plays a fault in a state; returns whether the link has closed.
fn play(place: usize, words: &str) -> bool {
    let at = format!("{words} in state '{}'", STATES[place]);
    let mut desk = in_state(place);
    let reasons = |desk: &TmpDesk| desk.brokers[COPY].ends.len() + desk.brokers[COPY].hangups.len();
    let before = reasons(&desk);
    desk.command_later(&format!("fault {words}"));
    desk.begin(COPY);
    desk.sleep(50);
    let asked = fixwire_tmp::messages::R15 {
        member: super::tmp_desk::FCM,
        target_id: 7,
        req_seq: 0,
    };
    for round in 2..5 {
        enter(&mut desk, round);
        if round == 3 && desk.brokers[COPY].link.state() == ClientLinkState::Ready {
            let _ = desk.try_send(COPY, &asked);
        }
        desk.sleep(50);
    }
    desk.sleep(50_000);
    let (state, is_up) = (desk.brokers[COPY].link.state(), desk.is_up(COPY));
    assert_eq!(state == ClientLinkState::Ready, is_up, "{at}: {state:?}");
    let ended = reasons(&desk) > before;
    assert!(is_up || place == 0 || ended, "{at}: no reason");
    let _ = numbers(&mut desk);
    desk.command("fault clear").unwrap();
    desk.sleep(200);
    if desk.brokers[COPY].link.state() != ClientLinkState::Ready {
        assert_eq!(desk.connect(COPY), ClientLinkState::Ready, "{at}");
    }
    let _ = numbers(&mut desk);
    assert_eq!(subscribe(&mut desk, COPY, 7, 0), 0, "{at}");
    enter(&mut desk, 5);
    assert_eq!(numbers(&mut desk), [1, 2, 3, 4, 5], "{at}");
    assert_eq!(
        desk.brokers[ONE].link.state(),
        ClientLinkState::Ready,
        "{at}"
    );
    assert!(desk.brokers[ONE].ends.is_empty(), "{at}");
    ended
}

#[test]
fn every_fault_of_a_line_with_copies_ends_in_recovery_or_a_named_error() {
    let (mut played, mut ended) = (0, 0);
    let mut met: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    for (place, state) in STATES.iter().enumerate() {
        for kind in KINDS {
            for message in TYPES {
                let words = match message {
                    "" => format!("{kind} session=DC"),
                    message => format!("{kind} session=DC type={message}"),
                };
                if crate::faults::check_fault(&words).is_err() {
                    continue;
                }
                played += 1;
                if play(place, &words) {
                    ended += 1;
                    met.insert((kind, message, *state));
                }
            }
        }
    }
    assert!(
        played > 800 && ended > 100,
        "{played} played, {ended} ended"
    );
    for kind in ["checksum", "disconnect", "cut"] {
        for message in ["R06", "R16"] {
            for state in &STATES[5..] {
                assert!(
                    met.contains(&(kind, message, *state)),
                    "{kind} of {message} in state '{state}' does nothing"
                );
            }
        }
    }
    for state in &STATES[5..] {
        assert!(met.contains(&("refuse", "R15", *state)), "{state}");
    }
}
