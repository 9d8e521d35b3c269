//! `fixwire run oms.toml` and `fixwire oms`: the example, with a client and a venue of ours.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::peer::{Peer, utc_now};
use crate::running::{Running, SOON, fixwire, free_port};

pub fn example(file: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    fs::read_to_string(examples.join(file)).unwrap()
}

/// The example's files in this folder, with our ports; a venue with FIX 4.2.
fn write(folder: &Path, port: u16, venue: u16) {
    for file in ["instruments.csv", "limits.csv"] {
        fs::write(folder.join(file), example(file)).unwrap();
    }
    let store = folder.join("oms-store");
    let text = example("oms.toml")
        .replace(
            "SocketAcceptPort = 5001",
            &format!("SocketAcceptPort = {port}"),
        )
        .replace(
            "SocketConnectPort = 5002",
            &format!("SocketConnectPort = {venue}"),
        )
        .replace("FIX.4.4\"\nSenderCompID", "FIX.4.2\"\nSenderCompID")
        .replace("account = \"A1\" ", "conditional = 10\naccount = \"A1\" ")
        .replace(
            "\"oms-store\"",
            &format!("{:?}", store.display().to_string()),
        );
    fs::write(folder.join("oms.toml"), text).unwrap();
}

pub fn start(folder: &Path, port: u16) -> Running {
    let mut command = fixwire();
    command.arg("run").arg(folder.join("oms.toml"));
    let running = Running::spawn(command, port);
    running.listens();
    running
}

/// The same, after it has printed this.
fn start_that_says(folder: &Path, port: u16, text: &str) -> Running {
    let mut command = fixwire();
    command.arg("run").arg(folder.join("oms.toml"));
    let running = Running::spawn(command, port);
    running.hears(text);
    running.listens();
    running
}

/// The OMS of the example, with its venue and its client logged on.
pub struct Floor {
    pub folder: TempDir,
    pub listener: TcpListener,
    pub port: u16,
    pub running: Running,
    pub venue: Peer,
    pub client: Peer,
}

impl Floor {
    /// Starts an OMS whose table `[oms]` begins with this.
    pub fn begin(table: &str) -> Self {
        Self::with(&[("[oms]\n", table)])
    }

    /// Starts an OMS with replaced words in its settings; `OUR_PORT` stands for the port of its clients.
    pub fn with(changes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free_port();
        write(folder.path(), port, listener.local_addr().unwrap().port());
        let settings = folder.path().join("oms.toml");
        let mut text = fs::read_to_string(&settings).unwrap();
        for (old, new) in changes {
            assert!(text.contains(old), "{old}");
            let new = new.replace("OUR_PORT", &port.to_string());
            text = text.replacen(old, &new, 1);
        }
        fs::write(&settings, text).unwrap();
        let running = start(folder.path(), port);
        let venue = venue_logs_on(&listener, 1);
        running.hears("SIM-1 logged on");
        Self {
            folder,
            listener,
            port,
            running,
            venue,
            client: client_logs_on(port, 1),
        }
    }
}

/// The venue accepts a connection of the OMS, and continues with this MsgSeqNum.
pub fn venue_logs_on(listener: &TcpListener, next_out: u64) -> Peer {
    let socket = listener.accept().unwrap().0;
    let mut venue = Peer::on(socket, "EXCHANGE", "OMS");
    venue.next_out = next_out;
    venue.expect("A");
    venue.send("A", "98=0|108=30");
    venue
}

/// The client connects, and continues with this MsgSeqNum.
pub fn client_logs_on(port: u16, next_out: u64) -> Peer {
    logs_on(port, "CLIENT", "FIX.4.2", next_out)
}

/// A client of this name and BeginString(8) connects, and continues with this MsgSeqNum.
pub fn logs_on(port: u16, name: &'static str, begin_string: &'static str, next_out: u64) -> Peer {
    let mut client = Peer::connect(port, name, "OMS");
    (client.begin_string, client.next_out) = (begin_string, next_out);
    client.log_on(30);
    client
}

/// Runs `fixwire oms`; returns its exit code and its output.
pub fn oms(folder: &Path, verb: &str, rest: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    command.arg("oms").args(verb.split(' '));
    command.arg(folder.join("oms.toml"));
    let run = command.args(rest).output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    (run.status.code().unwrap(), String::from_utf8(said).unwrap())
}

pub fn json(folder: &Path, verb: &str, rest: &[&str]) -> Value {
    let (code, said) = oms(folder, verb, &[rest, &["--json"]].concat());
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&said).unwrap()
}

pub fn order(id: &str, quantity: u32) -> String {
    let now = utc_now();
    format!("11={id}|21=1|55=VOD|54=1|60={now}|38={quantity}|40=2|44=12.50")
}

/// The fields of a report from the venue.
pub fn report(id: &str, exec: u32, status: char, (quantity, filled): (u32, u32)) -> String {
    let last = if status == '0' { 0 } else { filled };
    let leaves = quantity - filled;
    format!(
        "37=V{id}|11={id}|17=E{exec}|20=0|150={status}|39={status}|55=VOD|54=1|38={quantity}|32={last}|31=12.5|\
         151={leaves}|14={filled}|6=12.5"
    )
}

/// A ClOrdID(11) of a message.
pub fn id(message: &str) -> String {
    let start = message.find("|11=").unwrap() + 4;
    message[start..].split('|').next().unwrap().to_owned()
}

#[test]
fn an_order_is_checked_sent_filled_and_known_after_kill_9() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::begin("[oms]\n");
    let folder = folder.path();

    client.send("D", &order("A1", 20_000));
    let refused = client.expect("8");
    assert!(refused.contains("|39=8|"), "{refused}");
    assert!(
        refused.contains("RC6: order quantity exceeds the limit (20000, at most 10000 for firm)")
    );
    client.send("D", &order("A2", 100));
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    assert!(client.expect("8").contains("|150=0|39=0|"));
    venue.send("8", &report(&first, 2, '1', (100, 40)));
    let fill = client.expect("8");
    assert!(
        fill.contains("|11=A2|") && fill.contains("|32=40|31=12.5|151=60|14=40|6=12.5|"),
        "{fill}"
    );
    let (_, exec) = fill.split_once("|17=").unwrap();
    let exec = exec.split('|').next().unwrap();
    let history = |at: &str| {
        let at = folder.join(at).display().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixwire"));
        let run = command
            .args(["oms", "history", "--json", &at, "1"])
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
        let steps: Value = serde_json::from_slice(&run.stdout).unwrap();
        let steps = steps.as_array().unwrap().iter();
        steps
            .map(|step| step["what"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let filled = format!("40 filled at 12.5, ExecID {exec}");
    let steps = [
        "CLIENT as A2 for A1: buy 100 VOD at 12.5",
        "order sent on SIM-1",
        "accepted by the venue, OrderID V1",
        &filled,
    ];
    assert_eq!(history("oms.toml"), steps);
    assert_eq!(history("oms-store"), steps);
    let (code, said) = oms(folder, "history", &["4711"]);
    assert!(
        code != 0 && said.contains("no order 4711 in the journal"),
        "{said}"
    );
    // A request that the venue does not answer before the process dies.
    client.send("D", &order("A3", 10));
    let second = id(&venue.expect("D"));
    assert_eq!((first.as_str(), second.as_str()), ("1", "2"));
    drop(running);

    let running = start(folder, port);
    let mut again = venue_logs_on(&listener, venue.next_out);
    let asked = again.expect("H");
    assert_eq!(id(&asked), second, "{asked}");
    let orders = json(folder, "orders", &["--open"]);
    assert_eq!(orders[0]["state"], "partially filled");
    assert_eq!(orders[1]["state"], "unknown");
    let mut same = client_logs_on(port, client.next_out);
    let answer = report(&second, 0, '0', (10, 0)).replace("|20=0|", "|20=3|");
    again.send("8", &answer);
    let new = same.expect("8");
    assert!(new.contains("|11=A3|") && new.contains("|39=0|"), "{new}");
    let positions = json(folder, "positions", &[]);
    assert_eq!(positions[0]["account"], "A1");
    assert_eq!(positions[0]["long"], 40);
    assert_eq!(positions[0]["open_to_buy"], 70);
    drop(running);
}

fn stamps(folder: &Path, number: &str) -> Vec<Value> {
    json(folder, "order", &[number])[0]["stamps"]
        .as_array()
        .unwrap()
        .clone()
}

/// Waits until an order has this number of stamps: a thread writes them.
fn stamped(folder: &Path, number: &str, count: usize) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let stamps = stamps(folder, number);
        if stamps.len() >= count {
            return stamps;
        }
        assert!(begun.elapsed() < SOON, "{stamps:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_times_of_an_order_are_kept_over_kill_9() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::begin("[oms]\nstamps = \"stamps.txt\"\n");
    let folder = folder.path();
    let settings = folder.join("oms.toml");
    let text = fs::read_to_string(&settings).unwrap();
    client.send("D", &order("A1", 100));
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    client.expect("8");
    let before = stamped(folder, "1", 2);
    assert_eq!(before[0]["message"], "NewOrderSingle");
    assert_eq!(before[0]["ClOrdID"], "A1");
    assert_eq!(before[1]["message"], "ExecutionReport");
    let times = ["T1_read", "T1_found", "T2_journalled", "T2_written"];
    let times = times.iter().map(|name| &before[0][name]);
    let reports = ["T3_read", "T3_found", "T4_journalled", "T4_written"];
    let times = times.chain(reports.iter().map(|name| &before[1][name]));
    let times: Vec<u64> = times.map(|time| time.as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let (_, said) = oms(folder, "order", &["1"]);
    assert!(said.contains("us since T0, 20"), "{said}");
    // Another start with its settings fails and changes nothing.
    let other = fixwire().arg("run").arg(&settings).output().unwrap();
    let other = String::from_utf8(other.stderr).unwrap();
    assert!(other.contains("another process writes"), "{other}");
    // Killed in the middle of a line.
    drop(running);
    let file = folder.join("stamps.txt");
    let kept = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{kept}1|A1|D|Send")).unwrap();

    let running = start_that_says(folder, port, "removed 11 bytes of an unfinished last line");
    let mut again = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    let mut same = client_logs_on(port, client.next_out);
    same.send("D", &order("A2", 20_000));
    assert!(same.expect("8").contains("|39=8|"));
    same.send("D", &order("A3", 100));
    again.expect("D");
    let second = stamped(folder, "2", 1);
    assert_eq!(second[0]["ClOrdID"], "A3");
    assert_eq!(stamps(folder, "1"), before);
    let both = fs::read_to_string(&file).unwrap();
    assert!(both.starts_with(&kept), "{both}");
    let analysed = fixwire().args(["analyse", "oms"]).arg(&file).output();
    let analysed = String::from_utf8(analysed.unwrap().stdout).unwrap();
    let wanted = "Count=3|Abandoned=0|Rejected=1|Sending=2|Queuing=0";
    assert!(analysed.contains(wanted), "{analysed}");
    // Queries the running OMS with settings that name no file, then with its folder.
    fs::write(&settings, text.replace("stamps = \"stamps.txt\"\n", "")).unwrap();
    let (code, said) = oms(folder, "order", &["1"]);
    assert!(
        code == 0 && said.contains("no stamps: [oms] stamps is not configured"),
        "{said}"
    );
    let rows = json(folder, "order", &["1"]);
    assert_eq!(rows[0]["stamps"].as_array().unwrap().len(), 0);
    assert!(
        rows[0]["no_stamps"]
            .as_str()
            .unwrap()
            .starts_with("no stamps")
    );
    drop(running);

    fs::write(&settings, &text).unwrap();
    let (code, said) = oms(folder, "history", &["1"]);
    assert!(code == 0 && said.contains("us since T0, 20"), "{said}");
    fs::write(&file, "ClOrdID|MsgType|State\n").unwrap();
    let other = fixwire().arg("run").arg(&settings).output().unwrap();
    let other_said = String::from_utf8(other.stderr).unwrap();
    assert_eq!(other.status.code(), Some(1));
    assert!(
        other_said.contains("stamps.txt: byte 0: the first line"),
        "{other_said}"
    );
}

#[test]
fn operators_limit_kill_and_arm() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    client.send("D", &order("A1", 100));
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    client.expect("8");

    let why = ["--why", "a test"];
    let (code, said) = oms(
        folder,
        "limit",
        &[&["account=A1", "RC6=50"][..], &why].concat(),
    );
    assert_eq!(
        (code, said.as_str()),
        (0, "account=A1: RC6 is 50 (was none)\n")
    );
    client.send("D", &order("A2", 51));
    let refused = client.expect("8");
    assert!(
        refused.contains("(51, at most 50 for account=A1)"),
        "{refused}"
    );

    let (code, said) = oms(folder, "kill", &[&["account=DESK"][..], &why].concat());
    let wanted = "account=DESK: killed; cancelling 1 open order\n";
    assert_eq!((code, said.as_str()), (0, wanted));
    let cancel = venue.expect("F");
    assert!(cancel.contains(&format!("|41={first}|")), "{cancel}");
    let cancelled = report(&id(&cancel), 3, '4', (100, 0)).replace("|32=0|", "|32=0|41=1|");
    venue.send("8", &cancelled.replace("151=100", "151=0"));
    assert!(client.expect("8").contains("|39=4|"));
    client.send("D", &order("A3", 10));
    assert!(
        client
            .expect("8")
            .contains("RC1: the kill switch is on (account=DESK)")
    );
    let limits = oms(folder, "limits", &[]).1;
    assert!(
        limits.contains("account=DESK") && limits.contains("killed"),
        "{limits}"
    );
    let (code, said) = oms(folder, "arm", &[&["account=DESK"][..], &why].concat());
    assert_eq!((code, said.as_str()), (0, "account=DESK: active\n"));
    client.send("D", &order("A4", 10));
    venue.expect("D");

    for (verb, words, wanted) in [
        ("limit", &["account=A9", "RC6=1"][..], "unknown account A9"),
        (
            "limit",
            &["firm", "RC99=1"],
            "unknown control RC99; the controls are RC6, RC7",
        ),
        (
            "limit",
            &["firm", "RC6=x"],
            "the limit must be a number with at most 8 decimals",
        ),
        (
            "kill",
            &["desk"],
            "unknown word desk: name the scope (firm, session=NAME",
        ),
    ] {
        let (code, said) = oms(folder, verb, &[words, &why].concat());
        assert!(
            code == 1 && said.contains(wanted),
            "{verb} {words:?}: {said}"
        );
    }
    let (code, said) = oms(folder, "order", &["99"]);
    assert!(
        code == 1 && said.contains("no order 99 in memory"),
        "{said}"
    );
    let status = json(folder, "status", &[]);
    assert_eq!(status[0]["open"], 1);
    // The journal has who did what, and why.
    let dump = fixwire()
        .args(["journal", "dump"])
        .arg(folder.join("oms-store"))
        .output();
    let dump = String::from_utf8_lossy(&dump.unwrap().stdout).into_owned();
    assert!(dump.contains("command kill account=DESK by "), "{dump}");
    drop(running);
    let (code, said) = oms(folder, "status", &[]);
    assert!(code == 1 && said.contains("no engine is running"), "{said}");
}

#[test]
fn mistakes_are_named_with_their_files_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, free_port(), free_port());
    let check = || {
        let run = fixwire()
            .arg("check")
            .arg(folder.join("oms.toml"))
            .output()
            .unwrap();
        let said = [run.stdout, run.stderr].concat();
        (run.status.code(), String::from_utf8(said).unwrap())
    };
    assert_eq!(check().0, Some(0), "{}", check().1);
    let limits = folder.join("limits.csv");
    fs::write(&limits, example("limits.csv") + "firm,RC6,7\nfirm,RC77,1\n").unwrap();
    let text = fs::read_to_string(folder.join("oms.toml")).unwrap();
    fs::write(
        folder.join("oms.toml"),
        text.replace("to = \"SIM\"", "to = \"SMI\""),
    )
    .unwrap();
    let (code, said) = check();
    assert_eq!(code, Some(1), "{said}");
    for wanted in [
        "the limit of RC6 for this scope is listed twice",
        "unknown control RC77",
        "unknown line_group SMI",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let run = fixwire()
        .arg("run")
        .arg(folder.join("oms.toml"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1));
    let text = fs::read_to_string(folder.join("oms.toml")).unwrap();
    fs::write(folder.join("oms.toml"), text + "[[rule]]\ndo = []\n").unwrap();
    let run = fixwire()
        .arg("run")
        .arg(folder.join("oms.toml"))
        .output()
        .unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("use a separate file for each"), "{said}");
}

#[test]
fn conversion_tables_of_the_settings_are_shown_and_checked_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, free_port(), free_port());
    let run = |arguments: &[&str]| {
        let run = fixwire().args(arguments).output().unwrap();
        let said = [run.stdout, run.stderr].concat();
        (run.status.code(), String::from_utf8(said).unwrap())
    };
    // The venue has FIX 4.2, the client FIX 4.4.
    let (code, table) = run(&["gateway", "conversion", "FIX.4.4", "FIX.4.2"]);
    assert_eq!(code, Some(0), "{table}");
    fs::write(folder.join("my.conv"), &table).unwrap();
    let file = folder.join("oms.toml");
    let text = fs::read_to_string(&file).unwrap();
    let old = "BeginString = \"FIX.4.2\"";
    let text = text.replacen(old, "BeginString = \"FIX.4.4\"", 1);
    let tables = "[oms.conversion]\n\"FIX.4.4 to FIX.4.2\" = \"my.conv\"\n";
    fs::write(&file, format!("{text}\n{tables}")).unwrap();
    let check = ["check", file.to_str().unwrap()];
    let (code, said) = run(&check);
    assert_eq!(code, Some(0), "{said}");
    let mut rows = said
        .lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>());
    let shown = ["conversion.FIX.4.4", "to", "FIX.4.2", "my.conv"];
    assert!(rows.any(|row| row == shown), "{said}");
    assert!(!said.contains("is not used"), "{said}");
    fs::write(folder.join("my.conv"), format!("{table}set 99999=1\n")).unwrap();
    let (code, said) = run(&check);
    let place = format!("my.conv:{}", table.lines().count() + 1);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&place) && said.contains("99999"), "{said}");
}

/// The three commands in the README: a simulated exchange, an OMS, a client that gives these commands. What it prints.
fn three_commands(folder: &Path, commands: &str) -> (Vec<Running>, String) {
    let (port, venue) = (free_port(), free_port());
    let put = |file: &str, changes: &[(&str, String)]| {
        let mut text = example(file);
        for (old, new) in changes {
            assert!(text.contains(old), "{file} has no {old}");
            text = text.replace(old, new);
        }
        fs::write(folder.join(file), text).unwrap();
    };
    let store = |name: &str| folder.join(name).display().to_string();
    put(
        "sim.toml",
        &[
            (
                "SocketAcceptPort = 5002",
                format!("SocketAcceptPort = {venue}"),
            ),
            // Its call of an auction would last.
            ("state = \"auction\"", "state = \"continuous\"".into()),
            ("sim-store", store("sim-store")),
        ],
    );
    put(
        "oms.toml",
        &[
            (
                "SocketAcceptPort = 5001",
                format!("SocketAcceptPort = {port}"),
            ),
            (
                "SocketConnectPort = 5002",
                format!("SocketConnectPort = {venue}"),
            ),
            ("oms-store", store("oms-store")),
        ],
    );
    put(
        "client.cfg",
        &[
            (
                "SocketConnectPort=5001",
                format!("SocketConnectPort={port}"),
            ),
            ("client-store", store("client-store")),
        ],
    );
    put("instruments.csv", &[]);
    put("limits.csv", &[]);
    let run = |verb: &str, file: &str, port| {
        let mut command = fixwire();
        command.arg(verb).arg(folder.join(file));
        let running = Running::spawn(command, port);
        running.listens();
        running
    };
    let sim = run("sim", "sim.toml", venue);
    let oms = run("run", "oms.toml", port);
    oms.hears("SIM-1 logged on");
    let client = fixwire()
        .arg("client")
        .arg(folder.join("client.cfg"))
        .args(["-c", commands])
        .output()
        .unwrap();
    let said = String::from_utf8(client.stdout).unwrap();
    let told = String::from_utf8(client.stderr).unwrap();
    assert_eq!(client.status.code(), Some(0), "{said}{told}");
    let fills = said.lines().filter(|line| line.contains("illed"));
    assert_eq!(fills.count(), 2, "{said}{told}");
    (vec![sim, oms], said)
}

#[test]
fn three_commands_lead_to_a_fill() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let commands = "new sell 100 VOD @ 12.50; new buy 100 VOD @ 12.50; wait 4";
    let _running = three_commands(folder, commands);
    let positions = json(folder, "positions", &[]);
    assert_eq!(positions[0]["bought"], 100);
    assert_eq!(positions[0]["sold"], 100);
    assert_eq!(positions[0]["long"], 0);
}

#[test]
fn half_a_bitcoin_is_bought_through_client_oms_and_exchange() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let commands = "new sell 0.75 BTC-EUR @ 60000; new buy 0.5 BTC-EUR @ 60000; wait 4";
    let (_running, said) = three_commands(folder, commands);
    assert!(said.contains("0.25"), "what is left of the sale: {said}");
    let orders = json(folder, "orders", &[]);
    let of = |order: &Value| ["quantity", "filled", "state"].map(|name| order[name].clone());
    assert_eq!(
        of(&orders[0]),
        ["0.75", "0.5", "partially filled"].map(Value::from)
    );
    assert_eq!(of(&orders[1]), ["0.5", "0.5", "filled"].map(Value::from));
    let position = &json(folder, "positions", &[])[0];
    assert_eq!(position["bought"], "0.5");
    assert_eq!(position["open_to_sell"], "0.25");
}
