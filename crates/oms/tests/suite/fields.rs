//! No field of a request is lost: each field of each dictionary, in each request, reaches the venue, is used or set as
//! the table says, or is refused with its tag.

use std::collections::BTreeSet;

use fixwire_engine::protocol::dictionary::{GroupDef, Member, Version};
use fixwire_engine::protocol::{Dictionary, Refusal, Tag};
use fixwire_oms::field_table::{FieldClass, FieldCondition, REQUESTS, request_bit, request_field};

use crate::desk::{Desk, Input, Said, Setup};

mod carried;
mod conversion;
mod lacking;
mod own_tables;
mod quotes;
mod replaces;
mod reports;
mod resent;
mod settings;
mod shown;
mod starts;
mod terms;
mod venue;

const CLIENT: usize = 0;
const VENUE: usize = 1;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new", "replace", "cancel", "mass cancel", "status", "quote", "price inquiry", "reports"]
account = "A1"
USER
[[line_group]]
name = "V"
lines = ["V"]
GROUP
[[route]]
symbols = ["*"]
to = "V"
"#;

const LIMITS: &str = "scope,control,limit
firm,RC6,1000000
firm,RC7,1000000000
firm,RC8,90
firm,RC13,100000
firm,RC14,1000000000000
firm,RC15-long,100000000
firm,RC15-short,100000000
";

fn setup(version: Version, user: &str, group: &str) -> Setup {
    let settings = SETTINGS.replace("USER", user).replace("GROUP", group);
    let instruments = "symbol,tick,lot,reference,positions,legs\nXYZ,0.5,1,100,,\nFUT,0.5,1,100,effect,\n\
                       NEAR,0.5,1,100,,\nCAL,0.5,1,5,,buy 1 XYZ sell 1 NEAR\n";
    Setup {
        settings,
        files: vec![
            ("instruments.csv", instruments.to_owned()),
            ("limits.csv", LIMITS.to_owned()),
        ],
        sessions: vec![("C", version), ("V", version)],
    }
}

fn desk_with(version: Version, user: &str, group: &str) -> Desk {
    let mut desk = Desk::new(&setup(version, user, group));
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    desk
}

fn desk(version: Version) -> Desk {
    desk_with(version, "", "")
}

const ORDER: &str = "55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|";

/// An order that the venue has accepted.
fn open(desk: &mut Desk, id: &str) {
    let sent = desk.says(CLIENT, "D", &format!("11={id}|21=1|{ORDER}"));
    let number = sent[0].get(11).unwrap().to_owned();
    desk.says(
        VENUE,
        "8",
        &format!("37=V{number}|11={number}|17=E{number}|150=0|39=0|20=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|"),
    );
}

/// A request that is accepted as it stands, and whose fields reach the venue.
fn base(msg_type: &str, id: &str, open: &str) -> String {
    match msg_type {
        "D" => format!("11={id}|{ORDER}"),
        "G" => format!("11={id}|41={open}|{ORDER}"),
        "F" => format!("11={id}|41={open}|55=XYZ|54=1|60=20261122-08:00:00|"),
        "H" => format!("11={open}|55=XYZ|54=1|"),
        "q" => format!("11={id}|530=1|55=NEAR|60=20261122-08:00:00|"),
        "AF" => format!("584={id}|585=7|"),
        "S" => format!("117={id}|55=XYZ|132=90|133=110|134=1|135=1|"),
        "Z" => format!("117={id}|298=4|"),
        "R" => format!("131={id}|146=1|55=XYZ|"),
        "e" => format!("324={id}|55=XYZ|263=0|"),
        "g" => format!("335={id}|336=1|263=0|"),
        "c" => format!("320={id}|321=3|"),
        "x" => format!("320={id}|559=4|"),
        "BW" => format!("1346={id}|1347=2|1351=1|1355=OMS|"),
        other => panic!("{other}"),
    }
}

fn add(members: &[Member], all: &mut BTreeSet<Tag>) {
    fn of_group(group: &GroupDef, all: &mut BTreeSet<Tag>) {
        add(group.members(), all);
    }
    for member in members {
        all.insert(member.tag);
        if let Some(group) = &member.group {
            of_group(group, all);
        }
    }
}

/// All fields that a dictionary gives a message, its header, its trailer and its groups included.
fn fields_of(version: Version, msg_type: &str) -> BTreeSet<Tag> {
    let dictionary = match version {
        Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => {
            Dictionary::built_in(version).over(&Dictionary::built_in(Version::Fixt11))
        }
        _ => Dictionary::built_in(version),
    };
    let mut all = BTreeSet::new();
    let Some(message) = dictionary.message(msg_type.as_bytes()) else {
        return all;
    };
    for part in [message, dictionary.header(), dictionary.trailer()] {
        add(part.members(), &mut all);
    }
    all
}

/// The version that an OMS's session speaks.
fn spoken(version: Version) -> Version {
    match version {
        Version::Fix40 | Version::Fix41 | Version::Fix42 => Version::Fix42,
        Version::Fix43 | Version::Fix44 => Version::Fix44,
        _ => Version::Fix50Sp2,
    }
}

/// The answer refuses a field.
fn refuses(heard: &Result<(), Refusal>, said: &[Said], tag: Tag) -> bool {
    let text = format!("(tag {tag})");
    let is_text =
        |said: &Said| said.to == CLIENT && said.get(58).is_some_and(|it| it.ends_with(&text));
    let at_venue = said.iter().any(|said| said.to == VENUE);
    let refusals = [
        Err(Refusal::FieldNotSupported(tag)),
        Err(Refusal::ValueOutOfRange(tag)),
    ];
    let is_refused = refusals.contains(heard) || said.iter().any(is_text);
    is_refused && !at_venue
}

/// Whether the answer refuses some field.
fn refuses_any(heard: &Result<(), Refusal>, said: &[Said]) -> bool {
    let is_text = |said: &Said| said.get(58).is_some_and(|it| it.contains("(tag "));
    heard.is_err() || said.iter().any(is_text)
}

#[test]
fn each_field_of_each_dictionary_is_carried_used_or_refused() {
    let (mut missing, mut wrong, mut count) = (Vec::new(), Vec::new(), 0);
    for version in Version::ALL {
        let mut desk = desk(spoken(version));
        open(&mut desk, "O");
        for msg_type in REQUESTS {
            let bit = request_bit(msg_type.as_bytes());
            for tag in fields_of(version, msg_type) {
                count += 1;
                let Some(row) = request_field(tag, bit) else {
                    missing.push(format!("{version:?} {msg_type} {tag}"));
                    continue;
                };
                let base = base(msg_type, &format!("N{count}"), "O");
                let has_it = format!("|{base}").contains(&format!("|{tag}="));
                let is_refused = match row.class {
                    FieldClass::Named
                    | FieldClass::Instruction
                    | FieldClass::Listed
                    | FieldClass::Refused
                    | FieldClass::Never => true,
                    FieldClass::Checked(condition) => matches!(
                        condition,
                        FieldCondition::Identity
                            | FieldCondition::Destination
                            | FieldCondition::Spread
                    ),
                    _ => continue,
                };
                // What a request has twice, or accepts, is in tests of its own.
                if !is_refused || has_it {
                    continue;
                }
                let (heard, said) = desk.asks(CLIENT, msg_type, &format!("{base}{tag}=1|"));
                if !refuses(&heard, &said, tag) {
                    let said: Vec<_> = said.iter().map(|it| &it.fields).collect();
                    wrong.push(format!("{version:?} {msg_type} {tag}: {heard:?} {said:?}"));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "fields without a row in crates/oms/src/values/fields/field_table: {missing:?}"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 5000, "{count}");
}

/// The message of a type that the venue got.
fn at_venue<'a>(said: &'a [Said], msg_type: &str) -> Option<&'a Said> {
    let mut all = said.iter();
    all.find(|said| said.to == VENUE && said.msg_type == msg_type)
}

#[test]
fn carried_fields_reach_the_venue_as_they_are() {
    let usual: &[(&str, &[(Tag, &str)])] = &[
        (
            "55=XYZ|54=1|38=10|40=2|44=100.5|",
            &[(54, "1"), (38, "10"), (40, "2"), (44, "100.5")],
        ),
        (
            "55=XYZ|54=2|38=7|40=1|59=3|",
            &[(54, "2"), (38, "7"), (40, "1"), (59, "3")],
        ),
        (
            "55=XYZ|54=5|38=7|40=3|99=99.5|59=1|114=N|",
            &[(54, "5"), (40, "3"), (99, "99.5"), (59, "1"), (114, "N")],
        ),
        (
            "55=XYZ|54=1|38=7|40=4|44=101|99=100.5|59=6|432=20991231|",
            &[(44, "101"), (99, "100.5"), (432, "20991231")],
        ),
        (
            "55=FUT|54=1|38=7|40=2|44=100|77=O|1=A1|",
            &[(55, "FUT"), (77, "O"), (1, "A1")],
        ),
    ];
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        let mut desk = desk(version);
        for (at, (order, fields)) in usual.iter().enumerate() {
            let (heard, said) = desk.asks(
                CLIENT,
                "D",
                &format!("11=A{at}|21=1|60=20261122-08:00:00|{order}"),
            );
            assert_eq!(heard, Ok(()));
            let sent = at_venue(&said, "D").unwrap_or_else(|| panic!("{version:?} {order}"));
            for (tag, value) in *fields {
                assert_eq!(sent.get(*tag), Some(*value), "{version:?} {order}");
            }
        }
    }
}

#[test]
fn the_reported_order_is_refused_field_by_field() {
    let lost = [
        (111, "100"),
        (18, "6"),
        (15, "GBP"),
        (110, "50"),
        (100, "XLON"),
        (126, "20261122-12:00:00"),
        (210, "5"),
        (388, "0"),
        (211, "1"),
        (423, "1"),
        (1138, "5"),
        (152, "100"),
        (78, "1"),
        (453, "1"),
        (448, "ME"),
        (48, "GB00"),
        (22, "4"),
        (207, "XLON"),
        (6000, "x"),
        (20_001, "x"),
        (9701, "1"),
        (526, "X"),
        (37, "17"),
        (167, "FUT"),
        (1080, "1"),
        (432, "20991231"),
    ];
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        let mut desk = desk(version);
        open(&mut desk, "O");
        for (tag, value) in lost {
            for msg_type in ["D", "G", "F"] {
                if (tag, msg_type) == (432, "G") {
                    continue;
                }
                let base = base(msg_type, &format!("{msg_type}{tag}"), "O");
                let (heard, said) = desk.asks(CLIENT, msg_type, &format!("{base}{tag}={value}|"));
                assert!(
                    refuses(&heard, &said, tag),
                    "{version:?} {msg_type} {tag}: {heard:?}"
                );
                let answer = if msg_type == "D" { "8" } else { "9" };
                assert_eq!(said[0].msg_type, answer);
            }
        }
        let reason = |said: &[Said], tag| said[0].get(tag).map(str::to_owned);
        let (_, said) = desk.asks(CLIENT, "D", &format!("11=R1|{ORDER}111=1|"));
        let is_old = version == Version::Fix42;
        assert_eq!(
            reason(&said, 103).as_deref(),
            Some(if is_old { "0" } else { "11" })
        );
        assert_eq!(said[0].get(39), Some("8"));
        let (_, said) = desk.asks(CLIENT, "G", &format!("11=R2|41=O|{ORDER}111=1|"));
        assert_eq!(
            reason(&said, 102).as_deref(),
            Some(if is_old { "2" } else { "99" })
        );
        assert_eq!(said[0].get(39), Some("0"), "the order stands");
        // Its id is used up, as after any other reject.
        let (_, said) = desk.asks(CLIENT, "D", &format!("11=R1|{ORDER}111=1|"));
        assert_eq!(reason(&said, 103).as_deref(), Some("6"));
    }
}

#[test]
fn values_that_would_change_on_the_way_are_refused() {
    let mut desk = desk(Version::Fix44);
    open(&mut desk, "O");
    let wrong = [
        ("D", "55=XYZ|54=1|38=10|40=1|44=100|", 44),
        ("D", "55=XYZ|54=1|38=10|40=3|99=100|44=100|", 44),
        ("D", "55=XYZ|54=1|38=10|40=2|44=100|99=90|", 99),
        ("D", "55=XYZ|54=1|38=10|40=2|44=100|44=101|", 44),
        ("D", "55=XYZ|54=1|38=10|38=1000|40=2|44=100|", 38),
        ("D", "55=XYZ|54=1|38=10|40=2|44=100|21=3|", 21),
        ("D", "55=XYZ|54=1|38=10|40=2|44=100|21=X|", 21),
        ("D", "55=XYZ|54=1|38=10|40=2|44=100|59=1|432=20991231|", 432),
        ("D", "55=CAL|54=1|38=10|40=2|44=5|167=FUT|", 167),
        // An account without a value is not the default one.
        ("D", "1=|55=XYZ|54=1|38=10|40=2|44=100|", 1),
        ("G", "1=|41=O|55=XYZ|54=1|38=10|40=2|44=100|", 1),
        ("F", "1=|41=O|55=XYZ|54=1|", 1),
        ("G", "41=O|55=XYZ|54=1|38=10|40=2|44=100|21=3|", 21),
        ("F", "41=O|55=XYZ|54=1|37=999|", 37),
        ("F", "41=O|55=XYZ|54=1|44=100|", 44),
    ];
    for (at, (msg_type, body, tag)) in wrong.into_iter().enumerate() {
        let (heard, said) = desk.asks(
            CLIENT,
            msg_type,
            &format!("11=W{at}|60=20261122-08:00:00|{body}"),
        );
        assert!(
            refuses(&heard, &said, tag),
            "{msg_type} {body}: {heard:?} {:?}",
            said.first().map(|it| &it.fields)
        );
    }
    for (at, body) in [
        "54=3|40=2|44=100|",
        "54=8|40=2|44=100|",
        "54=1|40=P|44=100|",
        "54=1|40=2|44=100|59=2|",
        "54=1|40=2|44=100|59=7|",
    ]
    .into_iter()
    .enumerate()
    {
        let (_, said) = desk.asks(CLIENT, "D", &format!("11=V{at}|55=XYZ|38=10|{body}"));
        assert_eq!(said[0].get(39), Some("8"), "{body}");
        assert!(at_venue(&said, "D").is_none());
    }
    // An account in a cancel is that of the order.
    let (_, said) = desk.asks(CLIENT, "F", "11=X1|41=O|55=XYZ|54=1|1=B9|");
    assert_eq!(said[0].msg_type, "9");
    // A cancel of all orders that names a symbol would cancel more than it names.
    let (heard, said) = desk.asks(CLIENT, "q", "11=X2|530=7|55=XYZ|60=20261122-08:00:00|");
    assert!(refuses(&heard, &said, 55));
    let (heard, said) = desk.asks(
        CLIENT,
        "F",
        "11=X3|41=O|37=1|1=A1|55=XYZ|54=1|38=10|60=20261122-08:00:00|",
    );
    assert_eq!(heard, Ok(()));
    assert!(at_venue(&said, "F").is_some());
}

#[test]
fn what_the_default_clients_of_other_engines_send_is_accepted() {
    // tradeclient of QuickFIX C++ and /Go, TradeClient of /n, Banzai of QuickFIX/J, fixwire client.
    let orders = [
        "11=1|55=XYZ|54=1|60=20261122-08:00:00|40=2|21=1|38=10|44=100|59=0|",
        "11=2|21=1|55=XYZ|54=2|60=20261122-08:00:00|40=1|38=10|59=0|",
        "11=3|21=1|38=10|40=2|44=100.5|54=5|55=XYZ|59=0|60=20261122-08:00:00|114=N|",
        "11=4|21=1|38=10|40=4|44=101|99=101|54=1|55=XYZ|59=1|60=20261122-08:00:00.123|",
        "11=5|21=2|38=10|40=2|44=100|54=1|55=XYZ|60=20261122-08:00:00|1=A1|",
    ];
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        let mut desk = desk(version);
        open(&mut desk, "O");
        for order in orders {
            let header = "49=C|56=OMS|34=7|52=20261122-08:00:00|";
            let (heard, said) = desk.asks(CLIENT, "D", &format!("{header}{order}10=123|"));
            assert_eq!(heard, Ok(()));
            assert_eq!(
                at_venue(&said, "D").and_then(|it| it.get(21)),
                Some("1"),
                "{order}"
            );
        }
        let replace = "11=6|41=O|21=1|55=XYZ|54=1|60=20261122-08:00:00|38=20|40=2|44=101|37=1|";
        let (_, said) = desk.asks(CLIENT, "G", replace);
        assert!(at_venue(&said, "G").is_some(), "{version:?}");
    }
}

#[test]
fn other_requests_are_refused_too() {
    for version in [Version::Fix44, Version::Fix50Sp2] {
        let mut desk = desk(version);
        open(&mut desk, "O");
        let wrong = [
            ("q", 1301, "r"),
            ("q", 453, "r"),
            ("S", 62, "AI"),
            ("S", 131, "AI"),
            ("S", 453, "AI"),
            ("Z", 1, "AI"),
            ("R", 126, "AG"),
            ("R", 40, "AG"),
            ("R", 453, "AG"),
            ("H", 790, ""),
            ("AF", 453, ""),
            ("e", 48, ""),
            ("g", 338, ""),
            ("BW", 1433, ""),
        ];
        for (msg_type, tag, answer) in wrong {
            let base = base(msg_type, &format!("{msg_type}{tag}"), "O");
            let (heard, said) = desk.asks(CLIENT, msg_type, &format!("{base}{tag}=1|"));
            assert!(refuses(&heard, &said, tag), "{msg_type} {tag}: {heard:?}");
            assert_eq!(
                said.first().map_or("", |it| &it.msg_type),
                answer,
                "{msg_type}"
            );
            let (heard, said) = desk.asks(
                CLIENT,
                msg_type,
                &self::base(msg_type, &format!("good-{msg_type}{tag}"), "O"),
            );
            assert!(!refuses_any(&heard, &said), "{msg_type}: {heard:?}");
        }
    }
}

#[test]
fn fields_of_reports_that_are_not_passed_on_are_counted() {
    let mut desk = desk(Version::Fix44);
    open(&mut desk, "O");
    let report = "37=V1|11=1|17=F1|150=F|39=1|55=XYZ|54=1|38=10|14=4|151=6|6=100|32=4|31=100|30=XLON|851=1|12=0.5|58=ok|5002=x|";
    desk.says(VENUE, "8", report);
    desk.says(
        VENUE,
        "9",
        "37=V1|11=1-9|41=1|39=0|434=1|102=0|58=no|5001=x|",
    );
    let status = desk.query("status");
    let counts = status
        .lines()
        .nth(1)
        .and_then(|line| line.split('\t').nth_back(2));
    assert_eq!(counts, Some("5001: 1, 5002: 1"));
}
