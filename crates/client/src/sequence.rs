//! Maps MsgSeqNum(34) to messages, for rejects that identify a message only by its MsgSeqNum.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Maximum number of messages that are remembered.
const REMEMBERED: usize = 1_000_000;

/// MsgSeqNums of the messages that the client has sent on this connection.
///
/// The engine does not tell an application which MsgSeqNum its own messages got. The engine reports the MsgSeqNum of
/// each admin message, however. The application's messages between two admin messages have the MsgSeqNums between them,
/// in order.
#[derive(Debug, Default)]
pub(crate) struct SentNumbers {
    /// The next MsgSeqNum; 0 if unknown.
    pub(crate) next: u64,
    /// The messages in order, each with its MsgSeqNum, and with its ClOrdID(11) if it has one.
    pub(crate) sent: VecDeque<(u64, Option<Box<str>>)>,
}

impl SentNumbers {
    /// Records a message of the client.
    pub(crate) fn wrote(&mut self, id: Option<&str>) {
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((self.next, id.map(Box::from)));
        self.next += 1;
    }

    /// Records the MsgSeqNum of an admin message. Messages of the client that were expected to have this MsgSeqNum or
    /// a higher one follow the admin message.
    pub(crate) fn admin(&mut self, seq: u64) {
        let behind = self.sent.iter_mut().rev().take_while(|sent| sent.0 >= seq);
        let mut count = 0;
        for sent in behind {
            sent.0 += 1;
            count += 1;
        }
        self.next = seq + 1 + count;
    }

    /// Handles a sequence reset by a Logon with MsgSeqNum 1. The Logon may be recorded before or after the reset.
    pub(crate) fn reset(&mut self) {
        *self = Self {
            next: 2,
            ..Self::default()
        };
    }

    /// The ClOrdID(11) of the message with this MsgSeqNum.
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
        // A Heartbeat that was written before these messages is sent first.
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
