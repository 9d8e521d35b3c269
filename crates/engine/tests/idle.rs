//! An engine that waits by blocking costs next to nothing while nothing happens.

mod common;

use std::time::Duration;

use common::*;

/// Processor time of this process so far, in hundredths of a second.
fn processor_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn an_idle_engine_uses_less_than_a_hundredth_of_a_core() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Running::start(config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:0"),
    ));
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=1|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    let before = processor_time();
    std::thread::sleep(Duration::from_secs(3));
    let used = processor_time() - before;
    assert!(used <= 3, "{used} hundredths of a second in three seconds");
    // It did not sleep through its timers.
    assert!(peer.receive().unwrap().contains("|35=0|"));
    engine.stop();
}
