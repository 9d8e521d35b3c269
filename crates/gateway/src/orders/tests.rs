//! Each rule of the return path by example.

mod room;
pub(crate) mod state_lines;

use std::format;
use std::string::String;

use fixwire_protocol::{SessionId, Timestamp};

use super::*;
use crate::Draft;

const ANNA: SessionId = SessionId(1);
const BERT: SessionId = SessionId(2);
const VENUE: SessionId = SessionId(10);
const OTHER_VENUE: SessionId = SessionId(11);
const NOW: Timestamp = Timestamp(1_000);

pub(super) fn config(when: When, max_orders: u32) -> OrdersConfig {
    OrdersConfig {
        max_orders,
        max_sessions: 2,
        max_id: 20,
        rewriting: Rewriting::new(when, b"FW", 12).unwrap(),
        forget_quiet: None,
        hash_key: [7; 16],
    }
}

fn orders(when: When) -> OrderTracker {
    OrderTracker::new(config(when, 100)).unwrap()
}

/// A message: its type, then fields, with `|` between.
pub(super) fn draft(text: &str) -> Draft {
    let mut parts = text.split('|');
    let mut draft = Draft::with_capacity(64, 4096);
    draft.begin(parts.next().unwrap().as_bytes());
    for part in parts {
        let (tag, value) = part.split_once('=').unwrap();
        draft.push(tag.parse().unwrap(), value.as_bytes());
    }
    draft
}

pub(super) fn text(draft: &Draft) -> String {
    let mut text = String::from_utf8_lossy(draft.msg_type()).into_owned();
    for at in 0..draft.len() {
        let value = String::from_utf8_lossy(draft.value(at)).into_owned();
        text += &format!("|{}={value}", draft.tag(at));
    }
    text
}

/// The message as the venue receives it.
fn sent(orders: &mut OrderTracker, client: SessionId, message: &str) -> String {
    let mut draft = draft(message);
    orders.outbound(NOW, client, VENUE, &mut draft).unwrap();
    text(&draft)
}

fn out(orders: &mut OrderTracker, client: SessionId, message: &str) -> Result<Out, OrdersError> {
    orders.outbound(NOW, client, VENUE, &mut draft(message))
}

/// The client that receives a report, and the report as the client receives it.
fn heard(orders: &mut OrderTracker, message: &str) -> (Option<SessionId>, String) {
    let mut draft = draft(message);
    let client = orders.inbound(NOW, VENUE, &mut draft);
    (client, text(&draft))
}

#[track_caller]
fn expect(orders: &mut OrderTracker, report: &str, client: SessionId, seen: &str) {
    assert_eq!(heard(orders, report), (Some(client), String::from(seen)));
}

#[test]
fn colliding_ids_of_two_clients_are_kept_apart() {
    let mut orders = orders(When::OnCollision);
    assert_eq!(sent(&mut orders, ANNA, "D|11=A|55=X"), "D|11=A|55=X");
    assert_eq!(sent(&mut orders, BERT, "D|11=A|55=X"), "D|11=FW1|55=X");
    expect(
        &mut orders,
        "8|37=1|11=A|39=0|150=0",
        ANNA,
        "8|37=1|11=A|39=0|150=0",
    );
    expect(
        &mut orders,
        "8|37=2|11=FW1|39=0|150=0",
        BERT,
        "8|37=2|11=A|39=0|150=0",
    );
    assert_eq!(sent(&mut orders, BERT, "F|41=A|11=B"), "F|41=FW1|11=B");
    assert_eq!(sent(&mut orders, ANNA, "H|11=A"), "H|11=A");
    assert_eq!(orders.counters().rewritten, 1);
    assert_eq!(orders.counters().live, 2);
}

#[test]
fn every_id_is_rewritten_when_the_policy_says_so() {
    let mut orders = orders(When::Always);
    assert_eq!(sent(&mut orders, ANNA, "D|11=A"), "D|11=FW1");
    assert_eq!(sent(&mut orders, ANNA, "G|41=A|11=B"), "G|41=FW1|11=FW2");
    assert_eq!(sent(&mut orders, ANNA, "V|262=m|263=1"), "V|262=FW3|263=1");
    expect(&mut orders, "W|262=FW3", ANNA, "W|262=m");
}

#[test]
fn an_order_that_ended_is_still_another_clients() {
    let mut orders = orders(When::OnCollision);
    sent(&mut orders, ANNA, "D|11=A");
    heard(&mut orders, "8|37=1|11=A|39=2|150=2");
    assert_eq!(sent(&mut orders, BERT, "D|11=A"), "D|11=FW1");
    // A bust of the first order.
    expect(
        &mut orders,
        "8|37=1|11=A|39=1|150=H",
        ANNA,
        "8|37=1|11=A|39=1|150=H",
    );
    assert_eq!(orders.counters().live, 2);
}

#[test]
fn an_id_that_looks_rewritten_or_is_too_long_is_rewritten() {
    let mut orders = orders(When::OnCollision);
    assert_eq!(sent(&mut orders, ANNA, "D|11=FW1"), "D|11=FW1");
    assert_eq!(sent(&mut orders, BERT, "D|11=FW1"), "D|11=FW2");
    assert_eq!(sent(&mut orders, ANNA, "D|11=thirteenbytes"), "D|11=FW3");
    expect(
        &mut orders,
        "8|11=FW3|39=0",
        ANNA,
        "8|11=thirteenbytes|39=0",
    );
    expect(&mut orders, "8|11=FW2|39=0", BERT, "8|11=FW1|39=0");
}

#[test]
fn a_replacement_takes_the_place_of_its_order() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    heard(&mut orders, "8|37=1|11=FW1|39=0|150=0");
    sent(&mut orders, ANNA, "G|41=A|11=B");
    // A fill that was sent before the replace may have either id.
    expect(
        &mut orders,
        "8|37=1|11=FW1|39=1|150=F",
        ANNA,
        "8|37=1|11=A|39=1|150=F",
    );
    expect(
        &mut orders,
        "8|37=1|11=FW2|41=FW1|39=E|150=E",
        ANNA,
        "8|37=1|11=B|41=A|39=E|150=E",
    );
    expect(
        &mut orders,
        "8|37=2|11=FW2|41=FW1|39=5|150=5",
        ANNA,
        "8|37=2|11=B|41=A|39=5|150=5",
    );
    assert_eq!(out(&mut orders, ANNA, "D|11=B"), Ok(Out::Duplicate));
    expect(&mut orders, "8|37=2|39=1|150=F", ANNA, "8|37=2|39=1|150=F");
    expect(
        &mut orders,
        "8|37=1|11=FW1|39=2|150=F",
        ANNA,
        "8|37=1|11=A|39=2|150=F",
    );
    assert_eq!(orders.counters().live, 0);
    assert_eq!(out(&mut orders, ANNA, "D|11=B"), Ok(Out::New));
}

#[test]
fn a_rejected_replacement_leaves_its_order() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    sent(&mut orders, ANNA, "G|41=A|11=B");
    expect(
        &mut orders,
        "9|37=1|11=FW2|41=FW1|39=1",
        ANNA,
        "9|37=1|11=B|41=A|39=1",
    );
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::Duplicate));
    assert_eq!(out(&mut orders, ANNA, "D|11=B"), Ok(Out::New));
    sent(&mut orders, ANNA, "F|41=A|11=C");
    heard(&mut orders, "9|37=NONE|11=FW4|41=FW1|39=8|102=1");
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::New));
}

#[test]
fn a_replacement_rejected_by_a_report_leaves_its_order() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    sent(&mut orders, ANNA, "G|41=A|11=B");
    heard(&mut orders, "8|37=1|11=FW2|41=FW1|39=8|150=8");
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::Duplicate));
    assert_eq!(out(&mut orders, ANNA, "D|11=B"), Ok(Out::New));
}

#[test]
fn a_late_reject_ends_no_later_order_of_the_same_id() {
    let mut orders = orders(When::OnCollision);
    sent(&mut orders, ANNA, "D|11=A");
    sent(&mut orders, ANNA, "F|41=A|11=B");
    heard(&mut orders, "8|11=A|39=2");
    sent(&mut orders, ANNA, "D|11=A");
    heard(&mut orders, "9|11=B|41=A|39=2");
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::Duplicate));
}

#[test]
fn a_cancel_ends_its_order_in_each_spelling() {
    for report in [
        "8|11=FW2|41=FW1|39=4|150=4|20=0",
        "8|11=FW2|41=FW1|39=4|150=4",
        "8|11=FW1|39=4",
        "8|11=FW1|39=C|150=C",
        "8|11=FW1|39=3|150=3",
        "8|11=FW1|39=8|150=8",
        "8|37=9|41=FW1|39=4|150=4",
    ] {
        let mut orders = orders(When::Always);
        sent(&mut orders, ANNA, "D|11=A");
        sent(&mut orders, ANNA, "F|41=A|11=B");
        assert_eq!(orders.counters().live, 1);
        assert_eq!(heard(&mut orders, report).0, Some(ANNA), "{report}");
        assert_eq!(orders.counters().live, 0, "{report}");
    }
}

#[test]
fn an_order_id_finds_its_client_where_no_other_id_does() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    heard(&mut orders, "8|37=first|11=FW1|39=0");
    heard(&mut orders, "8|37=second|11=FW1|39=0");
    // An id that the venue made never reaches the client.
    expect(
        &mut orders,
        "8|37=second|11=made|41=made|39=4",
        ANNA,
        "8|37=second|11=A|39=4",
    );
    assert_eq!(heard(&mut orders, "8|37=none|11=made|39=4").0, None);
    assert_eq!(orders.counters().unsolicited, 1);
}

#[test]
fn an_order_id_that_was_replaced_is_still_known() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    heard(&mut orders, "8|37=first|11=FW1|39=0");
    sent(&mut orders, ANNA, "G|41=A|11=B");
    heard(&mut orders, "8|37=second|11=FW2|41=FW1|39=0|150=5");
    expect(&mut orders, "8|37=first|39=0", ANNA, "8|37=first|39=0");
    expect(&mut orders, "8|37=second|39=0", ANNA, "8|37=second|39=0");
}

#[test]
fn an_id_of_another_client_in_a_report_is_not_shown() {
    let mut orders = orders(When::OnCollision);
    sent(&mut orders, ANNA, "D|11=secret");
    sent(&mut orders, BERT, "D|11=B");
    expect(
        &mut orders,
        "8|11=B|41=secret|66=secret|39=0",
        BERT,
        "8|11=B|39=0",
    );
    sent(&mut orders, BERT, "q|11=all");
    expect(
        &mut orders,
        "r|11=all|534=2|41=secret|535=1|41=B|535=2",
        BERT,
        "r|11=all|534=2|41=NONE|535=1|41=B|535=2",
    );
}

#[test]
fn naming_an_order_of_another_client_does_not_reach_it() {
    let mut orders = orders(When::OnCollision);
    sent(&mut orders, ANNA, "D|11=A");
    assert_eq!(sent(&mut orders, BERT, "F|41=A|11=C"), "F|41=FW1|11=C");
    expect(
        &mut orders,
        "9|37=NONE|11=C|41=FW1|39=8",
        BERT,
        "9|37=NONE|11=C|41=A|39=8",
    );
    assert_eq!(orders.counters().live, 1);
    // An order that is older than all remembered ids can be reached.
    assert_eq!(sent(&mut orders, BERT, "F|41=old|11=D"), "F|41=old|11=D");
    expect(
        &mut orders,
        "8|11=D|41=old|39=4",
        BERT,
        "8|11=D|41=old|39=4",
    );
}

#[test]
fn a_resent_order_has_the_id_that_it_had() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    assert_eq!(out(&mut orders, ANNA, "D|97=Y|11=A"), Ok(Out::Again));
    assert_eq!(sent(&mut orders, ANNA, "D|97=Y|11=A"), "D|97=Y|11=FW1");
    heard(&mut orders, "8|11=FW1|39=2");
    assert_eq!(sent(&mut orders, ANNA, "D|97=Y|11=A"), "D|97=Y|11=FW1");
    assert_eq!(out(&mut orders, BERT, "D|97=Y|11=A"), Ok(Out::New));
    assert_eq!(out(&mut orders, ANNA, "D|97=Y|11=B"), Ok(Out::New));
    assert_eq!(orders.counters().remembered, 3);
}

#[test]
fn a_report_that_is_resent_revives_no_order() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    heard(&mut orders, "8|11=FW1|39=2");
    heard(&mut orders, "8|97=Y|11=FW1|39=1");
    assert_eq!(orders.counters().live, 0);
    heard(&mut orders, "8|11=FW1|39=1|150=H");
    assert_eq!(orders.counters().live, 1);
}

#[test]
fn an_open_id_is_a_duplicate() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    let before = orders.counters();
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::Duplicate));
    assert_eq!(sent(&mut orders, ANNA, "F|41=A|11=A"), "F|41=A|11=A");
    assert_eq!(orders.counters(), before);
    let mut elsewhere = draft("D|11=A");
    let there = orders.outbound(NOW, ANNA, OTHER_VENUE, &mut elsewhere);
    assert_eq!(there, Ok(Out::New));
}

#[test]
fn a_list_and_its_orders_come_back() {
    let mut orders = orders(When::Always);
    assert_eq!(
        sent(&mut orders, ANNA, "E|66=L|73=2|11=A|67=1|11=B|67=2"),
        "E|66=FW1|73=2|11=FW2|67=1|11=FW3|67=2"
    );
    expect(
        &mut orders,
        "N|66=FW1|73=3|11=FW2|39=0|11=FW3|39=0|11=x|39=0",
        ANNA,
        "N|66=L|73=3|11=A|39=0|11=B|39=0|11=NONE|39=0",
    );
    expect(
        &mut orders,
        "8|66=FW1|11=FW3|39=2",
        ANNA,
        "8|66=L|11=B|39=2",
    );
    assert_eq!(sent(&mut orders, ANNA, "K|66=L"), "K|66=FW1");
    assert_eq!(orders.counters().live, 1);
}

#[test]
fn both_sides_of_a_cross_are_replaced_by_their_own() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "s|548=X|552=2|54=1|11=A|54=2|11=B");
    assert_eq!(
        sent(
            &mut orders,
            ANNA,
            "t|548=Y|551=X|552=2|54=1|41=A|11=C|54=2|41=B|11=D"
        ),
        "t|548=FW4|551=FW1|552=2|54=1|41=FW2|11=FW5|54=2|41=FW3|11=FW6"
    );
    heard(&mut orders, "8|11=FW5|39=0|150=5");
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::New));
    assert_eq!(out(&mut orders, ANNA, "D|11=B"), Ok(Out::Duplicate));
}

#[test]
fn questions_are_answered_to_who_asked() {
    for (question, asked, answer, answered) in [
        ("R|131=q", "R|131=FW1", "S|131=FW1|117=9", "S|131=q|117=9"),
        ("R|131=q", "R|131=FW1", "AG|131=FW1", "AG|131=q"),
        ("S|117=q", "S|117=FW1", "AI|117=FW1", "AI|117=q"),
        ("i|117=q", "i|117=FW1", "b|131=x|117=FW1", "b|117=q"),
        ("V|262=q|263=0", "V|262=FW1|263=0", "Y|262=FW1", "Y|262=q"),
        ("c|320=q", "c|320=FW1", "d|320=FW1", "d|320=q"),
        ("e|324=q", "e|324=FW1", "f|324=FW1", "f|324=q"),
        ("g|335=q", "g|335=FW1", "h|335=FW1", "h|335=q"),
        ("J|70=q", "J|70=FW1", "P|70=FW1", "P|70=q"),
        ("AF|584=q", "AF|584=FW1", "8|584=FW1", "8|584=q"),
    ] {
        let mut orders = orders(When::Always);
        assert_eq!(sent(&mut orders, BERT, question), asked);
        expect(&mut orders, answer, BERT, answered);
    }
}

#[test]
fn a_subscription_is_open_until_it_is_given_up() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "V|262=m|263=1");
    assert_eq!(out(&mut orders, ANNA, "V|262=m|263=1"), Ok(Out::Duplicate));
    assert_eq!(out(&mut orders, ANNA, "V|262=m|263=2"), Ok(Out::Names));
    assert_eq!(sent(&mut orders, ANNA, "V|262=m|263=1"), "V|262=FW2|263=1");
    heard(&mut orders, "Y|262=FW2");
    assert_eq!(out(&mut orders, ANNA, "V|262=m|263=1"), Ok(Out::New));
}

#[test]
fn the_id_of_what_was_replaced_comes_back_when_its_next_use_is_forgotten() {
    let mut orders = OrderTracker::new(config(When::OnCollision, 4)).unwrap();
    sent(&mut orders, ANNA, "D|11=A");
    sent(&mut orders, ANNA, "G|41=A|11=B");
    let report = "8|11=B|41=A|150=5|39=0";
    expect(&mut orders, report, ANNA, report);
    sent(&mut orders, ANNA, "D|11=A");
    heard(&mut orders, "8|11=A|150=F|39=2");
    expect(&mut orders, report, ANNA, report);
    sent(&mut orders, ANNA, "D|11=X");
    sent(&mut orders, ANNA, "D|11=Y");
    expect(&mut orders, report, ANNA, report);
}

#[test]
fn a_refused_message_ends_what_it_began() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "D|11=A");
    let mut sent_before = draft("G|41=FW1|11=FW2");
    sent(&mut orders, ANNA, "G|41=A|11=B");
    assert_eq!(orders.refused(VENUE, &mut sent_before), Some(ANNA));
    assert_eq!(text(&sent_before), "G|41=A|11=B");
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::Duplicate));
    orders.refused(VENUE, &mut draft("D|97=Y|11=FW1"));
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::Duplicate));
    orders.refused(VENUE, &mut draft("D|11=FW1"));
    assert_eq!(out(&mut orders, ANNA, "D|11=A"), Ok(Out::New));
    assert_eq!(orders.refused(VENUE, &mut draft("D|11=FW9")), None);
}

#[test]
fn what_has_no_id_or_no_room_is_refused() {
    let mut orders = orders(When::Always);
    assert_eq!(out(&mut orders, ANNA, "D|55=X"), Err(OrdersError::NoId));
    assert_eq!(out(&mut orders, ANNA, "D|11="), Err(OrdersError::NoId));
    assert_eq!(
        out(&mut orders, ANNA, "D|11=more than twenty bytes"),
        Err(OrdersError::IdTooLong { tag: 11 })
    );
    let mut order = draft("D|11=A");
    orders.outbound(NOW, ANNA, OTHER_VENUE, &mut order).unwrap();
    let third = orders.outbound(NOW, ANNA, SessionId(12), &mut draft("D|11=A"));
    assert_eq!(third, Err(OrdersError::TooManySessions));
    assert_eq!(orders.counters().refused, 4);
    assert_eq!(out(&mut orders, ANNA, "B|148=news"), Ok(Out::Other));
    assert_eq!(heard(&mut orders, "B|148=news").0, None);
}

#[test]
fn each_venue_has_its_own_ids() {
    let mut orders = orders(When::OnCollision);
    let ids = Rewriting::new(When::Always, b"Q-", 20).unwrap();
    orders.set_venue(OTHER_VENUE, Some(ids)).unwrap();
    let mut order = draft("D|11=A");
    orders.outbound(NOW, ANNA, OTHER_VENUE, &mut order).unwrap();
    assert_eq!(text(&order), "D|11=Q-1");
    assert_eq!(sent(&mut orders, ANNA, "D|11=A"), "D|11=A");
    assert_eq!(heard(&mut orders, "8|11=Q-1").0, None);
    let long = Rewriting::new(When::Always, b"Q-", 21).unwrap();
    assert_eq!(
        orders.set_venue(VENUE, Some(long)),
        Err(OrdersError::MaxLen)
    );
}
