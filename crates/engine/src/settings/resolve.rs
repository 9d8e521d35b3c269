//! The value of every key in every session, and where it comes from.
//!
//! A session's own entry wins over `[DEFAULT]`, which wins over the built-in default. All that is
//! wrong with a file is found in one pass and reported together.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::ini::{self, Section, SectionKind, Source, Span};
use super::keys::{Id, KEYS};
use super::problem::{Fault, LoadError, Problem, Report};
use super::registry::{self, Key, Known};
use super::rules;
use super::value::Value;

/// A file's sessions, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file, with its secrets hidden, and the warnings about it.
    pub report: Report,
    /// Its sessions, in its order; at least one.
    pub sessions: Vec<SessionSettings>,
}

/// The values of one session.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// Its `[SESSION]` line.
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
    /// The number behind the key's name.
    pub number: Option<u16>,
    /// The value, checked.
    pub value: Value,
    /// The value as it may be shown: a secret is `******`.
    pub text: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// A key that belongs to the application.
#[derive(Clone, Debug)]
pub struct Custom {
    /// Its name, as written.
    pub key: String,
    /// Its value, as written.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The registry's default.
    BuiltIn,
    /// `[DEFAULT]`, at this value.
    Default(Span),
    /// The session's own section, at this value.
    Session(Span),
}

impl Origin {
    /// The value's place in the file.
    pub fn span(self) -> Option<Span> {
        match self {
            Self::BuiltIn => None,
            Self::Default(span) | Self::Session(span) => Some(span),
        }
    }
}

impl Settings {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// [`LoadError`]; with [`LoadError::Content`] every problem of the file.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::read(&Source::read(path)?)
    }

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// [`LoadError::Content`] with every problem of the text.
    pub fn read(source: &Source) -> Result<Self, LoadError> {
        let mut problems = Vec::new();
        let sections = ini::parse(source, &mut problems);
        let checked: Vec<Checked> = sections
            .iter()
            .map(|section| check(source, section, &mut problems))
            .collect();
        let default = checked
            .iter()
            .find(|section| section.kind == SectionKind::Default);
        let sessions: Vec<SessionSettings> = checked
            .iter()
            .filter(|section| section.kind == SectionKind::Session)
            .map(|own| {
                let session = combine(default, own);
                let given = |id: Id| {
                    let broken = |section: &Checked| section.broken.contains(&id);
                    session.find(id).is_some() || broken(own) || default.is_some_and(broken)
                };
                rules::check_session(&session, &given, &mut problems);
                session
            })
            .collect();
        if sessions.is_empty()
            && sections
                .iter()
                .all(|section| section.kind != SectionKind::Session)
        {
            problems.push(Problem {
                span: Span::default(),
                fault: Fault::NoSession,
            });
        }
        rules::check_together(&sessions, &mut problems);
        problems.sort_by_key(|problem| problem.span.start);
        problems.dedup();
        let wrong = problems.iter().any(|problem| !problem.fault.is_warning());
        let report = Report {
            source: hide_secrets(source, &sections),
            problems,
        };
        if wrong {
            return Err(LoadError::Content(Box::new(report)));
        }
        Ok(Self { report, sessions })
    }

    /// An error about the value of a key, found after the file was read; a dictionary that cannot be
    /// loaded, for example.
    pub fn error(&self, session: &SessionSettings, id: Id, note: String) -> LoadError {
        let span = session.find(id).and_then(|setting| setting.origin.span());
        let problem = Problem {
            span: span.unwrap_or(session.header),
            fault: Fault::Conflict { note },
        };
        LoadError::Content(Box::new(Report {
            source: self.report.source.clone(),
            problems: vec![problem],
        }))
    }
}

impl SessionSettings {
    /// A key's value.
    pub fn find(&self, id: Id) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key.id == id)
    }

    /// All values of a key that may be numbered, the one without a number first.
    pub fn all(&self, id: Id) -> impl Iterator<Item = &Setting> {
        self.settings
            .iter()
            .filter(move |setting| setting.key.id == id)
    }

    /// A `Y` or `N`; the key has a default.
    pub fn bool(&self, id: Id) -> bool {
        matches!(
            self.find(id).map(|setting| &setting.value),
            Some(Value::Bool(true))
        )
    }

    /// A number; `None` when it has no value.
    pub fn int(&self, id: Id) -> Option<u64> {
        match self.find(id)?.value {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// A span of time; `None` when it has no value.
    pub fn time(&self, id: Id) -> Option<Duration> {
        match self.find(id)?.value {
            Value::Time(value) => Some(value),
            _ => None,
        }
    }

    /// A text or word; `None` when it has no value.
    pub fn text(&self, id: Id) -> Option<&str> {
        match &self.find(id)?.value {
            Value::Text(text) => Some(text),
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The session's name: `FIX.4.4:SENDER/SUB/LOCATION->TARGET/SUB/LOCATION:QUALIFIER`, without the
    /// parts that it does not have.
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

/// A section whose keys are known and whose values are right.
struct Checked {
    kind: SectionKind,
    header: Span,
    settings: Vec<Setting>,
    custom: Vec<Custom>,
    /// Keys that are there with a wrong value, and so not missing.
    broken: Vec<Id>,
}

fn check(source: &Source, section: &Section, problems: &mut Vec<Problem>) -> Checked {
    let mut checked = Checked {
        kind: section.kind,
        header: section.header,
        settings: Vec::new(),
        custom: Vec::new(),
        broken: Vec::new(),
    };
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for entry in &section.entries {
        let (name, text) = (source.slice(entry.key), source.slice(entry.value));
        let compare = problems.len() < COMPARED;
        let mut report = |span, fault| problems.push(Problem { span, fault });
        let known = registry::find(name);
        let same = match known {
            Some(Known::Used(key, number)) => {
                format!(
                    "{}{}",
                    key.name,
                    number.map(|n| n.to_string()).unwrap_or_default()
                )
            }
            _ => name.to_ascii_lowercase(),
        };
        if let Some(first) = seen.get(&same) {
            report(entry.key, Fault::Repeated { first: *first });
            continue;
        }
        seen.insert(same, entry.key);
        let origin = match section.kind {
            SectionKind::Default => Origin::Default(entry.value),
            SectionKind::Session => Origin::Session(entry.value),
        };
        if text.contains("${") || text.contains("$(") {
            report(entry.value, Fault::Surprise { note: VARIABLE });
        }
        match known {
            None => {
                let nearest = if compare {
                    registry::nearest(name)
                } else {
                    None
                };
                report(entry.key, Fault::UnknownKey { nearest });
            }
            Some(Known::Custom) => {
                checked.custom.push(Custom {
                    key: name.into(),
                    value: text.into(),
                    origin,
                });
            }
            Some(Known::Elsewhere(group)) => {
                if group
                    .unless
                    .is_some_and(|value| value.eq_ignore_ascii_case(text))
                {
                    continue;
                }
                let note = group.note;
                report(
                    entry.key,
                    if group.refused {
                        Fault::Unsupported { note }
                    } else {
                        Fault::WithoutEffect { note }
                    },
                );
            }
            Some(Known::Used(key, number)) => match key.kind.parse(text) {
                Ok(value) => {
                    let hidden = registry::is_secret(key.name, text);
                    let text = if hidden { HIDDEN } else { text }.into();
                    checked.settings.push(Setting {
                        key,
                        number,
                        value,
                        text,
                        origin,
                    });
                }
                Err(expected) => {
                    checked.broken.push(key.id);
                    if text.is_empty() {
                        report(entry.key, Fault::NoValue { expected });
                    } else {
                        report(
                            entry.value,
                            Fault::Malformed {
                                key: key.name,
                                expected,
                            },
                        );
                    }
                }
            },
        }
    }
    checked
}

/// Problems after which unknown keys are no longer compared with the known ones: such a file is
/// something else, and each comparison takes time.
const COMPARED: usize = 100;
const HIDDEN: &str = "******";
const VARIABLE: &str = "variables are not expanded: this value is taken as it stands";

fn combine(default: Option<&Checked>, own: &Checked) -> SessionSettings {
    let mut settings = own.settings.clone();
    let mut custom = own.custom.clone();
    if let Some(default) = default {
        for setting in &default.settings {
            let same = |own: &Setting| own.key.id == setting.key.id && own.number == setting.number;
            if !own.settings.iter().any(same) && !own.broken.contains(&setting.key.id) {
                settings.push(setting.clone());
            }
        }
        for inherited in &default.custom {
            if !own
                .custom
                .iter()
                .any(|own| own.key.eq_ignore_ascii_case(&inherited.key))
            {
                custom.push(inherited.clone());
            }
        }
    }
    for key in KEYS {
        if let Some(text) = key.default
            && !settings.iter().any(|setting| setting.key.id == key.id)
            && let Ok(value) = key.kind.parse(text)
        {
            let (text, origin) = (text.into(), Origin::BuiltIn);
            settings.push(Setting {
                key,
                number: None,
                value,
                text,
                origin,
            });
        }
    }
    settings.sort_by_key(|setting| (setting.key.id, setting.number));
    SessionSettings {
        header: own.header,
        settings,
        custom,
    }
}

/// The source with every secret value overwritten, places unchanged.
fn hide_secrets(source: &Source, sections: &[Section]) -> Source {
    let mut bytes = source.text.clone().into_bytes();
    for entry in sections.iter().flat_map(|section| &section.entries) {
        if registry::is_secret(source.slice(entry.key), source.slice(entry.value)) {
            bytes[entry.value.start..entry.value.end].fill(b'*');
        }
    }
    // Whole values were overwritten, so this is still UTF-8.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Source {
        path: source.path.clone(),
        text,
    }
}
