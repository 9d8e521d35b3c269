//! Lines and keys that engines of the QuickFIX family read in other ways.

use super::*;

/// A comment behind a section is QuickFIX/J's; elsewhere the error says what is wrong.
#[test]
fn a_comment_behind_a_section_is_read_by_quickfixj_and_named_by_the_others() {
    let file = |dialect: &str, behind: &str| {
        let text = format!(
            "[DEFAULT]{behind}\nDialect={dialect}\nConnectionType=acceptor\nSocketAcceptPort=1\n[SESSION] {behind}\n\
             BeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nStartTime=00:00:00\nEndTime=00:00:00\n"
        );
        let path = "x.cfg".into();
        Settings::read(&Source { path, text }).map_err(|error| error.to_string())
    };
    assert_eq!(
        file("quickfixj", "  # all of them").unwrap().sessions.len(),
        1
    );
    assert!(file("quickfixj", "#x").is_ok());
    for (dialect, behind) in [
        ("quickfix", " # text"),
        ("quickfixgo", " # text"),
        ("quickfixn", "# text"),
        ("fixwire", " # text"),
        ("fixwire", " text"),
    ] {
        let error = file(dialect, behind).unwrap_err();
        assert!(
            error.contains("text behind the section's `]`"),
            "{dialect}: {error}"
        );
    }
}

/// The dictionary keys of the other transport.
#[test]
fn a_dictionary_of_the_other_transport_is_ignored_where_the_engine_ignores_it() {
    let file = |dialect: &str, lines: &str| {
        let text = format!(
            "[DEFAULT]\nDialect={dialect}\nConnectionType=acceptor\nSocketAcceptPort=1\nUseDataDictionary=N\n\
             StartTime=00:00:00\nEndTime=00:00:00\n[SESSION]\nSenderCompID=A\nTargetCompID=B\n{lines}\n"
        );
        let path = "x.cfg".into();
        Settings::read(&Source { path, text })
    };
    for lines in [
        "BeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0\nDataDictionary=FIX50.xml",
        "BeginString=FIX.4.4\nTransportDataDictionary=FIXT11.xml",
        "BeginString=FIX.4.4\nAppDataDictionary=FIX44.xml",
    ] {
        for dialect in ["quickfix", "quickfixj", "quickfixgo", "quickfixn"] {
            let settings = file(dialect, lines).unwrap();
            let warnings = settings.report.to_string();
            assert!(
                warnings.contains("ignored: "),
                "{dialect} {lines}: {warnings}"
            );
        }
        assert!(file("fixwire", lines).is_err());
    }
}
