//! Order life cycles in each FIX version.

use alloc::vec::Vec;

use super::desk::{A, B, Desk, NEW, OLD};

const BUY: &str = "D 11=A1|1=ACC|55=VOD|54=1|38=100|40=2|44=10.50|59=0";

#[test]
fn an_order_is_acknowledged_with_all_that_a_report_needs() {
    let mut desk = Desk::new();
    let said = desk.say(A, BUY);
    assert_eq!(said.len(), 1);
    assert_eq!(
        said[0].text,
        "35=8|37=1|11=A1|17=1|150=0|39=0|1=ACC|55=VOD|54=1|38=100|40=2|44=10.50|59=0|151=100|14=0|6=0|\
60=20260302-08:00:00.001|"
    );
}

#[test]
fn both_sides_of_a_trade_hear_of_it_in_their_own_version() {
    let mut desk = Desk::new();
    desk.say(OLD, BUY);
    let said = desk.say(NEW, "D 11=S1|55=VOD|54=2|38=40|40=2|44=10|59=0");
    assert_eq!(said.len(), 3);
    said[0].has("11=S1|150=0|39=0|!20|151=40");
    // FIX 4.2 says with ExecType how far it is filled.
    assert_eq!(said[1].to, OLD);
    said[1].has("11=A1|20=0|150=1|39=1|32=40|31=10.50|151=60|14=40|6=10.50|37=1");
    assert_eq!(said[2].to, NEW);
    said[2].has("11=S1|!20|150=F|39=2|32=40|31=10.50|151=0|14=40|6=10.50|37=2");
    let rest = desk.say(A, "D 11=S2|55=VOD|54=2|38=60|40=1");
    rest[1].has("11=A1|20=0|150=2|39=2|32=60|151=0|14=100");
    rest[2].has("11=S2|150=F|39=2|!44");
    let ids: Vec<_> = said
        .iter()
        .chain(&rest)
        .map(|it| it.fields()[&17])
        .collect();
    for (index, id) in ids.iter().enumerate() {
        assert!(!ids[..index].contains(id), "{ids:?}");
    }
}

#[test]
fn an_average_price_is_exact() {
    let mut desk = Desk::new();
    desk.say(A, "D 11=1|55=BTC|54=2|38=0.100|40=2|44=30000");
    desk.say(A, "D 11=2|55=BTC|54=2|38=0.2|40=2|44=30000.5");
    let said = desk.say(B, "D 11=3|55=BTC|54=1|38=0.3|40=2|44=31000");
    said[4].has("32=0.200|31=30000.5|14=0.300|151=0.000|6=30000.33333|39=2");
}

#[test]
fn an_order_is_cancelled_once() {
    let mut desk = Desk::new();
    desk.say(A, BUY);
    let said = desk.say(A, "F 11=C1|41=A1|55=VOD|54=1|38=100");
    said[0].has("35=8|11=C1|41=A1|150=4|39=4|151=0|14=0|37=1|!58");
    let late = desk.say(A, "F 11=C2|41=A1|55=VOD|54=1");
    late[0].has("35=9|11=C2|41=A1|39=4|434=1|102=0|37=1|58=Too late: the order is canceled");
    let unknown = desk.say(A, "F 11=C3|41=ZZ|55=VOD|54=1");
    unknown[0].has("35=9|37=NONE|39=8|434=1|102=1");
    // An order belongs to the session that has entered it.
    desk.say(A, "D 11=A2|55=VOD|54=1|38=1|40=2|44=9");
    desk.say(B, "F 11=C1|41=A2|55=VOD|54=1")[0].has("35=9|102=1");
    desk.say(A, "F 11=C4|41=A2|55=VOD|54=2")[0]
        .has("35=9|102=99|58=Side(54) does not match the order");
    desk.say(A, "F 11=C4|41=A2|55=BTC|54=1")[0].has("35=9|102=99");
    desk.say(A, "F 11=A1|41=A2|55=VOD|54=1")[0].has("35=9|102=6");
}

#[test]
fn an_order_is_replaced_and_trades_under_its_new_name() {
    let mut desk = Desk::new();
    desk.say(A, BUY);
    desk.say(B, "D 11=S1|55=VOD|54=2|38=30|40=2|44=10.5");
    let said = desk.say(A, "G 11=A2|41=A1|55=VOD|54=1|38=50|40=2|44=10.40");
    assert_eq!(said.len(), 1);
    said[0].has("35=8|11=A2|41=A1|37=1|150=5|39=1|38=50|44=10.40|14=30|151=20");
    // The name before is no longer good, and the total cannot be what has traded.
    desk.say(A, "G 11=A3|41=A1|55=VOD|54=1|38=60|40=2|44=10")[0].has("35=9|434=2|102=0|39=1");
    desk.say(A, "G 11=A3|41=A2|55=VOD|54=1|38=30|40=2|44=10")[0].has("35=9|434=2|102=0");
    desk.say(A, "G 11=A3|41=A2|55=VOD|54=1|38=50|40=1")[0].has("35=9|434=2|102=99");
    desk.say(A, "G 11=A3|41=A2|55=VOD|54=1|38=50|40=2|44=21")[0].has("35=9|102=99");
    let said = desk.say(B, "D 11=S2|55=VOD|54=2|38=20|40=2|44=10.4");
    said[1].has("11=A2|150=F|39=2|14=50|151=0|6=10.46");
}

#[test]
fn fix_4_2_has_a_status_for_a_replaced_order() {
    let mut desk = Desk::new();
    desk.say(OLD, BUY);
    let said = desk.say(OLD, "G 11=A2|41=A1|55=VOD|54=1|38=50|40=2|44=10");
    said[0].has("150=5|39=5|20=0");
    desk.say(OLD, "H 11=A2|55=VOD|54=1")[0].has("20=3|150=5|39=5|17=0|37=1");
    desk.say(OLD, "H 11=ZZ|55=VOD|54=1")[0].has("20=3|150=8|39=8|17=0|37=NONE|103=5");
    desk.say(OLD, "F 11=C|41=A9|55=VOD|54=1")[0].has("35=9|102=1");
    let refused = desk.say(OLD, "D 11=A3|55=VOD|54=1|38=1|40=2|44=21");
    refused[0].has("39=8|150=8|20=0|103=0");
}

#[test]
fn every_order_type_can_be_entered() {
    let mut desk = Desk::new();
    desk.say(A, "D 11=1|55=VOD|54=2|38=10|40=2|44=10");
    let ioc = desk.say(B, "D 11=2|55=VOD|54=1|38=15|40=2|44=10|59=3");
    ioc[3].has(
        "11=2|150=4|39=4|14=10|151=0|6=10.00|58=Immediate or cancel: the remaining quantity found no match|!41",
    );
    let fok = desk.say(B, "D 11=3|55=VOD|54=1|38=15|40=2|44=10|59=4");
    fok[1].has("11=3|150=4|39=4|14=0|58=Fill or kill: not enough quantity to fill it");
    let market = desk.say(B, "D 11=4|55=VOD|54=1|38=15|40=1");
    market[1].has("11=4|150=4|39=4|58=Market order: no liquidity left in the book");
    // Stop: the last trade was at 10.
    desk.say(B, "D 11=5|55=VOD|54=1|38=5|40=4|44=12|99=11")[0].has("39=0|99=11.00|44=12.00");
    desk.say(NEW, "D 11=5|55=VOD|54=1|38=5|40=3|99=11")[0].has("39=0|99=11.00|!44");
    desk.say(A, "D 11=6|55=VOD|54=2|38=20|40=2|44=11|111=7")[0].has("111=7|39=0");
    let said = desk.say(OLD, "D 11=7|55=VOD|54=1|38=1|40=1");
    // FIX 4.4 has no word for a stop order that is triggered, FIX 5.0 SP2 has.
    let shown: Vec<_> = said
        .iter()
        .map(|it| {
            let fields = it.fields();
            (it.to, fields[&11], fields[&150], fields[&14])
        })
        .collect();
    let wanted = [
        (OLD, "7", "0", "0"),
        (A, "6", "F", "1"),
        (OLD, "7", "2", "1"),
        (A, "6", "F", "6"),
        (B, "5", "F", "5"),
        (NEW, "5", "L", "0"),
        (A, "6", "F", "7"),
        (NEW, "5", "F", "1"),
        (A, "6", "F", "11"),
        (NEW, "5", "F", "5"),
    ];
    assert_eq!(shown, wanted);
    desk.say(NEW, "D 11=8|55=VOD|54=1|38=20|40=2|44=9|1138=5")[0].has("1138=5|!111|39=0");
}

#[test]
fn orders_of_the_day_expire_when_the_operator_closes() {
    let mut desk = Desk::new();
    desk.say(A, BUY);
    desk.say(A, "D 11=A2|55=VOD|54=1|38=10|40=2|44=10|59=1");
    let (answer, said) = desk.command("state closed VOD");
    assert_eq!(answer, Ok("VOD: closed".into()));
    assert_eq!(said.len(), 1);
    said[0].has("11=A1|150=C|39=C|151=0|58=End of the trading day");
    desk.say(A, "D 11=A3|55=VOD|54=1|38=10|40=2|44=10")[0].has("150=8|103=2");
    desk.say(A, "G 11=A4|41=A2|55=VOD|54=1|38=5|40=2|44=10")[0].has("35=9|102=99|434=2");
    desk.say(A, "F 11=A4|41=A2|55=VOD|54=1")[0].has("150=4|39=4");
}

#[test]
fn an_auction_gathers_orders_and_trades_them_at_one_price() {
    let mut desk = Desk::new();
    desk.command("state auction *").0.unwrap();
    desk.say(A, "D 11=1|55=VOD|54=1|38=10|40=2|44=11");
    desk.say(B, "D 11=2|55=VOD|54=2|38=4|40=2|44=9");
    assert_eq!(desk.say(B, "D 11=3|55=VOD|54=2|38=4|40=1").len(), 1);
    let (answer, said) = desk.command("uncross VOD");
    assert_eq!(answer, Ok("VOD: uncrossed".into()));
    let prices: Vec<_> = said.iter().map(|it| it.fields()[&31]).collect();
    assert_eq!(prices, ["11.00"; 4]);
    assert_eq!(
        desk.query("book VOD"),
        Ok("VOD auction last 11.00 orders 1\nbuy 11.00 visible 2 total 2 orders 1\n".into())
    );
    let (answer, _) = desk.command("state continuous *");
    assert_eq!(answer, Ok("VOD, BTC: continuous".into()));
}
