//! Files of FIX Antenna: the value of each property, and its sessions.

use proptest::prelude::*;

use super::super::antenna::properties::PROPERTIES;
use super::super::convert::{ConvertError, to_toml};
use super::super::variables::OfTheProcess;
use super::*;

fn read(text: &str) -> Result<Settings, LoadError> {
    Settings::read(&Source {
        path: "fixengine.properties".into(),
        text: text.into(),
    })
}

const TWO: &str = "\
sessionIDs = venue, Broker
validation=true
port: 3000
enableNagle=false
sessions.default.senderCompID=US
sessions.default.heartbeatInterval=20
sessions.default.enableNagle=true
sessions.venue.host=a.example
sessions.Venue.targetCompID=VENUE
sessions.venue.fixVersion=FIXT.1.1
sessions.venue.appVersion=9
sessions.venue.port=5001
sessions.venue.backupHost=b.example
sessions.venue.backupPort=5002
sessions.venue.socketConnectAddress_1=c.example:5003
sessions.venue.autoreconnectDelayInMs=250
sessions.venue.password=hunter2
sessions.broker.targetCompID=CLIENT
sessions.broker.sessionType=acceptor
sessions.broker.fixVersion=FIX.4.4
sessions.broker.forceSeqNumReset=Always
sessions.broker.timestampsPrecisionInTags=Micro
sessions.broker.X-Desk=Paris
";

fn value(session: &SessionSettings, id: Id) -> &str {
    session.find(id).map_or("", |found| &found.text)
}

#[test]
fn properties_become_keys_of_their_session() {
    let settings = read(TWO).unwrap();
    assert_eq!(
        (settings.dialect, settings.told),
        (Dialect::Antenna, DialectSource::ByItsName)
    );
    assert_eq!(settings.report.to_string(), "");
    let [venue, broker] = &settings.sessions[..] else {
        panic!("{} sessions", settings.sessions.len());
    };
    assert_eq!(venue.name(), "FIXT.1.1:US->VENUE");
    assert_eq!(broker.name(), "FIX.4.4:US->CLIENT");
    for (session, id, expected) in [
        (venue, Id::ConnectionType, "initiator"),
        (venue, Id::SocketConnectHost, "a.example"),
        (venue, Id::SocketConnectPort, "5001"),
        (venue, Id::SocketAcceptPort, "3000"),
        (venue, Id::HeartBtInt, "20"),
        (venue, Id::ReconnectInterval, "250ms"),
        (venue, Id::LogonTimeout, "5000ms"),
        (venue, Id::DefaultApplVerID, "9"),
        (venue, Id::Password, "******"),
        (broker, Id::ConnectionType, "acceptor"),
        (broker, Id::SocketAcceptPort, "3000"),
        (broker, Id::ReconnectInterval, "1000ms"),
        (broker, Id::UseDataDictionary, "true"),
        (broker, Id::SocketNodelay, "N"),
        (broker, Id::ResetOnLogon, "Y"),
        (broker, Id::TimestampPrecision, "MICROS"),
        (broker, Id::FileStorePath, "store"),
    ] {
        assert_eq!(value(session, id), expected, "{}", session.name());
    }
    let hosts: Vec<_> = venue.all(Id::SocketConnectHost).collect();
    let numbers: Vec<_> = hosts.iter().map(|host| host.number).collect();
    assert_eq!(numbers, [None, Some(1), Some(2)]);
    assert_eq!(broker.custom[0].value, "Paris");
    let origin = broker.find(Id::LogonTimeout).unwrap().origin;
    assert_eq!(origin, Origin::Dialect(Dialect::Antenna));
    assert!(settings.to_config().is_ok());
    let said = to_toml(&settings, &OfTheProcess).unwrap();
    for line in [
        "LogonTimeout = \"5000ms\"  # FIX Antenna's default\n",
        "SocketConnectHost = [\"a.example\", \"b.example\", \"c.example\"]\n",
        "ReconnectInterval = \"250ms\"\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
}

const ONE: &str = "sessionIDs=a\nsessions.a.senderCompID=A\nsessions.a.targetCompID=B\nport=1\n";

#[test]
fn what_is_not_known_or_not_done_is_said() {
    for (line, said) in [
        (
            "validaton=true",
            "unknown key `validaton` (did you mean `validation`?)",
        ),
        (
            "senderCompID=\\u00",
            "`\\u` must be followed by the four hexadecimal digits",
        ),
        (
            "enableNagle=1",
            "`1` is not valid for enableNagle: expected true or false",
        ),
        ("forceSeqNumReset=OneTime", "expected Never or Always"),
        ("encryptionMode=Des", "`encryptionMode` is not supported"),
        ("user.messagehandler.global.0=X", "is not supported"),
        (
            "tradePeriodBegin=0 0 8 ? * MON-FRI",
            "expected one time a day as in",
        ),
        (
            "tradePeriodBegin=0 0 8 * * ?",
            "set both LogonTime and LogoutTime or neither",
        ),
        ("loginWaitTimeout=5", "`5` is not valid for LogonTimeout"),
        ("sessionIDs=a,A", "duplicate session"),
        ("sessionIDs=", "`sessionIDs`"),
        ("sessions.a.socketConnectAddress_0=x", "expected host:port"),
        (
            "username=${password}\npassword=x",
            "variable `password` is not set",
        ),
        ("rubbish", "neither a section nor"),
    ] {
        let error = read(&format!("{ONE}{line}\n")).unwrap_err().to_string();
        assert!(error.contains(said), "{line}: {error}");
    }
    for (line, said) in [
        (
            "autoreconnectAttempts=-1",
            "`autoreconnectAttempts` has no effect",
        ),
        ("cpuAffinity=3", "set Core"),
        (
            "sessions.b.host=x",
            "`sessions.b.host` is ignored: FIX Antenna ignores it too",
        ),
        ("sessions.a.sessionQualifier=Q", "sends it in tag 9012"),
        (
            "serverAcceptorStrategy=a.b.AllowNonRegisteredAcceptorStrategyHandler",
            "DynamicSessions=Y",
        ),
        ("port=2", "appears twice: the last one applies"),
        ("storageDirectory=C:\\\\fix", "literally"),
        ("autostart.acceptor.admin.password=hunter2", "has no effect"),
    ] {
        let settings = read(&format!("{ONE}{line}\n")).unwrap();
        let report = settings.report;
        assert!(report.to_string().contains(said), "{line}: {report}");
        assert!(!report.source.text.contains("hunter2"), "{line}");
    }
    for line in [
        "encryptionMode=none",
        "maskedTags = 554, 925",
        "autoreconnectAttempts=0",
        "incomingSequenceNumber=0",
        "connectAddress=",
        "serverAcceptorStrategy=a.b.DenyNonRegisteredAcceptorStrategyHandler",
        "sslProtocol=None",
        "sessions.b=1",
    ] {
        let said = read(&format!("{ONE}{line}\n")).map(|settings| settings.report.to_string());
        let expected = line == "sessions.b=1";
        assert_eq!(!said.unwrap().is_empty(), expected, "{line}");
    }
}

#[test]
fn fields_of_a_logon_are_not_shown() {
    for name in [
        "outgoingLoginFixMessage",
        "sessions.a.incomingLoginFixMessage",
    ] {
        let Err(LoadError::Content(report)) = read(&format!("{ONE}{name}=554=hunter2\n")) else {
            panic!("{name} is taken");
        };
        assert!(!report.source.text.contains("hunter2"), "{name}");
    }
}

#[test]
fn the_time_of_a_reset_is_made_of_three_properties() {
    let reset = |lines: &str| -> Result<String, String> {
        let settings = read(&format!("{ONE}{lines}")).map_err(|error| error.to_string())?;
        Ok(value(&settings.sessions[0], Id::ResetSeqTime).to_owned())
    };
    let some = |text: &str| Ok(text.to_owned());
    assert_eq!(reset("resetSequenceTime=12:00:00\n"), some(""));
    assert_eq!(reset("performResetSeqNumTime=true\n"), some("00:00:00 UTC"));
    assert_eq!(
        reset(
            "resetSequenceTimeZone=Europe/Paris\nsessions.a.performResetSeqNumTime=true\n\
             sessions.a.resetSequenceTime=17:00:00\n"
        ),
        some("17:00:00 Europe/Paris")
    );
    assert_eq!(
        reset("performResetSeqNumTime=true\nsessions.a.resetSequenceTime=17:00:00\n"),
        some("17:00:00 UTC")
    );
    assert_eq!(
        reset("performResetSeqNumTime=true\nsessions.default.resetSequenceTime=17:00:00\n"),
        some("17:00:00 UTC")
    );
    let back = reset("performResetSeqNumTime=true\nsessions.a.performResetSeqNumTime=false\n");
    assert!(back.unwrap_err().contains("cannot be overridden"));
}

#[test]
fn hours_are_those_of_the_session_and_its_zone() {
    let hours = |lines: &str| {
        let settings = read(&format!("{ONE}{lines}")).unwrap_or_else(|error| panic!("{error}"));
        let session = &settings.sessions[0];
        let ids = [Id::LogonTime, Id::LogonDay, Id::LogoutTime, Id::LogoutDay];
        ids.map(|id| value(session, id).to_owned()).join("/")
    };
    let daily = "tradePeriodBegin=0 30 8 * * ?\ntradePeriodEnd=0 0 17 * * ?\n";
    assert_eq!(hours(daily), "08:30:00 UTC//17:00:00 UTC/");
    assert_eq!(
        hours(&format!(
            "{daily}sessions.default.tradePeriodTimeZone=Europe/Paris\n"
        )),
        "08:30:00 Europe/Paris//17:00:00 Europe/Paris/"
    );
    assert_eq!(
        hours(&format!(
            "{daily}sessions.a.tradePeriodTimeZone=Asia/Tokyo\nsessions.a.tradePeriodEnd=0 0 18 * * ?\n"
        )),
        "08:30:00 Asia/Tokyo//18:00:00 Asia/Tokyo/"
    );
    assert_eq!(
        hours("tradePeriodBegin=0 0 22 ? * SUN\ntradePeriodEnd=0 0 21 ? * 6\n"),
        "22:00:00 UTC/SUN/21:00:00 UTC/FRI"
    );
}

#[test]
fn variables_are_properties_or_of_the_environment() {
    let store = |lines: &str| {
        let settings = read(&format!("{ONE}{lines}")).map_err(|error| error.to_string())?;
        Ok::<_, String>(value(&settings.sessions[0], Id::FileStorePath).to_owned())
    };
    let home = "storageDirectory=${fa.home}/logs\n";
    assert_eq!(store(home).as_deref(), Ok("./logs"));
    assert_eq!(
        store(&format!("{home}fa.home=/fix\n")).as_deref(),
        Ok("/fix/logs")
    );
    assert!(store("storageDirectory=${NOBODY_SETS_THIS}/x\n").is_err());
    let long = format!(
        "a1=1\nX-a={}\n{}",
        "x".repeat(60_000),
        "storageDirectory=${X-a}${X-a}\n"
    );
    assert!(store(&long).unwrap_err().contains("65536 bytes"));
}

#[test]
fn a_huge_file_is_answered_soon_and_in_bounds() {
    let begun = std::time::Instant::now();
    let long = "x".repeat(60_000);
    let copies: String = (0..100_000).map(|n| format!("X-{n}=${{X-a}}\n")).collect();
    for text in [
        "\n".repeat(2 << 20),
        "a=\\\n".repeat(500_000),
        "sessions.x.y=\n".repeat(150_000),
        format!("{ONE}X-a={long}\n{copies}"),
    ] {
        assert!(read(&text).is_err());
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_caller_or_the_name_tells_whose_file_it_is() {
    let as_named = |path: &str, dialect| {
        let source = Source {
            path: path.into(),
            text: ONE.into(),
        };
        let options = Options {
            dialect,
            ..Options::default()
        };
        Settings::read_with(&source, &options).map(|settings| settings.told)
    };
    let antenna = Some(Dialect::Antenna);
    assert!(matches!(
        as_named("x.cfg", antenna),
        Ok(DialectSource::ByCaller)
    ));
    assert!(matches!(
        as_named("x.Properties", None),
        Ok(DialectSource::ByItsName)
    ));
    assert!(as_named("x.cfg", None).is_err());
    assert!(as_named("x.properties", Some(Dialect::QuickFix)).is_err());
    assert!(errors("[DEFAULT]\nDialect=antenna\n").contains("is not valid for Dialect"));
}

fn some_line() -> impl Strategy<Value = String> {
    let scopes = ["", "sessions.default.", "sessions.a.", "sessions.x."];
    let values = [
        "true",
        "false",
        "",
        "1",
        "0",
        "5000",
        "-1",
        "None",
        "${fa.home}",
        "${env:A}",
        "a b",
        "\\",
        "host:1",
        "\\u0041",
        "12:00:00",
        "Never",
        "\"x\"",
    ];
    let name = (0..PROPERTIES.len()).prop_map(|index| PROPERTIES[index].name);
    let (scope, value) = (
        proptest::sample::select(scopes.to_vec()),
        proptest::sample::select(values.to_vec()),
    );
    (
        scope,
        name,
        "[0-9]?",
        proptest::sample::select(vec!["=", ":", " "]),
        value,
    )
        .prop_map(|(scope, name, suffix, equals, value)| {
            format!("{scope}{name}{suffix}{equals}{value}\n")
        })
}

proptest! {
    #[test]
    fn any_file_is_converted_or_refused(lines in proptest::collection::vec(some_line(), 0..3)) {
        match read(&format!("{ONE}{}", lines.concat())) {
            Ok(settings) => match to_toml(&settings, &OfTheProcess) {
                Ok(_) | Err(ConvertError::Variable { .. }) => {}
                Err(error) => prop_assert!(false, "{lines:?}: {error}"),
            },
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
