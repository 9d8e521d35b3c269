//! The values that orders are made of, each with one byte or a few in the journal.

use alloc::boxed::Box;
use core::fmt;

/// Orders and requests have numbers from 1, all in one sequence that no day restarts.
pub type Number = u64;

/// A quantity in whole units: shares, contracts.
pub type Quantity = u64;

/// A price in units of 10 to the power of minus the instrument's price scale.
pub type Price = i64;

/// Price times quantity, of both their units; or money in units of 10^-9 where that is said.
pub type Amount = i128;

/// An enum of one byte in the journal; for each variant its byte.
macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $byte:expr,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Its byte.
            #[must_use]
            pub fn byte(self) -> u8 {
                match self {
                    $(Self::$variant => $byte,)+
                }
            }

            /// That of this byte; `None` when none has it.
            #[must_use]
            pub fn of(byte: u8) -> Option<Self> {
                match byte {
                    $(byte if byte == $byte => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

bytes! {
    /// Side(54).
    Side {
        /// It takes the instrument.
        Buy = b'1',
        /// It gives the instrument.
        Sell = b'2',
        /// A sale of what is not owned.
        SellShort = b'5',
    }
}

impl Side {
    /// It adds to a position.
    #[must_use]
    pub fn is_buy(self) -> bool {
        self == Self::Buy
    }
}

bytes! {
    /// OrdType(40).
    OrderType {
        /// At any price.
        Market = b'1',
        /// At its price or a better one.
        Limit = b'2',
        /// A market order from its stop price on.
        Stop = b'3',
        /// A limit order from its stop price on.
        StopLimit = b'4',
    }
}

impl OrderType {
    /// Price(44) is needed.
    #[must_use]
    pub fn has_price(self) -> bool {
        matches!(self, Self::Limit | Self::StopLimit)
    }

    /// StopPx(99) is needed.
    #[must_use]
    pub fn has_stop(self) -> bool {
        matches!(self, Self::Stop | Self::StopLimit)
    }
}

bytes! {
    /// TimeInForce(59).
    TimeInForce {
        /// Until the end of the day.
        Day = b'0',
        /// Until it is cancelled.
        GoodTillCancel = b'1',
        /// What cannot trade at once is cancelled.
        ImmediateOrCancel = b'3',
        /// All at once or nothing.
        FillOrKill = b'4',
        /// Until a date: ExpireDate(432).
        GoodTillDate = b'6',
    }
}

bytes! {
    /// PositionEffect(77).
    Effect {
        /// None is named: what is held on the other side is closed first.
        Netting = b'N',
        /// It opens a position, whatever is held on the other side.
        Open = b'O',
        /// It closes what is held on the other side.
        Close = b'C',
    }
}

bytes! {
    /// How an order has ended.
    End {
        /// All of it is filled.
        Filled = b'2',
        /// Cancelled, by whomever.
        Cancelled = b'4',
        /// Rejected before the venue had accepted it.
        Rejected = b'8',
        /// Its time was over.
        Expired = b'C',
        /// The venue does no more with it today.
        DoneForDay = b'3',
    }
}

bytes! {
    /// What a client or an operator asked for an order.
    RequestKind {
        /// OrderCancelReplaceRequest(G).
        Replace = b'G',
        /// OrderCancelRequest(F).
        Cancel = b'F',
    }
}

bytes! {
    /// Whether new risk may be taken on: for the firm, a session, an account, an instrument.
    Trading {
        /// Orders pass.
        Active = b'A',
        /// Only orders that make the position smaller pass.
        Reducing = b'R',
        /// Nothing but cancels passes.
        Killed = b'K',
    }
}

bytes! {
    /// What a market allows.
    Market {
        /// Every order.
        Open = b'O',
        /// Orders that may wait.
        Auction = b'A',
        /// No new order.
        Halted = b'H',
        /// No new order, for today.
        Closed = b'C',
    }
}

impl fmt::Display for Market {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Auction => "auction",
            Self::Halted => "halted",
            Self::Closed => "closed",
        })
    }
}

bytes! {
    /// Whether a client is logged on.
    Presence {
        /// It is, or has never been.
        Here = b'H',
        /// It has logged out.
        LoggedOut = b'O',
        /// Its connection was lost.
        Lost = b'L',
    }
}

impl fmt::Display for Trading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::Reducing => "reducing",
            Self::Killed => "killed",
        })
    }
}

/// Bytes that a peer chose, such as ClOrdID(11): those of usual length stand in place.
#[derive(Clone)]
pub struct Text(Inner);

#[derive(Clone)]
enum Inner {
    Short(u8, [u8; Text::SHORT]),
    Long(Box<[u8]>),
}

impl Text {
    /// What stands in place, in bytes.
    pub const SHORT: usize = 22;
    /// The longest, in bytes.
    pub const MAX: usize = 64;
    /// No bytes.
    pub const EMPTY: Self = Self(Inner::Short(0, [0; Self::SHORT]));

    /// These bytes.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let mut short = [0; Self::SHORT];
        match short.get_mut(..bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                Self(Inner::Short(bytes.len() as u8, short))
            }
            None => Self(Inner::Long(bytes.into())),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Inner::Short(len, bytes) => &bytes[..usize::from(*len)],
            Inner::Long(bytes) => bytes,
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}",
            alloc::string::String::from_utf8_lossy(self.bytes())
        )
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&alloc::string::String::from_utf8_lossy(self.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_bytes_short_or_long() {
        for len in [0, 1, Text::SHORT, Text::SHORT + 1, Text::MAX] {
            let bytes = alloc::vec![b'x'; len];
            assert_eq!(Text::new(&bytes).bytes(), bytes);
        }
        assert_eq!(size_of::<Text>(), 24);
    }

    #[test]
    fn a_byte_is_of_one_value_at_most() {
        for byte in 0..=255 {
            assert!(Side::of(byte).is_none_or(|side| side.byte() == byte));
            assert!(End::of(byte).is_none_or(|end| end.byte() == byte));
        }
        assert_eq!(Side::of(b'3'), None);
    }
}
