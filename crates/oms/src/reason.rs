//! Why something is refused: for reports as FIX has it, for people as a sentence.

use alloc::vec::Vec;

use crate::scope::Scope;
use crate::wire::Wire;

/// A refusal with the figures that make it plain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// What is wrong.
    pub why: Why,
    /// For whom the limit is that was met; where no limit was, the firm.
    pub scope: Scope,
    /// What there would have been.
    pub value: i128,
    /// What there may be.
    pub limit: i128,
}

impl Reason {
    /// One without figures.
    #[must_use]
    pub fn of(why: Why) -> Self {
        Self {
            why,
            scope: Scope::Firm,
            value: 0,
            limit: 0,
        }
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $byte:literal $name:ident, $control:literal, $order:literal, $cancel:literal, $text:literal;)+) => {
        /// What is wrong with an order or a request.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Why {
            $($(#[$doc])* $name,)+
        }

        impl Why {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its number in the journal.
            #[must_use]
            pub fn byte(self) -> u8 {
                match self {
                    $(Self::$name => $byte,)+
                }
            }

            fn of(byte: u8) -> Option<Self> {
                match byte {
                    $($byte => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// The control that refuses; empty when it is none.
            #[must_use]
            pub fn control(self) -> &'static str {
                match self {
                    $(Self::$name => $control,)+
                }
            }

            /// OrdRejReason(103).
            #[must_use]
            pub fn ord_rej_reason(self) -> u64 {
                match self {
                    $(Self::$name => $order,)+
                }
            }

            /// CxlRejReason(102).
            #[must_use]
            pub fn cxl_rej_reason(self) -> u64 {
                match self {
                    $(Self::$name => $cancel,)+
                }
            }

            /// In words.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

// Number, name, control, OrdRejReason(103), CxlRejReason(102), words.
reasons! {
    /// The venue said so.
    1 Venue, "", 0, 0, "rejected by the venue";
    /// No line of the group is logged on.
    2 NoLine, "", 0, 2, "no line to the venue is ready";
    /// No route leads anywhere.
    3 NoRoute, "", 1, 2, "no route for this symbol";
    /// It is too large a number, or has too many digits.
    4 Number, "", 99, 99, "a number is out of range";
    /// OrdType(40), TimeInForce(59) or Side(54) that is not supported.
    6 Unsupported, "", 11, 2, "the OMS does not support this kind of order";
    /// The journal cannot be read whole.
    7 Incomplete, "", 0, 2, "the state of the OMS is incomplete";

    /// A kill switch is on.
    10 Killed, "RC1", 0, 2, "trading is killed";
    /// Only what makes the position smaller passes.
    11 Reducing, "RC1", 0, 2, "only orders that reduce the position are allowed";
    /// The session may not use the account.
    12 Account, "RC2", 15, 2, "unknown account, or not allowed for this session";
    /// The session may not do this.
    13 NotAllowed, "RC2", 0, 2, "not allowed for this session";
    /// Nobody configured it.
    14 Symbol, "RC2", 1, 2, "unknown symbol";
    /// It was used today.
    15 Duplicate, "RC4", 6, 6, "duplicate ClOrdID";
    /// A control has no limit for this order.
    16 NoLimit, "", 3, 2, "no limit is set for the control";
    /// Above the largest order quantity.
    17 OrderQuantity, "RC6", 3, 2, "order quantity exceeds the limit";
    /// Zero, or no whole lots.
    18 Lot, "RC8", 13, 2, "order quantity is not a multiple of the lot size";
    /// Above the largest value.
    19 Value, "RC7", 3, 2, "order value exceeds the limit";
    /// There is no price to compare with.
    20 NoReference, "RC8", 99, 2, "no reference price";
    /// Not on a tick.
    21 Tick, "RC8", 99, 2, "price is not a multiple of the tick size";
    /// Outside of the band.
    22 Collar, "RC8", 99, 2, "price is too far from the reference price";
    /// Too many open orders.
    23 OpenOrders, "RC13", 3, 2, "number of open orders exceeds the limit";
    /// Credit is used up.
    24 Credit, "RC14", 3, 2, "credit limit exceeded";
    /// The position could become too long.
    25 Long, "RC15", 3, 2, "long position limit exceeded";
    /// The position could become too short.
    26 Short, "RC15", 3, 2, "short position limit exceeded";

    /// A list says that it may not be traded so.
    40 Restricted, "RC3", 0, 2, "restricted";
    /// A short sale without a borrowed instrument.
    41 NotLocated, "RC3", 0, 2, "short sale without LocateReqd(114)=N or LocateBroker(5700)";
    /// The same order again and again.
    42 Repeated, "RC5-1s", 3, 2, "too many same orders within 1 s";
    /// Too much within a second.
    43 ValueSecond, "RC9-value-1s", 3, 2, "value of orders within 1 s exceeds the limit";
    /// Too much within a minute.
    44 ValueMinute, "RC9-value-60s", 3, 2, "value of orders within 60 s exceeds the limit";
    /// Too much within a day.
    45 ValueDay, "RC9-value-day", 3, 2, "value of orders of today exceeds the limit";
    /// Too much within a second.
    46 QuantitySecond, "RC9-quantity-1s", 3, 2, "quantity of orders within 1 s exceeds the limit";
    /// Too much within a minute.
    47 QuantityMinute, "RC9-quantity-60s", 3, 2, "quantity of orders within 60 s exceeds the limit";
    /// Too much within a day.
    48 QuantityDay, "RC9-quantity-day", 3, 2, "quantity of orders of today exceeds the limit";
    /// Too many messages.
    49 Rate, "RC10", 3, 2, "too many orders and replaces within 1 s";
    /// Too many cancels.
    50 CancelRate, "RC10-cancel", 3, 2, "too many cancels within 1 s";
    /// The order was replaced too often.
    51 Replaces, "RC11-replaces", 3, 2, "too many replaces of the order";
    /// Too many orders wait for the venue.
    52 Unanswered, "RC11-unanswered", 3, 2, "too many orders that the venue has not answered";
    /// Too many messages for so few executions.
    53 Ratio, "RC11-ratio", 3, 2, "too many orders and replaces for each execution of today";
    /// It could trade with an order of the same owner.
    54 SelfTrade, "RC16", 99, 2, "would trade with an own order";
    /// The market takes no such order now.
    55 Market, "RC18", 2, 2, "the market takes no such order now";

    /// Its venue replaces no orders.
    56 NoReplace, "", 99, 2, "the venue does not replace orders: cancel it and send a new one";
    /// PositionEffect(77) is missing, or none of ours.
    58 Effect, "", 99, 2, "PositionEffect(77) must be O or C for this symbol";
    /// PositionEffect(77) is there, and positions net.
    60 NoEffect, "", 99, 2, "PositionEffect(77) is not used for this symbol";
    /// ExpireDate(432) is over.
    59 Expired, "", 99, 2, "ExpireDate(432) is over";
    /// The line has sent as much as its venue takes, and orders do not wait.
    57 Busy, "", 0, 2, "the lines to the venue have no room for more messages now";

    /// Nothing is known of the order.
    30 UnknownOrder, "", 5, 1, "unknown order";
    /// It has ended.
    31 TooLate, "", 4, 0, "too late: the order has ended";
    /// Another request of it is under way.
    32 Pending, "", 99, 3, "the order has a pending cancel or replace";
    /// The request would change nothing that may be changed.
    33 Unchangeable, "", 99, 2, "only quantity and price of an order can be replaced";
    /// Its line broke, and the venue does not have it.
    35 NotReceived, "", 0, 2, "the venue has not received it";
    /// It ended long enough ago.
    37 Forgotten, "", 0, 0, "the order has ended, and is no longer in memory";
    /// A new day is about to begin.
    36 DayEnds, "", 0, 2, "the trading day is changing: try again";
    /// It was older than it may be when it could be sent.
    34 Stale, "RC20", 8, 2, "too old to be sent";

    /// It waited to be sent again.
    70 Contradicted, "", 0, 2, "the venue rejected the order, and then reported that it has it";
    /// All are used.
    71 NoNumber, "", 0, 2, "all order numbers are used";
    /// The session may not say which number an order has.
    72 OwnNumber, "RC2", 0, 2, "order numbers of its own are not allowed for this session";
    /// It has another form, or is not between the first and the last.
    73 NumberForm, "", 99, 2, "the order number is none of the pool";
    /// Another order has it.
    74 NumberUsed, "", 6, 2, "the order number is used";
}

impl Wire<'_> for Reason {
    fn put(&self, to: &mut Vec<u8>) {
        self.why.byte().put(to);
        self.scope.put(to);
        self.value.put(to);
        self.limit.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            why: Why::of(u8::take(from)?)?,
            scope: Scope::take(from)?,
            value: i128::take(from)?,
            limit: i128::take(from)?,
        })
    }
}
