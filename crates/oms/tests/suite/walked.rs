//! No value of a venue's word is forgotten: each value that a built-in dictionary gives ExecType(150), OrdStatus(39) and the
//! other fields that decide, and each kind of break, stands in a line of the class files.

use std::collections::BTreeSet;

use fixwire_engine::protocol::dictionary::Version;
use fixwire_engine::protocol::{Dictionary, Tag};
use fixwire_oms::{BreakKind, OrderState};

const CLASSES: &str = include_str!("../venue-classes.txt");
const FILLS: &str = include_str!("../classes/fills.txt");

/// Fields that decide what is done, and the message they are in.
const FIELDS: [(Tag, &str); 5] = [
    (150, "ExecType"),
    (39, "OrdStatus"),
    (20, "ExecTransType"),
    (434, "CxlRejResponseTo"),
    (102, "CxlRejReason"),
];

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
}

/// The version that the classes play for one of a dictionary.
fn played(version: Version) -> &'static str {
    match version {
        Version::Fix40 | Version::Fix41 | Version::Fix42 => "4.2",
        Version::Fix43 | Version::Fix44 => "4.4",
        _ => "5.0",
    }
}

/// Values of a field in what venues say, by version.
fn said() -> BTreeSet<(&'static str, &'static str)> {
    let mut all = BTreeSet::new();
    for line in lines(CLASSES) {
        let mut parts = line.split('|');
        let versions = parts.next().unwrap();
        let inputs = parts.nth(1).unwrap().split_once("->").unwrap().0;
        for version in versions.split_whitespace() {
            all.extend(inputs.split_whitespace().map(|field| (version, field)));
        }
    }
    for line in lines(FILLS) {
        let mut parts = line.split("; ");
        let version = match parts.next().unwrap() {
            "40" | "42" => "4.2",
            "44" => "4.4",
            _ => "5.0",
        };
        let report = parts.nth(1).unwrap();
        all.extend(report.split('|').map(|field| (version, field)));
    }
    all
}

fn versions() -> impl Iterator<Item = Version> {
    let all = [
        Version::Fix40,
        Version::Fix41,
        Version::Fix42,
        Version::Fix43,
        Version::Fix44,
        Version::Fix50,
        Version::Fix50Sp1,
        Version::Fix50Sp2,
    ];
    all.into_iter()
}

/// Values of a dictionary that no line has.
fn missing(said: &BTreeSet<(&str, &str)>) -> Vec<String> {
    let mut missing = Vec::new();
    for version in versions() {
        let dictionary = Dictionary::built_in(version);
        for (tag, name) in FIELDS {
            let values = dictionary.field(tag).map_or(&[][..], |it| &it.values[..]);
            for value in values {
                let field = format!("{tag}={}", value.value);
                if !said.contains(&(played(version), field.as_str())) {
                    missing.push(format!(
                        "{version:?}: {name}({tag}) {} {}",
                        value.value, value.name
                    ));
                }
            }
        }
    }
    missing
}

#[test]
fn each_value_of_the_dictionaries_has_a_class() {
    let missing = missing(&said());
    assert!(missing.is_empty(), "no class for\n{}", missing.join("\n"));
}

#[test]
fn a_value_without_a_class_is_named() {
    let mut said = said();
    said.retain(|(_, field)| *field != "150=9");
    let missing = missing(&said);
    assert!(
        missing.iter().any(|it| it.contains("ExecType(150) 9")),
        "{missing:?}"
    );
}

#[test]
fn each_kind_of_break_and_each_state_has_a_class() {
    let kinds = (0..=u8::MAX).filter_map(BreakKind::of);
    for kind in kinds {
        // Those of drop copies have tests of their own.
        let of_copies = match kind {
            BreakKind::NoCopy
            | BreakKind::NoReport
            | BreakKind::Differs
            | BreakKind::NotClosed
            | BreakKind::Unplaced
            | BreakKind::OtherCopy => true,
            BreakKind::FillsMissing
            | BreakKind::FillsSurplus
            | BreakKind::NotCounted
            | BreakKind::ReusedExec
            | BreakKind::Bust
            | BreakKind::Correction
            | BreakKind::Quantity
            | BreakKind::LimitPrice
            | BreakKind::Leaves
            | BreakKind::Status
            | BreakKind::Average => false,
        };
        let name = kind.to_string();
        let has = |line: &str| line.contains(&name);
        assert!(
            of_copies || lines(CLASSES).chain(lines(FILLS)).any(has),
            "{name}"
        );
    }
    let word = |state: OrderState| match state {
        // A venue has none of these.
        OrderState::Parent | OrderState::Held | OrderState::Queued => None,
        // Days play it.
        OrderState::Lapsed => None,
        OrderState::Sent => Some("sent"),
        OrderState::Unknown => Some("unknown"),
        OrderState::Working => Some("open"),
        OrderState::DoneForDay => Some("done"),
        OrderState::Ended(_) => Some("cancelled"),
    };
    for state in [
        OrderState::Sent,
        OrderState::Unknown,
        OrderState::Working,
        OrderState::DoneForDay,
    ] {
        let word = word(state).unwrap();
        let is_end = |line: &str| {
            line.rsplit('|')
                .next()
                .is_some_and(|it| it.trim().starts_with(word))
        };
        assert!(lines(CLASSES).any(is_end), "{word}");
    }
}
