//! The value of every key in every session, and where it comes from.
//!
//! A session's own entry wins over `[DEFAULT]`, which wins over the default of the engine that the file
//! was written for, which wins over the built-in one. All that is wrong with a file is found in one pass
//! and reported together.

use std::path::Path;
use std::time::Duration;

use super::dialect::{self, Dialect, Told};
use super::ini::{self, Section, SectionKind, Source, Span};
use super::keys::{Id, KEYS};
use super::problem::{Fault, LoadError, Problem, Report};
use super::registry::{self, Key};
use super::section::{self, Checked, Reading};
use super::toml::{self, Document};
use super::value::Value;
use super::variables::{Form, OfTheProcess, Values, others_may_read};
use super::{antenna, dictionaries, differences, rules};

/// A file's sessions, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file, with its secrets hidden, and the warnings about it.
    pub report: Report,
    /// The engine that it was written for.
    pub dialect: Dialect,
    /// How that became known.
    pub told: Told,
    /// Its sessions, in its order; at least one.
    pub sessions: Vec<SessionSettings>,
    /// The tables of a `.toml` file that a gateway reads: such as `gateway`, `rule` and
    /// `table`. Nothing is known here of what they say.
    pub gateway: Vec<&'static str>,
    /// The variables that were replaced.
    pub(super) form: Form,
}

/// How to read a file.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The engine that it was written for; `None` looks for the key `Dialect`, then guesses.
    pub dialect: Option<Dialect>,
    /// The values of its variables.
    pub values: &'a dyn Values,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            dialect: None,
            values: &OfTheProcess,
        }
    }
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
    /// The value as the file has it, secrets and variables as they stand there.
    pub written: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What the engine that the file was written for does otherwise, as in "QuickFIX/J …".
    pub differs: Option<String>,
}

/// A key that belongs to the application.
#[derive(Clone, Debug)]
pub struct Custom {
    /// Its name, as written.
    pub key: String,
    /// Its value.
    pub value: String,
    /// The value as it may be shown: a secret is `******`, a variable its name.
    pub text: String,
    /// The value as the file has it.
    pub written: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The registry's default.
    BuiltIn,
    /// The default of the engine that the file was written for, where it is another one.
    Dialect(Dialect),
    /// `[DEFAULT]`, at this value.
    Default(Span),
    /// The session's own section, at this value.
    Session(Span),
}

impl Origin {
    /// The value's place in the file.
    pub fn span(self) -> Option<Span> {
        match self {
            Self::BuiltIn | Self::Dialect(_) => None,
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
        Self::load_with(path, &Options::default())
    }

    /// Reads and checks a file in a certain way.
    ///
    /// # Errors
    ///
    /// As [`Settings::load`].
    pub fn load_with(path: &Path, options: &Options<'_>) -> Result<Self, LoadError> {
        Self::of_file(&Source::read(path)?, options)
    }

    /// Checks the text of a file that was read.
    ///
    /// # Errors
    ///
    /// As [`Settings::read`].
    pub fn of_file(source: &Source, options: &Options<'_>) -> Result<Self, LoadError> {
        let exposed = std::fs::metadata(&source.path).is_ok_and(|about| others_may_read(&about));
        read(source, options, exposed)
    }

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// [`LoadError::Content`] with every problem of the text.
    pub fn read(source: &Source) -> Result<Self, LoadError> {
        Self::read_with(source, &Options::default())
    }

    /// Checks a text in a certain way.
    ///
    /// # Errors
    ///
    /// As [`Settings::read`].
    pub fn read_with(source: &Source, options: &Options<'_>) -> Result<Self, LoadError> {
        read(source, options, false)
    }

    /// An error about the settings of several sessions, found after the file was read; `None` when there is
    /// no problem.
    pub(super) fn errors(&self, mut problems: Vec<Problem>) -> Option<LoadError> {
        problems.sort_by_key(|problem| problem.span.start);
        problems.dedup();
        let source = self.report.source.clone();
        let report = Report { source, problems };
        (!report.problems.is_empty()).then(|| LoadError::Content(Box::new(report)))
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

impl Setting {
    fn by_default(key: &'static Key, value: Value, text: &str, origin: Origin) -> Self {
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

    /// Whether a value of the key stands in the file.
    pub(super) fn is_in_file(&self, id: Id) -> bool {
        self.find(id)
            .is_some_and(|setting| setting.origin.span().is_some())
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

    /// What rules of a gateway call it: its `SessionName`, else its [`name`](Self::name).
    pub fn called(&self) -> String {
        match self.text(Id::SessionName) {
            Some(name) => name.to_owned(),
            None => self.name(),
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

/// Checks a text; `exposed` says that every user of the machine can read it.
fn read(source: &Source, options: &Options<'_>, exposed: bool) -> Result<Settings, LoadError> {
    let mut problems = Vec::new();
    let (document, dialect, told) = if source.is_toml() {
        let document = toml::parse(source, &mut problems);
        only_our_own(&document.sections, options, &mut problems);
        (document, Dialect::Fixwire, Told::ByItsName)
    } else if let Some(told) = antennas(source, options) {
        (
            antenna::parse(source, &mut problems),
            Dialect::Antenna,
            told,
        )
    } else {
        // Whose file it is decides how its lines are read, and its lines tell whose it is.
        let first_look = ini::parse(source, Dialect::Fixwire, &mut Vec::new());
        let (dialect, told) = whose(&first_look.sections, options);
        (ini::parse(source, dialect, &mut problems), dialect, told)
    };
    let sections = &document.sections;
    let reading = Reading {
        dialect,
        form: Form::of(dialect, asks_for_variables(sections)),
        values: options.values,
        exposed,
        guessed: told == Told::ByItsKeys,
    };
    let checked: Vec<Checked> = sections
        .iter()
        .map(|section| section::check(&reading, section, &mut problems))
        .collect();
    let default = checked
        .iter()
        .find(|section| section.kind == SectionKind::Default);
    let sessions: Vec<SessionSettings> = checked
        .iter()
        .filter(|section| section.kind == SectionKind::Session)
        .map(|own| {
            let session = combine(default, own, dialect);
            let given = |id: Id| {
                let broken = |section: &Checked| section.broken.contains(&id);
                session.find(id).is_some() || broken(own) || default.is_some_and(broken)
            };
            rules::check_session(&session, &given, &mut problems);
            dictionaries::warn_of_missing(&session, &mut problems);
            session
        })
        .collect();
    // A text that is no TOML has no sections that could be missed.
    let readable = !problems
        .iter()
        .any(|problem| matches!(problem.fault, Fault::Toml { .. }));
    if sessions.is_empty() && readable {
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
        source: hide_secrets(source, &document),
        problems,
    };
    if wrong {
        return Err(LoadError::Content(Box::new(report)));
    }
    Ok(Settings {
        report,
        dialect,
        told,
        sessions,
        gateway: document.gateway,
        form: reading.form,
    })
}

/// Whether a file is FIX Antenna's, and how that is known.
fn antennas(source: &Source, options: &Options<'_>) -> Option<Told> {
    match options.dialect {
        Some(dialect) => (dialect == Dialect::Antenna).then_some(Told::ByCaller),
        None => source.is_properties().then_some(Told::ByItsName),
    }
}

/// The engine that a file was written for.
fn whose(sections: &[Section], options: &Options<'_>) -> (Dialect, Told) {
    if let Some(dialect) = options.dialect {
        return (dialect, Told::ByCaller);
    }
    let entries = || sections.iter().flat_map(|section| &section.entries);
    let mut said = entries().filter(|entry| is(&entry.name, Id::Dialect));
    let family = |dialect: &Dialect| *dialect != Dialect::Antenna;
    if let Some(dialect) = said.find_map(|entry| Dialect::find(&entry.text).filter(family)) {
        return (dialect, Told::ByKey);
    }
    match dialect::guess(entries().map(|entry| &entry.name[..]), registry::clue) {
        Some(dialect) => (dialect, Told::ByItsKeys),
        None => (Dialect::Fixwire, Told::Nowhere),
    }
}

/// A TOML file is fixwire's own.
fn only_our_own(sections: &[Section], options: &Options<'_>, problems: &mut Vec<Problem>) {
    let mut report = |span, dialect: Dialect| {
        let note = format!("a TOML file is fixwire's own, and no file of {dialect}");
        let fault = Fault::Conflict { note };
        problems.push(Problem { span, fault });
    };
    if let Some(other) = options
        .dialect
        .filter(|dialect| *dialect != Dialect::Fixwire)
    {
        report(Span::default(), other);
    }
    for entry in sections.iter().flat_map(|section| &section.entries) {
        if let Some(other) = Dialect::find(&entry.text)
            && is(&entry.name, Id::Dialect)
            && other != Dialect::Fixwire
        {
            report(entry.value, other);
        }
    }
}

/// Whether a file wants the variables of QuickFIX (C++) replaced.
fn asks_for_variables(sections: &[Section]) -> bool {
    let mut entries = sections.iter().flat_map(|section| &section.entries);
    entries.any(|entry| {
        let yes = registry::key(Id::ExpandVariables).kind.parse(&entry.text);
        is(&entry.name, Id::ExpandVariables) && yes == Ok(Value::Bool(true))
    })
}

fn is(name: &str, id: Id) -> bool {
    name.eq_ignore_ascii_case(registry::key(id).name)
}

fn combine(default: Option<&Checked>, own: &Checked, dialect: Dialect) -> SessionSettings {
    let mut settings = own.settings.clone();
    let mut custom = own.custom.clone();
    if let Some(default) = default {
        for setting in &default.settings {
            let same = |own: &Setting| own.key.id == setting.key.id && own.number == setting.number;
            let id = &setting.key.id;
            let settled = own.broken.contains(id) || own.whole.contains(id);
            if !settled && !own.settings.iter().any(same) {
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
    let mut session = SessionSettings {
        header: own.header,
        settings,
        custom,
    };
    add_defaults(&mut session, dialect);
    session
}

/// Keys whose default elsewhere is the answer to another question: without a schedule a session never
/// ends here, and there it does not start.
const KEPT: [Id; 1] = [Id::NonStopSession];

fn add_defaults(session: &mut SessionSettings, dialect: Dialect) {
    for (id, value, text) in differences::implied(session, dialect) {
        let origin = Origin::Dialect(dialect);
        let setting = Setting::by_default(registry::key(id), value, text, origin);
        session.settings.push(setting);
    }
    if let Some(origin) = asks_to_sync(session)
        && session.find(Id::Durability).is_none()
    {
        let (key, disk) = (registry::key(Id::Durability), "disk");
        let setting = Setting::by_default(key, Value::Word(disk), disk, origin);
        session.settings.push(setting);
    }
    for key in KEYS {
        let Some(ours) = key.default else {
            continue;
        };
        let theirs = differences::default_there(key, dialect);
        if session.find(key.id).is_some() {
            continue;
        }
        let Ok(value) = key.kind.parse(ours) else {
            continue;
        };
        let adopted = theirs
            .filter(|_| !KEPT.contains(&key.id))
            .and_then(|text| Some((text.clone(), key.kind.parse(&text).ok()?)));
        session.settings.push(match adopted {
            Some((text, theirs)) if theirs != value => {
                Setting::by_default(key, theirs, &text, Origin::Dialect(dialect))
            }
            _ => Setting::by_default(key, value, ours, Origin::BuiltIn),
        });
    }
    session
        .settings
        .sort_by_key(|setting| (setting.key.id, setting.number));
    for id in differences::OF_WHAT_IS_MISSING {
        if let Some(note) = differences::of_what_is_missing(session, id, dialect)
            && let Some(setting) = session.settings.iter_mut().find(|found| found.key.id == id)
        {
            setting.differs.get_or_insert(note);
        }
    }
}

/// Where `FileStoreSync=Y` stands.
pub(super) fn asks_to_sync(session: &SessionSettings) -> Option<Origin> {
    let sync = session.find(Id::FileStoreSync)?;
    (sync.value == Value::Bool(true)).then_some(sync.origin)
}

/// The source with every secret value overwritten, places and lines unchanged.
fn hide_secrets(source: &Source, document: &Document) -> Source {
    let mut bytes = source.text.clone().into_bytes();
    let entries = document
        .sections
        .iter()
        .flat_map(|section| &section.entries);
    let secrets = entries
        .filter(|entry| registry::is_secret(&entry.name, &entry.text))
        .map(|entry| entry.value);
    for span in secrets.chain(document.secrets.iter().copied()) {
        for byte in &mut bytes[span.start..span.end] {
            if *byte != b'\n' {
                *byte = b'*';
            }
        }
    }
    // Whole values were overwritten, so this is still UTF-8.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Source {
        path: source.path.clone(),
        text,
    }
}
