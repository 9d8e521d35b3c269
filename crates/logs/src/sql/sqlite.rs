//! Log tables in an SQLite file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fixwire_engine::journal::JournalPosition;
use fixwire_engine::log::LogError;
use fixwire_protocol::Timestamp;
use fixwire_protocol::time::{Precision, TimestampWriter};
use fixwire_sys::private;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::names::POSITIONS;
use super::rows::{Backend, Row};
use super::table::{self, Column, SESSION, Tables};

/// Time for which another process may lock the file before an event reports it.
const BUSY: Duration = Duration::from_secs(2);
/// At the start, the log does not wait for a lock of another process.
const NOT_AT_ALL: Duration = Duration::ZERO;

/// A database file.
pub(super) struct Sqlite {
    path: PathBuf,
    tables: Tables,
    open: Option<Open>,
    stamp: TimestampWriter,
}

struct Open {
    connection: Connection,
    /// The insert statement of each table, with the session columns that the table has.
    inserts: Vec<(String, Vec<usize>)>,
}

/// Why a file cannot be used. A lock is temporary, anything else is not.
enum Fault {
    Sql(rusqlite::Error),
    Wrong(LogError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl Sqlite {
    /// Opens the file; creates it if it is missing.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, is not a database, or has tables of another form. A lock is not an error, because
    /// it is temporary.
    pub(super) fn new(path: &Path, tables: Tables) -> Result<Self, LogError> {
        let mut made = Self {
            path: path.to_owned(),
            tables,
            open: None,
            stamp: TimestampWriter::new(),
        };
        match made.connect(NOT_AT_ALL) {
            Ok(open) => made.open = Some(open),
            Err(Fault::Sql(error)) if is_busy(&error) => {}
            Err(fault) => return Err(made.say(fault)),
        }
        Ok(made)
    }

    fn connect(&self, patience: Duration) -> Result<Open, Fault> {
        private()
            .read(true)
            .open(&self.path)
            .map_err(|error| Fault::Wrong(self.error(&error.to_string())))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(patience)?;
        // In this mode, readers and the log do not block each other. Rows that are lost in a power failure are
        // written again, because the position is lost together with them.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        change.execute(&table::create_positions(), ())?;
        let mut inserts = Vec::with_capacity(self.tables.names.len());
        for name in &self.tables.names {
            let id = "INTEGER PRIMARY KEY AUTOINCREMENT";
            change.execute(&table::create(name, id, "TIMESTAMP"), ())?;
            let columns = columns(&change, name)?;
            let found = table::shape(name, &columns)
                .map_err(|error| Fault::Wrong(self.error(&error.to_string())))?;
            inserts.push((insert(name, &found), found));
        }
        change.commit()?;
        connection.busy_timeout(BUSY)?;
        Ok(Open {
            connection,
            inserts,
        })
    }

    fn error(&self, why: &str) -> LogError {
        LogError(format!("SQLite database {}: {why}", self.path.display()))
    }

    fn say(&self, fault: Fault) -> LogError {
        match fault {
            Fault::Sql(error) if is_busy(&error) => self.error(
                "another program has locked the \
                file",
            ),
            Fault::Sql(error) => self.error(&error.to_string()),
            Fault::Wrong(error) => error,
        }
    }

    fn try_write(
        &mut self,
        rows: &[Row],
        journal: &str,
        from: JournalPosition,
        to: JournalPosition,
    ) -> Result<(), Fault> {
        let Some(open) = &mut self.open else {
            return Err(Fault::Wrong(LogError("the database is not open".into())));
        };
        let behavior = TransactionBehavior::Immediate;
        let change = open.connection.transaction_with_behavior(behavior)?;
        let prepare = |(statement, found): &'_ (String, Vec<usize>)| {
            Ok((change.prepare(statement)?, found.clone()))
        };
        let inserts: rusqlite::Result<Vec<_>> = open.inserts.iter().map(prepare).collect();
        let mut inserts = inserts?;
        for row in rows {
            let (statement, found) = &mut inserts[row.table];
            statement.raw_bind_parameter(1, time(&mut self.stamp, row.wall))?;
            statement.raw_bind_parameter(2, &row.text)?;
            for (place, at) in (3..).zip(found.iter()) {
                statement.raw_bind_parameter(place, &row.session[*at])?;
            }
            statement.raw_execute()?;
        }
        drop(inserts);
        let moved =
            format!("UPDATE {POSITIONS} SET position = ?1 WHERE journal = ?2 AND position = ?3");
        let (to, from) = (to.bits().cast_signed(), from.bits().cast_signed());
        if change.execute(&moved, params![to, journal, from])? != 1 {
            let why = "another process has changed the log's position in this journal";
            return Err(Fault::Wrong(LogError(why.into())));
        }
        change.commit()?;
        Ok(())
    }
}

impl Backend for Sqlite {
    fn open(&mut self, journal: &str, from: JournalPosition) -> Result<JournalPosition, LogError> {
        if self.open.is_none() {
            self.open = Some(self.connect(BUSY).map_err(|fault| self.say(fault))?);
        }
        let Some(open) = &self.open else {
            return Ok(from);
        };
        position(&open.connection, journal, from).map_err(|error| {
            let error = self.say(Fault::Sql(error));
            self.open = None;
            error
        })
    }

    fn write(
        &mut self,
        rows: &[Row],
        journal: &str,
        from: JournalPosition,
        to: JournalPosition,
    ) -> Result<(), LogError> {
        self.try_write(rows, journal, from, to).map_err(|fault| {
            self.open = None;
            self.say(fault)
        })
    }
}

/// The position of a journal. If the database has none, `from` is stored and returned.
fn position(
    database: &Connection,
    journal: &str,
    from: JournalPosition,
) -> rusqlite::Result<JournalPosition> {
    let first = format!("INSERT OR IGNORE INTO {POSITIONS} (journal, position) VALUES (?1, ?2)");
    database.execute(&first, params![journal, from.bits().cast_signed()])?;
    let known = format!("SELECT position FROM {POSITIONS} WHERE journal = ?1");
    let bits: Option<i64> = database
        .query_row(&known, [journal], |row| row.get(0))
        .optional()?;
    Ok(bits.map_or(from, |bits| {
        JournalPosition::from_bits(bits.cast_unsigned())
    }))
}

/// The columns of a table.
fn columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut statement =
        database.prepare("SELECT name, \"notnull\", dflt_value, pk FROM pragma_table_info(?1)")?;
    let found = statement.query_map([table], |row| {
        let (not_null, default): (bool, Option<String>) = (row.get(1)?, row.get(2)?);
        let in_key = row.get::<_, i64>(3)? != 0;
        Ok(Column {
            name: row.get(0)?,
            // An autoincrement key may be declared NOT NULL, and still needs no value.
            needed: not_null && default.is_none() && !in_key,
        })
    })?;
    found.collect()
}

fn insert(table: &str, found: &[usize]) -> String {
    let names: String = found
        .iter()
        .map(|at| format!(", {}", SESSION[*at]))
        .collect();
    let places: String = (0..found.len())
        .map(|at| format!(", ?{}", at + 3))
        .collect();
    format!("INSERT INTO {table} (time, text{names}) VALUES (?1, ?2{places})")
}

/// A time in UTC, in the form that SQLite's functions accept: `2026-08-21 13:30:00.123456`.
fn time(stamp: &mut TimestampWriter, wall: Timestamp) -> String {
    let text = stamp.format(wall, Precision::Micros);
    let text = String::from_utf8_lossy(text);
    match (text.get(..4), text.get(4..6), text.get(6..8), text.get(9..)) {
        (Some(year), Some(month), Some(day), Some(clock)) => {
            format!("{year}-{month}-{day} {clock}")
        }
        _ => text.into_owned(),
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}
