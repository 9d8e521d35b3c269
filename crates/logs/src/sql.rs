//! Logs in the tables of a database.
//!
//! The tables are those of QuickFIX and QuickFIX/J: `messages_log` and `event_log`. The additional table
//! `fixwire_log_position` has the journal position up to which the log is written. The position changes in the same
//! transaction in which the rows are written. So each message is in the log exactly once, whatever fails at whatever
//! time.

pub(crate) mod names;
#[cfg(feature = "postgresql")]
pub(crate) mod postgresql;
#[cfg(any(feature = "postgresql", feature = "sqlite"))]
pub(crate) mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "postgresql", feature = "sqlite"))]
mod table;
#[cfg(feature = "postgresql")]
mod tls;

use std::path::Path;

use fixwire_engine::log::{Log, LogError, LogTarget};
use fixwire_protocol::Secret;

use names::check_table;

/// Logs in tables of a database, in the layout of QuickFIX. Requires a build with the feature `sqlite` or
/// `postgresql`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SqlLog {
    /// `sqlite:PATH` or `postgresql://USER@HOST:PORT/DATABASE`, without a password.
    pub database: String,
    /// The password for PostgreSQL, if the database requires one.
    pub password: Option<Secret<String>>,
    /// Table for incoming messages. The name consists of letters, digits and `_`; for PostgreSQL, a schema and a dot
    /// may precede it.
    pub incoming_table: String,
    /// Table for outgoing messages. The table for outgoing messages may be the same as the table for incoming messages.
    pub outgoing_table: String,
    /// Table for events.
    pub event_table: String,
    /// Whether Heartbeats are logged.
    pub heartbeats: bool,
}

/// The database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Database<'a> {
    Sqlite(&'a Path),
    /// The whole address.
    Postgresql(&'a str),
}

impl SqlLog {
    /// A log that includes Heartbeats, in the tables that QuickFIX uses by default.
    pub fn new(database: impl Into<String>) -> Self {
        Self {
            database: database.into(),
            password: None,
            incoming_table: "messages_log".into(),
            outgoing_table: "messages_log".into(),
            event_table: "event_log".into(),
            heartbeats: true,
        }
    }

    /// Checks that this build supports such a log.
    ///
    /// # Errors
    ///
    /// The address is invalid or contains a password, a table name is invalid, or the database's feature is not
    /// compiled in.
    pub fn check(&self) -> Result<(), LogError> {
        let database = self.database()?;
        for name in [
            &self.incoming_table,
            &self.outgoing_table,
            &self.event_table,
        ] {
            check_table(name, matches!(database, Database::Postgresql(_)))?;
        }
        let messages = [&self.incoming_table, &self.outgoing_table];
        if messages
            .iter()
            .any(|it| it.eq_ignore_ascii_case(&self.event_table))
        {
            return Err(LogError("messages and events need separate tables".into()));
        }
        database.compiled_in(cfg!(feature = "sqlite"), cfg!(feature = "postgresql"))?;
        #[cfg(feature = "postgresql")]
        if let Database::Postgresql(address) = database {
            postgresql::DatabaseConnection::new(
                address,
                self.password.as_ref(),
                postgresql::DatabaseUse::LOG,
            )?;
        }
        Ok(())
    }

    /// The target of the log, for an engine with this journal folder.
    ///
    /// # Errors
    ///
    /// The errors of [`SqlLog::check`], and (for SQLite) faults of the database file.
    #[cfg(any(feature = "postgresql", feature = "sqlite"))]
    fn target(&self, journal: &Path) -> Result<Box<dyn LogTarget>, LogError> {
        self.check()?;
        let tables = table::Tables::new([
            &self.incoming_table,
            &self.outgoing_table,
            &self.event_table,
        ]);
        let backend: Box<dyn rows::Backend> = match self.database()? {
            #[cfg(feature = "sqlite")]
            Database::Sqlite(path) => Box::new(sqlite::Sqlite::new(path, tables.clone())?),
            #[cfg(feature = "postgresql")]
            Database::Postgresql(address) => {
                let connection = postgresql::DatabaseConnection::new(
                    address,
                    self.password.as_ref(),
                    postgresql::DatabaseUse::LOG,
                )?;
                Box::new(postgresql::Postgresql::new(connection, tables.clone()))
            }
            #[cfg(not(all(feature = "postgresql", feature = "sqlite")))]
            _ => return Err(LogError("this database is not compiled in".into())),
        };
        let rows = rows::Rows::new(
            backend,
            tables,
            rows::identity(&journal.join("log-sql.id"))?,
            self.heartbeats,
        );
        Ok(Box::new(rows))
    }

    /// Fails, because no database is compiled in.
    #[cfg(not(any(feature = "postgresql", feature = "sqlite")))]
    fn target(&self, _journal: &Path) -> Result<Box<dyn LogTarget>, LogError> {
        self.check()?;
        Err(LogError("no database is compiled in".into()))
    }

    fn database(&self) -> Result<Database<'_>, LogError> {
        let refuse = |why: &str| Err(LogError(format!("the database of the log: {why}")));
        match self.database.split_once(':') {
            Some(("sqlite", "" | ":memory:")) => refuse("sqlite: needs the path of a file"),
            Some(("sqlite", path)) => Ok(Database::Sqlite(Path::new(path))),
            Some(("postgresql" | "postgres", rest)) if rest.starts_with("//") => {
                Ok(Database::Postgresql(&self.database))
            }
            _ => refuse("expected sqlite:PATH or postgresql://USER@HOST:PORT/DATABASE"),
        }
    }
}

impl Log for SqlLog {
    fn kind(&self) -> &'static str {
        "sql"
    }

    fn check(&self) -> Result<(), LogError> {
        Self::check(self)
    }

    fn open(&self, journal: &Path, _: &[String]) -> Result<Box<dyn LogTarget>, LogError> {
        self.target(journal)
    }
}

impl Database<'_> {
    /// Checks whether a build with these features supports logs in this database.
    fn compiled_in(self, sqlite: bool, postgresql: bool) -> Result<(), LogError> {
        let (name, feature) = match self {
            Self::Sqlite(_) if !sqlite => ("SQLite", "sqlite"),
            Self::Postgresql(_) if !postgresql => ("PostgreSQL", "postgresql"),
            _ => return Ok(()),
        };
        Err(not_compiled_in("logs", name, feature))
    }
}

/// The error of a build without the feature for this database.
pub(crate) fn not_compiled_in(what: &str, database: &str, feature: &str) -> LogError {
    LogError(format!(
        "this build of fixwire has no {what} in {database}, the cargo feature `{feature}`: build it with `cargo build --release --features {feature}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_that_cannot_be_are_refused() {
        for database in [
            "",
            "sqlite:",
            "sqlite::memory:",
            "mysql://a@b/c",
            "postgresql:x",
            "x",
        ] {
            let error = SqlLog::new(database).check().unwrap_err().to_string();
            assert!(error.contains("the database of the log: "), "{error}");
        }
        for (name, with_schema) in [
            ("", false),
            ("a b", false),
            ("1a", false),
            ("a;drop", false),
            ("a.b", false),
            (".a", true),
            ("a.b.c", true),
            ("fixwire_log_position", false),
            ("x.FIXWIRE_log_position", true),
        ] {
            assert!(check_table(name, with_schema).is_err(), "{name}");
        }
        assert!(check_table(&"a".repeat(64), true).is_err());
        assert_eq!(check_table("fix.Messages_2", true), Ok(()));
    }

    #[test]
    fn what_is_not_compiled_in_is_said() {
        for (database, feature) in [
            ("sqlite:a.db", "sqlite"),
            ("postgresql://me@db/fix", "postgresql"),
        ] {
            let log = SqlLog::new(database);
            let (sqlite, postgresql) = (feature != "sqlite", feature != "postgresql");
            let database = log.database().unwrap();
            let error = database
                .compiled_in(sqlite, postgresql)
                .unwrap_err()
                .to_string();
            assert!(
                error.ends_with(&format!("`cargo build --release --features {feature}`")),
                "{error}"
            );
            assert_eq!(database.compiled_in(!sqlite, !postgresql), Ok(()));
        }
        let built = cfg!(feature = "sqlite");
        assert_eq!(SqlLog::new("sqlite:a.db").check().is_ok(), built);
        let built = cfg!(feature = "postgresql");
        assert_eq!(SqlLog::new("postgresql://me@db/fix").check().is_ok(), built);
    }
}
