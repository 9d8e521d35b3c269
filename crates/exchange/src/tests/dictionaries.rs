//! Are the reports valid against the dictionary of each version?

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::session::{ApplVerId, BeginString, Config, Role};
use fixwire_protocol::{SessionId, tag};

use super::desk::{B, Desk, Said, config, decimal};
use super::market_data::assert_valid;
use crate::{Exchange, ExchangeSession, OrderScript};

/// A script with every kind of step.
fn all_steps() -> OrderScript {
    let steps = "pending,ack,fill 40,bust,fill 10 @ 9.5,correct 11 @ 9.51,restate 95 @ 9.8 \"Less\",\
                 pending cancel,reject cancel 2 \"No\",pending replace,accept replace,cancel rest,expire,\
                 done for day,reject \"Not today\"";
    OrderScript {
        name: "all".into(),
        symbol: Some("VOD".into()),
        quantity: Some(decimal("101")),
        steps: steps.split(',').map(String::from).collect(),
        ..OrderScript::default()
    }
}

/// DefaultApplVerID(1137) of a session with the application messages of a version.
fn appl_ver_id(version: Version) -> Option<ApplVerId> {
    ApplVerId::parse(version.appl_ver_id()?.as_bytes())
}

/// An exchange whose members ONE and TWO speak a FIX version.
fn desk(version: Version) -> Desk {
    let begin_string = BeginString::parse(version.name().as_bytes());
    let begin_string = begin_string.unwrap_or(BeginString::Fixt11);
    let mut session = Config::new(begin_string, Role::Acceptor, b"EXCHANGE", b"MEMBER");
    session.default_appl_ver_id = appl_ver_id(version);
    let member = |name| ExchangeSession {
        name,
        session: &session,
    };
    let mut desk = Desk::new();
    let mut config = config();
    config.scripts = [all_steps()].into();
    config
        .instruments
        .extend(super::spreads::spreads().instruments);
    desk.exchange = Exchange::new(config, [member("ONE"), member("TWO")]).unwrap();
    desk
}

/// All kinds of reports, as a member of one FIX version receives them.
fn heard(version: Version) -> Vec<Said> {
    let mut desk = desk(version);
    let one = SessionId(0);
    let mut said = Vec::new();
    for (from, message) in [
        (one, "D 11=1|1=ACC|55=VOD|54=1|38=10|40=2|44=10|59=1|111=4"),
        (one, "D 11=2|55=VOD|54=5|38=1|40=4|44=9|99=10"),
        (one, "D 11=3|55=VOD|54=1|38=0|40=2|44=10"),
        (one, "D 11=3|55=XYZ|54=1|38=1|40=2|44=10"),
        (one, "D 11=3|55=VOD|54=1|38=1|40=2|44=21"),
        (one, "D 11=3|55=VOD|54=1|38=1|40=P"),
        (one, "D 11=1|55=VOD|54=1|38=1|40=1"),
        (B, "D 11=1|55=VOD|54=2|38=3|40=2|44=10|59=3"),
        (one, "G 11=4|41=1|55=VOD|54=1|38=8|40=2|44=10.5"),
        (one, "G 11=5|41=4|55=VOD|54=1|38=8|40=2|44=21"),
        (one, "F 11=5|41=9|55=VOD|54=1"),
        (one, "H 11=4|55=VOD|54=1"),
        (one, "H 11=9|55=VOD|54=1"),
        (one, "D 11=6|55=VOD|54=1|38=5|40=1|59=4"),
        (one, "F 11=7|41=4|55=VOD|54=1"),
        (one, "F 11=8|41=4|55=VOD|54=1"),
        (one, "D 11=9|55=BTC|54=1|38=1.5|40=2|44=100.5"),
        (one, "D 11=10|55=BTC|54=2|38=1|40=2|44=200"),
        (one, "D 11=20|55=VOD|54=2|38=101|40=2|44=10"),
        (one, "F 11=21|41=20|55=VOD|54=2"),
        (one, "G 11=22|41=20|55=VOD|54=2|38=90|40=2|44=9"),
        (one, "D 11=23|55=VOD|54=2|38=101|40=1"),
        (one, "R 131=1|146=1|55=VOD"),
        (one, "R 131=2|146=1|55=XYZ"),
        (one, "R 131=3|146=2|55=VOD|55=BTC"),
        (one, "e 324=1|55=VOD|263=1"),
        (one, "e 324=2|55=XYZ|263=0"),
        (one, "g 335=1|336=1|263=1"),
        (one, "D 11=30|55=JUN-MAR|54=1|38=3|40=2|44=2"),
        (B, "D 11=30|55=JUN-MAR|54=2|38=2|40=2|44=2"),
    ] {
        said.extend(desk.say(from, message));
    }
    if version > Version::Fix42 {
        for message in [
            "AF 584=S|585=7",
            "q 11=11|530=1|55=VOD",
            "q 11=12|530=4",
            "AF 584=S|585=1",
        ] {
            said.extend(desk.say(one, message));
        }
    }
    let (closed, more) = desk.command("state closed *");
    assert!(closed.is_ok());
    said.extend(more);
    said
}

/// Why a message is invalid.
fn faults(dictionary: &Dictionary, said: &Said) -> Vec<String> {
    let fields = said
        .text
        .split('|')
        .filter_map(|field| field.split_once('='));
    let fields: Vec<(u32, &str)> = fields.map(|(tag, it)| (tag.parse().unwrap(), it)).collect();
    let (_, msg_type) = fields[0];
    let message = dictionary.message(msg_type.as_bytes()).unwrap();
    let mut found = Vec::new();
    for (index, (tag, value)) in fields.iter().enumerate().skip(1) {
        let mut groups = message.members().iter().filter_map(|it| it.group.as_ref());
        let in_group = groups.any(|group| group.member(*tag).is_some());
        if message.member(*tag).is_none() && !in_group {
            found.push(format!("{tag} is no field of {msg_type}"));
        }
        if fields[..index].iter().any(|(before, _)| before == tag) {
            found.push(format!("{tag} is there twice"));
        }
        let values = dictionary.field(*tag).map(|field| &field.values[..]);
        let values = values.filter(|values| !values.is_empty());
        if values.is_some_and(|values| values.iter().all(|known| known.value != *value)) {
            found.push(format!("{tag}={value} is no value"));
        }
    }
    let required = message.members().iter().filter(|member| member.required);
    for member in required {
        let group = member.group.is_some();
        if !group && fields.iter().all(|(tag, _)| *tag != member.tag) {
            found.push(format!("{} is missing in {msg_type}", member.tag));
        }
    }
    found
}

#[test]
fn every_report_is_as_the_dictionary_of_its_version_has_it() {
    for version in [
        Version::Fix42,
        Version::Fix43,
        Version::Fix44,
        Version::Fix50,
        Version::Fix50Sp1,
        Version::Fix50Sp2,
    ] {
        let dictionary = Dictionary::built_in(version);
        let said = heard(version);
        let mut kinds: Vec<&str> = said
            .iter()
            .filter_map(|it| it.fields().get(&tag::EXEC_TYPE).copied())
            .collect();
        for message in &said {
            let faults = faults(&dictionary, message);
            assert!(
                faults.is_empty(),
                "{version:?}: {faults:?} in {}",
                message.text
            );
        }
        kinds.sort_unstable();
        kinds.dedup();
        let wanted: &[&str] = match version {
            Version::Fix42 => &["0", "1", "3", "4", "5", "6", "8", "A", "C", "D", "E"],
            Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => &[
                "0", "3", "4", "5", "6", "8", "A", "C", "D", "E", "F", "G", "H", "I", "L",
            ],
            _ => &[
                "0", "3", "4", "5", "6", "8", "A", "C", "D", "E", "F", "G", "H", "I",
            ],
        };
        for kind in wanted {
            assert!(kinds.contains(kind), "{version:?}: {kinds:?}");
        }
    }
}

#[test]
fn instruments_and_market_data_are_valid_in_each_version() {
    let one = SessionId(0);
    for version in [
        Version::Fix42,
        Version::Fix43,
        Version::Fix44,
        Version::Fix50,
        Version::Fix50Sp1,
        Version::Fix50Sp2,
    ] {
        let mut desk = desk(version);
        let market_data = "267=2|269=0|269=1|146=1|55=VOD";
        let requests = [
            "c 320=1|321=3".to_string(),
            "c 320=2|321=0|55=JUN-MAR".to_string(),
            "c 320=3|321=0|55=XYZ".to_string(),
            format!("V 262=1|263=1|264=0|265=1|{market_data}"),
            "D 11=1|55=VOD|54=1|38=10|40=2|44=10".to_string(),
        ];
        let lists = ["x 320=4|559=4", "x 320=5|559=0|55=XYZ"];
        let lists = lists.map(String::from).into_iter();
        let lists = lists.filter(|_| version > Version::Fix42);
        let mut kinds = Vec::new();
        for request in requests.into_iter().chain(lists) {
            for said in desk.say(one, &request) {
                let (msg_type, body) = said.text[3..].split_once('|').unwrap();
                if msg_type != "8" {
                    assert_valid(version, msg_type, body);
                    kinds.push(String::from(msg_type));
                }
            }
        }
        for kind in ["W", "X", "d"] {
            assert!(kinds.iter().any(|it| it == kind), "{version:?}: {kinds:?}");
        }
        let has_list = kinds.iter().any(|it| it == "y");
        assert_eq!(has_list, version > Version::Fix42, "{version:?}: {kinds:?}");
    }
}
