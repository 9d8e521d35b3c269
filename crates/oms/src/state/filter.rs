//! Selects orders by session, account, symbol and side.

use crate::state::OmsState;
use crate::state::orders::Order;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::scope::Scope;
use crate::values::value::Side;
use fixwire_ledger::record;

/// An order filter: an order must match every criterion that is given.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OrderFilter {
    /// The client session.
    pub session: Option<SessionNo>,
    /// The account, including its sub-accounts.
    pub account: Option<AccountNo>,
    /// The instrument.
    pub instrument: Option<InstrumentNo>,
    /// Side(54).
    pub side: Option<Side>,
}

record! { OrderFilter { session, account, instrument, side } }

impl OrderFilter {
    /// The orders of a scope.
    #[must_use]
    pub fn of(scope: Scope) -> Self {
        let all = Self::default();
        match scope {
            Scope::Firm => all,
            Scope::Session(session) => Self {
                session: Some(session),
                ..all
            },
            Scope::Account(account) => Self {
                account: Some(account),
                ..all
            },
            Scope::Instrument(instrument) => Self {
                instrument: Some(instrument),
                ..all
            },
            Scope::Holding(account, instrument) => Self {
                account: Some(account),
                instrument: Some(instrument),
                ..all
            },
        }
    }

    /// Whether an order matches.
    #[must_use]
    pub fn has(&self, state: &OmsState, order: &Order) -> bool {
        let owners = core::iter::successors(Some(order.account), |&of| state.parent(of));
        self.session.is_none_or(|it| it == order.session)
            && self
                .instrument
                .is_none_or(|it| self.has_instrument(state, order, it))
            && self.side.is_none_or(|it| it == order.side)
            && self
                .account
                .is_none_or(|it| owners.into_iter().any(|of| of == it))
    }

    /// A client's symbol selects only orders in this symbol; an operator's symbol also selects orders in spreads with
    /// this leg.
    fn has_instrument(&self, state: &OmsState, order: &Order, instrument: InstrumentNo) -> bool {
        instrument == order.instrument
            || (self.session.is_none() && state.spreads.has_leg(order.instrument, instrument))
    }

    /// The number of open orders that match.
    #[must_use]
    pub fn count(&self, state: &OmsState) -> u64 {
        let orders = state.orders().iter();
        let open = orders.filter(|order| order.state.is_open() && self.has(state, order));
        open.count() as u64
    }
}
