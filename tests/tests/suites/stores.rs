//! Can sessions of other engines be imported from their file stores, and exported again, without loss?

use fixwire_rigs::embedded;
use fixwire_rigs::peers::{Engine, Role, Terms};
use fixwire_rigs::server::{binary, free_port, scratch, wait_for_listener};
use fixwire_rigs::trade::Side;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The messages in the moved store.
const MESSAGES: u64 = 100_000;
const SESSION: &str = "FIX.4.2:INITIATOR->ACCEPTOR";

#[test]
fn a_store_of_quickfix_cpp_moves_in_and_back() -> Result<(), String> {
    moves(Engine::QuickfixCpp, "quickfix")
}

#[test]
fn a_store_of_quickfix_j_moves_in_and_back() -> Result<(), String> {
    moves(Engine::QuickfixJ, "quickfixj")
}

/// The old engine writes a store; we continue with it and resend its messages to the peer; then the old engine
/// continues with our exported store, and resends them too.
fn moves(engine: Engine, family: &str) -> Result<(), String> {
    let home = scratch(&format!("stores-{family}")).map_err(|error| error.to_string())?;
    let place = |name: &str| {
        let folder = home.join(name);
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok::<_, String>(folder)
    };
    let (before, after, peer) = (place("before")?, place("after")?, place("peer")?);
    let port = free_port().map_err(|error| error.to_string())?;
    let old = |folder: &Path| {
        engine.start_in(
            folder,
            Role::Initiator,
            port,
            "INITIATOR",
            "ACCEPTOR",
            &Terms::default(),
        )
    };

    // No peer listens: everything is stored.
    let mut writer = old(&before)?;
    writer.tell(&format!("send {MESSAGES}"))?;
    writer.expect("sent", |event| event.name == "sent")?;
    writer.quit()?;

    let journal = home.join("journal");
    let said = fixwire(
        &["import", "--from"],
        family,
        &before.join("store"),
        &journal,
    )?;
    // An attempt to connect may have taken a number for its Logon.
    let stored = said
        .strip_prefix(&format!("{SESSION}: "))
        .and_then(|rest| rest.split_once(" messages; ")?.0.parse::<u64>().ok())
        .ok_or_else(|| said.clone())?;
    assert!((MESSAGES..MESSAGES + 1_000).contains(&stored), "{said}");
    let expected = format!("next MsgSeqNum to send {}, to expect 1;", stored + 1);
    assert!(said.contains(&expected), "{said}");
    let again = fixwire(
        &["import", "--from"],
        family,
        &before.join("store"),
        &journal,
    );
    let refused = again.expect_err("the session is there");
    assert!(refused.contains("has session"), "{refused}");

    // The peer has none of the messages: one gap, and all of it is resent.
    let mut acceptor = engine.start_in(
        &peer,
        Role::Acceptor,
        port,
        "ACCEPTOR",
        "INITIATOR",
        &Terms::default(),
    )?;
    let listens = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    wait_for_listener(listens, Duration::from_secs(30))?;
    let mut ours = embedded::start(Role::Initiator, port, "INITIATOR", "ACCEPTOR", &home)?;
    let mut last = 0;
    for number in 1..=MESSAGES {
        let order = acceptor.expect("order", |event| {
            assert_ne!(event.name, "rejected", "{event:?}");
            event.name == "order"
        })?;
        assert!(
            order.dup && order.seq > last && order.seq <= stored,
            "{order:?}"
        );
        assert_eq!(
            order.id,
            format!("INITIATOR-{number}"),
            "an order is missing"
        );
        last = order.seq;
    }
    for _ in 1..=MESSAGES {
        ours.expect("report", |event| event.name == "report")?;
    }
    // Messages of our own, which move back with the old ones.
    acceptor.tell("send 5")?;
    for _ in 0..5 {
        acceptor.expect("report", |event| event.name == "report")?;
    }
    ours.tell("logout")?;
    acceptor.expect("logout", |event| event.name == "logout")?;
    ours.expect("logout", |event| event.name == "logout")?;
    drop(ours);

    let said = fixwire(&["export", "--to"], family, &journal, &after.join("store"))?;
    let body = |home: &Path| {
        let path = home.join("store/FIX.4.2-INITIATOR-ACCEPTOR.body");
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    assert!(
        body(&after)?.starts_with(&body(&before)?),
        "the messages have changed"
    );

    // The old engine reads the numbers that we wrote, and neither side asks for a resend.
    let mut back = old(&after)?;
    back.expect("logon", |event| {
        assert_ne!(event.name, "asks", "{event:?}");
        event.name == "logon"
    })?;
    acceptor.expect("logon", |event| {
        assert_ne!(event.name, "asks", "{event:?}");
        event.name == "logon"
    })?;
    let (mine, theirs) = (numbers(&mut back)?, numbers(&mut acceptor)?);
    assert_eq!(mine, (theirs.1, theirs.0));
    // Both have sent a Logon since.
    let expected = format!(
        "next MsgSeqNum to send {}, to expect {}",
        mine.0 - 1,
        mine.1 - 1
    );
    assert!(said.contains(&expected), "{said}, now {mine:?}");
    back.tell("send 3")?;
    for number in 0..3 {
        let order = acceptor.expect("order", |event| event.name == "order")?;
        assert_eq!(
            (order.seq, order.dup),
            (mine.0 + number, false),
            "{order:?}"
        );
    }

    // And it resends the messages from its time away.
    acceptor.tell("logout")?;
    back.expect("logout", |event| event.name == "logout")?;
    acceptor.expect("logout", |event| event.name == "logout")?;
    let behind = mine.0 + 4 - (last - 9);
    acceptor.tell(&format!("back {behind}"))?;
    acceptor.tell("logon")?;
    let first = acceptor.expect("an old order", |event| event.name == "order")?;
    assert!(
        first.dup && first.seq >= last - 9 && first.seq <= last,
        "{first:?}"
    );
    assert_eq!(
        first.id,
        format!("INITIATOR-{}", MESSAGES + first.seq - last)
    );
    Ok(())
}

/// The next number to send, and the next to expect.
fn numbers(side: &mut Side) -> Result<(u64, u64), String> {
    side.tell("numbers")?;
    let event = side.expect("numbers", |event| event.name == "numbers")?;
    let json: serde_json::Value =
        serde_json::from_str(&event.text).map_err(|error| error.to_string())?;
    let number = |key: &str| json[key].as_u64().ok_or(format!("no {key}: {event:?}"));
    Ok((number("sender")?, number("target")?))
}

/// Runs `fixwire journal`; returns its output, or its refusal.
fn fixwire(command: &[&str], family: &str, from: &Path, to: &Path) -> Result<String, String> {
    let output = Command::new(binary()?)
        .arg("journal")
        .args(command)
        .args([family, "--session", SESSION])
        .args([from, to])
        .output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}
