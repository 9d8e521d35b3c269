//! The contracts of an OMS, which say what happens to fields of requests.

use fixwire_oms::contract::{Contract, ContractKey};
use fixwire_oms::rules::RiskRules;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Tag};

/// Rows of `check` for an OMS: the sessions of each user template; the keys `carry`, `set`, `map`, `drop` and `refuse` for request fields, by user and line
/// group, and `tmp_fields` of line groups.
pub fn shown(rules: &RiskRules) -> Vec<(String, String)> {
    let name = Dictionary::built_in(Version::Fix50Sp2);
    let named = |tag: Tag| match name.field(tag) {
        Some(field) => format!("{}({tag})", field.name),
        None => tag.to_string(),
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
    let templates = templates.map(|it| (format!("user.{}", it.pattern), it.sessions.join(", ")));
    let templates: Vec<(String, String)> = templates.collect();
    if rows.is_empty() {
        let none =
            "no field: the OMS rejects a request with a field that would not reach the venue";
        rows.push(("drop".to_owned(), none.to_owned()));
    }
    templates.into_iter().chain(rows).collect()
}
