//! Compiles actions: from syntax trees to steps, with all names resolved.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use fixwire_protocol::{SECRETS, tag};

use super::change::Change;
use super::compile::{Compiler, Here};
use super::condition::Test;
use super::fields::FieldRef;
use super::names::Wrong;
use super::problem::RuleProblem;
use super::pseudonym::{self, Pseudonym};
use super::syntax::{Action, Form, NameToken, RejectKind, SendTarget};
use crate::verb::{Piece, Verb};

/// An action, with all names resolved.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Change(Change),
    /// ClOrdID and fields.
    Remember(FieldRef, Vec<FieldRef>),
    /// ClOrdID.
    Forget(FieldRef),
    Convert,
    Send(usize),
    /// Field, table, column.
    SendByTable(FieldRef, usize, usize),
    SendByCompId(FieldRef),
    CopyTo(usize),
    Return,
    Reject(RejectKind, Vec<Piece<FieldRef>>),
    AnswerStatus,
    Connect(usize),
    Disconnect(usize),
    Stop,
    Count(usize),
    Notify(Vec<Piece<FieldRef>>),
    Throttle {
        /// Index of the bucket in the scratch memory.
        bucket: usize,
        rate: u32,
        reject: bool,
    },
}

impl Step {
    /// Whether the step emits the fields.
    pub fn hands_out(&self) -> bool {
        matches!(
            self,
            Self::Send(_)
                | Self::SendByTable(..)
                | Self::SendByCompId(_)
                | Self::CopyTo(_)
                | Self::Return
        )
    }

    /// Whether the step writes remembered values.
    pub fn recalls(&self) -> bool {
        matches!(self, Self::Change(change) if change.recalls())
    }
}

/// The use of a named field.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Write {
    Set,
    /// The field is removed or moved.
    Remove,
    Move,
    /// The field is remembered, to be written later.
    Remember,
}

impl<'c> Compiler<'c, '_, '_> {
    /// The step of an action; `None` after its errors were recorded.
    pub fn step(&mut self, here: &mut Here<'_, 'c>, action: &Action) -> Option<Step> {
        if action.changes() {
            return self.change(here, action).map(Step::Change);
        }
        Some(match action {
            Action::Send(SendTarget::Session(name)) => Step::Send(self.session(here, name)?),
            Action::Send(SendTarget::Table(field, table)) => {
                let found = self.names.field(&here.scope, &field.text);
                let field = self.noted(here, field.at, found);
                let (at, column) = self.column(here, table)?;
                self.all_sessions(here, table, at, column);
                Step::SendByTable(field?, at, column)
            }
            Action::Send(SendTarget::DeliverToCompId(at)) => {
                let same = self.names.same_comp_id();
                self.noted(here, *at, same)?;
                let found = self.names.field(&here.scope, "128");
                Step::SendByCompId(self.noted(here, *at, found)?)
            }
            Action::CopyTo(name) => Step::CopyTo(self.session(here, name)?),
            Action::Reject(kind, text) => Step::Reject(*kind, self.template(here, text)?),
            Action::AnswerStatus => Step::AnswerStatus,
            Action::Connect(name) => Step::Connect(self.session(here, name)?),
            Action::Disconnect(name) => Step::Disconnect(self.session(here, name)?),
            Action::Count(name) => {
                let known = self.counters.iter().position(|one| *one == name.text);
                Step::Count(known.unwrap_or_else(|| {
                    self.counters.push(name.text.clone());
                    self.counters.len() - 1
                }))
            }
            Action::Notify(text) => Step::Notify(self.template(here, text)?),
            Action::Throttle { rate, reject } => {
                let bucket = self.throttles;
                self.throttles += 1;
                let (rate, reject) = (*rate, *reject);
                Step::Throttle {
                    bucket,
                    rate,
                    reject,
                }
            }
            Action::Remember(fields, at) => {
                let found = self.names.field(&here.scope, "11");
                let id = self.noted(here, *at, found);
                let fields = fields.iter().map(|field| self.kept(here, field));
                let fields: Vec<Option<FieldRef>> = fields.collect();
                Step::Remember(id?, fields.into_iter().collect::<Option<_>>()?)
            }
            Action::Forget(at) => {
                let found = self.names.field(&here.scope, "11");
                Step::Forget(self.noted(here, *at, found)?)
            }
            Action::Convert => Step::Convert,
            Action::Return => Step::Return,
            _ => Step::Stop,
        })
    }

    /// A field to be remembered.
    fn kept(&mut self, here: &Here<'_, 'c>, name: &NameToken) -> Option<FieldRef> {
        let found = self.may_write(here, name, Write::Remember);
        let found = found.and_then(|field| match SECRETS.contains(&field.tag) {
            true => {
                let (field, why) = (name.text.clone(), "it is a password");
                Err((RuleProblem::NotWritable { field, why }, None))
            }
            false => Ok(field),
        });
        let found = found.map_err(|(problem, hint)| match problem {
            RuleProblem::NotWritable { field, why } => (RuleProblem::NotKept { field, why }, hint),
            problem => (problem, hint),
        });
        let field = self.noted(here, name.at, found)?;
        self.remembered.push(field.tag);
        Some(field)
    }

    fn session(&mut self, here: &Here<'_, '_>, name: &NameToken) -> Option<usize> {
        let found = self.names.session(&name.text);
        self.noted(here, name.at, found)
    }

    /// Records the first row whose cell is not a session.
    fn all_sessions(&mut self, here: &Here<'_, '_>, name: &NameToken, table: usize, column: usize) {
        let table = &self.tables[table].1;
        for row in 0..table.rows() {
            let cell = core::str::from_utf8(table.cell(row, column)).unwrap_or_default();
            if !cell.is_empty()
                && let Err((problem, hint)) = self.names.session(cell)
            {
                return self.add(here, name.at, problem, hint);
            }
        }
    }

    fn change(&mut self, here: &mut Here<'_, 'c>, action: &Action) -> Option<Change> {
        match action {
            Action::Set(field, text) => self.set(here, field, text),
            Action::Copy { from, to, tried } => {
                let found = self.names.field(&here.scope, &from.text);
                let from = self.noted(here, from.at, found);
                let to = self.written(here, to, Write::Set);
                let value = alloc::vec![Piece::Field(from?)];
                Some(Change::Verb(Verb::Set(to?, value)).tried(*tried))
            }
            Action::Move { from, to, tried } => {
                let source = self.written(here, from, Write::Move);
                let target = self.written(here, to, Write::Set);
                let (source, target) = (source?, target?);
                if source.tag == target.tag {
                    let wanted = "another field";
                    let found = to.text.clone();
                    self.add(here, to.at, RuleProblem::Unexpected { found, wanted }, None);
                    return None;
                }
                Some(Change::Verb(Verb::Move(source, target)).tried(*tried))
            }
            Action::Remove(field) => {
                let field = self.written(here, field, Write::Remove)?;
                let partner = self.names.partner(&here.scope, field.tag);
                let fields = core::iter::once(field).chain(partner);
                let each = fields.map(|field| Change::Verb(Verb::Remove(field)));
                Some(Change::All(each.collect()))
            }
            Action::Map {
                from,
                table,
                to,
                otherwise,
                tried,
            } => self.map(here, [from, table, to], otherwise.as_ref(), *tried),
            Action::Format(field, format) => {
                let field = self.written(here, field, Write::Set)?;
                Some(Change::Format(field, *format))
            }
            Action::Pseudonym(name, key) => {
                let field = self.written(here, name, Write::Set)?;
                let sample = pseudonym::SAMPLE;
                let fits = self
                    .names
                    .value(&here.scope, field.tag, sample, Form::Quoted);
                if fits.is_err() {
                    let why = "it cannot have 64 hexadecimal digits";
                    let field = name.text.clone();
                    self.add(here, name.at, RuleProblem::NotWritable { field, why }, None);
                    return None;
                }
                let key = key.as_ref().map(|key| key.text.as_bytes());
                Some(Change::Pseudonym(field, Pseudonym::new(key)))
            }
            Action::Each(count, inner) => {
                let found = self.names.group(&here.scope, &count.text);
                let (count, defs) = self.noted(here, count.at, found)?;
                here.scope.groups.push(defs);
                let change = self.change(here, inner);
                here.scope.groups.pop();
                Some(Change::Each(count, Box::new(change?)))
            }
            Action::Drop(count, condition) => {
                let found = self.names.group(&here.scope, &count.text);
                let (count, defs) = self.noted(here, count.at, found)?;
                here.scope.groups.push(defs);
                let test: Option<Test> = self.and(here, condition);
                here.scope.groups.pop();
                Some(Change::Drop(count, test?))
            }
            Action::Script(name) => {
                let script = self.script(here, name, true)?;
                Some(Change::Script(Box::new(script)))
            }
            Action::Recall {
                fields,
                otherwise,
                tried,
            } => self.recall(here, fields, otherwise.as_ref(), *tried),
            _ => None,
        }
    }

    fn set(
        &mut self,
        here: &mut Here<'_, 'c>,
        field: &NameToken,
        text: &NameToken,
    ) -> Option<Change> {
        let field = self.written(here, field, Write::Set);
        let pieces = self.template(here, text);
        let (field, pieces) = (field?, pieces?);
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            let value = &text.text;
            let good = self
                .names
                .value(&here.scope, field.tag, value, Form::Quoted);
            self.noted(here, text.at, good)?;
        }
        Some(Change::Verb(Verb::Set(field, pieces)))
    }

    fn map(
        &mut self,
        here: &mut Here<'_, 'c>,
        [from, table, to]: [&NameToken; 3],
        otherwise: Option<&NameToken>,
        tried: bool,
    ) -> Option<Change> {
        let found = self.names.field(&here.scope, &from.text);
        let from = self.noted(here, from.at, found);
        let column = self.column(here, table);
        let to = self.written(here, to, Write::Set);
        let ((at, column), from, to) = (column?, from?, to?);
        self.all_values(here, table, (at, column), &to);
        if let Some(text) = otherwise {
            let good = self
                .names
                .value(&here.scope, to.tag, &text.text, Form::Quoted);
            self.noted(here, text.at, good)?;
        }
        let otherwise = otherwise.map(|text| text.text.as_bytes().to_vec());
        let change = Change::Map {
            from,
            table: at,
            column,
            to,
            otherwise,
        };
        Some(change.tried(tried))
    }

    fn recall(
        &mut self,
        here: &mut Here<'_, 'c>,
        fields: &[NameToken],
        otherwise: Option<&NameToken>,
        tried: bool,
    ) -> Option<Change> {
        let fields = fields.iter().map(|name| {
            let field = self.written(here, name, Write::Set)?;
            let at = here.text.offset(name.at);
            self.recalled.push((at, name.text.clone(), field.tag));
            if let Some(text) = otherwise {
                let good = self
                    .names
                    .value(&here.scope, field.tag, &text.text, Form::Quoted);
                self.noted(here, text.at, good)?;
            }
            let otherwise = otherwise.map(|text| text.text.as_bytes().to_vec());
            Some(Change::Recall(field, otherwise).tried(tried))
        });
        let changes: Vec<Option<Change>> = fields.collect();
        changes.into_iter().collect::<Option<_>>().map(Change::All)
    }

    /// Records the first row whose cell is not a valid value of the field.
    fn all_values(
        &mut self,
        here: &Here<'_, '_>,
        name: &NameToken,
        (table, column): (usize, usize),
        field: &FieldRef,
    ) {
        let table = &self.tables[table].1;
        for row in 0..table.rows() {
            let cell = core::str::from_utf8(table.cell(row, column)).unwrap_or_default();
            if !cell.is_empty()
                && let Err((problem, hint)) =
                    self.names.value(&here.scope, field.tag, cell, Form::Quoted)
            {
                return self.add(here, name.at, problem, hint);
            }
        }
    }

    /// A field that may be written in this way.
    fn written(&mut self, here: &Here<'_, 'c>, name: &NameToken, write: Write) -> Option<FieldRef> {
        let found = self.may_write(here, name, write);
        self.noted(here, name.at, found)
    }

    pub fn may_write(
        &self,
        here: &Here<'_, 'c>,
        name: &NameToken,
        write: Write,
    ) -> Result<FieldRef, Wrong> {
        let scope = &here.scope;
        let field = self.names.target(scope, &name.text)?;
        let of_session = field.of_session && (field.tag != tag::MSG_TYPE || write != Write::Set);
        let data = self.names.partner(scope, field.tag).is_some();
        let counts = self.names.counts(scope, field.tag);
        let begins = scope.groups.last().is_some_and(|defs| {
            defs.iter()
                .all(|def| def.delimiter() == field.tag || def.position(field.tag).is_none())
        });
        let why = match write {
            _ if of_session => "each session writes it for itself",
            Write::Set | Write::Move | Write::Remember if data => {
                "data and its length belong together"
            }
            Write::Set | Write::Move | Write::Remember if counts => {
                "it counts the entries of a group"
            }
            Write::Remove | Write::Move if begins => "each entry begins with it",
            _ => return Ok(field),
        };
        let field = name.text.clone();
        Err((RuleProblem::NotWritable { field, why }, None))
    }

    /// A text with `${F}` for values of fields.
    fn template(&mut self, here: &Here<'_, 'c>, text: &NameToken) -> Option<Vec<Piece<FieldRef>>> {
        let mut pieces = Vec::new();
        let mut rest = text.text.as_str();
        if rest.is_empty() || rest.contains('\x01') {
            let found = format!("{rest:?}");
            let wanted = "a text that is not empty and has no SOH";
            self.add(
                here,
                text.at,
                RuleProblem::Unexpected { found, wanted },
                None,
            );
            return None;
        }
        let mut good = true;
        while let Some(open) = rest.find("${") {
            if open > 0 {
                pieces.push(Piece::Text(rest.as_bytes()[..open].to_vec()));
            }
            // Behind the quote of the text.
            let at = text.at + 1 + text.text.len() - rest.len() + open + 2;
            let inner = &rest[open + 2..];
            let Some((name, behind)) = inner.split_once('}') else {
                let found = "${".to_string();
                let wanted = "a field and '}'";
                self.add(
                    here,
                    at - 2,
                    RuleProblem::Unexpected { found, wanted },
                    None,
                );
                return None;
            };
            let field = self.names.field(&here.scope, name);
            match self.noted(here, at, field) {
                Some(field) => pieces.push(Piece::Field(field)),
                None => good = false,
            }
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.as_bytes().to_vec()));
        }
        good.then_some(pieces)
    }
}
