//! Cancelling and replacing orders.

use crate::book::{Book, BookState};
use crate::event::{BookEvent, BookRequest, CancelReason, RefusedOrder};
use crate::order::{BookOrder, OrderChange, SLICES_MAX};

impl Book {
    /// Cancels an order, in any state of trading.
    pub fn cancel(&mut self, id: u64, sink: &mut impl FnMut(BookEvent)) {
        let Some(slot) = self.index.get(id) else {
            sink(BookEvent::Rejected {
                id,
                request: BookRequest::Cancel,
                reason: RefusedOrder::UnknownOrder,
            });
            return;
        };
        let order = self.drop_order(slot);
        sink(BookEvent::Cancelled {
            id,
            leaves: order.leaves(),
            reason: CancelReason::Requested,
        });
    }

    /// Puts an order back into the book, or replaces the order with the same id. The traded quantity of the order has
    /// changed because a trade was cancelled or corrected. The order goes to the back of its level and trades if it
    /// can. When it is filled, it leaves the book. When trading is closed, it expires.
    pub fn reinstate(&mut self, order: BookOrder, sink: &mut impl FnMut(BookEvent)) {
        if let Some(slot) = self.index.get(order.id) {
            self.drop_order(slot);
        }
        if order.filled >= order.quantity {
            return;
        }
        if self.state == BookState::Closed {
            sink(BookEvent::Cancelled {
                id: order.id,
                leaves: order.leaves(),
                reason: CancelReason::Expired,
            });
            return;
        }
        self.place(order, sink);
        self.run_stops(sink);
    }

    /// Changes an order. The order keeps its place if its prices stay the same and its quantity does not rise. Any
    /// other changed order goes to the back of its level, and trades if it can.
    ///
    /// When an iceberg becomes smaller, it gives up hidden quantity first.
    pub fn replace(&mut self, id: u64, change: OrderChange, sink: &mut impl FnMut(BookEvent)) {
        let (slot, changed) = match self.changed(id, &change) {
            Ok(found) => found,
            Err(reason) => {
                let request = BookRequest::Replace;
                sink(BookEvent::Rejected {
                    id,
                    request,
                    reason,
                });
                return;
            }
        };
        let before = self.slab.get(slot).order;
        let same_prices = changed.price == before.price && changed.stop == before.stop;
        let kept_priority = same_prices && changed.quantity <= before.quantity;
        sink(BookEvent::Replaced {
            id,
            leaves: changed.leaves(),
            kept_priority,
        });
        if kept_priority {
            let (ladder, key, slab) = self.level_of(&before);
            ladder.adjust(slab, key, slot, |order| {
                order.quantity = changed.quantity;
                order.visible = order.visible.min(changed.leaves());
            });
            return;
        }
        self.drop_order(slot);
        self.place(changed, sink);
        self.run_stops(sink);
    }

    /// The position of the order, and what the order would be after the change.
    fn changed(&self, id: u64, change: &OrderChange) -> Result<(u32, BookOrder), RefusedOrder> {
        if matches!(self.state, BookState::Halted | BookState::Closed) {
            return Err(RefusedOrder::NotTrading);
        }
        let slot = self.index.get(id).ok_or(RefusedOrder::UnknownOrder)?;
        let mut order = self.slab.get(slot).order;
        if change.quantity == 0 {
            return Err(RefusedOrder::Quantity);
        }
        if change.quantity <= order.filled {
            return Err(RefusedOrder::AlreadyFilled);
        }
        let slices = |display| change.quantity / display;
        if order.display.map_or(0, slices) > SLICES_MAX {
            return Err(RefusedOrder::Display);
        }
        if change.price.is_some() && order.price.is_none() {
            return Err(RefusedOrder::Price);
        }
        if change.stop.is_some() && order.stop.is_none() {
            return Err(RefusedOrder::Stop);
        }
        let (price, stop) = (change.price.or(order.price), change.stop.or(order.stop));
        // A price that does not change was inside the band when it was entered.
        for (new, old) in [(price, order.price), (stop, order.stop)] {
            if new != old && new.is_some_and(|new| !self.band.contains(new)) {
                return Err(RefusedOrder::OutsideBand);
            }
        }
        (order.price, order.stop) = (price, stop);
        order.quantity = change.quantity;
        Ok((slot, order))
    }
}
