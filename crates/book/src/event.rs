//! Events of a book.

use core::fmt;

use crate::order::Side;

/// An event of the book. Quantities in lots, prices in ticks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BookEvent {
    /// An order was entered. The resulting events follow.
    Accepted {
        /// The order.
        id: u64,
    },
    /// A request was rejected; the book is unchanged.
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
        /// The price.
        price: i64,
        /// The quantity.
        quantity: u64,
        /// The buy order.
        buy: u64,
        /// Leaves quantity of the buy order.
        buy_leaves: u64,
        /// The sell order.
        sell: u64,
        /// Leaves quantity of the sell order.
        sell_leaves: u64,
        /// The aggressor side; `None` in an auction.
        aggressor: Option<Side>,
    },
    /// An order was removed from the book before it was filled.
    Cancelled {
        /// The order.
        id: u64,
        /// The order's leaves quantity before.
        leaves: u64,
        /// Why.
        reason: CancelReason,
    },
    /// An order was changed. The resulting events follow.
    Replaced {
        /// The order.
        id: u64,
        /// The order's leaves quantity now.
        leaves: u64,
        /// Whether it kept its queue priority.
        kept_priority: bool,
    },
    /// A stop order has become active: from here it is a market or limit order.
    Triggered {
        /// The order.
        id: u64,
    },
    /// The auction price was determined. The trades follow.
    Uncrossed(Crossing),
}

/// The price of an auction and its volume.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Crossing {
    /// The price.
    pub price: i64,
    /// Traded quantity, including hidden quantity.
    pub quantity: u128,
    /// The surplus at this price: buy (positive) or sell (negative).
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

/// Why an order was removed unfilled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CancelReason {
    /// Cancelled by its owner.
    Requested,
    /// The rest of an immediate-or-cancel order.
    ImmediateOrCancel,
    /// A fill-or-kill order that could not be filled.
    FillOrKill,
    /// A market order without liquidity.
    NoLiquidity,
    /// End of day.
    Expired,
}

/// Why a request is rejected.
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
    /// The new total quantity must be greater than the traded quantity.
    AlreadyFilled,
    /// The limit or stop price is outside the price band.
    OutsideBand,
    /// A limit price for a market order.
    Price,
    /// A stop price for an order that is not waiting for one.
    Stop,
    /// The display quantity is zero, above the total or a very small part of it
    /// ([`SLICES_MAX`](crate::SLICES_MAX)), or the order would not rest.
    Display,
    /// The book is full.
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
