//! Quantities and prices of fills. Prices are kept exactly: if the price of a fill needs more decimals, its instrument
//! gets more decimals.

use fixwire_protocol::Decimal;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::VenueReport;
use crate::state::event::{OrderEvent, SetupEvent};
use crate::values::ids::{InstrumentNo, Table};
use crate::values::units::{MOST, decimals, rounded};
use crate::values::value::{Price, Quantity};

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
