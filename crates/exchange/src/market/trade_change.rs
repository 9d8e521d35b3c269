//! Busts and corrections of trades, by a script or by an operator.

use alloc::vec::Vec;

use fixwire_book::BookEvent;
use fixwire_protocol::{Decimal, Timestamp, tag};

use super::follow::lots;
use super::{Market, UnreadableNote};
use crate::dialect::{Dialect, Kind};
use crate::event::Correction;
use crate::fields::FieldWriter;
use crate::instrument::units;
use crate::orders::Filled;
use crate::report::Said;
use crate::state::{QueuedOrder, in_book};

impl Market {
    /// The order that has a trade with this ExecID(17), and the index of the trade.
    pub(crate) fn trade(&self, exec_id: u64) -> Option<(u64, usize)> {
        self.orders.iter().find_map(|order| {
            let place = order.fills.iter().position(|it| it.exec_id == exec_id)?;
            Some((order.id, place))
        })
    }

    /// Why a trade cannot be cancelled, or cannot be corrected to this quantity and price; `None` if it can.
    pub(crate) fn cannot_change(
        &self,
        exec_id: u64,
        to: Option<Correction>,
    ) -> Result<(), &'static str> {
        let (id, place) = self
            .trade(exec_id)
            .ok_or("no trade with this ExecID is known: the query fills lists them")?;
        let (order, instrument) = self
            .placed(id)
            .ok_or("the order of this trade is no longer known")?;
        if self.dialect(order.member) == Dialect::Tmp {
            return Err(
                "the order of this trade is of a TMP line, and TMP has no report for a bust or a \
             correction",
            );
        }
        if instrument.is_gone {
            return Err("the instrument of this trade is no longer traded");
        }
        let Some(Correction { quantity, price }) = to else {
            return Ok(());
        };
        let lots = units(quantity, instrument.lot)
            .map_err(|_| "the quantity is no multiple of the lot")?;
        if price.is_some_and(|price| units(price, instrument.tick).is_err()) {
            return Err("the price is no multiple of the tick");
        }
        let others = order.filled.saturating_sub(order.fills[place].lots);
        let most = order.quantity.saturating_sub(others);
        match u64::try_from(lots) {
            Ok(lots) if (1..=most).contains(&lots) => Ok(()),
            Ok(0) | Err(_) => Err(
                "the quantity of a correction must be above 0; to cancel the trade, use \
             bust",
            ),
            Ok(_) => Err("the quantity is above what is left of the order"),
        }
    }

    /// Cancels or corrects a trade on behalf of an operator.
    pub(super) fn change_trade(
        &mut self,
        at: Timestamp,
        exec_id: u64,
        to: Option<Correction>,
    ) -> Result<(), UnreadableNote> {
        let of = self.trade(exec_id).ok_or(UnreadableNote)?;
        match to {
            None => self.bust(at, of),
            Some(Correction { quantity, price }) => self.correct(at, of, quantity, price),
        }
        self.reinstate(at, of.0);
        Ok(())
    }

    /// Cancels a trade.
    pub(super) fn bust(&mut self, at: Timestamp, (id, place): (u64, usize)) {
        let Some(order) = self.orders.get_mut(id) else {
            return;
        };
        let fill = order.fills.remove(place);
        let lots = i128::from(fill.lots);
        self.refilled(id, -lots, -lots * i128::from(fill.ticks));
        let mut more = FieldWriter::default();
        more.uint(tag::EXEC_REF_ID, fill.exec_id);
        let said = Said {
            more: &more.0,
            ..Said::of(Kind::TradeCancel)
        };
        self.report(at, id, &said);
    }

    /// Corrects a trade. Without a new price, the trade keeps its price.
    pub(super) fn correct(
        &mut self,
        at: Timestamp,
        (id, place): (u64, usize),
        quantity: Decimal,
        price: Option<Decimal>,
    ) {
        let Some((order, instrument)) = self.placed(id) else {
            return;
        };
        let fill = order.fills[place];
        let lots = lots(instrument, quantity);
        let price = price.and_then(|price| units(price, instrument.tick).ok());
        let ticks = price.unwrap_or(fill.ticks);
        let worth = |lots: u64, ticks: i64| i128::from(lots) * i128::from(ticks);
        self.refilled(
            id,
            i128::from(lots) - i128::from(fill.lots),
            worth(lots, ticks) - worth(fill.lots, fill.ticks),
        );
        let mut more = FieldWriter::default();
        more.uint(tag::EXEC_REF_ID, fill.exec_id);
        let said = Said {
            last: Some((lots, ticks)),
            more: &more.0,
            ..Said::of(Kind::TradeCorrect)
        };
        self.report(at, id, &said);
        let exec_id = self.last_exec;
        if let Some(order) = self.orders.get_mut(id) {
            order.fills[place] = Filled {
                exec_id,
                lots,
                ticks,
            };
        }
    }

    /// Returns the remaining quantity of an order to its book. Does nothing for a scripted order, which is in no
    /// book, and for a closed order, which stays closed.
    fn reinstate(&mut self, at: Timestamp, id: u64) {
        if self.scripted.get(id).is_some() {
            return;
        }
        let Some(order) = self.orders.get(id) else {
            return;
        };
        let index = order.instrument as usize;
        let Some(instrument) = self.instruments.get_mut(index) else {
            return;
        };
        let is_there = instrument.book.order(id).is_some();
        if order.closed.is_some() && !is_there {
            return;
        }
        let left = order.quantity.saturating_sub(order.filled);
        let visible = order.display.map_or(left, |display| display.min(left));
        let queued = QueuedOrder {
            id,
            visible,
            waits: false,
            quote: None,
        };
        let order = in_book(order, queued);
        let mut events: Vec<BookEvent> = Vec::new();
        instrument
            .book
            .reinstate(order, &mut |event| events.push(event));
        self.settle(at, index, &events, None);
    }
}
