//! History of an order: its events in the journal, as sentences.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

use crate::decide::venue::VenueId;
use crate::state::OmsState;
use crate::state::event::{
    BreakEvent, ConditionEvent, CopyEvent, LifecycleEvent, LineEvent, OrderEvent, ParentEvent,
    PoolEvent, QuoteEvent, RejectedEvent, RemadeEvent, RequestEvent, SetupEvent, SpreadEvent,
    StrayEvent, UndoEvent, timed_event,
};
use crate::state::show::reason_text;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::show::price;
use crate::values::show::text;
use crate::values::value::{Number, Price, Quantity, Side};

mod breaks;
mod requests;

/// Collects the events of one order from journal notes, the oldest first.
#[derive(Debug)]
pub struct History {
    order: Number,
    /// Numbers of its requests.
    requests: Vec<Number>,
    /// Used for names only.
    state: OmsState,
    instrument: Option<InstrumentNo>,
    /// Its session, and the bid of its quote.
    client: Option<SessionNo>,
    quote: Option<Number>,
    line: Option<SessionNo>,
    /// OrderQty(38) and CumQty(14).
    quantity: Quantity,
    filled: Quantity,
}

/// One event of an order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryStep {
    /// When, in nanoseconds since 1970.
    pub at: i64,
    /// The name of the event.
    pub event: &'static str,
    /// The event, as a sentence.
    pub text: String,
}

impl History {
    /// History of this order. `state` is the state before the first note or the oldest remaining one: it supplies
    /// names, and the order in case its first note was removed.
    #[must_use]
    pub fn new(order: Number, state: OmsState) -> Self {
        let known = state.orders().get(order);
        let request = known.and_then(|known| state.orders().request_of(known));
        let open = known.filter(|known| known.state.is_open());
        Self {
            order,
            requests: request.iter().map(|request| request.number).collect(),
            instrument: known.map(|known| known.instrument),
            client: known.map(|known| known.session),
            quote: known.and_then(crate::Order::quote),
            line: open.and_then(|open| open.line()),
            quantity: known.map_or(0, |known| known.quantity),
            filled: known.map_or(0, |known| known.filled),
            state,
        }
    }

    /// Reads the next note; returns the step if it is about the order.
    pub fn take(&mut self, note: &[u8]) -> Option<HistoryStep> {
        let (at, event) = timed_event(note)?;
        if matches!(
            event,
            OrderEvent::Setup(SetupEvent::Session { .. })
                | OrderEvent::Setup(SetupEvent::Account { .. })
                | OrderEvent::Setup(SetupEvent::Instrument { .. })
                | OrderEvent::Spread(SpreadEvent::SpreadLegs { .. })
                | OrderEvent::Pool(PoolEvent::Pool { .. })
        ) {
            // A known one changes nothing.
            self.state.apply(at, &event);
        }
        let text = self.sentence(&event)?;
        Some(HistoryStep {
            at,
            event: event.name(),
            text,
        })
    }

    fn sentence(&mut self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Request(RequestEvent::Taken { order, .. }) if order == self.order => {
                Some(self.taken(event))
            }
            OrderEvent::Request(RequestEvent::Refused { order, .. })
                if order == Some(self.order) =>
            {
                self.refused(event)
            }
            OrderEvent::Request(RequestEvent::ReplaceTaken { order, .. })
            | OrderEvent::Request(RequestEvent::CancelTaken { order, .. })
                if order == self.order =>
            {
                Some(self.requested(event))
            }
            OrderEvent::Request(RequestEvent::Sent { number, line }) => {
                let what = self.what(number)?;
                self.line = Some(line);
                Some(format!("{what} sent on {}", self.session(line)))
            }
            OrderEvent::Quote(QuoteEvent::Quoted { .. })
            | OrderEvent::Quote(QuoteEvent::QuotesWithdrawn { .. })
            | OrderEvent::Quote(QuoteEvent::QuoteSent { .. }) => self.quoted(event),
            OrderEvent::Request(RequestEvent::Queued { number }) => Some(format!(
                "{} queued: waiting for a session to the venue",
                self.what(number)?
            )),
            OrderEvent::Order(LifecycleEvent::Accepted {
                order, venue_id, ..
            }) if order == self.order => {
                Some(format!("accepted by the venue, OrderID {}", text(venue_id)))
            }
            OrderEvent::Order(LifecycleEvent::Rejected {
                order,
                ref reason,
                text: said,
            }) if order == self.order => {
                self.line = None;
                Some(format!("rejected: {}", self.why(reason, said)))
            }
            OrderEvent::Order(LifecycleEvent::Retried { .. })
            | OrderEvent::Pool(PoolEvent::Numbered { .. })
            | OrderEvent::Request(RequestEvent::Located { .. }) => self.numbered(event),
            OrderEvent::Order(LifecycleEvent::Filled {
                order,
                quantity,
                price,
                ..
            }) if order == self.order => {
                self.filled = self.filled.saturating_add(quantity);
                if self.filled >= self.quantity {
                    self.line = None;
                }
                Some(format!("{quantity} filled at {}", self.price(price)))
            }
            OrderEvent::Stray(StrayEvent::StrayFill {
                id,
                quantity,
                price,
                ..
            }) if VenueId::parse(id).is_some_and(|id| id.order == self.order) => Some(format!(
                "{quantity} filled at {} for {}, which is not an open order; the position includes it",
                self.price(price),
                text(id)
            )),
            OrderEvent::Parent(ParentEvent::ParentAccepted { .. })
            | OrderEvent::Parent(ParentEvent::ChildOf { .. })
            | OrderEvent::Parent(ParentEvent::ParentFilled { .. }) => self.family(event),
            OrderEvent::Order(LifecycleEvent::DoneForDay {
                order, text: said, ..
            }) if order == self.order => Some(match said {
                b"" => "done for the day, until the next trading day".into(),
                said => format!(
                    "done for the day, until the next trading day: {}",
                    text(said)
                ),
            }),
            OrderEvent::Order(LifecycleEvent::Renewed { order, by_venue })
                if order == self.order =>
            {
                Some(match by_venue {
                    false => "working again: a new trading day started".into(),
                    true => "working again: reported by the venue".into(),
                })
            }
            OrderEvent::Order(LifecycleEvent::Ended { .. })
            | OrderEvent::Order(LifecycleEvent::Lapsed { .. })
            | OrderEvent::Order(LifecycleEvent::LapseConfirmed { .. })
            | OrderEvent::Order(LifecycleEvent::Pended { .. })
            | OrderEvent::Order(LifecycleEvent::Replaced { .. })
            | OrderEvent::Order(LifecycleEvent::TermsSet { .. })
            | OrderEvent::Order(LifecycleEvent::Declined { .. }) => self.answered(event),
            OrderEvent::Order(LifecycleEvent::Asked { .. })
            | OrderEvent::Remade(RemadeEvent::CancelHeld { .. })
            | OrderEvent::Remade(RemadeEvent::ReplacedAsNew { .. })
            | OrderEvent::Remade(RemadeEvent::CancelDropped { .. })
            | OrderEvent::Stray(StrayEvent::StrayCancelled { .. })
            | OrderEvent::Order(LifecycleEvent::Unanswered { .. })
            | OrderEvent::Order(LifecycleEvent::NoAnswer { .. })
            | OrderEvent::Order(LifecycleEvent::NotAtVenue { .. })
            | OrderEvent::Order(LifecycleEvent::LapseCancelled { .. })
            | OrderEvent::Order(LifecycleEvent::VenueIdSet { .. })
            | OrderEvent::Order(LifecycleEvent::ForeignReport { .. }) => self.doubted(event),
            OrderEvent::Line(LineEvent::LineDown { line })
            | OrderEvent::Line(LineEvent::MassAsked { line, .. })
                if self.line == Some(line) =>
            {
                Some(self.of_line(event, line))
            }
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Order(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_)
            | OrderEvent::Break(_)
            | OrderEvent::Undo(_) => self.special(event),
        }
    }

    fn doubted(&self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Order(LifecycleEvent::Asked { order, line, .. }) if order == self.order => {
                Some(format!("order status requested on {}", self.session(line)))
            }
            OrderEvent::Order(LifecycleEvent::Unanswered { request })
                if self.requests.contains(&request) =>
            {
                Some(
                    "request not answered by the venue in time: whether it has it is unknown"
                        .into(),
                )
            }
            OrderEvent::Order(LifecycleEvent::ForeignReport { line, order, text })
                if order == self.order =>
            {
                Some(format!(
                    "{} reported on it, which does not have it: {}; not applied",
                    String::from_utf8_lossy(self.state.sessions().name(line)),
                    String::from_utf8_lossy(text)
                ))
            }
            OrderEvent::Order(LifecycleEvent::NoAnswer { request })
                if self.requests.contains(&request) =>
            {
                Some("neither the request nor the status request was answered".into())
            }
            OrderEvent::Remade(RemadeEvent::CancelHeld { order, .. }) if order == self.order => {
                Some(
                    "the venue reports cancelled: the answer to the replace in flight decides"
                        .into(),
                )
            }
            OrderEvent::Remade(RemadeEvent::ReplacedAsNew { order, .. }) if order == self.order => {
                Some("the venue has done the replace as a new order".into())
            }
            OrderEvent::Remade(RemadeEvent::CancelDropped { order }) if order == self.order => {
                Some("the venue's cancelled was not the end of the order".into())
            }
            OrderEvent::Stray(StrayEvent::StrayCancelled { order, former, .. })
                if order == self.order =>
            {
                Some(format!(
                    "the venue has it open as {order}-{former} after it was closed here: cancel sent"
                ))
            }
            OrderEvent::Order(LifecycleEvent::VenueIdSet { order, venue_id })
                if order == self.order =>
            {
                Some(format!(
                    "OrderID {} of the venue from now on",
                    text(venue_id)
                ))
            }
            OrderEvent::Order(LifecycleEvent::LapseCancelled { order, line })
                if order == self.order =>
            {
                Some(format!(
                    "{} is up, and its trading day is over: what the venue may still have is cancelled",
                    self.session(line)
                ))
            }
            OrderEvent::Order(LifecycleEvent::NotAtVenue { order }) if order == self.order => {
                Some("the venue does not have it: its state is unknown".into())
            }
            _ => None,
        }
    }

    /// Describes what became of its quote.
    fn quoted(&mut self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Quote(QuoteEvent::Quoted { order, id }) => {
                let (side, other) = match self.order.checked_sub(order)? {
                    0 => ("bid", order.saturating_add(1)),
                    1 => ("offer", order),
                    _ => return None,
                };
                self.quote = Some(order);
                Some(format!(
                    "{side} of quote {}; the other side is {other}",
                    text(id)
                ))
            }
            OrderEvent::Quote(QuoteEvent::QuotesWithdrawn {
                session,
                instrument,
                quote,
                kind,
                ..
            }) => {
                let is_its = match quote {
                    Some(quote) => self.quote == Some(quote),
                    None => {
                        let is_its = |it: InstrumentNo| Some(it) == self.instrument;
                        self.client == Some(session) && instrument.is_none_or(is_its)
                    }
                };
                let why = match kind {
                    0 => "quote replaced by a new one",
                    _ => "quote being cancelled",
                };
                (is_its && self.quote.is_some() && self.line.is_some()).then(|| why.into())
            }
            OrderEvent::Quote(QuoteEvent::QuoteSent { order, line })
                if self.quote == Some(order) =>
            {
                self.line = Some(line);
                Some(format!("both sides sent on {}", self.session(line)))
            }
            _ => None,
        }
    }

    /// Describes its new number at the venue.
    fn numbered(&mut self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Order(LifecycleEvent::Retried {
                order,
                attempt,
                text: said,
                ..
            }) if order == self.order => {
                self.line = None;
                Some(format!(
                    "rejected: {}; sent again as {order}-{attempt}",
                    self.why(&Reason::of(Why::Venue), said)
                ))
            }
            OrderEvent::Request(RequestEvent::Located {
                order,
                reqd,
                broker,
            }) if order == self.order => {
                let reqd = match reqd {
                    0 => "none".into(),
                    reqd => String::from(char::from(reqd)),
                };
                let broker = match broker {
                    b"" => String::new(),
                    broker => format!(", LocateBroker {}", text(broker)),
                };
                Some(format!("LocateReqd {reqd}{broker}"))
            }
            OrderEvent::Pool(PoolEvent::Numbered {
                order,
                pool,
                text: number,
                ..
            }) if order == self.order => Some(format!(
                "order number {} from {}",
                text(number),
                name(self.state.pool_names.name(pool), "pool", pool)
            )),
            _ => None,
        }
    }

    fn taken(&mut self, event: &OrderEvent<'_>) -> String {
        let OrderEvent::Request(RequestEvent::Taken {
            session,
            account,
            instrument,
            side,
            kind,
            price,
            stop,
            quantity,
            id,
            ..
        }) = *event
        else {
            return String::new();
        };
        (self.instrument, self.quantity, self.filled) = (Some(instrument), quantity, 0);
        self.client = Some(session);
        let side = match side {
            Side::Buy => "buy",
            Side::Sell => "sell",
            Side::SellShort => "sell short",
        };
        let at = match kind.has_price() {
            true => format!(" at {}", self.price(price)),
            false => " at the market".into(),
        };
        let stop = match kind.has_stop() {
            true => format!(", stop {}", self.price(stop)),
            false => String::new(),
        };
        format!(
            "{} as {} for {}: {side} {quantity} {}{at}{stop}",
            self.session(session),
            text(id),
            name(self.state.accounts().name(account), "account", account),
            name(
                self.state.instruments().name(instrument),
                "instrument",
                instrument
            ),
        )
    }

    /// Describes what it waits for, and what an operator entered.
    fn special(&self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Condition(ConditionEvent::Held {
                order,
                field,
                rises,
                price,
            }) if order == self.order => {
                let way = if rises { ">=" } else { "<=" };
                Some(format!("held until {field} {way} {}", self.price(price)))
            }
            OrderEvent::Condition(ConditionEvent::Triggered { order }) if order == self.order => {
                Some("triggered: its condition is met".into())
            }
            OrderEvent::Request(RequestEvent::ValidUntil { number, until }) => {
                let mut stamp = TimestampWriter::new();
                let until = text(stamp.format(Timestamp(until), Precision::Millis));
                Some(format!(
                    "{} not to be sent after {until}",
                    self.what(number)?
                ))
            }
            OrderEvent::Order(LifecycleEvent::ReportEntered { order, who, why })
                if order == self.order =>
            {
                Some(format!("report entered by {}: {}", text(who), text(why)))
            }
            OrderEvent::Copy(CopyEvent::External { order, venue_id }) if order == self.order => {
                Some(format!(
                    "placed elsewhere, reported by a drop copy of the venue, OrderID {}",
                    text(venue_id)
                ))
            }
            OrderEvent::Copy(CopyEvent::Restated {
                order,
                quantity,
                price,
            }) if order == self.order => Some(format!(
                "replaced elsewhere: {quantity} at {}",
                self.price(price)
            )),
            OrderEvent::Copy(CopyEvent::Copied {
                order,
                quantity,
                price,
                ..
            }) if order == self.order => Some(match quantity {
                0 => "closed in the drop copy of the venue".into(),
                _ => format!("drop copy: {quantity} filled at {}", self.price(price)),
            }),
            OrderEvent::Copy(CopyEvent::CopyBroken { kind, order, .. }) if order == self.order => {
                Some(format!("break: {kind}"))
            }
            OrderEvent::Spread(SpreadEvent::LegFilled { order, .. })
            | OrderEvent::Spread(SpreadEvent::LegUndone { order, .. })
                if order == self.order =>
            {
                self.of_leg(event)
            }
            OrderEvent::Undo(UndoEvent::Busted { .. })
            | OrderEvent::Undo(UndoEvent::Corrected { .. })
            | OrderEvent::Undo(UndoEvent::ParentCorrected { .. })
            | OrderEvent::Break(BreakEvent::VenueBroken { .. })
            | OrderEvent::Break(BreakEvent::TermsSettled { .. })
            | OrderEvent::Break(BreakEvent::TermsRestated { .. })
            | OrderEvent::Break(BreakEvent::FillsSettled { .. }) => self.broken(event),
            OrderEvent::Order(LifecycleEvent::Forgotten { order }) if order == self.order => {
                Some("closed long enough ago: removed from memory".into())
            }
            OrderEvent::Spread(SpreadEvent::LegsMissing { order }) if order == self.order => {
                Some("the fills of its legs do not add up to those of the spread".into())
            }
            OrderEvent::Rejected(RejectedEvent::Rerun {
                order,
                reject,
                old,
                without,
                who,
                why,
            }) if order == self.order => Some(format!(
                "{}, rejected in report {reject}, resubmitted without {} by {}: {}",
                text(old),
                text(without),
                text(who),
                text(why)
            )),
            _ => None,
        }
    }

    fn of_line(&self, event: &OrderEvent<'_>, line: SessionNo) -> String {
        let line = self.session(line);
        match event {
            OrderEvent::Line(LineEvent::MassAsked { .. }) => {
                format!("status of all open orders requested on {line}")
            }
            _ => format!("{line} disconnected: requests without an answer are in state unknown"),
        }
    }

    /// Of the fill of a leg.
    fn of_leg(&self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Spread(SpreadEvent::LegFilled {
                leg,
                quantity,
                price: last,
                ..
            }) => {
                let legs = self.instrument.and_then(|it| self.state.legs(it));
                let leg = legs.and_then(|legs| legs.get(usize::from(leg)))?;
                let symbol = self.state.instruments().name(leg.instrument);
                Some(format!(
                    "leg {}: {quantity} filled at {}",
                    name(symbol, "instrument", leg.instrument),
                    price(last, self.state.scale(leg.instrument))
                ))
            }
            OrderEvent::Spread(SpreadEvent::LegUndone {
                leg,
                was_quantity,
                quantity,
                price: last,
                ..
            }) => {
                let legs = self.instrument.and_then(|it| self.state.legs(it));
                let leg = legs.and_then(|legs| legs.get(usize::from(leg)))?;
                let symbol = self.state.instruments().name(leg.instrument);
                let symbol = name(symbol, "instrument", leg.instrument);
                let last = price(last, self.state.scale(leg.instrument));
                Some(match quantity {
                    0 => format!("leg {symbol}: the venue cancelled the fill of {was_quantity}"),
                    _ => format!(
                        "leg {symbol}: the venue corrected the fill of {was_quantity} to {quantity} at {last}"
                    ),
                })
            }
            _ => None,
        }
    }

    /// Describes it as a parent or a child.
    fn family(&mut self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Parent(ParentEvent::ParentAccepted { order }) if order == self.order => {
                Some("accepted as a parent order: its child orders are sent for it".into())
            }
            OrderEvent::Parent(ParentEvent::ChildOf { order, parent }) if order == self.order => {
                Some(format!("child order of {parent}"))
            }
            OrderEvent::Parent(ParentEvent::ChildOf { order, parent }) if parent == self.order => {
                Some(format!("child order {order} takes over its quantity"))
            }
            OrderEvent::Parent(ParentEvent::ParentFilled {
                order,
                child,
                quantity,
                price,
                ..
            }) if order == self.order => {
                self.filled = self.filled.saturating_add(quantity);
                let at = self.price(price);
                Some(format!("{quantity} filled at {at} by child order {child}"))
            }
            _ => None,
        }
    }

    /// Names the order or one of its requests.
    fn what(&self, number: Number) -> Option<String> {
        match number {
            _ if number == self.order => Some("order".into()),
            _ if self.requests.contains(&number) => Some(format!("request {number}")),
            _ => None,
        }
    }

    fn session(&self, index: SessionNo) -> String {
        name(self.state.sessions().name(index), "session", index)
    }

    /// Decimals of its prices.
    fn scale(&self) -> u8 {
        self.instrument.map_or(0, |it| self.state.scale(it))
    }

    fn price(&self, at: Price) -> String {
        format!("{}", price(at, self.scale()))
    }

    fn why(&self, reason: &Reason, said: &[u8]) -> String {
        let sentence = reason_text(&self.state, reason, self.scale());
        match said {
            b"" => text(sentence.bytes()),
            said => format!("{} ({})", text(sentence.bytes()), text(said)),
        }
    }
}

/// A name, or the number of an unknown one.
fn name(known: &[u8], what: &str, index: impl core::fmt::Display) -> String {
    match known {
        b"" => format!("{what} {index}"),
        known => text(known),
    }
}
