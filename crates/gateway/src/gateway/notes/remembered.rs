//! Values remembered for orders, and their notes.

use alloc::vec::Vec;

use fixwire_ledger::Bytes;
use fixwire_protocol::{Outbox, SOH, SessionId, tag};

use super::super::event::{GatewayLimit, NoteError, Trouble};
use super::super::memory::MAX_ID;
use super::Notes;
use super::note::{GatewayNote, RememberedNote, SetupNote, put_values, values};
use crate::orders::{OrderTracker, OrdersError, ReportAddressee};

/// How a caller names the order whose values are remembered or recalled.
#[derive(Clone, Copy)]
pub(in super::super) enum Order<'o> {
    /// The order that a venue's message answers.
    Answered(ReportAddressee),
    /// The order with this id of a client.
    Of(SessionId, &'o [u8]),
}

impl<'o> Order<'o> {
    /// The client of the order, and the client's ids of the order, the newest first.
    fn ids(self, orders: &'o OrderTracker) -> (SessionId, impl Iterator<Item = &'o [u8]>) {
        let (client, heard, id) = match self {
            Self::Answered(heard) => (heard.client, Some(heard), None),
            Self::Of(client, id) => (client, None, Some(id)),
        };
        let heard = heard.into_iter().flat_map(|heard| orders.own_ids(heard));
        (client, heard.chain(id))
    }
}

impl Notes {
    /// Remembers fields for an order, under its newest id.
    pub fn remember(
        &mut self,
        order: Order<'_>,
        fields: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        let (client, mut ids) = order.ids(&self.orders);
        let id = ids.next().ok_or(Trouble::Unsolicited)?;
        if id.len() > MAX_ID {
            let tag = tag::CL_ORD_ID;
            return Err(Trouble::Orders(OrdersError::IdTooLong { tag }));
        }
        if !self.memory.fits(client, id, fields) {
            let most = self.memory.max_bytes();
            return Err(Trouble::Limit(GatewayLimit::Remembered(most)));
        }
        put_values(&mut self.parts, id, fields);
        drop(ids);
        let known = self.known.get(client.0 as usize);
        let known = known.ok_or(Trouble::ClientGone)?;
        let bytes = known.place.and_then(|place| self.memory_shares.own(place));
        // A reload may have changed the share. The note records the new share, because a replay of the notes does not
        // know the reload.
        if known.own != bytes {
            let client = client.0;
            let note = SetupNote::Share { client, bytes };
            let _ = self.keep(GatewayNote::Setup(note), outbox)?;
        }
        self.keep_values(
            |values| RememberedNote::Remembered {
                client: client.0,
                values,
            },
            outbox,
        )?;
        let all = self.memory_shares.look_at_all(self.memory.taken());
        self.most = all.map(|all| ("max_remembered", all)).or(self.most);
        Ok(())
    }

    /// Writes a note of the values in `parts`, and applies it.
    fn keep_values(
        &mut self,
        note: impl FnOnce(Bytes<'_>) -> RememberedNote<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        let values = core::mem::take(&mut self.parts);
        let kept = self.keep(GatewayNote::Remembered(note(Bytes(&values))), outbox);
        self.parts = values;
        kept.map(drop)
    }

    /// Appends the remembered values of an order: the values of its newest id that has any.
    pub fn recall(&self, order: Order<'_>, fields: &mut Vec<u8>) {
        let (client, mut ids) = order.ids(&self.orders);
        ids.find(|id| self.memory.recall(client, id, fields));
    }

    /// Forgets the values that [`recall`](Self::recall) would write.
    pub fn forget(&mut self, order: Order<'_>, outbox: &mut Outbox) -> Result<(), Trouble> {
        let (client, mut ids) = order.ids(&self.orders);
        let Some(id) = ids.find(|id| self.memory.knows(client, id)) else {
            return Ok(());
        };
        put_values(&mut self.parts, id, b"");
        drop(ids);
        let client = client.0;
        self.keep_values(|order| RememberedNote::Forgotten { client, order }, outbox)
    }

    /// Applies a note about remembered values.
    pub(super) fn apply_remembered(&mut self, note: RememberedNote<'_>) -> Result<(), NoteError> {
        let (RememberedNote::Remembered {
            client,
            values: text,
        }
        | RememberedNote::Forgotten {
            client,
            order: text,
        }) = note;
        let found = values(text.0).filter(|(id, fields)| is_rememberable(id, fields));
        let (id, fields) = found.ok_or(NoteError::NotOurs)?;
        let client = self.introduced_as(client)?;
        match note {
            RememberedNote::Remembered { .. } => {
                let own = self.known[client.0 as usize].own;
                self.memory.remember(client, own, id, fields);
            }
            RememberedNote::Forgotten { .. } => self.memory.forget(client, id),
        }
        Ok(())
    }
}

/// Whether an id and its fields are valid for remembering.
pub(super) fn is_rememberable(id: &[u8], fields: &[u8]) -> bool {
    let mut whole = fields.split_inclusive(|byte| *byte == SOH);
    let is_field = |field: &[u8]| field.ends_with(&[SOH]) && field.contains(&b'=');
    !id.is_empty() && id.len() <= MAX_ID && whole.all(is_field)
}
