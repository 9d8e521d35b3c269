//! The sessions, dictionaries and tables that rules are loaded with.

use alloc::sync::Arc;

use fixwire_protocol::dictionary::Dictionary;

/// A session that rules may name.
#[derive(Clone, Debug)]
pub struct NamedSession<'c> {
    /// The session's name in the settings file.
    pub name: &'c str,
    /// The dictionary of the session's messages; for FIX 5.0 the application dictionary combined with the transport
    /// dictionary.
    pub dictionary: Arc<Dictionary>,
    /// The CompID of the session's peer, for `send by DeliverToCompID`; empty when the session has no peer CompID.
    pub peer: &'c str,
}

/// The sessions and tables that rules are loaded with.
#[derive(Clone, Copy, Debug)]
pub struct RuleContext<'c> {
    /// The sessions; rules and outcomes refer to them by index.
    pub sessions: &'c [NamedSession<'c>],
    /// The names of tables with their CSV text; see [`table_files`](super::table_files).
    pub tables: &'c [(&'c str, &'c str)],
}
