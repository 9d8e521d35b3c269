//! Fields of requests that the venue gets without a closer look, decided in advance for a client, a line group and a
//! message: the contracts of user and group, the number pools, the user-defined fields, and the dictionaries of client
//! and lines are the same for every request until the next reload.
//!
//! A table lists only fields for which the closer look (`app/fields.rs`, `app/carry.rs`) never asks for anything but the
//! value of the field itself. A request with any other field, with a field twice, or with a value that the table does
//! not accept gets the closer look, which also finds the error.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{DataType, FieldDef};
use fixwire_protocol::value::uint;
use fixwire_protocol::{Dictionary, Message, Tag};

use super::carried::{Gathered, allows};
use super::field_table::LOW;
use super::shapes::{RequestShape, RequestShapes, ShapeOf};
use crate::values::ids::{SessionNo, Table};

/// Number of fields that a table can list. The place of a field is one byte; the first place is for all fields that
/// need a closer look.
const MOST: usize = 255;
/// Words with one bit for each place.
const WORDS: usize = (MOST + 1) / 64;

/// Which values of a field are passed on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DirectValue {
    /// Every value, also an empty one: the settings name the field.
    AsSent,
    /// Every value but an empty one.
    Text,
    /// The values that all lines allow. A bit for each ASCII character that is such a value; longer values are looked up
    /// in the dictionaries of the lines.
    Allowed([u64; 2]),
}

impl DirectValue {
    /// The values that each of these definitions of a field allows.
    pub(crate) fn of<'a>(defs: impl Iterator<Item = &'a FieldDef> + Clone) -> Self {
        let is_text = |def: &FieldDef| {
            let takes_all = matches!(
                def.kind,
                DataType::String
                    | DataType::Country
                    | DataType::Currency
                    | DataType::Exchange
                    | DataType::Language
                    | DataType::MultipleStringValue
            );
            takes_all && def.values.is_empty()
        };
        if defs.clone().all(is_text) {
            return Self::Text;
        }
        let mut allowed = [0; 2];
        for byte in 0..128_u8 {
            if defs.clone().all(|def| allows(def, &[byte])) {
                allowed[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
        }
        Self::Allowed(allowed)
    }
}

/// A member of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectMember {
    pub tag: Tag,
    /// `None` for a member that needs a closer look.
    pub value: Option<DirectValue>,
}

/// What is done with a field of a request.
#[derive(Debug)]
pub(crate) enum DirectUse {
    /// The OMS uses the field, or writes the field itself.
    Ours,
    /// The venue gets the field in the header.
    Header(DirectValue),
    /// The venue gets the field in the body.
    Body(DirectValue),
    /// The field counts the entries of a group with these members, and the venue gets the group.
    Group(DirectValue, Box<[DirectMember]>),
    /// The request needs a closer look.
    Closer,
}

/// The place of a tag from [`LOW`] on.
#[derive(Clone, Copy, Debug)]
struct HighTag {
    tag: Tag,
    place: u8,
}

/// The tables of a client and a line group for NewOrderSingle(D), OrderCancelReplaceRequest(G), OrderCancelRequest(F) and
/// Quote(S); `None` if each such request needs a closer look.
pub(crate) type DirectRequests = [Option<DirectFields>; 4];

/// The tables of all clients.
#[derive(Debug, Default)]
pub(crate) struct DirectTables {
    /// By client and line group.
    pub of: Table<SessionNo, Vec<Arc<DirectRequests>>>,
    /// The shapes of the last requests.
    pub shapes: RequestShapes,
    /// The fields of the request that is being handled, while the closer look gathers them again.
    #[cfg(debug_assertions)]
    pub gathered: Gathered,
}

/// Place of the table of a request in [`DirectRequests`].
#[inline]
fn request_place(request: &Message<'_>) -> Option<usize> {
    match request.msg_type() {
        b"D" => Some(0),
        b"G" => Some(1),
        b"F" => Some(2),
        b"S" => Some(3),
        _ => None,
    }
}

impl DirectTables {
    /// Gathers the fields of a request of a client to a line group that the venue gets. Returns false if the request
    /// needs a closer look; what is gathered then has no meaning.
    #[inline]
    pub(crate) fn gather(
        &mut self,
        client: SessionNo,
        group: usize,
        message: &Message<'_>,
        to: &mut Gathered,
    ) -> bool {
        let Some(request) = request_place(message) else {
            return false;
        };
        let of = self.of.get(client).and_then(|of| of.get(group));
        let Some(table) = of.and_then(|of| of[request].as_ref()) else {
            return false;
        };
        let of = ShapeOf {
            client,
            group,
            request,
        };
        self.shapes.gather(of, table, message, to)
    }

    /// Whether the shape of a request of a client to a line group is remembered.
    #[cfg(test)]
    pub(crate) fn knows(&self, client: SessionNo, group: usize, message: &Message<'_>) -> bool {
        request_place(message).is_some_and(|request| {
            let of = ShapeOf {
                client,
                group,
                request,
            };
            self.shapes.find(of, message.fields()).is_some()
        })
    }
}

/// The fields that a message of a client has without a closer look.
#[derive(Debug)]
pub(crate) struct DirectFields {
    /// By tag, the place of the field in `uses`.
    low: Box<[u8; LOW]>,
    /// Sorted by tag.
    high: Vec<HighTag>,
    uses: Vec<DirectUse>,
    /// The dictionaries of the lines.
    lines: Vec<Arc<Dictionary>>,
    /// Maximum number of bytes of the fields that the venue gets.
    limit: usize,
}

impl DirectFields {
    /// A table without fields, for lines with these dictionaries; `limit` is the maximum number of bytes of all fields.
    pub(crate) fn new(lines: Vec<Arc<Dictionary>>, limit: usize) -> Self {
        Self {
            low: Box::new([0; LOW]),
            high: Vec::new(),
            uses: alloc::vec![DirectUse::Closer],
            lines,
            limit,
        }
    }

    /// Lists a field. A full table stays as it is: the field then needs a closer look.
    pub(crate) fn add(&mut self, tag: Tag, of: DirectUse) {
        let Ok(place) = u8::try_from(self.uses.len()) else {
            return;
        };
        match self.low.get_mut(tag as usize) {
            Some(low) => *low = place,
            None => {
                let at = self.high.partition_point(|it| it.tag < tag);
                self.high.insert(at, HighTag { tag, place });
            }
        }
        self.uses.push(of);
    }

    #[inline]
    fn place(&self, tag: Tag) -> u8 {
        match self.low.get(tag as usize) {
            Some(place) => *place,
            None => {
                let found = self.high.binary_search_by_key(&tag, |it| it.tag);
                found.map_or(0, |at| self.high[at].place)
            }
        }
    }

    #[inline]
    pub(super) fn takes(&self, tag: Tag, rule: DirectValue, value: &[u8]) -> bool {
        match (rule, value) {
            (DirectValue::AsSent, _) => true,
            (DirectValue::Text, _) => !value.is_empty(),
            (DirectValue::Allowed(all), [byte @ 0..128]) => {
                all[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
            }
            (DirectValue::Allowed(_), _) => self.lines_take(tag, value),
        }
    }

    /// Whether the dictionaries of all lines allow a value.
    fn lines_take(&self, tag: Tag, value: &[u8]) -> bool {
        let mut defs = self.lines.iter().map(|line| line.field(tag));
        defs.all(|def| def.is_some_and(|def| allows(def, value)))
    }

    /// Whether the gathered fields are not too long.
    #[inline]
    pub(super) fn has_room(&self, gathered: &Gathered) -> bool {
        gathered.fields().len() <= self.limit
    }

    /// Gathers the fields of a request that the venue gets. Returns false if the request needs a closer look; what is
    /// gathered then has no meaning.
    ///
    /// Neighbouring fields are copied together. `shape` gets the checks and copies that another request with the same
    /// tags needs.
    pub(super) fn gather(
        &self,
        message: &Message<'_>,
        to: &mut Gathered,
        shape: &mut RequestShape,
    ) -> bool {
        to.clear();
        shape.clear();
        let fields = message.fields();
        let mut seen = [0_u64; WORDS];
        let (mut at, mut from, mut first) = (0, 0, None);
        while let Some(field) = fields.get(at) {
            let place = self.place(field.tag);
            let (word, bit) = (&mut seen[usize::from(place / 64)], 1 << (place % 64));
            if *word & bit != 0 {
                return false;
            }
            *word |= bit;
            let of = &self.uses[usize::from(place)];
            match of {
                DirectUse::Ours | DirectUse::Closer => {}
                DirectUse::Body(rule) | DirectUse::Header(rule) | DirectUse::Group(rule, _) => {
                    if !self.takes(field.tag, *rule, message.value(*field)) {
                        return false;
                    }
                    shape.checked(at, *rule);
                }
            }
            match of {
                DirectUse::Ours => {
                    shape.gather(message, from..at, false, to);
                    at += 1;
                    from = at;
                    continue;
                }
                DirectUse::Body(_) => at += 1,
                DirectUse::Group(_, members) => match self.group_len(message, at, members, shape) {
                    Some(len) => at += len,
                    None => return false,
                },
                DirectUse::Header(_) => {
                    shape.gather(message, from..at, false, to);
                    shape.gather(message, at..at + 1, true, to);
                    at += 1;
                    from = at;
                }
                DirectUse::Closer => return false,
            }
            first = first.or(Some(field.tag));
        }
        shape.gather(message, from..at, false, to);
        to.begins_with(first);
        shape.begins_with(first);
        self.has_room(to)
    }

    /// Number of fields of a group, including the NumInGroup field at place `at`; `None` if the group needs a closer
    /// look.
    fn group_len(
        &self,
        message: &Message<'_>,
        at: usize,
        members: &[DirectMember],
        shape: &mut RequestShape,
    ) -> Option<usize> {
        let fields = &message.fields()[at..];
        let delimiter = members.first()?.tag;
        let (mut len, mut entries) = (1, 0);
        while fields.get(len).is_some_and(|it| it.tag == delimiter) {
            let mut after = members;
            while let Some(field) = fields.get(len) {
                // The members of an entry have the order of their definition; any other field ends the entry.
                let Some(place) = after.iter().position(|it| it.tag == field.tag) else {
                    break;
                };
                let rule = after[place].value?;
                if !self.takes(field.tag, rule, message.value(*field)) {
                    return None;
                }
                shape.checked(at + len, rule);
                after = &after[place + 1..];
                len += 1;
            }
            entries += 1;
        }
        shape.counted(at, entries);
        (uint(message.value(fields[0])) == Ok(entries)).then_some(len)
    }
}
