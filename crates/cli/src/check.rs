//! `fixwire check`: what a settings file means.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use fixwire::protocol::Timestamp;
use fixwire::schedule::utc;
use fixwire::settings::registry::Scope;
use fixwire::settings::{LoadError, Origin, Problem, Report, SessionSettings, Setting, Settings};
use fixwire::{EngineConfig, SessionConfig};
use serde_json::{Value, json};

use crate::failure::{Failure, show};
use crate::readable::Escaped;

/// What to check.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire check broker.cfg
  fixwire check --json broker.cfg | jq '.sessions[].name'

Each line of the table says where its value comes from: a line of the file, a line of its [DEFAULT]
section, or the built-in default. Dictionaries that the file names are read too. Lines in parentheses
are what the schedule of the session comes to: when it next opens and closes, and when its numbers
restart. All errors of the file are reported at once, and the exit code is 1.")]
pub struct CheckArgs {
    /// The settings file
    file: PathBuf,
    /// Print JSON, errors included
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let settings = Settings::load(&args.file);
    let checked = settings.and_then(|settings| {
        let config = settings.to_config()?;
        let engine = config.check();
        Ok((settings, config, engine))
    });
    let (settings, config, engine) = match checked {
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
        print_json(&description(&settings, &config))?;
    } else {
        show(&settings.report);
        let mut out = BufWriter::new(io::stdout().lock());
        table(&settings, &config, &mut out)?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The engine's values once, then each session's.
fn table(settings: &Settings, config: &EngineConfig, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = settings.sessions.first() else {
        return Ok(());
    };
    let engine = rows(settings, first, Scope::Engine);
    section("Engine", &engine, out)?;
    for (session, made) in settings.sessions.iter().zip(&config.sessions) {
        let mut own = rows(settings, session, Scope::Session);
        for custom in &session.custom {
            let value = Escaped(custom.value.as_bytes()).to_string();
            let key = Escaped(custom.key.as_bytes()).to_string();
            own.push([key, value, origin(settings, custom.origin)]);
        }
        own.extend(schedule_rows(made));
        writeln!(out)?;
        section(&format!("Session {}", session.name()), &own, out)?;
    }
    Ok(())
}

type Row = [String; 3];

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    Timestamp(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// What the schedule of a session comes to, and when it next changes.
fn schedule_rows(session: &SessionConfig) -> Vec<Row> {
    let row = |name: &str, value: String, more: String| [format!("({name})"), value, more];
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

fn rows(settings: &Settings, session: &SessionSettings, scope: Scope) -> Vec<Row> {
    session
        .settings
        .iter()
        .filter(|setting| setting.key.scope == scope)
        .map(|setting| {
            [
                key(setting),
                setting.text.clone(),
                origin(settings, setting.origin),
            ]
        })
        .collect()
}

fn section(title: &str, rows: &[Row], out: &mut impl Write) -> io::Result<()> {
    const WIDEST: usize = 40;
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0).min(WIDEST)
    };
    let (key_width, value_width) = (width(0), width(1));
    writeln!(out, "{title}")?;
    for [key, value, origin] in rows {
        writeln!(out, "  {key:key_width$}  {value:value_width$}  {origin}")?;
    }
    Ok(())
}

fn key(setting: &Setting) -> String {
    match setting.number {
        Some(number) => format!("{}{number}", setting.key.name),
        None => setting.key.name.to_owned(),
    }
}

fn origin(settings: &Settings, origin: Origin) -> String {
    let source = &settings.report.source;
    let path = source.path.display();
    match origin {
        Origin::BuiltIn => "built-in".into(),
        Origin::Default(span) => format!("{path}:{} [DEFAULT]", source.line(span)),
        Origin::Session(span) => format!("{path}:{}", source.line(span)),
    }
}

fn description(settings: &Settings, config: &EngineConfig) -> Value {
    let value = |key: String, value: &str, origin: Origin| {
        let (from, line) = match origin {
            Origin::BuiltIn => ("built-in", None),
            Origin::Default(span) => ("default", Some(settings.report.source.line(span))),
            Origin::Session(span) => ("session", Some(settings.report.source.line(span))),
        };
        json!({ "key": key, "value": value, "from": from, "line": line })
    };
    let of = |session: &SessionSettings, scope| -> Vec<Value> {
        let settings = session
            .settings
            .iter()
            .filter(|setting| setting.key.scope == scope);
        settings
            .map(|setting| value(key(setting), &setting.text, setting.origin))
            .collect()
    };
    let both = settings.sessions.iter().zip(&config.sessions);
    let sessions = both.map(|(session, made)| {
        let custom = session.custom.iter();
        let custom = custom.map(|custom| value(custom.key.clone(), &custom.value, custom.origin));
        let mut values = of(session, Scope::Session);
        values.extend(custom);
        let schedule = schedule_json(made);
        json!({ "name": session.name(), "settings": values, "schedule": schedule })
    });
    json!({
        "file": settings.report.source.path.display().to_string(),
        "engine": settings.sessions.first().map(|first| of(first, Scope::Engine)),
        "sessions": sessions.collect::<Vec<_>>(),
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
