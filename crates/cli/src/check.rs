//! `fixwire check`: checks a settings file and prints its values.

mod links;
mod rows;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::descriptors::{self, Need, Shortage};
use fixwire::gateway::rules::TableFile;
use fixwire::gateway::{LoadedGateway, load};
use fixwire::schedule::utc;
use fixwire::settings::registry::KeyScope;
use fixwire::settings::resolved::Custom;
use fixwire::settings::{
    Dialect, DialectSource, Id, LoadError, Origin, Problem, SessionSettings, Setting, Settings,
    SettingsReport, Source,
};
use fixwire::{EngineConfig, SessionConfig};
use fixwire_exchange::ExchangeConfig;
use fixwire_oms::Oms;
use fixwire_oms::rules::CreatedName;
use fixwire_protocol::Application as _;
use fixwire_protocol::readable::Escaped;
use serde_json::{Value, json};

use crate::failure::{Failure, show, tell};
use crate::gateway::events::remark;
use crate::oms;
use crate::reading::Reading;
use crate::sim;
use crate::teller::{counted, now};
use crate::writable;
use rows::{Row, is_changed, key, origin, place, section};

/// Arguments of `fixwire check`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire check broker.cfg
  fixwire check --json broker.cfg | jq '.sessions[].name'

  fixwire check --changed broker.cfg               only what differs from the defaults
  fixwire check broker.toml                        the same settings in TOML
  fixwire check --dialect quickfixj broker.cfg     read it as a file of QuickFIX/J
  fixwire check fixengine.properties               read it as a file of FIX Antenna

Each line of the table shows where its value comes from: a line of the file, a line of its [DEFAULT]
section, the default of the engine that the file was written for, or the built-in default; and how that
engine would behave differently. Dictionaries, and rules and tables of a gateway, are read too. Lines in
parentheses show the session schedule: when the session next opens and closes, and when its sequence numbers
reset. The folders of the journal and the logs are tested for write access; no file is left in them. The last
line is the result: `ok: 1 session, 0 warnings`, or, if the file has errors, `2 errors, 1 warning` after the
errors, with exit code 1.")]
pub struct CheckArgs {
    /// The settings file
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Print only values that differ from fixwire's defaults
    #[arg(long)]
    changed: bool,
    /// Print JSON, errors included
    #[arg(long)]
    json: bool,
}

/// Settings of an OMS that are probably not intended.
fn oms_warnings(settings: &Settings, oms: &Oms) -> Vec<String> {
    let checks = |name: &String| {
        let mut sessions = settings.sessions.iter();
        let creates = |it: &SessionSettings| {
            let form = CreatedName::new(&it.called()).filter(|_| it.is_template());
            form.is_some_and(|form| form.may_fit(name))
        };
        let session = sessions.find(|it| it.called() == *name || creates(it));
        let keys = [
            Id::UseDataDictionary,
            Id::ValidateIncomingMessage,
            Id::ValidateUserDefinedFields,
        ];
        session.is_some_and(|session| keys.iter().all(|id| session.bool(*id)))
    };
    let rejected = oms.undefined_tags().into_iter();
    let rejected = rejected.filter(|it| it.sessions.iter().all(checks));
    let rejected = rejected.map(|it| it.to_string());
    let warnings = oms.route_warnings().into_iter().chain(rejected);
    let warnings = warnings.chain(oms.line_warnings());
    warnings.chain(oms.conversion_warnings()).collect()
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let checked = Source::read(&args.file).and_then(|source| {
        let settings = args.reading.of_file(&source)?;
        let config = settings.to_config()?;
        let gateway = match settings.gateway.is_empty() {
            true => None,
            false => Some(load(&source, &settings, Box::new(|_| {}))?),
        };
        let mut ledger = gateway.as_ref().and_then(|loaded| loaded.gateway.ledger());
        let oms = match settings.oms.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => {
                let oms = oms::load(&source, &settings, Box::new(|_| {}))?;
                oms::day::check(&source, &settings, oms.rules(), config.durability)?;
                oms::database::check(&source, &settings, oms.rules(), config.durability)?;
                ledger = oms.ledger();
                (oms::shown(&oms), oms_warnings(&settings, &oms))
            }
        };
        let exchange = match settings.exchange.is_empty() {
            true => None,
            false => {
                settings.tmp_members()?;
                Some(sim::load(&source, &settings)?)
            }
        };
        let form = match exchange {
            Some(_) => Some(fixwire_exchange::state_form()),
            None => ledger.map(|ledger| ledger.form()),
        };
        writable::check(&settings, &config, form)?;
        let engine = config.check();
        Ok((settings, config, (gateway, oms, exchange), engine))
    });
    let (settings, config, (gateway, (oms, routes), exchange), engine) = match checked {
        Ok(checked) => checked,
        Err(error) if args.json => {
            print_json(&failure(&error))?;
            return Ok(ExitCode::FAILURE);
        }
        Err(LoadError::Content(report)) => {
            let warnings = report.problems.iter();
            let warnings = warnings
                .filter(|problem| problem.fault.is_warning())
                .count();
            let errors = report.problems.len() - warnings;
            return failed(&LoadError::Content(report).into(), errors, warnings);
        }
        Err(error) => return Err(error.into()),
    };
    let warnings = settings.report.problems.len();
    if let Err(error) = engine {
        let failure = Failure::Text(format!("{}: {error}", args.file.display()));
        return failed(&failure, 1, warnings);
    }
    if args.json {
        print_json(&description(
            &settings,
            &config,
            (gateway.as_ref(), &oms),
            exchange.as_ref(),
            args.changed,
        ))?;
    } else {
        show(&settings.report);
        let lacking = [
            shortage(&config).map(|shortage| shortage.to_string()),
            not_pinned(&config),
        ];
        let lacking = lacking.iter().flatten();
        let warnings = warnings
            + lacking
                .chain(&routes)
                .inspect(|why| tell("warning", why))
                .count();
        let remarks = gateway.as_ref();
        let remarks = remarks.map_or(0, |gateway| remark(gateway, true));
        let warnings = warnings + remarks;
        let mut out = BufWriter::new(io::stdout().lock());
        table(&settings, &config, args.changed, &mut out)?;
        if let Some(gateway) = &gateway {
            writeln!(out)?;
            section(
                "Gateway",
                &gateway_rows(gateway, &settings),
                settings.dialect,
                &mut out,
            )?;
        }
        let exchange = exchange.as_ref().map(sim::shown);
        for (title, rows) in [("OMS", oms), ("Exchange", exchange.unwrap_or_default())] {
            let rows = rows.into_iter().map(|(key, value)| plain_row(key, value));
            let rows: Vec<Row> = rows.collect();
            if !rows.is_empty() {
                writeln!(out)?;
                section(title, &rows, settings.dialect, &mut out)?;
            }
        }
        let count = |number: usize, noun| (number > 0).then(|| counted(number, noun));
        let sessions = count(config.sessions.len(), "session");
        let templates = count(config.templates.len(), "session template");
        let links = count(config.links.len(), "link");
        let verdict = [
            sessions,
            templates,
            links,
            Some(counted(warnings, "warning")),
        ];
        let verdict: Vec<String> = verdict.into_iter().flatten().collect();
        writeln!(out, "\nok: {}", verdict.join(", "))?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the problems, then the result.
fn failed(failure: &Failure, errors: usize, warnings: usize) -> Result<ExitCode, Failure> {
    let code = failure.tell();
    let mut verdict = counted(errors, "error");
    if warnings > 0 {
        verdict = format!("{verdict}, {}", counted(warnings, "warning"));
    }
    // This fails only when the output is closed.
    let _ = writeln!(io::stderr(), "{verdict}");
    Ok(code)
}

/// The shortage of file descriptors if the settings may need more than `run` gets in this environment.
fn shortage(config: &EngineConfig) -> Option<Shortage> {
    // `run` also raises the limit. If the limit cannot be raised, the present limit counts.
    let limit = descriptors::raise_limit().unwrap_or_else(|_| descriptors::limit());
    Need::of(config).shortage(limit)
}

/// Why an engine could not be pinned to its core on this machine; `None` if it can be pinned.
fn not_pinned(config: &EngineConfig) -> Option<String> {
    let core = config.core?;
    let error = fixwire_threads::try_pin(core).err()?;
    let why = fixwire_threads::why_not(core, &error);
    Some(format!(
        "Core={core}: {why}; the engine would not start on this machine"
    ))
}

/// Prints the engine's values once, then the values of each session.
fn table(
    settings: &Settings,
    config: &EngineConfig,
    changed: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(first) = settings.engine() else {
        return Ok(());
    };
    writeln!(out, "{}\n", read_as(settings))?;
    section(
        "Engine",
        &rows(settings, first, KeyScope::Engine, &[], changed),
        settings.dialect,
        out,
    )?;
    for session in &settings.sessions {
        let mut own = rows(
            settings,
            session,
            KeyScope::Session,
            &session.custom,
            changed,
        );
        let (kind, made) = made_of(config, session);
        if let Some(made) = made.filter(|made| !changed || made.schedule.is_some()) {
            own.extend(schedule_rows(made));
        }
        writeln!(out)?;
        let title = format!("{kind} {}", session.name());
        section(&title, &own, settings.dialect, out)?;
    }
    links::table(settings, changed, out)
}

/// The kind of a section: session, template or both.
fn made_of<'c>(
    config: &'c EngineConfig,
    section: &SessionSettings,
) -> (&'static str, Option<&'c SessionConfig>) {
    let name = section.name();
    let mut sessions = config.sessions.iter();
    if let Some(made) = sessions.find(|made| made.name == name) {
        return ("Session", Some(made));
    }
    let mut templates = config.templates.iter().map(|template| &template.session);
    ("Session template", templates.find(|made| made.name == name))
}

/// For a file that does not state its engine: the defaults that are assumed, their differences from fixwire, and how to
/// state the engine.
pub fn guess(settings: &Settings) -> Option<String> {
    match settings.told {
        DialectSource::ByItsKeys if settings.dialect != Dialect::Fixwire => {}
        DialectSource::Nowhere => return Some(read_as(settings)),
        _ => return None,
    }
    let all = settings
        .sessions
        .iter()
        .flat_map(|session| &session.settings);
    let theirs = all.filter(|setting| matches!(setting.origin, Origin::Dialect(_)));
    let mut defaults: Vec<String> = theirs
        .map(|setting| match setting.key.default {
            Some(ours) => format!("{}={} (fixwire: {ours})", key(setting), setting.text),
            None => format!("{}={}", key(setting), setting.text),
        })
        .collect();
    defaults.sort();
    defaults.dedup();
    let mut text = read_as(settings);
    if !defaults.is_empty() {
        text += &format!(" Its defaults apply: {}.", defaults.join(", "));
    }
    Some(text)
}

/// The engine for which the file was written, and how this was determined.
pub fn read_as(settings: &Settings) -> String {
    let dialect = settings.dialect;
    match settings.told {
        DialectSource::ByCaller => format!("Read as a file of {dialect}, as --dialect says."),
        DialectSource::ByKey => format!("Read as a file of {dialect}, as its key Dialect says."),
        DialectSource::ByItsKeys if dialect == Dialect::Fixwire => {
            "Read as fixwire's own file: it has keys that no other engine has.".to_owned()
        }
        DialectSource::ByItsKeys => format!(
            "Read as a file of {dialect}: several of its keys exist only in that engine. Set \
             Dialect={} to confirm, or Dialect=fixwire.",
            dialect.name()
        ),
        DialectSource::ByItsName if dialect == Dialect::Antenna => {
            format!("Read as a file of {dialect}, as its name says.")
        }
        DialectSource::ByItsName => "Read as a TOML file, which is fixwire's own.".to_owned(),
        DialectSource::Nowhere => {
            "Read as fixwire's own file. If the file was written for another engine, set Dialect \
            (for example Dialect=quickfixj) or --dialect, since defaults differ; otherwise confirm \
            with Dialect=fixwire."
                .to_owned()
        }
    }
}

fn plain_row(key: String, value: String) -> Row {
    Row {
        key,
        value,
        origin: String::new(),
        differs: None,
    }
}

fn gateway_rows(gateway: &LoadedGateway, settings: &Settings) -> Vec<Row> {
    let row = |key: String, value: String, origin: String| Row {
        key,
        value,
        origin,
        differs: None,
    };
    let rules = gateway.gateway.rules().len();
    let path = settings.report.source.path.display();
    let tables = gateway.tables.iter().map(|table| ("table", table));
    let conversions = gateway.conversions.iter();
    let tables = tables.chain(conversions.map(|table| ("conversion", table)));
    let tables = tables.map(|(kind, table)| {
        let [name, file] = [&table.name, &table.file].map(|text| Escaped(text.as_bytes()));
        let origin = format!("{path}:{}", table.line);
        row(format!("{kind}.{name}"), file.to_string(), origin)
    });
    let rules = row("rules".into(), rules.to_string(), String::new());
    let scripts = gateway.longest_script().map(|(operations, longest)| {
        let value = format!("a script may block the engine for {longest:.1?}");
        let origin = format!("{operations} operations, measured on this machine");
        row("(scripts)".into(), value, origin)
    });
    let rules = std::iter::once(rules).chain(scripts);
    rules.chain(tables).collect()
}

fn gateway_json(gateway: &LoadedGateway) -> Value {
    let all = gateway.gateway.rules();
    let rules = 0..all.len();
    let rules = rules.map(|rule| json!({ "name": all.name(rule), "line": all.line(rule) }));
    let files = |tables: &[TableFile]| -> Vec<Value> {
        let tables = tables.iter();
        let tables = tables.map(|table| json!({ "name": table.name, "file": table.file }));
        tables.collect()
    };
    let remarks = gateway.gateway.remarks().iter();
    let remarks =
        remarks.map(|one| json!({ "line": one.line, "warning": one.is_warning, "text": one.text }));
    json!({
        "rules": rules.collect::<Vec<_>>(),
        "tables": files(&gateway.tables),
        "conversions": files(&gateway.conversions),
        "remarks": remarks.collect::<Vec<_>>(),
    })
}

/// The session schedule, and the next times at which it opens, closes and resets.
fn schedule_rows(session: &SessionConfig) -> Vec<Row> {
    let row = |name: &str, value: String, more: String| Row {
        key: format!("({name})"),
        value,
        origin: more,
        differs: None,
    };
    let Some(schedule) = &session.schedule else {
        let always = row("schedule", "never ends".into(), String::new());
        return vec![always];
    };
    let ahead = schedule.ahead(now());
    let standing = if ahead.may_log_on { "open" } else { "closed" };
    let mut rows = vec![
        row("schedule", schedule.to_string(), String::new()),
        row("now", standing.into(), String::new()),
    ];
    for (name, at) in [
        ("closes", ahead.closes),
        ("opens", ahead.opens),
        ("sequence reset", ahead.begins),
    ] {
        if let Some(at) = at {
            rows.push(row(name, schedule.local(at), utc(at)));
        }
    }
    rows
}

fn schedule_json(session: &SessionConfig) -> Value {
    let Some(schedule) = &session.schedule else {
        return Value::Null;
    };
    let ahead = schedule.ahead(now());
    json!({
        "text": schedule.to_string(),
        "open": ahead.may_log_on,
        "closes": ahead.closes.map(utc),
        "opens": ahead.opens.map(utc),
        "numbersRestart": ahead.begins.map(utc),
    })
}

fn rows(
    settings: &Settings,
    session: &SessionSettings,
    scope: KeyScope,
    custom: &[Custom],
    changed: bool,
) -> Vec<Row> {
    let of_registry = session
        .settings
        .iter()
        .filter(|setting| setting.key.scope == scope && (!changed || is_changed(setting)))
        .map(|setting| Row {
            key: key(setting),
            value: setting.text.clone(),
            origin: origin(settings, setting),
            differs: setting.differs.clone(),
        });
    let of_application = custom.iter().map(|custom| Row {
        key: Escaped(custom.key.as_bytes()).to_string(),
        value: Escaped(custom.text.as_bytes()).to_string(),
        origin: place(settings, custom.origin),
        differs: None,
    });
    of_registry.chain(of_application).collect()
}

fn description(
    settings: &Settings,
    config: &EngineConfig,
    (gateway, oms): (Option<&LoadedGateway>, &[(String, String)]),
    exchange: Option<&ExchangeConfig>,
    changed: bool,
) -> Value {
    let from = |origin: Origin| {
        let (from, span) = match origin {
            Origin::BuiltIn => ("built-in", None),
            Origin::Dialect(dialect) => (dialect.name(), None),
            Origin::Default(span) => ("default", Some(span)),
            Origin::Session(span) => ("session", Some(span)),
        };
        (from, span.map(|span| settings.report.source.line(span)))
    };
    let of = |session: &SessionSettings, scope| -> Vec<Value> {
        let of_scope =
            |setting: &&Setting| setting.key.scope == scope && (!changed || is_changed(setting));
        let value = |setting: &Setting| {
            let (from, line) = from(setting.origin);
            json!({
                "key": key(setting), "value": setting.text, "from": from, "line": line,
                "differs": setting.differs,
            })
        };
        session
            .settings
            .iter()
            .filter(of_scope)
            .map(value)
            .collect()
    };
    let sessions = settings.sessions.iter().map(|session| {
        let mut values = of(session, KeyScope::Session);
        values.extend(session.custom.iter().map(|custom| {
            let (from, line) = from(custom.origin);
            json!({ "key": custom.key, "value": custom.text, "from": from, "line": line })
        }));
        let schedule = made_of(config, session)
            .1
            .map_or(Value::Null, schedule_json);
        json!({ "name": session.name(), "settings": values, "schedule": schedule })
    });
    json!({
        "file": settings.report.source.path.display().to_string(),
        "dialect": settings.dialect.name(),
        "dialect_known": match settings.told {
            DialectSource::ByCaller => "flag",
            DialectSource::ByKey => "key",
            DialectSource::ByItsKeys => "guessed",
            DialectSource::ByItsName => "name",
            DialectSource::Nowhere => "unknown",
        },
        "engine": settings.engine().map(|first| of(first, KeyScope::Engine)),
        "sessions": sessions.collect::<Vec<_>>(),
        "links": links::json(settings, changed),
        "gateway": gateway.map(gateway_json),
        "oms": oms.iter().cloned().collect::<BTreeMap<_, _>>(),
        "exchange": exchange.map(sim::json),
        "descriptors": {
            "needed": Need::of(config).total(),
            "shortage": shortage(config).map(|shortage| shortage.to_string()),
        },
        "core": not_pinned(config),
        "warnings": problems(&settings.report, true),
        "errors": [],
    })
}

fn failure(error: &LoadError) -> Value {
    match error {
        LoadError::Content(report) => json!({
            "file": report.source.path.display().to_string(),
            "warnings": problems(report, true),
            "errors": problems(report, false),
        }),
        other => json!({ "warnings": [], "errors": [{ "message": other.to_string() }] }),
    }
}

fn problems(report: &SettingsReport, warnings: bool) -> Vec<Value> {
    let wanted = |problem: &&Problem| problem.fault.is_warning() == warnings;
    // A large file may have a problem on every line. Counting the lines from the beginning for each problem would take
    // minutes.
    let ends = report.source.text.match_indices('\n');
    let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
    let entry = |problem: &Problem| {
        let text = report.text(problem);
        json!({
            "column": report.source.column(problem.span),
            "line": 1 + ends.partition_point(|&end| end < problem.span.start),
            "text": text,
            "message": problem.fault.title(text),
            "help": problem.fault.help(text),
        })
    };
    report.problems.iter().filter(wanted).map(entry).collect()
}

fn print_json(value: &Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value:#}")?;
    Ok(())
}
