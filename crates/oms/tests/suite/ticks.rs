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
