//! `[oms.own_tags]`: tags of fields that only this OMS knows.

use alloc::format;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use toml::de::{DeTable, DeValue};

use super::Reader;
use crate::values::field_table::REQUEST_FIELDS;
use crate::values::own_tags::OwnTags;

impl Reader<'_> {
    /// Reads them; none by default.
    pub(super) fn own_tags(&mut self, table: &DeTable<'_>) {
        let Some(value) = table.get("own_tags") else {
            return;
        };
        let Some(table) = self.keys(value, &OwnTags::NAMES) else {
            return;
        };
        let mut known: Vec<Tag> = Vec::new();
        for name in OwnTags::NAMES {
            let Some(value) = table.get(name) else {
                continue;
            };
            let at = value.span().start;
            let tag = match value.get_ref() {
                DeValue::Integer(tag) if tag.radix() == 10 => tag.as_str().parse().ok(),
                _ => None,
            };
            let Some(tag) = tag.filter(|tag: &Tag| (5000..=39_999).contains(tag)) else {
                let what = format!("{name} must be a tag from 5000 to 39999");
                self.wrong(at, what, "these are left to users by FIX");
                continue;
            };
            let is_other = REQUEST_FIELDS.iter().any(|row| row.tags.contains(&tag));
            if is_other || known.contains(&tag) {
                let what = format!("tag {tag} of {name} has another use");
                self.wrong(at, what, "each of the own tags needs a tag of its own");
                continue;
            }
            known.push(tag);
            if let Some(own) = self.rules.own_tags.named(name) {
                *own = tag;
            }
        }
    }

    /// Checks that no pool and no `drop` has one of the own tags; when both are read.
    pub(super) fn check_own_tags(&mut self) {
        let mut own = self.rules.own_tags;
        for name in OwnTags::NAMES {
            let tag = own.named(name).map_or(0, |tag| *tag);
            let is_of_pool = self.rules.pools.iter().any(|pool| pool.tag == tag);
            let users = self.rules.users.iter().map(|user| &user.drop);
            let groups = self.rules.groups.iter().map(|group| &group.drop);
            let is_dropped = users.chain(groups).any(|drop| drop.contains(&tag));
            if tag > 0 && (is_of_pool || is_dropped) {
                let what = format!("tag {tag} of own_tags {name} has another use");
                let hint = "a number_pool has it as its tag, or drop names it";
                self.wrong(0, what, hint);
            }
        }
    }
}
