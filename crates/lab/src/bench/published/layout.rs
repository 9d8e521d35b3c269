//! Tables of `bench published`: aligned columns, some of them under a common heading.

use fixwire_stamps::stats::micros;

use crate::report::screen;
use crate::report::table::widths;

/// The grid as text. The first column is aligned to the left, the others to the right. An empty column makes a gap.
pub(super) fn aligned(grid: &[Vec<String>]) -> String {
    below(&[], grid)
}

/// A table with headings above its columns. Each heading is given with the number of columns that it spans.
pub(super) fn below(names: &[(&str, usize)], grid: &[Vec<String>]) -> String {
    let widths = widths(grid);
    let mut text = String::new();
    if !names.is_empty() {
        let (mut line, mut column, mut start) = (String::new(), 0, 0);
        for (name, columns) in names {
            // A gap comes before each heading.
            let place = start + usize::from(widths[column] == 0);
            line += &" ".repeat(place - line.chars().count().min(place));
            line += name;
            start += widths[column..column + columns].iter().sum::<usize>() + columns;
            column += columns;
        }
        text += &format!("  {}\n", line.trim_end());
    }
    for line in grid {
        let mut shown = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            match column {
                0 => shown += &format!("{cell:<width$}"),
                _ => shown += &format!(" {cell:>width$}"),
            }
        }
        text += &format!("  {}\n", shown.trim_end());
    }
    text
}

/// The words wrapped to the width of a terminal. The first line begins with `first`, the others with two blanks.
pub(super) fn paragraph(text: &str, first: &str) -> String {
    let mut lines = String::new();
    // Writing to a string cannot fail.
    let _ = screen::paragraph(text, first, &mut lines);
    lines
}

/// A paragraph below a table.
pub(super) fn note(text: &str) -> String {
    paragraph(text, "  ")
}

/// Cells of a line.
pub(super) fn line<'a>(cells: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    cells.into_iter().map(str::to_owned).collect()
}

/// Published microseconds, with as many digits as our figures have.
pub(super) fn published(us: f64) -> String {
    micros((us * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_end_below_one_another_and_names_begin_above_theirs() {
        let grid = [
            line(["", "50", "worst", "", "50"]),
            line(["fixwire", "9.5", "16900", "", "1"]),
        ];
        assert_eq!(
            below(&[("us", 1), ("ours", 2), ("theirs", 2)], &grid),
            "  us      ours       theirs\n           50 worst  50\n  fixwire 9.5 16900   1\n"
        );
        assert_eq!(published(270.34), "270");
        assert_eq!(published(163_577.86), "163578");
    }
}
