//! Trades that an operator cancels or corrects.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Application;

use super::desk::{A, B, Desk, OLD, Said, config, exchange};

/// ExecType, OrdStatus, CumQty and LeavesQty of each report.
fn shown(said: &[Said]) -> Vec<String> {
    let one = |it: &Said| {
        let fields = it.fields();
        let of = |tag| fields.get(&tag).copied().unwrap_or("-");
        format!("{} {}/{} {}+{}", of(11), of(150), of(39), of(14), of(151))
    };
    said.iter().map(one).collect()
}

fn done(desk: &mut Desk, command: &str) -> Vec<Said> {
    let (answer, said) = desk.command(command);
    answer.unwrap();
    let again = desk.again(config());
    assert_eq!(again.state_hash(), desk.exchange.state_hash(), "{command}");
    assert_eq!(again.check(), Ok(()), "{command}");
    let mut state = Vec::new();
    desk.ledger()
        .write(&mut |bytes| state.extend_from_slice(bytes));
    let mut read = exchange(config());
    read.on_checkpoint(1, &state).unwrap();
    assert_eq!(read.state_hash(), desk.exchange.state_hash(), "{command}");
    said
}

/// The ExecID of the last trade of an order.
fn exec(said: &[Said], id: &str) -> String {
    let mut own = said.iter().filter(|it| it.fields()[&11] == id);
    own.next_back().unwrap().fields()[&17].to_string()
}

fn order(id: u32, side: u8, quantity: u32) -> String {
    format!("D 11={id}|55=VOD|54={side}|38={quantity}|40=2|44=10")
}

#[test]
fn a_trade_is_cancelled_and_what_it_took_works_again() {
    for member in [A, B, OLD] {
        let mut desk = Desk::new();
        desk.say(member, &order(1, 1, 100));
        let said = desk.say(A, &order(2, 2, 40));
        let first = exec(&said, "1");
        let said = desk.say(A, &order(3, 2, 60));
        assert_eq!(desk.exchange.open(), (0, 0), "both are filled");
        let second = exec(&said, "1");
        let said = done(&mut desk, &format!("bust {first}"));
        let kind = if member == OLD { "1" } else { "H" };
        assert_eq!(shown(&said), [format!("1 {kind}/1 60+40")]);
        said[0].has(&format!("19={first}|6=10.00"));
        assert_eq!(desk.exchange.open(), (1, 0));
        // It trades again, and can be cancelled.
        let said = desk.say(A, &order(4, 2, 10));
        let again = said.iter().find(|it| it.fields()[&11] == "1");
        again.unwrap().has("14=70|151=30|32=10");
        let said = done(&mut desk, &format!("correct {second} 50 @ 9.50"));
        said[0].has(&format!("19={second}|32=50|31=9.50|14=60|151=40"));
        desk.say(member, "F 11=9|41=1|55=VOD|54=1")[0].has("39=4|14=60|151=0");
        // A cancelled order stays so.
        let last = exec(&said, "1");
        let said = done(&mut desk, &format!("bust {last}"));
        said[0].has("39=4|14=10|151=0");
        let (again, _) = desk.command(&format!("bust {last}"));
        assert!(again.unwrap_err().contains("no trade with this ExecID"));
        assert_eq!(desk.exchange.open(), (0, 0));
    }
}

#[test]
fn a_correction_may_fill_the_order_and_an_order_that_works_again_may_trade_at_once() {
    let mut desk = Desk::new();
    desk.say(A, &order(1, 1, 100));
    let said = desk.say(B, &order(2, 2, 40));
    let trade = exec(&said, "1");
    let said = done(&mut desk, &format!("correct {trade} 100"));
    said[0].has("39=2|14=100|151=0|31=10.00");
    assert_eq!(desk.exchange.open(), (0, 0));
    let (trade, sells) = (exec(&said, "1"), order(3, 2, 30));
    desk.say(B, &sells);
    let said = done(&mut desk, &format!("bust {trade}"));
    assert_eq!(shown(&said[..1]), ["1 H/0 0+100"]);
    assert_eq!(shown(&said[1..]), ["3 F/2 30+0", "1 F/1 30+70"]);
    let listed = desk.query("fills").unwrap();
    assert!(listed.contains("ClOrdID 1, VOD: 30 at 10"), "{listed}");
    for (command, why) in [
        ("bust", "is no ExecID(17)"),
        ("bust 4711", "the query fills lists them"),
        ("correct 5 0", "no trade"),
        ("correct 1 x", "write correct 17 30"),
    ] {
        let said = desk.command(command).0.unwrap_err();
        assert!(said.contains(why), "{said}");
    }
    let trade = exec(&said, "1");
    for (words, why) in [
        ("0", "use bust"),
        ("101", "above what is left"),
        ("10 @ 10.001", "no multiple of the tick"),
    ] {
        let said = desk.command(&format!("correct {trade} {words}")).0;
        let said: String = said.unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_trade_of_an_earlier_day_is_cancelled_or_corrected_after_a_restart() {
    let mut desk = Desk::new();
    desk.say(B, &order(1, 1, 100));
    let said = desk.say(A, &order(2, 2, 100));
    let [bought, sold] = ["1", "2"].map(|id| exec(&said, id));
    done(&mut desk, "state closed VOD");
    desk.exchange = desk.again(config());
    desk.sleep(24 * 3600 * 1000);
    done(&mut desk, "state continuous VOD");
    let said = done(&mut desk, &format!("bust {bought}"));
    said[0].has(&format!("35=8|11=1|150=H|19={bought}|14=0"));
    let said = done(&mut desk, &format!("correct {sold} 60 @ 9.90"));
    said[0].has(&format!("35=8|11=2|150=G|19={sold}|32=60|31=9.90|14=60"));
}

#[test]
fn an_operator_has_the_status_of_orders_reported_and_lists_them() {
    for (member, status) in [(A, "150=I|39=1"), (OLD, "20=3|39=1")] {
        let mut desk = Desk::new();
        desk.say(member, &order(1, 1, 100));
        desk.say(A, &order(2, 2, 40));
        let listed = desk.query("orders").unwrap();
        let (first, second) = listed.split_once('\n').unwrap();
        assert!(first.ends_with("VOD: buy 100 @ 10.00, OrdStatus 1, filled 40, left 60"));
        assert!(second.ends_with("VOD: sell 40 @ 10.00, OrdStatus 2, filled 40, left 0\n"));
        let number = first.split(':').next().unwrap();
        let said = done(&mut desk, &format!("status {number}"));
        assert_eq!(said.len(), 1);
        said[0].has(&format!("11=1|37={number}|17=0|14=40|151=60|{status}"));
        assert_eq!(done(&mut desk, "status *").len(), 2);
        // It changes nothing.
        assert_eq!(desk.query("orders").unwrap(), listed);
        let (none, _) = desk.command("status 99");
        assert!(none.unwrap_err().contains("no OrderID(37)"));
    }
}
