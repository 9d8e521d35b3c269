//! Sessions of templates: the application decides about their names, and a start restores them.

use crate::common;

use std::sync::{Arc, Mutex};

use fixwire::config::{Durability, EngineConfig, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::Config;
use fixwire::protocol::{Application, Message, Mono, Now, Outbox, Refusal, SessionId};
use fixwire::{Engine, Template};

use common::app::answer;
use common::wire::{self, PORT, calm, turns};

/// Has sessions of every peer but EVE.
#[derive(Default)]
struct Desk {
    /// Its sessions, and what it was asked.
    told: Vec<String>,
    /// Sends a message to this session in the next turn.
    to: Option<SessionId>,
}

impl Application for Desk {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        answer(message, from, b"8", outbox)
    }

    fn on_session_request(
        &mut self,
        _now: Now,
        name: &str,
        config: &Config,
    ) -> Result<(), &'static str> {
        self.told.push(format!("asked {name}"));
        match &config.peer.comp_id[..] {
            b"EVE" => Err("EVE has no session here"),
            _ => Ok(()),
        }
    }

    fn on_session_added(&mut self, _now: Now, session: SessionId, name: &str, config: &Config) {
        let peer = String::from_utf8_lossy(&config.peer.comp_id);
        self.told.push(format!("{} {name} {peer}", session.0));
    }

    fn on_time(&mut self, _now: Now, outbox: &mut Outbox) -> Option<Mono> {
        if let Some(to) = self.to.take() {
            let mut report = outbox.begin(to, b"8");
            report.field(fixwire::protocol::tag::CL_ORD_ID, b"LATER");
            report.finish().expect("room");
        }
        None
    }
}

fn config(templates: &[&SessionConfig], restores: bool) -> EngineConfig {
    let templates = templates.iter().map(|session| Template {
        session: (*session).clone(),
        qualified: false,
    });
    let mut config = EngineConfig {
        templates: templates.collect(),
        restores_created: restores,
        ..wire::config(Durability::Process, vec![wire::acceptor("PEER")])
    };
    config.limits.dynamic_sessions = 3;
    config
}

/// A world with its engine, started once more after each crash.
struct Lives {
    net: SimNet,
    disk: SimDisk,
    life: u32,
    events: Arc<Mutex<Vec<String>>>,
    engine: Option<Engine<Desk, SimHost, SimDisk>>,
}

impl Lives {
    fn new() -> Self {
        Self {
            net: SimNet::new(1, calm(1 << 20)),
            disk: SimDisk::new(),
            life: 0,
            events: Arc::default(),
            engine: None,
        }
    }

    fn start(&mut self, config: EngineConfig) -> Vec<String> {
        if let Some(engine) = self.engine.take() {
            self.net.crash(self.life, false);
            drop(engine);
            self.disk.end_process();
        }
        self.life += 1;
        let host = SimHost::new(self.life, &self.net, &self.disk);
        let mut engine = Engine::simulated(config, Desk::default(), host).expect("it starts");
        let told = Arc::clone(&self.events);
        engine.on_event(move |_, event| told.lock().unwrap().push(event.to_string()));
        turns(&mut engine);
        self.engine = Some(engine);
        self.told()
    }

    fn engine(&mut self) -> &mut Engine<Desk, SimHost, SimDisk> {
        self.engine.as_mut().expect("it has started")
    }

    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.engine().application_mut().told)
    }

    fn events(&self, of: &str) -> Vec<String> {
        let mut events = self.events.lock().unwrap();
        let found: Vec<String> = events
            .iter()
            .filter(|it| it.contains(of))
            .cloned()
            .collect();
        events.clear();
        found
    }

    fn log_on(&mut self, peer: &str, seq: u64) -> ConnId {
        let conn = self.net.connect(0, PORT).unwrap();
        wire::write(&self.net, conn, peer, "A", seq, "98=0|108=30|");
        turns(self.engine());
        conn
    }
}

#[test]
fn the_application_refuses_a_name_before_its_session_exists() {
    let mut lives = Lives::new();
    let everybody = wire::acceptor("*");
    lives.start(config(&[&everybody], true));
    for _ in 0..2 {
        let conn = lives.log_on("EVE", 1);
        assert_eq!(wire::read(&lives.net, conn), "");
    }
    assert_eq!(lives.told(), ["asked FIX.4.2:ENGINE->EVE"; 2]);
    assert_eq!(lives.engine().sessions().count(), 1);
    let refused = lives.events("EVE");
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(
        refused[0].contains("EVE has no session here"),
        "{refused:?}"
    );
    // Neither does a start know her.
    assert_eq!(lives.start(config(&[&everybody], true)), [""; 0]);
    // A session of the configuration needs no template.
    let conn = lives.log_on("PEER", 1);
    assert!(wire::read(&lives.net, conn).contains("|35=A|"));
    assert_eq!(lives.told(), [""; 0]);
}

#[test]
fn a_start_restores_created_sessions_with_what_waits_for_them() {
    let mut lives = Lives::new();
    let everybody = wire::acceptor("*");
    lives.start(config(&[&everybody], true));
    for peer in ["ANN", "BOB"] {
        let conn = lives.log_on(peer, 1);
        assert!(wire::read(&lives.net, conn).contains("|35=A|"));
    }
    let created = ["1 FIX.4.2:ENGINE->ANN ANN", "2 FIX.4.2:ENGINE->BOB BOB"];
    let told = lives.told();
    assert!(
        created.iter().all(|it| told.contains(&(*it).into())),
        "{told:?}"
    );
    lives.events("");
    // They are there before their peers log on again, in the order of the journal.
    assert_eq!(lives.start(config(&[&everybody], true)), created);
    assert_eq!(
        lives.events(" added"),
        [
            "session FIX.4.2:ENGINE->ANN added",
            "session FIX.4.2:ENGINE->BOB added"
        ]
    );
    lives.engine().application_mut().to = Some(SessionId(2));
    turns(lives.engine());
    lives.start(config(&[&everybody], true));
    let conn = lives.log_on("BOB", 2);
    // Our Logon was number 1, and the message that waited is 2.
    wire::write(&lives.net, conn, "BOB", "2", 3, "7=2|16=2|");
    turns(lives.engine());
    let heard = wire::read(&lives.net, conn);
    assert!(heard.contains("|11=LATER|"), "{heard}");
    // They count for the maximum of created sessions, which is 3.
    lives.log_on("CAT", 1);
    let conn = lives.log_on("DAN", 1);
    assert_eq!(wire::read(&lives.net, conn), "");
    assert!(!lives.events("MaxDynamicSessions (3)").is_empty());
}

#[test]
fn only_sessions_that_one_id_of_a_template_can_name_are_restored() {
    let mut lives = Lives::new();
    let everybody = wire::acceptor("*");
    lives.start(config(&[&everybody], false));
    lives.log_on("ANN", 1);
    lives.log_on("BOB", 1);
    // Without the setting, none.
    assert_eq!(lives.start(config(&[&everybody], false)), [""; 0]);
    // A template of other ids forms neither of them, and two open ids may form a name in several ways.
    let mut others = wire::acceptor("*");
    others.session.own.comp_id = b"OTHER".to_vec();
    let mut open = wire::acceptor("*");
    open.session.own.comp_id = b"*".to_vec();
    let mut fixed = wire::acceptor("BOB");
    fixed.name = "BOB of a template".into();
    for template in [&others, &open, &fixed] {
        assert_eq!(lives.start(config(&[template], true)), [""; 0]);
    }
    // A session of the configuration is not restored a second time.
    let mut with_ann = config(&[&everybody], true);
    let mut ann = wire::acceptor("ANN");
    ann.name = "FIX.4.2:ENGINE->ANN".into();
    with_ann.sessions.push(ann);
    assert_eq!(lives.start(with_ann), ["2 FIX.4.2:ENGINE->BOB BOB"]);
    assert_eq!(lives.engine().sessions().count(), 3);
}
