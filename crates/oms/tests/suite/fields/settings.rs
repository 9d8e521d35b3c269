//! `drop`, own tags, and locates.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::contract::ContractKey;
use fixwire_oms::field_table::why_not;
use fixwire_oms::{Oms, OmsSession};

use super::{CLIENT, ORDER, VENUE, at_venue, base, desk, desk_with, open, refuses, setup};
use crate::desk::{Desk, Input, Said, dictionary};

#[test]
fn fields_are_dropped_where_the_settings_say_so_and_counted() {
    let version = Version::Fix44;
    let mut desk = desk_with(
        version,
        "drop = [58, 453, 6000]",
        "drop = [15]\nex_destination = \"XLON\"",
    );
    let party = "453=1|448=ME|447=D|452=1|802=1|523=X|803=1|";
    let (_, said) = desk.asks(
        CLIENT,
        "D",
        &format!("11=A1|{ORDER}58=hi|{party}6000=x|15=EUR|100=XLON|"),
    );
    let sent = at_venue(&said, "D").expect("sent");
    for tag in [58, 453, 448, 447, 452, 802, 523, 803, 6000, 15, 100] {
        assert_eq!(sent.get(tag), None);
    }
    let (_, said) = desk.asks(CLIENT, "F", "11=A2|41=A1|55=XYZ|54=1|58=bye|");
    assert!(at_venue(&said, "F").is_some());
    let status = desk.query("status");
    assert!(
        status.contains(
            "\tuser C 58: 2, 447: 1, 448: 1, 452: 1, 453: 1, 523: 1, 802: 1, 803: 1, 6000: 1; line_group V 15: 1\t"
        ),
        "{status}"
    );
    for (field, tag) in [("207=X|", 207), ("111=5|", 111), ("100=XPAR|", 100)] {
        let (heard, said) = desk.asks(CLIENT, "D", &format!("11=B{tag}|{ORDER}58=hi|{field}"));
        assert!(refuses(&heard, &said, tag));
    }
    let dropped = |status: &str| status.split('\t').nth_back(3).map(str::to_owned);
    let after = desk.query("status");
    assert_eq!(
        dropped(&after),
        dropped(&status),
        "only what is sent is counted"
    );
}

#[test]
fn some_fields_are_never_dropped() {
    for tag in [
        18, 110, 111, 152, 210, 388, 423, 1138, 211, 835, 836, 837, 838, 1094,
    ] {
        let why = why_not(ContractKey::Drop, tag);
        assert!(why.is_some_and(|why| why.contains("another way")), "{tag}");
        for (user, group) in [
            (format!("drop = [{tag}]"), String::new()),
            (String::new(), format!("drop = [{tag}]")),
        ] {
            let setup = setup(Version::Fix44, &user, &group);
            let mut open = |wanted: &str| {
                let file = setup.files.iter().find(|(name, _)| *name == wanted);
                file.map(|(_, text)| text.clone()).ok_or_else(String::new)
            };
            let errors =
                fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open).unwrap_err();
            let text = errors[0].to_string();
            assert!(
                text.starts_with(&format!("drop cannot name tag {tag}: ")),
                "{text}"
            );
        }
    }
    for tag in [11, 38, 40, 44, 54, 55, 59, 60, 99, 21, 35, 49] {
        assert!(why_not(ContractKey::Drop, tag).is_some(), "{tag}");
    }
    for tag in [
        15, 47, 50, 57, 58, 78, 100, 109, 115, 167, 207, 376, 453, 528, 6000,
    ] {
        assert_eq!(why_not(ContractKey::Drop, tag), None, "{tag}");
    }
}

#[test]
fn own_tags_have_a_meaning_only_where_the_settings_say_so() {
    for tag in [9701, 9702, 9703, 9704, 9705, 9706] {
        for msg_type in ["D", "G", "BW"] {
            let mut desk = desk(Version::Fix44);
            open(&mut desk, "O");
            let base = base(msg_type, "N", "O");
            let (heard, said) = desk.asks(CLIENT, msg_type, &format!("{base}{tag}=1|"));
            assert!(refuses(&heard, &said, tag), "{msg_type} {tag}: {heard:?}");
        }
    }
    // CtiCode of another venue, which is no validity of a millisecond.
    let mut desk = desk_with(Version::Fix44, "drop = [9702]", "");
    let (_, said) = desk.asks(CLIENT, "D", &format!("11=A1|{ORDER}9702=1|"));
    assert!(at_venue(&said, "D").is_some());
    let own = "[oms.own_tags]\nreduce_by = 9706\n";
    let mut desk = desk_with(Version::Fix44, "", own);
    open(&mut desk, "O");
    let twice = "11=A3|41=O|55=XYZ|54=1|40=2|44=100|9706=3|9706=3|";
    let (heard, said) = desk.asks(CLIENT, "G", twice);
    assert!(refuses(&heard, &said, 9706), "{heard:?}");
    let own =
        "[oms.own_tags]\nsend_time = 9801\nvalidity = 7001\nreduce_by = 20001\nparent = 5005\n";
    let mut desk = desk_with(Version::Fix44, "parents = 5", own);
    open(&mut desk, "O");
    let (_, said) = desk.asks(CLIENT, "D", &format!("11=A2|{ORDER}9801=17|7001=1000|"));
    let sent = at_venue(&said, "D").expect("sent");
    assert_eq!((sent.get(9801), sent.get(7001)), (None, None));
    let less = "11=A3|41=O|55=XYZ|54=1|40=2|44=100|20001=3|";
    let (_, said) = desk.asks(CLIENT, "G", less);
    assert_eq!(at_venue(&said, "G").and_then(|it| it.get(38)), Some("7"));
    let (_, said) = desk.asks(CLIENT, "D", &format!("11=P|{ORDER}21=3|"));
    let parent = said[0].get(37).unwrap().to_owned();
    let (_, said) = desk.asks(CLIENT, "D", &format!("11=K|{ORDER}5005={parent}|"));
    assert!(at_venue(&said, "D").is_some());
}

#[test]
fn a_user_with_set_replaces_and_cancels_its_parents() {
    let mut desk = desk_with(Version::Fix44, "parents = 5\nset = {9717 = \"G\"}", "");
    let (heard, _) = desk.asks(CLIENT, "D", &format!("11=P|{ORDER}21=3|"));
    assert_eq!(heard, Ok(()));
    let (heard, said) = desk.asks(CLIENT, "G", &format!("11=P1|41=P|{ORDER}58=hi|"));
    assert!(refuses(&heard, &said, 58), "a field of the client");
    let more = ORDER.replace("38=10", "38=12");
    let (_, said) = desk.asks(CLIENT, "G", &format!("11=P2|41=P|{more}"));
    let is = |of: &str| said.iter().any(|it| it.get(150) == Some(of));
    assert!(is("5"), "{said:?}");
    let (_, said) = desk.asks(CLIENT, "F", "11=P3|41=P2|55=XYZ|54=1|");
    let is = |of: &str| said.iter().any(|it| it.get(150) == Some(of));
    assert!(is("4"), "{said:?}");
}

/// The first mistake of settings.
fn mistake(user: &str, group: &str) -> String {
    let setup = setup(Version::Fix44, user, group);
    let mut open = |wanted: &str| {
        let file = setup.files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    let errors = fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open);
    errors.map_or_else(|errors| errors[0].to_string(), |_| String::new())
}

#[test]
fn own_tags_and_drops_that_cannot_be_are_refused() {
    for (own, what) in [
        ("validity = 58", "validity must be a tag from 5000 to 39999"),
        (
            "validity = \"x\"",
            "validity must be a tag from 5000 to 39999",
        ),
        (
            "validity = 9702\nparent = 9702",
            "tag 9702 of validity has another use",
        ),
        ("parent = 5700", "tag 5700 of parent has another use"),
        ("other = 9702", "unknown key other"),
    ] {
        let found = mistake("", &format!("[oms.own_tags]\n{own}"));
        assert!(found.starts_with(what), "{own}: {found}");
    }
    let found = mistake("drop = [9702]", "[oms.own_tags]\nvalidity = 9702");
    assert!(
        found.starts_with("tag 9702 of own_tags validity has another use"),
        "{found}"
    );
    for (drop, what) in [
        ("drop = 58", "drop must be a list of tags"),
        ("drop = [\"58\"]", "drop must be a list of tags"),
        ("drop = [0]", "drop must be a list of tags"),
        ("drop = [38]", "drop cannot name tag 38: requests have it"),
        (
            "drop = [34]",
            "drop cannot name tag 34: it belongs to the session layer",
        ),
    ] {
        let found = mistake(drop, "");
        assert!(found.starts_with(what), "{drop}: {found}");
    }
}

#[test]
fn contracts_that_contradict_the_table_or_themselves_are_refused() {
    for (keys, what) in [
        (
            "carry = [44]",
            "carry cannot name tag 44: the OMS reads or writes it itself",
        ),
        (
            "carry = [34]",
            "carry cannot name tag 34: it belongs to the session layer",
        ),
        (
            "carry = [152]",
            "carry cannot name tag 152: it decides how an order trades",
        ),
        ("carry = [15]", "carry cannot name tag 15: "),
        ("carry = 58", "carry must be a list of tags"),
        ("refuse = [\"58\"]", "refuse must be a list of tags"),
        (
            "refuse = [11]",
            "refuse cannot name tag 11: the OMS reads or writes it itself",
        ),
        (
            "set = {11 = \"A\"}",
            "set cannot name tag 11: the OMS reads or writes it itself",
        ),
        (
            "set = {110 = \"A\"}",
            "set cannot name tag 110: it decides how an order trades",
        ),
        (
            "set = {453 = \"1\"}",
            "set cannot name tag 453: it counts the entries of a group",
        ),
        (
            "set = {447 = \"D\"}",
            "set cannot name tag 447: it is part of a group",
        ),
        (
            "set = {355 = \"A\"}",
            "set cannot name tag 355: its length is a field of its own",
        ),
        ("set = {6000 = 1}", "6000 must be a text of 1 to 255 bytes"),
        (
            "set = {6000 = \"a\\u0001b\"}",
            "the value of 6000 has a control character",
        ),
        ("set = {A = \"x\"}", "A in set is not a tag"),
        ("set = [6000]", "set must be a table of tags"),
        (
            "map.354 = {A = \"B\"}",
            "map cannot name tag 354: its length is a field of its own",
        ),
        ("map.6000 = {}", "map.6000 has no values"),
        ("map.6000 = \"A\"", "6000 must be a table of tags"),
        (
            "map.54 = {1 = \"2\"}",
            "map cannot name tag 54: the OMS reads or writes it itself",
        ),
        (
            "drop = [6000]\ncarry = [6000]",
            "tag 6000 is in carry and in drop",
        ),
        ("drop = [6000, 6000]", "drop names tag 6000 twice"),
        (
            "map.6000 = {A = \"B\"}\nset = {6000 = \"C\"}",
            "tag 6000 is in set and in map",
        ),
    ] {
        for (user, group) in [(keys, ""), ("", keys)] {
            let found = mistake(user, group);
            assert!(found.starts_with(what), "{keys}: {found}");
        }
    }
    assert_eq!(
        mistake(
            "set = {6000 = \"A\"}\nmap.6001 = {A = \"B\"}",
            "carry = [6000]"
        ),
        ""
    );
}

#[test]
fn the_locate_of_a_short_sale_reaches_the_venue_with_order_and_replace() {
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        for (restart, side) in [(None, 5), (Some(false), 6), (Some(true), 5), (None, 6)] {
            let mut desk = desk(version);
            let short = ORDER.replace("54=1", &format!("54={side}"));
            let both = [(114, "N"), (5700, "BROKER-OF-A-LONG-NAME-AND-MORE")];
            let locate = "114=N|5700=BROKER-OF-A-LONG-NAME-AND-MORE|";
            let (_, said) = desk.asks(CLIENT, "D", &format!("11=A1|{short}{locate}"));
            let sent = at_venue(&said, "D").expect("sent");
            for (tag, value) in both {
                assert_eq!(sent.get(tag), Some(value), "{version:?}");
            }
            assert_eq!(sent.get(54), Some(&*side.to_string()), "{version:?}");
            let accepted =
                format!("37=V1|11=1|17=E1|150=0|39=0|20=0|55=XYZ|54={side}|38=10|14=0|151=10|6=0|");
            let said = desk.says(VENUE, "8", &accepted);
            assert_eq!(said[0].get(54), Some(&*side.to_string()), "{version:?}");
            if let Some(from_checkpoint) = restart {
                desk.hear(&Input::Restart(0, from_checkpoint));
                desk.hear(&Input::Up(VENUE, false));
            }
            // A replace says the same or nothing of it; the venue gets that of the order.
            for (id, original, more) in [("A2", "A1", ""), ("A3", "A2", locate)] {
                let replace = short.replace("38=10", if id == "A2" { "38=20" } else { "38=30" });
                let (_, said) = desk.asks(
                    CLIENT,
                    "G",
                    &format!("11={id}|41={original}|{replace}{more}"),
                );
                let sent = at_venue(&said, "G").unwrap_or_else(|| panic!("{version:?} {id}"));
                for (tag, value) in both {
                    assert_eq!(sent.get(tag), Some(value), "{version:?} {id}");
                }
                let (number, quantity) = (sent.get(11).unwrap(), sent.get(38).unwrap());
                let report = format!(
                    "37=V1|11={number}|41=1|17=R{id}|150=5|39=0|20=0|55=XYZ|54={side}|38={quantity}|14=0|151={quantity}|6=0|"
                );
                desk.says(VENUE, "8", &report);
            }
            let (heard, said) = desk.asks(CLIENT, "G", &format!("11=A4|41=A3|{short}114=Y|"));
            assert!(
                refuses(&heard, &said, 114),
                "{heard:?} {said:?}",
                said = said[0].fields
            );
            let cancel = format!("11=A5|41=A3|55=XYZ|54={side}|60=20261122-08:00:00|");
            let (_, said) = desk.asks(CLIENT, "F", &cancel);
            assert!(at_venue(&said, "F").is_some_and(|sent| sent.get(114).is_none()));
        }
    }
}

#[test]
fn the_displayed_quantity_reaches_the_venue_where_the_settings_carry_it() {
    for (version, tag) in [
        (Version::Fix42, 111),
        (Version::Fix42, 210),
        (Version::Fix44, 111),
        (Version::Fix50Sp2, 1138),
    ] {
        let mut desk = desk_with(version, &format!("carry = [{tag}]"), "");
        let shown = format!("{tag}=5|");
        let (_, said) = desk.asks(CLIENT, "D", &format!("11=A1|{ORDER}{shown}"));
        let sent = at_venue(&said, "D").expect("sent");
        assert_eq!((sent.get(38), sent.get(tag)), (Some("10"), Some("5")));
        desk.says(
            VENUE,
            "8",
            "37=V1|11=1|17=E1|150=0|39=0|20=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|",
        );
        // A replace has its own.
        let replace = ORDER.replace("38=10", "38=20");
        let (_, said) = desk.asks(CLIENT, "G", &format!("11=A2|41=A1|{replace}{tag}=2|"));
        let sent = at_venue(&said, "G").expect("sent");
        assert_eq!((sent.get(38), sent.get(tag)), (Some("20"), Some("2")));
        // A cancel has none, whatever the settings name.
        let (heard, said) = desk.asks(CLIENT, "F", &format!("{}{shown}", base("F", "A3", "A1")));
        assert!(refuses(&heard, &said, tag), "{version:?}");
        // The whole quantity counts.
        let positions = desk.query("positions");
        assert!(positions.contains("\t20\t0"), "{positions}");
    }
    assert!(mistake("", "drop = [111]").contains("another way"));
    assert!(mistake("set = {1138 = \"5\"}", "").contains("clients say how their orders trade"));
}

#[test]
fn no_displayed_quantity_is_above_that_of_the_order() {
    for (version, tag, queue) in [
        (Version::Fix42, 111, false),
        (Version::Fix42, 210, true),
        (Version::Fix44, 111, true),
        (Version::Fix50Sp2, 1138, false),
    ] {
        let group = match queue {
            true => "replace = \"merge\"\nqueue = \"3600s\"\nflow = \"1 in 1s\"\n",
            false => "replace = \"merge\"\n",
        };
        let mut setup = setup(version, &format!("carry = [{tag}]"), group);
        setup.settings += "\n[oms.own_tags]\nreduce_by = 9706\n";
        let mut desk = Desk::new(&setup);
        desk.hear(&Input::Up(VENUE, false));
        desk.hear(&Input::Up(CLIENT, false));
        let refused = |said: &[Said]| {
            let text = format!("the displayed quantity is above OrderQty(38) (tag {tag})");
            said[0].get(58) == Some(&*text) && at_venue(said, "D").or(at_venue(said, "G")).is_none()
        };
        for (id, shown) in [("A0", "10.5"), ("AL", "10000000000000000000")] {
            let (_, said) = desk.asks(CLIENT, "D", &format!("11={id}|{ORDER}{tag}={shown}|"));
            assert!(refused(&said), "{version:?} {shown}");
        }
        let (_, said) = desk.asks(CLIENT, "D", &format!("11=A1|{ORDER}{tag}=6|"));
        let number = at_venue(&said, "D").unwrap().get(11).unwrap().to_owned();
        let accepted =
            format!("37=V1|11={number}|17=E1|150=0|39=0|20=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|");
        desk.says(VENUE, "8", &accepted);
        // A replace keeps the order's own.
        let replace = |id: &str, quantity: &str| {
            let order = ORDER.replace("38=10", &format!("38={quantity}"));
            format!("11={id}|41=A1|{order}")
        };
        let (_, said) = desk.asks(CLIENT, "G", &replace("A2", "5"));
        assert!(refused(&said), "{version:?}");
        let (_, said) = desk.asks(CLIENT, "G", &format!("{}{tag}=6|", replace("A3", "5")));
        assert!(refused(&said), "{version:?}");
        if version != Version::Fix42 {
            // A replace without OrderQty(38) keeps that of its order, and one of these takes a quantity away.
            let rest = ORDER.replace("38=10|", "");
            for (id, by) in [("B1", format!("{tag}=10.5|")), ("B2", "9706=5|".to_owned())] {
                let (_, said) = desk.asks(CLIENT, "G", &format!("11={id}|41=A1|{rest}{by}"));
                assert!(refused(&said), "{version:?} {id}");
            }
        }
        desk.hear(&Input::Pass(2_000_000_000));
        let (_, said) = desk.asks(CLIENT, "G", &replace("A4", "6"));
        let sent = at_venue(&said, "G").expect("sent");
        assert_eq!((sent.get(38), sent.get(tag)), (Some("6"), Some("6")));
    }
}

#[test]
fn a_short_sale_is_the_same_order_whether_its_reports_say_exempt_or_not() {
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        for (sent, reported) in [(5, 6), (6, 5)] {
            let mut desk = desk(version);
            let short = ORDER.replace("54=1", &format!("54={sent}"));
            let (_, said) = desk.asks(CLIENT, "D", &format!("11=A1|21=1|{short}114=N|"));
            assert!(at_venue(&said, "D").is_some());
            for (id, exec, kind, status, rest) in [
                ("1", "E1", "0", "0", "14=0|151=10|6=0|"),
                ("1", "E2", "F", "1", "32=4|31=100|14=4|151=6|6=100|"),
                // Found by its OrderID(37).
                ("OTHER", "E3", "F", "1", "32=1|31=100|14=5|151=5|6=100|"),
                ("1", "E4", "4", "4", "14=5|151=0|6=100|"),
            ] {
                let kind = match (kind, version) {
                    ("F", Version::Fix42) => status,
                    _ => kind,
                };
                let report = format!(
                    "37=V1|11={id}|17={exec}|150={kind}|39={status}|20=0|55=XYZ|54={reported}|38=10|{rest}"
                );
                let said = desk.says(VENUE, "8", &report);
                let heard = said.iter().find(|it| it.to == CLIENT).expect(exec);
                let of = (heard.get(11), heard.get(39), heard.get(54));
                let side = sent.to_string();
                assert_eq!(of, (Some("A1"), Some(status), Some(&*side)), "{version:?}");
            }
            let positions = desk.query("positions");
            assert!(positions.contains("\t5\t"), "{positions}");
        }
    }
}

#[test]
fn a_line_gets_no_own_field_of_the_oms_that_its_version_does_not_have() {
    for (version, has) in [
        (Version::Fix40, false),
        (Version::Fix41, false),
        (Version::Fix42, true),
    ] {
        let mut desk = desk(version);
        open(&mut desk, "A1");
        for (msg_type, id, of) in [("D", "B1", ""), ("G", "A2", "A1"), ("F", "B2", "B1")] {
            let (_, said) = desk.asks(CLIENT, msg_type, &base(msg_type, id, of));
            let sent = at_venue(&said, msg_type).unwrap_or_else(|| panic!("{msg_type}"));
            assert_eq!(sent.get(60).is_some(), has, "{version:?} {msg_type}");
            let has_account = has || msg_type != "F";
            assert_eq!(sent.get(1).is_some(), has_account, "{version:?} {msg_type}");
            for tag in [38, 54, 55] {
                assert!(sent.get(tag).is_some(), "{version:?} {msg_type} {tag}");
            }
            if msg_type == "D" {
                let number = sent.get(11).unwrap().to_owned();
                let accepted = format!(
                    "37=V{number}|11={number}|17=E{number}|150=0|39=0|20=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|"
                );
                desk.says(VENUE, "8", &accepted);
            }
        }
    }
}

#[test]
fn a_status_request_of_a_client_is_passed_on_where_the_settings_say_so() {
    for version in [Version::Fix42, Version::Fix44] {
        for passes in [false, true] {
            let group = if passes {
                "status_request = \"pass on\""
            } else {
                ""
            };
            let mut desk = desk_with(version, "", group);
            open(&mut desk, "O");
            let (_, said) = desk.asks(CLIENT, "H", "11=O|55=XYZ|54=1|");
            let to_client = |said: &[crate::desk::Said]| {
                let mut to = said.iter().filter(|it| it.to == CLIENT);
                (
                    to.next().map(|it| it.get(39).unwrap().to_owned()),
                    to.count(),
                )
            };
            assert_eq!(
                to_client(&said),
                (Some("0".to_owned()), 0),
                "at once, from the book"
            );
            let asked = at_venue(&said, "H");
            assert_eq!(asked.and_then(|it| it.get(11)), passes.then_some("1"));
            let answer = "37=V1|11=1|17=0|150=I|20=3|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|";
            let said = desk.says(VENUE, "8", answer);
            assert_eq!(
                to_client(&said).0.is_some(),
                passes,
                "again, when the venue has answered"
            );
            assert!(desk.says(VENUE, "8", answer).is_empty(), "once");
        }
    }
}

#[test]
fn set_names_no_field_that_a_line_or_a_pool_writes() {
    let pool =
        "number_pool = \"P\"\nset = {526 = \"X\"}\n[[number_pool]]\nname = \"P\"\nwidth = 3\n";
    let setup = setup(Version::Fix44, "", pool);
    let mut open = |wanted: &str| {
        let file = setup.files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    let errors = fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open).unwrap_err();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let wanted = "set of line_group V names tag 526, in which a number_pool has its numbers";
    assert!(texts.iter().any(|text| text.contains(wanted)), "{texts:?}");
    // What the venue names as its target is what we name as our own.
    for (user, group) in [
        ("", "set = {50 = \"DESK\"}\n"),
        ("set = {50 = \"DESK\"}", ""),
    ] {
        let setup = super::setup(Version::Fix44, user, group);
        let mut open = |wanted: &str| {
            let file = setup.files.iter().find(|(name, _)| *name == wanted);
            file.map(|(_, text)| text.clone()).ok_or_else(String::new)
        };
        let rules = fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open).unwrap();
        for (ids, is_wrong) in [(vec![], false), (vec![(57, "US".to_owned())], true)] {
            let session = |name: &str, ids| OmsSession {
                name: name.into(),
                version: Version::Fix44,
                dictionary: OmsSession::built_in(Version::Fix44),
                ids,
            };
            let sessions = [session("C", vec![]), session("V", ids)];
            let problems = Oms::version_problems(&rules, &sessions);
            assert_eq!(problems.len(), usize::from(is_wrong), "{problems:?}");
        }
    }
}

#[test]
fn the_fields_of_a_set_fit_into_a_message() {
    let long = "x".repeat(255);
    let set = |tags: &[u32]| {
        let fields: Vec<String> = tags
            .iter()
            .map(|tag| format!("{tag} = \"{long}\""))
            .collect();
        format!("set = {{{}}}\n", fields.join(", "))
    };
    for (tags, is_wrong) in [
        (&[6001, 6002, 6003][..], false),
        (&[6001, 6002, 6003, 6004], true),
    ] {
        for (user, group) in [(set(tags), String::new()), (String::new(), set(tags))] {
            let setup = super::setup(Version::Fix44, &user, &group);
            let mut open = |wanted: &str| {
                let file = setup.files.iter().find(|(name, _)| *name == wanted);
                file.map(|(_, text)| text.clone()).ok_or_else(String::new)
            };
            let read = fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open);
            let said = read.err().map(|errors| errors[0].to_string());
            assert_eq!(said.is_some(), is_wrong, "{said:?}");
            assert!(said.is_none_or(|it| it.contains(" have 1044 bytes")));
        }
    }
}

#[test]
fn user_defined_tags_that_no_client_can_send_are_named() {
    let found = |user: &str, group: &str| {
        let setup = setup(Version::Fix44, user, group);
        let mut open = |wanted: &str| {
            let mut files = setup.files.iter();
            let file = files.find(|(name, _)| *name == wanted);
            file.map(|(_, text)| text.clone()).ok_or_else(String::new)
        };
        let rules = fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open).unwrap();
        let sessions = ["C", "V"].map(|name| OmsSession {
            name: name.into(),
            version: Version::Fix44,
            dictionary: dictionary(Version::Fix44),
            ids: Vec::new(),
        });
        let oms = Oms::new(rules, sessions.into(), 0, Box::new(|_| {}));
        let tags = oms.undefined_tags().into_iter();
        tags.map(|it| it.to_string()).collect::<Vec<_>>()
    };
    let says = |tag: u32, setting: &str| {
        format!(
            "C rejects messages with tag {tag} ({setting}): write ValidateUserDefinedFields = false, or name a dictionary with this tag"
        )
    };
    assert_eq!(found("", "carry = [207]"), [""; 0]);
    assert_eq!(
        found(
            "",
            "carry = [207, 9303]\nset = {9304 = \"X\"}\nrefuse = [9305]"
        ),
        [says(9303, "carry of [[line_group]] V")]
    );
    assert_eq!(
        found("drop = [9301]\nmap.9302 = {A = \"B\"}", ""),
        [
            says(9302, "map of [[user]] C"),
            says(9301, "drop of [[user]] C")
        ]
    );
    let own = "[oms.own_tags]\nreduce_by = 9706\nvalidity = 9702\n[[account]]\nname = \"A2\"";
    assert_eq!(
        found("", own),
        [
            says(9706, "reduce_by of [oms.own_tags]"),
            says(9702, "validity of [oms.own_tags]")
        ]
    );
}
