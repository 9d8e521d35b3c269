//! Handles trades that a venue cancels or corrects: ExecType(150) = H or G, ExecTransType(20) = 1 or 2.

use alloc::format;
use alloc::string::ToString;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::agree::Found;
use crate::decide::venue::{ReportOutcome, VenueReport};
use crate::state::event::{OrderEvent, UndoEvent};
use crate::state::orders::Fill;
use crate::values::units::{scaled, units};
use crate::values::value::{BreakKind, Number, Price, Quantity};

/// A fill of an order before a bust or correction, and the quantity and price that it becomes.
type Undone = (Fill, (Quantity, Price));

impl Core {
    /// Handles a bust or a correction of the fill that ExecRefID(19) names. A report that fits no fill is a break.
    pub(crate) fn undone(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        is_correction: bool,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        if self.is_repeated(number, report) {
            return ReportOutcome::Known;
        }
        if is_correction && let Some(order) = self.state().orders().get(number) {
            self.widen(at, order.instrument, report.last_price, sink);
        }
        let (fill, (quantity, price)) = match self.undo_of(number, report, is_correction) {
            Ok(undone) => undone,
            Err(ours) => {
                self.bust_broken(at, report, ours, sink);
                return ReportOutcome::Broken;
            }
        };
        let open = !matches!(report.status, b'3' | b'4' | b'8' | b'C');
        let event = match is_correction {
            false => OrderEvent::Undo(UndoEvent::Busted {
                order: number,
                exec: fill.exec,
                by: report.exec,
                quantity: fill.quantity,
                price: fill.price,
                open,
                at: report.at,
                text: report.text,
            }),
            true => OrderEvent::Undo(UndoEvent::Corrected {
                order: number,
                exec: fill.exec,
                by: report.exec,
                was_quantity: fill.quantity,
                was_price: fill.price,
                quantity,
                price,
                open,
                at: report.at,
                text: report.text,
            }),
        };
        self.emit(at, &event, sink);
        if !is_correction && !self.state().spreads.is_empty() {
            self.bust_legs(at, report, sink);
        }
        self.decline_filled(at, number, None, sink);
        self.guard_order(at, number, sink);
        ReportOutcome::Taken
    }

    /// Whether the same report arrived before: it has already changed its fill, or its break exists already.
    fn is_repeated(&self, number: Number, report: &VenueReport<'_>) -> bool {
        let orders = self.state().orders();
        let of = report.reference.and_then(|it| orders.fill_now(number, it));
        let is_done = of.is_some_and(|fill| fill.undone == report.exec);
        let breaks = &self.state().breaks;
        let is_broken = breaks.find(number, BreakKind::Bust, report.exec);
        is_done || orders.has_fill(number, report.exec) || is_broken.is_some()
    }

    /// The fill to which a report refers, and the quantity and price that it becomes. An error says why the report fits
    /// no fill.
    fn undo_of(
        &self,
        number: Number,
        report: &VenueReport<'_>,
        is_correction: bool,
    ) -> Result<Undone, &'static str> {
        let orders = self.state().orders();
        let order = orders.get(number).ok_or("no such order")?;
        let reference = report.reference.ok_or("no ExecRefID(19)")?;
        let fill = orders.fill_now(number, reference);
        let fill = *fill.ok_or("no fill with this ExecID")?;
        if fill.undone != 0 {
            return Err("fill is busted already");
        }
        if fill.quantity == 0 {
            return Err("fill whose quantity is not known");
        }
        if fill.quantity > order.filled {
            return Err("CumQty(14) was set below the fill");
        }
        let parts = self.state().scales(order.instrument).quantity;
        let now = match is_correction {
            true => self
                .execution(report, order.instrument)
                .ok_or("no LastQty(32) and LastPx(31)")?,
            false => {
                let said = report.last_quantity.filter(|it| it.mantissa != 0);
                if said.is_some_and(|it| units(it, parts) != Ok(fill.quantity)) {
                    return Err("LastQty(32) of the fill is another");
                }
                (0, 0)
            }
        };
        let left = self.venue_filled(number).checked_sub(fill.quantity);
        let left = left.and_then(|left| left.checked_add(now.0));
        match report.filled.map(|it| units(it, parts)) {
            Some(said) if said.ok() != left => Err("CumQty(14) after it is another"),
            _ => Ok((fill, now)),
        }
    }

    /// Raises the break for a bust or correction that fits no fill.
    pub(crate) fn bust_broken(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        ours: &str,
        sink: &mut impl Sink,
    ) {
        let Some(order) = self.state().orders().get(report.id.order) else {
            return;
        };
        let instrument = order.instrument;
        let cum = self.cum_qty(report);
        let quantity = self.state().units(instrument, report.last_quantity);
        let quantity = quantity.filter(|quantity| *quantity > 0);
        let lost = cum.map(|cum| order.filled.saturating_sub(cum));
        let quantity = quantity.or(lost).unwrap_or(0).min(order.filled);
        let last = report.last_price.unwrap_or_default();
        let price = scaled(last, self.state().scale(instrument)).unwrap_or(0);
        let leaves = self.state().units(instrument, report.leaves);
        let venue = format!(
            "bust of {}{}",
            self.state().shown(instrument, quantity),
            self.cum_text(instrument, cum)
        );
        let found = Found {
            exec: report.exec,
            quantity,
            price,
            total: cum.unwrap_or(0).saturating_add(leaves.unwrap_or(0)),
            opposite: quantity,
            ..Found::of(BreakKind::Bust, ours.to_string(), venue)
        };
        self.raise(at, report, found, sink);
    }
}
