//! `drop`: fields of requests that do not reach the venue, and that users or line groups may have nevertheless.

use alloc::format;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{GroupDef, Version};
use fixwire_protocol::{Dictionary, Tag};
use toml::de::{DeTable, DeValue};

use super::Reader;
use crate::values::field_table::{REQUESTS, why_not_dropped};

/// The versions that clients speak.
const VERSIONS: [Version; 3] = [Version::Fix42, Version::Fix44, Version::Fix50Sp2];

impl Reader<'_> {
    /// `drop = [58, 453]`: the tags, with those of the groups that they count, in their order.
    pub(super) fn drop(&mut self, table: &DeTable<'_>) -> Vec<Tag> {
        const HINT: &str = "write the tags of the fields: drop = [58, 376]";
        let Some(value) = table.get("drop") else {
            return Vec::new();
        };
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong(
                value.span().start,
                "drop must be a list of tags".into(),
                HINT,
            );
            return Vec::new();
        };
        let mut tags = Vec::new();
        for item in items {
            let at = item.span().start;
            let tag = match item.get_ref() {
                DeValue::Integer(tag) if tag.radix() == 10 => tag.as_str().parse().ok(),
                _ => None,
            };
            let Some(tag) = tag.filter(|tag: &Tag| (1..=99_999).contains(tag)) else {
                self.wrong(at, "drop must be a list of tags".into(), HINT);
                continue;
            };
            match why_not_dropped(tag) {
                Some(why) => {
                    let what = format!("drop cannot name tag {tag}: {why}");
                    self.wrong(
                        at,
                        what,
                        "docs/reference/oms-fields.md lists which tags it may name",
                    );
                }
                None => tags.push(tag),
            }
        }
        tags.extend(members(&tags));
        tags.sort_unstable();
        tags.dedup();
        tags
    }
}

/// The fields of the groups that these tags count, but for those that no setting drops.
fn members(counts: &[Tag]) -> Vec<Tag> {
    fn add(group: &GroupDef, all: &mut Vec<Tag>) {
        for member in group.members() {
            if why_not_dropped(member.tag).is_none() {
                all.push(member.tag);
            }
            if let Some(group) = &member.group {
                add(group, all);
            }
        }
    }
    let mut all = Vec::new();
    if counts.is_empty() {
        return all;
    }
    for version in VERSIONS {
        let dictionary = Dictionary::built_in(version);
        for msg_type in REQUESTS {
            let groups = counts
                .iter()
                .filter_map(|count| dictionary.group(msg_type.as_bytes(), *count));
            groups.for_each(|group| add(group, &mut all));
        }
    }
    all
}
