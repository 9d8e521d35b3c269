//! Each message of a link with each fault: it recovers, and whoever ends the connection says why.
//!
//! `faults.txt` has a row each: the message, the fault, and who closed the connection for which reason, or nothing where
//! the link went on.

use fixwire_tmp::messages::{L10, R01};
use fixwire_tmp::{ClientLinkState, ExchangeLinkState, TmpLayout, TmpStatus};

use super::world::{PlannedFault, S, WireFaultKind, World};

/// The messages that a fault hits, in the order of a link's life.
const FRAMES: [(&str, bool, u8); 13] = [
    ("L10 of the broker", true, 10),
    ("L10 of the exchange", false, 10),
    ("L20", true, 20),
    ("L30", false, 30),
    ("L40", true, 40),
    ("L41", false, 41),
    ("L42", true, 42),
    ("L50", false, 50),
    ("L60", true, 60),
    ("R01", true, 101),
    ("R02", false, 102),
    ("R04", true, 104),
    ("R05", true, 105),
];

const FAULTS: [(&str, WireFaultKind); 10] = [
    ("drop", WireFaultKind::Drop),
    ("stall", WireFaultKind::Stall),
    ("checksum", WireFaultKind::Checksum),
    ("gap", WireFaultKind::Gap),
    ("207", WireFaultKind::Refuse(TmpStatus::MSG_SEQ_NUM)),
    ("240", WireFaultKind::Refuse(TmpStatus::FLOW_EXCEEDED)),
    ("delay", WireFaultKind::Delay),
    ("duplicate", WireFaultKind::Duplicate),
    ("out of order", WireFaultKind::OutOfOrder),
    ("cut", WireFaultKind::Cut),
];

/// Plays one fault, and returns the world in which who ended the connection, and why, is kept.
fn play(to_exchange: bool, code: u8, kind: WireFaultKind, refused: bool) -> World {
    let mut world = World::usual();
    let fault = PlannedFault {
        to_exchange,
        code,
        kind,
        times: 1,
    };
    // Five reports are missed: the first login has something to resend.
    world.exchange_reports(5);
    world.queue_orders(1);
    if code == R01::CODE || refused {
        // The first order after a login is accepted with any number.
        world.run(S);
    }
    world.fault = Some(fault);
    if refused {
        world.refuse(TmpStatus::FLOW_EXCEEDED);
    } else {
        world.queue_orders(2);
    }
    world.run(100 * S);
    world.queue_orders(2);
    world.exchange_reports(2);
    world.run(150 * S);
    let place = format!("{code} {kind:?}: {:?}", world.ends);
    assert_eq!(
        world.fault.map(|fault| fault.times),
        Some(0),
        "{place}: no fault"
    );
    assert!(world.is_ready(), "{place}: not ready");
    // Each report once, in order, whatever happened.
    let sent = world.exchange.numbers().outbound;
    let all: Vec<u32> = (1..=sent).collect();
    assert_eq!(world.reports, all, "{place}");
    assert_eq!(world.client.numbers().inbound, sent, "{place}");
    // No order twice, and none out of order; a lost one is lost with its connection.
    let orders: Vec<u32> = world.orders.iter().map(|(number, _)| *number).collect();
    assert!(
        orders.windows(2).all(|pair| pair[0] < pair[1]),
        "{place}: {orders:?}"
    );
    let last = if refused { [2, 3] } else { [4, 5] };
    assert!(orders.ends_with(&last), "{place}: {orders:?}");
    if world.ends.is_empty() && !refused && kind != WireFaultKind::Gap {
        assert_eq!(orders, [1, 2, 3, 4, 5], "{place}");
    }
    // What was saved is what is known.
    assert_eq!(
        world.saved,
        [world.client.numbers(), world.exchange.numbers()],
        "{place}"
    );
    world
}

#[test]
fn every_fault_ends_in_recovery_or_a_named_error() {
    let mut found = String::new();
    for (frame, to_exchange, code) in FRAMES {
        for (fault, kind) in FAULTS {
            let world = play(to_exchange, code, kind, false);
            let ends = world.ends.iter().map(|(who, end)| match end {
                Some(end) => format!("{who:?}: {end}"),
                None => format!("{who:?}"),
            });
            let ends: Vec<String> = ends.collect();
            let row = format!("{frame} | {fault} | {}", ends.join(", "));
            found.push_str(row.trim_end());
            found.push('\n');
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/link/faults.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &found).expect("it can be written");
    }
    let expected = std::fs::read_to_string(path).expect("the table");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "UPDATE=1 writes the table anew");
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// Each kind of fault hits a frame in each state of either end, and a refusal that is under way.
#[test]
fn every_fault_is_met_in_every_state_of_both_ends() {
    let ready = ClientLinkState::Ready;
    for (fault, kind) in FAULTS {
        let (mut brokers, mut exchanges) = (Vec::new(), Vec::new());
        for (_, to_exchange, code) in FRAMES {
            let world = play(to_exchange, code, kind, false);
            let [(broker, exchange)] = world.hit_in[..] else {
                panic!("{fault}: {:?}", world.hit_in);
            };
            brokers.push(broker);
            exchanges.push(exchange);
        }
        let world = play(false, L10::CODE, kind, true);
        assert_eq!(
            world.hit_in,
            [(ready, ExchangeLinkState::Dropping)],
            "{fault}"
        );
        let reasons: Vec<_> = world.ends.iter().filter_map(|(_, end)| *end).collect();
        let is_cut = kind == WireFaultKind::Cut;
        assert!(!reasons.is_empty() || is_cut, "{fault}: {:?}", world.ends);
        for state in [
            ClientLinkState::AwaitL10,
            ClientLinkState::AwaitL30,
            ClientLinkState::AwaitL50,
            ready,
        ] {
            assert!(brokers.contains(&state), "{fault} in {state:?}");
        }
        for state in [
            ExchangeLinkState::AwaitL10,
            ExchangeLinkState::AwaitL20,
            ExchangeLinkState::AwaitL40,
            ExchangeLinkState::AwaitL42,
            ExchangeLinkState::AwaitL60,
            ExchangeLinkState::Ready,
        ] {
            assert!(exchanges.contains(&state), "{fault} in {state:?}");
        }
    }
}

/// The exchange accepts any first number after a login: neither side notices that an order before it was lost.
#[test]
fn the_first_order_after_a_login_can_be_lost_unnoticed() {
    let mut world = World::usual();
    world.fault = Some(PlannedFault {
        to_exchange: true,
        code: 101,
        kind: WireFaultKind::Drop,
        times: 1,
    });
    world.queue_orders(2);
    world.run(100 * S);
    assert_eq!(world.ends, []);
    assert_eq!(world.orders, [(2, TmpStatus::OK)]);
    assert_eq!(world.client.numbers().outbound, 2);
}
