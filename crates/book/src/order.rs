//! Orders as they are entered, changed and stored.

/// Whether an order buys or sells.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Side {
    /// The order buys at its limit or lower.
    Buy,
    /// The order sells at its limit or higher.
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

    /// The key of this side's market orders in the tree of price levels. This key comes before every limit.
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
    /// The order stays until it is cancelled. A market order expires at the end of the day.
    GoodTillCancel,
    /// Immediate or cancel.
    ImmediateOrCancel,
    /// Fill or kill.
    FillOrKill,
}

/// Maximum number of slices of an iceberg. Each slice is a separate trade, so this limits the work that one order can
/// cause.
pub const SLICES_MAX: u64 = 1000;

/// An order to be entered. Prices are in ticks, quantities in lots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EntryOrder {
    /// The id that the caller has chosen. The caller's id must be unique in the book.
    pub id: u64,
    /// Buys or sells.
    pub side: Side,
    /// The limit price; `None` for a market order.
    pub price: Option<i64>,
    /// For stop and stop-limit orders, the price at which the order becomes active: when the last trade is at this
    /// price or higher for a buy order, or at this price or lower for a sell order.
    pub stop: Option<i64>,
    /// The total quantity.
    pub quantity: u64,
    /// For an iceberg order, the largest quantity that is shown at a time. The total quantity divided by this
    /// quantity may be at most [`SLICES_MAX`].
    pub display: Option<u64>,
    /// How long the order stays.
    pub time_in_force: TimeInForce,
}

impl EntryOrder {
    /// A limit order that is good for the day.
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

    /// The same order, which becomes active only when the last trade has reached `stop`.
    #[must_use]
    pub fn with_stop(self, stop: i64) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// The same order, of which at most `display` is shown at a time.
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

/// The new values of an order. A price of `None` stays as it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrderChange {
    /// The new limit. The price must be `None` for a market order.
    pub price: Option<i64>,
    /// The new stop price. A new stop price is allowed only for a stop order that has not been triggered.
    pub stop: Option<i64>,
    /// The new total quantity, including the quantity that has traded.
    pub quantity: u64,
}

/// An order in the book, with everything that a copy of the book needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BookOrder {
    /// The caller's id.
    pub id: u64,
    /// Buys or sells.
    pub side: Side,
    /// The limit price; `None` for a market order.
    pub price: Option<i64>,
    /// The stop price of a stop order that has not been triggered.
    pub stop: Option<i64>,
    /// The total quantity.
    pub quantity: u64,
    /// Traded quantity.
    pub filled: u64,
    /// The part of the remaining quantity that is visible. A stop order that has not been triggered shows nothing.
    pub visible: u64,
    /// For an iceberg order, the largest quantity that is shown at a time.
    pub display: Option<u64>,
    /// How long the order stays.
    pub time_in_force: TimeInForce,
}

impl BookOrder {
    /// An order that has just been entered.
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

    /// The quantity that has not traded yet.
    #[must_use]
    pub fn leaves(&self) -> u64 {
        self.quantity - self.filled
    }

    /// The key of the order among the price levels of its side.
    pub(crate) fn price_key(&self) -> i64 {
        self.price.unwrap_or(self.side.market_key())
    }

    /// Sets the visible quantity again, as for an order at the back of a level.
    pub(crate) fn show(&mut self) {
        let most = self.display.unwrap_or(u64::MAX);
        self.visible = self.leaves().min(most);
    }

    /// Whether the order would trade at `price`.
    pub(crate) fn accepts(&self, price: i64) -> bool {
        match self.side {
            Side::Buy => price <= self.price_key(),
            Side::Sell => price >= self.price_key(),
        }
    }
}
