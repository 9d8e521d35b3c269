//! Why an order or request is rejected: FIX reject codes and the sentence of Text(58).

use crate::values::scope::Scope;
use fixwire_ledger::{Put, Wire};

/// Why an order or request is rejected, with the checked value and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// The reason.
    pub why: Why,
    /// The scope whose limit was checked; the firm when no limit was.
    pub scope: Scope,
    /// The value that was checked.
    pub value: i128,
    /// The limit.
    pub limit: i128,
}

impl Reason {
    /// A reason without value and limit.
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
        /// Why an order or a request is rejected.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Why {
            $($(#[$doc])* $name,)+
        }

        impl Why {
            /// All reasons.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Number of the reason in the journal.
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

            /// Code of the control that rejects, such as RC6; empty when no control does.
            #[must_use]
            pub fn control(self) -> &'static str {
                match self {
                    $(Self::$name => $control,)+
                }
            }

            /// OrdRejReason(103) for the reason.
            #[must_use]
            pub fn ord_rej_reason(self) -> u64 {
                match self {
                    $(Self::$name => $order,)+
                }
            }

            /// CxlRejReason(102) for the reason.
            #[must_use]
            pub fn cxl_rej_reason(self) -> u64 {
                match self {
                    $(Self::$name => $cancel,)+
                }
            }

            /// Text(58) for the reason, without value and limit.
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
    /// Rejected by the venue.
    1 Venue, "", 0, 0, "rejected by the venue";
    /// No session of the line group is logged on.
    2 NoLine, "", 0, 2, "no session to the venue is logged on: try again later";
    /// No route for the symbol.
    3 NoRoute, "", 1, 2, "no route for this symbol";
    /// A number is too large or has too many digits.
    4 Number, "", 99, 99, "a quantity, price or value is out of range";
    /// Unsupported OrdType(40), TimeInForce(59), Side(54) or mass request type.
    6 Unsupported, "", 11, 2, "unsupported OrdType(40), TimeInForce(59), Side(54) or mass request type";
    /// The journal could not be read completely.
    7 Incomplete, "", 0, 2, "the OMS could not read its journal: no new orders until it is restored";

    /// A kill switch is on.
    10 Killed, "RC1", 0, 2, "the kill switch is on";
    /// Only orders that reduce the position are allowed.
    11 Reducing, "RC1", 0, 2, "only orders that reduce the position are allowed";
    /// Account unknown, or not allowed for the session.
    12 Account, "RC2", 15, 2, "Account(1) is unknown or not allowed for this session";
    /// Request not allowed for the session.
    13 NotAllowed, "RC2", 0, 2, "not allowed for this session";
    /// Symbol not configured.
    14 Symbol, "RC2", 1, 2, "unknown symbol";
    /// The ClOrdID(11), QuoteID(117) or QuoteReqID(131) was already used today.
    15 Duplicate, "RC4", 6, 6, "duplicate ClOrdID, QuoteID or QuoteReqID";
    /// No limit configured for a required control.
    16 NoLimit, "", 3, 2, "no limit is configured for control";
    /// Above the maximum order quantity.
    17 OrderQuantity, "RC6", 3, 2, "order quantity exceeds the limit";
    /// Zero, or not a multiple of the lot size.
    18 Lot, "RC8", 13, 2, "order quantity is not a multiple of the lot size";
    /// Above the maximum order value.
    19 Value, "RC7", 3, 2, "order value exceeds the limit";
    /// No reference price.
    20 NoReference, "RC8", 99, 2, "no reference price";
    /// Price not a multiple of the tick size.
    21 Tick, "RC8", 99, 2, "price is not a multiple of the tick size";
    /// Price outside the price band.
    22 Collar, "RC8", 99, 2, "price is too far from the reference price";
    /// Too many open orders.
    23 OpenOrders, "RC13", 3, 2, "number of open orders exceeds the limit";
    /// Credit limit exceeded.
    24 Credit, "RC14", 3, 2, "credit limit exceeded";
    /// Long position limit exceeded.
    25 Long, "RC15", 3, 2, "long position limit exceeded";
    /// Short position limit exceeded.
    26 Short, "RC15", 3, 2, "short position limit exceeded";

    /// On the restricted list.
    40 Restricted, "RC3", 0, 2, "symbol is on the restricted list";
    /// Short sale without a locate.
    41 NotLocated, "RC3", 0, 2, "short sale without LocateReqd(114)=N or LocateBroker(5700)";
    /// Too many identical orders.
    42 Repeated, "RC5-1s", 3, 2, "too many identical orders within 1 s";
    /// Above the limit of a second.
    43 ValueSecond, "RC9-value-1s", 3, 2, "value of orders within 1 s exceeds the limit";
    /// Above the limit of a minute.
    44 ValueMinute, "RC9-value-60s", 3, 2, "value of orders within 60 s exceeds the limit";
    /// Above the limit of a day.
    45 ValueDay, "RC9-value-day", 3, 2, "value of today's orders exceeds the limit";
    /// Above the limit of a second.
    46 QuantitySecond, "RC9-quantity-1s", 3, 2, "quantity of orders within 1 s exceeds the limit";
    /// Above the limit of a minute.
    47 QuantityMinute, "RC9-quantity-60s", 3, 2, "quantity of orders within 60 s exceeds the limit";
    /// Above the limit of a day.
    48 QuantityDay, "RC9-quantity-day", 3, 2, "quantity of today's orders exceeds the limit";
    /// Rate limit for orders and replaces.
    49 Rate, "RC10", 3, 2, "rate limit exceeded for orders and replaces within 1 s";
    /// Rate limit for cancels.
    50 CancelRate, "RC10-cancel", 3, 2, "rate limit exceeded for cancels within 1 s";
    /// Too many replaces of the order.
    51 Replaces, "RC11-replaces", 3, 2, "too many replaces of the order";
    /// Too many unacknowledged orders.
    52 Unanswered, "RC11-unanswered", 3, 2, "too many orders that the venue has not acknowledged";
    /// Ratio of orders and replaces to executions.
    53 Ratio, "RC11-ratio", 3, 2, "too many orders and replaces per execution today";
    /// Self-trade prevention.
    54 SelfTrade, "RC16", 99, 2, "self-trade prevention: could trade with an order of the same owner";
    /// Not allowed in the current state of the market.
    55 Market, "RC18", 2, 2, "order not allowed in the current state of the market";

    /// The venue does not support replace.
    56 NoReplace, "", 99, 2, "the venue does not support replace: cancel the order and send a new one";
    /// PositionEffect(77) is missing or unsupported.
    58 Effect, "", 99, 2, "PositionEffect(77) must be O or C for this symbol";
    /// PositionEffect(77) is present, but positions net.
    60 NoEffect, "", 99, 2, "PositionEffect(77) is not used for this symbol";
    /// ExpireDate(432) is in the past.
    59 Expired, "", 99, 2, "ExpireDate(432) is in the past";
    /// Rate limit of the sessions to the venue, without a queue.
    57 Busy, "", 0, 2, "rate limit of the sessions to the venue is reached: try again later";

    /// Unknown order.
    30 UnknownOrder, "", 5, 1, "unknown order";
    /// The order is closed.
    31 TooLate, "", 4, 0, "too late: the order is no longer open";
    /// OrigClOrdID(41) is a former ClOrdID of an open order, or was never its ClOrdID.
    39 FormerId, "", 99, 0, "OrigClOrdID(41) is not the ClOrdID(11) that the order has now";
    /// Another request for the order is pending.
    32 Pending, "", 99, 3, "the order already has a pending cancel or replace";
    /// The request changes a field that cannot be replaced.
    33 Unchangeable, "", 99, 2, "only OrderQty(38) and Price(44) may differ from the order";
    /// The session disconnected, and the venue did not receive the request.
    35 NotReceived, "", 0, 2, "the venue did not receive the request";
    /// The OMS cancels the order over the request, or the client cancels over one that is unknown.
    38 GaveWay, "", 0, 3, "another cancel of the order was sent: the answer to this request is not awaited";
    /// The order is closed and was removed from memory.
    37 Forgotten, "", 0, 0, "the order is closed and no longer in memory";
    /// A new trading day is starting.
    36 DayEnds, "", 0, 2, "a new trading day is starting: try again";
    /// The disk of the journal is full.
    160 DiskFull, "", 0, 2, "the disk of the OMS is full: only cancels are accepted until it has room";
    /// No rate for the currency of the symbol.
    161 NoRate, "", 99, 2, "no rate for the currency of the symbol";
    /// The rate of the currency of the symbol is too old.
    162 StaleRate, "", 99, 2, "the rate for the currency of the symbol is too old";
    /// It timed out before it could be sent.
    34 Stale, "RC20", 8, 2, "timed out before it could be sent to the venue";

    /// The venue reported the order as open after rejecting it.
    70 Contradicted, "", 0, 2, "the venue rejected the order, then reported it as open";
    /// No pool numbers are left.
    71 NoNumber, "", 0, 2, "no order numbers left";
    /// The session may not choose order numbers.
    72 OwnNumber, "RC2", 0, 2, "this session may not choose its own order numbers";
    /// The number has another format, or is out of range.
    73 NumberForm, "", 99, 2, "the order number does not belong to the pool";
    /// The session may not place conditional orders.
    80 NotConditional, "RC2", 0, 2, "conditional orders are not allowed for this session";
    /// Too many held orders.
    81 Conditionals, "", 3, 2, "too many conditional orders of this session are held";
    /// TimeInForce(59) that TMP does not have.
    90 TmpTimeInForce, "", 11, 2, "over TMP TimeInForce(59) must be 0 (Day), 3 (Immediate or Cancel) or 4 (Fill or Kill)";
    /// The account is no number.
    91 TmpAccount, "", 15, 2, "over TMP Account(1) must be a number of at most 9 digits";
    /// The symbol is too long.
    92 TmpSymbol, "", 1, 2, "over TMP Symbol(55) has at most 40 bytes";
    /// The quantity is too large.
    93 TmpQuantity, "", 13, 2, "over TMP OrderQty(38) is at most 65535";
    /// The price is too large.
    94 TmpPrice, "", 99, 2, "over TMP Price(44) must have a place in 32 bits";
    /// A replace of price and quantity.
    95 TmpBoth, "", 99, 2, "over TMP a replace changes OrderQty(38) or Price(44), not both: send two";
    /// A replace that adds quantity.
    96 TmpIncrease, "", 99, 2, "over TMP a replace cannot raise OrderQty(38): send a new order for the rest";
    /// Another value of an order from before a change of settings.
    97 TmpValues, "", 99, 2, "not sent: TMP has no place for the values of the order";
    /// No PositionEffect for a symbol whose positions net.
    150 TmpEffect, "", 99, 2, "over TMP an order of futures needs a PositionEffect: give it PositionEffect(77) or set position_effect of its user or link";
    /// PositionEffect(77) that TMP does not have.
    151 TmpEffectValue, "", 99, 2, "over TMP PositionEffect(77) must be O, C, D or 7; of options it may be A too";
    /// The session may not place parent and child orders.
    105 NotParents, "RC2", 0, 2, "parent and child orders are not allowed for this session";
    /// Too many open parents.
    106 Parents, "", 3, 2, "too many parent orders of this session are open";
    /// The parent is unknown, or takes no more children.
    107 NoParent, "", 5, 2, "the parent order is unknown, or no longer open for child orders";
    /// The child differs from its parent.
    108 ParentTerms, "", 99, 2, "the child order does not fit its parent order";
    /// More than is left of the parent.
    109 ParentQuantity, "", 13, 2, "order quantity exceeds what is left of the parent order";
    /// A replace of the parent below what its children have.
    120 ChildrenHold, "", 99, 2, "order quantity is below what child orders have filled and hold";
    /// The sides of a quote cross.
    98 QuoteCrossed, "", 99, 2, "BidPx(132) must be below OfferPx(133)";
    /// The other side of the quote was rejected before it was sent.
    99 OtherSide, "", 0, 2, "the other side of the quote was rejected";
    /// No quote of the session has this QuoteID(117).
    100 UnknownQuote, "", 5, 1, "unknown quote";
    /// Over TMP the price of a side of a quote does not change.
    101 QuotePrice, "", 99, 2, "over TMP the price of a quote does not change: send a new Quote(S)";
    /// Too many price inquiries wait for their answer.
    102 Inquiries, "", 3, 2, "too many price inquiries of this session wait for their answer";
    /// The venue did not answer an inquiry.
    103 InquiryLost, "", 0, 2, "the venue has not answered the price inquiry: send a new one";
    /// An inquiry has several symbols.
    104 InquirySymbols, "", 99, 2, "a QuoteRequest(R) names one symbol: send one for each";
    /// A spread is sold, not sold short.
    126 SpreadSide, "", 99, 2, "Side(54) of a spread must be 1 (Buy) or 2 (Sell)";
    /// The legs of a spread could not be set.
    127 SpreadLegs, "", 1, 2, "the legs of this spread were spreads before, or it was a leg: give it another symbol";
    /// A field of the request would not reach the venue.
    110 NotCarried, "", 11, 99, "a field of the request would not reach the venue";
    /// The number is already used.
    74 NumberUsed, "", 6, 2, "the order number was used before";
}

impl Wire<'_> for Reason {
    fn put(&self, to: &mut impl Put) {
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
