//! A fill gives a leg more decimals than its spread: each price keeps the decimals of its own instrument.

use super::*;

/// JUN-MAR has no reference: it is computed from those of its legs.
const WITHOUT: &str = "symbol,tick,lot,multiplier,reference,legs
MAR,0.5,1,10,100,
JUN,0.5,1,10,102,
JUN-MAR,0.5,1,10,,buy 1 JUN sell 1 MAR
FLY,0.5,1,10,-104,buy 1 MAR sell 2 JUN
";

/// An outright order of one contract, filled at this price.
fn filled(office: &mut Office, id: &str, symbol: &str, price: &str) {
    let (order, _) = office.order(id, &format!("55={symbol}|54=1|38=1|44=102|"));
    let fill = format!("17=F{id}|150=F|39=2|55={symbol}|54=1|38=1|32=1|31={price}|14=1|");
    office.report(order, &fill);
    assert_eq!(office.filled(order), 1);
}

/// Whether an order for a spread at this price goes to the venue.
fn passes(office: &mut Office, id: &str, symbol: &str, price: &str) -> bool {
    let (_, said) = office.order(id, &format!("55={symbol}|54=1|38=1|44={price}|"));
    !to(&said, LINE).is_empty()
}

#[test]
fn a_spread_is_valued_by_prices_of_legs_in_its_own_decimals() {
    for decimals in ["102.25", "102.125"] {
        let mut office = Office::of(WITHOUT, LIMITS);
        for round in 0..3 {
            // A tenth of 202, the sum of the legs, is 20.2 around 2; a tenth of 304 is 30.4 around -104.
            for (symbol, price, is) in [
                ("JUN-MAR", "22", true),
                ("JUN-MAR", "22.5", false),
                ("JUN-MAR", "-18", true),
                ("JUN-MAR", "-18.5", false),
                ("FLY", "-74", true),
                ("FLY", "-73", false),
            ] {
                let id = format!("S{round}{symbol}{price}");
                let does = passes(&mut office, &id, symbol, price);
                assert_eq!(does, is, "{decimals}, {round}: {symbol} at {price}");
            }
            match round {
                0 => filled(&mut office, "J", "JUN", decimals),
                1 => {
                    filled(&mut office, "M", "MAR", "102.0625");
                    office.restart(true);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn copies_of_leg_fills_have_the_decimals_of_the_leg() {
    let mut office = Office::new();
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    let copy = |office: &mut Office, symbol: &str, side: u8, exec: &str, price: &str| {
        let body = format!(
            "37=V{order}|11={order}|17={exec}|150=F|39=1|1=A1|55={symbol}|54={side}|38=10|32=4|31={price}|442=2|"
        );
        office.says(VENUE_COPY, "8", &body);
    };
    let breaks = |office: &Office| -> Vec<String> {
        let list = office.desk.query("breaks");
        let cells = |line: &str| -> Vec<String> { line.split('\t').map(str::to_owned).collect() };
        let lines = list.lines().skip(1).map(cells);
        let text = |cells: Vec<String>| [1, 5, 6, 7].map(|at| cells[at].clone()).join(", ");
        lines.map(text).collect()
    };
    // The line first, then more decimals, then an equal copy; and the copy first.
    office.fill(order, "JUN", 1, ("E1", 4, "102.25"));
    filled(&mut office, "J", "JUN", "102.125");
    copy(&mut office, "JUN", 1, "E1", "102.25");
    copy(&mut office, "MAR", 2, "E2", "100.75");
    filled(&mut office, "M", "MAR", "100.0625");
    office.fill(order, "MAR", 2, ("E2", 4, "100.75"));
    assert_eq!(breaks(&office), [""; 0]);
    // A fill that differs, one without a copy, and a copy without a fill; the outright fills have no copy.
    office.fill(order, "JUN", 1, ("E3", 4, "102.125"));
    copy(&mut office, "JUN", 1, "E3", "102.25");
    office.fill(order, "MAR", 2, ("E4", 4, "100.0625"));
    copy(&mut office, "JUN", 1, "E5", "102.5");
    filled(&mut office, "K", "JUN", "102.03125");
    office.desk.hear(&Input::Pass(60 * SECOND));
    let mut found = breaks(&office);
    found.sort();
    assert_eq!(
        found,
        [
            "copy without a fill, JUN, -, 4 at 102.5",
            "fill and copy differ, JUN, 4 at 102.125, 4 at 102.25",
            "fill without a copy, JUN, 1 at 102.03125, -",
            "fill without a copy, JUN, 1 at 102.125, -",
            "fill without a copy, MAR, 1 at 100.0625, -",
            "fill without a copy, MAR, 4 at 100.0625, -",
        ]
    );
    let history = office.desk.history(order);
    for text in [
        "drop copy: leg JUN: 4 filled at 102.25",
        "drop copy: leg MAR: 4 filled at 100.75",
    ] {
        assert!(history.iter().any(|it| it == text), "{text}: {history:#?}");
    }
    let listed = breaks(&office);
    office.restart(true);
    assert_eq!(breaks(&office), listed);
}
