//! Values remembered for orders, and their notes.

use alloc::vec::Vec;

use fixwire_protocol::{Outbox, SOH, SessionId, tag};

use super::super::event::{GatewayLimit, NoteError, Trouble};
use super::super::memory::MAX_ID;
use super::{Notes, put_number, word};
use crate::orders::{OrderTracker, OrdersError, ReportAddressee};

/// The order that a message is about.
#[derive(Clone, Copy)]
pub(in super::super) enum Order<'o> {
    /// The order that a venue's message answers.
    Answered(ReportAddressee),
    /// The order with this id of a client.
    Of(SessionId, &'o [u8]),
}

impl<'o> Order<'o> {
    /// The order's client, and the client's ids of the order, the newest first.
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
        let Self {
            orders,
            memory,
            memory_shares,
            known,
            most,
            text,
            last_answer,
            now,
            ..
        } = self;
        let (client, mut ids) = order.ids(orders);
        let id = ids.next().ok_or(Trouble::Unsolicited)?;
        if id.len() > MAX_ID {
            let tag = tag::CL_ORD_ID;
            return Err(Trouble::Orders(OrdersError::IdTooLong { tag }));
        }
        if !memory.fits(client, id, fields) {
            let most = memory.max_bytes();
            return Err(Trouble::Limit(GatewayLimit::Remembered(most)));
        }
        let mut keep = |text: &[u8]| -> Result<(), Trouble> {
            outbox.note(text)?;
            *last_answer = now.0.max(*last_answer);
            Ok(())
        };
        let known = known.get_mut(client.0 as usize);
        let known = known.ok_or(Trouble::ClientGone)?;
        let own = known.place.and_then(|place| memory_shares.own(place));
        // A reload may have changed it, which no one who reads the notes knows.
        if known.own != own {
            put_own(text, client, own);
            keep(text)?;
            known.own = own;
        }
        put_head(text, b"M ", client, id);
        text.extend_from_slice(fields);
        keep(text)?;
        memory.remember(client, own, id, fields);
        let all = memory_shares.look_at_all(memory.taken());
        *most = all.map(|all| ("max_remembered", all)).or(*most);
        Ok(())
    }

    /// Writes an order's remembered values, from its newest id that has any.
    pub fn recall(&self, order: Order<'_>, fields: &mut Vec<u8>) {
        let (client, mut ids) = order.ids(&self.orders);
        ids.find(|id| self.memory.recall(client, id, fields));
    }

    /// Forgets the values that [`recall`](Self::recall) would write.
    pub fn forget(&mut self, order: Order<'_>, outbox: &mut Outbox) -> Result<(), Trouble> {
        let Self {
            orders,
            memory,
            text,
            last_answer,
            now,
            ..
        } = self;
        let (client, mut ids) = order.ids(orders);
        if let Some(id) = ids.find(|id| memory.knows(client, id)) {
            put_head(text, b"F ", client, id);
            outbox.note(text)?;
            *last_answer = now.0.max(*last_answer);
            memory.forget(client, id);
        }
        Ok(())
    }

    /// Applies a note about remembered values.
    pub(super) fn follow_remembered(&mut self, note: &[u8]) -> Option<Result<(), NoteError>> {
        if let Some(own) = note.strip_prefix(b"L ") {
            return self.follow_own(core::str::from_utf8(own).ok()?);
        }
        let until_soh = |bytes: &[u8]| bytes.iter().position(|byte| *byte == SOH);
        let (client, rest) = note.split_at(until_soh(note)?);
        let client: u32 = core::str::from_utf8(client.get(2..)?).ok()?.parse().ok()?;
        let rest = rest.strip_prefix(b"\x0111=")?;
        let (id, fields) = rest.split_at(until_soh(rest)?);
        let fields = &fields[1..];
        if !is_rememberable(id, fields) {
            return None;
        }
        if client as usize >= self.known.len() {
            return Some(Err(NoteError::UnknownSession));
        }
        match note[0] {
            b'M' => {
                let client = SessionId(client);
                let own = self.known[client.0 as usize].own;
                self.memory.remember(client, own, id, fields);
            }
            _ => self.memory.forget(SessionId(client), id),
        }
        Some(Ok(()))
    }

    /// Applies a note about a client's share.
    fn follow_own(&mut self, text: &str) -> Option<Result<(), NoteError>> {
        let (client, own) = word(text);
        let client: u32 = client.parse().ok()?;
        let own = match own {
            "-" => None,
            own => Some(own.parse().ok()?),
        };
        let known = self.known.get_mut(client as usize);
        let known = known.map(|known| known.own = own);
        Some(known.ok_or(NoteError::UnknownSession))
    }
}

/// The share of a client, as a whole note.
fn put_own(text: &mut Vec<u8>, client: SessionId, own: Option<u64>) {
    text.clear();
    text.extend_from_slice(b"L ");
    put_number(text, u64::from(client.0));
    text.push(b' ');
    match own {
        Some(own) => put_number(text, own),
        None => text.push(b'-'),
    }
}

/// Whether an id and its fields are valid for remembering.
pub(super) fn is_rememberable(id: &[u8], fields: &[u8]) -> bool {
    let mut whole = fields.split_inclusive(|byte| *byte == SOH);
    let is_field = |field: &[u8]| field.ends_with(&[SOH]) && field.contains(&b'=');
    !id.is_empty() && id.len() <= MAX_ID && whole.all(is_field)
}

/// Writes a note's first words and the order's client.
fn put_head(text: &mut Vec<u8>, what: &[u8], client: SessionId, id: &[u8]) {
    text.clear();
    text.extend_from_slice(what);
    put_number(text, u64::from(client.0));
    text.extend_from_slice(b"\x0111=");
    text.extend_from_slice(id);
    text.push(SOH);
}
