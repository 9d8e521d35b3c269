//! [`RefusedMessage`]: the message that a BusinessMessageReject rejects.

use alloc::vec::Vec;

/// The message that a BusinessMessageReject refers to by RefSeqNum(45): MsgType(35), id, and PossResend(97).
#[derive(Debug, Default)]
pub(super) struct RefusedMessage {
    msg_type: Vec<u8>,
    id: Vec<u8>,
    is_poss_resend: bool,
    /// The client, by its index in the file, that cannot get the BusinessMessageReject, because its FIX version has no
    /// such message.
    unreturned: Option<usize>,
    /// Text(58) of the BusinessMessageReject after the rules.
    text: Vec<u8>,
}

impl RefusedMessage {
    pub(super) fn set(&mut self, msg_type: &[u8], id: &[u8], is_poss_resend: bool) {
        self.msg_type.extend_from_slice(msg_type);
        self.id.extend_from_slice(id);
        self.is_poss_resend = is_poss_resend;
    }

    pub(super) fn clear(&mut self) {
        self.msg_type.clear();
        self.id.clear();
        self.is_poss_resend = false;
        self.unreturned = None;
        self.text.clear();
    }

    /// MsgType and id; `None` if the message is unknown.
    pub(super) fn get(&self) -> Option<(&[u8], &[u8])> {
        (!self.id.is_empty()).then_some((&self.msg_type[..], &self.id[..]))
    }

    /// Whether the message has this MsgType and id, and PossResend(97)=Y.
    pub(super) fn is_resend_of(&self, msg_type: &[u8], id: &[u8]) -> bool {
        self.is_poss_resend && self.get() == Some((msg_type, id))
    }

    /// The BusinessMessageReject cannot be converted for this client.
    pub(super) fn set_unreturned(&mut self, client: usize, text: Option<&[u8]>) {
        self.unreturned = Some(client);
        self.text.clear();
        self.text.extend_from_slice(text.unwrap_or_default());
    }

    /// The client that cannot get the BusinessMessageReject, and the Text(58).
    pub(super) fn unreturned(&self) -> Option<(usize, &[u8])> {
        Some((self.unreturned?, &self.text))
    }
}
