//! Loads rules from a file, or reports all errors in it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::compile::{Compiler, Here};
use super::compile_action::Step;
use super::compile_event::On;
use super::compile_script::Scripts;
use super::condition::{Candidate, Test};
use super::file::{Errors, File, RuleEntry, SourceText, TableEntry, read};
use super::names::Names;
use super::parse_action::ActionKind;
use super::problem::{Fault, RuleError, RuleProblem, nearest};
use super::reach::{Taken, only_types, types};
use super::script_failure::OPERATIONS;
use super::table::Table;
use super::{Rule, RuleContext, Rules, STATUS_REQUEST, STATUS_RESPONSE, Source, parse};

/// A CSV table or a conversion table that a file of rules names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableFile {
    /// The name of the table in rules; or, for a conversion table, its two versions.
    pub name: String,
    /// The path of the table's file, as written.
    pub file: String,
    /// Line of the path, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
}

/// The tables that a file names. The texts of these tables belong in the [`RuleContext`].
///
/// # Errors
///
/// Only errors in the file's TOML structure; [`Rules::load`] reports all errors.
pub fn table_files(text: &str) -> Result<Vec<TableFile>, Vec<RuleError>> {
    let mut errors = Errors::new(text);
    let file = read(&mut errors);
    if !errors.is_empty() {
        return Err(errors.into_errors());
    }
    let tables = file.tables.into_iter().map(|table| {
        let (line, column) = errors.place(table.file.offset(0));
        TableFile {
            name: table.name.value,
            file: table.file.value,
            line,
            column,
        }
    });
    Ok(tables.collect())
}

impl Rules {
    /// Reads the rules in a TOML file of at most 4 MiB. Other tables of the file are skipped.
    ///
    /// # Errors
    ///
    /// Every error with its line, column and a hint, in the order of the file; at most 200 errors.
    pub fn load(text: &str, context: &RuleContext<'_>) -> Result<Self, Vec<RuleError>> {
        let mut errors = Errors::new(text);
        let file = read(&mut errors);
        let tables = tables(&file.tables, context, &mut errors);
        let mut names = Names::new(context);
        names.add_groups(&file.groups, &mut errors);
        let scripts = Scripts::read(&file, &mut errors);
        let mut compiler = Compiler::new(&names, &tables, &scripts, &mut errors);
        let mut rules: Vec<Compiled> = Vec::new();
        for (at, entry) in file.rules.iter().enumerate() {
            if compiler.errors.is_full() {
                break;
            }
            rules.push(compiler.rule(at, entry));
        }
        let mut reached = alloc::vec![false; context.sessions.len()];
        for rule in &rules {
            let each = reached.iter_mut().zip(&rule.sessions);
            each.for_each(|(reached, meant)| *reached |= meant);
        }
        compiler.on = true;
        let events = file.events.iter().enumerate();
        let events: Vec<On> = events
            .filter_map(|(at, entry)| compiler.on(at, entry, &reached))
            .collect();
        compiler.nothing_to_recall();
        let (counters, throttles) = (compiler.counters, compiler.throttles);
        duplicates(&file, &mut errors);
        unreachable(&file, &rules, context.sessions.len(), &mut errors);
        if !errors.is_empty() {
            return Err(errors.into_errors());
        }
        let sessions = sources(&rules, context);
        let all = rules.iter().map(|one| &one.rule);
        let recalls = all
            .chain(events.iter().map(|on| &on.rule))
            .any(Rule::recalls);
        let sorted = |text: fn(&super::NamedSession<'_>) -> Vec<u8>| {
            let all = context.sessions.iter().enumerate();
            let mut all: Vec<_> = all.map(|(at, session)| (text(session), at)).collect();
            all.retain(|(text, _)| !text.is_empty());
            all.sort_unstable();
            all
        };
        Ok(Self {
            every: file.every_rule,
            rules: rules.into_iter().map(|rule| rule.rule).collect(),
            events,
            tables: tables.into_iter().map(|(_, table)| table).collect(),
            sessions,
            by_name: sorted(|session| session.name.into()),
            by_peer: sorted(|session| session.peer.into()),
            counters,
            throttles,
            recalls,
            operations: (!file.scripts.is_empty()).then(|| file.operations.unwrap_or(OPERATIONS)),
        })
    }
}

/// A compiled rule, and which messages it handles.
struct Compiled {
    rule: Rule,
    sessions: Vec<bool>,
    /// The message types that the rule matches, sorted; `None` for any.
    types: Option<Vec<Vec<u8>>>,
    /// Whether the rule decides every message of these sessions and types.
    decides: bool,
    /// Whether the rule stops every message of these sessions and types.
    stops: bool,
}

fn tables(
    wanted: &[TableEntry],
    context: &RuleContext<'_>,
    errors: &mut Errors<'_>,
) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for entry in wanted {
        let name = &entry.name.value;
        let found = context.tables.iter().find(|(known, _)| known == name);
        let Some((_, text)) = found else {
            let hint = nearest(name, context.tables.iter().map(|(known, _)| *known));
            let problem = RuleProblem::UnknownTable(name.clone());
            errors.add(entry.name.offset(0), problem, hint);
            continue;
        };
        // A table with an error is left out after the error was recorded.
        let table = Table::parse(text).map_err(|error| {
            let (line, what) = (error.line, error.what);
            let hint = Some(entry.file.value.clone());
            errors.add(
                entry.file.offset(0),
                RuleProblem::Table { line, what },
                hint,
            );
        });
        if let Ok(table) = table {
            tables.push((name.clone(), table));
        }
    }
    tables
}

impl Compiler<'_, '_, '_> {
    fn rule(&mut self, at: usize, entry: &RuleEntry) -> Compiled {
        let sessions = self.sessions(&entry.from);
        let condition = self.when(entry.when.as_ref(), &sessions);
        let (actions, steps) = self.actions(&entry.actions, &sessions, |_| None);
        let sure = match &condition {
            Some(test) => only_types(test),
            None => entry.when.is_none(),
        };
        let types = condition.as_ref().and_then(types);
        let status = actions
            .iter()
            .find(|(_, one)| *one == ActionKind::AnswerStatus);
        if let Some((text, _)) = status {
            // A condition with errors is not checked here: it may be the one that selects the status request.
            let asks = condition.is_none() && entry.when.is_some();
            let asks = asks || types.as_deref() == Some(&[STATUS_REQUEST.to_vec()]);
            self.status(text.offset(0), &sessions, asks);
        }
        let unnamed = format!("rule {}", at + 1);
        Compiled {
            sessions,
            types,
            decides: sure && actions.iter().any(|(_, action)| action.decides()),
            stops: sure
                && actions
                    .iter()
                    .any(|(_, action)| *action == ActionKind::Stop),
            rule: self.made(
                entry.name.as_ref(),
                unnamed,
                entry.start,
                (condition, steps),
            ),
        }
    }

    /// Records an error about a rule with `answer status` in two cases. The rule matches messages that do not request
    /// the status of sessions. Or the rule handles a session whose FIX version lacks the response.
    fn status(&mut self, at: usize, sessions: &[bool], asks: bool) {
        if !asks {
            let hint = "write when = 'MsgType = BC' (NetworkCounterpartySystemStatusRequest)";
            self.errors
                .add(at, RuleProblem::NoQuestion, Some(hint.into()));
        }
        let messages = [STATUS_REQUEST, STATUS_RESPONSE];
        if let Some(name) = self.names.without(sessions, messages) {
            let hint = "FIX 4.4 and later have the request: remove this session from 'from'";
            self.errors
                .add(at, RuleProblem::CannotAsk(name.into()), Some(hint.into()));
        }
    }

    /// The condition of a rule or event; `None` if it is absent or has errors.
    pub fn when(&mut self, when: Option<&SourceText>, sessions: &[bool]) -> Option<Test> {
        let when = when?;
        let condition = self.parsed(when, parse::condition)?;
        self.begin(when, sessions);
        self.and(&condition)
    }

    /// The rule or event at a position in the file, with its given or default name.
    pub fn made(
        &self,
        name: Option<&SourceText>,
        unnamed: String,
        start: usize,
        (test, steps): (Option<Test>, Vec<Step>),
    ) -> Rule {
        Rule {
            name: name.map_or(unnamed, |name| name.value.clone()),
            line: self.errors.line(start),
            last: last(&steps),
            test,
            steps,
        }
    }

    /// The sessions selected by names, patterns and groups.
    pub fn sessions(&mut self, names: &[SourceText]) -> Vec<bool> {
        let mut sessions = alloc::vec![false; self.names.sessions()];
        for name in names {
            if let Err((problem, hint)) = self.names.select(&name.value, &mut sessions) {
                self.errors.add(name.offset(0), problem, hint);
            }
        }
        sessions
    }

    /// Reads actions: returns the kinds and the steps of the valid ones. Records errors in their names and in their
    /// order. `refused` says why an action is not available.
    pub fn actions<'x>(
        &mut self,
        texts: &'x [SourceText],
        sessions: &[bool],
        refused: impl Fn(ActionKind) -> Option<&'static str>,
    ) -> (Vec<(&'x SourceText, ActionKind)>, Vec<Step>) {
        let (mut actions, mut steps) = (Vec::new(), Vec::new());
        let first = self.errors.len();
        for text in texts {
            let mark = self.errors.len();
            self.begin(text, sessions);
            let action = self.action();
            let wrong = match &action {
                Ok((kind, _)) => {
                    refused(*kind).map(|why| Fault::new(0, RuleProblem::NotForEvent(why)))
                }
                Err(fault) => Some(fault.clone()),
            };
            if let Some(fault) = wrong {
                self.errors.cut(mark);
                let at = text.offset(fault.at);
                self.errors.add(at, fault.problem, fault.hint);
            }
            if let Ok((kind, step)) = action {
                actions.push((text, kind));
                steps.extend(step);
            }
        }
        let last = self.errors.len();
        // The order of actions is checked only when all are valid, because an invalid action may be the one that
        // sends the fields.
        if actions.len() == texts.len() {
            self.order(&actions);
        }
        self.errors.put_before(last, first);
        (actions, steps)
    }

    /// Begins to compile a text of a rule for these sessions.
    pub fn begin(&mut self, text: &SourceText, sessions: &[bool]) {
        self.here = Here {
            text: text.clone(),
            scope: self.names.scope(sessions),
            sessions: sessions.into(),
        };
    }

    pub fn parsed<T>(
        &mut self,
        text: &SourceText,
        parse: fn(&str) -> Result<T, Fault>,
    ) -> Option<T> {
        match parse(&text.value) {
            Ok(tree) => Some(tree),
            Err(fault) => {
                let at = text.offset(fault.at);
                self.errors.add(at, fault.problem, fault.hint);
                None
            }
        }
    }

    /// Records recalled fields that no rule remembers.
    fn nothing_to_recall(&mut self) {
        // Checked only when there are no errors, because an invalid rule may be the one that remembers the fields.
        if !self.errors.is_empty() {
            return;
        }
        for (at, field, tag) in core::mem::take(&mut self.recalled) {
            if !self.remembered.contains(&tag) {
                let hint = format!("add 'remember {field}' to a rule for the orders");
                let problem = RuleProblem::NeverRemembered(field);
                self.errors.add(at, problem, Some(hint));
            }
        }
    }

    /// Records actions that have no effect in their position.
    fn order(&mut self, actions: &[(&SourceText, ActionKind)]) {
        let stop = actions.iter().position(|(_, one)| *one == ActionKind::Stop);
        if let Some(stop) = stop
            && let Some((text, _)) = actions.get(stop + 1)
        {
            self.errors
                .add(text.offset(0), RuleProblem::AfterStop, None);
        }
        let last = actions.iter().rposition(|(_, one)| one.uses_fields());
        let behind = &actions[last.map_or(0, |last| last + 1)..];
        for (text, action) in behind {
            if let ActionKind::Change | ActionKind::Convert = action {
                self.errors.add(text.offset(0), RuleProblem::Lost, None);
            }
        }
    }
}

/// Index of the last step that emits the fields; `None` if later steps still need them.
fn last(steps: &[Step]) -> Option<usize> {
    let keeps = |step: &Step| matches!(step, Step::Remember(..) | Step::Forget(_));
    let last = steps.iter().rposition(Step::hands_out)?;
    (!steps[last..].iter().any(keeps)).then_some(last)
}

/// Records duplicate names of rules.
fn duplicates(file: &File, errors: &mut Errors<'_>) {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let rules = file.rules.iter().map(|rule| rule.name.as_ref());
    let events = file.events.iter().map(|event| event.name.as_ref());
    for name in rules.chain(events).flatten() {
        match known.get(name.value.as_str()) {
            Some(&first) => {
                let line = errors.line(first);
                let at = name.offset(0);
                let name = name.value.clone();
                errors.add(at, RuleProblem::Duplicate { name, line }, None);
            }
            None => {
                known.insert(&name.value, name.offset(0));
            }
        }
    }
}

/// Records unreachable rules.
fn unreachable(file: &File, rules: &[Compiled], sessions: usize, errors: &mut Errors<'_>) {
    let mut taken = Taken::new(sessions);
    for (at, (compiled, entry)) in rules.iter().zip(&file.rules).enumerate() {
        let types = compiled.types.as_deref();
        if let Some(by) = taken.by(&compiled.sessions, types) {
            let (by, line) = (rules[by].rule.name.clone(), rules[by].rule.line);
            errors.add(entry.start, RuleProblem::Unreachable { by, line }, None);
        }
        let takes = match file.every_rule {
            true => compiled.stops,
            false => compiled.decides,
        };
        if takes {
            taken.take(at, &compiled.sessions, types);
        }
    }
}

/// The rules of each session, sorted by message type.
fn sources(rules: &[Compiled], context: &RuleContext<'_>) -> Vec<Source> {
    let sources = context.sessions.iter().enumerate().map(|(at, session)| {
        let mut any = Vec::new();
        let mut typed: BTreeMap<Vec<u8>, Vec<Candidate>> = BTreeMap::new();
        for (number, compiled) in (0..).zip(rules) {
            if !compiled.sessions[at] {
                continue;
            }
            let test = compiled.rule.test.as_ref();
            let candidate = |msg_type| Candidate::new(number, test, at, msg_type);
            match &compiled.types {
                None => any.push(candidate(None)),
                Some(types) => {
                    for one in types {
                        let rules = typed.entry(one.clone()).or_default();
                        rules.push(candidate(Some(one)));
                    }
                }
            }
        }
        Source {
            name: session.name.into(),
            dictionary: session.dictionary.clone(),
            any,
            typed: typed.into_iter().collect(),
        }
    });
    sources.collect()
}
