//! `fixwire check`: what a settings file means.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::settings::registry::Scope;
use fixwire::settings::{LoadError, Origin, Problem, Report, SessionSettings, Setting, Settings};
use serde_json::{Value, json};

use crate::failure::{Failure, show};
use crate::readable::Escaped;

/// What to check.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire check broker.cfg
  fixwire check --json broker.cfg | jq '.sessions[].name'

Each line of the table says where its value comes from: a line of the file, a line of its [DEFAULT]
section, or the built-in default. Dictionaries that the file names are read too. All errors of the file
are reported at once, and the exit code is 1.")]
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
        Ok((settings, config.check()))
    });
    let (settings, engine) = match checked {
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
        print_json(&description(&settings))?;
    } else {
        show(&settings.report);
        let mut out = BufWriter::new(io::stdout().lock());
        table(&settings, &mut out)?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The engine's values once, then each session's.
fn table(settings: &Settings, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = settings.sessions.first() else {
        return Ok(());
    };
    let engine = rows(settings, first, Scope::Engine);
    section("Engine", &engine, out)?;
    for session in &settings.sessions {
        let mut own = rows(settings, session, Scope::Session);
        for custom in &session.custom {
            let value = Escaped(custom.value.as_bytes()).to_string();
            let key = Escaped(custom.key.as_bytes()).to_string();
            own.push([key, value, origin(settings, custom.origin)]);
        }
        writeln!(out)?;
        section(&format!("Session {}", session.name()), &own, out)?;
    }
    Ok(())
}

type Row = [String; 3];

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

fn description(settings: &Settings) -> Value {
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
    let sessions = settings.sessions.iter().map(|session| {
        let custom = session.custom.iter();
        let custom = custom.map(|custom| value(custom.key.clone(), &custom.value, custom.origin));
        let mut values = of(session, Scope::Session);
        values.extend(custom);
        json!({ "name": session.name(), "settings": values })
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
