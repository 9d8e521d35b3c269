//! Finds the session that the first Logon of a connection names.

use super::config::BeginString;
use crate::{Message, tag};

/// The session that a Logon names, seen from our side. The sender of the Logon is our target.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LogonIdentity<'a> {
    /// BeginString(8).
    pub begin_string: BeginString,
    /// Our SenderCompID, which is the message's TargetCompID(56).
    pub own_comp_id: &'a [u8],
    /// Our SenderSubID, which is the message's TargetSubID(57); may be empty.
    pub own_sub_id: &'a [u8],
    /// Our SenderLocationID, which is the message's TargetLocationID(143); may be empty.
    pub own_location_id: &'a [u8],
    /// Our TargetCompID, which is the message's SenderCompID(49).
    pub peer_comp_id: &'a [u8],
    /// Our TargetSubID, which is the message's SenderSubID(50); may be empty.
    pub peer_sub_id: &'a [u8],
    /// Our TargetLocationID, which is the message's SenderLocationID(142); may be empty.
    pub peer_location_id: &'a [u8],
}

/// Reads the identity from the first message of a connection. `None` when the message is not a Logon, has a version
/// that is not supported, or lacks a CompID. The connection is then closed without an answer.
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
