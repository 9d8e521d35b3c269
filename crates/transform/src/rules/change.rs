//! Changes fields of a message and keeps its repeating groups intact.

use alloc::boxed::Box;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{Dictionary, GroupDef};
use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Message, SOH, Tag, tag};

use super::condition::{Test, World};
use super::fields::{FieldLevel, FieldRef, Groups, View, entry_end, group_end};
use super::pseudonym::Pseudonym;
use super::reshape::reshape;
use super::script::Script;
use super::syntax::Format;
use crate::draft::{HEADER, ValueSpan, kept, span_of};
use crate::failure::{MAX_ADDED, MAX_REMEMBERED};
use crate::verb::{Fields, Piece, Verb};
use crate::{Draft, TransformFailure};

/// Bytes of [`MAX_ADDED`] that each written field counts in addition to its value.
const PER_FIELD: usize = 64;

/// A change, with all names resolved.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Verb(Verb<FieldRef>),
    /// Sets a field to a cell of a table: the cell in the row that another field's value selects.
    Map {
        from: FieldRef,
        table: usize,
        column: usize,
        to: FieldRef,
        otherwise: Option<Vec<u8>>,
    },
    Format(FieldRef, Format),
    Pseudonym(FieldRef, Pseudonym),
    /// Sets a field to the value remembered for an order.
    Recall(FieldRef, Option<Vec<u8>>),
    Each(FieldRef, Box<Change>),
    Drop(FieldRef, Box<Test>),
    Script(Box<Script>),
    /// `try`: the change is skipped when it has no value to write.
    Try(Box<Change>),
    /// Several changes, one after the other.
    All(Vec<Change>),
}

impl Change {
    /// The same change with `try` before it.
    pub fn tried(self) -> Self {
        match self {
            Self::All(changes) => Self::All(changes.into_iter().map(Self::tried).collect()),
            change => Self::Try(Box::new(change)),
        }
    }

    /// Whether the change writes remembered values.
    pub fn recalls(&self) -> bool {
        match self {
            Self::Recall(..) => true,
            Self::Each(_, inner) | Self::Try(inner) => inner.recalls(),
            Self::All(changes) => changes.iter().any(Self::recalls),
            _ => false,
        }
    }
}

/// One message while a rule changes it.
pub(super) struct Work<'w> {
    /// The fields of the message. The draft's text begins with the received message's bytes.
    pub draft: &'w mut Draft,
    pub original: &'w Message<'w>,
    pub dictionary: &'w Dictionary,
    pub world: World<'w>,
    /// Number of bytes that may still be added.
    pub left: usize,
    /// The group entry that is changed, at its present position. `None` for the part of the message outside of
    /// groups.
    pub entry: Option<FieldLevel<'w>>,
}

impl Fields for Work<'_> {
    type Name = FieldRef;

    fn tag(field: &FieldRef) -> Tag {
        field.tag
    }

    fn text(&mut self) -> &mut Vec<u8> {
        self.draft.text_mut()
    }

    fn value(&self, field: &FieldRef) -> Option<ValueSpan> {
        if field.tag == tag::MSG_TYPE {
            return Some(self.draft.msg_type_span());
        }
        if field.of_session {
            return span_of(self.original, field.tag);
        }
        let at = self.view().find(self.entry.as_ref(), field)?;
        Some(self.draft.span(at))
    }

    fn put(&mut self, field: &FieldRef, value: ValueSpan) -> Result<(), TransformFailure> {
        let bytes = self.draft.bytes(value);
        if bytes.is_empty() || bytes.contains(&SOH) {
            return Err(TransformFailure::BadValue(field.tag));
        }
        let cost = PER_FIELD + bytes.len();
        self.spend(cost)?;
        if let Some(entry) = self.entry {
            return self.put_in_entry(field.tag, value, entry);
        }
        if field.tag == tag::MSG_TYPE {
            if is_admin(self.draft.bytes(value)) {
                return Err(TransformFailure::SessionMessage);
            }
            self.draft.set_msg_type_span(value);
            return Ok(());
        }
        match self.view().find(None, field) {
            Some(at) => self.draft.set_span_at(at, value),
            None if HEADER.contains(&field.tag) => self.draft.set_span(field.tag, value),
            None => {
                let at = self.new_place();
                self.draft.insert_span(at, field.tag, value);
            }
        }
        Ok(())
    }

    fn remove(&mut self, field: &FieldRef) -> Result<(), TransformFailure> {
        let view = self.view();
        let (at, group, end) = match self.entry {
            Some(FieldLevel { def, .. })
                if def.delimiter() == field.tag || def.position(field.tag).is_none() =>
            {
                return Err(TransformFailure::NotInEntry(field.tag));
            }
            Some(FieldLevel {
                start, end, def, ..
            }) => {
                let at = view.find_in_entry(start..end, def, field.tag);
                (at, def.group(field.tag), end)
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
            self.end_entry_at(end - (behind - at));
        }
        Ok(())
    }
}

impl<'w> Work<'w> {
    /// Appends a text with its fields filled in. An absent field contributes nothing.
    pub fn fill(&self, pieces: &[Piece<FieldRef>], text: &mut Vec<u8>) {
        text.clear();
        for piece in pieces {
            let part = match piece {
                Piece::Text(part) => part,
                Piece::Field(field) => self.read(field).unwrap_or_default(),
            };
            if text.len() + part.len() <= MAX_ADDED || matches!(piece, Piece::Text(_)) {
                text.extend_from_slice(part);
            }
        }
    }

    /// The value of a field.
    pub fn read(&self, field: &FieldRef) -> Result<&[u8], TransformFailure> {
        let value = self.view().value(self.entry.as_ref(), field);
        value.ok_or(TransformFailure::NoField(field.tag))
    }

    fn view(&self) -> View<'_, Draft> {
        View {
            fields: self.draft,
            original: self.original,
            dictionary: self.dictionary,
        }
    }

    /// Applies a change. Recursion for group entries is as deep as the action nests; the parser limits the depth.
    pub fn change(&mut self, change: &Change) -> Result<(), TransformFailure> {
        match change {
            Change::Verb(verb) => verb.apply(self),
            Change::Map {
                from,
                table,
                column,
                to,
                otherwise,
            } => {
                let table = self.world.tables.get(*table);
                let cell = self.read(from).and_then(|key| {
                    let cell = table.and_then(|table| table.get(key, *column));
                    cell.ok_or(TransformFailure::NotInTable(from.tag))
                });
                let cell = cell.or_else(|failure| otherwise.as_deref().ok_or(failure))?;
                self.write(to, cell)
            }
            Change::Format(field, format) => {
                self.edit(field, |text, start| reshape(text, start, *format))
            }
            Change::Pseudonym(field, pseudonym) => {
                self.edit(field, |text, start| pseudonym.replace(text, start))
            }
            Change::Recall(field, otherwise) => {
                let value = self.world.facts.recalled(field.tag);
                let value = value.or(otherwise.as_deref());
                self.write(
                    field,
                    value.ok_or(TransformFailure::NotRemembered(field.tag))?,
                )
            }
            Change::Each(count, change) => self.each(count, change),
            Change::Drop(count, test) => self.drop_entries(count, test),
            Change::Script(script) => self.script(script),
            Change::Try(change) => match self.change(change) {
                Err(
                    TransformFailure::NoField(_)
                    | TransformFailure::NotInTable(_)
                    | TransformFailure::NotRemembered(_),
                ) => Ok(()),
                done => done,
            },
            Change::All(changes) => changes.iter().try_for_each(|one| self.change(one)),
        }
    }

    /// Sets a field to bytes that are not in the draft's text.
    fn write(&mut self, field: &FieldRef, value: &[u8]) -> Result<(), TransformFailure> {
        let value = kept(self.text(), value);
        self.put(field, value)
    }

    /// Changes the value of a field, if the field is present. `edit` gets the text with a copy of the value at its
    /// end, and the index where the copy begins.
    fn edit(
        &mut self,
        field: &FieldRef,
        change: impl FnOnce(&mut Vec<u8>, usize),
    ) -> Result<(), TransformFailure> {
        let Some((from, to)) = self.value(field) else {
            return Ok(());
        };
        let text = self.text();
        let start = text.len();
        text.extend_from_within(from as usize..to as usize);
        change(text, start);
        let value = (start as u32, text.len() as u32);
        self.put(field, value)
    }

    /// Writes the fields to remember, each as `tag=value` and SOH; an absent field gets an empty value. Returns
    /// ClOrdID(11) and the fields.
    pub fn remembered(
        &mut self,
        id: &FieldRef,
        fields: &[FieldRef],
    ) -> Result<(ValueSpan, ValueSpan), TransformFailure> {
        if self.original.has_secret() {
            return Err(TransformFailure::Secret);
        }
        let found = self.value(id).filter(|(start, end)| start < end);
        let id = found.ok_or(TransformFailure::NoField(id.tag))?;
        let start = self.text().len() as u32;
        for field in fields {
            let value = self.value(field).unwrap_or_default();
            let bytes = self.draft.bytes(value);
            if bytes.len() > MAX_REMEMBERED {
                return Err(TransformFailure::TooLong(field.tag));
            }
            if bytes.contains(&SOH) {
                return Err(TransformFailure::BadValue(field.tag));
            }
            let text = self.text();
            text.extend_from_slice(itoa::Buffer::new().format(field.tag).as_bytes());
            text.push(b'=');
            text.extend_from_within(value.0 as usize..value.1 as usize);
            text.push(SOH);
        }
        Ok((id, (start, self.text().len() as u32)))
    }

    #[cfg(not(feature = "scripts"))]
    fn script(&mut self, script: &Script) -> Result<(), TransformFailure> {
        match *script {}
    }

    /// Writes the fields that a script has written, if the script succeeds.
    #[cfg(feature = "scripts")]
    fn script(&mut self, script: &Script) -> Result<(), TransformFailure> {
        let (_, msg) = script.run(&self.view(), self.entry.as_ref(), &self.world)?;
        for (slot, value) in msg.written() {
            match value {
                Some(value) => self.write(&slot.field, value.as_bytes())?,
                None => {
                    self.remove(&slot.field)?;
                    slot.partner.iter().try_for_each(|one| self.remove(one))?;
                }
            }
        }
        Ok(())
    }

    /// Counts bytes that are added to the message; fails above the limit.
    fn spend(&mut self, bytes: usize) -> Result<(), TransformFailure> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(TransformFailure::TooLarge)?;
        Ok(())
    }

    /// The position for a new body field: before the trailer, and before the first group, whose last entry would
    /// otherwise include the field.
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

    fn put_in_entry(
        &mut self,
        tag: Tag,
        value: ValueSpan,
        entry: FieldLevel<'w>,
    ) -> Result<(), TransformFailure> {
        let FieldLevel {
            start, end, def, ..
        } = entry;
        let Some(position) = def.position(tag) else {
            return Err(TransformFailure::NotInEntry(tag));
        };
        if let Some(at) = self.view().find_in_entry(start..end, def, tag) {
            self.draft.set_span_at(at, value);
            return Ok(());
        }
        let mut at = start;
        while at < end {
            let here = self.draft.tag(at);
            if def.position(here).is_some_and(|here| here > position) {
                break;
            }
            at += 1;
            if let Some(nested) = def.group(here) {
                at = group_end(self.draft, at, end, nested);
            }
        }
        self.draft.insert_span(at, tag, value);
        self.end_entry_at(end + 1);
        Ok(())
    }

    /// Sets the end of the entry that is changed: the index after its last field.
    fn end_entry_at(&mut self, end: usize) {
        self.entry = self.entry.map(|entry| FieldLevel { end, ..entry });
    }

    /// Position of a group's count field, and the group: in the current entry if it has the group, otherwise in the
    /// message.
    fn group(&self, count: Tag) -> Option<(usize, &'w GroupDef)> {
        match self.entry {
            Some(entry) => {
                let def = entry.def.group(count)?;
                let range = entry.start..entry.end;
                let at = self.view().find_in_entry(range, entry.def, count)?;
                Some((at, def))
            }
            None => {
                let def = Groups::of(self.dictionary, self.draft.msg_type()).get(count)?;
                let (at, _) = self.view().group(None, count)?;
                Some((at, def))
            }
        }
    }

    fn each(&mut self, count: &FieldRef, change: &Change) -> Result<(), TransformFailure> {
        let Some((at, def)) = self.group(count.tag) else {
            return Ok(());
        };
        let outer = self.entry;
        let mut limit = outer.map_or(self.draft.len(), |entry| entry.end);
        let mut start = at + 1;
        while let Some(end) = entry_end(self.draft, start, limit, def) {
            self.entry = Some(FieldLevel {
                start,
                end,
                def,
                outer: None,
            });
            let before = self.draft.len();
            self.change(change)?;
            let after = self.draft.len();
            start = end + after - before;
            limit = limit + after - before;
        }
        self.entry = outer;
        self.end_entry_at(limit);
        Ok(())
    }

    /// Removes the entries that meet the condition. When the last entry is removed, removes the count field too.
    fn drop_entries(&mut self, count: &FieldRef, test: &Test) -> Result<(), TransformFailure> {
        let Some((at, def)) = self.group(count.tag) else {
            return Ok(());
        };
        let before = self.entry.map_or(self.draft.len(), |entry| entry.end);
        let (mut start, mut limit, mut kept) = (at + 1, before, 0_usize);
        while let Some(end) = entry_end(self.draft, start, limit, def) {
            self.end_entry_at(limit);
            let level = FieldLevel {
                start,
                end,
                def,
                outer: self.entry.as_ref(),
            };
            if test.holds(&self.view(), Some(&level), &self.world) {
                self.draft.remove(start..end);
                limit -= end - start;
            } else {
                kept += 1;
                start = end;
            }
        }
        match kept {
            _ if limit == before => {}
            0 => {
                self.draft.remove(at..at + 1);
                limit -= 1;
            }
            _ => {
                self.spend(PER_FIELD)?;
                let mut digits = itoa::Buffer::new();
                self.draft.set_at(at, digits.format(kept).as_bytes());
            }
        }
        self.end_entry_at(limit);
        Ok(())
    }
}
