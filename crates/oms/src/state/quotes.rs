//! The quotes whose orders are in memory. A quote is two orders with consecutive numbers: its bid, then its offer.

use alloc::collections::BTreeMap;

use crate::state::inquiries::Inquiries;
use crate::state::orders::{Order, Orders};
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::value::{Number, Text};
use fixwire_ledger::{Put, Wire, record};

/// Which side of a quote an order is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum QuoteSide {
    /// The order belongs to no quote.
    #[default]
    None,
    /// The bid.
    Bid,
    /// The offer.
    Offer,
}

impl Order {
    /// The number of the bid of the order's quote, which identifies the quote; `None` if the order belongs to no quote.
    #[must_use]
    pub fn quote(&self) -> Option<Number> {
        match self.quote_side {
            QuoteSide::None => None,
            QuoteSide::Bid => Some(self.number),
            QuoteSide::Offer => Some(self.number - 1),
        }
    }

    /// The number of the other side of the order's quote.
    #[must_use]
    pub fn other_side(&self) -> Option<Number> {
        match self.quote_side {
            QuoteSide::None => None,
            QuoteSide::Bid => Some(self.number + 1),
            QuoteSide::Offer => Some(self.number - 1),
        }
    }
}

/// A quote.
#[derive(Clone, Debug)]
pub(crate) struct KnownQuote {
    pub session: SessionNo,
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    /// QuoteID(117).
    pub id: Text,
    /// Number of orders of the quote that are in memory.
    pub(crate) orders: u8,
}

record! { KnownQuote { session, account, instrument, id; orders = 0 } }

/// All quotes, by the number of their bid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quotes {
    pub(crate) all: BTreeMap<Number, KnownQuote>,
    /// The last quote, among those in memory, of each session, account and instrument.
    pub(crate) current: BTreeMap<(SessionNo, AccountNo, InstrumentNo), Number>,
    /// Price inquiries that wait for their answer.
    pub(crate) inquiries: Inquiries,
}

impl Quotes {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn get(&self, bid: Number) -> Option<&KnownQuote> {
        self.all.get(&bid)
    }

    /// The last quote of a session for an account and instrument.
    pub(crate) fn current(
        &self,
        session: SessionNo,
        account: AccountNo,
        instrument: InstrumentNo,
    ) -> Option<Number> {
        self.current.get(&(session, account, instrument)).copied()
    }

    /// The last quotes of a session: for one instrument, or for all.
    pub(crate) fn of_session(
        &self,
        session: SessionNo,
        instrument: Option<InstrumentNo>,
    ) -> impl Iterator<Item = Number> {
        let first = (session, AccountNo::new(0), InstrumentNo::new(0));
        let its = self.current.range(first..);
        let its = its.take_while(move |((of, ..), _)| *of == session);
        let its = its.filter(move |((.., of), _)| instrument.is_none_or(|it| it == *of));
        its.map(|(_, bid)| *bid)
    }

    /// Links two orders as a quote; `None` when they cannot be the two sides of a quote.
    pub(crate) fn link(&mut self, orders: &mut Orders, bid: Number, id: &[u8]) -> Option<()> {
        let (first, second) = (orders.get(bid)?, orders.get(bid + 1)?);
        let of = |order: &Order| (order.session, order.account, order.instrument);
        let is_free = |order: &Order| order.quote_side == QuoteSide::None;
        let fits = of(first) == of(second) && first.side.is_buy() && !second.side.is_buy();
        if !fits || !is_free(first) || !is_free(second) {
            return None;
        }
        let quote = KnownQuote {
            session: first.session,
            account: first.account,
            instrument: first.instrument,
            id: Text::new(id),
            orders: 0,
        };
        self.add(orders, bid, quote);
        Some(())
    }

    fn add(&mut self, orders: &mut Orders, bid: Number, mut quote: KnownQuote) {
        quote.orders = 0;
        for (number, side) in [(bid, QuoteSide::Bid), (bid + 1, QuoteSide::Offer)] {
            if let Some(order) = orders.get_mut(number) {
                order.quote_side = side;
                quote.orders += 1;
            }
        }
        let key = (quote.session, quote.account, quote.instrument);
        self.current.insert(key, bid);
        self.all.insert(bid, quote);
    }

    /// Whether an order that is not in memory may be a side of the quotes whose other side is.
    pub(crate) fn may_have(&self, order: &Order) -> bool {
        let is = (order.session, order.account, order.instrument);
        let sides = [(order.number, true), (order.number.wrapping_sub(1), false)];
        sides.into_iter().all(|(bid, buys)| {
            self.all.get(&bid).is_none_or(|quote| {
                let of = (quote.session, quote.account, quote.instrument);
                is == of && order.side.is_buy() == buys && quote.orders == 1
            })
        })
    }

    /// Gives an order that comes back into memory its side of the quote whose other side is in memory.
    pub(crate) fn recall(&mut self, order: &mut Order) {
        let sides = [
            (order.number, QuoteSide::Bid),
            (order.number.wrapping_sub(1), QuoteSide::Offer),
        ];
        for (bid, side) in sides {
            if let Some(quote) = self.all.get_mut(&bid) {
                quote.orders += 1;
                order.quote_side = side;
            }
        }
    }

    /// Handles the removal of an order of a quote from memory. The quote is removed with its second order.
    pub(crate) fn forget(&mut self, bid: Number) {
        let Some(quote) = self.all.get_mut(&bid) else {
            return;
        };
        quote.orders = quote.orders.saturating_sub(1);
        if quote.orders > 0 {
            return;
        }
        let key = (quote.session, quote.account, quote.instrument);
        self.all.remove(&bid);
        if self.current.get(&key) != Some(&bid) {
            return;
        }
        // The latest earlier quote of the same key becomes the last one again, as it would after a checkpoint is read.
        let is_its = |quote: &KnownQuote| (quote.session, quote.account, quote.instrument) == key;
        let mut earlier = self.all.iter().rev();
        match earlier.find(|(_, quote)| is_its(quote)) {
            Some((earlier, _)) => self.current.insert(key, *earlier),
            None => self.current.remove(&key),
        };
    }

    pub(crate) fn put(&self, to: &mut impl Put) {
        self.all.put(to);
        self.inquiries.put(to);
    }

    /// Reads the quotes of a checkpoint, after its orders.
    pub(crate) fn take(orders: &mut Orders, from: &mut &[u8]) -> Option<Self> {
        let mut quotes = Self::default();
        for (bid, quote) in BTreeMap::<Number, KnownQuote>::take(from)? {
            let of = (quote.session, quote.account, quote.instrument);
            for (number, buys) in [(bid, true), (bid.checked_add(1)?, false)] {
                let fits = orders.get(number).is_none_or(|order| {
                    let is = (order.session, order.account, order.instrument);
                    is == of && order.side.is_buy() == buys && order.quote_side == QuoteSide::None
                });
                fits.then_some(())?;
            }
            quotes.add(orders, bid, quote);
            quotes.get(bid).filter(|quote| quote.orders > 0)?;
        }
        quotes.inquiries = Inquiries::take(from)?;
        Some(quotes)
    }
}
