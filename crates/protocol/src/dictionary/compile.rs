//! From definitions as a source writes them to a dictionary: names become tags, components
//! disappear into the messages that use them.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::assemble::{self, Definitions};
use super::problem::Problem;
use super::{ComponentDef, Dictionary, FieldDef, GroupDef, Kind, Member, MessageDef, ValueDef};
use crate::Tag;

/// What a table or an XML file says, in its order. `at` is the byte where it says so.
#[derive(Debug, Default)]
pub(super) struct Source<'a> {
    pub version: String,
    pub fields: Vec<FieldSource<'a>>,
    pub header: Vec<Item<'a>>,
    pub trailer: Vec<Item<'a>>,
    pub components: Vec<ComponentSource<'a>>,
    pub messages: Vec<MessageSource<'a>>,
}

#[derive(Debug)]
pub(super) struct FieldSource<'a> {
    pub at: usize,
    pub tag: Tag,
    pub name: &'a str,
    pub kind: Kind,
    pub values: Vec<(&'a str, &'a str)>,
    /// Of a data field, its length field where the source names it.
    pub length: Option<Tag>,
}

#[derive(Debug)]
pub(super) struct ComponentSource<'a> {
    pub at: usize,
    pub name: Cow<'a, str>,
    pub items: Vec<Item<'a>>,
}

#[derive(Debug)]
pub(super) struct MessageSource<'a> {
    pub at: usize,
    pub msg_type: &'a str,
    pub name: &'a str,
    pub items: Vec<Item<'a>>,
}

/// A line of a layout: a field, a group or the use of a component.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub at: usize,
    pub name: Cow<'a, str>,
    pub required: bool,
    pub what: What<'a>,
}

#[derive(Debug)]
pub(super) enum What<'a> {
    Field,
    Component,
    Group(Vec<Item<'a>>),
}

/// A problem and the byte of the source where it stands.
#[derive(Debug)]
pub(super) struct Misfit {
    pub at: usize,
    pub problem: Problem,
}

impl Misfit {
    pub fn new(at: usize, problem: Problem) -> Self {
        Self { at, problem }
    }
}

/// Most fields that one dictionary may define: slots are 16 bits wide.
pub(super) const MAX_FIELDS: usize = 65_000;
/// Most messages: each takes some bits for every field. The standard has fewer than 200.
pub(super) const MAX_MESSAGES: usize = 2_000;
/// Most members that all messages together may have, components expanded. The largest dictionary
/// of the standard has 40,000; a file whose components multiply each other stops here.
pub(super) const MAX_MEMBERS: usize = 2_000_000;
/// Most groups and components inside each other.
pub(super) const MAX_DEPTH: usize = 64;
/// Most groups inside each other, across components: validation goes as deep.
pub(super) const MAX_GROUP_DEPTH: usize = 8;

/// Makes the dictionary that a source describes.
pub(super) fn compile(source: Source<'_>) -> Result<Dictionary, Misfit> {
    let fields = fields(&source)?;
    if let Some(message) = source.messages.get(MAX_MESSAGES) {
        return Err(Misfit::new(
            message.at,
            Problem::TooMany {
                what: "messages",
                limit: MAX_MESSAGES,
            },
        ));
    }
    let mut layouts = Layouts::new(&source)?;
    let header = layouts.members(&source.header)?;
    let trailer = layouts.members(&source.trailer)?;
    let mut messages = Vec::with_capacity(source.messages.len());
    let mut types = BTreeMap::new();
    for message in &source.messages {
        if types.insert(message.msg_type, ()).is_some() {
            return Err(Misfit::new(
                message.at,
                Problem::DuplicateMessageType(message.msg_type.into()),
            ));
        }
        let members = layouts.members(&message.items)?;
        let mut definition = MessageDef::new(message.msg_type, message.name, members);
        let used = message
            .items
            .iter()
            .filter(|item| matches!(item.what, What::Component));
        definition.components = used.map(|item| item.name.as_ref().into()).collect();
        messages.push(definition);
    }
    let components = layouts.expanded();
    Ok(assemble::assemble(Definitions {
        version: source.version,
        fields,
        header,
        trailer,
        messages,
        components,
    }))
}

/// The fields in the order of tags, length and data fields introduced to each other.
fn fields(source: &Source<'_>) -> Result<Vec<FieldDef>, Misfit> {
    if let Some(field) = source.fields.get(MAX_FIELDS) {
        return Err(Misfit::new(
            field.at,
            Problem::TooMany {
                what: "fields",
                limit: MAX_FIELDS,
            },
        ));
    }
    let mut by_tag = BTreeMap::new();
    for field in &source.fields {
        if by_tag.insert(field.tag, field).is_some() {
            return Err(Misfit::new(field.at, Problem::DuplicateTag(field.tag)));
        }
    }
    let mut fields: Vec<FieldDef> = by_tag
        .values()
        .map(|field| FieldDef {
            tag: field.tag,
            name: field.name.into(),
            kind: kind(&source.version, field),
            values: values(field),
            partner: None,
        })
        .collect();
    let said: BTreeMap<Tag, Tag> = source
        .fields
        .iter()
        .filter_map(|field| Some((field.tag, field.length?)))
        .collect();
    for field in &mut fields {
        field.partner = said.get(&field.tag).copied();
    }
    pair(&mut fields);
    Ok(fields)
}

/// Before FIX 4.2 the type char was text of any length, and ExecInst held several instructions.
fn kind(version: &str, field: &FieldSource<'_>) -> Kind {
    match (version, field.kind, field.name) {
        ("FIX.4.0" | "FIX.4.1", Kind::Char, "ExecInst") => Kind::MultipleStringValue,
        ("FIX.4.0" | "FIX.4.1", Kind::Char, _) => Kind::String,
        (_, kind, _) => kind,
    }
}

/// The values of a field, each once: some files in use list one twice.
fn values(field: &FieldSource<'_>) -> Vec<ValueDef> {
    let mut seen = BTreeSet::new();
    let first = field.values.iter().filter(|(value, _)| seen.insert(*value));
    first
        .map(|&(value, name)| ValueDef {
            value: value.into(),
            name: name.into(),
        })
        .collect()
}

/// Introduces data fields and their length fields to each other. A data field that does not name one
/// finds it by its name, else as the field just before it. A length field that several name counts the
/// last of them.
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
            matches!(fields[at].kind, Kind::Length | Kind::Int) && fields[at].tag + 1 == field.tag
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

/// Expands layouts; a component is expanded once and its groups are shared by all who use it.
struct Layouts<'a> {
    tags: BTreeMap<&'a str, Tag>,
    components: BTreeMap<&'a str, (&'a ComponentSource<'a>, Expansion)>,
    /// How many members all layouts have so far.
    size: usize,
    /// How many groups and components we are inside of.
    depth: usize,
}

enum Expansion {
    Waiting,
    Running,
    Done(Arc<[Member]>),
}

impl<'a> Layouts<'a> {
    fn new(source: &'a Source<'a>) -> Result<Self, Misfit> {
        let mut tags = BTreeMap::new();
        for field in &source.fields {
            if tags.insert(field.name, field.tag).is_some() {
                return Err(Misfit::new(
                    field.at,
                    Problem::DuplicateField(field.name.into()),
                ));
            }
        }
        let mut components = BTreeMap::new();
        for component in &source.components {
            if components
                .insert(component.name.as_ref(), (component, Expansion::Waiting))
                .is_some()
            {
                return Err(Misfit::new(
                    component.at,
                    Problem::DuplicateComponent(component.name.as_ref().into()),
                ));
            }
        }
        let mut layouts = Self {
            tags,
            components,
            size: 0,
            depth: 0,
        };
        // Also those that nobody uses, so that their mistakes are found.
        for component in &source.components {
            layouts.component(component.at, component.name.as_ref())?;
        }
        Ok(layouts)
    }

    fn members(&mut self, items: &'a [Item<'a>]) -> Result<Vec<Member>, Misfit> {
        if self.depth == MAX_DEPTH {
            let at = items.first().map_or(0, |item| item.at);
            return Err(Misfit::new(at, Problem::TooDeep));
        }
        self.depth += 1;
        let mut members = Vec::with_capacity(items.len());
        for item in items {
            match &item.what {
                What::Field => {
                    members.push(Member {
                        tag: self.tag(item)?,
                        required: item.required,
                        group: None,
                    });
                }
                What::Group(items) => {
                    let tag = self.tag(item)?;
                    let Some(group) = GroupDef::new(tag, self.members(items)?) else {
                        return Err(Misfit::new(
                            item.at,
                            Problem::EmptyGroup(item.name.as_ref().into()),
                        ));
                    };
                    if group.depth > MAX_GROUP_DEPTH {
                        return Err(Misfit::new(item.at, Problem::TooDeep));
                    }
                    members.push(Member {
                        tag,
                        required: item.required,
                        group: Some(Arc::new(group)),
                    });
                }
                What::Component => {
                    let expanded = self.component(item.at, item.name.as_ref())?;
                    // A component that may be left out makes all its fields optional.
                    members.extend(expanded.iter().map(|member| Member {
                        tag: member.tag,
                        required: member.required && item.required,
                        group: member.group.clone(),
                    }));
                }
            }
            if self.size + members.len() > MAX_MEMBERS {
                return Err(Misfit::new(
                    item.at,
                    Problem::TooMany {
                        what: "members of messages",
                        limit: MAX_MEMBERS,
                    },
                ));
            }
        }
        self.size += members.len();
        self.depth -= 1;
        Ok(members)
    }

    fn tag(&self, item: &Item<'_>) -> Result<Tag, Misfit> {
        let unknown = || Misfit::new(item.at, Problem::UnknownField(item.name.as_ref().into()));
        self.tags
            .get(item.name.as_ref())
            .copied()
            .ok_or_else(unknown)
    }

    fn component(&mut self, at: usize, name: &'a str) -> Result<Arc<[Member]>, Misfit> {
        let Some((component, expansion)) = self.components.get_mut(name) else {
            return Err(Misfit::new(at, Problem::UnknownComponent(name.into())));
        };
        match expansion {
            Expansion::Done(members) => return Ok(Arc::clone(members)),
            Expansion::Running => {
                return Err(Misfit::new(at, Problem::CyclicComponent(name.into())));
            }
            Expansion::Waiting => *expansion = Expansion::Running,
        }
        let component = *component;
        let members: Arc<[Member]> = self.members(&component.items)?.into();
        if let Some((_, expansion)) = self.components.get_mut(name) {
            *expansion = Expansion::Done(Arc::clone(&members));
        }
        Ok(members)
    }

    /// The components, in the order of their names.
    fn expanded(self) -> Vec<ComponentDef> {
        let done = |(name, (_, expansion)): (&str, (_, Expansion))| match expansion {
            Expansion::Done(members) => Some(ComponentDef {
                name: name.into(),
                members,
            }),
            _ => None,
        };
        self.components.into_iter().filter_map(done).collect()
    }
}
