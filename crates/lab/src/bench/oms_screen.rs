//! The first screen of `bench oms`, in 80 x 24 characters: paced orders and the largest batch, each with the
//! published figures.

use fixwire_stamps::stats::micros;

use crate::report::oms::{
    BatchFigures, BatchPace, BatchRequest, BatchRow, OmsPart, OmsReport, sentences,
};
use crate::report::screen::paragraph;

/// The screen.
pub(super) fn screen(found: &OmsReport) -> String {
    let mut text = format!(
        "bench oms: FIX client, OMS with every control and its journal,\n  {}, {}\n",
        found.lines_text(),
        found.venue
    );
    for sentence in sentences(found) {
        // Writing to a string cannot fail.
        let _ = paragraph(&sentence, "  ", &mut text);
    }
    let parts: Vec<OmsPart<'_>> = found.parts().collect();
    match parts[..] {
        [first, second] => both(&first, &second, &mut text),
        [first, ..] => one(&first, &mut text),
        [] => {}
    }
    text += "  more: --details, --published (slow rows too), --memory, --json FILE\n";
    text
}

/// The rows that fit on the screen: the paced orders, and the largest batch sent at once. When slow rates were
/// measured, only rows with published figures are shown, and of the paced rows only the largest batch that the client
/// can send on time.
fn rows<'a>(part: &OmsPart<'a>) -> Vec<&'a BatchRow> {
    let all = || {
        let rows = part.rows.iter();
        rows.filter(|row| row.request == BatchRequest::New)
    };
    let largest = all()
        .rfind(|row| row.pace == BatchPace::Unpaced)
        .map(|row| &row.batch);
    let on_time = |row: &&BatchRow| {
        let orders = row.batch.parse::<u32>();
        row.pace == BatchPace::Paced && orders.is_ok_and(|orders| orders <= 10_000)
    };
    let slow = all().any(|row| row.pace == BatchPace::Slow);
    let only = all().rfind(on_time).filter(|_| slow).map(|row| &row.batch);
    let shown = |row: &&BatchRow| match row.pace {
        BatchPace::Unpaced => Some(&row.batch) == largest,
        BatchPace::Slow => row.published_us.is_some(),
        // A batch of one order says nothing about a distribution.
        BatchPace::Paced => only.map_or(row.batch != "1", |only| row.batch == *only),
    };
    all().filter(shown).collect()
}

/// The figures of the bare writes at the slow rates, each with the name of the batch.
fn slow_writes<'a>(part: &OmsPart<'a>) -> impl Iterator<Item = (&'a str, BatchFigures)> {
    let rows = rows(part).into_iter();
    rows.filter_map(|row| Some((row.batch.as_str(), row.bare_write_ns?)))
}

/// The 50, 99 and 99.9 % of five percentiles.
fn three<T>([p50, _, p99, p999, _]: [T; 5]) -> [T; 3] {
    [p50, p99, p999]
}

/// The published figures of a batch; empty cells when none are published.
fn published(row: &BatchRow) -> [String; 3] {
    let was = row.published_us.map(|was| was.map(|us| us.to_string()));
    three(was.unwrap_or_default())
}

fn one(part: &OmsPart<'_>, text: &mut String) {
    *text += "  T2-T1 in us: from order found to resulting message written   published T2-T1\n";
    let mut line = |[wait, orders, pace]: [&str; 3],
                    [p50, p99, p999]: [&str; 3],
                    more: [&str; 4]| {
        let [journalled, was50, was99, was999] = more;
        let cells = format!(
            "  {wait:<6}{orders:<16}{pace:<8}{p50:>6}{p99:>7}{p999:>7}{journalled:>11}{was50:>5}{was99:>5}{was999:>6}"
        );
        *text += cells.trim_end();
        *text += "\n";
    };
    let percents = ["p50", "p99", "p99.9"];
    line(
        ["wait", "orders", "pace"],
        percents,
        ["journalled", "p50", "p99", "p99.9"],
    );
    for row in rows(part) {
        let ours = three(row.t2_t1_ns.map(micros));
        let was = published(row);
        let journalled = micros(row.journalled_t1_ns[0]);
        line(
            [row.wait.name(), &row.batch, row.pace.name()],
            ours.each_ref().map(String::as_str),
            [&journalled, &was[0], &was[1], &was[2]],
        );
    }
    for (batch, alone) in slow_writes(part) {
        let alone = three(alone.map(micros));
        let percents = alone.each_ref().map(String::as_str);
        line(["write", batch, "alone"], percents, [""; 4]);
    }
}

/// Prints the figures of both protocols, side by side.
fn both(first: &OmsPart<'_>, second: &OmsPart<'_>, text: &mut String) {
    let groups = [
        format!("over {}", first.lines.called()),
        format!("over {}", second.lines.called()),
        "published".to_owned(),
    ];
    let heads = groups.map(|group| format!("{group:>18}")).concat();
    *text += &format!("  {:<22}{heads}\n", "T2-T1 in us");
    let mut line = |wait: &str, orders: &str, groups: [[String; 3]; 3]| {
        let cells = groups.as_flattened().iter();
        let cells: String = cells.map(|cell| format!("{cell:>6}")).collect();
        *text += format!("  {wait:<6}{orders:<16}{cells}").trim_end();
        *text += "\n";
    };
    let percents = ["p50", "p99", "p99.9"].map(str::to_owned);
    line("wait", "orders", std::array::from_fn(|_| percents.clone()));
    for (row, other) in rows(first).into_iter().zip(rows(second)) {
        let orders = match row.pace {
            BatchPace::Unpaced => format!("{} at once", row.batch),
            _ => row.batch.clone(),
        };
        let [ours, others] = [row, other].map(|row| three(row.t2_t1_ns.map(micros)));
        line(row.wait.name(), &orders, [ours, others, published(row)]);
    }
    for ((batch, alone), (_, other)) in slow_writes(first).zip(slow_writes(second)) {
        let [alone, other] = [alone, other].map(|it| three(it.map(micros)));
        line("write", batch, [alone, other, Default::default()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::oms::{BatchWait, sample};

    fn fits(text: &str) {
        assert!(text.lines().count() < 24, "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn one_protocol_has_its_lines_and_the_record() {
        let text = screen(&sample::report());
        fits(&text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            &lines[..2],
            [
                "bench oms: FIX client, OMS with every control and its journal,",
                "  FIX 4.4 lines, venue that accepts every order",
            ]
        );
        let at = lines
            .iter()
            .position(|it| it.starts_with("  wait"))
            .unwrap();
        assert_eq!(
            &lines[at..at + 3],
            [
                "  wait  orders          pace       p50    p99  p99.9 journalled  p50  p99 p99.9",
                "  spin  10              paced     7.10   9.30   10.4       2.10    9   15    15",
                "  spin  100000          unpaced   7.10   9.30   10.4       2.10    2 1564  4079",
            ]
        );
        let mut over_tmp = sample::report();
        over_tmp.lines = crate::oms::line_protocol::LineProtocol::Tmp;
        let text = screen(&over_tmp);
        assert!(text.contains("\n  TAIFEX TMP lines, venue that"), "{text}");
    }

    /// Slow rows after the rows of `bench oms --published`, with their bare write.
    fn with_slow_rows(rows: &mut Vec<BatchRow>) {
        rows.clear();
        for wait in [BatchWait::Spin, BatchWait::Block] {
            for pace in [BatchPace::Paced, BatchPace::Unpaced] {
                let batches = ["1", "10", "100", "1000", "10000", "100000"];
                rows.extend(batches.map(|batch| sample::row(wait, batch, pace)));
            }
            for ms in [1000, 500, 100] {
                let mut row = sample::row(wait, &format!("60 each {ms} ms"), BatchPace::Slow);
                let alone = [78_400, 80_000, 90_000, 95_000, 99_000];
                row.bare_write_ns = (wait == BatchWait::Spin).then_some(alone);
                rows.push(row);
            }
        }
    }

    #[test]
    fn slow_rows_fit_beside_a_write_at_their_pace() {
        let mut report = sample::over_both();
        with_slow_rows(&mut report.rows);
        let text = screen(&report);
        fits(&text);
        if let Some(also) = &mut report.also {
            with_slow_rows(&mut also.rows);
        }
        let text = screen(&report);
        fits(&text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            &lines[lines.len() - 12..],
            [
                "  wait  orders             p50   p99 p99.9   p50   p99 p99.9   p50   p99 p99.9",
                "  spin  10000             7.10  9.30  10.4  7.10  9.30  10.4     3    11    17",
                "  spin  100000 at once    7.10  9.30  10.4  7.10  9.30  10.4     2  1564  4079",
                "  spin  60 each 1000 ms   7.10  9.30  10.4  7.10  9.30  10.4    10   204   204",
                "  spin  60 each 100 ms    7.10  9.30  10.4  7.10  9.30  10.4    10    23    23",
                "  block 10000             7.10  9.30  10.4  7.10  9.30  10.4     6    19   509",
                "  block 100000 at once    7.10  9.30  10.4  7.10  9.30  10.4     5  1841  4368",
                "  block 60 each 1000 ms   7.10  9.30  10.4  7.10  9.30  10.4   116   298   298",
                "  block 60 each 100 ms    7.10  9.30  10.4  7.10  9.30  10.4   114   134   134",
                "  write 60 each 1000 ms   78.4  90.0  95.0  78.4  90.0  95.0",
                "  write 60 each 100 ms    78.4  90.0  95.0  78.4  90.0  95.0",
                "  more: --details, --published (slow rows too), --memory, --json FILE",
            ]
        );
        report.also = None;
        let text = screen(&report);
        fits(&text);
        let slow = text.lines().filter(|it| it.contains("60 each 1000 ms"));
        assert_eq!(
            slow.collect::<Vec<_>>(),
            [
                "  spin  60 each 1000 ms slow      7.10   9.30   10.4       2.10   10  204   204",
                "  block 60 each 1000 ms slow      7.10   9.30   10.4       2.10  116  298   298",
                "  write 60 each 1000 ms alone     78.4   90.0   95.0",
            ]
        );
    }

    #[test]
    fn both_protocols_stand_side_by_side_beside_the_published_figures() {
        let text = screen(&sample::over_both());
        fits(&text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "  FIX 4.4 and TAIFEX TMP lines, venue that accepts every order"
        );
        let at = lines
            .iter()
            .position(|it| it.starts_with("  T2-T1"))
            .unwrap();
        assert_eq!(
            &lines[at..],
            [
                "  T2-T1 in us                     over FIX          over TMP         published",
                "  wait  orders             p50   p99 p99.9   p50   p99 p99.9   p50   p99 p99.9",
                "  spin  10                7.10  9.30  10.4  6.00  6.20  6.30     9    15    15",
                "  spin  100000 at once    7.10  9.30  10.4  6.00  6.20  6.30     2  1564  4079",
                "  block 10                7.10  9.30  10.4  6.00  6.20  6.30    88   107   107",
                "  more: --details, --published (slow rows too), --memory, --json FILE",
            ]
        );
    }
}
