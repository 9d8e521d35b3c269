//! The contracts of an OMS, which say what happens to fields of requests and reports, and the fields that sessions do not
//! get because of their dictionaries.

use fixwire_oms::contract::{Contract, ContractKey};
use fixwire_oms::report_tags::ReportTags;
use fixwire_oms::rules::{RiskRules, UserTemplate};
use fixwire_oms::{LeftOutOf, Oms};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Tag};

/// The rows of `check` for an OMS. The rows are the sessions of each user template, and the fields that sessions do not
/// get. The rows also show the keys `carry`, `set`, `map`, `drop` and `refuse` for request fields, by user and line
/// group, the keys `tmp_fields` and `report_carry` of line groups, the key `report_drop` of users and drop copies, and
/// the conversion tables of the settings.
pub fn shown(oms: &Oms) -> Vec<(String, String)> {
    let rules = oms.rules();
    let dictionaries = [Version::Fix50Sp2, Version::Fix42].map(Dictionary::built_in);
    let named = |tag: Tag| {
        let field = dictionaries.iter().find_map(|it| it.field(tag));
        field.map_or_else(|| tag.to_string(), |field| format!("{}({tag})", field.name))
    };
    let users = rules.users.iter();
    let users = users.map(|user| (format!("user.{}", user.session), &user.contract));
    let groups = rules.groups.iter();
    let groups = groups.map(|group| (format!("line_group.{}", group.name), &group.contract));
    let rows_of = |(of, contract): (String, &Contract)| {
        let keys = ContractKey::ALL.into_iter();
        let rows = keys.map(|key| {
            let between = if key == ContractKey::Map { "; " } else { ", " };
            (
                format!("{of}.{}", key.name()),
                contract.text(key, named, between),
            )
        });
        rows.filter(|(_, text)| !text.is_empty())
            .collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = users.chain(groups).flat_map(rows_of).collect();
    rows.extend(rules.groups.iter().filter_map(|group| {
        let text = group.tmp_fields.text(named);
        (!text.is_empty()).then(|| (format!("line_group.{}.tmp_fields", group.name), text))
    }));
    let templates = rules.templates.iter();
    let sessions = |it: &UserTemplate| {
        let created = it.creates.then(|| "sessions created at a Logon".to_owned());
        let all: Vec<String> = it.sessions.iter().cloned().chain(created).collect();
        all.join(", ")
    };
    let templates = templates.map(|it| (format!("user.{}", it.pattern), sessions(it)));
    let templates: Vec<(String, String)> = templates.collect();
    if rows.is_empty() {
        let none =
            "no field: the OMS rejects a request with a field that would not reach the venue";
        rows.push(("drop".to_owned(), none.to_owned()));
    }
    let tables = rules.conversions.iter();
    let tables = tables.map(|it| (format!("conversion.{}", it.name()), it.file.clone()));
    let reports = of_reports(rules, &named).into_iter();
    let reports = reports.chain(left_out(oms, &named));
    let rows = templates.into_iter().chain(rows).chain(tables);
    rows.chain(reports).collect()
}

/// The keys for fields of reports.
fn of_reports(rules: &RiskRules, named: &impl Fn(Tag) -> String) -> Vec<(String, String)> {
    let groups = rules.groups.iter();
    let groups = groups.map(|it| {
        (
            format!("line_group.{}.report_carry", it.name),
            &it.report_carry,
        )
    });
    let users = rules.users.iter();
    let users = users.map(|it| (format!("user.{}.report_drop", it.session), &it.report_drop));
    let copies = rules.drop_copies.iter();
    let copies = copies.map(|it| {
        (
            format!("drop_copy.{}.report_drop", it.session),
            &it.report_drop,
        )
    });
    let text = |tags: &ReportTags| tags.tags().map(named).collect::<Vec<_>>().join(", ");
    let rows = users.chain(groups).chain(copies);
    let rows = rows.filter(|(_, tags)| !tags.is_empty());
    rows.map(|(of, tags)| (of, text(tags))).collect()
}

/// The fields that sessions do not get because of their dictionaries.
fn left_out(oms: &Oms, named: &impl Fn(Tag) -> String) -> Vec<(String, String)> {
    let all = oms.left_out_fields().into_iter();
    let rows = all.map(|left| {
        let of = match left.of {
            LeftOutOf::Requests(msg_type) => format!("left_out.{}.{msg_type}", left.session),
            LeftOutOf::Reports(group) => format!("left_out.{}.8 of {group}", left.session),
        };
        let tags: Vec<String> = left.tags.into_iter().map(named).collect();
        (of, tags.join(", "))
    });
    rows.collect()
}
