//! TOML files: the same settings as in a `.cfg` file, and errors with line and column.

use super::*;

fn read(text: &str) -> Result<Settings, LoadError> {
    Settings::read(&Source {
        path: "x.toml".into(),
        text: text.into(),
    })
}

fn errors(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

const GOOD: &str = r#"
[default]
ConnectionType = "initiator"
NonStopSession = true
HeartBtInt = 30
LogonTimeout = "1500ms"
TestRequestDelayMultiplier = 0.5
ReconnectInterval = ["3x10", 60]
JournalSegmentSize = "16M"
SocketConnectHost = ["a.example", "b.example", "c.example"]
SocketConnectPort = [5001, 5_002, 5003]
X-Desk = "Paris"

[[session]]
BeginString = "FIX.4.4"
SenderCompID = "A"
TargetCompID = "B"

[[session]]
BeginString = "FIX.4.2"
SenderCompID = "A"
TargetCompID = "B"
ResetOnLogon = false
SocketConnectHost = ["d.example"]
SocketConnectPort = [5001]
Password = """
hunter2"""
LogonTag = ["464=DESK", "383=ORDERS"]
[session.application]
Desk = "London"
"#;

const SAME: &str = "
[DEFAULT]
ConnectionType=initiator
NonStopSession=Y
HeartBtInt=30
LogonTimeout=1500ms
TestRequestDelayMultiplier=0.5
ReconnectInterval=3x10;60
JournalSegmentSize=16M
X-Desk=Paris
[SESSION]
BeginString=FIX.4.4
SenderCompID=A
TargetCompID=B
SocketConnectHost=a.example
SocketConnectHost1=b.example
SocketConnectHost2=c.example
SocketConnectPort=5001
SocketConnectPort1=5002
SocketConnectPort2=5003
[SESSION]
BeginString=FIX.4.2
SenderCompID=A
TargetCompID=B
ResetOnLogon=N
SocketConnectHost=d.example
SocketConnectPort=5001
Password=hunter2
LogonTag=464=DESK
LogonTag1=383=ORDERS
X-Application=London
";

#[test]
fn a_toml_file_says_what_a_cfg_file_says() {
    let values = |settings: &Settings| -> Vec<Vec<(Id, Option<u16>, SettingValue)>> {
        let of = |session: &SessionSettings| {
            let one = |found: &Setting| (found.key.id, found.number, found.value.clone());
            session.settings.iter().map(one).collect()
        };
        settings.sessions.iter().map(of).collect()
    };
    let toml = read(GOOD).unwrap();
    let cfg = super::read(SAME).unwrap();
    assert_eq!(values(&toml), values(&cfg));
    assert_eq!(
        (toml.dialect, toml.told),
        (Dialect::Fixwire, DialectSource::ByItsName)
    );
    let custom: Vec<(&str, &str)> = toml.sessions[1]
        .custom
        .iter()
        .map(|custom| (&custom.key[..], &custom.value[..]))
        .collect();
    assert_eq!(custom, [("Desk", "London"), ("X-Desk", "Paris")]);
    assert!(!toml.report.source.text.contains("hunter2"));
    assert_eq!(toml.report.source.line(toml.sessions[1].header), 19);
}

const SESSION: &str = "[[session]]\nBeginString = \"FIX.4.4\"\nSenderCompID = \"A\"\n\
                       TargetCompID = \"B\"\nConnectionType = \"acceptor\"\nSocketAcceptPort = 1\n";

#[test]
fn every_mistake_is_named_with_line_and_column() {
    for (extra, said) in [
        (
            "HeartBtIn = 30",
            "x.toml:7:1: unknown key `HeartBtIn` (did you mean `HeartBtInt`?)",
        ),
        (
            "SocketTcpNoDelay = true",
            "x.toml:7:1: unknown key `SocketTcpNoDelay` (did you mean `SocketNodelay`?)",
        ),
        (
            "HeartBtInt = 99999",
            "x.toml:7:14: `99999` is not valid for HeartBtInt",
        ),
        (
            "SenderSubID = true",
            "x.toml:7:1: `SenderSubID` is not valid for SenderSubID: expected text",
        ),
        (
            "ResetOnLogon = 1",
            "x.toml:7:1: `ResetOnLogon` is not valid for ResetOnLogon: expected true or false",
        ),
        (
            "SenderSubID = [\"A\"]",
            "x.toml:7:1: `SenderSubID` is not valid",
        ),
        (
            "LogonTag = []",
            "x.toml:7:1: `LogonTag` is not valid for LogonTag: expected tag=value",
        ),
        (
            "SocketCABytes = \"1\"",
            "x.toml:7:1: `SocketCABytes` is not supported",
        ),
        (
            "Dialect = \"quickfixj\"",
            "x.toml:7:11: a TOML file is fixwire's own, not a file of QuickFIX/J",
        ),
        (
            "X-Desk = 5",
            "x.toml:7:1: the value of an application's key must be text in quotes",
        ),
        (
            "application = { HeartBtInt = \"1\" }",
            "x.toml:7:17: this is the name of a setting",
        ),
        ("[other]", "x.toml:7:2: the tables are `[default]` (once)"),
        (
            "[[default]]",
            "x.toml:7:3: the tables are `[default]` (once)",
        ),
        ("HeartBtInt = thirty", "x.toml:7:14: invalid TOML: "),
        (
            "SenderSubID = \"a\"\nsendersubid = \"b\"",
            "x.toml:8:1: `sendersubid` appears twice",
        ),
    ] {
        let found = errors(&format!("{SESSION}{extra}\n"));
        assert!(
            found.lines().any(|line| line.starts_with(said)),
            "{extra}: {found}"
        );
    }
    assert!(errors("").contains("the file has no"));
    assert!(read(SESSION).is_ok());
}

#[test]
fn tables_of_a_gateway_are_passed_over_and_told() {
    let rules =
        "[[rule]]\nfrom = ['*']\ndo = ['stop']\n[table.a]\nfile = 'a.csv'\n[gateway]\nx = 1\n";
    let settings = read(&format!("{SESSION}{rules}")).unwrap();
    assert_eq!(settings.gateway, ["gateway", "rule", "table"]);
    let lost = crate::convert::to_toml_without_secrets(&settings).unwrap_err();
    assert!(
        lost.to_string().contains("which a conversion would drop"),
        "{lost}"
    );
    assert!(read(SESSION).unwrap().gateway.is_empty());
}

#[test]
fn tables_of_an_oms_are_passed_over_and_named() {
    let tables = "[oms]\nlimits = 'l.csv'\n[[account]]\nname = 'A1'\n[[route]]\nto = 'X'\n";
    let settings = read(&format!("{SESSION}{tables}")).unwrap();
    assert_eq!(settings.oms, ["account", "oms", "route"]);
    let lost = crate::convert::to_toml_without_secrets(&settings).unwrap_err();
    assert!(
        lost.to_string().contains("which a conversion would drop"),
        "{lost}"
    );
}

#[test]
fn an_oms_has_room_for_its_messages() {
    let told = |size: &str, tables: &str| {
        let settings = read(&format!(
            "[default]\nMaxMessageSize = '{size}'\n{SESSION}{tables}"
        ))
        .unwrap();
        let config = settings.to_config();
        config.map_or_else(|error| error.to_string(), |_| String::new())
    };
    let oms = "[oms]\nlimits = 'l.csv'\n";
    let wanted = "MaxMessageSize must be at least 32768, room for each message of an OMS";
    assert!(told("31K", oms).contains(wanted), "{}", told("31K", oms));
    assert!(!told("32K", oms).contains(wanted));
    assert!(!told("31K", "").contains(wanted));
}

#[test]
fn tables_of_an_exchange_are_passed_over_and_named() {
    let tables = "[exchange]\nx = 1\n[[instrument]]\nsymbol = 'VOD'\n";
    let settings = read(&format!("{SESSION}{tables}")).unwrap();
    assert_eq!(settings.exchange, ["exchange", "instrument"]);
    assert!(settings.gateway.is_empty());
    let lost = crate::convert::to_toml_without_secrets(&settings).unwrap_err();
    assert!(lost.to_string().contains("a simulated exchange"), "{lost}");
}

#[test]
fn a_list_of_scripts_is_of_an_exchange_and_a_table_of_a_gateway() {
    let list = "[[script]]\nname = 'X'\n";
    let exchange = read(&format!("{SESSION}{list}[[instrument]]\nsymbol = 'VOD'\n")).unwrap();
    assert_eq!(exchange.exchange, ["instrument", "script"]);
    assert!(exchange.gateway.is_empty());
    for alone in [list, "[script]\noperations = 1\n"] {
        let gateway = read(&format!("{SESSION}{alone}")).unwrap();
        assert_eq!(gateway.gateway, ["script"], "{alone}");
        assert!(gateway.exchange.is_empty(), "{alone}");
    }
}

#[test]
fn each_session_has_a_name_of_its_own_for_rules() {
    let second = SESSION.replace("\"B\"", "\"C\"");
    let both = |one: &str, two: &str| read(&format!("{SESSION}{one}\n{second}{two}\n"));
    let settings = both("SessionName = \"DESK-1\"", "").unwrap();
    let called: Vec<String> = settings
        .sessions
        .iter()
        .map(SessionSettings::called)
        .collect();
    assert_eq!(called, ["DESK-1", "FIX.4.4:A->C"]);
    assert_eq!(settings.sessions[0].name(), "FIX.4.4:A->B");
    for (one, two, said) in [
        ("DESK", "DESK", "x.toml:14:15: `\"DESK\"` appears twice"),
        ("FIX.4.4:A->C", "OTHER->C", ""),
        ("DESK", "FIX.4.4:A->B", ""),
        (
            "a b",
            "c",
            "x.toml:7:15: `\"a b\"` is not valid for SessionName: expected a name without",
        ),
        (
            "a*",
            "c",
            "x.toml:7:15: a * in SessionName stands for the TargetCompID of sessions that a Logon creates",
        ),
        (
            "@a",
            "c",
            "x.toml:7:15: `\"@a\"` is not valid for SessionName",
        ),
    ] {
        let name = |name: &str| format!("SessionName = \"{name}\"");
        let found = both(&name(one), &name(two));
        let found = found.map_or_else(|error| error.to_string(), |_| String::new());
        assert!(
            found.starts_with(said) && found.is_empty() == said.is_empty(),
            "{one} {two}: {found}"
        );
    }
    let taken = both("SessionName = \"FIX.4.4:A->C\"", "").unwrap_err();
    assert!(
        taken
            .to_string()
            .starts_with("x.toml:7:15: `\"FIX.4.4:A->C\"` appears twice"),
        "{taken}"
    );
    let all = read(&format!(
        "[default]\nSessionName = \"X\"\n{SESSION}{second}"
    ))
    .unwrap_err();
    assert_eq!(all.to_string().lines().count(), 1, "{all}");
    assert!(
        all.to_string().contains("SessionName must be unique"),
        "{all}"
    );
}

#[test]
fn sessions_that_do_not_validate_have_their_dictionaries_nevertheless() {
    let without = SESSION.replace("\"B\"", "\"C\"") + "UseDataDictionary = false\n";
    let settings = read(&format!("{SESSION}{without}")).unwrap();
    let made = settings.dictionaries().unwrap();
    assert_eq!((made.len(), made[1].version()), (2, "FIX.4.4"));
    assert!(std::sync::Arc::ptr_eq(&made[0], &made[1]));
}

#[test]
fn a_secret_is_not_shown_in_a_file_that_cannot_be_read() {
    for extra in [
        "Password = hunter2",
        "Password = \"\"\"\nhunter2",
        "\"Password\" = [\n\"hunter2\",,]",
        "Password = [\"hunter2\"]\nHeartBtInt = x",
        "Password = [\"hunter2\"]",
        "Password = { a = \"hunter2\" }",
        "LogonTag = \"554=hunter2\"\nnonsense",
        "a = { Password = hunter2 }",
        "a = { LogonTag = '554=hunter2' } b",
        "LogonTag = [[\"554=hunter2\"]]",
    ] {
        let LoadError::Content(report) = read(&format!("{SESSION}{extra}\n")).unwrap_err() else {
            panic!("{extra}");
        };
        assert!(!report.source.text.contains("hunter2"), "{extra}: {report}");
        assert!(!report.to_string().contains("hunter2"), "{extra}");
    }
}
