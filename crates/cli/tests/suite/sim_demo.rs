//! `fixwire sim --demo`, the OMS of the examples and a client: the first screen of the guide, and market data for the OMS.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::oms::{client_logs_on, example, json};
use crate::peer::{Peer, utc_now};
use crate::running::{Running, SOON, fixwire, free_port};

/// The demo, and the OMS of the examples with these changes.
fn start(folder: &Path, changes: &[(&str, &str)]) -> (Running, Running, u16) {
    let (port, venue) = (free_port(), free_port());
    let mut text = example("oms.toml")
        .replace(
            "SocketAcceptPort = 5001",
            &format!("SocketAcceptPort = {port}"),
        )
        .replace(
            "SocketConnectPort = 5002",
            &format!("SocketConnectPort = {venue}"),
        );
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    let store = folder.join("oms-store").display().to_string();
    let text = text.replace("\"oms-store\"", &format!("{store:?}"));
    fs::write(folder.join("oms.toml"), text).unwrap();
    for file in ["instruments.csv", "limits.csv"] {
        fs::write(folder.join(file), example(file)).unwrap();
    }
    let mut sim = fixwire();
    sim.current_dir(folder).args(["sim", "--demo", "--port"]);
    sim.arg(venue.to_string());
    let sim = Running::spawn(sim, venue);
    sim.listens();
    let mut oms = fixwire();
    oms.arg("run").arg(folder.join("oms.toml"));
    let oms = Running::spawn(oms, port);
    oms.listens();
    oms.hears("SIM-1 logged on");
    (sim, oms, port)
}

#[test]
fn a_client_sees_fills_in_a_market_that_needs_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut sim, _oms, port) = start(folder, &[]);
    let store = folder.join("client-store").display().to_string();
    let text = example("client.cfg")
        .replace(
            "SocketConnectPort=5001",
            &format!("SocketConnectPort={port}"),
        )
        .replace("client-store", &store);
    fs::write(folder.join("client.cfg"), text).unwrap();
    // The command of docs/guide/first-oms.md.
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/first-oms.md");
    let guide = fs::read_to_string(guide).unwrap();
    let commands = "new buy 2000 VOD @ 13.49; new sell 0.5 BTC-EUR @ 56000; wait 5";
    assert!(guide.contains(&format!("client examples/client.cfg -c '{commands}'")));
    let mut client = fixwire();
    client.arg("client").arg(folder.join("client.cfg"));
    let client = client.args(["-c", commands]).output().unwrap();
    let said = String::from_utf8(client.stdout).unwrap();
    assert_eq!(client.status.code(), Some(0), "{said}");
    let is_fill = |line: &&str| line.contains("report ") && !line.contains(" last 0 at ");
    let fills: Vec<&str> = said.lines().filter(is_fill).collect();
    assert!(fills.len() > 3, "{said}");
    assert!(
        fills
            .iter()
            .any(|it| it.contains("OrdStatus Partially filled")),
        "{said}"
    );
    let positions = json(folder, "positions", &[]);
    assert!(
        positions[0]["bought"].as_u64().unwrap() > 500,
        "{positions}"
    );

    // Its journal goes on, and operators reach it by its folder.
    let numbers = |folder: &Path| {
        let mut book = fixwire();
        book.args(["session", "command"])
            .arg(folder.join("sim-demo-store"));
        let said = book.arg("book VOD").output().unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    let book = numbers(folder);
    assert!(
        book.contains("VOD continuous last 1") && book.contains("\nbuy "),
        "{book}"
    );
    sim.child.kill().unwrap();
    sim.ends();
    let mut again = fixwire();
    again.current_dir(folder).args(["sim", "--demo", "--port"]);
    again.arg(sim.port.to_string());
    let again = Running::spawn(again, sim.port);
    again.listens();
    assert!(
        numbers(folder).contains("VOD continuous last 1"),
        "the last price is in the journal"
    );
}

#[test]
fn check_shows_the_traders_of_the_demo_and_their_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("demo.toml");
    let demo = include_str!("../../src/sim/demo.toml");
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        let mut check = fixwire();
        check.current_dir(folder.path()).arg("check").arg(&file);
        let said = check.output().unwrap();
        String::from_utf8([said.stdout, said.stderr].concat()).unwrap()
    };
    let said = check(demo);
    for line in [
        "trader.VOD ",
        "seed 1, rate 5, trades 30 %",
        "ok: 2 sessions, 0 warnings",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let said = check(&demo.replace("rate = 5", "rate = 5000"));
    let place = demo.lines().position(|line| line == "rate = 5").unwrap() + 1;
    assert!(
        said.contains("rate is 5000: give a number from 1 to 1000"),
        "{said}"
    );
    assert!(said.contains(&format!("demo.toml:{place}:")), "{said}");
}

#[test]
fn an_oms_takes_its_prices_from_the_exchange() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let far = example("instruments.csv").replace("12.50", "20.00");
    fs::write(folder.join("far.csv"), far).unwrap();
    let (_sim, _oms, port) = start(
        folder,
        &[
            (
                "[oms]\n",
                "[oms.own_tags]\ncondition = 9703\n\n[oms]\nmarket_data = [\"SIM-1\"]\nreference_price = \"last\"\n",
            ),
            ("account = \"A1\" ", "conditional = 10\naccount = \"A1\" "),
            (
                "TargetCompID = \"CLIENT\"",
                "TargetCompID = \"CLIENT\"\nValidateUserDefinedFields = false",
            ),
            (
                "instruments = \"instruments.csv\"",
                "instruments = \"far.csv\"",
            ),
        ],
    );
    let mut client = client_logs_on(port, 1);
    let order = |client: &mut Peer, id: &str| {
        let fields = "21=1|55=VOD|54=1|38=10|40=2|44=13";
        client.send("D", &format!("11={id}|{fields}|60={}", utc_now()));
        client.expect("8")
    };
    let refused = order(&mut client, "A1");
    assert!(
        refused.contains("|39=8|") && refused.contains("RC8: "),
        "{refused}"
    );
    let mut send = fixwire();
    send.args(["session", "send"]).arg(folder.join("oms.toml"));
    let request = "262=1|263=1|264=1|265=1|267=3|269=0|269=1|269=2|146=1|55=VOD";
    let sent = send.args(["SIM-1", "V", request]).output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    // Until the exchange has traded, the reference price of the file applies.
    let deadline = Instant::now() + SOON;
    for number in 0.. {
        let said = order(&mut client, &format!("B{number}"));
        if !said.contains("|39=8|") {
            break;
        }
        assert!(Instant::now() < deadline, "{said}");
        thread::sleep(Duration::from_millis(100));
    }
    // One of the two is met sooner or later, or at once.
    for (id, condition) in [("C1", "last>=12.52"), ("C2", "last<=12.48")] {
        let fields = "21=1|55=VOD|54=1|38=10|40=2|44=13";
        let fields = format!("11={id}|{fields}|60={}|9703={condition}", utc_now());
        client.send("D", &fields);
    }
    let deadline = Instant::now() + SOON;
    let (mut is_triggered, mut is_filled) = (false, false);
    while !(is_triggered && is_filled) {
        let said = client.expect("8");
        let is_ours = said.contains("|11=C");
        is_triggered |= is_ours && said.contains("triggered: ");
        is_filled |= is_ours && said.contains("|39=2|");
        assert!(Instant::now() < deadline, "{said}");
    }
}
