//! Resolves names in rules: sessions, fields, groups, values.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;

use fixwire_protocol::dictionary::{DataType, Dictionary, FieldDef, GroupDef, Member};
use fixwire_protocol::{Decimal, Tag, tag};

use super::context::RuleContext;
use super::fields::FieldRef;
use super::file::{Errors, SessionGroup};
use super::problem::{RuleProblem, nearest};
use super::syntax::Form;
use crate::value_test::like;

/// Where a dictionary has a field.
#[derive(Default)]
struct Use<'c> {
    /// Whether a message, header or trailer has the field outside of groups.
    top: bool,
    /// The messages that have the field in group entries.
    grouped_in: Vec<Vec<u8>>,
    /// The count field of a group whose entries have the field.
    group: Option<Tag>,
    /// The outermost groups whose entries the field counts.
    opens: Vec<&'c GroupDef>,
}

/// A dictionary, and the positions of its fields.
struct Known<'c> {
    dictionary: &'c Dictionary,
    uses: BTreeMap<Tag, Use<'c>>,
}

/// All names that rules may use.
pub(super) struct Names<'c> {
    context: &'c RuleContext<'c>,
    known: Vec<Known<'c>>,
    /// For each session, the index of its dictionary in `known`.
    of_session: Vec<usize>,
    /// The sessions of each group.
    groups: BTreeMap<String, Vec<bool>>,
    /// By dictionaries and tag: the messages that have the field in group entries. All rules share these lists.
    grouped: RefCell<BTreeMap<Grouped, Arc<[Vec<u8>]>>>,
}

type Grouped = (Vec<usize>, Tag);

/// The dictionaries in which a rule's fields are looked up, and the groups that enclose the current condition or
/// action.
#[derive(Default)]
pub(super) struct Scope<'c> {
    /// Indexes in the list of dictionaries.
    dictionaries: Vec<usize>,
    /// For each enclosing group, its possible definitions by message type; the innermost group is the last.
    pub groups: Vec<Vec<&'c GroupDef>>,
}

/// The error in a name, and a hint, for example the most similar known name.
pub(super) type Wrong = (RuleProblem, Option<String>);

/// A value to compare with.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    Bytes(Vec<u8>),
    Number(Decimal),
}

impl<'c> Names<'c> {
    pub fn new(context: &'c RuleContext<'c>) -> Self {
        let mut known: Vec<Known<'c>> = Vec::new();
        let of_session = context.sessions.iter().map(|session| {
            let same = |one: &Known<'_>| core::ptr::eq(one.dictionary, &*session.dictionary);
            known.iter().position(same).unwrap_or_else(|| {
                known.push(Known::new(&session.dictionary));
                known.len() - 1
            })
        });
        let of_session = of_session.collect();
        Self {
            context,
            known,
            of_session,
            groups: BTreeMap::new(),
            grouped: RefCell::default(),
        }
    }

    /// The name of the first session in `sessions` whose dictionary lacks one of the two messages.
    pub fn without(&self, sessions: &[bool], messages: [&[u8]; 2]) -> Option<&'c str> {
        let meant = self.context.sessions.iter().zip(sessions);
        let mut meant = meant.filter(|(_, meant)| **meant);
        let without = meant.find(|(session, _)| {
            let has = |one: &[u8]| session.dictionary.message(one).is_some();
            !messages.into_iter().all(has)
        });
        without.map(|(session, _)| session.name)
    }

    /// The number of sessions.
    pub fn sessions(&self) -> usize {
        self.context.sessions.len()
    }

    /// Adds groups of sessions.
    pub fn add_groups(&mut self, groups: &[SessionGroup], errors: &mut Errors<'_>) {
        let mut known = BTreeMap::new();
        for group in groups {
            let mut sessions = alloc::vec![false; self.context.sessions.len()];
            for member in &group.members {
                let found = match member.value.starts_with('@') {
                    true => Err((
                        RuleProblem::UnknownSession(member.value.clone()),
                        Some(
                            "a group may list sessions and patterns, but no other group"
                                .to_string(),
                        ),
                    )),
                    false => self.select(&member.value, &mut sessions),
                };
                if let Err((problem, hint)) = found {
                    errors.add(member.offset(0), problem, hint);
                }
            }
            known.insert(group.name.value.clone(), sessions);
        }
        self.groups = known;
    }

    /// Adds the sessions that a name, a pattern or a `@group` selects.
    pub fn select(&self, text: &str, sessions: &mut [bool]) -> Result<(), Wrong> {
        if let Some(name) = text.strip_prefix('@') {
            let Some(group) = self.groups.get(name) else {
                let hint = nearest(name, self.groups.keys().map(String::as_str));
                return Err((RuleProblem::UnknownGroup(name.into()), hint));
            };
            for (session, member) in sessions.iter_mut().zip(group) {
                *session |= member;
            }
            return Ok(());
        }
        if !text.contains(['*', '?']) {
            sessions[self.session(text)?] = true;
            return Ok(());
        }
        let mut found = false;
        for (session, known) in sessions.iter_mut().zip(self.context.sessions) {
            if like(known.name.as_bytes(), text.as_bytes()) {
                *session = true;
                found = true;
            }
        }
        match found {
            true => Ok(()),
            false => Err((RuleProblem::NoSession(text.into()), None)),
        }
    }

    /// The session of this name.
    pub fn session(&self, name: &str) -> Result<usize, Wrong> {
        let mut sessions = self.context.sessions.iter();
        sessions
            .position(|session| session.name == name)
            .ok_or_else(|| {
                let names = self.context.sessions.iter().map(|session| session.name);
                (
                    RuleProblem::UnknownSession(name.into()),
                    nearest(name, names),
                )
            })
    }

    /// Checks that each CompID belongs to the peer of only one session.
    pub fn same_comp_id(&self) -> Result<(), Wrong> {
        let mut peers = BTreeMap::new();
        let sessions = self.context.sessions.iter();
        for session in sessions.filter(|session| !session.peer.is_empty()) {
            if let Some(one) = peers.insert(session.peer, session.name) {
                let (one, other) = (String::from(one), String::from(session.name));
                return Err((RuleProblem::SameCompId { one, other }, None));
            }
        }
        Ok(())
    }

    /// The scope of a rule for messages from these sessions. An empty list means all sessions.
    pub fn scope(&self, sessions: &[bool]) -> Scope<'c> {
        let any = sessions.contains(&true);
        let chosen = self.of_session.iter().zip(sessions);
        let chosen = chosen.filter(|(_, chosen)| **chosen || !any);
        let mut dictionaries: Vec<usize> = chosen.map(|(at, _)| *at).collect();
        dictionaries.sort_unstable();
        dictionaries.dedup();
        Scope {
            dictionaries,
            groups: Vec::new(),
        }
    }

    fn known<'s>(&'s self, scope: &'s Scope<'_>) -> impl Iterator<Item = &'s Known<'c>> {
        scope.dictionaries.iter().map(|at| &self.known[*at])
    }

    /// The field's definitions, one for each dictionary that has it.
    fn definitions<'s>(
        &'s self,
        scope: &'s Scope<'_>,
        tag: Tag,
    ) -> impl Iterator<Item = &'c FieldDef> + 's {
        let known = self.known(scope).map(|known| known.dictionary);
        known.filter_map(move |dictionary| dictionary.field(tag))
    }

    /// The type of a field, if a dictionary has it.
    pub fn kind(&self, scope: &Scope<'_>, tag: Tag) -> Option<DataType> {
        self.definitions(scope, tag).next().map(|field| field.kind)
    }

    /// The tag of a field given by name or number.
    fn tag(&self, scope: &Scope<'_>, name: &str) -> Result<Tag, Wrong> {
        if name.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
            let number = name.parse::<Tag>().ok();
            let number = number.filter(|tag| (1..1_000_000_000).contains(tag));
            return number.ok_or_else(|| (RuleProblem::UnknownField(name.into()), None));
        }
        let mut tags = self
            .known(scope)
            .filter_map(|known| known.dictionary.tag_of(name));
        let Some(tag) = tags.next() else {
            let fields = self
                .known(scope)
                .flat_map(|known| known.dictionary.fields());
            let hint = nearest(name, fields.map(|field| field.name.as_str()));
            return Err((RuleProblem::UnknownField(name.into()), hint));
        };
        match tags.all(|other| other == tag) {
            true => Ok(tag),
            false => {
                let hint = "write the field's number".to_string();
                Err((RuleProblem::SeveralTags(name.into()), Some(hint)))
            }
        }
    }

    /// The name of a field, as the dictionaries of the scope give it.
    pub fn name_of(&self, scope: &Scope<'_>, tag: Tag) -> String {
        let name = self.definitions(scope, tag).next();
        name.map_or_else(|| tag.to_string(), |field| field.name.clone())
    }

    fn reference(&self, scope: &Scope<'_>, tag: Tag) -> FieldRef {
        let mut shared = self.grouped.borrow_mut();
        let grouped = shared
            .entry((scope.dictionaries.clone(), tag))
            .or_insert_with(|| {
                let uses = self.known(scope).filter_map(|known| known.uses.get(&tag));
                let mut all: Vec<Vec<u8>> = uses.flat_map(|one| one.grouped_in.clone()).collect();
                all.sort_unstable();
                all.dedup();
                all.into()
            });
        FieldRef::new(tag, grouped.clone())
    }

    /// Resolves a field that is read: in an enclosing entry, otherwise in the message.
    pub fn field(&self, scope: &Scope<'_>, name: &str) -> Result<FieldRef, Wrong> {
        let tag = self.tag(scope, name)?;
        let in_entry = |defs: &Vec<&GroupDef>| defs.iter().any(|def| def.position(tag).is_some());
        if !scope.groups.iter().any(in_entry) {
            let uses: Vec<&Use<'_>> = self
                .known(scope)
                .filter_map(|known| known.uses.get(&tag))
                .collect();
            if !uses.is_empty() && uses.iter().all(|one| !one.top) {
                let group = uses.iter().find_map(|one| one.group).unwrap_or_default();
                return Err(self.outside(scope, tag, group));
            }
        }
        Ok(self.reference(scope, tag))
    }

    /// Resolves a field that is written: in the innermost entry, otherwise in the message.
    pub fn target(&self, scope: &Scope<'_>, name: &str) -> Result<FieldRef, Wrong> {
        let field = self.field(scope, name)?;
        if let Some(defs) = scope.groups.last()
            && defs.iter().all(|def| def.position(field.tag).is_none())
        {
            return Err(self.outside(scope, field.tag, 0));
        }
        Ok(field)
    }

    fn outside(&self, scope: &Scope<'_>, tag: Tag, group: Tag) -> Wrong {
        let field = self.name_of(scope, tag);
        let around = scope.groups.last().and_then(|defs| defs.first());
        match around {
            Some(def) => {
                let group = self.name_of(scope, def.count());
                (RuleProblem::NotInGroup { field, group }, None)
            }
            None => {
                let group = self.name_of(scope, group);
                let hint = format!("write any({group}, ...) or each {group}: ...");
                (RuleProblem::OnlyInGroup { field, group }, Some(hint))
            }
        }
    }

    /// Resolves a group: its count field, and its possible definitions.
    pub fn group(
        &self,
        scope: &Scope<'c>,
        name: &str,
    ) -> Result<(FieldRef, Vec<&'c GroupDef>), Wrong> {
        let tag = self.tag(scope, name)?;
        for around in scope.groups.iter().rev() {
            let inner: Vec<&'c GroupDef> = around.iter().filter_map(|def| def.group(tag)).collect();
            if !inner.is_empty() {
                return Ok((self.reference(scope, tag), inner));
            }
        }
        let uses = self.known(scope).filter_map(|known| known.uses.get(&tag));
        let opens: Vec<&'c GroupDef> = uses.flat_map(|one| one.opens.iter().copied()).collect();
        if opens.is_empty() {
            let fields = self
                .known(scope)
                .flat_map(|known| known.dictionary.fields());
            let counts = fields.filter(|field| self.counts(scope, field.tag));
            let near = nearest(name, counts.map(|field| field.name.as_str()));
            return Err((RuleProblem::NoRepeatingGroup(name.into()), near));
        }
        Ok((self.reference(scope, tag), opens))
    }

    /// Whether the field counts the entries of a group, here or in enclosing entries.
    pub fn counts(&self, scope: &Scope<'_>, tag: Tag) -> bool {
        let inner = scope.groups.iter().flatten();
        let mut uses = self.known(scope).filter_map(|known| known.uses.get(&tag));
        uses.any(|one| !one.opens.is_empty())
            || inner.into_iter().any(|def| def.group(tag).is_some())
    }

    /// The data field that belongs to a length field, or the length field that belongs to a data field.
    pub fn partner(&self, scope: &Scope<'_>, tag: Tag) -> Option<FieldRef> {
        let partner = self
            .definitions(scope, tag)
            .find_map(|field| field.partner)?;
        Some(self.reference(scope, partner))
    }

    /// The value as in messages, for a value that a rule writes to this field.
    pub fn value(
        &self,
        scope: &Scope<'_>,
        tag: Tag,
        text: &str,
        form: Form,
    ) -> Result<String, Wrong> {
        let bad = |hint| {
            let (field, value) = (self.name_of(scope, tag), text.into());
            Err((RuleProblem::BadValue { field, value }, hint))
        };
        if text.is_empty() || text.contains('\x01') {
            return bad(None);
        }
        let mut defined = false;
        let mut listed: Vec<&str> = Vec::new();
        for known in self.known(scope) {
            let Some(field) = known.dictionary.field(tag) else {
                continue;
            };
            defined = true;
            if tag == tag::MSG_TYPE {
                if known.dictionary.message(text.as_bytes()).is_some() {
                    return Ok(text.into());
                }
                let messages = known.dictionary.messages();
                if form == Form::Word
                    && let Some(message) = known.dictionary.message_named(text)
                {
                    return Ok(message.msg_type().into());
                }
                listed.extend(messages.iter().map(|message| message.name()));
            } else if field.values.is_empty() {
                if form != Form::Word && field.kind.accepts(text.as_bytes()) {
                    return Ok(text.into());
                }
            } else if let Some(value) = listed_value(field, text, form) {
                return Ok(value);
            } else {
                listed.extend(field.values.iter().map(|value| value.name.as_str()));
            }
        }
        match (defined, form) {
            (false, Form::Quoted | Form::Number) => Ok(text.into()),
            (_, Form::Word) if listed.is_empty() => {
                let hint = format!("write a text in quotes: \"{text}\"");
                Err((RuleProblem::Unquoted(text.into()), Some(hint)))
            }
            _ => bad(nearest(text, listed)),
        }
    }

    /// Resolves a value that this field is compared with. `ordered` is true for `<`, `<=`, `>` and `>=`.
    pub fn literal(
        &self,
        scope: &Scope<'_>,
        tag: Tag,
        (text, form): (&str, Form),
        ordered: bool,
    ) -> Result<Literal, Wrong> {
        let kind = self.kind(scope, tag);
        let number = match kind {
            Some(kind) => is_number(kind) || (ordered && form == Form::Number),
            None => form == Form::Number,
        };
        let value = match ordered && form == Form::Number {
            true => text.into(),
            false => self.value(scope, tag, text, form)?,
        };
        if !number {
            return Ok(Literal::Bytes(value.into_bytes()));
        }
        match Decimal::parse(value.as_bytes()) {
            Ok(number) => Ok(Literal::Number(number)),
            Err(error) => {
                let (field, value) = (self.name_of(scope, tag), text.into());
                Err((
                    RuleProblem::BadValue { field, value },
                    Some(error.to_string()),
                ))
            }
        }
    }
}

/// The value of an enumerated field, written as in messages or by name.
fn listed_value(field: &FieldDef, text: &str, form: Form) -> Option<String> {
    let is_value = |text: &str| field.values.iter().any(|value| value.value == text);
    if is_value(text) || (field.kind.is_multiple() && text.split(' ').all(is_value)) {
        return Some(text.into());
    }
    let mut values = field.values.iter();
    let named = values.find(|value| value.name.eq_ignore_ascii_case(text))?;
    (form == Form::Word).then(|| named.value.clone())
}

/// Whether values of this type are compared as numbers.
pub(super) fn is_number(kind: DataType) -> bool {
    kind.is_decimal()
        || matches!(
            kind,
            DataType::Int
                | DataType::Length
                | DataType::SeqNum
                | DataType::NumInGroup
                | DataType::TagNum
                | DataType::DayOfMonth
        )
}

impl<'c> Known<'c> {
    fn new(dictionary: &'c Arc<Dictionary>) -> Self {
        let mut known = Self {
            dictionary,
            uses: BTreeMap::new(),
        };
        let parts = [dictionary.header(), dictionary.trailer()];
        for message in parts.into_iter().chain(dictionary.messages()) {
            for member in message.members() {
                let one = known.uses.entry(member.tag).or_default();
                one.top = true;
                if let Some(group) = &member.group {
                    one.opens.push(group);
                    known.group(message.msg_type().as_bytes(), group);
                }
            }
        }
        known
    }

    /// Records the fields of a group. Recursion is as deep as the dictionary nests groups.
    fn group(&mut self, msg_type: &[u8], def: &'c GroupDef) {
        for Member { tag, group, .. } in def.members() {
            let one = self.uses.entry(*tag).or_default();
            one.group.get_or_insert(def.count());
            if one.grouped_in.last().is_none_or(|last| last != msg_type) {
                one.grouped_in.push(msg_type.into());
            }
            if let Some(inner) = group {
                self.group(msg_type, inner);
            }
        }
    }
}
