//! What an order carries after a replace: the fields of the replace alone, or also those of the order.

use fixwire_engine::protocol::dictionary::Version;

use super::carried::{PARTIES, accept, is_passed, sent, text};
use super::{CLIENT, ORDER, VENUE, base, desk, desk_with, refuses};
use crate::desk::{Desk, Input, dictionary};

const MERGE: &str = "replace = \"merge\"\ncarry = [6000]\nqueue = \"3600s\"\nflow = \"1 in 1s\"\n";

/// The venue has carried out the replace with this id; the next one has a number more.
fn replaced(desk: &mut Desk, id: &str, of: &str) {
    let report = format!(
        "37=V1|11={id}|41={of}|17=R{id}|150=5|39=0|20=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|"
    );
    desk.says(VENUE, "8", &report);
}

/// The fields that the state has of an order or a request.
fn fields(desk: &Desk, number: u64) -> String {
    let lines = desk.state().state_lines();
    let of = format!("fields of {number} ");
    let mine = lines.lines().filter(|line| line.starts_with(&of));
    mine.map(|line| format!("{}\n", &line[of.len()..]))
        .collect()
}

fn restart(desk: &mut Desk, from_checkpoint: bool) {
    desk.hear(&Input::Restart(0, from_checkpoint));
    for session in [VENUE, CLIENT] {
        desk.hear(&Input::Up(session, false));
    }
}

#[test]
fn a_merged_replace_has_what_its_order_has_and_it_does_not_name() {
    for from_checkpoint in [false, true] {
        let mut desk = desk_with(Version::Fix44, "", MERGE);
        let order = base("D", "A1", "");
        desk.says(
            CLIENT,
            "D",
            &format!("50=TRADER|{order}58=old|354=3|355=a|c|{PARTIES}6000=x|"),
        );
        accept(&mut desk, "1");
        // It waits until its line has room, over a restart, and its own text counts, not the old one in another encoding.
        desk.says(CLIENT, "G", &format!("{}58=new|", base("G", "A2", "A1")));
        assert_eq!(sent(&desk, "G"), None);
        restart(&mut desk, from_checkpoint);
        desk.hear(&Input::Pass(2_000_000_000));
        let merged = format!("|58=new|{PARTIES}6000=x|");
        let body = sent(&desk, "G").expect("it is sent");
        assert!(
            body.starts_with("50=TRADER|") && body.ends_with(&merged),
            "{body}"
        );
        assert!(!body.contains("|354="), "{body}");
        replaced(&mut desk, "1-2", "1");
        // So has one that names nothing; the order has all of it, also after a restart.
        restart(&mut desk, from_checkpoint);
        desk.hear(&Input::Pass(2_000_000_000));
        desk.says(CLIENT, "G", &base("G", "A3", "A2"));
        let body = sent(&desk, "G").unwrap();
        assert!(
            body.starts_with("50=TRADER|") && body.ends_with(&merged),
            "{body}"
        );
        replaced(&mut desk, "1-3", "1-2");
        restart(&mut desk, from_checkpoint);
        desk.hear(&Input::Pass(2_000_000_000));
        desk.hear(&Input::Command("kill account=A1".into()));
        let body = sent(&desk, "F").unwrap();
        assert!(body.ends_with(&format!("|{PARTIES}")), "{body}");
    }
}

#[test]
fn a_replace_of_an_order_that_waits_is_merged_too() {
    let mut desk = desk_with(Version::Fix44, "", MERGE);
    desk.hear(&Input::Down(VENUE, false));
    desk.says(
        CLIENT,
        "D",
        &format!("{}58=a|{PARTIES}", base("D", "A1", "")),
    );
    desk.says(CLIENT, "G", &format!("{}58=b|", base("G", "A2", "A1")));
    desk.hear(&Input::Up(VENUE, false));
    let body = sent(&desk, "D").unwrap();
    assert!(body.ends_with(&format!("|58=b|{PARTIES}")), "{body}");
}

#[test]
fn an_order_keeps_a_field_that_no_replace_can_have() {
    let mut count = 0;
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        let dictionary = dictionary(version);
        let [order, replace] = [b"D", b"G"].map(|it| dictionary.message(it).unwrap());
        let only = order.members().iter().filter(|member| {
            replace.member(member.tag).is_none() && is_passed(member, "D") && is_passed(member, "G")
        });
        for member in only {
            let field = text(&dictionary, member);
            let mut desk = desk_with(version, "", MERGE);
            desk.says(CLIENT, "D", &format!("{}{field}58=a|", base("D", "A1", "")));
            accept(&mut desk, "1");
            for (id, of, at_venue, before) in [("A2", "A1", "1-2", "1"), ("A3", "A2", "1-3", "1-2")]
            {
                desk.hear(&Input::Pass(2_000_000_000));
                desk.says(CLIENT, "G", &base("G", id, of));
                let body = sent(&desk, "G").unwrap();
                assert!(body.ends_with("|58=a|") && !body.contains(&field), "{body}");
                replaced(&mut desk, at_venue, before);
                let has = fields(&desk, 1);
                let wanted = format!("58=a|{field}").replace('|', "\\x01");
                assert!(has.contains(&wanted), "{version:?} {field} {has}");
            }
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn the_history_of_a_replace_without_fields_says_what_its_order_keeps() {
    let mut desk = desk_with(Version::Fix44, "", "replace = \"merge\"");
    desk.set_dictionary(VENUE, "remove member OrderCapacity from G\n");
    restart(&mut desk, false);
    desk.says(CLIENT, "D", &format!("{}528=A|", base("D", "A1", "")));
    accept(&mut desk, "1");
    desk.says(CLIENT, "G", &base("G", "A2", "A1"));
    let history = desk.history(1);
    let wanted = "request 2 carries no fields; its order keeps 528=A";
    assert!(history.iter().any(|it| it == wanted), "{history:?}");
    assert_eq!(desk.history(2), [""; 0], "it is no order");
}

#[test]
fn a_merged_replace_is_refused_for_what_its_order_has() {
    let long = |bytes: usize| "x".repeat(bytes);
    let mut desk = desk_with(Version::Fix44, "", MERGE);
    desk.says(
        CLIENT,
        "D",
        &format!("{}58={}|6000=x|", base("D", "A1", ""), long(600)),
    );
    accept(&mut desk, "1");
    desk.hear(&Input::Pass(2_000_000_000));
    let replace = format!("{}{PARTIES}", base("G", "A2", "A1"));
    let too_long = format!("{replace}376={}|", long(400));
    let (heard, said) = desk.asks(CLIENT, "G", &too_long);
    let text = said[0].get(58).unwrap_or_default();
    assert!(
        heard.is_ok() && text.ends_with("(tag 58: above carried_bytes, 1024)"),
        "{text}"
    );
    // Named, the text counts once.
    desk.says(
        CLIENT,
        "G",
        &format!("{too_long}58=a|").replace("11=A2|", "11=A3|"),
    );
    assert!(sent(&desk, "G").is_some());
    desk.says(VENUE, "9", "37=V1|11=1-2|41=1|39=0|434=2|102=0|58=no|");
    desk.set("carry = [6000]\n", "");
    restart(&mut desk, false);
    desk.hear(&Input::Pass(2_000_000_000));
    let (heard, said) = desk.asks(CLIENT, "G", &base("G", "A4", "A1"));
    assert!(refuses(&heard, &said, 6000), "{heard:?}");
}

/// The OMS gives a replace up: the venue's answer has not come, and a status answer shows the order without it.
fn give_up(desk: &mut Desk, group: &str, replace: &str) {
    let lost = desk.says(CLIENT, "G", replace);
    assert_eq!(lost[0].to, VENUE, "{group}");
    desk.hear(&Input::Down(VENUE, false));
    desk.hear(&Input::Up(VENUE, false));
    let status = "37=V1|11=1|17=0|150=I|39=0|55=XYZ|54=1|38=10|44=100|14=0|151=10|6=0|";
    let said = desk.says(VENUE, "8", status);
    assert!(
        said.iter().any(|it| it.to == CLIENT && it.msg_type == "9"),
        "{said:?}"
    );
}

#[test]
fn a_replace_that_comes_late_gives_its_order_its_fields() {
    for (group, own, late) in [
        ("", "58=new|", "58=new|"),
        ("", "", ""),
        ("replace = \"merge\"\n", "58=new|", "58=new|528=A|"),
        ("replace = \"merge\"\n", "", "58=old|528=A|"),
    ] {
        for from_checkpoint in [false, true] {
            let mut desk = desk_with(Version::Fix44, "", group);
            desk.says(
                CLIENT,
                "D",
                &format!("{}58=old|528=A|", base("D", "A1", "")),
            );
            accept(&mut desk, "1");
            give_up(&mut desk, group, &format!("{}{own}", base("G", "A2", "A1")));
            let body = |of: &str| of.replace('|', "\\x01");
            assert!(fields(&desk, 1).contains(&body("58=old|528=A|")));
            restart(&mut desk, from_checkpoint);
            let late_report = "37=V1|11=1-2|41=1|17=L|150=5|39=0|55=XYZ|54=1|38=10|44=100|14=0|151=10|6=0|60=20261122-09:00:00|";
            desk.says(VENUE, "8", late_report);
            restart(&mut desk, from_checkpoint);
            let has = fields(&desk, 1);
            match late {
                "" => assert_eq!(has, "", "{group}"),
                late => assert!(
                    has.trim_end().ends_with(&body(late)),
                    "{group} {own}: {has}"
                ),
            }
            // What the order is asked for again is what it has now.
            desk.says(CLIENT, "F", &base("F", "A3", "A1"));
            let report = "37=V1|11=1-3|41=1-2|17=X|150=4|39=4|55=XYZ|54=1|38=10|14=0|151=0|6=0|";
            desk.says(VENUE, "8", report);
        }
    }
}

#[test]
fn replaces_that_are_given_up_are_forgotten_with_their_order() {
    let mut desk = desk(Version::Fix44);
    desk.says(CLIENT, "D", &format!("11=A1|{ORDER}58=old|"));
    accept(&mut desk, "1");
    for round in 2..12 {
        give_up(
            &mut desk,
            "",
            &format!("{}58=r{round}|", base("G", &format!("A{round}"), "A1")),
        );
    }
    let lines = desk.state().state_lines();
    let kept = lines.lines().filter(|line| line.starts_with("fields of "));
    assert_eq!(
        kept.count(),
        1 + 8,
        "the order and the newest eight: {lines}"
    );
}
