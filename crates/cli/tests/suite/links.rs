//! Files with `[[link]]`: the output of `check`, `run`, `sim` and `status` about links, and the messages that a raw TCP
//! client receives.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::Value;

use crate::oms::example;
use crate::running::{Running, SOON, fixwire, free_port};

/// An example file in this folder, with these words replaced, readable only by its owner.
fn write(folder: &Path, file: &str, changes: &[(&str, &str)]) {
    let mut text = example(file);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let path = folder.join(file);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn ask(folder: &Path, args: &[&str]) -> Output {
    let mut command = fixwire();
    command.current_dir(folder).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The output of `check` for a file without errors.
fn check(folder: &Path, args: &[&str]) -> String {
    let output = ask(folder, &[&["check"], args].concat());
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let table = text(&output.stdout);
    assert!(
        !table.contains("1234") && !said.contains("1234"),
        "{table}{said}"
    );
    table
}

#[track_caller]
fn has(table: &str, rows: &[&str]) {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = table.lines().map(words).collect();
    for row in rows {
        assert!(
            lines.iter().any(|line| line.starts_with(row)),
            "{row}\n{table}"
        );
    }
}

fn oms(folder: &Path) {
    write(folder, "oms-tmp.toml", &[]);
    for file in ["futures.csv", "futures-limits.csv"] {
        fs::write(folder.join(file), example(file)).unwrap();
    }
}

#[test]
fn check_shows_the_link_of_an_oms() {
    let folder = tempfile::tempdir().unwrap();
    oms(folder.path());
    let table = check(folder.path(), &["oms-tmp.toml"]);
    has(
        &table,
        &[
            "Engine",
            "FileStorePath oms-tmp-store oms-tmp.toml:11 [DEFAULT]",
            "Session FIX.4.2:OMS->CLIENT",
            "Link FUT-1",
            "name FUT-1 oms-tmp.toml:24",
            "protocol taifex-tmp oms-tmp.toml:25",
            "fcm_id 279 oms-tmp.toml:30",
            "password ****** oms-tmp.toml:32",
            "system_type futures day",
            "ap_code trading built-in",
            "heartbeat silent peer built-in",
            "cancel_order_sec 0 built-in",
            "order_source D oms-tmp.toml:34",
            "info_source 999 oms-tmp.toml:35",
            "investor_flag A oms-tmp.toml:36",
            "position_effect open oms-tmp.toml:37",
            "ConnectionType initiator oms-tmp.toml:26",
            "SocketConnectPort 7001 oms-tmp.toml:28",
            "ReconnectInterval 1 oms-tmp.toml:29",
            "SocketConnectTimeout 10 built-in",
            "ok: 1 session, 1 link, 0 warnings",
        ],
    );
    let link = &table[table.find("Link FUT-1").unwrap()..];
    for key in [
        "FileStorePath",
        "SenderCompID",
        "max_flow",
        "HeartBtInt",
        "StartTime",
    ] {
        assert!(!link.contains(key), "{key}\n{link}");
    }
    let changed = check(folder.path(), &["--changed", "oms-tmp.toml"]);
    let link = &changed[changed.find("Link FUT-1").unwrap()..];
    assert!(
        link.contains("fcm_id") && !link.contains("built-in"),
        "{link}"
    );
}

#[test]
fn check_shows_which_fields_of_requests_go_over_tmp() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    oms(folder);
    let with = |table: &str| {
        let key = format!("number_pool = \"FUT\"\ntmp_fields = {table}\n");
        write(folder, "oms-tmp.toml", &[("number_pool = \"FUT\" ", &key)]);
    };
    with("{order_source = 9717, investor_flag = 582, info_source = \"904\"}");
    let table = check(folder, &["oms-tmp.toml"]);
    let row = "line_group.FUT.tmp_fields order_source = 9717, info_source = \"904\", investor_flag = \
               CustOrderCapacity(582)";
    has(&table, &[row]);
    with("{order_sorce = 9717}");
    let output = ask(folder, &["check", "oms-tmp.toml"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for says in [
        "oms-tmp.toml:57",
        "tmp_fields cannot fill order_sorce",
        "did you mean order_source?",
    ] {
        assert!(said.contains(says), "{says}\n{said}");
    }
}

#[test]
fn check_shows_the_link_of_an_exchange_without_sessions() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "exchange-tmp.toml", &[]);
    let table = check(folder.path(), &["exchange-tmp.toml"]);
    has(
        &table,
        &[
            "Engine",
            "FileStorePath exchange-tmp-store exchange-tmp.toml:8 [DEFAULT]",
            "Link FUT-1",
            "max_flow 50 exchange-tmp.toml:21",
            "HeartBtInt 30 exchange-tmp.toml:16",
            "SocketAcceptPort 7001",
            "Exchange",
            "instrument.TXFL6",
            "ok: 1 link, 0 warnings",
        ],
    );
    let json = check(folder.path(), &["--json", "exchange-tmp.toml"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["sessions"].as_array().map(Vec::len), Some(0));
    assert_eq!(json["links"][0]["name"], "FUT-1");
    let settings = json["links"][0]["settings"].as_array().unwrap();
    let of = |key: &str| settings.iter().find(|it| it["key"] == key).unwrap();
    assert_eq!(
        (&of("max_flow")["value"], &of("max_flow")["line"]),
        (&"50".into(), &21.into())
    );
    assert_eq!(
        (&of("ap_code")["from"], &of("fcm_id")["from"]),
        (&"built-in".into(), &"link".into())
    );
    assert_eq!(of("password")["value"], "******");
}

#[test]
fn mistakes_of_links_end_check_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    oms(folder);
    let wrong = [
        ("fcm_id = 279 ", "fcm_id = 70000 "),
        ("\"1234\"", "\"12x4\""),
        ("ReconnectInterval = 1", "StartTime = \"08:00:00\""),
    ];
    write(folder, "oms-tmp.toml", &wrong);
    for verb in ["check", "run"] {
        let output = ask(folder, &[verb, "oms-tmp.toml"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for says in [
            "oms-tmp.toml:29:1",
            "`StartTime` is a key of FIX sessions, not of links",
            "oms-tmp.toml:30:10",
            "`70000` is not valid for fcm_id: expected a number, 0 to 65535",
            "oms-tmp.toml:32:12",
            "is not valid for password: expected 1 to 9 digits",
        ] {
            assert!(said.contains(says), "{says}\n{said}");
        }
        assert!(!said.contains("12x4"), "{said}");
    }
    assert!(!folder.join("oms-tmp-store").exists());
}

#[test]
fn the_tables_of_an_oms_name_links_as_lines_only() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    oms(folder);
    for (change, says) in [
        (
            ("lines = [\"FUT-1\"]", "lines = [\"FUT-2\"]"),
            "unknown session FUT-2",
        ),
        (
            ("session = \"CLIENT\"", "session = \"FUT-1\""),
            "FUT-1 is a link, not a session",
        ),
    ] {
        write(folder, "oms-tmp.toml", &[change]);
        let output = ask(folder, &["check", "oms-tmp.toml"]);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(says), "{said}");
    }
}

#[test]
fn other_applications_have_no_links() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    oms(folder);
    let text_of = example("oms-tmp.toml");
    let (before, _) = text_of.split_at(text_of.find("[oms]").unwrap());
    fs::write(folder.join("oms-tmp.toml"), before).unwrap();
    for verb in [&["run", "--app", "echo"][..], &["run"], &["check"]] {
        let output = ask(folder, &[verb, &["oms-tmp.toml"]].concat());
        let said = text(&output.stderr);
        let says = "only an OMS and a simulated exchange have links";
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(says) && said.contains("oms-tmp.toml:23:1"),
            "{said}"
        );
    }
}

#[test]
fn a_password_file_is_read_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = ("password = \"1234\"", "password_file = \"fut-1.password\"");
    write(folder, "exchange-tmp.toml", &[file]);
    for verb in ["check", "sim"] {
        let output = ask(folder, &[verb, "exchange-tmp.toml"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let says = "password_file fut-1.password: No such file";
        assert!(said.contains(says), "{said}");
    }
    let secret = folder.join("fut-1.password");
    fs::write(&secret, "1234\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let table = check(folder, &["exchange-tmp.toml"]);
    has(
        &table,
        &["password_file fut-1.password exchange-tmp.toml:19"],
    );
}

/// Starts the example's exchange on a port of its own.
fn exchange(folder: &Path) -> Running {
    let port = free_port();
    let store = folder.join("store").display().to_string();
    write(
        folder,
        "exchange-tmp.toml",
        &[
            ("= 7001", &format!("= {port}")),
            ("\"exchange-tmp-store\"", &format!("{store:?}")),
        ],
    );
    let mut command = fixwire();
    command.arg("sim").arg(folder.join("exchange-tmp.toml"));
    let running = Running::spawn(command, port);
    let start = running.hears("exchange, 0 acceptors");
    assert!(start.contains("0 initiators, 1 link, store"), "{start}");
    running.listens();
    running
}

#[test]
fn events_and_status_name_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut running = exchange(folder);
    let mut member = TcpStream::connect(("127.0.0.1", running.port)).unwrap();
    let event = running.hears("connected");
    assert!(event.contains(" FUT-1 "), "{event}");

    let status = ask(folder, &["status", "exchange-tmp.toml"]);
    let table = text(&status.stdout);
    has(
        &table,
        &[
            "LINK STATE FRAMES IN FRAMES OUT CONNECTIONS WAITING BYTES",
            "FUT-1 connected 0 0 1 0",
        ],
    );
    assert!(!table.contains("SESSION"), "{table}");
    let json = ask(folder, &["status", "--json", "exchange-tmp.toml"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["links"][0]["name"], &json["links"][0]["state"]),
        (&"FUT-1".into(), &"connected".into())
    );

    // A link accepts one connection at a time.
    let mut other = TcpStream::connect(("127.0.0.1", running.port)).unwrap();
    let event = running.hears("refused");
    assert!(event.contains(" FUT-1 "), "{event}");
    other.set_read_timeout(Some(SOON)).unwrap();
    assert!(matches!(other.read(&mut [0; 9]), Ok(0) | Err(_)));

    running.signal("USR1");
    running.hears("status: link FUT-1 connected, frames in 0, out 0");

    // A one-byte length: shorter than any message.
    member.write_all(&[0; 32]).unwrap();
    let event = running.hears("disconnected");
    assert!(event.contains(" FUT-1 "), "{event}");
    running.signal("TERM");
    running.hears(
        "stopped: link FUT-1, 1 connection, on the last connection 0 frames received, 0 \
        sent",
    );
    assert!(running.ends().success());

    let stopped = ask(folder, &["status", "exchange-tmp.toml"]);
    let table = text(&stopped.stdout);
    has(
        &table,
        &[
            "not running",
            "LINK STATE FRAMES IN FRAMES OUT",
            "FUT-1 stopped",
        ],
    );
}

#[test]
fn commands_for_sessions_are_none_for_links() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let running = exchange(folder);
    let store = folder.join("store").display().to_string();
    for (place, verb) in [
        ("exchange-tmp.toml", &["logout"][..]),
        (&store, &["disconnect"]),
        ("exchange-tmp.toml", &["set-numbers", "--out", "1"]),
    ] {
        let args = [&["session"], &verb[..1], &[place, "FUT-1"], &verb[1..]].concat();
        let output = ask(folder, &args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("FUT-1 is a link, not a session"), "{said}");
    }
    drop(running);
    let args = [
        "session",
        "set-numbers",
        "exchange-tmp.toml",
        "FUT-1",
        "--out",
        "1",
    ];
    let said = text(&ask(folder, &args).stderr);
    assert!(said.contains("FUT-1 is a link, not a session"), "{said}");
}

/// An OMS connects to its exchange, again and again.
#[test]
fn an_oms_connects_its_links() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    oms(folder);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let exchange = listener.local_addr().unwrap().port();
    let port = free_port();
    let store = folder.join("store").display().to_string();
    write(
        folder,
        "oms-tmp.toml",
        &[
            ("= 5001", &format!("= {port}")),
            ("= 7001", &format!("= {exchange}")),
            ("\"oms-tmp-store\"", &format!("{store:?}")),
        ],
    );
    let mut command = fixwire();
    command.arg("run").arg(folder.join("oms-tmp.toml"));
    let running = Running::spawn(command, port);
    // It runs: only now is it safe to wait for it.
    running.listens();
    for _ in 0..2 {
        let (socket, _) = listener.accept().unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(1)))
            .unwrap();
        let event = running.hears("FUT-1 connected");
        assert!(event.contains(&exchange.to_string()), "{event}");
        drop(socket);
        running.hears("FUT-1 disconnected");
    }
}

/// PositionEffect(77) of a client's orders is byte 74 of the R01 that the exchange gets.
#[test]
fn a_client_says_the_position_effect_of_its_orders() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let exchange = exchange(folder);
    oms(folder);
    let port = free_port();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let delta = examples.join("oms-tmp-fix42.delta").canonicalize().unwrap();
    let dictionary = format!("built-in + {}", delta.display());
    let store = |name: &str| folder.join(name).display().to_string();
    write(
        folder,
        "oms-tmp.toml",
        &[
            ("= 5001", &format!("= {port}")),
            ("= 7001", &format!("= {}", exchange.port)),
            ("\"oms-tmp-store\"", &format!("{:?}", store("oms-store"))),
            (
                "TargetCompID = \"CLIENT\"",
                &format!("TargetCompID = \"CLIENT\"\nDataDictionary = {dictionary:?}"),
            ),
            ("may = [\"new\"", "investor_flag = \"B\"\nmay = [\"new\""),
        ],
    );
    write(
        folder,
        "client.cfg",
        &[
            (
                "SocketConnectPort=5001",
                &format!("SocketConnectPort={port}\nDataDictionary={dictionary}"),
            ),
            ("client-store", &store("client-store")),
        ],
    );
    let mut command = fixwire();
    command.arg("run").arg(folder.join("oms-tmp.toml"));
    let oms = Running::spawn(command, port);
    oms.listens();
    oms.hears("FUT-1 logged in");
    let orders = ["C", "D", "7", "A", "O"].iter().enumerate();
    let orders =
        orders.map(|(at, effect)| format!("new buy 1 TXFL6 @ {} 77={effect}", 21_000 + at));
    let orders: Vec<String> = orders.collect();
    let script = format!("{}; new buy 1 TXFL6 @ 21100; wait all", orders.join("; "));
    let output = ask(folder, &["client", "client.cfg", "-c", &script]);
    let said = text(&output.stdout);
    assert_eq!(said.matches("OrdStatus Rejected").count(), 1, "{said}");
    assert!(
        said.contains("over TMP PositionEffect(77) must be O, C, D or 7"),
        "{said}"
    );
    let dump = ask(folder, &["journal", "dump", "store"]);
    let frames = text(&dump.stdout);
    let frames = frames.lines().filter(|line| line.contains(" FUT-1 in "));
    let bytes = frames.filter_map(|line| line.split_whitespace().last());
    let byte = |hex: &str, at: usize| hex[2 * at..2 * at + 2].to_owned();
    let orders = bytes.filter(|hex| byte(hex, 12) == "65");
    let said: Vec<(String, String)> = orders.map(|hex| (byte(hex, 70), byte(hex, 74))).collect();
    let wanted = ["43", "44", "37", "4f", "4f"];
    assert_eq!(
        said,
        wanted.map(|effect| ("42".to_owned(), effect.to_owned()))
    );
}

/// The examples trade with each other, and the OMS logs in again after kill -9.
#[test]
fn the_examples_lead_to_a_fill() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let exchange = exchange(folder);
    oms(folder);
    let port = free_port();
    let store = |name: &str| format!("{:?}", folder.join(name).display().to_string());
    write(
        folder,
        "oms-tmp.toml",
        &[
            ("= 5001", &format!("= {port}")),
            ("= 7001", &format!("= {}", exchange.port)),
            ("\"oms-tmp-store\"", &store("oms-store")),
        ],
    );
    let client = folder.join("client-store").display().to_string();
    write(
        folder,
        "client.cfg",
        &[
            (
                "SocketConnectPort=5001",
                &format!("SocketConnectPort={port}"),
            ),
            ("client-store", &client),
        ],
    );
    let orders = "new sell 1 TXFL6 @ 22000; new buy 1 TXFL6 @ 22000; wait 4";
    for filled in [2, 4] {
        let mut command = fixwire();
        command.arg("run").arg(folder.join("oms-tmp.toml"));
        let oms = Running::spawn(command, port);
        oms.listens();
        oms.hears("FUT-1 connected");
        let output = ask(folder, &["client", "client.cfg", "-c", orders]);
        let said = text(&output.stdout);
        assert_eq!(said.matches("OrdStatus Filled").count(), 2, "{said}");
        let output = ask(folder, &["oms", "orders", "oms-tmp.toml", "--json"]);
        let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = rows.as_array().unwrap();
        let is_filled = |row: &&Value| row["state"] == "filled" && row["line"] == "FUT-1";
        assert_eq!(rows.iter().filter(is_filled).count(), filled, "{rows:?}");
        // Killed on drop.
    }
}
