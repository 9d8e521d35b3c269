//! Pre-trade controls: one table, checked in order; the first control that refuses decides.
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

use crate::flow::{Passed, Span};
use crate::limits::RiskControl;
use crate::order::Order;
use crate::reason::{Reason, Why};
use crate::rules::InstrumentRule;
use crate::scope::Scope;
use crate::state::{OmsState, Standing, Standings};
use crate::tally::Tally;
use crate::value::{Effect, Market, OrderType, Price, Quantity, Side, TimeInForce, Trading};
use crate::waived::Waived;

pub(crate) use legs::check_leg;

/// An order to be checked: a new one, or one after its replace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    pub session: u32,
    pub account: u32,
    pub instrument: u32,
    pub side: Side,
    pub kind: OrderType,
    pub price: Price,
    pub stop: Price,
    /// OrderQty(38), including the filled quantity.
    pub quantity: Quantity,
    pub filled: Quantity,
    /// Current usage of the order.
    pub counted: Tally,
    /// Current reservation price; 0 for a new order.
    pub held_at: Price,
    /// Current OrderQty(38); 0 for a new order.
    pub held: Quantity,
    /// TimeInForce(59).
    pub tif: TimeInForce,
    /// PositionEffect(77).
    pub effect: Effect,
    /// Number of replaces including this one; 0 for a new order.
    pub replaces: u16,
    /// The price of the market that stands for the reference price of its symbol, while one is known.
    pub market_price: Option<Price>,
    /// Now, in nanoseconds since 1970.
    pub at: i64,
}

/// A control: rejects or passes.
type Check = fn(&Checking<'_>) -> Result<(), Reason>;

const TABLE: [Check; 13] = [
    trading,
    repeated,
    quantity,
    value,
    increments,
    collar,
    passed,
    rate,
    messages,
    open_orders,
    credit,
    position,
    market,
];

/// The controls that a triggered order passes again. Those that count messages counted it when it was accepted.
const AGAIN: [Check; 9] = [
    trading,
    quantity,
    value,
    increments,
    collar,
    open_orders,
    credit,
    position,
    market,
];

struct Checking<'a> {
    state: &'a OmsState,
    rule: &'a InstrumentRule,
    order: &'a Proposal,
    /// New usage of the order.
    new: Tally,
    /// The scopes that have limits or a trading state.
    scopes: Standings<'a>,
    /// The controls with a limit at one of them.
    controls: u32,
}

/// Runs the table; returns the price to reserve for.
///
/// # Errors
///
/// The first control that rejects, with value and limit.
pub(crate) fn check(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
) -> Result<Price, Reason> {
    run(state, rule, order, &TABLE)
}

/// Checks an order whose condition is met, before it is sent.
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
    run(state, rule, order, &AGAIN)
}

/// Checks an order that an operator runs again without some controls.
///
/// # Errors
///
/// As [`check`], of another control.
#[cold]
pub(crate) fn check_without(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    waived: &Waived,
) -> Result<Price, Reason> {
    prepared(state, rule, order, |checking| {
        checking.controls &= !waived.limits;
        for check in TABLE {
            match check(checking) {
                Err(reason) if waived.has(&reason) => {}
                other => other?,
            }
        }
        Ok(())
    })
}

#[inline(always)]
fn run(
    state: &OmsState,
    rule: &InstrumentRule,
    order: &Proposal,
    table: &[Check],
) -> Result<Price, Reason> {
    prepared(state, rule, order, |checking| {
        table.iter().try_for_each(|check| check(checking))
    })
}

/// Hands over what the controls look at, which is too large to be moved; returns the price to reserve for.
#[inline(always)]
fn prepared<'a>(
    state: &'a OmsState,
    rule: &'a InstrumentRule,
    order: &'a Proposal,
    run: impl FnOnce(&mut Checking<'a>) -> Result<(), Reason>,
) -> Result<Price, Reason> {
    let hold = hold(rule, order)?;
    let held = order.quantity.saturating_sub(order.filled);
    let most = held.max(order.held.saturating_sub(order.filled));
    let reserved = state.worth(order.instrument, hold.max(order.held_at), most);
    let reserved = reserved.ok_or(Reason::of(Why::Number))?;
    let (buying, selling) = if order.side.is_buy() {
        (most, 0)
    } else {
        (0, most)
    };
    let mut checking = Checking {
        state,
        rule,
        order,
        new: Tally {
            orders: 1,
            buying,
            selling,
            reserved,
            ..Tally::default()
        },
        scopes: state.standings(order.session, order.account, order.instrument),
        controls: 0,
    };
    checking.controls = checking.scopes.keep_limited();
    run(&mut checking)?;
    Ok(hold)
}

/// The worst price it may trade at, as an absolute value; of a spread at least that of its legs.
fn hold(rule: &InstrumentRule, order: &Proposal) -> Result<Price, Reason> {
    match order.kind {
        OrderType::Limit | OrderType::StopLimit => {
            Ok(order.price.saturating_abs().max(rule.least_hold))
        }
        // Without a limit price the execution price is unknown: reserve the reference price plus a fifth.
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

    /// Compares a value of each scope with its limit.
    fn within(
        &self,
        control: RiskControl,
        why: Why,
        value: impl Fn(&Standing) -> i128,
    ) -> Result<(), Reason> {
        if self.controls & control.bit() == 0 {
            if !control.is_required() {
                return Ok(());
            }
            return Err(Reason {
                // Which control it is.
                value: control.index().into(),
                ..Reason::of(Why::NoLimit)
            });
        }
        for (scope, standing) in self.scopes() {
            let Some(limit) = standing.limits.get(control) else {
                continue;
            };
            let value = value(standing);
            if value > limit {
                return Err(Reason {
                    why,
                    scope: *scope,
                    value,
                    limit,
                });
            }
        }
        Ok(())
    }

    /// As [`within`](Self::within), for the flow in the window of the control.
    fn within_time(
        &self,
        control: RiskControl,
        why: Why,
        value: impl Fn(&Passed) -> i128,
    ) -> Result<(), Reason> {
        let (span, at) = (control.span().unwrap_or(Span::Day), self.order.at);
        self.within(control, why, |standing| {
            self.state.passed(standing, span, at, &value)
        })
    }

    /// Long and short position as they count: separately, or as the net.
    fn held(&self) -> (i128, i128) {
        let position = self.position();
        if self.rule.has_effect {
            return (position.long.into(), position.short.into());
        }
        (position.net(), -position.net())
    }

    fn position(&self) -> crate::Position {
        let holding = self.scopes.holding;
        holding.map_or_else(crate::Position::default, |holding| holding.position)
    }

    /// Possible buys and sells of all open orders of the account in the instrument, including this one.
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
    let kind = it.order.kind;
    let prices = [
        (kind.has_price(), it.order.price),
        (kind.has_stop(), it.order.stop),
    ];
    for (_, price) in prices.into_iter().filter(|(has, _)| *has) {
        if price % it.rule.tick != 0 {
            return Err(Reason {
                value: price.into(),
                limit: it.rule.tick.into(),
                ..Reason::of(Why::Tick)
            });
        }
    }
    Ok(())
}

/// Checks the distance of its prices from the reference price. Without a reference price only a limit of 100 percent
/// or more passes.
fn collar(it: &Checking<'_>) -> Result<(), Reason> {
    const HUNDRED: i128 = 100 * 1_000_000_000;
    let kind = it.order.kind;
    let named = [
        (kind.has_price(), it.order.price),
        (kind.has_stop(), it.order.stop),
    ];
    let prices = || named.into_iter().filter(|(has, _)| *has);
    let far = |reference: Price, price: Price| {
        (i128::from(price) - i128::from(reference)).abs() * HUNDRED
            / i128::from(reference.saturating_abs().max(it.rule.collar_base).max(1))
    };
    let Some(reference) = it.order.market_price.or(it.rule.reference) else {
        let bounded = it.within(RiskControl::Collar, Why::NoReference, |_| HUNDRED);
        return bounded.map_err(|reason| match reason.why {
            Why::NoLimit => reason,
            _ => Reason::of(Why::NoReference),
        });
    };
    let farthest = prices().map(|(_, price)| far(reference, price)).max();
    it.within(RiskControl::Collar, Why::Collar, |_| farthest.unwrap_or(0))
}

fn quantity(it: &Checking<'_>) -> Result<(), Reason> {
    let quantity = it.order.quantity.into();
    it.within(RiskControl::OrderQuantity, Why::OrderQuantity, |_| quantity)
}

fn value(it: &Checking<'_>) -> Result<(), Reason> {
    it.within(RiskControl::Value, Why::Value, |_| it.new.reserved)
}

fn open_orders(it: &Checking<'_>) -> Result<(), Reason> {
    it.within(RiskControl::OpenOrders, Why::OpenOrders, |standing| {
        i128::from(standing.tally.orders) - i128::from(it.order.counted.orders) + 1
    })
}

fn credit(it: &Checking<'_>) -> Result<(), Reason> {
    it.within(RiskControl::Credit, Why::Credit, |standing| {
        let Tally {
            reserved, traded, ..
        } = standing.tally;
        reserved - it.order.counted.reserved + it.new.reserved + traded
    })
}

/// The position if all open orders were filled. A spread has none: its legs have.
fn position(it: &Checking<'_>) -> Result<(), Reason> {
    if it.rule.legs.is_some() {
        return Ok(());
    }
    let (long, short) = it.held();
    let (buying, selling) = it.with_this();
    if it.order.side.is_buy() {
        it.within(RiskControl::Long, Why::Long, |_| long + buying)
    } else {
        it.within(RiskControl::Short, Why::Short, |_| short + selling)
    }
}

/// Identical orders: same account, instrument, side, type, quantity and price.
fn repeated(it: &Checking<'_>) -> Result<(), Reason> {
    let order = it.order;
    if order.replaces > 0 || !it.state.recent.is_on {
        return Ok(());
    }
    let same = it.state.sameness(
        order.account,
        order.instrument,
        (order.side, order.kind),
        (order.quantity, order.price),
    );
    // A child, which takes over its quantity, is not the same as its parent.
    let same = if order.held > 0 { !same } else { same };
    let at = order.at.max(it.state.time());
    let count = it.state.recent.count(at, same);
    it.within(RiskControl::Repeated, Why::Repeated, |_| {
        i128::from(count) + 1
    })
}

fn passed(it: &Checking<'_>) -> Result<(), Reason> {
    if !it.state.has_flow {
        return Ok(());
    }
    let value = (it.new.reserved - it.order.counted.reserved).max(0);
    let quantity = i128::from(it.order.quantity.saturating_sub(it.order.held));
    let values = [
        (RiskControl::ValueSecond, Why::ValueSecond),
        (RiskControl::ValueMinute, Why::ValueMinute),
        (RiskControl::ValueDay, Why::ValueDay),
    ];
    let quantities = [
        (RiskControl::QuantitySecond, Why::QuantitySecond),
        (RiskControl::QuantityMinute, Why::QuantityMinute),
        (RiskControl::QuantityDay, Why::QuantityDay),
    ];
    for (control, why) in values {
        it.within_time(control, why, |passed| passed.value.saturating_add(value))?;
    }
    for (control, why) in quantities {
        it.within_time(control, why, |passed| {
            i128::from(passed.quantity) + quantity
        })?;
    }
    Ok(())
}

fn rate(it: &Checking<'_>) -> Result<(), Reason> {
    it.within_time(RiskControl::Rate, Why::Rate, |passed| {
        i128::from(passed.messages) + 1
    })
}

fn messages(it: &Checking<'_>) -> Result<(), Reason> {
    if it.order.replaces > 0 {
        let replaces = it.order.replaces.into();
        it.within(RiskControl::Replaces, Why::Replaces, |_| replaces)?;
    } else {
        it.within(RiskControl::Unanswered, Why::Unanswered, |standing| {
            i128::from(standing.tally.unanswered) + 1
        })?;
    }
    it.within_time(RiskControl::Ratio, Why::Ratio, |passed| {
        i128::from((passed.messages + 1).div_ceil(passed.executions.max(1)))
    })
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

/// Checks a queued order or replace again before it is sent.
pub(crate) fn stops(state: &OmsState, order: &Order) -> Option<Why> {
    let scopes = state.standings(order.session, order.account, order.instrument);
    let mut scopes = scopes.all().iter();
    let stopped = scopes.find_map(|(_, standing)| match standing.limits.trading {
        Trading::Active => None,
        Trading::Reducing => Some(Why::Reducing),
        Trading::Killed => Some(Why::Killed),
    });
    let market = match state.market(order.instrument) {
        Market::Open | Market::Auction => None,
        Market::Halted | Market::Closed => Some(Why::Market),
    };
    let why = stopped.or(market);
    if why.is_some() || state.spreads.is_empty() {
        return why;
    }
    legs::stops_leg(state, order)
}

/// Whether a client may send one more cancel, counted at these scopes.
///
/// # Errors
///
/// The rate limit for cancels is exceeded.
pub(crate) fn check_cancel(
    state: &OmsState,
    scopes: &Standings<'_>,
    at: i64,
) -> Result<(), Reason> {
    scopes.all().iter().try_for_each(|&(scope, standing)| {
        let Some(limit) = standing.limits.get(RiskControl::CancelRate) else {
            return Ok(());
        };
        let value =
            i128::from(state.passed(standing, Span::Second, at, |passed| passed.cancels)) + 1;
        if value <= limit {
            return Ok(());
        }
        Err(Reason {
            why: Why::CancelRate,
            scope,
            value,
            limit,
        })
    })
}

/// The controls that activate a kill switch.
const KILLING: u32 =
    RiskControl::KillRate.bit() | RiskControl::Executions.bit() | RiskControl::Loss.bit();

/// The first scope that exceeds such a control: scope, control, value, limit.
pub(crate) fn exceeded(
    state: &OmsState,
    (session, account, instrument): (u32, u32, u32),
    at: i64,
) -> Option<(Scope, RiskControl, i128, i128)> {
    let scopes = state.standings(session, account, instrument);
    scopes.all().iter().find_map(|&(scope, standing)| {
        let limits = &standing.limits;
        if limits.controls() & KILLING == 0 {
            return None;
        }
        let controls = [
            RiskControl::KillRate,
            RiskControl::Executions,
            RiskControl::Loss,
        ];
        controls.into_iter().find_map(|control| {
            let limit = limits.get(control)?;
            if limits.trading == Trading::Killed {
                return None;
            }
            let value = match control.span() {
                None => -standing.tally.gained,
                Some(span) => state.passed(standing, span, at, |passed| match control {
                    RiskControl::Executions => passed.executions.into(),
                    _ => i128::from(passed.messages) + i128::from(passed.refused),
                }),
            };
            (value > limit).then_some((scope, control, value, limit))
        })
    })
}
