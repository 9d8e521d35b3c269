//! Reports of fills, busts and corrections that are not what they should be: none is lost in silence, and none makes a
//! wrong position.

use super::*;

fn office() -> Office {
    Office::new(Version::Fix44, Version::Fix44)
}

fn settle(office: &mut Office, which: &str) -> (String, Vec<Said>) {
    let found = number(&office.breaks());
    office.command(&format!("settle break={found} {which}"))
}

/// Bought minus sold, of all symbols.
fn net(office: &Office) -> i128 {
    let positions = office.desk.state().positions();
    positions.map(|(.., position)| position.net()).sum()
}

fn is_whole(office: &mut Office) {
    assert_eq!(office.desk.state().violations(), 0);
    let before = net(office);
    office.desk.hear(&Input::Restart(0, false));
    assert_eq!(net(office), before, "from the notes");
}

/// What the venue says after a fill of 10 at 100, what it is called, and what the order has when it is settled as the
/// venue's: CumQty(14) and AvgPx(6), or why not.
#[test]
fn a_correction_that_fits_no_fill_is_settled_with_the_values_of_the_venue() {
    for (report, named, settled) in [
        (
            "19=E7|14=12|151=88|32=12|31=100.5|",
            "correction to 12 at 100.5, CumQty 12",
            Ok("12 100.5"),
        ),
        (
            "19=E7|14=10|151=90|32=10|31=101|",
            "correction to 10 at 101, CumQty 10",
            Ok("10 101"),
        ),
        (
            "14=8|151=92|32=5|31=101|6=100.5|",
            "correction to 5 at 101, CumQty 8",
            Ok("8 100.5"),
        ),
        (
            "19=E1|14=10|151=90|32=8|31=100|",
            "correction to 8 at 100, CumQty 10",
            Err("not that after the correction"),
        ),
        (
            "19=E7|14=10|151=90|32=15|31=100|",
            "correction to 15 at 100, CumQty 10",
            Err("not that after the correction"),
        ),
        (
            "19=E7|32=12|31=100|",
            "correction to 12 at 100",
            Err("CumQty(14) of the report is missing"),
        ),
        (
            "19=E7|14=12|151=88|32=5|31=100|",
            "correction to 5 at 100, CumQty 12",
            Err("no AvgPx(6)"),
        ),
        (
            "19=E7|14=12|151=88|32=5|31=100|6=0|",
            "correction to 5 at 100, CumQty 12",
            Err("no AvgPx(6)"),
        ),
        (
            "19=E1|14=0|151=100|32=0|31=100|",
            "correction, CumQty 0",
            Ok("0 0"),
        ),
        (
            "19=E1|14=10|151=90|32=0|31=100|",
            "correction, CumQty 10",
            Err("no AvgPx(6)"),
        ),
    ] {
        let mut office = office();
        let order = office.order("C1", DAY);
        office.fill(order, "E1", 10, 10);
        office.report(order, &format!("17=K|150=G|39=1|{report}"));
        let row = office.breaks()[0].clone();
        assert!(row.contains(&format!("\t{named}")), "{row}");
        assert_eq!(office.long(), 10);
        let (answer, said) = settle(&mut office, "venue");
        match settled {
            Ok(values) => {
                let report = of(&said, CLIENT);
                assert_eq!(fields(&report, &[14, 6]), values, "{report:?}");
                let cum = values.split(' ').next().unwrap();
                assert_eq!(office.long().to_string(), cum);
                assert!(office.is_open(order));
                assert_eq!(office.breaks(), [""; 0]);
            }
            Err(why) => {
                assert!(answer.contains(why), "{answer}");
                assert!(answer.contains("fixwire oms correct"), "{answer}");
                assert_eq!((office.long(), office.breaks().len()), (10, 1));
                settle(&mut office, "ours");
                let (answer, _) = office.command("correct fill=1/E1 quantity=8 price=100");
                assert!(answer.contains("is 8 at 100"), "{answer}");
            }
        }
        is_whole(&mut office);
    }
}

#[test]
fn a_correction_is_not_settled_after_other_fills() {
    let mut office = office();
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 10, 10);
    office.report(order, "17=K|150=G|39=1|19=E7|14=12|151=88|32=12|31=100|");
    office.fill(order, "E2", 5, 17);
    let found = office.breaks();
    let found = found.iter().find(|it| it.contains("correction to 12"));
    let found = found.unwrap().split('\t').next().unwrap().to_owned();
    let (answer, _) = office.command(&format!("settle break={found} venue"));
    assert!(answer.contains("other fills by now"), "{answer}");
    assert_eq!(office.long(), 15);
}

/// A bust of what the order does not have, and the value of the break.
#[test]
fn a_break_of_a_bust_has_what_the_venue_said() {
    for (fill, report, named) in [
        (0, "32=10|14=0|151=100|", "bust of 10, CumQty 0"),
        (10, "32=20|14=0|151=100|", "bust of 20, CumQty 0"),
        (10, "32=20|", "bust of 20"),
        (10, "32=8|14=7|151=93|", "bust of 8, CumQty 7"),
        (10, "14=10|151=90|", "bust, CumQty 10"),
    ] {
        let mut office = office();
        let order = office.order("C1", DAY);
        if fill > 0 {
            office.fill(order, "E1", fill, fill);
        }
        office.report(order, &format!("17=K|150=H|39=1|19=E7|31=100|{report}"));
        let row = office.breaks()[0].clone();
        assert!(row.contains(&format!("\t{named}")), "{row}");
        let (answer, _) = settle(&mut office, "venue");
        assert!(
            answer.contains("settle the break with our value"),
            "{answer}"
        );
        assert_eq!((net(&office), office.breaks().len()), (fill.into(), 1));
        is_whole(&mut office);
    }
    let mut office = office();
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 10, 10);
    office.report(order, "17=K|150=H|39=1|19=E7|32=3|14=7|151=93|31=100|");
    settle(&mut office, "venue");
    assert_eq!((office.long(), office.breaks().len()), (7, 0));
}

#[test]
fn a_correction_above_the_quantity_of_the_order_is_told() {
    let mut office = office();
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 10, 10);
    office.desk.events();
    office.report(order, "17=K|150=G|39=2|19=E1|14=200|151=0|32=200|31=100|");
    let told = "order 1: its fills are more than its OrderQty(38); the position includes them: check with the venue";
    assert!(office.desk.events().contains(&told.to_owned()));
    assert_eq!(office.long(), 200);
}

/// A venue may give its bust or correction the ExecID(17) of the fill, or of an earlier correction.
#[test]
fn a_bust_or_correction_with_the_exec_id_of_the_fill_is_applied_once() {
    for (client, venue) in [
        (Version::Fix44, Version::Fix44),
        (Version::Fix44, Version::Fix42),
        (Version::Fix42, Version::Fix50Sp2),
    ] {
        let mut office = Office::new(client, venue);
        let [bust, correct] = match office.is_old() {
            true => ["150=1|20=1|", "150=1|20=2|"],
            false => ["150=H|", "150=G|"],
        };
        let order = office.order("C1", DAY);
        let fill = office.fill(order, "E1", 10, 10);
        let steps = [
            (
                format!("17=E1|19=E1|{correct}39=1|14=8|151=92|32=8|31=100|"),
                8,
            ),
            (
                format!("17=E1|19=E1|{correct}39=1|14=7|151=93|32=7|31=100|"),
                7,
            ),
            (
                format!("17=K|19=E1|{correct}39=1|14=6|151=94|32=6|31=100|"),
                6,
            ),
            (format!("17=K|19=K|{bust}39=0|14=0|151=100|32=6|"), 0),
        ];
        let mut was = fill.get(17).unwrap().to_owned();
        for (report, long) in &steps {
            let said = office.report(order, report);
            let to_client = of(&said, CLIENT);
            assert_eq!(to_client.get(19), Some(was.as_str()), "{report}");
            was = to_client.get(17).unwrap().to_owned();
            assert_eq!(
                (office.long(), office.breaks().len()),
                (*long, 0),
                "{report}"
            );
            is_whole(&mut office);
            office.log_on();
            let said = office.report(order, report);
            assert!(said.iter().all(|it| it.to == LINE), "again: {said:?}");
            assert_eq!(
                (office.long(), office.breaks().len()),
                (*long, 0),
                "{report}"
            );
        }
        // The first correction again says nothing new.
        office.report(order, &steps[0].0);
        assert_eq!(office.long(), 0);
        // A bust with its ExecID, too.
        office.fill(order, "E2", 10, 10);
        office.report(
            order,
            &format!("17=E2|19=E2|{bust}39=0|14=0|151=100|32=10|"),
        );
        assert_eq!((office.long(), office.breaks().len()), (0, 0));
        is_whole(&mut office);
    }
}

#[test]
fn another_bust_with_the_exec_id_of_one_in_a_break_is_not_lost() {
    let mut office = office();
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 10, 10);
    office.report(order, "17=E1|19=E1|150=H|39=1|14=5|151=95|32=5|31=100|");
    assert!(office.breaks()[0].contains("\tbust of 5, CumQty 5, fill E1\t"));
    let events = office.desk.state().events();
    office.report(order, "17=E1|19=E1|150=H|39=1|14=5|151=95|32=5|31=100|");
    assert_eq!(office.desk.state().events(), events, "the same again");
    office.report(order, "17=E1|19=E1|150=H|39=0|14=0|151=100|32=10|31=100|");
    assert!(office.breaks()[0].contains("\tbust of 10, CumQty 0, fill E1\t"));
    settle(&mut office, "venue");
    assert_eq!((office.long(), office.breaks().len()), (0, 0));
    is_whole(&mut office);
}

const STRAY: &str = "37=X|11=900|17=D1|150=F|39=1|1=A1|55=XYZ|54=1|32=10|31=100|14=10|151=0|";

#[test]
fn a_bust_that_names_the_right_fill_after_a_wrong_one_is_not_lost() {
    let mut office = office();
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 10, 10);
    for (of, left) in [("E7", 10), ("E1", 0)] {
        office.report(
            order,
            &format!("17=K|19={of}|150=H|39=0|14=0|151=100|32=10|31=100|"),
        );
        let row = office.breaks()[0].clone();
        assert!(row.contains(&format!(", fill {of}\t")), "{row}");
        let which = if left == 0 { "venue" } else { "ours" };
        settle(&mut office, which);
        assert_eq!((office.long(), office.breaks().len()), (left, 0));
    }
    is_whole(&mut office);
}

#[test]
fn a_bust_that_does_not_fit_a_fill_of_an_unknown_order_takes_nothing_back() {
    for (what, is_its) in [
        ("55=XYZ|54=1|32=3|14=7|", false),
        ("55=XYZ|54=1|32=20|", false),
        ("55=ABC|54=1|32=10|", false),
        ("55=XYZ|54=2|32=10|", false),
        ("55=XYZ|54=1|32=10|", true),
        ("55=XYZ|54=1|32=0|", true),
        ("54=1|", true),
    ] {
        let mut office = office();
        office.desk.says(LINE, "8", STRAY);
        let stray = number(&office.breaks());
        office.desk.events();
        let bust = format!("37=X|11=900|17=D2|19=D1|150=H|39=4|{what}");
        office.desk.says(LINE, "8", &bust);
        if is_its {
            assert_eq!((net(&office), office.breaks().len()), (0, 0), "{what}");
            continue;
        }
        assert_eq!((net(&office), office.breaks().len()), (10, 2), "{what}");
        let row = office.breaks()[1].clone();
        assert!(row.contains("\tbust that does not fit its fill\t"), "{row}");
        let told = format!(
            "bust or correction of fill D1 of order 900, which does not fit the fill in break {stray}: nothing is changed"
        );
        assert!(office.desk.events().iter().any(|it| it.contains(&told)));
        office.desk.says(LINE, "8", &bust);
        assert_eq!(
            (net(&office), office.breaks().len()),
            (10, 2),
            "once: {what}"
        );
        let right = "37=X|11=900|17=D3|19=D1|150=H|39=4|55=XYZ|54=1|32=10|";
        office.desk.says(LINE, "8", right);
        assert_eq!((net(&office), office.breaks().len()), (0, 1), "{what}");
        is_whole(&mut office);
    }
}

#[test]
fn a_fill_of_an_order_with_another_symbol_or_side_is_in_the_account_of_the_order() {
    for (what, sum) in [
        ("55=ABC|54=1|", 10),
        ("55=XYZ|54=2|", -10),
        ("54=2|", -10),
        ("1=ZZ|55=ABC|54=1|", 10),
        ("55=ABC|", 10),
    ] {
        let mut office = office();
        office.order("C1", DAY);
        office.desk.events();
        let fill = format!("37=V1|11=1|17=E1|150=F|39=1|{what}32=10|31=50|14=10|151=90|");
        office.desk.says(LINE, "8", &fill);
        assert_eq!(net(&office), sum, "{what}");
        let row = office.breaks()[0].clone();
        let row: Vec<&str> = row.split('\t').collect();
        assert_eq!(row[1], "fill of an order that is not known here");
        assert_eq!(row[4], "A1", "{what}");
        let events = office.desk.events();
        let told = format!("break {}: fill that does not belong to order 1; ", row[0]);
        assert!(events.iter().any(|it| it.starts_with(&told)), "{events:?}");
        office.desk.says(LINE, "8", &fill);
        assert_eq!(
            (net(&office), office.breaks().len()),
            (sum, 1),
            "once: {what}"
        );
        is_whole(&mut office);
    }
}

#[test]
fn a_fill_that_its_order_has_counts_once_whatever_its_side() {
    let mut office = office();
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 10, 10);
    office.desk.events();
    let again = "37=V1|11=1|17=E1|150=F|39=1|55=XYZ|54=2|32=10|31=100|14=10|151=90|";
    office.desk.says(LINE, "8", again);
    assert_eq!((net(&office), office.breaks().len()), (10, 0));
    assert_eq!(
        office.desk.events(),
        [
            "report for order 1 ignored: Side(54) is 2, that of the order is 1; LastQty(32) 10; LastPx(31) 100: check with the venue"
        ]
    );
}

#[test]
fn an_ignored_report_is_told_with_what_is_wrong() {
    for (msg_type, report, told) in [
        (
            "8",
            "150=F|39=1|55=BP|54=1|32=10|31=100.5|14=10|151=90|",
            "report for order 1 ignored: Symbol(55) is BP, that of the order is XYZ; LastQty(32) 10; LastPx(31) 100.5: check with the venue",
        ),
        (
            "8",
            "150=4|39=4|55=XYZ|54=2|14=0|151=0|",
            "report for order 1 ignored: Side(54) is 2, that of the order is 1: check with the venue",
        ),
        (
            "8",
            "150=F|39=1|55=XYZ|54=1|32=10|14=10|151=90|",
            "unreadable report for order 1 ignored: LastQty(32) 10; LastPx(31) is missing, or no number: check with the venue",
        ),
        (
            "9",
            "41=1|39=0|434=1|102=3|",
            "report for order 1 ignored: its OrderCancelReject(9) names no request in flight: check with the venue",
        ),
    ] {
        let mut office = office();
        office.order("C1", DAY);
        office.desk.events();
        office
            .desk
            .says(LINE, msg_type, &format!("37=V1|11=1|17=E1|{report}"));
        assert_eq!(office.desk.events(), [told], "{report}");
    }
    let mut office = office();
    office.order("C1", DAY);
    for (report, told) in [
        (
            "11=1-7|150=5|39=0|55=XYZ|54=1|38=80|44=100|14=0|151=80|",
            "unreadable report for order 1-7 ignored: ClOrdID(11) names no replace in flight: check with the venue",
        ),
        (
            "11=900|150=F|39=1|55=XYZ|54=1|32=10|31=100|14=10|151=90|",
            "report for unknown order 900 ignored: Account(1) is missing; LastQty(32) 10; LastPx(31) 100: check with the venue",
        ),
        (
            "11=900|150=0|39=0|55=XYZ|54=1|14=0|151=90|",
            "report for unknown order 900 ignored: check with the venue",
        ),
    ] {
        office.desk.events();
        office
            .desk
            .says(LINE, "8", &format!("37=V9|17=E1|{report}"));
        assert_eq!(office.desk.events()[0], told);
    }
}

#[test]
fn a_bust_of_an_order_with_another_side_is_told_as_one() {
    let mut office = office();
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 10, 10);
    office.desk.events();
    office.desk.says(
        LINE,
        "8",
        "37=V1|11=1|17=K|19=E1|150=H|39=0|55=XYZ|54=2|32=10|14=0|151=100|",
    );
    let row = office.breaks()[0].clone();
    assert!(
        row.contains("\tbust of a fill that its order does not have\t1\t"),
        "{row}"
    );
    let events = office.desk.events();
    let told = "bust or correction of fill E1 of order 1, which has another symbol or side, or no such fill: nothing is changed";
    assert!(events.iter().any(|it| it.contains(told)), "{events:?}");
    assert_eq!(office.long(), 10);
}

/// The Text(58) that the client gets when the venue ends or rejects an order or a request.
#[test]
fn a_long_text_of_the_venue_reaches_the_client_whole_or_is_counted() {
    let cut = |text: &str| {
        let mut office = office();
        office.order("C1", DAY);
        office.desk.says(
            CLIENT,
            "F",
            "11=C2|41=C1|55=XYZ|54=1|38=100|60=20261122-08:00:00|",
        );
        let reject = format!("37=V1|11=1-2|41=1|39=0|434=1|102=3|58={text}|");
        let declined = office.desk.says(LINE, "9", &reject);
        let declined = declined
            .iter()
            .find(|it| it.msg_type == "9")
            .unwrap()
            .clone();
        let ended = office.report(1, &format!("17=K|150=4|39=4|14=0|151=0|58={text}|"));
        let ended = of(&ended, CLIENT);
        office.desk.says(
            CLIENT,
            "D",
            "11=C3|21=1|55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|",
        );
        let rejected = office.report(3, &format!("17=R|150=8|39=8|103=0|14=0|151=0|58={text}|"));
        let rejected = of(&rejected, CLIENT);
        let said = [declined, ended, rejected].map(|it| it.get(58).unwrap().to_owned());
        (said, office.desk.query("status"))
    };
    let whole = "x".repeat(1024);
    let (said, status) = cut(&whole);
    assert!(said.iter().all(|it| *it == whole));
    assert!(!status.contains("58: "), "{status}");
    let long = format!("{}é and more", "x".repeat(1023));
    let (said, status) = cut(&long);
    assert!(said.iter().all(|it| *it == long[..1023]), "{said:?}");
    assert!(status.contains("58: "), "{status}");
}

/// A venue that begins its ExecIDs again every day: CumQty(14) shows which fills are new.
#[test]
fn a_fill_with_the_exec_id_of_a_former_day_counts_when_cum_qty_counts_it() {
    for from_checkpoint in [false, true] {
        let mut office = office();
        let order = office.order("C1", GTC);
        let first = office.fill(order, "E1", 20, 20);
        // On the same day CumQty(14) shows a fill that is missing.
        let fill = "17=E1|150=F|39=1|32=20|31=100|14=40|151=60|";
        office.report(order, fill);
        assert_eq!((office.long(), office.breaks().len()), (20, 1));
        settle(&mut office, "ours");
        office.next_day(from_checkpoint);
        office.report(order, fill);
        // An operator has decided about CumQty(14) 40.
        assert_eq!((office.long(), office.breaks().len()), (20, 0), "in doubt");

        let order = office.order("C2", GTC);
        office.fill(order, "E1", 20, 20);
        office.next_day(from_checkpoint);
        let second = office.fill(order, "E1", 20, 40);
        assert_ne!(second.get(17), first.get(17));
        assert_eq!(office.long(), 60);
        // Both reports again, as after a reset of the sequence numbers.
        let again = |cum| format!("17=E1|150=F|39=1|32=20|31=100|14={cum}|151=60|");
        for cum in [20, 40] {
            let said = office.report(order, &again(cum));
            assert!(said.iter().all(|it| it.to != CLIENT), "{said:?}");
        }
        assert_eq!(office.long(), 60);
        is_whole(&mut office);
        office.log_on();
        // A bust of one of two is a break; an operator names the one that is meant.
        office.report(order, "17=K|19=E1|150=H|39=1|32=20|31=100|14=20|151=80|");
        let broken = office.breaks();
        let of_bust = broken
            .iter()
            .find(|it| it.contains("two fills with this ExecID"));
        let of_bust = of_bust.unwrap().split('\t').next().unwrap().to_owned();
        office.command(&format!("settle break={of_bust} ours"));
        let name = second.get(17).unwrap();
        let (answer, said) = office.command(&format!("bust fill={name}"));
        assert!(answer.contains("is busted (was 20 at 100)"), "{answer}");
        assert_eq!(of(&said, CLIENT).get(19), Some(name));
        assert_eq!(office.long(), 40);
    }
}
