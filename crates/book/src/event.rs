//! Events of a limit order book.

use core::fmt;

use crate::order::Side;

/// An event of the book. Quantities are in lots, prices in ticks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BookEvent {
    /// An order was entered. The events that follow from it come after this one.
    Accepted {
        /// The order.
        id: u64,
    },
    /// A request was rejected. The book is unchanged.
    Rejected {
        /// The id of the order that the request names.
        id: u64,
        /// The kind of the request.
        request: BookRequest,
        /// Why.
        reason: RefusedOrder,
    },
    /// Two orders have traded.
    Trade {
        /// The price.
        price: i64,
        /// The quantity.
        quantity: u64,
        /// The buy order.
        buy: u64,
        /// The quantity of the buy order that is left.
        buy_leaves: u64,
        /// The sell order.
        sell: u64,
        /// The quantity of the sell order that is left.
        sell_leaves: u64,
        /// The side of the order that was matched against the book; `None` in an auction.
        aggressor: Option<Side>,
    },
    /// An order was removed from the book before it was filled.
    Cancelled {
        /// The order.
        id: u64,
        /// The quantity of the order that was left before.
        leaves: u64,
        /// Why.
        reason: CancelReason,
    },
    /// An order was changed. The events that follow from it come after this one.
    Replaced {
        /// The order.
        id: u64,
        /// The quantity of the order that is left now.
        leaves: u64,
        /// Whether the order kept its priority in the queue.
        kept_priority: bool,
    },
    /// A stop order was triggered. From now on the order is a market or limit order.
    Triggered {
        /// The order.
        id: u64,
    },
    /// The price of an auction was found. The trades come after this event.
    Uncrossed(Crossing),
}

/// The price of an auction, and its volume.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Crossing {
    /// The price.
    pub price: i64,
    /// The quantity that trades, hidden quantity included.
    pub quantity: u128,
    /// The surplus at this price: positive for buy orders, negative for sell orders.
    pub surplus: i128,
}

/// A request to the book.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BookRequest {
    /// A new order.
    Enter,
    /// Cancel an order.
    Cancel,
    /// Change an order.
    Replace,
}

/// Why an order was removed before it was filled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CancelReason {
    /// The owner cancelled the order.
    Requested,
    /// The rest of an immediate-or-cancel order was cancelled.
    ImmediateOrCancel,
    /// A fill-or-kill order could not be filled.
    FillOrKill,
    /// There are no orders with which a market order can trade.
    NoLiquidity,
    /// End of day.
    Expired,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RefusedOrder {
    /// The book is halted, or trading is closed.
    NotTrading,
    /// Immediate-or-cancel and fill-or-kill orders are only allowed in continuous trading.
    NotInAuction,
    /// An order with this id is already in the book.
    DuplicateId,
    /// There is no order with this id in the book.
    UnknownOrder,
    /// The quantity is zero.
    Quantity,
    /// The new total quantity must be greater than the traded quantity.
    AlreadyFilled,
    /// The limit or stop price is outside the price band.
    OutsideBand,
    /// A limit price was given for a market order.
    Price,
    /// A stop price was given for an order that does not wait for one.
    Stop,
    /// The display quantity is zero, is above the total quantity, or is a very small part of the total quantity
    /// ([`SLICES_MAX`](crate::SLICES_MAX)), or the order would not rest in the book.
    Display,
    /// The book already has its maximum number of orders.
    BookFull,
}

impl fmt::Display for RefusedOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTrading => "trading is halted or closed",
            Self::NotInAuction => "immediate orders are refused in an auction call",
            Self::DuplicateId => "duplicate order",
            Self::UnknownOrder => "unknown order",
            Self::Quantity => "quantity is zero",
            Self::AlreadyFilled => "quantity must be greater than the traded quantity",
            Self::OutsideBand => "price is outside the price band",
            Self::Price => "a market order has no limit price",
            Self::Stop => "order is not waiting for a stop price",
            Self::Display => "display quantity does not fit the order",
            Self::BookFull => "the book is full",
        })
    }
}

impl core::error::Error for RefusedOrder {}
