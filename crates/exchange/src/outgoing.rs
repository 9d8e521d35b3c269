//! A report that the exchange has to send.

use alloc::vec::Vec;

/// A message to a member, without its header. For a TMP member the message is a frame whose header is empty.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Report {
    pub(crate) member: u32,
    pub(crate) msg_type: u8,
    pub(crate) body: Vec<u8>,
}
