//! Built-in dictionaries, made from the tables that the build step has written.
//!
//! ```text
//! F|tag|name|type|open a field, then     V|value|description   each of its values
//! C|name               a component       H   the header        T   the trailer
//! M|msgtype|name       a message         each followed by its layout:
//! f|name|Y             a field, required c|name|N              a component, optional
//! g|name|N             a group of what follows, to its         e
//! ```

use alloc::vec::Vec;

use super::compile::{
    ComponentSource, DictionarySource, FieldSource, ItemKind, LayoutItem, MessageSource, compile,
};
use super::{DataType, Dictionary, OtherValues};

/// A version of FIX whose dictionary is built in.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Version {
    /// FIX.4.0
    Fix40,
    /// FIX.4.1
    Fix41,
    /// FIX.4.2
    Fix42,
    /// FIX.4.3
    Fix43,
    /// FIX.4.4
    Fix44,
    /// FIX.5.0. Only application messages.
    Fix50,
    /// FIX.5.0SP1. Only application messages.
    Fix50Sp1,
    /// FIX.5.0SP2. Only application messages.
    Fix50Sp2,
    /// FIXT.1.1. Header, trailer and session messages.
    Fixt11,
}

impl Version {
    /// All versions, beginning with the oldest.
    pub const ALL: [Self; 9] = [
        Self::Fix40,
        Self::Fix41,
        Self::Fix42,
        Self::Fix43,
        Self::Fix44,
        Self::Fix50,
        Self::Fix50Sp1,
        Self::Fix50Sp2,
        Self::Fixt11,
    ];

    /// The version as in BeginString(8), or with the service pack added: `FIX.4.2`, `FIX.5.0SP2`, `FIXT.1.1`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fix40 => "FIX.4.0",
            Self::Fix41 => "FIX.4.1",
            Self::Fix42 => "FIX.4.2",
            Self::Fix43 => "FIX.4.3",
            Self::Fix44 => "FIX.4.4",
            Self::Fix50 => "FIX.5.0",
            Self::Fix50Sp1 => "FIX.5.0SP1",
            Self::Fix50Sp2 => "FIX.5.0SP2",
            Self::Fixt11 => "FIXT.1.1",
        }
    }

    /// The version with this [`name`](Self::name), or with this name of a dictionary file, such as `FIX42`. The
    /// service pack may be spelt in other ways.
    pub fn from_name(name: &str) -> Option<Self> {
        let same = |version: &&Self| {
            let letters = |text: &'static str| text.bytes().filter(|&byte| byte != b'.');
            let given = name
                .bytes()
                .filter(|byte| !matches!(byte, b'.' | b'-' | b'_' | b' '));
            given
                .map(|byte| byte.to_ascii_uppercase())
                .eq(letters(version.name()))
        };
        Self::ALL.iter().find(same).copied()
    }

    /// The code of this version in ApplVerID(1128) and DefaultApplVerID(1137); `None` for FIXT, which has no code.
    pub fn appl_ver_id(self) -> Option<&'static str> {
        match self {
            Self::Fix40 => Some("2"),
            Self::Fix41 => Some("3"),
            Self::Fix42 => Some("4"),
            Self::Fix43 => Some("5"),
            Self::Fix44 => Some("6"),
            Self::Fix50 => Some("7"),
            Self::Fix50Sp1 => Some("8"),
            Self::Fix50Sp2 => Some("9"),
            Self::Fixt11 => None,
        }
    }

    fn table(self) -> &'static str {
        macro_rules! table {
            ($stem:literal) => {
                include_str!(concat!(env!("OUT_DIR"), "/", $stem, ".table"))
            };
        }
        match self {
            Self::Fix40 => table!("fix40"),
            Self::Fix41 => table!("fix41"),
            Self::Fix42 => table!("fix42"),
            Self::Fix43 => table!("fix43"),
            Self::Fix44 => table!("fix44"),
            Self::Fix50 => table!("fix50"),
            Self::Fix50Sp1 => table!("fix50sp1"),
            Self::Fix50Sp2 => table!("fix50sp2"),
            Self::Fixt11 => table!("fixt11"),
        }
    }
}

/// Implements [`Dictionary::built_in`].
///
/// # Panics
///
/// When the build step has written a table that does not compile. A test loads every table.
pub(super) fn load(version: Version) -> Dictionary {
    match compile(source(version)) {
        Ok(dictionary) => dictionary,
        Err(error) => {
            let table = version.table().as_bytes();
            let line = 1 + table
                .iter()
                .take(error.at)
                .filter(|&&byte| byte == b'\n')
                .count();
            panic!("{} table, line {line}: {:?}", version.name(), error.problem)
        }
    }
}

/// Reads a table. Lines that make no sense are left out. A test compares the tables with known counts, and would
/// detect this.
fn source(version: Version) -> DictionarySource<'static> {
    let mut source = DictionarySource {
        version: version.name().into(),
        ..DictionarySource::default()
    };
    let mut lines = Lines {
        rest: version.table().lines(),
        at: 0,
        held: None,
    };
    while let Some((at, parts)) = lines.next() {
        match parts {
            ["F", tag, name, rest] => {
                let (kind, others) = rest.split_once('|').unwrap_or((rest, "none"));
                let kind = DataType::from_quickfix(kind).unwrap_or(DataType::String);
                let mut values = Vec::new();
                while let Some((_, ["V", value, description, _])) = lines.next_if("V") {
                    values.push((value, description));
                }
                source.fields.push(FieldSource {
                    at,
                    tag: tag.parse().unwrap_or(0),
                    name,
                    kind,
                    values,
                    others: OtherValues::from_word(others).unwrap_or_default(),
                    length: None,
                });
            }
            ["C", name, ..] => source.components.push(ComponentSource {
                at,
                name: name.into(),
                items: lines.layout(),
            }),
            ["H", ..] => source.header = lines.layout(),
            ["T", ..] => source.trailer = lines.layout(),
            ["M", msg_type, name, _] => {
                source.messages.push(MessageSource {
                    at,
                    msg_type,
                    name,
                    items: lines.layout(),
                });
            }
            _ => {}
        }
    }
    source
}

/// A line of a table, and the byte offset at which the line begins.
type Line = (usize, [&'static str; 4]);

struct Lines {
    rest: core::str::Lines<'static>,
    at: usize,
    held: Option<Line>,
}

impl Lines {
    fn next(&mut self) -> Option<Line> {
        if self.held.is_some() {
            return self.held.take();
        }
        let line = self.rest.next()?;
        let at = self.at;
        self.at += line.len() + 1;
        let mut parts = line.splitn(4, '|');
        Some((at, core::array::from_fn(|_| parts.next().unwrap_or(""))))
    }

    fn next_if(&mut self, letters: &str) -> Option<Line> {
        let line = self.next()?;
        if letters.contains(line.1[0]) {
            return Some(line);
        }
        self.held = Some(line);
        None
    }

    fn layout(&mut self) -> Vec<LayoutItem<'static>> {
        let mut items = Vec::new();
        while let Some((at, [letter, name, required, _])) = self.next_if("fcge") {
            let what = match letter {
                "f" => ItemKind::Field,
                "c" => ItemKind::Component,
                "g" => ItemKind::Group(self.layout()),
                _ => break,
            };
            items.push(LayoutItem {
                at,
                name: name.into(),
                required: required == "Y",
                what,
            });
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_as_many_fields_and_messages_as_its_quickfix_file() {
        let counts = Version::ALL.map(|version| {
            let dictionary = Dictionary::built_in(version);
            assert_eq!(dictionary.version(), version.name());
            (dictionary.fields().len(), dictionary.messages().len())
        });
        let expected = [
            (138, 27),
            (206, 28),
            (405, 46),
            (635, 68),
            (912, 93),
            (1090, 93),
            (1373, 105),
            (1452, 108),
            (81, 8),
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn every_data_field_but_the_one_without_a_length_has_its_length_field() {
        for version in Version::ALL {
            let dictionary = Dictionary::built_in(version);
            for field in dictionary
                .fields()
                .iter()
                .filter(|field| field.kind == DataType::Data)
            {
                let length = field.partner.and_then(|tag| dictionary.field(tag));
                let length =
                    length.unwrap_or_else(|| panic!("{} of {}", field.name, version.name()));
                assert_eq!(length.partner, Some(field.tag));
                assert!(
                    length.name.ends_with("Len") || length.name.ends_with("Length"),
                    "{}",
                    length.name
                );
            }
        }
    }

    #[test]
    fn names_are_found_in_all_spellings() {
        for version in Version::ALL {
            assert_eq!(Version::from_name(version.name()), Some(version));
            assert_eq!(
                Version::from_name(&version.name().replace('.', "")),
                Some(version)
            );
        }
        assert_eq!(Version::from_name("FIX.5.0-SP2"), Some(Version::Fix50Sp2));
        assert_eq!(Version::from_name("FIX.4.5"), None);
    }
}
