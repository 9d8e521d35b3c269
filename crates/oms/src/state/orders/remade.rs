//! Orders whose replace the venue does as Canceled and New: what it has said of it so far.
//!
//! ```text
//! replace 25 in flight > Canceled under 17 > CancelHeld       New under 17-25 > Replaced, the order goes on
//!                                                             cancel reject   > Declined, Ended
//! replace 25 in flight > New under 17-25 > Replaced, ReplacedAsNew     Canceled under 17 > CancelDropped
//! ```

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::values::value::{Number, Quantity};
use fixwire_ledger::Wire;

/// What a venue has said of an order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RemadeStep {
    /// Canceled, with a replace in flight whose answer decides.
    Held {
        /// CumQty(14).
        filled: Quantity,
        /// TransactTime(60), in nanoseconds since 1970; 0 for none.
        at: i64,
        /// It was said under the id of the replace.
        of_replace: bool,
    },
    /// New under the replace's id: Canceled of the order under its former number is part of it.
    Former {
        /// The former number.
        number: Number,
        /// When that was, in nanoseconds since 1970.
        at: i64,
    },
    /// Open under the id of a replace after the order was closed: a cancel of that was sent.
    Stray(Number),
}

/// Orders by number; empty for most days.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemadeOrders(pub(crate) BTreeMap<Number, RemadeStep>);

impl RemadeOrders {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, order: Number) -> Option<RemadeStep> {
        self.0.get(&order).copied()
    }

    pub(crate) fn is_held(&self, order: Number) -> bool {
        matches!(self.get(order), Some(RemadeStep::Held { .. }))
    }

    #[cold]
    pub(crate) fn set(&mut self, order: Number, step: RemadeStep) {
        self.0.insert(order, step);
    }

    /// What was said is answered, or the order is no longer in memory.
    #[cold]
    pub(crate) fn forget(&mut self, order: Number) -> Option<()> {
        self.0.remove(&order).map(|_| ())
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        (self.0.len() as u32).put(to);
        for (order, step) in &self.0 {
            order.put(to);
            let (kind, number, at) = match *step {
                RemadeStep::Held {
                    filled,
                    at,
                    of_replace,
                } => (if of_replace { 3 } else { 0_u8 }, filled, at),
                RemadeStep::Former { number, at } => (1, number, at),
                RemadeStep::Stray(number) => (2, number, 0),
            };
            kind.put(to);
            number.put(to);
            at.put(to);
        }
    }

    pub(crate) fn take(from: &mut &[u8]) -> Option<Self> {
        let mut all = BTreeMap::new();
        for _ in 0..u32::take(from)? {
            let order = Wire::take(from)?;
            let kind = u8::take(from)?;
            let (number, at) = (u64::take(from)?, i64::take(from)?);
            let step = match kind {
                0 | 3 => RemadeStep::Held {
                    filled: number,
                    at,
                    of_replace: kind == 3,
                },
                1 => RemadeStep::Former { number, at },
                2 if at == 0 => RemadeStep::Stray(number),
                _ => return None,
            };
            all.insert(order, step);
        }
        Some(Self(all))
    }
}
