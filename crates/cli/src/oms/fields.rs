//! Request fields that an OMS drops.

use fixwire_oms::rules::RiskRules;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Tag};

/// The part of `check` about an OMS: the fields of requests that it drops, by user and line group.
pub fn shown(rules: &RiskRules) -> Vec<(String, String)> {
    let users = rules.users.iter();
    let users = users.map(|user| (format!("user.{}.drop", user.session), &user.drop));
    let groups = rules.groups.iter();
    let groups = groups.map(|group| (format!("line_group.{}.drop", group.name), &group.drop));
    let name = Dictionary::built_in(Version::Fix50Sp2);
    let named = |tag: &Tag| match name.field(*tag) {
        Some(field) => format!("{}({tag})", field.name),
        None => tag.to_string(),
    };
    let all = users.chain(groups).filter(|(_, tags)| !tags.is_empty());
    let all = all.map(|(key, tags)| {
        let tags: Vec<String> = tags.iter().map(named).collect();
        (key, tags.join(", "))
    });
    let rows: Vec<_> = all.collect();
    if rows.is_empty() {
        let none = "no field: a request with one that would not reach the venue is rejected";
        return vec![("drop".to_owned(), none.to_owned())];
    }
    rows
}
