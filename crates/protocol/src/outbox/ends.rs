//! Disconnects and logouts that the application requests.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Hangup, SessionId};

/// Disconnects and logouts that the application requests.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Connections of links.
    pub(super) hangups: Vec<(SessionId, Hangup)>,
    /// Sessions, with Text(58) of their Logouts.
    pub(super) logouts: Vec<(SessionId, String)>,
}
