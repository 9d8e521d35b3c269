//! Rejected requests, duplicates, and mass requests.

use alloc::string::ToString;
use alloc::vec::Vec;

use fixwire_protocol::session::{BeginString, Config, Role};
use fixwire_protocol::{Refusal, tag};

use super::desk::{A, B, Desk, NEW, OLD, config, decimal};
use crate::{ConfigTable, Exchange, ExchangeError, ExchangeSession};

const BUY: &str = "D 11=A1|55=VOD|54=1|38=100|40=2|44=10.50|59=0";

#[test]
fn an_order_that_cannot_be_is_rejected_with_its_reason() {
    let mut desk = Desk::new();
    for (from, to, reason, text) in [
        ("55=VOD", "55=XYZ", "1", "Symbol(55)=XYZ is not traded here"),
        ("54=1", "54=9", "11", "Side(54) must be 1, 2, 5 or 6 here"),
        (
            "40=2",
            "40=P",
            "11",
            "OrdType(40) must be 1, 2, 3 or 4 here",
        ),
        (
            "59=0",
            "59=6",
            "11",
            "TimeInForce(59) must be 0, 1, 3 or 4 here",
        ),
        ("38=100", "38=0", "13", "OrderQty(38) is zero"),
        ("38=100", "38=-5", "13", "OrderQty(38) is below zero"),
        (
            "38=100",
            "38=1.5",
            "13",
            "OrderQty(38) must be a multiple of the lot, 1",
        ),
        (
            "38=100",
            "152=5",
            "13",
            "OrderQty(38) is missing: other quantity fields are not supported",
        ),
        (
            "44=10.50",
            "44=10.505",
            "99",
            "Price(44) must be a multiple of the tick, 0.01",
        ),
        (
            "44=10.50",
            "44=999999999999999999",
            "99",
            "Price(44) is too large for the tick, 0.01",
        ),
        (
            "|44=10.50",
            "",
            "99",
            "Price(44) is missing: this OrdType(40) needs it",
        ),
        (
            "40=2",
            "40=3",
            "99",
            "StopPx(99) is missing: this OrdType(40) needs it",
        ),
        (
            "44=10.50",
            "44=20.01",
            "99",
            "The price is outside the price band from 5.00 to 20.00",
        ),
        (
            "59=0",
            "111=101",
            "13",
            "The displayed quantity must be above zero, from a thousandth of OrderQty(38) to all of it, and \
             of a limit order that can rest",
        ),
    ] {
        let said = desk.say(A, &BUY.replace(from, to));
        assert_eq!(said.len(), 1);
        said[0].has(&alloc::format!(
            "35=8|150=8|39=8|103={reason}|151=0|14=0|6=0|11=A1"
        ));
        assert_eq!(said[0].fields().get(&58), Some(&text), "{to}");
    }
    let band = desk.say(NEW, &BUY.replace("44=10.50", "44=4.99"));
    band[0].has("103=16");
    // None of them has used up its ClOrdID.
    desk.say(A, BUY)[0].has("39=0");
    assert_eq!(desk.exchange.open(), (1, 0));
}

#[test]
fn what_is_no_request_gets_the_answer_of_the_protocol() {
    let mut desk = Desk::new();
    let missing = |tag| Err(Refusal::ConditionallyRequiredFieldMissing(tag));
    for (request, refusal) in [
        ("8 37=1", Err(Refusal::UnsupportedMessageType)),
        ("D 55=VOD|54=1|38=1|40=1", missing(tag::CL_ORD_ID)),
        ("D 11=1|54=1|38=1|40=1", missing(tag::SYMBOL)),
        ("D 11=1|55=VOD|38=1|40=1", missing(tag::SIDE)),
        ("D 11=1|55=VOD|54=1|38=1", missing(tag::ORD_TYPE)),
        ("F 11=1|55=VOD|54=1", missing(tag::ORIG_CL_ORD_ID)),
        ("G 11=1|41=2|55=VOD|54=1", missing(tag::ORD_TYPE)),
        ("q 11=1", missing(tag::MASS_CANCEL_REQUEST_TYPE)),
        (
            "D 11=1|55=VOD|54=1|38=x|40=1",
            Err(Refusal::IncorrectDataFormat(tag::ORDER_QTY)),
        ),
        (
            "D 11=1|55=VOD|54=1|38=1|40=2|44=99999999999999999999",
            Err(Refusal::ValueOutOfRange(tag::PRICE)),
        ),
        (
            "D 11=12345678901234567890123456789012345678901234567890123456789012345|55=VOD|54=1|38=1|40=1",
            Err(Refusal::ValueOutOfRange(tag::CL_ORD_ID)),
        ),
    ] {
        assert_eq!(desk.ask(A, request), refusal, "{request}");
    }
    // FIX 4.2 has no mass requests.
    let refusal = Err(Refusal::UnsupportedMessageType);
    assert_eq!(desk.ask(OLD, "q 11=1|530=7"), refusal);
    assert_eq!(desk.notes.len(), 0, "what is refused is not noted");
}

#[test]
fn a_cl_ord_id_is_used_once_by_each_member() {
    let mut desk = Desk::new();
    desk.say(A, BUY);
    desk.say(A, BUY)[0].has("150=8|39=8|103=6");
    desk.say(B, BUY)[0].has("150=0");
    // A member that says it may have sent the order before hears how it stands.
    let said = desk.say(A, &alloc::format!("{BUY}|97=Y"));
    said[0].has("150=I|39=0|17=0|37=1");
    desk.say(A, "F 11=C1|41=A1|55=VOD|54=1");
    desk.say(A, BUY)[0].has("103=6");
    desk.say(A, &BUY.replace("11=A1", "11=C1"))[0].has("103=6");
}

#[test]
fn closed_orders_are_forgotten_beyond_the_limit() {
    let mut desk = Desk::of(crate::ExchangeConfig {
        remembered_max: 1,
        ..config()
    });
    desk.say(A, "D 11=1|55=VOD|54=1|38=1|40=1");
    desk.say(A, "D 11=2|55=VOD|54=1|38=1|40=1");
    desk.say(A, "H 11=1|55=VOD|54=1")[0].has("37=NONE");
    desk.say(A, "H 11=2|55=VOD|54=1")[0].has("37=2|39=4");
    desk.say(A, "D 11=1|55=VOD|54=1|38=1|40=2|44=10")[0].has("39=0");
}

#[test]
fn a_full_book_refuses_orders() {
    let mut desk = Desk::of(crate::ExchangeConfig {
        orders_max: 1,
        ..config()
    });
    desk.say(A, BUY);
    desk.say(B, BUY)[0]
        .has("150=8|103=3|58=The order book of the instrument is full: max_orders is 1");
}

#[test]
fn status_is_reported_whatever_has_become_of_the_order() {
    let mut desk = Desk::new();
    desk.say(A, BUY);
    desk.say(B, "D 11=S1|55=VOD|54=2|38=40|40=2|44=10");
    desk.say(A, "H 11=A1|55=VOD|54=1")[0].has("35=8|150=I|39=1|17=0|14=40|151=60|!31|!32");
    desk.say(B, "H 11=S1|55=VOD|54=2")[0].has("150=I|39=2");
    desk.say(B, "H 11=A1|55=VOD|54=1")[0].has("150=I|39=8|37=NONE|103=5|58=Unknown order");
}

#[test]
fn orders_are_cancelled_by_symbol_or_all_at_once() {
    let mut desk = Desk::new();
    desk.say(A, BUY);
    desk.say(A, "D 11=A2|55=BTC|54=1|38=1|40=2|44=100");
    desk.say(A, "D 11=A3|55=VOD|54=1|38=1|40=3|99=19");
    desk.say(B, BUY);
    let said = desk.say(A, "q 11=Q1|530=1|55=VOD|60=20260302-08:00:00");
    assert_eq!(said.len(), 3);
    said[0].has("35=r|11=Q1|530=1|531=1|533=2|55=VOD|!532");
    said[1].has("35=8|11=Q1|41=A1|150=4|39=4");
    said[2].has("35=8|11=Q1|41=A3|150=4|39=4");
    desk.say(A, "q 11=Q2|530=1|55=XYZ")[0].has("35=r|531=0|532=1");
    desk.say(A, "q 11=Q2|530=4")[0].has("35=r|531=0|532=0");
    assert_eq!(desk.say(A, "q 11=Q2|530=7").len(), 2);
    assert_eq!(
        desk.say(NEW, "q 11=Q2|530=7")[0].has("533=0").fields()[&37],
        "9"
    );
    assert_eq!(desk.exchange.open().0, 1, "that of the other member");
}

#[test]
fn the_status_of_all_orders_is_reported_and_counted() {
    let mut desk = Desk::new();
    desk.say(A, "AF 584=S0|585=7")[0].has("150=I|39=8|37=NONE|584=S0|911=0|912=Y|55=[N/A]");
    desk.say(A, BUY);
    desk.say(A, "D 11=A2|55=BTC|54=1|38=1|40=2|44=100");
    let said = desk.say(A, "AF 584=S1|585=7");
    said[0].has("11=A1|584=S1|911=2|912=N|150=I");
    said[1].has("11=A2|584=S1|911=2|912=Y|150=I");
    assert_eq!(desk.say(A, "AF 584=S2|585=1|55=BTC").len(), 1);
}

#[test]
fn an_operator_is_told_what_is_wrong_with_a_command() {
    let mut desk = Desk::new();
    for (command, words) in [
        ("open VOD", "unknown command \"open\""),
        ("state open VOD", "unknown state \"open\""),
        ("state halted XYZ", "unknown instrument \"XYZ\""),
        ("band 1 0.5 VOD", "the low price is above the high price"),
        ("band 1 x VOD", "\"x\" is not a price"),
        ("band 1 1.005 VOD", "\"1.005\" is not a price"),
    ] {
        let error = desk.command(command).0.unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(
        desk.command("band 1 2 VOD").0,
        Ok("VOD: band 1 to 2".into())
    );
    desk.say(A, BUY)[0].has("150=8|58=The price is outside the price band from 1.00 to 2.00");
    assert!(
        desk.query("instruments")
            .unwrap()
            .contains("BTC continuous last none orders 0\n")
    );
    assert!(
        desk.query("book XYZ")
            .unwrap_err()
            .contains("unknown instrument \"XYZ\"")
    );
    assert!(desk.query("weather").is_err());
}

#[test]
fn a_configuration_is_refused_with_all_its_mistakes() {
    let mut wrong = config();
    wrong.instruments[0].tick = decimal("0");
    wrong.instruments[1].symbol = "VOD".into();
    wrong.instruments[1].low = Some(decimal("0.3"));
    wrong.instruments[1].lot = decimal("-1");
    wrong.orders_max = 0;
    let ExchangeError::Config(problems) = Exchange::new(wrong, []).unwrap_err() else {
        panic!("another error");
    };
    let keys: Vec<_> = problems.iter().map(|it| (it.table, it.key)).collect();
    let wanted = [
        (ConfigTable::Exchange, "max_orders"),
        (ConfigTable::Instrument(0), "tick"),
        (ConfigTable::Instrument(1), "symbol"),
        (ConfigTable::Instrument(1), "lot"),
        (ConfigTable::Instrument(1), "low"),
    ];
    assert_eq!(keys, wanted);
    let old = Config::new(BeginString::Fix41, Role::Acceptor, b"A", b"B");
    let session = ExchangeSession {
        name: "OLD",
        session: &old,
    };
    let error = Exchange::new(config(), [session]).unwrap_err();
    let text = "session OLD: the exchange speaks FIX 4.2 and later: change its BeginString";
    assert_eq!(error.to_string(), text);
}
