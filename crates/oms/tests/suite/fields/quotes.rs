//! What the orders of a quote carry, and the status requests that the OMS makes.

use fixwire_engine::protocol::dictionary::Version;

use super::carried::{PARTIES, accept, sent};
use super::{CLIENT, VENUE, base, desk, desk_with};
use crate::desk::{Desk, Input};

/// The bodies of the orders that the venue got with the last input.
fn orders(desk: &Desk) -> Vec<String> {
    let all = desk.bodies.iter();
    let orders = all.filter(|(to, of, _)| *to == VENUE && of == "D");
    orders
        .map(|(_, _, body)| String::from_utf8_lossy(body).replace('\x01', "|"))
        .collect()
}

fn quote(id: &str) -> String {
    base("S", id, "")
}

#[test]
fn both_orders_of_a_quote_carry_what_it_has_and_its_user_sets() {
    let fields = format!("{PARTIES}58=two-sided|");
    for from_checkpoint in [false, true] {
        for version in [Version::Fix44, Version::Fix50Sp2] {
            let mut desk = desk_with(
                version,
                "set = {528 = \"A\"}",
                "queue = \"3600s\"\nmap.448 = {ME = \"M\", YOU = \"Y\"}\n",
            );
            desk.hear(&Input::Down(VENUE, false));
            desk.says(
                CLIENT,
                "S",
                &format!("50=TRADER|115=FIRM|{}{fields}", quote("Q1")),
            );
            assert!(orders(&desk).is_empty(), "it waits for the line");
            desk.hear(&Input::Restart(0, from_checkpoint));
            desk.hear(&Input::Up(CLIENT, false));
            desk.bodies.clear();
            desk.hear(&Input::Up(VENUE, false));
            let mapped = fields
                .replace("448=ME", "448=M")
                .replace("448=YOU", "448=Y");
            let sides = orders(&desk);
            assert_eq!(sides.len(), 2, "{sides:?}");
            for side in sides {
                assert!(side.starts_with("50=TRADER|115=FIRM|11="), "{side}");
                assert!(side.ends_with(&format!("|{mapped}528=A|")), "{side}");
            }
        }
    }
}

#[test]
fn a_quote_is_refused_for_what_its_orders_would_lose() {
    let long = "x".repeat(1021);
    for (user, group, fields, text) in [
        (
            "",
            "",
            format!("58={long}|"),
            "(tag 58: above carried_bytes, 1024)",
        ),
        ("", "refuse = [58]", "58=a|".to_owned(), "(tag 58)"),
        ("refuse = [58]", "", "58=a|".to_owned(), "(tag 58)"),
        ("", "", "453=2|448=ME|447=D|452=1|".to_owned(), "(tag 453)"),
        ("", "", "6000=a|".to_owned(), "(tag 6000)"),
        ("", "", "15=GBP|".to_owned(), "(tag 15)"),
    ] {
        let mut desk = desk_with(Version::Fix44, user, group);
        let (heard, said) = desk.asks(CLIENT, "S", &format!("{}{fields}", quote("Q1")));
        assert_eq!(heard, Ok(()), "{fields}");
        let answer = said
            .iter()
            .find(|it| it.msg_type == "AI")
            .expect("an answer");
        let has = answer.get(58).unwrap_or_default();
        assert!(
            answer.get(297) == Some("5") && has.ends_with(text),
            "{fields}: {has}"
        );
        assert!(orders(&desk).is_empty());
    }
    // What the settings refuse meanwhile is rejected instead of sent, on both sides.
    let mut desk = desk_with(Version::Fix44, "", "queue = \"3600s\"\n");
    desk.hear(&Input::Down(VENUE, false));
    desk.says(CLIENT, "S", &format!("{}58=a|", quote("Q1")));
    desk.set("queue =", "refuse = [58]\nqueue =");
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Up(CLIENT, false));
    let said = desk.hear(&Input::Up(VENUE, false));
    let rejected = said
        .iter()
        .filter(|it| it.to == CLIENT && it.get(39) == Some("8"));
    assert_eq!(rejected.count(), 2, "{said:?}");
    assert!(orders(&desk).is_empty());
}

#[test]
fn a_status_request_of_the_oms_says_whose_order_it_is() {
    for (version, has) in [
        (Version::Fix42, "109=FUND|76=BRKR|"),
        (Version::Fix44, PARTIES),
        (Version::Fix50Sp2, PARTIES),
    ] {
        let mut desk = desk(version);
        let order = base("D", "A1", "");
        desk.says(CLIENT, "D", &format!("115=FIRM|{order}{has}58=a|"));
        accept(&mut desk, "1");
        desk.says(CLIENT, "G", &base("G", "A2", "A1"));
        desk.bodies.clear();
        desk.hear(&Input::Down(VENUE, false));
        desk.hear(&Input::Up(VENUE, false));
        let asked = sent(&desk, "H").unwrap_or_else(|| panic!("{version:?}"));
        // OrderStatusRequest(H) of FIX 4.2 has both.
        assert!(asked.starts_with("115=FIRM|11=1|"), "{version:?} {asked}");
        assert!(
            asked.ends_with(&format!("|54=1|{has}")),
            "{version:?} {asked}"
        );
    }
}
