//! `fixwire gateway`, and the rules and tables of a settings file for other commands.

mod input;
mod result;
mod show;
mod trial;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use fixwire::settings::{Fault, Id, LoadError, Problem, Report, Settings, Source};
use fixwire_gateway::Rules;
use fixwire_gateway::rules::{Context, RuleError, Session, TableFile, table_files};
use fixwire_protocol::Dictionary;

use crate::failure::Failure;

/// What to do with a gateway.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    /// Shows what the rules of a file do with the messages of logs, without any session
    Try(trial::TryArgs),
}

/// Runs the command.
pub fn run(command: &GatewayCommand) -> Result<ExitCode, Failure> {
    let GatewayCommand::Try(args) = command;
    trial::run(args)
}

/// The rules of a file, and what they were loaded with.
pub struct Loaded {
    /// The rules with their tables.
    pub rules: Rules,
    /// The tables that the file names.
    pub tables: Vec<TableFile>,
    /// What rules call the sessions, in the order of the file.
    pub names: Vec<String>,
    /// What their messages are made of, in the same order.
    pub dictionaries: Vec<Arc<Dictionary>>,
}

/// Reads the rules of a settings file, and their tables beside it; `None` when it has none.
///
/// # Errors
///
/// [`LoadError::Content`] with every mistake, or with every table that cannot be read.
pub fn load(source: &Source, settings: &Settings) -> Result<Option<Loaded>, LoadError> {
    if settings.gateway.is_empty() {
        return Ok(None);
    }
    let failed = |errors: Vec<RuleError>| {
        let problems = errors.into_iter().map(|error| {
            let title = error.problem.to_string();
            problem(source, (error.line, error.column), title, error.hint)
        });
        report(settings, problems.collect())
    };
    let tables = table_files(&source.text).map_err(failed)?;
    let (mut texts, mut unreadable) = (Vec::new(), Vec::new());
    for table in &tables {
        match read_table(source, &table.file) {
            Ok(text) => texts.push((&table.name[..], text)),
            Err(error) => {
                let title = format!("the table {} cannot be read: {error}", table.file);
                let help = "its file is looked for beside this one".to_owned();
                let place = (table.line, table.column);
                unreadable.push(problem(source, place, title, Some(help)));
            }
        }
    }
    if !unreadable.is_empty() {
        return Err(report(settings, unreadable));
    }
    let names: Vec<String> = settings.sessions.iter().map(|one| one.called()).collect();
    let dictionaries = settings.dictionaries()?;
    let both = settings
        .sessions
        .iter()
        .zip(names.iter().zip(&dictionaries));
    let sessions: Vec<Session<'_>> = both
        .map(|(session, (name, dictionary))| Session {
            name,
            dictionary: dictionary.clone(),
            peer: session.text(Id::TargetCompID).unwrap_or_default(),
        })
        .collect();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (*name, &text[..]))
        .collect();
    let context = Context {
        sessions: &sessions,
        tables: &texts,
    };
    let rules = Rules::load(&source.text, &context).map_err(failed)?;
    Ok(Some(Loaded {
        rules,
        tables,
        names,
        dictionaries,
    }))
}

/// The most bytes of a table.
const MAX_TABLE: u64 = 64 << 20;

/// The text of a table, whose path is relative to the file that names it.
fn read_table(source: &Source, file: &str) -> io::Result<String> {
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let mut text = String::new();
    let file = File::open(folder.join(file))?;
    file.take(MAX_TABLE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_TABLE {
        let why = format!("it is larger than {MAX_TABLE} bytes");
        return Err(io::Error::other(why));
    }
    Ok(text)
}

/// A mistake at a line and column of the file. Its words may be those of the file.
fn problem(
    source: &Source,
    (line, column): (usize, usize),
    title: String,
    help: Option<String>,
) -> Problem {
    Problem {
        span: source.word(line, column),
        fault: Fault::Found {
            title: plain(&title),
            help: help.map(|help| plain(&help)),
        },
    }
}

/// The text with escapes for control characters.
fn plain(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().collect::<String>(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// The problems with the file, its secrets hidden.
fn report(settings: &Settings, problems: Vec<Problem>) -> LoadError {
    LoadError::Content(Box::new(Report {
        source: settings.report.source.clone(),
        problems,
    }))
}
