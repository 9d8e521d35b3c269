//! Finds fields in messages with repeating groups.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use fixwire_protocol::dictionary::{Dictionary, GroupDef, MessageDef};
use fixwire_protocol::{Message, Tag, tag};

use crate::Draft;
use crate::draft::OF_THE_SESSION;

/// Fields in sequence, of a received message or of a draft.
pub trait FieldSequence {
    /// The number of fields.
    fn count(&self) -> usize;
    /// The tag at an index; 0 after the last field.
    fn tag_at(&self, at: usize) -> Tag;
    /// The value at an index; empty after the last field.
    fn value_at(&self, at: usize) -> &[u8];
    /// Index of the first field with a tag.
    fn first(&self, tag: Tag) -> Option<usize>;
    /// MsgType(35).
    fn kind(&self) -> &[u8];
}

impl FieldSequence for Message<'_> {
    fn count(&self) -> usize {
        self.fields().len()
    }

    fn tag_at(&self, at: usize) -> Tag {
        self.fields().get(at).map_or(0, |field| field.tag)
    }

    fn value_at(&self, at: usize) -> &[u8] {
        let field = self.fields().get(at);
        field.map_or(&[], |field| self.value(*field))
    }

    fn first(&self, tag: Tag) -> Option<usize> {
        self.index_of(tag)
    }

    fn kind(&self) -> &[u8] {
        self.msg_type()
    }
}

impl FieldSequence for Draft {
    fn count(&self) -> usize {
        self.len()
    }

    fn tag_at(&self, at: usize) -> Tag {
        self.tag(at)
    }

    fn value_at(&self, at: usize) -> &[u8] {
        self.value(at)
    }

    fn first(&self, tag: Tag) -> Option<usize> {
        self.find(tag)
    }

    fn kind(&self) -> &[u8] {
        self.msg_type()
    }
}

/// A field named in a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldRef {
    /// The field's tag.
    pub tag: Tag,
    /// The message types that have the field in group entries too, sorted. In these types, a search for the field
    /// outside of groups must skip group entries.
    pub grouped_in: Arc<[Vec<u8>]>,
    /// Whether each session sets the field itself, so that a draft lacks it.
    pub of_session: bool,
}

impl FieldRef {
    /// The field with this tag, which these message types have in groups.
    #[must_use]
    pub fn new(tag: Tag, grouped_in: Arc<[Vec<u8>]>) -> Self {
        let of_session = OF_THE_SESSION.contains(&tag);
        Self {
            tag,
            grouped_in,
            of_session,
        }
    }
}

/// Where a field is searched: in an entry of a group, then in the enclosing entries.
#[derive(Clone, Copy, Debug)]
pub struct FieldLevel<'l> {
    /// Index of the entry's first field.
    pub start: usize,
    /// Index after the entry's last field.
    pub end: usize,
    /// The entry's group.
    pub def: &'l GroupDef,
    /// The enclosing entry; `None` for the message.
    pub outer: Option<&'l FieldLevel<'l>>,
}

/// Fields together with their dictionary.
pub struct View<'v, F> {
    /// The fields.
    pub fields: &'v F,
    /// The received message. Only it has the fields that each session sets itself.
    pub original: &'v Message<'v>,
    /// The dictionary of the source session.
    pub dictionary: &'v Dictionary,
}

impl<'v> View<'v, Message<'v>> {
    /// A view of a received message.
    pub fn of(message: &'v Message<'v>, dictionary: &'v Dictionary) -> Self {
        Self {
            fields: message,
            original: message,
            dictionary,
        }
    }
}

impl<'v, F: FieldSequence> View<'v, F> {
    /// The value of a field: from the innermost entry whose group has the field, otherwise from the message outside
    /// of groups.
    pub fn value(&self, level: Option<&FieldLevel<'_>>, field: &FieldRef) -> Option<&'v [u8]> {
        if field.tag == tag::MSG_TYPE {
            return Some(self.fields.kind());
        }
        if field.of_session {
            return self.original.get(field.tag);
        }
        let at = self.find(level, field)?;
        Some(self.fields.value_at(at))
    }

    /// Index of a field, found as in [`Self::value`].
    pub fn find(&self, mut level: Option<&FieldLevel<'_>>, field: &FieldRef) -> Option<usize> {
        while let Some(entry) = level {
            if entry.def.position(field.tag).is_some() {
                return self.find_in_entry(entry.start..entry.end, entry.def, field.tag);
            }
            level = entry.outer;
        }
        if field.grouped_in.is_empty() {
            return self.fields.first(field.tag);
        }
        let kind = self.fields.kind();
        let grouped = field
            .grouped_in
            .binary_search_by(|known| known.as_slice().cmp(kind));
        match grouped {
            Ok(_) => {
                let groups = self.groups();
                let all = 0..self.fields.count();
                find_own(self.fields, all, field.tag, |tag| groups.get(tag))
            }
            Err(_) => self.fields.first(field.tag),
        }
    }

    /// Index of a field that belongs to an entry itself, not to a nested group.
    pub fn find_in_entry(&self, range: Range<usize>, def: &GroupDef, tag: Tag) -> Option<usize> {
        find_own(self.fields, range, tag, |tag| def.group(tag))
    }

    /// The groups of this message type.
    pub fn groups(&self) -> Groups<'v> {
        Groups::of(self.dictionary, self.fields.kind())
    }

    /// Index of a count field, and its group: in the innermost entry whose group has the count, otherwise in the
    /// message.
    pub fn group<'l>(
        &self,
        mut level: Option<&FieldLevel<'l>>,
        count: Tag,
    ) -> Option<(usize, &'l GroupDef)>
    where
        'v: 'l,
    {
        while let Some(entry) = level {
            if let Some(def) = entry.def.group(count) {
                let at = self.find_in_entry(entry.start..entry.end, entry.def, count)?;
                return Some((at, def));
            }
            level = entry.outer;
        }
        let groups = self.groups();
        let def = groups.get(count)?;
        let all = 0..self.fields.count();
        let at = find_own(self.fields, all, count, |tag| groups.get(tag))?;
        Some((at, def))
    }
}

/// The outermost groups of a message type.
#[derive(Clone, Copy)]
pub struct Groups<'d> {
    message: Option<&'d MessageDef>,
    dictionary: &'d Dictionary,
}

impl<'d> Groups<'d> {
    /// The groups of a message type.
    pub fn of(dictionary: &'d Dictionary, msg_type: &[u8]) -> Self {
        Self {
            message: dictionary.message(msg_type),
            dictionary,
        }
    }

    /// The group whose entries this field counts.
    pub fn get(&self, count: Tag) -> Option<&'d GroupDef> {
        let of_message = self.message.and_then(|message| message.group(count));
        of_message.or_else(|| self.dictionary.header().group(count))
    }
}

/// Index of the first field with this tag in a range; fields in group entries are skipped.
pub fn find_own<'d>(
    fields: &impl FieldSequence,
    range: Range<usize>,
    tag: Tag,
    group: impl Fn(Tag) -> Option<&'d GroupDef>,
) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        let found = fields.tag_at(at);
        if found == tag {
            return Some(at);
        }
        at += 1;
        if let Some(def) = group(found) {
            at = group_end(fields, at, range.end, def);
        }
    }
    None
}

/// Index after the group entries that begin at this index.
pub fn group_end(
    fields: &impl FieldSequence,
    mut at: usize,
    limit: usize,
    def: &GroupDef,
) -> usize {
    while let Some(end) = entry_end(fields, at, limit, def) {
        at = end;
    }
    at
}

/// Index after the group entry that begins at this index; `None` if no entry begins there. Recursion is as deep as
/// the definition nests.
pub fn entry_end(
    fields: &impl FieldSequence,
    at: usize,
    limit: usize,
    def: &GroupDef,
) -> Option<usize> {
    if at >= limit || fields.tag_at(at) != def.delimiter() {
        return None;
    }
    let mut next = at;
    loop {
        let nested = def.group(fields.tag_at(next));
        next += 1;
        if let Some(nested) = nested {
            next = group_end(fields, next, limit, nested);
        }
        if next >= limit
            || fields.tag_at(next) == def.delimiter()
            || def.position(fields.tag_at(next)).is_none()
        {
            return Some(next);
        }
    }
}
