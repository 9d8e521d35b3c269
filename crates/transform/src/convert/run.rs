//! Runs the statements of a conversion table on a message.

use alloc::vec::Vec;

use fixwire_protocol::dictionary::{DataType, FIRST_USER_DEFINED};
use fixwire_protocol::{Decimal, Tag, tag};

use super::level::Levels;
use super::statement::{ConversionAction, ConversionCondition, MapRow, Operand, Path, Statement};
use super::tree::{Tree, ValueSpan, Word};

/// A message during its conversion from one version to the other.
pub struct ConversionRun<'a> {
    pub levels: &'a Levels,
    pub statements: &'a [Statement],
    pub tree: &'a mut Tree,
    /// The tags of dropped fields.
    pub lost: &'a mut Vec<Tag>,
}

impl ConversionRun<'_> {
    /// Runs all statements: first for the message, then for each entry of its groups, each with its statements in
    /// the order of the table.
    pub fn all(&mut self) {
        let (levels, statements) = (self.levels, self.statements);
        // Entries that statements add are of the target already.
        for scope in 0..self.tree.scopes() {
            let level = &levels[self.tree.level(scope)];
            if level.statements.is_empty() || !self.tree.is_there(scope) {
                continue;
            }
            for &(at, needs) in &level.statements {
                if !self.tree.present(scope).may_have_all(needs) {
                    continue;
                }
                let Statement { conditions, action } = &statements[at as usize];
                if conditions
                    .iter()
                    .all(|condition| self.holds(scope, condition))
                {
                    self.carry_out(scope, action);
                }
            }
        }
    }

    fn holds(&self, scope: usize, condition: &ConversionCondition) -> bool {
        let value = |tag: Tag| self.tree.find(scope, tag).map(|node| self.tree.value(node));
        match condition {
            ConversionCondition::Is(tag, values) => {
                value(*tag).is_some_and(|value| values.iter().any(|listed| **listed == *value))
            }
            ConversionCondition::HasWord(tag, word) => value(*tag).is_some_and(|value| {
                value
                    .split(|&byte| byte == b' ')
                    .any(|have| *have == **word)
            }),
            ConversionCondition::Begins(tag, start) => {
                value(*tag).is_some_and(|value| value.starts_with(start))
            }
            ConversionCondition::Has(tag) => value(*tag).is_some(),
            ConversionCondition::No(tag) => value(*tag).is_none(),
            ConversionCondition::Zero(tag) => value(*tag)
                .is_none_or(|value| value.iter().all(|byte| matches!(byte, b'0' | b'.' | b'-'))),
        }
    }

    fn carry_out(&mut self, scope: usize, action: &ConversionAction) {
        match action {
            ConversionAction::Set(tag, value) => {
                if let Some(span) = self.written(scope, value) {
                    self.tree.set(self.levels, scope, *tag, span);
                }
            }
            ConversionAction::Default(tag, value) => {
                if self.tree.find(scope, *tag).is_none()
                    && let Some(span) = self.written(scope, value)
                {
                    self.tree.set(self.levels, scope, *tag, span);
                }
            }
            ConversionAction::Remove(tag) => {
                if let Some(node) = self.tree.find(scope, *tag) {
                    self.tree.remove(node);
                }
            }
            ConversionAction::Move(from, to) => self.rename(scope, *from, *to),
            ConversionAction::Map { from, to, rows } => self.map(scope, from, to, rows),
            ConversionAction::Word { tag, word, other } => {
                if let Some(node) = self.tree.find(scope, *tag) {
                    self.tree.change_words(node, |have| match other {
                        _ if *have != **word => Word::Kept,
                        Some(other) => Word::Replaced(other),
                        None => Word::Dropped,
                    });
                }
            }
            ConversionAction::Entry { from, path } => self.entry(scope, *from, path),
            ConversionAction::Field { path, to } => self.field(scope, path, *to),
            ConversionAction::Join { month, day, date } => {
                self.join(scope, *month, *day, *date);
            }
            ConversionAction::Split { date, month, day } => {
                self.split(scope, *date, *month, *day);
            }
            ConversionAction::Wrap(count) => self.wrap(scope, *count),
            ConversionAction::Unwrap(count) => self.unwrap(scope, *count),
            ConversionAction::Sum {
                one,
                other,
                sign,
                to,
            } => {
                self.sum(scope, [*one, *other], *sign, *to);
            }
        }
    }

    /// Gives a field another tag. If the new tag is already present, the field stays: it is lost, or dropped if
    /// both have the same value.
    fn rename(&mut self, scope: usize, from: Tag, to: Tag) {
        let Some(node) = self.tree.find(scope, from) else {
            return;
        };
        match self.tree.find(scope, to) {
            Some(other) if self.tree.value(other) == self.tree.value(node) => {
                self.tree.remove(node)
            }
            Some(_) => {}
            None => {
                let order = self.levels[self.tree.level(scope)].order(to);
                self.tree.rename(scope, node, to, Some(order));
            }
        }
    }

    fn map(&mut self, scope: usize, from: &[Tag], to: &[Tag], rows: &[MapRow]) {
        let matches = |row: &&MapRow| {
            let mut cells = from.iter().zip(&row.from);
            cells.all(|(&tag, operand)| self.equals(scope, scope, tag, operand))
        };
        let Some(row) = rows.iter().find(matches) else {
            return;
        };
        for (&tag, operand) in to.iter().zip(&row.to) {
            let Some(span) = self.written(scope, operand) else {
                continue;
            };
            let before = self.tree.find(scope, tag);
            let differs = before.is_some_and(|node| self.tree.value(node) != self.tree.text(span));
            if differs && !from.contains(&tag) {
                self.lost.push(tag);
            }
            self.tree.set(self.levels, scope, tag, span);
        }
        for &tag in from {
            let stays = to
                .iter()
                .zip(&row.to)
                .any(|(&other, operand)| other == tag && *operand != Operand::Nothing);
            if !stays && let Some(node) = self.tree.find(scope, tag) {
                self.tree.remove(node);
            }
        }
    }

    fn entry(&mut self, scope: usize, from: Tag, path: &Path) {
        let Some(node) = self.tree.find(scope, from) else {
            return;
        };
        let Some(around) = self.around(scope, path) else {
            return;
        };
        let value = self.tree.span(node);
        if !self.says_already(scope, around, value, path) {
            if !path
                .fixed
                .iter()
                .all(|(_, operand)| self.written(scope, operand).is_some())
            {
                return;
            }
            let Some(entry) = self.tree.add_entry(self.levels, around, path.count) else {
                return;
            };
            self.tree.set(self.levels, entry, path.value, value);
            for (tag, operand) in &path.fixed {
                if let Some(span) = self.written(scope, operand) {
                    self.tree.set(self.levels, entry, *tag, span);
                }
            }
        }
        self.tree.remove(node);
    }

    fn says_already(&self, scope: usize, around: usize, value: ValueSpan, path: &Path) -> bool {
        let Some(count) = self.tree.find(around, path.count) else {
            return false;
        };
        self.tree.entries(count).any(|entry| {
            let own = self.tree.find(entry, path.value);
            own.is_some_and(|own| self.tree.value(own) == self.tree.text(value))
                && self.all_equal(scope, entry, &path.fixed)
        })
    }

    fn field(&mut self, scope: usize, path: &Path, to: Tag) {
        if self.tree.find(scope, to).is_some() {
            return;
        }
        let Some(around) = self.around(scope, path) else {
            return;
        };
        let Some(count) = self.tree.find(around, path.count) else {
            return;
        };
        let found = self.tree.entries(count).find(|&entry| {
            self.tree.find(entry, path.value).is_some() && self.all_equal(scope, entry, &path.fixed)
        });
        let Some(entry) = found else {
            return;
        };
        let Some(value) = self.tree.find(entry, path.value) else {
            return;
        };
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
        self.tree.set(self.levels, scope, to, span);
    }

    /// The scope that has the path's group.
    fn around(&self, scope: usize, path: &Path) -> Option<usize> {
        let Some((count, known_by)) = &path.outer else {
            return Some(scope);
        };
        let count = self.tree.find(scope, *count)?;
        let mut entries = self.tree.entries(count);
        entries.find(|&entry| self.all_equal(scope, entry, known_by))
    }

    fn all_equal(&self, scope: usize, entry: usize, fields: &[(Tag, Operand)]) -> bool {
        let mut fields = fields.iter();
        fields.all(|(tag, operand)| self.equals(scope, entry, *tag, operand))
    }

    /// Whether a field of `there` has a value; other fields that the value names are read in `scope`.
    fn equals(&self, scope: usize, there: usize, tag: Tag, operand: &Operand) -> bool {
        let value = |scope, tag| self.tree.find(scope, tag).map(|node| self.tree.value(node));
        match operand {
            Operand::Text(text) => value(there, tag) == Some(&**text),
            Operand::Of(other) => value(there, tag) == value(scope, *other),
            Operand::Any => true,
            Operand::Nothing => value(there, tag).is_none(),
        }
    }

    fn written(&mut self, scope: usize, operand: &Operand) -> Option<ValueSpan> {
        match operand {
            Operand::Text(text) => Some(self.tree.keep(text)),
            Operand::Of(tag::SENDING_TIME) => self.tree.sending_time(),
            Operand::Of(tag) => self.tree.find(scope, *tag).map(|node| self.tree.span(node)),
            Operand::Any | Operand::Nothing => None,
        }
    }

    /// A `YYYYMM` that stays and a day become a `YYYYMMDD`, if the calendar has it.
    fn join(&mut self, scope: usize, month: Tag, day: Tag, date: Tag) -> Option<()> {
        let (month, day) = (self.tree.find(scope, month)?, self.tree.find(scope, day)?);
        let text: [u8; 6] = self.tree.value(month).try_into().ok()?;
        let (tens, ones) = match *self.tree.value(day) {
            [ones] => (b'0', ones),
            [tens, ones] => (tens, ones),
            _ => return None,
        };
        let [y1, y2, y3, y4, m1, m2] = text;
        let text = [y1, y2, y3, y4, m1, m2, tens, ones];
        if !DataType::LocalMktDate.accepts(&text) || self.tree.find(scope, date).is_some() {
            return None;
        }
        let span = self.tree.keep(&text);
        self.tree.set(self.levels, scope, date, span);
        self.tree.remove(day);
        Some(())
    }

    /// A `YYYYMMDD` becomes a `YYYYMM` and a day without a leading zero.
    fn split(&mut self, scope: usize, date: Tag, month: Tag, day: Tag) -> Option<()> {
        let node = self.tree.find(scope, date)?;
        let (start, end) = self.tree.span(node);
        if !DataType::LocalMktDate.accepts(self.tree.value(node)) || end - start != 8 {
            return None;
        }
        let of_month = (start, start + 6);
        if let Some(before) = self.tree.find(scope, month)
            && self.tree.value(before) != self.tree.text(of_month)
        {
            self.lost.push(month);
        }
        self.tree.set(self.levels, scope, month, of_month);
        let tens = u32::from(self.tree.text((start + 6, end)).starts_with(b"0"));
        self.tree
            .set(self.levels, scope, day, (start + 6 + tens, end));
        self.tree.remove(node);
        Some(())
    }

    /// Makes an entry of all fields that the target has only in the group's entries, if there are any and the
    /// group is absent.
    fn wrap(&mut self, scope: usize, count: Tag) {
        let levels = self.levels;
        let here = &levels[self.tree.level(scope)];
        let Some(inside) = here.entries(count) else {
            return;
        };
        if self.tree.find(scope, count).is_some() {
            return;
        }
        let mut entry = None;
        for tag in levels[inside].fields() {
            if here.has_home_for(tag) || !levels[inside].has_home_for(tag) {
                continue;
            }
            let Some(node) = self.tree.find(scope, tag) else {
                continue;
            };
            entry = entry.or_else(|| self.tree.add_entry(levels, scope, count));
            if let Some(entry) = entry {
                self.tree.move_to(levels, node, entry);
            }
        }
    }

    /// Moves the fields of the group's only entry here, if the target has them here or they are user-defined. The
    /// others are lost.
    fn unwrap(&mut self, scope: usize, count: Tag) {
        let levels = self.levels;
        let Some(group) = self.tree.find(scope, count) else {
            return;
        };
        let Some(entry) = self.tree.first_entry(group) else {
            return;
        };
        if self.tree.next_entry(entry).is_some() {
            return;
        }
        let here = &levels[self.tree.level(scope)];
        for tag in levels[self.tree.level(entry)].fields() {
            if here.has_home_for(tag)
                && self.tree.find(scope, tag).is_none()
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
                    self.tree.move_to(levels, node, scope)
                }
                _ => self.lose(node),
            }
        }
        self.tree.remove_entry(entry);
    }

    fn sum(&mut self, scope: usize, numbers: [Tag; 2], sign: i64, to: Tag) -> Option<()> {
        if self.tree.find(scope, to).is_some() {
            return None;
        }
        let number = |tag| Decimal::parse(self.tree.value(self.tree.find(scope, tag)?)).ok();
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
        let span = self.tree.keep(&text[start..]);
        self.tree.set(self.levels, scope, to, span);
        Some(())
    }

    /// Removes a field, and records it and the entries that it counts as lost.
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
