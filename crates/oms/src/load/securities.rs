//! Identifiers and reference data in the file of instruments.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::is_name;
use crate::values::day;
use crate::values::rules::security::{Maturity, SecurityData, SecurityId};

/// The columns, in the order in which [`security`] gets their cells.
pub(super) const COLUMNS: [&str; 11] = [
    "isin",
    "cusip",
    "sedol",
    "ric",
    "figi",
    "security_id",
    "security_id_source",
    "exchange",
    "type",
    "maturity",
    "expires",
];

/// The columns of identifiers that have a SecurityIDSource(22) of their own: the column, the source, and the number of
/// letters and digits; 0 for any number.
const SOURCES: [(&str, &str, usize); 5] = [
    ("isin", "4", 12),
    ("cusip", "1", 9),
    ("sedol", "2", 7),
    ("ric", "5", 0),
    ("figi", "S", 12),
];

type Mistake = (String, &'static str);

/// Reads the cells of [`COLUMNS`].
pub(super) fn security(cells: &[Option<&str>]) -> Result<SecurityData, Mistake> {
    let [
        isin,
        cusip,
        sedol,
        ric,
        figi,
        id,
        source,
        exchange,
        kind,
        maturity,
        expires,
    ] = *cells
    else {
        return Ok(SecurityData::default());
    };
    let mut ids = Vec::new();
    let own = SOURCES.iter().zip([isin, cusip, sedol, ric, figi]);
    for (&(column, source, length), cell) in own {
        if let Some(cell) = cell {
            ids.push(SecurityId {
                source: source.into(),
                id: identifier(column, cell, length)?.into(),
            });
        }
    }
    match (id, source) {
        (None, None) => {}
        (Some(id), Some(source)) => {
            let source = identifier("security_id_source", source, 0)?;
            let id = identifier("security_id", id, 0)?;
            if let Some((column, ..)) = SOURCES.iter().find(|it| it.1 == source) {
                let what = format!("security_id_source {source} has the column {column}");
                return Err((what, "write the identifier into the column of its source"));
            }
            ids.push(SecurityId {
                source: source.into(),
                id: id.into(),
            });
        }
        (Some(_), None) | (None, Some(_)) => {
            let what = "security_id and security_id_source must both have a value".into();
            return Err((what, "they are SecurityID(48) and SecurityIDSource(22)"));
        }
    }
    let name = |column: &str, cell: Option<&str>| {
        let name = cell.map(|cell| identifier(column, cell, 0).map(String::from));
        name.transpose()
    };
    Ok(SecurityData {
        ids,
        exchange: name("exchange", exchange)?,
        kind: name("type", kind)?,
        maturity: maturity.map(maturity_of).transpose()?,
        expires: expires
            .map(|text| {
                let hint = "write the first trading day without new orders: 2026-12-18";
                day::parse(text).ok_or_else(|| (format!("expires {text} is not a day"), hint))
            })
            .transpose()?,
        multiplier: None,
    })
}

fn identifier<'a>(column: &str, cell: &'a str, length: usize) -> Result<&'a str, Mistake> {
    let is_short = cell.len() <= crate::values::value::Text::MAX;
    if !is_name(cell) || !cell.is_ascii() || !is_short {
        let what = format!(
            "{column} {cell} must be at most {} ASCII characters without blanks and =",
            crate::values::value::Text::MAX
        );
        return Err((what, ""));
    }
    let is_code = cell.bytes().all(|it| it.is_ascii_alphanumeric());
    if length > 0 && (cell.len() != length || !is_code) {
        let what = format!("{column} {cell} must have {length} letters and digits");
        return Err((what, ""));
    }
    Ok(cell)
}

fn maturity_of(text: &str) -> Result<Maturity, Mistake> {
    let first = format!("{text}-01");
    let month = || day::parse(&first).map(|first| Maturity::Month(first / 100));
    let found = day::parse(text).map(Maturity::Day).or_else(month);
    found.ok_or_else(|| {
        let hint = "write a month, 2026-12, or a day, 2026-12-18";
        (format!("maturity {text} is not a month or a day"), hint)
    })
}
