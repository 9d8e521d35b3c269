//! Blocks trading in ways other than the pre-trade controls: restricted lists, limits that activate a kill switch, and
//! commands of operators.

use alloc::format;

use crate::decide::core::{Core, Sink};
use crate::decide::risk::{self, Exceeded};
use crate::state::event::{LimitEvent, OrderEvent, SetupEvent};
use crate::state::orders::Order;
use crate::state::proposal::Proposal;
use crate::values::ids::{InstrumentNo, Party};
use crate::values::limits::RiskControl;
use crate::values::reason::{Reason, Why};
use crate::values::rules::Restricted;
use crate::values::scope::Scope;
use crate::values::show::figure;
use crate::values::value::{Market, Number, Side, Trading};
use crate::values::verbs::By;

impl Core {
    /// RC3: restricted lists.
    pub(crate) fn check_restricted(
        &self,
        order: &Proposal,
        is_located: bool,
    ) -> Result<(), Reason> {
        let rules = self.restrictions.get(order.instrument);
        let day = self.state().day();
        let account = self.state().accounts().name(order.account);
        for rule in rules.into_iter().flatten() {
            if !rule.is_of(account, day) {
                continue;
            }
            let why = match (rule.what, order.side) {
                (Restricted::All, _)
                | (Restricted::Buy, Side::Buy)
                | (Restricted::Sell, Side::Sell | Side::SellShort | Side::SellShortExempt)
                | (Restricted::Short, Side::SellShort | Side::SellShortExempt) => Why::Restricted,
                (Restricted::Locate, side) if side.is_short() && !is_located => Why::NotLocated,
                _ => continue,
            };
            return Err(Reason {
                scope: Scope::Instrument(order.instrument),
                ..Reason::of(why)
            });
        }
        Ok(())
    }

    /// Activates the kill switch of scopes that exceed RC10-kill, RC12 or RC17. Returns the reason for rejecting the
    /// order that exceeds such a limit, with the widest of these scopes; `None` when no kill switch was activated.
    pub(crate) fn guard(&mut self, at: i64, party: Party, sink: &mut impl Sink) -> Option<Reason> {
        /// Maximum number of scopes that are stopped at once. Further scopes are stopped with the next message.
        const MOST: usize = 4;
        let mut reason = None;
        for _ in 0..MOST {
            let Some(exceeded) = risk::exceeded(self.state(), party, at) else {
                return reason;
            };
            reason = reason.or(Some(Reason {
                scope: exceeded.scope,
                ..Reason::of(Why::Killed)
            }));
            self.kill(at, &exceeded, sink);
        }
        reason
    }

    /// Activates the kill switch of one scope whose loss is above RC17; returns whether there was such a scope.
    pub(crate) fn guard_loss(&mut self, at: i64, sink: &mut impl Sink) -> bool {
        let Some(exceeded) = risk::exceeded_loss(self.state()) else {
            return false;
        };
        self.kill(at, &exceeded, sink);
        true
    }

    fn kill(&mut self, at: i64, exceeded: &Exceeded, sink: &mut impl Sink) {
        let control = exceeded.control;
        let digits = control.unit().digits();
        let (value, limit) = (
            figure(exceeded.value, digits),
            figure(exceeded.limit, digits),
        );
        let why = format!("{control}: {value}, at most {limit}");
        let by = By {
            who: Self::GUARD,
            why: why.as_bytes(),
        };
        self.set_trading(at, exceeded.scope, Trading::Killed, by, sink);
    }

    /// The name that is recorded as operator when a limit activates a kill switch.
    pub(crate) const GUARD: &[u8] = b"fixwire";

    /// The reason that is recorded when a temporary limit ends.
    pub(crate) const LIMIT_ENDED: &[u8] = b"temporary limit expired";

    /// Sets the state of a market.
    pub(crate) fn set_market(
        &mut self,
        at: i64,
        instrument: InstrumentNo,
        state: Market,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Setup(SetupEvent::Market {
            instrument,
            state,
            who,
            why,
        });
        self.emit(at, &event, sink);
    }

    /// Sets or removes a limit.
    pub fn set_limit(
        &mut self,
        at: i64,
        scope: Scope,
        control: RiskControl,
        value: Option<i128>,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Limit(LimitEvent::Limit {
            scope,
            control: control.index(),
            value,
            filed: false,
            who,
            why,
        });
        self.emit(at, &event, sink);
    }

    /// Sets the time `until` at which the limit that was just set expires. The limit before it is then restored.
    pub(crate) fn limit_until(
        &mut self,
        at: i64,
        scope: Scope,
        control: RiskControl,
        before: Option<i128>,
        until: i64,
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Limit(LimitEvent::LimitUntil {
            scope,
            control: control.index(),
            before,
            until,
        });
        self.emit(at, &event, sink);
    }

    /// Sets whether a scope may trade, with the name of the operator and the reason.
    pub fn set_trading(
        &mut self,
        at: i64,
        scope: Scope,
        state: Trading,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Limit(LimitEvent::Trading {
            scope,
            state,
            who,
            why,
        });
        self.emit(at, &event, sink);
    }

    /// Calls [`guard`](Core::guard) for the scopes of an order.
    pub(crate) fn guard_order(
        &mut self,
        at: i64,
        order: Number,
        sink: &mut impl Sink,
    ) -> Option<Reason> {
        let party = self.state().orders().get(order).map(Order::party)?;
        self.guard(at, party, sink)
    }
}
