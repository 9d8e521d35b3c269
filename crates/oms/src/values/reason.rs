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

            pub(crate) fn of(byte: u8) -> Option<Self> {
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
    /// The account is not configured, or the session may not use it.
    12 Account, "RC2", 15, 2, "Account(1) is unknown or not allowed for this session";
    /// The session does not have the right for the request.
    13 NotAllowed, "RC2", 0, 2, "not allowed for this session";
    /// The symbol is not configured.
    14 Symbol, "RC2", 1, 2, "unknown symbol";
    /// The ClOrdID(11), QuoteID(117) or QuoteReqID(131) was already used today.
    15 Duplicate, "RC4", 6, 6, "duplicate ClOrdID, QuoteID or QuoteReqID";
    /// A required control has no limit at any scope of the order.
    16 NoLimit, "", 3, 2, "no limit is configured for control";
    /// The order quantity is above its limit.
    17 OrderQuantity, "RC6", 3, 2, "order quantity exceeds the limit";
    /// The quantity is zero, or not a multiple of the lot size.
    18 Lot, "RC8", 13, 2, "order quantity is not a multiple of the lot size";
    /// The value of the order is above its limit.
    19 Value, "RC7", 3, 2, "order value exceeds the limit";
    /// The symbol has no reference price.
    20 NoReference, "RC8", 99, 2, "no reference price";
    /// The price is not a multiple of the tick size.
    21 Tick, "RC8", 99, 2, "price is not a multiple of the tick size";
    /// The price is too far from the reference price.
    22 Collar, "RC8", 99, 2, "price is too far from the reference price";
    /// Too many open orders.
    23 OpenOrders, "RC13", 3, 2, "number of open orders exceeds the limit";
    /// Credit limit exceeded.
    24 Credit, "RC14", 3, 2, "credit limit exceeded";
    /// Long position limit exceeded.
    25 Long, "RC15", 3, 2, "long position limit exceeded";
    /// Short position limit exceeded.
    26 Short, "RC15", 3, 2, "short position limit exceeded";

    /// The symbol is on the restricted list.
    40 Restricted, "RC3", 0, 2, "symbol is on the restricted list";
    /// Short sale without a locate.
    41 NotLocated, "RC3", 0, 2, "short sale without LocateReqd(114)=N or LocateBroker(5700)";
    /// Too many identical orders.
    42 Repeated, "RC5-1s", 3, 2, "too many identical orders within 1 s";
    /// The value of orders within a second is above its limit.
    43 ValueSecond, "RC9-value-1s", 3, 2, "value of orders within 1 s exceeds the limit";
    /// The value of orders within a minute is above its limit.
    44 ValueMinute, "RC9-value-60s", 3, 2, "value of orders within 60 s exceeds the limit";
    /// The value of today's orders is above its limit.
    45 ValueDay, "RC9-value-day", 3, 2, "value of today's orders exceeds the limit";
    /// The quantity of orders within a second is above its limit.
    46 QuantitySecond, "RC9-quantity-1s", 3, 2, "quantity of orders within 1 s exceeds the limit";
    /// The quantity of orders within a minute is above its limit.
    47 QuantityMinute, "RC9-quantity-60s", 3, 2, "quantity of orders within 60 s exceeds the limit";
    /// The quantity of today's orders is above its limit.
    48 QuantityDay, "RC9-quantity-day", 3, 2, "quantity of today's orders exceeds the limit";
    /// There are more orders and replaces within a second than the limit allows.
    49 Rate, "RC10", 3, 2, "rate limit exceeded for orders and replaces within 1 s";
    /// There are more cancels within a second than the limit allows.
    50 CancelRate, "RC10-cancel", 3, 2, "rate limit exceeded for cancels within 1 s";
    /// Too many replaces of the order.
    51 Replaces, "RC11-replaces", 3, 2, "too many replaces of the order";
    /// Too many unacknowledged orders.
    52 Unanswered, "RC11-unanswered", 3, 2, "too many orders that the venue has not acknowledged";
    /// There are more orders and replaces per execution than the limit allows.
    53 Ratio, "RC11-ratio", 3, 2, "too many orders and replaces per execution today";
    /// The order could trade with another open order of the same owner.
    54 SelfTrade, "RC16", 99, 2, "self-trade prevention: could trade with an order of the same owner";
    /// The state of the market does not allow the order.
    55 Market, "RC18", 2, 2, "order not allowed in the current state of the market";

    /// The venue does not support replace.
    56 NoReplace, "", 99, 2, "the venue does not support replace: cancel the order and send a new one";
    /// PositionEffect(77) is missing or unsupported.
    58 Effect, "", 99, 2, "PositionEffect(77) must be O or C for this symbol";
    /// The order has PositionEffect(77), but positions of the symbol net.
    60 NoEffect, "", 99, 2, "PositionEffect(77) is not used for this symbol";
    /// ExpireDate(432) is in the past.
    59 Expired, "", 99, 2, "ExpireDate(432) is in the past";
    /// The rate limit of the sessions to the venue is reached, and the line group has no queue.
    57 Busy, "", 0, 2, "rate limit of the sessions to the venue is reached: try again later";

    /// The OMS does not have the order.
    30 UnknownOrder, "", 5, 1, "unknown order";
    /// The order is closed.
    31 TooLate, "", 4, 0, "too late: the order is no longer open";
    /// OrigClOrdID(41) is a former ClOrdID(11) of an open order, or was never the ClOrdID of the order.
    39 FormerId, "", 99, 0, "OrigClOrdID(41) is not the ClOrdID(11) that the order has now";
    /// Another request for the order is pending.
    32 Pending, "", 99, 3, "the order already has a pending cancel or replace";
    /// The request changes a field that cannot be replaced.
    33 Unchangeable, "", 99, 2, "only OrderQty(38) and Price(44) of a replace may differ from the order";
    /// The session disconnected, and the venue did not receive the request.
    35 NotReceived, "", 0, 2, "the venue did not receive the request";
    /// Another cancel of the order was sent while this request was pending: a cancel of the OMS, or a cancel of the
    /// client when the state of the request was unknown.
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
    /// The symbol, or a leg of it, has expired.
    170 SecurityExpired, "", 99, 2, "the symbol has expired";
    /// Symbol(55) and SecurityID(48) of a request name different instruments.
    171 OtherSecurity, "", 99, 2, "Symbol(55) and SecurityID(48) name different instruments";
    /// Open orders have kept a name at the venue that the settings give to another symbol or account.
    172 NameTaken, "", 99, 2, "open orders have a name at the venue that is now that of another";
    /// The order or request timed out before it could be sent.
    34 Stale, "RC20", 8, 2, "timed out before it could be sent to the venue";

    /// The venue rejected the order, then reported it as open.
    70 Contradicted, "", 0, 2, "the venue rejected the order, then reported it as open";
    /// The pool has no order numbers left.
    71 NoNumber, "", 0, 2, "no order numbers left";
    /// The session may not choose order numbers.
    72 OwnNumber, "RC2", 0, 2, "this session may not choose its own order numbers";
    /// The order number that the client chose has another format than the pool, or is out of range.
    73 NumberForm, "", 99, 2, "the order number does not belong to the pool";
    /// The session may not place conditional orders.
    80 NotConditional, "RC2", 0, 2, "conditional orders are not allowed for this session";
    /// The session has as many held orders as it may have.
    81 Conditionals, "", 3, 2, "too many conditional orders of this session are held";
    /// The order has two conditions, or a condition and a stop price.
    82 TwoConditions, "", 11, 2, "an order has one condition: the own tag condition, TriggerType(1100) or StopPx(99)";
    /// A parent order has a condition or a validity.
    83 ParentCondition, "", 11, 2, "a parent order is not sent itself: it has no condition and no validity";
    /// TMP has no value for this TimeInForce(59).
    90 TmpTimeInForce, "", 11, 2, "over TMP TimeInForce(59) must be 0 (Day), 3 (Immediate or Cancel) or 4 (Fill or Kill)";
    /// The account is not a number, as TMP needs it.
    91 TmpAccount, "", 15, 2, "over TMP Account(1) must be a number of at most 9 digits";
    /// The symbol is too long for TMP.
    92 TmpSymbol, "", 1, 2, "over TMP Symbol(55) has at most 40 bytes";
    /// The quantity is too large for TMP.
    93 TmpQuantity, "", 13, 2, "over TMP OrderQty(38) is at most 65535";
    /// The price is too large for TMP.
    94 TmpPrice, "", 99, 2, "over TMP Price(44) must have a place in 32 bits";
    /// A replace over TMP changes both price and quantity.
    95 TmpBoth, "", 99, 2, "over TMP a replace changes OrderQty(38) or Price(44), not both: send two";
    /// A replace over TMP raises the quantity.
    96 TmpIncrease, "", 99, 2, "over TMP a replace cannot raise OrderQty(38): send a new order for the rest";
    /// TMP cannot carry another value of the order, which was accepted before the settings changed.
    97 TmpValues, "", 99, 2, "not sent: TMP has no place for the values of the order";
    /// The order has no PositionEffect, which a line for futures needs although positions of the symbol net.
    150 TmpEffect, "", 99, 2, "over TMP an order of futures needs a PositionEffect: give it PositionEffect(77) or set position_effect of its user or link";
    /// TMP has no value for this PositionEffect(77).
    151 TmpEffectValue, "", 99, 2, "over TMP PositionEffect(77) must be O, C, D or 7; of options it may be A too";
    /// A field of the request fills a field of TMP, which cannot have its value.
    152 TmpField, "", 99, 99, "over TMP a field of the request has a value that does not fit";
    /// The session may not place parent and child orders.
    105 NotParents, "RC2", 0, 2, "parent and child orders are not allowed for this session";
    /// The session has as many open parent orders as it may have.
    106 Parents, "", 3, 2, "too many parent orders of this session are open";
    /// The parent is not in memory, or may get no more children.
    107 NoParent, "", 5, 2, "the parent order is unknown, or no longer open for child orders";
    /// A value of the child does not fit its parent.
    108 ParentTerms, "", 99, 2, "the child order does not fit its parent order";
    /// The quantity of the child is more than what is left of its parent.
    109 ParentQuantity, "", 13, 2, "order quantity exceeds what is left of the parent order";
    /// A replace reduces a parent below the quantity that its children have filled and hold.
    120 ChildrenHold, "", 99, 2, "order quantity is below what child orders have filled and hold";
    /// The bid price of a quote is not below its offer price.
    98 QuoteCrossed, "", 99, 2, "BidPx(132) must be below OfferPx(133)";
    /// The other side of the quote was rejected before it was sent.
    99 OtherSide, "", 0, 2, "the other side of the quote was rejected";
    /// No quote of the session has this QuoteID(117).
    100 UnknownQuote, "", 5, 1, "unknown quote";
    /// A replace changes the price of a side of a quote, which TMP does not allow.
    101 QuotePrice, "", 99, 2, "over TMP the price of a quote does not change: send a new Quote(S)";
    /// The session has as many waiting price inquiries as it may have.
    102 Inquiries, "", 3, 2, "too many price inquiries of this session wait for their answer";
    /// The venue did not answer an inquiry.
    103 InquiryLost, "", 0, 2, "the venue has not answered the price inquiry: send a new one";
    /// An inquiry has several symbols.
    104 InquirySymbols, "", 99, 2, "a QuoteRequest(R) names one symbol: send one for each";
    /// The side of a spread's order is neither buy nor sell.
    126 SpreadSide, "", 99, 2, "Side(54) of a spread must be 1 (Buy) or 2 (Sell)";
    /// The legs of a spread could not be set.
    127 SpreadLegs, "", 1, 2, "the legs of this spread were spreads before, or it was a leg: give it another symbol";
    /// A field of the request would not reach the venue.
    110 NotCarried, "", 11, 99, "a field of the request would not reach the venue";
    /// The quantity that the venue would show is above that of the order.
    153 Displayed, "", 13, 2, "the displayed quantity is above OrderQty(38)";
    /// The order number that the client chose was used before.
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
