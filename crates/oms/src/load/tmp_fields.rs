//! The key `tmp_fields` of a line group: which tags of requests fill which fields of TMP.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use fixwire_protocol::{Tag, tag};
use fixwire_text::{Diagnostic, TomlTable, TomlValue, listed, nearest, tables};

use super::Reader;
use super::registry::TableRule;
use crate::values::fields::contract::{Contract, ContractKey, TAGS, Treatment, why_not_single};
use crate::values::fields::field_table::why_not;
use crate::values::fields::tmp_fields::{TmpField, TmpFields};
use crate::values::marks::RequestMarks;
use crate::values::rules::{LineGroup, UserRule};

/// Tags that may be part of a session's identity. In a request, such a field with the value of the identity says
/// nothing about the order.
const IDENTITY: [Tag; 4] = [
    tag::SENDER_SUB_ID,
    tag::TARGET_SUB_ID,
    tag::SENDER_LOCATION_ID,
    tag::TARGET_LOCATION_ID,
];

/// Reads the table of a line group.
pub(super) fn read(
    reader: &mut Reader<'_>,
    group: &mut LineGroup,
    value: TomlValue<'_>,
) -> Result<(), Diagnostic> {
    let table = value.table().map_err(|_| {
        let hint = "write the fields of TMP and their tags: tmp_fields = {order_source = 9717}";
        value.wrong("tmp_fields must be a table", hint)
    })?;
    for value in table.entries() {
        let mut fields = TmpField::ALL.into_iter();
        let read = match fields.find(|field| field.name() == value.key) {
            Some(field) => source(reader, &mut group.tmp_fields, field, value),
            None => Err(unknown(value)),
        };
        reader.keep(read);
    }
    Ok(())
}

/// Reads the tag or the constant of a field of TMP.
fn source(
    reader: &Reader<'_>,
    fields: &mut TmpFields,
    field: TmpField,
    value: TomlValue<'_>,
) -> Result<(), Diagnostic> {
    let (name, values) = (field.name(), field.values());
    if let Some(text) = value.string() {
        return field
            .set(text.as_bytes(), &mut fields.constants)
            .ok_or_else(|| {
                let what = format!("{name} cannot be \"{text}\"");
                let hint = format!("write {values}, or a tag without quotes: {name} = 9717");
                value.wrong(what, hint)
            });
    }
    let tag = value.whole().and_then(|tag| Tag::try_from(tag).ok());
    let Some(tag) = tag.filter(|tag| TAGS.contains(tag)) else {
        let what = format!("{name} must be a tag from 1 to 99999, or a constant in quotes");
        let hint = format!("write the number of the field: {name} = 9717; a constant is {values}");
        return Err(value.wrong(what, hint));
    };
    let is_of_session = IDENTITY.contains(&tag);
    let is_of_session = is_of_session.then_some("it may be part of the identity of a session");
    let why = is_of_session
        .or_else(|| why_not(ContractKey::Set, tag))
        .or_else(|| why_not(ContractKey::Carry, tag))
        .or_else(|| why_not_single(reader.dictionaries(), tag, ContractKey::Set));
    if let Some(why) = why {
        let what = format!("{name} cannot have the value of tag {tag}: {why}");
        let hint = "write another tag, for example one from 5000 to 39999; a constant is in quotes";
        return Err(value.wrong(what, hint));
    }
    fields.name(field, tag).map_err(|other| {
        let what = format!("tag {tag} is in {} and in {name}", other.name());
        value.wrong(what, "a tag fills one field of TMP: write another tag")
    })
}

/// The mistake that a key names no field that can be filled.
fn unknown(value: TomlValue<'_>) -> Diagnostic {
    let key = value.key;
    let hint = match key {
        "position_effect" => {
            String::from("PositionEffect over TMP is PositionEffect(77) of the order: leave it out")
        }
        "user_define" => String::from(
            "user_define has the number of the order, by which reports name it: leave it out",
        ),
        "account_flag" => String::from("the settings call it investor_flag"),
        _ => {
            let names = TmpField::ALL.map(TmpField::name);
            let near =
                nearest(key, names).map_or(String::new(), |near| format!("; did you mean {near}?"));
            format!("write {}{near}", listed(&names))
        }
    };
    let what = format!("tmp_fields cannot fill {key}");
    Diagnostic::of(value.key_span, what, hint)
}

/// Checks the tables of all line groups, once users, pools and contracts are read.
pub(super) fn check(reader: &mut Reader<'_>, file: TomlTable<'_>) {
    let users = tables(file.get(UserRule::TABLE), UserRule::TABLE, &mut Vec::new());
    let groups = tables(
        file.get(LineGroup::TABLE),
        LineGroup::TABLE,
        &mut Vec::new(),
    );
    for table in groups {
        let name = table.get("name").and_then(|name| name.text().ok());
        let mut groups = reader.rules.groups.iter();
        let Some(group) = groups.find(|group| Some(&*group.name) == name) else {
            continue;
        };
        let over_tmp = group.lines.iter().all(|line| reader.links.contains(line));
        let found = match over_tmp {
            true => problems(reader, group, table, &users),
            false if group.tmp_fields == TmpFields::default() => continue,
            false => {
                let what = format!(
                    "line_group {} has tmp_fields, but lines that speak FIX",
                    group.name
                );
                let at = table.place("tmp_fields");
                vec![Diagnostic::new(
                    at,
                    what,
                    "remove it: the requests have the fields themselves",
                )]
            }
        };
        reader.errors.extend(found);
    }
}

/// The mistakes in the table of a group whose lines speak TMP, and in settings for the table's fields.
fn problems(
    reader: &Reader<'_>,
    group: &LineGroup,
    table: TomlTable<'_>,
    users: &[TomlTable<'_>],
) -> Vec<Diagnostic> {
    let LineGroup {
        name,
        contract,
        tmp_fields,
        ..
    } = group;
    let mut found = Vec::new();
    if let Some((tag, _)) = contract.sets().next() {
        let what = format!("line_group {name} has set for tag {tag}, but its lines speak TMP");
        let hint = "write the value in tmp_fields: order_source = \"D\"";
        found.push(Diagnostic::new(table.place("set"), what, hint));
    }
    for key in [ContractKey::Carry, ContractKey::Map] {
        let mut tags = contract.tags(key);
        if let Some(tag) = tags.find(|tag| tmp_fields.of(*tag).is_none()) {
            let key = key.name();
            let what = format!(
                "{key} of line_group {name} names tag {tag}, for which its lines, which speak TMP, have no field"
            );
            let hint = "name the tag in tmp_fields too, or leave it out";
            found.push(Diagnostic::new(table.place(key), what, hint));
        }
    }
    for (field, tag) in tmp_fields.named().into_iter().flatten() {
        let wrong = |at: usize, what: String, hint: &str| Diagnostic::new(at, what, hint);
        let at = table.place("tmp_fields");
        match contract.of(tag) {
            Some(treatment @ (Treatment::Drop | Treatment::Refuse)) => {
                let key = if treatment == Treatment::Drop {
                    "drop"
                } else {
                    "refuse"
                };
                let what = format!("tag {tag} is in {key} and in tmp_fields");
                let hint = "a field has one treatment: leave one of the two";
                found.push(wrong(table.place(key), what, hint));
            }
            Some(Treatment::Map(map)) => {
                let unfit = map.values().find(|value| !field.fits(value));
                found.extend(
                    unfit.map(|value| misfit(table.place("map"), "map", tag, field, value)),
                );
            }
            Some(Treatment::Carry | Treatment::Set(_)) | None => {}
        }
        if reader.rules.pools.iter().any(|pool| pool.tag == tag) {
            let what =
                format!("tmp_fields names tag {tag}, in which a number_pool has its numbers");
            found.push(wrong(
                at,
                what,
                "write another tag, or give the pool another one",
            ));
        }
        for user in &reader.rules.users {
            let (key, mut values): (_, Vec<&[u8]>) = match user.contract.of(tag) {
                Some(Treatment::Set(value)) => ("set", vec![value]),
                Some(Treatment::Map(map)) => ("map", map.values().collect()),
                Some(Treatment::Carry | Treatment::Drop | Treatment::Refuse) | None => continue,
            };
            values.retain(|value| is_unfit(contract, tmp_fields, tag, value));
            let Some(value) = values.first() else {
                continue;
            };
            let is_its = |it: &&TomlTable<'_>| {
                let session = it.get("session").and_then(|it| it.text().ok());
                let template = reader.rules.template_of(&user.session);
                session == Some(template.map_or(&*user.session, |it| &*it.pattern))
            };
            let at = users.iter().find(is_its).map_or(0, |it| it.place(key));
            found.push(match contract.of(tag) {
                Some(Treatment::Map(_)) => unmapped(at, key, tag, name, value),
                Some(_) | None => misfit(at, key, tag, field, value),
            });
        }
    }
    found
}

/// Whether the field of TMP that the tag fills cannot have the value, or the line group refuses it.
fn is_unfit(contract: &Contract, fields: &TmpFields, tag: Tag, value: &[u8]) -> bool {
    let filled = fields.fill(contract, tag, value, &mut RequestMarks::default());
    filled.is_err()
}

/// The mistake that a user's value is not in the `map` of the line group.
fn unmapped(at: usize, key: &str, tag: Tag, group: &str, value: &[u8]) -> Diagnostic {
    let value = String::from_utf8_lossy(value);
    let what = format!(
        "{key} gives tag {tag} the value \"{value}\", which map of line_group {group} does not have"
    );
    let hint = format!("write a value of that map.{tag}, or add this one to it");
    Diagnostic::new(at, what, hint)
}

fn misfit(at: usize, key: &str, tag: Tag, field: TmpField, value: &[u8]) -> Diagnostic {
    let value = String::from_utf8_lossy(value);
    let what = format!(
        "{key} gives tag {tag} the value \"{value}\", which {} cannot have",
        field.name()
    );
    Diagnostic::new(at, what, format!("write {}", field.values()))
}
