//! The keys of a message in an index: a hash of each id, and a hash of sender and MsgSeqNum.

use fixwire_protocol::Tag;
use fixwire_protocol::value::uint;
use twox_hash::XxHash64;

use crate::field::fields;

/// A hash of bytes that is the same on every machine.
pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    XxHash64::oneshot(seed, bytes)
}

/// The kind of an id. Ids of the same kind match, whatever tag they have.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum IdKind {
    /// ClOrdID(11), OrigClOrdID(41), SecondaryClOrdID(526).
    Client,
    /// OrderID(37), SecondaryOrderID(198).
    Order,
    /// ExecID(17), and ExecRefID(19), which refers to an ExecID.
    Execution,
    /// Any other tag; each is a kind of its own.
    Other(Tag),
}

impl IdKind {
    /// The kind of ids in fields with this tag; `None` for a tag that is not indexed.
    pub(crate) fn of(tag: Tag) -> Option<Self> {
        match tag {
            11 | 41 | 526 => Some(Self::Client),
            37 | 198 => Some(Self::Order),
            17 | 19 => Some(Self::Execution),
            66 | 70 | 117 | 131 | 527 | 571 | 583 | 790 | 880 | 1003 => Some(Self::Other(tag)),
            _ => None,
        }
    }

    /// The hash of an id.
    pub(crate) fn key(self, value: &[u8]) -> u64 {
        let seed = match self {
            Self::Client => 1,
            Self::Order => 2,
            Self::Execution => 3,
            Self::Other(tag) => 16 + u64::from(tag),
        };
        hash(seed, value)
    }
}

/// The hash of a sender and a target.
pub(crate) fn pair(sender: &[u8], target: &[u8]) -> u64 {
    hash(hash(4, sender), target)
}

/// The hash for a reject's reference to a MsgSeqNum. `pair` is the hash of the reject's own sender and target.
pub(crate) fn reference(number: u64, pair: u64) -> u64 {
    hash(hash(5, &number.to_le_bytes()), &pair.to_le_bytes())
}

/// The hash of a message's sender and MsgSeqNum, for a block with too many senders to list them.
pub(crate) fn numbered(number: u64, pair: u64) -> u64 {
    hash(hash(6, &number.to_le_bytes()), &pair.to_le_bytes())
}

/// The sender of a message, as a hash with the target, and its MsgSeqNum(34).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Numbered {
    pub(crate) pair: u64,
    pub(crate) number: Option<u64>,
}

/// Calls `add` with the hash of each id in a message.
pub(crate) fn keys_of(bytes: &[u8], mut add: impl FnMut(u64)) -> Numbered {
    let [mut sender, mut target, mut number, mut msg_type] = [None::<&[u8]>; 4];
    let mut refers = false;
    for (tag, value) in fields(bytes) {
        let first = match tag {
            34 => &mut number,
            35 => &mut msg_type,
            49 => &mut sender,
            56 => &mut target,
            45 => {
                refers = true;
                continue;
            }
            _ => {
                if let Some(kind) = IdKind::of(tag) {
                    add(kind.key(value));
                }
                continue;
            }
        };
        first.get_or_insert(value);
    }
    let pair = pair(sender.unwrap_or_default(), target.unwrap_or_default());
    if refers && matches!(msg_type, Some(b"3" | b"j")) {
        let numbers = fields(bytes).filter(|(tag, _)| *tag == 45);
        for number in numbers.filter_map(|(_, value)| uint(value).ok()) {
            add(reference(number, pair));
        }
    }
    let number = number.and_then(|value| uint(value).ok());
    Numbered { pair, number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_kind_are_the_same_whatever_their_tag() {
        let keys = |text: &str| {
            let mut keys = Vec::new();
            let bytes = text.replace('|', "\x01").into_bytes();
            let numbered = keys_of(&bytes, |key| keys.push(key));
            (keys, numbered.number)
        };
        let (order, number) = keys("8=FIX.4.4|35=D|34=7|49=A|56=B|11=X|");
        let (cancel, _) = keys("8=FIX.4.4|35=F|34=8|49=A|56=B|41=X|58=11|");
        assert_eq!((order.len(), number), (1, Some(7)));
        assert_eq!(order, cancel);
        let (report, _) = keys("8=FIX.4.4|35=8|34=8|37=X|");
        assert_ne!(order, report);
        let (reject, _) = keys("35=3|45=7|49=B|56=A|");
        assert_eq!(reject, [reference(7, pair(b"B", b"A"))]);
        assert_eq!(keys("35=8|45=7|49=B|56=A|").0, [0_u64; 0]);
    }
}
