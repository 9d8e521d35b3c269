//! What a quiet order costs beside time, between two spinning engines. Times differ from run to run, counts repeat.

use fixwire::Durability;
use fixwire_lab::load::Pace;
use fixwire_lab::machine::counts::Counts;
use fixwire_lab::machine::counts::calls::EndCalls;
use fixwire_lab::sockets::meter::Counting;
use fixwire_lab::sockets::pair::{Pair, PairConfig};
use fixwire_protocol::dictionary::Version;
use fixwire_stamps::scenario::Echo;

/// Orders of a run. They fill a small part of a segment.
const ORDERS: usize = 2_000;
/// Calls with which the bench asks the kernel after a long turn, which tracing makes of many.
const WATCH: [&str; 2] = ["clock_gettime", "pread64"];
/// Bytes of a page, or less.
const LEAST_PAGE: u64 = 4096;
/// A new segment, or the disk that a page is written to at that moment, may touch some runs, but not all.
const RUNS: usize = 10;

/// Starts two engines, and lets them trade until all memory was touched once.
fn pair(durability: Durability, journals: &std::path::Path) -> Pair {
    let config = PairConfig {
        durability,
        heart_bt_int_seconds: 3600,
        ..PairConfig::new("BENCH", "EXEC", &[Version::Fix42], journals)
    };
    let mut pair = Pair::start(&config, None, Echo).unwrap();
    let run = pair.run(Pace::PingPong, 40_000).unwrap();
    assert_eq!(run.faults.total(), 0);
    pair
}

fn counted(pair: &mut Pair) -> Counts {
    pair.arena.meter.counting = Counting::Counts;
    let run = pair.run(Pace::PingPong, ORDERS).unwrap();
    assert_eq!((run.sent, run.faults.total()), (ORDERS as u64, 0));
    run.counts.unwrap()
}

#[test]
fn a_quiet_order_costs_two_calls_and_no_fault_and_no_sleep() {
    for durability in [Durability::Memory, Durability::Process] {
        let journals = tempfile::tempdir().unwrap();
        let mut pair = pair(durability, journals.path());
        let runs: Vec<Counts> = (0..RUNS).map(|_| counted(&mut pair)).collect();
        let quiet = runs.iter().filter(|counts| {
            let engine = counts.engine;
            // When the system has just written a page of the journal to the disk, the next store to the page faults.
            let written = engine.disk_bytes.unwrap_or(0) / LEAST_PAGE;
            let has_others = engine.minor_faults.is_none_or(|faults| faults > written);
            !has_others && engine.major_faults == Some(0) && engine.voluntary_switches == Some(0)
        });
        let quiet = quiet.count();
        assert!(
            quiet * 2 > RUNS,
            "{durability:?}: {quiet} quiet runs of {runs:?}"
        );
        // Forced switches are the machine's: another program wanted the core.
        for counts in &runs {
            assert!(counts.engine.forced_switches.is_some(), "{counts:?}");
            assert_ne!(counts.engine.instructions, Some(0), "{counts:?}");
        }

        pair.arena.meter.counting = Counting::Calls;
        let calls = pair.run(Pace::PingPong, 200).unwrap().calls.unwrap();
        assert_eq!(calls.orders, 200);
        match &calls.engine {
            Some(engine) => {
                let watch = WATCH.iter().filter_map(|name| engine.done.get(*name));
                let watch: u64 = watch.sum();
                let an_order = (engine.sum() - watch) as f64 / 200.0;
                assert!((2.0..3.0).contains(&an_order), "{durability:?}: {calls:?}");
                let of =
                    |engine: &EndCalls, name: &str| engine.done.get(name).copied().unwrap_or(0);
                for name in ["recvfrom", "sendto"] {
                    assert!((200..=210).contains(&of(engine, name)), "{name}: {calls:?}");
                }
            }
            // A system that forbids tracing, as some containers do: the counts are unknown.
            None => assert_eq!((&calls.client, &calls.helpers), (&None, &None)),
        }
        pair.stop().unwrap();
    }
}
