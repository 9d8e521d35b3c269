//! Finds the fields that sessions do not get because of their dictionaries, for a person who checks the settings.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{FieldDef, Member};
use fixwire_protocol::{Decoder, Dictionary, SOH, Tag, tag};

use crate::app::session::OmsSession;
use crate::fix::lines::RequestForm;
use crate::values::fields::carried::{allows, group_len};
use crate::values::fields::conversion::{ConvertingSession, FieldConverter, VersionChange};
use crate::values::fields::field_table::{goes_to_client, report_bit};
use crate::values::fields::report_tags::ReportTags;
use crate::values::ids::SessionNo;
use crate::values::rules::{LineGroup, RiskRules};

/// Fields that a session does not get because of its dictionary or FIX version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeftOutFields {
    /// Name of the session.
    pub session: String,
    /// The messages that do not have the fields.
    pub of: LeftOutOf,
    /// The tags, in the order of the message.
    pub tags: Vec<Tag>,
}

/// Messages that do not have some fields.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LeftOutOf {
    /// Requests of the OMS to a line, by MsgType(35): its dictionary does not have the fields.
    Requests(&'static str),
    /// Reports of a line group to a client or a drop copy: its dictionary does not have the fields, and no conversion
    /// table gives them another form that it has.
    Reports(String),
}

/// Values that a field of any type may have, for a field that lists none.
const SAMPLES: [&str; 8] = [
    "1",
    "Y",
    "20260102",
    "202601",
    "20260102-08:00:00",
    "08:00:00",
    "08:00Z",
    "20260102-08:00Z",
];
/// The largest number of values that are tried of one field.
const TRIED: usize = 64;

/// All fields that lines, clients and drop copies do not get.
pub(in crate::app) fn left_out_fields(
    rules: &RiskRules,
    sessions: &[OmsSession],
) -> Vec<LeftOutFields> {
    let mut all = Vec::new();
    for session in sessions {
        let is_line = rules
            .groups
            .iter()
            .any(|it| it.lines.contains(&session.name));
        let form = RequestForm::of(&session.dictionary);
        for msg_type in ["D", "G", "F", "R"].into_iter().filter(|_| is_line) {
            let of = LeftOutOf::Requests(msg_type);
            add(session, of, form.left_out(msg_type).collect(), &mut all);
        }
    }
    let mut converter = converter(rules, sessions);
    for group in &rules.groups {
        let lines = lines_of(group, sessions);
        let mut known: Vec<(&OmsSession, Vec<Tag>)> = Vec::new();
        for session in sessions {
            let is_user = rules.users.iter().any(|it| it.session == session.name);
            let is_copy = rules
                .drop_copies
                .iter()
                .any(|it| it.session == session.name);
            if !is_user && !is_copy {
                continue;
            }
            let other = known.iter().find(|(it, _)| is_like(it, session));
            let tags = match other {
                Some((_, tags)) => tags.clone(),
                None => {
                    let mut tags: Vec<Tag> = Vec::new();
                    for line in &lines {
                        let of_line = without(group, *line, session, &mut converter).into_iter();
                        let new: Vec<Tag> = of_line.filter(|tag| !tags.contains(tag)).collect();
                        tags.extend(new);
                    }
                    known.push((session, tags.clone()));
                    tags
                }
            };
            let of = LeftOutOf::Reports(group.name.clone());
            add(session, of, tags, &mut all);
        }
    }
    all
}

/// For each FIX version and dictionary of the group's lines: one of these lines, with its place among all sessions.
fn lines_of<'a>(group: &LineGroup, sessions: &'a [OmsSession]) -> Vec<(usize, &'a OmsSession)> {
    let mut lines: Vec<(usize, &OmsSession)> = Vec::new();
    for (place, session) in sessions.iter().enumerate() {
        let is_line = group.lines.contains(&session.name);
        if is_line && !lines.iter().any(|(_, it)| is_like(it, session)) {
            lines.push((place, session));
        }
    }
    lines
}

/// Whether two sessions have the same fields.
fn is_like(one: &OmsSession, other: &OmsSession) -> bool {
    one.version == other.version && Arc::ptr_eq(&one.dictionary, &other.dictionary)
}

fn add(session: &OmsSession, of: LeftOutOf, tags: Vec<Tag>, to: &mut Vec<LeftOutFields>) {
    if !tags.is_empty() {
        let session = session.name.clone();
        to.push(LeftOutFields { session, of, tags });
    }
}

/// Converts between the versions of all sessions; their numbers are their places.
fn converter(rules: &RiskRules, sessions: &[OmsSession]) -> FieldConverter {
    let sessions = sessions.iter();
    let all = sessions.clone().map(|session| {
        Some(ConvertingSession {
            version: session.version,
            dictionary: Arc::clone(&session.dictionary),
            contract: Default::default(),
        })
    });
    let pairs = sessions.clone().flat_map(|from| {
        let others = sessions.clone().filter(|to| to.version != from.version);
        others.map(|to| VersionChange {
            from: from.version,
            to: to.version,
        })
    });
    let mut converter = FieldConverter::with(&rules.conversions);
    converter.prepare(all.collect(), pairs);
    converter
}

/// The fields of a line's reports that a receiver cannot get.
fn without(
    group: &LineGroup,
    (line, venue): (usize, &OmsSession),
    receiver: &OmsSession,
    converter: &mut FieldConverter,
) -> Vec<Tag> {
    let from = &venue.dictionary;
    if Arc::ptr_eq(from, &receiver.dictionary) {
        return Vec::new();
    }
    let message = from.message(b"8").into_iter();
    let members = message.flat_map(|message| message.members());
    let line = u32::try_from(line).ok().map(SessionNo::new);
    let carried = group.report_carry.with_groups(from);
    let passed =
        members.filter(|it| goes_to_client(it.tag, report_bit(b"8")) || carried.has(it.tag));
    let lost = passed.filter(|member| {
        let count = count_values(from, member).clamp(1, TRIED);
        // A data field is tried with its length.
        let is_data = from.field(member.tag).is_some_and(|def| def.kind.is_data());
        !is_data
            && !(0..count).any(|place| {
                let mut samples = samples(from, member, place).into_iter();
                samples.any(|it| is_got(&it, member.tag, &carried, (line, receiver), converter))
            })
    });
    lost.map(|member| member.tag).collect()
}

/// Whether a receiver gets a field with this value: unchanged, or something that a table makes of it.
fn is_got(
    sample: &[u8],
    tag: Tag,
    carried: &ReportTags,
    (line, receiver): (Option<SessionNo>, &OmsSession),
    converter: &mut FieldConverter,
) -> bool {
    let to = &receiver.dictionary;
    let mut decoder = Decoder::with_capacity(128);
    let message = decoder.decode_whole(sample);
    let fields = message.fields();
    let member = to
        .header()
        .member(tag)
        .or_else(|| to.message(b"8")?.member(tag));
    let is_whole = member.is_some_and(|member| match &member.group {
        Some(def) => group_len(def, &message, fields) == Ok(fields.len()),
        None => true,
    });
    let is_allowed = fields.iter().all(|field| {
        let def = to.field(field.tag);
        def.is_some_and(|def| allows(def, message.value(*field)))
    });
    if is_whole && is_allowed {
        return true;
    }
    let conversion = converter.report(line, receiver.version);
    let Some(mut conversion) = conversion.filter(|_| !carried.has(tag)) else {
        return false;
    };
    let (mut is_made, mut is_lost) = (false, false);
    let needs = needed_by(tag);
    if let Some(needed) = needs {
        let mut field = Vec::new();
        put(needed, "1", &mut field);
        conversion.add(needed, &field);
    }
    conversion.add(tag, sample);
    conversion.finish(
        b'1',
        to,
        |_| {
            is_made = true;
            true
        },
        |left| is_lost |= left == tag,
    );
    is_made && !(is_lost && needs.is_some())
}

/// The field without which no table converts a field.
fn needed_by(tag: Tag) -> Option<Tag> {
    match tag {
        tag::CLEARING_ACCOUNT => Some(tag::CLEARING_FIRM),
        _ => None,
    }
}

/// The largest number of values that the dictionary lists for a field or for a field of its group.
fn count_values(dictionary: &Dictionary, member: &Member) -> usize {
    let own = dictionary.field(member.tag).map_or(0, |it| it.values.len());
    let members = member.group.iter().flat_map(|group| group.members());
    let counts = members.map(|member| count_values(dictionary, member));
    counts.fold(own, usize::max)
}

/// A field with its group, each field with a value that its dictionary allows: the field of this place has the value of
/// this place in its list. A group is tried with all its fields, and with the few that a table may convert.
fn samples(dictionary: &Dictionary, member: &Member, place: usize) -> Vec<Vec<u8>> {
    let mut whole = Vec::new();
    put_sample(dictionary, member, place, &mut whole);
    let mut all = alloc::vec![whole];
    if let Some(group) = &member.group {
        let mut short = Vec::new();
        put(member.tag, "1", &mut short);
        let listed = |it: &&Member| {
            let def = dictionary.field(it.tag);
            it.tag == group.delimiter() || def.is_some_and(|it| !it.values.is_empty())
        };
        for member in group
            .members()
            .iter()
            .filter(|it| it.group.is_none())
            .filter(listed)
        {
            match member.tag {
                // Tables convert parties of the source Proprietary.
                tag::PARTY_ID_SOURCE => put(member.tag, "D", &mut short),
                _ => put_sample(dictionary, member, place, &mut short),
            }
        }
        all.push(short);
    }
    all
}

fn put_sample(dictionary: &Dictionary, member: &Member, place: usize, to: &mut Vec<u8>) {
    let Some(def) = dictionary
        .field(member.tag)
        .filter(|def| !def.kind.is_data())
    else {
        return;
    };
    if let Some(group) = &member.group {
        put(member.tag, "1", to);
        let members = group.members().iter();
        return members.for_each(|member| put_sample(dictionary, member, place, to));
    }
    match def.partner {
        Some(data) => {
            put(member.tag, "1", to);
            put(data, "x", to);
        }
        None => put(member.tag, value(def, place), to),
    }
}

fn put(tag: Tag, value: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(format!("{tag}={value}").as_bytes());
    to.push(SOH);
}

/// A value that a field may have.
fn value(def: &FieldDef, place: usize) -> &str {
    let known = def.values.get(place).or_else(|| def.values.first());
    let sample = || {
        SAMPLES
            .into_iter()
            .find(|it| def.kind.accepts(it.as_bytes()))
    };
    known.map_or_else(|| sample().unwrap_or("1"), |known| &known.value)
}
