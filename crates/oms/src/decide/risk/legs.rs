//! Controls for the legs of a spread.

use super::{Checking, checked, closed_market, limited, stops_at};
use crate::state::orders::Order;
use crate::state::proposal::Proposal;
use crate::state::tally::Tally;
use crate::state::{OmsState, Standings};
use crate::values::limits::RiskControl;
use crate::values::reason::Reason;
use crate::values::rules::InstrumentRule;
use crate::values::scope::Scope;
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

/// For each position limit at the scopes of a leg: the position with all open orders, and the limit. The order of the
/// spread already counts.
#[cold]
pub(crate) fn leg_uses(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    each: &mut impl FnMut(Scope, RiskControl, i128, i128),
) {
    let mut scopes = Standings::new(state, order.party());
    let controls = scopes.add_limited(state, order.party()) & limited::POSITION;
    let checking = Checking {
        state,
        rule,
        order,
        new: &order.counted,
        scopes: &scopes,
        controls,
    };
    checking.uses(each);
}

/// Why a queued order of a spread may no longer be sent, because of one of its legs; `None` when it still passes.
#[cold]
pub(super) fn stops_leg(state: &OmsState, order: &Order) -> Option<Reason> {
    let legs = state.spreads.legs(order.instrument)?;
    legs.iter().find_map(|leg| {
        let scopes = [
            Scope::Instrument(leg.instrument),
            Scope::Holding(order.account, leg.instrument),
        ];
        let mut stopped = scopes.into_iter();
        let stopped = stopped.find_map(|scope| stops_at(scope, state.trading(scope)));
        stopped.or_else(|| closed_market(state, leg.instrument))
    })
}
