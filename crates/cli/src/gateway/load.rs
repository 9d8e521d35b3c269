//! A gateway as its file and the files that it names say, and what `check` says of it.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixwire::regular;
use fixwire::settings::{Fault, Id, LoadError, Problem, Report, SessionSettings, Settings, Source};
use fixwire_gateway::gateway::{Listener, Reload, conversion_files};
use fixwire_gateway::rules::{LONG_RUNS, RuleError, TableFile, run_long, table_files};
use fixwire_gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::Dictionary;
use fixwire_protocol::dictionary::Version;

use crate::failure;

/// The gateway of a file, or what is to change one, and what it was loaded with.
pub struct Loaded<G = Gateway> {
    /// It, before its first message.
    pub gateway: G,
    /// The tables that the file names.
    pub tables: Vec<TableFile>,
    /// The conversion tables that it names.
    pub conversions: Vec<TableFile>,
    /// What rules call the sessions, in the order of the file.
    pub names: Vec<String>,
    /// What their messages are made of, in the same order.
    pub dictionaries: Vec<Arc<Dictionary>>,
    /// The versions of their messages.
    pub versions: Vec<Version>,
}

/// Reads the gateway of a settings file, and its tables beside it. `listener` hears what happens to
/// messages later.
///
/// # Errors
///
/// [`LoadError::Content`]: settings that no gateway can have, then tables that cannot be read, then
/// every mistake of the rules.
pub fn load(source: &Source, settings: &Settings, listener: Listener) -> Result<Loaded, LoadError> {
    read(source, settings, |text, context| {
        Gateway::load(text, context, listener)
    })
}

/// Reads the same for a gateway that runs.
///
/// # Errors
///
/// As [`load`].
pub fn reload(source: &Source, settings: &Settings) -> Result<Loaded<Reload>, LoadError> {
    read(source, settings, Reload::read)
}

fn read<G>(
    source: &Source,
    settings: &Settings,
    read: impl FnOnce(&str, &GatewayContext<'_>) -> Result<G, Vec<RuleError>>,
) -> Result<Loaded<G>, LoadError> {
    let versions = versions(settings, "a gateway")?;
    let failed = |errors: Vec<RuleError>| {
        let problems = errors.into_iter().map(|error| {
            let title = error.problem.to_string();
            problem(source, (error.line, error.column), title, error.hint)
        });
        report(settings, problems.collect())
    };
    let tables = table_files(&source.text).map_err(failed)?;
    let conversions = conversion_files(&source.text);
    let mut unreadable = Vec::new();
    let mut read_all = |files: &[TableFile]| -> Vec<String> {
        let texts = files.iter().map(|table| {
            read_table(source, &table.file).unwrap_or_else(|error| {
                let title = format!("the table {} cannot be read: {error}", table.file);
                let help = "its path is relative to the folder of this file".to_owned();
                let place = (table.line, table.column);
                unreadable.push(problem(source, place, title, Some(help)));
                String::new()
            })
        });
        texts.collect()
    };
    let (table_texts, conversion_texts) = (read_all(&tables), read_all(&conversions));
    if !unreadable.is_empty() {
        return Err(report(settings, unreadable));
    }
    let names: Vec<String> = settings.sessions.iter().map(|one| one.called()).collect();
    let dictionaries = settings.dictionaries()?;
    let sessions = settings.sessions.iter().enumerate();
    let sessions: Vec<GatewaySession<'_>> = sessions
        .map(|(at, session)| GatewaySession {
            name: &names[at],
            dictionary: dictionaries[at].clone(),
            version: versions[at],
            peer: session.text(Id::TargetCompID).unwrap_or_default(),
            resets: [Id::ResetOnLogon, Id::ResetOnLogout, Id::ResetOnDisconnect]
                .iter()
                .any(|id| session.bool(*id)),
        })
        .collect();
    let context = GatewayContext {
        sessions: &sessions,
        tables: &named(&tables, &table_texts),
        conversions: &named(&conversions, &conversion_texts),
        hash_key: hash_key(),
    };
    let gateway = read(&source.text, &context).map_err(failed)?;
    Ok(Loaded {
        gateway,
        tables,
        conversions,
        names,
        dictionaries,
        versions,
    })
}

/// Says what the file of a gateway does that its writer may not mean: warnings, and notes if they are
/// wanted too. How many warnings there are.
pub fn remark(loaded: &Loaded, settings: &Settings, with_notes: bool) -> usize {
    let path = settings.report.source.path.display();
    let remarks = loaded.gateway.remarks().iter();
    for one in remarks.filter(|one| one.is_warning || with_notes) {
        let kind = if one.is_warning { "warning" } else { "note" };
        let line = one.line.map_or(String::new(), |line| format!(":{line}"));
        failure::tell(kind, &format!("{path}{line}: {}", one.text));
    }
    let remarks = loaded.gateway.remarks().iter();
    remarks.filter(|one| one.is_warning).count()
}

/// The most operations of a script, and how long the longest of such scripts takes here; `None` when the
/// file has no script.
pub fn longest_script(loaded: &Loaded) -> Option<(u64, Duration)> {
    let operations = loaded.gateway.rules().script_operations()?;
    let longest = LONG_RUNS.iter().map(|run| {
        let begin = Instant::now();
        let _: bool = run_long(run, operations);
        begin.elapsed()
    });
    Some((operations, longest.max().unwrap_or_default()))
}

/// Each text with the name of its table.
fn named<'t>(files: &'t [TableFile], texts: &'t [String]) -> Vec<(&'t str, &'t str)> {
    let both = files.iter().zip(texts);
    both.map(|(file, text)| (&file.name[..], &text[..]))
        .collect()
}

/// The versions of all sessions, which have to be such that `who`, a gateway or an OMS, can have them.
///
/// # Errors
///
/// The first setting that it cannot have.
pub fn versions(settings: &Settings, who: &str) -> Result<Vec<Version>, LoadError> {
    let refused = |session: &SessionSettings, id, note: &str| {
        let error = settings.error(session, id, note.to_owned());
        Err(error)
    };
    let version = |session: &SessionSettings| {
        for id in [Id::AcceptorTemplate, Id::DynamicSessions] {
            if session.bool(id) {
                let note =
                    format!("{who} cannot have dynamic sessions: its rules name each session");
                return refused(session, id, &note);
            }
        }
        if session.bool(Id::RejectMessageOnUnhandledException) {
            let note =
                format!("{who} cannot undo changes to its orders after a panic: remove this key");
            return refused(session, Id::RejectMessageOnUnhandledException, &note);
        }
        let (id, name) = match session.text(Id::DefaultApplVerID) {
            Some(name) if session.text(Id::BeginString) == Some("FIXT.1.1") => {
                (Id::DefaultApplVerID, name)
            }
            _ => (
                Id::BeginString,
                session.text(Id::BeginString).unwrap_or_default(),
            ),
        };
        match Version::from_name(name) {
            Some(version) => Ok(version),
            None => refused(
                session,
                id,
                &format!("{who} supports versions up to FIX.5.0SP2"),
            ),
        }
    };
    settings.sessions.iter().map(version).collect()
}

/// A secret of this process, of the randomness that the standard library gives its own hash tables.
fn hash_key() -> [u8; 16] {
    let random = || RandomState::new().hash_one(()).to_le_bytes();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&random());
    key[8..].copy_from_slice(&random());
    key
}

/// The most bytes of a table.
const MAX_TABLE: u64 = 64 << 20;

/// The text of a table, whose path is relative to the file that names it.
///
/// # Errors
///
/// It is not there, or larger than 64 MiB.
pub fn read_table(source: &Source, file: &str) -> io::Result<String> {
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let mut text = String::new();
    let file = regular::open(folder.join(file))?;
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
pub fn plain(text: &str) -> String {
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
