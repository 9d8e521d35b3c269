//! A session of the OMS, and the lines that requests to a line group may reach.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Field, Message, Tag, tag};

use crate::fix::carried::{SetField, everywhere, is_set_in, set_fields};
use crate::values::fields::carried::{SentBecause, fault};
use crate::values::fields::contract::Contract;
use crate::values::fields::field_table::is_instruction;
use crate::values::fields::tmp_fields::TmpFields;
use crate::values::rules::{CreatedName, LineGroup, RiskRules, UserRule, is_pattern, matches};

/// A session of the OMS. The index of a session is its `SessionId` in the engine.
#[derive(Clone, Debug)]
pub struct OmsSession {
    /// Name of the session in the settings.
    pub name: String,
    /// The FIX version of its application messages.
    pub version: Version,
    /// The session's dictionary. For FIX 5.0 and later it includes the dictionary of FIXT.
    pub dictionary: Arc<Dictionary>,
    /// SenderSubID(50), TargetSubID(57), SenderLocationID(142) and TargetLocationID(143) of the session's inbound
    /// messages; only the fields that are part of the session's identity.
    pub ids: Vec<(Tag, String)>,
}

impl OmsSession {
    /// The identity fields in the header of each outbound message of the session. Sender and target are exchanged:
    /// where inbound messages have SenderSubID(50), outbound messages have TargetSubID(57).
    pub(super) fn own_header(&self) -> impl Iterator<Item = Tag> {
        self.ids.iter().map(|(of, _)| match *of {
            tag::SENDER_SUB_ID => tag::TARGET_SUB_ID,
            tag::TARGET_SUB_ID => tag::SENDER_SUB_ID,
            tag::SENDER_LOCATION_ID => tag::TARGET_LOCATION_ID,
            tag::TARGET_LOCATION_ID => tag::SENDER_LOCATION_ID,
            other => other,
        })
    }

    /// The built-in dictionary of a FIX version. For FIX 5.0 and later it includes the dictionary of FIXT.
    #[must_use]
    pub fn built_in(version: Version) -> Arc<Dictionary> {
        let dictionary = Dictionary::built_in(version);
        Arc::new(match version >= Version::Fix50 {
            true => dictionary.over(&Dictionary::built_in(Version::Fixt11)),
            false => dictionary,
        })
    }
}

/// A section with `AcceptorTemplate`: Logons create its sessions.
#[derive(Clone, Debug)]
pub struct SessionTemplate {
    /// Names of its sessions in the engine.
    pub engine: CreatedName,
    /// Names of its sessions in the settings of the OMS, for the same id.
    pub user: CreatedName,
    /// The FIX version of the application messages.
    pub version: Version,
    /// As [`OmsSession::dictionary`].
    pub dictionary: Arc<Dictionary>,
    /// As [`OmsSession::ids`].
    pub ids: Vec<(Tag, String)>,
}

impl SessionTemplate {
    /// The name in the OMS of a session of the engine; `None` for a session that the template does not create.
    #[must_use]
    pub fn called(&self, engine: &str) -> Option<String> {
        self.engine.id(engine).map(|id| self.user.of(id))
    }

    pub(super) fn session(&self, name: &str) -> OmsSession {
        OmsSession {
            name: name.into(),
            version: self.version,
            dictionary: Arc::clone(&self.dictionary),
            ids: self.ids.clone(),
        }
    }
}

/// A session as a template creates it, with the `session` of the `[[user]]` that such sessions have: checks of the
/// settings and conditions of routes treat it like a session of the file.
#[derive(Clone, Debug)]
pub(super) struct SampleSession {
    /// Index of the template.
    pub template: usize,
    pub session: OmsSession,
}

impl SampleSession {
    /// Whether a session with this name may be one that the sample stands for.
    pub(super) fn takes(&self, name: &str) -> bool {
        let of = &self.session.name;
        of == name || is_pattern(of) && matches(of, name.as_bytes())
    }
}

/// A sample for each template and each user whose sessions the template may create. `sessions` are the sessions of the
/// file.
pub(super) fn samples(
    rules: &RiskRules,
    templates: &[SessionTemplate],
    sessions: &[OmsSession],
) -> Vec<SampleSession> {
    let is_open = |user: &&UserRule| sessions.iter().all(|it| it.name != user.session);
    let users: Vec<&UserRule> = rules.users.iter().filter(is_open).collect();
    let of = |(template, it): (usize, &SessionTemplate)| {
        let users = users.iter().filter(|user| it.user.may_fit(&user.session));
        let made = users.map(|user| SampleSession {
            template,
            session: it.session(&user.session),
        });
        made.collect::<Vec<_>>()
    };
    templates.iter().enumerate().flat_map(of).collect()
}

/// Names and versions of sessions.
pub(super) fn versions(sessions: &[OmsSession]) -> impl Iterator<Item = (&str, Version)> {
    let sessions = sessions.iter();
    sessions.map(|session| (session.name.as_str(), session.version))
}

/// The dictionaries of sessions, each once.
pub(super) fn dictionaries(sessions: &[OmsSession]) -> Vec<Arc<Dictionary>> {
    let mut all: Vec<Arc<Dictionary>> = Vec::new();
    for session in sessions {
        let is_it = |known: &Arc<Dictionary>| Arc::ptr_eq(known, &session.dictionary);
        if !all.iter().any(is_it) {
            all.push(Arc::clone(&session.dictionary));
        }
    }
    all
}

/// The dictionary of lines, and the FIX version of their application messages.
#[derive(Debug)]
struct ReachedDictionary {
    version: Version,
    dictionary: Arc<Dictionary>,
}

/// The lines to which requests for a line group may be sent: the lines of the group, and the lines of its helper
/// groups.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// The dictionaries of the lines, each once for each FIX version.
    dictionaries: Vec<ReachedDictionary>,
    /// Identity fields that a line has in the header of each of its messages.
    identities: Vec<Tag>,
    /// The TMP fields that requests may have, for each group whose lines speak TMP.
    over_tmp: Vec<TmpFields>,
}

impl Reach {
    pub(super) fn of(group: &LineGroup, groups: &[LineGroup], sessions: &[OmsSession]) -> Self {
        let mut reach = Self::default();
        let is_helper = |it: &&LineGroup| group.helpers.contains(&it.name);
        for group in core::iter::once(group).chain(groups.iter().filter(is_helper)) {
            reach
                .over_tmp
                .extend(group.over_tmp.then_some(group.tmp_fields));
            let lines = sessions.iter().filter(|it| group.lines.contains(&it.name));
            lines.for_each(|line| reach.add(line));
        }
        reach
    }

    /// The reach of orders that are at the venue of a session.
    pub(super) fn of_session(line: &OmsSession) -> Self {
        let mut reach = Self::default();
        reach.add(line);
        reach
    }

    fn add(&mut self, line: &OmsSession) {
        let is_it = |known: &ReachedDictionary| {
            known.version == line.version && Arc::ptr_eq(&known.dictionary, &line.dictionary)
        };
        if !self.dictionaries.iter().any(is_it) {
            self.dictionaries.push(ReachedDictionary {
                version: line.version,
                dictionary: Arc::clone(&line.dictionary),
            });
        }
        self.identities.extend(line.own_header());
    }

    /// Whether a line has another FIX version than a client, so that fields may be converted.
    pub(super) fn has_other_version(&self, client: Version) -> bool {
        self.dictionaries.iter().any(|it| it.version != client)
    }

    /// The dictionaries of the lines; `None` unless all lines speak the FIX version of a client, so that no field is
    /// converted and none fills a field of TMP.
    pub(super) fn unconverted(&self, client: Version) -> Option<Vec<Arc<Dictionary>>> {
        let is_fix = self.over_tmp.is_empty() && !self.dictionaries.is_empty();
        (is_fix && !self.has_other_version(client)).then(|| {
            let lines = self.dictionaries.iter();
            lines.map(|line| Arc::clone(&line.dictionary)).collect()
        })
    }

    /// Whether a line has a field with this tag in the header of each of its messages.
    pub(super) fn has_identity(&self, tag: Tag) -> bool {
        self.identities.contains(&tag)
    }

    /// The tag of a field, or of a member of a group, that one of the FIX lines refuses. A line of another FIX version
    /// refuses here only fields that no conversion can change.
    pub(super) fn refused(
        &self,
        client: &OmsSession,
        message: &Message<'_>,
        fields: &[Field],
        why: SentBecause,
        sent_in: &[&[u8]],
    ) -> Option<Tag> {
        let first = fields.first()?.tag;
        if self.identities.contains(&first) {
            return Some(first);
        }
        let converts = |version| why == SentBecause::OfTable && version != client.version;
        let lines = self.dictionaries.iter();
        let mut lines = lines.filter(|it| !converts(it.version));
        lines.find_map(|to| {
            let (from, to) = (&client.dictionary, &to.dictionary);
            let mut sent_in = sent_in.iter();
            sent_in.find_map(|msg_type| {
                // A line without the instruction would trade the order in another way, whatever the settings say.
                let part = to.message(msg_type);
                let lacks = part.is_some_and(|part| part.member(first).is_none());
                match lacks && is_instruction(first) {
                    true => Some(first),
                    false => fault(message, msg_type, fields, why, from, to).err(),
                }
            })
        })
    }

    /// Whether all lines accept a field of the order, or a NumInGroup field with its group, in a replace. A line whose
    /// dictionary does not have the field accepts it, because the settings name the field for both messages.
    pub(super) fn is_in_replaces(&self, tag: Tag) -> bool {
        self.dictionaries.iter().all(|line| {
            let [order, replace] = [b"D", b"G"].map(|it| line.dictionary.message(it));
            let [order, replace] = [order, replace].map(|it| it.and_then(|it| it.member(tag)));
            order.is_none_or(|order| replace.is_some_and(|it| it.group == order.group))
        })
    }

    /// The fields that the setting `set` adds to a message. Only fields that all lines have in this message are added.
    pub(super) fn sets(&self, contract: &Contract, msg_type: &[u8]) -> Vec<SetField> {
        let mut lines = self.dictionaries.iter();
        let mut sets = match lines.next() {
            Some(first) => set_fields(contract, &first.dictionary),
            None if self.over_tmp.is_empty() => Vec::new(),
            None => everywhere(contract),
        };
        let fills_tmp = |set: &SetField| self.over_tmp.iter().all(|it| it.of(set.tag).is_some());
        sets.retain(|set| is_set_in(set, msg_type) && fills_tmp(set));
        for line in lines {
            let others = set_fields(contract, &line.dictionary);
            let has = |set: &SetField| {
                let other = others.iter().find(|it| it.tag == set.tag);
                other.is_some_and(|it| is_set_in(it, msg_type))
            };
            sets.retain(has);
        }
        sets
    }
}
