//! Orders as entered, changed and stored.

/// Whether an order buys or sells.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Side {
    /// Buys at its limit or lower.
    Buy,
    /// Sells at its limit or higher.
    Sell,
}

impl Side {
    /// The other side.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }

    /// The key of market orders of this side in the tree of price levels: ahead of every limit.
    pub(crate) fn market_key(self) -> i64 {
        match self {
            Self::Buy => i64::MAX,
            Self::Sell => i64::MIN,
        }
    }
}

/// Time in force.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TimeInForce {
    /// Day.
    Day,
    /// Good till cancel. A market order expires at the end of the day.
    GoodTillCancel,
    /// Immediate or cancel.
    ImmediateOrCancel,
    /// Fill or kill.
    FillOrKill,
}

/// Maximum number of slices of an iceberg: each is a separate trade, so this bounds the work of one order.
pub const SLICES_MAX: u64 = 1000;

/// An order to enter. Prices in ticks, quantities in lots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EntryOrder {
    /// The caller's id; must be unique in the book.
    pub id: u64,
    /// Buys or sells.
    pub side: Side,
    /// The limit; `None` for a market order.
    pub price: Option<i64>,
    /// The last trade at which the order becomes active, for stop and stop-limit orders: that price or
    /// higher for a buy order, or lower for a sell order.
    pub stop: Option<i64>,
    /// The total quantity.
    pub quantity: u64,
    /// The largest quantity shown at a time, for an iceberg order: the total divided by it is at most
    /// [`SLICES_MAX`].
    pub display: Option<u64>,
    /// The time in force of the order.
    pub time_in_force: TimeInForce,
}

impl EntryOrder {
    /// A limit order for the day.
    #[must_use]
    pub fn limit(id: u64, side: Side, price: i64, quantity: u64) -> Self {
        Self {
            price: Some(price),
            ..Self::market(id, side, quantity)
        }
    }

    /// A market order.
    #[must_use]
    pub fn market(id: u64, side: Side, quantity: u64) -> Self {
        Self {
            id,
            side,
            price: None,
            stop: None,
            quantity,
            display: None,
            time_in_force: TimeInForce::Day,
        }
    }

    /// The same order, active only when the last trade has reached `stop`.
    #[must_use]
    pub fn with_stop(self, stop: i64) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// The same order, which shows at most `display` at a time.
    #[must_use]
    pub fn with_display(self, display: u64) -> Self {
        Self {
            display: Some(display),
            ..self
        }
    }

    /// The same order with another time in force.
    #[must_use]
    pub fn with_time_in_force(self, time_in_force: TimeInForce) -> Self {
        Self {
            time_in_force,
            ..self
        }
    }
}

/// The values of a replace. `None` keeps a price.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrderChange {
    /// The new limit. A market order cannot be given one.
    pub price: Option<i64>,
    /// The new stop price, of a stop order that has not been triggered.
    pub stop: Option<i64>,
    /// The new total quantity, including the traded quantity.
    pub quantity: u64,
}

/// An order in the book, with all data for a copy of the book.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BookOrder {
    /// The caller's id.
    pub id: u64,
    /// Buys or sells.
    pub side: Side,
    /// The limit; `None` for a market order.
    pub price: Option<i64>,
    /// The stop price of a stop order that has not been triggered.
    pub stop: Option<i64>,
    /// The total quantity.
    pub quantity: u64,
    /// Traded quantity.
    pub filled: u64,
    /// Visible part of the rest. An untriggered stop order shows nothing.
    pub visible: u64,
    /// The largest quantity shown at a time, for an iceberg order.
    pub display: Option<u64>,
    /// The time in force of the order.
    pub time_in_force: TimeInForce,
}

impl BookOrder {
    /// A newly entered order.
    pub(crate) fn entered(order: &EntryOrder) -> Self {
        Self {
            id: order.id,
            side: order.side,
            price: order.price,
            stop: order.stop,
            quantity: order.quantity,
            filled: 0,
            visible: 0,
            display: order.display,
            time_in_force: order.time_in_force,
        }
    }

    /// The quantity that has not traded.
    #[must_use]
    pub fn leaves(&self) -> u64 {
        self.quantity - self.filled
    }

    /// The order's key among the price levels of its side.
    pub(crate) fn price_key(&self) -> i64 {
        self.price.unwrap_or(self.side.market_key())
    }

    /// Resets the visible quantity, as at the back of a level.
    pub(crate) fn show(&mut self) {
        let most = self.display.unwrap_or(u64::MAX);
        self.visible = self.leaves().min(most);
    }

    /// Whether it would trade at `price`.
    pub(crate) fn accepts(&self, price: i64) -> bool {
        match self.side {
            Side::Buy => price <= self.price_key(),
            Side::Sell => price >= self.price_key(),
        }
    }
}
