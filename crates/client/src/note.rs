//! Notes of the client in the journal: one for each message with a ClOrdID(11), and one for each change of an order.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::{events, record};

/// A message that was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SentNote<'a> {
    /// MsgType(35).
    pub msg_type: &'a str,
    /// ClOrdID(11) of the message.
    pub id: &'a str,
    /// The ClOrdID(11) of the order to which the message refers; empty for a new order, or if unknown.
    pub of: &'a str,
    /// The fields of the order, or the fields that a replace changes; as packed text.
    pub fields: &'a str,
}

/// The new state of an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChangeNote<'a> {
    /// The order's ClOrdID(11) before the change.
    pub was: &'a str,
    /// The order's ClOrdID(11) after the change.
    pub id: &'a str,
    /// OrderID(37).
    pub order_id: &'a str,
    /// OrdStatus(39).
    pub ord_status: &'a str,
    /// CumQty(14).
    pub cum: &'a str,
    /// LeavesQty(151).
    pub leaves: &'a str,
    /// The order's fields as packed text, if they have changed; otherwise empty.
    pub fields: &'a str,
}

record! { SentNote<'a> { msg_type, id, of, fields } }
record! { ChangeNote<'a> { was, id, order_id, ord_status, cum, leaves, fields } }

events! {
    /// A note.
    ClientNote ['a] {
        /// A message was sent.
        1 Sent { message: SentNote<'a> = "The message.", }
        /// An order has changed.
        2 Change { order: ChangeNote<'a> = "Its state.", }
    }
}

impl ClientNote<'_> {
    pub(crate) fn write(self) -> Vec<u8> {
        let mut note = Vec::new();
        self.put(&mut note);
        note
    }
}

/// The note as text, with SOH after each field of a message; `None` if a client did not write it.
#[must_use]
pub fn note_text(note: &[u8]) -> Option<String> {
    let note = ClientNote::of(note)?;
    Some(format!("{note:?}").replace("\\u{1}", "\x01"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_no_part_of_one_is() {
        let sent = ClientNote::Sent {
            message: SentNote {
                msg_type: "G",
                id: "g:2",
                of: "g:1",
                fields: "38=5\x0144=1.5",
            },
        };
        let change = ClientNote::Change {
            order: ChangeNote {
                was: "g:1",
                id: "g:2",
                order_id: "a\nb",
                ord_status: "0",
                cum: "",
                leaves: "5",
                fields: "",
            },
        };
        for note in [sent, change] {
            let bytes = note.write();
            assert_eq!(ClientNote::of(&bytes), Some(note));
            for end in 0..bytes.len() {
                assert_eq!(ClientNote::of(&bytes[..end]), None, "{end}");
            }
        }
        assert_eq!(
            note_text(&sent.write()).unwrap(),
            "Sent { message: SentNote { msg_type: \"G\", id: \"g:2\", of: \"g:1\", fields: \"38=5\x0144=1.5\" } }"
        );
    }
}
