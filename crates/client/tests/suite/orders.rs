//! Order life cycles: what the venue receives, and what the client reports.

use crate::desk::{Desk, VENUE};

/// The day of the world, with which ClOrdIDs begin.
fn day(desk: &mut Desk) -> String {
    let sent = desk.received(&[11]);
    let id = sent.last().unwrap().split(' ').nth(1).unwrap();
    id.split('-').next().unwrap().to_owned()
}

#[test]
fn an_order_is_sent_replaced_and_cancelled() {
    let mut desk = Desk::logged_on();
    assert_eq!(
        desk.carry_out("new buy 100 VOD @ 12.50 tif ioc account A1"),
        ["done"]
    );
    let day = day(&mut desk);
    let sent = desk.received(&[11, 21, 55, 54, 38, 40, 44, 59, 1]);
    assert_eq!(sent, [format!("D {day}-1 1 VOD 1 100 2 12.50 3 A1")]);
    assert_eq!(
        desk.carry_out("orders"),
        [
            format!("{day}-1 buy 100 VOD @ 12.50 no report yet"),
            "done".to_owned()
        ]
    );
    let said = desk.answer(
        "8",
        &format!(
            "37=V7|11={day}-1|17=1|20=0|150=0|39=0|55=VOD|54=1|38=100|44=12.50|151=100|14=0|6=0|"
        ),
    );
    assert_eq!(
        said,
        [format!(
            "report {day}-1 OrderID V7 ExecType New OrdStatus New buy 100 VOD @ 12.50 cum 0 leaves 100"
        )]
    );

    assert_eq!(desk.carry_out("replace last qty 80 price 13"), ["done"]);
    let sent = desk.received(&[11, 41, 37, 55, 54, 38, 40, 44, 59, 1]);
    assert_eq!(sent[1], format!("G {day}-2 {day}-1 V7 VOD 1 80 2 13 3 A1"));
    // The order is replaced only after the venue's report.
    assert_eq!(
        desk.carry_out("orders")[0],
        format!("{day}-1 buy 100 VOD @ 12.50 New cum 0 leaves 100 OrderID V7")
    );
    desk.answer(
        "8",
        &format!("37=V7|11={day}-2|41={day}-1|17=2|20=0|150=5|39=5|55=VOD|54=1|151=80|14=0|6=0|"),
    );
    assert_eq!(
        desk.carry_out("orders")[0],
        format!("{day}-2 buy 80 VOD @ 13 Replaced cum 0 leaves 80 OrderID V7")
    );

    desk.answer(
        "8",
        &format!(
            "37=V7|11={day}-2|17=3|20=0|150=1|39=1|55=VOD|54=1|32=30|31=12.9|151=50|14=30|6=12.9|"
        ),
    );
    assert_eq!(desk.carry_out("status last"), ["done"]);
    assert_eq!(
        desk.received(&[11, 41, 37, 55, 54])[2],
        format!("H {day}-2 - V7 VOD 1")
    );
    // Any of its ClOrdIDs identifies an order.
    assert_eq!(desk.carry_out(&format!("cancel {day}-1 58=bye")), ["done"]);
    let sent = desk.received(&[11, 41, 37, 55, 54, 38, 58]);
    assert_eq!(sent[3], format!("F {day}-3 {day}-2 V7 VOD 1 80 bye"));
    desk.answer(
        "8",
        &format!(
            "37=V7|11={day}-3|41={day}-2|17=4|20=0|150=4|39=4|55=VOD|54=1|151=0|14=30|6=12.9|"
        ),
    );
    assert_eq!(desk.carry_out("orders"), ["done"]);
    assert_eq!(
        desk.carry_out("orders all")[0],
        format!("{day}-2 buy 80 VOD @ 13 Canceled cum 30 leaves 0 OrderID V7")
    );
    assert_eq!(desk.carry_out("wait all"), ["done"]);
    assert_eq!(
        desk.carry_out("stats")[0],
        "sent 3 accepted 3 rejected 0 filled 0 unanswered 0 timed 3"
    );
}

#[test]
fn every_kind_of_reject_is_shown_and_answers_the_message_that_it_is_about() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    desk.carry_out("send O 5 g");
    assert_eq!(
        desk.received(&[11]),
        ["D g:1", "D g:2", "D g:3", "D g:4", "D g:5"]
    );
    let seq: Vec<u64> = desk.world.peer(VENUE).received().map(|it| it.seq).collect();
    let said = desk.answer(
        "8",
        "37=NONE|11=g:1|17=1|20=0|150=8|39=8|55=VOD|54=1|151=0|14=0|6=0|103=0|58=too much|",
    );
    assert_eq!(
        said,
        [
            "report g:1 OrderID NONE ExecType Rejected OrdStatus Rejected buy VOD cum 0 leaves 0 reason 0 text: too much"
        ]
    );
    let said = desk.answer("j", &format!("45={}|372=D|380=3|58=no orders|", seq[1]));
    assert_eq!(said, ["business reject g:2 reason 3 text: no orders"]);
    let said = desk.answer("j", "372=D|379=g:3|380=0|58=limit|");
    assert_eq!(said, ["business reject g:3 reason 0 text: limit"]);
    let said = desk.answer("3", &format!("45={}|371=55|373=5|58=bad symbol|", seq[3]));
    assert_eq!(said, ["reject g:4 reason 5 tag 55 text: bad symbol"]);
    assert_eq!(
        desk.carry_out("stats g")[0],
        "sent 5 accepted 0 rejected 4 filled 0 unanswered 1 timed 4"
    );
    assert_eq!(
        desk.carry_out("orders"),
        ["g:5 buy 1 VOD no report yet", "done"]
    );

    desk.answer(
        "8",
        "37=5|11=g:5|17=5|20=0|150=2|39=2|55=VOD|54=1|32=1|31=2|151=0|14=1|6=2|",
    );
    // A finished order stays finished, whatever a late report says.
    desk.answer(
        "8",
        "37=5|11=g:5|17=6|20=0|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|",
    );
    assert_eq!(desk.carry_out("orders"), ["done"]);
    assert_eq!(desk.carry_out("cancel g:5"), ["done"]);
    let cancel = desk.received(&[11]).pop().unwrap();
    let said = desk.answer(
        "9",
        &format!(
            "37=5|{}|41=g:5|39=2|434=1|102=0|58=too late|",
            cancel.replace("F ", "11=")
        ),
    );
    let id = cancel.strip_prefix("F ").unwrap();
    assert_eq!(
        said,
        [format!(
            "cancel reject {id} of g:5 OrderID 5 OrdStatus Filled reason 0 text: too late"
        )]
    );
    assert_eq!(desk.carry_out("wait 7 reports"), ["done"]);
    assert_eq!(desk.carry_out("wait all"), ["done"]);
    assert_eq!(
        desk.carry_out("stats")[0],
        "sent 6 accepted 1 rejected 5 filled 1 unanswered 0 timed 6"
    );
}

#[test]
fn a_cancel_template_runs_over_the_open_orders_of_a_group() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=2|38=7|40=2|44=1");
    desk.carry_out("set C F");
    assert_eq!(desk.carry_out("send O 100 g3"), ["done"]);
    desk.answer(
        "8",
        "37=9|11=g3:2|17=1|20=0|150=2|39=2|55=VOD|54=2|151=0|14=7|6=1|",
    );
    assert_eq!(desk.carry_out("send C 99 d3 of g3"), ["done"]);
    let sent = desk.received(&[11, 41, 55, 54, 38]);
    assert_eq!(sent.len(), 199);
    // The second order is filled.
    assert_eq!(
        sent[100..102],
        ["F d3:1 g3:1 VOD 2 7", "F d3:2 g3:3 VOD 2 7"]
    );
    assert_eq!(sent[198], "F d3:99 g3:100 VOD 2 7");
    let said = desk.carry_out("send C 100 d3 of g3");
    let said = said.last().unwrap();
    assert_eq!(
        said,
        "failed: group g3 has no more open orders: 99 of 100 messages were sent"
    );
    // The numbers of a group continue.
    desk.carry_out("send O 1 g3");
    assert_eq!(desk.received(&[11]).pop().unwrap(), "D g3:101");
}

#[test]
fn plus_raises_the_numbers_of_a_template() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 11=A098|55=VOD|54=1|38=1");
    desk.carry_out("set C F 11=C7|41=A098|55=VOD|54=1");
    assert_eq!(desk.carry_out("send O 3 +"), ["done"]);
    assert_eq!(desk.carry_out("send C 2 +"), ["done"]);
    let sent = desk.received(&[11, 41]);
    assert_eq!(
        sent,
        ["D A098 -", "D A099 -", "D A100 -", "F C7 A098", "F C8 A099"]
    );
    let said = desk.carry_out("send O 1");
    assert_eq!(
        said,
        [
            "failed: ClOrdID A098 was used before: leave tag 11 out, or begin with an unused number and increment it \
                with '+'"
        ]
    );
}

#[test]
fn cancel_all_cancels_each_open_order_once() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    desk.carry_out("send O 3 g");
    desk.answer(
        "8",
        "37=9|11=g:2|17=1|20=0|150=4|39=4|55=VOD|54=1|151=0|14=0|6=0|",
    );
    assert_eq!(desk.carry_out("cancel all"), ["done"]);
    let sent = desk.received(&[41]);
    assert_eq!(sent[3..], ["F g:1", "F g:3"]);
    desk.answer(
        "8",
        "37=8|11=g:1|17=2|20=0|150=4|39=4|55=VOD|54=1|151=0|14=0|6=0|",
    );
    desk.answer(
        "8",
        "37=7|11=g:3|17=3|20=0|150=4|39=4|55=VOD|54=1|151=0|14=0|6=0|",
    );
    assert_eq!(desk.carry_out("cancel all"), ["done"]);
    assert_eq!(desk.received(&[41]).len(), 5);
}

#[test]
fn a_command_that_cannot_be_says_why() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set N B 148=hello");
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    for (command, why) in [
        (
            "cancel last",
            "no order was sent in this run, and no order of an earlier run is open: send an order with 'new'",
        ),
        (
            "cancel X1",
            "no order with ClOrdID X1: 'orders all' lists the orders that this client knows",
        ),
        (
            "send T 1",
            "unknown template T: define it with 'set T MSGTYPE TAG=VALUE|TAG=VALUE'",
        ),
        (
            "stats g",
            "no message was sent in group g: send messages in the group with 'send NAME N g'",
        ),
        (
            "send N 1 g",
            "messages of MsgType B have no ClOrdID, which would begin with the name of the group: leave the group out, \
             or put 11=X into the template",
        ),
        (
            "send O 1 of g",
            "messages of MsgType D do not refer to an order: 'of' is for templates of MsgType F, G or H",
        ),
        (
            "send O 2 +",
            "'+' needs a number at the end of tag 11 or 41, and template O has no such number",
        ),
        ("sell", "unknown command 'sell': 'help' shows the commands"),
        (
            "quit",
            "help and quit are handled by the program that reads the commands",
        ),
    ] {
        assert_eq!(desk.refused(command), why, "{command}");
    }
    assert!(desk.received(&[]).is_empty());
    desk.command("sleep 1");
    assert_eq!(
        desk.refused("orders"),
        "the previous command is not finished"
    );
}

#[test]
fn a_rejected_status_request_says_nothing_of_its_order() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    desk.carry_out("send O 1 g");
    desk.answer(
        "8",
        "37=9|11=g:1|17=1|20=0|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|",
    );
    desk.carry_out("status g:1");
    let seq = desk.world.peer(VENUE).received().last().unwrap().seq;
    desk.answer("j", &format!("45={seq}|372=H|379=g:1|380=3|"));
    desk.carry_out("status g:1");
    desk.answer("3", &format!("45={}|373=1|371=37|", seq + 1));
    assert_eq!(desk.carry_out("orders").len(), 2);
    let stats = desk.carry_out("stats");
    assert_eq!(
        stats[0],
        "sent 1 accepted 1 rejected 0 filled 0 unanswered 0 timed 1"
    );
}
