//! Helpers of the journal's tests.

use fixwire::journal::JournalConfig;

/// Segments that a few records fill.
pub const SMALL: JournalConfig = JournalConfig {
    segment_bytes: 4096,
    index_entries: 4,
    synced_before_sent: false,
    retention: None,
};

/// A small generator, so that a failing seed can be named.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, choices: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % choices
    }
}
