use super::*;
use crate::report::sample;

fn screen(report: &Report) -> String {
    let mut text = String::new();
    write(report, &mut text).unwrap();
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
        assert_eq!(line.trim_end(), line);
    }
    assert!(text.lines().count() < 24, "{text}");
    text
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Gaps caused everything from p99 up in these runs.
fn disturb(report: &mut Report, row: usize, runs: &[usize]) {
    for run in runs {
        report.rows[row].runs[*run].touched = [0.0, 0.3, 0.9, 1.0, 1.0, 1.0];
        report.rows[row].runs[*run].touched_long = [0.0, 0.3, 0.9, 1.0, 1.0, 1.0];
    }
}

#[test]
fn a_quiet_run_has_one_sentence_one_picture_and_one_table() {
    let mut report = sample::report();
    for run in report.rows.iter_mut().flat_map(|row| &mut row.runs) {
        run.distance = crate::machine::distance::Distance::Near;
    }
    let text = screen(&report);
    assert!(
        text.starts_with("bench echo: FIX 4.2 order and report over TCP\n"),
        "{text}"
    );
    let said = words(&text);
    assert!(
        said.contains(
            "9.55 us an order, 1.12 times the raw TCP exchange (8.55 us). 12,000 orders, none lost, doubled or \
             out of order."
        ),
        "{text}"
    );
    assert!(said.contains("closed loop: * fixwire . TCP"), "{text}");
    assert!(
        said.contains("rate p50 us x TCP p99 us x TCP p99.9 us runs"),
        "{text}"
    );
    assert!(
        said.contains("closed loop 9.55 1.12 10.0 1.11 10.1 3"),
        "{text}"
    );
    assert!(
        said.contains("50,000/s 16.6 1.94 17.0 1.89 17.1 3"),
        "{text}"
    );
    assert!(
        !text.contains('~') && !text.contains("FAILED") && !text.contains("\x1b"),
        "{text}"
    );
}

#[test]
fn what_the_machine_did_is_marked_and_said() {
    let mut report = sample::report();
    disturb(&mut report, 3, &[0, 2]);
    disturb(&mut report, 1, &[1]);
    let text = screen(&report);
    let said = words(&text);
    assert!(
        said.contains(
            "The machine disturbed 3 of 6 runs: times and ratios marked ~ are affected; `fixwire doctor` says why."
        ),
        "{text}"
    );
    assert!(
        said.contains("50,000/s 16.6 1.94 ~17.0 ~ ~17.1 3, 2 disturbed"),
        "{text}"
    );
    assert!(
        said.contains("closed loop 9.55 1.12 10.0 1.11 10.1 3, 1 disturbed"),
        "{text}"
    );
}

#[test]
fn a_time_that_the_floor_suffered_as_well_is_marked_and_its_ratio_is_not() {
    let mut report = sample::report();
    disturb(&mut report, 2, &[0, 1, 2]);
    disturb(&mut report, 3, &[0, 1, 2]);
    let said = words(&screen(&report));
    assert!(
        said.contains("50,000/s 16.6 1.94 ~17.0 1.89 ~17.1 3, 3 disturbed"),
        "{said}"
    );
    assert!(
        said.contains("disturbed 3 of 6 runs, and 3 of the 6 of raw TCP beside them: times"),
        "{said}"
    );
}

#[test]
fn short_gaps_of_both_mark_nothing() {
    let mut report = sample::report();
    for row in &mut report.rows[2..] {
        for run in &mut row.runs {
            run.touched = [0.0, 0.3, 0.8, 0.9, 1.0, 1.0];
        }
    }
    let text = screen(&report);
    assert!(!text.contains('~') && !text.contains("disturbed"), "{text}");
}

#[test]
fn a_ratio_to_a_disturbed_floor_is_none() {
    let mut report = sample::report();
    disturb(&mut report, 2, &[0, 1]);
    let said = words(&screen(&report));
    assert!(said.contains("50,000/s 16.6 1.94 17.0 ~ 17.1 3"), "{said}");
    assert!(
        said.contains("disturbed 2 of the 6 runs of raw TCP beside ours: times"),
        "{said}"
    );
}

#[test]
fn the_disturbed_runs_of_the_sentence_are_those_of_the_rows() {
    for rows in [&[1_usize, 3][..], &[0, 1], &[0, 2], &[0, 1, 2, 3]] {
        let mut report = sample::report();
        for row in rows {
            disturb(&mut report, *row, &[0, 1]);
        }
        let said = words(&screen(&report));
        let of_rows = said.matches("3, 2 disturbed").count() * 2;
        let ours = format!("The machine disturbed {of_rows} of 6 runs");
        let floor_only = "The machine disturbed 4 of the 6 runs of raw TCP";
        let expected = if of_rows == 0 { floor_only } else { &ours };
        assert!(said.contains(expected), "{rows:?}: {said}");
    }
}

#[test]
fn the_distance_of_the_cores_says_what_it_does() {
    let mut report = sample::report();
    let said = words(&screen(&report));
    let apart = "In 4 of 12 runs the two cores shared no cache, at least for a time, so that each message took longer.";
    let ratios = "Ratios compare only runs with the cores at the same distance";
    assert!(said.contains(&format!("{apart} {ratios}.")), "{said}");
    for run in &mut report.rows[3].runs {
        run.distance = crate::machine::distance::Distance::Moved;
    }
    let said = words(&screen(&report));
    assert!(said.contains("In 6 of 12 runs"), "{said}");
    assert!(
        said.contains(&format!("{ratios}; - means no such runs.")),
        "{said}"
    );
    assert!(said.contains("50,000/s 16.6 - 17.0 - 17.1 3"), "{said}");
    report.rows.truncate(1);
    let said = words(&screen(&report));
    assert!(!said.contains(ratios), "{said}");
}

#[test]
fn faults_come_first() {
    let mut report = sample::report();
    report.rows[3].runs[1].faults.lost = 7;
    report.rows[3].runs[1].faults.wrong = 2;
    let text = screen(&report);
    let first = "FAILED: fixwire, 50,000/s, run 2: 7 lost, 2 wrong answers of 1,000 orders\n";
    assert!(text.starts_with(first), "{text}");
    assert!(
        words(&text).contains("Of 12,000 orders 9 went wrong, see above."),
        "{text}"
    );
    for row in &mut report.rows {
        for run in &mut row.runs {
            run.faults.lost = 1;
        }
    }
    disturb(&mut report, 3, &[0, 1, 2]);
    let text = screen(&report);
    assert_eq!(text.matches("FAILED").count(), FAULTS + 1, "{text}");
    assert!(
        text.contains("FAILED: 9 more runs: see --details"),
        "{text}"
    );
    assert!(text.contains('~'), "{text}");
}

#[test]
fn a_floor_alone_has_more_percentiles() {
    let mut report = sample::report();
    report.rows.truncate(1);
    let said = words(&screen(&report));
    assert!(said.contains("8.55 us an exchange. 3,000 orders"), "{said}");
    assert!(
        said.contains("rate p50 us p90 us p99 us p99.9 us worst us runs"),
        "{said}"
    );
    assert!(said.contains("* tcp floor"), "{said}");
}

#[test]
fn several_subjects_have_their_names() {
    let mut report = sample::report();
    for row in [3, 1] {
        let mut more = report.rows[row].clone();
        more.subject = "fixwire, asked".to_owned();
        report.rows.insert(row + 1, more);
    }
    let said = words(&screen(&report));
    assert!(
        said.contains("closed loop fixwire, asked 9.55 1.12"),
        "{said}"
    );
}
