//! The first screen of `bench oms`: paced orders and the largest batch beside the published figures, in 80 x 24.

use crate::report::oms::{BatchPace, BatchRequest, BatchRow, OmsReport, sentences};
use crate::report::screen::paragraph;
use crate::report::table::micros;

/// The screen.
pub(super) fn screen(found: &OmsReport) -> String {
    let mut text = format!(
        "bench oms: FIX client, OMS with every control and its journal,\n  {}\n",
        found.venue
    );
    for sentence in sentences(found) {
        // Writing to a string cannot fail.
        let _ = paragraph(&sentence, "  ", &mut text);
    }
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
    let all = || {
        found
            .rows
            .iter()
            .filter(|row| row.request == BatchRequest::New)
    };
    let largest = all()
        .rfind(|row| row.pace == BatchPace::Unpaced)
        .map(|row| &row.batch);
    let shown = |row: &&BatchRow| match row.pace {
        BatchPace::Unpaced => Some(&row.batch) == largest,
        // One order is not significant, and the screen is small.
        _ => row.batch != "1",
    };
    for row in all().filter(shown) {
        let [p50, _, p99, p999, _] = row.t2_t1_ns.map(micros);
        let was = row.published_us.map(|was| was.map(|us| us.to_string()));
        let [was50, _, was99, was999, _] = was.unwrap_or_default();
        let journalled = micros(row.journalled_t1_ns[0]);
        text += &line([
            row.wait.name(),
            &row.batch,
            row.pace.name(),
            &p50,
            &p99,
            &p999,
            &journalled,
            &was50,
            &was99,
            &was999,
        ]);
    }
    text += "  more: --details, --published (slow rows too), --memory, --json FILE\n";
    text
}
