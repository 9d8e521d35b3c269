//! CSV with one line per run and kind of time, for spreadsheets and scripts.

use std::fmt::{self, Write};

use super::{Report, Run, pace_cell};

/// Writes the report as CSV; times in nanoseconds.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    writeln!(
        to,
        "scenario,rate,subject,run,time,count,min,p50,p90,p99,p99.9,p99.99,worst,mean,\
         lost,duplicate,out_of_order,wrong,seconds,distance,steal_ms,preempted,\
         p75,p95,p99.5,stdev,thread_cpu_ms,process_cpu_ms,minor_faults,major_faults,\
         voluntary_switches,involuntary_switches,peak_memory_kib"
    )?;
    for row in &report.rows {
        let rate = pace_cell(row.pace);
        for (index, run) in row.runs.iter().enumerate() {
            for (time, figures) in [("response", run.response), ("service", run.service)] {
                write!(
                    to,
                    "{},{},{},{},{time},{},{}",
                    report.scenario,
                    rate,
                    text(&row.subject),
                    index + 1,
                    figures.count,
                    figures.min
                )?;
                for value in figures.columns() {
                    write!(to, ",{value}")?;
                }
                write!(
                    to,
                    ",{:.0},{},{},{},{},{:.6},{},{},{}",
                    figures.mean,
                    run.faults.lost,
                    run.faults.duplicate,
                    run.faults.out_of_order,
                    run.faults.wrong,
                    run.seconds,
                    run.distance.name(),
                    run.taken.steal_ms,
                    run.taken.preempted
                )?;
                write!(
                    to,
                    ",{},{},{},{:.0}",
                    figures.p75, figures.p95, figures.p99_5, figures.stdev
                )?;
                write_used(run, to)?;
            }
        }
    }
    Ok(())
}

/// Writes the resources that the run used; cells are empty when they were not read. Page faults and context switches
/// are counted for the whole process.
fn write_used(run: &Run, to: &mut impl Write) -> fmt::Result {
    let Some(used) = &run.used else {
        return writeln!(to, ",,,,,,,");
    };
    writeln!(
        to,
        ",{:.3},{:.3},{},{},{},{},{}",
        used.thread.cpu_ns as f64 / 1e6,
        used.process.cpu_ns as f64 / 1e6,
        used.process.minor_faults,
        used.process.major_faults,
        used.process.voluntary_switches,
        used.process.involuntary_switches,
        used.peak_memory_kib
    )
}

/// A text cell, quoted if necessary.
pub(super) fn text(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_line_for_each_run_and_time_all_of_one_width() {
        let mut csv = String::new();
        write(&sample::report(), &mut csv).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 1 + 4 * 3 * 2);
        assert!(
            lines.iter().all(|line| line.split(',').count() == 33),
            "{csv}"
        );
        // Existing columns keep their positions.
        assert!(lines[0].starts_with("scenario,rate,subject,run,time,count,min,p50,"));
        assert_eq!(
            lines[0].split(',').position(|name| name == "preempted"),
            Some(21)
        );
        assert!(
            lines[1].starts_with("echo,ping-pong,tcp floor,1,response,1000,8000,"),
            "{}",
            lines[1]
        );
        assert!(
            lines[13].starts_with("echo,50000,tcp floor,1,"),
            "{}",
            lines[13]
        );
    }

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(text("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }
}
