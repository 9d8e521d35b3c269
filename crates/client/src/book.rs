//! The client's orders: all that were sent, updated by the reports on them.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Message, Mono, Nanos, Tag, tag};

use crate::event::{OrderLine, SendStats};
use crate::fields::{MessageFields, unpacked, value_of};
use crate::note::{ChangeNote, ClientNote, SentNote};
use crate::words;

mod state;

pub(crate) use state::ClientLedger;

/// Maximum number of messages in memory.
pub(crate) const MOST_KEPT: usize = 1_000_000;

/// When this number of finished orders of earlier runs is in memory, all of them are removed.
const MOST_FINISHED: usize = 10_000;

/// Maximum number of ClOrdIDs of finished orders whose last OrdStatus is kept across restarts.
const MOST_FINISHED_IDS: usize = 10_000;

/// An order.
#[derive(Debug, Default)]
pub(crate) struct ClientOrder {
    /// ClOrdID(11) of the order, or of its last accepted replace.
    pub id: Box<str>,
    /// ClOrdIDs of all messages about the order. The first one is the order's own.
    pub(crate) ids: Vec<Box<str>>,
    /// OrderID(37); empty until a report has it.
    pub order_id: Box<str>,
    /// The order's fields, as packed text.
    pub fields: Box<str>,
    /// OrdStatus(39); empty before the first report.
    pub(crate) ord_status: Box<str>,
    pub(crate) cum: Box<str>,
    pub(crate) leaves: Box<str>,
}

impl ClientOrder {
    pub(crate) fn is_final(&self) -> bool {
        words::is_final(&self.ord_status)
    }

    fn line(&self) -> OrderLine {
        let value = |tag: Tag| value_of(&self.fields, tag).unwrap_or_default().to_string();
        OrderLine {
            cl_ord_id: self.id.to_string(),
            order_id: self.order_id.to_string(),
            ord_status: words::ord_status(&self.ord_status).to_string(),
            side: words::side(&value(tag::SIDE)).to_string(),
            symbol: value(tag::SYMBOL),
            quantity: value(tag::ORDER_QTY),
            price: value(tag::PRICE),
            cum: self.cum.to_string(),
            leaves: self.leaves.to_string(),
        }
    }
}

/// A message with a ClOrdID(11).
#[derive(Debug)]
pub(crate) struct SentMessage {
    /// Serial number of the order to which the message belongs; `None` if unknown.
    pub(crate) order: Option<u64>,
    pub(crate) msg_type: Box<str>,
    /// The fields that a replace changes, as packed text.
    pub(crate) changes: Box<str>,
    /// Time at which a message of this run was due; `None` for a message of an earlier run.
    pub(crate) due: Option<Mono>,
    /// Time until the first answer; `None` before the first answer.
    pub(crate) latency: Option<Nanos>,
    pub(crate) rejected: bool,
}

impl SentMessage {
    fn is_order(&self) -> bool {
        &*self.msg_type == "D"
    }
}

/// The client's orders, and the messages that it has sent about them.
#[derive(Debug)]
pub(crate) struct ClientBook {
    pub(crate) orders: BTreeMap<u64, ClientOrder>,
    /// The messages, by ClOrdID(11).
    pub(crate) messages: BTreeMap<Box<str>, SentMessage>,
    /// The next number in each group.
    pub(crate) groups: BTreeMap<Box<str>, u64>,
    pub(crate) next_order: u64,
    /// The number in the next ClOrdID(11) that the client makes.
    pub(crate) next_id: u64,
    pub(crate) last: Option<u64>,
    pub(crate) unanswered: u64,
    /// Number of finished orders of earlier runs that are still in memory.
    pub(crate) finished: usize,
    /// The newest ClOrdIDs of finished orders, of this run and of earlier runs; the oldest comes first.
    pub(crate) finished_ids: VecDeque<FinishedId>,
}

/// A ClOrdID(11) of an order that is finished.
#[derive(Debug)]
pub(crate) struct FinishedId {
    pub(crate) id: Box<str>,
    /// Last OrdStatus(39) of the order.
    pub(crate) ord_status: Box<str>,
}

impl Default for ClientBook {
    fn default() -> Self {
        Self {
            orders: BTreeMap::new(),
            messages: BTreeMap::new(),
            groups: BTreeMap::new(),
            next_order: 1,
            next_id: 1,
            last: None,
            unanswered: 0,
            finished: 0,
            finished_ids: VecDeque::new(),
        }
    }
}

impl ClientBook {
    /// A ClOrdID(11) that was never used: the day and a number; for a group, the group's name and its next number.
    pub(crate) fn new_id(&self, day: &str, group: Option<&str>) -> String {
        match group {
            Some(group) => format!("{group}:{}", self.next_of(group).unwrap_or(1)),
            None => format!("{day}-{}", self.next_id),
        }
    }

    /// The next number of a group; `None` when no message was sent in the group.
    pub(crate) fn next_of(&self, group: &str) -> Option<u64> {
        self.groups.get(group).copied()
    }

    /// Whether a ClOrdID(11) was used.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.messages.contains_key(id)
    }

    /// Whether there is room for another message.
    pub(crate) fn is_full(&self) -> bool {
        self.messages.len() >= MOST_KEPT
    }

    /// The order to which a ClOrdID(11) belongs.
    pub(crate) fn find(&self, id: &str) -> Option<u64> {
        self.messages.get(id)?.order
    }

    /// The last OrdStatus, in words, of the finished order that had this ClOrdID(11).
    pub(crate) fn last_status(&self, id: &str) -> Option<&str> {
        let mut newest_first = self.finished_ids.iter().rev();
        let finished = newest_first.find(|finished| &*finished.id == id)?;
        Some(words::ord_status(&finished.ord_status))
    }

    /// The order that was sent last.
    pub(crate) fn last(&self) -> Option<u64> {
        self.last
    }

    pub(crate) fn order(&self, order: u64) -> Option<&ClientOrder> {
        self.orders.get(&order)
    }

    /// Orders that are not finished.
    pub(crate) fn open(&self) -> impl Iterator<Item = u64> {
        let open = self.orders.iter().filter(|(_, order)| !order.is_final());
        open.map(|(order, _)| *order)
    }

    pub(crate) fn lines(&self, all: bool) -> Vec<OrderLine> {
        let orders = self.orders.values();
        let shown = orders.filter(|order| all || !order.is_final());
        shown.map(ClientOrder::line).collect()
    }

    /// Records a message that was sent: at `due` if in this run, otherwise in an earlier run.
    pub(crate) fn sent(&mut self, note: &SentNote<'_>, due: Option<Mono>) {
        self.count_id(note.id);
        let is_order = note.msg_type == "D";
        let order = if is_order {
            let serial = self.next_order;
            self.next_order += 1;
            self.last = Some(serial);
            let order = ClientOrder {
                id: note.id.into(),
                ids: Vec::from([note.id.into()]),
                fields: note.fields.into(),
                ..ClientOrder::default()
            };
            self.orders.insert(serial, order);
            Some(serial)
        } else {
            let order = self.find(note.of);
            if let Some(order) = order.and_then(|serial| self.orders.get_mut(&serial)) {
                order.ids.push(note.id.into());
            }
            order
        };
        let message = SentMessage {
            order,
            msg_type: note.msg_type.into(),
            changes: if is_order { "" } else { note.fields }.into(),
            due,
            latency: None,
            rejected: false,
        };
        self.unanswered += u64::from(due.is_some());
        self.messages.insert(note.id.into(), message);
    }

    /// Raises the counters, so that no ClOrdID(11) made later equals this one.
    fn count_id(&mut self, id: &str) {
        if let Some((group, number)) = id.rsplit_once(':')
            && let Ok(number) = number.parse::<u64>()
        {
            let next = self.groups.entry(group.into()).or_insert(1);
            *next = (*next).max(number.saturating_add(1));
        }
        if let Some((day, number)) = id.split_once('-')
            && day.len() == 8
            && day.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(number) = number.parse::<u64>()
        {
            self.next_id = self.next_id.max(number.saturating_add(1));
        }
    }

    /// Records the answer to a message. Returns whether the message is known.
    pub(crate) fn answered(&mut self, now: Mono, id: &str, rejected: bool) -> bool {
        let Some(message) = self.messages.get_mut(id) else {
            return false;
        };
        message.rejected |= rejected;
        if let Some(due) = message.due
            && message.latency.is_none()
        {
            message.latency = Some(now - due);
            self.unanswered -= 1;
        }
        true
    }

    /// Records a reject that is not an ExecutionReport. If the rejected message was an order, returns a note of the
    /// change. A reject of another message, such as a status request, does not change the order.
    pub(crate) fn refused(&mut self, now: Mono, id: &str, msg_type: &str) -> Option<Vec<u8>> {
        let message = self.messages.get(id)?;
        if &*message.msg_type != msg_type {
            return None;
        }
        let serial = message.order.filter(|_| message.is_order());
        self.answered(now, id, true);
        let serial = serial?;
        let order = self.orders.get_mut(&serial)?;
        if order.is_final() {
            return None;
        }
        order.ord_status = "8".into();
        let note = change(order, id, "");
        self.keep_finished(serial);
        Some(note)
    }

    /// Applies an ExecutionReport(8) or OrderCancelReject(9). If it changes the order, returns a note of the change.
    pub(crate) fn report(&mut self, now: Mono, report: &Message<'_>) -> Option<Vec<u8>> {
        let text = |tag: Tag| String::from_utf8_lossy(report.get(tag).unwrap_or_default());
        let (id, orig) = (text(tag::CL_ORD_ID), text(tag::ORIG_CL_ORD_ID));
        let is_reject = report.msg_type() == b"9";
        let (exec_type, ord_status) = (text(tag::EXEC_TYPE), text(tag::ORD_STATUS));
        let key = if self.has(&id) { id } else { orig };
        let message = self.messages.get(&*key)?;
        let is_rejected =
            is_reject || message.is_order() && (ord_status == "8" || exec_type == "8");
        let (serial, changes) = (message.order, message.changes.clone());
        let is_request = !message.is_order();
        self.answered(now, &key, is_rejected);
        let serial = serial?;
        let order = self.orders.get_mut(&serial)?;
        if order.is_final() {
            // A finished order stays finished, because its notes may have been removed from the journal.
            return None;
        }
        let was = order.id.clone();
        let before = (
            order.ord_status.clone(),
            order.cum.clone(),
            order.leaves.clone(),
        );
        let order_before = order.order_id.clone();
        let mut fields = "";
        let replaced = exec_type == "5" || ord_status == "5";
        if replaced && is_request && *was != *key && !is_reject {
            order.id = (*key).into();
            order.fields = merged(&order.fields, &changes).into();
            fields = &order.fields;
        }
        if !matches!(&*text(tag::ORDER_ID), "" | "NONE") {
            order.order_id = (*text(tag::ORDER_ID)).into();
        }
        for (value, tag) in [
            (&mut order.ord_status, tag::ORD_STATUS),
            (&mut order.cum, tag::CUM_QTY),
            (&mut order.leaves, tag::LEAVES_QTY),
        ] {
            if report.has(tag) {
                *value = (*text(tag)).into();
            }
        }
        let same = before.0 == order.ord_status
            && before.1 == order.cum
            && before.2 == order.leaves
            && order_before == order.order_id
            && was == order.id;
        let note = (!same).then(|| change(order, &was, fields));
        self.keep_finished(serial);
        note
    }

    /// Keeps the ClOrdIDs of an order that has just finished.
    fn keep_finished(&mut self, serial: u64) {
        let Some(order) = self.orders.get(&serial).filter(|order| order.is_final()) else {
            return;
        };
        for id in &order.ids {
            let ord_status = order.ord_status.clone();
            let id = id.clone();
            self.finished_ids.push_back(FinishedId { id, ord_status });
        }
        let surplus = self.finished_ids.len().saturating_sub(MOST_FINISHED_IDS);
        self.finished_ids.drain(..surplus);
    }

    /// Applies a note of an earlier run.
    pub(crate) fn recall(&mut self, note: &ClientNote<'_>) {
        match note {
            ClientNote::Sent { message } => self.sent(message, None),
            ClientNote::Change { order: note } => {
                let Some(serial) = self.find(note.was) else {
                    return;
                };
                let Some(order) = self.orders.get_mut(&serial) else {
                    return;
                };
                order.id = note.id.into();
                order.order_id = note.order_id.into();
                order.ord_status = note.ord_status.into();
                order.cum = note.cum.into();
                order.leaves = note.leaves.into();
                if !note.fields.is_empty() {
                    order.fields = note.fields.into();
                }
                self.finished += usize::from(order.is_final());
                self.keep_finished(serial);
            }
        }
        if self.finished >= MOST_FINISHED {
            self.forget_finished();
        }
    }

    /// Removes finished orders of earlier runs.
    pub(crate) fn forget_finished(&mut self) {
        self.finished = 0;
        self.orders.retain(|_, order| !order.is_final());
        let orders = &self.orders;
        self.messages.retain(|_, message| {
            message
                .order
                .is_some_and(|order| orders.contains_key(&order))
        });
        self.last = self.orders.keys().next_back().copied();
    }

    /// Number of messages of this run without an answer.
    pub(crate) fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// The first unanswered message of this run.
    pub(crate) fn first_unanswered(&self) -> Option<&str> {
        let mut messages = self.messages.iter();
        let found = messages.find(|(_, it)| it.due.is_some() && it.latency.is_none());
        found.map(|(id, _)| &**id)
    }

    /// Counts of the messages of this run: of all messages, or of those in a group.
    pub(crate) fn stats(&self, group: Option<&str>) -> SendStats {
        let mut stats = SendStats {
            group: group.map(ToString::to_string),
            ..SendStats::default()
        };
        let start = group.map(|group| format!("{group}:"));
        for (id, message) in &self.messages {
            let is_meant = start.as_ref().is_none_or(|start| id.starts_with(start));
            if !is_meant || message.due.is_none() {
                continue;
            }
            stats.sent += 1;
            stats.rejected += u64::from(message.rejected);
            if let Some(latency) = message.latency {
                stats.accepted += u64::from(!message.rejected);
                stats.latencies.push(latency);
            }
            let order = message.order.filter(|_| message.is_order());
            let order = order.and_then(|order| self.orders.get(&order));
            stats.filled += u64::from(order.is_some_and(|order| &*order.ord_status == "2"));
        }
        stats
    }
}

fn change(order: &ClientOrder, was: &str, fields: &str) -> Vec<u8> {
    let order = ChangeNote {
        was,
        id: &order.id,
        order_id: &order.order_id,
        ord_status: &order.ord_status,
        cum: &order.cum,
        leaves: &order.leaves,
        fields,
    };
    ClientNote::Change { order }.write()
}

/// The fields of an order after a replace.
fn merged(fields: &str, changes: &str) -> String {
    let mut message = MessageFields::new("");
    for (tag, value) in unpacked(fields) {
        message.fields.push((tag, value.to_string()));
    }
    let count = |tag: Tag| unpacked(changes).filter(|it| it.0 == tag).count();
    if unpacked(changes).any(|(tag, _)| count(tag) > 1) {
        // Entries of a group stay together, as they were written.
        message.fields.retain(|(tag, _)| count(*tag) == 0);
        let changes = unpacked(changes).map(|(tag, value)| (tag, value.to_string()));
        message.fields.extend(changes);
    } else {
        for (tag, value) in unpacked(changes) {
            message.set(tag, value);
        }
    }
    message.packed(&[])
}
