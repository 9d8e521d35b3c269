//! The state of a client after a crash at any point.

use std::collections::BTreeSet;

use fixwire_harness::Turn;

use crate::desk::Desk;

#[test]
fn a_new_process_uses_no_id_again_and_knows_its_open_orders() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=3|40=2|44=5");
    desk.carry_out("send O 3 g");
    desk.carry_out("new sell 1 BP");
    let own = desk.received(&[11]).pop().unwrap()[2..].to_owned();
    let day = own.strip_suffix("-1").unwrap().to_owned();
    for (id, codes) in [
        ("g:1", "150=0|39=0|151=3|14=0"),
        ("g:2", "150=2|39=2|151=0|14=3"),
    ] {
        desk.answer(
            "8",
            &format!("37=V{id}|11={id}|17=1|20=0|{codes}|55=VOD|54=1|6=0|"),
        );
    }
    desk.carry_out("replace g:1 price 6");
    desk.answer(
        "8",
        &format!("37=Vg:1|11={day}-2|41=g:1|17=2|20=0|150=5|39=5|151=3|14=0|55=VOD|54=1|6=0|"),
    );
    desk.world.kill();
    desk.world.settle().unwrap();
    desk.said();

    let known = desk.carry_out("orders all");
    assert_eq!(
        known,
        [
            format!("{day}-2 buy 3 VOD @ 6 Replaced cum 0 leaves 3 OrderID Vg:1"),
            "g:3 buy 3 VOD @ 5 no report yet".to_owned(),
            format!("{own} sell 1 BP no report yet"),
            "done".to_owned(),
        ]
    );
    // `wait all` waits only for messages of this process.
    assert_eq!(desk.carry_out("wait all"), ["done"]);
    desk.carry_out("cancel last");
    desk.carry_out("set O D 55=VOD|54=1|38=3");
    desk.carry_out("send O 1 g");
    let sent = desk.received(&[11, 41]);
    assert_eq!(
        sent[5..],
        [format!("F {day}-3 {own}"), "D g:4 -".to_owned()]
    );
    desk.answer(
        "8",
        &format!("37=9|11={day}-3|41={own}|17=3|20=0|150=4|39=4|151=0|14=0|55=BP|54=2|6=0|"),
    );
    assert_eq!(desk.carry_out("orders").len(), 4);
}

/// The answer to a request for an order of an earlier run.
fn finished(id: &str, ord_status: &str) -> String {
    format!(
        "order {id} was {ord_status} in an earlier run, and the client no longer has its fields: 'orders' lists the \
         open orders; with 'set' and 'send' you can send a request with fields of your own"
    )
}

fn filled(id: &str, exec_id: u64) -> String {
    format!("37=V{id}|11={id}|17={exec_id}|20=0|150=2|39=2|151=0|14=3|55=VOD|54=1|6=5|")
}

#[test]
fn an_order_that_was_finished_in_an_earlier_run_is_told_from_an_unknown_one() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=3|40=2|44=5");
    desk.carry_out("send O 3 g");
    desk.answer("8", &filled("g:1", 1));
    desk.carry_out("set R G 41=g:2|44=6");
    desk.carry_out("send R 1 r");
    for codes in ["150=5|39=5|151=3", "150=4|39=4|151=0"] {
        desk.answer(
            "8",
            &format!("37=Vg:2|11=r:1|41=g:2|17=2|20=0|{codes}|14=0|55=VOD|54=1|6=0|"),
        );
    }
    // Twice, since the second start reads what the first start has written.
    for _ in 0..2 {
        desk.world.kill();
        desk.world.settle().unwrap();
        assert_eq!(desk.refused("cancel g:1"), finished("g:1", "Filled"));
        assert_eq!(
            desk.refused("replace g:2 qty 4"),
            finished("g:2", "Canceled")
        );
        assert_eq!(desk.refused("status r:1"), finished("r:1", "Canceled"));
        assert_eq!(
            desk.refused("cancel g:4"),
            "no order with ClOrdID g:4: 'orders all' lists the orders that this client knows"
        );
    }
    desk.said();
    // The text says how such a request is sent.
    desk.carry_out("set C F 41=g:1|55=VOD|54=1|38=3");
    assert_eq!(desk.carry_out("send C 1"), ["done"]);
    assert_eq!(desk.received(&[41]).pop().unwrap(), "F g:1");
}

#[test]
fn an_order_that_ends_right_after_a_restart_can_be_named_in_that_run() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=3|40=2|44=5");
    desk.carry_out("send O 1 g");
    desk.world.kill();
    desk.world.settle().unwrap();
    // It is filled before the first command of the new process.
    desk.answer("8", &filled("g:1", 1));
    assert_eq!(desk.carry_out("cancel g:1"), ["done"]);
    assert_eq!(desk.received(&[41]), ["D -", "F g:1"]);
}

/// The process dies at each operation of its disk and network in turn, while it sends.
#[test]
fn whatever_the_moment_of_the_crash_each_order_that_was_sent_is_known() {
    for operations in 0.. {
        let mut desk = Desk::logged_on();
        desk.carry_out("set O D 55=VOD|54=1|38=1");
        desk.world.disk().stop_after(operations);
        let mut handle = desk.world.handle().unwrap();
        let asked = handle.command(b"send O 200 g", fixwire_engine::Operator::new("test", ""));
        asked.unwrap();
        let mut ended = false;
        for _ in 0..30 {
            if let Turn::Ended(_) = desk.world.turn().unwrap() {
                ended = true;
                break;
            }
        }
        if !ended {
            assert!(operations > 10, "{operations}");
            return;
        }
        desk.world.kill();
        desk.world.settle().unwrap();
        desk.said();
        let mut known = desk.carry_out("orders all");
        known.pop();
        let known: BTreeSet<String> = known
            .iter()
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect();
        desk.carry_out("set O D 55=VOD|54=1|38=1");
        desk.carry_out("send O 3 g");
        desk.carry_out("new buy 1 VOD");
        let sent: Vec<String> = desk
            .received(&[11])
            .iter()
            .map(|line| line[2..].to_owned())
            .collect();
        let unique: BTreeSet<String> = sent.iter().cloned().collect();
        assert_eq!(unique.len(), sent.len(), "operation {operations}: {sent:?}");
        let earlier: BTreeSet<String> = sent[..sent.len() - 4].iter().cloned().collect();
        assert_eq!(known, earlier, "operation {operations}");
    }
}
