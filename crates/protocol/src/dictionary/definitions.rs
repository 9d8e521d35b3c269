//! The definitions of a version of FIX as values: fields, messages, groups and components.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::condition::ConditionalRequirement;
use super::kind::DataType;
use super::other_values::OtherValues;
use super::validate::{Check, Near};
use crate::Tag;
use crate::time::LastMinute;

/// The lowest user-defined tag.
pub const FIRST_USER_DEFINED: Tag = 5000;

/// The definitions of one version of FIX, or of the form of it that one counterparty uses.
///
/// A session of FIX 5.0 or later has two dictionaries: one for the transport (FIXT.1.1) and one for the application.
/// [`over`](Self::over) combines them into one.
///
/// Two dictionaries are equal when they say the same about every message. The components with which they were written
/// do not matter.
#[derive(Clone, Debug)]
pub struct Dictionary {
    pub(super) version: String,
    /// A number that no other dictionary of this process has, except clones.
    pub(super) id: u32,
    /// The fields, sorted by tag. A *slot* is an index into this list.
    pub(super) fields: Vec<FieldDef>,
    /// For each low tag its slot, and what validation reads first.
    pub(super) near: Vec<Near>,
    /// Tag and slot of each higher tag, sorted by tag.
    pub(super) far: Vec<(Tag, u16)>,
    /// Slots, sorted by the names of their fields.
    pub(super) by_name: Vec<u16>,
    /// Validation data of the fields, by slot.
    pub(super) checks: Vec<Check>,
    pub(super) header: MessageDef,
    pub(super) trailer: MessageDef,
    /// Sorted by MsgType(35).
    pub(super) messages: Vec<MessageDef>,
    /// The index into `messages` for each MsgType(35) of one character.
    pub(super) short_types: [u16; 128],
    /// Number of 64-bit words for the members of all levels of the deepest group. `Scratch` needs room for the members
    /// of all levels.
    pub(super) group_words: usize,
    /// The components, sorted by name. Deltas and generated code may refer to components.
    pub(super) components: Vec<ComponentDef>,
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        // All other fields of the struct are computed from these.
        self.version == other.version
            && self.fields == other.fields
            && self.header == other.header
            && self.trailer == other.trailer
            && self.messages == other.messages
            && self.by_name == other.by_name
    }
}

impl Eq for Dictionary {}

pub(super) const NO_SLOT: u16 = u16::MAX;

impl Dictionary {
    /// The version as in BeginString(8), or with the service pack added: `FIX.4.2`, `FIX.5.0SP2`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The fields, sorted by tag.
    pub fn fields(&self) -> &[FieldDef] {
        &self.fields
    }

    /// The field with this tag.
    pub fn field(&self, tag: Tag) -> Option<&FieldDef> {
        self.slot(tag).map(|slot| &self.fields[slot])
    }

    /// The field with this name. The name has the spelling of the standard: `ClOrdID`.
    pub fn field_named(&self, name: &str) -> Option<&FieldDef> {
        let found = self
            .by_name
            .binary_search_by(|&slot| self.fields[usize::from(slot)].name.as_str().cmp(name));
        found
            .ok()
            .map(|at| &self.fields[usize::from(self.by_name[at])])
    }

    /// The tag of the field with this name.
    pub fn tag_of(&self, name: &str) -> Option<Tag> {
        self.field_named(name).map(|field| field.tag)
    }

    /// The messages, sorted by message type.
    pub fn messages(&self) -> &[MessageDef] {
        &self.messages
    }

    /// The message with this MsgType(35).
    #[inline]
    pub fn message(&self, msg_type: &[u8]) -> Option<&MessageDef> {
        self.message_index(msg_type).map(|at| &self.messages[at])
    }

    /// The index of a message in the list of messages.
    #[inline]
    pub(super) fn message_index(&self, msg_type: &[u8]) -> Option<usize> {
        if let [letter @ 0..128] = msg_type {
            let at = self.short_types[usize::from(*letter)];
            return (at != NO_SLOT).then_some(usize::from(at));
        }
        self.messages
            .binary_search_by(|message| message.msg_type.as_bytes().cmp(msg_type))
            .ok()
    }

    /// The facts that validation reads first about a tag.
    pub(super) fn near(&self, tag: Tag) -> Near {
        self.near.get(tag as usize).copied().unwrap_or(Near::NONE)
    }

    /// The message with this name. The name has the spelling of the standard: `NewOrderSingle`.
    pub fn message_named(&self, name: &str) -> Option<&MessageDef> {
        self.messages.iter().find(|message| message.name == name)
    }

    /// The group that the NumInGroup field `count` begins in messages of this type. The header and trailer of the
    /// message are searched too.
    pub fn group(&self, msg_type: &[u8], count: Tag) -> Option<&GroupDef> {
        let message = self.message(msg_type)?;
        message
            .group(count)
            .or_else(|| self.header.group(count))
            .or_else(|| self.trailer.group(count))
    }

    /// The components with which the dictionary was written, sorted by name.
    pub fn components(&self) -> &[ComponentDef] {
        &self.components
    }

    /// The component with this name.
    pub fn component(&self, name: &str) -> Option<&ComponentDef> {
        let found = self
            .components
            .binary_search_by(|component| component.name.as_str().cmp(name));
        found.ok().map(|at| &self.components[at])
    }

    /// The standard header; its message type is empty.
    pub fn header(&self) -> &MessageDef {
        &self.header
    }

    /// The standard trailer; its message type is empty.
    pub fn trailer(&self) -> &MessageDef {
        &self.trailer
    }

    /// The slot of a tag in the table of low tags. For other tags the result is a number that is not a slot.
    #[inline]
    pub(super) fn near_slot(&self, tag: Tag) -> usize {
        usize::from(
            self.near
                .get(tag as usize)
                .map_or(NO_SLOT, |near| near.slot()),
        )
    }

    /// Whether a value is certainly valid for a field: the value has the field's type, and is listed if the field
    /// lists values. `false` does not mean that the value is invalid: a value that consists of several values, or a
    /// listed value of more than eight bytes, must be examined further.
    #[inline]
    pub fn surely_takes(&self, tag: Tag, value: &[u8], times: &mut LastMinute) -> bool {
        let slot = self.slot(tag).filter(|_| !value.is_empty());
        slot.is_some_and(|slot| self.checks[slot].takes(value, times))
    }

    /// The index of the field with this tag. All bit sets use the same index.
    #[inline]
    pub(super) fn slot(&self, tag: Tag) -> Option<usize> {
        if let Some(near) = self.near.get(tag as usize) {
            let slot = near.slot();
            return (slot != NO_SLOT).then_some(usize::from(slot));
        }
        self.far_slot(tag)
    }

    #[cold]
    pub(super) fn far_slot(&self, tag: Tag) -> Option<usize> {
        let found = self.far.binary_search_by_key(&tag, |&(tag, _)| tag);
        found.ok().map(|at| usize::from(self.far[at].1))
    }
}

/// A field: its tag, its name, its type, and the list of its values if only certain values are allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldDef {
    /// The tag of the field, which is the number before `=`.
    pub tag: Tag,
    /// The name of the field in the standard, such as `ClOrdID`.
    pub name: String,
    /// The data type.
    pub kind: DataType,
    /// The values that the field may have; empty if it may have any value of its type.
    pub values: Vec<ValueDef>,
    /// The values that the field may have in addition to the listed ones.
    pub others: OtherValues,
    /// For a length field, its data field. For a data field, its length field.
    pub partner: Option<Tag>,
}

impl FieldDef {
    /// Whether the field allows this single value.
    pub fn allows(&self, value: &[u8]) -> bool {
        self.values.is_empty()
            || self
                .values
                .iter()
                .any(|known| known.value.as_bytes() == value)
            || self.others.accepts(value)
    }
}

/// One of the values that a field may have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ValueDef {
    /// The value as it is in a message.
    pub value: String,
    /// The meaning of the value. The meaning is the dictionary's name for the value, such as `SELL_SHORT`.
    pub name: String,
}

/// A field as part of a message or of a group entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// The field.
    pub tag: Tag,
    /// Whether every message, or every entry of the group, must have the field.
    pub required: bool,
    /// The group whose entries this field counts; `None` when it is not a NumInGroup field.
    pub group: Option<Arc<GroupDef>>,
}

/// Fields and groups that several messages have in common, with a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ComponentDef {
    /// The name of the component in the standard, such as `Instrument`.
    pub name: String,
    /// The members of the layout, with other components expanded.
    pub members: Arc<[Member]>,
}

/// The members of a message type, or of the header or trailer of all messages, with components expanded.
#[derive(Clone, Debug)]
pub struct MessageDef {
    pub(super) msg_type: String,
    pub(super) name: String,
    pub(super) members: Vec<Member>,
    /// The groups among the members, sorted by the tag of their NumInGroup fields.
    pub(super) groups: Vec<Arc<GroupDef>>,
    /// The conditions that apply to some members.
    pub(super) conditions: Vec<ConditionalRequirement>,
    /// The components in the layout of the message. Components inside groups are left out.
    pub(super) components: Vec<String>,
    /// Whether the message came from the transport dictionary. If so, it has only fields of that dictionary.
    pub(super) of_transport: bool,
    /// Slots of the members.
    pub(super) allowed: Vec<u64>,
    /// Slots of the members. For a message, header and trailer are included.
    pub(super) places: Vec<u64>,
    /// Slots of the required members. For a message, header and trailer are included.
    pub(super) required: Vec<u64>,
}

impl PartialEq for MessageDef {
    fn eq(&self, other: &Self) -> bool {
        self.msg_type == other.msg_type
            && self.name == other.name
            && self.members == other.members
            && self.conditions == other.conditions
            && self.of_transport == other.of_transport
            && (&self.allowed, &self.places, &self.required)
                == (&other.allowed, &other.places, &other.required)
    }
}

impl Eq for MessageDef {}

impl MessageDef {
    /// MsgType(35).
    pub fn msg_type(&self) -> &str {
        &self.msg_type
    }

    /// The name of the message in the standard, such as `NewOrderSingle`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The members in the order of the definition. The members of a group are in its [`GroupDef`].
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member with this tag. Groups are not searched.
    pub fn member(&self, tag: Tag) -> Option<&Member> {
        self.members.iter().find(|member| member.tag == tag)
    }

    /// The conditions under which optional members become required.
    pub fn conditions(&self) -> &[ConditionalRequirement] {
        &self.conditions
    }

    /// The names of the components in the layout of the message. Components inside groups are left out.
    pub fn components(&self) -> &[String] {
        &self.components
    }

    /// The group whose entries this field counts.
    pub fn group(&self, count: Tag) -> Option<&GroupDef> {
        let found = self
            .groups
            .binary_search_by_key(&count, |group| group.count);
        found.ok().map(|at| &*self.groups[at])
    }
}

/// A repeating group: a NumInGroup field, and then as many entries as it says. Each entry begins with the delimiter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GroupDef {
    pub(super) count: Tag,
    pub(super) members: Vec<Member>,
    /// Tag and position of each member. The members are in a hash table with open addressing; free places have tag 0.
    pub(super) positions: Vec<(Tag, u16)>,
    /// Positions of the required members.
    pub(super) required: Vec<u64>,
    /// Number of 64-bit words that the sets of one entry need, together with those of the deepest entry inside it.
    pub(super) words: usize,
    /// Nesting depth: 1 for a group without nested groups.
    pub(super) depth: usize,
}

impl GroupDef {
    /// A group with these members, in the order in which an entry has them. The first member is the delimiter. A tag
    /// that is listed twice counts once. `None` when there is no member, or more than 65,535.
    pub fn new(count: Tag, members: Vec<Member>) -> Option<Self> {
        let members = unique(members);
        if members.is_empty() || members.len() > usize::from(u16::MAX) {
            return None;
        }
        let mut positions = alloc::vec![(0, 0); (members.len() * 2).next_power_of_two()];
        for (member, position) in members.iter().zip(0..) {
            let at = place(&positions, member.tag);
            positions[at] = (member.tag, position);
        }
        let mut required = alloc::vec![0; members.len().div_ceil(64)];
        for (position, _) in members
            .iter()
            .enumerate()
            .filter(|(_, member)| member.required)
        {
            set(&mut required, position);
        }
        let nested = || members.iter().filter_map(|member| member.group.as_deref());
        let words = required.len() + nested().map(|group| group.words).max().unwrap_or(0);
        let depth = 1 + nested().map(|group| group.depth).max().unwrap_or(0);
        Some(Self {
            count,
            members,
            positions,
            required,
            words,
            depth,
        })
    }

    /// The NumInGroup field of the group.
    pub fn count(&self) -> Tag {
        self.count
    }

    /// The field with which each entry of the group begins.
    pub fn delimiter(&self) -> Tag {
        self.members[0].tag
    }

    /// Nesting depth: 1 for a group without nested groups.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The members of an entry, in their order. A nested group is listed by its NumInGroup field.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The position of a field in an entry; `None` when the field is not a member. A field that is not a member ends
    /// the group.
    #[inline]
    pub fn position(&self, tag: Tag) -> Option<usize> {
        let (known, position) = self.positions[place(&self.positions, tag)];
        (known == tag && tag != 0).then_some(usize::from(position))
    }

    /// The member with this tag. Nested groups are not searched.
    pub fn member(&self, tag: Tag) -> Option<&Member> {
        self.position(tag).map(|position| &self.members[position])
    }

    /// The nested group whose entries this field counts.
    pub fn group(&self, count: Tag) -> Option<&Self> {
        self.member(count)
            .and_then(|member| member.group.as_deref())
    }
}

/// The index of a tag in the hash table of a group, or of the free place for the tag. At least half of the table is
/// free.
#[inline]
pub(super) fn place(positions: &[(Tag, u16)], tag: Tag) -> usize {
    let mask = positions.len() - 1;
    let mut at = (tag.wrapping_mul(0x9e37_79b1) >> 16) as usize & mask;
    while positions[at].0 != 0 && positions[at].0 != tag {
        at = (at + 1) & mask;
    }
    at
}

/// The members in their order, each tag once. A member is required if it is required in one of its places.
pub(super) fn unique(members: Vec<Member>) -> Vec<Member> {
    let mut places: BTreeMap<Tag, usize> = BTreeMap::new();
    let mut unique: Vec<Member> = Vec::with_capacity(members.len());
    for member in members {
        if let Some(&place) = places.get(&member.tag) {
            unique[place].required |= member.required;
        } else {
            places.insert(member.tag, unique.len());
            unique.push(member);
        }
    }
    unique
}

#[inline]
pub(super) fn set(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}

#[inline]
pub(super) fn has(words: &[u64], bit: usize) -> bool {
    words
        .get(bit / 64)
        .is_some_and(|word| word >> (bit % 64) & 1 == 1)
}
