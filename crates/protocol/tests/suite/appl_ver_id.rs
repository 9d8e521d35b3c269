//! A message whose ApplVerID(1128) is not the session's default is written and read back.

use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{Dictionary, Scratch, ValidationRules, Version};
use fixwire_protocol::session::{BeginString, Config, Role};
use fixwire_protocol::{Decoder, Mono, Now, Outbox, Session, SessionId, Timestamp, tag};

/// A FIX 4.4 order in a session whose messages are of FIX 5.0 SP2 otherwise.
#[test]
fn one_message_can_be_sent_in_another_version() {
    let transport = Dictionary::built_in(Version::Fixt11);
    let config = Config::new(BeginString::Fixt11, Role::Initiator, b"US", b"THEM");
    let mut session = Session::new(SessionId(0), config);
    let mut outbox = Outbox::new(1 << 16, 16, session.header_room());
    let mut body = outbox.begin(SessionId(0), b"D");
    body.field(tag::APPL_VER_ID, b"6");
    body.field(11, b"A").field(55, b"MSFT").field(54, b"1");
    body.field(60, b"20260821-13:30:00")
        .field(38, b"5")
        .field(40, b"1");
    body.finish().expect("room");
    let now = Now {
        wall: Timestamp(1_787_319_000_000_000_000),
        mono: Mono(0),
    };
    session.seal(now, &mut outbox, 0);
    let bytes = outbox.sealed(0).to_vec();
    let mut decoder = Decoder::with_capacity(64);
    let message = decoder.decode(&bytes);
    assert_eq!(message.get(tag::APPL_VER_ID), Some(&b"6"[..]));
    assert_eq!(message.get(tag::CL_ORD_ID), Some(&b"A"[..]));
    let fix44 = Dictionary::built_in(Version::Fix44).over(&transport);
    let found = check(
        &fix44,
        &message,
        &ValidationRules::default(),
        &mut Scratch::default(),
    );
    assert_eq!(found, Ok(()));
}
