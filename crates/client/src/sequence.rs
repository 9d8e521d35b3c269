//! Which message has which MsgSeqNum(34), for rejects that name nothing else.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Most messages that are remembered.
const REMEMBERED: usize = 1_000_000;

/// The numbers of the messages that the client has written on this connection.
///
/// The engine does not report the number of an application's message to it. It does so for each admin message, and
/// the application's messages between two of them have the numbers in between, in order.
#[derive(Debug, Default)]
pub(crate) struct SentNumbers {
    /// The number of the next message, as far as is known.
    next: u64,
    /// The number of each message, and its ClOrdID(11) if it has one, in order.
    sent: VecDeque<(u64, Option<Box<str>>)>,
}

impl SentNumbers {
    /// The client has written a message.
    pub(crate) fn wrote(&mut self, id: Option<&str>) {
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((self.next, id.map(Box::from)));
        self.next += 1;
    }

    /// A new admin message gets this number: messages of the client that were to have it, or a later one,
    /// come behind it.
    pub(crate) fn admin(&mut self, seq: u64) {
        let behind = self.sent.iter_mut().rev().take_while(|sent| sent.0 >= seq);
        let mut count = 0;
        for sent in behind {
            sent.0 += 1;
            count += 1;
        }
        self.next = seq + 1 + count;
    }

    /// The numbers restart. A Logon has the first one, whether it was written before this or comes behind it.
    pub(crate) fn reset(&mut self) {
        *self = Self {
            next: 2,
            ..Self::default()
        };
    }

    /// The ClOrdID(11) of the message with this number.
    pub(crate) fn find(&self, seq: u64) -> Option<&str> {
        let at = self.sent.binary_search_by_key(&seq, |sent| sent.0).ok()?;
        self.sent[at].1.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_numbers_between_those_of_admin_messages() {
        let mut numbers = SentNumbers::default();
        numbers.admin(7);
        numbers.wrote(Some("a"));
        numbers.wrote(None);
        // A Heartbeat that was written before them leaves first.
        numbers.admin(8);
        numbers.wrote(Some("b"));
        numbers.admin(12);
        numbers.wrote(Some("c"));
        let found = [7, 8, 9, 10, 11, 12, 13, 14].map(|seq| numbers.find(seq));
        assert_eq!(
            found,
            [
                None,
                None,
                Some("a"),
                None,
                Some("b"),
                None,
                Some("c"),
                None
            ]
        );
        numbers.reset();
        numbers.wrote(Some("d"));
        assert_eq!((numbers.find(2), numbers.find(9)), (Some("d"), None));
    }
}
