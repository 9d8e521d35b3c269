//! `fixwire run` with rules: do messages go where they say, and does the operator hear of it?

mod common;
mod peer;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use peer::Peer;

const SOON: Duration = Duration::from_secs(20);

const RULES: &str = r#"
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

/// A file with a client and a venue that both connect to us; the venue has these settings more.
fn write(folder: &Path, venue: &str, rules: &str) {
    let store = folder.join("store");
    let mut text = format!(
        "[default]\nConnectionType = 'acceptor'\nSocketAcceptAddress = '127.0.0.1'\n\
         SocketAcceptPort = {}\nFileStorePath = '{}'\nJournalSegmentSize = '2M'\nNonStopSession = true\n",
        free_port(),
        store.display()
    );
    for name in ["CLIENT", "VENUE"] {
        text += &format!(
            "[[session]]\nSessionName = '{name}'\nBeginString = 'FIX.4.2'\nSenderCompID = 'GATE'\n\
             TargetCompID = '{name}'\n"
        );
    }
    fs::write(folder.join("gateway.toml"), text + venue + rules).unwrap();
}

/// A port that no connection gets by itself.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed) + std::process::id() as u16 % 10_000;
        let port = 12_000 + port % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

struct Running {
    child: Child,
    said: Receiver<String>,
}

impl Running {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
            .arg("run")
            .arg(folder.join("gateway.toml"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (tell, said) = channel();
        thread::spawn(move || {
            let mut lines = stderr.lines().map_while(Result::ok);
            lines.try_for_each(|line| tell.send(line))
        });
        Self { child, said }
    }

    /// The port where it listens.
    fn listens(&self) -> u16 {
        let line = self.says("listening");
        let port = line.rsplit(':').next().and_then(|port| port.parse().ok());
        port.unwrap_or_else(|| panic!("no port: {line}"))
    }

    /// Waits for a line with this text.
    fn says(&self, text: &str) -> String {
        self.says_until(text).pop().unwrap()
    }

    /// The lines up to one with this text.
    fn says_until(&self, text: &str) -> Vec<String> {
        let deadline = Instant::now() + SOON;
        let mut heard = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left) {
                Ok(line) => {
                    heard.push(line);
                    if heard.last().is_some_and(|line| line.contains(text)) {
                        return heard;
                    }
                }
                Err(error) => panic!("no line {text:?} ({error}) in {heard:#?}"),
            }
        }
    }

    fn signal(&self, name: &str) {
        common::signal(&self.child, name);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Ends what a failed assertion left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_order_gets_to_its_venue_and_the_report_back() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "", RULES);
    let mut running = Running::start(folder.path());
    let port = running.listens();
    let mut client = Peer::connect(port, "CLIENT", "GATE");
    client.log_on(30);
    running.says("CLIENT logged on");
    let mut venue = Peer::connect(port, "VENUE", "GATE");
    venue.log_on(30);
    running.says("VENUE logged on");

    client.send("D", &peer::order("A1"));
    let order = venue.expect("D");
    assert!(order.contains("|11=A1|"), "{order}");
    let report = "37=O1|11=A1|17=E1|20=0|150=0|39=0|55=LCOM1|54=1|151=1|14=0|6=0";
    venue.send("8", report);
    let answer = client.expect("8");
    assert!(answer.contains("|11=A1|"), "{answer}");
    // Nobody asked for this one.
    venue.send(
        "8",
        &report.replace("11=A1", "11=A9").replace("37=O1", "37=O9"),
    );
    running.says("VENUE answers: ");

    running.signal("USR1");
    running.says("received 3, sent 1, copied 0, returned 1");
    running.says("rule orders: 1");
    running.says("counter orders: 1");

    client.send("B", "148=bye|33=1|58=x");
    running.says("gateway stop: news: bye");
    running.says("CLIENT disconnect by stop");
    client.expect("5");
    client.send("5", "");
    client.closed();
    drop(venue);
    running.signal("TERM");
    running.says("received 4, sent 1");
    assert!(running.child.wait().unwrap().success());
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
    write(folder.path(), &initiator, rules);
    let running = Running::start(folder.path());
    let mut client = Peer::connect(running.listens(), "CLIENT", "GATE");
    client.log_on(30);
    let venue = |next_out| {
        let mut venue = Peer::on(listener.accept().unwrap().0, "VENUE", "GATE");
        venue.next_out = next_out;
        venue.expect("A");
        venue.send("A", "98=0|108=30");
        running.says("VENUE logged on");
        venue
    };
    let mut first = venue(1);
    client.send("B", "148=down|33=1|58=x");
    running.says("VENUE disconnect by down");
    first.expect("5");
    first.send("5", "");
    first.closed();
    running.says("VENUE disconnected");
    client.send("B", "148=up|33=1|58=x");
    running.says("VENUE connect by up");
    venue(3);
}

#[test]
fn an_order_for_a_venue_out_of_its_hours_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let hour: u32 = peer::utc_now()[9..11].parse().unwrap();
    let (start, end) = ((hour + 2) % 24, (hour + 3) % 24);
    let closed = format!(
        "NonStopSession = false\nStartTime = '{start:02}:00:00'\nEndTime = '{end:02}:00:00'\n"
    );
    write(folder.path(), &closed, RULES);
    let running = Running::start(folder.path());
    let port = running.listens();
    running.says("VENUE closed until");
    let mut client = Peer::connect(port, "CLIENT", "GATE");
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
    write(folder.path(), "", RULES);
    let running = Running::start(folder.path());
    let port = running.listens();
    let [mut client, mut venue] = ["CLIENT", "VENUE"].map(|name| {
        let mut peer = Peer::connect(port, name, "GATE");
        peer.log_on(30);
        running.says(&format!("{name} logged on"));
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
    running.says("gateway reloaded: 3 rules");
    arrives("A2", "|58=new|");

    write(
        folder.path(),
        "",
        &other
            .replace("\"new\"", "\"newer\"")
            .replace("return", "returm"),
    );
    running.signal("HUP");
    running.says("error: ");
    running.says("gateway.toml:34:8");
    running.says("the gateway is not reloaded: its rules stay");
    arrives("A3", "|58=new|");
    write(folder.path(), "", &(other + "[gateway]\nmax_orders = 7\n"));
    running.signal("HUP");
    running.says("gateway not reloaded: ids, ");
    arrives("A4", "|58=new|");
    running.signal("USR1");
    running.says("rule orders: 3");
    running.says("counter orders: 4");
}

/// `fixwire gateway reload`: its exit code, and all that it says.
fn reload(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fixwire"))
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
    write(folder, "", RULES);
    let running = Running::start(folder);
    let port = running.listens();
    let socket = fs::metadata(folder.join("store/reload")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);

    let other = RULES.replace("do = ['count orders'", "do = ['notify \"new rules\"'");
    write(folder, "", &other);
    let (code, said) = reload(folder, &["gateway.toml"]);
    assert_eq!(
        (code, said.as_str()),
        (0, "gateway reloaded: 3 rules\n"),
        "{said}"
    );
    running.says("gateway reloaded: 3 rules");
    let mut client = Peer::connect(port, "CLIENT", "GATE");
    client.log_on(30);
    client.send("D", &peer::order("A1"));
    running.says("gateway orders: new rules");

    // A file with mistakes does not get to the gateway.
    write(folder, "", &other.replace("return", "returm"));
    refused(folder, &["gateway.toml"], "gateway.toml:34:8");
    running.signal("USR1");
    let heard = running.says_until("rule orders: 1");
    assert!(
        !heard.iter().any(|line| line.contains("reloaded")),
        "{heard:#?}"
    );
    // What only the gateway can know is its answer.
    write(folder, "", &(other.clone() + "[gateway]\nmax_orders = 7\n"));
    refused(
        folder,
        &["gateway.toml"],
        "error: gateway not reloaded: ids, ",
    );
    // Another file with the same store.
    write(folder, "", &other);
    fs::copy(folder.join("gateway.toml"), folder.join("copy.toml")).unwrap();
    let own = fs::canonicalize(folder.join("gateway.toml")).unwrap();
    let why = format!("what runs on this store is {}", own.display());
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
    let nobody = "no gateway answers on the store ";
    refused(folder, &file, nobody);
    {
        let running = Running::start(folder);
        running.listens();
        running.signal("STOP");
        let patience = ["--timeout", "1", "gateway.toml"];
        refused(folder, &patience, "no answer within 1 s");
        running.signal("CONT");
        running.says("gateway reloaded: 3 rules");
    }
    // It was killed; its socket is still there.
    assert!(folder.join("store/reload").exists());
    refused(folder, &file, nobody);

    // One that ends while it is asked.
    fs::remove_file(folder.join("store/reload")).unwrap();
    let gateway = UnixListener::bind(folder.join("store/reload")).unwrap();
    let ends = thread::spawn(move || drop(gateway.accept().unwrap()));
    refused(folder, &file, "the gateway ended before it answered");
    ends.join().unwrap();

    let running = Running::start(folder);
    running.listens();
    assert_eq!(reload(folder, &file).0, 0);

    let text = fs::read_to_string(folder.join("gateway.toml")).unwrap();
    let memory = text.replacen("[default]", "[default]\nDurability = 'memory'", 1);
    fs::write(folder.join("memory.toml"), memory).unwrap();
    refused(folder, &["memory.toml"], "send it SIGHUP");
}

#[test]
fn sighup_while_it_starts_is_obeyed_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "", RULES);
    let running = Running::start(folder.path());
    // As early as it takes signals at all.
    let status = format!("/proc/{}/status", running.child.id());
    let deadline = Instant::now() + SOON;
    let catches_hangup = || {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
    };
    while !catches_hangup() {
        assert!(Instant::now() < deadline, "SIGHUP is not caught");
        thread::sleep(Duration::from_micros(100));
    }
    running.signal("HUP");
    running.says("gateway reloaded: 3 rules");
}

#[test]
fn what_no_gateway_can_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fixwire"))
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
        app.contains("the file has rules, and runs as a gateway: leave --app out"),
        "{app}"
    );
    for (setting, why) in [
        (
            "JournalResendKeep = '1h'",
            "the whole journal tells a gateway",
        ),
        ("JournalKeep = '1h'", "the whole journal tells a gateway"),
        (
            "RejectMessageOnUnhandledException = true",
            "cannot be taken back",
        ),
        (
            "AcceptorTemplate = true",
            "a gateway has no sessions that are made at run time",
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
