//! Status codes of the exchange, with texts.

use core::fmt;

use crate::wire::WireField;

/// A status code. 0 means success; 248 and 249 are warnings. Any value can be read.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TmpStatus(pub u8);

macro_rules! statuses {
    ($($code:literal $name:ident $text:literal,)*) => {
        impl TmpStatus {
            $(#[doc = $text] pub const $name: Self = Self($code);)*

            /// The meaning of the code; `None` for a code that is not in the table.
            #[must_use]
            pub const fn text(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some($text),)*
                    _ => None,
                }
            }
        }

        /// Every code of the table with its text, ascending by code.
        pub const STATUS_TEXTS: &[(TmpStatus, &str)] = &[$((TmpStatus($code), $text),)*];
    };
}

statuses! {
    0 OK "Success",
    1 CLOSED "Market closed",
    2 NOT_OPEN "Market not open, or trading halted",
    5 NO_SUCH_ORDER "No such order",
    6 FILLED "Order already filled",
    7 CANCELLED "Order already cancelled",
    10 NOT_IN_BOOK "Order not in the book",
    11 EXEC_TYPE "Invalid ExecType",
    12 BROKER "Invalid broker",
    14 ACCOUNT "Invalid account",
    16 NO_CANCEL_PERIOD "No cancel or change allowed in this period",
    17 DUPLICATE_ORDER_NO "Duplicate order number",
    20 PRODUCT "Invalid product",
    21 PRICE_LIMIT "Price outside the daily limits",
    22 QUANTITY "Invalid quantity",
    24 SIDE "Invalid Side",
    25 ORD_TYPE "Invalid OrdType",
    26 PRICE_TYPE "Invalid OrdType for this price",
    27 TIME_IN_FORCE "Invalid TimeInForce",
    28 POSITION_EFFECT "Invalid PositionEffect",
    29 TICK "Price not a multiple of the tick size",
    32 REDUCED_MORE_THAN_LEFT "Reduced by more than LeavesQty: all that was left is cancelled",
    37 INQUIRY_EXISTS "A price inquiry for this product is open already",
    38 MARKET_NEEDS_IOC "Market order must be IOC or FOK",
    47 BANDING_REMAINDER "Remainder cancelled by dynamic price banding",
    48 BANDING_LIMIT "Dynamic price banding: limit disclosed",
    51 FOK_KILLED "FOK order not filled: cancelled",
    52 IOC_REMAINDER "Remainder of an IOC order cancelled",
    53 IOC_KILLED "IOC order not filled: cancelled",
    61 OTHER_SIDE "Side differs from the original order",
    62 OTHER_PRODUCT "Product differs from the original order",
    63 NO_PRICE_CHANGE "Price of an IOC order cannot change",
    65 KILL_SWITCH "Kill switch is on",
    91 TIMEOUT "Link: no message within the time limit",
    92 LENGTH "Link: wrong message length",
    93 FORMAT "Link: wrong message format",
    99 MAJOR_ERROR "Major error at the exchange",
    121 BULLETIN_TOO_SOON "Bulletin request too soon after the last one",
    155 SERIAL "Invalid serial number",
    200 CLOCK "Warning: clock differs by more than 0.5 s",
    201 APPEND_NO "L40: wrong append_no",
    202 FCM_ID "Header or L40: wrong fcm_id",
    203 AP_CODE "L40: wrong ap_code",
    204 KEY_VALUE "L40: wrong key_value",
    205 SESSION_ID "Header or L40: wrong session_id",
    206 SYSTEM_TYPE "L40: wrong system_type",
    207 MSG_SEQ_NUM "MsgSeqNum is not contiguous",
    208 SUBSCRIPTION_208 "Link or subscription: wrong field (208)",
    209 SUBSCRIPTION_209 "Link or subscription: wrong field (209)",
    210 SUBSCRIPTION_210 "Link or subscription: wrong field (210)",
    240 FLOW_EXCEEDED "Flow limit exceeded",
    241 LOCKED "Session is locked",
    242 TOO_LATE "Order refused: msg_time is older than cancel_order_sec",
    248 FLOW_80 "Warning: 80 % of the flow limit used",
    249 FLOW_90 "Warning: 90 % of the flow limit used",
    250 LATE "Warning: msg_time is more than 2 s old",
}

impl TmpStatus {
    /// Whether the request succeeded: the code is 0, or a flow warning in a normal reply.
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::OK | Self::FLOW_80 | Self::FLOW_90)
    }
}

impl WireField for TmpStatus {
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

impl fmt::Display for TmpStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "status {} ({})",
            self.0,
            self.text().unwrap_or("unknown")
        )
    }
}

impl fmt::Debug for TmpStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_code_has_one_text() {
        assert!(STATUS_TEXTS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (status, text) in STATUS_TEXTS {
            assert_eq!(status.text(), Some(*text));
        }
        assert_eq!(
            TmpStatus::TICK.to_string(),
            "status 29 (Price not a multiple of the tick size)"
        );
        assert_eq!(TmpStatus(77).to_string(), "status 77 (unknown)");
        assert!(TmpStatus::FLOW_90.is_success() && !TmpStatus::FLOW_EXCEEDED.is_success());
    }
}
