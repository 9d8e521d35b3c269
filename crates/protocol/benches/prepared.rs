//! What does it cost to write an order whose values change, from a prepared body and field by field?
//!
//! Input: the `NewOrderSingle` of 15 body fields that the order-to-report benchmark sends; ClOrdID and
//! Price change. Hot in cache, sealing not counted, so these are floors. Allocations are counted beside
//! the time; there must be none.

use std::hint::black_box;
use std::time::Instant;

use fixwire_protocol::{Decimal, HeaderTemplate, Outbox, Prepared, SessionId};

const FIXED: [(u32, &[u8]); 13] = [
    (1, b"ABCTEST1"),
    (21, b"3"),
    (55, b"LCOM1"),
    (48, b"LCOM1"),
    (22, b"5"),
    (167, b"FUT"),
    (200, b"201106"),
    (54, b"1"),
    (60, b"20260821-13:30:00.123"),
    (38, b"1"),
    (40, b"2"),
    (59, b"0"),
    (58, b"prepared"),
];
const SESSION: SessionId = SessionId(0);
const ROUNDS: u64 = 2_000_000;

fn main() {
    let header = HeaderTemplate::new(b"FIX.4.2", b"INITIATOR", b"ACCEPTOR", &[]);
    let mut outbox = Outbox::new(64 << 10, 64, header.room());
    let mut order = Prepared::new(b"D", 512);
    let id = order.slot(11, b"1787318999000000000").expect("room");
    for (tag, value) in FIXED {
        order.fixed(tag, value).expect("room");
    }
    let price = order.slot(44, b"200.00").expect("room");
    let prices = [20_000, 20_001].map(|mantissa| Decimal::new(mantissa, 2).expect("few digits"));

    let prepared = per_round(|n| {
        order.set_uint(id, n).expect("room");
        order
            .set_decimal(price, prices[n as usize % 2])
            .expect("room");
        outbox.send(SESSION, black_box(&order)).expect("room");
        outbox.clear();
    });
    let written = per_round(|n| {
        let mut body = outbox.begin(SESSION, b"D");
        body.uint(11, 1_787_318_999_000_000_000 + n);
        for (tag, value) in black_box(FIXED) {
            body.field(tag, value);
        }
        body.decimal(44, prices[n as usize % 2]);
        body.finish().expect("room");
        outbox.clear();
    });
    println!("prepared, two values changed  {prepared:9.1} ns");
    println!("written field by field        {written:9.1} ns");
    let counted = allocation_counter::measure(|| {
        for n in 0..1_000 {
            order.set_uint(id, n).expect("room");
            outbox.send(SESSION, &order).expect("room");
            outbox.clear();
        }
    });
    println!("allocations                   {:9}", counted.count_total);
    assert_eq!(counted.count_total, 0);
}

fn per_round(mut round: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    (0..ROUNDS).for_each(&mut round);
    start.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64
}
