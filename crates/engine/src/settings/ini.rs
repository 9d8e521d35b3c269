//! The text of a `.cfg` file as sections of keys and values, each with its place.
//!
//! ```text
//! # a comment: only where `#` is the first character of the line
//! [DEFAULT]                    once; applies to every session, wherever it stands
//! ConnectionType=acceptor
//! [SESSION]                    once for each session
//! BeginString=FIX.4.4
//! ```
//!
//! Section names and keys are read in any case; spaces around keys and values are no part of them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::problem::{Fault, LoadError, Problem};

/// The largest file that is read, in bytes.
pub const MAX_FILE: u64 = 2 << 20;

/// Most sections of a file.
pub const MAX_SECTIONS: usize = 4096;

/// A place in the text: bytes from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the operator gave it.
    pub path: PathBuf,
    /// Its whole text, so that spans can be shown.
    pub text: String,
}

impl Source {
    /// Reads a file of at most [`MAX_FILE`] bytes.
    ///
    /// # Errors
    ///
    /// [`LoadError::Read`], [`LoadError::TooLarge`] or [`LoadError::NotUtf8`].
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let failed = |error| LoadError::Read {
            path: path.to_owned(),
            error,
        };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(MAX_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(LoadError::TooLarge {
                path: path.to_owned(),
                limit: MAX_FILE,
            });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self {
                path: path.to_owned(),
                text,
            }),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let line = 1 + error.as_bytes()[..good]
                    .iter()
                    .filter(|b| **b == b'\n')
                    .count();
                Err(LoadError::NotUtf8 {
                    path: path.to_owned(),
                    line,
                })
            }
        }
    }

    /// The line of a place, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        1 + self.text.as_bytes()[..span.start.min(self.text.len())]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }

    /// The text of a place.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or("")
    }
}

/// What a section is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SectionKind {
    /// `[DEFAULT]`
    Default,
    /// `[SESSION]`
    Session,
}

/// A section and what stands in it.
#[derive(Clone, Debug)]
pub struct Section {
    /// What it is for.
    pub kind: SectionKind,
    /// Its `[NAME]`.
    pub header: Span,
    /// Its entries in the order of the file.
    pub entries: Vec<Entry>,
}

/// A `key=value` line.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The key, not empty.
    pub key: Span,
    /// The value, trimmed; may be empty.
    pub value: Span,
}

/// Splits a text into sections. Lines that are none of it become problems, and reading goes on.
pub fn parse(source: &Source, problems: &mut Vec<Problem>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut stray = false;
    // Entries below a section of an unknown name would only add noise.
    let mut skipping = false;
    let mut at = 0;
    for line in source.text.split_inclusive('\n') {
        let span = trimmed(&source.text, at, at + line.len());
        at += line.len();
        let text = source.slice(span);
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if text.starts_with('[') {
            skipping = false;
            if sections.len() == MAX_SECTIONS {
                problems.push(Problem {
                    span,
                    fault: Fault::TooManySections,
                });
                break;
            }
            match section(text, span, &sections) {
                Ok(kind) => sections.push(Section {
                    kind,
                    header: span,
                    entries: Vec::new(),
                }),
                Err(fault) => {
                    skipping = true;
                    problems.push(Problem { span, fault });
                }
            }
            continue;
        }
        if skipping {
            continue;
        }
        match (entry(&source.text, span), sections.last_mut()) {
            (Err(fault), _) => problems.push(Problem { span, fault }),
            (Ok(entry), Some(section)) => section.entries.push(entry),
            (Ok(_), None) if stray => {}
            (Ok(entry), None) => {
                stray = true;
                problems.push(Problem {
                    span: entry.key,
                    fault: Fault::BeforeFirstSection,
                });
            }
        }
    }
    sections
}

fn section(text: &str, span: Span, earlier: &[Section]) -> Result<SectionKind, Fault> {
    let name = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .map(str::trim)
        .unwrap_or_default();
    if name.eq_ignore_ascii_case("SESSION") {
        return Ok(SectionKind::Session);
    }
    if !name.eq_ignore_ascii_case("DEFAULT") {
        return Err(Fault::SectionName);
    }
    match earlier
        .iter()
        .find(|section| section.kind == SectionKind::Default)
    {
        Some(first) => Err(Fault::Repeated {
            first: first.header,
        }),
        None if span.end > span.start => Ok(SectionKind::Default),
        None => Err(Fault::SectionName),
    }
}

fn entry(text: &str, line: Span) -> Result<Entry, Fault> {
    let equals = text[line.start..line.end]
        .find('=')
        .ok_or(Fault::NoEquals)?
        + line.start;
    let key = trimmed(text, line.start, equals);
    if key.start == key.end {
        return Err(Fault::EmptyKey);
    }
    Ok(Entry {
        key,
        value: trimmed(text, equals + 1, line.end),
    })
}

/// The span without spaces (and a byte order mark) at its ends.
fn trimmed(text: &str, start: usize, end: usize) -> Span {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let slice = &text[start..end];
    let front = slice.trim_start_matches(blank);
    let start = start + (slice.len() - front.len());
    Span {
        start,
        end: start + front.trim_end_matches(blank).len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Source, Vec<Section>, Vec<Problem>) {
        let source = Source {
            path: "x.cfg".into(),
            text: text.into(),
        };
        let mut problems = Vec::new();
        let sections = parse(&source, &mut problems);
        (source, sections, problems)
    }

    #[test]
    fn keys_and_values_are_trimmed_and_keep_their_place() {
        let (source, sections, problems) =
            read("\u{feff}# hello\r\n[default]\r\n  A = b c \r\n\n[ SESSION ]\nD=\nE==x#y\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(sections.len(), 2);
        let first = sections[0].entries[0];
        assert_eq!(source.slice(first.key), "A");
        assert_eq!(source.slice(first.value), "b c");
        assert_eq!(source.line(first.key), 3);
        assert_eq!(source.slice(sections[1].entries[0].value), "");
        assert_eq!(source.slice(sections[1].entries[1].value), "=x#y");
        assert_eq!(source.line(sections[1].entries[1].key), 7);
    }

    #[test]
    fn every_bad_line_is_reported() {
        let (source, sections, problems) = read(
            "A=1\nB=2\n[DEFAULT]\nnonsense\n=x\n[SESION]\nC=1\n[DEFAULT]\n[SESSION\n[SESSION]\nD=1",
        );
        let found: Vec<(usize, &Fault)> = problems
            .iter()
            .map(|problem| (source.line(problem.span), &problem.fault))
            .collect();
        assert!(
            matches!(
                found[..],
                [
                    (1, Fault::BeforeFirstSection),
                    (4, Fault::NoEquals),
                    (5, Fault::EmptyKey),
                    (6, Fault::SectionName),
                    (8, Fault::Repeated { .. }),
                    (9, Fault::SectionName),
                ]
            ),
            "{found:?}"
        );
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[1].entries.len(), 1);
    }
}
