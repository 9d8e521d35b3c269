//! Handles reports of a venue's drop copy sessions. Finds the order of the OMS to which a report belongs, and keeps
//! orders that were placed elsewhere, such as at the venue's terminal.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::Decimal;

use crate::decide::core::{Core, Sink};
use crate::decide::spreads;
use crate::decide::venue::spreads::FillOfLeg;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueId, VenueReport};
use crate::state::copies::ENDED;
use crate::state::event::{CopyEvent, OrderEvent, RequestEvent};
use crate::state::spreads::leg_exec;
use crate::values::ids::{AccountNo, InstrumentNo, Party};
use crate::values::rules::InstrumentRule;
use crate::values::show::text;
use crate::values::units::{scaled, units};
use crate::values::value::{Effect, End, Number, OrderType, Side, TimeInForce};

/// Fields of an ExecutionReport(8) that only an order placed elsewhere needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExternalTerms<'a> {
    /// ExecID(17).
    pub exec_id: &'a [u8],
    /// OrdType(40).
    pub kind: Option<OrderType>,
    /// TimeInForce(59).
    pub tif: Option<TimeInForce>,
    /// StopPx(99).
    pub stop: Option<Decimal>,
    /// ExpireDate(432), as 20261122.
    pub until: Option<u32>,
    /// Whether the report is about a leg of a spread, MultiLegReportingType(442) = 2. Such a report creates no order.
    pub is_of_leg: bool,
}

impl Core {
    /// Handles a report of an order placed elsewhere.
    pub(crate) fn external(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        terms: &ExternalTerms<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let id = match report.venue_id {
            b"" => report.text_id,
            id => id,
        };
        if id.is_empty() || id.len() > crate::Text::MAX {
            return ReportOutcome::Unreadable;
        }
        let known = self.state().used(report.line, id).filter(|it| *it > 0);
        let number = match known {
            Some(number) => number,
            None if terms.is_of_leg => return self.report_of_none(at, report, sink),
            None => match self.new_external(at, id, report, terms, sink) {
                Ok(number) => number,
                Err(ReportOutcome::Unknown) if report.kind == ReportKind::Fill => {
                    return self.unplaced_fill(at, id, report, terms.exec_id, sink);
                }
                Err(heard) => return heard,
            },
        };
        self.report_external(at, number, report, sink)
    }

    /// Raises the event for a fill that counts in no position, so that an operator looks at it.
    fn unplaced_fill(
        &mut self,
        at: i64,
        id: &[u8],
        report: &VenueReport<'_>,
        exec_id: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = |value: Option<Decimal>| value.unwrap_or_default();
        let what = short_text(format!(
            "{} {}: {} {} at {} for {}",
            text(id),
            text(exec_id),
            text(report.symbol),
            number(report.last_quantity),
            number(report.last_price),
            text(report.account),
        ));
        if self.has_copy_break(&what) {
            return ReportOutcome::Known;
        }
        self.unplaced(at, &what, sink);
        ReportOutcome::Taken
    }

    fn has_copy_break(&self, what: &str) -> bool {
        let breaks = self.state().copies.breaks();
        breaks.values().any(|it| it.text.bytes() == what.as_bytes())
    }

    /// The order of the OMS that a copy of a fill names by ClOrdID(11) and OrderID(37), when its symbol or side is
    /// another.
    fn order_of_other_copy(&self, report: &VenueReport<'_>) -> Option<Number> {
        let state = self.state();
        let order = state.orders().get(report.id.order)?;
        let of = order.line().and_then(|line| state.copies.session_of(line));
        let venue_id = order.venue_id.bytes();
        let is_its = report.kind == ReportKind::Fill
            && of == Some(report.line)
            && !order.is_external()
            && !order.state.is_unsent()
            && (venue_id.is_empty() || report.venue_id.is_empty() || venue_id == report.venue_id);
        is_its.then_some(order.number)
    }

    /// Raises the break for a copy of a fill whose symbol or side is not that of its order.
    #[cold]
    fn other_copy(
        &mut self,
        at: i64,
        order: Number,
        report: &VenueReport<'_>,
        exec_id: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = |value: Option<Decimal>| value.unwrap_or_default();
        let side = match report.side.map(Side::is_buy) {
            Some(true) => "buy ",
            Some(false) => "sell ",
            None => "",
        };
        let what = short_text(format!(
            "{} {}: {side}{} {} at {}",
            text(report.venue_id),
            text(exec_id),
            text(report.symbol),
            number(report.last_quantity),
            number(report.last_price),
        ));
        if self.has_copy_break(&what) {
            return ReportOutcome::Known;
        }
        self.copy_of_other(at, (order, report.exec), &what, sink);
        ReportOutcome::Taken
    }

    /// Creates an order from the report; `Unknown` when the OMS does not have the account or symbol.
    fn new_external(
        &mut self,
        at: i64,
        id: &[u8],
        report: &VenueReport<'_>,
        terms: &ExternalTerms<'_>,
        sink: &mut impl Sink,
    ) -> Result<Number, ReportOutcome> {
        let begins = matches!(
            report.kind,
            ReportKind::New | ReportKind::Fill | ReportKind::Replaced | ReportKind::Renewed
        );
        if !begins {
            return Err(ReportOutcome::Known);
        }
        let state = self.state();
        let account = state.accounts().find(report.account);
        let instrument = state.instruments().find(report.symbol);
        let (Some(account), Some(instrument)) = (account, instrument) else {
            return Err(ReportOutcome::Unknown);
        };
        let rule = self.rule(instrument).map_err(|_| ReportOutcome::Unknown)?;
        let order = self.state.last + 1;
        let of = (order, account, instrument);
        let event =
            external_order(of, id, (report, terms), rule).ok_or(ReportOutcome::Unreadable)?;
        self.emit(at, &event, sink);
        let venue_id = id;
        self.emit(
            at,
            &OrderEvent::Copy(CopyEvent::External { order, venue_id }),
            sink,
        );
        self.guard(at, Party::new(report.line, account, instrument), sink);
        Ok(order)
    }

    /// Applies a report to an order placed elsewhere that the OMS already has.
    fn report_external(
        &mut self,
        at: i64,
        number: Number,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let Some(order) = self.state().orders().get(number) else {
            return ReportOutcome::Known;
        };
        let instrument = order.instrument;
        let is_counted = self.has_counted(report.exec, Some(instrument))
            && !self.state().orders().has_fill(number, report.exec);
        match report.kind {
            // A line has already reported this fill, as a fill of an unknown order.
            ReportKind::Fill if is_counted => {
                self.stray_confirmed(at, report.exec, instrument, sink);
                ReportOutcome::FillsMissing(number)
            }
            ReportKind::New => ReportOutcome::Taken,
            ReportKind::Replaced => self.restated_external(at, number, instrument, report, sink),
            _ => {
                let (order, request) = (number, number);
                let own = VenueReport {
                    id: VenueId { order, request },
                    original: None,
                    ..*report
                };
                self.report(at, &own, sink)
            }
        }
    }

    /// Whether a line has already reported an execution as a fill of an unknown order. An execution in a leg of a
    /// spread is also looked up by the number of the leg.
    pub(crate) fn has_counted(&self, exec: u64, instrument: Option<InstrumentNo>) -> bool {
        let state = self.state();
        let leg = instrument.filter(|it| state.spreads.is_leg(*it));
        state.has_stray(exec) || leg.is_some_and(|leg| state.has_stray(leg_exec(exec, leg)))
    }

    fn restated_external(
        &mut self,
        at: i64,
        order: Number,
        instrument: InstrumentNo,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let scale = self.state().scale(instrument);
        let quantity = self.state().units(instrument, report.quantity);
        let price = report.price.and_then(|it| scaled(it, scale).ok());
        self.terms_of_external(at, order, quantity, price, report.at, sink)
    }

    /// Applies an ExecutionReport(8) of a drop copy session; `terms` and `exec_id` come from the same message.
    pub(crate) fn copy(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        terms: &ExternalTerms<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if let Some(number) = self.copied_order(report) {
            return self.copy_of(at, number, report, terms.exec_id, sink);
        }
        if !self.is_copy_of_recalled(report)
            && let Some(number) = self.order_of_other_copy(report)
        {
            let instrument = self.state().instruments().find(report.symbol);
            if let Some(instrument) =
                instrument.filter(|it| self.has_counted(report.exec, Some(*it)))
            {
                // The line has reported the fill so, too.
                self.stray_confirmed(at, report.exec, instrument, sink);
                return ReportOutcome::Known;
            }
            return self.other_copy(at, number, report, terms.exec_id, sink);
        }
        let (state, number) = (self.state(), report.id.order);
        let is_past = (1..=state.last).contains(&number)
            && (state.orders().get(number).is_none() || self.is_copy_of_recalled(report));
        let instrument = state.instruments().find(report.symbol);
        let is_counted = self.has_counted(report.exec, instrument) || state.had_stray(report.exec);
        // The copy belongs to an order of the OMS that is no longer in memory.
        if is_past && (is_counted || report.kind != ReportKind::Fill) {
            return ReportOutcome::Known;
        }
        self.external(at, report, terms, sink)
    }

    /// Whether a copy has a fill that its order, which was taken into memory again, does not have.
    fn is_copy_of_recalled(&self, report: &VenueReport<'_>) -> bool {
        let number = report.id.order;
        self.state().strays.is_recalled(number)
            && report.kind == ReportKind::Fill
            && !self.state().orders().has_fill(number, report.exec)
    }

    /// The order of the OMS to which a copy belongs; `None` when it belongs to none.
    fn copied_order(&self, report: &VenueReport<'_>) -> Option<Number> {
        let key = (report.id.order, self.copied_exec(report));
        let copies = &self.state().copies;
        if copies.awaited(key).is_some() || copies.break_of(key).is_some() {
            // The order may no longer be in memory.
            return Some(report.id.order);
        }
        if self.is_copy_of_recalled(report) {
            return None;
        }
        let order = self.state().orders().get(report.id.order)?;
        let symbol = self.state().instruments().name(order.instrument);
        let venue_id = order.venue_id.bytes();
        let is_same = !order.is_external()
            && !order.state.is_unsent()
            && (((report.symbol.is_empty() || report.symbol == symbol)
                && report.side.is_none_or(|side| side.agrees(order.side)))
                || self.copied_leg(order.number, report).is_some())
            && (venue_id.is_empty() || report.venue_id.is_empty() || venue_id == report.venue_id);
        is_same.then_some(order.number)
    }

    /// The leg of a spread to which a copy belongs.
    fn copied_leg(&self, order: Number, report: &VenueReport<'_>) -> Option<InstrumentNo> {
        if self.state().spreads.is_empty() {
            return None;
        }
        spreads::instrument_of_leg(&self.state, order, report)
    }

    /// The key of a copy's execution among the fills of its order.
    fn copied_exec(&self, report: &VenueReport<'_>) -> u64 {
        if let Some(leg) = self.copied_leg(report.id.order, report) {
            return leg_exec(report.exec, leg);
        }
        let order = self.state().orders().get(report.id.order);
        let fill = order.filter(|_| report.kind == ReportKind::Fill);
        let fill = fill.and_then(|order| self.execution(report, order.instrument));
        fill.map_or(report.exec, |fill| self.fill_exec(report, fill))
    }

    fn copy_of(
        &mut self,
        at: i64,
        order: Number,
        report: &VenueReport<'_>,
        exec_id: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let state = self.state();
        let known = state.orders().get(order);
        if known.is_some_and(|it| {
            it.line()
                .and_then(|it| state.copies.session_of(it))
                .is_none()
        }) {
            return ReportOutcome::Known;
        }
        let is_open = known.is_some_and(|it| it.state.is_open());
        let instrument = known.map(|it| it.instrument);
        let (key, fill) = match report.kind {
            ReportKind::Fill => {
                let leg = self.copied_leg(order, report);
                let instrument = leg.or(instrument);
                let instrument = instrument.or_else(|| state.instruments().find(report.symbol));
                if let Some(instrument) = instrument {
                    self.widen(at, instrument, report.last_price, sink);
                }
                let fill = instrument.and_then(|it| self.execution(report, it));
                let Some(fill) = fill else {
                    return ReportOutcome::Unreadable;
                };
                ((order, self.copied_exec(report)), fill)
            }
            // The end of the order follows from the reports of the spread, not from the reports of a leg.
            _ if self.copied_leg(order, report).is_some() => return ReportOutcome::Known,
            ReportKind::End(how) if is_open && !self.rests(order, how) && how != End::Filled => {
                ((order, ENDED), (0, 0))
            }
            _ => return ReportOutcome::Known,
        };
        let copies = &self.state().copies;
        let awaits = copies.awaited(key).is_some_and(|it| it.copy.is_none());
        let breaks = copies.break_of(key);
        let is_broken = breaks.is_some_and(|(_, it)| it.what.copy.is_none());
        let is_known = self.state().orders().has_fill(order, key.1)
            || copies.awaited(key).is_some()
            || breaks.is_some();
        if is_known && !awaits && !is_broken {
            // The break is settled already, or the copy is a duplicate.
            return ReportOutcome::Known;
        }
        let leg = self.copied_leg(order, report);
        let leg = leg.and_then(|_| spreads::leg_of(&self.state, order, report.symbol));
        let event = match leg {
            None => CopyEvent::Copied {
                order,
                exec: key.1,
                quantity: fill.0,
                price: fill.1,
            },
            Some((leg, _)) => CopyEvent::LegCopied {
                order,
                leg,
                exec: key.1,
                quantity: fill.0,
                price: fill.1,
            },
        };
        self.emit(at, &OrderEvent::Copy(event), sink);
        self.compare(at, key, exec_id, sink);
        ReportOutcome::Taken
    }

    /// Handles the legs in the copy of a spread's fill.
    #[cold]
    pub(crate) fn copy_legs(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: &[FillOfLeg<'_>],
        terms: &ExternalTerms<'_>,
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
                self.copy(at, &of_leg, &terms, sink);
            }
        }
    }
}

/// A text, cut between characters to the length that a break can hold.
fn short_text(mut what: String) -> String {
    what.truncate(what.floor_char_boundary(crate::Text::MAX));
    what
}

/// The order that a report describes; `None` when a field is missing or cannot be read.
fn external_order<'a>(
    (order, account, instrument): (Number, AccountNo, InstrumentNo),
    id: &'a [u8],
    (report, terms): (&VenueReport<'_>, &ExternalTerms<'_>),
    rule: &InstrumentRule,
) -> Option<OrderEvent<'a>> {
    let price = match report.price {
        Some(price) => Some(scaled(price, rule.scale).ok()?),
        None => None,
    };
    let kind = terms.kind.unwrap_or(match price {
        Some(_) => OrderType::Limit,
        None => OrderType::Market,
    });
    let stop = terms.stop.and_then(|it| scaled(it, rule.scale).ok());
    let traded = report.last_price.and_then(|it| scaled(it, rule.scale).ok());
    let price = if kind.has_price() { price? } else { 0 };
    // The same price as for a market order of a client: the reference price plus a fifth.
    let reference = rule.reference.map(|it| it.saturating_add(it / 5));
    let hold = if kind.has_price() {
        price
    } else {
        reference.or(traded).unwrap_or(0)
    };
    let quantity = report.quantity.or(report.last_quantity)?;
    let effect = if rule.has_effect {
        report.effect.unwrap_or(Effect::Netting)
    } else {
        Effect::Netting
    };
    Some(OrderEvent::Request(RequestEvent::Taken {
        order,
        session: report.line,
        account,
        instrument,
        side: report.side?,
        kind,
        tif: terms.tif.unwrap_or(TimeInForce::Day),
        price,
        stop: stop.filter(|_| kind.has_stop()).unwrap_or(0),
        hold: hold.saturating_abs().max(rule.least_hold),
        quantity: units(quantity, rule.quantity_scale)
            .ok()
            .filter(|it| *it > 0)?,
        until: terms.until,
        effect,
        id,
    }))
}
