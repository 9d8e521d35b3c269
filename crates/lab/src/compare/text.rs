//! A comparison as a table of at most 80 columns.

use std::fmt::{self, Write};

use super::{ComparedRow, Comparison};

/// Widest line of the table, characters; names of subjects may be longer.
pub const WIDTH: usize = 80;

/// Writes the table.
///
/// # Errors
///
/// When writing fails.
pub fn write(comparison: &Comparison, to: &mut impl Write) -> fmt::Result {
    writeln!(to, "{}: B against A, response time", comparison.scenario)?;
    for row in &comparison.rows {
        writeln!(to)?;
        write_row(row, to)?;
    }
    writeln!(
        to,
        "\nA and B: microseconds, geometric mean over the runs. B/A with its interval: all\n\
         intervals of this table hold together with 95 % (Welch's t on logarithms of\n\
         the runs' percentiles, Bonferroni), so that of equal builds at most 5 tables in\n\
         100 say faster or slower anywhere. Too few runs: the interval contains both no\n\
         change and a change by 10 %."
    )
}

fn write_row(row: &ComparedRow, to: &mut impl Write) -> fmt::Result {
    writeln!(
        to,
        "{} at {}, {} and {} runs, cores {}",
        row.subject,
        row.pace,
        row.runs[0],
        row.runs[1],
        row.distance.name()
    )?;
    writeln!(
        to,
        "  {:<6}{:>11}{:>11}{:>8}  {:<16}",
        "%", "A", "B", "B/A", "interval"
    )?;
    for percentile in &row.percentiles {
        let [a, b] = percentile.nanos.map(micros);
        let interval = percentile.interval.map_or_else(
            || "-".to_owned(),
            |[low, high]| format!("{} - {}", ratio(low), ratio(high)),
        );
        writeln!(
            to,
            "  {:<6}{a:>11}{b:>11}{:>8}  {interval:<16}  {}",
            percentile.name,
            ratio(percentile.ratio),
            percentile.word.name()
        )?;
    }
    Ok(())
}

fn micros(nanos: f64) -> String {
    fixwire_stamps::stats::micros(nanos.round() as u64)
}

/// A ratio with two decimals; a large ratio without decimals.
fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 9_999.5 => "> 9999".to_owned(),
        ratio if ratio >= 99.95 => format!("{ratio:.0}"),
        ratio => format!("{ratio:.2}"),
    }
}
