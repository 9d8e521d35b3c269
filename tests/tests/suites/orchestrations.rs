//! Do the built-in dictionaries say what the standard's own files say?
//!
//! The files are in a package of the FIX Trading Community, which is fetched like foreign engines. Each intended
//! difference is in `orchestrations-differences.txt` below its reason; any other fails, and so does a listed one that
//! no longer exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_rigs::orchestrations::{dictionary, differences, file, values_since};

/// The session layer's messages, header and trailer.
const SESSION: [&str; 10] = ["0", "1", "2", "3", "4", "5", "A", "n", "header", "trailer"];

/// The lines of a version in the file. Each is below a comment with the reason.
fn meant(version: &str) -> BTreeSet<String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites/orchestrations-differences.txt");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let mut reason = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.is_empty() {
            reason = false;
        } else if line.starts_with('#') {
            reason = true;
        } else {
            assert!(reason, "no reason above {line}");
            let (name, difference) = line.split_once(' ').expect("VERSION DIFFERENCE");
            if name == version {
                let is_new = found.insert(difference.to_owned());
                assert!(is_new, "twice: {line}");
            }
        }
    }
    found
}

#[track_caller]
fn compare(version: Version, found: &BTreeSet<String>) {
    let name = version.name();
    let meant = meant(name);
    let listed = |lines: Vec<&String>| -> String {
        lines
            .iter()
            .map(|line| format!("{name} {line}\n"))
            .collect()
    };
    let new = listed(found.difference(&meant).collect());
    let past = listed(meant.difference(found).collect());
    assert!(
        new.is_empty() && past.is_empty(),
        "differences that nobody listed:\n{new}\nlisted ones that no longer exist:\n{past}"
    );
}

#[test]
fn fix_42_and_44_differ_where_it_is_meant() {
    for (version, name) in [
        (Version::Fix42, "FixRepository42.xml"),
        (Version::Fix44, "FixRepository44.xml"),
    ] {
        let standard = dictionary(name).unwrap_or_else(|error| panic!("{error}"));
        compare(
            version,
            &differences(&Dictionary::built_in(version), &standard),
        );
    }
}

/// The session layer is FIX Latest's, without the application messages.
#[test]
fn the_session_layer_differs_where_it_is_meant() {
    let latest = dictionary("OrchestraFIXLatest.xml").unwrap_or_else(|error| panic!("{error}"));
    let found = differences(&Dictionary::built_in(Version::Fixt11), &latest);
    let of_session = |line: &&String| {
        let words: Vec<&str> = line.split([' ', ':']).collect();
        match words[..] {
            ["field", _, "there", "only"] | ["message", _, "there", "only"] => false,
            ["message", msg_type, ..] => SESSION.contains(&msg_type),
            // The values of MsgType are the messages of all versions.
            ["field", "35" | "372", ..] => false,
            _ => true,
        }
    };
    let found = found.iter().filter(of_session).cloned().collect();
    compare(Version::Fixt11, &found);
}

/// The versions in their order.
const ORDER: [&str; 10] = [
    "FIX.2.7",
    "FIX.3.0",
    "FIX.4.0",
    "FIX.4.1",
    "FIX.4.2",
    "FIX.4.3",
    "FIX.4.4",
    "FIX.5.0",
    "FIX.5.0SP1",
    "FIX.5.0SP2",
];
/// The last extension pack that FIX 5.0 itself includes.
const LAST_PACK_OF_50: u32 = 41;

/// A closed list of values has each value that the standard had at that version, and no other.
#[test]
fn closed_lists_of_5_0_and_later_have_the_standards_values() {
    let text = file("OrchestraFIXLatest.xml").unwrap_or_else(|error| panic!("{error}"));
    let standard = values_since(&text);
    assert!(standard.len() > 500, "{} fields", standard.len());
    for version in [Version::Fix50, Version::Fix50Sp1, Version::Fix50Sp2] {
        let rank = ORDER.iter().position(|name| *name == version.name());
        let was_in = |(added, pack): &(String, Option<u32>)| {
            let since = ORDER.iter().position(|name| name == added);
            match (since.cmp(&rank), since) {
                (_, None) => false,
                (std::cmp::Ordering::Less, _) => true,
                (std::cmp::Ordering::Greater, _) => false,
                (std::cmp::Ordering::Equal, _) if version == Version::Fix50 => {
                    pack.is_none_or(|pack| pack <= LAST_PACK_OF_50)
                }
                (std::cmp::Ordering::Equal, _) => pack.is_none(),
            }
        };
        let mut found = BTreeSet::new();
        for field in Dictionary::built_in(version).fields() {
            let (tag, none) = (field.tag, BTreeMap::new());
            let known = standard.get(&tag).unwrap_or(&none);
            if field.values.is_empty() || known.is_empty() {
                continue;
            }
            for value in &field.values {
                if !known.contains_key(&value.value) {
                    found.insert(format!("field {tag}: value {} here only", value.value));
                }
            }
            let missing = known
                .iter()
                .filter(|(value, since)| was_in(since) && !field.allows(value.as_bytes()));
            found
                .extend(missing.map(|(value, _)| format!("field {tag}: value {value} there only")));
        }
        compare(version, &found);
    }
}
