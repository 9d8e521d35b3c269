//! The book: its orders, state and queries.

use crate::event::{BookEvent, BookRequest, CancelReason, RefusedOrder};
use crate::index::Index;
use crate::ladder::Ladder;
use crate::order::{BookOrder, EntryOrder, SLICES_MAX, Side, TimeInForce};
use crate::slab::{NONE, Slab};

/// The limit order book of one instrument.
#[derive(Clone, Debug)]
pub struct Book {
    pub(crate) slab: Slab,
    pub(crate) index: Index,
    pub(crate) buys: Ladder,
    pub(crate) sells: Ladder,
    /// Stop orders that have not been triggered, by stop price. The best one is triggered first.
    pub(crate) buy_stops: Ladder,
    pub(crate) sell_stops: Ladder,
    pub(crate) state: BookState,
    pub(crate) band: PriceBand,
    pub(crate) reference: Option<i64>,
    pub(crate) last: Option<i64>,
    /// The lowest and the highest price of the trades since stop orders were last checked.
    pub(crate) swing: Option<(i64, i64)>,
    pub(crate) orders_max: u32,
}

/// Configuration of a book.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BookSettings {
    /// The initial state.
    pub state: BookState,
    /// The limits for limit and stop prices.
    pub band: PriceBand,
    /// The reference price of auctions before the first trade.
    pub reference: Option<i64>,
    /// Maximum number of orders in the book.
    pub orders_max: u32,
    /// Number of orders for which memory is reserved at first.
    pub capacity: u32,
}

impl Default for BookSettings {
    fn default() -> Self {
        Self {
            state: BookState::Continuous,
            band: PriceBand::ANY,
            reference: None,
            orders_max: 1 << 20,
            capacity: 1024,
        }
    }
}

/// The range of allowed limit and stop prices, ends included. Orders in the book stay when the range changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PriceBand {
    /// The lowest price.
    pub low: i64,
    /// The highest price.
    pub high: i64,
}

impl PriceBand {
    /// A band with all prices, except the two values that stand for "market".
    pub const ANY: Self = Self {
        low: i64::MIN + 1,
        high: i64::MAX - 1,
    };

    /// Whether `price` is within the band.
    #[must_use]
    pub fn contains(&self, price: i64) -> bool {
        let all = Self::ANY;
        price >= self.low.max(all.low) && price <= self.high.min(all.high)
    }
}

/// The state of trading.
///
/// ```text
///                       trades what crosses, cancels the rest of market orders
///   AuctionCall ---------------------------------------------------------------> Continuous
///   Halted, Closed -------------------------------------------------------------> Continuous
///   any ---- orders of the day expire ----> Closed
///   any ----------------------------------> AuctionCall, Halted
/// ```
///
/// | state | enter, replace | cancel | trades |
/// | --- | --- | --- | --- |
/// | `Continuous` | yes | yes | at once |
/// | `AuctionCall` | yes, but nothing immediate | yes | in [`Book::uncross`] |
/// | `Halted`, `Closed` | no | yes | no |
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum BookState {
    /// Continuous trading.
    #[default]
    Continuous,
    /// An auction call: orders are collected and do not trade.
    AuctionCall,
    /// Halted.
    Halted,
    /// Trading is closed for the day.
    Closed,
}

/// One price level, as it is published.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Depth {
    /// The price; `None` for the market orders in an auction call.
    pub price: Option<i64>,
    /// Visible quantity.
    pub visible: u128,
    /// Total quantity, including the hidden quantity of icebergs.
    pub total: u128,
    /// Number of orders.
    pub orders: u32,
}

impl Book {
    /// An empty book.
    #[must_use]
    pub fn new(settings: BookSettings) -> Self {
        Self {
            slab: Slab::with_capacity(settings.capacity as usize),
            index: Index::default(),
            buys: Ladder::new(true),
            sells: Ladder::new(false),
            buy_stops: Ladder::new(false),
            sell_stops: Ladder::new(true),
            state: settings.state,
            band: settings.band,
            reference: settings.reference,
            last: None,
            swing: None,
            orders_max: settings.orders_max,
        }
    }

    /// The state of trading.
    #[must_use]
    pub fn state(&self) -> BookState {
        self.state
    }

    /// The price band.
    #[must_use]
    pub fn band(&self) -> PriceBand {
        self.band
    }

    /// Sets the price band.
    pub fn set_band(&mut self, band: PriceBand) {
        self.band = band;
    }

    /// The reference price that counts before the first trade.
    #[must_use]
    pub fn reference(&self) -> Option<i64> {
        self.reference
    }

    /// Sets the reference price.
    pub fn set_reference(&mut self, reference: Option<i64>) {
        self.reference = reference;
    }

    /// Maximum number of orders.
    #[must_use]
    pub fn orders_max(&self) -> u32 {
        self.orders_max
    }

    /// Sets the maximum number of orders. Orders in the book stay.
    pub fn set_orders_max(&mut self, orders_max: u32) {
        self.orders_max = orders_max;
    }

    /// The price of the last trade.
    #[must_use]
    pub fn last(&self) -> Option<i64> {
        self.last
    }

    /// Number of orders in the book.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slab.len()
    }

    /// Whether the book is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slab.len() == 0
    }

    /// The order with this id.
    #[must_use]
    pub fn order(&self, id: u64) -> Option<&BookOrder> {
        Some(&self.slab.get(self.index.get(id)?).order)
    }

    /// The price levels of a side, the best one first.
    pub fn depth(&self, side: Side) -> impl Iterator<Item = Depth> + '_ {
        let levels = self.ladder(side).best_first();
        levels.map(move |(key, queue)| Depth {
            price: (key != side.market_key()).then_some(key),
            visible: queue.visible,
            total: queue.total,
            orders: queue.orders,
        })
    }

    /// The resting orders of a side, in priority order.
    pub fn resting(&self, side: Side) -> impl Iterator<Item = &BookOrder> + '_ {
        self.queued(self.ladder(side))
    }

    /// The untriggered stop orders of a side, in trigger order.
    pub fn waiting(&self, side: Side) -> impl Iterator<Item = &BookOrder> + '_ {
        self.queued(self.stops(side))
    }

    /// Enters an order. Reports [`BookEvent::Accepted`] and the events that follow from it, or
    /// [`BookEvent::Rejected`].
    pub fn enter(&mut self, order: EntryOrder, sink: &mut impl FnMut(BookEvent)) {
        let id = order.id;
        if let Err(reason) = self.admit(&order) {
            let request = BookRequest::Enter;
            sink(BookEvent::Rejected {
                id,
                request,
                reason,
            });
            return;
        }
        sink(BookEvent::Accepted { id });
        self.place(BookOrder::entered(&order), sink);
        self.run_stops(sink);
    }

    /// Changes the state of trading. Does nothing when the book already has this state.
    pub fn set_state(&mut self, state: BookState, sink: &mut impl FnMut(BookEvent)) {
        if state == self.state {
            return;
        }
        self.state = state;
        match state {
            BookState::Continuous => {
                self.uncross_all(sink);
                self.run_stops(sink);
            }
            BookState::Closed => self.expire(sink),
            BookState::AuctionCall | BookState::Halted => {}
        }
    }

    /// Restores an order in a copy of the book. The order goes to the back of its level and does not trade. This call
    /// is for callers that have saved [`resting`](Self::resting) and [`waiting`](Self::waiting) of both sides.
    ///
    /// # Errors
    ///
    /// A [`RefusedOrder`] when the order cannot have been in a book.
    pub fn put_back(&mut self, order: BookOrder) -> Result<(), RefusedOrder> {
        if self.index.get(order.id).is_some() {
            return Err(RefusedOrder::DuplicateId);
        }
        if self.slab.len() >= self.orders_max as usize {
            return Err(RefusedOrder::BookFull);
        }
        if order.filled >= order.quantity {
            return Err(RefusedOrder::AlreadyFilled);
        }
        let any = PriceBand::ANY;
        let prices = [order.price, order.stop];
        if prices.iter().flatten().any(|price| !any.contains(*price)) {
            return Err(RefusedOrder::OutsideBand);
        }
        let leaves = order.leaves();
        let most = order.display.map_or(leaves, |display| display.min(leaves));
        let shown = order.visible > 0 && order.visible <= most;
        let whole = order.display.is_some() || order.visible == leaves;
        if order.display.is_some_and(|display| display == 0) {
            return Err(RefusedOrder::Display);
        }
        let fits = if order.stop.is_some() {
            order.visible == 0
        } else {
            shown && whole
        };
        if !fits {
            return Err(RefusedOrder::Display);
        }
        self.keep(order);
        Ok(())
    }

    /// Sets the last trade of a copy of the book, and the lowest and highest price of the trades that were not yet
    /// checked against stop orders.
    pub fn put_back_last(&mut self, last: Option<i64>, swing: Option<(i64, i64)>) {
        self.last = last;
        self.swing = swing;
    }

    /// The lowest and highest price of the trades that were not yet checked against stop orders, for a copy of the
    /// book.
    #[must_use]
    pub fn swing(&self) -> Option<(i64, i64)> {
        self.swing
    }

    /// Checks a new order.
    fn admit(&self, order: &EntryOrder) -> Result<(), RefusedOrder> {
        use TimeInForce::{FillOrKill, ImmediateOrCancel};
        let immediate = matches!(order.time_in_force, ImmediateOrCancel | FillOrKill);
        match self.state {
            BookState::Halted | BookState::Closed => return Err(RefusedOrder::NotTrading),
            BookState::AuctionCall if immediate => return Err(RefusedOrder::NotInAuction),
            BookState::AuctionCall | BookState::Continuous => {}
        }
        if order.quantity == 0 {
            return Err(RefusedOrder::Quantity);
        }
        let prices = [order.price, order.stop];
        let outside = |price: &i64| !self.band.contains(*price);
        if prices.iter().flatten().any(outside) {
            return Err(RefusedOrder::OutsideBand);
        }
        if let Some(display) = order.display {
            let rests = order.price.is_some() && !immediate;
            let fits = (1..=order.quantity).contains(&display);
            if !rests || !fits || order.quantity / display > SLICES_MAX {
                return Err(RefusedOrder::Display);
            }
        }
        if self.index.get(order.id).is_some() {
            return Err(RefusedOrder::DuplicateId);
        }
        if self.slab.len() >= self.orders_max as usize {
            return Err(RefusedOrder::BookFull);
        }
        Ok(())
    }

    /// Handles a new or changed order: it waits for its stop price, is collected for the auction, or trades.
    pub(crate) fn place(&mut self, mut order: BookOrder, sink: &mut impl FnMut(BookEvent)) {
        if order.stop.is_some() {
            order.visible = 0;
            self.keep(order);
        } else if self.state == BookState::Continuous {
            self.take(order, sink);
        } else {
            order.show();
            self.keep(order);
        }
    }

    /// Adds an order at the back of its price level.
    pub(crate) fn keep(&mut self, order: BookOrder) {
        let slot = self.slab.insert(order);
        self.index.insert(order.id, slot);
        let (ladder, key, slab) = self.level_of(&order);
        ladder.push_back(slab, key, slot);
    }

    /// Removes an order from the book.
    pub(crate) fn drop_order(&mut self, slot: u32) -> BookOrder {
        let order = self.slab.get(slot).order;
        let (ladder, key, slab) = self.level_of(&order);
        ladder.unlink(slab, key, slot);
        self.index.remove(order.id);
        self.slab.remove(slot)
    }

    /// The ladder to which an order belongs, its key there, and the slab that stores the order.
    pub(crate) fn level_of(&mut self, order: &BookOrder) -> (&mut Ladder, i64, &mut Slab) {
        let (ladder, key) = match (order.side, order.stop) {
            (Side::Buy, None) => (&mut self.buys, order.price_key()),
            (Side::Sell, None) => (&mut self.sells, order.price_key()),
            (Side::Buy, Some(stop)) => (&mut self.buy_stops, stop),
            (Side::Sell, Some(stop)) => (&mut self.sell_stops, stop),
        };
        (ladder, key, &mut self.slab)
    }

    pub(crate) fn ladder(&self, side: Side) -> &Ladder {
        match side {
            Side::Buy => &self.buys,
            Side::Sell => &self.sells,
        }
    }

    pub(crate) fn stops(&self, side: Side) -> &Ladder {
        match side {
            Side::Buy => &self.buy_stops,
            Side::Sell => &self.sell_stops,
        }
    }

    /// The orders of a ladder, the best one first.
    fn queued<'a>(&'a self, ladder: &'a Ladder) -> impl Iterator<Item = &'a BookOrder> + 'a {
        ladder.best_first().flat_map(move |(_, queue)| {
            let first = (queue.head != NONE).then_some(queue.head);
            let next = |slot: &u32| {
                let next = self.slab.get(*slot).next;
                (next != NONE).then_some(next)
            };
            core::iter::successors(first, next).map(move |slot| &self.slab.get(slot).order)
        })
    }

    /// Ends the day: removes day orders and market orders.
    fn expire(&mut self, sink: &mut impl FnMut(BookEvent)) {
        for (side, waiting) in [
            (Side::Buy, false),
            (Side::Sell, false),
            (Side::Buy, true),
            (Side::Sell, true),
        ] {
            let expires = |order: &BookOrder| {
                let stays = order.time_in_force == TimeInForce::GoodTillCancel;
                !stays || (order.price.is_none() && !waiting)
            };
            self.cancel_where(side, waiting, CancelReason::Expired, expires, sink);
        }
    }

    /// Cancels the orders of one ladder that `chosen` selects, the best one first.
    pub(crate) fn cancel_where(
        &mut self,
        side: Side,
        waiting: bool,
        reason: CancelReason,
        chosen: impl Fn(&BookOrder) -> bool,
        sink: &mut impl FnMut(BookEvent),
    ) {
        let mut level = self.ladder_of(side, waiting).best();
        while let Some((key, queue)) = level {
            let mut slot = queue.head;
            while slot != NONE {
                let (next, order) = (self.slab.get(slot).next, self.slab.get(slot).order);
                if chosen(&order) {
                    self.drop_order(slot);
                    sink(BookEvent::Cancelled {
                        id: order.id,
                        leaves: order.leaves(),
                        reason,
                    });
                }
                slot = next;
            }
            level = self.ladder_of(side, waiting).after(key);
        }
    }

    fn ladder_of(&self, side: Side, waiting: bool) -> &Ladder {
        if waiting {
            self.stops(side)
        } else {
            self.ladder(side)
        }
    }
}
