//! Settings files, and the problems reported for them.

use std::time::Duration;

use fixwire_random::Random;

use super::*;

mod antenna;
mod convert;
mod dialects;
mod guess;
mod links;
mod sections;
mod toml;

const GOOD: &str = "\
# an acceptor and an initiator
[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort=5001
NonStopSession=Y
X-Desk=Paris
Wait=spin

[SESSION]
BeginString=FIX.4.2
SenderCompID=EXEC
TargetCompID=BENCH

[SESSION]
BeginString=FIXT.1.1
DefaultApplVerID=9
SenderCompID=EXEC
TargetCompID=VENUE
ConnectionType=initiator
SocketConnectHost=a.example
SocketConnectPort=1
SocketConnectHost2=b.example
SocketConnectPort2=2
HEARTBTINT=10
Password=hunter2
sockettcpnodelay=N
x-desk=London
";

fn read(text: &str) -> Result<Settings, LoadError> {
    Settings::read(&Source {
        path: "x.cfg".into(),
        text: text.into(),
    })
}

/// The errors of a text, one a line.
fn errors(text: &str) -> String {
    match read(text) {
        Err(error) => error.to_string(),
        Ok(settings) => format!("no error; {}", settings.report),
    }
}

fn session(extra: &str) -> String {
    format!(
        "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n\
         ConnectionType=acceptor\nSocketAcceptPort=5001\n{extra}\n"
    )
}

#[test]
fn a_session_wins_over_default_and_default_over_the_built_in() {
    let settings = read(GOOD).unwrap();
    let [acceptor, initiator] = &settings.sessions[..] else {
        panic!("{settings:?}")
    };
    let line = |session: &SessionSettings, id| {
        let origin = session.find(id).unwrap().origin;
        origin.span().map(|span| settings.report.source.line(span))
    };
    assert_eq!(acceptor.name(), "FIX.4.2:EXEC->BENCH");
    assert_eq!(acceptor.text(Id::ConnectionType), Some("acceptor"));
    assert_eq!(line(acceptor, Id::ConnectionType), Some(3));
    assert_eq!(initiator.text(Id::ConnectionType), Some("initiator"));
    assert_eq!(line(initiator, Id::ConnectionType), Some(19));
    assert_eq!(acceptor.text(Id::Wait), Some("spin"));
    assert_eq!(
        acceptor.find(Id::LogonTimeout).unwrap().origin,
        Origin::BuiltIn
    );
    assert!(acceptor.bool(Id::SocketNodelay) && !initiator.bool(Id::SocketNodelay));
    assert_eq!(initiator.text(Id::DefaultApplVerID), Some("FIX.5.0SP2"));
    let hosts: Vec<_> = initiator
        .all(Id::SocketConnectHost)
        .map(|host| &host.text[..])
        .collect();
    assert_eq!(hosts, ["a.example", "b.example"]);
    assert_eq!(initiator.custom.len(), 1);
    assert_eq!(
        (
            &acceptor.custom[0].value[..],
            &initiator.custom[0].value[..]
        ),
        ("Paris", "London")
    );
}

#[test]
fn secrets_are_kept_and_never_shown() {
    let settings = read(GOOD).unwrap();
    assert_eq!(settings.sessions[1].text(Id::Password), Some("hunter2"));
    assert_eq!(
        settings.sessions[1].find(Id::Password).unwrap().text,
        "******"
    );
    assert!(!settings.report.source.text.contains("hunter2"));
    for secret in [
        "Password=x\u{1}hunter2",
        "LogonTag=554=hunter2\u{1}",
        "SocketKeyStorePassword=hunter2\nNoSuchKey=1",
        "ProxyPassword=hunter2\nNoSuchKey=1",
        "LogonTag=554=hunter2\nLogonTag=925=hunter2",
        "JdbcPassword=hunter2\nNoSuchKey=1",
        "MyPassword=hunter2",
    ] {
        // The file is read as one of fixwire's own, whatever its keys look like: unknown and repeated keys are errors.
        let error = read(&session(&format!("Dialect=fixwire\n{secret}"))).unwrap_err();
        let LoadError::Content(report) = &error else {
            panic!("{error}")
        };
        assert!(!report.source.text.contains("hunter2"), "{secret}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn every_error_of_a_file_is_reported_at_its_line() {
    let found = errors(
        "[DEFAULT]\nHeartbeatInt=30\nLogonTimeout=ten # seconds\nforceResendWhenCorruptedStore=Y\nnonsense\n\
         [SESSION]\nBeginString=FIX.4.9\nSenderCompID=A\nSenderCompID=B\nFlurbl=1\n",
    );
    let expected = "\
x.cfg:2: unknown key `HeartbeatInt` (did you mean `HeartBtInt`?)
x.cfg:3: `ten # seconds` is not valid for LogonTimeout: expected a time of 1 s to 3600 s: seconds, or with units as in 500ms, 30s or 1m30s (a comment needs a line of its own)
x.cfg:4: `forceResendWhenCorruptedStore` is not supported (fixwire does not do what this key asks for: remove the key, or set it to N, if the session may work without it)
x.cfg:5: `nonsense` is neither a section nor `Key=value` (write `Key=value`; a comment starts with `#` in the first column)
x.cfg:6: `TargetCompID` is missing (BeginString, SenderCompID and TargetCompID identify a session)
x.cfg:6: `ConnectionType` is missing (set ConnectionType=acceptor or ConnectionType=initiator)
x.cfg:7: `FIX.4.9` is not valid for BeginString: expected FIX.4.0, FIX.4.1, FIX.4.2, FIX.4.3, FIX.4.4 or FIXT.1.1
x.cfg:9: `SenderCompID` appears twice
x.cfg:10: unknown key `Flurbl` (keys for an application start with `X-`; for a file of another engine set Dialect, for example `Dialect=quickfixj`)";
    assert_eq!(found, expected);
}

#[test]
fn what_a_session_needs_is_missed() {
    assert!(errors("").contains("no `[SESSION]`"));
    assert!(errors("[DEFAULT]\nWait=spin\n").contains("no `[SESSION]`"));
    let initiator = session("").replace("acceptor", "initiator");
    for key in ["SocketConnectHost", "SocketConnectPort", "HeartBtInt"] {
        assert!(
            errors(&initiator).contains(&format!("`{key}` is missing")),
            "{key}"
        );
    }
    let acceptor = session("").replace("SocketAcceptPort=5001\n", "");
    assert!(errors(&acceptor).contains("`SocketAcceptPort` is missing"));
    let fixt = session("").replace("FIX.4.2", "FIXT.1.1");
    assert!(errors(&fixt).contains("`DefaultApplVerID` is missing"));
    let host = initiator + "HeartBtInt=30\nSocketConnectHost=h\nSocketConnectPort=1\n";
    assert!(errors(&(host + "SocketConnectHost1=i")).contains("needs `SocketConnectPort1`"));
}

#[test]
fn a_wrong_value_is_not_also_missing() {
    let found = errors(&session("").replace("=5001", "=x"));
    assert_eq!(found.lines().count(), 1, "{found}");
    let found = errors(&(session("") + "SenderSubID=\n"));
    assert_eq!(
        found,
        "x.cfg:8: `SenderSubID` has no value: expected text without control characters, not empty"
    );
}

/// The schedule of the one session, in words.
fn schedule(extra: &str) -> String {
    let settings = read(&session(extra)).unwrap_or_else(|error| panic!("{extra}: {error}"));
    let config = settings.to_config().unwrap();
    let schedule = &config.sessions[0].schedule;
    schedule
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
}

#[test]
fn keys_of_the_schedule_make_it() {
    const DAY: &str = "StartTime=08:00:00\nEndTime=17:00:00\n";
    const WEEK: &str = "StartTime=20:00:00\nEndTime=22:00:00\nStartDay=Sun\nEndDay=fr\n";
    for (extra, said) in [
        ("", ""),
        ("NonStopSession=Y", ""),
        ("TimeZone=Europe/London", ""),
        (DAY, "daily, 08:00:00 UTC to 17:00:00 UTC"),
        (
            "StartTime=00:00:00\nEndTime=00:00:00\nNonStopSession=N",
            "daily, 00:00:00 UTC to 00:00:00 UTC",
        ),
        (
            "StartTime=08:00:00 Asia/Tokyo\nEndTime=17:00:00\nTimeZone=US/Eastern\nWeekdays=Mon,Fri",
            "Monday Friday, 08:00:00 Asia/Tokyo to 17:00:00 US/Eastern",
        ),
        (WEEK, "weekly, Sunday 20:00:00 UTC to Friday 22:00:00 UTC"),
        (
            &format!("{WEEK}LogonTime=21:00:00\nLogoutDay=Thu"),
            "weekly, Sunday 20:00:00 UTC to Friday 22:00:00 UTC; logged on weekly, Sunday 21:00:00 UTC \
             to Thursday 22:00:00 UTC",
        ),
        (
            &format!("{DAY}LogoutTime=16:00:00"),
            "daily, 08:00:00 UTC to 17:00:00 UTC; logged on daily, 08:00:00 UTC to 16:00:00 UTC",
        ),
        (
            "LogonTime=06:00:00\nLogoutTime=23:00:00\nLogonDay=Mon\nLogoutDay=Fri",
            "never ends; logged on weekly, Monday 06:00:00 UTC to Friday 23:00:00 UTC",
        ),
        (
            "ResetSeqTime=17:00:00\nTimeZone=America/New_York",
            "never ends; sequence numbers reset at 17:00:00 America/New_York while logged on",
        ),
        (
            &format!("{DAY}Holidays=2026-12-25, 20270101"),
            "daily, 08:00:00 UTC to 17:00:00 UTC; 2 closed days",
        ),
    ] {
        assert_eq!(schedule(extra), said, "{extra}");
    }
    let local = schedule(&format!("{DAY}UseLocalTime=Y"));
    assert!(local.starts_with("daily, 08:00:00 "), "{local}");
}

#[test]
fn schedules_that_cannot_be_are_refused_at_their_line() {
    for (extra, said) in [
        (
            "StartTime=08:00:00",
            "x.cfg:7: set both StartTime and EndTime, or neither",
        ),
        (
            "EndTime=08:00:00",
            "x.cfg:7: set both StartTime and EndTime, or neither",
        ),
        (
            "NonStopSession=N",
            "x.cfg:7: NonStopSession=N requires StartTime and EndTime",
        ),
        (
            "Weekdays=Mon",
            "x.cfg:7: StartDay, EndDay and Weekdays require StartTime and EndTime",
        ),
        (
            "StartTime=08:00:00\nEndTime=17:00:00\nStartDay=Mon",
            "x.cfg:9: StartDay requires EndDay",
        ),
        (
            "StartTime=08:00:00\nEndTime=17:00:00\nEndDay=Mon",
            "x.cfg:9: EndDay requires StartDay",
        ),
        (
            "StartTime=08:00:00\nEndTime=17:00:00\nStartDay=Mon\nEndDay=Fri\nWeekdays=Mon",
            "x.cfg:11: Weekdays is for daily sessions",
        ),
        (
            "StartTime=08:00\nEndTime=17:00:00",
            "x.cfg:7: `08:00` is not valid for StartTime: expected a time of day, HH:MM:SS",
        ),
        (
            "StartTime=08:00:00\nEndTime=17:00:00\nWeekdays=Mon Tue",
            "x.cfg:9: `Mon Tue` is not valid for Weekdays: expected days of the week",
        ),
        (
            "TimeZone=Europe/Lodnon",
            "x.cfg:7: unknown time zone `Europe/Lodnon`: did you mean `Europe/London`?",
        ),
        (
            "StartTime=08:00:00 Mars\nEndTime=17:00:00",
            "x.cfg:7: unknown time zone `Mars`",
        ),
        (
            "UseLocalTime=Y\nTimeZone=UTC",
            "x.cfg:8: UseLocalTime=Y and TimeZone both set the time zone",
        ),
        (
            "LogonTime=08:00:00",
            "x.cfg:7: without StartTime, set both LogonTime and LogoutTime or neither",
        ),
        (
            "StartTime=08:00:00\nEndTime=17:00:00\nLogonDay=Mon",
            "x.cfg:9: without StartDay, set both LogonDay and LogoutDay or neither",
        ),
        (
            "StartTime=08:00:00\nEndTime=17:00:00\nLogonTime=18:00:00\nLogoutTime=19:00:00",
            "x.cfg:9: the time between LogonTime and LogoutTime is outside the session",
        ),
        (
            "Holidays=2026-02-30",
            "x.cfg:7: `2026-02-30` is not valid for Holidays: expected dates",
        ),
    ] {
        let error = errors(&session(extra));
        assert!(error.starts_with(said), "{extra}: {error}");
    }
    // An invalid value is one error; the key does not count as missing.
    for broken in [
        "StartTime=8\nEndTime=17:00:00",
        "StartTime=8\nEndTime=17:00:00\nLogonTime=09:00:00",
        "StartTime=08:00:00\nEndTime=17:00:00\nStartDay=Monday\nEndDay=X",
    ] {
        assert_eq!(errors(&session(broken)).lines().count(), 1, "{broken}");
    }
    let old = session("ResetSeqTime=08:00:00").replace("FIX.4.2", "FIX.4.0");
    assert!(errors(&old).starts_with("x.cfg:7: FIX.4.0 has no ResetSeqNumFlag(141)"));
}

#[test]
fn hours_of_a_session_that_never_ends_are_a_warning() {
    let settings = read(&session(
        "NonStopSession=Y\nStartTime=08:00:00\nTimeZone=UTC",
    ))
    .unwrap();
    let said = settings.report.to_string();
    assert!(
        said.starts_with("x.cfg:8: warning: NonStopSession=Y"),
        "{said}"
    );
    assert_eq!(settings.report.problems.len(), 1);
}

#[test]
fn a_file_of_holidays_is_read_with_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("holidays.txt");
    let extra = format!("Holidays=2026-12-25\nHolidayFile={}", path.display());
    let config = |extra: &str| {
        let settings = read(&session(extra)).unwrap();
        settings.to_config().map_err(|error| error.to_string())
    };
    assert!(
        config(&extra)
            .unwrap_err()
            .starts_with("x.cfg:8: cannot read the dates in ")
    );
    std::fs::write(
        &path,
        "# the exchange's\n2027-01-01\n20270402 # Good Friday\n",
    )
    .unwrap();
    let days = &config(&extra).unwrap().sessions[0]
        .schedule
        .clone()
        .unwrap()
        .closed_days;
    assert_eq!(days.len(), 3);
    std::fs::write(&path, "2027-01-01\n1 April\n").unwrap();
    let error = config(&extra).unwrap_err();
    assert!(error.contains("line 2: `1 April` is not a date"), "{error}");
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(config(&extra).is_err());
}

#[test]
fn harmless_keys_warn_and_settings_that_ask_for_nothing_are_silent() {
    let settings = read(&session(
        "FileLogBackupPath=log\nSocketUseSSL=N\nTimeZone=UTC\nWait=block",
    ))
    .unwrap();
    let said = settings.report.to_string();
    assert!(
        said.contains("x.cfg:7: warning: `FileLogBackupPath` has no effect"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn settings_of_sessions_that_nothing_creates_are_a_warning() {
    let warnings = |text: &str| read(text).unwrap().report.to_string();
    let initiator = |extra: &str| {
        format!(
            "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=C\nTargetCompID=D\nConnectionType=initiator\n\
             SocketConnectHost=127.0.0.1\nSocketConnectPort=1\nHeartBtInt=30\n{extra}\n"
        )
    };
    let default = |keys: &str, sessions: &str| format!("[DEFAULT]\n{keys}\n{sessions}");
    let alone = "no effect: DynamicQualifier=Y is for sessions that DynamicSessions=Y or AcceptorTemplate=Y creates";
    let creates = "no effect: only an acceptor creates sessions from Logons";
    for (text, line, note) in [
        (session("DynamicQualifier=Y"), 7, alone),
        (initiator("DynamicQualifier=Y"), 9, alone),
        (initiator("DynamicSessions=Y"), 9, creates),
        (initiator("AcceptorTemplate=Y"), 9, creates),
        (
            default("DynamicQualifier=Y", &(session("") + &initiator(""))),
            2,
            alone,
        ),
        (default("DynamicSessions=Y", &initiator("")), 2, creates),
        (
            session("AcceptorTemplate=Y") + &session("TargetSubID=X\nDynamicQualifier=Y"),
            15,
            alone,
        ),
    ] {
        assert_eq!(
            warnings(&text).trim(),
            format!("x.cfg:{line}: warning: {note}"),
            "{text}"
        );
    }
    for text in [
        session("DynamicQualifier=N"),
        session("DynamicSessions=Y\nDynamicQualifier=Y"),
        session("AcceptorTemplate=Y\nDynamicQualifier=Y"),
        default(
            "DynamicQualifier=Y\nDynamicSessions=Y",
            &(initiator("") + &session("")),
        ),
        default(
            "DynamicQualifier=Y",
            &(session("") + &session("TargetSubID=X\nAcceptorTemplate=Y")),
        ),
    ] {
        assert_eq!(warnings(&text), "", "{text}");
    }
}

#[test]
fn sessions_that_cannot_be_told_apart_are_refused() {
    assert!(errors(&(session("") + &session(""))).contains("duplicate session FIX.4.2:A->B"));
    let qualified = session("SessionQualifier=1") + &session("SessionQualifier=2");
    assert!(errors(&qualified).contains("duplicate session"));
    assert!(read(&(session("") + &session("TargetSubID=X"))).is_ok());
}

#[test]
fn an_engine_has_one_value_of_its_keys() {
    let text = session("FileStorePath=a") + &session("TargetSubID=X\nFileStorePath=b");
    assert!(
        errors(&text).contains("x.cfg:15: `b` for FileStorePath differs from another session: all sessions of an engine share"),
        "{}",
        errors(&text)
    );
    let text = session("Core=1") + &session("TargetSubID=X");
    assert!(
        errors(&text).contains("x.cfg:7: `1` for Core differs from another session: all sessions"),
        "{}",
        errors(&text)
    );
    assert!(read(&(session("Core=1") + &session("TargetSubID=X\nCore=1"))).is_ok());
}

#[test]
fn hostile_text_never_panics() {
    let mut random = Random::new(1);
    for _ in 0..300 {
        let mut bytes = GOOD.as_bytes().to_vec();
        for _ in 0..8 {
            let at = random.place(bytes.len());
            match random.below(8) {
                0..3 => bytes[at] = random.number() as u8,
                3..5 => drop(bytes.drain(at..(at + 7).min(bytes.len()))),
                _ => bytes.insert(at, b"[]=#\n\r \xc3"[random.place(8)]),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Err(error) = read(&text) {
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn a_huge_file_of_nonsense_is_answered_soon() {
    for line in [
        "[SESSION]\n",
        "Flurbl=1\n",
        "x\n",
        "[DEFAULT]\n",
        "BeginString=FIX.4.2\n",
    ] {
        let text = format!("[SESSION]\n{}", line.repeat((1 << 20) / line.len()));
        assert!(errors(&text).lines().count() <= problem::SHOWN + 1);
    }
    let keys: String = (0..60_000).map(|n| format!("Key{n}=1\n")).collect();
    assert!(errors(&format!("[SESSION]\n{keys}")).contains("more"));
}

#[test]
fn files_that_are_no_settings_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.cfg");
    assert!(matches!(Settings::load(&path), Err(LoadError::Read { .. })));
    assert!(matches!(
        Settings::load(folder.path()),
        Err(LoadError::Read { .. })
    ));
    std::fs::write(&path, b"[DEFAULT]\n\xff\xff=1\n").unwrap();
    assert!(matches!(
        Settings::load(&path),
        Err(LoadError::NotUtf8 { line: 2, .. })
    ));
    std::fs::File::create(&path)
        .unwrap()
        .set_len(ini::MAX_FILE + 1)
        .unwrap();
    assert!(matches!(
        Settings::load(&path),
        Err(LoadError::TooLarge { .. })
    ));
}

#[test]
fn a_logon_tag_that_the_session_writes_itself_is_refused_with_its_key() {
    for (tag, hint) in [
        (8, "set BeginString"),
        (34, "remove LogonTag"),
        (50, "set SenderSubID"),
        (57, "set TargetSubID"),
        (98, "remove LogonTag"),
        (108, "set HeartBtInt"),
        (115, "remove LogonTag"),
        (141, "set ResetOnLogon"),
    ] {
        let error = read(&session(&format!("LogonTag={tag}=hunter2"))).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(&format!("field {tag} of its Logon")),
            "{error}"
        );
        assert!(error.contains(hint), "{error}");
    }
    for (tag, key) in [(553, "Username"), (554, "Password")] {
        let answers = session(&format!("LogonTag={tag}=hunter2\n{key}=me"));
        assert!(read(&answers).is_ok(), "an acceptor sends no {key}");
        let twice = answers.replace(
            "ConnectionType=acceptor\nSocketAcceptPort=5001",
            "ConnectionType=initiator\nSocketConnectHost=h\nSocketConnectPort=1\nHeartBtInt=30",
        );
        let error = read(&twice).unwrap_err().to_string();
        assert!(
            error.contains(&format!("from {key}: remove LogonTag")),
            "{error}"
        );
        assert!(tag == 553 || !error.contains("hunter2"), "{error}");
    }
    for tag in [95, 383, 464, 553, 554, 925, 1603, 5001, 25035] {
        assert!(
            read(&session(&format!("LogonTag={tag}=1"))).is_ok(),
            "{tag}"
        );
    }
}

#[test]
fn the_name_of_a_missing_variable_is_shown_unless_it_may_be_part_of_a_password() {
    for (value, is_shown) in [
        ("${env:NO_SUCH_VARIABLE}", true),
        ("x${env:NO_SUCH_VARIABLE}", false),
        ("${env:NO_SUCH_VARIABLE}x", false),
    ] {
        let error = read(&session(&format!("Password={value}"))).unwrap_err();
        let error = error.to_string();
        assert_eq!(error.contains("NO_SUCH_VARIABLE"), is_shown, "{error}");
    }
}
