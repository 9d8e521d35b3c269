//! Controls for the legs of a spread.

use super::{checked, limited};
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::proposal::Proposal;
use crate::state::tally::Tally;
use crate::values::reason::{Reason, Why};
use crate::values::rules::InstrumentRule;
use crate::values::scope::Scope;
use crate::values::value::{Market, Trading};
use crate::values::waived::Waived;

/// Checks a leg of a spread with what the order adds to the usage of the leg. Waived controls are not checked.
///
/// # Errors
///
/// As [`check`], but only the controls that depend on the position and the market of the leg.
#[cold]
pub(crate) fn check_leg(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    new: Tally,
    waived: &Waived,
) -> Result<(), Reason> {
    let limits = limited::POSITION & !waived.limits;
    checked(state, rule, order, &new, limits, !waived.market)
}

/// Why a queued order of a spread may no longer be sent, because of one of its legs; `None` when it still passes.
#[cold]
pub(super) fn stops_leg(state: &OmsState, order: &Order) -> Option<Why> {
    let legs = state.spreads.legs(order.instrument)?;
    legs.iter().find_map(|leg| {
        let scopes = [
            Scope::Instrument(leg.instrument),
            Scope::Holding(order.account, leg.instrument),
        ];
        let stopped = scopes.iter().find_map(|scope| match state.trading(*scope) {
            Trading::Active => None,
            Trading::Reducing => Some(Why::Reducing),
            Trading::Killed => Some(Why::Killed),
        });
        let market = match state.market(leg.instrument) {
            Market::Open | Market::Auction => None,
            Market::Halted | Market::Closed => Some(Why::Market),
        };
        stopped.or(market)
    })
}
