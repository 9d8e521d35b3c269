//! Makes a dictionary, with its indexes and bit sets, from definitions by tag.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

use super::condition::ConditionalRequirement;
use super::definition_problem::DefinitionProblem;
use super::validate::{Check, Near};
use super::{
    ComponentDef, DataType, Dictionary, FieldDef, Member, MessageDef, NO_SLOT, set, unique,
};
use crate::Tag;

/// Maximum number of fields that one dictionary may define, because a slot has 16 bits.
pub const MAX_FIELDS: usize = 65_000;
/// Maximum number of messages. Each message needs some bits for every field. The standard has fewer than 200
/// messages.
pub const MAX_MESSAGES: usize = 2_000;
/// Maximum number of members that all messages together may have, with their components expanded. The largest
/// dictionary of the standard has 40,000 members. A file whose components multiply each other is refused at this
/// limit.
pub const MAX_MEMBERS: usize = 2_000_000;
/// Maximum nesting depth of groups and components.
pub const MAX_DEPTH: usize = 64;
/// Maximum nesting depth of groups; components do not count. Validation goes equally deep.
pub const MAX_GROUP_DEPTH: usize = 8;

/// A dictionary without its indexes. When a dictionary was taken apart and changed, [`assemble`] puts it together
/// again.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The version, such as `FIX.4.2` or `FIX.5.0SP2`.
    pub version: String,
    /// The fields; no tag occurs twice.
    pub fields: Vec<FieldDef>,
    /// The members of the header.
    pub header: Vec<Member>,
    /// The members of the trailer.
    pub trailer: Vec<Member>,
    /// The messages, made by [`MessageDef::new`]; no MsgType(35) occurs twice.
    pub messages: Vec<MessageDef>,
    /// The components.
    pub components: Vec<ComponentDef>,
}

/// The [`id`](Dictionary) of the next dictionary.
static NEXT_ID: AtomicU32 = AtomicU32::new(0);

/// Tags below this number are looked up in a table. Higher tags are searched for.
const NEAR: Tag = 65_536;

impl MessageDef {
    /// A message for [`Definitions`]. The dictionary that is made from them validates with this message. A tag that
    /// is listed twice counts once.
    pub fn new(msg_type: &str, name: &str, members: Vec<Member>) -> Self {
        let members = unique(members);
        let mut groups: Vec<_> = members
            .iter()
            .filter_map(|member| member.group.clone())
            .collect();
        groups.sort_by_key(|group| group.count());
        Self {
            msg_type: msg_type.into(),
            name: name.into(),
            members,
            groups,
            conditions: Vec::new(),
            components: Vec::new(),
            of_transport: false,
            allowed: Vec::new(),
            places: Vec::new(),
            required: Vec::new(),
        }
    }

    /// Returns the message with these conditions. A condition that is listed twice counts once.
    pub fn with_conditions(mut self, mut conditions: Vec<ConditionalRequirement>) -> Self {
        conditions.sort();
        conditions.dedup();
        self.conditions = conditions;
        self
    }

    /// The message with the names of the components in its layout. Components inside groups are left out.
    pub fn with_components(mut self, components: Vec<String>) -> Self {
        self.components = components;
        self
    }
}

/// Makes a dictionary from definitions, which may be in any order. Each data field is linked to its length field. A
/// data field that does not name its length field gets the one with the matching name, or else the field just before
/// it. The caller must limit the total number of members; readers of files stop at [`MAX_MEMBERS`].
///
/// # Errors
///
/// [`DefinitionProblem`] when there are too many items of a kind, or a tag or message type comes twice.
pub fn assemble(mut definitions: Definitions) -> Result<Dictionary, DefinitionProblem> {
    check(&mut definitions)?;
    pair(&mut definitions.fields);
    Ok(index(definitions))
}

/// Sorts the definitions, and fails for definitions that [`index`] cannot handle.
fn check(definitions: &mut Definitions) -> Result<(), DefinitionProblem> {
    let too_many = |what, limit| Err(DefinitionProblem::TooMany { what, limit });
    let Definitions {
        fields,
        header,
        trailer,
        messages,
        components,
        ..
    } = definitions;
    if fields.len() > MAX_FIELDS {
        return too_many("fields", MAX_FIELDS);
    }
    if messages.len() > MAX_MESSAGES {
        return too_many("messages", MAX_MESSAGES);
    }
    fields.sort_by_key(|field| field.tag);
    if let Some([field, _]) = fields.array_windows().find(|[a, b]| a.tag == b.tag) {
        return Err(DefinitionProblem::DuplicateTag(field.tag));
    }
    messages.sort_by(|a, b| a.msg_type.cmp(&b.msg_type));
    let mut pairs = messages.array_windows();
    if let Some([message, _]) = pairs.find(|[a, b]| a.msg_type == b.msg_type) {
        let msg_type = message.msg_type.clone();
        return Err(DefinitionProblem::DuplicateMessageType(msg_type));
    }
    let parts = messages.iter().map(|message| &message.members);
    let mut members = parts.chain([&*header, &*trailer]).flatten();
    let too_deep = |member: &Member| {
        let group = member.group.as_deref();
        group.is_some_and(|group| group.depth() > MAX_GROUP_DEPTH)
    };
    if members.any(too_deep) {
        return Err(DefinitionProblem::TooDeep);
    }
    components.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

/// Links data fields and their length fields. A data field that does not name its length field gets the one with the
/// matching name, or else the field just before it. If several data fields name the same length field, the length
/// field is linked to the last of them.
pub(super) fn pair(fields: &mut [FieldDef]) {
    let is_length: BTreeMap<Tag, usize> = fields
        .iter()
        .enumerate()
        .filter(|(_, field)| !field.kind.is_data())
        .map(|(at, field)| (field.tag, at))
        .collect();
    let mut at_name = BTreeMap::new();
    for (at, field) in fields.iter().enumerate() {
        at_name.entry(field.name.clone()).or_insert(at);
    }
    let mut found = Vec::new();
    for (data, field) in fields.iter().enumerate() {
        if !field.kind.is_data() {
            continue;
        }
        let before = |&at: &usize| {
            matches!(fields[at].kind, DataType::Length | DataType::Int)
                && fields[at].tag + 1 == field.tag
        };
        let named = ["Len", "Length"]
            .into_iter()
            .filter_map(|suffix| at_name.get(&format!("{}{suffix}", field.name)).copied())
            .filter(|&at| !fields[at].kind.is_data())
            .min();
        let said = field.partner.and_then(|tag| is_length.get(&tag)).copied();
        let length = said
            .or(named)
            .or_else(|| data.checked_sub(1).filter(before));
        found.push((data, length));
    }
    for field in fields.iter_mut() {
        field.partner = None;
    }
    for (data, length) in found {
        if let Some(length) = length {
            fields[data].partner = Some(fields[length].tag);
            fields[length].partner = Some(fields[data].tag);
        }
    }
}

/// Makes the indexes of sorted definitions: of fields by tag, and of components by name.
pub(super) fn index(definitions: Definitions) -> Dictionary {
    let Definitions {
        version,
        fields,
        header,
        trailer,
        mut messages,
        components,
    } = definitions;
    let checks: Vec<_> = fields.iter().map(Check::new).collect();
    let mut near = Vec::new();
    let mut far = Vec::new();
    for (slot, field) in fields.iter().enumerate() {
        let slot = slot as u16; // `compile` and `over` keep the number of fields below 65,535.
        if field.tag < NEAR {
            near.resize(field.tag as usize + 1, Near::NONE);
            near[field.tag as usize] = Near::new(slot, &checks[usize::from(slot)]);
        } else {
            far.push((field.tag, slot));
        }
    }
    let mut by_name: Vec<u16> = (0..fields.len() as u16).collect();
    by_name.sort_by(|&a, &b| {
        fields[usize::from(a)]
            .name
            .cmp(&fields[usize::from(b)].name)
    });
    messages.sort_by(|a, b| a.msg_type.as_bytes().cmp(b.msg_type.as_bytes()));
    let mut short_types = [NO_SLOT; 128];
    for (at, message) in messages.iter().enumerate() {
        if let [letter @ 0..128] = message.msg_type.as_bytes() {
            short_types[usize::from(*letter)] = at as u16;
        }
    }
    let mut dictionary = Dictionary {
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        version,
        checks,
        fields,
        near,
        far,
        by_name,
        header: MessageDef::new("", "StandardHeader", header),
        trailer: MessageDef::new("", "StandardTrailer", trailer),
        messages: Vec::new(),
        short_types,
        group_words: 0,
        components,
    };
    let mut header = dictionary.header.clone();
    let mut trailer = dictionary.trailer.clone();
    mark(&dictionary, &mut header, &[]);
    mark(&dictionary, &mut trailer, &[]);
    for message in &mut messages {
        mark(&dictionary, message, &[&header, &trailer]);
    }
    for member in &header.members {
        dictionary.check_mut(member.tag, Check::in_header);
    }
    for member in &trailer.members {
        dictionary.check_mut(member.tag, Check::in_trailer);
    }
    for message in messages.iter().chain([&header, &trailer]) {
        for group in message
            .members
            .iter()
            .filter_map(|member| member.group.as_deref())
        {
            dictionary.group_words = dictionary.group_words.max(group.words);
            dictionary.check_mut(group.count(), Check::open_group);
        }
    }
    (dictionary.header, dictionary.trailer, dictionary.messages) = (header, trailer, messages);
    dictionary
}

/// Fills in the bit sets of a message, with the members that the header and the trailer allow and require.
fn mark(dictionary: &Dictionary, message: &mut MessageDef, frame: &[&MessageDef]) {
    let words = dictionary.fields.len().div_ceil(64);
    message.allowed = vec![0; words];
    message.required = vec![0; words];
    for member in &message.members {
        if let Some(slot) = dictionary.slot(member.tag) {
            set(&mut message.allowed, slot);
            if member.required {
                set(&mut message.required, slot);
            }
        }
    }
    message.places = message.allowed.clone();
    for frame in frame {
        add(&mut message.places, &frame.allowed);
        add(&mut message.required, &frame.required);
    }
}

fn add(words: &mut [u64], more: &[u64]) {
    words
        .iter_mut()
        .zip(more)
        .for_each(|(word, more)| *word |= more);
}

/// Implements [`Dictionary::over`].
pub(super) fn over(application: &Dictionary, transport: &Dictionary) -> Dictionary {
    let mut fields = transport.fields.clone();
    fields.extend(
        application
            .fields
            .iter()
            .filter(|field| transport.field(field.tag).is_none())
            .cloned(),
    );
    fields.sort_by_key(|field| field.tag);
    fields.truncate(usize::from(NO_SLOT) - 1);
    let mut messages = transport.messages.clone();
    messages
        .iter_mut()
        .for_each(|message| message.of_transport = true);
    let own = |message: &&MessageDef| transport.message(message.msg_type.as_bytes()).is_none();
    messages.extend(application.messages.iter().filter(own).cloned());
    let mut components = application.components.clone();
    let other = |component: &&ComponentDef| application.component(&component.name).is_none();
    components.extend(transport.components.iter().filter(other).cloned());
    components.sort_by(|a, b| a.name.cmp(&b.name));
    let mut dictionary = index(Definitions {
        components,
        version: application.version.clone(),
        fields,
        header: transport.header.members.clone(),
        trailer: transport.trailer.members.clone(),
        messages,
    });
    // If the two dictionaries give a name to different tags, the name stands for the tag of the transport dictionary.
    let fields = &dictionary.fields;
    dictionary.by_name.retain(|&slot| {
        let field = &fields[usize::from(slot)];
        let named = transport.field_named(&field.name);
        named.is_none_or(|named| named.tag == field.tag)
    });
    for field in &transport.fields {
        dictionary.check_mut(field.tag, Check::of_transport);
    }
    dictionary
}

impl Dictionary {
    fn check_mut(&mut self, tag: Tag, change: fn(&mut Check)) {
        if let Some(slot) = self.slot(tag) {
            let check = &mut self.checks[slot];
            change(check);
            if let Some(near) = self.near.get_mut(tag as usize) {
                *near = Near::new(slot as u16, check);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::super::{GroupDef, Version};
    use super::*;

    fn field(tag: Tag) -> FieldDef {
        FieldDef {
            tag,
            name: format!("F{tag}"),
            kind: DataType::String,
            values: Vec::new(),
            others: crate::dictionary::OtherValues::None,
            partner: None,
        }
    }

    fn member(tag: Tag, group: Option<GroupDef>) -> Member {
        Member {
            tag,
            required: true,
            group: group.map(Arc::new),
        }
    }

    /// Groups inside each other, to this depth.
    fn nested(depth: usize) -> Member {
        let group = (1..depth).fold(vec![member(1, None)], |members, _| {
            vec![member(1, GroupDef::new(1, members))]
        });
        member(1, GroupDef::new(1, group))
    }

    #[test]
    fn a_dictionary_taken_apart_is_the_same_again_in_any_order() {
        let whole = Dictionary::built_in(Version::Fix44);
        let mut parts = Definitions {
            version: whole.version.clone(),
            fields: whole.fields.clone(),
            header: whole.header.members.clone(),
            trailer: whole.trailer.members.clone(),
            messages: whole.messages.clone(),
            components: whole.components.clone(),
        };
        parts.fields.reverse();
        parts.messages.reverse();
        parts.components.reverse();
        let again = assemble(parts).expect("it was one");
        assert_eq!(again, whole);
        assert_eq!(again.components, whole.components);
    }

    #[test]
    fn definitions_that_cannot_be_are_refused() {
        let of_fields = |fields| Definitions {
            fields,
            ..Definitions::default()
        };
        let of_messages = |messages| Definitions {
            messages,
            ..Definitions::default()
        };
        let message = |msg_type: &str| MessageDef::new(msg_type, "Order", Vec::new());
        let last = Tag::MAX;
        let deep = Definitions {
            header: vec![nested(MAX_GROUP_DEPTH + 1)],
            ..of_fields(vec![field(1)])
        };
        let too_many = |what, limit| DefinitionProblem::TooMany { what, limit };
        let cases = [
            (
                of_fields(vec![field(last), field(1), field(last)]),
                DefinitionProblem::DuplicateTag(last),
            ),
            (
                of_messages(vec![message("D"), message("8"), message("D")]),
                DefinitionProblem::DuplicateMessageType("D".into()),
            ),
            (deep, DefinitionProblem::TooDeep),
            (
                of_fields(vec![field(1); MAX_FIELDS + 1]),
                too_many("fields", MAX_FIELDS),
            ),
            (
                of_messages(vec![message("D"); MAX_MESSAGES + 1]),
                too_many("messages", MAX_MESSAGES),
            ),
        ];
        for (definitions, problem) in cases {
            assert_eq!(assemble(definitions), Err(problem));
        }
        let highest = Definitions {
            header: vec![nested(MAX_GROUP_DEPTH)],
            ..of_fields(vec![field(last), field(last - 1), field(1)])
        };
        assert!(assemble(highest).is_ok_and(|made| made.field(last).is_some()));
    }
}
