//! Checks the consistency of a book, for tests and for restored copies.

use alloc::format;
use alloc::string::String;

use crate::book::{Book, BookState};
use crate::ladder::{Ladder, Queue};
use crate::order::Side;
use crate::slab::NONE;

impl Book {
    /// Checks all invariants. The check can run between any two calls of the book. Links, sums, ids and free positions
    /// must be consistent, and no order may show more than it is allowed to. In continuous trading the book must not be
    /// crossed, and no stop order may be overdue.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        let mut orders = 0;
        for side in [Side::Buy, Side::Sell] {
            for waiting in [false, true] {
                let ladder = if waiting {
                    self.stops(side)
                } else {
                    self.ladder(side)
                };
                orders += self.check_ladder(side, waiting, ladder)?;
            }
        }
        if orders != self.slab.len() || orders != self.index.len() {
            let (slab, index) = (self.slab.len(), self.index.len());
            return Err(format!("{orders} orders queued, {slab} kept, {index} ids"));
        }
        match self.slab.free_of() {
            Some((free, all)) if free + orders == all => {}
            other => return Err(format!("{orders} orders, free list of all: {other:?}")),
        }
        if self.state == BookState::Continuous {
            self.check_continuous()?;
        }
        Ok(())
    }

    fn check_continuous(&self) -> Result<(), String> {
        let (buy, sell) = (self.buys.best(), self.sells.best());
        if let (Some((buy, _)), Some((sell, _))) = (buy, sell)
            && buy >= sell
        {
            return Err(format!("buy orders at {buy}, sell orders at {sell}"));
        }
        for (side, best) in [(Side::Buy, buy), (Side::Sell, sell)] {
            if best.is_some_and(|(key, _)| key == side.market_key()) {
                return Err(format!("a market order rests: {side:?}"));
            }
        }
        let Some(last) = self.last else {
            return Ok(());
        };
        let buy = self.buy_stops.best();
        let sell = self.sell_stops.best();
        if buy.is_some_and(|(stop, _)| stop <= last) || sell.is_some_and(|(stop, _)| stop >= last) {
            return Err(format!("a stop order waits that {last} has reached"));
        }
        Ok(())
    }

    fn check_ladder(&self, side: Side, waiting: bool, ladder: &Ladder) -> Result<usize, String> {
        let mut orders = 0;
        for (key, queue) in ladder.best_first() {
            if queue.orders == 0 {
                return Err(format!("the level at {key} is empty"));
            }
            self.check_queue(side, waiting, key, queue)?;
            orders += queue.orders as usize;
        }
        Ok(orders)
    }

    fn check_queue(
        &self,
        side: Side,
        waiting: bool,
        key: i64,
        queue: &Queue,
    ) -> Result<(), String> {
        let (mut slot, mut previous) = (queue.head, NONE);
        let (mut orders, mut visible, mut total) = (0, 0, 0);
        while slot != NONE {
            let place = self.slab.get(slot);
            let order = &place.order;
            let at = if waiting {
                order.stop
            } else {
                Some(order.price_key())
            };
            if place.previous != previous || self.index.get(order.id) != Some(slot) {
                return Err(format!("order {} is linked wrongly", order.id));
            }
            if order.side != side || order.stop.is_some() != waiting || at != Some(key) {
                return Err(format!("order {} does not belong to {key}", order.id));
            }
            let leaves = order.leaves();
            let most = order.display.unwrap_or(leaves).min(leaves);
            let shows = if waiting {
                order.visible == 0
            } else {
                order.visible > 0 && order.visible <= most
            };
            let whole = waiting || order.display.is_some() || order.visible == leaves;
            if leaves == 0 || !shows || !whole {
                return Err(format!("order {} shows {}", order.id, order.visible));
            }
            orders += 1;
            if orders > queue.orders {
                return Err(format!("the queue at {key} has more orders than it counts"));
            }
            visible += u128::from(order.visible);
            total += u128::from(leaves);
            (previous, slot) = (slot, place.next);
        }
        let counted = (queue.orders, queue.visible, queue.total, queue.tail);
        if (orders, visible, total, previous) != counted {
            return Err(format!("the sums of the level at {key} are wrong"));
        }
        Ok(())
    }
}
