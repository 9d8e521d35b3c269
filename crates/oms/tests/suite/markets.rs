//! States of markets over FIX: the venue is asked at each logon, and clients that ask get changes.

use crate::floor::{Floor, VENUE};

fn answers(floor: &mut Floor) -> Vec<String> {
    let mut told = floor.told(&[35, 324, 335, 55, 326, 336, 340]);
    told.retain(|it| it.starts_with(['f', 'h']));
    told
}

const QUESTION: &str = "g 1 1 1";

fn asked(floor: &mut Floor) -> Vec<String> {
    let mut received = floor.received(VENUE, &[35, 335, 336, 263]);
    received.retain(|it| it.starts_with('g'));
    received
}

#[test]
fn a_venue_is_asked_again_when_a_reload_adds_symbols() {
    let mut floor = Floor::with("name = \"SIM\"", "name = \"SIM\"\nmarket_status = true");
    floor.settle();
    floor.edit(|files| files.instruments += "NEW,1,1,7,,\n");
    floor.reload().unwrap();
    floor.settle();
    assert_eq!(asked(&mut floor), [QUESTION, QUESTION]);
    floor.edit(|files| files.limits = files.limits.replace("firm,RC6,1000", "firm,RC6,900"));
    floor.reload().unwrap();
    floor.settle();
    assert_eq!(asked(&mut floor).len(), 2, "limits are no reason to ask");
    floor.world.send(VENUE, "h", "335=1|336=1|340=3|");
    floor.settle();
    floor.send(
        "D",
        "11=A1|55=NEW|54=1|38=20|40=2|44=7|60=20261122-08:00:00|",
    );
    let rejected = floor.told(&[35, 39, 58]);
    assert!(rejected.iter().any(|it| it.starts_with("8 8 RC18")));
}

#[test]
fn a_venue_is_asked_at_each_logon_and_clients_hear_of_its_states() {
    let mut floor = Floor::with("name = \"SIM\"", "name = \"SIM\"\nmarket_status = true");
    floor.settle();
    assert_eq!(asked(&mut floor), [QUESTION]);
    floor.send("e", "324=S1|55=XYZ|263=1|");
    floor.send("g", "335=T1|336=DAY|263=1|");
    floor.world.send(VENUE, "h", "335=1|336=1|340=3|");
    floor.settle();
    floor.order("A1", 1, 100);
    floor.world.send(VENUE, "f", "324=X|55=FUT|326=17|");
    floor.settle();
    assert_eq!(
        answers(&mut floor),
        [
            "f S1 - XYZ 17 - -",
            "h - T1 - - DAY 2",
            "f S1 - XYZ 18 - -",
            "h - T1 - - DAY 3",
            "h - T1 - - DAY 2",
        ]
    );
    let rejected = floor.told(&[35, 39, 58]);
    assert!(rejected.iter().any(|it| it.starts_with("8 8 RC18")));
    floor.world.disconnect(VENUE);
    floor.settle();
    assert_eq!(asked(&mut floor), [QUESTION, QUESTION]);
}

#[test]
fn a_venue_is_not_asked_without_the_setting() {
    let mut floor = Floor::with("name = \"SIM\"", "name = \"SIM\"\nmarket_status = false");
    floor.settle();
    assert_eq!(floor.received(VENUE, &[35]), [""; 0]);
}
