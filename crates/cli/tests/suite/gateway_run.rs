//! `fixwire run` with rules: messages go where the rules say, and events are printed.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use crate::peer::{self, Peer};
use crate::running::{Running, fixwire, free_port};

pub const RULES: &str = r#"
[[rule]]
name = "stop"
from = ["CLIENT"]
when = 'MsgType = News'
do = ['notify "news: ${Headline}"', 'disconnect CLIENT', 'stop']

[[rule]]
name = "orders"
from = ["CLIENT"]
when = 'MsgType = NewOrderSingle'
do = ['count orders', 'send VENUE']

[[rule]]
name = "answers"
from = ["VENUE"]
do = ['return']
"#;

/// A file with a client and a venue that both connect to us; `venue` adds settings of the venue. Returns the file and
/// the port.
pub fn write(folder: &Path, venue: &str, rules: &str) -> u16 {
    let file = folder.join("gateway.toml");
    // A file that is rewritten keeps its port.
    let before = fs::read_to_string(&file).unwrap_or_default();
    let known = before
        .lines()
        .find_map(|line| line.strip_prefix("SocketAcceptPort = "));
    let port = known.map_or_else(free_port, |port| port.parse().unwrap());
    let store = folder.join("store");
    let mut text = format!(
        "[default]\nConnectionType = 'acceptor'\nSocketAcceptAddress = '127.0.0.1'\n\
         SocketAcceptPort = {port}\nFileStorePath = '{}'\nJournalSegmentSize = '2M'\nNonStopSession = true\n",
        store.display()
    );
    for name in ["CLIENT", "VENUE"] {
        text += &format!(
            "[[session]]\nSessionName = '{name}'\nBeginString = 'FIX.4.2'\nSenderCompID = 'GATE'\n\
             TargetCompID = '{name}'\n"
        );
    }
    fs::write(file, text + venue + rules).unwrap();
    port
}

/// Writes a file and starts a gateway with it, and waits until it listens.
pub fn start(folder: &Path, venue: &str, rules: &str) -> Running {
    let running = begin(folder, venue, rules);
    running.listens();
    running
}

/// The same without waiting.
fn begin(folder: &Path, venue: &str, rules: &str) -> Running {
    let port = write(folder, venue, rules);
    let mut command = fixwire();
    command.arg("run").arg(folder.join("gateway.toml"));
    Running::spawn(command, port)
}

#[test]
fn an_order_gets_to_its_venue_and_the_report_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = start(folder.path(), "", RULES);
    let mut client = Peer::connect(running.port, "CLIENT", "GATE");
    client.log_on(30);
    running.hears("CLIENT logged on");
    let mut venue = Peer::connect(running.port, "VENUE", "GATE");
    venue.log_on(30);
    running.hears("VENUE logged on");

    client.send("D", &peer::order("A1"));
    let order = venue.expect("D");
    assert!(order.contains("|11=A1|"), "{order}");
    let report = "37=O1|11=A1|17=E1|20=0|150=0|39=0|55=LCOM1|54=1|151=1|14=0|6=0";
    venue.send("8", report);
    let answer = client.expect("8");
    assert!(answer.contains("|11=A1|"), "{answer}");
    // An unsolicited message.
    venue.send(
        "8",
        &report.replace("11=A1", "11=A9").replace("37=O1", "37=O9"),
    );
    running.hears("VENUE answers: ");

    running.signal("USR1");
    running.hears("received 3, sent 1, copied 0, returned 1");
    running.hears("rule orders: 1");
    running.hears("counter orders: 1");

    client.send("B", "148=bye|33=1|58=x");
    running.hears("gateway stop: news: bye");
    running.hears("CLIENT disconnect requested by stop");
    client.expect("5");
    client.send("5", "");
    client.closed();
    drop(venue);
    running.signal("TERM");
    running.hears("received 4, sent 1");
    assert!(running.ends().success());

    // What the gateway keeps of the order is shown with its fields, and found by them.
    let mut dump = fixwire();
    dump.args(["journal", "dump", "--field", "11=A1"]);
    let output = dump.arg(folder.path().join("store")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for note in [
        " Outbound client=0 venue=1 message=D|11=A1|",
        " Inbound venue=1 message=8|37=O1|11=A1|",
    ] {
        assert!(text.contains(note), "{text}");
    }
}

#[test]
fn a_rule_connects_what_another_one_has_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let initiator = format!(
        "ConnectionType = 'initiator'\nSocketConnectHost = '127.0.0.1'\nSocketConnectPort = {port}\n\
         ReconnectInterval = 600\nHeartBtInt = 30\n"
    );
    let rules = r#"
[[rule]]
name = "down"
from = ["CLIENT"]
when = 'MsgType = News and Headline = "down"'
do = ['disconnect VENUE', 'stop']

[[rule]]
name = "up"
from = ["CLIENT"]
when = 'MsgType = News and Headline = "up"'
do = ['connect VENUE', 'stop']
"#;
    let running = start(folder.path(), &initiator, rules);
    let mut client = Peer::connect(running.port, "CLIENT", "GATE");
    client.log_on(30);
    let venue = |next_out| {
        let mut venue = Peer::on(listener.accept().unwrap().0, "VENUE", "GATE");
        venue.next_out = next_out;
        venue.expect("A");
        venue.send("A", "98=0|108=30");
        running.hears("VENUE logged on");
        venue
    };
    let mut first = venue(1);
    client.send("B", "148=down|33=1|58=x");
    running.hears("VENUE disconnect requested by down");
    first.expect("5");
    first.send("5", "");
    first.closed();
    running.hears("VENUE disconnected");
    client.send("B", "148=up|33=1|58=x");
    running.hears("VENUE connect requested by up");
    venue(3);
}

#[test]
fn an_order_for_a_venue_out_of_its_hours_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let hour: u32 = peer::utc_now()[9..11].parse().unwrap();
    let (opens, closes) = ((hour + 2) % 24, (hour + 3) % 24);
    let closed = format!(
        "NonStopSession = false\nStartTime = '{opens:02}:00:00'\nEndTime = '{closes:02}:00:00'\n"
    );
    let running = start(folder.path(), &closed, RULES);
    running.hears("VENUE closed until");
    let mut client = Peer::connect(running.port, "CLIENT", "GATE");
    client.log_on(30);
    client.send("D", &peer::order("A1"));
    let report = client.expect("8");
    assert!(
        report.contains("|11=A1|") && report.contains("|39=8|"),
        "{report}"
    );
}

#[test]
fn other_rules_hold_from_one_message_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path(), "", RULES);
    let [mut client, mut venue] = ["CLIENT", "VENUE"].map(|name| {
        let mut peer = Peer::connect(running.port, name, "GATE");
        peer.log_on(30);
        running.hears(&format!("{name} logged on"));
        peer
    });
    let mut arrives = |id: &str, text: &str| {
        client.send("D", &peer::order(id));
        let order = venue.expect("D");
        assert!(order.contains(text), "{order}");
    };
    arrives("A1", "|11=A1|");
    let other = RULES.replace("'count orders'", "'count orders', 'set Text \"new\"'");
    write(folder.path(), "", &other);
    running.signal("HUP");
    running.hears("gateway reloaded: 3 rules");
    arrives("A2", "|58=new|");

    write(
        folder.path(),
        "",
        &other
            .replace("\"new\"", "\"newer\"")
            .replace("return", "returm"),
    );
    running.signal("HUP");
    running.hears("error: ");
    running.hears("gateway.toml:34:8");
    running.hears("gateway not reloaded: the old rules stay in effect");
    arrives("A3", "|58=new|");
    write(folder.path(), "", &(other + "[gateway]\nmax_orders = 7\n"));
    running.signal("HUP");
    running.hears("gateway not reloaded: a change of max_id, ids, ");
    arrives("A4", "|58=new|");
    running.signal("USR1");
    running.hears("rule orders: 3");
    running.hears("counter orders: 4");
}

/// Session settings are fixed at the start: a reload that changes one does nothing, and names it.
#[test]
fn a_reload_names_what_needs_a_restart_and_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let running = start(folder, "", RULES);
    let other = RULES.replace("'count orders'", "'count others'");
    for (venue, why) in [
        (
            "HeartBtInt = 45\n",
            "HeartBtInt of session VENUE differs: the change needs a restart",
        ),
        (
            "MaxLatency = '10s'\n",
            "MaxLatency of session VENUE differs: the change needs a restart",
        ),
        (
            "X-Desk = 'rates'\n",
            "X-Desk of session VENUE differs: the change needs a restart",
        ),
        (
            "[[session]]\nBeginString = 'FIX.4.2'\nSenderCompID = 'GATE'\nTargetCompID = 'NEW'\n",
            "session FIX.4.2:GATE->NEW was added: the change needs a restart",
        ),
    ] {
        write(folder, venue, &other);
        refused(folder, &["gateway.toml"], why);
        running.signal("HUP");
        running.hears(why);
        running.hears("gateway not reloaded: the old rules stay in effect");
    }
    write(folder, "", &other);
    assert_eq!(reload(folder, &["gateway.toml"]).0, 0);
    running.hears("gateway reloaded: 3 rules");
}

/// A leaked password is revoked without a restart: by a reload, and by SIGHUP.
#[test]
fn a_reload_reads_the_password_file_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let users = folder.join("users");
    let hash = |password: &str| fixwire::passwords::hash(password.as_bytes()).unwrap();
    let keep = |lines: &str| {
        fs::write(&users, lines).unwrap();
        fs::set_permissions(&users, fs::Permissions::from_mode(0o600)).unwrap();
    };
    keep(&format!("anna:{}\nbert:{}\n", hash("tiger"), hash("tiger")));
    let venue = format!("PasswordFile = '{}'\n", users.display());
    let running = start(folder, &venue, RULES);
    let log_on = |user: &str, password: &str| {
        let mut peer = Peer::connect(running.port, "VENUE", "GATE");
        peer.send("A", &format!("98=0|108=30|141=Y|553={user}|554={password}"));
        let is_on = peer.next().is_some_and(|answer| answer.contains("|35=A|"));
        if is_on {
            peer.send("5", "");
            peer.expect("5");
        }
        is_on
    };
    assert!(log_on("anna", "tiger"));
    keep(&format!("anna:{}\n", hash("lion")));
    let (code, said) = reload(folder, &["gateway.toml"]);
    assert!(
        code == 0 && said.contains("1 user, 0 added, 1 changed, 1 removed"),
        "{code} {said}"
    );
    assert!(!log_on("anna", "tiger") && !log_on("bert", "tiger"));
    keep("anna:lion\n");
    refused(folder, &["gateway.toml"], "is not argon2id");
    assert!(log_on("anna", "lion"), "the users stay as they were");
}

/// `fixwire gateway reload`: its exit code and its output.
fn reload(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = fixwire()
        .args(["gateway", "reload"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8(said).unwrap(),
    )
}

fn refused(folder: &Path, args: &[&str], why: &str) {
    let (code, said) = reload(folder, args);
    assert!(code == 1 && said.contains(why), "{code}: {said}");
}

#[test]
fn the_command_reload_says_what_became_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let running = start(folder, "", RULES);
    let socket = fs::metadata(folder.join("store/control")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);

    let other = RULES.replace("do = ['count orders'", "do = ['notify \"new rules\"'");
    write(folder, "", &other);
    let (code, said) = reload(folder, &["gateway.toml"]);
    assert_eq!(
        (code, said.as_str()),
        (0, "gateway reloaded: 3 rules\n"),
        "{said}"
    );
    running.hears("gateway reloaded: 3 rules");
    let mut client = Peer::connect(running.port, "CLIENT", "GATE");
    client.log_on(30);
    client.send("D", &peer::order("A1"));
    running.hears("gateway orders: new rules");

    // A file with errors does not reach the gateway.
    write(folder, "", &other.replace("return", "returm"));
    refused(folder, &["gateway.toml"], "gateway.toml:34:8");
    running.signal("USR1");
    let heard = running.hears_until(&["rule orders: 1"]);
    assert!(
        !heard.iter().any(|line| line.contains("reloaded")),
        "{heard:#?}"
    );
    // A check that only the running gateway can make.
    write(folder, "", &(other.clone() + "[gateway]\nmax_orders = 7\n"));
    refused(
        folder,
        &["gateway.toml"],
        "error: gateway not reloaded: a change of max_id, ids, ",
    );
    // Another file with the same store.
    write(folder, "", &other);
    fs::copy(folder.join("gateway.toml"), folder.join("copy.toml")).unwrap();
    let own = fs::canonicalize(folder.join("gateway.toml")).unwrap();
    let why = format!("this process runs another file, {}", own.display());
    refused(folder, &["copy.toml"], &why);
    let (code, _) = reload(folder, &["gateway.toml"]);
    assert_eq!(code, 0);
}

#[test]
fn the_command_reload_ends_without_an_answer_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "", RULES);
    let file = ["gateway.toml"];
    let nobody = "no response from a gateway at ";
    refused(folder, &file, nobody);
    {
        let running = start(folder, "", RULES);
        running.signal("STOP");
        let patience = ["--timeout", "1", "gateway.toml"];
        refused(folder, &patience, "no response within 1 s");
        running.signal("CONT");
        running.hears("gateway reloaded: 3 rules");
    }
    // The gateway was killed; its socket still exists.
    assert!(folder.join("store/control").exists());
    refused(folder, &file, nobody);

    // A gateway that ends during the request.
    fs::remove_file(folder.join("store/control")).unwrap();
    let gateway = UnixListener::bind(folder.join("store/control")).unwrap();
    let ends = thread::spawn(move || drop(gateway.accept().unwrap()));
    refused(folder, &file, "the gateway stopped before it responded");
    ends.join().unwrap();

    let _running = start(folder, "", RULES);
    assert_eq!(reload(folder, &file).0, 0);

    let text = fs::read_to_string(folder.join("gateway.toml")).unwrap();
    let memory = text.replacen("[default]", "[default]\nDurability = 'memory'", 1);
    fs::write(folder.join("memory.toml"), memory).unwrap();
    refused(folder, &["memory.toml"], "send SIGHUP to its process");
}

#[test]
fn sighup_while_it_starts_is_obeyed_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let running = begin(folder.path(), "", RULES);
    running.catches_signals();
    running.signal("HUP");
    running.hears("gateway reloaded: 3 rules");
}

#[test]
fn what_no_gateway_can_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| {
        let output = fixwire()
            .current_dir(folder.path())
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    write(folder.path(), "", RULES);
    let app = said(&["run", "--app", "echo", "gateway.toml"]);
    assert!(
        app.contains("the file has rules and runs as a gateway: remove --app"),
        "{app}"
    );
    for (setting, why) in [
        (
            "RejectMessageOnUnhandledException = true",
            "cannot undo changes to its orders",
        ),
        (
            "AcceptorTemplate = true",
            "a gateway cannot have dynamic sessions",
        ),
    ] {
        write(folder.path(), "", RULES);
        let file = folder.path().join("gateway.toml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(
            &file,
            text.replacen("[[session]]", &format!("{setting}\n[[session]]"), 1),
        )
        .unwrap();
        let checked = said(&["check", "gateway.toml"]);
        assert!(
            checked.contains(why) && checked.contains("gateway.toml:8"),
            "{checked}"
        );
    }
}
