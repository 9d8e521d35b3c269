//! Reads a CSV file with reports of venues that an operator enters by hand.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::load::table;
use fixwire_text::Diagnostic;

/// Reads a CSV file with `order,type,quantity,price,exec,ref`: for each row its line number and the arguments of a command,
/// such as `order=17 type=cancelled`.
///
/// # Errors
///
/// Every mistake in the form of the file, with its line. A running OMS checks the values.
pub fn report_rows(file: &str, text: &str) -> Result<Vec<(usize, String)>, Vec<Diagnostic>> {
    const COLUMNS: [&str; 6] = ["order", "type", "quantity", "price", "exec", "ref"];
    let cells = table::read(file, text).map_err(|error| alloc::vec![error])?;
    let mut errors = Vec::new();
    let rows = table::rows(file, &cells, &COLUMNS[..2], &COLUMNS[2..], &mut errors);
    let mut reports = Vec::new();
    for row in rows {
        let mut words = String::new();
        for (column, cell) in COLUMNS.iter().zip(&row.cells) {
            let Some(cell) = cell else { continue };
            if cell.contains(|c: char| c.is_whitespace() || c.is_control() || c == ';') {
                let what = format!("{column} must not contain blanks or ;");
                errors.push(Diagnostic::in_file(file, row.line, what, ""));
            }
            let _ = write!(words, " {column}={cell}");
        }
        reports.push((row.line, words.split_off(1)));
    }
    if errors.is_empty() {
        Ok(reports)
    } else {
        errors.sort_by_key(|error| error.file.as_ref().map(|(_, line)| *line));
        Err(errors)
    }
}

/// Reads the `order` column of a venue's list of expired orders. Returns for each row its line number and the arguments
/// of a command, such as `order=17 type=expired`.
///
/// # Errors
///
/// Every mistake in the form of the file, with its line. A running OMS checks the orders.
pub fn expired_rows(file: &str, text: &str) -> Result<Vec<(usize, String)>, Vec<Diagnostic>> {
    let cells = table::read(file, text).map_err(|error| alloc::vec![error])?;
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
    if errors.is_empty() {
        Ok(expired)
    } else {
        errors.sort_by_key(|error| error.file.as_ref().map(|(_, line)| *line));
        Err(errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

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
        assert_eq!(rows.unwrap(), wanted);
        let wrong = report_rows("r.csv", "order,type,exec\n17,fill,E 1\n,fill,E2\n").unwrap_err();
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(
            wrong,
            [
                "r.csv:2: exec must not contain blanks or ;",
                "r.csv:3: order is empty",
            ]
        );
    }

    #[test]
    fn each_expired_order_is_named_once() {
        let rows = expired_rows("b50.csv", "order\n17\n18\n").unwrap();
        let wanted = [
            (2, "order=17 type=expired".to_string()),
            (3, "order=18 type=expired".to_string()),
        ];
        assert_eq!(rows, wanted);
        let wrong = expired_rows("b50.csv", "order\n17\nx\n17\n").unwrap_err();
        let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(
            wrong,
            [
                "b50.csv:3: order x is not a number; write the OrderID(37) of the OMS, which is the ClOrdID(11) at the venue",
                "b50.csv:4: order 17 is in line 2 too; leave one row",
            ]
        );
    }
}
