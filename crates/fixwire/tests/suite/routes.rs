//! Sessions between the same two firms: which of them a Logon is for, and that they share nothing.

use crate::common;

use fixwire::config::{Connection, Durability, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::{self, BeginString, Role};
use fixwire::protocol::{Nanos, SessionId};
use fixwire::settings::{Settings, Source};

use common::app::App;
use common::whole;
use common::wire::{self, PORT, SimEngine, calm, numbers};

fn net() -> SimNet {
    SimNet::new(1, calm(1 << 20))
}

fn engine(net: &SimNet, sessions: Vec<SessionConfig>) -> SimEngine {
    engine_on(&SimDisk::new(), 1, net, sessions)
}

fn engine_on(disk: &SimDisk, node: u32, net: &SimNet, sessions: Vec<SessionConfig>) -> SimEngine {
    let config = wire::config(Durability::Process, sessions);
    wire::start(config, App::default(), node, net, disk)
}

fn acceptor(name: &str, port: u16, change: impl FnOnce(&mut session::Config)) -> SessionConfig {
    let mut fix = session::Config::new(BeginString::Fix44, Role::Acceptor, b"HOUSE", b"FIRM");
    fix.max_latency = None;
    change(&mut fix);
    let listen = wire::at(port);
    SessionConfig::new(name, fix, Connection::Acceptor { listen })
}

/// The names of the sessions that are logged on.
fn on(engine: &SimEngine) -> Vec<&str> {
    let on = engine.sessions().filter(|session| session.logged_on);
    on.map(|session| session.name).collect()
}

/// Logs on with one more field; what the engine answers, with `|` for SOH.
fn log_on(net: &SimNet, engine: &mut SimEngine, field: &str) -> (ConnId, String) {
    let conn = net.connect(0, PORT).expect("somebody listens");
    let body = format!("35=A|34=1|49=FIRM|52=20260302-08:00:01|56=HOUSE|{field}98=0|108=30|");
    net.write(conn, &whole("FIX.4.4", &body))
        .expect("a connection");
    wire::turns(engine);
    (conn, wire::read(net, conn))
}

#[test]
fn sessions_of_one_port_may_differ_in_one_sub_id_or_location_alone() {
    type Name = fn(&mut session::Config, &[u8]);
    // The setting, the field in the peer's Logon, and the field in our answer.
    let ids: [(Name, u32, u32); 4] = [
        (|fix, id| fix.peer.sub_id = id.into(), 50, 57),
        (|fix, id| fix.own.sub_id = id.into(), 57, 50),
        (|fix, id| fix.peer.location_id = id.into(), 142, 143),
        (|fix, id| fix.own.location_id = id.into(), 143, 142),
    ];
    for (name, theirs, ours) in ids {
        let net = net();
        let sessions = vec![
            acceptor("ONE", PORT, |fix| name(fix, b"ONE")),
            acceptor("TWO", PORT, |fix| name(fix, b"TWO")),
        ];
        let mut engine = engine(&net, sessions);
        let (_, answer) = log_on(&net, &mut engine, &format!("{theirs}=TWO|"));
        assert!(
            answer.contains(&format!("|{ours}=TWO|")),
            "{theirs}: {answer}"
        );
        assert_eq!(on(&engine), ["TWO"], "{theirs}");
        for nobody in [format!("{theirs}=THREE|"), String::new()] {
            let (_, answer) = log_on(&net, &mut engine, &nobody);
            assert!(answer.is_empty(), "{nobody}: {answer}");
            assert_eq!(on(&engine), ["TWO"], "{nobody}");
        }
        let (_, answer) = log_on(&net, &mut engine, &format!("{theirs}=ONE|"));
        assert!(
            answer.contains(&format!("|{ours}=ONE|")),
            "{theirs}: {answer}"
        );
        assert_eq!(on(&engine), ["ONE", "TWO"], "{theirs}");
    }
}

#[test]
fn a_session_that_names_the_id_goes_before_one_that_names_none() {
    let net = net();
    let sessions = vec![
        acceptor("ANY", PORT, |_| {}),
        acceptor("DESK", PORT, |fix| fix.peer.sub_id = b"DESK".into()),
    ];
    let mut engine = engine(&net, sessions);
    log_on(&net, &mut engine, "50=DESK|");
    assert_eq!(on(&engine), ["DESK"]);
    log_on(&net, &mut engine, "50=OTHER|");
    assert_eq!(on(&engine), ["ANY", "DESK"]);
}

#[test]
fn initiators_that_differ_in_the_qualifier_alone_share_nothing() {
    let net = net();
    let mut house = engine(
        &net,
        vec![acceptor("A", 1001, |_| {}), acceptor("B", 1002, |_| {})],
    );
    let section = |qualifier: &str, port: u16| {
        format!(
            "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=FIRM\nTargetCompID=HOUSE\n\
             SessionQualifier={qualifier}\nConnectionType=initiator\n\
             SocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nHeartBtInt=30\nCheckLatency=N\n"
        )
    };
    let source = Source {
        path: "x.cfg".into(),
        text: section("A", 1001) + section("B", 1002).as_str(),
    };
    let settings = Settings::read(&source).unwrap_or_else(|error| panic!("{error}"));
    let config = settings
        .to_config()
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        config.sessions[0].session.own,
        config.sessions[1].session.own
    );
    let disk = SimDisk::new();
    let mut firm = engine_on(&disk, 2, &net, config.sessions.clone());
    play(&net, &mut firm, &mut house);
    assert_eq!((on(&firm).len(), on(&house).len()), (2, 2));
    let mut handle = firm.handle();
    for _ in 0..2 {
        handle
            .send_fields(SessionId(1), b"D", b"11=X\x01")
            .expect("room");
    }
    play(&net, &mut firm, &mut house);
    assert_eq!(numbers(&house), [(2, 2), (4, 2)]);
    // Each finds its own numbers again.
    drop(firm);
    net.crash(2, false);
    let mut firm = engine_on(&disk, 2, &net, config.sessions);
    assert_eq!(numbers(&firm), [(2, 2), (2, 4)]);
    play(&net, &mut firm, &mut house);
    assert_eq!((on(&firm).len(), on(&house).len()), (2, 2));
    assert_eq!(numbers(&house), [(3, 3), (5, 3)]);
}

/// Half a second for both.
fn play(net: &SimNet, firm: &mut SimEngine, house: &mut SimEngine) {
    for _ in 0..50 {
        net.advance(Nanos(10_000_000));
        firm.turn().expect("the firm works");
        house.turn().expect("the house works");
    }
}
