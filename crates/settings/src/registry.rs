//! [`Key`]: the names, the value type, the default and the help text of a setting.

use super::dialect::Clue;
use super::elsewhere;
use super::keys::{Id, KEYS};
use super::kinds::APPL_VERSIONS;
use super::link_keys;
use super::value::{SettingValue, ValueKind};
use fixwire_protocol::redact::is_harmless;
use fixwire_text::distance;

/// A setting, defined once. The reader, `check` and `docs/reference/settings.md` all use this definition.
#[derive(Debug)]
pub struct Key {
    /// Identifier of the key in the program.
    pub id: Id,
    /// Name of the key in fixwire.
    pub name: &'static str,
    /// Names of the key in other engines.
    pub names: &'static [ForeignName],
    /// The type of the value.
    pub kind: ValueKind,
    /// The default value, as it would be written in a file; `None` when the key has no default.
    pub default: Option<&'static str>,
    /// Whether the value applies to the engine or to a session.
    pub scope: KeyScope,
    /// Whether a number may follow the name, as in `SocketConnectHost1`. After `AppDataDictionary` the number stands
    /// for the version: `AppDataDictionary.FIX.4.4` has the number 6.
    pub numbered: bool,
    /// The help text, one paragraph of Markdown.
    pub doc: &'static str,
}

/// A name that other engines have for a key.
#[derive(Debug)]
pub struct ForeignName {
    /// Name of the key in these engines.
    pub name: &'static str,
    /// The engines as letters: C is QuickFIX (C++), J is QuickFIX/J, G is QuickFIX/Go, N is QuickFIX/n.
    pub dialects: &'static str,
}

/// The scope of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyScope {
    /// The value applies to the whole engine: all sessions of a file must have the same value.
    Engine,
    /// Each session.
    Session,
}

/// The meaning of a key in a file.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// A key that is used, and the number after its name.
    Used(&'static Key, Option<u16>),
    /// A key of another engine that fixwire does not use.
    Elsewhere(&'static elsewhere::KeyGroup),
    /// A key for the application. A key for the application starts with `X-`.
    Custom,
}

/// The scope of a key, as the list of keys gives it.
macro_rules! scope {
    (Engine) => {
        KeyScope::Engine
    };
    ($other:ident) => {
        KeyScope::Session
    };
}

/// Whether a number may follow the name of a key.
macro_rules! numbered {
    (Numbered) => {
        true
    };
    ($other:ident) => {
        false
    };
}

pub(super) use {numbered, scope};

/// The prefix of keys that belong to the application.
pub const CUSTOM: &str = "X-";

/// The key that has this id.
pub fn key(id: Id) -> &'static Key {
    &KEYS[id as usize]
}

/// Finds a key by any of its names, in any case.
pub fn find(text: &str) -> Option<Known> {
    if text.len() > CUSTOM.len() && text.get(..CUSTOM.len())?.eq_ignore_ascii_case(CUSTOM) {
        return Some(Known::Custom);
    }
    if let Some(key) = used(text) {
        return Some(Known::Used(key, None));
    }
    if let Some((stem, version)) = text.split_once('.')
        && let Some(key) = used(stem).filter(|key| key.id == Id::AppDataDictionary)
    {
        let number = appl_version(version)?;
        return Some(Known::Used(key, Some(number)));
    }
    let base = text.trim_end_matches(|c: char| c.is_ascii_digit());
    if let (Some(key), Ok(number)) = (used(base), text[base.len()..].parse::<u16>())
        && key.numbered
        && key.id != Id::AppDataDictionary
    {
        return Some(Known::Used(key, Some(number)));
    }
    elsewhere::find(text).map(Known::Elsewhere)
}

/// The information in a key about the engine that its file was written for.
pub fn clue(text: &str) -> Clue {
    match find(text) {
        Some(Known::Custom) => Clue::Ours,
        Some(Known::Used(key, _)) if key.id == Id::Dialect => Clue::Documented,
        Some(Known::Used(key, _)) if key.names.is_empty() => Clue::Ours,
        Some(Known::Used(key, _)) if starts_with(text, key.name) => Clue::Documented,
        _ => Clue::Foreign,
    }
}

fn starts_with(text: &str, name: &str) -> bool {
    let start = text.get(..name.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// A key as it is written in a file, with its number. This function is the inverse of [`find`].
pub fn name(key: &Key, number: Option<u16>) -> String {
    match number {
        None => key.name.to_owned(),
        Some(number) if key.id == Id::AppDataDictionary => {
            let version = APPL_VERSIONS.parse(&number.to_string());
            match version {
                Ok(SettingValue::Word(version)) => format!("{}.{version}", key.name),
                _ => format!("{}.{number}", key.name),
            }
        }
        Some(number) => format!("{}{number}", key.name),
    }
}

/// The number in ApplVerID(1128) for the version that follows `AppDataDictionary.`.
fn appl_version(name: &str) -> Option<u16> {
    let ValueKind::Word(words) = APPL_VERSIONS else {
        return None;
    };
    let is = |(word, _): &&(&str, &str)| word.eq_ignore_ascii_case(name);
    let (_, version) = words.iter().find(is)?;
    // The number is another name for the same version.
    words
        .iter()
        .filter(|(_, other)| other == version)
        .find_map(|(word, _)| word.parse().ok())
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

/// The known key that was most likely meant.
pub fn nearest(text: &str) -> Option<&'static str> {
    let used = KEYS
        .iter()
        .flat_map(|key| std::iter::once(key.name).chain(key.names.iter().map(|other| other.name)));
    fixwire_text::nearest(text, used.chain(elsewhere::names()))
}

/// Whether `key` was most likely meant: the text differs from the key in one letter, or a long text in two.
pub fn is_slip(text: &str, key: &str) -> bool {
    let allowed = if key.len() < 12 { 1 } else { 2 };
    distance(text, key) <= allowed
}

/// Whether the value of a key must never be shown.
pub fn is_secret(key: &str, value: &str) -> bool {
    const WORDS: [&str; 6] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "connectionstring",
        "privatekeybytes",
    ];
    let name = key.to_ascii_lowercase();
    let tag = value.split('=').next().unwrap_or("").trim();
    // The path of a password file is no secret.
    let is_path = || {
        let used = used(key).map(|key| key.kind);
        let kind = used.or_else(|| link_keys::find(key).map(|key| key.kind));
        matches!(kind, Some(ValueKind::Path))
    };
    (WORDS.iter().any(|word| name.contains(word)) && !is_path())
        || (name.starts_with("logontag") && !tag.parse().is_ok_and(is_harmless))
        || has_credentials(value)
}

/// Whether a database address contains a password: `scheme://user:password@host`, `user:password@tcp(host)/name`,
/// `host=…;password=…`.
fn has_credentials(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let named = lower.contains("password=") || lower.contains("pwd=");
    let before_at = lower.rsplit_once('@').map_or("", |(before, _)| before);
    let user = match before_at.rsplit_once("//") {
        Some((_, user)) => user,
        None if lower.contains("@tcp(") || lower.contains("@unix(") => before_at,
        None => "",
    };
    named || user.contains(':')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Dialect;
    use crate::family::FAMILY;

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
        for text in [
            "SocketConnectHost12",
            "AppDataDictionary.FIX.5.0SP2",
            "LogonTag",
        ] {
            let Some(Known::Used(key, number)) = find(text) else {
                panic!("{text} is not found");
            };
            assert_eq!(name(key, number), text);
        }
        assert!(find("HeartBtInt1").is_none());
        assert!(matches!(find("x-anything"), Some(Known::Custom)));
        assert!(find("X-").is_none());
        assert!(find("é").is_none());
        assert!(matches!(find("KeyStoreType"), Some(Known::Elsewhere(_))));
        assert!(
            matches!(find("SSLEnable"), Some(Known::Used(key, None)) if key.id == Id::SocketUseSSL)
        );
    }

    #[test]
    fn what_must_not_be_shown_is_known() {
        for (key, value) in [
            ("JdbcPassword", "x"),
            ("SocketPrivateKeyBytes", "x"),
            ("OdbcLogConnectionString", "x"),
            ("PasswordHash", "x"),
            ("X-PasswordFile", "x"),
            ("LogonTag1", "554=x"),
            ("LogonTag", "1404=x"),
            ("LogonTag", "89=x"),
            ("LogonTag2", "5001=x"),
            ("LogonTag", "0554=x"),
            ("LogonTag", "Password=x"),
            ("SQLStoreDataSourceName", "user:x@tcp(db:3306)/fix"),
            ("MongoLogConnection", "mongodb://user:x@db/fix"),
            ("JdbcURL", "jdbc:postgresql://db/fix?user=a&password=x"),
        ] {
            assert!(is_secret(key, value), "{key}={value}");
        }
        for (key, value) in [
            ("SSLCipherSuite", "HIGH:!aNULL:@STRENGTH"),
            ("JdbcURL", "jdbc:mysql://db:3306/fix"),
            ("LogonTag", "50=x"),
            ("ProxyUser", "x"),
            ("PasswordFile", "/etc/fixwire/users"),
            ("passwordfile", "users"),
            ("password_file", "link.password"),
        ] {
            assert!(!is_secret(key, value), "{key}={value}");
        }
    }

    #[test]
    fn every_key_of_the_family_is_known_here_and_the_other_way_round() {
        for found in FAMILY {
            assert!(find(found.name).is_some(), "{} is not known", found.name);
        }
        for key in KEYS {
            for other in key.names {
                let there = crate::family::find(other.name);
                let there = there.unwrap_or_else(|| panic!("{} is in no engine", other.name));
                let letters: String = there.engines().filter_map(Dialect::letter).collect();
                assert_eq!(letters, other.dialects, "engines that have {}", other.name);
            }
        }
        for name in elsewhere::names() {
            assert!(crate::family::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_typing_error_finds_its_key() {
        assert_eq!(nearest("HeartbeatInt"), Some("HeartBtInt"));
        assert_eq!(nearest("SenderCompId"), Some("SenderCompID"));
        assert_eq!(nearest("Heart_Bt_Int"), Some("HeartBtInt"));
        assert!(is_slip("NonStopSesion", "NonStopSession"));
        assert!(is_slip("ResetOnLogin", "ResetOnLogon"));
        assert!(is_slip("StratTime", "StartTime") && !is_slip("StoreTime", "StartTime"));
        assert!(!is_slip("MyDesk", "EndDay"));
        assert_eq!(nearest("Flurbl"), None);
        assert_eq!(nearest(&"x".repeat(100_000)), None);
    }
}
