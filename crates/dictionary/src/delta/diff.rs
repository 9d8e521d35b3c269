//! Finds the statements that turn one dictionary into another, in an order in which they can be applied.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{
    ConditionalRequirement, Dictionary, FieldDef, Member, MessageDef, OtherValues, ValueDef,
};

use super::{Change, How, Place, Root, SourcePosition, Spot, Stated};

/// The changes that turn `before` into `after`.
pub(super) fn changes(before: &Dictionary, after: &Dictionary) -> Vec<Stated> {
    let mut names: BTreeMap<&str, BTreeSet<Tag>> = BTreeMap::new();
    for field in before.fields().iter().chain(after.fields()) {
        names.entry(&field.name).or_default().insert(field.tag);
    }
    let mut diff = Diff {
        before,
        after,
        names,
        changes: Vec::new(),
    };
    diff.push(Change::Base(before.version().into()));
    if before.version() != after.version() {
        diff.push(Change::Version(after.version().into()));
    }
    diff.old_conditions();
    diff.fields();
    diff.messages();
    let frame = [
        (Root::Header, before.header(), after.header()),
        (Root::Trailer, before.trailer(), after.trailer()),
    ];
    for (root, before, after) in frame {
        diff.members(&root, &mut Vec::new(), before.members(), after.members());
    }
    for message in after.messages() {
        let old = before.message(message.msg_type().as_bytes());
        let old = old.map_or(&[][..], |old| old.members());
        let root = Root::Message(diff.message_name(message.msg_type()));
        diff.members(&root, &mut Vec::new(), old, message.members());
    }
    for field in before.fields() {
        if after.field(field.tag).is_none() {
            let name = diff.field_name(field.tag);
            diff.push(Change::RemoveField(name));
        }
    }
    diff.new_conditions();
    if diff.changes.len() == 1 {
        // Only the name of the base has changed.
        diff.changes.clear();
    }
    diff.changes
}

struct Diff<'a> {
    before: &'a Dictionary,
    after: &'a Dictionary,
    /// For each name, the tags that it has in either dictionary.
    names: BTreeMap<&'a str, BTreeSet<Tag>>,
    changes: Vec<Stated>,
}

impl Diff<'_> {
    fn push(&mut self, change: Change) {
        let line = u32::try_from(self.changes.len() + 1).unwrap_or(u32::MAX);
        let at = SourcePosition { line, column: 1 };
        self.changes.push(Stated { at, change });
    }

    /// The name of a field if it has the same meaning before, after and in between, otherwise the field's number.
    fn field_name(&self, tag: Tag) -> String {
        let name = |dictionary: &Dictionary| dictionary.field(tag).map(|field| field.name.clone());
        let names = (name(self.before), name(self.after));
        let means_it = |name: &str| {
            let number = name.bytes().all(|byte| byte.is_ascii_digit());
            !number && self.names.get(name).is_some_and(|tags| tags.len() == 1)
        };
        match names {
            (Some(a), Some(b)) if a == b && means_it(&a) => a,
            (Some(one), None) | (None, Some(one)) if means_it(&one) => one,
            _ => format!("{tag}"),
        }
    }

    /// The name of a message if it has the same meaning before, after and in between, otherwise its MsgType.
    fn message_name(&self, msg_type: &str) -> String {
        let name = |dictionary: &Dictionary| {
            let message = dictionary.message(msg_type.as_bytes());
            message.map(|message| String::from(message.name()))
        };
        let means_it = |name: &str| {
            let elsewhere = |dictionary: &Dictionary| {
                let mut all = dictionary.messages().iter();
                all.any(|message| {
                    message.msg_type() == name
                        || message.name() == name && message.msg_type() != msg_type
                })
            };
            !elsewhere(self.before) && !elsewhere(self.after)
        };
        match (name(self.before), name(self.after)) {
            (Some(a), Some(b)) if a == b && means_it(&a) => a,
            (None, Some(one)) if means_it(&one) => one,
            _ => msg_type.into(),
        }
    }

    fn fields(&mut self) {
        let after = self.after;
        for field in after.fields() {
            let old = self.before.field(field.tag);
            let length = field.partner.filter(|_| field.kind.is_data());
            let same = |old: &FieldDef| {
                (&old.name, old.kind, old.others) == (&field.name, field.kind, field.others)
                    && (old.partner == field.partner || !field.kind.is_data())
            };
            if !old.is_some_and(same) {
                self.push(Change::Field {
                    how: if old.is_some() { How::Change } else { How::Add },
                    tag: field.tag,
                    name: field.name.clone(),
                    kind: field.kind,
                    length: length.map(|tag| format!("{tag}")),
                    others: (old.map_or(OtherValues::None, |old| old.others) != field.others)
                        .then_some(field.others),
                });
            }
        }
        for field in after.fields() {
            let old = self.before.field(field.tag);
            let old = old.map_or(&[][..], |field| &field.values);
            self.values(field.tag, old, &field.values);
        }
    }

    fn values(&mut self, tag: Tag, before: &[ValueDef], after: &[ValueDef]) {
        if before == after {
            return;
        }
        let field = self.field_name(tag);
        let of = |values: &[ValueDef], value: &str| values.iter().any(|one| one.value == value);
        let remove = |value: &ValueDef| Change::RemoveValue {
            value: value.value.clone(),
            field: field.clone(),
        };
        let (kept, gone): (Vec<_>, Vec<_>) = before.iter().partition(|old| of(after, &old.value));
        gone.into_iter().for_each(|old| self.push(remove(old)));
        // Values that are in the same order are changed. The values after them are added again.
        let pairs = kept.iter().zip(after);
        let same = pairs
            .take_while(|(old, new)| old.value == new.value)
            .count();
        kept[same..].iter().for_each(|old| self.push(remove(old)));
        for (at, new) in after.iter().enumerate() {
            let how = match kept.get(at).filter(|_| at < same) {
                Some(old) if old.name == new.name => continue,
                Some(_) => How::Change,
                None => How::Add,
            };
            self.push(Change::Value {
                how,
                value: new.value.clone(),
                name: new.name.clone(),
                field: field.clone(),
            });
        }
    }

    fn messages(&mut self) {
        let (before, after) = (self.before, self.after);
        for old in before.messages() {
            if after.message(old.msg_type().as_bytes()).is_none() {
                self.push(Change::RemoveMessage(old.msg_type().into()));
            }
        }
        for message in after.messages() {
            let old = before.message(message.msg_type().as_bytes());
            if old.is_some_and(|old| old.name() == message.name()) {
                continue;
            }
            self.push(Change::Message {
                how: if old.is_some() { How::Change } else { How::Add },
                msg_type: message.msg_type().into(),
                name: message.name().into(),
            });
        }
    }

    /// Turns one list of members into the other. The members of the new list come first, in order, and then the
    /// removals.
    fn members(&mut self, root: &Root, path: &mut Vec<Tag>, before: &[Member], after: &[Member]) {
        if before == after {
            return;
        }
        let place = Place {
            root: root.clone(),
            groups: path.iter().map(|&tag| self.field_name(tag)).collect(),
        };
        let old: BTreeMap<Tag, &Member> =
            before.iter().map(|member| (member.tag, member)).collect();
        let mut list: Vec<Tag> = before.iter().map(|member| member.tag).collect();
        for (at, member) in after.iter().enumerate() {
            let known = old.get(&member.tag).copied();
            let same_kind = known.filter(|known| known.group.is_some() == member.group.is_some());
            let in_place = list.get(at) == Some(&member.tag);
            if let (Some(known), true) = (same_kind, in_place) {
                if known.required != member.required {
                    self.push(Change::Requirement {
                        member: self.field_name(member.tag),
                        place: place.clone(),
                        required: member.required,
                    });
                }
                self.inside(root, path, Some(known), member);
                continue;
            }
            let spot = match at.checked_sub(1).and_then(|before| after.get(before)) {
                None => Spot::First,
                Some(before) => Spot::After(self.field_name(before.tag)),
            };
            if list.contains(&member.tag) {
                // The member moves, or it becomes a group or stops being one. If it is the only member here, it only
                // changes its kind; then another member keeps its place.
                self.remove_and_hold(&place, member, &mut list, after);
            }
            let begin = member.group.as_deref().map(|group| {
                let first = &group.members()[0];
                (self.field_name(first.tag), first.required)
            });
            self.push(Change::Member {
                member: self.field_name(member.tag),
                place: place.clone(),
                required: member.required,
                spot,
                begin,
            });
            list.retain(|&tag| tag != member.tag);
            list.insert(at.min(list.len()), member.tag);
            self.inside(root, path, None, member);
        }
        for &gone in list.get(after.len()..).unwrap_or_default() {
            self.push(Change::RemoveMember {
                member: self.field_name(gone),
                place: place.clone(),
            });
        }
    }

    fn remove_and_hold(
        &mut self,
        place: &Place,
        member: &Member,
        list: &mut Vec<Tag>,
        after: &[Member],
    ) {
        if list.len() == 1 && !place.groups.is_empty() {
            let others = self.after.fields().iter().chain(self.before.fields());
            let mut free = others.filter(|field| {
                field.tag != member.tag && after.iter().all(|other| other.tag != field.tag)
            });
            let holder = after
                .iter()
                .map(|other| other.tag)
                .find(|&tag| tag != member.tag)
                .or_else(|| free.next().map(|field| field.tag));
            if let Some(holder) = holder {
                self.push(Change::Member {
                    member: self.field_name(holder),
                    place: place.clone(),
                    required: false,
                    spot: Spot::Last,
                    begin: None,
                });
                list.push(holder);
            }
        }
        self.push(Change::RemoveMember {
            member: self.field_name(member.tag),
            place: place.clone(),
        });
        list.retain(|&tag| tag != member.tag);
    }

    /// Handles the members inside a group.
    fn inside(&mut self, root: &Root, path: &mut Vec<Tag>, old: Option<&Member>, new: &Member) {
        let Some(group) = new.group.as_deref() else {
            return;
        };
        let old = old.and_then(|old| old.group.as_deref());
        let first = &group.members()[..1];
        path.push(new.tag);
        match old {
            Some(old) => self.members(root, path, old.members(), group.members()),
            // The group was created with its first member, which is a plain field.
            None => {
                let plain: Vec<Member> = first
                    .iter()
                    .map(|first| Member {
                        tag: first.tag,
                        required: first.required,
                        group: None,
                    })
                    .collect();
                self.members(root, path, &plain, group.members());
            }
        }
        path.pop();
    }

    fn old_conditions(&mut self) {
        let before = self.before;
        for message in before.messages() {
            let new = self.after.message(message.msg_type().as_bytes());
            for condition in message.conditions() {
                if !new.is_some_and(|new| new.conditions().contains(condition)) {
                    self.condition(How::Remove, message, condition);
                }
            }
        }
    }

    fn new_conditions(&mut self) {
        let after = self.after;
        for message in after.messages() {
            let old = self.before.message(message.msg_type().as_bytes());
            let kept = |condition: &ConditionalRequirement| {
                old.is_some_and(|old| {
                    // When a member is moved, it loses its conditions.
                    old.members() == message.members() && old.conditions().contains(condition)
                })
            };
            for condition in message.conditions() {
                if !kept(condition) {
                    self.condition(How::Add, message, condition);
                }
            }
        }
    }

    fn condition(&mut self, how: How, message: &MessageDef, condition: &ConditionalRequirement) {
        let root = Root::Message(match how {
            // The name may have been changed by now.
            How::Remove => message.msg_type().into(),
            _ => self.message_name(message.msg_type()),
        });
        let groups = condition.path.iter().map(|&tag| self.field_name(tag));
        let groups = groups.collect();
        let terms = condition.terms.iter();
        let terms = terms.map(|term| (self.field_name(term.tag), term.test.clone()));
        let change = Change::Condition {
            how,
            places: [Place { root, groups }].into(),
            required: self.field_name(condition.required),
            terms: terms.collect(),
        };
        self.push(change);
    }
}
