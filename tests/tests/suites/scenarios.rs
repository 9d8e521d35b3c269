//! Does the session do what the scenarios say, and would they notice if it did not?

use std::path::Path;

use fixwire_rigs::scenario::Scenario;
use fixwire_rigs::scenario::player::play;

fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    Scenario::all(&folder).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn the_session_does_what_every_scenario_says() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 80, "only {} scenarios", scenarios.len());
    let mut failures = Vec::new();
    for scenario in &scenarios {
        for version in &scenario.versions {
            failures.extend(
                play(scenario, version)
                    .err()
                    .map(|failure| failure.to_string()),
            );
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn every_scenario_names_its_source() {
    let without: Vec<String> = scenarios()
        .into_iter()
        .filter(|scenario| !scenario.has_source)
        .map(|scenario| scenario.name)
        .collect();
    assert!(without.is_empty(), "no `# Source:` line: {without:?}");
}

/// Each name in the document has its file, and every feature has its scenarios there.
#[test]
fn the_document_names_scenarios_that_exist() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/session-behaviour.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let known: Vec<String> = scenarios()
        .iter()
        .map(|found| found.file().to_owned())
        .collect();
    let words = text.split('`').skip(1).step_by(2);
    let named: Vec<&str> = words
        .filter(|word| word.contains('-') && !word.contains(['.', ' ']))
        .collect();
    assert!(named.len() > 100, "only {} names", named.len());
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !known.iter().any(|found| found == *name))
        .collect();
    assert!(missing.is_empty(), "no such scenario: {missing:?}");
}

#[test]
fn every_expectation_can_fail() {
    for scenario in scenarios() {
        for at in 0..scenario.steps.len() {
            let Some(wrong) = scenario.steps[at].action.spoilt() else {
                continue;
            };
            let mut spoilt = scenario.clone();
            let line = spoilt.steps[at].line;
            spoilt.steps[at].action = wrong;
            let failure = play(&spoilt, scenario.versions[0])
                .expect_err(&format!("{}:{line} checks nothing", scenario.name));
            assert_eq!(failure.line, line, "{failure}");
        }
    }
}

const EXAMPLE: &str = "\
# Source: this file
session role=acceptor
logged-on
recv 35=0|34=4
send 35=2|7=2|16=0
";

#[test]
fn a_failure_names_file_line_expectation_and_what_came() {
    let text = EXAMPLE.replace("7=2", "7=3");
    let scenario = Scenario::parse("gap-is-requested-once", &text).expect("a scenario");
    let failure = play(&scenario, "4.4")
        .expect_err("it asks from 2")
        .to_string();
    let wanted = "gap-is-requested-once [4.4]:5: expected send 35=2|7=3|16=0, got send 8=FIX.4.4|";
    assert!(failure.starts_with(wanted), "{failure}");
}

#[test]
fn what_the_scenario_does_not_say_is_a_failure() {
    let text = EXAMPLE.replace("send 35=2|7=2|16=0\n", "numbers in=2\n");
    let scenario = Scenario::parse("silent", &text).expect("a scenario");
    let failure = play(&scenario, "4.4").expect_err("it asks").to_string();
    assert!(
        failure.starts_with("silent [4.4]:6: expected nothing, got send "),
        "{failure}"
    );
}

#[test]
fn mistakes_in_a_file_are_named() {
    for (wrong, what) in [
        ("sned 35=0", "unknown directive `sned`"),
        ("recv 35", "`35` is no field"),
        ("recv x=1", "`x` is no tag"),
        ("wait 6", "`6` is no time; write 6s, 1.5s or 250ms"),
        ("connect now", "`connect` takes no argument"),
        ("versions: 4.9", "unknown version 4.9"),
        (
            "session role=acceptor",
            "`session` comes once, before everything else",
        ),
        (
            "numbers inn=2",
            "`numbers` takes in=, out= and epoch=, not inn=2",
        ),
    ] {
        let text = format!("{EXAMPLE}{wrong}\n");
        let failure = Scenario::parse("wrong", &text).expect_err(wrong);
        assert_eq!(failure.to_string(), format!("wrong:6: {what}"));
    }
    for (settings, what) in [
        ("roel=acceptor", "unknown setting roel"),
        ("role=none", "role=none: no such value"),
        ("in=x", "in=x: not a number"),
    ] {
        let text = EXAMPLE.replace("role=acceptor", settings);
        let scenario = Scenario::parse("wrong", &text).expect("well-formed");
        let failure = play(&scenario, "4.4").expect_err(settings);
        assert_eq!(failure.to_string(), format!("wrong [4.4]:2: {what}"));
    }
}
