//! Days, rooms and settings that change under lines: what must not be lost, doubled or stuck.

use super::faults::frame_of;
use super::*;
use crate::state::event::{LifecycleEvent, LineEvent, OrderEvent};
use crate::values::value::End;

const DAY: u64 = 86_400 * SECOND;

fn with_days(more: &str) -> Floor {
    let oms = format!("[oms]\n{more}");
    let settings = SETTINGS
        .replace("[oms]", &oms)
        .replace("00:00 UTC", "06:00 UTC");
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor
}

/// The next trading day begins, and the OMS hangs up.
fn next_day(floor: &mut Floor) {
    let day = floor.oms.state().day();
    floor.now.wall.0 += DAY.cast_signed();
    floor.pass(1);
    assert!(floor.oms.state().day() > day);
    floor.disconnect(0);
}

#[test]
fn fills_of_the_day_before_that_come_again_count_once() {
    for with_checkpoint in [false, true] {
        let mut floor = with_days("remembered = 0");
        floor.order(10, "100", "");
        let order = floor.got_one();
        floor.says(&accepted(&order));
        floor.says(&fill(&order, 10, 1_000, (0, 10)));
        let other = R01 {
            order_no: *b"Z9999",
            user_define: *b"        ",
            ..order
        };
        floor.says(&fill(&other, 3, 1_000, (0, 10)));
        assert!(floor.oms.state().orders().get(1).is_none(), "forgotten");
        let position = |floor: &Floor| {
            let state = floor.oms.state();
            let account = state.accounts().find(b"0012345").unwrap();
            let instrument = state.instruments().find(b"TXFL6").unwrap();
            state.position(account, instrument).long
        };
        assert_eq!(position(&floor), 13);
        next_day(&mut floor);
        floor.restart(with_checkpoint);
        floor.events();
        // The exchange goes on with its numbers, and sends all of them.
        floor.pass(2 * SECOND);
        floor.connect(0);
        assert_eq!(floor.numbers().0, 3);
        assert_eq!(position(&floor), 13);
        let fills = |events: &[String]| events.iter().filter(|it| it.contains("fill for")).count();
        assert_eq!(fills(&floor.events()), 0);
        // After one more day they are forgotten.
        next_day(&mut floor);
        next_day_forgets(&floor);
        floor.check();
    }
}

fn next_day_forgets(floor: &Floor) {
    let used = &floor.oms.state().used_execs;
    assert_eq!(used.today.len() + used.before.len(), 0);
}

/// Starts again with these instruments.
fn restart_with(floor: &mut Floor, instruments: &str) {
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(instruments.to_string()),
        _ => Ok(LIMITS.to_string()),
    };
    let settings = SETTINGS.replace("drop_nothing = true\n", "");
    floor.rules = load(&settings, &["CLIENT", "T1"], &mut open).unwrap();
    floor.restart(false);
    floor.pass(2 * SECOND);
    floor.connect(0);
}

#[test]
fn an_order_whose_instrument_is_no_longer_configured_can_be_cancelled() {
    let mut floor = Floor::new();
    let id = floor.order(10, "100.5", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    restart_with(&mut floor, "symbol,tick,lot\nFUTURE,1,1\n");
    floor.cancel(&id);
    let cancel = floor.got_one();
    assert_eq!(
        (cancel.exec_type, cancel.price),
        (TmpExecType::CANCEL, 1_005)
    );
    floor.says(&report(&cancel, TmpExecType::CANCEL, (10, 0)));
    assert_eq!(floor.state_of(1), OrderState::Ended(End::Cancelled));
    floor.check();
}

#[test]
fn a_cancel_or_query_is_sent_whatever_the_price() {
    let mut floor = Floor::new();
    let id = floor.order(10, "100.5", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    let other = floor.order(10, "100.5", "");
    floor.got();
    // The tick has no decimals any more.
    restart_with(&mut floor, "symbol,tick,lot\nTXFL6,1,1\n");
    floor.events();
    let query = floor.got_one();
    assert_eq!((query.exec_type, query.price), (TmpExecType::QUERY, 100));
    floor.cancel(&id);
    let cancel = floor.got_one();
    assert_eq!((cancel.exec_type, cancel.price), (TmpExecType::CANCEL, 100));
    // A price that the order would get is refused.
    floor.says(&report(&query, TmpExecType::QUERY, (10, 10)));
    floor.replace(&other, 10, "99.5");
    assert_eq!(floor.got(), []);
    assert_eq!(floor.events(), [""; 0]);
    floor.check();
}

#[test]
fn prices_on_the_wire_have_the_decimals_of_the_tick() {
    let mut floor = Floor::with(SETTINGS, 1, |_| {});
    let instruments = "symbol,tick,decimals,lot,multiplier,reference\nTXFL6,0.5,3,1,1,100\n";
    restart_with(&mut floor, instruments);
    floor.order(10, "100.5", "");
    let order = floor.got_one();
    assert_eq!(order.price, 1_005);
    floor.reports.clear();
    floor.says(&accepted(&order));
    floor.says(&fill(&order, 10, 1_005, (0, 10)));
    assert_eq!(floor.reports(&["150", "31"]), ["150=0", "150=F|31=100.5"]);
    floor.check();
}

#[test]
fn an_order_that_the_exchange_no_longer_has_is_told_to_a_person() {
    let mut floor = Floor::new();
    let id = floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.cancel(&id);
    floor.got();
    floor.disconnect(0);
    floor.connect(0);
    let query = floor.got_one();
    floor.reports.clear();
    floor.events();
    floor.says(&reject(&query, TmpStatus::NO_SUCH_ORDER));
    assert_eq!(floor.reports(&["35", "39"]), ["35=9|39=0"]);
    let told = "order 1: the venue does not have it, but it is open here";
    let events = floor.events();
    assert!(
        events.len() == 1 && events[0].starts_with(told),
        "{events:?}"
    );
    assert_eq!(floor.state_of(1), OrderState::Unknown);
    // It is not stuck.
    floor.cancel(&id);
    assert_eq!(floor.got_one().exec_type, TmpExecType::CANCEL);
    floor.check();
}

#[test]
fn an_order_of_the_day_before_that_the_exchange_no_longer_has_has_expired() {
    let mut floor = with_days("");
    let id = floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.cancel(&id);
    floor.got();
    floor.disconnect(0);
    next_day(&mut floor);
    assert_eq!(
        floor.state_of(1),
        OrderState::Lapsed,
        "its cancel is unknown"
    );
    floor.connect(0);
    let query = floor.got_one();
    floor.reports.clear();
    floor.events();
    floor.says(&reject(&query, TmpStatus::NOT_IN_BOOK));
    assert_eq!(floor.reports(&["35", "39"]), ["35=9|39=C"]);
    assert_eq!(floor.state_of(1), OrderState::Ended(End::Expired));
    assert_eq!(floor.events(), [""; 0]);
    floor.check();
}

#[test]
fn a_queried_order_that_is_filled_shows_that_its_fills_are_missing() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.says(&fill(&order, 4, 1_000, (0, 10)));
    let query = R01 {
        exec_type: TmpExecType::QUERY,
        ..order
    };
    floor.says(&reject(&query, TmpStatus::FILLED));
    let told =
        "order 1: CumQty(14) of the venue exceeds the fills received; order status requested";
    let broken = "break 31: order 1: fills missing: CumQty(14): CumQty 4 here, the venue says CumQty 10: check with \
                  the venue; fixwire oms breaks settle";
    assert_eq!(floor.events(), [broken, told]);
    floor.says(&fill(&order, 6, 1_000, (4, 6)));
    floor.says(&reject(&query, TmpStatus::FILLED));
    assert_eq!(
        floor.events(),
        [""; 0],
        "no event says that fills are missing"
    );
    floor.check();
}

#[test]
fn reports_that_wait_for_room_count_before_a_new_day_hangs_up() {
    let mut floor = with_days("");
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    // There is room for the new day, but not for what a link wants done.
    let room = core::mem::replace(&mut floor.room, 16);
    let frame = frame_of(&fill(&order, 4, 1_000, (0, 10)), 2);
    let link = SessionId::of_link(0);
    let answer = floor.tell(|oms, now, outbox| oms.on_frame(now, link, &frame, outbox));
    assert!(answer.is_ok());
    let day = floor.oms.state().day();
    floor.now.wall.0 += DAY.cast_signed();
    for _ in 0..20 {
        let due = floor.tell(|oms, now, outbox| oms.on_time(now, outbox));
        assert_eq!(due, Some(floor.now.mono));
    }
    assert!(floor.oms.state().day() > day);
    assert_eq!((floor.find(1).filled, floor.numbers()), (0, (0, 0)));
    assert_eq!(floor.hangups, [""; 0]);
    floor.room = room;
    floor.work();
    assert_eq!((floor.find(1).filled, floor.numbers()), (4, (0, 0)));
    assert_eq!(floor.hangups.len(), 1);
    floor.check();
}

#[test]
fn a_new_day_does_not_forget_that_a_link_has_ended() {
    let mut floor = with_days("");
    floor.room = 16;
    let link = SessionId::of_link(0);
    let answer = floor.tell(|oms, now, outbox| oms.on_frame(now, link, b"none", outbox));
    assert!(answer.is_ok());
    assert_eq!(floor.hangups, [""; 0], "there is no room for it");
    floor.now.wall.0 += DAY.cast_signed();
    for _ in 0..20 {
        floor.tell(|oms, now, outbox| oms.on_time(now, outbox));
    }
    floor.room = 256;
    floor.work();
    assert_eq!(floor.hangups.len(), 1);
    let line = floor.oms.state().sessions().find(b"T1").unwrap();
    assert!(!floor.oms.state().is_ready(line));
    let text = "line T1 closed: ";
    assert!(floor.events().iter().any(|it| it.starts_with(text)));
    floor.check();
}

#[test]
fn a_program_that_starts_lets_a_second_pass_before_it_logs_in() {
    let mut floor = Floor::new();
    floor.restart(false);
    let link = SessionId::of_link(0);
    floor.members[0].is_up = true;
    let now = link_now(floor.now);
    floor.members[0].link.on_connect(now);
    floor.tell(|oms, now, outbox| oms.on_link(now, link, Link::Up, outbox));
    assert_eq!(floor.members[0].from_oms.len(), 0);
    let due = floor.tell(|oms, now, outbox| oms.on_time(now, outbox));
    assert_eq!(due, Some(Mono(floor.now.mono.0 + SECOND + 1)));
    floor.pass(SECOND + 1);
    floor.order(1, "100", "");
    assert_eq!(floor.got().len(), 1);
    floor.check();
}

#[test]
fn a_new_day_does_not_forget_what_counts_for_the_flow_limit() {
    let settings = SETTINGS.replace("00:00 UTC", "06:00 UTC");
    let mut floor = Floor::with(&settings, 1, |settings| settings.max_flow_ctrl_cnt = 10);
    floor.connect(0);
    floor.pass(2 * SECOND);
    for _ in 0..8 {
        floor.order(1, "100", "");
    }
    let orders = floor.got();
    assert_eq!(orders.len(), 8);
    for order in &orders {
        floor.says(&accepted(order));
        floor.says(&fill(order, 1, 1_000, (0, 1)));
    }
    next_day(&mut floor);
    let exchange =
        ExchangeLinkSettings::new(7, 1, TmpPassword::new(PASSWORD), SystemType::FUTURES_DAY);
    floor.members[0].link = LinkExchange::new(exchange, LinkNumbers::default());
    floor.members[0].kept.0.clear();
    floor.connect(0);
    floor.order(1, "100", "");
    assert_eq!(floor.got(), [], "L10 waits");
    floor.pass(SECOND + 1);
    floor.order(1, "100", "");
    assert_eq!(floor.got().len(), 1);
    floor.check();
}

#[test]
fn a_frame_of_three_reports_waits_for_the_room_of_three() {
    let mut floor = Floor::new();
    floor.order(10, "100", "|59=3");
    let order = floor.got_one();
    let message = R02 {
        exec_type: TmpExecType::NEW_FILL,
        leaves_qty: 0,
        ..fill(&order, 4, 1_000, (0, 10))
    };
    let frame = frame_of(&message, 1);
    floor.room = 48;
    let link = SessionId::of_link(0);
    let answer = floor.tell(|oms, now, outbox| oms.on_frame(now, link, &frame, outbox));
    assert!(answer.is_ok());
    assert_eq!(floor.state_of(1), OrderState::Sent);
    floor.room = 49;
    floor.work();
    assert_eq!(floor.find(1).filled, 4);
    assert_eq!(floor.state_of(1), OrderState::Ended(End::Cancelled));
    floor.check();
}

#[test]
fn a_request_that_tmp_has_no_place_for_is_rejected() {
    let mut floor = Floor::new();
    let id = floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    // As if it had come before the line spoke TMP: it has no number of five characters.
    let orders = &mut floor.oms.core_mut().state.orders;
    orders.get_mut(1).unwrap().pool_number = crate::Text::new(b"A000");
    floor.reports.clear();
    floor.cancel(&id);
    assert_eq!(floor.got(), []);
    let text = "58=not sent: TMP has no place for the values of the order";
    assert_eq!(floor.reports(&["35", "58"]), [format!("35=9|{text}")]);
    let orders = floor.oms.state().orders();
    assert!(orders.request_of(orders.get(1).unwrap()).is_none());
    assert_eq!(floor.events().len(), 1);
    // An order that waits to be sent again.
    floor.order(10, "100", "");
    let order = floor.got_one();
    let number = floor.oms.state().last;
    let orders = &mut floor.oms.core_mut().state.orders;
    orders.get_mut(number).unwrap().price = 1 << 40;
    floor.reports.clear();
    floor.says(&reject(&order, TmpStatus::NOT_OPEN));
    assert_eq!(floor.reports(&["150", "58"]), [format!("150=8|{text}")]);
    assert_eq!(floor.state_of(number), OrderState::Ended(End::Rejected));
}

#[test]
fn two_accounts_with_one_number_are_refused() {
    let two = SETTINGS.replace(
        "[[account]]\nname = \"A1\"",
        "[[account]]\nname = \"A1\"\n[[account]]\nname = \"12345\"",
    );
    let rules = files(&two, &["CLIENT", "T1"]);
    assert_eq!(
        Oms::tmp_problems(&rules, &tmp_lines(1)),
        ["accounts 0012345 and 12345 are the same number over TMP: rename one of them"]
    );
    assert_eq!(
        Oms::tmp_problems(&rules, &[]),
        [""; 0],
        "FIX tells them apart"
    );
}

#[test]
fn a_flow_above_the_limit_of_the_exchange_is_named() {
    for (flow, is_named) in [
        ("60 in 1s", true),
        ("50 in 1s", false),
        ("26 in 500ms", true),
        ("25 in 500ms", false),
    ] {
        let with = format!(
            "number_pool = \"P\"\nflow = \"{flow}\"\n[[line_group.error]]\ntmp_code = 40002"
        );
        let old = "number_pool = \"P\"\n[[line_group.error]]\ntmp_code = 40002";
        let settings = SETTINGS.replace(old, &with);
        let mut floor = Floor::with(&settings, 1, |settings| settings.max_flow_ctrl_cnt = 50);
        floor.connect(0);
        let told = "line T1: flow of line_group FUT exceeds the exchange's limit of 50 messages/s: \
                    write flow = \"45 in 1s\"";
        let wanted: &[&str] = if is_named { &[told] } else { &[] };
        assert_eq!(floor.events(), wanted, "{flow}");
    }
}

#[test]
fn a_refused_login_says_what_to_do() {
    let mut floor = Floor::with(SETTINGS, 1, |settings| {
        settings.password = TmpPassword::new(1);
    });
    floor.connect(0);
    let events = floor.events();
    let todo = "stop the program and correct the link in its settings; a second refused login is the last, since a \
                third locks the session: the engine connects again";
    assert!(events[0].ends_with(todo), "{events:?}");
    let locked = crate::OmsEvent::LinkClosed {
        line: "T1",
        why: fixwire_tmp::LinkEnd::Refused {
            message: "L50",
            status: TmpStatus::LOCKED,
        },
    };
    let todo = "stop the program and ask the exchange to unlock the session: until then the engine connects again";
    assert!(locked.to_string().ends_with(todo), "{locked}");
}

#[test]
fn a_complete_login_is_an_event() {
    let mut floor = Floor::with(SETTINGS, 1, |settings| settings.max_flow_ctrl_cnt = 50);
    floor.connect(0);
    let told = "line T1 logged in: the exchange takes 50 messages in a second";
    assert_eq!(*floor.events.lock().unwrap(), [told]);
}

#[test]
fn no_third_login_is_tried_that_would_lock_the_session() {
    let mut floor = Floor::with(SETTINGS, 1, |settings| {
        settings.password = TmpPassword::new(1);
    });
    for login in 1..=2 {
        floor.connect(0);
        assert_eq!(floor.members[0].logins, login);
        floor.disconnect(0);
        floor.pass(30 * SECOND);
    }
    floor.events();
    for _ in 0..3 {
        floor.connect(0);
        assert_eq!(floor.members[0].logins, 2, "no L40");
        let told = "line T1 closed: the exchange refused the last two logins, and would lock the session at the \
                    third: correct the link in its settings and restart; the engine connects again";
        assert_eq!(floor.events(), [told]);
        floor.disconnect(0);
        floor.pass(30 * SECOND);
    }
    // A restart tries again.
    floor.restart(false);
    floor.pass(2 * SECOND);
    floor.connect(0);
    assert_eq!(floor.members[0].logins, 3);
}

#[test]
fn a_lowered_number_is_saved_when_all_orders_are_asked_for() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.disconnect(0);
    let exchange = || {
        let password = TmpPassword::new(PASSWORD);
        let settings = ExchangeLinkSettings::new(7, 1, password, SystemType::FUTURES_DAY);
        LinkExchange::new(settings, LinkNumbers::default())
    };
    floor.members[0].link = exchange();
    floor.pass(2 * SECOND);
    let before = floor.notes.len();
    floor.connect(0);
    assert_eq!(floor.numbers(), (0, 1));
    let is_asked = |note: &Vec<u8>| {
        let event = OrderEvent::of(&note[8..]);
        matches!(event, Some(OrderEvent::Order(LifecycleEvent::Asked { .. })))
    };
    let is_lowered = |note: &Vec<u8>| {
        let event = OrderEvent::of(&note[8..]);
        matches!(
            event,
            Some(OrderEvent::Line(LineEvent::LinkNumbers { inbound: 0, .. }))
        )
    };
    let asked = before + floor.notes[before..].iter().position(is_asked).unwrap();
    let lowered = before + floor.notes[before..].iter().position(is_lowered).unwrap();
    assert!(asked < lowered);
    // Killed before it asked.
    floor.got();
    floor.notes.truncate(asked);
    let mut new = oms(floor.rules.clone(), 1, &floor.events);
    for note in &floor.notes {
        new.on_note(floor.now.wall, note);
    }
    floor.oms = new;
    floor.members[0].link = exchange();
    floor.work();
    floor.pass(2 * SECOND);
    floor.connect(0);
    assert_eq!(floor.got_one().exec_type, TmpExecType::QUERY);
    assert_eq!(floor.numbers(), (0, 1));
    floor.check();
}
