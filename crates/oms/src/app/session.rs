//! A session of the OMS.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Tag};

use crate::app::Oms;
use crate::values::rules::RiskRules;

/// A session of the OMS. Its index is its `SessionId` in the engine.
#[derive(Clone, Debug)]
pub struct OmsSession {
    /// Name of the session in the settings.
    pub name: String,
    /// The version of its application messages.
    pub version: Version,
    /// Its dictionary, for FIX 5.0 and later with that of the transport.
    pub dictionary: Arc<Dictionary>,
    /// SenderSubID(50), TargetSubID(57), SenderLocationID(142) and TargetLocationID(143) of its inbound messages, as far as
    /// its identity has them.
    pub ids: Vec<(Tag, String)>,
}

impl OmsSession {
    /// The built-in dictionary of a version, of FIX 5.0 and later with that of the transport.
    #[must_use]
    pub fn built_in(version: Version) -> Arc<Dictionary> {
        let dictionary = Dictionary::built_in(version);
        Arc::new(match version >= Version::Fix50 {
            true => dictionary.over(&Dictionary::built_in(Version::Fixt11)),
            false => dictionary,
        })
    }
}

/// Names and versions of sessions.
pub(super) fn versions(sessions: &[OmsSession]) -> impl Iterator<Item = (&str, Version)> {
    let sessions = sessions.iter();
    sessions.map(|session| (session.name.as_str(), session.version))
}

impl Oms {
    /// Checks that the FIX versions of lines have the requests that their settings ask for: one sentence for each fault.
    #[must_use]
    pub fn version_problems(rules: &RiskRules, sessions: &[OmsSession]) -> Vec<String> {
        let groups = rules.groups.iter().filter(|group| group.mass_status);
        let lines = groups.flat_map(|group| group.lines.iter().map(|line| (&group.name, line)));
        let lines = lines.filter_map(|(group, line)| {
            let session = sessions.iter().find(|it| it.name == *line)?;
            (session.version < Version::Fix43).then(|| {
                format!(
                    "line_group {group} has mass_status: {} of {line} has no OrderMassStatusRequest(AF), which FIX has from 4.3 on",
                    session.version.name()
                )
            })
        });
        lines.collect()
    }
}
