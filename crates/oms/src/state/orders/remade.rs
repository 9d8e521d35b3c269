//! Orders for which the venue carries out a replace as Canceled and New, and which of these two reports have arrived.
//!
//! ```text
//! replace 25 in flight > Canceled under 17 > CancelHeld       New under 17-25 > Replaced, the order goes on
//!                                                             cancel reject   > Declined, Ended
//! replace 25 in flight > New under 17-25 > Replaced, ReplacedAsNew     Canceled under 17 > CancelDropped
//! ```

use alloc::collections::BTreeMap;

use crate::values::units::Rescale;
use crate::values::value::{Number, Quantity};
use fixwire_ledger::{Put, Wire, record};

/// The reports of the venue so far for a replace that it carries out as Canceled and New.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RemadeStep {
    /// Canceled arrived while a replace is in flight. The answer to the replace decides whether the order is closed.
    Held {
        /// CumQty(14).
        filled: Quantity,
        /// TransactTime(60), in nanoseconds since 1970; 0 for none.
        at: i64,
        /// Whether the report had the ClOrdID of the replace.
        of_replace: bool,
    },
    /// New arrived with the ClOrdID(11) of the replace. A Canceled with the former ClOrdID belongs to the replace, and
    /// does not close the order.
    Former {
        /// The number that the order had at the venue before the replace.
        number: Number,
        /// Time at which New arrived, in nanoseconds since 1970.
        at: i64,
    },
    /// The order was closed in the OMS, but is open at the venue under the ClOrdID(11) of this replace. A cancel was
    /// sent.
    Stray(Number),
}

/// The step that each of these orders has reached, by order number. On most days no order is here.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemadeOrders(pub(crate) BTreeMap<Number, RemadeStep>);

record! { RemadeOrders(_) }

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

    /// Gives the quantities that venues reported for some orders more decimals.
    pub(crate) fn rescale(&mut self, is_its: impl Fn(Number) -> bool, by: Rescale) {
        for (_, step) in self.0.iter_mut().filter(|(order, _)| is_its(**order)) {
            if let RemadeStep::Held { filled, .. } = step {
                by.quantity(filled);
            }
        }
    }

    /// Forgets an order: its replace is answered, or it is no longer in memory.
    #[cold]
    pub(crate) fn forget(&mut self, order: Number) -> Option<()> {
        self.0.remove(&order).map(|_| ())
    }
}

impl Wire<'_> for RemadeStep {
    fn put(&self, to: &mut impl Put) {
        let (kind, number, at) = match *self {
            Self::Held {
                filled,
                at,
                of_replace,
            } => (if of_replace { 3 } else { 0_u8 }, filled, at),
            Self::Former { number, at } => (1, number, at),
            Self::Stray(number) => (2, number, 0),
        };
        kind.put(to);
        (number, at).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (kind, (number, at)): (u8, (u64, i64)) = Wire::take(from)?;
        Some(match kind {
            0 | 3 => Self::Held {
                filled: number,
                at,
                of_replace: kind == 3,
            },
            1 => Self::Former { number, at },
            2 if at == 0 => Self::Stray(number),
            _ => return None,
        })
    }
}
