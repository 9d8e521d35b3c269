//! Legs of orders placed elsewhere, unknown orders, parents and quotes; legs that the file changes.

use super::*;

#[test]
fn copies_of_legs_are_compared() {
    let breaks = |office: &Office| office.desk.query("breaks").lines().count() - 1;
    let mut office = Office::new();
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    let copy = |office: &mut Office, symbol: &str, side: u8, exec: &str, price: &str| {
        let kind = if symbol.contains('-') { 3 } else { 2 };
        let body = format!(
            "37=V{order}|11={order}|17={exec}|150=F|39=1|1=A1|55={symbol}|54={side}|38=10|32=4|31={price}|442={kind}|"
        );
        office.says(VENUE_COPY, "8", &body);
    };
    for (symbol, side, exec, price) in [
        ("JUN-MAR", 1, "E1", "2"),
        ("JUN", 1, "E2", "102"),
        ("MAR", 2, "E3", "100"),
    ] {
        office.fill(order, symbol, side, (exec, 4, price));
        copy(&mut office, symbol, side, exec, price);
    }
    office.desk.hear(&Input::Pass(60 * SECOND));
    assert_eq!(breaks(&office), 0, "{}", office.desk.query("breaks"));
    assert_eq!(
        office.desk.state().orders().len(),
        1,
        "no copy made an order"
    );
    copy(&mut office, "MAR", 2, "E4", "100");
    office.desk.hear(&Input::Pass(60 * SECOND));
    assert_eq!(breaks(&office), 1, "the line did not bring it");
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((4, 0), (0, 4))
    );
    office.fill(order, "MAR", 2, ("E4", 4, "100"));
    assert_eq!(breaks(&office), 0);
    // A spread that was placed elsewhere.
    let elsewhere = |office: &mut Office, what: &str| {
        office.says(
            VENUE_COPY,
            "8",
            &format!("37=X1|1=A1|40=2|44=2|38=5|{what}"),
        )
    };
    elsewhere(&mut office, "17=X|150=0|39=0|55=JUN-MAR|54=2|");
    assert_eq!(office.open(JUN), (6, 5));
    elsewhere(
        &mut office,
        "17=Y1|150=F|39=2|55=JUN-MAR|54=2|32=5|31=2|442=3|",
    );
    elsewhere(
        &mut office,
        "17=Y2|150=F|39=2|55=JUN|54=2|32=5|31=102|442=2|",
    );
    elsewhere(
        &mut office,
        "17=Y2|150=F|39=2|55=JUN|54=2|32=5|31=102|442=2|",
    );
    elsewhere(
        &mut office,
        "17=Y3|150=F|39=2|55=MAR|54=1|32=5|31=100|442=2|",
    );
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((0, 1), (0, 3))
    );
    assert_eq!(office.desk.state().orders().len(), 2);
    assert_eq!(office.desk.state().violations(), 0);
}

#[test]
fn legs_of_an_unknown_order_count_and_its_spread_does_not() {
    let mut office = Office::new();
    for _ in 0..2 {
        let report = |what: &str| format!("37=V9|11=77|1=A1|150=F|39=2|{what}");
        office.says(LINE, "8", &report("17=S1|55=JUN-MAR|54=1|32=3|31=2|442=3|"));
        office.says(LINE, "8", &report("17=S2|55=JUN|54=1|32=3|31=102|442=2|"));
        office.says(LINE, "8", &report("17=S3|55=MAR|54=2|32=3|31=100|442=2|"));
    }
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((3, 0), (0, 3))
    );
    assert_eq!(office.long_short(InstrumentNo::new(2)), (0, 0));
    let group = "442=3|555=2|600=JUN|624=1|637=102|600=MAR|624=2|637=100|";
    for _ in 0..2 {
        let body = format!("37=V9|11=78|1=A1|150=F|39=2|17=S4|55=JUN-MAR|54=1|32=2|31=2|{group}");
        office.says(LINE, "8", &body);
    }
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((5, 0), (0, 5))
    );
    assert_eq!(office.desk.state().late_fills(), 4);
}

#[test]
fn a_leg_on_the_other_side_is_what_the_venue_says() {
    let mut office = Office::new();
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    office.fill(order, "JUN", 2, ("E1", 4, "102"));
    assert_eq!(
        (office.long_short(JUN), office.legs(order)),
        ((0, 4), [0, 0])
    );
    assert_eq!(office.desk.state().late_fills(), 1, "an event says so");
}

#[test]
fn a_parent_of_a_spread_counts_its_legs_once() {
    let mut office = Office::new();
    let (parent, said) = office.order("P1", "55=JUN-MAR|54=1|38=60|44=2|21=3|");
    has(to(&said, CLIENT)[0], "150=0|442=3");
    assert_eq!(office.open(JUN), (60, 0));
    let child = office.accepted("C1", &format!("55=JUN-MAR|54=1|38=50|44=2|9705={parent}|"));
    assert_eq!((office.open(JUN), office.open(MAR)), ((60, 0), (0, 60)));
    office.fill(child, "JUN-MAR", 1, ("E1", 20, "2"));
    assert_eq!(office.open(JUN), (60, 0));
    office.fill(child, "JUN", 1, ("E2", 20, "102"));
    office.fill(child, "MAR", 2, ("E3", 20, "100"));
    assert_eq!(
        (office.open(JUN), office.long_short(JUN)),
        ((40, 0), (20, 0))
    );
    assert_eq!(office.filled(parent), 20);
    office.restart(true);
    let (_, said) = office.order("C2", "55=JUN|54=1|38=41|44=102|");
    has(to(&said, CLIENT)[0], "150=8");
    office.report(child, "17=X|150=4|39=4|55=JUN-MAR|54=1|14=20|");
    assert_eq!(office.open(JUN), (40, 0), "the parent has it again");
    assert_eq!(office.desk.state().violations(), 0);
}

#[test]
fn both_sides_of_a_quote_of_a_spread_have_legs() {
    let mut office = Office::new();
    let said = office.says(
        CLIENT,
        "S",
        "117=Q1|55=JUN-MAR|132=1|134=30|133=3|135=40|60=20261122-08:00:00|",
    );
    assert_eq!(to(&said, LINE).len(), 2);
    assert_eq!((office.open(JUN), office.open(MAR)), ((30, 40), (40, 30)));
    office.fill(1, "JUN-MAR", 1, ("E1", 30, "1"));
    office.fill(1, "JUN", 1, ("E2", 30, "101"));
    office.fill(1, "MAR", 2, ("E3", 30, "100"));
    assert_eq!(
        (office.open(JUN), office.long_short(JUN)),
        ((0, 40), (30, 0))
    );
}

#[test]
fn a_client_of_fix_4_2_gets_its_legs_too() {
    let mut office = Office::new();
    office.says(
        OLD,
        "D",
        "11=C1|21=1|55=JUN-MAR|54=1|38=2|40=2|44=2|60=20261122-08:00:00|",
    );
    let order = office.last();
    let said = office.fill(order, "JUN", 1, ("E1", 2, "102"));
    let reports = to(&said, OLD);
    has(reports[0], "150=0|442=3");
    assert_eq!(reports[0].get(167), None, "FIX 4.2 has no MLEG");
    has(
        reports[1],
        "20=0|150=2|39=0|442=2|55=JUN|32=2|31=102|151=0|14=2",
    );
}

#[test]
fn a_spread_keeps_its_legs_and_gets_others_when_the_file_says_so() {
    let other = INSTRUMENTS.replace("buy 1 JUN sell 1 MAR", "buy 2 JUN sell 1 MAR");
    let without = INSTRUMENTS.replace("buy 1 JUN sell 1 MAR", "");
    for (instruments, wanted) in [(other.as_str(), (12, 0)), (without.as_str(), (6, 0))] {
        let mut office = Office::new();
        let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
        office.fill(order, "JUN-MAR", 1, ("E1", 4, "2"));
        office.fill(order, "JUN", 1, ("E2", 4, "102"));
        office.fill(order, "MAR", 2, ("E3", 4, "100"));
        office.desk.set_file("instruments.csv", instruments);
        office.restart(true);
        assert_eq!(office.open(JUN), wanted);
        assert_eq!(office.desk.state().violations(), 0);
        office.restart(false);
        assert_eq!(office.open(JUN), wanted);
    }
}
