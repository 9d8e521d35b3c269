//! A reload, or a change of limits, that waits for a second operator.

use crate::values::value::Text;
use fixwire_ledger::record;

/// A reload, or a change of limits, that a second operator must request too.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PendingReload {
    pub by: Text,
    /// The hash of the settings or limits.
    pub settings: u64,
}

record! { PendingReload { by, settings } }

/// The name of an operator, cut to the length that the state keeps.
pub(crate) fn short(who: &[u8]) -> Text {
    Text::new(&who[..who.len().min(Text::MAX)])
}
