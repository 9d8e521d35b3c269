//! The fields of a Reject or BusinessMessageReject.

use std::fmt;

use fixwire_protocol::{Message, Tag, tag};

use super::PeerText;

/// The fields of a Reject(3) or BusinessMessageReject(j) that state the reason and identify the rejected message.
/// Missing fields are empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct RejectDetails {
    /// Whether the message is a BusinessMessageReject(j), not a Reject(3).
    pub is_business: bool,
    /// RefSeqNum(45).
    pub ref_seq_num: PeerText,
    /// RefTagID(371).
    pub ref_tag_id: PeerText,
    /// RefMsgType(372).
    pub ref_msg_type: PeerText,
    /// SessionRejectReason(373), or BusinessRejectReason(380).
    pub reason: PeerText,
    /// BusinessRejectRefID(379).
    pub ref_id: PeerText,
    /// Text(58).
    pub text: PeerText,
}

impl RejectDetails {
    pub(crate) fn read(message: &Message<'_>) -> Self {
        let field = |tag: Tag| PeerText::new(message.get(tag).unwrap_or_default());
        let is_business = message.msg_type() == b"j";
        Self {
            is_business,
            ref_seq_num: field(tag::REF_SEQ_NUM),
            ref_tag_id: field(tag::REF_TAG_ID),
            ref_msg_type: field(tag::REF_MSG_TYPE),
            reason: match is_business {
                true => field(tag::BUSINESS_REJECT_REASON),
                false => field(tag::SESSION_REJECT_REASON),
            },
            ref_id: field(tag::BUSINESS_REJECT_REF_ID),
            text: field(tag::TEXT),
        }
    }
}

impl fmt::Display for RejectDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, reason) = match self.is_business {
            true => ("BusinessMessageReject", "BusinessRejectReason"),
            false => ("Reject", "SessionRejectReason"),
        };
        f.write_str(name)?;
        if !self.ref_seq_num.is_empty() {
            write!(f, " of MsgSeqNum {}", self.ref_seq_num)?;
        }
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        let fields = [
            (reason, &self.reason),
            ("RefTagID", &self.ref_tag_id),
            ("RefMsgType", &self.ref_msg_type),
            ("BusinessRejectRefID", &self.ref_id),
        ];
        let mut before = " (";
        for (name, value) in fields.iter().filter(|field| !field.1.is_empty()) {
            write!(f, "{before}{name}={value}")?;
            before = ", ";
        }
        f.write_str(if before == ", " { ")" } else { "" })
    }
}
