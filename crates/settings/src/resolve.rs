//! Determines the value of every key in every session, and where the value comes from.
//!
//! A session's own entry takes precedence over `[DEFAULT]`. After these come the default of the file's engine and
//! then fixwire's built-in default. All errors of a file are found in one pass and reported together.

use std::path::Path;

use fixwire_engine::schedule::zone_name;

use super::dialect::{self, Dialect, DialectSource};
use super::document::{Document, LinkTable};
use super::ini::{self, Section, SectionKind, Source, Span};
use super::keys::{Id, KEYS};
use super::link_settings::LinkSettings;
use super::links;
use super::paths::Beside;
use super::problem::{LoadError, Problem, SettingsFault, SettingsReport};
use super::registry;
use super::resolved::{Origin, SessionSettings, Setting, Settings, asks_to_sync};
use super::section::{self, Checked, SectionReading};
use super::toml;
use super::value::SettingValue;
use super::variables::{OfTheProcess, Values, VariableSyntax, others_may_read};
use super::{antenna, differences, paths, rules, shelf};

/// How to read a file.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The engine that the file was written for. With `None` the key `Dialect` decides; if the file lacks this key,
    /// the reader guesses.
    pub dialect: Option<Dialect>,
    /// The source of the values of variables.
    pub values: &'a dyn Values,
    /// Whether the file may have links without an OMS or a simulated exchange. If so, this process is the broker's end.
    pub links_alone: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            dialect: None,
            values: &OfTheProcess,
            links_alone: false,
        }
    }
}

impl Settings {
    /// Reads and checks a file.
    ///
    /// ```no_run
    /// use fixwire_settings::Settings;
    /// use std::path::Path;
    ///
    /// let settings = Settings::load(Path::new("acceptor.cfg"))?;
    /// let config = settings.to_config()?;
    /// assert!(!config.sessions.is_empty());
    /// # Ok::<(), fixwire_settings::problem::LoadError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoadError`]. A [`LoadError::Content`] has every problem of the file.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::load_with(path, &Options::default())
    }

    /// Reads and checks a file with these options.
    ///
    /// # Errors
    ///
    /// See [`Settings::load`].
    pub fn load_with(path: &Path, options: &Options<'_>) -> Result<Self, LoadError> {
        Self::of_file(&Source::read(path)?, options)
    }

    /// Checks the text of a file that has already been read.
    ///
    /// # Errors
    ///
    /// See [`Settings::read`].
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

    /// Checks a text with these options.
    ///
    /// # Errors
    ///
    /// See [`Settings::read`].
    pub fn read_with(source: &Source, options: &Options<'_>) -> Result<Self, LoadError> {
        read(source, options, false)
    }
}

/// Checks a text. `exposed` means that every user of the machine can read the text.
fn read(source: &Source, options: &Options<'_>, exposed: bool) -> Result<Settings, LoadError> {
    let mut problems = Vec::new();
    let (document, dialect, told) = if source.is_toml() {
        let document = toml::parse(source, &mut problems);
        only_our_own(&document.sections, options, &mut problems);
        (document, Dialect::Fixwire, DialectSource::ByItsName)
    } else if let Some(told) = antennas(source, options) {
        (
            antenna::parse(source, &mut problems),
            Dialect::Antenna,
            told,
        )
    } else {
        // The engine of the file decides how lines are read, but the engine is known only from the lines. So the
        // lines are read once before that.
        let first_look = ini::parse(source, Dialect::Fixwire, &mut Vec::new());
        let (dialect, told) = whose(&first_look.sections, options);
        (ini::parse(source, dialect, &mut problems), dialect, told)
    };
    let sections = &document.sections;
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let values = Beside {
        values: options.values,
        folder,
    };
    let reading = SectionReading {
        dialect,
        form: VariableSyntax::of(dialect, asks_for_variables(sections)),
        values: &values,
        folder,
        exposed,
        guessed: told == DialectSource::ByItsKeys,
    };
    let checked: Vec<Checked> = sections
        .iter()
        .map(|section| section::check(&reading, section, &mut problems))
        .collect();
    let default = checked
        .iter()
        .find(|section| section.kind == SectionKind::Default);
    let mut seen = shelf::Seen::new();
    let sessions: Vec<SessionSettings> = checked
        .iter()
        .filter(|section| section.kind == SectionKind::Session)
        .map(|own| {
            let mut session = combine(default, own, &reading);
            let given = |id: Id| {
                let broken = |section: &Checked| section.broken.contains(&id);
                session.find(id).is_some() || broken(own) || default.is_some_and(broken)
            };
            rules::check_session(&session, dialect, &given, &mut problems);
            let ignored = rules::ignored(&session, dialect);
            let is_ignored = |id: Id| ignored.iter().any(|(it, _)| *it == id);
            session.settings.retain(|found| !is_ignored(found.key.id));
            shelf::warn_of_missing(&session, &mut problems);
            shelf::warn_of_odd(&session, &mut seen, &mut problems);
            session
        })
        .collect();
    let links = links(
        &reading,
        &document,
        (default, options.links_alone),
        &mut problems,
    );
    // A text that is not TOML has no sections, so no section can be missing.
    let readable = !problems
        .iter()
        .any(|problem| matches!(problem.fault, SettingsFault::Toml { .. }));
    if sessions.is_empty() && links.is_empty() && readable {
        problems.push(Problem {
            span: Span::default(),
            fault: SettingsFault::NoSession,
        });
    }
    rules::check_together(&sessions, &mut problems);
    links::check_together(&links, &sessions, &mut problems);
    problems.sort_by_key(|problem| problem.span.start);
    problems.dedup();
    let wrong = problems.iter().any(|problem| !problem.fault.is_warning());
    let report = SettingsReport {
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
        links,
        gateway: document.gateway,
        oms: document.oms,
        exchange: document.exchange,
        form: reading.form,
    })
}

/// The links of a file.
fn links(
    reading: &SectionReading<'_>,
    document: &Document,
    (default, alone): (Option<&Checked>, bool),
    problems: &mut Vec<Problem>,
) -> Vec<LinkSettings> {
    if document.links.is_empty() {
        return Vec::new();
    }
    let end = links::end_of(document, alone, problems);
    let mut link = |table: &LinkTable| {
        let own = section::check(reading, &table.section, problems);
        let connection = combine(default, &own, reading);
        let is_there: Vec<Id> = connection.settings.iter().map(|it| it.key.id).collect();
        let given = |id: Id| {
            let broken = |section: &Checked| section.broken.contains(&id);
            is_there.contains(&id) || broken(&own) || default.is_some_and(broken)
        };
        links::link(reading, table, (connection, &given), end, problems)
    };
    document.links.iter().map(&mut link).collect()
}

/// Whether a file belongs to FIX Antenna, and how this was determined.
fn antennas(source: &Source, options: &Options<'_>) -> Option<DialectSource> {
    match options.dialect {
        Some(dialect) => (dialect == Dialect::Antenna).then_some(DialectSource::ByCaller),
        None => source.is_properties().then_some(DialectSource::ByItsName),
    }
}

/// The engine that a file was written for.
fn whose(sections: &[Section], options: &Options<'_>) -> (Dialect, DialectSource) {
    if let Some(dialect) = options.dialect {
        return (dialect, DialectSource::ByCaller);
    }
    let entries = || sections.iter().flat_map(|section| &section.entries);
    let mut said = entries().filter(|entry| is(&entry.name, Id::Dialect));
    let family = |dialect: &Dialect| *dialect != Dialect::Antenna;
    if let Some(dialect) = said.find_map(|entry| Dialect::find(&entry.text).filter(family)) {
        return (dialect, DialectSource::ByKey);
    }
    match dialect::guess(entries().map(|entry| &entry.name[..]), registry::clue) {
        Some(dialect) => (dialect, DialectSource::ByItsKeys),
        None => (Dialect::Fixwire, DialectSource::Nowhere),
    }
}

/// Checks that a TOML file is fixwire's own.
fn only_our_own(sections: &[Section], options: &Options<'_>, problems: &mut Vec<Problem>) {
    let mut report = |span, dialect: Dialect| {
        let note = format!("a TOML file is fixwire's own, not a file of {dialect}");
        let fault = SettingsFault::Conflict { note };
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

/// Whether a file asks for the variables of QuickFIX (C++).
fn asks_for_variables(sections: &[Section]) -> bool {
    let mut entries = sections.iter().flat_map(|section| &section.entries);
    entries.any(|entry| {
        let yes = registry::key(Id::ExpandVariables).kind.parse(&entry.text);
        is(&entry.name, Id::ExpandVariables) && yes == Ok(SettingValue::Bool(true))
    })
}

fn is(name: &str, id: Id) -> bool {
    name.eq_ignore_ascii_case(registry::key(id).name)
}

fn combine(
    default: Option<&Checked>,
    own: &Checked,
    reading: &SectionReading<'_>,
) -> SessionSettings {
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
    add_defaults(&mut session, reading.dialect);
    paths::place(&mut session, reading.folder);
    if reading.dialect == Dialect::QuickFixN {
        of_windows(&mut session);
    }
    session
}

/// Replaces names of Windows time zones, which QuickFIX/n uses.
fn of_windows(session: &mut SessionSettings) {
    let zones = session.settings.iter_mut();
    for setting in zones.filter(|setting| setting.key.id == Id::TimeZone) {
        if let SettingValue::Text(name) = &setting.value
            && let Some(iana) = zone_name::of_windows(name)
        {
            setting.value = SettingValue::Text(iana.to_owned());
            iana.clone_into(&mut setting.text);
            iana.clone_into(&mut setting.written);
        }
    }
}

/// Keys for which fixwire keeps its own default. Without a schedule a session never ends in fixwire, while in the
/// other engines it does not start.
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
        let setting = Setting::by_default(key, SettingValue::Word(disk), disk, origin);
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

/// The source with every secret value overwritten. Positions and line numbers stay the same.
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
    // Only whole values were overwritten, so the text is still UTF-8.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Source {
        path: source.path.clone(),
        text,
    }
}
