//! Fields of requests that venues get unchanged.

use alloc::vec::Vec;

use fixwire_protocol::decode::DATA_PAIRS;
use fixwire_protocol::dictionary::{FieldDef, GroupDef};
use fixwire_protocol::value::uint;
use fixwire_protocol::{Dictionary, Field, Message, SOH, Tag};

/// Carried fields in the order in which the request has them, each as `tag=value` and SOH; groups are complete.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CarriedFields<'a> {
    /// Carried fields of the header.
    pub header: &'a [u8],
    /// Carried fields of the body.
    pub body: &'a [u8],
    /// Only for an OrderCancelReplaceRequest(G): body fields that G cannot have, and that the order keeps.
    pub kept: &'a [u8],
}

impl CarriedFields<'_> {
    /// No field.
    pub const NONE: Self = Self {
        header: b"",
        body: b"",
        kept: b"",
    };

    /// Whether no field is carried.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of bytes of all carried fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.header.len() + self.body.len() + self.kept.len()
    }
}

/// A single carried field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarriedField<'a> {
    pub tag: Tag,
    pub value: &'a [u8],
    /// The whole field, with its tag and SOH.
    pub bytes: &'a [u8],
}

/// The fields in these bytes, one by one. The value of a data field, which follows its length, may contain SOH.
pub(crate) fn each_field(mut bytes: &[u8]) -> impl Iterator<Item = CarriedField<'_>> {
    let mut data = None;
    core::iter::from_fn(move || {
        let start = 1 + bytes.iter().position(|byte| *byte == b'=')?;
        let tag = uint(&bytes[..start - 1])
            .ok()
            .and_then(|tag| Tag::try_from(tag).ok())?;
        let rest = &bytes[start..];
        let len = match data.take() {
            Some((of, len)) if of == tag && rest.get(len) == Some(&SOH) => len,
            _ => rest.iter().position(|byte| *byte == SOH)?,
        };
        let (value, (field, after)) = (&rest[..len], bytes.split_at(start + len + 1));
        let pair = DATA_PAIRS.iter().find(|(length, _)| *length == tag);
        let count = uint(value).ok().and_then(|len| usize::try_from(len).ok());
        data = pair.map(|(_, data)| *data).zip(count);
        bytes = after;
        Some(CarriedField {
            tag,
            value,
            bytes: field,
        })
    })
}

/// Whether these bytes are whole fields and nothing else.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    let read: usize = each_field(bytes).map(|field| field.bytes.len()).sum();
    read == bytes.len()
}

/// Whether the value of a field contains SOH, and no length field that [`each_field`] uses precedes the field. The
/// bytes of such a field alone would be read as several fields.
pub(crate) fn splits(message: &Message<'_>, place: usize) -> bool {
    let fields = message.fields();
    let field = fields[place];
    let length = place.checked_sub(1).map(|before| fields[before].tag);
    let is_pair = |pair: &(Tag, Tag)| length == Some(pair.0) && field.tag == pair.1;
    message.value(field).contains(&SOH) && !DATA_PAIRS.iter().any(is_pair)
}

/// The place of the other field of a pair, which is a length field and the data field after it; `None` for a field that
/// belongs to no pair.
///
/// # Errors
///
/// The tag of the field when the other one is missing. A venue could not read the one without the other.
pub(crate) fn other_of_pair(message: &Message<'_>, place: usize) -> Result<Option<usize>, Tag> {
    let fields = message.fields();
    let tag = fields[place].tag;
    let is_at = |at: &usize, tag: Tag| fields.get(*at).is_some_and(|it| it.tag == tag);
    for &(length, data) in DATA_PAIRS {
        if tag == length {
            let after = Some(place + 1).filter(|at| is_at(at, data));
            return after.map(Some).ok_or(tag);
        }
        if tag == data {
            let before = place.checked_sub(1).filter(|at| is_at(at, length));
            return before.map(Some).ok_or(tag);
        }
    }
    Ok(None)
}

/// Number of fields of a single value: 1, or 2 for a length field with its data field. `None` for one of the two without
/// the other, and for data of another length.
pub(crate) fn single_len(message: &Message<'_>, at: usize) -> Option<usize> {
    let fields = message.fields();
    let tag = fields.get(at)?.tag;
    let Some(pair) = DATA_PAIRS.iter().find(|it| it.0 == tag || it.1 == tag) else {
        return Some(1);
    };
    let data = fields.get(at + 1).filter(|it| (tag, it.tag) == *pair)?;
    let len = uint(message.value(fields[at])).ok()?;
    (message.value(*data).len() as u64 == len).then_some(2)
}

/// Number of fields of a group, including the NumInGroup field at its start.
///
/// # Errors
///
/// The tag of the NumInGroup field, when its value is not the number of entries.
pub(crate) fn group_len(
    def: &GroupDef,
    message: &Message<'_>,
    fields: &[Field],
) -> Result<usize, Tag> {
    let (mut len, mut entries) = (1, 0);
    while fields.get(len).is_some_and(|it| it.tag == def.delimiter()) {
        let mut last = None;
        while let Some(field) = fields.get(len)
            && let Some(position) = def.position(field.tag)
            && last.is_none_or(|last| last < position)
        {
            last = Some(position);
            len += match def.group(field.tag) {
                Some(nested) => group_len(nested, message, &fields[len..])?,
                None => 1,
            };
        }
        entries += 1;
    }
    let count = uint(message.value(fields[0]));
    match count == Ok(entries) {
        true => Ok(len),
        false => Err(fields[0].tag),
    }
}

/// Whether a group, or a nested group, has a field with this tag.
pub(crate) fn has_member(group: &GroupDef, tag: Tag) -> bool {
    let mut members = group.members().iter();
    members.any(|it| it.tag == tag || it.group.as_ref().is_some_and(|it| has_member(it, tag)))
}

/// Whether a dictionary allows a field to have this value. A value that it lists may have another form than the type:
/// MiscFeeType(139) of FIX 4.4 is a character, and may be 10.
pub(crate) fn allows(def: &FieldDef, value: &[u8]) -> bool {
    let mut values = value.split(|byte| *byte == b' ');
    let is_listed = match def.kind.is_multiple() {
        true => values.all(|value| def.allows(value)),
        false => def.allows(value),
    };
    let mut known = def.values.iter();
    let is_known = known.any(|known| known.value.as_bytes() == value);
    !value.is_empty() && (is_known || (is_listed && def.kind.accepts(value)))
}

/// Checks a field of a message, or a NumInGroup field with its group, against the dictionaries of its client and of a
/// line.
///
/// # Errors
///
/// The tag that the line refuses.
pub(crate) fn fault(
    message: &Message<'_>,
    msg_type: &[u8],
    fields: &[Field],
    why: SentBecause,
    from: &Dictionary,
    to: &Dictionary,
) -> Result<(), Tag> {
    let first = fields[0].tag;
    let part = match from.header().member(first) {
        Some(_) => Some(to.header()),
        None => to.message(msg_type),
    };
    let member = match (part.and_then(|part| part.member(first)), why) {
        (Some(member), _) => member,
        // The settings name the field, and have precedence over the venue's dictionary.
        (None, SentBecause::Named) => return Ok(()),
        (None, SentBecause::OfTable) => return Err(first),
    };
    for field in fields {
        let is_fit = match (from.field(field.tag), to.field(field.tag), why) {
            (_, Some(_), SentBecause::Named) => true,
            (Some(from), Some(to), SentBecause::OfTable) => {
                from.kind == to.kind && allows(to, message.value(*field))
            }
            (None, _, SentBecause::OfTable) | (_, None, _) => false,
        };
        if !is_fit {
            return Err(field.tag);
        }
    }
    let len = match &member.group {
        Some(def) => group_len(def, message, fields)?,
        None => 1,
    };
    fields.get(len).map_or(Ok(()), |field| Err(field.tag))
}

/// Why a venue gets a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SentBecause {
    /// The table of fields passes the field on.
    OfTable,
    /// The settings name the field; the venue may get another value than the client sent.
    Named,
}

/// Number of gathered fields for which memory is set aside; a field with its group is one.
const UNITS: usize = 128;

/// The fields gathered from the request that is being handled.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    header: Vec<u8>,
    body: Vec<u8>,
    kept: Vec<u8>,
    /// The gathered fields that are not members of groups. If the fields were gathered without a closer look, only the
    /// first one.
    units: Vec<GatheredUnit>,
}

/// A gathered field, with its group.
#[derive(Clone, Copy, Debug)]
struct GatheredUnit {
    tag: Tag,
    is_header: bool,
    /// Number of bytes.
    len: usize,
}

impl Gathered {
    /// Allocates the memory for the fields of one request, which have at most `longest` bytes.
    pub(crate) fn set_aside(&mut self, longest: usize) {
        self.clear();
        let parts = [&mut self.header, &mut self.body, &mut self.kept];
        parts.into_iter().for_each(|it| it.reserve(longest));
        self.units.reserve(UNITS);
    }

    pub(crate) fn clear(&mut self) {
        self.header.clear();
        self.body.clear();
        self.kept.clear();
        self.units.clear();
    }

    pub(crate) fn fields(&self) -> CarriedFields<'_> {
        CarriedFields {
            header: &self.header,
            body: &self.body,
            kept: &self.kept,
        }
    }

    pub(crate) fn has(&self, tag: Tag) -> bool {
        self.units.iter().any(|unit| unit.tag == tag)
    }

    /// Adds a field that the order keeps and that its replace does not have.
    pub(crate) fn keep(&mut self, field: &[u8]) {
        self.kept.extend_from_slice(field);
    }

    /// Takes a gathered field of the body away from the request, so that the order keeps it; returns false if no such
    /// field is gathered.
    #[cold]
    pub(crate) fn keep_instead(&mut self, tag: Tag) -> bool {
        let is_it = |unit: &GatheredUnit| unit.tag == tag && !unit.is_header;
        let Some(place) = self.units.iter().position(is_it) else {
            return false;
        };
        let before = self.units[..place].iter().filter(|unit| !unit.is_header);
        let start: usize = before.map(|unit| unit.len).sum();
        let unit = self.units.remove(place);
        let bytes = self.body.drain(start..start + unit.len);
        self.kept.extend(bytes);
        true
    }

    pub(crate) fn first_tag(&self) -> Option<Tag> {
        self.units.first().map(|unit| unit.tag)
    }

    /// Adds whole fields of the header, whose tags nobody asks for.
    #[inline]
    pub(crate) fn add_header(&mut self, fields: &[u8]) {
        self.header.extend_from_slice(fields);
    }

    /// Adds whole fields of the body, whose tags nobody asks for.
    #[inline]
    pub(crate) fn add_body(&mut self, fields: &[u8]) {
        self.body.extend_from_slice(fields);
    }

    /// Sets the first of the added fields.
    #[inline]
    pub(crate) fn begins_with(&mut self, first: Option<Tag>) {
        let unit = |tag| GatheredUnit {
            tag,
            is_header: false,
            len: 0,
        };
        self.units.extend(first.map(unit));
    }

    /// Adds a field, or a NumInGroup field with its group; returns false when it was added before.
    pub(crate) fn add(
        &mut self,
        tag: Tag,
        is_header: bool,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        if self.has(tag) {
            return false;
        }
        let to = match is_header {
            true => &mut self.header,
            false => &mut self.body,
        };
        let before = to.len();
        write(to);
        let len = to.len() - before;
        self.units.push(GatheredUnit {
            tag,
            is_header,
            len,
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::Decoder;

    #[test]
    fn data_of_a_length_that_nobody_else_knows_would_be_several_fields() {
        let mut decoder = Decoder::with_capacity(8);
        decoder.add_data_pairs(&[(9401, 9402)]);
        let bytes = b"354=3\x01355=a\x01b\x019401=3\x019402=c\x01d\x0158=e\x01";
        let message = decoder.decode(bytes);
        let tags: Vec<Tag> = message.fields().iter().map(|field| field.tag).collect();
        assert_eq!(tags, [354, 355, 9401, 9402, 58]);
        let splitting: Vec<usize> = (0..5).filter(|place| splits(&message, *place)).collect();
        assert_eq!(splitting, [3]);
        let standard = each_field(message.raw(0..2)).map(|field| field.tag);
        assert_eq!(standard.collect::<Vec<Tag>>(), [354, 355]);
    }
}
