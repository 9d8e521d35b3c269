//! Notes of the client in the journal: each message with a ClOrdID(11), and each change of an order. Checkpoints
//! have one more kind, for finished orders.
//!
//! ```text
//! Sent      'S' | MsgType | ClOrdID | ClOrdID of its order | fields      every text: 4 bytes of length, then bytes
//! Change    'C' | old ClOrdID of the order | new ClOrdID | OrderID | OrdStatus | CumQty | LeavesQty | fields
//! Finished  'E' | ClOrdID of the order | its last OrdStatus
//! ```

use alloc::vec::Vec;

/// A message that was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SentNote<'a> {
    /// MsgType(35).
    pub msg_type: &'a str,
    /// The message's ClOrdID(11).
    pub id: &'a str,
    /// The ClOrdID(11) of the message's order; empty for a new order, or if unknown.
    pub of: &'a str,
    /// The fields of the order, or the fields that a replace changes, packed.
    pub fields: &'a str,
}

/// The state of an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ChangeNote<'a> {
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
    /// The order's fields, packed, if they have changed.
    pub fields: &'a str,
}

/// A ClOrdID(11) of a finished order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FinishedNote<'a> {
    /// The ClOrdID(11).
    pub id: &'a str,
    /// The order's last OrdStatus(39).
    pub ord_status: &'a str,
}

/// A note of any kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ClientNote<'a> {
    Sent(SentNote<'a>),
    Change(ChangeNote<'a>),
    Finished(FinishedNote<'a>),
}

impl<'a> ClientNote<'a> {
    pub(crate) fn write(&self) -> Vec<u8> {
        match self {
            Self::Sent(note) => join(b'S', &[note.msg_type, note.id, note.of, note.fields]),
            Self::Change(note) => join(
                b'C',
                &[
                    note.was,
                    note.id,
                    note.order_id,
                    note.ord_status,
                    note.cum,
                    note.leaves,
                    note.fields,
                ],
            ),
            Self::Finished(note) => join(b'E', &[note.id, note.ord_status]),
        }
    }

    /// Reads a note; `None` when it is not a note of this client.
    pub(crate) fn read(note: &'a [u8]) -> Option<Self> {
        let (kind, mut rest) = note.split_first()?;
        let mut next = || -> Option<&'a str> {
            let (len, behind) = rest.split_first_chunk()?;
            let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
            let (text, behind) = behind.split_at_checked(len)?;
            rest = behind;
            core::str::from_utf8(text).ok()
        };
        Some(match kind {
            b'S' => Self::Sent(SentNote {
                msg_type: next()?,
                id: next()?,
                of: next()?,
                fields: next()?,
            }),
            b'C' => Self::Change(ChangeNote {
                was: next()?,
                id: next()?,
                order_id: next()?,
                ord_status: next()?,
                cum: next()?,
                leaves: next()?,
                fields: next()?,
            }),
            b'E' => Self::Finished(FinishedNote {
                id: next()?,
                ord_status: next()?,
            }),
            _ => return None,
        })
    }
}

fn join(kind: u8, texts: &[&str]) -> Vec<u8> {
    let mut note = Vec::from([kind]);
    for text in texts {
        note.extend_from_slice(&(text.len() as u32).to_le_bytes());
        note.extend_from_slice(text.as_bytes());
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_no_part_of_one_is() {
        let sent = ClientNote::Sent(SentNote {
            msg_type: "G",
            id: "g:2",
            of: "g:1",
            fields: "38=5\x0144=1.5",
        });
        let change = ClientNote::Change(ChangeNote {
            was: "g:1",
            id: "g:2",
            order_id: "a\nb",
            ord_status: "0",
            cum: "",
            leaves: "5",
            fields: "",
        });
        let finished = ClientNote::Finished(FinishedNote {
            id: "g:1",
            ord_status: "2",
        });
        for note in [sent, change, finished] {
            let bytes = note.write();
            assert_eq!(ClientNote::read(&bytes), Some(note));
            for end in 0..bytes.len() {
                assert_eq!(ClientNote::read(&bytes[..end]), None, "{end}");
            }
        }
    }
}
