//! The decoder. The decoder splits a message into fields in one pass.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::{fmt, mem, slice};

use wide::u8x16;

use crate::dictionary::{DataType, Dictionary};
use crate::message::{Field, Message, QUICK, SECRET, SECRETS, quick_bit};
use crate::{MessageLimit, SOH, Tag, value};

/// A malformed field. The session answers the message with a Reject(3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FieldFault {
    /// The fault of the field.
    pub kind: FaultKind,
    /// The field's tag; `None` if the field has no readable tag.
    pub tag: Option<Tag>,
    /// The index of the field in the message, from 0.
    pub index: usize,
}

/// The ways in which a field can be malformed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// There is no `=` before the SOH. Two SOH in a row are a field without `=`.
    NoValue,
    /// The text before `=` is not a number of 1 to 9 digits that begins with another digit than 0:
    /// SessionRejectReason(373) = 0.
    BadTag,
    /// The data field does not have the length that its length field states.
    BadDataLength,
    /// The message has more fields than the decoder has room for. The rest of the message was not read.
    TooManyFields,
    /// The last field has no SOH.
    NoEnd,
}

impl FieldFault {
    /// The SessionRejectReason(373) of the Reject that answers this fault.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, SessionRejectReason.
    pub fn reason(self) -> u32 {
        match self.kind {
            FaultKind::BadTag => 0,
            FaultKind::NoValue if self.tag.is_some() => 4,
            FaultKind::NoValue => 17,
            FaultKind::BadDataLength => 6,
            FaultKind::TooManyFields | FaultKind::NoEnd => 99,
        }
    }

    /// The limit that the message exceeds, if it has too many fields. In this case the decoder has read as many
    /// fields as it has room for, up to `index`.
    pub fn limit(self) -> Option<MessageLimit> {
        match self.kind {
            FaultKind::TooManyFields => Some(MessageLimit::Fields(self.index)),
            FaultKind::NoValue
            | FaultKind::BadTag
            | FaultKind::BadDataLength
            | FaultKind::NoEnd => None,
        }
    }
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            FaultKind::NoValue => "field without '='",
            FaultKind::BadTag => "tag is not a number",
            FaultKind::BadDataLength => "data field does not match its length field",
            FaultKind::TooManyFields => "too many fields",
            FaultKind::NoEnd => "last field does not end with SOH",
        })
    }
}

/// The length fields of FIX, each with the data field that follows it.
///
/// # Source
///
/// FIX 5.0 SP2 and FIXT 1.1, data types `Length` and `data`.
pub const DATA_PAIRS: &[(Tag, Tag)] = &[
    (90, 91),
    (93, 89),
    (95, 96),
    (212, 213),
    (348, 349),
    (350, 351),
    (352, 353),
    (354, 355),
    (356, 357),
    (358, 359),
    (360, 361),
    (362, 363),
    (364, 365),
    (445, 446),
    (618, 619),
    (621, 622),
    (1184, 1185),
    (1277, 1278),
    (1280, 1281),
    (1282, 1283),
    (1397, 1398),
    (1401, 1402),
    (1403, 1404),
    (1468, 1469),
    (1525, 1527),
    (1578, 1579),
    (1620, 1621),
    (1664, 1665),
    (1678, 1697),
    (1733, 1734),
    (1777, 1778),
    (1871, 1872),
];

/// Splits messages into fields. The decoder allocates its memory once and uses it for every message.
#[derive(Clone, Debug)]
pub struct Decoder {
    fields: Vec<Field>,
    tags: Tags,
}

/// The decoder's knowledge about tags.
#[derive(Clone, Debug)]
struct Tags {
    tables: Box<Tables>,
    /// Pairs of a length tag and a data tag, sorted.
    pairs: Vec<(Tag, Tag)>,
}

/// The decoder's knowledge about low tags.
#[derive(Clone, Debug)]
struct Tables {
    /// The tags of two digits. The index is made of the low halves of the text's two bytes, see [`two_digits`].
    two_digits: [Known; 1 << 12],
    /// For each tag below [`MARKED`]: its bit in [`Message`], or [`LENGTH`], or 0.
    marks: [u32; MARKED],
}

/// A tag, and its mark in the upper half.
#[derive(Clone, Copy, Debug)]
struct Known(u64);

impl Known {
    /// A tag that needs a closer look.
    const UNKNOWN: Self = Self::new(0, LENGTH);

    #[inline(always)]
    const fn new(tag: Tag, mark: u32) -> Self {
        Self(tag as u64 | (mark as u64) << 32)
    }

    #[inline(always)]
    fn tag(self) -> Tag {
        self.0 as Tag
    }
}

/// Tags below this number are looked up in a table. Higher tags, of which there are few, are searched for.
const MARKED: usize = 16_384;
/// The mark of a length tag. This bit is above the bits of quick tags.
const LENGTH: u32 = 1 << 31;

impl Decoder {
    /// A decoder for messages with at most this number of fields. The decoder knows the pairs of [`DATA_PAIRS`].
    pub fn with_capacity(fields: usize) -> Self {
        let mut tags = Tags {
            tables: Box::new(Tables {
                two_digits: [Known::UNKNOWN; 1 << 12],
                marks: [0; MARKED],
            }),
            pairs: Vec::new(),
        };
        for tag in 10..100 {
            tags.tables.set_mark(tag, 0);
        }
        for tag in QUICK {
            tags.tables.set_mark(tag, quick_bit(tag));
        }
        for tag in SECRETS {
            tags.tables.set_mark(tag, SECRET);
        }
        let mut decoder = Self {
            fields: vec![Field::default(); fields.max(1)],
            tags,
        };
        decoder.add_data_pairs(DATA_PAIRS);
        decoder
    }

    /// Maximum number of fields of a message.
    pub fn capacity(&self) -> usize {
        self.fields.len()
    }

    /// Adds pairs of a length tag and the data tag that follows it, as a dictionary defines them. If a length tag
    /// already has a data tag, the new data tag replaces it. A tag that is in every header cannot be a length tag.
    pub fn add_data_pairs(&mut self, pairs: &[(Tag, Tag)]) {
        let tags = &mut self.tags;
        for &(length, data) in pairs {
            match tags.pairs.binary_search_by_key(&length, |pair| pair.0) {
                Ok(at) => tags.pairs[at].1 = data,
                Err(_) if QUICK.contains(&length) => {}
                Err(at) => {
                    tags.pairs.insert(at, (length, data));
                    tags.tables.set_mark(length, LENGTH);
                }
            }
        }
    }

    /// Adds the pairs of length and data tags of a dictionary.
    pub fn learn(&mut self, dictionary: &Dictionary) {
        for field in dictionary.fields() {
            if let (DataType::Data | DataType::XmlData, Some(length)) = (field.kind, field.partner)
            {
                self.add_data_pairs(&[(length, field.tag)]);
            }
        }
    }

    /// Decodes a message as [`decode`](Self::decode) does, for tools that read any file. This method finds every field,
    /// and allocates more memory when a message has more fields than all messages before.
    pub fn decode_whole<'a>(&'a mut self, bytes: &'a [u8]) -> Message<'a> {
        // Each field has at least one byte. So most messages are short enough that their fields need not be counted.
        if bytes.len() >= self.fields.len() {
            let most = bytes.iter().filter(|byte| **byte == SOH).count() + 1;
            if most > self.fields.len() {
                self.fields.resize(most, Field::default());
            }
        }
        self.decode(bytes)
    }

    /// Finds the fields of one message that [`crate::frame::next`] has cut out of a stream.
    ///
    /// Decoding never fails. [`Message::fault`] is the first malformed field.
    pub fn decode<'a>(&'a mut self, bytes: &'a [u8]) -> Message<'a> {
        let text = &bytes[..bytes.len().min(u32::MAX as usize)];
        let capacity = self.fields.len();
        let mut room = self.fields.iter_mut();
        let mut first_fault = None;
        let mut place = Place::default();
        while let Some(end) = self.tags.plain_fields(text, &mut room, &mut place) {
            let index = capacity - room.len();
            let Some(field) = room.next() else {
                first_fault.get_or_insert(FaultKind::TooManyFields.of(None, index));
                place.at = text.len();
                break;
            };
            let (tag, start) = any_tag(&text[place.at..end], place.at, index, &mut first_fault);
            *field = Field {
                tag,
                start: start as u32,
                end: end as u32,
            };
            place.at = end + 1;
            let mark = self.tags.tables.mark(tag);
            if mark != LENGTH {
                place.present |= mark;
                continue;
            }
            match self.tags.data_behind(text, *field) {
                Data::None => {}
                Data::Wrong => {
                    first_fault.get_or_insert(FaultKind::BadDataLength.of(Some(tag), index));
                }
                Data::At(found) => {
                    place.present |= self.tags.tables.mark(found.tag) & SECRET;
                    // If there is no room, the message has more fields than allowed.
                    if let Some(field) = room.next() {
                        *field = found;
                        place.at = found.end as usize + 1;
                    }
                }
            }
        }
        let count = capacity - room.len();
        if place.at < text.len() {
            first_fault.get_or_insert(FaultKind::NoEnd.of(None, count));
        }
        Message::new(bytes, &self.fields[..count], place.present, first_fault)
    }
}

/// The position up to which the decoder has read.
#[derive(Default)]
struct Place {
    /// The offset at which the next field begins.
    at: usize,
    /// The bits of the quick tags that were found.
    present: u32,
}

/// The content after a length field.
enum Data {
    /// The data field of this length field does not follow.
    None,
    /// The data field of this length field, but with another length.
    Wrong,
    At(Field),
}

impl Tags {
    /// Finds fields with short tags that are not length fields, as long as there is room for them. Returns the offset
    /// of the first other field, or `None` at the end of the text.
    ///
    /// Nearly all fields are of this kind, so this loop is kept small enough for the registers.
    #[inline(never)]
    fn plain_fields(
        &self,
        text: &[u8],
        room: &mut slice::IterMut<'_, Field>,
        place: &mut Place,
    ) -> Option<usize> {
        let tables = &*self.tables;
        let mut free = mem::take(room);
        let mut at = place.at;
        // The marks of the fields that were found, in the upper half.
        let mut marks = 0;
        let mut other = None;
        // A block of bytes, with a bit for each SOH in it that ends a field from `at` on.
        let mut block = at & !(BLOCK - 1);
        let mut before = at - block;
        'blocks: while block < text.len() {
            let mut mask = soh_mask(text, block) >> before << before;
            before = 0;
            while mask != 0 {
                let end = block + mask.trailing_zeros() as usize;
                let Name { known, len } = tables.short_name(text, at);
                if known.0 & Known::UNKNOWN.0 == 0
                    && let Some(field) = free.next()
                {
                    *field = Field {
                        tag: known.tag(),
                        start: at as u32 + len,
                        end: end as u32,
                    };
                    marks |= known.0;
                    at = end + 1;
                    mask &= mask - 1;
                } else {
                    other = Some(end);
                    break 'blocks;
                }
            }
            block += BLOCK;
        }
        place.at = at;
        place.present |= (marks >> 32) as u32;
        *room = free;
        other
    }

    /// The data field after a field that has the mark [`LENGTH`].
    #[cold]
    fn data_behind(&self, text: &[u8], length: Field) -> Data {
        let Ok(pair) = self.pairs.binary_search_by_key(&length.tag, |pair| pair.0) else {
            return Data::None;
        };
        let at = length.end as usize + 1;
        let rest = text.get(at..).unwrap_or_default();
        let Some(equals) = rest
            .iter()
            .take(MAX_TAG_DIGITS + 1)
            .position(|b| *b == b'=')
        else {
            return Data::None;
        };
        let data = self.pairs[pair].1;
        if parse_tag(&rest[..equals]) != Some(data) {
            return Data::None;
        }
        let start = at + equals + 1;
        let stated = value::uint(&text[length.start as usize..length.end as usize]);
        stated
            .ok()
            .and_then(|len| start.checked_add(usize::try_from(len).ok()?))
            .filter(|end| text.get(*end) == Some(&SOH))
            .map_or(Data::Wrong, |end| {
                Data::At(Field {
                    tag: data,
                    start: start as u32,
                    end: end as u32,
                })
            })
    }
}

impl Tables {
    /// The tag of 1 to 3 digits at the beginning of the field at `at`. The mark is [`LENGTH`] for a length field, and
    /// when the tag is longer or malformed; [`any_tag`] handles these.
    ///
    /// Most tags have two digits. Messages of the same kind take the same branches each time.
    #[inline(always)]
    fn short_name(&self, text: &[u8], at: usize) -> Name {
        // The text is shorter than 4 GiB. Without this, the compiler would check whether `at + 4` is too large.
        let at = at as u32 as usize;
        let Some(head) = text.get(at..at + 4).and_then(<[u8]>::first_chunk) else {
            return Name::UNKNOWN;
        };
        let head = u32::from_le_bytes(*head);
        let known = self.two_digits[two_digits(head)];
        if head & 0x00ff_f0f0 == 0x003d_3030 {
            return Name { known, len: 3 };
        }
        if head & 0xfff0_f0f0 == 0x3d30_3030 {
            let third = head >> 16 & 0xf;
            if known.tag() == 0 || third > 9 {
                return Name::UNKNOWN;
            }
            let known = self.known(known.tag() * 10 + third);
            return Name { known, len: 4 };
        }
        let tag = head & 0xf;
        if head & 0xfff0 != 0x3d30 || tag.wrapping_sub(1) > 8 {
            return Name::UNKNOWN;
        }
        let known = self.known(tag);
        Name { known, len: 2 }
    }

    #[inline(always)]
    fn known(&self, tag: Tag) -> Known {
        Known::new(tag, self.mark(tag))
    }

    #[inline]
    fn mark(&self, tag: Tag) -> u32 {
        match self.marks.get(tag as usize) {
            Some(mark) => *mark,
            None => LENGTH,
        }
    }

    /// Sets the mark of a tag. Marks of high tags are not kept.
    fn set_mark(&mut self, tag: Tag, mark: u32) {
        if let Some(known) = self.marks.get_mut(tag as usize) {
            *known = mark;
        }
        if let tens @ 1..=9 = tag / 10 {
            self.two_digits[two_digits(tens | (tag % 10) << 8)] = Known::new(tag, mark);
        }
    }
}

impl FaultKind {
    fn of(self, tag: Option<Tag>, index: usize) -> FieldFault {
        FieldFault {
            kind: self,
            tag,
            index,
        }
    }
}

/// Number of bytes that are searched at once. There is one bit for each byte in a word.
const BLOCK: usize = 64;
/// Maximum number of digits of a tag.
const MAX_TAG_DIGITS: usize = 9;

/// The SOH in the block of bytes that begins at `from`, one bit for each. `from` is less than the length of the text.
#[inline]
fn soh_mask(text: &[u8], from: usize) -> u64 {
    if let Some(block) = text[from..].first_chunk() {
        return block_mask(block);
    }
    // The last block ends with the text, if the text has enough bytes before it.
    match text.last_chunk() {
        Some(block) => block_mask(block) >> (from + BLOCK - text.len()),
        None => {
            let mut block = [0; BLOCK];
            block[..text.len()].copy_from_slice(text);
            block_mask(&block)
        }
    }
}

#[inline]
fn block_mask(block: &[u8; BLOCK]) -> u64 {
    let soh = u8x16::splat(SOH);
    let (quarters, _) = block.as_chunks::<16>();
    let mut mask = 0;
    for (i, quarter) in quarters.iter().enumerate() {
        mask |= u64::from(u8x16::new(*quarter).simd_eq(soh).to_bitmask()) << (16 * i);
    }
    mask
}

/// The beginning of a field: its tag, and the number of bytes up to its value.
struct Name {
    known: Known,
    len: u32,
}

impl Name {
    /// The name of a field that needs a closer look.
    const UNKNOWN: Self = Self {
        known: Known::UNKNOWN,
        len: 0,
    };
}

/// The index of a tag of two digits in [`Tables::two_digits`]. The tag's text is in the low bytes of `head`.
#[inline(always)]
fn two_digits(head: u32) -> usize {
    (head & 0x0f0f) as usize
}

/// The tag of the field that begins at `at`, and the offset of its value. The tag of a malformed field is 0.
#[inline(never)]
fn any_tag(field: &[u8], at: usize, index: usize, fault: &mut Option<FieldFault>) -> (Tag, usize) {
    let Some(equals) = field.iter().position(|b| *b == b'=') else {
        fault.get_or_insert(FaultKind::NoValue.of(parse_tag(field), index));
        return (0, at);
    };
    let tag = parse_tag(&field[..equals]);
    if tag.is_none() {
        fault.get_or_insert(FaultKind::BadTag.of(None, index));
    }
    (tag.unwrap_or(0), at + equals + 1)
}

fn parse_tag(text: &[u8]) -> Option<Tag> {
    if text.is_empty() || text.len() > MAX_TAG_DIGITS || text[0] == b'0' {
        return None;
    }
    text.iter().try_fold(0, |tag: Tag, byte| {
        byte.is_ascii_digit()
            .then(|| tag * 10 + Tag::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests;
