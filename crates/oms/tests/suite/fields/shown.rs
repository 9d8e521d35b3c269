//! What orders carry, as operators see it.

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::Input;

use super::carried::{PARTIES, accept};
use super::venue::{COPY, body, desk_with, report};
use super::{CLIENT, ORDER, VENUE, base, desk, open};

/// A row of an answer by the names of its columns.
fn row<'a>(answer: &'a str, column: &str) -> Option<&'a str> {
    let mut lines = answer.lines();
    let names = lines.next()?.split('\t');
    let values = lines.next_back()?.split('\t');
    let mut pairs = names.zip(values);
    pairs.find(|(name, _)| *name == column).map(|it| it.1)
}

#[test]
fn an_order_is_listed_with_all_that_it_carries() {
    let mut desk = desk(Version::Fix44);
    open(&mut desk, "O");
    assert_eq!(row(&desk.query("orders"), "fields"), None);
    let order = base("D", "A1", "");
    let fields = format!("{PARTIES}354=6|355=a|b\\\u{e4}|");
    // The data has a separator of fields, a line and a letter of two bytes.
    desk.says(
        CLIENT,
        "D",
        &format!("50=T|115=FIRM|{order}{fields}58=x y|"),
    );
    accept(&mut desk, "2");
    let parties = PARTIES.trim_end_matches('|');
    let wanted = format!("50=T|115=FIRM|{parties}|354=6|355=a\\x01b\\x5c\u{e4}|58=x y");
    for query in ["orders", "order 2"] {
        assert_eq!(row(&desk.query(query), "fields"), Some(&*wanted), "{query}");
    }
    assert_eq!(row(&desk.query("order 1"), "fields"), Some(""));
}

/// The files of the day have the same column; `oms_carried` of the rigs reads them.
#[test]
fn an_order_with_parties_and_instructions_is_seen_whole_at_the_venue_by_operators_and_in_drop_copies()
 {
    let group = "carry = [111]\nex_destination = \"XLON\"\nmap.18 = {6 = \"6\"}\n";
    for from_checkpoint in [false, true] {
        let mut desk = desk_with(Version::Fix44, Version::Fix44, group);
        let all = format!("18=6|111=2|{PARTIES}528=A|");
        let said = desk.says(CLIENT, "D", &format!("11=A2|{ORDER}100=XLON|{all}"));
        let sent = said.iter().find(|it| it.to == VENUE).map(body);
        let sent = sent.expect("an order at the venue");
        let of_order = |text: &str| {
            for field in all.split_terminator('|') {
                let found = text.split('|').filter(|it| *it == field).count();
                let wanted = all.split('|').filter(|it| *it == field).count();
                assert_eq!(found, wanted, "{field}: {text}");
            }
        };
        of_order(&sent);
        desk.hear(&Input::Restart(0, from_checkpoint));
        for session in [VENUE, CLIENT, COPY] {
            desk.hear(&Input::Up(session, false));
        }
        for query in ["orders", "order 2"] {
            of_order(row(&desk.query(query), "fields").unwrap_or_default());
        }
        // The venue reports whose order it is, and client and drop copy get that.
        let accepted = "37=V2|11=2|17=E2|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|";
        let said = desk.says(VENUE, "8", &format!("{accepted}{PARTIES}"));
        for to in [CLIENT, COPY] {
            let told = body(report(&said, to));
            assert!(told.contains(PARTIES), "{to}: {told}");
        }
    }
}
