//! Stop orders: they wait until a trade reaches their stop price.

use crate::book::{Book, BookState};
use crate::event::BookEvent;
use crate::order::Side;

impl Book {
    /// Activates the stop orders that trades have reached, one after the other: buy orders first, the
    /// lowest stop price first, then sell orders, the highest first; among equals the oldest. Each may trade
    /// and so reach the next one. Only in continuous trading: in other states they wait for it.
    pub(crate) fn run_stops(&mut self, sink: &mut impl FnMut(BookEvent)) {
        if self.state != BookState::Continuous {
            return;
        }
        while let Some(slot) = self.triggered() {
            let mut order = self.drop_order(slot);
            order.stop = None;
            sink(BookEvent::Triggered { id: order.id });
            self.take(order, sink);
        }
        // From here only the last trade counts: earlier trades do not trigger an order entered now.
        self.swing = self.last.map(|last| (last, last));
    }

    /// The stop order that is next, if trades have reached it.
    fn triggered(&self) -> Option<u32> {
        let (low, high) = self.swing?;
        let buy = self.stops(Side::Buy).best();
        let buy = buy.filter(|(stop, _)| *stop <= high);
        let sell = self.stops(Side::Sell).best();
        let sell = sell.filter(|(stop, _)| *stop >= low);
        buy.or(sell).map(|(_, queue)| queue.head)
    }
}
