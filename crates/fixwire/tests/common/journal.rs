//! Helpers of the journal's tests.

use fixwire::journal::JournalConfig;

/// Segments that a few records fill.
pub const SMALL: JournalConfig = JournalConfig {
    segment_bytes: 4096,
    index_entries: 4,
    synced_before_sent: false,
    retention: None,
};
