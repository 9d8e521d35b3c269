//! The details of `bench oms`: every batch and time.

use std::fmt::Write as _;

use fixwire_stamps::stats::micros;

use crate::published::OMS_LARGEST;
use crate::report::oms::{BatchFigures, OmsPart, OmsReport};
use crate::report::screen::counts::write_block;

/// Tables of all batches, over lines of each protocol.
pub(super) fn details(found: &OmsReport) -> String {
    let mut text = format!(
        "FIX 4.2 client, OMS with every control and its journal (durability process), {}, {}; {}\n{}\n",
        found.lines_text(),
        found.venue,
        found.place,
        found.machine
    );
    for part in found.parts() {
        write(&part, &mut text);
    }
    text += "\njournal: median time from T1 until the record is committed; *: the client's thread \
        was preempted, or the hypervisor took time\n";
    let _ = writeln!(
        text,
        "published for {}: from the first T0 to the last T2 {} s (block), {} s (busy); to the last \
        reply {} s",
        OMS_LARGEST.batch, OMS_LARGEST.block, OMS_LARGEST.spin, OMS_LARGEST.replied
    );
    text
}

/// Adds what a request of each batch costs, if it was counted. Writing to a string cannot fail.
pub(super) fn counts(found: &OmsReport, text: &mut String) {
    for part in found.parts() {
        for row in part.rows {
            let Some(counts) = &row.counts else {
                continue;
            };
            let (wait, pace, request) = (row.wait.name(), row.pace.name(), row.request.name());
            let lines = part.lines.called();
            let title = format!("{lines}, {wait}, {}, {request}, {pace}", row.batch);
            let _ = write_block(&title, counts, row.calls.as_ref(), text);
        }
    }
}

fn five(figures: &BatchFigures) -> String {
    figures.map(|ns| format!("{:>7}", micros(ns))).concat()
}

/// The table of one protocol. Writing to a string cannot fail.
fn write(found: &OmsPart<'_>, text: &mut String) {
    let _ = writeln!(
        text,
        "\nover {}, microseconds; T1: the OMS has found the message; T2: the OMS has written the \
        resulting messages; percentiles 50, 90, 99, 99.9, worst\n{:<6}{:<16}{:<8}{:<9}{:>35}  \
        {:>7} {:>8}{:>9}{:>11}  published T2-T1",
        found.lines.version(),
        "wait",
        "batch",
        "",
        "",
        "T2-T1",
        "journal",
        "T0..T2",
        "T0..T4",
        "T4-T3 p50"
    );
    for row in found.rows {
        let published = row
            .published_us
            .map(|it| it.map(|it| it.to_string()).join(" / "));
        let _ = writeln!(
            text,
            "{:<6}{:<16}{:<8}{:<9}{}  {:>7} {:>7.4}s{:>8.4}s{:>11}  {}{}",
            row.wait.name(),
            row.batch,
            row.request.name(),
            row.pace.name(),
            five(&row.t2_t1_ns),
            micros(row.journalled_t1_ns[0]),
            row.first_t0_to_last_t2_ns as f64 / 1e9,
            row.first_t0_to_last_t4_ns as f64 / 1e9,
            micros(row.t4_t3_ns[0]),
            published.unwrap_or_default(),
            if row.is_disturbed() { "  *" } else { "" },
        );
    }
    for row in found.rows {
        if let Some(on_time) = &row.on_time() {
            let _ = writeln!(
                text,
                "{:<6}{:<16}{:<8}{:<9}{}  only the {} that the client sent on time",
                row.wait.name(),
                row.batch,
                row.request.name(),
                "paced",
                five(on_time),
                row.untouched
            );
        }
    }
    for (name, figures) in ["paced", "unpaced"].into_iter().zip(found.bare_write_ns) {
        let _ = writeln!(
            text,
            "{:<39}{}",
            format!("write(2) of {} bytes, {name}", found.lines.order_bytes()),
            five(figures)
        );
    }
    for row in found.rows {
        if let Some(alone) = &row.bare_write_ns {
            let bytes = found.lines.order_bytes();
            let name = format!("write(2) of {bytes} bytes, {}", row.batch);
            let _ = writeln!(text, "{name:<39}{}", five(alone));
        }
    }
    for row in found.rows {
        if let Some(layout) = &row.published_layout {
            let (wait, pace, request) = (row.wait.name(), row.pace.name(), row.request.name());
            let _ = writeln!(text, "\n{wait}, {}, {request}, {pace}, us", row.batch);
            let _ = layout.write(text);
        }
    }
    if let Some(saturation) = found.saturation {
        let _ = writeln!(
            text,
            "{} orders at once: {:.0} a second, answered and reported; the client worked {:.0} % \
            of the time, the venue, on the client's thread, {:.0} %",
            saturation.orders,
            saturation.orders_a_second,
            100.0 * saturation.client_share,
            100.0 * saturation.venue_share,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::oms::sample;

    #[test]
    fn each_protocol_has_its_table_and_its_bare_write() {
        let mut report = sample::over_both();
        report.rows[0].bare_write_ns = Some([78_400, 80_000, 90_000, 95_000, 99_000]);
        let text = details(&report);
        assert!(
            text.contains(", FIX 4.4 and TAIFEX TMP lines, venue that"),
            "{text}"
        );
        let tmp = text.find("\nover TAIFEX TMP, micro").unwrap();
        let fix = text.find("\nover FIX 4.4, micro").unwrap();
        let (fix, tmp) = (&text[fix..tmp], &text[tmp..]);
        assert!(fix.contains("write(2) of 163 bytes, paced"), "{fix}");
        let slow = "\nwrite(2) of 163 bytes, 10                 78.4   80.0   90.0   95.0   99.0\n";
        assert!(fix.contains(slow), "{fix}");
        assert!(
            fix.contains("1000 orders at once: 107805 a second"),
            "{fix}"
        );
        assert!(tmp.contains("write(2) of 80 bytes, paced"), "{tmp}");
        assert!(!tmp.contains("a second"), "{tmp}");
        for part in [fix, tmp] {
            assert_eq!(
                part.lines().filter(|it| it.starts_with("spin  ")).count(),
                2,
                "{part}"
            );
            assert!(part.contains("9 / 15 / 15 / 15 / 15"), "{part}");
        }
        let layout = "\nblock, 10, new, paced, us\n\
            T1-T0|50%=20.5|75%=20.5|90%=20.5|99%=20.5|99.9%=20.5|99.99%=20.5|Worst=20|20.5|\n\
            T2-T1|50%=7.5|75%=7.5|90%=7.5|99%=7.5|99.9%=7.5|99.99%=7.5|Worst=7|7.5|\n\
            T0-|50%=10|75%=10|90%=10|99%=10|99.9%=10|99.99%=10|Worst=10|\n\
            T1-|50%=10.5|75%=10.5|90%=10.5|99%=10.5|99.9%=10.5|99.99%=10.5|Worst=10.5|\n\
            T2-|50%=11|75%=11|90%=11|99%=11|99.9%=11|99.99%=11|Worst=11|\n";
        assert!(fix.contains(layout), "{fix}");
        assert!(
            text.contains("published for 100000: from the first T0"),
            "{text}"
        );
    }
}
