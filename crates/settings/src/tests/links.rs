//! Links of a TOML file: each key, and each error with line and column.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use fixwire_engine::config::{Connection, EngineConfig};
use fixwire_protocol::Framing;
use fixwire_tmp::{HeartbeatRule, SystemType, TmpPassword};

use super::*;
use crate::link_keys::{CONNECTION_KEYS, LINK_KEYS, TmpEnd};
use crate::registry::KeyScope;
mod marks;

const OMS: &str = r#"
[default]
NonStopSession = true
HeartBtInt = 30
FileStorePath = "j"

[[link]]
name = "FUT-1"
protocol = "taifex-tmp"
ConnectionType = "initiator"
SocketConnectHost = ["a.example", "b.example"]
SocketConnectPort = [7001, 7002]
ReconnectInterval = ["2x1", 5]
fcm_id = 279
session_id = 50
password = "0123"
system_type = "futures day"

[oms]
"#;

const EXCHANGE: &str = r#"
[[link]]
name = "FUT-1"
protocol = "taifex-tmp"
ConnectionType = "acceptor"
SocketAcceptAddress = "127.0.0.1"
SocketAcceptPort = 7001
AllowedRemoteAddresses = "10.0.0.0/8"
HeartBtInt = 7
fcm_id = 279
session_id = 50
password = "4567"
system_type = "options night"
ap_code = "trading"
heartbeat = "idle sender"
max_flow = 100

[[instrument]]
"#;

const SESSION: &str = r#"
[[session]]
SessionName = "CLIENT"
ConnectionType = "acceptor"
SocketAcceptPort = 5001
BeginString = "FIX.4.4"
SenderCompID = "OMS"
TargetCompID = "CLIENT"
"#;

fn read(text: &str) -> Result<Settings, LoadError> {
    Settings::read(&Source {
        path: "x.toml".into(),
        text: text.into(),
    })
}

fn config(text: &str) -> EngineConfig {
    let settings = read(text).unwrap_or_else(|error| panic!("{error}"));
    let config = settings
        .to_config()
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(config.check(), Ok(()));
    config
}

/// All errors of a text.
fn errors(text: &str) -> String {
    match read(text) {
        Ok(settings) => settings.to_config().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_link_of_an_oms_arrives() {
    let config = config(OMS);
    assert_eq!((config.sessions.len(), config.links.len()), (0, 1));
    assert_eq!(config.journal_dir.to_str(), Some("j"));
    let link = &config.links[0];
    assert_eq!(link.name, "FUT-1");
    let second = Duration::from_secs(1);
    let connection = Connection::Initiator {
        hosts: vec![("a.example".into(), 7001), ("b.example".into(), 7002)],
        reconnect: vec![second, second, 5 * second],
        timeout: 10 * second,
    };
    assert_eq!(link.connection, connection);
    let framing = Framing::big_endian(0, 2).adding(3).within(19, 65_538);
    assert_eq!(link.framing, framing.with_sum_of_bytes());
    assert!(link.outbound.is_none() && link.transport.tls.is_none());
    let lines = read(OMS).unwrap().tmp_lines().unwrap();
    let [(name, line)] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(name, "FUT-1");
    assert_eq!((line.fcm_id, line.session_id), (279, 50));
    assert_eq!(line.password, TmpPassword::new(123));
    assert_eq!(line.system_type, SystemType::FUTURES_DAY);
    assert_eq!(line.heartbeat, HeartbeatRule::SilentPeer);
    assert_eq!(line.cancel_order_sec, 0);
    let more = OMS.replace("fcm_id", "cancel_order_sec = 5\nfcm_id");
    let more = read(&more).unwrap().tmp_lines().unwrap();
    assert_eq!(more[0].1.cancel_order_sec, 5);
}

/// Reads a file as `fixwire certify` does.
#[test]
fn links_without_an_application_have_the_end_of_the_broker() {
    let source = Source {
        path: "x.toml".into(),
        text: OMS.replace("[oms]", ""),
    };
    let options = Options {
        links_alone: true,
        ..Options::default()
    };
    let settings = Settings::read_with(&source, &options).unwrap();
    assert_eq!(settings.links[0].end, TmpEnd::Broker);
    assert_eq!(settings.tmp_lines().unwrap()[0].0, "FUT-1");
    assert!(Settings::read(&source).is_err());
}

#[test]
fn a_link_of_an_exchange_arrives() {
    let made = config(EXCHANGE);
    let listen = "127.0.0.1:7001".parse().unwrap();
    assert_eq!(made.links[0].connection, Connection::Acceptor { listen });
    assert_eq!(made.links[0].addresses, ["10.0.0.0/8".parse().unwrap()]);
    let framing = Framing::big_endian(0, 2).adding(3).within(19, 65_538);
    assert_eq!(made.links[0].framing, framing);
    let members = read(EXCHANGE).unwrap().tmp_members().unwrap();
    let member = &members[0].1;
    assert_eq!((member.heart_bt_int, member.max_flow_ctrl_cnt), (7, 100));
    assert_eq!(member.heartbeat, HeartbeatRule::IdleSender);
    assert_eq!(member.system_type, SystemType::OPTIONS_NIGHT);
    assert_eq!(member.password, TmpPassword::new(4567));
    let few = ["HeartBtInt = 7\n", "max_flow = 100\n"]
        .iter()
        .fold(EXCHANGE.to_owned(), |text, line| text.replace(line, ""));
    let members = read(&few).unwrap().tmp_members().unwrap();
    let member = &members[0].1;
    assert_eq!((member.heart_bt_int, member.max_flow_ctrl_cnt), (30, 16));
    // Entries of `[default]` apply to links, too.
    let both = format!("[default]\nHeartBtInt = 9\n{few}");
    let members = read(&both).unwrap().tmp_members().unwrap();
    assert_eq!(members[0].1.heart_bt_int, 9);
}

#[test]
fn sessions_and_links_go_together() {
    let text = OMS.replace("[[link]]", &format!("{SESSION}\n[[link]]"));
    let config = config(&text);
    assert_eq!((config.sessions.len(), config.links.len()), (1, 1));
    // The engine settings are those of the first session.
    let text = text.replace("TargetCompID", "StopTimeout = 3\nTargetCompID");
    let stop = read(&text).unwrap().to_config().unwrap().stop_timeout;
    assert_eq!(stop, Duration::from_secs(3));
}

/// A certificate is checked unless the file says otherwise, as in sessions.
#[test]
fn tls_of_an_initiator_checks_its_peer() {
    for (more, skips) in [("", false), ("SocketInsecureSkipVerify = true\n", true)] {
        let text = OMS.replace("fcm_id", &format!("SocketUseSSL = true\n{more}fcm_id"));
        let settings = read(&text).unwrap();
        let connection = &settings.links[0].connection;
        assert!(connection.bool(Id::SSLValidateCertificates));
        assert_eq!(connection.bool(Id::SocketInsecureSkipVerify), skips);
        assert!(crate::transport::uses_tls(connection));
    }
}

#[test]
fn every_key_of_a_connection_can_stand_in_a_link() {
    for id in CONNECTION_KEYS {
        let key = registry::key(id);
        assert_eq!(key.scope, KeyScope::Session, "{}", key.name);
        let text = OMS.replace("fcm_id", &format!("{} = []\nfcm_id", key.name));
        let said = read(&text).unwrap_err().to_string();
        let is_known = !said.contains("unknown key") && !said.contains("is a key of FIX sessions");
        assert!(is_known, "{said}");
    }
}

/// A text of the sample, the text that replaces it, and parts of the report.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("name = \"FUT-1\"\n", "", &["x.toml:7:1: `name` is missing"]),
    (
        "\"FUT-1\"",
        "\"A B\"",
        &[
            "x.toml:8:8: ",
            "is not valid for name: expected a name without spaces",
        ],
    ),
    (
        "\"FUT-1\"",
        "\"operators\"",
        &[
            "x.toml:8:8: no link can be named operators",
            "choose another",
        ],
    ),
    (
        "\"FUT-1\"",
        "7",
        &["x.toml:8:8: `7` is not valid for name: ", "in quotes"],
    ),
    (
        "protocol = \"taifex-tmp\"\n",
        "",
        &["`protocol` is missing (write protocol = \"taifex-tmp\")"],
    ),
    (
        "taifex-tmp",
        "itch",
        &[
            "x.toml:9:12: ",
            "is not valid for protocol: expected taifex-tmp",
        ],
    ),
    ("fcm_id = 279\n", "", &["`fcm_id` is missing"]),
    (
        "279",
        "65536",
        &["`65536` is not valid for fcm_id: expected a number, 0 to 65535"],
    ),
    (
        "279",
        "\"279a\"",
        &["is not valid for fcm_id: expected a number, 0 to 65535"],
    ),
    ("279", "0x10", &["`0x10` is not valid for fcm_id"]),
    ("session_id = 50\n", "", &["`session_id` is missing"]),
    (
        "session_id = 50",
        "session_id = -1",
        &["`-1` is not valid for session_id"],
    ),
    (
        "system_type = \"futures day\"\n",
        "",
        &["`system_type` is missing (write for example \"futures day\""],
    ),
    (
        "futures day",
        "futures",
        &["expected options day, options night, futures day or futures night"],
    ),
    (
        "fcm_id",
        "ap_code = \"short\"\nfcm_id",
        &["is not valid for ap_code: expected trading, drop copy or clearing member"],
    ),
    (
        "fcm_id",
        "heartbeat = \"often\"\nfcm_id",
        &["expected silent peer or idle sender"],
    ),
    (
        "fcm_id",
        "cancel_order_sec = 256\nfcm_id",
        &["expected a number of seconds, 0 to 255"],
    ),
    (
        "fcm_id",
        "max_flow = 5\nfcm_id",
        &[
            "x.toml:14:12: max_flow is a key of a simulated exchange's links, not of an OMS's",
            "remove the key",
        ],
    ),
    (
        "fcm_id",
        "HeartBtInt = 5\nfcm_id",
        &[
            "HeartBtInt is a key of a simulated exchange's links",
            "remove the key: the exchange sends this value",
        ],
    ),
    (
        "password = \"0123\"\n",
        "",
        &["`password` is missing (set password, or password_file to a file"],
    ),
    (
        "fcm_id",
        "password_file = \"p\"\nfcm_id",
        &["password and password_file exclude each other (remove one of them)"],
    ),
    (
        "password",
        "Password",
        &["`Password` is a key of FIX sessions, not of links (did you mean `password`?)"],
    ),
    (
        "fcm_id",
        "fcmid",
        &[
            "unknown key `fcmid` of a link (did you mean `fcm_id`?)",
            "`fcm_id` is missing",
        ],
    ),
    (
        "fcm_id",
        "colour = 1\nfcm_id",
        &["unknown key `colour` of a link (the keys of a link are name, protocol, fcm_id"],
    ),
    (
        "fcm_id",
        "X-Desk = \"a\"\nfcm_id",
        &["unknown key `X-Desk` of a link"],
    ),
    (
        "fcm_id",
        "application = { a = \"b\" }\nfcm_id",
        &["unknown key `application` of a link"],
    ),
    (
        "fcm_id",
        "SenderCompID = \"A\"\nfcm_id",
        &["x.toml:14:1: `SenderCompID` is a key of FIX sessions, not of links (remove the key"],
    ),
    (
        "fcm_id",
        "FileStorePath = \"k\"\nfcm_id",
        &["`FileStorePath` is a setting of the engine (move it to `[default]`)"],
    ),
    (
        "ConnectionType = \"initiator\"\n",
        "",
        &["`ConnectionType` is missing"],
    ),
    (
        "\"initiator\"",
        "\"both\"",
        &["is not valid for ConnectionType"],
    ),
    (
        "\"initiator\"",
        "\"acceptor\"",
        &["`SocketAcceptPort` is missing (a link that accepts"],
    ),
    (
        "SocketConnectHost = [\"a.example\", \"b.example\"]\n",
        "",
        &["`SocketConnectHost` is missing"],
    ),
    (
        "SocketConnectPort = [7001, 7002]\n",
        "",
        &["`SocketConnectPort` is missing"],
    ),
    (
        ", 7002",
        "",
        &["`SocketConnectHost1` needs `SocketConnectPort1`"],
    ),
    (
        "fcm_id",
        "ProxyHost = \"p\"\nfcm_id",
        &["ProxyHost needs ProxyPort"],
    ),
    (
        "fcm_id",
        "AllowedRemoteAddresses = \"here\"\nSocketTrafficClass = \"x\"\nfcm_id",
        &[
            "x.toml:14:26: here is not an IP address",
            "x.toml:15:22: expected 0 to 255",
        ],
    ),
    (
        "[default]\n",
        "[default]\nMaxMessageSize = \"32K\"\n",
        &["x.toml:3:18: MaxMessageSize must be at least 65538"],
    ),
    (
        "[oms]",
        "",
        &["x.toml:7:1: only an OMS and a simulated exchange have links (add the tables of an OMS"],
    ),
    (
        "[[link]]",
        "[link]",
        &[
            "the tables are `[default]`",
            "`[[link]]` (one for each TMP link)",
        ],
    ),
];

#[test]
fn every_mistake_says_where_it_is_and_what_to_do() {
    for (there, wrong, says) in MISTAKES {
        assert!(OMS.contains(there), "{there}");
        let said = errors(&OMS.replacen(there, wrong, 1));
        for part in *says {
            assert!(said.contains(part), "{wrong}: {part}\n{said}");
        }
        assert!(!said.contains("0123"), "{said}");
    }
}

#[test]
fn every_mistake_of_a_file_is_reported_at_once() {
    let text = [
        ("279", "x"),
        ("\"futures day\"", "\"dusk\""),
        ("7001, 7002", "0"),
        ("\"0123\"", "123"),
    ];
    let text = (text.iter()).fold(OMS.replace("279", "\"279\""), |text, (from, to)| {
        text.replace(from, to)
    });
    let said = errors(&text);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    for (line, key) in [
        ("12", "SocketConnectPort"),
        ("14", "fcm_id"),
        ("16", "password"),
        ("17", "system_type"),
    ] {
        let is_its = |it: &&str| it.starts_with(&format!("x.toml:{line}:")) && it.contains(key);
        assert!(lines.iter().any(is_its), "{line} {key}\n{said}");
    }
}

#[test]
fn an_exchange_has_other_keys_than_an_oms() {
    for (wrong, says) in [
        (
            "cancel_order_sec = 1\n",
            "cancel_order_sec is a key of an OMS's links, not of a simulated exchange's links",
        ),
        ("max_flow = 1\nmax_flow = 1\n", "invalid TOML"),
    ] {
        let text = EXCHANGE.replace("max_flow = 100\n", wrong);
        let said = errors(&text);
        assert!(said.contains(says), "{said}");
    }
    let said = errors(&EXCHANGE.replace("HeartBtInt = 7", "HeartBtInt = 256"));
    assert!(
        said.contains("x.toml:9:14: HeartBtInt of a TMP link is at most 255"),
        "{said}"
    );
    let said = errors(&EXCHANGE.replace("max_flow", "SocketUseSSL = true\nmax_flow"));
    assert!(
        said.contains("TLS is not supported on a link that accepts connections"),
        "{said}"
    );
}

#[test]
fn names_logins_and_ports_are_a_links_own() {
    let at = EXCHANGE.find("[[instrument]]").unwrap();
    let (link, rest) = EXCHANGE.split_at(at);
    let two = |edit: &[(&str, &str)]| {
        let other = edit
            .iter()
            .fold(link.to_owned(), |text, (from, to)| text.replace(from, to));
        format!("{SESSION}{link}{other}{rest}")
    };
    let (name, port, id) = (("FUT-1", "FUT-2"), ("7001", "7002"), ("= 50", "= 51"));
    assert_eq!(config(&two(&[name, port, id])).links.len(), 2);
    for (edit, says) in [
        (&[port, id][..], "`\"FUT-1\"` appears twice"),
        (
            &[name, port],
            "link FUT-1 has the same fcm_id, session_id and system_type (the exchange",
        ),
        (
            &[name, port, ("= 50", "= \"050\"")],
            "link FUT-1 has the same fcm_id, session_id and system_type (the exchange",
        ),
        (
            &[name, id],
            "FUT-1 listens on port 7001 too (a link cannot share its port with",
        ),
        (
            &[name, id, ("7001", "5001")],
            "CLIENT listens on port 5001 too",
        ),
        (
            &[("FUT-1", "CLIENT"), port, id],
            "`\"CLIENT\"` appears twice",
        ),
    ] {
        let said = errors(&two(edit));
        assert!(said.contains(says), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_password_is_never_shown() {
    for password in [
        "\"12a4\"",
        "1234",
        "\"1234567890\"",
        "\"\"",
        "\"${env:NO_SUCH_0123}\"",
    ] {
        let text = OMS.replace("\"0123\"", password);
        let said = format!("{} {:?}", errors(&text), read(&text).unwrap_err());
        let plain = password.trim_matches('"');
        assert!(plain.is_empty() || !said.contains(plain), "{said}");
        assert!(
            said.contains("password") && said.contains("x.toml:16:"),
            "{said}"
        );
    }
    let settings = read(OMS).unwrap();
    let shown = format!("{settings:?} {:?}", settings.tmp_lines().unwrap());
    assert!(
        !shown.contains("0123") && !shown.contains("(123)"),
        "{shown}"
    );
    assert_eq!(settings.links[0].find("password").unwrap().text, "******");
}

#[test]
fn a_password_may_be_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("link.password");
    let file = folder.path().join("oms.toml");
    let text = OMS.replace("password = \"0123\"", "password_file = \"link.password\"");
    let lines = || {
        let source = Source {
            path: file.clone(),
            text: text.clone(),
        };
        let settings = Settings::read(&source).unwrap();
        settings.tmp_lines().map_err(|error| error.to_string())
    };
    let said = lines().unwrap_err();
    let says = ":16:17: password_file link.password: No such file";
    assert!(said.contains(says), "{said}");
    let long = format!("4321{}x", "\n".repeat(60));
    for (mode, content, says) in [
        (0o600, &*long, "the file has more than 64 bytes"),
        (0o644, "4321\n", "other users can read it (mode 0644)"),
        (0o600, "43x1\n", "the file has no password of 1 to 9 digits"),
        (0o600, "", "the file has no password"),
    ] {
        fs::write(&secret, content).unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).unwrap();
        let said = lines().unwrap_err();
        let is_shown = content.len() > 1 && said.contains(content.trim());
        assert!(
            said.contains(says) && said.contains("mode 0600") && !is_shown,
            "{said}"
        );
    }
    fs::write(&secret, "4321\n").unwrap();
    assert_eq!(lines().unwrap()[0].1.password, TmpPassword::new(4321));
}

#[test]
fn variables_are_replaced_in_links() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, "777\n").unwrap();
    let variable = format!("\"${{file:{}}}\"", path.display());
    let settings = read(&OMS.replace("\"0123\"", &variable)).unwrap();
    let password = settings.tmp_lines().unwrap()[0].1.password;
    assert_eq!(password, TmpPassword::new(777));
    // Readable by every user or not, depending on the umask.
    let warned = settings.report.problems.iter();
    let mut faults = warned.map(|it| &it.fault);
    assert!(faults.all(|it| matches!(it, SettingsFault::Exposed)));
}

#[test]
fn every_key_of_the_protocol_is_in_the_samples() {
    for key in LINK_KEYS {
        let start = format!("\n{} = ", key.name);
        let all = MISTAKES.iter().map(|(_, wrong, _)| *wrong);
        let all: String = [OMS, EXCHANGE, marks::ALL].into_iter().chain(all).collect();
        let is_there = all.contains(&start) || all.contains(&start[1..]);
        assert!(is_there, "{}", key.name);
    }
}
