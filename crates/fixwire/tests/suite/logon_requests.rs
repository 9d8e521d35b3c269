//! The application may refuse a Logon.

use crate::common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fixwire::config::EngineConfig;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::BeginString;

use common::app::App;
use common::wire::{self, PORT, calm};

/// Refuses one user.
fn door() -> App {
    App {
        on_logon_request: Box::new(|user| match user {
            "EVE" => Err("EVE is not a user here\x0149=FORGED".to_owned()),
            _ => Ok(()),
        }),
        ..App::default()
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
    let mut engine = wire::start(config, door(), 1, &net, &SimDisk::new());
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
        (heard, engine.application_mut().heard.take())
    };
    // The application is not asked about a Logon that the session refuses.
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
    assert_eq!(asked, ["asked EVE"]);
    let (heard, asked) = say(2, "98=0|108=30|553=BOB|");
    assert!(heard.contains("|35=A|"), "{heard}");
    assert_eq!(asked, ["asked BOB", "logon 0"]);
    // A peer that is refused too often is closed at once.
    assert!(!locked.load(Ordering::SeqCst));
    for _ in 0..20 {
        say(9, "98=0|108=30|553=EVE|");
    }
    assert!(locked.load(Ordering::SeqCst));
    assert_eq!(say(9, "98=0|108=30|553=EVE|").1, [""; 0]);
}
