//! Random rules and changes of messages, by seeds: their outcomes must match `worlds.txt`; see
//! `fixwire_harness::worlds`.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use fixwire_harness::worlds::{self, WorldRecord};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::random::{CHANGES, any_grouped, any_rule, any_sent, text_of};
use super::{RuleScratch, load, loaded, outcomes};

/// The file of hashes.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/worlds.txt");
/// Number of rule files, or of lists of changes, in a world.
const CASES: usize = 25;

/// The cases of a world.
fn cases<S: Strategy>(seed: u8, case: S) -> Vec<S::Value> {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), random);
    let cases = prop::collection::vec(case, CASES).new_tree(&mut runner);
    cases.expect("a strategy without filters").current()
}

#[test]
fn rules_apply_as_before() {
    let mut played = Vec::new();
    for seed in 1..=20 {
        let mut world = WorldRecord::new(format!("rules/{seed:02}"));
        let rules = prop::collection::vec(any_rule(), 1..6);
        let sent = prop::collection::vec(any_sent(), 1..6);
        for (rules, every, sent) in cases(seed, (rules, any::<bool>(), sent)) {
            let text = text_of(&rules, every);
            world.input(&text);
            let rules = match load(&text) {
                Ok(rules) => rules,
                Err(errors) => {
                    errors.iter().for_each(|error| world.output(error));
                    continue;
                }
            };
            let mut scratch = RuleScratch::default();
            for (session, _, message) in &sent {
                world.input(&format!("{session}: {message}"));
                let (out, evaluated) = outcomes(&rules, &mut scratch, session, message);
                out.iter().for_each(|outcome| world.output(outcome));
                let (matched, decided) = (evaluated.matched, evaluated.decided);
                world.output(format_args!("{matched} matched, decided {decided}"));
            }
            world.state(|| {
                let matched = scratch.matched().iter().enumerate();
                let matched =
                    matched.map(|(at, count)| format!("{:?} matched={count}", rules.name(at)));
                matched.collect()
            });
        }
        played.push(world);
    }
    worlds::compare(FILE, "rules", &played);
}

#[test]
fn groups_are_changed_as_before() {
    let mut played = Vec::new();
    for seed in 1..=10 {
        let mut world = WorldRecord::new(format!("changes/{seed:02}"));
        let changes = prop::collection::vec(prop::sample::select(CHANGES.to_vec()), 1..6);
        for (order, changes) in cases(seed, (any_grouped(), changes)) {
            let actions: Vec<String> = changes.iter().map(|one| format!("'{one}', ")).collect();
            let text = format!(
                "[[rule]]\nfrom = ['GAMMA']\ndo = [{}'return']\n",
                actions.concat()
            );
            world.input(&format!("{text}{order}"));
            let (out, _) = outcomes(&loaded(&text), &mut RuleScratch::default(), "GAMMA", &order);
            out.iter()
                .for_each(|outcome| world.output(outcome.to_string()));
        }
        played.push(world);
    }
    worlds::compare(FILE, "changes", &played);
}
