//! The limit order book of one instrument, with price-time priority.
//!
//! ```text
//!   enter, replace, cancel                       Accepted, Rejected
//!   set_state, uncross, set_band  ->  Book  ->   Trade, Triggered, Replaced
//!                                                Cancelled, Uncrossed
//! ```
//!
//! A [`Book`] is a value without a clock, a socket or a currency. Prices are whole ticks, quantities are whole lots,
//! and the caller chooses the ids of orders. Each call reports its events to a closure, one [`BookEvent`] at a time,
//! in order. The book is deterministic: the same calls give the same events and the same book.
//!
//! Orders are stored in a slab with a free list, and in linked queues. After a warm-up an order allocates no memory,
//! except for a new node in the tree of price levels.
//!
//! ```
//! use fixwire_book::{Book, BookEvent, BookSettings, EntryOrder, Side};
//!
//! let mut book = Book::new(BookSettings::default());
//! book.enter(EntryOrder::limit(1, Side::Sell, 100, 5), &mut |_| {});
//! let mut traded = 0;
//! book.enter(EntryOrder::limit(2, Side::Buy, 101, 3), &mut |event| {
//!     if let BookEvent::Trade { price: 100, quantity, .. } = event {
//!         traded += quantity;
//!     }
//! });
//! assert_eq!(traded, 3);
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod auction;
mod book;
mod change;
mod check;
mod event;
mod index;
mod ladder;
mod matching;
mod order;
mod slab;
mod stops;
#[cfg(test)]
mod tests;

pub use book::{Book, BookSettings, BookState, Depth, PriceBand};
pub use event::{BookEvent, BookRequest, CancelReason, Crossing, RefusedOrder};
pub use order::{BookOrder, EntryOrder, OrderChange, SLICES_MAX, Side, TimeInForce};
