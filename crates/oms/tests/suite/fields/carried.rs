//! Fields that the venue gets as the client sent them.

use fixwire_engine::protocol::dictionary::{DataType, FieldDef, Member, Version};
use fixwire_engine::protocol::{Dictionary, Tag};
use fixwire_oms::field_table::{FieldClass, request_bit, request_field};

use super::{CLIENT, ORDER, VENUE, at_venue, base, desk, desk_with, open, refuses, setup};
use crate::desk::{Desk, Input, dictionary};

/// The fields of the last message of a type that the venue got, as bytes with `|` for SOH.
pub(super) fn sent(desk: &Desk, msg_type: &str) -> Option<String> {
    let mut all = desk.bodies.iter().rev();
    let found = all.find(|(to, of, _)| *to == VENUE && of == msg_type);
    found.map(|(_, _, body)| String::from_utf8_lossy(body).replace('\x01', "|"))
}

/// A value that a dictionary allows for a field.
fn value(field: &FieldDef) -> &str {
    if let Some(known) = field.values.first() {
        return &known.value;
    }
    match field.kind {
        DataType::Int | DataType::Length | DataType::SeqNum | DataType::NumInGroup => "3",
        DataType::TagNum | DataType::DayOfMonth => "7",
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => "1.50",
        DataType::Char | DataType::MultipleCharValue => "A",
        DataType::Boolean => "Y",
        DataType::String | DataType::MultipleStringValue => "a text",
        DataType::Country | DataType::Language => "GB",
        DataType::Currency => "GBP",
        DataType::Exchange => "XLON",
        DataType::MonthYear => "202612",
        DataType::UtcTimestamp => "20261122-08:00:00.123",
        DataType::UtcTimeOnly => "08:00:00",
        DataType::UtcDateOnly | DataType::LocalMktDate => "20261122",
        DataType::LocalMktTime => "08:00:00",
        DataType::TzTimeOnly => "08:00Z",
        DataType::TzTimestamp => "20261122-08:00Z",
        _ => "a|c",
    }
}

/// A field with its value; of a length with the data that it counts; of a group with two entries of all members.
pub(super) fn text(dictionary: &Dictionary, member: &Member) -> String {
    let Some(field) = dictionary.field(member.tag) else {
        return String::new();
    };
    if let Some(group) = &member.group {
        let entry: String = group
            .members()
            .iter()
            .map(|it| text(dictionary, it))
            .collect();
        return format!("{}=2|{entry}{entry}", member.tag);
    }
    match field.partner {
        Some(_) if field.kind.is_data() => String::new(),
        Some(data) => format!("{}=3|{data}=a|c|", member.tag),
        None => format!("{}={}|", member.tag, value(field)),
    }
}

/// Whether the table passes on a field with all members of its group.
pub(super) fn is_passed(member: &Member, msg_type: &str) -> bool {
    let row = request_field(member.tag, request_bit(msg_type.as_bytes()));
    let members = member.group.iter().flat_map(|group| group.members());
    row.is_some_and(|row| row.class == FieldClass::Passed)
        && members.into_iter().all(|it| is_passed(it, msg_type))
}

/// A request that the OMS takes or answers.
fn says(desk: &mut Desk, msg_type: &str, body: &str) {
    let (heard, _) = desk.asks(CLIENT, msg_type, body);
    assert_eq!(heard, Ok(()), "{msg_type} {body}");
}

/// The venue rejects the request that it got last, so that the order takes another one.
fn reject(desk: &mut Desk, body: &str) {
    let of = |tag: &str| body.split('|').find_map(|it| it.strip_prefix(tag));
    let (id, original) = (of("11=").unwrap(), of("41=").unwrap());
    let to = if body.contains("|40=") { "2" } else { "1" };
    let reject = format!("37=V1|11={id}|41={original}|39=0|434={to}|102=0|58=no|");
    desk.says(VENUE, "9", &reject);
}

#[test]
fn each_field_that_the_table_passes_on_reaches_the_venue_byte_for_byte() {
    let mut counts = Vec::new();
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        let dictionary = dictionary(version);
        let mut desk = desk(version);
        open(&mut desk, "O");
        for msg_type in ["D", "G", "F"] {
            let message = dictionary.message(msg_type.as_bytes()).unwrap();
            let header = dictionary.header().members().iter().map(|it| (it, true));
            let members = message.members().iter().map(|it| (it, false));
            let mut count = 0;
            for (member, is_header) in header.chain(members) {
                let field = text(&dictionary, member);
                let base = base(msg_type, &format!("{msg_type}{}", member.tag), "O");
                let has_it = format!("|{base}").contains(&format!("|{}=", member.tag));
                if has_it || field.is_empty() || !is_passed(member, msg_type) {
                    continue;
                }
                let (heard, said) = desk.asks(CLIENT, msg_type, &format!("{base}{field}"));
                assert_eq!(heard, Ok(()), "{version:?} {msg_type} {field}");
                let body = sent(&desk, msg_type);
                let body =
                    body.unwrap_or_else(|| panic!("{version:?} {msg_type} {field} {said:?}"));
                let has_it = match is_header {
                    true => body.starts_with(&field),
                    false => body.ends_with(&format!("|{field}")),
                };
                assert!(has_it, "{version:?} {msg_type} {field}: {body}");
                // Nothing else of the message changes.
                says(
                    &mut desk,
                    "D",
                    &format!("11=P{msg_type}{}|{ORDER}", member.tag),
                );
                if msg_type == "D" {
                    let plain = sent(&desk, "D").unwrap();
                    let fields = |of: &str| {
                        let of = of
                            .split('|')
                            .map(|it| it.split_once('=').unwrap_or_default());
                        of.map(|it| it.0.to_owned()).collect::<Vec<_>>()
                    };
                    assert_eq!(
                        fields(&body.replacen(&field, "", 1)),
                        fields(&plain),
                        "{field}"
                    );
                } else {
                    reject(&mut desk, &body);
                }
                count += 1;
            }
            counts.push(count);
        }
    }
    assert!(counts.iter().all(|count| *count >= 8), "{counts:?}");
}

pub(super) const PARTIES: &str =
    "453=2|448=ME|447=D|452=1|802=1|523=desk 4|803=2|448=YOU|447=D|452=3|";

/// The venue accepts the last order.
pub(super) fn accept(desk: &mut Desk, number: &str) {
    let report = format!(
        "37=V{number}|11={number}|17=E{number}|150=0|39=0|20=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|"
    );
    desk.says(VENUE, "8", &report);
}

#[test]
fn what_an_order_carries_survives_queue_reject_restart_and_roll() {
    let all = format!("58=a text|{PARTIES}354=3|355=a|c|6000=x|");
    let settings = "queue = \"3600s\"\n[[line_group.error]]\nord_rej_reason = 0\ndo = \"retry\"\ntimes = 2\nafter = \"1s\"\n";
    for from_checkpoint in [false, true] {
        let mut desk = desk_with(Version::Fix44, "carry = [6000]", settings);
        let restart = |desk: &mut Desk, days: i64| {
            desk.hear(&Input::Restart(days, from_checkpoint));
        };
        desk.hear(&Input::Down(VENUE, false));
        let body = format!("50=TRADER|115=FIRM|11=A1|{ORDER}59=1|{all}");
        let body = body.replace("59=1|59=1|", "59=1|");
        let (_, said) = desk.asks(CLIENT, "D", &body);
        assert!(at_venue(&said, "D").is_none(), "it waits for the line");
        restart(&mut desk, 0);
        desk.bodies.clear();
        desk.hear(&Input::Up(VENUE, false));
        let has_all = |desk: &Desk, msg_type: &str| {
            let body = sent(desk, msg_type).expect(msg_type);
            assert!(body.starts_with("50=TRADER|115=FIRM|"), "{body}");
            assert!(body.ends_with(&format!("|{all}")), "{body}");
        };
        has_all(&desk, "D");
        // The venue is busy: it is sent again.
        let busy =
            "37=V1|11=1|17=E1|150=8|39=8|20=0|55=XYZ|54=1|38=10|14=0|151=0|6=0|103=0|58=busy|";
        desk.bodies.clear();
        desk.says(VENUE, "8", busy);
        restart(&mut desk, 0);
        desk.hear(&Input::Up(VENUE, false));
        desk.hear(&Input::Pass(2_000_000_000));
        has_all(&desk, "D");
        accept(&mut desk, "1-2");
        // A replace has fields of its own, also on the next day.
        restart(&mut desk, 1);
        desk.hear(&Input::Up(CLIENT, false));
        desk.hear(&Input::Up(VENUE, false));
        let replace = |id: &str, of: &str, quantity: u32, more: &str| {
            let order = ORDER.replace("38=10", &format!("38={quantity}"));
            format!("{more}11={id}|41={of}|{order}59=1|")
        };
        says(
            &mut desk,
            "G",
            &format!("{}{all}", replace("A2", "A1", 20, "50=TRADER|115=FIRM|")),
        );
        has_all(&desk, "G");
        let history = desk.state().state_lines();
        assert_eq!(
            history.matches("fields of ").count(),
            4,
            "of order and request: {history}"
        );
        let body = sent(&desk, "G").unwrap();
        let id = body
            .split('|')
            .find_map(|it| it.strip_prefix("11="))
            .unwrap();
        let done = format!(
            "37=V1|11={id}|41=1-2|17=E3|150=5|39=0|20=0|55=XYZ|54=1|38=20|14=0|151=20|6=0|"
        );
        desk.says(VENUE, "8", &done);
        restart(&mut desk, 0);
        desk.hear(&Input::Up(VENUE, false));
        // So has a cancel; what it does not say is not sent.
        says(&mut desk, "F", "116=X|11=A3|41=A2|55=XYZ|54=1|58=bye|");
        let body = sent(&desk, "F").unwrap();
        assert!(
            body.starts_with("116=X|") && body.ends_with("|58=bye|"),
            "{body}"
        );
        assert!(!body.contains("|453="), "{body}");
    }
}

#[test]
fn a_replace_without_fields_leaves_the_order_without_them() {
    let mut desk = desk(Version::Fix44);
    says(&mut desk, "D", &format!("11=A1|{ORDER}58=a|"));
    accept(&mut desk, "1");
    says(
        &mut desk,
        "G",
        &format!("11=A2|41=A1|{}", ORDER.replace("38=10", "38=20")),
    );
    assert!(!sent(&desk, "G").unwrap().contains("|58="));
    desk.says(
        VENUE,
        "8",
        "37=V1|11=1-2|41=1|17=E3|150=5|39=0|20=0|55=XYZ|54=1|38=20|14=0|151=20|6=0|",
    );
    assert!(!desk.state().state_lines().contains("fields of "));
}

#[test]
fn what_no_line_would_take_is_refused_with_its_tag() {
    let long = |bytes: usize| format!("58={}|", "x".repeat(bytes - 4));
    let wrong = [
        ("453=2|448=ME|447=D|452=1|".to_owned(), 453),
        (
            "453=1|448=ME|447=D|452=1|448=YOU|447=D|452=3|".to_owned(),
            453,
        ),
        ("453=x|448=ME|447=D|452=1|".to_owned(), 453),
        ("453=1|447=D|448=ME|452=1|".to_owned(), 453),
        ("453=1|448=ME|452=1|447=D|".to_owned(), 447),
        ("453=1|448=ME|447=D|452=999|".to_owned(), 452),
        (
            "453=1|448=ME|447=D|452=1|802=2|523=X|803=1|".to_owned(),
            802,
        ),
        ("448=ME|".to_owned(), 448),
        ("528=?|".to_owned(), 528),
        ("58=|".to_owned(), 58),
        ("58=a|58=b|".to_owned(), 58),
        (format!("{PARTIES}58=a|{PARTIES}"), 453),
        // A length without its data, and data without their length, also in a group.
        ("354=1|".to_owned(), 354),
        ("355=a|".to_owned(), 355),
        ("354=1|58=a|355=a|".to_owned(), 354),
        ("355=a|354=1|".to_owned(), 355),
        // ClientID is a field of FIX 4.2, 6000 one of nobody.
        ("109=X|".to_owned(), 109),
        ("6000=X|".to_owned(), 6000),
        (long(1025), 58),
        (long(100_000), 58),
        (format!("{PARTIES}{}", long(1020)), 58),
    ];
    for (fields, tag) in &wrong {
        let mut desk = desk(Version::Fix44);
        open(&mut desk, "O");
        for msg_type in ["D", "G"] {
            let base = base(msg_type, msg_type, "O");
            let (heard, said) = desk.asks(CLIENT, msg_type, &format!("{base}{fields}"));
            let text = said.first().and_then(|it| it.get(58)).unwrap_or_default();
            if fields.len() > 1000 {
                let limit = "(tag 58: above carried_bytes, 1024)";
                assert!(text.ends_with(limit), "{msg_type} {text}");
                assert!(at_venue(&said, msg_type).is_none());
            } else {
                assert!(
                    refuses(&heard, &said, *tag),
                    "{msg_type} {fields}: {heard:?} {text}"
                );
            }
        }
    }
    let mut desk = desk(Version::Fix44);
    says(&mut desk, "D", &format!("11=A1|{ORDER}{}", long(1024)));
    assert!(sent(&desk, "D").is_some(), "as long as it may be");
    says(&mut desk, "D", &format!("11=A2|{ORDER}354=1|355=a|58=a|"));
    assert!(sent(&desk, "D").unwrap().contains("|354=1|355=a|58=a|"));
}

/// An OMS whose client and line speak different versions.
fn across(client: Version, line: Version) -> Desk {
    let mut setup = setup(client, "", "");
    setup.sessions[VENUE].1 = line;
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    desk
}

#[test]
fn across_versions_a_field_goes_on_unchanged_where_both_have_it_alike() {
    let cases: [(Version, Version, &str, Tag, bool); 8] = [
        (Version::Fix44, Version::Fix50Sp2, PARTIES, 453, true),
        (Version::Fix50Sp2, Version::Fix44, PARTIES, 453, true),
        (Version::Fix44, Version::Fix42, PARTIES, 802, false),
        (Version::Fix42, Version::Fix44, "440=ACC|", 440, false),
        (Version::Fix42, Version::Fix44, "58=a|", 58, true),
        (Version::Fix44, Version::Fix42, "528=R|", 528, false),
        (Version::Fix44, Version::Fix50Sp2, "528=A|", 528, true),
        (Version::Fix42, Version::Fix50Sp2, "115=FIRM|", 115, true),
    ];
    for (client, line, field, tag, is_carried) in cases {
        let mut desk = across(client, line);
        let (heard, said) = desk.asks(CLIENT, "D", &format!("11=A1|{ORDER}{field}"));
        match sent(&desk, "D") {
            Some(body) => assert!(
                is_carried && body.contains(field),
                "{client:?} {line:?} {body}"
            ),
            None => assert!(
                !is_carried && refuses(&heard, &said, tag),
                "{client:?} {line:?} {field}"
            ),
        }
    }
}

#[test]
fn contracts_of_user_and_line_group_change_what_is_sent() {
    let user =
        "carry = [6000]\nmap.47 = {A = \"P\", B = \"A\"}\nset = {376 = \"DESK\"}\nrefuse = [109]";
    let group = "drop = [58]\nset = {1 = \"X\"}\n";
    // Account(1) is ours: no contract names it.
    let broken = setup(Version::Fix42, user, group);
    let mut open_file = |wanted: &str| {
        let file = broken.files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    assert!(fixwire_oms::load::load(&broken.settings, &["C", "V"], &mut open_file).is_err());
    let group = "drop = [58]\nset = {15 = \"GBP\"}\nmap.439 = {C1 = \"K1\"}\n";
    let mut desk = desk_with(Version::Fix42, user, group);
    let asks = |desk: &mut Desk, id: &str, fields: &str| {
        let (heard, said) = desk.asks(CLIENT, "D", &format!("11={id}|{ORDER}{fields}"));
        let said: Vec<_> = said.iter().map(|it| it.fields.clone()).collect();
        (sent(desk, "D"), format!("{heard:?} {said:?}"))
    };
    let (body, said) = asks(&mut desk, "A1", "58=lost|6000=x|47=A|439=C1|");
    let body = body.expect(&said);
    assert!(
        body.ends_with("|6000=x|47=P|439=K1|376=DESK|15=GBP|"),
        "{body}"
    );
    // What is set is in an order without any such field too, and a value of the client gives way.
    let (body, said) = asks(&mut desk, "A2", "");
    assert!(body.expect(&said).ends_with("|376=DESK|15=GBP|"));
    let (body, said) = asks(&mut desk, "A3", "376=MINE|");
    assert!(body.expect(&said).ends_with("|376=DESK|15=GBP|"));
    for (id, field, tag) in [
        ("B1", "47=X|", 47),
        ("B2", "439=C2|", 439),
        ("B3", "109=F|", 109),
    ] {
        let (body, said) = asks(&mut desk, id, field);
        assert!(
            body.is_none() && said.contains(&format!("(tag {tag})")),
            "{said}"
        );
    }
}

#[test]
fn a_parent_order_has_nothing_to_carry_for() {
    let mut desk = desk_with(Version::Fix44, "parents = 5", "");
    let (heard, said) = desk.asks(CLIENT, "D", &format!("11=P|{ORDER}21=3|58=a|"));
    assert!(refuses(&heard, &said, 58), "{heard:?}");
    let (_, said) = desk.asks(CLIENT, "D", &format!("11=Q|{ORDER}21=3|"));
    let parent = said[0].get(37).unwrap().to_owned();
    for msg_type in ["G", "F"] {
        let base = base(msg_type, msg_type, "Q");
        let (heard, said) = desk.asks(CLIENT, msg_type, &format!("{base}58=a|"));
        assert!(refuses(&heard, &said, 58), "{msg_type} {heard:?}");
    }
    says(
        &mut desk,
        "D",
        &format!("11=K|{ORDER}1080={parent}|1081=1|58=a|"),
    );
    assert!(sent(&desk, "D").is_some_and(|body| body.ends_with("|58=a|")));
}

#[test]
fn cancels_that_the_oms_makes_say_whose_order_it_is() {
    for (version, body) in [
        (Version::Fix42, "109=FUND|76=BROKER|".to_owned()),
        (Version::Fix44, PARTIES.to_owned()),
        (Version::Fix50Sp2, PARTIES.to_owned()),
    ] {
        let mut desk = desk(version);
        let order = format!("115=FIRM|11=A1|{ORDER}58=a text|{body}47=A|");
        let order = match version {
            Version::Fix42 => order,
            _ => order.replace("47=A|", "528=A|"),
        };
        says(&mut desk, "D", &order);
        accept(&mut desk, "1");
        desk.hear(&Input::Command("kill account=A1".into()));
        let sent = sent(&desk, "F").unwrap_or_else(|| panic!("{version:?}"));
        assert!(sent.starts_with("115=FIRM|41=1|"), "{sent}");
        assert!(sent.ends_with(&format!("|38=10|{body}")), "{sent}");
    }
}

#[test]
fn an_order_that_is_run_again_carries_the_same() {
    for from_checkpoint in [false, true] {
        let mut desk = desk(Version::Fix44);
        let order = ORDER.replace("38=10", "38=2000000");
        says(&mut desk, "D", &format!("115=FIRM|11=A1|{order}{PARTIES}"));
        assert!(sent(&desk, "D").is_none());
        desk.hear(&Input::Restart(0, from_checkpoint));
        desk.hear(&Input::Up(VENUE, false));
        desk.hear(&Input::Command("rerun order=C/A1 without=RC6".into()));
        let sent = sent(&desk, "D").expect("run again");
        assert!(sent.starts_with("115=FIRM|11="), "{sent}");
        assert!(sent.ends_with(&format!("|{PARTIES}")), "{sent}");
    }
}

#[test]
fn what_the_settings_refuse_meanwhile_is_not_sent() {
    let mut desk = desk_with(Version::Fix44, "", "queue = \"3600s\"\n");
    desk.hear(&Input::Down(VENUE, false));
    says(&mut desk, "D", &format!("11=A1|{ORDER}58=a|"));
    says(&mut desk, "D", &format!("11=A2|{ORDER}"));
    desk.set("queue =", "refuse = [58]\nqueue =");
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Up(CLIENT, false));
    let said = desk.hear(&Input::Up(VENUE, false));
    let orders = said
        .iter()
        .filter(|it| it.to == VENUE && it.msg_type == "D");
    let numbers: Vec<_> = orders.collect();
    assert_eq!(numbers.len(), 1);
    assert_eq!(numbers[0].get(11), Some("2"));
    let refused = said.iter().find(|it| it.to == CLIENT).unwrap();
    assert!(refused.get(58).is_some_and(|it| it.ends_with("(tag 58)")));
}

#[test]
fn what_a_user_sets_is_in_the_requests_in_which_the_line_has_it() {
    let mut setup = setup(Version::Fix42, "parents = 5\nset = {528 = \"A\"}", "");
    setup.sessions[VENUE].1 = Version::Fix44;
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    says(&mut desk, "D", &base("D", "A1", ""));
    assert!(sent(&desk, "D").unwrap().ends_with("|528=A|"));
    accept(&mut desk, "1");
    // OrderCancelRequest(F) of FIX 4.4 has no OrderCapacity.
    says(&mut desk, "F", &base("F", "A2", "A1"));
    assert!(!sent(&desk, "F").unwrap().contains("|528="));
    let (_, said) = desk.asks(CLIENT, "D", &format!("11=P|{ORDER}21=3|"));
    assert_eq!(
        said[0].get(39),
        Some("0"),
        "a parent has no field for a venue"
    );
}

#[test]
fn a_replace_of_an_order_that_waits_has_fields_of_orders() {
    let mut desk = desk_with(Version::Fix44, "", "queue = \"3600s\"\n");
    open(&mut desk, "O");
    let modified = "586=20261122-08:00:00|";
    says(
        &mut desk,
        "G",
        &format!("{}{modified}", base("G", "G1", "O")),
    );
    assert!(sent(&desk, "G").unwrap().ends_with(modified));
    desk.hear(&Input::Down(VENUE, false));
    says(&mut desk, "D", &base("D", "W", ""));
    let replace = format!("{}{modified}", base("G", "G2", "W"));
    let (heard, said) = desk.asks(CLIENT, "G", &replace);
    assert!(refuses(&heard, &said, 586), "{heard:?}");
}

#[test]
fn what_the_settings_no_longer_carry_is_not_sent() {
    let group = "carry = [6000]\nqueue = \"3600s\"\n";
    for (from, to) in [
        ("carry = [6000]\n", ""),
        ("carry = [6000]", "carry = [6001]"),
    ] {
        let mut desk = desk_with(Version::Fix44, "", group);
        desk.hear(&Input::Down(VENUE, false));
        says(&mut desk, "D", &format!("{}6000=x|", base("D", "A1", "")));
        desk.set(from, to);
        desk.hear(&Input::Restart(0, false));
        desk.hear(&Input::Up(CLIENT, false));
        let said = desk.hear(&Input::Up(VENUE, false));
        let refused = said.iter().find(|it| it.to == CLIENT).unwrap();
        assert!(refused.get(58).is_some_and(|it| it.ends_with("(tag 6000)")));
        assert!(sent(&desk, "D").is_none());
    }
}

#[test]
fn a_length_and_its_data_are_named_together() {
    for tag in [354, 355] {
        let mut desk = desk_with(Version::Fix44, &format!("drop = [{tag}]"), "");
        says(
            &mut desk,
            "D",
            &format!("{}354=6|355=x|54=2|", base("D", "A1", "")),
        );
        let body = sent(&desk, "D").unwrap();
        assert!(!body.contains("|35") && !body.contains("|54=2"), "{body}");
    }
}

#[test]
fn values_of_a_map_do_not_make_a_message_too_long() {
    let long = "x".repeat(255);
    let mut desk = desk_with(
        Version::Fix44,
        "",
        &format!("map.448 = {{A = \"{long}\"}}\n"),
    );
    let parties = |count: usize| format!("453={count}|{}", "448=A|447=D|452=1|".repeat(count));
    says(
        &mut desk,
        "D",
        &format!("{}{}", base("D", "A1", ""), parties(3)),
    );
    assert!(
        sent(&desk, "D")
            .unwrap()
            .ends_with(&format!("|448={long}|447=D|452=1|"))
    );
    let many = format!("{}{}", base("D", "A2", ""), parties(50));
    let (heard, said) = desk.asks(CLIENT, "D", &many);
    assert!(refuses(&heard, &said, 448), "{heard:?}");
}
