use super::*;
use crate::load::Pace;
use crate::report::oms::{BatchPace, BatchRequest, BatchWait};
use crate::report::{FLOOR, Row, oms, sample, transactions};

fn page(reports: Vec<Report>) -> String {
    page_of(reports.into_iter().map(AnyReport::from))
}

fn page_of(reports: impl Iterator<Item = AnyReport>) -> String {
    let named = reports.map(|report| ("a<b.json".to_owned(), report));
    let mut text = String::new();
    write(&named.collect::<Vec<_>>(), &mut text).unwrap();
    let (shown, _) = text.split_once("<script>").unwrap();
    assert!(!shown.contains("NaN") && !shown.contains(" inf"), "{shown}");
    text
}

/// The elements of pictures that have this key.
fn curves<'a>(page: &'a str, key: &str) -> Vec<&'a str> {
    let key = format!(r#"data-curve="{key}""#);
    let paths = page
        .lines()
        .filter(|line| line.starts_with("<path class=\"curve"));
    paths.filter(|path| path.contains(&key)).collect()
}

#[test]
fn each_subject_at_each_pace_has_its_curves_and_what_is_published_stands_beside_it() {
    let page = page(vec![sample::report()]);
    for key in [
        "ping-pong|tcp floor",
        "ping-pong|fixwire",
        "50000|tcp floor",
        "50000|fixwire",
    ] {
        // Response and service time, the histogram, and three of each second.
        let found = curves(&page, &format!("echo|{key}"));
        assert_eq!(found.len(), 6, "{key}: {found:?}");
    }
    let published = curves(&page, "echo|50000|QuickFIX/J");
    assert_eq!(published.len(), 1);
    assert!(published[0].contains(r#"data-time="published""#));
    assert_eq!(
        curves(&page, "echo|ping-pong|FIX Antenna, balanced").len(),
        1
    );
    assert!(page.contains("1.12 times the raw TCP exchange"), "{page}");
    assert!(page.contains("<td>16.6<small>1.94 x</small>"), "{page}");
    assert!(page.contains("<li>a note"));
}

#[test]
fn what_a_file_says_cannot_be_more_than_text() {
    let evil = "\"><script>alert(1)</script>&|";
    let mut report = sample::report();
    report.rows[1].subject = evil.to_owned();
    for text in [
        &mut report.scenario,
        &mut report.title,
        &mut report.settings,
        &mut report.origin.command,
        &mut report.origin.host,
        &mut report.machine.processor,
        &mut report.notes[0],
    ] {
        *text = evil.to_owned();
    }
    let finding = serde_json::json!({
        "name": evil, "weight": evil, "health": "bad", "found": evil, "good": evil,
    });
    report.host_facts = Some(serde_json::json!({ "findings": [finding, evil] }));
    let mut stages = crate::stages::sample(500.0, 15, 40_500.0);
    stages.stages[0].end = evil.into();
    stages.stages[15].stage = evil.into();
    report.rows[1].runs[0].stages = Some(stages);
    report.rows[1].runs[0].faults.lost = 1;
    let mut batches = oms::sample::report();
    let mut milliseconds = transactions::sample::report();
    for text in [
        &mut batches.origin.command,
        &mut batches.machine.processor,
        &mut batches.venue,
        &mut batches.place,
        &mut batches.rows[0].batch,
        &mut milliseconds.origin.host,
        &mut milliseconds.place,
    ] {
        *text = evil.to_owned();
    }
    let page = page_of([report.into(), batches.into(), milliseconds.into()].into_iter());
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("\"><script>") && !page.contains("a<b"));
    assert!(page.matches("&lt;script&gt;alert(1)").count() > 20);
}

/// The tables of a page, each with its rows of the body.
fn tables(page: &str) -> Vec<Vec<&str>> {
    let tables = page.split("<table class=\"figures\">").skip(1);
    tables
        .map(|table| {
            let (table, _) = table.split_once("</table>").unwrap();
            let (_, body) = table.split_once("</thead>").unwrap();
            body.split("<tr").skip(1).map(str::trim_end).collect()
        })
        .collect()
}

#[test]
fn batches_have_a_table_for_each_wait_with_what_is_published_below() {
    let mut report = oms::sample::report();
    let mut cancels = oms::sample::row(BatchWait::Spin, "100000", BatchPace::Unpaced);
    cancels.request = BatchRequest::Cancel;
    cancels.published_us = None;
    report.rows.push(cancels);
    report.rows[1].bare_write_ns = Some([78_400, 80_000, 90_000, 95_000, 99_000]);
    let page = page_of([report.into()].into_iter());
    let [spin, block] = &tables(&page)[..] else {
        panic!("{page}")
    };
    let write = "<td>4.10<td>4.20<td>4.30<td>4.40<td>4.50<td><td><td><td><td><td>";
    let ten = |published: [&str; 5]| {
        let pairs = ["7.10", "8.20", "9.30", "10.4", "11.5"].into_iter();
        let pairs = pairs.zip(published);
        let cells = pairs.map(|(ours, was)| format!("<td>{ours}<small>{was}</small>"));
        cells.collect::<String>() + "<td>2.10<td>2.30<td>20.1<td>40.3"
    };
    assert_eq!(
        spin[..3],
        [
            format!(" class=\"floor\"><th>write(2) alone<th>paced{write}"),
            format!(" class=\"floor\"><th>write(2) alone<th>unpaced{write}"),
            format!(
                "><th>10<small>published</small><th>new, paced{}<td>0.056<td>0.057",
                ten(["9", "15", "15", "15", "15"])
            ),
        ]
    );
    let largest = ten(["2", "4", "1564", "4079", "5102"]);
    assert_eq!(
        spin[3],
        format!(
            "><th>100000<small>published</small><th>new, unpaced{largest}<td>0.056<small>1.023</small>\
             <td>0.057<small>5.06</small>"
        )
    );
    let alone = " class=\"floor\"><th>write(2) alone<th>100000<td>78.4<td>80.0<td>90.0";
    assert!(spin[4].starts_with(alone), "{}", spin[4]);
    assert!(spin[5].starts_with("><th>100000<th>cancel, unpaced<td>7.10<td>"));
    assert_eq!(spin.len(), 6);
    assert!(block[2].contains("new, paced<span title=\"preempted 3 times, 0 ms taken"));
    assert!(block[2].contains("<td>7.10<small>88</small>"));
    let on_time = " class=\"floor\"><th>of these, 7<th>sent on time<td>6.10<td>6.20";
    assert!(block[3].starts_with(on_time), "{}", block[3]);
    // No curve, so nothing to hide.
    assert!(!page.contains("<form"));
    assert!(page.contains("<dt>Processor<dd>") && page.contains("Most: 107,805 orders a second"));
}

#[test]
fn batches_over_two_protocols_have_a_table_for_each() {
    let page = page_of([oms::sample::over_both().into()].into_iter());
    let [fix, tmp, fix_block, tmp_block] = &tables(&page)[..] else {
        panic!("{page}")
    };
    for (rows, p50) in [(fix, "7.10"), (tmp, "6.00")] {
        let row = format!("><th>10<small>published</small><th>new, paced<td>{p50}<small>9</small>");
        assert!(rows[2].starts_with(&row), "{}", rows[2]);
    }
    let bare = "<th>write(2) alone<th>paced<td>3.90<td>";
    assert!(tmp[0].contains(bare) && tmp_block[0].contains(bare));
    assert!(fix_block[2].contains("<td>7.10<small>88</small>"));
    for caption in ["Over FIX, the OMS spins", "Over TMP, the OMS sleeps"] {
        assert_eq!(page.matches(caption).count(), 1, "{caption}");
    }
    assert!(page.contains("its journal, FIX 4.4 and TAIFEX TMP lines, venue"));
    assert!(page.contains(
        "1,000 orders sent at once over FIX: the OMS answered and reported 107,805 a second"
    ));
}

#[test]
fn transactions_have_their_row_below_the_published_ones_and_a_picture() {
    let mut report = transactions::sample::report();
    report.taken.steal_ms = 20;
    let page = page_of([report.into()].into_iter());
    let [rows] = &tables(&page)[..] else {
        panic!("{page}")
    };
    assert_eq!(rows.len(), 4);
    assert_eq!(
        rows[2],
        " class=\"floor\"><th>RHEL 5.6, tuned, real-time, NUMA<td>63.731<td><td>0.00003 %<td>86.22 %<td>13.78 %<td>"
    );
    assert!(rows[3].starts_with("><th>fixwire<span title=\"preempted 0 times, 20 ms taken"));
    let figures = "<td>0.075<td>20.00 %<td>13.33 %<td>26.67 %<td>0.00 %<td>40.00 %";
    assert!(rows[3].ends_with(figures), "{}", rows[3]);
    assert!(page.contains("1,530 transactions in 0.075 s. Of that time"));
    for (name, time) in [
        ("fixwire", "response"),
        ("RHEL 5.6, untuned", "published"),
        ("RHEL 5.6, tuned", "published"),
    ] {
        let found = curves(&page, &format!("transactions|{name}"));
        assert_eq!(found.len(), 1, "{name}");
        assert!(found[0].contains(&format!("data-time=\"{time}\"")));
    }
    assert!(page.contains("<figure id=\"f1-milliseconds\""));
    // Each curve has its box; there is no service time to show.
    assert_eq!(page.matches("type=\"checkbox\"").count(), 4);
}

#[test]
fn rows_of_one_subject_are_one_curve_and_each_is_in_the_table() {
    let mut report = sample::report();
    let floor = report.rows[0].clone();
    let peer = Row {
        subject: "quickfix-cpp:persistent".to_owned(),
        ..report.rows[1].clone()
    };
    report.rows.splice(2..2, [floor, peer]);
    let page = page(vec![report]);
    let floors = curves(&page, "echo|ping-pong|tcp floor");
    assert_eq!(floors.len(), 6, "{floors:?}");
    assert_eq!(page.matches("<th>tcp floor").count(), 3);
    assert_eq!(page.matches("<th>quickfix-cpp:persistent").count(), 1);
}

#[test]
fn a_report_without_runs_is_still_a_page() {
    let mut report = sample::report();
    for row in &mut report.rows {
        row.runs.clear();
    }
    assert!(page(vec![report]).ends_with("</html>\n"));
}

#[test]
fn a_large_result_is_a_page_below_a_megabyte() {
    let mut report = sample::report();
    report.rows.clear();
    for rate in [1_000, 2_000, 10_000, 50_000, 100_000] {
        for subject in 0..12 {
            let mut run = sample::run(8_000 + subject * 1_000, 60.0);
            // All decades that there are.
            for value in 0..200_000 {
                run.histogram.saturating_record(500 + value * value);
                run.service_histogram.saturating_record(400 + value * value);
            }
            let second = run.series[0];
            run.series = (0..3_600)
                .map(|at| crate::load::series::RunSecond {
                    second: at,
                    ..second
                })
                .collect();
            report.rows.push(Row {
                pace: Pace::PerSecond(rate),
                subject: match subject {
                    0 => FLOOR.to_owned(),
                    _ => format!("engine {subject} of a long name"),
                },
                runs: vec![run.clone(), run.clone(), run],
            });
        }
    }
    let page = page(vec![report]);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}
