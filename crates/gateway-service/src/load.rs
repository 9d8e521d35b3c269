//! Loads a gateway from its settings file and the tables that the file names, with the remarks that `check` prints.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
#[cfg(feature = "scripts")]
use std::time::Instant;

use fixwire_gateway::gateway::{Listener, Reload, Remark, conversion_files};
#[cfg(feature = "scripts")]
use fixwire_gateway::rules::{LONG_RUNS, run_long};
use fixwire_gateway::rules::{RuleError, TableFile, table_files};
use fixwire_gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::Dictionary;
use fixwire_protocol::dictionary::Version;
use fixwire_settings::{
    Id, LoadError, Problem, SessionSettings, Settings, Source, Span, TablesOwner,
};

/// The gateway of a file, or the reload of a running gateway, together with the tables, sessions and dictionaries with
/// which it was loaded.
#[derive(Debug)]
pub struct LoadedGateway<G = Gateway> {
    /// The file.
    pub path: PathBuf,
    /// The gateway, before its first message; or the reload.
    pub gateway: G,
    /// The tables that the file names.
    pub tables: Vec<TableFile>,
    /// The conversion tables that the file names.
    pub conversions: Vec<TableFile>,
    /// The names that rules use for the sessions, in the order of the file.
    pub names: Vec<String>,
    /// The dictionary of each session's messages, in the same order.
    pub dictionaries: Vec<Arc<Dictionary>>,
    /// The FIX version of each session's application messages, in the same order.
    pub versions: Vec<Version>,
}

/// Reads the gateway of a settings file, and the tables that the file names. `listener` receives the events of the
/// gateway later.
///
/// # Errors
///
/// [`LoadError::Content`] with the settings that a gateway does not support. If the gateway supports all settings,
/// with the tables that cannot be read. If all tables can be read, with every error in the rules.
pub fn load(
    source: &Source,
    settings: &Settings,
    listener: Listener,
) -> Result<LoadedGateway, LoadError> {
    read(source, settings, |text, context| {
        Gateway::load(text, context, listener)
    })
}

/// Reads a settings file as [`load`] does, for the reload of a running gateway.
///
/// # Errors
///
/// As [`load`].
pub fn reload(source: &Source, settings: &Settings) -> Result<LoadedGateway<Reload>, LoadError> {
    read(source, settings, Reload::read)
}

fn read<G>(
    source: &Source,
    settings: &Settings,
    read: impl FnOnce(&str, &GatewayContext<'_>) -> Result<G, Vec<RuleError>>,
) -> Result<LoadedGateway<G>, LoadError> {
    let versions = settings.versions(TablesOwner::Gateway)?;
    if settings.gateway.is_empty() {
        let (what, help) = (
            "the file has no rules",
            "write the rules as [[rule]] tables in a TOML file",
        );
        let problem = Problem::found(Span::default(), what, Some(help));
        return Err(settings.found(vec![problem]));
    }
    let failed = |errors: Vec<RuleError>| {
        let problems = errors.into_iter().map(|error| {
            let title = error.problem.to_string();
            let span = source.word(error.line, error.column);
            Problem::found(span, &title, error.hint.as_deref())
        });
        settings.found(problems.collect())
    };
    let tables = table_files(&source.text).map_err(failed)?;
    let conversions = conversion_files(&source.text);
    let mut unreadable = Vec::new();
    let mut read_all = |files: &[TableFile]| -> Vec<String> {
        let texts = files.iter().map(|table| {
            source.read_table(&table.file).unwrap_or_else(|error| {
                let title = format!("the table {} cannot be read: {error}", table.file);
                let help = "the path of a table is relative to the folder of this file";
                let span = source.word(table.line, table.column);
                unreadable.push(Problem::found(span, &title, Some(help)));
                String::new()
            })
        });
        texts.collect()
    };
    let (table_texts, conversion_texts) = (read_all(&tables), read_all(&conversions));
    if !unreadable.is_empty() {
        return Err(settings.found(unreadable));
    }
    let names: Vec<String> = names(settings);
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
    Ok(LoadedGateway {
        path: source.path.clone(),
        gateway,
        tables,
        conversions,
        names,
        dictionaries,
        versions,
    })
}

/// The names that rules use for the sessions of a file.
pub(crate) fn names(settings: &Settings) -> Vec<String> {
    let sessions = settings.sessions.iter();
    sessions.map(SessionSettings::called).collect()
}

impl LoadedGateway {
    /// Warnings about settings of the file that are probably mistakes, each with its position:
    /// `gateway.toml:12: ...`. [`Gateway::remarks`] also has remarks that are not warnings.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let remarks = self.gateway.remarks().iter();
        let warnings = remarks.filter(|remark| remark.is_warning);
        warnings.map(|remark| self.placed(remark))
    }

    /// A remark about the file, with the position of the remark.
    #[must_use]
    pub fn placed(&self, remark: &Remark) -> String {
        let path = self.path.display();
        let line = remark.line.map_or(String::new(), |line| format!(":{line}"));
        format!("{path}{line}: {}", remark.text)
    }

    /// The maximum number of operations of a script. Also returns the longest time that a script with this number of
    /// operations takes on this machine. `None` when the file has no script.
    #[must_use]
    pub fn longest_script(&self) -> Option<(u64, Duration)> {
        let operations = self.gateway.rules().script_operations()?;
        Some((operations, longest(operations)))
    }
}

#[cfg(feature = "scripts")]
fn longest(operations: u64) -> Duration {
    let each = LONG_RUNS.iter().map(|run| {
        let begin = Instant::now();
        let _: bool = run_long(run, operations);
        begin.elapsed()
    });
    each.max().unwrap_or_default()
}

#[cfg(not(feature = "scripts"))]
fn longest(_: u64) -> Duration {
    Duration::ZERO
}

/// Each text with the name of its table.
fn named<'t>(files: &'t [TableFile], texts: &'t [String]) -> Vec<(&'t str, &'t str)> {
    let both = files.iter().zip(texts);
    both.map(|(file, text)| (&file.name[..], &text[..]))
        .collect()
}

/// A secret of this process, derived from the random keys that the standard library gives its hash tables.
fn hash_key() -> [u8; 16] {
    let random = || RandomState::new().hash_one(()).to_le_bytes();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&random());
    key[8..].copy_from_slice(&random());
    key
}
