//! What an application requests in addition to messages: disconnects, logouts, masks of frames.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::{Hangup, SessionId};

/// Disconnects, logouts and masks that the application requests.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Links whose connection is to be closed, with the reason.
    pub(super) hangups: Vec<(SessionId, Hangup)>,
    /// Sessions that are to be logged out, with Text(58) of their Logouts.
    pub(super) logouts: Vec<(SessionId, String)>,
    /// Bytes of frames that are masked in the journal, with the index of the frame.
    pub(super) masks: Vec<(usize, Range<usize>)>,
    /// Whether an inbound frame is being handled.
    pub(super) in_frame: bool,
}
