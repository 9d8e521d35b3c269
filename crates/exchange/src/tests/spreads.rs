//! Spreads: they trade in their own book, and each trade has two legs.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Timestamp;
use fixwire_tmp::{TmpSide, TmpSymbol};

use super::desk::{A, B, Desk, OLD, Said, config, decimal, exchange};
use super::tmp_desk::{ONE, TmpDesk, TmpSaid, new};
use crate::leg_config::parse_legs;
use crate::{ExchangeConfig, InstrumentConfig, LegConfig, OrderScript};

/// JUN-MAR buys JUN and sells MAR; FLY buys MAR and sells two JUN.
pub(super) fn spreads() -> ExchangeConfig {
    let instrument = |symbol: &str, reference: Option<&str>, legs: &str| InstrumentConfig {
        symbol: symbol.to_string(),
        tick: decimal("0.5"),
        lot: decimal("1"),
        low: None,
        high: None,
        reference: reference.map(decimal),
        legs: match legs {
            "" => None,
            legs => Some(parse_legs(legs).unwrap()),
        },
        ..config().instruments[0].clone()
    };
    ExchangeConfig {
        instruments: [
            instrument("MAR", Some("100"), ""),
            instrument("JUN", Some("102.5"), ""),
            instrument("JUN-MAR", None, "buy 1 JUN sell 1 MAR"),
            instrument("FLY", None, "buy 1 MAR sell 2 JUN"),
        ]
        .into(),
        ..ExchangeConfig::default()
    }
}

fn order(id: &str, symbol: &str, side: u8, quantity: u32, price: &str) -> String {
    alloc::format!("D 11={id}|55={symbol}|54={side}|38={quantity}|40=2|44={price}")
}

fn to(said: &[Said], member: fixwire_protocol::SessionId) -> Vec<&Said> {
    said.iter().filter(|it| it.to == member).collect()
}

#[test]
fn a_trade_is_reported_with_its_legs() {
    let mut desk = Desk::of(spreads());
    let said = desk.say(A, &order("A1", "JUN-MAR", 1, 10, "2"));
    said[0].has("150=0|55=JUN-MAR|167=MLEG|442=3");
    let said = desk.say(B, &order("B1", "JUN-MAR", 2, 4, "1.5"));
    let (ours, theirs) = (to(&said, A), to(&said, B));
    assert_eq!((ours.len(), theirs.len()), (3, 4));
    // MAR is at its reference, and JUN at what is left.
    ours[0].has("150=F|39=1|442=3|55=JUN-MAR|54=1|32=4|31=2.0|151=6|14=4");
    ours[1].has("150=F|39=1|442=2|55=JUN|54=1|38=10|32=4|31=102.0|151=6|14=4|11=A1|37=1");
    ours[2].has("150=F|442=2|55=MAR|54=2|38=10|32=4|31=100.0|151=6|14=4|!167");
    theirs[1].has("150=F|39=2|442=3|54=2|32=4|31=2.0");
    theirs[2].has("150=F|39=2|442=2|55=JUN|54=2|32=4|31=102.0|151=0");
    theirs[3].has("442=2|55=MAR|54=1|32=4|31=100.0");
    let mut ids: Vec<&str> = said.iter().map(|it| it.fields()[&17]).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), said.len(), "each has its own ExecID");
    // The last price of MAR counts from then on.
    desk.say(A, &order("A2", "MAR", 1, 1, "101"));
    desk.say(B, &order("B2", "MAR", 2, 1, "101"));
    let said = desk.say(B, &order("B3", "JUN-MAR", 2, 1, "2"));
    to(&said, A)[1].has("55=JUN|31=103.0");
    to(&said, A)[2].has("55=MAR|31=101.0");
    // The books of the legs are others: nothing of them was traded.
    desk.say(A, "H 11=A2|54=1|55=MAR")[0].has("14=1");
    assert_eq!(desk.exchange.check(), Ok(()));
}

#[test]
fn ratios_and_fix_4_2() {
    let mut desk = Desk::of(spreads());
    desk.say(OLD, &order("O1", "FLY", 2, 5, "-105"))[0].has("150=0|442=3|!167");
    let said = desk.say(A, &order("A1", "FLY", 1, 3, "-105"));
    let (ours, old) = (to(&said, A), to(&said, OLD));
    // 2 of JUN at 102.5 are 205: MAR is at 100.
    ours[2].has("442=2|55=MAR|54=1|38=3|32=3|31=100.0");
    ours[3].has("442=2|55=JUN|54=2|38=6|32=6|31=102.5|151=0|14=6");
    old[0].has("20=0|150=1|442=3|32=3");
    old[1].has("20=0|150=1|39=1|442=2|55=MAR|54=2|38=5|32=3|151=2");
    old[2].has("20=0|150=1|442=2|55=JUN|54=1|38=10|32=6|151=4|14=6");
}

#[test]
fn a_script_fills_legs_too_and_busts_the_spread() {
    let script = OrderScript {
        name: "S".to_string(),
        symbol: Some("JUN-MAR".to_string()),
        steps: ["ack", "fill 4 @ 2.5", "bust"].map(String::from).into(),
        ..OrderScript::default()
    };
    let config = ExchangeConfig {
        scripts: [script].into(),
        ..spreads()
    };
    let mut desk = Desk::of(config);
    let said = desk.say(A, &order("A1", "JUN-MAR", 1, 10, "2"));
    assert_eq!(said.len(), 5);
    let fill = said[1].has("150=F|442=3|31=2.5").fields()[&17];
    said[2].has("442=2|55=JUN|31=102.5");
    said[4].has(&alloc::format!("150=H|442=3|19={fill}"));
}

#[test]
fn tmp_members_get_both_legs_in_one_report() {
    let mut desk = TmpDesk::of(spreads()).log_in();
    let mut entry = new("A0001", TmpSide::SELL, 10, 20);
    (entry.symbol_type, entry.symbol) = TmpSymbol::Text(b"JUN-MAR").field().unwrap();
    let said = desk.ask(ONE, &entry);
    assert_eq!(said.len(), 1);
    desk.say(A, &order("A1", "JUN-MAR", 1, 4, "2"));
    let said = desk.heard(ONE);
    let TmpSaid::Report(_, fill) = &said[0] else {
        panic!("{said:?}");
    };
    assert_eq!((fill.last_px, fill.last_qty, fill.leaves_qty), (20, 4, 6));
    assert_eq!(fill.leg_side, [TmpSide::SELL.0, TmpSide::BUY.0]);
    assert_eq!((fill.leg_px, fill.leg_qty), ([1020, 1000], [4, 4]));
    assert_eq!(said.len(), 1);
}

#[test]
fn a_restart_knows_the_legs() {
    let mut desk = Desk::of(spreads());
    desk.say(A, &order("A1", "JUN-MAR", 1, 10, "2"));
    desk.say(B, &order("B1", "JUN-MAR", 2, 4, "2"));
    let before = fixwire_protocol::Application::state_hash(&desk.exchange);
    let again = desk.again(spreads());
    assert_eq!(fixwire_protocol::Application::state_hash(&again), before);
    let mut bytes = Vec::new();
    desk.ledger().write(&mut |it| bytes.extend_from_slice(it));
    let mut read = exchange(spreads());
    let version = desk.ledger().form().1;
    fixwire_protocol::Application::on_checkpoint(&mut read, version, &bytes).unwrap();
    for note in &desk.notes[desk.notes.len()..] {
        fixwire_protocol::Application::on_note(&mut read, Timestamp::default(), note);
    }
    desk.exchange = read;
    let said = desk.say(B, &order("B2", "JUN-MAR", 2, 1, "2"));
    to(&said, A)[1].has("442=2|55=JUN|31=102.0");
}

type Change = dyn Fn(&mut ExchangeConfig);

fn legs(text: &str) -> Option<[LegConfig; 2]> {
    Some(parse_legs(text).unwrap())
}

#[test]
fn mistakes_in_legs_are_reported() {
    let problem = |change: &Change| {
        let mut config = spreads();
        change(&mut config);
        let problems = config.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].key, "legs");
        problems[0].what.clone()
    };
    let cases: [(&Change, &str); 6] = [
        (
            &|it| it.instruments[2].legs = legs("buy 1 JUN sell 1 X"),
            "unknown leg X",
        ),
        (
            &|it| it.instruments[3].legs = legs("buy 1 JUN sell 1 JUN-MAR"),
            "leg JUN-MAR is a spread itself",
        ),
        (
            &|it| it.instruments[2].legs = legs("buy 2 JUN sell 3 MAR"),
            "one leg must have the ratio 1",
        ),
        (
            &|it| {
                it.instruments[1].reference = None;
                it.instruments.pop();
            },
            "leg JUN has no reference",
        ),
        (
            &|it| it.instruments[2].symbol = "MAR/JUN".to_string(),
            "leg 1 is JUN, but the symbol begins with MAR",
        ),
        (
            &|it| it.instruments[2].tick = decimal("0.25"),
            "the ticks of leg JUN and its spread have different numbers of decimals",
        ),
    ];
    for (change, what) in cases {
        let said = problem(change);
        assert!(said.starts_with(what), "{said}");
    }
}
