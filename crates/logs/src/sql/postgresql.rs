//! Log tables in a PostgreSQL database.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use postgres::config::{ChannelBinding, Host, SslMode, SslNegotiation};
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Config, Error, NoTls, Transaction};

use super::names::POSITIONS;
use super::rows::{Backend, Row};
use super::table::{self, Column, SESSION, Tables};
use super::tls::{DatabaseTls, TlsParameters};
use fixwire_engine::journal::JournalPosition;
use fixwire_engine::log::LogError;
use fixwire_protocol::Secret;

/// Timeout of a connection attempt.
const CONNECT: Duration = Duration::from_secs(5);
/// Time for which the server may be silent before the connection counts as lost.
const SILENT: Duration = Duration::from_secs(15);
/// Timeouts for a statement and for a lock, and the time zone of the rows. After a timeout, the statement is tried
/// again.
const OPTIONS: &str =
    "-c statement_timeout=15000 -c lock_timeout=5000 -c timezone=UTC -c synchronous_commit=on";

/// A database.
pub(super) struct Postgresql {
    connection: DatabaseConnection,
    /// User and address, for error texts.
    name: String,
    tables: Tables,
    open: Option<Open>,
}

struct Open {
    client: Client,
    /// The insert statement of each table, with the session columns that the table has.
    inserts: Vec<(String, Vec<usize>)>,
}

enum Fault {
    Sql(Error),
    Wrong(LogError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

/// How errors name a database and the setting with its password.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatabaseUse {
    pub(crate) database: &'static str,
    pub(crate) password: &'static str,
}

impl DatabaseUse {
    pub(super) const LOG: Self = Self {
        database: "the database of the log",
        password: "SqlLogPassword",
    };
}

/// The settings of the connections to a database.
#[derive(Debug)]
pub(crate) struct DatabaseConnection {
    config: Config,
    /// `None` for connections without TLS.
    tls: Option<DatabaseTls>,
}

impl DatabaseConnection {
    /// Reads the files for TLS. Does not connect to the database.
    ///
    /// # Errors
    ///
    /// The address is invalid or contains a password, or TLS cannot be used as the address says.
    pub(crate) fn new(
        address: &str,
        password: Option<&Secret<String>>,
        of: DatabaseUse,
    ) -> Result<Self, LogError> {
        let refuse = |why: String| LogError(format!("{}: {why}", of.database));
        let (address, parameters) = TlsParameters::split(address).map_err(refuse)?;
        let mut config: Config = address
            .parse()
            // The library's error text quotes a part of the address, which may be the password. So it is not used.
            .map_err(|_| refuse("not the address of a PostgreSQL database".into()))?;
        if config.get_ssl_mode() != Config::new().get_ssl_mode() {
            let why = "sslmode cannot be read: write postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full, and %3F \
                       for a ? before";
            return Err(refuse(why.into()));
        }
        if config.get_password().is_some() {
            return Err(refuse(format!("set its password in {}", of.password)));
        }
        if config.get_dbname().is_none() {
            return Err(refuse("the address names no database".into()));
        }
        if config.get_options().is_some() {
            return Err(refuse("the address cannot have options".into()));
        }
        if config.get_ssl_negotiation() != SslNegotiation::Postgres {
            return Err(refuse("sslnegotiation=direct is not supported".into()));
        }
        if config.get_channel_binding() == ChannelBinding::Require {
            return Err(refuse("channel_binding=require is not supported".into()));
        }
        let hosts = config.get_hosts();
        let is_local = hosts.iter().any(|host| matches!(host, Host::Unix(_)));
        if parameters.is_required() && is_local {
            let why = "a socket of the same machine has no TLS: remove sslmode";
            return Err(refuse(why.into()));
        }
        if parameters.is_required() && hosts.is_empty() {
            let why = "TLS needs the name of the host: write it beside hostaddr";
            return Err(refuse(why.into()));
        }
        let has_name = !is_local && !hosts.is_empty();
        let tls = parameters.load().map_err(refuse)?.filter(|_| has_name);
        if let Some(password) = password {
            config.password(password.as_bytes());
        }
        config
            .ssl_mode(match tls {
                Some(_) => parameters.mode(),
                None => SslMode::Disable,
            })
            .application_name("fixwire")
            .options(OPTIONS)
            .connect_timeout(CONNECT)
            .tcp_user_timeout(SILENT)
            .keepalives_idle(SILENT / 3)
            .keepalives_interval(SILENT / 3)
            .keepalives_retries(2);
        Ok(Self { config, tls })
    }

    pub(crate) fn connect(&self) -> Result<Client, Error> {
        match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        }
    }

    /// The database and its address.
    pub(crate) fn shown(&self) -> String {
        let name = self.config.get_dbname().unwrap_or_default();
        format!(
            "PostgreSQL database {name} at {}",
            shown_hosts(&self.config)
        )
    }
}

/// Creates a table if it is missing. A user who may write to a table may lack the right to create one, even if it
/// exists.
///
/// # Errors
///
/// The database fails, or its user lacks the right.
pub(crate) fn create_missing(
    change: &mut Transaction<'_>,
    table: &str,
    create: &str,
) -> Result<(), Error> {
    let exists = change.query_one("SELECT to_regclass($1) IS NOT NULL", &[&table])?;
    if !exists.get::<_, bool>(0) {
        change.batch_execute(create)?;
    }
    Ok(())
}

impl Postgresql {
    pub(super) fn new(connection: DatabaseConnection, tables: Tables) -> Self {
        Self {
            name: connection.shown(),
            connection,
            tables,
            open: None,
        }
    }

    fn connect(&self) -> Result<Open, Fault> {
        let mut client = self.connection.connect()?;
        let mut change = client.transaction()?;
        let wanted: Vec<(&str, String)> = self
            .tables
            .names
            .iter()
            .map(|name| {
                (
                    &name[..],
                    table::create(name, "BIGSERIAL PRIMARY KEY", "TIMESTAMP"),
                )
            })
            .chain([(POSITIONS, table::create_positions())])
            .collect();
        for (name, create) in &wanted {
            create_missing(&mut change, name, create)?;
        }
        let mut inserts = Vec::with_capacity(self.tables.names.len());
        for name in &self.tables.names {
            let (columns, time) = columns(&mut change, name)?;
            let found = table::shape(name, &columns)
                .and_then(|found| Ok((found, time?)))
                .map_err(|error| Fault::Wrong(self.error(&error.to_string())))?;
            inserts.push((insert(name, &found.0), found.0));
        }
        change.commit()?;
        Ok(Open { client, inserts })
    }

    fn error(&self, why: &str) -> LogError {
        LogError(format!("{}: {why}", self.name))
    }

    fn say(&self, fault: Fault) -> LogError {
        match fault {
            Fault::Wrong(error) => error,
            Fault::Sql(error) => self.error(&reason(&error)),
        }
    }

    fn try_open(&mut self, journal: &str, from: JournalPosition) -> Result<JournalPosition, Fault> {
        let mut open = match self.open.take().filter(|open| !open.client.is_closed()) {
            Some(open) => open,
            None => self.connect()?,
        };
        let bits = from.bits().cast_signed();
        let first = format!(
            "INSERT INTO {POSITIONS} (journal, position) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        );
        open.client.execute(&first, &[&journal, &bits])?;
        let known = format!("SELECT position FROM {POSITIONS} WHERE journal = $1");
        let bits: i64 = open.client.query_one(&known, &[&journal])?.get(0);
        self.open = Some(open);
        Ok(JournalPosition::from_bits(bits.cast_unsigned()))
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
        let mut change = open.client.transaction()?;
        for (table, (statement, found)) in open.inserts.iter().enumerate() {
            let rows: Vec<&Row> = rows.iter().filter(|row| row.table == table).collect();
            if rows.is_empty() {
                continue;
            }
            // All rows of a table are written by one statement, so with one round trip.
            let times: Vec<SystemTime> = rows.iter().map(|row| moment(row.wall.0)).collect();
            let texts: Vec<&str> = rows.iter().map(|row| &row.text[..]).collect();
            let column = |at: &usize| -> Vec<&str> {
                rows.iter().map(|row| &row.session[*at][..]).collect()
            };
            let session: Vec<Vec<&str>> = found.iter().map(column).collect();
            let mut values: Vec<&(dyn ToSql + Sync)> = vec![&times, &texts];
            values.extend(session.iter().map(|it| it as &(dyn ToSql + Sync)));
            change.execute(statement, &values)?;
        }
        let moved =
            format!("UPDATE {POSITIONS} SET position = $1 WHERE journal = $2 AND position = $3");
        let (to, from) = (to.bits().cast_signed(), from.bits().cast_signed());
        if change.execute(&moved, &[&to, &journal, &from])? != 1 {
            let why = "another process has changed the log's position in this journal";
            return Err(Fault::Wrong(LogError(why.into())));
        }
        Ok(change.commit()?)
    }
}

impl Backend for Postgresql {
    fn open(&mut self, journal: &str, from: JournalPosition) -> Result<JournalPosition, LogError> {
        self.try_open(journal, from)
            .map_err(|fault| self.say(fault))
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

/// The columns of a table, and for each whether its type is suitable: a time for `time`, a text for the others.
fn columns(
    database: &mut postgres::Transaction<'_>,
    table: &str,
) -> Result<(Vec<Column>, Result<(), LogError>), Error> {
    let rows = database.query(
        "SELECT a.attname::text, a.attnotnull AND NOT a.atthasdef AND a.attidentity = '', \
                t.typcategory::text \
         FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
         WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped",
        &[&table],
    )?;
    let mut kinds = Ok(());
    let mut columns = Vec::with_capacity(rows.len());
    for row in rows {
        let (name, needed, category): (String, bool, String) = (row.get(0), row.get(1), row.get(2));
        let wanted = match &name[..] {
            "time" => "D",
            "text" => "S",
            other if SESSION.contains(&other) => "S",
            _ => &category[..],
        };
        if category != wanted {
            let kind = if wanted == "D" { "timestamp" } else { "text" };
            kinds = Err(LogError(format!(
                "column {name} of table {table} does not have the type {kind}"
            )));
        }
        columns.push(Column { name, needed });
    }
    Ok((columns, kinds))
}

fn insert(table: &str, found: &[usize]) -> String {
    let names: String = found
        .iter()
        .map(|at| format!(", {}", SESSION[*at]))
        .collect();
    let places: String = (0..found.len())
        .map(|at| format!(", ${}::text[]", at + 3))
        .collect();
    let values: String = (0..found.len()).map(|at| format!(", s{at}")).collect();
    format!(
        "INSERT INTO {table} (time, text{names}) SELECT w, t{values} \
         FROM unnest($1::timestamptz[], $2::text[]{places}) WITH ORDINALITY AS r (w, t{values}, n) \
         ORDER BY n"
    )
}

fn moment(nanos: i64) -> SystemTime {
    let span = Duration::from_nanos(nanos.unsigned_abs());
    match nanos {
        0.. => UNIX_EPOCH + span,
        _ => UNIX_EPOCH - span,
    }
}

/// The text of the error. The server's details are left out, because they may contain values of a row.
pub(crate) fn reason(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        let hint = match *error.code() {
            SqlState::INSUFFICIENT_PRIVILEGE => {
                " (the database user must be allowed to read and write its tables, and to create \
                missing ones)"
            }
            SqlState::STRING_DATA_RIGHT_TRUNCATION => " (make the table's columns wider)",
            _ => "",
        };
        return format!("{}{hint}", error.message());
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn shown_hosts(config: &Config) -> String {
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
    let host = |(at, host): (usize, &Host)| match host {
        Host::Tcp(host) => format!("{host}:{}", port(at)),
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    hosts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_whole_and_has_no_secrets() {
        let said = |address: &str| match DatabaseConnection::new(address, None, DatabaseUse::LOG) {
            Ok(connection) => shown_hosts(&connection.config),
            Err(error) => error.to_string(),
        };
        assert_eq!(said("postgresql://me@db:6543/fix"), "db:6543");
        assert_eq!(said("postgres://me@db/fix?sslmode=prefer"), "db:5432");
        assert_eq!(
            said("postgresql://fix@/fix?host=/run/postgresql"),
            "/run/postgresql"
        );
        assert_eq!(
            said("postgresql://fix@/fix?host=/run/postgresql&sslmode=prefer"),
            "/run/postgresql"
        );
        for (address, why) in [
            ("postgresql://me:hunter2@db/fix", "SqlLogPassword"),
            ("postgresql://me@db/fix?password=hunter2", "SqlLogPassword"),
            (
                "postgresql://me@db/fix?sslmode=hunter2",
                "has none of the values",
            ),
            (
                "postgresql://me@/fix?host=/run/postgresql&sslmode=require",
                "has no TLS: remove sslmode",
            ),
            (
                "postgresql://me@/fix?hostaddr=10.0.0.1&sslmode=require",
                "TLS needs the name of the host",
            ),
            (
                "postgresql://a?b@db/fix?sslmode=require",
                "sslmode cannot be read",
            ),
            (
                "postgresql://me@db/fix?ssl%6dode=require",
                "sslmode cannot be read",
            ),
            (
                "host=db user=me dbname=fix sslmode=require",
                "sslmode cannot be read",
            ),
            (
                "postgresql://me@db/fix?sslnegotiation=direct",
                "sslnegotiation=direct is not supported",
            ),
            (
                "postgresql://me@db/fix?channel_binding=require",
                "channel_binding=require is not supported",
            ),
            ("postgresql://me@db", "names no database"),
            ("postgresql://me@db/fix?options=-c", "cannot have options"),
            ("postgresql://me@db:hunter2/fix", "not the address"),
        ] {
            let said = said(address);
            assert!(said.contains(why), "{address}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
