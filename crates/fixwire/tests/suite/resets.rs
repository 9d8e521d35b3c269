//! An application hears when the numbers of a session restart, in the record of that.

use crate::common;

use fixwire::config::{Durability, EngineConfig};
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::{Application, Message, Now, Outbox, Refusal, SessionId, Timestamp};
use fixwire::{ConfigError, Engine, EngineError};

use common::wire::{self, PORT, calm, turns};

/// Notes what it hears.
#[derive(Default)]
struct Desk {
    noted: Vec<String>,
}

impl Desk {
    fn hear(&mut self, what: &str, outbox: &mut Outbox) {
        self.noted.push(what.to_owned());
        outbox.note(what.as_bytes()).unwrap();
    }
}

impl Application for Desk {
    fn on_message(
        &mut self,
        _: Now,
        _: SessionId,
        _: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.hear("message", outbox);
        Ok(())
    }

    fn on_reset(&mut self, _: Now, _: SessionId, outbox: &mut Outbox) {
        self.hear("reset", outbox);
    }

    fn on_logon(&mut self, _: Now, _: SessionId, outbox: &mut Outbox) {
        self.hear("logon", outbox);
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        self.noted.push(String::from_utf8_lossy(note).into_owned());
    }

    fn survives_panics(&self) -> bool {
        false
    }
}

fn config() -> EngineConfig {
    wire::config(Durability::Process, vec![wire::acceptor("PEER")])
}

#[test]
fn a_reset_is_heard_of_before_the_logon_that_causes_it() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let start =
        |life| Engine::simulated(config(), Desk::default(), SimHost::new(life, &net, &disk));
    let mut engine = start(1).unwrap();
    let conn = net.connect(0, PORT).unwrap();
    wire::write(&net, conn, "PEER", "A", 1, "98=0|108=30|");
    turns(&mut engine);
    wire::write(&net, conn, "PEER", "D", 2, "11=A|");
    turns(&mut engine);
    net.close(conn);
    turns(&mut engine);
    let before = ["logon", "message"];
    assert_eq!(engine.application_mut().noted, before);
    let conn = net.connect(0, PORT).unwrap();
    wire::write(&net, conn, "PEER", "A", 1, "98=0|108=30|141=Y|");
    turns(&mut engine);
    let by_logon = [&before[..], &["reset", "logon"]].concat();
    assert_eq!(engine.application_mut().noted, by_logon);
    // While it is logged on, and while it is not.
    engine.handle().reset(SessionId(0)).unwrap();
    turns(&mut engine);
    let by_command = [&by_logon[..], &["reset"]].concat();
    assert_eq!(engine.application_mut().noted, by_command);
    // The peer leaves without its answer: our Logon was number 1, so the numbers restart once more.
    net.close(conn);
    turns(&mut engine);
    let unanswered = [&by_command[..], &["reset"]].concat();
    assert_eq!(engine.application_mut().noted, unanswered);
    drop(engine);
    let mut engine = start(2).unwrap();
    assert_eq!(
        engine.application_mut().noted,
        unanswered,
        "each in the journal"
    );
    engine.handle().reset(SessionId(0)).unwrap();
    turns(&mut engine);
    let down = [&unanswered[..], &["reset"]].concat();
    assert_eq!(engine.application_mut().noted, down);
}

#[test]
fn an_application_that_survives_no_panic_is_not_made_to() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let mut config = config();
    config.sessions[0].answer_panics = true;
    let host = SimHost::new(1, &net, &disk);
    let error = Engine::simulated(config, Desk::default(), host).err();
    assert!(
        matches!(&error, Some(EngineError::Config(ConfigError::Panics(name))) if name == "ENGINE->PEER"),
        "{error:?}"
    );
    let text = error.unwrap().to_string();
    assert!(text.contains("RejectMessageOnUnhandledException"), "{text}");
}
