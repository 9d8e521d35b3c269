//! Runs the statements of a conversion table on a message.

use alloc::vec::Vec;

use fixwire_protocol::dictionary::{DataType, FIRST_USER_DEFINED};
use fixwire_protocol::time::LastMinute;
use fixwire_protocol::{Decimal, Tag, tag};

use super::link::TableLink;
use super::policy::Policies;
use super::statement::{ConversionAction, MapRow, Operand, Path, Statement};
use super::tree::{Tree, Word};
use crate::TransformFailure;
use crate::draft::{ValueSpan, kept};
use crate::verb::{Fields, Piece, written};

/// A message during its conversion from one version to the other.
pub struct ConversionRun<'a> {
    pub link: &'a TableLink,
    pub policies: &'a Policies,
    pub tree: &'a mut Tree,
    /// The tags of the dropped fields.
    pub lost: &'a mut Vec<Tag>,
    pub times: &'a mut LastMinute,
    /// The scope whose statements run.
    pub scope: usize,
}

impl Fields for ConversionRun<'_> {
    type Name = Tag;

    fn tag(&tag: &Tag) -> Tag {
        tag
    }

    fn text(&mut self) -> &mut Vec<u8> {
        self.tree.text_mut()
    }

    /// The value of a field of the scope; or the SendingTime(52) of the received message, which is not in the draft.
    fn value(&self, &tag: &Tag) -> Option<ValueSpan> {
        match tag {
            tag::SENDING_TIME => self.tree.sending_time(),
            _ => self.find(tag).map(|node| self.tree.span(node)),
        }
    }

    fn put(&mut self, &tag: &Tag, value: ValueSpan) -> Result<(), TransformFailure> {
        self.tree.set(&self.link.levels, self.scope, tag, value);
        Ok(())
    }

    fn remove(&mut self, &tag: &Tag) -> Result<(), TransformFailure> {
        if let Some(node) = self.find(tag) {
            self.tree.remove(node);
        }
        Ok(())
    }

    /// If the scope already has a field with the new tag, the old field keeps its tag and is lost later. But if both
    /// fields have the same value, the old field is removed.
    fn rename(&mut self, &from: &Tag, &to: &Tag) -> Result<(), TransformFailure> {
        let node = self.find(from).ok_or(TransformFailure::NoField(from))?;
        match self.find(to) {
            Some(other) if self.tree.value(other) == self.tree.value(node) => {
                self.tree.remove(node);
            }
            Some(_) => {}
            None => {
                let levels = &self.link.levels;
                let order = levels[self.tree.level(self.scope)].order(to);
                self.tree.rename(levels, self.scope, node, to, Some(order));
            }
        }
        Ok(())
    }
}

impl ConversionRun<'_> {
    /// Runs all statements: first for the message, then for each group entry. In each, statements run in the order of
    /// the table.
    pub fn all(&mut self) {
        let TableLink {
            levels, statements, ..
        } = self.link;
        // Entries that statements add already have the form of the target, so no statement runs for them.
        for scope in 0..self.tree.scopes() {
            let level = &levels[self.tree.level(scope)];
            if level.statements.is_empty() || !self.tree.is_there(scope) {
                continue;
            }
            self.scope = scope;
            for &(at, needs) in &level.statements {
                if !self.tree.present(scope).may_have_all(needs) {
                    continue;
                }
                let Statement { conditions, action } = &statements[at as usize];
                let value = |tag| self.find(tag).map(|node| self.tree.value(node));
                if conditions.iter().all(|(tag, test)| test.holds(value(*tag))) {
                    self.carry_out(action);
                }
            }
        }
    }

    /// The field of the scope with this tag.
    fn find(&self, tag: Tag) -> Option<usize> {
        self.tree.find(self.scope, tag)
    }

    /// Carries out an action. If a field that the action reads is absent, the action has no effect.
    fn carry_out(&mut self, action: &ConversionAction) -> Option<()> {
        match action {
            ConversionAction::Verb(verb) => verb.apply(self).ok(),
            ConversionAction::Map { from, to, rows } => self.map(from, to, rows),
            ConversionAction::Word { tag, word, other } => {
                let node = self.find(*tag)?;
                self.tree.change_words(node, |have| match other {
                    _ if *have != **word => Word::Kept,
                    Some(other) => Word::Replaced(other),
                    None => Word::Dropped,
                });
                Some(())
            }
            ConversionAction::Entry { from, path } => self.entry(*from, path),
            ConversionAction::Field { path, to } => self.field(path, *to),
            ConversionAction::Join { month, day, date } => self.join(*month, *day, *date),
            ConversionAction::Split { date, month, day } => self.split(*date, *month, *day),
            ConversionAction::Wrap(count) => self.wrap(*count),
            ConversionAction::Unwrap(count) => self.unwrap(*count),
            ConversionAction::Sum {
                one,
                other,
                sign,
                to,
            } => self.sum([*one, *other], *sign, *to),
        }
    }

    fn map(&mut self, from: &[Tag], to: &[Tag], rows: &[MapRow]) -> Option<()> {
        let row = match from {
            // The field is searched once for all rows.
            [tag] => {
                let value = self.find(*tag).map(|node| self.tree.value(node));
                let matches = |row: &&MapRow| row.from.iter().all(|cell| self.fits(value, cell));
                rows.iter().find(matches)?
            }
            _ => {
                let matches = |row: &&MapRow| {
                    let mut cells = from.iter().zip(&row.from);
                    cells.all(|(&tag, operand)| self.equals(self.scope, tag, operand))
                };
                rows.iter().find(matches)?
            }
        };
        for (&tag, operand) in to.iter().zip(&row.to) {
            let Some(span) = self.operand(operand) else {
                continue;
            };
            let before = self.find(tag);
            let differs = before.is_some_and(|node| self.tree.value(node) != self.tree.text(span));
            if differs && !from.contains(&tag) {
                self.lost.push(tag);
            }
            self.tree.set(&self.link.levels, self.scope, tag, span);
        }
        for &tag in from {
            let stays = to
                .iter()
                .zip(&row.to)
                .any(|(&other, operand)| other == tag && *operand != Operand::Nothing);
            if !stays && let Some(node) = self.find(tag) {
                self.tree.remove(node);
            }
        }
        Some(())
    }

    fn entry(&mut self, from: Tag, path: &Path) -> Option<()> {
        let node = self.find(from)?;
        let around = self.around(path)?;
        let value = self.tree.span(node);
        if !self.says_already(around, value, path) {
            let levels = &self.link.levels;
            let mut fixed = path.fixed.iter();
            fixed.try_for_each(|(_, operand)| self.operand(operand).map(|_| ()))?;
            let entry = self.tree.add_entry(levels, around, path.count)?;
            self.tree.set(levels, entry, path.value, value);
            for (tag, operand) in &path.fixed {
                if let Some(span) = self.operand(operand) {
                    self.tree.set(levels, entry, *tag, span);
                }
            }
        }
        self.tree.remove(node);
        Some(())
    }

    fn says_already(&self, around: usize, value: ValueSpan, path: &Path) -> bool {
        let Some(count) = self.tree.find(around, path.count) else {
            return false;
        };
        self.tree.entries(count).any(|entry| {
            let own = self.tree.find(entry, path.value);
            own.is_some_and(|own| self.tree.value(own) == self.tree.text(value))
                && self.all_equal(entry, &path.fixed)
        })
    }

    fn field(&mut self, path: &Path, to: Tag) -> Option<()> {
        let around = self.around(path)?;
        let count = self.tree.find(around, path.count)?;
        let entry = self.tree.entries(count).find(|&entry| {
            self.tree.find(entry, path.value).is_some() && self.all_equal(entry, &path.fixed)
        })?;
        let value = self.tree.find(entry, path.value)?;
        let span = self.tree.span(value);
        self.tree.remove(value);
        let mut next = self.tree.first(entry);
        while let Some(node) = next {
            let tag = self.tree.tag(node);
            if tag != 0 && !path.fixed.iter().any(|&(fixed, _)| fixed == tag) {
                self.lose(node);
            }
            next = self.tree.next(node);
        }
        self.tree.remove_entry(entry);
        self.tree.set(&self.link.levels, self.scope, to, span);
        Some(())
    }

    /// The scope that contains the group of the path.
    fn around(&self, path: &Path) -> Option<usize> {
        let Some((count, known_by)) = &path.outer else {
            return Some(self.scope);
        };
        let mut entries = self.tree.entries(self.find(*count)?);
        entries.find(|&entry| self.all_equal(entry, known_by))
    }

    fn all_equal(&self, entry: usize, fields: &[(Tag, Operand)]) -> bool {
        let mut fields = fields.iter();
        fields.all(|(tag, operand)| self.equals(entry, *tag, operand))
    }

    /// Whether a field of an entry has the operand's value. If the operand names another field, that field is read in
    /// the statement's scope.
    fn equals(&self, entry: usize, tag: Tag, operand: &Operand) -> bool {
        self.fits(self.value_in(entry, tag), operand)
    }

    fn value_in(&self, scope: usize, tag: Tag) -> Option<&[u8]> {
        let node = self.tree.find(scope, tag)?;
        Some(self.tree.value(node))
    }

    /// Whether this value of a field is the operand's value.
    fn fits(&self, value: Option<&[u8]>, operand: &Operand) -> bool {
        match operand {
            Operand::Value(Piece::Text(text)) => value == Some(text),
            Operand::Value(Piece::Field(other)) => value == self.value_in(self.scope, *other),
            Operand::Any => true,
            Operand::Nothing => value.is_none(),
        }
    }

    /// The value that is written for an operand.
    fn operand(&mut self, operand: &Operand) -> Option<ValueSpan> {
        match operand {
            Operand::Value(piece) => written(self, piece).ok(),
            Operand::Any | Operand::Nothing => None,
        }
    }

    /// Joins a `YYYYMM`, which is kept, and a day into a `YYYYMMDD`, if that date exists.
    fn join(&mut self, month: Tag, day: Tag, date: Tag) -> Option<()> {
        let (month, day) = (self.find(month)?, self.find(day)?);
        let text: [u8; 6] = self.tree.value(month).try_into().ok()?;
        let (tens, ones) = match *self.tree.value(day) {
            [ones] => (b'0', ones),
            [tens, ones] => (tens, ones),
            _ => return None,
        };
        let [y1, y2, y3, y4, m1, m2] = text;
        let text = [y1, y2, y3, y4, m1, m2, tens, ones];
        if !DataType::LocalMktDate.accepts(&text) {
            return None;
        }
        self.add(date, &text);
        self.tree.remove(day);
        Some(())
    }

    /// Sets a field to a text.
    fn add(&mut self, tag: Tag, text: &[u8]) {
        let span = kept(self.tree.text_mut(), text);
        self.tree.set(&self.link.levels, self.scope, tag, span);
    }

    /// Splits a `YYYYMMDD` into a `YYYYMM` and a day without a leading zero.
    fn split(&mut self, date: Tag, month: Tag, day: Tag) -> Option<()> {
        let (levels, scope) = (&self.link.levels, self.scope);
        let node = self.find(date)?;
        let (start, end) = self.tree.span(node);
        if !DataType::LocalMktDate.accepts(self.tree.value(node)) || end - start != 8 {
            return None;
        }
        let of_month = (start, start + 6);
        if let Some(before) = self.find(month)
            && self.tree.value(before) != self.tree.text(of_month)
        {
            self.lost.push(month);
        }
        self.tree.set(levels, scope, month, of_month);
        let tens = u32::from(self.tree.text((start + 6, end)).starts_with(b"0"));
        self.tree.set(levels, scope, day, (start + 6 + tens, end));
        self.tree.remove(node);
        Some(())
    }

    /// Makes the single entry of an absent group, from all fields that the target has only in entries of this group.
    /// Without such a field, no entry is made.
    fn wrap(&mut self, count: Tag) -> Option<()> {
        let levels = &self.link.levels;
        let here = &levels[self.tree.level(self.scope)];
        let inside = &levels[here.entries(count)?];
        let mut entry = None;
        for tag in inside.fields() {
            if here.has_home_for(tag) || !inside.has_home_for(tag) {
                continue;
            }
            let Some(node) = self.find(tag) else {
                continue;
            };
            entry = entry.or_else(|| self.tree.add_entry(levels, self.scope, count));
            self.tree.move_to(levels, node, entry?);
        }
        Some(())
    }

    /// Moves the fields of the group's single entry out of the group, if the target has them there or they are
    /// user-defined. The other fields of the entry are lost.
    fn unwrap(&mut self, count: Tag) -> Option<()> {
        let (levels, scope) = (&self.link.levels, self.scope);
        let group = self.find(count)?;
        let entry = self.tree.first_entry(group)?;
        if self.tree.next_entry(entry).is_some() {
            return None;
        }
        let here = &levels[self.tree.level(scope)];
        for tag in levels[self.tree.level(entry)].fields() {
            if here.has_home_for(tag)
                && self.find(tag).is_none()
                && let Some(node) = self.tree.find(entry, tag)
            {
                self.tree.move_to(levels, node, scope);
            }
        }
        let mut next = self.tree.first(entry);
        while let Some(node) = next {
            next = self.tree.next(node);
            match self.tree.tag(node) {
                0 => {}
                FIRST_USER_DEFINED.. if self.tree.first_entry(node).is_none() => {
                    self.tree.move_to(levels, node, scope);
                }
                _ => self.lose(node),
            }
        }
        self.tree.remove_entry(entry);
        Some(())
    }

    fn sum(&mut self, numbers: [Tag; 2], sign: i64, to: Tag) -> Option<()> {
        let number = |tag| Decimal::parse(self.tree.value(self.find(tag)?)).ok();
        let (one, other) = (number(numbers[0])?, number(numbers[1])?);
        let scale = one.scale.max(other.scale);
        let at_scale = |number: Decimal| {
            let factor = 10i64.checked_pow(u32::from(scale - number.scale))?;
            number.mantissa.checked_mul(factor)
        };
        let other = at_scale(other)?.checked_mul(sign)?;
        let mantissa = at_scale(one)?.checked_add(other)?;
        let mut text = [0; Decimal::MAX_TEXT];
        let start = Decimal::new(mantissa, scale)?.write(&mut text);
        self.add(to, &text[start..]);
        Some(())
    }

    /// Removes a field, and records it as lost, together with the group entries that it counts.
    pub fn lose(&mut self, node: usize) {
        note(self.tree, self.lost, node);
        self.tree.remove(node);
    }
}

/// Records a field as lost. Recursion is as deep as a dictionary nests groups, 8 at most.
fn note(tree: &Tree, lost: &mut Vec<Tag>, node: usize) {
    lost.push(tree.tag(node));
    for entry in tree.entries(node) {
        for field in tree.fields(entry) {
            note(tree, lost, field);
        }
    }
}
