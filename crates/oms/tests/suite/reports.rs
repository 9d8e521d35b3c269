//! Reports to clients, by FIX version.

use fixwire_engine::Durability;
use fixwire_engine::protocol::dictionary::Version;
use fixwire_engine::protocol::session::BeginString;

use crate::desk::{Desk, Input, Setup};
use crate::floor::{CLIENT, Floor};
use crate::twin::floors;

const MOST: [u32; 12] = [35, 11, 41, 150, 39, 32, 31, 151, 14, 6, 103, 102];

fn floor(client: BeginString) -> Floor {
    Floor::new(Durability::Process, client, BeginString::Fix44)
}

#[test]
fn an_order_of_fix_4_4_from_new_to_cancelled() {
    let mut floor = floor(BeginString::Fix44);
    floor.order("A1", 1, 100);
    floor.send(
        "G",
        "11=A2|41=A1|55=XYZ|54=1|38=120|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.send("H", "11=A2|55=XYZ|54=1|");
    floor.send("F", "11=A3|41=A2|55=XYZ|54=1|38=120|60=20261122-08:00:00|");
    assert_eq!(
        floor.told(&MOST),
        [
            "8 A1 - 0 0 - - 100 0 0 - -",
            "8 A1 - F 1 30 100 70 30 100 - -",
            "8 A2 A1 5 1 - - 90 30 100 - -",
            "8 A2 - I 1 - - 90 30 100 - -",
            "8 A3 A2 4 4 - - 0 30 100 - -",
        ]
    );
    floor.agrees();
}

#[test]
fn orders_until_a_date_and_their_position_effect_reach_the_venue() {
    let mut floor = floor(BeginString::Fix44);
    let order = "55=FUT|54=1|38=30|40=2|44=100|60=20261122-08:00:00|";
    floor.send("D", &format!("11=A1|{order}59=6|432=20991231|77=O|"));
    floor.send("D", &format!("11=A2|{order}59=6|432=20200101|77=C|"));
    floor.send("D", &format!("11=A3|{order}77=R|"));
    let other = order.replace("FUT", "XYZ");
    floor.send("D", &format!("11=A4|{other}77=O|"));
    let told = floor.told(&[11, 150, 59, 432, 77, 58]);
    assert_eq!(
        told,
        [
            "A1 0 6 20991231 O -",
            "A1 F 6 20991231 O -",
            "A2 8 - - - ExpireDate(432) is in the past",
            "A3 8 - - - PositionEffect(77) must be O or C for this symbol",
            "A4 8 - - - PositionEffect(77) is not used for this symbol",
        ]
    );
    let copies = floor.received(crate::floor::COPY, &[11, 150, 797, 1]);
    assert_eq!(copies, ["A1 0 Y A1", "A1 F Y A1"]);
    let sent: Vec<String> = floor
        .world
        .peer(crate::floor::VENUE)
        .received()
        .map(|it| {
            let fields = [59, 432, 77].map(|tag| it.get(tag).unwrap_or("-"));
            fields.join(" ")
        })
        .collect();
    assert_eq!(sent, ["6 20991231 O"]);
    floor.agrees();
}

/// A client, a line of FIX 4.4, and a drop copy of FIX 4.2.
const EFFECTS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new"]
account = "A1"
[[line_group]]
name = "V"
lines = ["V"]
[[route]]
symbols = ["*"]
to = "V"
[[drop_copy]]
session = "K"
"#;

#[test]
fn position_effects_are_in_reports_of_versions_that_have_them() {
    let limits = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,90\nfirm,RC13,100\n\
                  firm,RC14,1000000000\nfirm,RC15,5000\n";
    for (version, wanted) in [
        (Version::Fix41, None),
        (Version::Fix42, Some("O")),
        (Version::Fix43, Some("O")),
        (Version::Fix50Sp2, Some("O")),
    ] {
        let mut desk = Desk::new(&Setup {
            settings: EFFECTS.to_owned(),
            files: vec![
                (
                    "instruments.csv",
                    "symbol,tick,positions,reference\nFUT,1,effect,100\n".to_owned(),
                ),
                ("limits.csv", limits.to_owned()),
            ],
            sessions: vec![("C", version), ("V", Version::Fix44), ("K", Version::Fix42)],
        });
        for session in [1, 0, 2] {
            desk.hear(&Input::Up(session, false));
        }
        desk.says(0, "D", "11=A1|21=1|55=FUT|54=1|38=10|40=2|44=100|77=O|");
        let about = "11=1|37=V1|55=FUT|54=1|38=10|44=100|";
        let new = format!("{about}17=E1|150=0|39=0|14=0|151=10|6=0|");
        let fill = format!("{about}17=E2|150=F|39=1|32=4|31=100|14=4|151=6|6=100|");
        for report in [new, fill] {
            let said = desk.says(1, "8", &report);
            let effects = [0, 2].map(|to| {
                let report = said.iter().find(|it| it.to == to).unwrap();
                report.get(77)
            });
            assert_eq!(effects, [wanted, Some("O")], "{version:?}: {report}");
        }
    }
}

#[test]
fn a_client_names_order_numbers_and_hears_which_an_order_has() {
    let mut floor = Floor::with_a_busy_venue(Durability::Process);
    let order = "55=XYZ|54=1|38=30|40=2|44=100|60=20261122-08:00:00|";
    for (id, number) in [("A1", "526=T001|"), ("A2", "526=T001|"), ("A3", "526=X1|")] {
        floor.send("D", &format!("11={id}|{order}{number}"));
    }
    floor.send("D", &format!("11=A4|{order}"));
    floor.send("D", &format!("11=A5|{order}"));
    assert_eq!(
        floor.told(&[11, 39, 198, 103, 58]),
        [
            "A1 0 T001 - -",
            "A1 2 T001 - -",
            "A2 8 - 6 the order number was used before (pool P)",
            "A3 8 - 99 the order number does not belong to the pool (pool P)",
            "A4 0 T000 - -",
            "A4 2 T000 - -",
            "A5 0 T002 - -",
            "A5 2 T002 - -",
        ]
    );
    floor.agrees();
}

#[test]
fn a_mass_cancel_is_reported_and_then_each_order() {
    let mut floor = floor(BeginString::Fix44);
    floor.order("A1", 1, 100);
    floor.order("A2", 2, 100);
    floor.order("A3", 1, 30);
    let before = floor.told(&[35]).len();
    floor.send("q", "11=M1|530=7|60=20261122-08:00:00|");
    floor.send("q", "11=M2|530=1|55=NONE|60=20261122-08:00:00|");
    let told = floor.told(&[35, 11, 530, 531, 532, 533, 39, 58]);
    assert_eq!(
        told[before..],
        [
            "r M1 7 7 - 2 - -",
            "8 A1 - - - - 4 -",
            "8 A2 - - - - 4 -",
            "r M2 1 0 1 - - RC2: unknown symbol",
        ]
    );
    floor.agrees();
}

#[test]
fn a_mass_cancel_report_of_fix_5_0_sp2_has_its_own_id() {
    for (version, has_id) in [(Version::Fix44, false), (Version::Fix50Sp2, true)] {
        let (mut setup, _) = floors::floor(0);
        setup.sessions[floors::CLIENTS[0]].1 = version;
        let body = "11=M1|530=7|60=20261122-08:00:00|".to_owned();
        let said = Desk::new(&setup).hear(&Input::Says(floors::CLIENTS[0], "q", body));
        assert_eq!(said[0].msg_type, "r");
        assert_eq!(said[0].get(1369).is_some(), has_id, "{version:?}");
    }
}

#[test]
fn a_mass_status_request_lists_open_orders() {
    let mut floor = floor(BeginString::Fix44);
    let all = "584=S1|585=7|";
    floor.send("AF", all);
    for at in 0..40 {
        floor.order(&format!("A{at:02}"), 1, 100);
    }
    floor.order("B1", 1, 30);
    let before = floor.told(&[35]).len();
    floor.send("AF", all);
    floor.send("AF", "584=S2|585=1|55=NONE|");
    let told = floor.told(&[584, 150, 39, 911, 912, 11, 151, 58]);
    assert_eq!(told[0], "S1 I 8 0 Y - 0 no open orders");
    let listed = &told[before..];
    assert_eq!(listed.len(), 41);
    assert_eq!(listed[0], "S1 I 1 40 - A00 70 -");
    assert_eq!(listed[39], "S1 I 1 40 Y A39 70 -");
    assert_eq!(listed[40], "S2 I 8 0 Y - 0 RC2: unknown symbol");
}

#[test]
fn a_client_waits_for_four_mass_status_requests_at_most() {
    let mut floor = floor(BeginString::Fix44);
    floor.order("A1", 1, 100);
    let before = floor.told(&[35]).len();
    for id in ["S1", "S2", "S3", "S4", "S5"] {
        floor.world.send(CLIENT, "AF", &format!("584={id}|585=7|"));
    }
    floor.settle();
    let told = floor.told(&[35, 584, 380]);
    assert_eq!(
        told[before..],
        ["j - 4", "8 S1 -", "8 S2 -", "8 S3 -", "8 S4 -"]
    );
}

#[test]
fn fix_4_2_has_its_own_exec_types() {
    let mut floor = floor(BeginString::Fix42);
    floor.order("A1", 1, 100);
    floor.order("A2", 1, 30);
    floor.send("H", "11=A1|55=XYZ|54=1|");
    assert_eq!(
        floor.told(&[11, 20, 150, 39, 32, 14]),
        [
            "A1 0 0 0 0 0",
            "A1 0 1 1 30 30",
            "A2 0 0 0 0 0",
            "A2 0 2 2 30 30",
            "A1 3 1 1 0 30",
        ]
    );
}

#[test]
fn refusals_say_which_control_and_the_figures() {
    let mut floor = floor(BeginString::Fix44);
    floor.order("A1", 1, 2000);
    floor.order("A1", 1, 10);
    floor.send(
        "D",
        "11=A2|55=ABC|54=1|38=10|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.send(
        "D",
        "11=A3|1=B9|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.send(
        "D",
        "11=A4|55=XYZ|54=1|38=10|40=2|44=200|60=20261122-08:00:00|",
    );
    floor.send("F", "11=A5|41=A9|55=XYZ|54=1|60=20261122-08:00:00|");
    assert_eq!(
        floor.told(&[35, 37, 39, 103, 102, 58]),
        [
            "8 NONE 8 3 - RC6: order quantity exceeds the limit (2000, at most 1000 for firm)",
            "8 NONE 8 6 - RC4: duplicate ClOrdID, QuoteID or QuoteReqID",
            "8 NONE 8 1 - RC2: unknown symbol",
            "8 NONE 8 15 - RC2: Account(1) is unknown or not allowed for this session",
            "8 NONE 8 99 - RC8: price is too far from the reference price (100 %, at most 10 % for firm)",
            "9 NONE 8 - 1 unknown order",
        ]
    );
}

#[test]
fn the_venue_refuses_an_order_a_replace_and_a_cancel() {
    let mut floor = floor(BeginString::Fix44);
    floor.venue.refuses = vec!["D"];
    floor.order("A1", 1, 100);
    floor.venue.refuses = vec!["G", "F"];
    floor.order("A2", 1, 100);
    floor.send(
        "G",
        "11=A3|41=A2|55=XYZ|54=1|38=120|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.send("F", "11=A4|41=A2|55=XYZ|54=1|38=100|60=20261122-08:00:00|");
    assert_eq!(
        floor.told(&[35, 11, 41, 39, 434, 58]),
        [
            "8 A1 - 8 - not today",
            "8 A2 - 0 - -",
            "8 A2 - 1 - -",
            "9 A3 A2 1 2 no",
            "9 A4 A2 1 1 no",
        ]
    );
    floor.agrees();
}

#[test]
fn a_message_without_a_field_is_answered_as_the_protocol_has_it() {
    let mut floor = floor(BeginString::Fix44);
    floor.send("D", "11=A1|54=1|38=10|40=2|44=100|60=20261122-08:00:00|");
    floor.send(
        "D",
        "11=A1|55=XYZ|54=1|38=x|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.send("B", "148=news|33=0|");
    assert_eq!(
        floor.told(&[35, 372, 371, 380]),
        ["j D - 5", "3 D 38 -", "j B - 3"]
    );
    // The id was not used.
    floor.order("A1", 1, 10);
    assert_eq!(floor.told(&[39]).last().unwrap(), "2");
}
