//! The market outside the engine's thread, for making checkpoints.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::{Ledger, Timestamp};

use crate::market::Market;

const NAME: &str = "exchange";
/// Version 1 had no scripted orders, version 2 no TMP lines, version 3 no copies for lines that subscribe to them.
const VERSION: u32 = 4;

/// The market built from notes.
#[derive(Debug, Default)]
pub(crate) struct MarketLedger {
    market: Market,
    /// A note could not be read: the market is no longer valid.
    is_broken: bool,
}

/// Reads a state of this version or one before.
pub(crate) fn read(version: u32, state: &[u8]) -> Result<Market, String> {
    if !(1..=VERSION).contains(&version) {
        return Err(format!(
            "the saved state of the exchange has format version {version}; this release reads versions 1 to {VERSION}: use the release that wrote it"
        ));
    }
    Market::read(state)
}

impl Ledger for MarketLedger {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, _at: Timestamp, note: &[u8]) {
        self.is_broken |= self.market.replay(note).is_err();
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        // An empty state is rejected when it is read, so that a broken market is never accepted.
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
