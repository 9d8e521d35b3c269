//! Clients ask for instruments: SecurityDefinitionRequest(c) and SecurityListRequest(x), answered from the file of
//! instruments.

use fixwire_engine::protocol::dictionary::validate::check;
use fixwire_engine::protocol::dictionary::{Scratch, ValidationRules, Version};
use fixwire_engine::protocol::{Decoder, DiskRoom, Ledger as _, Nanos, Refusal};

use fixwire_engine::Operator;
use fixwire_oms::{NewSettings, RELOAD, ReloadKind};

use crate::desk::{Desk, Input, Said, Setup, dictionary};
use crate::floor::{CLIENT as FLOOR_CLIENT, Floor};

const CLIENT: usize = 0;
const OTHER: usize = 1;
const VENUE: usize = 2;
const DROP: usize = 3;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
rates = "rates.csv"
tick_tables = "ticks.csv"
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
may = ["new", "securities"]
[[user]]
session = "OTHER"
accounts = ["A1"]
may = ["new"]
[[line_group]]
name = "V"
lines = ["VENUE"]
[[route]]
symbols = ["*"]
to = "V"
[[drop_copy]]
session = "DROP"
"#;

const INSTRUMENTS: &str = "\
symbol,tick,lot,multiplier,currency,reference,legs,tick_table,isin,ric,security_id,security_id_source,exchange,type,maturity
XYZ,0.05,100,,USD,,,,US0000000001,XYZ.N,,,XNYS,CS,
ABC,0.01,1,,,,,steps,US0000000002,,,,XNYS,CS,
BTC,0.5,0.001,,,,,,,,,,,,
MAR,0.5,1,10,EUR,100,,,,,7001,8,XEUR,FUT,2027-03
JUN,0.5,1,10,EUR,100,,,,,7002,8,XEUR,FUT,2027-06-18
JUN-MAR,0.5,1,10,EUR,,buy 1 JUN sell 2 MAR,,,,7003,8,XEUR,,
";

const TICKS: &str = "table,from,tick\nsteps,10,0.05\nsteps,100,0.1\n";

fn setup(instruments: &str, version: Version) -> Setup {
    Setup {
        settings: SETTINGS.into(),
        files: vec![
            ("instruments.csv", instruments.into()),
            ("rates.csv", "currency,rate\nUSD,1\nEUR,1.1\n".into()),
            ("ticks.csv", TICKS.into()),
            ("limits.csv", "scope,control,limit\n".into()),
        ],
        sessions: vec![
            ("CLIENT", version),
            ("OTHER", version),
            ("VENUE", Version::Fix44),
            ("DROP", Version::Fix44),
        ],
    }
}

fn desk_of(instruments: &str, version: Version) -> Desk {
    let mut desk = Desk::new(&setup(instruments, version));
    for session in [VENUE, CLIENT, OTHER, DROP] {
        desk.hear(&Input::Up(session, false));
    }
    desk
}

fn desk(version: Version) -> Desk {
    desk_of(INSTRUMENTS, version)
}

/// The fields of a message as text.
fn text(said: &Said) -> String {
    let fields = said.fields.iter();
    let fields = fields.map(|(tag, value)| format!("{tag}={value}|"));
    format!("35={}|{}", said.msg_type, fields.collect::<String>())
}

/// Checks a message against the dictionary of its version.
fn assert_valid(version: Version, said: &Said) {
    let begin = match version >= Version::Fix50 {
        true => "FIXT.1.1",
        false => version.name(),
    };
    let body = text(said);
    let rest = body.split_once('|').unwrap().1;
    let text = format!(
        "8={begin}|9=5|35={}|49=E|56=M|34=2|52=20260302-08:00:00|{rest}10=000|",
        said.msg_type
    );
    let bytes = text.replace('|', "\x01").into_bytes();
    let mut decoder = Decoder::with_capacity(2048);
    let message = decoder.decode(&bytes);
    let found = check(
        &dictionary(version),
        &message,
        &ValidationRules::default(),
        &mut Scratch::default(),
    );
    assert_eq!(found, Ok(()), "{version:?}: {text}");
}

/// Asks, and validates the answers as the client does.
fn ask(desk: &mut Desk, version: Version, msg_type: &'static str, body: &str) -> Vec<Said> {
    let said = desk.says(CLIENT, msg_type, body);
    for said in &said {
        assert_eq!(said.to, CLIENT);
        assert_valid(version, said);
    }
    said
}

fn texts(said: &[Said]) -> Vec<String> {
    said.iter().map(text).collect()
}

/// The symbols of a list, in order.
fn symbols(said: &[Said]) -> Vec<&str> {
    let fields = said.iter().flat_map(|it| &it.fields);
    let symbols = fields.filter(|(tag, _)| *tag == 55);
    symbols.map(|(_, value)| value.as_str()).collect()
}

const VERSIONS: [Version; 6] = [
    Version::Fix42,
    Version::Fix43,
    Version::Fix44,
    Version::Fix50,
    Version::Fix50Sp1,
    Version::Fix50Sp2,
];

#[test]
fn a_definition_has_what_each_version_has_fields_for() {
    let wanted = [
        (
            Version::Fix42,
            "35=d|320=D1|322=D1-1|323=1|393=1|55=XYZ|48=US0000000001|22=4|167=CS|207=XNYS|15=USD|58=tick 0.05, lot 100|",
            "35=d|320=D2|322=D2-1|323=1|393=1|55=JUN|48=7002|22=8|167=FUT|200=202706|205=18|231=10|207=XEUR|15=EUR|58=tick 0.5, lot 1|",
        ),
        (
            Version::Fix44,
            "35=d|320=D1|322=D1-1|323=1|55=XYZ|48=US0000000001|22=4|454=1|455=XYZ.N|456=5|167=CS|207=XNYS|15=USD|58=tick 0.05|561=100|562=100|",
            "35=d|320=D2|322=D2-1|323=1|55=JUN|48=7002|22=8|167=FUT|200=202706|541=20270618|231=10|207=XEUR|15=EUR|58=tick 0.5|561=1|562=1|",
        ),
    ];
    for (version, xyz, jun) in wanted {
        let mut desk = desk(version);
        let said = ask(&mut desk, version, "c", "320=D1|321=0|55=XYZ|");
        assert_eq!(texts(&said), [xyz]);
        let said = ask(&mut desk, version, "c", "320=D2|321=0|48=7002|22=8|");
        assert_eq!(texts(&said), [jun]);
    }
    let version = Version::Fix50Sp2;
    let mut desk = desk(version);
    let said = text(
        &ask(
            &mut desk,
            version,
            "c",
            "320=D1|321=4|55=[N/A]|48=XYZ.N|22=5|",
        )[0],
    );
    for field in [
        "|55=XYZ|",
        "|969=0.05|",
        "|1310=1|1301=XNYS|",
        "|561=100|",
        "|562=100|",
    ] {
        assert!(said.contains(field), "{field} in {said}");
    }
    assert!(
        !said.contains("|58="),
        "the message has a field for all: {said}"
    );
}

#[test]
fn ticks_that_depend_on_the_price_are_all_there() {
    for version in VERSIONS {
        let mut desk = desk(version);
        let said = text(&ask(&mut desk, version, "c", "320=D1|321=0|55=ABC|")[0]);
        let ticks = match version >= Version::Fix50Sp1 {
            true => "|1205=3|1206=0|1208=0.01|1206=10|1208=0.05|1206=100|1208=0.1|",
            false => "|58=tick 0.01, 0.05 from 10, 0.1 from 100",
        };
        assert!(said.contains(ticks), "{version:?} {said}");
    }
    // Too many for one message.
    let rows = (1..=65).map(|at| format!("steps,{at},{at}\n"));
    let ticks = format!("table,from,tick\n{}", rows.collect::<String>());
    let mut setup = setup(INSTRUMENTS, Version::Fix50Sp2);
    setup.files[2].1 = ticks;
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(CLIENT, false));
    let said = text(&ask(&mut desk, Version::Fix50Sp2, "c", "320=D1|321=0|55=ABC|")[0]);
    let words = "|58=tick 0.01, and 65 more ticks for higher prices|";
    assert!(said.contains(words) && !said.contains("|1205="), "{said}");
}

#[test]
fn a_spread_has_its_legs() {
    for version in VERSIONS {
        let mut desk = desk(version);
        let said = text(&ask(&mut desk, version, "c", "320=D1|321=0|55=JUN-MAR|")[0]);
        let legs = match version {
            Version::Fix42 => "|146=2|311=JUN|319=1|54=1|311=MAR|319=2|54=2|",
            _ => "|555=2|600=JUN|623=1|624=1|600=MAR|623=2|624=2|",
        };
        assert!(said.contains(legs), "{version:?} {said}");
        assert_eq!(
            said.contains("|167=MLEG|"),
            version > Version::Fix42,
            "{said}"
        );
    }
}

#[test]
fn requests_describe_the_instruments_that_they_want() {
    for version in VERSIONS {
        let mut desk = desk(version);
        let all = ["XYZ", "ABC", "BTC", "MAR", "JUN", "JUN-MAR"];
        let definitions = [
            ("321=3|", &all[..]),
            ("321=3|207=XEUR|", &all[3..]),
            ("321=1|167=FUT|", &all[3..5]),
            ("321=1|167=FUT|200=202706|", &all[4..5]),
            ("321=3|15=USD|", &all[..1]),
            ("321=0|55=XYZ|207=XNYS|", &all[..1]),
            ("321=0|55=XYZ|48=US0000000001|22=4|", &all[..1]),
        ];
        for (wanted, found) in definitions {
            let said = ask(&mut desk, version, "c", &format!("320=D|{wanted}"));
            assert_eq!(symbols(&said), found, "{version:?} {wanted}");
            let lists = version != Version::Fix44;
            let list = if found.len() > 1 || wanted.starts_with("321=3") {
                lists
            } else {
                false
            };
            let code = if list { "4" } else { "1" };
            assert!(
                said.iter().all(|it| it.get(323) == Some(code)),
                "{version:?} {wanted}"
            );
            for (number, said) in (1..).zip(&said) {
                assert_eq!(said.get(322), Some(format!("D-{number}").as_str()));
                assert_eq!(said.get(393).is_some(), version == Version::Fix42);
            }
        }
        if version == Version::Fix42 {
            let heard = desk.asks(CLIENT, "x", "320=L|559=4|").0;
            assert_eq!(heard, Err(Refusal::UnsupportedMessageType));
            continue;
        }
        let lists = [
            ("559=4|", &all[..]),
            ("559=4|263=0|", &all[..]),
            ("559=0|55=BTC|", &all[2..3]),
            ("559=0|48=7001|22=8|", &all[3..4]),
            ("559=1|167=CS|", &all[..2]),
            ("559=1|207=XEUR|", &all[3..]),
            ("559=1|207=XEUR|167=FUT|", &all[3..5]),
            ("559=4|541=20270618|", &all[4..5]),
            ("559=4|200=20270618|", &all[4..5]),
            ("559=4|200=202703|", &all[3..4]),
            ("559=4|15=EUR|", &all[3..]),
            ("559=0|55=BTC|200=20270618|", &[]),
        ];
        for (wanted, found) in lists {
            let said = ask(&mut desk, version, "x", &format!("320=L|{wanted}"));
            assert_eq!(said.len(), 1);
            assert_eq!(symbols(&said), found, "{version:?} {wanted}");
            let count = found.len().to_string();
            let result = if found.is_empty() { "2" } else { "0" };
            let entries = (!found.is_empty()).then_some(count.as_str());
            for (tag, value) in [(560, Some(result)), (393, Some(&count)), (146, entries)] {
                assert_eq!(said[0].get(tag), value, "{version:?} {wanted} {tag}");
            }
            let last = (version >= Version::Fix44).then_some("Y");
            assert_eq!(said[0].get(893), last);
        }
    }
}

#[test]
fn an_answer_without_instruments_says_why() {
    let version = Version::Fix44;
    let mut desk = desk(version);
    let none = [
        ("321=0|55=NONE|", "6 NONE no instrument has these fields"),
        ("321=0|48=7009|22=8|", "6 - no instrument has these fields"),
        (
            "321=0|55=MAR|48=7002|22=8|",
            "6 - no instrument has these fields",
        ),
        (
            "321=0|55=BTC|48=7002|22=8|",
            "6 - no instrument has these fields",
        ),
        ("321=3|207=XLON|", "6 - no instrument has these fields"),
        (
            "321=2|",
            "5 - this FIX version has no list of security types in SecurityDefinition(d)",
        ),
        (
            "321=7|",
            "5 - SecurityRequestType(321) is not supported: request 0 with a Symbol(55), or 3 for all symbols",
        ),
    ];
    for (wanted, answer) in none {
        let said = ask(&mut desk, version, "c", &format!("320=D|{wanted}"));
        assert_eq!(said.len(), 1, "{wanted}");
        let values = [323, 55, 58].map(|tag| said[0].get(tag).unwrap_or("-"));
        assert_eq!(values.join(" "), answer, "{wanted}");
    }
    for (wanted, result) in [
        ("559=0|55=NONE|", "2"),
        ("559=2|", "1"),
        ("559=1|167=OPT|", "2"),
    ] {
        let said = ask(&mut desk, version, "x", &format!("320=L|{wanted}"));
        let values = [560, 393, 893, 146].map(|tag| said[0].get(tag).unwrap_or("-"));
        assert_eq!(values.join(" "), format!("{result} 0 Y -"), "{wanted}");
    }
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    for (msg_type, body, why) in [
        ("c", "320=D|321=0|", missing(55)),
        ("c", "320=D|", missing(321)),
        ("c", "321=3|", missing(320)),
        ("c", "320=D|321=5|", missing(167)),
        ("c", "320=D|321=0|48=7001|", missing(22)),
        ("c", "320=D|321=0|22=8|", missing(48)),
        ("x", "320=L|559=0|", missing(55)),
        ("x", "320=L|559=1|", missing(167)),
        ("x", "320=L|", missing(559)),
        ("x", "320=L|559=4|263=1|", Refusal::ValueOutOfRange(263)),
        ("x", "320=L|559=4|200=soon|", Refusal::ValueOutOfRange(200)),
        (
            "x",
            "320=L|559=4|541=202706|",
            Refusal::ValueOutOfRange(541),
        ),
        (
            "x",
            "320=L|559=4|200=2027061|",
            Refusal::ValueOutOfRange(200),
        ),
        (
            "x",
            "320=L|559=4|200=202706w3|",
            Refusal::ValueOutOfRange(200),
        ),
        // A field that would narrow the list is not ignored.
        ("x", "320=L|559=4|461=F|", Refusal::FieldNotSupported(461)),
        ("c", "320=L|321=3|559=4|", Refusal::FieldNotSupported(559)),
    ] {
        let (heard, said) = desk.asks(CLIENT, msg_type, body);
        assert_eq!((heard, said.len()), (Err(why), 0), "{msg_type} {body}");
    }
}

#[test]
fn a_contract_makes_no_list_longer() {
    let version = Version::Fix44;
    let mut setup = setup(INSTRUMENTS, version);
    let contract = "drop = [461]\nrefuse = [15]\n[[user]]\nsession = \"OTHER\"";
    setup.settings = setup
        .settings
        .replace("[[user]]\nsession = \"OTHER\"", contract);
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(CLIENT, false));
    for (body, tag) in [("559=4|461=F|", 461), ("559=4|15=USD|", 15)] {
        let (heard, said) = desk.asks(CLIENT, "x", &format!("320=L|{body}"));
        let refused = Err(Refusal::FieldNotSupported(tag));
        assert_eq!((heard, said.len()), (refused, 0), "{body}");
    }
    let heard = desk.asks(CLIENT, "c", "320=D|321=3|15=USD|").0;
    assert_eq!(heard, Err(Refusal::FieldNotSupported(15)));
    let said = ask(&mut desk, version, "x", "320=L|559=4|207=XEUR|");
    assert_eq!(symbols(&said), ["MAR", "JUN", "JUN-MAR"]);
}

#[test]
fn lists_do_not_use_the_reserve_of_the_journal() {
    let version = Version::Fix44;
    let mut desk = desk_of(&many(120), version);
    let mut said = ask(&mut desk, version, "x", "320=L|559=4|");
    desk.disk(DiskRoom::Reserve);
    assert_eq!(desk.hear(&Input::Pass(1_000_000_000)).len(), 0);
    let (heard, refused) = desk.asks(CLIENT, "c", "320=D|321=3|");
    assert_eq!((heard, refused.len()), (Err(Refusal::NotAvailable), 0));
    // What has begun goes on when the disk has room again.
    desk.disk(DiskRoom::Enough);
    for _ in 0..2 {
        said.extend(desk.hear(&Input::Pass(0)));
    }
    assert_eq!(symbols(&said).len(), 120);
    assert_eq!(said.last().unwrap().get(893), Some("Y"));
}

#[test]
fn types_are_listed_once_each() {
    for version in [Version::Fix42, Version::Fix43, Version::Fix50Sp2] {
        let mut desk = desk(version);
        let said = ask(&mut desk, version, "c", "320=D|321=2|");
        let types: Vec<&str> = said.iter().filter_map(|it| it.get(167)).collect();
        // FIX 4.2 does not have MLEG, FIX 4.3 has no futures.
        let wanted: &[&str] = match version {
            Version::Fix42 => &["CS", "FUT"],
            Version::Fix43 => &["CS", "MLEG"],
            _ => &["CS", "FUT", "MLEG"],
        };
        assert_eq!(types, wanted, "{version:?}");
        assert!(said.iter().all(|it| it.get(323) == Some("3")));
        let said = ask(&mut desk, version, "c", "320=E|321=2|207=XNYS|");
        let types: Vec<&str> = said.iter().filter_map(|it| it.get(167)).collect();
        assert_eq!(types, ["CS"], "{version:?}");
    }
}

#[test]
fn expired_instruments_and_those_without_a_route_are_listed() {
    let version = Version::Fix44;
    let mut setup = setup("symbol,tick,expires\nOLD,1,2000-01-03\nNEW,1,\n", version);
    setup.settings = setup
        .settings
        .replace("symbols = [\"*\"]", "symbols = [\"NEW\"]");
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(CLIENT, false));
    let said = ask(&mut desk, version, "x", "320=L|559=4|");
    assert_eq!(symbols(&said), ["OLD", "NEW"]);
}

#[test]
fn only_users_with_the_right_get_instruments() {
    let mut desk = desk(Version::Fix44);
    let said = desk.says(OTHER, "x", "320=L|559=4|");
    assert_eq!(texts(&said), ["35=y|320=L|322=L-1|560=3|393=0|893=Y|"]);
    let said = desk.says(OTHER, "c", "320=L|321=3|");
    let none = "35=d|320=L|322=L-1|323=5|58=the session does not have the right securities|";
    assert_eq!(texts(&said), [none]);
    let heard = desk.asks(DROP, "x", "320=L|559=4|").0;
    assert_eq!(heard, Err(Refusal::NotAuthorized));
}

/// A file of this number of instruments.
fn many(count: usize) -> String {
    let rows = (0..count).map(|at| format!("S{at},0.5,1,XNYS\n"));
    format!("symbol,tick,lot,exchange\n{}", rows.collect::<String>())
}

#[test]
fn a_long_list_comes_in_parts_and_in_turns() {
    let version = Version::Fix44;
    let mut desk = desk_of(&many(2_120), version);
    let mut said = ask(&mut desk, version, "x", "320=L|559=4|");
    assert_eq!(said.len(), 1, "a turn sends no more than 50 instruments");
    // A message of another session within the millisecond brings no further one.
    desk.hear(&Input::Pass(-999_999));
    assert_eq!(desk.hear(&Input::Pass(-999_999)).len(), 0);
    for _ in 0..42 {
        let part = desk.hear(&Input::Pass(0));
        assert_eq!(part.len(), 1);
        said.extend(part);
    }
    let parts: Vec<_> = said.iter().map(|it| [it.get(146), it.get(893)]).collect();
    assert_eq!(parts.len(), 43);
    assert!(parts[..42].iter().all(|it| *it == [Some("50"), Some("N")]));
    assert_eq!(parts[42], [Some("20"), Some("Y")]);
    assert!(said.iter().all(|it| it.get(393) == Some("2120")));
    let names: Vec<String> = (0..2_120).map(|at| format!("S{at}")).collect();
    assert_eq!(symbols(&said), names);
    // Sessions take turns, so that a short answer does not wait for a long one; a session's own answers are in order.
    desk.set("may = [\"new\"]", "may = [\"new\", \"securities\"]");
    desk.hear(&Input::Restart(0, true));
    for session in [VENUE, CLIENT, OTHER, DROP] {
        desk.hear(&Input::Up(session, false));
    }
    for number in 0..4 {
        let heard = desk.asks(CLIENT, "c", &format!("320=C{number}|321=3|")).0;
        assert_eq!(heard, Ok(()));
    }
    let full = desk.asks(CLIENT, "c", "320=C5|321=3|").0;
    assert_eq!(full, Err(Refusal::NotAvailable));
    let said = desk.says(OTHER, "c", "320=O|321=0|55=S7|");
    assert_eq!(said.len(), 50, "each definition has one instrument");
    let to_other = said.iter().position(|it| it.to == OTHER).unwrap();
    assert!(to_other <= 1, "{to_other}");
    // A disconnect ends the answers.
    desk.hear(&Input::Down(CLIENT, false));
    assert_eq!(desk.hear(&Input::Pass(10_000_000)).len(), 0);
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn a_request_leaves_no_trace_and_has_the_same_answer_after_a_restart() {
    for from_checkpoint in [false, true] {
        let version = Version::Fix44;
        let mut desk = desk(version);
        let before = desk.state().hash();
        let first = texts(&ask(&mut desk, version, "x", "320=L|559=4|"));
        assert_eq!(desk.state().hash(), before);
        desk.hear(&Input::Restart(0, from_checkpoint));
        for session in [VENUE, CLIENT] {
            desk.hear(&Input::Up(session, false));
        }
        assert_eq!(texts(&ask(&mut desk, version, "x", "320=L|559=4|")), first);
    }
}

#[test]
fn an_answer_that_has_begun_is_from_the_instruments_before_a_reload() {
    let mut floor = Floor::with("may = [", "may = [\"securities\", ");
    let rows = (0..2_000).map(|at| format!("S{at},1,1,7,,\n"));
    let rows = rows.collect::<String>();
    floor.edit(|files| files.instruments += &rows);
    floor.reload().unwrap();
    floor.settle();
    let lots = |floor: &mut Floor, id: &str| {
        for _ in 0..300 {
            floor.world.pass(Nanos(1_000_000));
            floor.settle();
        }
        let said = floor.received(FLOOR_CLIENT, &[35, 320, 561]);
        let its = said
            .iter()
            .filter_map(|it| it.strip_prefix(&format!("d {id} ")));
        let lots: Vec<String> = its.map(str::to_owned).collect();
        assert_eq!(lots.len(), 2_004, "{id}");
        lots[4..].to_vec()
    };
    floor.edit(|files| files.instruments = files.instruments.replace(",1,1,7,,", ",1,2,7,,"));
    let rules = floor.files.lock().unwrap().read().unwrap();
    let new = NewSettings {
        rules,
        kind: ReloadKind::Files,
        is_applied: false,
    };
    *floor.slot.new.lock().unwrap() = Some(Box::new(new));
    floor.world.send(FLOOR_CLIENT, "c", "320=D1|321=3|");
    while floor.received(FLOOR_CLIENT, &[35]).len() < 100 {
        floor.world.pass(Nanos(1_000_000));
        floor.world.turn().unwrap();
    }
    let mut handle = floor.world.handle().unwrap();
    let operator = Operator::new("ann", "a test");
    let answer = handle.command(RELOAD, operator).unwrap();
    while answer.try_recv().is_err() {
        floor.world.turn().unwrap();
    }
    assert!(
        floor.received(FLOOR_CLIENT, &[35]).len() < 1_000,
        "the list is not at its end"
    );
    floor.settle();
    assert!(lots(&mut floor, "D1").iter().all(|lot| lot == "1"));
    floor.world.send(FLOOR_CLIENT, "c", "320=D2|321=3|");
    assert!(lots(&mut floor, "D2").iter().all(|lot| lot == "2"));
}

#[test]
fn a_list_ends_when_the_right_is_taken_away() {
    for is_user in [true, false] {
        let mut floor = Floor::with("may = [", "may = [\"securities\", ");
        let rows = (0..2_000).map(|at| format!("S{at},1,1,7,,\n"));
        let rows = rows.collect::<String>();
        floor.edit(|files| files.instruments += &rows);
        floor.reload().unwrap();
        floor.settle();
        floor.edit(|files| {
            let settings = &files.settings;
            files.settings = if is_user {
                settings.replace("may = [\"securities\", ", "may = [")
            } else {
                let (before, user) = settings.split_once("[[user]]").unwrap();
                let (_, after) = user.split_once("[[").unwrap();
                format!("{before}[[{after}")
            };
        });
        let rules = floor.files.lock().unwrap().read().unwrap();
        let new = NewSettings {
            rules,
            kind: ReloadKind::Files,
            is_applied: false,
        };
        *floor.slot.new.lock().unwrap() = Some(Box::new(new));
        floor.world.send(FLOOR_CLIENT, "x", "320=L1|559=4|");
        floor.world.send(FLOOR_CLIENT, "c", "320=D1|321=3|");
        while floor.received(FLOOR_CLIENT, &[35]).len() < 20 {
            floor.world.pass(Nanos(1_000_000));
            floor.world.turn().unwrap();
        }
        let mut handle = floor.world.handle().unwrap();
        let operator = Operator::new("ann", "a test");
        let answer = handle.command(RELOAD, operator).unwrap();
        for _ in 0..300 {
            floor.world.pass(Nanos(1_000_000));
            floor.settle();
        }
        answer.try_recv().unwrap().unwrap();
        let said = floor.received(FLOOR_CLIENT, &[35, 560, 893, 323, 58]);
        assert!(said.len() < 40, "{is_user} {}", said.len());
        let list = said.iter().rfind(|it| it.starts_with("y ")).unwrap();
        assert_eq!(list, "y 3 Y - -", "{is_user}");
        let definition = said.iter().rfind(|it| it.starts_with("d ")).unwrap();
        let none = "d - - 5 the session does not have the right securities";
        assert_eq!(definition, none, "{is_user}");
    }
}
