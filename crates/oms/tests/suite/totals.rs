//! Totals of positions that an operator loads from a file, and fills that a total includes already.

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::{Desk, Input, Setup};

const CLIENT: usize = 0;
const VENUE: usize = 1;

const SETTINGS: &str = r#"
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
"#;

const LIMITS: &str = "scope,control,limit
firm,RC6,1000000
firm,RC7,1000000000
firm,RC8,90
firm,RC13,100000
firm,RC14,1000000000000
firm,RC15-long,100000000
firm,RC15-short,100000000
";

/// A desk with an order of 10 that the venue has accepted at 08:00.
fn desk() -> Desk {
    let instruments = "symbol,tick,lot,reference\nXYZ,0.5,1,100\n";
    let mut desk = Desk::new(&Setup {
        settings: SETTINGS.to_owned(),
        files: vec![
            ("instruments.csv", instruments.to_owned()),
            ("limits.csv", LIMITS.to_owned()),
        ],
        sessions: vec![("C", Version::Fix44), ("V", Version::Fix44)],
    });
    log_on(&mut desk);
    let order = "11=A1|21=1|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|";
    desk.says(CLIENT, "D", order);
    let accepted = "37=V1|11=1|17=E1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|";
    desk.says(VENUE, "8", accepted);
    desk
}

fn log_on(desk: &mut Desk) {
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
}

/// A fill of the order was made at `time`; returns the events.
fn fill(desk: &mut Desk, exec: &str, quantity: u64, total: u64, time: &str) -> Vec<String> {
    desk.events();
    let left = 10 - total;
    let report = format!(
        "37=V1|11=1|17={exec}|150=F|39=1|55=XYZ|54=1|38=10|32={quantity}|31=100|14={total}|151={left}|6=100|{time}"
    );
    desk.says(VENUE, "8", &report);
    desk.events()
}

#[test]
fn a_fill_that_a_loaded_total_includes_is_named_when_it_arrives_after_the_load() {
    let twice = "order 1: a fill, bust or correction from before the moment of the total for account A1 and symbol XYZ \
                 in t.csv was received after the load and counts twice: load the totals again";
    for from_checkpoint in [false, true] {
        let mut desk = desk();
        let before = fill(&mut desk, "E2", 1, 1, "60=20261122-07:59:00|");
        assert_eq!(before, [""; 0], "no total was loaded");
        desk.hear(&Input::Pass(60_000_000_000));
        desk.hear(&Input::Command("load totals file=t.csv;A1 XYZ 40 0".into()));
        desk.hear(&Input::Pass(60_000_000_000));
        desk.hear(&Input::Restart(0, from_checkpoint));
        log_on(&mut desk);
        let since = fill(&mut desk, "E3", 2, 3, "60=20261122-08:01:30|");
        assert_eq!(since, [""; 0], "made after the load");
        let since = fill(&mut desk, "E4", 1, 4, "");
        assert_eq!(since, [""; 0], "made when it was received");
        let included = fill(&mut desk, "E5", 3, 7, "60=20261122-08:00:30|");
        assert_eq!(included, [twice]);
        // After new totals, fills from before them are named, and no others.
        desk.hear(&Input::Command("load totals file=u.csv;A1 XYZ 41 0".into()));
        let included = fill(&mut desk, "E6", 1, 8, "60=20261122-08:01:30|");
        assert_eq!(included, [twice.replace("t.csv", "u.csv")]);
    }
}
