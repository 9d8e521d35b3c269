//! All that changes the state, as notes in the journal. One event is one note: its kind, then its fields.
//!
//! Numbers of kinds and the order of fields stay: journals of earlier versions have them. A new field means a
//! new kind.

use alloc::vec::Vec;

use crate::filter::Filter;
use crate::reason::Reason;
use crate::scope::Scope;
use crate::value::{
    Effect, End, Market, Number, OrderType, Presence, Price, Quantity, RequestKind, Side,
    TimeInForce, Trading,
};
use crate::wire::Wire;

macro_rules! events {
    ($($(#[$doc:meta])* $kind:literal $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
    })+) => {
        /// What has happened. Texts are those of the message or file it came from.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Event<'a> {
            $($(#[$doc])* $name { $($(#[$field_doc])* $field: $type,)+ },)+
        }

        impl<'a> Event<'a> {
            /// Writes the note of it behind what is there.
            pub fn put(&self, to: &mut Vec<u8>) {
                match self {
                    $(Self::$name { $($field),+ } => {
                        to.push($kind);
                        $($field.put(to);)+
                    })+
                }
            }

            /// Reads a note; `None` when it is none of this version.
            #[must_use]
            pub fn of(note: &'a [u8]) -> Option<Self> {
                let (kind, mut fields) = note.split_first()?;
                let from = &mut fields;
                let event = match kind {
                    $($kind => Self::$name { $($field: <$type as Wire<'_>>::take(from)?),+ },)+
                    _ => return None,
                };
                fields.is_empty().then_some(event)
            }

            /// What happened, in a word.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name),)+
                }
            }
        }
    };
}

events! {
    /// A trading day begins.
    1 Day {
        /// As a number: 20261122.
        date: u32,
        /// Of the hashes of ids.
        key: u128,
    }
    /// A session is used by the OMS from now on: a client's or a line.
    2 Session {
        /// Its number in events.
        index: u32,
        /// Its name in the settings.
        name: &'a [u8],
    }
    /// An account is used from now on, or has another parent.
    3 Account {
        /// Its number in events.
        index: u32,
        /// The number of the account that it belongs to.
        parent: Option<u32>,
        /// Account(1).
        name: &'a [u8],
    }
    /// An instrument is used from now on, or is worth something else.
    4 Instrument {
        /// Its number in events.
        index: u32,
        /// Digits of its prices behind the point.
        scale: u8,
        /// Multiplier times rate of exchange, in 10^-6.
        worth: u64,
        /// Symbol(55).
        symbol: &'a [u8],
    }
    /// Another program, or with other settings, goes on from here.
    5 Build {
        /// What it calls itself.
        build: &'a [u8],
        /// The hash of its settings.
        settings: u64,
    }

    /// A new order passed every check and is ours to place.
    10 Taken {
        /// Its number.
        order: Number,
        /// Whose it is.
        session: u32,
        /// For whom.
        account: u32,
        /// Of what.
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
        /// At what price it is reserved for.
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
    /// A message of a client was refused; no order changed.
    11 Refused {
        /// Whose it is.
        session: u32,
        /// What it asked for, of an order that there is; none for a new order.
        kind: Option<RequestKind>,
        /// The order, when it was found.
        order: Option<Number>,
        /// ClOrdID(11).
        id: &'a [u8],
        /// OrigClOrdID(41).
        original: &'a [u8],
        /// Whether the id counts as used.
        used: bool,
        /// Why.
        reason: Reason,
    }
    /// A replace passed every check.
    12 ReplaceTaken {
        /// The number of the request.
        request: Number,
        /// Of which order.
        order: Number,
        /// OrderQty(38): the whole, with what is filled.
        quantity: Quantity,
        /// Price(44).
        price: Price,
        /// At what price it is reserved for.
        hold: Price,
        /// ClOrdID(11).
        id: &'a [u8],
    }
    /// A cancel was taken.
    13 CancelTaken {
        /// The number of the request.
        request: Number,
        /// Of which order.
        order: Number,
        /// ClOrdID(11); empty when nobody's message asked for it.
        id: &'a [u8],
    }
    /// An order or request goes out on a line.
    14 Sent {
        /// Its number.
        number: Number,
        /// The session.
        line: u32,
    }
    /// An order or request waits for a line.
    15 Queued {
        /// Its number.
        number: Number,
    }

    /// Open orders are to leave their venues.
    16 MassCancelTaken {
        /// The client's session that asks for it; none for an operator.
        session: Option<u32>,
        /// Which.
        filter: Filter,
        /// How many.
        orders: u64,
        /// ClOrdID(11); empty when no client's message asked for it.
        id: &'a [u8],
        /// Who says so, when it is no client.
        who: &'a [u8],
        /// In words.
        why: &'a [u8],
    }
    /// OrderMassCancelRequest(q) was refused.
    17 MassCancelRefused {
        /// Whose it is.
        session: u32,
        /// ClOrdID(11).
        id: &'a [u8],
        /// Whether the id counts as used.
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
    /// An order is rejected: by the venue, or for want of a line.
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
        /// What stands for ExecID(17) of the venue.
        exec: u64,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
        /// TransactTime(60).
        at: i64,
    }
    /// The venue replaced an order as a request asked.
    23 Replaced {
        /// The request.
        request: Number,
        /// OrderQty(38) that holds now.
        quantity: Quantity,
        /// Price(44) that holds now.
        price: Price,
        /// TransactTime(60).
        at: i64,
    }
    /// An order has ended, but for a fill.
    24 Ended {
        /// The order.
        order: Number,
        /// How.
        how: End,
        /// Because of this request.
        request: Option<Number>,
        /// TransactTime(60).
        at: i64,
        /// Text(58).
        text: &'a [u8],
    }
    /// A request was refused by the venue, or can no longer be carried out.
    25 Declined {
        /// The request.
        request: Number,
        /// Why.
        reason: Reason,
        /// Text(58) of the venue.
        text: &'a [u8],
    }
    /// The venue reports an end that fills are missing of: it waits for them.
    26 Pended {
        /// The order.
        order: Number,
        /// How it will end.
        how: End,
        /// Because of this request.
        request: Option<Number>,
        /// CumQty(14) of the venue.
        filled: Quantity,
        /// When.
        at: i64,
    }
    /// A fill of no order that is known, as journals of before [`StrayFill`](Self::StrayFill) have it; it nets.
    27 Stray {
        /// The line.
        line: u32,
        /// Whose.
        account: u32,
        /// Of what.
        instrument: u32,
        /// Side(54).
        side: Side,
        /// What stands for ExecID(17).
        exec: u64,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
        /// ClOrdID(11) as the venue has it.
        id: &'a [u8],
    }
    /// The venue is asked what became of an order.
    28 Asked {
        /// The order.
        order: Number,
        /// On this line.
        line: u32,
        /// When, in nanoseconds since 1970.
        at: i64,
    }
    /// An order leaves memory: it has ended long enough ago.
    29 Forgotten {
        /// The order.
        order: Number,
    }

    /// A line is ready for orders.
    30 LineUp {
        /// The session.
        line: u32,
    }
    /// A line is gone: what was in flight on it is unknown.
    31 LineDown {
        /// The session.
        line: u32,
    }
    /// A client whose orders do not outlive its session has logged on, or is gone.
    32 Client {
        /// The session.
        session: u32,
        /// Which.
        is: Presence,
    }

    /// A limit is set, or taken away.
    40 Limit {
        /// For whom or what.
        scope: Scope,
        /// Its number; see [`Control`](crate::limits::Control).
        control: u8,
        /// In the control's unit.
        value: Option<i128>,
        /// A file says so.
        filed: bool,
        /// The file or person.
        who: &'a [u8],
        /// In words.
        why: &'a [u8],
    }
    /// New risk is allowed or not.
    41 Trading {
        /// For whom or what.
        scope: Scope,
        /// Whether.
        state: Trading,
        /// Who says so.
        who: &'a [u8],
        /// In words.
        why: &'a [u8],
    }
    /// A position is what a file or person says.
    42 Position {
        /// Whose.
        account: u32,
        /// Of what.
        instrument: u32,
        /// Bought and not sold.
        long: Quantity,
        /// Sold and not bought.
        short: Quantity,
        /// The file or person.
        who: &'a [u8],
    }
    /// A market is open, halted or closed.
    43 Market {
        /// Of what.
        instrument: u32,
        /// Which.
        state: Market,
        /// Who says so.
        who: &'a [u8],
        /// In words.
        why: &'a [u8],
    }
    /// The limit that was set last is what it was before, from a time on.
    44 LimitUntil {
        /// For whom or what.
        scope: Scope,
        /// Its number.
        control: u8,
        /// What it was before.
        before: Option<i128>,
        /// In nanoseconds since 1970.
        until: i64,
    }
    /// Somebody wants a scope to trade again; another person has to want it too.
    45 ArmAsked {
        /// For whom or what.
        scope: Scope,
        /// Who says so.
        who: &'a [u8],
        /// In words.
        why: &'a [u8],
    }
    /// A trading day is to begin when the orders of this one have ended.
    46 DayAsked {
        /// As a number: 20261122.
        date: u32,
        /// Who says so.
        who: &'a [u8],
        /// In words.
        why: &'a [u8],
    }

    /// A fill of no order that is known; the position has it.
    60 StrayFill {
        /// The line.
        line: u32,
        /// Whose.
        account: u32,
        /// Of what.
        instrument: u32,
        /// Side(54).
        side: Side,
        /// PositionEffect(77), where the symbol has it; none when the report should have one: it nets.
        effect: Option<Effect>,
        /// What stands for ExecID(17).
        exec: u64,
        /// LastQty(32).
        quantity: Quantity,
        /// LastPx(31).
        price: Price,
        /// ClOrdID(11) as the venue has it.
        id: &'a [u8],
    }
    /// An order that is good for longer is out of the market until the next day.
    61 DoneForDay {
        /// The order.
        order: Number,
        /// TransactTime(60).
        at: i64,
        /// Text(58).
        text: &'a [u8],
    }
    /// It works again: a day is about to begin, or the venue says so.
    62 Renewed {
        /// The order.
        order: Number,
        /// As the venue says; a day begins otherwise.
        by_venue: bool,
    }
    /// A venue has rejected an order, which is sent again.
    70 Retried {
        /// The order.
        order: Number,
        /// The number that it has at the venue from now on.
        attempt: Number,
        /// When it may leave, in nanoseconds since 1970.
        due: i64,
        /// Not on this line.
        not_on: Option<u32>,
        /// Text(58) of the venue.
        text: &'a [u8],
    }
    /// Numbers of a pool are given out from now on, or others of it.
    71 Pool {
        /// Its number in events.
        index: u32,
        /// The hash of how its numbers are written: another one begins anew.
        form: u64,
        /// The field that venues get them in.
        tag: u32,
        /// The first one.
        first: u64,
        /// The last one.
        last: u64,
        /// It begins anew with each trading day.
        each_day: bool,
        /// Its name in the settings.
        name: &'a [u8],
    }
    /// An order has a number of a pool.
    72 Numbered {
        /// The order.
        order: Number,
        /// The pool.
        pool: u32,
        /// Which of its numbers.
        number: u64,
        /// The client named it.
        own: bool,
        /// As it is written.
        text: &'a [u8],
    }
    /// A tenth of the numbers of a pool is left, or less.
    73 NumbersLow {
        /// The pool.
        pool: u32,
        /// How many.
        left: u64,
    }
}
