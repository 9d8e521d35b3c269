//! The names of instruments and accounts at a venue: the CSV files `symbols` and `accounts` of a line group.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_text::{Diagnostic, TomlValue};

use super::Reader;
use super::oms::CsvText;
use super::table::{self, Row};
use crate::state::orders::venue_names::{NAME_MAX, is_same_instrument, value_of};
use crate::values::rules::{NamePlaces, VenueNameFile, VenueNameRule};
use crate::values::value::Text;

const SYMBOL_COLUMNS: [&str; 4] = [
    "venue_symbol",
    "security_id",
    "security_id_source",
    "exchange",
];

/// The fields of an account that orders may have at a venue: AcctIDSource, AccountType, CustOrderCapacity,
/// OrderCapacity, OrderRestrictions, Rule80A, ClientID, ExecBroker, ClearingFirm, ClearingAccount,
/// ClearingFeeIndicator.
const ACCOUNT_COLUMNS: [&str; 11] = [
    "660", "581", "582", "528", "529", "47", "109", "76", "439", "440", "635",
];

type Mistake = (String, &'static str);
/// Mistakes with the line numbers of their rows.
type RowMistakes = Vec<(usize, Mistake)>;

/// A row with its line number.
struct NameRow {
    rule: VenueNameRule,
    line: usize,
}

/// Reads a file of names; `row` makes the fields of a row, and `check` compares all rows.
fn read(
    reader: &mut Reader<'_>,
    value: TomlValue<'_>,
    columns: (&[&str], &[&str]),
    row: fn(&Reader<'_>, &Row<'_>) -> Result<String, Mistake>,
    check: fn(&Reader<'_>, &[NameRow], &mut RowMistakes),
) -> Result<VenueNameFile, Diagnostic> {
    let Some(CsvText { file, text }) = reader.open_csv(value)? else {
        return Err(value.wrong(format!("{} must be the name of a CSV file", value.key), ""));
    };
    let mut errors = Vec::new();
    let mut rows = Vec::new();
    match table::read(file, &text) {
        Err(error) => errors.push(error),
        Ok(cells) => {
            let mut wrong = Vec::new();
            let mut seen = BTreeMap::new();
            for it in table::rows(file, &cells, columns.0, columns.1, &mut errors) {
                let name = it.cells[0].unwrap_or_default();
                let fields = match seen.insert(name, it.line) {
                    Some(before) => Err((
                        format!("{name} is listed twice, also in line {before}"),
                        "leave one row",
                    )),
                    None => row(reader, &it),
                };
                match fields {
                    Ok(fields) => rows.push(NameRow {
                        rule: VenueNameRule {
                            name: name.into(),
                            fields: fields.into_bytes().into(),
                        },
                        line: it.line,
                    }),
                    Err(mistake) => wrong.push((it.line, mistake)),
                }
            }
            check(reader, &rows, &mut wrong);
            let wrong = wrong.into_iter();
            errors.extend(
                wrong.map(|(line, (what, hint))| Diagnostic::in_file(file, line, what, hint)),
            );
        }
    }
    for mut error in errors {
        error.at = value.at;
        reader.errors.push(error);
    }
    Ok(VenueNameFile {
        file: file.into(),
        places: NamePlaces {
            at: value.at,
            lines: rows.iter().map(|row| row.line).collect(),
        },
        rows: rows.into_iter().map(|row| row.rule).collect(),
    })
}

/// Reads the file `symbols` of a line group.
pub(super) fn symbols(
    reader: &mut Reader<'_>,
    value: TomlValue<'_>,
) -> Result<VenueNameFile, Diagnostic> {
    let columns = (&["symbol"][..], &SYMBOL_COLUMNS[..]);
    read(reader, value, columns, symbol, check_symbols)
}

/// Reads the file `accounts` of a line group.
pub(super) fn accounts(
    reader: &mut Reader<'_>,
    value: TomlValue<'_>,
) -> Result<VenueNameFile, Diagnostic> {
    let columns = (&["account", "venue_account"][..], &ACCOUNT_COLUMNS[..]);
    read(reader, value, columns, account, |_, _, _| {})
}

fn symbol(reader: &Reader<'_>, row: &Row<'_>) -> Result<String, Mistake> {
    let symbol = row.cells[0].unwrap_or_default();
    if !reader.has_symbol(symbol) {
        let hint = "see the file of instruments";
        return Err((format!("unknown symbol {symbol}"), hint));
    }
    let [_, venue_symbol, id, source, exchange] = *row.cells else {
        return Ok(String::new());
    };
    if id.is_some() != source.is_some() {
        let what = "security_id and security_id_source must both have a value".into();
        return Err((what, "they are SecurityID(48) and SecurityIDSource(22)"));
    }
    if venue_symbol.is_none() && id.is_none() && exchange.is_none() {
        let what = format!("{symbol} has no name at the venue");
        return Err((what, "write its venue_symbol, or remove the row"));
    }
    let mut fields = String::new();
    put(
        &mut fields,
        "55",
        "venue_symbol",
        venue_symbol.unwrap_or(symbol),
    )?;
    for (tag, column, cell) in [
        ("48", SYMBOL_COLUMNS[1], id),
        ("22", SYMBOL_COLUMNS[2], source),
        ("207", SYMBOL_COLUMNS[3], exchange),
    ] {
        if let Some(cell) = cell {
            put(&mut fields, tag, column, cell)?;
        }
    }
    Ok(fields)
}

fn account(reader: &Reader<'_>, row: &Row<'_>) -> Result<String, Mistake> {
    let account = row.cells[0].unwrap_or_default();
    if !reader.has_account(account) {
        return Err((format!("unknown account {account}"), "see [[account]]"));
    }
    let mut fields = String::new();
    put(
        &mut fields,
        "1",
        "venue_account",
        row.cells[1].unwrap_or_default(),
    )?;
    for (tag, cell) in ACCOUNT_COLUMNS.iter().zip(&row.cells[2..]) {
        if let Some(cell) = cell {
            put(&mut fields, tag, tag, cell)?;
        }
    }
    if fields.len() > NAME_MAX {
        let what = format!("the fields of {account} have more than {NAME_MAX} bytes");
        return Err((what, "leave out columns, or write shorter values"));
    }
    Ok(fields)
}

/// Adds a field; its value is printable ASCII text.
fn put(to: &mut String, tag: &str, column: &str, value: &str) -> Result<(), Mistake> {
    let is_text = value.bytes().all(|it| it == b' ' || it.is_ascii_graphic());
    if !is_text || value.len() > Text::MAX {
        let what = format!(
            "{column} {value} must be at most {} printable ASCII characters",
            Text::MAX
        );
        return Err((what, ""));
    }
    to.push_str(&format!("{tag}={value}\u{1}"));
    Ok(())
}

/// Checks that a report of the venue can name only one instrument by the fields of each row.
fn check_symbols(reader: &Reader<'_>, rows: &[NameRow], wrong: &mut RowMistakes) {
    let value = |row: &NameRow, tag: u32| value_of(&row.rule.fields, tag).map(Vec::from);
    let named: BTreeSet<&str> = rows.iter().map(|row| row.rule.name.as_str()).collect();
    // The rows read before this row, by Symbol(55), and by SecurityIDSource(22) and SecurityID(48).
    let mut before: BTreeMap<(Vec<u8>, Vec<u8>), Vec<&NameRow>> = BTreeMap::new();
    for row in rows {
        let symbol = value(row, 55).unwrap_or_default();
        let id = value(row, 22).zip(value(row, 48));
        let same = |key: &(Vec<u8>, Vec<u8>)| {
            let mut others = before.get(key).into_iter().flatten();
            others.find(|other| is_same_instrument(&row.rule.fields, &other.rule.fields))
        };
        let by_symbol = (Vec::new(), symbol.clone());
        let (name, text) = (&row.rule.name, String::from_utf8_lossy(&symbol));
        if let Some(other) = id.as_ref().and_then(same) {
            let part = |tag| value(row, tag).unwrap_or_default();
            let what = format!(
                "{name} has SecurityID(48) {} with SecurityIDSource(22) {}, as {} in line {}",
                String::from_utf8_lossy(&part(48)),
                String::from_utf8_lossy(&part(22)),
                other.rule.name,
                other.line
            );
            let hint = "give each another security_id or exchange";
            wrong.push((row.line, (what, hint)));
        } else if let Some(other) = same(&by_symbol) {
            let what = format!(
                "{name} has the venue_symbol {text}, as {} in line {}",
                other.rule.name, other.line
            );
            let hint = "give each another venue_symbol, security_id or exchange";
            wrong.push((row.line, (what, hint)));
        } else if text != *name && reader.has_symbol(&text) && !named.contains(&*text) {
            let what =
                format!("{name} has the venue_symbol {text}, which is also a symbol without a row");
            wrong.push((row.line, (what, "add a row for that symbol")));
        }
        for key in id.into_iter().chain([by_symbol]) {
            before.entry(key).or_default().push(row);
        }
    }
}
