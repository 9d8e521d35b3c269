//! `fixwire check`: what a settings file means.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use fixwire::protocol::Timestamp;
use fixwire::schedule::utc;
use fixwire::settings::registry::Scope;
use fixwire::settings::resolve::Custom;
use fixwire::settings::{
    Dialect, LoadError, Options, Origin, Problem, Report, SessionSettings, Setting, Settings,
    Source, Told,
};
use fixwire::{EngineConfig, SessionConfig};
use fixwire_gateway::rules::TableFile;
use serde_json::{Value, json};

use crate::failure::{Failure, show};
use crate::gateway::{self, Loaded};
use crate::readable::Escaped;

/// What to check.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire check broker.cfg
  fixwire check --json broker.cfg | jq '.sessions[].name'

  fixwire check broker.toml                        the same settings in TOML
  fixwire check --dialect quickfixj broker.cfg     as the file of QuickFIX/J that it is
  fixwire check fixengine.properties               as a file of FIX Antenna

Each line of the table says where its value comes from: a line of the file, a line of its [DEFAULT]
section, the default of the engine that the file was written for, or the built-in default; and what that
engine would have done otherwise. Dictionaries that the file names are read too, and so are rules and
tables of a gateway. Lines in parentheses are what the schedule of the session comes to: when it next
opens and closes, and when its numbers restart. All errors of the file are reported at once, and the
exit code is 1.")]
pub struct CheckArgs {
    /// The settings file
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Print JSON, errors included
    #[arg(long)]
    json: bool,
}

/// How a settings file is read.
#[derive(Args, Clone, Debug, Default)]
pub struct Reading {
    /// The engine that the file was written for [default: its key Dialect, or a guess from its keys]
    #[arg(long, value_name = "ENGINE", value_parser = dialect)]
    dialect: Option<Dialect>,
}

impl Reading {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// As [`Settings::load`].
    pub fn load(&self, file: &Path) -> Result<Settings, LoadError> {
        self.of_file(&Source::read(file)?)
    }

    /// Checks a file that was read.
    ///
    /// # Errors
    ///
    /// As [`Settings::of_file`].
    pub fn of_file(&self, source: &Source) -> Result<Settings, LoadError> {
        let options = Options {
            dialect: self.dialect,
            ..Options::default()
        };
        Settings::of_file(source, &options)
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::find(name).ok_or_else(|| {
        "expected quickfix, quickfixj, quickfixgo, quickfixn, antenna or fixwire".to_owned()
    })
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let checked = Source::read(&args.file).and_then(|source| {
        let settings = args.reading.of_file(&source)?;
        let config = settings.to_config()?;
        let gateway = match settings.gateway.is_empty() {
            true => None,
            false => Some(gateway::load(&source, &settings, Box::new(|_| {}))?),
        };
        let engine = config.check();
        Ok((settings, config, gateway, engine))
    });
    let (settings, config, gateway, engine) = match checked {
        Ok(checked) => checked,
        Err(error) if args.json => {
            print_json(&failure(&error))?;
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error.into()),
    };
    if let Err(error) = engine {
        return Err(Failure::Text(format!("{}: {error}", args.file.display())));
    }
    if args.json {
        print_json(&description(&settings, &config, gateway.as_ref()))?;
    } else {
        show(&settings.report);
        let mut out = BufWriter::new(io::stdout().lock());
        table(&settings, &config, &mut out)?;
        if let Some(gateway) = &gateway {
            writeln!(out)?;
            section(
                "Gateway",
                &gateway_rows(gateway, &settings),
                settings.dialect,
                &mut out,
            )?;
        }
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The engine's values once, then each session's.
fn table(settings: &Settings, config: &EngineConfig, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = settings.sessions.first() else {
        return Ok(());
    };
    writeln!(out, "{}\n", read_as(settings))?;
    section(
        "Engine",
        &rows(settings, first, Scope::Engine, &[]),
        settings.dialect,
        out,
    )?;
    for (session, made) in settings.sessions.iter().zip(&config.sessions) {
        let mut own = rows(settings, session, Scope::Session, &session.custom);
        own.extend(schedule_rows(made));
        writeln!(out)?;
        let title = format!("Session {}", session.name());
        section(&title, &own, settings.dialect, out)?;
    }
    Ok(())
}

/// Whose file it is, and how that became known.
pub fn read_as(settings: &Settings) -> String {
    let dialect = settings.dialect;
    match settings.told {
        Told::ByCaller => format!("Read as a file of {dialect}, as --dialect says."),
        Told::ByKey => format!("Read as a file of {dialect}, as its key Dialect says."),
        Told::ByItsKeys => format!(
            "Read as a file of {dialect}: its keys fit no other engine as well. Say Dialect={} to make \
             sure of it, or Dialect=fixwire.",
            dialect.name()
        ),
        Told::ByItsName if dialect == Dialect::Antenna => {
            format!("Read as a file of {dialect}, as its name says.")
        }
        Told::ByItsName => "Read as a TOML file, which is fixwire's own.".to_owned(),
        Told::Nowhere => {
            "Read as fixwire's own file. If it was written for another engine, say which: \
                          its defaults may differ (--dialect)."
                .to_owned()
        }
    }
}

struct Row {
    key: String,
    value: String,
    origin: String,
    differs: Option<String>,
}

fn gateway_rows(gateway: &Loaded, settings: &Settings) -> Vec<Row> {
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
    std::iter::once(rules).chain(tables).collect()
}

fn gateway_json(gateway: &Loaded) -> Value {
    let all = gateway.gateway.rules();
    let rules = 0..all.len();
    let rules = rules.map(|rule| json!({ "name": all.name(rule), "line": all.line(rule) }));
    let files = |tables: &[TableFile]| -> Vec<Value> {
        let tables = tables.iter();
        let tables = tables.map(|table| json!({ "name": table.name, "file": table.file }));
        tables.collect()
    };
    json!({
        "rules": rules.collect::<Vec<_>>(),
        "tables": files(&gateway.tables),
        "conversions": files(&gateway.conversions),
    })
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    Timestamp(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// What the schedule of a session comes to, and when it next changes.
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
        ("numbers restart", ahead.begins),
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
    scope: Scope,
    custom: &[Custom],
) -> Vec<Row> {
    let of_registry = session
        .settings
        .iter()
        .filter(|setting| setting.key.scope == scope)
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

fn section(title: &str, rows: &[Row], dialect: Dialect, out: &mut impl Write) -> io::Result<()> {
    const WIDEST: usize = 40;
    let width = |column: &dyn Fn(&Row) -> usize| {
        let widths = rows.iter().map(column);
        widths.max().unwrap_or(0).min(WIDEST)
    };
    let (keys, values) = (
        width(&|row| row.key.chars().count()),
        width(&|row| row.value.chars().count()),
    );
    writeln!(out, "{title}")?;
    for row in rows {
        let (key, value, origin) = (&row.key, &row.value, &row.origin);
        write!(out, "  {key:keys$}  {value:values$}  {origin}")?;
        match &row.differs {
            Some(note) => writeln!(out, "; {dialect} {note}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

fn key(setting: &Setting) -> String {
    match setting.number {
        Some(number) => format!("{}{number}", setting.key.name),
        None => setting.key.name.to_owned(),
    }
}

/// Where a value comes from; beside another engine's default stands ours.
fn origin(settings: &Settings, setting: &Setting) -> String {
    match (setting.origin, setting.key.default) {
        (Origin::Dialect(dialect), Some(ours)) => {
            format!("default of {dialect} (fixwire: {ours})")
        }
        (origin, _) => place(settings, origin),
    }
}

fn place(settings: &Settings, origin: Origin) -> String {
    let source = &settings.report.source;
    let path = source.path.display();
    match origin {
        Origin::BuiltIn => "built-in".into(),
        Origin::Dialect(dialect) => format!("default of {dialect}"),
        Origin::Default(span) => format!("{path}:{} [DEFAULT]", source.line(span)),
        Origin::Session(span) => format!("{path}:{}", source.line(span)),
    }
}

fn description(settings: &Settings, config: &EngineConfig, gateway: Option<&Loaded>) -> Value {
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
        let of_scope = |setting: &&Setting| setting.key.scope == scope;
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
    let both = settings.sessions.iter().zip(&config.sessions);
    let sessions = both.map(|(session, made)| {
        let mut values = of(session, Scope::Session);
        values.extend(session.custom.iter().map(|custom| {
            let (from, line) = from(custom.origin);
            json!({ "key": custom.key, "value": custom.text, "from": from, "line": line })
        }));
        let schedule = schedule_json(made);
        json!({ "name": session.name(), "settings": values, "schedule": schedule })
    });
    json!({
        "file": settings.report.source.path.display().to_string(),
        "dialect": settings.dialect.name(),
        "dialect_known": match settings.told {
            Told::ByCaller => "flag",
            Told::ByKey => "key",
            Told::ByItsKeys => "guessed",
            Told::ByItsName => "name",
            Told::Nowhere => "unknown",
        },
        "engine": settings.sessions.first().map(|first| of(first, Scope::Engine)),
        "sessions": sessions.collect::<Vec<_>>(),
        "gateway": gateway.map(gateway_json),
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

fn problems(report: &Report, warnings: bool) -> Vec<Value> {
    let wanted = |problem: &&Problem| problem.fault.is_warning() == warnings;
    // A large file may have a problem on every line: counting from its start each time takes minutes.
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
