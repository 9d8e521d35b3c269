//! Compiles actions: from syntax trees to steps, with all names resolved.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{SECRETS, tag};

use super::change::Change;
use super::compile::{Compiler, Here};
use super::fields::FieldRef;
use super::names::Wrong;
use super::problem::RuleProblem;
use super::pseudonym;
use super::syntax::{Form, NameToken, RejectKind};
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
    pub fn send_by_table(
        &mut self,
        here: &Here<'_, 'c>,
        field: &NameToken,
        table: &NameToken,
    ) -> Option<Step> {
        let field = self.read(here, field);
        let (at, column) = self.column(here, table)?;
        let names = self.names;
        self.all_cells(here, table, (at, column), |cell| {
            names.session(cell).map(drop)
        });
        Some(Step::SendByTable(field?, at, column))
    }

    pub fn send_by_comp_id(&mut self, here: &Here<'_, 'c>, at: usize) -> Option<Step> {
        let same = self.names.same_comp_id();
        self.noted(here, at, same)?;
        let found = self.names.field(&here.scope, "128");
        self.noted(here, at, found).map(Step::SendByCompId)
    }

    /// The index of a counter.
    pub fn counter(&mut self, name: String) -> usize {
        let known = self.counters.iter().position(|one| *one == name);
        known.unwrap_or_else(|| {
            self.counters.push(name);
            self.counters.len() - 1
        })
    }

    pub fn cl_ord_id(&mut self, here: &Here<'_, 'c>, at: usize) -> Option<FieldRef> {
        let found = self.names.field(&here.scope, "11");
        self.noted(here, at, found)
    }

    pub fn remember(
        &mut self,
        here: &Here<'_, 'c>,
        at: usize,
        fields: &[NameToken],
    ) -> Option<Step> {
        let id = self.cl_ord_id(here, at);
        let fields = fields.iter().map(|field| self.kept(here, field));
        let fields: Vec<Option<FieldRef>> = fields.collect();
        Some(Step::Remember(
            id?,
            fields.into_iter().collect::<Option<_>>()?,
        ))
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

    pub fn session(&mut self, here: &Here<'_, '_>, name: &NameToken) -> Option<usize> {
        let found = self.names.session(&name.text);
        self.noted(here, name.at, found)
    }

    /// Records the first row whose cell is wrong.
    fn all_cells(
        &mut self,
        here: &Here<'_, '_>,
        name: &NameToken,
        (table, column): (usize, usize),
        good: impl Fn(&str) -> Result<(), Wrong>,
    ) {
        let table = &self.tables[table].1;
        for row in 0..table.rows() {
            let cell = core::str::from_utf8(table.cell(row, column)).unwrap_or_default();
            if !cell.is_empty()
                && let Err((problem, hint)) = good(cell)
            {
                return self.add(here, name.at, problem, hint);
            }
        }
    }

    pub fn copied(
        &mut self,
        here: &Here<'_, 'c>,
        from: &NameToken,
        to: &NameToken,
    ) -> Option<Change> {
        let from = self.read(here, from);
        let to = self.written(here, to, Write::Set);
        let value = alloc::vec![Piece::Field(from?)];
        Some(Change::Verb(Verb::Set(to?, value)))
    }

    pub fn moved(
        &mut self,
        here: &Here<'_, 'c>,
        from: &NameToken,
        to: &NameToken,
    ) -> Option<Change> {
        let source = self.written(here, from, Write::Move);
        let target = self.written(here, to, Write::Set);
        let (source, target) = (source?, target?);
        if source.tag == target.tag {
            let wanted = "another field";
            let found = to.text.clone();
            self.add(here, to.at, RuleProblem::Unexpected { found, wanted }, None);
            return None;
        }
        Some(Change::Verb(Verb::Move(source, target)))
    }

    pub fn removed(&mut self, here: &Here<'_, 'c>, field: &NameToken) -> Option<Change> {
        let field = self.written(here, field, Write::Remove)?;
        let partner = self.names.partner(&here.scope, field.tag);
        let fields = core::iter::once(field).chain(partner);
        let each = fields.map(|field| Change::Verb(Verb::Remove(field)));
        Some(Change::All(each.collect()))
    }

    /// A field that a hash may replace.
    pub fn hashed(&mut self, here: &Here<'_, 'c>, name: &NameToken) -> Option<FieldRef> {
        let field = self.written(here, name, Write::Set)?;
        if self.may_be(here, &field, pseudonym::SAMPLE).is_err() {
            let why = "it cannot have 64 hexadecimal digits";
            let field = name.text.clone();
            self.add(here, name.at, RuleProblem::NotWritable { field, why }, None);
            return None;
        }
        Some(field)
    }

    /// Checks a value that a rule writes for a field.
    fn may_be(&self, here: &Here<'_, 'c>, field: &FieldRef, text: &str) -> Result<(), Wrong> {
        let value = self.names.value(&here.scope, field.tag, text, Form::Quoted);
        value.map(drop)
    }

    pub fn set(
        &mut self,
        here: &Here<'_, 'c>,
        field: &NameToken,
        text: &NameToken,
    ) -> Option<Change> {
        let field = self.written(here, field, Write::Set);
        let pieces = self.template(here, text);
        let (field, pieces) = (field?, pieces?);
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            let good = self.may_be(here, &field, &text.text);
            self.noted(here, text.at, good)?;
        }
        Some(Change::Verb(Verb::Set(field, pieces)))
    }

    pub fn map(
        &mut self,
        here: &Here<'_, 'c>,
        [from, table, to]: [&NameToken; 3],
        otherwise: Option<&NameToken>,
    ) -> Option<Change> {
        let from = self.read(here, from);
        let place = self.column(here, table);
        let to = self.written(here, to, Write::Set);
        let (place, from, to) = (place?, from?, to?);
        let (names, scope) = (self.names, &here.scope);
        let good = |cell: &str| names.value(scope, to.tag, cell, Form::Quoted).map(drop);
        self.all_cells(here, table, place, good);
        let otherwise = self.otherwise(here, &to, otherwise)?;
        Some(Change::Map {
            from,
            table: place.0,
            column: place.1,
            to,
            otherwise,
        })
    }

    pub fn recall(
        &mut self,
        here: &Here<'_, 'c>,
        fields: &[NameToken],
        otherwise: Option<&NameToken>,
    ) -> Option<Change> {
        let fields = fields.iter().map(|name| {
            let field = self.written(here, name, Write::Set)?;
            let at = here.text.offset(name.at);
            self.recalled.push((at, name.text.clone(), field.tag));
            let otherwise = self.otherwise(here, &field, otherwise)?;
            Some(Change::Recall(field, otherwise))
        });
        let changes: Vec<Option<Change>> = fields.collect();
        changes.into_iter().collect::<Option<_>>().map(Change::All)
    }

    /// The value after `else`; the outer `None` if the field cannot have it.
    fn otherwise(
        &mut self,
        here: &Here<'_, 'c>,
        field: &FieldRef,
        text: Option<&NameToken>,
    ) -> Option<Option<Vec<u8>>> {
        let Some(text) = text else {
            return Some(None);
        };
        let good = self.may_be(here, field, &text.text);
        self.noted(here, text.at, good)?;
        Some(Some(text.text.as_bytes().to_vec()))
    }

    /// A field that may be written in this way.
    pub fn written(
        &mut self,
        here: &Here<'_, 'c>,
        name: &NameToken,
        write: Write,
    ) -> Option<FieldRef> {
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
    pub fn template(
        &mut self,
        here: &Here<'_, 'c>,
        text: &NameToken,
    ) -> Option<Vec<Piece<FieldRef>>> {
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
