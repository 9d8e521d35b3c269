//! Many sessions on one port: none is lost, and peers that never read do not slow the others.

use fixwire_lab::bench::sessions::{Found, SessionsArgs, measure};

/// The functional part of `fixwire bench sessions`; times are for the bench alone.
#[test]
fn two_hundred_sessions_and_twenty_deaf_ones_live_on_one_port() {
    let play = || {
        let found = measure(&SessionsArgs {
            sessions: 200,
            deaf: 20,
            rate: 10,
            seconds: 3,
            pairs: 1,
            counts: false,
        });
        check(&found.unwrap())
    };
    // More is in flight on a busy machine, which takes memory.
    let least = (0..3).map(|_| play()).find(|bytes| *bytes < 64 << 10);
    assert!(least.is_some(), "64 KiB a session and more, three times");
}

/// Checks that hold in every run; returns the bytes per session.
fn check(found: &Found) -> u64 {
    assert_eq!((found.lost, found.ended), (0, 0), "{found:?}");
    assert_eq!(found.missed, 0, "{found:?}");
    assert!(found.answered >= 180 * 10 * 6 * 9 / 10, "{found:?}");
    assert!(found.heartbeats >= 20 * 2, "{found:?}");
    found.bytes_per_session
}
