//! Translations of Text(58), by language.
//!
//! ```text
//! RC6: order quantity exceeds the limit ({}, at most {} for {})      a text, with {} for its values
//! RC6：委託數量超過上限（{}，{3} 的上限為 {2}）                          its translation: {} the next value, {2} the second
//! ```

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Maximum length of EncodedText(355), in bytes. A longer text is cut between characters.
pub(crate) const ENCODED_MOST: usize = 480;

/// Translations of all languages.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TextTable {
    /// The languages by name.
    languages: BTreeMap<String, Language>,
}

/// The translations of a language.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Language {
    /// Translations of texts without values.
    plain: BTreeMap<String, String>,
    /// Translations of texts with values, in the order of the file.
    patterns: Vec<(Pattern, Vec<Piece>)>,
}

/// A text with values: the pieces before, between and after the values.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Pattern(Vec<String>);

/// A piece of a translation.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Piece {
    Text(String),
    /// A value of the English text, by its index from 0.
    Value(usize),
}

/// A mistake in a text or in its translation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum TextMistake {
    /// A brace that is neither `{}` nor a number in braces.
    Brace,
    /// Two values without anything between them.
    Touching,
    /// The English text numbers its values.
    Numbered,
    /// The translation has a value with this number, which the text does not have.
    NoValue(usize),
}

impl TextTable {
    /// The names of the languages.
    pub(crate) fn languages(&self) -> impl Iterator<Item = &str> {
        self.languages.keys().map(String::as_str)
    }

    /// The number of texts of each language, as text.
    pub(crate) fn summary(&self) -> String {
        let counts = self.languages.iter().map(|(name, language)| {
            let count = language.plain.len() + language.patterns.len();
            format!("{name} {count}")
        });
        counts.collect::<Vec<_>>().join(", ")
    }

    /// Adds a translation.
    pub(crate) fn add(
        &mut self,
        language: &str,
        text: &str,
        translation: &str,
    ) -> Result<(), TextMistake> {
        let (pattern, count) = Pattern::parse(text)?;
        let pieces = pieces(translation, count)?;
        let language = self.languages.entry(language.into()).or_default();
        if count > 0 {
            language.patterns.push((pattern, pieces));
        } else {
            language.plain.insert(text.into(), translation.into());
        }
        Ok(())
    }

    /// Appends the translation of a text to `to`; returns false if it has no translation.
    #[must_use]
    pub fn translate(&self, language: &str, text: &[u8], to: &mut Vec<u8>) -> bool {
        let Some(language) = self.languages.get(language) else {
            return false;
        };
        let Ok(text) = core::str::from_utf8(text) else {
            return false;
        };
        if let Some(plain) = language.plain.get(text) {
            put_cut(plain, ENCODED_MOST, to);
            return true;
        }
        let mut patterns = language.patterns.iter();
        let found = patterns.find_map(|(pattern, pieces)| Some((pattern.values(text)?, pieces)));
        let Some((values, pieces)) = found else {
            return false;
        };
        let end = to.len() + ENCODED_MOST;
        for piece in pieces {
            let piece = match piece {
                Piece::Text(text) => text,
                Piece::Value(index) => values.get(*index).copied().unwrap_or_default(),
            };
            put_cut(piece, end - to.len(), to);
        }
        true
    }
}

/// Appends a text, cut between characters to at most `most` bytes.
fn put_cut(text: &str, most: usize, to: &mut Vec<u8>) {
    let mut len = text.len().min(most);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    to.extend_from_slice(&text.as_bytes()[..len]);
}

/// Splits a text at its values. `None` stands for the next value, a number n for the n-th value, from 1.
fn split(text: &str) -> Result<(Vec<&str>, Vec<Option<usize>>), TextMistake> {
    let (mut texts, mut values) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (value, after) = after.split_once('}').ok_or(TextMistake::Brace)?;
        let value = match value {
            "" => None,
            number => {
                let number = number.parse().ok().filter(|number| *number > 0);
                Some(number.ok_or(TextMistake::Brace)?)
            }
        };
        texts.push(before);
        values.push(value);
        rest = after;
    }
    texts.push(rest);
    if texts.iter().any(|text| text.contains('}')) {
        return Err(TextMistake::Brace);
    }
    Ok((texts, values))
}

fn pieces(translation: &str, count: usize) -> Result<Vec<Piece>, TextMistake> {
    let (texts, values) = split(translation)?;
    let mut pieces = Vec::new();
    let mut next = 0;
    for (at, text) in texts.iter().enumerate() {
        if !text.is_empty() {
            pieces.push(Piece::Text((*text).into()));
        }
        let Some(value) = values.get(at) else {
            continue;
        };
        let index = match value {
            Some(number) => number - 1,
            None => {
                next += 1;
                next - 1
            }
        };
        if index >= count {
            return Err(TextMistake::NoValue(index + 1));
        }
        pieces.push(Piece::Value(index));
    }
    Ok(pieces)
}

impl Pattern {
    /// Reads a pattern; also returns the number of its values.
    fn parse(text: &str) -> Result<(Self, usize), TextMistake> {
        let (texts, values) = split(text)?;
        if values.iter().any(Option::is_some) {
            return Err(TextMistake::Numbered);
        }
        let between = texts.get(1..texts.len() - 1).unwrap_or_default();
        if between.iter().any(|text| text.is_empty()) {
            return Err(TextMistake::Touching);
        }
        let texts = texts.into_iter().map(String::from).collect();
        Ok((Self(texts), values.len()))
    }

    /// The values in a text that matches the pattern. Each value ends where the piece after it first occurs.
    fn values<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let (first, others) = self.0.split_first()?;
        let (last, between) = others.split_last()?;
        let mut rest = text.strip_prefix(first.as_str())?;
        let mut values = Vec::with_capacity(others.len());
        for end in between {
            let (value, after) = rest.split_once(end.as_str())?;
            values.push(value);
            rest = after;
        }
        values.push(rest.strip_suffix(last.as_str())?);
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn said(rows: &[(&str, &str)], text: &str) -> Option<String> {
        let mut table = TextTable::default();
        for (text, translation) in rows {
            table.add("de", text, translation).unwrap();
        }
        let mut to = b"before ".to_vec();
        let is = table.translate("de", text.as_bytes(), &mut to);
        let said = String::from_utf8(to).unwrap();
        assert!(!table.translate("fr", text.as_bytes(), &mut Vec::new()));
        is.then(|| said.strip_prefix("before ").unwrap().to_string())
    }

    #[test]
    fn values_go_where_the_translation_has_them() {
        let rows = [
            ("unknown order", "unbekannt"),
            (
                "too far ({} %, at most {} % for {})",
                "zu weit für {3}: {} %, erlaubt {} %",
            ),
            ("too far ({})", "zu weit: {}"),
            ("{} left", "noch {}, ja {1}"),
        ];
        let said = |text: &str| said(&rows, text);
        assert_eq!(said("unknown order").unwrap(), "unbekannt");
        let far = said("too far (12.5 %, at most 10 % for account=A1 symbol=XYZ)");
        assert_eq!(
            far.unwrap(),
            "zu weit für account=A1 symbol=XYZ: 12.5 %, erlaubt 10 %"
        );
        assert_eq!(said("too far (x)").unwrap(), "zu weit: x");
        assert_eq!(said("3 left").unwrap(), "noch 3, ja 3");
        for other in ["unknown order ", "too far (1", "left", ""] {
            assert_eq!(said(other), None, "{other}");
        }
    }

    #[test]
    fn a_long_translation_is_cut_between_characters() {
        let long = "é".repeat(ENCODED_MOST);
        let text = said(
            &[("a {}", "x{}"), ("b", &long)],
            &("a ".to_string() + long.as_str()),
        )
        .unwrap();
        assert_eq!(
            (text.len(), text.chars().count()),
            (ENCODED_MOST - 1, ENCODED_MOST / 2)
        );
        assert_eq!(said(&[("b", &long)], "b").unwrap().len(), ENCODED_MOST);
    }

    #[test]
    fn wrong_texts_are_refused() {
        let mut table = TextTable::default();
        for (text, translation, mistake) in [
            ("a {", "b", TextMistake::Brace),
            ("a }", "b", TextMistake::Brace),
            ("a {}", "b {x}", TextMistake::Brace),
            ("a {}", "b {0}", TextMistake::Brace),
            ("a {}{}", "b", TextMistake::Touching),
            ("a {1}", "b", TextMistake::Numbered),
            ("a {}", "b {} {}", TextMistake::NoValue(2)),
            ("a", "b {3}", TextMistake::NoValue(3)),
        ] {
            assert_eq!(table.add("de", text, translation), Err(mistake), "{text}");
        }
        assert_eq!(table, TextTable::default());
    }
}
