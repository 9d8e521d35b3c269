//! Fields of open orders that a start with other settings or dictionaries refuses.

use fixwire_engine::protocol::dictionary::Version;

use super::carried::{PARTIES, accept};
use super::{CLIENT, VENUE, base, desk_with};
use crate::desk::{Desk, Input};

const CAUSE: &str =
    "with fields that their lines refuse since the settings or a dictionary changed";

/// The event about such orders after a restart, without what to do.
fn named(desk: &mut Desk, from_checkpoint: bool) -> Option<String> {
    desk.events();
    desk.hear(&Input::Restart(0, from_checkpoint));
    let events = desk.events();
    let mut found = events.iter().filter(|event| event.contains(CAUSE));
    let event = found.next().cloned();
    assert_eq!(found.next(), None);
    event.and_then(|it| Some(it.split_once(';')?.0.to_owned()))
}

/// Open orders: 1 with parties, 2 with nothing, 3 with a text, 5 with a tag that the settings name; 4 has parties and is
/// closed. 6 and 7 are a quote with parties, 8 waits and has parties.
fn with_orders(group: &str) -> Desk {
    let keys = format!("{group}\ncarry = [6000]\nqueue = \"3600s\"\n");
    let mut desk = desk_with(Version::Fix44, "", &keys);
    let fields = [PARTIES, "", "58=a|", PARTIES, "6000=x|"];
    for (number, fields) in (1..).zip(fields) {
        let order = base("D", &format!("A{number}"), "");
        desk.says(CLIENT, "D", &format!("{order}{fields}"));
        accept(&mut desk, &number.to_string());
    }
    let filled =
        "37=V|11=4|17=F4|150=F|39=2|20=0|55=XYZ|54=1|38=10|32=10|31=100|14=10|151=0|6=100|";
    desk.says(VENUE, "8", filled);
    desk.says(CLIENT, "S", &format!("{}{PARTIES}", base("S", "Q1", "")));
    desk.hear(&Input::Down(VENUE, false));
    desk.says(CLIENT, "D", &format!("{}{PARTIES}", base("D", "A8", "")));
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Down(VENUE, false));
    desk
}

#[test]
fn a_start_names_the_open_orders_that_another_dictionary_refuses() {
    for from_checkpoint in [false, true] {
        let mut desk = with_orders("");
        assert_eq!(
            named(&mut desk, from_checkpoint),
            None,
            "nothing has changed"
        );
        desk.set_version(VENUE, Version::Fix42);
        let wanted =
            format!("4 open orders {CAUSE}: 1 (tag 802), 6 (tag 802), 7 (tag 802), 8 (tag 802)");
        assert_eq!(named(&mut desk, from_checkpoint), Some(wanted.clone()));
        assert_eq!(
            named(&mut desk, from_checkpoint),
            Some(wanted),
            "as long as they are open"
        );
        desk.set_version(VENUE, Version::Fix50Sp2);
        assert_eq!(named(&mut desk, from_checkpoint), None);
    }
}

#[test]
fn a_start_names_the_open_orders_that_changed_contracts_refuse() {
    let mut desk = with_orders("drop = [15]");
    desk.set("drop = [15]", "refuse = [58, 448]");
    let wanted = format!(
        "5 open orders {CAUSE}: 1 (tag 448), 3 (tag 58), 6 (tag 448), 7 (tag 448), 8 (tag 448)"
    );
    assert_eq!(named(&mut desk, true), Some(wanted));
    desk.set("carry = [6000]\n", "");
    desk.set("refuse = [58, 448]", "");
    let wanted = format!("1 open order {CAUSE}: 5 (tag 6000)");
    assert_eq!(named(&mut desk, false), Some(wanted));
}

#[test]
fn nothing_is_sent_with_a_field_that_the_line_no_longer_has() {
    const DELTA: &str = "remove member NoPartyIDs from D\nremove member OrderCapacity from D\n\
                         remove member OrderCapacity from G\n";
    for from_checkpoint in [false, true] {
        let mut desk = desk_with(Version::Fix44, "", "queue = \"3600s\"");
        desk.says(CLIENT, "D", &format!("{}528=A|", base("D", "A1", "")));
        accept(&mut desk, "1");
        // Too large: an operator runs it again.
        let large = base("D", "A2", "").replace("38=10|", "38=2000000|");
        desk.says(CLIENT, "D", &format!("{large}528=A|"));
        desk.hear(&Input::Down(VENUE, false));
        for (id, fields) in [
            ("A3", PARTIES),
            ("A4", "528=A|"),
            ("A5", "58=a|"),
            ("A7", ""),
        ] {
            desk.says(CLIENT, "D", &format!("{}{fields}", base("D", id, "")));
        }
        // The OMS itself replaces a queued order.
        desk.says(CLIENT, "G", &format!("{}528=A|", base("G", "A6", "A7")));
        desk.set_dictionary(VENUE, DELTA);
        desk.hear(&Input::Restart(0, from_checkpoint));
        desk.hear(&Input::Up(CLIENT, false));
        let mut said = desk.hear(&Input::Up(VENUE, false));
        said.extend(desk.hear(&Input::Pass(1_000_000)));
        let orders = said
            .iter()
            .filter(|it| it.to == VENUE && it.msg_type == "D");
        let orders: Vec<_> = orders.map(|it| it.get(58)).collect();
        assert_eq!(orders, [Some("a")], "{said:?}");
        assert!(
            !said.iter().any(|it| it.to == VENUE && it.msg_type == "G"),
            "{said:?}"
        );
        for (id, tag) in [("A3", 453), ("A4", 528), ("A6", 528)] {
            let mut told = said
                .iter()
                .filter(|it| it.to == CLIENT && it.get(11) == Some(id));
            let text = format!("a field of the request would not reach the venue (tag {tag})");
            assert!(
                told.any(|it| it.get(58) == Some(text.as_str())),
                "{id}: {said:?}"
            );
        }
        let said = desk.hear(&Input::Command("rerun order=C/A2 without=RC6".into()));
        assert!(!said.iter().any(|it| it.to == VENUE), "{said:?}");
        assert!(
            said.iter()
                .any(|it| it.get(58).is_some_and(|it| it.ends_with("(tag 528)")))
        );
    }
}

#[test]
fn a_field_that_a_later_contract_drops_is_counted_when_its_request_is_sent() {
    let mut desk = desk_with(Version::Fix44, "", "queue = \"3600s\"");
    desk.hear(&Input::Down(VENUE, false));
    let quote = base("S", "Q1", "");
    desk.says(CLIENT, "D", &format!("{}58=a|528=A|", base("D", "A1", "")));
    desk.says(CLIENT, "S", &format!("{quote}58=b|"));
    desk.set("queue = \"3600s\"", "queue = \"3600s\"\ndrop = [58]");
    desk.hear(&Input::Restart(0, true));
    desk.hear(&Input::Up(CLIENT, false));
    let said = desk.hear(&Input::Up(VENUE, false));
    let orders = said
        .iter()
        .filter(|it| it.to == VENUE && it.msg_type == "D");
    let orders: Vec<_> = orders.map(|it| (it.get(58), it.get(528))).collect();
    assert!(orders.contains(&(None, Some("A"))), "{said:?}");
    let counted = 1 + orders.iter().filter(|it| it.1.is_none()).count();
    let status = desk.query("status");
    assert!(status.contains(&format!("58: {counted}")), "{status}");
    // A field that the contract drops at once is counted once.
    desk.says(CLIENT, "D", &format!("{}58=c|", base("D", "A2", "")));
    let status = desk.query("status");
    assert!(status.contains(&format!("58: {}", counted + 1)), "{status}");
    // A cancel of the OMS repeats fields, and counts none.
    desk.hear(&Input::Command("kill account=A1".into()));
    let status = desk.query("status");
    assert!(status.contains(&format!("58: {}", counted + 1)), "{status}");
}
