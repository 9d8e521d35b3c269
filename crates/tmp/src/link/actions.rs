//! The actions that a link requests, in order.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::link::end::{LinkEnd, LinkReady, LinkWarning};
use crate::link::settings::LinkNumbers;
use crate::status::TmpStatus;

/// One action for the caller. Frames are complete.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum LinkAction<'a> {
    /// Send this frame.
    Send(&'a [u8]),
    /// Store this frame for a later login. Only the exchange's end requests this, before the `Send` of the frame.
    Keep {
        /// MsgSeqNum of the frame.
        msg_seq_num: u32,
        /// The frame.
        frame: &'a [u8],
    },
    /// Pass this application message to the program.
    Deliver {
        /// The frame.
        frame: &'a [u8],
        /// Whether the broker had missed the message and received it in an L41.
        recovered: bool,
        /// The flow warning for the normal reply: status 248 or 249, otherwise 0.
        flow: TmpStatus,
    },
    /// The link is ready: application messages may be sent.
    Ready(LinkReady),
    /// Store these MsgSeqNums. Comes before the `Send`, or after the `Deliver`, that changed them.
    Save(LinkNumbers),
    /// Raise an event.
    Warn(LinkWarning),
    /// Close the connection after everything before this action was sent.
    Close(LinkEnd),
}

/// The actions of all calls since the last [`LinkActions::clear`]. The memory is reused.
#[derive(Clone, Default)]
pub struct LinkActions {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone)]
enum Entry {
    Send(Range<usize>),
    Keep(u32, Range<usize>),
    Deliver(Range<usize>, bool, TmpStatus),
    Ready(LinkReady),
    Save(LinkNumbers),
    Warn(LinkWarning),
    Close(LinkEnd),
}

impl LinkActions {
    /// No action.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all actions.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// Whether there are no actions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The actions, in order.
    pub fn iter(&self) -> LinkActionsIter<'_> {
        LinkActionsIter {
            bytes: &self.bytes,
            entries: self.entries.iter(),
        }
    }

    pub(crate) fn send(&mut self, frame: &[u8]) {
        let range = self.copy(frame);
        self.entries.push(Entry::Send(range));
    }

    /// Requests to store a frame, and to send it too if `send`.
    pub(crate) fn keep(&mut self, msg_seq_num: u32, frame: &[u8], send: bool) {
        let range = self.copy(frame);
        self.entries.push(Entry::Keep(msg_seq_num, range.clone()));
        if send {
            self.entries.push(Entry::Send(range));
        }
    }

    pub(crate) fn deliver(&mut self, frame: &[u8], recovered: bool, flow: TmpStatus) {
        let range = self.copy(frame);
        self.entries.push(Entry::Deliver(range, recovered, flow));
    }

    pub(crate) fn ready(&mut self, ready: LinkReady) {
        self.entries.push(Entry::Ready(ready));
    }

    pub(crate) fn save(&mut self, numbers: LinkNumbers) {
        self.entries.push(Entry::Save(numbers));
    }

    pub(crate) fn warn(&mut self, warning: LinkWarning) {
        self.entries.push(Entry::Warn(warning));
    }

    pub(crate) fn close(&mut self, end: LinkEnd) {
        self.entries.push(Entry::Close(end));
    }

    fn copy(&mut self, frame: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        start..self.bytes.len()
    }
}

impl<'a> IntoIterator for &'a LinkActions {
    type Item = LinkAction<'a>;
    type IntoIter = LinkActionsIter<'a>;

    fn into_iter(self) -> LinkActionsIter<'a> {
        self.iter()
    }
}

/// Does not show bytes, because a frame may contain a proof of a password.
impl fmt::Debug for LinkActions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Does not show the bytes of frames to be sent, because they may contain a proof of a password.
impl fmt::Debug for LinkAction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |frame: &[u8]| crate::frame::TmpFrame::read(frame).map_or("bytes", |it| it.name());
        match self {
            Self::Send(frame) => write!(f, "Send({}, {} bytes)", name(frame), frame.len()),
            Self::Keep { msg_seq_num, frame } => write!(f, "Keep({msg_seq_num}, {})", name(frame)),
            Self::Deliver { frame, .. } => write!(f, "Deliver({})", name(frame)),
            Self::Ready(ready) => write!(f, "Ready({ready:?})"),
            Self::Save(numbers) => write!(f, "Save({numbers:?})"),
            Self::Warn(warning) => write!(f, "Warn({warning:?})"),
            Self::Close(end) => write!(f, "Close({end:?})"),
        }
    }
}

/// See [`LinkActions::iter`].
#[derive(Clone)]
pub struct LinkActionsIter<'a> {
    bytes: &'a [u8],
    entries: core::slice::Iter<'a, Entry>,
}

impl<'a> Iterator for LinkActionsIter<'a> {
    type Item = LinkAction<'a>;

    #[inline]
    fn next(&mut self) -> Option<LinkAction<'a>> {
        let bytes = self.bytes;
        Some(match self.entries.next()? {
            Entry::Send(range) => LinkAction::Send(&bytes[range.clone()]),
            Entry::Keep(msg_seq_num, range) => LinkAction::Keep {
                msg_seq_num: *msg_seq_num,
                frame: &bytes[range.clone()],
            },
            Entry::Deliver(range, recovered, flow) => LinkAction::Deliver {
                frame: &bytes[range.clone()],
                recovered: *recovered,
                flow: *flow,
            },
            Entry::Ready(ready) => LinkAction::Ready(*ready),
            Entry::Save(numbers) => LinkAction::Save(*numbers),
            Entry::Warn(warning) => LinkAction::Warn(*warning),
            Entry::Close(end) => LinkAction::Close(*end),
        })
    }
}
