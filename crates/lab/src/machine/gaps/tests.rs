use super::*;
use crate::load::TimedOrder;

fn order(intended: u64, answer: u64) -> TimedOrder {
    TimedOrder {
        intended,
        actual: intended,
        answer,
    }
}

fn of(orders: &[TimedOrder], gaps: &[Vec<TimeGap>; 2], least: u64) -> Touched {
    let outcome = RunOutcome {
        orders: orders.to_vec(),
        ..RunOutcome::default()
    };
    touched(&outcome, gaps, least)
}

fn gap(start: u64, length: u32) -> TimeGap {
    TimeGap {
        start,
        length,
        ours: 0,
    }
}

/// A thousand orders, one each 10 us, answered after 5.
fn steady() -> Vec<TimedOrder> {
    (0..1_000_u64)
        .map(|at| order(at * 10_000 + 1, at * 10_000 + 5_001))
        .collect()
}

#[test]
fn a_tail_belongs_to_the_machine_when_gaps_make_it_up() {
    let mut orders = steady();
    for at in [100, 300, 500] {
        orders[at].answer += 50_000;
    }
    let machine: Vec<TimeGap> = [100, 300]
        .map(|at| gap(at * 10_000 + 2_000, 50_000))
        .to_vec();
    let gaps = [machine.clone(), Vec::new()];
    let found = of(&orders, &gaps, 0);
    assert!((found[3] - 1.0).abs() < 1e-9, "the slowest one: {found:?}");
    assert!((found[2] - 0.2).abs() < 1e-9, "two of ten: {found:?}");
    // The same gaps, but threads of this process had the core.
    let ours = machine
        .iter()
        .map(|gap| TimeGap {
            ours: gap.length,
            ..*gap
        })
        .collect();
    assert_eq!(of(&orders, &[Vec::new(), ours], 0), Touched::default());
    // Gaps that are too short to count.
    assert_eq!(of(&orders, &gaps, 50_000), Touched::default());
    assert_eq!(of(&[], &gaps, 0), Touched::default());
}

#[test]
fn a_short_gap_does_not_excuse_a_long_delay() {
    let mut orders = steady();
    orders[100].answer += 50_000;
    let gaps = [vec![gap(1_002_000, 20_000)], Vec::new()];
    assert_eq!(of(&orders, &gaps, 0)[5], 0.0);
}

#[test]
fn orders_that_wait_behind_a_touched_one_are_touched() {
    // One order every 10 us; the loop stops for 50 us and then works off the queue, one order every 5 us.
    let mut orders = steady();
    let mut free = 1_055_000;
    let mut late = 0;
    for order in &mut orders[100..] {
        if order.answer < free {
            order.answer = free;
            late += 1;
        }
        free = order.answer + 5_000;
    }
    assert!(late > 5, "{late}");
    let found = of(&orders, &[Vec::new(), vec![gap(1_002_000, 50_000)]], 0);
    let slowest: Vec<_> = orders
        .iter()
        .filter_map(TimedOrder::response)
        .filter(|it| *it > 5_000)
        .collect();
    assert!(slowest.len() >= 5);
    assert!((found[5] - 1.0).abs() < 1e-9, "{found:?}");
    // The slowest hundredth still waited for the gap.
    assert!(found[2] > 0.7, "{found:?}");
}

#[test]
fn turns_without_work_that_take_longer_than_they_do_are_gaps() {
    let mut watch = Watch::new(Clock::start());
    watch.last = 1;
    let mut now = 1;
    let mut turn = |watch: &mut Watch, took: u64, worked| {
        now = watch.last + took;
        watch.turned(now, worked);
    };
    for _ in 0..10_000 {
        turn(&mut watch, 400, false);
    }
    turn(&mut watch, 17_400, false);
    turn(&mut watch, 400, false);
    // A turn with work is not a gap.
    turn(&mut watch, 17_400, true);
    let gaps = watch.end();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert!((16_900..17_100).contains(&gaps[0].length), "{gaps:?}");
    let totals = GapTotals::of(&gaps);
    assert_eq!(totals.gaps, 1);
    assert!(
        (totals.machine_ms - 0.017).abs() < 1e-3 && totals.ours_ms == 0.0,
        "{totals:?}"
    );
}

#[test]
fn turns_that_always_take_longer_than_was_thought_are_no_gaps() {
    let mut watch = Watch::new(Clock::start());
    watch.last = 1;
    for _ in 0..20_000 {
        watch.turned(watch.last + 4_000, false);
    }
    let learning = watch.end().len();
    assert!(learning < 2_000, "{learning}");
    for _ in 0..10_000 {
        watch.turned(watch.last + 4_000, false);
    }
    assert_eq!(watch.end().len(), learning);
}

#[test]
fn what_threads_of_ours_had_of_a_gap_is_not_the_machines() {
    let shared = TimeGap {
        ours: 10_000,
        ..gap(1_002_000, 50_000)
    };
    let totals = GapTotals::of(&[shared]);
    assert_eq!((totals.machine_ms, totals.ours_ms), (0.04, 0.01));
    let mut orders = steady();
    orders[100].answer += 100_000;
    let gaps = [vec![shared], Vec::new()];
    assert_eq!(of(&orders, &gaps, 0)[5], 0.0, "40 of 100 us");
    assert_eq!(of(&orders, &gaps, 40_000), Touched::default());
}
