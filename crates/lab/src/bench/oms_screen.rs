//! The first screen of `bench oms`: paced orders and the largest batch beside the published figures, in 80 x 24.

use std::fmt::Write as _;

use super::oms::{Found, Row};
use crate::report::table::micros;
use crate::report::thousands;

/// The screen.
pub(super) fn screen(found: &Found) -> String {
    let mut text = format!(
        "bench oms: FIX client, OMS with every control and its journal,\n  {}\n",
        found.venue
    );
    text += &sentences(found);
    text += "  T2-T1 in us: an order is found, what it causes is written    published T2-T1\n";
    let heads = [
        "wait",
        "orders",
        "pace",
        "p50",
        "p99",
        "p99.9",
        "journalled",
        "p50",
        "p99",
        "p99.9",
    ];
    let line = |cells: [&str; 10]| {
        let [wait, orders, pace, ours @ ..] = cells;
        let [p50, p99, p999, journalled, was50, was99, was999] = ours;
        format!(
            "  {wait:<6}{orders:<16}{pace:<8}{p50:>6}{p99:>7}{p999:>7}{journalled:>11}{was50:>5}{was99:>5}{was999:>6}\n"
        )
    };
    text += &line(heads);
    let all = || found.rows.iter().filter(|row| row.request == "new");
    let largest = all()
        .rfind(|row| row.pace == "unpaced")
        .map(|row| &row.batch);
    let shown = |row: &&Row| match row.pace {
        "unpaced" => Some(&row.batch) == largest,
        // One order is not significant, and the screen is small.
        _ => row.batch != "1",
    };
    for row in all().filter(shown) {
        let [p50, _, p99, p999, _] = row.t2_t1_ns.map(micros);
        let was = row.published_us.map(|was| was.map(|us| us.to_string()));
        let [was50, _, was99, was999, _] = was.unwrap_or_default();
        let journalled = micros(row.journalled_t1_ns[0]);
        text += &line([
            row.wait,
            &row.batch,
            row.pace,
            &p50,
            &p99,
            &p999,
            &journalled,
            &was50,
            &was99,
            &was999,
        ]);
    }
    text += "  more: --details, --published (slow rows too), --memory, --json\n";
    text
}

fn sentences(found: &Found) -> String {
    let mut text = String::new();
    let write = micros(found.bare_write_ns[0][0]);
    let _ = writeln!(
        text,
        "  A bare write of the same bytes takes {write} us, paced."
    );
    let all_at_once = |row: &&Row| (row.pace, row.request, row.wait) == ("unpaced", "new", "spin");
    if let Some(row) = found.rows.iter().rfind(all_at_once) {
        let _ = writeln!(
            text,
            "  {} orders at once: the last is at the venue after {:.3} s, the last report\n  is back after {:.3} s \
             (published for 100000: 0.845 and about 5).",
            row.batch,
            row.first_t0_to_last_t2_ns as f64 / 1e9,
            row.first_t0_to_last_t4_ns as f64 / 1e9
        );
    }
    if let Some(saturation) = &found.saturation {
        let _ = writeln!(
            text,
            "  Most: {} orders a second, each answered and reported.",
            thousands(saturation.orders_a_second as u64)
        );
    }
    let disturbed = found.rows.iter().filter(|row| row.is_disturbed()).count();
    if disturbed > 0 {
        let all = found.rows.len();
        let _ = writeln!(
            text,
            "  The machine took time during {disturbed} of {all} batches: `fixwire doctor` says why."
        );
    }
    text
}
