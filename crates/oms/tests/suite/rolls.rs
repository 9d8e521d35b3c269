//! Events for operators when the OMS is restarted while a trading day ends.

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::{Desk, Input, Setup};

const CLIENT: usize = 0;
const VENUE: usize = 1;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
roll_wait = "60s"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new", "replace", "cancel", "status"]
account = "A1"
[[line_group]]
name = "V"
lines = ["V"]
[[route]]
symbols = ["*"]
to = "V"
"#;

/// An OMS with an order at its venue.
fn desk() -> Desk {
    let instruments = "symbol,tick,lot,reference\nXYZ,0.5,1,100\n";
    let limits = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,90\nfirm,RC13,100\n\
                  firm,RC14,1000000000\nfirm,RC15,100000\n";
    let mut desk = Desk::new(&Setup {
        settings: SETTINGS.to_owned(),
        files: vec![
            ("instruments.csv", instruments.to_owned()),
            ("limits.csv", limits.to_owned()),
        ],
        sessions: vec![("C", Version::Fix44), ("V", Version::Fix44)],
    });
    desk.hear(&Input::Up(CLIENT, false));
    desk.hear(&Input::Up(VENUE, false));
    let order = "11=C1|21=1|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|";
    desk.says(CLIENT, "D", order);
    let accepted = "37=V1|11=1|17=N1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|";
    desk.says(VENUE, "8", accepted);
    desk.events();
    desk
}

fn days(desk: &mut Desk) -> Vec<String> {
    let events = desk.events().into_iter();
    events.filter(|it| it.starts_with("trading day")).collect()
}

#[test]
fn a_restart_during_a_roll_says_that_the_roll_goes_on() {
    let mut desk = desk();
    desk.command_of("ann", "roll day=2026-11-23 cancel");
    let open = "orders open at V: 1 end with the day; 20261123 starts when its orders are closed";
    let asked = format!("trading day 20261122 ends, by ann: {open}");
    assert_eq!(days(&mut desk), [asked]);
    for from_checkpoint in [false, true] {
        desk.hear(&Input::Restart(0, from_checkpoint));
        let goes_on = format!("trading day 20261122 ends, as before the restart: {open}");
        assert_eq!(days(&mut desk), [goes_on]);
    }
    desk.hear(&Input::Pass(61_000_000_000));
    assert_eq!(days(&mut desk).len(), 1, "the next day has started");
    // A start on a later day begins a roll, and says so once.
    desk.hear(&Input::Restart(2, false));
    let begun = days(&mut desk);
    assert!(begun[0].starts_with("trading day 20261123 ends, by start"));
    assert!(!begun.iter().any(|it| it.contains("as before the restart")));
}
