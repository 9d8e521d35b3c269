//! The scope of a limit or of a kill switch.

use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use fixwire_ledger::{Put, Wire};

/// A scope; sessions, accounts and instruments are given by their numbers in the state.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Scope {
    /// The whole firm.
    Firm,
    /// Orders of a client session.
    Session(SessionNo),
    /// Orders of an account and its sub-accounts.
    Account(AccountNo),
    /// Orders of an instrument.
    Instrument(InstrumentNo),
    /// Orders of an account in an instrument, without sub-accounts.
    Holding(AccountNo, InstrumentNo),
}

impl Scope {
    /// The kind of the scope, and the places of what it names.
    pub(crate) fn numbers(self) -> (u8, u32, u32) {
        match self {
            Self::Firm => (0, 0, 0),
            Self::Session(index) => (1, index.place(), 0),
            Self::Account(index) => (2, index.place(), 0),
            Self::Instrument(index) => (3, index.place(), 0),
            Self::Holding(account, instrument) => (4, account.place(), instrument.place()),
        }
    }
}

impl Wire<'_> for Scope {
    fn put(&self, to: &mut impl Put) {
        let (kind, first, second) = self.numbers();
        to.some([kind]);
        first.put(to);
        second.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (kind, first, second) = (u8::take(from)?, u32::take(from)?, u32::take(from)?);
        Some(match (kind, first, second) {
            (0, 0, 0) => Self::Firm,
            (1, index, 0) => Self::Session(SessionNo::new(index)),
            (2, index, 0) => Self::Account(AccountNo::new(index)),
            (3, index, 0) => Self::Instrument(InstrumentNo::new(index)),
            (4, account, instrument) => {
                Self::Holding(AccountNo::new(account), InstrumentNo::new(instrument))
            }
            _ => return None,
        })
    }
}
