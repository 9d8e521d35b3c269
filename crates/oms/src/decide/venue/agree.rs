//! Compares each report of a venue with its order: CumQty(14), LeavesQty(151), OrdStatus(39), OrderQty(38), Price(44)
//! and AvgPx(6). Each difference is a break: see [`VenueBreaks`](crate::state::orders::breaks::VenueBreaks).

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::Decimal;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport};
use crate::state::apply::undo::is_of_former_day;
use crate::state::event::{BreakEvent, CopyEvent, OrderEvent};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::show::{Parts, average, price};
use crate::values::units::{Scales, half_even, scaled, units};
use crate::values::value::{Amount, BreakKind, End, Number, Price, Quantity, RequestKind};

/// How long a venue may take to answer a status request before a break becomes an alarm, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// A break that a report shows, without its order and line.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub kind: BreakKind,
    pub exec: u64,
    pub quantity: Quantity,
    pub price: Price,
    pub total: Quantity,
    pub opposite: Quantity,
    pub ours: String,
    pub venue: String,
}

impl Found {
    pub fn of(kind: BreakKind, ours: String, venue: String) -> Self {
        Self {
            kind,
            exec: 0,
            quantity: 0,
            price: 0,
            total: 0,
            opposite: 0,
            ours,
            venue,
        }
    }
}

impl Core {
    fn fill_text(&self, instrument: InstrumentNo, (quantity, at): (Quantity, Price)) -> String {
        let state = self.state();
        let quantity = state.shown(instrument, quantity);
        format!("{quantity} at {}", price(at, state.scale(instrument)))
    }

    pub(crate) fn cum_text(&self, instrument: InstrumentNo, filled: Option<Quantity>) -> String {
        filled.map_or_else(String::new, |filled| {
            format!(", CumQty {}", self.state().shown(instrument, filled))
        })
    }

    /// CumQty(14) of an order according to the venue's last report.
    pub(crate) fn venue_filled(&self, number: Number) -> Quantity {
        let state = self.state();
        let filled = state.orders().get(number).map_or(0, |order| order.filled);
        if state.breaks.is_empty() {
            return filled;
        }
        let missing = state.breaks.find(number, BreakKind::FillsMissing, 0);
        let missing = missing.filter(|(_, found)| !found.is_settled);
        let said = missing.and_then(|(_, found)| found.filled);
        said.map_or(filled, |said| said.max(filled))
    }

    /// Whether a fill is a break, because another fill has the same ExecID(17), or because CumQty(14) does not include
    /// the fill.
    pub(crate) fn fill_broken(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        quantity: Quantity,
        price: Price,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let number = report.id.order;
        let state = self.state();
        let order = state.orders().get(number)?;
        let instrument = order.instrument;
        let cum = self.cum_qty(report);
        let total = order.filled.saturating_add(quantity);
        let (kind, exec, ours) = match state.orders().fill(number, report.exec) {
            Some(known) if known.quantity == 0 => return Some(ReportOutcome::Known),
            Some(known) if (known.quantity, known.price) == (quantity, price) => {
                return Some(ReportOutcome::Known);
            }
            Some(known) => {
                let ours = self.fill_text(instrument, (known.quantity, known.price));
                let exec = report.exec ^ quantity.rotate_left(32) ^ price.cast_unsigned();
                (BreakKind::ReusedExec, exec, ours)
            }
            None => {
                let cum = cum?;
                if total <= self.venue_filled(number).max(cum) {
                    return None;
                }
                let ours = format!("CumQty {}", state.shown(instrument, order.filled));
                (BreakKind::NotCounted, report.exec, ours)
            }
        };
        let venue = format!(
            "{}{}",
            self.fill_text(instrument, (quantity, price)),
            self.cum_text(instrument, cum)
        );
        let found = Found {
            exec,
            quantity,
            price,
            total,
            ..Found::of(kind, ours, venue)
        };
        let is_new = state.breaks.find(number, kind, exec).is_none();
        if is_new {
            self.raise(at, report, found, sink);
        }
        Some(ReportOutcome::Broken)
    }

    /// Compares a report that was applied with its order; closes the breaks that the report settles.
    pub(crate) fn agree(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        heard: ReportOutcome,
        sink: &mut impl Sink,
    ) {
        let is_status = matches!(report.kind, ReportKind::Status(_));
        let is_news = match report.kind {
            // The venue does not have the order, or reports again that it has rejected the order.
            ReportKind::Status(b'8') => {
                let order = self.state().orders().get(report.id.order);
                order.is_some_and(|it| it.state == OrderState::Ended(End::Rejected))
            }
            // The status may show a closed order as open at the venue. The cancel of such an order is in flight.
            ReportKind::Status(_) => !self.has_stray_cancel(report.id.order),
            ReportKind::Rejected | ReportKind::Other => false,
            // Over TMP, the fill of an order that is filled at once is reported next.
            ReportKind::New => {
                let has_fill = report.last_quantity.is_some_and(|it| it.mantissa > 0);
                heard == ReportOutcome::Taken && !(has_fill && self.speaks_tmp(report.line))
            }
            // Over TMP the exchange may replace an order without a request.
            ReportKind::Replaced => heard == ReportOutcome::Taken || report.id.request == 0,
            ReportKind::Fill
            | ReportKind::End(_)
            | ReportKind::Renewed
            | ReportKind::Bust
            | ReportKind::Correct => heard == ReportOutcome::Taken,
            // No value of the report was applied.
            ReportKind::Restated => true,
        };
        if !is_news {
            return self.agree_beside(at, report, heard, sink);
        }
        if self.all_agrees(report) {
            return;
        }
        self.agree_on_fills(at, report, is_status, sink);
        let order = self.state().orders().get(report.id.order);
        // Canceled under the ClOrdID(11) of a replace arrived before this report.
        let is_cancelled = |it: &Order| it.state == OrderState::Ended(End::Cancelled);
        let is_remade = report.kind == ReportKind::Replaced && order.is_some_and(is_cancelled);
        let is_external = order.is_some_and(Order::is_external);
        if !is_external && !is_remade {
            self.agree_on_terms(at, report, sink);
        }
        if is_status {
            self.alarm_of(at, report.id.order, sink);
        }
    }

    /// Whether all values agree and no break is open. This is the usual case, and is decided quickly.
    fn all_agrees(&self, report: &VenueReport<'_>) -> bool {
        let state = self.state();
        if state.breaks.open() > 0 {
            return false;
        }
        let Some(order) = state.orders().get(report.id.order) else {
            return true;
        };
        let Scales {
            price: scale,
            quantity: parts,
        } = state.scales(order.instrument);
        let same = |said: Option<Decimal>, ours: Quantity| {
            said.is_none_or(|it| units(it, parts) == Ok(ours))
        };
        let is_live = match report.status {
            0 => true,
            b'0' | b'1' => order.filled < order.quantity && order.state.is_open(),
            b'2' => order.filled >= order.quantity,
            b'4' => order.state == OrderState::Ended(End::Cancelled),
            _ => false,
        };
        let left = match order.state.is_open() {
            true => order.quantity.saturating_sub(order.filled),
            false => 0,
        };
        let is_all = |said: Decimal| {
            let tick = self.rule(order.instrument);
            is_about(
                order,
                said,
                scale,
                tick.map_or(scale, crate::values::units::tick_scale),
            )
        };
        is_live
            && same(report.filled, order.filled)
            && same(report.quantity, order.quantity)
            && same(report.leaves, left)
            && report
                .price
                .is_none_or(|it| scaled(it, scale) == Ok(order.price))
            && report
                .average
                .is_none_or(|it| it.mantissa == 0 || is_all(it))
    }

    fn agree_on_fills(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        is_status: bool,
        sink: &mut impl Sink,
    ) {
        let number = report.id.order;
        let Some(cum) = self.cum_qty(report) else {
            // The report was entered by hand and has no CumQty(14).
            let filled = self.state().orders().get(number).map(|it| it.filled);
            if filled.is_some_and(|filled| self.venue_filled(number) <= filled) {
                self.agreed(at, number, BreakKind::FillsMissing, sink);
            }
            return;
        };
        if is_status && self.state().breaks.open() > 0 {
            self.count_doubtful(at, number, cum, sink);
        }
        let known = |core: &Self| {
            let order = core.state().orders().get(number)?;
            Some((order.filled, order.pended.is_some(), order.instrument))
        };
        let Some((filled, waits, instrument)) = known(self) else {
            return;
        };
        let is_end = matches!(report.kind, ReportKind::End(_));
        // Fills may arrive in any order, but these kinds of reports give the present CumQty(14).
        let is_now = is_status || report.kind.is_undo();
        // A final state that waits for missing fills has a timer of its own.
        let is_missing = cum > filled && !(is_end && waits);
        let is_surplus = cum < filled && (is_status || is_end);
        let parts = self.state().scales(instrument).quantity;
        let text = |cum: Quantity| format!("CumQty {}", Parts(cum, parts));
        if is_missing {
            let is_less = !is_now && cum < self.venue_filled(number);
            if !is_less {
                let found = Found {
                    total: cum,
                    ..Found::of(BreakKind::FillsMissing, text(filled), text(cum))
                };
                self.raise(at, report, found, sink);
            }
        } else if is_surplus {
            let found = Found {
                opposite: filled - cum,
                ..Found::of(BreakKind::FillsSurplus, text(filled), text(cum))
            };
            self.raise(at, report, found, sink);
        }
        if self.state().breaks.open() == 0 {
            return;
        }
        if report.kind == ReportKind::Fill && cum < filled {
            // Either a fill is late, or a bust was lost. The answer to the status request decides.
            self.work.ask_once(number);
        }
        if self.venue_filled(number) <= filled || (is_now && cum <= filled) {
            self.agreed(at, number, BreakKind::FillsMissing, sink);
        }
        if cum >= filled {
            self.agreed(at, number, BreakKind::FillsSurplus, sink);
        }
    }

    /// Settles fills that were not in CumQty(14). The venue's answer to a status request decides whether the venue
    /// counts them.
    fn count_doubtful(&mut self, at: i64, number: Number, cum: Quantity, sink: &mut impl Sink) {
        let is_doubtful =
            |kind: BreakKind| matches!(kind, BreakKind::NotCounted | BreakKind::ReusedExec);
        loop {
            let state = self.state();
            let filled = state.orders().get(number).map_or(0, |order| order.filled);
            // The oldest break is settled first.
            let of = state
                .breaks
                .of(number)
                .filter(|(_, it)| is_doubtful(it.kind));
            let found = of.min_by_key(|(break_number, _)| *break_number);
            let Some((break_number, found)) = found else {
                return;
            };
            let (exec, quantity, price) = (found.exec, found.quantity, found.price);
            let is_counted = filled.saturating_add(quantity) <= cum;
            if !is_counted && cum != filled {
                return;
            }
            self.close_break(at, break_number, sink);
            if is_counted {
                self.fill_settled(at, number, exec, quantity, price, sink);
            }
        }
    }

    pub(crate) fn agree_on_terms(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) {
        let number = report.id.order;
        let Some(order) = self.state().orders().get(number) else {
            return;
        };
        let instrument = order.instrument;
        let scale = self.state().scale(instrument);
        let of_request = self.state().orders().request_of(order);
        let in_flight = of_request.is_some();
        let of_request = of_request.filter(|it| it.kind == RequestKind::Replace);
        let of_request = of_request.map(|it| (it.quantity, it.price));
        let (quantity, at_price, has_price) =
            (order.quantity, order.price, order.sent_kind().has_price());
        let is_open = order.state.is_open();
        let is_spread = self.state().spreads.legs(order.instrument).is_some();
        if let Some(said) = self.state().units(instrument, report.quantity) {
            // A report that already has the terms of a pending replace is no break: the venue reports the replace
            // later.
            if said == quantity || of_request.is_some_and(|it| it.0 == said) {
                self.agreed(at, number, BreakKind::Quantity, sink);
            } else {
                let shown = |quantity| self.state().shown(instrument, quantity).to_string();
                let found = Found {
                    quantity: said,
                    total: if is_open { said } else { 0 },
                    ..Found::of(BreakKind::Quantity, shown(quantity), shown(said))
                };
                self.raise(at, report, found, sink);
            }
        }
        let said = report.price.filter(|it| has_price && it.mantissa != 0);
        if let Some(said) = said {
            let in_units = scaled(said, scale).ok();
            if in_units == Some(at_price) || of_request.is_some_and(|it| Some(it.1) == in_units) {
                self.agreed(at, number, BreakKind::LimitPrice, sink);
            } else {
                let ours = price(at_price, scale).to_string();
                let found = Found {
                    price: in_units.unwrap_or(at_price),
                    ..Found::of(BreakKind::LimitPrice, ours, said.normalized().to_string())
                };
                self.raise(at, report, found, sink);
            }
        }
        let asked = (of_request.map(|it| it.0), in_flight);
        self.agree_on_leaves(at, report, asked, sink);
        if !is_spread {
            self.agree_on_average(at, report, sink);
        }
    }

    /// Compares LeavesQty(151) and OrdStatus(39) of a report that includes all fills of the order.
    fn agree_on_leaves(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        (asked, in_flight): (Option<Quantity>, bool),
        sink: &mut impl Sink,
    ) {
        let number = report.id.order;
        let (Some(order), Some(cum)) = (self.state().orders().get(number), self.cum_qty(report))
        else {
            return;
        };
        let instrument = order.instrument;
        // Over TMP only the kind of the report, ExecType(150), says that the order has ended.
        let is_end = match report.status {
            0 => matches!(report.kind, ReportKind::End(_)),
            status => matches!(status, b'3' | b'4' | b'8' | b'C'),
        };
        if !order.state.is_open() && order.state != OrderState::Ended(End::Filled) {
            let ours = self.state().orders().status(order);
            if is_end {
                self.agreed(at, number, BreakKind::Leaves, sink);
                self.agreed(at, number, BreakKind::Status, sink);
            } else if is_open_status(report.status)
                // An order of a former day stays closed, whatever OrdStatus(39) its bust has.
                && !(report.kind.is_undo() && is_of_former_day(self.state(), number))
            {
                let left = order.quantity.saturating_sub(cum);
                let leaves = self.state().units(order.instrument, report.leaves);
                let leaves = leaves.unwrap_or(left);
                let venue = format!(
                    "{}{}",
                    char::from(report.status),
                    self.cum_text(instrument, Some(cum))
                );
                let found = Found {
                    total: cum.saturating_add(leaves),
                    ..Found::of(BreakKind::Status, char::from(ours).to_string(), venue)
                };
                self.raise(at, report, found, sink);
            }
            return;
        }
        let (quantity, is_open) = (order.quantity, order.state.is_open());
        let is_working = order.state == OrderState::Working && order.pended.is_none();
        let ours = char::from(self.state().orders().status(order));
        let left = |of: Quantity| if is_end { 0 } else { of.saturating_sub(cum) };
        let leaves = self.state().units(instrument, report.leaves);
        if let Some(leaves) = leaves {
            // A different OrderQty(38) is a separate break.
            let of_others = [asked, self.state().units(instrument, report.quantity)];
            let fits = |it: &Option<Quantity>| it.is_some_and(|it| left(it) == leaves);
            if leaves == left(quantity) || of_others.iter().any(fits) {
                self.agreed(at, number, BreakKind::Leaves, sink);
            } else {
                let shown = |quantity| self.state().shown(instrument, quantity).to_string();
                let (ours, venue) = (shown(left(quantity)), shown(leaves));
                let found = Found {
                    total: cum.saturating_add(leaves),
                    ..Found::of(BreakKind::Leaves, ours, venue)
                };
                self.raise(at, report, found, sink);
            }
        }
        let is_answered = matches!(report.kind, ReportKind::Status(_) | ReportKind::End(_));
        let is_wrong = match report.status {
            b'2' => cum < quantity.min(asked.unwrap_or(quantity)),
            b'0' | b'1' => leaves.is_none() && cum >= quantity.max(asked.unwrap_or(0)),
            // Only a status, or a report of the end, may say that an open order has ended.
            b'4' | b'8' | b'C' => !is_answered && is_open,
            b'3' => is_working && !is_answered && !is_of_fill(report.kind),
            b'B' => is_working && cum < quantity,
            // OrdStatus(39) is pending, but no request is in flight.
            b'6' | b'E' => is_working && !in_flight,
            _ => false,
        };
        if is_wrong {
            let venue = format!(
                "{}{}",
                char::from(report.status),
                self.cum_text(instrument, Some(cum))
            );
            let found = Found::of(BreakKind::Status, ours.to_string(), venue);
            self.raise(at, report, found, sink);
        } else if report.status != 0 {
            self.agreed(at, number, BreakKind::Status, sink);
        }
    }

    fn agree_on_average(&mut self, at: i64, report: &VenueReport<'_>, sink: &mut impl Sink) {
        let number = report.id.order;
        let Some(order) = self.state().orders().get(number) else {
            return;
        };
        let scale = self.state().scale(order.instrument);
        let said = report.average.filter(|it| it.mantissa != 0);
        let cum = self.cum_qty(report);
        if order.filled == 0 && cum == Some(0) {
            self.agreed(at, number, BreakKind::Average, sink);
            return;
        }
        let (Some(said), true) = (said, order.filled > 0 && cum == Some(order.filled)) else {
            return;
        };
        let tick = self
            .rule(order.instrument)
            .map_or(scale, crate::values::units::tick_scale);
        let ours = average(order.paid, order.filled, scale);
        if is_about(order, said, scale, tick) {
            self.agreed(at, number, BreakKind::Average, sink);
        } else {
            let (ours, venue) = (ours.to_string(), said.normalized().to_string());
            self.raise(at, report, Found::of(BreakKind::Average, ours, venue), sink);
        }
    }

    /// Raises a break, or updates the venue's values in an open break. Then requests the status from the venue.
    pub(crate) fn raise(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        found: Found,
        sink: &mut impl Sink,
    ) {
        self.raise_on(at, Some(report.line), report, found, sink);
    }

    /// Raises a break. `line` is the line of the report, `None` for an order without a line.
    pub(crate) fn raise_on(
        &mut self,
        at: i64,
        line: Option<SessionNo>,
        report: &VenueReport<'_>,
        found: Found,
        sink: &mut impl Sink,
    ) {
        if canary::is(OmsPlantedFault::MissBreak) {
            return;
        }
        let order = report.id.order;
        let (ours, venue) = (cut(&found.ours), cut(&found.venue));
        let known = self.state().breaks.find(order, found.kind, found.exec);
        if known.is_some_and(|(_, it)| {
            it.venue.bytes() == venue && (it.is_settled || it.ours.bytes() == ours)
        }) {
            return;
        }
        let is_new = known.is_none_or(|(_, it)| it.is_settled);
        let event = OrderEvent::Break(BreakEvent::VenueBroken {
            kind: found.kind,
            order,
            line,
            exec: found.exec,
            filled: self.cum_qty(report),
            quantity: found.quantity,
            price: found.price,
            paid: self.paid_by(report),
            status: report.status,
            total: found.total,
            opposite: found.opposite,
            ours,
            venue,
        });
        self.emit(at, &event, sink);
        if is_new {
            let number = self.state().breaks.find(order, found.kind, found.exec);
            let Some((number, _)) = number else {
                return;
            };
            let line = self
                .state()
                .orders()
                .get(order)
                .and_then(|order| order.line());
            if line.is_some_and(|line| !self.answers_status(line)) {
                return self.emit(
                    at,
                    &OrderEvent::Break(BreakEvent::BreakAlarmed { number }),
                    sink,
                );
            }
            self.work
                .ask_about_break(at.saturating_add(PATIENCE), number, order);
        }
    }

    /// The total amount that a report implies, CumQty(14) times AvgPx(6), in units of the order.
    fn paid_by(&self, report: &VenueReport<'_>) -> Option<Amount> {
        let order = self.state().orders().get(report.id.order)?;
        let scale = self.state().scale(order.instrument);
        let said = report.average?.normalized();
        let cum = self.cum_qty(report)?;
        if said.mantissa == 0 && cum > 0 {
            // Some venues send 0 when they do not know the average.
            return None;
        }
        let worth = i128::from(said.mantissa).checked_mul(cum.into())?;
        let digits = i32::from(scale) - i32::from(said.scale);
        let one = 10_i128.checked_pow(digits.unsigned_abs())?;
        match digits >= 0 {
            true => worth.checked_mul(one),
            false => Some(half_even(worth, one)),
        }
    }

    /// Closes the order's break of this kind, if it has one, because the OMS and the venue agree again.
    fn agreed(&mut self, at: i64, order: Number, kind: BreakKind, sink: &mut impl Sink) {
        if self.state().breaks.is_empty() {
            return;
        }
        let found = self.state().breaks.find(order, kind, 0);
        if let Some((number, _)) = found.filter(|(_, it)| !it.is_settled) {
            self.close_break(at, number, sink);
        }
    }

    pub(crate) fn close_break(&mut self, at: i64, number: u64, sink: &mut impl Sink) {
        let event = OrderEvent::Copy(CopyEvent::BreakClosed {
            number,
            who: Self::GUARD,
            why: b"both sides are equal",
        });
        self.emit(at, &event, sink);
    }
}

/// Whether a value of OrdStatus(39) means that an order is open.
pub(crate) fn is_open_status(status: u8) -> bool {
    matches!(
        status,
        b'0' | b'1' | b'5' | b'6' | b'7' | b'9' | b'A' | b'D' | b'E'
    )
}

fn is_of_fill(kind: ReportKind) -> bool {
    kind == ReportKind::Fill || kind.is_undo()
}

/// Cuts a text to the length that an event can hold.
pub(crate) fn cut(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(crate::Text::MAX)]
}

/// Whether a venue's AvgPx(6) equals the order's AvgPx, truncated or rounded to the decimals of the venue's value or of
/// the tick.
fn is_about(order: &Order, said: Decimal, scale: u8, tick: u8) -> bool {
    let digits = said.scale.max(tick);
    let shift = |value: i128, from: u8, to: u8| {
        let one = 10_i128.checked_pow(to.saturating_sub(from).into())?;
        value.checked_mul(one)
    };
    let most = digits.max(scale);
    let filled = i128::from(order.filled);
    let ours = shift(order.paid, scale, most);
    let theirs = shift(said.mantissa.into(), said.scale, most);
    let theirs = theirs.and_then(|it| it.checked_mul(filled));
    let unit = 10_i128.checked_pow((most - digits).into());
    match (ours, theirs, unit) {
        (Some(ours), Some(theirs), Some(unit)) => (ours - theirs).abs() < unit * filled,
        // The values are too large to compare.
        _ => true,
    }
}
