//! Tables of an application in PostgreSQL: rows that the application makes of its journal, and the position up to which
//! the rows are complete.
//!
//! The position is in the table `position`, one row for each store (a journal). It changes in the transaction that
//! writes the rows, so each row is there once, whatever fails when.

#[cfg(feature = "postgresql")]
mod postgresql;

use std::fmt;

use fixwire_engine::log::LogError;
use fixwire_protocol::Secret;

use crate::sql::names::check_table;

#[cfg(feature = "postgresql")]
pub use postgresql::RowDatabase;

/// The longest name of a table after the prefix: PostgreSQL cuts longer names, and may cut two to the same one.
const LONGEST_TABLE: &str = "positions";

/// Where the tables are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowSettings {
    /// `postgresql://USER@HOST:PORT/DATABASE`, without a password.
    pub database: String,
    /// The password, if the server needs one.
    pub password: Option<Secret<String>>,
    /// What the names of all tables begin with: letters, digits and `_`, optionally with a schema and a dot.
    pub prefix: String,
}

impl RowSettings {
    /// Whether this build can write these tables; accesses nothing.
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

/// What the values of a column are. Values are texts that PostgreSQL reads as its type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowKind {
    /// `text`
    Text,
    /// `bigint`
    Whole,
    /// `numeric`
    Decimal,
    /// A time in nanoseconds since 1970. It has two columns: `NAME`, `timestamptz` with the microseconds, and `NAME_ns`,
    /// `bigint` with the nanoseconds.
    Time,
}

/// A column of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowColumn {
    /// Its name: lower-case letters, digits and `_`.
    pub name: String,
    /// What its values are.
    pub kind: RowKind,
}

/// A table. Its first columns are `store text` and `day date`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowTable {
    /// Its name, after the prefix.
    pub name: String,
    /// The columns after `store` and `day`.
    pub columns: Vec<RowColumn>,
    /// How many of these are, with `store` and `day`, the primary key.
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
    /// The date, such as 20261122.
    pub date: u32,
    /// The number of the first event since which the database has the rows of the day.
    pub first: u64,
}

/// How far the rows of a store go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RowPosition {
    /// The position in the journal after the last record.
    pub journal: u64,
    /// The number of the last event.
    pub event: u64,
    /// A hash of that event; 0 for an unknown one.
    pub hash: u64,
    /// The trading day of that event.
    pub day: Option<RowDay>,
}

/// A change of the tables: one transaction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowChange {
    /// The position in the database; `None` when it has none of this store.
    pub from: Option<RowPosition>,
    /// The new position.
    pub to: RowPosition,
    /// Removes the rows of this trading day and later ones, such as `2026-11-23`, before rows are written.
    pub remove: Option<String>,
    /// Of each table, its rows; a row replaces one with the same key.
    pub rows: Vec<Vec<TableRow>>,
}

/// Why rows are not written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RowFault {
    /// The database failed; another attempt may succeed.
    Failed(LogError),
    /// The tables are not those of this program or store: a person has to decide.
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
