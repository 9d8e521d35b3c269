//! The answers of the OMS, as tables for people and as JSON.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::control::{Asked, ControlQuestion};
use fixwire::journal::{self, FolderContents, JournalError};
use fixwire_oms::OmsState;
use fixwire_protocol::Ledger as _;
use fixwire_protocol::readable::Escaped;
use serde_json::{Map, Value};

use super::stamps::NOTHING;
use crate::failure::{self, Failure};
use crate::session::{EngineFlags, if_running, running, store};

/// Maximum size of the rows of one load, or of one order, in bytes. These rows are sent to the control socket in one
/// request.
pub(super) const MOST_BYTES: usize = 60_000;

/// The OMS to query.
#[derive(Args, Debug)]
// An argument group of clap does not contain the arguments of a flattened struct: without this attribute, `Option<Ask>`
// would be `None` when only the file is given.
#[group(args = ["engine"])]
pub struct Ask {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) at: EngineFlags,
}

/// A question for the OMS.
pub(super) fn question(text: &str) -> Asked {
    Asked {
        what: ControlQuestion::Query,
        text: Some(text.to_owned()),
        ..Asked::default()
    }
}

/// Gives the OMS a command, and prints its answer.
pub(super) fn command(at: &EngineFlags, text: String, why: &str) -> Result<ExitCode, Failure> {
    for line in answer(at, tell_command(text, why))?.lines() {
        writeln!(io::stdout(), "{}", Escaped(line.as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints every error; returns the exit code.
pub(super) fn mistakes(errors: &[impl ToString]) -> ExitCode {
    for error in errors {
        failure::tell("error", &error.to_string());
    }
    ExitCode::FAILURE
}

/// A command for the OMS.
pub(super) fn tell_command(text: String, why: &str) -> Asked {
    Asked {
        what: ControlQuestion::Command,
        why: Some(why.to_owned()),
        text: Some(text),
        ..Asked::default()
    }
}

/// Asks the running OMS.
pub(super) fn answer(at: &EngineFlags, asked: Asked) -> Result<String, Failure> {
    let answer = running(at)?.ask(&asked);
    let answer = answer.map_err(|error| Failure::Text(error.to_string()))?;
    Ok(answer.text.unwrap_or_default())
}

/// The folder of an OMS's journal. A command that reads the journal itself also works when no engine runs.
///
/// # Errors
///
/// An OMS is running and this user may not read its orders, or there is no journal, or another build wrote the
/// journal.
pub(super) fn readable_journal(ask: &Ask) -> Result<PathBuf, Failure> {
    let store = store(&ask.at)?;
    // While the OMS runs, only operators with the right may read orders.
    if let Some(mut client) = if_running(&ask.at) {
        let asked = client.ask(&question("status"));
        asked.map_err(|error| Failure::Text(error.to_string()))?;
    }
    journal::refuse_other_version(&store, Some(OmsState::default().form())).map_err(unreadable)?;
    match journal::contents(&store) {
        FolderContents::Journal => Ok(store),
        FolderContents::Nothing | FolderContents::OtherStore(_) => Err(Failure::Text(format!(
            "{} contains no journal",
            store.display()
        ))),
    }
}

/// Maximum number of attempts to read a journal whose segments an engine removes.
const ATTEMPTS: u32 = 5;

/// Reads a journal, which an engine may be writing. `attempt` returns `None` when segments were removed before they
/// were read. The journal is then read again, from its new beginning.
///
/// # Errors
///
/// The errors of `attempt`. Also an error if segments were removed in all five attempts.
pub(super) fn until_whole<T>(
    mut attempt: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    for _ in 0..ATTEMPTS {
        if let Some(whole) = attempt()? {
            return Ok(whole);
        }
    }
    Err(Failure::Text(format!(
        "the journal was read {ATTEMPTS} times, and each time segments were removed before they were read: set JournalKeep \
         longer"
    )))
}

/// The failure of a journal that cannot be read.
pub(super) fn unreadable(error: JournalError) -> Failure {
    Failure::Text(error.to_string())
}

/// Prints lines of tab-separated columns.
pub(super) fn show(ask: &Ask, text: &str) -> Result<ExitCode, Failure> {
    let shown = if ask.json {
        format!("{:#}\n", json(text))
    } else {
        table(text)
    };
    write!(io::stdout(), "{shown}")?;
    Ok(ExitCode::SUCCESS)
}

/// Columns with ids and names, which may consist of digits.
const IDS: [&str; 17] = [
    "session",
    "ClOrdID",
    "account",
    "symbol",
    "line",
    "line group",
    "pool",
    "pool number",
    "scope",
    "control",
    "setting",
    "name",
    "was",
    "is",
    "condition",
    "venue's ids",
    "settings",
];
/// The largest integer that every JSON reader keeps exactly.
const EXACT: u64 = 1 << 53;

/// An object for each row. Numeric columns have numbers; ids are texts.
pub(super) fn json(text: &str) -> Value {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    // The parent of an account is an account, and the parent of an order is an order.
    let is_id = |name: &str| IDS.contains(&name) || (name == "parent" && !names.contains(&"order"));
    let value = |name: &str, cell: &str| match cell.parse::<i64>() {
        Ok(number)
            if number.unsigned_abs() <= EXACT && number.to_string() == cell && !is_id(name) =>
        {
            Value::from(number)
        }
        _ => Value::from(cell),
    };
    let object = |line: &str| {
        let cells = line.split('\t');
        let pairs = names.iter().zip(cells);
        let pairs = pairs.map(|(name, cell)| (name.replace(' ', "_"), value(name, cell)));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    Value::Array(lines.map(object).collect())
}

/// The rows with aligned columns; numbers are aligned to the right.
pub(super) fn table(text: &str) -> String {
    let cells = |line: &str| -> Vec<String> {
        let cells = line.split('\t');
        cells.map(|it| Escaped(it.as_bytes()).to_string()).collect()
    };
    let mut rows: Vec<Vec<String>> = text.lines().map(cells).collect();
    if let Some(head) = rows.first_mut() {
        head.iter_mut().for_each(|name| name.make_ascii_uppercase());
    }
    let columns = rows.first().map_or(0, Vec::len);
    let column = |at: usize| rows.iter().filter_map(move |row| row.get(at));
    let widths: Vec<usize> = (0..columns)
        .map(|at| column(at).map(|it| it.chars().count()).max().unwrap_or(0))
        .collect();
    let is_number: Vec<bool> = (0..columns)
        .map(|at| {
            column(at)
                .skip(1)
                .all(|it| it == NOTHING || it.parse::<f64>().is_ok())
        })
        .collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).zip(&is_number);
        let cells = cells.map(|((cell, width), is_number)| {
            if *is_number {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_read_again_at_most_five_times() {
        let mut attempts = 0;
        let read = until_whole(|| {
            attempts += 1;
            Ok((attempts == 5).then_some(attempts))
        });
        assert_eq!(read.unwrap(), 5);
        let failed: Result<(), Failure> = until_whole(|| Ok(None));
        let said = failed.unwrap_err().to_string();
        assert!(said.contains("each time segments were removed"), "{said}");
    }

    const ROWS: &str = "order\topen to buy\tstate\n7\t100\tworking\n12\t5\tfilled";

    #[test]
    fn columns_are_aligned_and_numbers_stand_right() {
        let wanted =
            "ORDER  OPEN TO BUY  STATE\n    7          100  working\n   12            5  filled\n";
        assert_eq!(table(ROWS), wanted);
    }

    #[test]
    fn json_has_numbers_and_names_without_blanks() {
        let rows = json(ROWS);
        assert_eq!(rows[1]["open_to_buy"], 5);
        assert_eq!(rows[0]["state"], "working");
    }

    #[test]
    fn ids_are_texts_whatever_they_are_made_of() {
        let text = "order\tsession\tClOrdID\taccount\tsymbol\tquantity\tparent\tpool number\n\
                    7\t1\t1234567890123456789\t42\t2330\t100\t6\t00001";
        let row = &json(text)[0];
        assert_eq!((&row["order"], &row["quantity"]), (&7.into(), &100.into()));
        assert_eq!(row["parent"], 6, "an order");
        for (name, id) in [
            ("session", "1"),
            ("ClOrdID", "1234567890123456789"),
            ("account", "42"),
            ("symbol", "2330"),
            ("pool_number", "00001"),
        ] {
            assert_eq!(row[name], id);
        }
        let row = &json("account\tparent\ttraded\n42\t7\t9007199254740993")[0];
        assert_eq!(row["parent"], "7", "an account");
        assert_eq!(row["traded"], "9007199254740993", "no reader may round it");
    }
}
