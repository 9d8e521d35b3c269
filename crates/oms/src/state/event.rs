//! Events: everything that changes the state, as journal notes. Each event is one note: the kind of the event, then its
//! fields.
//!
//! A different kind, field or order of fields is a different [version](crate::OmsState) of the state. A journal with
//! notes of another version is refused. Until the first release the version stays 1.

use crate::state::filter::OrderFilter;
use crate::state::orders::rejected::{RefusedTerms, RejectedTerms};
use crate::values::ids::{AccountNo, InstrumentNo, PoolNo, SessionNo};
use crate::values::reason::Reason;
use crate::values::scope::Scope;
use crate::values::value::{
    BreakKind, Effect, End, Market, MassEnd, Number, OrderType, Presence, Price, PriceField,
    Quantity, RequestKind, Side, TimeInForce, Trading,
};
use fixwire_ledger::{NestedEvents, Wire, events};
use fixwire_protocol::{Decimal, Timestamp};

events! {
    /// An event, grouped by feature. Its texts are borrowed from the message or file that caused it.
    OrderEvent;
    /// Sessions, accounts, instruments, and other things that do not depend on orders.
    Setup SetupEvent['a] {
        /// A session was added: a session of a client, or a session to a venue.
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
            worth: u64 = "Multiplier times rate of exchange, in 10^-9.",
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
        /// An operator set or changed a position.
        155 PositionSet {
            account: AccountNo = "The account.",
            instrument: InstrumentNo = "The instrument.",
            was_long: Quantity = "Long quantity before.", was_short: Quantity = "Short quantity before.",
            long: Quantity = "Long quantity.", short: Quantity = "Short quantity.",
            who: &'a [u8] = "The operator.", why: &'a [u8] = "The reason, as text.",
        }
        /// An operator loaded positions from a file.
        156 PositionsLoaded {
            file: &'a [u8] = "Name of the file.",
            deltas: Option<u64> = "Hash of a file of changes; `None` for a file of totals.",
            as_of: Option<i64> = "The moment of totals that are of an earlier moment, in nanoseconds since 1970.",
            who: &'a [u8] = "The operator.", why: &'a [u8] = "The reason, as text.",
            changes: NestedEvents<'a> = "The events PositionSet, one for each changed position.",
        }
        /// A client whose orders are cancelled when its session ends has logged on or disconnected.
        32 Client {
            session: SessionNo = "The session.", is: Presence = "The presence.",
        }
        /// The state of a market was set.
        43 Market {
            instrument: InstrumentNo = "The instrument.",
            state: Market = "State of the market.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// Clients may get ExecIDs(17) of venues from now on, so the OMS's own ExecIDs have a prefix.
        140 ExecIds {
            prefix: &'a [u8] = "How they begin.",
        }
        /// Messages on a line name an instrument by these fields from now on.
        150 VenueSymbol {
            line: SessionNo = "The session.", instrument: InstrumentNo = "The instrument.",
            fields: &'a [u8] = "Symbol(55) of the venue and other fields, each with SOH; none for the OMS's own Symbol(55).",
        }
        /// Messages on a line name an account by these fields from now on.
        151 VenueAccount {
            line: SessionNo = "The session.", account: AccountNo = "The account.",
            fields: &'a [u8] = "Account(1) of the venue and other fields, each with SOH; none for the OMS's own Account(1).",
        }
    }
    /// The trading day, and orders of earlier trading days.
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
    /// Events of sessions to venues.
    Line LineEvent[] {
        /// A session to a venue is ready for orders.
        30 LineUp {
            line: SessionNo = "The session.",
        }
        /// A session to a venue disconnected: the state of its requests in flight is unknown.
        31 LineDown {
            line: SessionNo = "The session.",
        }
        /// The sequence numbers of a line that speaks TMP have changed.
        33 LinkNumbers {
            line: SessionNo = "The session.",
            inbound: u32 = "The last MsgSeqNum received.", outbound: u32 = "The last MsgSeqNum sent.",
        }
        /// The OMS requested the status of all open orders from the venue of a line.
        125 MassAsked {
            line: SessionNo = "The session.", at: i64 = "The time, in nanoseconds since 1970: MassStatusReqID(584).",
        }
        /// The venue's answer to that request has ended, completely or not.
        126 MassAnswered {
            line: SessionNo = "The session.", how: MassEnd = "How the answer ended.",
            orders: u64 = "Orders that may be open and that it did not list: their status is requested.",
        }
    }
    /// Events of limits and of the trading states of scopes.
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
        /// The limit that was set last expires at a time; then the limit before it applies again.
        44 LimitUntil {
            scope: Scope = "The scope.",
            control: u8 = "Number of the control.",
            before: Option<i128> = "The limit to restore.",
            until: i64 = "The time, in nanoseconds since 1970.",
        }
        /// Trading of a scope was allowed or stopped.
        41 Trading {
            scope: Scope = "The scope.",
            state: Trading = "The trading state.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// An operator requested that a killed or reducing scope trade again; a second operator must request the same.
        45 ArmAsked {
            scope: Scope = "The scope.",
            state: Trading = "The requested trading state.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
    }
    /// New settings, and requests for them.
    Reload ReloadEvent['a] {
        /// New settings are in force.
        51 Reloaded {
            settings: u64 = "The hash of their files.",
            back: bool = "Whether they are those from before the last reload.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
            changes: NestedEvents<'a> = "The events that change accounts, instruments, pools and limits.",
        }
        /// An operator requested other limits or positions, or a reload of limits or users; a second operator must give
        /// the same request.
        52 ReloadAsked {
            settings: u64 = "The hash of the files, of the limits or of the positions.",
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
        /// At most a tenth of the numbers of a pool is left: operators are warned.
        73 NumbersLow {
            pool: PoolNo = "The pool.",
            left: u64 = "How many numbers are left.",
        }
    }
    /// Events of requests of clients and operators, and of sending these requests to venues.
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
        /// A request of a client was rejected; no order changed.
        11 Refused {
            session: SessionNo = "The client session.",
            kind: Option<RequestKind> = "Kind of request for an existing order; `None` for a new order.",
            order: Option<Number> = "The order, when it was found.",
            id: &'a [u8] = "ClOrdID(11).",
            original: &'a [u8] = "OrigClOrdID(41).",
            used: bool = "Whether the ClOrdID counts as used.",
            reason: Reason = "The reason.",
            terms: RefusedTerms = "What a new order or replace asked for, as far as it is known.",
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
        /// A mass cancel was accepted: open orders are being cancelled.
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
        /// Values that requests over TMP have in addition to the terms of their orders: of a client, or of a line.
        128 Marks {
            session: SessionNo = "The session.",
            marks: &'a [u8] = "cm_id, PositionEffect, order_source, investor_flag, info_source.",
        }
        /// The client sent a locate with a new order.
        101 Located {
            order: Number = "The order.", reqd: u8 = "LocateReqd(114); 0 for none.",
            broker: &'a [u8] = "LocateBroker(5700); empty for none.",
        }
        /// The condition of a route decided which line group gets a new order.
        142 Routed {
            order: Number = "The order.", line: SessionNo = "The first session of the line group.",
        }
        /// Fields that a new order or a request carries to its venue unchanged.
        130 Fields {
            number: Number = "Its number.",
            header: &'a [u8] = "Those of the header, each with SOH.",
            body: &'a [u8] = "Those of the body.",
            kept: &'a [u8] = "Of a replace: those of the body that its order keeps and that are not sent.",
        }
        /// Values that an order, from when it is sent first, or a request has over TMP because of the fields that it
        /// carries.
        145 Marked {
            number: Number = "Its number.",
            marks: &'a [u8] = "cm_id, PositionEffect, order_source, investor_flag, info_source.",
        }
        /// A new order or a replace must not be sent after this time.
        83 ValidUntil {
            number: Number = "Number of the order or request.", until: i64 = "The time, in nanoseconds since 1970.",
        }
    }
    /// The life of an order: reports of its venue, reports entered by hand, and its end.
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
        /// The order was filled, completely or in part.
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
        /// An order was closed for any reason other than a fill.
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
        /// The venue reported a final state while fills were missing: the order waits for the fills.
        26 Pended {
            order: Number = "The order.", how: End = "The final state.",
            request: Option<Number> = "The request that closed it.",
            filled: Quantity = "CumQty(14) of the venue.",
            at: i64 = "The time, in nanoseconds since 1970.",
        }
        /// A venue rejected an order, and the OMS will send it again.
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
        /// A closed order was removed from memory.
        29 Forgotten { order: Number = "The order.", }
        /// An order that is good for a longer time is done for the day, until the next trading day.
        61 DoneForDay {
            order: Number = "The order.", at: i64 = "TransactTime(60).",
            text: &'a [u8] = "Text(58).",
        }
        /// An order that was done for the day works again: a new trading day starts, or the venue has reported that it
        /// works.
        62 Renewed {
            order: Number = "The order.",
            by_venue: bool = "Whether the venue reported it; otherwise a new trading day starts.",
        }
        /// The venue set the terms of an order whose replaces are reported out of order, or of an order placed
        /// elsewhere.
        53 TermsSet {
            order: Number = "The order.",
            request: Option<Number> = "The pending replace that it answers.",
            current: Number = "The number of the order at the venue.",
            quantity: Quantity = "OrderQty(38).", price: Price = "Price(44).",
            quantity_at: i64 = "TransactTime(60) of the quantity; 0 when it is unknown.",
            price_at: i64 = "That of the price.",
        }
        /// An operator entered a report of a venue about an order; the events that follow belong to this report.
        84 ReportEntered {
            order: Number = "The order.", who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// The trading day of an order is over, and the venue has not confirmed the end of the order.
        120 Lapsed {
            order: Number = "The order.",
        }
        /// The venue confirmed the end of a lapsed order; the client already has the report Expired.
        121 LapseConfirmed {
            order: Number = "The order.", how: End = "How.",
            request: Option<Number> = "The request of the OMS that closed it.",
            at: i64 = "TransactTime(60).",
            text: &'a [u8] = "Text(58).",
        }
        /// The line of a lapsed order is logged on again: the OMS cancels what the venue still has open of the order.
        124 LapseCancelled {
            order: Number = "The order.", line: SessionNo = "The session.",
        }
        /// The venue has not answered a request in time: it is unknown whether the venue has the request, and the OMS
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
        /// A line that does not have an order sent a report about it: nothing of the report is applied.
        66 ForeignReport {
            line: SessionNo = "The session.", order: Number = "The order.",
            text: &'a [u8] = "Values of the report.",
        }
        /// A venue gave an order another OrderID(37) with a replace.
        127 VenueIdSet {
            order: Number = "The order.", venue_id: &'a [u8] = "OrderID(37) of the venue.",
        }
        /// The report of the next event has the venue's ExecID(17).
        141 ExecIdPassed {
            order: Number = "The order.", kind: u8 = "ExecType(150).", id: &'a [u8] = "ExecID(17) of the venue.",
        }
    }
    /// Events of replace requests that a venue carries out as Canceled and New.
    Remade RemadeEvent[] {
        /// The venue reported Canceled while a replace is in flight. The venue may be carrying out the replace as
        /// Canceled and New, so the answer to the replace decides.
        67 CancelHeld {
            order: Number = "The order.",
            of_replace: bool = "Whether the report has the ClOrdID of the replace.",
            filled: Quantity = "CumQty(14).",
            at: i64 = "TransactTime(60).",
        }
        /// The venue accepted a replace by ExecType(150) = 0: Canceled of the order under its former number may follow.
        68 ReplacedAsNew {
            order: Number = "The order.",
            former: Number = "The number at the venue that it had before.",
        }
        /// Canceled does not close the order: it belonged to the order under its former number, or the venue has the
        /// order open after all.
        69 CancelDropped {
            order: Number = "The order.",
        }
    }
    /// Events of fills whose orders the OMS does not have.
    Stray StrayEvent['a] {
        /// A fill of an order that the OMS does not have; the position includes it.
        60 StrayFill {
            line: SessionNo = "The line.", account: AccountNo = "The account.",
            instrument: InstrumentNo = "The instrument.",
            side: Side = "Side(54).",
            effect: Option<Effect> = "PositionEffect(77), if the symbol uses it; `None` when the report lacks it; the fill then closes the opposite position first.",
            exec: u64 = "Hash of ExecID(17).",
            quantity: Quantity = "LastQty(32).", price: Price = "LastPx(31).",
            id: &'a [u8] = "ClOrdID(11) at the venue.",
        }
        /// An order that is closed in the OMS is open at the venue under the id of a replace: the OMS sent a cancel.
        118 StrayCancelled {
            order: Number = "The order.", former: Number = "The number at the venue that is open.",
            request: Number = "The number of the cancel.", line: SessionNo = "The session.",
        }
        /// A venue cancelled or corrected a trade that the OMS does not have in memory: nothing is changed. The number of
        /// the event is the number of the break.
        195 StrayUndo {
            line: SessionNo = "The line.",
            order: Number = "The order that ClOrdID(11) names; 0 when it names none of the OMS.",
            correction: bool = "Whether the trade is corrected; otherwise it is cancelled.",
            account: Option<AccountNo> = "Account(1), if the report has a known one.",
            instrument: Option<InstrumentNo> = "Symbol(55), if the report has a known one.",
            side: Option<Side> = "Side(54).",
            exec: u64 = "Hash of ExecID(17).",
            of: u64 = "Hash of ExecRefID(19); 0 without one.",
            quantity: Option<Decimal> = "LastQty(32).", price: Option<Decimal> = "LastPx(31).",
            filled: Option<Decimal> = "CumQty(14).",
            status: u8 = "OrdStatus(39); 0 without one.",
            at: i64 = "TransactTime(60).",
            id: &'a [u8] = "ClOrdID(11) at the venue.", fill: &'a [u8] = "ExecRefID(19).",
            text: &'a [u8] = "Text(58).",
        }
        /// A closed order that had left memory is in memory again: a bust or correction of its fills is entered.
        196 Recalled {
            order: Number = "The order.",
            price_scale: u8 = "Decimals of its prices.", quantity_scale: u8 = "Decimals of its quantities.",
            row: &'a [u8] = "The order with its fills, in the form of a checkpoint.",
            who: &'a [u8] = "The operator.", why: &'a [u8] = "The reason, as text.",
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
        /// A market price meets the conditions of held orders: each order is now triggered, or rejected.
        81 Touched {
            instrument: InstrumentNo = "The instrument.", field: PriceField = "The price field.",
            price: Price = "The price.",
            who: &'a [u8] = "The session or operator that it came from.",
        }
        /// A held order whose condition is met passed the controls again, and will be sent.
        82 Triggered {
            order: Number = "The order.",
        }
    }
    /// Parent and child orders.
    Parent ParentEvent[] {
        /// A new order is a parent order: the OMS accepts it and never sends it.
        90 ParentAccepted {
            order: Number = "The order.",
        }
        /// The order of the next event is a child order.
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
        /// The last two orders are the sides of a quote: the bid, and the offer with the next number.
        34 Quoted {
            order: Number = "The bid.",
            id: &'a [u8] = "QuoteID(117).",
        }
        /// A quote, or a cancel of quotes, was refused.
        35 QuoteRefused {
            session: SessionNo = "The client session.",
            kind: u8 = "MsgType(35) of the request: S, Z or R.",
            id: &'a [u8] = "QuoteID(117), or QuoteReqID(131) of an R.",
            reason: Reason = "The reason.",
        }
        /// A cancel of quotes was accepted: the open sides of quotes are being cancelled.
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
        /// A price inquiry was accepted or refused by its venue, or was not answered in time.
        39 InquiryAnswered {
            inquiry: Number = "Number of the inquiry.",
            session: SessionNo = "The client session.",
            instrument: InstrumentNo = "The instrument.",
            reason: Option<Reason> = "Reason of the refusal; `None` when the venue accepted the inquiry.",
            id: &'a [u8] = "QuoteReqID(131).",
            text: &'a [u8] = "Text(58) of the venue.",
        }
    }
    /// Events of new orders that a control rejected and that an operator can run again.
    Rejected RejectedEvent['a] {
        /// The new order of the event before was rejected by a control: an operator may run it again.
        47 RejectKept {
            terms: RejectedTerms = "Terms of the rejected order.",
            id: &'a [u8] = "ClOrdID(11).",
            header: &'a [u8] = "Fields of the header that it would carry to its venue.",
            body: &'a [u8] = "Those of the body.",
        }
        /// The order of the event before is the rerun of a rejected order.
        48 Rerun {
            order: Number = "The new order.", reject: u64 = "The number of the reject.",
            old: &'a [u8] = "ClOrdID(11) of the rejected order.",
            without: &'a [u8] = "The controls that were off.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
    }
    /// Drop copies of a venue, and orders that were placed elsewhere.
    Copy CopyEvent['a] {
        /// From now on, fills of a line are compared with a drop copy session of the venue; or they no longer are.
        49 CopyLine {
            line: SessionNo = "The line.", session: Option<SessionNo> = "The drop copy session.",
        }
        /// A drop copy session of a venue reported a fill, or the end of an order.
        110 Copied {
            order: Number = "The order.",
            exec: u64 = "Hash of ExecID(17); 0 when the copy closes the order.",
            quantity: Quantity = "LastQty(32).", price: Price = "LastPx(31).",
        }
        /// A drop copy session of a venue reported a fill of a leg of a spread.
        210 LegCopied {
            order: Number = "The order.", leg: u8 = "The leg, 0 or 1.",
            exec: u64 = "Hash of ExecID(17) and of the leg.",
            quantity: Quantity = "LastQty(32).", price: Price = "LastPx(31), in units of the leg.",
        }
        /// A report of a line and its drop copy differ; the number of this event is the number of the break.
        112 CopyBroken {
            kind: BreakKind = "How.",
            order: Number = "The order; 0 for none.", exec: u64 = "As that of the copy.",
            text: &'a [u8] = "OrderID(37) and ExecID(17) of the venue, as far as they are known.",
        }
        /// A break between a line and a drop copy was closed.
        113 BreakClosed {
            number: u64 = "Number of the break.", who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// The order of the event before was placed elsewhere; its session is the drop copy that reported it.
        50 External {
            order: Number = "The order.", venue_id: &'a [u8] = "OrderID(37) of the venue.",
        }
        /// The venue replaced an order that was placed elsewhere.
        114 Restated {
            order: Number = "The order.", quantity: Quantity = "OrderQty(38).", price: Price = "Price(44).",
        }
        /// A venue reported one state for the markets of all symbols of a line.
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
        /// The fills of an order's legs have differed from the fills of its spread for too long: the OMS raises one
        /// event for operators.
        57 LegsMissing {
            order: Number = "The order.",
        }
    }
    /// Breaks between reports of a venue and orders.
    Break BreakEvent['a] {
        /// A report of a venue differs from an order; the number of the first such event is the number of the break.
        88 VenueBroken {
            kind: BreakKind = "How.",
            order: Number = "The order.", line: Option<SessionNo> = "The session of the report; `None` when the order has none.",
            exec: u64 = "Hash of the ExecID(17) that it is about; 0 for none.",
            filled: Option<Quantity> = "CumQty(14) of the venue.",
            quantity: Quantity = "LastQty(32) of the fill, or OrderQty(38) of the order, as the venue says; of a correction CumQty(14) of the order.",
            price: Price = "LastPx(31) of the fill, or Price(44) of the order, as the venue says.",
            paid: Option<i128> = "CumQty(14) times AvgPx(6) of the venue, as that of the order.",
            status: u8 = "OrdStatus(39) of the venue; 0 without one.",
            total: Quantity = "Total quantity that the order may fill, according to the venue.",
            opposite: Quantity = "Quantity that a bust may take back.",
            ours: &'a [u8] = "Value of the OMS.",
            venue: &'a [u8] = "Value of the venue.",
        }
        /// The venue did not answer the status request about a break, or cannot be asked: the OMS raises one event for
        /// operators.
        89 BreakAlarmed {
            number: u64 = "The number of the break.",
        }
        /// An operator made a decision about a break; a second operator must make the same decision.
        96 SettleAsked {
            number: u64 = "The number of the break.", venue: bool = "Whether the venue is right.",
            order: Option<Number> = "The order of the break; `None` for an order that is not in memory.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// The decision about a break is in force; the events that follow correct the order.
        95 BreakSettled {
            number: u64 = "The number of the break.", venue: bool = "Whether the venue is right.",
            order: Option<Number> = "The order of the break; `None` for an order that is not in memory.",
            who: &'a [u8] = "The operator, or the program, that did it.", why: &'a [u8] = "The reason, as text.",
        }
        /// An operator set OrderQty(38) and Price(44) of an order to the venue's values.
        93 TermsSettled {
            order: Number = "The order.", quantity: Quantity = "OrderQty(38).", price: Price = "Price(44).",
        }
        /// A venue restated an order with other terms than the client requested.
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
    /// Events of trades that a venue cancels or corrects.
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

/// What an event makes the OMS send on a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outgoing<'a> {
    /// A new order, a replace or a cancel, by its number.
    Request(Number),
    /// Both sides of a quote, by the number of the bid.
    Quote(Number),
    /// A price inquiry.
    Inquiry(SentInquiry<'a>),
    /// A status request for the order with this number.
    Status(Number),
    /// A status request for all open orders of the line.
    MassStatus {
        /// Time of the request in nanoseconds since 1970, sent as MassStatusReqID(584).
        at: i64,
    },
    /// A cancel of an order that is closed in the OMS and open at the venue.
    StrayCancel {
        /// The order.
        order: Number,
        /// The number of the order at the venue.
        former: Number,
        /// The number of the cancel.
        request: Number,
    },
}

impl Outgoing<'_> {
    /// The number of the order or request that is sent; 0 for a mass status request.
    pub(crate) fn number(&self) -> Number {
        match *self {
            Self::Request(number) | Self::Quote(number) | Self::Status(number) => number,
            Self::Inquiry(inquiry) => inquiry.number,
            Self::StrayCancel { request, .. } => request,
            // The request is not about a single order.
            Self::MassStatus { .. } => 0,
        }
    }
}

/// A price inquiry that is sent to a venue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentInquiry<'a> {
    /// The number of the inquiry.
    pub number: Number,
    /// The client session.
    pub session: SessionNo,
    /// The instrument.
    pub instrument: InstrumentNo,
    /// Side(54).
    pub side: Option<Side>,
    /// OrderQty(38); 0 if the inquiry has no quantity.
    pub quantity: Quantity,
    /// The order_no of the inquiry over TMP; empty over FIX.
    pub order_no: &'a [u8],
}

/// The time of the OMS that a note has, which is the time of its event; `None` when it is not a valid note.
#[must_use]
pub fn note_time(mut note: &[u8]) -> Option<Timestamp> {
    let at: i64 = Wire::take(&mut note)?;
    Some(Timestamp(at))
}

/// The time of the OMS and the event that a note has; `None` when it is not a valid note of this version.
pub(crate) fn timed_event(mut note: &[u8]) -> Option<(i64, OrderEvent<'_>)> {
    Some((Wire::take(&mut note)?, OrderEvent::of(note)?))
}
