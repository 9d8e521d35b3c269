//! Enumerated fields of one byte. Any value can be read; known values have names.

use core::fmt;

use crate::wire::WireField;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident, $all:literal { $($(#[$value_doc:meta])* $value:ident = $code:literal $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, Eq, Hash, PartialEq)]
        pub struct $name(pub u8);

        impl $name {
            $($(#[$value_doc])* pub const $value: Self = Self($code);)*

            /// The name of the value; `None` for a value that is not defined.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some($text),)*
                    _ => None,
                }
            }
        }

        impl WireField for $name {
            const BYTES: usize = 1;
            const KIND: &'static str = "u8";
            const ZERO: Self = Self(0);
            const CODES: &'static [(u8, &'static str)] = &[$(($code, $text),)*];
            #[inline]
            fn get(bytes: &[u8]) -> Self {
                Self(bytes[0])
            }
            #[inline]
            fn put(self, bytes: &mut [u8]) {
                bytes[0] = self.0;
            }
            #[inline]
            fn unknown(self) -> Option<(u64, &'static str)> {
                self.name().is_none().then_some((u64::from(self.0), $all))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} ({})", self.0, self.name().unwrap_or("unknown"))
            }
        }
    )*};
}

codes! {
    /// ExecType: what a request asks for, or what a report is about. A character.
    TmpExecType, "48 new, 52 cancel, 53 reduce, 54 new with fill, 70 fill, 73 query, 77 or 109 price" {
        /// A new order. Reported as an acknowledgement.
        NEW = b'0' "new",
        /// Cancels the order.
        CANCEL = b'4' "cancel",
        /// Reduces the order. The quantity is the quantity to remove.
        REDUCE = b'5' "reduce",
        /// The report on a new order that also has a fill.
        NEW_FILL = b'6' "new with fill",
        /// A fill.
        FILL = b'F' "fill",
        /// Queries the state of the order.
        QUERY = b'I' "query",
        /// Changes the price. Later fills are reported on the link that sends this request.
        PRICE_HERE = b'M' "price, reports move here",
        /// Changes the price. Later fills are reported on the same link as before.
        PRICE = b'm' "price",
    }
    /// Side of an order, or of a leg.
    TmpSide, "1 buy, 2 sell" {
        /// Buy.
        BUY = 1 "buy",
        /// Sell.
        SELL = 2 "sell",
    }
    /// OrdType.
    TmpOrdType, "1 market, 2 limit, 3 market with protection" {
        /// Market.
        MARKET = 1 "market",
        /// Limit.
        LIMIT = 2 "limit",
        /// Market order with protection: the exchange converts it to a limit order near the market.
        MARKET_WITH_PROTECTION = 3 "market with protection",
    }
    /// TimeInForce.
    TmpTimeInForce, "0 day, 3 immediate or cancel, 4 fill or kill, 8 timed quote" {
        /// Day (ROD).
        DAY = 0 "day",
        /// Immediate or cancel.
        IOC = 3 "immediate or cancel",
        /// Fill or kill.
        FOK = 4 "fill or kill",
        /// A quote that the exchange cancels after a time.
        TIMED_QUOTE = 8 "timed quote",
    }
    /// PositionEffect. A character.
    TmpPositionEffect, "55 (7), 57 quote, 65 (A), 67 close, 68 day trade, 79 open" {
        /// Opens a position.
        OPEN = b'O' "open",
        /// Closes a position.
        CLOSE = b'C' "close",
        /// Day trade.
        DAY_TRADE = b'D' "day trade",
        /// Opens or offsets positions as specified; for options only.
        AUTOMATIC = b'A' "automatic",
        /// Liquidation by the broker.
        LIQUIDATION = b'7' "liquidation",
        /// A quote.
        QUOTE = b'9' "quote",
    }
    /// How the bytes of a symbol must be read.
    TmpSymbolType, "1 numeric of 20 bytes, 2 text of 20, 3 numeric of 40, 4 text of 40" {
        /// Numbers, 20 bytes.
        NUMERIC_20 = 1 "numeric, 20 bytes",
        /// Text, 20 bytes.
        TEXT_20 = 2 "text, 20 bytes",
        /// Numbers, 40 bytes.
        NUMERIC_40 = 3 "numeric, 40 bytes",
        /// Text, 40 bytes.
        TEXT_40 = 4 "text, 40 bytes",
    }
    /// Market (options or futures) and trading session (day or night).
    SystemType, "10 options day, 11 options night, 20 futures day, 21 futures night" {
        /// Options, regular session.
        OPTIONS_DAY = 10 "options day",
        /// Options, after-hours session.
        OPTIONS_NIGHT = 11 "options night",
        /// Futures, regular session.
        FUTURES_DAY = 20 "futures day",
        /// Futures, after-hours session.
        FUTURES_NIGHT = 21 "futures night",
    }
    /// The purpose of a link.
    ApCode, "4 trading, 6 trading with short reports, 7 drop copy, 8 clearing member" {
        /// Trading; reports on orders are R02 or R32.
        TRADING = 4 "trading",
        /// Trading; reports on orders are R22.
        TRADING_SHORT = 6 "trading with short reports",
        /// Drop copy (TMPDC).
        DROP_COPY = 7 "drop copy",
        /// Reports to a clearing member (TMPCM).
        CLEARING_MEMBER = 8 "clearing member",
    }
}

impl SystemType {
    /// Whether the products of this market are options.
    #[must_use]
    pub const fn is_options(self) -> bool {
        matches!(self, Self::OPTIONS_DAY | Self::OPTIONS_NIGHT)
    }
}

impl TmpPositionEffect {
    /// Whether an order that is not a quote may have this value: O, C, D and 7. A is allowed for options only; there
    /// it opens or offsets positions as specified.
    #[must_use]
    pub const fn is_of_orders(self, system: SystemType) -> bool {
        match self {
            Self::OPEN | Self::CLOSE | Self::DAY_TRADE | Self::LIQUIDATION => true,
            Self::AUTOMATIC => system.is_options(),
            _ => false,
        }
    }
}

impl TmpSymbolType {
    /// Whether the symbol is numeric.
    #[must_use]
    pub const fn is_numeric(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The proof of a password: two of the password's digits, mixed with the number that L30 sent. `Debug` masks the
/// value.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct KeyValue(pub u8);

impl WireField for KeyValue {
    const BYTES: usize = 1;
    const KIND: &'static str = "u8";
    const ZERO: Self = Self(0);
    #[inline]
    fn get(bytes: &[u8]) -> Self {
        Self(bytes[0])
    }
    #[inline]
    fn put(self, bytes: &mut [u8]) {
        bytes[0] = self.0;
    }
}

impl fmt::Debug for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
