//! [`RefusedMessage`]: the message that a BusinessMessageReject rejects.

use alloc::vec::Vec;

/// MsgType(35) and id of the message that a BusinessMessageReject refers to by RefSeqNum(45).
#[derive(Debug, Default)]
pub(super) struct RefusedMessage {
    msg_type: Vec<u8>,
    id: Vec<u8>,
}

impl RefusedMessage {
    pub(super) fn set(&mut self, msg_type: &[u8], id: &[u8]) {
        self.msg_type.extend_from_slice(msg_type);
        self.id.extend_from_slice(id);
    }

    pub(super) fn clear(&mut self) {
        self.msg_type.clear();
        self.id.clear();
    }

    /// MsgType and id; `None` if the message is unknown.
    pub(super) fn get(&self) -> Option<(&[u8], &[u8])> {
        (!self.id.is_empty()).then_some((&self.msg_type[..], &self.id[..]))
    }
}
