//! Garbled messages. Garbled messages are ignored, or rejected if their MsgSeqNum can be read.

use super::phase::Phase;
use super::sequence;
use super::verdict::{DisconnectReason, Verdict};
use super::{BeginString, Session};
use crate::outbox::{MsgSeqNumSource, Outbox};
use crate::{Now, SOH, tag};

/// Number of fields of a garbled message that are examined. A header has fewer fields.
const FIELDS: usize = 16;

impl Session {
    /// Handles bytes that are not a message and were skipped. Skipped bytes are not counted. A connection that begins
    /// with such bytes is closed.
    ///
    /// With [`Config::reject_garbled`](super::Config::reject_garbled) the session rejects and counts a garbled
    /// message that is the expected message of this peer, except that its BodyLength or CheckSum is wrong. If the
    /// session only ignored such a message, a peer whose stored message is damaged would resend it for ever, garbled
    /// each time.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, garbled messages: ignored, their MsgSeqNum is not counted. The setting is
    /// QuickFIX/J's RejectGarbledMessage.
    pub fn garbled(&mut self, _now: Now, bytes: &[u8], outbox: &mut Outbox) -> Verdict {
        match self.phase {
            Phase::AwaitingLogon { .. } | Phase::LogonSent { .. } => {
                return self.close(DisconnectReason::GarbledLogon);
            }
            Phase::LoggedOn(_) if self.config.reject_garbled => {}
            _ => return Verdict::Handled,
        }
        let number = field(bytes, b"34").and_then(sequence::parse);
        let is = |name: &[u8], value: &[u8]| field(bytes, name) == Some(value);
        let is_own = is(b"8", self.config.begin_string.as_str().as_bytes())
            && is(b"49", &self.config.peer.comp_id)
            && is(b"56", &self.config.own.comp_id);
        if let Some(number) = number
            && is_own
            && number == self.next_in
        {
            self.write_reject_of_garbled(number, field(bytes, b"35"), outbox);
            self.advance(number + 1, outbox);
        }
        Verdict::Handled
    }

    fn write_reject_of_garbled(
        &mut self,
        number: u64,
        msg_type: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        let version = self.config.begin_string;
        let mut body = outbox.begin_admin(self.id, b"3", MsgSeqNumSource::Next);
        body.uint(tag::REF_SEQ_NUM, number)
            .field(tag::TEXT, b"Message is garbled");
        if version >= BeginString::Fix42
            && let Some(msg_type) = msg_type.filter(|text| !text.is_empty())
        {
            body.field(tag::REF_MSG_TYPE, msg_type);
        }
        if version >= BeginString::Fix44 {
            body.uint(tag::SESSION_REJECT_REASON, 99);
        }
    }
}

/// The value of a field in bytes that may be a header.
fn field<'a>(bytes: &'a [u8], tag: &[u8]) -> Option<&'a [u8]> {
    bytes
        .split(|&byte| byte == SOH)
        .take(FIELDS)
        .find_map(|field| field.strip_prefix(tag)?.strip_prefix(b"="))
}
