//! CSV with a line of column names, as rows of cells with their lines.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use csv_core::{ReadRecordResult, Reader};

use crate::load::OmsError;

/// A row: its line in the file, and a cell for each column.
pub(crate) struct Row<'t> {
    pub line: usize,
    pub cells: Vec<Option<&'t str>>,
}

/// The cells of a file, all one behind the other.
#[derive(Default)]
pub(crate) struct Cells {
    text: String,
    /// For each record its line, and where its cells end.
    records: Vec<(usize, Vec<usize>)>,
}

/// Reads records; lines that are empty or begin with `#` are passed over.
pub(crate) fn read(file: &str, text: &str) -> Result<Cells, OmsError> {
    let mut reader = Reader::new();
    let mut input = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    let mut cells = Cells::default();
    let mut out = alloc::vec![0; input.len() + 16];
    let mut ends = alloc::vec![0; 64];
    loop {
        // Comments are no part of CSV: they are lines of their own.
        while let Some(rest) = skipped(input) {
            let lines = input[..input.len() - rest.len()].iter();
            let lines = lines.filter(|byte| **byte == b'\n').count();
            reader.set_line(reader.line() + lines as u64);
            input = rest;
        }
        let line = reader.line() as usize;
        let (result, read, written, count) = reader.read_record(input, &mut out, &mut ends);
        input = &input[read..];
        match result {
            ReadRecordResult::End => return Ok(cells),
            ReadRecordResult::OutputEndsFull => {
                let what = "more than 64 values in a line".to_string();
                return Err(OmsError::of(file, line, what, ""));
            }
            ReadRecordResult::Record | ReadRecordResult::InputEmpty => {
                let base = cells.text.len();
                let Ok(text) = core::str::from_utf8(&out[..written]) else {
                    let what = "the text is not UTF-8".to_string();
                    return Err(OmsError::of(file, line, what, ""));
                };
                cells.text.push_str(text);
                let ends = ends[..count].iter().map(|end| base + end);
                if result == ReadRecordResult::InputEmpty {
                    // The last line may have no end; this makes one.
                    let (_, _, more, count_more) =
                        reader.read_record(b"", &mut out[written..], &mut []);
                    debug_assert_eq!((more, count_more), (0, 0));
                }
                cells.records.push((line, ends.collect()));
            }
            ReadRecordResult::OutputFull => {
                let what = "a value is too long".to_string();
                return Err(OmsError::of(file, line, what, ""));
            }
        }
    }
}

/// What is behind an empty line or a comment; `None` when there is neither.
fn skipped(input: &[u8]) -> Option<&[u8]> {
    let line = input.split(|byte| *byte == b'\n').next()?;
    let is_comment = line.starts_with(b"#");
    (is_comment && !input.is_empty()).then(|| {
        let end = (line.len() + 1).min(input.len());
        &input[end..]
    })
}

/// Rows by the columns that are known: the required ones, then those that may be missing.
pub(crate) fn rows<'t>(
    file: &str,
    cells: &'t Cells,
    required: &[&str],
    optional: &[&str],
    errors: &mut Vec<OmsError>,
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
        errors.push(OmsError::of(file, 1, what, &hint));
        return Vec::new();
    };
    let header = split(header);
    let known: Vec<&str> = required.iter().chain(optional).copied().collect();
    for name in &header {
        if !known.contains(name) {
            let hint = format!("the columns are {}", known.join(", "));
            errors.push(OmsError::of(
                file,
                *line,
                format!("unknown column {name}"),
                &hint,
            ));
        }
    }
    let places: Vec<Option<usize>> = known
        .iter()
        .map(|name| header.iter().position(|column| column == name))
        .collect();
    for (name, _) in required.iter().zip(&places).filter(|it| it.1.is_none()) {
        let what = format!("the column {name} is missing");
        errors.push(OmsError::of(file, *line, what, ""));
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
            errors.push(OmsError::of(file, *line, what, ""));
            continue;
        }
        let cell = |place: &Option<usize>| place.map(|at| values[at]).filter(|it| !it.is_empty());
        let cells: Vec<Option<&str>> = places.iter().map(cell).collect();
        let missing = required.iter().zip(&cells).find(|(_, cell)| cell.is_none());
        if let Some((name, _)) = missing {
            if places[known.iter().position(|it| it == name).unwrap_or(0)].is_some() {
                errors.push(OmsError::of(file, *line, format!("{name} is empty"), ""));
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

    fn all(text: &str) -> (Vec<(usize, Vec<Option<String>>)>, Vec<String>) {
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
}
