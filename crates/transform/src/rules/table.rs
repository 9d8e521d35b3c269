//! Tables of texts, read from CSV and looked up by the bytes of a field.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The maximum number of columns of a table.
pub const MAX_COLUMNS: usize = 64;

/// An error in the text of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableError {
    /// Line of the error, from 1.
    pub line: usize,
    /// The error, in words.
    pub what: String,
}

/// A table. The first line has the names of the columns; the first column has the keys of the rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The bytes of all cells, one after another.
    text: Vec<u8>,
    names: Vec<String>,
    /// The range of each cell in `text`, row by row.
    cells: Vec<Range<u32>>,
    /// For each column, the indexes of its rows, sorted by their cells.
    sorted: Vec<Vec<u32>>,
}

impl Table {
    /// Reads comma-separated values, with `"` around values that contain a comma, a quote
    /// (written twice) or an end of line. Empty lines are skipped.
    ///
    /// # Errors
    ///
    /// [`TableError`] for: a line whose number of values differs from the first line's; an unclosed quote; an empty
    /// or duplicate key; an empty or duplicate column name; a value with SOH; a text of 4 GiB or more.
    ///
    /// # Source
    ///
    /// RFC 4180.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        if u32::try_from(text.len()).is_err() {
            return fail(1, "table is too long");
        }
        let mut table = Self::default();
        let mut lines = Lines {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text),
            line: 1,
        };
        let mut keys: Vec<u32> = Vec::new();
        while let Some((line, values)) = lines.next()? {
            if table.names.is_empty() {
                table.columns(line, values)?;
                continue;
            }
            if values.len() != table.names.len() {
                let (found, wanted) = (values.len(), table.names.len());
                return fail(
                    line,
                    alloc::format!("the line has {found} values, but the header line has {wanted}"),
                );
            }
            if values[0].is_empty() {
                return fail(line, "the key in the first column is empty");
            }
            for value in values {
                let start = table.text.len() as u32;
                table.text.extend_from_slice(value.as_bytes());
                table.cells.push(start..table.text.len() as u32);
            }
            keys.push(line as u32);
        }
        if table.names.is_empty() {
            return fail(1, "the header line with the column names is missing");
        }
        table.sort();
        table.repeated_key(&keys)?;
        Ok(table)
    }

    /// The index of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The names of the columns.
    #[must_use]
    pub fn column_names(&self) -> &[String] {
        &self.names
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.cells.len() / self.names.len().max(1)
    }

    /// Whether a column has this value.
    #[must_use]
    pub fn has(&self, column: usize, value: &[u8]) -> bool {
        self.search(column, value).is_some()
    }

    /// The value in a column, in the row with this key. `None` if no row has this key, or if the cell is empty.
    #[must_use]
    pub fn get(&self, key: &[u8], column: usize) -> Option<&[u8]> {
        let row = self.search(0, key)?;
        Some(self.cell(row, column)).filter(|cell| !cell.is_empty())
    }

    /// The value in a column of a row; empty if the column or the row does not exist.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        if column >= self.names.len() {
            return &[];
        }
        let cell = self.cells.get(row * self.names.len() + column);
        cell.and_then(|cell| self.text.get(cell.start as usize..cell.end as usize))
            .unwrap_or_default()
    }

    fn search(&self, column: usize, value: &[u8]) -> Option<usize> {
        let rows = self.sorted.get(column)?;
        let found = rows.binary_search_by(|&row| self.cell(row as usize, column).cmp(value));
        found.ok().map(|at| rows[at] as usize)
    }

    fn columns(&mut self, line: usize, names: Vec<String>) -> Result<(), TableError> {
        if names.len() > MAX_COLUMNS {
            return fail(line, alloc::format!("more than {MAX_COLUMNS} columns"));
        }
        for (at, name) in names.iter().enumerate() {
            if name.is_empty() || names[..at].contains(name) {
                return fail(line, "column name is empty or duplicate");
            }
        }
        self.names = names;
        Ok(())
    }

    fn sort(&mut self) {
        let rows = self.rows() as u32;
        let sorted = (0..self.names.len()).map(|column| {
            let mut order: Vec<u32> = (0..rows).collect();
            order.sort_by(|&one, &other| {
                let cell = |row| self.cell(row as usize, column);
                cell(one).cmp(cell(other))
            });
            order
        });
        self.sorted = sorted.collect();
    }

    /// Reports the first key that occurs twice. `lines` has the line number of each row.
    fn repeated_key(&self, lines: &[u32]) -> Result<(), TableError> {
        let order = self.sorted.first().map_or(&[][..], |order| order);
        for pair in order.windows(2) {
            let (one, other) = (pair[0] as usize, pair[1] as usize);
            if self.cell(one, 0) == self.cell(other, 0) {
                let (first, again) = (lines[one], lines[other]);
                return fail(
                    again as usize,
                    alloc::format!("duplicate key: its first row is in line {first}"),
                );
            }
        }
        Ok(())
    }
}

fn fail<T>(line: usize, what: impl Into<String>) -> Result<T, TableError> {
    Err(TableError {
        line,
        what: what.into(),
    })
}

struct Lines<'t> {
    rest: &'t str,
    line: usize,
}

impl Lines<'_> {
    /// The values of the next line that is not empty, and the number of the line.
    fn next(&mut self) -> Result<Option<(usize, Vec<String>)>, TableError> {
        while !self.rest.is_empty() {
            let line = self.line;
            let values = self.values()?;
            if values.len() > 1 || !values[0].is_empty() {
                return Ok(Some((line, values)));
            }
        }
        Ok(None)
    }

    fn values(&mut self) -> Result<Vec<String>, TableError> {
        let mut values = Vec::new();
        loop {
            let line = self.line;
            let value = match self.rest.strip_prefix('"') {
                Some(rest) => {
                    self.rest = rest;
                    self.quoted()?
                }
                None => {
                    let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
                    let (value, rest) = self.rest.split_at(end);
                    self.rest = rest;
                    value.trim_end_matches('\r').into()
                }
            };
            if value.contains('\x01') {
                return fail(line, "value contains SOH");
            }
            values.push(value);
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
                continue;
            }
            let rest = self.rest.strip_prefix('\r').unwrap_or(self.rest);
            if let Some(rest) = rest.strip_prefix('\n') {
                self.rest = rest;
                self.line += 1;
            } else if rest.is_empty() {
                self.rest = rest;
            } else {
                return fail(self.line, "text after a closing quote");
            }
            return Ok(values);
        }
    }

    /// Reads a quoted value after its first quote.
    fn quoted(&mut self) -> Result<String, TableError> {
        let from = self.line;
        let mut value = String::new();
        loop {
            let Some(end) = self.rest.find('"') else {
                return fail(from, "missing closing quote");
            };
            let part = &self.rest[..end];
            self.line += part.matches('\n').count();
            value.push_str(part);
            self.rest = &self.rest[end + 1..];
            match self.rest.strip_prefix('"') {
                Some(rest) => {
                    value.push('"');
                    self.rest = rest;
                }
                None => return Ok(value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    #[test]
    fn rows_are_found_by_their_first_column() {
        let text = "\u{feff}symbol,venue,name\r\nVOD,LSE,\"Voda, \"\"fone\"\"\"\n\nSAP,XETRA,\n";
        let table = Table::parse(text).unwrap();
        assert_eq!(table.rows(), 2);
        let venue = table.column("venue").unwrap();
        assert_eq!(table.get(b"SAP", venue), Some(&b"XETRA"[..]));
        assert_eq!(table.get(b"VOD", 2), Some(&b"Voda, \"fone\""[..]));
        assert_eq!(table.get(b"SAP", 2), None);
        assert_eq!(table.get(b"XETRA", 1), None);
        assert!(table.has(venue, b"LSE") && !table.has(venue, b"VOD"));
        assert_eq!(table.cell(9, 9), b"");
    }

    #[test]
    fn mistakes_name_their_line() {
        let wrong = [
            ("", 1, "header line"),
            ("a,a", 1, "duplicate"),
            ("a,b\nx", 2, "1 values"),
            ("a\n\"x\ny\"\n\n\"x", 5, "missing closing quote"),
            ("a\n\"x\"y", 2, "after a closing quote"),
            (
                "a,b\nx,1\ny,2\nx,3",
                4,
                "duplicate key: its first row is in line 2",
            ),
            ("a,b\n,1", 2, "empty"),
        ];
        for (text, line, what) in wrong {
            let error = Table::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.what.contains(what), "{text}: {}", error.what);
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_found(rows in proptest::collection::btree_map("[a-c,\"\n]{1,4}", "[a-c,\" ]{0,3}", 0..20), other in "[a-c]{1,3}") {
            let rows: BTreeMap<String, String> = rows;
            let quoted = |text: &str| alloc::format!("\"{}\"", text.replace('"', "\"\""));
            let mut text = String::from("key,value\n");
            for (key, value) in &rows {
                text += &alloc::format!("{},{}\n", quoted(key), quoted(value));
            }
            let table = Table::parse(&text).unwrap();
            for (key, value) in &rows {
                let wanted = Some(value.as_bytes()).filter(|value| !value.is_empty());
                prop_assert_eq!(table.get(key.as_bytes(), 1), wanted);
            }
            prop_assert_eq!(table.has(0, other.as_bytes()), rows.contains_key(&other));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-b,\"\r\n\\PC]{0,60}") {
            let _ = Table::parse(&text);
        }
    }
}
