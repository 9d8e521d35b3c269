//! What the application ends.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Hangup, SessionId};

/// What the application ends.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Connections of links.
    pub(super) hangups: Vec<(SessionId, Hangup)>,
    /// Sessions, with Text(58) of their Logouts.
    pub(super) logouts: Vec<(SessionId, String)>,
}
