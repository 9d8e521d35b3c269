//! Translations of Text(58): the file of `texts`, and `language` of a user.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_text::{Diagnostic, TomlValue};

use super::Reader;
use crate::load::table::Row;
use crate::values::texts::TextMistake;

/// Maximum length of a text and of a translation, in bytes: the limits of Text(58) and EncodedText(355).
const LONGEST: [(&str, usize); 2] = [
    ("text", 240),
    ("translation", crate::values::texts::ENCODED_MOST),
];
/// Maximum length of the name of a language, in bytes.
const NAME: usize = 16;

impl Reader<'_> {
    /// Reads a row of the file of texts.
    pub(super) fn translation(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let cell = |at: usize| row.cells.get(at).copied().flatten().unwrap_or_default();
        let (language, text, translation) = (cell(0), cell(1), cell(2));
        let is_sign = |it: char| it.is_ascii_alphanumeric() || it == '-';
        if language.len() > NAME || !language.chars().all(is_sign) {
            let hint = "write at most 16 letters, digits and -, such as zh or zh-TW";
            return Err((format!("{language} is not the name of a language"), hint));
        }
        for ((name, most), value) in LONGEST.into_iter().zip([text, translation]) {
            if value.len() > most || value.chars().any(char::is_control) {
                let what = format!("{name} must have at most {most} bytes, in one line");
                return Err((what, ""));
            }
        }
        let key = (language.into(), text.into());
        if let Some(line) = self.known.texts.get(&key) {
            let what = format!("the text in {language} is listed twice, first in line {line}");
            return Err((what, "leave one row"));
        }
        let added = self.rules.texts.add(language, text, translation);
        added.map_err(|mistake| match mistake {
            TextMistake::Brace => (
                "a brace that is not {} or the number of a value".into(),
                "write {} for each value, in a translation also {2} for the second one",
            ),
            TextMistake::Touching => (
                "two values of the text have nothing between them".into(),
                "write {} once for both",
            ),
            TextMistake::Numbered => (
                "the values of the text have numbers".into(),
                "write {} for each value of text; only translation numbers them",
            ),
            TextMistake::NoValue(number) => (
                format!("the translation has value {number}, but the text has no such value"),
                "write {} in text where the value is",
            ),
        })?;
        self.known.texts.insert(key, row.line);
        Ok(())
    }

    /// Checks that the file has translations for the language of a user.
    pub(super) fn check_language(&self, value: TomlValue<'_>) -> Result<(), Diagnostic> {
        let language = value.text()?;
        let known: Vec<&str> = self.rules.texts.languages().collect();
        if known.contains(&language) {
            return Ok(());
        }
        let hint = if known.is_empty() {
            String::from("name the file of translations: [oms] texts = \"texts.csv\"")
        } else {
            format!("the file of texts has {}", known.join(", "))
        };
        Err(value.wrong(format!("language = \"{language}\" has no texts"), hint))
    }
}
