//! The tables that an application writes in PostgreSQL. The application makes the rows from its journal. The database
//! also has the position in the journal up to which the rows are complete.
//!
//! The position is in the table `position`, one row for each store (a journal). The position changes in the
//! transaction that writes the rows, so each row exists once, whenever a failure happens.

#[cfg(feature = "postgresql")]
mod postgresql;

use std::fmt;

use fixwire_engine::log::LogError;
use fixwire_protocol::Secret;

use crate::sql::names::check_table;

#[cfg(feature = "postgresql")]
pub use postgresql::RowDatabase;

/// The longest name of a table without its prefix. PostgreSQL cuts names that are too long, and two cut names may be
/// the same.
const LONGEST_TABLE: &str = "positions";

/// Where the tables are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowSettings {
    /// `postgresql://USER@HOST:PORT/DATABASE`, without a password.
    pub database: String,
    /// The password, if the server needs one.
    pub password: Option<Secret<String>>,
    /// The prefix of the names of all tables: letters, digits and `_`, optionally with a schema and a dot.
    pub prefix: String,
}

impl RowSettings {
    /// Whether this build can write these tables. Connects to no database.
    ///
    /// # Errors
    ///
    /// An invalid address or one with a password, an invalid prefix, or a build without the feature `postgresql`.
    pub fn check(&self) -> Result<(), LogError> {
        let schemes = ["postgresql://", "postgres://"];
        if !schemes.iter().any(|it| self.database.starts_with(it)) {
            let why = "expected postgresql://USER@HOST:PORT/DATABASE";
            return Err(LogError(format!("database: {why}")));
        }
        check_table(&format!("{}{LONGEST_TABLE}", self.prefix), true)?;
        #[cfg(feature = "postgresql")]
        return postgresql::connection(self).map(|_| ());
        #[cfg(not(feature = "postgresql"))]
        Err(crate::sql::not_compiled_in(
            "tables",
            "PostgreSQL",
            "postgresql",
        ))
    }
}

/// The type of the values of a column. Each value is a text that PostgreSQL can read as this type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowKind {
    /// `text`
    Text,
    /// `bigint`
    Whole,
    /// `numeric`
    Decimal,
    /// A time in nanoseconds since 1970. A time takes two columns: `NAME` is a `timestamptz` with the microseconds, and
    /// `NAME_ns` is a `bigint` with the nanoseconds.
    Time,
}

/// A column of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowColumn {
    /// The column's name: lower-case letters, digits and `_`.
    pub name: String,
    /// The type of the column's values.
    pub kind: RowKind,
}

/// A table. The first columns of each table are `store text` and `day date`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowTable {
    /// The table's name, after the prefix.
    pub name: String,
    /// The columns after `store` and `day`.
    pub columns: Vec<RowColumn>,
    /// Number of the first columns that form the primary key, together with `store` and `day`.
    pub keys: usize,
}

/// A row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableRow {
    /// The trading day, as `2026-11-23`.
    pub day: String,
    /// A value for each of [`RowTable::columns`].
    pub values: Vec<Option<String>>,
}

/// A trading day in the database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RowDay {
    /// The date of the day, such as 20261122.
    pub date: u32,
    /// The database has the rows of this day from the event with this number on.
    pub first: u64,
}

/// The position up to which the rows of a store are complete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RowPosition {
    /// The position in the journal after the last record.
    pub journal: u64,
    /// The number of the last event.
    pub event: u64,
    /// A hash of the last event; 0 if the hash is unknown.
    pub hash: u64,
    /// The trading day of the last event.
    pub day: Option<RowDay>,
}

/// A change of the tables: one transaction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowChange {
    /// The position in the database before the change; `None` when the database has no position of this store.
    pub from: Option<RowPosition>,
    /// The new position.
    pub to: RowPosition,
    /// A trading day, such as `2026-11-23`. The rows of this day and of later days are removed before rows are
    /// written.
    pub remove: Option<String>,
    /// The rows of each table, in the order of the tables. A row replaces the row with the same key.
    pub rows: Vec<Vec<TableRow>>,
}

/// Why rows are not written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RowFault {
    /// The database failed; another attempt may succeed.
    Failed(LogError),
    /// The tables belong to another program or another store. An operator has to decide what to do.
    Refused(LogError),
}

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) | Self::Refused(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for RowFault {}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(database: &str, prefix: &str) -> String {
        let settings = RowSettings {
            database: database.into(),
            password: None,
            prefix: prefix.into(),
        };
        let checked = settings.check();
        checked.map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn addresses_and_prefixes_that_cannot_be_are_refused() {
        for database in ["", "sqlite:a.db", "mysql://a@b/c", "postgresql:x"] {
            let said = said(database, "oms_");
            assert!(
                said.contains("expected postgresql://"),
                "{database}: {said}"
            );
        }
        // With the longest prefix but one, `positions` would be cut to `position`.
        let [longest, longer] = [54, 55].map(|length| "x".repeat(length));
        for prefix in ["a b", "1", "a;", "a.b.c", ".a", &longer] {
            let said = said("postgresql://me@db/fix", prefix);
            assert!(
                said.contains("is not a valid table name"),
                "{prefix}: {said}"
            );
        }
        for prefix in ["", "oms_", "trading.oms_", &longest] {
            let said = said("postgresql://me@db/fix", prefix);
            match cfg!(feature = "postgresql") {
                true => assert_eq!(said, ""),
                false => assert!(said.ends_with("--features postgresql`"), "{said}"),
            }
        }
        if cfg!(feature = "postgresql") {
            let said = said("postgresql://me:hunter2@db/fix", "oms_");
            assert!(said.contains("database_password_file"), "{said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
