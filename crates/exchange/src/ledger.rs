//! The market, built from notes outside the engine's thread, to make checkpoints.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::{Ledger, Timestamp};

use crate::market::Market;

const NAME: &str = "exchange";
/// Version of the market's state, and of the journal notes that change it.
const VERSION: u32 = 1;

/// Name and version of the state that an exchange keeps in its journal.
#[must_use]
pub fn state_form() -> (&'static str, u32) {
    (NAME, VERSION)
}

/// The market built from notes.
#[derive(Debug, Default)]
pub(crate) struct MarketLedger {
    market: Market,
    /// Whether a note could not be read. If so, the market is not valid.
    is_broken: bool,
}

/// Reads a saved state of the market, which must have this version.
pub(crate) fn read(version: u32, state: &[u8]) -> Result<Market, String> {
    if version != VERSION {
        return Err(format!(
            "the state of the exchange has version {version}, and this build reads version {VERSION}"
        ));
    }
    Market::read(state)
}

impl Ledger for MarketLedger {
    fn form(&self) -> (&'static str, u32) {
        state_form()
    }

    fn apply(&mut self, _at: Timestamp, note: &[u8]) {
        self.is_broken |= self.market.replay(note).is_err();
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        // If a note could not be read, the saved state is empty, and a reader rejects an empty state.
        if !self.is_broken {
            self.market.write(put);
        }
    }

    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.market = read(version, state)?;
        Ok(())
    }

    fn hash(&self) -> u64 {
        self.market.hash()
    }
}
