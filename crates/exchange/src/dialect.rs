//! How reports differ between FIX versions.

use fixwire_ledger::bytes;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::Config;
use fixwire_tmp::TmpStatus;

/// Kind of an ExecutionReport.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    New,
    Trade,
    Canceled,
    Replaced,
    Rejected,
    Expired,
    Triggered,
    Status,
    PendingNew,
    PendingCancel,
    PendingReplace,
    DoneForDay,
    Restated,
    TradeCancel,
    TradeCorrect,
}

/// Why a request is rejected, whatever FIX version the member uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Why {
    UnknownSymbol,
    NotTrading,
    Limit,
    UnknownOrder,
    Duplicate,
    Unsupported,
    Quantity,
    Band,
    Tick,
    TooLate,
    Other,
    /// The reject code that a script gives.
    Code(u64),
}

bytes! {
    /// The FIX dialect of a member, or TMP.
    #[derive(Ord, PartialOrd)]
    Dialect {
        /// TMP.
        Tmp = 0,
        /// FIX 4.2.
        Fix42 = 42,
        /// FIX 4.3.
        Fix43 = 43,
        /// FIX 4.4.
        Fix44 = 44,
        /// FIX 5.0 without a service pack.
        Fix50 = 50,
        /// FIX 5.0 SP1.
        Fix50Sp1 = 51,
        /// FIX 5.0 SP2.
        Fix50Sp2 = 52,
    }
}

impl Dialect {
    /// The dialect of a session; `None` before FIX 4.2, because reports of FIX 4.0 and 4.1 lack required values.
    pub(crate) fn of_session(session: &Config) -> Option<Self> {
        match session.appl_version() {
            Version::Fix42 => Some(Self::Fix42),
            Version::Fix43 => Some(Self::Fix43),
            Version::Fix44 => Some(Self::Fix44),
            Version::Fix50 => Some(Self::Fix50),
            Version::Fix50Sp1 => Some(Self::Fix50Sp1),
            Version::Fix50Sp2 => Some(Self::Fix50Sp2),
            // FIX 4.0, FIX 4.1, and FIXT.1.1, which is not a version of application messages.
            _ => None,
        }
    }

    /// Whether the version has OrderMassCancelRequest, OrderMassStatusRequest and SecurityListRequest.
    pub(crate) fn has_mass_requests(self) -> bool {
        self >= Self::Fix43
    }

    /// ExecType(150) of a report; `None` when the FIX version has no value for this kind of report. A report without a
    /// value is not sent.
    pub(crate) fn exec_type(self, kind: Kind, ord_status: u8) -> Option<u8> {
        let old = self == Self::Fix42;
        Some(match kind {
            Kind::New => b'0',
            Kind::Trade if old && ord_status == b'2' => b'2',
            Kind::Trade if old => b'1',
            Kind::Status | Kind::TradeCancel | Kind::TradeCorrect if old => ord_status,
            Kind::Trade => b'F',
            Kind::Status => b'I',
            Kind::Canceled => b'4',
            Kind::Replaced => b'5',
            Kind::Rejected => b'8',
            Kind::Expired => b'C',
            Kind::Triggered if self >= Self::Fix50 => b'L',
            Kind::Triggered => return None,
            Kind::PendingNew => b'A',
            Kind::PendingCancel => b'6',
            Kind::PendingReplace => b'E',
            Kind::DoneForDay => b'3',
            Kind::Restated => b'D',
            Kind::TradeCancel => b'H',
            Kind::TradeCorrect => b'G',
        })
    }

    /// ExecTransType(20), which only FIX 4.2 uses here.
    pub(crate) fn exec_trans_type(self, kind: Kind) -> Option<u8> {
        let code = match kind {
            Kind::TradeCancel => b'1',
            Kind::TradeCorrect => b'2',
            Kind::Status => b'3',
            _ => b'0',
        };
        (self == Self::Fix42).then_some(code)
    }

    /// OrdRejReason(103) for a reason; for a TMP member, the status code of an R03.
    pub(crate) fn ord_rej_reason(self, why: Why) -> u64 {
        if self == Self::Tmp {
            return u64::from(reject_status(why, TmpStatus::NOT_OPEN).0);
        }
        let other = if self >= Self::Fix44 { 99 } else { 0 };
        match why {
            Why::UnknownSymbol => 1,
            Why::NotTrading => 2,
            Why::Limit => 3,
            Why::UnknownOrder => 5,
            Why::Duplicate => 6,
            Why::Unsupported if self >= Self::Fix43 => 11,
            Why::Quantity if self >= Self::Fix44 => 13,
            Why::Band if self >= Self::Fix50 => 16,
            Why::TooLate => 4,
            Why::Code(code) => code,
            Why::Unsupported | Why::Quantity | Why::Band | Why::Tick | Why::Other => other,
        }
    }

    /// CxlRejReason(102) for a reason; for a TMP member, the status code of an R03.
    pub(crate) fn cxl_rej_reason(self, why: Why) -> u64 {
        if self == Self::Tmp {
            return u64::from(reject_status(why, TmpStatus::NO_CANCEL_PERIOD).0);
        }
        match why {
            Why::TooLate => 0,
            Why::UnknownOrder => 1,
            Why::Duplicate if self >= Self::Fix43 => 6,
            Why::Band if self >= Self::Fix50Sp1 => 8,
            Why::Code(code) => code,
            _ if self >= Self::Fix44 => 99,
            _ => 2,
        }
    }
}

/// The status code of an R03 for a reason; `other` if TMP has no status for the reason. A script's code above 255
/// becomes 99.
fn reject_status(why: Why, other: TmpStatus) -> TmpStatus {
    match why {
        Why::UnknownSymbol => TmpStatus::PRODUCT,
        Why::NotTrading => TmpStatus::NOT_OPEN,
        Why::Limit => TmpStatus::MAJOR_ERROR,
        Why::UnknownOrder => TmpStatus::NO_SUCH_ORDER,
        Why::Duplicate => TmpStatus::DUPLICATE_ORDER_NO,
        Why::Unsupported => TmpStatus::EXEC_TYPE,
        Why::Quantity => TmpStatus::QUANTITY,
        Why::Band => TmpStatus::PRICE_LIMIT,
        Why::Tick => TmpStatus::TICK,
        Why::TooLate => TmpStatus::NOT_IN_BOOK,
        Why::Code(code) => u8::try_from(code).map_or(TmpStatus::MAJOR_ERROR, TmpStatus),
        Why::Other => other,
    }
}
