//! The values of orders, each with one or a few bytes in the journal.

use alloc::boxed::Box;
use core::fmt;
use fixwire_ledger::{Put, Wire, bytes};

/// Number of an order or a request. Orders and requests share one sequence from 1 on, which continues over trading
/// days.
pub type Number = u64;

/// A quantity of shares, contracts or parts of a coin. The unit is 10^-n, where n is the number of quantity decimals of
/// the instrument.
pub type Quantity = u64;

/// The most decimals that quantities of an instrument have.
pub(crate) const MOST_QUANTITY_DECIMALS: u8 = 8;

/// A price. The unit is 10^-n, where n is the number of price decimals of the instrument.
pub type Price = i64;

/// Price times quantity in their units; or money in units of 10^-9 where stated.
pub type Amount = i128;

bytes! {
    /// How the answer of a venue to an OrderMassStatusRequest(AF) ended.
    MassEnd {
        /// The whole answer was received.
        Complete = b'A',
        /// Fewer reports were received than TotNumReports(911) says.
        Incomplete = b'I',
        /// No answer was received.
        Silent = b'S',
        /// The venue rejected the request.
        Refused = b'R',
    }
}

bytes! {
    /// Side(54).
    Side {
        /// Buy.
        Buy = b'1',
        /// Sell.
        Sell = b'2',
        /// Sell short.
        SellShort = b'5',
        /// Sell short, exempt from the price test of short sales.
        SellShortExempt = b'6',
    }
}

impl Side {
    /// Whether it buys.
    #[must_use]
    pub fn is_buy(self) -> bool {
        self == Self::Buy
    }

    /// Whether it is a short sale, exempt or not.
    #[must_use]
    pub fn is_short(self) -> bool {
        match self {
            Self::Buy | Self::Sell => false,
            Self::SellShort | Self::SellShortExempt => true,
        }
    }

    /// Whether a report with this side may be of an order with the other one: venues and brokers may report a short
    /// sale as exempt, or as not exempt.
    pub(crate) fn agrees(self, other: Self) -> bool {
        self.is_buy() == other.is_buy() && self.is_short() == other.is_short()
    }
}

bytes! {
    /// How the reports of a line differ from the venue's drop copy or from the state of the order in the OMS.
    BreakKind {
        /// The drop copy did not have a fill that the line reported.
        NoCopy = 1,
        /// The line did not report a fill that the drop copy has.
        NoReport = 2,
        /// Line and drop copy report different quantities or prices of a fill.
        Differs = 3,
        /// The order is closed in the drop copy and open in the OMS.
        NotClosed = 4,
        /// A fill of an order placed elsewhere, whose account or symbol is not configured.
        Unplaced = 5,
        /// CumQty(14) of the venue is above the fills received.
        FillsMissing = 6,
        /// CumQty(14) of the venue is below the fills received.
        FillsSurplus = 7,
        /// A fill with a new ExecID(17) that CumQty(14) of its own report does not include.
        NotCounted = 8,
        /// A fill with the ExecID(17) of another fill.
        ReusedExec = 9,
        /// A bust that fits no fill.
        Bust = 10,
        /// OrderQty(38) differs.
        Quantity = 11,
        /// Price(44) differs.
        LimitPrice = 12,
        /// LeavesQty(151) differs.
        Leaves = 13,
        /// OrdStatus(39) differs.
        Status = 14,
        /// AvgPx(6) differs.
        Average = 15,
        /// A correction that fits no fill.
        Correction = 16,
        /// A drop copy of a fill with another Symbol(55) or Side(54) than the order.
        OtherCopy = 17,
    }
}

impl BreakKind {
    /// Whether a break of this kind is of a drop copy that is compared with no fill of a line.
    pub(crate) fn is_of_copy_alone(self) -> bool {
        matches!(self, Self::Unplaced | Self::OtherCopy)
    }
}

impl fmt::Display for BreakKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCopy => "fill without a copy",
            Self::NoReport => "copy without a fill",
            Self::Differs => "fill and copy differ",
            Self::NotClosed => "closed in the drop copy",
            Self::Unplaced => "fill of an unknown account or symbol",
            Self::FillsMissing => "fills missing: CumQty(14)",
            Self::FillsSurplus => "more fills than CumQty(14)",
            Self::NotCounted => "fill that CumQty(14) does not count",
            Self::ReusedExec => "ExecID(17) of another fill",
            Self::Bust | Self::Correction => "bust or correction that fits no fill",
            Self::Quantity => "OrderQty(38) differs",
            Self::LimitPrice => "Price(44) differs",
            Self::Leaves => "LeavesQty(151) differs",
            Self::Status => "OrdStatus(39) differs",
            Self::Average => "AvgPx(6) differs",
            Self::OtherCopy => "copy with another symbol or side",
        })
    }
}

bytes! {
    /// OrdType(40).
    OrderType {
        /// Market.
        Market = b'1',
        /// Limit.
        Limit = b'2',
        /// Stop: becomes a market order at its stop price.
        Stop = b'3',
        /// Stop limit: becomes a limit order at its stop price.
        StopLimit = b'4',
        /// Market if touched: becomes a market order when the price is as good as its stop price. Always held.
        IfTouched = b'J',
    }
}

impl OrderType {
    /// Whether Price(44) is required.
    #[must_use]
    pub fn has_price(self) -> bool {
        matches!(self, Self::Limit | Self::StopLimit)
    }

    /// Whether StopPx(99) is required.
    #[must_use]
    pub fn has_stop(self) -> bool {
        matches!(self, Self::Stop | Self::StopLimit | Self::IfTouched)
    }

    /// OrdType of the order when it is triggered.
    #[must_use]
    pub fn triggered(self) -> Self {
        match self {
            Self::Market | Self::Stop | Self::IfTouched => Self::Market,
            Self::Limit | Self::StopLimit => Self::Limit,
        }
    }
}

bytes! {
    /// A price of the market that a condition looks at: MDEntryType(269).
    PriceField {
        /// The best bid.
        Bid = b'0',
        /// The best offer.
        Offer = b'1',
        /// The last trade.
        Last = b'2',
    }
}

impl fmt::Display for PriceField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bid => "bid",
            Self::Offer => "offer",
            Self::Last => "last",
        })
    }
}

bytes! {
    /// TimeInForce(59).
    TimeInForce {
        /// Day.
        Day = b'0',
        /// Good till cancel.
        GoodTillCancel = b'1',
        /// Immediate or cancel.
        ImmediateOrCancel = b'3',
        /// Fill or kill.
        FillOrKill = b'4',
        /// Good till date: ExpireDate(432).
        GoodTillDate = b'6',
    }
}

bytes! {
    /// PositionEffect(77). In a small letter, the positions of the symbol net, but the venue gets PositionEffect.
    Effect {
        /// PositionEffect is missing: the opposite position is closed first.
        Netting = b'N',
        /// Opens a position.
        Open = b'O',
        /// Closes the opposite position.
        Close = b'C',
        /// Day trade, over TMP: the opposite position is closed first.
        DayTrade = b'D',
        /// Liquidation by the broker, over TMP: closes the opposite position.
        Liquidation = b'7',
        /// Opens and offsets positions as specified, over TMP for options: the opposite position is closed first.
        Automatic = b'A',
        /// Open, of a symbol whose positions net.
        OpenNets = b'o',
        /// Close, of a symbol whose positions net.
        CloseNets = b'c',
        /// Liquidation, of a symbol whose positions net.
        LiquidationNets = b'l',
    }
}

impl Effect {
    /// PositionEffect(77) in messages; `None` for an order that has no PositionEffect.
    #[must_use]
    pub const fn field(self) -> Option<u8> {
        match self {
            Self::Netting => None,
            Self::Open | Self::OpenNets => Some(b'O'),
            Self::Close | Self::CloseNets => Some(b'C'),
            Self::DayTrade => Some(b'D'),
            Self::Liquidation | Self::LiquidationNets => Some(b'7'),
            Self::Automatic => Some(b'A'),
        }
    }

    /// The variant of PositionEffect(77); `None` for a value that no venue gets.
    #[must_use]
    pub const fn of_field(value: &[u8]) -> Option<Self> {
        match value {
            b"O" => Some(Self::Open),
            b"C" => Some(Self::Close),
            b"D" => Some(Self::DayTrade),
            b"7" => Some(Self::Liquidation),
            b"A" => Some(Self::Automatic),
            _ => None,
        }
    }

    /// The effect for a symbol with netting positions.
    #[must_use]
    pub(crate) const fn netting(self) -> Self {
        match self {
            Self::Open => Self::OpenNets,
            Self::Close => Self::CloseNets,
            Self::Liquidation => Self::LiquidationNets,
            other => other,
        }
    }

    /// The effect that was requested, also for netting positions.
    #[must_use]
    pub(crate) const fn asked(self) -> Self {
        match self {
            Self::OpenNets => Self::Open,
            Self::CloseNets => Self::Close,
            Self::LiquidationNets => Self::Liquidation,
            other => other,
        }
    }

    /// How a fill changes the position: opens, closes, or closes before it opens.
    #[must_use]
    pub(crate) const fn counted(self) -> Self {
        match self {
            Self::Open => Self::Open,
            Self::Close | Self::Liquidation => Self::Close,
            Self::Netting
            | Self::DayTrade
            | Self::Automatic
            | Self::OpenNets
            | Self::CloseNets
            | Self::LiquidationNets => Self::Netting,
        }
    }
}

bytes! {
    /// Final state of an order.
    End {
        /// Filled.
        Filled = b'2',
        /// Cancelled.
        Cancelled = b'4',
        /// Rejected.
        Rejected = b'8',
        /// Expired.
        Expired = b'C',
        /// Done for the day.
        DoneForDay = b'3',
    }
}

bytes! {
    /// Kind of a request about an existing order.
    RequestKind {
        /// OrderCancelReplaceRequest(G).
        Replace = b'G',
        /// OrderCancelRequest(F).
        Cancel = b'F',
    }
}

bytes! {
    /// Trading state of the firm, a session, an account, or an instrument.
    Trading {
        /// Orders are allowed.
        Active = b'A',
        /// Only orders that reduce the position are allowed.
        Reducing = b'R',
        /// Kill switch: only cancels are allowed.
        Killed = b'K',
    }
}

bytes! {
    /// State of a market.
    Market {
        /// All orders are allowed.
        Open = b'O',
        /// Only orders that can rest are allowed.
        Auction = b'A',
        /// No new orders.
        Halted = b'H',
        /// No new orders today.
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
        /// Logged on, or never logged on.
        Connected = b'H',
        /// Logged out.
        LoggedOut = b'O',
        /// Connection lost.
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

/// Bytes that a counterparty has chosen, such as ClOrdID(11). Short texts are stored inline, without an allocation.
#[derive(Clone)]
pub struct Text(Inner);

#[derive(Clone)]
enum Inner {
    Short(u8, [u8; Text::SHORT]),
    Long(Box<[u8]>),
}

impl Text {
    /// Maximum length of a text that is stored inline, in bytes.
    pub const SHORT: usize = 22;
    /// Maximum length in bytes.
    pub const MAX: usize = 64;
    /// The text without bytes.
    pub const EMPTY: Self = Self(Inner::Short(0, [0; Self::SHORT]));

    /// A text of these bytes, of which there are at most [`MAX`](Self::MAX): a checkpoint with a longer text cannot be
    /// read.
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

impl Wire<'_> for Text {
    fn put(&self, to: &mut impl Put) {
        self.bytes().put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let bytes = <&[u8]>::take(from)?;
        (bytes.len() <= Self::MAX).then(|| Self::new(bytes))
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
