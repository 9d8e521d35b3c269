//! Definitions by tag become a dictionary with its indexes and bit sets.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::validate::Check;
use super::{ComponentDef, Dictionary, FieldDef, Member, MessageDef, NO_SLOT, set, unique};
use crate::Tag;

/// A dictionary without its indexes.
pub(super) struct Definitions {
    pub version: String,
    /// In the order of tags, each tag once.
    pub fields: Vec<FieldDef>,
    pub header: Vec<Member>,
    pub trailer: Vec<Member>,
    pub messages: Vec<MessageDef>,
    /// In the order of names.
    pub components: Vec<ComponentDef>,
}

/// Tags below this one are looked up in a table, the others by search.
const NEAR: Tag = 65_536;

impl MessageDef {
    /// A message whose bit sets are still empty.
    pub(super) fn new(msg_type: &str, name: &str, members: Vec<Member>) -> Self {
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
}

/// Makes the indexes.
pub(super) fn assemble(definitions: Definitions) -> Dictionary {
    let Definitions {
        version,
        fields,
        header,
        trailer,
        mut messages,
        components,
    } = definitions;
    let mut near = vec![NO_SLOT; 0];
    let mut far = Vec::new();
    for (slot, field) in fields.iter().enumerate() {
        let slot = slot as u16; // `compile` and `over` keep the number of fields below 65,535.
        if field.tag < NEAR {
            near.resize(field.tag as usize + 1, NO_SLOT);
            near[field.tag as usize] = slot;
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
        version,
        checks: fields.iter().map(Check::new).collect(),
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

/// Fills in a message's bit sets; what the frame around it has and requires is added.
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

/// See [`Dictionary::over`].
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
    let mut dictionary = assemble(Definitions {
        components,
        version: application.version.clone(),
        fields,
        header: transport.header.members.clone(),
        trailer: transport.trailer.members.clone(),
        messages,
    });
    // A name that both give to different tags means the transport's.
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
            change(&mut self.checks[slot]);
        }
    }
}
