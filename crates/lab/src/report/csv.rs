//! One line a run and kind of time, for spreadsheets and scripts.

use std::fmt::{self, Write};

use super::Report;
use crate::load::Pace;

/// Writes the report as CSV; times in nanoseconds.
///
/// # Errors
///
/// Those of the writer.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    writeln!(
        to,
        "scenario,rate,subject,run,time,count,min,p50,p90,p99,p99.9,p99.99,worst,mean,\
         lost,duplicate,out_of_order,wrong,seconds,distance,steal_ms,preempted"
    )?;
    for row in &report.rows {
        let rate = match row.pace {
            Pace::PingPong => "ping-pong".to_owned(),
            Pace::PerSecond(rate) => rate.to_string(),
            Pace::Flood => "flood".to_owned(),
        };
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
                writeln!(
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
            }
        }
    }
    Ok(())
}

/// A cell of text, quoted when it needs to be.
fn text(cell: &str) -> String {
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
        assert_eq!(lines[0].split(',').count(), 22);
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
