//! Number of fields that were dropped, by tag.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use fixwire_protocol::Tag;

use crate::values::fields::field_table::LOW;
use crate::values::ids::SessionNo;

/// Number of high tags with a separate count; all other high tags share one count.
const HIGH: usize = 256;

/// The owner of the contract that names a field: a user or a line group.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum ContractOf {
    User(SessionNo),
    /// A line group, by its index in the settings.
    Group(usize),
}

/// Number of fields that were dropped since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct DroppedFields {
    /// Fields of requests that `drop` names, by contract and tag.
    pub requests: BTreeMap<(ContractOf, Tag), u64>,
    /// Fields of venues' reports that clients do not get.
    pub reports: TagCounts,
}

/// Maximum number of MsgTypes and lines with a separate count.
const KINDS: usize = 256;

/// Number of messages of venues that the OMS does not use, since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct NotUsed {
    /// Counts by line and MsgType(35); an empty MsgType counts all messages above [`KINDS`].
    pub(crate) counts: BTreeMap<(SessionNo, Vec<u8>), u64>,
}

impl NotUsed {
    /// Counts a message; returns the number of such messages since the start.
    pub(crate) fn add(&mut self, line: SessionNo, msg_type: &[u8]) -> u64 {
        let mut kind = (line, msg_type.to_vec());
        if self.counts.len() >= KINDS && !self.counts.contains_key(&kind) {
            kind = (line, Vec::new());
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        *count
    }
}

/// Counts by tag, since the start of the process.
#[derive(Clone, Debug)]
pub(crate) struct TagCounts {
    pub(crate) low: Vec<u64>,
    /// Counts of high tags, in the order of the tags.
    pub(crate) high: Vec<(Tag, u64)>,
    pub(crate) others: u64,
}

impl Default for TagCounts {
    fn default() -> Self {
        Self {
            low: alloc::vec![0; LOW],
            high: Vec::with_capacity(HIGH),
            others: 0,
        }
    }
}

impl TagCounts {
    #[inline]
    pub(crate) fn add(&mut self, tag: Tag) {
        match self.low.get_mut(tag as usize) {
            Some(count) => *count += 1,
            None => self.add_high(tag),
        }
    }

    #[cold]
    fn add_high(&mut self, tag: Tag) {
        match self.high.binary_search_by_key(&tag, |(known, _)| *known) {
            Ok(at) => self.high[at].1 += 1,
            Err(_) if self.high.len() == HIGH => self.others += 1,
            Err(at) => self.high.insert(at, (tag, 1)),
        }
    }

    /// The counts as text, such as `58: 12, 851: 3`; empty if nothing was counted.
    pub(crate) fn text(&self) -> String {
        let low = (0..).zip(self.low.iter().copied());
        let all = low.chain(self.high.iter().copied());
        let mut text = String::new();
        for (tag, count) in all.filter(|(_, count)| *count > 0) {
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}{tag}: {count}");
        }
        if self.others > 0 {
            let _ = write!(text, ", other tags: {}", self.others);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_counted_low_and_high_and_beyond_the_room() {
        let mut counts = TagCounts::default();
        assert_eq!(counts.text(), "");
        for tag in [58, 851, 58, 20_001, 5000] {
            counts.add(tag);
        }
        assert_eq!(counts.text(), "58: 2, 851: 1, 5000: 1, 20001: 1");
        for tag in 30_000..30_300 {
            counts.add(tag);
        }
        assert!(counts.text().ends_with(", other tags: 46"));
    }
}
