//! What does it cost to validate an order against the dictionary?
//!
//! Input: the `NewOrderSingle` of 22 fields that the order-to-report benchmark sends, and a market
//! data snapshot with 20 entries. Both are hot in cache, so these are floors. Allocations are counted
//! beside the time; there must be none.

use std::hint::black_box;
use std::time::Instant;

use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{Dictionary, Scratch, ValidationRules, Version};

const ORDER: &str = "8=FIX.4.2|9=208|35=D|34=4711|49=INITIATOR|52=20260821-13:30:00.123|56=ACCEPTOR|\
    1=ABCTEST1|11=1787318999000000000|21=3|55=LCOM1|48=LCOM1|22=5|167=FUT|200=201106|54=1|\
    60=20260821-13:30:00.123|38=1|40=2|44=200|59=0|10=128|";

fn main() {
    let start = Instant::now();
    let dictionary = Dictionary::built_in(Version::Fix42);
    println!(
        "load FIX.4.2                  {:9.1} us",
        start.elapsed().as_secs_f64() * 1e6
    );
    let start = Instant::now();
    black_box(Dictionary::built_in(Version::Fix50Sp2));
    println!(
        "load FIX.5.0SP2               {:9.1} us",
        start.elapsed().as_secs_f64() * 1e6
    );

    let mut snapshot = String::from(
        "8=FIX.4.2|9=900|35=W|34=5|49=A|52=20260821-13:30:00.123|56=B|55=LCOM1|268=20|",
    );
    for level in 0..20 {
        snapshot += &format!(
            "269={}|270=1.{level:04}|271=1000000|290={level}|",
            level % 2
        );
    }
    snapshot += "10=000|";
    measure("order, 22 fields", &dictionary, ORDER);
    measure("snapshot, 20 entries, 90 fields", &dictionary, &snapshot);
}

/// The best of many short rounds: other programs on the machine only make a round longer.
fn measure(name: &str, dictionary: &Dictionary, text: &str) {
    const CALLS: u32 = 2_000;
    let bytes = text.replace('|', "\x01").into_bytes();
    let mut decoder = Decoder::with_capacity(256);
    let message = decoder.decode(&bytes);
    let (rules, mut scratch) = (ValidationRules::default(), Scratch::default());
    assert_eq!(
        check(dictionary, &message, &rules, &mut scratch),
        Ok(()),
        "{name}"
    );
    let mut best = f64::MAX;
    let counted = allocation_counter::measure(|| {
        for _ in 0..500 {
            let start = Instant::now();
            for _ in 0..CALLS {
                let _ = black_box(check(
                    black_box(dictionary),
                    black_box(&message),
                    &rules,
                    &mut scratch,
                ));
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
        }
    });
    let allocations = counted.count_total;
    println!("{name:31} {best:7.1} ns   {allocations} allocations");
    assert_eq!(allocations, 0, "{name}");
}
