//! [`OrderSearch`]: the messages of one order, whatever ids it had.

use std::collections::{BTreeMap, BTreeSet};

use fixwire_protocol::value::uint;
use fixwire_protocol::{SOH, Tag};

use crate::entry::LogEntry;
use crate::index_choice::BlockChoice;
use crate::index_key::IdKind;

/// Ids that are collected, at most.
const MOST_IDS: usize = 10_000;

/// Finds the messages of an order: those with one of its ids, and rejects of these messages. The ids that such a message
/// has are ids of the order too, so logs are read again until none is new.
#[derive(Clone, Debug)]
pub struct OrderSearch {
    ids: BTreeSet<(IdKind, Vec<u8>)>,
    /// MsgSeqNums of the order's messages, by sender and target.
    numbers: BTreeMap<(Vec<u8>, Vec<u8>), BTreeSet<u64>>,
    has_new: bool,
    choice: BlockChoice,
}

impl OrderSearch {
    /// Of the order with this ClOrdID or OrderID.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let id = id.as_bytes();
        let kinds = [IdKind::Client, IdKind::Order];
        let choice = BlockChoice::default();
        kinds.iter().for_each(|kind| choice.add_id(*kind, id));
        Self {
            ids: kinds.into_iter().map(|kind| (kind, id.to_vec())).collect(),
            numbers: BTreeMap::new(),
            has_new: false,
            choice,
        }
    }

    /// The blocks of indexed logs that may have messages of the order.
    #[must_use]
    pub fn blocks(&self) -> &BlockChoice {
        &self.choice
    }

    /// Before the logs are read, each time.
    pub fn begin(&mut self) {
        self.numbers.clear();
        self.has_new = false;
    }

    /// Whether an id was found since then, so that messages before it may belong to the order.
    #[must_use]
    pub fn has_new(&self) -> bool {
        self.has_new
    }

    /// Whether a message belongs to the order, as far as its ids are known.
    pub fn belongs(&mut self, entry: &LogEntry<'_>) -> bool {
        let mut found = Vec::new();
        let mut is_report = false;
        let mut reference = None;
        for field in entry.bytes.split(|byte| *byte == SOH) {
            let Some(equals) = field.iter().take(4).position(|byte| *byte == b'=') else {
                continue;
            };
            let value = &field[equals + 1..];
            match &field[..equals] {
                b"35" => is_report = value == b"8",
                b"11" | b"41" | b"526" => found.push((IdKind::Client, value, true)),
                b"37" | b"198" => found.push((IdKind::Order, value, true)),
                // Other messages have an ExecID as well, of executions of others.
                b"17" if is_report => found.push((IdKind::Execution, value, false)),
                b"19" => found.push((IdKind::Execution, value, true)),
                b"45" => reference = uint(value).ok(),
                _ => {}
            }
        }
        let is_name = |value: &[u8]| !value.is_empty() && value != b"NONE" && value != b"0";
        found.retain(|(_, value, _)| is_name(value));
        let is_known = |(kind, value, links): &(IdKind, &[u8], bool)| {
            *links && self.ids.contains(&(*kind, value.to_vec()))
        };
        let belongs = found.iter().any(is_known);
        let key = |from: Tag, to: Tag| {
            let text = |tag| entry.get(tag).unwrap_or_default().to_vec();
            (text(from), text(to))
        };
        if belongs {
            for (kind, value, _) in found {
                if self.ids.len() < MOST_IDS && self.ids.insert((kind, value.to_vec())) {
                    self.has_new = true;
                    self.choice.add_id(kind, value);
                }
            }
        }
        let number = entry.get(34).and_then(|number| uint(number).ok());
        if let Some(number) = number.filter(|_| belongs || !self.numbers.is_empty()) {
            let of_sender = self.numbers.entry(key(49, 56)).or_default();
            if belongs {
                if of_sender.insert(number) {
                    let text = |tag| entry.get(tag).unwrap_or_default();
                    self.choice.add_number(text(49), text(56), number);
                }
            } else if entry.get(43) != Some(b"Y") {
                // The number of another message now, after a reset.
                of_sender.remove(&number);
            }
        }
        let rejects = matches!(entry.get(35), Some(b"3" | b"j"));
        belongs
            || rejects
                && reference.is_some_and(|number| {
                    let rejected = self.numbers.get(&key(56, 49));
                    rejected.is_some_and(|numbers| numbers.contains(&number))
                })
    }
}
