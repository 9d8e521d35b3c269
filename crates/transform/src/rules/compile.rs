//! Compiles conditions: from syntax trees to tests, with all names resolved.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;

use super::compile_script::Scripts;
use super::condition::Test;
use super::fields::FieldRef;
use super::file::{Errors, SourceText};
use super::names::{Literal, Names, Scope, Wrong};
use super::problem::{RuleProblem, nearest};
use super::reach::Narrow;
use super::syntax::{Condition, NameToken, Op, PatternMatch, RuleValue};
use super::table::Table;
use crate::value_test::{Pattern, ValueTest};

/// Maximum size of the table of one regular expression, in bytes.
pub const MAX_PATTERN: usize = 256 << 10;
/// Maximum size of the tables of all rules, in bytes.
pub const MAX_PATTERNS: usize = 64 << 20;

/// Compiles the conditions and actions of one rule after another, and resolves the names in them.
pub(super) struct Compiler<'c, 'e, 't> {
    pub names: &'c Names<'c>,
    pub tables: &'c [(String, Table)],
    pub scripts: &'c Scripts,
    pub errors: &'e mut Errors<'t>,
    /// The text that is being compiled.
    pub here: Here<'c>,
    /// Whether an `[[on]]` entry is being compiled, not a rule.
    pub on: bool,
    /// Bytes that regular expressions may still take.
    pub patterns_left: usize,
    /// The names of counters, in the order of their first occurrence.
    pub counters: Vec<String>,
    /// Number of throttles so far.
    pub throttles: usize,
    /// The fields that a rule remembers.
    pub remembered: Vec<Tag>,
    /// The fields that a rule recalls: position in the file, name as written, and tag.
    pub recalled: Vec<(usize, String, Tag)>,
}

/// A text of the file that is being compiled, with the scope in which its names are resolved.
#[derive(Default)]
pub(super) struct Here<'c> {
    pub text: SourceText,
    pub scope: Scope<'c>,
    /// The sessions of the rule.
    pub sessions: Vec<bool>,
}

impl<'c, 'e, 't> Compiler<'c, 'e, 't> {
    pub fn new(
        names: &'c Names<'c>,
        tables: &'c [(String, Table)],
        scripts: &'c Scripts,
        errors: &'e mut Errors<'t>,
    ) -> Self {
        Self {
            names,
            tables,
            scripts,
            errors,
            here: Here::default(),
            on: false,
            patterns_left: MAX_PATTERNS,
            counters: Vec::new(),
            throttles: 0,
            remembered: Vec::new(),
            recalled: Vec::new(),
        }
    }
}

impl Compiler<'_, '_, '_> {
    pub fn add(&mut self, at: usize, problem: RuleProblem, hint: Option<String>) {
        self.errors.add(self.here.text.offset(at), problem, hint);
    }

    /// The value of a result. An error is recorded, and `None` is returned.
    pub fn noted<T>(&mut self, at: usize, result: Result<T, Wrong>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err((problem, hint)) => {
                self.add(at, problem, hint);
                None
            }
        }
    }

    /// The compiled test of a condition. `None` if it has errors, which are recorded.
    pub fn test(&mut self, condition: &Condition) -> Option<Test> {
        match condition {
            Condition::And(_) => self.and(condition),
            Condition::Or(parts) => {
                let tests: Vec<_> = parts.iter().map(|part| self.and(part)).collect();
                tests.into_iter().collect::<Option<Vec<_>>>().map(Test::Or)
            }
            Condition::Not(inner) => self.test(inner).map(Box::new).map(Test::Not),
            Condition::Compare(field, op, value) => self.compare(field, *op, value),
            Condition::In(field, values) => self.one_of(field, values),
            Condition::InTable(field, table) => {
                let field = self.read(field);
                let (table, column) = self.column(table)?;
                Some(Test::Listed(field?, table, column))
            }
            Condition::Text(field, how, pattern) => self.text(field, *how, pattern),
            Condition::Length(field, op, length) => {
                self.value_test(field, ValueTest::Length(*op, *length))
            }
            Condition::Bits(field, bits) => self.value_test(field, ValueTest::Bits(*bits)),
            Condition::Today(field) => Some(Test::Today(self.read(field)?)),
            Condition::Time { op, time, .. } => Some(Test::Time(*op, *time)),
            Condition::Has(field) => self.value_test(field, ValueTest::Present),
            Condition::AnyEntry(count, inner) => {
                let (count, test) = self.entries(count, inner)?;
                Some(Test::AnyEntry(count, test))
            }
            Condition::AllEntries(count, inner) => {
                let (count, test) = self.entries(count, inner)?;
                Some(Test::AllEntries(count, test))
            }
            Condition::Active(session) => self.session(session).map(Test::Active),
            Condition::Source(names) => self.named(names).map(Test::Source),
            Condition::Target { at, named, names } => {
                if !self.on {
                    let hint = "use it in an [[on]] with event = \"undelivered\" or \"failed\"";
                    self.add(*at, RuleProblem::NoTarget, Some(hint.into()));
                    return None;
                }
                let mut meant = self.named(names)?;
                meant.iter_mut().for_each(|one| *one = *one == *named);
                Some(Test::Target(meant))
            }
            Condition::Message(pattern) => {
                let table = self.pattern(&pattern.text);
                let table = self.noted(pattern.at, table)?;
                Some(Test::Message(Box::new(table)))
            }
            Condition::Script(name) => {
                let script = self.script(name, false)?;
                Some(Test::Script(Box::new(script)))
            }
        }
    }

    /// Compiles a rule's condition, or a branch of a condition: all its parts must be true. Checks that the parts do
    /// not contradict each other.
    pub fn and(&mut self, condition: &Condition) -> Option<Test> {
        let mut parts = Vec::new();
        flatten(condition, &mut parts);
        let mut narrow = Narrow::new(&self.here.sessions);
        let mut tests = Vec::new();
        for part in &parts {
            let Some(test) = self.test(part) else {
                continue;
            };
            if let Err(conflict) = narrow.by(&test) {
                let why = match conflict {
                    Some(tag) => {
                        let name = self.names.name_of(&self.here.scope, tag);
                        format!("it contradicts another condition on {name}")
                    }
                    None => "the message comes from another session".to_string(),
                };
                self.add(start_of(part), RuleProblem::Never { why }, None);
            }
            tests.push(test);
        }
        if tests.len() < parts.len() {
            return None;
        }
        match tests.len() {
            1 => tests.pop(),
            _ => Some(Test::And(tests)),
        }
    }

    pub fn read(&mut self, field: &NameToken) -> Option<FieldRef> {
        let found = self.names.field(&self.here.scope, &field.text);
        self.noted(field.at, found)
    }

    fn value_test(&mut self, field: &NameToken, test: ValueTest) -> Option<Test> {
        Some(Test::Value(self.read(field)?, test))
    }

    /// Compiles a condition on the entries of a group.
    pub fn entries(
        &mut self,
        count: &NameToken,
        inner: &Condition,
    ) -> Option<(FieldRef, Box<Test>)> {
        let found = self.names.group(&self.here.scope, &count.text);
        let (count, defs) = self.noted(count.at, found)?;
        self.here.scope.groups.push(defs);
        let test = self.and(inner);
        self.here.scope.groups.pop();
        Some((count, Box::new(test?)))
    }

    /// Resolves a table and one of its columns.
    pub fn column(&mut self, name: &NameToken) -> Option<(usize, usize)> {
        let found = self.find_column(&name.text);
        self.noted(name.at, found)
    }

    fn find_column(&self, text: &str) -> Result<(usize, usize), Wrong> {
        let Some((name, column)) = text.split_once('.') else {
            let hint = "write a point between table and column, as in venues.venue".to_string();
            return Err((RuleProblem::UnknownColumn(text.into()), Some(hint)));
        };
        let Some(at) = self.tables.iter().position(|(known, _)| known == name) else {
            let hint = nearest(name, self.tables.iter().map(|(known, _)| known.as_str()));
            return Err((RuleProblem::UnknownTable(name.into()), hint));
        };
        let table = &self.tables[at].1;
        match table.column(column) {
            Some(column) => Ok((at, column)),
            None => {
                let names = table.column_names().iter().map(String::as_str);
                Err((
                    RuleProblem::UnknownColumn(column.into()),
                    nearest(column, names),
                ))
            }
        }
    }

    fn literal(&mut self, tag: u32, value: &RuleValue, ordered: bool) -> Option<Literal> {
        let written = (value.name.text.as_str(), value.form);
        let found = self.names.literal(&self.here.scope, tag, written, ordered);
        self.noted(value.name.at, found)
    }

    fn compare(&mut self, field: &NameToken, op: Op, value: &RuleValue) -> Option<Test> {
        let field = self.read(field)?;
        let ordered = !matches!(op, Op::Equal | Op::NotEqual);
        let test = match self.literal(field.tag, value, ordered)? {
            Literal::Bytes(bytes) => ValueTest::Bytes(op, bytes),
            Literal::Number(number) => ValueTest::Number(op, number),
        };
        Some(Test::Value(field, test))
    }

    fn one_of(&mut self, field: &NameToken, values: &[RuleValue]) -> Option<Test> {
        let field = self.read(field)?;
        let (mut bytes, mut numbers) = (Vec::new(), Vec::new());
        let mut good = true;
        for value in values {
            match self.literal(field.tag, value, false) {
                Some(Literal::Bytes(value)) => bytes.push(value),
                Some(Literal::Number(value)) => numbers.push(value),
                None => good = false,
            }
        }
        if !good {
            return None;
        }
        bytes.sort_unstable();
        numbers.sort_unstable();
        let (no_bytes, no_numbers) = (bytes.is_empty(), numbers.is_empty());
        let (bytes, numbers) = (ValueTest::OneOf(bytes), ValueTest::OneNumber(numbers));
        Some(match (no_bytes, no_numbers) {
            (_, true) => Test::Value(field, bytes),
            (true, false) => Test::Value(field, numbers),
            // No dictionary has the field, so its value is compared both as a number and as text.
            (false, false) => Test::Or(alloc::vec![
                Test::Value(field.clone(), bytes),
                Test::Value(field, numbers),
            ]),
        })
    }

    fn text(&mut self, field: &NameToken, how: PatternMatch, pattern: &NameToken) -> Option<Test> {
        let field = self.read(field);
        if pattern.text.is_empty() {
            let found = "\"\"".to_string();
            let wanted = "a text that is not empty";
            self.add(pattern.at, RuleProblem::Unexpected { found, wanted }, None);
            return None;
        }
        let bytes = pattern.text.as_bytes().to_vec();
        let test = match how {
            PatternMatch::Like => ValueTest::Like(bytes),
            PatternMatch::Begins => ValueTest::Begins(bytes),
            PatternMatch::Contains => ValueTest::Contains(bytes),
            PatternMatch::Matches => {
                let table = self.pattern(&pattern.text);
                let table = self.noted(pattern.at, table)?;
                ValueTest::Matches(Box::new(table))
            }
        };
        Some(Test::Value(field?, test))
    }

    /// Compiles a regular expression on bytes.
    fn pattern(&mut self, text: &str) -> Result<Pattern, Wrong> {
        let limit = MAX_PATTERN.min(self.patterns_left);
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(limit))
            .determinize_size_limit(Some(4 * MAX_PATTERN));
        let bad = |why: String| (RuleProblem::BadPattern(why), None);
        let bytes = syntax::Config::new().unicode(false).utf8(false);
        let tree = syntax::parse_with(text, &bytes).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default().trim();
            bad(last.strip_prefix("error: ").unwrap_or(last).into())
        })?;
        let limits = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(MAX_PATTERN));
        let states = thompson::Compiler::new()
            .configure(limits)
            .build_from_hir(&tree)
            .map_err(|error| bad(error.to_string()))?;
        let table = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&states)
            .map_err(|error| bad(error.to_string()))?;
        self.patterns_left = self.patterns_left.saturating_sub(table.memory_usage());
        Ok(table)
    }

    /// The sessions that names, patterns and groups select.
    fn named(&mut self, names: &[NameToken]) -> Option<Vec<bool>> {
        let mut sessions = alloc::vec![false; self.here.sessions.len()];
        let mut good = true;
        for name in names {
            let found = self.names.select(&name.text, &mut sessions);
            good &= self.noted(name.at, found).is_some();
        }
        good.then_some(sessions)
    }
}

fn flatten<'p>(condition: &'p Condition, parts: &mut Vec<&'p Condition>) {
    match condition {
        Condition::And(inner) => inner.iter().for_each(|part| flatten(part, parts)),
        other => parts.push(other),
    }
}

/// Byte offset of the first name in a condition.
fn start_of(condition: &Condition) -> usize {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.first().map_or(0, start_of),
        Condition::Not(inner) => start_of(inner),
        Condition::Source(names) => names.first().map_or(0, |name| name.at),
        Condition::Target { at, .. } | Condition::Time { at, .. } => *at,
        Condition::Compare(name, ..)
        | Condition::In(name, _)
        | Condition::InTable(name, _)
        | Condition::Text(name, ..)
        | Condition::Length(name, ..)
        | Condition::Bits(name, _)
        | Condition::Today(name)
        | Condition::Has(name)
        | Condition::AnyEntry(name, _)
        | Condition::AllEntries(name, _)
        | Condition::Active(name)
        | Condition::Message(name)
        | Condition::Script(name) => name.at,
    }
}
