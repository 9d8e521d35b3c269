//! Can somebody who has not logged on change anything?
//!
//! STREAMS=10000000 plays that many random streams of bytes, each on a connection of its own.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use fixwire::Network;
use fixwire::Users;
use fixwire::config::{Access, Durability, EngineConfig, Limits, Template};
use fixwire::event::{ConnectionRefusal, FailureLimit};
use fixwire::host::ConnId;
use fixwire_protocol::{Nanos, Secret};
use fixwire_rigs::crowd::Crowd;
use fixwire_rigs::house::{
    FRIEND, PASSWORD, ROOM, Rig, SECOND, STRANGER, acceptor, logon, message, numbered, patient,
};
use fixwire_rigs::random::{Random, seed};

/// A session with a password, one for another address, one that resets, one that is on, and a template.
fn house(limits: Limits) -> EngineConfig {
    let mut elsewhere = acceptor("ELSEWHERE");
    elsewhere.access.addresses = vec!["203.0.113.0/24".parse::<Network>().unwrap()];
    let mut resets = acceptor("RESETS");
    resets.session.reset_on.logon = true;
    resets.session.reset_on.disconnect = true;
    let mut template = acceptor("*");
    template.session.own.comp_id = b"*".to_vec();
    EngineConfig {
        durability: Durability::Memory,
        max_message: 8 << 10,
        read_buffer: 8 << 10,
        limits: Limits {
            logon_bytes: 2 << 10,
            outbox_bytes: 16 << 10,
            outbox_messages: 16,
            ..limits
        },
        sessions: vec![acceptor("PEER"), elsewhere, resets, acceptor("ON")],
        templates: vec![Template {
            session: template,
            qualified: false,
        }],
        ..EngineConfig::default()
    }
}

/// A change of a stream that replaces bytes.
const CHANGED_BYTES: u64 = 6;

/// A Logon for one of the sessions, with some of its bytes changed, and never a right one.
fn stream(random: &mut Random, crowd: &Crowd, bytes: &mut Vec<u8>) {
    let peers = [
        "PEER",
        "ELSEWHERE",
        "RESETS",
        "ON",
        "ANYBODY",
        "../../etc",
        "*",
        "",
    ];
    let peer = peers[random.below(peers.len() as u64) as usize];
    let kinds = ["A", "A", "A", "A", "A", "0", "5", "4", "2", "D", ""];
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    let reset = ["", "141=Y|", "36=9|", "789=1|"][random.below(4) as usize];
    let change = random.below(8);
    // ON is logged on already: even the right password changes nothing. With other bytes changed it could be right for
    // a session of the template.
    let right = change != CHANGED_BYTES && (peer == "ON" || kind != "A");
    let password = if right { PASSWORD } else { "wrong" };
    let more = format!("98=0|108=0|{reset}553=me|554={password}|");
    bytes.clear();
    bytes.extend(message(crowd, kind, peer, &more));
    match change {
        0..=3 => {}
        4 => bytes.truncate(random.below(bytes.len() as u64) as usize),
        5 => bytes.extend_from_within(..),
        CHANGED_BYTES => {
            for _ in 0..=random.below(8) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.below(256) as u8;
            }
        }
        _ => {
            let count = random.below(4096) as usize;
            bytes.clear();
            bytes.extend((0..count).map(|_| random.below(256) as u8));
        }
    }
}

/// An address for each, so that no stranger is locked out because of another one.
fn stranger(number: u64) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(
        0xC612_0000 | (number as u32 & 0x1_FFFF),
    ))
}

/// T4: before a Logon is accepted, no bytes from a stranger change a session or the journal.
#[test]
fn t4_random_streams_before_a_logon_leave_every_session_as_it_was() {
    let streams = std::env::var("STREAMS").ok();
    let streams: u64 = streams.and_then(|n| n.parse().ok()).unwrap_or(200_000);
    let seed = seed();
    println!("FIXWIRE_SEED={seed} STREAMS={streams}");
    let mut random = Random::new(seed);
    let mut rig = Rig::new(house(patient()));
    let bytes = logon(&rig.crowd, "ON", PASSWORD);
    let friend = rig.say(FRIEND, &bytes);
    assert!(rig.is_on(3));
    let before = rig.engine.state_hash();
    let mut bytes = Vec::new();
    for number in 0..streams {
        stream(&mut random, &rig.crowd, &mut bytes);
        let conn = rig.crowd.connect(stranger(number), ROOM);
        rig.turns(1);
        let cut = random.below(bytes.len() as u64 + 1) as usize;
        for part in [&bytes[..cut], &bytes[cut..]] {
            rig.crowd.send(conn, part);
            rig.turns(1);
        }
        let sent = rig.crowd.take(conn);
        assert!(
            sent.is_empty(),
            "stream {number}: a stranger is not answered"
        );
        rig.crowd.leave(conn);
        rig.turns(1);
        assert!(rig.crowd.is_closed(conn), "stream {number}");
        assert_eq!(
            rig.engine.state_hash(),
            before,
            "stream {number} changed something: {}\n{:?}",
            bytes.escape_ascii(),
            rig.events.lock().unwrap().last()
        );
        if number.is_multiple_of(64) {
            rig.crowd.advance(Nanos(1_000_000));
        }
    }
    assert!(rig.is_on(3) && !rig.crowd.is_closed(friend));
    assert_eq!(rig.crowd.open(), 1);
    // The streams have come as far as they can, each way.
    for why in [
        ConnectionRefusal::Gone,
        ConnectionRefusal::Garbled,
        ConnectionRefusal::NotALogon,
        ConnectionRefusal::AddressNotAllowed,
        ConnectionRefusal::Credentials,
        ConnectionRefusal::AlreadyConnected,
    ] {
        assert!(
            rig.refused(why) > streams / 1000,
            "{why:?}: {:?}",
            rig.refusals
        );
    }
}

/// The rig can fail: a valid Logon changes the hash.
#[test]
fn a_logon_that_is_accepted_changes_the_state() {
    let mut rig = Rig::new(house(patient()));
    let before = rig.engine.state_hash();
    let bytes = logon(&rig.crowd, "PEER", PASSWORD);
    let conn = rig.say(FRIEND, &bytes);
    assert!(rig.is_on(0));
    assert_ne!(rig.engine.state_hash(), before);
    assert!(rig.crowd.take(conn).starts_with(b"8=FIX.4.4\x01"));
}

/// T4: the address is checked before anything is read, the password before the check that the session is free.
#[test]
fn t4_checks_come_in_their_order() {
    let mut config = house(patient());
    for session in &mut config.sessions {
        session.access.addresses = vec!["192.0.2.0/24".parse().unwrap()];
    }
    config.templates.clear();
    let mut rig = Rig::new(config);
    let conn = rig.crowd.connect(STRANGER, ROOM);
    rig.turns(1);
    assert!(rig.crowd.is_closed(conn), "before a byte was read");
    assert_eq!(rig.refused(ConnectionRefusal::AddressNotAllowed), 1);
    let right = logon(&rig.crowd, "PEER", PASSWORD);
    let first = rig.say(FRIEND, &right);
    assert!(rig.is_on(0));
    // A stranger without the password does not learn that the session is in use.
    let wrong = logon(&rig.crowd, "PEER", "wrong");
    rig.say(FRIEND, &wrong);
    assert_eq!(rig.refused(ConnectionRefusal::Credentials), 1);
    // T11: and a stranger who knows the password cannot take the session over; the newcomer is closed without a
    // message.
    let second = rig.say(FRIEND, &right);
    assert_eq!(rig.refused(ConnectionRefusal::AlreadyConnected), 1);
    assert!(rig.crowd.is_closed(second) && rig.crowd.take(second).is_empty());
    assert!(!rig.crowd.is_closed(first) && rig.is_on(0));
}

/// T6: passwords as argon2id hashes, compared on another thread than the engine's.
#[test]
fn t6_a_hashed_password_lets_in_and_keeps_out() {
    let hash = fixwire::passwords::hash(PASSWORD.as_bytes()).unwrap();
    let mut config = house(patient());
    let session = &mut config.sessions[0];
    session.session.password = Secret::default();
    session.access = Access {
        users: Some(Arc::new(Users::one(b"me", &hash).unwrap())),
        ..Access::default()
    };
    let mut rig = Rig::new(config);
    let before = rig.engine.state_hash();
    let wrong = logon(&rig.crowd, "PEER", "wrong");
    let unknown = message(
        &rig.crowd,
        "A",
        "PEER",
        &format!("98=0|108=0|553=you|554={PASSWORD}|"),
    );
    for bytes in [wrong, unknown] {
        let conn = rig.say(STRANGER, &bytes);
        assert!(!rig.crowd.is_closed(conn), "another thread compares");
        rig.until_closed_or_on(conn, 0);
    }
    assert_eq!(rig.refused(ConnectionRefusal::Credentials), 2);
    assert_eq!(rig.engine.state_hash(), before);
    // A password that is not in a file cannot be changed.
    let change = format!("98=0|108=0|553=me|554={PASSWORD}|925=new|");
    let bytes = message(&rig.crowd, "A", "PEER", &change);
    let conn = rig.say(FRIEND, &bytes);
    rig.until_closed_or_on(conn, 0);
    assert_eq!(rig.refused(ConnectionRefusal::PasswordNotChanged), 1);
    let bytes = logon(&rig.crowd, "PEER", PASSWORD);
    let conn = rig.say(FRIEND, &bytes);
    rig.until_closed_or_on(conn, 0);
    assert!(rig.is_on(0));
    // What waits for its password longer than a Logon may take is closed.
    let bytes = logon(&rig.crowd, "PEER", "wrong");
    let conn = rig.say(STRANGER, &bytes);
    rig.crowd.advance(Nanos(6 * SECOND.0));
    rig.turns(2);
    assert!(rig.crowd.is_closed(conn));
}

/// T7: five wrong passwords lock an address out of a session; the peer at another address logs on.
#[test]
fn t7_wrong_passwords_lock_the_stranger_out_and_nobody_else() {
    let mut rig = Rig::new(house(Limits::default()));
    let wrong = logon(&rig.crowd, "PEER", "wrong");
    for _ in 0..5 {
        rig.say(STRANGER, &wrong);
    }
    assert_eq!(rig.refused(ConnectionRefusal::Credentials), 5);
    let right = logon(&rig.crowd, "PEER", PASSWORD);
    rig.say(STRANGER, &right);
    assert_eq!(
        rig.refused(ConnectionRefusal::LockedOut(FailureLimit::Passwords(5))),
        1
    );
    assert!(!rig.is_on(0));
    rig.say(FRIEND, &right);
    assert!(rig.is_on(0));
}

/// T7: connections that do not log on reach the limit of their address.
#[test]
fn t7_an_address_that_only_fails_is_not_heard_for_a_while() {
    let mut rig = Rig::new(house(Limits::default()));
    for _ in 0..200 {
        let conn = rig.say(STRANGER, b"GET / HTTP/1.1\r\n\r\n");
        rig.crowd.leave(conn);
    }
    assert_eq!(rig.refused(ConnectionRefusal::Garbled), 120);
    assert_eq!(
        rig.refused(ConnectionRefusal::TooManyFailures(FailureLimit::Address(
            120
        ))),
        80
    );
    let right = logon(&rig.crowd, "PEER", PASSWORD);
    rig.say(FRIEND, &right);
    assert!(rig.is_on(0));
    rig.crowd.advance(Nanos(60 * SECOND.0));
    rig.say(STRANGER, b"x");
    assert_eq!(
        rig.refused(ConnectionRefusal::TooManyFailures(FailureLimit::Address(
            120
        ))),
        80,
        "heard again"
    );
}

/// T8: slots, size, one message, and the time from the first moment.
#[test]
fn t8_ten_thousand_slow_strangers_hold_ten_places_for_five_seconds() {
    let mut rig = Rig::new(house(patient()));
    let friend = logon(&rig.crowd, "ON", PASSWORD);
    let friend = rig.say(FRIEND, &friend);
    let strangers: Vec<ConnId> = (0..10_000)
        .map(|_| rig.crowd.connect(STRANGER, ROOM))
        .collect();
    rig.turns(10_000 / 16 + 2);
    assert_eq!(
        rig.refused(ConnectionRefusal::TooManyFromAddress(10)),
        9_990
    );
    assert_eq!(rig.crowd.open(), 11, "ten and the friend");
    let bytes = logon(&rig.crowd, "PEER", "wrong");
    for second in 0..5 {
        for conn in &strangers {
            rig.crowd.send(*conn, &bytes[second..=second]);
        }
        rig.turns(1);
        assert_eq!(rig.crowd.open(), 11, "second {second}");
        rig.crowd.advance(SECOND);
    }
    rig.turns(2);
    assert_eq!(rig.crowd.open(), 1, "a byte a second buys no time");
    assert_eq!(
        rig.refused(ConnectionRefusal::Timeout(Nanos(5 * SECOND.0))),
        10
    );
    assert!(rig.is_on(3) && !rig.crowd.is_closed(friend));
    // Many addresses fill the pool, but do not exceed it.
    for host in 0..200 {
        rig.crowd
            .connect(IpAddr::V4(Ipv4Addr::new(203, 0, 113, host)), ROOM);
    }
    rig.turns(20);
    assert_eq!(rig.crowd.open(), 1 + 64);
    assert_eq!(rig.refused(ConnectionRefusal::TooManyPending(64)), 200 - 64);
}

/// T8: a stranger may share an address with a peer (NAT, a proxy): its silent connections do not keep the peer out,
/// whether the session names the address or has logged on from it.
#[test]
fn t8_silent_connections_from_a_peers_address_do_not_keep_its_logon_out() {
    let listed = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));
    for (address, peer, session) in [(FRIEND, "PEER", 0), (listed, "ELSEWHERE", 1)] {
        let mut rig = Rig::new(house(Limits::default()));
        if address == FRIEND {
            let bytes = logon(&rig.crowd, peer, PASSWORD);
            let before = rig.say(address, &bytes);
            assert!(rig.is_on(session));
            rig.crowd.leave(before);
            rig.turns(2);
        }
        for _ in 0..100 {
            rig.crowd.connect(address, ROOM);
        }
        rig.turns(20);
        assert_eq!(
            rig.crowd.open(),
            11,
            "ten for everybody, one for its session"
        );
        assert_eq!(rig.refused(ConnectionRefusal::MadeWay), 89);
        let number = if address == FRIEND { 2 } else { 1 };
        let more = format!("98=0|108=0|553=me|554={PASSWORD}|");
        let bytes = numbered(&rig.crowd, "A", peer, number, &more);
        rig.say(address, &bytes);
        assert!(rig.is_on(session), "{peer}: {:?}", rig.refusals);
    }
}

/// T8: strangers from many addresses fill the pool; a connection from a peer's address gets the place of the one that
/// has waited longest, and strangers still take no place from each other.
#[test]
fn t8_a_peer_gets_in_when_strangers_have_filled_the_pool() {
    let mut rig = Rig::new(house(patient()));
    let first = logon(&rig.crowd, "PEER", PASSWORD);
    let before = rig.say(FRIEND, &first);
    rig.crowd.leave(before);
    rig.turns(2);
    let strangers: Vec<ConnId> = (0..64)
        .map(|number| rig.crowd.connect(stranger(number), ROOM))
        .collect();
    rig.turns(6);
    let bytes = logon(&rig.crowd, "PEER", PASSWORD);
    let late = rig.say(stranger(64), &bytes);
    assert!(rig.crowd.is_closed(late));
    assert_eq!(rig.refused(ConnectionRefusal::TooManyPending(64)), 1);
    let more = format!("98=0|108=0|553=me|554={PASSWORD}|");
    let bytes = numbered(&rig.crowd, "A", "PEER", 2, &more);
    rig.say(FRIEND, &bytes);
    assert!(rig.is_on(0), "{:?}", rig.refusals);
    assert_eq!(rig.refused(ConnectionRefusal::MadeWay), 1);
    assert!(rig.crowd.is_closed(strangers[0]) && !rig.crowd.is_closed(strangers[1]));
}

/// T8: cap - 1, cap and cap + 1 bytes of a first message.
#[test]
fn t8_a_first_message_beyond_its_cap_is_closed_at_once() {
    let cap = 2 << 10;
    for (size, why) in [
        (cap - 1, ConnectionRefusal::Credentials),
        (cap, ConnectionRefusal::Credentials),
        (cap + 1, ConnectionRefusal::TooLarge(cap)),
    ] {
        let mut rig = Rig::new(house(patient()));
        let text = |len| format!("98=0|108=0|553=me|554=wrong|58={}|", "x".repeat(len));
        let bare = message(&rig.crowd, "A", "PEER", &text(1000)).len() - 1000;
        let more = text(size - bare);
        let bytes = message(&rig.crowd, "A", "PEER", &more);
        assert_eq!(bytes.len(), size);
        let conn = rig.say(STRANGER, &bytes);
        assert!(rig.crowd.is_closed(conn), "{size}");
        assert_eq!(rig.refused(why), 1, "{size}: {:?}", rig.refusals);
    }
}

/// A template makes no session before the password is right, and never a name that could be a path.
#[test]
fn strangers_make_no_sessions() {
    let mut config = house(patient());
    config.limits.dynamic_sessions = 3;
    let mut rig = Rig::new(config);
    let before = rig.engine.state_hash();
    for number in 0..100 {
        let bytes = logon(&rig.crowd, &format!("S{number}"), "wrong");
        rig.say(stranger(number), &bytes);
    }
    for name in [
        "../x",
        "a/b",
        "a b",
        "a>b",
        "a:b",
        "*",
        "\u{1b}[2J",
        "\u{202e}x",
        "a\u{0}b",
    ] {
        let bytes = logon(&rig.crowd, name, PASSWORD);
        rig.say(STRANGER, &bytes);
    }
    // The bar ends a field here.
    let others = (2..=127_u8).filter(|byte| !byte.is_ascii_alphanumeric() && *byte != b'|');
    let others = others.filter(|byte| !b"._-@+#&".contains(byte));
    let mut refused = 9;
    for byte in others {
        let bytes = logon(&rig.crowd, &format!("a{}b", char::from(byte)), PASSWORD);
        rig.say(STRANGER, &bytes);
        refused += 1;
    }
    assert_eq!(rig.refused(ConnectionRefusal::Credentials), 100);
    assert_eq!(
        rig.refused(ConnectionRefusal::NoName),
        refused,
        "{:?}",
        rig.refusals
    );
    assert_eq!(rig.engine.state_hash(), before);
    for number in 0..5 {
        let bytes = logon(&rig.crowd, &format!("S{number}._-@+#&"), PASSWORD);
        rig.say(FRIEND, &bytes);
    }
    assert_eq!(rig.refused(ConnectionRefusal::TooManySessions(3)), 2);
    let names: Vec<String> = rig
        .engine
        .sessions()
        .skip(4)
        .map(|session| session.name.to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "FIX.4.4:HOUSE->S0._-@+#&",
            "FIX.4.4:HOUSE->S1._-@+#&",
            "FIX.4.4:HOUSE->S2._-@+#&"
        ]
    );
    assert!((4..7).all(|session| rig.is_on(session)));
}
