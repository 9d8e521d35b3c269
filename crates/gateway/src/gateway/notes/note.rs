//! [`GatewayNote`]: everything that changes the state, as notes in the journal.
//!
//! Notes identify sessions by numbers, which the first note about a session introduces. The file may therefore list its
//! sessions in another order later. A changed kind, field or order of fields makes another version of the state; a
//! journal with notes of another version is refused.

use alloc::vec::Vec;

use fixwire_ledger::{Bytes, events, record};
use fixwire_protocol::SOH;

use super::super::passage::Passage;
use crate::Draft;
use crate::orders::{OrdersConfig, Rewriting};

events! {
    /// A change of the state, by its feature.
    GatewayNote;
    /// Limits, sessions and ids of answers.
    Setup SetupNote['a] {
        /// The limits of orders that apply after this note.
        1 Limits { limits: OrdersConfig = "The note leaves out the key of the hash tables.", }
        /// A session is introduced, or has another form of ids.
        2 Session {
            session: u32 = "The session's number in notes.",
            ids: Option<Rewriting> = "The form of ids; `None` for the common form.",
            name: &'a str = "The session's name in the settings.",
        }
        /// A client's share of `max_remembered` that applies after this note.
        3 Share {
            client: u32 = "The client session.", bytes: Option<u64> = "`None` if the file sets no share.",
        }
        /// A message that the gateway made itself.
        4 Answer { number: i64 = "The number in its id.", }
    }
    /// Messages of orders and requests: MsgType(35), SOH, and the fields that orders read.
    Order OrderNote['a] {
        /// A client's message to a venue.
        10 Outbound {
            client: u32 = "The client session.", venue: u32 = "The venue session.",
            message: Bytes<'a> = "The message.",
        }
        /// A message from a venue.
        11 Inbound { venue: u32 = "The venue session.", message: Bytes<'a> = "The message.", }
        /// The last message to the venue was not sent, or the venue refused a message.
        12 Refused { venue: u32 = "The venue session.", message: Bytes<'a> = "The refused message.", }
        /// A venue rejected a message.
        13 Rejected { venue: u32 = "The venue session.", message: Bytes<'a> = "The rejected message.", }
    }
    /// Held messages.
    Held HeldNote['a] {
        /// A message is held.
        20 Held { message: HeldMessage<'a> = "The message.", }
        /// The source of the last held message receives no reject.
        21 Unanswered { target: u32 = "The target session.", }
        /// The first message of a queue has left it: sent or dropped.
        22 Left { target: u32 = "The target session.", }
        /// The client cancelled its held order.
        23 Cancelled {
            client: u32 = "The client session.", target: u32 = "The target session.",
            id: Bytes<'a> = "ClOrdID(11) of the order.",
        }
    }
    /// Values remembered for orders.
    Remembered RememberedNote['a] {
        /// Fields are remembered for a client's order; an empty field is dropped.
        30 Remembered {
            client: u32 = "The client session.",
            values: Bytes<'a> = "As a message without MsgType(35): ClOrdID(11) of the order, then the fields.",
        }
        /// The values remembered for an order are dropped.
        31 Forgotten {
            client: u32 = "The client session.",
            order: Bytes<'a> = "As a message without MsgType(35): ClOrdID(11) of the order.",
        }
    }
}

/// A held message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HeldMessage<'a> {
    /// The session from which the message came.
    pub source: u32,
    /// The session to which the message goes.
    pub target: u32,
    /// Kind of the message.
    pub passage: Passage,
    /// Whether the source receives a reject if the message cannot be delivered.
    pub is_answered: bool,
    /// MsgType(35), SOH and the fields that orders track; empty if orders do not track the message.
    pub known: Bytes<'a>,
    /// Fields of the received message that a reject reads.
    pub came: Bytes<'a>,
    /// MsgType(35).
    pub msg_type: Bytes<'a>,
    /// The fields as they will be sent.
    pub fields: Bytes<'a>,
}

record! { HeldMessage<'a> { source, target, passage, is_answered, known, came, msg_type, fields } }

/// Writes the MsgType and the fields of a draft.
pub(super) fn put_draft(text: &mut Vec<u8>, draft: &mut Draft) {
    text.extend_from_slice(draft.msg_type());
    text.push(SOH);
    text.extend_from_slice(draft.encode());
}

/// Reads what [`put_draft`] wrote; `None` for other bytes.
pub(super) fn take_draft(text: &[u8], draft: &mut Draft) -> Option<()> {
    let mut fields = text.split(|byte| *byte == SOH);
    draft.begin(fields.next()?);
    // SOH follows every part except the last.
    let mut field = fields.next()?;
    for next in fields {
        let equals = field.iter().position(|byte| *byte == b'=')?;
        let tag = core::str::from_utf8(&field[..equals]).ok()?.parse().ok()?;
        draft.push(tag, &field[equals + 1..]);
        field = next;
    }
    field.is_empty().then_some(())
}

/// Writes an order's id and remembered fields as a message without a type.
pub(super) fn put_values(text: &mut Vec<u8>, id: &[u8], fields: &[u8]) {
    text.clear();
    text.extend_from_slice(b"\x0111=");
    text.extend_from_slice(id);
    text.push(SOH);
    text.extend_from_slice(fields);
}

/// Reads what [`put_values`] wrote: the id and the fields.
pub(super) fn values(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\x0111=")?;
    let end = text.iter().position(|byte| *byte == SOH)?;
    Some((&text[..end], &text[end + 1..]))
}
