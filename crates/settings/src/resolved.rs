//! [`Settings`]: the checked values of every key in each session, and where the values come from.

use std::time::Duration;

use super::dialect::{Dialect, DialectSource};
use super::ini::Span;
use super::keys::Id;
use super::link_settings::LinkSettings;
use super::problem::{LoadError, Problem, SettingsFault, SettingsReport};
use super::registry::Key;
use super::value::SettingValue;
use super::variables::VariableSyntax;

/// The checked sessions of a file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The text of the file with its secrets hidden, and the warnings about the file.
    pub report: SettingsReport,
    /// The engine that the file was written for.
    pub dialect: Dialect,
    /// How the engine was determined.
    pub told: DialectSource,
    /// Sessions of the file, in the order of the file. A file has at least one session or link.
    pub sessions: Vec<SessionSettings>,
    /// Links of the file, in the order of the file.
    pub links: Vec<LinkSettings>,
    /// Names of the gateway tables that the file has, such as `gateway`, `rule` and `table`. This crate does not
    /// interpret these tables.
    pub gateway: Vec<&'static str>,
    /// Names of the OMS tables that the file has, such as `oms` and `account`. This crate does not interpret these
    /// tables.
    pub oms: Vec<&'static str>,
    /// Names of the exchange tables that the file has, such as `exchange` and `instrument`. This crate does not
    /// interpret these tables.
    pub exchange: Vec<&'static str>,
    /// The kind of variables that were replaced.
    pub(super) form: VariableSyntax,
}

/// The values of one session.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// The `[SESSION]` line of the session.
    pub header: Span,
    /// Every key that has a value, in the order of the registry.
    pub settings: Vec<Setting>,
    /// Keys of the application (`X-…`), as written.
    pub custom: Vec<Custom>,
}

/// The value of a key in a session.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The key.
    pub key: &'static Key,
    /// The number after the key's name.
    pub number: Option<u16>,
    /// The value, checked.
    pub value: SettingValue,
    /// The value for display; `******` for a secret.
    pub text: String,
    /// The value as written in the file. Secrets are included, and variables are not replaced.
    pub written: String,
    /// Where the value comes from.
    pub origin: Origin,
    /// The different behaviour of the engine that the file was written for, to follow the name of the engine.
    pub differs: Option<String>,
}

/// A key that belongs to the application.
#[derive(Clone, Debug)]
pub struct Custom {
    /// Name of the key, as written.
    pub key: String,
    /// Value of the key.
    pub value: String,
    /// The value for display: `******` for a secret, and the name of a variable instead of its value.
    pub text: String,
    /// The value as written in the file.
    pub written: String,
    /// Where the value comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The registry's default.
    BuiltIn,
    /// The default of the file's engine, which differs from fixwire's.
    Dialect(Dialect),
    /// The section `[DEFAULT]`, which has this value.
    Default(Span),
    /// The session's own section, which has this value.
    Session(Span),
}

impl Origin {
    /// The position of the value in the file.
    pub fn span(self) -> Option<Span> {
        match self {
            Self::BuiltIn | Self::Dialect(_) => None,
            Self::Default(span) | Self::Session(span) => Some(span),
        }
    }
}

impl Settings {
    /// The values that all sessions and links have in common: the values for the engine.
    #[must_use]
    pub fn engine(&self) -> Option<&SessionSettings> {
        let link = self.links.first().map(|link| &link.connection);
        self.sessions.first().or(link)
    }

    /// The error for problems that were found after the file was read, in the settings of several sessions. `None`
    /// when there are no problems.
    pub(super) fn errors(&self, mut problems: Vec<Problem>) -> Option<LoadError> {
        problems.sort_by_key(|problem| problem.span.start);
        problems.dedup();
        let source = self.report.source.clone();
        let report = SettingsReport { source, problems };
        (!report.problems.is_empty()).then(|| LoadError::Content(Box::new(report)))
    }

    /// An error about the value of a key that was found after the file was read, for example when a dictionary cannot
    /// be loaded.
    pub fn error(&self, session: &SessionSettings, id: Id, note: String) -> LoadError {
        let span = session.find(id).and_then(|setting| setting.origin.span());
        let problem = Problem {
            span: span.unwrap_or(session.header),
            fault: SettingsFault::Conflict { note },
        };
        LoadError::Content(Box::new(SettingsReport {
            source: self.report.source.clone(),
            problems: vec![problem],
        }))
    }
}

impl Setting {
    pub(super) fn by_default(
        key: &'static Key,
        value: SettingValue,
        text: &str,
        origin: Origin,
    ) -> Self {
        Self {
            key,
            number: None,
            value,
            text: text.into(),
            written: text.into(),
            origin,
            differs: None,
        }
    }
}

impl SessionSettings {
    /// A key's value.
    pub fn find(&self, id: Id) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key.id == id)
    }

    /// Whether the file has a value for the key.
    pub(super) fn is_in_file(&self, id: Id) -> bool {
        self.find(id)
            .is_some_and(|setting| setting.origin.span().is_some())
    }

    /// All values of a key that a number may follow. The value without a number is first.
    pub fn all(&self, id: Id) -> impl Iterator<Item = &Setting> {
        self.settings
            .iter()
            .filter(move |setting| setting.key.id == id)
    }

    /// The value of a key as `Y` or `N`. The key must have a default.
    pub fn bool(&self, id: Id) -> bool {
        matches!(
            self.find(id).map(|setting| &setting.value),
            Some(SettingValue::Bool(true))
        )
    }

    /// The value of a key as a number; `None` when there is no value.
    pub fn int(&self, id: Id) -> Option<u64> {
        match self.find(id)?.value {
            SettingValue::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a key as a duration; `None` when there is no value.
    pub fn time(&self, id: Id) -> Option<Duration> {
        match self.find(id)?.value {
            SettingValue::Time(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a key as a text or word; `None` when there is no value.
    pub fn text(&self, id: Id) -> Option<&str> {
        match &self.find(id)?.value {
            SettingValue::Text(text) => Some(text),
            SettingValue::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Name of the session in gateway rules: the value of `SessionName`, or without that key the session's
    /// [`name`](Self::name).
    pub fn called(&self) -> String {
        match self.text(Id::SessionName) {
            Some(name) => name.to_owned(),
            None => self.name(),
        }
    }

    /// Whether the section is a template, whose sessions are created at Logons, and no session itself.
    pub fn is_template(&self) -> bool {
        self.text(Id::ConnectionType) == Some("acceptor") && self.bool(Id::AcceptorTemplate)
    }

    /// The session's name, in the form `FIX.4.4:SENDER/SUB/LOCATION->TARGET/SUB/LOCATION:QUALIFIER`. Parts that the
    /// session does not have are left out.
    pub fn name(&self) -> String {
        let part = |before: &str, id| match self.text(id) {
            Some(text) => format!("{before}{text}"),
            None => String::new(),
        };
        [
            part("", Id::BeginString),
            part(":", Id::SenderCompID),
            part("/", Id::SenderSubID),
            part("/", Id::SenderLocationID),
            part("->", Id::TargetCompID),
            part("/", Id::TargetSubID),
            part("/", Id::TargetLocationID),
            part(":", Id::SessionQualifier),
        ]
        .concat()
    }
}

/// Where the file sets `FileStoreSync=Y`.
pub(super) fn asks_to_sync(session: &SessionSettings) -> Option<Origin> {
    let sync = session.find(Id::FileStoreSync)?;
    (sync.value == SettingValue::Bool(true)).then_some(sync.origin)
}
