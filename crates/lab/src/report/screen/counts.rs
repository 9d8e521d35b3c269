//! What an order costs beside time, as text: a block for each row.

use std::fmt::{self, Write};

use super::{lines, name};
use crate::machine::counts::calls::{Calls, EndCalls};
use crate::machine::counts::{Counts, EndCounts};
use crate::report::{Report, thousands};

/// Counts that are rare are shown for this number of orders.
const RARE: f64 = 10_000.0;

/// Writes the counts of each row that has any, over all its runs.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    for row in &report.rows {
        let Some(counts) = Counts::pool(row.runs.iter().filter_map(|run| run.counts)) else {
            continue;
        };
        let calls = row.runs.iter().rev().find_map(|run| run.calls.as_ref());
        let title = format!("{} at {}", row.subject, name(row.pace));
        write_block(&title, &counts, calls, to)?;
    }
    Ok(())
}

/// Writes the counts of one row.
///
/// # Errors
///
/// When writing fails.
pub fn write_block(
    title: &str,
    counts: &Counts,
    calls: Option<&Calls>,
    to: &mut impl Write,
) -> fmt::Result {
    let orders = thousands(counts.orders);
    writeln!(to, "\ncounts of {title}, {orders} orders:")?;
    let head = ["", "engine", "client", "helpers"].map(str::to_owned);
    let mut grid = vec![head.to_vec()];
    let ends = [&counts.engine, &counts.client, &counts.helpers];
    let mut line = |text: &str, scale: f64, pick: fn(&EndCounts) -> Option<u64>| {
        let cells = ends.map(|end| shown(pick(end), counts.orders, scale));
        grid.push([vec![text.to_owned()], cells.to_vec()].concat());
    };
    line("instructions an order", 1.0, |it| it.instructions);
    line("bytes to the disk an order", 1.0, |it| it.disk_bytes);
    line("minor faults, 10,000 orders", RARE, |it| it.minor_faults);
    line("major faults", RARE, |it| it.major_faults);
    line("voluntary switches", RARE, |it| it.voluntary_switches);
    line("forced switches", RARE, |it| it.forced_switches);
    line("function-call interrupts", RARE, |it| it.interrupts);
    if let Some(calls) = calls {
        let ends = [&calls.engine, &calls.client, &calls.helpers];
        let mut line = |text: &str, pick: fn(&EndCalls) -> u64| {
            let cells = ends.map(|end| shown(end.as_ref().map(pick), calls.orders, 1.0));
            grid.push([vec![text.to_owned()], cells.to_vec()].concat());
        };
        line("system calls an order", EndCalls::sum);
        line("calls that found nothing", |it| it.found_nothing);
    }
    lines(&grid, to)?;
    for (end, calls) in calls.into_iter().flat_map(|calls| {
        [
            ("engine", &calls.engine, calls.orders),
            ("helpers", &calls.helpers, calls.orders),
        ]
        .map(|(end, found, orders)| (end, found.as_ref().map(|found| (found, orders))))
    }) {
        let Some((calls, orders)) = calls else {
            continue;
        };
        let mut named: Vec<_> = calls.done.iter().filter(|call| *call.1 > 0).collect();
        named.sort_by_key(|call| std::cmp::Reverse(*call.1));
        let named: Vec<String> = named
            .into_iter()
            .take(6)
            .map(|(name, count)| format!("{name} {}", shown(Some(*count), orders, 1.0)))
            .collect();
        if !named.is_empty() {
            writeln!(to, "  calls of the {end}: {}", named.join(", "))?;
        }
    }
    Ok(())
}

/// A count divided by the number of orders, times `scale`.
fn shown(count: Option<u64>, orders: u64, scale: f64) -> String {
    let Some(count) = count else {
        return "unknown".to_owned();
    };
    let value = count as f64 / orders.max(1) as f64 * scale;
    match value {
        0.0 => "0".to_owned(),
        ..0.001 => format!("{value:.6}"),
        ..100.0 => format!("{value:.3}"),
        _ => thousands(value.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn counts_are_for_an_order_and_unknown_ones_are_no_zero() {
        let mut report = sample::report();
        let mut text = String::new();
        write(&report, &mut text).unwrap();
        assert_eq!(text, "", "nothing was counted");
        let engine = EndCounts {
            instructions: Some(7_000_000),
            minor_faults: Some(0),
            major_faults: Some(0),
            voluntary_switches: Some(0),
            forced_switches: Some(3),
            disk_bytes: Some(409_600),
            interrupts: Some(1),
        };
        let counts = Counts {
            orders: 1_000,
            engine,
            client: EndCounts {
                instructions: None,
                ..engine
            },
            helpers: EndCounts::default(),
        };
        let mut calls = EndCalls {
            found_nothing: 35_000,
            ..EndCalls::default()
        };
        calls.done.insert("sendto".to_owned(), 500);
        calls.done.insert("recvfrom".to_owned(), 501);
        for run in &mut report.rows[1].runs {
            run.counts = Some(counts);
        }
        report.rows[1].runs[2].calls = Some(Calls {
            orders: 500,
            engine: Some(calls),
            ..Calls::default()
        });
        write(&report, &mut text).unwrap();
        assert_eq!(
            text,
            "
counts of fixwire at closed loop, 3,000 orders:
                               engine  client   helpers
  instructions an order        7,000   unknown  unknown
  bytes to the disk an order   410     410      unknown
  minor faults, 10,000 orders  0       0        unknown
  major faults                 0       0        unknown
  voluntary switches           0       0        unknown
  forced switches              30.000  30.000   unknown
  function-call interrupts     10.000  10.000   unknown
  system calls an order        2.002   unknown  unknown
  calls that found nothing     70.000  unknown  unknown
  calls of the engine: recvfrom 1.002, sendto 1.000
"
        );
    }
}
