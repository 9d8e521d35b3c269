//! A report as test results: JUnit XML and TeamCity service messages.

use std::fmt::{self, Write};

use super::{Report, Row, chart::escape, pace_cell, pace_text};
use crate::assertion::AssertionVerdict;
use crate::load::Faults;

/// Writes a test suite in JUnit XML: a test case for each verdict, and a test case for the faults of each row.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, verdicts: &[AssertionVerdict], to: &mut impl Write) -> fmt::Result {
    let faults: Vec<(String, Faults)> = report.rows.iter().map(faults_of).collect();
    let faulty = faults.iter().filter(|(_, faults)| faults.total() > 0);
    let failures = faulty.count() + verdicts.iter().filter(|verdict| !verdict.passed).count();
    writeln!(to, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        to,
        r#"<testsuite name="fixwire bench {}" tests="{}" failures="{failures}" errors="0" timestamp="{}">"#,
        escape(&report.scenario),
        faults.len() + verdicts.len(),
        escape(report.origin.date.trim_end_matches('Z'))
    )?;
    for (row, faults) in &faults {
        let failure = (faults.total() > 0).then(|| {
            format!(
                "{} lost, {} duplicate, {} out of order, {} wrong",
                faults.lost, faults.duplicate, faults.out_of_order, faults.wrong
            )
        });
        write_case(to, row, "every order is answered once, in order", failure)?;
    }
    for verdict in verdicts {
        let failure = (!verdict.passed).then(|| verdict.found_text());
        write_case(to, &verdict.row, &verdict.assertion, failure)?;
    }
    writeln!(to, "</testsuite>")
}

fn faults_of(row: &Row) -> (String, Faults) {
    let mut all = Faults::default();
    row.runs.iter().for_each(|run| all.add(&run.faults));
    (format!("{} at {}", row.subject, pace_text(row.pace)), all)
}

fn write_case(
    to: &mut impl Write,
    class: &str,
    name: &str,
    failure: Option<String>,
) -> fmt::Result {
    let (class, name) = (escape(class), escape(name));
    match failure {
        None => writeln!(to, r#"  <testcase classname="{class}" name="{name}"/>"#),
        Some(text) => writeln!(
            to,
            r#"  <testcase classname="{class}" name="{name}"><failure message="{}"/></testcase>"#,
            escape(&text)
        ),
    }
}

/// Writes TeamCity's statistics: percentiles of each run's response time, in microseconds.
///
/// # Errors
///
/// When writing fails.
pub fn write_teamcity(report: &Report, to: &mut impl Write) -> fmt::Result {
    for row in &report.rows {
        for (index, run) in row.runs.iter().enumerate() {
            let figures = run.response;
            let named = [
                ("50", figures.p50),
                ("90", figures.p90),
                ("99", figures.p99),
                ("99.9", figures.p99_9),
                ("99.99", figures.p99_99),
                ("worst", figures.worst),
            ];
            for (name, nanos) in named {
                let key = format!(
                    "{}.{}.{}.run{}.{name}",
                    report.scenario,
                    row.subject,
                    pace_cell(row.pace),
                    index + 1
                );
                writeln!(
                    to,
                    "##teamcity[buildStatisticValue key='{}' value='{:.3}']",
                    teamcity_text(&key),
                    nanos as f64 / 1e3
                )?;
            }
        }
    }
    Ok(())
}

/// Escapes special characters of service messages.
fn teamcity_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '\'' | '[' | ']' => escaped.extend(['|', letter]),
            '\n' => escaped.push_str("|n"),
            '\r' => escaped.push_str("|r"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assertion::Assertions;
    use crate::report::sample;

    #[test]
    fn verdicts_and_faults_are_test_cases() {
        let mut report = sample::report();
        report.rows[3].runs[1].faults.lost = 7;
        report.rows[3].subject = "a <peer>".to_owned();
        let verdicts = "p50<10us".parse::<Assertions>().unwrap().judge(&report);
        let mut xml = String::new();
        write(&report, &verdicts, &mut xml).unwrap();
        assert!(
            xml.contains(r#"name="fixwire bench echo" tests="6" failures="2""#),
            "{xml}"
        );
        let lost = r#"<testcase classname="a &lt;peer&gt; at 50,000/s" name="every order is answered once, in order"><failure message="7 lost, 0 "#;
        assert!(xml.contains(lost), "{xml}");
        let passed = r#"<testcase classname="fixwire at ping-pong" name="p50&lt;10us"/>"#;
        assert!(xml.contains(passed), "{xml}");
        assert_eq!(xml.matches("<failure").count(), 2, "{xml}");
        assert_eq!(xml.matches("<testcase").count(), 6, "{xml}");
    }

    #[test]
    fn teamcity_gets_a_value_for_each_percentile_and_run() {
        let mut report = sample::report();
        report.rows[0].subject = "it's [a|b]".to_owned();
        let mut text = String::new();
        write_teamcity(&report, &mut text).unwrap();
        assert_eq!(text.lines().count(), 4 * 3 * 6);
        let first = "##teamcity[buildStatisticValue key='echo.it|'s |[a||b|].ping-pong.run1.50' value='8.50";
        assert!(text.starts_with(first), "{text}");
    }
}
