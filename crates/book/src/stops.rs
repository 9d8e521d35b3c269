//! Stop orders, which wait until a trade reaches their stop price.

use crate::book::{Book, BookState};
use crate::event::BookEvent;
use crate::order::Side;

impl Book {
    /// Activates the stop orders that trades have reached, one after the other. Buy orders come first, beginning with
    /// the lowest stop price; then come sell orders, beginning with the highest. At the same stop price the oldest
    /// order comes first. Each triggered order may trade and so trigger the next stop order. Stop orders are only
    /// activated in continuous trading; in other states they wait for continuous trading.
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
        // From now on only the last trade counts, because earlier trades must not trigger an order that is entered
        // later.
        self.swing = self.last.map(|last| (last, last));
    }

    /// The stop order that comes next, if trades have reached its stop price.
    fn triggered(&self) -> Option<u32> {
        let (low, high) = self.swing?;
        let buy = self.stops(Side::Buy).best();
        let buy = buy.filter(|(stop, _)| *stop <= high);
        let sell = self.stops(Side::Sell).best();
        let sell = sell.filter(|(stop, _)| *stop >= low);
        buy.or(sell).map(|(_, queue)| queue.head)
    }
}
