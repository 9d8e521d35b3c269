//! [`OrderStep`]: a message that may belong to an order, with the fields that identify orders.

use std::collections::HashSet;

use fixwire_journal::Direction;
use fixwire_protocol::Timestamp;
use fixwire_protocol::value::uint;

use crate::entry::{LogEntry, LogPlace};
use crate::field::fields;
use crate::index_key::IdKind;

/// Maximum number of ids that are read from a message for one tag.
const MOST_VALUES: usize = 100_000;

/// A message of an order.
#[derive(Clone, Debug)]
pub struct OrderStep {
    /// File of the message, as in [`LogEntry::file`].
    pub file: String,
    /// Position of the message in the file.
    pub place: LogPlace,
    /// The time at which the message was written, received or sent; `None` when unknown.
    pub time: Option<Timestamp>,
    /// The message as it was sent; secrets are not masked.
    pub bytes: Vec<u8>,
    /// The status that the journal gives to the message.
    pub mark: &'static str,
    /// Whether the message caused the other messages of its journal record.
    pub(crate) is_cause: bool,
    /// Ids of the messages that caused this one, or that this one caused.
    pub(crate) related: Vec<(IdKind, Vec<u8>)>,
}

impl OrderStep {
    pub(crate) fn new(entry: &LogEntry<'_>) -> Self {
        let part = OrderPart::of(entry.get(35).unwrap_or_default());
        let mut related = Vec::new();
        for other in entry.related() {
            let fields = OrderFields::of(other);
            if fields.part.goes_with(part) {
                related.extend(fields.ids().map(|(kind, id)| (kind, id.to_vec())));
            }
        }
        let is_record = matches!(entry.place, LogPlace::Journal { .. });
        Self {
            file: entry.file.to_owned(),
            place: entry.place,
            time: entry.time().0,
            bytes: entry.bytes.to_vec(),
            mark: entry.mark,
            is_cause: is_record && entry.direction() == Some(Direction::In),
            related,
        }
    }

    /// Whether the journal marks the message as a copy of an earlier one, or as ignored by the session.
    pub(crate) fn is_repeat(&self) -> bool {
        matches!(
            self.mark,
            "duplicate" | "ignored" | "resent" | "gap fill" | "dequeued"
        )
    }
}

/// The effect of a message on an order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum OrderPart {
    /// Opens one or more orders.
    Opens,
    /// Requests a cancel or replace, with a ClOrdID of its own.
    Changes,
    /// Reports on an order.
    Answers,
    /// Rejects a message, which it identifies by MsgSeqNum.
    Rejects,
    /// Only mentions orders.
    #[default]
    Names,
}

impl OrderPart {
    pub(crate) fn of(msg_type: &[u8]) -> Self {
        match msg_type {
            b"D" | b"E" | b"AB" | b"s" => Self::Opens,
            b"F" | b"G" | b"AC" | b"t" | b"u" => Self::Changes,
            b"8" | b"9" => Self::Answers,
            b"3" | b"j" => Self::Rejects,
            _ => Self::Names,
        }
    }

    pub(crate) fn is_request(self) -> bool {
        matches!(self, Self::Opens | Self::Changes)
    }

    pub(crate) fn is_response(self) -> bool {
        matches!(self, Self::Answers | Self::Rejects)
    }

    /// Whether messages of this type may have several ClOrdIDs, each for an order of its own: lists, crosses, and
    /// messages that only refer to orders.
    fn has_several(msg_type: &[u8]) -> bool {
        matches!(msg_type, b"E" | b"s" | b"t" | b"u") || Self::of(msg_type) == Self::Names
    }

    /// Whether a gateway may have made one of two messages from the other: both are requests, or both are responses.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        self.is_request() && other.is_request() || self.is_response() && other.is_response()
    }
}

/// The fields that tell to which orders a message belongs. Placeholder values such as `NONE` are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderFields<'a> {
    pub(crate) part: OrderPart,
    pub(crate) sender: &'a [u8],
    pub(crate) target: &'a [u8],
    pub(crate) number: Option<u64>,
    /// SendingTime(52).
    pub(crate) sent: &'a [u8],
    /// OrigSendingTime(122).
    original_sent: &'a [u8],
    pub(crate) is_duplicate: bool,
    pub(crate) is_resend: bool,
    /// ClOrdID(11), without duplicates.
    pub(crate) client: Vec<&'a [u8]>,
    /// OrigClOrdID(41). A cross order has one for each of `client`.
    pub(crate) originals: Vec<&'a [u8]>,
    /// SecondaryClOrdID(526), if present.
    pub(crate) secondary: Option<&'a [u8]>,
    /// OrderID(37) and SecondaryOrderID(198).
    pub(crate) orders: Vec<&'a [u8]>,
    /// ExecID(17) of a report, if present.
    pub(crate) execution: Option<&'a [u8]>,
    /// ExecRefID(19), if present.
    pub(crate) refers: Option<&'a [u8]>,
    /// RefSeqNum(45) of a reject, if present.
    pub(crate) rejected: Option<u64>,
    /// Whether the message rejects the request with its ClOrdID: a report with OrdStatus(39) or ExecType(150) 8, or
    /// an OrderCancelReject(9).
    pub(crate) is_refusal: bool,
    /// ExecType(150) of a report; without it, OrdStatus(39).
    pub(crate) stage: Option<u8>,
}

impl<'a> OrderFields<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let mut types = fields(bytes).filter(|(tag, value)| *tag == 35 && !value.is_empty());
        let msg_type = types.next().map_or(&b""[..], |(_, value)| value);
        let most = if OrderPart::has_several(msg_type) {
            MOST_VALUES
        } else {
            1
        };
        let mut counts = [0; 4];
        let mut found = Self {
            part: OrderPart::of(msg_type),
            ..Self::default()
        };
        for (tag, value) in fields(bytes) {
            let text = match tag {
                49 => &mut found.sender,
                56 => &mut found.target,
                52 => &mut found.sent,
                122 => &mut found.original_sent,
                _ => {
                    let place = [11, 41, 37, 198].iter().position(|it| *it == tag);
                    if let Some(at) = place.filter(|_| is_name(value)) {
                        counts[at] += 1;
                        if counts[at] > most {
                            continue;
                        }
                    }
                    found.set(tag, value);
                    continue;
                }
            };
            if text.is_empty() {
                *text = value;
            }
        }
        for ids in [&mut found.client, &mut found.orders] {
            let mut seen = HashSet::new();
            ids.retain(|id| seen.insert(*id));
        }
        // In other messages, an ExecID belongs to another execution.
        found.execution = found.execution.filter(|_| msg_type == b"8");
        found.is_refusal = msg_type == b"9" || found.is_refusal && msg_type == b"8";
        found.stage = found.stage.filter(|_| msg_type == b"8");
        found.rejected = found.rejected.filter(|_| found.part == OrderPart::Rejects);
        found
    }

    fn set(&mut self, tag: u32, value: &'a [u8]) {
        match tag {
            34 => self.number = self.number.or_else(|| uint(value).ok()),
            43 => self.is_duplicate = value == b"Y",
            97 => self.is_resend = value == b"Y",
            39 | 150 => {
                self.is_refusal |= value == b"8";
                let is_first = tag == 150 || self.stage.is_none();
                if let [stage] = value
                    && is_first
                {
                    self.stage = Some(*stage);
                }
            }
            45 => self.rejected = self.rejected.or_else(|| uint(value).ok()),
            _ if !is_name(value) => {}
            11 => self.client.push(value),
            41 => self.originals.push(value),
            526 => self.secondary = self.secondary.or(Some(value)),
            37 | 198 => self.orders.push(value),
            17 => self.execution = self.execution.or(Some(value)),
            19 => self.refers = self.refers.or(Some(value)),
            _ => {}
        }
    }

    /// OrigSendingTime(122) of a possible duplicate. `None` if it equals SendingTime(52): a sender that does not know
    /// the original time repeats SendingTime.
    pub(crate) fn original_sent(&self) -> Option<&'a [u8]> {
        let is_known = self.is_duplicate && self.original_sent != self.sent;
        Some(self.original_sent).filter(|sent| is_known && !sent.is_empty())
    }

    /// Time at which the message was first sent.
    pub(crate) fn first_sent(&self) -> &'a [u8] {
        self.original_sent().unwrap_or(self.sent)
    }

    /// The first OrigClOrdID(41).
    pub(crate) fn original(&self) -> Option<&'a [u8]> {
        self.originals.first().copied()
    }

    /// Whether the message reports an order as New or Pending New.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.stage, Some(b'0' | b'A'))
    }

    /// Whether the message reports a later event of an order: an execution, a cancel or a replace.
    pub(crate) fn is_later(&self) -> bool {
        self.stage.is_some() && !self.is_new() && !self.is_refusal
    }

    /// All ids of the message.
    pub(crate) fn ids(&self) -> impl Iterator<Item = (IdKind, &'a [u8])> {
        let client = self.client.iter().chain(&self.originals).copied();
        let client = client.chain(self.secondary).map(|id| (IdKind::Client, id));
        let orders = self.orders.iter().map(|id| (IdKind::Order, *id));
        let executions = self.execution.into_iter().chain(self.refers);
        let executions = executions.map(|id| (IdKind::Execution, id));
        client.chain(orders).chain(executions)
    }
}

/// Whether a value can identify an order: it is not a placeholder.
pub(crate) fn is_name(value: &[u8]) -> bool {
    !value.is_empty() && value != b"NONE" && value != b"0"
}
