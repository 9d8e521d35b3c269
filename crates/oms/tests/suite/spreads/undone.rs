//! Trades of spreads that the venue cancels or corrects.

use fixwire_oms::LeftMemory;

use super::*;

const LEGS: &str = "555=2|600=JUN|624=1|637=102|600=MAR|624=2|637=100|";

/// Of each report to the client: 150, 442, 55, 32, 14 and whether it has an ExecRefID(19).
fn told(said: &[Said], session: usize) -> Vec<String> {
    let reports = to(said, session).into_iter();
    reports
        .map(|it| {
            let get = |tag| it.get(tag).unwrap_or("-");
            let reference = if it.get(19).is_some() { "19" } else { "-" };
            let fields = [get(150), get(442), get(55), get(32), get(14), reference];
            fields.join(" ")
        })
        .collect()
}

fn breaks(office: &Office) -> usize {
    office.desk.query("breaks").lines().count() - 1
}

/// An order of which 4 were filled, with its legs in the report.
fn with_legs(office: &mut Office) -> u64 {
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    let fill = "17=E1|150=F|39=1|55=JUN-MAR|54=1|32=4|31=2|14=4|151=6|442=3|";
    office.report(order, &format!("{fill}{LEGS}"));
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((4, 0), (0, 4))
    );
    order
}

const BUST: &str = "17=B1|19=E1|150=H|39=0|55=JUN-MAR|54=1|32=4|31=2|14=0|151=10|442=3|";

#[test]
fn a_bust_of_a_spread_takes_the_legs_back_that_came_with_its_fill() {
    for restart in [None, Some(false), Some(true)] {
        let mut office = Office::new();
        let order = with_legs(&mut office);
        if let Some(from_checkpoint) = restart {
            office.restart(from_checkpoint);
        }
        let said = office.report(order, BUST);
        let wanted = ["H 3 JUN-MAR - 0 19", "H 2 JUN 0 0 19", "H 2 MAR 0 0 19"];
        assert_eq!(told(&said, CLIENT), wanted);
        assert_eq!(told(&said, COPY), wanted);
        assert_eq!((office.filled(order), office.legs(order)), (0, [0, 0]));
        assert_eq!(office.long_short(JUN), (0, 0));
        assert_eq!(office.long_short(MAR), (0, 0));
        assert_eq!((office.open(JUN), office.open(MAR)), ((10, 0), (0, 10)));
        assert_eq!(office.state(order), OrderState::Working);
        // It comes again, and for each leg alone too.
        assert_eq!(told(&office.report(order, BUST), CLIENT), [""; 0]);
        let leg = "17=B2|19=E1|150=H|39=0|55=JUN|54=1|32=4|31=102|442=2|";
        assert_eq!(told(&office.report(order, leg), CLIENT), [""; 0]);
        assert_eq!(breaks(&office), 0, "{}", office.desk.query("breaks"));
        office.restart(restart == Some(true));
        assert_eq!(office.long_short(JUN), (0, 0));
    }
}

#[test]
fn a_bust_of_a_spread_with_the_exec_id_of_its_fill_takes_the_legs_back_too() {
    let mut office = Office::new();
    let order = with_legs(&mut office);
    let bust = BUST.replace("17=B1|", "17=E1|");
    for _ in 0..2 {
        office.report(order, &bust);
        assert_eq!((office.filled(order), office.legs(order)), (0, [0, 0]));
        assert_eq!(office.long_short(JUN), (0, 0));
        assert_eq!(office.long_short(MAR), (0, 0));
        assert_eq!(breaks(&office), 0, "{}", office.desk.query("breaks"));
    }
}

#[test]
fn a_bust_of_a_filled_spread_opens_it_again() {
    let mut office = Office::new();
    let order = with_legs(&mut office);
    let rest = "17=E2|150=F|39=2|55=JUN-MAR|54=1|32=6|31=2|14=10|151=0|442=3|";
    office.report(order, &format!("{rest}{LEGS}"));
    assert_eq!(office.long_short(JUN), (10, 0));
    office.report(
        order,
        "17=B1|19=E2|150=H|39=1|55=JUN-MAR|54=1|32=6|31=2|14=4|151=6|442=3|",
    );
    assert_eq!(office.state(order), OrderState::Working);
    assert_eq!((office.filled(order), office.legs(order)), (4, [4, 4]));
    assert_eq!((office.open(JUN), office.open(MAR)), ((6, 0), (0, 6)));
    assert_eq!(office.long_short(MAR), (0, 4));
}

#[test]
fn legs_with_reports_of_their_own_are_busted_by_their_own() {
    for same_exec in [false, true] {
        let mut office = Office::new();
        let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
        let id = |leg: &str| match same_exec {
            true => "E1".to_owned(),
            false => format!("E1-{leg}"),
        };
        office.fill(order, "JUN-MAR", 1, ("E1", 4, "2"));
        office.fill(order, "JUN", 1, (&id("JUN"), 4, "102"));
        office.fill(order, "MAR", 2, (&id("MAR"), 4, "100"));
        let said = office.report(order, BUST);
        assert_eq!(told(&said, CLIENT), ["H 3 JUN-MAR - 0 19"]);
        assert_eq!(office.long_short(JUN), (4, 0), "its own report comes");
        for (leg, side, price) in [("MAR", 2, "100"), ("JUN", 1, "102")] {
            let exec = if same_exec { "B1" } else { leg };
            let bust = format!(
                "17={exec}|19={}|150=H|39=0|55={leg}|54={side}|32=4|31={price}|442=2|",
                id(leg)
            );
            let said = office.report(order, &bust);
            assert_eq!(told(&said, CLIENT), [format!("H 2 {leg} 0 0 19")]);
            assert_eq!(told(&office.report(order, &bust), CLIENT), [""; 0], "again");
        }
        assert_eq!(office.long_short(JUN), (0, 0));
        assert_eq!(office.long_short(MAR), (0, 0));
        assert_eq!(breaks(&office), 0, "{}", office.desk.query("breaks"));
    }
}

#[test]
fn a_correction_has_the_legs_as_they_are_now() {
    let mut office = Office::new();
    let order = with_legs(&mut office);
    let right = "17=G1|19=E1|150=G|39=1|55=JUN-MAR|54=1|32=3|31=2.5|14=3|151=7|442=3|\
                 555=2|600=JUN|624=1|637=102.5|600=MAR|624=2|637=100|";
    let said = office.report(order, right);
    let wanted = ["G 3 JUN-MAR 3 3 19", "G 2 JUN 3 3 19", "G 2 MAR 3 3 19"];
    assert_eq!(told(&said, CLIENT), wanted);
    has(to(&said, CLIENT)[1], "31=102.5");
    assert_eq!((office.filled(order), office.legs(order)), (3, [3, 3]));
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((3, 0), (0, 3))
    );
    assert_eq!(told(&office.report(order, right), CLIENT), [""; 0], "again");
    // The bust names the first fill, or its correction.
    let bust = "17=B1|19=G1|150=H|39=0|55=JUN-MAR|54=1|32=3|31=2.5|14=0|151=10|442=3|";
    office.restart(true);
    office.report(order, bust);
    assert_eq!((office.filled(order), office.legs(order)), (0, [0, 0]));
    assert_eq!(office.long_short(MAR), (0, 0));
    assert_eq!(breaks(&office), 0, "{}", office.desk.query("breaks"));
}

#[test]
fn what_fits_no_fill_of_a_leg_is_a_break_that_changes_nothing() {
    for (report, ours) in [
        (
            "17=B1|19=E9|150=H|39=1|55=JUN|54=1|32=4|31=102|442=2|",
            "no fill of the leg with this ExecID",
        ),
        (
            "17=B1|19=E1|150=H|39=1|55=MAR|54=2|32=3|31=100|442=2|",
            "LastQty(32) of the fill of the leg is another",
        ),
        (
            "17=B1|150=H|39=1|55=MAR|54=2|32=4|31=100|442=2|",
            "no ExecRefID(19)",
        ),
        (
            "17=G1|19=E1|150=G|39=1|55=JUN-MAR|54=1|32=4|31=2.5|14=4|151=6|442=3|",
            "correction without its legs",
        ),
    ] {
        let mut office = Office::new();
        let order = with_legs(&mut office);
        office.report(order, report);
        let list = office.desk.query("breaks");
        assert_eq!(breaks(&office), 1, "{list}");
        assert!(list.contains(ours), "{list}");
        assert_eq!(office.legs(order), [4, 4]);
        assert_eq!(
            (office.long_short(JUN), office.long_short(MAR)),
            ((4, 0), (0, 4))
        );
        office.restart(true);
        assert_eq!(office.desk.query("breaks"), list);
    }
}

#[test]
fn an_operator_can_bust_and_correct_no_fill_of_a_spread() {
    let mut office = Office::new();
    let order = with_legs(&mut office);
    for command in ["bust", "correct"] {
        let words = if command == "bust" {
            ""
        } else {
            " quantity=3 price=2"
        };
        let text = format!("{command} fill={order}/E1{words}");
        office.desk.hear(&Input::Command(text));
        let answer = office.desk.answer();
        assert!(
            answer.contains("is of a spread, and a report by hand has no legs"),
            "{answer}"
        );
        assert_eq!((office.filled(order), office.legs(order)), (4, [4, 4]));
    }
}

/// Gives a command as `fixwire oms` does: an order that the answer names is read from the journal first. When the OMS
/// refuses to take it into memory, the answer says why.
fn with_journal(office: &mut Office, text: &str) -> String {
    let (answer, _) = office.desk.command_of("sys", text);
    let Some(wanted) = LeftMemory::of_answer(&answer) else {
        return answer;
    };
    let recall = office.desk.recall(&wanted).unwrap();
    let (recalled, _) = office.desk.command_of("sys", &recall.unwrap());
    match recalled.starts_with("Err") {
        true => format!("{answer}; {recalled}"),
        false => office.desk.command_of("sys", text).0,
    }
}

/// A filled order of a spread that has left memory, with the legs in its fill or in reports of their own.
fn that_left_memory(in_fill: bool, from_checkpoint: bool) -> (Office, u64) {
    let settings = SETTINGS.replace("[oms]\n", "[oms]\nremembered = 2\n");
    let mut office = Office::with(&settings, INSTRUMENTS, LIMITS);
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=4|44=2|");
    let fill = "17=E1|150=F|39=2|55=JUN-MAR|54=1|32=4|31=2|14=4|151=0|442=3|";
    match in_fill {
        true => drop(office.report(order, &format!("{fill}{LEGS}"))),
        false => {
            office.report(order, fill);
            office.fill(order, "JUN", 1, ("E1", 4, "102"));
            office.fill(order, "MAR", 2, ("E1", 4, "100"));
        }
    }
    for id in ["Z1", "Z2"] {
        let other = office.accepted(id, "55=MAR|54=1|38=1|44=100|");
        office.report(other, &format!("17=Z{other}|150=4|39=4|14=0|151=0|"));
    }
    assert!(office.desk.state().orders().get(order).is_none());
    office.restart(from_checkpoint);
    (office, order)
}

/// These reports about the fill, of the spread and of each leg alone, are one break that only our side can settle.
fn only_ours_settles(reports: &[String], name: &str, by_hand: &str) {
    for (in_fill, from_checkpoint) in [(true, false), (true, true), (false, false), (false, true)] {
        let (mut office, order) = that_left_memory(in_fill, from_checkpoint);
        let positions = |office: &Office| (office.long_short(JUN), office.long_short(MAR));
        assert_eq!(positions(&office), ((4, 0), (0, 4)));
        for report in reports {
            let said = office.report(order, report);
            assert_eq!(told(&said, CLIENT), [""; 0]);
            assert_eq!(told(&said, COPY), [""; 0]);
        }
        let list = office.desk.query("breaks");
        assert_eq!(breaks(&office), 1, "{list}");
        let row = list.lines().nth(1).unwrap();
        let what = format!("\t{name} of a fill that is not in memory\t{order}\t");
        assert!(row.contains(&what) && row.contains("\tJUN-MAR\t"), "{row}");
        office.restart(from_checkpoint);
        assert_eq!(office.desk.query("breaks"), list);
        let number = row.split('\t').next().unwrap();
        let venue = format!("settle break={number} venue");
        for command in [by_hand, &venue] {
            let answer = with_journal(&mut office, command);
            let why = format!("order {order} is of a spread, and a report by hand has no legs");
            assert!(answer.contains(&why), "{answer}");
        }
        assert_eq!(positions(&office), ((4, 0), (0, 4)), "nothing is changed");
        let settled = with_journal(&mut office, &format!("settle break={number} ours"));
        assert!(settled.contains("nothing is changed"), "{settled}");
        for report in reports {
            assert_eq!(
                told(&office.report(order, report), CLIENT),
                [""; 0],
                "again"
            );
        }
        assert_eq!(breaks(&office), 0, "{}", office.desk.query("breaks"));
        assert_eq!(positions(&office), ((4, 0), (0, 4)), "nothing is changed");
    }
}

#[test]
fn a_bust_of_a_spread_that_left_memory_is_a_break_that_only_our_side_can_settle() {
    let leg = |name: &str, side: u8, price: u8| {
        format!("17=B1|19=E1|150=H|39=0|55={name}|54={side}|32=4|31={price}|442=2|")
    };
    let busts = [BUST.to_owned(), leg("JUN", 1, 102), leg("MAR", 2, 100)];
    only_ours_settles(&busts, "bust", "bust fill=1/E1");
}

#[test]
fn a_correction_of_a_spread_that_left_memory_is_a_break_that_only_our_side_can_settle() {
    let spread = "17=G1|19=E1|150=G|39=2|55=JUN-MAR|54=1|32=3|31=2.5|14=3|151=0|442=3|";
    let leg = |name: &str, side: u8, price: &str| {
        format!("17=G1|19=E1|150=G|39=2|55={name}|54={side}|32=3|31={price}|442=2|")
    };
    let (june, march) = (leg("JUN", 1, "102.5"), leg("MAR", 2, "100"));
    let corrections = [format!("{spread}{LEGS}"), june, march];
    let by_hand = "correct fill=1/E1 quantity=3 price=2.5";
    only_ours_settles(&corrections, "correction", by_hand);
}
