//! Auctions: they find the single price at which the largest quantity trades.

use crate::book::{Book, BookState};
use crate::event::{BookEvent, CancelReason, Crossing};
use crate::order::{BookOrder, Side};

/// The best prices so far. Candidates are examined from the lowest price to the highest.
struct Choice {
    best: Crossing,
    /// Among the best candidates: the lowest price, the highest price, and the price nearest to the reference price.
    low: Crossing,
    high: Crossing,
    near: Crossing,
}

impl Book {
    /// The price that an auction would find now, and the quantity that would trade. `None` when nothing would trade.
    ///
    /// The candidates are all limit prices in the book and the reference price. The reference price is the price of the
    /// last trade; before the first trade it is the price with which the book was made. Hidden quantity counts, and
    /// market orders accept every price. These auction rules choose the price. Each rule decides only if the
    /// rules before it leave more than one price:
    ///
    /// 1. the greatest quantity trades;
    /// 2. the remaining surplus is the smallest;
    /// 3. if each price leaves a surplus of buy orders, the highest price; if each leaves a surplus of sell orders,
    ///    the lowest price;
    /// 4. the price that is nearest to the reference price, or the lower one of two; without a reference price, the
    ///    lowest price.
    #[must_use]
    pub fn indicative(&self) -> Option<Crossing> {
        let reference = self.last.or(self.reference);
        let mut reference_left = reference;
        let mut buys = self.buys.ascending().peekable();
        let mut sells = self.sells.ascending().peekable();
        let mut bought: u128 = self.buys.ascending().map(|(_, queue)| queue.total).sum();
        let mut sold: u128 = 0;
        if let Some((_, queue)) = sells.next_if(|(key, _)| **key == Side::Sell.market_key()) {
            sold += queue.total;
        }
        let mut choice: Option<Choice> = None;
        loop {
            let market = Side::Buy.market_key();
            let buy = buys.peek().map(|(key, _)| **key);
            let buy = buy.filter(|key| *key != market);
            let sell = sells.peek().map(|(key, _)| **key);
            let Some(price) = [buy, sell, reference_left].into_iter().flatten().min() else {
                break;
            };
            if reference_left == Some(price) {
                reference_left = None;
            }
            if let Some((_, queue)) = sells.next_if(|(key, _)| **key == price) {
                sold += queue.total;
            }
            let candidate = Crossing {
                price,
                quantity: bought.min(sold),
                surplus: difference(bought, sold),
            };
            choice = Choice::better(choice, candidate, reference);
            // At the next price and above, buy orders at this price take no part.
            if let Some((_, queue)) = buys.next_if(|(key, _)| **key == price) {
                bought -= queue.total;
            }
        }
        choice.map(Choice::made)
    }

    /// Executes the trades of an auction call. Orders trade in the order of price and time, all at the price that
    /// [`indicative`](Self::indicative) gives. The unfilled rest of market orders is cancelled. The auction call
    /// continues. Outside an auction call this function does nothing. A change of the state to
    /// [`BookState::Continuous`] also executes these trades.
    pub fn uncross(&mut self, sink: &mut impl FnMut(BookEvent)) {
        if self.state == BookState::AuctionCall {
            self.uncross_all(sink);
        }
    }

    pub(crate) fn uncross_all(&mut self, sink: &mut impl FnMut(BookEvent)) {
        if let Some(crossing) = self.indicative() {
            sink(BookEvent::Uncrossed(crossing));
            self.trade_all(crossing.price, sink);
        }
        for side in [Side::Buy, Side::Sell] {
            let market = |order: &BookOrder| order.price.is_none();
            self.cancel_where(side, false, CancelReason::NoLiquidity, market, sink);
        }
    }

    /// Trades all orders that accept `price`.
    fn trade_all(&mut self, price: i64, sink: &mut impl FnMut(BookEvent)) {
        while let (Some((_, buys)), Some((_, sells))) = (self.buys.best(), self.sells.best()) {
            let buy = self.slab.get(buys.head).order;
            let sell = self.slab.get(sells.head).order;
            if !buy.accepts(price) || !sell.accepts(price) {
                break;
            }
            let quantity = buy.visible.min(sell.visible);
            self.fill_head(Side::Buy, quantity);
            self.fill_head(Side::Sell, quantity);
            self.traded(price);
            sink(BookEvent::Trade {
                price,
                quantity,
                buy: buy.id,
                buy_leaves: buy.leaves() - quantity,
                sell: sell.id,
                sell_leaves: sell.leaves() - quantity,
                aggressor: None,
            });
        }
    }
}

impl Choice {
    /// The choice after one more candidate, whose price is higher than the prices before.
    fn better(choice: Option<Self>, new: Crossing, reference: Option<i64>) -> Option<Self> {
        let Some(mut choice) = choice else {
            return (new.quantity > 0).then_some(Self::of(new));
        };
        let size = |crossing: &Crossing| crossing.surplus.unsigned_abs();
        let by_quantity = new.quantity.cmp(&choice.best.quantity);
        match by_quantity.then(size(&choice.best).cmp(&size(&new))) {
            core::cmp::Ordering::Less => {}
            core::cmp::Ordering::Greater => choice = Self::of(new),
            core::cmp::Ordering::Equal => {
                choice.high = new;
                let distance = |it: &Crossing| reference.map(|price| price.abs_diff(it.price));
                if distance(&new) < distance(&choice.near) {
                    choice.near = new;
                }
            }
        }
        Some(choice)
    }

    fn of(only: Crossing) -> Self {
        Self {
            best: only,
            low: only,
            high: only,
            near: only,
        }
    }

    /// Applies rules 3 and 4. The surplus falls as the price rises, so the lowest and the highest price also show
    /// what lies between them.
    fn made(self) -> Crossing {
        if self.high.surplus > 0 {
            self.high
        } else if self.low.surplus < 0 {
            self.low
        } else {
            self.near
        }
    }
}

/// The difference of two sums of quantities. Such sums are far below the limit of `i128`.
fn difference(bought: u128, sold: u128) -> i128 {
    bought as i128 - sold as i128
}
