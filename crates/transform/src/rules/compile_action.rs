//! Compiles actions: from syntax trees to steps, with all names resolved.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::session::is_admin;
use fixwire_protocol::{SECRETS, tag};

use super::change::Change;
use super::compile::Compiler;
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
        /// Index of the throttle's bucket in the scratch memory.
        bucket: usize,
        rate: u32,
        reject: bool,
    },
}

impl Step {
    /// Whether the step emits an outcome with the present fields.
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

/// How an action uses a field.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Write {
    Set,
    /// The field is removed or moved.
    Remove,
    Move,
    /// The field is remembered; a later message may write its value.
    Remember,
}

impl Compiler<'_, '_, '_> {
    pub fn send_by_table(&mut self, field: &NameToken, table: &NameToken) -> Option<Step> {
        let field = self.read(field);
        let (at, column) = self.column(table)?;
        let is_session = |this: &Self, cell: &str| this.names.session(cell).map(drop);
        self.all_cells(table, (at, column), is_session);
        Some(Step::SendByTable(field?, at, column))
    }

    pub fn send_by_comp_id(&mut self, at: usize) -> Option<Step> {
        let same = self.names.same_comp_id();
        self.noted(at, same)?;
        let found = self.names.field(&self.here.scope, "128");
        self.noted(at, found).map(Step::SendByCompId)
    }

    /// The index of a counter.
    pub fn counter(&mut self, name: String) -> usize {
        let known = self.counters.iter().position(|one| *one == name);
        known.unwrap_or_else(|| {
            self.counters.push(name);
            self.counters.len() - 1
        })
    }

    pub fn cl_ord_id(&mut self, at: usize) -> Option<FieldRef> {
        let found = self.names.field(&self.here.scope, "11");
        self.noted(at, found)
    }

    pub fn remember(&mut self, at: usize, fields: &[NameToken]) -> Option<Step> {
        let id = self.cl_ord_id(at);
        let fields = fields.iter().map(|field| self.kept(field));
        let fields: Vec<Option<FieldRef>> = fields.collect();
        Some(Step::Remember(
            id?,
            fields.into_iter().collect::<Option<_>>()?,
        ))
    }

    /// Resolves a field that is to be remembered.
    fn kept(&mut self, name: &NameToken) -> Option<FieldRef> {
        let found = self.may_write(name, Write::Remember);
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
        let field = self.noted(name.at, found)?;
        self.remembered.push(field.tag);
        Some(field)
    }

    pub fn session(&mut self, name: &NameToken) -> Option<usize> {
        let found = self.names.session(&name.text);
        self.noted(name.at, found)
    }

    /// Checks the cells of a column, and records the first row whose cell is wrong.
    fn all_cells(
        &mut self,
        name: &NameToken,
        (table, column): (usize, usize),
        good: impl Fn(&Self, &str) -> Result<(), Wrong>,
    ) {
        let table = &self.tables[table].1;
        for row in 0..table.rows() {
            let cell = core::str::from_utf8(table.cell(row, column)).unwrap_or_default();
            if !cell.is_empty()
                && let Err((problem, hint)) = good(self, cell)
            {
                return self.add(name.at, problem, hint);
            }
        }
    }

    pub fn copied(&mut self, from: &NameToken, to: &NameToken) -> Option<Change> {
        let from = self.read(from);
        let to = self.written(to, Write::Set);
        let value = alloc::vec![Piece::Field(from?)];
        Some(Change::Verb(Verb::Set(to?, value)))
    }

    pub fn moved(&mut self, from: &NameToken, to: &NameToken) -> Option<Change> {
        let source = self.written(from, Write::Move);
        let target = self.written(to, Write::Set);
        let (source, target) = (source?, target?);
        if source.tag == target.tag {
            let wanted = "another field";
            let found = to.text.clone();
            self.add(to.at, RuleProblem::Unexpected { found, wanted }, None);
            return None;
        }
        Some(Change::Verb(Verb::Move(source, target)))
    }

    pub fn removed(&mut self, field: &NameToken) -> Option<Change> {
        let field = self.written(field, Write::Remove)?;
        let partner = self.names.partner(&self.here.scope, field.tag);
        let fields = core::iter::once(field).chain(partner);
        let each = fields.map(|field| Change::Verb(Verb::Remove(field)));
        Some(Change::All(each.collect()))
    }

    /// Resolves a field that a hash may replace.
    pub fn hashed(&mut self, name: &NameToken) -> Option<FieldRef> {
        let field = self.written(name, Write::Set)?;
        if self.may_be(&field, pseudonym::SAMPLE).is_err() {
            let why = "its values cannot have 64 hexadecimal digits";
            let field = name.text.clone();
            self.add(name.at, RuleProblem::NotWritable { field, why }, None);
            return None;
        }
        Some(field)
    }

    /// Checks that a field may have the value that a rule writes.
    pub fn may_be(&self, field: &FieldRef, text: &str) -> Result<(), Wrong> {
        let value = self
            .names
            .value(&self.here.scope, field.tag, text, Form::Quoted)?;
        if field.tag == tag::MSG_TYPE && is_admin(value.as_bytes()) {
            let field = self.names.name_of(&self.here.scope, field.tag);
            let hint = "only the session sends session-level messages, MsgType(35) 0 to 5 and A";
            return Err((RuleProblem::BadValue { field, value }, Some(hint.into())));
        }
        Ok(())
    }

    pub fn set(&mut self, field: &NameToken, text: &NameToken) -> Option<Change> {
        let field = self.written(field, Write::Set);
        let pieces = self.template(text);
        let (field, pieces) = (field?, pieces?);
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            let good = self.may_be(&field, &text.text);
            self.noted(text.at, good)?;
        }
        Some(Change::Verb(Verb::Set(field, pieces)))
    }

    pub fn map(
        &mut self,
        [from, table, to]: [&NameToken; 3],
        otherwise: Option<&NameToken>,
    ) -> Option<Change> {
        let from = self.read(from);
        let place = self.column(table);
        let to = self.written(to, Write::Set);
        let (place, from, to) = (place?, from?, to?);
        self.all_cells(table, place, |this, cell| this.may_be(&to, cell));
        let otherwise = self.otherwise(&to, otherwise)?;
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
        fields: &[NameToken],
        otherwise: Option<&NameToken>,
    ) -> Option<Change> {
        let fields = fields.iter().map(|name| {
            let field = self.written(name, Write::Set)?;
            let at = self.here.text.offset(name.at);
            self.recalled.push((at, name.text.clone(), field.tag));
            let otherwise = self.otherwise(&field, otherwise)?;
            Some(Change::Recall(field, otherwise))
        });
        let changes: Vec<Option<Change>> = fields.collect();
        changes.into_iter().collect::<Option<_>>().map(Change::All)
    }

    /// The value after `else`, if given. The outer `None` means that the field cannot have this value.
    fn otherwise(&mut self, field: &FieldRef, text: Option<&NameToken>) -> Option<Option<Vec<u8>>> {
        let Some(text) = text else {
            return Some(None);
        };
        let good = self.may_be(field, &text.text);
        self.noted(text.at, good)?;
        Some(Some(text.text.as_bytes().to_vec()))
    }

    /// Resolves a field, and checks that it may be written in this way.
    pub fn written(&mut self, name: &NameToken, write: Write) -> Option<FieldRef> {
        let found = self.may_write(name, write);
        self.noted(name.at, found)
    }

    pub fn may_write(&self, name: &NameToken, write: Write) -> Result<FieldRef, Wrong> {
        let scope = &self.here.scope;
        let field = self.names.target(scope, &name.text)?;
        let of_session = field.of_session && (field.tag != tag::MSG_TYPE || write != Write::Set);
        let data = self.names.partner(scope, field.tag).is_some();
        let counts = self.names.counts(scope, field.tag);
        let begins = scope.groups.last().is_some_and(|defs| {
            defs.iter()
                .all(|def| def.delimiter() == field.tag || def.position(field.tag).is_none())
        });
        let why = match write {
            _ if of_session => "each session writes this field itself",
            Write::Set | Write::Move | Write::Remember if data => {
                "a data field and its length field belong together"
            }
            Write::Set | Write::Move | Write::Remember if counts => {
                "this field counts the entries of a group"
            }
            Write::Remove | Write::Move if begins => {
                "each entry of the group begins with this field"
            }
            _ => return Ok(field),
        };
        let field = name.text.clone();
        Err((RuleProblem::NotWritable { field, why }, None))
    }

    /// Compiles a text in which `${F}` stands for the value of field F.
    pub fn template(&mut self, text: &NameToken) -> Option<Vec<Piece<FieldRef>>> {
        let mut pieces = Vec::new();
        let mut rest = text.text.as_str();
        if rest.is_empty() || rest.contains('\x01') {
            let found = format!("{rest:?}");
            let wanted = "a text that is not empty and has no SOH";
            self.add(text.at, RuleProblem::Unexpected { found, wanted }, None);
            return None;
        }
        let mut good = true;
        while let Some(open) = rest.find("${") {
            if open > 0 {
                pieces.push(Piece::Text(rest.as_bytes()[..open].to_vec()));
            }
            // Byte offset in the file, after the opening quote of the text.
            let at = text.at + 1 + text.text.len() - rest.len() + open + 2;
            let inner = &rest[open + 2..];
            let Some((name, behind)) = inner.split_once('}') else {
                let found = "${".to_string();
                let wanted = "a field and '}'";
                self.add(at - 2, RuleProblem::Unexpected { found, wanted }, None);
                return None;
            };
            let field = self.names.field(&self.here.scope, name);
            match self.noted(at, field) {
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
