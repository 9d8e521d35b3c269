//! Tables of TOML. The values of the keys are read by type.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Span};
use crate::names::{listed, nearest};
use crate::units;

/// Maximum length of a text value, in bytes.
const TEXT_MAX: usize = 255;

/// A TOML file.
#[derive(Debug, Default)]
pub struct TomlFile<'d>(DeTable<'d>);

impl<'d> TomlFile<'d> {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// The text is not TOML.
    pub fn parse(text: &'d str) -> Result<Self, Diagnostic> {
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().map(Span::from).unwrap_or_default();
            Diagnostic::of(span, error.message().replace('\n', ", "), "")
        });
        table.map(|table| Self(table.into_inner()))
    }

    /// The table with all keys of the file.
    #[must_use]
    pub fn root(&self) -> TomlTable<'_> {
        TomlTable::of_file(&self.0)
    }
}

/// A table of a file.
#[derive(Clone, Copy, Debug)]
pub struct TomlTable<'d> {
    /// Byte offset of the table in the file.
    pub at: usize,
    end: usize,
    keys: &'d DeTable<'d>,
}

/// The value of a key, with the table that contains the key.
#[derive(Clone, Copy, Debug)]
pub struct TomlValue<'d> {
    /// The key.
    pub key: &'d str,
    /// The place of the key in the file.
    pub key_span: Span,
    /// Byte offset of the value in the file.
    pub at: usize,
    end: usize,
    /// The table.
    pub table: TomlTable<'d>,
    value: &'d DeValue<'d>,
}

/// A value that is neither a table nor a list, as it is written in the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TomlScalar<'d> {
    /// A text, without its quotes.
    Text(&'d str),
    /// A whole number.
    Integer {
        /// The digits of the number, with a sign if there is one.
        digits: &'d str,
        /// The base of the number: 10, or the base that `0x`, `0o` or `0b` stands for.
        radix: u32,
    },
    /// A number with a decimal point or an exponent.
    Float(&'d str),
    /// `true` or `false`.
    Flag(bool),
    /// A date, a time, or both.
    Time(String),
}

impl<'d> TomlTable<'d> {
    /// The outermost table of a file.
    fn of_file(keys: &'d DeTable<'d>) -> Self {
        let (at, end) = (0, 0);
        Self { at, end, keys }
    }

    /// The place of the table in the file. For `[[user]]` this is the line with the brackets.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::from(self.at..self.end)
    }

    /// All keys with their values, in alphabetical order.
    pub fn entries(&self) -> impl Iterator<Item = TomlValue<'d>> + use<'d> {
        let table = *self;
        table.keys.iter().map(move |(key, value)| {
            let (key, key_span) = (key.get_ref(), Span::from(key.span()));
            TomlValue::new(key, key_span, value, table)
        })
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<TomlValue<'d>> {
        let (key, value) = self.keys.get_key_value(key)?;
        let key_span = Span::from(key.span());
        Some(TomlValue::new(key.get_ref(), key_span, value, *self))
    }

    /// Whether the table has a key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// Byte offset of the value of a key; 0 when the table does not have the key.
    #[must_use]
    pub fn place(&self, key: &str) -> usize {
        self.get(key).map_or(0, |value| value.at)
    }

    /// A mistake for each key that is not known.
    pub fn unknown(&self, known: impl Iterator<Item = &'static str>) -> Vec<Diagnostic> {
        let mut names: Vec<&str> = known.collect();
        names.sort_unstable();
        let unknown = self.entries().filter(|it| !names.contains(&it.key));
        let unknown = unknown.map(|TomlValue { key, key_span, .. }| {
            let mut hint = format!("the keys are {}", names.join(", "));
            if let Some(nearest) = nearest(key, names.iter().copied()) {
                hint += &format!("; did you mean {nearest}?");
            }
            Diagnostic::of(key_span, format!("unknown key {key}"), hint)
        });
        unknown.collect()
    }
}

/// The tables of a list such as `[[account]]`; none when the file does not have the list.
pub fn tables<'d>(
    list: Option<TomlValue<'d>>,
    name: &str,
    mistakes: &mut Vec<Diagnostic>,
) -> Vec<TomlTable<'d>> {
    let Some(list) = list else {
        return Vec::new();
    };
    let Some(items) = list.items() else {
        let what = format!("[[{name}]] needs double brackets");
        mistakes.push(list.wrong(what, ""));
        return Vec::new();
    };
    let tables = items.filter_map(|item| item.table().map_err(|it| mistakes.push(it)).ok());
    tables.collect()
}

impl<'d> TomlValue<'d> {
    fn new(
        key: &'d str,
        key_span: Span,
        value: &'d Spanned<DeValue<'d>>,
        table: TomlTable<'d>,
    ) -> Self {
        let Span { start, end } = Span::from(value.span());
        Self {
            key,
            key_span,
            at: start,
            end,
            table,
            value: value.get_ref(),
        }
    }

    /// A value that is in no file, such as a default.
    pub(crate) fn detached(key: &'d str, value: &'d DeValue<'d>, none: &'d DeTable<'d>) -> Self {
        Self {
            key,
            key_span: Span::default(),
            at: 0,
            end: 0,
            table: TomlTable::of_file(none),
            value,
        }
    }

    /// The place of the value in the file.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::from(self.at..self.end)
    }

    /// A mistake at the place of the value.
    pub fn wrong(&self, what: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic::of(self.span(), what, hint)
    }

    /// The items of a list, each with the key of the list.
    #[must_use]
    pub fn items(&self) -> Option<impl ExactSizeIterator<Item = TomlValue<'d>> + use<'d>> {
        let list = *self;
        let items = list.value.as_array()?.iter();
        Some(items.map(move |item| Self::new(list.key, list.key_span, item, list.table)))
    }

    /// The value as a table.
    ///
    /// # Errors
    ///
    /// A mistake, as with all functions that read a value: the value has another type or is out of range.
    pub fn table(&self) -> Result<TomlTable<'d>, Diagnostic> {
        match self.value {
            DeValue::Table(keys) => {
                let Span { start: at, end } = self.span();
                Ok(TomlTable { at, end, keys })
            }
            _ => {
                let (what, hint) = (
                    format!("{} must be a table", self.key),
                    "write KEY = VALUE lines in it",
                );
                Err(self.wrong(what, hint))
            }
        }
    }

    /// The value as it is written in the file; `None` for a table or a list.
    #[must_use]
    pub fn scalar(&self) -> Option<TomlScalar<'d>> {
        Some(match self.value {
            DeValue::String(text) => TomlScalar::Text(text),
            DeValue::Integer(number) => TomlScalar::Integer {
                digits: number.as_str(),
                radix: number.radix(),
            },
            DeValue::Float(number) => TomlScalar::Float(number.as_str()),
            DeValue::Boolean(is) => TomlScalar::Flag(*is),
            DeValue::Datetime(time) => TomlScalar::Time(time.to_string()),
            DeValue::Array(_) | DeValue::Table(_) => return None,
        })
    }

    /// Whether two values are written in the same way, wherever they are.
    #[must_use]
    pub fn is_same(&self, other: &TomlValue<'_>) -> bool {
        let are =
            |one: &TomlValue<'_>, other: &TomlValue<'_>| one.key == other.key && one.is_same(other);
        if let (Ok(one), Ok(other)) = (self.table(), other.table()) {
            let mut pairs = one.entries().zip(other.entries());
            return one.keys.len() == other.keys.len()
                && pairs.all(|(one, other)| are(&one, &other));
        }
        match (self.items(), other.items()) {
            (Some(one), Some(other)) => {
                let is_long = one.len() == other.len();
                is_long && one.zip(other).all(|(one, other)| one.is_same(&other))
            }
            (None, None) => self.scalar() == other.scalar() && self.scalar().is_some(),
            _ => false,
        }
    }

    /// The value as a text; `None` when it is not a text.
    #[must_use]
    pub fn string(&self) -> Option<&'d str> {
        self.value.as_str()
    }

    /// The digits of a number, written with or without quotes. Any other text is returned as it is.
    #[must_use]
    pub fn digits(&self) -> Option<&'d str> {
        match self.scalar()? {
            TomlScalar::Text(text) | TomlScalar::Float(text) => Some(text),
            TomlScalar::Integer { digits, radix: 10 } => Some(digits),
            _ => None,
        }
    }

    /// The value as a text of 1 to 255 bytes.
    ///
    /// # Errors
    ///
    /// The value is not such a text.
    pub fn text(&self) -> Result<&'d str, Diagnostic> {
        let text = self.string();
        let fits = text.filter(|text| (1..=TEXT_MAX).contains(&text.len()));
        fits.ok_or_else(|| {
            let what = format!("{} must be a text of 1 to {TEXT_MAX} bytes", self.key);
            let hint = if text.is_none() {
                "write it in quotes"
            } else {
                ""
            };
            self.wrong(what, hint)
        })
    }

    /// The value that the text stands for.
    ///
    /// # Errors
    ///
    /// The value is not a text, or its text has no meaning. In this case `hint` says what to write.
    pub fn parsed<T>(
        &self,
        read: impl FnOnce(&'d str) -> Option<T>,
        what: &str,
        hint: &str,
    ) -> Result<T, Diagnostic> {
        let text = self.text()?;
        read(text).ok_or_else(|| self.wrong(format!("{} = \"{text}\" {what}", self.key), hint))
    }

    /// The texts of a list, each with its byte offset. Items of another type are left out.
    ///
    /// # Errors
    ///
    /// The value is not a list.
    pub fn texts(
        &self,
        mistakes: &mut Vec<Diagnostic>,
    ) -> Result<Vec<(usize, String)>, Diagnostic> {
        let wrong = |value: &Self| {
            let what = format!("{} must be a list of strings", self.key);
            value.wrong(what, format!("write {} = [\"...\", \"...\"]", self.key))
        };
        let mut texts = Vec::new();
        for item in self.items().ok_or_else(|| wrong(self))? {
            match item.string() {
                Some(text) => texts.push((item.at, text.into())),
                None => mistakes.push(wrong(&item)),
            }
        }
        Ok(texts)
    }

    /// The whole numbers of a list, each with its byte offset. An item of another type is `None`. The result is
    /// `None` when the value is not a list.
    #[must_use]
    pub fn numbers(&self) -> Option<Vec<(usize, Option<u64>)>> {
        let items = self.items()?;
        Some(items.map(|item| (item.at, item.whole())).collect())
    }

    /// The value as a whole number without quotes; `None` when it is not one.
    #[must_use]
    pub fn whole(&self) -> Option<u64> {
        match self.scalar()? {
            TomlScalar::Integer { digits, radix: 10 } => digits.parse().ok(),
            _ => None,
        }
    }

    /// The value as a number from 0 to `most`.
    ///
    /// # Errors
    ///
    /// The value is not such a number.
    pub fn number(&self, most: usize) -> Result<usize, Diagnostic> {
        let number = self.number_within(0..=most as u64)?;
        Ok(number as usize)
    }

    /// The value as a number within bounds.
    ///
    /// # Errors
    ///
    /// The value is not such a number.
    pub fn number_within(&self, bounds: RangeInclusive<u64>) -> Result<u64, Diagnostic> {
        let number = self.whole().filter(|number| bounds.contains(number));
        number.ok_or_else(|| {
            let (least, most) = (bounds.start(), bounds.end());
            let what = format!("{} must be a number from {least} to {most}", self.key);
            self.wrong(what, "")
        })
    }

    /// The value as a number of bytes within bounds. A number of bytes is written as `65536`, or with a unit in quotes.
    ///
    /// # Errors
    ///
    /// The value is not such a number.
    pub fn bytes(&self, bounds: RangeInclusive<u64>) -> Result<u64, Diagnostic> {
        let bytes = self.whole().or_else(|| units::bytes(self.string()?));
        bytes.filter(|bytes| bounds.contains(bytes)).ok_or_else(|| {
            let (least, most) = (
                units::bytes_text(*bounds.start()),
                units::bytes_text(*bounds.end()),
            );
            let what = format!(
                "{} must be a number of bytes from {least} to {most}",
                self.key
            );
            self.wrong(what, "write 65536, \"64K\", \"16M\" or \"1G\"")
        })
    }

    /// The value as `true` or `false`.
    ///
    /// # Errors
    ///
    /// The value is neither of the two.
    pub fn flag(&self) -> Result<bool, Diagnostic> {
        match self.value {
            DeValue::Boolean(is) => Ok(*is),
            _ => Err(self.wrong(format!("{} must be true or false", self.key), "")),
        }
    }

    /// What the word in the value stands for.
    ///
    /// # Errors
    ///
    /// The value is not one of the words.
    pub fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Diagnostic> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let Some(text) = self.string() else {
            let what = format!("{} must be {}", self.key, listed(&names));
            return Err(self.wrong(what, "write it in quotes"));
        };
        let known = words.iter().find(|(word, _)| *word == text);
        known.map(|(_, value)| *value).ok_or_else(|| {
            let what = format!("{} = \"{text}\" is not known", self.key);
            self.wrong(what, format!("write {}", listed(&names)))
        })
    }

    /// The value as a duration of `least` to `most` nanoseconds.
    ///
    /// # Errors
    ///
    /// The value is not a duration, or is out of range. In this case `hint` says what to write.
    pub fn duration(&self, least: u64, most: u64, hint: &str) -> Result<u64, Diagnostic> {
        let read = |text: &str| units::duration(text).filter(|it| (least..=most).contains(it));
        self.parsed(read, "is not a time", hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_they_are_written() {
        let text = "a = [1, 'x']\nb = [ 1, \"x\" ]\nc = [1]\nd = '1'\ne = 1\nf = 0x1\n[g]\nk = 1.5\n[h]\nk = 1.5 # the same\n[i]\nl = 1.5\n";
        let file = TomlFile::parse(text).unwrap();
        let is_same = |one, other| {
            let (one, other) = (
                file.root().get(one).unwrap(),
                file.root().get(other).unwrap(),
            );
            assert_eq!(one.is_same(&other), other.is_same(&one));
            one.is_same(&other)
        };
        assert!(is_same("a", "b") && is_same("g", "h") && is_same("e", "e"));
        for (one, other) in [
            ("a", "c"),
            ("d", "e"),
            ("e", "f"),
            ("g", "i"),
            ("a", "e"),
            ("g", "a"),
        ] {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_mistake_covers_its_value() {
        let text = "[[user]]\nmay = 'a b'\n";
        let file = TomlFile::parse(text).unwrap();
        let mut mistakes = Vec::new();
        let users = tables(file.root().get("user"), "user", &mut mistakes);
        let mistake = users[0].get("may").unwrap().flag().unwrap_err();
        assert_eq!(&text[mistake.at..mistake.end.unwrap()], "'a b'");
        assert_eq!(&text[users[0].at..users[0].span().end], "[[user]]");
        assert_eq!(users[0].unknown(["name"].into_iter())[0].at, 9);
        assert!(mistakes.is_empty() && TomlFile::parse("[").is_err());
    }
}
