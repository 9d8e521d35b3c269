//! Scripted peers that behave like today's venues and firms: SessionStatus(1409) in a FIXT Logon, a
//! BusinessMessageReject without BusinessRejectRefID(379), lists of 2,000 instruments.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use crate::peer::Peer;
use crate::running::{Running, fixwire, free_port};

/// Fields in a FIXT 1.1 Logon from newer extension packs.
const LOGON: &str = "98=0|108=30|1137=9|1409=0|1407=269|58=welcome|1600=engine|1603=system";

/// A file with one FIX 5.0 SP2 session.
fn settings(folder: &Path, role: &str, port: u16, more: &str) -> PathBuf {
    let place = match role {
        "acceptor" => format!("SocketAcceptPort={port}\nSocketAcceptAddress=127.0.0.1"),
        _ => format!("SocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nHeartBtInt=30"),
    };
    let file = folder.join(format!("{role}.cfg"));
    let store = folder.join(format!("{role}-store"));
    let text = format!(
        "[DEFAULT]\nConnectionType={role}\n{place}\nFileStorePath={}\nJournalSegmentSize=8M\nNonStopSession=Y\n\
         FileLogPath={}\n{more}\n\
         [SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2\nSenderCompID=US\nTargetCompID=THEM\n",
        store.display(),
        folder.join(format!("{role}-log")).display()
    );
    fs::write(&file, text).unwrap();
    file
}

/// A venue that waits for the connection of an initiator.
struct Venue {
    listener: TcpListener,
    port: u16,
}

impl Venue {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { listener, port }
    }

    /// The next connection, and its Logon.
    fn accept(&self) -> (Peer, String) {
        let (socket, _) = self.listener.accept().unwrap();
        let mut peer = Peer::on(socket, "THEM", "US");
        peer.begin_string = "FIXT.1.1";
        let logon = peer.expect("A");
        (peer, logon)
    }
}

fn client(file: &Path, script: &str) -> Child {
    let mut command = fixwire();
    command.arg("client").arg(file).args(["-c", script]);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn said(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    format!("{out}{error}")
}

/// The value of a field.
fn value<'a>(message: &'a str, tag: &str) -> &'a str {
    let start = message
        .find(&format!("|{tag}="))
        .map(|at| at + tag.len() + 2);
    let rest = &message[start.unwrap_or_else(|| panic!("no {tag} in {message}"))..];
    rest.split('|').next().unwrap()
}

fn report(order: &str) -> String {
    format!(
        "37=O1|17=E1|11={}|150=0|39=0|55=VOD|54=1|38=100|151=100|14=0",
        value(order, "11")
    )
}

#[test]
fn a_client_trades_with_a_venue_whose_logon_has_a_session_status() {
    for status in ["0", "2", "100"] {
        let folder = tempfile::tempdir().unwrap();
        let venue = Venue::new();
        let file = settings(folder.path(), "initiator", venue.port, "");
        let run = client(&file, "new buy 100 VOD @ 12.50; wait all; stats");
        let (mut peer, logon) = venue.accept();
        assert_eq!(value(&logon, "1137"), "9");
        peer.send("A", &LOGON.replace("1409=0", &format!("1409={status}")));
        let order = peer.expect("D");
        peer.send("8", &report(&order));
        peer.expect("5");
        peer.send("5", "1409=4|58=bye");
        let run = run.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        assert!(
            said(&run).contains("stats all: sent 1, accepted 1, rejected 0"),
            "{}",
            said(&run)
        );
    }
}

#[test]
fn a_client_knows_which_order_a_business_message_reject_without_an_id_is_about() {
    let folder = tempfile::tempdir().unwrap();
    let venue = Venue::new();
    let file = settings(folder.path(), "initiator", venue.port, "");
    let run = client(
        &file,
        "new buy 100 VOD @ 12.50; new buy 200 VOD @ 12.50; wait all; stats",
    );
    let (mut peer, _) = venue.accept();
    peer.send("A", LOGON);
    let first = peer.expect("D");
    let second = peer.expect("D");
    let reject = format!("45={}|372=D|380=4|58=closed", value(&second, "34"));
    peer.send("j", &reject);
    peer.send("8", &report(&first));
    peer.expect("5");
    peer.send("5", "1409=4");
    let run = run.wait_with_output().unwrap();
    let said = said(&run);
    assert!(
        said.contains("stats all: sent 2, accepted 1, rejected 1"),
        "{said}"
    );
}

#[test]
fn an_acceptor_takes_a_logon_with_a_session_status() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let file = settings(folder.path(), "acceptor", port, "");
    let mut running = Running::run(fixwire(), "echo", &file, port);
    running.listens();
    let mut peer = Peer::connect(port, "THEM", "US");
    peer.begin_string = "FIXT.1.1";
    peer.send("A", LOGON);
    let logon = peer.expect("A");
    assert_eq!((value(&logon, "108"), value(&logon, "1137")), ("30", "9"));
    running.hears("logged on");
    peer.send("1", "112=PING");
    assert_eq!(value(&peer.expect("0"), "112"), "PING");
    peer.send("5", "1409=4|58=bye");
    peer.expect("5");
    peer.closed();
    running.signal("TERM");
    assert!(running.ends().success());
}

#[test]
fn an_initiator_takes_the_answer_with_a_session_status() {
    let folder = tempfile::tempdir().unwrap();
    let venue = Venue::new();
    let file = settings(
        folder.path(),
        "initiator",
        venue.port,
        "ReconnectInterval=1",
    );
    let mut running = Running::run(fixwire(), "echo", &file, 0);
    let (mut peer, _) = venue.accept();
    peer.send("A", LOGON);
    running.hears("logged on");
    peer.send("1", "112=PING");
    assert_eq!(value(&peer.expect("0"), "112"), "PING");
    // A value that is in no version is named.
    peer.send("5", "1409=4");
    peer.expect("5");
    let (mut peer, logon) = venue.accept();
    peer.next_out = 4;
    assert_eq!(value(&logon, "34"), "4");
    peer.send("A", &LOGON.replace("1409=0", "1409=99"));
    let reject = peer.expect("3");
    assert_eq!(
        (value(&reject, "371"), value(&reject, "373")),
        ("1409", "5")
    );
    peer.expect("5");
    running.signal("TERM");
    running.ends();
}

/// A SecurityList with this number of instruments.
fn list(instruments: usize) -> String {
    let mut text = format!("320=1|322=2|560=0|146={instruments}");
    for n in 0..instruments {
        let _ = write!(
            text,
            "|55=SYM{n}|48=ISIN{n}|22=4|167=CS|207=XLON|107=name {n}|15=USD"
        );
    }
    text
}

/// Session, journal, gateway and log tools neither drop nor cut a list of 2,000 instruments.
#[test]
fn a_list_of_2000_instruments_passes_a_gateway_and_is_found_by_the_log_tools() {
    const RULES: &str = "[[rule]]\nname = 'lists'\nfrom = ['VENUE']\ndo = ['send CLIENT']\n";
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let file = folder.path().join("gateway.toml");
    let store = folder.path().join("store");
    let log = folder.path().join("log");
    let mut text = format!(
        "[default]\nConnectionType = 'acceptor'\nSocketAcceptAddress = '127.0.0.1'\nSocketAcceptPort = {port}\n\
         FileStorePath = '{}'\nFileLogPath = '{}'\nJournalSegmentSize = '8M'\nNonStopSession = true\n",
        store.display(),
        log.display()
    );
    for name in ["CLIENT", "VENUE"] {
        text += &format!(
            "[[session]]\nSessionName = '{name}'\nBeginString = 'FIX.4.4'\nSenderCompID = 'GATE'\n\
             TargetCompID = '{name}'\n"
        );
    }
    fs::write(&file, text + RULES).unwrap();
    let mut command = fixwire();
    command.arg("run").arg(&file);
    let mut running = Running::spawn(command, port);
    running.listens();
    let [mut client, mut venue] = ["CLIENT", "VENUE"].map(|own| {
        let mut peer = Peer::connect(port, own, "GATE");
        peer.begin_string = "FIX.4.4";
        peer.log_on(30);
        peer
    });
    venue.send("y", &list(2_000));
    let passed = client.expect("y");
    assert_eq!(value(&passed, "146"), "2000");
    for n in [0, 999, 1_999] {
        assert!(passed.contains(&format!("|55=SYM{n}|48=ISIN{n}|")), "{n}");
    }
    running.signal("TERM");
    running.hears("sent 1");
    drop((client, venue));
    running.ends();
    for source in [&store, &log] {
        let run = |args: &[&str]| {
            let output = fixwire()
                .arg("log")
                .args(args)
                .arg(source)
                .output()
                .unwrap();
            (output.status.code(), said(&output))
        };
        let (code, found) = run(&["grep", "55=SYM1999"]);
        assert_eq!(code, Some(0), "{found}");
        assert_eq!(found.matches("55=SYM1999").count(), 2, "in and out");
        let (code, found) = run(&["validate"]);
        assert_eq!(code, Some(0), "{found}");
    }
    let dump = fixwire()
        .args(["journal", "dump", "--decode"])
        .arg(&store)
        .output()
        .unwrap();
    assert!(said(&dump).contains("SYM1999"));
}
