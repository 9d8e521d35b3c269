//! An error caused by a limit of the settings names the limit and its value.

use std::fs;
use std::path::Path;

use fixwire::settings::keys::KEYS;

use super::events_page::literals;

/// Files with the error texts of limits, from the root of the repository.
const SOURCES: [&str; 9] = [
    "crates/engine/src/error.rs",
    "crates/engine/src/event/ending.rs",
    "crates/engine/src/event/refusal.rs",
    "crates/engine/src/event/sentence.rs",
    "crates/exchange/src/market/request.rs",
    "crates/gateway/src/gateway/event.rs",
    "crates/protocol/src/limit.rs",
    "crates/protocol/src/session/receive.rs",
    "crates/protocol/src/session/verdict.rs",
];

/// Limits of the tables of a gateway or an exchange.
const OF_TABLES: [&str; 3] = ["max_orders", "max_held", "max_remembered"];

/// Keys that are named like limits but refuse nothing, each with its reason.
const NO_LIMITS: [(&str, &str); 1] = [(
    "MaxOrderAge",
    "the event of a resend counts what is gap-filled",
)];

/// Whether a text has the name and, after it, the value.
fn names(text: &str, limit: &str) -> bool {
    text.split(limit).skip(1).any(|behind| {
        let is_whole = !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        is_whole && behind.contains('{')
    })
}

#[test]
fn each_limit_names_itself_and_its_value() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let texts: Vec<String> = SOURCES
        .iter()
        .flat_map(|path| literals(&fs::read_to_string(root.join(path)).expect(path)))
        .collect();
    let keys = KEYS.iter().map(|key| key.name);
    let limits: Vec<&str> = keys
        .filter(|name| name.starts_with("Max") || name.ends_with("Limit"))
        .chain(OF_TABLES)
        .filter(|name| NO_LIMITS.iter().all(|(other, _)| other != name))
        .collect();
    assert!(limits.len() > 15, "{limits:?}");
    let silent: Vec<&&str> = limits
        .iter()
        .filter(|limit| !texts.iter().any(|text| names(text, limit)))
        .collect();
    assert!(
        silent.is_empty(),
        "no text has the name and value of {silent:?}: what exceeds a limit has to say which, and how much"
    );
}
