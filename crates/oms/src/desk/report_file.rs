//! Reads a CSV file with reports of venues that an operator enters by hand.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::load::table;
use fixwire_text::Diagnostic;

/// The rows of a CSV file as commands.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RowCommands {
    /// For each row without a mistake in its form, its line number and the arguments of a command.
    pub rows: Vec<(usize, String)>,
    /// Every mistake in the form of the file, with its line.
    pub mistakes: Vec<Diagnostic>,
}

impl RowCommands {
    /// A file that cannot be read as CSV.
    pub(super) fn unread(mistake: Diagnostic) -> Self {
        Self {
            mistakes: alloc::vec![mistake],
            ..Self::default()
        }
    }

    /// The rows and mistakes of a file. A file without a row is a mistake.
    pub(super) fn of(
        file: &str,
        rows: Vec<(usize, String)>,
        mut mistakes: Vec<Diagnostic>,
    ) -> Self {
        if rows.is_empty() && mistakes.is_empty() {
            let what = "the file has no row";
            mistakes.push(Diagnostic::in_file(file, 1, what, "write at least one row"));
        }
        mistakes.sort_by_key(|error| error.file.as_ref().map(|(_, line)| *line));
        Self { rows, mistakes }
    }
}

/// Reads a CSV file with `order,type,quantity,price,exec,ref`: the arguments of a row are such as
/// `order=17 type=cancelled`. A running OMS checks the values.
#[must_use]
pub fn report_rows(file: &str, text: &str) -> RowCommands {
    const COLUMNS: [&str; 6] = ["order", "type", "quantity", "price", "exec", "ref"];
    let cells = match table::read(file, text) {
        Ok(cells) => cells,
        Err(error) => return RowCommands::unread(error),
    };
    let mut errors = Vec::new();
    let rows = table::rows(file, &cells, &COLUMNS[..2], &COLUMNS[2..], &mut errors);
    let mut reports = Vec::new();
    for row in rows {
        let mut words = String::new();
        let before = errors.len();
        for (column, cell) in COLUMNS.iter().zip(&row.cells) {
            let Some(cell) = cell else { continue };
            if cell.contains(|c: char| c.is_whitespace() || c.is_control() || c == ';') {
                let what = format!("{column} must not contain blanks or ;");
                errors.push(Diagnostic::in_file(file, row.line, what, ""));
            }
            let _ = write!(words, " {column}={cell}");
        }
        if errors.len() == before {
            reports.push((row.line, words.split_off(1)));
        }
    }
    RowCommands::of(file, reports, errors)
}

/// Reads the `order` column of a venue's list of expired orders: the arguments of a row are such as
/// `order=17 type=expired`. A running OMS checks the orders.
#[must_use]
pub fn expired_rows(file: &str, text: &str) -> RowCommands {
    let cells = match table::read(file, text) {
        Ok(cells) => cells,
        Err(error) => return RowCommands::unread(error),
    };
    let mut errors = Vec::new();
    let rows = table::rows(file, &cells, &["order"], &[], &mut errors);
    let mut known = BTreeMap::new();
    let mut expired = Vec::new();
    for row in rows {
        let cell = row.cells[0].unwrap_or_default();
        match cell.parse::<u64>() {
            Ok(order) => match known.insert(order, row.line) {
                Some(first) => {
                    let what = format!("order {order} is in line {first} too");
                    errors.push(Diagnostic::in_file(file, row.line, what, "leave one row"));
                }
                None => expired.push((row.line, format!("order={order} type=expired"))),
            },
            Err(_) => {
                let what = format!("order {cell} is not a number");
                let hint =
                    "write the OrderID(37) of the OMS, which is the ClOrdID(11) at the venue";
                errors.push(Diagnostic::in_file(file, row.line, what, hint));
            }
        }
    }
    RowCommands::of(file, expired, errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn texts(wrong: &RowCommands) -> Vec<String> {
        wrong.mistakes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_row_is_a_report_and_each_mistake_has_its_line() {
        let rows = report_rows(
            "r.csv",
            "order,type,quantity,price,exec,ref\n17,fill,10,12.5,E1,\n\n18,cancelled,,,,\n17,bust,,,E9,E1\n",
        );
        let wanted = [
            (
                2,
                "order=17 type=fill quantity=10 price=12.5 exec=E1".to_string(),
            ),
            (4, "order=18 type=cancelled".to_string()),
            (5, "order=17 type=bust exec=E9 ref=E1".to_string()),
        ];
        assert_eq!((rows.rows, rows.mistakes), (wanted.into(), [].into()));
        let wrong = report_rows(
            "r.csv",
            "order,type,exec\n17,fill,E 1\n,fill,E2\n17,fill\n17,done,\n",
        );
        assert_eq!(
            texts(&wrong),
            [
                "r.csv:2: exec must not contain blanks or ;",
                "r.csv:3: order is empty",
                "r.csv:4: 2 values, the first line names 3",
            ]
        );
        // The OMS checks the other rows.
        assert_eq!(wrong.rows, [(5, "order=17 type=done".to_string())]);
        let none = "r.csv:1: the file has no row; write at least one row";
        assert_eq!(texts(&report_rows("r.csv", "order,type\n# none\n")), [none]);
        assert_eq!(texts(&expired_rows("r.csv", "order\n")), [none]);
    }

    #[test]
    fn each_expired_order_is_named_once() {
        let rows = expired_rows("b50.csv", "order\n17\n18\n");
        let wanted = [
            (2, "order=17 type=expired".to_string()),
            (3, "order=18 type=expired".to_string()),
        ];
        assert_eq!((rows.rows, rows.mistakes), (wanted.into(), [].into()));
        let wrong = expired_rows("b50.csv", "order\n17\nx\n17\n");
        assert_eq!(wrong.rows, [(2, "order=17 type=expired".to_string())]);
        assert_eq!(
            texts(&wrong),
            [
                "b50.csv:3: order x is not a number; write the OrderID(37) of the OMS, which is the ClOrdID(11) at the venue",
                "b50.csv:4: order 17 is in line 2 too; leave one row",
            ]
        );
    }
}
