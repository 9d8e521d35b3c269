//! CSV files with the positions of a clearing house, or with fills of a venue or a drop copy.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Decimal, Timestamp};
use fixwire_text::Diagnostic;

use super::{PositionQuantities, signed};
use crate::load::is_name;
use crate::load::table::{self, Row};

/// A row of a file of positions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClearingRow {
    /// The row's line in the file.
    pub line: usize,
    /// Account(1).
    pub account: String,
    /// Symbol(55).
    pub symbol: String,
    /// Long quantity, a decimal.
    pub long: String,
    /// Short quantity, a decimal.
    pub short: String,
}

/// A file of positions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ClearingFile {
    /// The meaning of the file's quantities, if the file has the column `kind`.
    pub quantities: Option<PositionQuantities>,
    /// The time of the file's totals, if the file has the column `as_of`, in nanoseconds since 1970.
    pub as_of: Option<i64>,
    /// Whether the file has the columns `long` and `short`. One of the columns `long` and `short` may be missing.
    pub has: [bool; 2],
    /// The rows without a mistake in their form.
    pub rows: Vec<ClearingRow>,
    /// Every mistake in the form of the file, with its line and column.
    pub mistakes: Vec<Diagnostic>,
}

/// A fill of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClearingFill {
    /// The fill's line in the file.
    pub line: usize,
    /// Account(1).
    pub account: String,
    /// Symbol(55).
    pub symbol: String,
    /// Whether it is a purchase.
    pub buys: bool,
    /// LastQty(32), a decimal.
    pub quantity: String,
}

/// Reads a time such as `2026-11-29T22:00:00Z` or `20261129-22:00:00`, in UTC; returns nanoseconds since 1970.
///
/// # Errors
///
/// The form in which to write the time.
pub fn moment(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text} is not a moment in UTC such as 2026-11-29T22:00:00Z");
    let plain = match text.split_once('T') {
        Some((date, time)) => {
            let time = time.strip_suffix('Z').ok_or_else(wrong)?;
            let digits: String = date.split('-').collect();
            let is_date = date.len() == 10 && digits.len() == 8;
            is_date
                .then(|| format!("{digits}-{time}"))
                .ok_or_else(wrong)?
        }
        None => text.to_string(),
    };
    let parsed = Timestamp::parse(plain.as_bytes()).map_err(|_| wrong())?;
    Ok(parsed.0)
}

/// The mistakes of a file, and the position of the next mistake.
struct Reader<'f> {
    file: &'f str,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn wrong(&mut self, row: &Row<'_>, what: impl Into<String>, hint: &str) {
        let error = Diagnostic::in_file(self.file, row.line, what, hint);
        self.errors.push(error);
    }

    /// The account and symbol of a row.
    fn names(&mut self, row: &Row<'_>) -> Option<(String, String)> {
        let before = self.errors.len();
        let names = ["account", "symbol"].iter().zip(&row.cells);
        for (column, name) in names.filter_map(|(column, cell)| Some((column, (*cell)?))) {
            if !is_name(name) || name.contains(';') {
                let what = format!("{column} {name} must not contain blanks, = or ;");
                self.wrong(row, what, "");
            }
        }
        let name = |at: usize| row.cells[at].unwrap_or_default().to_string();
        (self.errors.len() == before).then(|| (name(0), name(1)))
    }

    /// A value that all rows of a file share.
    fn shared<'t>(
        &mut self,
        row: &Row<'t>,
        name: &str,
        at: usize,
        first: &mut Option<(usize, Option<&'t str>)>,
    ) -> Option<&'t str> {
        let cell = row.cells[at];
        match *first {
            None => *first = Some((row.line, cell)),
            Some((_, known)) if known == cell => return None,
            Some((line, _)) => {
                let what = format!("{name} differs from that of line {line}");
                self.wrong(row, what, "write one file for each");
                return None;
            }
        }
        cell
    }

    fn mistakes(mut self) -> Vec<Diagnostic> {
        let line = |error: &Diagnostic| error.file.as_ref().map(|(_, line)| *line);
        self.errors.sort_by_key(line);
        self.errors
    }
}

/// Reads a CSV file with `account,symbol,long,short`, and optionally `kind` (`totals` or `deltas`) and `as_of`. A
/// running OMS checks the values.
#[must_use]
pub fn position_rows(file: &str, text: &str) -> ClearingFile {
    let cells = match table::read(file, text) {
        Ok(cells) => cells,
        Err(error) => {
            return ClearingFile {
                mistakes: alloc::vec![error],
                ..ClearingFile::default()
            };
        }
    };
    let mut errors = Vec::new();
    let optional = ["long", "short", "kind", "as_of"];
    let rows = table::rows(file, &cells, &["account", "symbol"], &optional, &mut errors);
    let mut reader = Reader { file, errors };
    let mut done = ClearingFile {
        has: ["long", "short"].map(|name| cells.has_column(name)),
        ..ClearingFile::default()
    };
    if done.has == [false, false] {
        let what = "the columns long and short are missing";
        let error = Diagnostic::in_file(file, 1, what, "write one of them, or both");
        reader.errors.push(error);
    }
    let mut known = BTreeMap::new();
    let (mut kind, mut as_of) = (None, None);
    for row in &rows {
        let before = reader.errors.len();
        match reader.shared(row, "kind", 4, &mut kind) {
            None => {}
            Some("totals") => done.quantities = Some(PositionQuantities::Totals),
            Some("deltas") => done.quantities = Some(PositionQuantities::Deltas),
            Some(other) => reader.wrong(
                row,
                format!("kind {other} is unknown"),
                "write totals or deltas",
            ),
        }
        if let Some(text) = reader.shared(row, "as_of", 5, &mut as_of) {
            match moment(text) {
                Ok(at) => done.as_of = Some(at),
                Err(what) => reader.wrong(row, format!("as_of: {what}"), ""),
            }
        }
        let Some((account, symbol)) = reader.names(row) else {
            continue;
        };
        let mut quantity = |name: &str, at: usize| {
            let text = row.cells[at].unwrap_or("0");
            match signed(text) {
                Some(number) => number.normalized().to_string(),
                None => {
                    reader.wrong(row, format!("{name} {text} is not a number"), "");
                    String::new()
                }
            }
        };
        let (long, short) = (quantity("long", 2), quantity("short", 3));
        if let Some(first) = known.insert((account.clone(), symbol.clone()), row.line) {
            let what = format!("the position of {account} in {symbol} is in line {first} too");
            reader.wrong(row, what, "leave one row");
        }
        if reader.errors.len() == before {
            done.rows.push(ClearingRow {
                line: row.line,
                account,
                symbol,
                long,
                short,
            });
        }
    }
    if rows.is_empty() && reader.errors.is_empty() {
        let what = "the file has no row";
        let error = Diagnostic::in_file(file, 1, what, "write a row for each position");
        reader.errors.push(error);
    }
    done.mistakes = reader.mistakes();
    done
}

/// Whether a file has fills, which is so if its heading has the column `side`.
#[must_use]
pub fn has_fills(text: &str) -> bool {
    let mut lines = text.lines().map(|line| line.trim_start_matches('\u{feff}'));
    let heading = lines.find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    heading.is_some_and(|line| line.split(',').any(|name| name.trim() == "side"))
}

/// Reads a CSV file with `account,symbol,side,quantity`, and optionally `price` and `exec`, the ExecID(17).
///
/// # Errors
///
/// Every mistake in the form of the file, with its line and column.
pub fn fill_rows(file: &str, text: &str) -> Result<Vec<ClearingFill>, Vec<Diagnostic>> {
    let cells = table::read(file, text).map_err(|error| alloc::vec![error])?;
    let mut errors = Vec::new();
    let required = ["account", "symbol", "side", "quantity"];
    let rows = table::rows(file, &cells, &required, &["price", "exec"], &mut errors);
    let mut reader = Reader { file, errors };
    let mut known = BTreeMap::new();
    let mut fills = Vec::new();
    for row in &rows {
        let Some((account, symbol)) = reader.names(row) else {
            continue;
        };
        let buys = match row.cells[2].unwrap_or_default() {
            "buy" | "1" => true,
            "sell" | "sell short" | "sell short exempt" | "2" | "5" | "6" => false,
            other => {
                let what = format!("side {other} is unknown");
                reader.wrong(
                    row,
                    what,
                    "write buy, sell, sell short or sell short exempt, or Side(54): 1, 2, 5 or 6",
                );
                continue;
            }
        };
        let text = row.cells[3].unwrap_or_default();
        let quantity = Decimal::parse(text.as_bytes()).ok();
        let Some(quantity) = quantity.filter(|it| it.mantissa > 0) else {
            reader.wrong(row, format!("quantity {text} is not a number above 0"), "");
            continue;
        };
        if let Some(exec) = row.cells[5]
            && let Some(first) = known.insert(exec, row.line)
        {
            let what = format!("exec {exec} is in line {first} too");
            reader.wrong(row, what, "leave one row");
        }
        fills.push(ClearingFill {
            line: row.line,
            account,
            symbol,
            buys,
            quantity: quantity.normalized().to_string(),
        });
    }
    match reader.mistakes() {
        mistakes if mistakes.is_empty() => Ok(fills),
        mistakes => Err(mistakes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::query::side_name;
    use crate::values::value::Side;

    fn texts(errors: &[Diagnostic]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_moment_is_in_utc() {
        assert_eq!(moment("1970-01-01T00:00:01Z"), Ok(1_000_000_000));
        assert_eq!(moment("19700101-00:00:01.500"), Ok(1_500_000_000));
        for wrong in [
            "1970-01-01T00:00:01",
            "1970-01-01T00:00:01+01:00",
            "1970-01-01",
            "22:00",
        ] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_says_what_its_quantities_are() {
        let text = "account,symbol,long,short,kind,as_of\n\
                    A1,XYZ,10.50,,totals,2026-11-29T22:00:00Z\n\
                    A1,ABC,,3,totals,2026-11-29T22:00:00Z\n";
        let file = position_rows("p.csv", text);
        assert_eq!(file.mistakes, []);
        assert_eq!(file.quantities, Some(PositionQuantities::Totals));
        assert_eq!(file.as_of, moment("2026-11-29T22:00:00Z").ok());
        assert_eq!((&*file.rows[0].long, &*file.rows[0].short), ("10.5", "0"));
        assert_eq!((file.rows[1].line, &*file.rows[1].short), (3, "3"));
    }

    #[test]
    fn each_mistake_has_its_line_and_column() {
        let text = "account,symbol,long,short,kind,as_of\n\
                    A1,XYZ,ten,0,sums,yesterday\n\
                    A 1,XYZ,1,0,sums,yesterday\n\
                    A1,XYZ,+-1,0,deltas,yesterday\n\
                    A1,ABC,1,0,sums,yesterday\n";
        let file = position_rows("p.csv", text);
        // The OMS checks the other rows.
        let lines: Vec<usize> = file.rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [5]);
        assert_eq!(
            texts(&file.mistakes),
            [
                "p.csv:2: kind sums is unknown; write totals or deltas",
                "p.csv:2: as_of: yesterday is not a moment in UTC such as 2026-11-29T22:00:00Z",
                "p.csv:2: long ten is not a number",
                "p.csv:3: account A 1 must not contain blanks, = or ;",
                "p.csv:4: kind differs from that of line 2; write one file for each",
                "p.csv:4: long +-1 is not a number",
                "p.csv:4: the position of A1 in XYZ is in line 2 too; leave one row",
            ]
        );
        assert_eq!(
            texts(&position_rows("p.csv", "account,symbol,long\n").mistakes),
            ["p.csv:1: the file has no row; write a row for each position"]
        );
        assert_eq!(
            texts(&position_rows("p.csv", "account,symbol,kind\nA1,XYZ,totals\n").mistakes),
            ["p.csv:1: the columns long and short are missing; write one of them, or both"]
        );
        let file = position_rows("p.csv", "account,symbol, short\nA1,XYZ,5\n");
        assert_eq!(file.has, [false, true]);
    }

    #[test]
    fn a_file_of_fills_has_sides() {
        let text = "# of the drop copy\naccount,symbol,side,quantity,exec\nA1,XYZ,buy,10,E1\n";
        assert!(has_fills(text) && !has_fills("account,symbol,long,short\n"));
        let fills = fill_rows("f.csv", text).unwrap();
        assert_eq!((fills[0].buys, &*fills[0].quantity), (true, "10"));
        for side in (0..=u8::MAX).filter_map(Side::of) {
            for word in [
                side_name(side).to_string(),
                char::from(side.byte()).to_string(),
            ] {
                let text = format!("account,symbol,side,quantity\nA1,XYZ,{word},10\n");
                assert_eq!(fill_rows("f.csv", &text).unwrap()[0].buys, side.is_buy());
            }
        }
        let text = "account,symbol,side,quantity,exec\nA1,XYZ,up,1,E1\nA1,XYZ,2,0,E1\n\
                    A1,XYZ,5,1,E2\nA1,XYZ,1,1,E2\n";
        assert_eq!(
            texts(&fill_rows("f.csv", text).unwrap_err()),
            [
                "f.csv:2: side up is unknown; write buy, sell, sell short or sell short exempt, or Side(54): 1, 2, 5 or 6",
                "f.csv:3: quantity 0 is not a number above 0",
                "f.csv:5: exec E2 is in line 4 too; leave one row",
            ]
        );
    }
}
