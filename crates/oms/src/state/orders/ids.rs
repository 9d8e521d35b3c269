//! The ClOrdIDs of a day. Each takes 16 bytes, whatever its length.

use core::cell::Cell;

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::scope::Scope;
use crate::values::value::{Number, OrderType, Price, Quantity, Side, Text};
use fixwire_ledger::{Put, Wire};

/// The owner of an id. Ids of different owners never count as equal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IdOwner {
    /// The ids of a session's requests.
    Session(SessionNo),
    /// The numbers of all pools.
    Pools,
}

impl IdOwner {
    /// The bytes of the owner, which are hashed together with the bytes of the id.
    fn bytes(self) -> [u8; 4] {
        match self {
            Self::Session(session) => session.place().to_le_bytes(),
            Self::Pools => [0xFE, 0xFF, 0xFF, 0xFF],
        }
    }
}

impl From<SessionNo> for IdOwner {
    fn from(session: SessionNo) -> Self {
        Self::Session(session)
    }
}

/// What a ClOrdID(11) used today belongs to, in eight bytes: the number of an order, 0 for a request without an order,
/// or a new order that was rejected, with the reason.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct UsedBy(u64);

/// Why a new order was rejected, as far as it is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RejectedFor {
    /// The whole reason.
    Reason(Reason),
    /// The reason without its value, limit and scope.
    Why(Why),
}

impl UsedBy {
    /// A request without an order.
    pub(crate) const REQUEST: Self = Self(0);
    /// The bit of a rejected order.
    const REJECTED: u64 = 1 << 63;
    /// The bit of a reason of which nothing is left out.
    const WHOLE: u64 = 1 << 62;
    /// The bits of the reason's value, below those of the reason.
    const VALUE: u64 = (1 << Self::WHY) - 1;
    const WHY: u32 = 32;

    /// A new order that was rejected.
    pub(crate) fn rejected(reason: &Reason) -> Self {
        let Reason {
            why,
            scope,
            value,
            limit,
        } = *reason;
        let because = Self::rejected_because(why);
        match u32::try_from(value) {
            Ok(value) if scope == Scope::Firm && limit == 0 => {
                Self(because.0 | Self::WHOLE | u64::from(value))
            }
            _ => because,
        }
    }

    fn rejected_because(why: Why) -> Self {
        Self(Self::REJECTED | u64::from(why.byte()) << Self::WHY)
    }

    /// The number of the order; 0 if the id belongs to no order.
    pub(crate) fn order(self) -> Number {
        match self.0 & Self::REJECTED {
            0 => self.0,
            _ => 0,
        }
    }

    /// Why the new order was rejected; `None` if the id belongs to an order or another request.
    pub(crate) fn why(self) -> Option<RejectedFor> {
        let is_rejected = self.0 & Self::REJECTED > 0;
        let byte = u8::try_from(self.0 >> Self::WHY & 0xFF).ok();
        let why = Why::of(byte.filter(|_| is_rejected)?)?;
        Some(match self.0 & Self::WHOLE {
            0 => RejectedFor::Why(why),
            _ => RejectedFor::Reason(Reason {
                value: (self.0 & Self::VALUE).into(),
                ..Reason::of(why)
            }),
        })
    }
}

impl From<Number> for UsedBy {
    fn from(order: Number) -> Self {
        Self(order)
    }
}

impl Wire<'_> for UsedBy {
    fn put(&self, to: &mut impl Put) {
        self.0.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let used = Self(Wire::take(from)?);
        let written = match used.why() {
            None => used.order().into(),
            Some(RejectedFor::Reason(reason)) => Self::rejected(&reason),
            Some(RejectedFor::Why(why)) => Self::rejected_because(why),
        };
        (used == written).then_some(used)
    }
}

/// A ClOrdID(11) used today, as a hash, and what it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub hash: u64,
    pub by: UsedBy,
}

/// The ids used today. Two ids with the same 64-bit hash count as equal; clients do not know the key of the hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pub(crate) key: u128,
    pub(crate) used: HashTable<Used>,
    /// The id that was hashed last. A request is looked up before its id is added, and a cancel often names the order
    /// that came right before.
    pub(crate) last: Cell<Option<LastHash>>,
    /// The content of the order that was hashed last, and its hash: an order is checked before it is added.
    pub(crate) last_order: Cell<Option<(OrderContent, u64)>>,
}

/// The fields that identical orders share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct OrderContent {
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    pub side: Side,
    pub kind: OrderType,
    pub quantity: Quantity,
    pub price: Price,
}

impl OrderContent {
    fn bytes(&self) -> [u8; 34] {
        let mut bytes = [0; 34];
        let words = [
            u64::from(self.account.place()),
            u64::from(self.instrument.place()),
            self.quantity,
            self.price.cast_unsigned(),
        ];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[32..].copy_from_slice(&[self.side.byte(), self.kind.byte()]);
        bytes
    }
}

/// A short id with its owner and its hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastHash {
    owner: [u8; 4],
    /// Number of bytes of the id.
    len: usize,
    id: [u8; LastHash::MOST],
    hash: u64,
}

impl LastHash {
    /// Longer ids are hashed each time.
    const MOST: usize = 24;
}

impl Ids {
    pub(crate) fn new(key: u128, capacity: usize) -> Self {
        Self {
            key,
            used: HashTable::with_capacity(capacity),
            last: Cell::default(),
            last_order: Cell::default(),
        }
    }

    /// Reserves memory for more ids. Without it, hashes that are copied in the sequence of another table would collide
    /// while this table grows.
    pub(crate) fn reserve(&mut self, ids: usize) {
        self.used.reserve(ids, |used| used.hash);
    }

    pub(crate) fn key(&self) -> u128 {
        self.key
    }

    pub(crate) fn len(&self) -> usize {
        self.used.len()
    }

    pub(crate) fn hash(&self, owner: IdOwner, id: &[u8]) -> u64 {
        let owner = owner.bytes();
        if let Some(last) = self.last.get()
            && last.len == id.len()
            && last.owner == owner
            && last.id.starts_with(id)
        {
            return last.hash;
        }
        self.hash_anew(owner, id)
    }

    /// Hashes an id, and keeps the hash if the id is short.
    #[inline(never)]
    fn hash_anew(&self, owner: [u8; 4], id: &[u8]) -> u64 {
        let hasher = self.hasher();
        // All bytes are hashed at once, which takes half the time.
        let mut bytes = [0; 4 + Text::MAX];
        bytes[..4].copy_from_slice(&owner);
        let Some(place) = bytes.get_mut(4..4 + id.len()) else {
            return hasher.hash(&[&owner[..], id].concat());
        };
        place.copy_from_slice(id);
        let hash = hasher.hash(&bytes[..4 + id.len()]);
        if id.len() <= LastHash::MOST
            && let Some(id_bytes) = bytes[4..].first_chunk()
        {
            self.last.set(Some(LastHash {
                owner,
                len: id.len(),
                id: *id_bytes,
                hash,
            }));
        }
        hash
    }

    /// The keyed hash of an order's content.
    pub(crate) fn hash_of_order(&self, content: OrderContent) -> u64 {
        match self.last_order.get() {
            Some((last, hash)) if last == content => hash,
            _ => {
                let hash = self.hasher().hash(&content.bytes());
                self.last_order.set(Some((content, hash)));
                hash
            }
        }
    }

    fn hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_key(&self.key.to_le_bytes())
    }

    pub(crate) fn find(&self, owner: impl Into<IdOwner>, id: &[u8]) -> Option<UsedBy> {
        let hash = self.hash(owner.into(), id);
        let found = self.used.find(hash, |used| used.hash == hash);
        found.map(|used| used.by)
    }

    pub(crate) fn add(&mut self, owner: impl Into<IdOwner>, id: &[u8], by: impl Into<UsedBy>) {
        let hash = self.hash(owner.into(), id);
        let by = by.into();
        self.add_hash(Used { hash, by });
    }

    pub(crate) fn add_hash(&mut self, used: Used) {
        let known = self
            .used
            .find_mut(used.hash, |other| other.hash == used.hash);
        match known {
            // An id keeps its order, or what it belonged to first.
            Some(_) if used.by.order() == 0 => {}
            Some(known) => *known = used,
            None => self.add_new(used),
        }
    }

    /// Adds an id that the table does not have yet. A checkpoint has each id once.
    pub(crate) fn add_new(&mut self, used: Used) {
        self.used.insert_unique(used.hash, used, |other| other.hash);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Used> {
        self.used.iter()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn an_id_keeps_why_its_order_was_rejected() {
        for why in Why::ALL {
            let whole = Reason {
                value: 55,
                ..Reason::of(*why)
            };
            let used = UsedBy::rejected(&whole);
            assert_eq!(
                (used.order(), used.why()),
                (0, Some(RejectedFor::Reason(whole)))
            );
            let parts = [
                Reason {
                    value: -1,
                    ..Reason::of(*why)
                },
                Reason { limit: 1, ..whole },
                Reason {
                    scope: Scope::Session(SessionNo::new(1)),
                    ..whole
                },
            ];
            for part in parts {
                let used = UsedBy::rejected(&part);
                assert_eq!(
                    (used.order(), used.why()),
                    (0, Some(RejectedFor::Why(*why)))
                );
            }
        }
        let known = [UsedBy::from(7_u64), UsedBy::REQUEST];
        assert_eq!(known.map(UsedBy::order), [7, 0]);
        assert_eq!(known.map(UsedBy::why), [None, None]);
    }

    #[test]
    fn an_id_keeps_what_it_belongs_to() {
        let mut ids = Ids::new(0, 4);
        let session = SessionNo::new(0);
        let rejected = UsedBy::rejected(&Reason::of(Why::Symbol));
        ids.add(session, b"A", rejected);
        ids.add(session, b"A", UsedBy::REQUEST);
        assert_eq!(ids.find(session, b"A"), Some(rejected));
        ids.add(session, b"A", 7_u64);
        ids.add(session, b"A", rejected);
        assert_eq!(ids.find(session, b"A"), Some(UsedBy::from(7_u64)));
    }

    #[test]
    fn a_hash_that_is_kept_is_that_of_its_id_and_owner() {
        let ids = Ids::new(7, 4);
        let owners = [
            IdOwner::Session(SessionNo::new(0)),
            IdOwner::Session(SessionNo::new(256)),
            IdOwner::Pools,
        ];
        let text = [b'A'; Text::MAX + 2];
        let lens = [0, 1, 2, 23, 24, 25, Text::MAX, Text::MAX + 2];
        for first in owners {
            for one in lens {
                for second in owners {
                    for other in lens {
                        ids.hash(first, &text[..one]);
                        let anew = Ids::new(7, 0).hash(second, &text[..other]);
                        assert_eq!(ids.hash(second, &text[..other]), anew);
                    }
                }
            }
        }
        assert_ne!(ids.hash(owners[0], b"AB"), ids.hash(owners[0], b"AC"));
    }

    #[test]
    fn a_hash_of_an_order_is_that_of_its_content() {
        let ids = Ids::new(7, 4);
        let one = OrderContent {
            account: AccountNo::new(1),
            instrument: InstrumentNo::new(2),
            side: Side::Buy,
            kind: OrderType::Limit,
            quantity: 100,
            price: 1250,
        };
        let others = [
            one,
            OrderContent { price: 1251, ..one },
            OrderContent {
                side: Side::Sell,
                ..one
            },
            OrderContent {
                kind: OrderType::StopLimit,
                ..one
            },
        ];
        let mut hashes = Vec::new();
        for content in others {
            ids.hash_of_order(one);
            let hash = ids.hash_of_order(content);
            assert_eq!(hash, Ids::new(7, 0).hash_of_order(content));
            hashes.push(hash);
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), others.len());
    }

    #[test]
    fn a_reason_that_is_unknown_is_not_read() {
        let mut bytes = alloc::vec::Vec::new();
        let because = UsedBy::rejected_because(Why::Symbol);
        for wrong in [
            UsedBy::REJECTED | 0xFF << UsedBy::WHY,
            because.0 | 1,
            because.0 | 1 << 50,
        ] {
            bytes.clear();
            UsedBy(wrong).put(&mut bytes);
            assert_eq!(UsedBy::take(&mut bytes.as_slice()), None, "{wrong:x}");
        }
    }
}
