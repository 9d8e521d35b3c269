//! The tables of an application in a PostgreSQL database.

use postgres::types::ToSql;
use postgres::{Client, Error, Transaction};

use fixwire_engine::log::LogError;

use super::{RowChange, RowColumn, RowDay, RowFault, RowKind, RowPosition, RowSettings, RowTable};
use crate::sql::names::check_table;
use crate::sql::postgresql::{DatabaseConnection, DatabaseUse, create_missing, reason};

/// The table with the positions, after the prefix.
const POSITION: &str = "position";

/// Number of rows written with one statement: a statement has a time limit.
const ROWS: usize = 4096;

/// The settings of the connections.
pub(super) fn connection(settings: &RowSettings) -> Result<DatabaseConnection, LogError> {
    let of = DatabaseUse {
        database: "database",
        password: "database_password_file",
    };
    DatabaseConnection::new(&settings.database, settings.password.as_ref(), of)
}

/// Tables in a database. The writer connects when it is opened, and again after a failure.
pub struct RowDatabase {
    connection: DatabaseConnection,
    /// Database and address, for errors.
    name: String,
    prefix: String,
    version: i32,
    tables: Vec<RowTable>,
    inserts: Vec<String>,
    client: Option<Client>,
}

impl std::fmt::Debug for RowDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RowDatabase").field(&self.name).finish()
    }
}

impl From<Error> for RowFault {
    fn from(error: Error) -> Self {
        Self::Failed(LogError(reason(&error)))
    }
}

impl RowDatabase {
    /// Makes the tables with this version of their columns. Does not connect to the database.
    ///
    /// # Errors
    ///
    /// The errors of [`RowSettings::check`].
    pub fn new(
        settings: &RowSettings,
        version: i32,
        tables: Vec<RowTable>,
    ) -> Result<Self, LogError> {
        settings.check()?;
        let connection = connection(settings)?;
        let prefix = settings.prefix.clone();
        for table in &tables {
            check_table(&format!("{prefix}{}", table.name), true)?;
        }
        Ok(Self {
            name: connection.shown(),
            connection,
            version,
            inserts: tables.iter().map(|it| insert(&prefix, it)).collect(),
            tables,
            prefix,
            client: None,
        })
    }

    /// The name of the store of a journal: random digits in this file, which is created when it is missing.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written.
    pub fn store(file: &std::path::Path) -> Result<String, LogError> {
        crate::sql::rows::identity(file)
    }

    /// Connects if necessary, checks the version of the tables, creates missing ones, and returns the position of a
    /// store; `None` for a new store.
    ///
    /// # Errors
    ///
    /// [`RowFault::Refused`] for tables of another version.
    pub fn open(&mut self, store: &str) -> Result<Option<RowPosition>, RowFault> {
        let opened = self.try_open(store);
        opened.map_err(|fault| self.named(fault))
    }

    /// Carries out a change completely or not at all. After an error, [`RowDatabase::open`] shows which of the two
    /// happened.
    ///
    /// # Errors
    ///
    /// Also when the position in the database is not [`RowChange::from`].
    pub fn write(&mut self, store: &str, change: &RowChange) -> Result<(), RowFault> {
        let written = self.try_write(store, change);
        written.map_err(|fault| {
            self.client = None;
            self.named(fault)
        })
    }

    fn named(&self, fault: RowFault) -> RowFault {
        let with_name = |why: LogError| LogError(format!("{}: {why}", self.name));
        match fault {
            RowFault::Failed(why) => RowFault::Failed(with_name(why)),
            RowFault::Refused(why) => RowFault::Refused(with_name(why)),
        }
    }

    fn try_open(&mut self, store: &str) -> Result<Option<RowPosition>, RowFault> {
        let mut client = match self.client.take().filter(|it| !it.is_closed()) {
            Some(client) => client,
            None => self.connection.connect()?,
        };
        let mut change = client.transaction()?;
        self.check_version(&mut change)?;
        for table in &self.tables {
            let name = format!("{}{}", self.prefix, table.name);
            create_missing(&mut change, &name, &create(&self.prefix, table))?;
        }
        let select = format!(
            "SELECT position, event, event_hash, to_char(day, 'YYYYMMDD')::integer, first_event \
             FROM {}{POSITION} WHERE store = $1",
            self.prefix
        );
        let row = change.query_opt(&select, &[&store])?;
        let position = row.map(|row| {
            let (journal, event, hash): (i64, i64, String) = (row.get(0), row.get(1), row.get(2));
            let (date, first): (Option<i32>, Option<i64>) = (row.get(3), row.get(4));
            let day = date.zip(first).map(|(date, first)| RowDay {
                date: date.unsigned_abs(),
                first: first.cast_unsigned(),
            });
            let hash = u64::from_str_radix(&hash, 16).map_err(|_| {
                RowFault::Refused(LogError(format!(
                    "event_hash of store {store} in {}{POSITION} is not a hexadecimal number",
                    self.prefix
                )))
            })?;
            Ok::<_, RowFault>(RowPosition {
                journal: journal.cast_unsigned(),
                event: event.cast_unsigned(),
                hash,
                day,
            })
        });
        let position = position.transpose()?;
        change.commit()?;
        self.client = Some(client);
        Ok(position)
    }

    /// Checks the version of the tables before anything is created.
    fn check_version(&self, change: &mut Transaction<'_>) -> Result<(), RowFault> {
        let table = format!("{}{POSITION}", self.prefix);
        let create = format!(
            "CREATE TABLE IF NOT EXISTS {table} (store text PRIMARY KEY, schema_version integer NOT NULL, \
             position bigint NOT NULL, event bigint NOT NULL, event_hash text NOT NULL, day date, \
             first_event bigint, written timestamptz NOT NULL)"
        );
        create_missing(change, &table, &create)?;
        let others =
            format!("SELECT schema_version FROM {table} WHERE schema_version <> $1 LIMIT 1");
        match change.query_opt(&others, &[&self.version])? {
            None => Ok(()),
            Some(row) => {
                let (other, version): (i32, i32) = (row.get(0), self.version);
                Err(RowFault::Refused(LogError(format!(
                    "the tables {}* have the schema version {other}, and this build writes version {version}: use \
                     another prefix, or the build that made the tables",
                    self.prefix
                ))))
            }
        }
    }

    fn try_write(&mut self, store: &str, change: &RowChange) -> Result<(), RowFault> {
        let Some(client) = &mut self.client else {
            return Err(RowFault::Failed(LogError("not connected".into())));
        };
        let mut written = client.transaction()?;
        let prefix = &self.prefix;
        if !moves(&mut written, prefix, self.version, store, change)? {
            let why = "the position of this store has changed: the tables were restored, or a copy of the journal writes \
                       them too";
            return Err(RowFault::Failed(LogError(why.into())));
        }
        if let Some(day) = &change.remove {
            for table in &self.tables {
                let name = &table.name;
                let delete = format!(
                    "DELETE FROM {prefix}{name} WHERE store = $1 AND day >= $2::text::date"
                );
                written.execute(&delete, &[&store, day])?;
            }
        }
        for ((table, insert), rows) in self.tables.iter().zip(&self.inserts).zip(&change.rows) {
            // One statement, and so one round trip, for many rows of a table.
            for rows in rows.chunks(ROWS) {
                let days: Vec<&str> = rows.iter().map(|row| &row.day[..]).collect();
                let column = |at: usize| -> Vec<Option<&str>> {
                    let values = rows.iter().map(|row| row.values.get(at));
                    values
                        .map(|value| value.and_then(Option::as_deref))
                        .collect()
                };
                let columns: Vec<_> = (0..table.columns.len()).map(column).collect();
                let mut values: Vec<&(dyn ToSql + Sync)> = vec![&store, &days];
                values.extend(columns.iter().map(|it| it as &(dyn ToSql + Sync)));
                written.execute(insert, &values)?;
            }
        }
        Ok(written.commit()?)
    }
}

/// Moves the position of a store; false when the position in the database is not [`RowChange::from`].
fn moves(
    written: &mut Transaction<'_>,
    prefix: &str,
    version: i32,
    store: &str,
    change: &RowChange,
) -> Result<bool, Error> {
    let RowPosition {
        journal,
        event,
        hash,
        day,
    } = change.to;
    let (journal, event, hash) = (
        journal.cast_signed(),
        event.cast_signed(),
        format!("{hash:016x}"),
    );
    let date = day.map(|day| day.date.to_string());
    let first = day.map(|day| day.first.cast_signed());
    let values: [&(dyn ToSql + Sync); 7] =
        [&store, &version, &journal, &event, &hash, &date, &first];
    let done = match change.from {
        None => {
            let insert = format!(
                "INSERT INTO {prefix}{POSITION} \
                 (store, schema_version, position, event, event_hash, day, first_event, written) \
                 VALUES ($1, $2, $3, $4, $5, $6::text::date, $7, now()) ON CONFLICT DO NOTHING"
            );
            written.execute(&insert, &values)?
        }
        Some(from) => {
            let update = format!(
                "UPDATE {prefix}{POSITION} SET schema_version = $2, position = $3, event = $4, event_hash = $5, \
                 day = $6::text::date, first_event = $7, written = now() \
                 WHERE store = $1 AND position = $8 AND event = $9"
            );
            let (at, last) = (from.journal.cast_signed(), from.event.cast_signed());
            let known: [&(dyn ToSql + Sync); 2] = [&at, &last];
            written.execute(&update, &[&values[..], &known[..]].concat())?
        }
    };
    Ok(done == 1)
}

/// The columns of a table in the database, without `store` and `day`: names and types.
fn stored(column: &RowColumn) -> Vec<(String, &'static str)> {
    let name = column.name.clone();
    match column.kind {
        RowKind::Text => vec![(name, "text")],
        RowKind::Whole => vec![(name, "bigint")],
        RowKind::Decimal => vec![(name, "numeric")],
        RowKind::Time => {
            let nanos = format!("{name}_ns");
            vec![(name, "timestamptz"), (nanos, "bigint")]
        }
    }
}

fn keys(table: &RowTable) -> String {
    let keys = table.columns[..table.keys].iter();
    let keys = keys.map(|it| format!(", {}", it.name));
    format!("store, day{}", keys.collect::<String>())
}

fn create(prefix: &str, table: &RowTable) -> String {
    let columns = table.columns.iter().flat_map(stored);
    let columns = columns.map(|(name, kind)| format!("{name} {kind}, "));
    format!(
        "CREATE TABLE IF NOT EXISTS {prefix}{} (store text, day date, {}PRIMARY KEY ({}))",
        table.name,
        columns.collect::<String>(),
        keys(table)
    )
}

/// The statement that inserts or replaces rows: the store, then an array for the days and one for each column.
fn insert(prefix: &str, table: &RowTable) -> String {
    let names: Vec<String> = table
        .columns
        .iter()
        .flat_map(stored)
        .map(|it| it.0)
        .collect();
    let values = table.columns.iter().enumerate();
    let values = values.map(|(at, column)| match column.kind {
        RowKind::Text => format!("v{at}"),
        RowKind::Whole => format!("v{at}::bigint"),
        RowKind::Decimal => format!("v{at}::numeric"),
        RowKind::Time => format!(
            "timestamptz 'epoch' + (v{at}::bigint / 1000) * interval '1 microsecond', v{at}::bigint"
        ),
    });
    let values: Vec<String> = values.collect();
    let arrays = (0..=table.columns.len()).map(|at| format!("${}::text[]", at + 2));
    let arrays: Vec<String> = arrays.collect();
    let read: String = (0..table.columns.len())
        .map(|at| format!(", v{at}"))
        .collect();
    let sets = table.columns[table.keys..].iter().flat_map(stored);
    let sets: Vec<String> = sets
        .map(|(name, _)| format!("{name} = EXCLUDED.{name}"))
        .collect();
    format!(
        "INSERT INTO {prefix}{} (store, day, {}) SELECT $1::text, d::date, {} FROM unnest({}) AS r (d{read}) \
         ON CONFLICT ({}) DO UPDATE SET {}",
        table.name,
        names.join(", "),
        values.join(", "),
        arrays.join(", "),
        keys(table),
        sets.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_store_and_day_first_and_two_columns_for_a_time() {
        let column = |name: &str, kind| RowColumn {
            name: name.into(),
            kind,
        };
        let table = RowTable {
            name: "fills".into(),
            columns: vec![
                column("event", RowKind::Whole),
                column("time", RowKind::Time),
                column("price", RowKind::Decimal),
            ],
            keys: 1,
        };
        assert_eq!(
            create("oms_", &table),
            "CREATE TABLE IF NOT EXISTS oms_fills (store text, day date, event bigint, time timestamptz, time_ns bigint, \
             price numeric, PRIMARY KEY (store, day, event))"
        );
        assert_eq!(
            insert("x.", &table),
            "INSERT INTO x.fills (store, day, event, time, time_ns, price) SELECT $1::text, d::date, v0::bigint, \
             timestamptz 'epoch' + (v1::bigint / 1000) * interval '1 microsecond', v1::bigint, v2::numeric \
             FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS r (d, v0, v1, v2) \
             ON CONFLICT (store, day, event) DO UPDATE SET time = EXCLUDED.time, time_ns = EXCLUDED.time_ns, \
             price = EXCLUDED.price"
        );
    }
}
