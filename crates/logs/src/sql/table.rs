//! The tables of a log: their columns, and checks of tables that exist already.

use fixwire_engine::log::LogError;

use super::names::POSITIONS;

/// The columns that state the session of a row, in the order of [`Session::columns`](super::rows::Session). QuickFIX
/// has four of them, QuickFIX/J has all.
pub(super) const SESSION: [&str; 8] = [
    "beginstring",
    "sendercompid",
    "sendersubid",
    "senderlocid",
    "targetcompid",
    "targetsubid",
    "targetlocid",
    "session_qualifier",
];
/// The session columns that a table may lack.
const OPTIONAL: [&str; 4] = ["sendersubid", "senderlocid", "targetsubid", "targetlocid"];

/// The names of the tables. Incoming and outgoing messages may share one table.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// Names of the tables, each once.
    pub(super) names: Vec<String>,
    /// Index in `names` of the table for incoming messages.
    pub(super) incoming: usize,
    /// Index in `names` of the table for outgoing messages.
    pub(super) outgoing: usize,
    /// Index in `names` of the table for events.
    pub(super) events: usize,
}

impl Tables {
    /// The tables for incoming messages, outgoing messages, and events.
    pub(super) fn new([incoming, outgoing, events]: [&str; 3]) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut place = |name: &str| {
            let known = names.iter().position(|it| it.eq_ignore_ascii_case(name));
            known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let (incoming, outgoing) = (place(incoming), place(outgoing));
        let events = place(events);
        Self {
            names,
            incoming,
            outgoing,
            events,
        }
    }
}

/// A column of a table that exists.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether a new row must have a value in this column.
    pub(super) needed: bool,
}

/// The columns in [`SESSION`] that a table has.
///
/// # Errors
///
/// The table is not the table of a log: a column is missing, or an additional column requires a value.
pub(super) fn shape(table: &str, columns: &[Column]) -> Result<Vec<usize>, LogError> {
    let has = |name: &str| columns.iter().any(|it| it.name.eq_ignore_ascii_case(name));
    let refuse = |why: String| {
        Err(LogError(format!(
            "table {table} is not a QuickFIX log table: {why}; configure another table, or the \
            name of a new table, which the log then creates"
        )))
    };
    let wanted = SESSION.iter().filter(|it| !OPTIONAL.contains(it));
    for name in wanted.chain(&["time", "text"]) {
        if !has(name) {
            return refuse(format!("it has no column {name}"));
        }
    }
    let known = |name: &str| {
        SESSION
            .iter()
            .chain(&["time", "text"])
            .any(|it| it.eq_ignore_ascii_case(name))
    };
    if let Some(other) = columns.iter().find(|it| it.needed && !known(&it.name)) {
        return refuse(format!("its column {} needs a value", other.name));
    }
    Ok((0..SESSION.len()).filter(|at| has(SESSION[*at])).collect())
}

/// The statement that creates a table. `id` is the type of the first column, which counts the rows; `time` is the
/// type of a time.
pub(super) fn create(table: &str, id: &str, time: &str) -> String {
    let session = SESSION
        .map(|name| format!("{name} TEXT NOT NULL, "))
        .concat();
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (id {id}, time {time} NOT NULL, {session}text TEXT NOT NULL)"
    )
}

/// The statement that creates the table of positions.
pub(super) fn create_positions() -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {POSITIONS} (journal TEXT PRIMARY KEY, position BIGINT NOT NULL)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, needed: bool) -> Column {
        let name = name.to_owned();
        Column { name, needed }
    }

    #[test]
    fn the_tables_of_both_engines_are_taken_and_others_are_not() {
        let quickfix = [
            "time",
            "beginstring",
            "sendercompid",
            "targetcompid",
            "SESSION_QUALIFIER",
            "text",
        ];
        let mut columns: Vec<Column> = quickfix.map(|name| column(name, true)).into();
        columns.push(column("id", false));
        assert_eq!(shape("t", &columns), Ok(vec![0, 1, 4, 7]));
        columns.extend(OPTIONAL.map(|name| column(name, true)));
        assert_eq!(shape("t", &columns), Ok((0..8).collect()));
        columns.push(column("time_milliseconds", true));
        let error = shape("t", &columns).unwrap_err().to_string();
        assert!(
            error.contains("its column time_milliseconds needs a value"),
            "{error}"
        );
        let error = shape("t", &columns[1..]).unwrap_err().to_string();
        assert!(error.contains("it has no column time"), "{error}");
    }
}
