//! Remembers and recalls values for the order of a message.

use super::super::notes::Order;
use super::{Back, Core, Trouble, Work};
use crate::orders::known::answers;

impl Work<'_> {
    /// Looks up the values that are remembered for the order of this response.
    pub(super) fn look_up(&mut self) {
        let Core {
            notes,
            own_id,
            recalled,
            ..
        } = &mut *self.core;
        match self.back {
            Back::Heard(heard) => notes.recall(Order::Answered(heard), recalled),
            Back::Refused(client, true) => notes.recall(Order::Of(client, own_id), recalled),
            Back::Refused(_, false) | Back::Nobody => {}
        }
    }

    /// Remembers fields for the order of this response; for a request, for the source's order with this ClOrdID. A
    /// response to an unknown order is an error.
    pub(super) fn remember(&mut self, id: &[u8], fields: &[u8]) -> Result<(), Trouble> {
        if self.is_second(id) {
            return Ok(());
        }
        let Core { notes, own_id, .. } = &mut *self.core;
        let order = match self.back {
            Back::Heard(heard) => Order::Answered(heard),
            Back::Refused(client, true) => Order::Of(client, own_id),
            Back::Refused(..) => return Err(Trouble::Unsolicited),
            Back::Nobody if answers(self.message.msg_type()) => return Err(Trouble::Unsolicited),
            Back::Nobody => Order::Of(notes.introduced(self.source, self.outbox)?, id),
        };
        notes.remember(order, fields, self.outbox)
    }

    /// Forgets the values remembered for the order of this response; if the message responds to no known order, forgets
    /// the values of the source's order with this ClOrdID.
    pub(super) fn forget(&mut self, id: Option<&[u8]>) -> Result<(), Trouble> {
        let id = id.unwrap_or_default();
        if self.is_second(id) {
            return Ok(());
        }
        let Core { notes, own_id, .. } = &mut *self.core;
        let order = match (self.back, notes.number(self.source)) {
            (Back::Heard(heard), _) => Order::Answered(heard),
            (Back::Refused(client, true), _) => Order::Of(client, own_id),
            (Back::Nobody, Some(client)) => Order::Of(client, id),
            _ => return Ok(()),
        };
        notes.forget(order, self.outbox)
    }

    /// Whether the message would open an order with the ClOrdID of an open order of its client. Responses to the open
    /// order must keep the values remembered for it.
    fn is_second(&self, id: &[u8]) -> bool {
        let notes = &self.core.notes;
        let client = notes.number(self.source).filter(|_| self.given == 0);
        client.is_some_and(|client| notes.orders().is_second(client, id, self.message))
    }
}
