//! A session of the OMS, and the lines that requests to a line group may reach.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Field, Message, Tag, tag};

use crate::fix::carried::{SetField, everywhere, is_set_in, set_fields};
use crate::values::fields::carried::{SentBecause, allows, group_len};
use crate::values::fields::contract::Contract;
use crate::values::fields::tmp_fields::TmpFields;
use crate::values::rules::LineGroup;

/// A session of the OMS. Its index is its `SessionId` in the engine.
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

/// The lines to which requests for a line group may be sent: the lines of the group, and the lines of its helper
/// groups.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// The dictionaries of the lines, each once.
    dictionaries: Vec<Arc<Dictionary>>,
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
        let is_it = |known: &Arc<Dictionary>| Arc::ptr_eq(known, &line.dictionary);
        if !self.dictionaries.iter().any(is_it) {
            self.dictionaries.push(Arc::clone(&line.dictionary));
        }
        self.identities.extend(line.own_header());
    }

    /// The tag of a field, or of a member of a group, that one of the FIX lines refuses.
    pub(super) fn refused(
        &self,
        from: &Dictionary,
        message: &Message<'_>,
        fields: &[Field],
        why: SentBecause,
        sent_in: &[&[u8]],
    ) -> Option<Tag> {
        let first = fields.first()?.tag;
        if self.identities.contains(&first) {
            return Some(first);
        }
        let mut lines = self.dictionaries.iter();
        lines.find_map(|to| {
            let mut sent_in = sent_in.iter();
            sent_in.find_map(|msg_type| fault(message, msg_type, fields, why, (from, to)).err())
        })
    }

    /// Whether all lines accept a field of the order, or a NumInGroup field with its group, in a replace. A line whose
    /// dictionary does not have the field accepts it, because the settings name the field for both messages.
    pub(super) fn is_in_replaces(&self, tag: Tag) -> bool {
        self.dictionaries.iter().all(|line| {
            let [order, replace] = [b"D", b"G"].map(|it| line.message(it));
            let [order, replace] = [order, replace].map(|it| it.and_then(|it| it.member(tag)));
            order.is_none_or(|order| replace.is_some_and(|it| it.group == order.group))
        })
    }

    /// The fields that the setting `set` adds to a message. Only fields that all lines have in this message are added.
    pub(super) fn sets(&self, contract: &Contract, msg_type: &[u8]) -> Vec<SetField> {
        let mut lines = self.dictionaries.iter();
        let mut sets = match lines.next() {
            Some(first) => set_fields(contract, first),
            None if self.over_tmp.is_empty() => Vec::new(),
            None => everywhere(contract),
        };
        let fills_tmp = |set: &SetField| self.over_tmp.iter().all(|it| it.of(set.tag).is_some());
        sets.retain(|set| is_set_in(set, msg_type) && fills_tmp(set));
        for line in lines {
            let others = set_fields(contract, line);
            let has = |set: &SetField| {
                let other = others.iter().find(|it| it.tag == set.tag);
                other.is_some_and(|it| is_set_in(it, msg_type))
            };
            sets.retain(has);
        }
        sets
    }
}

/// Checks a field of a message, or a NumInGroup field with its group, against the dictionaries of its client and of a
/// line.
///
/// # Errors
///
/// The tag that the line refuses.
fn fault(
    message: &Message<'_>,
    msg_type: &[u8],
    fields: &[Field],
    why: SentBecause,
    (from, to): (&Dictionary, &Dictionary),
) -> Result<(), Tag> {
    let first = fields[0].tag;
    let part = match from.header().member(first) {
        Some(_) => Some(to.header()),
        None => to.message(msg_type),
    };
    let member = match (part.and_then(|part| part.member(first)), why) {
        (Some(member), _) => member,
        // The settings name the field, and have precedence over the venue's dictionary.
        (None, SentBecause::Named) => return Ok(()),
        (None, SentBecause::OfTable) => return Err(first),
    };
    for field in fields {
        let is_fit = match (from.field(field.tag), to.field(field.tag), why) {
            (_, Some(_), SentBecause::Named) => true,
            (Some(from), Some(to), SentBecause::OfTable) => {
                from.kind == to.kind && allows(to, message.value(*field))
            }
            (None, _, SentBecause::OfTable) | (_, None, _) => false,
        };
        if !is_fit {
            return Err(field.tag);
        }
    }
    let len = match &member.group {
        Some(def) => group_len(def, message, fields)?,
        None => 1,
    };
    fields.get(len).map_or(Ok(()), |field| Err(field.tag))
}
