//! What does the engine itself cost for each order, without the sockets?
//!
//! Input: the order of the published benchmarks, from a script in memory instead of a socket: decode,
//! session, validation, application, journal and seal are real. Hot in cache, so a floor. The
//! arguments `process` or `memory`, messages in a batch and their count select one case, for a
//! profiler; the script's own work is the row `script`.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/script.rs"]
mod script;

use std::sync::Arc;
use std::time::Instant;

use common::{Echo, Seen, acceptor_session, config};
use fixwire::host::ConnId;
use fixwire::protocol::Dictionary;
use fixwire::protocol::dictionary::Version;
use fixwire::{Durability, Engine, Host};
use script::Script;

/// Nanoseconds for each order.
fn engine(durability: Durability, batch: usize, count: u64) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = acceptor_session("127.0.0.1:9");
    if durability == Durability::Process {
        session.session.dictionary = Some(Arc::new(Dictionary::built_in(Version::Fix42)));
    }
    let mut settings = config(&folder.path().join("store"), session);
    (settings.durability, settings.segment_bytes) = (durability, 64 << 20);
    let seen = Arc::new(Seen::default());
    let mut engine =
        Engine::with_host(settings, Echo(seen), Script::new(batch)).expect("an engine");
    let mut run = |count| {
        engine.host_mut().left = count;
        let start = Instant::now();
        while engine.host_mut().left > 0 {
            engine.turn().expect("a turn");
        }
        start.elapsed().as_nanos() as f64 / count as f64
    };
    run(count / 10);
    run(count)
}

/// The same for the script alone.
fn script_alone(batch: usize, count: u64) -> f64 {
    let mut script = Script::new(batch);
    let mut buffer = vec![0; 128 << 10];
    let start = Instant::now();
    script.left = count;
    while script.left > 0 {
        let bytes = script.read(ConnId(0), &mut buffer).expect("bytes");
        script.now();
        let _ = script.write(ConnId(0), &buffer[..bytes * 6 / 10]);
    }
    start.elapsed().as_nanos() as f64 / count as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if let [durability, batch, count] = &arguments[..] {
        let durability = match durability.as_str() {
            "memory" => Durability::Memory,
            _ => Durability::Process,
        };
        let (batch, count) = (
            batch.parse().expect("a batch"),
            count.parse().expect("a count"),
        );
        println!("{:.0} ns an order", engine(durability, batch, count));
        return;
    }
    for batch in [1, 32] {
        println!(
            "batch of {batch:>2}: script   {:>5.0} ns an order",
            script_alone(batch, 500_000)
        );
        for durability in [Durability::Memory, Durability::Process] {
            let nanos = engine(durability, batch, 500_000);
            println!("batch of {batch:>2}: {durability:<8?} {nanos:>5.0} ns an order");
        }
    }
}
