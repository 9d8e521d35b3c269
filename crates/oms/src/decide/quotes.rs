//! Two-sided quotes. One request creates two orders, which are sent together and are independent of each other
//! afterwards.
//!
//! ```text
//!   Quote(S) > both sides pass the controls > Taken bid, Taken offer, Quoted
//!            > the quote before it: QuotesWithdrawn, a cancel of each side
//!            > QuoteSent: R09 over TMP, two NewOrderSingle(D) over FIX
//! ```

use fixwire_protocol::Decimal;

use crate::decide::core::{Accepted, Core, NewOrder, Sink};
use crate::decide::risk;
use crate::state::conditions::Terms;
use crate::state::event::{OrderEvent, QuoteEvent, RequestEvent};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::fields::carried::CarriedFields;
use crate::values::ids::{InstrumentNo, Party, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::value::{Effect, Number, OrderType, Side, Text, TimeInForce};

/// Quote(S); `None` for values that could not be read.
#[derive(Clone, Copy, Debug)]
pub struct NewQuote<'a> {
    /// The client's session, by its number in the state.
    pub session: SessionNo,
    /// QuoteID(117).
    pub id: &'a [u8],
    /// Account(1); empty for none.
    pub account: &'a [u8],
    /// Symbol(55).
    pub symbol: &'a [u8],
    /// BidPx(132) and BidSize(134).
    pub bid: (Decimal, Decimal),
    /// OfferPx(133) and OfferSize(135).
    pub offer: (Decimal, Decimal),
    /// TimeInForce(59), when it is supported.
    pub tif: Option<TimeInForce>,
    /// Whether QuoteType(537) is tradeable, or missing.
    pub is_tradeable: bool,
}

/// QuoteCancel(Z).
#[derive(Clone, Copy, Debug)]
pub struct QuoteCancel<'a> {
    /// The client's session, by its number in the state.
    pub session: SessionNo,
    /// QuoteID(117).
    pub id: &'a [u8],
    /// QuoteCancelType(298): 1 for one symbol, 4 for all quotes, 5 for one quote; other values are not supported.
    pub kind: u8,
    /// Symbol(55) of the request's first entry; empty for none.
    pub symbol: &'a [u8],
    /// Whether the request has further symbols, which the OMS does not support.
    pub has_more: bool,
}

/// The ClOrdID(11) of one side of a quote: QuoteID(117), followed by `/B` for the bid or `/O` for the offer.
struct SideId {
    bytes: [u8; Text::MAX],
    len: usize,
}

impl SideId {
    /// Maximum length of QuoteID(117), in bytes.
    const MOST: usize = Text::MAX - 2;

    fn new(quote: &[u8], side: u8) -> Self {
        let mut bytes = [0; Text::MAX];
        let len = quote.len().min(Self::MOST);
        bytes[..len].copy_from_slice(&quote[..len]);
        bytes[len..len + 2].copy_from_slice(&[b'/', side]);
        Self {
            bytes,
            len: len + 2,
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl NewQuote<'_> {
    /// Maximum length of QuoteID(117), in bytes.
    pub const ID_MOST: usize = SideId::MOST;

    fn side<'a>(&'a self, id: &'a SideId, side: Side) -> NewOrder<'a> {
        let (price, quantity) = if side.is_buy() { self.bid } else { self.offer };
        NewOrder {
            session: self.session,
            id: id.bytes(),
            account: self.account,
            symbol: self.symbol,
            side: Some(side),
            kind: Some(OrderType::Limit),
            tif: self.tif,
            price: Some(price),
            stop: None,
            quantity,
            until: None,
            effect: Some(Effect::Netting),
            is_located: false,
            own_number: b"",
            route: None,
            terms: Terms::NONE,
        }
    }
}

impl Core {
    /// Handles a client's quote. Both sides must pass all controls; otherwise neither side is accepted.
    pub fn new_quote(&mut self, at: i64, quote: &NewQuote<'_>, sink: &mut impl Sink) {
        self.new_quote_with(at, quote, CarriedFields::NONE, sink);
    }

    /// Handles a client's quote whose two orders carry fields to the venue.
    pub(crate) fn new_quote_with(
        &mut self,
        at: i64,
        quote: &NewQuote<'_>,
        fields: CarriedFields<'_>,
        sink: &mut impl Sink,
    ) {
        let ids = [b'B', b'O'].map(|side| SideId::new(quote.id, side));
        let sides = [
            quote.side(&ids[0], Side::Buy),
            quote.side(&ids[1], Side::Sell),
        ];
        let former = self.former(quote);
        if let Err(reason) = self.check_quote(at, quote, &sides, former) {
            return self.refuse_quote(at, quote, reason, sink);
        }
        let bid = self.state.last + 1;
        for (number, side) in (bid..).zip(&sides) {
            // The first side is already an order, so the second side is checked again together with the first one.
            match self.accept_side(at, side, former) {
                Ok(event) => {
                    self.emit(at, &event, sink);
                    self.carry(at, number, fields, sink);
                }
                Err(reason) => {
                    if number > bid {
                        self.reject_unsent_for(at, bid, reason, sink);
                    }
                    return self.refuse_quote(at, quote, reason, sink);
                }
            }
        }
        let id = quote.id;
        self.emit(
            at,
            &OrderEvent::Quote(QuoteEvent::Quoted { order: bid, id }),
            sink,
        );
        if let Some(reason) = self.guard_order(at, bid, sink) {
            return self.reject_sides(at, bid, reason, sink);
        }
        let line = former.and_then(|former| self.withdraw_former(at, former, sink));
        self.send_quote(at, bid, line, sink);
    }

    /// The quote that a new quote replaces: the last quote of the same session, account and symbol, if one of its sides
    /// is open.
    fn former(&self, quote: &NewQuote<'_>) -> Option<Number> {
        let state = &self.state;
        if state.quotes.is_empty() {
            return None;
        }
        let default = self.user(quote.session).ok()?.default_account.as_ref();
        let account = match (quote.account, default) {
            (b"", Some(default)) => default.as_bytes(),
            (account, _) => account,
        };
        let account = state.accounts().find(account)?;
        let instrument = state.instruments().find(quote.symbol)?;
        let former = state.quotes.current(quote.session, account, instrument)?;
        let mut sides = [former, former + 1].into_iter();
        sides.any(|side| state.is_open(side)).then_some(former)
    }

    fn check_quote(
        &self,
        at: i64,
        quote: &NewQuote<'_>,
        sides: &[NewOrder<'_>; 2],
        former: Option<Number>,
    ) -> Result<(), Reason> {
        if !quote.is_tradeable {
            return Err(Reason::of(Why::Unsupported));
        }
        for side in sides {
            self.accept_side(at, side, former)?;
        }
        let (bid, offer) = (quote.bid.0, quote.offer.0);
        if bid >= offer {
            return Err(Reason::of(Why::QuoteCrossed));
        }
        Ok(())
    }

    /// The event that accepts a side, if the side passes all controls. The orders of the replaced quote still count for
    /// the controls, because their cancels may be too late; only RC16 ignores these orders.
    fn accept_side<'a>(
        &self,
        at: i64,
        side: &NewOrder<'a>,
        former: Option<Number>,
    ) -> Result<OrderEvent<'a>, Reason> {
        let is_buy = side.side.is_some_and(Side::is_buy);
        let opposite = former.map_or(0, |former| former + u64::from(is_buy));
        let Accepted { proposal, hold, .. } = self.accept_as::<true>(at, side, opposite)?;
        Ok(OrderEvent::Request(RequestEvent::Taken {
            order: self.state.last + 1,
            session: proposal.session,
            account: proposal.account,
            instrument: proposal.instrument,
            side: proposal.side,
            kind: proposal.kind,
            tif: proposal.tif,
            price: proposal.price,
            stop: 0,
            hold,
            quantity: proposal.quantity,
            until: None,
            effect: proposal.effect,
            id: side.id,
        }))
    }

    pub(crate) fn refuse_quote(
        &mut self,
        at: i64,
        quote: &NewQuote<'_>,
        reason: Reason,
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Quote(QuoteEvent::QuoteRefused {
            session: quote.session,
            kind: b'S',
            id: quote.id,
            reason,
        });
        self.emit(at, &event, sink);
        self.guard(at, Party::of_session(quote.session), sink);
    }

    /// Cancels the quote that a new quote replaces. Returns the session of the replaced quote: if the new quote is sent
    /// on the same session, the venue gets the cancels first.
    fn withdraw_former(
        &mut self,
        at: i64,
        former: Number,
        sink: &mut impl Sink,
    ) -> Option<SessionNo> {
        let orders = self.state.open_of([former]);
        let first = self.state.orders().get(*orders.first()?)?;
        let (session, line) = (first.session, first.line());
        let event = OrderEvent::Quote(QuoteEvent::QuotesWithdrawn {
            session,
            instrument: None,
            quote: Some(former),
            kind: 0,
            orders: orders.len() as u64,
            id: b"",
        });
        self.emit(at, &event, sink);
        for order in orders {
            self.cancel_now(at, order, sink);
        }
        line
    }

    /// Sends both sides of a new quote, queues them, or rejects them.
    fn send_quote(&mut self, at: i64, bid: Number, line: Option<SessionNo>, sink: &mut impl Sink) {
        let Some(order) = self.state.orders().get(bid) else {
            return;
        };
        let (party, instrument) = (order.party(), order.instrument);
        let Some(group) = self.lines.group(instrument) else {
            return self.reject_sides(at, bid, Reason::of(Why::NoRoute), sink);
        };
        let waits = !self.lines.groups[group].orders.is_empty();
        let work = &self.work;
        let leaving = |line| work.is_leaving(line);
        let line = if waits {
            Err((Why::Busy, None))
        } else {
            self.lines
                .choose_for_quote(&self.state, at, group, party, line, leaving)
        };
        match line {
            Ok(line) => self.send_quote_on(at, bid, line, sink),
            Err(_) if self.lines.groups[group].patience.is_some() => {
                for number in [bid, bid + 1] {
                    self.emit(
                        at,
                        &OrderEvent::Request(RequestEvent::Queued { number }),
                        sink,
                    );
                    self.lines.wait_for_group(group, number, None);
                }
            }
            Err((why, _)) => self.reject_sides(at, bid, Reason::of(why), sink),
        }
    }

    /// Sends both sides of a quote on a session. Over TMP the sides share one number of a pool, over FIX each side has
    /// its own.
    fn send_quote_on(&mut self, at: i64, bid: Number, line: SessionNo, sink: &mut impl Sink) {
        let sides = [bid, bid + 1].map(|side| self.carried_by(line, side));
        if let Some(lost) = sides.iter().find_map(|side| side.err()) {
            return self.reject_sides(at, bid, Reason::of_field(lost), sink);
        }
        if let Err(reason) = self.check_names(bid, line) {
            return self.reject_sides(at, bid, reason, sink);
        }
        if !self.pools.is_empty() {
            let last = if self.speaks_tmp(line) { bid } else { bid + 1 };
            for number in bid..=last {
                if let Err(reason) = self.give_number(at, number, sink) {
                    self.reject_unsent_for(at, number, reason, sink);
                    return self.reject_sides(at, bid, Reason::of(Why::OtherSide), sink);
                }
            }
        }
        for (number, marks) in (bid..).zip(sides) {
            self.mark(at, number, marks.unwrap_or_default(), sink);
        }
        self.emit(
            at,
            &OrderEvent::Quote(QuoteEvent::QuoteSent { order: bid, line }),
            sink,
        );
        self.lines.note_quote(&self.state, bid, line);
    }

    /// Rejects both sides of a quote that was not sent.
    fn reject_sides(&mut self, at: i64, bid: Number, reason: Reason, sink: &mut impl Sink) {
        for number in [bid, bid + 1] {
            if self.is_queued(number) {
                self.reject_unsent_for(at, number, reason, sink);
            }
        }
    }

    fn is_queued(&self, number: Number) -> bool {
        let order = self.state.orders().get(number);
        order.is_some_and(|order| order.state == OrderState::Queued)
    }

    /// Sends a queued side, together with the other side if that is queued too. Without a `line` the sides have timed
    /// out, and are rejected.
    #[cold]
    pub(crate) fn send_waiting_side(
        &mut self,
        at: i64,
        number: Number,
        line: Option<SessionNo>,
        sink: &mut impl Sink,
    ) {
        let orders = self.state.orders();
        let Some(bid) = orders.get(number).and_then(Order::quote) else {
            return;
        };
        let queued: alloc::vec::Vec<&Order> = [bid, bid + 1]
            .into_iter()
            .filter(|side| self.is_queued(*side))
            .filter_map(|side| orders.get(side))
            .collect();
        let mut stopped = queued.iter().filter_map(|it| risk::stops(&self.state, it));
        match (stopped.next(), line) {
            (Some(reason), _) => self.reject_sides(at, bid, reason, sink),
            (None, None) => self.reject_sides(at, bid, Reason::of(Why::Stale), sink),
            (None, Some(line)) if queued.len() == 2 => self.send_quote_on(at, bid, line, sink),
            (None, Some(line)) => self.send_on(at, number, line, sink),
        }
    }

    /// Handles a client's cancel of one quote, of its quotes in a symbol, or of all its quotes.
    pub fn cancel_quotes(&mut self, at: i64, cancel: &QuoteCancel<'_>, sink: &mut impl Sink) {
        let (session, id) = (cancel.session, cancel.id);
        let event = match self.accept_quote_cancel(at, cancel) {
            Ok((instrument, quote)) => OrderEvent::Quote(QuoteEvent::QuotesWithdrawn {
                session,
                instrument,
                quote,
                kind: cancel.kind,
                orders: self.state.open_sides(session, instrument, quote).len() as u64,
                id,
            }),
            Err(reason) => OrderEvent::Quote(QuoteEvent::QuoteRefused {
                session,
                kind: b'Z',
                id,
                reason,
            }),
        };
        self.emit(at, &event, sink);
    }

    /// The instrument or the quote to cancel; `None` for both means all quotes.
    fn accept_quote_cancel(
        &self,
        at: i64,
        cancel: &QuoteCancel<'_>,
    ) -> Result<(Option<InstrumentNo>, Option<Number>), Reason> {
        let (state, session) = (&self.state, cancel.session);
        if !self.user(session)?.rights.iter().any(|it| it.quote) {
            return Err(Reason::of(Why::NotAllowed));
        }
        // A cancel of quotes counts for the limits of its session only, not for the limits of accounts and symbols.
        risk::check_cancel(state, Party::of_session(session), at)?;
        match (cancel.kind, cancel.symbol) {
            _ if cancel.has_more => Err(Reason::of(Why::Unsupported)),
            (b'1', b"") | (b'5', _) => {
                let mut quotes = state.quotes.of_session(session, None);
                let is_it = |bid: &Number| {
                    let quote = state.quotes.get(*bid);
                    quote.is_some_and(|quote| quote.id.bytes() == cancel.id)
                };
                let quote = quotes.find(is_it).ok_or(Reason::of(Why::UnknownQuote))?;
                Ok((None, Some(quote)))
            }
            (b'1', symbol) => {
                let instrument = state.instruments().find(symbol);
                Ok((Some(instrument.ok_or(Reason::of(Why::Symbol))?), None))
            }
            (b'4', _) => Ok((None, None)),
            _ => Err(Reason::of(Why::Unsupported)),
        }
    }
}
