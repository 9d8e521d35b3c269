//! Events: everything that changes the state, as journal notes. One event is one note: its kind, then its fields.
//!
//! Another kind, field or order of fields is another [version](crate::OmsState) of the state: a journal with notes of
//! another version is refused. Until the first release the version stays 1.

use crate::state::filter::OrderFilter;
use crate::state::orders::rejected::RejectedTerms;
use crate::values::ids::{AccountNo, InstrumentNo, PoolNo, SessionNo};
use crate::values::reason::Reason;
use crate::values::scope::Scope;
use crate::values::value::{
    BreakKind, Effect, End, Market, MassEnd, Number, OrderType, Presence, Price, PriceField,
    Quantity, RequestKind, Side, TimeInForce, Trading,
};
use fixwire_ledger::{NestedEvents, Wire, events};

events! {
    /// An event, by its feature. Its texts are borrowed from the message or file that caused it.
    OrderEvent;
    /// Sessions, accounts, instruments and what stands before any order.
    Setup SetupEvent['a] {
        /// A session was added: of a client or to a venue.
        2 Session {
            index: SessionNo = "Number of the session in events.", name: &'a [u8] = "Name in the settings.",
        }
        /// An account was added, or its parent changed.
        3 Account {
            index: AccountNo = "Number of the account in events.",
            parent: Option<AccountNo> = "Number of its parent account.",
            name: &'a [u8] = "Account(1).",
        }
        /// An instrument was added, or its value changed.
        4 Instrument {
            index: InstrumentNo = "Number of the instrument in events.",
            scale: u8 = "Decimals of its prices.",
            quantity_scale: u8 = "Decimals of its quantities.",
            worth: u64 = "Multiplier times rate of exchange, in 10^-6.",
            symbol: &'a [u8] = "Symbol(55).",
        }
        /// The program or its settings changed.
        5 Build {
            build: &'a [u8] = "Name and version of the program.", settings: u64 = "The hash of its settings.",
        }
        /// A position was set by a file or an operator.
        42 Position {
            account: AccountNo = "The account.",
            instrument: InstrumentNo = "The instrument.",
            long: Quantity = "Long quantity.", short: Quantity = "Short quantity.",
            who: &'a [u8] = "The file or person.",
        }
        /// A client whose orders are cancelled with its session logged on or disconnected.
        32 Client {
            session: SessionNo = "The session.", is: Presence = "The presence.",
        }
        /// A market state was set.
        43 Market {
            instrument: InstrumentNo = "The instrument.",
            state: Market = "State of the market.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// Clients may get ExecIDs(17) of venues from now on: the OMS's own ones have a prefix.
        140 ExecIds {
            prefix: &'a [u8] = "How they begin.",
        }
    }
    /// The trading day, and orders of former days.
    Day DayEvent['a] {
        /// A trading day started.
        1 Day {
            date: u32 = "The date, such as 20261122.",
            key: u128 = "Key of the hashes of ids.",
        }
        /// A new trading day was requested: it starts when the orders of the current day are closed.
        46 DayAsked {
            date: u32 = "The date, such as 20261122.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// The OMS goes back to an earlier trading day: the date was wrong, and nothing was done on that day.
        122 DayBack {
            date: u32 = "The date, such as 20261122.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// The first event of a journal that replaces a removed journal: order numbers continue after this number.
        123 NumbersAfter { number: Number = "The number.", }
    }
    /// Sessions to venues.
    Line LineEvent[] {
        /// A session to a venue is ready for orders.
        30 LineUp {
            line: SessionNo = "The session.",
        }
        /// A session to a venue disconnected: requests in flight on it are unknown.
        31 LineDown {
            line: SessionNo = "The session.",
        }
        /// Sequence numbers of a line that speaks TMP.
        33 LinkNumbers {
            line: SessionNo = "The session.",
            inbound: u32 = "The last MsgSeqNum received.", outbound: u32 = "The last MsgSeqNum sent.",
        }
        /// The venue of a line was asked for all open orders.
        125 MassAsked {
            line: SessionNo = "The session.", at: i64 = "The time, in nanoseconds since 1970: MassStatusReqID(584).",
        }
        /// The venue answered for all open orders, or not.
        126 MassAnswered {
            line: SessionNo = "The session.", how: MassEnd = "How the answer ended.",
            orders: u64 = "Orders that may be open and that it did not list: their status is requested.",
        }
    }
    /// Limits and trading states.
    Limit LimitEvent['a] {
        /// A limit was set or removed.
        40 Limit {
            scope: Scope = "The scope.",
            control: u8 = "Number of the control; see [`Control`](crate::values::limits::RiskControl).",
            value: Option<i128> = "The limit, in the control's unit.",
            filed: bool = "Whether the limit comes from a file.",
            who: &'a [u8] = "The file or person.",
            why: &'a [u8] = "The reason, as text.",
        }
        /// The last limit that was set expires at a time; then the previous limit applies again.
        44 LimitUntil {
            scope: Scope = "The scope.",
            control: u8 = "Number of the control.",
            before: Option<i128> = "The limit to restore.",
            until: i64 = "The time, in nanoseconds since 1970.",
        }
        /// Trading was allowed or stopped.
        41 Trading {
            scope: Scope = "The scope.",
            state: Trading = "The trading state.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// An operator requested that a scope trade again; a second operator must confirm.
        45 ArmAsked {
            scope: Scope = "The scope.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
    }
    /// New settings.
    Reload ReloadEvent['a] {
        /// New settings are in force.
        51 Reloaded {
            settings: u64 = "The hash of their files.",
            back: bool = "Whether they are those from before the last reload.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
            changes: NestedEvents<'a> = "The events that change accounts, instruments, pools and limits.",
        }
        /// An operator requested other limits, or a reload of limits or users; a second operator must give the same
        /// request.
        52 ReloadAsked {
            settings: u64 = "The hash of the files, or of the limits.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
    }
    /// Pools of order numbers.
    Pool PoolEvent['a] {
        /// A number pool was added or changed.
        71 Pool {
            index: PoolNo = "Number of the pool in events.",
            form: u64 = "Hash of its number format: a new format restarts the pool.",
            tag: u32 = "The tag that carries the numbers to venues.",
            first: u64 = "The first one.",
            last: u64 = "The last one.",
            each_day: bool = "Whether the pool restarts each trading day.",
            name: &'a [u8] = "Name in the settings.",
        }
        /// An order got a pool number.
        72 Numbered {
            order: Number = "The order.", pool: PoolNo = "The pool.",
            number: u64 = "Index of the number in the pool.",
            own: bool = "Whether the client chose it.",
            text: &'a [u8] = "The number as text.",
        }
        /// At most a tenth of the numbers of a pool is left.
        73 NumbersLow {
            pool: PoolNo = "The pool.",
            left: u64 = "How many numbers are left.",
        }
    }
    /// Requests of clients and operators, and their sending to venues.
    Request RequestEvent['a] {
        /// A new order passed every control and was accepted by the OMS.
        10 Taken {
            order: Number = "Number of the order.",
            session: SessionNo = "The client session.",
            account: AccountNo = "The account.",
            instrument: InstrumentNo = "The instrument.",
            side: Side = "Side(54).",
            kind: OrderType = "OrdType(40).",
            tif: TimeInForce = "TimeInForce(59).",
            price: Price = "Price(44); 0 without one.",
            stop: Price = "StopPx(99); 0 without one.",
            hold: Price = "The price used for its reservation.",
            quantity: Quantity = "OrderQty(38).",
            until: Option<u32> = "ExpireDate(432), as 20261122.",
            effect: Effect = "PositionEffect(77).",
            id: &'a [u8] = "ClOrdID(11).",
        }
        /// A client request was rejected; no order changed.
        11 Refused {
            session: SessionNo = "The client session.",
            kind: Option<RequestKind> = "Kind of request for an existing order; `None` for a new order.",
            order: Option<Number> = "The order, when it was found.",
            id: &'a [u8] = "ClOrdID(11).",
            original: &'a [u8] = "OrigClOrdID(41).",
            used: bool = "Whether the ClOrdID counts as used.",
            reason: Reason = "The reason.",
        }
        /// A replace passed every control.
        12 ReplaceTaken {
            request: Number = "The number of the request.",
            order: Number = "Number of the order.",
            quantity: Quantity = "OrderQty(38): the total, including the filled quantity.",
            price: Price = "Price(44).",
            hold: Price = "The price used for its reservation.",
            id: &'a [u8] = "ClOrdID(11).",
        }
        /// A cancel was accepted by the OMS.
        13 CancelTaken {
            request: Number = "The number of the request.",
            order: Number = "Number of the order.",
            id: &'a [u8] = "ClOrdID(11); empty when no client message requested it.",
        }
        /// An order or request was sent to a venue.
        14 Sent {
            number: Number = "Number of the order or request.", line: SessionNo = "The session.",
        }
        /// An order or request was queued for a session to a venue.
        15 Queued {
            number: Number = "Number of the order or request.",
        }
        /// Open orders are being cancelled.
        16 MassCancelTaken {
            session: Option<SessionNo> = "The requesting client session; `None` for an operator.",
            filter: OrderFilter = "Filter of the orders.",
            orders: u64 = "Number of orders.",
            id: &'a [u8] = "ClOrdID(11); empty when no client message requested it.",
            who: &'a [u8] = "The operator, or the program, that requested it, if not a client.",
            why: &'a [u8] = "The reason, as text.",
        }
        /// OrderMassCancelRequest(q) was refused.
        17 MassCancelRefused {
            session: SessionNo = "The client session.",
            id: &'a [u8] = "ClOrdID(11).",
            used: bool = "Whether the ClOrdID counts as used.",
            reason: Reason = "The reason.",
        }
        /// Values in requests over TMP of a client, or on a line, in addition to the terms of their order.
        128 Marks {
            session: SessionNo = "The session.",
            marks: &'a [u8] = "cm_id, PositionEffect, order_source, investor_flag, info_source.",
        }
        /// The locate of a new order's stock.
        101 Located {
            order: Number = "The order.", reqd: u8 = "LocateReqd(114); 0 for none.",
            broker: &'a [u8] = "LocateBroker(5700); empty for none.",
        }
        /// The condition of a route decided which line group gets a new order.
        142 Routed {
            order: Number = "The order.", line: SessionNo = "The first session of the line group.",
        }
        /// Fields that a new order or a request carries to its venue as they came in.
        130 Fields {
            number: Number = "Its number.",
            header: &'a [u8] = "Those of the header, each with SOH.",
            body: &'a [u8] = "Those of the body.",
            kept: &'a [u8] = "Of a replace: those of the body that its order keeps and that are not sent.",
        }
        /// A new order or a replace must not be sent after a time.
        83 ValidUntil {
            number: Number = "Number of the order or request.", until: i64 = "The time, in nanoseconds since 1970.",
        }
    }
    /// Life of an order: reports of its venue, reports by hand, and its end.
    Order LifecycleEvent['a] {
        /// The venue accepted an order.
        20 Accepted {
            order: Number = "Number of the order.",
            venue_id: &'a [u8] = "OrderID(37) of the venue.",
            at: i64 = "TransactTime(60) of the venue, in nanoseconds since 1970.",
        }
        /// An order was rejected: by the venue, or because no session to the venue was available.
        21 Rejected {
            order: Number = "Number of the order.",
            reason: Reason = "The reason.",
            text: &'a [u8] = "Text(58) of the venue.",
        }
        /// A fill.
        22 Filled {
            order: Number = "The order.",
            exec: u64 = "Hash of the venue's ExecID(17).",
            quantity: Quantity = "LastQty(32).", price: Price = "LastPx(31).",
            at: i64 = "TransactTime(60).",
        }
        /// The venue accepted a replace.
        23 Replaced {
            request: Number = "The request.",
            quantity: Quantity = "The new OrderQty(38).",
            price: Price = "The new Price(44).",
            at: i64 = "TransactTime(60).",
        }
        /// An order was closed, other than by a fill.
        24 Ended {
            order: Number = "The order.", how: End = "How.",
            request: Option<Number> = "The request that closed it.",
            at: i64 = "TransactTime(60).",
            text: &'a [u8] = "Text(58).",
        }
        /// A request was rejected by the venue, or is no longer possible.
        25 Declined {
            request: Number = "The request.",
            reason: Reason = "The reason.",
            text: &'a [u8] = "Text(58) of the venue.",
        }
        /// The venue reported a final state, but fills are missing: the order waits for them.
        26 Pended {
            order: Number = "The order.", how: End = "The final state.",
            request: Option<Number> = "The request that closed it.",
            filled: Quantity = "CumQty(14) of the venue.",
            at: i64 = "The time, in nanoseconds since 1970.",
        }
        /// A venue rejected an order; the OMS sends it again.
        70 Retried {
            order: Number = "The order.", attempt: Number = "New number of the order at the venue.",
            due: i64 = "Earliest time to send it, in nanoseconds since 1970.",
            not_on: Option<SessionNo> = "The session to avoid.",
            text: &'a [u8] = "Text(58) of the venue.",
        }
        /// The status of an order was requested from the venue.
        28 Asked {
            order: Number = "The order.", line: SessionNo = "The session.",
            at: i64 = "The time, in nanoseconds since 1970.",
        }
        /// An order was removed from memory: closed long enough ago.
        29 Forgotten { order: Number = "The order.", }
        /// An order that is valid for longer is done for the day, until the next trading day.
        61 DoneForDay {
            order: Number = "The order.", at: i64 = "TransactTime(60).",
            text: &'a [u8] = "Text(58).",
        }
        /// The order works again: a new trading day starts, or the venue reported it.
        62 Renewed {
            order: Number = "The order.",
            by_venue: bool = "Whether the venue reported it; otherwise a new trading day starts.",
        }
        /// The venue replaced the terms of an order whose replaces are reported out of order, or that was placed elsewhere.
        53 TermsSet {
            order: Number = "The order.",
            request: Option<Number> = "The pending replace that it answers.",
            current: Number = "The number of the order at the venue.",
            quantity: Quantity = "OrderQty(38).", price: Price = "Price(44).",
            quantity_at: i64 = "TransactTime(60) of the quantity; 0 when it is unknown.",
            price_at: i64 = "That of the price.",
        }
        /// An operator enters a report of a venue about an order; the events after it belong to this report.
        84 ReportEntered {
            order: Number = "The order.", who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// The trading day of an order is over, and the venue has not confirmed that it has ended.
        120 Lapsed {
            order: Number = "The order.",
        }
        /// The venue confirmed that an order whose trading day is over has ended; its client knows it already.
        121 LapseConfirmed {
            order: Number = "The order.", how: End = "How.",
            request: Option<Number> = "The request of the OMS that closed it.",
            at: i64 = "TransactTime(60).",
            text: &'a [u8] = "Text(58).",
        }
        /// The line of such an order is logged on again: the OMS cancels what the venue still has of the order.
        124 LapseCancelled {
            order: Number = "The order.", line: SessionNo = "The session.",
        }
        /// The venue has not answered a request in time: whether the venue has the request is unknown, and the OMS
        /// requests the status of the order.
        63 Unanswered {
            request: Number = "The request.",
        }
        /// The venue answered neither a request nor the status request: the OMS raises one event.
        64 NoAnswer {
            request: Number = "The request.",
        }
        /// The venue does not have an order that it had acknowledged: the state of the order is unknown until the venue
        /// reports on it.
        65 NotAtVenue {
            order: Number = "The order.",
        }
        /// A line that does not have the order reported on it: nothing of the report is applied.
        66 ForeignReport {
            line: SessionNo = "The session.", order: Number = "The order.",
            text: &'a [u8] = "Values of the report.",
        }
        /// A venue gave an order another OrderID(37) with a replace.
        127 VenueIdSet {
            order: Number = "The order.", venue_id: &'a [u8] = "OrderID(37) of the venue.",
        }
        /// The report that follows has the venue's ExecID.
        141 ExecIdPassed {
            order: Number = "The order.", kind: u8 = "ExecType(150).", id: &'a [u8] = "ExecID(17) of the venue.",
        }
    }
    /// Replaces that a venue does as Canceled and New.
    Remade RemadeEvent[] {
        /// The venue reports Canceled while a replace is in flight, which it may do as Canceled and New: the answer to the
        /// replace decides.
        67 CancelHeld {
            order: Number = "The order.",
            of_replace: bool = "Whether the report has the ClOrdID of the replace.",
            filled: Quantity = "CumQty(14).",
            at: i64 = "TransactTime(60).",
        }
        /// The venue accepted a replace with ExecType(150) = 0: Canceled of the former order may follow.
        68 ReplacedAsNew {
            order: Number = "The order.",
            former: Number = "The number at the venue that it had before.",
        }
        /// Canceled of the venue was that of the former order, or it has the order open after all.
        69 CancelDropped {
            order: Number = "The order.",
        }
    }
    /// Fills of orders that are not known here.
    Stray StrayEvent['a] {
        /// A fill of an unknown order; the position includes it.
        60 StrayFill {
            line: SessionNo = "The line.", account: AccountNo = "The account.",
            instrument: InstrumentNo = "The instrument.",
            side: Side = "Side(54).",
            effect: Option<Effect> = "PositionEffect(77), if the symbol uses it; `None` when the report lacks it: the fill nets.",
            exec: u64 = "Hash of ExecID(17).",
            quantity: Quantity = "LastQty(32).", price: Price = "LastPx(31).",
            id: &'a [u8] = "ClOrdID(11) at the venue.",
        }
        /// The venue has open, under the id of a replace, an order that is closed here: a cancel of it was sent.
        118 StrayCancelled {
            order: Number = "The order.", former: Number = "The number at the venue that is open.",
            request: Number = "The number of the cancel.", line: SessionNo = "The session.",
        }
    }
    /// Conditional orders.
    Condition ConditionEvent['a] {
        /// A new order is held until its condition is met.
        80 Held {
            order: Number = "The order.", field: PriceField = "The price to look at.",
            rises: bool = "Whether the price has to be at least this; otherwise at most.",
            price: Price = "The price.",
        }
        /// A price of the market meets the conditions of orders: each of these is triggered, or rejected.
        81 Touched {
            instrument: InstrumentNo = "The instrument.", field: PriceField = "The price field.",
            price: Price = "The price.",
            who: &'a [u8] = "The session or operator that it came from.",
        }
        /// A held order whose condition is met passed the controls again, and is sent.
        82 Triggered {
            order: Number = "The order.",
        }
    }
    /// Parent and child orders.
    Parent ParentEvent[] {
        /// A new order is a parent: the OMS accepts it, and never sends it.
        90 ParentAccepted {
            order: Number = "The order.",
        }
        /// The order that comes next is a child.
        91 ChildOf {
            order: Number = "The child.", parent: Number = "The parent.",
        }
        /// A fill of a child counts for its parent.
        92 ParentFilled {
            order: Number = "The parent.", child: Number = "The child.",
            quantity: Quantity = "LastQty(32).", price: Price = "LastPx(31).",
            at: i64 = "TransactTime(60).",
        }
    }
    /// Two-sided quotes.
    Quote QuoteEvent['a] {
        /// The last two orders are the sides of a quote: its bid, and its offer with the next number.
        34 Quoted {
            order: Number = "The bid.",
            id: &'a [u8] = "QuoteID(117).",
        }
        /// A request of a quote was refused.
        35 QuoteRefused {
            session: SessionNo = "The client session.",
            kind: u8 = "MsgType(35) of the request: S, Z or R.",
            id: &'a [u8] = "QuoteID(117), or QuoteReqID(131) of an R.",
            reason: Reason = "The reason.",
        }
        /// The open sides of quotes are being cancelled.
        36 QuotesWithdrawn {
            session: SessionNo = "The client session.",
            instrument: Option<InstrumentNo> = "The instrument of the quotes; `None` for all quotes.",
            quote: Option<Number> = "A single quote, by its bid.",
            kind: u8 = "QuoteCancelType(298); 0 when a new quote replaces it.",
            orders: u64 = "Number of orders.",
            id: &'a [u8] = "QuoteID(117) of the request; empty when a new quote replaces it.",
        }
        /// Both sides of a quote were sent to a venue.
        37 QuoteSent {
            order: Number = "The bid.",
            line: SessionNo = "The session.",
        }
    }
    /// Price inquiries.
    Inquiry InquiryEvent['a] {
        /// A price inquiry of a client was sent to a venue.
        38 Inquired {
            inquiry: Number = "Number of the inquiry.",
            session: SessionNo = "The client session.",
            instrument: InstrumentNo = "The instrument.",
            line: SessionNo = "The session to the venue.",
            side: Option<Side> = "Side(54).",
            quantity: Quantity = "OrderQty(38); 0 without one.",
            pool: Option<PoolNo> = "The pool of its order_no over TMP.",
            number: u64 = "Index of the order_no in the pool.",
            order_no: &'a [u8] = "The order_no as text.",
            id: &'a [u8] = "QuoteReqID(131).",
        }
        /// A price inquiry was taken or refused by its venue, or was not answered.
        39 InquiryAnswered {
            inquiry: Number = "Number of the inquiry.",
            session: SessionNo = "The client session.",
            instrument: InstrumentNo = "The instrument.",
            reason: Option<Reason> = "Reason of the refusal; `None` when the venue accepted the inquiry.",
            id: &'a [u8] = "QuoteReqID(131).",
            text: &'a [u8] = "Text(58) of the venue.",
        }
    }
    /// Orders that a control rejected, and that an operator runs again.
    Rejected RejectedEvent['a] {
        /// A control rejected a new order, with the event before: an operator may run it again.
        47 RejectKept {
            terms: RejectedTerms = "Terms of the rejected order.",
            id: &'a [u8] = "ClOrdID(11).",
            header: &'a [u8] = "Fields of the header that it would carry to its venue.",
            body: &'a [u8] = "Those of the body.",
        }
        /// The order of the event before is a rejected order that an operator runs again.
        48 Rerun {
            order: Number = "The new order.", reject: u64 = "The number of the reject.",
            old: &'a [u8] = "ClOrdID(11) of the rejected order.",
            without: &'a [u8] = "The controls that were off.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
    }
    /// Drop copies of a venue, and orders placed elsewhere.
    Copy CopyEvent['a] {
        /// Fills of a line are compared with a drop copy session of the venue, or no longer.
        49 CopyLine {
            line: SessionNo = "The line.", session: Option<SessionNo> = "The drop copy session.",
        }
        /// A drop copy session of a venue brings a fill, or the end of an order.
        110 Copied {
            order: Number = "The order.",
            exec: u64 = "Hash of ExecID(17); 0 when the copy closes the order.",
            quantity: Quantity = "LastQty(32).", price: Price = "LastPx(31).",
        }
        /// A line and a drop copy differ; the number of the break is the number of the event.
        112 CopyBroken {
            kind: BreakKind = "How.",
            order: Number = "The order; 0 for none.", exec: u64 = "As that of the copy.",
            text: &'a [u8] = "OrderID(37) and ExecID(17) of the venue, as far as they are known.",
        }
        /// A break is closed.
        113 BreakClosed {
            number: u64 = "Number of the break.", who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// The order of the event before was placed elsewhere; its session is the drop copy that reported it.
        50 External {
            order: Number = "The order.", venue_id: &'a [u8] = "OrderID(37) of the venue.",
        }
        /// An order placed elsewhere was replaced there.
        114 Restated {
            order: Number = "The order.", quantity: Quantity = "OrderQty(38).", price: Price = "Price(44).",
        }
        /// A venue reports the state of the market of all symbols of a line.
        111 VenueMarket {
            line: SessionNo = "The line.", state: Market = "State of the market.",
            symbols: &'a [u8] = "A bit for each instrument that it changes, by number from the lowest bit of the first byte on.",
            why: &'a [u8] = "The field that says so.",
        }
    }
    /// Spreads and their legs.
    Spread SpreadEvent['a] {
        /// The legs of a spread were set.
        55 SpreadLegs {
            index: InstrumentNo = "The instrument of the spread.",
            first: InstrumentNo = "The instrument of the first leg.",
            first_side: Side = "Side of the leg when the spread is bought.",
            first_ratio: u32 = "Quantity of the leg in one spread.",
            second: InstrumentNo = "The instrument of the second leg.",
            second_side: Side = "Side of the leg when the spread is bought.",
            second_ratio: u32 = "Quantity of the leg in one spread.",
        }
        /// A fill of a leg of an order of a spread.
        56 LegFilled {
            order: Number = "The order.", leg: u8 = "The leg, from 0.",
            in_fill: bool = "Whether the report of the fill of the spread brought it; otherwise one of its own.",
            exec: u64 = "Hash of the venue's ExecID(17) and the leg.",
            quantity: Quantity = "LastQty(32) of the leg.", price: Price = "LastPx(31) of the leg.",
            at: i64 = "TransactTime(60).",
        }
        /// The venue cancelled or corrected a fill of a leg of an order of a spread.
        58 LegUndone {
            order: Number = "The order.", leg: u8 = "The leg, from 0.",
            exec: u64 = "Hash of the ExecID(17) of the fill, as it was last corrected, and the leg.",
            by: u64 = "Hash of the ExecID(17) of the report and the leg.",
            was_quantity: Quantity = "LastQty(32) of the fill.", was_price: Price = "LastPx(31) of the fill.",
            quantity: Quantity = "The right LastQty(32); 0 when the trade was cancelled.", price: Price = "The right LastPx(31).",
            at: i64 = "TransactTime(60).", text: &'a [u8] = "Text(58).",
        }
        /// The fills of the legs of an order differ from the fills of the spread for too long: the OMS raises one
        /// event.
        57 LegsMissing {
            order: Number = "The order.",
        }
    }
    /// Breaks between the word of a venue and its orders.
    Break BreakEvent['a] {
        /// A report of a venue does not agree with the order; the number of the break is the number of its first event.
        88 VenueBroken {
            kind: BreakKind = "How.",
            order: Number = "The order.", line: Option<SessionNo> = "The session of the report; `None` when the order has none.",
            exec: u64 = "Hash of the ExecID(17) that it is about; 0 for none.",
            filled: Option<Quantity> = "CumQty(14) of the venue.",
            quantity: Quantity = "LastQty(32) of the fill, or OrderQty(38) of the order, as the venue says.",
            price: Price = "LastPx(31) of the fill, or Price(44) of the order, as the venue says.",
            paid: Option<i128> = "CumQty(14) times AvgPx(6) of the venue, as that of the order.",
            status: u8 = "OrdStatus(39) of the venue; 0 without one.",
            total: Quantity = "Total quantity that the order may fill, according to the venue.",
            opposite: Quantity = "Quantity that a bust may take back.",
            ours: &'a [u8] = "Value of the OMS.",
            venue: &'a [u8] = "Value of the venue.",
        }
        /// The venue was asked about a break and did not answer, or cannot be asked: the OMS raises one event.
        89 BreakAlarmed {
            number: u64 = "The number of the break.",
        }
        /// An operator decided a break; a second operator must make the same decision.
        96 SettleAsked {
            number: u64 = "The number of the break.", venue: bool = "Whether the venue is right.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// An operator decided a break; the events after it correct the order.
        95 BreakSettled {
            number: u64 = "The number of the break.", venue: bool = "Whether the venue is right.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// An operator set OrderQty(38) and Price(44) of an order to the venue's values.
        93 TermsSettled {
            order: Number = "The order.", quantity: Quantity = "OrderQty(38).", price: Price = "Price(44).",
        }
        /// A venue restated an order with other terms.
        97 TermsRestated {
            order: Number = "The order.", quantity: Quantity = "OrderQty(38).", price: Price = "Price(44).",
            reason: u64 = "ExecRestatementReason(378).", at: i64 = "TransactTime(60).", text: &'a [u8] = "Text(58).",
        }
        /// An operator set CumQty(14) and AvgPx(6) of an order to the venue's values; the position follows.
        94 FillsSettled {
            order: Number = "The order.", filled: Quantity = "CumQty(14).",
            paid: i128 = "CumQty(14) times AvgPx(6).",
            open: bool = "Whether the order is open at the venue.",
        }
    }
    /// Trades that a venue cancels or corrects.
    Undo UndoEvent['a] {
        /// The venue cancelled a trade: its fill no longer counts.
        85 Busted {
            order: Number = "The order.",
            exec: u64 = "Hash of the ExecID(17) of the fill, as it was last corrected.",
            by: u64 = "Hash of the ExecID(17) of the report.",
            quantity: Quantity = "LastQty(32) of the fill.",
            price: Price = "LastPx(31) of the fill.",
            open: bool = "Whether the order is open at the venue.",
            at: i64 = "TransactTime(60).",
            text: &'a [u8] = "Text(58).",
        }
        /// The venue corrected a trade: its fill counts with another quantity and price.
        86 Corrected {
            order: Number = "The order.",
            exec: u64 = "Hash of the ExecID(17) of the fill, as it was last corrected.",
            by: u64 = "Hash of the ExecID(17) of the report, which is a fill from now on.",
            was_quantity: Quantity = "LastQty(32) of the fill.",
            was_price: Price = "LastPx(31) of the fill.",
            quantity: Quantity = "The right LastQty(32).", price: Price = "The right LastPx(31).",
            open: bool = "Whether the order is open at the venue.",
            at: i64 = "TransactTime(60).",
            text: &'a [u8] = "Text(58).",
        }
        /// A fill of a child that counted for its parent was cancelled or corrected.
        87 ParentCorrected {
            order: Number = "The parent.", child: Number = "The child.",
            report: u64 = "The number of the event of the parent's fill.",
            was_quantity: Quantity = "LastQty(32) of the fill.",
            was_price: Price = "LastPx(31) of the fill.",
            quantity: Quantity = "The right LastQty(32); 0 when the trade was cancelled.",
            price: Price = "The right LastPx(31).",
            open: bool = "Whether the child is open at the venue.",
            at: i64 = "TransactTime(60).",
        }
    }
}

/// What an event sends on a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outgoing<'a> {
    /// A new order, or a replace or cancel.
    Request(Number),
    /// Both sides of a quote, by its bid.
    Quote(Number),
    /// A price inquiry.
    Inquiry(SentInquiry<'a>),
    /// The status request of an order.
    Status(Number),
    /// The status request of all open orders of the line.
    MassStatus {
        /// When, in nanoseconds since 1970: MassStatusReqID(584).
        at: i64,
    },
    /// A cancel of an order that the venue has open after its end.
    StrayCancel {
        /// The order.
        order: Number,
        /// Its number at the venue.
        former: Number,
        /// The number of the cancel.
        request: Number,
    },
}

impl Outgoing<'_> {
    /// The number of its order or request.
    pub(crate) fn number(&self) -> Number {
        match *self {
            Self::Request(number) | Self::Quote(number) | Self::Status(number) => number,
            Self::Inquiry(inquiry) => inquiry.number,
            Self::StrayCancel { request, .. } => request,
            // It is about no order.
            Self::MassStatus { .. } => 0,
        }
    }
}

/// A price inquiry that is sent to a venue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentInquiry<'a> {
    /// Its number.
    pub number: Number,
    /// The client session.
    pub session: SessionNo,
    /// The instrument.
    pub instrument: InstrumentNo,
    /// Side(54).
    pub side: Option<Side>,
    /// OrderQty(38); 0 without one.
    pub quantity: Quantity,
    /// Its order_no over TMP.
    pub order_no: &'a [u8],
}

/// The time of the OMS and the event of a note; `None` when it is not a valid note of this version.
pub(crate) fn timed_event(mut note: &[u8]) -> Option<(i64, OrderEvent<'_>)> {
    Some((Wire::take(&mut note)?, OrderEvent::of(note)?))
}
