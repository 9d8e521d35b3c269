//! Operators query and control a running engine; the journal records who and why.

use crate::common;

use std::sync::mpsc::Receiver;
use std::time::Duration;

use fixwire::config::{Durability, EngineConfig};
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::SessionId;
use fixwire::{Event, Handle, Operation, OperationError, Operator, SendError, SessionState};

use common::app::{App, Heard};
use common::wire::{self, PORT, SimEngine, calm, numbers, read, shown, turns, write};
use common::{Events, events};

const PEER: SessionId = SessionId(0);

/// A world with one acceptor, whose peer is a bare connection.
struct World {
    net: SimNet,
    disk: SimDisk,
    heard: Heard,
    lives: u32,
}

impl World {
    fn new() -> Self {
        Self {
            net: SimNet::new(1, calm(1 << 20)),
            disk: SimDisk::new(),
            heard: Heard::default(),
            lives: 0,
        }
    }

    fn start(&mut self) -> SimEngine {
        self.start_with(Durability::Process)
    }

    fn start_with(&mut self, durability: Durability) -> SimEngine {
        self.net.crash(self.lives, false);
        self.lives += 1;
        let app = App {
            keeps_notes: true,
            ..App::reports()
        };
        let config: EngineConfig = wire::config(durability, vec![wire::acceptor("PEER")]);
        let app = app.writes_to(&self.heard);
        wire::start(config, app, self.lives, &self.net, &self.disk)
    }

    /// A connection that logs on with this number; what it is answered.
    fn log_on(&self, engine: &mut SimEngine, seq: u64) -> (fixwire::host::ConnId, Vec<String>) {
        let conn = self.net.connect(0, PORT).unwrap();
        write(&self.net, conn, "PEER", "A", seq, "98=0|108=30|");
        turns(engine);
        let answer = shown(&read(&self.net, conn), &["58"]);
        (conn, answer)
    }
}

fn alice(why: &str) -> Operator {
    Operator::new("alice", why)
}

/// The outcome of a request.
fn outcome<T>(
    engine: &mut SimEngine,
    ask: impl FnOnce(&mut Handle) -> Result<Receiver<T>, SendError>,
) -> T {
    let mut handle = engine.handle();
    let answer = ask(&mut handle).expect("the engine takes it");
    turns(engine);
    answer.try_recv().expect("it is answered")
}

fn operate(engine: &mut SimEngine, operation: Operation) -> Result<(), OperationError> {
    outcome(engine, |handle| {
        handle.operate(PEER, operation, alice("a test"))
    })
}

fn set(next_in: impl Into<Option<u64>>, next_out: impl Into<Option<u64>>) -> Operation {
    Operation::SetNumbers {
        next_in: next_in.into(),
        next_out: next_out.into(),
        force: false,
    }
}

fn state(engine: &mut SimEngine) -> SessionState {
    let report = outcome(engine, |handle| handle.status_of(PEER));
    report.expect("there is one").state
}

/// The operations of operators, as events report them.
fn told(events: &Events) -> Vec<String> {
    let events = events.lock().unwrap();
    let told = events.iter().filter_map(|event| match event {
        Event::Operated { what, .. } => Some(what.clone()),
        _ => None,
    });
    told.collect()
}

#[test]
fn a_session_is_found_by_its_name_and_says_how_it_stands() {
    let mut world = World::new();
    let mut engine = world.start();
    let handle = engine.handle();
    assert_eq!(handle.find("ENGINE->PEER"), Some(PEER));
    assert_eq!(handle.find("ENGINE->NOBODY"), None);
    assert_eq!(state(&mut engine), SessionState::Disconnected);
    world.log_on(&mut engine, 1);
    assert_eq!(state(&mut engine), SessionState::LoggedOn);
    let nobody = outcome(&mut engine, |handle| handle.status_of(SessionId(9)));
    assert_eq!(nobody, None);
    let nobody = outcome(&mut engine, |handle| {
        handle.operate(SessionId(9), Operation::Disable, alice(""))
    });
    assert_eq!(nobody, Err(OperationError::UnknownSession));
}

#[test]
fn numbers_that_are_set_stay_set_and_what_was_sent_under_them_is_not_resent() {
    let mut world = World::new();
    let mut engine = world.start();
    let events = events(&mut engine);
    let (conn, _) = world.log_on(&mut engine, 1);
    for seq in 2..6 {
        write(&world.net, conn, "PEER", "D", seq, "11=A|");
    }
    turns(&mut engine);
    assert_eq!(
        operate(&mut engine, set(3, 4)),
        Err(OperationError::Connected)
    );
    assert_eq!(numbers(&engine), [(6, 6)]);
    world.net.close(conn);
    turns(&mut engine);
    for wrong in [set(0, None), set(None, 0), set(u64::MAX, None)] {
        let why = operate(&mut engine, wrong).unwrap_err();
        assert!(matches!(why, OperationError::Number(_)), "{why}");
    }
    world.heard.take();
    assert_eq!(operate(&mut engine, set(6, 4)), Ok(()));
    assert_eq!(
        world.heard.take(),
        ["reset 0"],
        "the application hears that what it sent is void"
    );
    assert_eq!(
        told(&events),
        ["sequence numbers set to 6 in, 4 out (were 6, 6) by alice: a test"]
    );
    // Killed, and started again.
    drop(engine);
    let mut engine = world.start();
    assert_eq!(numbers(&engine), [(6, 4)]);
    let (conn, answer) = world.log_on(&mut engine, 6);
    assert_eq!(answer, ["A 4"]);
    write(&world.net, conn, "PEER", "2", 7, "7=1|16=0|");
    turns(&mut engine);
    let resent = shown(&read(&world.net, conn), &["123", "36"]);
    assert_eq!(resent, ["4 1 Y 5"], "a gap fill, and no report");
}

#[test]
fn higher_numbers_leave_what_was_sent_where_it_is() {
    let mut world = World::new();
    let mut engine = world.start();
    let (conn, _) = world.log_on(&mut engine, 1);
    write(&world.net, conn, "PEER", "D", 2, "11=A|");
    turns(&mut engine);
    world.net.close(conn);
    turns(&mut engine);
    world.heard.take();
    assert_eq!(operate(&mut engine, set(None, 20)), Ok(()));
    assert_eq!(operate(&mut engine, set(9, None)), Ok(()));
    assert_eq!(world.heard.take(), [""; 0], "nothing is void");
    drop(engine);
    let mut engine = world.start();
    assert_eq!(numbers(&engine), [(9, 20)]);
    let (conn, answer) = world.log_on(&mut engine, 9);
    assert_eq!(answer, ["A 20"]);
    write(&world.net, conn, "PEER", "2", 10, "7=1|16=0|");
    turns(&mut engine);
    let resent = shown(&read(&world.net, conn), &["11", "36"]);
    assert_eq!(resent, ["4 1 2", "8 2 A", "4 3 21"]);
}

#[test]
fn force_logs_out_first_and_the_answer_comes_when_the_numbers_are_set() {
    let mut world = World::new();
    let mut engine = world.start();
    let (conn, _) = world.log_on(&mut engine, 1);
    let force = Operation::SetNumbers {
        next_in: Some(1),
        next_out: Some(1),
        force: true,
    };
    let mut handle = engine.handle();
    let answer = handle
        .operate(PEER, force.clone(), alice("new day"))
        .unwrap();
    turns(&mut engine);
    assert_eq!(shown(&read(&world.net, conn), &[]), ["5 2"]);
    assert!(answer.try_recv().is_err(), "the peer has not answered yet");
    assert_eq!(operate(&mut engine, force), Err(OperationError::Pending));
    write(&world.net, conn, "PEER", "5", 2, "");
    turns(&mut engine);
    assert_eq!(answer.try_recv(), Ok(Ok(())));
    assert_eq!(numbers(&engine), [(1, 1)]);
    let (_, answer) = world.log_on(&mut engine, 1);
    assert_eq!(answer, ["A 1"]);
}

#[test]
fn a_disabled_session_lets_nobody_log_on_even_after_a_restart() {
    let mut world = World::new();
    let mut engine = world.start();
    let (conn, _) = world.log_on(&mut engine, 1);
    assert_eq!(operate(&mut engine, Operation::Disable), Ok(()));
    assert_eq!(shown(&read(&world.net, conn), &[]), ["5 2"]);
    write(&world.net, conn, "PEER", "5", 2, "");
    turns(&mut engine);
    assert_eq!(state(&mut engine), SessionState::Disabled);
    drop(engine);
    let mut engine = world.start();
    assert_eq!(state(&mut engine), SessionState::Disabled);
    let (_, answer) = world.log_on(&mut engine, 3);
    assert_eq!(answer, ["5 3 Session disabled by operator"]);
    assert_eq!(operate(&mut engine, Operation::Enable), Ok(()));
    assert_eq!(state(&mut engine), SessionState::Disconnected);
    let next_in = numbers(&engine)[0].0;
    let (_, answer) = world.log_on(&mut engine, next_in);
    assert_eq!(answer.len(), 1, "{answer:?}");
    assert_eq!(state(&mut engine), SessionState::LoggedOn);
}

#[test]
fn operators_test_a_peer_end_its_connection_and_send_for_it() {
    let mut world = World::new();
    let mut engine = world.start();
    let events = events(&mut engine);
    for early in [
        Operation::TestRequest,
        Operation::Disconnect,
        Operation::LogOn,
    ] {
        let why = operate(&mut engine, early.clone()).unwrap_err();
        let expected = match early {
            Operation::TestRequest => OperationError::NotLoggedOn,
            Operation::Disconnect => OperationError::NotConnected,
            _ => OperationError::Acceptor,
        };
        assert_eq!(why, expected);
    }
    let (conn, _) = world.log_on(&mut engine, 1);
    assert_eq!(operate(&mut engine, Operation::TestRequest), Ok(()));
    assert_eq!(shown(&read(&world.net, conn), &["112"]), ["1 2 TEST"]);
    let send = |msg_type: &[u8], fields: &[u8]| Operation::Send {
        msg_type: msg_type.to_vec(),
        fields: fields.to_vec(),
    };
    assert_eq!(
        operate(&mut engine, send(b"B", b"148=closing\x0133=0\x01")),
        Ok(())
    );
    assert_eq!(shown(&read(&world.net, conn), &["148"]), ["B 3 closing"]);
    for (msg_type, fields) in [
        (&b""[..], &b"58=a\x01"[..]),
        (b"A", b"58=a\x01"),
        (b"B", b"58=a"),
        (b"B", b"34=5\x01"),
        (b"B", b"58=\x01"),
        (b"B", b"58\x01"),
        (b"B", b"+58=a\x01"),
        (b"B", b""),
    ] {
        let why = operate(&mut engine, send(msg_type, fields)).unwrap_err();
        assert!(matches!(why, OperationError::Message(_)), "{why}");
    }
    let long = [&b"58="[..], &[b'x'; 4096], b"\x01"].concat();
    assert_eq!(
        operate(&mut engine, send(b"B", &long)),
        Err(OperationError::Message(
            "the fields of the message are 4100 bytes long, more than MaxMessageSize (1024 \
            bytes)"
                .into()
        ))
    );
    assert_eq!(operate(&mut engine, Operation::Disconnect), Ok(()));
    assert_eq!(read(&world.net, conn), "", "no Logout");
    // Without a Logon its number would be below the number of the next Logon.
    assert_eq!(
        operate(&mut engine, send(b"B", b"148=late\x0133=0\x01")),
        Err(OperationError::NotLoggedOn)
    );
    assert_eq!(state(&mut engine), SessionState::Disconnected);
    assert!(events.lock().unwrap().iter().any(|event| matches!(
        event, Event::Disconnected { why, .. } if why.to_string() == "closed by an operator"
    )),);
    assert_eq!(
        told(&events),
        [
            "TestRequest by alice: a test",
            "message 35=B|148=closing|33=0 by alice: a test",
            "disconnect by alice: a test"
        ]
    );
}

#[test]
fn a_command_of_the_application_is_answered_and_its_notes_come_back() {
    let mut world = World::new();
    let mut engine = world.start();
    let kill = |handle: &mut Handle| handle.command(b"kill switch", alice(""));
    assert_eq!(outcome(&mut engine, kill), Ok(b"kill switch".to_vec()));
    let no = outcome(&mut engine, |handle| handle.command(b"no", alice("")));
    assert_eq!(no, Err(OperationError::Refused("not today".into())));
    assert_eq!(world.heard.take(), ["command kill switch"]);
    drop(engine);
    drop(world.start());
    assert_eq!(world.heard.take(), ["command kill switch"]);
}

#[test]
fn what_was_answered_survives_a_power_cut_where_the_disk_is_promised() {
    let mut world = World::new();
    let mut engine = world.start_with(Durability::Disk);
    assert_eq!(operate(&mut engine, set(7, 8)), Ok(()));
    assert_eq!(operate(&mut engine, Operation::Disable), Ok(()));
    drop(engine);
    // Nothing that was not synced is left.
    world.disk.cut_power(|_| 0);
    let mut engine = world.start_with(Durability::Disk);
    assert_eq!(numbers(&engine), [(7, 8)]);
    assert_eq!(state(&mut engine), SessionState::Disabled);
}

#[test]
fn an_initiator_logs_on_when_it_is_told_and_stays_off_while_it_is_disabled() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let pause = Duration::from_secs(3600);
    let start = |life| {
        let session = wire::initiator("ENGINE", "VENUE", pause, Duration::from_secs(5));
        let config = wire::config(Durability::Process, vec![session]);
        wire::start(config, App::default(), life, &net, &disk)
    };
    let mut engine = start(1);
    turns(&mut engine);
    // The address has no listener, so the first attempt has failed and the pause runs.
    assert_eq!(operate(&mut engine, Operation::Disable), Ok(()));
    assert_eq!(
        operate(&mut engine, Operation::LogOn),
        Err(OperationError::Disabled)
    );
    assert_eq!(state(&mut engine), SessionState::Disabled);
    drop(engine);
    let mut engine = start(2);
    let events = events(&mut engine);
    turns(&mut engine);
    let attempts = || {
        let events = events.lock().unwrap();
        let failed = events
            .iter()
            .filter(|event| matches!(event, Event::DialFailed { .. }));
        failed.count()
    };
    assert_eq!(attempts(), 0, "it stays off");
    assert_eq!(operate(&mut engine, Operation::Enable), Ok(()));
    assert_eq!(attempts(), 1, "at once");
    assert_eq!(operate(&mut engine, Operation::LogOn), Ok(()));
    assert_eq!(attempts(), 2, "before the pause is over");
}

#[test]
fn an_attempt_to_connect_ends_when_its_session_is_disabled() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let listener = net.listen(0, wire::at(PORT));
    let session = wire::initiator("ENGINE", "VENUE", Duration::ZERO, Duration::from_secs(5));
    let config = wire::config(Durability::Process, vec![session]);
    let mut engine = wire::start(config, App::default(), 1, &net, &disk);
    // In the turn in which it begins to connect.
    assert_eq!(operate(&mut engine, Operation::Disable), Ok(()));
    assert_eq!(state(&mut engine), SessionState::Disabled);
    while let Some(conn) = net.accept(listener) {
        assert_eq!(read(&net, conn), "", "no Logon");
    }
    // A later request, before it has begun to connect, need not take it for one that does not.
    let asked = |handle: &mut Handle| {
        let _ = handle.operate(PEER, Operation::Enable, alice("a test"))?;
        handle.status_of(PEER)
    };
    let report = outcome(&mut engine, asked).expect("there is one");
    assert_eq!(report.state, SessionState::Connecting);
}

#[test]
fn a_logout_without_a_connection_is_refused_unless_it_ends_attempts_to_connect() {
    let logout = || Operation::LogOut {
        text: String::new(),
    };
    let mut world = World::new();
    let mut engine = world.start();
    assert_eq!(
        operate(&mut engine, logout()),
        Err(OperationError::NotConnected)
    );
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let session = wire::initiator("ENGINE", "VENUE", Duration::ZERO, Duration::from_secs(5));
    let config = wire::config(Durability::Process, vec![session]);
    let mut engine = wire::start(config, App::default(), 1, &net, &disk);
    turns(&mut engine);
    assert_eq!(operate(&mut engine, logout()), Ok(()));
    assert_eq!(
        operate(&mut engine, logout()),
        Err(OperationError::NotConnected)
    );
}

#[test]
fn force_leaves_a_session_logged_out_that_an_operator_has_logged_out() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let listener = net.listen(0, wire::at(PORT));
    let session = wire::initiator("ENGINE", "VENUE", Duration::ZERO, Duration::from_secs(5));
    let config = wire::config(Durability::Process, vec![session]);
    let mut engine = wire::start(config, App::default(), 1, &net, &disk);
    turns(&mut engine);
    let conn = net.accept(listener).expect("it connects");
    write(&net, conn, "VENUE", "A", 1, "98=0|108=30|");
    turns(&mut engine);
    assert_eq!(state(&mut engine), SessionState::LoggedOn);
    let logout = Operation::LogOut {
        text: String::new(),
    };
    assert_eq!(operate(&mut engine, logout), Ok(()));
    let force = Operation::SetNumbers {
        next_in: None,
        next_out: Some(1),
        force: true,
    };
    let mut handle = engine.handle();
    let answer = handle.operate(PEER, force, alice("")).unwrap();
    turns(&mut engine);
    write(&net, conn, "VENUE", "5", 2, "");
    turns(&mut engine);
    assert_eq!(answer.try_recv(), Ok(Ok(())));
    assert_eq!(numbers(&engine), [(3, 1)]);
    assert!(net.accept(listener).is_none(), "it stays logged out");
    assert_eq!(operate(&mut engine, Operation::LogOn), Ok(()));
    assert!(net.accept(listener).is_some());
}

#[test]
fn whoever_asks_an_engine_that_ends_is_told() {
    let mut world = World::new();
    let mut engine = world.start();
    let mut handle = engine.handle();
    let waiting = handle.status().unwrap();
    drop(engine);
    assert!(waiting.recv().is_err(), "nobody answers any more");
    for mut handle in [handle.clone(), handle] {
        assert_eq!(handle.status().err(), Some(SendError::Stopped));
        assert_eq!(handle.stop(), Err(SendError::Stopped));
    }
    engine = world.start();
    let mut handle = engine.handle();
    handle.stop().unwrap();
    turns(&mut engine);
    assert!(engine.is_done());
    assert_eq!(handle.status().err(), Some(SendError::Stopped));
}
