//! Lines and keys that engines of the QuickFIX family read differently.

use super::*;

/// QuickFIX/J accepts a comment after a section; for other engines the error names it.
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
            error.contains("text after the section's `]`"),
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

#[test]
fn a_private_key_without_its_certificate_is_ignored_where_the_engine_ignores_it() {
    let file = |dialect: &str, role: &str, lines: &str| {
        let text = format!(
            "[DEFAULT]\nDialect={dialect}\nConnectionType={role}\nSocketAcceptPort=1\nSocketConnectHost=a\n\
             SocketConnectPort=1\nHeartBtInt=30\nSocketUseSSL=Y\nSocketInsecureSkipVerify=Y\n\
             StartTime=00:00:00\nEndTime=00:00:00\n{lines}\n[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\n\
             TargetCompID=B\n"
        );
        let path = "x.cfg".into();
        Settings::read(&Source { path, text })
    };
    for (role, line) in [
        ("initiator", "ClientCertificateKeyFile=client.key"),
        ("acceptor", "ServerCertificateKeyFile=server.key"),
        // Keys of the other role, which are not read.
        ("acceptor", "ClientCertificateKeyFile=client.key"),
    ] {
        let settings = file("quickfix", role, line).unwrap();
        let warnings = settings.report.to_string();
        assert!(
            warnings.contains("ignored: a private key without its certificate"),
            "{role} {line}: {warnings}"
        );
        let ours = file("fixwire", role, line).unwrap();
        assert!(!ours.report.to_string().contains("ignored"));
        let error = ours.to_config().map(drop).unwrap_err().to_string();
        assert!(error.contains("certificate"), "{error}");
    }
    let config = file(
        "quickfix",
        "initiator",
        "ClientCertificateKeyFile=client.key",
    );
    // Without the feature there is no TLS at all; the key is not the cause of the error.
    if let Err(error) = config.unwrap().to_config() {
        assert!(error.to_string().contains("has no TLS"), "{error}");
    }
}
