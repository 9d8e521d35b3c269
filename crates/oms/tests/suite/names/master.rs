//! Identifiers and reference data of the file of instruments.

use super::*;

/// The instrument that the plain venue or the venue gets, or the text of the reject.
fn taken(desk: &mut Desk, body: &str) -> String {
    let said = desk.says(CLIENT, "D", body);
    let sent = [to(&said, VENUE, "D"), to(&said, PLAIN, "D")].concat();
    match sent.first() {
        Some(sent) => values(sent, &[55, 48, 22, 207, 167, 200]),
        None => to(&said, CLIENT, "8")[0].get(58).unwrap().to_owned(),
    }
}

#[test]
fn an_order_names_its_instrument_by_symbol_or_by_an_identifier() {
    let mut desk = desk("");
    let named = [
        ("55=XYZ|", "XYZ - - - - -"),
        ("48=US0000000001|22=4|", "XYZ - - - - -"),
        ("55=[N/A]|48=US0000000001|22=4|", "XYZ - - - - -"),
        ("55=[N/A]|22=5|48=XYZ.N|", "XYZ - - - - -"),
        (
            "55=XYZ|48=US0000000001|22=4|207=XNYS|167=CS|",
            "XYZ - - - - -",
        ),
        ("48=7002|22=8|200=202706|541=20270618|", "JUN - - - - -"),
        ("55=MAR|200=202703|167=FUT|", "MAR - - - - -"),
        ("55=JUN|200=20270618|", "JUN - - - - -"),
        // What names no instrument, or another one than the symbol.
        ("48=US0000000009|22=4|55=[N/A]|", "RC2: unknown symbol"),
        (
            "55=XYZ|48=US0000000002|22=4|",
            "Symbol(55) and SecurityID(48) name different instruments (Symbol XYZ, SecurityID of ABC)",
        ),
        (
            "55=XYZ|48=US0000000009|22=4|",
            "Symbol(55) and SecurityID(48) name different instruments (Symbol XYZ, SecurityID of no instrument)",
        ),
        // The file does not say whether these agree.
        (
            "55=PLAIN1|48=US0000000009|22=4|",
            "a field of the request would not reach the venue (tag 48)",
        ),
        (
            "55=XYZ|48=US0000000001|",
            "a field of the request would not reach the venue (tag 48)",
        ),
        (
            "55=XYZ|207=XLON|",
            "a field of the request would not reach the venue (tag 207)",
        ),
        (
            "55=MAR|200=202706|",
            "a field of the request would not reach the venue (tag 200)",
        ),
        (
            "55=JUN|200=20270619|",
            "a field of the request would not reach the venue (tag 200)",
        ),
        (
            "55=MAR|200=20270318|",
            "a field of the request would not reach the venue (tag 200)",
        ),
        (
            "55=MAR|167=CS|",
            "a field of the request would not reach the venue (tag 167)",
        ),
    ];
    for (at, (instrument, wanted)) in named.into_iter().enumerate() {
        let found = taken(&mut desk, &order(&format!("C{at}"), instrument));
        assert_eq!(found, wanted, "{instrument}");
    }
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn other_requests_name_it_by_an_identifier_too() {
    let mut desk = desk("");
    desk.says(CLIENT, "D", &order("C1", "55=XYZ|"));
    desk.says(
        VENUE,
        "8",
        "37=V1|11=1|17=E1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|",
    );
    let by_id = "55=[N/A]|48=US0000000001|22=4|";
    let by_other = "55=XYZ|48=US0000000002|22=4|";
    let status = desk.says(CLIENT, "H", &format!("11=C1|54=1|{by_id}"));
    assert_eq!(values(&to(&status, CLIENT, "8")[0], &[39, 55]), "0 XYZ");
    let change = |id: &str, name: &str| {
        format!("11={id}|41=C1|{name}54=1|38=20|40=2|44=100|60=20261122-08:00:00|")
    };
    for msg_type in ["G", "F"] {
        let said = desk.says(CLIENT, msg_type, &change(&format!("N{msg_type}"), by_other));
        let text = to(&said, CLIENT, "9")[0].get(58).unwrap().to_owned();
        assert!(text.contains("(Symbol XYZ, SecurityID of ABC)"), "{text}");
        assert_eq!(to(&said, VENUE, msg_type).len(), 0);
    }
    let said = desk.says(CLIENT, "G", &change("R1", by_id));
    assert_eq!(values(&to(&said, VENUE, "G")[0], &[55, 48, 38]), "XYZ - 20");
    let said = desk.says(
        CLIENT,
        "S",
        &format!("117=Q1|{by_id}132=90|133=110|134=1|135=1|"),
    );
    assert_eq!(to(&said, VENUE, "D").len(), 2);
    let (refused, said) = desk.asks(
        CLIENT,
        "S",
        &format!("117=Q2|{by_other}132=90|133=110|134=1|135=1|"),
    );
    assert_eq!(refused, Ok(()));
    assert_eq!(to(&said, VENUE, "D").len(), 0);
    let said = desk.says(CLIENT, "R", &format!("131=I1|146=1|{by_id}"));
    assert_eq!(values(&to(&said, VENUE, "R")[0], &[55, 48]), "XYZ -");
    let said = desk.says(CLIENT, "e", &format!("324=S1|{by_id}263=0|"));
    assert_eq!(values(&to(&said, CLIENT, "f")[0], &[55]), "XYZ");
    let said = desk.says(
        CLIENT,
        "q",
        &format!("11=M1|530=1|{by_id}60=20261122-08:00:00|"),
    );
    assert!(!to(&said, VENUE, "F").is_empty(), "{said:?}");
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn a_recovered_reject_is_the_one_that_was_sent() {
    let mut desk = desk("");
    let wrong = order("C1", "55=[N/A]|48=US0000000001|22=4|").replace("44=100", "44=100.25");
    let said = desk.says(CLIENT, "D", &wrong);
    let report = &to(&said, CLIENT, "8")[0];
    assert_eq!(
        values(report, &[55, 58]),
        "XYZ RC8: price is not a multiple of the tick size (more than 1 decimals)"
    );
    let again = recovered(&mut desk);
    assert_eq!(
        values(&again[0], &[55, 58, 17]),
        values(report, &[55, 58, 17])
    );
}

#[test]
fn carried_identifiers_still_reach_the_venue_and_must_agree() {
    let mut desk = desk("carry = [48, 22]");
    let by_both = "55=XYZ|48=US0000000001|22=4|";
    assert_eq!(
        taken(&mut desk, &order("C1", by_both)),
        "XYZ US0000000001 4 - - -"
    );
    let by_id = "48=US0000000001|22=4|";
    assert_eq!(
        taken(&mut desk, &order("C2", by_id)),
        "XYZ US0000000001 4 - - -"
    );
    let other = taken(&mut desk, &order("C3", "55=ABC|48=US0000000001|22=4|"));
    assert!(other.contains("Symbol ABC, SecurityID of XYZ"), "{other}");
}

#[test]
fn an_expired_symbol_takes_no_new_orders_and_open_ones_go_on() {
    let mut desk = desk("");
    let day = |desk: &mut Desk| {
        desk.hear(&Input::Restart(1, true));
        log_on(desk);
    };
    let good_till_cancel = order("C1", "55=MAR|59=1|");
    assert!(taken(&mut desk, &good_till_cancel).starts_with("MAR"));
    desk.says(
        VENUE,
        "8",
        "37=V1|11=1|17=E1|150=0|39=0|55=MAR|54=1|38=10|14=0|151=10|59=1|",
    );
    day(&mut desk);
    assert!(taken(&mut desk, &order("C2", "55=MAR|59=1|")).starts_with("MAR"));
    day(&mut desk);
    let text = "the symbol has expired (symbol=MAR, no new orders from 2026-11-24 on)";
    assert_eq!(taken(&mut desk, &order("C3", "55=MAR|")), text);
    assert_eq!(taken(&mut desk, &order("C4", "48=7001|22=8|")), text);
    // A spread has the legs that it has.
    let spread = order("C5", "55=JUN-MAR|").replace("44=100", "44=2");
    assert_eq!(taken(&mut desk, &spread), text);
    assert!(taken(&mut desk, &order("C6", "55=JUN|")).starts_with("JUN"));
    let said = desk.says(CLIENT, "S", "117=Q1|55=MAR|132=90|133=110|134=1|135=1|");
    assert_eq!(to(&said, VENUE, "D").len(), 0);
    assert_eq!(state_of(&desk, 1), OrderState::Working);
    let said = desk.says(CLIENT, "F", "11=C7|41=C1|55=MAR|54=1|60=20261122-08:00:00|");
    assert_eq!(to(&said, VENUE, "F").len(), 1);
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn a_held_order_of_an_expired_symbol_is_rejected_when_it_triggers() {
    let mut setup = setup("", Version::Fix44);
    setup.settings = setup.settings.replace(
        "[oms.own_tags]",
        "market_data = [\"VENUE\"]\n[oms.own_tags]\ncondition = 9703",
    );
    let mut desk = Desk::new(&setup);
    log_on(&mut desk);
    let held = |id: &str, symbol: &str| {
        let terms = format!("55={symbol}|59=1|9703=last>=101|");
        order(id, &terms)
    };
    desk.says(CLIENT, "D", &held("C1", "MAR"));
    desk.says(CLIENT, "D", &held("C2", "JUN"));
    let spread = held("C3", "JUN-MAR").replace("44=100", "44=2");
    desk.says(CLIENT, "D", &spread);
    for number in 1..=3 {
        assert_eq!(state_of(&desk, number), OrderState::Held);
    }
    for _ in 0..2 {
        desk.hear(&Input::Restart(1, true));
        log_on(&mut desk);
    }
    let mut said = Vec::new();
    for symbol in ["MAR", "JUN", "JUN-MAR"] {
        said.extend(desk.says(VENUE, "W", &format!("55={symbol}|268=1|269=2|270=101|")));
    }
    for _ in 0..5 {
        said.extend(desk.hear(&Input::Pass(1_000_000)));
    }
    let sent = to(&said, VENUE, "D");
    let sent: Vec<String> = sent.iter().map(|it| values(it, &[55])).collect();
    assert_eq!(sent, ["JUN"]);
    let text = "8 the symbol has expired (symbol=MAR, no new orders from 2026-11-24 on)";
    let told = to(&said, CLIENT, "8");
    let told: Vec<String> = told.iter().map(|it| values(it, &[11, 39, 58])).collect();
    for id in ["C1", "C3"] {
        assert!(told.contains(&format!("{id} {text}")), "{told:?}");
    }
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn each_mistake_of_the_file_is_named() {
    let head =
        "symbol,tick,isin,cusip,sedol,figi,security_id,security_id_source,maturity,expires\n";
    let cases = [
        (
            "X,1,US1,,,,,,,",
            "instruments.csv:2: isin US1 must have 12 letters and digits",
        ),
        (
            "X,1,,12345678-,,,,,,",
            "instruments.csv:2: cusip 12345678- must have 9 letters",
        ),
        (
            "X,1,,,B0,,,,,",
            "instruments.csv:2: sedol B0 must have 7 letters",
        ),
        (
            "X,1,,,,BBG,,,,",
            "instruments.csv:2: figi BBG must have 12 letters",
        ),
        (
            "X,1,,,,,7,,,",
            "instruments.csv:2: security_id and security_id_source must both",
        ),
        (
            "X,1,,,,,7,4,,",
            "instruments.csv:2: security_id_source 4 has the column isin",
        ),
        (
            "X,1,,,,,a b,8,,",
            "instruments.csv:2: security_id a b must be at most 64 ASCII",
        ),
        (
            "X,1,,,,,,,soon,",
            "instruments.csv:2: maturity soon is not a month or a day",
        ),
        (
            "X,1,,,,,,,2026-13,",
            "instruments.csv:2: maturity 2026-13 is not a month",
        ),
        (
            "X,1,,,,,,,,2026-02-30",
            "instruments.csv:2: expires 2026-02-30 is not a day",
        ),
        (
            "X,1,,,,,7,8,,\nY,1,,,,,7,8,,",
            "instruments.csv:3: Y has SecurityID(48) 7 with SecurityIDSource(22) 8, as X in line 2",
        ),
    ];
    for (row, wanted) in cases {
        let text = format!("{head}{row}\n");
        let found = mistakes("", &[("instruments.csv", &text)]);
        assert!(
            found.iter().any(|it| it.contains(wanted)),
            "{row}: {found:?}"
        );
    }
    let right = format!("{head}X,1,,,,,7,8,2026-12,2026-12-18\nY,1,,,,,7,M,2026-12-18,\n");
    assert_eq!(mistakes("", &[("instruments.csv", &right)]), [""; 0]);
}

#[test]
fn an_order_that_a_control_rejected_is_not_run_again_after_the_expiry() {
    let mut desk = desk("");
    let said = desk.says(
        CLIENT,
        "D",
        &order("C1", "55=XYZ|").replace("38=10", "38=5000"),
    );
    let text = to(&said, CLIENT, "8")[0].get(58).unwrap().to_owned();
    assert!(text.starts_with("RC6"), "{text}");
    let expired = INSTRUMENTS.replace("XNYS,CS,,\nABC", "XNYS,CS,,2026-11-22\nABC");
    assert_ne!(expired, INSTRUMENTS);
    desk.set_file("instruments.csv", &expired);
    desk.hear(&Input::Restart(0, true));
    log_on(&mut desk);
    let said = desk.hear(&Input::Command(
        "rerun order=CLIENT/C1 without=RC6".to_owned(),
    ));
    assert_eq!(to(&said, VENUE, "D").len(), 0);
    assert_eq!(desk.state().violations(), 0);
}
