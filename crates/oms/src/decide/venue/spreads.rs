//! Reports of venues about the legs of spreads: fills of legs, and trades that a venue cancels or corrects.
//!
//! ```text
//!   report of order 17, Symbol(55) = JUN-MAR   > a fill of the spread, in sets
//!   report of order 17, Symbol(55) = JUN       > a fill of the leg JUN: its position
//!   legs in the report of the fill             > the same, of each leg
//!
//!   legs in the report of the fill:   bust of the spread (442 = 3) > the spread's fill, and that of each leg
//!   legs in reports of their own:     bust of the spread > its fill;  bust of a leg (442 = 2) > that leg
//! ```
//!
//! A correction of a spread's fill must have the corrected legs if the fill had legs. A correction without legs, or one
//! that refers to no fill of a leg, is a break.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::{Decimal, Nanos};

use crate::decide::core::{Core, Sink};
use crate::decide::spreads;
use crate::decide::venue::agree::Found;
use crate::decide::venue::strays::undo_name;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport};
use crate::state::event::{OrderEvent, SpreadEvent};
use crate::state::leg_fills::LegFill;
use crate::state::orders::exec_ids::reused_exec;
use crate::state::spreads::{LegSource, SpreadLeg, leg_exec};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{InstrumentNo, Party};
use crate::values::value::{BreakKind, Number, Price, Quantity, Side};

/// How long the fills of the legs may differ from the fills of the spread, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// A leg in the report of a spread's fill.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FillOfLeg<'a> {
    /// Symbol of the leg; empty if the report does not name it, so that it is the spread's symbol for this leg.
    pub symbol: &'a [u8],
    /// Side of the leg, if the report has it.
    pub side: Option<Side>,
    /// Price of the leg's fill.
    pub price: Option<Decimal>,
    /// Quantity of the leg's fill. Without it, the quantity is that of the spread's fill times the ratio of the leg.
    pub quantity: Option<Decimal>,
}

/// The number of a leg's fill, the fill, and its quantity and price after the bust or correction.
type Undone = (u64, LegFill, (Quantity, Price));

impl Core {
    /// How the venue reports the legs of an order: in the reports of the spread's fills, or in separate reports.
    fn leg_source(&self, order: Number) -> Option<LegSource> {
        self.state.spreads.get(order).map(|of| of.source)
    }

    /// Busts the fills of the legs that came with a fill of a spread, when the venue busts the spread's fill.
    #[cold]
    pub(crate) fn bust_legs(&mut self, at: i64, report: &VenueReport<'_>, sink: &mut impl Sink) {
        let number = report.id.order;
        let order = self.state.orders().get(number);
        let legs = order.and_then(|order| self.state.spreads.legs(order.instrument));
        let Some(legs) = legs.copied() else {
            return;
        };
        if self.leg_source(number) != Some(LegSource::Fills) {
            return;
        }
        let of_leg = VenueReport {
            last_quantity: None,
            last_price: None,
            ..*report
        };
        for (at_leg, leg) in (0..).zip(legs) {
            self.undo_leg(at, &of_leg, at_leg, leg, sink);
        }
    }

    /// Handles a correction of a spread's fill, with the corrected legs.
    #[cold]
    pub(crate) fn correct_with_legs(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: &[FillOfLeg<'_>],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let heard = self.hear(at, report, sink);
        let number = report.id.order;
        let is_with_legs = self.leg_source(number) == Some(LegSource::Fills);
        if heard == ReportOutcome::Taken && is_with_legs {
            let mut corrected = 0;
            for (place, leg) in said.iter().enumerate() {
                let Some((symbol, quantity)) = self.leg_said(report, place, leg) else {
                    continue;
                };
                if let Some((at_leg, of)) = spreads::leg_of(&self.state, number, &symbol) {
                    let of_leg = VenueReport {
                        symbol: &symbol,
                        side: leg.side,
                        last_quantity: quantity,
                        last_price: leg.price,
                        ..*report
                    };
                    self.undo_leg(at, &of_leg, at_leg, of, sink);
                    corrected += 1;
                }
            }
            if corrected < 2 {
                self.leg_broken(at, report, "correction without its legs", sink);
            }
        }
        self.forget(at, sink);
        heard
    }

    /// Handles a bust or correction of a leg's fill.
    #[cold]
    pub(crate) fn undo_leg(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        leg_at: u8,
        leg: SpreadLeg,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        if report.kind == ReportKind::Correct {
            self.widen(at, leg.instrument, report.last_price, sink);
        }
        let by = self.leg_undo_exec(report, leg.instrument);
        let (exec, fill, (quantity, price)) = match self.leg_undo_of(report, leg.instrument, by) {
            Ok(Some(undone)) => undone,
            Ok(None) => return ReportOutcome::Known,
            Err(ours) => {
                self.leg_broken(at, report, ours, sink);
                return ReportOutcome::Broken;
            }
        };
        let event = OrderEvent::Spread(SpreadEvent::LegUndone {
            order: number,
            leg: leg_at,
            exec,
            by,
            was_quantity: fill.quantity,
            was_price: fill.price,
            quantity,
            price,
            at: report.at,
            text: report.text,
        });
        self.emit(at, &event, sink);
        let of = self.state.orders().get(number);
        if let Some((session, account)) = of.map(|it| (it.session, it.account)) {
            self.guard(at, Party::new(session, account, leg.instrument), sink);
        }
        ReportOutcome::Taken
    }

    /// The hash by which a leg's fill is taken back: that of the report's ExecID(17) and the leg, or another one when
    /// this is the hash of a fill that the report does not correct. It is the hash of a fill when the report was
    /// applied before.
    fn leg_undo_exec(&self, report: &VenueReport<'_>, leg: InstrumentNo) -> u64 {
        let (number, fills) = (report.id.order, &self.state.spreads.fills);
        let is_correction = report.kind == ReportKind::Correct;
        let reference = report.reference.map(|it| leg_exec(it, leg));
        let now = self.execution(report, leg);
        let mut by = leg_exec(report.exec, leg);
        while let Some(known) = fills.get(number, by) {
            let is_same = now.is_none_or(|now| now == (known.quantity, known.price));
            let is_its = reference != Some(by) && fills.is_now_of(number, reference, by);
            if is_correction && is_same && is_its {
                break;
            }
            by = reused_exec(by, is_correction);
        }
        by
    }

    /// The leg's fill to which a report refers, with its quantity and price after the bust or correction; `None` when
    /// the report was already applied. An error says why the report fits no fill.
    fn leg_undo_of(
        &self,
        report: &VenueReport<'_>,
        leg: InstrumentNo,
        by: u64,
    ) -> Result<Option<Undone>, &'static str> {
        let number = report.id.order;
        let fills = &self.state.spreads.fills;
        let reference = report.reference.ok_or("no ExecRefID(19)")?;
        let found = fills.now(number, leg_exec(reference, leg));
        let (exec, fill) = found.ok_or("no fill of the leg with this ExecID")?;
        let is_again = fills.is_now_of(number, Some(leg_exec(reference, leg)), by);
        if fill.undone == by || is_again {
            return Ok(None);
        }
        if fill.undone != 0 {
            // The fill of the leg was busted with the fill of the spread.
            let is_done = self.leg_source(number) == Some(LegSource::Fills);
            return match is_done {
                true => Ok(None),
                false => Err("fill of the leg is busted already"),
            };
        }
        let now = match report.kind {
            ReportKind::Correct => self
                .execution(report, leg)
                .ok_or("no LastQty(32) and LastPx(31) of the leg")?,
            _ => (0, 0),
        };
        let said = report.last_quantity.filter(|it| it.mantissa != 0);
        let is_bust = report.kind != ReportKind::Correct;
        if is_bust
            && said.is_some_and(|it| self.state().units(leg, Some(it)) != Some(fill.quantity))
        {
            return Err("LastQty(32) of the fill of the leg is another");
        }
        Ok(Some((exec, *fill, now)))
    }

    /// Raises the break for a bust or correction that fits no fill of a leg. Only an operator who knows the legs can
    /// settle it.
    fn leg_broken(&mut self, at: i64, report: &VenueReport<'_>, ours: &str, sink: &mut impl Sink) {
        let kind = match report.kind {
            ReportKind::Correct => BreakKind::Correction,
            _ => BreakKind::Bust,
        };
        let what = undo_name(kind == BreakKind::Correction);
        let symbol = String::from_utf8_lossy(report.symbol);
        let leg = self.state.instruments().find(report.symbol);
        let quantity = leg.and_then(|leg| {
            let quantity = self.state.units(leg, report.last_quantity)?;
            Some(format!(" of {}", self.state.shown(leg, quantity)))
        });
        let quantity = quantity.unwrap_or_default();
        // A venue may use the same ExecID(17) for the spread and its legs.
        let leg = leg.filter(|leg| self.state.spreads.is_leg(*leg));
        let found = Found {
            exec: leg.map_or(report.exec, |leg| leg_exec(report.exec, leg)),
            ..Found::of(kind, ours.to_string(), format!("{what}{quantity} {symbol}"))
        };
        // CumQty(14) is that of the spread, or of the leg: it settles nothing.
        let report = VenueReport {
            filled: None,
            ..*report
        };
        self.raise(at, &report, found, sink);
    }

    /// Handles a report whose symbol is not the symbol of its order; `None` when the report is not about a leg. Removes
    /// no order from memory.
    #[cold]
    pub(crate) fn report_of_leg(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        in_fill: bool,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let number = report.id.order;
        let (leg, of) = spreads::leg_of(&self.state, number, report.symbol)?;
        match report.kind {
            ReportKind::Fill | ReportKind::Bust | ReportKind::Correct => {}
            ReportKind::Restated => return Some(ReportOutcome::Unreadable),
            // The state of the order follows from the reports of the spread.
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
                false => self.undo_leg(at, report, leg, of, sink),
            };
            return Some(heard);
        }
        if is_other || order.is_past(report.id.request) || order.state.is_unsent() {
            // The account of the fill is that of the venue's report, or if the report has none, that of the order.
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
        // A fill of a leg implies that the venue accepted the order, whichever report arrives first.
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

    /// Applies the report of a spread's fill that includes the legs.
    #[cold]
    pub(crate) fn report_with_legs(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: &[FillOfLeg<'_>],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let order = self.state.orders().get(report.id.order);
        let fill = order.and_then(|order| self.execution(report, order.instrument));
        // The legs have the hash of the fill.
        let report = &VenueReport {
            exec: fill.map_or(report.exec, |fill| self.fill_exec(report, fill)),
            ..*report
        };
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
                // The fill belongs to an order that is not in memory.
                None => self.report_of_none(at, &of_leg, sink),
            };
            if heard == ReportOutcome::Known {
                heard = next;
            }
        }
        heard
    }

    /// Symbol and quantity of a leg, from the report of a spread's fill.
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

    /// Raises the event for the next order whose fills have differed from the fills of its legs for too long. Returns
    /// the time until the next event is due.
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
