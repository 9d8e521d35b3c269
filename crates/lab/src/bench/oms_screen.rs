//! The first screen of `bench oms`: paced orders and the largest batch beside the published figures, in 80 x 24.

use crate::report::oms::{BatchPace, BatchRequest, BatchRow, OmsPart, OmsReport, sentences};
use crate::report::screen::paragraph;
use crate::report::table::micros;

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

/// The rows that fit: paced orders and the largest batch at once.
fn rows<'a>(part: &OmsPart<'a>) -> Vec<&'a BatchRow> {
    let all = || {
        let rows = part.rows.iter();
        rows.filter(|row| row.request == BatchRequest::New)
    };
    let largest = all()
        .rfind(|row| row.pace == BatchPace::Unpaced)
        .map(|row| &row.batch);
    let shown = |row: &&BatchRow| match row.pace {
        BatchPace::Unpaced => Some(&row.batch) == largest,
        // One order is not significant, and the screen is small.
        _ => row.batch != "1",
    };
    all().filter(shown).collect()
}

/// 50, 99 and 99.9 % of five.
fn three<T>([p50, _, p99, p999, _]: [T; 5]) -> [T; 3] {
    [p50, p99, p999]
}

/// What is published of a batch; empty cells without it.
fn published(row: &BatchRow) -> [String; 3] {
    let was = row.published_us.map(|was| was.map(|us| us.to_string()));
    three(was.unwrap_or_default())
}

fn one(part: &OmsPart<'_>, text: &mut String) {
    *text += "  T2-T1 in us: an order is found, what it causes is written    published T2-T1\n";
    let mut line = |[wait, orders, pace]: [&str; 3],
                    [p50, p99, p999]: [&str; 3],
                    more: [&str; 4]| {
        let [journalled, was50, was99, was999] = more;
        *text += &format!(
            "  {wait:<6}{orders:<16}{pace:<8}{p50:>6}{p99:>7}{p999:>7}{journalled:>11}{was50:>5}{was99:>5}{was999:>6}\n"
        );
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
}

/// The same over both protocols, side by side.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::oms::sample;

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
                "  FIX 4.4 lines, venue that accepts what it reads",
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
        over_tmp.lines = crate::line_protocol::LineProtocol::Tmp;
        let text = screen(&over_tmp);
        assert!(text.contains("\n  TAIFEX TMP lines, venue that"), "{text}");
    }

    #[test]
    fn both_protocols_stand_side_by_side_beside_the_published_figures() {
        let text = screen(&sample::over_both());
        fits(&text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "  FIX 4.4 and TAIFEX TMP lines, venue that accepts what it reads"
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
