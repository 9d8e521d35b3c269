//! The application is notified of Rejects of both sides, with the rejected message.

use crate::common;

use fixwire::Engine;
use fixwire::config::{Durability, EngineConfig};
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::dictionary::{Dictionary, Version};
use fixwire::protocol::{Application, Decoder, Message, Now, Outbox, Refusal, SessionId, tag};

use common::app::{App, answer, send, text};
use common::wire::{self, PORT, calm};

/// Answers each order, and writes down rejects. Its own, since no other test checks Rejects.
#[derive(Default)]
struct Desk(Vec<String>);

impl Application for Desk {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        answer(message, from, b"8", outbox).expect("room for a report");
        Ok(())
    }

    fn on_reject(
        &mut self,
        _: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        let why = text(reject, tag::TEXT);
        let mut decoder = Decoder::with_capacity(64);
        self.0
            .push(match refused.map(|bytes| decoder.decode(bytes)) {
                Some(message) => format!(
                    "{} {}: {why}",
                    text(&message, tag::MSG_TYPE),
                    text(&message, tag::CL_ORD_ID)
                ),
                None => format!("nothing: {why}"),
            });
        // Messages written because of it are sent.
        send(outbox, session, b"B", tag::HEADLINE, b"sorry").expect("room");
    }

    fn on_business_reject(
        &mut self,
        now: Now,
        from: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.on_reject(now, from, reject, refused, outbox);
        Ok(())
    }

    fn on_reject_sent(&mut self, _: Now, _: SessionId, message: &Message<'_>, _: &mut Outbox) {
        let kind = text(message, tag::MSG_TYPE);
        self.0.push(format!(
            "we reject {kind} {}",
            text(message, tag::CL_ORD_ID)
        ));
    }
}

#[test]
fn the_application_hears_what_was_rejected() {
    let net = SimNet::new(1, calm(1 << 20));
    let mut session = wire::acceptor("PEER");
    session.session.dictionary = Some(Dictionary::built_in(Version::Fix42).into());
    let config = EngineConfig {
        sessions: vec![session],
        ..EngineConfig::default()
    };
    let host = SimHost::new(1, &net, &SimDisk::new());
    let mut engine = Engine::simulated(config, Desk::default(), host).unwrap();
    let conn = net.connect(0, PORT).unwrap();
    let mut say = |kind: &str, seq: u64, body: &str| {
        wire::write(&net, conn, "PEER", kind, seq, body);
        wire::turns(&mut engine);
        let said = std::mem::take(&mut engine.application_mut().0);
        (wire::shown(&wire::read(&net, conn), &["45"]), said)
    };
    let order = "11=A|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|";
    assert_eq!(say("A", 1, "98=0|108=30|").0, ["A 1"]);
    assert_eq!(say("D", 2, order).0, ["8 2"]);
    // The report that has this number.
    let (wrote, said) = say("3", 3, "45=2|58=bad|");
    assert_eq!(said, ["8 A: bad"]);
    assert_eq!(wrote, ["B 3"]);
    // A number that was never used, and none.
    assert_eq!(say("3", 4, "45=99|58=late|").1, ["nothing: late"]);
    assert_eq!(say("3", 5, "45=0|58=odd|").1, ["nothing: odd"]);
    // A Reject that is a possible duplicate, or comes before missing messages, is not reported twice or too early.
    assert_eq!(
        say("3", 5, "43=Y|122=20260101-00:00:00|45=0|58=odd|").1,
        [""; 0]
    );
    assert_eq!(say("3", 7, "45=3|58=kept|").1, [""; 0]);
    assert_eq!(say("0", 6, "").1, ["B -: kept"]);
    // A message already reported is not looked up again.
    assert_eq!(say("3", 8, "45=2|58=again|").1, ["nothing: again"]);
    // The Reject of an earlier message comes after one of a later message. A BusinessMessageReject is always looked up.
    assert_eq!(say("D", 9, &order.replace("11=A", "11=C")).0, ["8 9"]);
    assert_eq!(say("3", 10, "45=9|58=later|").1, ["8 C: later"]);
    assert_eq!(say("3", 11, "45=8|58=earlier|").1, ["B -: earlier"]);
    let named = "372=8|380=0|";
    for (seq, number, is) in [
        (12, 9, "8 C: so"),
        (13, 2, "8 A: so"),
        (14, 2, "8 A: so"),
        (15, 99, "nothing: so"),
    ] {
        let body = format!("45={number}|{named}58=so|");
        assert_eq!(say("j", seq, &body).1, [is]);
    }
    // One of ours: the order has no Symbol.
    let (wrote, said) = say("D", 16, "11=B|21=1|54=1|60=20261120-10:00:00|38=9|40=1|");
    assert_eq!(said, ["we reject D B"]);
    assert_eq!(
        wrote.last().map(String::as_str),
        Some("3 16 16"),
        "{wrote:?}"
    );
}

/// RefTagID(371) is an int: a Reject with a text there would itself be invalid.
#[test]
fn a_tag_that_is_no_number_is_named_in_the_text_of_the_reject() {
    let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
    let config = wire::config(Durability::Process, vec![wire::acceptor("P0")]);
    let mut engine = wire::start(config, App::default(), 1, &net, &disk);
    let conn = net.connect(0, PORT).unwrap();
    wire::turns(&mut engine);
    wire::write(&net, conn, "P0", "A", 1, "98=0|108=0|");
    for (seq, field) in (2..).zip(["abc=x", "1 2=x", "-=x", "-5=x", "4294967296=x"]) {
        wire::write(&net, conn, "P0", "1", seq, &format!("{field}|112=x|"));
    }
    wire::turns(&mut engine);
    let heard = wire::shown(&wire::read(&net, conn), &["45", "371", "58"]);
    assert_eq!(
        heard,
        [
            "A 1",
            "3 2 2 Invalid tag number (abc)",
            "3 3 3 Invalid tag number (1 2)",
            "3 4 4 Invalid tag number (-)",
            "3 5 5 -5 Invalid tag number",
            "3 6 6 4294967296 Invalid tag number",
        ]
    );
}

#[test]
fn the_event_of_a_garbled_message_says_whether_it_was_rejected() {
    for (rejects, text) in [(false, "ignored"), (true, "rejected")] {
        let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
        let mut session = wire::acceptor("P0");
        session.session.reject_garbled = rejects;
        let config = wire::config(Durability::Process, vec![session]);
        let mut engine = wire::start(config, App::default(), 1, &net, &disk);
        let events = common::events(&mut engine);
        let conn = net.connect(0, PORT).unwrap();
        wire::turns(&mut engine);
        wire::write(&net, conn, "P0", "A", 1, "98=0|108=0|");
        let body = "35=0|34=2|49=P0|52=20260302-08:00:01|56=ENGINE|";
        let mut bytes = common::whole("FIX.4.2", body);
        let sum = bytes.len() - 2;
        bytes[sum] = if bytes[sum] == b'9' {
            b'0'
        } else {
            bytes[sum] + 1
        };
        net.write(conn, &bytes).unwrap();
        wire::turns(&mut engine);
        let heard = wire::shown(&wire::read(&net, conn), &["45"]);
        assert_eq!(heard.len(), 1 + usize::from(rejects), "{heard:?}");
        let events = events.lock().unwrap();
        let wanted = format!("garbled message {text}: CheckSum(10) is");
        let has = events
            .iter()
            .any(|event| event.to_string().starts_with(&wanted));
        assert!(has, "{events:?}");
    }
}
