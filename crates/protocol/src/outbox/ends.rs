//! The application's requests in addition to messages: to end connections, to log sessions out, and to mask parts of
//! frames.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::{Hangup, SessionId};

/// The disconnects, logouts and masks that the application requests.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Links whose connection is to be closed, each with the reason.
    pub(super) hangups: Vec<(SessionId, Hangup)>,
    /// Sessions that are to be logged out, each with the Text(58) of its Logout.
    pub(super) logouts: Vec<(SessionId, String)>,
    /// Parts of frames that are masked in the journal, each with the index of the frame.
    pub(super) masks: Vec<(usize, Range<usize>)>,
    /// Whether an inbound frame is being handled.
    pub(super) in_frame: bool,
}
