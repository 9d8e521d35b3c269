//! Changes fields of a message and keeps its repeating groups intact.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::dictionary::{Dictionary, GroupDef};
use fixwire_protocol::{Message, SOH, Tag, tag};

use super::condition::{Test, World};
use super::fields::{FieldLevel, FieldRef, Groups, View, entry_end, group_end};
use super::pseudonym::Pseudonym;
use super::reshape::reshape;
use super::script::Script;
use super::script_failure::ScriptFailure;
use super::syntax::Format;
use crate::Draft;
use crate::draft::HEADER;

/// Maximum number of bytes that the rules may add to one message; each written field counts 64 bytes more.
pub const MAX_ADDED: usize = 1 << 20;
const PER_FIELD: usize = 64;
/// The maximum length of a value that `remember` stores.
pub const MAX_REMEMBERED: usize = 4 << 10;

/// Why an action of a rule failed for a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ActionFailure {
    /// The field to be copied, moved, mapped or put into a text is missing.
    NoField(Tag),
    /// The table has no entry for the value of this field.
    NotInTable(Tag),
    /// The field would become empty or contain SOH.
    BadValue(Tag),
    /// Entries of the group do not have this field, or start with it and cannot omit it.
    NotInEntry(Tag),
    /// The rules would add more than [`MAX_ADDED`] bytes to the message.
    TooLarge,
    /// The value of this field does not name a known session.
    NoSession(Tag),
    /// A script failed.
    Script(ScriptFailure),
    /// No value of this field is remembered for the order that the message answers.
    NotRemembered(Tag),
    /// The value of this field is longer than [`MAX_REMEMBERED`].
    TooLong(Tag),
    /// A message with a password is not remembered.
    Secret,
}

impl fmt::Display for ActionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoField(tag) => write!(f, "field {tag} is missing"),
            Self::NotInTable(tag) => {
                write!(f, "the table has no entry for the value of field {tag}")
            }
            Self::BadValue(tag) => write!(f, "field {tag} would be empty or contain SOH"),
            Self::NotInEntry(tag) => {
                write!(
                    f,
                    "field {tag} cannot be set or removed in entries of the group"
                )
            }
            Self::TooLarge => write!(f, "the message would grow by more than {MAX_ADDED} bytes"),
            Self::NoSession(tag) => write!(f, "field {tag} does not name a known session"),
            Self::Script(failure) => failure.fmt(f),
            Self::NotRemembered(tag) => write!(f, "no remembered value for field {tag}"),
            Self::TooLong(tag) => write!(
                f,
                "field {tag} is longer than {MAX_REMEMBERED} bytes, the limit for remembered values"
            ),
            Self::Secret => f.write_str("a message with a password cannot be remembered"),
        }
    }
}

impl core::error::Error for ActionFailure {}

/// A part of a text with fields in it.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(Vec<u8>),
    Field(FieldRef),
}

/// A change, with all names resolved.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Set(FieldRef, Vec<Piece>),
    Copy {
        from: FieldRef,
        to: FieldRef,
        tried: bool,
        /// Whether the source field is removed.
        moves: bool,
    },
    /// The field, and the length field or data field that belongs to it.
    Remove(FieldRef, Option<FieldRef>),
    Map {
        from: FieldRef,
        table: usize,
        column: usize,
        to: FieldRef,
        otherwise: Option<Vec<u8>>,
        tried: bool,
    },
    Format(FieldRef, Format),
    Pseudonym(FieldRef, Pseudonym),
    Each(FieldRef, Box<Change>),
    Drop(FieldRef, Test),
    Script(Box<Script>),
    Recall {
        fields: Vec<FieldRef>,
        otherwise: Option<Vec<u8>>,
        tried: bool,
    },
}

impl Change {
    /// Whether the change writes remembered values.
    pub fn recalls(&self) -> bool {
        match self {
            Self::Recall { .. } => true,
            Self::Each(_, inner) => inner.recalls(),
            _ => false,
        }
    }
}

/// One message while a rule changes it.
pub(super) struct Work<'w> {
    pub draft: &'w mut Draft,
    pub original: &'w Message<'w>,
    pub dictionary: &'w Dictionary,
    pub world: World<'w>,
    /// Buffer for a value.
    pub text: &'w mut Vec<u8>,
    /// Number of bytes that may still be added.
    pub left: usize,
}

/// An entry that is changed: its present position, and its group.
#[derive(Clone, Copy)]
struct Entry<'d> {
    start: usize,
    end: usize,
    def: &'d GroupDef,
}

impl<'w> Work<'w> {
    pub fn apply(&mut self, change: &Change) -> Result<(), ActionFailure> {
        self.change(change, None)
    }

    /// Writes a text with its fields filled in; an absent field is left out.
    pub fn fill(&mut self, pieces: &[Piece]) {
        // Without an error the text has all that there is.
        let _ = self.render(pieces, None, false);
    }

    /// The value of a field of the message.
    pub fn value(&self, field: &FieldRef) -> Option<&[u8]> {
        self.view().value(None, field)
    }

    fn view(&self) -> View<'_, Draft> {
        View {
            fields: self.draft,
            original: self.original,
            dictionary: self.dictionary,
        }
    }

    fn read(&self, entry: Option<Entry<'w>>, field: &FieldRef) -> Option<&[u8]> {
        let level = entry.map(Entry::level);
        self.view().value(level.as_ref(), field)
    }

    /// Applies a change. Calls itself for entries, as deep as the action nests, which the parser limits.
    fn change(&mut self, change: &Change, entry: Option<Entry<'w>>) -> Result<(), ActionFailure> {
        match change {
            Change::Set(field, pieces) => {
                self.render(pieces, entry, true)?;
                self.put(field, entry)
            }
            Change::Copy {
                from,
                to,
                tried,
                moves,
            } => {
                if !self.take(from, entry) {
                    return if *tried {
                        Ok(())
                    } else {
                        Err(ActionFailure::NoField(from.tag))
                    };
                }
                let before = self.draft.len();
                self.put(to, entry)?;
                if !*moves {
                    return Ok(());
                }
                let entry = entry.map(|entry| entry.grown(before, self.draft.len()));
                self.remove(from, entry)
            }
            Change::Remove(field, partner) => {
                self.remove(field, entry)?;
                match partner {
                    Some(partner) => self.remove(partner, entry),
                    None => Ok(()),
                }
            }
            Change::Map {
                from,
                table,
                column,
                to,
                otherwise,
                tried,
            } => {
                let found = self.take(from, entry);
                let table = self.world.tables.get(*table);
                let cell = table.filter(|_| found);
                let cell = cell.and_then(|table| table.get(self.text, *column));
                let failure = match found {
                    true => ActionFailure::NotInTable(from.tag),
                    false => ActionFailure::NoField(from.tag),
                };
                match cell.or(otherwise.as_deref()) {
                    Some(value) => {
                        self.text.clear();
                        self.text.extend_from_slice(value);
                        self.put(to, entry)
                    }
                    None if *tried => Ok(()),
                    None => Err(failure),
                }
            }
            Change::Format(field, format) => {
                if !self.take(field, entry) {
                    return Ok(());
                }
                reshape(self.text, *format);
                self.put(field, entry)
            }
            Change::Pseudonym(field, pseudonym) => {
                if !self.take(field, entry) {
                    return Ok(());
                }
                pseudonym.replace(self.text);
                self.put(field, entry)
            }
            Change::Each(count, change) => self.each(count, change, entry),
            Change::Drop(count, test) => self.drop_entries(count, test, entry),
            Change::Script(script) => self.script(script, entry),
            Change::Recall {
                fields,
                otherwise,
                tried,
            } => self.recall(fields, otherwise.as_deref(), *tried, entry),
        }
    }

    /// Writes the values remembered for an order.
    fn recall(
        &mut self,
        fields: &[FieldRef],
        otherwise: Option<&[u8]>,
        tried: bool,
        mut entry: Option<Entry<'w>>,
    ) -> Result<(), ActionFailure> {
        for field in fields {
            let value = self.world.facts.recalled(field.tag);
            let Some(value) = value.or(otherwise) else {
                match tried {
                    true => continue,
                    false => return Err(ActionFailure::NotRemembered(field.tag)),
                }
            };
            self.text.clear();
            self.text.extend_from_slice(value);
            let before = self.draft.len();
            self.put(field, entry)?;
            entry = entry.map(|entry| entry.grown(before, self.draft.len()));
        }
        Ok(())
    }

    /// Writes ClOrdID, then the fields to remember, each as `tag=value` and SOH; an absent field has no value.
    /// Returns the length of ClOrdID.
    pub fn keep(&mut self, id: &FieldRef, fields: &[FieldRef]) -> Result<usize, ActionFailure> {
        let mut text = core::mem::take(self.text);
        text.clear();
        let kept = self.keep_in(&mut text, id, fields);
        *self.text = text;
        kept
    }

    fn keep_in(
        &self,
        text: &mut Vec<u8>,
        id: &FieldRef,
        fields: &[FieldRef],
    ) -> Result<usize, ActionFailure> {
        if self.original.has_secret() {
            return Err(ActionFailure::Secret);
        }
        let found = self.value(id).filter(|id| !id.is_empty());
        text.extend_from_slice(found.ok_or(ActionFailure::NoField(id.tag))?);
        let len = text.len();
        for field in fields {
            let value = self.value(field).unwrap_or_default();
            if value.len() > MAX_REMEMBERED {
                return Err(ActionFailure::TooLong(field.tag));
            }
            if value.contains(&SOH) {
                return Err(ActionFailure::BadValue(field.tag));
            }
            text.extend_from_slice(itoa::Buffer::new().format(field.tag).as_bytes());
            text.push(b'=');
            text.extend_from_slice(value);
            text.push(SOH);
        }
        Ok(len)
    }

    #[cfg(not(feature = "scripts"))]
    fn script(&mut self, script: &Script, _: Option<Entry<'w>>) -> Result<(), ActionFailure> {
        match *script {}
    }

    /// Writes the fields that a script has written, if the script succeeds.
    #[cfg(feature = "scripts")]
    fn script(&mut self, script: &Script, entry: Option<Entry<'w>>) -> Result<(), ActionFailure> {
        let level = entry.map(Entry::level);
        let (_, msg) = script.run(&self.view(), level.as_ref(), &self.world)?;
        let mut entry = entry;
        for (slot, value) in msg.written() {
            let before = self.draft.len();
            match value {
                Some(value) => {
                    self.text.clear();
                    self.text.extend_from_slice(value.as_bytes());
                    self.put(&slot.field, entry)?;
                }
                None => {
                    self.remove(&slot.field, entry)?;
                    if let Some(partner) = &slot.partner {
                        entry = entry.map(|entry| entry.grown(before, self.draft.len()));
                        self.remove(partner, entry)?;
                    }
                }
            }
            entry = entry.map(|entry| entry.grown(before, self.draft.len()));
        }
        Ok(())
    }

    /// Copies the value of a field into the text; returns whether the field is present.
    fn take(&mut self, field: &FieldRef, entry: Option<Entry<'w>>) -> bool {
        let mut text = core::mem::take(self.text);
        text.clear();
        let value = self.read(entry, field);
        let found = value.is_some();
        text.extend_from_slice(value.unwrap_or_default());
        *self.text = text;
        found
    }

    fn render(
        &mut self,
        pieces: &[Piece],
        entry: Option<Entry<'w>>,
        all: bool,
    ) -> Result<(), ActionFailure> {
        let mut text = core::mem::take(self.text);
        text.clear();
        let mut missing = None;
        for piece in pieces {
            match piece {
                Piece::Text(more) => text.extend_from_slice(more),
                Piece::Field(field) => match self.read(entry, field) {
                    // No single value may be longer than all that can be added.
                    Some(value) if text.len() + value.len() <= MAX_ADDED => {
                        text.extend_from_slice(value);
                    }
                    Some(_) => missing = missing.or(Some(ActionFailure::TooLarge)),
                    None => missing = missing.or(Some(ActionFailure::NoField(field.tag))),
                },
            }
        }
        *self.text = text;
        match missing.filter(|_| all) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Sets a field to the text; adds the field if it is absent.
    fn put(&mut self, field: &FieldRef, entry: Option<Entry<'w>>) -> Result<(), ActionFailure> {
        if self.text.is_empty() || self.text.contains(&SOH) {
            return Err(ActionFailure::BadValue(field.tag));
        }
        let cost = PER_FIELD + self.text.len();
        self.left = self.left.checked_sub(cost).ok_or(ActionFailure::TooLarge)?;
        if let Some(entry) = entry {
            return self.put_in_entry(field.tag, entry);
        }
        if field.tag == tag::MSG_TYPE {
            self.draft.set_msg_type(self.text);
            return Ok(());
        }
        match self.view().find(None, field) {
            Some(at) => self.draft.set_at(at, self.text),
            None if HEADER.contains(&field.tag) => self.draft.set(field.tag, self.text),
            None => {
                let at = self.new_place();
                self.draft.insert(at, field.tag, self.text);
            }
        }
        Ok(())
    }

    /// Position of a new body field: before the first group, whose last entry would otherwise include the field,
    /// and before the trailer.
    fn new_place(&self) -> usize {
        let groups = self.view().groups();
        let trailer = self.dictionary.trailer();
        let len = self.draft.len();
        let ends = |at: &usize| {
            let tag = self.draft.tag(*at);
            let opens = groups.get(tag).is_some() && !HEADER.contains(&tag);
            opens || trailer.member(tag).is_some()
        };
        (0..len).find(ends).unwrap_or(len)
    }

    fn put_in_entry(&mut self, tag: Tag, entry: Entry<'w>) -> Result<(), ActionFailure> {
        let Some(position) = entry.def.position(tag) else {
            return Err(ActionFailure::NotInEntry(tag));
        };
        let view = self.view();
        if let Some(at) = view.find_in_entry(entry.start..entry.end, entry.def, tag) {
            self.draft.set_at(at, self.text);
            return Ok(());
        }
        let mut at = entry.start;
        while at < entry.end {
            let here = self.draft.tag(at);
            if entry.def.position(here).is_some_and(|here| here > position) {
                break;
            }
            at += 1;
            if let Some(nested) = entry.def.group(here) {
                at = group_end(self.draft, at, entry.end, nested);
            }
        }
        self.draft.insert(at, tag, self.text);
        Ok(())
    }

    /// Removes a field, if present; removes the entries of a group with its count.
    fn remove(&mut self, field: &FieldRef, entry: Option<Entry<'w>>) -> Result<(), ActionFailure> {
        let view = self.view();
        let (at, group, end) = match entry {
            Some(entry) => {
                if entry.def.delimiter() == field.tag || entry.def.position(field.tag).is_none() {
                    return Err(ActionFailure::NotInEntry(field.tag));
                }
                let range = entry.start..entry.end;
                let at = view.find_in_entry(range, entry.def, field.tag);
                (at, entry.def.group(field.tag), entry.end)
            }
            None => {
                let at = view.find(None, field);
                (at, view.groups().get(field.tag), self.draft.len())
            }
        };
        if let Some(at) = at {
            let behind = match group {
                Some(def) => group_end(self.draft, at + 1, end, def),
                None => at + 1,
            };
            self.draft.remove(at..behind);
        }
        Ok(())
    }

    /// Position of a group's count, and its group: in the entry, or else in the message.
    fn group(&self, count: &FieldRef, entry: Option<Entry<'w>>) -> Option<(usize, &'w GroupDef)> {
        let groups = Groups::of(self.dictionary, self.draft.msg_type());
        match entry {
            Some(entry) => {
                let def = entry.def.group(count.tag)?;
                let range = entry.start..entry.end;
                let at = self.view().find_in_entry(range, entry.def, count.tag)?;
                Some((at, def))
            }
            None => {
                let def = groups.get(count.tag)?;
                let (at, _) = self.view().group(None, count.tag)?;
                Some((at, def))
            }
        }
    }

    fn each(
        &mut self,
        count: &FieldRef,
        change: &Change,
        entry: Option<Entry<'w>>,
    ) -> Result<(), ActionFailure> {
        let Some((at, def)) = self.group(count, entry) else {
            return Ok(());
        };
        let mut limit = entry.map_or(self.draft.len(), |entry| entry.end);
        let mut start = at + 1;
        while let Some(end) = entry_end(self.draft, start, limit, def) {
            let before = self.draft.len();
            let entry = Entry { start, end, def };
            self.change(change, Some(entry))?;
            let after = self.draft.len();
            start = end + after - before;
            limit = limit + after - before;
        }
        Ok(())
    }

    /// Removes the entries that fulfil the condition, and the count with the last entry.
    fn drop_entries(
        &mut self,
        count: &FieldRef,
        test: &Test,
        entry: Option<Entry<'w>>,
    ) -> Result<(), ActionFailure> {
        let Some((at, def)) = self.group(count, entry) else {
            return Ok(());
        };
        let mut limit = entry.map_or(self.draft.len(), |entry| entry.end);
        let mut start = at + 1;
        let (mut kept, mut dropped) = (0_usize, false);
        let outer = entry.map(Entry::level);
        while let Some(end) = entry_end(self.draft, start, limit, def) {
            let outer = outer.map(|outer| FieldLevel {
                end: limit,
                ..outer
            });
            let level = FieldLevel {
                start,
                end,
                def,
                outer: outer.as_ref(),
            };
            if test.holds(&self.view(), Some(&level), &self.world) {
                self.draft.remove(start..end);
                limit -= end - start;
                dropped = true;
            } else {
                kept += 1;
                start = end;
            }
        }
        if !dropped {
            return Ok(());
        }
        if kept == 0 {
            self.draft.remove(at..at + 1);
            return Ok(());
        }
        self.left = self
            .left
            .checked_sub(PER_FIELD)
            .ok_or(ActionFailure::TooLarge)?;
        self.draft
            .set_at(at, itoa::Buffer::new().format(kept).as_bytes());
        Ok(())
    }
}

impl<'d> Entry<'d> {
    fn level(self) -> FieldLevel<'d> {
        FieldLevel {
            start: self.start,
            end: self.end,
            def: self.def,
            outer: None,
        }
    }

    /// The same entry after the number of the message's fields has changed.
    fn grown(self, before: usize, after: usize) -> Self {
        Self {
            end: self.end + after - before,
            ..self
        }
    }
}
