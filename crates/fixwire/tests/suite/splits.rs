//! However little a socket takes at a time, the peer gets the same bytes in the same order.

use crate::common::app::App;
use crate::common::wire::{self, PORT, acceptor, calm, config};

use fixwire::Durability;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;

const ORDERS: u64 = 200;
/// Bytes of all orders, and more.
const MUCH: usize = 1 << 20;

/// All that the peer gets when its socket takes `allowance` bytes a turn, and `batch` orders come in each.
fn output(allowance: usize, batch: u64) -> Vec<u8> {
    let net = SimNet::new(1, calm(MUCH));
    let settings = config(Durability::Process, vec![acceptor("PEER")]);
    let mut engine = wire::start(settings, App::reports(), 1, &net, &SimDisk::new());
    let conn = net.connect(0, PORT).unwrap();
    wire::write(&net, conn, "PEER", "A", 1, "98=0|108=30|");
    let (mut output, mut buffer) = (Vec::new(), vec![0; MUCH]);
    let (mut sent, mut silent) = (0, 0);
    while silent < 3 {
        net.set_weather(calm(MUCH));
        for _ in 0..batch.min(ORDERS - sent) {
            sent += 1;
            wire::write(&net, conn, "PEER", "D", 1 + sent, &format!("11={sent}|"));
        }
        net.set_weather(calm(allowance));
        engine.turn().unwrap();
        let count = net.read(conn, &mut buffer).unwrap_or(0);
        assert!(count <= allowance);
        output.extend_from_slice(&buffer[..count]);
        silent = match count {
            0 if sent == ORDERS => silent + 1,
            _ => 0,
        };
    }
    assert_eq!(engine.sessions().next().unwrap().waiting_bytes, 0);
    output
}

#[test]
fn a_write_that_is_cut_at_any_byte_is_resumed_there() {
    let whole = output(MUCH, 32);
    let reports = whole.windows(5).filter(|at| *at == b"\x0135=8").count();
    assert_eq!(reports as u64, ORDERS);
    let length = whole.len() / ORDERS as usize;
    for allowance in (1..40).chain(length - 3..length + 3).chain([1000, 5003]) {
        assert!(output(allowance, 32) == whole, "{allowance} bytes a turn");
        assert!(
            output(allowance, 1) == whole,
            "{allowance} bytes a turn, orders one by one"
        );
    }
}
