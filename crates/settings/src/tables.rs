//! Helpers for the tables of a gateway, an OMS or an exchange, which have their own readers. The helpers give the
//! versions of the sessions, the files next to the settings file, and problems with their positions.

use std::io::{self, Read};
use std::path::Path;

use fixwire_engine::regular;
use fixwire_protocol::dictionary::Version;
use fixwire_text::{Diagnostic, Span};

use super::ini::Source;
use super::keys::Id;
use super::problem::{LoadError, Problem, SettingsFault, SettingsReport};
use super::resolved::{SessionSettings, Settings};

/// Maximum size of a file that holds one table of the settings, bytes.
const MAX_TABLE: u64 = 64 << 20;

/// The owner of further tables in a settings file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TablesOwner {
    /// A gateway, whose rules name each session.
    Gateway,
    /// An OMS, whose users name sessions.
    Oms,
}

const NAMED: &str = "a gateway cannot have dynamic sessions: its rules name each session";
const GATEWAY_REFUSES: &[(Id, &str)] =
    &[(Id::AcceptorTemplate, NAMED), (Id::DynamicSessions, NAMED)];
const OMS_REFUSES: &[(Id, &str)] = &[
    (
        Id::DynamicSessions,
        "an OMS cannot have sessions of DynamicSessions: write a section with AcceptorTemplate, whose sessions have users",
    ),
    (
        Id::DynamicQualifier,
        "an OMS cannot have DynamicQualifier: a client that reconnects must get the session of its orders",
    ),
];

impl Settings {
    /// The FIX versions of all sessions. `who` must support each of these versions.
    ///
    /// # Errors
    ///
    /// The first setting that `who` does not support.
    pub fn versions(&self, who: TablesOwner) -> Result<Vec<Version>, LoadError> {
        let refused = |session: &SessionSettings, id, note: &str| {
            let error = self.error(session, id, note.to_owned());
            Err(error)
        };
        let version = |session: &SessionSettings| {
            let (who, dynamic) = match who {
                TablesOwner::Gateway => ("a gateway", GATEWAY_REFUSES),
                TablesOwner::Oms => ("an OMS", OMS_REFUSES),
            };
            for (id, note) in dynamic {
                if session.bool(*id) {
                    return refused(session, *id, note);
                }
            }
            if session.bool(Id::RejectMessageOnUnhandledException) {
                let note = format!(
                    "{who} cannot undo changes to its orders after a panic: remove this key"
                );
                return refused(session, Id::RejectMessageOnUnhandledException, &note);
            }
            let (id, name) = match session.text(Id::DefaultApplVerID) {
                Some(name) if session.text(Id::BeginString) == Some("FIXT.1.1") => {
                    (Id::DefaultApplVerID, name)
                }
                _ => (
                    Id::BeginString,
                    session.text(Id::BeginString).unwrap_or_default(),
                ),
            };
            match Version::from_name(name) {
                Some(version) => Ok(version),
                None => refused(
                    session,
                    id,
                    &format!("{who} supports versions up to FIX.5.0SP2"),
                ),
            }
        };
        self.sessions.iter().map(version).collect()
    }

    /// The error for problems that were found in the tables of a gateway, an OMS or an exchange.
    #[must_use]
    pub fn found(&self, problems: Vec<Problem>) -> LoadError {
        LoadError::Content(Box::new(SettingsReport {
            source: self.report.source.clone(),
            problems,
        }))
    }
}

impl Source {
    /// The text of a file that holds one table of the settings, for example a list of symbols. The path of that file
    /// is relative to the settings file.
    ///
    /// # Errors
    ///
    /// The file is missing, larger than 64 MiB, or not UTF-8.
    pub fn read_table(&self, file: &str) -> io::Result<String> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let mut bytes = Vec::new();
        let file = regular::open(folder.join(file))?;
        file.take(MAX_TABLE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_TABLE {
            let why = format!("it is larger than {MAX_TABLE} bytes");
            return Err(io::Error::other(why));
        }
        fixwire_text::utf8(bytes).map_err(io::Error::other)
    }
}

impl Problem {
    /// The problem for a mistake in a table of a gateway, an OMS or an exchange, or in a file that such a table
    /// names.
    #[must_use]
    pub fn of(source: &Source, mistake: &Diagnostic) -> Self {
        let start = mistake.at;
        let (line, column) = fixwire_text::place(&source.text, start);
        let span = match mistake.end {
            Some(end) if end > start => Span { start, end },
            _ => source.word(line, column),
        };
        let file = mistake.file.as_ref();
        let file = file.map(|(file, line)| format!("{file}:{line}: "));
        let help = Some(mistake.hint.as_str()).filter(|hint| !hint.is_empty());
        let title = format!("{}{}", file.unwrap_or_default(), mistake.what);
        Self::found(span, &title, help)
    }

    /// An error at a position of the file. The title may quote the file.
    #[must_use]
    pub fn found(span: Span, title: &str, help: Option<&str>) -> Self {
        Self {
            span,
            fault: SettingsFault::Found {
                title: plain(title),
                help: help.map(plain),
            },
        }
    }
}

/// The text with escapes in place of control characters.
fn plain(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().collect::<String>(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}
