//! Finds the session that a first Logon names.

use super::config::BeginString;
use crate::{Message, tag};

/// The session that a Logon is for, seen from our side: its sender is our target.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LogonIdentity<'a> {
    /// BeginString(8).
    pub begin_string: BeginString,
    /// Our SenderCompID: the message's TargetCompID(56).
    pub own_comp_id: &'a [u8],
    /// Our SenderSubID: the message's TargetSubID(57), or empty.
    pub own_sub_id: &'a [u8],
    /// Our SenderLocationID: the message's TargetLocationID(143), or empty.
    pub own_location_id: &'a [u8],
    /// Our TargetCompID: the message's SenderCompID(49).
    pub peer_comp_id: &'a [u8],
    /// Our TargetSubID: the message's SenderSubID(50), or empty.
    pub peer_sub_id: &'a [u8],
    /// Our TargetLocationID: the message's SenderLocationID(142), or empty.
    pub peer_location_id: &'a [u8],
}

/// Reads the identity out of a first message; `None` when it is not a Logon of a version we speak, or
/// lacks a CompID. The connection is then closed without an answer.
#[must_use]
pub fn identify<'a>(message: &Message<'a>) -> Option<LogonIdentity<'a>> {
    if message.msg_type() != b"A" {
        return None;
    }
    let optional = |tag| message.get(tag).unwrap_or_default();
    let required = |tag| message.get(tag).filter(|value| !value.is_empty());
    Some(LogonIdentity {
        begin_string: BeginString::parse(message.get(tag::BEGIN_STRING)?)?,
        own_comp_id: required(tag::TARGET_COMP_ID)?,
        own_sub_id: optional(tag::TARGET_SUB_ID),
        own_location_id: optional(tag::TARGET_LOCATION_ID),
        peer_comp_id: required(tag::SENDER_COMP_ID)?,
        peer_sub_id: optional(tag::SENDER_SUB_ID),
        peer_location_id: optional(tag::SENDER_LOCATION_ID),
    })
}
