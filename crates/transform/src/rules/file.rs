//! The TOML tables of rules, each text with its position.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_text::{Diagnostic, Span, TomlFile, TomlTable, TomlValue};

use super::problem::{RuleError, RuleProblem};

/// Maximum length of a file, in bytes.
pub const MAX_BYTES: usize = 4 << 20;
/// Maximum length of a script, in bytes. Limited because reading the names of a script takes quadratic time.
const MAX_SCRIPT: usize = 64 << 10;
/// Maximum number of rules in a file.
pub const MAX_RULES: usize = 10_000;
/// Maximum number of actions of a rule, and of names in `from`.
pub const MAX_LIST: usize = 256;
/// Maximum number of errors that are reported.
pub const MAX_ERRORS: usize = 200;

/// A text of the file.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    /// The text without quotes and escapes.
    pub value: String,
    /// Byte offset of the text in the file, including its opening quote.
    start: usize,
    /// Byte offset of the text's first byte in the file; `None` for a text with escapes.
    exact: Option<usize>,
}

impl SourceText {
    /// A text that is not part of a file.
    pub fn whole(text: &str) -> Self {
        Self {
            value: text.into(),
            start: 0,
            exact: Some(0),
        }
    }

    /// Byte offset in the file for a byte of the text. For a text with escapes, the offset of the text.
    pub fn offset(&self, at: usize) -> usize {
        self.exact.map_or(self.start, |first| first + at)
    }
}

/// `[group]`: a name that stands for several sessions.
#[derive(Clone, Debug)]
pub struct SessionGroup {
    pub name: SourceText,
    pub members: Vec<SourceText>,
}

/// `[table.venues]`
#[derive(Clone, Debug)]
pub struct TableEntry {
    pub name: SourceText,
    pub file: SourceText,
}

/// `large = "..."` in the table `[script]`: the name and the text of a script.
pub type ScriptEntry = (SourceText, SourceText);

/// `[[rule]]`
#[derive(Clone, Debug, Default)]
pub struct RuleEntry {
    /// Byte offset where the table begins in the file.
    pub start: usize,
    pub name: Option<SourceText>,
    pub from: Vec<SourceText>,
    pub when: Option<SourceText>,
    pub actions: Vec<SourceText>,
}

/// `[[on]]`
#[derive(Clone, Debug, Default)]
pub struct EventEntry {
    /// Byte offset where the table begins in the file.
    pub start: usize,
    pub event: Option<SourceText>,
    pub name: Option<SourceText>,
    pub sessions: Vec<SourceText>,
    pub when: Option<SourceText>,
    pub actions: Vec<SourceText>,
}

/// The tables of a file that belong to rules.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// `match = "all"`
    pub every_rule: bool,
    /// `script_operations`
    pub operations: Option<u64>,
    pub scripts: Vec<ScriptEntry>,
    pub groups: Vec<SessionGroup>,
    pub tables: Vec<TableEntry>,
    pub rules: Vec<RuleEntry>,
    pub events: Vec<EventEntry>,
}

/// Collects errors by their byte offset.
#[derive(Debug)]
pub struct Errors<'t> {
    text: &'t str,
    /// Byte offset of each line.
    lines: Vec<usize>,
    found: Vec<(usize, RuleProblem, Option<String>)>,
}

impl<'t> Errors<'t> {
    /// An empty collection of errors of this text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            lines: core::iter::once(0).chain(ends).collect(),
            found: Vec::new(),
        }
    }

    /// Adds an error at a byte offset, with a hint on how to correct it.
    pub fn add(&mut self, at: usize, problem: RuleProblem, hint: Option<String>) {
        // A script that several rules run has its errors recorded once.
        let found = (at, problem, hint);
        if !self.is_full() && !self.found.contains(&found) {
            self.found.push(found);
        }
    }

    /// Adds a mistake in a table.
    pub fn mistake(&mut self, mistake: Diagnostic) {
        let hint = Some(mistake.hint).filter(|hint| !hint.is_empty());
        self.add(mistake.at, RuleProblem::Option(mistake.what), hint);
    }

    /// The number of errors.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Keeps only the first `len` errors.
    pub(super) fn cut(&mut self, len: usize) {
        self.found.truncate(len);
    }

    /// Moves the errors with index `len` and above before those with index `first` and above.
    pub(super) fn put_before(&mut self, len: usize, first: usize) {
        self.found[first..].rotate_left(len - first);
    }

    /// Whether the maximum number of errors is reached.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.found.len() >= MAX_ERRORS
    }

    /// Whether there is no error.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The line of a byte, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// The line of a byte and its character in that line, both from 1.
    #[must_use]
    pub fn place(&self, at: usize) -> (usize, usize) {
        let line = self.line(at);
        let before = self.text.get(self.lines[line - 1]..at);
        (line, before.unwrap_or_default().chars().count() + 1)
    }

    /// All errors in the order of the file.
    #[must_use]
    pub fn into_errors(mut self) -> Vec<RuleError> {
        self.found.sort_by_key(|(at, ..)| *at);
        let found = core::mem::take(&mut self.found);
        let errors = found.into_iter().map(|(at, problem, hint)| {
            let (line, column) = self.place(at);
            RuleError {
                line,
                column,
                problem,
                hint,
            }
        });
        errors.collect()
    }
}

/// Reads the tables of rules; skips other top-level tables.
pub(super) fn read(errors: &mut Errors<'_>) -> File {
    let text = errors.text;
    if text.len() > MAX_BYTES {
        let (what, limit) = ("bytes", MAX_BYTES);
        errors.add(0, RuleProblem::TooMany { what, limit }, None);
        return File::default();
    }
    let file = match TomlFile::parse(text) {
        Ok(file) => file,
        Err(mistake) => {
            errors.add(mistake.at, RuleProblem::Toml(mistake.what), None);
            return File::default();
        }
    };
    let mut reader = Reader {
        text,
        errors,
        file: File::default(),
    };
    for value in file.root().entries() {
        match value.key {
            "gateway" => reader.gateway(value),
            "group" => reader.groups(value),
            "script" => reader.scripts(value),
            "table" => reader.tables(value),
            "rule" => reader.rules(value),
            "on" => reader.events(value),
            _ => {}
        }
    }
    reader.file
}

struct Reader<'r, 't> {
    text: &'t str,
    errors: &'r mut Errors<'t>,
    file: File,
}

impl Reader<'_, '_> {
    fn wrong<T>(&mut self, at: usize, wanted: &'static str) -> Option<T> {
        self.errors.add(at, RuleProblem::WrongType { wanted }, None);
        None
    }

    fn table<'d>(&mut self, value: TomlValue<'d>, wanted: &'static str) -> Option<TomlTable<'d>> {
        value.table().ok().or_else(|| self.wrong(value.at, wanted))
    }

    fn string(&mut self, value: TomlValue<'_>) -> Option<SourceText> {
        match value.string() {
            Some(string) => Some(self.place(string, value.span())),
            None => self.wrong(value.at, "a text"),
        }
    }

    fn strings(&mut self, value: TomlValue<'_>) -> Vec<SourceText> {
        let Some(items) = value.items() else {
            let _: Option<()> = self.wrong(value.at, "a list of texts");
            return Vec::new();
        };
        if items.len() > MAX_LIST {
            let (what, limit) = ("texts in a list", MAX_LIST);
            let problem = RuleProblem::TooMany { what, limit };
            self.errors.add(value.at, problem, None);
        }
        let texts = items.take(MAX_LIST);
        texts.filter_map(|item| self.string(item)).collect()
    }

    /// The text with its position. The position is exact if the text has no escapes.
    fn place(&self, value: &str, span: Span) -> SourceText {
        let raw = self.text.get(span.start..span.end).unwrap_or_default();
        let quotes = ["'''", "\"\"\"", "'", "\"", ""];
        let quote = quotes
            .into_iter()
            .find(|quote| raw.starts_with(quote))
            .unwrap_or_default();
        let mut first = span.start + quote.len();
        if quote.len() == 3 {
            let rest = &self.text[first..span.end];
            first += rest.len() - rest.trim_start_matches('\r').len();
            first += usize::from(self.text[first..span.end].starts_with('\n'));
        }
        let exact = self
            .text
            .get(first..)
            .is_some_and(|rest| rest.starts_with(value));
        SourceText {
            value: value.into(),
            start: span.start,
            exact: exact.then_some(first),
        }
    }

    fn gateway(&mut self, value: TomlValue<'_>) {
        let Some(table) = self.table(value, "the table [gateway]") else {
            return;
        };
        // Other readers in the gateway read further keys of this table.
        match table.get("match").map(|value| (value.string(), value.at)) {
            None | Some((Some("first"), _)) => {}
            Some((Some("all"), _)) => self.file.every_rule = true,
            Some((_, at)) => {
                let _: Option<()> = self.wrong(at, "\"first\" or \"all\"");
            }
        }
        if let Some(value) = table.get("script_operations") {
            let number = value.whole().filter(|it| (100..=1_000_000).contains(it));
            let wanted = "a number from 100 to 1000000";
            self.file.operations = number.or_else(|| self.wrong(value.at, wanted));
        }
    }

    fn scripts(&mut self, value: TomlValue<'_>) {
        let Some(table) = self.table(value, "the table [script]") else {
            return;
        };
        for value in table.entries() {
            let name = self.place(value.key, value.key_span);
            if let Some(text) = self.string(value) {
                if text.value.len() > MAX_SCRIPT {
                    let (what, limit) = ("bytes of a script", MAX_SCRIPT);
                    self.errors
                        .add(text.start, RuleProblem::TooMany { what, limit }, None);
                } else {
                    self.file.scripts.push((name, text));
                }
            }
        }
    }

    fn groups(&mut self, value: TomlValue<'_>) {
        let Some(table) = self.table(value, "the table [group]") else {
            return;
        };
        for value in table.entries() {
            let name = self.place(value.key, value.key_span);
            let members = self.strings(value);
            self.file.groups.push(SessionGroup { name, members });
        }
    }

    fn tables(&mut self, value: TomlValue<'_>) {
        let Some(tables) = self.table(value, "tables such as [table.venues]") else {
            return;
        };
        for value in tables.entries() {
            let wanted = "a table such as [table.venues]";
            let Some(table) = self.table(value, wanted) else {
                continue;
            };
            self.entry(value.at, table, &["file"], &[]);
            if !table.has("file") {
                let problem = RuleProblem::MissingKey("file");
                self.errors.add(value.key_span.start, problem, None);
            }
            if let Some(file) = self.optional(table, "file") {
                let name = self.place(value.key, value.key_span);
                self.file.tables.push(TableEntry { name, file });
            }
        }
    }

    fn rules(&mut self, value: TomlValue<'_>) {
        let needed = ["from", "do"];
        let wanted = [
            "tables of the form [[rule]]",
            "a table of the form [[rule]]",
        ];
        self.list(
            value,
            wanted,
            &["name", "from", "when", "do"],
            &needed,
            |reader, table| {
                let entry = RuleEntry {
                    start: table.at,
                    name: reader.optional(table, "name"),
                    from: reader.listed(table, "from"),
                    when: reader.optional(table, "when"),
                    actions: reader.listed(table, "do"),
                };
                reader.file.rules.push(entry);
            },
        );
    }

    fn events(&mut self, value: TomlValue<'_>) {
        let needed = ["event", "session", "do"];
        let wanted = ["tables of the form [[on]]", "a table of the form [[on]]"];
        let keys = ["event", "name", "session", "when", "do"];
        self.list(value, wanted, &keys, &needed, |reader, table| {
            let entry = EventEntry {
                start: table.at,
                event: reader.optional(table, "event"),
                name: reader.optional(table, "name"),
                sessions: reader.listed(table, "session"),
                when: reader.optional(table, "when"),
                actions: reader.listed(table, "do"),
            };
            reader.file.events.push(entry);
        });
    }

    /// Reads a list of tables, up to the maximum number of rules.
    fn list(
        &mut self,
        value: TomlValue<'_>,
        [wanted, wanted_item]: [&'static str; 2],
        keys: &[&'static str],
        needed: &[&'static str],
        read: impl Fn(&mut Self, TomlTable<'_>),
    ) {
        let Some(items) = value.items() else {
            let _: Option<()> = self.wrong(value.at, wanted);
            return;
        };
        for (count, item) in items.enumerate() {
            if count == MAX_RULES {
                let (what, limit) = ("rules", MAX_RULES);
                let problem = RuleProblem::TooMany { what, limit };
                return self.errors.add(item.at, problem, None);
            }
            if let Some(table) = self.table(item, wanted_item) {
                self.entry(table.at, table, keys, needed);
                read(self, table);
            }
        }
    }

    fn optional(&mut self, table: TomlTable<'_>, key: &str) -> Option<SourceText> {
        table.get(key).and_then(|value| self.string(value))
    }

    fn listed(&mut self, table: TomlTable<'_>, key: &str) -> Vec<SourceText> {
        let texts = table.get(key).map(|value| self.strings(value));
        texts.unwrap_or_default()
    }

    /// Records unknown keys, missing keys and empty lists.
    fn entry(
        &mut self,
        start: usize,
        table: TomlTable<'_>,
        keys: &[&'static str],
        needed: &[&'static str],
    ) {
        for mistake in table.unknown(keys.iter().copied()) {
            self.errors.mistake(mistake);
        }
        for &key in needed {
            let problem = |missing| match key {
                "do" => RuleProblem::NoAction,
                _ if missing => RuleProblem::MissingKey(key),
                _ => RuleProblem::EmptyList,
            };
            match table.get(key) {
                None => self.errors.add(start, problem(true), None),
                Some(value) if value.items().is_some_and(|list| list.len() == 0) => {
                    self.errors.add(value.at, problem(false), None);
                }
                Some(_) => {}
            }
        }
    }
}
