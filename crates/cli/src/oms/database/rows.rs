//! The tables of trading days in a database, and a batch of their rows.

use std::collections::BTreeMap;

use fixwire::journal::{JournalPosition, Record};
use fixwire::log::{RowColumn, RowDay, RowKind, RowTable, TableRow};
use fixwire_oms::day::{ACTION_COLUMNS, DayColumn, DayColumnKind, DayTable, DayTableRow, DayValue};

use super::super::day::files::{ACTION_TABLE, shown};

/// The version of the tables. The version must change when tables or columns change.
pub(super) const VERSION: i32 = 1;

/// The places of the last two tables.
const ACTIONS: usize = DayTable::ALL.len();
const DAYS: usize = ACTIONS + 1;

fn whole(name: &str) -> RowColumn {
    RowColumn {
        name: name.into(),
        kind: RowKind::Whole,
    }
}

/// The column of a table for a column of a day's file.
fn column(column: &DayColumn) -> RowColumn {
    let name = match column.name {
        // Words of SQL.
        "order" => "order_number".to_owned(),
        "limit" => "limit_value".to_owned(),
        name => name.to_ascii_lowercase(),
    };
    let kind = match column.kind {
        DayColumnKind::Text => RowKind::Text,
        DayColumnKind::Whole => RowKind::Whole,
        DayColumnKind::Decimal => RowKind::Decimal,
        DayColumnKind::Time => RowKind::Time,
    };
    RowColumn { name, kind }
}

/// Number of columns that are the key of the file's table; 0 when the key is the number of an event.
fn keys(table: DayTable) -> usize {
    match table {
        DayTable::Orders => 1,
        DayTable::Rejected | DayTable::Fills => 0,
        DayTable::Positions | DayTable::Limits => 2,
    }
}

/// All tables: one for each file of a day, one for the actions of operators, and one for the days.
pub(super) fn tables() -> Vec<RowTable> {
    let table = |table: &DayTable| {
        let event = (keys(*table) == 0).then(|| whole("event"));
        let columns = table.columns().iter().map(column);
        RowTable {
            name: table.name().into(),
            columns: event.into_iter().chain(columns).collect(),
            keys: keys(*table).max(1),
        }
    };
    let actions = ACTION_COLUMNS.iter().map(column);
    let actions = RowTable {
        name: ACTION_TABLE.into(),
        columns: [whole("journal_position")]
            .into_iter()
            .chain(actions)
            .collect(),
        keys: 1,
    };
    let days = RowTable {
        name: "days".into(),
        columns: vec![whole("first_event"), whole("last_event")],
        keys: 0,
    };
    let tables = DayTable::ALL.iter().map(table);
    tables.chain([actions, days]).collect()
}

/// The key of a row: its table, its day, and the values of its key columns.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct RowKey {
    table: usize,
    day: u32,
    values: Vec<Option<String>>,
}

/// Rows of one transaction.
#[derive(Debug, Default)]
pub(super) struct RowBatch {
    rows: BTreeMap<RowKey, TableRow>,
}

impl RowBatch {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn put(&mut self, table: usize, keys: usize, day: u32, values: Vec<Option<String>>) {
        let key = RowKey {
            table,
            day,
            values: values[..keys].to_vec(),
        };
        let day = shown(day);
        self.rows.insert(key, TableRow { day, values });
    }

    /// Adds a row of a day. A row with the same key is replaced.
    pub(super) fn add(&mut self, day: RowDay, row: &DayTableRow) {
        let keys = keys(row.table);
        let event = row.event.map(|event| Some(event.to_string()));
        // A key column is not null.
        let values = row.row.iter().enumerate();
        let values = values.map(|(at, value)| match value {
            DayValue::Text(text) if text.is_empty() && at >= keys => None,
            DayValue::Text(text) => Some(without_nul(text)),
            DayValue::Time(time) => time.map(|time| time.to_string()),
        });
        let values = event.into_iter().chain(values).collect();
        let table = DayTable::ALL.iter().position(|it| *it == row.table);
        self.put(table.unwrap_or_default(), keys.max(1), day.date, values);
    }

    /// Adds the action of an operator.
    pub(super) fn add_action(&mut self, day: RowDay, session: &str, record: &Record<'_>) {
        let at: JournalPosition = record.at;
        let values = [
            at.bits().cast_signed().to_string(),
            record.wall.0.to_string(),
            without_nul(session),
            without_nul(&String::from_utf8_lossy(record.body)),
        ];
        self.put(ACTIONS, 1, day.date, values.map(Some).into());
    }

    /// Adds the row of the table `days`, with the first and the last event of a day.
    pub(super) fn add_day(&mut self, day: RowDay, last: u64) {
        let values = [day.first, last].map(|event| Some(event.to_string()));
        self.put(DAYS, 0, day.date, values.into());
    }

    /// The rows of each table. Empties the batch.
    pub(super) fn take(&mut self) -> Vec<Vec<TableRow>> {
        let mut tables = vec![Vec::new(); DAYS + 1];
        for (key, row) in std::mem::take(&mut self.rows) {
            tables[key.table].push(row);
        }
        tables
    }
}

/// PostgreSQL has no byte 0 in texts.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_has_the_columns_of_its_file() {
        let tables = tables();
        for (table, of) in tables.iter().zip(DayTable::ALL) {
            let own = table.columns.len() - of.columns().len();
            assert_eq!(own, usize::from(keys(of) == 0));
            assert_eq!(table.name, of.name());
        }
        let orders: Vec<&str> = tables[0].columns.iter().map(|it| &it.name[..]).collect();
        assert_eq!(orders[..3], ["order_number", "session", "clordid"]);
        assert_eq!(
            (&tables[ACTIONS].name[..], &tables[DAYS].name[..]),
            ("actions", "days")
        );
    }

    #[test]
    fn a_row_replaces_the_one_with_its_key() {
        let day = RowDay {
            date: 20_261_123,
            first: 7,
        };
        let mut batch = RowBatch::default();
        let row = |event, text: &str| DayTableRow {
            table: DayTable::Rejected,
            event: Some(event),
            row: vec![DayValue::Time(Some(5)), DayValue::Text(text.into())],
        };
        batch.add(day, &row(8, ""));
        batch.add(day, &row(8, "a\0b"));
        batch.add(day, &row(9, ""));
        batch.add_day(day, 9);
        assert_eq!(batch.len(), 3);
        let tables = batch.take();
        fn values(row: &TableRow) -> Vec<Option<&str>> {
            row.values.iter().map(Option::as_deref).collect()
        }
        assert_eq!(
            values(&tables[1][0]),
            [Some("8"), Some("5"), Some("a\u{fffd}b")]
        );
        assert_eq!(values(&tables[1][1]), [Some("9"), Some("5"), None]);
        assert_eq!(values(&tables[DAYS][0]), [Some("7"), Some("9")]);
        assert_eq!((&tables[DAYS][0].day[..], batch.len()), ("2026-11-23", 0));
    }
}
