//! The market as bytes, for checkpoints and for the hash of the state: members, instruments, orders, queued reports
//! and lines, then the orders of each book by priority. For an order in a book only its place is written; all other
//! data is in the order itself.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_book::{Book, BookOrder, PriceBand, Side, TimeInForce};
use fixwire_ledger::{Pieces, Put, Wire, put_all, record, state_hash, whole, write_state};
use fixwire_protocol::TimestampWriter;

use crate::config::{state_name, state_of};
use crate::instrument::{DayTrades, Instrument};
use crate::market::trader::Trader;
use crate::market::{Market, Member};
use crate::orders::{Filled, Order, Orders};
use crate::outgoing::Report;
use crate::script::ScriptStep;
use crate::scripted::{Asked, Scripted, ScriptedOrders};
use crate::tmp::copies::ReportCopies;
use crate::tmp::store::TmpStore;

record! {
    Market {
        last_order, last_exec, members, instruments, orders, waiting, scripted, links, copies, traders;
        times = TimestampWriter::new(), tape = None
    }
}
record! { Member { name, dialect, digits } }
record! {
    Order {
        id, member, instrument, ids, account, side, ord_type, time_in_force, quantity, filled,
        notional, display, price, stop, closed, fills;
        pending = None
    }
}
record! { Filled { exec_id, lots, ticks } }
record! { DayTrades { ticks, lots, opening, high, low, volume } }
record! { Report { member, msg_type, body } }
record! { Scripted { script, at, until, is_new, asked; steps = Vec::new() } }
record! { Asked { asking, is_pending, fields } }
record! { Trader { terms, random, bid, quotes, due } }
record! { TmpStore { inbound, outbound, frames } }
record! { ReportCopies { removed, reports } }

/// The place of an order in the queues of its book.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedOrder {
    /// OrderID(37).
    pub(crate) id: u64,
    pub(crate) visible: u64,
    /// Whether the order waits for its stop price.
    pub(crate) waits: bool,
    /// The trader's quote, if the order belongs to a trader; such orders exist in the book only. `None` for a
    /// member's order.
    pub(crate) quote: Option<TraderQuote>,
}

record! { QueuedOrder { id, visible, waits, quote } }

/// A quote of the trader of an instrument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraderQuote {
    pub(crate) instrument: u32,
    pub(crate) buys: bool,
    pub(crate) ticks: i64,
    pub(crate) quantity: u64,
    pub(crate) filled: u64,
}

record! { TraderQuote { instrument, buys, ticks, quantity, filled } }

impl Wire<'_> for Instrument {
    fn put(&self, to: &mut impl Put) {
        let (book, band) = (&self.book, self.book.band());
        (&*self.noted, self.is_gone).put(to);
        state_name(book.state()).put(to);
        (band.low, band.high).put(to);
        (book.last(), book.swing()).put(to);
        self.day.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut instrument = Self::read(Wire::take(from)?)?;
        instrument.is_gone = Wire::take(from)?;
        let book = &mut instrument.book;
        // The book is still empty, so changing its state affects no orders.
        book.set_state(state_of(Wire::take(from)?)?, &mut |_| {});
        let (low, high) = Wire::take(from)?;
        book.set_band(PriceBand { low, high });
        let (last, swing) = Wire::take(from)?;
        book.put_back_last(last, swing);
        instrument.day = Wire::take(from)?;
        Some(instrument)
    }
}

impl Wire<'_> for Orders {
    fn put(&self, to: &mut impl Put) {
        self.remembered_max.put(to);
        put_all(self.all.values(), to);
        self.closed.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let remembered_max = Wire::take(from)?;
        let all: Vec<Order> = Wire::take(from)?;
        let closed: VecDeque<u64> = Wire::take(from)?;
        let count = all.len();
        let all: BTreeMap<u64, Order> = all.into_iter().map(|order| (order.id, order)).collect();
        let is_closed = |id: &u64| all.get(id).is_some_and(|order| order.closed.is_some());
        let closed_count = all.values().filter(|it| it.closed.is_some()).count();
        let fits = all.len() == count && closed.len() == closed_count;
        (fits && closed.iter().all(is_closed)).then(|| Self {
            all,
            closed,
            remembered_max,
            ..Self::default()
        })
    }
}

impl Wire<'_> for ScriptedOrders {
    fn put(&self, to: &mut impl Put) {
        self.all.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut orders = Self::default();
        for (id, mut scripted) in BTreeMap::<u64, Scripted>::take(from)? {
            scripted.steps = ScriptStep::of_note(&scripted.script)?;
            orders.insert(id, scripted);
        }
        Some(orders)
    }
}

impl Market {
    /// A hash of the market.
    pub(crate) fn hash(&self) -> u64 {
        state_hash(|to| self.put_state(to))
    }

    /// Writes the market in pieces.
    pub(crate) fn write(&self, give: &mut dyn FnMut(&[u8])) {
        write_state(give, |to| self.put_state(to));
    }

    fn put_state(&self, to: &mut Pieces<'_>) {
        self.put(to);
        let books = self.instruments.iter().enumerate();
        let orders = books.flat_map(|(index, it)| in_queues(&it.book).map(move |it| (index, it)));
        let queued = orders.map(|(index, order)| QueuedOrder {
            id: order.id,
            visible: order.visible,
            waits: order.stop.is_some(),
            quote: self.is_of_trader(index, order.id).then(|| TraderQuote {
                instrument: index as u32,
                buys: order.side == Side::Buy,
                ticks: order.price.unwrap_or_default(),
                quantity: order.quantity,
                filled: order.filled,
            }),
        });
        queued.collect::<Vec<_>>().put(to);
    }

    /// Reads a market.
    pub(crate) fn read(state: &[u8]) -> Result<Self, String> {
        let read = whole(state).and_then(|(market, queued): (Self, _)| market.complete(queued));
        let market = read.ok_or("the state of the exchange cannot be read")?;
        market.check()?;
        Ok(market)
    }

    /// Computes the parts of the state that are not stored; `None` if the stored parts contradict each other.
    fn complete(mut self, queued: Vec<QueuedOrder>) -> Option<Self> {
        for order in self.orders.iter() {
            self.members.get(order.member as usize)?;
            self.instruments.get(order.instrument as usize)?;
            order.ids.first()?;
        }
        self.orders.name_all();
        for queued in queued {
            if let Some(quote) = queued.quote {
                let is_known = self.is_of_trader(quote.instrument as usize, queued.id);
                let instrument = self.instruments.get_mut(quote.instrument as usize);
                let book = &mut instrument.filter(|_| is_known && !queued.waits)?.book;
                book.put_back(quote.in_book(queued)).ok()?;
                continue;
            }
            let order = self.orders.get(queued.id)?;
            let fits = order.closed.is_none() && (order.stop.is_some() || !queued.waits);
            let in_book = fits.then(|| in_book(order, queued))?;
            let instrument = &mut self.instruments[order.instrument as usize];
            instrument.book.put_back(in_book).ok()?;
        }
        for (member, store) in &self.links {
            self.members.get(*member as usize)?;
            (store.frames.len() <= store.outbound as usize).then_some(())?;
        }
        for (index, trader) in &self.traders {
            self.instruments.get(*index as usize)?;
            let is_inside = (trader.terms.lowest..=trader.terms.highest).contains(&trader.bid);
            (is_inside && trader.terms.is_possible()).then_some(())?;
        }
        let scripted: Vec<u64> = self.scripted.iter().map(|it| it.0).collect();
        for id in scripted {
            self.orders.get(id)?;
            self.restate_pending(id);
        }
        Some(self)
    }

    /// Checks that the books are consistent and contain exactly the open orders.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut in_books = 0;
        for (index, instrument) in self.instruments.iter().enumerate() {
            let book = &instrument.book;
            let whole = book.check();
            whole.map_err(|what| format!("the book of {}: {what}", instrument.symbol))?;
            for order in in_queues(book) {
                if self.is_of_trader(index, order.id) {
                    continue;
                }
                in_books += 1;
                let is_same = |it: &Order| {
                    let quantities = (it.quantity, it.filled) == (order.quantity, order.filled);
                    quantities && it.price == order.price && it.closed.is_none()
                };
                if !self.orders.get(order.id).is_some_and(is_same) {
                    return Err(format!("order {} differs from that in its book", order.id));
                }
            }
        }
        let is_open = |id| Some(self.orders.get(id)?.closed.is_none());
        let scripted: Option<Vec<bool>> = self.scripted.iter().map(|(id, _)| is_open(id)).collect();
        let scripted = scripted.ok_or("a script has no order")?;
        let scripted = scripted.into_iter().filter(|open| *open).count();
        let open = self.orders.open();
        if in_books + scripted != open {
            return Err(format!(
                "{in_books} orders are in the books, {scripted} follow scripts, and {open} are open"
            ));
        }
        Ok(())
    }
}

impl TraderQuote {
    /// A trader's quote, as an order of its book.
    fn in_book(self, queued: QueuedOrder) -> BookOrder {
        BookOrder {
            id: queued.id,
            side: if self.buys { Side::Buy } else { Side::Sell },
            price: Some(self.ticks),
            stop: None,
            quantity: self.quantity,
            filled: self.filled,
            visible: queued.visible,
            display: None,
            time_in_force: TimeInForce::Day,
        }
    }
}

/// The orders of a book by priority: buy orders, then sell orders, then orders that wait for their stop price.
pub(crate) fn in_queues(book: &Book) -> impl Iterator<Item = &BookOrder> {
    let sides = [Side::Buy, Side::Sell];
    let resting = sides.into_iter().flat_map(|side| book.resting(side));
    resting.chain(sides.into_iter().flat_map(|side| book.waiting(side)))
}

/// A member's order, as an order of its book.
pub(crate) fn in_book(order: &Order, queued: QueuedOrder) -> BookOrder {
    BookOrder {
        id: order.id,
        side: if order.side == b'1' {
            Side::Buy
        } else {
            Side::Sell
        },
        price: order.price,
        stop: order.stop.filter(|_| queued.waits),
        quantity: order.quantity,
        filled: order.filled,
        visible: queued.visible,
        display: order.display,
        time_in_force: match order.time_in_force {
            b'1' => TimeInForce::GoodTillCancel,
            b'3' => TimeInForce::ImmediateOrCancel,
            b'4' => TimeInForce::FillOrKill,
            _ => TimeInForce::Day,
        },
    }
}
