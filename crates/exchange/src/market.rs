//! The market: members, instruments with their books, orders, and pending reports.
//!
//! Only [`Market::apply`] changes the market, by applying an event: for a live request, at recovery from the journal,
//! and for a checkpoint.

mod follow;
mod request;
mod settle;
pub(crate) mod tape;
mod terms;
mod tmp;
mod trade_change;
pub(crate) mod trader;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::{BookEvent, CancelReason};
use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

use crate::config::state_of;
use crate::dialect::{Dialect, Kind};
use crate::event::{MarketEvent, MemberRequest};
use crate::instrument::{Instrument, units};
use crate::orders::Orders;
use crate::outgoing::Report;
use crate::report::{Entry, Said};
use crate::scripted::ScriptedOrders;
use crate::state::in_queues;
use crate::tmp::copies::ReportCopies;
use crate::tmp::store::TmpStore;
use tape::Tape;
use trader::Trader;

/// The state of the market.
#[derive(Clone, Debug, Default)]
pub(crate) struct Market {
    pub(crate) members: Vec<Member>,
    pub(crate) instruments: Vec<Instrument>,
    pub(crate) orders: Orders,
    /// Scripted orders, which are in no book.
    pub(crate) scripted: ScriptedOrders,
    /// Traders, by the index of the instrument that each quotes.
    pub(crate) traders: BTreeMap<u32, Trader>,
    /// The last OrderID(37) and the last ExecID(17) assigned.
    pub(crate) last_order: u64,
    pub(crate) last_exec: u64,
    /// Reports that are not written yet because the outbox had no room.
    pub(crate) waiting: VecDeque<Report>,
    /// MsgSeqNums and kept frames of TMP lines, by member.
    pub(crate) links: BTreeMap<u32, TmpStore>,
    /// Reports for lines that subscribe to copies; `None` if no line subscribes.
    pub(crate) copies: Option<ReportCopies>,
    /// Writes TransactTime(60).
    pub(crate) times: TimestampWriter,
    /// Changes of the books for market data; `None` while no member subscribes.
    pub(crate) tape: Option<Tape>,
}

/// A member, which is a session or a TMP line, as recorded in notes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) dialect: Dialect,
    /// Number of fraction digits of TransactTime(60).
    pub(crate) digits: u8,
}

/// A note cannot be applied: the journal belongs to another exchange or to a later version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct UnreadableNote;

impl Market {
    /// Reads a note and applies its event.
    pub(crate) fn replay(&mut self, note: &[u8]) -> Result<(), UnreadableNote> {
        self.apply(MarketEvent::of(note).ok_or(UnreadableNote)?)
    }

    /// Applies an event to the market.
    pub(crate) fn apply(&mut self, event: MarketEvent<'_>) -> Result<(), UnreadableNote> {
        match event {
            MarketEvent::Limits { remembered_max } => {
                self.orders.set_remembered_max(remembered_max)
            }
            MarketEvent::Member {
                number,
                dialect,
                digits,
                name,
            } => {
                let member = Member {
                    name: name.to_string(),
                    dialect,
                    digits,
                };
                let number = number as usize;
                if number == self.members.len() {
                    self.members.push(member);
                } else {
                    *self.members.get_mut(number).ok_or(UnreadableNote)? = member;
                }
            }
            MarketEvent::Instrument { at, noted } => self.list(at, noted).ok_or(UnreadableNote)?,
            MarketEvent::Gone { at, symbol } => {
                let index = self.instrument(symbol.as_bytes()).ok_or(UnreadableNote)?;
                self.clear(index, at, "The instrument is no longer traded");
                self.instruments[index].is_gone = true;
            }
            MarketEvent::Request { request } => {
                self.known(&request)?;
                self.request(&request);
            }
            MarketEvent::Scripted { request, script } => {
                self.known(&request)?;
                self.enter_scripted(&request, script)?;
            }
            MarketEvent::Step { at, order } => self.step(at, order),
            MarketEvent::Status { at, order } => self.report(at, order, &Said::of(Kind::Status)),
            MarketEvent::State { at, state, symbol } => {
                let state = state_of(state).ok_or(UnreadableNote)?;
                self.run(symbol, at, |instrument, sink| {
                    instrument.set_state(state, &mut |event| sink.push(event));
                })?;
            }
            MarketEvent::TradeChange { at, exec_id, to } => self.change_trade(at, exec_id, to)?,
            MarketEvent::Uncross { at, symbol } => {
                self.run(symbol, at, |instrument, sink| {
                    instrument.book.uncross(&mut |event| sink.push(event));
                })?;
            }
            MarketEvent::Band { low, high, symbol } => {
                let index = self.instrument(symbol.as_bytes()).ok_or(UnreadableNote)?;
                let instrument = &mut self.instruments[index];
                let low = units(low, instrument.tick).map_err(|_| UnreadableNote)?;
                let high = units(high, instrument.tick).map_err(|_| UnreadableNote)?;
                instrument
                    .book
                    .set_band(fixwire_book::PriceBand { low, high });
            }
            MarketEvent::Written { at, count } => {
                let end = at
                    .checked_add(count)
                    .and_then(|end| usize::try_from(end).ok());
                let end = end.filter(|end| *end <= self.waiting.len());
                let end = end.ok_or(UnreadableNote)?;
                self.waiting.drain(at as usize..end);
            }
            MarketEvent::Received { member, inbound } => self.tmp_received(member, inbound)?,
            MarketEvent::Kept {
                member,
                msg_seq_num,
                frame,
            } => self.tmp_kept(member, msg_seq_num, frame.0)?,
            MarketEvent::Copies {} => {
                self.copies.get_or_insert_default();
            }
            MarketEvent::Trader { at, symbol, terms } => {
                let index = self.instrument(symbol.as_bytes()).ok_or(UnreadableNote)?;
                self.dismiss(index, at);
                let trader = terms.map(|terms| (index as u32, Trader::new(at, terms)));
                self.traders.extend(trader);
            }
            MarketEvent::TraderStep { at, symbol } => {
                let index = self.instrument(symbol.as_bytes()).ok_or(UnreadableNote)?;
                let trader = self.traders.get_mut(&(index as u32));
                let trader = trader.ok_or(UnreadableNote)?;
                let (book, last_order) = (&mut self.instruments[index].book, &mut self.last_order);
                let mut events = Vec::new();
                trader.step(at, book, last_order, &mut |event| events.push(event));
                self.settle(at, index, &events, None);
            }
        }
        for id in self.orders.forget() {
            self.scripted.remove(id);
        }
        Ok(())
    }

    /// Checks that the member of a request exists.
    fn known(&self, request: &MemberRequest<'_>) -> Result<(), UnreadableNote> {
        let known = self.members.get(request.member as usize);
        known.map(drop).ok_or(UnreadableNote)
    }

    /// The number of the member with this name; `None` for a new member.
    pub(crate) fn member(&self, name: &str) -> Option<u32> {
        let index = self.members.iter().position(|it| it.name == name);
        index.and_then(|index| u32::try_from(index).ok())
    }

    /// The index of the instrument with this symbol.
    pub(crate) fn instrument(&self, symbol: &[u8]) -> Option<usize> {
        let is = |it: &Instrument| it.symbol.as_bytes() == symbol && !it.is_gone;
        self.instruments.iter().position(is)
    }

    /// Applies the note of an instrument. If tick or lot of the instrument has changed, all its orders are cancelled,
    /// because their prices or quantities would no longer fit. Otherwise only settings that changed take effect, so
    /// that values set by an operator are kept.
    fn list(&mut self, at: Timestamp, noted: &str) -> Option<()> {
        let mut new = Instrument::read(noted)?;
        let is = |it: &Instrument| it.symbol == new.symbol;
        let Some(index) = self.instruments.iter().position(is) else {
            self.instruments.push(new);
            return Some(());
        };
        let old = &self.instruments[index];
        if old.is_gone || old.tick != new.tick || old.lot != new.lot {
            self.clear(index, at, "The tick or lot of the instrument has changed");
            self.instruments[index] = new;
            return Some(());
        }
        let before = Instrument::read(&old.noted)?;
        let instrument = &mut self.instruments[index];
        core::mem::swap(&mut instrument.noted, &mut new.noted);
        core::mem::swap(&mut instrument.legs, &mut new.legs);
        let book = &mut instrument.book;
        book.set_reference(new.book.reference());
        book.set_orders_max(new.book.orders_max());
        if new.book.band() != before.book.band() {
            book.set_band(new.book.band());
        }
        let mut events = Vec::new();
        if new.book.state() != before.book.state() {
            instrument.set_state(new.book.state(), &mut |event| events.push(event));
        }
        self.settle(at, index, &events, None);
        Some(())
    }

    /// Removes the trader of an instrument, and cancels its quotes.
    fn dismiss(&mut self, index: usize, at: Timestamp) {
        let Some(mut trader) = self.traders.remove(&(index as u32)) else {
            return;
        };
        let mut events = Vec::new();
        let book = &mut self.instruments[index].book;
        trader.leave(book, &mut |event| events.push(event));
        self.settle(at, index, &events, None);
    }

    /// Whether an order in the book of an instrument belongs to the instrument's trader.
    pub(crate) fn is_of_trader(&self, index: usize, order: u64) -> bool {
        let trader = self.traders.get(&(index as u32));
        trader.is_some_and(|trader| trader.quotes.contains(&order))
    }

    /// Cancels all orders of an instrument.
    fn clear(&mut self, index: usize, at: Timestamp, text: &str) {
        self.dismiss(index, at);
        let book = &self.instruments[index].book;
        let ids: Vec<u64> = in_queues(book).map(|order| order.id).collect();
        for id in ids {
            let book = &mut self.instruments[index].book;
            let mut leaves = 0;
            book.cancel(id, &mut |event| {
                if let BookEvent::Cancelled { leaves: left, .. } = event {
                    leaves = left;
                }
            });
            debug_assert!(leaves > 0, "an order in the book has something left");
            self.cancelled(
                at,
                id,
                (CancelReason::Requested, Entry::default()),
                text,
                None,
            );
        }
        self.clear_scripted(index, at, text);
        self.settle(at, index, &[], None);
    }

    /// Applies an operator command to an instrument and reports the resulting events.
    fn run(
        &mut self,
        symbol: &str,
        at: Timestamp,
        act: impl FnOnce(&mut Instrument, &mut Vec<BookEvent>),
    ) -> Result<(), UnreadableNote> {
        let index = self.instrument(symbol.as_bytes()).ok_or(UnreadableNote)?;
        let mut events = Vec::new();
        act(&mut self.instruments[index], &mut events);
        self.settle(at, index, &events, None);
        Ok(())
    }

    /// TransactTime(60), with the precision that is configured for the member.
    fn time(&mut self, member: u32, at: Timestamp) -> Vec<u8> {
        transact_time(&mut self.times, &self.members, member, at).to_vec()
    }

    /// The dialect of a member. The existence of the member was checked when the note was read.
    fn dialect(&self, member: u32) -> Dialect {
        let member = self.members.get(member as usize);
        member.map_or(Dialect::Fix44, |it| it.dialect)
    }
}

/// TransactTime(60), as [`Market::time`] gives it.
fn transact_time<'a>(
    times: &'a mut TimestampWriter,
    members: &[Member],
    member: u32,
    at: Timestamp,
) -> &'a [u8] {
    let digits = members.get(member as usize).map_or(0, |it| it.digits);
    times.format(at, precision(digits))
}

/// Number of fraction digits of a time precision.
pub(crate) fn digits(precision: Precision) -> u8 {
    match precision {
        Precision::Seconds => 0,
        Precision::Millis => 3,
        Precision::Micros => 6,
        Precision::Nanos => 9,
    }
}

pub(crate) fn precision(digits: u8) -> Precision {
    match digits {
        0 => Precision::Seconds,
        6 => Precision::Micros,
        9 => Precision::Nanos,
        _ => Precision::Millis,
    }
}
