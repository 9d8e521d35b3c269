//! Fields that an OMS passes on, refuses, or drops and counts where the settings say so.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::oms::{self, Floor, example, id, json, oms, order, report, start};
use crate::oms_desk::csv;
use crate::oms_reports::in_days;
use crate::peer::Peer;
use crate::running::free_port;

#[test]
fn a_field_is_refused_or_dropped_and_counted() {
    let Floor {
        folder,
        mut venue,
        mut client,
        running: _running,
        ..
    } = Floor::with(&[(
        "account = \"A1\" ",
        "drop = [47, 78, 9303]\naccount = \"A1\" ",
    )]);
    client.send("D", &format!("{}|111=10", order("A1", 100)));
    let refused = client.expect("8");
    let text = "|58=a field of the request would not reach the venue (tag 111)|";
    assert!(
        refused.contains("|39=8|") && refused.contains(text),
        "{refused}"
    );
    client.send("D", &format!("{}|47=A|78=1|79=X|80=100", order("A2", 100)));
    let sent = venue.expect("D");
    for tag in [47, 78, 79, 80] {
        assert!(!sent.contains(&format!("|{tag}=")), "{sent}");
    }
    let id = sent
        .split("|11=")
        .nth(1)
        .unwrap()
        .split('|')
        .next()
        .unwrap();
    venue.send(
        "8",
        &format!(
            "{}|30=XLON|76=ME|58=seen|113=N",
            report(id, 1, '0', (100, 0))
        ),
    );
    let accepted = client.expect("8");
    assert!(
        accepted.contains("|39=0|") && accepted.contains("|30=XLON|76=ME|58=seen|"),
        "{accepted}"
    );
    let status = &json(folder.path(), "status", &[])[0];
    assert_eq!(
        status["dropped_fields"],
        "user CLIENT 47: 1, 78: 1, 79: 1, 80: 1"
    );
    assert_eq!(status["report_fields_not_passed_on"], "113: 1");
    let file = folder.path().join("oms.toml");
    let check = || {
        let mut check = Command::new(env!("CARGO_BIN_EXE_fixwire"));
        let checked = check.arg("check").arg(&file).output().unwrap();
        String::from_utf8([checked.stdout, checked.stderr].concat()).unwrap()
    };
    let said = check();
    assert!(said.contains("user.CLIENT.drop"), "{said}");
    assert!(said.contains("NoAllocs(78), AllocAccount(79)"), "{said}");
    // The session would reject a field that its dictionary does not have.
    let warning = "CLIENT rejects messages with tag 9303 (drop of [[user]] CLIENT): write ValidateUserDefinedFields = false";
    assert!(said.contains(warning), "{said}");
    let target = "TargetCompID = \"CLIENT\"";
    let settings = fs::read_to_string(&file).unwrap();
    let may = settings.replace(
        target,
        &format!("{target}\nValidateUserDefinedFields = false"),
    );
    fs::write(&file, may).unwrap();
    let said = check();
    assert!(!said.contains("tag 9303 ("), "{said}");
    // A file that is not UTF-8.
    let instruments = folder.path().join("instruments.csv");
    let mut bytes = fs::read(&instruments).unwrap();
    bytes.extend_from_slice(b"\xE9");
    let line = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    fs::write(&instruments, bytes).unwrap();
    let said = check();
    let place = format!(
        "instruments.csv cannot be read: line {line}, column 1: the byte 0xE9 is not UTF-8"
    );
    assert!(said.contains(&place), "{said}");
}

#[test]
fn a_client_of_a_template_asks_for_instruments() {
    let Floor {
        folder,
        mut client,
        venue: _venue,
        running: _running,
        ..
    } = Floor::with(&[
        ("session = \"CLIENT\"", "session = \"CLI*\""),
        (
            "\"cancel\", \"status\"]",
            "\"cancel\", \"status\", \"securities\"]",
        ),
    ]);
    client.send("c", "320=D1|321=0|55=VOD");
    let said = client.expect("d");
    for field in [
        "|320=D1|322=D1-1|323=1|393=1|55=VOD|",
        "|58=tick 0.01, lot 1|",
    ] {
        assert!(said.contains(field), "{field}: {said}");
    }
    let mut check = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    let checked = check.arg("check").arg(folder.path().join("oms.toml"));
    let said = String::from_utf8(checked.output().unwrap().stdout).unwrap();
    let mut rows = said
        .lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>());
    assert!(rows.any(|row| row == ["user.CLI*", "CLIENT"]), "{said}");
}

/// The settings of the example with sessions of FIX 4.4, a drop copy and files of each day.
fn with_copy(folder: &Path, port: u16, venue: u16, copy: u16) {
    for file in ["instruments.csv", "limits.csv"] {
        fs::write(folder.join(file), example(file)).unwrap();
    }
    let session = format!(
        "[[session]]\nSessionName = \"COPY\"\nConnectionType = \"acceptor\"\nSocketAcceptAddress = \"127.0.0.1\"\n\
         SocketAcceptPort = {copy}\nBeginString = \"FIX.4.4\"\nSenderCompID = \"OMS\"\nTargetCompID = \"COPY\"\n\
         [[drop_copy]]\nsession = \"COPY\"\naccounts = [\"A*\"]\n[oms]\nday_files = \"paper/days\"\n"
    );
    let group =
        "lines = [\"SIM-1\"]\ncarry = [111]\nex_destination = \"XLON\"\nmap.18 = {6 = \"6\"}\n";
    let store = folder.join("oms-store").display().to_string();
    let text = example("oms.toml")
        .replace("= 5001", &format!("= {port}"))
        .replace("= 5002", &format!("= {venue}"))
        .replace("FIX.4.2", "FIX.4.4")
        .replace("\"oms-store\"", &format!("{store:?}"))
        .replacen("[oms]\n", &session, 1)
        .replacen("lines = [\"SIM-1\"]\n", group, 1);
    fs::write(folder.join("oms.toml"), text).unwrap();
}

/// Logs on with FIX 4.4.
fn logs_on(port: u16, name: &'static str, next_out: u64) -> Peer {
    oms::logs_on(port, name, "FIX.4.4", next_out)
}

#[test]
fn an_order_with_parties_and_instructions_is_seen_whole_everywhere_and_after_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let [port, copy_port] = [(); 2].map(|()| free_port());
    let venue_port = listener.local_addr().unwrap().port();
    with_copy(folder, port, venue_port, copy_port);
    let venue_logs_on = |next_out| {
        let mut venue = Peer::on(listener.accept().unwrap().0, "EXCHANGE", "OMS");
        (venue.begin_string, venue.next_out) = ("FIX.4.4", next_out);
        venue.expect("A");
        venue.send("A", "98=0|108=30");
        venue
    };
    let running = start(folder, port);
    let mut venue = venue_logs_on(1);
    running.hears("SIM-1 logged on");
    let mut client = logs_on(port, "CLIENT", 1);
    let mut copy = logs_on(copy_port, "COPY", 1);

    let parties = "453=2|448=FUND7|447=D|452=3|448=DESK2|447=D|452=24|802=1|523=sub|803=4";
    let fields = format!("18=6|111=2|{parties}|528=A");
    client.send("D", &format!("{}|100=XLON|{fields}", order("A1", 100)));
    let has_all = |place: &str, text: &str| {
        for field in fields.split('|') {
            let count = |of: &str| of.split('|').filter(|it| *it == field).count();
            assert_eq!(count(text), count(&fields), "{field} {place}: {text}");
        }
    };
    let sent = venue.expect("D");
    has_all("at the venue", &sent);
    let number = id(&sent);
    drop(running);
    let running = start(folder, port);
    venue = venue_logs_on(venue.next_out);
    running.hears("SIM-1 logged on");
    client = logs_on(port, "CLIENT", client.next_out);
    copy = logs_on(copy_port, "COPY", copy.next_out);
    let accepted = report(&number, 1, '0', (100, 0)).replace("20=0|", "");
    venue.send("8", &format!("{accepted}|{parties}"));
    // The OMS has asked for the order's status, and reports it once.
    for (whose, peer) in [("client", &mut client), ("drop copy", &mut copy)] {
        let told = peer.expect("8");
        assert!(told.contains(&format!("|{parties}|")), "{whose}: {told}");
    }
    let of = |json: &Value| json["fields"].as_str().unwrap_or_default().to_owned();
    has_all("of oms orders", &of(&json(folder, "orders", &[])[0]));
    has_all("of oms order", &of(&json(folder, "order", &["1"])[0]));
    let (code, history) = oms(folder, "history", &["1"]);
    assert_eq!(code, 0, "{history}");
    has_all("of oms history", &history.replace(['\n', ' '], "|"));
    let filled = report(&number, 2, '2', (100, 100)).replace("20=0|", "");
    venue.send("8", &filled.replace("150=2", "150=F"));
    assert!(client.expect("8").contains("|39=2|"));
    let day = in_days(1);
    let (code, said) = oms(folder, "roll", &[&format!("day={day}"), "--why", "a test"]);
    assert_eq!(code, 0, "{said}");
    running.hears("files written in ");
    let file = folder
        .join("paper/days")
        .join(in_days(0))
        .join("orders.csv");
    has_all("of the day's file", &csv(&file)[0]["fields"]);
}
