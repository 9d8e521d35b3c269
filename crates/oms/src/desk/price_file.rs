//! Prices of markets in a CSV file.

use alloc::format;
use alloc::vec::Vec;
use core::fmt::Write as _;

use fixwire_protocol::Decimal;

use crate::desk::report_file::RowCommands;
use crate::load::is_name;
use crate::load::table;
use fixwire_text::Diagnostic;

/// Reads a CSV file with `symbol,last,bid,offer`: the command of a row is such as `price symbol=VOD last=101.5`.
#[must_use]
pub fn price_commands(file: &str, text: &str) -> RowCommands {
    const FIELDS: [&str; 3] = ["last", "bid", "offer"];
    let cells = match table::read(file, text) {
        Ok(cells) => cells,
        Err(error) => return RowCommands::unread(error),
    };
    let mut errors = Vec::new();
    let rows = table::rows(file, &cells, &["symbol"], &FIELDS, &mut errors);
    let mut commands = Vec::new();
    for row in rows {
        let symbol = row.cells[0].unwrap_or_default();
        if !is_name(symbol) || symbol.contains(';') {
            let what = format!("{symbol} must not contain blanks, = or ;");
            errors.push(Diagnostic::in_file(file, row.line, what, ""));
            continue;
        }
        let mut command = format!("price symbol={symbol}");
        let prices = FIELDS.iter().zip(&row.cells[1..]);
        let (before, mistakes) = (command.len(), errors.len());
        for (field, price) in prices.filter_map(|(field, cell)| Some((field, (*cell)?))) {
            if Decimal::parse(price.as_bytes()).is_err() {
                let what = format!("{field} = {price} is not a price");
                errors.push(Diagnostic::in_file(file, row.line, what, ""));
            }
            let _ = write!(command, " {field}={price}");
        }
        if command.len() == before {
            let what = format!("{symbol} has no price");
            errors.push(Diagnostic::in_file(
                file,
                row.line,
                what,
                "write last, bid or offer",
            ));
        }
        if errors.len() == mistakes {
            commands.push((row.line, command));
        }
    }
    RowCommands::of(file, commands, errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};

    #[test]
    fn each_row_is_a_command_and_each_mistake_has_its_line() {
        let read = |text: &str| price_commands("p.csv", text);
        assert_eq!(
            read("symbol,last,bid\nVOD,101.5,\nXYZ,,7\n").rows,
            [
                (2, "price symbol=VOD last=101.5".into()),
                (3, "price symbol=XYZ bid=7".into())
            ]
        );
        let wrong = read("symbol,last\nVOD,x\nA=B,1\nXYZ,\nABC,5\n");
        assert_eq!(wrong.rows, [(5, "price symbol=ABC last=5".into())]);
        let wrong = wrong.mistakes.iter().map(ToString::to_string);
        let wrong: Vec<String> = wrong.collect();
        assert_eq!(
            wrong,
            [
                "p.csv:2: last = x is not a price",
                "p.csv:3: A=B must not contain blanks, = or ;",
                "p.csv:4: XYZ has no price; write last, bid or offer",
            ]
        );
    }
}
