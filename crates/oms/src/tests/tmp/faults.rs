//! Frames that are none, messages out of place, logins that fail.

use fixwire_harness::Random;

use super::*;

/// The OMS ends the connection, and says why.
fn ends(floor: &mut Floor, why: &str) {
    assert_eq!(floor.hangups.len(), 1, "{:?}", floor.hangups);
    floor.hangups.clear();
    let events = floor.events();
    let text = format!("line T1 closed: {why}; the engine connects again");
    assert!(events.contains(&text), "{events:?}");
    floor.disconnect(0);
}

/// A connection on which nothing is in flight, and an order.
fn with_order() -> (Floor, R01) {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    (floor, order)
}

pub(super) fn frame_of<'a>(message: &impl TmpLayout<'a>, msg_seq_num: u32) -> Vec<u8> {
    let mut frame = [0; 200];
    let header = TmpHeader {
        msg_seq_num,
        fcm_id: 7,
        session_id: 1,
        ..TmpHeader::default()
    };
    let len = message.encode(&header, &mut frame).unwrap();
    frame[..len].to_vec()
}

#[test]
fn bytes_that_are_no_frame_end_the_connection_and_move_no_order() {
    let (mut floor, order) = with_order();
    let good = frame_of(&fill(&order, 4, 1_000, (0, 10)), 2);
    let before = floor.oms.state().orders().get(1).unwrap().filled;
    let mut wrong_sum = good.clone();
    *wrong_sum.last_mut().unwrap() ^= 1;
    let (found, expected) = (wrong_sum[132], good[132]);
    floor.deliver(0, &wrong_sum);
    ends(
        &mut floor,
        &format!("bad frame: R02: checksum at byte 132 is {found}, expected {expected}"),
    );
    for bytes in [&good[..50], &[][..], &[0xff; 64][..]] {
        floor.connect(0);
        floor.deliver(0, bytes);
        assert_eq!(floor.hangups.len(), 1);
        floor.hangups.clear();
        floor.disconnect(0);
    }
    assert_eq!(floor.find(1).filled, before);
    // The line works again.
    floor.connect(0);
    floor.says(&fill(&order, 4, 1_000, (0, 10)));
    assert_eq!(floor.find(1).filled, 4);
    floor.check();
}

#[test]
fn a_gap_ends_the_connection_and_a_duplicate_is_dropped() {
    let (mut floor, order) = with_order();
    let late = fill(&order, 4, 1_000, (0, 10));
    floor.deliver(0, &frame_of(&late, 1));
    assert_eq!(
        floor.events(),
        ["line T1: MsgSeqNum 1 received before: possible duplicate dropped"]
    );
    floor.deliver(0, &frame_of(&late, 3));
    assert_eq!(floor.find(1).filled, 0);
    floor.work();
    ends(&mut floor, "MsgSeqNum 3 received, expected 2");
    floor.check();
}

#[test]
fn a_login_that_the_exchange_refuses_ends_the_connection() {
    let mut floor = Floor::with(SETTINGS, 1, |settings| {
        settings.password = TmpPassword::new(1);
    });
    floor.members[0].is_up = true;
    floor.connect(0);
    assert_eq!(floor.hangups.len(), 1);
    let events = floor.events();
    assert!(
        events[0].starts_with("line T1 closed: ") && events[0].contains("204"),
        "{events:?}"
    );
    floor.disconnect(0);
    floor.order(1, "100", "");
    let text = "58=no session to the venue is logged on: try again later";
    assert_eq!(floor.reports(&["58"]), [text]);
    floor.check();
}

#[test]
fn a_step_of_the_login_that_does_not_come_ends_the_connection() {
    let mut floor = Floor::with(SETTINGS, 1, |_| {});
    let link = SessionId::of_link(0);
    floor.tell(|oms, now, outbox| oms.on_link(now, link, Link::Up, outbox));
    let due = floor.tell(|oms, now, outbox| oms.on_time(now, outbox));
    assert_eq!(due, Some(Mono(floor.now.mono.0 + 10 * SECOND)));
    floor.pass(10 * SECOND);
    ends(&mut floor, "no L10 received in time");
}

#[test]
fn heartbeats_are_answered_and_a_silent_exchange_is_given_up() {
    let (mut floor, _) = with_order();
    floor.pass(30 * SECOND);
    floor.pass(30 * SECOND);
    assert_eq!(floor.hangups, [""; 0], "the exchange answers R04");
    floor.members[0].is_up = false;
    floor.members[0].link.on_disconnect();
    floor.pass(30 * SECOND);
    floor.pass(5 * SECOND);
    assert_eq!(floor.hangups.len(), 1);
    assert!(floor.events()[0].starts_with("line T1 closed: "));
    assert_eq!(floor.state_of(1), OrderState::Working);
    floor.check();
}

#[test]
fn a_link_without_a_line_is_refused() {
    let (mut floor, _) = with_order();
    let other = SessionId::of_link(5);
    let answer = floor.tell(|oms, now, outbox| oms.on_frame(now, other, b"x", outbox));
    assert_eq!(answer.unwrap_err().0, "the OMS has no line with this link");
    floor.tell(|oms, now, outbox| oms.on_link(now, other, Link::Up, outbox));
    floor.check();
}

#[test]
fn an_order_of_other_settings_is_not_sent_and_named() {
    let (mut floor, _) = with_order();
    // As if it had come before the line spoke TMP: it has no number of five characters.
    floor
        .oms
        .core_mut()
        .state
        .orders
        .get_mut(1)
        .unwrap()
        .pool_number = crate::Text::new(b"A000");
    floor.cancel("C1");
    assert_eq!(floor.got(), []);
    let events = floor.events();
    assert!(
        events[0].starts_with("request 2 not sent on line T1: TMP has no place for its values"),
        "{events:?}"
    );
}

#[test]
fn a_lost_exchange_is_asked_for_every_open_order() {
    let (mut floor, _) = with_order();
    floor.disconnect(0);
    let password = TmpPassword::new(PASSWORD);
    let settings = ExchangeLinkSettings::new(7, 1, password, SystemType::FUTURES_DAY);
    floor.members[0].link = LinkExchange::new(settings, LinkNumbers::default());
    floor.pass(2 * SECOND);
    floor.connect(0);
    assert_eq!(
        floor.events(),
        ["line T1: last inbound MsgSeqNum lowered from 1 to 0, as L30 says"]
    );
    assert_eq!(floor.got_one().exec_type, TmpExecType::QUERY);
    assert_eq!(floor.numbers(), (0, 1));
    floor.check();
}

/// Whatever an exchange says with a right check sum: no panic, and the notes make the state.
#[test]
fn nonsense_of_the_exchange_keeps_the_state_whole() {
    let mut floor = Floor::new();
    let mut random = Random::new(1);
    let mut dice = move |most: u64| random.below(most);
    let mut orders = Vec::new();
    for turn in 0..2_000_u64 {
        if turn % 40 == 0 {
            floor.pass(SECOND);
            floor.order(10, "100", "");
            floor.cancel(&format!("C{}", floor.ids));
            orders.extend(floor.got());
        }
        let mut of = orders[dice(orders.len() as u64) as usize];
        if dice(4) == 0 {
            of.ord_id = dice(300) as u32;
        }
        if dice(8) == 0 {
            of.user_define[dice(8) as usize] = dice(256) as u8;
        }
        of.exec_type = TmpExecType(b"0456FImMX"[dice(9) as usize]);
        let status = TmpStatus([0, 0, 2, 5, 6, 7, 16, 32, 52, 248][dice(10) as usize]);
        if dice(3) == 0 {
            // Such a one has no number, or is no answer to a request.
            floor.says(&reject(&of, status));
            continue;
        }
        let mut small = || dice(12) as u16;
        let (before, leaves, last, filled) = (small(), small(), small(), small());
        floor.says(&R02 {
            status,
            last_qty: last,
            last_px: 1_000,
            cum_qty: filled,
            ..report(&of, of.exec_type, (before, leaves))
        });
    }
    assert_eq!(floor.hangups, [""; 0]);
    floor.check();
    floor.restart(true);
}
