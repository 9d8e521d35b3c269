//! Tests each example of the page about the language of rules.

use std::collections::{BTreeMap, BTreeSet};
use std::string::{String, ToString};
use std::vec::Vec;

use super::{RuleScratch, VENUES, loaded, outcomes_with};
use crate::rules::syntax::{ACTIONS, CONDITIONS};
use crate::rules::token::{Token, split};

const PAGE: &str = include_str!("../../../../../docs/reference/gateway-rules.md");
/// The page about events.
const OTHER: &str = include_str!("../../../../../docs/reference/gateway.md");

/// The fenced blocks with their language, their text and the line where they begin.
fn blocks(page: &'static str) -> Vec<(&'static str, String, usize)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String, usize)> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language, String::new(), number + 2)),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text, _))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without its end");
    blocks
}

#[test]
fn every_example_comes_true() {
    let blocks = blocks(PAGE);
    let mut examples = 0;
    for pair in blocks.windows(2) {
        let [("toml", rules, _), ("fix", lines, first)] = pair else {
            continue;
        };
        let rules = loaded(rules);
        let mut scratch = RuleScratch::default();
        let mut pending: Vec<String> = Vec::new();
        // Remembered fields by ClOrdID; the gateway adds the client.
        let mut memory: BTreeMap<String, String> = BTreeMap::new();
        for (number, line) in (*first..).zip(lines.lines()) {
            match line.strip_prefix("=> ") {
                Some("nothing") => assert!(pending.is_empty(), "line {number}: {pending:?}"),
                Some(wanted) => {
                    assert!(!pending.is_empty(), "line {number}: nothing comes out");
                    assert_eq!(pending.remove(0), wanted, "line {number}");
                }
                None => {
                    assert!(pending.is_empty(), "before line {number}: {pending:?}");
                    let (session, text) = line.split_once(": ").unwrap();
                    let id = text.split('|').find_map(|field| field.strip_prefix("11="));
                    let known = id.and_then(|id| memory.get(id)).cloned();
                    let known = known.unwrap_or_default();
                    let message = (session, text);
                    pending = outcomes_with(&known, &rules, &mut scratch, message).0;
                    for line in &pending {
                        if let Some(kept) = line.strip_prefix("remember for ") {
                            let (id, fields) = kept.split_once(": ").unwrap();
                            memory.insert(id.into(), fields.into());
                        } else if let Some(id) = line.strip_prefix("forget ") {
                            memory.remove(id);
                        }
                    }
                }
            }
        }
        assert!(pending.is_empty(), "behind line {first}: {pending:?}");
        examples += 1;
    }
    let toml = blocks.iter().filter(|(language, ..)| *language == "toml");
    assert_eq!(examples, toml.count(), "a rule without its messages");
}

#[test]
fn every_condition_and_every_action_has_an_example() {
    let mut words = BTreeSet::new();
    let blocks = blocks(PAGE).into_iter().chain(blocks(OTHER));
    for (_, text, _) in blocks.filter(|(language, ..)| *language == "toml") {
        for line in text.lines() {
            let quoted = line.split('\'').skip(1).step_by(2);
            for text in quoted {
                let spots = split(text).unwrap();
                let tokens = spots.into_iter().map(|spot| spot.token);
                words.extend(tokens.filter_map(|token| match token {
                    Token::Word(word) => Some(word),
                    Token::Sign(sign) => Some(sign.to_string()),
                    _ => None,
                }));
            }
        }
    }
    let others = [
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "upper",
        "lower",
        "trim",
        "left",
        "right",
        "cut",
        "sha256",
        "status",
        "with",
        "by",
        "table",
        "DeliverToCompID",
        "else",
        "order",
        "business",
        "session",
        "second",
        "where",
    ];
    let wanted = ACTIONS.iter().chain(&CONDITIONS).chain(&others);
    let missing: Vec<_> = wanted.filter(|word| !words.contains(**word)).collect();
    assert!(missing.is_empty(), "no example for {missing:?}");
}

#[test]
fn the_table_of_the_page_is_the_one_of_the_examples() {
    let blocks = blocks(PAGE);
    let table = blocks.iter().find(|(language, ..)| *language == "csv");
    assert_eq!(table.unwrap().1, VENUES);
}
