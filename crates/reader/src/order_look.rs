//! [`OrderLook`]: the current message, and what is remembered of the messages before it.

use std::rc::Rc;

use crate::entry::LogPlace;
use crate::order_step::{OrderFields, OrderPart, OrderStep};

/// The current message.
pub(crate) struct OrderLook<'a> {
    pub(crate) step: &'a OrderStep,
    pub(crate) fields: OrderFields<'a>,
    /// Session of the message; both directions of a session are the same.
    pub(crate) session: u64,
    /// The message on another session that caused this one, if any.
    pub(crate) cause: Option<Rc<OrderCause>>,
    /// Whether the message was resent, or is marked as a duplicate in a journal.
    pub(crate) is_repeat: bool,
}

/// The message that caused the later messages of the same record.
#[derive(Debug)]
pub(crate) struct OrderCause {
    pub(crate) place: LogPlace,
    pub(crate) session: u64,
    part: OrderPart,
    /// Orders of the message. A list has one order for each of `ids`.
    lives: Vec<usize>,
    /// ClOrdID(11), without duplicates.
    ids: Vec<Vec<u8>>,
    /// ExecID(17), if the message has one.
    execution: Option<Vec<u8>>,
}

/// A request that opened an order: its sender, its receiver, and the order.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) sender: Vec<u8>,
    pub(crate) target: Vec<u8>,
    pub(crate) life: usize,
}

/// A message that is remembered by its MsgSeqNum.
#[derive(Clone, Debug)]
pub(crate) struct NumberedOrder {
    pub(crate) lives: Vec<usize>,
    /// ClOrdID(11), without duplicates.
    pub(crate) ids: Vec<Vec<u8>>,
    /// The original SendingTime of the message.
    sent: Vec<u8>,
}

impl NumberedOrder {
    pub(crate) fn new(fields: &OrderFields<'_>, lives: Vec<usize>) -> Self {
        Self {
            lives,
            ids: owned(&fields.client),
            sent: fields.first_sent().to_vec(),
        }
    }
}

impl OrderCause {
    pub(crate) fn new(look: &OrderLook<'_>, lives: Vec<usize>) -> Self {
        Self {
            place: look.step.place,
            session: look.session,
            part: look.fields.part,
            lives,
            ids: owned(&look.fields.client),
            execution: look.fields.execution.map(<[u8]>::to_vec),
        }
    }
}

impl OrderLook<'_> {
    /// The order of the message that caused this one, if `is_such` accepts what that message does. A list has several
    /// orders. Among the orders of a list, the order with the same ClOrdID is returned; without such an order, the one
    /// at the same index as this ClOrdID.
    pub(crate) fn caused(
        &self,
        place: usize,
        is_such: impl Fn(OrderPart) -> bool,
    ) -> Option<usize> {
        let cause = self.cause.as_ref().filter(|cause| is_such(cause.part))?;
        if let [life] = cause.lives[..] {
            return Some(life);
        }
        if cause.ids.len() != cause.lives.len() {
            return None;
        }
        let own = self.fields.client.get(place)?;
        let same = cause.ids.iter().position(|id| id == own);
        let is_list = cause.ids.len() == self.fields.client.len();
        let found = same.or(is_list.then_some(place))?;
        Some(cause.lives[found])
    }

    /// Whether the message reports the same execution as the message that caused it.
    pub(crate) fn passes_execution_on(&self) -> bool {
        let came = self.cause.as_ref().and_then(|it| it.execution.as_deref());
        came.is_some() && came == self.fields.execution
    }

    /// Whether this is the earlier message with the same MsgSeqNum: resent, or from another log. After a reset, the
    /// MsgSeqNum belongs to another message.
    pub(crate) fn is_again(&self, known: &NumberedOrder) -> bool {
        if self.is_repeat {
            let original = self.fields.original_sent();
            return original.is_none_or(|sent| is_same_time(sent, &known.sent));
        }
        let sent = self.fields.sent;
        !sent.is_empty()
            && !known.sent.is_empty()
            && is_same_time(sent, &known.sent)
            && known.ids.iter().eq(&self.fields.client)
    }

    pub(crate) fn ends(&self) -> [Vec<u8>; 2] {
        [self.fields.sender.to_vec(), self.fields.target.to_vec()]
    }
}

/// Whether two times are equal, in the precision of the less precise one.
pub(crate) fn is_same_time(one: &[u8], other: &[u8]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn owned(ids: &[&[u8]]) -> Vec<Vec<u8>> {
    ids.iter().map(|id| id.to_vec()).collect()
}
