//! The controls with limits, in the order in which they are checked, and the value that each compares at a scope.

use super::{Checking, HUNDRED_PERCENT, increments};
use crate::state::Standing;
use crate::state::flow::Passed;
use crate::state::proposal::Proposal;
use crate::values::limits::RiskControl;
use crate::values::reason::{Reason, Why};
use crate::values::scope::Scope;
use crate::values::units::in_limits;

const ORDER: [RiskControl; 18] = [
    RiskControl::Repeated,
    RiskControl::OrderQuantity,
    RiskControl::Value,
    // Lot and tick are checked before the collar.
    RiskControl::Collar,
    RiskControl::ValueSecond,
    RiskControl::ValueMinute,
    RiskControl::ValueDay,
    RiskControl::QuantitySecond,
    RiskControl::QuantityMinute,
    RiskControl::QuantityDay,
    RiskControl::Rate,
    RiskControl::Replaces,
    RiskControl::Unanswered,
    RiskControl::Ratio,
    RiskControl::OpenOrders,
    RiskControl::Credit,
    RiskControl::Long,
    RiskControl::Short,
];

/// A bit for each control.
pub(super) const ALL: u32 = before(ORDER.len());

/// Controls that a triggered order must pass a second time. Controls that count messages are not included: they counted
/// the order when it was accepted.
pub(super) const AGAIN: u32 = REQUIRED;

/// Controls of a position. A spread itself has no position; only its legs have one.
pub(super) const POSITION: u32 = RiskControl::Long.bit() | RiskControl::Short.bit();

/// Controls that count messages, values or quantities within an interval.
const FLOW: u32 = RiskControl::ValueSecond.bit()
    | RiskControl::ValueMinute.bit()
    | RiskControl::ValueDay.bit()
    | RiskControl::QuantitySecond.bit()
    | RiskControl::QuantityMinute.bit()
    | RiskControl::QuantityDay.bit()
    | RiskControl::Rate.bit()
    | RiskControl::Ratio.bit();

/// Controls that reject an order when none of its scopes has a limit for them.
const REQUIRED: u32 = {
    let (mut bits, mut at) = (0, 0);
    while at < ORDER.len() {
        if ORDER[at].is_required() {
            bits |= ORDER[at].bit();
        }
        at += 1;
    }
    bits
};

/// A bit for each of the first `place` controls.
const fn before(place: usize) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < place {
        bits |= ORDER[at].bit();
        at += 1;
    }
    bits
}

/// A bit for each control that is checked before this control.
const fn earlier(control: RiskControl) -> u32 {
    let mut at = 0;
    while at < ORDER.len() && ORDER[at].bit() != control.bit() {
        at += 1;
    }
    before(at)
}

/// Whether the scopes' counts of messages do not yet include the order (`NEW`), or include it (`COUNTED`).
const NEW: u64 = 1;
const COUNTED: u64 = 0;

/// The first control in the order of the table that refuses, among those checked so far.
struct First {
    reason: Option<Reason>,
    /// A bit for each control that precedes the refusing control in the table and may still refuse.
    left: u32,
}

impl First {
    #[cold]
    fn refuse(&mut self, control: RiskControl, reason: Reason) {
        self.reason = Some(reason);
        self.left &= earlier(control);
    }
}

/// Values that are the same at each scope.
struct Values {
    repeated: i128,
    /// The largest distance from the reference price; `None` without a reference price.
    collar: Option<i128>,
    /// Quantities in 10^-8: of the order, then of the long and the short position including all open orders.
    order: i128,
    long: i128,
    short: i128,
    /// The value and the quantity that the order adds to the sums of each interval.
    value: i128,
    quantity: i128,
}

impl Checking<'_> {
    /// Compares the values of the given controls with their limits, scope by scope. The first control of [`ORDER`] that
    /// refuses decides. If it refuses at several scopes, the widest scope is the scope of the reason.
    #[inline(always)]
    pub(super) fn limited(&self, controls: u32) -> Result<(), Reason> {
        let mut first = First {
            reason: None,
            left: controls & self.asked(),
        };
        if first.left & RiskControl::Collar.bit() != 0
            && let Err(reason) = increments(self)
        {
            first.refuse(RiskControl::Collar, reason);
        }
        let missing = first.left & REQUIRED & !self.controls;
        if missing != 0
            && let Some(control) = ORDER.iter().find(|it| missing & it.bit() != 0)
        {
            // The value is the number of the control that has no limit.
            let value = control.index().into();
            let why = Reason::of(Why::NoLimit);
            first.refuse(*control, Reason { value, ..why });
        }
        first.left &= self.controls;
        let values = self.values(first.left);
        if values.collar.is_none() {
            self.without_reference(&mut first);
        }
        for (scope, standing) in self.scopes() {
            self.at_scope(&mut first, &values, *scope, standing);
        }
        first.reason.map_or(Ok(()), Err)
    }

    /// Without a reference price, an order passes only if every collar is 100 percent or more.
    #[cold]
    fn without_reference(&self, first: &mut First) {
        let scopes = self.scopes().iter();
        let mut limits = scopes.filter_map(|(_, it)| it.limits.get(RiskControl::Collar));
        if limits.any(|limit| limit < HUNDRED_PERCENT) {
            first.refuse(RiskControl::Collar, Reason::of(Why::NoReference));
        }
    }

    /// A bit for each control that applies to this order.
    fn asked(&self) -> u32 {
        let is_replace = self.order.replaces > 0;
        let not = [
            (
                is_replace,
                RiskControl::Repeated.bit() | RiskControl::Unanswered.bit(),
            ),
            (!is_replace, RiskControl::Replaces.bit()),
            (self.order.side.is_buy(), RiskControl::Short.bit()),
            (!self.order.side.is_buy(), RiskControl::Long.bit()),
            // A spread itself has no position; its legs have positions.
            (self.rule.legs.is_some(), POSITION),
        ];
        not.iter()
            .fold(ALL, |all, (is, bits)| if *is { all & !bits } else { all })
    }

    /// Converts a quantity of the order's instrument to the unit of limits, 10^-8.
    #[inline]
    fn in_limits(&self, quantity: i128) -> i128 {
        in_limits(quantity, self.rule.quantity_scale)
    }

    #[inline(always)]
    fn values(&self, controls: u32) -> Values {
        let order = self.order;
        let (long, short) = self.held();
        let (buying, selling) = self.with_this();
        let has = |control: RiskControl| controls & control.bit() != 0;
        Values {
            repeated: if has(RiskControl::Repeated) {
                self.repeated()
            } else {
                0
            },
            collar: if has(RiskControl::Collar) {
                self.farthest()
            } else {
                Some(0)
            },
            order: self.in_limits(order.quantity.into()),
            long: self.in_limits(long + buying),
            short: self.in_limits(short + selling),
            value: (self.new.reserved - order.counted.reserved).max(0),
            quantity: self.in_limits(order.quantity.saturating_sub(order.held).into()),
        }
    }

    #[inline(always)]
    fn at_scope(&self, first: &mut First, values: &Values, scope: Scope, standing: &Standing) {
        let Some((has, limits)) = standing.limits.values() else {
            return;
        };
        self.compared(NEW, has, values, standing, |control, why, value| {
            let limit = limits[usize::from(control.index())];
            if first.left & has & control.bit() != 0 && value > limit {
                let reason = Reason {
                    why,
                    scope,
                    value,
                    limit,
                };
                first.refuse(control, reason);
            }
        });
    }

    /// Passes each limit at the order's scopes, with the value that it is compared with, to `each`. The order already
    /// counts.
    pub(super) fn uses(&self, each: &mut impl FnMut(Scope, RiskControl, i128, i128)) {
        let asked = self.asked() & self.controls;
        let mut values = self.values(asked & !RiskControl::Repeated.bit());
        let itself = Proposal {
            held: 0,
            ..*self.order
        };
        let same = Checking {
            order: &itself,
            ..*self
        };
        values.repeated = same.repeated() - 1;
        for (scope, standing) in self.scopes() {
            let Some((has, limits)) = standing.limits.values() else {
                continue;
            };
            self.compared(COUNTED, has, &values, standing, |control, _, value| {
                let is_known = control != RiskControl::Collar || values.collar.is_some();
                if asked & has & control.bit() != 0 && is_known {
                    let limit = limits[usize::from(control.index())];
                    each(*scope, control, value, limit);
                }
            });
        }
    }

    /// Passes each control, with the value that it compares with its limit at a scope, to `compare`. `next` is 1 if the
    /// scope's counts of messages do not include the order yet.
    #[inline(always)]
    fn compared(
        &self,
        next: u64,
        has: u32,
        values: &Values,
        standing: &Standing,
        mut compare: impl FnMut(RiskControl, Why, i128),
    ) {
        let order = self.order;
        compare(RiskControl::Repeated, Why::Repeated, values.repeated);
        compare(RiskControl::OrderQuantity, Why::OrderQuantity, values.order);
        compare(RiskControl::Value, Why::Value, self.new.reserved);
        compare(RiskControl::Collar, Why::Collar, values.collar.unwrap_or(0));
        if has & FLOW != 0 {
            const NONE: &Passed = &Passed::NONE;
            let at = order.at.max(self.state.time());
            let (mut of_second, mut of_minute) = (None, None);
            let (second, minute, day) = match &standing.flow {
                Some(flow) => (
                    flow.second(at, &mut of_second),
                    flow.minute(at, &mut of_minute),
                    &flow.day,
                ),
                None => (NONE, NONE, NONE),
            };
            let value = |passed: &Passed| passed.value.saturating_add(values.value);
            let quantity = |passed: &Passed| passed.quantity.saturating_add(values.quantity);
            compare(RiskControl::ValueSecond, Why::ValueSecond, value(second));
            compare(RiskControl::ValueMinute, Why::ValueMinute, value(minute));
            compare(RiskControl::ValueDay, Why::ValueDay, value(day));
            compare(
                RiskControl::QuantitySecond,
                Why::QuantitySecond,
                quantity(second),
            );
            compare(
                RiskControl::QuantityMinute,
                Why::QuantityMinute,
                quantity(minute),
            );
            compare(RiskControl::QuantityDay, Why::QuantityDay, quantity(day));
            compare(
                RiskControl::Rate,
                Why::Rate,
                i128::from(second.messages) + i128::from(next),
            );
            let ratio = (day.messages + next).div_ceil(day.executions.max(1));
            compare(RiskControl::Ratio, Why::Ratio, ratio.into());
        }
        let tally = &standing.tally;
        let counted = &order.counted;
        compare(RiskControl::Replaces, Why::Replaces, order.replaces.into());
        compare(
            RiskControl::Unanswered,
            Why::Unanswered,
            i128::from(tally.unanswered) + i128::from(next),
        );
        let open = i128::from(tally.orders) - i128::from(counted.orders) + 1;
        compare(RiskControl::OpenOrders, Why::OpenOrders, open);
        let credit = tally.reserved - counted.reserved + self.new.reserved + tally.traded;
        compare(RiskControl::Credit, Why::Credit, credit);
        compare(RiskControl::Long, Why::Long, values.long);
        compare(RiskControl::Short, Why::Short, values.short);
    }
}
