//! A new order that comes again with PossResend(97) = Y, a question about a rejected order, and requests whose values do
//! not fit.

use super::*;

/// The only answer, which the client gets.
fn answer(desk: &mut Desk, msg_type: &'static str, body: &str) -> Said {
    let mut said = desk.says(CLIENT, msg_type, body);
    assert_eq!(said.len(), 1, "{body}");
    let answer = said.remove(0);
    assert_eq!((answer.to, answer.msg_type.as_str()), (CLIENT, "8"));
    answer
}

fn rejected(text: &str, reason: &str) -> [Option<String>; 3] {
    [Some("8".into()), Some(reason.into()), Some(text.into())]
}

fn values(said: &Said) -> [Option<String>; 3] {
    [39, 103, 58].map(|tag| said.get(tag).map(str::to_owned))
}

#[test]
fn a_rejected_order_that_comes_again_gets_the_reason_of_its_reject() {
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        let is_old = version == Version::Fix42;
        let mut desk = desk(version);
        // A fill is the last event before: its ExecID(17) is no ExecID of a status.
        open(&mut desk, "O");
        let long = "38=2000000";
        let cases = [
            (
                ORDER.replace("55=XYZ", "55=NOPE"),
                "RC2: unknown symbol",
                "1",
            ),
            (
                ORDER.replace("38=10", "38=10.5"),
                "RC8: order quantity is not a multiple of the lot size (more than 0 decimals)",
                if is_old { "0" } else { "13" },
            ),
            // Its value, limit and scope are kept for a rerun.
            (
                ORDER.replace("38=10", long),
                "RC6: order quantity exceeds the limit (2000000, at most 1000000 for firm)",
                "3",
            ),
            (
                format!("{ORDER}6000=x|"),
                "a field of the request would not reach the venue (tag 6000)",
                if is_old { "0" } else { "11" },
            ),
            // Its limit is not kept.
            (
                format!("{ORDER}58={}|", "x".repeat(2000)),
                "a field of the request would not reach the venue (tag 58: above carried_bytes, 1024)",
                if is_old { "0" } else { "11" },
            ),
        ];
        for (at, (body, text, reason)) in cases.iter().enumerate() {
            let body = format!("11=R{at}|{}{body}", if is_old { "21=1|" } else { "" });
            let first = answer(&mut desk, "D", &body);
            assert_eq!(values(&first), rejected(text, reason), "{body}");
            let text = text.split(" (tag 58").next().unwrap();
            for from_checkpoint in [false, true] {
                desk.hear(&Input::Restart(0, from_checkpoint));
                desk.hear(&Input::Up(VENUE, false));
                desk.hear(&Input::Up(CLIENT, false));
                let again = answer(&mut desk, "D", &format!("97=Y|{body}"));
                let asked = answer(&mut desk, "H", &format!("11=R{at}|55=XYZ|54=1|"));
                for said in [again, asked] {
                    assert_eq!(values(&said), rejected(text, reason), "{body}");
                    assert_eq!(said.get(37), Some("NONE"));
                    // A status, which reports no event.
                    let (tag, is) = if is_old { (20, "3") } else { (150, "I") };
                    assert_eq!(said.get(tag), Some(is));
                    let exec = said.get(17).unwrap();
                    assert!(exec.ends_with("-0") || exec == "0", "{exec}");
                }
            }
        }
    }
}

#[test]
fn an_id_of_another_request_is_a_duplicate_for_an_order_that_comes_again() {
    let mut desk = desk(Version::Fix44);
    open(&mut desk, "O");
    // A cancel of nothing uses its ClOrdID(11).
    let said = desk.says(
        CLIENT,
        "F",
        "11=F1|41=NONE|55=XYZ|54=1|60=20261122-08:00:00|",
    );
    assert_eq!(said[0].get(102), Some("1"));
    let events = desk.state().events();
    let said = answer(&mut desk, "D", &format!("97=Y|11=F1|{ORDER}"));
    let text = "RC4: duplicate ClOrdID, QuoteID or QuoteReqID";
    assert_eq!(values(&said), rejected(text, "6"));
    assert_eq!(said.get(150), Some("8"));
    assert_eq!(desk.state().events(), events + 1, "its reject is an event");
    // An order that is open: its state.
    let said = answer(&mut desk, "D", &format!("97=Y|11=O|{ORDER}"));
    assert_eq!((said.get(150), said.get(39)), (Some("I"), Some("0")));
}

#[test]
fn a_request_that_names_another_value_than_its_order_says_which() {
    let mut desk = desk(Version::Fix44);
    open(&mut desk, "O");
    let wrong = [
        ("F", "55=NEAR|54=1|", 55),
        ("F", "55=XYZ|54=2|", 54),
        ("F", "1=B9|55=XYZ|54=1|", 1),
        ("G", "55=NEAR|54=1|38=20|40=2|44=100|", 55),
        ("G", "55=XYZ|54=1|38=20|40=1|", 40),
        ("G", "55=XYZ|54=1|38=20|40=2|44=100|59=1|", 59),
    ];
    for (at, (msg_type, body, tag)) in wrong.into_iter().enumerate() {
        let body = format!("11=X{at}|41=O|{body}60=20261122-08:00:00|");
        let said = desk.says(CLIENT, msg_type, &body);
        let text = format!(
            "only OrderQty(38) and Price(44) of a replace may differ from the order (tag {tag})"
        );
        assert_eq!(said[0].get(58), Some(text.as_str()), "{body}");
    }
    // A quantity with decimals, in a replace and in a quote.
    let said = desk.says(
        CLIENT,
        "G",
        "11=X9|41=O|55=XYZ|54=1|38=10.5|40=2|44=100|60=20261122-08:00:00|",
    );
    let text = "RC8: order quantity is not a multiple of the lot size (more than 0 decimals)";
    assert_eq!(said[0].get(58), Some(text));
    let said = desk.says(CLIENT, "S", "117=Q1|55=XYZ|132=90|133=110|134=1.5|135=1|");
    assert_eq!(said[0].get(58), Some(text), "{said:?}");
}
