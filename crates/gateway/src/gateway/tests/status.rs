//! Responses to requests for the status of sessions.

use super::rejects::assert_valid;
use super::*;

const RULE: &str = "[[rule]]\nfrom = ['ASKER']\nwhen = 'MsgType = BC'\ndo = ['answer status']\n";

fn rig(version: Version) -> Rig {
    let sessions = [
        ("ASKER", version),
        ("DESK#1", Version::Fix42),
        ("DESK#2", Version::Fix44),
        ("AWAY", Version::Fix40),
        ("SHUT", Version::Fix44),
    ];
    let mut rig = Rig::of(RULE, &sessions);
    rig.log_on("ASKER");
    rig.log_on("DESK#2");
    rig.set_hours("SHUT", false);
    rig
}

/// The response without its number, and the number.
fn answer(rig: &mut Rig, question: &str) -> (String, i64) {
    let mut written = rig.hears("ASKER", question);
    assert_eq!((written.len(), rig.refusal), (1, Ok(())), "{question}");
    let text = written.remove(0);
    let (before, rest) = text.split_once("|932=").unwrap();
    let (number, rest) = rest.split_once('|').unwrap();
    (format!("{before}|{rest}"), number.parse().unwrap())
}

#[test]
fn every_answer_is_valid_in_its_version() {
    for version in [
        Version::Fix44,
        Version::Fix50,
        Version::Fix50Sp1,
        Version::Fix50Sp2,
    ] {
        for question in [
            "35=BC|935=1|933=Q|",
            "35=BC|115=BROKER|935=1|933=Q|936=2|930=DESK|931=x|930=NOBODY|",
        ] {
            let mut rig = rig(version);
            let written = rig.hears("ASKER", question);
            assert_eq!(written.len(), 1, "{} {:?}", version.name(), rig.said());
            assert_valid(version, &written[0]);
            assert_eq!(
                written[0].contains("|128=BROKER|"),
                question.contains("115=")
            );
        }
    }
}

#[test]
fn all_sessions_are_told_or_those_that_are_asked_for() {
    let mut rig = rig(Version::Fix44);
    let (text, first) = answer(&mut rig, "35=BC|935=1|933=Q|");
    assert_eq!(
        text,
        "ASKER: 35=BD|937=1|933=Q|936=4|930=ASKER|928=1|930=AWAY|928=2|930=DESK|928=1|930=SHUT|928=3|"
    );
    rig.lose("DESK#2");
    let asked = "35=BC|935=1|933=R|936=4|930=DESK|931=SUB|930=DES|930=SHUT|930=DESK|";
    let (text, second) = answer(&mut rig, asked);
    let desk = "930=DESK|928=2|";
    assert_eq!(
        text,
        format!(
            "ASKER: 35=BD|937=1|933=R|936=4|{desk}930=DES|928=3|929=unknown CompID|930=SHUT|928=3|{desk}"
        )
    );
    assert!(second > first);
    assert_eq!(rig.said(), Vec::<String>::new());
    // The response does not count as a reject, and no message was forwarded.
    let counters = rig.gateway.counters();
    assert_eq!(
        (counters.rejected, counters.sent, counters.unmatched),
        (0, 0, 0)
    );
}

#[test]
fn an_answer_without_room_is_the_sessions_to_give() {
    let mut rig = rig(Version::Fix44);
    rig.outbox = Outbox::new(64, 4, 16);
    assert_eq!(
        rig.hears("ASKER", "35=BC|935=1|933=Q|"),
        Vec::<String>::new()
    );
    assert_eq!(rig.refusal, Err(Refusal::NotAvailable));
}
