//! [`Failure`]: errors of commands, printed on standard error.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use fixwire::settings::problem::SHOWN;
use fixwire::settings::{LoadError, Problem, SettingsReport};
use fixwire_protocol::readable::Escaped;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// A settings file cannot be used.
    Settings(LoadError),
    /// An error that is already a sentence.
    Text(String),
    /// The output could not be written.
    Output(io::Error),
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Settings(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl Failure {
    /// The thread cannot be started.
    pub fn thread(error: io::Error) -> Self {
        Self::Text(format!(
            "cannot start a thread: {error}; the process has reached a limit of threads or memory: \
            raise the limit (ulimit -u or -v, TasksMax, LimitNPROC, LimitAS)"
        ))
    }

    /// Prints the error and returns the exit code.
    pub fn tell(&self) -> ExitCode {
        match self {
            // The reader of the output has ended, as in `fixwire journal dump store | head`.
            Self::Output(error) if error.kind() == ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Self::Settings(error) => tell_settings(error),
            other => tell("error", &other.to_string()),
        }
        ExitCode::FAILURE
    }
}

/// Writes why a settings file cannot be used.
pub fn tell_settings(error: &LoadError) {
    match error {
        LoadError::Content(report) => show(report),
        other => tell("error", &other.to_string()),
    }
}

/// Writes one line to the standard error stream, without control characters.
pub fn tell(kind: &str, text: &str) {
    // This fails only when standard error is closed.
    let _ = writeln!(io::stderr(), "{kind}: {}", Escaped(text.as_bytes()));
}

/// Writes every problem of a file with its lines.
pub fn show(report: &SettingsReport) {
    let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = String::new();
    let path = Escaped(report.source.path.to_string_lossy().as_bytes()).to_string();
    let source = shown(&report.source.text);
    for problem in report.problems.iter().take(SHOWN) {
        text.push_str(&renderer.render(&[group(report, problem, &path, &source)]));
        text.push_str("\n\n");
    }
    if report.problems.len() > SHOWN {
        text.push_str(&format!("and {} more\n", report.problems.len() - SHOWN));
    }
    let _ = io::stderr().write_all(text.as_bytes());
}

fn group<'a>(
    report: &SettingsReport,
    problem: &Problem,
    path: &'a str,
    source: &'a str,
) -> Group<'a> {
    let (fault, text) = (&problem.fault, report.text(problem));
    let level = if fault.is_warning() {
        Level::WARNING
    } else {
        Level::ERROR
    };
    let primary = AnnotationKind::Primary.span(problem.span.start..problem.span.end);
    let mut snippet = Snippet::source(source).path(path).annotation(primary);
    if let Some((place, what)) = fault.other_place() {
        snippet = snippet.annotation(
            AnnotationKind::Context
                .span(place.start..place.end)
                .label(what),
        );
    }
    let group = level.primary_title(fault.title(text)).element(snippet);
    match fault.help(text) {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    }
}

/// The text with `?` for each character that a terminal might interpret. Every byte keeps its position.
fn shown(text: &str) -> String {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(acts) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) {
            shown.extend(std::iter::repeat_n('?', c.len_utf8()));
        } else {
            shown.push(c);
        }
    }
    shown
}
