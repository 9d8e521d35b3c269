//! The slow obvious version of the book: one vector of orders, and every question answered by looking at
//! all of them. It shares the types of the calls and of the events with the book, and no code.

use alloc::vec::Vec;

use crate::{
    BookEvent, BookOrder, BookRequest, BookState, CancelReason, Crossing, EntryOrder, OrderChange,
    PriceBand, RefusedOrder, Side, TimeInForce,
};

/// Orders in no order; each has the number of its turn.
pub(super) struct Twin {
    orders: Vec<(u64, BookOrder)>,
    turn: u64,
    pub(super) state: BookState,
    pub(super) band: PriceBand,
    reference: Option<i64>,
    last: Option<i64>,
    trades: Vec<i64>,
    pub(super) said: Vec<BookEvent>,
}

impl Twin {
    pub(super) fn new(reference: Option<i64>) -> Self {
        Self {
            orders: Vec::new(),
            turn: 0,
            state: BookState::Continuous,
            band: PriceBand::ANY,
            reference,
            last: None,
            trades: Vec::new(),
            said: Vec::new(),
        }
    }

    pub(super) fn enter(&mut self, new: EntryOrder) {
        if let Some(reason) = self.objection(&new) {
            let (id, request) = (new.id, BookRequest::Enter);
            self.said.push(BookEvent::Rejected {
                id,
                request,
                reason,
            });
            return;
        }
        self.said.push(BookEvent::Accepted { id: new.id });
        self.arrive(BookOrder {
            id: new.id,
            side: new.side,
            price: new.price,
            stop: new.stop,
            quantity: new.quantity,
            filled: 0,
            visible: 0,
            display: new.display,
            time_in_force: new.time_in_force,
        });
        self.trigger();
    }

    fn objection(&self, new: &EntryOrder) -> Option<RefusedOrder> {
        let hurried = new.time_in_force == TimeInForce::ImmediateOrCancel
            || new.time_in_force == TimeInForce::FillOrKill;
        let outside = |price: Option<i64>| {
            price.is_some_and(|price| {
                price < self.band.low
                    || price > self.band.high
                    || price == i64::MIN
                    || price == i64::MAX
            })
        };
        if self.state == BookState::Halted || self.state == BookState::Closed {
            Some(RefusedOrder::NotTrading)
        } else if self.state == BookState::AuctionCall && hurried {
            Some(RefusedOrder::NotInAuction)
        } else if new.quantity == 0 {
            Some(RefusedOrder::Quantity)
        } else if outside(new.price) || outside(new.stop) {
            Some(RefusedOrder::OutsideBand)
        } else if new.display.is_some_and(|display| {
            new.price.is_none() || hurried || display == 0 || display > new.quantity
        }) {
            Some(RefusedOrder::Display)
        } else if self.find(new.id).is_some() {
            Some(RefusedOrder::DuplicateId)
        } else {
            None
        }
    }

    pub(super) fn cancel(&mut self, id: u64) {
        match self.find(id) {
            None => self.refuse(id, BookRequest::Cancel, RefusedOrder::UnknownOrder),
            Some(at) => {
                let order = self.orders.remove(at).1;
                self.cancelled(&order, CancelReason::Requested);
            }
        }
    }

    pub(super) fn replace(&mut self, id: u64, change: OrderChange) {
        let request = BookRequest::Replace;
        if self.state == BookState::Halted || self.state == BookState::Closed {
            return self.refuse(id, request, RefusedOrder::NotTrading);
        }
        let Some(at) = self.find(id) else {
            return self.refuse(id, request, RefusedOrder::UnknownOrder);
        };
        let old = self.orders[at].1;
        if change.quantity == 0 {
            return self.refuse(id, request, RefusedOrder::Quantity);
        }
        if change.quantity <= old.filled {
            return self.refuse(id, request, RefusedOrder::AlreadyFilled);
        }
        if old.price.is_none() && change.price.is_some() {
            return self.refuse(id, request, RefusedOrder::Price);
        }
        if old.stop.is_none() && change.stop.is_some() {
            return self.refuse(id, request, RefusedOrder::Stop);
        }
        let mut new = old;
        new.quantity = change.quantity;
        if let Some(price) = change.price {
            new.price = Some(price);
        }
        if let Some(stop) = change.stop {
            new.stop = Some(stop);
        }
        for (now, before) in [(new.price, old.price), (new.stop, old.stop)] {
            if let Some(now) = now
                && Some(now) != before
                && (now < self.band.low
                    || now > self.band.high
                    || now == i64::MAX
                    || now == i64::MIN)
            {
                return self.refuse(id, request, RefusedOrder::OutsideBand);
            }
        }
        let stays = new.price == old.price && new.stop == old.stop && new.quantity <= old.quantity;
        let leaves = new.quantity - new.filled;
        self.said.push(BookEvent::Replaced {
            id,
            leaves,
            kept_priority: stays,
        });
        if stays {
            new.visible = new.visible.min(leaves);
            self.orders[at].1 = new;
        } else {
            self.orders.remove(at);
            self.arrive(new);
            self.trigger();
        }
    }

    pub(super) fn set_state(&mut self, state: BookState) {
        if self.state == state {
            return;
        }
        self.state = state;
        if state == BookState::Continuous {
            self.auction();
            self.trigger();
        }
        if state == BookState::Closed {
            for waiting in [false, true] {
                for side in [Side::Buy, Side::Sell] {
                    for order in self.sorted(side, waiting) {
                        let stays = order.time_in_force == TimeInForce::GoodTillCancel;
                        if !stays || (order.price.is_none() && order.stop.is_none()) {
                            self.forget(order.id);
                            self.cancelled(&order, CancelReason::Expired);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn uncross(&mut self) {
        if self.state == BookState::AuctionCall {
            self.auction();
        }
    }

    /// The orders of a side as they would trade, or be triggered.
    pub(super) fn sorted(&self, side: Side, waiting: bool) -> Vec<BookOrder> {
        let mut chosen: Vec<(u64, BookOrder)> = self.orders.clone();
        chosen.retain(|(_, it)| it.side == side && it.stop.is_some() == waiting);
        chosen.sort_by_key(|(turn, it)| {
            // Low numbers first: a market order before all, a buyer's high price before a low one, and
            // stop orders the other way round.
            let price = match (waiting, it.stop, it.price) {
                (true, stop, _) => stop.map(|stop| -i128::from(stop)),
                (false, _, price) => price.map(i128::from),
            };
            let rank = match side {
                Side::Buy => price.map(|price| -price),
                Side::Sell => price,
            };
            (rank, *turn)
        });
        chosen.into_iter().map(|(_, order)| order).collect()
    }

    /// An order without a place: it waits, gathers or trades.
    fn arrive(&mut self, mut order: BookOrder) {
        if order.stop.is_some() {
            order.visible = 0;
            self.queue(order);
        } else if self.state != BookState::Continuous {
            order.visible = slice(&order);
            self.queue(order);
        } else {
            self.trade(order);
        }
    }

    fn trade(&mut self, mut order: BookOrder) {
        let others = if order.side == Side::Buy {
            Side::Sell
        } else {
            Side::Buy
        };
        if order.time_in_force == TimeInForce::FillOrKill {
            let partners = self.sorted(others, false).into_iter();
            let there: u128 = partners
                .filter(|other| meet(&order, other.price))
                .map(|other| u128::from(other.quantity - other.filled))
                .sum();
            if there < u128::from(order.quantity - order.filled) {
                return self.cancelled(&order, CancelReason::FillOrKill);
            }
        }
        while order.filled < order.quantity {
            let Some(other) = self.sorted(others, false).into_iter().next() else {
                break;
            };
            if !meet(&order, other.price) {
                break;
            }
            let quantity = other.visible.min(order.quantity - order.filled);
            order.filled += quantity;
            let left = (other.id, self.fill(other.id, quantity));
            let mine = (order.id, order.quantity - order.filled);
            let (buy, sell) = if order.side == Side::Buy {
                (mine, left)
            } else {
                (left, mine)
            };
            let price = other.price.expect("in continuous trading limits rest");
            self.print(price, quantity, buy, sell, Some(order.side));
        }
        if order.filled == order.quantity {
            return;
        }
        match order.time_in_force {
            TimeInForce::ImmediateOrCancel => {
                self.cancelled(&order, CancelReason::ImmediateOrCancel);
            }
            TimeInForce::FillOrKill => self.cancelled(&order, CancelReason::FillOrKill),
            _ if order.price.is_none() => self.cancelled(&order, CancelReason::NoLiquidity),
            _ => {
                order.visible = slice(&order);
                self.queue(order);
            }
        }
    }

    /// An order in the book trades; answers what it has left.
    fn fill(&mut self, id: u64, quantity: u64) -> u64 {
        let at = self.find(id).expect("it is in the book");
        let order = &mut self.orders[at].1;
        order.filled += quantity;
        order.visible -= quantity;
        let leaves = order.quantity - order.filled;
        if leaves == 0 {
            self.orders.remove(at);
        } else if order.visible == 0 {
            order.visible = slice(order);
            self.turn += 1;
            self.orders[at].0 = self.turn;
        }
        leaves
    }

    fn trigger(&mut self) {
        while self.state == BookState::Continuous {
            let reached = |order: &BookOrder| {
                let stop = order.stop.expect("it waits");
                self.trades.iter().any(|price| match order.side {
                    Side::Buy => *price >= stop,
                    Side::Sell => *price <= stop,
                })
            };
            let buys = self.sorted(Side::Buy, true);
            let sells = self.sorted(Side::Sell, true);
            let first = buys.into_iter().chain(sells).find(reached);
            let Some(mut order) = first else {
                self.trades = self.last.into_iter().collect();
                return;
            };
            self.forget(order.id);
            order.stop = None;
            self.said.push(BookEvent::Triggered { id: order.id });
            self.trade(order);
        }
    }

    /// The crossing at each price that somebody has named, and the rules applied as they are written.
    pub(super) fn crossing(&self) -> Option<Crossing> {
        let reference = self.last.or(self.reference);
        let resting = self.orders.iter().filter(|(_, it)| it.stop.is_none());
        let mut prices: Vec<i64> = resting.filter_map(|(_, it)| it.price).collect();
        prices.extend(reference);
        prices.sort_unstable();
        prices.dedup();
        let sum = |side: Side, price: i64| -> i128 {
            let takes = |it: &&BookOrder| {
                it.price.is_none_or(|limit| match side {
                    Side::Buy => limit >= price,
                    Side::Sell => limit <= price,
                })
            };
            let side = self.sorted(side, false);
            let taking = side.iter().filter(takes);
            taking.map(|it| i128::from(it.quantity - it.filled)).sum()
        };
        let mut found: Vec<(i64, i128, i128)> = Vec::new();
        for price in prices {
            let (buys, sells) = (sum(Side::Buy, price), sum(Side::Sell, price));
            found.push((price, buys.min(sells), buys - sells));
        }
        let most = found.iter().map(|it| it.1).max().filter(|most| *most > 0)?;
        found.retain(|it| it.1 == most);
        let least = found.iter().map(|it| it.2.abs()).min()?;
        found.retain(|it| it.2.abs() == least);
        let chosen = if found.iter().all(|it| it.2 > 0) {
            found.iter().max_by_key(|it| it.0)
        } else if found.iter().all(|it| it.2 < 0) {
            found.iter().min_by_key(|it| it.0)
        } else {
            let away = |price: i64| reference.map(|it| it.abs_diff(price));
            found.iter().min_by_key(|it| (away(it.0), it.0))
        };
        chosen.map(|it| Crossing {
            price: it.0,
            quantity: it.1.unsigned_abs(),
            surplus: it.2,
        })
    }

    fn auction(&mut self) {
        if let Some(crossing) = self.crossing() {
            self.said.push(BookEvent::Uncrossed(crossing));
            let mut left = crossing.quantity;
            while left > 0 {
                let buy = self.sorted(Side::Buy, false)[0];
                let sell = self.sorted(Side::Sell, false)[0];
                let quantity = buy.visible.min(sell.visible);
                left -= u128::from(quantity);
                let bought = (buy.id, self.fill(buy.id, quantity));
                let sold = (sell.id, self.fill(sell.id, quantity));
                self.print(crossing.price, quantity, bought, sold, None);
            }
        }
        for side in [Side::Buy, Side::Sell] {
            for order in self.sorted(side, false) {
                if order.price.is_none() {
                    self.forget(order.id);
                    self.cancelled(&order, CancelReason::NoLiquidity);
                }
            }
        }
    }

    fn print(
        &mut self,
        price: i64,
        quantity: u64,
        buy: (u64, u64),
        sell: (u64, u64),
        aggressor: Option<Side>,
    ) {
        self.last = Some(price);
        self.trades.push(price);
        self.said.push(BookEvent::Trade {
            price,
            quantity,
            buy: buy.0,
            buy_leaves: buy.1,
            sell: sell.0,
            sell_leaves: sell.1,
            aggressor,
        });
    }

    fn queue(&mut self, order: BookOrder) {
        self.turn += 1;
        self.orders.push((self.turn, order));
    }

    fn find(&self, id: u64) -> Option<usize> {
        self.orders.iter().position(|(_, order)| order.id == id)
    }

    fn forget(&mut self, id: u64) {
        self.orders.retain(|(_, order)| order.id != id);
    }

    fn refuse(&mut self, id: u64, request: BookRequest, reason: RefusedOrder) {
        self.said.push(BookEvent::Rejected {
            id,
            request,
            reason,
        });
    }

    fn cancelled(&mut self, order: &BookOrder, reason: CancelReason) {
        let leaves = order.quantity - order.filled;
        let id = order.id;
        self.said.push(BookEvent::Cancelled { id, leaves, reason });
    }
}

fn slice(order: &BookOrder) -> u64 {
    let leaves = order.quantity - order.filled;
    order.display.map_or(leaves, |display| display.min(leaves))
}

fn meet(order: &BookOrder, price: Option<i64>) -> bool {
    match (order.price, price) {
        (Some(limit), Some(price)) if order.side == Side::Buy => price <= limit,
        (Some(limit), Some(price)) => price >= limit,
        _ => true,
    }
}
