//! Compares the answers to orders with the recorded ones.

use std::collections::{BTreeMap, HashMap, VecDeque};

use fixwire_protocol::{Message, Tag};

/// Number of orders that are compared; orders beyond this number are only counted.
const MOST_ORDERS: usize = 1_000_000;

/// Fields that differ in every replay: session fields, and ids and times that the counterparty sets.
const OWN: [Tag; 31] = [
    8, 9, 10, 34, 35, 43, 49, 50, 52, 56, 57, 60, 75, 97, 115, 116, 122, 128, 129, 142, 143, 144,
    145, 369, 37, 198, 17, 19, 527, 880, 1003,
];
/// Fields that refer to another message by MsgSeqNum(34).
const REFERENCES: [Tag; 2] = [45, 379];

/// A message that answers an order, reduced to the compared fields.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReplayAnswer {
    /// MsgType(35).
    pub msg_type: Vec<u8>,
    /// OrderID(37).
    pub order_id: Vec<u8>,
    /// Values of the compared fields, in the order of the message.
    pub fields: BTreeMap<Tag, Vec<Vec<u8>>>,
}

impl ReplayAnswer {
    /// The compared fields of a message.
    #[must_use]
    pub fn of(message: &Message<'_>) -> Self {
        let mut fields: BTreeMap<Tag, Vec<Vec<u8>>> = BTreeMap::new();
        for field in message.fields() {
            if !OWN.contains(&field.tag) && !REFERENCES.contains(&field.tag) {
                let values = fields.entry(field.tag).or_default();
                values.push(message.value(*field).to_vec());
            }
        }
        Self {
            msg_type: message.msg_type().to_vec(),
            order_id: message.get(37).unwrap_or_default().to_vec(),
            fields,
        }
    }
}

/// A kind of difference.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum DifferenceKind {
    /// The record has answers to the order, but none was received.
    NotAnswered,
    /// Fewer answers were received than recorded.
    AnswersMissing,
    /// More answers were received than recorded.
    MoreAnswers,
    /// An answer has a different MsgType(35).
    MsgType,
    /// An answer has a different value in this field, or only one of the two answers has the field.
    Field(Tag),
}

/// A difference.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// The recorded ClOrdID(11) of the order.
    pub id: Vec<u8>,
    /// The position of the answer among the answers to the order, from 1.
    pub answer: u64,
    /// Kind of the difference.
    pub kind: DifferenceKind,
    /// The recorded value, or the number of recorded answers.
    pub recorded: Vec<u8>,
    /// The value now, or the number of received answers.
    pub now: Vec<u8>,
}

/// Counts of a [`ReplayComparison`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ComparisonCounts {
    /// Orders (ClOrdIDs) that were sent.
    pub orders: u64,
    /// Orders that have an answer.
    pub answered: u64,
    /// Orders whose answers differ from the recorded ones.
    pub different: u64,
    /// Messages that were sent for orders beyond the number of compared orders.
    pub uncompared: u64,
}

/// Pairs the received answers of each ClOrdID(11) with the recorded ones: the first with the first, and so on.
#[derive(Debug, Default)]
pub struct ReplayComparison {
    orders: HashMap<Vec<u8>, ReplayedOrder>,
    /// The OrderID(37) of the counterparty now, by the recorded OrderID.
    order_ids: HashMap<Vec<u8>, Vec<u8>>,
    /// Fields that are not compared, in addition to the fields that always differ.
    ignored: Vec<Tag>,
    examples_max: usize,
    counts: ComparisonCounts,
    /// Recorded answers that have no received counterpart yet.
    waiting: u64,
    /// Number of occurrences of each difference.
    pub kinds: BTreeMap<DifferenceKind, u64>,
    /// The first differences.
    pub examples: Vec<Difference>,
    /// Number of messages sent, by MsgType(35).
    pub sent: BTreeMap<Vec<u8>, u64>,
    /// Number of messages received, by MsgType(35).
    pub received: BTreeMap<Vec<u8>, u64>,
    /// Recorded messages that a session cannot send, for example because a field is empty.
    pub unsendable: u64,
}

#[derive(Debug, Default)]
struct ReplayedOrder {
    recorded: VecDeque<ReplayAnswer>,
    now: VecDeque<ReplayAnswer>,
    compared: u64,
    is_answered: bool,
    differs: bool,
}

impl ReplayComparison {
    /// A comparison that keeps at most `examples_max` differences. Fields in `ignored` are not compared.
    #[must_use]
    pub fn new(examples_max: usize, ignored: Vec<Tag>) -> Self {
        Self {
            examples_max,
            ignored,
            ..Self::default()
        }
    }

    /// The counts.
    #[must_use]
    pub fn counts(&self) -> ComparisonCounts {
        self.counts
    }

    /// Whether each order has as many answers as recorded.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.waiting == 0 && self.unanswered() == 0
    }

    /// Number of orders without an answer.
    #[must_use]
    pub fn unanswered(&self) -> u64 {
        self.counts.orders - self.counts.answered
    }

    /// The counterparty's OrderID(37) that corresponds to a recorded one.
    pub(crate) fn order_id(&self, recorded: &[u8]) -> Option<&[u8]> {
        self.order_ids.get(recorded).map(Vec::as_slice)
    }

    pub(crate) fn add_sent(&mut self, msg_type: &[u8], id: &[u8]) {
        count(&mut self.sent, msg_type);
        if id.is_empty() || self.orders.contains_key(id) {
            return;
        }
        if self.orders.len() >= MOST_ORDERS {
            self.counts.uncompared += 1;
            return;
        }
        self.orders.insert(id.to_vec(), ReplayedOrder::default());
        self.counts.orders += 1;
    }

    /// Adds a recorded answer.
    pub(crate) fn add_recorded(&mut self, id: &[u8], answer: ReplayAnswer) {
        if let Some(order) = self.orders.get_mut(id) {
            order.recorded.push_back(answer);
            self.waiting += 1;
            self.pair(id);
        }
    }

    /// Adds a received message; `id` is the recorded ClOrdID of the order that the message answers.
    pub(crate) fn add_received(
        &mut self,
        msg_type: &[u8],
        id: Option<&[u8]>,
        answer: ReplayAnswer,
    ) {
        count(&mut self.received, msg_type);
        let Some(id) = id else {
            return;
        };
        let Some(order) = self.orders.get_mut(id) else {
            return;
        };
        if !order.is_answered {
            order.is_answered = true;
            self.counts.answered += 1;
        }
        order.now.push_back(answer);
        self.pair(id);
    }

    /// Compares the answers of an order for which both the recorded and the received one are known.
    fn pair(&mut self, id: &[u8]) {
        let Some(order) = self.orders.get_mut(id) else {
            return;
        };
        let mut found = Vec::new();
        while let (Some(recorded), Some(now)) = (order.recorded.front(), order.now.front()) {
            order.compared += 1;
            let at = order.compared;
            found.extend(
                differences(recorded, now, &self.ignored).map(|(kind, recorded, now)| Difference {
                    id: id.to_vec(),
                    answer: at,
                    kind,
                    recorded,
                    now,
                }),
            );
            let [old, new] = [&recorded.order_id, &now.order_id];
            if !old.is_empty() && old != b"NONE" && !self.order_ids.contains_key(old) {
                self.order_ids.insert(old.clone(), new.clone());
            }
            order.recorded.pop_front();
            order.now.pop_front();
            self.waiting -= 1;
        }
        for difference in found {
            self.note(difference);
        }
    }

    fn note(&mut self, difference: Difference) {
        if let Some(order) = self.orders.get_mut(&difference.id)
            && !order.differs
        {
            order.differs = true;
            self.counts.different += 1;
        }
        *self.kinds.entry(difference.kind.clone()).or_default() += 1;
        if self.examples.len() < self.examples_max {
            self.examples.push(difference);
        }
    }

    /// Counts the answers without a counterpart as differences. Nothing may be sent or received after this call.
    pub fn finish(&mut self) {
        let mut left = Vec::new();
        for (id, order) in &mut self.orders {
            let (recorded, now) = (order.recorded.len(), order.now.len());
            let kind = match (recorded, now) {
                (0, 0) => continue,
                (0, _) => DifferenceKind::MoreAnswers,
                _ if !order.is_answered => DifferenceKind::NotAnswered,
                _ => DifferenceKind::AnswersMissing,
            };
            let total = |left: usize| (order.compared + left as u64).to_string().into_bytes();
            left.push(Difference {
                id: id.clone(),
                answer: order.compared + 1,
                kind,
                recorded: total(recorded),
                now: total(now),
            });
            order.recorded.clear();
            order.now.clear();
        }
        self.waiting = 0;
        left.sort_by(|one, other| one.id.cmp(&other.id));
        for difference in left {
            self.note(difference);
        }
    }
}

fn count(counts: &mut BTreeMap<Vec<u8>, u64>, msg_type: &[u8]) {
    if let Some(count) = counts.get_mut(msg_type) {
        *count += 1;
    } else if counts.len() < 1_000 {
        counts.insert(msg_type.to_vec(), 1);
    }
}

fn differences<'a>(
    recorded: &'a ReplayAnswer,
    now: &'a ReplayAnswer,
    ignored: &'a [Tag],
) -> impl Iterator<Item = (DifferenceKind, Vec<u8>, Vec<u8>)> {
    let types = (recorded.msg_type != now.msg_type).then(|| {
        let types = (recorded.msg_type.clone(), now.msg_type.clone());
        (DifferenceKind::MsgType, types.0, types.1)
    });
    let tags = recorded.fields.keys().chain(now.fields.keys());
    let tags: std::collections::BTreeSet<Tag> = tags.copied().collect();
    let fields = tags.into_iter().filter(|tag| !ignored.contains(tag));
    let fields = fields.filter_map(move |tag| {
        let values = |answer: &ReplayAnswer| answer.fields.get(&tag).map(|all| all.join(&b','));
        let (old, new) = (values(recorded), values(now));
        let differs = old != new;
        let kind = DifferenceKind::Field(tag);
        differs.then(|| (kind, old.unwrap_or_default(), new.unwrap_or_default()))
    });
    types.into_iter().chain(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: &str) -> ReplayAnswer {
        let fields = [(39, vec![status.as_bytes().to_vec()])];
        ReplayAnswer {
            msg_type: b"8".to_vec(),
            order_id: b"O".to_vec(),
            fields: fields.into_iter().collect(),
        }
    }

    #[test]
    fn each_kind_of_difference_is_found() {
        let mut comparison = ReplayComparison::new(10, Vec::new());
        for id in [b"A", b"B", b"C", b"D", b"E"] {
            comparison.add_sent(b"D", id);
            comparison.add_recorded(id, answer("0"));
        }
        assert!(!comparison.is_complete());
        comparison.add_received(b"8", Some(b"A"), answer("0"));
        comparison.add_received(b"8", Some(b"B"), answer("8"));
        comparison.add_received(b"8", Some(b"C"), answer("0"));
        comparison.add_received(b"8", Some(b"C"), answer("2"));
        comparison.add_received(b"8", Some(b"D"), answer("0"));
        comparison.add_recorded(b"D", answer("2"));
        comparison.add_received(b"8", None, answer("0"));
        comparison.add_received(b"8", Some(b"unknown"), answer("0"));
        comparison.finish();
        let counts = comparison.counts();
        assert_eq!(
            (counts.orders, counts.answered, counts.different),
            (5, 4, 4)
        );
        let kinds: Vec<_> = comparison.kinds.into_iter().collect();
        assert_eq!(
            kinds,
            [
                (DifferenceKind::NotAnswered, 1),
                (DifferenceKind::AnswersMissing, 1),
                (DifferenceKind::MoreAnswers, 1),
                (DifferenceKind::Field(39), 1),
            ]
        );
        let first = &comparison.examples[0];
        assert_eq!(
            (&first.id[..], &first.recorded[..], &first.now[..]),
            (&b"B"[..], &b"0"[..], &b"8"[..])
        );
        assert_eq!(comparison.received[&b"8"[..]], 7);
    }
}
