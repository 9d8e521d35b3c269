//! Market data of FIX members: MarketDataRequest(V), snapshots (W), updates (X), rejections (Y).
//!
//! ```text
//!   V ---> Y                             rejected
//!   V ---> W for each symbol             snapshot; a subscription goes on:
//!          book changes ---> X or W      in the record of the change
//! ```
//!
//! Subscriptions are not part of the market: they end with the connection, and members subscribe again after a
//! restart. An update is the difference between the book and what was last sent to the member. So when the outbox had
//! no room for an update, the next update still makes the member's book right. Trades are queued, so that the member
//! receives each trade.

pub(crate) mod published_book;
pub(crate) mod request;

use alloc::vec::Vec;
use core::mem;

use fixwire_protocol::{Message, Outbox, Refusal, SessionId, TimestampWriter, tag};

use crate::dialect::Dialect;
use crate::fields::{FieldWriter, each};
use crate::instrument::Instrument;
use crate::market::Market;
use crate::market::tape::{Tape, TapeTrade};
use published_book::{EntryWriter, FeedTerms, MdEntryType, PublishedBook};
use request::{FeedRequest, FeedUpdates, MdReject};

/// Maximum number of active requests of one member.
const MOST: usize = 64;
/// Maximum number of trades that wait for room in the outbox, per symbol of a request; of more trades the oldest are
/// dropped.
const TRADES_MAX: usize = 10_000;
/// Maximum number of trades in one update.
const TRADES_EACH: usize = 20;
/// Room in the outbox that updates leave free for notes, in bytes.
const NOTE_ROOM: usize = 1024;

/// Market data requests of all members.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    pub(crate) feeds: Vec<Feed>,
    times: TimestampWriter,
}

/// A market data request of a member.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) to: SessionId,
    /// MDReqID(262).
    pub(crate) id: Vec<u8>,
    pub(crate) terms: FeedTerms,
    pub(crate) updates: FeedUpdates,
    pub(crate) books: Vec<FeedBook>,
}

/// An instrument of a market data request.
#[derive(Debug)]
pub(crate) struct FeedBook {
    /// Index of the instrument.
    pub(crate) index: usize,
    /// The book as last sent to the member; `None` while the snapshot waits for room in the outbox.
    pub(crate) sent: Option<PublishedBook>,
    /// Whether the book may differ from what was last sent to the member.
    pub(crate) is_stale: bool,
    /// Trades that are not sent yet.
    pub(crate) trades: Vec<TapeTrade>,
}

impl Feeds {
    /// Answers a MarketDataRequest(V). [`publish`](Self::publish) sends the snapshots.
    pub(crate) fn request(
        &mut self,
        market: &mut Market,
        from: SessionId,
        dialect: Dialect,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = message.get(tag::MD_REQ_ID).unwrap_or_default();
        let request = request::read(market, dialect, message)?;
        let own = |feed: &&Feed| feed.to == from;
        let reject = match request {
            Ok(FeedRequest::End) => {
                self.feeds.retain(|feed| feed.to != from || feed.id != id);
                self.follow(market);
                return Ok(());
            }
            Ok(_) if self.has(from, id) => {
                MdReject::new(1, "MDReqID(262) is in use: give each request a new one")
            }
            Ok(_) if self.feeds.iter().filter(own).count() >= MOST => {
                MdReject::new(2, "Too many subscriptions: end one of them")
            }
            Ok(FeedRequest::Begin {
                terms,
                updates,
                instruments,
            }) => {
                let book = |index| FeedBook {
                    index,
                    sent: None,
                    is_stale: false,
                    trades: Vec::new(),
                };
                self.feeds.push(Feed {
                    to: from,
                    id: id.to_vec(),
                    terms,
                    updates,
                    books: instruments.into_iter().map(book).collect(),
                });
                self.follow(market);
                return Ok(());
            }
            Err(reject) => reject,
        };
        let mut answer = outbox.begin(from, b"Y");
        answer
            .field(tag::MD_REQ_ID, id)
            .char(tag::MD_REQ_REJ_REASON, b'0' + reject.reason)
            .field(tag::TEXT, reject.text.as_bytes());
        answer.finish().map_err(|_| Refusal::NotAvailable)
    }

    /// Whether a stored message should be resent. Market data of a request that has ended is useless to the member
    /// and is not resent.
    pub(crate) fn resends(&self, to: SessionId, stored: &[u8]) -> bool {
        let of = |wanted| {
            let value = each(stored).find(|(tag, _)| *tag == wanted);
            value.map(|(_, value)| &stored[value])
        };
        match of(tag::MSG_TYPE) {
            Some(b"W" | b"X") => self.has(to, of(tag::MD_REQ_ID).unwrap_or_default()),
            _ => true,
        }
    }

    fn has(&self, to: SessionId, id: &[u8]) -> bool {
        let mut feeds = self.feeds.iter();
        feeds.any(|feed| feed.to == to && feed.id == id)
    }

    /// Ends the requests of a disconnected member.
    pub(crate) fn stop(&mut self, of: SessionId, market: &mut Market) {
        self.feeds.retain(|feed| feed.to != of);
        self.follow(market);
    }

    /// Sends snapshots and updates; returns false if the outbox had no room for all of them.
    pub(crate) fn publish(&mut self, market: &mut Market, outbox: &mut Outbox) -> bool {
        let Some(tape) = &mut market.tape else {
            return true;
        };
        let tape = mem::take(tape);
        let mut is_done = true;
        for feed in &mut self.feeds {
            feed.record(&tape);
            is_done &= feed.send(market, &mut self.times, outbox);
        }
        self.feeds.retain(|feed| !feed.is_over());
        self.follow(market);
        is_done
    }

    /// Makes the market record its changes while there are requests for market data.
    fn follow(&self, market: &mut Market) {
        if self.feeds.is_empty() {
            market.tape = None;
        } else {
            market.tape.get_or_insert_default();
        }
    }
}

impl Feed {
    fn record(&mut self, tape: &Tape) {
        let has_trades =
            self.updates == FeedUpdates::Incremental && self.terms.has(MdEntryType::Trade);
        for book in self.books.iter_mut().filter(|it| it.sent.is_some()) {
            let index = book.index as u32;
            if !tape.touched.contains(&index) {
                continue;
            }
            book.is_stale = true;
            if has_trades {
                let own = tape.trades.iter().filter(|it| it.instrument == index);
                book.trades.extend(own);
                let surplus = book.trades.len().saturating_sub(TRADES_MAX);
                book.trades.drain(..surplus);
            }
        }
    }

    fn send(&mut self, market: &Market, times: &mut TimestampWriter, outbox: &mut Outbox) -> bool {
        for place in 0..self.books.len() {
            let book = &self.books[place];
            if book.sent.is_some() && !book.is_stale {
                continue;
            }
            let instrument = &market.instruments[book.index];
            let now = PublishedBook::of(instrument, &self.terms);
            let is_sent = match &book.sent {
                None => self.snapshot(instrument, &now, times, outbox),
                Some(before) if self.updates == FeedUpdates::Full => {
                    *before == now || self.snapshot(instrument, &now, times, outbox)
                }
                Some(_) => self.update(place, instrument, &now, times, outbox),
            };
            if !is_sent {
                return false;
            }
            let book = &mut self.books[place];
            (book.sent, book.is_stale) = (Some(now), false);
        }
        true
    }

    /// Sends trades, and with the last trades the changes of the book. Each message has a limited number of trades,
    /// so that it does not become too long.
    fn update(
        &mut self,
        place: usize,
        instrument: &Instrument,
        now: &PublishedBook,
        times: &mut TimestampWriter,
        outbox: &mut Outbox,
    ) -> bool {
        loop {
            let book = &self.books[place];
            let Some(before) = &book.sent else {
                return true;
            };
            let part = book.trades.len().min(TRADES_EACH);
            let is_last = part == book.trades.len();
            let after = if is_last { now } else { before };
            let mut entries = self.entries(instrument, times);
            entries.update(before, after, &book.trades[..part]);
            let (count, fields) = (entries.count, entries.fields);
            if count > 0 && !self.write(b"X", None, count, &fields, outbox) {
                return false;
            }
            self.books[place].trades.drain(..part);
            if is_last {
                return true;
            }
        }
    }

    fn snapshot(
        &self,
        instrument: &Instrument,
        now: &PublishedBook,
        times: &mut TimestampWriter,
        outbox: &mut Outbox,
    ) -> bool {
        let mut entries = self.entries(instrument, times);
        entries.snapshot(now);
        let (count, fields) = (entries.count, entries.fields);
        self.write(b"W", Some(instrument), count, &fields, outbox)
    }

    fn entries<'a>(
        &'a self,
        instrument: &'a Instrument,
        times: &'a mut TimestampWriter,
    ) -> EntryWriter<'a> {
        EntryWriter {
            terms: &self.terms,
            instrument,
            times,
            fields: FieldWriter::default(),
            count: 0,
        }
    }

    fn write(
        &self,
        msg_type: &[u8],
        instrument: Option<&Instrument>,
        count: u64,
        entries: &FieldWriter,
        outbox: &mut Outbox,
    ) -> bool {
        let mut body = FieldWriter::default();
        body.put(tag::MD_REQ_ID, &self.id);
        if let Some(instrument) = instrument {
            body.put(tag::SYMBOL, instrument.symbol.as_bytes());
        }
        body.uint(tag::NO_MD_ENTRIES, count);
        body.0.extend_from_slice(&entries.0);
        if !outbox.has_room(3, body.0.len() + NOTE_ROOM) {
            return false;
        }
        let mut message = outbox.begin(self.to, msg_type);
        message.encoded(&body.0);
        message.finish().is_ok()
    }

    /// Whether the request was for snapshots only, and all of them were sent.
    fn is_over(&self) -> bool {
        self.updates == FeedUpdates::Never && self.books.iter().all(|it| it.sent.is_some())
    }
}
