//! Compiles the definitions of a source into a dictionary: names become tags, and a message that uses a component
//! gets the component's members.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::assemble::{
    self, Definitions, MAX_DEPTH, MAX_FIELDS, MAX_GROUP_DEPTH, MAX_MEMBERS, MAX_MESSAGES,
};
use super::definition_problem::DefinitionProblem;
use super::{
    ComponentDef, DataType, Dictionary, FieldDef, GroupDef, Member, MessageDef, OtherValues,
    ValueDef,
};
use crate::Tag;

/// The definitions of a table or a file, in their order. Each `at` is the byte offset of one definition.
#[derive(Debug, Default)]
pub struct DictionarySource<'a> {
    /// The version, such as `FIX.4.2` or `FIX.5.0SP2`.
    pub version: String,
    /// The fields.
    pub fields: Vec<FieldSource<'a>>,
    /// The layout of the header.
    pub header: Vec<LayoutItem<'a>>,
    /// The layout of the trailer.
    pub trailer: Vec<LayoutItem<'a>>,
    /// The components that layouts may use.
    pub components: Vec<ComponentSource<'a>>,
    /// The messages.
    pub messages: Vec<MessageSource<'a>>,
}

/// A field.
#[derive(Debug)]
pub struct FieldSource<'a> {
    /// Byte offset of the definition.
    pub at: usize,
    /// The tag of the field.
    pub tag: Tag,
    /// The name of the field.
    pub name: &'a str,
    /// The data type of the field.
    pub kind: DataType,
    /// The values that the field may have, with their names; empty if it may have any value of its type.
    pub values: Vec<(&'a str, &'a str)>,
    /// The values that the field may have in addition to `values`.
    pub others: OtherValues,
    /// For a data field, the tag of its length field, if the source names it.
    pub length: Option<Tag>,
}

/// A component.
#[derive(Debug)]
pub struct ComponentSource<'a> {
    /// Byte offset of the definition.
    pub at: usize,
    /// The name of the component.
    pub name: Cow<'a, str>,
    /// The layout of the component.
    pub items: Vec<LayoutItem<'a>>,
}

/// A message.
#[derive(Debug)]
pub struct MessageSource<'a> {
    /// Byte offset of the definition.
    pub at: usize,
    /// MsgType(35).
    pub msg_type: &'a str,
    /// The name of the message.
    pub name: &'a str,
    /// The layout of the message, without header and trailer.
    pub items: Vec<LayoutItem<'a>>,
}

/// A line of a layout: a field, a group, or the use of a component.
#[derive(Debug)]
pub struct LayoutItem<'a> {
    /// Byte offset of the definition.
    pub at: usize,
    /// The name of the field, of the component, or of the field that counts the group's entries.
    pub name: Cow<'a, str>,
    /// Whether each message or group entry must have this member.
    pub required: bool,
    /// The kind of the definition.
    pub what: ItemKind<'a>,
}

/// Kind of a line of a layout.
#[derive(Debug)]
pub enum ItemKind<'a> {
    /// A field.
    Field,
    /// All members of a component.
    Component,
    /// A group whose entries have this layout.
    Group(Vec<LayoutItem<'a>>),
}

/// A mistake in a source, and its byte offset.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CompileError {
    /// The `at` of the definition that is wrong.
    pub at: usize,
    /// The mistake.
    pub problem: DefinitionProblem,
}

impl CompileError {
    fn new(at: usize, problem: DefinitionProblem) -> Self {
        Self { at, problem }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {:?}", self.at, self.problem)
    }
}

impl core::error::Error for CompileError {}

/// Makes the dictionary that a source describes.
///
/// # Errors
///
/// [`CompileError`] for the first definition that cannot be compiled.
pub fn compile(source: DictionarySource<'_>) -> Result<Dictionary, CompileError> {
    let fields = fields(&source)?;
    if let Some(message) = source.messages.get(MAX_MESSAGES) {
        return Err(CompileError::new(
            message.at,
            DefinitionProblem::TooMany {
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
            return Err(CompileError::new(
                message.at,
                DefinitionProblem::DuplicateMessageType(message.msg_type.into()),
            ));
        }
        let members = layouts.members(&message.items)?;
        let mut definition = MessageDef::new(message.msg_type, message.name, members);
        let used = message
            .items
            .iter()
            .filter(|item| matches!(item.what, ItemKind::Component));
        definition.components = used.map(|item| item.name.as_ref().into()).collect();
        messages.push(definition);
    }
    let components = layouts.expanded();
    Ok(assemble::index(Definitions {
        version: source.version,
        fields,
        header,
        trailer,
        messages,
        components,
    }))
}

/// The fields in the order of tags. Data fields and their length fields are linked.
fn fields(source: &DictionarySource<'_>) -> Result<Vec<FieldDef>, CompileError> {
    if let Some(field) = source.fields.get(MAX_FIELDS) {
        return Err(CompileError::new(
            field.at,
            DefinitionProblem::TooMany {
                what: "fields",
                limit: MAX_FIELDS,
            },
        ));
    }
    let mut by_tag = BTreeMap::new();
    for field in &source.fields {
        if by_tag.insert(field.tag, field).is_some() {
            return Err(CompileError::new(
                field.at,
                DefinitionProblem::DuplicateTag(field.tag),
            ));
        }
    }
    let mut fields: Vec<FieldDef> = by_tag
        .values()
        .map(|field| FieldDef {
            tag: field.tag,
            name: field.name.into(),
            kind: kind(&source.version, field),
            values: values(field),
            others: match field.values.is_empty() {
                true => OtherValues::None,
                false => field.others,
            },
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
    assemble::pair(&mut fields);
    Ok(fields)
}

/// The data type of a field. Before FIX 4.2 the type char was a text of any length, and ExecInst could have several
/// instructions.
fn kind(version: &str, field: &FieldSource<'_>) -> DataType {
    match (version, field.kind, field.name) {
        ("FIX.4.0" | "FIX.4.1", DataType::Char, "ExecInst") => DataType::MultipleStringValue,
        ("FIX.4.0" | "FIX.4.1", DataType::Char, _) => DataType::String,
        (_, kind, _) => kind,
    }
}

/// The values of a field, each once. Some files in use list a value twice.
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

/// Expands layouts. A component is expanded once, and all layouts that use it share its groups.
struct Layouts<'a> {
    tags: BTreeMap<&'a str, Tag>,
    components: BTreeMap<&'a str, (&'a ComponentSource<'a>, Expansion)>,
    /// The number of members that all layouts have so far.
    size: usize,
    /// The number of groups and components that contain the current member.
    depth: usize,
}

enum Expansion {
    Waiting,
    Running,
    Done(Arc<[Member]>),
}

impl<'a> Layouts<'a> {
    fn new(source: &'a DictionarySource<'a>) -> Result<Self, CompileError> {
        let mut tags = BTreeMap::new();
        for field in &source.fields {
            if tags.insert(field.name, field.tag).is_some() {
                return Err(CompileError::new(
                    field.at,
                    DefinitionProblem::DuplicateField(field.name.into()),
                ));
            }
        }
        let mut components = BTreeMap::new();
        for component in &source.components {
            if components
                .insert(component.name.as_ref(), (component, Expansion::Waiting))
                .is_some()
            {
                return Err(CompileError::new(
                    component.at,
                    DefinitionProblem::DuplicateComponent(component.name.as_ref().into()),
                ));
            }
        }
        let mut layouts = Self {
            tags,
            components,
            size: 0,
            depth: 0,
        };
        // Unused components are expanded too, so that their mistakes are found.
        for component in &source.components {
            layouts.component(component.at, component.name.as_ref())?;
        }
        Ok(layouts)
    }

    fn members(&mut self, items: &'a [LayoutItem<'a>]) -> Result<Vec<Member>, CompileError> {
        if self.depth == MAX_DEPTH {
            let at = items.first().map_or(0, |item| item.at);
            return Err(CompileError::new(at, DefinitionProblem::TooDeep));
        }
        self.depth += 1;
        let mut members = Vec::with_capacity(items.len());
        for item in items {
            match &item.what {
                ItemKind::Field => {
                    members.push(Member {
                        tag: self.tag(item)?,
                        required: item.required,
                        group: None,
                    });
                }
                ItemKind::Group(items) => {
                    let tag = self.tag(item)?;
                    let Some(group) = GroupDef::new(tag, self.members(items)?) else {
                        return Err(CompileError::new(
                            item.at,
                            DefinitionProblem::EmptyGroup(item.name.as_ref().into()),
                        ));
                    };
                    if group.depth > MAX_GROUP_DEPTH {
                        return Err(CompileError::new(item.at, DefinitionProblem::TooDeep));
                    }
                    members.push(Member {
                        tag,
                        required: item.required,
                        group: Some(Arc::new(group)),
                    });
                }
                ItemKind::Component => {
                    let expanded = self.component(item.at, item.name.as_ref())?;
                    // If a component is optional, all its fields are optional.
                    members.extend(expanded.iter().map(|member| Member {
                        tag: member.tag,
                        required: member.required && item.required,
                        group: member.group.clone(),
                    }));
                }
            }
            if self.size + members.len() > MAX_MEMBERS {
                return Err(CompileError::new(
                    item.at,
                    DefinitionProblem::TooMany {
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

    fn tag(&self, item: &LayoutItem<'_>) -> Result<Tag, CompileError> {
        let unknown = || {
            CompileError::new(
                item.at,
                DefinitionProblem::UnknownField(item.name.as_ref().into()),
            )
        };
        self.tags
            .get(item.name.as_ref())
            .copied()
            .ok_or_else(unknown)
    }

    fn component(&mut self, at: usize, name: &'a str) -> Result<Arc<[Member]>, CompileError> {
        let Some((component, expansion)) = self.components.get_mut(name) else {
            return Err(CompileError::new(
                at,
                DefinitionProblem::UnknownComponent(name.into()),
            ));
        };
        match expansion {
            Expansion::Done(members) => return Ok(Arc::clone(members)),
            Expansion::Running => {
                return Err(CompileError::new(
                    at,
                    DefinitionProblem::CyclicComponent(name.into()),
                ));
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

    /// The components, sorted by name.
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
