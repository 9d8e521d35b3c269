//! `drop`: fields of requests that do not reach the venue, and that users or line groups may have nevertheless.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{GroupDef, Version};
use fixwire_protocol::{Dictionary, Tag};
use fixwire_text::{Diagnostic, TomlValue};

use super::Reader;
use crate::values::field_table::{REQUESTS, why_not_dropped};

/// The versions that clients speak.
const VERSIONS: [Version; 3] = [Version::Fix42, Version::Fix44, Version::Fix50Sp2];

/// Tags as settings have them.
pub(super) fn tags(tags: &[Tag]) -> String {
    let tags: Vec<String> = tags.iter().map(Tag::to_string).collect();
    tags.join(" ")
}

impl Reader<'_> {
    /// `drop = [58, 453]`: the tags, with those of the groups that they count, in their order.
    pub(super) fn drop(&mut self, value: TomlValue<'_>) -> Result<Vec<Tag>, Diagnostic> {
        const WHAT: &str = "drop must be a list of tags";
        const HINT: &str = "write the tags of the fields: drop = [58, 376]";
        let Some(items) = value.numbers() else {
            return Err(value.wrong(WHAT, HINT));
        };
        let mut tags = Vec::new();
        for (at, tag) in items {
            let tag = tag.and_then(|tag| Tag::try_from(tag).ok());
            let Some(tag) = tag.filter(|tag| (1..=99_999).contains(tag)) else {
                self.wrong(at, WHAT, HINT);
                continue;
            };
            match why_not_dropped(tag) {
                Some(why) => {
                    let what = format!("drop cannot name tag {tag}: {why}");
                    let hint = "docs/reference/oms-fields.md lists which tags it may name";
                    self.wrong(at, what, hint);
                }
                None => tags.push(tag),
            }
        }
        tags.extend(members(&tags));
        tags.sort_unstable();
        tags.dedup();
        Ok(tags)
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
