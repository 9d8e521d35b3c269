//! The keys `report_carry` of a line group and `report_drop` of a user or a drop copy: fields of venues' reports.

use alloc::format;

use fixwire_protocol::Tag;
use fixwire_text::{Diagnostic, TomlValue};

use super::Reader;
use crate::values::fields::contract::TAGS;
use crate::values::fields::report_tags::{ReportKey, ReportTags, why_not_in_reports};

/// Reads `report_carry = [9730]`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tags: &mut ReportTags,
    key: ReportKey,
    value: TomlValue<'_>,
) -> Result<(), Diagnostic> {
    let name = key.name();
    let what = format!("{name} must be a list of tags");
    let hint = format!("write the tags of the fields: {name} = [9730, 20050]");
    let Some(items) = value.numbers() else {
        return Err(value.wrong(what, hint));
    };
    for (at, tag) in items {
        let tag = tag.and_then(|tag| Tag::try_from(tag).ok());
        let Some(tag) = tag.filter(|tag| TAGS.contains(tag)) else {
            reader.wrong(at, &*what, &*hint);
            continue;
        };
        if let Some(why) = why_not_in_reports(key, tag) {
            let what = format!("{name} cannot name tag {tag}: {why}");
            let hint = "docs/reference/oms-fields.md lists the fields of venues' reports";
            reader.wrong(at, what, hint);
        } else if !tags.add(tag) {
            reader.wrong(at, format!("{name} names tag {tag} twice"), "name it once");
        }
    }
    Ok(())
}
