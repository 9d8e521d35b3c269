//! Compares the rows in the database with the files of a day.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fixwire_journal::write_moment;
use fixwire_protocol::Timestamp;
use postgres::Client;

use super::server::Server;
use crate::oms::oms;
use crate::running::{SOON, fixwire};

/// The cells of a CSV file, with its head.
fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut is_quoted) = (vec![], vec![], String::new(), false);
    for c in text.replace("\"\"", "\0").chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\0' => cell.push('"'),
            c => cell.push(c),
        }
    }
    rows
}

/// A table of a day as its file has it, its head first.
pub fn of_file(folder: &Path, day: &str, table: &str) -> Vec<Vec<String>> {
    let to = folder.join("compared");
    let place = to.display().to_string();
    let (code, said) = oms(folder, "day", &["--day", day, "--to", &place]);
    assert_eq!(code, 0, "{said}");
    let mut rows = cells(&fs::read_to_string(to.join(format!("{table}.csv"))).unwrap());
    rows[1..].sort();
    rows
}

/// The same rows in the database, for the columns of a head.
fn of_database(
    database: &mut Client,
    prefix: &str,
    store: &str,
    day: &str,
    table: &str,
    head: &[String],
) -> Vec<Vec<String>> {
    let times = ["time", "venue_time", "entered", "closed"];
    let column = |name: &String| match &name[..] {
        "order" => "order_number".to_owned(),
        "limit" => "limit_value".to_owned(),
        time if times.contains(&time) => format!("{time}_ns"),
        name => name.to_ascii_lowercase(),
    };
    let columns: Vec<String> = head.iter().map(column).collect();
    let texts = columns
        .iter()
        .map(|name| format!("coalesce({name}::text, '')"));
    let texts: Vec<String> = texts.collect();
    let select = format!(
        "SELECT {} FROM {prefix}{table} WHERE store = $1 AND day = $2::text::date",
        texts.join(", ")
    );
    let rows = database.query(&select, &[&store, &day]).unwrap();
    let row = |row: &postgres::Row| {
        let values = columns.iter().enumerate().map(|(at, name)| {
            let text: String = row.get(at);
            match name.ends_with("_ns") && !text.is_empty() {
                true => {
                    let mut moment = Vec::new();
                    write_moment(&mut moment, Timestamp(text.parse().unwrap())).unwrap();
                    String::from_utf8(moment).unwrap()
                }
                false => text,
            }
        });
        values.collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    rows.sort();
    rows
}

pub fn store_id(folder: &Path) -> String {
    fs::read_to_string(folder.join("oms-store/oms-database/store.id")).unwrap()
}

/// Waits until these tables of a day have the rows of its files. Returns how many rows they have.
pub fn same(server: &Server, prefix: &str, folder: &Path, day: &str, tables: &[&str]) -> usize {
    let deadline = Instant::now() + SOON;
    let mut database = server.connect().unwrap();
    loop {
        let differs = match compared(&mut database, prefix, folder, day, tables) {
            Ok(rows) => return rows,
            Err(differs) => differs,
        };
        assert!(Instant::now() < deadline, "{day}: {differs}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The database has a row for each order that the client sent and each fill that the OMS reported, as the messages of the
/// journal have them.
pub fn same_as_journal(server: &Server, prefix: &str, folder: &Path, day: &str, least: usize) {
    let of_journal = |query: &str, tag: &str| -> BTreeSet<String> {
        let mut grep = fixwire();
        let grep = grep
            .args(["log", "grep", query])
            .arg(folder.join("oms-store"));
        let grep = grep.output().unwrap();
        assert!(grep.status.success(), "{query}");
        let text = String::from_utf8(grep.stdout).unwrap();
        let values = text.lines().map(|line| {
            let start = line.find(tag).expect(line) + tag.len();
            line[start..].split('|').next().unwrap().to_owned()
        });
        values.collect()
    };
    let orders = of_journal("35=D 49=CLIENT", "|11=");
    let partial = of_journal("35=8 56=CLIENT 150=1", "|17=");
    let fills: BTreeSet<String> = of_journal("35=8 56=CLIENT 150=2", "|17=");
    let fills: BTreeSet<String> = fills.union(&partial).cloned().collect();
    assert!(orders.len() >= least && fills.len() >= least / 2);
    let mut database = server.connect().unwrap();
    let store = store_id(folder);
    let mut column = |select: &str| -> Vec<String> {
        let select = select.replace("oms_", prefix);
        let rows = database.query(&select, &[&store, &day]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    };
    let of_day = "WHERE store = $1 AND day = $2::text::date";
    let execs = column(&format!(
        "SELECT execid FROM oms_fills {of_day} ORDER BY execid COLLATE \"C\""
    ));
    assert_eq!(execs, fills.into_iter().collect::<Vec<_>>());
    let entered = column(&format!(
        "SELECT order_number::text FROM oms_orders {of_day}"
    ));
    let rejected = column(&format!("SELECT clordid FROM oms_rejected {of_day}"));
    assert_eq!(entered.len() + rejected.len(), orders.len());
    assert!(rejected.iter().all(|id| orders.contains(id)));
}

/// The number of rows of these tables, which are those of the files of a day; otherwise how they differ now.
fn compared(
    database: &mut Client,
    prefix: &str,
    folder: &Path,
    day: &str,
    tables: &[&str],
) -> Result<usize, String> {
    let days = format!("{prefix}days");
    let exists = "SELECT to_regclass($1) IS NOT NULL";
    if !database
        .query_one(exists, &[&days])
        .unwrap()
        .get::<_, bool>(0)
    {
        return Err("there are no tables".into());
    }
    // The rows of an ended day come with the first event of the next one.
    let later = format!("SELECT count(*) FROM {days} WHERE day > $1::text::date");
    let is_last = database
        .query_one(&later, &[&day])
        .unwrap()
        .get::<_, i64>(0)
        == 0;
    if is_last && tables.contains(&"positions") {
        return Err("the next day has not begun".into());
    }
    let mut count = 0;
    let store = store_id(folder);
    let tables = tables.iter().copied().chain(["day"]);
    for table in tables {
        let (mut file, mut in_database) = (of_file(folder, day, table), table);
        if table == "day" {
            in_database = "days";
            file.iter_mut().for_each(|row| drop(row.remove(0)));
        }
        let head = file.remove(0);
        let rows = of_database(database, prefix, &store, day, in_database, &head);
        if rows != file {
            let differ = rows.iter().zip(&file).find(|(row, wanted)| row != wanted);
            let (is, wanted) = (rows.len(), file.len());
            return Err(format!(
                "{table}: {is} rows, and {wanted} in the file: {differ:?}"
            ));
        }
        count += rows.len();
    }
    Ok(count)
}
