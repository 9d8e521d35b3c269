//! The market away from the engine's thread: checkpoints are made of it.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::{Ledger, Timestamp};

use crate::market::Market;

const NAME: &str = "exchange";
/// Version 1 knew no orders that follow scripts.
const VERSION: u32 = 2;

/// The market that notes make.
#[derive(Debug, Default)]
pub(crate) struct MarketLedger {
    market: Market,
    /// A note could not be read: what is here is no longer the market.
    is_broken: bool,
}

/// The market of a state that was written in this version, or the one before.
pub(crate) fn read(version: u32, state: &[u8]) -> Result<Market, String> {
    if !(1..=VERSION).contains(&version) {
        return Err(format!(
            "the state of the exchange has version {version}, this exchange reads versions 1 to {VERSION}"
        ));
    }
    Market::read(state)
}

impl Ledger for MarketLedger {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, _at: Timestamp, note: &[u8]) {
        self.is_broken |= self.market.apply(note).is_err();
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        // An empty state is refused when it is read, and says so: no broken market is taken for a good one.
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
