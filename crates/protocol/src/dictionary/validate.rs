//! Validates a message against a dictionary in one pass, without allocating memory.

use alloc::vec::Vec;

use super::{Dictionary, MessageDef};
use crate::message::{Field, Message};
use crate::time::LastMinute;
use crate::{MessageLimit, Tag, tag};

mod check;
mod conditions;
mod pass;
mod shapes;

pub(super) use check::{Check, Near};
use pass::{Pass, ValidFields};
use shapes::{Key, Shapes};

/// The checks that a session makes. A check has the name of QuickFIX's setting where QuickFIX has one. The number in
/// parentheses is the SessionRejectReason(373) for a message that fails the check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ValidationRules {
    /// `ValidateFieldsOutOfOrder`: header, body and trailer must come in this order (14).
    pub fields_out_of_order: bool,
    /// `ValidateFieldsHaveValues`: no field may be empty (4).
    pub fields_have_values: bool,
    /// `ValidateUserDefinedFields`: tags from 5000 on are checked like other tags (0, 2).
    pub user_defined_fields: bool,
    /// `AllowUnknownMsgFields`: tags below 5000 that the dictionary does not define for the message type are
    /// accepted.
    pub allow_unknown_msg_fields: bool,
    /// A Logon may have the fields for user name and password, whatever its FIX version: 553, 554 and 925, and also
    /// 1400 to 1404 for encrypted passwords.
    pub logon_credentials: bool,
    /// `AllowUnknownEnumValues`: a field with listed values may have other values too (5).
    pub allow_unknown_enum_values: bool,
    /// `ValidateUnorderedGroupFields`: fields of an entry must be in the order of the dictionary (15).
    pub unordered_group_fields: bool,
    /// `FirstFieldInGroupIsDelimiter`: the first entry of a group may begin with any of its fields, and all other
    /// entries must begin with the same field.
    pub first_field_in_group_is_delimiter: bool,
    /// Required fields must be present (1).
    pub required_fields: bool,
    /// Values must have the form of their type (6).
    pub formats: bool,
    /// No tag may appear twice outside groups (13).
    pub duplicate_tags: bool,
    /// NumInGroup must equal the number of entries (16).
    pub group_counts: bool,
    /// `ValidateConditionalFields`: fields that a [`Condition`](super::ConditionalRequirement) of the dictionary
    /// requires must be present (BusinessRejectReason 5).
    pub conditional_fields: bool,
    /// `MaxGroupEntries`: maximum number of entries of one group (5). The entries of a nested group are counted
    /// separately.
    pub max_group_entries: u32,
}

impl Default for ValidationRules {
    /// All checks, with QuickFIX's defaults where QuickFIX has a setting, and at most 16,384 entries in a group.
    fn default() -> Self {
        Self {
            fields_out_of_order: true,
            fields_have_values: true,
            user_defined_fields: true,
            allow_unknown_msg_fields: false,
            logon_credentials: false,
            allow_unknown_enum_values: false,
            unordered_group_fields: true,
            first_field_in_group_is_delimiter: false,
            required_fields: true,
            formats: true,
            duplicate_tags: true,
            group_counts: true,
            conditional_fields: true,
            max_group_entries: 16_384,
        }
    }
}

/// SessionRejectReason(373).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
#[repr(u8)]
pub enum RejectReason {
    /// The dictionary does not have the tag, or the tag is not a number.
    InvalidTagNumber = 0,
    /// A required field is missing.
    RequiredTagMissing = 1,
    /// The message type does not have this field.
    TagNotDefinedForMessageType = 2,
    /// A tag that the parties have not agreed on.
    UndefinedTag = 3,
    /// An empty value.
    TagWithoutValue = 4,
    /// The value is not one of the listed values of the field.
    ValueIncorrect = 5,
    /// The value does not have the form of the field's type.
    IncorrectDataFormat = 6,
    /// The encrypted part cannot be read.
    DecryptionProblem = 7,
    /// Signature(89) is wrong.
    SignatureProblem = 8,
    /// The CompIDs are not those of this session.
    CompIdProblem = 9,
    /// SendingTime(52) or OrigSendingTime(122) is too far from the present time, or the two contradict each other.
    SendingTimeAccuracyProblem = 10,
    /// The dictionary does not have this MsgType(35).
    InvalidMsgType = 11,
    /// A FIXML text is not valid.
    XmlValidationError = 12,
    /// The tag appears twice outside groups.
    TagAppearsMoreThanOnce = 13,
    /// A field is in the wrong part of the message, such as a header field in the body.
    TagOutOfRequiredOrder = 14,
    /// The fields of a group entry are not in the order of the dictionary.
    GroupFieldsOutOfOrder = 15,
    /// NumInGroup differs from the number of entries.
    IncorrectNumInGroupCount = 16,
    /// A value that is not data contains SOH.
    NonDataValueIncludesDelimiter = 17,
    /// ApplVerID(1128) or DefaultApplVerID(1137) names a version that the session does not support.
    InvalidApplicationVersion = 18,
    /// Another reason, which Text(58) explains.
    Other = 99,
}

impl RejectReason {
    /// The value of SessionRejectReason(373).
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The first fault of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ValidationFault {
    /// The kind of the fault.
    pub reason: RejectReason,
    /// RefTagID(371). `None` when the tag of the field is not a number, or when the fault is in MsgType.
    pub tag: Option<Tag>,
    /// The index of the field in [`Message::fields`](crate::Message::fields). For a missing field this is `None`, or
    /// the last field of the group entry that lacks it.
    pub field: Option<usize>,
    /// The field is missing, and it is required only because of other fields. In an application message this is not a
    /// session-level fault, but BusinessRejectReason(380) = 5.
    pub conditional: bool,
    /// The limit of this engine that the message exceeds, if that is the fault.
    pub limit: Option<MessageLimit>,
}

impl ValidationFault {
    #[cold]
    fn at(reason: RejectReason, fields: &[Field], field: usize) -> Self {
        let tag = fields
            .get(field)
            .map(|field| field.tag)
            .filter(|&tag| tag != 0);
        Self {
            reason,
            tag,
            field: Some(field),
            conditional: false,
            limit: None,
        }
    }
}

/// Working memory for validation, which records the fields that were found. Make one for each thread and keep it. The
/// validator grows to the size that the largest dictionary needs, and then allocates no more memory.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Slots of the fields that may still follow outside groups.
    open: Vec<u64>,
    /// Positions of the fields in the current group entries. The innermost entry is last.
    entries: Vec<u64>,
    times: LastMinute,
    shapes: Shapes,
}

impl Scratch {
    /// Makes room for messages of this dictionary.
    fn fit(&mut self, dictionary: &Dictionary) {
        self.shapes.fit();
        let words = dictionary.fields.len().div_ceil(64);
        if self.open.len() < words {
            self.open.resize(words, 0);
        }
        if self.entries.len() < dictionary.group_words {
            self.entries.resize(dictionary.group_words, 0);
        }
    }
}

/// Checks a message against the dictionary.
///
/// The check makes one pass in the order of the message, and reports one fault. A fault that the decoder has found, or
/// an unknown message type, is reported before all others. If there is no such fault, the first field with a fault is
/// reported. Missing fields come last. The cost is proportional to the number of bytes in the message, whatever its
/// NumInGroup fields say. No memory is allocated.
///
/// For a FIXT session, pass the application dictionary combined with the transport dictionary by
/// [`over`](Dictionary::over).
///
/// # Errors
///
/// The first [`ValidationFault`] that these rules find.
///
/// # Source
///
/// FIX Session Layer Test Cases 1.0, scenario 14; the meaning of the rules is QuickFIX's.
pub fn check(
    dictionary: &Dictionary,
    message: &Message<'_>,
    rules: &ValidationRules,
    scratch: &mut Scratch,
) -> Result<(), ValidationFault> {
    if message.fault().is_some() {
        return Err(malformed(message));
    }
    let Some(at) = dictionary.message_index(message.msg_type()) else {
        return Err(no_such_message(message));
    };
    let definition = &dictionary.messages[at];
    let pass = Pass {
        dictionary,
        message,
        rules,
        definition,
        fields: message.fields(),
    };
    let key = Key::new(dictionary.id, at, pass.fields.len());
    let Scratch { shapes, times, .. } = &mut *scratch;
    if !key.is_some_and(|key| shapes.know(key, &pass, times)) {
        unknown_shape(&pass, key, scratch)?;
    }
    if definition.conditions.is_empty() || !rules.conditional_fields {
        return Ok(());
    }
    conditional(dictionary, definition, message)
}

/// Checks all fields of a message, whatever other messages had. The shape of a message without other than plain fields and
/// groups is remembered.
#[inline(never)]
fn unknown_shape(
    pass: &Pass<'_>,
    key: Option<Key>,
    scratch: &mut Scratch,
) -> Result<(), ValidationFault> {
    scratch.fit(pass.dictionary);
    let Scratch {
        open,
        entries,
        times,
        shapes,
    } = scratch;
    let definition = pass.definition;
    let open = &mut open[..definition.places.len()];
    open.copy_from_slice(&definition.places);
    let fields = match pass.fields(open, entries, times) {
        Ok(fields) => fields,
        Err(found) => return Err(pass.gravest(found, open)),
    };
    let missing = definition
        .required
        .iter()
        .zip(&*open)
        .any(|(required, open)| required & open != 0);
    if missing && pass.rules.required_fields {
        return Err(pass.missing(open));
    }
    if let Some(key) = key
        && !missing
    {
        match fields {
            ValidFields::Plain => shapes.remember(key, pass),
            ValidFields::Groups => shapes.remember_groups(key, pass, times),
            ValidFields::Others => {}
        }
    }
    Ok(())
}

/// Checks the conditional requirements of the message.
#[cold]
fn conditional(
    dictionary: &Dictionary,
    definition: &MessageDef,
    message: &Message<'_>,
) -> Result<(), ValidationFault> {
    match conditions::missing(dictionary, definition, message) {
        None => Ok(()),
        Some(tag) => Err(ValidationFault {
            reason: RejectReason::RequiredTagMissing,
            tag: Some(tag),
            field: None,
            conditional: true,
            limit: None,
        }),
    }
}

#[cold]
fn malformed(message: &Message<'_>) -> ValidationFault {
    let fault = message.fault();
    let reason = match fault.map(|fault| fault.reason()) {
        Some(0) => RejectReason::InvalidTagNumber,
        Some(4) => RejectReason::TagWithoutValue,
        Some(6) => RejectReason::IncorrectDataFormat,
        Some(17) => RejectReason::NonDataValueIncludesDelimiter,
        _ => RejectReason::Other,
    };
    // Bytes without a tag count as part of the value before them.
    let split = reason == RejectReason::NonDataValueIncludesDelimiter;
    let before = fault.and_then(|fault| message.fields().get(fault.index.checked_sub(1)?));
    let tag = match before {
        Some(field) if split => Some(field.tag),
        _ => fault.and_then(|fault| fault.tag),
    };
    ValidationFault {
        reason,
        tag,
        field: fault.map(|fault| fault.index),
        conditional: false,
        limit: fault.and_then(|fault| fault.limit()),
    }
}

#[cold]
fn no_such_message(message: &Message<'_>) -> ValidationFault {
    match message.index_of(tag::MSG_TYPE) {
        None => ValidationFault {
            reason: RejectReason::RequiredTagMissing,
            tag: Some(tag::MSG_TYPE),
            field: None,
            conditional: false,
            limit: None,
        },
        Some(field) if message.msg_type().is_empty() => ValidationFault {
            reason: RejectReason::TagWithoutValue,
            tag: Some(tag::MSG_TYPE),
            field: Some(field),
            conditional: false,
            limit: None,
        },
        Some(field) => ValidationFault {
            reason: RejectReason::InvalidMsgType,
            tag: None,
            field: Some(field),
            conditional: false,
            limit: None,
        },
    }
}
