//! The settings for fields of venues' reports, by tag: those that clients and drop copies get beside the fields of the
//! table, and those that a receiver does not get.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::dictionary::GroupDef;
use fixwire_protocol::{Dictionary, SessionId, Tag};

use super::field_table::{
    FieldClass, is_of_instrument, is_of_session_header, report_bit, report_field,
};
use crate::values::ids::{SessionNo, Table};

/// A key that names fields of venues' reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportKey {
    /// `report_carry` of a line group: clients and drop copies get the venue's field.
    Carry,
    /// `report_drop` of a user or a drop copy: the receiver does not get the field.
    Drop,
}

impl ReportKey {
    /// The key in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Carry => "report_carry",
            Self::Drop => "report_drop",
        }
    }
}

/// Fields that the OMS writes into reports where they apply, beside those that the table of fields calls set.
const WRITTEN: [Tag; 10] = [19, 198, 584, 797, 911, 912, 1180, 1181, 1350, 1352];

/// Why a key may not name a tag; `None` when it may name the tag.
#[must_use]
pub fn why_not_in_reports(key: ReportKey, tag: Tag) -> Option<&'static str> {
    if WRITTEN.contains(&tag) {
        return Some("the OMS reads or writes it itself");
    }
    let [in_8, in_9] =
        [b"8", b"9"].map(|it| report_field(tag, report_bit(it)).map(|row| row.class));
    match (in_8, key) {
        (Some(FieldClass::Passed), ReportKey::Drop) => None,
        (Some(FieldClass::Passed), ReportKey::Carry) => {
            Some("clients and drop copies get it in ExecutionReport(8) without this key")
        }
        _ => {
            let mut classes = in_8.into_iter().chain(in_9);
            classes.find_map(|class| why_not(class, tag))
        }
    }
}

/// Why no key may name a tag that has this class in a message.
fn why_not(class: FieldClass, tag: Tag) -> Option<&'static str> {
    match class {
        FieldClass::Session => Some("it belongs to the session layer"),
        FieldClass::Passed => None,
        FieldClass::Counted if is_of_session_header(tag) => {
            Some("each session has a header of its own")
        }
        FieldClass::Counted if is_of_instrument(tag) => {
            Some("clients know the instrument by Symbol(55)")
        }
        FieldClass::Counted => None,
        FieldClass::Carried
        | FieldClass::Set
        | FieldClass::Used
        | FieldClass::Checked(_)
        | FieldClass::Named
        | FieldClass::Instruction
        | FieldClass::Listed
        | FieldClass::Refused
        | FieldClass::Never => Some("the OMS reads or writes it itself"),
    }
}

/// Tags that a key names, in ascending order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReportTags(Vec<Tag>);

impl ReportTags {
    /// Whether the key names no tag.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the key names a tag.
    #[must_use]
    pub fn has(&self, tag: Tag) -> bool {
        self.0.binary_search(&tag).is_ok()
    }

    /// All tags, in ascending order.
    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        self.0.iter().copied()
    }

    /// These tags, and those of the members of groups that they count in the reports of a dictionary.
    pub(crate) fn with_groups(&self, dictionary: &Dictionary) -> Self {
        let mut all = self.clone();
        for tag in self.tags() {
            let groups = [b"8", b"9"].map(|msg_type| dictionary.group(msg_type, tag));
            for group in groups.into_iter().flatten() {
                all.add_members(group);
            }
        }
        all
    }

    fn add_members(&mut self, group: &GroupDef) {
        for member in group.members() {
            if why_not_in_reports(ReportKey::Carry, member.tag).is_none() {
                self.add(member.tag);
            }
            member
                .group
                .iter()
                .for_each(|group| self.add_members(group));
        }
    }

    /// Adds a tag; returns false when the key named it before.
    pub(crate) fn add(&mut self, tag: Tag) -> bool {
        let place = self.0.binary_search(&tag);
        if let Err(at) = place {
            self.0.insert(at, tag);
        }
        place.is_err()
    }

    /// The tags as text.
    #[must_use]
    pub fn text(&self) -> String {
        let tags: Vec<String> = self.tags().map(|tag| tag.to_string()).collect();
        tags.join(" ")
    }
}

/// No tag.
static NO_TAGS: ReportTags = ReportTags(Vec::new());

/// What the settings say of the fields of venues' reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportSettings {
    /// Lines whose ExecIDs(17) are passed on.
    pub exec_id_lines: Vec<SessionNo>,
    /// By line, the fields that are passed on beside those of the table; empty when no line group names any.
    pub carried: Table<SessionNo, ReportTags>,
    /// By session of the engine, the fields that its receiver does not get; empty when no receiver names any.
    pub dropped: Vec<ReportTags>,
}

impl ReportSettings {
    /// Whether the settings pass on a field of the reports of a line.
    #[inline]
    pub(crate) fn carries(&self, line: SessionNo, tag: Tag) -> bool {
        !self.carried.is_empty() && self.carried.get(line).is_some_and(|tags| tags.has(tag))
    }

    /// The fields that a receiver does not get.
    pub(crate) fn dropped_by(&self, receiver: SessionId) -> &ReportTags {
        self.dropped.get(receiver.0 as usize).unwrap_or(&NO_TAGS)
    }
}
