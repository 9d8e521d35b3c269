//! Orders and TestRequests over TCP, and not one allocation after the warm-up. The engine without its sockets is counted
//! beside the benches.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::common::{Echo, PATIENCE, Peer, Seen, acceptor_session, config};
use fixwire::{Durability, Engine};

/// The operating system's part: reading from and writing to a connection without TLS.
#[test]
fn orders_over_tcp_allocate_nothing_once_the_connection_stands() {
    const ORDERS: u64 = 5_000;
    let folder = tempfile::tempdir().unwrap();
    let session = acceptor_session("127.0.0.1:0");
    let mut settings = config(&folder.path().join("store"), session);
    settings.durability = Durability::Memory;
    let seen = Arc::new(Seen::default());
    let mut engine = Engine::new(settings, Echo(Arc::clone(&seen))).unwrap();
    let to = engine.addresses().next().unwrap();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::log_on(to, 1);
        for number in 1..=ORDERS {
            peer.send(
                "D",
                &format!("11={number}|55=LCOM1|54=1|38=1|40=2|44=200.0|"),
            );
            assert!(peer.receive().unwrap().contains("|35=8|"));
            // The application may change each Heartbeat, and does not.
            peer.send("1", "112=T|");
            assert!(peer.receive().unwrap().contains("|35=0|"));
        }
    });
    let orders = |wanted: u64, engine: &mut Engine<Echo>| {
        let start = Instant::now();
        while seen.orders.load(Ordering::SeqCst) < wanted {
            assert!(start.elapsed() < PATIENCE);
            engine.turn().unwrap();
        }
    };
    orders(1_000, &mut engine);
    let info = allocation_counter::measure(|| orders(ORDERS, &mut engine));
    assert_eq!(info.count_total, 0);
    // The last report has to leave.
    while !peer.is_finished() {
        engine.turn().unwrap();
    }
    peer.join().unwrap();
}
