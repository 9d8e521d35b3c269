//! Random rules, held against the obvious way to do the same.

use std::string::{String, ToString};
use std::vec::Vec;

use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{self, Dictionary, Version};
use fixwire_protocol::{Decimal, Decoder, GroupEntry, Message};
use proptest::prelude::*;

use super::{SESSIONS, Scratch, dictionary, load, loaded, message, outcomes};
use crate::rules::Problem;
use crate::rules::parse::condition;
use crate::rules::syntax::{Condition, Form, How, Name, Op, Value};

/// What the slow way looks at.
struct Slow<'s> {
    message: &'s Message<'s>,
    dictionary: &'s Dictionary,
    source: &'s str,
}

impl Slow<'_> {
    fn value(&self, entry: Option<&GroupEntry<'_, '_>>, field: &Name) -> Option<Vec<u8>> {
        let tag = field.text.parse().ok();
        let tag = tag.or_else(|| self.dictionary.tag_of(&field.text)).unwrap();
        // No field of these groups stands outside of them.
        let inner = entry.and_then(|entry| entry.get(tag));
        inner.or_else(|| self.message.get(tag)).map(<[u8]>::to_vec)
    }

    fn same(&self, field: &Name, value: &[u8], wanted: &Value, op: Op) -> bool {
        let numbers = field.text.ends_with("Qty") || field.text == "AllocShares";
        let text = wanted.name.text.as_bytes();
        if numbers {
            return match (Decimal::parse(value), Decimal::parse(text)) {
                (Ok(value), Ok(wanted)) => ordered(op, &value, &wanted),
                _ => op == Op::NotEqual,
            };
        }
        let named = self.dictionary.message_named(&wanted.name.text);
        let named = named.filter(|_| wanted.form == Form::Word);
        ordered(
            op,
            &value,
            &named.map_or(text, |one| one.msg_type().as_bytes()),
        )
    }

    fn holds(&self, entry: Option<&GroupEntry<'_, '_>>, condition: &Condition) -> bool {
        let value = |field: &Name| self.value(entry, field);
        match condition {
            Condition::And(all) => all.iter().all(|one| self.holds(entry, one)),
            Condition::Or(any) => any.iter().any(|one| self.holds(entry, one)),
            Condition::Not(inner) => !self.holds(entry, inner),
            Condition::Compare(field, op, wanted) => {
                value(field).is_some_and(|value| self.same(field, &value, wanted, *op))
            }
            Condition::In(field, values) => value(field).is_some_and(|value| {
                let same = |wanted| self.same(field, &value, wanted, Op::Equal);
                values.iter().any(same)
            }),
            Condition::Text(field, how, text) => value(field).is_some_and(|value| {
                let value = String::from_utf8(value).unwrap();
                match how {
                    How::Begins => value.starts_with(&text.text),
                    How::Contains => value.contains(&text.text),
                    // `*a*` and `^a`, as they are made below.
                    How::Like => value.contains(text.text.trim_matches('*')),
                    How::Matches => value.starts_with(text.text.trim_matches('^')),
                }
            }),
            Condition::Length(field, op, length) => {
                value(field).is_some_and(|value| ordered(*op, &value.len(), &(*length as usize)))
            }
            Condition::Has(field) => value(field).is_some(),
            Condition::AnyEntry(count, inner) => self
                .entries(count)
                .iter()
                .any(|one| self.holds(Some(one), inner)),
            Condition::AllEntries(count, inner) => self
                .entries(count)
                .iter()
                .all(|one| self.holds(Some(one), inner)),
            Condition::Source(names) => names.iter().any(|name| {
                let begin = name.text.trim_end_matches('*');
                self.source == name.text || (begin != name.text && self.source.starts_with(begin))
            }),
            Condition::Active(name) => name.text != "BETA2",
            other => panic!("not made below: {other:?}"),
        }
    }

    fn entries(&self, count: &Name) -> Vec<GroupEntry<'_, '_>> {
        let tag = self.dictionary.tag_of(&count.text).unwrap();
        let def = self.dictionary.group(self.message.msg_type(), tag);
        let group = def.and_then(|def| self.message.group(def));
        group.into_iter().flatten().collect()
    }
}

fn ordered<T: Ord>(op: Op, one: &T, other: &T) -> bool {
    match op {
        Op::Equal => one == other,
        Op::NotEqual => one != other,
        Op::Less => one < other,
        Op::AtMost => one <= other,
        Op::Greater => one > other,
        Op::AtLeast => one >= other,
    }
}

fn any_op() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&["=", "!=", "<", "<=", ">", ">="][..])
}

/// Conditions on fields of orders; `in_entry` those of an allocation too.
fn simple(in_entry: bool) -> BoxedStrategy<String> {
    let texts = proptest::sample::select(match in_entry {
        true => &["Symbol", "AllocAccount"][..],
        false => &["Symbol", "Text"][..],
    });
    let numbers = match in_entry {
        true => "AllocShares",
        false => "OrderQty",
    };
    let how = proptest::sample::select(
        &[
            "begins \"a\"",
            "contains \"b\"",
            "like \"*ab*\"",
            "matches \"^b\"",
        ][..],
    );
    prop_oneof![
        (texts.clone(), any_op(), "[ab]{1,2}")
            .prop_map(|(f, op, v)| std::format!("{f} {op} \"{v}\"")),
        (any_op(), "[0-3]|1\\.0|\"2\"").prop_map(move |(op, v)| std::format!("{numbers} {op} {v}")),
        (texts.clone(), "[ab]", "[ab]{2}")
            .prop_map(|(f, a, b)| std::format!("{f} in (\"{a}\", \"{b}\")")),
        (texts.clone(), how).prop_map(|(f, how)| std::format!("{f} {how}")),
        (texts.clone(), any_op()).prop_map(|(f, op)| std::format!("length({f}) {op} 1")),
        texts.prop_map(|f| std::format!("has({f})")),
        "MsgType (= (D|F|NewOrderSingle)|in \\((D|8), (F|NewOrderSingle)\\))",
        "source (= (ALPHA|\"BETA\\*\")|!= BETA1)|active\\((BETA2|VENUE)\\)",
    ]
    .boxed()
}

fn combined(simple: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let deeper = |inner: BoxedStrategy<String>| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| std::format!("({a} and {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| std::format!("({a} or {b})")),
            inner.prop_map(|a| std::format!("not {a}")),
        ]
    };
    simple.prop_recursive(3, 12, 2, deeper).boxed()
}

fn any_condition() -> BoxedStrategy<String> {
    let inner = combined(simple(true));
    let entries = (proptest::sample::select(&["any", "all"][..]), inner)
        .prop_map(|(word, inner)| std::format!("{word}(NoAllocs, {inner})"));
    combined(prop_oneof![3 => simple(false), 1 => entries].boxed())
}

/// A rule from these sessions, with this condition, that decides or counts.
type AnyRule = (String, Option<String>, bool);

fn any_rule() -> impl Strategy<Value = AnyRule> {
    let condition = proptest::option::weighted(0.9, any_condition());
    ("ALPHA|BETA\\*|\\*|BETA1", condition, any::<bool>())
}

fn any_order() -> impl Strategy<Value = String> {
    let allocs = proptest::collection::vec(("[ab]{1,2}", "[0-3]"), 0..4);
    let field = |tag: u32, value: Option<String>| match value {
        Some(value) => std::format!("{tag}={value}|"),
        None => String::new(),
    };
    let text = || proptest::option::of("[ab]{1,2}");
    (
        "D|F|8",
        text(),
        text(),
        proptest::option::of("[0-3]|2\\.0|x"),
        allocs,
    )
        .prop_map(move |(kind, symbol, words, qty, allocs)| {
            let mut order = std::format!("35={kind}|");
            for field in [field(55, symbol), field(58, words), field(38, qty)] {
                order += field.as_str();
            }
            if !allocs.is_empty() {
                order += &std::format!("78={}|", allocs.len());
            }
            for (account, shares) in allocs {
                order += &std::format!("79={account}|80={shares}|");
            }
            order
        })
}

fn text_of(rules: &[AnyRule], every: bool) -> String {
    let mut text = String::from(if every {
        "[gateway]\nmatch = 'all'\n"
    } else {
        ""
    });
    for (at, (from, when, sends)) in rules.iter().enumerate() {
        text += &std::format!("[[rule]]\nfrom = ['{from}']\n");
        if let Some(when) = when {
            text += &std::format!("when = '''{when}'''\n");
        }
        let send = if *sends { ", 'return'" } else { "" };
        text += &std::format!("do = ['count r{at}'{send}]\n");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn rules_apply_as_their_text_says(
        rules in proptest::collection::vec(any_rule(), 1..6),
        every in any::<bool>(),
        orders in proptest::collection::vec((0..3_usize, any_order()), 1..6),
    ) {
        let compiled = match load(&text_of(&rules, every)) {
            Ok(compiled) => compiled,
            Err(errors) => {
                for error in errors {
                    let known = matches!(error.problem, Problem::Never { .. } | Problem::Unreachable { .. });
                    prop_assert!(known, "{}", error);
                }
                return Ok(());
            }
        };
        let mut scratch = Scratch::default();
        let dictionary = dictionary(Version::Fix42);
        for (source, order) in &orders {
            let source = SESSIONS[*source];
            let bytes = message(source, order);
            let mut decoder = Decoder::with_capacity(64);
            let slow = Slow { message: &decoder.decode(&bytes), dictionary: &dictionary, source };
            let mut wanted = Vec::new();
            for (at, (from, when, sends)) in rules.iter().enumerate() {
                let begin = from.trim_end_matches('*');
                let from = source == from || (begin != from && source.starts_with(begin));
                let when = when.as_ref().map(|when| condition(when).unwrap());
                if !from || !when.is_none_or(|when| slow.holds(None, &when)) {
                    continue;
                }
                wanted.push(std::format!("count r{at}"));
                if *sends {
                    wanted.push(std::format!("return: {}", order));
                    if !every {
                        break;
                    }
                }
            }
            let (found, _) = outcomes(&compiled, &mut scratch, source, order);
            prop_assert_eq!(found, wanted, "{} {}", source, order);
        }
    }
}

/// An order of FIX 4.4 with parties, their sub IDs and allocations.
fn any_grouped() -> impl Strategy<Value = String> {
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

const CHANGES: [&str; 22] = [
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
        let (out, _) = outcomes(&rules, &mut Scratch::default(), "GAMMA", &order);
        let out = out[0].strip_prefix("return: ").map(ToString::to_string);
        let out = out.unwrap_or_else(|| panic!("{order} {changes:?}: failed"));
        for text in [&order, &out] {
            let bytes = message("GAMMA", text);
            let bytes = String::from_utf8(bytes).unwrap().replace("FIX.4.2", "FIX.4.4").into_bytes();
            let mut decoder = Decoder::with_capacity(256);
            let strict = dictionary::Rules { required_fields: false, ..dictionary::Rules::default() };
            let dictionary = dictionary(Version::Fix44);
            let found = check(&dictionary, &decoder.decode(&bytes), &strict, &mut dictionary::Scratch::default());
            prop_assert_eq!(found, Ok(()), "{} {:?} {}", order, changes, text);
        }
    }
}
