//! History of an order: its events in the journal, as sentences.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use siphasher::sip::SipHasher13;

use crate::decide::venue::VenueId;
use crate::decide::venue::strays::undo_name;
use crate::state::OmsState;
use crate::state::event::{
    BreakEvent, ConditionEvent, CopyEvent, LifecycleEvent, LineEvent, OrderEvent, ParentEvent,
    PoolEvent, QuoteEvent, RejectedEvent, ReloadEvent, RemadeEvent, RequestEvent, SetupEvent,
    SpreadEvent, StrayEvent, timed_event,
};
use crate::state::orders::exec_ids::ExecIds;
use crate::state::show::reason_text;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::show::{Parts, price, text};
use crate::values::units::{Rescale, Scales};
use crate::values::value::{End, Number, Price, Quantity};

mod breaks;
pub(crate) mod recall;
mod requests;

pub use recall::OrderRecall;

/// Collects the events of one order from journal notes, the oldest first.
#[derive(Debug)]
pub struct History {
    order: Number,
    /// Whether the number is that of a request for another order.
    is_request: bool,
    /// Numbers of the order's requests.
    requests: Vec<Number>,
    /// The state of the OMS, used only to find names.
    state: OmsState,
    instrument: Option<InstrumentNo>,
    /// Session of the order, and the bid of its quote.
    client: Option<SessionNo>,
    quote: Option<Number>,
    line: Option<SessionNo>,
    /// OrderQty(38) and CumQty(14).
    quantity: Quantity,
    filled: Quantity,
    /// The order of a report that an operator has entered, while the events that follow from it are read.
    entered: Option<Number>,
    /// The number of the last event, which is the OMS's own ExecID(17) of its report.
    event: u64,
    /// Whether a client has requested something before.
    has_requests: bool,
    /// ExecID(17) of the venue that the client gets with the next report, and its hash.
    passed: Option<(u64, String)>,
    /// The order to which an operator has just given the venue's values.
    settling: Option<Number>,
}

/// An event of an order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryStep {
    /// The time of the event, in nanoseconds since 1970.
    pub at: i64,
    /// The name of the event.
    pub event: &'static str,
    /// The event, as a sentence.
    pub text: String,
}

impl History {
    /// The history of an order. `state` is the state before the first note, or the oldest state that the journal still
    /// has. The history takes names from it, and also the order if the order's first note was removed.
    #[must_use]
    pub fn new(order: Number, state: OmsState) -> Self {
        let known = state.orders().get(order);
        let request = known.and_then(|known| state.orders().request_of(known));
        let open = known.filter(|known| known.state.is_open());
        Self {
            order,
            is_request: state.orders().request(order).is_some(),
            requests: request.iter().map(|request| request.number).collect(),
            instrument: known.map(|known| known.instrument),
            client: known.map(|known| known.session),
            quote: known.and_then(crate::Order::quote),
            line: open.and_then(|open| open.line()),
            quantity: known.map_or(0, |known| known.quantity),
            filled: known.map_or(0, |known| known.filled),
            entered: None,
            event: state.events(),
            has_requests: state.last > 0 || state.ids.len() > 0,
            passed: None,
            settling: None,
            state,
        }
    }

    /// Reads the next note; returns a step of the history if the note is about the order.
    pub fn take(&mut self, note: &[u8]) -> Option<HistoryStep> {
        let (at, event) = timed_event(note)?;
        self.event += 1;
        self.set_up(at, &event);
        self.has_requests |= matches!(event, OrderEvent::Request(_));
        if let OrderEvent::Reload(ReloadEvent::Reloaded { changes, .. }) = event {
            let changes = changes.each().filter_map(|event| OrderEvent::of(event?));
            changes.for_each(|event| self.set_up(at, &event));
        }
        let text = self.sentence(&event);
        // The bust of a child's fill is followed by that of its parent.
        if let OrderEvent::Order(LifecycleEvent::ReportEntered { order, .. }) = event {
            self.entered = Some(order);
        } else if !matches!(event, OrderEvent::Undo(_)) {
            self.entered = None;
        }
        self.settling = None;
        if let OrderEvent::Break(BreakEvent::BreakSettled {
            venue: true, order, ..
        }) = event
        {
            self.settling = order;
        }
        if let OrderEvent::Request(
            RequestEvent::ReplaceTaken { request, .. } | RequestEvent::CancelTaken { request, .. },
        ) = event
        {
            self.is_request |= request == self.order;
        }
        let text = text.filter(|_| !self.is_request)?;
        Some(HistoryStep {
            at,
            event: event.name(),
            text,
        })
    }

    /// Applies an event that adds or changes names and settings of orders. An event that is already applied changes
    /// nothing.
    fn set_up(&mut self, at: i64, event: &OrderEvent<'_>) {
        if let OrderEvent::Setup(SetupEvent::ExecIds { .. }) = event {
            let since = if self.has_requests { self.event } else { 0 };
            self.state.exec_ids.since = Some(since);
        }
        if !matches!(
            event,
            OrderEvent::Setup(SetupEvent::Session { .. })
                | OrderEvent::Setup(SetupEvent::Account { .. })
                | OrderEvent::Setup(SetupEvent::Instrument { .. })
                | OrderEvent::Spread(SpreadEvent::SpreadLegs { .. })
                | OrderEvent::Pool(PoolEvent::Pool { .. })
        ) {
            return;
        }
        let before = self.scales();
        self.state.apply(at, event);
        if let Some(by) = Rescale::between(before, self.scales()) {
            by.quantity(&mut self.quantity);
            by.quantity(&mut self.filled);
        }
    }

    fn sentence(&mut self, event: &OrderEvent<'_>) -> Option<String> {
        match event {
            OrderEvent::Request(event) => self.of_request(event),
            OrderEvent::Order(event) => self.of_life(event),
            OrderEvent::Line(event) => self.of_line(event),
            OrderEvent::Pool(event) => self.numbered(event),
            OrderEvent::Remade(event) => self.remade(event),
            OrderEvent::Stray(event) => self.of_stray(event),
            OrderEvent::Condition(event) => self.condition(event),
            OrderEvent::Parent(event) => self.family(event),
            OrderEvent::Quote(event) => self.quoted(event),
            OrderEvent::Rejected(event) => self.rerun(event),
            OrderEvent::Copy(event) => self.copied(event),
            OrderEvent::Spread(event) => self.of_legs(event),
            OrderEvent::Break(event) => self.broken(event),
            OrderEvent::Undo(event) => self.undone(event),
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Inquiry(_) => None,
        }
    }

    /// Describes an event in the life of the order.
    fn of_life(&mut self, event: &LifecycleEvent<'_>) -> Option<String> {
        Some(match *event {
            LifecycleEvent::Replaced { request, .. }
            | LifecycleEvent::Declined { request, .. }
            | LifecycleEvent::Unanswered { request }
            | LifecycleEvent::NoAnswer { request }
                if !self.requests.contains(&request) =>
            {
                return None;
            }
            LifecycleEvent::Accepted { order, .. }
            | LifecycleEvent::Rejected { order, .. }
            | LifecycleEvent::Filled { order, .. }
            | LifecycleEvent::Ended { order, .. }
            | LifecycleEvent::Pended { order, .. }
            | LifecycleEvent::Retried { order, .. }
            | LifecycleEvent::Asked { order, .. }
            | LifecycleEvent::Forgotten { order, .. }
            | LifecycleEvent::DoneForDay { order, .. }
            | LifecycleEvent::Renewed { order, .. }
            | LifecycleEvent::TermsSet { order, .. }
            | LifecycleEvent::ReportEntered { order, .. }
            | LifecycleEvent::Lapsed { order, .. }
            | LifecycleEvent::LapseConfirmed { order, .. }
            | LifecycleEvent::LapseCancelled { order, .. }
            | LifecycleEvent::NotAtVenue { order, .. }
            | LifecycleEvent::ForeignReport { order, .. }
            | LifecycleEvent::VenueIdSet { order, .. }
            | LifecycleEvent::ExecIdPassed { order, .. }
                if order != self.order =>
            {
                return None;
            }
            LifecycleEvent::Accepted { venue_id, .. } => {
                format!("accepted by the venue, OrderID {}", text(venue_id))
            }
            LifecycleEvent::Rejected {
                ref reason,
                text: said,
                ..
            } => {
                self.line = None;
                format!("rejected: {}", self.why(reason, said))
            }
            LifecycleEvent::Retried {
                order,
                attempt,
                text: said,
                ..
            } => {
                self.line = None;
                format!(
                    "rejected: {}; sent again as {order}-{attempt}",
                    self.why(&Reason::of(Why::Venue), said)
                )
            }
            LifecycleEvent::Filled {
                exec,
                quantity,
                price,
                ..
            } => {
                self.filled = self.filled.saturating_add(quantity);
                if self.filled >= self.quantity {
                    self.line = None;
                }
                let settled = match self.settling == Some(self.order) {
                    true => ", by settling the break",
                    false => "",
                };
                format!(
                    "{} filled at {}, ExecID {}{settled}",
                    self.quantity(quantity),
                    self.price(price),
                    self.exec_id(exec)
                )
            }
            LifecycleEvent::DoneForDay { text: b"", .. } => {
                "done for the day, until the next trading day".into()
            }
            LifecycleEvent::DoneForDay { text: said, .. } => format!(
                "done for the day, until the next trading day: {}",
                text(said)
            ),
            LifecycleEvent::Renewed { by_venue, .. } => match by_venue {
                false => "working again: a new trading day started".into(),
                true => "working again: reported by the venue".into(),
            },
            LifecycleEvent::Lapsed { .. } => {
                "expired: its trading day is over, which the venue has not confirmed".into()
            }
            LifecycleEvent::Ended {
                how, text: said, ..
            }
            | LifecycleEvent::LapseConfirmed {
                how, text: said, ..
            } => {
                self.line = None;
                let said = if said.is_empty() {
                    String::new()
                } else {
                    format!(": {}", text(said))
                };
                format!("{}{said}", ended(how))
            }
            LifecycleEvent::Pended { how, filled, .. } => format!(
                "the venue reports {}, CumQty(14) {}: waiting for missing fills",
                ended(how),
                self.quantity(filled)
            ),
            LifecycleEvent::Replaced {
                request,
                quantity,
                price,
                ..
            } => {
                self.quantity = quantity;
                let terms = self.terms(quantity, price);
                format!("replace {request} accepted: {terms}")
            }
            LifecycleEvent::TermsSet {
                request,
                quantity,
                price,
                ..
            } => {
                self.quantity = quantity;
                let terms = self.terms(quantity, price);
                match request {
                    Some(request) => format!("replace {request} accepted: {terms}"),
                    None => format!("the venue has replaced it: {terms}"),
                }
            }
            LifecycleEvent::Declined {
                request,
                ref reason,
                text: said,
            } => format!("request {request} rejected: {}", self.why(reason, said)),
            LifecycleEvent::Asked { line, .. } => {
                format!("order status requested on {}", self.session(line))
            }
            LifecycleEvent::Unanswered { .. } => {
                "request not answered by the venue in time: whether it has it is unknown".into()
            }
            LifecycleEvent::NoAnswer { .. } => {
                "neither the request nor the status request was answered".into()
            }
            LifecycleEvent::ForeignReport {
                line, text: said, ..
            } => format!(
                "{} reported on it, which does not have it: {}; not applied",
                text(self.state.sessions().name(line)),
                text(said)
            ),
            LifecycleEvent::ExecIdPassed { id, .. } => {
                self.passed = Some((SipHasher13::new().hash(id), text(id)));
                format!("ExecID {} of the venue", text(id))
            }
            LifecycleEvent::VenueIdSet { venue_id, .. } => {
                format!("OrderID {} of the venue from now on", text(venue_id))
            }
            LifecycleEvent::LapseCancelled { line, .. } => format!(
                "{} is up, and its trading day is over: what the venue may still have is cancelled",
                self.session(line)
            ),
            LifecycleEvent::NotAtVenue { .. } => {
                "the venue does not have it: its state is unknown".into()
            }
            LifecycleEvent::ReportEntered { who, why, .. } => {
                format!("report entered by {}: {}", text(who), text(why))
            }
            LifecycleEvent::Forgotten { .. } => {
                "closed long enough ago: removed from memory".into()
            }
        })
    }

    fn of_stray(&self, event: &StrayEvent<'_>) -> Option<String> {
        match *event {
            StrayEvent::StrayFill {
                id,
                quantity,
                price,
                ..
            } => {
                let is_its = VenueId::parse(id).is_some_and(|id| id.order == self.order);
                is_its.then(|| format!(
                    "{} filled at {} for {}, which is not an open order; the position includes it",
                    self.quantity(quantity),
                    self.price(price),
                    text(id)
                ))
            }
            StrayEvent::StrayCancelled { order, former, .. } => (order == self.order).then(|| {
                format!("the venue has it open as {order}-{former} after it was closed here: cancel sent")
            }),
            StrayEvent::StrayUndo {
                order,
                correction,
                fill,
                ..
            } => (order == self.order).then(|| {
                let (what, fill) = (undo_name(correction), text(fill));
                format!("{what} of fill {fill}, which is not in memory: nothing is changed")
            }),
            StrayEvent::Recalled {
                order, who, why, ..
            } => (order == self.order)
                .then(|| format!("in memory again, for {}: {}", text(who), text(why))),
        }
    }

    fn remade(&self, event: &RemadeEvent) -> Option<String> {
        let (order, said) = match *event {
            RemadeEvent::CancelHeld { order, .. } => (
                order,
                "the venue reports cancelled: the answer to the replace in flight decides",
            ),
            RemadeEvent::ReplacedAsNew { order, .. } => {
                (order, "the venue has done the replace as a new order")
            }
            RemadeEvent::CancelDropped { order } => {
                (order, "the venue's cancelled was not the end of the order")
            }
        };
        (order == self.order).then(|| said.into())
    }

    /// Describes an event of the order's quote.
    fn quoted(&mut self, event: &QuoteEvent<'_>) -> Option<String> {
        match *event {
            QuoteEvent::Quoted { order, id } => {
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
            QuoteEvent::QuotesWithdrawn {
                session,
                instrument,
                quote,
                kind,
                ..
            } => {
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
            QuoteEvent::QuoteSent { order, line } if self.quote == Some(order) => {
                self.line = Some(line);
                Some(format!("both sides sent on {}", self.session(line)))
            }
            QuoteEvent::QuoteSent { .. } | QuoteEvent::QuoteRefused { .. } => None,
        }
    }

    /// Describes the order's number from a pool.
    fn numbered(&self, event: &PoolEvent<'_>) -> Option<String> {
        match *event {
            PoolEvent::Numbered {
                order,
                pool,
                text: number,
                ..
            } => (order == self.order).then(|| {
                let pool = name(self.state.pool_names.name(pool), "pool", pool);
                format!("order number {} from {pool}", text(number))
            }),
            PoolEvent::Pool { .. } | PoolEvent::NumbersLow { .. } => None,
        }
    }

    /// Describes the condition or the time that the order waits for.
    fn condition(&self, event: &ConditionEvent<'_>) -> Option<String> {
        match *event {
            ConditionEvent::Held { order, .. } | ConditionEvent::Triggered { order }
                if order != self.order =>
            {
                None
            }
            ConditionEvent::Held {
                field,
                rises,
                price,
                ..
            } => {
                let way = if rises { ">=" } else { "<=" };
                Some(format!("held until {field} {way} {}", self.price(price)))
            }
            ConditionEvent::Triggered { .. } => Some("triggered: its condition is met".into()),
            ConditionEvent::Touched { .. } => None,
        }
    }

    /// Describes reports of drop copies about the order, and events of an order placed elsewhere.
    fn copied(&self, event: &CopyEvent<'_>) -> Option<String> {
        match *event {
            CopyEvent::External { order, .. }
            | CopyEvent::Restated { order, .. }
            | CopyEvent::Copied { order, .. }
            | CopyEvent::LegCopied { order, .. }
            | CopyEvent::CopyBroken { order, .. }
                if order != self.order =>
            {
                None
            }
            CopyEvent::External { venue_id, .. } => Some(format!(
                "placed elsewhere, reported by a drop copy of the venue, OrderID {}",
                text(venue_id)
            )),
            CopyEvent::Restated {
                quantity, price, ..
            } => Some(format!(
                "replaced elsewhere: {}",
                self.terms(quantity, price)
            )),
            CopyEvent::Copied { quantity: 0, .. } => {
                Some("closed in the drop copy of the venue".into())
            }
            CopyEvent::Copied {
                quantity, price, ..
            } => Some(format!(
                "drop copy: {} filled at {}",
                self.quantity(quantity),
                self.price(price)
            )),
            CopyEvent::LegCopied {
                leg,
                quantity,
                price,
                ..
            } => {
                let fill = self.leg_fill(leg, quantity, price)?;
                Some(format!("drop copy: {fill}"))
            }
            CopyEvent::CopyBroken { kind, .. } => Some(format!("break: {kind}")),
            CopyEvent::CopyLine { .. }
            | CopyEvent::BreakClosed { .. }
            | CopyEvent::VenueMarket { .. } => None,
        }
    }

    /// Describes the rerun of a rejected order, if this order is the rerun.
    fn rerun(&self, event: &RejectedEvent<'_>) -> Option<String> {
        match *event {
            RejectedEvent::Rerun {
                order,
                reject,
                old,
                without,
                who,
                why,
            } => (order == self.order).then(|| {
                format!(
                    "{}, rejected in report {reject}, resubmitted without {} by {}: {}",
                    text(old),
                    text(without),
                    text(who),
                    text(why)
                )
            }),
            RejectedEvent::RejectKept { .. } => None,
        }
    }

    /// Describes events of the order's line while the order is at the venue.
    fn of_line(&self, event: &LineEvent) -> Option<String> {
        match *event {
            LineEvent::LineDown { line } | LineEvent::MassAsked { line, .. }
                if self.line != Some(line) =>
            {
                None
            }
            LineEvent::MassAsked { line, .. } => Some(format!(
                "status of all open orders requested on {}",
                self.session(line)
            )),
            LineEvent::LineDown { line } => Some(format!(
                "{} disconnected: requests without an answer are in state unknown",
                self.session(line)
            )),
            LineEvent::LineUp { .. }
            | LineEvent::LinkNumbers { .. }
            | LineEvent::MassAnswered { .. } => None,
        }
    }

    /// The symbol of a leg, and a price of the leg as text.
    fn leg(&self, leg: u8, last: Price) -> Option<(String, String)> {
        let legs = self.instrument.and_then(|it| self.state.legs(it));
        let leg = legs.and_then(|legs| legs.get(usize::from(leg)))?;
        let symbol = self.state.instruments().name(leg.instrument);
        let last = price(last, self.state.scale(leg.instrument));
        Some((
            name(symbol, "instrument", leg.instrument),
            format!("{last}"),
        ))
    }

    /// Describes a fill of a leg of the order's spread.
    fn leg_fill(&self, leg: u8, quantity: Quantity, price: Price) -> Option<String> {
        let (leg, last) = self.leg(leg, price)?;
        let quantity = self.quantity(quantity);
        Some(format!("leg {leg}: {quantity} filled at {last}"))
    }

    /// Describes fills of the legs of the order's spread.
    fn of_legs(&self, event: &SpreadEvent<'_>) -> Option<String> {
        match *event {
            SpreadEvent::LegFilled { order, .. }
            | SpreadEvent::LegUndone { order, .. }
            | SpreadEvent::LegsMissing { order }
                if order != self.order =>
            {
                None
            }
            SpreadEvent::LegFilled {
                leg,
                quantity,
                price,
                ..
            } => self.leg_fill(leg, quantity, price),
            SpreadEvent::LegUndone {
                leg,
                was_quantity,
                quantity,
                price,
                ..
            } => {
                let (leg, last) = self.leg(leg, price)?;
                let was = self.quantity(was_quantity);
                Some(match quantity {
                    0 => format!("leg {leg}: the venue cancelled the fill of {was}"),
                    _ => format!(
                        "leg {leg}: the venue corrected the fill of {was} to {} at {last}",
                        self.quantity(quantity)
                    ),
                })
            }
            SpreadEvent::LegsMissing { .. } => {
                Some("the fills of its legs do not add up to those of the spread".into())
            }
            SpreadEvent::SpreadLegs { .. } => None,
        }
    }

    /// Describes the order as a parent or as a child.
    fn family(&mut self, event: &ParentEvent) -> Option<String> {
        match *event {
            ParentEvent::ParentAccepted { order } if order == self.order => {
                Some("accepted as a parent order: its child orders are sent for it".into())
            }
            ParentEvent::ChildOf { order, parent } if order == self.order => {
                Some(format!("child order of {parent}"))
            }
            ParentEvent::ChildOf { order, parent } if parent == self.order => {
                Some(format!("child order {order} takes over its quantity"))
            }
            ParentEvent::ParentFilled {
                order,
                child,
                quantity,
                price,
                ..
            } if order == self.order => {
                self.filled = self.filled.saturating_add(quantity);
                let (quantity, at) = (self.quantity(quantity), self.price(price));
                Some(format!("{quantity} filled at {at} by child order {child}"))
            }
            ParentEvent::ParentAccepted { .. }
            | ParentEvent::ChildOf { .. }
            | ParentEvent::ParentFilled { .. } => None,
        }
    }

    /// The order or one of its requests, as words of a sentence; `None` for the number of another order.
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

    /// Decimals of the order's prices and quantities.
    fn scales(&self) -> Scales {
        let scales = self.instrument.map(|it| self.state.scales(it));
        scales.unwrap_or_default()
    }

    /// ExecID(17) of the present event in the report to the client: that of the venue, if it was passed on, or the OMS's
    /// own.
    fn exec_id(&self, exec: u64) -> String {
        let passed = self.passed.as_ref().filter(|(hash, _)| *hash == exec);
        match passed {
            Some((_, id)) => id.clone(),
            None => own_exec_id(&self.state.exec_ids, self.event),
        }
    }

    fn price(&self, at: Price) -> String {
        format!("{}", price(at, self.scales().price))
    }

    /// Quantity and price as text, such as `10 at 12.5`.
    fn terms(&self, quantity: Quantity, price: Price) -> String {
        format!("{} at {}", self.quantity(quantity), self.price(price))
    }

    fn quantity(&self, quantity: Quantity) -> Parts {
        Parts(quantity, self.scales().quantity)
    }

    fn why(&self, reason: &Reason, said: &[u8]) -> String {
        let sentence = reason_text(&self.state, reason, self.scales());
        match said {
            b"" => text(sentence.bytes()),
            said => format!("{} ({})", text(sentence.bytes()), text(said)),
        }
    }
}

fn ended(how: End) -> &'static str {
    match how {
        End::Filled => "filled",
        End::Cancelled => "cancelled",
        End::Rejected => "rejected",
        End::Expired => "expired",
        End::DoneForDay => "done for the day",
    }
}

/// The OMS's own ExecID(17) of an event.
pub(crate) fn own_exec_id(ids: &ExecIds, event: u64) -> String {
    match ids.has_prefix(event) {
        true => format!("{}{event}", text(ExecIds::OWN)),
        false => format!("{event}"),
    }
}

/// A name, or its number when the name is unknown.
fn name(known: &[u8], what: &str, index: impl core::fmt::Display) -> String {
    match known {
        b"" => format!("{what} {index}"),
        known => text(known),
    }
}
