//! Rejects a message, by a session-level Reject or a BusinessMessageReject.

use alloc::borrow::Cow;
use alloc::format;

use super::business_id::business_id;
use super::config::{ApplVerId, BeginString};
use super::{Rejected, Session};
use crate::decode::{FaultKind, FieldFault};
use crate::dictionary::{RejectReason, ValidationFault};
use crate::outbox::{Body, MsgSeqNumSource, Outbox};
use crate::{Message, MessageLimit, Now, Refusal, Tag, tag};

/// A fault of a message, and the place of the fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Objection<'a> {
    /// SessionRejectReason(373).
    pub reason: RejectReason,
    /// RefTagID(371).
    pub at: RefTag<'a>,
    /// Text(58) of the Reject. If a limit is exceeded, the text of the limit is used instead.
    pub text: &'a str,
    /// Whether a field is missing that is required only because of other fields.
    pub conditional: bool,
    /// Our limit that the message exceeds. Text(58) then names the limit.
    pub limit: Option<MessageLimit>,
}

/// RefTagID(371).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RefTag<'a> {
    /// The Reject concerns no single field.
    None,
    /// The field's tag.
    Tag(Tag),
    /// The text that stands in place of the tag.
    Text(&'a [u8]),
}

/// The text of BusinessRejectReason(380) = 5.
const CONDITIONAL: &str = "Conditionally Required Field Missing";

/// Maximum length of a text in place of a tag that the Reject repeats.
const LONGEST_TAG: usize = 10;

impl<'a> Objection<'a> {
    /// An objection to one field, with the usual text.
    #[must_use]
    pub fn to_tag(reason: RejectReason, tag: Tag) -> Self {
        Self {
            reason,
            at: RefTag::Tag(tag),
            text: text_of(reason),
            conditional: false,
            limit: None,
        }
    }

    /// An objection to the message as a whole, with the usual text.
    #[must_use]
    pub fn to_message(reason: RejectReason) -> Self {
        Self {
            reason,
            at: RefTag::None,
            text: text_of(reason),
            conditional: false,
            limit: None,
        }
    }

    /// Converts a fault found by the dictionary.
    #[must_use]
    pub fn from_fault(message: &Message<'a>, fault: ValidationFault) -> Self {
        let at = match (fault.reason, fault.tag, fault.field) {
            (RejectReason::InvalidMsgType, ..) => RefTag::None,
            (_, Some(tag), _) if tag != 0 => RefTag::Tag(tag),
            (_, _, Some(field)) => tag_text(message, field),
            (_, tag, None) => tag.map_or(RefTag::None, RefTag::Tag),
        };
        Self {
            reason: fault.reason,
            at,
            text: match fault.conditional {
                true => CONDITIONAL,
                false => text_of(fault.reason),
            },
            conditional: fault.conditional,
            limit: fault.limit,
        }
    }

    /// Converts a fault found by the decoder.
    #[must_use]
    pub fn from_form(message: &Message<'a>, fault: FieldFault) -> Self {
        let reason = match fault.kind {
            FaultKind::BadTag => RejectReason::InvalidTagNumber,
            FaultKind::NoValue if fault.tag.is_some() => RejectReason::TagWithoutValue,
            FaultKind::NoValue => RejectReason::NonDataValueIncludesDelimiter,
            FaultKind::BadDataLength => RejectReason::IncorrectDataFormat,
            _ => RejectReason::Other,
        };
        let at = match fault.tag {
            Some(tag) => RefTag::Tag(tag),
            None if reason == RejectReason::NonDataValueIncludesDelimiter => {
                // Bytes without a tag count as the rest of the value before them.
                let before = fault.index.checked_sub(1);
                let field = before.and_then(|index| message.fields().get(index));
                field.map_or(RefTag::None, |field| RefTag::Tag(field.tag))
            }
            None => tag_text(message, fault.index),
        };
        Self {
            reason,
            at,
            text: text_of(reason),
            conditional: false,
            limit: fault.limit(),
        }
    }

    /// An objection to a message that exceeds one of our limits.
    #[must_use]
    pub fn to_limit(reason: RejectReason, at: RefTag<'a>, limit: MessageLimit) -> Self {
        Self {
            at,
            limit: Some(limit),
            ..Self::to_message(reason)
        }
    }

    /// Text(58).
    #[must_use]
    pub fn sentence(&self) -> Cow<'a, str> {
        match self.limit {
            Some(limit) => Cow::Owned(format!("{limit}")),
            None => Cow::Borrowed(self.text),
        }
    }
}

/// The text before the `=` of a field whose tag is not a number.
fn tag_text<'a>(message: &Message<'a>, field: usize) -> RefTag<'a> {
    let raw = match field.checked_add(1) {
        Some(after) => message.raw(field..after),
        None => &[],
    };
    match raw.iter().position(|&byte| byte == b'=') {
        Some(len @ 1..=LONGEST_TAG) => RefTag::Text(&raw[..len]),
        _ => RefTag::None,
    }
}

/// The usual text of a reason.
fn text_of(reason: RejectReason) -> &'static str {
    match reason {
        RejectReason::InvalidTagNumber => "Invalid tag number",
        RejectReason::RequiredTagMissing => "Required tag missing",
        RejectReason::TagNotDefinedForMessageType => "Tag not defined for this message type",
        RejectReason::UndefinedTag => "Undefined tag",
        RejectReason::TagWithoutValue => "Tag specified without a value",
        RejectReason::ValueIncorrect => "Value is incorrect (out of range) for this tag",
        RejectReason::IncorrectDataFormat => "Incorrect data format for value",
        RejectReason::DecryptionProblem => "Decryption problem",
        RejectReason::SignatureProblem => "Signature problem",
        RejectReason::CompIdProblem => "CompID problem",
        RejectReason::SendingTimeAccuracyProblem => "SendingTime accuracy problem",
        RejectReason::InvalidMsgType => "Invalid MsgType",
        RejectReason::XmlValidationError => "XML validation error",
        RejectReason::TagAppearsMoreThanOnce => "Tag appears more than once",
        RejectReason::TagOutOfRequiredOrder => "Tag specified out of required order",
        RejectReason::GroupFieldsOutOfOrder => "Out of order repeating group members",
        RejectReason::IncorrectNumInGroupCount => "Incorrect NumInGroup count for repeating group",
        RejectReason::NonDataValueIncludesDelimiter => {
            "Embedded SOH: non-data value includes field delimiter"
        }
        RejectReason::InvalidApplicationVersion => "Invalid or unsupported application version",
        _ => "Message rejected",
    }
}

/// The highest SessionRejectReason(373) that this version has, apart from 99.
fn last_reason(version: BeginString) -> u8 {
    match version {
        BeginString::Fix40 | BeginString::Fix41 | BeginString::Fix42 => 11,
        BeginString::Fix43 | BeginString::Fix44 => 17,
        BeginString::Fixt11 => 18,
    }
}

impl Session {
    /// Writes a Reject(3) of `message`.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, Reject. Up to FIX 4.1 a Reject only has RefSeqNum(45) and Text(58). FIX 4.2 has
    /// RefTagID(371), RefMsgType(372) and the reasons 0 to 11. From FIX 4.2 on, an application message that lacks a
    /// field which is required only because of other fields gets a BusinessMessageReject(j).
    pub(super) fn write_reject(
        &mut self,
        message: &Message<'_>,
        objection: Objection<'_>,
        outbox: &mut Outbox,
    ) {
        let version = self.config.begin_string;
        if let (true, RefTag::Tag(tag)) = (objection.conditional, objection.at)
            && version >= BeginString::Fix42
            && !super::is_admin(message.msg_type())
        {
            self.rejected = Rejected::Otherwise;
            let refusal = Refusal::ConditionallyRequiredFieldMissing(tag);
            return self.write_refusal(message, refusal, outbox);
        }
        let failures = outbox.failures();
        self.write_session_reject(message, objection, outbox);
        self.rejected = match outbox.failures() > failures {
            true => Rejected::Otherwise,
            false => Rejected::ByReject,
        };
    }

    fn write_session_reject(
        &self,
        message: &Message<'_>,
        objection: Objection<'_>,
        outbox: &mut Outbox,
    ) {
        let version = self.config.begin_string;
        let mut body = outbox.begin_admin(self.id, b"3", MsgSeqNumSource::Next);
        write_reversed_route(message, version, &mut body);
        write_ref_seq_num(message, &mut body);
        if version < BeginString::Fix42 {
            write_text_with_tag(objection, &mut body);
            return;
        }
        match objection.at {
            // RefTagID(371) is a number, so such a tag is named in the text only.
            RefTag::Text(text) if !is_number(text) => write_text_with_tag(objection, &mut body),
            _ => {
                body.field(tag::TEXT, objection.sentence().as_bytes());
            }
        }
        match objection.at {
            RefTag::None => {}
            RefTag::Tag(number) => {
                body.uint(tag::REF_TAG_ID, u64::from(number));
            }
            RefTag::Text(text) if is_number(text) => {
                body.field(tag::REF_TAG_ID, text);
            }
            RefTag::Text(_) => {}
        }
        if !message.msg_type().is_empty() {
            body.field(tag::REF_MSG_TYPE, message.msg_type());
        }
        let code = objection.reason.code();
        let is_known = code <= last_reason(version)
            || objection.reason == RejectReason::Other && version >= BeginString::Fix44;
        if is_known {
            body.uint(tag::SESSION_REJECT_REASON, u64::from(code));
        }
    }

    /// Rejects `message` for the application, with the Reject or BusinessMessageReject that the refusal names. Call
    /// this after [`Session::receive`] has returned `Deliver`; the message has been counted by then.
    pub fn refuse(
        &mut self,
        _now: Now,
        message: &Message<'_>,
        refusal: Refusal,
        outbox: &mut Outbox,
    ) {
        self.write_refusal(message, refusal, outbox);
    }

    fn write_refusal(&mut self, message: &Message<'_>, refusal: Refusal, outbox: &mut Outbox) {
        let (reason, tag, text) = match refusal {
            Refusal::ValueOutOfRange(tag) => {
                let objection = Objection::to_tag(RejectReason::ValueIncorrect, tag);
                return self.write_reject(message, objection, outbox);
            }
            Refusal::IncorrectDataFormat(tag) => {
                let objection = Objection::to_tag(RejectReason::IncorrectDataFormat, tag);
                return self.write_reject(message, objection, outbox);
            }
            Refusal::UnsupportedMessageType => (3, None, "Unsupported Message Type"),
            Refusal::NotAvailable => (4, None, "Application not available"),
            Refusal::ConditionallyRequiredFieldMissing(tag) => (5, Some(tag), CONDITIONAL),
            Refusal::NotAuthorized => (6, None, "Not authorized"),
            Refusal::FieldNotSupported(tag) => (0, Some(tag), "Field not supported"),
            Refusal::ThrottleLimitExceeded => {
                let newest = self.config.default_appl_ver_id >= Some(ApplVerId::FIX50_SP2);
                let reason = if newest { 8 } else { 0 };
                (reason, None, "Throttle limit exceeded")
            }
        };
        if self.config.begin_string < BeginString::Fix42 {
            let objection = Objection {
                reason: RejectReason::Other,
                at: tag.map_or(RefTag::None, RefTag::Tag),
                conditional: false,
                limit: None,
                text: match refusal {
                    Refusal::UnsupportedMessageType => "Unsupported message type",
                    _ => text,
                },
            };
            return self.write_reject(message, objection, outbox);
        }
        let mut body = outbox.begin_admin(self.id, b"j", MsgSeqNumSource::Next);
        write_reversed_route(message, self.config.begin_string, &mut body);
        write_ref_seq_num(message, &mut body);
        match tag {
            None => body.field(tag::TEXT, text.as_bytes()),
            Some(tag) => body.field(tag::TEXT, format!("{text} ({tag})").as_bytes()),
        };
        body.field(tag::REF_MSG_TYPE, message.msg_type());
        if let Some(id) = business_id(message) {
            body.field(tag::BUSINESS_REJECT_REF_ID, id);
        }
        body.uint(tag::BUSINESS_REJECT_REASON, reason);
        if let Some(version) = self.config.default_appl_ver_id
            && self.config.appl_ver_id_in_business_reject
        {
            body.uint(tag::DEFAULT_APPL_VER_ID, version.number());
        }
    }
}

/// Whether the text is an `int`: digits, with an optional minus sign.
fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Writes Text(58) with the tag: up to FIX 4.1, and for a tag that is not a number.
fn write_text_with_tag(objection: Objection<'_>, body: &mut Body<'_>) {
    let text = objection.sentence();
    match objection.at {
        RefTag::None => body.field(tag::TEXT, text.as_bytes()),
        RefTag::Tag(tag) => body.field(tag::TEXT, format!("{text} ({tag})").as_bytes()),
        RefTag::Text(tag) => {
            let text = [text.as_bytes(), b" (", tag, b")"].concat();
            body.field(tag::TEXT, &text)
        }
    };
}

fn write_ref_seq_num(message: &Message<'_>, body: &mut Body<'_>) {
    if let Some(number) = message
        .get(tag::MSG_SEQ_NUM)
        .and_then(super::sequence::parse)
    {
        body.uint(tag::REF_SEQ_NUM, number);
    }
}

/// Writes the routing fields of an answer to a message that came from a third party or was meant for one. The answer
/// takes the same way back. FIX 4.0 has no LocationIDs.
fn write_reversed_route(message: &Message<'_>, version: BeginString, body: &mut Body<'_>) {
    const TURNED: [(Tag, Tag); 6] = [
        (tag::DELIVER_TO_COMP_ID, tag::ON_BEHALF_OF_COMP_ID),
        (tag::DELIVER_TO_SUB_ID, tag::ON_BEHALF_OF_SUB_ID),
        (tag::ON_BEHALF_OF_COMP_ID, tag::DELIVER_TO_COMP_ID),
        (tag::ON_BEHALF_OF_SUB_ID, tag::DELIVER_TO_SUB_ID),
        (tag::DELIVER_TO_LOCATION_ID, tag::ON_BEHALF_OF_LOCATION_ID),
        (tag::ON_BEHALF_OF_LOCATION_ID, tag::DELIVER_TO_LOCATION_ID),
    ];
    let known = match version {
        BeginString::Fix40 => &TURNED[..4],
        _ => &TURNED[..],
    };
    for &(from, to) in known {
        if let Some(value) = message.get(from).filter(|value| !value.is_empty()) {
            body.field(to, value);
        }
    }
}
