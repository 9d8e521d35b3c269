//! Instruments for members: SecurityListRequest(x) and SecurityDefinitionRequest(c).

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Refusal, SessionId};

use super::desk::{A, Desk, NEW, OLD, Said, config};
use super::market_data::assert_valid;
use super::spreads::spreads;

fn desk() -> Desk {
    let mut config = config();
    config.instruments.extend(spreads().instruments);
    Desk::of(config)
}

fn texts(said: &[Said]) -> Vec<&str> {
    said.iter().map(|it| it.text.as_str()).collect()
}

/// Asks, and validates the answers as the member does.
fn ask(desk: &mut Desk, from: SessionId, request: &str) -> Vec<Said> {
    let version = match from {
        OLD => Version::Fix42,
        NEW => Version::Fix50Sp2,
        _ => Version::Fix44,
    };
    let said = desk.say(from, request);
    for said in &said {
        let (msg_type, body) = said.text[3..].split_once('|').unwrap();
        assert_valid(version, msg_type, body);
    }
    said
}

#[test]
fn a_list_has_the_instruments_with_ticks_lots_and_legs() {
    let mut desk = desk();
    let said = ask(&mut desk, A, "x 320=L1|559=0|55=VOD");
    assert_eq!(
        texts(&said),
        [
            "35=y|320=L1|322=L1|560=0|393=1|893=Y|146=1|55=VOD|561=1|58=Tick 0.01, lot 1, low 5.00, high 20.00|"
        ]
    );
    let said = ask(&mut desk, NEW, "x 320=L2|559=4|263=0");
    assert_eq!(said.len(), 1);
    let text = &said[0].text;
    said[0].has("320=L2|560=0|393=6|893=Y|146=6");
    assert!(
        text.contains("|55=VOD|969=0.01|1148=5.00|1149=20.00|561=1|55=BTC|969=0.5|561=0.001|"),
        "{text}"
    );
    let legs = "|55=JUN-MAR|167=MLEG|969=0.5|561=1|555=2|600=JUN|623=1|624=1|600=MAR|623=1|624=2|";
    assert!(text.contains(legs), "{text}");
    let said = ask(&mut desk, A, "x 320=L3|559=4");
    let legs = "|55=JUN-MAR|167=MLEG|555=2|600=JUN|623=1|624=1|600=MAR|623=1|624=2|561=1|58=Tick 0.5, lot 1, buy 1 JUN sell 1 MAR|";
    assert!(said[0].text.contains(legs), "{}", said[0].text);
    ask(&mut desk, A, "x 320=L4|559=0|55=XYZ")[0].has("560=2|393=0|893=Y|!146");
    ask(&mut desk, A, "x 320=L5|559=2")[0].has("560=1|393=0");
    assert_eq!(desk.say(A, "x 320=L6|559=4|263=2"), []);
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    assert_eq!(desk.ask(A, "x 320=L6|559=0"), Err(missing(55)));
    assert_eq!(desk.ask(A, "x 559=0|55=VOD"), Err(missing(320)));
    assert_eq!(desk.ask(A, "x 320=L6"), Err(missing(559)));
    let none = Refusal::UnsupportedMessageType;
    assert_eq!(desk.ask(OLD, "x 320=L6|559=4"), Err(none));
    desk.command("fault reject session=M0 type=x count=1")
        .0
        .unwrap();
    desk.say(A, "x 320=L7|559=4")[0].has("35=j|372=x|379=L7");
}

#[test]
fn a_long_list_comes_in_parts() {
    let mut config = config();
    let one = config.instruments[0].clone();
    for number in 0..118 {
        let mut more = one.clone();
        more.symbol = format!("S{number}");
        config.instruments.push(more);
    }
    let mut desk = Desk::of(config).with_room(1 << 16, 512);
    let said = ask(&mut desk, A, "x 320=L|559=4");
    let parts: Vec<_> = said
        .iter()
        .map(|it| (it.fields()[&146].to_string(), it.fields()[&893].to_string()))
        .collect();
    let part = |count: &str, last: &str| (count.to_string(), last.to_string());
    assert_eq!(parts, [part("50", "N"), part("50", "N"), part("20", "Y")]);
    assert!(said.iter().all(|it| it.fields()[&393] == "120"));
    // It is sent as a whole, or not at all.
    let mut desk = desk.with_room(8_000, 64);
    assert_eq!(desk.ask(A, "x 320=L|559=4"), Err(Refusal::NotAvailable));
}

#[test]
fn a_definition_is_of_a_symbol_or_of_each() {
    let mut desk = desk();
    for (from, answer) in [
        (
            OLD,
            "35=d|320=D1|322=D1-1|323=1|393=1|55=BTC|58=Tick 0.5, lot 0.001|",
        ),
        (
            A,
            "35=d|320=D1|322=D1-1|323=1|55=BTC|561=0.001|58=Tick 0.5, lot 0.001|",
        ),
        (
            NEW,
            "35=d|320=D1|322=D1-1|323=1|55=BTC|969=0.5|58=Tick 0.5, lot 0.001|",
        ),
    ] {
        let said = ask(&mut desk, from, "c 320=D1|321=0|55=BTC");
        assert_eq!(texts(&said), [answer]);
        let said = ask(&mut desk, from, "c 320=D2|321=3");
        assert_eq!(said.len(), 6);
        let kind = if from == OLD { 4 } else { 1 };
        said[5].has(&format!("320=D2|322=D2-6|323={kind}|55=FLY"));
        let unknown = ask(&mut desk, from, "c 320=D3|321=1|55=XYZ");
        unknown[0].has("323=6|55=XYZ|58=Symbol(55) is not traded here");
        let wrong = ask(&mut desk, from, "c 320=D4|321=2");
        wrong[0].has("323=5|58=SecurityRequestType(321) is not supported: request 0 with a Symbol(55), or 3 for all symbols");
    }
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    assert_eq!(desk.ask(A, "c 320=D5|321=0"), Err(missing(55)));
    assert_eq!(desk.ask(A, "c 320=D5"), Err(missing(321)));
    let notes = desk.notes.len();
    ask(&mut desk, A, "c 320=D6|321=3");
    assert_eq!(desk.notes.len(), notes, "it changes nothing");
}
