//! What does an order cost in a gateway, from inbound bytes to outbound bytes?
//!
//! Input: the `NewOrderSingle` of 22 fields that the order-to-report benchmark sends. It is decoded, matched with
//! 1,000 rules, given its ids and their note, converted from FIX 4.2 to 4.4, written and sealed. Everything is hot
//! in cache, so these are floors. Allocations are counted beside the time; there must be no allocation.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use fixwire_gateway::Gateway;
use fixwire_gateway::gateway::{GatewayContext, GatewayEvent, GatewaySession};
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{Application, Decoder, HeaderTemplate, Now, Outbox, SessionId, Timestamp};

const ORDER: &str = "8=FIX.4.2|9=208|35=D|34=4711|49=INITIATOR|52=20260821-13:30:00.123|56=ACCEPTOR|\
    1=ABCTEST1|11=1787318999000000000|21=3|55=LCOM1|48=LCOM1|22=5|167=FUT|200=201106|54=1|\
    60=20260821-13:30:00.123|38=1|40=2|44=200|59=0|10=128|";
const TIME: &[u8] = b"20260821-13:30:00.123";

fn main() {
    for (ids, what) in [("pass", "ids pass"), ("collision", "orders followed")] {
        for (convert, how) in [("", "not converted"), ("'convert', ", "4.2 to 4.4")] {
            let mut text = format!(
                "[gateway]\nids = '{ids}'\nmax_orders = 100000\n[client.CLIENT]\nmax_orders = 100000\n"
            );
            for rule in 0..999 {
                let kind = ["8", "F", "G", "9"][rule % 4];
                let _ = write!(
                    text,
                    "[[rule]]\nfrom = ['*']\nwhen = 'MsgType = \"{kind}\" and Symbol = \"S{rule}\"'\ndo = ['send VENUE']\n"
                );
            }
            let _ = write!(
                text,
                "[[rule]]\nfrom = ['CLIENT']\ndo = [{convert}'send VENUE']\n"
            );
            measure(&format!("1,000 rules, {what}, {how}"), &text);
        }
    }
}

/// The best of many short rounds: other programs on the machine only make a round longer.
fn measure(name: &str, text: &str) {
    const CALLS: u32 = 200;
    let session = |name, version| GatewaySession {
        name,
        dictionary: Arc::new(Dictionary::built_in(version)),
        version,
        peer: name,
        resets: false,
    };
    let sessions = [
        session("CLIENT", Version::Fix42),
        session("VENUE", Version::Fix44),
    ];
    let context = GatewayContext {
        sessions: &sessions,
        tables: &[],
        conversions: &[],
        hash_key: [7; 16],
    };
    // The orders stay open, so the gateway reports that clients use most of the room for orders.
    let told =
        |event: GatewayEvent<'_>| assert!(matches!(event, GatewayEvent::Room { .. }), "{event:?}");
    let mut gateway = Gateway::load(text, &context, Box::new(told)).unwrap();
    let header = HeaderTemplate::new(b"FIX.4.4", b"GATE", b"VENUE", &[]);
    let mut outbox = Outbox::new(1 << 16, 64, header.room());
    let mut bytes = ORDER.replace('|', "\x01").into_bytes();
    let id = bytes.windows(4).position(|at| at == b"\x0111=").unwrap() + 4;
    let mut decoder = Decoder::with_capacity(64);
    let (mut best, mut number) = (f64::MAX, 0_u64);
    let mut once = || {
        number += 1;
        let mut digits = itoa::Buffer::new();
        let digits = digits
            .format(10_000_000_000_000_000_000 - number)
            .as_bytes();
        bytes[id..id + digits.len()].copy_from_slice(digits);
        let message = decoder.decode(black_box(&bytes));
        gateway
            .on_message(Now::default(), SessionId(0), &message, &mut outbox)
            .unwrap();
        for index in outbox.unsealed() {
            match outbox.entries()[index].is_note() {
                true => outbox.seal_note(index, number, Timestamp(0)),
                false => outbox.seal(index, &header, number, TIME),
            }
        }
        black_box(outbox.bytes(0..outbox.entries().len()));
        outbox.clear();
    };
    once();
    let counted = allocation_counter::measure(|| {
        for _ in 0..400 {
            let start = Instant::now();
            (0..CALLS).for_each(|_| once());
            best = best.min(start.elapsed().as_secs_f64() / f64::from(CALLS));
        }
    });
    println!(
        "{name:45} {:7.1} ns, {} allocations",
        best * 1e9,
        counted.count_total
    );
}
