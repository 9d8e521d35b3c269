//! What a book reports.

use core::fmt;

use crate::order::Side;

/// Something that has happened in the book. Quantities in lots, prices in ticks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BookEvent {
    /// An order was entered. What it has caused follows.
    Accepted {
        /// The order.
        id: u64,
    },
    /// A request was refused; the book is as it was.
    Rejected {
        /// The order that the request names.
        id: u64,
        /// Which request.
        request: BookRequest,
        /// Why.
        reason: RefusedOrder,
    },
    /// Two orders have traded.
    Trade {
        /// At this price.
        price: i64,
        /// This much.
        quantity: u64,
        /// The order that bought.
        buy: u64,
        /// What the order that bought has left.
        buy_leaves: u64,
        /// The order that sold.
        sell: u64,
        /// What the order that sold has left.
        sell_leaves: u64,
        /// The side that came to the book; `None` in an auction.
        aggressor: Option<Side>,
    },
    /// An order has left the book before it was filled.
    Cancelled {
        /// The order.
        id: u64,
        /// What it had left.
        leaves: u64,
        /// Why.
        reason: CancelReason,
    },
    /// An order was changed. What the change has caused follows.
    Replaced {
        /// The order.
        id: u64,
        /// What it has left now.
        leaves: u64,
        /// Whether it has kept its place in the queue.
        kept_priority: bool,
    },
    /// A stop order has become active: from here it is a market or limit order.
    Triggered {
        /// The order.
        id: u64,
    },
    /// An auction has found its price. Its trades follow.
    Uncrossed(Crossing),
}

/// The price of an auction and what trades at it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Crossing {
    /// The price.
    pub price: i64,
    /// How much trades, hidden quantity included.
    pub quantity: u128,
    /// How much more is bought (positive) or sold (negative) at this price than finds a partner.
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

/// Why an order has left the book unfilled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CancelReason {
    /// Its owner asked.
    Requested,
    /// The rest of an immediate-or-cancel order.
    ImmediateOrCancel,
    /// A fill-or-kill order that could not be filled.
    FillOrKill,
    /// A market order with nobody left to trade with.
    NoLiquidity,
    /// The day has ended.
    Expired,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RefusedOrder {
    /// The book is halted or closed.
    NotTrading,
    /// Immediate-or-cancel and fill-or-kill orders need continuous trading.
    NotInAuction,
    /// An order with this id is in the book.
    DuplicateId,
    /// No order with this id is in the book.
    UnknownOrder,
    /// The quantity is zero.
    Quantity,
    /// The new total quantity is not above what has traded.
    AlreadyFilled,
    /// The limit or stop price is outside the price band.
    OutsideBand,
    /// A market order was given a limit.
    Price,
    /// An order that waits for no stop price was given one.
    Stop,
    /// The display quantity is zero, above the total or a very small part of it
    /// ([`SLICES_MAX`](crate::SLICES_MAX)), or the order would not rest.
    Display,
    /// The book has as many orders as it may.
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
            Self::AlreadyFilled => "quantity is not above what has traded",
            Self::OutsideBand => "price is outside the price band",
            Self::Price => "a market order has no limit price",
            Self::Stop => "order does not wait for a stop price",
            Self::Display => "display quantity does not fit the order",
            Self::BookFull => "the book is full",
        })
    }
}

impl core::error::Error for RefusedOrder {}
