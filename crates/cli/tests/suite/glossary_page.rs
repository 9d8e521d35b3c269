//! docs/reference/glossary.md explains the words that only fixwire uses, and the guides link them.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/reference/glossary.md");

/// Words on screens, in events and on pages that a FIX engineer cannot know.
const WORDS: [&str; 24] = [
    "turn",
    "floor",
    "near and far",
    "note",
    "checkpoint",
    "ledger",
    "came back",
    "troubles",
    "remembered",
    "disturbed",
    "closed loop",
    "salvage",
    "segment",
    "dialect",
    "line group",
    "scope",
    "control",
    "arm",
    "reducing",
    "unknown",
    "break",
    "roll",
    "held",
    "unsolicited",
];

/// Forms of a word in a guide, and the entry that they must link.
const IN_GUIDES: [(&str, &str); 4] = [
    ("same turn", "#turn"),
    ("engine's turn", "#turn"),
    ("each turn", "#turn"),
    ("near or far", "#near-and-far"),
];

#[test]
fn every_word_has_an_entry() {
    let headings = PAGE.lines().filter_map(|line| line.strip_prefix("### "));
    let entries: Vec<String> = headings.map(str::to_lowercase).collect();
    for word in WORDS {
        let is_there = entries
            .iter()
            .any(|entry| entry == word || entry.split(", ").any(|one| one == word));
        assert!(is_there, "no entry for {word} in {entries:?}");
    }
}

#[test]
fn guides_link_the_words_that_they_use() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let mut linked = 0;
    for entry in fs::read_dir(guides).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        // A link counts as its text.
        let plain = text
            .replace("[turn]", "turn")
            .replace("[near or far]", "near or far");
        for (words, anchor) in IN_GUIDES {
            if plain.contains(words) {
                let link = format!("glossary.md{anchor}");
                let page = entry.file_name();
                assert!(text.contains(&link), "{page:?} says {words}: link {link}");
                linked += 1;
            }
        }
    }
    assert!(linked > 2, "{linked}");
}
