//! The engines whose settings files are read, and how each of them reads its own.
//!
//! Where a file means one thing there and another here, the reader says so; what each engine does is
//! taken from its source: `Settings.cpp`, `SessionSettings.java`, `settings.go`, `Settings.cs`.

use std::fmt;

use super::family;

/// An engine, as the one that a settings file was written for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Dialect {
    /// This one: every line must be understood, and no key may stand twice.
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

/// How the dialect of a file became known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Told {
    /// By the caller; `--dialect`.
    ByCaller,
    /// By the file's key `Dialect`.
    ByKey,
    /// By keys that one engine has and the others have not.
    ByItsKeys,
    /// By its name: a `.toml` file is fixwire's own, a `.properties` file FIX Antenna's.
    ByItsName,
    /// Not at all: the file is read as fixwire's own.
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

    /// Its name in `Dialect=` and `--dialect`.
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

    /// The engine with this name, in any case.
    pub fn find(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("fixantenna") {
            return Some(Self::Antenna);
        }
        [Self::Fixwire, Self::Antenna]
            .into_iter()
            .chain(Self::FAMILY)
            .find(|dialect| dialect.name().eq_ignore_ascii_case(name))
    }

    /// Its letter in the registry; only the QuickFIX family has them.
    pub fn letter(self) -> Option<char> {
        match self {
            Self::Fixwire | Self::Antenna => None,
            Self::QuickFix => Some('C'),
            Self::QuickFixJ => Some('J'),
            Self::QuickFixGo => Some('G'),
            Self::QuickFixN => Some('N'),
        }
    }

    /// Whether it finds a key whatever the case of its letters.
    pub fn any_case(self) -> bool {
        matches!(self, Self::Fixwire | Self::QuickFix | Self::QuickFixN)
    }

    /// Whether `[Default]` is `[DEFAULT]`.
    pub fn sections_in_any_case(self) -> bool {
        !matches!(self, Self::QuickFix | Self::QuickFixN)
    }

    /// Whether a second `[DEFAULT]` adds to the first.
    pub fn adds_up_defaults(self) -> bool {
        matches!(self, Self::QuickFixJ | Self::QuickFixGo)
    }

    /// Whether it passes over a section of another name and a second `[DEFAULT]`, with all that
    /// stands in them.
    pub fn passes_over_sections(self) -> bool {
        matches!(self, Self::QuickFix | Self::QuickFixN)
    }

    /// Whether it passes over what stands above the first section.
    pub fn passes_over_the_beginning(self) -> bool {
        matches!(self, Self::QuickFix | Self::QuickFixJ | Self::QuickFixN)
    }

    /// Whether a key may stand twice in a section, and the last one holds.
    pub fn takes_the_last(self) -> bool {
        self != Self::Fixwire
    }

    /// Whether keys that it does not have are the application's.
    pub fn keeps_unknown_keys(self) -> bool {
        self != Self::Fixwire
    }

    /// The longest line, in bytes, that it reads whole: at a longer one QuickFIX (C++) stops and takes
    /// nothing of the rest of the file.
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

/// Keys after which it is clear whose file it is.
const ENOUGH: usize = 2_000;

/// The one engine that has more of these keys than any other; `None` when two have as many, or when
/// `ours` says that a key is fixwire's own.
pub fn guess<'a>(
    keys: impl Iterator<Item = &'a str>,
    ours: impl Fn(&str) -> bool,
) -> Option<Dialect> {
    let mut scores = [0_usize; Dialect::FAMILY.len()];
    for name in keys.take(ENOUGH) {
        if ours(name) {
            return None;
        }
        for (score, dialect) in scores.iter_mut().zip(Dialect::FAMILY) {
            *score += usize::from(family::is_read(name, dialect));
        }
    }
    let best = *scores.iter().max()?;
    let mut leaders = Dialect::FAMILY
        .into_iter()
        .zip(scores)
        .filter(|(_, score)| *score == best);
    let (leader, _) = leaders.next()?;
    leaders.next().is_none().then_some(leader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_of_the_engine_that_has_the_most_of_its_keys() {
        let common = ["BeginString", "HeartBtInt", "SocketAcceptPort"];
        let guess = |more: &[&str]| {
            let keys = common.iter().chain(more).copied();
            super::guess(keys, |name| name == "Durability")
        };
        assert_eq!(guess(&[]), None);
        assert_eq!(guess(&["SocketTcpNoDelay"]), Some(Dialect::QuickFixJ));
        assert_eq!(guess(&["HostSelectionPolicy"]), Some(Dialect::QuickFix));
        assert_eq!(guess(&["SocketCAFile"]), Some(Dialect::QuickFixGo));
        assert_eq!(guess(&["sslenable"]), Some(Dialect::QuickFixN));
        // QuickFIX/J would not know it in this case, and nobody else has it.
        assert_eq!(guess(&["sockettcpnodelay"]), None);
        assert_eq!(guess(&["SocketNodelay"]), None);
        assert_eq!(guess(&["SocketTcpNoDelay", "Durability"]), None);
        assert_eq!(guess(&["MyOwnKey"]), None);
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
