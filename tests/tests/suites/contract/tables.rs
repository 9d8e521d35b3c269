//! What the conversion tables of the gateway make of fields of a request, and of a venue's report.

use std::sync::{Mutex, OnceLock};

use fixwire_protocol::dictionary::{GroupDef, Version};
use fixwire_protocol::{Dictionary, Tag};
use fixwire_transform::Draft;
use fixwire_transform::convert::{BuiltInConversions, Conversion};

use super::desk::Spoken;
use super::page::{Class, Page};

/// The fields of header and body that a venue gets.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct ConvertedText {
    pub header: String,
    pub body: String,
}

/// A conversion from one version to another; `None` when both are the same.
fn conversion(from: Version, to: Version) -> Option<Conversion> {
    type Made = Vec<(Version, Version, Option<Conversion>)>;
    static MADE: OnceLock<Mutex<(BuiltInConversions, Made)>> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().expect("no panic");
    let (tables, made) = &mut *made;
    if let Some(known) = made.iter().find(|it| (it.0, it.1) == (from, to)) {
        return known.2.clone();
    }
    let conversion = tables.conversion(from, to);
    made.push((from, to, conversion.clone()));
    conversion
}

fn text(draft: &mut Draft) -> Vec<(Tag, String)> {
    let fields = (0..draft.len()).map(|at| {
        let value = String::from_utf8_lossy(draft.value(at)).replace('\x01', "|");
        (draft.tag(at), value)
    });
    fields.collect()
}

/// Converts fields beside a request that has them not; `None` when the venue cannot get them.
pub fn converted(
    page: &Page,
    msg_type: &str,
    client: &Spoken,
    venue: &Spoken,
    base: &str,
    fields: &str,
) -> Option<ConvertedText> {
    let mut conversion = conversion(client.version, venue.version)?;
    let mut losses = conversion.losses();
    let mut draft = Draft::default();
    draft.begin(msg_type.as_bytes());
    let all = format!("{base}{fields}").replace("a|c", "a\x02c");
    let mut moved = Vec::new();
    for field in all.split_terminator('|') {
        let (tag, value) = field.split_once('=')?;
        let tag: Tag = tag.parse().ok()?;
        draft.push(tag, value.replace('\x02', "\x01").as_bytes());
        moved.push(tag);
    }
    let own = base.split_terminator('|').count();
    conversion.convert(&mut draft, &mut losses).ok()?;
    // A table may lose a field under a tag that another table has given it.
    let is_own = |tag: Tag| moved[..own].contains(&tag) && !moved[own..].contains(&tag);
    if losses.iter().any(|(tag, _)| !is_own(tag)) || losses.others() > 0 {
        return None;
    }
    let mut converted = ConvertedText::default();
    let result = text(&mut draft);
    let mut at = 0;
    while let Some((tag, value)) = result.get(at) {
        let said = base
            .split_terminator('|')
            .find_map(|it| it.strip_prefix(&*format!("{tag}=")));
        if let Some(said) = said {
            // What the OMS writes itself does not change.
            if said != value {
                return None;
            }
            at += 1;
            continue;
        }
        let dictionary = &venue.dictionary;
        let is_header = dictionary.header().member(*tag).is_some();
        let group = dictionary.group(msg_type.as_bytes(), *tag);
        let message = dictionary.message(msg_type.as_bytes())?;
        if !is_header && message.member(*tag).is_none() {
            return None;
        }
        let len = group.map_or(1, |group| 1 + entries(group, &result[at + 1..]));
        for (tag, value) in &result[at..at + len] {
            let is_passed = page.request(msg_type, *tag) == Some(Class::Passed);
            if !is_passed || !is_allowed(dictionary, *tag, value) {
                return None;
            }
            let to = match is_header {
                true => &mut converted.header,
                false => &mut converted.body,
            };
            *to += &format!("{tag}={value}|");
        }
        at += len;
    }
    Some(converted)
}

/// What a receiver gets of fields of a venue's report, and the tags of those that are counted.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct ConvertedReport {
    pub fields: ConvertedText,
    pub left: Vec<Tag>,
}

/// Converts fields beside a report that has them not; `None` when both have the same version, and when the report can
/// only be converted to one of another side.
pub fn converted_report(
    page: &Page,
    venue: &Spoken,
    receiver: &Spoken,
    base: &str,
    fields: &str,
) -> Option<ConvertedReport> {
    let mut conversion = conversion(venue.version, receiver.version)?;
    let mut losses = conversion.losses();
    let mut draft = Draft::default();
    draft.begin(b"8");
    let all = format!("{base}{fields}").replace("a|c", "a\x02c");
    for field in all.split_terminator('|') {
        let (tag, value) = field.split_once('=')?;
        draft.push(tag.parse().ok()?, value.replace('\x02', "\x01").as_bytes());
    }
    conversion.convert(&mut draft, &mut losses).ok()?;
    // What the OMS writes itself, whatever the table makes of it.
    let own = |tag: Tag| page.report("8", tag) != Some(Class::Passed);
    let mut converted = ConvertedReport::default();
    for (tag, count) in losses.iter().filter(|(tag, _)| !own(*tag)) {
        converted.left.extend((0..count).map(|_| tag));
    }
    let result = text(&mut draft);
    // A field of the venue's own dictionary has no row in a table.
    let standard = Dictionary::built_in(venue.version);
    for tag in fields
        .split_terminator('|')
        .filter_map(|it| it.split('=').next()?.parse().ok())
    {
        let is_gone = !result.iter().any(|it| it.0 == tag) && !converted.left.contains(&tag);
        if is_gone && !own(tag) && standard.field(tag).is_none() {
            converted.left.push(tag);
        }
    }
    let side = |of: &str| {
        of.split('|')
            .find(|it| it.starts_with("54="))
            .map(str::to_owned)
    };
    let has =
        |(tag, value): &(Tag, String)| *tag == 54 && Some(format!("54={value}")) == side(base);
    if !result.iter().any(has) {
        return None;
    }
    let dictionary = &receiver.dictionary;
    let message = dictionary.message(b"8")?;
    let mut at = 0;
    while let Some((tag, _)) = result.get(at) {
        if own(*tag) {
            at += 1;
            continue;
        }
        let is_header = dictionary.header().member(*tag).is_some();
        let group = dictionary.group(b"8", *tag);
        let len = group.map_or(1, |group| 1 + entries(group, &result[at + 1..]));
        let all = &result[at..at + len];
        at += len;
        let is_known = is_header || message.member(*tag).is_some();
        let is_taken = |(tag, value): &(Tag, String)| {
            page.report("8", *tag) == Some(Class::Passed) && is_allowed(dictionary, *tag, value)
        };
        if !is_known || !all.iter().all(is_taken) {
            converted.left.extend(all.iter().map(|(tag, _)| *tag));
            continue;
        }
        let to = match is_header {
            true => &mut converted.fields.header,
            false => &mut converted.fields.body,
        };
        for (tag, value) in all {
            *to += &format!("{tag}={value}|");
        }
    }
    Some(converted)
}

/// How many of these fields are members of a group, its nested groups included.
fn entries(group: &GroupDef, fields: &[(Tag, String)]) -> usize {
    fn has(group: &GroupDef, tag: Tag) -> bool {
        let mut members = group.members().iter();
        members.any(|it| it.tag == tag || it.group.as_ref().is_some_and(|it| has(it, tag)))
    }
    fields
        .iter()
        .take_while(|(tag, _)| has(group, *tag))
        .count()
}

fn is_allowed(dictionary: &Dictionary, tag: Tag, value: &str) -> bool {
    let Some(field) = dictionary.field(tag) else {
        return false;
    };
    let mut values = match field.kind.is_multiple() {
        true => value.split(' ').collect(),
        false => vec![value],
    }
    .into_iter();
    let bytes = value.replace('|', "\x01");
    let is_listed = field.values.iter().any(|known| known.value == value);
    is_listed
        || (values.all(|value| field.allows(value.as_bytes()))
            && field.kind.accepts(bytes.as_bytes()))
}
