//! [`OpenOrders`]: orders and requests that have no answer yet, and pairs of messages that a gateway forwarded.
//!
//! Ids link messages as in [`OrderSearch`](crate::OrderSearch): a cancel or replace has the order's ClOrdID in
//! OrigClOrdID(41), and the reports on both sides of a gateway have the same OrderID(37) or SecondaryOrderID(198). A
//! journal record contains a message together with the messages that it caused.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use fixwire_journal::Direction;
use fixwire_protocol::SOH;

use crate::entry::{LogEntry, LogPlace};
use crate::latency::{Labels, LatencyKind, Names, Stamp, Tally};

/// Maximum number of ids of an order or a request.
const MOST_KEYS: usize = 64;
/// Maximum number of inbound reports per order that wait for the report forwarded by a gateway.
const MOST_REPORTS: usize = 4;
/// Maximum number of closed orders whose reports a gateway may still forward.
const MOST_ENDED: usize = 10_000;

/// The kind of an id; ids of different kinds never match.
#[derive(Clone, Copy, Debug, Hash)]
enum KeyKind {
    /// ClOrdID of an order, by sender and target.
    Order,
    /// ClOrdID of a cancel or replace, by sender and target.
    Change,
    /// MsgSeqNum, by sender and target.
    Number,
    /// ClOrdID of an order, cancel or replace that was not forwarded yet, whoever sent it.
    CameIn,
    /// OrderID and SecondaryOrderID, whoever sent them.
    OrderId,
}

fn key(kind: KeyKind, parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    parts.hash(&mut hasher);
    hasher.finish()
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RequestKind {
    New,
    Cancel,
    Replace,
}

/// The relevant fields.
#[derive(Clone, Copy, Debug, Default)]
struct Facts<'a> {
    msg_type: &'a [u8],
    number: &'a [u8],
    sender: &'a [u8],
    target: &'a [u8],
    cl_ord_id: &'a [u8],
    orig_cl_ord_id: &'a [u8],
    order_id: &'a [u8],
    secondary_order_id: &'a [u8],
    symbol: &'a [u8],
    exec_type: &'a [u8],
    trans_type: &'a [u8],
    status: &'a [u8],
    filled: &'a [u8],
    refers_to: &'a [u8],
    is_duplicate: bool,
}

impl<'a> Facts<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut facts = Self::default();
        for field in bytes.split(|byte| *byte == SOH) {
            let Some(equals) = field.iter().take(4).position(|byte| *byte == b'=') else {
                continue;
            };
            let value = &field[equals + 1..];
            let place = match &field[..equals] {
                b"35" => &mut facts.msg_type,
                b"34" => &mut facts.number,
                b"49" => &mut facts.sender,
                b"56" => &mut facts.target,
                b"11" => &mut facts.cl_ord_id,
                b"41" => &mut facts.orig_cl_ord_id,
                b"37" => &mut facts.order_id,
                b"198" => &mut facts.secondary_order_id,
                b"55" => &mut facts.symbol,
                b"150" => &mut facts.exec_type,
                b"20" => &mut facts.trans_type,
                b"39" => &mut facts.status,
                b"14" => &mut facts.filled,
                b"45" => &mut facts.refers_to,
                b"43" => {
                    facts.is_duplicate = value == b"Y";
                    continue;
                }
                _ => continue,
            };
            if place.is_empty() {
                *place = value;
            }
        }
        facts
    }

    /// The kind of request that the message is; `None` if it is not a request.
    fn request(&self) -> Option<RequestKind> {
        match self.msg_type {
            b"D" => Some(RequestKind::New),
            b"F" => Some(RequestKind::Cancel),
            b"G" => Some(RequestKind::Replace),
            _ => None,
        }
    }

    /// Whether the report is about a fill. Before FIX 4.3 this is ExecType(150) partial fill or fill; before FIX 4.1
    /// only OrdStatus(39) says it.
    fn is_fill(&self) -> bool {
        match self.exec_type {
            b"" => self.trans_type != b"1" && matches!(self.status, b"1" | b"2"),
            kind => matches!(kind, b"1" | b"2" | b"F"),
        }
    }

    /// Whether the report is Pending New, Pending Cancel or Pending Replace. A pending report is not the answer to a
    /// request.
    fn is_pending(&self) -> bool {
        match self.exec_type {
            b"" => matches!(self.status, b"A" | b"6" | b"E"),
            kind => matches!(kind, b"A" | b"6" | b"E"),
        }
    }

    /// Whether the report is not about a present event: it answers a status request, or it is a bust or a correction.
    fn is_of_another_time(&self) -> bool {
        matches!(self.exec_type, b"I" | b"G" | b"H")
            || matches!(self.trans_type, b"1" | b"2" | b"3")
    }
}

/// An inbound report that a gateway has not forwarded yet.
#[derive(Clone, Copy, Debug)]
struct WaitingReport {
    /// OrdStatus and CumQty.
    content: u64,
    stamp: Stamp,
    labels: Labels,
}

#[derive(Clone, Debug)]
struct OpenOrder {
    kind: RequestKind,
    stamp: Stamp,
    labels: Labels,
    direction: Option<Direction>,
    /// Hashes of sender and target, and the MsgSeqNum.
    ends: [u64; 3],
    keys: Vec<u64>,
    is_answered: bool,
    is_filled: bool,
    has_ended: bool,
    /// Whether the message that a gateway forwarded for this order or request was found.
    is_through: bool,
    /// The order on the other side of the gateway, if known.
    other_side: Option<u64>,
    /// The last inbound cancel or replace of the order, if any.
    change: Option<u64>,
    reports: Vec<WaitingReport>,
}

/// Open orders and requests.
#[derive(Clone, Debug)]
pub(crate) struct OpenOrders {
    limit: usize,
    /// The orders and requests, in the order of arrival.
    all: BTreeMap<u64, OpenOrder>,
    next: u64,
    by_key: HashMap<u64, u64>,
    ended: VecDeque<u64>,
    given_up: u64,
    /// The last inbound message, if it was an order or a request: its record, and its id here.
    cause: Option<(Stamp, u64)>,
}

impl OpenOrders {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            all: BTreeMap::new(),
            next: 0,
            by_key: HashMap::new(),
            ended: VecDeque::new(),
            given_up: 0,
            cause: None,
        }
    }

    pub(crate) fn given_up(&self) -> u64 {
        self.given_up
    }

    pub(crate) fn unanswered(&self) -> (u64, u64) {
        let waiting = self.all.values().filter(|open| !open.is_answered);
        waiting.fold((0, 0), |(orders, changes), open| match open.kind {
            RequestKind::New => (orders + 1, changes),
            _ => (orders, changes + 1),
        })
    }

    /// Processes a message. Returns true for an order, a request, a report or a reject.
    pub(crate) fn add(
        &mut self,
        entry: &LogEntry<'_>,
        names: &mut Names,
        tally: &mut Tally<'_>,
    ) -> bool {
        let repeats = matches!(
            entry.mark,
            "duplicate" | "ignored" | "resent" | "gap fill" | "dequeued"
        );
        let facts = Facts::of(entry.bytes);
        let is_wanted = matches!(
            facts.msg_type,
            b"D" | b"F" | b"G" | b"8" | b"9" | b"3" | b"j"
        );
        if repeats || facts.is_duplicate || !is_wanted {
            return false;
        }
        let stamp = Stamp {
            nanos: entry.time().0.map(|time| time.0),
            record: match entry.place {
                LogPlace::Journal { segment, offset } => {
                    Some((names.number(entry.file), segment, offset))
                }
                _ => None,
            },
        };
        let labels = Labels {
            session: names.number(&entry.session()),
            msg_type: names.number(&String::from_utf8_lossy(facts.msg_type)),
            symbol: names.number(&String::from_utf8_lossy(facts.symbol)),
        };
        let direction = entry.direction();
        match facts.request() {
            Some(kind) => self.request(kind, &facts, direction, stamp, labels, tally),
            None if matches!(facts.msg_type, b"3" | b"j") => self.reject(&facts, stamp, tally),
            None => self.report(&facts, direction, stamp, labels, tally),
        }
        true
    }

    fn find(&self, kind: KeyKind, parts: &[&[u8]]) -> Option<u64> {
        let id = *self.by_key.get(&key(kind, parts))?;
        self.all.contains_key(&id).then_some(id)
    }

    /// Registers an id of an order or a request.
    fn name(&mut self, id: u64, kind: KeyKind, parts: &[&[u8]]) {
        let Some(open) = self.all.get_mut(&id) else {
            return;
        };
        let key = key(kind, parts);
        if open.keys.len() < MOST_KEYS && self.by_key.insert(key, id) != Some(id) {
            open.keys.push(key);
        }
    }

    fn remove(&mut self, id: u64) {
        let Some(open) = self.all.remove(&id) else {
            return;
        };
        for key in open.keys {
            if self.by_key.get(&key) == Some(&id) {
                self.by_key.remove(&key);
            }
        }
    }

    fn request(
        &mut self,
        kind: RequestKind,
        facts: &Facts<'_>,
        direction: Option<Direction>,
        stamp: Stamp,
        mut labels: Labels,
        tally: &mut Tally<'_>,
    ) {
        let (from, to) = (facts.sender, facts.target);
        let ends = [from, to, facts.number].map(|text| key(KeyKind::Number, &[text]));
        let own = match kind {
            RequestKind::New => KeyKind::Order,
            _ => KeyKind::Change,
        };
        let parts = [from, to, facts.cl_ord_id];
        let known = self.find(own, &parts);
        if known.is_some_and(|id| self.all[&id].ends == ends) {
            // This is the same message, from another log.
            return;
        }
        let order = match kind {
            RequestKind::New => None,
            _ => self.find(KeyKind::Order, &[from, to, facts.orig_cl_ord_id]),
        };
        if let Some(order) = order.filter(|_| facts.symbol.is_empty()) {
            labels.symbol = self.all[&order].labels.symbol;
        }
        let id = self.next;
        self.next += 1;
        self.all.insert(
            id,
            OpenOrder {
                kind,
                stamp,
                labels,
                direction,
                ends,
                keys: Vec::with_capacity(4),
                is_answered: false,
                is_filled: false,
                has_ended: false,
                is_through: false,
                other_side: None,
                change: None,
                reports: Vec::new(),
            },
        );
        self.name(id, own, &parts);
        self.name(id, KeyKind::Number, &[from, to, facts.number]);
        if let Some(order) = order {
            self.name(order, KeyKind::Order, &parts);
        }
        self.pass_on(id, order, facts, tally);
        if direction != Some(Direction::Out) {
            self.name(id, KeyKind::CameIn, &[&[own as u8][..], facts.cl_ord_id]);
            self.cause = stamp.record.map(|_| (stamp, id));
            if let Some(order) = order.and_then(|order| self.all.get_mut(&order)) {
                order.change = Some(id);
            }
        }
        if self.all.len() > self.limit
            && let Some((&oldest, open)) = self.all.first_key_value()
        {
            self.given_up += u64::from(!open.has_ended);
            self.remove(oldest);
        }
    }

    /// Finds the inbound request that a gateway forwarded as this message.
    fn pass_on(&mut self, id: u64, order: Option<u64>, facts: &Facts<'_>, tally: &mut Tally<'_>) {
        let open = &self.all[&id];
        if open.direction == Some(Direction::In) {
            return;
        }
        let own = match open.kind {
            RequestKind::New => KeyKind::Order,
            _ => KeyKind::Change,
        };
        let cause = self
            .cause
            .filter(|(cause, _)| cause.record == open.stamp.record);
        let cause = cause.map(|(_, cause)| cause);
        let by_link = || {
            let other = self.all.get(&order?)?.other_side?;
            self.all.get(&other)?.change
        };
        let by_id = || self.find(KeyKind::CameIn, &[&[own as u8][..], facts.cl_ord_id]);
        let mut found = [cause, by_link(), by_id()].into_iter().flatten();
        if let Some(first) = found.find(|first| self.becomes(*first, id)) {
            self.link(first, id, tally);
        }
    }

    /// Whether a gateway may have made the second message from the first one.
    fn becomes(&self, first: u64, second: u64) -> bool {
        let (Some(one), Some(other)) = (self.all.get(&first), self.all.get(&second)) else {
            return false;
        };
        let in_the_middle = match (one.direction, other.direction) {
            (Some(Direction::In), Some(Direction::Out)) => true,
            (Some(Direction::Out), _) | (_, Some(Direction::In)) => false,
            _ => one.ends[1] == other.ends[0],
        };
        first != second
            && one.kind == other.kind
            && !one.is_through
            && !other.is_through
            && one.labels.session != other.labels.session
            && in_the_middle
    }

    fn link(&mut self, first: u64, second: u64, tally: &mut Tally<'_>) {
        let to = self.all[&second].stamp;
        for (id, other) in [(first, second), (second, first)] {
            if let Some(open) = self.all.get_mut(&id) {
                open.other_side = Some(other);
                open.is_through = true;
            }
        }
        let one = &self.all[&first];
        tally.count(LatencyKind::RequestThrough, one.labels, one.stamp, to);
    }

    /// Records that an order or a request was answered.
    fn answer(&mut self, id: u64, stamp: Stamp, tally: &mut Tally<'_>) {
        let Some(open) = self.all.get_mut(&id).filter(|open| !open.is_answered) else {
            return;
        };
        open.is_answered = true;
        let kind = match open.kind {
            RequestKind::New => LatencyKind::OrderToReport,
            RequestKind::Cancel => LatencyKind::CancelToAnswer,
            RequestKind::Replace => LatencyKind::ReplaceToAnswer,
        };
        tally.count(kind, open.labels, open.stamp, stamp);
        if open.kind != RequestKind::New {
            self.end(id);
        }
    }

    fn reject(&mut self, facts: &Facts<'_>, stamp: Stamp, tally: &mut Tally<'_>) {
        let parts = [facts.target, facts.sender, facts.refers_to];
        if let Some(id) = self.find(KeyKind::Number, &parts) {
            self.answer(id, stamp, tally);
            self.end(id);
        }
    }

    /// Records that an order is closed: from now on only forwarded messages are expected.
    fn end(&mut self, id: u64) {
        let Some(open) = self.all.get_mut(&id).filter(|open| !open.has_ended) else {
            return;
        };
        open.has_ended = true;
        self.ended.push_back(id);
        if self.ended.len() > MOST_ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.remove(oldest);
        }
    }

    fn report(
        &mut self,
        facts: &Facts<'_>,
        direction: Option<Direction>,
        stamp: Stamp,
        labels: Labels,
        tally: &mut Tally<'_>,
    ) {
        if facts.is_of_another_time() {
            return;
        }
        let is_report = facts.msg_type == b"8";
        let ids = [facts.cl_ord_id, facts.orig_cl_ord_id];
        let (from, to) = (facts.target, facts.sender);
        let mut orders = ids.into_iter().filter(|id| !id.is_empty());
        let order = orders.find_map(|id| self.find(KeyKind::Order, &[from, to, id]));
        if !facts.is_pending() {
            if let Some(change) = self.find(KeyKind::Change, &[from, to, facts.cl_ord_id]) {
                self.answer(change, stamp, tally);
            }
            if let Some(order) = order.filter(|_| is_report) {
                self.answer(order, stamp, tally);
            }
        }
        let Some(id) = order else {
            return;
        };
        let Some(open) = self.all.get_mut(&id) else {
            return;
        };
        if is_report && facts.is_fill() && !open.is_filled {
            open.is_filled = true;
            tally.count(LatencyKind::OrderToFill, open.labels, open.stamp, stamp);
        }
        self.through(id, facts, direction, stamp, labels, tally);
        if is_report && matches!(facts.status, b"2" | b"4" | b"8" | b"C") {
            self.end(id);
        }
    }

    /// Handles a report that a gateway may forward.
    fn through(
        &mut self,
        id: u64,
        facts: &Facts<'_>,
        direction: Option<Direction>,
        stamp: Stamp,
        labels: Labels,
        tally: &mut Tally<'_>,
    ) {
        let content = key(
            KeyKind::OrderId,
            &[facts.msg_type, facts.status, facts.filled],
        );
        let is_id = |id: &&&[u8]| !matches!(**id, b"" | b"NONE" | b"0");
        let order_ids = [facts.order_id, facts.secondary_order_id];
        if direction != Some(Direction::In) {
            let cause = self.cause.filter(|(cause, _)| cause.record == stamp.record);
            let by_record = stamp.record.and(cause).map(|(_, cause)| cause);
            let ids = order_ids.iter().filter(is_id);
            let by_ids = ids.filter_map(|order| self.find(KeyKind::OrderId, &[order]));
            let mut found = by_record.into_iter().chain(by_ids);
            if let Some(other) = found.find(|other| self.becomes(id, *other)) {
                self.link(id, other, tally);
            }
            let other = self.all[&id].other_side;
            if let Some(other) = other.and_then(|other| self.all.get_mut(&other)) {
                let mut reports = other.reports.iter();
                if let Some(at) = reports.position(|report| report.content == content) {
                    let came = other.reports[at];
                    other.reports.drain(..=at);
                    tally.count(LatencyKind::ReportThrough, came.labels, came.stamp, stamp);
                    return;
                }
            }
        }
        if direction == Some(Direction::Out) {
            return;
        }
        for order in order_ids.iter().filter(is_id) {
            if self.find(KeyKind::OrderId, &[order]).is_none() {
                self.name(id, KeyKind::OrderId, &[order]);
            }
        }
        self.cause = stamp.record.map(|_| (stamp, id));
        if let Some(open) = self.all.get_mut(&id) {
            if open.reports.len() == MOST_REPORTS {
                open.reports.remove(0);
            }
            open.reports.push(WaitingReport {
                content,
                stamp,
                labels,
            });
        }
    }
}
