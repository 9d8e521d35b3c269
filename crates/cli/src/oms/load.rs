//! Loads an OMS from its settings file and from the files that the settings name.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::io;

use fixwire::schedule::TimeZone;
use fixwire::settings::{Id, LoadError, Problem, SessionSettings, Settings, Source};
use fixwire_oms::load::Diagnostic;
use fixwire_oms::rules::{DayBegins, RiskRules};
use fixwire_oms::trial::OmsTrial;
use fixwire_oms::{Oms, OmsListener, OmsSession, OmsState, OmsTmpLine};
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
    let (mut rules, sessions, lines) = parts(source, settings)?;
    rules.build = build();
    let random = || u128::from(RandomState::new().hash_one(()));
    let key = random() << 64 | random();
    #[cfg(feature = "canary")]
    fixwire_oms::canary::plant(&std::env::var("FIXWIRE_CANARY").unwrap_or_default());
    let mut oms = Oms::new(rules, sessions, key, listener);
    oms.set_day_finder(trading_day);
    Ok(oms.with_tmp_lines(lines))
}

/// The settings of an OMS, its sessions, and its lines over TMP.
fn parts(
    source: &Source,
    settings: &Settings,
) -> Result<(RiskRules, Vec<OmsSession>, Vec<OmsTmpLine>), LoadError> {
    settings.versions("an OMS")?;
    let (rules, lines) = read(source, settings)?;
    let sessions = oms_sessions(settings)?;
    let problems = Oms::version_problems(&rules, &sessions);
    if !problems.is_empty() {
        let span = settings.sessions.first().map(|session| session.header);
        let problem = |what: &String| Problem::found(span.unwrap_or_default(), what, None);
        return Err(settings.found(problems.iter().map(problem).collect()));
    }
    Ok((rules, sessions, lines))
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
    let (rules, sessions, _) = parts(source, settings)?;
    Ok(OmsTrial::new(rules, sessions, opening, |oms| {
        oms.set_day_finder(trading_day);
    }))
}

fn oms_sessions(settings: &Settings) -> Result<Vec<OmsSession>, LoadError> {
    let versions = settings.versions("an OMS")?;
    let dictionaries = settings.dictionaries()?;
    let sessions = settings.sessions.iter().zip(versions).zip(dictionaries);
    let sessions = sessions.map(|((session, version), dictionary)| OmsSession {
        name: session.called(),
        version,
        dictionary,
        ids: ids(session),
    });
    Ok(sessions.collect())
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
    let names: Vec<String> = sessions.map(SessionSettings::called).collect();
    let called: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut open = |file: &str| source.read_table(file).map_err(|error| error.to_string());
    let rules = fixwire_oms::load::load(&source.text, &called, &mut open);
    let mut rules = rules.map_err(|errors| found(source, settings, &errors))?;
    check_zone(&rules.day_begins).map_err(|error| found(source, settings, &[error]))?;
    if rules.has_conditions() {
        let errors = Oms::compile_routes(&mut rules, &oms_sessions(settings)?);
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
