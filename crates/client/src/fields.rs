//! Fields of a message as the user wrote them: tags and values, in order.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{DataType, Version};
use fixwire_protocol::{Dictionary, SOH, Tag};

use crate::instruction::InstructionError;

/// Tags that the session sets: the standard header and trailer, except PossResend(97), OnBehalfOfCompID(115) and
/// similar fields, which a user may set.
const OF_THE_SESSION: [Tag; 10] = [8, 9, 10, 34, 35, 43, 49, 52, 56, 122];

/// MsgType(35) of a message, and the fields that the user wrote.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MessageFields {
    /// MsgType(35).
    pub msg_type: String,
    /// Tags and values in the order in which they are sent.
    pub fields: Vec<(Tag, String)>,
}

impl MessageFields {
    /// A message of this type without fields.
    #[must_use]
    pub fn new(msg_type: &str) -> Self {
        Self {
            msg_type: msg_type.to_string(),
            fields: Vec::new(),
        }
    }

    /// The first value of a tag.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields
            .find(|field| field.0 == tag)
            .map(|field| field.1.as_str())
    }

    /// Sets the value of a tag; replaces a value that the tag has already.
    pub fn set(&mut self, tag: Tag, value: &str) {
        match self.fields.iter_mut().find(|field| field.0 == tag) {
            Some(field) => field.1 = value.to_string(),
            None => self.fields.push((tag, value.to_string())),
        }
    }

    /// Reads `TAG=VALUE`, and appends the field.
    pub(crate) fn push_text(&mut self, text: &str) -> Result<(), InstructionError> {
        self.fields.push(parse_field(text)?);
        Ok(())
    }

    /// Reads `TAG=VALUE`, and sets the field as [`Self::set`] does. `given` has the tags of the words read so far. A
    /// tag of a group may come again: each further word appends a field of the next entry.
    pub(crate) fn set_text(
        &mut self,
        text: &str,
        given: &mut Vec<Tag>,
    ) -> Result<(), InstructionError> {
        let (tag, value) = parse_field(text)?;
        if given.contains(&tag) && self.is_in_group(tag) {
            self.fields.push((tag, value));
        } else {
            given.push(tag);
            self.set(tag, &value);
        }
        Ok(())
    }

    /// Whether the count field of a group comes before a tag. If FIX does not define the tag of an earlier field, a
    /// number in this field counts as a group count.
    fn is_in_group(&self, tag: Tag) -> bool {
        let before = self.fields.iter().take_while(|field| field.0 != tag);
        let counts = |(_, value): &&(Tag, String)| value.bytes().all(|byte| byte.is_ascii_digit());
        let mut counts = before.filter(counts).map(|field| field.0).peekable();
        if counts.peek().is_none() {
            return false;
        }
        let versions = [Version::Fix44, Version::Fix50Sp2].map(Dictionary::built_in);
        counts.any(|count| {
            let mut kinds = versions.iter().filter_map(|it| Some(it.field(count)?.kind));
            kinds.next().is_none_or(|kind| {
                kind == DataType::NumInGroup || kinds.any(|it| it == DataType::NumInGroup)
            })
        })
    }

    /// The fields as packed text, without these tags: `55=VOD`, SOH, `54=1`. [`OrderSubject`](crate::OrderSubject)
    /// has fields in this form.
    #[must_use]
    pub fn packed(&self, without: &[Tag]) -> String {
        let mut text = String::new();
        for (tag, value) in &self.fields {
            if without.contains(tag) {
                continue;
            }
            if !text.is_empty() {
                text.push(char::from(SOH));
            }
            text.push_str(&tag.to_string());
            text.push('=');
            text.push_str(value);
        }
        text
    }
}

/// The fields in a packed text.
pub(crate) fn unpacked(text: &str) -> impl Iterator<Item = (Tag, &str)> {
    text.split(char::from(SOH)).filter_map(|field| {
        let (tag, value) = field.split_once('=')?;
        Some((tag.parse().ok()?, value))
    })
}

/// The first value of a tag in a packed text.
pub(crate) fn value_of(text: &str, tag: Tag) -> Option<&str> {
    unpacked(text)
        .find(|field| field.0 == tag)
        .map(|field| field.1)
}

fn parse_field(text: &str) -> Result<(Tag, String), InstructionError> {
    let wrong = || InstructionError::Field(text.to_string());
    let (tag, value) = text.split_once('=').ok_or_else(wrong)?;
    let digits = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_digit());
    let tag: Tag = tag
        .parse()
        .ok()
        .filter(|tag| digits && *tag > 0)
        .ok_or_else(wrong)?;
    if OF_THE_SESSION.contains(&tag) {
        return Err(InstructionError::OfTheSession(tag));
    }
    if value.is_empty() || value.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(wrong());
    }
    Ok((tag, value.to_string()))
}
