//! Messages and events as rows, which are collected for a transaction.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

use fixwire_engine::journal::JournalPosition;
use fixwire_engine::log::{LogError, LogTarget};
use fixwire_protocol::Timestamp;
use fixwire_sys::private;

use super::super::files::is_heartbeat;
use super::super::line::write_safe;
use super::table::{SESSION, Tables};
use crate::store::SessionName;

/// Approximate number of bytes that are written at once.
const FULL: usize = 1 << 20;
/// Maximum number of events that wait while the database is unavailable; further events are only counted.
const EVENTS: usize = 4096;

/// A row to be written.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Index in [`Tables::names`].
    pub(super) table: usize,
    pub(super) wall: Timestamp,
    pub(super) session: Session,
    pub(super) text: String,
}

/// The session of a row: a value for each column in [`SESSION`].
pub(super) type Session = Arc<[String; SESSION.len()]>;

/// A database that stores rows.
pub(super) trait Backend: Send {
    /// Connects if necessary, checks the tables, and creates missing tables. Returns the journal position up to which
    /// the log was written; `from` if it is unknown.
    fn open(&mut self, journal: &str, from: JournalPosition) -> Result<JournalPosition, LogError>;

    /// Writes rows and moves the position, in one transaction. The call fails if the position is not `from`, because
    /// then another process writes the log of this journal.
    fn write(
        &mut self,
        rows: &[Row],
        journal: &str,
        from: JournalPosition,
        to: JournalPosition,
    ) -> Result<(), LogError>;
}

/// The rows of all sessions.
pub(super) struct Rows {
    backend: Box<dyn Backend>,
    tables: Tables,
    /// The name of the journal in the database.
    journal: String,
    heartbeats: bool,
    /// The journal position up to which the database has the log.
    written: JournalPosition,
    rows: Vec<Row>,
    bytes: usize,
    sessions: HashMap<String, Session>,
}

impl Rows {
    pub(super) fn new(
        backend: Box<dyn Backend>,
        tables: Tables,
        journal: String,
        heartbeats: bool,
    ) -> Self {
        Self {
            backend,
            tables,
            journal,
            heartbeats,
            written: JournalPosition::START,
            rows: Vec::new(),
            bytes: 0,
            sessions: HashMap::new(),
        }
    }

    fn push(&mut self, table: usize, session: &str, wall: Timestamp, bytes: &[u8], keep_soh: bool) {
        let mut safe = Vec::with_capacity(bytes.len());
        write_safe(bytes, keep_soh, &mut safe);
        // The text has no invalid bytes.
        let text = String::from_utf8_lossy(&safe).into_owned();
        self.bytes += text.len();
        let session = match self.sessions.get(session) {
            Some(session) => Arc::clone(session),
            None => {
                let parts = Arc::new(parts(session));
                self.sessions.insert(session.to_owned(), Arc::clone(&parts));
                parts
            }
        };
        self.rows.push(Row {
            table,
            wall,
            session,
            text,
        });
    }
}

impl LogTarget for Rows {
    fn open(&mut self, from: JournalPosition) -> Result<JournalPosition, LogError> {
        // Messages will be read from the journal again, events will not.
        let events = self.tables.events;
        self.rows.retain(|row| row.table == events);
        self.rows.truncate(EVENTS);
        self.bytes = self.rows.iter().map(|row| row.text.len()).sum();
        self.written = self.backend.open(&self.journal, from)?;
        Ok(self.written)
    }

    fn message(&mut self, session: &str, wall: Timestamp, incoming: bool, message: &[u8]) {
        if self.heartbeats || !is_heartbeat(message) {
            let table = match incoming {
                true => self.tables.incoming,
                false => self.tables.outgoing,
            };
            self.push(table, session, wall, message, true);
        }
    }

    fn event(&mut self, session: Option<&str>, wall: Timestamp, text: &str) {
        let session = session.unwrap_or_default();
        self.push(self.tables.events, session, wall, text.as_bytes(), false);
    }

    fn is_full(&self) -> bool {
        self.bytes >= FULL
    }

    fn flush(&mut self, to: JournalPosition) -> Result<(), LogError> {
        if self.rows.is_empty() && to == self.written {
            return Ok(());
        }
        self.backend
            .write(&self.rows, &self.journal, self.written, to)?;
        self.written = to;
        self.rows.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// The parts of a session's name. A name that cannot be split goes into SenderCompID as a whole.
fn parts(name: &str) -> [String; SESSION.len()] {
    let Ok(session) = SessionName::parse(name) else {
        let mut parts = <[String; SESSION.len()]>::default();
        parts[1] = name.chars().filter(|c| !c.is_control()).collect();
        return parts;
    };
    let part = |side: &[String], at: usize| side.get(at).cloned().unwrap_or_default();
    [
        session.begin_string.clone(),
        part(&session.sender, 0),
        part(&session.sender, 1),
        part(&session.sender, 2),
        part(&session.target, 0),
        part(&session.target, 1),
        part(&session.target, 2),
        session.qualifier.clone().unwrap_or_default(),
    ]
}

/// The name of a journal in databases: 32 random digits in a file in the journal's folder, created once. The name of
/// the folder cannot be used, because a new journal may be created in the same folder.
pub(crate) fn identity(path: &Path) -> Result<String, LogError> {
    let failed = |doing: &str, error: std::io::Error| {
        LogError(format!("cannot {doing} {}: {error}", path.display()))
    };
    match fs::read_to_string(path) {
        Ok(text) if text.len() == 32 && text.bytes().all(|c| c.is_ascii_hexdigit()) => {
            return Ok(text);
        }
        // The file is empty or incomplete, so no position was ever stored under its name.
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed("read", error)),
    }
    // The hasher is seeded with random numbers from the system.
    let random = || RandomState::new().build_hasher().finish();
    let text = format!("{:016x}{:016x}", random(), random());
    private()
        .truncate(true)
        .open(path)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .map_err(|error| failed("write", error))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_its_columns() {
        let shown = |name: &str| parts(name).join("|");
        assert_eq!(shown("FIX.4.4:A/S/L->B:Q"), "FIX.4.4|A|S|L|B|||Q");
        assert_eq!(shown("FIXT.1.1:A->B/T"), "FIXT.1.1|A|||B|T||");
        assert_eq!(shown("odd\n"), "|odd||||||");
        assert_eq!(shown(""), "|||||||");
    }

    #[test]
    fn a_journal_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log-sql.id");
        let name = identity(&file).unwrap();
        assert_eq!(identity(&file).unwrap(), name);
        fs::write(&file, "torn").unwrap();
        assert_ne!(identity(&file).unwrap(), name);
        let other = tempfile::tempdir().unwrap();
        assert_ne!(identity(&other.path().join("log-sql.id")).unwrap(), name);
    }
}
