//! User-defined fields that settings name, and that the dictionaries of clients do not have.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Tag;

use crate::app::session::OmsSession;
use crate::values::fields::carried::{allows, has_member};
use crate::values::fields::contract::{Contract, ContractKey, GivenValues};
use crate::values::rules::RiskRules;

/// The first tag of user-defined fields, which `ValidateUserDefinedFields` checks.
const FIRST: Tag = 5000;

/// A user-defined field that the settings let clients send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserDefinedTag {
    /// The tag.
    pub tag: Tag,
    /// The setting that names the tag.
    pub setting: String,
    /// The client sessions that may send the field. The dictionary of none of these sessions has the field.
    pub sessions: Vec<String>,
}

/// The user-defined fields that the settings let clients send, although no client that may send a field has it in the
/// dictionary of its session.
pub(in crate::app) fn undefined_tags(
    rules: &RiskRules,
    sessions: &[OmsSession],
) -> Vec<UserDefinedTag> {
    let is_client = |it: &&OmsSession| rules.users.iter().any(|user| user.session == it.name);
    let clients: Vec<&OmsSession> = sessions.iter().filter(is_client).collect();
    let mut found = Vec::new();
    let mut look = |clients: &[&OmsSession], (tag, msg_type, setting): Named| {
        let is_known = clients.iter().any(|it| has(it, msg_type, tag));
        if tag >= FIRST && !is_known && !clients.is_empty() {
            found.push(UserDefinedTag {
                tag,
                setting,
                sessions: clients.iter().map(|it| it.name.clone()).collect(),
            });
        }
    };
    for user in &rules.users {
        let of_user = clients.iter().filter(|it| it.name == user.session);
        let of_user: Vec<&OmsSession> = of_user.copied().collect();
        for named in of_contract(&user.contract, &format!("[[user]] {}", user.session)) {
            look(&of_user, named);
        }
    }
    for group in &rules.groups {
        for named in of_contract(&group.contract, &format!("[[line_group]] {}", group.name)) {
            look(&clients, named);
        }
    }
    for named in of_the_oms(rules) {
        look(&clients, named);
    }
    found
}

/// A sentence for each line whose dictionary lacks standard fields that `carry`, `map` or `set` sends to the line, and for
/// values of `map` and `set` that it does not allow.
pub(in crate::app) fn unknown_at_lines(rules: &RiskRules, sessions: &[OmsSession]) -> Vec<String> {
    let mut found = Vec::new();
    for group in &rules.groups {
        let users = rules.users.iter();
        let users = users.map(|it| (format!("[[user]] {}", it.session), &it.contract));
        let own = (format!("[[line_group]] {}", group.name), &group.contract);
        let contracts: Vec<(String, &Contract)> = users.chain([own]).collect();
        for line in sessions.iter().filter(|it| group.lines.contains(&it.name)) {
            let lacks = |tag: &Tag| {
                let types: [&[u8]; 3] = [b"D", b"G", b"F"];
                *tag < FIRST && !types.iter().any(|of| has(line, of, *tag))
            };
            for (whose, contract) in &contracts {
                for key in [ContractKey::Carry, ContractKey::Map, ContractKey::Set] {
                    let tags: Vec<String> = contract
                        .tags(key)
                        .filter(lacks)
                        .map(|it| it.to_string())
                        .collect();
                    if !tags.is_empty() {
                        found.push(format!(
                            "{} of {whose} names {}, which no request of the dictionary of {} has: the venue may ignore the field",
                            key.name(),
                            tags.join(", "),
                            line.name
                        ));
                    }
                }
                // The contract of the line group has the last word about a field that both name.
                let of_group = &group.contract;
                let is_sent =
                    |tag| core::ptr::eq(*contract, of_group) || of_group.of(tag).is_none();
                let given = contract.given().filter(|it| is_sent(it.tag));
                found.extend(given.filter_map(|given| foreign_values(&given, whose, line)));
            }
        }
    }
    found
}

/// A sentence if the dictionary of a line lists the values of a field, and not all of those that a contract gives it.
fn foreign_values(given: &GivenValues<'_>, whose: &str, line: &OmsSession) -> Option<String> {
    let def = line.dictionary.field(given.tag)?;
    let values = given.values.iter().filter(|value| !allows(def, value));
    let mut values: Vec<String> = values
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .collect();
    values.sort_unstable();
    values.dedup();
    let what = match values.len() {
        0 => return None,
        1 => "the value",
        _ => "the values",
    };
    Some(format!(
        "{} of {whose} gives {} {what} {}, which the dictionary of {} does not allow: the venue may reject the request",
        given.key.name(),
        given.tag,
        values.join(", "),
        line.name
    ))
}

/// A tag, the type of the message that has it, and the setting that names it.
type Named = (Tag, &'static [u8], String);

fn of_contract<'a>(contract: &'a Contract, whose: &'a str) -> impl Iterator<Item = Named> + 'a {
    // The OMS writes the fields of `set` itself, and rejects those of `refuse`.
    let keys = [ContractKey::Carry, ContractKey::Map, ContractKey::Drop];
    keys.into_iter().flat_map(move |key| {
        let tags = contract.tags(key);
        tags.map(move |tag| (tag, &b"D"[..], format!("{} of {whose}", key.name())))
    })
}

fn of_the_oms(rules: &RiskRules) -> impl Iterator<Item = Named> {
    let own = rules.own_tags;
    let own: [(Tag, &'static [u8], &str); 6] = [
        (own.condition, b"D", "condition"),
        (own.parent, b"D", "parent"),
        (own.reduce_by, b"G", "reduce_by"),
        (own.report_filter, b"BW", "report_filter"),
        (own.send_time, b"D", "send_time"),
        (own.validity, b"D", "validity"),
    ];
    own.map(|(tag, msg_type, name)| (tag, msg_type, format!("{name} of [oms.own_tags]")))
        .into_iter()
}

/// Whether the dictionary of a session has a field in a message.
fn has(session: &OmsSession, msg_type: &[u8], tag: Tag) -> bool {
    let dictionary = &session.dictionary;
    let message = dictionary.message(msg_type);
    let parts = message.into_iter().chain([dictionary.header()]);
    let mut members = parts.flat_map(|part| part.members());
    members.any(|it| it.tag == tag || it.group.as_ref().is_some_and(|it| has_member(it, tag)))
}

impl core::fmt::Display for UserDefinedTag {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (sessions, verb) = match &self.sessions[..] {
            [one] => (one.to_string(), "rejects"),
            all => (all.join(", "), "reject"),
        };
        write!(
            f,
            "{sessions} {verb} messages with tag {} ({}): write ValidateUserDefinedFields = false, or name a dictionary with this tag",
            self.tag, self.setting
        )
    }
}
