//! Quantities and prices of fills. Prices are kept exactly: if the price of a fill needs more decimals, its instrument
//! gets more decimals.

use fixwire_protocol::Decimal;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::VenueReport;
use crate::state::copies::FillTerms;
use crate::state::event::{OrderEvent, SetupEvent};
use crate::state::orders::exec_ids::exec_of_another_day;
use crate::values::ids::{InstrumentNo, Table};
use crate::values::units::{MOST, decimals, rounded, units};
use crate::values::value::{BreakKind, Price, Quantity};

/// Prices must be in range even after they grow by this factor.
const ROOM: u64 = 16;

impl Core {
    /// Gives an instrument the decimals that the price of a fill needs: at most 9, and only as many as keep all its
    /// prices in range. Further digits are rounded, halves to the even digit.
    pub(crate) fn widen(
        &mut self,
        at: i64,
        instrument: InstrumentNo,
        price: Option<Decimal>,
        sink: &mut impl Sink,
    ) {
        let scale = self.state.scale(instrument);
        if let Some(price) = price.filter(|price| price.scale > scale) {
            self.widen_to(at, instrument, price, sink);
        }
    }

    #[cold]
    fn widen_to(
        &mut self,
        at: i64,
        instrument: InstrumentNo,
        price: Decimal,
        sink: &mut impl Sink,
    ) {
        let Some(known) = self.state.instruments.get(instrument) else {
            return;
        };
        let (before, quantity_scale, worth) = (known.scale, known.quantity_scale, known.worth);
        let Some(scale) = self
            .room_for(instrument, price)
            .filter(|scale| *scale > before)
        else {
            return;
        };
        let scales: Table<InstrumentNo, u8> =
            self.state.instruments.iter().map(|it| it.scale).collect();
        let symbol = self.state.instruments().name(instrument).to_vec();
        let event = OrderEvent::Setup(SetupEvent::Instrument {
            index: instrument,
            scale,
            quantity_scale,
            worth,
            symbol: &symbol,
        });
        self.emit(at, &event, sink);
        self.index_again(&scales);
    }

    /// The number of decimals that a price needs, or fewer when prices of the instrument would be out of range.
    fn room_for(&self, instrument: InstrumentNo, price: Decimal) -> Option<u8> {
        let price = price.normalized();
        let orders = self.state.orders().iter();
        let of = orders.filter(|order| order.instrument == instrument);
        let most = of.map(|order| {
            let prices = [order.price, order.stop, order.hold];
            prices.iter().map(|it| it.unsigned_abs()).max().unwrap_or(0)
        });
        let holdings = self.state.holdings.iter();
        let marks = holdings.filter(|it| it.instrument == instrument);
        let marks = marks.map(|it| it.mark.unsigned_abs().max(it.opened_at.unsigned_abs()));
        let known = most.chain(marks).max().unwrap_or(0);
        let before = self.state.scale(instrument);
        let fits = |scale: u8| {
            let one = |from: u8| 10_u64.checked_pow(scale.saturating_sub(from).into());
            let known = one(before).and_then(|one| known.checked_mul(one));
            let new = match price.scale > scale {
                true => Some(0),
                false => {
                    one(price.scale).and_then(|it| price.mantissa.unsigned_abs().checked_mul(it))
                }
            };
            let most = known.zip(new).map(|(known, new)| known.max(new));
            most.is_some_and(|most| most <= MOST / ROOM)
        };
        (before..=decimals(price)).rev().find(|scale| fits(*scale))
    }

    /// The hash under which a fill counts: that of its ExecID(17). A venue that begins its ExecIDs again every day may
    /// use that of a fill of a former day for another fill of the same order: such a fill has a hash of its own.
    pub(crate) fn fill_exec(&self, report: &VenueReport<'_>, fill: FillTerms) -> u64 {
        match self.state().orders().has_fill(report.id.order, report.exec) {
            true => self.exec_again(report, fill),
            false => report.exec,
        }
    }

    /// The hash of a fill whose ExecID(17) a fill of its order has already.
    #[cold]
    fn exec_again(&self, report: &VenueReport<'_>, (quantity, price): FillTerms) -> u64 {
        let number = report.id.order;
        let orders = self.state().orders();
        let Some(order) = orders.get(number) else {
            return report.exec;
        };
        let (mut last, mut known) = (report.exec, None);
        while let Some(fill) = orders.fill(number, last) {
            if (fill.quantity, fill.price) == (quantity, price) {
                known = Some(last);
            }
            if !orders.has_fill(number, exec_of_another_day(last)) {
                break;
            }
            last = exec_of_another_day(last);
        }
        let cum = self.cum_qty(report);
        let is_former = orders
            .fill(number, last)
            .is_some_and(|fill| self.state().rejected.is_past(fill.report));
        // CumQty(14) counts all fills of the order, and this one: no fill is lost, taken back or settled, so that a
        // report of a former day that is sent again has a smaller CumQty.
        let counted = || {
            orders.fills_of(number).try_fold(0_u64, |sum, fill| {
                let sum = sum.checked_add(fill.quantity)?;
                (fill.undone == 0).then_some(sum)
            })
        };
        let is_new = is_former
            && cum.is_some()
            && cum == order.filled.checked_add(quantity)
            && order.state.is_open()
            && !self.state().strays.is_recalled(number)
            && !self.speaks_tmp(report.line)
            && self
                .state()
                .breaks
                .find(number, BreakKind::FillsMissing, 0)
                .is_none()
            && counted() == Some(order.filled);
        match is_new {
            true => exec_of_another_day(last),
            false => known.unwrap_or(last),
        }
    }

    /// CumQty(14) of a report, in units of its order.
    #[inline]
    pub(crate) fn cum_qty(&self, report: &VenueReport<'_>) -> Option<Quantity> {
        let filled = report.filled?;
        let order = self.state().orders().get(report.id.order);
        let scales = order.map(|order| self.state().scales(order.instrument));
        units(filled, scales.unwrap_or_default().quantity).ok()
    }

    pub(crate) fn execution(
        &self,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
    ) -> Option<(Quantity, Price)> {
        let quantity = self.state().units(instrument, report.last_quantity)?;
        let price = rounded(report.last_price?, self.state().scale(instrument))?;
        (quantity > 0).then_some((quantity, price))
    }
}
