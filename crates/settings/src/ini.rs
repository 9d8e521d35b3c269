//! Reads a `.cfg` file into sections of keys and values, each with its position.
//!
//! ```text
//! # a comment: only where `#` is the first character of the line
//! [DEFAULT]                    once; applies to every session, wherever it stands
//! ConnectionType=acceptor
//! [SESSION]                    once for each session
//! BeginString=FIX.4.4
//! ```
//!
//! Section names and keys may be in any case, and spaces around keys and values are ignored. [`Dialect`] knows what
//! the engine of the file does differently.

use std::io::Read;
use std::path::{Path, PathBuf};

use fixwire_engine::regular;
pub use fixwire_text::Span;

use super::dialect::Dialect;
use super::document::Document;
use super::problem::{LoadError, Problem, SettingsFault};
use super::registry;

/// Maximum file size, bytes.
pub const MAX_FILE: u64 = 2 << 20;

/// Maximum number of sections in a file.
pub const MAX_SECTIONS: usize = 4096;

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the operator gave it.
    pub path: PathBuf,
    /// Text of the whole file. Spans are positions in this text.
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
        let file = regular::open(path).map_err(failed)?;
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

    /// The line number of a position, from 1.
    pub fn line(&self, span: Span) -> usize {
        1 + self.text.as_bytes()[..span.start.min(self.text.len())]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }

    /// The column number of a position, from 1.
    pub fn column(&self, span: Span) -> usize {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line = before.rsplit('\n').next().unwrap_or("");
        1 + line.chars().count()
    }

    /// The word at a position. The position is a line and a column, both from 1.
    pub fn word(&self, line: usize, column: usize) -> Span {
        let before = self.text.split_inclusive('\n').take(line.saturating_sub(1));
        let start: usize = before.map(str::len).sum();
        let mut letters = self.text[start..].char_indices();
        let at = letters.nth(column.saturating_sub(1));
        let start = at.map_or(self.text.len(), |(at, _)| start + at);
        let rest = &self.text[start..];
        let in_word = |c: char| c.is_alphanumeric() || "_.-@".contains(c);
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        let one = rest.chars().next().map_or(0, char::len_utf8);
        Span {
            start,
            end: start + end.max(one),
        }
    }

    /// Whether the name of the file ends in `.toml`.
    pub fn is_toml(&self) -> bool {
        let extension = self.path.extension();
        extension.is_some_and(|name| name.eq_ignore_ascii_case("toml"))
    }

    /// Whether the name of the file ends in `.properties`, as FIX Antenna's files do.
    pub fn is_properties(&self) -> bool {
        let extension = self.path.extension();
        extension.is_some_and(|name| name.eq_ignore_ascii_case("properties"))
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or("")
    }
}

/// The kind of a section.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SectionKind {
    /// `[DEFAULT]`
    Default,
    /// `[SESSION]`
    Session,
}

/// A section and its entries.
#[derive(Clone, Debug)]
pub struct Section {
    /// Kind of the section.
    pub kind: SectionKind,
    /// The `[NAME]` of the section.
    pub header: Span,
    /// Entries of the section, in the order of the file.
    pub entries: Vec<IniEntry>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct IniEntry {
    /// The position of the key, which is not empty.
    pub key: Span,
    /// The position of the value, which may be empty.
    pub value: Span,
    /// The key.
    pub name: String,
    /// The value without blanks at its ends, and with its variables not yet replaced.
    pub text: String,
    /// Whether the entry is part of a list. A list replaces all values of its key, with and without numbers.
    pub list: bool,
    /// Whether the entry belongs to the application, whatever its name.
    pub application: bool,
}

/// Splits a text into sections, as the engine that the text was written for would do. Text that this engine ignores
/// or reads differently becomes a warning. Text that cannot be read becomes an error, and reading continues.
pub fn parse(source: &Source, dialect: Dialect, problems: &mut Vec<Problem>) -> Document {
    let mut reader = Reader {
        source,
        dialect,
        problems,
        document: Document::default(),
        into: Target::Nothing,
    };
    let (mut at, mut stopped) = (0, false);
    for line in source.text.split_inclusive('\n') {
        let length = line.strip_suffix('\n').unwrap_or(line).len();
        if dialect.longest_line().is_some_and(|most| length > most) && !stopped {
            stopped = true;
            let span = trimmed(&source.text, at, at + line.len());
            reader.differs(
                span,
                "stops reading at this line, which is longer than 1023 bytes",
            );
        }
        if !reader.line(at, at + line.len()) {
            break;
        }
        at += line.len();
    }
    reader.document
}

/// The section to which entries belong.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Target {
    /// No section: the entry is before the first section.
    Nothing,
    /// No section, as with [`Target::Nothing`], but an entry before the first section has already been reported.
    NothingAndSaid,
    /// The section at this index.
    Section(usize),
    /// An ignored section, whose entries are not reported.
    Skipped,
}

struct Reader<'a> {
    source: &'a Source,
    dialect: Dialect,
    problems: &'a mut Vec<Problem>,
    document: Document,
    into: Target,
}

impl Reader<'_> {
    /// Reads a line. Returns `false` when reading must stop.
    fn line(&mut self, start: usize, end: usize) -> bool {
        let span = trimmed(&self.source.text, start, end);
        let text = self.source.slice(span);
        if text.is_empty() {
            return true;
        }
        if text.starts_with('#') {
            if self.dialect == Dialect::QuickFixGo && span.start > start {
                self.differs(
                    span,
                    "does not accept an indented comment: it does not start",
                );
            }
            return true;
        }
        if text.starts_with('[') {
            if self.document.sections.len() == MAX_SECTIONS {
                self.report(span, SettingsFault::TooManySections);
                return false;
            }
            self.section(span);
        } else if self.into != Target::Skipped {
            self.entry(span, end);
        } else if let Ok(entry) = entry(&self.source.text, span) {
            self.hide(&entry);
        }
        true
    }

    /// Hides the value of an entry that is not used, because the value may still be a secret.
    fn hide(&mut self, entry: &IniEntry) {
        if registry::is_secret(&entry.name, &entry.text) {
            self.document.secrets.push(entry.value);
        }
    }

    fn section(&mut self, mut span: Span) {
        let text = self.source.slice(span);
        if let Some((inside, behind)) = text.split_once(']')
            && !behind.is_empty()
        {
            let whole = span;
            span.end = span.start + inside.len() + 1;
            // QuickFIX/J's tokenizer reads this text as a comment.
            if self.dialect != Dialect::QuickFixJ || !behind.trim_start().starts_with('#') {
                self.report(whole, SettingsFault::BehindSection);
            }
        }
        let text = self.source.slice(span);
        let name = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .map(str::trim)
            .unwrap_or_default();
        let kind = match name {
            _ if name.eq_ignore_ascii_case("SESSION") => SectionKind::Session,
            _ if name.eq_ignore_ascii_case("DEFAULT") => SectionKind::Default,
            _ => {
                self.into = Target::Skipped;
                let passes_over = self.dialect.passes_over_sections() && !name.is_empty();
                let dialect = self.dialect;
                return if passes_over {
                    self.report(span, SettingsFault::PassedOver { dialect });
                } else {
                    self.report(span, SettingsFault::SectionName);
                };
            }
        };
        let upper = name.bytes().all(|byte| byte.is_ascii_uppercase());
        if !upper && !self.dialect.sections_in_any_case() {
            self.differs(span, "ignores this section: its name must be in capitals");
        }
        if kind == SectionKind::Default
            && let Some(first) = self.document.sections.iter().position(|s| s.kind == kind)
        {
            return self.second_default(span, first);
        }
        self.into = Target::Section(self.document.sections.len());
        self.document.sections.push(Section {
            kind,
            header: span,
            entries: Vec::new(),
        });
    }

    fn second_default(&mut self, span: Span, first: usize) {
        let dialect = self.dialect;
        if dialect.adds_up_defaults() {
            self.into = Target::Section(first);
            return;
        }
        self.into = Target::Skipped;
        if dialect.passes_over_sections() {
            self.report(span, SettingsFault::PassedOver { dialect });
        } else {
            let first = self.document.sections[first].header;
            self.report(span, SettingsFault::Repeated { first });
        }
    }

    fn entry(&mut self, line: Span, end: usize) {
        let dialect = self.dialect;
        let entry = match entry(&self.source.text, line) {
            Ok(entry) => entry,
            Err(SettingsFault::NoEquals) if dialect.passes_over_sections() => {
                return self.report(line, SettingsFault::PassedOver { dialect });
            }
            Err(SettingsFault::NoEquals) if dialect == Dialect::QuickFixJ => {
                let note = "reads this line as part of the next key, and does not find that key";
                return self.differs(line, note);
            }
            Err(fault) => return self.report(line, fault),
        };
        self.blanks(line, end, &entry);
        match self.into {
            Target::Section(index) => self.document.sections[index].entries.push(entry),
            Target::Nothing => {
                self.into = Target::NothingAndSaid;
                self.hide(&entry);
                if dialect.passes_over_the_beginning() {
                    self.report(line, SettingsFault::PassedOver { dialect });
                } else {
                    self.report(entry.key, SettingsFault::BeforeFirstSection);
                }
            }
            Target::NothingAndSaid | Target::Skipped => self.hide(&entry),
        }
    }

    /// Reports blanks that fixwire removes, but that the engine of the file treats as part of a key or value.
    fn blanks(&mut self, line: Span, end: usize, entry: &IniEntry) {
        let text = self.source.text.as_bytes();
        let before_equals = text.get(entry.key.end) != Some(&b'=');
        let first = line.start == 0 || matches!(text.get(line.start - 1), Some(b'\n'));
        let rest = self.source.text.get(entry.value.end..end).unwrap_or("");
        let behind = !rest.trim_end_matches(['\r', '\n']).is_empty();
        let before_value = self
            .source
            .text
            .get(entry.key.end..entry.value.start)
            .and_then(|between| between.split_once('='))
            .is_some_and(|(_, blanks)| !blanks.is_empty());
        match self.dialect {
            Dialect::QuickFixJ if before_equals => self.differs(
                entry.key,
                "reads the blank before `=` as part of the key, and does not find the key",
            ),
            Dialect::QuickFixGo if before_equals || !first => self.differs(
                entry.key,
                "reads the blanks around a key as part of it, and does not find the key",
            ),
            Dialect::QuickFixGo if !entry.text.is_empty() && (behind || before_value) => {
                self.differs(entry.value, "reads the blanks around a value as part of it")
            }
            _ => {}
        }
    }

    fn differs(&mut self, span: Span, note: &str) {
        let dialect = self.dialect;
        let note = note.to_owned();
        self.report(span, SettingsFault::Differs { dialect, note });
    }

    fn report(&mut self, span: Span, fault: SettingsFault) {
        self.problems.push(Problem { span, fault });
    }
}

fn entry(text: &str, line: Span) -> Result<IniEntry, SettingsFault> {
    let equals = text[line.start..line.end]
        .find('=')
        .ok_or(SettingsFault::NoEquals)?
        + line.start;
    let key = trimmed(text, line.start, equals);
    if key.start == key.end {
        return Err(SettingsFault::EmptyKey);
    }
    let value = trimmed(text, equals + 1, line.end);
    let slice = |span: Span| text.get(span.start..span.end).unwrap_or("").to_owned();
    Ok(IniEntry {
        key,
        value,
        name: slice(key),
        text: slice(value),
        list: false,
        application: false,
    })
}

/// The span without the spaces and the byte order mark at its ends.
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
        read_as(Dialect::Fixwire, text)
    }

    fn read_as(dialect: Dialect, text: &str) -> (Source, Vec<Section>, Vec<Problem>) {
        let source = Source {
            path: "x.cfg".into(),
            text: text.into(),
        };
        let mut problems = Vec::new();
        let document = parse(&source, dialect, &mut problems);
        (source, document.sections, problems)
    }

    #[test]
    fn keys_and_values_are_trimmed_and_keep_their_place() {
        let (source, sections, problems) =
            read("\u{feff}# hello\r\n[default]\r\n  A = b c \r\n\n[ SESSION ]\nD=\nE==x#y\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(sections.len(), 2);
        let first = &sections[0].entries[0];
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
        let found: Vec<(usize, &SettingsFault)> = problems
            .iter()
            .map(|problem| (source.line(problem.span), &problem.fault))
            .collect();
        assert!(
            matches!(
                found[..],
                [
                    (1, SettingsFault::BeforeFirstSection),
                    (4, SettingsFault::NoEquals),
                    (5, SettingsFault::EmptyKey),
                    (6, SettingsFault::SectionName),
                    (8, SettingsFault::Repeated { .. }),
                    (9, SettingsFault::SectionName),
                ]
            ),
            "{found:?}"
        );
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[1].entries.len(), 1);
    }
}
