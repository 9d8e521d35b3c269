//! Loads an OMS from its settings file and from the files that the settings name.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::io;

use fixwire::schedule::TimeZone;
use fixwire::settings::{Id, LoadError, Problem, SessionSettings, Settings, Source, TablesOwner};
use fixwire_oms::load::Diagnostic;
use fixwire_oms::rules::{CreatedName, DayBegins, RiskRules};
use fixwire_oms::trial::OmsTrial;
use fixwire_oms::{Oms, OmsListener, OmsSession, OmsState, OmsTmpLine, SessionTemplate};
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::time::{Precision, TimestampWriter};
use fixwire_protocol::{Tag, tag};

use super::days::trading_day;
use crate::failure::Failure;
use crate::print::Printer;
use crate::teller::now;

/// The OMS of a settings file, before its first message.
///
/// # Errors
///
/// Settings that an OMS does not support. If all are supported, every error in the tables and files of the OMS.
pub fn load(source: &Source, settings: &Settings, listener: OmsListener) -> Result<Oms, LoadError> {
    let OmsParts {
        mut rules,
        sessions,
        templates,
        lines,
    } = parts(source, settings)?;
    rules.build = build();
    let random = || u128::from(RandomState::new().hash_one(()));
    let key = random() << 64 | random();
    #[cfg(feature = "canary")]
    fixwire_oms::canary::plant(&std::env::var("FIXWIRE_CANARY").unwrap_or_default());
    let mut oms = Oms::new(rules, sessions, key, listener);
    oms.set_day_finder(trading_day);
    oms.set_templates(templates);
    Ok(oms.with_tmp_lines(lines))
}

/// The parts of an OMS.
struct OmsParts {
    rules: RiskRules,
    sessions: Vec<OmsSession>,
    templates: Vec<SessionTemplate>,
    lines: Vec<OmsTmpLine>,
}

fn parts(source: &Source, settings: &Settings) -> Result<OmsParts, LoadError> {
    settings.versions(TablesOwner::Oms)?;
    let (rules, lines) = read(source, settings)?;
    let (sessions, templates) = oms_sessions(settings)?;
    let all = Oms::with_samples_of(&rules, &sessions, &templates);
    let problems = Oms::version_problems(&rules, &all);
    if !problems.is_empty() {
        let span = settings.sessions.first().map(|session| session.header);
        let problem = |what: &String| Problem::found(span.unwrap_or_default(), what, None);
        return Err(settings.found(problems.iter().map(problem).collect()));
    }
    let errors = Oms::name_problems(&rules, &sessions);
    if !errors.is_empty() {
        return Err(found(source, settings, &errors));
    }
    Ok(OmsParts {
        rules,
        sessions,
        templates,
        lines,
    })
}

/// A trial of the settings of a file, which begins with a given state.
///
/// # Errors
///
/// See [`load`].
pub fn trial(
    source: &Source,
    settings: &Settings,
    opening: Option<OmsState>,
) -> Result<OmsTrial, LoadError> {
    let OmsParts {
        rules,
        sessions,
        templates,
        ..
    } = parts(source, settings)?;
    Ok(OmsTrial::new(rules, sessions, opening, |oms| {
        oms.set_day_finder(trading_day);
        oms.set_templates(templates);
    }))
}

/// The sessions of the file, and its sections whose sessions Logons create.
fn oms_sessions(settings: &Settings) -> Result<(Vec<OmsSession>, Vec<SessionTemplate>), LoadError> {
    let versions = settings.versions(TablesOwner::Oms)?;
    let dictionaries = settings.dictionaries()?;
    let (mut sessions, mut templates) = (Vec::new(), Vec::new());
    let all = settings.sessions.iter().zip(versions).zip(dictionaries);
    for ((session, version), dictionary) in all {
        let ids = ids(session);
        match session.is_template() {
            true => templates.push(SessionTemplate {
                engine: created_name(settings, session, &session.name())?,
                user: created_name(settings, session, &session.called())?,
                version,
                dictionary,
                ids,
            }),
            false => sessions.push(OmsSession {
                name: session.called(),
                version,
                dictionary,
                ids,
            }),
        }
    }
    Ok((sessions, templates))
}

/// The names of the sessions of a template, from the name of its section.
///
/// # Errors
///
/// The sessions would not differ in TargetCompID alone, or `SessionName` does not say where that id stands.
fn created_name(
    settings: &Settings,
    session: &SessionSettings,
    name: &str,
) -> Result<CreatedName, LoadError> {
    let refused = |id, note: &str| Err(settings.error(session, id, note.to_owned()));
    let others = [
        Id::SenderCompID,
        Id::SenderSubID,
        Id::SenderLocationID,
        Id::TargetSubID,
        Id::TargetLocationID,
    ];
    let other = others.into_iter().find(|id| session.text(*id) == Some("*"));
    if let Some(id) = other {
        return refused(
            id,
            "an OMS names the users of a template by TargetCompID: only that id may be *",
        );
    }
    if session.text(Id::TargetCompID) != Some("*") {
        return refused(
            Id::TargetCompID,
            "write * for each client: the users of a template differ in TargetCompID",
        );
    }
    match CreatedName::new(name) {
        Some(name) => Ok(name),
        None => refused(
            Id::SessionName,
            "the SessionName of a template has one *, which stands for the TargetCompID: *, or desk-*",
        ),
    }
}

/// The names in the OMS of sessions that Logons create.
#[derive(Clone, Debug, Default)]
pub struct CreatedNames(Vec<(CreatedName, CreatedName)>);

impl CreatedNames {
    /// The names of the file.
    pub fn of(settings: &Settings) -> Self {
        let templates = settings.sessions.iter().filter(|it| it.is_template());
        let names = templates.filter_map(|it| {
            let engine = CreatedName::new(&it.name())?;
            Some((engine, CreatedName::new(&it.called())?))
        });
        Self(names.collect())
    }

    /// The name in the engine of a session of the OMS; `None` for a name that no created session has.
    pub fn identity(&self, called: &str) -> Option<String> {
        let mut names = self.0.iter();
        names.find_map(|(engine, of)| of.id(called).map(|id| engine.of(id)))
    }

    /// The name in the OMS of a session of the engine; `None` for a session that no Logon creates.
    pub fn called(&self, engine: &str) -> Option<String> {
        let mut names = self.0.iter();
        names.find_map(|(of, called)| of.id(engine).map(|id| called.of(id)))
    }
}

/// Header fields of inbound messages that belong to the session's identity, in addition to the CompIDs.
fn ids(session: &SessionSettings) -> Vec<(Tag, String)> {
    let ids = [
        (tag::SENDER_SUB_ID, Id::TargetSubID),
        (tag::TARGET_SUB_ID, Id::SenderSubID),
        (tag::SENDER_LOCATION_ID, Id::TargetLocationID),
        (tag::TARGET_LOCATION_ID, Id::SenderLocationID),
    ];
    let ids = ids.into_iter();
    ids.filter_map(|(tag, id)| Some((tag, session.text(id)?.to_owned())))
        .collect()
}

/// The checked settings of an OMS without the [`build`], and its lines over TMP.
///
/// # Errors
///
/// See [`load`].
pub fn read(
    source: &Source,
    settings: &Settings,
) -> Result<(RiskRules, Vec<OmsTmpLine>), LoadError> {
    let sessions = settings.sessions.iter();
    let (templates, sessions): (Vec<&SessionSettings>, Vec<_>) =
        sessions.partition(|it| it.is_template());
    let names: Vec<String> = sessions.iter().map(|it| it.called()).collect();
    let called: Vec<&str> = names.iter().map(String::as_str).collect();
    let created = templates.iter();
    let created = created.map(|it| created_name(settings, it, &it.called()));
    let created = created.collect::<Result<Vec<_>, _>>()?;
    let mut open = |file: &str| source.read_table(file).map_err(|error| error.to_string());
    let rules = fixwire_oms::load::load_with(&source.text, &called, &created, &mut open);
    let mut rules = rules.map_err(|errors| found(source, settings, &errors))?;
    check_zone(&rules.day_begins).map_err(|error| found(source, settings, &[error]))?;
    if rules.has_conditions() {
        let (sessions, templates) = oms_sessions(settings)?;
        let all = Oms::with_samples_of(&rules, &sessions, &templates);
        let errors = Oms::compile_routes(&mut rules, &all);
        if !errors.is_empty() {
            return Err(found(source, settings, &errors));
        }
    }
    let lines = settings.tmp_lines()?.into_iter();
    let lines = lines.map(|(name, settings)| OmsTmpLine { name, settings });
    let lines: Vec<OmsTmpLine> = lines.collect();
    let problems = Oms::tmp_problems(&rules, &lines);
    if !problems.is_empty() {
        let span = settings.links.first().map(|link| link.header);
        let problem = |what: &String| Problem::found(span.unwrap_or_default(), what, None);
        return Err(settings.found(problems.iter().map(problem).collect()));
    }
    Ok((rules, lines))
}

/// Checks that the time zone of the trading days is known.
fn check_zone(begins: &DayBegins) -> Result<(), Diagnostic> {
    let zone = &begins.zone;
    if TimeZone::get(zone).is_ok() {
        return Ok(());
    }
    let what = format!("day_begins: unknown time zone {zone}");
    let hint = "write UTC, or a name of the time-zone database such as America/New_York";
    Err(Diagnostic::new(begins.place, what, hint))
}

/// Errors with their positions in the file.
pub fn found(source: &Source, settings: &Settings, errors: &[Diagnostic]) -> LoadError {
    let problems = errors.iter().map(|error| Problem::of(source, error));
    settings.found(problems.collect())
}

/// Version and hash of this program; the journal records a change.
pub fn build() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let program = std::env::current_exe().and_then(std::fs::read);
    let Ok(program) = program else {
        return format!("fixwire {version}");
    };
    let mut hasher = DefaultHasher::new();
    hasher.write(&program);
    format!("fixwire {version} {:016x}", hasher.finish())
}

/// A listener that prints a line for each event.
///
/// # Errors
///
/// The thread cannot be started.
pub fn listener() -> Result<OmsListener, Failure> {
    let mut printer = Printer::new(io::stderr())?;
    let mut stamp = TimestampWriter::new();
    Ok(Box::new(move |event| {
        let time = Escaped(stamp.format(now(), Precision::Millis)).to_string();
        let said = event.to_string();
        printer.line(format!("{time} oms {}", Escaped(said.as_bytes())));
    }))
}
