//! What does it cost when all sessions disconnect and reconnect at once?
//!
//! Input: an acceptor with N sessions over in-memory sockets; each peer disconnects, reconnects and logs on
//! again. The time per session must not grow with their number. Arguments: number of sessions and of storms,
//! for a profiler or an instruction counter.

use std::time::Instant;

use fixwire_lab::wired::storm::Storm;

/// Number of sessions, and of storms.
const STORMS: [(usize, usize); 3] = [(100, 100), (1_000, 10), (10_000, 3)];

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let storms = match &arguments[..] {
        [sessions, times] => vec![(
            sessions.parse().expect("a count of sessions"),
            times.parse().expect("a count of storms"),
        )],
        _ => STORMS.to_vec(),
    };
    for (sessions, times) in storms {
        let mut storm = Storm::new(sessions).expect("all are logged on");
        let (mut turns, mut best) = (0, f64::INFINITY);
        for _ in 0..times {
            let start = Instant::now();
            turns = storm.pass().expect("all are logged on again");
            best = best.min(start.elapsed().as_nanos() as f64 / sessions as f64);
        }
        println!("{sessions:>6} sessions {turns:>5} turns {best:>9.0} ns a session");
    }
}
