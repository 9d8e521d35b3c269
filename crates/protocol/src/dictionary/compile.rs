//! From definitions as a source writes them to a dictionary: names become tags, components
//! disappear into the messages that use them.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::assemble::{self, Definitions};
use super::{Dictionary, FieldDef, GroupDef, Kind, Member, MessageDef, ValueDef};
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
}

#[derive(Debug)]
pub(super) struct ComponentSource<'a> {
    pub at: usize,
    pub name: &'a str,
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
    pub name: &'a str,
    pub required: bool,
    pub what: What<'a>,
}

#[derive(Debug)]
pub(super) enum What<'a> {
    Field,
    Component,
    Group(Vec<Item<'a>>),
}

/// What is wrong with a dictionary's definitions.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not XML, or has what we do not read: entities, document types.
    Xml(String),
    /// The text is longer than `Limits::bytes`.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Groups and components stand deeper in each other than `Limits::depth`, or 64.
    TooDeep,
    /// The file or what its components expand to is larger than the limit.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The outermost element is not `<fix>`.
    WrongRoot(String),
    /// `<fix>` has no such child.
    MissingSection(&'static str),
    /// An element that does not belong here.
    UnexpectedElement {
        /// Its name.
        found: String,
        /// What may stand here.
        expected: &'static str,
    },
    /// An element without this attribute, or with an empty one.
    MissingAttribute {
        /// The element's name.
        element: String,
        /// The attribute's name.
        attribute: &'static str,
    },
    /// An attribute whose value is not one of those it may have.
    BadAttribute {
        /// The attribute's name.
        attribute: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A field type that FIX does not have.
    UnknownType(String),
    /// Two fields with this number.
    DuplicateTag(Tag),
    /// Two fields with this name.
    DuplicateField(String),
    /// Two components with this name.
    DuplicateComponent(String),
    /// Two messages with this type.
    DuplicateMessageType(String),
    /// A layout names a field that `<fields>` does not define.
    UnknownField(String),
    /// A layout names a component that `<components>` does not define.
    UnknownComponent(String),
    /// A component contains itself, directly or through others.
    CyclicComponent(String),
    /// A group has no field, so its entries would have no beginning.
    EmptyGroup(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xml(what) => write!(
                f,
                "not readable as XML: {what}; write plain elements and attributes"
            ),
            Self::TooLong { limit } => write!(
                f,
                "longer than {limit} bytes; remove messages that you do not use"
            ),
            Self::TooDeep => f.write_str("groups or components are nested too deep; flatten them"),
            Self::TooMany { what, limit } => write!(
                f,
                "more than {limit} {what}; remove those that you do not use"
            ),
            Self::WrongRoot(found) => {
                write!(
                    f,
                    "the root element is <{found}>, not <fix>; a QuickFIX data dictionary is wanted"
                )
            }
            Self::MissingSection(name) => write!(f, "<fix> has no <{name}>; add it"),
            Self::UnexpectedElement { found, expected } => {
                write!(f, "<{found}> does not belong here; write {expected}")
            }
            Self::MissingAttribute { element, attribute } => {
                write!(f, "<{element}> has no {attribute}; add {attribute}=\"...\"")
            }
            Self::BadAttribute {
                attribute,
                value,
                expected,
            } => {
                write!(f, "{attribute}=\"{value}\" cannot be; write {expected}")
            }
            Self::UnknownType(name) => {
                write!(
                    f,
                    "the field type {name} is unknown; write STRING to take any value"
                )
            }
            Self::DuplicateTag(tag) => write!(
                f,
                "a field with number {tag} is defined already; remove one"
            ),
            Self::DuplicateField(name) => {
                write!(f, "a field {name} is defined already; rename or remove one")
            }
            Self::DuplicateComponent(name) => {
                write!(
                    f,
                    "a component {name} is defined already; rename or remove one"
                )
            }
            Self::DuplicateMessageType(name) => {
                write!(
                    f,
                    "a message with msgtype {name} is defined already; remove one"
                )
            }
            Self::UnknownField(name) => {
                write!(
                    f,
                    "there is no field {name}; define it in <fields> or correct the name"
                )
            }
            Self::UnknownComponent(name) => {
                write!(
                    f,
                    "there is no component {name}; define it in <components> or correct the name"
                )
            }
            Self::CyclicComponent(name) => {
                write!(f, "the component {name} contains itself; remove that use")
            }
            Self::EmptyGroup(name) => write!(
                f,
                "the group {name} has no fields; add the one it begins with"
            ),
        }
    }
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
const MAX_FIELDS: usize = 65_000;
/// Most messages: each takes some bits for every field. The standard has fewer than 200.
const MAX_MESSAGES: usize = 2_000;
/// Most members that all messages together may have, components expanded. The largest dictionary
/// of the standard has 40,000; a file whose components multiply each other stops here.
const MAX_MEMBERS: usize = 2_000_000;
/// Most groups and components inside each other.
const MAX_DEPTH: usize = 64;

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
        messages.push(MessageDef::new(message.msg_type, message.name, members));
    }
    Ok(assemble::assemble(Definitions {
        version: source.version,
        fields,
        header,
        trailer,
        messages,
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
            values: field
                .values
                .iter()
                .map(|&(value, name)| ValueDef {
                    value: value.into(),
                    name: name.into(),
                })
                .collect(),
            partner: None,
        })
        .collect();
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

/// Finds the length field of each data field: by its name, else as the field just before it.
fn pair(fields: &mut [FieldDef]) {
    let mut at_name = BTreeMap::new();
    for (at, field) in fields.iter().enumerate() {
        at_name.entry(field.name.clone()).or_insert(at);
    }
    for data in 0..fields.len() {
        if !matches!(fields[data].kind, Kind::Data | Kind::XmlData) {
            continue;
        }
        let before = |at: usize| {
            matches!(fields[at].kind, Kind::Length | Kind::Int)
                && fields[at].tag + 1 == fields[data].tag
        };
        let name = &fields[data].name;
        let named = ["Len", "Length"].map(|suffix| at_name.get(&format!("{name}{suffix}")));
        let named = named.into_iter().flatten().min().copied();
        let Some(length) = named.or_else(|| data.checked_sub(1).filter(|&at| before(at))) else {
            continue;
        };
        fields[data].partner = Some(fields[length].tag);
        fields[length].partner = Some(fields[data].tag);
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
                .insert(component.name, (component, Expansion::Waiting))
                .is_some()
            {
                return Err(Misfit::new(
                    component.at,
                    Problem::DuplicateComponent(component.name.into()),
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
            layouts.component(component.at, component.name)?;
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
                        return Err(Misfit::new(item.at, Problem::EmptyGroup(item.name.into())));
                    };
                    members.push(Member {
                        tag,
                        required: item.required,
                        group: Some(Arc::new(group)),
                    });
                }
                What::Component => {
                    let expanded = self.component(item.at, item.name)?;
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
        let unknown = || Misfit::new(item.at, Problem::UnknownField(item.name.into()));
        self.tags.get(item.name).copied().ok_or_else(unknown)
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
}
