//! Decides on spreads: whether their legs may trade, and what venues report of the legs.
//!
//! ```text
//!   report of order 17, Symbol(55) = JUN-MAR   > a fill of the spread, in sets
//!   report of order 17, Symbol(55) = JUN       > a fill of the leg JUN: its position
//!   legs in the report of the fill             > the same, of each leg
//! ```

use fixwire_protocol::{Decimal, Nanos};

use crate::decide::core::{Core, Sink};
use crate::decide::external::ExternalTerms;
use crate::decide::risk;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport};
use crate::state::event::{OrderEvent, SpreadEvent};
use crate::state::orders::Order;
use crate::state::proposal::Proposal;
use crate::state::spreads::{LegSource, SpreadLeg, leg_exec};
use crate::state::tally::Tally;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{InstrumentNo, Party};
use crate::values::reason::{Reason, Why};
use crate::values::scope::Scope;
use crate::values::value::{Number, Price, Quantity, Side};
use crate::values::waived::Waived;

/// How long the fills of legs may differ from those of the spread, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// A leg of a fill, as the report of the fill says it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FillOfLeg<'a> {
    /// Its symbol; empty for that of the leg in this place.
    pub symbol: &'a [u8],
    /// Its side, when it is given.
    pub side: Option<Side>,
    /// Its price.
    pub price: Option<Decimal>,
    /// Its quantity; without one that of the fill times its ratio.
    pub quantity: Option<Decimal>,
}

impl Core {
    /// Checks the legs of a spread as the order would trade them: restricted lists, kill switches, positions, markets.
    /// `known` is the order that a replace is of. Nothing for other instruments.
    ///
    /// # Errors
    ///
    /// The first control that refuses the first leg, or the second one.
    #[cold]
    pub(crate) fn check_legs(
        &self,
        order: &Proposal,
        known: Option<&Order>,
        waived: &Waived,
    ) -> Result<(), Reason> {
        let Some(legs) = self.state.spreads.legs(order.instrument).copied() else {
            // Another spread has them, or one of them was a spread.
            return match self.rule(order.instrument)?.legs {
                Some(_) => Err(Reason::of(Why::SpreadLegs)),
                None => Ok(()),
            };
        };
        if order.side == Side::SellShort {
            return Err(Reason::of(Why::SpreadSide));
        }
        let quantity = |tally: &Tally| tally.buying.saturating_add(tally.selling);
        let state = &self.state;
        let own = known.map(|it| state.counted(it, state.orders().request_of(it)));
        let own = own.map_or(0, |tally| quantity(&tally));
        let most = order.quantity.saturating_sub(order.filled);
        let most = most.max(order.held.saturating_sub(order.filled));
        let counted = known.and_then(|it| state.spreads.get(it.number));
        let counted = counted.map_or([0, 0], |of| of.exposed);
        // What its parent releases counts for the legs too.
        let released = quantity(&order.counted).saturating_sub(own);
        let new = match known {
            Some(known) => state.exposure(known, &legs, most),
            None => legs.map(|leg| leg.quantity(most)),
        };
        for at in [0, 1] {
            let more = counted[at].saturating_add(legs[at].quantity(released));
            self.check_leg(order, &legs[at], (more, new[at]), waived)?;
        }
        Ok(())
    }

    fn check_leg(
        &self,
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
            self.check_restricted(&leg_order, true)?;
        }
        let rule = self.rule(leg.instrument)?;
        risk::check_leg(&self.state, rule, &leg_order, (tally(new), waived)).map_err(|reason| {
            match reason.why {
                // The limit may be that of a wider scope: this says which leg it is.
                Why::Long | Why::Short => Reason {
                    scope: Scope::Holding(order.account, leg.instrument),
                    ..reason
                },
                _ => reason,
            }
        })
    }

    /// The least price at which a spread is reserved: a set of its legs at their reference prices and a fifth.
    pub(crate) fn least_hold(&self, instrument: InstrumentNo) -> Price {
        const MOST: i128 = crate::values::units::MOST as i128;
        let Some(legs) = self.state.spreads.legs(instrument) else {
            return 0;
        };
        let worth = legs.iter().try_fold(0_i128, |sum, leg| {
            let reference = self.rule(leg.instrument).ok()?.reference?.saturating_abs();
            let price = reference.saturating_add(reference / 5);
            let worth = self.state.worth(leg.instrument, price, leg.ratio.into())?;
            sum.checked_add(worth)
        });
        let Some(known) = self.state.instruments.get(instrument) else {
            return 0;
        };
        // Worth 10^-9 is what price 10^-scale is times 10^(3 - scale) times worth 10^-6.
        let parts = 10_i128.pow(known.scale.into());
        let one = i128::from(known.worth.max(1)) * 1_000;
        let least = worth.and_then(|worth| worth.checked_mul(parts));
        let least = least.map_or(MOST, |least| least / one + i128::from(least % one > 0));
        i64::try_from(least.min(MOST)).unwrap_or(i64::MAX)
    }

    /// The price of a spread that follows from the reference prices of its legs, and the sum of what they amount to.
    pub(crate) fn leg_prices(&self, instrument: InstrumentNo) -> Option<(Price, Price)> {
        let legs = self.state.spreads.legs(instrument)?;
        legs.iter().try_fold((0_i64, 0_i64), |(sum, total), leg| {
            let price = self.rule(leg.instrument).ok()?.reference?;
            let price = price.checked_mul(leg.ratio.into())?;
            let signed = if leg.side.is_buy() { price } else { -price };
            let total = total.checked_add(price.saturating_abs())?;
            Some((sum.checked_add(signed)?, total))
        })
    }

    /// The leg that a report of an order is of, by its symbol.
    pub(crate) fn leg_of(&self, order: Number, symbol: &[u8]) -> Option<(u8, SpreadLeg)> {
        let order = self.state.orders().get(order)?;
        let legs = self.state.spreads.legs(order.instrument)?;
        let names = self.state.instruments();
        let is_it = |leg: &SpreadLeg| names.name(leg.instrument) == symbol;
        let at = legs.iter().position(is_it)?;
        Some((at as u8, legs[at]))
    }

    /// The leg of its order that a report is of, on the side that the leg has.
    pub(crate) fn instrument_of_leg(
        &self,
        order: Number,
        report: &VenueReport<'_>,
    ) -> Option<InstrumentNo> {
        let (_, leg) = self.leg_of(order, report.symbol)?;
        let side = leg.side_in(self.state.orders().get(order)?.side);
        let is_its = report.side.is_none_or(|it| it.is_buy() == side.is_buy());
        is_its.then_some(leg.instrument)
    }

    /// Handles a report whose symbol is not that of its order: one of a leg, or `None`. No order is removed from memory.
    #[cold]
    pub(crate) fn report_of_leg(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        in_fill: bool,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let number = report.id.order;
        let (leg, of) = self.leg_of(number, report.symbol)?;
        match report.kind {
            ReportKind::Fill | ReportKind::Bust | ReportKind::Correct => {}
            ReportKind::Restated => return Some(ReportOutcome::Unreadable),
            // The order is what the reports of the spread say.
            _ => return Some(ReportOutcome::Known),
        }
        let order = self.state.orders().get(number)?;
        if !self.may_report(report.line, order) {
            return Some(self.foreign(at, report, sink));
        }
        let is_other = report
            .side
            .is_some_and(|side| side.is_buy() != of.side_in(order.side).is_buy());
        if report.kind != ReportKind::Fill {
            let heard = match is_other {
                true => ReportOutcome::Unreadable,
                false => self.undo_leg(at, report, (leg, of), sink),
            };
            return Some(heard);
        }
        if is_other || order.is_past(report.id.request) || order.state.is_unsent() {
            // The position is what the venue says.
            let account = self.state.accounts().name(order.account).to_vec();
            let account = match report.account {
                b"" => account.as_slice(),
                account => account,
            };
            let stray = VenueReport { account, ..*report };
            return Some(self.report_of_none(at, &stray, sink));
        }
        let heard = self.leg_fill(at, report, (leg, of.instrument, in_fill), sink);
        self.work.look_again(&self.state, number);
        Some(heard)
    }

    fn leg_fill(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        (leg, instrument, in_fill): (u8, InstrumentNo, bool),
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        self.widen(at, instrument, report.last_price, sink);
        let Some((quantity, price)) = self.execution(report, instrument) else {
            return ReportOutcome::Unreadable;
        };
        let order = report.id.order;
        let exec = leg_exec(report.exec, instrument);
        let source = self.state.spreads.get(order).map(|of| of.source);
        let is_other_way = match source {
            Some(LegSource::Fills) => !in_fill,
            Some(LegSource::Reports) => in_fill,
            _ => false,
        };
        let is_known = self.state.orders().has_fill(order, exec);
        if is_other_way || (is_known && !canary::is(OmsPlantedFault::LegTwice)) {
            return ReportOutcome::Known;
        }
        // The venue has filled the order, whichever report comes first.
        self.accepted(at, report, sink);
        let event = OrderEvent::Spread(SpreadEvent::LegFilled {
            order,
            leg,
            in_fill,
            exec,
            quantity,
            price,
            at: report.at,
        });
        self.emit(at, &event, sink);
        if self.has_copies() {
            self.compare(at, (order, exec), b"", sink);
        }
        let of = self.state.orders().get(order);
        if let Some((session, account)) = of.map(|it| (it.session, it.account)) {
            self.guard(at, Party::new(session, account, instrument), sink);
        }
        ReportOutcome::Taken
    }

    /// Applies the report of a fill of a spread, which has its legs.
    #[cold]
    pub(crate) fn report_with_legs(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: &[FillOfLeg<'_>],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let heard = self.hear(at, report, sink);
        if heard == ReportOutcome::Broken {
            self.forget(at, sink);
            return heard;
        }
        let of_legs = self.legs_of_fill(at, report, said, sink);
        self.forget(at, sink);
        match heard {
            ReportOutcome::Taken | ReportOutcome::FillsMissing(_) => heard,
            _ => of_legs,
        }
    }

    /// The legs in the report of a fill of a spread.
    #[cold]
    pub(crate) fn legs_of_fill(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: &[FillOfLeg<'_>],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let mut heard = ReportOutcome::Known;
        for (place, leg) in said.iter().enumerate() {
            let Some((symbol, quantity)) = self.leg_said(report, place, leg) else {
                continue;
            };
            let of_leg = VenueReport {
                symbol: &symbol,
                side: leg.side,
                last_quantity: quantity,
                last_price: leg.price,
                ..*report
            };
            let next = match self.report_of_leg(at, &of_leg, true, sink) {
                Some(heard) => heard,
                // Of an order that is not in memory.
                None => self.report_of_none(at, &of_leg, sink),
            };
            if heard == ReportOutcome::Known {
                heard = next;
            }
        }
        heard
    }

    /// The legs in the copy of a fill of a spread.
    #[cold]
    pub(crate) fn copy_legs(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: &[FillOfLeg<'_>],
        terms: &ExternalTerms,
        exec_id: &[u8],
        sink: &mut impl Sink,
    ) {
        let terms = ExternalTerms {
            is_of_leg: true,
            ..*terms
        };
        for (place, leg) in said.iter().enumerate() {
            if let Some((symbol, quantity)) = self.leg_said(report, place, leg) {
                let of_leg = VenueReport {
                    symbol: &symbol,
                    side: leg.side,
                    last_quantity: quantity,
                    last_price: leg.price,
                    ..*report
                };
                self.copy(at, &of_leg, (&terms, exec_id), sink);
            }
        }
    }

    /// Symbol and quantity of a leg in the report of a fill.
    pub(crate) fn leg_said(
        &self,
        report: &VenueReport<'_>,
        place: usize,
        said: &FillOfLeg<'_>,
    ) -> Option<(alloc::vec::Vec<u8>, Option<Decimal>)> {
        let state = &self.state;
        let order = state.orders().get(report.id.order);
        let spread = match order.and_then(|it| state.spreads.legs(it.instrument)) {
            Some(legs) => Some(legs),
            None => state
                .instruments()
                .find(report.symbol)
                .and_then(|it| state.spreads.legs(it)),
        };
        let names = state.instruments();
        let leg = spread.and_then(|legs| match said.symbol {
            b"" => legs.get(place),
            symbol => legs.iter().find(|it| names.name(it.instrument) == symbol),
        });
        let symbol = match (said.symbol, leg) {
            (b"", leg) => names.name(leg?.instrument),
            (symbol, _) => symbol,
        };
        let times = |sets: Decimal| {
            let ratio = i64::from(leg?.ratio);
            let sets = sets.normalized();
            Decimal::new(sets.mantissa.checked_mul(ratio)?, sets.scale)
        };
        let quantity = said.quantity.or_else(|| times(report.last_quantity?));
        Some((symbol.to_vec(), quantity))
    }

    /// Raises the event of the next order whose legs have differed from its fills for too long; returns when one has.
    pub(crate) fn due_legs(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        let (since, order) = self.state.spreads.oldest()?;
        let left = since.saturating_add(PATIENCE).saturating_sub(at);
        if left > 0 {
            return Some(Nanos(left.unsigned_abs()));
        }
        self.emit(
            at,
            &OrderEvent::Spread(SpreadEvent::LegsMissing { order }),
            sink,
        );
        Some(Nanos(0))
    }
}
