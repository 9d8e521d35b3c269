//! Price inquiries over FIX: each reaches the venue once and is answered once, also when the process dies.

use fixwire_engine::Durability;
use fixwire_engine::protocol::session::BeginString;
use fixwire_engine::protocol::{Ledger, Nanos};
use fixwire_harness::Turn;

use crate::floor::{Floor, VENUE};
use crate::proof::Proof;

const SECOND: u64 = 1_000_000_000;
/// What tells the answers apart.
const TOLD: [u32; 7] = [35, 131, 297, 300, 658, 55, 58];

/// Inquiries that the venue takes, refuses, and answers with a quote, beside an order.
fn play(
    durability: Durability,
    (client, venue): (BeginString, BeginString),
    operations: Option<u64>,
) -> Floor {
    let mut floor = Floor::new(durability, client, venue);
    floor.venue.quotes_inquiries = vec![4];
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.send("R", "131=Q1|146=1|55=XYZ|");
    floor.send("R", "131=Q2|146=1|55=XYZ|54=1|38=20|");
    floor.order("A1", 1, 100);
    floor.send("R", "131=Q3|146=1|55=XYZ|");
    floor.send("R", "131=Q3|146=1|55=XYZ|");
    floor.send("R", "131=Q4|146=1|55=NONE|");
    floor.send("R", "131=Q5|146=2|55=XYZ|55=FUT|");
    floor
}

fn answers(floor: &mut Floor) -> Vec<String> {
    let mut told = floor.told(&TOLD);
    told.retain(|it| !it.starts_with("8 "));
    told
}

const BOTH: (BeginString, BeginString) = (BeginString::Fix44, BeginString::Fix44);

fn every_point(durability: Durability) {
    let mut proof = Proof::new(&format!("crash-inquiries-{durability:?}"));
    let whole = answers(&mut play(durability, BOTH, None));
    for operations in 0.. {
        let mut floor = play(durability, BOTH, Some(operations));
        floor.agrees();
        assert_eq!(answers(&mut floor), whole, "operation {operations}");
        assert_eq!(floor.state().open_inquiries(), 0);
        let before = floor.state().hash();
        floor.world.kill();
        assert_eq!(floor.world.start(), Turn::Alive);
        let after = floor.state().hash();
        assert_eq!(after, before, "operation {operations}: the notes");
        floor.settle();
        assert_eq!(answers(&mut floor), whole, "operation {operations}");
        let mut recorder = proof.recorder(&operations.to_string());
        floor.record(&mut recorder);
        proof.add(recorder);
        if floor.crashes == 0 {
            assert!(operations > 30, "{operations}");
            return proof.check(true);
        }
    }
}

#[test]
fn an_inquiry_is_sent_and_answered_once_when_the_process_is_killed() {
    every_point(Durability::Process);
}

#[test]
fn an_inquiry_is_sent_and_answered_once_when_the_power_is_cut() {
    every_point(Durability::Disk);
}

#[test]
fn the_venue_gets_inquiries_and_the_client_its_answers() {
    let mut floor = play(Durability::Process, BOTH, None);
    let received = floor.received(VENUE, &[35, 131, 146, 55, 54, 38]);
    assert_eq!(
        received,
        [
            "R 1 1 XYZ - -",
            "R 2 1 XYZ 1 20",
            "D - - XYZ 1 100",
            "R 4 1 XYZ - -",
        ]
    );
    assert_eq!(
        answers(&mut floor),
        [
            "AI Q1 0 - - XYZ -",
            "AG Q2 - - 9 XYZ no market makers",
            "AI Q3 0 - - XYZ -",
            "AG Q3 - - 99 XYZ RC4: duplicate ClOrdID, QuoteID or QuoteReqID",
            "AG Q4 - - 1 NONE RC2: unknown symbol",
            "AG Q5 - - 99 XYZ a QuoteRequest(R) names one symbol: send one for each",
        ]
    );
}

#[test]
fn fix_42_has_one_message_for_both_answers() {
    let versions = (BeginString::Fix42, BeginString::Fix44);
    let mut floor = play(Durability::Process, versions, None);
    assert_eq!(
        answers(&mut floor),
        [
            "b Q1 0 - - - -",
            "b Q2 5 - - - no market makers",
            "b Q3 0 - - - -",
            "b Q3 5 - - - RC4: duplicate ClOrdID, QuoteID or QuoteReqID",
            "b Q4 5 1 - - RC2: unknown symbol",
            "b Q5 5 - - - a QuoteRequest(R) names one symbol: send one for each",
        ]
    );
}

#[test]
fn a_venue_that_does_not_answer_or_rejects_the_message_refuses() {
    let mut floor = Floor::new(Durability::Process, BOTH.0, BOTH.1);
    floor.venue.drops_inquiries = vec![1, 2];
    floor.send("R", "131=Q1|146=1|55=XYZ|");
    floor.send("R", "131=Q2|146=1|55=XYZ|");
    assert_eq!(answers(&mut floor), [""; 0]);
    floor
        .world
        .send(VENUE, "j", "372=R|379=2|380=4|58=not now|");
    floor.settle();
    assert_eq!(answers(&mut floor), ["AG Q2 - - 99 XYZ not now"]);
    // The line breaks: the session layer resends nothing that the venue has.
    floor.world.disconnect(VENUE);
    floor.settle();
    floor.world.pass(Nanos(31 * SECOND));
    floor.settle();
    let lost = "the venue has not answered the price inquiry: send a new one";
    assert_eq!(
        answers(&mut floor)[1..],
        [format!("AG Q1 - - 99 XYZ {lost}")]
    );
    // Too late.
    floor.world.send(VENUE, "AI", "131=1|117=V|55=XYZ|297=0|");
    floor.settle();
    assert_eq!(answers(&mut floor).len(), 2);
    floor.agrees();
}
