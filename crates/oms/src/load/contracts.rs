//! The keys `carry`, `set`, `map`, `drop` and `refuse` of a user or a line group: what the OMS does with fields of
//! requests.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::decode::DATA_PAIRS;
use fixwire_protocol::dictionary::{GroupDef, Version};
use fixwire_protocol::{Dictionary, Tag};
use fixwire_text::{Diagnostic, TomlTable, TomlValue};

use super::Reader;
use crate::values::fields::SETS_MAX;
use crate::values::fields::contract::{
    Contract, ContractKey, FieldRule, MapTable, TAGS, why_not_single,
};
use crate::values::fields::field_table::{REQUESTS, why_not};

/// The FIX versions that clients use.
const VERSIONS: [Version; 3] = [Version::Fix42, Version::Fix44, Version::Fix50Sp2];

/// The value of a key as text, for the list of changes of a reload.
pub(super) fn shown(contract: &Contract, key: ContractKey) -> String {
    let between = match key {
        ContractKey::Map => "; ",
        ContractKey::Carry | ContractKey::Set | ContractKey::Drop | ContractKey::Refuse => " ",
    };
    contract.text(key, |tag| tag.to_string(), between)
}

impl Reader<'_> {
    pub(super) fn dictionaries(&self) -> &[Dictionary; 3] {
        self.dictionaries
            .get_or_init(|| VERSIONS.map(Dictionary::built_in))
    }

    /// Reads the value of a key into a contract.
    pub(super) fn contract(
        &mut self,
        contract: &mut Contract,
        key: ContractKey,
        value: TomlValue<'_>,
    ) -> Result<(), Diagnostic> {
        match key {
            ContractKey::Carry => self.tags(contract, FieldRule::Carry, value),
            ContractKey::Drop => self.tags(contract, FieldRule::Drop, value),
            ContractKey::Refuse => self.tags(contract, FieldRule::Refuse, value),
            ContractKey::Set => {
                for value in table(value, "set = {47 = \"A\"}")?.entries() {
                    let rule = set_value(value).map(|value| FieldRule::Set(value.into()));
                    self.field(contract, key, value, rule);
                }
                Ok(())
            }
            ContractKey::Map => {
                for value in table(value, "map.47 = {A = \"P\"}")?.entries() {
                    self.field(contract, key, value, map_table(value).map(FieldRule::Map));
                }
                Ok(())
            }
        }
    }

    /// Reads `drop = [58, 453]`: the tags, and for a NumInGroup tag also the tags of the group.
    fn tags(
        &mut self,
        contract: &mut Contract,
        rule: FieldRule,
        value: TomlValue<'_>,
    ) -> Result<(), Diagnostic> {
        let key = rule.key();
        let what = format!("{} must be a list of tags", key.name());
        let hint = format!("write the tags of the fields: {} = [58, 376]", key.name());
        let Some(items) = value.numbers() else {
            return Err(value.wrong(what, hint));
        };
        let mut tags = Vec::new();
        for (at, tag) in items {
            let tag = tag.and_then(|tag| Tag::try_from(tag).ok());
            match tag.filter(|tag| TAGS.contains(tag)) {
                None => self.wrong(at, &*what, &*hint),
                Some(tag) => {
                    if self.name_tag(contract, at, tag, rule.clone()) {
                        tags.push(tag);
                    }
                }
            }
        }
        // A length and its data count as one field.
        let partners = tags.iter().filter_map(|tag| partner(*tag));
        let members = members(self.dictionaries(), &tags, key);
        for member in members.into_iter().chain(partners) {
            // A setting for the field itself has precedence over a setting for its group.
            let _ = contract.add(member, rule.clone(), true);
        }
        Ok(())
    }

    /// Reads a field of `set` or `map`, which is named by its tag.
    fn field(
        &mut self,
        contract: &mut Contract,
        key: ContractKey,
        value: TomlValue<'_>,
        rule: Result<FieldRule, Diagnostic>,
    ) {
        let tag = fixwire_text::number(value.key).and_then(|tag| Tag::try_from(tag).ok());
        let Some(tag) = tag.filter(|tag| TAGS.contains(tag)) else {
            let what = format!("{} in {} is not a tag", value.key, key.name());
            return self.wrong(value.at, what, "write the number of the field");
        };
        if let Some(why) = why_not_single(self.dictionaries(), tag, key) {
            let what = format!("{} cannot name tag {tag}: {why}", key.name());
            let hint = "carry, drop and refuse may name it";
            return self.wrong(value.at, what, hint);
        }
        if let Some(rule) = self.keep(rule) {
            self.name_tag(contract, value.at, tag, rule);
        }
    }

    /// Adds a tag to a contract, if the table of fields and the rest of the contract allow it.
    fn name_tag(&mut self, contract: &mut Contract, at: usize, tag: Tag, rule: FieldRule) -> bool {
        let key = rule.key().name();
        if let Some(why) = why_not(rule.key(), tag) {
            let what = format!("{key} cannot name tag {tag}: {why}");
            let hint = "docs/reference/oms-fields.md lists which tags it may name";
            self.wrong(at, what, hint);
            return false;
        }
        match contract.add(tag, rule, false) {
            Ok(()) => true,
            Err(other) if other.name() == key => {
                self.wrong(at, format!("{key} names tag {tag} twice"), "name it once");
                false
            }
            Err(other) => {
                let what = format!("tag {tag} is in {} and in {key}", other.name());
                self.wrong(at, what, "a field has one treatment: leave one of the two");
                false
            }
        }
    }

    /// Checks, after contracts and pools are read, that no `set` names the tag of a pool, and that all fields of a
    /// `set` fit into a message.
    pub(super) fn check_sets(&mut self) {
        let rules = &self.rules;
        let users = rules.users.iter();
        let users = users.map(|user| (format!("user {}", user.session), &user.contract));
        let groups = rules.groups.iter();
        let groups = groups.map(|group| (format!("line_group {}", group.name), &group.contract));
        let mut mistakes = Vec::new();
        for (whose, contract) in users.chain(groups) {
            let len = |(tag, value): (Tag, &[u8])| format!("{tag}=").len() + value.len() + 1;
            let len: usize = contract.sets().map(len).sum();
            if len > SETS_MAX {
                let what = format!("the fields in set of {whose} have {len} bytes");
                let hint = "all of them together may have 1024 bytes, with tags and SOH";
                mistakes.push((what, hint));
            }
            for (tag, _) in contract.sets() {
                if rules.pools.iter().any(|pool| pool.tag == tag) {
                    let what = format!(
                        "set of {whose} names tag {tag}, in which a number_pool has its numbers"
                    );
                    mistakes.push((what, "leave it out of set, or give the pool another tag"));
                }
            }
        }
        for (what, hint) in mistakes {
            self.wrong(0, what, hint);
        }
    }
}

fn table<'d>(value: TomlValue<'d>, example: &str) -> Result<TomlTable<'d>, Diagnostic> {
    value.table().map_err(|_| {
        let what = format!("{} must be a table of tags", value.key);
        value.wrong(what, format!("write the tags and their values: {example}"))
    })
}

/// Reads a value that a field may have.
fn set_value<'d>(value: TomlValue<'d>) -> Result<&'d [u8], Diagnostic> {
    let text = value.text()?;
    if text.chars().any(char::is_control) {
        let what = format!("the value of {} has a control character", value.key);
        return Err(value.wrong(what, "fields end with SOH: write the text alone"));
    }
    Ok(text.as_bytes())
}

/// Reads the table of a `map`, such as `{A = "P", B = "A"}`.
fn map_table(value: TomlValue<'_>) -> Result<MapTable, Diagnostic> {
    let mut map = MapTable::default();
    for to in table(value, "map.47 = {A = \"P\"}")?.entries() {
        let from = to.key;
        if from.is_empty() || from.chars().any(char::is_control) {
            let what = format!("a value in map.{} is no value of a field", value.key);
            return Err(to.wrong(what, "write the client's value, without control characters"));
        }
        map.add(from.as_bytes(), set_value(to)?);
    }
    if map.is_empty() {
        let what = format!("map.{} has no values", value.key);
        return Err(value.wrong(what, "write each value and what it becomes: {A = \"P\"}"));
    }
    Ok(map)
}

/// The tag of the data that belongs to the tag of a length, or the other way round.
fn partner(tag: Tag) -> Option<Tag> {
    DATA_PAIRS.iter().find_map(|pair| match *pair {
        (length, data) if length == tag => Some(data),
        (length, data) if data == tag => Some(length),
        _ => None,
    })
}

/// The tags of the groups that these NumInGroup tags count, except tags that the key may not name.
fn members(dictionaries: &[Dictionary], counts: &[Tag], key: ContractKey) -> Vec<Tag> {
    fn add(group: &GroupDef, key: ContractKey, all: &mut Vec<Tag>) {
        for member in group.members() {
            if why_not(key, member.tag).is_none() {
                all.push(member.tag);
            }
            if let Some(group) = &member.group {
                add(group, key, all);
            }
        }
    }
    let mut all = Vec::new();
    for dictionary in dictionaries {
        for msg_type in REQUESTS {
            let groups = counts
                .iter()
                .filter_map(|count| dictionary.group(msg_type.as_bytes(), *count));
            groups.for_each(|group| add(group, key, &mut all));
        }
    }
    all
}
