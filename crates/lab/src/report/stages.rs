//! The stages of an order as text: a table with bars, and a sentence.

pub mod own_work;

use std::fmt::{self, Write};

use fixwire_stamps::stats::micros;

use super::{Report, Row, pace_text, thousands};
use crate::stages::{StageMeans, Stages};

/// Length of the longest bar of a column, characters.
const BAR: f64 = 19.0;
/// The sentence names stages until they explain this share of the difference.
const EXPLAINED: f64 = 0.8;
/// Maximum number of stages in the sentence.
const MOST_NAMED: usize = 3;

/// Writes the stages of each row that has any, over all its runs.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    for row in &report.rows {
        let runs: Vec<&Stages> = row
            .runs
            .iter()
            .filter_map(|it| it.stages.as_ref())
            .collect();
        if !runs.is_empty() {
            write_row(row, &Stages::pool(runs), to)?;
        }
    }
    Ok(())
}

fn write_row(row: &Row, stages: &Stages, to: &mut impl Write) -> fmt::Result {
    writeln!(to)?;
    writeln!(
        to,
        "stages of {} at {}, mean us; {} orders were marked:",
        row.subject,
        pace_text(row.pace),
        thousands(stages.marked)
    )?;
    let median = format!("p45..p55, {}", thousands(stages.median_orders));
    let tail = format!("beyond p99, {}", thousands(stages.tail_orders));
    writeln!(to, "{:<24} {median:<27} {tail}", "")?;
    let all = || stages.stages.iter();
    let longest = |pick: fn(&StageMeans) -> f64| all().map(pick).fold(1.0, f64::max);
    let longest = [longest(|it| it.median_ns), longest(|it| it.tail_ns)];
    let cell = |nanos: f64, longest: f64| {
        let bar = "#".repeat((nanos / longest * BAR).round() as usize);
        format!("{:>6} {bar:<19}", micros(nanos as u64))
    };
    for stage in all() {
        let line = format!(
            "{:<9} {:<14} {} {}",
            stage.end,
            stage.stage,
            cell(stage.median_ns, longest[0]),
            cell(stage.tail_ns, longest[1])
        );
        writeln!(to, "{}", line.trim_end())?;
    }
    let sum = |pick: fn(&StageMeans) -> f64| micros(all().map(pick).sum::<f64>() as u64);
    let (median, tail) = (sum(|it| it.median_ns), sum(|it| it.tail_ns));
    writeln!(to, "{:<24} {median:>6} {:<19} {tail:>6}", "together", "")?;
    writeln!(to, "{}", sentence(stages))
}

/// A sentence on the stages that take longer in the orders beyond p99 than in the median orders.
pub(crate) fn sentence(stages: &Stages) -> String {
    if stages.median_orders == 0 || stages.tail_orders == 0 {
        return "Too few orders were marked to compare: raise --iterations.".to_owned();
    }
    let growth = |it: &StageMeans| it.tail_ns - it.median_ns;
    let total: f64 = stages.stages.iter().map(growth).sum();
    let mut grown: Vec<&StageMeans> = stages.stages.iter().collect();
    grown.sort_by(|one, other| growth(other).total_cmp(&growth(one)));
    let (mut named, mut explained) = (Vec::new(), 0.0);
    for stage in grown.into_iter().take(MOST_NAMED) {
        if explained >= EXPLAINED * total {
            break;
        }
        explained += growth(stage);
        named.push(format!(
            "{} us ({:.0} %) in {} {}",
            micros(growth(stage) as u64),
            100.0 * growth(stage) / total,
            stage.end,
            stage.stage
        ));
    }
    format!(
        "Orders beyond p99 took {} us longer:\n  {}.",
        micros(total as u64),
        named.join(",\n  ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::stages::sample as stages_of;

    #[test]
    fn the_table_fits_a_terminal_and_the_sentence_names_what_grew() {
        let mut report = sample::report();
        let mut text = String::new();
        write(&report, &mut text).unwrap();
        assert_eq!(text, "", "nothing was marked");

        // Each stage takes 500 ns, and beyond p99 the third from last takes 40,000 ns more.
        report.rows[3].runs[1].stages = Some(stages_of(500.0, 15, 40_500.0));
        write(&report, &mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.iter().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert!(
            lines[1].starts_with("stages of fixwire at 50,000/s"),
            "{text}"
        );
        let grown =
            "initiator parse            0.50 ###################   40.5 ###################";
        assert!(lines.contains(&grown), "{text}");
        let together = "together                   9.00                       49.0";
        assert!(lines.contains(&together), "{text}");
        let said =
            "Orders beyond p99 took 40.0 us longer:\n  40.0 us (100 %) in initiator parse.\n";
        assert!(text.ends_with(said), "{text}");
    }

    #[test]
    fn too_few_orders_are_not_compared() {
        let mut stages = stages_of(500.0, 0, 500.0);
        stages.tail_orders = 0;
        assert!(sentence(&stages).contains("--iterations"));
    }
}
