//! Files of other engines: their rules, their defaults, and their differences from fixwire.

use super::*;

const SESSION: &str = "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n\
                       ConnectionType=acceptor\nSocketAcceptPort=5001\nNonStopSession=Y\n";

fn read_as(dialect: Dialect, text: &str) -> Result<Settings, LoadError> {
    let source = Source {
        path: "x.cfg".into(),
        text: text.into(),
    };
    let options = Options {
        dialect: Some(dialect),
        ..Options::default()
    };
    Settings::read_with(&source, &options)
}

fn one(dialect: Dialect, extra: &str) -> (SessionSettings, String) {
    let settings = read_as(dialect, &format!("{SESSION}{extra}")).unwrap();
    (settings.sessions[0].clone(), settings.report.to_string())
}

#[test]
fn the_engine_decides_where_defaults_differ() {
    let nodelay = |dialect| {
        let (session, _) = one(dialect, "");
        let setting = session.find(Id::SocketNodelay).unwrap();
        (setting.value == SettingValue::Bool(true), setting.origin)
    };
    let of_quickfix = Origin::Dialect(Dialect::QuickFix);
    assert_eq!(nodelay(Dialect::QuickFix), (false, of_quickfix));
    assert_eq!(nodelay(Dialect::QuickFixN), (true, Origin::BuiltIn));
    assert_eq!(nodelay(Dialect::Fixwire), (true, Origin::BuiltIn));
    let (session, _) = one(Dialect::QuickFixJ, "");
    assert_eq!(session.int(Id::TestRequestDelayMultiplier), Some(500));
    assert_eq!(
        session.time(Id::SocketConnectTimeout),
        Some(Duration::from_secs(60))
    );
    // The file still takes precedence.
    let (session, _) = one(Dialect::QuickFix, "SocketNodelay=Y");
    assert!(session.bool(Id::SocketNodelay));
}

#[test]
fn a_go_program_says_by_its_keys_what_it_is() {
    let bare = "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n";
    let role = |extra: &str| {
        let settings = read_as(Dialect::QuickFixGo, &format!("{bare}{extra}"));
        settings.map(|settings| {
            let session = &settings.sessions[0];
            let role = session.text(Id::ConnectionType).map(str::to_owned);
            (role, session.bool(Id::UseDataDictionary))
        })
    };
    let acceptor = Some("acceptor".to_owned());
    assert_eq!(
        role("SocketAcceptPort=1").unwrap(),
        (acceptor.clone(), false)
    );
    assert_eq!(
        role("SocketAcceptPort=1\nDataDictionary=x.xml").unwrap(),
        (acceptor, true)
    );
    assert_eq!(
        role("SocketConnectHost=h\nSocketConnectPort=1\nHeartBtInt=30").unwrap(),
        (Some("initiator".into()), false)
    );
    assert!(role("").is_err());
}

#[test]
fn what_the_engine_would_have_done_otherwise_is_said() {
    use Dialect::{QuickFix, QuickFixGo, QuickFixJ, QuickFixN};
    for (dialect, extra, said) in [
        (
            QuickFixJ,
            "resetonlogon=Y",
            "QuickFIX/J accepts `ResetOnLogon` only with this capitalisation: its default N \
             applies there",
        ),
        (
            QuickFixGo,
            "logontimeout=5",
            "QuickFIX/Go accepts `LogonTimeout` only with this capitalisation",
        ),
        (
            QuickFixJ,
            "SocketNodelay=N",
            "QuickFIX/J calls it `SocketTcpNoDelay` and ignores this name: its default Y applies \
             there",
        ),
        (
            QuickFix,
            "SocketTcpNoDelay=Y",
            "QuickFIX calls it `SocketNodelay` and ignores this name: its default N applies there",
        ),
        (
            QuickFixJ,
            "filelogheartbeats=N",
            "QuickFIX/J accepts `FileLogHeartbeats` only with this capitalisation: its default Y \
             applies there",
        ),
        (
            QuickFixGo,
            "SLF4JLogHeartbeats=N",
            "QuickFIX/Go has no `SLF4JLogHeartbeats`",
        ),
        (
            QuickFixN,
            "ResendRequestChunkSize=5",
            "QuickFIX/n calls it `MaxMessagesInResendRequest`",
        ),
        (
            QuickFixN,
            "CheckCompID=N",
            "QuickFIX/n has no `CheckCompID`",
        ),
        (
            QuickFixN,
            "MillisecondsInTimeStamp=Y",
            "QuickFIX/n has no `MillisecondsInTimeStamp`",
        ),
        (
            QuickFix,
            "HeartBtInt=0",
            "QuickFIX does not start with HeartBtInt=0",
        ),
        (
            QuickFix,
            "ResetOnLogon=yes",
            "QuickFIX accepts only Y and N",
        ),
        (
            QuickFixJ,
            "MaxScheduledWriteRequests=1000",
            "MaxSendBacklog and SlowConsumerTimeout disconnect a slow peer",
        ),
        (
            QuickFix,
            "HttpAcceptPort=8080",
            "there is no web page about sessions",
        ),
        (
            QuickFix,
            "MySQLLogPort=1",
            "set SqlLog to log to PostgreSQL or SQLite",
        ),
        (
            QuickFixJ,
            "JdbcURL=jdbc:x",
            "set SqlLog to log to a database",
        ),
        (QuickFixJ, "SLF4JLogHeartbeats=N", "set FileLogPath"),
        (
            QuickFixJ,
            "LogonTimeout =5",
            "QuickFIX/J reads the blank before `=` as part of the key",
        ),
        (
            QuickFixGo,
            " LogonTimeout=5",
            "QuickFIX/Go reads the blanks around a key as part of it",
        ),
        (
            QuickFixGo,
            "LogonTimeout= 5",
            "QuickFIX/Go reads the blanks around a value as part of it",
        ),
        (
            QuickFixGo,
            " # no",
            "QuickFIX/Go does not accept an indented comment",
        ),
        (
            QuickFixJ,
            "nonsense\nLogonTimeout=5",
            "QuickFIX/J reads this line as part of the next key",
        ),
        (
            QuickFix,
            "nonsense",
            "`nonsense` is ignored: QuickFIX ignores it too",
        ),
        (
            QuickFixN,
            "[NOTES]\nnonsense",
            "`[NOTES]` is ignored: QuickFIX/n ignores it too",
        ),
        (
            QuickFix,
            "[Default]\nLogonTimeout=5",
            "QuickFIX ignores this section: its name must be in capitals",
        ),
        (
            QuickFix,
            "LogonTimeout=5\nLogonTimeout=6",
            "`LogonTimeout` appears twice: the last one applies",
        ),
        (
            QuickFix,
            "HartBtInt=5",
            "`HartBtInt` is not a key of QuickFIX or fixwire: it is kept for the application (did \
             you mean `HeartBtInt`?)",
        ),
    ] {
        let (_, found) = one(dialect, extra);
        assert!(found.contains(said), "{dialect} {extra}: {found}");
        assert!(found.contains("warning: "), "{found}");
    }
    for (dialect, extra) in [
        (QuickFix, "RESETONLOGON=Y"),
        (QuickFixN, " ResetOnLogon = Y"),
        (QuickFix, "TimeStampPrecision=6"),
        (QuickFixN, "HeartBtInt=0"),
        (QuickFixJ, "Durability=disk"),
        (QuickFixJ, "ResetOnLogon= Y "),
        (QuickFixJ, "LogonTag1=5001=X"),
        (QuickFixJ, "MaxScheduledWriteRequests=0"),
        (QuickFixJ, "SocketSynchronousWriteTimeout=30000"),
        (QuickFixN, "SocketSendTimeout=0"),
        (QuickFixN, "RedactFieldsInLogs=554"),
    ] {
        let (_, found) = one(dialect, extra);
        assert_eq!(found, "", "{dialect} {extra}");
    }
}

#[test]
fn a_store_that_syncs_is_durability_disk() {
    use Dialect::{Fixwire, QuickFixGo, QuickFixJ};
    for (dialect, extra, durability, said) in [
        (QuickFixJ, "FileStoreSync=Y", "disk", true),
        (QuickFixJ, "FileStoreSync=N", "process", false),
        (Fixwire, "FileStoreSync=Y\nDurability=disk", "disk", true),
        (QuickFixGo, "FileStoreSync=N\nDurability=disk", "disk", true),
        (QuickFixGo, "FileStoreSync=N", "process", false),
        (QuickFixGo, "Durability=memory", "memory", true),
    ] {
        let (session, _) = one(dialect, extra);
        let found = session.find(Id::Durability).unwrap();
        assert_eq!(session.text(Id::Durability), Some(durability), "{extra}");
        assert_eq!(found.origin.span().is_some(), said, "{extra}");
        assert_eq!(found.differs, None, "{extra}");
    }
    let (session, _) = one(QuickFixGo, "");
    let found = session.find(Id::Durability).unwrap();
    assert_eq!(session.text(Id::Durability), Some("process"));
    let differs = found.differs.as_deref().unwrap();
    assert!(differs.starts_with("syncs every message"), "{differs}");
    let text = format!("{SESSION}FileStoreSync=Y\nDurability=process\n");
    let error = read_as(QuickFixJ, &text).unwrap_err().to_string();
    assert!(
        error.contains(
            "x.cfg:8: FileStoreSync=Y means Durability=disk, which conflicts with \
                        Durability=process"
        ),
        "{error}"
    );
    let text = format!("[DEFAULT]\nFileStoreSync=Y\n{SESSION}");
    let settings = read_as(QuickFixJ, &text).unwrap();
    let toml = crate::convert::to_toml(&settings, &variables::OfTheProcess).unwrap();
    assert!(toml.contains("Durability = \"disk\""), "{toml}");
}

#[test]
fn logs_look_as_those_of_the_engine() {
    let layout = |dialect, extra: &str| {
        let (session, _) = one(dialect, extra);
        session.text(Id::FileLogLayout).unwrap().to_owned()
    };
    for dialect in Dialect::FAMILY {
        assert_eq!(layout(dialect, "FileLogPath=log"), dialect.name());
        let said = "FileLogPath=log\nFileLogLayout=quickfixgo";
        assert_eq!(layout(dialect, said), "quickfixgo");
        assert_eq!(layout(dialect, ""), "quickfix");
    }
    assert_eq!(layout(Dialect::Fixwire, "FileLogPath=log"), "quickfix");
    let text = format!("{SESSION}FileLogPath=log\n");
    let settings = read_as(Dialect::QuickFixJ, &text).unwrap();
    let log = logs::file(&settings.sessions[0]).unwrap();
    assert_eq!(log.layout, fixwire_logs::store::Family::QuickfixJ);
    assert_eq!(settings.to_config().unwrap().logs[0].kind(), "files");
}

#[test]
fn what_the_engine_makes_of_hours_and_certificates_is_said() {
    use Dialect::{Fixwire, QuickFix, QuickFixGo, QuickFixJ, QuickFixN};
    let hours = |times: [&str; 2], more: &str| {
        let [start, end] = times;
        format!("NonStopSession=N\nStartTime={start}\nEndTime={end}\n{more}")
    };
    let session = |dialect, extra: &str| {
        let base = SESSION.replace("NonStopSession=Y\n", "");
        let settings = read_as(dialect, &format!("{base}{extra}")).unwrap();
        settings.sessions[0].clone()
    };
    let (day, same) = (["08:00:00", "17:00:00"], ["17:00:00", "17:00:00"]);
    let (midnight, zones) = (
        ["00:00:00", "00:00:00"],
        ["08:00:00 Asia/Tokyo", "17:00:00 Europe/London"],
    );
    for (dialect, times, more, said) in [
        (
            QuickFix,
            day,
            "",
            "when the session ends, not when it starts",
        ),
        (
            QuickFix,
            same,
            "",
            "at midnight if StartTime equals EndTime",
        ),
        (QuickFix, same, "StartDay=Mon\nEndDay=Mon", ""),
        (QuickFix, midnight, "", ""),
        (QuickFixJ, zones, "", "may end the session at midnight UTC"),
        (QuickFixJ, day, "", ""),
        (QuickFixN, day, "", ""),
        (QuickFixGo, same, "", ""),
        (Fixwire, same, "", ""),
    ] {
        let extra = hours(times, more);
        let session = session(dialect, &extra);
        let differs = session.find(Id::EndTime).unwrap().differs.as_deref();
        let differs = differs.unwrap_or_default();
        assert!(differs.contains(said), "{dialect} {extra}: {differs}");
        assert_eq!(differs.is_empty(), said.is_empty(), "{differs}");
    }
    let initiator = "ConnectionType=initiator\nSocketConnectHost=h\nSocketConnectPort=1\nHeartBtInt=30\n\
                     NonStopSession=Y\n";
    for (dialect, extra, said) in [
        (
            QuickFix,
            "SocketUseSSL=Y",
            "verifies the peer's certificate only with CertificateVerifyLevel",
        ),
        (
            QuickFix,
            "SocketUseSSL=Y\nCertificateVerifyLevel=2",
            "never verifies the peer's host name",
        ),
        (QuickFix, "", ""),
        (
            QuickFixJ,
            "SocketUseSSL=Y",
            "only with EndpointIdentificationAlgorithm=HTTPS",
        ),
        (QuickFixJ, "SocketUseSSL=Y\nPeerCertificates=dns:a", ""),
        (
            QuickFixN,
            "SSLEnable=Y",
            "unless SSLCheckCertificateRevocation=N",
        ),
        (QuickFixN, "", ""),
        (QuickFixGo, "SocketUseSSL=Y", ""),
    ] {
        let base = "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n";
        let settings = read_as(dialect, &format!("{base}{initiator}{extra}")).unwrap();
        let found = settings.sessions[0].find(Id::SSLValidateCertificates);
        let differs = found.unwrap().differs.as_deref().unwrap_or_default();
        assert!(differs.contains(said), "{dialect} {extra}: {differs}");
        assert_eq!(differs.is_empty(), said.is_empty(), "{differs}");
    }
}

#[test]
fn of_two_equal_keys_the_last_one_holds_elsewhere() {
    for dialect in Dialect::FAMILY {
        let (session, _) = one(dialect, "LogonTimeout=x\nLogonTimeout=6\nMy=1\nmy=2");
        assert_eq!(session.time(Id::LogonTimeout), Some(Duration::from_secs(6)));
        let custom: Vec<&str> = session.custom.iter().map(|c| &c.value[..]).collect();
        assert_eq!(custom, ["2"]);
    }
    assert!(
        read_as(
            Dialect::Fixwire,
            &format!("{SESSION}LogonTimeout=5\nLogonTimeout=6")
        )
        .is_err()
    );
}

#[test]
fn a_second_default_adds_up_or_is_passed_over() {
    let text = format!("[DEFAULT]\nLogonTimeout=5\n{SESSION}[DEFAULT]\nLogoutTimeout=7\n");
    let timeout = |dialect| {
        let settings = read_as(dialect, &text).ok()?;
        settings.sessions[0].time(Id::LogoutTimeout)
    };
    for (dialect, seconds) in [
        (Dialect::QuickFix, Some(2)),
        (Dialect::QuickFixN, Some(2)),
        (Dialect::QuickFixJ, Some(7)),
        (Dialect::QuickFixGo, Some(7)),
        (Dialect::Fixwire, None),
    ] {
        assert_eq!(
            timeout(dialect),
            seconds.map(Duration::from_secs),
            "{dialect}"
        );
    }
}

#[test]
fn a_line_too_long_for_quickfix_is_read_and_said() {
    let text = |length: usize| format!("#{}\n{SESSION}", "x".repeat(length - 1));
    assert_eq!(
        read_as(Dialect::QuickFix, &text(1023))
            .unwrap()
            .report
            .problems,
        []
    );
    let report = read_as(Dialect::QuickFix, &text(1024)).unwrap().report;
    assert!(
        report
            .to_string()
            .contains("x.cfg:1: warning: QuickFIX stops reading at this line")
    );
    let report = read_as(Dialect::QuickFixN, &text(5000)).unwrap().report;
    assert_eq!(report.problems, []);
}

#[test]
fn a_key_or_the_caller_says_whose_file_it_is() {
    let whose = |extra: &str| {
        let settings = read(&format!("{SESSION}{extra}")).unwrap();
        (settings.dialect, settings.told)
    };
    assert_eq!(whose(""), (Dialect::Fixwire, DialectSource::Nowhere));
    assert_eq!(
        whose("SocketTcpNoDelay=Y\nSLF4JLogHeartbeats=Y"),
        (Dialect::QuickFixJ, DialectSource::ByItsKeys)
    );
    assert_eq!(
        whose("SocketTcpNoDelay=Y\ndialect=QuickFixN"),
        (Dialect::QuickFixN, DialectSource::ByKey)
    );
    assert_eq!(
        whose("SocketTcpNoDelay=Y\nSLF4JLogHeartbeats=Y\nMaxFields=100"),
        (Dialect::Fixwire, DialectSource::ByItsKeys)
    );
    let text = format!("{SESSION}Dialect=quickfixn\n");
    let settings = read_as(Dialect::QuickFix, &text).unwrap();
    assert_eq!(
        (settings.dialect, settings.told),
        (Dialect::QuickFix, DialectSource::ByCaller)
    );
    assert!(
        errors(&format!("{SESSION}Dialect=artio")).contains("`artio` is not valid for Dialect")
    );
}

#[test]
fn variables_are_those_of_the_engine() {
    struct Fixed;
    impl variables::Values for Fixed {
        fn env(&self, name: &str) -> Option<String> {
            (name == "PORT").then(|| "7001".into())
        }
        fn file(&self, _: &str) -> Result<variables::FileText, variables::VariableFault> {
            let (text, exposed) = ("hunter2".into(), true);
            Ok(variables::FileText { text, exposed })
        }
    }
    let read = |dialect, extra: &str| {
        let text = SESSION.replace("5001\n", &format!("{extra}\n"));
        let source = Source {
            path: "x.cfg".into(),
            text,
        };
        let options = Options {
            dialect: Some(dialect),
            values: &Fixed,
            ..Options::default()
        };
        Settings::read_with(&source, &options)
    };
    for (dialect, extra) in [
        (Dialect::Fixwire, "${env:PORT}"),
        (Dialect::QuickFix, "${env:PORT}"),
        (Dialect::QuickFixJ, "${PORT}"),
        (Dialect::QuickFix, "$PORT\nExpandVariables=Y"),
        (Dialect::QuickFixN, "$(PORT)\nExpandVariables=Y"),
    ] {
        let settings = read(dialect, extra).unwrap();
        assert_eq!(
            settings.sessions[0].int(Id::SocketAcceptPort),
            Some(7001),
            "{extra}"
        );
    }
    for (dialect, extra, said) in [
        (
            Dialect::QuickFix,
            "$PORT",
            "`$PORT` is not valid for SocketAcceptPort",
        ),
        (
            Dialect::QuickFix,
            "${PORT}",
            "this looks like a variable but is not replaced",
        ),
        (
            Dialect::QuickFixJ,
            "${NONE}",
            "variable `NONE` is not set (set it in the environment",
        ),
        (Dialect::Fixwire, "1\nPassword=a${env:b", "has no value"),
    ] {
        let error = match read(dialect, extra) {
            Err(error) => error.to_string(),
            Ok(_) => "has no value".into(),
        };
        assert!(error.contains(said), "{extra}: {error}");
    }
    // A secret's variable may be part of the secret.
    let error = read(Dialect::QuickFixJ, "1\nPassword=${hunter}")
        .err()
        .unwrap()
        .to_string();
    assert!(!error.contains("hunter"), "{error}");
    let settings = read(
        Dialect::Fixwire,
        "1\nPassword=${file:/x}\nX-Token=${env:PORT}",
    )
    .unwrap();
    let session = &settings.sessions[0];
    assert_eq!(session.text(Id::Password), Some("hunter2"));
    assert_eq!(session.find(Id::Password).unwrap().text, "******");
    assert_eq!(
        (&session.custom[0].value[..], &session.custom[0].text[..]),
        ("7001", "${env:PORT}")
    );
    assert!(
        settings
            .report
            .to_string()
            .contains("every user of this machine can read this secret")
    );
}

/// Ignored lines give a warning, and may still contain a secret.
#[test]
fn a_secret_in_a_line_that_is_not_used_is_not_shown() {
    for above in [
        "Password=hunter2\n",
        "HeartBtInt=30\nPassword=hunter2\n",
        "[OTHER]\nPassword=hunter2\n",
        "[DEFAULT]\n[DEFAULT]\nPassword=hunter2\n",
    ] {
        let settings = read_as(Dialect::QuickFix, &format!("{above}{SESSION}")).unwrap();
        assert!(!settings.report.problems.is_empty(), "{above}");
        let (told, text) = (settings.report.to_string(), &settings.report.source.text);
        assert!(
            !told.contains("hunter2") && !text.contains("hunter2"),
            "{told}"
        );
    }
}
