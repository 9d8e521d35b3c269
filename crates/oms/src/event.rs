//! Events: everything that changes the state, as journal notes. One event is one note: its kind, then its fields.
//!
//! Kind numbers and field order must not change: journals of earlier versions have them. A new field needs a new
//! kind.

use alloc::vec::Vec;

use crate::event_form::events;
use crate::filter::OrderFilter;
use crate::reason::Reason;
use crate::rejected::RejectedTerms;
use crate::scope::Scope;
use crate::value::{
    BreakKind, Effect, End, Market, Number, OrderType, Presence, Price, PriceField, Quantity,
    RequestKind, Side, TimeInForce, Trading,
};
use crate::wire::Wire;

events! {
    /// A trading day started.
    1 Day {
        /// The date, such as 20261122.
        date: u32,
        /// Key of the hashes of ids.
        key: u128,
    }
    /// A session was added: of a client or to a venue.
    2 Session {
        /// Its number in events.
        index: u32,
        /// Its name in the settings.
        name: &'a [u8],
    }
    /// An account was added, or its parent changed.
    3 Account {
        /// Its number in events.
        index: u32,
        /// Number of its parent account.
        parent: Option<u32>,
        /// Account(1).
        name: &'a [u8],
    }
    /// An instrument was added, or its value changed.
    4 Instrument {
        /// Its number in events.
        index: u32,
        /// Decimals of its prices.
        scale: u8,
        /// Multiplier times rate of exchange, in 10^-6.
        worth: u64,
        /// Symbol(55).
        symbol: &'a [u8],
    }
    /// The program or its settings changed.
    5 Build {
        /// Name and version of the program.
        build: &'a [u8],
        /// The hash of its settings.
        settings: u64,
    }
    /// A new order passed every control and was accepted by the OMS.
    10 Taken {
        /// Its number.
        order: Number,
        /// The client session.
        session: u32,
        /// The account.
        account: u32,
        /// The instrument.
        instrument: u32,
        /// Side(54).
        side: Side,
        /// OrdType(40).
        kind: OrderType,
        /// TimeInForce(59).
        tif: TimeInForce,
        /// Price(44); 0 without one.
        price: Price,
        /// StopPx(99); 0 without one.
        stop: Price,
        /// The price used for its reservation.
        hold: Price,
        /// OrderQty(38).
        quantity: Quantity,
        /// ExpireDate(432), as 20261122; 0 without one.
        until: u32,
        /// PositionEffect(77).
        effect: Effect,
        /// ClOrdID(11).
        id: &'a [u8],
    }
    /// A client request was rejected; no order changed.
    11 Refused {
        /// The client session.
        session: u32,
        /// Kind of request for an existing order; `None` for a new order.
        kind: Option<RequestKind>,
        /// The order, when it was found.
        order: Option<Number>,
        /// ClOrdID(11).
        id: &'a [u8],
        /// OrigClOrdID(41).
        original: &'a [u8],
        /// Whether the ClOrdID counts as used.
        used: bool,
        /// Why.
        reason: Reason,
    }
    /// A replace passed every control.
    12 ReplaceTaken {
        /// The number of the request.
        request: Number,
        /// Of which order.
        order: Number,
        /// OrderQty(38): the total, including the filled quantity.
        quantity: Quantity,
        /// Price(44).
        price: Price,
        /// The price used for its reservation.
        hold: Price,
        /// ClOrdID(11).
        id: &'a [u8],
    }
    /// A cancel was accepted by the OMS.
    13 CancelTaken {
        /// The number of the request.
        request: Number,
        /// Of which order.
        order: Number,
        /// ClOrdID(11); empty when no client message requested it.
        id: &'a [u8],
    }
    /// An order or request was sent to a venue.
    14 Sent {
        /// Its number.
        number: Number,
        /// The session.
        line: u32,
    }
    /// An order or request was queued for a session to a venue.
    15 Queued {
        /// Its number.
        number: Number,
    }
    /// Open orders are being cancelled.
    16 MassCancelTaken {
        /// The requesting client session; `None` for an operator.
        session: Option<u32>,
        /// Which.
        filter: OrderFilter,
        /// How many.
        orders: u64,
        /// ClOrdID(11); empty when no client message requested it.
        id: &'a [u8],
        /// Who requested it, if not a client.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// OrderMassCancelRequest(q) was refused.
    17 MassCancelRefused {
        /// The client session.
        session: u32,
        /// ClOrdID(11).
        id: &'a [u8],
        /// Whether the ClOrdID counts as used.
        used: bool,
        /// Why.
        reason: Reason,
    }
    /// The venue accepted an order.
    20 Accepted {
        /// Its number.
        order: Number,
        /// OrderID(37) of the venue.
        venue_id: &'a [u8],
        /// TransactTime(60) of the venue, in nanoseconds since 1970.
        at: i64,
    }
    /// An order was rejected: by the venue, or because no session to the venue was available.
    21 Rejected {
        /// Its number.
        order: Number,
        /// Why.
        reason: Reason,
        /// Text(58) of the venue.
        text: &'a [u8],
    }
    /// A fill.
    22 Filled {
        /// The order.
        order: Number,
        /// Hash of the venue's ExecID(17).
        exec: u64,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
        /// TransactTime(60).
        at: i64,
    }
    /// The venue accepted a replace.
    23 Replaced {
        /// The request.
        request: Number,
        /// The new OrderQty(38).
        quantity: Quantity,
        /// The new Price(44).
        price: Price,
        /// TransactTime(60).
        at: i64,
    }
    /// An order was closed, other than by a fill.
    24 Ended {
        /// The order.
        order: Number,
        /// How.
        how: End,
        /// The request that closed it.
        request: Option<Number>,
        /// TransactTime(60).
        at: i64,
        /// Text(58).
        text: &'a [u8],
    }
    /// A request was rejected by the venue, or is no longer possible.
    25 Declined {
        /// The request.
        request: Number,
        /// Why.
        reason: Reason,
        /// Text(58) of the venue.
        text: &'a [u8],
    }
    /// The venue reported a final state, but fills are missing: the order waits for them.
    26 Pended {
        /// The order.
        order: Number,
        /// The final state.
        how: End,
        /// The request that closed it.
        request: Option<Number>,
        /// CumQty(14) of the venue.
        filled: Quantity,
        /// When.
        at: i64,
    }
    /// A fill of an unknown order in older journals, before [`StrayFill`](Self::StrayFill); it nets.
    27 Stray {
        /// The line.
        line: u32,
        /// The account.
        account: u32,
        /// The instrument.
        instrument: u32,
        /// Side(54).
        side: Side,
        /// Hash of ExecID(17).
        exec: u64,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
    }
    /// The status of an order was requested from the venue.
    28 Asked {
        /// The order.
        order: Number,
        /// The session.
        line: u32,
        /// When, in nanoseconds since 1970.
        at: i64,
    }
    /// An order was removed from memory: closed long enough ago.
    29 Forgotten {
        /// The order.
        order: Number,
    }
    /// A session to a venue is ready for orders.
    30 LineUp {
        /// The session.
        line: u32,
    }
    /// A session to a venue disconnected: requests in flight on it are unknown.
    31 LineDown {
        /// The session.
        line: u32,
    }
    /// Sequence numbers of a line that speaks TMP.
    33 LinkNumbers {
        /// The session.
        line: u32,
        /// The last MsgSeqNum received.
        inbound: u32,
        /// The last MsgSeqNum sent.
        outbound: u32,
    }
    /// A client whose orders are cancelled with its session logged on or disconnected.
    32 Client {
        /// The session.
        session: u32,
        /// Which.
        is: Presence,
    }

    /// The last two orders are the sides of a quote: its bid, and its offer with the next number.
    34 Quoted {
        /// The bid.
        order: Number,
        /// QuoteID(117).
        id: &'a [u8],
    }
    /// A request of a quote was refused.
    35 QuoteRefused {
        /// The client session.
        session: u32,
        /// MsgType(35) of the request: S or Z.
        kind: u8,
        /// QuoteID(117).
        id: &'a [u8],
        /// Why.
        reason: Reason,
    }
    /// The open sides of quotes are being cancelled.
    36 QuotesWithdrawn {
        /// The client session.
        session: u32,
        /// Those of an instrument; `None` for all.
        instrument: Option<u32>,
        /// One quote alone, by its bid.
        quote: Option<Number>,
        /// QuoteCancelType(298); 0 when a new quote replaces it.
        kind: u8,
        /// How many orders.
        orders: u64,
        /// QuoteID(117) of the request; empty when a new quote replaces it.
        id: &'a [u8],
    }
    /// Both sides of a quote were sent to a venue.
    37 QuoteSent {
        /// The bid.
        order: Number,
        /// The session.
        line: u32,
    }

    /// A limit was set or removed.
    40 Limit {
        /// The scope.
        scope: Scope,
        /// Its number; see [`Control`](crate::limits::RiskControl).
        control: u8,
        /// In the control's unit.
        value: Option<i128>,
        /// Whether it comes from a file.
        filed: bool,
        /// The file or person.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// Trading was allowed or stopped.
    41 Trading {
        /// The scope.
        scope: Scope,
        /// The trading state.
        state: Trading,
        /// Who did it.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// A position was set by a file or an operator.
    42 Position {
        /// The account.
        account: u32,
        /// The instrument.
        instrument: u32,
        /// Long quantity.
        long: Quantity,
        /// Short quantity.
        short: Quantity,
        /// The file or person.
        who: &'a [u8],
    }
    /// A market state was set.
    43 Market {
        /// The instrument.
        instrument: u32,
        /// Which.
        state: Market,
        /// Who did it.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// The last limit that was set expires at a time; then the one before it is restored.
    44 LimitUntil {
        /// The scope.
        scope: Scope,
        /// Its number.
        control: u8,
        /// The limit to restore.
        before: Option<i128>,
        /// In nanoseconds since 1970.
        until: i64,
    }
    /// An operator requested that a scope trade again; a second operator must confirm.
    45 ArmAsked {
        /// The scope.
        scope: Scope,
        /// Who did it.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// A new trading day was requested: it starts when the orders of this one are closed.
    46 DayAsked {
        /// The date, such as 20261122.
        date: u32,
        /// Who did it.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// A control rejected a new order, with the event before: an operator may run it again.
    47 RejectKept {
        /// What it would have been.
        terms: RejectedTerms,
        /// ClOrdID(11).
        id: &'a [u8],
    }
    /// The order of the event before is a rejected one that an operator runs again.
    48 Rerun {
        /// The new order.
        order: Number,
        /// The number of the reject.
        reject: u64,
        /// ClOrdID(11) of the rejected order.
        old: &'a [u8],
        /// The controls that were off.
        without: &'a [u8],
        /// Who did it.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// Fills of a line are compared with a drop copy session of the venue, or no longer.
    49 CopyLine {
        /// The line.
        line: u32,
        /// The drop copy session.
        session: Option<u32>,
    }
    /// The order of the event before was placed elsewhere; its session is the drop copy that reported it.
    50 External {
        /// The order.
        order: Number,
        /// OrderID(37) of the venue.
        venue_id: &'a [u8],
    }
    /// A fill of an unknown order; the position includes it.
    60 StrayFill {
        /// The line.
        line: u32,
        /// The account.
        account: u32,
        /// The instrument.
        instrument: u32,
        /// Side(54).
        side: Side,
        /// PositionEffect(77), if the symbol uses it; `None` when the report lacks it: the fill nets.
        effect: Option<Effect>,
        /// Hash of ExecID(17).
        exec: u64,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
    }
    /// An order that is valid for longer is done for the day, until the next trading day.
    61 DoneForDay {
        /// The order.
        order: Number,
        /// TransactTime(60).
        at: i64,
        /// Text(58).
        text: &'a [u8],
    }
    /// The order works again: a new trading day starts, or the venue reported it.
    62 Renewed {
        /// The order.
        order: Number,
        /// Whether the venue reported it; otherwise a new trading day starts.
        by_venue: bool,
    }
    /// A venue rejected an order; the OMS sends it again.
    70 Retried {
        /// The order.
        order: Number,
        /// Its new number at the venue.
        attempt: Number,
        /// Earliest time to send it, in nanoseconds since 1970.
        due: i64,
        /// The session to avoid.
        not_on: Option<u32>,
        /// Text(58) of the venue.
        text: &'a [u8],
    }
    /// A number pool was added or changed.
    71 Pool {
        /// Its number in events.
        index: u32,
        /// Hash of its number format: a new format restarts the pool.
        form: u64,
        /// The tag that carries the numbers to venues.
        tag: u32,
        /// The first one.
        first: u64,
        /// The last one.
        last: u64,
        /// Whether it restarts each trading day.
        each_day: bool,
        /// Its name in the settings.
        name: &'a [u8],
    }
    /// An order got a pool number.
    72 Numbered {
        /// The order.
        order: Number,
        /// The pool.
        pool: u32,
        /// Index of the number in the pool.
        number: u64,
        /// Whether the client chose it.
        own: bool,
        /// The number as text.
        text: &'a [u8],
    }
    /// At most a tenth of the numbers of a pool is left.
    73 NumbersLow {
        /// The pool.
        pool: u32,
        /// How many.
        left: u64,
    }
    /// A new order is held until its condition is met.
    80 Held {
        /// The order.
        order: Number,
        /// The price to look at.
        field: PriceField,
        /// Whether the price has to be at least this; otherwise at most.
        rises: bool,
        /// The price.
        price: Price,
    }
    /// A price of the market meets the conditions of orders: each of these is triggered, or rejected.
    81 Touched {
        /// The instrument.
        instrument: u32,
        /// Which price.
        field: PriceField,
        /// The price.
        price: Price,
        /// The session or operator that it came from.
        who: &'a [u8],
    }
    /// A held order whose condition is met passed the controls again, and is sent.
    82 Triggered {
        /// The order.
        order: Number,
    }
    /// An operator enters the report of a venue about an order; the events behind it are of this report.
    84 ReportEntered {
        /// The order.
        order: Number,
        /// Who did it.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// A drop copy session of a venue brings a fill, or the end of an order.
    110 Copied {
        /// The order.
        order: Number,
        /// Hash of ExecID(17); 0 when the copy closes the order.
        exec: u64,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
    }
    /// A venue reports the state of the market of all symbols of a line.
    111 VenueMarket {
        /// The line.
        line: u32,
        /// Which.
        state: Market,
        /// A bit for each instrument that it changes, by number from the lowest bit of the first byte on.
        symbols: &'a [u8],
        /// The field that says so.
        why: &'a [u8],
    }
    /// A line and a drop copy differ; the number of the break is that of the event.
    112 CopyBroken {
        /// How.
        kind: BreakKind,
        /// The order; 0 for none.
        order: Number,
        /// As that of the copy.
        exec: u64,
        /// OrderID(37) and ExecID(17) of the venue, as far as they are known.
        text: &'a [u8],
    }
    /// A break is closed.
    113 BreakClosed {
        /// Its number.
        number: u64,
        /// Who did it.
        who: &'a [u8],
        /// As text.
        why: &'a [u8],
    }
    /// An order placed elsewhere was replaced there.
    114 Restated {
        /// The order.
        order: Number,
        /// OrderQty(38).
        quantity: Quantity,
        /// Price(44).
        price: Price,
    }
    /// A new order or a replace must not be sent after a time.
    83 ValidUntil {
        /// Its number.
        number: Number,
        /// In nanoseconds since 1970.
        until: i64,
    }

    /// A new order is a parent: the OMS accepts it, and never sends it.
    90 ParentAccepted {
        /// The order.
        order: Number,
    }
    /// The order that comes next is a child.
    91 ChildOf {
        /// The child.
        order: Number,
        /// Its parent.
        parent: Number,
    }
    /// A fill of a child counts for its parent.
    92 ParentFilled {
        /// The parent.
        order: Number,
        /// The child.
        child: Number,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
        /// TransactTime(60).
        at: i64,
    }
}
