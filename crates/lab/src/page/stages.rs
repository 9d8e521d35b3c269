//! Where the time of an order goes, as bars.

use std::fmt::{self, Write};

use fixwire_stamps::stats::micros;

use crate::report::chart::escape;
use crate::report::stages::sentence;
use crate::report::{Report, Row, screen, thousands};
use crate::stages::{StageMeans, Stages};

/// Writes the stages of each row that has any, over all its runs.
pub(super) fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    for row in &report.rows {
        let runs = row.runs.iter().filter_map(|run| run.stages.as_ref());
        let runs: Vec<&Stages> = runs.collect();
        if !runs.is_empty() {
            write_row(row, &Stages::pool(runs), to)?;
        }
    }
    Ok(())
}

fn write_row(row: &Row, stages: &Stages, to: &mut impl Write) -> fmt::Result {
    writeln!(
        to,
        "<section>\n<h3>Stages of {}, {}</h3>\n<p>{}</p>",
        escape(&row.subject),
        screen::name(row.pace),
        escape(&sentence(stages))
    )?;
    writeln!(
        to,
        r#"<table class="stages"><caption>Mean of each stage, us; {} orders were marked</caption>"#,
        thousands(stages.marked)
    )?;
    writeln!(
        to,
        r#"<thead><tr><th>Stage<th><th colspan="2">p45 to p55, {} orders<th colspan="2">beyond p99, {} orders</thead>"#,
        thousands(stages.median_orders),
        thousands(stages.tail_orders)
    )?;
    let all = || stages.stages.iter();
    let longest = |pick: fn(&StageMeans) -> f64| all().map(pick).fold(1.0, f64::max);
    let longest = [longest(|it| it.median_ns), longest(|it| it.tail_ns)];
    for stage in all() {
        write!(
            to,
            "<tr><th>{}<th>{}",
            escape(&stage.end),
            escape(&stage.stage)
        )?;
        for (nanos, longest) in [stage.median_ns, stage.tail_ns].iter().zip(longest) {
            let width = (100.0 * nanos / longest).clamp(0.0, 100.0);
            write!(
                to,
                r#"<td>{}<td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="{width:.1}" height="10"/></svg>"#,
                micros(*nanos as u64)
            )?;
        }
        writeln!(to)?;
    }
    let sum = |pick: fn(&StageMeans) -> f64| micros(all().map(pick).sum::<f64>() as u64);
    writeln!(
        to,
        "<tfoot><tr><th>together<th><td>{}<td><td>{}<td></tfoot></table>\n</section>",
        sum(|it| it.median_ns),
        sum(|it| it.tail_ns)
    )
}
