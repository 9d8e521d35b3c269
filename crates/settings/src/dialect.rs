//! [`Dialect`]: the engines whose settings files fixwire can read, and how it reads each of them.
//!
//! Where fixwire and the engine of a file read the file differently, the reader reports the difference. The behaviour
//! of each engine is taken from the engine's source: `Settings.cpp`, `SessionSettings.java`, `settings.go`,
//! `Settings.cs`.

use std::collections::BTreeSet;
use std::fmt;

use super::family;

/// The engine that a settings file was written for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Dialect {
    /// Fixwire. Every line must be valid, and no key may appear twice.
    Fixwire,
    /// QuickFIX in C++.
    QuickFix,
    /// QuickFIX/J.
    QuickFixJ,
    /// QuickFIX/Go.
    QuickFixGo,
    /// QuickFIX/n.
    QuickFixN,
    /// FIX Antenna, whose files are Java properties; [`super::antenna`] reads them.
    Antenna,
}

/// How the dialect of a file was determined.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DialectSource {
    /// By the caller, with `--dialect`.
    ByCaller,
    /// By the file's key `Dialect`.
    ByKey,
    /// By keys that only one engine has. An engine found by its keys is a guess, unless it is fixwire.
    ByItsKeys,
    /// By the name of the file: a `.toml` file is fixwire's own, and a `.properties` file is FIX Antenna's.
    ByItsName,
    /// The engine was not determined, and the file is read as fixwire's own.
    Nowhere,
}

impl Dialect {
    /// The QuickFIX family.
    pub const FAMILY: [Self; 4] = [
        Self::QuickFix,
        Self::QuickFixJ,
        Self::QuickFixGo,
        Self::QuickFixN,
    ];

    /// Name of the engine in `Dialect=` and `--dialect`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixwire => "fixwire",
            Self::QuickFix => "quickfix",
            Self::QuickFixJ => "quickfixj",
            Self::QuickFixGo => "quickfixgo",
            Self::QuickFixN => "quickfixn",
            Self::Antenna => "antenna",
        }
    }

    /// The engine with this name, ignoring case.
    pub fn find(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("fixantenna") {
            return Some(Self::Antenna);
        }
        [Self::Fixwire, Self::Antenna]
            .into_iter()
            .chain(Self::FAMILY)
            .find(|dialect| dialect.name().eq_ignore_ascii_case(name))
    }

    /// Letter of the engine in the registry. Only engines of the QuickFIX family have letters.
    pub fn letter(self) -> Option<char> {
        match self {
            Self::Fixwire | Self::Antenna => None,
            Self::QuickFix => Some('C'),
            Self::QuickFixJ => Some('J'),
            Self::QuickFixGo => Some('G'),
            Self::QuickFixN => Some('N'),
        }
    }

    /// Whether the engine ignores the case of keys.
    pub fn any_case(self) -> bool {
        matches!(self, Self::Fixwire | Self::QuickFix | Self::QuickFixN)
    }

    /// Whether the engine reads `[Default]` as `[DEFAULT]`.
    pub fn sections_in_any_case(self) -> bool {
        !matches!(self, Self::QuickFix | Self::QuickFixN)
    }

    /// Whether a second `[DEFAULT]` adds to the first.
    pub fn adds_up_defaults(self) -> bool {
        matches!(self, Self::QuickFixJ | Self::QuickFixGo)
    }

    /// Whether the engine ignores unknown sections and a second `[DEFAULT]`, together with their content.
    pub fn passes_over_sections(self) -> bool {
        matches!(self, Self::QuickFix | Self::QuickFixN)
    }

    /// Whether the engine ignores lines before the first section.
    pub fn passes_over_the_beginning(self) -> bool {
        matches!(self, Self::QuickFix | Self::QuickFixJ | Self::QuickFixN)
    }

    /// Whether the engine accepts a key twice in a section. The last value then applies.
    pub fn takes_the_last(self) -> bool {
        self != Self::Fixwire
    }

    /// Whether the engine passes unknown keys to the application.
    pub fn keeps_unknown_keys(self) -> bool {
        self != Self::Fixwire
    }

    /// The longest line that the engine reads, in bytes. QuickFIX (C++) stops reading a file at a longer line. The
    /// other engines have no limit (`None`).
    pub fn longest_line(self) -> Option<usize> {
        (self == Self::QuickFix).then_some(1023)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixwire => "fixwire",
            Self::QuickFix => "QuickFIX",
            Self::QuickFixJ => "QuickFIX/J",
            Self::QuickFixGo => "QuickFIX/Go",
            Self::QuickFixN => "QuickFIX/n",
            Self::Antenna => "FIX Antenna",
        })
    }
}

/// Number of keys at the start of a file from which its engine is guessed.
const ENOUGH: usize = 2_000;

/// Number of keys of one engine that are needed to identify it: one key is not enough.
const AT_LEAST: usize = 2;

/// The information in a key about the engine that a file was written for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Clue {
    /// Only fixwire has the key.
    Ours,
    /// The key indicates nothing: fixwire documents the key under this name, whether or not other engines have the
    /// key too.
    Documented,
    /// Either only other engines have the key, or fixwire documents the key under another name.
    Foreign,
}

/// The engine that the keys indicate; `None` when the keys are ambiguous.
///
/// A key that only fixwire has decides at once. Without such a key, the guess is the engine with the most keys that no
/// other engine has, if it has at least two different ones. Two kinds of keys do not count: keys that several engines
/// have, and keys that fixwire documents under this name, because fixwire's own files may have them. A file without
/// ConnectionType can only be a file of QuickFIX/Go: in such a file each key counts that only QuickFIX/Go has.
pub fn guess<'a>(
    keys: impl Iterator<Item = &'a str>,
    clue: impl Fn(&str) -> Clue,
) -> Option<Dialect> {
    let mut scores = [0_usize; Dialect::FAMILY.len()];
    let mut seen = BTreeSet::new();
    let mut has_role = false;
    let mut of_go = 0;
    for name in keys.take(ENOUGH) {
        has_role |= name.eq_ignore_ascii_case("ConnectionType");
        if !seen.insert(name.to_ascii_lowercase()) {
            continue;
        }
        let clue = clue(name);
        if clue == Clue::Ours {
            return Some(Dialect::Fixwire);
        }
        let readers = || {
            Dialect::FAMILY
                .iter()
                .filter(|one| family::is_read(name, **one))
        };
        let sample = family::sample(name).map(|sample| sample.dialect);
        let alone = match (readers().next(), readers().nth(1)) {
            (Some(one), None) => Some(*one),
            (None, _) => sample,
            _ => None,
        };
        of_go += usize::from(alone == Some(Dialect::QuickFixGo));
        if clue == Clue::Foreign
            && let Some(at) = Dialect::FAMILY.iter().position(|one| Some(*one) == alone)
        {
            scores[at] += 1;
        }
    }
    if !has_role && of_go > 0 {
        return Some(Dialect::QuickFixGo);
    }
    let best = *scores.iter().max()?;
    let mut leaders = Dialect::FAMILY
        .into_iter()
        .zip(scores)
        .filter(|(_, score)| *score == best && best >= AT_LEAST);
    let (leader, _) = leaders.next()?;
    leaders.next().is_none().then_some(leader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KEYS;
    use crate::registry::clue;

    #[test]
    fn a_file_is_of_the_engine_that_has_the_most_of_its_foreign_keys() {
        let common = ["BeginString", "ConnectionType", "SocketAcceptPort"];
        let guess = |more: &[&str]| {
            let keys = common.iter().chain(more).copied();
            super::guess(keys, clue)
        };
        assert_eq!(guess(&[]), None);
        let (java, java_too) = ("SocketTcpNoDelay", "ValidateSequenceNumbers");
        assert_eq!(guess(&[java, java_too]), Some(Dialect::QuickFixJ));
        assert_eq!(guess(&[java, java, "sockettcpnodelay"]), None, "one key");
        assert_eq!(
            guess(&["SSLProtocol", "HttpAcceptPort", java]),
            Some(Dialect::QuickFix)
        );
        assert_eq!(
            guess(&["SQLStoreDriver", "MongoStoreDatabase"]),
            Some(Dialect::QuickFixGo)
        );
        assert_eq!(
            guess(&["sslenable", "SSLSERVERNAME"]),
            Some(Dialect::QuickFixN)
        );
        let samples = ["ValidOrderTypes", "DefaultMarketPrice"];
        assert_eq!(guess(&samples), Some(Dialect::QuickFixJ));
        // QuickFIX/J would not recognise these keys in this spelling, and no other engine has them.
        assert_eq!(
            guess(&["sockettcpnodelay", "validatesequencenumbers"]),
            None
        );
        // Two engines with the same number of keys.
        assert_eq!(guess(&[java, java_too, "SSLEnable", "SSLServerName"]), None);
        // Keys that several engines have.
        let several = [
            "ScreenLogShowEvents",
            "TimeStampPrecision",
            "SocketAcceptHost",
        ];
        assert_eq!(guess(&several), None);
        assert_eq!(
            guess(&[java, java_too, "Durability"]),
            Some(Dialect::Fixwire)
        );
        assert_eq!(guess(&["MyOwnKey", "AndAnother"]), None);
    }

    #[test]
    fn a_file_without_a_role_is_of_quickfix_go() {
        let guess = |keys: &[&str]| super::guess(keys.iter().copied(), clue);
        assert_eq!(guess(&["SocketCAFile"]), Some(Dialect::QuickFixGo));
        assert_eq!(guess(&["SocketCAFile", "ConnectionType"]), None);
        assert_eq!(guess(&["SocketAcceptPort"]), None);
    }

    /// Without this rule a harmless key would change the defaults.
    #[test]
    fn no_key_that_our_documents_name_changes_whose_file_it_is() {
        let ours = KEYS.iter().map(|key| key.name);
        assert_eq!(
            guess(ours.clone().filter(|name| clue(name) != Clue::Ours), clue),
            None
        );
        for key in family::FAMILY {
            let guessed = guess(["ConnectionType", key.name].into_iter(), clue);
            assert_eq!(guessed, None, "{} alone", key.name);
        }
    }

    #[test]
    fn names_are_found_in_any_case() {
        for dialect in Dialect::FAMILY {
            assert_eq!(Dialect::find(&dialect.name().to_uppercase()), Some(dialect));
        }
        assert_eq!(Dialect::find("fixwire"), Some(Dialect::Fixwire));
        assert_eq!(Dialect::find("FixAntenna"), Some(Dialect::Antenna));
        assert_eq!(Dialect::find("artio"), None);
    }
}
