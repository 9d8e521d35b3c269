//! Contracts: the settings of a user or a line group for fields, by tag, that the OMS itself does not use.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use fixwire_protocol::{Dictionary, Tag};

use super::carried::has_member;

/// A key of `[[user]]` and `[[line_group]]` that names fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContractKey {
    /// `carry`: the venue gets the client's value.
    Carry,
    /// `set`: the venue gets a value of the settings, even if the client did not send the field.
    Set,
    /// `map`: the venue gets the value that a table of the settings has for the client's value.
    Map,
    /// `drop`: the venue does not get the field.
    Drop,
    /// `refuse`: a request with the field is rejected.
    Refuse,
}

impl ContractKey {
    /// All keys, in the order of the reference page.
    pub const ALL: [Self; 5] = [Self::Carry, Self::Set, Self::Map, Self::Drop, Self::Refuse];

    /// The key in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Carry => "carry",
            Self::Set => "set",
            Self::Map => "map",
            Self::Drop => "drop",
            Self::Refuse => "refuse",
        }
    }
}

/// How a contract treats a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Treatment<'a> {
    /// The field is passed on with its value.
    Carry,
    /// The field is sent with this value.
    Set(&'a [u8]),
    /// The field's value is replaced by the value of a table.
    Map(&'a MapTable),
    /// The field is left out of the message, and counted.
    Drop,
    /// The message is rejected.
    Refuse,
}

/// What a contract does with the value of a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Passage<'a> {
    /// The field is sent with this value.
    Value(&'a [u8]),
    /// The field is left out of the message, and counted.
    Dropped,
    /// The message is rejected.
    Refused,
}

impl<'a> Treatment<'a> {
    /// Applies the treatment to a value. A `map` table that does not have the value refuses it.
    #[must_use]
    pub fn pass(self, value: &'a [u8]) -> Passage<'a> {
        match self {
            Self::Carry => Passage::Value(value),
            Self::Set(value) => Passage::Value(value),
            Self::Map(table) => table.of(value).map_or(Passage::Refused, Passage::Value),
            Self::Drop => Passage::Dropped,
            Self::Refuse => Passage::Refused,
        }
    }
}

/// The value of a field.
type FieldValue = Box<[u8]>;

/// Pairs of a client's value and the venue's value, sorted by the client's values.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MapTable(Vec<(FieldValue, FieldValue)>);

impl MapTable {
    /// The venue's value for a client's value; `None` if the table does not have it.
    #[must_use]
    pub fn of(&self, value: &[u8]) -> Option<&[u8]> {
        let found = self.0.binary_search_by(|(from, _)| (**from).cmp(value));
        found.ok().map(|at| &*self.0[at].1)
    }

    /// The venue's values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|(_, to)| &**to)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, from: &[u8], to: &[u8]) {
        let at = self.0.partition_point(|(known, _)| **known < *from);
        self.0.insert(at, (from.into(), to.into()));
    }
}

/// How the settings treat a tag that a key names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum FieldRule {
    Carry,
    Set(Box<[u8]>),
    Map(MapTable),
    Drop,
    Refuse,
}

impl FieldRule {
    pub(crate) fn key(&self) -> ContractKey {
        match self {
            Self::Carry => ContractKey::Carry,
            Self::Set(_) => ContractKey::Set,
            Self::Map(_) => ContractKey::Map,
            Self::Drop => ContractKey::Drop,
            Self::Refuse => ContractKey::Refuse,
        }
    }
}

/// The values that a key of a contract gives to a field.
pub(crate) struct GivenValues<'a> {
    pub key: ContractKey,
    pub tag: Tag,
    pub values: Vec<&'a [u8]>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Entry {
    tag: Tag,
    rule: FieldRule,
    /// Whether the settings name the group that has the field, and not the field itself.
    is_member: bool,
}

/// The fields that the settings of a user or a line group name, by tag. Most contracts name none.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Contract(Vec<Entry>);

impl Contract {
    /// A contract that names no field.
    pub(crate) const NONE: Self = Self(Vec::new());

    /// Whether the contract names no field.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How the contract treats a field; `None` if the contract does not name the field.
    #[must_use]
    #[inline]
    pub fn of(&self, tag: Tag) -> Option<Treatment<'_>> {
        if self.is_empty() {
            return None;
        }
        Some(match &self.entry(tag)?.rule {
            FieldRule::Carry => Treatment::Carry,
            FieldRule::Set(value) => Treatment::Set(value),
            FieldRule::Map(table) => Treatment::Map(table),
            FieldRule::Drop => Treatment::Drop,
            FieldRule::Refuse => Treatment::Refuse,
        })
    }

    /// The fields of `set` with their values, by tag: messages get these even if the client did not send them.
    pub fn sets(&self) -> impl Iterator<Item = (Tag, &[u8])> {
        self.0.iter().filter_map(|entry| match &entry.rule {
            FieldRule::Set(value) => Some((entry.tag, &**value)),
            FieldRule::Carry | FieldRule::Map(_) | FieldRule::Drop | FieldRule::Refuse => None,
        })
    }

    /// The values that `set` and `map` give to fields, by tag.
    pub(crate) fn given(&self) -> impl Iterator<Item = GivenValues<'_>> {
        self.0.iter().filter_map(|entry| {
            let values = match &entry.rule {
                FieldRule::Set(value) => Vec::from([&**value]),
                FieldRule::Map(table) => table.values().collect(),
                FieldRule::Carry | FieldRule::Drop | FieldRule::Refuse => return None,
            };
            Some(GivenValues {
                key: entry.rule.key(),
                tag: entry.tag,
                values,
            })
        })
    }

    /// The tags that a key names, including the tags in groups that it names.
    pub fn tags(&self, key: ContractKey) -> impl Iterator<Item = Tag> {
        let entries = self.0.iter().filter(move |entry| entry.rule.key() == key);
        entries.map(|entry| entry.tag)
    }

    /// The value of a key as text: the tags, and for `set` and `map` the values.
    #[must_use]
    pub fn text(&self, key: ContractKey, name: impl Fn(Tag) -> String, between: &str) -> String {
        let mut text = String::new();
        for entry in self.0.iter().filter(|entry| entry.rule.key() == key) {
            let sign = if text.is_empty() { "" } else { between };
            let _ = write!(text, "{sign}{}", name(entry.tag));
            match &entry.rule {
                FieldRule::Set(value) => {
                    let _ = write!(text, "={}", String::from_utf8_lossy(value));
                }
                FieldRule::Map(MapTable(values)) => {
                    for (at, (from, to)) in values.iter().enumerate() {
                        let sign = if at == 0 { ":" } else { "" };
                        let (from, to) =
                            (String::from_utf8_lossy(from), String::from_utf8_lossy(to));
                        let _ = write!(text, "{sign} {from}={to}");
                    }
                }
                FieldRule::Carry | FieldRule::Drop | FieldRule::Refuse => {}
            }
        }
        text
    }

    /// Adds a key's treatment of a tag.
    ///
    /// # Errors
    ///
    /// The key that already names the tag. Settings for a field take precedence over settings for its group.
    pub(crate) fn add(
        &mut self,
        tag: Tag,
        rule: FieldRule,
        is_member: bool,
    ) -> Result<(), ContractKey> {
        let entry = Entry {
            tag,
            rule,
            is_member,
        };
        match self.0.binary_search_by_key(&tag, |entry| entry.tag) {
            Err(at) => self.0.insert(at, entry),
            Ok(_) if is_member => {}
            Ok(at) if self.0[at].is_member => self.0[at] = entry,
            Ok(at) => return Err(self.0[at].rule.key()),
        }
        Ok(())
    }

    fn entry(&self, tag: Tag) -> Option<&Entry> {
        let found = self.0.binary_search_by_key(&tag, |entry| entry.tag);
        found.ok().map(|at| &self.0[at])
    }
}

/// Tags that settings may name.
pub(crate) const TAGS: core::ops::RangeInclusive<Tag> = 1..=99_999;

/// Why a field cannot have a single value, for example because it is in a group; `None` if it can.
pub(crate) fn why_not_single(
    dictionaries: &[Dictionary],
    tag: Tag,
    key: ContractKey,
) -> Option<&'static str> {
    let (mut is_alone, mut is_member) = (false, false);
    for dictionary in dictionaries {
        let field = dictionary.field(tag);
        if field.is_some_and(|field| field.partner.is_some()) {
            return Some("its length is a field of its own");
        }
        for msg_type in ["D", "G", "F"] {
            let message = dictionary.message(msg_type.as_bytes());
            let parts = message.into_iter().chain([dictionary.header()]);
            for member in parts.flat_map(|part| part.members()) {
                if member.tag == tag {
                    if member.group.is_some() {
                        return Some("it counts the entries of a group");
                    }
                    is_alone = true;
                }
                is_member |= member.group.as_ref().is_some_and(|it| has_member(it, tag));
            }
        }
    }
    let has_no_place = key == ContractKey::Set && is_member && !is_alone;
    has_no_place.then_some("it is part of a group")
}
