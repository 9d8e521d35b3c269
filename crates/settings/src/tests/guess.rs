//! Guessing the engine of a file, and the errors that a guess does not excuse.

use super::*;

/// The acceptor of the README.
const README: &str = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9876\nFileStorePath=store\n\n\
                      [SESSION]\nBeginString=FIX.4.4\nSenderCompID=BROKER\nTargetCompID=CLIENT\n";

fn values(settings: &Settings) -> Vec<(Id, SettingValue, Origin)> {
    let all = settings.sessions[0].settings.iter();
    let defaults = all.filter(|setting| setting.origin.span().is_none());
    defaults
        .map(|setting| (setting.key.id, setting.value.clone(), setting.origin))
        .collect()
}

#[test]
fn one_harmless_key_changes_no_default() {
    let plain = read(README).unwrap();
    assert_eq!(
        (plain.dialect, plain.told),
        (Dialect::Fixwire, DialectSource::Nowhere)
    );
    for line in [
        "SocketAcceptAddress=127.0.0.1",
        "SocketTcpNoDelay=Y",
        "CheckCompID=Y",
        "ValidateSequenceNumbers=Y",
        "LogonTag=464=DESK",
        "HttpAcceptPort=1",
        "SocketCAFile=x.pem\nSocketCertificateFile=x.pem\nSocketPrivateKeyFile=x.key",
    ] {
        let text = README.replace("[SESSION]\n", &format!("[SESSION]\n{line}\n"));
        let other = read(&text).unwrap();
        assert_eq!(
            (other.dialect, other.told),
            (Dialect::Fixwire, DialectSource::Nowhere),
            "{line}"
        );
        let names: Vec<&str> = line
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        let same = values(&plain).into_iter().filter(|(id, ..)| {
            let key = registry::key(*id);
            let all = std::iter::once(key.name).chain(key.names.iter().map(|name| name.name));
            !all.into_iter().any(|name| names.contains(&name))
        });
        assert_eq!(values(&other), same.collect::<Vec<_>>(), "{line}");
    }
    let own = read(&README.replace("[SESSION]\n", "[SESSION]\nSessionName=A\nSocketTcpNoDelay=Y\nValidateChecksum=Y\nValidateSequenceNumbers=Y\n"));
    let own = own.unwrap();
    assert_eq!(
        (own.dialect, own.told),
        (Dialect::Fixwire, DialectSource::ByItsKeys)
    );
}

#[test]
fn a_slip_of_the_pen_is_an_error_unless_somebody_said_whose_file_it_is() {
    let java = "SocketTcpNoDelay=Y\nValidateSequenceNumbers=Y\n";
    let with = |more: &str| README.replace("[SESSION]\n", &format!("[SESSION]\n{java}{more}"));
    let slip = "ResetOnLogin=Y\n";
    let error = errors(&with(slip));
    assert!(error.contains("unknown key `ResetOnLogin`"), "{error}");
    assert!(
        error.contains("did you mean `ResetOnLogon`?") && error.contains("set Dialect=quickfixj"),
        "{error}"
    );
    let kept = read(&with(&format!("Dialect=quickfixj\n{slip}"))).unwrap();
    assert!(kept.report.to_string().contains("kept for the application"));
    assert_eq!(kept.sessions[0].custom[0].key, "ResetOnLogin");
    // Not a typing error: a key of the application.
    let kept = read(&with("MyDesk=Paris\n")).unwrap();
    assert_eq!(
        (kept.dialect, kept.told),
        (Dialect::QuickFixJ, DialectSource::ByItsKeys)
    );
    assert_eq!(kept.sessions[0].custom[0].key, "MyDesk");
}

#[test]
fn keys_of_sample_applications_are_kept_with_a_warning() {
    for (name, dialect) in [
        ("", None),
        ("Dialect=fixwire\n", Some(Dialect::Fixwire)),
        ("Dialect=quickfix\n", Some(Dialect::QuickFix)),
    ] {
        let lines = format!(
            "{name}ValidOrderTypes=1,2,F\nAlwaysFillLimitOrders=Y\nDefaultMarketPrice=12.30\n"
        );
        let settings =
            read(&README.replace("[DEFAULT]\n", &format!("[DEFAULT]\n{lines}"))).unwrap();
        assert_eq!(settings.dialect, dialect.unwrap_or(Dialect::QuickFixJ));
        let said = settings.report.to_string();
        assert_eq!(
            said.matches("of the sample application Executor of QuickFIX/J: it is kept")
                .count(),
            3,
            "{said}"
        );
        assert_eq!(settings.sessions[0].custom.len(), 3);
    }
}

#[test]
fn a_version_that_travels_over_fixt_is_named_with_what_to_write() {
    for (text, version) in [
        ("FIX.5.0", "FIX.5.0"),
        ("FIX50SP2", "FIX.5.0SP2"),
        ("fix.5.0sp1", "FIX.5.0SP1"),
    ] {
        let error = errors(&README.replace("FIX.4.4", text));
        let wanted = format!("write `BeginString=FIXT.1.1` and `DefaultApplVerID={version}`");
        assert!(error.contains(&wanted), "{error}");
    }
    let error = errors(&README.replace("FIX.4.4", "FIX.4.5"));
    assert!(!error.contains("DefaultApplVerID"), "{error}");
}

#[test]
fn a_missing_file_of_a_stock_name_is_the_built_in_dictionary() {
    let fixt = "[SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0\nSenderCompID=BROKER\n\
                TargetCompID=CLIENT\nTransportDataDictionary=../spec/FIXT11.xml\n\
                AppDataDictionary=../spec/FIX50.xml\nAppDataDictionary.FIX.4.2=no/FIX42.xml\n";
    let text = README.replace("[DEFAULT]\n", "[DEFAULT]\nDataDictionary=etc/FIX44.xml\n") + fixt;
    let settings = read(&text).unwrap();
    let said = settings.report.to_string();
    for (file, version) in [
        ("etc/FIX44.xml", "FIX.4.4"),
        ("../spec/FIXT11.xml", "FIXT.1.1"),
        ("../spec/FIX50.xml", "FIX.5.0"),
        ("no/FIX42.xml", "FIX.4.2"),
    ] {
        let wanted = format!("`{file}` is missing: the built-in dictionary of {version} is used");
        assert_eq!(said.matches(&wanted).count(), 1, "{said}");
    }
    let config = settings.to_config().unwrap();
    let missing = config
        .missing_dictionaries
        .iter()
        .map(|missing| &missing.file[..]);
    let files = [
        "../spec/FIX50.xml",
        "../spec/FIXT11.xml",
        "etc/FIX44.xml",
        "no/FIX42.xml",
    ];
    assert_eq!(missing.collect::<Vec<_>>(), files);
    let versions: Vec<&str> = config
        .sessions
        .iter()
        .map(|session| session.session.dictionary.as_ref().unwrap().version())
        .collect();
    let usual = read(
        &text
            .lines()
            .filter(|line| !line.contains("Dictionary"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let usual = usual.unwrap().to_config().unwrap();
    let wanted: Vec<&str> = usual
        .sessions
        .iter()
        .map(|session| session.session.dictionary.as_ref().unwrap().version())
        .collect();
    assert_eq!(versions, wanted);
    // A dictionary that is not used is not read.
    let unused = read(&text.replace("[DEFAULT]\n", "[DEFAULT]\nUseDataDictionary=N\n")).unwrap();
    assert_eq!(unused.report.to_string(), "");
    assert!(unused.to_config().unwrap().missing_dictionaries.is_empty());
}

#[test]
fn every_dictionary_that_cannot_be_read_is_named() {
    let fixt = "[SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0\nSenderCompID=BROKER\n\
                TargetCompID=CLIENT\nTransportDataDictionary=nope2.xml\nAppDataDictionary=nope3.xml\n";
    let text = README.replace("[DEFAULT]\n", "[DEFAULT]\nDataDictionary=nope1.xml\n") + fixt;
    let settings = read(&text).unwrap();
    for error in [
        settings.to_config().unwrap_err(),
        settings.dictionaries().unwrap_err(),
    ] {
        let error = error.to_string();
        for (line, file) in [(2, 1), (16, 2), (17, 3)] {
            let wanted = format!("x.cfg:{line}: cannot read the dictionary nope{file}.xml");
            assert!(error.contains(&wanted), "{error}");
        }
    }
}

#[test]
fn files_of_tls_without_tls_are_warned_of() {
    let with = |lines: &str| read(&README.replace("[SESSION]\n", &format!("[SESSION]\n{lines}\n")));
    let said = |lines: &str| with(lines).unwrap().report.to_string();
    for lines in [
        "SocketCAFile=a.pem",
        "ServerCertificateKeyFile=a.key",
        "CertificateRevocationListFile=a.crl",
    ] {
        let text = said(lines);
        assert!(
            text.contains("x.cfg:7: warning: TLS is not enabled"),
            "{lines}: {text}"
        );
    }
    assert_eq!(said("SocketCAFile=a.pem\nSocketUseSSL=N"), "");
    assert_eq!(
        said("ClientCertificateFile=a.pem"),
        "",
        "not for an acceptor"
    );
    assert!(transport::uses_tls(
        &with("ServerCertificateFile=a.pem").unwrap().sessions[0]
    ));
    // As in the sample of QuickFIX (C++).
    let theirs = "Dialect=quickfix\nServerCertificateFile=a.pem\nServerCertificateKeyFile=a.key\nSSLProtocol=all";
    let settings = with(theirs).unwrap();
    let text = settings.report.to_string();
    assert!(
        text.contains("x.cfg:8: warning: the certificate is missing"),
        "{text}"
    );
    assert!(
        settings.to_config().unwrap().sessions[0]
            .transport
            .tls
            .is_none()
    );
    // With any of these settings the certificate for TLS must exist.
    for more in [
        "SocketUseSSL=Y",
        "NeedClientAuth=Y",
        "PeerCertificates=dns:a",
    ] {
        let settings = with(&format!("{theirs}\n{more}")).unwrap();
        assert!(transport::uses_tls(&settings.sessions[0]), "{more}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.pem");
    std::fs::write(&file, "").unwrap();
    let there = with(&theirs.replace("a.pem", &file.display().to_string())).unwrap();
    assert!(transport::uses_tls(&there.sessions[0]));
}

#[test]
fn dictionaries_of_another_key_or_version_and_odd_ones_are_warned_of() {
    let said = |begin: &str, lines: &str| {
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=5001\nNonStopSession=Y\n[SESSION]\n\
             SenderCompID=BROKER\nTargetCompID=CLIENT\nBeginString={begin}\n{lines}"
        );
        read(&text).unwrap().report.to_string()
    };
    let fixt = |lines: &str| said("FIXT.1.1", &format!("DefaultApplVerID=FIX.5.0SP2\n{lines}"));
    let no_logon =
        "without a Logon, so that no Logon can succeed; expected a dictionary of FIXT.1.1";
    for (text, wanted) in [
        (fixt("TransportDataDictionary=FIX.5.0SP2\n"), no_logon),
        (fixt("TransportDataDictionary=FIX50SP2.xml\n"), no_logon),
        (
            fixt("TransportDataDictionary=FIX.4.4\n"),
            "is a dictionary of FIX.4.4, not of FIXT.1.1",
        ),
        (
            fixt("AppDataDictionary=FIXT.1.1\n"),
            "is a dictionary of FIXT.1.1, not of FIX.5.0SP2",
        ),
        (
            fixt("AppDataDictionary=FIX.5.0\n"),
            "is a dictionary of FIX.5.0, not of FIX.5.0SP2",
        ),
        (
            fixt("AppDataDictionary.FIX.4.4=FIX.4.2\n"),
            "is a dictionary of FIX.4.2, not of FIX.4.4",
        ),
        (
            said("FIX.4.4", "DataDictionary=FIX.4.2\n"),
            "is a dictionary of FIX.4.2, not of FIX.4.4",
        ),
        (
            said("FIX.4.4", "DataDictionary=FIX.5.0\n"),
            "so that no Logon can succeed; expected a dictionary of FIX.4.4",
        ),
    ] {
        assert_eq!(text.matches(wanted).count(), 1, "{text}");
    }
    for text in [
        fixt("TransportDataDictionary=FIXT.1.1\nAppDataDictionary=FIX.5.0SP2\n"),
        fixt("AppDataDictionary.FIX.4.4=FIX.4.4\n"),
        said("FIX.4.4", "DataDictionary=built-in\n"),
    ] {
        assert!(!text.contains("is a dictionary of"), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.xml").display().to_string();
    let fix44 = fixwire_protocol::dictionary::Version::Fix44;
    let fix44 = fixwire_protocol::Dictionary::built_in(fix44);
    let fix44 = fixwire_dictionary::write::quickfix(&fix44);
    std::fs::write(&path, fix44.replacen("type=\"CHAR\"", "type=\" CHAR\"", 1)).unwrap();
    let text = said("FIX.4.4", &format!("DataDictionary={path}\n"));
    assert!(text.contains("is read as CHAR"), "{text}");
}
