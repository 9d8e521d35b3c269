//! Two engines trade over loopback, stop, start again and go on.

use crate::common;

use std::sync::atomic::Ordering;

use common::*;
use fixwire::protocol::SessionId;
use fixwire::{Connection, Durability, Event, SendError, Wait};

const ORDERS: u64 = 10_000;

fn send_orders(engine: &mut Running, count: u64) {
    for number in 1..=count {
        loop {
            let fields = format!("11={number}\x0155=LCOM1\x0154=1\x0138=1\x0140=2\x0144=200.0\x01");
            match engine
                .handle
                .send_fields(SessionId(0), b"D", fields.as_bytes())
            {
                Ok(()) => break,
                Err(SendError::Full) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Both sides send orders at once; each answers all of the other's, in order.
fn trade(acceptor: &mut Running, initiator: &mut Running) {
    wait_count(&initiator.seen.logons, 1);
    wait_count(&acceptor.seen.logons, 1);
    std::thread::scope(|scope| {
        scope.spawn(|| send_orders(initiator, ORDERS));
        scope.spawn(|| send_orders(acceptor, ORDERS));
    });
    for engine in [acceptor, initiator] {
        wait_count(&engine.seen.reports, ORDERS);
        wait_count(&engine.seen.orders, ORDERS);
        assert_eq!(engine.seen.disorder.load(Ordering::SeqCst), 0);
    }
}

fn run(wait: Wait, durability: Durability, listen: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("a"), folder.path().join("b"));
    let mut next = 1;
    for restart in 0..2 {
        let mut settings = config(&ours, acceptor_session(listen));
        (settings.wait, settings.durability) = (wait, durability);
        let mut acceptor = Running::start(settings);
        let mut settings = config(&theirs, initiator_session(acceptor.address()));
        (settings.wait, settings.durability) = (wait, durability);
        let mut initiator = Running::start(settings);
        trade(&mut acceptor, &mut initiator);
        // Logon, orders and reports; nothing was sent twice.
        next += 1 + 2 * ORDERS;
        let initiator = initiator.stop();
        let acceptor = acceptor.stop();
        // And the Logout.
        next += 1;
        assert_eq!(initiator, [(next, next)], "restart {restart}");
        assert_eq!(acceptor, [(next, next)], "restart {restart}");
        if durability == Durability::Memory {
            break;
        }
    }
}

#[test]
fn ten_thousand_orders_each_way_and_again_after_a_restart() {
    run(Wait::Block, Durability::Process, "127.0.0.1:0");
}

#[test]
fn the_same_in_memory_over_ipv6_and_yielding() {
    run(Wait::Yield, Durability::Memory, "[::1]:0");
}

#[test]
fn the_same_when_every_batch_is_synced() {
    run(Wait::Block, Durability::Disk, "127.0.0.1:0");
}

#[test]
fn an_initiator_connects_again_after_its_peer_was_away_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("a"), folder.path().join("b"));
    let acceptor = Running::start(config(&ours, acceptor_session("127.0.0.1:0")));
    let address = acceptor.address();
    let mut initiator = Running::start(config(&theirs, initiator_session(address)));
    wait_count(&initiator.seen.logons, 1);
    acceptor.stop();
    wait_count(&initiator.seen.logouts, 1);
    initiator.wait_event(|event| matches!(event, Event::DialFailed { .. }));
    // Written while no peer is connected: the peer asks for them when it sees the gap.
    send_orders(&mut initiator, 100);
    let acceptor = Running::start(config(&ours, acceptor_session(&address.to_string())));
    wait_count(&initiator.seen.reports, 100);
    assert_eq!(acceptor.seen.orders.load(Ordering::SeqCst), 100);
    assert_eq!(acceptor.seen.disorder.load(Ordering::SeqCst), 0);
    let (a, b) = (initiator.stop(), acceptor.stop());
    assert_eq!((a[0].0, a[0].1), (b[0].1, b[0].0));
}

#[test]
fn an_initiator_goes_from_host_to_host_and_understands_names() {
    let folder = tempfile::tempdir().unwrap();
    let ours = config(&folder.path().join("a"), acceptor_session("127.0.0.1:0"));
    let acceptor = Running::start(ours);
    let port = acceptor.address().port();
    let mut session = initiator_session(acceptor.address());
    if let Connection::Initiator { hosts, .. } = &mut session.connection {
        // The first has no listener; the second is not a name; the third may also mean ::1.
        let names = [
            ("127.0.0.1", 1),
            ("no such host.invalid", port),
            ("localhost", port),
        ];
        *hosts = names.map(|(name, port)| (name.to_owned(), port)).to_vec();
    }
    let initiator = Running::start(config(&folder.path().join("b"), session));
    wait_count(&initiator.seen.logons, 1);
    let failed = |wanted: &str| {
        initiator
            .has_event(|event| matches!(event, Event::DialFailed { host, .. } if host == wanted))
    };
    assert!(failed("127.0.0.1") && failed("no such host.invalid") && !failed("localhost"));
    initiator.stop();
    acceptor.stop();
}
