//! The order of writes when several messages arrive in one read.

use crate::common;

use fixwire::config::{Durability, EngineConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;

use common::app::App;
use common::wire::{self, PORT, SimEngine, calm};

/// A connection to an engine with a small outbox.
struct Talk {
    net: SimNet,
    conn: ConnId,
    engine: SimEngine,
}

impl Talk {
    fn new(durability: Durability) -> Self {
        let net = SimNet::new(1, calm(1 << 20));
        let config = EngineConfig {
            segment_bytes: 64 << 10,
            limits: wire::outbox(4096, 16),
            ..wire::config(durability, vec![wire::acceptor("PEER")])
        };
        let engine = wire::start(config, App::reports(), 1, &net, &SimDisk::new());
        let conn = net.connect(0, PORT).unwrap();
        Self { net, conn, engine }
    }

    /// Writes messages at once, and answers with what comes: MsgType, MsgSeqNum and PossDupFlag.
    fn say(&mut self, messages: &[(&str, u64, &str)]) -> Vec<String> {
        self.write(messages);
        self.hear()
    }

    fn write(&mut self, messages: &[(&str, u64, &str)]) {
        for (kind, seq, body) in messages {
            wire::write(&self.net, self.conn, "PEER", kind, *seq, body);
        }
    }

    fn hear(&mut self) -> Vec<String> {
        wire::turns(&mut self.engine);
        wire::shown(&wire::read(&self.net, self.conn), &["43"])
    }
}

#[test]
fn new_messages_that_a_resend_repeats_go_before_it() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut talk = Talk::new(durability);
        assert_eq!(talk.say(&[("A", 1, "98=0|108=30|")]), ["A 1"]);
        // A report, a request of our own for the gap, and a resend of everything.
        let said = [("D", 2, "11=A|"), ("0", 5, ""), ("2", 6, "7=1|16=0|")];
        let wrote = ["8 2", "2 3", "4 1 Y", "8 2 Y", "4 3 Y"];
        assert_eq!(talk.say(&said), wrote, "{durability:?}");
    }
}

#[test]
fn a_socket_that_takes_nothing_does_not_turn_a_message_and_its_repetition_round() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut talk = Talk::new(durability);
        assert_eq!(talk.say(&[("A", 1, "98=0|108=30|")]), ["A 1"]);
        talk.write(&[("D", 2, "11=A|"), ("2", 3, "7=2|16=0|")]);
        talk.net.set_weather(calm(0));
        assert!(talk.hear().is_empty());
        talk.net.set_weather(calm(1 << 20));
        assert_eq!(talk.hear(), ["8 2", "8 2 Y"], "{durability:?}");
    }
}

#[test]
fn a_reset_while_the_socket_takes_nothing_is_still_answered() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut talk = Talk::new(durability);
        assert_eq!(talk.say(&[("A", 1, "98=0|108=30|")]), ["A 1"]);
        let reset = ("A", 1, "98=0|108=30|141=Y|");
        talk.write(&[("D", 2, "11=A|"), ("D", 3, "11=B|"), reset]);
        talk.net.set_weather(calm(0));
        assert!(talk.hear().is_empty());
        talk.net.set_weather(calm(1 << 20));
        assert_eq!(talk.hear(), ["A 1"], "{durability:?}");
        assert_eq!(talk.say(&[("D", 2, "11=A|")]), ["8 2"]);
    }
}

#[test]
fn an_answer_to_a_held_message_always_has_room() {
    let mut talk = Talk::new(Durability::Process);
    assert_eq!(talk.say(&[("A", 1, "98=0|108=30|")]), ["A 1"]);
    let held: Vec<_> = (3..100).map(|seq| ("D", seq, "11=A|")).collect();
    assert_eq!(talk.say(&held), ["2 2"]);
    let reports = talk.say(&[("D", 2, "43=Y|122=20260302-08:00:01|11=A|")]);
    assert_eq!(reports.len(), 98);
}

#[test]
fn what_the_application_keeps_back_becomes_a_gap_fill() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut talk = Talk::new(durability);
        assert_eq!(talk.say(&[("A", 1, "98=0|108=30|")]), ["A 1"]);
        let orders = [
            ("D", 2, "11=A|"),
            ("D", 3, "11=KEEP|"),
            ("D", 4, "11=KEEP|"),
            ("D", 5, "11=B|"),
        ];
        assert_eq!(talk.say(&orders), ["8 2", "8 3", "8 4", "8 5"]);
        let again = talk.say(&[("2", 6, "7=1|16=0|")]);
        assert_eq!(
            again,
            ["4 1 Y", "8 2 Y", "4 3 Y", "8 5 Y"],
            "{durability:?}"
        );
    }
}
