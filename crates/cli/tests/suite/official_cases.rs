//! FIX Session Layer Test Cases by number, played by peers on plain sockets against the binary in both roles and in
//! each version: the cases that depend on settings, and cases that today's venues have added.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::process::Command;

use tempfile::TempDir;

use crate::gateway_run;
use crate::peer::{Peer, order, utc};
use crate::running::{Running, fixwire, free_port};

const VERSIONS: [&str; 6] = [
    "FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4", "FIXT.1.1",
];
/// The setting that requests the Logout of cases 1B d, 1B e and 1S d.
const LOGOUT: &str = "SendLogoutForLogonSendingTime=Y";

/// An engine with one session, `US` and `THEM`.
struct Case {
    running: Running,
    version: &'static str,
    /// Where an initiator connects.
    venue: Option<TcpListener>,
    folder: TempDir,
}

impl Case {
    fn new(version: &'static str, role: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let venue = (role == "initiator").then(|| TcpListener::bind("127.0.0.1:0").unwrap());
        let (port, place) = match &venue {
            Some(listener) => {
                let port = listener.local_addr().unwrap().port();
                let place = format!(
                    "SocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nHeartBtInt=30\nReconnectInterval=1"
                );
                (0, place)
            }
            None => {
                let port = free_port();
                let place = format!("SocketAcceptPort={port}\nSocketAcceptAddress=127.0.0.1");
                (port, place)
            }
        };
        let application = match version {
            "FIXT.1.1" => "DefaultApplVerID=FIX.5.0SP2\n",
            _ => "",
        };
        let file = folder.path().join("case.cfg");
        let text = format!(
            "[DEFAULT]\nConnectionType={role}\n{place}\nFileStorePath={}\nJournalSegmentSize=2M\n\
             NonStopSession=Y\n{more}\n\
             [SESSION]\nBeginString={version}\nSenderCompID=US\nTargetCompID=THEM\n{application}",
            folder.path().join("store").display()
        );
        fs::write(&file, text).unwrap();
        let running = Running::run(fixwire(), "echo", &file, port);
        if venue.is_none() {
            running.listens();
        }
        Self {
            running,
            version,
            venue,
            folder,
        }
    }

    /// A connection; for an initiator its Logon is read.
    fn connect(&self) -> Peer {
        let mut peer = match &self.venue {
            Some(listener) => Peer::on(listener.accept().unwrap().0, "THEM", "US"),
            None => Peer::connect(self.running.port, "THEM", "US"),
        };
        peer.begin_string = self.version;
        if self.venue.is_some() {
            peer.expect("A");
        }
        peer
    }

    /// A connection that is logged on.
    fn logged_on(&self) -> Peer {
        let mut peer = self.connect();
        peer.send("A", &logon(self.version));
        if self.venue.is_none() {
            peer.expect("A");
        }
        peer
    }
}

/// The body of a Logon.
fn logon(version: &str) -> String {
    match version {
        "FIXT.1.1" => "98=0|108=30|1137=9".into(),
        _ => "98=0|108=30".into(),
    }
}

/// A Logon as the first message, with this SendingTime and these CompIDs.
fn first(peer: &mut Peer, seconds: i64, from: &str, body: &str) {
    let text = format!("35=A|34=1|49={from}|52={}|56=US|{body}|", utc(seconds));
    peer.send_fields(&text);
}

/// The error in a first message, and the Text(58) of the Logout.
type Wrong = (fn(&mut Peer, &'static str), &'static str);

const LATE: Wrong = (
    |peer, version| first(peer, -500, "THEM", &logon(version)),
    "SendingTime accuracy problem",
);
const EARLY: Wrong = (
    |peer, version| first(peer, 500, "THEM", &logon(version)),
    "SendingTime accuracy problem",
);
const OTHER: Wrong = (
    |peer, version| first(peer, 0, "OTHER", &logon(version)),
    "Logon does not match this session (BeginString, CompIDs or MsgSeqNum)",
);
const NO_VERSION: Wrong = (
    |peer, _| peer.send("A", "98=0|108=30"),
    "Required tag missing: DefaultApplVerID(1137)",
);
const HEARTBEAT: Wrong = (|peer, _| peer.send("0", ""), "First message not a Logon");
const REPORT: Wrong = (
    |peer, _| peer.send("8", "37=1|17=1|11=1"),
    "First message not a Logon",
);

/// The first message of a peer is wrong: with the setting it gets a Logout with the reason, else the connection is
/// closed.
fn refuses(role: &str, wrong: Wrong, versions: &[&'static str]) {
    for &version in versions {
        for setting in ["", LOGOUT] {
            let case = Case::new(version, role, setting);
            let mut peer = case.connect();
            (wrong.0)(&mut peer, version);
            if !setting.is_empty() {
                let logout = peer.expect("5");
                let text = format!("|58={}|", wrong.1);
                assert!(logout.contains(&text), "{version} {role}: {logout}");
            }
            peer.closed();
            case.running.hears("disconnected: ");
        }
    }
}

/// "Invalid logon message is received: generate an error condition, (optional) send Reject, send Logout with Text
/// referencing the error condition, disconnect."
#[test]
fn case_1b_d_an_initiator_gets_an_invalid_logon() {
    for wrong in [LATE, EARLY, OTHER] {
        refuses("initiator", wrong, &VERSIONS);
    }
    refuses("initiator", NO_VERSION, &["FIXT.1.1"]);
}

/// "Receive any message other than a Logon message: log an error, (optional) send Reject, send Logout with Text
/// referencing the error condition, disconnect."
#[test]
fn case_1b_e_the_first_answer_to_an_initiator_is_no_logon() {
    for wrong in [HEARTBEAT, REPORT] {
        refuses("initiator", wrong, &VERSIONS);
    }
}

/// "Invalid Logon message is received: generate an error condition, (optional) send Reject, send Logout with Text
/// referencing the error condition, disconnect."
#[test]
fn case_1s_d_an_acceptor_gets_an_invalid_logon() {
    for wrong in [LATE, EARLY] {
        refuses("acceptor", wrong, &VERSIONS);
    }
    refuses("acceptor", NO_VERSION, &["FIXT.1.1"]);
}

/// The same for both roles, without a required field of the Logon: a Reject and a Logout, with any setting.
#[test]
fn case_1b_d_and_1s_d_a_logon_without_a_field() {
    for version in VERSIONS {
        for role in ["initiator", "acceptor"] {
            let case = Case::new(version, role, "");
            let mut peer = case.connect();
            peer.send("A", &logon(version).replace("108=30", "58=hello"));
            let reject = peer.expect("3");
            assert!(
                reject.contains("Required tag missing"),
                "{version}: {reject}"
            );
            let logout = peer.expect("5");
            assert!(
                logout.contains("|58=Required tag missing|"),
                "{version}: {logout}"
            );
            peer.closed();
        }
    }
}

/// "Logon message is received with duplicate identity: generate an error condition, disconnect without sending a
/// message"; 1S c: the same for an identity that is not configured.
#[test]
fn case_1s_b_and_1s_c_a_second_connection_and_a_stranger() {
    for version in VERSIONS {
        let case = Case::new(version, "acceptor", LOGOUT);
        let mut peer = case.logged_on();
        let mut second = case.connect();
        second.send("A", &logon(version));
        second.closed();
        let mut stranger = case.connect();
        first(&mut stranger, 0, "OTHER", &logon(version));
        stranger.closed();
        peer.send("1", "112=HERE");
        assert!(peer.expect("0").contains("|112=HERE|"), "{version}");
    }
}

/// "No data sent during preset heartbeat interval: send Heartbeat message", also while a TestRequest is open.
#[test]
fn case_4_a_heartbeats_go_on_while_a_test_request_is_open() {
    let setting = "SendHeartbeatsDuringTestRequest=Y";
    let cases = VERSIONS.map(|version| {
        let case = Case::new(version, "acceptor", setting);
        let mut peer = case.connect();
        peer.send("A", &logon(version).replace("108=30", "108=3"));
        peer.expect("A");
        (case, peer)
    });
    for (_case, mut peer) in cases {
        peer.expect("0");
        peer.expect("1");
        peer.expect("0");
        peer.closed();
    }
}

/// "Send more than one message of the same type with header- and body-fields ordered differently to verify
/// acceptance."
#[test]
fn case_15_fields_come_in_another_order() {
    for version in VERSIONS {
        for role in ["initiator", "acceptor"] {
            let case = Case::new(version, role, "");
            let mut peer = case.logged_on();
            let time = utc(0);
            for header in [
                format!("35=1|34=2|49=THEM|52={time}|56=US|112=A|"),
                format!("35=1|56=US|52={time}|34=3|49=THEM|112=B|"),
                format!("35=1|52={time}|49=THEM|56=US|97=N|34=4|112=C|"),
            ] {
                peer.send_fields(&header);
                let id = header.split("112=").nth(1).unwrap();
                let answer = peer.expect("0");
                assert!(
                    answer.contains(&format!("|112={id}")),
                    "{version}: {answer}"
                );
            }
        }
    }
}

/// "Message to send or queue while disconnected": `session send` refuses it, and it is not sent later.
#[test]
fn case_16_a_a_message_that_is_given_by_hand_while_disconnected_is_refused() {
    for version in VERSIONS {
        for (role, setting) in [
            ("acceptor", ""),
            ("acceptor", "ResetOnLogon=Y"),
            ("acceptor", "MessagesBeforeLogon=refuse"),
            ("initiator", ""),
        ] {
            let case = Case::new(version, role, setting);
            // An initiator waits for the answer to its Logon.
            let early = (role == "initiator").then(|| case.connect());
            let name = format!("{version}:US->THEM");
            let mut send: Command = fixwire();
            send.args(["session", "send"])
                .arg(case.folder.path().join("case.cfg"));
            let said = send.args([&name, "B", "148=HELLO"]).output().unwrap();
            assert_eq!(said.status.code(), Some(1), "{version} {role}");
            let text = String::from_utf8_lossy(&said.stderr).into_owned();
            assert!(text.contains("not logged on"), "{text}");
            case.running.hears("refused: message 35=B|148=HELLO by ");
            let mut peer = match early {
                Some(mut peer) => {
                    peer.send("A", &logon(version));
                    peer
                }
                None => case.logged_on(),
            };
            peer.send("1", "112=A");
            let next = peer.expect("0");
            assert!(next.contains("|34=2|"), "{version} {role}: {next}");
        }
    }
}

/// "Re-connect with queued messages: complete the logon process, transmit queued messages with new MsgSeqNum values
/// greater than the Logon's": a gateway holds them.
#[test]
fn case_16_b_held_messages_are_new_ones_after_the_logon() {
    let folder = tempfile::tempdir().unwrap();
    let running = gateway_run::start(folder.path(), "", gateway_run::RULES);
    let mut client = Peer::connect(running.port, "CLIENT", "GATE");
    client.log_on(30);
    client.send("D", &order("A"));
    client.send("D", &order("B"));
    client.send("1", "112=DONE");
    client.expect("0");
    let mut venue = Peer::connect(running.port, "VENUE", "GATE");
    venue.log_on(30);
    for (number, id) in [(2, "A"), (3, "B")] {
        let order = venue.expect("D");
        assert!(order.contains(&format!("|34={number}|")), "{order}");
        assert!(order.contains(&format!("|11={id}|")), "{order}");
        assert!(!order.contains("|43=Y|"), "{order}");
    }
}

/// Values in messages of real venues that validation once refused: a numeric IOIQty(27), OrdRejReason(103) 12 in FIX
/// 4.4, and lists of 700 and 2,000 instruments. At most, the application reports that it does not know these messages.
#[test]
fn values_of_venues_are_no_fault_of_the_session() {
    let list = |instruments: usize| {
        let mut text = format!("320=1|322=2|560=0|146={instruments}");
        for n in 0..instruments {
            let _ = write!(text, "|55=SYM{n}|48=ISIN{n}|22=4|167=CS|107=name {n}");
        }
        text
    };
    let indication = |quantity: &str| format!("23=1|28=N|55=VOD|54=1|27={quantity}");
    let all = &VERSIONS[..];
    let cases: Vec<(&[&'static str], &str, String)> = vec![
        (all, "6", indication("500000")),
        (all, "6", indication("0")),
        (all, "6", indication("L")),
        (
            &["FIX.4.4", "FIXT.1.1"],
            "8",
            "37=1|11=1|17=1|150=8|39=8|55=VOD|54=1|38=1|151=0|14=0|6=0|103=12".into(),
        ),
        (&["FIX.4.4", "FIXT.1.1"], "y", list(700)),
        (&["FIX.4.4", "FIXT.1.1"], "y", list(2000)),
    ];
    for version in VERSIONS {
        for role in ["initiator", "acceptor"] {
            let case = Case::new(version, role, "");
            let mut peer = case.logged_on();
            for (versions, kind, body) in &cases {
                if !versions.contains(&version) {
                    continue;
                }
                peer.send(kind, body);
                let number = peer.next_out - 1;
                peer.send("1", "112=DONE");
                let mut answer = peer.next().unwrap();
                let about = format!("|45={number}|");
                if answer.contains(&about) {
                    assert!(
                        answer
                            .to_lowercase()
                            .contains("|58=unsupported message type"),
                        "{version} {role} {kind}: {answer}"
                    );
                    answer = peer.next().unwrap();
                }
                assert!(
                    answer.contains("|112=DONE|"),
                    "{version} {role} {kind}: {answer}"
                );
            }
        }
    }
}
