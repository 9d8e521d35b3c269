//! What an application rarely requests beside its messages: disconnects, logouts, masks of frames.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::{Hangup, SessionId};

/// Disconnects, logouts and masks that the application requests.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Connections of links.
    pub(super) hangups: Vec<(SessionId, Hangup)>,
    /// Sessions, with Text(58) of their Logouts.
    pub(super) logouts: Vec<(SessionId, String)>,
    /// Bytes of frames that the journal masks, by the frame's index.
    pub(super) masks: Vec<(usize, Range<usize>)>,
    /// An inbound frame is being handled.
    pub(super) in_frame: bool,
}
