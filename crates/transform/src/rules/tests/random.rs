//! Random rules, compared with a simple implementation.

use std::cell::Cell;
use std::string::{String, ToString};
use std::vec::Vec;

use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{self, Version};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::slow::{Part, Slow, Speaks, Tree, any_condition, any_message};
use super::{RuleScratch, dictionary, load, loaded, message, outcomes};
use crate::rules::RuleProblem;

/// A rule from these sessions, with this condition, that decides or counts.
pub(super) type AnyRule = (&'static str, Option<Tree>, bool);

pub(super) fn any_rule() -> impl Strategy<Value = AnyRule> {
    let of = |speaks, from: &'static [&'static str]| {
        let condition = proptest::option::weighted(0.9, any_condition(speaks));
        (proptest::sample::select(from), condition, any::<bool>())
    };
    prop_oneof![
        2 => of(Speaks::Fix42, &["ALPHA", "BETA*", "*", "BETA1"]),
        1 => of(Speaks::Fix44, &["GAMMA", "*"]),
    ]
}

/// A message and its session.
pub(super) fn any_sent() -> impl Strategy<Value = (&'static str, Speaks, String)> {
    let of = |speaks, sessions: &'static [&'static str]| {
        let message = any_message(speaks);
        (proptest::sample::select(sessions), Just(speaks), message)
    };
    prop_oneof![
        2 => of(Speaks::Fix42, &["ALPHA", "BETA1", "BETA2"]),
        1 => of(Speaks::Fix44, &["GAMMA"]),
    ]
}

pub(super) fn text_of(rules: &[AnyRule], every: bool) -> String {
    let mut text = String::from(if every {
        "[gateway]\nmatch = 'all'\n"
    } else {
        ""
    });
    for (at, (from, when, sends)) in rules.iter().enumerate() {
        text += &std::format!("[[rule]]\nfrom = ['{from}']\n");
        if let Some(when) = when {
            text += &std::format!("when = '''{}'''\n", when.written());
        }
        let send = if *sends { ", 'return'" } else { "" };
        text += &std::format!("do = ['count r{at}'{send}]\n");
    }
    text
}

/// The outcomes of the rules for a message, computed the slow way.
fn wanted(
    rules: &[AnyRule],
    every: bool,
    (source, speaks, order): &(&str, Speaks, String),
) -> Vec<String> {
    let message = Part::of_message(*speaks, &message(source, order));
    let mut wanted = Vec::new();
    for (at, (from, when, sends)) in rules.iter().enumerate() {
        let begin = from.trim_end_matches('*');
        let from = source == from || (begin != *from && source.starts_with(begin));
        let mut slow = Slow {
            speaks: *speaks,
            source,
            message: &message,
            entries: Vec::new(),
        };
        if !from || !when.as_ref().is_none_or(|when| slow.holds(when)) {
            continue;
        }
        wanted.push(std::format!("count r{at}"));
        if *sends {
            wanted.push(std::format!("return: {order}"));
            if !every {
                break;
            }
        }
    }
    wanted
}

#[test]
fn rules_apply_as_their_text_says() {
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2000)
    });
    let rules = proptest::collection::vec(any_rule(), 1..6);
    let sent = proptest::collection::vec(any_sent(), 1..6);
    let (cases, loads) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&(rules, any::<bool>(), sent), |(rules, every, sent)| {
        cases.set(cases.get() + 1);
        let text = text_of(&rules, every);
        let compiled = match load(&text) {
            Ok(compiled) => compiled,
            Err(errors) => {
                for error in errors {
                    let problem = &error.problem;
                    let known = matches!(
                        problem,
                        RuleProblem::Never { .. } | RuleProblem::Unreachable { .. }
                    );
                    prop_assert!(known, "{error}\n{text}");
                }
                return Ok(());
            }
        };
        loads.set(loads.get() + 1);
        let mut scratch = RuleScratch::default();
        for one in &sent {
            let (found, _) = outcomes(&compiled, &mut scratch, one.0, &one.2);
            prop_assert_eq!(
                found,
                wanted(&rules, every, one),
                "{} {}\n{}",
                one.0,
                one.2,
                text
            );
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let (cases, loads) = (cases.get(), loads.get());
    assert!(loads * 2 > cases, "only {loads} of {cases} were loaded");
}

/// An order of FIX 4.4 with parties, their sub IDs and allocations.
pub(super) fn any_grouped() -> impl Strategy<Value = String> {
    let subs = proptest::collection::vec("[a-c]", 0..3);
    let parties = proptest::collection::vec(("[a-c]", proptest::option::of("1|3"), subs), 0..4);
    let allocs = proptest::collection::vec(("[a-c]", proptest::option::of("[0-3]")), 0..4);
    (parties, allocs, proptest::option::of("[a-c]")).prop_map(|(parties, allocs, text)| {
        let mut order = String::from("35=D|11=1|");
        if let Some(text) = text {
            order += &std::format!("58={text}|");
        }
        if !parties.is_empty() {
            order += &std::format!("453={}|", parties.len());
        }
        for (id, role, subs) in parties {
            order += &std::format!("448={id}|");
            if let Some(role) = role {
                order += &std::format!("452={role}|");
            }
            if !subs.is_empty() {
                order += &std::format!("802={}|", subs.len());
            }
            for sub in subs {
                order += &std::format!("523={sub}|803=1|");
            }
        }
        if !allocs.is_empty() {
            order += &std::format!("78={}|", allocs.len());
        }
        for (account, shares) in allocs {
            order += &std::format!("79={account}|");
            if let Some(shares) = shares {
                order += &std::format!("80={shares}|");
            }
        }
        order + "55=V|"
    })
}

pub(super) const CHANGES: [&str; 22] = [
    "each NoPartyIDs: set PartyIDSource \"D\"",
    "each NoPartyIDs: set PartyRole \"3\"",
    "each NoPartyIDs: remove PartyRole",
    "each NoPartyIDs: try copy Text to PartyID",
    "each NoPartyIDs: each NoPartySubIDs: set PartySubIDType \"2\"",
    "each NoPartyIDs: each NoPartySubIDs: set PartySubID \"${ClOrdID}${PartySubID}\"",
    "each NoPartyIDs: drop entries of NoPartySubIDs where (PartySubID in (\"a\", \"b\"))",
    "each NoPartyIDs: remove NoPartySubIDs",
    "each NoPartyIDs: try move PartyRole to PartyID",
    "drop entries of NoPartyIDs where (PartyID = \"a\")",
    "drop entries of NoPartyIDs where (any(NoPartySubIDs, PartySubID = \"b\"))",
    "drop entries of NoAllocs where (AllocAccount > \"a\")",
    "drop entries of NoAllocs where (AllocQty < 2 or Account = \"t\" and not has(AllocQty))",
    "each NoAllocs: set IndividualAllocID \"x\"",
    "each NoAllocs: format AllocAccount upper",
    "each NoPartyIDs: format PartyID sha256 with \"key\"",
    "format Text sha256",
    "remove NoAllocs",
    "set Text \"t\"",
    "set Account \"t\"",
    "try move Text to Account",
    "set Currency \"EUR\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn groups_stay_whole_under_all_changes(
        order in any_grouped(),
        changes in proptest::collection::vec(proptest::sample::select(CHANGES.to_vec()), 1..6),
    ) {
        let actions: Vec<String> = changes.iter().map(|one| std::format!("'{one}', ")).collect();
        let rules = loaded(&std::format!("[[rule]]\nfrom = ['GAMMA']\ndo = [{}'return']\n", actions.concat()));
        let (out, _) = outcomes(&rules, &mut RuleScratch::default(), "GAMMA", &order);
        let out = out[0].strip_prefix("return: ").map(ToString::to_string);
        let out = out.unwrap_or_else(|| panic!("{order} {changes:?}: failed"));
        for text in [&order, &out] {
            let bytes = message("GAMMA", text);
            let bytes = String::from_utf8(bytes).unwrap().replace("FIX.4.2", "FIX.4.4").into_bytes();
            let mut decoder = Decoder::with_capacity(256);
            let strict = dictionary::ValidationRules { required_fields: false, ..dictionary::ValidationRules::default() };
            let dictionary = dictionary(Version::Fix44);
            let found = check(&dictionary, &decoder.decode(&bytes), &strict, &mut dictionary::Scratch::default());
            prop_assert_eq!(found, Ok(()), "{} {:?} {}", order, changes, text);
        }
    }
}
