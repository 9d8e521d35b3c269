//! [`ConversionLevel`]: which fields both dictionaries define for one message or one group entry, side by side.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{Dictionary, FIRST_USER_DEFINED, Member, MessageDef};

use crate::draft::OF_THE_SESSION;

/// Stands for no position, no level or no node.
pub const NONE: u32 = u32::MAX;

/// The level of group entries that neither dictionary defines in their position.
pub const NOWHERE: usize = 0;

/// What source and target define for a field in one level.
#[derive(Clone, Copy, Debug)]
pub struct FieldPlace {
    pub tag: Tag,
    /// Position of the field for parsing a message; `NONE` if only the target has the field here.
    pub position: u32,
    /// Position of the field for writing a message; see [`ConversionLevel::order`].
    order: u32,
    /// Whether the target has the field here.
    pub in_target: bool,
    /// The level of the group entries that the field counts, or `NONE`.
    entries: u32,
    /// Whether the field counts entries of a group that the target has here.
    pub is_group: bool,
    /// The bits of the field in [`ConversionLevel::all_required`]; 0 for a field that the target does not require.
    pub required: u64,
}

impl FieldPlace {
    /// The level of the group entries that the field counts.
    pub fn entries(&self) -> Option<usize> {
        (self.entries != NONE).then_some(self.entries as usize)
    }
}

/// The fields of a message type, or the fields of a group's entries.
#[derive(Clone, Debug, Default)]
pub struct ConversionLevel {
    /// The fields of the level, sorted by tag.
    places: Vec<FieldPlace>,
    /// Hash table with open addressing: for each tag its index in `places`, counted from 1; 0 marks a free slot.
    table: Box<[u16]>,
    /// The field that begins an entry; 0 for a message.
    pub delimiter: Tag,
    pub has_source: bool,
    pub has_target: bool,
    /// Tags that the target requires here; for an entry, also its delimiter.
    pub required: Vec<Tag>,
    /// The statements that apply here, in order: index, and the tags that must be present for an effect.
    pub statements: Vec<(u32, Tags)>,
    /// The write position of fields that neither dictionary defines.
    strangers: u32,
}

impl ConversionLevel {
    pub fn place(&self, tag: Tag) -> Option<&FieldPlace> {
        self.at(self.find(tag))
    }

    /// The index of a field for [`ConversionLevel::at`]; `NONE` for a field that neither dictionary has here.
    #[inline]
    pub fn find(&self, tag: Tag) -> u32 {
        let Some(mask) = self.table.len().checked_sub(1) else {
            return NONE;
        };
        let mut at = slot(tag, mask);
        loop {
            let index = u32::from(self.table[at]).wrapping_sub(1);
            match self.at(index) {
                Some(place) if place.tag != tag => at = (at + 1) & mask,
                Some(_) => return index,
                None => return NONE,
            }
        }
    }

    /// The field at an index that [`ConversionLevel::find`] gave.
    #[inline]
    pub fn at(&self, index: u32) -> Option<&FieldPlace> {
        self.places.get(index as usize)
    }

    /// The bits of all required fields; `None` if they are more than 64.
    pub fn all_required(&self) -> Option<u64> {
        match self.required.len() {
            64 => Some(u64::MAX),
            count => 1_u64.checked_shl(count as u32).map(|bit| bit - 1),
        }
    }

    /// Makes the hash table of `places`. The hash table is at most half full.
    fn index(&mut self) {
        let size = (self.places.len() * 2).next_power_of_two();
        let mut table = alloc::vec![0; size];
        for (number, place) in (1..).zip(&self.places) {
            let mut at = slot(place.tag, size - 1);
            while table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            table[at] = number;
        }
        self.table = table.into();
    }

    /// Whether the level has this field, so that a received field with this tag belongs to it.
    pub fn takes(&self, tag: Tag) -> bool {
        self.place(tag).is_some_and(|place| place.position != NONE)
    }

    /// Whether the target has this field here. User-defined fields are allowed everywhere.
    pub fn has_home_for(&self, tag: Tag) -> bool {
        self.is_home_of(tag, self.place(tag))
    }

    /// As [`ConversionLevel::has_home_for`], for a field whose place is known.
    pub fn is_home_of(&self, tag: Tag, place: Option<&FieldPlace>) -> bool {
        match place {
            Some(place) => place.in_target,
            None => tag >= FIRST_USER_DEFINED && self.has_target,
        }
    }

    /// The tags of the fields that are not group counts.
    pub fn fields(&self) -> impl Iterator<Item = Tag> {
        let fields = self.places.iter().filter(|place| place.entries == NONE);
        fields.map(|place| place.tag)
    }

    /// The level of the group entries that this field counts.
    pub fn entries(&self, count: Tag) -> Option<usize> {
        self.place(count)?.entries()
    }

    /// The write position of a field: as in the target's dictionary, or as in the source's if the target lacks this
    /// level. Fields that neither dictionary defines come after the header or the group's delimiter, where no other
    /// group can claim them.
    pub fn order(&self, tag: Tag) -> u32 {
        self.order_of(self.place(tag))
    }

    /// [`ConversionLevel::order`] of a field whose place is known.
    pub fn order_of(&self, place: Option<&FieldPlace>) -> u32 {
        place.map_or(self.strangers, |place| place.order)
    }
}

/// The slot at which the search for a tag begins.
fn slot(tag: Tag, mask: usize) -> usize {
    (tag.wrapping_mul(0x9e37_79b9) >> 16) as usize & mask
}

/// An approximate set of tags. Two tags whose difference is a multiple of 64 count as the same tag.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tags(u64);

impl Tags {
    pub fn add(&mut self, tag: Tag) {
        self.0 |= 1 << (tag & 63);
    }

    pub fn may_have(self, tag: Tag) -> bool {
        self.0 >> (tag & 63) & 1 == 1
    }

    pub fn may_have_all(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// All levels of all messages of the source; the first is [`NOWHERE`].
#[derive(Debug)]
pub struct Levels {
    all: Vec<ConversionLevel>,
    /// The level of each MsgType, sorted by MsgType; `NONE` if the target lacks the message.
    roots: Vec<(Box<[u8]>, u32)>,
    /// The level of each MsgType of one character.
    letters: [u32; 128],
}

impl core::ops::Index<usize> for Levels {
    type Output = ConversionLevel;

    fn index(&self, at: usize) -> &ConversionLevel {
        &self.all[at]
    }
}

impl Levels {
    /// The levels of all messages of `from`, with the positions of their fields in the messages of `to`.
    pub fn new(from: &Dictionary, to: &Dictionary) -> Self {
        let mut levels = Self {
            all: alloc::vec![ConversionLevel::default()],
            roots: Vec::new(),
            letters: [NONE; 128],
        };
        for message in from.messages() {
            let msg_type = message.msg_type().as_bytes();
            let level = match to.message(msg_type) {
                Some(target) => {
                    let (source, target) =
                        (Side::message(from, message), Side::message(to, target));
                    levels.add(Some(&source), Some(&target))
                }
                None => NONE,
            };
            if let [letter] = msg_type
                && let Some(root) = levels.letters.get_mut(usize::from(*letter))
            {
                *root = level;
            }
            levels.roots.push((msg_type.into(), level));
        }
        levels.roots.sort();
        levels
    }

    /// The level of a message type; `None` if one of the dictionaries lacks it.
    pub fn root(&self, msg_type: &[u8]) -> Option<usize> {
        let level = match msg_type {
            [letter @ 0..128] => self.letters[usize::from(*letter)],
            _ => {
                let roots = &self.roots;
                let found = roots.binary_search_by(|(known, _)| (**known).cmp(msg_type));
                roots.get(found.ok()?)?.1
            }
        };
        (level != NONE).then_some(level as usize)
    }

    /// Number of levels.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Records that a statement applies to a level. `needs` are the tags without which the statement has no effect
    /// there.
    pub fn hold(&mut self, level: usize, statement: u32, needs: Tags) {
        self.all[level].statements.push((statement, needs));
    }

    /// Adds a level, followed by the levels of its groups. Recursion is as deep as a dictionary nests groups, at most
    /// 8.
    fn add(&mut self, source: Option<&Side<'_>>, target: Option<&Side<'_>>) -> u32 {
        // A message may have a group that only the target defines. Such a group is read by the target's definition.
        let (Some(read), Some(written)) = (source.or(target), target.or(source)) else {
            return NONE;
        };
        let mut positions: BTreeMap<Tag, (u32, u32)> = BTreeMap::new();
        for (position, member) in (0..).zip(&read.members) {
            positions.entry(member.tag).or_insert((position, NONE));
        }
        for (order, member) in (0..).zip(&written.members) {
            let known = positions.entry(member.tag).or_insert((NONE, NONE));
            known.1 = known.1.min(order);
        }
        let at = self.all.len();
        self.all.push(ConversionLevel::default());
        let mut level = ConversionLevel {
            delimiter: read.delimiter,
            has_source: source.is_some(),
            has_target: target.is_some(),
            strangers: written.leading,
            ..ConversionLevel::default()
        };
        for (tag, (position, order)) in positions {
            let from = source.and_then(|side| side.entry(tag));
            let to = target.and_then(|side| side.entry(tag));
            let entries = self.add(from.as_ref(), to.as_ref());
            let required = target.map_or(&[][..], |side| &side.required);
            let bits = (0..64).zip(required).filter(|(_, one)| **one == tag);
            level.places.push(FieldPlace {
                tag,
                position,
                order: order.saturating_add(u32::from(order >= written.leading)),
                in_target: target.is_some_and(|side| side.has(tag)),
                entries,
                is_group: entries != NONE && to.is_some(),
                required: bits.fold(0, |bits, (bit, _)| bits | 1 << bit),
            });
        }
        level.index();
        level.required = target.map_or_else(Vec::new, |side| side.required.clone());
        self.all[at] = level;
        at as u32
    }
}

/// One level as one dictionary defines it.
struct Side<'a> {
    members: Vec<&'a Member>,
    /// Number of fields that are written before fields that the dictionary lacks.
    leading: u32,
    delimiter: Tag,
    required: Vec<Tag>,
}

impl<'a> Side<'a> {
    /// A message with its header and trailer.
    fn message(dictionary: &'a Dictionary, message: &'a MessageDef) -> Self {
        let carried = |definition: &'a MessageDef| {
            let members = definition.members().iter();
            members.filter(|member| !OF_THE_SESSION.contains(&member.tag))
        };
        let mut members: Vec<&Member> = carried(dictionary.header()).collect();
        let leading = members.len() as u32;
        members.extend(carried(message));
        members.extend(carried(dictionary.trailer()));
        let required = carried(message).filter(|member| member.required);
        Self {
            members,
            leading,
            delimiter: 0,
            required: required.map(|member| member.tag).collect(),
        }
    }

    /// The level of the group entries that this field counts.
    fn entry(&self, count: Tag) -> Option<Side<'a>> {
        let member = self.members.iter().find(|member| member.tag == count)?;
        let group = member.group.as_deref()?;
        let required = |member: &&Member| member.required || member.tag == group.delimiter();
        Some(Self {
            members: group.members().iter().collect(),
            leading: 1,
            delimiter: group.delimiter(),
            required: group
                .members()
                .iter()
                .filter(required)
                .map(|member| member.tag)
                .collect(),
        })
    }

    fn has(&self, tag: Tag) -> bool {
        self.members.iter().any(|member| member.tag == tag)
    }
}
