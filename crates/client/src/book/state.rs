//! The book as a [`Ledger`]: its state, rebuilt from notes and encoded as bytes.
//!
//! ```text
//! body | FNV-1a of the body u64
//!
//! body   = next number u64  count u64, group...  note...
//! group  = length u32, name  its next number u64
//! note   = length u32, a note of note.rs
//! ```
//!
//! Numbers are little-endian. The notes are one for each remembered ClOrdID of a finished order, the oldest first,
//! then the minimal notes that rebuild the open orders, oldest order first.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Ledger, Timestamp};

use super::{ClientBook, change};
use crate::note::{ClientNote, FinishedNote, SentNote};

const NAME: &str = "client";
/// Version of this form and of the notes.
const VERSION: u32 = 1;
/// Length of the checksum in bytes.
const SUM: usize = 8;

/// The state of a client, rebuilt from its notes.
#[derive(Debug, Default)]
pub(crate) struct ClientLedger(ClientBook);

impl Ledger for ClientLedger {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, _: Timestamp, note: &[u8]) {
        if let Some(note) = ClientNote::read(note) {
            self.0.recall(&note);
        }
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        let body = self.0.state();
        put(&body);
        put(&fnv(&body).to_le_bytes());
    }

    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.0 = ClientBook::of_state(version, state)?;
        Ok(())
    }

    fn hash(&self) -> u64 {
        self.0.hash()
    }
}

impl ClientBook {
    /// A hash of open and finished orders and next numbers.
    pub(crate) fn hash(&self) -> u64 {
        fnv(&self.state())
    }

    /// Reads a book written by a ledger.
    ///
    /// # Errors
    ///
    /// The bytes are damaged.
    pub(crate) fn of_state(version: u32, state: &[u8]) -> Result<Self, String> {
        if version != VERSION {
            return Err(alloc::format!(
                "the state of the client has version {version}, and this build reads version {VERSION}"
            ));
        }
        let damaged = || "the state of the client is damaged".to_string();
        let (body, sum) = state.split_last_chunk::<SUM>().ok_or_else(damaged)?;
        if fnv(body).to_le_bytes() != *sum {
            return Err(damaged());
        }
        Self::of_body(body).ok_or_else(damaged)
    }

    fn state(&self) -> Vec<u8> {
        let mut body = self.next_id.to_le_bytes().to_vec();
        body.extend_from_slice(&(self.groups.len() as u64).to_le_bytes());
        for (name, next) in &self.groups {
            put(&mut body, name.as_bytes());
            body.extend_from_slice(&next.to_le_bytes());
        }
        for finished in &self.finished_ids {
            let note = FinishedNote {
                id: &finished.id,
                ord_status: &finished.ord_status,
            };
            put(&mut body, &ClientNote::Finished(note).write());
        }
        for order in self.orders.values().filter(|order| !order.is_final()) {
            let [first, requests @ ..] = &order.ids[..] else {
                continue;
            };
            let mut note = |msg_type, id, of, fields| {
                let note = SentNote {
                    msg_type,
                    id,
                    of,
                    fields,
                };
                put(&mut body, &ClientNote::Sent(note).write());
            };
            note("D", first, "", &order.fields);
            for id in requests {
                let message = &self.messages[id];
                note(&message.msg_type, id, first, &message.changes);
            }
            put(&mut body, &change(order, first, ""));
        }
        body
    }

    fn of_body(mut body: &[u8]) -> Option<Self> {
        let next_id = number(&mut body)?;
        let mut book = Self {
            next_id,
            ..Self::default()
        };
        for _ in 0..number(&mut body)? {
            let name = core::str::from_utf8(text(&mut body)?).ok()?;
            let next = number(&mut body)?;
            book.groups.insert(name.into(), next);
        }
        let groups = book.groups.clone();
        while !body.is_empty() {
            let note = ClientNote::read(text(&mut body)?)?;
            if let ClientNote::Change(change) = &note {
                book.find(change.was)?;
            }
            book.recall(&note);
        }
        // No ClOrdID of its orders has a number that is still to be used.
        (book.next_id == next_id && book.groups == groups).then_some(book)
    }
}

fn put(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    body.extend_from_slice(bytes);
}

fn number(body: &mut &[u8]) -> Option<u64> {
    let (number, rest) = body.split_first_chunk()?;
    *body = rest;
    Some(u64::from_le_bytes(*number))
}

fn text<'a>(body: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, rest) = body.split_first_chunk()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
    let (text, rest) = rest.split_at_checked(len)?;
    *body = rest;
    Some(text)
}

/// FNV-1a with 64 bits: detects damage, and is platform-independent.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(START, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::MOST_FINISHED_IDS;
    use crate::note::ChangeNote;

    fn sent<'a>(msg_type: &'a str, id: &'a str, of: &'a str, fields: &'a str) -> Vec<u8> {
        let note = SentNote {
            msg_type,
            id,
            of,
            fields,
        };
        ClientNote::Sent(note).write()
    }

    fn changed(was: &str, id: &str, ord_status: &str, fields: &str) -> Vec<u8> {
        let note = ChangeNote {
            was,
            id,
            order_id: "V1",
            ord_status,
            cum: "0",
            leaves: "7",
            fields,
        };
        ClientNote::Change(note).write()
    }

    fn notes() -> Vec<Vec<u8>> {
        alloc::vec![
            sent("D", "20261124-1", "", "55=VOD\x0154=1\x0138=7"),
            sent("D", "g:4", "", "55=BP\x0154=2\x0138=1"),
            sent("D", "g:5", "", "55=BP\x0154=2\x0138=1"),
            changed("20261124-1", "20261124-1", "0", ""),
            sent("G", "20261124-2", "20261124-1", "38=9"),
            changed("20261124-1", "20261124-2", "5", "55=VOD\x0154=1\x0138=9"),
            sent("F", "d:9", "20261124-2", ""),
            changed("g:4", "g:4", "2", ""),
        ]
    }

    fn ledger() -> ClientLedger {
        let mut ledger = ClientLedger::default();
        for note in notes() {
            ledger.apply(Timestamp(0), &note);
        }
        ledger
    }

    fn bytes(ledger: &ClientLedger) -> Vec<u8> {
        let mut state = Vec::new();
        ledger.write(&mut |bytes| state.extend_from_slice(bytes));
        state
    }

    #[test]
    fn a_book_that_is_read_is_the_one_that_was_written() {
        let ledger = ledger();
        let mut read = ClientLedger::default();
        read.read(VERSION, &bytes(&ledger)).unwrap();
        assert_eq!((read.hash(), bytes(&read)), (ledger.hash(), bytes(&ledger)));
        let lines = read.0.lines(true);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(
            lines[0].to_string(),
            "20261124-2 buy 9 VOD Replaced cum 0 leaves 7 OrderID V1"
        );
        assert_eq!(lines[1].to_string(), "g:5 sell 1 BP no report yet");
        for id in ["20261124-1", "20261124-2", "d:9"] {
            assert_eq!(read.0.find(id), read.0.find("20261124-2"), "{id}");
        }
        let ended = ["g:4", "g:5"].map(|id| read.0.last_status(id));
        assert_eq!(ended, [Some("Filled"), None]);
        let ids = [None, Some("g"), Some("d"), Some("new")].map(|it| read.0.new_id("DAY", it));
        assert_eq!(ids, ["DAY-3", "g:6", "d:10", "new:1"]);
        // It continues like the other one.
        let more = changed("g:5", "g:5", "4", "");
        let mut other = ledger;
        read.apply(Timestamp(1), &more);
        other.apply(Timestamp(1), &more);
        assert_eq!(read.hash(), other.hash());
        assert_eq!(read.0.last_status("g:5"), Some("Canceled"));
    }

    #[test]
    fn the_newest_finished_orders_are_known() {
        let mut ledger = ClientLedger::default();
        let count = MOST_FINISHED_IDS + 1;
        for number in 1..=count {
            let id = alloc::format!("g:{number}");
            ledger.apply(Timestamp(0), &sent("D", &id, "", ""));
            ledger.apply(Timestamp(0), &changed(&id, &id, "C", ""));
        }
        let mut read = ClientLedger::default();
        read.read(VERSION, &bytes(&ledger)).unwrap();
        for book in [&ledger.0, &read.0] {
            assert_eq!(book.last_status("g:1"), None);
            assert_eq!(book.last_status("g:2"), Some("Expired"));
            let newest = alloc::format!("g:{count}");
            assert_eq!(book.last_status(&newest), Some("Expired"));
        }
    }

    #[test]
    fn a_damaged_state_is_refused_and_changes_nothing() {
        let state = bytes(&ledger());
        let mut read = ledger();
        let before = read.hash();
        for end in 0..state.len() {
            assert!(
                ClientBook::of_state(VERSION, &state[..end]).is_err(),
                "{end}"
            );
        }
        let mut other = state.clone();
        other[20] ^= 1;
        let error = read.read(VERSION, &other).unwrap_err();
        assert_eq!(error, "the state of the client is damaged");
        let error = read.read(2, &state).unwrap_err();
        assert_eq!(
            error,
            "the state of the client has version 2, and this build reads version 1"
        );
        assert_eq!(read.hash(), before);
    }
}
