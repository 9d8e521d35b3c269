//! Tables of TOML, whose values are read by their type.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::Diagnostic;
use crate::names::{listed, nearest};
use crate::units;

/// Maximum length of a text, in bytes.
const TEXT_MAX: usize = 255;

/// A table of a file.
#[derive(Clone, Copy, Debug)]
pub struct TomlTable<'d> {
    /// Byte offset of the table in the file.
    pub at: usize,
    keys: &'d DeTable<'d>,
}

/// The value of a key, with the table in which it stands.
#[derive(Clone, Copy, Debug)]
pub struct TomlValue<'d> {
    /// The key.
    pub key: &'d str,
    /// Byte offset of the value in the file.
    pub at: usize,
    /// The table.
    pub table: TomlTable<'d>,
    value: &'d DeValue<'d>,
}

impl<'d> TomlTable<'d> {
    /// The tables of a file.
    #[must_use]
    pub fn of_file(keys: &'d DeTable<'d>) -> Self {
        Self { at: 0, keys }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &'d str) -> Option<TomlValue<'d>> {
        let value = self.keys.get(key)?;
        Some(TomlValue {
            key,
            at: value.span().start,
            table: *self,
            value: value.get_ref(),
        })
    }

    /// The values of all keys, by name.
    pub fn entries(&self) -> impl Iterator<Item = TomlValue<'d>> {
        let table = *self;
        self.keys.iter().map(move |(key, value)| TomlValue {
            key: key.get_ref(),
            at: value.span().start,
            table,
            value: value.get_ref(),
        })
    }

    /// Whether the table has a key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// Byte offset of the value of a key; 0 without it.
    #[must_use]
    pub fn place(&self, key: &str) -> usize {
        self.keys.get(key).map_or(0, |value| value.span().start)
    }

    /// All keys that are not known, as mistakes.
    pub fn unknown(&self, known: impl Iterator<Item = &'static str>) -> Vec<Diagnostic> {
        let mut names: Vec<&str> = known.collect();
        names.sort_unstable();
        let unknown = |key: &Spanned<Cow<'_, str>>| {
            let name: &str = key.get_ref();
            if names.contains(&name) {
                return None;
            }
            let mut hint = format!("the keys are {}", names.join(", "));
            if let Some(nearest) = nearest(name, names.iter().copied()) {
                hint += &format!("; did you mean {nearest}?");
            }
            let what = format!("unknown key {name}");
            Some(Diagnostic::new(key.span().start, what, hint))
        };
        self.keys
            .iter()
            .filter_map(|(key, _)| unknown(key))
            .collect()
    }
}

/// The tables of a list such as `[[account]]`; none without the key.
pub fn tables<'d>(
    list: Option<TomlValue<'d>>,
    name: &str,
    mistakes: &mut Vec<Diagnostic>,
) -> Vec<TomlTable<'d>> {
    let Some(list) = list else {
        return Vec::new();
    };
    let DeValue::Array(items) = list.value else {
        let what = format!("[[{name}]] needs double brackets");
        mistakes.push(list.wrong(what, ""));
        return Vec::new();
    };
    let mut tables = Vec::new();
    for item in items.iter() {
        let at = item.span().start;
        match item.get_ref() {
            DeValue::Table(keys) => tables.push(TomlTable { at, keys }),
            _ => mistakes.push(Diagnostic::new(at, "a table is expected here", "")),
        }
    }
    tables
}

impl<'d> TomlValue<'d> {
    /// A value that stands in no file, such as a default.
    #[must_use]
    pub fn detached(key: &'d str, value: &'d DeValue<'d>, none: &'d DeTable<'d>) -> Self {
        let table = TomlTable { at: 0, keys: none };
        Self {
            key,
            at: 0,
            table,
            value,
        }
    }

    /// A mistake in the value.
    pub fn wrong(&self, what: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.at, what, hint)
    }

    /// A table.
    ///
    /// # Errors
    ///
    /// As all that read a value: it is of another type or out of its range.
    pub fn table(&self) -> Result<TomlTable<'d>, Diagnostic> {
        match self.value {
            DeValue::Table(keys) => Ok(TomlTable { at: self.at, keys }),
            _ => Err(self.wrong("a table is expected here", "")),
        }
    }

    /// A text of 1 to 255 bytes.
    ///
    /// # Errors
    ///
    /// It is not one.
    pub fn text(&self) -> Result<&'d str, Diagnostic> {
        let text = self.value.as_str();
        let text = text.filter(|text| (1..=TEXT_MAX).contains(&text.len()));
        text.ok_or_else(|| {
            let what = format!("{} must be a text of 1 to {TEXT_MAX} bytes", self.key);
            self.wrong(what, "")
        })
    }

    /// What a text stands for.
    ///
    /// # Errors
    ///
    /// It is no text, or stands for nothing: then `hint` says what to write.
    pub fn parsed<T>(
        &self,
        read: impl FnOnce(&'d str) -> Option<T>,
        what: &str,
        hint: &str,
    ) -> Result<T, Diagnostic> {
        let text = self.text()?;
        read(text).ok_or_else(|| self.wrong(format!("{} = \"{text}\" {what}", self.key), hint))
    }

    /// A list of texts, each with its byte offset; items of another type are left out.
    ///
    /// # Errors
    ///
    /// It is no list.
    pub fn texts(
        &self,
        mistakes: &mut Vec<Diagnostic>,
    ) -> Result<Vec<(usize, String)>, Diagnostic> {
        let key = self.key;
        let DeValue::Array(items) = self.value else {
            let what = format!("{key} must be a list of strings, such as [\"A*\"]");
            return Err(self.wrong(what, ""));
        };
        let mut texts = Vec::new();
        for item in items.iter() {
            let at = item.span().start;
            match item.get_ref().as_str() {
                Some(text) => texts.push((at, text.into())),
                None => {
                    let what = format!("{key} must be a list of strings");
                    mistakes.push(Diagnostic::new(at, what, ""));
                }
            }
        }
        Ok(texts)
    }

    /// A list of whole numbers, each with its byte offset; `None` for an item of another type. `None` when it is no list.
    #[must_use]
    pub fn numbers(&self) -> Option<Vec<(usize, Option<u64>)>> {
        let items = self.value.as_array()?.iter();
        let items = items.map(|item| (item.span().start, whole(item.get_ref())));
        Some(items.collect())
    }

    /// A whole number without quotes, if it is one.
    #[must_use]
    pub fn whole(&self) -> Option<u64> {
        whole(self.value)
    }

    /// A number from 0 to `most`.
    ///
    /// # Errors
    ///
    /// It is not one.
    pub fn number(&self, most: usize) -> Result<usize, Diagnostic> {
        let number = self.whole().and_then(|it| usize::try_from(it).ok());
        number.filter(|number| *number <= most).ok_or_else(|| {
            let what = format!("{} must be a number from 0 to {most}", self.key);
            self.wrong(what, "")
        })
    }

    /// `true` or `false`.
    ///
    /// # Errors
    ///
    /// It is neither.
    pub fn flag(&self) -> Result<bool, Diagnostic> {
        match self.value {
            DeValue::Boolean(is) => Ok(*is),
            _ => Err(self.wrong(format!("{} must be true or false", self.key), "")),
        }
    }

    /// What a word stands for.
    ///
    /// # Errors
    ///
    /// It is none of the words.
    pub fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Diagnostic> {
        let text = self.text()?;
        let known = words.iter().find(|(word, _)| *word == text);
        known.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let what = format!("{} = \"{text}\" is not known", self.key);
            self.wrong(what, format!("write {}", listed(&names)))
        })
    }

    /// A duration of `least` to `most` nanoseconds.
    ///
    /// # Errors
    ///
    /// It is no duration or out of its range: then `hint` says what to write.
    pub fn duration(&self, least: u64, most: u64, hint: &str) -> Result<u64, Diagnostic> {
        let read = |text: &str| units::duration(text).filter(|it| (least..=most).contains(it));
        self.parsed(read, "is not a time", hint)
    }
}

/// A decimal number without quotes or sign.
fn whole(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        _ => None,
    }
}
