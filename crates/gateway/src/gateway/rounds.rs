//! Detects routing loops: messages that the gateway sends to a session and receives back from it.
//!
//! ```text
//! PEER > rule sends to PEER > PEER sends it back > the rule ... at most MAX_ROUNDS times
//! the gateway's own answer  > PEER sends it back > the gateway drops it
//! ```
//!
//! A message is recognised by its fields, except the fields that each gateway rewrites. Only the last [`SLOTS`]
//! messages are remembered, and not across a restart.

use alloc::vec::Vec;
use core::hash::Hasher;

use fixwire_protocol::{Message, SOH, SessionId, Tag, tag};
use siphasher::sip::SipHasher13;

use crate::Draft;
use crate::orders::table::is_id;

/// Number of times that a message may come back from a session and be sent to it again.
pub(super) const MAX_ROUNDS: u16 = 8;
/// Number of messages kept.
const SLOTS: usize = 1024;

/// Routing fields of third parties, which gateways change on a message's way.
const PARTIES: [Tag; 6] = [
    tag::ON_BEHALF_OF_COMP_ID,
    tag::ON_BEHALF_OF_SUB_ID,
    tag::ON_BEHALF_OF_LOCATION_ID,
    tag::DELIVER_TO_COMP_ID,
    tag::DELIVER_TO_SUB_ID,
    tag::DELIVER_TO_LOCATION_ID,
];

/// A record of a message sent to a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Sent {
    pub session: SessionId,
    pub(super) print: u64,
    /// Number of times that the message has come back and was sent again.
    pub rounds: u16,
    /// The rule that sent the message; `None` for the gateway's own answer.
    pub rule: Option<usize>,
}

/// The last messages that were sent to sessions that may send them back.
pub(super) struct Rounds {
    pub(super) slots: Vec<Option<Sent>>,
    pub(super) hasher: SipHasher13,
    /// Whether ids pass the gateway unchanged, so that ids distinguish messages with the same TransactTime(60).
    pub(super) ids_pass: bool,
}

/// A hash of a message's fields, independent of their order.
struct Print {
    sum: u64,
    ids: u64,
    is_dated: bool,
}

impl Rounds {
    pub fn new(key: [u8; 16], ids_pass: bool) -> Self {
        Self {
            slots: alloc::vec![None; SLOTS],
            hasher: SipHasher13::new_with_key(&key),
            ids_pass,
        }
    }

    /// The hash of a sent message, from its draft.
    pub fn of_draft(&self, draft: &Draft) -> u64 {
        let mut print = self.begin(draft.msg_type());
        for at in 0..draft.len() {
            self.add(&mut print, draft.tag(at), draft.value(at));
        }
        print.end(self.ids_pass)
    }

    /// The hash of a sent message, as it was written.
    pub fn of_body(&self, msg_type: &[u8], body: &[u8]) -> u64 {
        let mut print = self.begin(msg_type);
        for field in body.split(|byte| *byte == SOH) {
            let equals = field.iter().position(|byte| *byte == b'=');
            let Some((tag, value)) = equals.map(|at| (&field[..at], &field[at + 1..])) else {
                continue;
            };
            let tag = core::str::from_utf8(tag)
                .ok()
                .and_then(|tag| tag.parse().ok());
            self.add(&mut print, tag.unwrap_or(0), value);
        }
        print.end(self.ids_pass)
    }

    /// The hash of a received message.
    pub fn of_message(&self, message: &Message<'_>) -> u64 {
        let mut print = self.begin(message.msg_type());
        for field in message.fields() {
            if !crate::draft::is_of_the_session(field.tag) {
                self.add(&mut print, field.tag, message.value(*field));
            }
        }
        print.end(self.ids_pass)
    }

    fn begin(&self, msg_type: &[u8]) -> Print {
        Print {
            sum: self.hash(tag::MSG_TYPE, msg_type),
            ids: 0,
            is_dated: false,
        }
    }

    fn add(&self, print: &mut Print, tag: Tag, value: &[u8]) {
        print.is_dated |= tag == tag::TRANSACT_TIME;
        let to = match tag {
            _ if PARTIES.contains(&tag) => return,
            _ if is_id(tag) => &mut print.ids,
            _ => &mut print.sum,
        };
        *to = to.wrapping_add(self.hash(tag, value));
    }

    fn hash(&self, tag: Tag, value: &[u8]) -> u64 {
        let mut hasher = self.hasher;
        hasher.write_u32(tag);
        hasher.write(value);
        hasher.finish()
    }

    /// The record of this message, if it came from this session and was sent to the same session before.
    pub fn find(&self, session: SessionId, print: u64) -> Option<Sent> {
        let sent = (*self.slots.get(slot(print))?)?;
        ((sent.session, sent.print) == (session, print)).then_some(sent)
    }

    /// Records a sent message.
    pub fn note(&mut self, session: SessionId, print: u64, rounds: u16, rule: Option<usize>) {
        self.slots[slot(print)] = Some(Sent {
            session,
            print,
            rounds,
            rule,
        });
    }
}

impl Print {
    /// The hash of the message. Ids are included if they pass unchanged, or if the message has no time, because
    /// repeated requests then differ only by their ids.
    fn end(self, ids_pass: bool) -> u64 {
        match self.is_dated && !ids_pass {
            true => self.sum,
            false => self.sum.wrapping_add(self.ids),
        }
    }
}

fn slot(print: u64) -> usize {
    print as usize % SLOTS
}
