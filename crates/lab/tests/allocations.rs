//! Does an order cost an allocation, anywhere between two sockets?
//!
//! The allocator of this program counts. `bench parse-log` does the same work.

use fixwire::journal::{Config, Journal, Memory};
use fixwire_lab::hot_path::{HotPath, Stage};

const ORDERS: u64 = 50_000;

#[test]
fn no_stage_of_the_hot_path_allocates_after_warm_up() {
    for stage in Stage::ALL {
        let (journal, _) = Journal::open(Memory::new(2), Config::default()).unwrap();
        let mut path = HotPath::new(journal).unwrap();
        let mut go = |orders| {
            for _ in 0..orders {
                path.run(stage).unwrap();
                path.rest();
            }
        };
        go(1_000);
        let counted = allocation_counter::measure(|| go(ORDERS));
        assert_eq!(
            counted.count_total, 0,
            "{stage:?} of {ORDERS} orders: {counted:?}"
        );
    }
}

#[test]
fn the_counter_counts() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1_u8; 100])));
    assert_eq!(counted.count_total, 1);
}
