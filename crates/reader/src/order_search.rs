//! [`OrderSearch`]: finds the messages of an order, under all of its ids.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::BuildHasherDefault;

use fixwire_protocol::value::uint;

use crate::entry::{LogEntry, LogPlace};
use crate::field::fields;
use crate::index_choice::BlockChoice;
use crate::index_key::{IdKind, pair};
use crate::index_record::KeyHasher;
use crate::order_lives::OrderLinks;
use crate::order_step::{OrderFields, OrderStep, is_name};

/// Maximum number of ids that are collected.
const MOST_IDS: usize = 10_000;
/// Maximum number of messages that are collected.
const MOST_STEPS: usize = 100_000;
/// Maximum number of bytes of the messages that are collected.
const MOST_BYTES: usize = 64 << 20;

/// Finds the messages of an order: the messages with one of its ids, and the rejects of these messages. Other ids in a
/// message of the order belong to the order too. The logs are therefore read again until no new id is found.
///
/// An id belongs to an order from the message that introduces it, and only within one session. The same id on another
/// day or in another session belongs to another order. Both sides of a gateway are linked by the records of its
/// journal; without a journal, by OrderID(37), SecondaryOrderID(198) and ids that the gateway did not change.
///
/// ```text
/// loop {
///     search.begin();
///     for each message { search.look(&entry) }
///     if !search.finish() { break }    // with indexes: and the blocks did not grow
/// }
/// search.lives()
/// ```
#[derive(Clone, Debug)]
pub struct OrderSearch {
    asked: Vec<u8>,
    ids: BTreeSet<(IdKind, Vec<u8>)>,
    /// Hashes of the ids.
    keys: HashSet<u64, BuildHasherDefault<KeyHasher>>,
    /// MsgSeqNums of the collected messages, by sender and target.
    numbers: BTreeMap<u64, BTreeSet<u64>>,
    steps: Vec<OrderStep>,
    bytes: usize,
    lives: Vec<FoundLife>,
    is_cut: bool,
    has_more: bool,
    choice: BlockChoice,
}

/// The messages of an order, by index, and its ids.
#[derive(Clone, Debug)]
struct FoundLife {
    steps: Vec<usize>,
    ids: Vec<Vec<u8>>,
}

/// An order that had the id of the search.
#[derive(Clone, Debug)]
pub struct FoundOrder<'s> {
    /// Messages of the order, in the order in which they were read.
    pub steps: Vec<&'s OrderStep>,
    /// Ids of the order: ClOrdIDs and OrderIDs.
    pub ids: &'s [Vec<u8>],
}

impl OrderSearch {
    /// Searches for the order with this ClOrdID or OrderID.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let asked = id.as_bytes().to_vec();
        let mut search = Self {
            ids: BTreeSet::new(),
            keys: HashSet::default(),
            numbers: BTreeMap::new(),
            steps: Vec::new(),
            bytes: 0,
            lives: Vec::new(),
            is_cut: false,
            has_more: false,
            choice: BlockChoice::default(),
            asked: asked.clone(),
        };
        for kind in [IdKind::Client, IdKind::Order] {
            search.add(kind, &asked);
        }
        search
    }

    /// The blocks of indexed logs that may have messages of the order.
    #[must_use]
    pub fn blocks(&self) -> &BlockChoice {
        &self.choice
    }

    /// Must be called before each pass over the logs.
    pub fn begin(&mut self) {
        self.numbers.clear();
        self.steps.clear();
        self.bytes = 0;
        self.is_cut = false;
    }

    /// Processes a message of the logs. Keeps it if it may belong to the order.
    pub fn look(&mut self, entry: &LogEntry<'_>) {
        let mut belongs = false;
        let [mut sender, mut target, mut number, mut msg_type, mut refers] = [None::<&[u8]>; 5];
        let mut is_duplicate = false;
        for (tag, value) in fields(entry.bytes) {
            let first = match tag {
                34 => &mut number,
                35 => &mut msg_type,
                45 => &mut refers,
                49 => &mut sender,
                56 => &mut target,
                43 => {
                    is_duplicate = value == b"Y";
                    continue;
                }
                11 | 41 | 526 | 37 | 198 | 19 => {
                    let kind = IdKind::of(tag);
                    belongs |= kind.is_some_and(|kind| self.keys.contains(&kind.key(value)))
                        && is_name(value);
                    continue;
                }
                _ => continue,
            };
            first.get_or_insert(value);
        }
        if !belongs && self.numbers.is_empty() {
            return;
        }
        let (sender, target) = (sender.unwrap_or_default(), target.unwrap_or_default());
        if !belongs && matches!(msg_type, Some(b"3" | b"j")) {
            let rejected = refers.and_then(|number| uint(number).ok());
            let numbers = self.numbers.get(&pair(target, sender));
            belongs = rejected.is_some_and(|it| numbers.is_some_and(|all| all.contains(&it)));
        }
        if belongs {
            self.keep(entry);
        }
        if let Some(number) = number.and_then(|number| uint(number).ok()) {
            let ends = pair(sender, target);
            if belongs {
                self.numbers.entry(ends).or_default().insert(number);
            } else if let Some(of_sender) = self.numbers.get_mut(&ends)
                && !is_duplicate
            {
                // After a reset, the MsgSeqNum belongs to another message.
                of_sender.remove(&number);
            }
        }
    }

    fn keep(&mut self, entry: &LogEntry<'_>) {
        let bytes = self.bytes + entry.bytes.len();
        if self.steps.len() == MOST_STEPS || bytes > MOST_BYTES {
            self.is_cut = true;
            return;
        }
        self.bytes = bytes;
        self.steps.push(OrderStep::new(entry));
    }

    /// Must be called after each pass over the logs. Returns true when more ids of the order were found, so that
    /// another pass is needed.
    pub fn finish(&mut self) -> bool {
        // The first messages of a connection that was open before its capture are held back for a while. Logs of
        // several writers are sorted only within each log.
        let is_packet = |step: &OrderStep| matches!(step.place, LogPlace::Packet { .. });
        let are_several = self
            .steps
            .windows(2)
            .any(|pair| pair[0].file != pair[1].file);
        let have_times = self.steps.iter().all(|step| step.time.is_some());
        if self.steps.iter().any(is_packet) || (are_several && have_times) {
            self.steps.sort_by_key(|step| step.time);
        }
        let links = OrderLinks::of(&self.steps);
        let mut has_new = false;
        let lives = links.lives(&self.asked);
        for life in &lives {
            for (kind, id) in &life.ids {
                has_new |= self.add(*kind, id);
            }
        }
        let lives = lives.into_iter().map(|life| FoundLife {
            steps: life.steps,
            ids: life
                .ids
                .into_iter()
                .filter(|(kind, _)| *kind != IdKind::Execution)
                .map(|(_, id)| id)
                .collect(),
        });
        let lives: Vec<FoundLife> = lives.collect();
        let steps = std::mem::take(&mut self.steps);
        for step in lives
            .iter()
            .flat_map(|life| &life.steps)
            .map(|at| &steps[*at])
        {
            for (kind, id) in &step.related {
                has_new |= self.add(*kind, id);
            }
            let fields = OrderFields::of(&step.bytes);
            if let Some(number) = fields.number {
                self.choice.add_number(fields.sender, fields.target, number);
            }
        }
        self.steps = steps;
        self.lives = lives;
        self.has_more = has_new;
        has_new
    }

    fn add(&mut self, kind: IdKind, id: &[u8]) -> bool {
        let is_new = self.ids.len() < MOST_IDS && self.ids.insert((kind, id.to_vec()));
        if is_new {
            self.keys.insert(kind.key(id));
            self.choice.add_id(kind, id);
        }
        is_new
    }

    /// Each order that had the id, the earliest first.
    pub fn lives(&self) -> impl Iterator<Item = FoundOrder<'_>> {
        self.lives.iter().map(|life| {
            let steps = life.steps.iter().map(|at| &self.steps[*at]);
            FoundOrder {
                // A dequeued message was already returned when it arrived.
                steps: steps.filter(|step| step.mark != "dequeued").collect(),
                ids: &life.ids,
            }
        })
    }

    /// Whether the last pass found ids that it did not search for. If so, the order may have more messages.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Whether the limit of 100,000 messages or 64 MiB was reached.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}
