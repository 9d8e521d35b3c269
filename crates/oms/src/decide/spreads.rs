//! Decisions about spreads: whether an order may trade the legs of its spread.

use crate::decide::core::Core;
use crate::decide::risk;
use crate::decide::venue::VenueReport;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::proposal::Proposal;
use crate::state::spreads::SpreadLeg;
use crate::state::tally::Tally;
use crate::values::ids::InstrumentNo;
use crate::values::reason::{Reason, Why};
use crate::values::scope::Scope;
use crate::values::units::converted;
use crate::values::value::{Number, Price, Quantity};
use crate::values::waived::Waived;

/// Checks the legs of a spread as the order would trade them: restricted lists, kill switches, positions, markets.
/// `known` is the order that a replace changes, `None` for a new order. An order that is not for a spread passes.
///
/// # Errors
///
/// The first control that refuses the first leg, else the first control that refuses the second leg.
#[cold]
pub(crate) fn check_legs(
    core: &Core,
    order: &Proposal,
    known: Option<&Order>,
    waived: &Waived,
) -> Result<(), Reason> {
    let Some(legs) = core.state.spreads.legs(order.instrument).copied() else {
        // Another spread has these legs, or one of the legs was a spread before.
        return match core.rule(order.instrument)?.legs {
            Some(_) => Err(Reason::of(Why::SpreadLegs)),
            None => Ok(()),
        };
    };
    if order.side.is_short() {
        return Err(Reason::of(Why::SpreadSide));
    }
    let quantity = |tally: &Tally| tally.buying.saturating_add(tally.selling);
    let state = &core.state;
    let own = known.map(|it| state.counted(it, state.orders().request_of(it)));
    let own = own.map_or(0, |tally| quantity(&tally));
    let most = order.quantity.saturating_sub(order.filled);
    let most = most.max(order.held.saturating_sub(order.filled));
    let counted = known.and_then(|it| state.spreads.get(it.number));
    let counted = counted.map_or([0, 0], |of| of.exposed);
    // The quantity that a child takes over from its parent also counts for the legs.
    let released = quantity(&order.counted).saturating_sub(own);
    let new = match known {
        Some(known) => state.exposure(known, &legs, most),
        None => legs.map(|leg| leg.quantity(most)),
    };
    for at in [0, 1] {
        let more = counted[at].saturating_add(legs[at].quantity(released));
        check_leg(core, order, &legs[at], (more, new[at]), waived)?;
    }
    Ok(())
}

fn check_leg(
    core: &Core,
    order: &Proposal,
    leg: &SpreadLeg,
    (counted, new): (Quantity, Quantity),
    waived: &Waived,
) -> Result<(), Reason> {
    let side = leg.side_in(order.side);
    let tally = |quantity| Tally::open(side.is_buy(), quantity);
    let leg_order = Proposal {
        instrument: leg.instrument,
        side,
        counted: tally(counted),
        ..*order
    };
    if !waived.restricted {
        core.check_restricted(&leg_order, true)?;
    }
    let rule = core.rule(leg.instrument)?;
    if let Some(currency) = &rule.currency {
        currency.check(order.at)?;
    }
    risk::check_leg(&core.state, rule, &leg_order, tally(new), waived).map_err(|reason| {
        match reason.why {
            // The limit may belong to a wider scope, but the scope of the reason names the leg that exceeds it.
            Why::Long | Why::Short => Reason {
                scope: Scope::Holding(order.account, leg.instrument),
                ..reason
            },
            _ => reason,
        }
    })
}

/// The lowest price at which the value of an order for a spread is reserved. It is the value of one set of legs, each
/// at its reference price plus a fifth.
pub(crate) fn least_hold(core: &Core, instrument: InstrumentNo) -> Price {
    const MOST: i128 = crate::values::units::MOST as i128;
    let Some(legs) = core.state.spreads.legs(instrument) else {
        return 0;
    };
    let worth = legs.iter().try_fold(0_i128, |sum, leg| {
        let reference = core.rule(leg.instrument).ok()?.reference?.saturating_abs();
        let price = reference.saturating_add(reference / 5);
        let one = 10_u64.pow(core.state.scales(leg.instrument).quantity.into());
        let quantity = u64::from(leg.ratio).saturating_mul(one);
        let worth = core.state.worth(leg.instrument, price, quantity)?;
        sum.checked_add(worth)
    });
    let Some(known) = core.state.instruments.get(instrument) else {
        return 0;
    };
    // A value in 10^-9 is a price in 10^-scale, times 10^-scale, times the instrument's value in 10^-9.
    let parts = 10_i128.pow(known.scale.into());
    let one = i128::from(known.worth.max(1));
    let least = worth.and_then(|worth| worth.checked_mul(parts));
    let least = least.map_or(MOST, |least| least / one + i128::from(least % one > 0));
    i64::try_from(least.min(MOST)).unwrap_or(i64::MAX)
}

/// The price of a spread, computed from the reference prices of its legs, and the sum of the absolute prices of the
/// legs, both in units of the spread. A fill may have given the spread or one of the legs more decimals.
pub(crate) fn leg_prices(core: &Core, instrument: InstrumentNo) -> Option<(Price, Price)> {
    let legs = core.state.spreads.legs(instrument)?;
    let scale = core.state.scale(instrument);
    legs.iter().try_fold((0_i64, 0_i64), |(sum, total), leg| {
        let price = core.rule(leg.instrument).ok()?.reference?;
        let price = converted(price, core.state.scale(leg.instrument), scale)?;
        let price = price.checked_mul(leg.ratio.into())?;
        let signed = if leg.side.is_buy() { price } else { -price };
        let total = total.checked_add(price.saturating_abs())?;
        Some((sum.checked_add(signed)?, total))
    })
}

/// The leg to which a report of an order belongs, found by the report's symbol, with its index in the spread.
pub(crate) fn leg_of(state: &OmsState, order: Number, symbol: &[u8]) -> Option<(u8, SpreadLeg)> {
    let order = state.orders().get(order)?;
    let legs = state.spreads.legs(order.instrument)?;
    let names = state.instruments();
    let is_it = |leg: &SpreadLeg| names.name(leg.instrument) == symbol;
    let at = legs.iter().position(is_it)?;
    Some((at as u8, legs[at]))
}

/// The instrument and side of the leg to which a report of an order belongs.
pub(crate) fn instrument_of_leg(
    state: &OmsState,
    order: Number,
    report: &VenueReport<'_>,
) -> Option<InstrumentNo> {
    let (_, leg) = leg_of(state, order, report.symbol)?;
    let side = leg.side_in(state.orders().get(order)?.side);
    let is_its = report.side.is_none_or(|it| it.is_buy() == side.is_buy());
    is_its.then_some(leg.instrument)
}
