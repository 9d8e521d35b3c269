//! Reads FIX Orchestra repositories of version 1.0. One such repository is the machine-readable standard (FIX Latest);
//! venues publish others.
//!
//! ```xml
//! <fixr:repository name="FIX.Latest" version="FIX.Latest_EP269">
//!   <fixr:datatypes>  <fixr:datatype name="Qty" baseType="float"/> ...
//!   <fixr:codeSets>   <fixr:codeSet name="SideCodeSet" type="char"> <fixr:code name="Buy" value="1"/> ...
//!   <fixr:fields>     <fixr:field id="54" name="Side" type="SideCodeSet"/> ...
//!   <fixr:components> <fixr:component id="1024" name="StandardHeader"> <fixr:fieldRef id="8" presence="required"/> ...
//!   <fixr:groups>     <fixr:group id="1012" name="Parties"> <fixr:numInGroup id="453"/> <fixr:fieldRef id="448"/> ...
//!   <fixr:messages>   <fixr:message msgType="D" name="NewOrderSingle"> <fixr:structure>
//!                       <fixr:componentRef id="1024"/> <fixr:fieldRef id="11"/> <fixr:groupRef id="1012"/> ...
//! ```

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::compile::{
    ComponentSource, DictionarySource, FieldSource, ItemKind, LayoutItem, MessageSource, compile,
};
use fixwire_protocol::dictionary::{DataType, DefinitionProblem, Dictionary, OtherValues};
use fixwire_protocol::{Tag, tag};
use roxmltree::Node;

use crate::document::{
    DictionaryError, DocumentLimits, Misfit, attribute, bad, elements, misfit, msg_type, number,
    optional, parse, unexpected,
};
use crate::problem::DictionaryProblem;

/// Reads a FIX Orchestra repository of version 1.0, which is FIX Latest or was published by a venue.
///
/// Reads fields, code sets, data types, components, groups and messages. If a message, field or code set has several
/// scenarios, `base` is used, or else the first one. References to components and groups keep their scenario. The
/// union type of a field or code set adds values to the listed ones. Actors, flows, sections, categories, annotations
/// and rules are ignored.
///
/// # Errors
///
/// [`DictionaryError`] with the position of the error, as in [`quickfix::read`](crate::quickfix::read).
pub fn read(text: &str, limits: DocumentLimits) -> Result<Dictionary, DictionaryError> {
    parse(text, limits, |root| Ok(compile(source(root)?)?))
}

const BASE: &str = "base";
const HEADER: &str = "StandardHeader";
const TRAILER: &str = "StandardTrailer";
/// The union type of values that have one character.
const CHAR: &str = "CHAR";

fn source<'a>(root: Node<'a, 'a>) -> Result<DictionarySource<'a>, Misfit> {
    let name = root.tag_name().name();
    if name != "repository" {
        return Err(misfit(root, DictionaryProblem::WrongRoot(name.into())));
    }
    let mut parts: BTreeMap<&str, Vec<Node<'a, 'a>>> = BTreeMap::new();
    for section in elements(root) {
        let name = section.tag_name().name();
        match name {
            "fields" | "messages" | "components" | "groups" | "codeSets" | "datatypes" => {
                parts.entry(name).or_default().extend(elements(section));
            }
            // Ignored.
            "metadata" | "annotation" | "categories" | "sections" | "concepts" | "actors" => {}
            _ => {
                let expected =
                    "<fields>, <messages>, <components>, <groups>, <codeSets> or <datatypes>";
                return Err(unexpected(section, expected));
            }
        }
    }
    for name in ["fields", "messages"] {
        if !parts.contains_key(name) {
            return Err(misfit(root, DictionaryProblem::MissingSection(name)));
        }
    }
    let part = |name| parts.get(name).map_or(&[][..], |nodes| nodes.as_slice());
    let book = Book::new(
        Types::new(part("datatypes"), part("codeSets"))?,
        part("fields"),
        part("components"),
        part("groups"),
    )?;
    let mut source = DictionarySource {
        version: version(root)?,
        fields: book.fields()?,
        ..DictionarySource::default()
    };
    for ((_, scenario), &node) in &book.components {
        let name = optional(node, "name")?.unwrap_or_default();
        match name {
            HEADER if *scenario == BASE => source.header = book.items(node)?,
            TRAILER if *scenario == BASE => source.trailer = book.items(node)?,
            _ => source.components.push(ComponentSource {
                at: node.range().start,
                name: book.component_name(node, scenario)?,
                items: book.items(node)?,
            }),
        }
    }
    for ((_, scenario), &node) in &book.groups {
        source.components.push(ComponentSource {
            at: node.range().start,
            name: book.group_name(node, scenario)?,
            items: vec![book.group(node)?],
        });
    }
    source.messages = messages(&book, part("messages"))?;
    Ok(source)
}

/// The version: `FIX.4.4`, `FIX.5.0SP2` or `FIX.Latest`. The extension pack in the version attribute is left out.
fn version(root: Node<'_, '_>) -> Result<String, Misfit> {
    let said = match optional(root, "version")? {
        Some(version) => version,
        None => attribute(root, "name")?,
    };
    let version = said.split("_EP").next().unwrap_or(said);
    Ok(version.replace("_SP", "SP"))
}

/// The messages, one for each message type. Of several scenarios, `base` is used, or else the first one.
fn messages<'a>(book: &Book<'a>, nodes: &[Node<'a, 'a>]) -> Result<Vec<MessageSource<'a>>, Misfit> {
    let mut chosen: BTreeMap<&str, Node<'a, 'a>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for &node in nodes.iter().filter(|node| is(**node, "message")) {
        let msg_type = msg_type(node, "msgType")?;
        let scenario = scenario(node)?;
        if !seen.insert((msg_type, scenario)) {
            let problem = DefinitionProblem::DuplicateMessageType(msg_type.into());
            return Err(misfit(node, problem));
        }
        if scenario == BASE || !chosen.contains_key(msg_type) {
            chosen.insert(msg_type, node);
        }
    }
    let mut messages = Vec::with_capacity(chosen.len());
    for (msg_type, node) in chosen {
        let structures = elements(node).filter(|node| is(*node, "structure"));
        let mut items = Vec::new();
        for structure in structures {
            items.extend(book.items(structure)?);
        }
        messages.push(MessageSource {
            at: node.range().start,
            msg_type,
            name: attribute(node, "name")?,
            items,
        });
    }
    Ok(messages)
}

/// The data types and code sets, by name.
struct Types<'a> {
    kinds: BTreeMap<&'a str, Node<'a, 'a>>,
    /// The code sets, by name and scenario.
    code_sets: BTreeMap<(&'a str, &'a str), Node<'a, 'a>>,
}

impl<'a> Types<'a> {
    fn new(datatypes: &[Node<'a, 'a>], code_sets: &[Node<'a, 'a>]) -> Result<Self, Misfit> {
        let mut types = Self {
            kinds: BTreeMap::new(),
            code_sets: BTreeMap::new(),
        };
        for &node in datatypes.iter().filter(|node| is(**node, "datatype")) {
            let name = attribute(node, "name")?;
            if types.kinds.insert(name, node).is_some() {
                return Err(misfit(
                    node,
                    DictionaryProblem::DuplicateId(format!("datatype {name}")),
                ));
            }
        }
        for &node in code_sets.iter().filter(|node| is(**node, "codeSet")) {
            let key = (attribute(node, "name")?, scenario(node)?);
            if types.code_sets.insert(key, node).is_some() {
                let problem =
                    DictionaryProblem::DuplicateId(format!("codeSet {} {}", key.0, key.1));
                return Err(misfit(node, problem));
            }
        }
        Ok(types)
    }

    /// The FIX type for a name. The name may lead to the type through other data types.
    fn kind(&self, node: Node<'_, '_>, name: &str) -> Result<DataType, Misfit> {
        let mut name = name;
        for _ in 0..=self.kinds.len().min(MAX_BASES) {
            if let Some(kind) = DataType::from_quickfix(name) {
                return Ok(kind);
            }
            match self
                .kinds
                .get(name)
                .and_then(|node| node.attribute("baseType"))
            {
                Some(base) => name = base,
                None => break,
            }
        }
        Err(misfit(node, DictionaryProblem::UnknownType(name.into())))
    }

    fn code_set(&self, name: &'a str, scenario: &'a str) -> Option<Node<'a, 'a>> {
        let exact = self.code_sets.get(&(name, scenario));
        let exact = exact.or_else(|| self.code_sets.get(&(name, BASE)));
        let any = || {
            let mut all = self.code_sets.range((name, "")..);
            all.next()
                .filter(|((found, _), _)| *found == name)
                .map(|(_, node)| node)
        };
        exact.or_else(any).copied()
    }
}

/// Maximum number of steps from a data type to the types on which it is based.
const MAX_BASES: usize = 16;

/// The values of a code set, each with its code and name.
fn codes<'a>(set: Node<'a, 'a>) -> Result<Vec<(&'a str, &'a str)>, Misfit> {
    let mut seen = BTreeSet::new();
    let mut codes = Vec::new();
    for code in elements(set).filter(|node| is(*node, "code")) {
        let value = attribute(code, "value")?;
        if !seen.insert(value) {
            return Err(misfit(
                code,
                DictionaryProblem::DuplicateValue(value.into()),
            ));
        }
        codes.push((value, optional(code, "name")?.unwrap_or(value)));
    }
    Ok(codes)
}

/// The values that a `unionDataType` allows in addition to the codes.
fn others(tag: Tag, union: &str) -> OtherValues {
    let reserved = union.strip_prefix("Reserved");
    let first = reserved.and_then(|rest| rest.strip_suffix("Plus"));
    match (union, first.and_then(|first| first.parse().ok())) {
        (_, Some(first)) => OtherValues::From(first),
        ("Tenor", _) => OtherValues::Tenor,
        ("Country", _) => OtherValues::Country,
        // Only the description of this field has the limit.
        ("Qty", _) if tag == tag::IOI_QTY => OtherValues::UpTo(1_000_000_000),
        ("Qty", _) => OtherValues::Quantity,
        _ => OtherValues::Any,
    }
}

/// All definitions to which references refer.
struct Book<'a> {
    types: Types<'a>,
    /// The fields by tag. Of several scenarios, `base` is used, or else the first one.
    fields: BTreeMap<Tag, Node<'a, 'a>>,
    /// The components, by id and scenario.
    components: BTreeMap<(&'a str, &'a str), Node<'a, 'a>>,
    groups: BTreeMap<(&'a str, &'a str), Node<'a, 'a>>,
    component_names: BTreeSet<&'a str>,
}

impl<'a> Book<'a> {
    fn new(
        types: Types<'a>,
        fields: &[Node<'a, 'a>],
        components: &[Node<'a, 'a>],
        groups: &[Node<'a, 'a>],
    ) -> Result<Self, Misfit> {
        let mut by_tag: BTreeMap<Tag, Node<'a, 'a>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for &node in fields.iter().filter(|node| is(**node, "field")) {
            let tag = number(node, "id", attribute(node, "id")?)?;
            let scenario = scenario(node)?;
            if !seen.insert((tag, scenario)) {
                return Err(misfit(node, DefinitionProblem::DuplicateTag(tag)));
            }
            if scenario == BASE || !by_tag.contains_key(&tag) {
                by_tag.insert(tag, node);
            }
        }
        // Some repositories have their groups among the components.
        let all = || components.iter().chain(groups);
        let components = by_id(all(), "component")?;
        let names = components
            .values()
            .filter_map(|node| node.attribute("name"));
        Ok(Self {
            types,
            fields: by_tag,
            component_names: names.collect(),
            components,
            groups: by_id(all(), "group")?,
        })
    }

    fn fields(&self) -> Result<Vec<FieldSource<'a>>, Misfit> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for (&tag, &node) in &self.fields {
            let ty = attribute(node, "type")?;
            let (kind, values, others) = match self.types.code_set(ty, scenario(node)?) {
                Some(set) => {
                    let union = match optional(node, "unionDataType")? {
                        Some(union) => Some(union),
                        None => optional(set, "unionDataType")?,
                    };
                    let others = union.map_or(OtherValues::None, |union| others(tag, union));
                    let kind = match self.types.kind(set, attribute(set, "type")?)? {
                        // Some of the other values have more than one character.
                        DataType::Char if union.is_some_and(|union| union != CHAR) => {
                            DataType::String
                        }
                        kind => kind,
                    };
                    (kind, codes(set)?, others)
                }
                None => (self.types.kind(node, ty)?, Vec::new(), OtherValues::None),
            };
            let length = match optional(node, "lengthId")? {
                Some(text) => Some(number(node, "lengthId", text)?),
                None => None,
            };
            fields.push(FieldSource {
                at: node.range().start,
                tag,
                name: attribute(node, "name")?,
                kind,
                values,
                others,
                length,
            });
        }
        Ok(fields)
    }

    /// The members that an element lists.
    fn items(&self, parent: Node<'a, 'a>) -> Result<Vec<LayoutItem<'a>>, Misfit> {
        let mut items = Vec::new();
        for node in elements(parent) {
            let at = node.range().start;
            let Some(required) = presence(node)? else {
                continue;
            };
            let (name, what) = match node.tag_name().name() {
                "fieldRef" => (self.field_name(node)?.into(), ItemKind::Field),
                "componentRef" => {
                    let (found, scenario) = self.find(&self.components, node, "component")?;
                    match found.attribute("name") {
                        Some(HEADER | TRAILER) if scenario == BASE => continue,
                        _ => (self.component_name(found, scenario)?, ItemKind::Component),
                    }
                }
                "groupRef" => {
                    let (found, scenario) = self.find(&self.groups, node, "group")?;
                    (self.group_name(found, scenario)?, ItemKind::Component)
                }
                "numInGroup" | "annotation" => continue,
                _ => {
                    let expected = "<fieldRef>, <groupRef> or <componentRef>";
                    return Err(unexpected(node, expected));
                }
            };
            items.push(LayoutItem {
                at,
                name,
                required,
                what,
            });
        }
        Ok(items)
    }

    /// A group as a layout item, which has the name of its count field.
    fn group(&self, node: Node<'a, 'a>) -> Result<LayoutItem<'a>, Misfit> {
        let count = elements(node).find(|node| is(*node, "numInGroup"));
        let count = count.ok_or_else(|| {
            let name = node.attribute("name").unwrap_or_default();
            misfit(node, DictionaryProblem::GroupWithoutCount(name.into()))
        })?;
        Ok(LayoutItem {
            at: node.range().start,
            name: self.field_name(count)?.into(),
            required: true,
            what: ItemKind::Group(self.items(node)?),
        })
    }

    fn field_name(&self, node: Node<'a, 'a>) -> Result<&'a str, Misfit> {
        let id = attribute(node, "id")?;
        let found = self.fields.get(&number(node, "id", id)?);
        match found {
            Some(&field) => attribute(field, "name"),
            None => Err(unknown(node, "field", id)),
        }
    }

    /// Finds the definition of a reference: the one with this id in the scenario of the reference, or else in `base`.
    fn find(
        &self,
        among: &BTreeMap<(&'a str, &'a str), Node<'a, 'a>>,
        node: Node<'a, 'a>,
        what: &'static str,
    ) -> Result<(Node<'a, 'a>, &'a str), Misfit> {
        let (id, scenario) = (attribute(node, "id")?, scenario(node)?);
        let found = [scenario, BASE]
            .into_iter()
            .find_map(|scenario| Some((*among.get(&(id, scenario))?, scenario)));
        found.ok_or_else(|| unknown(node, what, id))
    }

    fn component_name(&self, node: Node<'a, 'a>, scenario: &str) -> Result<Cow<'a, str>, Misfit> {
        let name = attribute(node, "name")?;
        Ok(match scenario {
            BASE => name.into(),
            _ => format!("{name}/{scenario}").into(),
        })
    }

    /// The name of the component that stands for a group. If there is a component with the name of the group, this
    /// component keeps the name, and the one for the group gets `/group` at its end.
    fn group_name(&self, node: Node<'a, 'a>, scenario: &str) -> Result<Cow<'a, str>, Misfit> {
        let name = self.component_name(node, scenario)?;
        match self.component_names.contains(attribute(node, "name")?) {
            true => Ok(format!("{name}/group").into()),
            false => Ok(name),
        }
    }
}

fn by_id<'a, 'n>(
    nodes: impl Iterator<Item = &'n Node<'a, 'a>>,
    element: &str,
) -> Result<BTreeMap<(&'a str, &'a str), Node<'a, 'a>>, Misfit>
where
    'a: 'n,
{
    let mut found = BTreeMap::new();
    for &node in nodes.filter(|node| is(**node, element)) {
        let key = (attribute(node, "id")?, scenario(node)?);
        if found.insert(key, node).is_some() {
            let problem = DictionaryProblem::DuplicateId(format!("{element} {} {}", key.0, key.1));
            return Err(misfit(node, problem));
        }
    }
    Ok(found)
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
}

fn scenario<'a>(node: Node<'a, 'a>) -> Result<&'a str, Misfit> {
    Ok(optional(node, "scenario")?.unwrap_or(BASE))
}

/// Whether a member is required. `None` for a member that the message must not have.
fn presence(node: Node<'_, '_>) -> Result<Option<bool>, Misfit> {
    match node.attribute("presence").unwrap_or("optional") {
        "required" => Ok(Some(true)),
        // A constant field need not be sent.
        "optional" | "ignored" | "constant" => Ok(Some(false)),
        "forbidden" => Ok(None),
        other => {
            let expected = "required, optional, forbidden, ignored or constant";
            Err(bad(node, "presence", other, expected))
        }
    }
}

fn unknown(node: Node<'_, '_>, what: &'static str, id: &str) -> Misfit {
    let id = id.into();
    misfit(node, DictionaryProblem::UnknownId { what, id })
}
