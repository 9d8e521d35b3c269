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

use fixwire_protocol::{Message, SOH, SessionId, Tag, tag};
use siphasher::sip::SipHasher13;

use crate::Draft;
use crate::orders::table::is_id;

/// Number of times that a message may come back from a session and be sent to it again.
pub(super) const MAX_ROUNDS: u16 = 8;
/// Number of messages kept.
const SLOTS: usize = 1024;

/// Whether gateways change this field on a message's way: it is a routing field of third parties.
fn is_of_parties(tag: Tag) -> bool {
    matches!(
        tag,
        tag::ON_BEHALF_OF_COMP_ID
            | tag::ON_BEHALF_OF_SUB_ID
            | tag::ON_BEHALF_OF_LOCATION_ID
            | tag::DELIVER_TO_COMP_ID
            | tag::DELIVER_TO_SUB_ID
            | tag::DELIVER_TO_LOCATION_ID
    )
}

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
    /// For each session, the types of all messages recorded for it so far, as bits; see [`type_bit`].
    pub(super) types: Vec<u64>,
    /// The key of the hashes. A peer that finds two messages with the same hash misleads the gateway only about the
    /// peer's own messages.
    pub(super) key: [u64; 2],
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
    pub fn new(key: [u8; 16], ids_pass: bool, sessions: usize) -> Self {
        let hasher = SipHasher13::new_with_key(&key);
        Self {
            slots: alloc::vec![None; SLOTS],
            types: alloc::vec![0; sessions],
            key: [b"start", b"step "].map(|purpose| hasher.hash(purpose)),
            ids_pass,
        }
    }

    /// Whether a message of this type may have been sent to this session; if not, [`find`](Self::find) finds none.
    pub fn may_have(&self, session: SessionId, msg_type: &[u8]) -> bool {
        let types = self.types.get(session.0 as usize);
        types.is_some_and(|types| types & type_bit(msg_type) != 0)
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
            _ if is_of_parties(tag) => return,
            _ if is_id(tag) => &mut print.ids,
            _ => &mut print.sum,
        };
        *to = to.wrapping_add(self.hash(tag, value));
    }

    /// The hash of one field. The words of a value may overlap; its length is part of the hash.
    fn hash(&self, tag: Tag, value: &[u8]) -> u64 {
        let [start, step] = self.key;
        let (step, last) = (step ^ MIX[0], step ^ MIX[1]);
        // Before the first word, so that no byte of it cancels another length.
        let mut sum = mixed(start ^ (u64::from(tag) << 32 | value.len() as u64), step);
        if let Some(end) = value.last_chunk::<8>() {
            for word in value.as_chunks::<8>().0 {
                sum = mixed(sum ^ u64::from_ne_bytes(*word), step);
            }
            sum = mixed(sum ^ u64::from_ne_bytes(*end), step);
        } else {
            let word = value
                .iter()
                .fold(0, |word, byte| word << 8 | u64::from(*byte));
            sum = mixed(sum ^ word, step);
        }
        mixed(sum, last)
    }

    /// The record of this message, if it came from this session and was sent to the same session before.
    pub fn find(&self, session: SessionId, print: u64) -> Option<Sent> {
        let sent = (*self.slots.get(slot(print))?)?;
        ((sent.session, sent.print) == (session, print)).then_some(sent)
    }

    /// Records a sent message of this type.
    pub fn note(&mut self, msg_type: &[u8], sent: Sent) {
        if let Some(types) = self.types.get_mut(sent.session.0 as usize) {
            *types |= type_bit(msg_type);
        }
        self.slots[slot(sent.print)] = Some(sent);
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

/// The bit of a message type. Some types share a bit.
fn type_bit(msg_type: &[u8]) -> u64 {
    let number = msg_type.iter().fold(0_u32, |number, byte| {
        number.wrapping_mul(7).wrapping_add((*byte).into())
    });
    1 << (number % 64)
}

/// Numbers whose bits have no pattern: digits of pi.
const MIX: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// The halves of a product, added without carries.
fn mixed(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_harness::Random;
    use fixwire_protocol::Decoder;
    use std::collections::HashSet;
    use std::string::String;

    /// A message of these fields, as it is received.
    fn received(fields: &[(Tag, String)]) -> Vec<u8> {
        let mut text = String::from("8=FIX.4.4\x0135=D\x0149=A\x0134=7\x01");
        for (tag, value) in fields {
            text += &std::format!("{tag}={value}\x01");
        }
        text.into_bytes()
    }

    #[test]
    fn equal_messages_have_the_same_hash_and_others_have_not() {
        let rounds = Rounds::new([7; 16], true, 1);
        let mut random = Random::new(5);
        let mut hashes = HashSet::new();
        let mut messages = HashSet::new();
        for _ in 0..20_000 {
            let mut fields: Vec<(Tag, String)> = (0..random.below(5))
                .map(|at| {
                    // A message with an empty value is malformed.
                    let len = 1 + random.below(20) as usize;
                    let text = (0..len).map(|_| ['a', 'b'][random.below(2) as usize]);
                    (200 + at as Tag, text.collect())
                })
                .collect();
            let bytes = received(&fields);
            let mut decoder = Decoder::with_capacity(16);
            let message = decoder.decode(&bytes);
            let hash = rounds.of_message(&message);
            let mut draft = Draft::default();
            draft.load(&message);
            assert_eq!(rounds.of_draft(&draft), hash);
            assert_eq!(rounds.of_body(b"D", draft.encode()), hash);
            fields.reverse();
            let turned = received(&fields);
            assert_eq!(rounds.of_message(&decoder.decode(&turned)), hash);
            assert_eq!(
                hashes.insert(hash),
                messages.insert(fields.clone()),
                "{fields:?}"
            );
        }
    }

    #[test]
    fn only_sent_types_are_looked_for() {
        let mut rounds = Rounds::new([7; 16], true, 2);
        let sent = Sent {
            session: SessionId(1),
            print: 9,
            rounds: 1,
            rule: None,
        };
        assert!(!rounds.may_have(SessionId(1), b"D"));
        rounds.note(b"D", sent);
        assert!(rounds.may_have(SessionId(1), b"D"));
        assert!(!rounds.may_have(SessionId(1), b"8"));
        assert!(!rounds.may_have(SessionId(0), b"D"));
        assert!(!rounds.may_have(SessionId(2), b"D"));
        assert_eq!(rounds.find(SessionId(1), 9), Some(sent));
    }
}
