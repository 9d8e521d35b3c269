//! The application is notified of a sequence number reset, in the record of the reset.

use crate::common;

use fixwire::config::{Durability, EngineConfig};
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::SessionId;
use fixwire::{ConfigError, Engine, EngineError};

use common::app::{App, Heard};
use common::wire::{self, PORT, calm, turns};

/// Notes its callbacks.
fn desk() -> App {
    App {
        keeps_notes: true,
        ..App::default()
    }
}

fn config() -> EngineConfig {
    wire::config(Durability::Process, vec![wire::acceptor("PEER")])
}

#[test]
fn a_reset_is_heard_of_before_the_logon_that_causes_it() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let heard = Heard::default();
    let start = |life| wire::start(config(), desk().writes_to(&heard), life, &net, &disk);
    let mut engine = start(1);
    let conn = net.connect(0, PORT).unwrap();
    wire::write(&net, conn, "PEER", "A", 1, "98=0|108=30|");
    turns(&mut engine);
    wire::write(&net, conn, "PEER", "D", 2, "11=A|");
    turns(&mut engine);
    net.close(conn);
    turns(&mut engine);
    let before = heard.take();
    assert_eq!(before, ["logon 0", "message A"]);
    let conn = net.connect(0, PORT).unwrap();
    wire::write(&net, conn, "PEER", "A", 1, "98=0|108=30|141=Y|");
    turns(&mut engine);
    let by_logon = heard.take();
    assert_eq!(by_logon, ["reset 0", "logon 0"]);
    // While it is logged on, and while it is not.
    engine.handle().reset(SessionId(0)).unwrap();
    turns(&mut engine);
    let by_command = heard.take();
    assert_eq!(by_command, ["reset 0"]);
    // The peer leaves without its answer: our Logon had MsgSeqNum 1, so the sequence numbers are reset once more.
    net.close(conn);
    turns(&mut engine);
    let unanswered = heard.take();
    assert_eq!(unanswered, ["reset 0"]);
    drop(engine);
    let mut engine = start(2);
    let all = [before, by_logon, by_command, unanswered].concat();
    assert_eq!(heard.take(), all, "each in the journal");
    engine.handle().reset(SessionId(0)).unwrap();
    turns(&mut engine);
    assert_eq!(heard.take(), ["reset 0"]);
}

#[test]
fn an_application_that_survives_no_panic_is_not_made_to() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let mut config = config();
    config.sessions[0].answer_panics = true;
    let host = SimHost::new(1, &net, &disk);
    let error = Engine::simulated(config, desk(), host).err();
    assert!(
        matches!(&error, Some(EngineError::Config(ConfigError::Panics(name))) if name == "ENGINE->PEER"),
        "{error:?}"
    );
    let text = error.unwrap().to_string();
    assert!(text.contains("RejectMessageOnUnhandledException"), "{text}");
}
