//! The process crashes after each operation in turn.

use fixwire_engine::Durability;
use fixwire_engine::protocol::session::BeginString;

use fixwire_engine::protocol::{Ledger, Nanos};
use fixwire_harness::Turn;

use crate::floor::Floor;
use crate::proof::Proof;

/// Orders, a replace, a cancel, a refused order; the process dies after so many operations of disk and network.
fn play(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 100);
    floor.order("A2", 2, 50);
    floor.send(
        "G",
        "11=A3|41=A1|55=XYZ|54=1|38=120|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.send("F", "11=A4|41=A2|55=XYZ|54=2|38=50|60=20261122-08:00:00|");
    // More than may be bought at once.
    floor.order("A5", 1, 2000);
    floor.order("A6", 1, 10);
    floor
}

/// Orders that a busy venue rejects, once, twice and too often, with numbers of a pool; a replace and a cancel of
/// what was sent again.
fn play_busy(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::with_a_busy_venue(durability);
    floor.venue.busy = [(1, 1), (3, 2), (9, 3)].into();
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 100);
    floor.order("A2", 2, 50);
    floor.send(
        "G",
        "11=A3|41=A1|55=XYZ|54=1|38=120|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.order("A4", 1, 60);
    floor.send("F", "11=A5|41=A3|55=XYZ|54=1|38=120|60=20261122-08:00:00|");
    floor.order("A6", 1, 60);
    floor
}

/// Orders that are held until prices meet their conditions, one of which is replaced while it is held.
fn play_held(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::with_conditions(durability);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 100);
    floor.send(
        "D",
        "11=A2|55=XYZ|54=1|38=50|40=2|44=101|9703=last>=100.5|60=20261122-08:00:00|",
    );
    floor.send(
        "D",
        "11=A3|55=XYZ|54=1|38=20|40=J|99=99|60=20261122-08:00:00|",
    );
    floor.price("100.25");
    floor.send(
        "G",
        "11=A4|41=A2|55=XYZ|54=1|38=60|40=2|44=101|60=20261122-08:00:00|",
    );
    floor.price("100.5");
    floor.price("101");
    floor.price("99");
    floor.price("100.5");
    floor
}

/// Parents with children that are filled, replaced and cancelled, and that are replaced and cancelled themselves.
fn play_family(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::with_parents(durability);
    floor.families = [(1, vec![2, 3]), (8, vec![9])].into();
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    let of = |id: &str, quantity: u64, more: &str| {
        format!("11={id}|55=XYZ|54=1|38={quantity}|40=2|44=100|60=20261122-08:00:00|{more}")
    };
    floor.send("D", &of("P1", 300, "21=3|"));
    floor.send("D", &of("A1", 100, "9705=1|"));
    floor.send("D", &of("A2", 20, "1080=1|1081=1|"));
    floor.send("G", &of("P2", 200, "41=P1|"));
    floor.send("G", &of("A3", 120, "41=A1|"));
    floor.send("F", "11=P3|41=P2|55=XYZ|54=1|38=200|60=20261122-08:00:00|");
    floor.send("D", &of("P4", 30, "21=3|"));
    floor.send("D", &of("A4", 30, "9705=8|"));
    floor
}

/// Quotes: one, another that replaces it, a cancel of one side, a cancel of what is left. The venue fills some of each.
fn play_quotes(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    let quote = |id: &str, bid: &str, offer: &str| {
        format!("117={id}|1=A1|55=XYZ|132={bid}|133={offer}|134=100|135=60|60=20261122-08:00:00|")
    };
    for (msg_type, body) in [
        ("S", quote("Q1", "99.95", "100.05")),
        ("S", quote("Q2", "99.90", "100.1")),
        (
            "F",
            "11=A1|41=Q2/O|55=XYZ|54=2|38=60|60=20261122-08:00:00|".to_owned(),
        ),
        // Crossed.
        ("S", quote("Q3", "100.1", "99.90")),
        ("Z", "117=Q2|298=1|295=1|55=XYZ|".to_owned()),
    ] {
        floor.send(msg_type, &body);
        // A cancel that the venue has missed is sent again later.
        floor.world.pass(Nanos(6_000_000_000));
        floor.settle();
    }
    floor
}

/// An order that a control rejects, and an operator runs again.
fn play_rerun(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 100);
    floor.order("A2", 1, 2000);
    floor.command("rerun order=CLIENT/A2 without=RC6");
    floor.order("A3", 1, 10);
    floor
}

/// Positions that an operator sets and loads between orders: the changes of a file count once.
fn play_positions(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 100);
    floor.command("position set account=A1 symbol=FUT long=70 short=20");
    floor.command("load deltas file=d.csv;A1 XYZ 40 0;A1 FUT 0 5");
    floor.order("A2", 1, 20);
    floor.command("load totals file=t.csv;A1 FUT 10 3;A1 NEAR 0 6");
    floor.command("load deltas file=e.csv;A1 XYZ 40 0;A1 FUT 0 5");
    floor.order("A3", 2, 10);
    floor.moved = 40 + 40 + (10 - 8) - 6;
    floor
}

/// Orders of a spread that are filled in part with their legs, replaced and cancelled.
fn play_spreads(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    let of = |id: &str, side: u8, quantity: u64, more: &str| {
        format!("11={id}|55=SPREAD|54={side}|38={quantity}|40=2|44=100|60=20261122-08:00:00|{more}")
    };
    floor.send("D", &of("A1", 1, 100, ""));
    floor.send("D", &of("A2", 2, 50, ""));
    floor.send("G", &of("A3", 1, 120, "41=A1|"));
    floor.order("A4", 1, 10);
    floor.send(
        "F",
        "11=A5|41=A2|55=SPREAD|54=2|38=50|60=20261122-08:00:00|",
    );
    floor.send("D", &of("A6", 1, 20, ""));
    floor
}

/// Fields that the client receives: a pool number too, if the order has one.
const TOLD: [u32; 5] = [11, 39, 14, 151, 198];

type Play = fn(Durability, Option<u64>) -> Floor;

fn every_point(durability: Durability, (name, play): (&str, Play)) {
    let mut proof = Proof::new(&format!("crash-{name}-{durability:?}"));
    let whole = {
        let mut floor = play(durability, None);
        floor.agrees();
        let mut told = floor.told(&TOLD);
        told.dedup();
        told
    };
    for operations in 0.. {
        let mut floor = play(durability, Some(operations));
        floor.agrees();
        let mut told = floor.told(&TOLD);
        // A new order that was in doubt is reported as the venue answers, nothing is reported twice.
        told.dedup();
        assert_eq!(told, whole, "operation {operations}");
        // Once more, in the end: the notes make the very same state.
        let mut recorder = proof.recorder(&operations.to_string());
        floor.record(&mut recorder);
        let before = floor.state().hash();
        floor.world.kill();
        assert_eq!(floor.world.start(), Turn::Alive);
        let after = floor.state().hash();
        assert_eq!(after, before, "operation {operations}: the notes");
        floor.settle();
        floor.agrees();
        floor.record(&mut recorder);
        proof.add(recorder);
        if floor.crashes == 0 {
            assert!(operations > 40, "{operations}");
            return proof.check(true);
        }
    }
}

/// As [`every_point`], but the sides of a quote may be reported in any order.
fn every_point_of_quotes(durability: Durability) {
    let mut proof = Proof::new(&format!("crash-quotes-{durability:?}"));
    let told = |floor: &mut Floor| {
        floor.agrees();
        let mut told = floor.told(&[35, 11, 39, 14, 151, 117, 297]);
        // Whether both sides were answered before one was filled depends on the crash.
        told.retain(|it| !it.starts_with("AI") || it.ends_with(" 5") || it.ends_with(" 1"));
        told.sort();
        told.dedup();
        told
    };
    let whole = told(&mut play_quotes(durability, None));
    for operations in 0.. {
        let mut floor = play_quotes(durability, Some(operations));
        assert_eq!(told(&mut floor), whole, "operation {operations}");
        let open = floor.state().orders().iter();
        assert_eq!(open.filter(|order| order.state.is_open()).count(), 0);
        let mut recorder = proof.recorder(&operations.to_string());
        floor.record(&mut recorder);
        let before = floor.state().hash();
        floor.world.kill();
        assert_eq!(floor.world.start(), Turn::Alive);
        assert_eq!(
            floor.state().hash(),
            before,
            "operation {operations}: the notes"
        );
        floor.settle();
        floor.agrees();
        floor.record(&mut recorder);
        proof.add(recorder);
        if floor.crashes == 0 {
            assert!(operations > 40, "{operations}");
            return proof.check(true);
        }
    }
}

#[test]
fn both_sides_of_a_quote_are_sent_once_when_the_process_is_killed() {
    every_point_of_quotes(Durability::Process);
}

#[test]
fn both_sides_of_a_quote_are_sent_once_when_the_power_is_cut() {
    every_point_of_quotes(Durability::Disk);
}

#[test]
fn the_venue_gets_both_sides_and_the_client_hears_of_each() {
    let mut floor = play_quotes(Durability::Process, None);
    let received = floor.received(crate::floor::VENUE, &[35, 11, 41, 54, 38, 44]);
    let orders = received
        .iter()
        .filter(|it| !it.starts_with(['A', '0', '1']));
    let orders: Vec<&String> = orders.collect();
    assert_eq!(
        orders,
        [
            "D 1 - 1 100 99.95",
            "D 2 - 2 60 100.05",
            "F 1-5 1 1 100 -",
            "F 2-6 2 2 60 -",
            "D 3 - 1 100 99.9",
            "D 4 - 2 60 100.1",
            "F 4-7 4 2 60 -",
            "F 3-8 3 1 100 -",
        ]
    );
    assert_eq!(
        floor.told(&[35, 117, 297, 11, 39, 14]),
        [
            "AI Q1 10 - - -",
            "8 - - Q1/B 0 0",
            "8 - - Q1/B 1 30",
            "8 - - Q1/O 0 0",
            "AI Q1 0 - - -",
            "8 - - Q1/O 1 30",
            "AI Q2 10 - - -",
            "8 - - Q1/B 4 30",
            "8 - - Q1/O 4 30",
            "AI Q1 6 - - -",
            "8 - - Q2/B 0 0",
            "8 - - Q2/B 1 30",
            "8 - - Q2/O 0 0",
            "AI Q2 0 - - -",
            "8 - - Q2/O 1 30",
            "8 - - A1 4 30",
            "AI Q3 5 - - -",
            "AI Q2 1 - - -",
            "8 - - Q2/B 4 30",
            "AI Q2 6 - - -",
        ]
    );
}

#[test]
fn nothing_is_sent_twice_or_forgotten_when_the_process_is_killed() {
    every_point(Durability::Process, ("orders", play));
}

#[test]
fn nothing_is_sent_twice_or_forgotten_when_the_power_is_cut() {
    every_point(Durability::Disk, ("orders", play));
}

#[test]
fn a_rejected_order_is_sent_again_once_when_the_process_is_killed() {
    every_point(Durability::Process, ("busy", play_busy));
}

#[test]
fn a_rejected_order_is_sent_again_once_when_the_power_is_cut() {
    every_point(Durability::Disk, ("busy", play_busy));
}

#[test]
fn a_held_order_is_triggered_once_when_the_process_is_killed() {
    every_point(Durability::Process, ("held", play_held));
}

#[test]
fn a_held_order_is_triggered_once_when_the_power_is_cut() {
    every_point(Durability::Disk, ("held", play_held));
}

#[test]
fn a_family_stays_one_when_the_process_is_killed() {
    every_point(Durability::Process, ("family", play_family));
}

#[test]
fn a_family_stays_one_when_the_power_is_cut() {
    every_point(Durability::Disk, ("family", play_family));
}

#[test]
fn the_client_gets_reports_of_parent_and_child() {
    let mut floor = play_family(Durability::Process, None);
    let received = floor.received(crate::floor::VENUE, &[35, 11, 38]);
    assert_eq!(
        received,
        ["D 2 100", "D 3 20", "G 2-5 120", "F 2-7 120", "D 9 30"],
        "no parent is sent"
    );
    assert_eq!(
        floor.told(&[37, 11, 150, 39, 14, 151]),
        [
            "1 P1 0 0 0 300",
            "2 A1 0 0 0 100",
            "2 A1 F 1 30 70",
            "1 P1 F 1 30 270",
            "3 A2 0 0 0 20",
            "3 A2 F 2 20 0",
            "1 P1 F 1 50 250",
            "1 P2 5 1 50 150",
            "2 A3 5 1 30 90",
            "2 A3 4 4 30 0",
            "1 P3 4 4 50 0",
            "8 P4 0 0 0 30",
            "9 A4 0 0 0 30",
            "9 A4 F 2 30 0",
            "8 P4 F 2 30 0",
        ]
    );
    let copied = floor.received(crate::floor::COPY, &[37]);
    assert!(copied.iter().all(|order| order != "1" && order != "8"));
}

#[test]
fn a_leg_counts_once_when_the_process_is_killed() {
    every_point(Durability::Process, ("spreads", play_spreads));
}

#[test]
fn a_leg_counts_once_when_the_power_is_cut() {
    every_point(Durability::Disk, ("spreads", play_spreads));
}

#[test]
fn the_client_gets_the_legs_of_each_fill() {
    let mut floor = play_spreads(Durability::Process, None);
    assert_eq!(
        floor.told(&[11, 442, 150, 39, 55, 54, 32, 14, 151]),
        [
            "A1 3 0 0 SPREAD 1 - 0 100",
            "A1 3 F 1 SPREAD 1 30 30 70",
            "A1 2 F 1 XYZ 1 90 90 210",
            "A1 2 F 1 NEAR 2 30 30 70",
            "A2 3 0 0 SPREAD 2 - 0 50",
            "A2 3 F 1 SPREAD 2 30 30 20",
            "A2 2 F 1 XYZ 2 90 90 60",
            "A2 2 F 1 NEAR 1 30 30 20",
            "A3 3 5 1 SPREAD 1 - 30 90",
            "A4 - 0 0 XYZ 1 - 0 10",
            "A4 - F 2 XYZ 1 10 10 0",
            "A5 3 4 4 SPREAD 2 - 30 0",
            "A6 3 0 0 SPREAD 1 - 0 20",
            "A6 3 F 2 SPREAD 1 20 20 0",
            "A6 2 F 2 XYZ 1 60 60 0",
            "A6 2 F 2 NEAR 2 20 20 0",
        ]
    );
}

#[test]
fn an_order_is_run_again_once_when_the_process_is_killed() {
    every_point(Durability::Process, ("rerun", play_rerun));
}

#[test]
fn an_order_is_run_again_once_when_the_power_is_cut() {
    every_point(Durability::Disk, ("rerun", play_rerun));
}

#[test]
fn positions_are_set_once_when_the_process_is_killed() {
    every_point(Durability::Process, ("positions", play_positions));
}

#[test]
fn positions_are_set_once_when_the_power_is_cut() {
    every_point(Durability::Disk, ("positions", play_positions));
}

/// A fill that an operator corrects, and then busts; its order has ended.
fn play_undo(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 10);
    floor.command("correct fill=1/E2 quantity=5 price=99.95");
    floor.command("bust fill=1/E2");
    floor
}

#[test]
fn a_fill_is_corrected_and_busted_once_when_the_process_is_killed() {
    for operations in 0.. {
        let mut floor = play_undo(Durability::Process, Some(operations));
        let fields = [150, 39, 14, 151, 32, 31];
        for session in [crate::floor::CLIENT, crate::floor::COPY] {
            let mut told = floor.received(session, &fields);
            told.retain(|it| it.starts_with('G') || it.starts_with('H'));
            let wanted = ["G 4 5 0 5 99.95", "H 4 0 0 - -"];
            assert_eq!(told, wanted, "operation {operations}");
        }
        let state = floor.state();
        assert_eq!(state.violations(), 0);
        assert!(state.positions().all(|(.., it)| it.net() == 0));
        let before = state.hash();
        floor.world.kill();
        assert_eq!(floor.world.start(), Turn::Alive);
        let after = floor.state().hash();
        assert_eq!(after, before, "operation {operations}: the notes");
        if floor.crashes == 0 {
            assert!(operations > 20, "{operations}");
            return;
        }
    }
}

#[test]
fn a_client_learns_of_an_order_that_is_run_again_for_it() {
    let mut floor = play_rerun(Durability::Process, None);
    let text = "placed by an operator for A2, which was rejected; off: RC6";
    assert_eq!(
        floor.told(&[11, 37, 150, 39, 58])[2..6],
        [
            "A2 NONE 8 8 RC6: order quantity exceeds the limit (2000, at most 1000 for firm)",
            &format!("RERUN-2 2 A A {text}"),
            "RERUN-2 2 0 0 -",
            "RERUN-2 2 F 1 -",
        ]
    );
    let copied = floor.received(crate::floor::COPY, &[11, 150, 58]);
    assert!(copied.contains(&format!("RERUN-2 A {text}")), "{copied:?}");
}

#[test]
fn the_venue_gets_a_triggered_order_as_what_it_became() {
    let mut floor = play_held(Durability::Process, None);
    let received = floor.received(crate::floor::VENUE, &[35, 11, 38, 40, 44, 99]);
    let orders: Vec<&String> = received.iter().filter(|it| it.starts_with("D ")).collect();
    assert_eq!(
        orders,
        ["D 1 100 2 100 -", "D 2 60 2 101 -", "D 3 20 1 - -"],
        "when each is triggered"
    );
    assert_eq!(
        floor.told(&[11, 150, 39, 40, 58]),
        [
            "A1 0 0 2 -",
            "A1 F 1 2 -",
            "A2 A A 2 held: waiting for its condition",
            "A3 A A J held: waiting for its condition",
            "A4 5 A 2 -",
            "A4 A A 2 triggered: its condition is met",
            "A4 0 0 2 -",
            "A4 F 1 2 -",
            "A3 A A J triggered: its condition is met",
            "A3 0 0 J -",
            "A3 F 2 J -",
        ]
    );
}

#[test]
fn a_busy_venue_gets_an_order_again_and_with_another_number() {
    let mut floor = play_busy(Durability::Process, None);
    let sent: Vec<String> = floor
        .world
        .peer(crate::floor::VENUE)
        .received()
        .map(|it| {
            let fields = [11, 41, 526].map(|tag| it.get(tag).unwrap_or("-"));
            format!("{} {}", it.msg_type, fields.join(" "))
        })
        .collect();
    assert_eq!(
        sent,
        [
            "D 1 - T000",
            "D 1-2 - T001",
            "D 3 - T002",
            "D 3-4 - T003",
            "D 3-5 - T004",
            "G 1-6 1-2 T001",
            "D 7 - T005",
            "F 1-8 1-6 T001",
            "D 9 - T006",
            "D 9-10 - T007",
            "D 9-11 - T008",
        ]
    );
    assert_eq!(
        floor.told(&[11, 39, 58, 198]),
        [
            "A1 0 - T001",
            "A1 1 - T001",
            "A2 0 - T004",
            "A2 1 - T004",
            "A3 1 - T001",
            "A4 0 - T005",
            "A4 1 - T005",
            "A5 4 - T001",
            "A6 8 the venue is busy T008",
        ]
    );
}

#[test]
fn a_report_of_a_former_attempt_changes_nothing() {
    let mut floor = play_busy(Durability::Process, None);
    let told = floor.told(&[11, 39]);
    let late = "37=V9|11=3|17=LATE|150=F|39=1|55=XYZ|54=2|38=50|32=1|31=100|6=100|";
    floor.world.send(crate::floor::VENUE, "8", late);
    floor.settle();
    assert_eq!(
        floor.told(&[11, 39]),
        told,
        "order 3 goes on as attempt 3-5"
    );
}

#[test]
fn an_order_that_the_venue_never_saw_is_rejected_when_it_says_so() {
    let mut floor = Floor::new(Durability::Process, BeginString::Fix44, BeginString::Fix44);
    floor.venue.drops = vec![1];
    floor.order("A1", 1, 100);
    assert_eq!(floor.told(&[39]), [""; 0]);
    floor.world.disconnect(crate::floor::VENUE);
    floor.settle();
    assert_eq!(floor.told(&[39, 58]), ["8 unknown order"]);
}
