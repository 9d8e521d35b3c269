//! Admin messages that the session writes.

use super::Session;
use super::config::{ApplVerId, Role};
use super::sequence::ResendRequest;
use crate::outbox::{Body, MsgSeqNumSource, Outbox};
use crate::tag;

/// TestReqID(112) of all our TestRequests. TestReqID is always the same, because a Heartbeat need not be matched to a
/// certain TestRequest.
pub const TEST_REQ_ID: &[u8] = b"TEST";

impl Session {
    fn admin<'o>(&self, msg_type: &[u8], outbox: &'o mut Outbox) -> Body<'o> {
        outbox.begin_admin(self.id, msg_type, MsgSeqNumSource::Next)
    }

    /// Writes our Logon. `appl_ver_id` comes from the peer's Logon. Our answer repeats this version if the session has
    /// a dictionary for it; otherwise the answer states our own version.
    pub(super) fn write_logon(
        &self,
        heart_bt_int_seconds: u32,
        reset: bool,
        next_expected: u64,
        appl_ver_id: Option<ApplVerId>,
        outbox: &mut Outbox,
    ) {
        let config = &self.config;
        let mut body = self.admin(b"A", outbox);
        body.uint(tag::ENCRYPT_METHOD, 0)
            .uint(tag::HEART_BT_INT, u64::from(heart_bt_int_seconds));
        if reset {
            body.bool(tag::RESET_SEQ_NUM_FLAG, true);
        }
        if config.next_expected_msg_seq_num {
            body.uint(tag::NEXT_EXPECTED_MSG_SEQ_NUM, next_expected);
        }
        if config.role == Role::Initiator {
            if !config.username.is_empty() {
                body.field(tag::USERNAME, &config.username);
            }
            if !config.password.is_empty() {
                body.field(tag::PASSWORD, &config.password);
            }
        }
        if config.is_fixt()
            && let Some(version) = appl_ver_id
                .filter(|version| config.has_dictionary_for(*version))
                .or(config.default_appl_ver_id)
                .or(appl_ver_id)
        {
            body.uint(tag::DEFAULT_APPL_VER_ID, version.number());
        }
        for (tag, value) in &config.logon_fields {
            body.field(*tag, value);
        }
    }

    /// Writes a Logout. The text of the Logout ends before the first SOH.
    pub(super) fn write_logout(&self, text: &str, outbox: &mut Outbox) {
        let text = text.split('\x01').next().unwrap_or_default();
        let mut body = self.admin(b"5", outbox);
        if !text.is_empty() {
            body.field(tag::TEXT, text.as_bytes());
        }
    }

    /// Writes a Heartbeat. `answer` is a message and the index of the TestReqID(112) in it that the Heartbeat
    /// repeats.
    pub(super) fn write_heartbeat(
        &self,
        answer: Option<(&crate::Message<'_>, usize)>,
        outbox: &mut Outbox,
    ) {
        let mut body = self.admin(b"0", outbox);
        if let Some((message, index)) = answer {
            body.copy(message, index..index + 1);
        }
    }

    pub(super) fn write_test_request(&self, outbox: &mut Outbox) {
        self.admin(b"1", outbox)
            .field(tag::TEST_REQ_ID, TEST_REQ_ID);
    }

    pub(super) fn write_resend_request(&self, request: ResendRequest, outbox: &mut Outbox) {
        let end = request.end.unwrap_or(self.config.begin_string.infinity());
        self.admin(b"2", outbox)
            .uint(tag::BEGIN_SEQ_NO, request.begin)
            .uint(tag::END_SEQ_NO, end);
    }
}
