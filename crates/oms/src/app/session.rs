//! A session of the OMS.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::Version;

/// A session of the OMS. Its index is its `SessionId` in the engine.
#[derive(Clone, Debug)]
pub struct OmsSession {
    /// Its name in the settings.
    pub name: String,
    /// The version of its application messages.
    pub version: Version,
    /// SenderSubID(50), TargetSubID(57), SenderLocationID(142) and TargetLocationID(143) of its inbound messages, as far as
    /// its identity has them.
    pub ids: Vec<(Tag, String)>,
}

/// Names and versions of sessions.
pub(super) fn versions(sessions: &[OmsSession]) -> impl Iterator<Item = (&str, Version)> {
    let sessions = sessions.iter();
    sessions.map(|session| (session.name.as_str(), session.version))
}
