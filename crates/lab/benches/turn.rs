//! What does a message cost in the engine and the gateway, without the sockets?
//!
//! Input: the order of the published benchmarks over in-memory sockets; journal, session, dictionary,
//! application and rules are real. Hot in cache, so a floor. The best of many short rounds.
//! Arguments: a kind of work and a number of messages, for a profiler.

use std::time::Instant;

use fixwire_lab::wired::driven::Work;

/// Messages of a round, and rounds.
const ROUND: usize = 1_600;
const ROUNDS: usize = 200;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    if let [name, count] = &arguments[..] {
        let work = Work::named(name).expect("the name of a kind of work");
        let count: usize = count.parse().expect("a count of messages");
        println!("{:.0} ns a message", nanos(work, count, 1));
        return;
    }
    for work in Work::ALL {
        let nanos = nanos(work, ROUND, ROUNDS);
        println!("{:<16} {nanos:>6.0} ns a message", work.name());
    }
}

/// The best of these rounds, nanoseconds a message.
fn nanos(work: Work, messages: usize, rounds: usize) -> f64 {
    let mut once = work.start(None).expect("an engine");
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..messages / work.messages() {
            once().expect("an answer");
        }
        best = best.min(start.elapsed().as_nanos() as f64 / messages as f64);
    }
    best
}
