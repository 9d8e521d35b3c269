//! The protocol of the line between a measured OMS and its venue, and the fields of orders that differ by protocol.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Number of symbols and of accounts; orders use them in rotation.
const SYMBOLS: usize = 10;
const ACCOUNTS: usize = 4;
/// OrderQty(38) of an order.
pub(crate) const ORDER_QTY: u16 = 100;

/// The protocol of the lines of a measured OMS.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum LineProtocol {
    /// FIX 4.4
    #[default]
    Fix,
    /// TMP, the order protocol of TAIFEX
    Tmp,
}

impl LineProtocol {
    /// Name of the protocol in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fix => "fix",
            Self::Tmp => "tmp",
        }
    }

    /// Name of the protocol in sentences.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::Fix => "FIX",
            Self::Tmp => "TMP",
        }
    }

    /// Name of the protocol with its version, if it has one.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::Fix => "FIX 4.4",
            Self::Tmp => "TAIFEX TMP",
        }
    }

    /// The length of an order as the OMS sends it: over FIX an order whose numbers have six digits, over TMP an R01.
    #[must_use]
    pub fn order_bytes(self) -> usize {
        match self {
            Self::Fix => 163,
            Self::Tmp => 80,
        }
    }

    /// OrderQty(38) of a replace. TMP allows a replace to reduce the quantity only.
    #[must_use]
    pub(crate) fn replaced(self) -> u16 {
        match self {
            Self::Fix => 2 * ORDER_QTY,
            Self::Tmp => ORDER_QTY / 2,
        }
    }

    pub(crate) fn accounts(self) -> [&'static str; ACCOUNTS] {
        match self {
            Self::Fix => ["A0", "A1", "A2", "A3"],
            Self::Tmp => ["1000000", "1000001", "1000002", "1000003"],
        }
    }

    /// The symbols; over TMP they are stock futures.
    pub(crate) fn symbols(self) -> [&'static str; SYMBOLS] {
        match self {
            Self::Fix => ["S0", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9"],
            Self::Tmp => [
                "CDFA7", "CDFB7", "CDFC7", "CDFD7", "CDFE7", "CDFF7", "CDFG7", "CDFH7", "CDFI7",
                "CDFJ7",
            ],
        }
    }

    /// Account(1) and Symbol(55) of an order.
    pub(crate) fn place(self, order: u64) -> (&'static str, &'static str) {
        let at = order as usize % SYMBOLS;
        (self.accounts()[at % ACCOUNTS], self.symbols()[at])
    }
}
