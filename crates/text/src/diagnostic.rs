//! [`Diagnostic`]: a mistake in a text, and how to correct it.

use alloc::string::String;
use core::fmt;
use core::ops::Range;

/// A part of a text: the bytes from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl From<Range<usize>> for Span {
    fn from(Range { start, end }: Range<usize>) -> Self {
        Self { start, end }
    }
}

/// A mistake in a settings file, or in a file that the settings name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostic {
    /// Byte offset in the settings. For a mistake in another file this is the offset of that file's name.
    pub at: usize,
    /// Byte offset of the end of the mistake, if known.
    pub end: Option<usize>,
    /// The other file, and the line in that file, from 1.
    pub file: Option<(String, usize)>,
    /// The mistake.
    pub what: String,
    /// How to correct the mistake; empty when the text of the mistake says it.
    pub hint: String,
}

impl Diagnostic {
    /// A mistake at an offset in the settings.
    pub fn new(at: usize, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            at,
            end: None,
            file: None,
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// A mistake in a part of the settings.
    pub fn of(span: Span, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            end: Some(span.end),
            ..Self::new(span.start, what, hint)
        }
    }

    /// A mistake in a line of another file.
    pub fn in_file(file: &str, line: usize, what: impl Into<String>, hint: &str) -> Self {
        Self {
            file: Some((file.into(), line)),
            ..Self::new(0, what, hint)
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.file {
            write!(f, "{}:{line}: ", in_one_line(file))?;
        }
        f.write_str(&in_one_line(&self.what))?;
        if !self.hint.is_empty() {
            write!(f, "; {}", in_one_line(&self.hint))?;
        }
        Ok(())
    }
}

/// The text without control characters. A quoted cell of a CSV file, for example, may have several lines.
fn in_one_line(text: &str) -> String {
    let shown = text.chars();
    shown
        .map(|it| if it.is_control() { '?' } else { it })
        .collect()
}

/// The line of a byte offset, and the column in this line. Both count from 1.
#[must_use]
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_mistake_is_one_line_with_its_file_and_hint() {
        let mistake = Diagnostic::in_file("a.csv", 3, "unknown column tick\nsize", "remove it");
        assert_eq!(
            mistake.to_string(),
            "a.csv:3: unknown column tick?size; remove it"
        );
        assert_eq!(
            Diagnostic::new(7, "x is missing", "").to_string(),
            "x is missing"
        );
    }

    #[test]
    fn a_place_counts_characters() {
        assert_eq!(place("a\nbé=1", 5), (2, 3));
        assert_eq!(place("", 0), (1, 1));
        assert_eq!(place("ab", 9), (1, 1));
    }
}
