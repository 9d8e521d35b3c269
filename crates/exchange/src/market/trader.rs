//! A trader of the exchange: it quotes both sides of an instrument around a random walk, and trades now and then.
//!
//! The orders of a trader belong to no member: they are only in the book, and nobody receives reports on them. Each
//! step is an event, and its random numbers come from the trader's own generator. Therefore the same seed gives the
//! same market, if members send the same orders between the same steps; and after a restart the trader continues where
//! it stopped.

use alloc::vec::Vec;

use fixwire_book::{Book, BookEvent, BookState, EntryOrder, Side, TimeInForce};
use fixwire_protocol::Timestamp;
use fixwire_random::Random;

use crate::config::TraderTerms;
use crate::instrument::takes_orders;

const SECOND: u64 = 1_000_000_000;

/// The trader of an instrument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Trader {
    pub(crate) terms: TraderTerms,
    /// The state of the trader's random number generator.
    pub(crate) random: u64,
    /// The trader's best bid, in ticks. The trader's best offer is higher than the best bid by the spread.
    pub(crate) bid: i64,
    /// OrderIDs of the trader's quotes. Some of the quotes may have traded since the last step.
    pub(crate) quotes: Vec<u64>,
    /// Time of the trader's next step.
    pub(crate) due: Timestamp,
}

impl Trader {
    pub(super) fn new(at: Timestamp, terms: TraderTerms) -> Self {
        Self {
            random: terms.seed,
            bid: terms.bid,
            quotes: Vec::new(),
            due: at,
            terms,
        }
    }

    /// Cancels the quotes of the trader.
    pub(super) fn leave(&mut self, book: &mut Book, sink: &mut impl FnMut(BookEvent)) {
        for id in self.quotes.drain(..) {
            if book.order(id).is_some() {
                book.cancel(id, sink);
            }
        }
    }

    /// Takes one step: moves the price, quotes around it, and sometimes trades. `last_order` is the last OrderID
    /// assigned.
    pub(super) fn step(
        &mut self,
        at: Timestamp,
        book: &mut Book,
        last_order: &mut u64,
        sink: &mut impl FnMut(BookEvent),
    ) {
        let mut random = Random::new(self.random);
        let terms = self.terms;
        let pace = SECOND / u64::from(terms.rate.max(1));
        let wait = pace / 2 + random.below(pace);
        self.due = Timestamp(at.0.saturating_add(wait.cast_signed()));
        if takes_orders(book.state()) {
            self.walk(&mut random);
            self.quote(&mut random, book, last_order, sink);
            if random.below(100) < u64::from(terms.trades) {
                self.take(&mut random, book, last_order, sink);
            }
        }
        self.random = random.state();
    }

    /// Moves the price by at most `volatility`. At its limits, the price moves back.
    fn walk(&mut self, random: &mut Random) {
        let TraderTerms {
            volatility,
            lowest,
            highest,
            ..
        } = self.terms;
        let most = volatility.cast_unsigned();
        let step = random.below(2 * most + 1).cast_signed() - volatility;
        let bid = self.bid + step;
        let bid = if bid < lowest {
            lowest + (lowest - bid)
        } else if bid > highest {
            highest - (bid - highest)
        } else {
            bid
        };
        self.bid = bid.clamp(lowest, highest);
    }

    /// The prices that the trader quotes on one side, the best first.
    fn prices(&self, side: Side) -> impl Iterator<Item = i64> + use<> {
        let levels = i64::from(self.terms.levels);
        let (best, step) = match side {
            Side::Buy => (self.bid, -1),
            Side::Sell => (self.bid + self.terms.spread, 1),
        };
        (0..levels).map(move |level| best + step * level)
    }

    /// Cancels quotes at prices that are no longer quoted, and enters missing quotes.
    fn quote(
        &mut self,
        random: &mut Random,
        book: &mut Book,
        last_order: &mut u64,
        sink: &mut impl FnMut(BookEvent),
    ) {
        let mut kept = Vec::new();
        let mut there: Vec<(Side, i64)> = Vec::new();
        for id in &self.quotes {
            let Some(order) = book.order(*id) else {
                continue;
            };
            let (side, price) = (order.side, order.price.unwrap_or_default());
            if self.prices(side).any(|wanted| wanted == price) {
                kept.push(*id);
                there.push((side, price));
            } else {
                book.cancel(*id, sink);
            }
        }
        for side in [Side::Buy, Side::Sell] {
            for price in self.prices(side) {
                if there.contains(&(side, price)) {
                    continue;
                }
                *last_order += 1;
                let quantity = 1 + random.below(self.terms.size);
                let order = EntryOrder::limit(*last_order, side, price, quantity);
                book.enter(order, sink);
                if book.order(*last_order).is_some() {
                    kept.push(*last_order);
                }
            }
        }
        self.quotes = kept;
    }

    /// Trades with orders on the other side, at most up to the price of the trader's own last quote.
    fn take(
        &mut self,
        random: &mut Random,
        book: &mut Book,
        last_order: &mut u64,
        sink: &mut impl FnMut(BookEvent),
    ) {
        if book.state() != BookState::Continuous {
            return;
        }
        let side = if random.below(2) == 0 {
            Side::Buy
        } else {
            Side::Sell
        };
        let limit = self.prices(side.opposite()).last().unwrap_or(self.bid);
        *last_order += 1;
        let quantity = 1 + random.below(self.terms.size);
        let order = EntryOrder::limit(*last_order, side, limit, quantity);
        book.enter(
            order.with_time_in_force(TimeInForce::ImmediateOrCancel),
            sink,
        );
    }
}
