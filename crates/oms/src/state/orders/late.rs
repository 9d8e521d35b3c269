//! Replaces whose reports arrive late or out of order. TransactTime(60) shows which of two reports is older.
//!
//! ```text
//! replace 25 sent > line breaks > status without it > 25 given up      the client gets an OrderCancelReject
//! replace 26 sent                                                      and may replace the order again
//! the venue replaced by 26 at 10:00:05, by 25 at 10:00:07              reports in any order: 25 has the terms
//! ```
//!
//! Quantity and price each have a time of their own, because a report over TMP may have only one of them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::values::value::{Number, Price, Quantity};
use fixwire_ledger::record;

/// Maximum number of replaces that are remembered for an order; the oldest ones are forgotten.
const REMEMBERED: usize = 8;

/// An order whose terms may be reported out of order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LateTerms {
    /// Numbers of replaces that the OMS gave up, and that the venue may still carry out. A replace stays in the list
    /// after its answer, because its reports may arrive again.
    pub(crate) known: Vec<Number>,
    /// TransactTime(60) of the report that set the quantity, in nanoseconds since 1970; 0 when it is unknown.
    pub(crate) quantity_at: i64,
    /// TransactTime(60) of the report that set the price.
    pub(crate) price_at: i64,
}

record! { LateTerms { known, quantity_at, price_at } }

/// Orders with a replace that was given up, and replaced orders that were placed elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct LateReplaces(pub(crate) BTreeMap<Number, LateTerms>);

record! { LateReplaces(_) }

impl LateReplaces {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a report of this replace may still arrive.
    pub(crate) fn knows(&self, request: Number) -> bool {
        self.0.values().any(|terms| terms.known.contains(&request))
    }

    pub(crate) fn get(&self, order: Number) -> Option<&LateTerms> {
        self.0.get(&order)
    }

    /// Remembers a replace that the venue did not receive; returns the replace that is forgotten for it.
    #[cold]
    pub(crate) fn give_up(&mut self, order: Number, request: Number) -> Option<Number> {
        self.of(order).remember(request)
    }

    /// The remembered replaces and times of an order, which are kept from now on.
    pub(crate) fn of(&mut self, order: Number) -> &mut LateTerms {
        self.0.entry(order).or_default()
    }

    pub(crate) fn forget(&mut self, order: Number) -> Option<LateTerms> {
        self.0.remove(&order)
    }
}

impl LateTerms {
    /// Remembers a replace; returns the replace that is forgotten because of it.
    pub(crate) fn remember(&mut self, request: Number) -> Option<Number> {
        let is_full = self.known.len() == REMEMBERED;
        let oldest = is_full.then(|| self.known.remove(0));
        self.known.push(request);
        oldest
    }

    /// The reported terms that are newer than the present terms.
    pub(crate) fn newest(
        &self,
        quantity: Option<Quantity>,
        price: Option<Price>,
        is_last: impl Fn(i64) -> bool,
    ) -> (Option<Quantity>, Option<Price>) {
        (
            quantity.filter(|_| is_last(self.quantity_at)),
            price.filter(|_| is_last(self.price_at)),
        )
    }
}
