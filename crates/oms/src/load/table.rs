//! Reads CSV with a header line into rows of cells with line numbers.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use csv_core::{ReadRecordResult, ReaderBuilder};

use fixwire_text::Diagnostic;

/// A row: its line number in the file, and a cell for each column.
pub(crate) struct Row<'t> {
    pub line: usize,
    pub cells: Vec<Option<&'t str>>,
}

/// All cells of a file, in one buffer.
#[derive(Default)]
pub(crate) struct Cells {
    text: String,
    /// Line number of each record, and the offsets at which its cells end.
    records: Vec<(usize, Vec<usize>)>,
}

impl Cells {
    /// Whether the first line names a column.
    pub(crate) fn has_column(&self, name: &str) -> bool {
        let Some((_, ends)) = self.records.first() else {
            return false;
        };
        let starts = core::iter::once(&0).chain(ends);
        let mut names = starts
            .zip(ends)
            .map(|(start, end)| &self.text[*start..*end]);
        names.any(|known| known.trim() == name)
    }
}

/// Reads the records of a CSV text; skips empty lines and lines that start with `#`.
pub(crate) fn read(file: &str, text: &str) -> Result<Cells, Diagnostic> {
    const VALUES: usize = 64;
    let mut reader = ReaderBuilder::new().comment(Some(b'#')).build();
    let mut input = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    let mut cells = Cells::default();
    let mut out = alloc::vec![0; input.len() + 1];
    let mut ends = [0; VALUES];
    let (mut written, mut values) = (0, 0);
    loop {
        let (result, read, bytes, count) =
            reader.read_record(input, &mut out[written..], &mut ends[values..]);
        let is_ended = input[..read].ends_with(b"\n");
        input = &input[read..];
        (written, values) = (written + bytes, values + count);
        let failed =
            |what: String| Err(Diagnostic::in_file(file, reader.line() as usize, what, ""));
        match result {
            // An empty input marks the end of the last line.
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::End => return Ok(cells),
            ReadRecordResult::Record => {
                let Ok(text) = core::str::from_utf8(&out[..written]) else {
                    return failed("the file is not valid UTF-8".into());
                };
                let base = cells.text.len();
                cells.text.push_str(text);
                let ends = ends[..values].iter().map(|end| base + end);
                // The line at which the record ends. It is the line of the whole record, because values in these files
                // have no line breaks.
                let line = reader.line() as usize - usize::from(is_ended);
                cells.records.push((line, ends.collect()));
                (written, values) = (0, 0);
            }
            ReadRecordResult::OutputFull => return failed("a value is too long".into()),
            ReadRecordResult::OutputEndsFull => {
                return failed(format!("more than {VALUES} values in a line"));
            }
        }
    }
}

/// The rows with the cells of the known columns: first the required columns, then the optional ones.
pub(crate) fn rows<'t>(
    file: &str,
    cells: &'t Cells,
    required: &[&str],
    optional: &[&str],
    errors: &mut Vec<Diagnostic>,
) -> Vec<Row<'t>> {
    let mut records = cells.records.iter();
    let mut start = 0;
    let mut split = |ends: &[usize]| {
        let values = ends.iter().map(|&end| {
            let value = cells.text[start..end].trim();
            start = end;
            value
        });
        values.collect::<Vec<&str>>()
    };
    let Some((line, header)) = records.next() else {
        let what = "the file is empty".to_string();
        let hint = format!("its first line names the columns: {}", required.join(","));
        errors.push(Diagnostic::in_file(file, 1, what, &hint));
        return Vec::new();
    };
    let header = split(header);
    let known: Vec<&str> = required.iter().chain(optional).copied().collect();
    for (at, name) in header.iter().enumerate() {
        let hint = || format!("the columns are {}", known.join(", "));
        let (what, hint) = match known.contains(name) {
            _ if name.is_empty() => (format!("column {} has no name", at + 1), hint()),
            // The second column may be another one with a typing error.
            true if header[..at].contains(name) => {
                (format!("column {name} is named twice"), hint())
            }
            true => continue,
            false => (format!("unknown column {name}"), hint()),
        };
        errors.push(Diagnostic::in_file(file, *line, what, &hint));
    }
    let places: Vec<Option<usize>> = known
        .iter()
        .map(|name| header.iter().position(|column| column == name))
        .collect();
    for (name, _) in required.iter().zip(&places).filter(|it| it.1.is_none()) {
        let what = format!("the column {name} is missing");
        errors.push(Diagnostic::in_file(file, *line, what, ""));
    }
    let mut rows = Vec::new();
    for (line, ends) in records {
        let values = split(ends);
        if values.len() != header.len() {
            let what = format!(
                "{} values, the first line names {}",
                values.len(),
                header.len()
            );
            errors.push(Diagnostic::in_file(file, *line, what, ""));
            continue;
        }
        let cell = |place: &Option<usize>| place.map(|at| values[at]).filter(|it| !it.is_empty());
        let cells: Vec<Option<&str>> = places.iter().map(cell).collect();
        let missing = required.iter().zip(&cells).find(|(_, cell)| cell.is_none());
        if let Some((name, _)) = missing {
            if places[known.iter().position(|it| it == name).unwrap_or(0)].is_some() {
                errors.push(Diagnostic::in_file(
                    file,
                    *line,
                    format!("{name} is empty"),
                    "",
                ));
            }
            continue;
        }
        rows.push(Row { line: *line, cells });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::ToOwned;

    type Owned = (usize, Vec<Option<String>>);

    fn all(text: &str) -> (Vec<Owned>, Vec<String>) {
        let cells = read("f.csv", text).unwrap_or_default();
        let mut errors = Vec::new();
        let rows = rows("f.csv", &cells, &["a", "b"], &["c"], &mut errors);
        let owned = |row: &Row<'_>| {
            let cells = row.cells.iter().map(|cell| cell.map(str::to_owned));
            (row.line, cells.collect())
        };
        let rows = rows.iter().map(owned).collect();
        (rows, errors.iter().map(|it| it.to_string()).collect())
    }

    #[test]
    fn rows_know_their_lines_and_columns_their_names() {
        let text = "# of today\nb,a\n1,\"x,y\"\n\n# more\n 2 ,z";
        let (rows, errors) = all(text);
        assert_eq!(errors, [""; 0]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(rows[0], (3, alloc::vec![some("x,y"), some("1"), None]));
        assert_eq!(rows[1], (6, alloc::vec![some("z"), some("2"), None]));
    }

    #[test]
    fn each_mistake_has_its_line() {
        let (_, errors) = all("a,b,d\n1,2,3\n1\n");
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(
            errors[0].starts_with("f.csv:1: unknown column d"),
            "{errors:?}"
        );
        assert!(errors[1].starts_with("f.csv:3: 1 values"), "{errors:?}");
        let (_, errors) = all("a,b\n1,\n");
        assert_eq!(errors, ["f.csv:2: b is empty"]);
        assert_eq!(all("").1.len(), 1);
    }

    #[test]
    fn a_column_is_named_once() {
        let (_, errors) = all("a,b,c,b,,c\n1,2,3,4,5,6\n");
        assert_eq!(
            errors,
            [
                "f.csv:1: column b is named twice; the columns are a, b, c",
                "f.csv:1: column 5 has no name; the columns are a, b, c",
                "f.csv:1: column c is named twice; the columns are a, b, c",
            ]
        );
    }
}
