//! Records the changes of the books since the last update of market data.

use alloc::vec::Vec;

use fixwire_book::BookEvent;
use fixwire_protocol::Timestamp;

/// A trade, as published in market data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TapeTrade {
    pub(crate) instrument: u32,
    pub(crate) at: Timestamp,
    pub(crate) ticks: i64,
    pub(crate) lots: u64,
}

/// The changes of the books, for members that subscribe to market data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    /// Instruments whose books may have changed.
    pub(crate) touched: Vec<u32>,
    /// Trades, in order.
    pub(crate) trades: Vec<TapeTrade>,
}

impl Tape {
    /// Records the events of a book.
    pub(super) fn add(&mut self, index: usize, at: Timestamp, events: &[BookEvent]) {
        let instrument = index as u32;
        if !self.touched.contains(&instrument) {
            self.touched.push(instrument);
        }
        for event in events {
            if let BookEvent::Trade {
                price, quantity, ..
            } = *event
            {
                self.trades.push(TapeTrade {
                    instrument,
                    at,
                    ticks: price,
                    lots: quantity,
                });
            }
        }
    }
}
