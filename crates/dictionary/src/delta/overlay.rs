//! Reads QuickFIX XML as a delta. Everything in the XML is added.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::assemble::MAX_DEPTH;
use fixwire_protocol::dictionary::compile::{ComponentSource, ItemKind, LayoutItem};
use fixwire_protocol::dictionary::{DefinitionProblem, OtherValues};
use roxmltree::Node;

use super::{Change, How, MAX_CHANGES, Place, Root, SourcePosition, Spot, Stated, Thing};
use crate::document::{DictionaryError, DocumentLimits, Misfit, parse};
use crate::lenient::Notes;
use crate::quickfix;

/// The changes in a file.
pub(super) fn read(text: &str, limits: DocumentLimits) -> Result<Vec<Stated>, DictionaryError> {
    let stated = parse(text, limits, |root| {
        let (source, _) = quickfix::source(root, limits.depth, &mut Notes::default())?;
        let mut found = Found {
            changes: Vec::new(),
            components: source
                .components
                .iter()
                .map(|component| (component.name.as_ref(), component))
                .collect(),
        };
        found.push(0, Change::Base(source.version.clone()))?;
        for field in &source.fields {
            found.push(
                field.at,
                Change::Field {
                    how: How::Add,
                    tag: field.tag,
                    name: field.name.into(),
                    kind: field.kind,
                    length: None,
                    others: Some(field.others).filter(|others| *others != OtherValues::None),
                },
            )?;
            for (value, name) in &field.values {
                found.push(
                    field.at,
                    Change::Value {
                        how: How::Add,
                        value: (*value).into(),
                        name: (*name).into(),
                        field: field.name.into(),
                    },
                )?;
            }
        }
        let place = |root| Place {
            root,
            groups: Vec::new(),
        };
        found.items(&source.header, &place(Root::Header), true, 0)?;
        found.items(&source.trailer, &place(Root::Trailer), true, 0)?;
        for message in &source.messages {
            let msg_type: String = message.msg_type.into();
            found.push(
                message.at,
                Change::Message {
                    how: How::Add,
                    msg_type: msg_type.clone(),
                    name: message.name.into(),
                },
            )?;
            found.items(&message.items, &place(Root::Message(msg_type)), true, 0)?;
        }
        Ok(found.changes)
    })?;
    let starts: Vec<usize> = core::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let position = |at: usize| {
        let line = starts.partition_point(|&start| start <= at);
        let start = starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = text.get(start..at).unwrap_or_default();
        SourcePosition {
            line: number(line),
            column: number(before.chars().take(1 << 16).count() + 1),
        }
    };
    let stated = stated.into_iter().map(|(at, change)| Stated {
        at: position(at),
        change,
    });
    Ok(stated.collect())
}

struct Found<'a> {
    changes: Vec<(usize, Change)>,
    /// The components that the file defines. Other components are those of the base dictionary.
    components: BTreeMap<&'a str, &'a ComponentSource<'a>>,
}

impl Found<'_> {
    fn push(&mut self, at: usize, change: Change) -> Result<(), Misfit> {
        if self.changes.len() == MAX_CHANGES {
            let (what, limit) = ("changes", MAX_CHANGES);
            return Err(Misfit::new(at, DefinitionProblem::TooMany { what, limit }));
        }
        self.changes.push((at, change));
        Ok(())
    }

    fn items(
        &mut self,
        items: &[LayoutItem<'_>],
        place: &Place,
        required: bool,
        depth: usize,
    ) -> Result<(), Misfit> {
        for item in items {
            if depth == MAX_DEPTH {
                return Err(Misfit::new(item.at, DefinitionProblem::TooDeep));
            }
            let required = required && item.required;
            let name: String = Cow::into_owned(item.name.clone());
            match &item.what {
                ItemKind::Field => self.member(item, place, required, None)?,
                ItemKind::Group(inside) => {
                    let Some(first) = first_field(inside, &self.components, depth) else {
                        return Err(Misfit::new(item.at, DefinitionProblem::EmptyGroup(name)));
                    };
                    self.member(item, place, required, Some(first))?;
                    let mut place = place.clone();
                    place.groups.push(name);
                    self.items(inside, &place, true, depth + 1)?;
                }
                ItemKind::Component => match self.components.get(name.as_str()) {
                    Some(component) => {
                        self.items(&component.items, place, required, depth + 1)?;
                    }
                    None => self.push(
                        item.at,
                        Change::Component {
                            name,
                            place: place.clone(),
                            required,
                            spot: Spot::Last,
                        },
                    )?,
                },
            }
        }
        Ok(())
    }

    fn member(
        &mut self,
        item: &LayoutItem<'_>,
        place: &Place,
        required: bool,
        begin: Option<(String, bool)>,
    ) -> Result<(), Misfit> {
        let member = Change::Member {
            member: Cow::into_owned(item.name.clone()),
            place: place.clone(),
            required,
            spot: Spot::Last,
            begin,
        };
        self.push(item.at, member)
    }
}

/// The first field of a group's entries, and whether it is required.
fn first_field(
    items: &[LayoutItem<'_>],
    components: &BTreeMap<&str, &ComponentSource<'_>>,
    depth: usize,
) -> Option<(String, bool)> {
    let first = items.first()?;
    match &first.what {
        ItemKind::Field => Some((Cow::into_owned(first.name.clone()), first.required)),
        ItemKind::Component if depth < MAX_DEPTH => {
            let component = components.get(first.name.as_ref())?;
            let (name, required) = first_field(&component.items, components, depth + 1)?;
            Some((name, required && first.required))
        }
        _ => None,
    }
}

/// The place where a dictionary of either form defines a thing.
pub(super) fn find<'a>(root: Node<'a, 'a>, thing: &Thing) -> Option<Node<'a, 'a>> {
    let named = |node: &Node<'_, '_>, element: &str, attributes: [&str; 2], value: &str| {
        node.tag_name().name() == element
            && attributes
                .into_iter()
                .any(|name| node.attribute(name) == Some(value))
    };
    let field = |tag: &u32| {
        let tag = alloc::format!("{tag}");
        root.descendants()
            .find(|node| named(node, "field", ["number", "id"], &tag))
    };
    let message = |msg_type: &str| {
        root.descendants()
            .find(|node| named(node, "message", ["msgtype", "msgType"], msg_type))
    };
    match thing {
        Thing::Version => Some(root),
        Thing::Field(tag) => field(tag),
        Thing::Value(tag, value) => {
            let field = field(tag)?;
            let listed = field
                .descendants()
                .find(|node| named(node, "value", ["enum", "value"], value));
            listed.or(Some(field))
        }
        Thing::Message(msg_type) => message(msg_type),
        Thing::Member(msg_type, _, tag) => {
            let name = field(tag).and_then(|field| field.attribute("name"));
            let message = match msg_type.as_str() {
                "" => root,
                msg_type => message(msg_type)?,
            };
            let member = message.descendants().find(|node| {
                let id = alloc::format!("{tag}");
                let by_id = named(node, "fieldRef", ["id", "id"], &id);
                let by_name = name.is_some_and(|name| {
                    named(node, "field", ["name", "name"], name)
                        && node.attribute("number").is_none()
                        || named(node, "group", ["name", "name"], name)
                });
                by_id || by_name
            });
            member.or(Some(message))
        }
    }
}
