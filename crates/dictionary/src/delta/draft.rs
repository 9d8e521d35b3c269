//! A dictionary that is being changed. Members are trees that can grow, and fields are found by tag.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::assemble::{
    Definitions, MAX_DEPTH, MAX_FIELDS, MAX_GROUP_DEPTH, MAX_MEMBERS, MAX_MESSAGES, assemble,
};
use fixwire_protocol::dictionary::{
    ComponentDef, ConditionalRequirement, Dictionary, FieldDef, GroupDef, Member, MessageDef,
};

use super::{DeltaProblem, How, Place, Root};

pub(super) struct Draft {
    pub version: String,
    pub fields: BTreeMap<Tag, FieldDef>,
    /// The tags of each field name. A name has two tags only until a later statement renames one of the fields.
    names: BTreeMap<String, BTreeSet<Tag>>,
    pub header: Vec<Branch>,
    pub trailer: Vec<Branch>,
    /// By MsgType.
    pub messages: BTreeMap<String, DraftMessage>,
    pub components: Vec<ComponentDef>,
}

pub(super) struct DraftMessage {
    pub name: String,
    pub members: Vec<Branch>,
    pub conditions: Vec<ConditionalRequirement>,
    components: Vec<String>,
}

/// A member. Groups that are not changed stay shared.
#[derive(Clone)]
pub(super) struct Branch {
    pub tag: Tag,
    pub required: bool,
    pub group: Option<Inside>,
}

/// The members of a group.
#[derive(Clone)]
pub(super) struct Inside {
    /// The group if it is unchanged. A request to change the group replaces this value.
    kept: Option<Arc<GroupDef>>,
    changed: Vec<Branch>,
}

impl Inside {
    /// The members of a new group.
    pub fn new(members: Vec<Branch>) -> Self {
        Self {
            kept: None,
            changed: members,
        }
    }

    pub fn members(&mut self) -> &mut Vec<Branch> {
        if let Some(group) = self.kept.take() {
            self.changed = branches(group.members());
        }
        &mut self.changed
    }
}

pub(super) fn branches(members: &[Member]) -> Vec<Branch> {
    let branch = |member: &Member| Branch {
        tag: member.tag,
        required: member.required,
        group: member.group.clone().map(|group| Inside {
            kept: Some(group),
            changed: Vec::new(),
        }),
    };
    members.iter().map(branch).collect()
}

impl Draft {
    pub fn new(base: &Dictionary) -> Self {
        let mut draft = Self {
            version: base.version().into(),
            fields: BTreeMap::new(),
            names: BTreeMap::new(),
            header: branches(base.header().members()),
            trailer: branches(base.trailer().members()),
            messages: BTreeMap::new(),
            components: base.components().to_vec(),
        };
        for field in base.fields() {
            draft.put_field(field.clone());
        }
        for message in base.messages() {
            let own = DraftMessage {
                name: message.name().into(),
                members: branches(message.members()),
                conditions: message.conditions().to_vec(),
                components: message.components().to_vec(),
            };
            draft.messages.insert(message.msg_type().into(), own);
        }
        draft
    }

    /// Defines a field. A field with the same tag is replaced.
    pub fn put_field(&mut self, field: FieldDef) {
        self.forget_name(field.tag);
        let tags = self.names.entry(field.name.clone()).or_default();
        tags.insert(field.tag);
        self.fields.insert(field.tag, field);
    }

    fn forget_name(&mut self, tag: Tag) {
        if let Some(old) = self.fields.get(&tag)
            && let Some(tags) = self.names.get_mut(&old.name)
        {
            tags.remove(&tag);
        }
    }

    /// Removes a field, also from all messages. The error is the tag of a group that would be left empty.
    pub fn remove_field(&mut self, tag: Tag) -> Result<(), Tag> {
        self.forget_name(tag);
        self.fields.remove(&tag);
        prune(&mut self.header, tag, true)?;
        prune(&mut self.trailer, tag, true)?;
        for message in self.messages.values_mut() {
            prune(&mut message.members, tag, true)?;
            message.conditions.retain(|condition| {
                condition.required != tag
                    && !condition.path.contains(&tag)
                    && condition.terms.iter().all(|term| term.tag != tag)
            });
        }
        for component in &mut self.components {
            if component.members.iter().any(|member| holds(member, tag)) {
                let mut members = branches(&component.members);
                prune(&mut members, tag, false)?;
                component.members = finish(members, 0, &mut 0).unwrap_or_default().into();
            }
        }
        Ok(())
    }

    /// The tag for which a word stands. The word is a number, or a name that only one field has.
    pub fn tag(&self, word: &str) -> Result<Tag, DeltaProblem> {
        let number = word
            .parse()
            .ok()
            .filter(|tag| self.fields.contains_key(tag));
        let named = self.names.get(word).filter(|tags| !tags.is_empty());
        match (number, named) {
            (Some(tag), _) => Ok(tag),
            (None, Some(tags)) if tags.len() > 1 => Err(DeltaProblem::Ambiguous {
                what: "field",
                name: word.into(),
            }),
            (None, Some(tags)) => Ok(tags.iter().next().copied().unwrap_or_default()),
            (None, None) => Err(unknown("field", word)),
        }
    }

    /// The first name that two fields have.
    pub fn twice(&self) -> Option<(&str, Tag)> {
        let mut all = self.names.iter();
        all.find_map(|(name, tags)| Some((name.as_str(), *tags.iter().nth(1)?)))
    }

    /// The MsgType for which a word stands. The word is the MsgType itself, or a name that only one message has.
    pub fn msg_type(&self, word: &str) -> Result<String, DeltaProblem> {
        if self.messages.contains_key(word) {
            return Ok(word.into());
        }
        let mut named = self
            .messages
            .iter()
            .filter(|(_, message)| message.name == word);
        match (named.next(), named.next()) {
            (Some((msg_type, _)), None) => Ok(msg_type.clone()),
            (Some(_), Some(_)) => Err(DeltaProblem::Ambiguous {
                what: "message",
                name: word.into(),
            }),
            (None, _) => Err(unknown("message", word)),
        }
    }

    /// The MsgType and the groups of a place. The MsgType is empty for header and trailer.
    pub fn path(&self, place: &Place) -> Result<(String, Vec<Tag>), DeltaProblem> {
        let msg_type = match &place.root {
            Root::Message(name) => self.msg_type(name)?,
            Root::Header | Root::Trailer => String::new(),
        };
        let tags = place.groups.iter().map(|group| self.tag(group));
        Ok((msg_type, tags.collect::<Result<_, _>>()?))
    }

    /// The members at a place.
    pub fn members(
        &mut self,
        place: &Place,
        msg_type: &str,
        path: &[Tag],
    ) -> Result<&mut Vec<Branch>, DeltaProblem> {
        let mut members = match &place.root {
            Root::Header => &mut self.header,
            Root::Trailer => &mut self.trailer,
            Root::Message(name) => match self.messages.get_mut(msg_type) {
                Some(message) => &mut message.members,
                None => return Err(unknown("message", name)),
            },
        };
        for (tag, name) in path.iter().zip(&place.groups) {
            let found = members.iter_mut().find(|branch| branch.tag == *tag);
            let inside = found.and_then(|branch| branch.group.as_mut());
            members = inside.ok_or_else(|| unknown("group", name))?.members();
        }
        Ok(members)
    }

    /// Builds the dictionary.
    pub fn finish(self) -> Result<Dictionary, DeltaProblem> {
        let too_many = |what, limit| Err(DeltaProblem::TooMany { what, limit });
        if self.fields.len() > MAX_FIELDS {
            return too_many("fields", MAX_FIELDS);
        }
        if self.messages.len() > MAX_MESSAGES {
            return too_many("messages", MAX_MESSAGES);
        }
        let mut size = 0;
        let header = finish(self.header, 0, &mut size)?;
        let trailer = finish(self.trailer, 0, &mut size)?;
        let mut messages = Vec::with_capacity(self.messages.len());
        for (msg_type, message) in self.messages {
            let members = finish(message.members, 0, &mut size)?;
            let definition = MessageDef::new(&msg_type, &message.name, members)
                .with_conditions(message.conditions)
                .with_components(message.components);
            messages.push(definition);
        }
        let definitions = Definitions {
            version: self.version,
            fields: self.fields.into_values().collect(),
            header,
            trailer,
            messages,
            components: self.components,
        };
        // The limits were checked above, and the maps have each tag and each type only once.
        assemble(definitions).map_err(|problem| DeltaProblem::Xml(problem.into()))
    }
}

fn finish(
    branches: Vec<Branch>,
    depth: usize,
    size: &mut usize,
) -> Result<Vec<Member>, DeltaProblem> {
    *size += branches.len();
    if *size > MAX_MEMBERS || depth > MAX_DEPTH {
        let what = "members of messages";
        let limit = MAX_MEMBERS;
        return Err(DeltaProblem::TooMany { what, limit });
    }
    let member = |branch: Branch| {
        let group = match branch.group {
            None => None,
            Some(Inside {
                kept: Some(group), ..
            }) => Some(group),
            Some(Inside { changed, .. }) => {
                let members = finish(changed, depth + 1, size)?;
                let group = GroupDef::new(branch.tag, members);
                let group = group
                    .ok_or_else(|| DeltaProblem::EmptyGroup(alloc::format!("{}", branch.tag)))?;
                if group.depth() > MAX_GROUP_DEPTH {
                    let (what, limit) = ("groups inside each other", MAX_GROUP_DEPTH);
                    return Err(DeltaProblem::TooMany { what, limit });
                }
                Some(Arc::new(group))
            }
        };
        Ok(Member {
            tag: branch.tag,
            required: branch.required,
            group,
        })
    };
    branches.into_iter().map(member).collect()
}

/// Whether the member is this field, or contains it.
fn holds(member: &Member, tag: Tag) -> bool {
    let inside = member.group.as_deref().map_or(&[][..], GroupDef::members);
    member.tag == tag || inside.iter().any(|member| holds(member, tag))
}

/// Removes a field at all levels. If a group is left empty, that is an error, or the group is removed too.
fn prune(members: &mut Vec<Branch>, tag: Tag, strict: bool) -> Result<(), Tag> {
    members.retain(|branch| branch.tag != tag);
    let mut empty = Vec::new();
    for branch in members.iter_mut() {
        let Some(inside) = &mut branch.group else {
            continue;
        };
        if let Some(group) = &inside.kept
            && !group.members().iter().any(|member| holds(member, tag))
        {
            continue;
        }
        let members = inside.members();
        prune(members, tag, strict)?;
        if members.is_empty() && strict {
            return Err(branch.tag);
        }
        if members.is_empty() {
            empty.push(branch.tag);
        }
    }
    members.retain(|branch| !empty.contains(&branch.tag));
    Ok(())
}

pub(super) fn unknown(what: &'static str, name: &str) -> DeltaProblem {
    DeltaProblem::Unknown {
        what,
        name: name.into(),
    }
}

impl DraftMessage {
    /// A message without members.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            members: Vec::new(),
            conditions: Vec::new(),
            components: Vec::new(),
        }
    }

    /// Adds or removes a condition.
    pub fn put_condition(&mut self, how: How, condition: ConditionalRequirement) {
        let known = self.conditions.iter().position(|known| *known == condition);
        match (known, how) {
            (Some(at), How::Remove) => {
                self.conditions.remove(at);
            }
            (None, How::Add | How::Change) => self.conditions.push(condition),
            _ => {}
        }
    }
}
