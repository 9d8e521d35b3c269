//! Continuous trading: an incoming order trades with orders in the book.

use crate::book::Book;
use crate::event::{BookEvent, CancelReason};
use crate::order::{BookOrder, Side, TimeInForce};

impl Book {
    /// Matches an order against the other side. The rest of the order stays in the book or is cancelled, as its type
    /// requires.
    pub(crate) fn take(&mut self, mut order: BookOrder, sink: &mut impl FnMut(BookEvent)) {
        let killed = order.time_in_force == TimeInForce::FillOrKill && !self.fills(&order);
        while !killed && order.leaves() > 0 {
            let maker_side = order.side.opposite();
            let Some((price, queue)) = self.ladder(maker_side).best() else {
                break;
            };
            if !order.accepts(price) {
                break;
            }
            let maker = self.slab.get(queue.head).order;
            let quantity = order.leaves().min(maker.visible);
            order.filled += quantity;
            self.fill_head(maker_side, quantity);
            let maker = (maker.id, maker.leaves() - quantity);
            let taker = (order.id, order.leaves());
            let (buy, sell) = if order.side == Side::Buy {
                (taker, maker)
            } else {
                (maker, taker)
            };
            self.traded(price);
            sink(BookEvent::Trade {
                price,
                quantity,
                buy: buy.0,
                buy_leaves: buy.1,
                sell: sell.0,
                sell_leaves: sell.1,
                aggressor: Some(order.side),
            });
        }
        if order.leaves() > 0 {
            self.leave(order, sink);
        }
    }

    /// Handles what is left of an order after matching.
    fn leave(&mut self, mut order: BookOrder, sink: &mut impl FnMut(BookEvent)) {
        let reason = match order.time_in_force {
            TimeInForce::FillOrKill => CancelReason::FillOrKill,
            TimeInForce::ImmediateOrCancel => CancelReason::ImmediateOrCancel,
            _ if order.price.is_none() => CancelReason::NoLiquidity,
            TimeInForce::Day | TimeInForce::GoodTillCancel => {
                order.show();
                self.keep(order);
                return;
            }
        };
        sink(BookEvent::Cancelled {
            id: order.id,
            leaves: order.leaves(),
            reason,
        });
    }

    /// Whether the other side can fill an order completely within its limit.
    fn fills(&self, order: &BookOrder) -> bool {
        let mut found = 0;
        for (price, queue) in self.ladder(order.side.opposite()).best_first() {
            if !order.accepts(price) {
                break;
            }
            found += queue.total;
            if found >= u128::from(order.leaves()) {
                return true;
            }
        }
        false
    }

    /// Trades `quantity` of the first order at the best level. The quantity is at most what the order shows. An
    /// iceberg that has sold all that it showed goes to the back of its level and shows more.
    pub(crate) fn fill_head(&mut self, side: Side, quantity: u64) {
        let Some((key, queue)) = self.ladder(side).best() else {
            return;
        };
        let slot = queue.head;
        let order = self.slab.get(slot).order;
        let (ladder, _, slab) = self.level_of(&order);
        ladder.adjust(slab, key, slot, |order| {
            order.filled += quantity;
            order.visible -= quantity;
        });
        let order = slab.get(slot).order;
        if order.leaves() == 0 {
            self.drop_order(slot);
        } else if order.visible == 0 {
            ladder.adjust(slab, key, slot, BookOrder::show);
            ladder.requeue_head(slab, key);
        }
    }

    /// Records the price of a trade, for stop orders and auctions.
    pub(crate) fn traded(&mut self, price: i64) {
        self.last = Some(price);
        let (low, high) = self.swing.unwrap_or((price, price));
        self.swing = Some((low.min(price), high.max(price)));
    }
}
