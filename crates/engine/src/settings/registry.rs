//! What a key is: its names, what its value may be, what it means.

use super::elsewhere;
use super::keys::{Id, KEYS};
use super::value::Kind;

/// One setting, defined once: the reader, `check`, and `docs/settings.md` all come from it.
#[derive(Debug)]
pub struct Key {
    /// How the program calls it.
    pub id: Id,
    /// How fixwire calls it.
    pub name: &'static str,
    /// Who else has it, and under which other names.
    pub names: &'static [Name],
    /// What its value may be.
    pub kind: Kind,
    /// The value when nobody gives one, in the form of the file; `None` when there is none.
    pub default: Option<&'static str>,
    /// Whether one value serves the engine or each session has its own.
    pub scope: Scope,
    /// Whether a number may follow the name: `SocketConnectHost1`.
    pub numbered: bool,
    /// What it does, in one paragraph of Markdown.
    pub doc: &'static str,
}

/// A name of a key in other engines.
#[derive(Debug)]
pub struct Name {
    /// The name there.
    pub name: &'static str,
    /// C, J, G, N: QuickFIX in C++, Java, Go, .NET.
    pub dialects: &'static str,
}

/// Whom a value is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// The whole engine: all sessions of a file have the same value.
    Engine,
    /// Each session.
    Session,
}

/// What a key of a file means.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// A key that is used, and the number behind its name.
    Used(&'static Key, Option<u16>),
    /// A key of another engine that is not used here.
    Elsewhere(&'static elsewhere::Group),
    /// A key for the application: starts with `X-`.
    Custom,
}

/// The prefix of keys that belong to the application.
pub const CUSTOM: &str = "X-";

/// Finds a key by any of its names, in any case.
pub fn find(text: &str) -> Option<Known> {
    if text.len() > CUSTOM.len() && text.get(..CUSTOM.len())?.eq_ignore_ascii_case(CUSTOM) {
        return Some(Known::Custom);
    }
    if let Some(key) = used(text) {
        return Some(Known::Used(key, None));
    }
    let base = text.trim_end_matches(|c: char| c.is_ascii_digit());
    if let (Some(key), Ok(number)) = (used(base), text[base.len()..].parse::<u16>())
        && key.numbered
    {
        return Some(Known::Used(key, Some(number)));
    }
    elsewhere::find(text).map(Known::Elsewhere)
}

fn used(text: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| {
        key.name.eq_ignore_ascii_case(text)
            || key
                .names
                .iter()
                .any(|other| other.name.eq_ignore_ascii_case(text))
    })
}

/// The known key that an operator most likely meant: at most a third of its letters differ.
pub fn nearest(text: &str) -> Option<&'static str> {
    const LONGEST: usize = 64;
    if text.len() > LONGEST {
        return None;
    }
    let wanted = text.to_ascii_lowercase();
    let used = KEYS
        .iter()
        .flat_map(|key| std::iter::once(key.name).chain(key.names.iter().map(|other| other.name)));
    let (length, allowed) = (wanted.chars().count(), |name: &str| name.len().max(3) / 3);
    used.chain(elsewhere::names())
        .filter(|name| name.len().abs_diff(length) <= allowed(name))
        .map(|name| {
            (
                strsim::damerau_levenshtein(&wanted, &name.to_ascii_lowercase()),
                name,
            )
        })
        .filter(|(distance, name)| *distance <= allowed(name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Whether the value of a key must never be shown.
pub fn is_secret(key: &str, value: &str) -> bool {
    const WORDS: [&str; 5] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "connectionstring",
    ];
    const TAGS: [&str; 4] = ["554", "925", "96", "1402"];
    let key = key.to_ascii_lowercase();
    let tag = value.split('=').next().unwrap_or("").trim();
    WORDS.iter().any(|word| key.contains(word))
        || (key.starts_with("logontag") && TAGS.contains(&tag))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_is_defined_twice() {
        let of_key = |key: &Key| -> BTreeSet<String> {
            let others = key.names.iter().map(|other| other.name);
            std::iter::once(key.name)
                .chain(others)
                .map(str::to_ascii_lowercase)
                .collect()
        };
        let mut seen = BTreeSet::new();
        let elsewhere = elsewhere::names().map(str::to_ascii_lowercase);
        for name in KEYS.iter().flat_map(of_key).chain(elsewhere) {
            assert!(seen.insert(name.clone()), "{name} is defined twice");
        }
    }

    #[test]
    fn every_default_is_a_value_of_its_key() {
        for key in KEYS {
            if let Some(text) = key.default {
                assert!(key.kind.parse(text).is_ok(), "{}={text}", key.name);
            }
            assert_eq!(KEYS[key.id as usize].name, key.name);
        }
    }

    #[test]
    fn keys_are_found_by_any_name_in_any_case() {
        for (text, id) in [
            ("beginSTRING", Id::BeginString),
            ("SocketTcpNoDelay", Id::SocketNodelay),
            ("MaxMessagesInResendRequest", Id::ResendRequestChunkSize),
        ] {
            assert!(
                matches!(find(text), Some(Known::Used(key, None)) if key.id == id),
                "{text}"
            );
        }
        assert!(matches!(
            find("SocketConnectHost12"),
            Some(Known::Used(_, Some(12)))
        ));
        assert!(find("SocketConnectHost99999").is_none());
        assert!(find("HeartBtInt1").is_none());
        assert!(matches!(find("x-anything"), Some(Known::Custom)));
        assert!(find("X-").is_none());
        assert!(find("é").is_none());
        assert!(matches!(find("SSLEnable"), Some(Known::Elsewhere(_))));
    }

    #[test]
    fn a_typing_error_finds_its_key() {
        assert_eq!(nearest("HeartbeatInt"), Some("HeartBtInt"));
        assert_eq!(nearest("SenderCompId"), Some("SenderCompID"));
        assert_eq!(nearest("Heart_Bt_Int"), Some("HeartBtInt"));
        assert_eq!(nearest("Flurbl"), None);
        assert_eq!(nearest(&"x".repeat(100_000)), None);
    }
}
