//! Pre-trade controls, in one table. The controls are checked in the order of the table; the first control that refuses
//! decides.
//!
//! ```text
//!   RC1  killed or reducing   RC8  lot, tick, collar               RC13 open orders
//!   RC5  identical orders     RC9  value and quantity in a time    RC14 credit
//!   RC6  order quantity       RC10 messages in a time              RC15 position
//!   RC7  order value          RC11 replaces, unanswered, ratio     RC18 market
//! ```
//!
//! Each limit is checked at every scope of the order. A required control without a limit at any scope rejects the
//! order. RC2 to RC4 and RC16 depend on settings and other orders: [`Core`](crate::Core) checks them.

mod legs;
mod limited;

use crate::state::orders::Order;
use crate::state::orders::ids::OrderContent;
use crate::state::proposal::Proposal;
use crate::state::tally::Tally;
use crate::state::{OmsState, Standing, Standings};
use crate::values::ids::{InstrumentNo, Party};
use crate::values::limits::RiskControl;
use crate::values::limits::Span;
use crate::values::reason::{Reason, Why};
use crate::values::rules::InstrumentRule;
use crate::values::scope::Scope;
use crate::values::value::{Effect, Market, OrderType, Price, TimeInForce, Trading};
use crate::values::waived::Waived;

pub(crate) use legs::{check_leg, leg_uses};

/// 100 percent in the unit of collars, 10^-9 percent.
const HUNDRED_PERCENT: i128 = 100 * 1_000_000_000;

struct Checking<'a> {
    state: &'a OmsState,
    rule: &'a InstrumentRule,
    order: &'a Proposal,
    /// What the order adds to the usage of its scopes.
    new: &'a Tally,
    /// The scopes of the order that have limits or a trading state.
    scopes: &'a Standings<'a>,
    /// A bit for each control that has a limit at one of the scopes.
    controls: u32,
}

/// Checks an order by all controls of the table; returns the price at which its value is reserved.
///
/// # Errors
///
/// The first control that rejects the order, with the value and its limit.
pub(crate) fn check(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
) -> Result<Price, Reason> {
    run(state, rule, order, limited::ALL, true)
}

/// Checks a triggered order again before it is sent.
///
/// # Errors
///
/// As [`check`].
#[cold]
pub(crate) fn check_again(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
) -> Result<Price, Reason> {
    run(state, rule, order, limited::AGAIN, true)
}

/// Checks an order that an operator runs again with some controls turned off.
///
/// # Errors
///
/// As [`check`], for the controls that are not turned off.
#[cold]
pub(crate) fn check_without(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    waived: &Waived,
) -> Result<Price, Reason> {
    let limits = limited::ALL & !waived.limits;
    run(state, rule, order, limits, !waived.market)
}

/// For each limit at the scopes of an accepted order: the order's value that is compared with the limit, and the limit.
/// The order already counts, as [`Proposal::counted`] says.
#[cold]
pub(crate) fn uses(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    each: &mut impl FnMut(Scope, RiskControl, i128, i128),
) {
    let Ok(hold) = hold(rule, order) else {
        return;
    };
    let open = order.quantity.saturating_sub(order.filled);
    let mut new = Tally::open(order.side.is_buy(), open);
    new.orders = 1;
    new.reserved = state.worth_at_most(order.instrument, hold.max(order.held_at), open);
    let mut scopes = Standings::new(state, order.party());
    let controls = scopes.add_limited(state, order.party());
    let checking = Checking {
        state,
        rule,
        order,
        new: &new,
        scopes: &scopes,
        controls,
    };
    checking.uses(each);
}

#[inline(always)]
fn run(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    limits: u32,
    in_market: bool,
) -> Result<Price, Reason> {
    if let Some(currency) = &rule.currency {
        currency.check(order.at)?;
    }
    let hold = hold(rule, order)?;
    let held = order.quantity.saturating_sub(order.filled);
    let most = held.max(order.held.saturating_sub(order.filled));
    let reserved = state.worth(order.instrument, hold.max(order.held_at), most);
    let reserved = reserved.ok_or(Reason::of(Why::Number))?;
    let mut new = Tally::open(order.side.is_buy(), most);
    new.orders = 1;
    new.reserved = reserved;
    checked(state, rule, order, &new, limits, in_market)?;
    Ok(hold)
}

/// Checks the given controls that have limits, and the market control if `in_market` is true.
#[inline(always)]
fn checked(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    new: &Tally,
    limits: u32,
    in_market: bool,
) -> Result<(), Reason> {
    let mut scopes = Standings::new(state, order.party());
    let controls = scopes.add_limited(state, order.party());
    let checking = Checking {
        state,
        rule,
        order,
        new,
        scopes: &scopes,
        controls,
    };
    trading(&checking)?;
    checking.limited(limits)?;
    if in_market { market(&checking) } else { Ok(()) }
}

/// The worst price at which the order may trade, as an absolute value. For a spread, it is at least the price of the
/// legs.
fn hold(rule: &InstrumentRule, order: &Proposal) -> Result<Price, Reason> {
    match order.kind {
        OrderType::Limit | OrderType::StopLimit => {
            Ok(order.price.saturating_abs().max(rule.least_hold))
        }
        // Without a limit price the execution price is unknown, so the reference price plus a fifth is reserved.
        OrderType::Market | OrderType::Stop | OrderType::IfTouched => {
            let reference = order.market_price.or(rule.reference);
            let reference = reference.ok_or(Reason::of(Why::NoReference))?;
            let worst = reference.saturating_abs().max(order.stop.saturating_abs());
            Ok(worst.saturating_add(worst / 5).max(rule.least_hold))
        }
    }
}

impl Checking<'_> {
    fn scopes(&self) -> &[(Scope, &Standing)] {
        self.scopes.all()
    }

    /// Long and short position as the limits count them. If positions net, one is the net position and the other is its
    /// negative.
    fn held(&self) -> (i128, i128) {
        let position = self.position();
        if self.rule.has_effect {
            return (position.long.into(), position.short.into());
        }
        (position.net(), -position.net())
    }

    /// Number of identical orders within the last second, this order included: same account, instrument, side, type,
    /// quantity and price.
    fn repeated(&self) -> i128 {
        let order = self.order;
        let same = self.state.ids.hash_of_order(OrderContent {
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            kind: order.kind,
            quantity: order.quantity,
            price: order.price,
        });
        // A child takes over a quantity of its parent, so the child is not identical to the parent.
        let same = if order.held > 0 { !same } else { same };
        let at = order.at.max(self.state.time());
        let scopes = self.scopes().iter();
        let limits = scopes.filter_map(|(_, it)| it.limits.get(RiskControl::Repeated));
        // The largest number of other identical orders with which the order still passes.
        let enough = limits.min().unwrap_or(0).saturating_sub(1);
        let enough = u64::try_from(enough).unwrap_or(0);
        i128::from(self.state.recent.count(at, same, enough)) + 1
    }

    /// The largest distance of the order's prices from the reference price, in 10^-9 percent; `None` without a
    /// reference price.
    fn farthest(&self) -> Option<i128> {
        let reference = self.order.market_price.or(self.rule.reference)?;
        let base = i128::from(reference.saturating_abs().max(self.rule.collar_base).max(1));
        let far = |price: Price| {
            (i128::from(price) - i128::from(reference)).abs() * HUNDRED_PERCENT / base
        };
        Some(self.prices().map(far).max().unwrap_or(0))
    }

    /// Price(44) and StopPx(99), if the type of the order has them.
    fn prices(&self) -> impl Iterator<Item = Price> {
        let kind = self.order.kind;
        let prices = [
            (kind.has_price(), self.order.price),
            (kind.has_stop(), self.order.stop),
        ];
        prices
            .into_iter()
            .filter_map(|(has, price)| has.then_some(price))
    }

    fn position(&self) -> crate::Position {
        let holding = self.scopes.holding;
        holding.map_or_else(crate::Position::default, |holding| holding.position)
    }

    /// Quantities that all open orders of the account in the instrument may buy and sell, including this order.
    fn with_this(&self) -> (i128, i128) {
        let open = self.scopes.holding;
        let open = open.map_or_else(Tally::default, |holding| holding.standing.tally);
        let with =
            |open: u64, old: u64, new: u64| i128::from(open) - i128::from(old) + i128::from(new);
        let counted = &self.order.counted;
        (
            with(open.buying, counted.buying, self.new.buying),
            with(open.selling, counted.selling, self.new.selling),
        )
    }
}

fn trading(it: &Checking<'_>) -> Result<(), Reason> {
    for (scope, standing) in it.scopes() {
        match standing.limits.trading {
            Trading::Active => {}
            Trading::Killed => {
                return Err(Reason {
                    scope: *scope,
                    ..Reason::of(Why::Killed)
                });
            }
            Trading::Reducing => {
                let (long, short) = it.held();
                let (buying, selling) = it.with_this();
                let reduces = if it.order.side.is_buy() {
                    buying <= short
                } else {
                    selling <= long
                };
                let reduces = reduces && it.order.effect != Effect::Open;
                let net = it.position().net();
                if !reduces {
                    return Err(Reason {
                        scope: *scope,
                        value: net,
                        ..Reason::of(Why::Reducing)
                    });
                }
            }
        }
    }
    Ok(())
}

fn increments(it: &Checking<'_>) -> Result<(), Reason> {
    let (quantity, lot) = (it.order.quantity, it.rule.lot);
    if quantity == 0 || quantity % lot != 0 {
        return Err(Reason {
            value: quantity.into(),
            limit: lot.into(),
            ..Reason::of(Why::Lot)
        });
    }
    for price in it.prices() {
        let tick = it.rule.tick_at(price);
        if price % tick != 0 {
            return Err(Reason {
                value: price.into(),
                limit: tick.into(),
                ..Reason::of(Why::Tick)
            });
        }
    }
    Ok(())
}

fn market(it: &Checking<'_>) -> Result<(), Reason> {
    let order = it.order;
    let waits = !matches!(
        order.tif,
        TimeInForce::ImmediateOrCancel | TimeInForce::FillOrKill
    );
    let passes = match it.state.market(order.instrument) {
        Market::Open => true,
        Market::Auction => waits && !order.kind.has_stop(),
        Market::Halted | Market::Closed => false,
    };
    if passes {
        return Ok(());
    }
    Err(Reason {
        scope: Scope::Instrument(order.instrument),
        ..Reason::of(Why::Market)
    })
}

/// Why a queued order or replace may no longer be sent; `None` when it still passes.
pub(crate) fn stops(state: &OmsState, order: &Order) -> Option<Reason> {
    let scopes = state.standings(order.party());
    let mut scopes = scopes.all().iter();
    let stopped = scopes.find_map(|(scope, it)| stops_at(*scope, it.limits.trading));
    let reason = stopped.or_else(|| closed_market(state, order.instrument));
    if reason.is_some() || state.spreads.is_empty() {
        return reason;
    }
    legs::stops_leg(state, order)
}

/// Why a scope in this state stops a queued order.
fn stops_at(scope: Scope, trading: Trading) -> Option<Reason> {
    let why = match trading {
        Trading::Active => return None,
        Trading::Reducing => Why::Reducing,
        Trading::Killed => Why::Killed,
    };
    Some(Reason {
        scope,
        ..Reason::of(why)
    })
}

/// Why the market of an instrument stops a queued order.
fn closed_market(state: &OmsState, instrument: InstrumentNo) -> Option<Reason> {
    match state.market(instrument) {
        Market::Open | Market::Auction => None,
        Market::Halted | Market::Closed => Some(Reason {
            scope: Scope::Instrument(instrument),
            ..Reason::of(Why::Market)
        }),
    }
}

/// Checks whether a client may send one more cancel, which counts at the scopes of `party`.
///
/// # Errors
///
/// The rate limit for cancels is exceeded.
pub(crate) fn check_cancel(state: &OmsState, party: Party, at: i64) -> Result<(), Reason> {
    let refused = state.find_standing(party, state.holding_of(party), |scope, standing| {
        let limit = standing.limits.get(RiskControl::CancelRate)?;
        let value =
            i128::from(state.passed(standing, Span::Second, at, |passed| passed.cancels)) + 1;
        (value > limit).then_some(Reason {
            why: Why::CancelRate,
            scope,
            value,
            limit,
        })
    });
    refused.map_or(Ok(()), Err)
}

/// The controls that activate a kill switch.
const KILLING: u32 =
    RiskControl::KillRate.bit() | RiskControl::Executions.bit() | RiskControl::Loss.bit();

/// A scope that exceeds a limit with a kill switch.
pub(crate) struct Exceeded {
    pub scope: Scope,
    pub control: RiskControl,
    pub value: i128,
    pub limit: i128,
}

/// The first scope of an order that exceeds a limit with a kill switch.
pub(crate) fn exceeded(state: &OmsState, party: Party, at: i64) -> Option<Exceeded> {
    state.find_standing(party, state.holding_of(party), |scope, standing| {
        if standing.limits.controls() & KILLING == 0 {
            return None;
        }
        let (control, value, limit) = exceeded_at(state, standing, at)?;
        Some(Exceeded {
            scope,
            control,
            value,
            limit,
        })
    })
}

/// The first of all scopes with a loss above RC17 that is not killed, the widest kind of scope first.
pub(crate) fn exceeded_loss(state: &OmsState) -> Option<Exceeded> {
    let control = RiskControl::Loss;
    let mut scopes = state.all_standings();
    scopes.find_map(|(scope, standing)| {
        let limit = standing.limits.get(control)?;
        let value = -standing.tally.gained;
        let is_exceeded = value > limit && standing.limits.trading != Trading::Killed;
        is_exceeded.then_some(Exceeded {
            scope,
            control,
            value,
            limit,
        })
    })
}

/// The first control with a kill switch whose limit a scope exceeds; `None` if the scope is killed already.
fn exceeded_at(
    state: &OmsState,
    standing: &Standing,
    at: i64,
) -> Option<(RiskControl, i128, i128)> {
    let limits = &standing.limits;
    if limits.trading == Trading::Killed {
        return None;
    }
    let controls = [
        RiskControl::KillRate,
        RiskControl::Executions,
        RiskControl::Loss,
    ];
    controls.into_iter().find_map(|control| {
        let limit = limits.get(control)?;
        let value = match control.span() {
            None => -standing.tally.gained,
            Some(span) => state.passed(standing, span, at, |passed| match control {
                RiskControl::Executions => passed.executions.into(),
                _ => i128::from(passed.messages) + i128::from(passed.refused),
            }),
        };
        (value > limit).then_some((control, value, limit))
    })
}
