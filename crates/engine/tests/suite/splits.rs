//! However little a socket takes at a time, the peer gets the same bytes in the same order.

use crate::common;
use crate::script;

use std::sync::Arc;

use common::{Echo, Seen, acceptor_session, config};
use fixwire::{Durability, Engine};
use script::Script;

const ORDERS: u64 = 200;

/// All that the peer gets when its socket takes `allowance` bytes a turn.
fn output(allowance: usize, batch: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:9"),
    );
    settings.durability = Durability::Memory;
    let mut host = Script::new(batch);
    (host.left, host.allowance, host.output) = (ORDERS, allowance, Some(Vec::new()));
    let mut engine = Engine::with_host(settings, Echo(Arc::new(Seen::default())), host).unwrap();
    let mut silent = 0;
    while silent < 3 {
        let before = engine.host_mut().bytes;
        engine.turn().unwrap();
        let host = engine.host_mut();
        silent = if host.bytes == before && host.left == 0 {
            silent + 1
        } else {
            0
        };
    }
    assert_eq!(engine.sessions().next().unwrap().waiting_bytes, 0);
    engine.host_mut().output.take().unwrap()
}

#[test]
fn a_write_that_is_cut_at_any_byte_is_resumed_there() {
    let whole = output(usize::MAX, 32);
    assert_eq!(
        whole.windows(5).filter(|at| *at == b"\x0135=8").count() as u64,
        ORDERS
    );
    let length = whole.len() / ORDERS as usize;
    for allowance in (1..40).chain(length - 3..length + 3).chain([1000, 5003]) {
        assert!(output(allowance, 32) == whole, "{allowance} bytes a turn");
        assert!(
            output(allowance, 1) == whole,
            "{allowance} bytes a turn, orders one by one"
        );
    }
}
