//! The book as a [`Ledger`]: its state is rebuilt from notes and encoded as bytes. The bytes have the next numbers,
//! the finished ClOrdIDs, and then the open orders as they were sent, each with its requests.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::{Put, Wire, record, state_hash, whole, write_state};
use fixwire_protocol::{Ledger, Timestamp};

use super::{ClientBook, ClientOrder, FinishedId};
use crate::note::{ClientNote, SentNote};

const NAME: &str = "client";
/// Version of this encoding and of the notes.
const VERSION: u32 = 1;

/// The state of a client, rebuilt from its notes.
#[derive(Debug, Default)]
pub(crate) struct ClientLedger(ClientBook);

impl Ledger for ClientLedger {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, _: Timestamp, note: &[u8]) {
        if let Some(note) = ClientNote::of(note) {
            self.0.recall(&note);
        }
    }

    fn write(&self, give: &mut dyn FnMut(&[u8])) {
        write_state(give, |to| self.0.put(to));
    }

    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.0 = ClientBook::of_state(version, state)?;
        Ok(())
    }

    fn hash(&self) -> u64 {
        self.0.hash()
    }
}

record! { FinishedId { id, ord_status } }
record! { ClientOrder { id, ids, order_id, fields, ord_status, cum, leaves } }

impl Wire<'_> for ClientBook {
    fn put(&self, to: &mut impl Put) {
        self.next_id.put(to);
        self.groups.put(to);
        self.finished_ids.put(to);
        let open = self.open().map(|order| &self.orders[&order]);
        let open: Vec<&ClientOrder> = open.filter(|order| !order.ids.is_empty()).collect();
        open.len().put(to);
        for order in open {
            order.put(to);
            for id in &order.ids[1..] {
                let message = &self.messages[id];
                (&*message.msg_type, &*message.changes).put(to);
            }
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut book = Self {
            next_id: Wire::take(from)?,
            groups: Wire::take(from)?,
            finished_ids: Wire::take(from)?,
            ..Self::default()
        };
        let (next_id, groups) = (book.next_id, book.groups.clone());
        for _ in 0..usize::take(from)? {
            let order = ClientOrder::take(from)?;
            let (first, requests) = order.ids.split_first()?;
            let mut sent = |msg_type, id, of, fields| {
                let note = SentNote {
                    msg_type,
                    id,
                    of,
                    fields,
                };
                book.sent(&note, None);
            };
            sent("D", first, "", &order.fields);
            for id in requests {
                let (msg_type, changes) = Wire::take(from)?;
                sent(msg_type, id, first, changes);
            }
            let serial = book.last?;
            book.orders.insert(serial, order);
        }
        // The next numbers must be higher than all numbers in the ClOrdIDs of the orders.
        (book.next_id == next_id && book.groups == groups).then_some(book)
    }
}

impl ClientBook {
    /// A hash of the open and finished orders and of the next numbers.
    pub(crate) fn hash(&self) -> u64 {
        state_hash(|to| self.put(to))
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
        whole(state).ok_or_else(|| "the state of the client is damaged".into())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

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
        ClientNote::Sent { message: note }.write()
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
        ClientNote::Change { order: note }.write()
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
        // The restored ledger continues like the original.
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
        other[8] ^= 1;
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
