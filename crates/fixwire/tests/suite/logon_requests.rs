//! The application has a say in who logs on.

use crate::common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fixwire::Engine;
use fixwire::config::EngineConfig;
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::BeginString;
use fixwire::protocol::{Application, Message, Now, Outbox, Refusal, SessionId, tag};

use common::wire::{self, PORT, calm};

/// Knows one user, and writes down whom it was asked about.
#[derive(Default)]
struct Door(Vec<String>);

impl Application for Door {
    fn on_message(
        &mut self,
        _: Now,
        _: SessionId,
        _: &Message<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_logon_request(
        &mut self,
        _: Now,
        _: SessionId,
        logon: &Message<'_>,
    ) -> Result<(), String> {
        let name = String::from_utf8_lossy(logon.get(tag::USERNAME).unwrap_or(b"-")).into_owned();
        self.0.push(name.clone());
        match name.as_str() {
            "EVE" => Err("EVE is not a user here\x0149=FORGED".to_owned()),
            _ => Ok(()),
        }
    }

    fn on_logon(&mut self, _: Now, _: SessionId, _: &mut Outbox) {
        self.0.push("on".to_owned());
    }
}

#[test]
fn the_application_may_refuse_a_logon_that_the_session_would_take() {
    let net = SimNet::new(1, calm(1 << 20));
    let mut session = wire::acceptor("PEER");
    session.session.begin_string = BeginString::Fix44;
    let config = EngineConfig {
        sessions: vec![session],
        ..EngineConfig::default()
    };
    let host = SimHost::new(1, &net, &SimDisk::new());
    let mut engine = Engine::simulated(config, Door::default(), host).unwrap();
    let locked = Arc::new(AtomicBool::new(false));
    let told = locked.clone();
    engine.on_event(move |_, event| {
        let is_lock = event.to_string().contains("too many wrong passwords");
        told.fetch_or(is_lock, Ordering::SeqCst);
    });
    let mut say = |seq: u64, body: &str| {
        let conn = net.connect(0, PORT).unwrap();
        let body = format!("35=A|34={seq}|49=PEER|52=20260302-08:00:01|56=ENGINE|{body}");
        net.write(conn, &common::whole("FIX.4.4", &body)).unwrap();
        wire::turns(&mut engine);
        let heard = wire::read(&net, conn);
        net.close(conn);
        wire::turns(&mut engine);
        (heard, std::mem::take(&mut engine.application_mut().0))
    };
    // What the session does not take, nobody is asked about.
    let (heard, asked) = say(1, "98=1|108=30|553=BOB|");
    assert!(heard.contains("|35=5|"), "{heard}");
    assert_eq!(asked, [""; 0]);
    let (heard, asked) = say(2, "98=0|108=30|553=EVE|");
    assert!(
        heard.contains("|35=5|") && heard.contains("|58=EVE is not a user here|"),
        "{heard}"
    );
    assert!(
        !heard.contains("FORGED") && !heard.contains("|35=A|"),
        "{heard}"
    );
    assert_eq!(asked, ["EVE"]);
    let (heard, asked) = say(2, "98=0|108=30|553=BOB|");
    assert!(heard.contains("|35=A|"), "{heard}");
    assert_eq!(asked, ["BOB", "on"]);
    // Who is refused too often is not heard any more.
    assert!(!locked.load(Ordering::SeqCst));
    for _ in 0..20 {
        say(9, "98=0|108=30|553=EVE|");
    }
    assert!(locked.load(Ordering::SeqCst));
    assert_eq!(say(9, "98=0|108=30|553=EVE|").1, [""; 0]);
}
