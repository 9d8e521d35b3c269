//! A replace that takes away a quantity, tag 9706.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::{End, OrderState};

use crate::desk::{Desk, Input, Said, Setup};

const CLIENT: usize = 0;
const LINE: usize = 1;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
[oms.own_tags]
reduce_by = 9706
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
may = ["new", "replace"]
account = "A1"
[[line_group]]
name = "SIM"
lines = ["SIM-1"]
[[route]]
symbols = ["*"]
to = "SIM"
"#;

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\nfirm,RC13,1000\n\
                      firm,RC14,100000000\nfirm,RC15,5000\n";

fn desk() -> Desk {
    let setup = Setup {
        settings: SETTINGS.to_owned(),
        files: vec![
            (
                "instruments.csv",
                "symbol,tick,lot,reference\nXYZ,0.05,10,100\n".to_owned(),
            ),
            ("limits.csv", LIMITS.to_owned()),
        ],
        sessions: vec![("CLIENT", Version::Fix44), ("SIM-1", Version::Fix44)],
    };
    let mut desk = Desk::new(&setup);
    for session in [CLIENT, LINE] {
        desk.hear(&Input::Up(session, false));
    }
    desk
}

/// Takes `by` away from the order, under a new id.
fn reduce(desk: &mut Desk, (id, original): (&str, &str), by: u32) -> Vec<Said> {
    let order = "55=XYZ|54=1|40=2|44=100|60=20261122-08:00:00|";
    desk.says(
        CLIENT,
        "G",
        &format!("11={id}|41={original}|9706={by}|{order}"),
    )
}

#[test]
fn a_replace_takes_away_a_quantity_whatever_was_filled_meanwhile() {
    let mut desk = desk();
    let order = "55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|";
    desk.says(CLIENT, "D", &format!("11=C1|{order}"));
    let fill = |exec: &str, quantity: u32| {
        format!("37=V1|11=1|17={exec}|150=F|39=1|55=XYZ|54=1|32={quantity}|31=100|")
    };
    desk.says(LINE, "8", &fill("E1", 20));
    let said = reduce(&mut desk, ("C2", "C1"), 30);
    assert_eq!((said[0].to, said[0].get(38)), (LINE, Some("70")));
    // A fill crosses it: 70 is the total.
    desk.says(LINE, "8", &fill("E2", 20));
    let replaced = "37=V1|11=1-2|41=1|17=E3|150=5|39=1|55=XYZ|54=1|38=70|44=100|14=40|";
    let said = desk.says(LINE, "8", replaced);
    assert_eq!(
        (said[0].get(38), said[0].get(151)),
        (Some("70"), Some("30"))
    );
    // More than is left: what is filled stays.
    let said = reduce(&mut desk, ("C3", "C2"), 50);
    assert_eq!(said[0].get(38), Some("40"));
    let replaced = "37=V1|11=1-3|41=1-2|17=E4|150=5|39=2|55=XYZ|54=1|38=40|44=100|14=40|";
    desk.says(LINE, "8", replaced);
    let state = desk.state().orders().get(1).unwrap().state;
    assert_eq!(state, OrderState::Ended(End::Filled));
}

#[test]
fn all_of_an_order_is_cancelled_and_not_reduced() {
    let mut desk = desk();
    let order = "55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|";
    desk.says(CLIENT, "D", &format!("11=C1|{order}"));
    let said = reduce(&mut desk, ("C2", "C1"), 100);
    let text = said[0].get(58).unwrap_or_default();
    assert!(text.starts_with("RC8: order quantity"), "{text}");
    let said = reduce(&mut desk, ("C3", "NONE"), 10);
    assert_eq!(said[0].get(102), Some("1"), "an unknown order");
}
