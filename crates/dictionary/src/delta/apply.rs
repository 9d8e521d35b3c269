//! Applies statements one by one, and checks each statement for conflicts with other files.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::condition::{ConditionalRequirement, Term, Test};
use fixwire_protocol::dictionary::{DataType, Dictionary, FieldDef, OtherValues, ValueDef};

use super::draft::{Branch, Draft, DraftMessage, Inside, branches, unknown};
use super::show::word;
use super::{
    Change, Delta, DeltaError, DeltaProblem, How, Other, Place, Root, SourcePosition, Spot, Stated,
    Thing, Touched,
};

/// See [`super::apply`].
pub(super) fn apply(base: &Dictionary, deltas: &[Delta]) -> Result<Dictionary, DeltaError> {
    let mut desk = Desk {
        draft: Draft::new(base),
        deltas,
        touched: Touched::new(),
        current: 0,
        at: SourcePosition { line: 1, column: 1 },
        lengths: Vec::new(),
        gone: BTreeMap::new(),
    };
    for (current, delta) in deltas.iter().enumerate() {
        desk.current = current;
        for stated in &delta.changes {
            desk.at = stated.at;
            desk.statement(stated)
                .map_err(|refused| desk.error(refused))?;
        }
    }
    if let Some((name, tag)) = desk.draft.twice() {
        let refused = Refused {
            problem: DeltaProblem::Conflict(format!("two fields are called {}", word(name))),
            thing: Some(Thing::Field(tag)),
        };
        return Err(desk.error(refused));
    }
    let error = |problem| DeltaError {
        file: deltas.last().map_or("", |delta| &delta.name).into(),
        at: desk.at,
        problem,
        other: None,
    };
    for (data, length) in core::mem::take(&mut desk.lengths) {
        if let Some(field) = desk.draft.fields.get_mut(&data) {
            field.partner = Some(length);
        }
    }
    desk.draft.finish().map_err(error)
}

/// Why a statement is not valid. `thing` has the definition that the statement contradicts.
struct Refused {
    problem: DeltaProblem,
    thing: Option<Thing>,
}

impl From<DeltaProblem> for Refused {
    fn from(problem: DeltaProblem) -> Self {
        Self {
            problem,
            thing: None,
        }
    }
}

type Outcome = Result<(), Refused>;

struct Desk<'a> {
    draft: Draft,
    deltas: &'a [Delta],
    touched: Touched,
    /// The current delta.
    current: usize,
    at: SourcePosition,
    /// Data fields, each with the length field that statements give it.
    lengths: Vec<(Tag, Tag)>,
    /// Names of the fields and messages that were removed, each with the delta that has removed it.
    gone: BTreeMap<String, usize>,
}

impl Desk<'_> {
    fn error(&self, refused: Refused) -> DeltaError {
        let name = |delta: usize| self.deltas.get(delta).map_or("", |delta| &delta.name);
        let other = refused.thing.map(|thing| match self.touched.get(&thing) {
            Some(&(delta, at)) => Other::Delta {
                file: name(delta).into(),
                at,
            },
            None => Other::Base(thing),
        });
        DeltaError {
            file: name(self.current).into(),
            at: self.at,
            problem: refused.problem,
            other: other.map(Box::new),
        }
    }

    /// Records that this statement has changed a thing. Two files must not change the same thing.
    fn touch(&mut self, thing: Thing, what: impl FnOnce() -> String) -> Outcome {
        match self.touched.get(&thing) {
            Some((delta, _)) if *delta != self.current => {
                let problem = DeltaProblem::Conflict(format!("{} is changed already", what()));
                let thing = Some(thing);
                Err(Refused { problem, thing })
            }
            _ => {
                self.touched.insert(thing, (self.current, self.at));
                Ok(())
            }
        }
    }

    /// Whether another file has changed the thing.
    fn is_others(&self, thing: &Thing) -> bool {
        let touched = self.touched.get(thing);
        touched.is_some_and(|(delta, _)| *delta != self.current)
    }

    /// Whether another delta has removed the thing with this name.
    fn is_gone(&self, name: &str) -> bool {
        self.gone
            .get(name)
            .is_some_and(|delta| *delta != self.current)
    }

    fn statement(&mut self, stated: &Stated) -> Outcome {
        match &stated.change {
            Change::Base(version) => match *version == self.draft.version {
                true => Ok(()),
                false => Err(Refused::from(DeltaProblem::WrongBase {
                    wanted: version.clone(),
                    found: self.draft.version.clone(),
                })),
            },
            Change::Version(version) if *version == self.draft.version => Ok(()),
            Change::Version(version) => {
                self.touch(Thing::Version, || "the version".into())?;
                self.draft.version = version.clone();
                Ok(())
            }
            Change::Field {
                how,
                tag,
                name,
                kind,
                length,
                others,
            } => {
                let field = FieldDef {
                    tag: *tag,
                    name: name.clone(),
                    kind: *kind,
                    values: Vec::new(),
                    others: OtherValues::None,
                    partner: None,
                };
                self.field(*how, field, *others, length.as_deref())
            }
            Change::RemoveField(name) => self.remove_field(name),
            Change::Value {
                how,
                value,
                name,
                field,
            } => self.value(*how, value, name, field),
            Change::RemoveValue { value, field } => self.remove_value(value, field),
            Change::Message {
                how,
                msg_type,
                name,
            } => self.message(*how, msg_type, name),
            Change::RemoveMessage(name) => {
                if self.is_gone(name) {
                    return Ok(());
                }
                let msg_type = self.draft.msg_type(name)?;
                self.gone.insert(name.clone(), self.current);
                let what = || format!("the message {}", word(name));
                self.touch(Thing::Message(msg_type.clone()), what)?;
                self.draft.messages.remove(&msg_type);
                Ok(())
            }
            Change::Member {
                member,
                place,
                required,
                spot,
                begin,
            } => {
                let tag = self.draft.tag(member)?;
                let begin = match begin {
                    Some((first, required)) => Some((self.draft.tag(first)?, *required)),
                    None => None,
                };
                self.member(tag, member, place, *required, spot, begin)
            }
            Change::Component {
                name,
                place,
                required,
                spot,
            } => self.component(name, place, *required, spot),
            Change::Requirement {
                member,
                place,
                required,
            } => self.change_member(member, place, *required),
            Change::RemoveMember { member, place } => self.remove_member(member, place),
            Change::Condition {
                how,
                places,
                required,
                terms,
            } => self.condition(*how, places, required, terms),
        }
    }

    fn field(
        &mut self,
        how: How,
        mut field: FieldDef,
        others: Option<OtherValues>,
        length: Option<&str>,
    ) -> Outcome {
        let (tag, kind, name) = (field.tag, field.kind, field.name.clone());
        let name = name.as_str();
        let thing = Thing::Field(tag);
        let known = self.draft.fields.get(&tag);
        let is_it = known.is_some_and(|known| known.name == name && known.kind == kind);
        let kept = known.map_or(OtherValues::None, |known| known.others);
        field.others = others.unwrap_or(kept);
        let same = is_it && kept == field.others;
        // The field exists already, but the addition may allow further values.
        let is_more = is_it && kept == OtherValues::None;
        field.values = match (known, how) {
            (Some(known), How::Add) if !same && !is_more => {
                let kind = known.kind.quickfix_name();
                let what = format!("the field {tag} is {} {kind} already", word(&known.name));
                return Err(Refused {
                    problem: DeltaProblem::Conflict(what),
                    thing: Some(thing),
                });
            }
            (None, How::Change) => return Err(unknown("field", &format!("{tag}")).into()),
            (Some(known), _) => known.values.clone(),
            (None, _) => Vec::new(),
        };
        if how == How::Add
            && let Ok(other) = self.draft.tag(name)
            && other != tag
        {
            let what = format!("the field {other} is called {} already", word(name));
            return Err(Refused {
                problem: DeltaProblem::Conflict(what),
                thing: Some(Thing::Field(other)),
            });
        }
        if !same {
            self.touch(thing, || format!("the field {tag}"))?;
        }
        if !same || how == How::Change {
            // This finds the length field of the field again, or gives the field the length field that is named.
            self.draft.put_field(field);
        }
        if let Some(length) = length {
            // A later statement may add or rename the length field.
            let length = match length.parse() {
                Ok(tag) => tag,
                Err(_) => self.draft.tag(length)?,
            };
            self.lengths.push((tag, length));
        }
        Ok(())
    }

    fn remove_field(&mut self, name: &str) -> Outcome {
        if self.is_gone(name) {
            return Ok(());
        }
        let tag = self.draft.tag(name)?;
        self.gone.insert(name.into(), self.current);
        self.touch(Thing::Field(tag), || format!("the field {}", word(name)))?;
        self.draft
            .remove_field(tag)
            .map_err(|group| self.empty(group))
    }

    fn empty(&self, group: Tag) -> Refused {
        let field = self.draft.fields.get(&group);
        let name = field.map_or_else(|| format!("{group}"), |field| field.name.clone());
        DeltaProblem::EmptyGroup(name).into()
    }

    fn values(&mut self, tag: Tag) -> &mut Vec<ValueDef> {
        let field = self.draft.fields.entry(tag);
        let empty = || FieldDef {
            tag,
            name: String::new(),
            kind: DataType::String,
            values: Vec::new(),
            others: OtherValues::None,
            partner: None,
        };
        &mut field.or_insert_with(empty).values
    }

    fn value(&mut self, how: How, value: &str, name: &str, field: &str) -> Outcome {
        let tag = self.draft.tag(field)?;
        let thing = Thing::Value(tag, value.into());
        let what = || format!("the value {} of {}", word(value), word(field));
        let known = self
            .values(tag)
            .iter()
            .position(|known| known.value == value);
        let Some(at) = known else {
            if how == How::Change {
                return Err(unknown("value", value).into());
            }
            self.touch(thing, what)?;
            self.values(tag).push(ValueDef {
                value: value.into(),
                name: name.into(),
            });
            return Ok(());
        };
        let known = self.values(tag)[at].name.clone();
        if known == name {
            return Ok(());
        }
        if how == How::Add {
            let problem = DeltaProblem::Conflict(format!("{} is {} already", what(), word(&known)));
            let thing = Some(thing);
            return Err(Refused { problem, thing });
        }
        self.touch(thing, what)?;
        self.values(tag)[at].name = name.into();
        Ok(())
    }

    fn remove_value(&mut self, value: &str, field: &str) -> Outcome {
        let tag = self.draft.tag(field)?;
        let thing = Thing::Value(tag, value.into());
        let known = self
            .values(tag)
            .iter()
            .position(|known| known.value == value);
        let Some(at) = known else {
            return match self.is_others(&thing) {
                true => Ok(()),
                false => Err(unknown("value", value).into()),
            };
        };
        self.touch(thing, || {
            format!("the value {} of {}", word(value), word(field))
        })?;
        self.values(tag).remove(at);
        Ok(())
    }

    fn message(&mut self, how: How, msg_type: &str, name: &str) -> Outcome {
        let thing = Thing::Message(msg_type.into());
        let what = || format!("the message {}", word(msg_type));
        let known = self
            .draft
            .messages
            .get(msg_type)
            .map(|message| &message.name);
        match (known, how) {
            (Some(known), _) if known == name => return Ok(()),
            (Some(known), How::Add) => {
                let problem =
                    DeltaProblem::Conflict(format!("{} is {} already", what(), word(known)));
                let thing = Some(thing);
                return Err(Refused { problem, thing });
            }
            (None, How::Change) => return Err(unknown("message", msg_type).into()),
            _ => {}
        }
        self.touch(thing, what)?;
        match self.draft.messages.get_mut(msg_type) {
            Some(message) => message.name = name.into(),
            None => {
                let message = DraftMessage::named(name);
                self.draft.messages.insert(msg_type.into(), message);
            }
        }
        Ok(())
    }

    fn member(
        &mut self,
        tag: Tag,
        name: &str,
        place: &Place,
        required: bool,
        spot: &Spot,
        begin: Option<(Tag, bool)>,
    ) -> Outcome {
        let (msg_type, path) = self.draft.path(place)?;
        let after = match spot {
            Spot::After(name) => Some((self.draft.tag(name)?, name)),
            _ => None,
        };
        let thing = Thing::Member(msg_type.clone(), path.clone(), tag);
        let what = || format!("the member {} of {place}", word(name));
        let members = self.draft.members(place, &msg_type, &path)?;
        if let Some(known) = members.iter().find(|branch| branch.tag == tag) {
            let same_group = known.group.is_some() == begin.is_some();
            if known.required == required && same_group {
                return Ok(());
            }
            let as_what = match (&known.group, known.required) {
                _ if same_group && known.required => "required",
                _ if same_group => "optional",
                (Some(_), _) => "a group",
                (None, _) => "a field",
            };
            let problem = DeltaProblem::Conflict(format!("{} is {as_what} already", what()));
            let thing = Some(thing);
            return Err(Refused { problem, thing });
        }
        let at = match (spot, after) {
            (Spot::First, _) => 0,
            (_, Some((after, name))) => {
                let found = members.iter().position(|branch| branch.tag == after);
                1 + found.ok_or_else(|| unknown("member", name))?
            }
            _ => members.len(),
        };
        let first = |(tag, required)| {
            Inside::new(vec![Branch {
                tag,
                required,
                group: None,
            }])
        };
        members.insert(
            at,
            Branch {
                tag,
                required,
                group: begin.map(first),
            },
        );
        self.touch(thing, what)
    }

    /// The members of a component, in order.
    fn component(&mut self, name: &str, place: &Place, required: bool, spot: &Spot) -> Outcome {
        let found = self
            .draft
            .components
            .iter()
            .find(|component| component.name == name);
        let Some(component) = found else {
            return Err(unknown("component", name).into());
        };
        let new = branches(&component.members);
        let (msg_type, path) = self.draft.path(place)?;
        let after = match spot {
            Spot::After(name) => Some((self.draft.tag(name)?, name)),
            _ => None,
        };
        let members = self.draft.members(place, &msg_type, &path)?;
        let mut at = match (spot, after) {
            (Spot::First, _) => 0,
            (_, Some((after, name))) => {
                let found = members.iter().position(|branch| branch.tag == after);
                1 + found.ok_or_else(|| unknown("member", name))?
            }
            _ => members.len(),
        };
        let mut added = Vec::new();
        for mut branch in new {
            if members.iter().any(|known| known.tag == branch.tag) {
                continue;
            }
            branch.required &= required;
            added.push(branch.tag);
            members.insert(at, branch);
            at += 1;
        }
        for tag in added {
            let thing = Thing::Member(msg_type.clone(), path.clone(), tag);
            self.touch(thing, || format!("the member {tag} of {place}"))?;
        }
        Ok(())
    }

    fn change_member(&mut self, name: &str, place: &Place, required: bool) -> Outcome {
        let tag = self.draft.tag(name)?;
        let (msg_type, path) = self.draft.path(place)?;
        let members = self.draft.members(place, &msg_type, &path)?;
        let found = members.iter_mut().find(|branch| branch.tag == tag);
        let branch = found.ok_or_else(|| unknown("member", name))?;
        if branch.required == required {
            return Ok(());
        }
        branch.required = required;
        self.touch(Thing::Member(msg_type, path, tag), || {
            format!("the member {} of {place}", word(name))
        })
    }

    fn remove_member(&mut self, name: &str, place: &Place) -> Outcome {
        let tag = self.draft.tag(name)?;
        let (msg_type, path) = self.draft.path(place)?;
        let thing = Thing::Member(msg_type.clone(), path.clone(), tag);
        let is_others = self.is_others(&thing);
        let members = self.draft.members(place, &msg_type, &path)?;
        let Some(at) = members.iter().position(|branch| branch.tag == tag) else {
            return match is_others {
                true => Ok(()),
                false => Err(unknown("member", name).into()),
            };
        };
        if members.len() == 1
            && let Some(&group) = path.last()
        {
            return Err(self.empty(group));
        }
        members.remove(at);
        if let Some(message) = self.draft.messages.get_mut(&msg_type) {
            let mut inside = path.clone();
            inside.push(tag);
            message.conditions.retain(|condition| {
                !condition.path.starts_with(&inside)
                    && (condition.path != path || !speaks_of(condition, tag))
            });
        }
        self.touch(thing, || format!("the member {} of {place}", word(name)))
    }

    fn condition(
        &mut self,
        how: How,
        places: &[Place],
        required: &str,
        terms: &[(String, Test)],
    ) -> Outcome {
        let required = self.draft.tag(required)?;
        let mut read = Vec::with_capacity(terms.len());
        for (field, test) in terms {
            let tag = self.draft.tag(field)?;
            let test = test.clone();
            read.push(Term { tag, test });
        }
        let condition = |path: Vec<Tag>| ConditionalRequirement {
            path,
            required,
            terms: read.clone(),
        };
        let header: Vec<Tag> = self.draft.header.iter().map(|branch| branch.tag).collect();
        let fits = |members: &[Branch]| {
            let has = |tag| members.iter().any(|branch| branch.tag == tag);
            let near = |tag: Tag| has(tag) || header.contains(&tag);
            has(required) && read.iter().all(|term| near(term.tag))
        };
        if places.is_empty() {
            let mut found = false;
            for message in self.draft.messages.values_mut() {
                if fits(&message.members) {
                    found = true;
                    message.put_condition(how, condition(Vec::new()));
                }
            }
            return match found {
                true => Ok(()),
                false => Err(DeltaProblem::NoSuchMessage.into()),
            };
        }
        for place in places {
            let (msg_type, path) = self.draft.path(place)?;
            let fit = fits(self.draft.members(place, &msg_type, &path)?);
            let message = self.draft.messages.get_mut(&msg_type);
            match message.filter(|_| fit && matches!(place.root, Root::Message(_))) {
                Some(message) => message.put_condition(how, condition(path)),
                None => return Err(DeltaProblem::NoSuchMessage.into()),
            }
        }
        Ok(())
    }
}

/// Whether a condition requires this field or tests it.
fn speaks_of(condition: &ConditionalRequirement, tag: Tag) -> bool {
    condition.required == tag || condition.terms.iter().any(|term| term.tag == tag)
}
