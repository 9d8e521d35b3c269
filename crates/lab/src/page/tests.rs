use super::*;
use crate::load::Pace;
use crate::report::{FLOOR, Row, sample};

fn page(reports: Vec<Report>) -> String {
    let named = reports
        .into_iter()
        .map(|report| ("a<b.json".to_owned(), report));
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
    let page = page(vec![report]);
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("\"><script>") && !page.contains("a<b"));
    assert!(page.matches("&lt;script&gt;alert(1)").count() > 20);
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
                .map(|at| crate::series::RunSecond {
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
