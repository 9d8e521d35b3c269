//! Answered orders per second of a flood, as text.

use std::fmt::{self, Write};

use super::{Report, Run, thousands};
use crate::load::{FLOOD_BATCH, FLOOD_OUTSTANDING, Pace};

/// Writes a line for each flood row.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    let floods = report.rows.iter().filter(|row| row.pace == Pace::Flood);
    for row in floods {
        let rates: Vec<String> = row.runs.iter().map(|run| thousands(rate(run))).collect();
        writeln!(
            to,
            "{}: {} orders a second, {FLOOD_OUTSTANDING} outstanding, {FLOOD_BATCH} in a write",
            row.subject,
            rates.join(" / ")
        )?;
    }
    Ok(())
}

/// Answered orders per second of a run.
pub fn rate(run: &Run) -> u64 {
    let answered = run.response.count as f64;
    (answered / run.seconds.max(f64::MIN_POSITIVE)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn only_floods_have_their_rate_told() {
        let mut report = sample::report();
        report.rows[3].pace = Pace::Flood;
        let mut text = String::new();
        write(&report, &mut text).unwrap();
        // A thousand orders in half a second.
        let told =
            "fixwire: 2,000 / 2,000 / 2,000 orders a second, 256 outstanding, 32 in a write\n";
        assert_eq!(text, told);
    }
}
