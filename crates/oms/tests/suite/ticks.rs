//! What a client reads when a price is not on the tick.

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::{Desk, Input, Setup};

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
may = ["new", "replace", "cancel", "quote"]
account = "A1"
[[line_group]]
name = "V"
lines = ["V"]
[[route]]
symbols = ["*"]
to = "V"
"#;

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,90\nfirm,RC13,100\n\
                      firm,RC14,1000000000\nfirm,RC15,100000\n";

fn desk(version: Version) -> Desk {
    let instruments = "symbol,tick,lot,reference\nHALF,0.5,1,100\nCENT,0.05,1,100\nONE,1,1,100\n";
    let setup = Setup {
        settings: SETTINGS.to_owned(),
        files: vec![
            ("instruments.csv", instruments.to_owned()),
            ("limits.csv", LIMITS.to_owned()),
        ],
        sessions: vec![("C", version), ("V", version)],
    };
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    desk
}

/// Text(58) of the only answer to a client.
fn text(desk: &mut Desk, msg_type: &'static str, body: &str) -> String {
    let said = desk.says(CLIENT, msg_type, body);
    assert!(said.iter().all(|it| it.to == CLIENT), "{body}");
    let texts: Vec<&str> = said.iter().filter_map(|it| it.get(58)).collect();
    assert_eq!(texts.len(), 1, "{body}");
    texts[0].to_owned()
}

#[test]
fn a_price_off_the_tick_is_told_with_the_price_and_the_tick() {
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        for (symbol, price, told) in [
            ("HALF", "100.2", "(100.2, size 0.5)"),
            ("HALF", "99.9", "(99.9, size 0.5)"),
            ("CENT", "100.03", "(100.03, size 0.05)"),
            // Of more decimals than the symbol has.
            ("HALF", "100.25", "(more than 1 decimals)"),
            ("CENT", "100.051", "(more than 2 decimals)"),
            ("ONE", "100.5", "(more than 0 decimals)"),
        ] {
            let mut desk = desk(version);
            let order = |id: &str, price: &str| {
                format!("11={id}|21=1|55={symbol}|54=1|38=10|40=2|44={price}|60=20261122-08:00:00|")
            };
            let wanted = format!("RC8: price is not a multiple of the tick size {told}");
            assert_eq!(text(&mut desk, "D", &order("A1", price)), wanted);
            let said = desk.says(CLIENT, "D", &order("A2", "100"));
            let sent = said.iter().find(|it| it.to == VENUE).unwrap();
            let number = sent.get(11).unwrap();
            let accepted = format!(
                "37=V1|11={number}|17=N|150=0|39=0|55={symbol}|54=1|38=10|44=100|14=0|151=10|6=0|20=0|"
            );
            desk.says(VENUE, "8", &accepted);
            let replace = format!("41=A2|{}", order("A3", price));
            assert_eq!(text(&mut desk, "G", &replace), wanted);
            let quote = format!("117=Q|55={symbol}|132={price}|133=110|134=1|135=1|");
            assert_eq!(text(&mut desk, "S", &quote), wanted);
        }
    }
}

const TABLES: &str =
    "table,from,tick\nshares,1,0.01\nshares,10,0.05\nshares,100,0.5\nhalves,0,0.5\n";
const BY_TABLE: &str =
    "symbol,tick,tick_table,reference\nS,0.001,shares,10\nH,0.25,halves,10\nPLAIN,0.05,,10\n";

/// One whose symbols have tick tables.
fn desk_by_price() -> Desk {
    let setup = Setup {
        settings: SETTINGS.replace("[oms]", "[oms]\ntick_tables = \"ticks.csv\""),
        files: vec![
            ("ticks.csv", TABLES.to_owned()),
            ("instruments.csv", BY_TABLE.to_owned()),
            (
                "limits.csv",
                LIMITS.replace("firm,RC8,90", "firm,RC8,10000"),
            ),
        ],
        sessions: vec![("C", Version::Fix44), ("V", Version::Fix44)],
    };
    let mut desk = Desk::new(&setup);
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    desk
}

#[test]
fn the_tick_follows_the_price_by_the_table_of_the_symbol() {
    let mut desk = desk_by_price();
    let cases = [
        ("S", "0.999", ""),
        ("S", "1", ""),
        ("S", "1.005", "(1.005, size 0.01)"),
        ("S", "9.99", ""),
        ("S", "10.01", "(10.01, size 0.05)"),
        ("S", "99.95", ""),
        ("S", "100.05", "(100.05, size 0.5)"),
        ("S", "100.5", ""),
        // A negative price has the tick of its absolute value.
        ("S", "-10.01", "(-10.01, size 0.05)"),
        ("S", "-10.05", ""),
        ("H", "0.25", "(0.25, size 0.5)"),
        ("H", "1.5", ""),
        ("PLAIN", "10.05", ""),
        ("PLAIN", "1.01", "(1.01, size 0.05)"),
    ];
    let plays = |desk: &mut Desk, round: &str| {
        for (place, (symbol, price, told)) in cases.iter().enumerate() {
            let order = format!(
                "11={round}{place}|21=1|55={symbol}|54=1|38=10|40=2|44={price}|60=20261122-08:00:00|"
            );
            let said = desk.says(CLIENT, "D", &order);
            let sent = said.iter().find(|it| it.to == VENUE);
            if told.is_empty() {
                let sent = sent.and_then(|it| it.get(44));
                assert_eq!(sent, Some(*price), "{symbol} {price}: {said:?}");
            } else {
                let wanted = format!("RC8: price is not a multiple of the tick size {told}");
                assert_eq!(said[0].get(58), Some(wanted.as_str()), "{symbol} {price}");
            }
        }
    };
    plays(&mut desk, "A");
    let symbols = desk.query("symbols");
    assert!(symbols.contains("\nS\t0.001, 0.01 from 1, 0.05 from 10, 0.5 from 100\t1\t"));
    assert!(symbols.contains("\nPLAIN\t0.05\t1\t"));
    // The price of a fill gives the symbol more decimals: its ticks are the same.
    let number = desk.state().orders().iter().find(|it| it.price == 999);
    let number = number.unwrap().number;
    let fill = format!(
        "37=V|11={number}|17=E|150=F|39=1|55=S|54=1|38=10|44=0.999|32=1|31=0.99875|14=1|151=9|6=0.99875|"
    );
    desk.says(VENUE, "8", &fill);
    assert!(desk.query("orders").contains("\t0.99875\t"));
    plays(&mut desk, "B");
    desk.hear(&Input::Restart(0, true));
    desk.hear(&Input::Up(VENUE, false));
    plays(&mut desk, "C");
}

#[test]
fn a_mistake_of_a_tick_table_is_told_with_its_line() {
    let found = |tables: &str, instruments: &str| {
        let settings = SETTINGS.replace("[oms]", "[oms]\ntick_tables = \"ticks.csv\"");
        let mut open = |file: &str| {
            Ok(match file {
                "ticks.csv" => tables.to_owned(),
                "instruments.csv" => instruments.to_owned(),
                _ => LIMITS.to_owned(),
            })
        };
        let found = fixwire_oms::load::load(&settings, &["C", "V"], &mut open).err();
        let found = found.into_iter().flatten().map(|it| it.to_string());
        found.collect::<Vec<_>>()
    };
    let rows = |rows: &str| found(&format!("table,from,tick\n{rows}\n"), "symbol,tick\nA,1\n");
    for (row, wanted) in [
        ("t,-1,1", "ticks.csv:2: from must be a price, 0 or above"),
        ("t,x,1", "ticks.csv:2: from must be a price, 0 or above"),
        ("t,1,0", "ticks.csv:2: tick must be a number above 0"),
        (
            "t,1,0.3",
            "ticks.csv:2: from 1 is no multiple of tick 0.3; let each price begin on its tick",
        ),
        (
            "t,10,1\nt,5,1",
            "ticks.csv:3: prices of table t do not rise; list the rows of a table by price",
        ),
        ("t,1e9,1", "ticks.csv:2: from must be a price, 0 or above"),
        (
            "t,1,0.0000000001",
            "ticks.csv:2: tick has more than 9 decimals; prices have at most 9",
        ),
        (
            "t,0.0000000001,1",
            "ticks.csv:2: from has more than 9 decimals; prices have at most 9",
        ),
    ] {
        assert_eq!(rows(row), [wanted], "{row}");
    }
    assert_eq!(
        found(TABLES, "symbol,tick,tick_table\nA,1,other\n"),
        ["instruments.csv:2: unknown tick_table other; see tick_tables"]
    );
    assert_eq!(
        found(TABLES, "symbol,tick,tick_table,decimals\nA,1,shares,1\n"),
        ["instruments.csv:2: decimals must be a number from 2 to 9"]
    );
    assert_eq!(
        found(TABLES, "symbol,tick\nA,0.0000000001\n"),
        ["instruments.csv:2: tick has more than 9 decimals; prices have at most 9"]
    );
}
