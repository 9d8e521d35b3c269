//! What rules are loaded with.

use alloc::sync::Arc;

use fixwire_protocol::dictionary::Dictionary;

/// A session that rules may name.
#[derive(Clone, Debug)]
pub struct Session<'c> {
    /// Its name in the file of settings.
    pub name: &'c str,
    /// What its messages are made of; for FIX 5.0 the application's over the transport's.
    pub dictionary: Arc<Dictionary>,
    /// The CompID of its peer, for `send by DeliverToCompID`; empty when it has none.
    pub peer: &'c str,
}

/// What rules are loaded with.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// The sessions; rules and outcomes speak of them by their place here.
    pub sessions: &'c [Session<'c>],
    /// The names of tables with their CSV text; see [`table_files`](super::table_files).
    pub tables: &'c [(&'c str, &'c str)],
}
