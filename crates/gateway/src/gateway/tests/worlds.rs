//! The worlds of the random tests in this folder, by seeds: the messages that leave and the state of each world must
//! match `worlds.txt`; see `fixwire_harness::worlds`.

use fixwire_harness::worlds::{self, WorldRecord};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::ledger::written;
use super::state_lines::{kept_lines, state_lines};
use super::*;
use super::{held_recovery, ledger, recovery};

/// The file of hashes.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gateway/tests/worlds.txt");
const STEPS: usize = 100;

/// The steps of a world.
fn steps<S: Strategy>(seed: u8, step: S) -> Vec<S::Value> {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), random);
    let steps = prop::collection::vec(step, STEPS).new_tree(&mut runner);
    steps.expect("a strategy without filters").current()
}

/// Records the messages that left in a step, and the state after it.
fn record(world: &mut WorldRecord, rig: &Rig, left: &[String]) {
    left.iter().for_each(|message| world.output(message));
    rig.said()
        .iter()
        .for_each(|event| world.output(format_args!("event {event}")));
    if rig.refusal != Ok(()) {
        world.output(format_args!("refused: {:?}", rig.refusal));
    }
    world.state(|| state_lines(&rig.gateway));
}

/// Checks that the state that the journal keeps is the same after a restart, from the notes or from a checkpoint of
/// them.
fn assert_is_kept(rig: &Rig) {
    let kept = kept_lines(&rig.gateway.core.notes);
    let mut notes = rig.gateway.core.notes.anew().unwrap();
    for (at, note) in &rig.notes {
        notes.replay(*at, note).unwrap();
    }
    worlds::assert_same(&kept_lines(&notes), &kept, "after a restart");
    let mut restored = notes.anew().unwrap();
    restored.read(1, &written(&notes)).unwrap();
    worlds::assert_same(&kept_lines(&restored), &kept, "after a checkpoint");
}

#[test]
fn orders_and_what_is_remembered_and_held_for_them_are_as_before() {
    let mut played = Vec::new();
    for seed in 1..=40 {
        let mut world = WorldRecord::new(format!("orders/{seed:02}"));
        let mut rig = Rig::new(ledger::RULES);
        if seed % 2 == 0 {
            // The outbox has no room for some of the notes.
            rig.outbox = Outbox::new(1 << 13, 4, 256);
        }
        for step in steps(seed, ledger::step()) {
            world.input(&format!("{step:?}"));
            let left = rig.does(&step);
            record(&mut world, &rig, &left);
        }
        assert_is_kept(&rig);
        played.push(world);
    }
    worlds::compare(FILE, "orders", &played);
}

#[test]
fn orders_that_go_elsewhere_while_a_target_is_away_are_as_before() {
    let mut played = Vec::new();
    for seed in 1..=40 {
        let mut world = WorldRecord::new(format!("away/{seed:02}"));
        let mut rig = Rig::new(recovery::RULES);
        for step in steps(seed, recovery::step()) {
            world.input(&format!("{step:?}"));
            let left = rig.step(&step);
            record(&mut world, &rig, &left);
        }
        assert_is_kept(&rig);
        played.push(world);
    }
    worlds::compare(FILE, "away", &played);
}

#[test]
fn held_messages_over_restarts_are_as_before() {
    use held_recovery::Step;
    let rules = format!("[gateway]\nmax_orders = 300\n{}", held_recovery::RULES);
    let mut played = Vec::new();
    for seed in 1..=40 {
        let mut world = WorldRecord::new(format!("held/{seed:02}"));
        let mut rig = Rig::of(&rules, &SESSIONS);
        for (number, step) in steps(seed, held_recovery::step()).into_iter().enumerate() {
            world.input(&format!("{step:?}"));
            let mut left = Vec::new();
            match step {
                Step::Order(from, both) => {
                    let account = if both { "1=2|" } else { "" };
                    left = rig.hears(from, &format!("35=D|11={number}|{account}55=VOD|54=1|"));
                }
                Step::Loses(name) => rig.lose(name),
                Step::LogsOn(name) => rig.log_on(name),
                Step::Waits(seconds) => left = rig.wait(seconds),
                Step::Dies => {
                    rig = held_recovery::restarted(&rig, &rules, &SESSIONS);
                }
            }
            record(&mut world, &rig, &left);
        }
        assert_is_kept(&rig);
        played.push(world);
    }
    worlds::compare(FILE, "held", &played);
}
