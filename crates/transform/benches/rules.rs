//! What does it cost to match an order with 1,000 rules?
//!
//! Input: the `NewOrderSingle` of 22 fields that the order-to-report benchmark sends. First only a few of the
//! rules are for its session and message type. Then all are, each with its own symbol: the worst case for the
//! index by session and type. Everything is hot in cache, so these are floors. Allocations are counted beside the
//! time; there must be no allocation.
//!
//! Then scripts, which do allocate: a short script, and scripts that run until `script_operations` ends them, with
//! cheap operations and with the most expensive known ones.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{Decoder, Now};
use fixwire_transform::Rules;
use fixwire_transform::rules::{Facts, NamedSession, RuleContext};

const ORDER: &str = "8=FIX.4.2|9=208|35=D|34=4711|49=INITIATOR|52=20260821-13:30:00.123|56=ACCEPTOR|\
    1=ABCTEST1|11=1787318999000000000|21=3|55=LCOM1|48=LCOM1|22=5|167=FUT|200=201106|54=1|\
    60=20260821-13:30:00.123|38=1|40=2|44=200|59=0|10=128|";

fn main() {
    let last = "[[rule]]\nfrom = ['S0']\nwhen = 'MsgType = D'\ndo = ['set Account \"X\"', 'convert', 'send S1']\n";
    measure("one rule", last);
    let mut few = String::new();
    for rule in 0..999 {
        let (from, kind) = (rule % 100, ["8", "F", "G", "9"][rule % 4]);
        let _ = write!(
            few,
            "[[rule]]\nfrom = ['S{from}']\nwhen = 'MsgType = \"{kind}\" and Symbol = \"S{rule}\"'\ndo = ['send S1']\n"
        );
    }
    measure("1,000 rules, one applies", &(few + last));
    let mut all = String::new();
    for rule in 0..999 {
        let _ = write!(
            all,
            "[[rule]]\nfrom = ['*']\nwhen = 'MsgType = D and Symbol = \"S{rule}\"'\ndo = ['send S1']\n"
        );
    }
    measure("1,000 rules, all looked at", &(all + last));
    script("a short script", "msg.OrderQty * msg.Price > 1_000_000");
    script("a script that only counts", "let n = 0; loop { n += 1; }");
    let list = ["0.5"; 250].join(",");
    let long = format!("let t = \"ab,\"; for n in 0..10 {{ t += t; }} let l = [{list}];");
    for (name, dear) in [
        ("a script of capitals", "t.to_upper()"),
        ("a script that searches", "t.index_of(\"x\")"),
        ("a script that divides", "0.1234567890123456789 / 7"),
        ("a script that copies lists", "let m = l"),
        ("a script that searches lists", "l.contains(1)"),
    ] {
        script(name, &format!("{long} loop {{ {dear}; }}"));
    }
}

/// Measures a rule that applies if a script's condition is false.
fn script(name: &str, text: &str) {
    let rule = "[[rule]]\nfrom = ['S0']\nwhen = 'not script s'\ndo = ['send S1']\n";
    let rounds = if name == "a short script" { 500 } else { 1 };
    measure_rounds(name, &format!("[script]\ns = '''{text}'''\n{rule}"), rounds);
}

fn measure(name: &str, text: &str) {
    measure_rounds(name, text, 500);
}

/// The best of many short rounds: other programs on the machine only make a round longer.
fn measure_rounds(name: &str, text: &str, rounds: u32) {
    const CALLS: u32 = 200;
    let dictionary = Arc::new(Dictionary::built_in(Version::Fix42));
    let names: Vec<String> = (0..100).map(|at| format!("S{at}")).collect();
    let session = |name| NamedSession {
        name,
        dictionary: dictionary.clone(),
        peer: name,
    };
    let sessions: Vec<NamedSession<'_>> = names.iter().map(|name| session(name)).collect();
    let context = RuleContext {
        sessions: &sessions,
        tables: &[],
    };
    let start = Instant::now();
    let rules = Rules::load(text, &context).unwrap();
    let load = start.elapsed().as_secs_f64() * 1e3;
    let bytes = ORDER.replace('|', "\x01").into_bytes();
    let mut decoder = Decoder::with_capacity(64);
    let message = decoder.decode(&bytes);
    let mut scratch = rules.scratch(64, 1024);
    let facts = Facts {
        now: Now::default(),
        active: &[],
        remembered: &[],
    };
    let mut best = f64::MAX;
    let counted = allocation_counter::measure(|| {
        for _ in 0..rounds {
            let start = Instant::now();
            for _ in 0..CALLS {
                let message = black_box(&message);
                let evaluated =
                    rules.evaluate(&mut scratch, message, 0, &facts, &mut |_, outcome| {
                        black_box(outcome);
                    });
                assert_eq!(evaluated.matched, 1);
            }
            best = best.min(start.elapsed().as_secs_f64() / f64::from(CALLS));
        }
    });
    println!(
        "{name:28} {:9.1} ns, {} allocations, loaded in {load:.1} ms",
        best * 1e9,
        counted.count_total
    );
}
