//! Reads repeating groups of a message, entry by entry.

use crate::dictionary::GroupDef;
use crate::message::{Field, Message};
use crate::value::{self, ValueError};
use crate::{Decimal, Tag, Timestamp};

/// The entries that a repeating group really has, whatever its NumInGroup field says; validation compares the number of
/// entries with that field. An entry begins with the group's delimiter. An entry ends at the next delimiter, or at a
/// field that is not a member. Nested groups are part of their entry.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a, 'd> {
    bytes: &'a [u8],
    /// The fields after the NumInGroup field, up to the end of the message or of the entry that contains the group.
    fields: &'a [Field],
    def: &'d GroupDef,
}

/// One entry of a repeating group.
#[derive(Clone, Copy, Debug)]
pub struct GroupEntry<'a, 'd> {
    bytes: &'a [u8],
    fields: &'a [Field],
    def: &'d GroupDef,
}

impl<'a> Message<'a> {
    /// The group that `def` describes; `None` when the message does not have the NumInGroup field.
    pub fn group<'d>(&self, def: &'d GroupDef) -> Option<Group<'a, 'd>> {
        Group::find(self.bytes(), self.fields(), def)
    }
}

impl<'a, 'd> Group<'a, 'd> {
    fn find(bytes: &'a [u8], fields: &'a [Field], def: &'d GroupDef) -> Option<Self> {
        let at = fields.iter().position(|field| field.tag == def.count())?;
        Some(Self {
            bytes,
            fields: &fields[at + 1..],
            def,
        })
    }
}

impl<'a, 'd> Iterator for Group<'a, 'd> {
    type Item = GroupEntry<'a, 'd>;

    fn next(&mut self) -> Option<Self::Item> {
        let len = entry_len(self.fields, self.def)?;
        let (fields, rest) = self.fields.split_at(len);
        self.fields = rest;
        Some(GroupEntry {
            bytes: self.bytes,
            fields,
            def: self.def,
        })
    }
}

impl<'a, 'd> GroupEntry<'a, 'd> {
    /// The fields in the order of the message. The fields of nested groups are among them.
    pub fn fields(&self) -> &'a [Field] {
        self.fields
    }

    /// The value of the first field with this tag.
    pub fn get(&self, tag: Tag) -> Option<&'a [u8]> {
        let field = self.fields.iter().find(|field| field.tag == tag)?;
        self.bytes.get(field.start as usize..field.end as usize)
    }

    /// The entries of the nested group with this NumInGroup field; `None` when the definition or the entry does not
    /// have it.
    pub fn group(&self, count: Tag) -> Option<Group<'a, 'd>> {
        Group::find(self.bytes, self.fields, self.def.group(count)?)
    }

    /// The value of a field as a number without a sign.
    pub fn uint(&self, tag: Tag) -> Option<Result<u64, ValueError>> {
        self.get(tag).map(value::uint)
    }

    /// The value of a field as an `int`.
    pub fn int(&self, tag: Tag) -> Option<Result<i64, ValueError>> {
        self.get(tag).map(value::int)
    }

    /// The value of a field as a `float`.
    pub fn decimal(&self, tag: Tag) -> Option<Result<Decimal, ValueError>> {
        self.get(tag).map(value::decimal)
    }

    /// The value of a field as a `UTCTimestamp`.
    pub fn time(&self, tag: Tag) -> Option<Result<Timestamp, ValueError>> {
        self.get(tag).map(value::time)
    }

    /// The value of a field as a `Boolean`.
    pub fn boolean(&self, tag: Tag) -> Option<Result<bool, ValueError>> {
        self.get(tag).map(value::boolean)
    }

    /// The value of a field as a `char`.
    pub fn char(&self, tag: Tag) -> Option<Result<u8, ValueError>> {
        self.get(tag).map(value::character)
    }
}

/// The fields of a message or entry that are not inside its groups. `group` gives the definition for a NumInGroup
/// field.
pub(crate) fn own_fields<'a, 'd>(
    fields: &'a [Field],
    group: impl Fn(Tag) -> Option<&'d GroupDef>,
) -> impl Iterator<Item = &'a Field> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let field = fields.get(at)?;
        at += 1;
        if let Some(def) = group(field.tag) {
            while let Some(len) = entry_len(&fields[at..], def) {
                at += len;
            }
        }
        Some(field)
    })
}

/// The number of fields in one entry; `None` when the fields do not begin with an entry. The function calls itself
/// for nested groups, as deep as the definition nests them.
pub fn entry_len(fields: &[Field], def: &GroupDef) -> Option<usize> {
    if fields.first()?.tag != def.delimiter() {
        return None;
    }
    let mut len = nested_len(fields, 0, def) + 1;
    while let Some(field) = fields.get(len)
        && field.tag != def.delimiter()
        && def.position(field.tag).is_some()
    {
        len += nested_len(fields, len, def) + 1;
    }
    Some(len)
}

/// The number of fields after the NumInGroup field at `at` that belong to its group.
fn nested_len(fields: &[Field], at: usize, def: &GroupDef) -> usize {
    let Some(nested) = def.group(fields[at].tag) else {
        return 0;
    };
    let rest = &fields[at + 1..];
    let mut len = 0;
    while let Some(more) = entry_len(&rest[len..], nested) {
        len += more;
    }
    len
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::Decoder;
    use crate::dictionary::Member;

    /// NoPartyIDs(453) with PtysSubGrp(802) in it.
    fn parties() -> GroupDef {
        let member = |tag, group| Member {
            tag,
            required: false,
            group,
        };
        let subs = GroupDef::new(802, vec![member(523, None), member(803, None)]);
        let subs = subs.map(Arc::new);
        let members = vec![
            member(448, None),
            member(447, None),
            member(452, None),
            member(802, subs),
        ];
        GroupDef::new(453, members).expect("it has members")
    }

    fn ids(text: &str) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
        let bytes = text.replace('|', "\x01").into_bytes();
        let mut decoder = Decoder::with_capacity(64);
        let (message, def) = (decoder.decode(&bytes), parties());
        let Some(group) = message.group(&def) else {
            return Vec::new();
        };
        group
            .map(|entry| {
                let subs = entry.group(802).into_iter().flatten();
                let subs = subs.map(|sub| sub.get(523).unwrap_or_default().to_vec());
                (entry.get(448).unwrap_or_default().to_vec(), subs.collect())
            })
            .collect()
    }

    #[test]
    fn entries_keep_their_nested_entries() {
        let text = "35=D|453=2|448=A|452=1|802=2|523=a|803=1|523=b|447=D|448=B|802=1|523=c|55=X|448=no|10=000|";
        let wanted = vec![
            (b"A".to_vec(), vec![b"a".to_vec(), b"b".to_vec()]),
            (b"B".to_vec(), vec![b"c".to_vec()]),
        ];
        assert_eq!(ids(text), wanted);
    }

    #[test]
    fn what_the_count_says_does_not_matter() {
        assert_eq!(ids("35=D|453=999999999|448=A|10=0|").len(), 1);
        assert_eq!(ids("35=D|453=0|10=0|").len(), 0);
        assert_eq!(ids("35=D|453=1|447=D|448=A|10=0|").len(), 0);
        assert_eq!(ids("35=D|448=A|10=0|").len(), 0);
    }
}
