//! The fields that the OMS writes itself, in each request to a line of each FIX version.

use fixwire_engine::protocol::dictionary::Version;

use super::carried::sent;
use super::conversion::desk_between;
use super::{CLIENT, ORDER, VENUE, base, open, setup};
use crate::desk::{Desk, Input, Said, dictionary};

const LINES: [Version; 8] = [
    Version::Fix40,
    Version::Fix41,
    Version::Fix42,
    Version::Fix43,
    Version::Fix44,
    Version::Fix50,
    Version::Fix50Sp1,
    Version::Fix50Sp2,
];

/// A request with its MsgType(35) and its tags.
type Request = (String, Vec<u32>);

/// The requests that the venue got.
fn requests(said: &[Said]) -> Vec<Request> {
    let to_venue = said.iter().filter(|it| it.to == VENUE);
    let tags = |it: &Said| it.fields.iter().map(|(tag, _)| *tag).collect();
    to_venue.map(|it| (it.msg_type.clone(), tags(it))).collect()
}

fn text(said: &[Said]) -> &str {
    let mut all = said.iter().filter(|it| it.to == CLIENT);
    all.find_map(|it| it.get(58)).unwrap_or_default()
}

/// All kinds of requests that the OMS sends to a venue of a version.
fn all_requests(version: Version) -> Vec<Request> {
    let mut group = "status_request = \"pass on\"\n".to_owned();
    if version >= Version::Fix42 {
        group += "market_status = true\n";
    }
    if version >= Version::Fix43 {
        group += "mass_status = true\n";
    }
    let mut desk = Desk::new(&{
        let mut setup = setup(Version::Fix44, "", &group);
        setup.sessions[VENUE].1 = version;
        setup
    });
    let mut all = requests(&desk.hear(&Input::Up(VENUE, false)));
    desk.hear(&Input::Up(CLIENT, false));
    open(&mut desk, "O");
    let sell = ORDER.replace("54=1", "54=5");
    let (heard, said) = desk.asks(CLIENT, "D", &format!("11=P|{sell}114=N|5700=LB|"));
    assert_eq!(heard, Ok(()));
    all.extend(requests(&said));
    let stop = ORDER.replace("40=2|", "40=4|99=100|");
    for order in [
        format!("11=A1|{ORDER}"),
        format!("11=A2|{stop}"),
        format!("11=A3|{ORDER}59=1|").replace("55=XYZ", "55=NEAR"),
        "11=A4|55=CAL|54=1|38=10|40=2|44=5|60=20261122-08:00:00|".to_owned(),
        format!("11=A5|{ORDER}59=6|432=20271231|"),
        format!("11=A6|{ORDER}77=O|").replace("55=XYZ", "55=FUT"),
    ] {
        all.extend(requests(&desk.says(CLIENT, "D", &order)));
    }
    all.extend(requests(&desk.says(CLIENT, "S", &base("S", "Q1", ""))));
    all.extend(requests(&desk.says(CLIENT, "R", &base("R", "R1", ""))));
    all.extend(requests(&desk.says(CLIENT, "H", &base("H", "", "O"))));
    all.extend(requests(&desk.says(CLIENT, "G", &base("G", "G1", "O"))));
    let body = sent(&desk, "G").expect("a replace");
    let id = body.split('|').find_map(|it| it.strip_prefix("11="));
    let replaced = format!(
        "37=V1|11={}|41=1|17=R1|150=5|39=5|20=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|",
        id.expect("a ClOrdID")
    );
    desk.says(VENUE, "8", &replaced);
    // The replace of an order with a locate.
    let short = "37=V2|11=2|17=E2|150=0|39=0|20=0|55=XYZ|54=5|38=10|14=0|151=10|6=0|";
    desk.says(VENUE, "8", short);
    let replace = base("G", "G2", "P").replace("54=1", "54=5");
    all.extend(requests(&desk.says(CLIENT, "G", &replace)));
    all.extend(requests(&desk.says(CLIENT, "F", &base("F", "F1", "G1"))));
    all.extend(requests(
        &desk.hear(&Input::Command("kill account=A1".into())),
    ));
    desk.hear(&Input::Down(VENUE, false));
    all.extend(requests(&desk.hear(&Input::Up(VENUE, false))));
    all
}

#[test]
fn each_request_has_the_fields_that_its_version_requires_and_no_others() {
    for version in LINES {
        let dictionary = dictionary(version);
        let all = all_requests(version);
        for wanted in ["D", "G", "F", "H", "R", "AF", "g"] {
            let is_known = dictionary.message(wanted.as_bytes()).is_some();
            let is_sent = all.iter().any(|(of, _)| of == wanted);
            assert_eq!(is_sent, is_known, "{version:?} {wanted}");
        }
        for (msg_type, tags) in &all {
            let message = dictionary.message(msg_type.as_bytes());
            let message = message.unwrap_or_else(|| panic!("{version:?} {msg_type}"));
            for member in message.members().iter().filter(|it| it.required) {
                assert!(
                    tags.contains(&member.tag),
                    "{version:?} {msg_type}: {} is missing: {tags:?}",
                    member.tag
                );
            }
            // A tag from 5000 on is agreed with the venue.
            for tag in tags.iter().filter(|tag| **tag < 5000) {
                let is_member = |group: &fixwire_engine::protocol::dictionary::GroupDef| {
                    group.member(*tag).is_some()
                };
                let mut groups = message
                    .members()
                    .iter()
                    .filter_map(|it| it.group.as_deref());
                assert!(
                    message.member(*tag).is_some() || groups.any(is_member),
                    "{version:?} {msg_type} has no {tag}: {tags:?}"
                );
            }
        }
        let cancels = all.iter().filter(|(of, _)| of == "F");
        let with_type = cancels.filter(|(_, tags)| tags.contains(&125)).count();
        assert_eq!(with_type > 0, version == Version::Fix40, "{version:?}");
    }
}

#[test]
fn a_cancel_has_one_cxl_type_also_when_the_settings_set_it() {
    let mut desk = desk_between(Version::Fix44, Version::Fix40, "", "set = {125 = \"F\"}");
    open(&mut desk, "O");
    let said = desk.says(CLIENT, "F", &base("F", "F1", "O"));
    let all = requests(&said);
    let [(_, tags)] = &all[..] else {
        panic!("{said:?}");
    };
    assert_eq!(
        tags.iter().filter(|tag| **tag == 125).count(),
        1,
        "{tags:?}"
    );
}

#[test]
fn an_order_whose_terms_a_line_cannot_have_is_rejected_with_their_tag() {
    let until = "59=6|432=20271231|";
    for version in LINES {
        let mut desk = desk_between(Version::Fix44, version, "", "");
        let said = desk.says(CLIENT, "D", &format!("11=A1|{ORDER}{until}"));
        let wanted = "a field of the request would not reach the venue (tag 432)";
        match version < Version::Fix42 {
            true => assert_eq!((text(&said), requests(&said).len()), (wanted, 0)),
            false => assert!(requests(&said)[0].1.contains(&432), "{version:?}"),
        }
        let future = format!("11=A2|{ORDER}77=O|").replace("55=XYZ", "55=FUT");
        let said = desk.says(CLIENT, "D", &future);
        let wanted = "a field of the request would not reach the venue (tag 77)";
        match version < Version::Fix41 {
            true => assert_eq!((text(&said), requests(&said).len()), (wanted, 0)),
            false => assert!(requests(&said)[0].1.contains(&77), "{version:?}"),
        }
    }
    // The line of a helper may get the order too.
    let helper = "helpers = [\"W\"]\n[[line_group]]\nname = \"W\"\nlines = [\"W\"]\n";
    let mut helped = setup(Version::Fix44, "", helper);
    helped.sessions.push(("W", Version::Fix41));
    let mut desk = Desk::new(&helped);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    let said = desk.says(CLIENT, "D", &format!("11=A1|{ORDER}{until}"));
    assert!(text(&said).ends_with("(tag 432)"), "{said:?}");
}

#[test]
fn a_queued_order_is_not_sent_to_a_line_that_no_longer_has_its_terms() {
    for from_checkpoint in [false, true] {
        let mut desk = desk_between(Version::Fix44, Version::Fix44, "", "queue = \"1h\"");
        desk.hear(&Input::Down(VENUE, false));
        let order = format!("11=A1|{ORDER}59=6|432=20271231|");
        desk.says(CLIENT, "D", &order);
        desk.set_version(VENUE, Version::Fix41);
        desk.hear(&Input::Restart(0, from_checkpoint));
        desk.hear(&Input::Up(CLIENT, false));
        let said = desk.hear(&Input::Up(VENUE, false));
        assert!(requests(&said).is_empty(), "{said:?}");
        assert!(text(&said).ends_with("(tag 432)"), "{said:?}");
    }
    // A replace that the line no longer has with the field is declined.
    let mut desk = desk_between(Version::Fix44, Version::Fix44, "", "");
    desk.says(CLIENT, "D", &format!("11=A1|{ORDER}59=6|432=20271231|"));
    let new = "37=V1|11=1|17=N1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|";
    desk.says(VENUE, "8", new);
    desk.set_dictionary(VENUE, "remove member ExpireDate from G\n");
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    let said = desk.says(CLIENT, "G", &base("G", "A2", "A1"));
    assert!(requests(&said).is_empty(), "{said:?}");
    assert!(text(&said).ends_with("(tag 432)"), "{said:?}");
}
